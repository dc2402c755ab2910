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
    /// For each word, the inner nodes above its low and above its high slot, as bits. Empty when there are more than 64
    /// nodes.
    pub(crate) above: Vec<[u64; 2]>,
}

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
        let deal = |first: u32| (first..slots).step_by(2).collect::<Vec<_>>();
        if words > 1 {
            plan.tops = [plan.add(&deal(0)), plan.add(&deal(1))];
        }
        if plan.nodes.len() <= MOST_BITS {
            plan.above = vec![[0; 2]; words];
            let mut below: Vec<Vec<u32>> = Vec::new();
            for (index, node) in plan.nodes.iter().enumerate() {
                let children = &node.children[..node.arity as usize];
                let mine: Vec<u32> = if node.lowest {
                    children.to_vec()
                } else {
                    children.iter().flat_map(|c| below[*c as usize].clone()).collect()
                };
                for &slot in &mine {
                    plan.above[slot as usize / 2][slot as usize % 2] |= 1 << index;
                }
                below.push(mine);
            }
        }
        plan
    }

    /// Adds the tree over two slots or more; gives the number of its topmost node.
    fn add(&mut self, slots: &[u32]) -> usize {
        let arity = arity(slots.len());
        let lowest = arity == slots.len();
        let mut children = [0; 4];
        for (first, child) in children.iter_mut().enumerate().take(arity) {
            // A child over one slot occurs only where all are: larger nodes have children over two slots at least.
            *child = if lowest {
                slots[first]
            } else {
                self.add(&slots.iter().copied().skip(first).step_by(arity).collect::<Vec<_>>()) as u32
            };
        }
        self.nodes.push(Node { children, arity: arity as u32, lowest });
        self.nodes.len() - 1
    }

    /// Number of inner nodes for states of this length.
    #[inline]
    pub(crate) fn nodes_of(words: usize) -> usize {
        2 * nodes_over(words)
    }
}

/// Children of a node over this many slots.
fn arity(slots: usize) -> usize {
    match slots {
        0..=4 => slots,
        5..=16 => slots.div_ceil(4),
        _ => 2,
    }
}

/// Nodes of the tree over this many slots.
fn nodes_over(slots: usize) -> usize {
    if slots <= 1 {
        return 0;
    }
    let arity = arity(slots);
    1 + (0..arity).map(|first| nodes_over((slots - first).div_ceil(arity))).sum::<usize>()
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
