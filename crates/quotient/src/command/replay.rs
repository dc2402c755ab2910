//! `quotient replay`.

use std::path::PathBuf;

use quotient::trace::TraceFile;
use quotient::trace::text::{Detail, render, render_end};
use quotient::{
    CheckError, Incomplete, Language, LoadOptions, Model, PropertyKeyword, Question, Verdict, ViolationKind,
    outcome,
};

use super::kind::Kind;
use super::{check, json, options, status, terminal, watch};

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &options::Replay, given: &clap::ArgMatches) -> u8 {
    watch::about(&options.file, options.json);
    let kind = Some(Kind::of(&options.file)).filter(|k| k.is_native()).unwrap_or(Kind::Trace);
    if let Some(status) = super::refused("replay", given, kind) {
        return status;
    }
    if kind.is_native() {
        return super::native::replay(options);
    }
    let file = match TraceFile::read(&options.file) {
        Ok(file) => file,
        Err(error) => {
            eprintln!("error: {}: {error}", options.file.display());
            eprintln!("help: such files are written by `quotient check MODEL --trace FILE`");
            return status::ERROR;
        }
    };
    let path = options.model.clone().unwrap_or_else(|| PathBuf::from(&file.model));
    let question = match file.question.parse::<Question>() {
        Ok(question) => question,
        Err(error) => {
            eprintln!("error: {}: {error}", options.file.display());
            return status::ERROR;
        }
    };
    let mut properties = Vec::new();
    for (keyword, text) in &file.properties {
        let Some(keyword) = PropertyKeyword::from_name(keyword) else {
            eprintln!("error: {}: unknown kind of property `{keyword}`", options.file.display());
            return status::ERROR;
        };
        properties.push((keyword, text.clone()));
    }
    let language = match file.language.as_deref().map(|name| (name, Language::from_name(name))) {
        None => None,
        Some((_, Some(language))) => Some(language),
        Some((name, None)) => {
            eprintln!("error: {}: unknown language `{name}`", options.file.display());
            return status::ERROR;
        }
    };
    let load = LoadOptions {
        defines: file.defines.clone(),
        include_dirs: file.include_dirs.clone(),
        properties,
        ..LoadOptions::default()
    };
    let model = match Model::load_as(&path, language, &load) {
        Ok(model) => model,
        Err(error) => {
            eprintln!("{}", error.render(terminal::colour()));
            return status::ERROR;
        }
    };
    if check::checksum(&model) != file.checksum {
        eprintln!("warning: {} has changed since this trace was written", path.display());
    }
    let wide = false;
    let (mut machine, _) = match model.question_machine(question, quotient::Compile { raw: file.raw, wide }) {
        Ok(machine) => machine,
        Err(error) => {
            eprintln!("error: {error}");
            return status::ERROR;
        }
    };
    watch::journal().enter("executing the counterexample again");
    let trace = match model.replay(&mut machine, &file.choices, file.cycle) {
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
            "trace": outcome::json::trace(&trace, options.full),
        });
        let name = path.display().to_string();
        let body = serde_json::json!({ "violation": violation });
        let object = json::header("replay", Some(&name)).answer(&verdict, body);
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
