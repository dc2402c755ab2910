//! Checking a model: reductions, search, verdict, traces.

use std::fmt;
use std::sync::atomic::AtomicBool;

use quotient_ample::{All, Ample, AmpleSets, Question};
use quotient_machine::Machine;
use quotient_residual::Reduced;
use quotient_search::{Cause, Limits, Options, Report, Seams, Statistics, Stop, breadth_first, depth_first};
use quotient_symmetry::Identity;
use quotient_symmetry::audit::audit;
use quotient_system::{Exhausted, System};
use quotient_trace::{NotReplayable, Trace, in_real_names};
use quotient_visited::{Plain, Tree, Visited};

use crate::symmetry_choice::{self, Representative, Symmetry, SymmetryReport};
use crate::{Model, Relative};

/// In which order states are explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchKind {
    /// Nearest first: shortest counterexamples.
    #[default]
    BreadthFirst,
    /// Deepest first.
    DepthFirst,
}

/// How states are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreKind {
    /// Shared pairs: the smallest.
    #[default]
    Tree,
    /// As they are.
    Plain,
}

/// Whether only representative interleavings are explored (partial order reduction).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialOrder {
    /// All interleavings.
    Off,
    /// Ample sets of independent steps.
    #[default]
    On,
    /// Ample sets; allocations of objects count as independent, since they commute up to renaming.
    SymmetricIndependence,
}

impl PartialOrder {
    /// The word for it in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            PartialOrder::Off => "off",
            PartialOrder::On => "on",
            PartialOrder::SymmetricIndependence => "si",
        }
    }
}

/// What to check, and how.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// Order of the search.
    pub search: SearchKind,
    /// The store.
    pub store: StoreKind,
    /// Partial order reduction, where it is sound.
    pub partial_order: PartialOrder,
    /// No reductions at all: every variable, step and interleaving counts, as in SPIN's `-o1 -o2 -o3` and `-DNOREDUCE`.
    pub raw: bool,
    /// Which states stand for others. `None`: the canonical form, or nothing with `raw`.
    pub symmetry: Option<Symmetry>,
    /// Compare this many states with their representatives afterwards.
    pub audit: u64,
    /// Go on after the first violation and report one of each kind and place.
    pub all: bool,
    /// Report deadlocks.
    pub deadlocks: bool,
    /// Ask for safety only: temporal claims of the model are not part of the question.
    pub safety_only: bool,
    /// Bounds.
    pub limits: Limits,
    /// Set from outside to end the search.
    pub interrupt: Option<&'a AtomicBool>,
    /// Proved symmetries to use; the model is then checked as written.
    pub relative: Option<&'a Relative>,
}

impl Default for Check<'_> {
    fn default() -> Self {
        Check {
            search: SearchKind::default(),
            store: StoreKind::default(),
            partial_order: PartialOrder::default(),
            raw: false,
            symmetry: None,
            audit: 0,
            all: false,
            deadlocks: true,
            safety_only: false,
            limits: Limits::default(),
            interrupt: None,
            relative: None,
        }
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything asked for was decided and holds.
    Holds,
    /// Something does not hold.
    Violated,
    /// Not everything was decided: why.
    Undecided(String),
}

/// One violation, with its trace.
#[derive(Clone, Debug)]
pub struct ViolationReport {
    /// A stable word for machines.
    pub kind: String,
    /// A sentence for people.
    pub message: String,
    /// Where the violation is, as `file:line`, if it has a place.
    pub at: Option<String>,
    /// How often it was met.
    pub count: u64,
    /// The way to it.
    pub trace: Trace,
    /// The way to it, as choices.
    pub choices: Vec<u32>,
}

/// A statement that was never executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// The proctype.
    pub process: String,
    /// Where, as `file:line`.
    pub at: String,
    /// The statement.
    pub statement: String,
}

/// The result of a check.
#[derive(Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// What does not hold; one entry unless `all` was asked for.
    pub violations: Vec<ViolationReport>,
    /// How much was done.
    pub statistics: Statistics,
    /// What the program's reductions did.
    pub reduced: Reduced,
    /// What was found and done about symmetry.
    pub symmetry: SymmetryReport,
    /// What the user should know: reductions that were off, claims that were not checked.
    pub notes: Vec<String>,
    /// Statements never executed; only known when everything was explored.
    pub unreached: Vec<Unreached>,
    /// The name of the store.
    pub store: &'static str,
    /// The partial order reduction that was applied.
    pub partial_order: PartialOrder,
}

impl Outcome {
    /// Everything asked for was decided and holds.
    pub fn holds(&self) -> bool {
        self.verdict == Verdict::Holds
    }
}

/// Why there is no outcome.
#[derive(Debug)]
pub enum CheckError {
    /// The model cannot be represented.
    Exhausted(Exhausted),
    /// A counterexample does not replay: a bug of the checker.
    NotReplayable(NotReplayable),
    /// An audit found states that do not behave like their representatives: a bug of the checker.
    WrongRepresentatives(u64),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Exhausted(e) => f.write_str(&e.what),
            CheckError::NotReplayable(e) => e.fmt(f),
            CheckError::WrongRepresentatives(count) => write!(
                f,
                "{count} states do not behave like their representatives; this is a bug in quotient, please report it"
            ),
        }
    }
}

impl std::error::Error for CheckError {}

impl Model {
    /// Compiles the model; reduced unless `raw`. When the model turns out to need more than 65536 combinations of
    /// processes, it is compiled again with `wide`.
    pub fn machine(&self, raw: bool, wide: bool) -> Result<(Machine, Reduced), CheckError> {
        let mut program = self.program.clone();
        let reduced = if raw { Reduced::default() } else { quotient_residual::reduce(&mut program) };
        let machine =
            if wide { Machine::wide(program, &self.sources) } else { Machine::new(program, &self.sources) };
        Ok((machine.map_err(CheckError::Exhausted)?, reduced))
    }

    /// Checks the model.
    pub fn check(&self, check: &Check<'_>) -> Result<Outcome, CheckError> {
        self.check_with(check, &mut |_| {})
    }

    /// Checks the model, calling `progress` a few times a second.
    pub fn check_with(
        &self,
        check: &Check<'_>,
        progress: &mut dyn FnMut(&Statistics),
    ) -> Result<Outcome, CheckError> {
        if let Some(relative) = check.relative {
            return self.check_relative(relative, check, progress);
        }
        let (mut machine, mut reduced) = self.machine(check.raw, false)?;
        let mut representative = symmetry_choice::representative(&mut machine, check);
        let (mut report, mut order) = run(&mut machine, representative.as_mut(), check, progress);
        if let Stop::Incomplete(why) = &report.stop
            && Machine::needs_wide(why)
        {
            (machine, reduced) = self.machine(check.raw, true)?;
            representative = symmetry_choice::representative(&mut machine, check);
            (report, order) = run(&mut machine, representative.as_mut(), check, progress);
        }
        self.outcome(machine, representative, check, report, reduced, order)
    }

    pub(crate) fn outcome(
        &self,
        mut machine: Machine,
        mut representative: Option<Representative>,
        check: &Check<'_>,
        report: Report,
        reduced: Reduced,
        order: Result<PartialOrder, &'static str>,
    ) -> Result<Outcome, CheckError> {
        let mut symmetry =
            symmetry_choice::report(&mut machine, check, representative.as_ref(), &self.sources);
        if check.audit > 0
            && let Some(representative) = &mut representative
        {
            let audit = audit(&mut machine, representative, check.audit, 1).map_err(CheckError::Exhausted)?;
            if audit.wrong > 0 {
                return Err(CheckError::WrongRepresentatives(audit.wrong));
            }
            symmetry.audited = Some((audit.states, audit.renamed));
        }
        let mut notes = Vec::new();
        let unchecked = (!check.safety_only && !self.claims.is_empty()).then(|| {
            let names: Vec<String> =
                self.claims.iter().map(|c| format!("{} {}", c.keyword, c.name).trim().to_owned()).collect();
            format!("temporal claims are not checked yet: {}", names.join(", "))
        });
        notes.extend(unchecked.clone());
        if check.raw {
            let why = if check.relative.is_some() {
                "--relative: proofs are about the model as written"
            } else {
                "--raw"
            };
            notes.push(format!("reductions are off ({why})"));
        } else {
            if let Err(why) = order {
                notes.push(format!("partial order reduction is off: {why}"));
            }
            let features = self.program.features;
            if features.last || features.priorities {
                notes.push("local steps are not merged: the model uses _last or priorities".into());
            }
        }
        if symmetry.over_budget > 0 {
            notes.push(format!(
                "{} representatives may not be canonical: too many choices",
                symmetry.over_budget
            ));
        }
        let complete = report.stop == Stop::Complete;
        let unreached = if complete { unreached(&machine, self) } else { Vec::new() };
        let mut violations = Vec::new();
        for found in &report.found {
            let choices = match &mut representative {
                None => found.path.choices.clone(),
                Some(representative) => in_real_names(&mut machine, representative, &found.path.choices)
                    .map_err(CheckError::NotReplayable)?,
            };
            let trace =
                Trace::replay(&mut machine, &self.sources, &choices).map_err(CheckError::NotReplayable)?;
            let (kind, message, at) = match found.cause {
                Cause::Deadlock => ("deadlock".to_owned(), "deadlock: invalid end state".to_owned(), None),
                Cause::Violation(code) => {
                    let violation = machine.violation(code);
                    let at = self.sources.file_line(machine.site(code).span);
                    (violation.kind, violation.message, Some(at))
                }
            };
            // A trace that does not end in what was found is a bug of the checker.
            if trace.violation.as_ref().map(|v| &v.kind) != Some(&kind) {
                let step = found.path.choices.len() - 1;
                return Err(CheckError::NotReplayable(NotReplayable { step }));
            }
            violations.push(ViolationReport { kind, message, at, count: found.count, trace, choices });
        }
        let verdict = if !violations.is_empty() {
            Verdict::Violated
        } else {
            match (&report.stop, unchecked) {
                (Stop::Incomplete(why), _) => Verdict::Undecided(why.clone()),
                (_, Some(why)) => Verdict::Undecided(why),
                _ => Verdict::Holds,
            }
        };
        if let (Stop::Incomplete(why), Verdict::Violated) = (&report.stop, &verdict) {
            notes.push(format!("the search is incomplete: {why}"));
        }
        let store = match check.store {
            StoreKind::Tree => "tree",
            StoreKind::Plain => "plain",
        };
        let statistics = report.statistics;
        let partial_order = order.unwrap_or(PartialOrder::Off);
        Ok(Outcome {
            verdict,
            violations,
            statistics,
            reduced,
            symmetry,
            notes,
            unreached,
            store,
            partial_order,
        })
    }
}

/// The report, with the partial order reduction applied or why it was not.
pub(crate) type Searched = (Report, Result<PartialOrder, &'static str>);

fn run(
    machine: &mut Machine,
    representative: Option<&mut Representative>,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Searched {
    match representative {
        None => run_representing(machine, &mut Identity, check, progress),
        Some(representative) => run_representing(machine, representative, check, progress),
    }
}

pub(crate) fn run_representing<R: quotient_symmetry::Representative<Machine>>(
    machine: &mut Machine,
    representative: &mut R,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Searched {
    if check.raw || check.partial_order == PartialOrder::Off {
        return (run_reduced(machine, representative, &mut All, check, progress), Ok(PartialOrder::Off));
    }
    let ample = if representative.is_canonical() {
        AmpleSets::new(machine, &Question::Safety, representative.renames())
    } else {
        Err("the order of --symmetry does not always choose the same state of a class")
    };
    match ample {
        Ok(mut ample) => {
            (run_reduced(machine, representative, &mut ample, check, progress), Ok(check.partial_order))
        }
        Err(why) => (run_reduced(machine, representative, &mut All, check, progress), Err(why)),
    }
}

fn run_reduced<R: quotient_symmetry::Representative<Machine>, A: Ample<Machine>>(
    machine: &mut Machine,
    representative: &mut R,
    ample: &mut A,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Report {
    match check.store {
        StoreKind::Tree => run_with(machine, representative, ample, &mut Tree::new(), check, progress),
        StoreKind::Plain => run_with(machine, representative, ample, &mut Plain::new(), check, progress),
    }
}

fn run_with<R: quotient_symmetry::Representative<Machine>, A: Ample<Machine>, V: Visited>(
    machine: &mut Machine,
    representative: &mut R,
    ample: &mut A,
    visited: &mut V,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Report {
    let mut options = Options {
        limits: check.limits,
        all: check.all,
        deadlocks: check.deadlocks,
        interrupt: check.interrupt,
        progress: Some(progress),
    };
    let seams = Seams { system: machine, representative, ample, visited };
    match check.search {
        SearchKind::BreadthFirst => breadth_first(seams, &mut options),
        SearchKind::DepthFirst => depth_first(seams, &mut options),
    }
}

/// Statements that no process ever executed.
fn unreached(machine: &Machine, model: &Model) -> Vec<Unreached> {
    let mut out: Vec<Unreached> = Vec::new();
    let mut number = 0;
    // A statement can be several transformations (copied into choices): it is reached when one of them is.
    let mut reached = std::collections::HashSet::new();
    let mut all = Vec::new();
    for function in &machine.program().functions {
        for location in &function.locations {
            for t in &location.transformations {
                if machine.taken(number) {
                    reached.insert(t.span);
                }
                all.push((function, t));
                number += 1;
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    for (function, t) in all {
        if !reached.contains(&t.span) && seen.insert(t.span) {
            let name = if function.name == ":init:" { "init" } else { &function.name };
            let ends = t.text == "-end-";
            out.push(Unreached {
                process: name.into(),
                at: model.sources.file_line(t.span),
                statement: if ends { "the end of the process".into() } else { t.text.clone() },
            });
        }
    }
    out
}
