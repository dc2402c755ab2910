//! Values that nobody has written: reads of heap blocks and of local variables before anything was stored there.
//!
//! Heap blocks hold a pattern from their allocation on (`heap`). A read of eight bytes of it, or of the lower four (a write of zero could
//! leave the upper half as it is), gets a value that nobody has written, not even code without hooks.
//!
//! A stack is empty at the start of an execution, that is zero. A read of a word that is zero and that no hooked write has
//! reached since its function was entered (`stack`) *may* be one of a variable without a value; code without hooks may have written the
//! zero, too: a result in registers, assembly. So the checker repeats the schedule with the pattern in place of zero, in the first frame of
//! every thread ([`prepare_frame`]). If the same read then gets the pattern, nobody has written. Else the exploration is made again without this question,
//! since the run may go another way with other values.
//!
//! Such a read by another thread than the one whose stack or arena it is, is a violation: the address was given away before there was
//! a value after it. A read of its own block by the thread itself is an assumption of the answer, as it is for variables where the compiler warns,
//! and so are all where races are allowed: what is read then is the same in every execution.
//!
//! Not found: variables of functions whose frames lie where something was before; blocks after their first part; reads of one or two bytes,
//! and copies, which need not use what they copy.

use crate::environment::outside;
use crate::exploration::world::{NOWHERE, Runtime, World, fail_at, world};
use crate::memory::heap;
use crate::protocol::{FailureKind, Outside, Place, Role, THREADS, unwritten};
use crate::threads::stack;

/// In every word without a value, where there is one. Read as a pointer, it points nowhere.
pub const PATTERN: u64 = 0x0000_6b6b_6b6b_6b6b;
/// How it is told that stacks are not to be looked at.
const TOLD_UNASKED: usize = 5;
/// How much of the stack is prepared for the first function of a thread.
const FRAME: usize = 1024;

/// Prepares the stack for the function that is called next, by writing to what nobody uses. To be called where a thread begins.
#[inline(always)]
pub fn prepare_frame() {
    // Otherwise it is emptied of what the runtime itself has left there.
    let content = if world().shared.unwritten == unwritten::CONFIRM { PATTERN } else { 0 };
    // SAFETY: writes below the stack pointer only, where nothing is kept across a piece of assembly that may use the stack; the
    // stack of a thread that begins has far more room.
    unsafe {
        std::arch::asm!(
            "lea rdi, [rsp - {bytes}]",
            "mov ecx, {words}",
            "rep stosq",
            bytes = const FRAME,
            words = const FRAME / 8,
            in("rax") content,
            out("rdi") _,
            out("rcx") _,
        );
    }
}

impl World {
    /// Whose memory this is, if it is about to be read before it has a value.
    #[inline]
    fn unwritten(&self, address: usize, size: usize) -> Option<usize> {
        if size != 4 && size != 8 || !address.is_multiple_of(size) {
            return None;
        }
        // SAFETY: the aligned word around bytes that the program is about to read.
        let word = || unsafe { *((address & !7) as *const u64) };
        if heap::contains(address) {
            let owner = heap::arena_of(address);
            // The last arena is nobody's.
            return (owner < THREADS && address.is_multiple_of(8) && word() == PATTERN).then_some(owner);
        }
        let owner = stack::owner(address).filter(|owner| *owner != self.current)?;
        let empty = if self.shared.unwritten == unwritten::CONFIRM { PATTERN } else { 0 };
        // Above is what belongs to the thread all the time: its thread-local variables.
        let is_asked = self.shared.unwritten != unwritten::IGNORE && address < self.threads[owner].top;
        (is_asked && word() == empty && self.threads[owner].is_untouched(address, size)).then_some(owner)
    }

    /// That this is not asked is told to a process that repeats a schedule: see `World::note_interruptions`.
    pub fn told_unasked(&self) -> Option<(usize, usize)> {
        (self.shared.unwritten == unwritten::IGNORE).then_some((TOLD_UNASKED, 1))
    }

    /// Takes note of that; says whether it was this.
    pub fn note_told_unasked(&mut self, address: u64) -> bool {
        let is_it = address as usize == TOLD_UNASKED;
        if is_it {
            self.shared.unwritten = unwritten::IGNORE;
        }
        is_it
    }
}

impl Runtime {
    /// The running thread is about to read these bytes.
    #[inline]
    pub fn check_value(self, address: usize, size: usize) {
        if let Some(owner) = self.unwritten(address, size) {
            read_unwritten(owner, address);
        }
    }
}

#[cold]
fn read_unwritten(owner: usize, address: usize) {
    let mut w = world();
    let on_heap = heap::contains(address);
    if owner == w.current || w.shared.allow_races != 0 {
        if on_heap {
            outside::note(Outside::Unwritten, b"");
        }
        return;
    }
    let (what, role) =
        if on_heap { ("allocated", Role::Access) } else { ("has on its stack", Role::Unwritten) };
    let text = format!("read of memory that thread {owner} {what}, before anybody has written to it");
    let here = Place {
        thread: w.current as u8,
        role: role as u8,
        address: address as u64,
        stack: w.stack_here(),
        ..NOWHERE
    };
    fail_at(FailureKind::Memory, &text, here, NOWHERE);
}
