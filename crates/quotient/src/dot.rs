//! The state graph of a small model as a drawing for Graphviz.

use std::fmt::Write;

use quotient_ample::All;
use quotient_machine::{CLAIM_THREAD, Machine};
use quotient_search::{OmegaSeams, Options, Stop, graph};
use quotient_symmetry::Identity;
use quotient_system::System;

use crate::Model;
use crate::check::{Check, CheckError};

/// States that a drawing can show.
pub const MOST_DRAWN: u64 = 2_000;

impl Model {
    /// The state graph, reduced unless `raw`, in the language of Graphviz. Refused beyond [`MOST_DRAWN`] states.
    pub fn dot(&self, check: &Check<'_>) -> Result<String, CheckError> {
        let (mut machine, _) = self.machine(check.raw, true)?;
        let mut out =
            String::from("digraph states {\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n");
        out.push_str("  edge [fontname=\"monospace\", fontsize=9];\n");
        let mut options = Options::default();
        options.limits.states = Some(MOST_DRAWN);
        let seams = OmegaSeams { system: &mut machine, representative: &mut Identity, ample: &mut All };
        let mut number = 0u32;
        let (stop, _) = graph(seams, &mut options, &mut |machine: &mut Machine, node| {
            let _ = writeln!(
                out,
                "  {number} [label=\"{}\"{}];",
                label(machine, node.state),
                shape(machine, &node)
            );
            let records = machine.explain(node.state);
            for (target, choice) in node.targets.iter().zip(node.choices) {
                let text = records.get(*choice as usize).map_or_else(String::new, |record| {
                    let steps = record.steps.iter().filter(|s| s.thread != CLAIM_THREAD);
                    let line = |s: &quotient_machine::MicroStep| {
                        let text =
                            machine.transformation(s.transformation).map_or("", |(_, _, t)| t.text.as_str());
                        format!("{}: {text}", s.thread)
                    };
                    steps.map(line).collect::<Vec<_>>().join("\n")
                });
                let _ = writeln!(out, "  {number} -> {target} [label=\"{}\"];", escaped(&text));
            }
            number += 1;
            Ok(())
        });
        match stop {
            Stop::Complete => {}
            Stop::Incomplete(why) if why.contains("states") => {
                return Err(CheckError::Refused(format!(
                    "the model has more than {MOST_DRAWN} states: too many to draw"
                )));
            }
            Stop::Incomplete(why) => return Err(CheckError::Refused(why)),
            Stop::Violation => {}
        }
        out.push_str("}\n");
        Ok(out)
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

fn shape(machine: &mut Machine, node: &quotient_search::Expanded<'_>) -> &'static str {
    match (node.targets.is_empty(), node.ends) {
        (_, true) => ", color=red",
        (true, false) if !machine.is_valid_end(node.state) => ", color=red, peripheries=2",
        (true, false) => ", peripheries=2",
        _ => "",
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\l")
}
