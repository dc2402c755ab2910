//! One of several processes, as what it finds goes out from it: letters, answers, and what all say to each other at the end of a round.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use quotient_seams::{Incomplete, Visited};

use super::machines::Peers;
use super::owner::Deciding;
use super::part::{By, Home, Letter, Post};
use super::rows::Rows;
use crate::expand::Turn;
use crate::frontier::Frontier;
use crate::monitor::Monitor;
use crate::restart::{Reader, Writer};
use crate::{Statistics, Stop};

/// Letters.
pub(super) const LETTERS: u8 = 1;
/// Which expansions are accepted.
pub(super) const ANSWERS: u8 = 2;
/// All letters of a round are sent.
pub(super) const END: u8 = 3;
/// All letters of a round are taken and answered.
pub(super) const TAKEN: u8 = 4;
/// How far a process is at the end of a round.
pub(super) const STATUS: u8 = 5;
/// Somebody must stop.
pub(super) const STOP: u8 = 6;
/// States that the first process has found alone.
pub(super) const GIVEN: u8 = 7;
/// The search by all begins.
pub(super) const BEGIN: u8 = 8;
/// What a process has found, in the end.
pub(super) const SUMMARY: u8 = 9;
/// The step to a state is asked for, and told.
pub(super) const ASK: u8 = 10;
pub(super) const STEP: u8 = 11;
/// The report.
pub(super) const RESULT: u8 = 12;

/// The levels that a process can go on from, and the one that all go on from.
pub(super) const HAVE: u8 = 13;
pub(super) const FROM: u8 = 14;

/// States expanded before messages are read.
pub(super) const CHUNK: u64 = 512;
/// Words of letters to a process that are sent together.
pub(super) const WORDS: usize = 1 << 13;
/// Bytes that may wait to be sent before this process only takes letters.
pub(super) const MOST_WAITING: u64 = 1 << 24;
/// How long to wait for a message before limits are looked at.
pub(super) const TURN: Duration = Duration::from_millis(10);
/// Bits of a number that are the state's, below its owner's number plus one; among themselves, owners leave that out.
pub(super) const OWNER: u32 = 48;
/// The choice of a state that was handed out: it is the state that it comes from.
pub(super) const SAME: u32 = u32::MAX;

pub(super) fn lost(why: String) -> Stop {
    Stop::Incomplete(Incomplete::Stopped(why))
}

pub(super) fn foreign(from: usize) -> Stop {
    lost(format!("process {from} has sent something that is not a message of this search"))
}

/// The owner of a state, and its number there.
pub(super) fn place(number: u64) -> (usize, u64) {
    (((number >> OWNER) as usize).wrapping_sub(1), number & ((1 << OWNER) - 1))
}

/// What a process says at the end of a round.
#[derive(Clone, Debug, Default)]
pub(super) struct Status {
    pub(super) deferred: u64,
    pub(super) next: u64,
    pub(super) states: u64,
    pub(super) transitions: u64,
    pub(super) expanded: u64,
    pub(super) spotted: bool,
    /// What was found so far is to be written now.
    pub(super) writes: bool,
    pub(super) stop: Option<String>,
}

impl Status {
    pub(super) fn write(&self, round: u64) -> Vec<u8> {
        let mut out = Writer::of(STATUS);
        let Status { deferred, next, states, transitions, expanded, spotted, writes, stop } = self;
        for number in [round, *deferred, *next, *states, *transitions, *expanded] {
            out.number(number);
        }
        out.number(u64::from(*spotted));
        out.number(u64::from(*writes));
        out.number(u64::from(stop.is_some()));
        out.bytes(stop.as_deref().unwrap_or_default().as_bytes());
        out.0
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Option<(u64, Status)> {
        let mut number = || from.number();
        let (round, deferred, next, states) = (number()?, number()?, number()?, number()?);
        let (transitions, expanded) = (number()?, number()?);
        let (spotted, writes, stops) = (number()? != 0, number()? != 0, number()? != 0);
        let text = String::from_utf8_lossy(from.bytes()?).into_owned();
        let stop = stops.then_some(text);
        Some((round, Status { deferred, next, states, transitions, expanded, spotted, writes, stop }))
    }
}

/// This process, as what it finds goes out from it.
pub(super) struct Town<'p> {
    pub(super) peers: &'p mut dyn Peers,
    pub(super) count: usize,
    pub(super) me: usize,
    /// What decides on the owner of a state.
    pub(super) deciding: Deciding,
    pub(super) out: Vec<Rows>,
    pub(super) answers: Vec<Vec<u64>>,
    /// The states of this level that are its own, and the number of the first; those of the next.
    pub(super) level: Frontier,
    pub(super) first: u64,
    pub(super) next: Frontier,
    /// The number of the first state that has a step here; the steps.
    pub(super) base: u64,
    pub(super) from: Vec<u64>,
    pub(super) choices: Vec<u32>,
    /// States that were handed out, not found.
    pub(super) given: u64,
    pub(super) expanded: u64,
    pub(super) deferred: Vec<(u64, Turn, Vec<u64>)>,
    pub(super) accepted: HashSet<u64>,
    /// The rounds that others have ended, confirmed, and what they said then.
    pub(super) ended: Vec<u64>,
    pub(super) taken: Vec<u64>,
    pub(super) statuses: Vec<Option<Status>>,
    /// What all others had at the end of the last round.
    pub(super) others: Status,
    pub(super) round: u64,
    pub(super) held: VecDeque<(usize, Vec<u8>)>,
    pub(super) stop: Option<Stop>,
    /// All processes end the search here, for the same reason.
    pub(super) agreed: bool,
    pub(super) most_states: Option<u64>,
}

impl<'p> Town<'p> {
    /// Nothing was found yet.
    pub(super) fn new(peers: &'p mut dyn Peers) -> Town<'p> {
        let (count, me) = peers.places();
        Town {
            peers,
            count,
            me,
            deciding: Deciding::default(),
            out: (0..count).map(|_| Rows::default()).collect(),
            answers: vec![Vec::new(); count],
            level: Frontier::default(),
            first: 0,
            next: Frontier::default(),
            base: 0,
            from: Vec::new(),
            choices: Vec::new(),
            given: 0,
            expanded: 0,
            deferred: Vec::new(),
            accepted: HashSet::new(),
            ended: vec![0; count],
            taken: vec![0; count],
            statuses: vec![None; count],
            others: Status::default(),
            round: 0,
            held: VecDeque::new(),
            stop: None,
            agreed: false,
            most_states: None,
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.base + self.from.len() as u64
    }

    /// The number of a state for all: of one of this process, which may have no owner in it.
    pub(super) fn global(&self, number: u64) -> u64 {
        if number >> OWNER == 0 { number | (self.me as u64 + 1) << OWNER } else { number }
    }

    /// Why this process must stop, as it is told to others.
    pub(super) fn reason(&self, why: &Stop) -> String {
        match why {
            // That came from another process.
            Stop::Incomplete(Incomplete::Stopped(why)) => why.clone(),
            Stop::Incomplete(why) => format!("process {}: {why}", self.me),
            _ => format!("process {} had to stop", self.me),
        }
    }

    /// States that this process has found.
    pub(super) fn states(&self) -> u64 {
        self.from.len() as u64 - self.given
    }

    pub(super) fn add(&mut self, from: u64, choice: u32, state: &[u64]) {
        self.from.push(from);
        self.choices.push(choice);
        self.next.push(state, &[]);
    }

    pub(super) fn to(&mut self, peer: usize, message: Vec<u8>) -> Result<(), Stop> {
        self.peers.send(peer, message).map_err(lost)
    }

    /// The next message and whose it is, if there is one so soon.
    pub(super) fn receive(&mut self, wait: Duration) -> Result<Option<(usize, Vec<u8>)>, Stop> {
        self.peers.receive(wait).map_err(lost)
    }

    pub(super) fn send_all(&mut self, message: &[u8]) -> Result<(), Stop> {
        let me = self.me;
        (0..self.count).filter(|peer| *peer != me).try_for_each(|peer| self.to(peer, message.to_vec()))
    }

    /// Sends the letters that wait for a process.
    pub(super) fn flush(&mut self, peer: usize) -> Result<(), Stop> {
        if self.out[peer].len() == 0 {
            return Ok(());
        }
        let mut message = vec![LETTERS];
        self.out[peer].take_short(&mut message);
        self.to(peer, message)
    }

    pub(super) fn send_round(&mut self, kind: u8, peer: usize, round: u64) -> Result<(), Stop> {
        let mut out = Writer::of(kind);
        out.number(round);
        self.to(peer, out.0)
    }

    pub(super) fn all<T>(&self, of: impl Fn(usize) -> T, wanted: impl Fn(&T) -> bool) -> bool {
        (0..self.count).filter(|peer| *peer != self.me).all(|peer| wanted(&of(peer)))
    }
}

impl Post for Town<'_> {
    #[inline]
    fn owner(&self, state: &[u64]) -> Option<usize> {
        let owner = self.deciding.owner(state, self.count);
        if owner == self.me { None } else { Some(owner) }
    }

    fn send(&mut self, to: usize, Letter { by, asks, state }: Letter<'_>) -> Result<(), Stop> {
        let from = self.global(by.from);
        self.out[to].push([from, u64::from(by.choice) << 1 | u64::from(asks)], state);
        if self.out[to].len() >= WORDS { self.flush(to) } else { Ok(()) }
    }

    fn found(&mut self, by: By, state: &[u64]) -> Result<(), Stop> {
        self.add(self.global(by.from), by.choice, state);
        match self.most_states {
            Some(limit) if self.states() + self.others.states > limit => Err(Monitor::states(limit)),
            _ => Ok(()),
        }
    }

    fn defer(&mut self, number: u64, turn: Turn, state: &[u64]) -> Result<(), Stop> {
        self.deferred.push((number, turn, state.to_vec()));
        Ok(())
    }

    fn accept(&mut self, from: u64) {
        let (owner, number) = place(from);
        if let Some(answers) = self.answers.get_mut(owner) {
            answers.push(number);
        }
    }

    fn is_over<V: Visited>(&mut self, _: &Home<V>) -> bool {
        false
    }

    fn leave_home(&mut self) {
        self.stop.get_or_insert(Stop::Incomplete("the store of a process is full (2^32)".into()));
    }

    fn statistics(&self, done: Statistics) -> Statistics {
        let states = self.states() + self.others.states;
        let expanded = self.expanded + self.others.expanded;
        let own = 8 * self.from.capacity() + 4 * self.choices.capacity();
        Statistics {
            states,
            expanded,
            waiting: states.saturating_sub(expanded),
            transitions: done.transitions + self.others.transitions,
            search_bytes: done.search_bytes + self.level.bytes() + self.next.bytes() + own as u64,
            ..done
        }
    }
}
