//! Names of hosts: only the loopback interface exists, where the program's own servers and the peers of a script (`--peer`) are.
//!
//! `localhost` and its addresses have the address 127.0.0.1. Where a script plays the peers, every name has: they are reached there. Any
//! other name is refused, since who answers for it is outside. The result is a buffer that every call writes, as in the C library.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::exploration::race::{How, access};
use crate::exploration::world::{active, fail, world};
use crate::pass_on;
use crate::protocol::FailureKind;

const INTERNET: usize = 2;
const LOOPBACK: [u8; 4] = [127, 0, 0, 1];
/// The most bytes of a name, with the zero after them.
const NAME: usize = 256;
/// `struct hostent`, the addresses, no aliases, the address itself, the name: in words.
const WORDS: usize = 9 + NAME / 8;

/// The buffer.
static BUFFER: [AtomicUsize; WORDS] = [const { AtomicUsize::new(0) }; WORDS];

/// `gethostbyname`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gethostbyname(name: *const c_char) -> usize {
    if !active() {
        return pass_on!("gethostbyname", fn(*const c_char) -> usize; name);
    }
    // SAFETY: a string of the program, as the caller owes.
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes();
    access(name as usize, bytes.len() + 1, How::READ);
    let own = bytes == b"localhost" || bytes.starts_with(b"127.");
    if !own && world().peer_rules.is_empty() || bytes.len() >= NAME {
        fail(
            FailureKind::Refused,
            "gethostbyname: only the loopback interface, or hosts that --peer plays",
            0,
        );
    }
    let address = |word: usize| BUFFER[word].as_ptr() as usize;
    access(address(0), WORDS * 8, How::WRITE);
    let mut text = [0u8; NAME];
    text[..bytes.len()].copy_from_slice(bytes);
    let words =
        text.chunks(8).map(|piece| piece.iter().rev().fold(0, |word, byte| word << 8 | usize::from(*byte)));
    // Name, aliases, family and length, addresses; the list of addresses, which also ends the aliases; the address.
    let there = u32::from_le_bytes(LOOPBACK) as usize;
    let fields = [address(9), address(5), INTERNET | 4 << 32, address(4), address(6), 0, there, 0, 0];
    for (word, value) in BUFFER.iter().zip(fields.into_iter().chain(words)) {
        word.store(value, Relaxed);
    }
    address(0)
}
