//! Threads that start and end: what a state has after its threads decides how, and nobody must notice.

use quotient_engine::{Check, Model};

/// States, transitions and kinds of violation without reductions.
fn raw(text: &str) -> (u64, u64, Vec<String>) {
    let model = Model::from_text("m.pml", text).expect("a correct model");
    let outcome = model.check(&Check { raw: true, all: true, ..Check::default() }).expect("small");
    let kinds = outcome.violations.iter().map(|v| v.kind.to_string()).collect();
    (outcome.statistics.states, outcome.statistics.transitions, kinds)
}

/// The same with an object that is there from the first step on and that nobody uses: then threads are not added at the end of states.
fn with_object(text: &str) -> (u64, u64, Vec<String>) {
    let kept = text.replacen("init {", "init { &kept = new node;", 1);
    raw(&format!("typedef node {{ byte v }}; node &kept; {kept}"))
}

const STARTS: &str = "byte n; proctype P(byte k) { byte own = k + 1; n = n + own; if :: k > 0 -> run P(k - 1) :: else fi; n = n - own }
init { run P(2); run P(1); n > 0 }";

#[test]
fn threads_start_and_end_alike_with_and_without_objects() {
    let (states, transitions, kinds) = raw(STARTS);
    assert_eq!((states, transitions), (1_228, 4_032));
    // One state and one transition more: the object is made first.
    assert_eq!(with_object(STARTS), (states + 1, transitions + 1, kinds));
}

#[test]
fn a_faulting_initial_value_ends_its_path() {
    let text = "byte z, y; proctype P() { byte a = 5 / z; y = a } init { run P(); z = 2 }";
    let (states, transitions, kinds) = raw(text);
    assert_eq!((states, transitions), (1, 0));
    assert_eq!(kinds.len(), 1, "{kinds:?}");
    assert_eq!(with_object(text), (2, 1, kinds));
}
