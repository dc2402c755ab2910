//! Canonical numberings by signatures of threads.
//!
//! In most states of most programs the threads differ, in where they stand, in their values, or in what they refer to. Then
//! sorting the few threads is enough: the objects follow in the order in which walks from the globals and from the threads
//! meet them, as under heap symmetry ([`crate::heap`]). The steps:
//!
//! 1. Sort the threads by kind and data. Location comes first, so that a step rarely moves a thread past another one, and most
//!    representatives are the states themselves.
//! 2. Number what the globals lead to. Threads are not entered.
//! 3. Sort threads that are still alike by what they refer to, and then by what refers to them, as far as that has a number.
//! 4. Threads still alike may be *twins*: same data, the very same references, and nothing refers to them. They need no choice.
//! 5. Number what each thread leads to, in this order.
//!
//! If threads remain alike that are not twins, or nodes that nothing leads to, nothing is decided here and the other ways of the
//! exact form are tried.
//!
//! Why this is canonical: up to step 3 everything is compared by kinds, data, labels and numbers given before, so a renumbered
//! graph is treated alike, and so is the question whether to give up. Exchanging twins maps the graph to itself, so either
//! order of them leads to the same graph. With the order of the threads the walks are determined, since of the edges of a
//! node at most one has each label; graphs for which that is not so are not numbered here.

use std::cmp::Ordering;

use crate::graph::{Graph, NodeId, ROOT};
use crate::heap::{HeapWalk, NONE};
use crate::partition::mix;

/// Scratch memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signatures {
    walk: HeapWalk,
    /// The threads, in the order found so far.
    threads: Vec<NodeId>,
    /// For each node, what refers to it: how often, and a sum of hashes of labels and numbers.
    referrers: Vec<(u32, u64)>,
}

impl Signatures {
    /// Numbers the nodes of a graph without unordered edges, if signatures suffice: the root, the threads, the objects.
    #[inline]
    pub(crate) fn number(&mut self, graph: &Graph, number: &mut Vec<u32>) -> bool {
        // Where the globals lead nowhere, threads with the same data can hardly be told apart by what they refer to.
        let Some(ties) = self.sort(graph, !graph.edges(ROOT).is_empty()) else { return false };
        number.clear();
        number.resize(graph.len(), NONE);
        number[ROOT as usize] = 0;
        // Threads that are alike have the same number for the time being.
        let mut place = 1;
        for (at, &thread) in self.threads.iter().enumerate() {
            if !ties || at > 0 && compare_data(graph, self.threads[at - 1], thread) != Ordering::Equal {
                place = at as u32 + 1;
            }
            number[thread as usize] = place;
        }
        let mut next = self.threads.len() as u32 + 1;
        self.walk.walk(graph, ROOT, number, &mut next);
        if ties && !self.separate(graph, number) {
            return false;
        }
        for &thread in &self.threads {
            self.walk.walk(graph, thread, number, &mut next);
        }
        next as usize == graph.len()
    }

    /// Sorts the threads by kind and data, by insertion: they are nearly sorted, since most steps start from a representative.
    /// Gives whether some are alike; `None` at once if `ties` are not allowed and there is one.
    #[inline]
    fn sort(&mut self, graph: &Graph, ties: bool) -> Option<bool> {
        let mut tie = false;
        self.threads.clear();
        for thread in graph.threads() {
            let mut at = self.threads.len();
            self.threads.push(thread);
            while at > 0 {
                let before = self.threads[at - 1];
                match compare_data(graph, before, thread) {
                    Ordering::Less => break,
                    Ordering::Equal if ties => {
                        tie = true;
                        break;
                    }
                    // Found for every renumbering of the graph: what is inserted ends up next to its equals.
                    Ordering::Equal => return None,
                    Ordering::Greater => {
                        self.threads[at] = before;
                        at -= 1;
                    }
                }
            }
            self.threads[at] = thread;
        }
        Some(tie)
    }

    /// Orders the threads that have the same number and gives each its own; `false` if some are alike and no twins.
    fn separate(&mut self, graph: &Graph, number: &mut [u32]) -> bool {
        let mut known = false;
        let mut start = 0;
        while start < self.threads.len() {
            let place = number[self.threads[start] as usize];
            let alike = self.threads[start..].iter().take_while(|t| number[**t as usize] == place).count();
            if alike > 1 {
                let by_references = |a: &NodeId, b: &NodeId| compare_references(graph, number, *a, *b);
                let cell = &mut self.threads[start..start + alike];
                cell.sort_unstable_by(by_references);
                if cell.windows(2).any(|pair| by_references(&pair[0], &pair[1]) == Ordering::Equal) {
                    if !known {
                        self.find_referrers(graph, number);
                        known = true;
                    }
                    if !self.separate_by_referrers(start..start + alike, graph, number) {
                        return false;
                    }
                }
            }
            start += alike;
        }
        for (thread, place) in self.threads.iter().zip(1..) {
            number[*thread as usize] = place;
        }
        true
    }

    fn separate_by_referrers(&mut self, cell: std::ops::Range<usize>, graph: &Graph, number: &[u32]) -> bool {
        let referrers = &self.referrers;
        let compare = |a: &NodeId, b: &NodeId| {
            compare_references(graph, number, *a, *b)
                .then_with(|| referrers[*a as usize].cmp(&referrers[*b as usize]))
        };
        let cell = &mut self.threads[cell];
        cell.sort_unstable_by(compare);
        cell.windows(2).all(|pair| {
            let [a, b] = [pair[0], pair[1]];
            compare(&a, &b) != Ordering::Equal
                || graph.edges(a) == graph.edges(b) && referrers[a as usize].0 + referrers[b as usize].0 == 0
        })
    }

    fn find_referrers(&mut self, graph: &Graph, number: &[u32]) {
        self.referrers.clear();
        self.referrers.resize(graph.len(), (0, 0));
        for (source, place) in (0..graph.len() as NodeId).zip(number) {
            for edge in graph.edges(source) {
                let (count, sum) = &mut self.referrers[edge.target as usize];
                *count += 1;
                *sum = sum.wrapping_add(mix(u64::from(edge.label) << 32 | u64::from(*place)));
            }
        }
    }
}

#[inline]
fn compare_data(graph: &Graph, a: NodeId, b: NodeId) -> Ordering {
    if graph.kind(a) != graph.kind(b) {
        return graph.kind(a).cmp(&graph.kind(b));
    }
    let (a, b) = (graph.data(a), graph.data(b));
    match a.iter().zip(b).find(|(x, y)| x != y) {
        Some((x, y)) => x.cmp(y),
        None => a.len().cmp(&b.len()),
    }
}

/// By labels and numbers of what two nodes refer to.
#[inline]
fn compare_references(graph: &Graph, number: &[u32], a: NodeId, b: NodeId) -> Ordering {
    let references = |node| graph.edges(node).iter().map(|edge| (edge.label, number[edge.target as usize]));
    references(a).cmp(references(b))
}
