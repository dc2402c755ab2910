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

/// The contribution of the word at `index` to the hash of a state. The hash is the sum over all words,
/// so that changing a word changes the hash by a difference.
#[inline(always)]
pub(crate) fn term(index: usize, word: u64) -> u64 {
    let salt = (index as u64 + 1).wrapping_mul(0xa076_1d64_78bd_642f);
    fold(word ^ salt, salt.rotate_left(29) ^ 0x8ebc_6af0_9c88_c6e3)
}
