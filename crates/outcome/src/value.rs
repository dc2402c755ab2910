//! Values as trees, so that those who show them need not read text.

use std::fmt;

use serde_json::json;

/// A value of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(i64),
    /// A named constant.
    Constant(String),
    /// No object, no channel, no thread.
    Nothing,
    /// A channel, object or function, by its name.
    Reference(String),
    /// A process or thread: its name and number.
    Process(String, u32),
    /// Elements of an array.
    List(Vec<Value>),
    /// Fields.
    Fields(Vec<(String, Value)>),
    /// Messages in a channel, the oldest first.
    Messages(Vec<Vec<Value>>),
    /// Rows of a collection.
    Rows(Vec<Vec<Value>>),
    /// A lock: who holds it (name and number), and how often.
    Lock(Option<(String, u32)>, u32),
    /// An object that was deleted and is still referred to.
    Deleted,
}

fn joined(values: &[Value], separator: &str) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Constant(name) | Value::Reference(name) | Value::Process(name, _) => f.write_str(name),
            Value::Nothing => f.write_str("none"),
            Value::List(values) => write!(f, "[{}]", joined(values, ", ")),
            Value::Fields(fields) => {
                let fields = fields.iter().map(|(name, value)| format!("{name} {value}"));
                write!(f, "{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
            Value::Messages(messages) => {
                let message = |m: &Vec<Value>| match &m[..] {
                    [one] => one.to_string(),
                    several => format!("({})", joined(several, ",")),
                };
                write!(f, "[{}]", messages.iter().map(message).collect::<Vec<_>>().join(" "))
            }
            Value::Rows(rows) => {
                let rows = rows.iter().map(|row| joined(row, " -> "));
                write!(f, "{{{}}}", rows.collect::<Vec<_>>().join(", "))
            }
            Value::Lock(None, _) => f.write_str("free"),
            Value::Lock(Some((holder, _)), 1) => write!(f, "held by {holder}"),
            Value::Lock(Some((holder, _)), count) => write!(f, "held by {holder} ({count} times)"),
            Value::Deleted => f.write_str("deleted"),
        }
    }
}

impl Value {
    /// The value as JSON: an object whose `kind` says what it is and whose `text` shows it.
    pub fn json(&self) -> serde_json::Value {
        let rows = |rows: &[Vec<Value>]| -> serde_json::Value {
            rows.iter().map(|row| row.iter().map(Value::json).collect::<serde_json::Value>()).collect()
        };
        let text = self.to_string();
        match self {
            Value::Number(number) => json!({ "kind": "number", "number": number, "text": text }),
            Value::Constant(_) => json!({ "kind": "constant", "text": text }),
            Value::Nothing => json!({ "kind": "nothing", "text": text }),
            Value::Reference(_) => json!({ "kind": "reference", "text": text }),
            Value::Process(_, pid) => json!({ "kind": "process", "pid": pid, "text": text }),
            Value::List(values) => {
                let items: serde_json::Value = values.iter().map(Value::json).collect();
                json!({ "kind": "list", "items": items, "text": text })
            }
            Value::Fields(fields) => {
                let items: serde_json::Value = fields
                    .iter()
                    .map(|(name, value)| json!({ "name": name, "value": value.json() }))
                    .collect();
                json!({ "kind": "fields", "items": items, "text": text })
            }
            Value::Messages(messages) => {
                json!({ "kind": "messages", "items": rows(messages), "text": text })
            }
            Value::Rows(all) => json!({ "kind": "rows", "items": rows(all), "text": text }),
            Value::Lock(holder, count) => {
                let holder = holder.as_ref().map(|(_, pid)| pid);
                json!({ "kind": "lock", "holder": holder, "count": count, "text": text })
            }
            Value::Deleted => json!({ "kind": "deleted", "text": text }),
        }
    }
}
