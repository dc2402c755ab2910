//! The states around a place, in layers by the steps that lead to them.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::Value;

use super::{list, number, quoted, svg, text};

/// States and steps as SVG.
pub(super) fn svg(graph: &Value) -> String {
    let mut out = svg::empty();
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
        let colour = svg::COLOURS[number(&edge["pid"]) % 4];
        let (colour, dashes) =
            if edge["left_out"] == true { ("#d0d0cb", "stroke-dasharray=\"3 3\"") } else { (colour, "") };
        let (d, tip, turned) = if a == b {
            (
                format!("M{} {}c-10 -16 22 -16 12 0", a.0 - 6.0, a.1 - 6.0),
                (a.0 + 6.0, a.1 - 6.0),
                "l-5 -4l6 -3z",
            )
        } else if b.0 > a.0 {
            let d = format!(
                "M{} {}C{} {} {} {} {} {}",
                a.0 + 7.0,
                a.1,
                a.0 + 40.0,
                a.1,
                b.0 - 40.0,
                b.1,
                b.0 - 7.0,
                b.1
            );
            (d, (b.0 - 6.0, b.1), "l-6 -3v6z")
        } else {
            let d = format!(
                "M{} {}C{} {} {} {} {} {}",
                a.0,
                a.1 + 7.0,
                a.0,
                a.1 + 30.0,
                b.0,
                b.1 + 30.0,
                b.0,
                b.1 + 7.0
            );
            (d, (b.0, b.1 + 6.0), "l-3 6h6z")
        };
        out.path(&d, colour, dashes);
        let _ = writeln!(out.body, r#"<path d="M{} {}{turned}" fill="{colour}"/>"#, tip.0, tip.1);
    }
    for (node, (x, y)) in list(&graph["nodes"]).iter().zip(&places) {
        let fill = match text(&node["kind"]) {
            _ if node["here"] == true => svg::HERE,
            "violation" | "deadlock" => "#b3340f",
            "end" => "#14705a",
            _ => "#ffffff",
        };
        if node["here"] == true && ["violation", "deadlock"].contains(&text(&node["kind"])) {
            out.circle(*x, *y, 11.0, svg::WRONG);
        }
        out.circle(*x, *y, if node["here"] == true { 8.0 } else { 5.0 }, fill);
        out.width = out.width.max(x + 30.0);
        out.height = out.height.max(y + 30.0);
    }
    out.finish()
}

/// The same for Graphviz, with what each state is: where the processes stand, and values that are not zero. States and steps of the run are
/// drawn bold.
pub(super) fn dot(graph: &Value, states: &[Value]) -> String {
    let mut out = String::from(
        "digraph states {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n",
    );
    out.push_str("  edge [fontname=\"monospace\", fontsize=9];\n");
    let nodes = list(&graph["nodes"]);
    // By number: the step of the run after which it is in that state.
    let mut on_run: HashMap<usize, u64> = HashMap::new();
    for (node, state) in nodes.iter().zip(states) {
        let fill = match text(&node["kind"]) {
            "violation" | "deadlock" => ", style=filled, fillcolor=\"#f6c6b8\"",
            "end" => ", style=filled, fillcolor=\"#c8e6dc\"",
            _ => "",
        };
        let here = if node["here"] == true { ", peripheries=2" } else { "" };
        let pen = match node["on_run"].as_u64() {
            Some(step) => {
                on_run.insert(number(&node["id"]), step);
                ", penwidth=3"
            }
            None => "",
        };
        let _ =
            writeln!(out, "  {} [label={}{fill}{here}{pen}];", number(&node["id"]), quoted(&label(state)));
    }
    for edge in list(&graph["edges"]) {
        let (from, to) = (number(&edge["from"]), number(&edge["to"]));
        let process = states.get(from).and_then(|state| {
            list(&state["processes"])
                .iter()
                .find(|process| process["pid"] == edge["pid"])
                .map(|p| text(&p["name"]))
        });
        let said = quoted(&format!("{}: {}", process.unwrap_or_default(), text(&edge["text"])));
        // The run may come to a state again: what leads from one of its states to the one after it belongs to it.
        let followed = on_run.get(&from).zip(on_run.get(&to)).is_some_and(|(a, b)| a + 1 == *b);
        let style = match (edge["left_out"] == true, followed) {
            (_, true) => ", color=\"#b3340f\", penwidth=3",
            (true, false) => ", style=dashed",
            (false, false) => "",
        };
        let _ = writeln!(out, "  {from} -> {to} [label={said}{style}];");
    }
    out + "}\n"
}

/// Where the processes stand, and values that are not zero.
fn label(state: &Value) -> String {
    let stands = list(&state["processes"]).iter().map(|process| match process["ended"] == true {
        true => format!("{} has ended", text(&process["name"])),
        false => format!("{} @ line {}", text(&process["name"]), number(&process["line"])),
    });
    let values = list(&state["leaves"]).iter().filter_map(|leaf| {
        let value = text(&leaf["value"]["text"]);
        (!["", "0", "[]", "none", "null"].contains(&value))
            .then(|| format!("{} = {value}", text(&leaf["full"])))
    });
    stands.chain(values).map(|line| line + "\n").collect()
}
