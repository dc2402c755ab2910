//! Every program of models/c has the verdict that its own comments expect (`// quotient: holds`, as `quotient test` reads them).

use std::path::{Path, PathBuf};
use std::time::Duration;

use quotient_expectations::{Bound, Clause, Expectation, Figure, read};
use quotient_native::protocol::FailureKind;
use quotient_native::{Answer, Binary, Build, Repeated, Report, Request, check, replay};
use quotient_stateless::Symmetry;
use quotient_stateless::graph::MemoryModel;

fn programs() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/c");
    let entries = std::fs::read_dir(directory).expect("models/c exists");
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "c" || e == "cc"));
    files.sort();
    files
}

/// A run as options say; every one of them is known.
fn request(options: &[String]) -> Request {
    let mut request = Request { max_time: Some(Duration::from_secs(60)), ..Request::default() };
    let mut words = options.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "--allow-races" => request.allow_races = true,
            "--leaks" => request.leaks = true,
            "--memory" => {
                let named = words.next().expect("a model");
                let model = MemoryModel::NAMES.iter().find(|(_, name, _)| *name == named);
                request.memory = Some(model.expect("a model").0);
            }
            "--nondet" => {
                let values = words.next().expect("values").split(',').map(str::parse);
                request.values = values.collect::<Result<_, _>>().expect("numbers");
            }
            other => panic!("{other}: this test does not know the option"),
        }
    }
    request
}

fn name(answer: &Answer) -> &'static str {
    match answer {
        Answer::Holds => "holds",
        Answer::Undecided(_) => "undecided",
        Answer::Refused(..) => "refused",
        Answer::Violated(trace) => match trace.failure.kind {
            FailureKind::Deadlock => "deadlock",
            FailureKind::Assertion | FailureKind::Error => "assertion",
            FailureKind::Livelock => "deadlock",
            FailureKind::Race => "race",
            FailureKind::Misuse => "misuse",
            FailureKind::Leak => "leak",
            _ => "crash",
        },
    }
}

#[test]
fn verdicts_are_as_expected() {
    let files = programs();
    assert!(files.len() >= 30, "{} programs", files.len());
    let mut runs = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a readable example");
        let expectations = read(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(!expectations.is_empty(), "{}: no expectation", file.display());
        let binary = Build { sources: vec![file.clone()], ..Build::default() }.run();
        let binary = binary.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for expectation in &expectations {
            runs += usize::from(is_met(&binary, expectation, &file));
        }
    }
    assert!(runs >= 100, "{runs} runs");
}

/// Checks what is expected of a program; false if it is that there is no answer, which `quotient test` looks at.
fn is_met(binary: &Binary, expectation: &Expectation, file: &Path) -> bool {
    if expectation.clauses.iter().any(|clause| matches!(clause, Clause::Undecided(_))) {
        return false;
    }
    let plain = request(&expectation.options);
    let expected = expectation.kinds();
    // Symmetry is for sequential consistency, where programs with weak memory orders may do less.
    let mut symmetries = vec![Symmetry::Off];
    let mut at = 0;
    while let Some(&symmetry) = symmetries.get(at) {
        at += 1;
        let request = Request { symmetry, ..plain.clone() };
        let report = check(binary, &request, &mut |_| true);
        let report = report.unwrap_or_else(|error| panic!("{}, {symmetry:?}: {error}", file.display()));
        let found = name(&report.answer);
        let told = format!("{}, {symmetry:?}: {found}", file.display());
        if symmetry == Symmetry::Off {
            let kinds: Vec<&str> = expected.iter().copied().collect();
            assert_eq!(if kinds.is_empty() { vec!["holds"] } else { kinds }, [found], "{told}");
            if let Some(executions) = expectation.figure(Bound::Exactly, Figure::Executions) {
                assert_eq!(report.figures.executions, executions, "{}", file.display());
            }
            same_on_kernel_threads(binary, &plain, &report, file);
            if report.memory == MemoryModel::SequentialConsistency {
                symmetries.push(Symmetry::Costarted);
            }
        } else {
            // A program may have several errors, and with symmetry another one may be met first.
            assert_eq!(found == "holds", expected.is_empty(), "{told}");
            assert!(!["undecided", "refused"].contains(&found), "{told}");
        }
        if let Answer::Violated(trace) = &report.answer {
            let again = replay(binary, &plain, &trace.token, false).expect("a replay");
            assert_eq!(steps(&again), steps(trace), "{}: another trace", file.display());
            assert_eq!(again.failure, trace.failure, "{}: another failure", file.display());
        }
    }
    true
}

/// What happened, and what it ended in, to be compared.
fn steps(repeated: &Repeated) -> String {
    format!("{:#?}\n{:#?}", repeated.trace.steps, repeated.trace.accesses)
}

/// Who did something where: values may be addresses of stacks, which lie elsewhere on kernel threads.
fn order(repeated: &Repeated) -> Vec<(usize, &str, u32)> {
    repeated.trace.steps.iter().map(|s| (s.number, s.process.as_str(), s.line)).collect()
}

/// User-level contexts on a snapshot and one kernel thread per thread in a fresh process execute a schedule alike.
fn same_on_kernel_threads(binary: &Binary, request: &Request, report: &Report, file: &Path) {
    let token = match &report.answer {
        Answer::Violated(trace) => &trace.token,
        _ => &report.last,
    };
    let [contexts, kernel] = [false, true].map(|kernel| {
        let trace = replay(binary, request, token, kernel)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(!trace.lost, "{}: the schedule {token} cannot be repeated", file.display());
        trace
    });
    // Where a thread has come back to is known to contexts only.
    if contexts.failure.kind == FailureKind::Livelock {
        return;
    }
    assert_eq!(order(&contexts), order(&kernel), "{}: another trace on kernel threads", file.display());
    assert_eq!(
        contexts.failure.kind,
        kernel.failure.kind,
        "{}: another failure on kernel threads",
        file.display()
    );
    assert_eq!(contexts.trace.output, kernel.trace.output, "{}", file.display());
}
