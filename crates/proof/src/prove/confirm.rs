//! Nothing is called proved before the checker has accepted the proof.
//!
//! Every proof is written down as for a certificate and given to `quotient-proof-check`, with those before it. In tables and
//! relative proofs the checker decides differences, and other inequalities only where few values are left. A proof that it
//! refuses is replaced, where one is found, by an invariant at loop heads or by the list of all states, which it decides. Otherwise
//! the answer is "unknown", except for programs with inequalities that the checker does not decide: there the report
//! says that nothing confirms the proof.

use quotient_proof_check::effort::Effort;
use quotient_proof_check::{Checker, format as out};

use super::claims::FOUND_TIME;
use super::{Proof, Report, Run, Verdict};
use crate::cells;
use crate::constraint::Linear;
use crate::domain::alternatives;
use crate::limits::Limits;
use crate::program::Right;

/// Ways to satisfy the conditions of all rules from which on rules are compared instead of unfolded.
const MANY_ALTERNATIVES: usize = 200;
/// The same, times the ways in which the claim moves values: each step is unfolded for each of them.
const MANY_WITH_VALUES: usize = 5_000;

/// States in a list, at most.
const MOST_LISTED: usize = 2_000;

impl Run<'_> {
    /// The checker's opinion. Accepting a group's proof accepts it for all its members.
    fn accepted(&self, report: &Report) -> Result<(), String> {
        let written = crate::certificate::proof(self.program, &self.domain, report);
        let written = written.map_err(|o| o.to_string())?.ok_or("a step of it was not found again")?;
        self.offered(&written)
    }

    fn offered(&self, written: &out::Proof) -> Result<(), String> {
        let mut checker = self.checker.borrow_mut();
        if checker.is_none() {
            let program = crate::certificate::program(self.program, &self.domain);
            let effort = Effort::for_proofs(&program, &[]);
            *checker = Some(Checker::new(program, &effort)?);
        }
        let Some(checker) = checker.as_mut() else { return Ok(()) };
        let effort = Effort::for_proofs(checker.program(), std::slice::from_ref(written));
        checker.accept(written, &effort)
    }

    /// Has the proof of a safety claim checked.
    pub(super) fn confirm(&self, report: &mut Report, limits: &Limits) {
        if !matches!(report.verdict, Verdict::Proved) {
            return;
        }
        let Err(refusal) = self.accepted(report) else { return };
        let table = matches!(report.proof, Some(Proof::Safety { .. }));
        if table && !self.options.without_invariants {
            let assertion = &self.program.assertions[report.assertion];
            let found = cells::prove(self.program, &self.domain, assertion, &limits.within(FOUND_TIME));
            if let Ok(found) = found {
                let mut other = report.clone();
                self.proved_at_heads(&mut other, found);
                if self.accepted(&other).is_ok() {
                    *report = other;
                    return;
                }
            }
        }
        self.unconfirmed(report, &refusal);
    }

    /// The same for relative assertions that were proved together.
    pub(super) fn confirm_group(&self, reports: &mut [&mut Report]) {
        let Some(first) = reports.first() else { return };
        let Err(refusal) = self.accepted(first) else { return };
        for report in reports {
            if !self.listed(report) {
                self.unconfirmed(report, &refusal);
            }
        }
    }

    fn unconfirmed(&self, report: &mut Report, refusal: &str) {
        // Evidence is decided, whatever it is about.
        let decided = matches!(report.proof, Some(Proof::Cells(_)));
        if self.has_general() && !decided {
            report.notes.push(format!("not confirmed by the checker: {refusal}"));
        } else {
            report.proof = None;
            report.found = None;
            report.verdict =
                Verdict::Unknown(format!("a proof was found that the checker refuses: {refusal}"));
        }
    }

    /// Proves that a claim's map takes each rule to a rule, where rules have so many alternatives that unfolding them would
    /// take long.
    pub(super) fn renamed(&self, report: &mut Report) -> bool {
        let many = self.program.rules.iter().map(|r| alternatives(&r.guard)).fold(0, usize::saturating_add);
        let moved = match &self.program.assertions[report.assertion].right {
            Right::State(tree) | Right::Constraint(tree) => alternatives(tree),
        };
        let few = many < MANY_ALTERNATIVES && many.saturating_mul(moved) < MANY_WITH_VALUES;
        let written = out::Proof::Renamed { assertion: report.assertion };
        if self.options.paper_counts || few || self.offered(&written).is_err() {
            return false;
        }
        report.verdict = Verdict::Proved;
        report.conditional_on.clear();
        (report.nonincreasing, report.one_level) = (true, true);
        report.one_level_inverse = self.options.inverses.then_some(true);
        report.proof = Some(Proof::Renamed);
        true
    }

    /// Proves a relative claim state by state, if all states were explored and the checker finds each left one a partner.
    pub(super) fn listed(&self, report: &mut Report) -> bool {
        let reachable = self.reachable();
        if !reachable.complete || reachable.states.len() > MOST_LISTED {
            return false;
        }
        let derived = |(state, &(before, rule)): (&Vec<i64>, &(Option<usize>, usize))| out::Derived {
            state: state.clone(),
            rule,
            before,
        };
        let states: Vec<out::Derived> =
            reachable.states.iter().zip(&reachable.parents).map(derived).collect();
        let written = out::Proof::Listed { assertion: report.assertion, states };
        if self.offered(&written).is_err() {
            return false;
        }
        let out::Proof::Listed { states, .. } = written else { return false };
        report.verdict = Verdict::Proved;
        report.conditional_on.clear();
        (report.nonincreasing, report.one_level, report.one_level_inverse) = (false, false, None);
        report.stored = states.len();
        report.proof = Some(Proof::Listed(states));
        true
    }

    /// Whether the program or its claims, which may be used, have inequalities that are not differences.
    fn has_general(&self) -> bool {
        let mut general = false;
        let mut visit = |l: &Linear| {
            general |= !matches!(l.terms[..], [] | [(_, 1 | -1)] | [(_, 1), (_, -1)] | [(_, -1), (_, 1)]);
        };
        self.program.rules.iter().for_each(|r| r.guard.each(&mut visit));
        for assertion in &self.program.assertions {
            assertion.left.each(&mut visit);
            match &assertion.right {
                Right::Constraint(tree) | Right::State(tree) => tree.each(&mut visit),
            }
        }
        general
    }
}
