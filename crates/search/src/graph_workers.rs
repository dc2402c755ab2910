//! The whole reachable graph, explored by several workers.
//!
//! Level by level: workers take parts of a level, look up where the steps of its states lead, and write that down by the numbers that states were given as they were found. Afterwards one
//! worker goes through what was written, nearest first, and numbers the states as [`crate::graph()`] does. So what is made of the graph does not depend on who found what.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use quotient_seams::{Ample, Representative, SharedNumbering, Successors, System, Worker};

use crate::expand::{Expander, Turn};
use crate::monitor::Monitor;
use crate::workers::STACK;
use crate::{Expanded, Options, Seams, Statistics, Stop, Workers};

/// States that a worker takes at a time.
const PART: usize = 64;

/// What a worker has written down of the states that it expanded.
#[derive(Default)]
struct Written {
    nodes: Vec<Node>,
    targets: Vec<u32>,
    choices: Vec<u32>,
    /// States that it found.
    found: Vec<u32>,
    /// Why it stopped.
    stop: Option<Stop>,
}

#[derive(Clone, Copy)]
struct Node {
    state: u32,
    /// Behind its targets and choices.
    end: usize,
    ends: bool,
}

/// Explores everything that suffices, by several workers, and calls `node` for each state, nearest first, in the order of their numbers; gives the number of workers, too.
/// There is no stack here: ample sets must see to it themselves that no thread is postponed for ever, as those for temporal questions do.
pub fn graph_by_workers<S, R, A, N>(
    seams: Seams<'_, S, R, A, N>,
    workers: Workers,
    options: &mut Options<'_>,
    node: &mut dyn FnMut(&mut S, Expanded<'_>) -> Result<(), Stop>,
) -> (Stop, Statistics, usize)
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    N: SharedNumbering,
{
    let mut explored = Explored { statistics: Statistics::default(), workers: 1 };
    let stop = match explored.explore(seams, workers, options, node) {
        Ok(()) => Stop::Complete,
        Err(stop) => stop,
    };
    (stop, explored.statistics, explored.workers)
}

struct Explored {
    statistics: Statistics,
    workers: usize,
}

impl Explored {
    fn explore<S, R, A, N>(
        &mut self,
        seams: Seams<'_, S, R, A, N>,
        workers: Workers,
        options: &mut Options<'_>,
        node: &mut dyn FnMut(&mut S, Expanded<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop>
    where
        S: System + Worker,
        R: Representative<S> + Worker,
        A: Ample<S> + Worker,
        N: SharedNumbering,
    {
        let Seams { system, representative, ample, visited } = seams;
        let states: &N = visited;
        let mut monitor = Monitor::new(options);
        let mut parts = Vec::new();
        let mut written = vec![Written::default()];
        let (mut initial, mut level) = (Vec::new(), Vec::new());
        let mut successors = Successors::new();
        let begun =
            Expander::new(&mut *system, &mut *representative, &mut *ample).initial(&mut successors, &mut ());
        begun.map_err(|e| Stop::Incomplete(e.what))?;
        for state in (0..successors.len()).map(|i| successors.state(i)).filter(|s| !s.is_empty()) {
            let (number, new) = states.number(state).ok_or_else(|| no_room(states))?;
            initial.push(number);
            if new {
                level.push(number);
            }
        }
        while !level.is_empty() {
            if workers.count > 1 && parts.is_empty() && level.len() as u64 >= workers.narrow.max(1) {
                parts.resize_with(workers.count - 1, || {
                    (system.another(), representative.another(), ample.another())
                });
                written.resize_with(workers.count, Written::default);
            }
            let several = level.len() as u64 >= workers.narrow.max(1);
            let (taken, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
            let shared = (states, &level[..], &taken, &stop);
            let statistics = &mut self.statistics;
            let before = (statistics.expanded, statistics.transitions);
            let threads = std::thread::scope(|scope| {
                let mut lists = written.iter_mut();
                let own = lists.next();
                let threads: Vec<_> = parts
                    .iter_mut()
                    .filter(|_| several)
                    .zip(lists)
                    .filter_map(|((system, representative, ample), written)| {
                        let run = move || {
                            let expander = Expander::new(system, representative, ample);
                            expand_level(expander, shared, written, &mut |_| None);
                        };
                        // Without threads there are fewer workers.
                        std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).ok()
                    })
                    .collect();
                if let Some(own) = own {
                    let expander = Expander::new(&mut *system, &mut *representative, &mut *ample);
                    expand_level(expander, shared, own, &mut |own: &Written| {
                        statistics.states = states.len();
                        if let Some(limit) = options.limits.states.filter(|limit| statistics.states > *limit)
                        {
                            return Some(Monitor::states(limit));
                        }
                        if !monitor.due() {
                            return None;
                        }
                        // The others have done about as much.
                        let each = 1 + if several { workers.count as u64 - 1 } else { 0 };
                        statistics.expanded = before.0.max(own.nodes.len() as u64 * each);
                        statistics.transitions = before.1.max(own.targets.len() as u64 * each);
                        statistics.store_bytes = states.bytes();
                        monitor.check(options, &mut || *statistics)
                    });
                }
                let count = threads.len();
                for thread in threads {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                }
                count
            });
            self.workers = self.workers.max(threads + 1);
            let statistics = &mut self.statistics;
            statistics.states = states.len();
            statistics.expanded = written.iter().map(|w| w.nodes.len() as u64).sum();
            statistics.transitions = written.iter().map(|w| w.targets.len() as u64).sum();
            statistics.store_bytes = states.bytes();
            statistics.search_bytes = written.iter().map(Written::bytes).sum();
            if let Some(stop) = written.iter_mut().find_map(|w| w.stop.take()) {
                return Err(stop);
            }
            // Whoever looks at limits may have had no part in the level.
            if let Some(limit) = options.limits.states.filter(|limit| statistics.states > *limit) {
                return Err(Monitor::states(limit));
            }
            level.clear();
            written.iter_mut().for_each(|w| level.append(&mut w.found));
            statistics.depth += u64::from(!level.is_empty());
        }
        for (system_part, representative_part, ample_part) in parts {
            system.join(system_part);
            representative.join(representative_part);
            ample.join(ample_part);
        }
        number_again(system, states, &initial, &written, node)
    }
}

impl Written {
    fn bytes(&self) -> u64 {
        let numbers = self.targets.capacity() + self.choices.capacity() + self.found.capacity();
        (4 * numbers + size_of::<Node>() * self.nodes.capacity()) as u64
    }

    /// The targets and choices of a node.
    fn edges(&self, node: usize) -> (&[u32], &[u32]) {
        let start = node.checked_sub(1).map_or(0, |before| self.nodes[before].end);
        let end = self.nodes[node].end;
        (&self.targets[start..end], &self.choices[start..end])
    }
}

fn no_room<N: SharedNumbering>(states: &N) -> Stop {
    Stop::Incomplete(states.exhausted().unwrap_or("no room for a state").into())
}

/// Expands parts of a level until there are none left or somebody stops; `look` may give a reason to.
fn expand_level<S: System, R: Representative<S>, A: Ample<S>, N: SharedNumbering>(
    mut expander: Expander<'_, S, R, A>,
    (states, level, taken, stop): (&N, &[u32], &AtomicUsize, &AtomicBool),
    written: &mut Written,
    look: &mut dyn FnMut(&Written) -> Option<Stop>,
) {
    let (mut successors, mut state, mut choices) = (Successors::new(), Vec::new(), Vec::new());
    let mut expand = |number: u32, written: &mut Written| {
        states.state(number, &mut state);
        successors.clear();
        let mut turn = Turn::default();
        let exhausted = |e: quotient_seams::Exhausted| Stop::Incomplete(e.what);
        expander.expand(&state, &mut turn, &mut successors, &mut ()).map_err(exhausted)?;
        expander.among_all(&state, turn, successors.len(), &mut choices).map_err(exhausted)?;
        let mut ends = false;
        for (index, choice) in choices.iter().enumerate() {
            if !successors.entry(index).has_state() {
                ends = true;
                continue;
            }
            let (to, new) = states.number(successors.state(index)).ok_or_else(|| no_room(states))?;
            written.targets.push(to);
            written.choices.push(*choice);
            if new {
                written.found.push(to);
            }
        }
        written.nodes.push(Node { state: number, end: written.targets.len(), ends });
        Ok(())
    };
    loop {
        let first = taken.fetch_add(PART, Ordering::Relaxed);
        if first >= level.len() || stop.load(Ordering::Relaxed) {
            return;
        }
        for &number in &level[first..level.len().min(first + PART)] {
            let why = expand(number, written).err().or_else(|| look(written));
            if why.is_some() {
                written.stop = why;
                stop.store(true, Ordering::Relaxed);
                return;
            }
        }
    }
}

/// Goes through the graph that was written down, nearest first, in the order of steps.
fn number_again<S: System, N: SharedNumbering>(
    system: &mut S,
    states: &N,
    initial: &[u32],
    written: &[Written],
    node: &mut dyn FnMut(&mut S, Expanded<'_>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let all = || {
        written.iter().enumerate().flat_map(|(list, w)| w.nodes.iter().enumerate().map(move |n| (list, n)))
    };
    let most = all().map(|(_, (_, node))| node.state as usize + 1).max().unwrap_or(0);
    // Where each is written down, and its number plus one.
    let mut places = vec![(0u32, 0u32); most];
    let mut numbers = vec![0u32; most];
    for (list, (at, node)) in all() {
        places[node.state as usize] = (list as u32, at as u32);
    }
    let mut order: Vec<u32> = Vec::new();
    let mut meet = |state: u32, order: &mut Vec<u32>| {
        if numbers[state as usize] == 0 {
            order.push(state);
            numbers[state as usize] = order.len() as u32;
        }
        numbers[state as usize] - 1
    };
    for &state in initial {
        meet(state, &mut order);
    }
    let (mut next, mut words, mut targets) = (0, Vec::new(), Vec::new());
    while let Some(&state) = order.get(next) {
        next += 1;
        let (list, at) = places[state as usize];
        let list = &written[list as usize];
        let (to, choices) = list.edges(at as usize);
        targets.clear();
        targets.extend(to.iter().map(|to| meet(*to, &mut order)));
        states.state(state, &mut words);
        let ends = list.nodes[at as usize].ends;
        node(system, Expanded { state: &words, targets: &targets, choices, ends })?;
    }
    Ok(())
}
