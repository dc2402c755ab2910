//! Outcomes as JSON: one document for models, C programs and proofs. Its schema is `docs/schema.json`, explained in `docs/json.md`.

use quotient_seams::Incomplete;
use quotient_source::{Diagnostics, Severity, SourceMap};
use serde_json::{Map, Value, json};

use crate::text::Detail;
use crate::{Access, Change, Event, Frame, Read, Trace, Verdict, Write};

/// The version of the document. It changes when a field goes or changes its meaning, not when one is added.
pub const SCHEMA: u32 = 2;

/// What a document begins with.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// The version of the program.
    pub program: &'a str,
    /// The subcommand.
    pub command: &'a str,
    /// What the document is about; `None` where that is not known.
    pub file: Option<&'a str>,
}

impl Header<'_> {
    fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("quotient".into(), self.program.into());
        fields.insert("schema".into(), SCHEMA.into());
        fields.insert("command".into(), self.command.into());
        fields.insert("file".into(), self.file.into());
        fields
    }

    /// A document with an answer; `body` is an object with what the engine has to say.
    pub fn answer(&self, verdict: &Verdict, body: Value) -> Value {
        let mut fields = self.fields();
        fields.insert("verdict".into(), verdict.name().into());
        fields.insert("message".into(), verdict.incomplete().map(Incomplete::to_string).into());
        fields.insert("incomplete".into(), incomplete(verdict.incomplete()));
        if let Value::Object(body) = body {
            fields.extend(body);
        }
        fields.into()
    }

    /// A document about something that could not be done: a mistake of the user, or a bug.
    pub fn error(&self, message: &str, errors: Value) -> Value {
        let mut fields = self.fields();
        fields.insert("verdict".into(), "error".into());
        fields.insert("message".into(), message.into());
        fields.insert("errors".into(), errors);
        fields.into()
    }
}

/// Why something is undecided.
pub fn incomplete(why: Option<&Incomplete>) -> Value {
    why.map_or(Value::Null, |why| json!({ "kind": why.kind(), "message": why.to_string() }))
}

/// The messages of one severity, with their places.
pub fn diagnostics(sources: &SourceMap, diagnostics: &Diagnostics, severity: Severity) -> Value {
    let of = diagnostics.iter().filter(|d| d.severity == severity);
    of.map(|d| {
        let place = d.span.map(|span| (sources.name(sources.written(span).file), sources.position(span)));
        json!({
            "message": d.message,
            "file": place.map(|(file, _)| file),
            "line": place.map(|(_, at)| at.line),
            "column": place.map(|(_, at)| at.column),
            "help": d.help,
        })
    })
    .collect()
}

/// A message without a place.
pub fn plain_error(message: &str, file: Option<&str>) -> Value {
    json!([{ "message": message, "file": file, "line": null, "column": null, "help": null }])
}

/// An object as text.
pub fn text(value: &Value) -> String {
    // Strings, numbers, lists and maps with string keys always serialise.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

fn change(c: &Change) -> Value {
    json!({ "name": c.name, "before": c.before, "after": c.after })
}

fn variables(list: &[(String, String)]) -> Value {
    list.iter().map(|(n, v)| (n.clone(), Value::String(v.clone()))).collect::<Map<_, _>>().into()
}

/// A stack of functions.
pub fn frames(frames: &[Frame]) -> Value {
    frames.iter().map(|f| json!({ "function": f.function, "file": f.file, "line": f.line })).collect()
}

/// Accesses that a violation consists of.
pub fn access(a: &Access) -> Value {
    json!({ "thread": a.thread, "access": a.access, "object": a.object, "writes": a.writes, "stack": frames(&a.stack) })
}

/// The trace, or the steps of it that are asked for; with every variable after every step when `full`.
pub fn trace(trace: &Trace, detail: Detail) -> Value {
    let full = detail.full;
    let steps: Vec<Value> = trace
        .steps
        .iter()
        .filter(|s| detail.steps.has(s.number))
        .map(|s| {
            let mut step = json!({
                "step": s.number,
                "process": s.process,
                "pid": s.pid,
                "file": s.file,
                "line": s.line,
                "statement": s.statement,
                "changes": s.changes.iter().map(change).collect::<Vec<_>>(),
            });
            if let Some(call) = &s.called_at {
                step["called_at"] = call.clone().into();
            }
            if !s.stack.is_empty() {
                step["stack"] = frames(&s.stack);
            }
            if let Some(failed) = s.failed() {
                step["failed"] = failed.into();
            }
            if let Some(effect) = &s.effect {
                step["reads"] = effect.reads.iter().map(Read::json).collect();
                step["writes"] = effect.writes.iter().map(Write::json).collect();
                step["events"] = effect.events.iter().map(Event::json).collect();
            }
            if !s.output.is_empty() {
                step["output"] = s.output.clone().into();
            }
            if full {
                step["state"] = variables(&s.state);
            }
            step
        })
        .collect();
    let processes = trace.processes.iter().map(|p| {
        json!({
            "process": p.process, "pid": p.pid, "at": p.at, "waits_for": p.waits_for, "valid_end": p.valid_end,
            "finished": p.finished, "owner": p.owner, "can_go_on": p.can_go_on, "stack": frames(&p.stack),
        })
    });
    json!({
        "initial": variables(&trace.initial),
        "steps": steps,
        "cycle": trace.cycle,
        "last": variables(&trace.last),
        "processes": processes.collect::<Vec<_>>(),
    })
}
