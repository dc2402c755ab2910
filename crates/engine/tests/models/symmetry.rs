//! Symmetry found and used on known models: counts of orbits, what the report says, pinning by properties.

use quotient_engine::{Check, LoadOptions, Model, Outcome, PartialOrder, Symmetry, Verdict};

fn check(text: &str, symmetry: Symmetry) -> Outcome {
    let model = Model::from_text("model.pml", text).expect("a correct model");
    let check = Check {
        symmetry: Some(symmetry),
        partial_order: PartialOrder::Off,
        all: true,
        audit: 500,
        explain_symmetry: true,
        ..Check::default()
    };
    model.check(&check).expect("small enough")
}

fn philosophers(n: u32) -> String {
    format!(
        "#define N {n}\nbit fork[N];\nactive [N] proctype phil() {{\n  do\n  :: atomic {{ fork[_pid] == 0 -> fork[_pid] = 1 }};\n\
         atomic {{ fork[(_pid+1)%N] == 0 -> fork[(_pid+1)%N] = 1 }};\n fork[(_pid+1)%N] = 0;\n fork[_pid] = 0\n od\n}}\n"
    )
}

/// Counts by brute force over rotations, from the literature of this project's figures.
#[test]
fn philosophers_in_a_ring_have_rotations() {
    for (n, states, transitions) in [(8, 1788, 10_334), (10, 15_489, 111_928)] {
        let outcome = check(&philosophers(n), Symmetry::Exact);
        assert_eq!((outcome.statistics.states, outcome.statistics.transitions), (states, transitions));
        assert_eq!(outcome.symmetry.found, [format!("{n} phil: rotations")]);
        let limit = outcome.symmetry.limit.expect("rotations are not everything");
        assert!(limit.starts_with("told apart by model.pml:6 (fork["), "{limit}");
        assert_eq!(outcome.violations.len(), 1);
        assert_eq!(outcome.violations[0].kind, "deadlock");
    }
}

/// Idle, trying, critical: the processes in each are numbers, so states grow linearly.
#[test]
fn a_mutex_grows_linearly() {
    for (n, states) in [(5, 12), (10, 22)] {
        let text = format!("#define N {n}\n{}", include_str!("../../../../models/mutex.pml"));
        let outcome = check(&text, Symmetry::Exact);
        assert_eq!(outcome.verdict, Verdict::Holds);
        assert_eq!(outcome.statistics.states, states);
        assert_eq!(outcome.symmetry.found, [format!("{n} worker: all permutations")]);
        assert_eq!(outcome.symmetry.limit, None);
    }
}

/// While somebody may still be started nothing is renamed, and where that never ends, nothing ever is. States that stand for themselves count as one each: those
/// stored stand for all there are.
#[test]
fn nothing_is_renamed_before_all_are_started() {
    let workers = "byte n[2], k;\nproctype W(byte i) { do :: n[i] = 1 - n[i] od }\n";
    let ends = format!("{workers}init {{ run W(0); k = 1; run W(1); k = 0; n[0] == 7 }}");
    let (exact, off) = (check(&ends, Symmetry::Exact), check(&ends, Symmetry::Off));
    let stored = [exact.statistics.states, off.statistics.states];
    assert_eq!(exact.symmetry.renamings.as_deref(), Some("2"));
    let average = exact.symmetry.for_one.expect("some states stand for others");
    assert!(stored[0] < stored[1] && average.exact, "{stored:?}");
    assert_eq!(average.tenths, (10.0 * stored[1] as f64 / stored[0] as f64).round() as u64, "{stored:?}");
    for never in [
        format!("{workers}init {{ do :: k < 2 -> run W(k); k++ :: k == 2 -> n[0] = 0 od }}"),
        format!("{workers}init {{ atomic {{ run W(0); run W(1) }}; _last == 0 }}"),
        "byte n[2]; active [2] proctype P() priority 3 { do :: n[_pid] = 1 - n[_pid] :: set_priority(_pid, 3) od }"
            .into(),
    ] {
        let (exact, off) = (check(&never, Symmetry::Exact), check(&never, Symmetry::Off));
        assert_eq!(exact.symmetry.renamings, None, "{never}");
        assert_eq!(exact.statistics.states, off.statistics.states, "{never}");
        assert_eq!(exact.violations.len(), off.violations.len(), "{never}");
    }
}

/// A formula that names one process pins it, and the report names the formula, not a line of the program.
#[test]
fn a_formula_that_pins_is_named() {
    use quotient_engine::PropertyKeyword::{Ctl, Invariant, Ltl};
    let text = "byte a[4];\nactive [4] proctype P() {\n  do\n  :: a[_pid] = 1 - a[_pid]\n  od\n}";
    for (keyword, formula) in [
        (Ltl, "[]<> (a[2] == 1)"),
        (Ltl, "[] (a[2] <= 1)"),
        (Ltl, "<> P[1]@middle || [] (a[2] <= 1)"),
        (Ctl, "AG EF (a[2] == 1)"),
        (Invariant, "a[2] <= 1"),
    ] {
        let text = text.replace("  ::", "  :: skip; middle:");
        let model =
            Model::from_text_with("model.pml", &text, &[(keyword, formula.to_owned())]).expect("correct");
        // What tells them apart is always said where that is asked for; otherwise it may be too much for so short a search.
        let outcome = model.check(&Check { explain_symmetry: true, ..Check::default() }).expect("checked");
        let claim = outcome.answers.iter().find(|a| a.text.ends_with(formula)).expect("an answer");
        let limit = claim.applied.symmetry.limit.as_deref().unwrap_or("");
        assert_eq!(limit, format!("told apart by the formula {formula}"));
    }
    // A claim written by hand has lines of its own.
    let text = format!("{text}\nnever {{ do\n:: a[2] > 1 -> break\n:: else\nod }}");
    let outcome =
        Model::from_text("model.pml", &text).expect("correct").check(&Check::default()).expect("checked");
    let limit = outcome.answers.iter().find_map(|a| a.applied.symmetry.limit.clone()).expect("a limit");
    assert!(limit.starts_with("told apart by model.pml:8 "), "{limit}");
}

/// A formula that names all processes alike pins none, whatever its automaton makes of it; across proctypes, too, and if only fair runs count.
#[test]
fn a_formula_that_names_all_alike_pins_none() {
    use quotient_engine::PropertyKeyword::Ltl;
    let three = "byte a[3]; active [3] proctype P() { do :: atomic { a[0] + a[1] + a[2] == 0 -> a[_pid] = 1 }; CS: skip; a[_pid] = 0 od }";
    let two = "bit a, b; byte x, y;\n\
        active proctype P() { do :: a = 1 - a; CS: skip :: x = (x + 1) % 3 od }\n\
        active proctype Q() { do :: b = 1 - b; CS: skip :: y = (y + 1) % 3 od }";
    for (text, formula, order, holds) in [
        (three, "[] ((!P[0]@CS || !P[1]@CS) && (!P[0]@CS || !P[2]@CS) && (!P[1]@CS || !P[2]@CS))", "6", true),
        (three, "[] !((a[0] && a[1]) || (a[0] && a[2]) || (a[1] && a[2]))", "6", true),
        (three, "[]<> (a[0] || a[1] || a[2])", "6", true),
        (three, "[]<> (P[0]@CS && !a[1] || P[1]@CS && !a[2] || P[2]@CS && !a[0])", "3", true),
        (three, "[] ((!P[0]@CS || !P[1]@CS) && (!P[0]@CS || !P[2]@CS))", "2", true),
        (two, "[] (!P[0]@CS || !Q[1]@CS)", "72", false),
        (two, "[]<> (a == 1 && b == 1)", "18", false),
        (two, "[]<> (x == y)", "24", false),
    ] {
        let model = Model::from_text_with("model.pml", text, &[(Ltl, formula.to_owned())]).expect("correct");
        for fair in [false, true] {
            let said = [Symmetry::Exact, Symmetry::Off].map(|symmetry| {
                let check = Check { symmetry: Some(symmetry), fair, all: true, ..Check::default() };
                let outcome = model.check(&check).expect("checked");
                outcome.answers.into_iter().find(|a| a.text.ends_with(formula)).expect("an answer")
            });
            assert_eq!(said[0].verdict, said[1].verdict, "{formula}, fair {fair}");
            assert_eq!(said[0].verdict == Verdict::Holds, holds, "{formula}, fair {fair}");
            assert_eq!(said[0].applied.symmetry.renamings.as_deref(), Some(order), "{formula}, fair {fair}");
        }
    }
}

/// A property that names one process pins it, and nothing else.
#[test]
fn a_property_pins_what_it_names() {
    let model = |property: &str| {
        format!(
            "byte a[4];\nactive [4] proctype P() {{ do :: a[_pid] = 1 - a[_pid] od }}\n\
             active proctype monitor() {{ assert({property}) }}"
        )
    };
    let holds = check(&model("a[2] <= 1"), Symmetry::Exact);
    assert_eq!(holds.verdict, Verdict::Holds);
    assert_eq!(holds.symmetry.found[0], "4 P: all permutations of 3");
    assert!(holds.symmetry.limit.is_some_and(|l| l.starts_with("told apart by model.pml:3 ")));
    // The two values of each cell are alike: whether the monitor has looked is left.
    assert_eq!(holds.statistics.states, 2);
    let violated = check(&model("a[2] == 0"), Symmetry::Exact);
    assert_eq!(violated.verdict, Verdict::Violated);
    let trace = &violated.violations[0].trace;
    assert!(trace.steps.iter().any(|s| s.pid == 2), "the named process itself must have moved");
}

/// The same for objects: a global that refers to one thread's cell tells it from the others, which stay interchangeable. The
/// violation needs three steps of two workers, so that what was explored was renamed on the way.
#[test]
fn a_property_pins_the_object_it_names() {
    let model = |property: &str| {
        let text = format!(
            "system Pinned {{
              record Cell {{ int (0, 2) value; }}
              Cell named; Cell other;
              thread Worker(Cell c) {{
                loc up: when c.value < 2 do {{ c.value := c.value + 1; }} goto up;
                        when c.value == 2 do {{ c.value := 0; }} goto up;
              }}
              thread Monitor() {{ loc look: when true do {{ assert {property}; }} return; }}
              main thread MAIN() {{
                Cell c; int i;
                atomic
                  while i < 2 do c := new Cell; start Worker(c); i := i + 1; end
                  named := new Cell; start Worker(named);
                  other := new Cell; start Worker(other);
                  start Monitor();
                  return;
                end
              }}
            }}"
        );
        Model::from_bir_text("pinned.bir", &text, &LoadOptions::default()).expect("a correct model")
    };
    let orders = [
        (Symmetry::Off, 163),
        (Symmetry::Heap, 163),
        (Symmetry::ProgramCounter, 163),
        (Symmetry::Bounded(None), 109),
        (Symmetry::Exact, 109),
    ];
    for (symmetry, states) in orders {
        let asked = Check {
            symmetry: Some(symmetry),
            partial_order: PartialOrder::Off,
            audit: 500,
            ..Check::default()
        };
        let holds = model("named.value <= 2").check(&asked).expect("small");
        assert_eq!(holds.verdict, Verdict::Holds);
        // Two cells by themselves, a pair of cells (a multiset where it is sorted), whether the monitor has looked; and the
        // state before.
        assert_eq!(holds.statistics.states, states, "{symmetry:?}");
        let violated = model("named.value < 2 || other.value < 1").check(&asked).expect("small");
        assert_eq!(violated.verdict, Verdict::Violated, "{symmetry:?}");
        // Replayed from the initial state: MAIN is 0, the workers are 1 to 4, the cells 1 to 4, throughout.
        let trace = &violated.violations[0].trace;
        let changed = |pid: u32, cell: &str| {
            let steps = trace.steps.iter().filter(|s| s.pid == pid);
            steps.flat_map(|s| &s.changes).filter(|c| c.name == cell).count()
        };
        assert!(
            changed(3, "Cell#3.value") >= 2 && changed(4, "Cell#4.value") >= 1,
            "{symmetry:?}: {trace:?}"
        );
        for step in trace.steps.iter().filter(|s| (1..=4).contains(&s.pid)) {
            let own = format!("Cell#{}.value", step.pid);
            assert!(step.changes.iter().all(|c| c.name == own), "{symmetry:?}: {step:?}");
        }
        assert_eq!(trace.violation.as_ref().map(|v| v.kind.as_str()), Some("assertion"));
    }
}

/// What the analysis says about small programs.
#[test]
fn what_is_found() {
    for (text, expected) in [
        // Plain use.
        ("byte a[3]; active [3] proctype P() { a[_pid] = 1 }", "3 P: all permutations"),
        // Stored, compared, sent, received.
        (
            "byte owner; chan c = [2] of { byte }; active [3] proctype P() { byte l; owner = _pid; c!_pid; c?l; owner == l }",
            "3 P: all permutations",
        ),
        // Channels of their own.
        (
            "chan d[3] = [1] of { byte }; active [3] proctype P() { byte l; d[_pid]!_pid; d[_pid]?l }",
            "3 P: all permutations",
        ),
        // Compared with a constant.
        ("byte x; active [3] proctype P() { _pid == 1 -> x = 1 }", "3 P: all permutations of 2"),
        // An order.
        ("byte l; active [3] proctype P() { l = _pid; l <= _pid }", "3 P: none"),
        // Mixed with data.
        ("byte x; active [3] proctype P() { x = x + _pid }", "3 P: none"),
        // Used as data.
        ("byte x; active [3] proctype P() { x = _pid * 2; x > 2 }", "3 P: all permutations of 2"),
        // Both neighbours alike.
        (
            "bit b[5]; active [5] proctype P() { do :: b[(_pid+1)%5] == b[(_pid+4)%5] -> b[_pid] = 1 - b[_pid] od }",
            "5 P: rotations and reflections",
        ),
        // Sorted by size.
        ("chan c = [3] of { byte }; active [3] proctype P() { c!!_pid }", "3 P: none"),
        // Only printed.
        ("active [3] proctype P() { printf(\"%d\", _pid) }", "3 P: all permutations"),
        // Who moved last is visible.
        ("byte x; active [3] proctype P() { _last == 1 -> x = 1 }", "3 P: none"),
        // The youngest must end first, and how many there are is visible.
        ("byte x; active [3] proctype P() { x = _nr_pr }", "3 P: none"),
    ] {
        let outcome = check(text, Symmetry::Exact);
        assert_eq!(outcome.symmetry.found[0], expected, "{text}\n{:?}", outcome.symmetry.limit);
    }
}

/// Orders that are not canonical give the same answers, and never fewer states than there are orbits.
#[test]
fn orders_agree() {
    let text = philosophers(7);
    let exact = check(&text, Symmetry::Exact);
    let off = check(&text, Symmetry::Off);
    assert_eq!((exact.statistics.states, off.statistics.states), (614, 4286));
    for order in
        [Symmetry::Heap, Symmetry::ProgramCounter, Symmetry::Bounded(None), Symmetry::Bounded(Some(1))]
    {
        let outcome = check(&text, order);
        assert_eq!(outcome.verdict, exact.verdict);
        assert!(outcome.statistics.states >= exact.statistics.states, "{order:?}");
        assert!(outcome.statistics.states <= off.statistics.states, "{order:?}");
    }
}
