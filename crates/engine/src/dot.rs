//! The state graph of a small model as a drawing for Graphviz: what a formula is answered on.
//!
//! With `--symmetry off --por off` that is every state. Otherwise one state of each class is shown, and steps that suffice for the
//! propositions of the model's formulas: ample sets that keep the formulas without `X`, which need no stack to choose them, so
//! that the drawing does not depend on the order of a search.
//!
//! States say where each process stands, by its name and a label or line. Where something goes wrong, a shortest way to it is marked.

use std::fmt::Write;

use quotient_front_end::ClaimKind;
use quotient_machine::{CLAIM_THREAD, Machine};
use quotient_program::Expr;
use quotient_seams::{Ample, Identity, Incomplete, Limit, Representative, System};
use quotient_search::{Options, Seams, Stop, graph};
use quotient_source::SourceMap;

use crate::check::{Check, CheckError, Compile};
use crate::plan::{self, Moves, Stands, visible};
use crate::{Model, question, symmetry_choice};

/// States that a drawing can show.
pub const MOST_DRAWN: u64 = 2_000;

impl Model {
    /// The state graph, reduced unless `raw`, in the language of Graphviz. Refused beyond [`MOST_DRAWN`] states.
    pub fn dot(&self, check: &Check<'_>) -> Result<String, CheckError> {
        let asked = self.claims.iter().filter(|c| !check.safety_only && !c.propositions.is_empty());
        let propositions: Vec<Expr> = asked.flat_map(|c| &c.propositions).cloned().collect();
        let observation = self.claims.iter().find(|_| !propositions.is_empty()).map(|c| {
            let mut observation = question::observation(&c.text, &propositions, c.span);
            observation.stutter_invariant = self.claims.iter().all(counts_no_steps);
            observation
        });
        let (mut machine, _) =
            self.machine_for(observation, Compile { raw: check.raw, wide: true, all: false })?;
        machine.report_deadlocks(check.deadlocks);
        let mut stands = symmetry_choice::representative(&mut machine, check);
        match stands.as_mut() {
            Some(stands) => self.draw(&mut machine, stands, propositions, check),
            None => self.draw(&mut machine, &mut Identity, propositions, check),
        }
    }

    fn draw<R: Stands>(
        &self,
        machine: &mut Machine,
        representative: &mut R,
        propositions: Vec<Expr>,
        check: &Check<'_>,
    ) -> Result<String, CheckError> {
        let branching = self.claims.iter().any(|c| matches!(c.kind, ClaimKind::Ctl(_)));
        let preserved = match self.claims.iter().all(counts_no_steps) {
            false => Err("a claim can count steps"),
            true => visible(propositions).map(|visible| match branching {
                true => quotient_ample::Question::CtlStarX { visible },
                false => quotient_ample::Question::LtlX { visible },
            }),
        };
        let mut out = String::from("digraph states {\n");
        // Programs with objects are drawn with all their moves.
        let mut moves = match machine.program().features.dynamic {
            true => Moves::All,
            false => plan::moves(machine, representative, preserved, check).0,
        };
        let order = moves.name();
        let _ = writeln!(out, "  // symmetry: {}; partial order: {order}", representative.name());
        out.push_str("  node [shape=box, fontname=\"monospace\", fontsize=10];\n");
        out.push_str("  edge [fontname=\"monospace\", fontsize=9];\n");
        nodes(machine, &self.sources, representative, &mut moves, &mut out)?;
        out.push_str("}\n");
        Ok(out)
    }
}

/// Cannot the claim tell how often a state is repeated?
fn counts_no_steps(claim: &quotient_front_end::Claim) -> bool {
    match &claim.kind {
        ClaimKind::Ltl(formula) | ClaimKind::Ctl(formula) => !formula.uses_next(),
        ClaimKind::Invariant => true,
        ClaimKind::Never(_) => false,
    }
}

/// What a state is marked as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Usual,
    /// Nothing comes after it.
    Last,
    /// A violation or fault ends it.
    Fails,
    /// Nothing comes after it, although it is not a valid end.
    Stuck,
}

impl Shape {
    fn attributes(self) -> &'static str {
        match self {
            Shape::Usual => "",
            Shape::Last => ", peripheries=2",
            Shape::Fails => ", color=red",
            Shape::Stuck => ", color=red, peripheries=2",
        }
    }
}

/// A state as it is drawn.
struct Node {
    label: String,
    shape: Shape,
    /// Target, text.
    edges: Vec<(u32, String)>,
    /// The state that it was met from first.
    before: Option<u32>,
}

/// Draws what is explored.
fn nodes<R: Representative<Machine>>(
    machine: &mut Machine,
    sources: &SourceMap,
    representative: &mut R,
    ample: &mut Moves,
    out: &mut String,
) -> Result<(), CheckError> {
    let mut options = Options::default();
    options.limits.states = Some(MOST_DRAWN);
    let mut visited = quotient_visited::NumberedTree::new();
    let seams = Seams { system: machine, representative, ample, visited: &mut visited };
    let mut drawn: Vec<Node> = Vec::new();
    let mut before: Vec<Option<u32>> = Vec::new();
    let mut wrong = None;
    let (stop, _) = graph(seams, &mut options, &mut |machine: &mut Machine, node| {
        let number = drawn.len() as u32;
        let records = machine.explain(node.state);
        let names = quotient_machine::ObjectNames::default();
        let mut edges = Vec::new();
        for (target, choice) in node.targets.iter().zip(node.choices) {
            // States are numbered as they are met: a number that is new was met from here.
            if *target as usize >= before.len() {
                before.resize(*target as usize + 1, None);
                before[*target as usize] = Some(number).filter(|number| number != target);
            }
            let Some(record) = records.get(*choice as usize) else { continue };
            let steps: Vec<_> = record.steps().into_iter().filter(|s| s.thread != CLAIM_THREAD).collect();
            // Where nothing can move, only what watches does.
            if steps.is_empty() {
                continue;
            }
            let line = |s: &&quotient_machine::MicroStep| {
                let text = machine.transformation(s.transformation).map_or("", |(_, _, t)| t.text.as_str());
                format!("{}: {text}", machine.thread_name(node.state, s.thread, &names))
            };
            let text = steps.iter().map(line).collect::<Vec<_>>().join("\n");
            edges.push((*target, escaped(&text)));
        }
        let shape = shape(machine, &node, edges.is_empty());
        if matches!(shape, Shape::Fails | Shape::Stuck) {
            wrong = wrong.or(Some(number));
        }
        let label = label(machine, sources, node.state);
        drawn.push(Node { label, shape, edges, before: before.get(number as usize).copied().flatten() });
        Ok(())
    });
    match stop {
        Stop::Complete | Stop::Violation => {}
        Stop::Incomplete(Incomplete::Limit(Limit::States(_))) => {
            return Err(CheckError::Refused(format!(
                "the model has more than {MOST_DRAWN} states: too many to draw"
            )));
        }
        Stop::Incomplete(why) => return Err(CheckError::Refused(why.to_string())),
    }
    write(&drawn, wrong, out);
    Ok(())
}

/// Writes states and steps; the way to the state where something goes wrong is marked.
fn write(drawn: &[Node], wrong: Option<u32>, out: &mut String) {
    let mut marked = vec![None; drawn.len()];
    let mut at = wrong;
    while let Some(number) = at {
        at = drawn[number as usize].before;
        if let Some(before) = at {
            marked[before as usize] = Some(number);
        }
    }
    for (number, node) in drawn.iter().enumerate() {
        let on_way = marked[number].is_some() || wrong == Some(number as u32);
        let pen = if on_way { ", penwidth=3" } else { "" };
        let _ = writeln!(out, "  {number} [label=\"{}\"{}{pen}];", node.label, node.shape.attributes());
        let mut goes = marked[number];
        for (target, text) in &node.edges {
            // Of several steps between two states one is marked.
            let pen = match goes.take_if(|to| to == target) {
                Some(_) => ", color=red, penwidth=3",
                None => "",
            };
            let _ = writeln!(out, "  {number} -> {target} [label=\"{text}\"{pen}];");
        }
    }
}

/// What a state shows: where the processes stand, and variables that are not zero.
fn label(machine: &Machine, sources: &SourceMap, state: &[u64]) -> String {
    let names = quotient_machine::ObjectNames::default();
    let mut lines: Vec<String> = machine
        .threads(state)
        .iter()
        .map(|t| {
            let location = &machine.program().functions[t.function as usize].locations[t.location as usize];
            let line = || format!("line {}", sources.position(location.span).line);
            let place = location.labels.first().cloned().unwrap_or_else(line);
            format!("{} @ {place}", machine.thread_name(state, t.id, &names))
        })
        .collect();
    let values = machine.values(state, &names).into_iter().filter(|v| v.text != "0" && v.text != "[]");
    lines.extend(values.map(|v| format!("{} = {}", v.name, v.text)));
    escaped(&(lines.join("\n") + "\n"))
}

fn shape(machine: &mut Machine, node: &quotient_search::Expanded<'_>, last: bool) -> Shape {
    match (last, node.ends) {
        (_, true) => Shape::Fails,
        (true, false) if !machine.is_valid_end(node.state) => Shape::Stuck,
        (true, false) => Shape::Last,
        (false, false) => Shape::Usual,
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\l")
}
