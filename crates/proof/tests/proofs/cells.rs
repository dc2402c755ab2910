//! Invariants at loop heads: what they prove, against explicit reachability; their evidence, altered; a solver's opinion.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::random_program::{Claim, case, truth};
use crate::support::read;
use crate::support::solver::confirms;
use quotient_promela::ParseOptions;
use quotient_proof::cells;
use quotient_proof::domain::Domain;
use quotient_proof::limits::Limits;
use quotient_proof::program::Program;
use quotient_proof::prove::{Options, Verdict, prove};
use quotient_proof::{certificate, frontend, language};
use quotient_proof_check::format::{Certificate, Evidence, FORMAT, Proof};
use quotient_proof_check::{check, smtlib};
use quotient_source::{Diagnostics, SourceMap, render};
use quotient_testing::Random;

fn load(path: &Path) -> Program {
    let (mut map, mut diagnostics) = (SourceMap::new(), Diagnostics::new());
    let items = frontend::read(&mut map, path, &ParseOptions::default(), &mut diagnostics).expect("readable");
    let program = if diagnostics.has_errors() { None } else { language::program(&items, &mut diagnostics) };
    program.unwrap_or_else(|| {
        panic!("{}", diagnostics.iter().map(|d| render(&map, d, false)).collect::<String>())
    })
}

fn clauses(name: &str, text: &str) -> Program {
    let path = std::env::temp_dir().join(format!("quotient-cells-{}-{name}.smt2", std::process::id()));
    std::fs::write(&path, text).expect("writable");
    let program = load(&path);
    std::fs::remove_file(&path).expect("just written");
    program
}

/// The certificate of the first assertion, by cells alone.
fn written(program: &Program) -> Option<Certificate> {
    let domain = Domain::of(program);
    let found = cells::prove(program, &domain, &program.assertions[0], &Limits::default()).ok()?;
    Some(Certificate {
        format: FORMAT.into(),
        program: certificate::program(program, &domain),
        proofs: vec![Proof::Cells { assertion: 0, cells: found.cells }],
    })
}

/// Programs that need a lattice, sums, unfolding, cells by condition.
const PROGRAMS: [&str; 6] = [
    "p(0,0). p(X+2,Y+1) :- p(X,Y). assert a: p(X,Y) |= X = 2 * Y.",
    "p(0,0,N) :- N >= 0. p(X+1,Y+2,N) :- p(X,Y,N), X < N. assert a: p(X,Y,N), X >= N |= Y = 2 * N.",
    "p(0,5). p(X+1,Y) :- p(X,Y), X < 5. p(X+1,Y+1) :- p(X,Y), X >= 5, X < 10. assert a: p(X,Y), X = 10 |= Y = 10.",
    "p(0,3). p(X',Y) :- p(X,Y), X' = X + Y. assert a: p(X,Y), X = 7 |= false.",
    "p(1,1). p(X+Y,Y+2) :- p(X,Y). assert a: p(X,Y) |= X >= 1, Y >= 1.",
    "p(0,0,0,0). p(N,S,T,M+1) :- p(N,S,_,M), T = M. p(N,S+1,T,M) :- p(N,S,T,M), S < M. assert a: p(N,S,T,M) |= S <= M.",
];

#[test]
fn programs_beyond_differences() {
    for text in PROGRAMS {
        let program = read(text).expect("well formed");
        let written = written(&program).unwrap_or_else(|| panic!("not proved: {text}"));
        assert_eq!(check(&written).map(|l| l.len()), Ok(1), "{text}");
    }
}

#[test]
fn the_tutorial_is_proved_without_hints() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/proofs");
    for name in ["ticket-2.await", "semaphore-3.await", "buffer.clp", "readers-writers.clp"] {
        let program = load(&folder.join(name));
        for report in prove(&program, &Options::default()) {
            let claim = &program.assertions[report.assertion].name;
            assert!(matches!(report.verdict, Verdict::Proved), "{name}, {claim}: {:?}", report.verdict);
        }
    }
}

/// Horn clauses: division is Euclidean, whatever the signs; Z3's own form; a query without a predicate.
#[test]
fn clauses_of_all_forms() {
    for (a, b, quotient, rest) in
        [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -3, 1), (-7, -2, 4, 1), (-6, 3, -2, 0)]
    {
        let number = |n: i64| if n < 0 { format!("(- {})", -n) } else { n.to_string() };
        let term = |o: &str| format!("({o} {} {})", number(a), number(b));
        let right = format!(
            "(assert (=> (not (and (= {} {}) (= {} {}))) false))",
            term("div"),
            number(quotient),
            term("mod"),
            number(rest)
        );
        let wrong = format!("(assert (=> (= {} {}) false))", term("div"), number(quotient));
        for (text, holds) in [(right, true), (wrong, false)] {
            let text = format!("(set-logic HORN)(declare-fun p (Int) Bool)(assert (p 0)){text}");
            let program = clauses("division", &text);
            let reports = prove(&program, &Options::default());
            assert_eq!(
                matches!(reports[0].verdict, Verdict::Proved),
                holds,
                "{text}: {:?}",
                reports[0].verdict
            );
            assert_eq!(matches!(reports[0].verdict, Verdict::Refuted(_)), !holds, "{text}");
        }
    }
    let z3 = "(declare-rel inv (Int Int))(declare-rel fail ())(declare-var x Int)(declare-var y Int)(declare-var b Bool)
              (rule (=> (and (= x 0) (= y 0)) (inv x y)))
              (rule (=> (inv x y) (inv (+ x 1) (ite b (+ y 2) y))))
              (rule (=> (and (inv x y) (= (mod y 2) 1)) fail)) (query fail)";
    let program = clauses("z3", z3);
    let reports = prove(&program, &Options::default());
    assert!(matches!(reports[0].verdict, Verdict::Proved), "{:?}", reports[0].verdict);
    let program = clauses("z3-wrong", &z3.replace("(+ y 2)", "(+ y 3)"));
    let reports = prove(&program, &Options::default());
    assert!(matches!(reports[0].verdict, Verdict::Refuted(_)), "{:?}", reports[0].verdict);
}

/// What cells prove of random programs is true, and the checker accepts it.
#[test]
fn random_programs_against_reachability() {
    let (programs, first) = (
        quotient_testing::setting("QUOTIENT_PROOF_VOLUME", 150),
        quotient_testing::setting("QUOTIENT_PROOF_SEED", 1),
    );
    let (mut proved, mut open, mut wrong) = (0, 0, 0);
    for seed in first..first + programs {
        let case = case(seed);
        let program = read(&case.text).expect("well formed");
        let domain = Domain::of(&program);
        for (at, assertion) in case.assertions.iter().enumerate() {
            if !matches!(assertion.claim, Claim::Safety(_)) {
                continue;
            }
            let limits = Limits::default().within(std::time::Duration::from_millis(200));
            let holds = truth(&case, assertion);
            wrong += usize::from(!holds);
            let Ok(found) = cells::prove(&program, &domain, &program.assertions[at], &limits) else {
                open += usize::from(holds);
                continue;
            };
            assert!(holds, "proved but false, seed {seed}, c{at}\n{}", case.text);
            proved += 1;
            let certificate = Certificate {
                format: FORMAT.into(),
                program: certificate::program(&program, &domain),
                proofs: vec![Proof::Cells { assertion: at, cells: found.cells }],
            };
            check(&certificate).unwrap_or_else(|e| panic!("refused, seed {seed}, c{at}: {e}\n{}", case.text));
        }
    }
    println!("{proved} proved, {open} true but not proved, {wrong} false");
    assert!(proved > 20 && wrong > 20);
}

/// Programs with sums and remainders on a ring of numbers: the same, with guards that are not differences.
#[test]
fn random_sums_against_reachability() {
    let mut r = Random::new(11);
    let (mut proved, mut refutable) = (0, 0);
    for round in 0..200 {
        let mut n = |below: u64| r.number(below) as i64;
        let (a, b, c, d) = (n(4) - 1, n(4) - 1, n(3) - 1, n(4) - 1);
        let (g, h, bound) = (n(4) - 1, n(4) - 1, n(12));
        let (u, v, limit) = (n(4) - 1, n(4) - 1, n(20) - 2);
        let text = format!(
            "p(0,0). p(X + {a}, Y + {b}) :- p(X,Y), {g} * X + {h} * Y <= {bound}.
             p(X + {c}, Y + {d}) :- p(X,Y), {h} * X - {g} * Y <= {bound}.
             assert a: p(X,Y) |= {u} * X + {v} * Y <> {limit}."
        );
        let Ok(program) = read(&text) else { continue };
        let mut seen = BTreeSet::from([(0i64, 0i64)]);
        let mut agenda = vec![(0, 0)];
        while let Some((x, y)) = agenda.pop() {
            let mut next = Vec::new();
            if g * x + h * y <= bound {
                next.push((x + a, y + b));
            }
            if h * x - g * y <= bound {
                next.push((x + c, y + d));
            }
            for s in next {
                if s.0.abs() < 40 && s.1.abs() < 40 && seen.insert(s) {
                    agenda.push(s);
                }
            }
        }
        let violated = seen.iter().any(|(x, y)| u * x + v * y == limit);
        refutable += usize::from(violated);
        let limits = Limits::default().within(std::time::Duration::from_millis(300));
        if let Ok(found) = cells::prove(&program, &Domain::of(&program), &program.assertions[0], &limits) {
            assert!(!violated, "round {round}: proved but false\n{text}");
            proved += 1;
            let certificate = Certificate {
                format: FORMAT.into(),
                program: certificate::program(&program, &Domain::of(&program)),
                proofs: vec![Proof::Cells { assertion: 0, cells: found.cells }],
            };
            check(&certificate).unwrap_or_else(|e| panic!("round {round}, refused: {e}\n{text}"));
        }
    }
    println!("{proved} proved, {refutable} violated");
    assert!(proved > 20 && refutable > 20, "{proved} {refutable}");
}

/// A cell that says less or more than it may, evidence that is gone: refused.
#[test]
fn altered_evidence_is_refused() {
    let mut tried = 0;
    for text in PROGRAMS {
        let program = read(text).expect("well formed");
        let original = written(&program).expect("proved");
        let mut attempt = |change: &mut dyn FnMut(&mut quotient_proof_check::format::Cells) -> bool,
                           what: &str| {
            let mut altered = original.clone();
            let Proof::Cells { cells, .. } = &mut altered.proofs[0] else { unreachable!() };
            if change(cells) {
                tried += 1;
                assert!(check(&altered).is_err(), "{what}: {text}");
            }
        };
        attempt(&mut |c| c.facts.pop().is_some(), "a fact without evidence");
        attempt(&mut |c| c.steps.pop().is_some(), "a cell without evidence");
        attempt(&mut |c| c.claims.pop().is_some(), "a point without evidence");
        attempt(
            &mut |c| {
                c.cells.clear();
                c.steps.clear();
                true
            },
            "no cells",
        );
        attempt(
            &mut |c| {
                c.heads.clear();
                true
            },
            "no heads",
        );
        let Proof::Cells { cells, .. } = &original.proofs[0] else { unreachable!() };
        for at in 0..cells.cells.len() {
            for (number, c) in cells.cells[at].congruences.iter().enumerate().filter(|(_, c)| c.modulus != 1)
            {
                let other = c.residue + 1;
                attempt(
                    &mut |c| {
                        c.cells[at].congruences[number].residue = other;
                        true
                    },
                    "another residue",
                );
            }
        }
        for at in 0..cells.evidence.len() {
            attempt(
                &mut |c| match &mut c.evidence[at] {
                    Evidence::Follow(list) if !list.is_empty() => list.pop().is_some(),
                    Evidence::Choose(_, list) | Evidence::Among(list) | Evidence::Before(list) => {
                        list.pop().is_some()
                    }
                    Evidence::Absurd(steps) if !steps.is_empty() => {
                        steps.clear();
                        true
                    }
                    _ => false,
                },
                "evidence that is gone",
            );
        }
    }
    assert!(tried > 60, "{tried}");
}

/// z3 confirms every run.
#[test]
#[ignore = "needs z3"]
fn z3_confirms_the_runs() {
    for text in PROGRAMS {
        let program = read(text).expect("well formed");
        let files = smtlib::export(&written(&program).expect("proved"));
        assert!(files.len() > 2, "{text}");
        confirms(text, &files);
    }
}
