//! Steps explained: one record per successor, in the same order, also where an atomic sequence can go round for ever.

use quotient_engine::Model;
use quotient_seams::{Scope, Successors, System};

#[test]
fn an_endless_atomic_sequence_is_explained() {
    // It may count up and down as often as it likes before it comes to an end.
    let text = "
        byte x, y;
        active proctype p() {
            atomic {
                do
                :: x < 60 -> x++
                :: x > 0 -> x--
                :: y < 60 -> y++
                :: y > 0 -> y--
                :: x == 60 && y == 60 -> break
                od;
                assert(false)
            }
        }";
    let model = Model::from_text("endless.pml", text).expect("a model");
    let (mut machine, _) = model.machine(quotient_engine::Compile::REDUCED).expect("it compiles");
    let mut out = Successors::new();
    machine.initial(&mut out).expect("a state");
    let state = out.state(0).to_vec();
    out.clear();
    machine.successors(&state, Scope::All, &mut out).expect("steps");
    let records = machine.explain(&state);
    assert_eq!(records.len(), out.len());
    assert!(out.has_violations());
    for (index, record) in records.iter().enumerate() {
        assert_eq!(record.violation, out.entry(index).violation);
        assert_eq!(record.state.as_deref().unwrap_or(&[]), out.state(index));
        // At least up to 60 twice, one at a time, and out of the loop.
        let steps = record.steps();
        assert!(steps.len() > 2 * 60, "{} steps", steps.len());
        let all = std::iter::once(&state).chain(steps.iter().map(|s| &s.state)).collect::<Vec<_>>();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "each of them does something");
    }
}
