//! Predecessors of all states in little more than a byte each.
//!
//! Breadth-first search numbers states in the order of discovery, so the children of a state have
//! consecutive numbers and come after the children of every earlier state. It suffices to write down, per
//! expanded state, how many children it discovered: in unary, a 1 per child and a 0 at the end (the level-order
//! unary degree sequence of a tree: Jacobson, "Space-efficient static trees and graphs", 1989). To repeat
//! the step, each state also keeps its number among its parent's successors, in a byte, with a side table
//! for the rare larger ones.

use std::collections::HashMap;

use crate::Path;

#[derive(Debug, Default)]
pub(crate) struct Parents {
    bits: Vec<u64>,
    /// The word being filled.
    last: u64,
    bit_len: usize,
    choices: Vec<u8>,
    large: HashMap<u64, u32>,
    roots: u64,
}

/// In `choices`: look in the side table.
const LARGE: u8 = u8::MAX;

impl Parents {
    #[inline(always)]
    fn push_bit(&mut self, bit: bool) {
        self.last |= u64::from(bit) << (self.bit_len % 64);
        self.bit_len += 1;
        if self.bit_len.is_multiple_of(64) {
            self.bits.push(self.last);
            self.last = 0;
        }
    }

    fn bit(&self, position: usize) -> bool {
        let word = self.bits.get(position / 64).copied().unwrap_or(self.last);
        word >> (position % 64) & 1 == 1
    }

    #[inline(always)]
    fn push_choice(&mut self, choice: u32) {
        if choice < u32::from(LARGE) {
            self.choices.push(choice as u8);
        } else {
            self.large.insert(self.choices.len() as u64, choice);
            self.choices.push(LARGE);
        }
    }

    /// An initial state was stored.
    pub(crate) fn root(&mut self, choice: u32) {
        self.roots += 1;
        self.push_choice(choice);
    }

    /// The state being expanded discovered a state by its successor number `choice`.
    #[inline(always)]
    pub(crate) fn child(&mut self, choice: u32) {
        self.push_bit(true);
        self.push_choice(choice);
    }

    /// The state being expanded is done; the next one is expanded from now on.
    #[inline(always)]
    pub(crate) fn done(&mut self) {
        self.push_bit(false);
    }

    /// The way to state number `state`.
    pub(crate) fn path(&self, state: u64) -> Path {
        let mut choices = Vec::new();
        let mut at = state;
        // Walk the bits backwards once: predecessors only have smaller numbers.
        let mut position = self.bit_len;
        let mut ones = self.choices.len() as u64 - self.roots;
        let mut zeros = position as u64 - ones;
        loop {
            choices.push(self.choice(at));
            if at < self.roots {
                break;
            }
            // The 1 of state `at` is the (at - roots)th 1, counted from 0; the zeros before it number its
            // parent.
            let wanted = at - self.roots;
            while ones > wanted {
                position -= 1;
                if self.bit(position) { ones -= 1 } else { zeros -= 1 }
            }
            at = zeros;
        }
        choices.reverse();
        Path { choices }
    }

    fn choice(&self, state: u64) -> u32 {
        match self.choices[state as usize] {
            LARGE => self.large[&state],
            choice => u32::from(choice),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.bits.capacity() * 8 + self.choices.capacity() + self.large.len() * 24) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_a_known_tree() {
        // Two roots 0, 1; 0 -> 2 (choice 1), 3 (choice 300); 1 -> nothing; 2 -> 4 (choice 0); 3 -> 5 (7).
        let mut parents = Parents::default();
        parents.root(0);
        parents.root(5);
        parents.child(1);
        parents.child(300);
        parents.done();
        parents.done();
        parents.child(0);
        parents.done();
        parents.child(7);
        parents.done();
        assert_eq!(parents.path(0).choices, [0]);
        assert_eq!(parents.path(1).choices, [5]);
        assert_eq!(parents.path(2).choices, [0, 1]);
        assert_eq!(parents.path(4).choices, [0, 1, 0]);
        assert_eq!(parents.path(5).choices, [0, 300, 7]);
    }
}
