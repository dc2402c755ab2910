//! Pictures without a browser: the chart of a run, and the heap or the states around one of its places, as SVG, Mermaid or DOT. They are made
//! from the answers that the page gets.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::server::Answers;

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

const COLOURS: [&str; 4] = ["#0a62a9", "#a65300", "#00705a", "#6b1f5e"];

/// Draws a run of a model or program, where a step is asked for at that one.
pub fn draw(
    session: &dyn Answers,
    path: &str,
    step: Option<usize>,
    picture: Picture,
    format: Format,
) -> Result<String, String> {
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
            Ok(if format == Format::Svg { chart(&run, &rows) } else { mermaid(&run, &rows) })
        }
        (Picture::Heap, _) => {
            let heap = session.answer("heap", &place)?;
            Ok(if format == Format::Svg { heap_svg(&heap) } else { heap_dot(&heap) })
        }
        (Picture::Graph, _) => {
            let graph = session.answer("graph", &place)?;
            Ok(if format == Format::Svg { graph_svg(&graph) } else { graph_dot(&graph) })
        }
    }
}

/// The chart of a run, for the page that exports it.
pub(crate) fn answer(session: &dyn Answers, body: &Value) -> Result<Value, String> {
    let path = body["path"].as_str().ok_or("a question needs a `path`")?;
    let format = if body["format"] == "mermaid" { Format::Mermaid } else { Format::Svg };
    Ok(json!({ "text": draw(session, path, None, Picture::Chart, format)? }))
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

/// What a row says: its effect, as on the page.
fn label(row: &Value) -> String {
    let event = &row["events"][0];
    let message = || {
        let fields: Vec<&str> = list(&event["message"]).iter().map(|v| text(&v["text"])).collect();
        match &fields[..] {
            [first, rest @ ..] if !rest.is_empty() && event["message"][0]["kind"] == "constant" => {
                format!("{first}({})", rest.join(", "))
            }
            all => all.join(", "),
        }
    };
    match text(&event["kind"]) {
        "send" => return format!("{} ! {}", text(&event["channel"]), message()),
        "receive" => return format!("{} ? {}", text(&event["channel"]), message()),
        "assert" => return format!("assert {}", text(&event["text"])),
        "start" => return format!("starts {}", text(&event["process"])),
        "end" => return "ends".into(),
        "timeout" | "new" | "" => {}
        kind => return format!("{kind} {}", text(&event["object"])),
    }
    let writes = list(&row["writes"]).iter().filter(|w| !w["before"].is_null() && !w["after"].is_null());
    let writes: Vec<String> = writes
        .map(|w| {
            let (before, after) = (text(&w["before"]["text"]), text(&w["after"]["text"]));
            let name = text(&w["name"]);
            if before == after { format!("{name} = {after}") } else { format!("{name} {before} → {after}") }
        })
        .collect();
    if writes.is_empty() { text(&row["text"]).to_owned() } else { writes.join("  ") }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

struct Svg {
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    fn text(&mut self, x: f64, y: f64, class: &str, said: &str) {
        let _ = writeln!(self.body, r#"<text x="{x:.1}" y="{y:.1}" class="{class}">{}</text>"#, escape(said));
        self.width = self.width.max(x + 7.3 * said.chars().count() as f64 + 16.0);
        self.height = self.height.max(y + 20.0);
    }

    fn path(&mut self, d: &str, colour: &str, more: &str) {
        let _ = writeln!(self.body, r#"<path d="{d}" fill="none" stroke="{colour}" {more}/>"#);
    }

    fn circle(&mut self, x: f64, y: f64, r: f64, fill: &str) {
        let _ = writeln!(
            self.body,
            r##"<circle cx="{x:.1}" cy="{y:.1}" r="{r}" fill="{fill}" stroke="#5b6068" stroke-width="0.5"/>"##
        );
    }

    fn finish(self) -> String {
        let Svg { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
             <style>text{{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1a1c1f}}.dim{{fill:#6c7178}}.head{{font-weight:600}}\
             .wrong{{fill:#b3340f;font-weight:600}}.changed{{fill:#8a5a00;font-weight:600}}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
        )
    }
}

fn svg() -> Svg {
    Svg { width: 200.0, height: 60.0, body: String::new() }
}

/// The processes of a run, with their columns.
fn columns(run: &Value) -> Vec<(u64, String)> {
    let processes = list(&run["processes"]).iter();
    processes.map(|p| (p["pid"].as_u64().unwrap_or(0), text(&p["name"]).to_owned())).collect()
}

fn chart(run: &Value, rows: &[Value]) -> String {
    let mut out = svg();
    let columns = columns(run);
    let longest = rows.iter().map(|r| label(r).chars().count()).max().unwrap_or(10);
    let each = (7.3 * longest as f64 + 44.0).clamp(120.0, 360.0);
    let x = |pid: u64| 60.0 + each * columns.iter().position(|(p, _)| *p == pid).unwrap_or(0) as f64;
    let y = |row: usize| 56.0 + 24.0 * row as f64;
    let bottom = y(rows.len());
    for (pid, name) in &columns {
        out.text(x(*pid) - 4.0, 24.0, "head", name);
        out.path(&format!("M{} 34V{bottom}", x(*pid)), "#d0d0cb", "");
    }
    let failed = run["ending"]["kind"] == "violation";
    for (index, row) in rows.iter().enumerate() {
        let pid = row["pid"].as_u64().unwrap_or(0);
        let colour = COLOURS[(pid % 4) as usize];
        if index == 0 || rows[index - 1]["step"] != row["step"] {
            out.text(14.0, y(index) + 4.0, "dim", &number(&row["step"]).to_string());
        }
        let wrong = failed && index + 1 == rows.len() && run["length"] == row["step"];
        if let Some(sender) = run["rows"]["sent_by"][index].as_u64() {
            let from = run["rows"]["pid"][sender as usize].as_u64().unwrap_or(0);
            let colour = COLOURS[(from % 4) as usize];
            let side = if x(from) <= x(pid) { -9.0 } else { 9.0 };
            let (sy, ey) = (y(sender as usize), y(index));
            let d = format!("M{} {}V{}H{}V{ey}h{}", x(from), sy + 4.0, sy + 12.0, x(pid) + side, -side / 2.0);
            out.path(&d, colour, "stroke-width=\"1.4\"");
        }
        if let Some(partner) = row["events"][0]["partner"].as_u64() {
            out.path(&format!("M{} {}H{}", x(pid), y(index), x(partner)), colour, "stroke-width=\"1.4\"");
            out.circle(x(partner), y(index), 3.0, colour);
        }
        out.circle(x(pid), y(index), if wrong { 6.0 } else { 4.0 }, if wrong { "#b3340f" } else { colour });
        let mut said = label(row);
        if let Some(values) = row["failed"]["values"].as_str() {
            let _ = write!(said, "   {values}");
        }
        out.text(x(pid) + 12.0, y(index) + 4.0, if wrong { "wrong" } else { "" }, &said);
    }
    let ending = match text(&run["ending"]["kind"]) {
        "violation" => text(&run["ending"]["message"]),
        "deadlock" => "nobody can go on",
        _ => "",
    };
    if !ending.is_empty() {
        out.text(14.0, bottom + 14.0, "wrong", ending);
    }
    out.finish()
}

fn mermaid(run: &Value, rows: &[Value]) -> String {
    let mut out = String::from("sequenceDiagram\n");
    let clean = |s: &str| s.replace([';', '#'], " ").replace('\n', " ");
    for (pid, name) in columns(run) {
        let _ = writeln!(out, "  participant P{pid} as {}", clean(&name));
    }
    for (index, row) in rows.iter().enumerate() {
        let pid = row["pid"].as_u64().unwrap_or(0);
        let said = clean(&label(row));
        let sender = run["rows"]["sent_by"][index].as_u64();
        let sender = sender.and_then(|row| run["rows"]["pid"][row as usize].as_u64());
        match (sender, row["events"][0]["partner"].as_u64()) {
            (Some(from), _) => drop(writeln!(out, "  P{from}->>P{pid}: {said}")),
            (None, Some(to)) => drop(writeln!(out, "  P{pid}->>P{to}: {said}")),
            // What is received later is an arrow there.
            (None, None) => drop(writeln!(out, "  Note over P{pid}: {} {said}", number(&row["step"]))),
        }
    }
    out
}

/// Where the boxes of a heap are: in columns by layer.
fn boxes(heap: &Value) -> HashMap<String, (f64, f64, f64)> {
    let mut next: HashMap<usize, f64> = HashMap::new();
    let mut places = HashMap::new();
    for node in list(&heap["nodes"]) {
        let layer = number(&node["layer"]);
        let height =
            26.0 + 18.0 * (list(&node["fields"]).len() + usize::from(!node["lock"].is_null())) as f64;
        let y = next.entry(layer).or_insert(16.0);
        places.insert(text(&node["id"]).to_owned(), (16.0 + 260.0 * layer as f64, *y, height + 6.0));
        *y += height + 24.0;
    }
    places
}

fn heap_svg(heap: &Value) -> String {
    let mut out = svg();
    let places = boxes(heap);
    for node in list(&heap["nodes"]) {
        let (x, y, height) = places[text(&node["id"])];
        let radius = if node["kind"] == "root" { 12 } else { 4 };
        let _ = writeln!(
            out.body,
            r##"<rect x="{x}" y="{y}" width="190" height="{height}" rx="{radius}" fill="#fcfcfb" stroke="#d0d0cb"/>"##
        );
        out.width = out.width.max(x + 210.0);
        out.text(x + 8.0, y + 17.0, "head", text(&node["name"]));
        let mut line = y + 35.0;
        if let Some(name) = node["lock"]["name"].as_str() {
            out.text(x + 8.0, line, "dim", &format!("held by {name}"));
            line += 18.0;
        }
        for field in list(&node["fields"]) {
            let class = if field["changed"] == true { "changed" } else { "" };
            let to = field["to"].as_str().and_then(|to| places.get(to));
            let shown = if to.is_some() { "" } else { text(&field["text"]) };
            out.text(x + 8.0, line, class, &format!("{} {shown}", text(&field["name"])));
            if let Some((tx, ty, _)) = to {
                let (sx, sy) = (x + 190.0, line - 4.0);
                let (ex, ey) = if *tx > x { (*tx, ty + 13.0) } else { (tx + 190.0, ty + 13.0) };
                let bend = if *tx > x { -30.0 } else { 30.0 };
                let d = format!("M{sx} {sy}C{} {sy} {} {ey} {ex} {ey}", sx + 30.0, ex + bend);
                out.path(&d, "#6c7178", "stroke-width=\"1.3\"");
                out.circle(ex, ey, 2.5, "#6c7178");
            }
            line += 18.0;
        }
    }
    out.finish()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn heap_dot(heap: &Value) -> String {
    let mut out = String::from("digraph heap {\n  rankdir=LR;\n  node [shape=box, fontname=monospace];\n");
    for node in list(&heap["nodes"]) {
        let mut said = text(&node["name"]).to_owned();
        for field in list(&node["fields"]).iter().filter(|f| f["to"].is_null()) {
            let _ = write!(said, "\\n{} {}", text(&field["name"]), text(&field["text"]));
        }
        let id = quoted(text(&node["id"]));
        let _ = writeln!(out, "  {id} [label={}];", quoted(&said).replace("\\\\n", "\\n"));
        for field in list(&node["fields"]) {
            if let Some(to) = field["to"].as_str() {
                let _ = writeln!(out, "  {id} -> {} [label={}];", quoted(to), quoted(text(&field["name"])));
            }
        }
    }
    out + "}\n"
}

fn graph_svg(graph: &Value) -> String {
    let mut out = svg();
    let mut in_layer: HashMap<usize, usize> = HashMap::new();
    let places: Vec<(f64, f64)> = list(&graph["nodes"])
        .iter()
        .map(|node| {
            let layer = number(&node["layer"]);
            let row = in_layer.entry(layer).or_default();
            *row += 1;
            (30.0 + 84.0 * layer as f64, 30.0 + 34.0 * (*row - 1) as f64 + 10.0 * (layer % 2) as f64)
        })
        .collect();
    for edge in list(&graph["edges"]) {
        let (Some(a), Some(b)) = (places.get(number(&edge["from"])), places.get(number(&edge["to"]))) else {
            continue;
        };
        let colour = COLOURS[number(&edge["pid"]) % 4];
        let (colour, dashes) =
            if edge["left_out"] == true { ("#d0d0cb", "stroke-dasharray=\"3 3\"") } else { (colour, "") };
        let d = if b.0 > a.0 {
            format!(
                "M{} {}C{} {} {} {} {} {}",
                a.0 + 7.0,
                a.1,
                a.0 + 40.0,
                a.1,
                b.0 - 40.0,
                b.1,
                b.0 - 7.0,
                b.1
            )
        } else {
            format!(
                "M{} {}C{} {} {} {} {} {}",
                a.0,
                a.1 + 7.0,
                a.0,
                a.1 + 30.0,
                b.0,
                b.1 + 30.0,
                b.0,
                b.1 + 7.0
            )
        };
        out.path(&d, colour, dashes);
    }
    for (node, (x, y)) in list(&graph["nodes"]).iter().zip(&places) {
        let fill = match text(&node["kind"]) {
            _ if node["here"] == true => "#1d5fc4",
            "violation" | "deadlock" => "#b3340f",
            "end" => "#14705a",
            _ => "#ffffff",
        };
        out.circle(*x, *y, if node["here"] == true { 8.0 } else { 5.0 }, fill);
        out.width = out.width.max(x + 30.0);
        out.height = out.height.max(y + 30.0);
    }
    out.finish()
}

fn graph_dot(graph: &Value) -> String {
    let mut out = String::from("digraph states {\n  rankdir=LR;\n  node [shape=circle, label=\"\"];\n");
    for node in list(&graph["nodes"]) {
        let fill = match text(&node["kind"]) {
            _ if node["here"] == true => "lightblue",
            "violation" | "deadlock" => "red",
            "end" => "green",
            _ => "white",
        };
        let _ = writeln!(out, "  {} [style=filled, fillcolor={fill}];", number(&node["id"]));
    }
    for edge in list(&graph["edges"]) {
        let style = if edge["left_out"] == true { ", style=dashed" } else { "" };
        let said = quoted(&format!("{}: {}", number(&edge["pid"]), text(&edge["text"])));
        let (from, to) = (number(&edge["from"]), number(&edge["to"]));
        let _ = writeln!(out, "  {from} -> {to} [label={said}{style}];");
    }
    out + "}\n"
}
