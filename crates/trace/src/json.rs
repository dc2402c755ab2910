//! Traces as JSON: the `trace` of `quotient check --json` (schema in `docs/json.md`).

use serde_json::{Value, json};

use crate::{Change, Trace};

fn change(c: &Change) -> Value {
    json!({ "name": c.name, "before": c.before, "after": c.after })
}

fn variables(list: &[(String, String)]) -> Value {
    list.iter().map(|(n, v)| (n.clone(), Value::String(v.clone()))).collect::<serde_json::Map<_, _>>().into()
}

/// The whole trace; with every variable after every step when `full`.
pub fn render(trace: &Trace, full: bool) -> Value {
    let steps: Vec<Value> = trace
        .steps
        .iter()
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
            if !s.output.is_empty() {
                step["output"] = s.output.clone().into();
            }
            if full {
                step["state"] = variables(&s.state);
            }
            step
        })
        .collect();
    json!({
        "initial": variables(&trace.initial),
        "steps": steps,
        "cycle": trace.cycle,
        "last": variables(&trace.last),
        "processes": trace.processes.iter().map(|p| json!({
            "process": p.process, "at": p.at, "waits_for": p.waits_for, "valid_end": p.valid_end,
        })).collect::<Vec<_>>(),
    })
}
