//! Variables of frames that are only reached through pointers: is what they hold ever read?
//!
//! A variable whose address was given away may be read by anybody who is called, so to liveness it is live wherever its function calls
//! something. Most such variables are results that are written before they are read, again and again, or are
//! never read, like the handle of a thread that nobody joins. What they hold in between tells threads apart that behave alike.
//!
//! Every read of such a variable through a pointer is announced by a hook or by the table of library functions
//! (`native/residual/scalars.rs` says which variables these are). So it is *found out* whether the variable is live: a place in the
//! program, with those of what it has called, and an offset in its frame are *stale* until, in some execution, a value is read that the variable already had when its thread stopped
//! at the place. Symmetry relies on what is stale; should a read show that it is not, the exploration starts again, and knows.
//!
//! That is sound: let exchanging `a` and `b` map a state to itself but for bytes that are stale there. What is left out for it are images of
//! executions that are made (or of their images). In these nobody reads the bytes before they are written; the images
//! read what these read, at the places of the exchanged threads, and a place and an offset are the same for all threads. So the bytes
//! are not read in the images either, and these run as if they were equal.

use std::collections::HashMap;

use crate::exploration::world::World;
use crate::memory::table::Table;

/// Bytes of a cell.
const CELL: usize = 4;

/// Where a frame and all that it has called, directly and indirectly, go on, as a hash ([`chain`]), and an offset from the frame pointer in cells.
type Slot = (usize, isize);

/// Adds a place to those of the frames that the frame there has called.
pub fn chain(called: usize, place: usize) -> usize {
    (called ^ place).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(1)
}

/// What is known of a slot.
#[derive(Clone, Copy, Default)]
struct Known {
    live: bool,
    relied_on: bool,
}

/// Where a thread stopped: a frame of the program.
#[derive(Clone, Copy)]
struct Stop {
    time: u32,
    place: usize,
    pointer: usize,
    /// Where its part of the stack begins.
    low: usize,
}

/// Per cell of a stack: when it was written as a whole, and up to when reads of it are known.
#[derive(Clone, Copy, Default)]
struct Times {
    written: u32,
    read: u32,
}

/// What is known of stale variables.
#[derive(Default)]
pub struct Stale {
    /// In all executions so far.
    slots: HashMap<Slot, Known>,
    /// Of the current execution: stops so far, and those of each thread.
    time: u32,
    stops: Vec<Vec<Stop>>,
    cells: Option<Table<Times>>,
    /// Something reads memory that no hook announces: nothing is relied on.
    distrusted: bool,
    /// Was anything relied on?
    relied: bool,
    /// How often what is known or relied on has changed.
    pub learnt: u64,
}

fn slot(place: usize, pointer: usize, address: usize) -> Slot {
    (place, (address as isize - pointer as isize).div_euclid(CELL as isize))
}

impl Stale {
    /// A new execution begins.
    pub fn restart(&mut self) {
        self.time = 0;
        self.stops.iter_mut().for_each(Vec::clear);
        if let Some(cells) = &mut self.cells {
            cells.clear();
        }
    }

    fn cells(&mut self) -> &mut Table<Times> {
        self.cells.get_or_insert_with(Table::new)
    }

    /// A thread stops: its frames, innermost first.
    pub fn stop(&mut self, thread: usize, frames: &[crate::symmetry::frames::Frame]) {
        self.time += 1;
        let time = self.time;
        if self.stops.len() <= thread {
            self.stops.resize_with(thread + 1, Vec::new);
        }
        let mut place = 0;
        let stops = frames.iter().map(|f| {
            place = chain(place, f.place);
            Stop { time, place, pointer: f.pointer, low: f.low }
        });
        self.stops[thread].extend(stops);
    }

    /// Bytes of the stack of thread `owner` are written.
    pub fn written(&mut self, address: usize, size: usize) {
        let time = self.time;
        // Of a cell that is written in part, the rest is as old as before.
        for cell in address.div_ceil(CELL)..(address + size) / CELL {
            self.cells().entry(cell).written = time;
        }
    }

    /// Bytes of the stack of thread `owner` are read through a pointer. Says whether that breaks what was relied on.
    pub fn read(&mut self, owner: usize, address: usize, size: usize) -> bool {
        let Stale { slots, time, stops, cells, learnt, .. } = self;
        let cells = cells.get_or_insert_with(Table::new);
        let Some(stops) = stops.get(owner) else { return false };
        let mut broken = false;
        for cell in address / CELL..(address + size).div_ceil(CELL) {
            let times = cells.entry(cell);
            let since = times.written.max(times.read);
            times.read = *time;
            let at = cell * CELL;
            for stop in stops.iter().rev().take_while(|stop| stop.time > since) {
                if (stop.low..stop.pointer + 16).contains(&at) {
                    let known = slots.entry(slot(stop.place, stop.pointer, at)).or_default();
                    broken |= known.relied_on && !known.live;
                    *learnt += u64::from(!std::mem::replace(&mut known.live, true));
                }
            }
        }
        broken
    }

    /// Memory is read that nobody knows of. Says whether that breaks what was relied on.
    pub fn distrust(&mut self) -> bool {
        let new = !std::mem::replace(&mut self.distrusted, true);
        self.learnt += u64::from(new);
        new && self.relied
    }

    /// Are these bytes of a frame never read, so far, from this place on? Then somebody relies on it.
    pub fn rely(&mut self, place: usize, pointer: usize, address: usize, size: usize) -> bool {
        let cells =
            || (address / CELL..(address + size).div_ceil(CELL)).map(|c| slot(place, pointer, c * CELL));
        if self.distrusted || cells().any(|slot| self.slots.get(&slot).is_some_and(|known| known.live)) {
            return false;
        }
        for slot in cells() {
            let known = self.slots.entry(slot).or_default();
            self.learnt += u64::from(!std::mem::replace(&mut known.relied_on, true));
        }
        self.relied = true;
        true
    }
}

impl World {
    /// The program accesses its memory in a way that is announced.
    #[inline]
    pub fn note_stale(&mut self, address: usize, size: usize, write: bool) {
        if self.own_handles.are_out() && size > 0 {
            self.note_own_handles(address, size, write);
        }
        if self.shared.symmetry == 2 && !write {
            self.note_kept_handles(address, size);
        }
        if self.shared.symmetry != 2 || size == 0 {
            return;
        }
        let Some(owner) = crate::threads::stack::owner(address) else { return };
        if write {
            self.stale.written(address, size);
        } else {
            self.grown |= self.stale.read(owner, address, size);
        }
    }

    /// A function is called of which nobody knows what it reads.
    pub fn distrust_stale(&mut self) {
        self.distrust_own_handles();
        self.distrust_kept_handles();
        if self.shared.symmetry == 2 {
            self.grown |= self.stale.distrust();
        }
    }
}

impl World {
    /// The program accesses memory in a way that is announced: is it somebody's `errno`? The C library leaves the number of the
    /// last error there in whoever had it last. It tells nothing apart until the program looks at it.
    pub fn note_errno(&mut self, address: usize, write: bool) {
        if self.shared.symmetry == 2
            && !write
            && let Some(owner) = crate::threads::stack::owner(address)
            && address.abs_diff(self.threads[owner].fs - self.errno_below) < 4
        {
            self.note_errno_read();
        }
    }

    /// `errno` is read, or may be.
    pub fn note_errno_read(&mut self) {
        if !std::mem::replace(&mut self.errno_read, true) {
            self.grown |= self.errno_relied_on && self.shared.symmetry == 2;
            self.learnt += 1;
        }
    }
}
