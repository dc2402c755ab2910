//! Infinite runs, by several processes.
//!
//! The first process begins alone, with the search that one process does ([`crate::liveness()`]). What is more than that is explored by all, level by level: a hash of a state says whose it is, the states found for
//! another are sent there, and their numbers come back. So each process has the steps of its states as numbers ([`Steps`]), and whether there is a run to be reported is a question about
//! this graph alone ([`super::laps`]). It is asked whenever the states have doubled, of what is there, and in the end: a run of a part of the graph is one of the whole.
//!
//! Which moves are explored from a state depends on the state alone: ample sets for temporal questions see to it themselves that no thread is postponed for ever. So states and steps are those of one process.
//!
//! The first process asks the others for the states on a run that was found, takes the steps between them once more, and looks for a shorter run nearby, as one process does.

use std::collections::{HashMap, VecDeque};

use quotient_seams::{
    Ample, Incomplete, Numbering, Omega, Proviso, Representative, Successors, ViolationCode, Worker,
};

use super::answer::{read_report, stopped, unfinished, write_report};
use super::laps::{BITS, Laps, NOWHERE, Steps};
use super::machines::Peers;
use super::owner::Deciding;
use super::rounds::{Rounds, Takes};
use super::rows::{Block, Rows};
use super::town::{BEGIN, CHUNK, RESULT, WORDS, foreign};
use crate::expand::{Expander, Turn};
use crate::frontier::Frontier;
use crate::monitor::{Monitor, Watch, Watched};
use crate::restart::{Reader, Writer};
use crate::{Options, Report, Seams, Statistics, Stop};

/// States of another process, whose numbers are asked for; the numbers, in the order of the states.
const STATES: u8 = 1;
const NUMBERS: u8 = 2;

/// States of a process, at most: numbers have 31 bits.
const MOST_STATES: u64 = 1 << 31;

/// States that the first process looks at to decide on owners.
const SAMPLE: usize = 1 << 12;

/// States from which on runs are looked for in what is there: that takes a few rounds.
const FIRST_LOOK: u64 = 1 << 4;

/// A violation met on the way: the state before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrong {
    pub(super) code: ViolationCode,
    pub(super) from: u64,
    pub(super) choice: u32,
    pub(super) count: u64,
}

/// What a process has.
pub(super) struct Own<'n, N> {
    pub(super) store: &'n mut N,
    /// Its states in the order of their numbers, and where each begins.
    pub(super) states: Frontier,
    pub(super) at: Vec<usize>,
    pub(super) hint: Vec<u32>,
    pub(super) me: usize,
    /// From which state each was found; [`NOWHERE`] if it is an initial one.
    pub(super) from: Vec<u64>,
    pub(super) steps: Steps,
    /// By process: which steps lead to the states that were sent there and whose numbers have not come; the numbers of states that came from there.
    pub(super) pending: Vec<VecDeque<usize>>,
    pub(super) numbers: Vec<Vec<u32>>,
    pub(super) full: bool,
}

impl<N: Numbering> Own<'_, N> {
    /// The number of a state of this process, found from another.
    fn number(&mut self, state: &[u64], from: u64) -> Option<u32> {
        self.hint.clear();
        self.hint.resize(self.store.hint_len(state.len()), 0);
        let loaded = self.store.load(state, None, &mut self.hint);
        let key = self.store.prepare(state, loaded, &mut self.hint);
        let number = self.store.number(key, state);
        if self.store.exhausted().is_some() || u64::from(number) >= MOST_STATES {
            self.full = true;
            return None;
        }
        if number as usize == self.at.len() {
            self.at.push(self.states.places());
            self.states.push(state, &[]);
            self.from.push(from);
        }
        Some(number)
    }

    /// The words of a state of this process.
    pub(super) fn state(&self, number: u64) -> Option<&[u64]> {
        let at = *self.at.get(usize::try_from(number).ok()?)?;
        self.states.at(at).map(|(known, _)| known.state)
    }

    fn len(&self) -> u64 {
        self.at.len() as u64
    }

    fn bytes(&self) -> u64 {
        let numbers = 8 * (self.at.capacity() + self.from.capacity()) as u64;
        self.states.bytes() + self.steps.bytes() + numbers
    }

    pub(super) fn global(&self, number: u64) -> u64 {
        (self.me as u64) << BITS | number
    }
}

impl<N: Numbering> Takes for Own<'_, N> {
    fn take(&mut self, from: usize, message: &[u8]) -> Option<()> {
        let (&kind, rest) = message.split_first()?;
        match kind {
            STATES => {
                let mut block = Block::default();
                block.read_short(rest)?;
                while let Some(([source], state)) = block.next().ok()? {
                    if state.is_empty() || (*source >> BITS) as usize != from {
                        return None;
                    }
                    // One that finds no room has no number: then the search ends.
                    let number = self.number(state, *source).unwrap_or(u32::MAX);
                    self.numbers[from].push(number);
                }
            }
            NUMBERS => {
                let (numbers, []) = rest.as_chunks::<4>() else { return None };
                for number in numbers {
                    let at = self.pending[from].pop_front()?;
                    self.steps.to[at] = (from as u64) << BITS | u64::from(u32::from_le_bytes(*number));
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// One process.
pub(super) struct Search<'p, 'a, 'n, S, R, A, N> {
    pub(super) expander: Expander<'a, S, R, A>,
    pub(super) rounds: Rounds<'p>,
    pub(super) own: Own<'n, N>,
    pub(super) deciding: Deciding,
    pub(super) out: Vec<Rows>,
    pub(super) successors: Successors,
    pub(super) state: Vec<u64>,
    pub(super) on_steps: Vec<u64>,
    pub(super) wrong: Vec<Wrong>,
    pub(super) transitions: u64,
    pub(super) depth: u64,
    pub(super) all: bool,
    pub(super) most_states: Option<u64>,
    /// States that others have expanded, and their steps, at the end of the last round.
    pub(super) others: (u64, u64),
    /// What is left of the states, where a run was found.
    pub(super) laps: Option<Laps>,
}

/// Looks for a run that meets all marks infinitely often, together with other processes; the first one looks alone, by `one`, until `alone` states are stored. All of them get the same
/// report. Violations met on the way are reported, too.
///
/// # Panics
/// If ample sets leave a proviso to the search.
pub fn liveness_by_processes<S, R, A, N>(
    seams: Seams<'_, S, R, A, N>,
    (alone, peers): (u64, &mut dyn Peers),
    options: &mut Options<'_>,
    one: impl FnOnce(&mut S, &mut R, &mut A, &mut Options<'_>) -> Report,
) -> Report
where
    S: Omega<Marks = u64> + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    N: Numbering,
{
    let Seams { system, representative, ample, visited } = seams;
    assert!(ample.proviso() == Proviso::None, "there is no stack that all processes know");
    let (count, me) = peers.places();
    let limits = options.limits;
    if me == 0 && (alone > 0 || limits.depth.is_some()) {
        // The depth of a search is one worker's.
        let is_all = limits.depth.is_some() || limits.states.is_some_and(|most| most <= alone);
        if !is_all {
            options.limits.states = Some(alone);
        }
        let report = one(system, representative, ample, options);
        options.limits = limits;
        if is_all || !matches!(report.stop, Stop::Incomplete(Incomplete::Limit(_))) {
            let message = write_report(&report);
            // Those that are gone do not need it.
            (1..count).for_each(|peer| drop(peers.send(peer, message.clone())));
            return report;
        }
    }
    let (all, most_states) = (options.all, options.limits.states);
    let mut watched = Watched::new(options);
    let mut search = Search {
        expander: Expander::new(system, representative, ample),
        rounds: Rounds::new(peers),
        own: Own {
            store: visited,
            states: Frontier::default(),
            at: Vec::new(),
            hint: Vec::new(),
            me,
            from: Vec::new(),
            steps: Steps::default(),
            pending: vec![VecDeque::new(); count],
            numbers: vec![Vec::new(); count],
            full: false,
        },
        deciding: Deciding::default(),
        out: (0..count).map(|_| Rows::default()).collect(),
        successors: Successors::new(),
        state: Vec::new(),
        on_steps: Vec::new(),
        wrong: Vec::new(),
        transitions: 0,
        depth: 0,
        all,
        most_states,
        others: (0, 0),
        laps: None,
    };
    let begun = match search.begin(&mut watched) {
        Ok(None) => Ok(()),
        Ok(Some(report)) => return report,
        Err(stop) => Err(stop),
    };
    let ended = begun.and_then(|()| search.run(&mut watched));
    match (ended, me) {
        // The others do not know of it: they miss this process when it ends.
        (Err(stop), _) if !search.rounds.agreed => unfinished(stop, search.statistics(), count),
        (ended, 0) => {
            let report = search.report(ended, &mut watched).unwrap_or_else(stopped);
            let _ = search.rounds.tell_all(&write_report(&report));
            report
        }
        (_, _) => search.serve(&mut watched).unwrap_or_else(stopped),
    }
}

impl<S, R, A, N> Search<'_, '_, '_, S, R, A, N>
where
    S: Omega<Marks = u64> + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    N: Numbering,
{
    /// The first process decides on owners; the others wait for that, or for the report.
    fn begin(&mut self, watch: &mut impl Watch) -> Result<Option<Report>, Stop> {
        if self.rounds.me == 0 {
            self.deciding = self.sample()?;
            let mut out = Writer::of(BEGIN);
            out.numbers(self.deciding.masks().iter().copied());
            self.rounds.tell_all(&out.0)?;
            return Ok(None);
        }
        // Others may have begun already.
        let mut early = Vec::new();
        loop {
            let (from, message) = self.rounds.hear(watch)?;
            match (from, message.split_first()) {
                (0, Some((&RESULT, rest))) => {
                    return read_report(&mut Reader(rest)).ok_or_else(|| foreign(from)).map(Some);
                }
                (0, Some((&BEGIN, rest))) => {
                    let masks = Reader(rest).numbers().ok_or_else(|| foreign(from))?;
                    self.deciding = Deciding::of_masks(masks.collect());
                    self.rounds.hold(early);
                    return Ok(None);
                }
                _ => early.push((from, message)),
            }
        }
    }

    /// A part of the state that decides on owners, seen in the first states.
    fn sample(&mut self) -> Result<Deciding, Stop> {
        let said = |e: quotient_seams::Exhausted| Stop::Incomplete(e.what);
        let (mut states, mut known, mut steps) = (Vec::new(), HashMap::new(), Vec::new());
        self.successors.clear();
        self.expander.initial(&mut self.successors, &mut ()).map_err(said)?;
        let (mut next, mut level) = (0, 0);
        let mut from = None;
        loop {
            for index in 0..self.successors.len() {
                let state = self.successors.state(index);
                if state.is_empty() {
                    continue;
                }
                let number = *known.entry(state.to_vec()).or_insert_with(|| {
                    states.push(state.to_vec());
                    states.len() - 1
                });
                if let Some(from) = from {
                    steps.push((from, number));
                }
            }
            if next == states.len() || states.len() >= SAMPLE {
                break;
            }
            if 2 * next <= states.len() {
                level = next;
            }
            self.successors.clear();
            let expanded =
                self.expander.expand(&states[next], &mut Turn::default(), &mut self.successors, &mut ());
            expanded.map_err(said)?;
            from = Some(next);
            next += 1;
        }
        let words: Vec<&[u64]> = states.iter().map(|state| &state[..]).collect();
        Ok(Deciding::choose(&words, &steps, level.max(next.min(words.len())), self.rounds.count))
    }

    /// Explores everything; ends earlier where a run is found, or something wrong on the way.
    fn run(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        let mut initial = Vec::new();
        self.successors.clear();
        let begun = self.expander.initial(&mut self.successors, &mut ());
        begun.map_err(|e| Stop::Incomplete(e.what))?;
        for index in 0..self.successors.len() {
            if let Some(code) = self.successors.entry(index).violation
                && self.rounds.me == 0
            {
                self.wrong(Wrong { code, from: NOWHERE, choice: index as u32, count: 1 });
            }
            if self.successors.entry(index).has_state() {
                initial.push(self.successors.state(index).to_vec());
            }
        }
        for state in initial {
            if self.deciding.owner(&state, self.rounds.count) == self.rounds.me {
                self.own.number(&state, NOWHERE);
            }
        }
        let mut look_from = FIRST_LOOK;
        loop {
            let done = self.own.steps.marks.len() as u64;
            let end = self.own.len();
            self.depth += 1;
            self.answer()?;
            for state in done..end {
                if self.rounds.stop.is_some() {
                    break;
                }
                let expanded = self.expand(state as u32);
                self.goes_on(expanded)?;
                if (state - done).is_multiple_of(CHUNK) {
                    self.rounds.read(&mut self.own, watch)?;
                }
                let limit = self.most_states;
                let states = self.own.steps.marks.len() as u64 + self.others.0;
                if let Some(limit) = limit.filter(|limit| states > *limit) {
                    self.rounds.must_stop(Monitor::states(limit))?;
                }
                if watch.due()
                    && let Some(stop) = watch.check(&mut || self.statistics())
                {
                    self.rounds.must_stop(stop)?;
                }
            }
            for peer in 0..self.rounds.count {
                self.flush(peer)?;
            }
            if self.own.full {
                let why = self.own.store.exhausted().unwrap_or("more than two billion states of a process");
                self.rounds.must_stop(Stop::Incomplete(why.into()))?;
            }
            let expanded = self.own.steps.marks.len() as u64;
            let said = [
                self.own.pending.iter().map(|pending| pending.len() as u64).sum(),
                self.own.len() - expanded,
                expanded,
                self.transitions,
                self.wrong.iter().map(|wrong| wrong.count).sum(),
            ];
            let [pending, waiting, states, transitions, wrong] =
                self.rounds.end(said, &mut self.own, watch)?;
            self.others = (states - expanded, transitions - self.transitions);
            if wrong > 0 && !self.all {
                return self.agreed(Stop::Violation);
            }
            let is_done = pending + waiting == 0;
            if is_done || states >= look_from {
                look_from = 2 * states;
                if self.look(watch)? {
                    return self.agreed(Stop::Violation);
                }
            }
            if is_done {
                return self.agreed(Stop::Complete);
            }
        }
    }

    fn agreed(&mut self, stop: Stop) -> Result<(), Stop> {
        self.rounds.agreed = true;
        if stop == Stop::Complete { Ok(()) } else { Err(stop) }
    }

    fn goes_on(&mut self, ended: Result<(), Stop>) -> Result<(), Stop> {
        match ended {
            Ok(()) => Ok(()),
            Err(why) => self.rounds.must_stop(why),
        }
    }

    /// Is there a run to be reported in what is there?
    fn look(&mut self, watch: &mut impl Watch) -> Result<bool, Stop> {
        // Marks that do not exist are met in every state.
        let lacks = self.own.steps.marks.iter().fold(0, |lacks, marks| lacks | !marks);
        let mut bits = [0u64; 64];
        bits.iter_mut().enumerate().for_each(|(bit, lacking)| *lacking = lacks >> bit & 1);
        let lacking = self.rounds.end(bits, &mut self.own, watch)?;
        let sets = lacking.iter().enumerate().filter(|(_, lacking)| **lacking > 0);
        let sets = sets.fold(0, |sets, (bit, _)| sets | 1u64 << bit);
        let (laps, left) = Laps::of(&self.own.steps, self.own.len() as usize, sets, &mut self.rounds, watch)?;
        if left > 0 {
            self.laps = Some(laps);
        }
        Ok(left > 0)
    }

    /// Tells others the numbers of the states that they have sent.
    fn answer(&mut self) -> Result<(), Stop> {
        for peer in 0..self.rounds.count {
            let numbers = std::mem::take(&mut self.own.numbers[peer]);
            for some in numbers.chunks(WORDS) {
                let mut message = vec![NUMBERS];
                message.extend(some.iter().flat_map(|number| number.to_le_bytes()));
                self.rounds.send(peer, &message)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, peer: usize) -> Result<(), Stop> {
        if self.out[peer].len() == 0 {
            return Ok(());
        }
        let mut message = vec![STATES];
        self.out[peer].take_short(&mut message);
        self.rounds.send(peer, &message)
    }

    fn wrong(&mut self, wrong: Wrong) {
        match self.wrong.iter_mut().find(|known| known.code == wrong.code) {
            Some(known) => known.count += 1,
            None => self.wrong.push(wrong),
        }
    }

    /// Writes down the steps of a state of this process.
    fn expand(&mut self, number: u32) -> Result<(), Stop> {
        let mut state = std::mem::take(&mut self.state);
        state.clear();
        state.extend_from_slice(self.own.state(u64::from(number)).unwrap_or_default());
        let mut turn = Turn::default();
        loop {
            self.successors.clear();
            let expanded = self.expander.expand(&state, &mut turn, &mut self.successors, &mut ());
            expanded.map_err(|e| Stop::Incomplete(e.what))?;
            // What goes wrong commutes with nothing.
            if turn.is_whole() || !self.successors.has_violations() {
                break;
            }
        }
        let marks = self.expander.system.state_marks(&state);
        self.expander.system.step_marks(&state, &self.successors, &mut self.on_steps);
        self.own.steps.marks.push(marks);
        self.own.steps.first.push(self.own.steps.to.len());
        let from = self.own.global(u64::from(number));
        for index in 0..self.successors.len() {
            let entry = self.successors.entry(index);
            if let Some(code) = entry.violation {
                self.wrong(Wrong { code, from, choice: index as u32, count: 1 });
            }
            if !entry.has_state() {
                continue;
            }
            self.transitions += 1;
            let steps = &mut self.own.steps;
            if let Some(marks) = self.on_steps.get(index).filter(|marks| **marks != 0) {
                steps.on_steps.resize(steps.to.len(), 0);
                steps.on_steps.push(*marks);
            }
            let at = steps.to.len();
            steps.to.push(NOWHERE);
            let found = self.successors.state(index);
            let owner = self.deciding.owner(found, self.rounds.count);
            if owner == self.rounds.me {
                if let Some(number) = self.own.number(found, from) {
                    self.own.steps.to[at] = self.own.global(u64::from(number));
                }
                continue;
            }
            self.own.pending[owner].push_back(at);
            self.out[owner].push([from], found);
            if self.out[owner].len() >= WORDS {
                self.flush(owner)?;
            }
        }
        self.state = state;
        Ok(())
    }

    pub(super) fn statistics(&self) -> Statistics {
        let expanded = self.own.steps.marks.len() as u64;
        let own = self.own.bytes();
        Statistics {
            states: expanded + self.others.0,
            expanded: expanded + self.others.0,
            transitions: self.transitions + self.others.1,
            depth: self.depth,
            waiting: self.own.len() - expanded,
            store_bytes: self.own.store.bytes(),
            search_bytes: own,
            ..Statistics::default()
        }
    }
}
