//! Mappings that libraries make for themselves, inside of calls, where nobody sees them.
//!
//! After an execution all memory is as it was at the start, so no library knows of a mapping that it made since: what is left is
//! garbage. It is taken away now and then, long before the kernel's limit is reached; past that, later executions would be of
//! a program whose calls fail. What cannot be taken away ends the exploration.

use std::ops::Range;

use crate::exploration::world::World;
use crate::protocol::FailureKind;
use crate::system::system_call::{number, system_call};

/// Executions between two looks: each may leave a few mappings, and the kernel allows tens of thousands.
const INTERVAL: u64 = 256;
/// More than this many are a reason to give up.
const MOST: usize = 20_000;

/// What was there at the start.
#[derive(Default)]
pub struct ForeignMappings {
    at_start: Vec<Range<usize>>,
    /// The size of the address space when there was nothing to take away.
    size: usize,
}

/// Pages of the address space. A mapping that is left makes it larger; the list of all mappings takes the kernel a hundred
/// times as long.
fn size() -> usize {
    let mut text = [0u8; 32];
    // SAFETY: a terminated path; room for so many bytes; the descriptor is ours.
    let length = unsafe {
        let opened =
            system_call(number::OPEN, [c"/proc/self/statm".as_ptr() as usize, 0o2_000_000, 0, 0, 0, 0]);
        if opened < 0 {
            return 0;
        }
        let length =
            system_call(number::READ, [opened as usize, text.as_mut_ptr() as usize, text.len(), 0, 0, 0]);
        system_call(number::CLOSE, [opened as usize, 0, 0, 0, 0, 0]);
        length.max(0) as usize
    };
    let digits = text[..length].iter().take_while(|b| b.is_ascii_digit());
    digits.fold(0, |size, digit| size * 10 + usize::from(digit - b'0'))
}

/// All mappings, but for those that the kernel makes itself (stack, `brk`, vdso), and those that processes write to together:
/// only the exploration has such.
fn mappings() -> Vec<Range<usize>> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let parse = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let range = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
        (!rest.ends_with(']') && !rest.starts_with("rw-s")).then_some(range)
    };
    maps.lines().filter_map(parse).collect()
}

/// The parts of `range` that are in none of `others`, which are sorted.
fn rest(range: &Range<usize>, others: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    for other in others.iter().filter(|o| o.start < range.end && o.end > range.start) {
        if other.start > start {
            parts.push(start..other.start);
        }
        start = start.max(other.end);
    }
    if start < range.end {
        parts.push(start..range.end);
    }
    parts
}

impl World {
    /// Called before every execution, when memory is as it was at the start and the program's own mappings are gone.
    pub fn take_back_mappings(&mut self) {
        // The first executions show what the runtime itself maps when it is first needed.
        const FIRST: u64 = 4;
        if self.restarts_made == FIRST {
            self.foreign_mappings.at_start = mappings();
        }
        if self.restarts_made <= FIRST || !self.restarts_made.is_multiple_of(INTERVAL) {
            return;
        }
        if size() == self.foreign_mappings.size {
            return;
        }
        let now = mappings();
        for range in now.iter().flat_map(|range| rest(range, &self.foreign_mappings.at_start)) {
            const MUNMAP: usize = 11;
            // SAFETY: made since the start, and all who could know of it have been put back to the start.
            unsafe { system_call(MUNMAP, [range.start, range.len(), 0, 0, 0, 0]) };
        }
        // The size is unknown: next time, look at all mappings again.
        self.foreign_mappings.size = match size() {
            0 => usize::MAX,
            size => size,
        };
        if now.len() > MOST {
            self.shared.stop = 1;
            let text = format!("libraries have made {} mappings that cannot be taken back", now.len());
            self.record_failure(
                FailureKind::Refused,
                &text,
                crate::exploration::world::NOWHERE,
                crate::exploration::world::NOWHERE,
            );
        }
    }
}
