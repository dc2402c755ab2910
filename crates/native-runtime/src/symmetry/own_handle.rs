//! Threads that ask who they are (`pthread_self`) and only keep the answer.
//!
//! A handle that a thread asks for tells it apart from others as soon as it decides something. Most are only stored, for messages or for somebody who never
//! looks at them. That is *found out*, in two parts that together cover every way to look at a handle:
//!
//! - From the call on, in registers and in the frame, no hook announces what becomes of it. The checker follows it through the code of the function, whatever way
//!   that may take in some execution (`native/residual/own_handle.rs`).
//! - Once it is stored elsewhere, every read of it is announced: by hooks, by the table of library functions, by breakpoints. A read of
//!   any byte of a word that has such a handle for a value tells its thread apart ([`World::note_own_handles`]). So does a compare-and-swap that expects one.
//!
//! As long as neither happens, in the executions that are made nobody knows anything of these handles, and nobody does in their images,
//! which run as they do but for the content of words that nobody reads. So the words need not be exchanged along with the threads: they may lie in
//! global variables, or in blocks of others, and are not references. In memory of the two threads themselves they
//! correspond, as addresses do. When a read happens after all, the exploration starts again, as with every other leak of identity.
//!
//! Handles that are compared for being equal are different. Between states (dynamic symmetry) that is harmless: an exchange maps handles one to one, and
//! whatever they are compared with is mapped, too, being in a register or word of a frame that counts, or read where reads are announced. Between
//! beginnings (co-started threads) nobody sees to that: the main thread may have kept one handle of several.
//!
//! A handle may also be printed as a whole, to the standard output or error, where the program does not notice what comes of that: as soon as it asks for the position of
//! the stream, or makes something else of it, printing a handle is a use.
//!
//! What `pthread_create` has written is a name that its creator has for another thread, and is read to join it: such *rooms* are
//! references as before, and may be read.
//!
//! With `--allow-races`, or under a weak memory model, reads need not see what memory holds, so every call of `pthread_self` counts as a use.

use crate::exploration::world::World;
use crate::library::stub::Saved;
use crate::library::table::Function;
use crate::protocol::{question, why};

const HANDLE: usize = 8;

/// What is known of handles that threads have asked for, in this execution.
#[derive(Default)]
pub struct OwnHandles {
    /// Threads that have asked, as a set.
    out: u64,
    /// Where `pthread_create` has written handles.
    rooms: Vec<usize>,
}

impl OwnHandles {
    /// A new execution begins.
    pub fn restart(&mut self) {
        self.out = 0;
        self.rooms.clear();
    }

    /// Has some thread asked?
    #[inline]
    pub fn are_out(&self) -> bool {
        self.out != 0
    }

    /// Has this thread asked?
    pub fn is_out(&self, thread: usize) -> bool {
        self.out >> thread & 1 != 0
    }
}

impl World {
    /// The running thread asks for its own handle, and goes on at `place`.
    pub fn own_handle(&mut self, place: usize) -> usize {
        let me = self.current;
        if self.shared.symmetry != 0 && self.identified >> me & 1 == 0 && me != 0 {
            let costarted = self.shared.symmetry == 1;
            let is_kept = self.shared.allow_races == 0
                && self.memory == 0
                && match self.fate(place) {
                    Some(question::STORED) => true,
                    Some(question::COMPARED) => !costarted,
                    _ => false,
                };
            if is_kept {
                self.own_handles.out |= 1 << me;
            } else {
                self.identity_used();
            }
        }
        self.threads[me].handle
    }

    /// `pthread_create` has written a handle.
    pub fn note_room(&mut self, address: usize) {
        if self.shared.symmetry != 0 {
            self.own_handles.rooms.push(address);
        }
    }

    /// Is what the word at `address` has, the handle of `owner`, one that only a thread which asked for it can have put there?
    pub fn is_never_read(&self, address: usize, word: usize, owner: usize) -> bool {
        self.own_handles.is_out(owner)
            && word == self.threads[owner].handle
            && !self.own_handles.rooms.contains(&address)
    }

    /// The thread that has asked for its handle, which is this value.
    fn asked_by(&self, value: usize) -> Option<usize> {
        self.handled(value).filter(|number| self.own_handles.is_out(*number))
    }

    /// An access that is announced, before a write or when what is read is there, while handles are out.
    #[cold]
    pub fn note_own_handles(&mut self, address: usize, size: usize, write: bool) {
        if write {
            let apart = |room: &usize| room + HANDLE <= address || address + size <= *room;
            self.own_handles.rooms.retain(apart);
            if size == HANDLE && !address.is_multiple_of(HANDLE) {
                // Handles are only looked for in whole words.
                self.identity_used();
            }
            return;
        }
        for at in (address & !(HANDLE - 1)..address + size).step_by(HANDLE) {
            // SAFETY: the program reads a part of the word, and words do not cross the ends of pages.
            let value = unsafe { *(at as *const usize) };
            if let Some(thread) = self.asked_by(value)
                && !self.own_handles.rooms.contains(&at)
            {
                self.break_symmetry(1 << thread, why::IDENTITY);
            }
        }
    }

    /// A value is printed, `whole` or in part. Handles have the same number of digits each, so what comes after is not
    /// affected, and nobody in the program sees what leaves it.
    pub fn note_printed_handle(&mut self, value: usize, function: &Function, whole: bool, saved: &Saved) {
        if self.own_handles.are_out()
            && let Some(thread) = self.asked_by(value)
            && !(whole && self.prints_away(function, saved))
        {
            self.break_symmetry(1 << thread, why::IDENTITY);
        }
    }

    /// A value is used: a compare-and-swap expects it.
    #[inline]
    pub fn note_expected(&mut self, value: usize) {
        if self.handled(value).is_some() {
            // It was read where the runtime reads it, without a hook.
            self.distrust_kept_handles();
        }
        if let Some(thread) = self.asked_by(value) {
            self.break_symmetry(1 << thread, why::IDENTITY);
        }
    }

    /// Memory is read that nobody knows of.
    pub fn distrust_own_handles(&mut self) {
        let out = self.own_handles.out;
        if out != 0 {
            self.break_symmetry(out, why::IDENTITY);
        }
    }
}
