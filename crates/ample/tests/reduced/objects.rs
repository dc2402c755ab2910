//! Partial order reduction of programs with objects: where it is known to go wrong, where it must bring something, and
//! random programs in both languages.
//!
//! Random BIR programs are compared with the reference interpreter, which shares only the syntax tree; random Promela
//! programs with pointers with the search without any reduction. In both cases for all combinations of partial
//! order, representative, search and store, with audits: the moves of ample sets commute with the others up to renaming.
//!
//! `QUOTIENT_RANDOM_PROGRAMS` sets how many programs, `QUOTIENT_SEED` the first seed.

use std::collections::BTreeSet;

use quotient_engine::{
    Check, LoadOptions, Model, Outcome, PartialOrder, SearchKind, StoreKind, Symmetry, Verdict,
};
use quotient_reference::bir::{self, generate};
use quotient_testing::setting;

const PARTIAL_ORDERS: [PartialOrder; 3] =
    [PartialOrder::Off, PartialOrder::On, PartialOrder::SymmetricIndependence];
const SYMMETRIES: [Symmetry; 5] =
    [Symmetry::Off, Symmetry::Heap, Symmetry::ProgramCounter, Symmetry::Bounded(None), Symmetry::Exact];

fn kinds(outcome: &Outcome) -> BTreeSet<String> {
    outcome.violations.iter().map(|v| v.kind.to_string()).collect()
}

/// Checks a model in all combinations; all must find `expected`. Gives the states of the smallest search with ample sets and
/// of the same without.
fn all_combinations(model: &Model, expected: &BTreeSet<String>) -> Result<(u64, u64), String> {
    let mut best = (u64::MAX, u64::MAX);
    for symmetry in SYMMETRIES {
        for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
            for store in [StoreKind::Tree, StoreKind::Plain] {
                let mut full = u64::MAX;
                for partial_order in PARTIAL_ORDERS {
                    let audit = if store == StoreKind::Tree { 60 } else { 0 };
                    let (all, symmetry) = (true, Some(symmetry));
                    let check =
                        Check { all, symmetry, search, store, partial_order, audit, ..Check::default() };
                    let name = format!("{partial_order:?}, {symmetry:?}, {search:?}, {store:?}");
                    let outcome = model.check(&check).map_err(|e| format!("{name}: {e}"))?;
                    if let Verdict::Undecided(why) = &outcome.verdict {
                        return Err(format!("{name}: undecided, {why:?}"));
                    }
                    if kinds(&outcome) != *expected {
                        return Err(format!("{name}: {:?}, expected {expected:?}", kinds(&outcome)));
                    }
                    let states = outcome.statistics.states;
                    if outcome.partial_order == PartialOrder::Off {
                        full = states;
                    } else if states < best.0 {
                        best = (states, full);
                    }
                    // The first violation alone: its trace is replayed by the check itself.
                    if store == StoreKind::Tree {
                        let outcome = model
                            .check(&Check { all: false, audit: 0, ..check })
                            .map_err(|e| format!("{name}, first: {e}"))?;
                        if outcome.violations.is_empty() != expected.is_empty() {
                            return Err(format!("{name}: a violation is found with all, not alone"));
                        }
                    }
                }
            }
        }
    }
    Ok(best)
}

/// Checks a small model: kinds of violation without any reduction, the same in all combinations; gives the states found with
/// no symmetry and each partial order.
fn small(model: &Model, expected: &[&str]) -> [u64; 3] {
    let raw = model.check(&Check { raw: true, all: true, ..Check::default() }).expect("checked");
    let expected: BTreeSet<String> = expected.iter().map(|k| (*k).to_owned()).collect();
    assert_eq!(kinds(&raw), expected);
    all_combinations(model, &expected).expect("the same everywhere");
    PARTIAL_ORDERS.map(|partial_order| {
        let check = Check { partial_order, symmetry: Some(Symmetry::Off), all: true, ..Check::default() };
        let outcome = model.check(&check).expect("checked");
        assert_eq!(outcome.partial_order, partial_order, "refused");
        outcome.statistics.states
    })
}

fn promela(text: &str) -> Model {
    Model::from_text("test.pml", text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn bir_text(text: &str) -> Model {
    Model::from_bir_text("test.bir", text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn what_is_private_is_independent() {
    // Each process builds a list of its own: field by field, all of it is nobody else's business.
    let text = "
        typedef Node { byte key; Node &next }
        proctype P() { Node &a, &b;
            &a = new Node; a.key = 1; &b = new Node; b.key = 2; &a.next = &b; a.next.key = 3; assert(b.key == 3) }
        init { atomic { run P(); run P() } }";
    let [off, on, si] = small(&promela(text), &[]);
    assert!(si < on && on < off, "{off}, {on}, {si}");
    // One after the other: no more states than steps, and one.
    assert!(si <= 25, "{si}");
}

#[test]
fn what_is_shared_is_not() {
    let text = "
        typedef Node { byte key }
        Node &g;
        proctype P() { Node &a; &a = &g; a.key = a.key + 1; assert(a.key != 2) }
        init { &g = new Node; atomic { run P(); run P() } }";
    small(&promela(text), &["assertion"]);
    // Given away through a channel, through an object, through an argument.
    let text = "
        typedef Node { byte key; Node &next }
        chan c = [1] of { Node & };
        proctype P() { Node &a; &a = new Node; c!&a; a.key = 1; a.key = 2 }
        proctype Q() { Node &a; c?&a; assert(a.key != 1) }
        init { atomic { run P(); run Q() } }";
    if let Ok(model) = Model::from_text("test.pml", text) {
        small(&model, &["assertion"]);
    }
    let text = "system S {
        record Node { int wrap (0, 3) value; }
        thread Q(Node n) { assert n.value != 1; }
        main thread P() { Node n; n := new Node; start Q(n); n.value := 1; n.value := 2; }
    }";
    small(&bir_text(text), &["assertion"]);
}

#[test]
fn a_reference_left_in_an_object_that_is_shared_later() {
    // The second node is private until the first one is published.
    let text = "system S {
        record Node { Node next; int wrap (0, 3) value; }
        Node g;
        active thread P() {
            Node a; Node b;
            a := new Node; b := new Node; a.next := b; b.value := 1; g := a; b.value := 2; b.value := 3;
        }
        active thread Q() {
            Node x;
            choose when <g != null> do skip; end
            x := g.next; assert x.value != 2;
        }
    }";
    let [off, on, si] = small(&bir_text(text), &["assertion"]);
    assert!(si <= on && on < off, "{off}, {on}, {si}");
}

#[test]
fn locks_waiting_and_ends_are_seen() {
    let text = "system S {
        record Node { int wrap (0, 3) value; }
        lock m; tid t; boolean ready;
        thread Waits() { lock(m); choose when <!ready> do wait(m); unwait(m); else do skip; end unlock(m); }
        main thread Main() {
            Node n;
            m := new lock; t := start Waits(); n := new Node; n.value := 1; n.value := 2;
            lock(m); ready := true; notify(m); unlock(m);
            choose when <threadTerminated(t)> do skip; end
            assert n.value == 2; assert !ready;
        }
    }";
    small(&bir_text(text), &["assertion"]);
    // Nobody notifies: a deadlock that must not be lost.
    let text = "system S {
        lock m;
        thread Waits() { lock(m); wait(m); unwait(m); unlock(m); }
        main thread Main() { m := new lock; start Waits(); start Waits(); }
    }";
    small(&bir_text(text), &["deadlock"]);
}

/// Workers that add to both numbers of a cell, `body`, and something else that another thread does.
fn cells(body: &str, other: &str) -> Model {
    bir_text(&format!(
        "system S {{
        top record Object {{}}
        record Cell extends Object {{ int wrap (0, 3) a; int wrap (0, 3) b; }}
        Cell c; Cell d; int wrap (0, 3) n;
        function free(Cell z) {{ unlock(z); }}
        thread W() {{ Cell x; Cell y; int wrap (0, 3) k; x := c; {body} }}
        thread V() {{ Cell x; int wrap (0, 3) k; x := c; {other} }}
        main thread M() {{ atomic c := new Cell; d := new Cell; start W(); start W(); start V(); start V(); return; end }}
    }}"
    ))
}

#[test]
fn an_object_under_its_own_lock_is_protected() {
    let add = "x.a := x.a + 1; x.b := x.b + 1; assert x.a == x.b;";
    // The others get in each other's way, but not in that of who holds the lock.
    let other = "n := n + 1; n := n + 1; n := n + 1;";
    let held = cells(&format!("lock(x); {add} unlock(x);"), other);
    // The same steps; but what is locked is named by a global, of which nothing is known.
    let unknown = cells(&format!("lock(c); {add} unlock(c);"), other);
    let ([off, _, si], [off_unknown, _, si_unknown]) = (small(&held, &[]), small(&unknown, &[]));
    assert_eq!(off, off_unknown);
    assert!(si < si_unknown && si * 2 < off, "{off}: {si}, {si_unknown}");
    // Waiting for it and copies of the reference.
    let waits = cells(
        &format!(
            "lock(x); y := x; choose when <y.a == 1> do wait(x); unwait(x); else do skip; end {add} notifyAll(x); unlock(y);"
        ),
        "lock(x); notifyAll(x); unlock(x);",
    );
    let raw = waits.check(&Check { raw: true, all: true, ..Check::default() }).expect("checked");
    all_combinations(&waits, &kinds(&raw)).expect("the same everywhere");
}

#[test]
fn what_is_not_under_the_lock_is_seen() {
    for (body, other) in [
        // Somebody looks without the lock.
        ("lock(x); x.a := 1; x.b := 1; unlock(x);", "assert x.a == x.b;"),
        // The lock was given back, by another name.
        ("lock(x); y := x; unlock(y); x.a := 1; x.b := 1;", "lock(x); assert x.a == x.b; unlock(x);"),
        // The lock of another object is held.
        ("lock(x); x := d; x.a := 1; x.b := 1; unlock(c);", "x := d; lock(x); assert x.a == x.b; unlock(x);"),
        // It is given back while waiting.
        (
            "lock(x); x.a := 1; wait(x); unwait(x); x.b := 1; unlock(x);",
            "lock(x); k := x.a; assert x.a == x.b; notifyAll(x); unlock(x);",
        ),
        // A lock was given back in a function that was called.
        ("lock(x); free(x); x.a := 1; x.b := 1;", "lock(x); assert x.a == x.b; unlock(x);"),
        // A reference to a new object was given away.
        ("y := new Cell; c := y; y.a := 1; y.b := 1;", "assert x.a == x.b;"),
    ] {
        let model = cells(body, other);
        let raw = model.check(&Check { raw: true, all: true, ..Check::default() }).expect("checked");
        assert!(kinds(&raw).contains("assertion"), "{body} {other}: {:?}", kinds(&raw));
        all_combinations(&model, &kinds(&raw)).unwrap_or_else(|e| panic!("{body} {other}: {e}"));
    }
}

#[test]
fn whoever_arrives_at_a_rendezvous_is_seen() {
    // The atomic sequence of P0 is cut short unless P1 waits already: so the step by which P1 gets there, private as it is, cannot
    // be taken first.
    let text = |p0: &str| {
        format!(
            "typedef Node {{ byte key; Node &next }}
            byte count;
            chan r = [0] of {{ byte }};
            active proctype P0() {{ {p0} }}
            active proctype P1() {{ Node &x; byte i; &x = new Node; x.key = 1; x.key = 2; atomic {{ r?i; count = 2 }} }}
            active proctype P2() {{ assert(count != 1) }}"
        )
    };
    small(&promela(&text("atomic { count = 1; r!1 }")), &["assertion"]);
    small(&promela(&text("atomic { count = 1; if :: r!1 :: r!2 fi }")), &["assertion"]);
    small(&promela(&text("if :: r!1 :: else -> count = 1; r!1 fi")), &["assertion"]);
}

#[test]
fn exceptions_and_calls_go_on_in_other_frames() {
    let text = "system S {
        throwable record Error { int wrap (0, 3) code; }
        int wrap (0, 3) g;
        function fails(int k) { Error e; e := new Error; e.code := 1; throw e; }
        active thread P() { try fails(1); catch (Error e) g := e.code; end }
        active thread Q() { assert g == 0; g := 2; assert g == 2; }
    }";
    small(&bir_text(text), &["assertion"]);
}

#[test]
fn deleted_objects_are_seen() {
    let text = "
        typedef Node { byte key }
        Node &g;
        proctype P() { Node &a; &a = &g; a.key = 1 }
        proctype Q() { Node &mine; &mine = new Node; mine.key = 3; delete(&g) }
        init { &g = new Node; atomic { run P(); run Q() } }";
    let model = promela(text);
    let raw = model.check(&Check { raw: true, all: true, ..Check::default() }).expect("checked");
    let expected = kinds(&raw);
    assert!(!expected.is_empty());
    all_combinations(&model, &expected).expect("the same everywhere");
}

#[test]
fn nobody_is_postponed_for_ever() {
    let text = "
        typedef Node { byte key }
        proctype Spins() { Node &a; &a = new Node; do :: a.key = 1 - a.key od }
        proctype Fails() { assert(false) }
        init { atomic { run Spins(); run Spins(); run Fails() } }";
    small(&promela(text), &["assertion"]);
}

#[test]
fn orders_that_are_not_canonical_refuse() {
    let model = bir_text("system S { record R {} active [2] thread T() { R r; r := new R; r := null; } }");
    for symmetry in [Symmetry::ProgramCounter, Symmetry::Bounded(None)] {
        let check = Check { symmetry: Some(symmetry), ..Check::default() };
        let outcome = model.check(&check).expect("checked");
        assert_eq!(outcome.partial_order, PartialOrder::Off);
        assert!(
            outcome.notes.iter().any(|n| n.contains("partial order reduction is off")),
            "{:?}",
            outcome.notes
        );
    }
}

#[test]
fn random_bir_programs() {
    let (count, first) = (setting("QUOTIENT_RANDOM_PROGRAMS", 60), setting("QUOTIENT_SEED", 0));
    let (mut compared, mut smaller) = (0u64, 0u64);
    // Gives whether states were saved; `None` for a program that is too large.
    let compare = |text: &str| -> Result<Option<bool>, String> {
        let mut map = quotient_source::SourceMap::new();
        let system =
            quotient_bir::parse_text(&mut map, "program.bir", text).system.ok_or("does not parse")?;
        let limits = bir::Limits { states: 1_500, constants: Default::default(), orbits: false };
        let expected = bir::explore(&system, &limits)?;
        if !expected.complete {
            return Ok(None);
        }
        let model =
            Model::from_bir_text("program.bir", text, &LoadOptions::default()).map_err(|e| e.to_string())?;
        let (reduced, full) = all_combinations(&model, &expected.violations)?;
        Ok(Some(reduced < full))
    };
    for seed in first..first + count {
        let text = generate::generate(seed);
        match compare(&text) {
            Ok(None) => {}
            Ok(Some(fewer)) => {
                compared += 1;
                smaller += u64::from(fewer);
            }
            Err(what) => {
                let small = generate::shrink(&text, &|t| compare(t).is_err());
                panic!("seed {seed}: {what}\nafter shrinking: {:?}\n{small}", compare(&small));
            }
        }
    }
    println!("{compared} of {count} programs compared, {smaller} reduced");
    assert!(compared * 2 >= count, "only {compared} of {count} programs were small enough");
    assert!(smaller * 4 >= compared, "only {smaller} of {compared} were reduced");
}

#[test]
fn random_programs_with_pointers() {
    let (count, first) = (setting("QUOTIENT_RANDOM_PROGRAMS", 60), setting("QUOTIENT_SEED", 0));
    let (mut compared, mut smaller, mut violated) = (0u64, 0u64, 0u64);
    for seed in first..first + count {
        let text = quotient_reference::pointers::program(seed, false);
        let model = promela(&text);
        let limits = quotient_search::Limits { states: Some(4_000), ..Default::default() };
        let raw = model.check(&Check { raw: true, all: true, limits, ..Check::default() }).expect("checked");
        if matches!(raw.verdict, Verdict::Undecided(_)) || raw.statistics.states >= 4_000 {
            continue;
        }
        match all_combinations(&model, &kinds(&raw)) {
            Ok((reduced, full)) => {
                compared += 1;
                smaller += u64::from(reduced < full);
                violated += u64::from(!raw.violations.is_empty());
            }
            Err(what) => panic!("seed {seed}: {what}\n{text}"),
        }
    }
    println!("{compared} of {count} programs compared, {smaller} reduced, {violated} violated");
    assert!(compared * 2 >= count, "only {compared} of {count} programs were small enough");
    assert!(smaller * 4 >= compared, "only {smaller} of {compared} were reduced");
    assert!(violated > 0 && violated < compared, "{violated} of {compared} are violated");
}
