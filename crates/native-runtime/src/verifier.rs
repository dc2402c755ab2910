//! The functions of the software verification competition, and our own for observations.
//!
//! Atomic sections are one global lock. An assumption that does not hold stops the thread for good; the execution then
//! counts as infeasible unless something goes wrong elsewhere.

use crate::object::NOBODY;
use crate::protocol::{FailureKind, Op, VALUES, met};
use crate::world::{Pending, Status, World, active, fail, visible, world};

/// Stands for the global lock of atomic sections: no address of the program.
pub const SECTION: usize = 8;

/// Begin of an atomic section.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_atomic_begin() {
    if !active() {
        return;
    }
    let number = world().mutex(SECTION);
    if world().objects.state(number).owner == world().current as u8 {
        world().objects.state(number).count += 1;
        return;
    }
    visible(Pending::on(Op::AtomicBegin, number, SECTION));
    world().take_mutex(number);
}

/// End of an atomic section.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_atomic_end() {
    if !active() {
        return;
    }
    let number = world().mutex(SECTION);
    let state = world().objects.state(number);
    if state.owner == NOBODY {
        fail(FailureKind::Misuse, "end of an atomic section that was not begun", 0);
    }
    if state.count > 1 {
        state.count -= 1;
        return;
    }
    visible(Pending::on(Op::AtomicEnd, number, SECTION));
    world().give_mutex(number);
}

/// Only executions in which `condition` holds count.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_assume(condition: i32) {
    if active() && condition == 0 {
        world().me().status = Status::Assumed;
        loop {
            world().leave();
        }
    }
}

/// An error.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_error() {
    reach_error();
}

/// An error.
#[unsafe(no_mangle)]
pub extern "C" fn reach_error() {
    if active() {
        fail(FailureKind::Assertion, "an error location is reached", 0);
    }
    crate::system_call::exit_process(1)
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
    __VERIFIER_nondet_char -> i8, __VERIFIER_nondet_uchar -> u8
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
        let w = world();
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
