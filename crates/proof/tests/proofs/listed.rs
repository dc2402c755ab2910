//! Relative claims proved state by state, refuted ones where exploration was cut short, and what a solver says about the lists.

use crate::support::read;
use crate::support::solver::confirms;
use quotient_proof::certificate::certificate;
use quotient_proof::prove::{Options, Proof, Verdict, prove};
use quotient_proof_check::format::Proof as Written;
use quotient_proof_check::{check, smtlib};

/// Every state of the chain but the last is a left one, and the last is far away.
const CHAIN: &str = "p(0). p(X+1) :- p(X), X < 20. assert far: p(X), X < 20 |= p(20).";
/// The same with a variable on the left, and one on the right.
const CHOICE: &str = "p(0). p(X+1) :- p(X), X < 20. assert far: p(X), X < 5, U in 0..2 |= p(V), V - U = 18.";
/// A sum in a guard.
const SUM: &str = "p(0,0). p(X+1,Y) :- p(X,Y), X + Y < 3. p(X,Y+1) :- p(X,Y), X + Y < 4.
    assert corner: p(X,Y), X + Y >= 4 |= p(0,4).";

#[test]
fn partners_far_away_are_found_in_the_list() {
    for text in [CHAIN, CHOICE, SUM] {
        let program = read(text).expect("well formed");
        let reports = prove(&program, &Options::default());
        assert!(matches!(reports[0].verdict, Verdict::Proved), "{text}: {:?}", reports[0].verdict);
        assert!(matches!(reports[0].proof, Some(Proof::Listed(_))), "{text}");
        assert!(!reports[0].nonincreasing && !reports[0].one_level);
        let written = certificate(&program, &reports).expect("no overflow").expect("complete");
        assert_eq!(check(&written).expect("accepted").len(), 1);
        // Any state left out, moved or given another origin: refused.
        let Written::Listed { states, .. } = &written.proofs[0] else { panic!("a list") };
        for at in 0..states.len() {
            for change in 0..3 {
                let mut altered = written.clone();
                let Written::Listed { states, .. } = &mut altered.proofs[0] else { panic!("a list") };
                match change {
                    0 => drop(states.remove(at)),
                    1 => states[at].state[0] += 1,
                    _ => states[at].before = states[at].before.xor(Some(0)),
                }
                assert!(check(&altered).is_err(), "{text}: state {at}, change {change}");
            }
        }
    }
}

#[test]
#[ignore = "needs z3"]
fn z3_confirms_the_lists() {
    for text in [CHAIN, CHOICE, SUM] {
        let program = read(text).expect("well formed");
        let reports = prove(&program, &Options::default());
        let written = certificate(&program, &reports).expect("no overflow").expect("complete");
        assert!(confirms(text, &smtlib::export(&written)) > 2);
    }
}

#[test]
fn a_left_state_that_was_not_explored_is_found_backwards() {
    // Only three states are explored; 9 is a left state without a partner, 3 and 6 have one.
    let text = "p(0). p(X+1) :- p(X), X < 9. assert a: p(X), (X = 3 ; X = 6 ; X = 9) |= p(X+1).";
    let program = read(text).expect("well formed");
    let options = Options { explore: 3, ..Options::default() };
    let Verdict::Refuted(refutation) = &prove(&program, &options)[0].verdict else { panic!("it is false") };
    assert_eq!(refutation.trace.last().map(|s| s.state.clone()), Some(vec![9]));
    assert_eq!(refutation.trace.len(), 10);
}
