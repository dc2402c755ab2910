//! Growth from below: sets of states that take in what steps lead to, until no step leaves them.
//!
//! A cell is a set of values for each finite column and difference bounds on the others. The facts are the first cells; while
//! some step from a cell leads out of the cells, the cell with the same key takes the result in: sets of values are
//! united, and a bound that has to grow does so by [`Thresholds`]. Once no step leads
//! out of the cells, each
//! cell's images lie in cells: the union is inductive. Growing cells only get larger: the first that meets a bad set ends
//! the attempt.
//!
//! Given maps that take the rules to the rules and the bad sets to themselves, each set is renamed before it is taken in, so that there is one
//! cell for all orders of the processes (`quotient-proof-check`, `orbits.rs`, says why that suffices).

use std::collections::{HashMap, VecDeque};

use super::forward::Forward;
use super::thresholds::Thresholds;
use super::{Failed, disjoint};
use crate::canonical::Map;
use crate::constraint::{INFINITY, Overflow, Region};
use crate::domain::{Domain, State};
use crate::limits::{Limits, Progress};
use crate::program::Program;

/// Which states share a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// All of them.
    One,
    /// Those with the same values of all program locations.
    Locations,
}

/// Which bounds a cell has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Of single columns.
    Intervals,
    /// Also of differences between two.
    Zones,
}

/// More cells than this are given up.
const MOST_CELLS: usize = 5_000;
/// More cells looked at than this are given up: closing may derive bounds that are not thresholds, and these grow slowly.
const MOST_STEPS: usize = 100_000;
/// Most maps applied one after the other.
const LONGEST: usize = 200;
/// Times a bound takes the exact value it needs.
const EXACT: u8 = 2;

struct Cell {
    state: State,
    /// How often each bound has grown.
    grown: Vec<u8>,
    waiting: bool,
}

struct Growth<'a> {
    domain: &'a Domain,
    grain: Grain,
    shape: Shape,
    maps: &'a [Map],
    thresholds: Thresholds,
    cells: Vec<Cell>,
    by_key: HashMap<Vec<u128>, usize>,
    open: VecDeque<usize>,
}

/// The least cells, as far as thresholds go, that contain all reachable states; none of them meets a set of `bad`.
pub fn fixpoint(
    program: &Program,
    domain: &Domain,
    grain: Grain,
    shape: Shape,
    maps: &[Map],
    bad: &[State],
    limits: &Limits,
) -> Result<Vec<State>, Failed> {
    let forward = Forward::new(program, domain)?;
    let mut growth = Growth {
        domain,
        grain,
        shape,
        maps,
        thresholds: Thresholds::of(program),
        cells: Vec::new(),
        by_key: HashMap::new(),
        open: VecDeque::new(),
    };
    for state in forward.initial()? {
        growth.take_in(state, bad)?;
    }
    let mut goals = 0;
    while let Some(at) = growth.open.pop_front() {
        goals += 1;
        if goals > MOST_STEPS {
            return Err(Failed::TooMany);
        }
        let progress = Progress { doing: "looking for an invariant", goals, stored: growth.cells.len() };
        if let Some(reached) = limits.reached(progress) {
            return Err(Failed::Limit(reached));
        }
        growth.cells[at].waiting = false;
        for image in forward.after(&growth.cells[at].state.clone())? {
            growth.take_in(image, bad)?;
        }
    }
    Ok(growth.cells.into_iter().map(|c| c.state).collect())
}

impl Growth<'_> {
    fn key(&self, state: &State) -> Vec<u128> {
        let locations = self.domain.finite.iter().zip(&state.sets).filter(|(f, _)| f.location);
        match self.grain {
            Grain::One => Vec::new(),
            Grain::Locations => locations.map(|(_, set)| *set).collect(),
        }
    }

    /// The set renamed as long as a map makes its locations smaller, and these. The checker renames in the same order.
    fn representative(&self, state: State) -> Result<(State, Vec<u128>), Overflow> {
        let mut key = self.key(&state);
        let mut state = state;
        'renamed: for _ in 0..LONGEST {
            for map in self.maps {
                let Some(image) = map.image(&state)? else { continue };
                let next = self.key(&image);
                if next < key {
                    (state, key) = (image, next);
                    continue 'renamed;
                }
            }
            break;
        }
        Ok((state, key))
    }

    /// The parts of a set with single locations.
    fn parts(&self, state: State) -> Vec<State> {
        let mut list = vec![state];
        if self.grain == Grain::One {
            return list;
        }
        for f in (0..self.domain.finite.len()).filter(|&f| self.domain.finite[f].location) {
            let split = |state: State| {
                let set = state.sets[f];
                (0..128).filter(move |bit| set >> bit & 1 == 1).map(move |bit| {
                    let mut one = state.clone();
                    one.sets[f] = 1 << bit;
                    one
                })
            };
            list = list.into_iter().flat_map(split).collect();
        }
        list
    }

    /// Sees to it that the cells contain these states.
    fn take_in(&mut self, state: State, bad: &[State]) -> Result<(), Failed> {
        for part in self.parts(state) {
            let (part, key) = self.representative(part)?;
            let at = match self.by_key.get(&key) {
                Some(&at) => {
                    if part.included_in(&self.cells[at].state)? {
                        continue;
                    }
                    self.grow(at, &part)?;
                    at
                }
                None => {
                    if self.cells.len() >= MOST_CELLS {
                        return Err(Failed::TooMany);
                    }
                    let nodes = part.region.nodes();
                    let state = State { region: self.shaped(&part.region)?, sets: part.sets };
                    self.cells.push(Cell { state, grown: vec![0; nodes * nodes], waiting: false });
                    self.by_key.insert(key, self.cells.len() - 1);
                    self.cells.len() - 1
                }
            };
            for other in bad {
                if !disjoint(&self.cells[at].state, other)? {
                    return Err(Failed::Meets(Box::new(self.cells[at].state.clone())));
                }
            }
            if !std::mem::replace(&mut self.cells[at].waiting, true) {
                self.open.push_back(at);
            }
        }
        Ok(())
    }

    /// Without the bounds that the shape does not have.
    fn shaped(&self, region: &Region) -> Result<Region, Overflow> {
        if self.shape == Shape::Zones {
            return Ok(region.clone());
        }
        let mut out = Region::universe(region.nodes());
        for (i, j, c) in region.dbm().constraints().filter(|(i, j, _)| *i == 0 || *j == 0) {
            out.meet(i, j, c)?;
        }
        Ok(out)
    }

    /// Makes a cell large enough for more states.
    fn grow(&mut self, at: usize, more: &State) -> Result<(), Overflow> {
        let cell = &mut self.cells[at];
        let nodes = cell.state.region.nodes();
        let mut region = Region::universe(nodes);
        let (old, new) = (cell.state.region.dbm(), more.region.dbm());
        for (i, j, bound) in old.constraints() {
            if self.shape == Shape::Intervals && i != 0 && j != 0 {
                continue;
            }
            let wanted = new.entry(i, j);
            let bound = if wanted <= bound {
                Some(bound)
            } else if wanted == INFINITY {
                None
            } else {
                let times = &mut cell.grown[i * nodes + j];
                *times = times.saturating_add(1);
                if *times <= EXACT { Some(wanted) } else { self.thresholds.above(wanted) }
            };
            if let Some(bound) = bound {
                region.meet(i, j, bound)?;
            }
        }
        cell.state.region = region;
        cell.state.sets.iter_mut().zip(&more.sets).for_each(|(own, set)| *own |= set);
        Ok(())
    }
}
