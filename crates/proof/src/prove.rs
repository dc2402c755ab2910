//! Proving the assertions of a program: order, attempts, verdicts.

use std::cell::OnceCell;
use std::time::Duration;

use crate::canonical::Map;
use crate::cells;
use crate::clock::Stopwatch;
use crate::constraint::Overflow;
use crate::domain::{Domain, State};
use crate::explicit::{Reachable, explore};
pub use crate::groups::groups;
use crate::invariant::{self, Failed, Found};
use crate::inverse::inverse;
use crate::limits::{Limits, Reached};
use crate::program::{Assertion, Program, Right, Tree};
use crate::refute::{Refutation, backward_trace, refute_relative, refute_safety, violates};
use crate::relative::{Grain, Outcome, RelativeOptions, RelativeProof, Support, prove_group};
use crate::safety::{GaveUp, Prover, SafetyOptions, SafetyProof, Table};
use crate::step::Step;

/// Sets that a safety proof may store before invariants are looked for, and the time for it.
const QUICK_STORED: usize = 1_000;
const QUICK_TIME: Duration = Duration::from_millis(300);
/// States explored to see whether that is all.
const FEW_STATES: usize = 5_000;
/// Time for one kind of invariant.
const FOUND_TIME: Duration = Duration::from_millis(700);
/// Time for a trace found backwards, once nothing was proved.
const TRACE_TIME: Duration = Duration::from_secs(10);
/// Time for all invariants at loop heads.
const CELLS_TIME: Duration = Duration::from_secs(30);

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Safety proofs: order, eviction, limits.
    pub safety: SafetyOptions,
    /// Ignore relative assertions in safety proofs (to measure what they save).
    pub without_assertions: bool,
    /// Do not look for invariants.
    pub without_invariants: bool,
    /// Only the one-level attempt for relative assertions.
    pub one_level_only: bool,
    /// Count goals as the paper's first table does: every right goal satisfiable jointly with the
    /// left one (costs time).
    pub paper_counts: bool,
    /// Time for each assertion or group.
    pub max_time: Duration,
    /// Limits of the whole run.
    pub limits: Limits,
    /// Concrete states to explore for guidance and refutation.
    pub explore: usize,
    /// Also look for one-level proofs of inverses.
    pub inverses: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            safety: SafetyOptions::default(),
            without_assertions: false,
            without_invariants: false,
            one_level_only: false,
            paper_counts: false,
            max_time: Duration::from_secs(600),
            limits: Limits::default(),
            explore: 20_000,
            inverses: false,
        }
    }
}

/// What was found out about an assertion.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It holds (given the assumptions named with it).
    Proved,
    /// It does not hold.
    Refuted(Refutation),
    /// Neither was shown, for this reason.
    Unknown(String),
    /// It was not to be proved.
    Assumed,
}

/// The proof behind a verdict.
#[derive(Clone, Debug)]
pub enum Proof {
    /// A table of unreachable sets.
    Safety {
        /// The table.
        proof: Box<SafetyProof>,
        /// Relative assertions used as maps.
        maps: Vec<usize>,
        /// Invariants used.
        invariants: Vec<usize>,
        /// An invariant that was found.
        found: Option<Found>,
    },
    /// An invariant at loop heads.
    Cells(Box<quotient_proof_check::format::Cells>),
    /// A table of obligations, shared by the assertions proved together.
    Relative {
        /// The table.
        proof: std::rc::Rc<RelativeProof>,
        /// Assertions proved together.
        group: Vec<usize>,
        /// Relative assertions it relies on beyond the group.
        supports: Vec<usize>,
        /// Invariants used.
        invariants: Vec<usize>,
        /// A one-level proof of the inverse, when it was looked for and found.
        inverse: Option<std::rc::Rc<RelativeProof>>,
    },
}

/// The report on one assertion.
#[derive(Clone, Debug)]
pub struct Report {
    /// Index of the assertion.
    pub assertion: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// Assumptions it depends on, directly or through what it uses.
    pub conditional_on: Vec<usize>,
    /// Goals visited on the left.
    pub left_states: usize,
    /// Goals visited on the right.
    pub right_states: usize,
    /// Entries in the final table.
    pub stored: usize,
    /// Whether it was proved length-non-increasing (relative assertions).
    pub nonincreasing: bool,
    /// Whether it has a one-level proof.
    pub one_level: bool,
    /// Whether its inverse has one (looked for only on request).
    pub one_level_inverse: Option<bool>,
    /// CPU time.
    pub elapsed: Duration,
    /// The invariant that was found and used: what kind, and how many sets.
    pub found: Option<(&'static str, usize)>,
    /// Remarks: what was not used and why.
    pub notes: Vec<String>,
    /// The proof.
    pub proof: Option<Proof>,
}

/// A run over one program.
pub struct Run<'p> {
    program: &'p Program,
    options: &'p Options,
    domain: Domain,
    reachable: OnceCell<Reachable>,
    reports: Vec<Option<Report>>,
}

/// Proves or refutes every assertion of the program.
pub fn prove(program: &Program, options: &Options) -> Vec<Report> {
    prove_each(program, options, &mut |_| {})
}

/// The same, telling each report as soon as it is there.
pub fn prove_each(program: &Program, options: &Options, decided: &mut dyn FnMut(&Report)) -> Vec<Report> {
    let mut run = Run {
        program,
        options,
        domain: Domain::of(program),
        reachable: OnceCell::new(),
        reports: vec![None; program.assertions.len()],
    };
    for group in groups(program) {
        run.group(&group, decided);
    }
    run.reports.into_iter().flatten().collect()
}

/// A safety claim that holds of every state: usable as an invariant. One with a condition on the
/// left is the implication.
pub fn invariant(assertion: &Assertion, width: usize) -> Option<Tree> {
    let Right::Constraint(claim) = &assertion.right else { return None };
    if assertion.universal > 2 * width + 1 {
        return None;
    }
    Some(simplify(Tree::Or(vec![assertion.left.negated()?, claim.clone()])))
}

/// Removes alternatives that are plainly false and conjuncts that are plainly true.
fn simplify(tree: Tree) -> Tree {
    match tree {
        Tree::Or(list) => {
            let mut list: Vec<Tree> =
                list.into_iter().map(simplify).filter(|t| *t != Tree::Or(Vec::new())).collect();
            if list.contains(&Tree::truth()) {
                return Tree::truth();
            }
            if list.len() == 1 { list.remove(0) } else { Tree::Or(list) }
        }
        Tree::And(list) => {
            let mut list: Vec<Tree> =
                list.into_iter().map(simplify).filter(|t| *t != Tree::truth()).collect();
            if list.contains(&Tree::Or(Vec::new())) {
                return Tree::Or(Vec::new());
            }
            if list.len() == 1 { list.remove(0) } else { Tree::And(list) }
        }
        leaf => leaf,
    }
}

/// The states that would violate a safety claim.
pub fn violations(program: &Program, domain: &Domain, assertion: &Assertion) -> Result<Vec<State>, Overflow> {
    let Right::Constraint(claim) = &assertion.right else { return Ok(Vec::new()) };
    let k = program.width();
    let bad = Tree::And(vec![assertion.left.clone(), claim.negated().ok_or(Overflow)?]);
    // Conditions number their own variables right behind the columns.
    let shift = |n: usize| if n > 2 * k { n - k } else { n };
    let bad = renamed(&bad, &shift)?;
    let step = Step::condition(program, domain, &bad, assertion.nodes - k);
    let mut out = Vec::new();
    step.unfold(domain, &domain.universe(), &mut |s, _| out.push(s))?;
    Ok(out)
}

fn renamed(tree: &Tree, to: &impl Fn(usize) -> usize) -> Result<Tree, Overflow> {
    Ok(match tree {
        Tree::Le(l) => Tree::Le(l.renamed(to)?),
        Tree::And(list) => Tree::And(list.iter().map(|t| renamed(t, to)).collect::<Result<_, _>>()?),
        Tree::Or(list) => Tree::Or(list.iter().map(|t| renamed(t, to)).collect::<Result<_, _>>()?),
    })
}

/// An invariant that excludes the violations by itself.
enum Alone {
    States(Found),
    Cells(cells::Found),
}

/// What may be used for an assertion.
#[derive(Default)]
struct Usable {
    invariants: Vec<(usize, Tree)>,
    /// With whether it is length-non-increasing.
    relative: Vec<(usize, bool)>,
    conditional_on: Vec<usize>,
    notes: Vec<String>,
}

impl Run<'_> {
    fn reachable(&self) -> &Reachable {
        // All assertions share it, so it is not part of the time of one.
        let limits = self.options.limits.within(self.options.max_time.min(Duration::from_secs(10)));
        self.reachable.get_or_init(|| explore(self.program, self.options.explore, &limits))
    }

    fn blank(&self, assertion: usize) -> Report {
        Report {
            assertion,
            verdict: Verdict::Unknown(String::new()),
            conditional_on: Vec::new(),
            left_states: 0,
            right_states: 0,
            stored: 0,
            nonincreasing: false,
            one_level: false,
            one_level_inverse: None,
            elapsed: Duration::ZERO,
            found: None,
            notes: Vec::new(),
            proof: None,
        }
    }

    /// What the members of a group name with `using`, outside the group.
    fn usable(&self, group: &[usize]) -> Usable {
        let mut usable = Usable::default();
        let k = self.program.width();
        let mut named: Vec<usize> =
            group.iter().flat_map(|&g| self.program.assertions[g].using.iter().copied()).collect();
        named.sort_unstable();
        named.dedup();
        for at in named.into_iter().filter(|n| !group.contains(n)) {
            let assertion = &self.program.assertions[at];
            let Some(report) = &self.reports[at] else { continue };
            let name = &assertion.name;
            match &report.verdict {
                Verdict::Assumed => usable.conditional_on.push(at),
                Verdict::Proved => usable.conditional_on.extend(&report.conditional_on),
                _ => {
                    usable.notes.push(format!("`{name}` is not used: it is not proved"));
                    continue;
                }
            }
            if assertion.is_relative() {
                usable.relative.push((at, report.nonincreasing));
            } else if let Some(tree) = invariant(assertion, k) {
                usable.invariants.push((at, tree));
            } else {
                usable.notes.push(format!("`{name}` is not used: its left side has variables of its own"));
            }
        }
        usable.conditional_on.sort_unstable();
        usable.conditional_on.dedup();
        usable
    }

    fn group(&mut self, group: &[usize], decided: &mut dyn FnMut(&Report)) {
        let begun = Stopwatch::start();
        let (relative, rest): (Vec<usize>, Vec<usize>) =
            group.iter().partition(|&&g| self.program.assertions[g].is_relative());
        let mut waiting = Vec::new();
        for &at in rest.iter().chain(&relative) {
            if self.program.assertions[at].assumed {
                let nonincreasing = self.program.assertions[at].nonincreasing;
                let report = Report { verdict: Verdict::Assumed, nonincreasing, ..self.blank(at) };
                decided(&report);
                self.reports[at] = Some(report);
            } else {
                waiting.push(at);
            }
        }
        // Only relative assertions may depend on each other in a circle.
        for &at in rest.iter().filter(|a| waiting.contains(a)) {
            let mut report = match self.options.limits.ended() {
                Some(reached) => self.not_begun(at, reached),
                None => self.safety(at),
            };
            if group.len() > 1 {
                report.notes.push("it depends on itself through `using`; such uses are ignored".into());
            }
            report.elapsed = begun.elapsed();
            decided(&report);
            self.reports[at] = Some(report);
        }
        let relative: Vec<usize> = relative.into_iter().filter(|a| waiting.contains(a)).collect();
        if !relative.is_empty() {
            let reports = match self.options.limits.ended() {
                Some(reached) => relative.iter().map(|&at| self.not_begun(at, reached)).collect(),
                None => self.relative(&relative, decided),
            };
            for report in reports {
                // Those proved by themselves were told when they were.
                if !(report.one_level && matches!(report.verdict, Verdict::Proved)) {
                    decided(&report);
                }
                let at = report.assertion;
                self.reports[at] = Some(report);
            }
        }
    }

    /// The report on an assertion that was not looked at because the run is to end.
    fn not_begun(&self, at: usize, reached: Reached) -> Report {
        Report { verdict: Verdict::Unknown(format!("{reached}, before it was tried")), ..self.blank(at) }
    }

    fn safety(&self, at: usize) -> Report {
        let limits = self.options.limits.within(self.options.max_time);
        let assertion = &self.program.assertions[at];
        let usable = self.usable(&[at]);
        let mut report =
            Report { conditional_on: usable.conditional_on, notes: usable.notes, ..self.blank(at) };
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
            match self.found_alone(at, &bad, &limits) {
                Ok(Alone::Cells(found)) => {
                    self.proved_at_heads(&mut report, found);
                    return report;
                }
                Ok(Alone::States(found)) => {
                    report.conditional_on.clear();
                    let proof = SafetyProof { table: Table::default(), visited: 0 };
                    self.proved_with(&mut report, proof, Vec::new(), found);
                    return report;
                }
                Err(reason) => why = reason,
            }
            // Invariants that the user names are the ones to use.
            let helped = if invariants.is_empty() { self.found_bounds(&limits) } else { None };
            let proved = helped.and_then(|(found, tree)| {
                let maps =
                    map_list.iter().filter_map(|&m| Map::of(self.program, &self.domain, m).ok()).collect();
                let prover = Prover::new(self.program, &self.domain, maps, &[&tree]);
                let options = SafetyOptions { max_time: options.max_time / 2, ..options.clone() };
                prover.unreachable(&bad, &options).ok().map(|proof| (found, proof))
            });
            if let Some((found, proof)) = proved {
                self.proved_with(&mut report, proof, map_list, found);
                return report;
            }
            outcome = prover.unreachable(&bad, &options);
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
                self.confirm(&mut report, &limits);
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

    /// The checker decides differences in tables, and general inequalities only with evidence: a proof by a table that it refuses
    /// is replaced by an invariant at loop heads, if one is found; otherwise the report says that nothing confirms it.
    fn confirm(&self, report: &mut Report, limits: &Limits) {
        let Some(Proof::Safety { maps, invariants, .. }) = &report.proof else { return };
        if !self.has_general(report.assertion) {
            return;
        }
        let alone = maps.is_empty() && invariants.is_empty();
        let written = crate::certificate::certificate(self.program, std::slice::from_ref(report));
        if alone
            && let Ok(Some(written)) = written
            && quotient_proof_check::check(&written).is_ok()
        {
            return;
        }
        let assertion = &self.program.assertions[report.assertion];
        let found = cells::prove(self.program, &self.domain, assertion, &limits.within(FOUND_TIME));
        match found.ok().filter(|found| self.checked(report.assertion, found).is_ok()) {
            Some(found) => self.proved_at_heads(report, found),
            None => report.notes.push(
                "not confirmed by the checker, which decides no general linear inequalities in tables".into(),
            ),
        }
    }

    /// Whether the program or the claim has inequalities that are not differences.
    fn has_general(&self, at: usize) -> bool {
        let mut general = false;
        let mut visit = |l: &crate::constraint::Linear| {
            general |= !matches!(l.terms[..], [] | [(_, 1 | -1)] | [(_, 1), (_, -1)] | [(_, -1), (_, 1)]);
        };
        self.program.rules.iter().for_each(|r| r.guard.each(&mut visit));
        self.program.assertions[at].left.each(&mut visit);
        if let Right::Constraint(claim) = &self.program.assertions[at].right {
            claim.each(&mut visit);
        }
        general
    }

    /// Writes down a proof by an invariant at loop heads.
    fn proved_at_heads(&self, report: &mut Report, found: cells::Found) {
        report.conditional_on.clear();
        report.verdict = Verdict::Proved;
        report.left_states = 0;
        report.stored = found.cells.evidence.len();
        report.found = Some((found.name, found.cells.cells.len()));
        report.proof = Some(Proof::Cells(Box::new(found.cells)));
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

    /// An invariant that excludes the bad states by itself, or what is in the way of one.
    fn found_alone(&self, at: usize, bad: &[State], limits: &Limits) -> Result<Alone, Option<String>> {
        let assertion = &self.program.assertions[at];
        let few = self.options.explore.min(FEW_STATES);
        let reachable = explore(self.program, few, &limits.within(FOUND_TIME));
        if let Some(found) = invariant::explicit(self.program, &self.domain, assertion, &reachable) {
            return Ok(Alone::States(found));
        }
        // What is violated has no invariant.
        if refute_safety(assertion, &reachable).is_some() {
            return Err(None);
        }
        let intervals = invariant::intervals(self.program, &self.domain, &limits.within(FOUND_TIME));
        if let Some(found) = intervals.ok().filter(|f| f.excludes(bad) == Ok(true)) {
            return Ok(Alone::States(found));
        }
        let zones = invariant::zones(self.program, &self.domain, bad, &limits.within(FOUND_TIME));
        let mut why = match zones {
            Ok(found) => return Ok(Alone::States(found)),
            Err(Failed::Meets(state)) => {
                let states = self.domain.show(self.program, &state);
                Some(format!("the invariants tried do not exclude a violation among {states}"))
            }
            Err(_) => None,
        };
        match cells::prove(self.program, &self.domain, assertion, &limits.within(CELLS_TIME)) {
            Ok(found) => match self.checked(at, &found) {
                Ok(()) => return Ok(Alone::Cells(found)),
                Err(refusal) => why = Some(format!("a proof was found that the checker refuses: {refusal}")),
            },
            Err(tried) => {
                if let Some(state) = tried.meets {
                    let text = |v: &Option<i64>| v.map_or("_".into(), |v| v.to_string());
                    let state = self.program.show_terms(&state.iter().map(text).collect::<Vec<_>>());
                    why = Some(format!("the invariants tried do not exclude {state}"));
                }
            }
        }
        Err(why)
    }

    /// Nothing is called proved by an invariant at loop heads before the checker has accepted it.
    fn checked(&self, at: usize, found: &cells::Found) -> Result<(), String> {
        use quotient_proof_check::format as out;
        let program = crate::certificate::program(self.program, &self.domain);
        let proofs = vec![out::Proof::Cells { assertion: at, cells: found.cells.clone() }];
        let certificate = out::Certificate { format: out::FORMAT.into(), program, proofs };
        quotient_proof_check::check(&certificate).map(|_| ())
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

    fn attempt(&self, group: &[usize], support: &Support, options: &RelativeOptions) -> Outcome {
        prove_group(self.program, &self.domain, group, support, options)
    }

    fn relative(&self, group: &[usize], decided: &mut dyn FnMut(&Report)) -> Vec<Report> {
        let limits = self.options.limits.within(self.options.max_time);
        let usable = self.usable(group);
        let mut support = Support {
            assertions: usable.relative.iter().map(|&(a, short)| (a, short.then_some(0))).collect(),
            invariants: usable.invariants.iter().map(|i| &i.1).collect(),
            reachable: None,
        };
        let invariants: Vec<usize> = usable.invariants.iter().map(|i| i.0).collect();
        let fresh = |at: usize| Report {
            conditional_on: usable.conditional_on.clone(),
            notes: usable.notes.clone(),
            ..self.blank(at)
        };
        let base = RelativeOptions {
            max_left: 1,
            max_right: 1,
            max_right_states: 4000,
            max_entries: 10_000,
            limits: limits.clone(),
            bounded_length: true,
            grain: Grain::Whole,
            one_level: true,
            paper_counts: self.options.paper_counts,
        };
        let mut reports: Vec<Report> = group.iter().map(|&g| fresh(g)).collect();
        let mut open = Vec::new();
        for report in &mut reports {
            let started = Stopwatch::start();
            let alone = Support { invariants: support.invariants.clone(), ..Support::default() };
            match self.attempt(&[report.assertion], &alone, &base) {
                Outcome::Proved(proof) => {
                    self.fill(report, proof.into(), &[report.assertion], &[], &invariants);
                    if self.options.inverses && report.one_level {
                        let found = self.prove_inverse(report.assertion, &base);
                        report.one_level_inverse = Some(found.is_some());
                        if let Some(Proof::Relative { inverse, .. }) = &mut report.proof {
                            *inverse = found;
                        }
                    }
                }
                Outcome::Failed(reason, left, right) => {
                    (report.left_states, report.right_states) = (left, right);
                    report.verdict = Verdict::Unknown(reason);
                    open.push(report.assertion);
                }
            }
            report.elapsed = started.elapsed();
            if report.one_level && matches!(report.verdict, Verdict::Proved) {
                decided(report);
            }
        }
        if open.is_empty() || self.options.one_level_only {
            return reports;
        }
        // Those already proved support the rest; what remains is proved together.
        for report in reports.iter().filter(|r| matches!(r.verdict, Verdict::Proved)) {
            support.assertions.push((report.assertion, Some(0)));
        }
        support.reachable = Some(self.reachable());
        let supports: Vec<usize> = support.assertions.iter().map(|a| a.0).collect();
        let deep = RelativeOptions { one_level: false, ..base };
        let mut attempts = Vec::new();
        for bounded_length in [true, false] {
            for (grain, max_left, max_right, max_entries) in [
                (Grain::Whole, 200, 6, 600),
                (Grain::Locations, 60, 8, 4_000),
                (Grain::Values, 120, 10, 200_000),
            ] {
                attempts.push(RelativeOptions {
                    bounded_length,
                    grain,
                    max_left,
                    max_right,
                    max_entries,
                    ..deep.clone()
                });
            }
        }
        let started = Stopwatch::start();
        // A false claim has no proof: look for a counterexample before the long attempts.
        let mut refuted = Vec::new();
        for &at in &open {
            let assertion = &self.program.assertions[at];
            if let Ok(Some(found)) =
                refute_relative(self.program, &self.domain, assertion, self.reachable(), 40, &limits)
            {
                refuted.push((at, found));
            }
        }
        for (at, found) in refuted {
            open.retain(|o| *o != at);
            if let Some(report) = reports.iter_mut().find(|r| r.assertion == at) {
                report.verdict = Verdict::Refuted(found);
                report.elapsed += started.elapsed();
            }
        }
        if open.is_empty() {
            return reports;
        }
        let mut last = String::new();
        for options in attempts {
            match self.attempt(&open, &support, &options) {
                Outcome::Proved(proof) => {
                    let proof = std::rc::Rc::new(*proof);
                    for report in reports.iter_mut().filter(|r| open.contains(&r.assertion)) {
                        self.fill(report, proof.clone(), &open, &supports, &invariants);
                        report.elapsed += started.elapsed();
                    }
                    return reports;
                }
                Outcome::Failed(reason, left, right) => {
                    last = reason;
                    for report in reports.iter_mut().filter(|r| open.contains(&r.assertion)) {
                        report.left_states += left;
                        report.right_states += right;
                    }
                }
            }
        }
        for report in reports.iter_mut().filter(|r| open.contains(&r.assertion)) {
            report.verdict = Verdict::Unknown(last.clone());
            report.elapsed += started.elapsed();
        }
        reports
    }

    fn fill(
        &self,
        report: &mut Report,
        proof: std::rc::Rc<RelativeProof>,
        group: &[usize],
        supports: &[usize],
        invariants: &[usize],
    ) {
        report.verdict = Verdict::Proved;
        report.left_states = proof.left_states;
        report.right_states = proof.right_states;
        report.stored = proof.entries.len();
        report.nonincreasing = proof.length_bounded;
        report.one_level = proof.one_level;
        report.proof = Some(Proof::Relative {
            proof,
            group: group.to_vec(),
            supports: supports.to_vec(),
            invariants: invariants.to_vec(),
            inverse: None,
        });
    }

    /// A one-level proof of the inverse of an assertion, if there is one.
    fn prove_inverse(&self, at: usize, options: &RelativeOptions) -> Option<std::rc::Rc<RelativeProof>> {
        let inverse = inverse(&self.program.assertions[at], self.program.width())?;
        let mut program = self.program.clone();
        program.assertions.push(inverse);
        let group = [program.assertions.len() - 1];
        match prove_group(&program, &self.domain, &group, &Support::default(), options) {
            Outcome::Proved(proof) if proof.one_level => Some(std::rc::Rc::new(*proof)),
            _ => None,
        }
    }
}
