//! Parts for several threads.
//!
//! A system, a representative and an ample set are each one worker's part of what several threads can use. What was compiled never changes
//! and is shared; what all must agree on (the numbers of shapes) is in a registry that is shared, behind a lock that is only taken for
//! what was never met before; everything else is the worker's own memory. So every worker encodes a state alike, whatever it has met
//! before (`machine/tests/steps/workers.rs`).

/// What a thread needs of its own to take part in a search: a system, a representative or an ample set is one worker's part, with
/// memory of its own, of something that any number of workers can have a part of. Parts share what never changes, and what must be
/// the same to all, such as the numbers that a state is encoded with: so a state that one worker found can be handed to any other.
pub trait Worker: Send {
    /// A part for another worker.
    fn another(&self) -> Self
    where
        Self: Sized;

    /// Another worker is done: takes over what it has counted.
    fn join(&mut self, _other: Self)
    where
        Self: Sized,
    {
    }

    /// What this worker has counted, for a run that goes on where this one ends.
    fn notes(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes over what a worker of an earlier run has counted; `false` if it is none of this system's notes.
    fn take_notes(&mut self, notes: &[u8]) -> bool {
        notes.is_empty()
    }

    /// What all workers share and states are encoded with, from entry `from` on; gives the number of entries.
    fn shared_since(&self, _from: usize, _out: &mut Vec<u32>) -> usize {
        0
    }

    /// Takes over what an earlier run has written by [`Worker::shared_since`], in the same order; `false` if it contradicts what is known.
    fn share_again(&mut self, written: &[u32]) -> bool {
        written.is_empty()
    }
}
