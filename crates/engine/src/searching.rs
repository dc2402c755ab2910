//! Which search answers a question: the seams put together.

use quotient_ample::{AmpleSets, DynamicSets, Question};
use quotient_machine::{Fair, Machine};
use quotient_program::visit::{self, Visitor};
use quotient_program::{Expr, Operation};
use quotient_seams::{All, Ample, Identity, Numbering, Visited};
use quotient_search::{Options, Report, Seams, Statistics, breadth_first, depth_first, liveness};
use quotient_visited::{Collapse, Gzip, NumberedTree, Plain, Tree};

use crate::fairness::{self, OfFair};
use crate::symmetry_choice::Representative;
use crate::{Check, PartialOrder, SearchKind, StoreKind};

/// The report, with the partial order reduction applied or why it was not.
pub(crate) type Searched = (Report, Result<PartialOrder, &'static str>);

/// CPU seconds that this thread has used.
pub(crate) fn thread_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for writing one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The search that suits what the machine was compiled for.
///
/// Representatives and ample sets go together as in section 4 of seed 002: the graph of representatives is bisimilar to the
/// full one for the propositions that the representative was made for, threads that change places have the same choices, and
/// ample sets are chosen for the representative at hand, from what that very state permits.
pub(crate) fn run(
    machine: &mut Machine,
    representative: Option<&mut Representative>,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Searched {
    machine.set_interrupt(check.interrupt.cloned());
    let searched = match representative {
        None => run_representing(machine, &mut Identity, check, progress),
        Some(representative) => run_representing(machine, representative, check, progress),
    };
    // What follows, such as executing a path again, must not be left half done.
    machine.set_interrupt(None);
    searched
}

/// The question that a reduced search of this machine must answer.
fn question(machine: &Machine) -> Result<Question, &'static str> {
    match machine.program().claim {
        None => Ok(Question::Safety),
        Some(_) => propositions(machine).map(|visible| Question::LtlX { visible }),
    }
}

const NOT_CANONICAL: &str =
    "--symmetry pc and kbots are not canonical, and partial order reduction needs a canonical order";

/// Ample sets that go together with a representative, or why there are none; for programs without objects.
pub(crate) fn ample_sets<R: quotient_seams::Representative<Machine>>(
    machine: &Machine,
    representative: &R,
    question: &Question,
) -> Result<AmpleSets, &'static str> {
    if !representative.is_canonical() {
        return Err(NOT_CANONICAL);
    }
    AmpleSets::new(machine, question, representative.renames())
}

/// As above, for programs with objects.
pub(crate) fn dynamic_sets<R: quotient_seams::Representative<Machine>>(
    machine: &Machine,
    representative: &R,
    question: &Question,
    check: &Check<'_>,
) -> Result<DynamicSets, &'static str> {
    if !representative.is_canonical() {
        return Err(NOT_CANONICAL);
    }
    let symmetric = check.partial_order == PartialOrder::SymmetricIndependence;
    DynamicSets::new(machine, question, symmetric)
}

fn run_representing<R: quotient_seams::Representative<Machine>>(
    machine: &mut Machine,
    representative: &mut R,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Searched {
    if fairness::asked(machine, check) {
        let mut visited = numbering(machine, check);
        let representative = &mut OfFair::new(representative, machine);
        let system = &mut Fair(machine);
        let seams = Seams { system, representative, ample: &mut All, visited: &mut visited };
        return (liveness(seams, &mut options(check, progress)), Err("only fair runs count"));
    }
    check.enter("computing ample sets");
    let ample = if check.raw || check.partial_order == PartialOrder::Off {
        Ok(None)
    } else if machine.program().features.dynamic {
        return run_dynamic(machine, representative, check, progress);
    } else {
        question(machine).and_then(|question| ample_sets(machine, representative, &question)).map(Some)
    };
    let order = match ample {
        Ok(Some(mut ample)) => {
            return (
                run_reduced(machine, representative, &mut ample, check, progress),
                Ok(check.partial_order),
            );
        }
        Ok(None) => Ok(PartialOrder::Off),
        Err(why) => Err(why),
    };
    (run_reduced(machine, representative, &mut All, check, progress), order)
}

/// As above, with ample sets for a program with objects.
fn run_dynamic<R: quotient_seams::Representative<Machine>>(
    machine: &mut Machine,
    representative: &mut R,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Searched {
    match question(machine).and_then(|question| dynamic_sets(machine, representative, &question, check)) {
        Ok(mut ample) => {
            (run_reduced(machine, representative, &mut ample, check, progress), Ok(check.partial_order))
        }
        Err(why) => (run_reduced(machine, representative, &mut All, check, progress), Err(why)),
    }
}

/// What a claim looks at, if ample sets can preserve the answer: it must not count steps, and only look at what steps write.
fn propositions(machine: &Machine) -> Result<Vec<Expr>, &'static str> {
    let Some(claim) = &machine.program().claim else { return Ok(Vec::new()) };
    if !claim.stutter_invariant {
        return Err("the claim can count steps (X, or written by hand)");
    }
    if claim.accept_labels {
        return Err("accept or progress labels of processes count");
    }
    let transformations = claim.function.locations.iter().flat_map(|l| &l.transformations);
    let conditions = transformations.filter_map(|t| match &t.operation {
        Operation::When(condition) => Some(condition.clone()),
        _ => None,
    });
    visible(conditions.collect())
}

/// Propositions, if it is known which steps can change them.
pub(crate) fn visible(propositions: Vec<Expr>) -> Result<Vec<Expr>, &'static str> {
    struct Plain(bool);
    impl Visitor for Plain {
        fn expr(&mut self, e: &Expr) {
            self.0 &= matches!(
                e,
                Expr::Const(_)
                    | Expr::Load(_)
                    | Expr::Unary(..)
                    | Expr::Binary(..)
                    | Expr::Conditional(..)
                    | Expr::Length(_)
                    | Expr::Full(_)
                    | Expr::Empty(_)
                    | Expr::At { .. }
                    | Expr::Count { .. }
                    | Expr::Bound(_)
                    | Expr::Oldest(_)
                    | Expr::Spanned(..)
                    | Expr::Terminated(_)
                    | Expr::InstanceOf { .. }
                    | Expr::Cast { .. }
                    | Expr::ArrayLength(_)
                    | Expr::Query { .. }
                    | Expr::Reachable(..)
            );
        }
    }
    let mut plain = Plain(true);
    propositions.iter().for_each(|e| visit::expr(e, &mut plain));
    if plain.0 { Ok(propositions) } else { Err("the claim asks for more than values and locations") }
}

pub(crate) fn run_reduced<R: quotient_seams::Representative<Machine>, A: Ample<Machine>>(
    machine: &mut Machine,
    representative: &mut R,
    ample: &mut A,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Report {
    if machine.program().claim.as_ref().is_some_and(|c| c.cycles) {
        if check.store == StoreKind::Tree {
            let seams = Seams { system: machine, representative, ample, visited: &mut NumberedTree::new() };
            return liveness(seams, &mut options(check, progress));
        }
        let mut visited = numbering(machine, check);
        let seams = Seams { system: machine, representative, ample, visited: &mut visited };
        return liveness(seams, &mut options(check, progress));
    }
    match check.store {
        StoreKind::Tree => run_with(machine, representative, ample, &mut Tree::new(), check, progress),
        StoreKind::Plain => run_with(machine, representative, ample, &mut Plain::new(), check, progress),
        StoreKind::Gzip | StoreKind::Collapse => {
            // These are about memory, not speed: one search for both.
            let mut store: Box<dyn Visited> = if check.store == StoreKind::Gzip {
                Box::new(Gzip::new())
            } else {
                Box::new(Collapse::new(machine.parts()))
            };
            run_with(machine, representative, ample, &mut store, check, progress)
        }
    }
}

/// The store, for a search that keeps something with each state.
pub(crate) fn numbering(machine: &Machine, check: &Check<'_>) -> Box<dyn Numbering> {
    match check.store {
        StoreKind::Tree => Box::new(NumberedTree::new()),
        StoreKind::Plain => Box::new(Plain::new()),
        StoreKind::Gzip => Box::new(Gzip::new()),
        StoreKind::Collapse => Box::new(Collapse::new(machine.parts())),
    }
}

pub(crate) fn options<'a>(check: &Check<'a>, progress: &'a mut dyn FnMut(&Statistics)) -> Options<'a> {
    check.enter("searching");
    Options {
        limits: check.limits,
        all: check.all,
        deadlocks: check.deadlocks,
        interrupt: check.interrupt,
        progress: Some(progress),
    }
}

fn run_with<R: quotient_seams::Representative<Machine>, A: Ample<Machine>, V: Visited>(
    machine: &mut Machine,
    representative: &mut R,
    ample: &mut A,
    visited: &mut V,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Report {
    let mut options = options(check, progress);
    let seams = Seams { system: machine, representative, ample, visited };
    let search = match check.search {
        SearchKind::Usual if seams.representative.keeps_found() => SearchKind::DepthFirst,
        other => other,
    };
    match search {
        SearchKind::Usual | SearchKind::BreadthFirst => breadth_first(seams, &mut options),
        SearchKind::DepthFirst => depth_first(seams, &mut options),
    }
}
