//! Models with pointers and functions: counts against static twins (whose counts are SPIN's), verdicts under every
//! symmetry, faults, traces.

use std::path::{Path, PathBuf};

use quotient_engine::{
    Check, LoadOptions, Model, PartialOrder, SearchKind, StoreKind, Symmetry, Verdict, representative,
};
use quotient_expectations::{Bound, Expectation, Figure};
use quotient_seams::Interrupt;
use quotient_symmetry::audit::audit;

const SYMMETRIES: [Symmetry; 6] = [
    Symmetry::Off,
    Symmetry::Heap,
    Symmetry::ProgramCounter,
    Symmetry::ProgramCounterOriginal,
    Symmetry::Bounded(None),
    Symmetry::Exact,
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn load(path: &Path, defines: &[(&str, &str)]) -> Model {
    let defines = defines.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let options = LoadOptions { defines, ..LoadOptions::default() };
    Model::load(path, &options).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn text(text: &str) -> Model {
    Model::from_text("test.pml", text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// States, transitions and the kinds of violations.
fn counts(model: &Model, check: &Check<'_>) -> (u64, u64, Vec<String>) {
    let outcome = model.check(&Check { all: true, ..*check }).expect("checked");
    assert!(!matches!(outcome.verdict, Verdict::Undecided(_)), "{:?}", outcome.verdict);
    let mut kinds: Vec<String> = outcome.violations.iter().map(|v| v.kind.to_string()).collect();
    kinds.sort();
    kinds.dedup();
    (outcome.statistics.states, outcome.statistics.transitions, kinds)
}

/// The number of states, and of steps, that a file expects of a run.
fn figure(all: &[Expectation], options: &[&str], figure: Figure) -> u64 {
    let expected = Expectation::with(all, options).and_then(|e| e.figure(Bound::Exactly, figure));
    expected.unwrap_or_else(|| panic!("nothing is expected with {options:?}"))
}

#[test]
fn the_dynamic_corpus_has_its_counts() {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder("tests/dynamic")).expect("there").flatten().map(|e| e.path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "pml"));
    files.sort();
    let mut twins = 0;
    for file in files.iter().filter(|f| !f.to_string_lossy().ends_with(".static.pml")) {
        let name = file.display();
        let text = std::fs::read_to_string(file).expect("readable");
        let expected = quotient_expectations::read(&text).expect("expectations");
        let run = ["--raw", "--all"];
        let kinds = Expectation::with(&expected, &run).expect("a run").kinds();
        let errors: Vec<String> = kinds.into_iter().map(str::to_owned).collect();
        let model = load(file, &[]);
        let of = |what| figure(&expected, &run, what);
        let raw = (of(Figure::States), of(Figure::Transitions), errors.clone());
        for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
            for store in StoreKind::ALL {
                let check = Check { raw: true, search, store, ..Check::default() };
                assert_eq!(counts(&model, &check), raw, "{name}: {search:?}, {store:?}");
            }
        }
        for (key, symmetry) in [("heap", Symmetry::Heap), ("exact", Symmetry::Exact)] {
            let check = Check { raw: true, symmetry: Some(symmetry), ..Check::default() };
            let states = figure(&expected, &["--raw", "--symmetry", key], Figure::States);
            assert_eq!(counts(&model, &check).0, states, "{name}: {key}");
        }
        for symmetry in SYMMETRIES {
            let check = Check { symmetry: Some(symmetry), ..Check::default() };
            assert_eq!(counts(&model, &check).2, errors, "{name}: {symmetry:?}");
        }
        let twin = file.with_extension("static.pml");
        if twin.exists() {
            twins += 1;
            let check = Check { raw: true, ..Check::default() };
            assert_eq!(counts(&load(&twin, &[]), &check), raw, "{name}: its static twin");
        }
    }
    assert!(twins >= 3, "{twins} twins");
}

#[test]
fn states_behave_like_their_representatives() {
    for model in ["ordered_list", "btree", "rcu_list", "worker_pool"] {
        let model = load(&folder(&format!("models/{model}.pml")), &[]);
        for raw in [true, false] {
            for symmetry in SYMMETRIES {
                let check = Check { raw, symmetry: Some(symmetry), ..Check::default() };
                let (mut machine, _) = model
                    .machine(quotient_engine::Compile { raw, wide: false, all: false })
                    .expect("compiles");
                let exact = Check { symmetry: Some(Symmetry::Exact), ..check };
                if let Some(mut canonical) = representative(&mut machine, &exact)
                    && let Some(mut representative) = representative(&mut machine, &check)
                {
                    let audited =
                        audit(&mut machine, &mut representative, &mut canonical, 300, 7, &Interrupt::new())
                            .expect("audited");
                    assert_eq!(audited.wrong, 0, "{symmetry:?}, raw {raw}");
                }
            }
        }
    }
}

#[test]
fn models_have_their_verdicts() {
    let mut runs = Vec::new();
    // At small sizes, where the model has sizes.
    for (name, size) in
        [("ordered_list", "L=2"), ("btree", ""), ("rcu_list", "READERS=1"), ("worker_pool", "")]
    {
        let text = std::fs::read_to_string(folder(&format!("models/{name}.pml"))).expect("readable");
        let all = quotient_expectations::read(&text).expect("expectations");
        let is_small = |e: &Expectation| size.is_empty() || e.options.iter().any(|option| option == size);
        runs.extend(all.into_iter().filter(is_small).map(|e| (name, e)));
    }
    assert_eq!(runs.len(), 7);
    for (name, expected) in runs {
        let pairs = expected.options.chunks(2).map(|two| match two {
            [flag, definition] if flag == "-D" => definition.split_once('=').expect("a value"),
            _ => panic!("{name}: this test does not know {two:?}"),
        });
        let defines: Vec<(&str, &str)> = pairs.collect();
        let kinds: Vec<&str> = expected.kinds().into_iter().collect();
        let model = load(&folder(&format!("models/{name}.pml")), &defines);
        for raw in [true, false] {
            let mut most = u64::MAX;
            for symmetry in [Symmetry::Off, Symmetry::Heap, Symmetry::Exact] {
                let check = Check { raw, symmetry: Some(symmetry), ..Check::default() };
                let (_, _, found) = counts(&model, &check);
                assert_eq!(found, kinds, "{name} {defines:?}: {symmetry:?}, raw {raw}");
                // Which ample sets are taken depends on the order of the threads, which a representative changes: only without them
                // are the states fewer for sure.
                let check = Check { partial_order: PartialOrder::Off, ..check };
                let (states, _, found) = counts(&model, &check);
                assert_eq!(found, kinds, "{name} {defines:?}: {symmetry:?}, raw {raw}, all moves");
                assert!(states <= most, "{name}: {symmetry:?} has more states than the order before");
                most = states;
            }
        }
    }
}

#[test]
fn faults_are_verdicts() {
    let node = "typedef N { byte v; N &next } N &p; N &q;";
    let cases = [
        ("null", format!("{node} init {{ p.v = 1 }}")),
        ("null", format!("{node} init {{ &p = new N; p.next.v = 1 }}")),
        ("null", format!("{node} init {{ delete(&p) }}")),
        ("dangling", format!("{node} init {{ &p = new N; &q = &p; delete(&q); p.v = 1 }}")),
        ("dangling", format!("{node} init {{ &p = new N; &q = &p; delete(&q); delete(&p) }}")),
        // The number of a deleted object is not used again while there are references to it.
        (
            "dangling",
            format!("{node} init {{ &p = new N; delete(&p); &q = new N; assert(&p != &q); p.v = 1 }}"),
        ),
        ("index", format!("{node} init {{ &p = new N[2]; p[2].v = 1 }}")),
        ("index", format!("{node} byte n = 3; init {{ &p = new N[n]; p[n].v = 1 }}")),
        ("index", format!("{node} int n = -1; init {{ &p = new N[n] }}")),
        ("call", "ftype f; init { f(1) }".into()),
        ("call", "ftype f; function g(int a) { skip } init { f = g; f(1, 2) }".into()),
        ("channel", "chan &c; init { c!1 }".into()),
        ("channel", "int &p; chan c = [1] of { int & }; init { c!1 }".into()),
        ("channel", "int &p; chan c = [1] of { int }; init { &p = new int; c!&p }".into()),
        ("channel", "int &p; chan c = [1] of { int }; init { c!1; c?&p }".into()),
        ("deadlock", "chan &c; init { &c = new chan = [0] of { byte }; c!1 }".into()),
        ("assertion", "int &p; init { &p = new int; p = 3; assert(p != 3) }".into()),
    ];
    for (kind, source) in cases {
        let model = text(&source);
        for symmetry in [Symmetry::Off, Symmetry::Exact] {
            for raw in [true, false] {
                let check = Check { raw, symmetry: Some(symmetry), ..Check::default() };
                assert_eq!(counts(&model, &check).2, [kind], "{source} ({symmetry:?})");
            }
        }
    }
}

#[test]
fn what_is_unreachable_does_not_exist() {
    // Without collection this would go on for ever.
    let model = text("int &p; init { do :: &p = new int; p = 1 od }");
    let check = Check { raw: true, ..Check::default() };
    // Null; then the object before its value is set and after, with number 1 and with number 2: the new one is made while
    // the old one is still there.
    assert_eq!(counts(&model, &check).0, 5);
    assert_eq!(counts(&model, &Check { symmetry: Some(Symmetry::Heap), ..check }).0, 3);
    // A ring that nobody refers to is gone as well.
    let ring = "typedef N { N &next } N &p; init { do :: &p = new N; &p.next = &p; &p = null od }";
    let (states, ..) = counts(&text(ring), &check);
    assert_eq!(states, 3);
}

#[test]
fn unbounded_recursion_is_undecided() {
    let model = text("function f(byte n) { f(n) } init { f(1) }");
    let outcome = model.check(&Check { raw: true, ..Check::default() }).expect("checked");
    assert!(matches!(outcome.verdict, Verdict::Undecided(why) if why.to_string().contains("stack")));
}

#[test]
fn atomic_includes_the_functions_called_in_it() {
    let source = |open: &str, close: &str| {
        format!(
            "byte x; function two() {{ x++; x++ }}
             active proctype P() {{ {open} two() {close} }}
             active proctype Q() {{ assert(x != 1) }}"
        )
    };
    let check = Check { raw: true, ..Check::default() };
    assert_eq!(counts(&text(&source("", "")), &check).2, ["assertion"]);
    assert_eq!(counts(&text(&source("atomic {", "; skip }")), &check).2, Vec::<String>::new());
}

#[test]
fn functions_return_values_and_recurse() {
    let model = text(
        "typedef N { byte v; N &next } N &list; byte got;
         function sum(N &l) : byte {
             byte rest;
             if :: &l == null -> return 0 :: else -> skip fi;
             rest = sum(&l.next);
             return rest + l.v
         }
         function cons(byte v; N &tail) : N & { N &n; &n = new N; n.v = v; &n.next = &tail; return &n }
         ftype f;
         function twice(byte n) : byte { return 2 * n }
         init {
             &list = cons(3, null); &list = cons(4, &list); &list = cons(5, &list);
             got = sum(&list); assert(got == 12);
             f = twice; got = f(got); assert(got == 24); assert(f == twice)
         }",
    );
    for raw in [true, false] {
        let check = Check { raw, ..Check::default() };
        assert_eq!(counts(&model, &check).2, Vec::<String>::new());
    }
}

#[test]
fn objects_have_one_name_on_a_trace() {
    // The number of the first object is used again; its name is not.
    let model = text(
        "int &p, &q; init { &p = new int; p = 1; delete(&p); &p = null; &q = new int; q = 2; assert(q == 3) }",
    );
    for symmetry in [Symmetry::Off, Symmetry::Exact] {
        let check = Check { raw: true, symmetry: Some(symmetry), ..Check::default() };
        let outcome = model.check(&check).expect("checked");
        let trace = &outcome.violations[0].trace;
        let all: Vec<String> =
            trace.steps.iter().flat_map(|s| &s.changes).filter_map(|c| c.after.clone()).collect();
        assert!(all.contains(&"int#1".to_owned()) && all.contains(&"int#2".to_owned()), "{all:?}");
        assert!(trace.last.contains(&("int#2".to_owned(), "2".to_owned())), "{:?}", trace.last);
    }
}

#[test]
fn mistakes_with_references_are_errors() {
    let cases = [
        ("int &p; int x; init { x = &p }", "this is a pointer to `int`, not a number"),
        ("int &p; init { &p = 3 }", "this is a number, not a pointer to `int`"),
        ("int &p; byte &q; init { &p = &q }", "this is a pointer to `byte`, not a pointer to `int`"),
        (
            "int &p; byte &q; init { assert(&p == &q) }",
            "this is a pointer to `byte`, the other a pointer to `int`",
        ),
        ("int &p; init { assert(&p + 1) }", "a reference is not a number"),
        ("int x; init { &x = null }", "`x` is not a pointer"),
        (
            "int &p; init { &p = new byte }",
            "this makes a pointer to `byte`, the pointer is a pointer to `int`",
        ),
        ("int &p; init { delete(p) }", "`delete` takes a pointer"),
        ("chan c = [1] of { byte }; int &p; int x; init { x = c }", "this is a channel, not a number"),
        ("function f() { skip } int x; init { x = f() }", "this function returns nothing"),
        ("function f() : int { return } init { f() }", "this function returns a value"),
        ("function f(int &p) { skip } init { f(3) }", "this is a number, not a pointer to `int`"),
        ("function f(int a) { skip } init { f(1, 2) }", "`f` takes 1 arguments, 2 are given"),
        ("function f() { skip } init { run f() }", "`f` is a function, not a proctype"),
        (
            "function f() : int { return 1 } int x; init { x = 1 + f() }",
            "a function cannot be called inside an expression",
        ),
        ("function f() { skip } init { d_step { f() } }", "a call or `return` inside a d_step"),
        (
            "function f(int &p) { skip } ftype g; init { g = f; g(1) }",
            "this may call `f`, whose types do not fit",
        ),
    ];
    for (source, message) in cases {
        let error = Model::from_text("test.pml", source).expect_err(source).to_string();
        assert!(error.contains(message), "{source}\n{error}");
    }
}
