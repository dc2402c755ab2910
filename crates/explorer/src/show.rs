//! What the page is told, as JSON.

use quotient_explain::{Effect, Event, Failed, Group, Leaf, Read, RowKind, Write};
use quotient_outcome::Value as Shown;
use quotient_program::LockOperation;
use serde_json::{Value, json};

pub(crate) fn read(read: &Read) -> Value {
    json!({ "full": read.full, "name": read.name, "value": read.value.json() })
}

pub(crate) fn write(write: &Write) -> Value {
    json!({
        "full": write.full, "name": write.name,
        "before": write.before.as_ref().map(Shown::json), "after": write.after.as_ref().map(Shown::json),
    })
}

pub(crate) fn failed(failed: &Failed) -> Value {
    json!({
        "text": failed.text, "values": failed.values,
        "reads": failed.reads.iter().map(read).collect::<Vec<_>>(),
    })
}

pub(crate) fn event(event: &Event) -> Value {
    let message = |m: &[Shown]| m.iter().map(Shown::json).collect::<Value>();
    match event {
        Event::Send { channel, message: m, partner } => {
            json!({ "kind": "send", "channel": channel, "message": message(m), "partner": partner })
        }
        Event::Receive { channel, message: m, stays } => {
            json!({ "kind": "receive", "channel": channel, "message": message(m), "stays": stays })
        }
        Event::Lock { operation, object } => {
            let kind = match operation {
                LockOperation::Lock => "lock",
                LockOperation::Unlock => "unlock",
                LockOperation::Wait => "wait",
                LockOperation::Unwait => "wake",
                LockOperation::Notify => "notify",
                LockOperation::NotifyAll => "notify all",
            };
            json!({ "kind": kind, "object": object })
        }
        Event::Start(name) => json!({ "kind": "start", "process": name }),
        Event::End => json!({ "kind": "end" }),
        Event::New(object) => json!({ "kind": "new", "object": object }),
        Event::Assert(text, holds) => json!({ "kind": "assert", "text": text, "holds": holds }),
        Event::Timeout => json!({ "kind": "timeout" }),
    }
}

pub(crate) fn effect(e: &Effect) -> Value {
    json!({
        "reads": e.reads.iter().map(read).collect::<Vec<_>>(),
        "writes": e.writes.iter().map(write).collect::<Vec<_>>(),
        "events": e.events.iter().map(event).collect::<Vec<_>>(),
        "failed": e.failed.as_ref().map(failed),
    })
}

pub(crate) fn leaf(l: &Leaf) -> Value {
    let group = match &l.group {
        Group::Global => json!({ "kind": "global" }),
        Group::Channel => json!({ "kind": "channel" }),
        Group::Process(pid) => json!({ "kind": "process", "pid": pid }),
        Group::Object(name) => json!({ "kind": "object", "name": name }),
    };
    json!({ "group": group, "variable": l.variable, "name": l.name, "full": l.full, "value": l.value.json() })
}

/// The word for a kind of row; the page draws by it.
pub(crate) fn row_kind(kind: RowKind) -> &'static str {
    match kind {
        RowKind::Other => "other",
        RowKind::Quiet => "quiet",
        RowKind::Send => "send",
        RowKind::Receive => "receive",
        RowKind::Rendezvous => "rendezvous",
        RowKind::Lock => "lock",
        RowKind::Unlock => "unlock",
        RowKind::Start => "start",
        RowKind::End => "end",
        RowKind::New => "new",
        RowKind::Assert => "assert",
        RowKind::Fails => "fails",
        RowKind::Timeout => "timeout",
    }
}
