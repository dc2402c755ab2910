//! Pictures without a browser: the chart of a run, and the heap or the states around one of its places, as SVG, Mermaid or DOT. They are made
//! from the answers that the page gets.

mod chart;
mod graph;
mod heap;
mod svg;

use quotient_explain::Position;
use serde_json::{Value, json};

use crate::api;
use crate::server::{Answers, Refused};

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// The run: a row for each statement, a column for each process.
    Chart,
    /// The objects at a step.
    Heap,
    /// The states around a step.
    Graph,
}

/// In which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A drawing.
    Svg,
    /// Text for Mermaid; charts only.
    Mermaid,
    /// Text for Graphviz; heaps and graphs only.
    Dot,
}

/// Statements of a chart at most.
const MOST_ROWS: usize = 2_000;

/// Draws a run of a model or program, where a step is asked for at that one.
///
/// # Errors
/// A sentence, where there is no such picture.
pub fn draw(
    session: &dyn Answers,
    path: &str,
    step: Option<usize>,
    picture: Picture,
    format: Format,
) -> Result<String, String> {
    drawn(session, path, step, picture, format).map_err(|refused| refused.to_string())
}

fn drawn(
    session: &dyn Answers,
    path: &str,
    step: Option<usize>,
    picture: Picture,
    format: Format,
) -> Result<String, Refused> {
    let place = json!({ "path": path, "at": step });
    match (picture, format) {
        (Picture::Chart, Format::Dot) => Err("a chart is drawn as .svg or .mmd".into()),
        (Picture::Heap | Picture::Graph, Format::Mermaid) => {
            Err("heaps and graphs are drawn as .svg or .dot".into())
        }
        (Picture::Chart, _) => {
            let run = session.answer("run", &place)?;
            let mut rows: Vec<Value> = Vec::new();
            let length = run["length"].as_u64().unwrap_or(0);
            let mut from = 0;
            while from < length && rows.len() < MOST_ROWS {
                let part =
                    session.answer("steps", &json!({ "path": path, "from": from, "to": from + 256 }))?;
                rows.extend(part["rows"].as_array().cloned().unwrap_or_default());
                from += 256;
            }
            rows.truncate(MOST_ROWS);
            let waiting = match run["ending"]["kind"] == "deadlock" {
                true => session.answer("next", &json!({ "path": path, "at": length }))?["waiting"].take(),
                false => Value::Null,
            };
            let draw = if format == Format::Svg { chart::svg } else { chart::mermaid };
            Ok(draw(&run, &rows, &waiting))
        }
        (Picture::Heap, _) => {
            let heap = session.answer("heap", &place)?;
            Ok(if format == Format::Svg { heap::svg(&heap) } else { heap::dot(&heap) })
        }
        (Picture::Graph, _) => {
            let graph = session.answer("graph", &place)?;
            if format == Format::Svg {
                return Ok(graph::svg(&graph));
            }
            let states = states(session, path, &graph)?;
            Ok(graph::dot(&graph, &states))
        }
    }
}

/// The states of a graph, each as the page shows it.
fn states(session: &dyn Answers, path: &str, graph: &Value) -> Result<Vec<Value>, Refused> {
    let read = |path: &str| path.parse::<Position>().map_err(|error| Refused::from(error.to_string()));
    let mut start = read(path)?;
    start.moves.truncate(number(&graph["at"]));
    let mut states = Vec::new();
    for node in list(&graph["nodes"]) {
        let mut place = Position { moves: start.moves.clone(), checksum: start.checksum.clone() };
        for way in list(&node["moves"]) {
            place.moves.extend(read(&format!("q1:{}", text(way)))?.moves);
        }
        let at = place.moves.len();
        states.push(session.answer("state", &json!({ "path": place.to_string(), "at": at }))?);
    }
    Ok(states)
}

/// The chart of a run, for the page that exports it.
pub(crate) fn answer(session: &dyn Answers, body: &Value) -> Result<api::Drawn, Refused> {
    let path = body["path"].as_str().ok_or("a question needs a `path`")?;
    let format = if body["format"] == "mermaid" { Format::Mermaid } else { Format::Svg };
    Ok(api::Drawn { text: drawn(session, path, None, Picture::Chart, format)? })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap_or(0) as usize
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\l"))
}
