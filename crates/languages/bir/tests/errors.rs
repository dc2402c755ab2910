//! What is said about mistakes: each `tests/bir/errors/NAME.bir` of the repository is read and checked, and what is
//! reported must equal `NAME.stderr`. `QUOTIENT_BLESS=1 cargo test` writes the expected files anew.

use std::fs;
use std::path::Path;

use quotient_bir::{LowerOptions, lower, parse_text};
use quotient_source::{SourceMap, render};

fn reported(name: &str, text: &str) -> String {
    let mut map = SourceMap::new();
    let parsed = parse_text(&mut map, name, text);
    let mut diagnostics = parsed.diagnostics;
    if let Some(system) = parsed.system
        && !diagnostics.has_errors()
    {
        diagnostics.extend(lower(&system, &map, &LowerOptions::default()).diagnostics);
    }
    let rendered: Vec<String> = diagnostics.iter().map(|d| render(&map, d, false)).collect();
    rendered.join("\n\n") + "\n"
}

#[test]
fn messages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/bir/errors");
    let bless = std::env::var_os("QUOTIENT_BLESS").is_some();
    let mut models: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    models.retain(|path| path.extension().is_some_and(|e| e == "bir"));
    models.sort();
    assert!(models.len() >= 60, "only {} models", models.len());
    let mut differing = Vec::new();
    for path in models {
        let name = path.file_name().unwrap().to_string_lossy().to_string();
        let found = reported(&name, &fs::read_to_string(&path).unwrap());
        assert!(found.contains("error"), "{name} reports nothing");
        let expected = path.with_extension("stderr");
        if bless {
            fs::write(&expected, &found).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != found {
            differing.push(format!("--- {name}\n{found}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
