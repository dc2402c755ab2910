//! Is there a cycle that meets everything, in a graph that several processes have a part of each? OWCTY, one way catch them young (Fisler, Fraer, Kamhi, Vardi, Yang, "Is there a best symbolic
//! cycle-detection algorithm?", TACAS 2001; explicit and distributed: Černá and Pelánek, SPIN 2003), for several acceptance sets, of states and of steps.
//!
//! Of all states those are left that can be reached, among those left, from something of the first set; from something of the second one; and so on; and that have a predecessor among those left. That
//! is repeated until nothing changes.
//!
//! *A cycle that meets everything is left*: each of its states is reached from each of its sets within it, and has a predecessor in it. *What is left has such a cycle*: from any state left one can go back, by
//! steps between states left, to something of the first set, from there to something of the second one, and so on, then to a predecessor; and begin again. There are finitely many states to begin again at, so
//! some lap ends where an earlier one has begun, and the laps between meet everything. That walk is also how a counterexample is found: each state knows from where it was reached ([`Laps::before`]).
//!
//! What is done is a wave: steps are followed from some states on; a step to a state of another process is told to it, and goes on there in the next round.

use super::rounds::{Rounds, Takes};
use crate::Stop;
use crate::monitor::Watch;

/// No state.
pub(super) const NOWHERE: u64 = u64::MAX;
/// Below it the number of a state, above it whose it is. Processes are fewer than 4,096, so the upper bits are free.
pub(super) const BITS: u32 = 32;
/// In what was [before](Laps::before) a state: the step from there is of the set.
pub(super) const BY_STEP: u64 = 1 << 63;
/// The state itself is of the set.
pub(super) const ITSELF: u64 = u64::MAX - 1;

/// The states of a process and their steps, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// What is met in each expanded state.
    pub(super) marks: Vec<u64>,
    /// The first step of each expanded state.
    pub(super) first: Vec<usize>,
    /// Where each step leads to; [`NOWHERE`] as long as that is not known.
    pub(super) to: Vec<u64>,
    /// What is met on each step; shorter where nothing is.
    pub(super) on_steps: Vec<u64>,
}

impl Steps {
    fn of(&self, state: usize) -> std::ops::Range<usize> {
        let Some(&first) = self.first.get(state) else { return 0..0 };
        first..self.first.get(state + 1).copied().unwrap_or(self.to.len())
    }

    pub(super) fn bytes(&self) -> u64 {
        8 * (self.marks.capacity() + self.first.capacity() + self.to.capacity() + self.on_steps.capacity())
            as u64
    }
}

/// What is left of a process's states.
#[derive(Debug)]
pub(super) struct Laps {
    me: usize,
    left: Vec<bool>,
    /// Steps from states left to each.
    degree: Vec<u32>,
    /// A state left before each.
    pub(super) any_before: Vec<u64>,
    /// For each set: from where a state was reached.
    pub(super) before: Vec<Vec<u64>>,
}

/// What arrives at a state by a step from another.
enum Wave<'w> {
    Count { degree: &'w mut [u32], any_before: &'w mut [u64] },
    Trim { left: &'w mut [bool], degree: &'w mut [u32] },
    Reach { left: &'w [bool], before: &'w mut [u64] },
}

impl Wave<'_> {
    /// Does the wave go on from this state?
    fn arrives(&mut self, from: u64, to: usize) -> Option<bool> {
        Some(match self {
            Wave::Count { degree, any_before } => {
                *degree.get_mut(to)? += 1;
                any_before[to] = from;
                false
            }
            Wave::Trim { left, degree } => {
                let degree = degree.get_mut(to)?;
                *degree = degree.checked_sub(1)?;
                *degree == 0 && std::mem::replace(&mut left[to], false)
            }
            Wave::Reach { left, before } => {
                let before = before.get_mut(to)?;
                let goes_on = left[to] && *before == NOWHERE;
                if goes_on {
                    *before = from;
                }
                goes_on
            }
        })
    }
}

/// A wave with the states from which it goes on.
struct Front<'w> {
    wave: Wave<'w>,
    waiting: Vec<usize>,
}

impl Takes for Front<'_> {
    fn take(&mut self, from: usize, message: &[u8]) -> Option<()> {
        let (pairs, []) = message.as_chunks::<8>() else { return None };
        for pair in pairs {
            let pair = u64::from_le_bytes(*pair);
            let by_step = pair & BY_STEP;
            let source = (from as u64) << BITS | (pair & !BY_STEP) >> BITS | by_step;
            let to = (pair & u64::from(u32::MAX)) as usize;
            if self.wave.arrives(source, to)? {
                self.waiting.push(to);
            }
        }
        Some(())
    }
}

/// Pairs of states sent together.
const TOGETHER: usize = 1 << 12;

/// Sends what arrives at states of others.
struct Out<'s, 'r, 'p> {
    steps: &'s Steps,
    rounds: &'r mut Rounds<'p>,
    out: Vec<Vec<u8>>,
    sent: u64,
}

impl Out<'_, '_, '_> {
    fn step(&mut self, front: &mut Front<'_>, from: usize, to: u64, by_step: u64) -> Result<(), Stop> {
        let me = self.rounds.me as u64;
        let (owner, number) = (to >> BITS, to & u64::from(u32::MAX));
        if to == NOWHERE {
            return Ok(());
        }
        if owner == me {
            if front.wave.arrives(me << BITS | from as u64 | by_step, number as usize).unwrap_or(false) {
                front.waiting.push(number as usize);
            }
            return Ok(());
        }
        let out = &mut self.out[owner as usize];
        out.extend(((from as u64) << BITS | number | by_step).to_le_bytes());
        if out.len() < 8 * TOGETHER {
            return Ok(());
        }
        self.sent += 1;
        self.rounds.send(owner as usize, &std::mem::take(out))
    }

    fn flush(&mut self) -> Result<(), Stop> {
        for (peer, out) in self.out.iter_mut().enumerate().filter(|(_, out)| !out.is_empty()) {
            self.sent += 1;
            self.rounds.send(peer, &std::mem::take(out))?;
        }
        Ok(())
    }
}

/// Follows steps from the states that wait, and single ones that are of a set, until nothing arrives anywhere.
fn follow(
    steps: &Steps,
    mut front: Front<'_>,
    single: &[(usize, u64)],
    rounds: &mut Rounds<'_>,
    watch: &mut impl Watch,
) -> Result<(), Stop> {
    let mut out = Out { steps, out: vec![Vec::new(); rounds.count], rounds, sent: 0 };
    for &(from, to) in single {
        out.step(&mut front, from, to, BY_STEP)?;
    }
    loop {
        let mut done = 0u64;
        while out.rounds.stop.is_none()
            && let Some(state) = front.waiting.pop()
        {
            for at in steps.of(state) {
                out.step(&mut front, state, out.steps.to[at], 0)?;
            }
            done += 1;
            if done.is_multiple_of(1 << 10) {
                out.rounds.look(watch)?;
                out.rounds.read(&mut front, watch)?;
            }
        }
        out.flush()?;
        let sent = std::mem::take(&mut out.sent);
        let [active] = out.rounds.end([sent], &mut front, watch)?;
        if active == 0 {
            return Ok(());
        }
    }
}

impl Laps {
    /// What is left of states that all processes have, when everything is done; `sets` are the marks that are to be met, one bit each.
    pub(super) fn of(
        steps: &Steps,
        states: usize,
        sets: u64,
        rounds: &mut Rounds<'_>,
        watch: &mut impl Watch,
    ) -> Result<(Laps, u64), Stop> {
        let mut laps = Laps {
            me: rounds.me,
            left: vec![true; states],
            degree: Vec::new(),
            any_before: Vec::new(),
            before: Vec::new(),
        };
        let mut count = laps.trim(steps, rounds, watch)?;
        loop {
            let had = count;
            // Those before the last ones taken away are still noted as before others.
            if sets == 0 {
                count = laps.trim(steps, rounds, watch)?;
            }
            laps.before.clear();
            for set in (0..64).map(|bit| 1u64 << bit).filter(|set| sets & set != 0) {
                if count > 0 {
                    laps.reach(steps, set, rounds, watch)?;
                    count = laps.trim(steps, rounds, watch)?;
                }
            }
            if count == 0 || count == had {
                return Ok((laps, count));
            }
        }
    }

    /// Takes away what has no predecessor, and then has none; gives how many states all have left.
    fn trim(&mut self, steps: &Steps, rounds: &mut Rounds<'_>, watch: &mut impl Watch) -> Result<u64, Stop> {
        let states = self.left.len();
        (self.degree, self.any_before) = (vec![0; states], vec![NOWHERE; states]);
        let waiting = (0..states).filter(|state| self.left[*state]).collect();
        let wave = Wave::Count { degree: &mut self.degree, any_before: &mut self.any_before };
        follow(steps, Front { wave, waiting }, &[], rounds, watch)?;
        let alone = (0..states).filter(|state| self.left[*state] && self.degree[*state] == 0);
        let waiting: Vec<usize> = alone.collect();
        waiting.iter().for_each(|state| self.left[*state] = false);
        let wave = Wave::Trim { left: &mut self.left, degree: &mut self.degree };
        follow(steps, Front { wave, waiting }, &[], rounds, watch)?;
        let left = self.left.iter().filter(|left| **left).count() as u64;
        let mut nobody = Nobody;
        let [all] = rounds.end([left], &mut nobody, watch)?;
        Ok(all)
    }

    /// Leaves what can be reached from something of a set.
    fn reach(
        &mut self,
        steps: &Steps,
        set: u64,
        rounds: &mut Rounds<'_>,
        watch: &mut impl Watch,
    ) -> Result<(), Stop> {
        let mut before = vec![NOWHERE; self.left.len()];
        let mut waiting = Vec::new();
        for (state, marks) in steps.marks.iter().enumerate().take(self.left.len()) {
            if self.left[state] && marks & set != 0 {
                before[state] = ITSELF;
                waiting.push(state);
            }
        }
        let mut single = Vec::new();
        if !steps.on_steps.is_empty() {
            for state in (0..self.left.len()).filter(|state| self.left[*state]) {
                let marked = |at: &usize| steps.on_steps.get(*at).is_some_and(|marks| marks & set != 0);
                single.extend(steps.of(state).filter(marked).map(|at| (state, steps.to[at])));
            }
        }
        let wave = Wave::Reach { left: &self.left, before: &mut before };
        follow(steps, Front { wave, waiting }, &single, rounds, watch)?;
        self.left.iter_mut().zip(&before).for_each(|(left, before)| *left &= *before != NOWHERE);
        self.before.push(before);
        Ok(())
    }

    /// Some state of this process that is left.
    pub(super) fn any(&self) -> Option<u64> {
        let state = self.left.iter().position(|left| *left)?;
        Some((self.me as u64) << BITS | state as u64)
    }

    /// How many sets there are.
    pub(super) fn sets(&self) -> usize {
        self.before.len()
    }

    /// From where a state was reached, for a set; or any state before it.
    pub(super) fn came_from(&self, set: Option<usize>, state: usize) -> Option<u64> {
        let before = match set {
            Some(set) => self.before.get(set)?,
            None => &self.any_before,
        };
        before.get(state).copied()
    }
}

/// Expects no messages.
struct Nobody;

impl Takes for Nobody {
    fn take(&mut self, _: usize, _: &[u8]) -> Option<()> {
        None
    }
}
