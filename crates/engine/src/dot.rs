//! The state graph of a small model as a drawing for Graphviz: what a formula is answered on.
//!
//! With `--symmetry off --por off` that is every state. Otherwise one state of each class is shown, and steps that suffice for the
//! propositions of the model's formulas: ample sets that keep the formulas without `X`, which need no stack to choose them, so
//! that the drawing does not depend on the order of a search.

use std::fmt::Write;

use quotient_front_end::ClaimKind;
use quotient_machine::{CLAIM_THREAD, Machine};
use quotient_program::Expr;
use quotient_seams::{Ample, Identity, Incomplete, Limit, Representative, System};
use quotient_search::{Options, Seams, Stop, graph};

use crate::check::{Check, CheckError, Compile};
use crate::plan::{self, Moves, visible};
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
        let (mut machine, _) = self.machine_for(observation, Compile { raw: check.raw, wide: true })?;
        machine.report_deadlocks(check.deadlocks);
        let mut stands = symmetry_choice::representative(&mut machine, check);
        match stands.as_mut() {
            Some(stands) => self.draw(&mut machine, stands, propositions, check),
            None => self.draw(&mut machine, &mut Identity, propositions, check),
        }
    }

    fn draw<R: Representative<Machine>>(
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
        nodes(machine, representative, &mut moves, &mut out)?;
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

/// Draws what is explored.
fn nodes<R: Representative<Machine>>(
    machine: &mut Machine,
    representative: &mut R,
    ample: &mut Moves,
    out: &mut String,
) -> Result<(), CheckError> {
    let mut options = Options::default();
    options.limits.states = Some(MOST_DRAWN);
    let mut visited = quotient_visited::NumberedTree::new();
    let seams = Seams { system: machine, representative, ample, visited: &mut visited };
    let mut number = 0u32;
    let (stop, _) = graph(seams, &mut options, &mut |machine: &mut Machine, node| {
        let records = machine.explain(node.state);
        let mut edges = String::new();
        for (target, choice) in node.targets.iter().zip(node.choices) {
            let Some(record) = records.get(*choice as usize) else { continue };
            let steps: Vec<_> = record.steps().into_iter().filter(|s| s.thread != CLAIM_THREAD).collect();
            // Where nothing can move, only what watches does.
            if steps.is_empty() {
                continue;
            }
            let line = |s: &&quotient_machine::MicroStep| {
                let text = machine.transformation(s.transformation).map_or("", |(_, _, t)| t.text.as_str());
                format!("{}: {text}", s.thread)
            };
            let text = steps.iter().map(line).collect::<Vec<_>>().join("\n");
            let _ = writeln!(edges, "  {number} -> {target} [label=\"{}\"];", escaped(&text));
        }
        let shape = shape(machine, &node, edges.is_empty());
        let _ = writeln!(out, "  {number} [label=\"{}\"{shape}];", label(machine, node.state));
        out.push_str(&edges);
        number += 1;
        Ok(())
    });
    match stop {
        Stop::Complete | Stop::Violation => Ok(()),
        Stop::Incomplete(Incomplete::Limit(Limit::States(_))) => {
            Err(CheckError::Refused(format!("the model has more than {MOST_DRAWN} states: too many to draw")))
        }
        Stop::Incomplete(why) => Err(CheckError::Refused(why.to_string())),
    }
}

/// What a state shows: where the processes stand, and variables that are not zero.
fn label(machine: &Machine, state: &[u64]) -> String {
    let threads: Vec<String> = machine
        .threads(state)
        .iter()
        .map(|t| {
            let location = &machine.program().functions[t.function as usize].locations[t.location as usize];
            let name = location.labels.first().cloned().unwrap_or_else(|| t.location.to_string());
            format!("{}@{name}", t.id)
        })
        .collect();
    let values = machine
        .values(state, &quotient_machine::ObjectNames::default())
        .into_iter()
        .filter(|v| v.text != "0" && v.text != "[]");
    let values: Vec<String> = values.map(|v| format!("{}={}", v.name, v.text)).collect();
    let mut text = threads.join(" ");
    for value in values {
        text.push('\n');
        text.push_str(&value);
    }
    escaped(&text)
}

fn shape(machine: &mut Machine, node: &quotient_search::Expanded<'_>, last: bool) -> &'static str {
    match (last, node.ends) {
        (_, true) => ", color=red",
        (true, false) if !machine.is_valid_end(node.state) => ", color=red, peripheries=2",
        (true, false) => ", peripheries=2",
        _ => "",
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\l")
}
