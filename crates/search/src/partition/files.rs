//! The files of owners on disk: rows that are added at the end and read from the front.

use quotient_seams::Incomplete;

use super::disk::Spool;
use super::rows::{Block, Rows};
use crate::Stop;

pub(super) fn unwritten(why: String) -> Stop {
    Stop::Incomplete(Incomplete::Stopped(format!("the disk cannot be used: {why}")))
}

pub(super) fn foreign() -> Stop {
    unwritten("a record is not what was written".into())
}

/// A file that rows are added to.
#[derive(Debug)]
pub(super) struct File {
    pub(super) number: u32,
    pub(super) rows: Rows,
    /// Behind its last record.
    pub(super) len: u64,
}

impl File {
    pub(super) fn create(spool: &mut dyn Spool) -> Result<File, Stop> {
        Ok(File { number: spool.create().map_err(unwritten)?, rows: Rows::default(), len: 0 })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0 && self.rows.len() == 0
    }

    /// Writes the rows that wait.
    pub(super) fn flush(&mut self, spool: &mut dyn Spool) -> Result<(), Stop> {
        if self.rows.len() > 0 {
            let mut record = Vec::new();
            self.rows.take(&mut record);
            self.len = spool.append(self.number, &record).map_err(unwritten)?;
        }
        Ok(())
    }

    pub(super) fn push<const N: usize>(
        &mut self,
        numbers: [u64; N],
        state: &[u64],
        (spool, most): (&mut dyn Spool, usize),
    ) -> Result<(), Stop> {
        self.rows.push(numbers, state);
        if self.rows.len() >= most { self.flush(spool) } else { Ok(()) }
    }
}

/// Where reading has come to in a file.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) file: u32,
    /// Behind the record that is being read, and where to end.
    pub(super) place: u64,
    pub(super) end: u64,
    pub(super) block: Block,
    pub(super) record: Vec<u8>,
}

impl Reading {
    pub(super) fn new(file: u32, places: std::ops::Range<u64>) -> Reading {
        Reading { file, place: places.start, end: places.end, ..Reading::default() }
    }

    /// The next row: its numbers; its state is written to `state`.
    pub(super) fn next<const N: usize>(
        &mut self,
        spool: &mut dyn Spool,
        state: &mut Vec<u64>,
    ) -> Result<Option<[u64; N]>, Stop> {
        loop {
            match self.block.next::<N>() {
                Err(()) => return Err(foreign()),
                Ok(Some((numbers, words))) => {
                    state.clear();
                    state.extend_from_slice(words);
                    return Ok(Some(*numbers));
                }
                Ok(None) if self.place >= self.end => return Ok(None),
                Ok(None) => {
                    self.place = spool.read(self.file, self.place, &mut self.record).map_err(unwritten)?;
                    self.block.read(&self.record);
                }
            }
        }
    }
}

/// An owner's files.
#[derive(Debug)]
pub(super) struct Owner {
    /// Bits of the hash that decide on it.
    pub(super) depth: u32,
    /// All its states, each with its number; where those of this level and of the next begin.
    pub(super) states: File,
    pub(super) level: u64,
    pub(super) next: u64,
    /// Letters for this level, and for the next one.
    pub(super) now: File,
    pub(super) later: File,
    /// Expansions that wait for answers.
    pub(super) deferred: File,
    /// Its store was too large: it must be divided.
    pub(super) is_crowded: bool,
}

impl Owner {
    pub(super) fn create(depth: u32, spool: &mut dyn Spool) -> Result<Owner, Stop> {
        Ok(Owner {
            depth,
            states: File::create(spool)?,
            level: 0,
            next: 0,
            now: File::create(spool)?,
            later: File::create(spool)?,
            deferred: File::create(spool)?,
            is_crowded: false,
        })
    }

    pub(super) fn flush(&mut self, spool: &mut dyn Spool) -> Result<(), Stop> {
        let files = [&mut self.states, &mut self.now, &mut self.later, &mut self.deferred];
        files.into_iter().try_for_each(|file| file.flush(spool))
    }
}
