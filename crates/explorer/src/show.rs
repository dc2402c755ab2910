//! What the page is told, as JSON.

use quotient_explain::{Group, Leaf, RowKind};
use serde_json::{Value, json};

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
