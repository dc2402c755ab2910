//! Checking a model: reductions, search, verdict, traces.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use quotient_checkpoint::{Checkpoint, DiskFolder};
use quotient_cluster::Cluster;
use quotient_machine::Machine;
use quotient_program as ir;
use quotient_residual::Reduced;
use quotient_seams::{Exhausted, Incomplete, Interrupt, Reason};
use quotient_search::{FINISH_LEVELS_FROM, Limits, Report, Statistics, Stop, Workers};
use quotient_source::{Span, Unchecked};
use quotient_trace::{NotReplayable, Told};

use crate::mirrored::exchanged;
use crate::outcome::{Answer, Applied, Outcome, ViolationReport, without_violation};
use crate::question::{self, Question};
use crate::searching::{process_seconds, random, run, thread_seconds};
use crate::second_look::{Budget, Looked, Looker};
use crate::symmetry_choice::{self, Chosen, Symmetry, SymmetryReport};
use crate::unreached::{covered, unreached};
use crate::{Journal, Model, PartialOrder, Relative, SearchKind, StoreKind, fairness, workers};
use quotient_outcome::Verdict;

/// What to check, and how.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// Order of the search.
    pub search: SearchKind,
    /// The store.
    pub store: StoreKind,
    /// How many workers search. `None`: one for each processor, where several can; otherwise what only one can do is refused.
    pub workers: Option<Workers>,
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
    /// Leave the model's own claims aside. Properties given apart from the model are asked all the same.
    pub safety_only: bool,
    /// Of the model's own claims, ask for the one with this name only.
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
    /// Where searches write what they find, so that another run can go on from there.
    pub checkpoint: Option<&'a Mutex<Checkpoint>>,
    /// Where searches keep states that do not fit in memory.
    pub disk: Option<Disk<'a>>,
    /// The processes that search together with this one.
    pub processes: Option<Processes<'a>>,
    /// The interrupt is also raised by a limit of time.
    pub timed: bool,
    /// Proved symmetries to use; the program is then checked as written.
    pub relative: Option<&'a Relative>,
    /// Take the time to find the lines that tell threads apart, in large programs, too.
    pub explain_symmetry: bool,
    /// How much counterexamples tell.
    pub told: Told,
}

/// How a check uses a folder for what does not fit in memory.
#[derive(Clone, Copy, Debug)]
pub struct Disk<'a> {
    /// The folder.
    pub folder: &'a Mutex<DiskFolder>,
    /// Used when so many states are stored.
    pub from: u64,
    /// States of a part that is in memory, at most, if memory would take more.
    pub most: Option<u64>,
}

/// How a check is done by several processes. All of them run the same check, and get the same outcome, but for what only the first one knows (what was never executed).
#[derive(Clone, Copy, Debug)]
pub struct Processes<'a> {
    /// The others.
    pub cluster: &'a Mutex<Cluster>,
    /// The first one alone until so many states are stored.
    pub alone: u64,
    /// Ends this process, where it cannot go on without another one that is lost.
    pub lost: fn() -> !,
}

impl<'a> Disk<'a> {
    /// The folder, once a search is large enough to need it.
    pub fn new(folder: &'a Mutex<DiskFolder>) -> Disk<'a> {
        Disk { folder, from: FINISH_LEVELS_FROM, most: None }
    }
}

impl Check<'_> {
    /// Notes what is being done.
    pub(crate) fn enter(&self, phase: &'static str) {
        if let Some(journal) = self.journal {
            journal.enter(phase);
        }
    }

    /// Why the check is to end, if it is.
    pub(crate) fn ended(&self) -> Option<Reason> {
        self.interrupt.and_then(Interrupt::reason)
    }
}

impl Default for Check<'_> {
    fn default() -> Self {
        Check {
            search: SearchKind::default(),
            store: StoreKind::default(),
            workers: None,
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
            checkpoint: None,
            disk: None,
            processes: None,
            timed: false,
            relative: None,
            explain_symmetry: false,
            told: Told::default(),
        }
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
            CheckError::Exhausted(e) => e.what.fmt(f),
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

/// A question made ready.
pub(crate) struct Asked<'a> {
    pub(crate) question: Question,
    pub(crate) how: How<'a>,
}

/// How a question is answered.
pub(crate) enum How<'a> {
    /// By labelling the state graph with this formula.
    Branching(&'a quotient_logic::Formula),
    /// By a search with this claim.
    Claim(Box<ir::Claim>),
}

/// How a model is compiled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compile {
    /// As written, without the reductions of the program.
    pub raw: bool,
    /// For more than 65536 combinations of processes.
    pub wide: bool,
}

impl Compile {
    /// With the reductions of the program.
    pub const REDUCED: Compile = Compile { raw: false, wide: false };
    /// As written.
    pub const AS_WRITTEN: Compile = Compile { raw: true, wide: false };
}

impl Model {
    /// Compiles the model.
    pub fn machine(&self, how: Compile) -> Result<(Machine, Reduced), CheckError> {
        self.machine_for(None, how)
    }

    /// Compiles the model with the claim that answers a question.
    pub fn question_machine(
        &self,
        question: Question,
        how: Compile,
    ) -> Result<(Machine, Reduced), CheckError> {
        self.machine_for(self.claim_for(question)?, how)
    }

    pub(crate) fn machine_for(
        &self,
        claim: Option<ir::Claim>,
        how: Compile,
    ) -> Result<(Machine, Reduced), CheckError> {
        let mut program = self.program.clone();
        program.claim = claim;
        let reduced = if how.raw { Reduced::default() } else { quotient_residual::reduce(&mut program) };
        let machine = if how.wide {
            Machine::wide(program, &self.sources)
        } else {
            Machine::new(program, &self.sources)
        };
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
        let budget = Budget::new(check);
        let limits = Limits { time: None, ..check.limits };
        let timed = check.timed || check.limits.time.is_some();
        let check = &Check { limits, timed, interrupt: Some(&interrupt), ..*check };
        check.enter("translating formulas");
        let questions = self.questions(check)?;
        if let Some(relative) = check.relative {
            if questions.iter().any(|q| *q != Question::Safety) {
                return Err(CheckError::Refused(
                    "proved symmetries (--relative) serve safety questions; --safety leaves the claims out"
                        .into(),
                ));
            }
            workers::refuse_checkpoint(self, &[], check)?;
            workers::refuse_disk(self, &[], check)?;
            workers::refuse_processes(self, &[], check)?;
            return self.check_relative(relative, check, progress);
        }
        let asked = self.prepared(&questions, check)?;
        workers::refuse(self, &asked, check)?;
        workers::refuse_approximate(self, &asked, check)?;
        workers::refuse_checkpoint(self, &asked, check)?;
        workers::refuse_disk(self, &asked, check)?;
        workers::refuse_processes(self, &asked, check)?;
        let mut outcome = self.empty_outcome(check);
        // A claim that follows every run passes every state: its search can answer the safety question too.
        let follows = |a: &&Asked<'_>| matches!(&a.how, How::Claim(c) if question::follows_everything(c));
        let carrier = asked.iter().find(follows).map(|a| a.question);
        for Asked { question, how } in asked {
            if !outcome.violations.is_empty() && !check.all {
                break;
            }
            if let Some(why) = check.ended() {
                outcome.unanswered(self, question, why.into());
                continue;
            }
            let claim = match how {
                How::Branching(formula) => {
                    self.ask_branching(question, formula, check, progress, &mut outcome)?;
                    continue;
                }
                How::Claim(claim) => claim,
            };
            let carries = carrier == Some(question);
            let found =
                self.ask(question, Some((*claim, carries)), (check, &budget), progress, &mut outcome)?;
            if found.contains(&Question::Safety) {
                // Something else goes wrong: show the nearest such thing instead. What only the claim can meet (a fault
                // in one of its conditions) stays.
                let (others, kept) = std::mem::take(&mut outcome.violations)
                    .into_iter()
                    .partition(|v| v.question == Question::Safety);
                outcome.violations = kept;
                outcome.answers.retain(|a| a.question != Question::Safety);
                if self.ask(Question::Safety, None, (check, &budget), progress, &mut outcome)?.is_empty() {
                    let others: Vec<ViolationReport> = others;
                    // Only the claim can meet it: it is no answer that the formula holds.
                    for answer in outcome.answers.iter_mut().filter(|a| a.question == question) {
                        answer.verdict = Verdict::Violated;
                    }
                    outcome.violations.extend(others.into_iter().map(|v| ViolationReport { question, ..v }));
                }
            }
        }
        let more = outcome.violations.is_empty() || check.all;
        if more && !outcome.has_answered(Question::Safety) {
            outcome.answers.retain(|a| a.question != Question::Safety);
            if let Some(why) = check.ended() {
                outcome.unanswered(self, Question::Safety, why.into());
                outcome.conclude(&self.stated(check));
                return Ok(outcome);
            }
            self.ask(Question::Safety, None, (check, &budget), progress, &mut outcome)?;
        }
        for question in questions {
            outcome.unanswered(self, question, Incomplete::NotReached);
        }
        outcome.conclude(&self.stated(check));
        Ok(outcome)
    }

    /// Whether several processes can answer what is asked: refuses what they cannot.
    pub fn check_processes(&self, check: &Check<'_>) -> Result<(), CheckError> {
        let asked = match check.relative {
            Some(_) => Vec::new(),
            None => self.prepared(&self.questions(check)?, check)?,
        };
        workers::refuse(self, &asked, check)?;
        workers::refuse_by_processes(self, &asked, check)
    }

    /// What is asked, safety last.
    pub fn questions(&self, check: &Check<'_>) -> Result<Vec<Question>, CheckError> {
        let wanted =
            |c: &quotient_front_end::Claim| check.claim.is_none_or(|name| c.name == name && !name.is_empty());
        let own = self.claims[..self.own_claims].iter().enumerate().filter(|(_, c)| wanted(c));
        let mut questions: Vec<Question> = own.map(|(number, _)| Question::Claim(number)).collect();
        if let (Some(name), true) = (check.claim, questions.is_empty()) {
            let names = self.claims.iter().map(|c| c.name.as_str()).filter(|n| !n.is_empty());
            let names: Vec<&str> = names.collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(CheckError::Refused(format!("there is no claim `{name}`; named claims: {known}")));
        }
        if check.safety_only {
            questions.clear();
        }
        questions.extend((self.own_claims..self.claims.len()).map(Question::Claim));
        questions.extend(check.acceptance.then_some(Question::Acceptance));
        questions.extend(check.progress.then_some(Question::Progress));
        questions.push(Question::Safety);
        Ok(questions)
    }

    /// Makes the questions ready, all of them before any search begins: what cannot be asked is refused whatever the
    /// other questions lead to.
    fn prepared(&self, questions: &[Question], check: &Check<'_>) -> Result<Vec<Asked<'_>>, CheckError> {
        let mut asked = Vec::new();
        for &question in questions {
            let how = match self.branching_formula(question) {
                Some(formula) => {
                    self.refuse_branching(question, formula, check)?;
                    How::Branching(formula)
                }
                None => match self.claim_for(question)? {
                    Some(claim) => How::Claim(Box::new(claim)),
                    None => continue,
                },
            };
            if self.program.features.dynamic && matches!(&how, How::Claim(c) if !c.function.locals.is_empty())
            {
                return Err(CheckError::Refused(
                    "a never claim with variables of its own about a model with objects or functions is not supported; --safety leaves it out"
                        .into(),
                ));
            }
            asked.push(Asked { question, how });
        }
        Ok(asked)
    }

    /// What is asked and looked for in another way than by a search for reachable states: `--search` and `--max-depth` mean
    /// something else there.
    pub fn searched_otherwise(&self, check: &Check<'_>) -> Result<Vec<Question>, CheckError> {
        let questions = self.questions(check)?;
        let asked = self.prepared(&questions, check)?.into_iter();
        let otherwise = asked.filter(|a| match &a.how {
            How::Branching(_) => true,
            How::Claim(claim) => claim.cycles,
        });
        Ok(otherwise.map(|a| a.question).collect())
    }

    /// Is it a formula of branching time?
    pub fn is_branching(&self, question: Question) -> bool {
        self.branching_formula(question).is_some()
    }

    /// What the model has and this check does not ask about, or nobody checks.
    fn left_out(&self, check: &Check<'_>) -> Vec<String> {
        let mut left_out = Vec::new();
        if !check.deadlocks {
            left_out.push("deadlocks (--no-deadlock)".to_owned());
        }
        let questions = self.questions(check).unwrap_or_default();
        for number in (0..self.own_claims).map(Question::Claim).filter(|q| !questions.contains(q)) {
            let option = if check.safety_only { "--safety" } else { "--claim" };
            left_out.push(format!("{} ({option})", self.question_text(number)));
        }
        let claims = self.warnings.iter().any(|w| w.unchecked == Some(Unchecked::ExclusiveUse));
        if let Some(option) = self.shared_channels.filter(|_| self.program.exclusive.is_some() || claims) {
            left_out.push(format!("exclusive use of channels (xr, xs) ({option})"));
        }
        left_out.extend(self.stated(check));
        left_out
    }

    /// What the model states and nobody checks. What is said of a claim counts where the claim is asked.
    fn stated(&self, check: &Check<'_>) -> BTreeSet<String> {
        let asked = self.questions(check).unwrap_or_default();
        let counts = |span: Option<Span>| {
            let claim = self.claims.iter().position(|c| Some(c.span) == span);
            claim.is_none_or(|number| asked.contains(&Question::Claim(number)))
        };
        let warnings = self.warnings.iter().filter(|w| counts(w.span));
        let unchecked = warnings.filter(|w| match w.unchecked {
            Some(Unchecked::ExclusiveUse) => self.shared_channels.is_none(),
            Some(Unchecked::Determinism) => true,
            None => false,
        });
        unchecked.map(|w| w.label.clone()).collect()
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
        let mut assumptions = Vec::new();
        if check.fair {
            match self.searched_otherwise(check).is_ok_and(|questions| !questions.is_empty()) {
                true => {
                    assumptions.push("weak fairness: a process that can always move does move".to_owned())
                }
                false => {
                    notes.push("--fair has no effect: no question about infinite runs is asked".to_owned())
                }
            }
        }
        let mut actions = self
            .program
            .functions
            .iter()
            .flat_map(|f| &f.locations)
            .flat_map(|l| &l.transformations)
            .flat_map(|t| &t.actions);
        if actions.any(|a| matches!(a, ir::Action::Assume(_))) {
            assumptions
                .push("the model's own assumptions (assume): a run that breaks one ends there".to_owned());
        }
        Outcome {
            verdict: Verdict::Holds,
            violations: Vec::new(),
            answers: Vec::new(),
            left_out: self.left_out(check),
            assumptions,
            statistics: Statistics::default(),
            reduced: Reduced::default(),
            symmetry: SymmetryReport { order: "off".into(), ..SymmetryReport::default() },
            partial_order: PartialOrder::Off,
            audited_ample: None,
            notes,
            unreached: Vec::new(),
            covered: Vec::new(),
            store: None,
            workers: 1,
            second_look: None,
            search_seconds: 0.0,
        }
    }

    /// Answers one question by one search; with a claim that `carries` it, the safety question too. Gives the questions
    /// that the violations found belong to.
    fn ask(
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
        let compile = |wide| -> Result<(Machine, Reduced), CheckError> {
            let (mut machine, reduced) = self.machine_for(claim.clone(), Compile { raw: check.raw, wide })?;
            machine.report_deadlocks(carries && check.deadlocks);
            Ok((machine, reduced))
        };
        check.enter("compiling the model");
        let (mut machine, mut reduced) = compile(false)?;
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
            (machine, reduced) = compile(true)?;
            chosen = choose(&mut machine);
            (report, order) = run(&mut machine, chosen.stands.as_mut(), &part, progress);
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
        if let (Err(why), true) =
            (workers::workers(&machine, check), report.statistics.states >= FINISH_LEVELS_FROM)
        {
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
        let applied = self.note_reductions(safety, &mut machine, &mut chosen, order, check, outcome)?;
        let mut stands = chosen.stands;
        let store = applied.store.filter(|_| !walks);
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
            let exchanged = stands.as_ref().map_or_else(Vec::new, |stands| exchanged(&machine, stands));
            outcome.unreached = unreached(&machine, self, &exchanged);
            outcome.covered = covered(&machine, self);
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
        check.enter("executing a counterexample again");
        let found = self.record(question, &mut machine, stands, &report, check.told, outcome)?;
        if let Some(canonical) = &mut canonical {
            self.mirrored(known, &mut machine, canonical, check.told, outcome)?;
        }
        outcome.violations[known..].iter_mut().for_each(|v| v.found_by = found_by);
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
            outcome.unreached = unreached(machine, self, &[]);
            outcome.covered = covered(machine, self);
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
