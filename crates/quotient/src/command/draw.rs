//! `quotient draw`: pictures of a counterexample, without a browser.

use std::path::Path;
use std::sync::Arc;

use quotient_explorer::draw::{Format, Picture, draw};
use quotient_explorer::session::Opening;
use quotient_explorer::{Session, checking};

use super::{options, replay, status, watch};

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &options::Draw) -> u8 {
    watch::about(&options.file, false);
    match write(options) {
        Ok(()) => status::HOLDS,
        Err(message) => {
            eprintln!("{message}");
            status::ERROR
        }
    }
}

fn write(options: &options::Draw) -> Result<(), String> {
    let format = match options.output.extension().and_then(|e| e.to_str()) {
        Some("svg") => Format::Svg,
        Some("mmd" | "mermaid") => Format::Mermaid,
        Some("dot" | "gv") => Format::Dot,
        _ => {
            let name = options.output.display();
            return Err(format!("error: {name}: unknown kind of picture; write .svg, .mmd or .dot"));
        }
    };
    let picture = match () {
        () if options.heap => Picture::Heap,
        () if options.graph => Picture::Graph,
        () => Picture::Chart,
    };
    let replay::Opened { file, path, question, model, .. } = replay::open(&options.file, None)?;
    for spared in [options.file.as_path(), path.as_path()] {
        if same_file(&options.output, spared) {
            return Err(format!("error: {} would be written over", spared.display()));
        }
    }
    let found = checking::in_position(&model, question, &file.choices, file.cycle, file.raw);
    let (position, cycle) = found.ok_or("error: the model has no run like the one in the trace")?;
    let text = position.to_string();
    let opening = Opening { position, cycle, ..Opening::default() };
    let name = path.display().to_string();
    let session =
        Session::new(Arc::new(model), name, file.defines, opening).map_err(|e| format!("error: {e}"))?;
    let drawn =
        draw(&session, &text, options.step, picture, format).map_err(|why| format!("error: {why}"))?;
    std::fs::write(&options.output, drawn)
        .map_err(|error| format!("error: cannot write {}: {error}", options.output.display()))
}

/// Are two paths the same file?
fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
