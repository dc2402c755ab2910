//! What a breadth-first search has seen go wrong, until it is reported.
//!
//! A path is made only when the search has ended, from the predecessors that all workers wrote down.

use quotient_seams::{Ample, Representative, System};

use crate::expand::Expander;
use crate::parents::Parents;
use crate::{Cause, Found, Path};

/// Where something went wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Where {
    /// At this initial state.
    Initial(u32),
    /// At the state expanded there, or on the step from it that was written down as this choice.
    Expanded { number: u64, choice: Option<u32> },
}

/// One cause, as one worker met it first.
#[derive(Clone, Copy, Debug)]
struct Spot {
    cause: Cause,
    at: Where,
    depth: u64,
    /// Met in a level that is finished whatever is found: what comes first there does not count.
    unordered: bool,
    worker: usize,
    count: u64,
}

/// What was spotted, one entry per cause and worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spotted(Vec<Spot>);

impl Spotted {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn record(&mut self, cause: Cause, at: Where, depth: u64, unordered: bool) {
        match self.0.iter_mut().find(|spot| spot.cause == cause) {
            Some(spot) => spot.count += 1,
            None => self.0.push(Spot { cause, at, depth, unordered, worker: 0, count: 1 }),
        }
    }

    /// Adds what another worker has spotted.
    pub(crate) fn join(&mut self, worker: usize, other: Spotted) {
        for spot in other.0 {
            let spot = Spot { worker, ..spot };
            match self.0.iter_mut().find(|known| known.cause == spot.cause) {
                Some(known) => {
                    let count = known.count + spot.count;
                    *known = Spot { count, ..if spot.depth < known.depth { spot } else { *known } };
                }
                None => self.0.push(spot),
            }
        }
    }

    /// One entry per cause with the way to it: the nearest first; in a level that was finished by kind, so that the order does not depend on which
    /// worker came first. Only the first of them, unless `all` are asked for.
    pub(crate) fn report<S: System, R: Representative<S>, A: Ample<S>>(
        mut self,
        all: bool,
        parents: &[Parents],
        expander: &mut Expander<'_, S, R, A>,
    ) -> Vec<Found> {
        let rank = |cause: Cause| match cause {
            Cause::Violation(code) => (0, code.index()),
            Cause::Deadlock => (1, 0),
            Cause::Cycle => (2, 0),
        };
        self.0.sort_by_key(|spot| (spot.depth, spot.unordered.then(|| rank(spot.cause))));
        self.0.truncate(if all { usize::MAX } else { 1 });
        let path = |spot: &Spot| match spot.at {
            Where::Initial(choice) => Path { choices: vec![choice] },
            Where::Expanded { number, choice } => {
                let mut written = Parents::path(parents, spot.worker, number);
                written.extend(choice);
                expander.path(written)
            }
        };
        let paths: Vec<Path> = self.0.iter().map(path).collect();
        let found = self.0.iter().zip(paths);
        found.map(|(spot, path)| Found { cause: spot.cause, path, cycle: 0, count: spot.count }).collect()
    }
}
