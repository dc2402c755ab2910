//! A picture of a proof: the claim, the sets of states, which rule leads from which set to which. DOT for Graphviz, or SVG
//! (`svg.rs`), which needs no other program.

mod svg;

use std::collections::BTreeSet;

use quotient_proof_check::format as out;

use crate::certificate::certificate;
use crate::domain::Domain;
use crate::explain;
use crate::program::Program;
use crate::prove::{Report, Verdict};

/// Nodes drawn of one proof, at most.
const MOST: usize = 200;

/// How a node is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A set of states.
    Set,
    /// A set of states that is part of an invariant.
    Invariant,
    /// An assertion.
    Claim,
    /// Where it starts.
    Start,
}

struct Node {
    /// The proof it belongs to.
    proof: usize,
    id: String,
    lines: Vec<String>,
    shape: Shape,
}

/// Nodes and edges, by the names of nodes.
#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    edges: Vec<(String, String, String)>,
}

struct Drawing<'p> {
    program: &'p Program,
    graph: Graph,
    /// The proof that is being drawn.
    proof: usize,
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

impl Graph {
    fn dot(&self) -> String {
        let mut text = String::from("digraph proof {\n  node [fontname=monospace];\n");
        for Node { id, lines, shape, .. } in &self.nodes {
            let shape = match shape {
                Shape::Set => "box",
                Shape::Invariant => "note",
                Shape::Claim => "octagon",
                Shape::Start => "ellipse",
            };
            let lines: Vec<String> = lines.iter().map(|l| escaped(l)).collect();
            text.push_str(&format!("  {id} [shape={shape}, label=\"{}\"];\n", lines.join("\\n")));
        }
        for (from, to, label) in &self.edges {
            text.push_str(&format!("  {from} -> {to} [label=\"{}\"];\n", escaped(label)));
        }
        text.push_str("}\n");
        text
    }
}

/// What a set says, one part on each line.
fn parts_or_anything(parts: Vec<String>) -> Vec<String> {
    if parts.is_empty() { vec!["anything".into()] } else { parts }
}

impl Drawing<'_> {
    fn node(&mut self, id: String, lines: Vec<String>, shape: Shape) {
        self.graph.nodes.push(Node { proof: self.proof, id, lines, shape });
    }

    fn edge(&mut self, from: &str, to: &str, label: &str) {
        self.graph.edges.push((from.into(), to.into(), label.into()));
    }

    /// The cells that evidence leads to, with the rules followed on the way.
    fn reached(&self, cells: &out::Cells, at: usize, found: &mut BTreeSet<usize>) {
        match &cells.evidence[at] {
            out::Evidence::Inside { cell, .. } | out::Evidence::Outside(cell, _) => {
                found.insert(*cell);
            }
            out::Evidence::Follow(list) | out::Evidence::Choose(_, list) | out::Evidence::Rests(.., list) => {
                list.iter().for_each(|&e| self.reached(cells, e, found));
            }
            out::Evidence::Cases(_, yes, no) => {
                self.reached(cells, *yes, found);
                self.reached(cells, *no, found);
            }
            out::Evidence::Forced(_, child) => self.reached(cells, *child, found),
            _ => {}
        }
    }

    fn cells(&mut self, prefix: &str, cells: &out::Cells) {
        for (at, cell) in cells.cells.iter().enumerate().take(MOST) {
            let mut parts = explain::cell(self.program, cell);
            if let Some(column) = cells.control {
                parts.insert(0, format!("{} = {}", self.program.columns[column], cell.point));
            }
            self.node(format!("{prefix}c{at}"), parts_or_anything(parts), Shape::Set);
        }
        let roots = cells.facts.iter().map(|f| (None, *f));
        let roots: Vec<(Option<usize>, usize)> =
            roots.chain(cells.steps.iter().copied().enumerate().map(|(c, e)| (Some(c), e))).collect();
        for (from, at) in roots {
            let mut found = BTreeSet::new();
            self.reached(cells, at, &mut found);
            if from.is_some_and(|c| c >= MOST) {
                continue;
            }
            let from = from.map_or(format!("{prefix}start"), |c| format!("{prefix}c{c}"));
            let drawn = found.into_iter().filter(|c| *c < MOST);
            drawn.for_each(|to| self.edge(&from, &format!("{prefix}c{to}"), ""));
        }
        self.node(format!("{prefix}start"), vec!["initial states".into()], Shape::Start);
    }

    fn states(&self, domain: &Domain, states: &out::States) -> Vec<String> {
        let mut parts = Vec::new();
        for (f, values) in domain.finite.iter().zip(&states.values) {
            if values.len() < f.values.len() {
                let list: Vec<String> = values.iter().map(i64::to_string).collect();
                parts.push(format!("{} in {{{}}}", self.program.columns[f.column], list.join(",")));
            }
        }
        parts.extend(states.bounds.iter().map(|l| explain::inequality(self.program, &l.terms, l.bound)));
        parts_or_anything(parts)
    }

    fn table(&mut self, prefix: &str, domain: &Domain, table: &out::Unreachable) {
        for (at, states) in table.sets.iter().enumerate().take(MOST) {
            let text = self.states(domain, states);
            self.node(format!("{prefix}s{at}"), text, Shape::Set);
            for (rule, covers) in table.covers[at].iter().enumerate() {
                for cover in covers.iter().filter(|c| c.set < MOST) {
                    let by = if cover.path.is_empty() { "" } else { ", mapped" };
                    let (from, to) = (format!("{prefix}s{at}"), format!("{prefix}s{}", cover.set));
                    self.edge(&from, &to, &format!("before rule {}{by}", rule + 1));
                }
            }
        }
    }

    fn proof(&mut self, domain: &Domain, number: usize, proof: &out::Proof) {
        let prefix = format!("p{number}");
        let name = |a: usize| self.program.assertions[a].name.clone();
        let claim = match proof {
            out::Proof::Cells { assertion, .. } => vec![name(*assertion), "excluded by every cell".into()],
            out::Proof::Safety { assertion, .. } => vec![format!("violations of {}", name(*assertion))],
            out::Proof::Renamed { assertion } => {
                vec![name(*assertion), "takes each rule to a rule".into()]
            }
            out::Proof::Listed { assertion, states } => {
                vec![name(*assertion), format!("{} states, each with a partner", states.len())]
            }
            out::Proof::Relative { group, entries, .. } => {
                let names: Vec<String> = group.iter().map(|&a| name(a)).collect();
                vec![names.join(", "), format!("{} obligations", entries.len())]
            }
        };
        self.node(format!("{prefix}claim"), claim, Shape::Claim);
        match proof {
            out::Proof::Cells { cells, .. } => self.cells(&prefix, cells),
            out::Proof::Safety { start, table, found, .. } => {
                let covers: BTreeSet<usize> =
                    start.iter().flat_map(|s| s.covers.iter().map(|c| c.set)).collect();
                for set in covers.into_iter().filter(|s| *s < MOST) {
                    self.edge(&format!("{prefix}claim"), &format!("{prefix}s{set}"), "");
                }
                for (at, states) in found.iter().enumerate().take(MOST) {
                    let mut text = vec!["invariant".to_string()];
                    text.extend(self.states(domain, states));
                    self.node(format!("{prefix}i{at}"), text, Shape::Invariant);
                }
                self.table(&prefix, domain, table);
            }
            out::Proof::Listed { .. } | out::Proof::Renamed { .. } | out::Proof::Relative { .. } => {}
        }
    }
}

/// All proofs of a run.
fn graph(program: &Program, reports: &[Report]) -> Result<Graph, String> {
    let written = certificate(program, reports).map_err(|o| o.to_string())?.ok_or("a proof is incomplete")?;
    let mut drawing = Drawing { program, graph: Graph::default(), proof: 0 };
    let domain = Domain::of(program);
    for (number, proof) in written.proofs.iter().enumerate() {
        drawing.proof = number;
        drawing.proof(&domain, number, proof);
    }
    drawing.proof = written.proofs.len();
    for report in reports.iter().filter(|r| !matches!(r.verdict, Verdict::Proved)) {
        let name = program.assertions[report.assertion].name.clone();
        let lines = vec![name, crate::report::word(&report.verdict).to_string()];
        drawing.node(format!("a{}", report.assertion), lines, Shape::Claim);
    }
    Ok(drawing.graph)
}

/// All proofs of a run, for Graphviz.
pub fn dot(program: &Program, reports: &[Report]) -> Result<String, String> {
    Ok(graph(program, reports)?.dot())
}

/// All proofs of a run, drawn.
pub fn svg(program: &Program, reports: &[Report]) -> Result<String, String> {
    Ok(svg::draw(&graph(program, reports)?))
}
