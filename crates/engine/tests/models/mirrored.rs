//! With `all`, violations that symmetry makes images of each other are reported at each of their places.

use quotient_engine::{Check, Model, Outcome, PartialOrder, Symmetry};

fn check(text: &str, symmetry: Symmetry) -> Outcome {
    let model = Model::from_text("mirrored.pml", text).expect("a model");
    let check = Check { all: true, symmetry: Some(symmetry), ..Check::default() };
    model.check(&check).expect("an answer")
}

fn places(outcome: &Outcome) -> Vec<String> {
    let mut places: Vec<String> = outcome.violations.iter().filter_map(|v| v.at.clone()).collect();
    places.sort_unstable();
    places
}

const MIRRORED: &str = "byte a, b;
active proctype A() {
  a = 1;
  assert(b == 0)
}
active proctype B() {
  b = 1;
  assert(a == 0)
}
";

#[test]
fn each_place_has_a_run_of_its_own() {
    let (full, reduced) = (check(MIRRORED, Symmetry::Off), check(MIRRORED, Symmetry::Exact));
    assert!(reduced.statistics.states < full.statistics.states, "the two processes are exchanged");
    assert_eq!(places(&full), ["mirrored.pml:4", "mirrored.pml:8"]);
    assert_eq!(places(&reduced), places(&full));
    assert!(reduced.notes.iter().all(|note| !note.contains("mirror")), "{:?}", reduced.notes);
    for violation in &reduced.violations {
        assert_eq!(violation.trace.violation_at, violation.at);
        assert!(!violation.trace.steps.is_empty());
    }
}

/// Only one of the flags is ever set, though the program treats both alike.
const UNEQUAL: &str = "byte a = 1, b;
active proctype A() {
  do :: a == 1 -> assert(false) od
}
active proctype B() {
  do :: b == 1 -> assert(false) od
}
active proctype Reset() { do :: a = 0 :: b = 0 od }
";

#[test]
fn what_the_initial_state_rules_out_is_not_reported_but_named() {
    let (full, reduced) = (check(UNEQUAL, Symmetry::Off), check(UNEQUAL, Symmetry::Exact));
    assert_eq!(places(&full), ["mirrored.pml:3"]);
    assert_eq!(places(&reduced), places(&full));
    let note = reduced.notes.iter().find(|note| note.contains("mirror"));
    assert!(note.is_some_and(|note| note.contains("mirrored.pml:6")), "{:?}", reduced.notes);
}

/// Two places of one proctype at which the same kind of thing goes wrong: each is reported, although steps to both lead to states of one class.
#[test]
fn two_places_of_one_proctype_are_told_apart() {
    let text = "active [2] proctype P() {\n\tassert(0);\n\tdo\n\t:: assert(0)\n\tod\n}\n";
    let model = Model::from_text("places.pml", text).expect("loads");
    let check = Check { all: true, partial_order: PartialOrder::Off, ..Check::default() };
    let outcome = model.check(&check).expect("checked");
    let places: Vec<_> = outcome.violations.iter().filter_map(|v| v.at.clone()).collect();
    assert_eq!(places, ["places.pml:2", "places.pml:4"]);
}

/// A channel variable of which nobody knows what it holds (because of a process type that is never started) may hold any channel: none of them
/// changes places then.
#[test]
fn channels_that_are_not_known_keep_their_numbers() {
    let text = "proctype P0() { skip }\n\
        proctype P1() { chan c = [2] of { byte }; c!1; do :: c?_ od }\n\
        init { chan d = [2] of { byte }; run P1(); run P1(); do :: d!1 od }\n";
    let model = Model::from_text("channels.pml", text).expect("loads");
    let check =
        Check { partial_order: PartialOrder::Off, deadlocks: false, audit: 2_000, ..Check::default() };
    let outcome = model.check(&check).expect("states behave like their representatives");
    assert!(outcome.statistics.states <= 31, "{}", outcome.statistics.states);
}

/// A statement that takes another's place was not executed where no process arrives: both answers list it.
#[test]
fn statements_behind_a_guard_that_never_holds() {
    let ends = "proctype P() { do :: break od }\n\
                init { run P(); printf(\"%d\\n\", 1); do :: 0; skip od }\n";
    let assigns = "pid g; proctype P(byte p) { bool x[2] }\n\
                   active proctype Q() { g = run P(1); g = 3; do :: 0; g = 3 od }\n";
    // What stands after a statement that fails is not executed either.
    let fails = "byte g[2]; active proctype P() { d_step { g[-1]; skip } }\n\
                 active proctype Q() { chan c[2] = [0] of { byte } }\n";
    for (text, number) in [(ends, 2), (assigns, 2), (fails, 3)] {
        let model = Model::from_text("guard.pml", text).expect("correct");
        let unreached = |raw| {
            let check = Check { raw, all: true, ..Check::default() };
            let outcome = model.check(&check).expect("small");
            outcome.unreached.into_iter().map(|u| u.statement).collect::<Vec<_>>()
        };
        assert_eq!(unreached(true).len(), number, "{text}");
        assert_eq!(unreached(false), unreached(true), "{text}");
    }
}

/// Locations, variables or process types that are exchanged do not say which of them a process has been at: a search without symmetry finds out what was
/// executed, and where it gives up, the report says so.
#[test]
fn what_takes_the_place_of_something_executed_is_told_apart() {
    // Nobody ever gets past the first of two equal statements.
    let rounds = "chan c2 = [1] of { byte }; byte c0;\n\
                  active proctype P() { L1: c2!c0;\n c2!c0;\n goto L1 }\n";
    // The processes are alike, their beginnings are not.
    let unequal = "byte a = 1, b;\n\
                   active proctype A() { do :: a == 1 ->\n a = 2 od }\n\
                   active proctype B() { do :: b == 1 ->\n b = 2 od }\n\
                   active proctype Reset() { do :: a = 0 :: b = 0 od }\n";
    for (text, number) in [(rounds, 1), (unequal, 2)] {
        let model = Model::from_text("apart.pml", text).expect("correct");
        for partial_order in [PartialOrder::On, PartialOrder::Off] {
            let told = |raw| {
                let check = Check { raw, partial_order, deadlocks: false, ..Check::default() };
                let outcome = model.check(&check).expect("small");
                assert!(!outcome.notes.iter().any(|note| note.contains("not known")), "{:?}", outcome.notes);
                let statements = outcome.unreached.iter().map(|u| (u.at.clone(), u.statement.clone()));
                let lines = outcome.covered.iter().filter(|line| line.times > 0).map(|line| line.at.clone());
                (statements.collect::<Vec<_>>(), lines.collect::<Vec<_>>())
            };
            assert_eq!(told(false).0, told(true).0, "{text}");
            let executed = |(missing, lines): (Vec<(String, String)>, Vec<String>)| {
                assert_eq!(missing.iter().filter(|(_, s)| s != "the end of the process").count(), number);
                lines
            };
            let (reduced, raw) = (executed(told(false)), executed(told(true)));
            assert!(reduced.iter().all(|line| raw.contains(line)), "{reduced:?} {raw:?}");
        }
    }
}

/// Where too many states would have to be looked at, the places are named.
#[test]
fn what_is_not_known_of_statements_is_said() {
    let process = |name: &str, mine: &str| {
        format!(
            "active proctype {name}() {{ byte n; do :: n < 120 -> n++ :: {mine} == 1 ->\n {mine} = 2 od }}\n"
        )
    };
    let reset = "active proctype Reset() { do :: a = 0 :: b = 0 od }\n";
    let text = format!("byte a = 1, b;\n{}{}{reset}", process("A", "a"), process("B", "b"));
    let model = Model::from_text("open.pml", &text).expect("correct");
    let check = Check { partial_order: PartialOrder::Off, deadlocks: false, ..Check::default() };
    let outcome = model.check(&check).expect("small");
    let note = outcome.notes.iter().find(|note| note.contains("not known"));
    assert!(
        note.is_some_and(|note| note.contains("open.pml:5")),
        "{:?} {:?}",
        outcome.notes,
        outcome.unreached
    );
    assert!(outcome.unreached.iter().all(|u| u.at != "open.pml:5"));
}

/// A local statement that fails is merged with the step before where one violation is enough, and stands alone where all are asked for: what
/// others can do before it is found, too, and the runs are followed as they were found.
#[test]
fn faults_do_not_hide_what_others_can_do() {
    let text = "proctype P() { skip; assert(false) }\n\
                init { bool x[2]; run P(); x[2] = 1 }\n";
    let model = Model::from_text("fault.pml", text).expect("correct");
    for partial_order in [PartialOrder::On, PartialOrder::Off] {
        let check = Check { all: true, partial_order, ..Check::default() };
        let outcome = model.check(&check).expect("small");
        assert_eq!(outcome.violations.len(), 2, "{partial_order:?}");
        assert!(outcome.unreached.is_empty(), "{partial_order:?}");
        for violation in &outcome.violations {
            let (question, choices) = (violation.question, &violation.choices);
            model.written_path(question, choices, violation.cycle, violation.how).expect("the same run");
        }
    }
    let one = model.check(&Check::default()).expect("small");
    assert!(one.reduced.merged > 0 && one.violations.len() == 1, "{:?}", one.reduced);
}
