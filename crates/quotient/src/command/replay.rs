//! `quotient replay`.

use std::path::{Path, PathBuf};

use quotient::trace::text::{Detail, render, render_end};
use quotient::trace::{Told, TraceFile};
use quotient::{
    CheckError, Incomplete, Language, LoadOptions, Model, PropertyKeyword, Question, Verdict, ViolationKind,
    outcome,
};

use super::kind::{Given, Kind};
use super::schedule_file::ScheduleFile;
use super::trail::Numbers;
use super::{check, json, options, status, terminal, watch};

/// How the program was compiled in which the run of a trace file was found.
pub(crate) fn how(file: &TraceFile) -> quotient::Compile {
    quotient::Compile { raw: file.raw, wide: false, all: file.all }
}

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &options::Replay, given: &Given) -> u8 {
    watch::about(&options.file, options.json);
    let kind = Some(Kind::of(&options.file)).filter(|k| k.is_native());
    let more = &options.native.more;
    let otherwise = if more.is_empty() { Kind::Trace } else { Kind::Trail };
    let kind = kind.unwrap_or(otherwise);
    if let Some(status) = super::refused("replay", given, kind) {
        return status;
    }
    if kind.is_native() {
        return super::native::replay(options);
    }
    if let Some(file) = ScheduleFile::read(&options.file).filter(|_| more.is_empty()) {
        return super::native::replay_file(&file, options);
    }
    let opened = match more.as_slice() {
        [] => open(&options.file, options.model.as_deref()),
        [trail] => open_trail(options, trail),
        [_, second, ..] => Err(format!("error: {}: one trail is replayed at a time", second.display())),
    };
    let (file, path, question, model) = match opened {
        Ok(Opened { file, path, question, model, .. }) => (file, path, question, model),
        Err(message) => {
            eprintln!("{message}");
            return status::ERROR;
        }
    };
    let (mut machine, _) = match model.question_machine(question, how(&file)) {
        Ok(machine) => machine,
        Err(error) => {
            eprintln!("error: {error}");
            return status::ERROR;
        }
    };
    watch::journal().enter("executing the counterexample again");
    let told = if options.json || options.full { Told::Everything } else { Told::Changes };
    let trace = match model.replay(&mut machine, &file.choices, file.cycle, told) {
        Ok(trace) => trace,
        Err(CheckError::NotReplayable(lost)) => {
            eprintln!("error: the model has no step {} like the one in the trace", lost.step);
            eprintln!("help: check the model again with --trace to get a new file");
            return status::ERROR;
        }
        Err(error) => {
            eprintln!("error: {error}");
            return status::ERROR;
        }
    };
    let kind = trace.violation.as_ref().map(|v| v.kind);
    let message = trace.violation.as_ref().map_or("nothing goes wrong", |v| v.message.as_str());
    if options.json {
        let verdict = match kind {
            Some(_) => Verdict::Violated,
            None => Verdict::Undecided(Incomplete::OneRun),
        };
        let violation = serde_json::json!({
            "kind": kind.map(ViolationKind::as_str), "message": message, "at": trace.violation_at,
            "trace": outcome::json::trace(&trace, Detail { full: options.full, steps: options.steps }),
        });
        let name = path.display().to_string();
        let body = serde_json::json!({ "violations": [violation] });
        let object = json::header(Some(&name)).answer(&verdict, body);
        terminal::print(&outcome::json::text(&object));
    } else {
        let mut text = render(&trace, Detail { full: options.full, steps: options.steps });
        text.push('\n');
        text.push_str(&render_end(&trace));
        text.push_str(&format!("\n{}: {message}\n", path.display()));
        terminal::print(&text);
    }
    match kind {
        None => {
            eprintln!("warning: the trace was written for: {}", file.message);
            status::UNDECIDED
        }
        Some(kind) => kind.status(),
    }
}

/// A replay file with the model that it belongs to.
pub(crate) struct Opened {
    pub(crate) file: TraceFile,
    pub(crate) path: PathBuf,
    pub(crate) question: Question,
    pub(crate) model: Model,
    pub(crate) language: Option<Language>,
    pub(crate) load: LoadOptions,
}

/// Reads a trail of SPIN and its model: a path of the model as written.
fn open_trail(options: &options::Replay, trail: &Path) -> Result<Opened, String> {
    if options.model.is_some() {
        return Err("error: --model does not apply to trails of SPIN: the model is named first".to_owned());
    }
    let wrong = |what: &str| format!("error: {}: {what}", trail.display());
    let text = std::fs::read_to_string(trail).map_err(|error| wrong(&error.to_string()))?;
    let read = quotient_formats::trail::read(&text).map_err(|error| {
        let help =
            "help: such files are written by SPIN's verifiers, and by `quotient convert FILE --to trail`";
        format!("{}\n{help}", wrong(&error))
    })?;
    let path = options.file.clone();
    let load = LoadOptions { defines: options::definitions(&options.define), ..LoadOptions::default() };
    let model = Model::load_as(&path, None, &load).map_err(|error| error.render(terminal::colour()))?;
    let numbers = Numbers::of(&model).map_err(|error| format!("error: {}: {error}", path.display()))?;
    let question = Question::Safety;
    let compile = quotient::Compile::AS_WRITTEN;
    let (mut machine, _) =
        model.question_machine(question, compile).map_err(|error| format!("error: {error}"))?;
    let choices = numbers.follow(&mut machine, &read).map_err(|error| wrong(&error))?;
    if read.claim || read.cycle.is_some() {
        eprintln!(
            "warning: the trail's claim and its cycle are not looked at: this is what the processes do"
        );
    }
    let file = TraceFile {
        checksum: check::checksum(&model),
        message: "a violation that SPIN found".to_owned(),
        choices,
        raw: true,
        all: false,
        ..super::explore::about(&path, None, &load)
    };
    Ok(Opened { file, path, question, model, language: None, load })
}

/// Reads a replay file and its model, which may be elsewhere than it was; a model that has changed is told.
pub(crate) fn open(trace: &Path, elsewhere: Option<&Path>) -> Result<Opened, String> {
    let wrong = |what: &str| format!("error: {}: {what}", trace.display());
    let file = TraceFile::read(trace).map_err(|error| {
        let help = "help: such files are written by `quotient check MODEL --trace FILE`";
        format!("{}\n{help}", wrong(&error.to_string()))
    })?;
    let path = elsewhere.map_or_else(|| PathBuf::from(&file.model), Path::to_path_buf);
    let question = file.question.parse::<Question>().map_err(|error| wrong(&error))?;
    let mut properties = Vec::new();
    for (keyword, text) in &file.properties {
        let known = PropertyKeyword::from_name(keyword);
        let keyword = known.ok_or_else(|| wrong(&format!("unknown kind of property `{keyword}`")))?;
        properties.push((keyword, text.clone()));
    }
    let language = match file.language.as_deref() {
        None => None,
        Some(name) => {
            let known = Language::from_name(name);
            Some(known.ok_or_else(|| wrong(&format!("unknown language `{name}`")))?)
        }
    };
    let load = LoadOptions {
        defines: file.defines.clone(),
        include_dirs: file.include_dirs.clone(),
        properties,
        ..LoadOptions::default()
    };
    let model = Model::load_as(&path, language, &load).map_err(|error| error.render(terminal::colour()))?;
    if check::checksum(&model) != file.checksum {
        eprintln!("warning: {} has changed since this trace was written", path.display());
    }
    Ok(Opened { file, path, question, model, language, load })
}
