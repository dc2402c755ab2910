//! Random numbers from outside: one sequence for all threads, from its beginning in every execution.
//!
//! That the order matters in which threads ask is said in the table of library functions.

use crate::environment::outside::note;
use crate::exploration::world::{active, controlled, world};
use crate::pass_on;
use crate::protocol::Outside;

fn next_byte() -> u8 {
    let mut w = world();
    w.random = w.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (w.random >> 56) as u8
}

/// `getrandom`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(out: *mut u8, size: usize, flags: u32) -> isize {
    if !active() {
        return pass_on!("getrandom", fn(*mut u8, usize, u32) -> isize; out, size, flags);
    }
    note(Outside::Random, b"getrandom");
    for index in 0..size {
        // SAFETY: the caller gives room for `size` bytes.
        unsafe { *out.add(index) = next_byte() };
    }
    size as isize
}

/// `std::random_device::random_device(token)`: nothing is opened, whatever the token, and nothing kept in the object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _ZNSt13random_device7_M_initERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(
    _device: usize,
    _token: usize,
) {
}

/// The same with strings as they were before C++11.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _ZNSt13random_device7_M_initERKSs(_device: usize, _token: usize) {}

/// `std::random_device::~random_device()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _ZNSt13random_device7_M_finiEv(_device: usize) {}

/// `std::random_device::entropy()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _ZNKSt13random_device13_M_getentropyEv(_device: usize) -> f64 {
    0.0
}

/// `std::random_device::operator()`. Constructors of the program may call it before `main`, where its numbers are the same in all processes, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _ZNSt13random_device9_M_getvalEv(_device: usize) -> u32 {
    let mut bytes = [0; 4];
    if controlled() {
        note(Outside::Random, b"std::random_device");
        bytes = bytes.map(|_| next_byte());
    } else {
        // SAFETY: room for four bytes; a program that runs by itself.
        unsafe { getrandom(bytes.as_mut_ptr(), bytes.len(), 0) };
    }
    u32::from_ne_bytes(bytes)
}
