//! Programs in other languages: the paper's figures, Promela models, Horn clauses.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::{load, load_text, model, run, word};
use quotient_promela::ParseOptions;
use quotient_proof::explicit::explore;
use quotient_proof::frontend::{self, promela};
use quotient_proof::limits::Limits;
use quotient_proof::program::{Program, Right, Tree};
use quotient_proof::prove::{Options, Verdict, prove};
use quotient_proof::{language, models};
use quotient_source::{Diagnostics, SourceMap};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn reachable(program: &Program) -> BTreeSet<Vec<i64>> {
    let found = explore(program, 100_000, &Limits::default());
    assert!(found.complete);
    found.states.into_iter().collect()
}

/// The figures, translated, are the rules written by hand: the same states and the same verdicts.
#[test]
fn the_figures_are_the_rules_written_by_hand() {
    for (name, n) in [("priority", 2), ("szymanski", 2), ("producer-consumer", 3)] {
        let translated = load(&folder(&format!("models/relative/{name}-{n}.await"))).unwrap();
        let by_hand = model(name, n);
        assert_eq!(reachable(&translated), reachable(&by_hand), "{name}");
        let reports = run(&translated, &Options::default());
        assert!(reports.iter().all(|r| matches!(r.verdict, Verdict::Proved)), "{name}");
    }
    // Infinitely many states: the paper's counts instead.
    let bakery = load(&folder("models/relative/bakery-2.await")).unwrap();
    let options = Options { paper_counts: true, ..Options::default() };
    let reports = run(&bakery, &options);
    assert_eq!((reports[0].left_states, reports[0].right_states), (9, 27));
    assert_eq!(word(&bakery, &reports, "mutex"), "proved");
}

/// Generated for any number of processes, the programs have the states and verdicts of the generated rules.
#[test]
fn generated_programs_are_the_generated_rules() {
    let program = |name: &str, n: usize| {
        load_text(&format!("{name}-{n}.await"), &models::generate(&format!("{name}.await"), n).unwrap())
            .unwrap()
    };
    for (name, n) in [("peterson", 2), ("priority", 2), ("szymanski", 2), ("producer-consumer", 4)] {
        assert_eq!(reachable(&program(name, n)), reachable(&model(name, n)), "{name}-{n}");
    }
    assert_eq!(reachable(&program("szymanski", 3)), reachable(&model("szymanski", 3)));
    assert_eq!(reachable(&program("peterson", 3)), reachable(&model("peterson", 3)));
    assert_eq!(reachable(&program("philosophers", 3)), reachable(&model("philosophers", 3)));
    // Lamport's has its critical section twice.
    for n in [2, 3] {
        let once = |mut state: Vec<i64>| {
            state[..n].iter_mut().filter(|place| **place >= 13).for_each(|place| *place -= 2);
            state
        };
        let states: BTreeSet<Vec<i64>> = reachable(&program("lamport", n)).into_iter().map(once).collect();
        assert_eq!(states, reachable(&model("lamport", n)), "lamport-{n}");
    }
    for (name, n) in [("lamport", 2), ("philosophers", 3)] {
        let reports = run(&program(name, n), &Options::default());
        assert!(reports.iter().all(|r| matches!(r.verdict, Verdict::Proved)), "{name}");
    }
    // Infinitely many states: the same rules, so the same counts.
    for n in [2, 3] {
        let options = Options { paper_counts: true, ..Options::default() };
        let counts = |p: &Program| -> Vec<(usize, usize)> {
            run(p, &options).iter().map(|r| (r.left_states, r.right_states)).collect()
        };
        assert_eq!(counts(&program("bakery", n)), counts(&model("bakery", n)), "bakery-{n}");
    }
}

/// The tree without conjunctions in conjunctions.
fn flat(tree: &Tree) -> Tree {
    match tree {
        Tree::And(list) => {
            let mut out = Vec::new();
            for t in list {
                match flat(t) {
                    Tree::And(inner) => out.extend(inner),
                    other => out.push(other),
                }
            }
            if out.len() == 1 { out.remove(0) } else { Tree::And(out) }
        }
        Tree::Or(list) if list.len() == 1 => flat(&list[0]),
        Tree::Or(list) => Tree::Or(list.iter().map(flat).collect()),
        leaf => leaf.clone(),
    }
}

#[test]
fn what_is_printed_reads_back_the_same() {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder("models/relative")).expect("exists") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|e| e == "md") {
            continue;
        }
        let (mut map, mut diagnostics) = (SourceMap::new(), Diagnostics::new());
        let items = frontend::read(&mut map, &path, &ParseOptions::default(), &mut diagnostics).unwrap();
        let first = language::program(&items, &mut diagnostics).unwrap();
        let second = crate::support::read(&language::print(&items))
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(first.rules.len(), second.rules.len());
        for (a, b) in first.rules.iter().zip(&second.rules) {
            assert_eq!((a.is_fact, &a.unchanged, a.nodes), (b.is_fact, &b.unchanged, b.nodes));
            assert_eq!(flat(&a.guard), flat(&b.guard));
        }
        for (a, b) in first.assertions.iter().zip(&second.assertions) {
            assert_eq!((&a.name, flat(&a.left), &a.using), (&b.name, flat(&b.left), &b.using));
            match (&a.right, &b.right) {
                (Right::State(x), Right::State(y)) | (Right::Constraint(x), Right::Constraint(y)) => {
                    assert_eq!(flat(x), flat(y));
                }
                _ => panic!("{} claims something else", a.name),
            }
        }
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

/// How many states SPIN finds, and the kinds of errors, where a model pins them.
fn expected(text: &str) -> Option<(usize, BTreeSet<String>)> {
    let all = quotient_expectations::read(text).expect("expectations");
    let raw = quotient_expectations::Expectation::with(&all, &["--raw", "--all", "--safety"])?;
    let states = raw.figure(quotient_expectations::Bound::Exactly, quotient_expectations::Figure::States)?;
    Some((states as usize, raw.kinds().into_iter().map(str::to_owned).collect()))
}

/// How many states SPIN sees: it lets processes that have reached their end die, the youngest first, and a dead
/// process has no variables.
fn with_deaths(program: &quotient_program::Program, t: &promela::Translation, states: &[Vec<i64>]) -> usize {
    let owner = |column: &promela::Column| match column.place {
        promela::Place::Counter { thread, .. } | promela::Place::Local { thread, .. } => thread,
        promela::Place::Global { .. } => 0,
    };
    let mut seen = BTreeSet::new();
    for state in states {
        let at_end = |thread: usize| {
            let counter = t.columns.iter().position(
                |c| matches!(c.place, promela::Place::Counter { thread: own, .. } if own == thread),
            );
            // A process without a counter stands at its end from the start.
            counter.is_none_or(|c| {
                let promela::Place::Counter { function, .. } = t.columns[c].place else { return false };
                let location = &program.function(function).locations[state[c] as usize];
                location
                    .transformations
                    .iter()
                    .all(|t| matches!(t.operation, quotient_program::Operation::Exit))
            })
        };
        let mut alive = t.threads;
        loop {
            let is_global = |c: &promela::Column| matches!(c.place, promela::Place::Global { .. });
            let kept = t.columns.iter().zip(state).filter(|(c, _)| is_global(c) || owner(c) < alive);
            seen.insert((alive, kept.map(|(_, v)| *v).collect::<Vec<i64>>()));
            if alive == 0 || !at_end(alive - 1) {
                break;
            }
            alive -= 1;
        }
    }
    seen.len()
}

/// The rules of a Promela model have as many reachable states as SPIN found, where the two readings agree: no
/// variable wraps around, and nothing stops SPIN.
#[test]
fn promela_models_have_as_many_states_as_spin_says() {
    let (mut compared, mut refused) = (0, 0);
    let mut agenda = vec![folder("tests/promela")];
    while let Some(path) = agenda.pop() {
        if path.is_dir() {
            agenda.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            continue;
        }
        if path.extension().is_none_or(|e| e != "pml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let Some((states, errors)) = expected(&text) else { continue };
        let mut map = SourceMap::new();
        let parsed = quotient_promela::parse_file(&mut map, &path, &ParseOptions::default()).unwrap();
        let lowered = quotient_promela::lower(&parsed.model, &map);
        let mut diagnostics = Diagnostics::new();
        let Some(translation) = promela::translate(&lowered.program, &map, &mut diagnostics) else {
            refused += 1;
            continue;
        };
        if errors.iter().any(|e| !["deadlock", "assertion"].contains(&e.as_str())) || states > 20_000 {
            continue;
        }
        let program = language::program(&translation.items, &mut diagnostics).unwrap();
        let found = explore(&program, states + 10, &Limits::default());
        // A value outside its variable's type: there the model itself wraps around.
        let wraps = translation.columns.iter().enumerate().any(|(at, column)| {
            let Some(ty) = column.ty else { return false };
            found.states.iter().any(|s| i64::from(ty.wrap(s[at] as i32)) != s[at])
        });
        if wraps {
            continue;
        }
        // `init` that starts the others has a state of its own before.
        let before = usize::from(lowered.program.initial.len() < translation.threads);
        assert!(found.complete, "{}: more than {states} states", path.display());
        let seen = with_deaths(&lowered.program, &translation, &found.states);
        assert_eq!(seen + before, states, "{}", path.display());
        compared += 1;
    }
    println!("{compared} models compared, {refused} refused");
    assert!(compared >= 150, "{compared}");
}

#[test]
fn horn_clauses_keep_their_answer() {
    for (name, n) in [("bakery", 2), ("peterson", 2), ("fischer", 2), ("priority", 2), ("readers-writers", 2)]
    {
        let program = model(name, n);
        let read = load_text("back.smt2", &quotient_proof::horn::horn(&program)).unwrap();
        assert_eq!(read.rules.len(), program.rules.len());
        let queries = program.assertions.iter().filter(|a| !a.is_relative()).count();
        assert_eq!(read.assertions.len(), queries);
        assert!(
            prove(&read, &Options::default()).iter().all(|r| matches!(r.verdict, Verdict::Proved)),
            "{name}"
        );
    }
}

/// Clauses as other tools write them: several predicates, booleans, `let`, `ite`, disjunctive form.
#[test]
fn clauses_of_other_tools_are_read() {
    let text = "(set-logic HORN)
        (declare-fun loop (Int Bool) Bool) (declare-fun done (Int) Bool) (declare-fun fail () Bool)
        (assert (forall ((x Int)) (=> (= x 0) (loop x true))))
        (assert (forall ((x Int) (b Bool) (y Int))
          (=> (and (loop x b) (< x 10) (= y (ite b (+ x 1) (+ x 2)))) (loop y (not b)))))
        (assert (forall ((x Int) (b Bool)) (or (not (loop x b)) (let ((c (>= x 10))) (not c)) (done x))))
        (assert (forall ((x Int)) (=> (and (done x) (> x LIMIT)) fail)))
        (assert (not fail))
        (check-sat)";
    for (limit, answer) in [("12", "proved"), ("9", "refuted")] {
        let program = load_text("loop.smt2", &text.replace("LIMIT", limit)).unwrap();
        let reports = prove(&program, &Options::default());
        assert_eq!(word(&program, &reports, "query_1"), answer);
    }
}

/// A clause whose head is a condition asks whether the body can be met without it.
#[test]
fn a_condition_as_head_is_a_query() {
    let text = "(set-logic HORN) (declare-fun p (Int Bool) Bool)
        (assert (p 0 true)) (assert (forall ((x Int) (b Bool)) (=> (and (p x b) (< x 5)) (p (+ x 1) (not b)))))
        (assert (forall ((x Int) (b Bool)) (=> (p x b) (let ((even (= (mod x 2) 0))) (and (<= x LIMIT) (= b even))))))";
    for (limit, answer) in [("5", "proved"), ("4", "refuted")] {
        let program = load_text("head.smt2", &text.replace("LIMIT", limit)).unwrap();
        let reports = prove(&program, &Options::default());
        assert_eq!(word(&program, &reports, "query_1"), answer);
    }
    let some = text.replace("(= b even)", "(exists ((y Int)) (= x (* 2 y)))");
    assert!(load_text("head.smt2", &some).is_err(), "a quantifier below a negation");
    let two = text.replace("(<= x LIMIT)", "(p x b)");
    assert!(load_text("head.smt2", &two).unwrap_err().contains("in a head of several parts"));
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let promela = |body: &str| load_text("m.pml", body).unwrap_err();
    for (text, reason) in [
        ("chan c = [1] of { byte }; active proctype a() { c ! 1 }", "`c` is a channel"),
        ("byte x; active proctype a() { do :: x = x * x od }", "a product of two variables"),
        ("byte x; active proctype a() { do :: x = x / 2 od }", "division of a variable"),
        ("byte x; active proctype a() { do :: x = x & 1 od }", "an operation on the bits"),
        ("byte x; active proctype a() { do :: timeout -> x = 1 od }", "`timeout`"),
        (
            "byte x; active proctype a() { do :: run b() od } proctype b() { x = 1 }",
            "starting a process later",
        ),
        (
            "byte x; active proctype a() { atomic { do :: x < 3 -> x++ :: else -> break od } }",
            "a loop inside an atomic",
        ),
        ("byte x; active proctype a() provided (x == 0) { do :: x = 1 od }", "`provided`"),
        ("byte x[5000]; active proctype a() { x[0] = 1 }", "more than 4096 values in a state"),
    ] {
        let message = promela(text);
        assert!(message.contains(reason), "{text}: {message}");
    }
    let while_await = |body: &str| load_text("m.await", body).unwrap_err();
    for (text, reason) in [
        ("var x = 0; process while (true) do y := 1 end", "`y` is not a variable of the program"),
        ("var x = 0; process while (true) do <0> x := 1 <0> x := 2 end", "<0> is used twice"),
        ("var x = 0; process while (true) do end", "does nothing"),
        ("var x = 0; process while (true) do x := x * x end assert p([P1],X) |= X >= 0.", "not linear"),
        ("var x = 0, X = 1; process skip", "already a variable"),
        ("var x = 0;", "no process"),
    ] {
        let message = while_await(text);
        assert!(message.contains(reason), "{text}: {message}");
    }
    let horn = |body: &str| load_text("m.smt2", &format!("(declare-fun p (Int) Bool)\n{body}")).unwrap_err();
    for (text, reason) in [
        ("(assert (forall ((x Int) (y Int)) (=> (and (p x) (p y)) (p x))))", "a second predicate"),
        ("(assert (forall ((x Real)) (=> true (p 0))))", "a sort other than Int and Bool"),
        ("(assert (forall ((x Int)) (=> (= (mod 2 x) 0) (p x))))", "`mod` by anything but a number"),
        ("(assert (forall ((x Int)) (=> (= (div x 0) 0) (p x))))", "a number other than 0"),
        ("(declare-fun a () (Array Int Int))", "this command is not supported"),
        ("(assert (forall ((x Int)) (=> (or (p x) (> x 0)) (p x))))", "below a disjunction"),
        ("(assert (p 0)", "never closed"),
        ("(set-logic QF_LIA)", "not HORN"),
    ] {
        let message = horn(text);
        assert!(message.contains(reason), "{text}: {message}");
    }
}

/// A model's own assertions become claims; unbounded integers are what the proof is about.
#[test]
fn assertions_of_a_model_are_claims() {
    let good = "byte x, y;
        active [2] proctype a() { do :: atomic { x <= y -> x++ } :: atomic { y <= x -> y++ } :: assert(x <= y + 1) od }
        /*@ assert near: p([P0,P1],X,Y) |= X <= Y + 1, Y <= X + 1. */";
    let program = load_text("good.pml", good).unwrap();
    let reports = run(&program, &Options::default());
    assert_eq!(program.assertions.len(), 2);
    assert_eq!(word(&program, &reports, "assert_2"), "proved");
    let program = load_text("bad.pml", &good.replace("x <= y + 1", "x <= y")).unwrap();
    assert_eq!(word(&program, &run(&program, &Options::default()), "assert_2"), "refuted");
    let index = "byte i, a[2]; active proctype b() { do :: a[i] = 1; i = (i == 0 -> 1 : 0) :: i = i + 0 od }";
    let program = load_text("index.pml", index).unwrap();
    assert_eq!(word(&program, &run(&program, &Options::default()), "index_1"), "proved");
    let program = load_text("index.pml", &index.replace("i + 0", "i + 1")).unwrap();
    assert_eq!(word(&program, &run(&program, &Options::default()), "index_1"), "refuted");
}

/// A refutation of thousands of steps shows its ends.
#[test]
fn long_traces_are_shortened_in_text() {
    let show = |limit: usize| {
        let mut map = SourceMap::new();
        let text = format!("p(0). p(X+1) :- p(X). assert a: p(X) |= X < {limit}.");
        let file = map.add("long.clp", text);
        let program = language::read(&map, file, &mut Diagnostics::new()).unwrap();
        let reports = prove(&program, &Options::default());
        quotient_proof::report::text(&program, &map, &reports[0])
    };
    let long = show(1_000);
    assert!(long.contains("… 961 states in between (--json has them)"), "{long}");
    assert!(
        long.contains("   19  p(19)") && long.contains("  981  p(981)") && long.contains(" 1000  p(1000)")
    );
    assert_eq!(long.lines().count(), 1 + 20 + 1 + 20 + 1);
    assert_eq!(show(150).lines().count(), 1 + 151 + 1);
}
