//! Every document that `--json` prints is as `docs/schema.json` says, whatever it is about.

use std::path::Path;

use crate::command_line::{File, model, quotient};
use jsonschema::Validator;
use quotient::{Incomplete, ViolationKind};
use serde_json::Value;

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("the schema")).expect("JSON")
}

fn validator() -> Validator {
    jsonschema::validator_for(&schema()).expect("a correct schema")
}

/// The documents that a command prints, all as the schema says.
fn valid(validator: &Validator, arguments: &[&str]) -> Vec<Value> {
    let output = quotient(arguments);
    let text = String::from_utf8_lossy(&output.stdout);
    let documents: Vec<Value> = serde_json::Deserializer::from_str(&text)
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap_or_else(|e| panic!("{arguments:?}: {e}\n{text}"));
    assert!(
        !documents.is_empty(),
        "{arguments:?} prints nothing: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    for document in &documents {
        let wrong: Vec<String> =
            validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(wrong.is_empty(), "{arguments:?}: {wrong:#?}\n{document:#}");
    }
    let schema = schema();
    for document in &documents {
        let mut unknown = Vec::new();
        fields_without_words(&schema, &schema, document, "", &mut unknown);
        assert!(unknown.is_empty(), "{arguments:?}: not in the schema: {unknown:?}");
    }
    documents
}

/// The fields of a document that the schema, from which the reference is made, does not describe.
fn fields_without_words(schema: &Value, part: &Value, found: &Value, at: &str, unknown: &mut Vec<String>) {
    let mut part = part;
    while let Some(name) = part["$ref"].as_str() {
        part = schema.pointer(name.trim_start_matches('#')).expect("a definition");
    }
    let fits =
        |p: &&Value| p["type"] == if found.is_array() { "array" } else { "object" } || p["$ref"].is_string();
    if let Some(chosen) = part["anyOf"].as_array().and_then(|all| all.iter().find(fits)) {
        return fields_without_words(schema, chosen, found, at, unknown);
    }
    match found {
        // Variables are named by the model.
        Value::Object(_) if part["additionalProperties"].is_object() => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                let at = format!("{at}.{name}");
                match part["properties"].get(name) {
                    Some(known) if known["description"].is_string() || known["$ref"].is_string() => {
                        fields_without_words(schema, known, value, &at, unknown);
                    }
                    _ => unknown.push(at),
                }
            }
        }
        Value::Array(items) if part["items"].is_object() => {
            for item in items {
                fields_without_words(schema, &part["items"], item, at, unknown);
            }
        }
        _ => {}
    }
}

#[test]
fn a_field_without_words_is_noticed() {
    let schema = schema();
    let mut unknown = Vec::new();
    let strange = serde_json::json!({ "mood": 1, "violations": [{ "kind": "race", "weather": 2, "trace": { "initial": { "x": "0" }, "colour": 3 } }] });
    fields_without_words(&schema, &schema, &strange, "", &mut unknown);
    unknown.sort();
    assert_eq!(unknown, [".mood", ".violations.trace.colour", ".violations.weather"]);
}

const WRONG: &str = "byte x;\nactive [2] proctype P() { x++; assert(x < 2) }\n";

#[test]
fn models_programs_and_proofs_print_one_kind_of_document() {
    let validator = validator();
    let wrong = File::new("schema_wrong.pml", WRONG);
    let cases: &[(&[&str], &str)] = &[
        (&["check", "--json", &model("peterson.pml")], "holds"),
        (&["check", "--json", "--full", wrong.path()], "violated"),
        (&["check", "--json", "--all", "--ltl", "<> (x == 5)", wrong.path()], "violated"),
        (&["check", "--json", "--ctl", "E[(x == 0) U (x == 1)]", wrong.path()], "violated"),
        (&["check", "--json", "--max-states", "2", "--raw", &model("peterson.pml")], "undecided"),
        (&["check", "--json", "--max-depth", "2", "--raw", &model("peterson.pml")], "undecided"),
        (&["check", "--json", &model("dining_philosophers.bir")], "violated"),
        (&["prove", "--json", &model("relative/peterson.pml")], "holds"),
    ];
    for (arguments, verdict) in cases {
        let documents = valid(&validator, arguments);
        assert_eq!(documents[0]["verdict"], *verdict, "{arguments:?}");
    }
    let two = valid(&validator, &["check", "--json", &model("peterson.pml"), wrong.path()]);
    assert_eq!(two.len(), 2);
}

#[test]
fn a_c_program_has_the_same_document() {
    let validator = validator();
    let race = "#include <pthread.h>\nint x;\nvoid *f(void *a) { x++; return a; }\n\
                int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x++; pthread_join(t, 0); return 0; }\n";
    let race = File::new("schema_race.c", race);
    let found = valid(&validator, &["check", "--json", race.path()]).remove(0);
    assert_eq!((&found["verdict"], &found["violations"][0]["kind"]), (&"violated".into(), &"race".into()));
    let steps = found["violations"][0]["trace"]["steps"].as_array().expect("steps");
    assert!(steps.iter().any(|s| s["process"] == "T0 main"), "{steps:#?}");
    let schedule = found["violations"][0]["schedule"].as_str().expect("a schedule");
    let again = valid(&validator, &["replay", "--json", race.path(), "--schedule", schedule]).remove(0);
    assert_eq!(again["violations"][0]["trace"], found["violations"][0]["trace"]);
    let cut = valid(&validator, &["check", "--json", "--allow-races", "--max-executions", "1", race.path()])
        .remove(0);
    assert_eq!((&cut["verdict"], &cut["incomplete"]["kind"]), (&"undecided".into(), &"executions".into()));
}

#[test]
fn proofs_that_fail_have_a_trace() {
    let validator = validator();
    let wrong =
        File::new("schema_wrong.clp", "p(0). p(X') :- p(X), X' = X + 2.\nassert small: p(X) |= X =< 3.\n");
    let document = valid(&validator, &["prove", "--json", wrong.path()]).remove(0);
    assert_eq!(
        (&document["verdict"], &document["violations"][0]["kind"]),
        (&"violated".into(), &"refuted".into())
    );
    assert_eq!(document["answers"][0]["verdict"], "refuted");
    assert!(!document["violations"][0]["trace"]["steps"].as_array().expect("steps").is_empty());
}

#[test]
fn errors_have_their_places() {
    let validator = validator();
    for (name, text, command) in [
        ("schema_error.pml", "byte x;\ninit { x = }\n", "check"),
        ("schema_error.bir", "system A {\n  main thread M() {\n    x := 1;\n  }\n}\n", "check"),
        ("schema_error.clp", "p(0).\nassert a: q(X) |= X >= .\n", "prove"),
    ] {
        let file = File::new(name, text);
        let document = valid(&validator, &[command, "--json", file.path()]).remove(0);
        assert_eq!(
            (&document["verdict"], &document["command"]),
            (&"error".into(), &command.into()),
            "{name}"
        );
        let first = &document["errors"][0];
        assert_eq!(first["file"], file.path(), "{name}");
        assert!(first["line"].as_u64() >= Some(2) && first["column"].as_u64() >= Some(1), "{name}: {first}");
    }
    let absent = valid(&validator, &["check", "--json", "no_such_file.pml"]).remove(0);
    assert_eq!((&absent["verdict"], &absent["errors"][0]["line"]), (&"error".into(), &Value::Null));
}

/// The schema lists the words that the program has, no others.
#[test]
fn the_words_are_those_of_the_program() {
    let schema = schema();
    let words = |path: &str| -> Vec<String> {
        let list = schema.pointer(path).and_then(Value::as_array).expect("a list");
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let kinds: Vec<&str> = ViolationKind::ALL.iter().map(|k| k.as_str()).collect();
    assert_eq!(words("/$defs/violation/properties/kind/anyOf/0/enum"), kinds);
    assert_eq!(words("/$defs/incomplete/anyOf/1/properties/kind/enum"), Incomplete::KINDS);
    // A document that breaks the rules is noticed.
    let validator = validator();
    for wrong in [
        r#"{"quotient": "1"}"#,
        r#"{"quotient":"1","schema":1,"command":"check","file":null,"verdict":"undecided","message":"x","incomplete":{"kind":"mood","message":"x"}}"#,
    ] {
        assert!(!validator.is_valid(&serde_json::from_str(wrong).expect("JSON")), "{wrong}");
    }
}
