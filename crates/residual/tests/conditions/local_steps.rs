//! Local steps that must not merge with the step before, because somebody notices them. Every model is checked with merging and
//! without (`raw`): the same things must be violated and the same statements unreached.

use std::collections::BTreeSet;

use quotient_engine::{Check, Model, PartialOrder, Symmetry};

fn findings(model: &Model, raw: bool) -> (BTreeSet<String>, BTreeSet<String>) {
    let check = Check {
        raw,
        all: true,
        partial_order: PartialOrder::Off,
        symmetry: Some(Symmetry::Off),
        ..Check::default()
    };
    let outcome = model.check(&check).expect("it can be checked");
    let violations = outcome.violations.iter().map(|v| v.kind.to_string()).collect();
    (violations, outcome.unreached.iter().map(|u| format!("{} {}", u.at, u.statement)).collect())
}

fn violated(text: &str) -> BTreeSet<String> {
    let model = Model::from_text("local.pml", text).expect("a model");
    let plain = findings(&model, true);
    assert_eq!(findings(&model, false), plain);
    plain.0
}

/// A process that does something of its own is not ready for a rendezvous, and that lets another one go by `else`, by the main part
/// of an `unless`, or lose control in the middle of `atomic`.
#[test]
fn a_partner_that_is_not_ready_is_noticed() {
    let receiver = "
        chan c = [0] of { bit }; byte x;
        active proctype receiver() { L: do :: c?_ :: skip; if :: goto L fi od }";
    let sender = "active proctype sender() { if :: c!1 :: else -> assert(false) fi }";
    assert!(violated(&format!("{receiver} {sender}")).contains("assertion"));
    let sender = "active proctype sender() { { x = 1; assert(false) } unless { c!1 } }";
    assert!(violated(&format!("{receiver} {sender}")).contains("assertion"));
    let sender = "active proctype sender() { atomic { x = 1; c!1; x = 2 } }
        active proctype looks() { assert(x != 1) }";
    assert!(violated(&format!("{receiver} {sender}")).contains("assertion"));
}

/// A variable that is dead in a `d_step` has no value after it, whichever way it was entered: as an option, or as an escape.
#[test]
fn dead_means_zero_after_a_d_step() {
    let states = |text: &str, raw| {
        let model = Model::from_text("dead.pml", text).expect("a model");
        let partial_order = PartialOrder::Off;
        let check =
            Check { raw, all: true, partial_order, symmetry: Some(Symmetry::Off), ..Check::default() };
        model.check(&check).expect("it can be checked").statistics.states
    };
    let option = "byte x, n;
        active proctype A() {
            byte v;
            do :: if :: v = 0 :: v = 1 :: v = 2 fi; n = 0; if :: d_step { n < 3; n = 1 } :: x = v fi od
        }
        active proctype B() { do :: n = 2 :: n = 0; x = 0 od }";
    assert_eq!(states(option, false), 18);
    let escape = "byte x;
        active proctype A() {
            byte v;
            if :: v = 1 :: v = 2 fi;
            { x == 9; x = v } unless { d_step { x > 0; x = 3 } };
            x = 4
        }
        active proctype B() { x = 1 }";
    let without = escape.replace("if :: v = 1 :: v = 2 fi", "v = 1");
    assert_eq!((states(escape, false), states(escape, true)), (states(&without, false) + 2, 18));
}
