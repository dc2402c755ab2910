//! Atomic operations: each is one step of the exploration.
//!
//! Execution is sequentially consistent whatever the memory orders say, unless another memory model is explored (`messages`). The orders count for data races: a relaxed
//! operation orders nothing, a release store and what reads from it do (C11, with release sequences and fences).

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

use quotient_stateless::graph::Change;

use crate::exploration::buffered::{self, is_buffered};
use crate::exploration::clock::{Clock, clear, join};
use crate::exploration::messages::{self, is_weak};
use crate::exploration::race::How;
use crate::exploration::world::{Pending, World, running, visible, world};
use crate::protocol::{Op, met};
use crate::threads::context::frame_pointer;

const RELAXED: i32 = 0;
const CONSUME: i32 = 1;
const ACQUIRE: i32 = 2;
const RELEASE: i32 = 3;
const SEQUENTIALLY_CONSISTENT: i32 = 5;
/// The order, without the hints that compilers may add above it.
const ORDER: i32 = 0xff;

fn acquires(order: i32) -> bool {
    order != RELAXED && order != RELEASE
}

fn releases(order: i32) -> bool {
    !matches!(order, RELAXED | CONSUME | ACQUIRE)
}

/// Takes note of what the operation to be announced needs beside its object.
#[inline]
fn operands(first: usize, second: usize) {
    let mut w = world();
    let me = w.me();
    (me.operands[0], me.operands[1]) = (first, second);
}

/// Announces an atomic access and waits for its turn. `needed` is what a compare-and-swap expects, or what an update that counts announces.
pub fn step(op: Op, address: usize, size: usize, needed: i64) {
    let mut w = world();
    w.check_address(address, size, op != Op::Load);
    // A wild pointer is a crash of this thread, here, and not of the driver, which looks at the value.
    // SAFETY: bytes that the program accesses right now.
    unsafe {
        (address as *const u8).read_volatile();
        ((address + size - 1) as *const u8).read_volatile();
    }
    let (object, changed) = w.objects.cell(address, size);
    w.grown |= changed;
    if !w.threaded {
        // Nobody else exists yet.
        return;
    }
    match op {
        Op::Update if needed != 0 => w.grown |= w.counts.meet(object),
        Op::CompareAndSwap => w.counts.exchange(object),
        _ => {}
    }
    visible(Pending { size: size as u8, need: needed, ..Pending::on(op, object, address) });
    let mut w = world();
    let write = match op {
        Op::Load => false,
        Op::CompareAndSwap => read_value(address, size) == needed,
        _ => true,
    };
    w.note_access(address, size, How { write, atomic: true });
    if op != Op::Store {
        w.note_stale(address, size, false);
    }
    if write {
        w.note_stale(address, size, true);
    }
    w.note_for_symmetry(address, size);
}

/// The content of memory that the program is about to access.
pub fn read_value(address: usize, size: usize) -> i64 {
    // SAFETY: the program accesses these bytes itself; what it may not access was found out before.
    unsafe {
        match size {
            1 => i64::from(*(address as *const u8)),
            2 => i64::from((address as *const u16).read_unaligned()),
            4 => i64::from((address as *const u32).read_unaligned()),
            8 => (address as *const i64).read_unaligned(),
            _ => 0,
        }
    }
}

/// A plain access to a cell that is known to race: a step, if races are allowed.
pub fn racing_access(address: usize, size: usize, how: How) {
    if is_buffered() {
        return buffered::announce(address, size, how);
    }
    let mut w = world();
    let (object, changed) = w.objects.cell(address, size);
    w.grown |= changed;
    let op = if how.write { Op::Write } else { Op::Read };
    visible(Pending { size: size.min(255) as u8, ..Pending::on(op, object, address) });
    // What a write will write is not known.
    world().note_cell(address, size, how.write || size > 8);
}

impl World {
    /// An operation of a weaker order can do more on real machines than is explored here. While there is one thread only, nobody can tell.
    #[inline]
    fn note_order(&mut self, order: i32) {
        if order & ORDER != SEQUENTIALLY_CONSISTENT && self.threaded {
            self.shared.met |= met::WEAK_ORDER;
            self.note_unordered();
        }
    }

    /// The running thread has read the cell.
    pub fn loaded(&mut self, address: usize, size: usize, order: i32) {
        self.note_order(order);
        let (object, _) = self.objects.cell(address, size);
        if self.objects.is_uniform(object) {
            self.loaded_from(object, order);
        } else {
            for byte in address..address + size {
                let object = self.objects.number(of_byte(byte));
                self.loaded_from(object, order);
            }
        }
    }

    fn loaded_from(&mut self, object: u32, order: i32) {
        let clock = self.objects.state(object).clock;
        join(&mut self.me().acquired, &clock);
        if acquires(order) {
            self.acquire(&clock);
        }
    }

    /// The running thread has written the cell: without having read it, a new release sequence begins, unless it goes on with
    /// its own (C17, 5.1.2.4). The count of a cell is the number, plus one, of the thread whose release heads the sequence.
    pub fn stored(&mut self, address: usize, size: usize, order: i32, read: bool) {
        self.note_order(order);
        let (object, _) = self.objects.cell(address, size);
        let clock = if releases(order) { self.release() } else { self.me().fence };
        if self.objects.is_uniform(object) {
            self.stored_to(object, &clock, order, read);
        } else {
            for byte in address..address + size {
                let object = self.objects.number(of_byte(byte));
                self.stored_to(object, &clock, order, read);
            }
        }
    }

    fn stored_to(&mut self, object: u32, clock: &Clock, order: i32, read: bool) {
        let me = self.current as u32 + 1;
        let state = self.objects.state(object);
        let goes_on = read || (state.count == me && !releases(order));
        if !goes_on {
            clear(&mut state.clock);
        }
        if releases(order) {
            // An update that releases within somebody else's sequence: neither goes on with plain stores.
            state.count = if read && state.count != me { 0 } else { me };
        } else if !goes_on {
            state.count = 0;
        }
        join(&mut state.clock, clock);
    }
}

/// Stands for a byte of a cell whose accesses have different extents: what each of them releases is known by byte.
fn of_byte(byte: usize) -> usize {
    const BYTES: usize = 1 << 60;
    BYTES | byte
}

macro_rules! atomics {
    ($($value:ident $atomic:ident $size:literal $load:ident $store:ident $exchange:ident
       [$($update:ident $method:ident $change:ident),*] $strong:ident $weak:ident $val:ident;)*) => { $(
        /// Load.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $load(address: *const $atomic, order: i32) -> $value {
            if is_weak() {
                return messages::access(address as usize, $size, Change::None, Some([order; 2])) as $value;
            }
            if running() {
                operands(order as usize, 0);
                step(Op::Load, address as usize, $size, 0);
            }
            // SAFETY: the program's own access.
            let value = unsafe { (*address).load(Ordering::SeqCst) };
            if running() {
                world().loaded(address as usize, $size, order);
                world().note_cell(address as usize, $size, false);
            }
            value
        }

        /// Store.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $store(address: *const $atomic, value: $value, order: i32) {
            if is_weak() {
                messages::access(address as usize, $size, Change::Store(value as u64), Some([order; 2]));
                return;
            }
            if running() {
                operands(value as usize, order as usize);
                step(Op::Store, address as usize, $size, 0);
            }
            // SAFETY: the program's own access.
            let old = unsafe { (*address).swap(value, Ordering::SeqCst) };
            if running() {
                world().stored(address as usize, $size, order, false);
                world().note_cell(address as usize, $size, old != value);
            }
        }

        atomics!(@update $value $atomic $size $exchange swap Exchange);
        $(atomics!(@update $value $atomic $size $update $method $change);)*

        /// Compare and swap; gives whether it succeeded.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $strong(
            address: *const $atomic, expected: *mut $value, new: $value, order: i32, failure: i32,
        ) -> i32 {
            if running() {
                world().me().operands[2] = expected as usize;
            }
            // SAFETY: the program's own accesses.
            unsafe {
                let old = $val(address, *expected, new, order, failure);
                let success = old == *expected;
                if !success && running() {
                    world().note_written(expected as usize, $size);
                }
                *expected = old;
                success as i32
            }
        }

        /// The same; it does not fail spuriously, which the report says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $weak(
            address: *const $atomic, expected: *mut $value, new: $value, order: i32, failure: i32,
        ) -> i32 {
            if running() {
                world().shared.met |= met::STEADY_EXCHANGE;
            }
            // SAFETY: the same operation; this one may fail, but need not.
            unsafe { $strong(address, expected, new, order, failure) }
        }

        /// Compare and swap; gives the old value.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $val(
            address: *const $atomic, expected: $value, new: $value, order: i32, failure: i32,
        ) -> $value {
            if is_weak() {
                let change = Change::CompareAndSwap { expected: expected as u64, new: new as u64 };
                return messages::access(address as usize, $size, change, Some([order, failure])) as $value;
            }
            if running() {
                world().note_expected(expected as usize);
                operands(new as usize, (order as usize) << 32 | failure as usize);
                step(Op::CompareAndSwap, address as usize, $size, expected as i64);
            }
            // SAFETY: the program's own access.
            let atomic = unsafe { &*address };
            let result = atomic.compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst);
            if running() {
                let success = result.is_ok();
                world().loaded(address as usize, $size, if success { order } else { failure });
                if success {
                    world().stored(address as usize, $size, order, true);
                }
                world().note_cell(address as usize, $size, success && new != expected);
            }
            result.unwrap_or_else(|old| old)
        }
    )* };
    (@update $value:ident $atomic:ident $size:literal $name:ident $method:ident $change:ident) => {
        /// Read, modify, write.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(address: *const $atomic, value: $value, order: i32) -> $value {
            if is_weak() {
                let change = Change::$change(value as u64);
                return messages::access(address as usize, $size, change, Some([order; 2])) as $value;
            }
            let mut needed = 0;
            if running() {
                needed = world().count(Change::$change(value as u64), $size, frame_pointer());
                operands(value as usize, order as usize);
                step(Op::Update, address as usize, $size, needed);
            }
            // SAFETY: the program's own access.
            let old = unsafe { (*address).$method(value, Ordering::SeqCst) };
            if running() {
                if world().is_count_made(address as usize, $size, needed) {
                    world().note_order(order);
                } else {
                    world().loaded(address as usize, $size, order);
                }
                world().stored(address as usize, $size, order, true);
                // SAFETY: as above.
                let changed = unsafe { (*address).load(Ordering::SeqCst) } != old;
                world().note_cell(address as usize, $size, changed);
            }
            old
        }
    };
}

atomics! {
    u8 AtomicU8 1 __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange
        [__tsan_atomic8_fetch_add fetch_add Add, __tsan_atomic8_fetch_sub fetch_sub Subtract, __tsan_atomic8_fetch_and fetch_and And,
         __tsan_atomic8_fetch_or fetch_or Or, __tsan_atomic8_fetch_xor fetch_xor Xor, __tsan_atomic8_fetch_nand fetch_nand Nand]
        __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak __tsan_atomic8_compare_exchange_val;
    u16 AtomicU16 2 __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange
        [__tsan_atomic16_fetch_add fetch_add Add, __tsan_atomic16_fetch_sub fetch_sub Subtract, __tsan_atomic16_fetch_and fetch_and And,
         __tsan_atomic16_fetch_or fetch_or Or, __tsan_atomic16_fetch_xor fetch_xor Xor, __tsan_atomic16_fetch_nand fetch_nand Nand]
        __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
        __tsan_atomic16_compare_exchange_val;
    u32 AtomicU32 4 __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange
        [__tsan_atomic32_fetch_add fetch_add Add, __tsan_atomic32_fetch_sub fetch_sub Subtract, __tsan_atomic32_fetch_and fetch_and And,
         __tsan_atomic32_fetch_or fetch_or Or, __tsan_atomic32_fetch_xor fetch_xor Xor, __tsan_atomic32_fetch_nand fetch_nand Nand]
        __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
        __tsan_atomic32_compare_exchange_val;
    u64 AtomicU64 8 __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange
        [__tsan_atomic64_fetch_add fetch_add Add, __tsan_atomic64_fetch_sub fetch_sub Subtract, __tsan_atomic64_fetch_and fetch_and And,
         __tsan_atomic64_fetch_or fetch_or Or, __tsan_atomic64_fetch_xor fetch_xor Xor, __tsan_atomic64_fetch_nand fetch_nand Nand]
        __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
        __tsan_atomic64_compare_exchange_val;
}

/// An atomic instruction of inline assembly is about to be executed: one that writes, or one that does so if the memory
/// has the expected value. Either way it orders like a sequentially consistent operation.
pub fn assembly_update(address: usize, size: usize, expected: Option<usize>) {
    const SEQUENTIAL: i32 = 5;
    step(Op::Update, address, size, 0);
    let mask = if size >= 8 { u64::MAX } else { (1 << (size * 8)) - 1 };
    let success = expected.is_none_or(|e| read_value(address, size) as u64 & mask == e as u64 & mask);
    let mut w = world();
    w.loaded(address, size, SEQUENTIAL);
    if success {
        w.stored(address, size, SEQUENTIAL, true);
    }
    w.note_cell(address, size, success);
}

/// A fence of inline assembly is about to be executed.
pub fn assembly_fence() {
    const SEQUENTIAL: i32 = 5;
    if is_weak() {
        messages::fence(SEQUENTIAL);
    }
}

/// A fence between threads.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_thread_fence(order: i32) {
    if !running() {
        fence(Ordering::SeqCst);
        return;
    }
    if is_weak() {
        return messages::fence(order);
    }
    let mut w = world();
    if acquires(order) {
        let acquired = w.me().acquired;
        w.acquire(&acquired);
    }
    if releases(order) {
        let clock = w.release();
        w.me().fence = clock;
    }
}

/// A fence within a thread.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_signal_fence(_order: i32) {}
