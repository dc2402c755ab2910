//! A representative or none, chosen when the search begins.
//!
//! The usual searches are compiled for each kind of representative. All others (infinite runs, states on disk, several processes, stores for comparison) do so much more for each
//! state that asking whether there is a representative costs nothing beside it; they are compiled once.

use quotient_machine::Machine;
use quotient_seams::{Identity, Representative, Worker};

/// `None`: every state stands for itself.
pub(crate) struct Perhaps<R>(pub(crate) Option<R>);

impl<R: Worker> Worker for Perhaps<R> {
    fn another(&self) -> Perhaps<R> {
        Perhaps(self.0.as_ref().map(R::another))
    }

    fn join(&mut self, other: Perhaps<R>) {
        if let (Some(own), Some(other)) = (&mut self.0, other.0) {
            own.join(other);
        }
    }

    fn notes(&self) -> Vec<u8> {
        self.0.as_ref().map_or_else(Vec::new, R::notes)
    }

    fn take_notes(&mut self, notes: &[u8]) -> bool {
        self.0.as_mut().map_or(notes.is_empty(), |own| own.take_notes(notes))
    }

    fn shared_since(&self, from: usize, out: &mut Vec<u32>) -> usize {
        self.0.as_ref().map_or(0, |own| own.shared_since(from, out))
    }

    fn share_again(&mut self, written: &[u32]) -> bool {
        self.0.as_mut().map_or(written.is_empty(), |own| own.share_again(written))
    }
}

impl<R: Representative<Machine>> Representative<Machine> for Perhaps<R> {
    #[inline]
    fn representative(&mut self, machine: &Machine, state: &[u64], out: &mut Vec<u64>) -> bool {
        self.0.as_mut().is_some_and(|own| own.representative(machine, state, out))
    }

    fn name(&self) -> &'static str {
        self.0.as_ref().map_or(Representative::<Machine>::name(&Identity), R::name)
    }

    fn is_canonical(&self) -> bool {
        self.0.as_ref().is_none_or(R::is_canonical)
    }

    fn renames(&self) -> bool {
        self.0.as_ref().is_some_and(R::renames)
    }

    fn new_name(&self, thread: u32) -> u32 {
        self.0.as_ref().map_or(thread, |own| own.new_name(thread))
    }

    fn with_threads_in_place(&mut self, machine: &Machine, state: &[u64], out: &mut Vec<u64>) -> bool {
        self.0.as_mut().is_some_and(|own| own.with_threads_in_place(machine, state, out))
    }

    #[inline]
    fn expanded(&mut self, machine: &Machine, state: &[u64]) {
        if let Some(own) = &mut self.0 {
            own.expanded(machine, state);
        }
    }

    fn keeps_found(&self) -> bool {
        self.0.as_ref().is_some_and(R::keeps_found)
    }
}
