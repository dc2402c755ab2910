//! `quotient draw`: pictures of a counterexample, without a browser.

use std::path::Path;
use std::sync::Arc;

use quotient_explorer::draw::{Format, Picture, draw};
use quotient_explorer::session::Opening;
use quotient_explorer::{Program, Session, checking};

use super::native::Explored;
use super::schedule_file::ScheduleFile;
use super::{options, replay, statistics, status, watch};

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
    if let Some(moments) = statistics::read(&options.file) {
        if options.chart
            || options.heap
            || options.graph
            || options.step.is_some()
            || !matches!(format, Format::Svg)
        {
            return Err("error: statistics of a search are drawn as one picture: write .svg, without --chart, --heap, --graph and --step".into());
        }
        if same_file(&options.output, &options.file) {
            return Err(format!("error: {} would be written over", options.file.display()));
        }
        return keep(options, Ok(statistics::plot(&moments)));
    }
    if let Some(file) = ScheduleFile::read(&options.file) {
        return draw_program(options, &file, picture, format);
    }
    let replay::Opened { file, path, question, model, .. } = replay::open(&options.file, None)?;
    for spared in [options.file.as_path(), path.as_path()] {
        if same_file(&options.output, spared) {
            return Err(format!("error: {} would be written over", spared.display()));
        }
    }
    let found = checking::in_position(&model, question, &file.choices, file.cycle, replay::how(&file));
    let (position, cycle) = found.ok_or("error: the model has no run like the one in the trace")?;
    let position = super::explore::to_its_end(&model, position, &file.kind);
    let text = position.to_string();
    let opening = Opening { position, cycle, ..Opening::default() };
    let name = path.display().to_string();
    let session =
        Session::new(Arc::new(model), name, file.defines, opening).map_err(|e| format!("error: {e}"))?;
    keep(options, draw(&session, &text, options.step, picture, format))
}

/// Draws the run of a C or C++ program, which is run for it.
fn draw_program(
    options: &options::Draw,
    file: &ScheduleFile,
    picture: Picture,
    format: Format,
) -> Result<(), String> {
    if picture != Picture::Chart {
        return Err("error: of a C or C++ program only the chart is drawn".into());
    }
    for spared in [options.file.as_path(), file.program.as_path()] {
        if same_file(&options.output, spared) {
            return Err(format!("error: {} would be written over", spared.display()));
        }
    }
    let native = file.options();
    let of =
        Explored { file: &file.program, native: &native, defines: &file.defines, includes: &file.includes };
    let token = file.schedule.parse().map_err(|error| format!("error: {error}"))?;
    let program = Program::new(of.settings(token, None));
    let path = program.run_opening().map_err(|error| format!("error: {error}"))?;
    keep(options, draw(&program, &path, options.step, picture, format))
}

/// Writes the picture.
fn keep(options: &options::Draw, drawn: Result<String, String>) -> Result<(), String> {
    let drawn = drawn.map_err(|why| format!("error: {why}"))?;
    std::fs::write(&options.output, drawn)
        .map_err(|error| format!("error: cannot write {}: {error}", options.output.display()))
}

/// Are two paths the same file?
fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
