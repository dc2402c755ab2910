//! The heap of a state: objects in columns by how far they are from the roots.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::Value;

use super::{list, number, quoted, svg, text};

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

/// The objects of a state as SVG.
pub(super) fn svg(heap: &Value) -> String {
    let mut out = svg::empty();
    let places = boxes(heap);
    for node in list(&heap["nodes"]) {
        let (x, y, height) = places[text(&node["id"])];
        let radius = if node["kind"] == "root" { 12 } else { 4 };
        let _ = writeln!(
            out.body,
            r##"<rect x="{x}" y="{y}" width="190" height="{height}" rx="{radius}" fill="#fcfcfb" stroke="#d0d0cb"/>"##
        );
        out.width = out.width.max(x + 210.0);
        out.height = out.height.max(y + height + 16.0);
        // As on the page: a root has its process's colour, and every second reference of a node is dashed.
        let colour = node["pid"].as_u64().map_or("#6c7178", |pid| svg::COLOURS[(pid % 4) as usize]);
        out.text(x + 8.0, y + 17.0, "head", text(&node["name"]));
        let mut line = y + 35.0;
        if let Some(name) = node["lock"]["name"].as_str() {
            out.text(x + 8.0, line, "dim", &format!("held by {name}"));
            line += 18.0;
        }
        for (index, field) in list(&node["fields"]).iter().enumerate() {
            let class = if field["changed"] == true { "changed" } else { "" };
            let to = field["to"].as_str().and_then(|to| places.get(to));
            let shown = if to.is_some() { "" } else { text(&field["text"]) };
            out.text(x + 8.0, line, class, &format!("{} {shown}", text(&field["name"])));
            if let Some((tx, ty, _)) = to {
                let (sx, sy) = (x + 190.0, line - 4.0);
                let (ex, ey) = if *tx > x { (*tx, ty + 13.0) } else { (tx + 190.0, ty + 13.0) };
                let bend = if *tx > x { -30.0 } else { 30.0 };
                let d = format!("M{sx} {sy}C{} {sy} {} {ey} {ex} {ey}", sx + 30.0, ex + bend);
                let dashes = if index % 2 == 1 { "stroke-dasharray=\"4 3\"" } else { "" };
                out.path(&d, colour, &format!("stroke-width=\"1.3\" {dashes}"));
                out.head(ex, ey, *tx > x, colour);
            }
            line += 18.0;
        }
    }
    if list(&heap["nodes"]).is_empty() {
        out.text(16.0, 32.0, "dim", "There are no objects in this state.");
    }
    out.finish()
}

/// The same for Graphviz.
pub(super) fn dot(heap: &Value) -> String {
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
