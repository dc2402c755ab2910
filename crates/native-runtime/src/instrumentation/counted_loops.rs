//! Loops that only count (`for (i = 0; i < 20000000; i++);`) are made in one step.
//!
//! The checker finds them and says how often they go on (`native/counted_loops.rs`, where the argument is, and
//! `native/protocol/counted.rs`). Here the first instruction of each is replaced by a breakpoint. When it is met, the loop's variables, all in the frame
//! of the function, get what they have in its last round, and a copy of the instruction goes on with that round. A loop that is
//! short whenever it is met is left alone after a while, as the breakpoint costs more than it.

use super::unannounced::{BREAKPOINT, COPY, catch_breakpoints, copy_instruction, make_writable, map_near};
use crate::exploration::world::World;
use crate::protocol::{COUNTED, Counted, Hole, LOOPS, hole};

/// Rounds that cost as much as a breakpoint.
const WORTH: u64 = 1000;
/// How often running a loop may be shorter before it is left alone.
const PATIENCE: u8 = 100;

/// Where the copies of first instructions lie, and the program.
pub struct CountedLoops {
    copies: usize,
    base: usize,
    count: usize,
    /// How often each was not worth it since it last was.
    short: [u8; LOOPS],
}

impl Default for CountedLoops {
    fn default() -> CountedLoops {
        CountedLoops { copies: 0, base: 0, count: 0, short: [0; LOOPS] }
    }
}

impl World {
    /// Puts breakpoints before the loops that only count. Without one, a loop is executed as it is.
    pub fn watch_counted_loops(&mut self, base: usize) {
        // A debugger would stop at each of them.
        let count = if self.shared.trap != 0 { 0 } else { (self.shared.counted_length as usize).min(LOOPS) };
        if count == 0 {
            return;
        }
        let Some(copies) = map_near(base, (count * COPY).next_multiple_of(4096)) else { return };
        for number in 0..count {
            let counted = self.shared.counted[number];
            let address = base + counted.address as usize;
            // Its first instruction is not relative to where it is.
            let first = Hole { length: counted.length, base: hole::NONE, ..Hole::default() };
            // SAFETY: the program's code; its instruction as the checker has decoded it.
            unsafe {
                if !make_writable(address) {
                    break;
                }
                copy_instruction(&first, address, base, copies + number * COPY);
                *(address as *mut u8) = BREAKPOINT;
            }
            self.counted_loops.count = number + 1;
        }
        (self.counted_loops.copies, self.counted_loops.base) = (copies, base);
        catch_breakpoints();
    }

    /// If a loop that only counts begins where this breakpoint was met: makes all of its rounds but the last.
    pub(super) fn at_counted_loop(&mut self, registers: &mut [usize]) -> bool {
        const RBP: usize = 10;
        const RIP: usize = 16;
        let address = registers[RIP] - 1;
        let Some(wanted) = address.checked_sub(self.counted_loops.base) else { return false };
        let loops = &self.shared.counted[..self.counted_loops.count];
        let Ok(number) = loops.binary_search_by_key(&(wanted as u64), |counted| counted.address) else {
            return false;
        };
        let counted = loops[number];
        // SAFETY: the variables of the function whose code this is, which its instructions access in the same way.
        let rounds = unsafe { advance(&counted, registers[RBP]) };
        let copy = self.counted_loops.copies + number * COPY;
        let short = &mut self.counted_loops.short[number];
        // The last round meets the breakpoint, too.
        *short = if rounds < WORTH { *short + 1 } else { 0 };
        if *short == PATIENCE {
            // SAFETY: writable since the breakpoint was put there; the copy begins with the same byte.
            unsafe { *(address as *mut u8) = *(copy as *const u8) };
        }
        registers[RIP] = copy;
        true
    }
}

/// Makes all rounds but the last in the frame at `frame`, and says how many.
///
/// # Safety
/// It must be a frame of the loop's function.
unsafe fn advance(counted: &Counted, frame: usize) -> u64 {
    let address = |slot: usize| frame.wrapping_add_signed(counted.slots[slot].distance as isize);
    let read = |slot: usize| match counted.slots[slot].size {
        // SAFETY: a variable of the frame, by the caller.
        4 => i64::from(unsafe { (address(slot) as *const i32).read_unaligned() }),
        // SAFETY: likewise.
        _ => unsafe { (address(slot) as *const i64).read_unaligned() },
    };
    let limit = usize::from(counted.limit);
    let limit = if limit == COUNTED { 0 } else { read(limit) };
    let counter = read(usize::from(counted.counter)).wrapping_add(counted.counter_plus);
    let rounds = counted.rounds(counter, limit.wrapping_add(counted.limit_plus));
    for slot in (0..COUNTED).filter(|slot| counted.slots[*slot].size != 0) {
        let value = read(slot).wrapping_add(counted.slots[slot].step.wrapping_mul(rounds as i64));
        match counted.slots[slot].size {
            // SAFETY: as above.
            4 => unsafe { (address(slot) as *mut i32).write_unaligned(value as i32) },
            // SAFETY: as above.
            _ => unsafe { (address(slot) as *mut i64).write_unaligned(value) },
        }
    }
    rounds
}
