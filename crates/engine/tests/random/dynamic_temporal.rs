//! Partial order reduction for temporal questions about programs with objects: where it is known to go wrong, where it must
//! bring something, where it must refuse, and random formulas on random programs in both languages.
//!
//! The oracle is the search without any reduction (no merged steps, no representatives, no ample sets), whose verdicts on such
//! programs `temporal_objects.rs` compares with a tableau. `QUOTIENT_DYNAMIC_FORMULAS` sets how many formulas for each language,
//! `QUOTIENT_SEED` the first seed.

use crate::formulas::{branching, linear};
use quotient_engine::PropertyKeyword::{self, Ctl, Ltl};
use quotient_engine::{
    Check, LoadOptions, Model, Outcome, PartialOrder, Question, SearchKind, Symmetry, Verdict,
};
use quotient_reference::bir::generate;
use quotient_testing::{Random, setting};

fn promela(text: &str, keyword: PropertyKeyword, formula: &str) -> Model {
    let model = Model::from_text_with("test.pml", text, &[(keyword, formula.to_owned())]);
    model.unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn bir(text: &str, keyword: PropertyKeyword, formula: &str) -> Model {
    let options = LoadOptions { properties: vec![(keyword, formula.into())], ..LoadOptions::default() };
    Model::from_bir_text("test.bir", text, &options).unwrap_or_else(|e| panic!("{formula}: {e}\n{text}"))
}

/// Verdict on the formula, states of its search, and whether ample sets were used.
fn answer(outcome: &Outcome) -> (Option<bool>, u64, bool) {
    let answer = outcome.answers.iter().find(|a| a.question == Question::Claim(0)).expect("an answer");
    let holds = match answer.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Undecided(_) => None,
    };
    (holds, answer.statistics.states, answer.applied.partial_order != PartialOrder::Off)
}

/// What all ways of checking say, if they say the same, and whether ample sets saved states in one of them; `None` when the
/// search without reductions is cut short.
fn compare(model: &Model) -> Result<Option<(bool, bool)>, String> {
    let limits = quotient_search::Limits { states: Some(3_000), ..Default::default() };
    let raw = model.check(&Check { raw: true, all: true, limits, ..Check::default() });
    let (Some(holds), _, _) = answer(&raw.map_err(|e| e.to_string())?) else { return Ok(None) };
    let mut saved = false;
    for symmetry in [Symmetry::Off, Symmetry::Heap, Symmetry::Exact] {
        for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
            let mut full = 0;
            for partial_order in [PartialOrder::Off, PartialOrder::On, PartialOrder::SymmetricIndependence] {
                let (all, symmetry) = (true, Some(symmetry));
                let check = Check { symmetry, partial_order, search, all, ..Check::default() };
                let outcome = model.check(&check).map_err(|e| e.to_string())?;
                let (said, states, ample) = answer(&outcome);
                if said != Some(holds) {
                    return Err(format!("{symmetry:?} {partial_order:?} {search:?}: {said:?}, not {holds}"));
                }
                if !ample {
                    full = states;
                }
                saved |= ample && states < full;
            }
        }
    }
    Ok(Some((holds, saved)))
}

/// The verdict in all ways, and the states of the default way and of the same without ample sets.
fn decided(model: &Model) -> (bool, u64, u64) {
    let (holds, _) = compare(model).expect("the same everywhere").expect("small enough");
    let states = |partial_order| {
        let outcome = model.check(&Check { partial_order, ..Check::default() }).expect("checked");
        let (_, states, ample) = answer(&outcome);
        assert_eq!(ample, partial_order != PartialOrder::Off, "{:?}", outcome.notes);
        states
    };
    (holds, states(PartialOrder::SymmetricIndependence), states(PartialOrder::Off))
}

/// Two threads build nodes of their own and then publish a number.
const BUILDERS: &str = "system S {
    record Node { Node next; int wrap (0, 3) value; }
    Node g; int wrap (0, 3) done;
    active thread P() {
        Node a; Node b;
        a := new Node; a.value := 1; b := new Node; b.value := 2; a.next := b; b.value := 3; g := a; done := done + 1;
    }
    active thread Q() {
        Node a; Node b;
        a := new Node; a.value := 1; b := new Node; b.value := 2; a.next := b; b.value := 3; done := done + 1;
    }
}";

#[test]
fn private_work_is_not_seen() {
    for (keyword, formula, expected) in [
        (Ltl, "<> (done == 2)", true),
        (Ltl, "[] (done < 2)", false),
        (Ltl, "[] (g == null || g.value == 1)", true),
        (Ltl, "<>[] (done == 2)", true),
        (Ltl, "[] (g == null || reachable(g, g.next))", true),
        (Ltl, "(done == 0) U (g != null)", false),
        (Ctl, "EF (done == 1 && g == null)", true),
        (Ctl, "AF reachable(g, g)", true),
        (Ctl, "AG (done == 0 || g != null)", false),
    ] {
        let (holds, reduced, full) = decided(&bir(BUILDERS, keyword, formula));
        assert_eq!(holds, expected, "{formula}");
        // The steps before the first published one are private, of both threads: one order of them is enough.
        // (A search that ends at a counterexample says nothing about that.)
        let whole = holds || matches!(keyword, Ctl);
        assert!(!whole || reduced * 3 <= full, "{formula}: {reduced} and {full} states");
    }
}

#[test]
fn what_propositions_read_is_seen() {
    // The node is private to its thread all the time, but the formula looks into the thread's variables.
    let text = "system S {
        record Node { int wrap (0, 3) value; }
        boolean late;
        active thread P() { Node a; a := new Node; a.value := 1; a.value := 2; a.value := 0; }
        active thread Q() { late := true; }
    }";
    let early = "[] ((exists p: P . p:a != null && p:a.value == 2) -> late)";
    assert!(!decided(&bir(text, Ltl, early)).0);
    let both = "E (!late U (exists p: P . p:a != null && p:a.value == 2))";
    assert!(decided(&bir(text, Ctl, both)).0);
    // A field of an object that only the formula and one thread look at.
    let text = "system S {
        record Node { int wrap (0, 3) value; }
        Node g; boolean late;
        active thread P() { g := new Node; g.value := 1; g.value := 2; g.value := 0; }
        active thread Q() { late := true; }
    }";
    assert!(!decided(&bir(text, Ltl, "[] (late || g == null || g.value < 2)")).0);
    assert!(decided(&bir(text, Ltl, "<> (exists p: P . g != null && g.value == 2)")).0);
    // Links that are cut.
    let text = "system S {
        record Node { Node next; }
        Node g; Node h; boolean late;
        active thread P() { g := new Node; h := new Node; g.next := h; g.next := null; }
        active thread Q() { late := true; }
    }";
    assert!(!decided(&bir(text, Ltl, "[] (late || !reachable(g, h))")).0);
    // Places before, in and after a call.
    let text = "system S {
        boolean late; int wrap (0, 3) n;
        function f() { int k; k := 1; k := 2; }
        active thread P() {
            loc first: when true do { } goto second;
            loc second: invoke f() goto third;
            loc third: when true do { } return;
        }
        active thread Q() { late := true; }
    }";
    for place in ["first", "second", "third"] {
        let formula = format!("[] (late || !(exists p: P . p@{place}))");
        assert!(!decided(&bir(text, Ltl, &formula)).0, "{formula}");
    }
    assert!(decided(&bir(text, Ltl, "<> (exists p: P . p@third)")).0);
}

#[test]
fn nobody_is_postponed_for_ever() {
    // Private work without end: alone, it would leave the other thread behind for ever.
    let spins = "
        typedef Node { byte key }
        byte x;
        proctype Spins() { Node &a; &a = new Node; do :: a.key = 1 - a.key od }
        proctype Says() { x = 1; x = 2 }
        init { atomic { run Spins(); run Spins(); run Says() } }";
    assert!(!decided(&promela(spins, Ltl, "[] (x != 2)")).0);
    assert!(!decided(&promela(spins, Ltl, "<> (x == 1)")).0);
    assert!(decided(&promela(spins, Ctl, "EF (x == 2)")).0);
    assert!(decided(&promela(spins, Ctl, "EG (x == 0)")).0);
    // The same with calls, with an exception that is caught at an earlier place, and by threads that start one another.
    let calls = "system S {
        int wrap (0, 3) x;
        function f(int k) { int i; i := k; }
        active thread P() {
            int i;
            while true do f(1); i := 1; end
        }
        active thread Q() { x := 1; x := 2; }
    }";
    assert!(!decided(&bir(calls, Ltl, "[] (x != 2)")).0);
    assert!(!decided(&bir(calls, Ltl, "<> (x == 1)")).0);
    let throws = "system S {
        throwable record Error {}
        int wrap (0, 3) x;
        active thread P() {
            Error e;
            while true do try e := new Error; throw e; catch (Error c) e := null; end end
        }
        active thread Q() { x := 1; x := 2; }
    }";
    assert!(!decided(&bir(throws, Ltl, "[] (x != 2)")).0);
    assert!(!decided(&bir(throws, Ltl, "<> (x == 1)")).0);
    let relay = "system S {
        int wrap (0, 3) x;
        thread P() { loc a: when true do { start P(); } return; }
        thread Q() { x := 1; x := 2; }
        main thread M() { start P(); start Q(); }
    }";
    assert!(!decided(&bir(relay, Ltl, "[] (x != 2)")).0);
    assert!(!decided(&bir(relay, Ltl, "<> (x == 1)")).0);
}

#[test]
fn fairness_renames_objects_and_threads() {
    let text = "system S {
        record Node { Node next; }
        int wrap (0, 3) x;
        active [2] thread P() { Node a; Node b; while true do a := new Node; b := new Node; a.next := b; b := null; a := null; end }
        active thread Q() { x := 1; x := 2; }
    }";
    for (formula, fairly, at_all) in [("<> (x == 2)", true, false), ("<> (x == 3)", false, false)] {
        let model = bir(text, Ltl, formula);
        let ask = |fair, raw, symmetry| {
            let outcome = model.check(&Check { fair, raw, symmetry, ..Check::default() }).expect("checked");
            let claim = outcome.answers.iter().find(|a| a.question == Question::Claim(0)).expect("an answer");
            (claim.verdict == Verdict::Holds, claim.statistics.states, claim.applied.symmetry.clone())
        };
        assert_eq!(ask(false, false, None).0, at_all, "{formula}");
        for raw in [true, false] {
            assert_eq!(ask(true, raw, None).0, fairly, "{formula}");
        }
        let (_, renamed, symmetry) = ask(true, false, None);
        assert_eq!(symmetry.order, "exact");
        let (_, objects, _) = ask(true, false, Some(Symmetry::Heap));
        let (_, all, _) = ask(true, false, Some(Symmetry::Off));
        assert!(
            !fairly || renamed < objects && objects < all,
            "{formula}: {renamed}, {objects}, {all} states"
        );
    }
}

#[test]
fn names_of_threads_that_are_given_out_again_are_refused() {
    let text = "system S {
        tid t; int wrap (0, 3) n;
        thread W() { loc one: when true do { n := 1; } goto two; loc two: when true do { } return; }
        main thread M() { int i; t := start W(); i := 1; i := 2; t := start W(); }
    }";
    let off = |formula: &str| {
        let model = bir(text, Ltl, formula);
        compare(&model).expect("the same everywhere").expect("small enough");
        let outcome = model.check(&Check::default()).expect("checked");
        (!answer(&outcome).2, outcome.notes)
    };
    let (off_named, notes) = off("<> W@two");
    assert!(off_named && notes.iter().any(|n| n.contains("the claim names a thread")), "{notes:?}");
    assert!(!off("<> (exists w: W . w@two)").0);
}

/// Makes the program of a seed, and propositions about it.
type Generator = dyn Fn(u64, &mut Random) -> (String, Vec<String>);

/// Formulas on programs: compares until `count` of them were decided.
fn random_formulas(count: u64, make: &Generator, is_bir: bool) {
    let first = setting("QUOTIENT_SEED", 0);
    let (mut compared, mut skipped, mut violated, mut reduced) = (0u64, 0u64, 0u64, 0u64);
    for seed in first.. {
        let mut random = Random::new(seed ^ 0x7e3a);
        let (text, atoms) = make(seed, &mut random);
        for _ in 0..4 {
            let (keyword, formula) = if random.chance(50) {
                (Ltl, linear(&mut random, &atoms, &mut 3, 4, false))
            } else {
                (Ctl, branching(&mut random, &atoms, 3, false))
            };
            let model =
                if is_bir { bir(&text, keyword, &formula) } else { promela(&text, keyword, &formula) };
            match compare(&model) {
                Ok(None) => skipped += 1,
                Ok(Some((holds, saved))) => {
                    compared += 1;
                    violated += u64::from(!holds);
                    reduced += u64::from(saved);
                }
                Err(what) => panic!("seed {seed}, {keyword:?} {formula}: {what}\n{text}"),
            }
        }
        if compared >= count {
            break;
        }
        assert!(skipped < 40 + 8 * compared, "{skipped} pairs skipped, {compared} compared");
    }
    println!(
        "{compared} formulas compared in 18 ways, {violated} violated, {reduced} with fewer states, {skipped} skipped"
    );
    assert!(violated * 5 >= compared && violated * 5 <= 4 * compared, "{violated} of {compared} violated");
    assert!(reduced * 10 >= compared, "{reduced} of {compared} were reduced");
}

fn atoms(random: &mut Random, all: &[&str]) -> Vec<String> {
    (0..3).map(|_| (*random.pick(all).unwrap_or(&"true")).to_owned()).collect()
}

#[test]
fn random_programs_with_pointers() {
    let make = |seed, random: &mut Random| {
        let all = [
            "(count == 1)",
            "(count == 0)",
            "(&g == null)",
            "(&h != null)",
            "(&g != null && g.key == 1)",
            "(&h != null && h.locked == 1)",
            "reachable(&g, &h)",
            "(exists p: P0 . p@middle)",
            "(exists p: P1 . p@middle)",
            "(forall p: P0 . p:i == 0)",
            "(len(c) == 1)",
        ];
        (quotient_reference::pointers::program(seed, true), atoms(random, &all))
    };
    random_formulas(setting("QUOTIENT_DYNAMIC_FORMULAS", 60), &make, false);
}

#[test]
fn random_bir_programs() {
    let make = |seed, random: &mut Random| {
        let all = [
            "(count == 1)",
            "(level > 0)",
            "flag",
            "(mode == Mode.up)",
            "(shared == null)",
            "(shared != null && shared.value == 1)",
            "(other != null && other.next != null)",
            "reachable(shared, other)",
            "(exists w: Worker . w:b)",
            "(exists w: Worker . w:x != null && w:x.value == 1)",
            "(exists w: Worker . w:x == shared)",
            "(exists m: Main . m:b)",
        ];
        (generate::generate(seed), atoms(random, &all))
    };
    random_formulas(setting("QUOTIENT_DYNAMIC_FORMULAS", 60), &make, true);
}
