//! The functions of the software verification competition, and our own for observations.
//!
//! An assumption that does not hold stops the thread for good; the execution then counts as infeasible unless something goes
//! wrong elsewhere. The assumption has no effect, so whatever others do afterwards they could have done before it.
//!
//! Programs of the competition often define `reach_error`, `assume_abort_if_not` and the like themselves, with a body that
//! means nothing in particular. The names are what counts: such a definition is replaced by the one here, by a jump
//! that is written over its first instruction.

use crate::exploration::world::{Pending, Status, World, active, fail, visible, world};
use crate::primitives::section;
use crate::protocol::{Convention, FailureKind, Op, VALUES, met};
use crate::system::system_call::{number, system_call};

// The functions themselves, by names that a program cannot have. Kept apart from the others: two functions with the same code
// could be made one, which would then have a name that the program can take.

#[inline(never)]
extern "C" fn begin() {
    if active() {
        let place = world().stack_here()[0];
        section::begin(place as usize);
    }
}

#[inline(never)]
extern "C" fn end() {
    if active() {
        section::end();
    }
}

#[inline(never)]
extern "C" fn assume(condition: i32) {
    if condition == 0 && active() {
        if section::is_inside(&mut world()) {
            section::stop();
        }
        world().me().status = Status::Assumed;
        loop {
            world().leave();
        }
    }
}

#[inline(never)]
extern "C" fn error() {
    if active() {
        fail(FailureKind::Error, "", 0);
    }
    crate::system::system_call::exit_process(1)
}

/// Begin of an atomic section.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_atomic_begin() {
    begin();
}

/// End of an atomic section.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_atomic_end() {
    end();
}

/// Only executions in which `condition` holds count.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_assume(condition: i32) {
    assume(condition);
}

/// The same.
#[unsafe(no_mangle)]
pub extern "C" fn assume_abort_if_not(condition: i32) {
    assume(condition);
}

/// An error.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_error() {
    error();
}

/// An error.
#[unsafe(no_mangle)]
pub extern "C" fn reach_error() {
    error();
}

/// An assertion, in programs that neither define it nor include its header.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_assert(condition: i32) {
    if condition == 0 {
        error();
    }
}

/// The one of C: a call that nobody has declared means it.
#[unsafe(no_mangle)]
pub extern "C" fn assert(condition: i32) {
    if condition == 0 {
        if active() {
            fail(FailureKind::Assertion, "", 0);
        }
        crate::system::system_call::exit_process(1)
    }
}

/// Any value from 0 to `count` - 1.
#[unsafe(no_mangle)]
pub extern "C" fn __quotient_choose(count: i32) -> i32 {
    if !active() || count <= 1 {
        return 0;
    }
    visible(Pending { choices: count.min(1 << 15) as u16, ..Pending::new(Op::Choose) }) as i32
}

macro_rules! any {
    ($($name:ident -> $kind:ty),*) => { $(
        /// Any of the values that the user has given; refused if there are none, as all of a type are too many to run.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> $kind {
            if !active() {
                return 0 as $kind;
            }
            let count = world().shared.values_length as usize;
            if count == 0 {
                let text = concat!(stringify!($name), " (say which values, by --nondet, or write __quotient_choose(n))");
                fail(FailureKind::Refused, text, 0);
            }
            world().shared.met |= met::GIVEN_VALUE;
            world().shared.values[__quotient_choose(count as i32) as usize % VALUES] as $kind
        }
    )* };
}

any! {
    __VERIFIER_nondet_int -> i32, __VERIFIER_nondet_uint -> u32, __VERIFIER_nondet_long -> i64,
    __VERIFIER_nondet_ulong -> u64, __VERIFIER_nondet_short -> i16, __VERIFIER_nondet_ushort -> u16,
    __VERIFIER_nondet_char -> i8, __VERIFIER_nondet_uchar -> u8, __VERIFIER_nondet_longlong -> i64,
    __VERIFIER_nondet_ulonglong -> u64, __VERIFIER_nondet_unsigned -> u32, __VERIFIER_nondet_size_t -> usize
}

/// Any truth value.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_nondet_bool() -> bool {
    __quotient_choose(2) != 0
}

/// Adds a value to what is observed of this execution: outcomes that differ in it are different.
#[unsafe(no_mangle)]
pub extern "C" fn __quotient_observe(value: i64) {
    if active() {
        let mut w = world();
        w.observed = mixed(w.observed, value);
    }
}

/// The content of this memory at the end, word by word, is observed of this execution.
#[unsafe(no_mangle)]
pub extern "C" fn __quotient_observe_at_end(address: *const i64, bytes: usize) {
    if active() {
        world().observed_memory.push((address as usize, bytes / 8));
    }
}

/// Replaces the program's own definitions of these functions.
pub fn replace_definitions(w: &World) {
    let count = (w.shared.conventions_length as usize).min(w.shared.conventions.len());
    for (which, offset) in w.shared.conventions[..count].iter().copied() {
        let ours = match Convention::from_number(which as u8) {
            Some(Convention::Error) => error as *const () as usize,
            Some(Convention::Assume) => assume as *const () as usize,
            Some(Convention::Begin) => begin as *const () as usize,
            Some(Convention::End) => end as *const () as usize,
            None => continue,
        };
        replace((w.shared.program_base + offset) as usize, ours);
    }
}

/// Writes a jump to `ours` over the function at `function`. The jump is short, as the function may be; a piece of code nearby
/// has the long one.
fn replace(function: usize, ours: usize) {
    const PAGE: usize = 4096;
    const NEAR: usize = 1 << 28;
    const READ_WRITE_EXECUTE: usize = 7;
    const PRIVATE_ANONYMOUS_ONLY_IF_FREE: usize = 0x2 | 0x20 | 0x10_0000;
    // The first free page below the program.
    let below = (function & !(PAGE - 1)) - NEAR;
    let wanted = |at: usize| [at, PAGE, READ_WRITE_EXECUTE, PRIVATE_ANONYMOUS_ONLY_IF_FREE, usize::MAX, 0];
    // SAFETY: a new mapping where none is.
    let free = (below..function & !(PAGE - 1))
        .step_by(PAGE)
        .find(|at| unsafe { system_call(number::MMAP, wanted(*at)) == *at as isize });
    let Some(piece) = free else { crate::system::system_call::die(b"quotient: no room for a jump\n") };
    // SAFETY: a page of our own; and the first five bytes of a function of the program, which no thread executes now. The
    // shortest function that the compiler makes without optimisation is longer.
    unsafe {
        // jmp [rip]; the address.
        (piece as *mut [u8; 6]).write_unaligned([0xff, 0x25, 0, 0, 0, 0]);
        ((piece + 6) as *mut usize).write_unaligned(ours);
        let first = function & !(PAGE - 1);
        let length = (function + 5 - first).next_multiple_of(PAGE);
        system_call(number::MPROTECT, [first, length, READ_WRITE_EXECUTE, 0, 0, 0]);
        let distance = (piece as isize - (function as isize + 5)) as i32;
        *(function as *mut u8) = 0xe9;
        ((function + 1) as *mut i32).write_unaligned(distance);
        const READ_EXECUTE: usize = 5;
        system_call(number::MPROTECT, [first, length, READ_EXECUTE, 0, 0, 0]);
        system_call(number::MPROTECT, [piece, PAGE, READ_EXECUTE, 0, 0, 0]);
    }
}

fn mixed(hash: u64, value: i64) -> u64 {
    (hash ^ value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_add(1)
}

impl World {
    /// Hash of what is observed of the execution that has ended.
    pub fn observation(&self) -> u64 {
        let ranges = self.observed_memory.iter();
        // SAFETY: memory that the program has named.
        let words = ranges.flat_map(|&(address, count)| unsafe {
            std::slice::from_raw_parts(address as *const i64, count)
        });
        words.fold(self.observed, |hash, word| mixed(hash, *word))
    }
}
