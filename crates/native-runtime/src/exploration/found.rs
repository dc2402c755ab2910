//! What a copy of the process has found, written to memory that it shares with its original: numbers, one after the other.

use std::collections::BTreeSet;

use quotient_stateless::ahead::{Found, Reported};
use quotient_stateless::{Bound, Choice, Ending, Schedule, Statistics, Violation};

use crate::exploration::world::world;
use crate::system::system_call::system_call;

/// Room for a message, in words.
pub const fn words() -> usize {
    1 << 20
}

/// The memory.
pub struct Message {
    address: usize,
}

const BOUNDS: [Bound; 6] =
    [Bound::Executions, Bound::Preemptions, Bound::Steps, Bound::Time, Bound::Stopped, Bound::LossySymmetry];
const ENDINGS: [Ending; 6] =
    [Ending::Finished, Ending::Deadlock, Ending::Assertion, Ending::Crash, Ending::Race, Ending::Infeasible];

/// Numbers that are read one after the other; there may be fewer than expected.
struct Reader<'a> {
    words: &'a [u64],
}

impl Reader<'_> {
    fn next(&mut self) -> Option<u64> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(*first)
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.next()?;
        (0..length).map(|_| item(self)).collect()
    }
}

impl Message {
    /// In a mapping of [`words`] words, zeroed.
    pub fn new(address: usize) -> Message {
        Message { address }
    }

    /// Gives the memory back.
    pub fn unmap(&self) {
        const MUNMAP: usize = 11;
        // SAFETY: mapped by whoever made this, and used by nobody after it.
        unsafe { system_call(MUNMAP, [self.address, words() * 8, 0, 0, 0, 0]) };
    }

    /// Writes what was found; says whether there was room.
    pub fn write(&self, found: &Found, outcomes: &BTreeSet<u64>) -> bool {
        let s = &found.statistics;
        let shared = &world().shared;
        let mut out = vec![
            s.executions,
            s.sleep_set_blocked,
            s.cut,
            s.racy,
            s.infeasible,
            s.steps,
            s.replayed,
            s.depth as u64,
            shared.filtered,
            u64::from(shared.leaked),
            u64::from(shared.waiting),
            u64::from(shared.met),
            shared.copies,
            shared.copies_lost,
            s.pruned_symmetric,
            s.images,
            s.symmetry_skipped,
            shared.symmetry_tests,
            shared.symmetry_found,
        ];
        out.push(
            found.bound.map_or(0, |bound| 1 + BOUNDS.iter().position(|b| *b == bound).unwrap_or(0) as u64),
        );
        match &found.violation {
            None => out.push(u64::MAX),
            Some(violation) => {
                out.push(ENDINGS.iter().position(|e| *e == violation.ending).unwrap_or(0) as u64);
                out.push(violation.schedule.choices.len() as u64);
                let choices = violation.schedule.choices.iter();
                out.extend(choices.map(|c| u64::from(c.thread) << 16 | u64::from(c.alternative)));
            }
        }
        out.push(found.reports.len() as u64);
        for report in &found.reports {
            out.extend([report.at as u64, report.steps.len() as u64]);
            out.extend(report.steps.iter().map(|&(thread, a)| u64::from(thread) << 16 | u64::from(a)));
        }
        out.push(outcomes.len() as u64);
        out.extend(outcomes);
        if out.len() >= words() {
            return false;
        }
        // SAFETY: the mapping is that large; the original reads it only after this process says so.
        unsafe {
            let to = self.address as *mut u64;
            to.write(out.len() as u64);
            to.add(1).copy_from_nonoverlapping(out.as_ptr(), out.len());
        }
        true
    }

    /// What was found, and the outcomes seen; adds the rest to the counters of the shared block.
    pub fn read(&self) -> Option<(Found, Vec<u64>)> {
        // SAFETY: the mapping is that large, and the writer has ended.
        let words = unsafe {
            let from = self.address as *const u64;
            let length = (*from as usize).min(words() - 1);
            std::slice::from_raw_parts(from.add(1), length)
        };
        let mut reader = Reader { words };
        let mut statistics = Statistics {
            executions: reader.next()?,
            sleep_set_blocked: reader.next()?,
            cut: reader.next()?,
            racy: reader.next()?,
            infeasible: reader.next()?,
            steps: reader.next()?,
            replayed: reader.next()?,
            depth: reader.next()? as usize,
            ..Statistics::default()
        };
        let shared = &mut world().shared;
        shared.filtered += reader.next()?;
        shared.leaked = shared.leaked.max(reader.next()? as u32);
        shared.waiting = shared.waiting.max(reader.next()? as u32);
        shared.met |= reader.next()? as u32;
        shared.copies += reader.next()?;
        shared.copies_lost += reader.next()?;
        statistics.pruned_symmetric = reader.next()?;
        statistics.images = reader.next()?;
        statistics.symmetry_skipped = reader.next()?;
        shared.symmetry_tests += reader.next()?;
        shared.symmetry_found += reader.next()?;
        let bound = (reader.next()? as usize).checked_sub(1).and_then(|b| BOUNDS.get(b).copied());
        let pair = |word: u64| ((word >> 16) as u8, word as u16);
        let violation = match ENDINGS.get(reader.next()? as usize) {
            None => None,
            Some(&ending) => {
                let choice = |(thread, alternative)| Choice { thread, alternative };
                let choices = reader.list(|r| r.next().map(pair).map(choice))?;
                Some(Violation { ending, schedule: Schedule { choices }, race: None })
            }
        };
        let reports = reader.list(|r| {
            let at = r.next()? as usize;
            Some(Reported { at, steps: r.list(|r| r.next().map(pair))? })
        })?;
        let outcomes = reader.list(Reader::next)?;
        Some((Found { statistics, bound, violation, reports }, outcomes))
    }
}
