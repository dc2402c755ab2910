//! The papers' orders on threads: none, by program counter, and k-bounded.
//!
//! Each sorts the threads by something that renaming does not change and leaves ties in their original order, so the result
//! is a representative that may not be canonical: sound, with more than one representative per class.
//!
//! What *original* means decides how much is stored. If a search went on from representatives, each sorting would start from the
//! order the last one left, ties would scramble the threads along the path, and rings would store more than without thread
//! symmetry. Both papers avoid that: R. Iosif's figure 3 goes on from the state found and only stores its representative, his
//! figure 5 carries the permutation along that leads back to the program's order. The two say the same; we do the former
//! ([`quotient_seams::Representative::keeps_found`]). The heap is numbered by a walk from the threads in sorted order, as in figure 4 of
//! Robby, Dwyer, Hatcliff and Iosif. `--symmetry pc-original` ([`crate::Order::Original`]) numbers it in the original order, as Iosif's figure 5 does: in a ring that
//! names the neighbours of every thread by its place, and nothing is merged at all. Since ties depend on the path, so do the
//! counts on the order of the search; depth-first, with successors in the order of the threads, dining philosophers give the
//! papers' counts to the last state (`crates/engine/tests/models/thread_orders.rs`), breadth-first somewhat fewer.
//!
//! - *program counter* (PCS; after Dams, Bosnacki and Holenderski, and R. Iosif's process symmetry): by location.
//! - *kBOTS* (Robby, Dwyer, Hatcliff, Iosif, figure 3): by stack height, locations, primitive values, then by a simultaneous
//!   depth-first walk over what the threads reach, at most `k` steps deep. The figure's comparison is not antisymmetric when
//!   both objects were seen or both are null; then we go on with EQUAL. Nor is it transitive, since it answers EQUAL when
//!   both threads reach the same object; therefore the threads are sorted by insertion, which needs no total order. Only objects
//!   are entered: ids of threads are not compared. As printed, the figure compares locals and fields, so neither who holds a lock
//!   nor how often counts.

use std::cmp::Ordering;

use crate::graph::{Edge, Graph, NodeId};

/// How threads are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadOrder {
    /// As they are.
    None,
    /// By location.
    ProgramCounter,
    /// By everything they reach in at most this many steps; `None`: in any number.
    Bounded(Option<u32>),
}

/// Sorts threads.
#[derive(Clone, Debug, Default)]
pub struct ThreadSorter {
    seen_left: Vec<NodeId>,
    seen_right: Vec<NodeId>,
    /// The order found by the last call.
    pub order: Vec<NodeId>,
}

impl ThreadSorter {
    /// Sorts the threads of a graph into [`ThreadSorter::order`].
    pub fn sort(&mut self, graph: &Graph, by: ThreadOrder) {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(graph.threads());
        if by != ThreadOrder::None {
            for end in 1..order.len() {
                let mut at = end;
                while at > 0 && self.compare(graph, by, order[at - 1], order[at]) == Ordering::Greater {
                    order.swap(at - 1, at);
                    at -= 1;
                }
            }
        }
        self.order = order;
    }

    fn compare(&mut self, graph: &Graph, by: ThreadOrder, a: NodeId, b: NodeId) -> Ordering {
        let control = graph.kind(a).cmp(&graph.kind(b)).then_with(|| graph.control(a).cmp(graph.control(b)));
        let ThreadOrder::Bounded(bound) = by else { return control };
        control.then_with(|| graph.values(a).cmp(graph.values(b))).then_with(|| {
            self.seen_left.clear();
            self.seen_right.clear();
            self.references(graph, a, b, bound.unwrap_or(u32::MAX))
        })
    }

    /// Compares what two nodes refer to, label by label.
    fn references(&mut self, graph: &Graph, a: NodeId, b: NodeId, left: u32) -> Ordering {
        let (mut i, mut j) = (0, 0);
        loop {
            let ordering = match (graph.edges(a).get(i), graph.edges(b).get(j)) {
                (None, None) => return Ordering::Equal,
                (Some(x), Some(y)) if x.label == y.label => {
                    i += 1;
                    j += 1;
                    self.walk(graph, Some(*x), Some(*y), left)
                }
                // A label that only one has is a null reference of the other.
                (x, Some(y)) if x.is_none_or(|x| x.label > y.label) => {
                    j += 1;
                    self.walk(graph, None, Some(*y), left)
                }
                (x, _) => {
                    i += 1;
                    self.walk(graph, x.copied(), None, left)
                }
            };
            if ordering != Ordering::Equal {
                return ordering;
            }
        }
    }

    fn walk(&mut self, graph: &Graph, a: Option<Edge>, b: Option<Edge>, left: u32) -> Ordering {
        let (a, b) = (a.map(|e| e.target), b.map(|e| e.target));
        let names_a_thread = |node: Option<NodeId>| node.is_some_and(|n| graph.is_thread(n));
        if left == 0 || a == b || names_a_thread(a) || names_a_thread(b) {
            return Ordering::Equal;
        }
        let a = a.filter(|a| !self.seen_left.contains(a));
        let b = b.filter(|b| !self.seen_right.contains(b));
        match (a, b) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => {
                self.seen_left.push(a);
                self.seen_right.push(b);
                let here = graph.kind(a).cmp(&graph.kind(b));
                here.then_with(|| graph.values(a).cmp(graph.values(b)))
                    .then_with(|| self.references(graph, a, b, left - 1))
            }
        }
    }
}
