//! Heap symmetry: numbers for objects by a walk.
//!
//! After figure 4 of R. Iosif, "Symmetry reductions for model checking of concurrent dynamic software": objects are numbered
//! in the order in which a depth-first walk meets them, first from the globals, then from the threads in a given order.
//! Since at most one edge of an object has each label, the walk depends on the graph and the order of the threads alone, so
//! the numbering is canonical once that order is. Members of an unordered collection have no order that a walk could take: states
//! with such are numbered by the exact form, with the threads told apart ([`crate::Ordered`]).

use crate::graph::{Graph, NodeId, ROOT};

/// Scratch memory of the walk.
#[derive(Clone, Debug, Default)]
pub struct HeapWalk {
    stack: Vec<(NodeId, u32)>,
}

/// No number yet.
pub(crate) const NONE: u32 = u32::MAX;

impl HeapWalk {
    /// Numbers all nodes: the root, the threads in the order given, then the objects. `number` gets the numbers.
    pub fn number(&mut self, graph: &Graph, threads: &[NodeId], number: &mut Vec<u32>) {
        number.clear();
        number.resize(graph.len(), NONE);
        number[ROOT as usize] = 0;
        let mut next = 1;
        for &thread in threads {
            number[thread as usize] = next;
            next += 1;
        }
        self.walk(graph, ROOT, number, &mut next);
        for &thread in threads {
            self.walk(graph, thread, number, &mut next);
        }
        // What nothing reaches keeps its order: a system that has such nodes (cells nobody refers to) may number them freely.
        for slot in number.iter_mut().filter(|n| **n == NONE) {
            *slot = next;
            next += 1;
        }
    }

    /// Numbers what a node reaches and has no number, depth first. Threads have theirs and are not entered.
    pub(crate) fn walk(&mut self, graph: &Graph, from: NodeId, number: &mut [u32], next: &mut u32) {
        self.stack.clear();
        self.stack.push((from, 0));
        while let Some((node, position)) = self.stack.last_mut() {
            let Some(edge) = graph.edges(*node).get(*position as usize) else {
                self.stack.pop();
                continue;
            };
            *position += 1;
            if number[edge.target as usize] == NONE {
                number[edge.target as usize] = *next;
                *next += 1;
                self.stack.push((edge.target, 0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_do_not_matter() {
        // Root -> a -> b, and the same with the addresses exchanged.
        let build = |a: NodeId, b: NodeId| {
            let mut g = Graph::new();
            g.object(0);
            g.edge(1, a);
            for node in 1..=2 {
                g.object(if node == a { 7 } else { 8 });
                if node == a {
                    g.edge(0, b);
                }
            }
            g
        };
        let mut walk = HeapWalk::default();
        let mut number = Vec::new();
        let mut forms = Vec::new();
        for g in [build(1, 2), build(2, 1)] {
            walk.number(&g, &[], &mut number);
            forms.push(g.renumbered(&number));
        }
        assert_eq!(forms[0], forms[1]);
    }
}
