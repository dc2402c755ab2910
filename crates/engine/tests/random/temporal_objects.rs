//! Temporal claims about programs with objects: BIR and Promela with pointers, in every combination of reductions. The oracle is a
//! tableau on the reference interpreter's states of a program without objects that does the same.

use crate::formulas::{parse, ways};
use quotient_engine::PropertyKeyword;
use quotient_engine::{Check, LoadOptions, Model, Outcome, PartialOrder, Question, Symmetry, Verdict};
use quotient_promela::{ParseOptions, parse_text};
use quotient_reference::temporal;
use quotient_source::SourceMap;

/// Two workers take a cell in turns.
const CELL: &str = "system Cells {
  top record Object {}
  record Cell extends Object { int value; }
  Cell head;
  active[2] thread Worker() {
    Cell mine;
    loc idle:
      when head == null do { mine := new Cell; head := mine; } goto critical;
    loc critical:
      when true do { mine.value := 1; } goto leaving;
    loc leaving:
      when true do { head := null; mine := null; } goto idle;
  }
}";

/// The same without objects.
const CELL_STATIC: &str = "bit head; byte value;
active [2] proctype Worker() {
idle:
  atomic { head == 0 -> head = 1; value = 0 };
critical:
  value = 1;
leaving:
  atomic { head = 0; value = 0; goto idle }
}";

fn bir(text: &str, keyword: PropertyKeyword, formula: &str) -> Model {
    let options = LoadOptions { properties: vec![(keyword, formula.into())], ..LoadOptions::default() };
    Model::from_bir_text("model.bir", text, &options).unwrap_or_else(|e| panic!("{formula}: {e}"))
}

/// The verdict on the formula, the same in every way.
fn agreed(model: &Model) -> bool {
    let answer = |outcome: &Outcome| {
        let answer = outcome.answers.iter().find(|a| a.question == Question::Claim(0)).expect("an answer");
        assert!(!matches!(answer.verdict, Verdict::Undecided(_)), "{:?}", answer.verdict);
        answer.verdict == Verdict::Holds
    };
    let raw = model.check(&Check { raw: true, all: true, ..Check::default() }).expect("small enough");
    let holds = answer(&raw);
    for (symmetry, partial_order, search) in ways() {
        let check = Check { symmetry: Some(symmetry), partial_order, search, all: true, ..Check::default() };
        let outcome = model.check(&check).unwrap_or_else(|e| panic!("{symmetry:?} {partial_order:?}: {e}"));
        assert_eq!(answer(&outcome), holds, "{symmetry:?} {partial_order:?} {search:?}");
    }
    let heap = Check { symmetry: Some(Symmetry::Heap), all: true, ..Check::default() };
    assert_eq!(answer(&model.check(&heap).expect("small enough")), holds);
    holds
}

fn tableau(text: &str, keyword: PropertyKeyword, formula: &str) -> bool {
    let parsed = parse_text(&mut SourceMap::new(), "model.pml", text, &ParseOptions::default());
    temporal::holds(&parsed.model, &parse(keyword, formula), 3_000).expect("small enough")
}

#[test]
fn bir_agrees_with_a_program_without_objects() {
    use PropertyKeyword::{Ctl, Ltl};
    let critical = ["Worker[0]@critical", "Worker[1]@critical"];
    let (some, both) = (critical.join(" || "), critical.join(" && "));
    let cases = [
        (Ltl, "[] ((count w: Worker . w@critical) <= 1)".to_owned(), format!("[] !({both})")),
        (Ltl, "[]<> (exists w: Worker . w@critical)".into(), format!("[]<> ({some})")),
        (Ltl, "<>[] (forall w: Worker . !w@critical)".into(), format!("<>[] !({some})")),
        (Ltl, "[]<> Worker@critical".into(), "[]<> Worker[0]@critical".into()),
        (Ltl, "<>[] (head == null)".into(), "<>[] (head == 0)".into()),
        (Ltl, "[]<> (head == null)".into(), "[]<> (head == 0)".into()),
        (
            Ltl,
            "[] ((head != null) -> (head != null) U (head == null))".into(),
            "[] ((head == 1) -> (head == 1) U (head == 0))".into(),
        ),
        (Ltl, "[] (head != null -> head.value < 2)".into(), "[] ((head == 1) -> (value < 2))".into()),
        (
            Ltl,
            "[]<> (exists w: Worker . w:mine != null && w:mine.value == 1)".into(),
            "[]<> (value == 1)".into(),
        ),
        (Ctl, "AG EF (head == null)".into(), "AG EF (head == 0)".into()),
        (Ctl, "AG (head == null -> EX (head != null))".into(), "AG ((head == 0) -> EX (head == 1))".into()),
        (Ctl, "EG (head == null)".into(), "EG (head == 0)".into()),
        (Ctl, "AG EF Worker@critical".into(), "AG EF Worker[0]@critical".into()),
        (Ctl, "E ([]<> Worker@critical)".into(), "E ([]<> Worker[0]@critical)".into()),
        (
            Ctl,
            "AF (exists w: Worker . w@leaving)".into(),
            "AF (Worker[0]@leaving || Worker[1]@leaving)".into(),
        ),
    ];
    let mut violated = 0;
    for (keyword, formula, flat) in &cases {
        let expected = tableau(CELL_STATIC, *keyword, flat);
        assert_eq!(agreed(&bir(CELL, *keyword, formula)), expected, "{keyword:?} {formula}");
        violated += usize::from(!expected);
    }
    assert!(violated >= 4 && violated + 4 <= cases.len(), "{violated} of {} violated", cases.len());
}

/// Quantified propositions keep the threads exchangeable, the name of a kind alone means its oldest thread and pins.
#[test]
fn quantifiers_keep_threads_exchangeable() {
    let states = |formula: &str, symmetry| {
        let model = bir(CELL, PropertyKeyword::Ltl, formula);
        let check = Check { symmetry: Some(symmetry), partial_order: PartialOrder::Off, ..Check::default() };
        let outcome = model.check(&check).expect("small enough");
        let answer = outcome.answers.iter().find(|a| a.question == Question::Claim(0)).expect("an answer");
        answer.statistics.states
    };
    let quantified = "[] ((count w: Worker . w@critical) <= 1)";
    assert!(states(quantified, Symmetry::Exact) < states(quantified, Symmetry::Heap));
    let named = "[] (Worker@critical -> head != null)";
    assert_eq!(states(named, Symmetry::Exact), states(named, Symmetry::Heap));
}

/// A list that grows at its end and is cut in the middle, by hand: `last` is reachable from `head` until the cut.
#[test]
fn what_references_lead_to() {
    let list = |cut: &str| {
        format!(
            "system List {{
  top record Object {{}}
  record Node extends Object {{ Node next; }}
  Node head;
  Node last;
  int length;
  active thread Builder() {{
    loc first: when true do {{ head := new Node; last := head; length := 1; }} goto grow;
    loc grow:
      when length < 3 do {{ last.next := new Node; last := last.next; length := length + 1; }} goto grow;
      when length == 3 do {{ {cut} }} goto done;
    loc done: when false do {{}} goto done;
  }}
}}"
        )
    };
    let (whole, cut) = (list(""), list("head.next := null;"));
    let reachable = "[] (last != null -> reachable(head, last))";
    assert!(agreed(&bir(&whole, PropertyKeyword::Ltl, reachable)));
    assert!(!agreed(&bir(&cut, PropertyKeyword::Ltl, reachable)));
    assert!(agreed(&bir(&cut, PropertyKeyword::Ltl, "<>[] !reachable(head, last)")));
    // Not backwards, except to itself; never from or to null.
    assert!(agreed(&bir(&whole, PropertyKeyword::Ltl, "[] (length > 1 -> !reachable(last, head))")));
    assert!(agreed(&bir(&whole, PropertyKeyword::Ltl, "[] (length > 0 -> reachable(last, last))")));
    assert!(agreed(&bir(&whole, PropertyKeyword::Invariant, "length > 0 || !reachable(head, last)")));
    assert!(agreed(&bir(
        &whole,
        PropertyKeyword::Ctl,
        "EF (length == 3 && reachable(head, last) && !reachable(last, head))"
    )));
}

#[test]
fn pointers_in_promela() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/dynamic");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file of the corpus");
    let (dynamic, flat) = (read("stack.pml"), read("stack.static.pml"));
    use PropertyKeyword::{Ctl, Ltl};
    let mut violated = 0;
    let cases = [
        (Ltl, "<> (sum == 6)"),
        (Ltl, "[] (sum < 4)"),
        (Ltl, "[] ((sum == 2) -> <> (sum == 6))"),
        (Ltl, "(sum < 3) U (sum > 2)"),
        (Ltl, "<>[] (sum > 5)"),
        (Ctl, "AG ((sum == 1) -> EF (sum == 5))"),
        (Ctl, "EF (sum == 4 && EX (sum == 6))"),
        (Ctl, "A ((sum == 0) W (sum == 1))"),
    ];
    for (keyword, formula) in cases {
        let model =
            Model::from_text_with("stack.pml", &dynamic, &[(keyword, formula.to_owned())]).expect("correct");
        let expected = tableau(&flat, keyword, formula);
        assert_eq!(agreed(&model), expected, "{keyword:?} {formula}");
        violated += usize::from(!expected);
    }
    assert!(violated > 1 && violated < cases.len() - 1, "{violated} violated");
    // What is popped is no longer reachable from the top.
    let reachable = |formula: &str| {
        agreed(&Model::from_text_with("stack.pml", &dynamic, &[(Ltl, formula.to_owned())]).expect("correct"))
    };
    assert!(reachable("[] ((&top == null) || reachable(&top, &top))"));
    assert!(!reachable("[] !reachable(&top, &top)"));
}

/// A proposition that follows a reference is asked only where what stands to its left says that it can be followed, though the
/// automaton of a formula asks propositions apart.
#[test]
fn what_is_asked_only_where_it_has_a_value() {
    use PropertyKeyword::{Ctl, Ltl};
    let in_bir = "system S {
        record Node { int wrap (0, 3) value; }
        Node g; int wrap (0, 3) x;
        active thread P() { g := new Node; g.value := 1; x := 1; g := null; x := 2; }
    }";
    let in_promela = "typedef Node { byte value }
        Node &g; byte x;
        active proctype P() { &g = new Node; g.value = 1; x = 1; &g = null; x = 2 }";
    let cases = [
        (Ltl, "<> (g != null && g.value == 1)", true),
        (Ltl, "<> (g != null && g.value == 2)", false),
        (Ltl, "[] (g == null || g.value < 2)", true),
        (Ltl, "[] (g != null -> g.value == 1)", false),
        (Ltl, "!(g != null && g.value == 1)", true),
        (Ltl, "<> (x == 1 && g != null && g.value == 1)", true),
        (Ltl, "<> (!(g == null || x == 0) && g.value == 1)", true),
        // With a temporal part between the two, and after them.
        (Ltl, "<> (g != null && <> (x == 2) && g.value == 1)", true),
        (Ltl, "[] (g != null -> (g.value == 0 || <> (g == null)))", true),
        (Ltl, "[] (g != null -> (g.value == 1 || [] (x == 0)))", false),
        (Ltl, "[] ((g != null && g.value == 1) -> <> (x == 2))", true),
        (Ltl, "(g == null || g.value < 2) U (x == 2)", true),
        (Ctl, "EF (g != null && g.value == 1)", true),
        (Ctl, "AG (g != null -> (g.value == 0 || EF (g == null)))", true),
        (Ctl, "AG (g == null || E (g.value == 0 && <> (x == 2)))", false),
    ];
    for (keyword, formula, expected) in cases {
        assert_eq!(agreed(&bir(in_bir, keyword, formula)), expected, "{keyword:?} {formula}");
        let formula = formula.replace("g == null", "&g == null").replace("g != null", "&g != null");
        let model = Model::from_text_with("model.pml", in_promela, &[(keyword, formula.clone())]);
        assert_eq!(agreed(&model.expect("correct")), expected, "{keyword:?} {formula}");
    }
    // Without a guard it is a fault, also where the guard is for another time.
    for formula in ["<> (g.value == 1)", "g == null -> [] (g.value < 2)", "g.value == 1 || g == null"] {
        let outcome = bir(in_bir, Ltl, formula).check(&Check::default()).expect("small enough");
        let kinds: Vec<&str> = outcome.violations.iter().map(|v| v.kind.as_str()).collect();
        assert_eq!(kinds, ["null"], "{formula}");
    }
}

/// The same for elements and divisors, in programs without objects; the tableau does not know faults.
#[test]
fn elements_and_divisors_that_may_not_exist() {
    use PropertyKeyword::Ltl;
    let text = "byte i; byte a[2] = 1; active proctype P() { do :: i < 3 -> i++ :: i == 3 -> i = 0 od }";
    for (formula, expected) in [
        ("[] (i < 2 -> a[i] == 1)", true),
        ("[] (i >= 2 || a[i] == 1)", true),
        ("[]<> (i < 2 && a[i] == 1)", true),
        ("<> (i > 0 && 6 / i == 2 && i == 2)", false),
        ("<> (i > 0 && 6 / i == 3)", true),
    ] {
        let model = Model::from_text_with("model.pml", text, &[(Ltl, formula.to_owned())]).expect("correct");
        assert_eq!(agreed(&model), expected, "{formula}");
    }
}

/// What an assumption forbids is not a deadlock, whoever watches.
#[test]
fn assumptions_cut_no_run_to_a_deadlock() {
    let assumes = "system S { record Node {} Node g; boolean flag;
        active thread P() { g := new Node; flag := true; assume g == null; flag := false; } }";
    let waits = "system S { record Node {} Node g; boolean flag; active thread P() {
        loc first: when true do { g := new Node; flag := true; } goto second;
        loc second: when g == null do { flag := false; } return; } }";
    let verdicts = |text: &str, raw| {
        let check = Check { raw, all: true, ..Check::default() };
        let outcome = bir(text, PropertyKeyword::Ltl, "<>[] flag").check(&check).expect("small enough");
        let kinds: Vec<String> = outcome.violations.iter().map(|v| v.kind.to_string()).collect();
        (outcome.verdict, kinds)
    };
    for raw in [true, false] {
        assert_eq!(verdicts(assumes, raw), (Verdict::Holds, vec![]), "raw {raw}");
        assert_eq!(verdicts(waits, raw), (Verdict::Violated, vec!["deadlock".into()]), "raw {raw}");
    }
}

#[test]
fn wrong_propositions_are_explained() {
    let wrong = |formula: &str| {
        let properties = vec![(PropertyKeyword::Ltl, formula.to_owned())];
        let options = LoadOptions { properties, ..LoadOptions::default() };
        Model::from_bir_text("model.bir", CELL, &options).expect_err(formula).to_string()
    };
    for (formula, message) in [
        ("<> (nowhere == 1)", "there is no variable `nowhere`"),
        ("<> Worker@nowhere", "its locations are idle, critical, leaving"),
        ("<> (exists w: Cell . w@idle)", "`Cell` is a record, not a thread"),
        ("<> (exists w: Worker . w:his == null)", "the thread has no variable `his`"),
        ("<> (head == 1)", "cannot be compared"),
        ("<> reachable(head, 3)", "expected a reference to an object"),
    ] {
        let said = wrong(formula);
        assert!(said.contains(message), "{formula}: {said}");
    }
}
