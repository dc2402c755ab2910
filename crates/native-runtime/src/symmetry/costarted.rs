//! Threads that were started alike (symmetry class A): same creator, same routine, like arguments, in one go.
//!
//! Exchanging such threads maps runs of the program to runs, as long as nobody tells them apart. What tells them apart is
//! noticed when it happens: a thread asks for its own identity, is joined without its mates, or creates threads. Then the
//! threads concerned are no longer considered symmetric, in no execution, and the exploration starts again. Until then the
//! executions that were left out are mirror images of executions that were made, in which nothing of the kind happened.
//!
//! Arguments are alike if they are equal, or if they point to different memory of equal content (`&slot[i]`). Exchanging the
//! threads then exchanges that memory, too. If each begins a heap block of its own (what `malloc` has given, or `std::thread` keeps of its
//! function), that block belongs to it; else how much memory does is given by the distance to the next one,
//! and is known only after a first execution. It must be used by the thread itself alone once the thread exists: an access
//! by anybody else tells it apart, and so does a release.
//!
//! What is not noticed: a program that orders or hashes addresses of its threads' own stacks, heap blocks or arguments.

use crate::exploration::world::{Status, Thread, World};
use crate::memory::heap::{block_size, is_block};
use crate::protocol::{Op, THREADS, why};

/// The most memory that belongs to an argument.
pub const MOST: usize = 64;

/// Position of the argument in [`Thread::start`].
const ARGUMENT: usize = 3;

/// Were both started in the same way, but for the argument?
fn siblings(a: &Thread, b: &Thread) -> bool {
    let same = |i: usize| a.start[i] == b.start[i];
    (0..a.start.len()).all(|i| i == ARGUMENT || same(i))
}

impl World {
    /// Were these threads started alike, and does nobody treat them differently?
    pub fn costarted(&mut self, a: usize, b: usize) -> bool {
        if (self.told_apart >> a | self.told_apart >> b) & 1 != 0 || a == 0 || b == 0 {
            return false;
        }
        if !self.alike(a, b) {
            self.note_unlike(a, b, why::ARGUMENTS);
            return false;
        }
        let both_or_none = |set: u64| set >> a & 1 == set >> b & 1;
        let alike = self.threads.iter().all(|t| t.pending.op != Op::Join || both_or_none(t.pending.set));
        if alike {
            self.note_class(1 << a | 1 << b);
        } else {
            self.note_unlike(a, b, why::JOIN);
        }
        alike
    }

    fn alike(&self, a: usize, b: usize) -> bool {
        let (x, y) = (&self.threads[a], &self.threads[b]);
        if !siblings(x, y) {
            return false;
        }
        if x.start[ARGUMENT] == y.start[ARGUMENT] {
            return true;
        }
        let (extent, other) = match (self.extents[a], self.extents[b]) {
            (0, 0) => (x.block, y.block),
            known => known,
        };
        extent != 0 && extent == other && x.given[..extent] == y.given[..extent]
    }

    /// How many bytes belong to the argument of this thread.
    fn extent(&self, thread: usize) -> usize {
        match self.extents[thread] {
            0 => self.threads[thread].block,
            known => known,
        }
    }

    /// Takes note of what the argument of the new thread `number` points to.
    pub fn note_argument(&mut self, number: usize) {
        if self.shared.symmetry == 0 {
            return;
        }
        let argument = self.threads[number].start[ARGUMENT];
        let sizes = (1..=MOST).rev();
        let size = sizes
            .into_iter()
            .find(|size| self.is_memory(argument..argument.saturating_add(*size)))
            .unwrap_or(0);
        let thread = &mut self.threads[number];
        thread.given = [0; MOST];
        thread.given_size = size;
        // SAFETY: a live block.
        let block = if is_block(argument) { unsafe { block_size(argument) } } else { 0 };
        thread.block = if block <= size { block } else { 0 };
        if size > 0 {
            // SAFETY: memory of the program.
            thread.given[..size]
                .copy_from_slice(unsafe { std::slice::from_raw_parts(argument as *const u8, size) });
        }
        for other in (1..THREADS).filter(|&t| t != number) {
            let (x, y) = (&self.threads[number], &self.threads[other]);
            if y.status == Status::Unborn || !siblings(x, y) {
                continue;
            }
            let distance = x.start[ARGUMENT].abs_diff(y.start[ARGUMENT]);
            let own_blocks = x.block != 0 && y.block != 0;
            if distance == 0 || own_blocks || distance > x.given_size.min(y.given_size) {
                continue;
            }
            for t in [number, other] {
                if self.extents[t] == 0 || distance < self.extents[t] {
                    self.extents[t] = distance;
                    self.grown = true;
                }
            }
        }
    }

    /// An access of the running thread: does it go to memory that was given to another?
    pub fn note_use(&mut self, address: usize, size: usize) {
        for t in 1..self.named.min(THREADS) {
            let start = self.threads[t].start[ARGUMENT];
            let given = start..start + self.extent(t);
            if t != self.current
                && address < given.end
                && given.start < address + size
                && self.threads[t].status != Status::Unborn
            {
                self.break_symmetry(1 << t, why::MEMORY);
            }
        }
    }

    /// These threads can be told apart from others from now on.
    pub fn break_symmetry(&mut self, threads: u64, reason: u16) {
        if reason == why::IDENTITY {
            self.identified |= threads;
        }
        let new = threads & !self.told_apart;
        // Comparing states finds out about everything else itself, where it matters.
        let of_interest = match self.shared.symmetry {
            0 => false,
            1 => true,
            _ => reason == why::IDENTITY,
        };
        if !of_interest || new == 0 {
            return;
        }
        self.told_apart |= threads;
        (0..self.threads.len()).filter(|t| new >> t & 1 != 0).for_each(|t| self.note_unlike(t, t, reason));
        self.grown = true;
    }

    /// A set of threads is joined: all that were started alike must be in it, or none.
    pub fn note_join(&mut self, set: u64) {
        if self.shared.symmetry == 0 {
            return;
        }
        for a in (1..self.threads.len()).filter(|a| set >> a & 1 != 0) {
            for b in (1..self.threads.len()).filter(|b| set >> b & 1 == 0) {
                if self.threads[b].status != Status::Unborn && self.alike(a, b) {
                    self.break_symmetry(1 << a | 1 << b, why::JOIN);
                }
            }
        }
    }
}
