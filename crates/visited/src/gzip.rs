//! The gzip store: every state compressed by itself, as in the tables of Robby, Dwyer, Hatcliff and Iosif, "Space-Reduction
//! Strategies for Model Checking Dynamic Software". Kept for comparison: [`crate::Tree`] and [`crate::Collapse`] are smaller and
//! faster.
//!
//! What is kept is the deflate stream alone, without gzip's header and checksum (18 bytes a state that say nothing).
//! Compression is a function of the state and loses nothing, so that equal streams mean equal states: compressed states are
//! compared.

use std::cell::RefCell;
use std::fmt;

use flate2::{Compress, Compression, FlushCompress};
use quotient_seams::{Known, Loaded, Numbering, OUT_OF_MEMORY, Visited};

use crate::hash::{mix, term};
use crate::pool::Pool;

/// States compressed one by one.
#[derive(Debug)]
pub struct Gzip {
    pool: Pool,
    packer: RefCell<Packer>,
    failed: bool,
}

/// Compresses one state after the other.
struct Packer {
    compress: Compress,
    bytes: Vec<u8>,
    packed: Vec<u8>,
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packer").finish_non_exhaustive()
    }
}

impl Packer {
    /// The stream of a state; `None` when the compressor fails, which it has no reason to.
    fn pack(&mut self, state: &[u64]) -> Option<&[u8]> {
        self.bytes.clear();
        self.bytes.extend(state.iter().flat_map(|word| word.to_le_bytes()));
        self.packed.clear();
        self.packed.reserve(self.bytes.len() + self.bytes.len() / 8 + 64);
        self.compress.reset();
        let status = self.compress.compress_vec(&self.bytes, &mut self.packed, FlushCompress::Finish);
        matches!(status, Ok(flate2::Status::StreamEnd)).then_some(&*self.packed)
    }
}

impl Default for Gzip {
    fn default() -> Gzip {
        let compress = Compress::new(Compression::default(), false);
        let packer = Packer { compress, bytes: Vec::new(), packed: Vec::new() };
        Gzip { pool: Pool::default(), packer: RefCell::new(packer), failed: false }
    }
}

impl Gzip {
    /// An empty store.
    pub fn new() -> Gzip {
        Gzip::default()
    }

    /// The number of a state, and whether it is new; `None` if it cannot be stored.
    fn look_up(&mut self, state: &[u64]) -> Option<(u32, bool)> {
        let packed = self.packer.get_mut().pack(state);
        self.failed |= packed.is_none();
        packed.map(|packed| self.pool.number(packed)).filter(|(number, _)| *number != u32::MAX)
    }
}

impl Numbering for Gzip {
    fn number(&mut self, _key: u64, state: &[u64]) -> u32 {
        self.look_up(state).map_or(0, |(number, _)| number)
    }
}

impl Visited for Gzip {
    fn hint_len(&self, _words: usize) -> usize {
        0
    }

    fn load(&mut self, state: &[u64], _parent: Option<Known<'_>>, _hint: &mut [u32]) -> Loaded {
        let sum = state.iter().enumerate().map(|(k, word)| term(k, *word)).fold(0, u64::wrapping_add);
        [mix(sum), 0]
    }

    fn prepare(&mut self, _state: &[u64], [hash, _]: Loaded, _hint: &mut [u32]) -> u64 {
        hash
    }

    fn insert(&mut self, _key: u64, state: &[u64]) -> bool {
        self.look_up(state).is_some_and(|(_, new)| new)
    }

    fn contains(&self, _key: u64, state: &[u64]) -> bool {
        self.packer.borrow_mut().pack(state).is_some_and(|packed| self.pool.find(packed).is_some())
    }

    fn len(&self) -> u64 {
        self.pool.len()
    }

    fn bytes(&self) -> u64 {
        self.pool.bytes()
    }

    fn exhausted(&self) -> Option<&'static str> {
        match (self.failed, self.pool.is_full()) {
            _ if self.pool.is_refused() => Some(OUT_OF_MEMORY),
            (true, _) => Some("a state could not be compressed"),
            (_, true) => Some("no numbers left for states (2^32)"),
            _ => None,
        }
    }

    fn name(&self) -> &'static str {
        "gzip"
    }
}
