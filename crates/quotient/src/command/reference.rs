//! `docs/reference.md`, made from what the program itself goes by: the options of every subcommand, exit statuses, kinds of violations, reasons for
//! "undecided", and the fields of the JSON document with their descriptions in its schema.

use std::fmt::Write;

use quotient::{Incomplete, ViolationKind};
use serde_json::{Map, Value};

use super::options::EXIT_STATUS;

/// The schema of the document that `--json` prints; every document that tests see is compared with it.
const SCHEMA: &str = include_str!("../../../../docs/schema.json");

/// The page.
pub(super) fn page(mut command: clap::Command) -> String {
    command.build();
    let mut page = String::from(
        "# Every option, status and field\n\nWritten by `quotient man docs --markdown` from the program's own tables.\n",
    );
    for subcommand in command.get_subcommands().filter(|s| s.get_name() != "help" && !s.is_hide_set()) {
        let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = write!(page, "\n## quotient {}\n\n{about}.\n\n", subcommand.get_name());
        page.push_str("| option | serves | meaning |\n|---|---|---|\n");
        let shown = subcommand.get_arguments().filter(|a| !a.is_hide_set() && a.get_id() != "help");
        for argument in shown {
            let serves = argument.get_help_heading().unwrap_or("everything");
            let _ = writeln!(page, "| `{}` | {serves} | {} |", cell(&written(argument)), meaning(argument));
        }
    }
    statuses(&mut page);
    fields(&mut page);
    page
}

/// What an option does, its values and the one that it has unless told otherwise.
fn meaning(argument: &clap::Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let values = argument.get_possible_values();
    let named = |v: &clap::builder::PossibleValue| format!("`{}`", v.get_name());
    let listed = values.iter().filter(|v| !v.is_hide_set()).map(named).collect::<Vec<_>>().join(", ");
    let defaults: Vec<_> = argument.get_default_values().iter().map(|v| v.to_string_lossy()).collect();
    let default = defaults.join(", ");
    let mut meaning = cell(&help);
    if !listed.is_empty() && argument.get_action().takes_values() {
        let _ = write!(meaning, " ({listed})");
    }
    if !default.is_empty() && argument.get_action().takes_values() && !argument.is_hide_default_value_set() {
        let _ = write!(meaning, "; `{default}` unless told otherwise");
    }
    meaning
}

/// An option as it is typed.
fn written(argument: &clap::Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let value = values.first().map(ToString::to_string).filter(|_| argument.get_action().takes_values());
    let names =
        [argument.get_short().map(|s| format!("-{s}")), argument.get_long().map(|l| format!("--{l}"))];
    let names = names.into_iter().flatten().collect::<Vec<_>>().join(", ");
    match (names.is_empty(), value) {
        (true, value) => value.unwrap_or_default(),
        (false, Some(value)) => format!("{names} {value}"),
        (false, None) => names,
    }
}

/// Exit statuses, and what leads to them.
fn statuses(page: &mut String) {
    page.push_str("\n## Exit status\n\n| status | meaning |\n|---|---|\n");
    for line in EXIT_STATUS.lines().skip(1) {
        if let Some((status, meaning)) = line.trim().split_once(char::is_whitespace) {
            let _ = writeln!(page, "| {status} | {} |", cell(meaning));
        }
    }
    page.push_str("\n### Kinds of violations\n\nIn `violations` of the document, in expectations, and as an exit status.\n\n");
    page.push_str("| kind | status | meaning |\n|---|---|---|\n");
    for kind in ViolationKind::ALL {
        let _ = writeln!(page, "| `{}` | {} | {} |", kind.as_str(), kind.status(), cell(kind.meaning()));
    }
    let kinds = Incomplete::KINDS.map(|kind| format!("`{kind}`"));
    let _ = write!(
        page,
        "\n### Reasons for \"undecided\"\n\nThe words of `incomplete`, and of `undecided WORD` in expectations: {}.\n",
        kinds.join(", ")
    );
}

/// The fields of the document.
fn fields(page: &mut String) {
    let Ok(schema) = serde_json::from_str::<Value>(SCHEMA) else { return };
    page.push_str("\n## JSON\n\nThe fields of the document that `--json` prints ([json.md](json.md) says how it is used).\n\n");
    let mut further = Vec::new();
    table(page, &schema, &mut further);
    while let Some((name, part)) = (!further.is_empty()).then(|| further.remove(0)) {
        let _ = write!(page, "\n### `{name}`\n\n");
        table(page, part, &mut further);
    }
    let parts = schema["$defs"].as_object().into_iter().flatten();
    for (name, part) in parts {
        let part = part["anyOf"]
            .as_array()
            .and_then(|all| all.iter().find(|p| p["type"] == "object"))
            .unwrap_or(part);
        if part["properties"].is_object() {
            let _ = write!(page, "\n### `{name}`\n\n");
            table(page, part, &mut Vec::new());
        }
    }
}

/// The fields of an object; those that are objects described in place get a table of their own.
fn table<'a>(page: &mut String, part: &'a Value, further: &mut Vec<(&'a str, &'a Value)>) {
    page.push_str("| field | type | meaning |\n|---|---|---|\n");
    for (name, field) in part["properties"].as_object().unwrap_or(&Map::new()) {
        let _ = writeln!(
            page,
            "| `{name}` | {} | {} |",
            kind(field),
            cell(field["description"].as_str().unwrap_or(""))
        );
    }
    for (name, field) in part["properties"].as_object().into_iter().flatten() {
        let within = if field["items"]["properties"].is_object() { &field["items"] } else { field };
        if within["properties"].is_object() {
            further.push((name, within));
        }
    }
}

/// The type of a field.
fn kind(field: &Value) -> String {
    let named = |reference: &Value| {
        let name = reference.as_str().and_then(|r| r.rsplit('/').next()).unwrap_or("");
        match name {
            // These have no tables.
            "place" => "string or null".to_owned(),
            "variables" => "object".to_owned(),
            _ => format!("[`{name}`](#{name})"),
        }
    };
    if field["$ref"].is_string() {
        return named(&field["$ref"]);
    }
    if let Some(all) = field["anyOf"].as_array() {
        return all.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    if let Some(words) = field["enum"].as_array() {
        return words
            .iter()
            .map(|w| format!("`{}`", w.as_str().unwrap_or("")))
            .collect::<Vec<_>>()
            .join(", ");
    }
    if !field["const"].is_null() {
        return format!("`{}`", field["const"]);
    }
    let word = |word: &Value| match word.as_str().unwrap_or("") {
        "array" if field["items"]["$ref"].is_string() => {
            format!("list of {}", named(&field["items"]["$ref"]))
        }
        "array" => "list".into(),
        other => other.to_owned(),
    };
    match &field["type"] {
        Value::Array(all) => all.iter().map(word).collect::<Vec<_>>().join(" or "),
        one => word(one),
    }
}

/// A text on one line, which does not end a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
