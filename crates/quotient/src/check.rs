//! Checking a model: reductions, search, verdict, traces.

use std::fmt;

use quotient_machine::Machine;
use quotient_program as ir;
use quotient_residual::Reduced;
use quotient_search::{AmpleAudit, Limits, Report, Statistics, Stop, TOO_LONG};
use quotient_system::{Exhausted, Interrupt};
use quotient_trace::{NotReplayable, Trace};

use crate::question::{self, Question};
use crate::searching::{run, thread_seconds};
use crate::symmetry_choice::{Representative, Symmetry, SymmetryReport, representative};
use crate::unreached::{Unreached, unreached};
use crate::{Journal, Model, Relative, fairness};

/// In which order states are explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchKind {
    /// Breadth-first; depth-first with the symmetry orders `pc` and `kbots`, whose papers count states that way.
    #[default]
    Usual,
    /// Nearest first: shortest counterexamples.
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
    /// Each compressed by itself.
    Gzip,
    /// Components kept once: globals, objects, threads.
    Collapse,
}

impl StoreKind {
    /// All of them, the plain one first.
    pub const ALL: [StoreKind; 4] = [StoreKind::Plain, StoreKind::Gzip, StoreKind::Collapse, StoreKind::Tree];

    /// The word for it in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            StoreKind::Tree => "tree",
            StoreKind::Plain => "plain",
            StoreKind::Gzip => "gzip",
            StoreKind::Collapse => "collapse",
        }
    }
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
    /// Check the reductions on this many states afterwards: states behave like their representatives, the moves of ample
    /// sets commute with the others.
    pub audit: u64,
    /// Go on after the first violation and report one of each kind and place.
    pub all: bool,
    /// Report deadlocks.
    pub deadlocks: bool,
    /// Ask for safety only: temporal claims of the model are not part of the question.
    pub safety_only: bool,
    /// Of the claims, ask for the one with this name only.
    pub claim: Option<&'a str>,
    /// Ask for acceptance cycles: runs through accept labels of processes infinitely often.
    pub acceptance: bool,
    /// Ask for non-progress cycles: runs through progress labels only finitely often.
    pub progress: bool,
    /// Of infinite runs only the weakly fair ones count.
    pub fair: bool,
    /// Bounds.
    pub limits: Limits,
    /// Raised from outside to end the check.
    pub interrupt: Option<&'a Interrupt>,
    /// Told what is known so far.
    pub journal: Option<&'a Journal>,
    /// Proved symmetries to use; the program is then checked as written.
    pub relative: Option<&'a Relative>,
}

impl Check<'_> {
    /// Notes what is being done.
    pub(crate) fn enter(&self, phase: &'static str) {
        if let Some(journal) = self.journal {
            journal.enter(phase);
        }
    }

    /// Why the check is to end, if it is.
    pub(crate) fn ended(&self) -> Option<String> {
        self.interrupt.and_then(Interrupt::reason).map(|reason| reason.to_string())
    }
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
            claim: None,
            acceptance: false,
            progress: false,
            fair: false,
            limits: Limits::default(),
            interrupt: None,
            journal: None,
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
    /// How many of the choices, at the end, are repeated for ever.
    pub cycle: usize,
    /// The question it answers.
    pub question: Question,
    /// For formulas of branching time: what more there is to show of states on the way.
    pub branches: Vec<Branch>,
}

/// A run that branches off another one and shows why a part of a formula of branching time has its value there.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The part of the formula.
    pub formula: String,
    /// Its value.
    pub holds: bool,
    /// How many steps of the other run come first; they are part of the trace.
    pub after: usize,
    /// The run, from the initial state on.
    pub trace: Trace,
    /// What more there is to show of states on the way.
    pub branches: Vec<Branch>,
}

/// What was found out about one question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// The question in words.
    pub text: String,
    /// The answer to it alone.
    pub verdict: Verdict,
    /// How much was done for it; zero when another search answered it too.
    pub statistics: Statistics,
    /// The reductions that were applied.
    pub applied: Applied,
    /// For a formula of branching time that holds: runs that show it, where some do.
    pub witness: Vec<Branch>,
}

/// The reductions that a search applied.
#[derive(Clone, Debug)]
pub struct Applied {
    /// What was found and done about symmetry.
    pub symmetry: SymmetryReport,
    /// The partial order reduction.
    pub partial_order: PartialOrder,
}

/// The result of a check.
#[derive(Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// What does not hold; one entry unless `all` was asked for.
    pub violations: Vec<ViolationReport>,
    /// The questions, in the order they were answered.
    pub answers: Vec<Answer>,
    /// How much was done for all of them together.
    pub statistics: Statistics,
    /// CPU time of the searches alone, without reading the model and writing down what was found.
    pub search_seconds: f64,
    /// What the program's reductions did.
    pub reduced: Reduced,
    /// What was found and done about symmetry, for the safety question.
    pub symmetry: SymmetryReport,
    /// The partial order reduction applied to the safety question.
    pub partial_order: PartialOrder,
    /// What an audit of the partial order reduction looked at.
    pub audited_ample: Option<AmpleAudit>,
    /// What the user should know: reductions that were off, claims that were not checked.
    pub notes: Vec<String>,
    /// Statements never executed; only known when everything was explored.
    pub unreached: Vec<Unreached>,
    /// The name of the store.
    pub store: &'static str,
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
    /// An audit found moves of ample sets that do not commute with others: a bug of the checker.
    WrongAmpleSets(u64),
    /// The question cannot be asked: why.
    Refused(String),
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
            CheckError::WrongAmpleSets(count) => write!(
                f,
                "{count} moves of ample sets do not commute with others; this is a bug in quotient, please report it"
            ),
            CheckError::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for CheckError {}

impl Model {
    /// Compiles the model; reduced unless `raw`. When the model turns out to need more than 65536 combinations of
    /// processes, it is compiled again with `wide`.
    pub fn machine(&self, raw: bool, wide: bool) -> Result<(Machine, Reduced), CheckError> {
        self.machine_for(None, raw, wide)
    }

    /// Compiles the model with the claim that answers a question.
    pub fn question_machine(
        &self,
        question: Question,
        raw: bool,
        wide: bool,
    ) -> Result<(Machine, Reduced), CheckError> {
        self.machine_for(self.claim_for(question)?, raw, wide)
    }

    pub(crate) fn machine_for(
        &self,
        claim: Option<ir::Claim>,
        raw: bool,
        wide: bool,
    ) -> Result<(Machine, Reduced), CheckError> {
        let mut program = self.program.clone();
        program.claim = claim;
        let reduced = if raw { Reduced::default() } else { quotient_residual::reduce(&mut program) };
        let machine =
            if wide { Machine::wide(program, &self.sources) } else { Machine::new(program, &self.sources) };
        Ok((machine.map_err(CheckError::Exhausted)?, reduced))
    }

    /// The claim that watches for a question; `None` for safety and formulas of branching time.
    fn claim_for(&self, question: Question) -> Result<Option<ir::Claim>, CheckError> {
        let span = self.program.functions.first().map(|f| f.span);
        match (question, span) {
            (Question::Claim(number), _) => match self.claims.get(number) {
                Some(claim) => question::claim(claim).map_err(CheckError::Refused),
                None => Err(CheckError::Refused(format!("the model has no claim number {number}"))),
            },
            (Question::Acceptance, Some(span)) => Ok(Some(question::acceptance(span))),
            (Question::Progress, Some(span)) => Ok(Some(question::non_progress(span))),
            (Question::Safety, _) | (_, None) => Ok(None),
        }
    }

    /// A question in words.
    pub fn question_text(&self, question: Question) -> String {
        match question {
            Question::Safety => "safety".into(),
            Question::Acceptance => "no acceptance cycle".into(),
            Question::Progress => "no non-progress cycle".into(),
            Question::Claim(number) => self.claims.get(number).map_or_else(String::new, |c| {
                let name = if c.name.is_empty() || c.keyword == "never" { "" } else { c.name.as_str() };
                let spaced = [c.keyword, name, c.text.as_str()].join(" ");
                spaced.split_whitespace().collect::<Vec<_>>().join(" ")
            }),
        }
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
        // The time is that of the whole check, whatever searches it takes.
        let interrupt = Interrupt::within(check.interrupt, check.limits.time);
        let limits = Limits { time: None, ..check.limits };
        let check = &Check { limits, interrupt: Some(&interrupt), ..*check };
        check.enter("translating formulas");
        let questions = self.questions(check)?;
        if let Some(relative) = check.relative {
            if !questions.is_empty() {
                return Err(CheckError::Refused(
                    "proved symmetries (--relative) serve safety questions; --safety leaves the claims out"
                        .into(),
                ));
            }
            return self.check_relative(relative, check, progress);
        }
        let with_variables = |q: &Question| {
            let claim = self.claim_for(*q).ok().flatten();
            claim.is_some_and(|c| !c.function.locals.is_empty())
        };
        if self.program.features.dynamic && questions.iter().any(with_variables) {
            return Err(CheckError::Refused(
                "a never claim with variables of its own about a model with objects or functions is not supported; --safety leaves it out"
                    .into(),
            ));
        }
        let mut outcome = self.empty_outcome(check);
        // A claim that follows every run passes every state: its search can answer the safety question too.
        let carrier = questions
            .iter()
            .copied()
            .find(|q| matches!(self.claim_for(*q), Ok(Some(claim)) if question::follows_everything(&claim)));
        for question in questions {
            if !outcome.violations.is_empty() && !check.all {
                break;
            }
            if let Some(why) = check.ended() {
                outcome.leave(question, self.question_text(question), why);
                continue;
            }
            if let Some(formula) = self.branching_formula(question) {
                self.ask_branching(question, formula, check, progress, &mut outcome)?;
                continue;
            }
            let Some(claim) = self.claim_for(question)? else { continue };
            let carries = carrier == Some(question);
            let found = self.ask(question, Some((claim, carries)), check, progress, &mut outcome)?;
            if found.contains(&Question::Safety) {
                // Something else goes wrong: show the nearest such thing instead. What only the claim can meet (a fault
                // in one of its conditions) stays.
                let (others, kept) = std::mem::take(&mut outcome.violations)
                    .into_iter()
                    .partition(|v| v.question == Question::Safety);
                outcome.violations = kept;
                outcome.answers.retain(|a| a.question != Question::Safety);
                if self.ask(Question::Safety, None, check, progress, &mut outcome)?.is_empty() {
                    let others: Vec<ViolationReport> = others;
                    // Only the claim can meet it: it is no answer that the formula holds.
                    for answer in outcome.answers.iter_mut().filter(|a| a.question == question) {
                        answer.verdict = Verdict::Violated;
                    }
                    outcome.violations.extend(others.into_iter().map(|v| ViolationReport { question, ..v }));
                }
            }
        }
        let asked = outcome.answers.iter().any(|a| a.question == Question::Safety);
        if !asked && (outcome.violations.is_empty() || check.all) {
            if let Some(why) = check.ended() {
                outcome.leave(Question::Safety, self.question_text(Question::Safety), why);
                outcome.conclude();
                return Ok(outcome);
            }
            self.ask(Question::Safety, None, check, progress, &mut outcome)?;
        }
        outcome.conclude();
        Ok(outcome)
    }

    /// The questions beside safety.
    fn questions(&self, check: &Check<'_>) -> Result<Vec<Question>, CheckError> {
        let mut questions = Vec::new();
        if !check.safety_only {
            let wanted = |c: &quotient_promela::Claim| check.claim.is_none_or(|name| c.name == name);
            let claims = self.claims.iter().enumerate().filter(|(_, c)| wanted(c));
            questions.extend(claims.map(|(number, _)| Question::Claim(number)));
            if let (Some(name), true) = (check.claim, questions.is_empty()) {
                let names: Vec<&str> =
                    self.claims.iter().map(|c| c.name.as_str()).filter(|n| !n.is_empty()).collect();
                let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                return Err(CheckError::Refused(format!(
                    "there is no claim `{name}`; named claims: {known}"
                )));
            }
            questions.extend(check.acceptance.then_some(Question::Acceptance));
            questions.extend(check.progress.then_some(Question::Progress));
        }
        Ok(questions)
    }

    pub(crate) fn empty_outcome(&self, check: &Check<'_>) -> Outcome {
        let mut notes = Vec::new();
        if check.raw {
            let why = if check.relative.is_some() {
                "--relative: proofs are about the model as written"
            } else {
                "--raw"
            };
            notes.push(format!("reductions are off ({why})"));
        } else {
            let features = self.program.features;
            if features.last || features.priorities {
                notes.push("local steps are not merged: the model uses _last or priorities".into());
            }
        }
        Outcome {
            verdict: Verdict::Holds,
            violations: Vec::new(),
            answers: Vec::new(),
            statistics: Statistics::default(),
            reduced: Reduced::default(),
            symmetry: SymmetryReport { order: "off".into(), ..SymmetryReport::default() },
            partial_order: PartialOrder::Off,
            audited_ample: None,
            notes,
            unreached: Vec::new(),
            store: check.store.name(),
            search_seconds: 0.0,
        }
    }

    /// Answers one question by one search; with a claim that `carries` it, the safety question too. Gives the questions
    /// that the violations found belong to.
    fn ask(
        &self,
        question: Question,
        claim: Option<(ir::Claim, bool)>,
        check: &Check<'_>,
        progress: &mut dyn FnMut(&Statistics),
        outcome: &mut Outcome,
    ) -> Result<Vec<Question>, CheckError> {
        let carries = claim.as_ref().is_some_and(|(_, carries)| *carries);
        let claim = claim.map(|(claim, _)| claim);
        let compile = |wide| -> Result<(Machine, Reduced), CheckError> {
            let (mut machine, reduced) = self.machine_for(claim.clone(), check.raw, wide)?;
            machine.report_deadlocks(carries && check.deadlocks);
            Ok((machine, reduced))
        };
        check.enter("compiling the model");
        let (mut machine, mut reduced) = compile(false)?;
        check.enter("looking for symmetries");
        let mut stands = representative(&mut machine, check);
        let mut timed = |machine: &mut Machine, stands: Option<&mut Representative>| {
            let before = thread_seconds();
            let found = run(machine, stands, check, progress);
            outcome.search_seconds += thread_seconds() - before;
            found
        };
        let (mut report, mut order) = timed(&mut machine, stands.as_mut());
        if let Stop::Incomplete(why) = &report.stop
            && Machine::needs_wide(why)
        {
            (machine, reduced) = compile(true)?;
            stands = representative(&mut machine, check);
            (report, order) = timed(&mut machine, stands.as_mut());
        }
        if report.stop == Stop::Incomplete(TOO_LONG.into()) {
            // The verdict is known; a run that shows it may be found with every thread in its place.
            stands = fairness::in_place(&machine);
            (report, order) = timed(&mut machine, stands.as_mut());
        }
        if let Some(journal) = check.journal {
            journal.found(report.found.len(), &report.statistics);
        }
        let safety = carries || question == Question::Safety;
        let applied = self.note_reductions(safety, &mut machine, &mut stands, order, check, outcome)?;
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
            outcome.unreached = unreached(&machine, self);
        }
        if let (Some(why), Stop::Complete, true) = (check.ended(), &report.stop, check.audit > 0) {
            report.stop = Stop::Incomplete(format!("{why} during the audit; the search was complete"));
        }
        let known = outcome.violations.len();
        let fair = fairness::asked(&machine, check);
        // Paths of fair runs are found with threads in their places.
        let mut in_place = if fair && stands.is_some() { fairness::in_place(&machine) } else { None };
        let stands = if fair { in_place.as_mut() } else { stands.as_mut() };
        check.enter("executing a counterexample again");
        let found = self.record(question, &mut machine, stands, &report, outcome)?;
        for v in outcome.violations[known..].iter().filter(|v| fair && v.cycle > 0) {
            if !fairness::is_fair(&mut machine, &v.choices, v.cycle) {
                return Err(CheckError::NotReplayable(NotReplayable { step: v.choices.len() - 1 }));
            }
        }
        if let (Stop::Incomplete(why), false) = (&report.stop, found.is_empty()) {
            outcome.is_incomplete(why);
        }
        let verdict = match &report.stop {
            _ if found.contains(&question) => Verdict::Violated,
            Stop::Incomplete(why) => Verdict::Undecided(why.clone()),
            Stop::Violation => Verdict::Undecided("another violation was found first".into()),
            Stop::Complete => Verdict::Holds,
        };
        if carries && !found.contains(&Question::Safety) {
            let (text, verdict) = (
                self.question_text(Question::Safety),
                match &report.stop {
                    Stop::Complete => Verdict::Holds,
                    Stop::Incomplete(why) => Verdict::Undecided(why.clone()),
                    Stop::Violation => Verdict::Undecided("the search ended at another violation".into()),
                },
            );
            let (statistics, applied) = (Statistics::default(), applied.clone());
            let (question, witness) = (Question::Safety, Vec::new());
            outcome.answers.push(Answer { question, text, verdict, statistics, applied, witness });
        }
        let (text, statistics, witness) = (self.question_text(question), report.statistics, Vec::new());
        outcome.answers.push(Answer { question, text, verdict, statistics, applied, witness });
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
        outcome: &mut Outcome,
    ) -> Result<(), CheckError> {
        if report.stop == Stop::Complete {
            outcome.unreached = unreached(machine, self);
        }
        let found = self.record(Question::Safety, machine, None, report, outcome)?;
        if let (Stop::Incomplete(why), false) = (&report.stop, found.is_empty()) {
            outcome.is_incomplete(why);
        }
        let verdict = match &report.stop {
            _ if !found.is_empty() => Verdict::Violated,
            Stop::Incomplete(why) => Verdict::Undecided(why.clone()),
            _ => Verdict::Holds,
        };
        let text = self.question_text(Question::Safety);
        let statistics = report.statistics;
        let applied = Applied { symmetry: outcome.symmetry.clone(), partial_order: PartialOrder::Off };
        let (question, witness) = (Question::Safety, Vec::new());
        outcome.answers.push(Answer { question, text, verdict, statistics, applied, witness });
        outcome.add(&statistics);
        outcome.conclude();
        Ok(())
    }
}

impl Outcome {
    /// A question that is not asked any more.
    fn leave(&mut self, question: Question, text: String, why: String) {
        let applied = Applied { symmetry: self.symmetry.clone(), partial_order: PartialOrder::Off };
        let (statistics, witness, verdict) = (Statistics::default(), Vec::new(), Verdict::Undecided(why));
        self.answers.push(Answer { question, text, verdict, statistics, applied, witness });
    }

    /// The verdict over all answers.
    fn conclude(&mut self) {
        let undecided = self.answers.iter().find_map(|a| match &a.verdict {
            Verdict::Undecided(why) => Some(why.clone()),
            _ => None,
        });
        self.verdict = match (self.violations.is_empty(), undecided) {
            (false, why) => {
                if let Some(why) = why.filter(|w| !w.contains("violation")) {
                    self.is_incomplete(&why);
                }
                Verdict::Violated
            }
            (true, Some(why)) => Verdict::Undecided(why),
            (true, None) => Verdict::Holds,
        };
    }

    /// Notes, once, that a search did not come to its end, so that there may be more than was found.
    fn is_incomplete(&mut self, why: &str) {
        let note = format!("the search is incomplete: {why}");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds the figures of one more search.
    pub(crate) fn add(&mut self, more: &Statistics) {
        let sum = &mut self.statistics;
        sum.states += more.states;
        sum.transitions += more.transitions;
        sum.expanded += more.expanded;
        sum.depth = sum.depth.max(more.depth);
        sum.store_bytes = sum.store_bytes.max(more.store_bytes);
        sum.search_bytes = sum.search_bytes.max(more.search_bytes);
        sum.waiting += more.waiting;
    }
}
