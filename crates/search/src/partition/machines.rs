//! Breadth-first search by several processes, each the owner of a part of the states, with messages between them.
//!
//! The first process begins alone and hands out what it has found when there is enough of it. Then all expand their parts of a level at the same time; letters go out as they are
//! found, and are taken between two chunks of states, so that nobody waits for anybody before a level's end. A level ends in rounds: each says that it has sent its letters (`END`); each
//! confirms to whom it heard that from, after its answers (`TAKEN`); each says how far it is (`STATUS`). Whoever has heard all three from all others knows what all know: whether
//! expansions are still deferred (then there is another round), how many states the next level has, whether something was found wrong or somebody has to stop. All decide alike.
//! What comes from a process that is a round ahead is held back until this one is there, too.
//!
//! States are numbered by each owner in the order they were found, and each keeps the steps to its own (12 bytes a state). The first process asks for them when
//! it makes the way to a violation. In the end all have the same report.

use std::time::Duration;

use quotient_seams::{Ample, Known, Representative, System, Visited, Worker};

use super::kept::Kept;
use super::part::{By, Home, Part, Post, Source};
use super::rows::Block;
use super::town::*;
use crate::expand::Turn;
use crate::frontier::Frontier;
use crate::monitor::{Monitor, Watch};
use crate::restart::{Reader, Writer};
use crate::{Statistics, Stop};

/// The other processes of a search.
pub trait Peers {
    /// How many processes there are, and which of them this is.
    fn places(&self) -> (usize, usize);

    /// Sends a message. `Err` if the process is lost.
    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), String>;

    /// The next message and whose it is; waits so long for one. `Err` if a process is lost.
    fn receive(&mut self, wait: Duration) -> Result<Option<(usize, Vec<u8>)>, String>;

    /// Bytes that wait to be sent.
    fn waiting(&self) -> u64;
}

/// States of a level, a chunk of them at a time.
struct Chunk<'l> {
    level: &'l Frontier,
    place: &'l mut usize,
    number: &'l mut u64,
    left: u64,
}

impl<'p> Source<Town<'p>, (u64, Turn)> for Chunk<'_> {
    fn next(&mut self, town: &mut Town<'p>, state: &mut Vec<u64>) -> Result<Option<(u64, Turn)>, Stop> {
        if self.left == 0 || town.stop.is_some() {
            return Ok(None);
        }
        let Some((Known { state: found, .. }, after)) = self.level.at(*self.place) else { return Ok(None) };
        state.clear();
        state.extend_from_slice(found);
        (*self.place, self.left) = (after, self.left - 1);
        *self.number += 1;
        town.expanded += 1;
        Ok(Some((*self.number - 1, Turn::default())))
    }
}

/// Expansions that were deferred, a chunk of them at a time.
struct Again<'l>(&'l mut Vec<(u64, Turn, Vec<u64>)>, u64);

impl<'p> Source<Town<'p>, (u64, Turn)> for Again<'_> {
    fn next(&mut self, _: &mut Town<'p>, state: &mut Vec<u64>) -> Result<Option<(u64, Turn)>, Stop> {
        if self.1 == 0 {
            return Ok(None);
        }
        self.1 -= 1;
        let Some((number, turn, words)) = self.0.pop() else { return Ok(None) };
        *state = words;
        Ok(Some((number, turn)))
    }
}

/// Letters of a message.
struct Letters {
    block: Block,
    from: usize,
}

impl<'p> Source<Town<'p>, (By, bool)> for Letters {
    fn next(&mut self, _: &mut Town<'p>, state: &mut Vec<u64>) -> Result<Option<(By, bool)>, Stop> {
        let Some(([from, choice], words)) = self.block.next().map_err(|()| foreign(self.from))? else {
            return Ok(None);
        };
        if place(*from).0 != self.from || words.is_empty() {
            return Err(foreign(self.from));
        }
        state.clear();
        state.extend_from_slice(words);
        Ok(Some((By { from: *from, choice: (choice >> 1) as u32 }, choice & 1 == 1)))
    }
}

/// One process of a search.
pub(super) struct Process<'p, 'a, S, R, A, V> {
    pub(super) part: Part<'a, S, R, A>,
    pub(super) town: Town<'p>,
    pub(super) home: Option<Home<V>>,
    /// What is written for a run that goes on from here, if it is.
    pub(super) kept: Option<Kept<'p>>,
}

impl<S, R, A, V> Process<'_, '_, S, R, A, V>
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited + Default,
{
    /// Level after level, until there is nothing new anywhere; from the end of a level, if an earlier run had come to one.
    pub(super) fn run(&mut self, resumed: bool, watch: &mut impl Watch) -> Result<(), Stop> {
        let mut status = None;
        if resumed {
            self.handle_held(watch)?;
            status = Some(self.round(watch)?);
        }
        loop {
            if let Some(Status { spotted, next, .. }) = status {
                if spotted && !self.part.rules.all {
                    self.town.agreed = true;
                    return Err(Stop::Violation);
                }
                if next == 0 {
                    return Ok(());
                }
            }
            status = Some(self.level_and_rounds(watch)?);
        }
    }

    /// One level, to its end.
    fn level_and_rounds(&mut self, watch: &mut impl Watch) -> Result<Status, Stop> {
        let town = &mut self.town;
        std::mem::swap(&mut town.level, &mut town.next);
        town.next.clear();
        town.first = town.number() - town.level.len();
        if let Some(home) = &mut self.home {
            home.next_level();
        }
        // The level has states: the first one was handed out, of the others all have heard.
        if let Some(limit) = self.part.rules.most_depth
            && self.part.depth >= limit
        {
            self.town.agreed = true;
            return Err(Monitor::depth(limit));
        }
        self.part.depth += 1;
        self.handle_held(watch)?;
        self.level(watch)?;
        loop {
            let status = self.round(watch)?;
            if status.deferred == 0 {
                let written = self.write_level(status.writes);
                self.goes_on(written)?;
                return Ok(status);
            }
            self.handle_held(watch)?;
            self.again(watch)?;
        }
    }

    /// What came too early is of the round that begins.
    fn handle_held(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        for (from, message) in std::mem::take(&mut self.town.held) {
            self.handle(from, message, watch)?;
        }
        Ok(())
    }

    /// Expands what is this process's of a level.
    fn level(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        let level = std::mem::take(&mut self.town.level);
        let (mut at, mut number) = (0, self.town.first);
        while level.at(at).is_some() && self.town.stop.is_none() {
            let mut chunk = Chunk { level: &level, place: &mut at, number: &mut number, left: CHUNK };
            let ended = self.part.expand(&mut chunk, &mut self.home, &mut self.town, watch);
            self.goes_on(ended)?;
            self.read(watch)?;
        }
        self.town.level = level;
        Ok(())
    }

    /// Goes on with expansions that were not accepted.
    fn again(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        let mut deferred = std::mem::take(&mut self.town.deferred);
        while !deferred.is_empty() && self.town.stop.is_none() {
            let mut some = Again(&mut deferred, CHUNK);
            let ended = self.part.expand(&mut some, &mut self.home, &mut self.town, watch);
            self.goes_on(ended)?;
            self.read(watch)?;
        }
        Ok(())
    }

    /// Where this process must stop, all do, at the end of the round.
    pub(super) fn goes_on(&mut self, ended: Result<(), Stop>) -> Result<(), Stop> {
        let Err(why) = ended else { return Ok(()) };
        if self.town.stop.is_none() {
            let said = self.town.reason(&why);
            self.town.stop = Some(why);
            self.town.send_all(&[&[STOP], said.as_bytes()].concat())?;
        }
        Ok(())
    }

    /// Reads what has come; where too much waits to be sent, until that is less.
    fn read(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        while let Some((from, message)) = self.town.receive(Duration::ZERO)? {
            self.handle(from, message, watch)?;
        }
        while self.town.peers.waiting() > MOST_WAITING {
            self.wait(watch)?;
        }
        Ok(())
    }

    /// Waits for a message, a little, and handles it.
    fn wait(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        if let Some((from, message)) = self.town.receive(TURN)? {
            return self.handle(from, message, watch);
        }
        let ended = match watch.due() {
            true => watch.check(&mut || self.town.statistics(Statistics::default())),
            false => None,
        };
        self.goes_on(ended.map_or(Ok(()), Err))
    }

    /// The end of a round: what all have.
    fn round(&mut self, watch: &mut impl Watch) -> Result<Status, Stop> {
        let round = self.town.round + 1;
        let others = (0..self.town.count).filter(|peer| *peer != self.town.me);
        for peer in others.collect::<Vec<_>>() {
            self.town.flush(peer)?;
            self.town.send_round(END, peer, round)?;
        }
        while !self.town.all(|peer| self.town.ended[peer].min(self.town.taken[peer]), |r| *r >= round) {
            self.wait(watch)?;
        }
        let town = &mut self.town;
        let accepted = std::mem::take(&mut town.accepted);
        town.deferred.retain(|(number, ..)| !accepted.contains(number));
        // What all decide on is what all have said; who must stop later says so in the next round.
        let must = town.stop.clone();
        let stop = must.as_ref().map(|why| town.reason(why));
        let mut all = Status {
            deferred: town.deferred.len() as u64,
            next: town.next.len(),
            states: town.states(),
            transitions: self.part.transitions(),
            expanded: town.expanded,
            spotted: !self.part.spotted.is_empty(),
            // The first process says when, so that all can go on from the same levels.
            writes: self.town.me == 0 && self.kept.as_ref().is_some_and(Kept::is_due),
            stop,
        };
        let own = all.clone();
        self.town.send_all(&all.write(round))?;
        while !self.town.all(|peer| self.town.statuses[peer].is_some(), |has| *has) {
            self.wait(watch)?;
        }
        let mut stops = None;
        for status in &mut self.town.statuses {
            let Some(status) = status.take() else { continue };
            all.deferred += status.deferred;
            all.next += status.next;
            all.states += status.states;
            all.transitions += status.transitions;
            all.expanded += status.expanded;
            all.spotted |= status.spotted;
            all.writes |= status.writes;
            stops = stops.or(status.stop);
        }
        self.town.others = Status {
            states: all.states - own.states,
            transitions: all.transitions - own.transitions,
            expanded: all.expanded - own.expanded,
            ..Status::default()
        };
        self.town.round = round;
        match must.or(stops.map(lost)) {
            Some(stop) => {
                self.town.agreed = true;
                Err(stop)
            }
            None => Ok(all),
        }
    }

    fn handle(&mut self, from: usize, message: Vec<u8>, watch: &mut impl Watch) -> Result<(), Stop> {
        let town = &mut self.town;
        let Some((&kind, rest)) = message.split_first() else { return Err(foreign(from)) };
        if town.statuses[from].is_some() && matches!(kind, LETTERS | END | STATUS) {
            town.held.push_back((from, message));
            return Ok(());
        }
        let mut reader = Reader(rest);
        let mut round = || reader.number().ok_or_else(|| foreign(from));
        match kind {
            LETTERS => {
                let mut block = Block::default();
                block.read_short(rest).ok_or_else(|| foreign(from))?;
                let letters = &mut Letters { block, from };
                let ended = self.part.take(letters, true, &mut self.home, &mut self.town, watch);
                self.goes_on(ended.map(|_| ()))?;
                let answers = std::mem::take(&mut self.town.answers[from]);
                if !answers.is_empty() {
                    let mut out = Writer::of(ANSWERS);
                    out.numbers(answers.into_iter());
                    self.town.to(from, out.0)?;
                }
            }
            ANSWERS => {
                let numbers = reader.numbers().ok_or_else(|| foreign(from))?;
                town.accepted.extend(numbers);
            }
            END => {
                let ended = round()?;
                town.ended[from] = ended;
                town.send_round(TAKEN, from, ended)?;
            }
            TAKEN => town.taken[from] = round()?,
            STATUS => {
                let (round, status) = Status::read(&mut reader).ok_or_else(|| foreign(from))?;
                if round != town.round + 1 {
                    return Err(foreign(from));
                }
                town.statuses[from] = Some(status);
            }
            STOP => {
                town.stop.get_or_insert(lost(String::from_utf8_lossy(rest).into_owned()));
            }
            // What is said after the search, by one who knows already that it has ended.
            SUMMARY | ASK | RESULT => town.held.push_back((from, message)),
            _ => return Err(foreign(from)),
        }
        Ok(())
    }
}
