//! The example of seed 002 (Emerson, Jha, Peled, "Combining partial order and symmetry reductions", 1997): two processes that are
//! neutral (N), try (T) and are critical (C), with a token that says whose turn it is. Its figures, the full graph, the
//! quotient, and the quotient with partial order, are drawn by `--dot` and compared with graphs worked out by hand.
//!
//! **Full.** A state is (section of process 0, section of process 1, token). The actions of process i are
//! α (N to T, always possible), β (T to C, when the token is i) and δ (C to N, the token goes to the other one). Only the one
//! with the token is ever critical, and while it is, it keeps the token. So with the token at 0 the sections are
//! {N, T, C} x {N, T}, six states, with the token at 1 the same six mirrored; all twelve are reachable: from (N, N, 0) the
//! six with token 0 by α and β, and δ leads from (C, N, 0) to (N, N, 1). Process 0 with the token can always do one thing,
//! process 1 something only while it is N (α): that makes 6 + 3 = 9 steps, and 18 with the mirror images.
//!
//! **Quotient.** Exchanging the processes and the token maps each state with token 1 to one with token 0. What is left is a pair
//! (section of the holder H, section of the other O), six states with nine steps; δ makes the other one the holder, so
//! (C, x) goes to (x, N).
//!
//! **With partial order.** The question is whether both are ever critical, so β and δ are visible and α is not. α touches nothing that
//! the other process can notice: {α} of one process is ample wherever it is possible (C1, C2), and α never closes a cycle
//! (only δ goes back: C3). β and δ depend on each other through the token: where no α is left, everything is explored.
//! From (N, N) the α of one process is taken; the tool tries the youngest first, but either way the other one's α follows, and
//! (T, T) is next: there β, then δ from (C, T) to (T, N), where the other one's α leads to (T, T) again. Depending on who goes
//! first, the state between (N, N) and (T, T) is (N, T) or (T, N); with the youngest first and the token at 0 it is (N, T).
//! So there are five states and five steps; (C, N) is never visited.

use std::collections::BTreeSet;

use quotient_engine::PropertyKeyword;
use quotient_engine::{Check, LoadOptions, Model, PartialOrder, Question, Symmetry, Verdict};

const EXCLUSION: &str = "[] ((count p: process . p@critical) <= 1)";

fn model() -> Model {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/token_mutex.pml");
    let properties = vec![(PropertyKeyword::Ltl, EXCLUSION.to_owned())];
    Model::load(&path, &LoadOptions { properties, ..LoadOptions::default() }).expect("a correct model")
}

fn check(symmetry: Symmetry, partial_order: PartialOrder) -> Check<'static> {
    Check { symmetry: Some(symmetry), partial_order, ..Check::default() }
}

/// An edge of a drawing: state, who moves, action, state.
type Edge = (String, usize, char, String);

/// The edges of a drawing and the number of its nodes. A state is written as the sections of 0 and 1 and the token, as in
/// "TN0".
fn drawing(symmetry: Symmetry, partial_order: PartialOrder) -> (usize, BTreeSet<Edge>) {
    let text = model().dot(&check(symmetry, partial_order)).expect("small enough");
    let quoted =
        |line: &str| line.split("label=\"").nth(1).and_then(|l| l.split('"').next()).map(str::to_owned);
    let mut states = Vec::new();
    for line in text.lines().filter(|l| l.contains("label=") && !l.contains("->")) {
        let label = quoted(line).expect("a label");
        let section = |process: &str| {
            let named = format!("({process}) @ ");
            let at = label.find(&named).expect("every process has a place") + named.len();
            label[at..at + 1].to_uppercase()
        };
        let token = if label.contains("token = 1") { 1 } else { 0 };
        states.push(format!("{}{}{token}", section("0"), section("1")));
    }
    let mut edges = BTreeSet::new();
    for line in text.lines().filter(|l| l.contains("->")) {
        let ends: Vec<usize> = line
            .split('[')
            .next()
            .expect("two nodes")
            .split("->")
            .map(|n| n.trim().parse().expect("a number"))
            .collect();
        let label = quoted(line).expect("a label");
        let (process, statement) = label.split_once(": ").expect("who does what");
        let action = if statement.contains("true") || statement == "(1)" {
            'α'
        } else if statement.contains("==") {
            'β'
        } else {
            'δ'
        };
        edges.insert((
            states[ends[0]].clone(),
            process.split(['(', ')']).nth(1).expect("name(number)").parse().expect("a number"),
            action,
            states[ends[1]].clone(),
        ));
    }
    (states.len(), edges)
}

/// A graph as lines "TN0 0β CN0".
fn graph(lines: &str) -> BTreeSet<Edge> {
    let edge = |line: &str| {
        let mut words = line.split_whitespace();
        let (from, action) = (words.next()?, words.next()?);
        let mut action = action.chars();
        let process = action.next()?.to_digit(10)? as usize;
        Some((from.to_owned(), process, action.next()?, words.next()?.to_owned()))
    };
    lines.lines().filter(|l| !l.trim().is_empty()).map(|l| edge(l).expect("an edge")).collect()
}

/// Every state with the token at 0, its edges too.
fn mirrored(edges: BTreeSet<Edge>) -> BTreeSet<Edge> {
    let mirror = |state: &str| {
        let s: Vec<char> = state.chars().collect();
        if s[2] == '0' { state.to_owned() } else { format!("{}{}0", s[1], s[0]) }
    };
    let edge = |(from, process, action, to): Edge| {
        let process = if from.ends_with('1') { 1 - process } else { process };
        (mirror(&from), process, action, mirror(&to))
    };
    edges.into_iter().map(edge).collect()
}

const FULL: &str = "
    NN0 0α TN0
    NN0 1α NT0
    TN0 0β CN0
    TN0 1α TT0
    CN0 0δ NN1
    CN0 1α CT0
    NT0 0α TT0
    TT0 0β CT0
    CT0 0δ NT1
    NN1 1α NT1
    NN1 0α TN1
    NT1 1β NC1
    NT1 0α TT1
    NC1 1δ NN0
    NC1 0α TC1
    TN1 1α TT1
    TT1 1β TC1
    TC1 1δ TN0";

/// The holder is written first.
const QUOTIENT: &str = "
    NN0 0α TN0
    NN0 1α NT0
    TN0 0β CN0
    TN0 1α TT0
    CN0 0δ NN0
    CN0 1α CT0
    NT0 0α TT0
    TT0 0β CT0
    CT0 0δ TN0";

const REDUCED: &str = "
    NN0 1α NT0
    NT0 0α TT0
    TT0 0β CT0
    CT0 0δ TN0
    TN0 1α TT0";

#[test]
fn the_full_graph() {
    let (states, edges) = drawing(Symmetry::Off, PartialOrder::Off);
    assert_eq!((states, &edges), (12, &graph(FULL)));
}

#[test]
fn the_quotient() {
    let (states, edges) = drawing(Symmetry::Exact, PartialOrder::Off);
    assert_eq!((states, &mirrored(edges)), (6, &graph(QUOTIENT)));
    // By hand it is the full graph, mirrored, too.
    assert_eq!(mirrored(graph(FULL)), graph(QUOTIENT));
}

#[test]
fn the_quotient_with_partial_order() {
    let (states, edges) = drawing(Symmetry::Exact, PartialOrder::On);
    assert_eq!((states, &mirrored(edges)), (5, &graph(REDUCED)));
    assert!(graph(REDUCED).is_subset(&graph(QUOTIENT)));
}

/// The searches themselves visit the same states: twelve, six and five.
#[test]
fn the_searches_agree_with_the_drawings() {
    let cases = [
        (Symmetry::Off, PartialOrder::Off, 12),
        (Symmetry::Exact, PartialOrder::Off, 6),
        (Symmetry::Exact, PartialOrder::On, 5),
    ];
    for (symmetry, order, states) in cases {
        let outcome = model().check(&check(symmetry, order)).expect("small enough");
        let answer = outcome.answers.iter().find(|a| a.question == Question::Claim(0)).expect("an answer");
        assert_eq!(
            (&answer.verdict, answer.statistics.states),
            (&Verdict::Holds, states),
            "{symmetry:?} {order:?}"
        );
    }
}
