//! One question, answered by one search: compiled with its claim, reduced, searched, looked at again, its counterexamples executed on the model as
//! written.

use std::sync::PoisonError;

use quotient_machine::{Fault, Machine};
use quotient_program as ir;
use quotient_residual::Reduced;
use quotient_seams::Incomplete;
use quotient_search::{Cause, FINISH_LEVELS_FROM, Found, Report, Statistics, Stop};
use quotient_trace::NotReplayable;

use crate::apart::Doubt;
use crate::check::Compile;
use crate::outcome::{Answer, Applied, Outcome, without_violation};
use crate::question::Question;
use crate::searching::{process_seconds, random, run, thread_seconds};
use crate::second_look::{Budget, Looked, Looker};
use crate::symmetry_choice::{self, Chosen};
use crate::unreached::{covered, unreached};
use crate::{Check, CheckError, Model, PartialOrder, fairness, workers};
use quotient_outcome::Verdict;

impl Model {
    /// Answers one question by one search; with a claim that `carries` it, the safety question too. Gives the questions
    /// that the violations found belong to.
    pub(crate) fn ask(
        &self,
        question: Question,
        claim: Option<(ir::Claim, bool)>,
        (check, budget): (&Check<'_>, &Budget),
        progress: &mut dyn FnMut(&Statistics),
        outcome: &mut Outcome,
    ) -> Result<Vec<Question>, CheckError> {
        let searched_before = outcome.search_seconds;
        let carries = claim.as_ref().is_some_and(|(_, carries)| *carries);
        let claim = claim.map(|(claim, _)| claim);
        let mut how = Compile { raw: check.raw, wide: false, all: false };
        let compile = |how| -> Result<(Machine, Reduced), CheckError> {
            let (mut machine, reduced) = self.machine_for(claim.clone(), how)?;
            machine.report_deadlocks(carries && check.deadlocks);
            Ok((machine, reduced))
        };
        check.enter("compiling the model");
        let (mut machine, mut reduced) = compile(how)?;
        check.enter("looking for symmetries");
        // Random walks pass states as they are.
        let walks = random(&machine, check);
        let choose = |machine: &mut Machine| match walks {
            true => Chosen::default(),
            false => symmetry_choice::choose(machine, check),
        };
        let mut chosen = choose(&mut machine);
        let part = Check { limits: budget.first(&machine, check), ..*check };
        let before = [thread_seconds(), process_seconds()];
        let (mut report, mut order) = run(&mut machine, chosen.stands.as_mut(), &part, progress);
        if report.stop == Stop::Incomplete(Incomplete::TooManyShapes) {
            how.wide = true;
            (machine, reduced) = compile(how)?;
            chosen = choose(&mut machine);
            (report, order) = run(&mut machine, chosen.stands.as_mut(), &part, progress);
        }
        // Where nothing has failed, nothing was hidden by it.
        if check.all && report.found.iter().any(|found| ends_its_run(&machine, found)) {
            how.all = true;
            let (apart, left) = compile(how)?;
            if left.merged < reduced.merged {
                (machine, reduced) = (apart, left);
                chosen = choose(&mut machine);
                (report, order) = run(&mut machine, chosen.stands.as_mut(), &part, progress);
            }
        }
        if report.stop == Stop::Incomplete(Incomplete::TooLong) {
            // The verdict is known; a run that shows it may be found with every thread in its place.
            chosen.stands = fairness::in_place(&machine);
            (report, order) = run(&mut machine, chosen.stands.as_mut(), &part, progress);
        }
        let Looked { mut report, second } =
            budget.look_again(&mut machine, chosen.stands.as_mut(), check, report, progress);
        outcome.search_seconds += match report.workers {
            1 => thread_seconds() - before[0],
            _ => process_seconds() - before[1],
        };
        if let (Err(why), true) = (
            workers::workers(&machine, chosen.stands.is_some(), check),
            report.statistics.states >= FINISH_LEVELS_FROM,
        ) {
            outcome.note(format!("one worker: {why}"));
        }
        if let Some(checkpoint) = check.checkpoint {
            let mut checkpoint = checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
            checkpoint.take_notes().into_iter().for_each(|note| outcome.note(note));
        }
        if let Some(disk) = check.disk
            && let Some(used) = disk
                .folder
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take_use()
                .filter(|used| used.most > 0)
        {
            let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
            outcome.note(format!(
                "disk: states in {} part(s), at most {:.1} MiB; {:.1} MiB written, {:.1} MiB read",
                used.parts,
                mib(used.most),
                mib(used.written),
                mib(used.read)
            ));
        }
        if let Some(journal) = check.journal {
            journal.found(report.found.len(), &report.statistics);
        }
        let safety = carries || question == Question::Safety;
        chosen.transitions = report.statistics.transitions;
        let applied = self.note_reductions(safety, &mut machine, &mut chosen, order, check, outcome)?;
        let mut stands = chosen.stands;
        let cycles = machine.program().claim.as_ref().is_some_and(|c| c.cycles);
        let store = applied.store.filter(|_| !walks).map(|s| workers::store(s, cycles, report.workers));
        let applied = Applied { workers: report.workers, store, ..applied };
        if question != Question::Safety && !check.raw && reduced.merged == 0 {
            let program = machine.program();
            if program.claim.as_ref().is_some_and(|c| !c.stutter_invariant) {
                let note = "local steps are not merged: the claim can count steps (X, or written by hand)";
                if !outcome.notes.iter().any(|n| n == note) {
                    outcome.notes.push(note.into());
                }
            }
        }
        if report.stop == Stop::Complete && safety {
            let again = || compile(how).map(|(machine, _)| machine);
            let states = report.statistics.states;
            self.never_executed((&machine, stands.as_ref()), states, check, again, outcome)?;
        }
        if let (Some(why), Stop::Complete, true) = (check.ended(), &report.stop, check.audit > 0) {
            report.stop = Stop::Incomplete(Incomplete::Audit(why));
        }
        let known = outcome.violations.len();
        let fair = fairness::asked(&machine, check);
        // Paths of fair runs are found with threads in their places.
        let mut in_place = if fair && stands.is_some() { fairness::in_place(&machine) } else { None };
        let found_by = second.as_ref().and_then(|s| s.found_by);
        let searched = stands.as_ref().filter(|_| check.all);
        let mut canonical = searched.map(|stands| symmetry_choice::canonical(&machine, stands));
        let stands = match found_by {
            // Random walks pass states as they are.
            Some(Looker::Random) => None,
            _ if fair => in_place.as_mut(),
            _ => stands.as_mut(),
        };
        if !report.found.is_empty() {
            check.enter("executing a counterexample again");
        }
        let found = self.record(question, &mut machine, stands, &report, check.told, outcome)?;
        if let Some(canonical) = &mut canonical {
            self.mirrored(known, &mut machine, canonical, check.told, outcome)?;
        }
        outcome.violations[known..]
            .iter_mut()
            .for_each(|v| (v.found_by, v.how) = (found_by, Compile { wide: false, ..how }));
        outcome.second_look = second.or(outcome.second_look.take());
        for v in outcome.violations[known..].iter().filter(|v| fair && v.cycle > 0) {
            if !fairness::is_fair(&mut machine, &v.choices, v.cycle) {
                return Err(CheckError::NotReplayable(NotReplayable { step: v.choices.len() - 1 }));
            }
        }
        if let (Stop::Incomplete(why), false) = (&report.stop, found.is_empty()) {
            outcome.is_incomplete(why);
        }
        let verdict = match found.contains(&question) {
            true => Verdict::Violated,
            false => without_violation(&report.stop),
        };
        if carries && !found.contains(&Question::Safety) {
            let verdict = without_violation(&report.stop);
            outcome.answers.push(Answer::new(self, Question::Safety, verdict, applied.clone()));
        }
        outcome.answers.push(Answer {
            statistics: report.statistics,
            search_seconds: outcome.search_seconds - searched_before,
            ..Answer::new(self, question, verdict, applied)
        });
        outcome.add(&report.statistics);
        outcome.reduced = reduced;
        if let Some(journal) = check.journal {
            journal.take_over(outcome);
        }
        Ok(found)
    }

    /// Records what a search for safety found, as the whole outcome.
    pub(crate) fn answer_safety(
        &self,
        machine: &mut Machine,
        report: &Report,
        check: &Check<'_>,
        outcome: &mut Outcome,
    ) -> Result<(), CheckError> {
        if report.stop == Stop::Complete {
            outcome.unreached = unreached(machine, self, &[], Doubt::Listed);
            outcome.covered = covered(machine, self, &[]);
        }
        let found = self.record(Question::Safety, machine, None, report, check.told, outcome)?;
        if let (Stop::Incomplete(why), false) = (&report.stop, found.is_empty()) {
            outcome.is_incomplete(why);
        }
        let verdict = match found.is_empty() {
            true => without_violation(&report.stop),
            false => Verdict::Violated,
        };
        let applied = Applied {
            symmetry: outcome.symmetry.clone(),
            partial_order: PartialOrder::Off,
            store: Some(check.store),
            workers: report.workers,
        };
        outcome.answers.push(Answer {
            statistics: report.statistics,
            search_seconds: outcome.search_seconds,
            ..Answer::new(self, Question::Safety, verdict, applied)
        });
        outcome.add(&report.statistics);
        outcome.conclude(&self.stated(check));
        Ok(())
    }
}

/// Is it a fault, after which the run does not go on? (It does after a failed assertion.)
fn ends_its_run(machine: &Machine, found: &Found) -> bool {
    let Cause::Violation(code) = found.cause else { return false };
    !matches!(machine.site(code).fault, Fault::Assertion { .. } | Fault::Deadlock | Fault::Claim { .. })
}
