//! Formulas that say the same of each process under temporal operators of its own: the processes may be exchanged, with the locations of the formula's
//! automaton, where no ample sets are used; and the largest parts without temporal operators of a formula of branching time.

use quotient_engine::{Answer, Check, Model, PartialOrder, PropertyKeyword, Question, Symmetry, Verdict};

const LAMPS: &str = "bool on[3]; active [3] proctype P() { do :: on[_pid] = 1; on[_pid] = 0 od }";

fn ask(keyword: PropertyKeyword, formula: &str, check: &Check<'_>) -> Answer {
    let model = Model::from_text_with("lamps.pml", LAMPS, &[(keyword, formula.to_owned())]).expect("correct");
    let outcome = model.check(check).expect("checked");
    outcome.answers.into_iter().find(|a| a.question == Question::Claim(0)).expect("an answer")
}

fn states(keyword: PropertyKeyword, formula: &str, check: &Check<'_>) -> (u64, u64) {
    let with = ask(keyword, formula, &Check { symmetry: Some(Symmetry::Exact), ..*check });
    let without = ask(keyword, formula, &Check { symmetry: Some(Symmetry::Off), ..*check });
    assert_eq!((&with.verdict, &without.verdict), (&Verdict::Holds, &Verdict::Holds), "{formula}");
    (with.statistics.states, without.statistics.states)
}

#[test]
fn an_automaton_is_renamed_with_the_processes() {
    let each = |part: &str| {
        let parts: Vec<String> = (0..3).map(|p| format!("({})", part.replace('#', &p.to_string()))).collect();
        parts.join(" && ")
    };
    let fair = Check { fair: true, all: true, ..Check::default() };
    for part in ["[]<> on[#]", "[] (on[#] -> <> !on[#])", "[]<> !on[#]"] {
        let (with, without) = states(PropertyKeyword::Ltl, &each(part), &fair);
        assert!(with < without, "{part}: {with} and {without} states");
    }
    // One of them is not like the others.
    let other = format!("{} && []<> on[0]", each("[]<> !on[#]"));
    let (with, _) = states(PropertyKeyword::Ltl, &other, &fair);
    let (all, _) = states(PropertyKeyword::Ltl, &each("[]<> !on[#]"), &fair);
    assert!(with > all, "{with} and {all} states");
    // Beside ample sets nothing is exchanged that the automaton tells apart.
    let beside = ask(PropertyKeyword::Ltl, &each("[]<> on[#]"), &Check::default());
    assert_eq!((beside.verdict, beside.applied.symmetry.order.as_str()), (Verdict::Violated, "off"));
}

#[test]
fn parts_without_temporal_operators_count_as_a_whole() {
    let check = Check { all: true, partial_order: PartialOrder::Off, ..Check::default() };
    for formula in [
        "AG EF (on[0] || on[1] || on[2])",
        "AG EF !(on[0] || on[1] || on[2])",
        "EF (on[0] && on[1] && on[2])",
    ] {
        let (with, without) = states(PropertyKeyword::Ctl, formula, &check);
        assert!(with < without, "{formula}: {with} and {without} states");
    }
    let (with, without) =
        states(PropertyKeyword::Ctl, "(AG EF on[0]) && (AG EF on[1]) && (AG EF on[2])", &check);
    assert_eq!(with, without);
}
