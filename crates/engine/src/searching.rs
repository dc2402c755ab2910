//! Running a plan: the seams put together.

use std::sync::{Mutex, PoisonError};

use quotient_checkpoint::Checkpoint;
use quotient_cluster::Cluster;
use quotient_machine::{Fair, Machine};
use quotient_seams::{All, Ample, Identity, Incomplete, Numbering, OUT_OF_MEMORY, Visited, Worker};
use quotient_search::{
    FINISH_LEVELS_FROM, Limits, Options, Peers, Report, Seams, Statistics, Stop, Workers, breadth_first,
    breadth_first_by_processes, breadth_first_by_workers, breadth_first_on_disk, depth_first, liveness,
    liveness_by_one_or_several, liveness_by_processes, liveness_by_workers, swarm,
};
use quotient_visited::{Bitstate, Collapse, Compaction, Gzip, NumberedStates, NumberedTree, Plain, Tree};

use crate::fairness::OfFair;
use crate::perhaps::Perhaps;
use crate::plan::{Moves, Plan, Search, Stands, Why};
use crate::symmetry_choice::Representative;
use crate::workers::workers;
use crate::{Check, Disk, PartialOrder, Processes, SearchKind, StoreKind};

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
        // The usual searches of states that stand for themselves are compiled one by one.
        None => run_representing(
            machine,
            &mut Identity,
            check,
            progress,
            |machine, stands, mut moves, by, options| match &mut moves {
                moves if !by.is_usual() => run_reduced(machine, &mut Perhaps(None), moves, by, options),
                Moves::All => run_usual(machine, stands, &mut All, by, options),
                Moves::Ample(sets) => run_usual(machine, stands, &mut **sets, by, options),
            },
        ),
        // Finding a representative outweighs choosing between kinds of moves.
        Some(stands) => {
            run_representing(machine, stands, check, progress, |machine, stands, mut moves, by, options| {
                if by.is_usual() {
                    return run_usual(machine, stands, &mut moves, by, options);
                }
                let mut own = Perhaps(Some(stands.another()));
                let report = run_reduced(machine, &mut own, &mut moves, by, options);
                own.0.into_iter().for_each(|own| stands.join(own));
                report
            })
        }
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
    let workers = workers(machine, false, &check).map_or(1, |workers| workers.count);
    let mut report = swarm(machine, SEED, workers, &mut options(&check, progress));
    if unlimited && matches!(report.stop, Stop::Incomplete(Incomplete::Limit(_))) {
        report.stop = Stop::Incomplete(Incomplete::Sampled);
    }
    (report, Err("random walks take any move"))
}

/// The same with any representative, and a function that searches over the moves chosen.
fn run_representing<R: Stands + Worker>(
    machine: &mut Machine,
    representative: &mut R,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
    search_over: impl FnOnce(&mut Machine, &mut R, Moves, By<'_>, &mut Options<'_>) -> Report,
) -> Searched {
    let Plan { search, store, moves, partial_order } = Plan::new(machine, representative, check);
    let options = &mut options(check, progress);
    let workers = workers(machine, R::CHANGES, check).unwrap_or(Workers::new(1));
    let by = By {
        search,
        store,
        workers,
        checkpoint: check.checkpoint,
        disk: check.disk,
        processes: check.processes,
    };
    let report = match moves {
        Moves::All if search == Search::FairCycles => {
            let mut fair = Fair(machine.another());
            let report = fair_cycles(&mut fair, representative, by, options);
            machine.join(fair.0);
            report
        }
        moves => search_over(machine, representative, moves, by, options),
    };
    (report, partial_order)
}

/// Looks for fair runs: by several workers where threads keep their places.
fn fair_cycles<R: quotient_seams::Representative<Machine> + Worker>(
    system: &mut Fair,
    representative: &mut R,
    By { store, workers, .. }: By<'_>,
    options: &mut Options<'_>,
) -> Report {
    let one = |system: &mut Fair, representative: &mut R, ample: &mut All, options: &mut Options<'_>| {
        let mut visited = numbering(&system.0, store);
        let representative = &mut OfFair::new(representative, &system.0);
        liveness(Seams { system, representative, ample, visited: &mut visited }, options)
    };
    if R::CHANGES {
        return one(system, representative, &mut All, options);
    }
    let parts = (system, representative, &mut All);
    liveness_by_one_or_several(workers, options, parts, one, |system, _, ample, options| {
        let (representative, visited) = (&mut Identity, &mut NumberedStates::new());
        liveness_by_workers(Seams { system, representative, ample, visited }, workers.count, options)
    })
}

/// Looks for infinite runs.
fn cycles(
    machine: &mut Machine,
    representative: &mut Perhaps<Representative>,
    ample: &mut Moves,
    By { store, workers, processes, .. }: By<'_>,
    options: &mut Options<'_>,
) -> Report {
    type Stands = Perhaps<Representative>;
    let one =
        |system: &mut Machine, representative: &mut Stands, ample: &mut Moves, options: &mut Options<'_>| {
            if store == StoreKind::Tree {
                let visited = &mut NumberedTree::new();
                return liveness(Seams { system, representative, ample, visited }, options);
            }
            let mut visited = numbering(system, store);
            liveness(Seams { system, representative, ample, visited: &mut visited }, options)
        };
    if let Some(processes) = processes {
        let mut cluster = processes.cluster.lock().unwrap_or_else(PoisonError::into_inner);
        let visited = &mut NumberedTree::new();
        let seams = Seams { system: machine, representative, ample, visited };
        return match meet(seams.system, processes, &mut cluster) {
            Ok(()) => liveness_by_processes(seams, (processes.alone, &mut *cluster), options, one),
            Err(why) => Report::incomplete(why),
        };
    }
    let parts = (machine, representative, ample);
    liveness_by_one_or_several(workers, options, parts, one, |system, representative, ample, options| {
        let visited = &mut NumberedStates::new();
        liveness_by_workers(Seams { system, representative, ample, visited }, workers.count, options)
    })
}

/// How a search is done.
#[derive(Clone, Copy)]
struct By<'a> {
    search: Search,
    store: StoreKind,
    workers: Workers,
    checkpoint: Option<&'a Mutex<Checkpoint>>,
    disk: Option<Disk<'a>>,
    processes: Option<Processes<'a>>,
}

impl By<'_> {
    /// Is it a search of reachable states that keeps all of them in the usual store in memory? Everything else does so much more for each state
    /// that choosing between kinds of moves at run time costs nothing beside it.
    fn is_usual(&self) -> bool {
        matches!(self.search, Search::BreadthFirst | Search::DepthFirst)
            && self.store == StoreKind::Tree
            && self.disk.is_none()
            && self.processes.is_none()
    }
}

/// Runs a search that is not one of the usual ones.
fn run_reduced(
    machine: &mut Machine,
    representative: &mut Perhaps<Representative>,
    ample: &mut Moves,
    by: By<'_>,
    options: &mut Options<'_>,
) -> Report {
    if matches!(by.search, Search::Cycles | Search::FairCycles) {
        return cycles(machine, representative, ample, by, options);
    }
    if by.search == Search::BreadthFirst && by.store == StoreKind::Tree {
        let visited = &mut Tree::new();
        if let Some(processes) = by.processes {
            let seams = Seams { system: machine, representative, ample, visited };
            return match by.checkpoint {
                None => by_processes(seams, processes, options),
                Some(checkpoint) => {
                    logged(checkpoint, options, |options| by_processes(seams, processes, options))
                }
            };
        }
        if let Some(disk) = by.disk {
            return on_disk(Seams { system: machine, representative, ample, visited }, disk, options);
        }
    }
    run_stored(machine, representative, ample, by, options)
}

/// Searches the reachable states, over all moves.
pub(crate) fn run_whole<R: Stands + Worker>(
    machine: &mut Machine,
    representative: &mut R,
    check: &Check<'_>,
    progress: &mut dyn FnMut(&Statistics),
) -> Report {
    let Plan { search, store, .. } = Plan::new(machine, representative, check);
    let workers = workers(machine, R::CHANGES, check).unwrap_or(Workers::new(1));
    let by = By { search, store, workers, checkpoint: None, disk: None, processes: None };
    run_in_memory(machine, representative, &mut All, by, &mut options(check, progress))
}

/// Searches the reachable states with a store in memory.
fn run_in_memory<R: quotient_seams::Representative<Machine> + Worker, A: Ample<Machine> + Worker>(
    machine: &mut Machine,
    representative: &mut R,
    ample: &mut A,
    by: By<'_>,
    options: &mut Options<'_>,
) -> Report {
    match by.store {
        StoreKind::Tree => run_usual(machine, representative, ample, by, options),
        _ => run_stored(machine, representative, ample, by, options),
    }
}

/// The same with the usual store.
fn run_usual<R: quotient_seams::Representative<Machine> + Worker, A: Ample<Machine> + Worker>(
    machine: &mut Machine,
    representative: &mut R,
    ample: &mut A,
    By { search, workers, checkpoint, .. }: By<'_>,
    options: &mut Options<'_>,
) -> Report {
    let visited = &mut Tree::new();
    let seams = Seams { system: machine, representative, ample, visited };
    match checkpoint {
        _ if search != Search::BreadthFirst => depth_first(seams, options),
        None => breadth_first_by_workers(seams, workers, options),
        Some(checkpoint) => {
            logged(checkpoint, options, |options| breadth_first_by_workers(seams, workers, options))
        }
    }
}

/// The same with one of the others, which are for comparison or about memory: one search for all.
fn run_stored<R: quotient_seams::Representative<Machine>, A: Ample<Machine>>(
    machine: &mut Machine,
    representative: &mut R,
    ample: &mut A,
    By { search, store, .. }: By<'_>,
    options: &mut Options<'_>,
) -> Report {
    let visited: &mut Box<dyn Visited> = &mut match store {
        StoreKind::Plain => Box::new(Plain::new()),
        StoreKind::Gzip => Box::new(Gzip::new()),
        StoreKind::Collapse => Box::new(Collapse::new(machine.parts())),
        StoreKind::Bitstate => {
            let bytes = options.limits.memory.map_or(BITSTATE_BYTES, |bytes| bytes / 2);
            match Bitstate::new(bytes) {
                Some(store) => Box::new(store),
                None => return Report::incomplete(OUT_OF_MEMORY.into()),
            }
        }
        StoreKind::Hash => Box::new(Compaction::new()),
        StoreKind::Tree => Box::new(Tree::new()),
    };
    let seams = Seams { system: machine, representative, ample, visited };
    match search {
        Search::DepthFirst => depth_first(seams, options),
        _ => breadth_first(seams, options),
    }
}

/// A search that writes what it finds, and goes on from what an earlier run has written.
fn logged(
    checkpoint: &Mutex<Checkpoint>,
    options: &mut Options<'_>,
    search: impl FnOnce(&mut Options<'_>) -> Report,
) -> Report {
    let mut checkpoint = checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
    let incomplete = |why: String| Report::incomplete(Incomplete::Stopped(why));
    let mut log = match checkpoint.log() {
        Ok(log) => log,
        Err(why) => return incomplete(format!("the checkpoint cannot be used: {why}")),
    };
    let progress = options.progress.as_mut().map(|progress| &mut **progress as &mut dyn FnMut(&Statistics));
    let report = search(&mut Options { log: Some(&mut log), progress, ..*options });
    // What cannot be written at the end changes nothing in the answer.
    if let Err(why) = log.finish() {
        checkpoint.note(format!("the checkpoint was not written to its end: {why}"));
    }
    report
}

/// A search with a folder for what does not fit in memory.
fn on_disk<R: quotient_seams::Representative<Machine> + Worker, A: Ample<Machine> + Worker>(
    seams: Seams<'_, Machine, R, A, Tree>,
    disk: Disk<'_>,
    options: &mut Options<'_>,
) -> Report {
    let mut folder = disk.folder.lock().unwrap_or_else(PoisonError::into_inner);
    folder.clear();
    // What else takes memory (records that wait, a level's states with partial order) has a quarter.
    let memory = options.limits.memory.unwrap_or_else(|| machine_bytes() / 2) / 4 * 3;
    let disk = quotient_search::Disk { from: disk.from, memory, most: disk.most };
    breadth_first_on_disk(seams, (disk, &mut *folder), options)
}

/// A search by several processes, of which this is one.
fn by_processes<R: quotient_seams::Representative<Machine> + Worker, A: Ample<Machine> + Worker>(
    seams: Seams<'_, Machine, R, A, Tree>,
    processes: Processes<'_>,
    options: &mut Options<'_>,
) -> Report {
    let mut cluster = processes.cluster.lock().unwrap_or_else(PoisonError::into_inner);
    match meet(seams.system, processes, &mut cluster) {
        Ok(()) => breadth_first_by_processes(seams, (processes.alone, &mut *cluster), options),
        Err(why) => Report::incomplete(why),
    }
}

/// Has all processes of a search encode states alike: the first one numbers shapes for all.
fn meet(machine: &mut Machine, processes: Processes<'_>, cluster: &mut Cluster) -> Result<(), Incomplete> {
    if cluster.places().1 == 0 {
        cluster.begin(Some(Box::new(machine.shape_numbers())));
        return Ok(());
    }
    cluster.begin(None);
    let (ask, lost) = (cluster.asker(), processes.lost);
    let elsewhere =
        move |have: usize, description: Option<&[u32]>| ask(have, description).unwrap_or_else(|| lost());
    match machine.number_shapes_elsewhere(Box::new(elsewhere)) {
        true => Ok(()),
        false => {
            let why = "process 0 has compiled another program";
            Err(Incomplete::Stopped(why.into()))
        }
    }
}

/// Bytes of memory that this machine has.
fn machine_bytes() -> u64 {
    // SAFETY: asks for constants of the system.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).unwrap_or(0) * u64::try_from(size).unwrap_or(0)
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
        log: None,
    }
}
