//! Going on with a search by levels where an earlier run was at the end of a level.
//!
//! The list of new states is what a breadth-first search waits for, so a search that writes the states of each level as it finds them has
//! written everything that another run needs: the states of all levels are the store, those of the last one wait. Beside them go what each worker has
//! written down of predecessors, what was found wrong, what was counted, and what the system needs to read its own states again (the
//! numbers of shapes). A *cut* is where a level is complete, for any number of workers; what a level's unfinished expansion has found is lost, and is found again.
//!
//! A level is written as records: for each worker that has found something, its states ([`STATES`]) and the rest ([`WORKER`]), then what all share
//! ([`LEVEL`]). Where they are kept is the [`Log`]'s business.

mod bytes;

pub(crate) use bytes::{Reader, Writer};

use std::convert::Infallible;

use quotient_seams::{Ample, Group, Incomplete, Known, Representative, System, Visited, Worker};

use crate::breadth_first::BreadthFirst;
use crate::level::Level;
use crate::parents::{Parents, Written};
use crate::spotted::Spotted;
use crate::{Statistics, Stop};

/// Makes a record ready to be added to a log.
pub(crate) type Pack = fn(&[u8]) -> Vec<u8>;

/// Where a search writes records, and reads those of an earlier run.
pub trait Log {
    /// Makes a record ready to be appended: packs it. Done by the worker that made it.
    fn pack(&self) -> fn(&[u8]) -> Vec<u8>;

    /// Adds a record that was packed.
    fn append(&mut self, packed: &[u8]) -> Result<(), String>;

    /// Whether it is time to write what was added.
    fn is_due(&self) -> bool;

    /// Everything added so far is enough to go on from; written at once if `now`, else when it is time or at the end, if nothing is added before.
    fn cut(&mut self, statistics: &Statistics, now: bool) -> Result<(), String>;

    /// The levels at whose ends an earlier run can be gone on from, by their depth.
    fn levels(&self) -> Vec<u64>;

    /// Goes on from the end of this level, not the last one; or begins anew.
    fn go_back(&mut self, level: Option<u64>) -> Result<(), String>;

    /// The next record of the earlier run, unpacked; `false` after those of its last cut, and in a new log.
    fn read(&mut self, record: &mut Vec<u8>) -> Result<bool, String>;
}

/// States that a worker found, in order.
const STATES: u8 = 1;
/// A worker's predecessors, counts and notes.
const WORKER: u8 = 2;
/// What all share, and the end of a level.
const LEVEL: u8 = 3;

/// Words of a record of states, about.
const RECORD: usize = 1 << 19;

/// How far a worker has written what it knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noted {
    parents: Written,
    transitions: u64,
    /// What system, representative and ample sets had counted.
    notes: [Vec<u8>; 3],
    /// Entries of what all share.
    shared: usize,
}

/// The state of a search that an earlier run was in.
#[derive(Debug, Default)]
pub(crate) struct Restored {
    /// The states that wait, by the worker that found them.
    pub(crate) levels: Vec<Level>,
    /// What each worker had written down.
    pub(crate) workers: Vec<Wrote>,
    transitions: u64,
    depth: u64,
    shared: usize,
}

/// What a worker of an earlier run had written down.
#[derive(Debug, Default)]
pub(crate) struct Wrote {
    pub(crate) parents: Parents,
    pub(crate) spotted: Spotted,
}

impl Restored {
    fn room_for(&mut self, worker: usize) -> Option<()> {
        // Far more than there are workers: not a record of ours.
        if worker > 1 << 16 {
            return None;
        }
        if self.levels.len() <= worker {
            self.levels.resize_with(worker + 1, Level::default);
            self.workers.resize_with(worker + 1, Wrote::default);
        }
        Some(())
    }
}

/// A log that cannot be written: the search stops with what it has.
pub(crate) fn unwritten(why: String) -> Stop {
    Stop::Incomplete(Incomplete::Stopped(format!("the checkpoint cannot be written: {why}")))
}

/// A log that cannot be read.
pub(crate) fn unread(why: String) -> Stop {
    Stop::Incomplete(Incomplete::Stopped(format!("the checkpoint cannot be read: {why}")))
}

impl<S, R, A, V> BreadthFirst<'_, S, R, A, V>
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited,
{
    /// The records of what this worker, by its number, has found for a level.
    pub(crate) fn records(&mut self, worker: usize, found: &Level, pack: Pack) -> Vec<Vec<u8>> {
        // Runs of states of the same length: words, count, states, each as what differs from the one before, which packs well.
        let (mut records, mut numbers, mut last, mut count_at) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let mut record = |numbers: &mut Vec<u64>| {
            let mut out = Writer::of(STATES);
            out.raw(numbers);
            records.push(pack(&out.0));
            numbers.clear();
        };
        let each = found.each(|Known { state, .. }| {
            if numbers.len() >= RECORD {
                record(&mut numbers);
            }
            if numbers.is_empty() {
                numbers.push(worker as u64);
                last.clear();
            }
            if state.len() == last.len() {
                numbers.extend(state.iter().zip(&last).map(|(word, last)| word ^ last));
            } else {
                numbers.extend([state.len() as u64, 0]);
                count_at = numbers.len() - 1;
                numbers.extend_from_slice(state);
            }
            numbers[count_at] += 1;
            last.clear();
            last.extend_from_slice(state);
            Ok::<(), Infallible>(())
        });
        let Ok(()) = each;
        if !numbers.is_empty() {
            record(&mut numbers);
        }
        let mut out = Writer::of(WORKER);
        out.number(worker as u64);
        let transitions = self.transitions();
        out.number(transitions - self.noted.transitions);
        self.noted.transitions = transitions;
        self.parents.write(&mut self.noted.parents, &mut out);
        self.spotted.write(&mut out);
        let expander = &self.expander;
        let notes = [expander.system.notes(), expander.representative.notes(), expander.ample.notes()];
        // Levels can be small and many, and most of them change nothing here.
        let changed = notes != self.noted.notes;
        out.number(u64::from(changed));
        if changed {
            notes.iter().for_each(|notes| out.bytes(notes));
            self.noted.notes = notes;
        }
        records.push(pack(&out.0));
        records
    }

    /// Ends a level in the log, after the records of all workers.
    pub(crate) fn cut(
        &mut self,
        log: &mut dyn Log,
        records: &[Vec<u8>],
        statistics: &Statistics,
    ) -> Result<(), Stop> {
        for record in records {
            log.append(record).map_err(unwritten)?;
        }
        let mut out = Writer::of(LEVEL);
        out.number(self.depth);
        let mut shared = Vec::new();
        self.noted.shared = self.expander.system.shared_since(self.noted.shared, &mut shared);
        out.numbers(shared.iter().map(|number| u64::from(*number)));
        log.append(&log.pack()(&out.0)).map_err(unwritten)?;
        let now = log.is_due();
        log.cut(statistics, now).map_err(unwritten)
    }

    /// Puts the search in the state that an earlier run has written; `None` if there was none.
    pub(crate) fn restore(&mut self, log: &mut dyn Log) -> Result<Option<Restored>, Stop> {
        let mut restored = Restored {
            levels: vec![Level::default()],
            workers: vec![Wrote::default()],
            ..Restored::default()
        };
        let (mut record, mut any, mut levels_read) = (Vec::new(), false, 0u64);
        // The first record of a level: what waited before does not any longer.
        let mut fresh = true;
        while log.read(&mut record).map_err(unread)? {
            if fresh {
                restored.levels.iter_mut().for_each(Level::clear);
                fresh = false;
            }
            any = true;
            let Some((&kind, rest)) = record.split_first() else { return Err(unread(FOREIGN.into())) };
            let mut from = Reader(rest);
            let read = match kind {
                STATES => self.restore_states(&mut from, &mut restored),
                WORKER => self.restore_worker(&mut from, &mut restored),
                LEVEL => {
                    (fresh, levels_read) = (true, levels_read + 1);
                    self.restore_level(&mut from, &mut restored)
                }
                _ => None,
            };
            if read.and_then(|()| from.end()).is_none() {
                return Err(unread(format!("level {levels_read} {FOREIGN}")));
            }
            if let Some(what) = self.visited.exhausted() {
                return Err(Stop::Incomplete(what.into()));
            }
        }
        if !any {
            return Ok(None);
        }
        for (level, Wrote { parents, .. }) in restored.levels.iter_mut().zip(&restored.workers) {
            level.first = parents.discovered() - level.len();
        }
        (self.depth, self.transitions) = (restored.depth, restored.transitions);
        self.noted = Noted { shared: restored.shared, transitions: self.transitions, ..Noted::default() };
        self.resume(restored.workers.first_mut().map(std::mem::take).unwrap_or_default());
        Ok(Some(restored))
    }

    /// Goes on as a worker that had written this down.
    pub(crate) fn resume(&mut self, Wrote { parents, spotted }: Wrote) {
        self.noted.parents = parents.written();
        (self.parents, self.spotted) = (parents, spotted);
    }

    fn restore_states(&mut self, from: &mut Reader<'_>, restored: &mut Restored) -> Option<()> {
        let worker = usize::try_from(from.number()?).ok()?;
        restored.room_for(worker)?;
        let level = &mut restored.levels[worker];
        while from.end().is_none() {
            let (words, mut left) = (usize::try_from(from.number()?).ok()?, from.number()?);
            let mut state = vec![0; words];
            while left > 0 {
                self.successors.clear();
                let count = left.min(128);
                for _ in 0..count {
                    for word in &mut state {
                        *word ^= from.number()?;
                    }
                    self.successors.push(&state);
                }
                left -= count;
                let count = count as usize;
                let group = Group { parent: Known { state: &[], hint: &[] }, first: 0, end: count };
                self.visited.insert_batch(&self.successors, count, &[group], &mut self.looked);
                // Each was new when it was written.
                if self.looked.new.len() != count {
                    return None;
                }
                level.push_new(&self.successors, &self.originals, &self.looked, &*self.visited);
                level.mark();
            }
        }
        self.successors.clear();
        Some(())
    }

    fn restore_worker(&mut self, from: &mut Reader<'_>, restored: &mut Restored) -> Option<()> {
        let worker = usize::try_from(from.number()?).ok()?;
        restored.room_for(worker)?;
        restored.transitions = restored.transitions.checked_add(from.number()?)?;
        restored.workers[worker].parents.read(from)?;
        restored.workers[worker].spotted = Spotted::read(from)?;
        if from.number()? == 0 {
            return Some(());
        }
        let expander = &mut self.expander;
        let known = expander.system.take_notes(from.bytes()?)
            && expander.representative.take_notes(from.bytes()?)
            && expander.ample.take_notes(from.bytes()?);
        known.then_some(())
    }

    fn restore_level(&mut self, from: &mut Reader<'_>, restored: &mut Restored) -> Option<()> {
        restored.depth = from.number()?;
        let shared: Vec<u32> = from.numbers()?.map(u32::try_from).collect::<Result<_, _>>().ok()?;
        if !self.expander.system.share_again(&shared) {
            return None;
        }
        restored.shared = self.expander.system.shared_since(usize::MAX, &mut Vec::new());
        Some(())
    }
}

pub(crate) const FOREIGN: &str = "was not written by a search of this program";
