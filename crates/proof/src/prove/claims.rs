//! Safety claims: unfolding backwards, invariants of all kinds, traces, in the order in which they pay.

use std::time::Duration;

use quotient_proof_check::effort::Effort;

use super::{Proof, Report, Run, Verdict, violations};
use crate::canonical::Map;
use crate::cells;
use crate::cells::bounded::{self, Bounded};
use crate::constraint::Overflow;
use crate::domain::{MOST_LISTED, State, alternatives};
use crate::explicit::{Reachable, explore};
use crate::invariant::{self, Failed, Found};
use crate::limits::Limits;
use crate::program::{Assertion, Tree};
use crate::refute::{Refutation, backward_trace, refute_safety, violates};
use crate::safety::{GaveUp, Prover, SafetyOptions, SafetyProof, Table};

/// Sets that a safety proof may store before invariants are looked for, and the time for it.
const QUICK_STORED: usize = 1_000;
const QUICK_TIME: Duration = Duration::from_millis(300);
/// States explored to see whether that is all.
const FEW_STATES: usize = 5_000;
/// Time for one kind of invariant.
pub(super) const FOUND_TIME: Duration = Duration::from_millis(700);
/// Time for zones where there are many processes, and so many combinations of their places.
const ZONES_TIME: Duration = Duration::from_secs(20);
/// Time for a trace found backwards, once nothing was proved.
const TRACE_TIME: Duration = Duration::from_secs(10);
/// Processes up to which cells are tried before tables.
const FEW_PROCESSES: usize = 4;
/// Operations for finding out whether a map takes rules to rules.
const EXCHANGES: u64 = 100_000_000;
/// Time for all invariants at loop heads.
const CELLS_TIME: Duration = Duration::from_secs(30);

/// Ways to satisfy the conditions of all rules from which on they cannot be listed.
const UNLISTED: usize = 20_000;
/// Time for runs of bounded length: where alternatives can be listed, and where they cannot.
const RUNS_TIME: Duration = Duration::from_secs(3);
const LONG_RUNS_TIME: Duration = Duration::from_secs(60);

/// Sets that a first table with bounds that were found may store, and the time for it. What needs more is sooner seen at loop heads.
const BRIEF_STORED: usize = 100;
const BRIEF_TIME: Duration = Duration::from_millis(500);

/// What is tried for a claim that neither unfolding nor sets of states settle at once.
#[derive(Clone, Copy)]
enum Try {
    /// A table with bounds that were found, of so many sets and in this time.
    Table(usize, Duration),
    /// An invariant at loop heads.
    Heads,
    /// Runs of bounded length that end in a violation.
    Runs,
    /// Zones by location once more, for longer.
    Zones,
}

impl Run<'_> {
    pub(super) fn safety(&self, at: usize) -> Report {
        let limits = self.options.limits.within(self.options.max_time);
        let assertion = &self.program.assertions[at];
        let usable = self.usable(&[at]);
        let mut report =
            Report { conditional_on: usable.conditional_on, notes: usable.notes, ..self.blank(at) };
        let rules = self.program.rules.iter().map(|r| alternatives(&r.guard));
        let all = rules.fold(0, usize::saturating_add);
        let unlisted = all > UNLISTED;
        if unlisted && !self.options.without_invariants {
            let mut other = self.blank(at);
            if self.by_runs(&mut other, &limits.within(LONG_RUNS_TIME)) {
                return other;
            }
            report.open = other.open;
            // Everything else lists alternatives.
            let reached = limits.ended().map(|r| r.to_string());
            if reached.is_some() || all > MOST_LISTED {
                let reason = "runs of bounded length and invariants grown from points do not decide it";
                report.verdict = Verdict::Unknown(reached.unwrap_or_else(|| reason.into()));
                return report;
            }
        }
        let bad = match violations(self.program, &self.domain, assertion) {
            Ok(bad) => bad,
            Err(overflow) => {
                report.verdict = Verdict::Unknown(overflow.to_string());
                return report;
            }
        };
        let mut maps = Vec::new();
        for &(r, nonincreasing) in &usable.relative {
            let name = &self.program.assertions[r].name;
            if self.options.without_assertions {
                continue;
            }
            if !nonincreasing {
                let hint =
                    if self.program.assertions[r].assumed { " (write `assume nonincreasing`)" } else { "" };
                report
                    .notes
                    .push(format!("`{name}` is not used: it is not known to be length-non-increasing{hint}"));
                continue;
            }
            match Map::of(self.program, &self.domain, r) {
                Ok(map) => maps.push(map),
                Err(why) => report.notes.push(format!("`{name}` is not used: {why}")),
            }
        }
        let invariants: Vec<&Tree> = usable.invariants.iter().map(|i| &i.1).collect();
        let map_list: Vec<usize> = maps.iter().map(|m| m.assertion).collect();
        let options = SafetyOptions {
            max_time: self.options.max_time,
            limits: limits.clone(),
            ..self.options.safety.clone()
        };
        let with_maps = !maps.is_empty();
        let prover = Prover::new(self.program, &self.domain, maps, &invariants);
        // What is easy is settled without looking for invariants; then these are tried, then everything.
        let mut why = None;
        let mut outcome = if self.options.without_invariants {
            prover.unreachable(&bad, &options)
        } else {
            let max_stored = options.max_stored.min(QUICK_STORED);
            let max_time = options.max_time.min(QUICK_TIME);
            prover.unreachable(&bad, &SafetyOptions { max_stored, max_time, ..options.clone() })
        };
        // An initial state that is met may be a trace. It may also be met because inequalities were left out.
        if let Err((GaveUp::FactReached, _)) = outcome
            && let Some(refutation) = self.traced(assertion, &bad, QUICK_STORED, &limits.within(QUICK_TIME))
        {
            report.verdict = Verdict::Refuted(refutation);
            return report;
        }
        if outcome.is_err() && !self.options.without_invariants && limits.ended().is_none() {
            // What is violated has no invariant.
            let few = explore(self.program, self.options.explore.min(FEW_STATES), &limits.within(FOUND_TIME));
            if let Some(refutation) = refute_safety(assertion, &few) {
                report.verdict = Verdict::Refuted(refutation);
                return report;
            }
            let exchanges = self.exchanges(at, &map_list);
            match self.found_states(assertion, &exchanges, &bad, &few, &limits) {
                Ok(Some(found)) => {
                    self.proved_without_table(&mut report, found);
                    return report;
                }
                Ok(None) => {}
                Err(reason) => why = Some(reason),
            }
            // Where no column has infinitely many values there is nothing to bound, and unfolding ends.
            let finite = self.domain.data.is_empty();
            if finite {
                let max_time = options.max_time / 2;
                outcome = prover.unreachable(&bad, &SafetyOptions { max_time, ..options.clone() });
            }
            let settled = finite && matches!(outcome, Ok(_) | Err((GaveUp::FactReached, _)));
            // Cells by place multiply with each process; tables under a symmetry do not.
            let brief = Try::Table(BRIEF_STORED, BRIEF_TIME);
            let long = Try::Table(options.max_stored, options.max_time / 2);
            let order: &[Try] = match self.program.counters() <= FEW_PROCESSES {
                _ if settled => &[],
                true => &[brief, Try::Heads, Try::Runs, long, Try::Zones],
                false => &[brief, Try::Zones, long, Try::Heads, Try::Runs],
            };
            for &next in order {
                let (stored, time) = match next {
                    Try::Table(stored, time) => (stored, time),
                    Try::Zones => {
                        let limits = limits.within(ZONES_TIME);
                        if let Ok(found) =
                            invariant::zones(self.program, &self.domain, &exchanges, &bad, &limits)
                        {
                            self.proved_without_table(&mut report, found);
                            return report;
                        }
                        continue;
                    }
                    Try::Heads => {
                        match self.found_at_heads(at, &limits) {
                            Ok(found) => {
                                self.proved_at_heads(&mut report, found);
                                return report;
                            }
                            Err(open) => report.open.splice(0..0, open).for_each(drop),
                        }
                        continue;
                    }
                    Try::Runs => {
                        if !unlisted && self.by_runs(&mut report, &limits.within(RUNS_TIME)) {
                            return report;
                        }
                        continue;
                    }
                };
                // Invariants that the user names are the ones to use.
                let helped = if invariants.is_empty() { self.found_bounds(&limits) } else { None };
                let proved = helped.and_then(|(found, tree)| {
                    let maps = map_list
                        .iter()
                        .filter_map(|&m| Map::of(self.program, &self.domain, m).ok())
                        .collect();
                    let prover = Prover::new(self.program, &self.domain, maps, &[&tree]);
                    let (max_stored, max_time) = (options.max_stored.min(stored), options.max_time.min(time));
                    let options = SafetyOptions { max_stored, max_time, ..options.clone() };
                    prover.unreachable(&bad, &options).ok().map(|proof| (found, proof))
                });
                if let Some((found, proof)) = proved {
                    self.proved_with(&mut report, proof, map_list, found);
                    return report;
                }
            }
            if !settled {
                outcome = prover.unreachable(&bad, &options);
            }
        }
        let mut used = map_list;
        // A fact met after a map was applied says nothing; without maps it may be a real trace.
        if with_maps && matches!(outcome, Err((GaveUp::FactReached, _))) {
            let prover = Prover::new(self.program, &self.domain, Vec::new(), &invariants);
            outcome = prover.unreachable(&bad, &options);
            used.clear();
        }
        match outcome {
            Ok(proof) => {
                report.stored = proof.table.stored;
                report.left_states = proof.table.entries.len();
                report.verdict = Verdict::Proved;
                let invariants = usable.invariants.iter().map(|i| i.0).collect();
                report.proof =
                    Some(Proof::Safety { proof: Box::new(proof), maps: used, invariants, found: None });
            }
            Err((reason, table)) => {
                report.stored = table.stored;
                report.left_states = table.entries.len();
                report.verdict = self.refute_safety(assertion, &bad, reason, &limits);
                if let (Verdict::Unknown(_), Some(why)) = (&report.verdict, why) {
                    report.notes.push(why);
                }
            }
        }
        report
    }

    /// Writes down a proof by an invariant at loop heads.
    pub(super) fn proved_at_heads(&self, report: &mut Report, found: cells::Found) {
        report.conditional_on.clear();
        report.verdict = Verdict::Proved;
        report.left_states = 0;
        report.stored = found.cells.evidence.len();
        report.found = Some((found.name, found.cells.cells.len()));
        report.proof = Some(Proof::Cells(Box::new(found.cells)));
    }

    /// Writes down a proof by an invariant that excludes all violations.
    fn proved_without_table(&self, report: &mut Report, found: Found) {
        report.conditional_on.clear();
        let proof = SafetyProof { table: Table::default(), visited: 0 };
        self.proved_with(report, proof, Vec::new(), found);
    }

    /// Writes down a proof that uses an invariant which was found.
    fn proved_with(&self, report: &mut Report, proof: SafetyProof, maps: Vec<usize>, found: Found) {
        report.verdict = Verdict::Proved;
        report.stored = proof.table.stored;
        report.left_states = proof.table.entries.len();
        report.found = Some((found.name, found.cells.len()));
        if let [cell] = &found.cells[..] {
            report.notes.push(format!("in every state: {}", self.domain.show(self.program, cell)));
        }
        let (proof, invariants, found) = (Box::new(proof), Vec::new(), Some(found));
        report.proof = Some(Proof::Safety { proof, maps, invariants, found });
    }

    /// Those of the maps that take rules to rules and violations of a claim to violations.
    fn exchanges(&self, at: usize, maps: &[usize]) -> Vec<Map> {
        let program = crate::certificate::program(self.program, &self.domain);
        let kept =
            |map: &&usize| quotient_proof_check::keeps(&program, **map, at, &Effort::new(EXCHANGES)).is_ok();
        maps.iter().filter(kept).filter_map(|&m| Map::of(self.program, &self.domain, m).ok()).collect()
    }

    /// Sets of states that exclude the bad ones, or what is in the way of that.
    fn found_states(
        &self,
        assertion: &Assertion,
        exchanges: &[Map],
        bad: &[State],
        reachable: &Reachable,
        limits: &Limits,
    ) -> Result<Option<Found>, String> {
        if let Some(found) = invariant::explicit(self.program, &self.domain, assertion, reachable) {
            return Ok(Some(found));
        }
        let intervals = invariant::intervals(self.program, &self.domain, &limits.within(FOUND_TIME));
        if let Some(found) = intervals.ok().filter(|f| f.excludes(bad) == Ok(true)) {
            return Ok(Some(found));
        }
        match invariant::zones(self.program, &self.domain, exchanges, bad, &limits.within(FOUND_TIME)) {
            Ok(found) => Ok(Some(found)),
            Err(Failed::Meets(state)) => {
                let states = self.domain.show(self.program, &state);
                Err(format!("the invariants tried do not exclude a violation among {states}"))
            }
            Err(_) => Ok(None),
        }
    }

    /// Decides a claim by runs of bounded length, if they do.
    fn by_runs(&self, report: &mut Report, limits: &Limits) -> bool {
        let assertion = &self.program.assertions[report.assertion];
        match bounded::prove(self.program, assertion, limits) {
            Bounded::Proved(found) => self.proved_at_heads(report, found),
            Bounded::Refuted(trace) => {
                let reason = "this state violates the claim".into();
                report.verdict = Verdict::Refuted(Refutation { trace, reason });
            }
            Bounded::Open(open) => {
                report.open.extend(open);
                return false;
            }
        }
        true
    }

    /// An invariant at loop heads that excludes the violations, or what is in the way of one.
    fn found_at_heads(&self, at: usize, limits: &Limits) -> Result<cells::Found, Option<cells::Open>> {
        let assertion = &self.program.assertions[at];
        match cells::prove(self.program, &self.domain, assertion, &limits.within(CELLS_TIME)) {
            Ok(found) => Ok(found),
            Err(tried) => Err(tried.open),
        }
    }

    /// Bounds of columns that hold in every state, to help unfolding.
    fn found_bounds(&self, limits: &Limits) -> Option<(Found, Tree)> {
        let found = invariant::intervals(self.program, &self.domain, &limits.within(FOUND_TIME)).ok()?;
        if found.is_trivial(&self.domain) {
            return None;
        }
        let tree = found.tree(&self.domain).ok()?;
        Some((found, tree))
    }

    /// A concrete trace to a violation, found backwards.
    fn traced(
        &self,
        assertion: &Assertion,
        bad: &[State],
        sets: usize,
        limits: &Limits,
    ) -> Option<Refutation> {
        let trace = backward_trace(self.program, &self.domain, bad, &[], sets, limits).ok()??;
        let violating = trace.last().is_some_and(|s| violates(assertion, &s.state) == Ok(true));
        violating.then(|| Refutation { trace, reason: "this state violates the claim".into() })
    }

    fn refute_safety(
        &self,
        assertion: &Assertion,
        bad: &[State],
        reason: GaveUp,
        limits: &Limits,
    ) -> Verdict {
        if let Some(refutation) = self.traced(assertion, bad, 4000, &limits.within(TRACE_TIME)) {
            return Verdict::Refuted(refutation);
        }
        if let Some(refutation) = refute_safety(assertion, self.reachable()) {
            return Verdict::Refuted(refutation);
        }
        Verdict::Unknown(match reason {
            GaveUp::FactReached => {
                "an initial state seems to lead to a violation, but no concrete trace was found".into()
            }
            GaveUp::Stored => format!("the table reached {} entries", self.options.safety.max_stored),
            GaveUp::Limit(reached) => reached.to_string(),
            GaveUp::Overflow => Overflow.to_string(),
        })
    }
}
