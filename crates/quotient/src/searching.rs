//! Which search answers a question: the seams put together.

use quotient_ample::{All, Ample, AmpleSets};
use quotient_machine::{Fair, Machine};
use quotient_search::{OmegaSeams, Options, Report, Seams, Statistics, breadth_first, depth_first, liveness};
use quotient_symmetry::Identity;
use quotient_visited::{Plain, Tree, Visited};

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
    let no_order = Err("a temporal claim is checked");
    if claim == Some(true) {
        let mut options = options(check, progress);
        let (representative, ample) = (&mut Identity, &mut All);
        let report = if check.fair {
            let seams = OmegaSeams { system: &mut Fair(machine), representative, ample };
            liveness(seams, &mut options)
        } else {
            liveness(OmegaSeams { system: machine, representative, ample }, &mut options)
        };
        return (report, no_order);
    }
    if claim == Some(false) {
        return (run_reduced(machine, &mut Identity, &mut All, check, progress), no_order);
    }
    match representative {
        None => run_representing(machine, &mut Identity, check, progress),
        Some(representative) => run_representing(machine, representative, check, progress),
    }
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
    let ample = if representative.is_canonical() {
        AmpleSets::new(machine, &quotient_ample::Question::Safety, representative.renames())
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
    match check.search {
        SearchKind::BreadthFirst => breadth_first(seams, &mut options),
        SearchKind::DepthFirst => depth_first(seams, &mut options),
    }
}
