//! The folder for VS Code: its files can be read, its grammars know the words and the files of each language.

use fancy_regex::Regex;
use quotient_languages::Language;
use serde_json::Value;

fn folder(file: &str) -> Value {
    let path = format!("{}/../../editors/vscode/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every pattern of a grammar, compiled.
fn patterns(grammar: &Value) -> Vec<(String, Regex)> {
    let mut found = Vec::new();
    for pattern in grammar["patterns"].as_array().expect("patterns") {
        let name = pattern["name"].as_str().unwrap_or("").to_owned();
        for key in ["match", "begin", "end"] {
            if let Some(text) = pattern[key].as_str() {
                found
                    .push((name.clone(), Regex::new(text).unwrap_or_else(|error| panic!("{text}: {error}"))));
            }
        }
    }
    found
}

#[test]
fn grammars_know_the_words_of_each_language() {
    let package = folder("package.json");
    for language in Language::ALL {
        let name = language.name().to_lowercase();
        let contributes = &package["contributes"];
        let listed = |list: &Value, key: &str| {
            list.as_array().expect("a list").iter().find(|l| l[key] == name.as_str()).cloned()
        };
        let known = listed(&contributes["languages"], "id").unwrap_or_else(|| panic!("{name} is missing"));
        let extensions: Vec<&str> =
            known["extensions"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        for extension in language.extensions() {
            assert!(extensions.contains(&format!(".{extension}").as_str()), "{name}: {extension}");
        }
        let grammar = listed(&contributes["grammars"], "language").unwrap();
        let grammar = folder(grammar["path"].as_str().unwrap());
        let patterns = patterns(&grammar);
        let words: &[&str] = match name.as_str() {
            "promela" => &["proctype", "d_step", "unless", "chan", "mtype", "provided", "nempty", "select"],
            "bir" => &["record", "loc", "invoke", "lockAvailable", "throwable", "ushr"],
            _ => &["process", "commit", "trans", "guard", "imply", "async"],
        };
        for word in words {
            let is_word = |(_, regex): &(String, Regex)| {
                regex.find(word).ok().flatten().is_some_and(|found| found.as_str() == *word)
            };
            assert!(patterns.iter().any(is_word), "{name}: `{word}` has no colour");
        }
        // A line of text is not a keyword, whatever stands in it.
        let comment = patterns.iter().position(|(scope, _)| scope.starts_with("comment.line")).unwrap();
        let first = patterns.iter().position(|(scope, _)| scope.starts_with("keyword.control")).unwrap();
        assert!(comment < first, "{name}");
    }
}
