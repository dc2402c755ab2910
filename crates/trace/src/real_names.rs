//! Paths of representatives in real names.
//!
//! A search over representatives stores a path as choices among the successors of representatives. The same way is taken here
//! from the real initial state: at each step, some successor of the real state is a renaming of the state that the stored
//! choice leads to, and is taken. So every process and object keeps one name throughout. Renamings are recognised by their
//! canonical form, since the representatives of a search need not be canonical.

use std::collections::{BTreeSet, HashMap, HashSet};

use quotient_seams::{Exhausted, Representative, System, ViolationCode, Walk};

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
        let kind = |violation: Option<ViolationCode>| violation.map(|code| system.violation(code).kind);
        // The same position first: where threads keep their places it is the same thread, also if others change as little.
        let leads_there: Vec<usize> = [choice]
            .into_iter()
            .chain(0..possible.len())
            .filter(|i| {
                *i < possible.len()
                    && kind(possible.entry(*i).violation) == kind(violation)
                    && possible.marks(*i) == marks
                    && stands_for(system, canonical, possible.state(*i)).state() == wanted.state()
            })
            .collect();
        // What goes wrong must be the same, too. Where threads are exchanged that run different code, it is somewhere else, but of the same kind.
        let same = leads_there.iter().copied().find(|i| possible.entry(*i).violation == violation);
        let found = same.or(leads_there.first().copied()).ok_or(lost.clone())?;
        self.out.push(found as u32);
        self.real.take(found).map_err(|_| lost)
    }
}

/// Runs that are images of a run in real names and end in one of the violations `wanted`, one for each that is met: from each real state every
/// step is taken that leads to a renaming of the run's next state. At most so many successors are compared.
pub fn images_of_the_end<S: System, C: Representative<S>>(
    system: &mut S,
    canonical: &mut C,
    choices: &[u32],
    wanted: &BTreeSet<ViolationCode>,
    most: usize,
) -> Vec<(ViolationCode, Vec<u32>)> {
    let mut images = Images { layers: Vec::new(), left: most };
    images.follow(system, canonical, choices, wanted).unwrap_or_default()
}

/// The images of a run, one layer for each of its states.
struct Images {
    /// Each state with the number of the one before it and the choice there.
    layers: Vec<Vec<(Vec<u64>, usize, u32)>>,
    left: usize,
}

impl Images {
    fn follow<S: System, C: Representative<S>>(
        &mut self,
        system: &mut S,
        canonical: &mut C,
        choices: &[u32],
        wanted: &BTreeSet<ViolationCode>,
    ) -> Result<Vec<(ViolationCode, Vec<u32>)>, Exhausted> {
        let mut found = Vec::new();
        let Some((&first, rest)) = choices.split_first() else { return Ok(found) };
        let mut run = Walk::start(system, first)?;
        let mut walk = Walk::at(run.state());
        self.layers.push(vec![(run.state().to_vec(), 0, first)]);
        for (step, &choice) in rest.iter().enumerate() {
            let entry = run.look(system)?;
            let (violation, marks) = (entry.entry(choice as usize).violation, entry.marks(choice as usize));
            let kind = |code: Option<ViolationCode>, system: &S| code.map(|code| system.violation(code).kind);
            let wanted_kind = kind(violation, system);
            run.take(choice as usize)?;
            let form = stands_for(system, canonical, run.state());
            let last = step + 1 == rest.len();
            let mut layer: Vec<(Vec<u64>, usize, u32)> = Vec::new();
            let mut seen: HashSet<Vec<u64>> = HashSet::new();
            for (parent, (state, ..)) in self.layers[step].iter().enumerate() {
                walk.go(state);
                let possible = walk.look(system)?;
                if self.left < possible.len() {
                    break;
                }
                self.left -= possible.len();
                for i in 0..possible.len() {
                    let code = possible.entry(i).violation;
                    let state = possible.state(i);
                    let alike = kind(code, system) == wanted_kind
                        && possible.marks(i) == marks
                        && stands_for(system, canonical, state).state() == form.state();
                    let is_new = alike && if last { true } else { seen.insert(state.to_vec()) };
                    if is_new {
                        layer.push((state.to_vec(), parent, i as u32));
                    }
                    if let Some(code) = code.filter(|code| last && alike && wanted.contains(code))
                        && found.iter().all(|(known, _)| *known != code)
                    {
                        found.push((code, vec![layer.len() as u32 - 1]));
                    }
                }
            }
            self.layers.push(layer);
        }
        for (_, run) in &mut found {
            let mut at = run.pop().map_or(0, |at| at as usize);
            for layer in self.layers.iter().rev() {
                let (_, parent, choice) = &layer[at];
                run.push(*choice);
                at = *parent;
            }
            run.reverse();
        }
        Ok(found)
    }
}

/// What stands for a state.
fn stands_for<S: System, R: Representative<S>>(system: &S, representative: &mut R, state: &[u64]) -> Walk {
    let mut walk = Walk::at(state);
    walk.represent(system, representative);
    walk
}
