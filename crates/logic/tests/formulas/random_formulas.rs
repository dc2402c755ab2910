//! The translation against the definitions: on random words, exactly one of the automata of a formula and of its negation
//! accepts, and it is the one that should.

use crate::generate::Random;
use quotient_logic::{translate, translate_generalised};

#[test]
fn automata_agree_with_the_meaning_on_random_words() {
    let mut random = Random::new(1);
    let (mut formulas, mut accepted) = (0, 0);
    while formulas < 1000 {
        let size = 2 + random.below(14);
        let formula = random.formula(size, 3);
        let yes = translate(&formula).expect("small formulas have automata");
        let no = translate(&formula.clone().negated()).expect("small formulas have automata");
        let general = translate_generalised(&formula).expect("small formulas have automata");
        assert!(
            general.states.len() <= yes.states.len(),
            "{formula}: {} > {}",
            general.states.len(),
            yes.states.len()
        );
        formulas += 1;
        for _ in 0..40 {
            let word = random.lasso(3);
            let holds = word.satisfies(&formula);
            accepted += usize::from(holds);
            assert_eq!(word.accepted_by(&yes), holds, "{formula} on {word:?}\n{yes}");
            assert_eq!(word.accepted_by_generalised(&general), holds, "{formula} on {word:?}\n{general:?}");
            assert_eq!(word.accepted_by(&no), !holds, "not {formula} on {word:?}\n{no}");
        }
    }
    // The test has force only when both answers occur often.
    assert!((8_000..32_000).contains(&accepted), "{accepted} of 40000");
}

#[test]
fn known_formulas() {
    use quotient_logic::Formula;
    let (p, q) = (Formula::prop(0), Formula::prop(1));
    // (formula, states): the textbook automata.
    let cases = [
        (p.clone().eventually(), 2),
        (p.clone().always(), 1),
        (p.clone().eventually().always(), 2),
        (p.clone().always().eventually(), 2),
        (p.clone().until(q.clone()), 2),
        (p.clone().eventually().always().and(q.clone().eventually().always()), 3),
        (p.clone().implies(q.clone().eventually()).always(), 2),
        (p.clone().next().next(), 4),
        (Formula::True, 1),
        (p.clone().and(p.clone().negated()), 1),
        (p.clone().eventually().always().implies(q.clone().eventually().always()), 5),
    ];
    for (formula, states) in cases {
        let automaton = translate(&formula).expect("small");
        assert!(automaton.states.len() <= states, "{formula} should need {states} states:\n{automaton}");
    }
}
