//! Paths of representatives in real names.
//!
//! A search over representatives stores a path as choices among the successors of representatives. The same way is taken here
//! from the real initial state: at each step, some successor of the real state is a renaming of the state that the stored
//! choice leads to, and is taken. So every process and object keeps one name throughout. Renamings are recognised by their
//! canonical form, since the representatives of a search need not be canonical.

use std::collections::HashMap;

use quotient_seams::{Representative, System, ViolationCode, Walk};

use crate::NotReplayable;

/// Rounds of a cycle after which following it is given up: an orbit with so many states has never been met.
const MOST_ROUNDS: usize = 100_000;

/// Choices among the successors of real states that lead where `choices`, made among those of representatives, lead; `canonical`
/// is the canonical form. With the choices comes how many of them, at the end, are a cycle: the last `cycle` of the choices
/// given lead from a representative back to it, that is, from a real state to a renaming of it. They are followed again and
/// again until a real state comes back. What is done in a round depends only on the real state it starts from, and a state
/// has finitely many renamings, so that one does.
pub fn in_real_names<S: System, R: Representative<S>, C: Representative<S>>(
    system: &mut S,
    representative: &mut R,
    canonical: &mut C,
    choices: &[u32],
    cycle: usize,
) -> Result<(Vec<u32>, usize), NotReplayable> {
    let lost = |step| NotReplayable { step };
    let (&first, rest) = choices.split_first().ok_or(lost(0))?;
    if cycle > rest.len() {
        return Err(lost(0));
    }
    let real = Walk::start(system, first).map_err(|_| lost(0))?;
    let mut stands = Walk::at(real.state());
    stands.represent(system, representative);
    let mut both = Both { real, stands, out: vec![first] };
    let (way, round) = rest.split_at(rest.len() - cycle);
    for &choice in way {
        both.step(system, representative, canonical, choice)?;
    }
    if cycle == 0 {
        return Ok((both.out, 0));
    }
    // Real states at the beginning of rounds, and how many choices led there.
    let mut anchors: HashMap<Vec<u64>, usize> = HashMap::new();
    while anchors.len() < MOST_ROUNDS {
        if let Some(length) = anchors.insert(both.real.state().to_vec(), both.out.len()) {
            let cycle = both.out.len() - length;
            return Ok((both.out, cycle));
        }
        for &choice in round {
            both.step(system, representative, canonical, choice)?;
        }
    }
    Err(lost(rest.len()))
}

/// A walk through real states beside one through what stands for them, and the choices among the successors of real states.
struct Both {
    real: Walk,
    stands: Walk,
    out: Vec<u32>,
}

impl Both {
    /// Takes the step of the real state that does what this choice does to the representative: it goes wrong in the same way,
    /// and with the same moves of a claim, and leads to a renaming of the same state.
    fn step<S: System, R: Representative<S>, C: Representative<S>>(
        &mut self,
        system: &mut S,
        representative: &mut R,
        canonical: &mut C,
        choice: u32,
    ) -> Result<(), NotReplayable> {
        let lost = NotReplayable { step: self.out.len() };
        let choice = choice as usize;
        self.stands.look(system).map_err(|_| lost.clone())?;
        self.stands.take(choice).map_err(|_| lost.clone())?;
        let wanted = self.stands.looked();
        let (violation, marks) = (wanted.entry(choice).violation, wanted.marks(choice));
        let wanted = stands_for(system, canonical, self.stands.state());
        self.stands.represent(system, representative);
        let possible = self.real.look(system).map_err(|_| lost.clone())?;
        // Of the same kind: the renaming may exchange threads that run different code, in which it is somewhere else.
        let kind = |violation: Option<ViolationCode>| violation.map(|code| system.violation(code).kind);
        // The same position first: where threads keep their places it is the same thread, also if others change as little.
        let found = [choice].into_iter().chain(0..possible.len()).find(|i| {
            *i < possible.len()
                && kind(possible.entry(*i).violation) == kind(violation)
                && possible.marks(*i) == marks
                && stands_for(system, canonical, possible.state(*i)).state() == wanted.state()
        });
        let found = found.ok_or(lost.clone())?;
        self.out.push(found as u32);
        self.real.take(found).map_err(|_| lost)
    }
}

/// What stands for a state.
fn stands_for<S: System, R: Representative<S>>(system: &S, representative: &mut R, state: &[u64]) -> Walk {
    let mut walk = Walk::at(state);
    walk.represent(system, representative);
    walk
}
