//! What programs have that Promela cannot say: committed locations, guards of sends and receives, receivers that move before
//! the sender. Models are written in Promela, and their programs changed.

use quotient_engine::{Check, Model};
use quotient_program::{Expr, Operation};

/// States and transitions without reductions; then the kinds of violation with all of them.
fn counts(model: &Model) -> (u64, u64, Vec<String>) {
    let check = Check { all: true, ..Check::default() };
    let raw = model.check(&Check { raw: true, ..check }).expect("small");
    let reduced = model.check(&check).expect("small");
    let kinds =
        |o: &quotient_engine::Outcome| o.violations.iter().map(|v| v.kind.to_string()).collect::<Vec<_>>();
    assert_eq!(kinds(&raw), kinds(&reduced));
    (raw.statistics.states, raw.statistics.transitions, kinds(&raw))
}

fn model(text: &str, change: impl Fn(&mut quotient_program::Program)) -> Model {
    let mut model = Model::from_text("m.pml", text).expect("a correct model");
    change(&mut model.program);
    model
}

/// Makes locations with a label that starts with `commit` committed.
fn commit(program: &mut quotient_program::Program) {
    for location in program.functions.iter_mut().flat_map(|f| &mut f.locations) {
        location.committed = location.labels.iter().any(|l| l.starts_with("commit"));
    }
}

const TWO: &str = "byte x;
active proctype P() { x = 1; commit: x = 2; end: 0 }
active proctype Q() { x = 3; end: 0 }";

#[test]
fn only_committed_threads_move() {
    // P alone has 3 places, Q 2. Without commitment there are 3 + 4 steps between (place of P, place of Q, x).
    let free = counts(&model(TWO, |_| ()));
    let committed = counts(&model(TWO, commit));
    // From (commit, before) Q would lead to (commit, after, x = 3); that state and the two steps around it are gone.
    assert_eq!((free.0, free.1), (committed.0 + 1, committed.1 + 2));
}

#[test]
fn a_rendezvous_needs_two_committed_threads() {
    let text = "chan c = [0] of { bit };
active proctype P() { skip; commit: c!1; end: 0 }
active proctype Q() { c?_; end: 0 }";
    assert_eq!(counts(&model(text, |_| ())).2, Vec::<String>::new());
    // P waits in its committed location, and Q may not move: a deadlock.
    assert_eq!(counts(&model(text, commit)), (2, 1, vec!["deadlock".into()]));
}

const MEET: &str = "chan c = [0] of { byte }; byte x = 1;
active proctype S() { c!x; end: 0 }
active proctype R() { byte l; c?l; end: 0 }";

#[test]
fn guards_of_both_sides_are_asked() {
    let guarded = |send: i32, receive: i32| {
        model(MEET, |program| {
            for t in program
                .functions
                .iter_mut()
                .flat_map(|f| &mut f.locations)
                .flat_map(|l| &mut l.transformations)
            {
                match &mut t.operation {
                    Operation::Send { guard, .. } => *guard = Some(Expr::Const(send)),
                    Operation::Receive { guard, .. } => *guard = Some(Expr::Const(receive)),
                    _ => {}
                }
            }
        })
    };
    assert_eq!(counts(&guarded(1, 1)), (2, 1, vec![]));
    for (send, receive) in [(0, 1), (1, 0), (0, 0)] {
        assert_eq!(counts(&guarded(send, receive)), (1, 0, vec!["deadlock".into()]), "{send} {receive}");
    }
}

#[test]
fn a_receiver_can_be_first() {
    // Actions on both sides: S sets x to 5, R asserts what it sees of x.
    let with = |receiver_first: bool, seen: i32| {
        let text = format!(
            "chan c = [0] of {{ byte }}; byte x = 1;
active proctype S() {{ c!x; x = 5; end: 0 }}
active proctype R() {{ byte l; c?l; assert(x == {seen}); end: 0 }}"
        );
        let model = model(&text, |program| {
            program.features.receiver_first = receiver_first;
            // The statement after the rendezvous becomes part of it.
            for function in &mut program.functions {
                let channel = |o: &Operation| matches!(o, Operation::Send { .. } | Operation::Receive { .. });
                let at = function
                    .locations
                    .iter()
                    .position(|l| l.transformations.iter().any(|t| channel(&t.operation)));
                let at = at.expect("a channel operation");
                let next = function.locations[at].transformations[0].target.expect("a statement after it");
                let after = function.locations[next.0 as usize].transformations[0].clone();
                let t = &mut function.locations[at].transformations[0];
                t.actions.extend(after.actions);
                t.target = after.target;
            }
        });
        counts(&model).2
    };
    assert_eq!(with(false, 5), Vec::<String>::new());
    assert_eq!(with(false, 1), ["assertion"]);
    assert_eq!(with(true, 1), Vec::<String>::new());
    assert_eq!(with(true, 5), ["assertion"]);
}
