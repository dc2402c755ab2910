//! Walks through a system: the one way to follow a path, and random walks for audits.
//!
//! Successors come in the same order whenever they are generated, explored or explained, so a path is a list of positions in that order.

use crate::{Exhausted, Interrupt, Representative, Scope, Successors, System};

/// A state on a path, and what can happen next there. A path is a list of choices: the number of an initial state, then for
/// each step the number of the successor among all successors of the state before.
#[derive(Debug, Default)]
pub struct Walk {
    state: Vec<u64>,
    successors: Successors,
    scratch: Vec<u64>,
}

impl Walk {
    /// From an initial state, by its number.
    pub fn start<S: System + ?Sized>(system: &mut S, first: u32) -> Result<Walk, Exhausted> {
        let mut walk = Walk::default();
        system.initial(&mut walk.successors)?;
        walk.take(first as usize)?;
        Ok(walk)
    }

    /// From any state.
    pub fn at(state: &[u64]) -> Walk {
        Walk { state: state.to_vec(), ..Walk::default() }
    }

    /// The state; none after a violation that ends the path.
    pub fn state(&self) -> &[u64] {
        &self.state
    }

    /// Generates all successors of the state.
    pub fn look<S: System + ?Sized>(&mut self, system: &mut S) -> Result<&Successors, Exhausted> {
        self.successors.clear();
        system.successors(&self.state, Scope::All, &mut self.successors)?;
        Ok(&self.successors)
    }

    /// The successors generated last.
    pub fn looked(&self) -> &Successors {
        &self.successors
    }

    /// Goes on to one of the successors generated last.
    pub fn take(&mut self, choice: usize) -> Result<(), Exhausted> {
        if choice >= self.successors.len() {
            return Err(Walk::lost());
        }
        self.state.clear();
        self.state.extend_from_slice(self.successors.state(choice));
        Ok(())
    }

    /// Goes on to another state.
    pub fn go(&mut self, state: &[u64]) {
        self.state.clear();
        self.state.extend_from_slice(state);
    }

    /// Goes on from what stands for the state.
    pub fn represent<S: System, R: Representative<S>>(&mut self, system: &S, representative: &mut R) {
        if !self.state.is_empty() && representative.representative(system, &self.state, &mut self.scratch) {
            std::mem::swap(&mut self.state, &mut self.scratch);
        }
    }

    /// There is no such way.
    pub fn lost() -> Exhausted {
        Exhausted { what: "the path cannot be followed".to_owned().into() }
    }
}

/// Longest random walk.
const STEPS: u64 = 300;

/// Shows `samples` states, met on random walks from the initial states, to `visit`, each with all its successors. The same
/// seed gives the same states. Ends early when it is interrupted.
pub fn random_walks<S: System>(
    system: &mut S,
    samples: u64,
    seed: u64,
    interrupt: &Interrupt,
    mut visit: impl FnMut(&mut S, &[u64], &Successors) -> Result<(), Exhausted>,
) -> Result<(), Exhausted> {
    let mut random = seed | 1;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below.max(1) as u64) as usize
    };
    let mut initial = Successors::new();
    system.initial(&mut initial)?;
    let with_state = |successors: &Successors| -> Vec<usize> {
        (0..successors.len()).filter(|i| successors.entry(*i).has_state()).collect()
    };
    let starts = with_state(&initial);
    if starts.is_empty() {
        return Ok(());
    }
    let mut shown = 0;
    while shown < samples {
        let mut walk = Walk::at(initial.state(starts[next(starts.len())]));
        for _ in 0..STEPS.min(samples - shown) {
            if interrupt.raised() {
                return Ok(());
            }
            shown += 1;
            walk.look(system)?;
            visit(system, walk.state(), walk.looked())?;
            let ways = with_state(walk.looked());
            if ways.is_empty() {
                break;
            }
            walk.take(ways[next(ways.len())])?;
        }
    }
    Ok(())
}
