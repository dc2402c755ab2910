//! Violation witnesses (SV-COMP, YAML) of C programs: written from a counterexample, and followed by `replay`.
//!
//! A witness has threads and lines, less than a schedule. What is written is followed before it is given away, as one of another tool would be, and must end
//! in the same violation; otherwise nothing is written. What is read is only a guide: the answer is about the execution that it leads to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use quotient_formats::witness::{self, About, Requirement, Waypoint, Witness};
use quotient_native::guided::{Followed, Place, follow};
use quotient_native::protocol::FailureKind;
use quotient_native::{Binary, Repeated, Request, SessionError, Token};
use quotient_stateless::graph::MemoryModel;

use super::schedule_file::ScheduleFile;
use super::{options, watch};

/// The extensions of witnesses.
pub(crate) fn is_witness(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "yml" || e == "yaml")
}

/// The property that such a violation violates: what stands in `LTL(…)`.
fn property(run: &Repeated) -> Result<&'static str, String> {
    let calls = |function: &str| {
        let frames = run.trace.accesses.iter().flat_map(|access| &access.stack);
        frames.chain(run.trace.steps.last().iter().flat_map(|s| &s.stack)).any(|f| f.function == function)
    };
    match run.failure.kind {
        FailureKind::Assertion if calls("reach_error") => Ok("G ! call(reach_error())"),
        FailureKind::Assertion => Ok("G ! call(__assert_fail())"),
        FailureKind::Race => Ok("G ! data-race"),
        FailureKind::Memory => Ok("G valid-deref"),
        kind => {
            let help = "help: witnesses are about failed assertions, data races and invalid memory accesses";
            Err(format!("the format of witnesses has no property for: {}\n{help}", kind.text()))
        }
    }
}

/// The waypoints of a run that goes wrong.
fn waypoints(run: &Repeated, values: &[i64], name: &dyn Fn(&str) -> String) -> Vec<Waypoint> {
    let mut all = Vec::new();
    for (at, step) in run.trace.steps.iter().enumerate() {
        if step.line == 0 {
            continue;
        }
        let alternative = run.token.schedule.choices.get(at).map_or(0, |c| usize::from(c.alternative));
        let value = values.get(alternative).filter(|_| run.chosen.get(at) == Some(&true));
        all.push(Waypoint {
            requirement: value.map_or(Requirement::Passed, |value| Requirement::Gives(*value)),
            thread: Some(step.pid),
            file: name(&step.file),
            line: step.line,
            function: step.stack.first().map(|f| f.function.clone()),
        });
    }
    // The earlier access of a race comes first.
    for access in run.trace.accesses.iter().rev() {
        if let Some(frame) = access.stack.first() {
            all.push(Waypoint {
                requirement: Requirement::Target,
                thread: Some(access.thread),
                file: name(&frame.file),
                line: frame.line,
                function: Some(frame.function.clone()),
            });
        }
    }
    all
}

fn places(witness: &[Waypoint]) -> Vec<Place> {
    let place = |waypoint: &Waypoint| Place {
        thread: waypoint.thread,
        file: waypoint.file.clone(),
        line: waypoint.line,
        value: match waypoint.requirement {
            Requirement::Gives(value) => Some(value),
            Requirement::Passed | Requirement::Target => None,
        },
        target: waypoint.requirement == Requirement::Target,
    };
    witness.iter().map(place).collect()
}

/// A counterexample of a C program as a witness.
pub(crate) fn written(file: &ScheduleFile) -> Result<String, String> {
    let token: Token = file.schedule.parse()?;
    if token.memory != MemoryModel::SequentialConsistency {
        return Err(
            "the format of witnesses has interleavings only; this execution needs a weaker memory model"
                .to_owned(),
        );
    }
    let native = file.options();
    let text = |error: SessionError| error.to_string();
    let binary = native.binary(&file.program, &file.defines, &file.includes).map_err(|e| e.to_string())?;
    let request = native.request();
    let run = quotient_native::replay(&binary, &request, &token, false).map_err(text)?;
    if run.lost || run.failure.kind == FailureKind::None {
        return Err("the program has no such execution; has it changed?".to_owned());
    }
    let property = property(&run)?.to_owned();
    let sources: Vec<&PathBuf> = [&file.program].into_iter().chain(native.sources()).collect();
    let name = |path: &str| {
        let same = |source: &&&PathBuf| source.file_name() == Path::new(path).file_name();
        sources.iter().find(same).map_or_else(|| path.to_owned(), |source| source.display().to_string())
    };
    let waypoints = waypoints(&run, &request.values, &name);
    if !waypoints.iter().any(|w| w.requirement == Requirement::Target) {
        return Err("it is not known at which line the program goes wrong".to_owned());
    }
    let again =
        follow(&binary, &request, &places(&waypoints), &mut || !watch::interrupt().raised()).map_err(text)?;
    if again.repeated.failure.kind != run.failure.kind
        || again.repeated.trace.violation_at != run.trace.violation_at
    {
        let help = "help: the file of `check --trace` says everything, and `quotient replay` repeats it";
        return Err(format!(
            "a witness says too little about this execution: followed, it ends elsewhere\n{help}"
        ));
    }
    let contents = |source: &&PathBuf| {
        let contents = std::fs::read(source).map_err(|error| format!("{}: {error}", source.display()))?;
        Ok((source.display().to_string(), contents))
    };
    let about = About {
        files: sources.iter().map(contents).collect::<Result<_, String>>()?,
        property,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        time: std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |t| t.as_secs()),
    };
    Ok(witness::write(&about, &waypoints))
}

/// Reads a witness.
pub(crate) fn read(path: &Path) -> Result<Witness, String> {
    let wrong = |what: String| format!("{}: {what}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    witness::read(&text).map_err(|error| {
        let help = "help: violation witnesses in YAML are read (sv-witnesses 2.x); `quotient convert FILE --to witness` writes them";
        format!("{}\n{help}", wrong(error))
    })
}

/// The schedule to which a witness leads.
pub(crate) fn schedule(
    witness: &Witness,
    binary: &Binary,
    request: &mut Request,
    options: &options::Replay,
) -> Result<Token, String> {
    for (name, hash) in &witness.hashes {
        let same = Path::new(name).file_name() == options.file.file_name();
        if same && std::fs::read(&options.file).is_ok_and(|contents| witness::hash(&contents) != *hash) {
            eprintln!("warning: the witness is about another text of {}", options.file.display());
        }
    }
    if request.values.is_empty() {
        let given = witness.waypoints.iter().filter_map(|w| match w.requirement {
            Requirement::Gives(value) => Some(value),
            Requirement::Passed | Requirement::Target => None,
        });
        request.values = given.collect::<BTreeSet<i64>>().into_iter().collect();
    }
    // Threads are numbered as they are created; numbers of others may have gaps, or begin elsewhere.
    let numbered = places(&witness.waypoints);
    let ids: BTreeSet<u32> = numbered.iter().filter_map(|place| place.thread).collect();
    let ranked = numbered.iter().map(|place| Place {
        thread: place.thread.map(|id| ids.range(..id).count() as u32),
        ..place.clone()
    });
    let mut best: Option<Followed> = None;
    for places in [numbered.clone(), ranked.collect()] {
        let found = follow(binary, request, &places, &mut || !watch::interrupt().raised())
            .map_err(|error| error.to_string())?;
        let rank = |found: &Followed| (found.repeated.failure.kind != FailureKind::None, found.passed);
        let all = rank(&found) == (true, places.len());
        if best.as_ref().is_none_or(|best| rank(&found) > rank(best)) {
            best = Some(found);
        }
        if all {
            break;
        }
    }
    let Some(found) = best else { return Err("there is nothing to follow".to_owned()) };
    eprintln!(
        "note: {} of {} waypoints are passed{}",
        found.passed,
        found.passed + found.left_out,
        match witness.unused {
            0 => String::new(),
            count => format!("; {count} have constraints that are not looked at"),
        }
    );
    let kind = found.repeated.failure.kind;
    let told = match kind {
        FailureKind::Race => &["data-race"][..],
        FailureKind::Assertion => &["call("],
        FailureKind::Memory | FailureKind::Crash => &["valid-"],
        _ => &[],
    };
    if kind == FailureKind::None {
        eprintln!(
            "warning: the witness is not confirmed: nothing goes wrong in the execution that it leads to"
        );
    } else if !told.iter().any(|word| witness.specification.contains(word)) {
        eprintln!("warning: the witness is not confirmed: it is about {}", witness.specification);
    }
    // Looking ahead asks for more steps than there are.
    let mut token = found.repeated.token;
    token.schedule.choices.truncate(found.repeated.trace.steps.len());
    Ok(token)
}
