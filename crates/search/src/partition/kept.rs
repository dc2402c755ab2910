//! What a search by several processes writes, so that all of them can go on from the end of a level ([`crate::restart`]).
//!
//! Each process has a log of its own: the states that it owns, with the steps to them, level by level; what was given to it by the first process when that had begun alone; and
//! at the end of each level what it has counted and seen go wrong. The first process also writes the predecessors of what it found alone, and the numbers of shapes,
//! which it gives out for all.
//!
//! Why what is read again is consistent. A level ends when all know that all letters of it were taken and answered, so what the logs have at the end of the same level is what all had then. The first process
//! says at which ends logs can be gone on from, so that all have the same ones; who is killed has less than the others, and a log may be damaged. So all tell the first process which levels they have,
//! and go on from the last one that everybody has; what their logs have after it is cut off, and is found again. The number of a shape is asked for before a state with it is sent or stored, hence the first process
//! has written it by the end of the level. Nobody asks for numbers before the first process has read them: expansion begins when it says so.

use std::collections::VecDeque;

use quotient_seams::{Ample, Representative, System, Visited, Worker};

use super::machines::{Peers, Process};
use super::owner::Deciding;
use super::part::Home;
use super::rows::{Block, Rows};
use super::town::*;
use crate::monitor::Watch;
use crate::parents::{Parents, Written};
use crate::restart::{FOREIGN, Log, Reader, Writer, unread, unwritten};
use crate::spotted::Spotted;
use crate::{Statistics, Stop};

/// States that were given, as they came.
const GIVEN_STATES: u8 = 1;
/// States that were found, with the steps to them.
const FOUND: u8 = 2;
/// Predecessors of what the first process found alone.
const ALONE: u8 = 3;
/// The end of a level: what was counted, what is wrong, what all share.
const LEVEL: u8 = 4;

/// Words of a record of states, about.
const RECORD: usize = 1 << 18;

/// How all begin.
#[derive(Debug, Default)]
pub(super) struct Begins {
    /// The level at whose end all go on, if an earlier run had come to one.
    pub(super) from: Option<u64>,
    /// What others have sent already.
    pub(super) held: VecDeque<(usize, Vec<u8>)>,
}

/// Has all go on from the same level.
pub(super) fn agree(
    peers: &mut dyn Peers,
    log: &mut dyn Log,
    watch: &mut impl Watch,
) -> Result<Begins, Stop> {
    let (count, me) = peers.places();
    let mut levels = log.levels();
    let mut begins = Begins::default();
    let message = |kind: u8, levels: &[u64]| {
        let mut out = Writer::of(kind);
        out.numbers(levels.iter().copied());
        out.0
    };
    if me > 0 {
        peers.send(0, message(HAVE, &levels)).map_err(lost)?;
    }
    let mut left = if me == 0 { count - 1 } else { 1 };
    while left > 0 {
        let Some((from, message)) = peers.receive(TURN).map_err(lost)? else {
            if watch.due()
                && let Some(stop) = watch.check(&mut Statistics::default)
            {
                return Err(stop);
            }
            continue;
        };
        match message.split_first() {
            Some((&kind, rest)) if kind == if me == 0 { HAVE } else { FROM } => {
                let theirs = Reader(rest).numbers().ok_or_else(|| foreign(from))?;
                let theirs: Vec<u64> = theirs.collect();
                levels.retain(|level| theirs.contains(level));
                left -= 1;
            }
            _ => begins.held.push_back((from, message)),
        }
    }
    begins.from = levels.last().copied();
    if me == 0 {
        let from = begins.from;
        (1..count).try_for_each(|peer| peers.send(peer, message(FROM, from.as_slice()))).map_err(lost)?;
    }
    log.go_back(begins.from).map_err(unread)?;
    Ok(begins)
}

/// What is written, and how much of it was.
pub(super) struct Kept<'l> {
    log: &'l mut dyn Log,
    /// What system, representative and ample sets had counted.
    notes: [Vec<u8>; 3],
    /// Entries of what all share.
    shared: usize,
}

impl<'l> Kept<'l> {
    pub(super) fn new(log: &'l mut dyn Log) -> Kept<'l> {
        Kept { log, notes: Default::default(), shared: 0 }
    }

    /// Whether it is time to write again.
    pub(super) fn is_due(&self) -> bool {
        self.log.is_due()
    }

    fn append(&mut self, record: &[u8]) -> Result<(), Stop> {
        let packed = self.log.pack()(record);
        self.log.append(&packed).map_err(unwritten)
    }

    /// Writes states that were given to this process.
    pub(super) fn given(&mut self, block: &[u8]) -> Result<(), Stop> {
        self.append(&[&[GIVEN_STATES], block].concat())
    }

    /// Writes states that the first process keeps, when there are so many words of them.
    pub(super) fn rows(&mut self, rows: &mut Rows, from: usize) -> Result<(), Stop> {
        if rows.len() < from {
            return Ok(());
        }
        let mut record = vec![GIVEN_STATES];
        rows.take_short(&mut record);
        self.append(&record)
    }

    /// Writes the predecessors of what the first process found alone.
    pub(super) fn parents(&mut self, parents: &Parents) -> Result<(), Stop> {
        let mut out = Writer::of(ALONE);
        parents.write(&mut Written::default(), &mut out);
        self.append(&out.0)
    }
}

impl<S, R, A, V> Process<'_, '_, S, R, A, V>
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited + Default,
{
    /// Writes what this process has found in the level that has ended; all can go on from there if `now`.
    pub(super) fn write_level(&mut self, now: bool) -> Result<(), Stop> {
        let Some(kept) = &mut self.kept else { return Ok(()) };
        let town = &self.town;
        // Those that were given were written when they came.
        let first = town.from.len() - town.next.len() as usize;
        let mut steps = town.from[first..].iter().zip(&town.choices[first..]);
        let (mut rows, mut at) = (Rows::default(), 0);
        while let (Some((known, after)), Some((from, choice))) = (town.next.at(at), steps.next()) {
            at = after;
            if *choice != SAME {
                rows.push([*from, u64::from(*choice)], known.state);
            }
            if rows.len() >= RECORD || rows.len() > 0 && town.next.at(at).is_none() {
                let mut record = vec![FOUND];
                rows.take_short(&mut record);
                kept.append(&record)?;
            }
        }
        let mut out = Writer::of(LEVEL);
        out.number(self.part.depth);
        out.number(self.part.transitions());
        out.number(town.expanded);
        out.numbers(town.deciding.masks().iter().copied());
        self.part.spotted.write(&mut out);
        let expander = &self.part.expander;
        let notes = [expander.system.notes(), expander.representative.notes(), expander.ample.notes()];
        let changed = notes != kept.notes;
        out.number(u64::from(changed));
        if changed {
            notes.iter().for_each(|notes| out.bytes(notes));
            kept.notes = notes;
        }
        let mut shared = Vec::new();
        if town.me == 0 {
            kept.shared = expander.system.shared_since(kept.shared, &mut shared);
        }
        out.numbers(shared.iter().map(|number| u64::from(*number)));
        kept.append(&out.0)?;
        let statistics = Statistics {
            states: town.base + town.states(),
            transitions: self.part.transitions(),
            expanded: town.expanded,
            depth: self.part.depth,
            waiting: town.next.len(),
            ..Statistics::default()
        };
        kept.log.cut(&statistics, now).map_err(unwritten)
    }

    /// Puts this process in the state that an earlier run has written.
    pub(super) fn restore(&mut self, parents: &mut Parents) -> Result<(), Stop> {
        let Some(mut kept) = self.kept.take() else { return Ok(()) };
        // The store of a search that has not begun.
        self.home.get_or_insert_with(|| Home::of(V::default()));
        let (mut record, mut fresh, mut levels) = (Vec::new(), false, 0u64);
        while kept.log.read(&mut record).map_err(unread)? {
            if std::mem::take(&mut fresh) {
                self.town.next.clear();
            }
            let Some((&kind, rest)) = record.split_first() else { return Err(unread(FOREIGN.into())) };
            let mut from = Reader(rest);
            let read = match kind {
                GIVEN_STATES => self.given(self.town.me, rest).ok(),
                FOUND => self.restore_states(rest),
                ALONE => parents.read(&mut from).and_then(|()| from.end()),
                LEVEL => {
                    (fresh, levels) = (true, levels + 1);
                    self.restore_level(&mut from, &mut kept).and_then(|()| from.end())
                }
                _ => None,
            };
            if read.is_none() {
                return Err(unread(format!("level {levels} {FOREIGN}")));
            }
            if kind == ALONE {
                self.town.base = parents.discovered();
            }
            if let Some(what) = self.home.as_ref().and_then(|home| home.store.exhausted()) {
                return Err(Stop::Incomplete(what.into()));
            }
        }
        let expander = &mut self.part.expander;
        let [system, representative, ample] = &kept.notes;
        let known = expander.system.take_notes(system)
            && expander.representative.take_notes(representative)
            && expander.ample.take_notes(ample);
        self.kept = Some(kept);
        if known { Ok(()) } else { Err(unread(format!("what was counted {FOREIGN}"))) }
    }

    fn restore_states(&mut self, rows: &[u8]) -> Option<()> {
        let mut block = Block::default();
        block.read_short(rows)?;
        let home = self.home.as_mut()?;
        while let Some(([from, choice], state)) = block.next().ok()? {
            // Each was new when it was written.
            if state.is_empty() || !home.insert(state) {
                return None;
            }
            self.town.add(*from, u32::try_from(*choice).ok()?, state);
        }
        Some(())
    }

    fn restore_level(&mut self, from: &mut Reader<'_>, kept: &mut Kept<'_>) -> Option<()> {
        self.part.depth = from.number()?;
        self.part.transitions = from.number()?;
        self.town.expanded = from.number()?;
        self.town.deciding = Deciding::of_masks(from.numbers()?.collect());
        self.part.spotted = Spotted::read(from)?;
        if from.number()? != 0 {
            for notes in &mut kept.notes {
                *notes = from.bytes()?.to_vec();
            }
        }
        let shared: Vec<u32> = from.numbers()?.map(u32::try_from).collect::<Result<_, _>>().ok()?;
        if self.town.me == 0 {
            let system = &mut self.part.expander.system;
            if !system.share_again(&shared) {
                return None;
            }
            kept.shared = system.shared_since(usize::MAX, &mut Vec::new());
        }
        Some(())
    }
}
