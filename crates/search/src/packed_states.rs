//! States that wait, packed: each as what differs from the one before it.
//!
//! States that were found one after the other differ in few bytes, and so do their hints. A word that does not differ costs a bit, one that does a byte that says
//! which of its bytes differ, and these bytes. That is a quarter of what they take as they are, so that the levels of a search are small beside its store.

use crate::frontier::Frontier;

/// States in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct PackedStates {
    /// Runs of states with the same header: how many there are, the header, the states.
    bytes: Box<[u8]>,
    /// Words when unpacked.
    words: usize,
}

/// Words whose bits share a byte.
const GROUP: usize = 8;

/// Bytes after the last one: eight are read at once.
const PADDING: usize = 8;

/// The lowest bit of every byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// How the bytes of a word that differ are pushed together, and apart again.
trait Bytes {
    /// Which bytes of a word are not 0, one bit each, and these bytes.
    fn together(word: u64) -> (u8, u64);
    /// The word.
    fn apart(mask: u8, bytes: u64) -> u64;
}

/// Byte by byte.
struct Plainly;

impl Bytes for Plainly {
    #[inline(always)]
    fn together(word: u64) -> (u8, u64) {
        let (mut mask, mut bytes, mut len, mut left) = (0, 0, 0, word);
        while left != 0 {
            let byte = left.trailing_zeros() / 8;
            let value = left >> (8 * byte) & 0xff;
            mask |= 1 << byte;
            bytes |= value << len;
            len += 8;
            left ^= value << (8 * byte);
        }
        (mask, bytes)
    }

    #[inline(always)]
    fn apart(mut mask: u8, mut bytes: u64) -> u64 {
        let mut word = 0;
        while mask != 0 {
            word |= (bytes & 0xff) << (8 * mask.trailing_zeros());
            bytes >>= 8;
            mask &= mask - 1;
        }
        word
    }
}

/// With the instructions of BMI2, which the processor must have.
#[cfg(target_arch = "x86_64")]
struct Quickly;

#[cfg(target_arch = "x86_64")]
impl Bytes for Quickly {
    #[inline(always)]
    fn together(word: u64) -> (u8, u64) {
        use std::arch::x86_64::_pext_u64;
        // The highest bit of each byte that is not 0.
        let used = (((word & !(ONES << 7)) + !(ONES << 7)) | word) & (ONES << 7);
        // SAFETY: as said above.
        unsafe { (_pext_u64(used, ONES << 7) as u8, _pext_u64(word, (used >> 7) * 0xff)) }
    }

    #[inline(always)]
    fn apart(mask: u8, bytes: u64) -> u64 {
        use std::arch::x86_64::_pdep_u64;
        // SAFETY: as above.
        unsafe { _pdep_u64(bytes, _pdep_u64(u64::from(mask), ONES) * 0xff) }
    }
}

/// Does the processor have BMI2?
#[inline]
fn is_modern() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("bmi2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
fn pack_quickly(states: &[u64], out: &mut Vec<u8>) {
    pack::<Quickly>(states, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
fn unpack_quickly(bytes: &[u8], out: &mut Vec<u64>) {
    unpack::<Quickly>(bytes, out);
}

/// Packs what is in a frontier.
#[inline(always)]
fn pack<B: Bytes>(states: &[u64], out: &mut Vec<u8>) {
    let mut rest = states;
    while let Some(&header) = rest.first() {
        let size = Frontier::size_of(header);
        let run = rest.chunks_exact(size).take_while(|state| state[0] == header).count();
        out.extend_from_slice(&(run as u64).to_le_bytes());
        out.extend_from_slice(&header.to_le_bytes());
        let groups = (size - 1).div_ceil(GROUP);
        // No more is written for a state.
        let most = groups + 9 * (size - 1) + PADDING;
        let mut before: &[u64] = &[];
        for state in rest[..run * size].chunks_exact(size) {
            let state = &state[1..];
            out.reserve(most);
            let start = out.len();
            // SAFETY: so many bytes were reserved; all up to `len` are written: the bits of each group, then the words that differ, of whose eight
            // bytes those count that are pushed together.
            unsafe {
                let to = out.as_mut_ptr().add(start);
                let mut len = groups;
                for (group, words) in state.chunks(GROUP).enumerate() {
                    let mut bits = 0u8;
                    for (index, word) in words.iter().enumerate() {
                        let differs = word ^ before.get(group * GROUP + index).copied().unwrap_or(0);
                        bits |= u8::from(differs != 0) << index;
                    }
                    *to.add(group) = bits;
                    while bits != 0 {
                        let index = bits.trailing_zeros() as usize;
                        bits &= bits - 1;
                        let differs = words[index] ^ before.get(group * GROUP + index).copied().unwrap_or(0);
                        let (mask, bytes) = B::together(differs);
                        *to.add(len) = mask;
                        to.add(len + 1).cast::<u64>().write_unaligned(bytes.to_le());
                        len += 1 + mask.count_ones() as usize;
                    }
                }
                out.set_len(start + len);
            }
            before = state;
        }
        rest = &rest[run * size..];
    }
    out.extend_from_slice(&[0; PADDING]);
}

/// Writes what was packed after what is there; there must be room.
#[inline(always)]
fn unpack<B: Bytes>(bytes: &[u8], out: &mut Vec<u64>) {
    let eight =
        |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes are eight bytes"));
    let mut at = 0;
    while at + PADDING < bytes.len() {
        let (run, header) = (eight(at), eight(at + 8));
        at += 16;
        let size = Frontier::size_of(header);
        let groups = (size - 1).div_ceil(GROUP);
        for number in 0..run {
            let start = out.len();
            out.push(header);
            if number == 0 {
                out.resize(start + size, 0);
            } else {
                out.extend_from_within(start + 1 - size..start);
            }
            let state = &mut out[start + 1..];
            let bits = at;
            at += groups;
            for group in 0..groups {
                let mut bits = bytes[bits + group];
                while bits != 0 {
                    let index = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    let mask = bytes[at];
                    state[group * GROUP + index] ^= B::apart(mask, eight(at + 1));
                    at += 1 + mask.count_ones() as usize;
                }
            }
        }
    }
}

impl PackedStates {
    /// Packs a frontier; `scratch` is a buffer to work in.
    pub(crate) fn new(states: &Frontier, scratch: &mut Vec<u8>) -> PackedStates {
        scratch.clear();
        let words = states.words();
        if is_modern() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor was asked.
            unsafe {
                pack_quickly(words, scratch);
            }
        } else {
            pack::<Plainly>(words, scratch);
        }
        PackedStates { bytes: scratch.as_slice().into(), words: words.len() }
    }

    /// Makes a frontier of them.
    pub(crate) fn unpack(&self, count: u64, to: &mut Frontier) {
        to.fill(count, |out| {
            out.reserve(self.words);
            if is_modern() {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the processor was asked.
                unsafe {
                    unpack_quickly(&self.bytes, out);
                }
            } else {
                unpack::<Plainly>(&self.bytes, out);
            }
        });
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_back_as_they_were() {
        let mut seed = 1u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for round in 0..200 {
            let mut states = Frontier::default();
            let (mut state, mut hint) = (vec![random(9); 1 + random(40) as usize], vec![1, 2]);
            let count = random(300);
            for _ in 0..count {
                match random(12) {
                    0 => state.push(random(1 << 20) << random(44)),
                    1 if state.len() > 1 => drop(state.pop()),
                    2 => hint = (0..random(9)).map(|_| random(1 << 32) as u32).collect(),
                    3 => state.iter_mut().for_each(|word| *word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
                    _ => {
                        let at = random(state.len() as u64) as usize;
                        state[at] ^= random(1 << 16) << random(64);
                    }
                }
                states.push(&state, &hint);
            }
            let packed = PackedStates::new(&states, &mut vec![7; round]);
            let (mut back, mut plain) = (Frontier::default(), Vec::new());
            back.push(&[1], &[]);
            packed.unpack(count, &mut back);
            assert_eq!(back.words(), states.words());
            assert_eq!(back.len(), count);
            // The other way to do it gives and takes the same bytes.
            pack::<Plainly>(states.words(), &mut plain);
            assert_eq!(plain[..], packed.bytes[..]);
            let mut words = Vec::new();
            unpack::<Plainly>(&plain, &mut words);
            assert_eq!(words, states.words());
        }
    }
}
