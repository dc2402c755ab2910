//! Breadth-first search of more states than fit in memory: one owner's store is in memory at a time, everything else on disk, written and read from front to back.
//!
//! An owner has files: all its states in the order they were found, the letters that it has not read, the expansions that wait for answers. When it is its turn, its store is filled
//! from its states, its letters are taken, and its part of the level is expanded; what is found for itself is looked up at once. Then the next one has its turn. A
//! level takes a turn of each (with partial order reduction another one for each round of answers); the owner who was last in a level is first in the next, so its store stays.
//!
//! One owner begins, so a search that fits in memory is one. An owner whose store becomes too large finishes its turn without one, by writing letters to itself, and is divided
//! before its next turn ([`super::owner`]). So the limits of a store (memory, 2^32 nodes) are limits for each owner, not for the search.
//!
//! States are numbered in the order they are found, whoever finds them; the step to each is written to one more file, from which the way to a violation is read.

use std::collections::VecDeque;

use quotient_seams::{Ample, Known, Representative, System, Visited, Worker, resident_bytes};

use super::files::{File, Owner, Reading, foreign, unwritten};
use super::owner::{MOST_BITS, Owners};
use super::part::{By, Home, Letter, Part, Post, Source};
use crate::breadth_first::{BreadthFirst, Ended};
use crate::expand::{Expander, Turn};
use crate::level::Level;
use crate::monitor::{Monitor, Watch, Watched};
use crate::parents::Parents;
use crate::{Options, Report, Seams, Statistics, Stop};

/// Files on disk: records are added at the end, and read from the front.
pub trait Spool {
    /// Makes a new file, and gives its number.
    fn create(&mut self) -> Result<u32, String>;

    /// Adds a record; gives the place after it.
    fn append(&mut self, file: u32, record: &[u8]) -> Result<u64, String>;

    /// Reads the record at a place (0 is the first one's) and gives the place after it.
    fn read(&mut self, file: u32, place: u64, record: &mut Vec<u8>) -> Result<u64, String>;

    /// Removes a file.
    fn remove(&mut self, file: u32) -> Result<(), String>;

    /// The search has ended, with so many owners.
    fn ended(&mut self, owners: usize);
}

/// How a search uses the disk.
#[derive(Clone, Copy, Debug)]
pub struct Disk {
    /// In memory as always until so many states are stored.
    pub from: u64,
    /// Bytes that the process may have resident before an owner is divided.
    pub memory: u64,
    /// States of an owner, at most, if its store would take more.
    pub most: Option<u64>,
}

/// Words of rows that wait to be written, at most and at least.
const MOST_WORDS: usize = 1 << 15;
const LEAST_WORDS: usize = 1 << 10;
/// Steps of a record.
const STEPS: u64 = 1 << 14;
/// Bytes of a store that is never too large.
const SMALL: u64 = 1 << 20;
/// Batches after which memory is looked at.
const BATCHES: u32 = 64;

/// All owners, and what they share.
struct Office<'d> {
    spool: &'d mut dyn Spool,
    disk: Disk,
    most_states: Option<u64>,
    owners: Owners,
    files: Vec<Owner>,
    /// Whose store is in memory: what is new there is written to its states.
    home: Option<usize>,
    /// States found, and expanded.
    found: u64,
    expanded: u64,
    /// The steps by which states were found, from number `first` on; records of [`STEPS`], and where each begins.
    first: u64,
    steps: File,
    places: Vec<u64>,
    /// Which expansions of this level are accepted, one bit each, from this state on.
    accepted: Vec<u64>,
    accepted_from: u64,
    /// States found before this level was begun.
    before: u64,
    batches: u32,
}

impl Office<'_> {
    /// Words that may wait for each file.
    fn most_words(&self) -> usize {
        let each = self.disk.memory / (64 * 8 * self.files.len() as u64);
        (each as usize).clamp(LEAST_WORDS, MOST_WORDS)
    }

    fn is_accepted(&self, number: u64) -> bool {
        let at = number.wrapping_sub(self.accepted_from);
        self.accepted.get((at / 64) as usize).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }

    /// The step to a state that was found here.
    fn step(&mut self, number: u64) -> Result<By, Stop> {
        let at = number - self.first;
        let place = *self.places.get((at / STEPS) as usize).ok_or_else(foreign)?;
        let mut reading = Reading::new(self.steps.number, place..place + 1);
        let mut nothing = Vec::new();
        for _ in 0..at % STEPS {
            reading.next::<2>(self.spool, &mut nothing)?;
        }
        let [from, choice] = reading.next(self.spool, &mut nothing)?.ok_or_else(foreign)?;
        Ok(By { from, choice: u32::try_from(choice).map_err(|_| foreign())? })
    }

    /// The choices to a state: those that `parents` know of at the beginning, then those on disk.
    fn path(&mut self, parents: &Parents, mut number: u64) -> Result<Vec<u32>, Stop> {
        let mut choices = Vec::new();
        while number >= self.first {
            let By { from, choice } = self.step(number)?;
            choices.push(choice);
            if from >= number {
                return Err(foreign());
            }
            number = from;
        }
        let mut path = Parents::path(std::slice::from_ref(parents), 0, number);
        path.extend(choices.into_iter().rev());
        Ok(path)
    }

    /// The level is complete.
    fn next_level(&mut self) -> Result<(), Stop> {
        for owner in &mut self.files {
            owner.flush(self.spool)?;
            owner.level = owner.next;
            owner.next = owner.states.len;
            std::mem::swap(&mut owner.now, &mut owner.later);
        }
        self.accepted.clear();
        // Those of the new level were found during the last one.
        self.accepted_from = self.before;
        self.before = self.found;
        Ok(())
    }

    /// A file has been read: an empty one instead.
    fn renew(spool: &mut dyn Spool, file: &mut File) -> Result<(), Stop> {
        if !file.is_empty() {
            spool.remove(file.number).map_err(unwritten)?;
            *file = File::create(spool)?;
        }
        Ok(())
    }

    /// Divides an owner in two; gives the other one.
    fn divide(&mut self, number: usize) -> Result<usize, Stop> {
        let depth = self.files[number].depth;
        let other = self.files.len();
        self.owners.divide(number, depth, other);
        let new = [Owner::create(depth + 1, self.spool)?, Owner::create(depth + 1, self.spool)?];
        let [first, second] = new;
        let mut old = std::mem::replace(&mut self.files[number], first);
        self.files.push(second);
        old.flush(self.spool)?;
        let bounds = [0, old.level, old.next, old.states.len];
        for part in 0..3 {
            self.deal::<1>(&old.states, bounds[part]..bounds[part + 1], |owner| &mut owner.states)?;
            for at in [number, other] {
                let owner = &mut self.files[at];
                owner.states.flush(self.spool)?;
                match part {
                    0 => owner.level = owner.states.len,
                    1 => owner.next = owner.states.len,
                    _ => {}
                }
            }
        }
        self.deal::<2>(&old.now, 0..old.now.len, |owner| &mut owner.now)?;
        self.deal::<2>(&old.later, 0..old.later.len, |owner| &mut owner.later)?;
        self.deal::<5>(&old.deferred, 0..old.deferred.len, |owner| &mut owner.deferred)?;
        for file in [old.states, old.now, old.later, old.deferred] {
            self.spool.remove(file.number).map_err(unwritten)?;
        }
        Ok(other)
    }

    /// Deals the rows of a file to the owners of their states.
    fn deal<const N: usize>(
        &mut self,
        from: &File,
        places: std::ops::Range<u64>,
        to: impl Fn(&mut Owner) -> &mut File,
    ) -> Result<(), Stop> {
        let (mut reading, mut state) = (Reading::new(from.number, places), Vec::new());
        let most = self.most_words();
        while let Some(numbers) = reading.next::<N>(self.spool, &mut state)? {
            let owner = &mut self.files[self.owners.of(&state)];
            to(owner).push(numbers, &state, (self.spool, most))?;
        }
        Ok(())
    }
}

impl Post for Office<'_> {
    #[inline]
    fn owner(&self, state: &[u64]) -> Option<usize> {
        let owner = self.owners.of(state);
        if self.home == Some(owner) { None } else { Some(owner) }
    }

    fn send(&mut self, to: usize, Letter { by, asks, state }: Letter<'_>) -> Result<(), Stop> {
        let most = self.most_words();
        let numbers = [by.from, u64::from(by.choice) << 1 | u64::from(asks)];
        self.files[to].later.push(numbers, state, (self.spool, most))
    }

    fn found(&mut self, by: By, state: &[u64]) -> Result<(), Stop> {
        let most = self.most_words();
        // What is found is found at home.
        let owner = &mut self.files[self.home.unwrap_or_default()];
        owner.states.push([self.found], state, (self.spool, most))?;
        if (self.found - self.first).is_multiple_of(STEPS) {
            self.steps.flush(self.spool)?;
            self.places.push(self.steps.len);
        }
        // Not written before there are enough of them.
        self.steps.push([by.from, u64::from(by.choice)], &[], (self.spool, usize::MAX))?;
        self.found += 1;
        match self.most_states {
            Some(limit) if self.found > limit => Err(Monitor::states(limit)),
            _ => Ok(()),
        }
    }

    fn defer(&mut self, number: u64, turn: Turn, state: &[u64]) -> Result<(), Stop> {
        let most = self.most_words();
        let [a, b, c, d] = turn.numbers();
        let owner = self.owners.of(state);
        self.files[owner].deferred.push([number, a, b, c, d], state, (self.spool, most))
    }

    fn accept(&mut self, from: u64) {
        let at = from - self.accepted_from;
        let word = (at / 64) as usize;
        if self.accepted.len() <= word {
            self.accepted.resize(word + 1, 0);
        }
        self.accepted[word] |= 1 << (at % 64);
    }

    fn is_over<V: Visited>(&mut self, home: &Home<V>) -> bool {
        if self.home.is_none_or(|home| self.files[home].depth == MOST_BITS) {
            return false;
        }
        if self.disk.most.is_some_and(|most| home.store.len() > most) {
            return true;
        }
        self.batches += 1;
        if !self.batches.is_multiple_of(BATCHES) {
            return false;
        }
        let bytes = home.store.bytes();
        bytes > SMALL && resident_bytes().unwrap_or(bytes + home.search_bytes()) > self.disk.memory
    }

    fn leave_home(&mut self) {
        if let Some(home) = self.home.take() {
            self.files[home].is_crowded = true;
        }
    }

    fn statistics(&self, done: Statistics) -> Statistics {
        let waiting = self.found - self.expanded;
        Statistics { states: self.found, expanded: self.expanded, waiting, ..done }
    }
}

/// The states of a level.
struct States(Reading);

/// Letters.
struct Letters(Reading);

/// Expansions that wait for answers.
struct Deferred(Reading);

/// All states of an owner; those after the place `next` are in the next level.
struct Filled {
    reading: Reading,
    next: u64,
}

impl<'d> Source<Office<'d>, (u64, Turn)> for States {
    fn next(&mut self, office: &mut Office<'d>, state: &mut Vec<u64>) -> Result<Option<(u64, Turn)>, Stop> {
        let row = self.0.next::<1>(office.spool, state)?;
        office.expanded += u64::from(row.is_some());
        Ok(row.map(|[number]| (number, Turn::default())))
    }
}

impl<'d> Source<Office<'d>, (By, bool)> for Letters {
    fn next(&mut self, office: &mut Office<'d>, state: &mut Vec<u64>) -> Result<Option<(By, bool)>, Stop> {
        let row = self.0.next::<2>(office.spool, state)?;
        Ok(row.map(|[from, choice]| (By { from, choice: (choice >> 1) as u32 }, choice & 1 == 1)))
    }
}

/// Those that were not accepted.
impl<'d> Source<Office<'d>, (u64, Turn)> for Deferred {
    fn next(&mut self, office: &mut Office<'d>, state: &mut Vec<u64>) -> Result<Option<(u64, Turn)>, Stop> {
        while let Some([number, turn @ ..]) = self.0.next::<5>(office.spool, state)? {
            if !office.is_accepted(number) {
                return Ok(Some((number, Turn::of(turn))));
            }
        }
        Ok(None)
    }
}

/// Whether each is in the next level.
impl<'d> Source<Office<'d>, bool> for Filled {
    fn next(&mut self, office: &mut Office<'d>, state: &mut Vec<u64>) -> Result<Option<bool>, Stop> {
        let row = self.reading.next::<1>(office.spool, state)?;
        Ok(row.map(|_| self.reading.place > self.next))
    }
}

/// A search with its owners.
struct OnDisk<'d, 'a, S, R, A, V> {
    part: Part<'a, S, R, A>,
    office: Office<'d>,
    home: Option<Home<V>>,
}

/// What is done for each owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// Its letters for this level are taken, and the level is expanded.
    Level,
    /// Its letters for this level are taken.
    Now,
    /// Its letters for the next level are taken, and answered.
    Later,
}

impl<S, R, A, V> OnDisk<'_, '_, S, R, A, V>
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited + Default,
{
    /// Level after level, until there is nothing new.
    fn run(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        loop {
            if let Some(limit) = self.part.rules.most_depth
                && self.part.depth >= limit
            {
                self.turns(Work::Now, watch)?;
                if self.office.found > self.office.expanded {
                    return Err(Monitor::depth(limit));
                }
                return Ok(());
            }
            self.part.depth += 1;
            let before = self.office.expanded;
            self.turns(Work::Level, watch)?;
            if self.office.expanded == before {
                self.part.depth -= 1;
                return Ok(());
            }
            while self.office.files.iter().any(|owner| !owner.deferred.is_empty()) {
                self.turns(Work::Later, watch)?;
                self.go_on(watch)?;
            }
            if !self.part.rules.all && !self.part.spotted.is_empty() {
                self.turns(Work::Later, watch)?;
                return Err(Stop::Violation);
            }
            self.office.next_level()?;
            if let Some(home) = &mut self.home {
                home.next_level();
            }
        }
    }

    /// A turn of each owner, the one at home first.
    fn turns(&mut self, work: Work, watch: &mut impl Watch) -> Result<(), Stop> {
        let home = self.office.home;
        let others = (0..self.office.files.len()).filter(|owner| Some(*owner) != home);
        let mut order: VecDeque<usize> = home.into_iter().chain(others).collect();
        while let Some(number) = order.pop_front() {
            let owner = &self.office.files[number];
            let has_work = match work {
                Work::Level => !owner.now.is_empty() || owner.level < owner.next,
                Work::Now => !owner.now.is_empty(),
                Work::Later => !owner.later.is_empty(),
            };
            if !has_work || self.turn(number, work, watch)? {
                continue;
            }
            if self.office.files[number].depth == MOST_BITS {
                return Err(Stop::Incomplete("no room for the states of one of 4096 parts".into()));
            }
            let other = self.office.divide(number)?;
            order.push_front(other);
            order.push_front(number);
        }
        Ok(())
    }

    /// An owner's turn; `false` if it must be divided first.
    fn turn(&mut self, number: usize, work: Work, watch: &mut impl Watch) -> Result<bool, Stop> {
        if !self.be_home(number, watch)? {
            return Ok(false);
        }
        let Office { spool, files, .. } = &mut self.office;
        let owner = &mut files[number];
        owner.flush(*spool)?;
        let letters = if work == Work::Later { &owner.later } else { &owner.now };
        let mut letters = Letters(Reading::new(letters.number, 0..letters.len));
        let taken =
            self.part.take(&mut letters, work == Work::Later, &mut self.home, &mut self.office, watch)?;
        let Office { spool, files, .. } = &mut self.office;
        let owner = &mut files[number];
        owner.states.flush(*spool)?;
        if work != Work::Later {
            owner.next = owner.states.len;
        }
        if !taken {
            return Ok(false);
        }
        let letters = if work == Work::Later { &mut owner.later } else { &mut owner.now };
        Office::renew(*spool, letters)?;
        if work == Work::Level {
            let mut level = States(Reading::new(owner.states.number, owner.level..owner.next));
            self.part.expand(&mut level, &mut self.home, &mut self.office, watch)?;
        }
        Ok(true)
    }

    /// Has the store of an owner in memory; `false` if it is too large.
    fn be_home(&mut self, number: usize, watch: &mut impl Watch) -> Result<bool, Stop> {
        if self.office.home == Some(number) {
            return Ok(true);
        }
        // The memory is needed.
        (self.home, self.office.home) = (None, None);
        let Office { spool, files, .. } = &mut self.office;
        let owner = &mut files[number];
        if owner.is_crowded {
            return Ok(false);
        }
        owner.states.flush(*spool)?;
        let reading = Reading::new(owner.states.number, 0..owner.states.len);
        let mut known = Filled { reading, next: owner.next };
        let mut home = Home::of(V::default());
        self.office.home = Some(number);
        if !self.part.fill(&mut known, &mut home, &mut self.office, watch)? {
            self.office.leave_home();
            return Ok(false);
        }
        self.home = Some(home);
        Ok(true)
    }

    /// Goes on with the expansions that were deferred and not accepted, by letters but for whoever is at home.
    fn go_on(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        for number in 0..self.office.files.len() {
            let spool = &mut *self.office.spool;
            let file = &mut self.office.files[number].deferred;
            if file.is_empty() {
                continue;
            }
            file.flush(spool)?;
            let new = File::create(spool)?;
            let file = std::mem::replace(file, new);
            let mut deferred = Deferred(Reading::new(file.number, 0..file.len));
            self.part.expand(&mut deferred, &mut self.home, &mut self.office, watch)?;
            self.office.spool.remove(file.number).map_err(unwritten)?;
        }
        Ok(())
    }
}

/// Explores everything reachable, nearest first, with more states than fit in memory.
pub fn breadth_first_on_disk<S, R, A, V>(
    seams: Seams<'_, S, R, A, V>,
    (disk, spool): (Disk, &mut dyn Spool),
    options: &mut Options<'_>,
) -> Report
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited + Default,
{
    let Seams { system, representative, ample, visited } = seams;
    let made = Owner::create(0, spool).and_then(|owner| Ok((owner, File::create(spool)?)));
    let (owner, steps) = match made {
        Ok(made) => made,
        Err(Stop::Incomplete(why)) => return Report::incomplete(why),
        Err(_) => return Report::new(),
    };
    let mut office = Office {
        spool,
        disk,
        most_states: options.limits.states,
        owners: Owners::default(),
        files: vec![owner],
        home: Some(0),
        found: 0,
        expanded: 0,
        first: 0,
        steps,
        places: Vec::new(),
        accepted: Vec::new(),
        accepted_from: 0,
        before: 0,
        batches: 0,
    };
    let mut first = BreadthFirst::new(Expander::new(system, representative, ample), &mut *visited, options);
    let mut watched = Watched::new(options);
    let ended = first.initial().and_then(|()| {
        first.run(&mut Level::default(), &mut watched, |search, level| {
            office.begin(search.parents.discovered() - level.len(), level)?;
            Ok(search.visited.len() >= disk.from)
        })
    });
    if ended != Ok(Ended::Left) {
        office.spool.ended(1);
        return first.report(ended.map(|_| ()));
    }
    let BreadthFirst { expander, visited, rules, spotted, parents, transitions, depth, .. } = first;
    office.found = parents.discovered();
    office.expanded = parents.expanded();
    (office.first, office.before) = (office.found, office.found);
    let mut part = Part::new(expander, rules);
    (part.spotted, part.transitions, part.depth) = (spotted, transitions, depth);
    let mut search = OnDisk { part, office, home: Some(Home::of(std::mem::take(visited))) };
    let ended = search.run(&mut watched);
    search.report(ended, &parents)
}

impl Office<'_> {
    /// Writes a level that was found in memory; its first state has this number.
    fn begin(&mut self, first: u64, level: &Level) -> Result<(), Stop> {
        let most = self.most_words();
        let Office { spool, files, .. } = self;
        let owner = &mut files[0];
        owner.level = owner.states.len;
        let mut number = first;
        level.each(|Known { state, .. }| {
            number += 1;
            owner.states.push([number - 1], state, (*spool, most))
        })?;
        owner.states.flush(*spool)?;
        owner.next = owner.states.len;
        Ok(())
    }
}

impl<S, R, A, V> OnDisk<'_, '_, S, R, A, V>
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited + Default,
{
    fn report(mut self, ended: Result<(), Stop>, parents: &Parents) -> Report {
        let office = &mut self.office;
        let mut part = self.part;
        let (stop, depth) = match ended {
            // The last level had nothing new: it is not counted.
            Ok(()) => (Stop::Complete, part.depth.saturating_sub(1)),
            Err(stop) => (stop.or_violation(part.rules.all, &part.spotted), part.depth),
        };
        let statistics = office.statistics(Statistics {
            transitions: part.transitions(),
            depth,
            store_bytes: self.home.as_ref().map_or(0, |home| home.store.bytes()),
            search_bytes: self.home.as_ref().map_or(0, Home::search_bytes),
            ..Statistics::default()
        });
        let spool = &mut *office.spool;
        let flushed = office.steps.flush(spool);
        let found = flushed.and_then(|()| {
            let path = &mut |_, number| office.path(parents, number);
            part.spotted.report(part.rules.all, path, &mut part.expander)
        });
        office.spool.ended(office.files.len());
        let (found, stop) = match found {
            Ok(found) => (found, stop),
            // Something is wrong with the model, but the way to it cannot be shown.
            Err(unread) => (Vec::new(), unread),
        };
        Report { stop, found, statistics, workers: 1 }
    }
}
