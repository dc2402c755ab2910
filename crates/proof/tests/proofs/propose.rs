//! Symmetries that are proposed: found where there are any, none where there is none.

use quotient_proof::language::ast::{Claim, Item};
use quotient_proof::limits::Limits;
use quotient_proof::prove::{Options, Verdict, prove};
use quotient_proof::{language, models, propose};
use quotient_source::{Diagnostics, SourceMap};

/// A program's rules and safety claims, without its relative assertions.
fn plain(text: &str) -> Vec<Item> {
    let mut map = SourceMap::new();
    let file = map.add("test.clp", text);
    let items = language::parser::parse(&map, file, &mut Diagnostics::new());
    items
        .into_iter()
        .filter_map(|item| match item {
            Item::Assertion(mut a) => {
                a.using.clear();
                matches!(a.claim, Claim::Constraint(_)).then_some(Item::Assertion(a))
            }
            rule => Some(rule),
        })
        .collect()
}

fn proposed(text: &str) -> Vec<String> {
    let items = plain(text);
    let program = language::program(&items, &mut Diagnostics::new()).expect("well formed");
    let Some(with) = propose::with_symmetries(&items, &program, &Limits::default()) else {
        return Vec::new();
    };
    let with = language::program(&with, &mut Diagnostics::new()).expect("well formed");
    let reports = prove(&with, &Options::default());
    let relative = reports.iter().filter(|r| with.assertions[r.assertion].is_relative());
    relative
        .map(|r| {
            assert!(matches!(r.verdict, Verdict::Proved));
            with.assertions[r.assertion].name.clone()
        })
        .collect()
}

#[test]
fn exchanges_are_found() {
    let of = |name: &str, n: usize| proposed(&models::generate(name, n).expect("the model exists"));
    assert_eq!(of("bakery", 2), ["exchange_1_2"]);
    assert_eq!(of("bakery", 3), ["exchange_1_2", "exchange_2_3"]);
    // The priority protocol treats its processes differently.
    assert_eq!(of("priority", 2), [""; 0]);
}

#[test]
fn columns_and_values_move_with_the_processes() {
    let of = |name: &str, n: usize| proposed(&models::generate(name, n).expect("the model exists"));
    // All clocks change when time passes, and who came last is a number of a process.
    assert_eq!(of("fischer", 2), ["exchange_1_2_with_values"]);
    // Forks are shared by neighbours, and move with them.
    assert_eq!(of("philosophers", 3), ["rotation"]);
}

#[test]
fn reversals_halves_and_shifts_are_found() {
    // A token goes up and down a line; the ends differ from the middle.
    let line = "p([0,1,0]). p([1,0,C]) :- p([0,1,C]). p([0,1,C]) :- p([1,0,C]).
                p([A,0,1]) :- p([A,1,0]). p([A,1,0]) :- p([A,0,1]). assert one: p([1,B,1]) |= false.";
    assert_eq!(proposed(line), ["exchange_1_3"]);
    let line = "p([0,1,1,0]). p([1,0,C,D]) :- p([0,1,C,D]). p([0,1,C,D]) :- p([1,0,C,D]).
                p([A,0,1,D]) :- p([A,1,0,D]). p([A,1,0,D]) :- p([A,0,1,D]).
                p([A,B,0,1]) :- p([A,B,1,0]). p([A,B,1,0]) :- p([A,B,0,1]). assert some: p([0,0,0,D]) |= false.";
    assert_eq!(proposed(line), ["reversal"]);
    // Two pairs of a client and a server each.
    let pairs = "p([0,0,0,0]). p([1,B,C,D]) :- p([0,B,C,D]), B = 0. p([A,1,C,D]) :- p([A,0,C,D]), A = 1.
                 p([0,0,C,D]) :- p([1,1,C,D]). p([A,B,1,D]) :- p([A,B,0,D]), D = 0. p([A,B,C,1]) :- p([A,B,C,0]), C = 1.
                 p([A,B,0,0]) :- p([A,B,1,1]). assert order: p([0,1,C,D]) |= false.";
    assert_eq!(proposed(pairs), ["halves"]);
    // Numbers that are only compared with each other.
    let shift = "p(X,Y) :- X = Y. p(X+1,Y) :- p(X,Y), X <= Y. p(X,Y+1) :- p(X,Y), Y < X. assert near: p(X,Y) |= X >= Y.";
    assert_eq!(proposed(shift), ["shift"]);
}

#[test]
fn values_are_exchanged_with_the_processes() {
    // Each process gives the turn to itself.
    let text =
        "p([0,0],1). p([1,B],T) :- p([0,B],T), T = 1. p([0,B],1) :- p([1,B],T). p([0,B],2) :- p([1,B],T).
                p([A,1],T) :- p([A,0],T), T = 2. p([A,0],2) :- p([A,1],T).
                assert mutex: p([1,1],T) |= false.";
    // Only the first process hands over: not symmetric.
    assert_eq!(proposed(text), [""; 0]);
    let text = "p([0,0],0). p([1,B],1) :- p([0,B],0). p([0,B],0) :- p([1,B],1).
                p([A,1],2) :- p([A,0],0). p([A,0],0) :- p([A,1],2). assert mutex: p([1,1],T) |= false.";
    assert_eq!(proposed(text), ["exchange_1_2_with_values"]);
}
