//! Formulas of branching time: the reachable graph is stored and labelled.
//!
//! The program is reduced only by what keeps states bisimilar (variables without a value); steps are not merged. A program
//! that stops stays in its last state for ever, as for linear time.

use quotient_front_end::{Claim, ClaimKind};
use quotient_logic::{Formula, Graph, Labelling};
use quotient_machine::Machine;
use quotient_program::{BinaryOp, Expr, Program};
use quotient_seams::{Identity, Incomplete, Worker};
use quotient_search::{Expanded, Seams, Statistics, Stop, graph, graph_by_workers};
use quotient_visited::NumberedStates;

use crate::check::{Check, CheckError, Compile};
use crate::evidence::{MOST_RUNS, Runs};
use crate::outcome::{Answer, Applied, Outcome, ViolationReport, without_violation};
use crate::plan::{self, Stands, Why, visible};
use crate::question::{self, Question};
use crate::searching::{numbering, options, process_seconds, thread_seconds};
use crate::symmetry_choice;
use crate::workers::{self, workers};
use crate::{Model, PartialOrder};
use quotient_outcome::Verdict;

impl Model {
    /// The formula of branching time that a question is about.
    pub(crate) fn branching_formula(&self, question: Question) -> Option<&Formula> {
        let Question::Claim(number) = question else { return None };
        match &self.claims.get(number)?.kind {
            ClaimKind::Ctl(formula) => Some(formula),
            _ => None,
        }
    }

    /// Refuses a formula that cannot be answered, before anything is explored.
    pub(crate) fn refuse_branching(
        &self,
        question: Question,
        formula: &Formula,
        check: &Check<'_>,
    ) -> Result<(), CheckError> {
        let Question::Claim(number) = question else { return Ok(()) };
        let claim = &self.claims[number];
        if claim.propositions.len() > quotient_logic::MOST_PROPOSITIONS as usize {
            return Err(CheckError::Refused("a formula may have at most 64 distinct propositions".into()));
        }
        if check.fair {
            return Err(CheckError::Refused(format!(
                "ctl {}: --fair is for formulas of linear time, whose runs can be left out one by one",
                claim.text
            )));
        }
        // On the smallest graph every part of the formula is labelled, as on any other.
        let mut least = Graph::new();
        least.push(0, &[0]);
        let labelled = Labelling::new(&least).nodes(formula);
        labelled.map(|_| ()).map_err(|e| CheckError::Refused(format!("ctl {}: {e}", claim.text)))
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
        let (formula, propositions, names) = &over_states(formula, claim, &self.program);
        let observation = question::observation(&claim.text, propositions, claim.span);
        check.enter("compiling the model");
        let how = Compile { raw: check.raw, wide: true, all: false };
        let (mut machine, reduced) = self.machine_for(Some(observation), how)?;
        let mut chosen = symmetry_choice::choose(&mut machine, check);
        let preserved = if formula.uses_next() {
            Err("the claim can count steps (X, or written by hand)")
        } else {
            let visible = visible(propositions.clone());
            visible.map(|visible| quotient_ample::Question::CtlStarX { visible })
        };
        machine.set_interrupt(check.interrupt.cloned());
        let before = [thread_seconds(), process_seconds()];
        let (explored, order) = match chosen.stands.as_mut() {
            Some(stands) => explore(&mut machine, stands, preserved, check, progress),
            None => explore(&mut machine, &mut Identity, preserved, check, progress),
        };
        machine.set_interrupt(None);
        let Explored { stored, choices, stop, statistics, workers } = explored;
        if let Some(journal) = check.journal {
            journal.progress(&statistics);
        }
        let search_seconds = match workers {
            1 => thread_seconds() - before[0],
            _ => process_seconds() - before[1],
        };
        outcome.search_seconds += search_seconds;
        chosen.transitions = statistics.transitions;
        let applied = self.note_reductions(false, &mut machine, &mut chosen, order, check, outcome)?;
        let store = applied.store.map(|store| workers::store(store, true, workers));
        let applied = Applied { workers, store, ..applied };
        let stands = chosen.stands;
        let mut verdict = without_violation(&stop);
        let mut witness = Vec::new();
        if verdict == Verdict::Holds {
            check.enter("answering a formula on the state graph");
            let labelling = Labelling::new(&stored);
            let refused =
                |e: quotient_logic::LabelError| CheckError::Refused(format!("ctl {}: {e}", claim.text));
            let evidence = labelling.evidence(0, formula, MOST_RUNS).map_err(refused)?;
            let mut runs = Runs {
                model: self,
                machine: &mut machine,
                stands,
                stored: &stored,
                choices: &choices,
                names,
            };
            if evidence.holds {
                runs.branches(&evidence, &[0], &mut witness)?;
            } else {
                verdict = Verdict::Violated;
                let message = format!("formula violated: {}", claim.text);
                let violation = runs.violation(&evidence, message, question)?;
                outcome.violations.push(ViolationReport { how, ..violation });
            }
        }
        let answer = Answer::new(self, question, verdict, applied);
        outcome.answers.push(Answer { statistics, search_seconds, witness, ..answer });
        outcome.add(&statistics);
        outcome.reduced = reduced;
        if let Some(journal) = check.journal {
            journal.take_over(outcome);
        }
        Ok(())
    }
}

/// The formula over its largest parts that are about one state, what these mean, and how they are written: what such a part says of a state is
/// all that the formula asks. So a renaming need only leave their values alone, not those of everything they are made of:
/// `AG !(p[0]@CS && p[1]@CS)` names both alike. Parts that need not have a value are asked one by one.
fn over_states(formula: &Formula, claim: &Claim, program: &Program) -> (Formula, Vec<Expr>, Vec<String>) {
    let as_it_is = || (formula.clone(), claim.propositions.clone(), claim.names.clone());
    if claim.propositions.iter().any(|p| p.may_fault(program, &[])) {
        return as_it_is();
    }
    let mut parts: Vec<&Formula> = Vec::new();
    let whole = formula.over(&mut |part| match part {
        Formula::True | Formula::False => part.clone(),
        _ => Formula::Prop(parts.iter().position(|known| *known == part).unwrap_or_else(|| {
            parts.push(part);
            parts.len() - 1
        }) as u32),
    });
    if parts.len() > quotient_logic::MOST_PROPOSITIONS as usize {
        return as_it_is();
    }
    let meanings = parts.iter().map(|part| meaning(part, &claim.propositions)).collect();
    let names = parts.iter().map(|part| part.with_names(&claim.names)).collect();
    (whole, meanings, names)
}

/// A formula without temporal operators as an expression.
fn meaning(formula: &Formula, propositions: &[Expr]) -> Expr {
    let both = |op, a: &Formula, b: &Formula| {
        Expr::Binary(op, Box::new(meaning(a, propositions)), Box::new(meaning(b, propositions)))
    };
    match formula {
        Formula::Prop(p) => propositions[*p as usize].clone(),
        Formula::Not(a) => meaning(a, propositions).negated(),
        Formula::And(a, b) => both(BinaryOp::And, a, b),
        Formula::Or(a, b) => both(BinaryOp::Or, a, b),
        other => Expr::Const(i32::from(*other == Formula::True)),
    }
}

/// The graph that a formula is answered on.
struct Explored {
    stored: Graph,
    /// For each edge of each node, which step of the node's state it is.
    choices: Vec<Vec<u32>>,
    stop: Stop,
    statistics: Statistics,
    workers: usize,
}

/// Explores with a representative, and with ample sets that preserve the question, where there are any.
fn explore<R: Stands + Worker>(
    machine: &mut Machine,
    representative: &mut R,
    preserved: Result<quotient_ample::Question, Why>,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> (Explored, Result<PartialOrder, Why>) {
    let (mut moves, order) = plan::moves(machine, representative, preserved, check);
    let mut stored = Graph::new();
    let mut choices: Vec<Vec<u32>> = Vec::new();
    let mut letter = Vec::new();
    let node = &mut |machine: &mut Machine, node: Expanded<'_>| {
        if node.ends && node.targets.is_empty() {
            return Err(Stop::Incomplete(Incomplete::Unsupported("a fault ends some runs".into())));
        }
        machine.claim_conditions(node.state, &mut letter).map_err(|_| {
            Stop::Incomplete(Incomplete::Unsupported("a proposition has no value in some state".into()))
        })?;
        let bits = letter.iter().enumerate().fold(0, |bits, (p, holds)| bits | u64::from(*holds) << p);
        stored.push(bits, node.targets);
        choices.push(node.choices.to_vec());
        Ok(())
    };
    let options = &mut options(check, progress);
    let (stop, statistics, workers) = match workers(machine, false, check) {
        Ok(workers) if workers.count > 1 => {
            let visited = &mut NumberedStates::new();
            let seams = Seams { system: machine, representative, ample: &mut moves, visited };
            graph_by_workers(seams, workers, options, node)
        }
        _ => {
            let mut visited = numbering(machine, check.store);
            let seams = Seams { system: machine, representative, ample: &mut moves, visited: &mut visited };
            let (stop, statistics) = graph(seams, options, node);
            (stop, statistics, 1)
        }
    };
    (Explored { stored, choices, stop, statistics, workers }, order)
}
