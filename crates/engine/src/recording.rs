//! What a search found and did, as part of an outcome: violations in real names, reductions applied.

use quotient_machine::{Fault, Machine, claim_kind};
use quotient_program::{Operation, Program};
use quotient_seams::{Representative as _, System, ViolationKind};
use quotient_search::{Cause, Report};
use quotient_trace::{NotReplayable, Replay, Told, Trace, in_real_names};

use crate::check::{Check, CheckError, Compile};
use crate::outcome::{Applied, Outcome, ViolationReport};
use crate::question::Question;
use crate::symmetry_choice::{self, Chosen, Representative};
use crate::{Model, PartialOrder, audit};

impl Model {
    /// Says which reductions a search used, and compares states with their representatives where that was asked for. `safety`:
    /// the search answered the safety question.
    pub(crate) fn note_reductions(
        &self,
        safety: bool,
        machine: &mut Machine,
        chosen: &mut Chosen,
        order: Result<PartialOrder, &'static str>,
        check: &Check<'_>,
        outcome: &mut Outcome,
    ) -> Result<Applied, CheckError> {
        let mut note = |text: String| {
            if !outcome.notes.contains(&text) {
                outcome.notes.push(text);
            }
        };
        let partial_order = order.unwrap_or(PartialOrder::Off);
        if let (Err(why), false) = (order, check.raw) {
            note(format!("partial order reduction is off: {why}"));
        }
        let mut symmetry = symmetry_choice::report(machine, check, chosen, &self.sources);
        let representative = &mut chosen.stands;
        if check.audit > 0 {
            check.enter("auditing the reductions");
            symmetry.audited = audit::representatives(machine, representative.as_mut(), check)?;
            if partial_order != PartialOrder::Off && machine.program().claim.is_some() {
                // A claim moves with every step, so that two steps do not lead to one state in both orders.
                note(
                    "ample sets are not audited while a claim is checked; use --safety to audit them".into(),
                );
            } else if partial_order != PartialOrder::Off {
                outcome.audited_ample = audit::ample_sets(machine, representative.as_mut(), check)?;
            } else if symmetry.audited.is_none() {
                note(
                    "--audit had nothing to look at: no state stood for another, and every move was taken"
                        .into(),
                );
            }
        }
        if symmetry.over_budget > 0 {
            let count = symmetry.over_budget;
            note(format!("{count} representatives may not be canonical: too many choices"));
        }
        if safety {
            outcome.symmetry = symmetry.clone();
            outcome.partial_order = partial_order;
        }
        Ok(Applied { symmetry, partial_order, store: Some(check.store), workers: 1 })
    }

    /// The program as written that runs beside that of a machine, so that traces show the values of all its variables. Where threads
    /// end in any order, they do so there, too: they would have other numbers otherwise.
    pub(crate) fn unreduced(&self, machine: &Machine) -> Result<Machine, CheckError> {
        let ends = |program: &Program| {
            let mut all =
                program.functions.iter().flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
            all.any(|t| matches!(t.operation, Operation::Exit))
        };
        let mut program = self.program.clone();
        if !ends(machine.program()) {
            quotient_residual::any_order::end_in_any_order(&mut program);
        }
        Machine::wide(program, &self.sources).map_err(CheckError::Exhausted)
    }

    /// Repeats a path of a machine made by [`Model::question_machine`], whose last `cycle` steps are a cycle.
    pub fn replay(
        &self,
        machine: &mut Machine,
        choices: &[u32],
        cycle: usize,
        told: Told,
    ) -> Result<Trace, CheckError> {
        let mut unreduced = self.unreduced(machine)?;
        let unreduced = Some(&mut unreduced);
        Replay { machine, unreduced, sources: &self.sources, told }
            .lasso(choices, cycle)
            .map_err(CheckError::NotReplayable)
    }

    /// Replays what a search found and adds it to the outcome; gives the questions that the violations belong to.
    pub(crate) fn record(
        &self,
        question: Question,
        machine: &mut Machine,
        mut representative: Option<&mut Representative>,
        report: &Report,
        told: Told,
        outcome: &mut Outcome,
    ) -> Result<Vec<Question>, CheckError> {
        let mut questions = Vec::new();
        for found in &report.found {
            let watched = machine.program().claim.as_ref().is_some_and(|c| c.cycles);
            // A search for violations may go on from the states it found: its path is in their names. One for cycles goes on
            // from representatives.
            let kept = !watched && representative.as_ref().is_some_and(|r| r.keeps_found());
            let stands = if kept { None } else { representative.as_deref_mut() };
            let (choices, cycle) = real_names(machine, stands, &found.path.choices, found.cycle)?;
            let trace = self.replay(machine, &choices, cycle, told)?;
            let claim = machine.program().claim.as_ref();
            let (kind, message, at) = match found.cause {
                Cause::Deadlock => (ViolationKind::Deadlock, "deadlock: invalid end state".to_owned(), None),
                Cause::Cycle => {
                    let step = choices.len() - 1;
                    let claim = claim.ok_or(CheckError::NotReplayable(NotReplayable { step }))?;
                    (claim_kind(claim.origin), claim.message(true), None)
                }
                Cause::Violation(code) => {
                    let violation = machine.violation(code);
                    let site = machine.site(code);
                    let dead = matches!(site.fault, Fault::Deadlock);
                    let at = (!dead).then(|| self.sources.file_line(site.span));
                    // In real names it may be that of another thread, in other code.
                    match &trace.violation {
                        Some(real) if real.kind == violation.kind && !dead => {
                            (real.kind, real.message.clone(), trace.violation_at.clone())
                        }
                        _ => (violation.kind, violation.message, at),
                    }
                }
            };
            // A trace that does not end in what was found is a bug of the checker.
            if trace.violation.as_ref().map(|v| v.kind) != Some(kind) {
                let step = found.path.choices.len() - 1;
                return Err(CheckError::NotReplayable(NotReplayable { step }));
            }
            let of_claim = match found.cause {
                Cause::Deadlock => false,
                Cause::Violation(code) => matches!(machine.site(code).fault, Fault::Claim { .. }),
                Cause::Cycle => true,
            };
            let question = if of_claim { question } else { Question::Safety };
            questions.push(question);
            let count = found.count;
            outcome.violations.push(ViolationReport {
                kind,
                message,
                at,
                count,
                trace,
                choices,
                how: Compile::default(),
                cycle,
                question,
                found_by: None,
                branches: Vec::new(),
            });
        }
        Ok(questions)
    }
}

/// A path of representatives, whose last `cycle` steps are a cycle, in real names.
pub(crate) fn real_names(
    machine: &mut Machine,
    representative: Option<&mut Representative>,
    choices: &[u32],
    cycle: usize,
) -> Result<(Vec<u32>, usize), CheckError> {
    let Some(representative) = representative else { return Ok((choices.to_vec(), cycle)) };
    let mut canonical = symmetry_choice::canonical(machine, representative);
    in_real_names(machine, representative, &mut canonical, choices, cycle).map_err(CheckError::NotReplayable)
}
