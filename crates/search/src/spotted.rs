//! What a breadth-first search has seen go wrong, until it is reported.
//!
//! A path is made only when the search has ended, from the predecessors that all workers wrote down.

use quotient_seams::{Ample, Representative, System, ViolationCode};

use crate::expand::Expander;
use crate::parents::Parents;
use crate::restart::{Reader, Writer};
use crate::{Cause, Found, Path, Stop};

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

/// A cause as a number, to be written.
pub(crate) fn cause_number(cause: Cause) -> u64 {
    match cause {
        Cause::Violation(code) => code.index() as u64 + 2,
        Cause::Deadlock => 0,
        Cause::Cycle => 1,
    }
}

/// What [`cause_number`] gave that number.
pub(crate) fn cause_of(number: u64) -> Option<Cause> {
    Some(match number {
        0 => Cause::Deadlock,
        1 => Cause::Cycle,
        code => Cause::Violation(ViolationCode::from_index(u32::try_from(code - 2).ok()? as usize)),
    })
}

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

    /// Writes everything, for a run that goes on from here.
    pub(crate) fn write(&self, out: &mut Writer) {
        out.number(self.0.len() as u64);
        for spot in &self.0 {
            let cause = cause_number(spot.cause);
            let (number, choice) = match spot.at {
                Where::Initial(choice) => (u64::MAX, u64::from(choice)),
                Where::Expanded { number, choice } => {
                    (number, choice.map_or(0, |choice| u64::from(choice) + 1))
                }
            };
            let fields = [cause, number, choice, spot.depth, u64::from(spot.unordered), spot.count];
            fields.iter().for_each(|field| out.number(*field));
        }
    }

    /// What [`Spotted::write`] wrote; `None` if it cannot be that.
    pub(crate) fn read(from: &mut Reader<'_>) -> Option<Spotted> {
        let narrow = |choice: u64| u32::try_from(choice).ok();
        let mut spotted = Spotted::default();
        for _ in 0..from.number()? {
            let cause = cause_of(from.number()?)?;
            let at = match (from.number()?, from.number()?) {
                (u64::MAX, choice) => Where::Initial(narrow(choice)?),
                (number, 0) => Where::Expanded { number, choice: None },
                (number, choice) => Where::Expanded { number, choice: Some(narrow(choice - 1)?) },
            };
            let (depth, unordered, count) = (from.number()?, from.number()? != 0, from.number()?);
            spotted.0.push(Spot { cause, at, depth, unordered, worker: 0, count });
        }
        Some(spotted)
    }

    /// Puts what is to be reported in order, and forgets the rest.
    fn order(&mut self, all: bool) {
        let rank = |cause: Cause| match cause {
            Cause::Violation(code) => (0, code.index()),
            Cause::Deadlock => (1, 0),
            Cause::Cycle => (2, 0),
        };
        self.0.sort_by_key(|spot| (spot.depth, spot.unordered.then(|| rank(spot.cause))));
        self.0.truncate(if all { usize::MAX } else { 1 });
    }

    /// The worker and the number of each state that [`Spotted::report`] will ask the way to, in that order.
    pub(crate) fn places(&mut self, all: bool) -> Vec<(usize, u64)> {
        self.order(all);
        let place = |spot: &Spot| match spot.at {
            Where::Initial(_) => None,
            Where::Expanded { number, .. } => Some((spot.worker, number)),
        };
        self.0.iter().filter_map(place).collect()
    }

    /// One entry per cause with the way to it: the nearest first; in a level that was finished by kind, so that the order does not depend on which
    /// worker came first. Only the first of them, unless `all` are asked for. `way` gives the choices to the state that a worker expanded as its
    /// number so and so.
    pub(crate) fn report<S: System, R: Representative<S>, A: Ample<S>>(
        mut self,
        all: bool,
        way: &mut dyn FnMut(usize, u64) -> Result<Vec<u32>, Stop>,
        expander: &mut Expander<'_, S, R, A>,
    ) -> Result<Vec<Found>, Stop> {
        self.order(all);
        let path = |spot: &Spot| match spot.at {
            Where::Initial(choice) => Ok(Path { choices: vec![choice] }),
            Where::Expanded { number, choice } => {
                let mut written = way(spot.worker, number)?;
                written.extend(choice);
                Ok(expander.path(written))
            }
        };
        let paths = self.0.iter().map(path).collect::<Result<Vec<Path>, Stop>>()?;
        let found = self.0.iter().zip(paths);
        Ok(found.map(|(spot, path)| Found { cause: spot.cause, path, cycle: 0, count: spot.count }).collect())
    }

    /// [`Spotted::report`] where the ways to all states are in memory.
    pub(crate) fn report_from<S: System, R: Representative<S>, A: Ample<S>>(
        self,
        all: bool,
        parents: &[Parents],
        expander: &mut Expander<'_, S, R, A>,
    ) -> Vec<Found> {
        let way = &mut |worker, number| Ok(Parents::path(parents, worker, number));
        // It gives an error only where `way` does.
        self.report(all, way, expander).unwrap_or_default()
    }
}
