//! Checking a model: reductions, search, verdict, traces.

use std::fmt;
use std::sync::Mutex;

use quotient_checkpoint::{Checkpoint, DiskFolder};
use quotient_cluster::Cluster;
use quotient_machine::Machine;
use quotient_program as ir;
use quotient_residual::Reduced;
use quotient_seams::{Exhausted, Incomplete, Interrupt, Reason};
use quotient_search::{FINISH_LEVELS_FROM, Limits, Statistics, Workers};
use quotient_trace::{NotReplayable, Told};

use crate::asked::{Asked, How};
use crate::outcome::{Outcome, ViolationReport};
use crate::question::{self, Question};
use crate::second_look::Budget;
use crate::symmetry_choice::{Symmetry, SymmetryReport};
use crate::{Journal, Model, PartialOrder, Relative, SearchKind, StoreKind, workers};
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

/// How a model is compiled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compile {
    /// As written, without the reductions of the program.
    pub raw: bool,
    /// For more than 65536 combinations of processes.
    pub wide: bool,
    /// For all violations and not for one: a local step that may fail is a step of its own, since others could go on before it.
    pub all: bool,
}

impl Compile {
    /// With the reductions of the program.
    pub const REDUCED: Compile = Compile { raw: false, wide: false, all: false };
    /// As written.
    pub const AS_WRITTEN: Compile = Compile { raw: true, wide: false, all: false };
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
        let reduced =
            if how.raw { Reduced::default() } else { quotient_residual::reduce(&mut program, how.all) };
        let machine = if how.wide {
            Machine::wide(program, &self.sources)
        } else {
            Machine::new(program, &self.sources)
        };
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
        workers::refuse(&asked, check)?;
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
                    // Only the claim can meet it: it is not an answer that the formula holds.
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
        workers::refuse(&asked, check)?;
        workers::refuse_checkpoint(self, &asked, check)?;
        workers::refuse_by_processes(self, &asked, check)
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
}
