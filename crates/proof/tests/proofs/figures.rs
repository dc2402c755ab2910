//! The paper's eight programs as printed, misprints included, with every assertion that the text makes about them and no hint: each
//! is proved, or refuted with a run.
//!
//! Some readings are ours: "never more than 2n" is not said of a figure, and the places that
//! figure 8 leaves out are filled in, for n = 3.

use std::path::Path;

use crate::support::{load, read, run, word};
use quotient_proof::language::ast::Item;
use quotient_proof::limits::Limits;
use quotient_proof::program::Program;
use quotient_proof::prove::{Options, Report, Verdict};
use quotient_proof::{language, models, propose};
use quotient_source::{Diagnostics, SourceMap};

/// An assertion, and the number of states of the run that refutes it: none if it is proved.
type Expected = (&'static str, Option<usize>);

/// A figure's file and its assertions in order.
const FIGURES: &[(&str, &[Expected])] = &[
    ("figure-1.await", &[("mutex", None)]),
    // "P1 <> 2 and P2 <> 2" is offered as another way to say the same: it says that nobody is ever in the critical section.
    ("figure-2.clp", &[("either", Some(3)), ("mutex", None), ("swap", None)]),
    ("figure-3.await", &[("swap", Some(4)), ("mutex", None)]),
    ("figure-4.clp", &[("swap", Some(4)), ("mutex", None)]),
    (
        "figure-5.await",
        &[
            // The text gives this one as an example of what does not hold.
            ("reversed", Some(12)),
            ("early", None),
            ("late", None),
            ("leaving", None),
            ("elsewhere", None),
            ("in", None),
            ("out", None),
            ("mutex", None),
        ],
    ),
    // The rule from 5 to 6 lost its guard.
    (
        "figure-6.clp",
        &[
            ("reversed", None),
            ("early", None),
            ("late", None),
            ("leaving", None),
            ("elsewhere", None),
            ("in", Some(12)),
            ("out", Some(15)),
            ("mutex", Some(15)),
        ],
    ),
    ("figure-7.await", &[("consume", None), ("produce", None), ("bound", Some(13))]),
    // X is arbitrary at the beginning.
    ("figure-8.clp", &[("consume", None), ("produce", None), ("bound", Some(1))]),
];

/// Seconds that a figure may take.
const SOON: f64 = if cfg!(debug_assertions) { 10.0 } else { 1.0 };

fn soon(name: &str, reports: &[Report]) {
    let seconds: f64 = reports.iter().map(|r| r.elapsed.as_secs_f64()).sum();
    println!("{name}: {seconds:.3} s");
    assert!(seconds < SOON, "{name}: {seconds} s");
}

#[test]
fn each_assertion_of_a_figure_is_decided() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proofs/figures");
    for (file, expected) in FIGURES {
        let program = load(&folder.join(file)).unwrap_or_else(|e| panic!("{e}"));
        let reports = run(&program, &Options::default());
        soon(file, &reports);
        let names: Vec<&str> = program.assertions.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, expected.iter().map(|e| e.0).collect::<Vec<_>>(), "{file}");
        for (name, states) in *expected {
            let at = names.iter().position(|n| n == name).expect("just compared");
            let report = reports.iter().find(|r| r.assertion == at).expect("a report");
            match (&report.verdict, states) {
                (Verdict::Proved, None) => {}
                (Verdict::Refuted(why), Some(states)) => {
                    assert_eq!(why.trace.len(), *states, "{file}: {name}")
                }
                (verdict, _) => panic!("{file}: {name}: {verdict:?}"),
            }
        }
    }
}

/// A generated system with its last claim alone, and what the command proposes for it.
fn with_proposals(name: &str, n: usize) -> Program {
    let text = models::generate(name, n).expect("the model exists");
    let (mut map, mut diagnostics) = (SourceMap::new(), Diagnostics::new());
    let file = map.add(name, text);
    let mut items = language::parser::parse(&map, file, &mut diagnostics);
    let claim = items.iter().rposition(|i| matches!(i, Item::Assertion(_))).expect("a claim");
    let Item::Assertion(mut claim) = items.swap_remove(claim) else { panic!("just found") };
    claim.using.clear();
    items.retain(|i| matches!(i, Item::Rule { .. }));
    items.push(Item::Assertion(claim));
    let program = language::program(&items, &mut diagnostics).expect("generated models are well formed");
    let proposed = propose::with_symmetries(&items, &program, &Limits::default());
    proposed.and_then(|items| language::program(&items, &mut diagnostics)).unwrap_or(program)
}

/// The systems of the tables with their last claim alone. Only the bound of producer and consumer is not the paper's, which is false: that
/// one is refuted.
#[test]
fn each_system_of_the_tables_is_decided_with_the_claim_alone() {
    let systems = [
        ("bakery", 2),
        ("bakery", 3),
        ("fischer", 2),
        ("fischer", 3),
        ("peterson", 2),
        ("peterson", 3),
        ("lamport", 2),
        ("lamport", 3),
        ("szymanski", 2),
        ("szymanski", 3),
        ("priority", 2),
        ("philosophers", 3),
        ("philosophers", 4),
        ("producer-consumer-paper", 10),
        ("producer-consumer-paper", 20),
    ];
    for (name, n) in systems {
        let program = with_proposals(name, n);
        let reports = run(&program, &Options { inverses: true, ..Options::default() });
        let last = &reports.last().expect("a report").verdict;
        assert!(matches!(last, Verdict::Proved), "{name}-{n}: {last:?}");
        soon(&format!("{name}-{n}"), &reports);
    }
    for n in [10, 20] {
        let text = models::generate("producer-consumer", n).expect("the model exists");
        let program = read(&text.replace(&format!("X <= {}", 3 * n), &format!("X <= {}", 2 * n))).unwrap();
        let reports = run(&program, &Options::default());
        assert_eq!(word(&program, &reports, "bound"), "refuted", "n = {n}");
        soon(&format!("producer-consumer-{n}"), &reports);
    }
}
