//! Whose is a state? By the first bits of a hash: owners can be divided without asking the others (extendible hashing: Fagin,
//! Nievergelt, Pippenger, Strong, 1979).

/// The hash of a state that decides on its owner. Not one that a store uses: the states of one owner must not look alike there.
#[inline(always)]
pub(crate) fn hash(state: &[u64]) -> u64 {
    let mut hash = 0x243F_6A88_85A3_08D3u64 ^ state.len() as u64;
    for word in state {
        let mixed = u128::from(hash ^ word).wrapping_mul(0xD6E8_FEB8_6659_FD93_A076_1D64_78BD_642F);
        hash = mixed as u64 ^ (mixed >> 64) as u64;
    }
    let mixed = u128::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    mixed as u64 ^ (mixed >> 64) as u64
}

/// The owner of a state among so many.
#[inline(always)]
pub(crate) fn of_several(state: &[u64], owners: usize) -> usize {
    ((u128::from(hash(state)) * owners as u128) >> 64) as usize
}

/// Owners by the first bits of the hash.
#[derive(Debug)]
pub(crate) struct Owners {
    /// How many bits decide.
    bits: u32,
    by_bits: Vec<u32>,
}

impl Default for Owners {
    fn default() -> Self {
        Owners { bits: 0, by_bits: vec![0] }
    }
}

/// Bits that decide, at most.
pub(crate) const MOST_BITS: u32 = 12;

impl Owners {
    #[inline(always)]
    pub(crate) fn of(&self, state: &[u64]) -> usize {
        self.by_bits[hash(state).unbounded_shr(64 - self.bits) as usize] as usize
    }

    /// Divides the states of an owner who is decided on by `depth` bits: those with a further bit go to `other`.
    pub(crate) fn divide(&mut self, owner: usize, depth: u32, other: usize) {
        if depth == self.bits {
            self.by_bits = self.by_bits.iter().flat_map(|owner| [*owner, *owner]).collect();
            self.bits += 1;
        }
        let further = 1 << (self.bits - depth - 1);
        for (bits, to) in self.by_bits.iter_mut().enumerate() {
            if *to == owner as u32 && bits & further != 0 {
                *to = other as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divided_owners_share_what_they_had() {
        let mut owners = Owners::default();
        let states: Vec<[u64; 2]> = (0..4096).map(|n| [n, n / 3]).collect();
        let mut depths = vec![0];
        for _ in 0..20 {
            let before: Vec<usize> = states.iter().map(|s| owners.of(s)).collect();
            // The one with most states.
            let count = |owner: usize| before.iter().filter(|o| **o == owner).count();
            let owner = (0..depths.len()).max_by_key(|owner| count(*owner)).unwrap();
            owners.divide(owner, depths[owner], depths.len());
            depths[owner] += 1;
            depths.push(depths[owner]);
            let other = depths.len() - 1;
            for (state, before) in states.iter().zip(&before) {
                let now = owners.of(state);
                assert!(now == *before || *before == owner && now == other);
            }
            let after = states.iter().filter(|s| owners.of(*s) == other).count();
            assert!(after * 3 > count(owner) && after * 3 < count(owner) * 2, "{after} of {}", count(owner));
        }
    }
}
