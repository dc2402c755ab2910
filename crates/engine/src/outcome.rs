//! What a check found out: one answer for each question, and the verdict over all of them.

use std::collections::BTreeSet;

use quotient_outcome::{Incomplete, Verdict, ViolationKind};
use quotient_residual::Reduced;
use quotient_search::{AmpleAudit, Statistics, Stop};
use quotient_trace::Trace;

use crate::Model;
use crate::check::Compile;
use crate::choices::{PartialOrder, StoreKind};
use crate::question::Question;
use crate::second_look::{Looker, SecondLook};
use crate::symmetry_choice::SymmetryReport;
use crate::unreached::{Covered, Unreached};

/// One violation, with its trace.
#[derive(Clone, Debug)]
pub struct ViolationReport {
    /// What kind of thing went wrong.
    pub kind: ViolationKind,
    /// A sentence for people.
    pub message: String,
    /// Where the violation is, as `file:line`, if it has a place.
    pub at: Option<String>,
    /// How often it was met.
    pub count: u64,
    /// The way to it.
    pub trace: Trace,
    /// The way to it, as choices in the program compiled like this.
    pub choices: Vec<u32>,
    /// How the program was compiled in which it was found.
    pub how: Compile,
    /// How many of the choices, at the end, are repeated for ever.
    pub cycle: usize,
    /// The question it answers.
    pub question: Question,
    /// The search that found it in a second look, after the usual one had stopped at a limit.
    pub found_by: Option<Looker>,
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
    /// CPU time of the searches for it; zero when another search answered it too.
    pub search_seconds: f64,
    /// What the search for it applied: nothing where the question was not reached.
    pub applied: Applied,
    /// For a formula of branching time that holds: runs that show it, where some do.
    pub witness: Vec<Branch>,
}

impl Answer {
    /// An answer that cost nothing and has nothing to show.
    pub(crate) fn new(model: &Model, question: Question, verdict: Verdict, applied: Applied) -> Answer {
        Answer {
            question,
            text: model.question_text(question),
            verdict,
            statistics: Statistics::default(),
            search_seconds: 0.0,
            applied,
            witness: Vec::new(),
        }
    }
}

/// The answer of a search that has found nothing wrong about the question.
pub(crate) fn without_violation(stop: &Stop) -> Verdict {
    match stop {
        Stop::Complete => Verdict::Holds,
        Stop::Incomplete(why) => Verdict::Undecided(why.clone()),
        // It ended at a violation of something else.
        Stop::Violation => Verdict::Undecided(Incomplete::NotReached),
    }
}

/// What a search applied.
#[derive(Clone, Debug)]
pub struct Applied {
    /// What was found and done about symmetry.
    pub symmetry: SymmetryReport,
    /// The partial order reduction.
    pub partial_order: PartialOrder,
    /// The store, where there was a search.
    pub store: Option<StoreKind>,
    /// How many workers took part.
    pub workers: usize,
}

impl Applied {
    /// No search, so nothing was applied.
    pub(crate) fn nothing() -> Applied {
        let symmetry = SymmetryReport { order: "off".into(), ..SymmetryReport::default() };
        Applied { symmetry, partial_order: PartialOrder::Off, store: None, workers: 1 }
    }
}

/// The result of a check.
#[derive(Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// What does not hold; one entry unless `all` was asked for.
    pub violations: Vec<ViolationReport>,
    /// One answer for each question, in the order they were answered; those that were not reached last.
    pub answers: Vec<Answer>,
    /// What the model has and was not asked about: deadlocks, claims.
    pub left_out: Vec<String>,
    /// What the verdict is relative to, beside the model.
    pub assumptions: Vec<String>,
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
    /// How often lines were executed, by the search for safety if it explored everything.
    pub covered: Vec<Covered>,
    /// The store, if all searches used it.
    pub store: Option<StoreKind>,
    /// How many workers took part in the largest search.
    pub workers: usize,
    /// The second look, where a search stopped at a limit and had found nothing wrong; the last one of several.
    pub second_look: Option<SecondLook>,
}

impl Outcome {
    /// Everything asked for was decided and holds.
    pub fn holds(&self) -> bool {
        self.verdict == Verdict::Holds
    }
}

impl Outcome {
    /// The verdict over all answers. What the model states (`stated`) and nobody checks may be wrong.
    pub(crate) fn conclude(&mut self, stated: &BTreeSet<String>) {
        let undecided = |a: &Answer| match &a.verdict {
            Verdict::Undecided(why) => Some(why.clone()),
            _ => None,
        };
        // Questions that another search answered too, or that were not reached, count no states.
        let mut searches = self.answers.iter().filter(|a| a.statistics.states > 0).map(|a| a.applied.store);
        let first = searches.next().flatten();
        self.store = first.filter(|_| searches.all(|s| s == first));
        self.workers = self.answers.iter().map(|a| a.applied.workers).max().unwrap_or(1);
        let mut open: Vec<Incomplete> = self.answers.iter().filter_map(undecided).collect();
        if !self.violations.is_empty() {
            self.verdict = Verdict::Violated;
            for why in open {
                if why != Incomplete::NotReached {
                    self.is_incomplete(&why);
                }
            }
        } else if let (true, Some(first)) = (open.is_empty(), stated.first()) {
            let text = format!("the model states what is not checked: {first}");
            self.verdict = Verdict::Undecided(Incomplete::Unsupported(text));
        } else if open.is_empty() {
            self.verdict = Verdict::Holds;
        } else {
            self.verdict = Verdict::Undecided(open.swap_remove(0));
        }
    }

    /// Is there an answer to a question that is not just "not reached"?
    pub(crate) fn has_answered(&self, question: Question) -> bool {
        let answer = self.answers.iter().find(|a| a.question == question);
        answer.is_some_and(|a| a.verdict != Verdict::Undecided(Incomplete::NotReached))
    }

    /// Takes note of a question without an answer, and why it has none.
    pub(crate) fn unanswered(&mut self, model: &Model, question: Question, why: Incomplete) {
        if self.answers.iter().all(|a| a.question != question) {
            self.answers.push(Answer::new(model, question, Verdict::Undecided(why), Applied::nothing()));
        }
    }

    /// Notes, once, that a search did not come to its end, so that there may be more than was found.
    pub(crate) fn is_incomplete(&mut self, why: &Incomplete) {
        self.note(format!("the search is incomplete: {why}"));
    }

    /// Notes something once.
    pub(crate) fn note(&mut self, note: String) {
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
        sum.shares.iter_mut().zip(more.shares).for_each(|(sum, more)| *sum += more);
    }
}
