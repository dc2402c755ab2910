//! Choices of reduced expansions, and what they are among all moves.
//!
//! A search that explores only a part of a state's moves numbers the successors within that part. It keeps this
//! number together with the *tag* of the part ([`Turn`]). Proposals are a function of the state, so the path can
//! be followed again, and each choice be found among all the moves of its state. States that were passed through appear on it again.

use quotient_seams::{Ample, Exhausted, Representative, Scope, Successors, System, Walk};

use super::passing::Passage;
use super::turn::{tagged_scope, tags};
use super::{Expander, Turn};
use crate::Path;

impl<S: System, R: Representative<S>, A: Ample<S>> Expander<'_, S, R, A> {
    /// How a search writes down that it took move `index` of a turn.
    #[inline(always)]
    pub(crate) fn choice(index: u32, turn: Turn) -> u32 {
        if Self::REDUCES { index * tags::<S, A>() + turn.tag } else { index }
    }

    /// The path that a search has written down: the number of an initial state, then choices.
    pub(crate) fn path(&mut self, written: Vec<u32>) -> Path {
        // A path that cannot be followed is left as it is: replaying it will fail, and say so.
        let followed = if Self::REDUCES { self.follow(&written).ok() } else { None };
        Path { choices: followed.unwrap_or(written) }
    }

    /// The numbers among all moves of a state of the moves generated in a turn.
    pub(crate) fn among_all(
        &mut self,
        state: &[u64],
        turn: Turn,
        moves: usize,
        choices: &mut Vec<u32>,
    ) -> Result<(), Exhausted> {
        choices.clear();
        if turn.is_whole() {
            choices.extend(0..moves as u32);
            return Ok(());
        }
        let scope = tagged_scope(self.system, self.ample, state, turn.tag)?;
        let mut out = Successors::new();
        self.system.successors(state, scope, &mut out)?;
        (0..moves).try_for_each(|index| {
            choices.push(among_all(self.system, state, &out, index)?);
            Ok(())
        })
    }

    fn follow(&mut self, written: &[u32]) -> Result<Vec<u32>, Exhausted> {
        let mut out = Successors::new();
        let mut passage = Passage::default();
        let mut choices = Vec::with_capacity(written.len());
        let Some((&first, steps)) = written.split_first() else { return Ok(choices) };
        choices.push(first);
        let goes_on_from_found = !R::CHANGES || self.representative.keeps_found();
        let mut walk = Walk::start(self.system, first)?;
        for &step in steps {
            if !goes_on_from_found {
                walk.represent(self.system, self.representative);
            }
            let (choice, tag) = ((step / tags::<S, A>()) as usize, step % tags::<S, A>());
            let scope = tagged_scope(self.system, self.ample, walk.state(), tag)?;
            // What is passed through is asked after the proposals of the state.
            self.ample.proposals(self.system, walk.state());
            out.clear();
            self.system.successors(walk.state(), scope, &mut out)?;
            if choice >= out.len() {
                return Err(Walk::lost());
            }
            choices.push(match scope {
                Scope::All => choice as u32,
                _ => among_all(self.system, walk.state(), &out, choice)?,
            });
            let representative = &mut *self.representative;
            let mut passed = |system: &mut S, state: &[u64], step: &Successors| {
                choices.push(if goes_on_from_found {
                    among_all(system, state, step, 0)?
                } else {
                    from_representative(system, representative, state, step.state(0))?
                });
                Ok(())
            };
            passage.retrace(self.system, self.ample, walk.state(), (&mut out, choice), &mut passed)?;
            walk.go(out.state(choice));
        }
        Ok(choices)
    }
}

/// The number among all moves of a state of a move within a part of them, which is entry `choice` of `within`: one that does the
/// same.
fn among_all<S: System>(
    system: &mut S,
    state: &[u64],
    within: &Successors,
    choice: usize,
) -> Result<u32, Exhausted> {
    let mut walk = Walk::at(state);
    let all = walk.look(system)?;
    let same = |i: &usize| {
        all.entry(*i).violation == within.entry(choice).violation
            && all.marks(*i) == within.marks(choice)
            && all.state(*i) == within.state(choice)
    };
    (0..all.len()).find(same).map(|i| i as u32).ok_or_else(Walk::lost)
}

/// The number, among all moves of the representative of `state`, of one that leads to the representative of `next`. A search passes
/// through states as they are; its path goes through representatives.
fn from_representative<S: System, R: Representative<S>>(
    system: &mut S,
    representative: &mut R,
    state: &[u64],
    next: &[u64],
) -> Result<u32, Exhausted> {
    let (mut walk, mut goal) = (Walk::at(state), Walk::at(next));
    walk.represent(system, representative);
    goal.represent(system, representative);
    walk.look(system)?;
    let all = walk.looked();
    let leads_there = |i: &usize| {
        let mut to = Walk::at(all.state(*i));
        to.represent(system, representative);
        all.entry(*i).violation.is_none() && to.state() == goal.state()
    };
    (0..all.len()).find(leads_there).map(|i| i as u32).ok_or_else(Walk::lost)
}
