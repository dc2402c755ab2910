//! Temporal claims on small models: verdicts, lassos, fairness, counts that SPIN gives.

use quotient_engine::PropertyKeyword::{self, Ctl, Invariant, Ltl};
use quotient_engine::{Check, Model, Outcome, PartialOrder, Question, Symmetry, Verdict};

fn outcome(text: &str, properties: &[(PropertyKeyword, &str)], check: &Check<'_>) -> Outcome {
    let properties: Vec<_> = properties.iter().map(|(k, t)| (*k, (*t).to_owned())).collect();
    let model = Model::from_text_with("m.pml", text, &properties).unwrap_or_else(|e| panic!("{e}"));
    model.check(check).unwrap_or_else(|e| panic!("{e}"))
}

fn holds(text: &str, keyword: PropertyKeyword, property: &str) -> bool {
    let found = [false, true].map(|raw| {
        let outcome = outcome(text, &[(keyword, property)], &Check { raw, ..Check::default() });
        match outcome.verdict {
            Verdict::Holds => true,
            Verdict::Violated => false,
            Verdict::Undecided(why) => panic!("{property}: undecided, {why}"),
        }
    });
    assert_eq!(found[0], found[1], "{property}: reductions change the verdict");
    found[0]
}

const TOGGLE: &str = "bit x; byte n;\nactive proctype P() { end: do :: x = 1 - x :: n < 2 -> n++ od }\n";

#[test]
fn linear_time() {
    for (formula, expected) in [
        ("[] (n <= 2)", true),
        ("[] (n < 2)", false),
        ("<> (n == 2)", false),
        ("[]<> (x == 1)", true),
        ("<>[] (x == 1)", false),
        ("[]<> (x == 1) || <>[] (n == 2) || <>[] (x == 0)", true),
        ("X (n == 0)", true), // `n < 2` is a step of its own
        ("X (x == 1)", false),
        ("(n == 0) W (n == 1)", true),
        ("(n == 0) U (n == 1)", false),
        ("[] (n == 1 -> [] (n >= 1))", true),
        ("(n == 1) V (n < 2)", true),
    ] {
        assert_eq!(holds(TOGGLE, Ltl, formula), expected, "{formula}");
    }
}

#[test]
fn branching_time() {
    for (formula, expected) in [
        ("AG EF (n == 2)", true),
        ("EF AG (n == 2)", true),
        ("AF (n == 2)", false),
        ("EG (x == 0)", false),
        ("EG (n == 0)", true),
        ("AX (n == 0)", true),
        ("EX (x == 1) && EX (x == 0)", true),
        ("A[(n == 0) U (x == 1)]", false),
        ("E[(n == 0) U (n == 1)]", true),
        ("A (<>[] (n == 2) -> [] (n <= 2))", true),
        ("E ([]<> (x == 1) && []<> (x == 0) && [] (n == 0))", true),
        ("AG (n == 2 -> AG (n == 2))", true),
        ("!EF (n == 3)", true),
    ] {
        assert_eq!(holds(TOGGLE, Ctl, formula), expected, "{formula}");
    }
    let violated = outcome(TOGGLE, &[(Ctl, "AF (n == 2)")], &Check::default());
    let violation = &violated.violations[0];
    assert_eq!(violation.kind, "ctl");
    assert!(violation.cycle > 0 && violation.trace.cycle.is_some(), "a run that never gets there");
}

#[test]
fn processes_that_stop_repeat_their_last_state() {
    let text = "byte n;\nactive [2] proctype P() { n++ }\n";
    assert!(holds(text, Ltl, "<>[] (n == 2)"));
    assert!(!holds(text, Ltl, "[]<> (n == 1)"));
    assert!(holds(text, Ctl, "AF AG (n == 2)"));
}

#[test]
fn a_lasso_is_short_marked_and_replayed() {
    let text = "byte n;\nactive proctype P() { do :: n < 9 -> n++ :: n == 9 -> n = 5 od }\n";
    let found = outcome(text, &[(Ltl, "<>[] (n < 9)")], &Check { raw: true, ..Check::default() });
    let violation = &found.violations[0];
    assert_eq!(
        (violation.kind.as_str(), violation.cycle),
        ("ltl", 10),
        "round through 9 and 5 in single steps"
    );
    let start = violation.trace.cycle.expect("a cycle");
    assert_eq!(
        start + violation.cycle,
        violation.choices.len(),
        "numbered from 1, the initial state is choice 0"
    );
}

#[test]
fn quantified_propositions() {
    let text = "byte owner = 255;\n\
        proctype W() { byte k; do :: atomic { owner == 255 -> owner = _pid }; k = 1; cs: k = 0; owner = 255 od }\n\
        init { run W(); run W(); run W() }\n";
    for (property, expected) in [
        ("forall p: W . p@cs -> owner == p", true),
        ("(count p: W . W[p]@cs) <= 1", true),
        ("(count p: W . p@cs) == 0", false),
        ("!(exists p: W . p:k > 1)", true),
        ("exists p: W . p:k == 0", false), // not before the first one is started
        ("forall p: W . (forall q: W . p@cs && q@cs -> p == q)", true),
    ] {
        assert_eq!(holds(text, Invariant, property), expected, "{property}");
    }
    assert!(!holds(text, Ltl, "[]<> (exists p: W . p@cs)") || holds(text, Ltl, "<> (exists p: W . p@cs)"));
    let found = outcome(text, &[(Invariant, "(count p: W . p@cs) == 0")], &Check::default());
    assert_eq!(found.violations[0].kind, "invariant");
    assert_eq!(found.violations[0].cycle, 0);
}

#[test]
fn never_claims_by_hand() {
    let system = "byte n;\nactive proctype P() { do :: n < 3 -> n++ :: n == 3 -> n = 1 od }\n";
    let cases = [
        // Followed to its end.
        ("never { do :: n == 2 -> break :: else od }", Some(0)),
        // An acceptance cycle.
        ("never { do :: skip :: n == 1 -> goto accept od; accept: do :: n > 0 od }", Some(6)),
        // Variables, atomic, assertions.
        ("never { byte c; do :: atomic { n == 1 && c < 9 -> c++; assert(c < 2) } :: else od }", Some(0)),
        ("never { do :: n == 7 -> break :: else od }", None),
        ("never { do :: enabled(0) -> skip :: !enabled(0) -> break od }", None),
        ("never { do :: np_ && n == 3 -> break :: else od }", Some(0)),
    ];
    for (claim, expected) in cases {
        let found = outcome(&format!("{system}{claim}\n"), &[], &Check { raw: true, ..Check::default() });
        let cycle = found.violations.first().map(|v| v.cycle);
        match expected {
            None => assert_eq!((found.verdict, cycle), (Verdict::Holds, None), "{claim}"),
            Some(length) => assert_eq!(cycle, Some(length), "{claim}"),
        }
    }
}

#[test]
fn labels_of_processes() {
    let text = "bit x;\nactive proctype P() { do :: x = 1; accept: x = 0 :: skip od }\n";
    let check = Check { acceptance: true, ..Check::default() };
    assert_eq!(outcome(text, &[], &check).violations[0].kind, "acceptance");
    let text = "bit x;\nactive proctype P() { do :: x = 1; progress: x = 0 od }\n";
    let check = Check { progress: true, ..Check::default() };
    assert_eq!(outcome(text, &[], &check).verdict, Verdict::Holds);
    let text = "bit x;\nactive proctype P() { do :: x = 1; progress: x = 0 :: skip od }\n";
    assert_eq!(outcome(text, &[], &check).violations[0].kind, "non-progress");
}

#[test]
fn weak_fairness() {
    let text = "bit x, y;\nactive proctype P() { do :: x = 1 - x od }\nactive proctype Q() { y = 1 }\n";
    for (fair, formula, expected) in [
        (false, "<> (y == 1)", false),
        (true, "<> (y == 1)", true),
        (true, "[]<> (x == 1)", true),
        (false, "[]<> (x == 1)", true),
        (true, "<>[] (x == 1)", false),
    ] {
        for raw in [true, false] {
            let found = outcome(text, &[(Ltl, formula)], &Check { fair, raw, ..Check::default() });
            assert_eq!(found.verdict == Verdict::Holds, expected, "{formula}, fair {fair}, raw {raw}");
        }
    }
    // Two interchangeable processes, one starving the other: possible, also fairly, since a waiting process is not always
    // able to move.
    let starving = "bit lock; byte in;\nactive [2] proctype P() {\n\
        do :: atomic { !lock -> lock = 1 }; in = _pid + 1; in = 0; lock = 0 od }\n";
    for (formula, expected) in [("[]<> (in == 1)", false), ("[]<> (in > 0)", true)] {
        let found = outcome(starving, &[(Ltl, formula)], &Check { fair: true, ..Check::default() });
        assert_eq!(found.verdict == Verdict::Holds, expected, "{formula}");
    }
}

/// Peterson's filter lock: waiting is a scan of the other flags.
const FILTER: &str = "byte flag[N]; byte turn[N]; byte ncrit; byte inside;
active [N] proctype user() {
  byte j, k;
again: j = 1;
  do
  :: j < N -> flag[_pid] = j; turn[j] = _pid; k = 0;
     do
     :: k < N -> (k == _pid || flag[k] < j || turn[j] != _pid); k++
     :: k == N -> break
     od;
     j++
  :: j == N -> break
  od;
  ncrit++; inside = _pid + 1; assert(ncrit == 1); inside = 0; ncrit--; flag[_pid] = 0;
  goto again
}
";
const WATCH: &str =
    "never { T0: do :: skip :: !(ncrit == 1) -> goto accept od; accept: do :: !(ncrit == 1) od }";
const RELAY: &str = "chan c = [2] of { byte }; byte got;
active proctype S() { byte i; do :: c!i; i = (i + 1) % 3 od }
active proctype R() { do :: c?got -> progress: skip od }
active proctype T() { do :: atomic { got == 2 -> got = 0 } od }
";

/// Exact counts of products with hand-written claims, and of the search for non-progress, as `spin -a -o1 -o2 -o3` gives them
/// with `-DNOREDUCE` and `./pan -a` or `./pan -l`.
#[test]
fn counts_of_products_equal_spins() {
    let relay =
        "never { do :: skip :: (got == 1) -> goto accept od; accept: do :: (got == 1 && len(c) == 2) od }";
    let cases = [
        (format!("#define N 2\n{FILTER}{WATCH}\n"), false, 992),
        (format!("#define N 3\n{FILTER}{WATCH}\n"), false, 104_376),
        (format!("{RELAY}{relay}\n"), false, 63),
        (RELAY.to_owned(), true, 81),
    ];
    for (text, progress, states) in cases {
        let check = Check { raw: true, progress, ..Check::default() };
        let found = outcome(&text, &[], &check);
        assert_eq!((found.verdict, found.statistics.states), (Verdict::Holds, states), "{text}");
    }
}

/// From x = 1 there are two ways on: evidence about what happens there branches off.
#[test]
fn evidence_of_branching_time_is_a_tree() {
    let text = "byte x; active proctype P() {
  do
  :: x == 0 -> x = 1
  :: x == 1 -> x = 2
  :: x == 1 -> x = 3
  :: x == 2 -> x = 0
  :: x == 3 -> x = 3
  od
}";
    let check = |formula: &str, symmetry, partial_order| {
        let properties = [(PropertyKeyword::Ctl, formula.to_owned())];
        let model = Model::from_text_with("tree.pml", text, &properties).expect("correct");
        let check = Check { symmetry: Some(symmetry), partial_order, ..Check::default() };
        model.check(&check).expect("every run replays")
    };
    for order in [PartialOrder::Off, PartialOrder::On] {
        let outcome = check("AG ((x == 1) -> AF (x == 2))", Symmetry::Exact, order);
        let [violation] = &outcome.violations[..] else { panic!("one violation") };
        let [branch] = &violation.branches[..] else { panic!("one branch: {:?}", violation.branches) };
        assert_eq!((branch.formula.as_str(), branch.holds), ("A <>(x == 2)", false));
        assert_eq!(branch.trace.steps[..branch.after].len(), violation.trace.steps[..branch.after].len());
        assert!(branch.trace.cycle.is_some_and(|cycle| cycle > branch.after));
        assert!(branch.trace.last.contains(&("x".to_owned(), "3".to_owned())), "{:?}", branch.trace.last);
    }
    let outcome = check(
        "EF ((x == 1) && E[(x == 1) U (x == 2)] && E[(x == 1) U (x == 3)])",
        Symmetry::Off,
        PartialOrder::Off,
    );
    assert_eq!(outcome.verdict, Verdict::Holds);
    let [stem] = &outcome.answers[0].witness[..] else { panic!("one stem") };
    let ends: Vec<&str> = stem.branches.iter().map(|b| b.formula.as_str()).collect();
    assert_eq!(ends, ["E ((x == 1) U (x == 2))", "E ((x == 1) U (x == 3))"]);
    // What all runs do is shown by none.
    let outcome = check("AF (x == 1)", Symmetry::Off, PartialOrder::Off);
    assert_eq!((outcome.verdict, outcome.answers[0].witness.len()), (Verdict::Holds, 0));
    let outcome = check("EF (x == 4)", Symmetry::Off, PartialOrder::Off);
    assert_eq!((outcome.verdict, outcome.violations[0].branches.len()), (Verdict::Violated, 0));
}

/// A proposition that has no value is a fault of the run that gets there, and the formula does not hold.
#[test]
fn a_proposition_without_a_value_does_not_hold() {
    let outcome = outcome(
        "chan q; active proctype P() { skip }",
        &[(Ltl, "[] ((len(q) < 2) -> (len(q) > 0))")],
        &Check { all: true, ..Check::default() },
    );
    assert_eq!(outcome.verdict, Verdict::Violated);
    assert_eq!(outcome.violations[0].kind, "channel");
    let answer = outcome.answers.iter().find(|a| a.question == Question::Claim(0)).expect("an answer");
    assert_eq!(answer.verdict, Verdict::Violated);
}
