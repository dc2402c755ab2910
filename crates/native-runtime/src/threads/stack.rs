//! What is known of the threads' stacks: which words were written since the function that they belong to was entered,
//! which primitives lie there, and who but the owner uses them.
//!
//! A bit per eight bytes says that a hooked write has reached them. When an instrumented function is entered, everything below
//! its frame pointer is new: the bits there are cleared and primitives forgotten. That costs nothing where none were
//! set, and each bit is cleared once.
//!
//! A stack belongs to its thread and ends with it. An access by another thread must happen before that end; whether it
//! did is decided by happens-before, so that it does not depend on the order in which the exploration ran the two.

use crate::exploration::world::{NOWHERE, Runtime, Status, Thread, World, fail, world};
use crate::protocol::{FailureKind, Place, THREADS};
use crate::threads::donor::{SIZE, STACKS};

/// Where the bits lie.
const BITS: usize = 0x6180_0000_0000;
/// Bytes of a stack per word of bits.
const PER_WORD: usize = 8 * 64;

/// Notes about the stack of a thread.
pub struct StackNotes {
    /// The lowest address with a bit.
    written: usize,
    /// The lowest address of a primitive.
    lowest_primitive: usize,
    /// Numbers of the primitives there.
    primitives: Vec<u32>,
    /// Frame pointers of the instrumented functions that have not returned, outermost first.
    entered: Vec<usize>,
    /// Does another thread use this stack, in this execution?
    pub shared: bool,
}

impl Default for StackNotes {
    fn default() -> StackNotes {
        StackNotes {
            written: usize::MAX,
            lowest_primitive: usize::MAX,
            primitives: Vec::new(),
            entered: Vec::new(),
            shared: false,
        }
    }
}

impl StackNotes {
    /// A new execution begins. Bits are cleared when the first function is entered.
    pub fn restart(&mut self) {
        self.lowest_primitive = usize::MAX;
        self.primitives.clear();
        self.entered.clear();
        self.shared = false;
    }

    /// There is a primitive at `address`.
    pub fn has_primitive(&mut self, address: usize, number: u32) {
        self.lowest_primitive = self.lowest_primitive.min(address);
        if !self.primitives.contains(&number) {
            self.primitives.push(number);
        }
    }
}

/// Room for the bits.
pub fn prepare() {
    crate::system::system_call::map_fixed(BITS, SIZE * THREADS / 64);
}

/// Whose stack is this?
#[inline]
pub fn owner(address: usize) -> Option<usize> {
    let offset = address.wrapping_sub(STACKS);
    (offset < SIZE * THREADS).then_some(offset / SIZE)
}

fn word(address: usize) -> *mut u64 {
    (BITS + (address - STACKS) / PER_WORD * 8) as *mut u64
}

/// A hooked write to the stack of thread `owner`.
#[inline]
pub fn note_write(world: &mut World, owner: usize, address: usize, size: usize) {
    let notes = &mut world.threads[owner].stack_notes;
    notes.written = notes.written.min(address);
    let end = (address + size).min(STACKS + SIZE * THREADS);
    let mut at = address;
    while at < end {
        // SAFETY: the address is on a stack, so its bit is mapped.
        unsafe { *word(at) |= 1 << (at / 8 % 64) };
        at = (at | 7) + 1;
    }
}

/// A function with this frame pointer is entered by the running thread.
#[inline]
pub fn enter(frame: usize) {
    let mut w = world();
    let thread = w.me();
    let notes = &mut thread.stack_notes;
    while notes.entered.last().is_some_and(|last| *last <= frame) {
        notes.entered.pop();
    }
    notes.entered.push(frame);
    if notes.written < frame && thread.stack.contains(&frame) {
        forget_writes(notes, frame);
    }
    if thread.stack_notes.lowest_primitive < frame {
        w.forget_primitives(frame);
    }
}

/// Clears the bits below `frame`.
fn forget_writes(notes: &mut StackNotes, frame: usize) {
    let (first, last) = (word(notes.written), word(frame));
    let low = (1u64 << (frame / 8 % 64)) - 1;
    let mut at = first;
    // SAFETY: both are words of bits of one stack.
    unsafe {
        while at < last {
            *at = 0;
            at = at.add(1);
        }
        *last &= !low;
    }
    notes.written = usize::MAX;
}

impl Thread {
    /// Has no hooked write reached these bytes since their function was entered?
    pub fn is_untouched(&self, address: usize, size: usize) -> bool {
        // SAFETY: within the stack of the thread.
        let written = |at: usize| unsafe { *word(at) } >> (at / 8 % 64) & 1 != 0;
        self.stack.contains(&address) && !(address..address + size).step_by(8).any(written)
    }
}

impl World {
    /// Frames of the running thread below `frame` have gone, and the primitives in them. One that others still have or wait
    /// for stays, so that what they do wrong is seen.
    #[cold]
    fn forget_primitives(&mut self, frame: usize) {
        let me = self.current;
        let mut primitives = std::mem::take(&mut self.threads[me].stack_notes.primitives);
        let mut lowest = usize::MAX;
        primitives.retain(|&number| {
            let address = self.objects.address(number);
            let state = self.objects.state(number);
            let foreign = state.owner != crate::exploration::object::NOBODY && state.owner as usize != me;
            let waits = |(t, thread): (usize, &Thread)| {
                t != me && thread.status == Status::Ready && thread.pending.object == number
            };
            let waited_for = self.threads.iter().enumerate().any(waits);
            if address < frame && !foreign && !waited_for {
                let state = self.objects.state(number);
                if state.owner as usize == me {
                    self.note_given(number);
                    self.distrust_guards();
                }
                self.objects.state(number).forget();
                return false;
            }
            lowest = lowest.min(address);
            true
        });
        let notes = &mut self.threads[me].stack_notes;
        (notes.primitives, notes.lowest_primitive) = (primitives, lowest.max(frame));
    }

    /// The frame of the running thread that `address` lies in, for the checker: its frame pointer and a place in the code of its
    /// function. Nobody's place, with no code, where it lies in none.
    pub fn frame_around(&mut self, address: usize) -> Place {
        let stack = self.me().stack.clone();
        let mut found = Place { address: u64::MAX, ..NOWHERE };
        let mut frame = crate::threads::context::frame_pointer();
        while stack.contains(&frame) && stack.contains(&(frame + 8)) {
            // SAFETY: within the stack of the running thread.
            let (next, code) = unsafe { (*(frame as *const usize), *((frame + 8) as *const usize)) };
            if (frame..next).contains(&address) {
                (found.address, found.stack[0]) = (next as u64, code as u64);
                break;
            }
            if next <= frame {
                break;
            }
            frame = next;
        }
        found
    }

    /// Was the runtime called by an instrumented function of the program?
    pub fn user_is_instrumented(&mut self) -> bool {
        let stack = self.me().stack.clone();
        let mut frame = crate::threads::context::frame_pointer();
        while stack.contains(&frame) && stack.contains(&(frame + 8)) {
            // SAFETY: within the stack of the running thread.
            let (next, address) = unsafe { (*(frame as *const usize), *((frame + 8) as *const usize)) };
            if !self.code.own.contains(&address) {
                let entered = self.me().stack_notes.entered.contains(&next);
                return entered && self.is_direct_call(address);
            }
            if next <= frame {
                return false;
            }
            frame = next;
        }
        false
    }

    /// Does the call before this return address lead from the program to the runtime? A library that was called instead may
    /// have passed it on by a jump.
    fn is_direct_call(&self, address: usize) -> bool {
        let code = &self.code.program;
        if !code.contains(&address) || address < code.start + 6 {
            return false;
        }
        // SAFETY: code of the program, which can be read; slots of the dynamic linker are mapped.
        unsafe {
            let byte = |at: usize| *(at as *const u8);
            let relative = |at: usize| *(at as *const [u8; 4]);
            let target = |at: usize| (at + 4).wrapping_add_signed(i32::from_le_bytes(relative(at)) as isize);
            let slot = if byte(address - 5) == 0xe8 {
                // A stub: perhaps a landing mark, then a jump through a slot.
                let stub = target(address - 4);
                let jump = if relative(stub) == [0xf3, 0x0f, 0x1e, 0xfa] { stub + 4 } else { stub };
                let jump = if byte(jump) == 0xf2 { jump + 1 } else { jump };
                if relative(jump)[..2] != [0xff, 0x25] {
                    return false;
                }
                target(jump + 2)
            } else if relative(address - 6)[..2] == [0xff, 0x15] {
                target(address - 4)
            } else {
                return false;
            };
            self.code.own.contains(&*(slot as *const usize))
        }
    }
}

impl Runtime {
    /// The running thread accesses the stack of another one.
    #[cold]
    pub fn note_foreign_stack(mut self, owner: usize, address: usize, size: usize) {
        self.note_shared_stack(address, size);
        let thread = &mut self.threads[owner];
        thread.stack_notes.shared = true;
        if thread.status == Status::Finished {
            let text = format!("access to the stack of thread {owner}, which has ended");
            fail(FailureKind::Memory, &text, address);
        }
    }

    /// The running thread ends, and its stack with it: accesses of others to it must have happened before.
    pub fn end_of_stack(mut self) {
        let me = self.me();
        if me.stack_notes.shared && self.shared.allow_races == 0 {
            let used = self.me().lowest & !7..self.me().stack.end;
            self.note_free(used.start, used.len());
        }
    }
}
