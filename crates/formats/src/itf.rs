//! The Informal Trace Format (Apalache ADR-015): the states of a run, with typed values.
//!
//! Variables have their names in traces (`wants[1]`, `user(0).k`). Numbers are numbers; a named constant, a process, a channel or an object is
//! its name; what is not there is the string `none`; arrays are lists, fields are records, messages and rows are lists of tuples. A variable
//! that does not exist in a state (of a process that has not begun, or has ended) is the string `absent` there: every state of an ITF trace
//! has every variable. The step that led to a state stands in its `#meta`.

use quotient_outcome::Value;
use serde_json::{Map, Value as Json, json};

/// A state of a run.
#[derive(Clone, Debug)]
pub struct State {
    /// The step that led to it: who did what; none in the first state.
    pub step: Option<(String, String)>,
    /// Its variables, by name.
    pub variables: Vec<(String, Value)>,
}

/// What a trace is about.
#[derive(Clone, Debug)]
pub struct About {
    /// The model.
    pub source: String,
    /// What goes wrong at its end.
    pub description: String,
    /// The state from which on it is repeated for ever: the state after the last is this one.
    pub cycle: Option<usize>,
}

/// The trace.
pub fn itf(about: &About, states: &[State]) -> Json {
    let mut names: Vec<&str> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for (name, _) in states.iter().flat_map(|s| &s.variables) {
        if known.insert(name.as_str()) {
            names.push(name);
        }
    }
    let state = |(index, state): (usize, &State)| {
        let mut fields = Map::new();
        let mut meta = json!({ "index": index });
        if let Some((process, statement)) = &state.step {
            meta["process"] = process.clone().into();
            meta["statement"] = statement.clone().into();
        }
        fields.insert("#meta".into(), meta);
        for name in &names {
            let value = state.variables.iter().find(|(n, _)| n == name).map(|(_, v)| value(v));
            fields.insert((*name).to_owned(), value.unwrap_or_else(|| json!("absent")));
        }
        Json::Object(fields)
    };
    let mut trace = json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "source": about.source,
            "description": about.description,
        },
        "params": [],
        "vars": names,
        "states": states.iter().enumerate().map(state).collect::<Vec<_>>(),
    });
    if let Some(cycle) = about.cycle {
        trace["loop"] = cycle.into();
    }
    trace
}

fn value(v: &Value) -> Json {
    let tuples = |rows: &[Vec<Value>]| -> Json {
        let tuple = |row: &Vec<Value>| json!({ "#tup": row.iter().map(value).collect::<Vec<_>>() });
        rows.iter().map(tuple).collect()
    };
    match v {
        Value::Number(number) => json!(number),
        Value::List(values) => values.iter().map(value).collect(),
        Value::Fields(fields) => {
            Json::Object(fields.iter().map(|(name, field)| (name.clone(), value(field))).collect())
        }
        Value::Messages(rows) | Value::Rows(rows) => tuples(rows),
        Value::Lock(..) => json!(v.to_string()),
        Value::Constant(_) | Value::Nothing | Value::Reference(_) | Value::Process(..) | Value::Deleted => {
            json!(v.to_string())
        }
    }
}
