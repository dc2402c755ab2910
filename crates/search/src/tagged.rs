//! Choices of a reduced search, and what they are among all moves.
//!
//! A search that explores only a proposed part of a state's moves numbers the successors within that part. It keeps this
//! number together with the *tag* of the proposal (0: all moves; see [`crate::attempt`]). Proposals are a function of the state, so the path can
//! be followed again, and each choice be found among all the moves of its state. States that were passed through appear on it again.

use quotient_seams::{Ample, Exhausted, Representative, Scope, Successors, System, Visited};

use crate::attempt::tagged_scope;
use crate::originals::Originals;
use crate::passing::Passage;
use crate::{Path, Seams};

impl<S: System, R: Representative<S>, A: Ample<S>, V: Visited> Seams<'_, S, R, A, V> {
    /// A successor's number with the tag of the expansion it belongs to.
    #[inline(always)]
    pub(crate) fn tagged(choice: u32, tag: u32) -> u32 {
        if A::PROPOSALS == 0 { choice } else { choice * (A::PROPOSALS + 2) + tag }
    }

    /// The path with all choices among all moves.
    pub(crate) fn untagged(&mut self, path: Path) -> Path {
        if A::PROPOSALS == 0 {
            return path;
        }
        // A path that cannot be followed is left as it is: replaying it will fail, and say so.
        self.follow(&path).unwrap_or(path)
    }

    fn follow(&mut self, path: &Path) -> Result<Path, Exhausted> {
        let mut out = Successors::new();
        let mut originals = Originals::new(self.representative.keeps_found());
        let mut passage = Passage::default();
        let mut scratch = Vec::new();
        let mut choices = Vec::with_capacity(path.choices.len());
        self.system.initial(&mut out)?;
        self.represent(&mut out, 0, &mut originals, &mut scratch);
        let mut steps = path.choices.iter();
        let mut state = Vec::new();
        if let Some(&first) = steps.next() {
            choices.push(first);
            state = originals.state(first as usize).unwrap_or(out.state(first as usize)).to_vec();
        }
        for &tagged in steps {
            let (choice, tag) = (tagged / (A::PROPOSALS + 2), tagged % (A::PROPOSALS + 2));
            let scope = tagged_scope(self.system, self.ample, &state, tag)?;
            self.ample.proposals(self.system, &state);
            out.clear();
            originals.clear();
            self.system.successors(&state, scope, &mut out)?;
            if choice as usize >= out.len() {
                return Err(Exhausted { what: "the path cannot be followed".into() });
            }
            choices.push(match scope {
                Scope::All => choice,
                _ => among_all(self.system, &state, &out, choice as usize)?,
            });
            let choice = choice as usize;
            let (system, representative) = (&mut *self.system, &mut *self.representative);
            let mut passed = |system: &mut S, state: &[u64], step: &Successors| {
                choices.push(if R::CHANGES && !representative.keeps_found() {
                    from_representative(system, representative, state, step.state(0))?
                } else {
                    among_all(system, state, step, 0)?
                });
                Ok(())
            };
            passage.retrace(system, self.ample, &state, (&mut out, choice), &mut passed)?;
            self.represent(&mut out, 0, &mut originals, &mut scratch);
            state = originals.state(choice).unwrap_or(out.state(choice)).to_vec();
        }
        Ok(Path { choices })
    }
}

/// The number among all moves of a state of a move within `scope`, which is entry `choice` of `within`: one that does the
/// same.
pub(crate) fn among_all<S: System>(
    system: &mut S,
    state: &[u64],
    within: &Successors,
    choice: usize,
) -> Result<u32, Exhausted> {
    let mut all = Successors::new();
    system.successors(state, Scope::All, &mut all)?;
    let same = |i: &usize| {
        all.entry(*i).violation == within.entry(choice).violation
            && all.marks(*i) == within.marks(choice)
            && all.state(*i) == within.state(choice)
    };
    let found = (0..all.len()).find(same);
    found.map(|i| i as u32).ok_or_else(|| Exhausted { what: "the path cannot be followed".into() })
}

/// The number, among all moves of the representative of `state`, of one that leads to the representative of `next`. A search passes
/// through states as they are; its path goes through representatives.
fn from_representative<S: System, R: Representative<S>>(
    system: &mut S,
    representative: &mut R,
    state: &[u64],
    next: &[u64],
) -> Result<u32, Exhausted> {
    let mut scratch = Vec::new();
    let mut standing_for = |system: &S, state: &[u64]| {
        if representative.representative(system, state, &mut scratch) {
            scratch.clone()
        } else {
            state.to_vec()
        }
    };
    let (from, to) = (standing_for(system, state), standing_for(system, next));
    let mut all = Successors::new();
    system.successors(&from, Scope::All, &mut all)?;
    let found = (0..all.len())
        .find(|i| all.entry(*i).violation.is_none() && standing_for(system, all.state(*i)) == to);
    found.map(|i| i as u32).ok_or_else(|| Exhausted { what: "the path cannot be followed".into() })
}
