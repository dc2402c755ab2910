//! Formulas of branching time: the reachable graph is stored and labelled.
//!
//! The program is reduced only by what keeps states bisimilar (variables without a value); steps are not merged. A program
//! that stops stays in its last state for ever, as for linear time.

use quotient_ample::All;
use quotient_logic::{Formula, Graph, Labelling};
use quotient_machine::Machine;
use quotient_promela::ClaimKind;
use quotient_search::{OmegaSeams, Statistics, Stop, graph};
use quotient_symmetry::Identity;
use quotient_trace::{NotReplayable, Trace};

use crate::Model;
use crate::check::{Answer, Check, CheckError, Outcome, Verdict, ViolationReport};
use crate::question::{self, Question};
use crate::searching::options;

impl Model {
    /// The formula of branching time that a question is about.
    pub(crate) fn branching_formula(&self, question: Question) -> Option<&Formula> {
        let Question::Claim(number) = question else { return None };
        match &self.claims.get(number)?.kind {
            ClaimKind::Ctl(formula) => Some(formula),
            _ => None,
        }
    }

    /// Answers a question of branching time.
    pub(crate) fn ask_branching(
        &self,
        question: Question,
        formula: &Formula,
        check: &Check<'_>,
        progress: &mut dyn FnMut(&Statistics),
        outcome: &mut Outcome,
    ) -> Result<(), CheckError> {
        let Question::Claim(number) = question else { return Ok(()) };
        let claim = &self.claims[number];
        if claim.propositions.len() > quotient_logic::MOST_PROPOSITIONS as usize {
            return Err(CheckError::Refused("a formula may have at most 64 distinct propositions".into()));
        }
        let observation = question::observation(&claim.propositions, claim.span);
        let (mut machine, reduced) = self.machine_for(Some(observation), check.raw, true)?;
        let mut stored = Graph::new();
        let mut choices: Vec<Vec<u32>> = Vec::new();
        let mut letter = Vec::new();
        let seams = OmegaSeams { system: &mut machine, representative: &mut Identity, ample: &mut All };
        let (stop, statistics) =
            graph(seams, &mut options(check, progress), &mut |machine: &mut Machine, node| {
                if node.ends && node.targets.is_empty() {
                    return Err(Stop::Incomplete("a fault ends some runs".into()));
                }
                machine
                    .claim_conditions(node.state, &mut letter)
                    .map_err(|_| Stop::Incomplete("a proposition has no value in some state".into()))?;
                let bits =
                    letter.iter().enumerate().fold(0, |bits, (p, holds)| bits | u64::from(*holds) << p);
                stored.push(bits, node.targets);
                choices.push(node.choices.to_vec());
                Ok(())
            });
        let mut verdict = match &stop {
            Stop::Complete => Verdict::Holds,
            Stop::Incomplete(why) => Verdict::Undecided(why.clone()),
            Stop::Violation => Verdict::Undecided("the search ended early".into()),
        };
        if verdict == Verdict::Holds {
            let labelling = Labelling::new(&stored);
            let refused =
                |e: quotient_logic::LabelError| CheckError::Refused(format!("ctl {}: {e}", claim.text));
            if !labelling.nodes(formula).map_err(refused)?[0] {
                verdict = Verdict::Violated;
                let (path, cycle) = counterexample(&labelling, formula)
                    .map_err(refused)?
                    .map_or_else(|| (vec![0], 0), |w| (w.nodes, w.cycle));
                let choices = path_choices(&stored, &choices, &path, cycle);
                let trace = Trace::replay_path(&mut machine, &self.sources, &choices, cycle)
                    .map_err(CheckError::NotReplayable)?;
                if cycle > 0 && trace.cycle.is_none() {
                    return Err(CheckError::NotReplayable(NotReplayable { step: choices.len() }));
                }
                let message = format!("formula violated: {}", claim.text);
                outcome.violations.push(ViolationReport {
                    kind: "ctl".into(),
                    message,
                    at: None,
                    count: 1,
                    trace,
                    choices,
                    cycle,
                    question,
                });
            }
        }
        let text = self.question_text(question);
        outcome.answers.push(Answer { question, text, verdict, statistics });
        outcome.add(&statistics);
        outcome.reduced = reduced;
        Ok(())
    }
}

/// A path that shows why a formula does not hold in the first node: a run against `A`; `None` where a single run shows
/// nothing (`E`, or nothing temporal).
fn counterexample(
    labelling: &Labelling<'_>,
    formula: &Formula,
) -> Result<Option<quotient_logic::Witness>, quotient_logic::LabelError> {
    match formula {
        Formula::All(path) => labelling.witness(0, &path.clone().negated()),
        Formula::Not(inner) => match &**inner {
            Formula::Exists(path) => labelling.witness(0, path),
            Formula::Not(inner) => counterexample(labelling, inner),
            _ => Ok(None),
        },
        // One of the parts that fail.
        Formula::And(a, b) => {
            let failing = if labelling.nodes(a)?[0] { b } else { a };
            counterexample(labelling, failing)
        }
        Formula::Or(a, b) => Ok(match counterexample(labelling, a)? {
            Some(witness) => Some(witness),
            None => counterexample(labelling, b)?,
        }),
        _ => Ok(None),
    }
}

/// The choices that lead along nodes, and around the cycle once.
fn path_choices(stored: &Graph, choices: &[Vec<u32>], path: &[u32], cycle: usize) -> Vec<u32> {
    let mut nodes = path.to_vec();
    if cycle > 0 {
        nodes.push(path[path.len() - cycle]);
    }
    let mut out = vec![0];
    for pair in nodes.windows(2) {
        let from = pair[0] as usize;
        let at = stored.successors(from).iter().position(|t| *t == pair[1]);
        out.push(at.and_then(|at| choices[from].get(at)).copied().unwrap_or(u32::MAX));
    }
    out
}
