//! The graph as SVG: nodes in layers by their distance from where a proof starts, one proof below the other.
//!
//! Labels of edges are titles, which browsers show under the mouse: there are too many of them for the picture.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Write;

use super::{Graph, Node, Shape};

const CHARACTER: usize = 7;
const LINE: usize = 16;
const MARGIN: usize = 10;
/// Between nodes of a layer, and between layers.
const GAP: usize = 24;
const LAYER_GAP: usize = 56;
/// Rows of a layer are not wider than this, if they have several nodes.
const WIDEST: usize = 1800;

/// A node's rectangle.
#[derive(Clone, Copy, Default)]
struct Place {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

fn size(node: &Node) -> (usize, usize) {
    let widest = node.lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    (widest * CHARACTER + 2 * MARGIN, node.lines.len() * LINE + 2 * MARGIN)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// For each node its layer: the distance from a node that nothing leads to, or else from the first of its kind.
fn layers(graph: &Graph, edges: &[(usize, usize, &str)]) -> Vec<usize> {
    let mut layer = vec![usize::MAX; graph.nodes.len()];
    let mut next = vec![Vec::new(); graph.nodes.len()];
    let mut entered = vec![false; graph.nodes.len()];
    for &(from, to, _) in edges.iter().filter(|e| e.0 != e.1) {
        next[from].push(to);
        entered[to] = true;
    }
    let mut order: Vec<usize> = (0..graph.nodes.len()).filter(|&n| !entered[n]).collect();
    order.extend((0..graph.nodes.len()).filter(|&n| entered[n]));
    for root in order {
        if layer[root] != usize::MAX {
            continue;
        }
        layer[root] = 0;
        let mut queue = VecDeque::from([root]);
        while let Some(at) = queue.pop_front() {
            for &to in &next[at] {
                if layer[to] == usize::MAX {
                    layer[to] = layer[at] + 1;
                    queue.push_back(to);
                }
            }
        }
    }
    layer
}

/// Rows of nodes from `top` on; where the last one ends.
fn rows(graph: &Graph, row: &[usize], top: usize, places: &mut [Place]) -> usize {
    let (mut x, mut y, mut tallest) = (MARGIN, top, 0);
    for &node in row {
        let (width, height) = size(&graph.nodes[node]);
        if x > MARGIN && x + width > WIDEST {
            (x, y, tallest) = (MARGIN, y + tallest + GAP, 0);
        }
        places[node] = Place { x, y, width, height };
        x += width + GAP;
        tallest = tallest.max(height);
    }
    y + tallest
}

/// The picture.
pub fn draw(graph: &Graph) -> String {
    let number: HashMap<&str, usize> =
        graph.nodes.iter().enumerate().map(|(at, n)| (n.id.as_str(), at)).collect();
    let edges: Vec<(usize, usize, &str)> = graph
        .edges
        .iter()
        .filter_map(|(from, to, label)| {
            Some((*number.get(from.as_str())?, *number.get(to.as_str())?, label.as_str()))
        })
        .collect();
    let layer = layers(graph, &edges);
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        groups.entry(node.proof).or_default().push(at);
    }
    let mut places = vec![Place::default(); graph.nodes.len()];
    let mut top = MARGIN;
    for nodes in groups.values() {
        let deepest = nodes.iter().map(|&n| layer[n]).max().unwrap_or(0);
        for depth in 0..=deepest {
            let row: Vec<usize> = nodes.iter().copied().filter(|&n| layer[n] == depth).collect();
            top = rows(graph, &row, top, &mut places) + LAYER_GAP;
        }
    }
    let width = places.iter().map(|p| p.x + p.width).max().unwrap_or(0) + 6 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{top}\" font-family=\"monospace\" font-size=\"11\">\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0 L8 4 L0 8 z\" fill=\"#555\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    // Writing to a string does not fail.
    for &(from, to, label) in &edges {
        let (a, b) = (places[from], places[to]);
        let path = if b.y > a.y {
            let (x, y, u, v) = (a.x + a.width / 2, a.y + a.height, b.x + b.width / 2, b.y);
            let middle = y.midpoint(v);
            format!("M{x} {y} C{x} {middle} {u} {middle} {u} {v}")
        } else {
            // Back up, or to itself: around the right side.
            let (x, y, u, v) = (a.x + a.width, a.y + a.height / 2, b.x + b.width, b.y + b.height / 3);
            let side = x.max(u) + 4 * MARGIN;
            format!("M{x} {y} C{side} {y} {side} {v} {u} {v}")
        };
        let _ = writeln!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"#999\" marker-end=\"url(#tip)\"><title>{}</title></path>",
            escaped(label)
        );
    }
    for (node, place) in graph.nodes.iter().zip(&places) {
        let (fill, round) = match node.shape {
            Shape::Set => ("#eef3ff", 0),
            Shape::Invariant => ("#effbe9", 0),
            Shape::Claim => ("#ffe9e0", 8),
            Shape::Start => ("#ffffff", 20),
        };
        let Place { x, y, width, height } = *place;
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{round}\" fill=\"{fill}\" stroke=\"#333\"/>"
        );
        for (line, text) in node.lines.iter().enumerate() {
            let (x, y) = (x + MARGIN, y + MARGIN + line * LINE + 11);
            let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(text));
        }
    }
    out.push_str("</svg>\n");
    out
}
