//! Which search answers a question: the seams put together.

use quotient_ample::{All, Ample, AmpleSets, DynamicSets, Question};
use quotient_machine::{Fair, Machine};
use quotient_program::visit::{self, Visitor};
use quotient_program::{Expr, Operation};
use quotient_search::{OmegaSeams, Options, Report, Seams, Statistics, breadth_first, depth_first, liveness};
use quotient_symmetry::Identity;
use quotient_visited::{Collapse, Gzip, Plain, Tree, Visited};

use crate::symmetry_choice::{self, Representative};
use crate::{Check, PartialOrder, SearchKind, StoreKind};

/// The report, with the partial order reduction applied or why it was not.
pub(crate) type Searched = (Report, Result<PartialOrder, &'static str>);

/// The representative for what the machine was compiled for. A claim may tell processes apart: then every state stands for
/// itself.
pub(crate) fn representative(machine: &mut Machine, check: &Check<'_>) -> Option<Representative> {
    if machine.program().claim.is_some() {
        return None;
    }
    symmetry_choice::representative(machine, check)
}

/// The search that suits what the machine was compiled for.
pub(crate) fn run(
    machine: &mut Machine,
    representative: Option<&mut Representative>,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Searched {
    let claim = machine.program().claim.as_ref().map(|c| c.cycles);
    if claim == Some(true) {
        return run_omega(machine, check, progress);
    }
    if claim == Some(false) {
        let report = run_reduced(machine, &mut Identity, &mut All, check, progress);
        return (report, Err("the claim is not a formula about whole runs"));
    }
    match representative {
        None => run_representing(machine, &mut Identity, check, progress),
        Some(representative) => run_representing(machine, representative, check, progress),
    }
}

/// Looks for runs that a claim reports.
fn run_omega(machine: &mut Machine, check: &Check<'_>, progress: &mut dyn FnMut(&Statistics)) -> Searched {
    let mut options = options(check, progress);
    let representative = &mut Identity;
    if check.fair {
        let seams = OmegaSeams { system: &mut Fair(machine), representative, ample: &mut All };
        return (liveness(seams, &mut options), Err("only fair runs count"));
    }
    if check.raw || check.partial_order == PartialOrder::Off {
        let seams = OmegaSeams { system: machine, representative, ample: &mut All };
        return (liveness(seams, &mut options), Ok(PartialOrder::Off));
    }
    let ample = propositions(machine)
        .and_then(|visible| AmpleSets::new(machine, &Question::LtlX { visible }, false));
    match ample {
        Ok(mut ample) => {
            let seams = OmegaSeams { system: machine, representative, ample: &mut ample };
            (liveness(seams, &mut options), Ok(check.partial_order))
        }
        Err(why) => {
            let seams = OmegaSeams { system: machine, representative, ample: &mut All };
            (liveness(seams, &mut options), Err(why))
        }
    }
}

/// What a claim looks at, if ample sets can preserve the answer: it must not count steps, and only look at what steps write.
fn propositions(machine: &Machine) -> Result<Vec<Expr>, &'static str> {
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
                    | Expr::Spanned(..)
            );
        }
    }
    let Some(claim) = &machine.program().claim else { return Ok(Vec::new()) };
    if !claim.stutter_invariant {
        return Err("the claim can count steps (X, or written by hand)");
    }
    if claim.accept_labels {
        return Err("accept or progress labels of processes count");
    }
    let mut plain = Plain(true);
    let mut visible = Vec::new();
    for t in claim.function.locations.iter().flat_map(|l| &l.transformations) {
        visit::transformation(t, &mut plain);
        if let Operation::When(condition) = &t.operation {
            visible.push(condition.clone());
        }
    }
    if plain.0 { Ok(visible) } else { Err("the claim asks for more than values and locations") }
}

fn run_representing<R: quotient_symmetry::Representative<Machine>>(
    machine: &mut Machine,
    representative: &mut R,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Searched {
    if check.raw || check.partial_order == PartialOrder::Off {
        return (run_reduced(machine, representative, &mut All, check, progress), Ok(PartialOrder::Off));
    }
    let why = if !representative.is_canonical() {
        "the order of --symmetry does not always choose the same state of a class"
    } else if machine.program().features.dynamic {
        let symmetric = check.partial_order == PartialOrder::SymmetricIndependence;
        match DynamicSets::new(machine, &Question::Safety, symmetric) {
            Ok(mut ample) => {
                let report = run_reduced(machine, representative, &mut ample, check, progress);
                return (report, Ok(check.partial_order));
            }
            Err(why) => why,
        }
    } else {
        match AmpleSets::new(machine, &Question::Safety, representative.renames()) {
            Ok(mut ample) => {
                let report = run_reduced(machine, representative, &mut ample, check, progress);
                return (report, Ok(check.partial_order));
            }
            Err(why) => why,
        }
    };
    (run_reduced(machine, representative, &mut All, check, progress), Err(why))
}

pub(crate) fn run_reduced<R: quotient_symmetry::Representative<Machine>, A: Ample<Machine>>(
    machine: &mut Machine,
    representative: &mut R,
    ample: &mut A,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Report {
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

pub(crate) fn options<'a>(check: &Check<'a>, progress: &'a mut dyn FnMut(&Statistics)) -> Options<'a> {
    Options {
        limits: check.limits,
        all: check.all,
        deadlocks: check.deadlocks,
        interrupt: check.interrupt,
        progress: Some(progress),
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
