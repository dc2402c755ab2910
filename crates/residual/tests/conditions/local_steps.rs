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
