//! Outcomes of executions: what is printed, with which status the program ends, and what it says to be observed.
//!
//! Orders of independent prints are not explored, so an outcome has the lines that were printed, not their order. With
//! symmetry the executions that are left out are images of explored ones under an exchange of threads. What these print is the
//! same: a program that prints who a thread is has told the threads apart by then. So sets of outcomes with and
//! without symmetry can be compared, which is what this is for, beside the question what a program can print at all.
//!
//! The output is that of the C library's streams and of `write`: it goes to the file that shows it in traces, is completed
//! when the execution has ended, read, and emptied before the next one.

use crate::exploration::world::{World, world};
use crate::protocol::Shared;
use crate::real;
use crate::system::system_call::{number, system_call};

/// `records_wanted`: every schedule.
const ALL: u32 = 1;
/// `records_wanted`: the first execution with each outcome, and what it printed.
const DISTINCT: u32 = 2;
/// The most bytes of an output that are told.
const SHOWN: usize = 1 << 14;

/// Writes out what the program has printed but the C library still holds.
pub fn flush_output() {
    // SAFETY: all streams. Nothing of the program runs any more.
    unsafe { real!("fflush", fn(usize) -> i32)(0) };
}

fn hash_of(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

impl World {
    /// Are outcomes to be told?
    pub fn wants_outcomes(&self) -> bool {
        self.shared.records_wanted == DISTINCT
    }

    /// What the execution that has ended has printed.
    fn printed(&self) -> Vec<u8> {
        let (mut out, mut piece) = (Vec::new(), [0u8; 4096]);
        loop {
            let to = piece.as_mut_ptr() as usize;
            let wanted = [self.shared.output as usize, to, piece.len(), out.len(), 0, 0];
            // SAFETY: room for what is read; the position of the file stays.
            let length = unsafe { system_call(number::PREAD, wanted) };
            let Some(read) = usize::try_from(length).ok().filter(|read| *read > 0) else { return out };
            out.extend_from_slice(&piece[..read]);
        }
    }

    /// Hash of what the execution that has ended has printed, in any order of its lines, and of its status.
    pub fn outcome_hash(&self) -> u64 {
        let printed = self.printed();
        let lines = printed.split(|byte| *byte == b'\n').map(hash_of);
        lines.fold(hash_of(&self.shared.exit_status.to_le_bytes()), u64::wrapping_add)
    }
}

/// Keeps what was asked for of the execution that has just ended; `new`: no other with this outcome was kept.
pub fn keep(code: u64, new: bool) {
    let w = world();
    match w.shared.records_wanted {
        ALL => drop(record(world().shared, code)),
        DISTINCT if new => {
            let mut printed = w.printed();
            printed.truncate(SHOWN);
            let shared = &mut world().shared;
            if record(shared, code).is_some() {
                let mut words = vec![u64::from(shared.exit_status), printed.len() as u64];
                let word =
                    |piece: &[u8]| piece.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
                words.extend(printed.chunks(8).map(word));
                append(shared, &words);
            }
        }
        _ => {}
    }
}

/// Appends to the records; what has no room shows itself by their length.
fn append(shared: &mut Shared, words: &[u64]) -> Option<()> {
    let start = shared.records_length as usize;
    shared.records_length = (start + words.len()) as u64;
    let room = shared.records.get_mut(start..start + words.len())?;
    room.copy_from_slice(words);
    Some(())
}

/// Keeps the schedule.
fn record(shared: &mut Shared, code: u64) -> Option<()> {
    let length = shared.schedule_length as usize;
    append(shared, &[code, length as u64])?;
    let start = shared.records_length as usize;
    shared.records_length += length as u64;
    let room = shared.records.get_mut(start..start + length)?;
    for (word, choice) in room.iter_mut().zip(&shared.schedule[..length]) {
        *word = u64::from(choice.thread) << 16 | u64::from(choice.alternative);
    }
    Some(())
}
