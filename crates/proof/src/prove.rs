//! Proving the assertions of a program: order, attempts, verdicts. `claims.rs` has those of safety claims.

mod claims;
mod confirm;

use std::cell::{OnceCell, RefCell};
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::constraint::Overflow;
use crate::domain::{Domain, State};
use crate::explicit::{Reachable, explore};
pub use crate::groups::groups;
use crate::invariant::Found;
use crate::inverse::inverse;
use crate::limits::{Limits, Reached};
use crate::program::{Assertion, Program, Right, Tree};
use crate::refute::{Refutation, refute_relative};
use crate::relative::{Grain, Outcome, RelativeOptions, RelativeProof, Support, prove_group};
use crate::safety::{SafetyOptions, SafetyProof};
use crate::step::Step;

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
    /// Its map takes each rule to a rule.
    Renamed,
    /// All reachable states, among which each left state of a relative claim has a partner.
    Listed(Vec<quotient_proof_check::format::Derived>),
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
    /// Where a claim stays open: runs to a violation that could not be excluded.
    pub open: Vec<crate::cells::Open>,
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
    /// Knows the proofs it has accepted so far.
    checker: RefCell<Option<quotient_proof_check::Checker>>,
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
        checker: RefCell::new(None),
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
    // Conditions number their own variables right after the columns.
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
            open: Vec::new(),
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
                None => {
                    let mut report = self.safety(at);
                    self.confirm(&mut report, &self.options.limits.within(self.options.max_time));
                    report
                }
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
            if self.renamed(report) {
                report.elapsed = started.elapsed();
                decided(report);
                continue;
            }
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
                    self.confirm_group(&mut [report]);
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
            // What has no short proof of bounded length may have partners in the list of all states.
            if !options.bounded_length && options.grain == Grain::Whole {
                for report in reports.iter_mut().filter(|r| open.contains(&r.assertion)) {
                    if self.listed(report) {
                        report.elapsed += started.elapsed();
                    }
                }
                let proved = |r: &&Report| matches!(r.verdict, Verdict::Proved);
                let done: Vec<usize> = reports.iter().filter(proved).map(|r| r.assertion).collect();
                open.retain(|at| !done.contains(at));
                if open.is_empty() {
                    return reports;
                }
            }
            match self.attempt(&open, &support, &options) {
                Outcome::Proved(proof) => {
                    let proof = std::rc::Rc::new(*proof);
                    for report in reports.iter_mut().filter(|r| open.contains(&r.assertion)) {
                        self.fill(report, proof.clone(), &open, &supports, &invariants);
                        report.elapsed += started.elapsed();
                    }
                    let mut members: Vec<&mut Report> =
                        reports.iter_mut().filter(|r| open.contains(&r.assertion)).collect();
                    self.confirm_group(&mut members);
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
