//! Memory that is only ever accessed under a lock: it cannot be part of a data race.
//!
//! The lockset discipline of Savage, Burrows, Nelson, Sobalvarro and Anderson ("Eraser", 1997): per four bytes, the locks that
//! every access so far, in all executions, was made under. Two accesses under one mutex are ordered by it, so as long as
//! one lock is left there is no race on these bytes, whichever thread made the last access. Loops that wait rely on this, and dynamic symmetry
//! does: without it two threads could never be exchanged after one of them was the last to change a counter.
//!
//! What is relied on must hold for executions that are *not* made as well. These are mirror images of executions that are made, and in
//! an image the same accesses are made under the same locks, provided that neither the memory nor the lock is
//! exchanged together with threads: only memory that belongs to no thread but the main one counts, and only such locks.
//! Should an access break what was relied on, the exploration starts again.
//!
//! An access of a thread that is *alone* needs no lock: all others have not been created, or have ended and happen before it. That, too,
//! is the same in an image.

use crate::exploration::world::{Status, World};
use crate::memory::heap;
use crate::protocol::THREADS;

/// The most locks that are kept per part of memory.
const MOST: usize = 2;
/// Bytes of a part: variables that share eight bytes may have locks of their own.
const PART: usize = 4;

/// Four bytes of memory.
#[derive(Clone, Copy, Default)]
pub struct Guard {
    accessed: bool,
    relied_on: bool,
    /// Addresses of locks; 0: none.
    locks: [usize; MOST],
}

impl Guard {
    /// The locks left after an access under `held`.
    fn after(&self, held: &[usize]) -> [usize; MOST] {
        let mut locks = [0; MOST];
        let kept = held.iter().filter(|lock| !self.accessed || self.locks.contains(lock));
        locks.iter_mut().zip(kept).for_each(|(place, lock)| *place = *lock);
        locks
    }
}

impl World {
    /// Is memory at this address the same for every exchange of threads?
    pub fn belongs_to_no_worker(&self, address: usize) -> bool {
        if heap::contains(address) {
            return address < heap::BASE + heap::ARENA;
        }
        !self.threads[1..].iter().any(|t| t.stack.contains(&address))
    }

    /// The running thread has taken a lock.
    pub fn note_taken(&mut self, number: u32) {
        self.me().held.push(number);
    }

    /// The running thread gives it back.
    pub fn note_given(&mut self, number: u32) {
        let held = &mut self.me().held;
        if let Some(at) = held.iter().rposition(|n| *n == number) {
            held.remove(at);
        }
    }

    /// A lock is gone while somebody has it: what it orders is not known any more, so no lock is relied on.
    pub fn distrust_guards(&mut self) {
        if !self.races.guards_distrusted {
            self.races.guards_distrusted = true;
            self.races.learnt += 1;
            self.grown |= self.shared.symmetry == 2 || self.loops.notes_changes;
        }
    }

    /// Have these bytes of eight only been accessed under some lock so far? Then somebody relies on it.
    pub fn rely_on_guard(&mut self, granule: usize, bytes: u8) -> bool {
        if self.races.guards_distrusted || !self.belongs_to_no_worker(granule * 8) {
            return false;
        }
        (0..8 / PART).filter(|half| bytes >> (half * PART) & 0xf != 0).all(|half| {
            let guard = self.races.guards.entry(granule * 8 / PART + half);
            let guarded = guard.accessed && guard.locks[0] != 0;
            let new = guarded && !guard.relied_on;
            guard.relied_on |= guarded;
            self.races.learnt += u64::from(new);
            guarded
        })
    }

    /// Takes note of the locks under which the running thread accesses memory.
    pub fn note_guard(&mut self, address: usize, size: usize) {
        let me = self.current;
        if self.threads[me].owed != 0 {
            // Joins are still owed, so nobody else accesses this, or it will be found out (`World::is_foreign`).
            return;
        }
        let mut held = [0; MOST];
        let mut count = 0;
        for k in 0..self.threads[me].held.len() {
            let number = self.threads[me].held[k];
            let lock = self.objects.address(number);
            if count < MOST && self.objects.state(number).owner == me as u8 && self.belongs_to_no_worker(lock)
            {
                held[count] = lock;
                count += 1;
            }
        }
        let mut alone = None;
        for part in (address / PART)..=((address + size.max(1) - 1) / PART) {
            let guard = *self.races.guards.entry(part);
            let locks = guard.after(&held[..count]);
            if guard.accessed && locks == guard.locks {
                continue;
            }
            if *alone.get_or_insert_with(|| self.is_alone()) {
                continue;
            }
            self.grown |= guard.relied_on && locks[0] == 0;
            *self.races.guards.entry(part) = Guard { accessed: true, locks, ..guard };
            self.races.learnt += 1;
        }
    }

    /// Have all other threads not been created yet, or ended before what the running thread does now?
    pub fn is_alone(&self) -> bool {
        let clock = &self.threads[self.current].clock;
        (0..THREADS).filter(|t| *t != self.current).all(|t| match self.threads[t].status {
            Status::Unborn => true,
            Status::Finished => clock[t] >= self.threads[t].clock[t],
            _ => false,
        })
    }
}
