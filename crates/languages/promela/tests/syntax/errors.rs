//! What the parser says about mistakes: each `errors/NAME.pml` is parsed, and what is reported must
//! equal `errors/NAME.stderr`.

use std::path::Path;

use quotient_promela::{ParseOptions, parse_text};
use quotient_source::{SourceMap, render};

fn reported(name: &str, text: &str) -> String {
    let mut map = SourceMap::new();
    let parsed = parse_text(&mut map, name, text, &ParseOptions::default());
    let rendered: Vec<String> = parsed.diagnostics.iter().map(|d| render(&map, d, false)).collect();
    rendered.join("\n\n") + "\n"
}

#[test]
fn messages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    quotient_testing::messages(&folder, "pml", 40, reported);
}
