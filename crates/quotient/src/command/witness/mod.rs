//! Violation witnesses (SV-COMP, YAML) of C programs: written from a counterexample, and followed by `replay`.
//!
//! A witness has threads and lines, less than a schedule. What is written is followed before it is given away, as one of another tool would be, and must end
//! in the same violation; otherwise nothing is written. A witness that is read is confirmed by an execution only that is known to be one of its: the program with the witness's conditions in it ([`monitor`]) is explored
//! for one. Where these are not understood, the waypoints' threads and lines are followed, which confirms what says nothing else.

mod monitor;
mod text;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quotient_formats::witness::{self, About, Requirement, Waypoint, Witness};
use quotient_native::guided::{Followed, Place, follow};
use quotient_native::protocol::FailureKind;
use quotient_native::symbols::Symbols;
use quotient_native::{Answer, Binary, Repeated, Request, SessionError, Token};
use quotient_outcome::effect::Event;
use quotient_stateless::graph::MemoryModel;

use super::native::NativeOptions;
use super::schedule_file::ScheduleFile;
use super::{options, watch};

/// How long an execution is looked for; those that end at once, since an assumption does not hold, count, too.
const EXECUTIONS: u64 = 2_000_000;
const TIME: Duration = Duration::from_secs(20);

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
        // A definition of the program's own has no frame: it is replaced.
        FailureKind::Error => Ok("G ! call(reach_error())"),
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

/// An assertion fails, or an error location is reached.
fn asserts(run: &Repeated) -> bool {
    matches!(run.failure.kind, FailureKind::Assertion | FailureKind::Error)
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
        let starts =
            step.effect.iter().flat_map(|e| &e.events).any(|e| matches!(e, Event::Start(_, Some(_))));
        all.push(Waypoint {
            requirement: match value {
                Some(value) => Requirement::Gives(*value),
                None if starts => Requirement::Enters,
                None => Requirement::Passed,
            },
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
            Requirement::Passed | Requirement::Enters | Requirement::Target => None,
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
        return Err("the line at which the program goes wrong is not known".to_owned());
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

/// What a witness leads to.
pub(crate) struct Led {
    pub(crate) token: Token,
    /// Is it an execution that the witness describes, and that violates what it is about?
    pub(crate) confirmed: bool,
}

/// The execution to which a witness leads.
pub(crate) fn schedule(
    witness: &Witness,
    binary: &Binary,
    request: &mut Request,
    native: &NativeOptions,
    options: &options::Replay,
) -> Result<Led, String> {
    for (name, hash) in &witness.hashes {
        let same = Path::new(name).file_name() == options.file.file_name();
        if same && std::fs::read(&options.file).is_ok_and(|contents| witness::hash(&contents) != *hash) {
            eprintln!("warning: the witness is about another text of {}", options.file.display());
        }
    }
    match looked_for(witness, binary, request, native, options) {
        Ok((token, found)) => {
            eprintln!(
                "note: the witness is confirmed: this execution passes all its {} segments",
                witness.segments.len()
            );
            *request = found;
            return Ok(Led { token, confirmed: true });
        }
        Err(Missing::Unread(why)) => {
            eprintln!(
                "note: not everything that the witness says is understood ({why}); its lines are followed"
            );
        }
        Err(Missing::NotFound(why)) => {
            eprintln!("warning: the witness is not confirmed: {why}; its lines alone lead to this");
            let led = along_lines(witness, binary, request)?;
            return Ok(Led { token: led.token, confirmed: false });
        }
    }
    along_lines(witness, binary, request)
}

/// Why no execution was found.
enum Missing {
    /// The witness or the program has something that is not understood.
    Unread(String),
    /// There is none, as far as was looked.
    NotFound(String),
}

/// Looks for an execution that passes all segments: a schedule of the program, and the request under which it is one, with the values that its environment gives.
fn looked_for(
    witness: &Witness,
    binary: &Binary,
    request: &Request,
    native: &NativeOptions,
    options: &options::Replay,
) -> Result<(Token, Request), Missing> {
    let unread = |error: &dyn std::fmt::Display| Missing::Unread(error.to_string());
    if !options.file.extension().is_some_and(|e| e == "c" || e == "i") || native.sources().next().is_some() {
        return Err(unread(&"the program is not one file in C"));
    }
    let program = std::fs::read_to_string(&options.file).map_err(|error| unread(&error))?;
    let watched = monitor::watched(&options.file, &program, witness).map_err(Missing::Unread)?;
    let folder = std::env::temp_dir().join(format!("quotient-witness-{}", std::process::id()));
    let file = folder.join("watched.c");
    let own =
        options.file.parent().map(|parent| if parent == Path::new("") { Path::new(".") } else { parent });
    let built = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, &watched.text));
    let built = built.map_err(|error| error.to_string()).and_then(|()| {
        let includes: Vec<PathBuf> = own.into_iter().map(Path::to_path_buf).collect();
        native.binary(&file, &options.define, &includes).map_err(|error| error.to_string())
    });
    let _ = std::fs::remove_dir_all(&folder);
    let with_monitor = built.map_err(|error| {
        let line = error.lines().find(|line| line.contains("error:")).unwrap_or_default();
        Missing::Unread(format!("with its conditions the program does not compile: {}", line.trim()))
    })?;
    // Whether there are races is another property: racing accesses are interleaved.
    let mut same = Request { allow_races: true, ..request.clone() };
    if same.values.is_empty() {
        same.values = watched.values;
    }
    let asked = Request { max_executions: Some(EXECUTIONS), max_time: Some(TIME), ..same.clone() };
    let report = quotient_native::check(&with_monitor, &asked, &mut |_| !watch::interrupt().raised())
        .map_err(|error| unread(&error))?;
    let found = match report.answer {
        Answer::Violated(found) => found,
        Answer::Holds => {
            let values = asked.values.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
            return Err(Missing::NotFound(format!(
                "no execution passes its segments, with the values {values}"
            )));
        }
        Answer::Undecided(why) => {
            return Err(Missing::NotFound(format!(
                "no execution was found that passes its segments ({why})"
            )));
        }
        Answer::Refused(why, _) => return Err(Missing::Unread(why)),
    };
    if !asserts(&found) {
        let kind = found.failure.kind.text();
        return Err(Missing::NotFound(format!("something else goes wrong first: {kind}")));
    }
    // The same choices without the monitor's steps.
    let steps = found.trace.steps.iter().zip(&found.token.schedule.choices);
    let choices = steps.filter(|(step, _)| !step.file.ends_with(monitor::NAME)).map(|(_, choice)| *choice);
    let schedule = quotient_stateless::Schedule { choices: choices.collect() };
    let [from, to] = [&with_monitor, binary].map(|binary| Symbols::new(binary.path(), found.base));
    let cells = found.token.cells.iter();
    let cells = cells.filter_map(|(address, size)| Some((from.address_in(&to, *address)?, *size)));
    let token = Token { schedule, cells: cells.collect(), memory: found.token.memory };
    let again = quotient_native::replay(binary, &same, &token, false).map_err(|error| unread(&error))?;
    if again.lost || !asserts(&again) {
        return Err(unread(
            &"the execution that was found with its conditions is not an execution of the program alone",
        ));
    }
    Ok((token, same))
}

/// The execution to which the waypoints' threads and lines lead; it is the witness's if each of them was passed, and they are all that the witness says.
fn along_lines(witness: &Witness, binary: &Binary, request: &mut Request) -> Result<Led, String> {
    if request.values.is_empty() {
        let given = witness.waypoints.iter().filter_map(|w| match w.requirement {
            Requirement::Gives(value) => Some(value),
            Requirement::Passed | Requirement::Enters | Requirement::Target => None,
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
    let run = &found.repeated;
    let told = match run.failure.kind {
        FailureKind::Race => &["data-race"][..],
        FailureKind::Assertion | FailureKind::Error => &["call("],
        FailureKind::Memory | FailureKind::Crash => &["valid-"],
        _ => &[],
    };
    let why = if run.failure.kind == FailureKind::None {
        Some("nothing goes wrong in the execution that it leads to".to_owned())
    } else if !told.iter().any(|word| witness.specification.contains(word)) {
        Some(format!("it is about {}", witness.specification))
    } else if !is_at_target(witness, run) {
        Some("the program goes wrong, but at another place than its target".to_owned())
    } else if witness.unused + found.left_out > 0 {
        Some("the program goes wrong, but perhaps not in the way that it describes".to_owned())
    } else {
        None
    };
    if let Some(why) = &why {
        eprintln!("warning: the witness is not confirmed: {why}");
    }
    // Looking ahead asks for more steps than there are.
    let mut token = found.repeated.token;
    token.schedule.choices.truncate(found.repeated.trace.steps.len());
    Ok(Led { token, confirmed: why.is_none() })
}

/// Does it go wrong at the lines of the targets, or in functions called there?
fn is_at_target(witness: &Witness, run: &Repeated) -> bool {
    let frames = run.trace.accesses.iter().flat_map(|access| &access.stack);
    let lines: BTreeSet<u32> = frames
        .chain(run.trace.steps.last().iter().flat_map(|step| &step.stack))
        .map(|frame| frame.line)
        .collect();
    let targets = witness.waypoints.iter().filter(|waypoint| waypoint.requirement == Requirement::Target);
    lines.is_empty() || targets.into_iter().all(|target| lines.contains(&target.line))
}
