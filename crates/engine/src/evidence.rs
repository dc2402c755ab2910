//! Evidence about formulas of branching time as runs of the program: trees, whose paths are executed again in real names.

use quotient_logic::{Evidence, Graph};
use quotient_machine::Machine;
use quotient_seams::ViolationKind;
use quotient_trace::{NotReplayable, Replay, Told, Trace};

use crate::Model;
use crate::check::{CheckError, Compile};
use crate::outcome::{Branch, ViolationReport};
use crate::question::Question;
use crate::recording::real_names;
use crate::symmetry_choice::Representative;

/// Runs that a tree has at most.
pub(crate) const MOST_RUNS: usize = 12;

/// Makes runs of paths in a stored graph.
pub(crate) struct Runs<'a> {
    pub(crate) model: &'a Model,
    pub(crate) machine: &'a mut Machine,
    pub(crate) stands: Option<Representative>,
    pub(crate) stored: &'a Graph,
    /// For each edge of each node, which step of the node's state it is.
    pub(crate) choices: &'a [Vec<u32>],
    /// The propositions as written.
    pub(crate) names: &'a [String],
}

/// A run, and how many of its choices, at the end, are repeated for ever.
struct Run {
    trace: Trace,
    choices: Vec<u32>,
    cycle: usize,
}

impl Runs<'_> {
    /// What does not hold, with the first run of its tree as the trace.
    pub(crate) fn violation(
        &mut self,
        evidence: &Evidence,
        message: String,
        question: Question,
    ) -> Result<ViolationReport, CheckError> {
        // Connectives above the first run say nothing by themselves.
        let mut first = evidence;
        while first.way.is_none()
            && let [(_, part)] = &first.parts[..]
        {
            first = part;
        }
        let nodes = first.way.as_ref().map_or(&[0][..], |way| &way.nodes);
        let run = self.run(nodes, first.way.as_ref().map_or(0, |way| way.cycle))?;
        let mut branches = Vec::new();
        self.parts(first, nodes, &mut branches)?;
        let Run { trace, choices, cycle } = run;
        let (kind, at) = (ViolationKind::Ctl, None);
        Ok(ViolationReport {
            kind,
            message,
            at,
            count: 1,
            trace,
            choices,
            how: Compile::default(),
            cycle,
            question,
            found_by: None,
            branches,
        })
    }

    /// The runs of a tree whose root is the last of these nodes, which lead there from the initial state.
    pub(crate) fn branches(
        &mut self,
        evidence: &Evidence,
        nodes: &[u32],
        out: &mut Vec<Branch>,
    ) -> Result<(), CheckError> {
        let Some(way) = &evidence.way else { return self.parts(evidence, nodes, out) };
        let mut path = nodes.to_vec();
        path.extend(&way.nodes[1..]);
        let trace = self.run(&path, way.cycle)?.trace;
        let mut branches = Vec::new();
        self.parts(evidence, &path, &mut branches)?;
        let (formula, holds) = (evidence.formula.with_names(self.names), evidence.holds);
        let after = nodes.len().checked_sub(2).and_then(|last| trace.reached.get(last)).copied().unwrap_or(0);
        out.push(Branch { formula, holds, after, trace, branches });
        Ok(())
    }

    /// What more there is to show: `nodes` lead from the initial state to the end of the way.
    fn parts(&mut self, evidence: &Evidence, nodes: &[u32], out: &mut Vec<Branch>) -> Result<(), CheckError> {
        let before = nodes.len() - evidence.way.as_ref().map_or(1, |way| way.nodes.len());
        for (position, part) in &evidence.parts {
            self.branches(part, &nodes[..=before + position], out)?;
        }
        Ok(())
    }

    /// A path of nodes from the initial state, and around the cycle once, executed again.
    fn run(&mut self, path: &[u32], cycle: usize) -> Result<Run, CheckError> {
        let mut nodes = path.to_vec();
        if cycle > 0 {
            nodes.push(path[path.len() - cycle]);
        }
        let mut choices = vec![0];
        for pair in nodes.windows(2) {
            let from = pair[0] as usize;
            let at = self.stored.successors(from).iter().position(|t| *t == pair[1]);
            choices.push(at.and_then(|at| self.choices[from].get(at)).copied().unwrap_or(u32::MAX));
        }
        let (choices, cycle) = real_names(self.machine, self.stands.as_mut(), &choices, cycle)?;
        let mut unreduced = self.model.unreduced(self.machine)?;
        let mut replay = Replay {
            machine: &mut *self.machine,
            unreduced: Some(&mut unreduced),
            sources: &self.model.sources,
            told: Told::Everything,
        };
        let trace = replay.path(&choices, cycle).map_err(CheckError::NotReplayable)?;
        if cycle > 0 && trace.cycle.is_none() {
            return Err(CheckError::NotReplayable(NotReplayable { step: choices.len() }));
        }
        Ok(Run { trace, choices, cycle })
    }
}
