//! A picture of a proof: the claim, the sets of states, which rule leads from which set to which. DOT, for Graphviz.

use std::collections::BTreeSet;

use quotient_proof_check::format as out;

use crate::certificate::certificate;
use crate::domain::Domain;
use crate::explain;
use crate::program::Program;
use crate::prove::{Report, Verdict};

/// Nodes drawn of one proof, at most.
const MOST: usize = 200;

struct Drawing<'p> {
    program: &'p Program,
    text: String,
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Lines of a label, not too wide.
fn label(parts: &[String]) -> String {
    let parts: Vec<String> = parts.iter().map(|p| escaped(p)).collect();
    if parts.is_empty() { "anything".into() } else { parts.join("\\n") }
}

impl Drawing<'_> {
    fn node(&mut self, id: &str, label: &str, shape: &str) {
        self.text.push_str(&format!("  {id} [shape={shape}, label=\"{label}\"];\n"));
    }

    fn edge(&mut self, from: &str, to: &str, label: &str) {
        self.text.push_str(&format!("  {from} -> {to} [label=\"{}\"];\n", escaped(label)));
    }

    /// The cells that evidence leads to, with the rules followed on the way.
    fn reached(&self, cells: &out::Cells, at: usize, found: &mut BTreeSet<usize>) {
        match &cells.evidence[at] {
            out::Evidence::Inside { cell, .. } => {
                found.insert(*cell);
            }
            out::Evidence::Follow(list) | out::Evidence::Choose(list) | out::Evidence::Rests(.., list) => {
                list.iter().for_each(|&e| self.reached(cells, e, found));
            }
            out::Evidence::Cases(_, yes, no) => {
                self.reached(cells, *yes, found);
                self.reached(cells, *no, found);
            }
            _ => {}
        }
    }

    fn cells(&mut self, prefix: &str, cells: &out::Cells) {
        for (at, cell) in cells.cells.iter().enumerate().take(MOST) {
            let mut parts = explain::cell(self.program, cell);
            if let Some(column) = cells.control {
                parts.insert(0, format!("{} = {}", self.program.columns[column], cell.point));
            }
            self.node(&format!("{prefix}c{at}"), &label(&parts), "box");
        }
        let roots = cells.facts.iter().map(|f| (None, *f));
        let roots: Vec<(Option<usize>, usize)> =
            roots.chain(cells.steps.iter().copied().enumerate().map(|(c, e)| (Some(c), e))).collect();
        for (from, at) in roots {
            let mut found = BTreeSet::new();
            self.reached(cells, at, &mut found);
            let from = from.map_or(format!("{prefix}start"), |c| format!("{prefix}c{c}"));
            found.into_iter().for_each(|to| self.edge(&from, &format!("{prefix}c{to}"), ""));
        }
        self.node(&format!("{prefix}start"), "initial states", "ellipse");
    }

    fn states(&self, domain: &Domain, states: &out::States) -> String {
        let mut parts = Vec::new();
        for (f, values) in domain.finite.iter().zip(&states.values) {
            if values.len() < f.values.len() {
                let list: Vec<String> = values.iter().map(i64::to_string).collect();
                parts.push(format!("{} in {{{}}}", self.program.columns[f.column], list.join(",")));
            }
        }
        parts.extend(states.bounds.iter().map(|l| explain::inequality(self.program, &l.terms, l.bound)));
        label(&parts)
    }

    fn table(&mut self, prefix: &str, domain: &Domain, table: &out::Unreachable) {
        for (at, states) in table.sets.iter().enumerate().take(MOST) {
            let text = self.states(domain, states);
            self.node(&format!("{prefix}s{at}"), &text, "box");
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
        let name = |a: usize| escaped(&self.program.assertions[a].name);
        match proof {
            out::Proof::Cells { assertion, cells } => {
                let claim = format!("{}\\nexcluded by every cell", name(*assertion));
                self.node(&format!("{prefix}claim"), &claim, "octagon");
                self.cells(&prefix, cells);
            }
            out::Proof::Safety { assertion, start, table, found, .. } => {
                self.node(
                    &format!("{prefix}claim"),
                    &format!("violations of {}", name(*assertion)),
                    "octagon",
                );
                let covers: BTreeSet<usize> =
                    start.iter().flat_map(|s| s.covers.iter().map(|c| c.set)).collect();
                for set in covers.into_iter().filter(|s| *s < MOST) {
                    self.edge(&format!("{prefix}claim"), &format!("{prefix}s{set}"), "");
                }
                for (at, states) in found.iter().enumerate().take(MOST) {
                    let text = self.states(domain, states);
                    self.node(&format!("{prefix}i{at}"), &format!("invariant\\n{text}"), "note");
                }
                self.table(&prefix, domain, table);
            }
            out::Proof::Relative { group, entries, .. } => {
                let names: Vec<String> = group.iter().map(|&a| name(a)).collect();
                let text = format!("{}\\n{} obligations", names.join(", "), entries.len());
                self.node(&format!("{prefix}claim"), &text, "octagon");
            }
        }
    }
}

/// All proofs of a run.
pub fn dot(program: &Program, reports: &[Report]) -> Result<String, String> {
    let written = certificate(program, reports).map_err(|o| o.to_string())?.ok_or("a proof is incomplete")?;
    let mut drawing = Drawing { program, text: "digraph proof {\n  node [fontname=monospace];\n".into() };
    let domain = Domain::of(program);
    for (number, proof) in written.proofs.iter().enumerate() {
        drawing.proof(&domain, number, proof);
    }
    for report in reports.iter().filter(|r| !matches!(r.verdict, Verdict::Proved)) {
        let name = &program.assertions[report.assertion].name;
        let text = format!("{}\\n{}", escaped(name), crate::report::word(&report.verdict));
        drawing.node(&format!("a{}", report.assertion), &text, "octagon");
    }
    drawing.text.push_str("}\n");
    Ok(drawing.text)
}
