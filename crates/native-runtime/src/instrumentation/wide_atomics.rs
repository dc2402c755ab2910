//! Atomic operations on more than eight bytes: `__int128`, and structures of any size by the functions of libatomic.
//!
//! Each is one step, as in `atomics`. What the exploration knows of it is less: whether a compare-and-swap will succeed is not told
//! before, so each counts as a write, and a loop that waits for such a value is never idle. Weak memory models do not cover them.

use crate::exploration::world::{running, world};
use crate::instrumentation::atomics::step;
use crate::protocol::Op;

/// Announces an access and waits for its turn.
fn begin(op: Op, address: usize, size: usize) {
    if running() {
        // Values are read behind pointers without a hook.
        world().distrust_stale();
        step(op, address, size, 0);
    }
}

/// The access was made, in these ways and orders.
fn end(address: usize, size: usize, read: Option<i32>, written: Option<i32>) {
    if !running() {
        return;
    }
    if let Some(order) = read {
        world().loaded(address, size, order);
    }
    if let Some(order) = written {
        world().stored(address, size, order, read.is_some());
    }
    world().note_changed();
}

fn copy(from: usize, to: usize, size: usize) {
    // SAFETY: memory that the program gives to be read and written.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, size) };
}

fn equal(a: usize, b: usize, size: usize) -> bool {
    // SAFETY: memory that the program gives to be read.
    unsafe {
        std::slice::from_raw_parts(a as *const u8, size) == std::slice::from_raw_parts(b as *const u8, size)
    }
}

/// Load.
#[unsafe(no_mangle)]
pub extern "C" fn __atomic_load(size: usize, address: usize, result: usize, order: i32) {
    begin(Op::Load, address, size);
    copy(address, result, size);
    end(address, size, Some(order), None);
}

/// Store.
#[unsafe(no_mangle)]
pub extern "C" fn __atomic_store(size: usize, address: usize, value: usize, order: i32) {
    begin(Op::Store, address, size);
    copy(value, address, size);
    end(address, size, None, Some(order));
}

/// Exchange.
#[unsafe(no_mangle)]
pub extern "C" fn __atomic_exchange(size: usize, address: usize, value: usize, result: usize, order: i32) {
    begin(Op::Update, address, size);
    // The result may lie where the value is.
    // SAFETY: memory that the program gives to be read.
    let new = unsafe { std::slice::from_raw_parts(value as *const u8, size) }.to_vec();
    copy(address, result, size);
    copy(new.as_ptr() as usize, address, size);
    end(address, size, Some(order), Some(order));
}

/// Compare and swap; gives whether it succeeded.
#[unsafe(no_mangle)]
pub extern "C" fn __atomic_compare_exchange(
    size: usize,
    address: usize,
    expected: usize,
    new: usize,
    order: i32,
    failure: i32,
) -> bool {
    begin(Op::Update, address, size);
    let success = equal(address, expected, size);
    if success {
        copy(new, address, size);
        end(address, size, Some(order), Some(order));
    } else {
        copy(address, expected, size);
        end(address, size, Some(failure), None);
    }
    success
}

fn at<T>(value: &T) -> usize {
    std::ptr::from_ref(value) as usize
}

macro_rules! of_sixteen_bytes {
    ($($load:ident $store:ident $exchange:ident $strong:ident),*) => { $(
        /// Load.
        #[unsafe(no_mangle)]
        pub extern "C" fn $load(address: usize, order: i32) -> u128 {
            let mut value = 0u128;
            __atomic_load(16, address, std::ptr::from_mut(&mut value) as usize, order);
            value
        }

        /// Store.
        #[unsafe(no_mangle)]
        pub extern "C" fn $store(address: usize, value: u128, order: i32) {
            __atomic_store(16, address, at(&value), order);
        }

        /// Exchange.
        #[unsafe(no_mangle)]
        pub extern "C" fn $exchange(address: usize, value: u128, order: i32) -> u128 {
            let mut old = 0u128;
            __atomic_exchange(16, address, at(&value), std::ptr::from_mut(&mut old) as usize, order);
            old
        }

        /// Compare and swap; gives whether it succeeded.
        #[unsafe(no_mangle)]
        pub extern "C" fn $strong(address: usize, expected: usize, new: u128, order: i32, failure: i32) -> i32 {
            i32::from(__atomic_compare_exchange(16, address, expected, at(&new), order, failure))
        }
    )* };
}

of_sixteen_bytes! {
    __tsan_atomic128_load __tsan_atomic128_store __tsan_atomic128_exchange __tsan_atomic128_compare_exchange_strong,
    __atomic_load_16 __atomic_store_16 __atomic_exchange_16 __atomic_compare_exchange_16
}

/// Compare and swap; it does not fail spuriously.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic128_compare_exchange_weak(
    address: usize,
    expected: usize,
    new: u128,
    order: i32,
    failure: i32,
) -> i32 {
    __tsan_atomic128_compare_exchange_strong(address, expected, new, order, failure)
}

/// Compare and swap; gives the old value.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic128_compare_exchange_val(
    address: usize,
    expected: u128,
    new: u128,
    order: i32,
    failure: i32,
) -> u128 {
    let mut old = expected;
    let at_old = std::ptr::from_mut(&mut old) as usize;
    __atomic_compare_exchange(16, address, at_old, at(&new), order, failure);
    old
}

macro_rules! updates {
    ($($name:ident $other:ident $change:expr),*) => { $(
        /// Read, modify, write.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(address: usize, value: u128, order: i32) -> u128 {
            begin(Op::Update, address, 16);
            // SAFETY: the program's own access.
            let old = unsafe { (address as *const u128).read_unaligned() };
            let change: fn(u128, u128) -> u128 = $change;
            copy(at(&change(old, value)), address, 16);
            end(address, 16, Some(order), Some(order));
            old
        }

        /// The same, by libatomic.
        #[unsafe(no_mangle)]
        pub extern "C" fn $other(address: usize, value: u128, order: i32) -> u128 {
            $name(address, value, order)
        }
    )* };
}

updates! {
    __tsan_atomic128_fetch_add __atomic_fetch_add_16 u128::wrapping_add,
    __tsan_atomic128_fetch_sub __atomic_fetch_sub_16 u128::wrapping_sub,
    __tsan_atomic128_fetch_and __atomic_fetch_and_16 |a, b| a & b,
    __tsan_atomic128_fetch_or __atomic_fetch_or_16 |a, b| a | b,
    __tsan_atomic128_fetch_xor __atomic_fetch_xor_16 |a, b| a ^ b,
    __tsan_atomic128_fetch_nand __atomic_fetch_nand_16 |a, b| !(a & b)
}
