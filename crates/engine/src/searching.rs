//! Running a plan: the seams put together.

use quotient_machine::{Fair, Machine};
use quotient_seams::{All, Ample, Identity, Incomplete, Numbering, OUT_OF_MEMORY, Visited, Worker};
use quotient_search::{
    FINISH_LEVELS_FROM, Limits, Options, Report, Seams, Statistics, Stop, Workers, breadth_first,
    breadth_first_by_workers, depth_first, liveness, swarm,
};
use quotient_visited::{Bitstate, Collapse, Compaction, Gzip, NumberedTree, Plain, Tree};

use crate::fairness::OfFair;
use crate::plan::{Moves, Plan, Search, Why};
use crate::symmetry_choice::Representative;
use crate::workers::workers;
use crate::{Check, PartialOrder, SearchKind, StoreKind};

/// The report, with the partial order reduction applied or why it was not.
pub(crate) type Searched = (Report, Result<PartialOrder, Why>);

/// Bytes of a bitstate array where memory has no limit.
const BITSTATE_BYTES: u64 = 1 << 27;

/// States that random search passes where it has no limit.
const RANDOM_STATES: u64 = 10_000_000;

/// Where the walks of random search begin: the same for every check, so that it finds the same again.
pub(crate) const SEED: u64 = 1;

/// CPU seconds that this thread has used.
pub(crate) fn thread_seconds() -> f64 {
    seconds(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU seconds that all threads have used.
pub(crate) fn process_seconds() -> f64 {
    seconds(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn seconds(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for writing one timespec.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The search that suits what the machine was compiled for.
pub(crate) fn run(
    machine: &mut Machine,
    representative: Option<&mut Representative>,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Searched {
    machine.set_interrupt(check.interrupt.cloned());
    let searched = match representative {
        _ if random(machine, check) => run_random(machine, check, progress),
        None => run_representing(machine, &mut Identity, check, progress),
        Some(representative) => run_representing(machine, representative, check, progress),
    };
    // What follows, such as executing a path again, must not be left half done.
    machine.set_interrupt(None);
    searched
}

/// Is a question answered by random walks?
pub(crate) fn random(machine: &Machine, check: &Check<'_>) -> bool {
    let cycles = machine.program().claim.as_ref().is_some_and(|c| c.cycles);
    check.search == SearchKind::Random && !cycles
}

/// Walks at random, by all workers.
fn run_random(machine: &mut Machine, check: &Check<'_>, progress: &mut dyn FnMut(&Statistics)) -> Searched {
    let limits = check.limits;
    // The time of a check is in its token, which says whether there is one by being raised.
    let unlimited = limits.states.is_none() && limits.memory.is_none() && !check.timed;
    let states = limits.states.or(unlimited.then_some(RANDOM_STATES));
    let check = Check { limits: Limits { states, ..limits }, ..*check };
    let workers = workers(machine, &check).map_or(1, |workers| workers.count);
    let mut report = swarm(machine, SEED, workers, &mut options(&check, progress));
    if unlimited && matches!(report.stop, Stop::Incomplete(Incomplete::Limit(_))) {
        report.stop = Stop::Incomplete(Incomplete::Sampled);
    }
    (report, Err("random walks take any move"))
}

/// The same with any representative.
fn run_representing<R: quotient_seams::Representative<Machine> + Worker>(
    machine: &mut Machine,
    representative: &mut R,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Searched {
    let Plan { search, store, moves, partial_order } = Plan::new(machine, representative, check);
    let options = &mut options(check, progress);
    let workers = workers(machine, check).unwrap_or(Workers::new(1));
    let report = match moves {
        Moves::All if search == Search::FairCycles => {
            let mut visited = numbering(machine, store);
            let representative = &mut OfFair::new(representative, machine);
            let system = &mut Fair(machine);
            liveness(Seams { system, representative, ample: &mut All, visited: &mut visited }, options)
        }
        Moves::All => run_reduced(machine, representative, &mut All, (search, store, workers), options),
        Moves::Ample(mut sets) => {
            run_reduced(machine, representative, &mut *sets, (search, store, workers), options)
        }
    };
    (report, partial_order)
}

/// Runs a search with a store.
fn run_reduced<R: quotient_seams::Representative<Machine> + Worker, A: Ample<Machine> + Worker>(
    machine: &mut Machine,
    representative: &mut R,
    ample: &mut A,
    (search, store, workers): (Search, StoreKind, Workers),
    options: &mut Options<'_>,
) -> Report {
    if matches!(search, Search::Cycles | Search::FairCycles) {
        if store == StoreKind::Tree {
            let seams = Seams { system: machine, representative, ample, visited: &mut NumberedTree::new() };
            return liveness(seams, options);
        }
        let mut visited = numbering(machine, store);
        let seams = Seams { system: machine, representative, ample, visited: &mut visited };
        return liveness(seams, options);
    }
    run_reachable(machine, representative, ample, (search, store, workers), options)
}

/// Searches the reachable states, over all moves.
pub(crate) fn run_whole<R: quotient_seams::Representative<Machine> + Worker>(
    machine: &mut Machine,
    representative: &mut R,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Report {
    let Plan { search, store, .. } = Plan::new(machine, representative, check);
    let workers = workers(machine, check).unwrap_or(Workers::new(1));
    let how = (search, store, workers);
    run_reachable(machine, representative, &mut All, how, &mut options(check, progress))
}

/// Searches the reachable states with a store.
fn run_reachable<R: quotient_seams::Representative<Machine> + Worker, A: Ample<Machine> + Worker>(
    machine: &mut Machine,
    representative: &mut R,
    ample: &mut A,
    (search, store, workers): (Search, StoreKind, Workers),
    options: &mut Options<'_>,
) -> Report {
    match store {
        StoreKind::Tree if search == Search::BreadthFirst => {
            let visited = &mut Tree::new();
            breadth_first_by_workers(
                Seams { system: machine, representative, ample, visited },
                workers,
                options,
            )
        }
        StoreKind::Tree => run_with(machine, representative, ample, &mut Tree::new(), search, options),
        StoreKind::Plain => run_with(machine, representative, ample, &mut Plain::new(), search, options),
        StoreKind::Gzip | StoreKind::Collapse | StoreKind::Bitstate | StoreKind::Hash => {
            // These are about memory, not speed: one search for all.
            let mut store: Box<dyn Visited> = match store {
                StoreKind::Gzip => Box::new(Gzip::new()),
                StoreKind::Collapse => Box::new(Collapse::new(machine.parts())),
                StoreKind::Bitstate => {
                    let bytes = options.limits.memory.map_or(BITSTATE_BYTES, |bytes| bytes / 2);
                    match Bitstate::new(bytes) {
                        Some(store) => Box::new(store),
                        None => return Report::incomplete(OUT_OF_MEMORY.into()),
                    }
                }
                _ => Box::new(Compaction::new()),
            };
            run_with(machine, representative, ample, &mut store, search, options)
        }
    }
}

/// The store, for a search that keeps something with each state.
pub(crate) fn numbering(machine: &Machine, store: StoreKind) -> Box<dyn Numbering> {
    match store {
        // Those that are approximate were refused.
        StoreKind::Tree | StoreKind::Bitstate | StoreKind::Hash => Box::new(NumberedTree::new()),
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
        finish_levels_from: check.workers.map_or(FINISH_LEVELS_FROM, |workers| workers.from),
        interrupt: check.interrupt,
        progress: Some(progress),
    }
}

fn run_with<R: quotient_seams::Representative<Machine>, A: Ample<Machine>, V: Visited>(
    machine: &mut Machine,
    representative: &mut R,
    ample: &mut A,
    visited: &mut V,
    search: Search,
    options: &mut Options<'_>,
) -> Report {
    let seams = Seams { system: machine, representative, ample, visited };
    match search {
        Search::DepthFirst => depth_first(seams, options),
        _ => breadth_first(seams, options),
    }
}
