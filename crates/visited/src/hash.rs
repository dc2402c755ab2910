//! Hashing of words by folded multiplication. Hashes only place entries; equality is always decided by
//! comparing.

/// Folds the 128-bit product.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Spreads one word over all bits.
#[inline(always)]
pub(crate) fn mix(word: u64) -> u64 {
    fold(word ^ 0x9e37_79b9_7f4a_7c15, 0xe703_7ed1_a0b4_28db)
}

/// Spreads one word over all bits, without loss (the finaliser of MurmurHash3, by Austin Appleby).
#[inline(always)]
pub(crate) fn bijective(mut word: u64) -> u64 {
    word ^= word >> 33;
    word = word.wrapping_mul(0xff51_afd7_ed55_8ccd);
    word ^= word >> 33;
    word = word.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ (word >> 33)
}

/// The contribution of the word at `index` to the hash of a state. The hash is the sum over all words,
/// so that changing a word changes the hash by a difference.
#[inline(always)]
pub(crate) fn term(index: usize, word: u64) -> u64 {
    let salt = (index as u64 + 1).wrapping_mul(0xa076_1d64_78bd_642f);
    fold(word ^ salt, salt.rotate_left(29) ^ 0x8ebc_6af0_9c88_c6e3)
}

/// The hash of a key of two to four slots; never 0.
#[inline(always)]
pub(crate) fn slots_hash<const SLOTS: usize>(key: &[u32; SLOTS]) -> u64 {
    let word = |at: usize| {
        let low = key.get(at).copied().unwrap_or(0);
        let high = key.get(at + 1).copied().unwrap_or(0);
        u64::from(low) | u64::from(high) << 32
    };
    let hash = if SLOTS <= 2 {
        mix(word(0))
    } else {
        fold(word(0) ^ 0x9e37_79b9_7f4a_7c15, word(2) ^ 0xe703_7ed1_a0b4_28db)
    };
    hash | 1
}
