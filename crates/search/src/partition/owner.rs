//! Whose is a state? By the first bits of a hash: owners can be divided without asking the others (extendible hashing: Fagin,
//! Nievergelt, Pippenger, Strong, 1979).

use std::collections::HashSet;

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

/// The owner of a state with this hash among so many.
#[inline(always)]
fn of_several(hash: u64, owners: usize) -> usize {
    ((u128::from(hash) * owners as u128) >> 64) as usize
}

/// The part of a state that decides on its owner among several processes.
///
/// Most steps change a small part of a state. If another part decides, they lead to a state of the same owner, and nothing has to be sent (Lerda and Sisto, "Distributed-memory
/// model checking with SPIN", 1999, take the part that belongs to one process of the model). Which part is good is seen in states found already: bytes are added, those that rarely change first, until
/// owners have about equally many of the states that wait. Whatever is chosen, an owner is a function of the state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deciding {
    /// The bits of each word that decide; empty if all do. Further words do not.
    masks: Vec<u64>,
}

/// Words of which a part is looked for.
const MOST_WORDS: usize = 64;
/// Different values that each owner is to have, at least.
const VALUES: usize = 16;

impl Deciding {
    pub(crate) fn of_masks(masks: Vec<u64>) -> Deciding {
        Deciding { masks }
    }

    pub(crate) fn masks(&self) -> &[u64] {
        &self.masks
    }

    #[inline(always)]
    fn hash(&self, state: &[u64]) -> u64 {
        if self.masks.is_empty() {
            return hash(state);
        }
        let mut part = [0; MOST_WORDS];
        let words = self.masks.len().min(MOST_WORDS);
        for ((to, word), mask) in part[..words].iter_mut().zip(state).zip(&self.masks) {
            *to = word & mask;
        }
        hash(&part[..words])
    }

    /// The owner of a state among so many.
    #[inline(always)]
    pub(crate) fn owner(&self, state: &[u64], owners: usize) -> usize {
        of_several(self.hash(state), owners)
    }

    /// A part by which most steps stay with an owner, if there is one. `steps` are pairs of numbers of states, those from `waiting` on wait.
    pub(crate) fn choose(
        states: &[&[u64]],
        steps: &[(usize, usize)],
        waiting: usize,
        owners: usize,
    ) -> Deciding {
        let words = states.iter().map(|state| state.len()).max().unwrap_or(0).min(MOST_WORDS);
        let waiting = &states[waiting.min(states.len())..];
        let word = |state: usize, at: usize| states[state].get(at).copied().unwrap_or(0);
        let mut changes = vec![(0usize, 0usize); 8 * words];
        changes.iter_mut().enumerate().for_each(|(byte, change)| change.1 = byte);
        for (from, to) in steps {
            for at in 0..words {
                let changed = word(*from, at) ^ word(*to, at);
                for (byte, _) in changed.to_le_bytes().iter().enumerate().filter(|(_, bits)| **bits != 0) {
                    changes[8 * at + byte].0 += 1;
                }
            }
        }
        changes.retain(|(times, _)| *times > 0);
        changes.sort_unstable();
        let mut part = Deciding { masks: vec![0; words] };
        for (_, byte) in changes {
            part.masks[byte / 8] |= 0xff << (8 * (byte % 8));
            let mut values = HashSet::new();
            let mut shares = vec![0; owners];
            for state in waiting {
                values.insert(part.hash(state));
                shares[part.owner(state, owners)] += 1;
            }
            let most: usize = shares.into_iter().max().unwrap_or(0);
            if values.len() < VALUES * owners || 10 * most * owners > 11 * waiting.len() {
                continue;
            }
            let leave = |(from, to): &&(usize, usize)| {
                part.owner(states[*from], owners) != part.owner(states[*to], owners)
            };
            // By the whole state, all but one in `owners` would.
            let leaving = steps.iter().filter(leave).count();
            let is_better = 4 * leaving * owners < 3 * steps.len() * (owners - 1);
            return if is_better { part } else { Deciding::default() };
        }
        Deciding::default()
    }
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
    fn steps_stay_with_an_owner() {
        // Eight threads with a byte each, of which one moves at a time, and a byte that every step changes.
        let mut random = 1u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (random >> 33) % below
        };
        let mut states: Vec<Vec<u64>> = vec![vec![0, 0]];
        let mut steps = Vec::new();
        for number in 1..20_000usize {
            let from = next(number as u64) as usize;
            let (thread, to) = (8 * next(8), next(6));
            let [threads, all] = [states[from][0], states[from][1]];
            states.push(vec![threads & !(0xff << thread) | to << thread, (all + 1) % 200]);
            steps.push((from, number));
        }
        let states: Vec<&[u64]> = states.iter().map(|state| &state[..]).collect();
        for owners in [2, 3, 5] {
            let part = Deciding::choose(&states, &steps, 10_000, owners);
            assert_eq!(part.masks()[1], 0, "what every step changes does not decide");
            let leave = steps
                .iter()
                .filter(|(from, to)| part.owner(states[*from], owners) != part.owner(states[*to], owners));
            let leave = leave.count();
            assert!(2 * leave < steps.len(), "{leave} steps leave their owner");
            let again = Deciding::of_masks(part.masks().to_vec());
            assert!(states.iter().all(|s| again.owner(s, owners) == part.owner(s, owners)));
            assert!(states.iter().all(|s| part.owner(s, owners) < owners));
        }
        // One thread: there is nothing to choose.
        let states: Vec<Vec<u64>> =
            (0..5_000).map(|n| vec![u64::wrapping_mul(n, 0x9E37_79B9_7F4A_7C15)]).collect();
        let states: Vec<&[u64]> = states.iter().map(|state| &state[..]).collect();
        let steps: Vec<(usize, usize)> = (1..5_000).map(|n| (n - 1, n)).collect();
        assert_eq!(Deciding::choose(&states, &steps, 0, 2), Deciding::default());
    }

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
