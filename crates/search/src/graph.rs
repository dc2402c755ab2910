//! The whole reachable graph, with successor lists: for labelling and drawing.

use quotient_seams::{Ample, Numbering, Representative, Successors, System};

use crate::expand::{Expander, Turn};
use crate::frontier::Frontier;
use crate::monitor::Monitor;
use crate::{Options, Seams, Statistics, Stop};

/// A node as it is expanded.
#[derive(Debug)]
pub struct Expanded<'a> {
    /// The state.
    pub state: &'a [u64],
    /// The numbers of its successors, in the order the system gives them. States are numbered as they are met, from 0.
    pub targets: &'a [u32],
    /// For each of them its number among all entries that the system gives for the state (some may be violations without a
    /// state).
    pub choices: &'a [u32],
    /// A violation ends a path here.
    pub ends: bool,
}

/// Explores everything that suffices, nearest first, and calls `node` for each state in the order of their numbers. There is no
/// stack here: ample sets must see to it themselves that no thread is postponed for ever, as those for temporal questions do.
pub fn graph<S: System, R: Representative<S>, A: Ample<S>, V: Numbering>(
    seams: Seams<'_, S, R, A, V>,
    options: &mut Options<'_>,
    node: &mut dyn FnMut(&mut S, Expanded<'_>) -> Result<(), Stop>,
) -> (Stop, Statistics) {
    let mut statistics = Statistics::default();
    let stop = match explore(seams, options, node, &mut statistics) {
        Ok(()) => Stop::Complete,
        Err(stop) => stop,
    };
    (stop, statistics)
}

fn explore<S: System, R: Representative<S>, A: Ample<S>, V: Numbering>(
    seams: Seams<'_, S, R, A, V>,
    options: &mut Options<'_>,
    node: &mut dyn FnMut(&mut S, Expanded<'_>) -> Result<(), Stop>,
    statistics: &mut Statistics,
) -> Result<(), Stop> {
    let Seams { system, representative, ample, visited: store } = seams;
    let mut expander = Expander::new(system, representative, ample);
    let mut monitor = Monitor::new(options);
    let mut successors = Successors::new();
    let (mut targets, mut choices) = (Vec::new(), Vec::new());
    let (mut level, mut next, mut place) = (Frontier::default(), Frontier::default(), 0);
    let exhausted = |e: quotient_seams::Exhausted| Stop::Incomplete(e.what);

    expander.initial(&mut successors, &mut ()).map_err(exhausted)?;
    for state in (0..successors.len()).map(|i| successors.state(i)).filter(|s| !s.is_empty()) {
        let before = store.len();
        if u64::from(store.number_of(state)) == before {
            level.push(state, &[]);
        }
    }
    loop {
        let Some((known, after)) = level.at(place) else {
            level.clear();
            place = 0;
            std::mem::swap(&mut level, &mut next);
            if level.len() == 0 {
                return Ok(());
            }
            statistics.depth += 1;
            continue;
        };
        let state = known.state;
        place = after;
        successors.clear();
        let mut turn = Turn::default();
        expander.expand(state, &mut turn, &mut successors, &mut ()).map_err(exhausted)?;
        expander.among_all(state, turn, successors.len(), &mut choices).map_err(exhausted)?;
        targets.clear();
        let mut ends = false;
        for index in 0..successors.len() {
            if !successors.entry(index).has_state() {
                ends = true;
                continue;
            }
            // Those without a state are left out here as well.
            choices[targets.len()] = choices[index];
            let to = successors.state(index);
            let before = store.len();
            let number = store.number_of(to);
            targets.push(number);
            if u64::from(number) == before {
                next.push(to, &[]);
            }
        }
        choices.truncate(targets.len());
        statistics.expanded += 1;
        statistics.transitions += targets.len() as u64;
        statistics.states = store.len();
        statistics.store_bytes = store.bytes();
        statistics.search_bytes = level.bytes() + next.bytes();
        node(expander.system, Expanded { state, targets: &targets, choices: &choices, ends })?;
        if let Some(limit) = options.limits.states
            && statistics.states > limit
        {
            return Err(Monitor::states(limit));
        }
        if monitor.due()
            && let Some(stop) = monitor.check(options, &mut || *statistics)
        {
            return Err(stop);
        }
        if let Some(what) = store.exhausted() {
            return Err(Stop::Incomplete(what.into()));
        }
    }
}
