//! Handles in global variables and in the heap that nobody reads any more.
//!
//! The main thread keeps the handles of its threads in an array, reads them to join the threads, and waits: the array still refers to each of them, and
//! would tell them apart for as long as they live. (In its own frame the array is dead by then, which liveness tells.)
//!
//! As for variables that are reached through pointers ([`crate::symmetry::stale`]) it is *found out* whether such a word is ever read again. What
//! is known of it is kept by its address and the place at which the main thread had stopped, with those of all that its frames have called. A word that has a handle for
//! its value is *live* at a place if, in some execution, it was read after the main thread had stopped there. Otherwise an exchange relies on it that it is
//! not; should a read show that it is live, the exploration starts again, and knows.
//!
//! That is sound: let exchanging `a` and `b` map a state to itself but for such words, and let the main thread have stopped at `p` there. What is left out are images of executions
//! that come through this state. As long as no read has made the words live at `p`, these executions do not read them after the state before something else is
//! written to them; nor do the images, which make the same accesses to memory that belongs to neither thread. So the images run as if the words were exchanged.
//!
//! Every read of global variables and of the heap is announced, by hooks, the table of library functions, or breakpoints. Where one is not,
//! nothing is relied on any more.
//!
//! What lies in the stack of the main thread after `main` has returned is like that, too: it still is there for those who have been given pointers to it,
//! and their reads are announced.

use std::collections::HashSet;

use crate::exploration::world::World;
use crate::threads::donor::{SIZE, STACKS};

/// The place of the main thread after `main` has returned.
pub const RETURNED: usize = 1;

/// Where the main thread has stopped, and the address of a word.
type Slot = (usize, usize);

/// What is known of words that have handles for values.
#[derive(Default)]
pub struct KeptHandles {
    /// In all executions so far.
    live: HashSet<Slot>,
    relied_on: HashSet<Slot>,
    /// Something reads memory that nobody knows of.
    distrusted: bool,
    /// Places at which the main thread has stopped in this execution, each of them once, and the last one.
    places: Vec<usize>,
    place: usize,
    /// How often what is known or relied on has changed.
    pub learnt: u64,
}

impl KeptHandles {
    /// A new execution begins.
    pub fn restart(&mut self) {
        self.places.clear();
        self.place = 0;
    }

    /// The main thread stops; `place` stands for all of its frames.
    pub fn stop(&mut self, place: usize) {
        self.place = place;
        if !self.places.contains(&place) {
            self.places.push(place);
        }
    }

    /// Is the word not read any more, so far, from the current state on? Then somebody relies on it.
    pub fn rely(&mut self, address: usize) -> bool {
        let slot = (self.place, address);
        if self.distrusted || self.place == 0 || self.live.contains(&slot) {
            return false;
        }
        self.learnt += u64::from(self.relied_on.insert(slot));
        true
    }

    /// The word is read. Says whether that breaks what was relied on.
    fn read(&mut self, address: usize) -> bool {
        let mut broken = false;
        for &place in &self.places {
            let new = self.live.insert((place, address));
            self.learnt += u64::from(new);
            broken |= new && self.relied_on.contains(&(place, address));
        }
        broken
    }

    /// Memory is read that nobody knows of. Says whether that breaks what was relied on.
    fn distrust(&mut self) -> bool {
        let new = !std::mem::replace(&mut self.distrusted, true);
        self.learnt += u64::from(new);
        new && !self.relied_on.is_empty()
    }
}

impl World {
    /// The thread whose handle this value is.
    #[inline]
    pub fn handled(&self, value: usize) -> Option<usize> {
        // A handle lies on the stack of its thread.
        let number = value.checked_sub(STACKS)? / SIZE;
        (self.threads.get(number)?.handle == value).then_some(number)
    }

    /// A read that is announced.
    pub fn note_kept_handles(&mut self, address: usize, size: usize) {
        for at in (address & !7..address + size).step_by(8) {
            // SAFETY: the program reads a part of the word, and words do not cross the ends of pages.
            let value = unsafe { *(at as *const usize) };
            if self.handled(value).is_some() {
                self.grown |= self.kept_handles.read(at);
            }
        }
    }

    /// Memory is copied to elsewhere without a hook.
    pub fn note_moved(&mut self, address: usize, size: usize) {
        if self.shared.symmetry == 2 && size > 0 {
            self.note_kept_handles(address, size);
        }
    }

    /// Memory is read that nobody knows of.
    pub fn distrust_kept_handles(&mut self) {
        self.grown |= self.kept_handles.distrust();
    }
}
