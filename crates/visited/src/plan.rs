//! The shape of the tree over the slots of a state.

/// An inner node: the values of its children make its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// The children: all slots, or all inner nodes, by number. Those beyond the arity are 0.
    pub(crate) children: [u32; 4],
    /// Two to four.
    pub(crate) arity: u32,
    /// The children are slots.
    pub(crate) lowest: bool,
}

/// The tree over the slots of states of one length. Inner nodes are numbered, children before parents; the root is not
/// among them.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) slots: usize,
    pub(crate) nodes: Vec<Node>,
    /// The two nodes below the root; meaningless for states of one word, whose root is over slots.
    pub(crate) tops: [usize; 2],
    /// For each slot, the inner nodes above it, as bits. Empty when there are more than 64 nodes.
    pub(crate) above: Vec<u64>,
}

/// Slots from which on nodes are over four of them.
const FEW_SLOTS: u32 = 16;

/// Most inner nodes for which the nodes above a slot are kept as bits.
const MOST_BITS: usize = 64;

impl Node {
    /// The values of the children.
    #[inline(always)]
    pub(crate) fn values(&self, slots: &[u32], nodes: &[u32]) -> [u32; 4] {
        let values = if self.lowest { slots } else { nodes };
        self.children.map(|child| values[child as usize])
    }
}

impl Plan {
    pub(crate) fn new(words: usize) -> Plan {
        let slots = 2 * words as u32;
        let mut plan = Plan { slots: slots as usize, ..Plan::default() };
        if words > 1 {
            let lowest = plan.add_lowest(slots);
            let deal = |first: usize| lowest.iter().copied().skip(first).step_by(2).collect::<Vec<_>>();
            plan.tops = [plan.add(&deal(0)), plan.add(&deal(1))];
        }
        if plan.nodes.len() <= MOST_BITS {
            plan.above = vec![0; plan.slots];
            let mut below: Vec<Vec<u32>> = Vec::new();
            for (index, node) in plan.nodes.iter().enumerate() {
                let children = &node.children[..node.arity as usize];
                let mine: Vec<u32> = if node.lowest {
                    children.to_vec()
                } else {
                    children.iter().flat_map(|c| below[*c as usize].clone()).collect()
                };
                for &slot in &mine {
                    plan.above[slot as usize] |= 1 << index;
                }
                below.push(mine);
            }
        }
        plan
    }

    /// The inner nodes above slots in which two states of this length differ, as bits. There must be at most 64.
    #[inline(always)]
    pub(crate) fn above_changes(&self, new: &[u64], old: &[u64]) -> u64 {
        let mut dirty = 0;
        for (chunk, (new, old)) in new.chunks(32).zip(old.chunks(32)).enumerate() {
            // First which slots differ, as bits, without a decision; then one decision for each of them.
            let mut changed = changed_slots(new, old);
            while changed != 0 {
                let slot = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                dirty |= self.above[64 * chunk + slot];
            }
        }
        dirty
    }

    /// Adds the nodes over slots: neighbours together, since a step changes neighbours. At least two nodes, of two to four
    /// slots each: of two where there would be so few of four that they could not be dealt evenly, and one of them could have nearly as many
    /// values as there are states.
    fn add_lowest(&mut self, slots: u32) -> Vec<u32> {
        let count = if slots < FEW_SLOTS { slots / 2 } else { slots.div_ceil(4) }.max(2);
        let mut first = 0;
        for node in 0..count {
            let arity = (slots - first).div_ceil(count - node);
            let children =
                std::array::from_fn(|child| if (child as u32) < arity { first + child as u32 } else { 0 });
            self.nodes.push(Node { children, arity, lowest: true });
            first += arity;
        }
        (0..count).collect()
    }

    /// Adds the tree over nodes, at least one; gives the number of its topmost node. Nodes are dealt to the children like
    /// cards, so that all of them vary equally.
    fn add(&mut self, nodes: &[u32]) -> usize {
        if let [single] = nodes {
            return *single as usize;
        }
        let arity = arity(nodes.len());
        let mut children = [0; 4];
        for (first, child) in children.iter_mut().enumerate().take(arity) {
            *child = self.add(&nodes.iter().copied().skip(first).step_by(arity).collect::<Vec<_>>()) as u32;
        }
        self.nodes.push(Node { children, arity: arity as u32, lowest: false });
        self.nodes.len() - 1
    }

    /// Number of inner nodes for states of this length.
    pub(crate) fn nodes_of(words: usize) -> usize {
        Plan::new(words).nodes.len()
    }
}

/// Which slots of up to 32 words differ, as bits.
#[inline(always)]
fn changed_slots(new: &[u64], old: &[u64]) -> u64 {
    let words = new.len().min(old.len()).min(32);
    let mut changed = 0;
    let mut done = 0;
    #[cfg(target_arch = "x86_64")]
    while done + 2 <= words {
        use std::arch::x86_64::*;
        // SAFETY: two words from `done` on are inside both; SSE2 is part of x86-64.
        let equal = unsafe {
            let new = _mm_loadu_si128(new.as_ptr().add(done).cast());
            let old = _mm_loadu_si128(old.as_ptr().add(done).cast());
            _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(new, old)))
        };
        changed |= ((equal ^ 0xf) as u64) << (2 * done);
        done += 2;
    }
    for word in done..words {
        let differs = new[word] ^ old[word];
        changed |= (u64::from(differs as u32 != 0) | u64::from(differs >> 32 != 0) << 1) << (2 * word);
    }
    changed
}

/// Children of a node over this many nodes.
fn arity(nodes: usize) -> usize {
    match nodes {
        0..=4 => nodes,
        5..=16 => nodes.div_ceil(4),
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_is_in_the_tree_once() {
        for words in 2..80 {
            let plan = Plan::new(words);
            assert_eq!(plan.nodes.len(), Plan::nodes_of(words), "{words} words");
            let (mut slots, mut nodes) = (vec![0; plan.slots], vec![0; plan.nodes.len()]);
            plan.tops.iter().for_each(|top| nodes[*top] += 1);
            for (index, node) in plan.nodes.iter().enumerate() {
                for &child in &node.children[..node.arity as usize] {
                    assert!(node.lowest || (child as usize) < index, "children come before parents");
                    (if node.lowest { &mut slots } else { &mut nodes })[child as usize] += 1;
                }
            }
            assert!(slots.iter().chain(&nodes).all(|times| *times == 1), "{words} words");
        }
    }
}
