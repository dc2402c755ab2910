//! Threads that were started alike (symmetry class A): same creator, same routine, same argument, in one go.
//!
//! Exchanging such threads maps runs of the program to runs, as long as nobody tells them apart. What tells them apart is
//! noticed when it happens: a thread asks for its own identity, is joined without its mates, or creates threads. Then the
//! threads concerned are no longer considered symmetric, in no execution, and the exploration starts again. Until then the
//! executions that were left out are mirror images of executions that were made, in which nothing of the kind happened.
//!
//! What is not noticed: a program that orders or hashes addresses of its threads' own stacks or heap blocks.

use crate::protocol::{Op, why};
use crate::world::World;

impl World {
    /// Were these threads started alike, and does nobody treat them differently?
    pub fn costarted(&mut self, a: usize, b: usize) -> bool {
        if (self.told_apart >> a | self.told_apart >> b) & 1 != 0 {
            return false;
        }
        if a == 0 || b == 0 || !self.alike(a, b) {
            self.asymmetric |= if a != 0 && b != 0 { why::ARGUMENTS } else { 0 };
            return false;
        }
        let both_or_none = |set: u64| set >> a & 1 == set >> b & 1;
        self.threads.iter().all(|t| t.pending.op != Op::Join || both_or_none(t.pending.set))
    }

    fn alike(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.threads[a], &self.threads[b]);
        a.start == b.start
    }

    /// These threads can be told apart from others from now on.
    pub fn break_symmetry(&mut self, threads: u64, reason: u32) {
        let new = threads & !self.told_apart;
        if self.shared.symmetry == 0 || new == 0 {
            return;
        }
        self.told_apart |= threads;
        self.asymmetric |= reason;
        self.shared.asymmetric = self.asymmetric;
        self.grown = true;
    }

    /// A set of threads is joined: all that were started alike must be in it, or none.
    pub fn note_join(&mut self, set: u64) {
        for a in (1..self.threads.len()).filter(|a| set >> a & 1 != 0) {
            for b in (1..self.threads.len()).filter(|b| set >> b & 1 == 0) {
                let exists = self.threads[b].status != crate::world::Status::Unborn;
                if exists && self.alike(a, b) {
                    self.break_symmetry(1 << a | 1 << b, why::JOIN);
                }
            }
        }
    }
}
