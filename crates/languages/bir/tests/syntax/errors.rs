//! What is said about mistakes: each `tests/bir/errors/NAME.bir` of the repository is read and checked, and what is reported
//! must equal `NAME.stderr`.

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
    quotient_testing::messages(&folder, "bir", 60, reported);
}
