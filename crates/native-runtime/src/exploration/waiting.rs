//! Who waits for whom, when the program ends.
//!
//! A thread that still waits when the program exits is ended with it: that is how worker threads are often left, and only a
//! note in the report. Threads that wait for each other in a circle are a deadlock all the same: none of them could ever
//! have gone on, whoever exits later. A thread needs *all* that it waits for (the owner of a lock, every reader of a
//! reader-writer lock, every thread that it joins), so any circle is one.

use quotient_stateless::ThreadSet;

use crate::exploration::object::NOBODY;
use crate::exploration::world::{Status, World};
use crate::protocol::{Op, THREADS};

impl World {
    /// The threads that must do something before `thread` can go on, as far as that is certain.
    fn waits_for(&self, thread: usize) -> u64 {
        let thread = &self.threads[thread];
        let pending = &thread.pending;
        let object = match (thread.status, pending.op) {
            (Status::Ready, Op::Join) => {
                let ended = |t: u8| self.threads[usize::from(t)].status == Status::Finished;
                return ThreadSet(pending.set).iter().filter(|&t| !ended(t)).fold(0, |set, t| set | 1 << t);
            }
            (Status::Ready, Op::Lock | Op::ReadLock | Op::WriteLock | Op::Once) => pending.object,
            (Status::Reacquiring { .. }, Op::Reacquire) => pending.other,
            _ => return 0,
        };
        let Some(state) = self.objects.peek(object) else { return 0 };
        let owner = if state.owner == NOBODY { 0 } else { 1 << state.owner };
        let readers = if pending.op == Op::WriteLock { state.set } else { 0 };
        owner | readers
    }

    /// Do some threads wait for each other in a circle?
    pub fn waits_in_a_circle(&self) -> bool {
        let count = self.named.min(THREADS);
        let mut needs: Vec<u64> = (0..count).map(|t| self.waits_for(t)).collect();
        // Whoever is needed by those that a thread needs, is needed by it.
        for middle in 0..count {
            let further = needs[middle];
            for set in &mut needs {
                if *set >> middle & 1 != 0 {
                    *set |= further;
                }
            }
        }
        (0..count).any(|t| needs[t] >> t & 1 != 0)
    }
}
