//! Every program of models/c has the verdict that its first comment says.

use std::path::{Path, PathBuf};
use std::time::Duration;

use quotient_native::protocol::FailureKind;
use quotient_native::{Answer, Binary, Build, Repeated, Report, Request, check, replay};
use quotient_stateless::Symmetry;

fn programs() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/c");
    let entries = std::fs::read_dir(directory).expect("models/c exists");
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "c" || e == "cc"));
    files.sort();
    files
}

/// The value of `key: value` in the first comment.
fn directive(text: &str, key: &str) -> Option<String> {
    let comment = text.split("*/").next()?;
    let line = comment.lines().find_map(|l| l.trim_start_matches([' ', '*', '/']).strip_prefix(key))?;
    Some(line.trim_start_matches(':').trim().to_owned())
}

/// The values of `--nondet 1,2,3`.
fn values(options: &str) -> Vec<i64> {
    let list = options.split_once("--nondet ").map_or("", |(_, list)| list.split(' ').next().unwrap_or(""));
    list.split(',').filter_map(|value| value.parse().ok()).collect()
}

fn name(answer: &Answer) -> &'static str {
    match answer {
        Answer::Holds => "holds",
        Answer::Undecided(_) => "undecided",
        Answer::Refused(..) => "refused",
        Answer::Violated(trace) => match trace.failure.kind {
            FailureKind::Deadlock => "deadlock",
            FailureKind::Assertion => "assertion",
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
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a readable example");
        let expected =
            directive(&text, "expect").unwrap_or_else(|| panic!("{}: no expectation", file.display()));
        let options = directive(&text, "options").unwrap_or_default();
        let binary = Build { sources: vec![file.clone()], ..Build::default() }.run();
        let binary = binary.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let plain = Request {
            allow_races: options.contains("--allow-races"),
            leaks: options.contains("--leaks"),
            values: values(&options),
            max_time: Some(Duration::from_secs(60)),
            ..Request::default()
        };
        // Symmetry is for sequential consistency, where programs with weak memory orders may do less.
        let weak = directive(&text, "memory").is_some();
        let symmetries = if weak { &[Symmetry::Off][..] } else { &[Symmetry::Off, Symmetry::Costarted] };
        for &symmetry in symmetries {
            let request = Request { symmetry, ..plain.clone() };
            let report = check(&binary, &request, &mut |_| true);
            let report = report.unwrap_or_else(|error| panic!("{}, {symmetry:?}: {error}", file.display()));
            let found = name(&report.answer);
            assert!(expected.split('|').any(|e| e == found), "{}, {symmetry:?}: {found}", file.display());
            if symmetry == Symmetry::Off
                && let Some(executions) = directive(&text, "executions")
            {
                assert_eq!(report.figures.executions.to_string(), executions, "{}", file.display());
            }
            if symmetry == Symmetry::Off {
                same_on_kernel_threads(&binary, &plain, &report, &file);
            }
            if let Answer::Violated(trace) = &report.answer {
                let again = replay(&binary, &plain, &trace.token, false).expect("a replay");
                assert_eq!(steps(&again), steps(trace), "{}: another trace", file.display());
                assert_eq!(again.failure, trace.failure, "{}: another failure", file.display());
            }
        }
    }
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
