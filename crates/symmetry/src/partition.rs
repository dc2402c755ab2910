//! Ordered partitions of the nodes of a graph, and their refinement.
//!
//! A partition is a list of the nodes in which each *cell* is a run; the *colour* of a node is the position where its cell
//! starts. Refinement splits cells by how many edges of each label their members have to and from each cell, until nothing
//! splits any more. Everything done here depends on colours, labels and kinds alone, never on node numbers: of two graphs
//! that are renumberings of each other, the partitions are renumberings too. That is what makes a discrete partition a
//! canonical numbering.
//!
//! Splits go by a hash of the neighbourhood. Two different neighbourhoods with the same hash only leave a cell larger than
//! it could be; nothing is ever decided by a hash alone.

use crate::graph::{Edge, Graph, NodeId};

/// Edges in the other direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct InEdges {
    start: Vec<u32>,
    /// `target` is the source here.
    edges: Vec<Edge>,
}

impl InEdges {
    pub(crate) fn build(&mut self, graph: &Graph) {
        let n = graph.len();
        self.start.clear();
        self.start.resize(n + 2, 0);
        for node in 0..n as NodeId {
            for edge in graph.edges(node) {
                self.start[edge.target as usize + 2] += 1;
            }
        }
        for i in 2..n + 2 {
            self.start[i] += self.start[i - 1];
        }
        self.edges.clear();
        self.edges.resize(graph.edge_count(), Edge { label: 0, target: 0 });
        for node in 0..n as NodeId {
            for edge in graph.edges(node) {
                let at = &mut self.start[edge.target as usize + 1];
                self.edges[*at as usize] = Edge { label: edge.label, target: node };
                *at += 1;
            }
        }
    }

    #[inline]
    pub(crate) fn of(&self, node: NodeId) -> &[Edge] {
        let n = node as usize;
        &self.edges[self.start[n] as usize..self.start[n + 1] as usize]
    }
}

/// An ordered partition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partition {
    /// The nodes, cell by cell.
    pub(crate) order: Vec<NodeId>,
    /// Where the cell of each node starts in `order`.
    pub(crate) colour: Vec<u32>,
    /// For the start of each cell: how many members it has.
    pub(crate) size: Vec<u32>,
    /// How many cells have more than one member.
    pub(crate) ties: u32,
    /// The cells, by their starts, one bit each, with members that have a neighbour whose colour has changed since the cell was
    /// looked at. Only these can split.
    touched: Vec<u64>,
    keys: Vec<u64>,
}

#[inline]
pub(crate) fn mix(x: u64) -> u64 {
    let m = u128::from(x ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
    (m as u64) ^ ((m >> 64) as u64)
}

/// Sorts by the hash; short lists without a call.
fn sort_by_hash(list: &mut [(u64, NodeId)]) {
    if list.len() > 24 {
        list.sort_unstable_by_key(|(hash, _)| *hash);
        return;
    }
    for end in 1..list.len() {
        let item = list[end];
        let mut at = end;
        while at > 0 && item.0 < list[at - 1].0 {
            list[at] = list[at - 1];
            at -= 1;
        }
        list[at] = item;
    }
}

impl Partition {
    /// The nodes by kind and data: by a hash of them, so that only numbers are compared. The order is as good as any other
    /// that renumbering does not change; different nodes with the same hash share a cell like other ties.
    pub(crate) fn by_data(&mut self, graph: &Graph) {
        let n = graph.len();
        // The low bits of the hash give way to the node, so that plain numbers are sorted.
        let low = (n as u64).next_power_of_two() - 1;
        self.keys.clear();
        self.keys.extend((0..n as NodeId).map(|node| {
            let data = graph.data(node).iter();
            let hash = data.fold(mix(u64::from(graph.kind(node))), |hash, word| mix(hash ^ word));
            hash & !low | u64::from(node)
        }));
        self.keys.sort_unstable();
        self.order.resize(n, 0);
        self.colour.resize(n, 0);
        self.size.resize(n, 0);
        self.ties = 0;
        let (order, size) = (&mut self.order[..n], &mut self.size[..n]);
        let mut start = 0;
        for (at, key) in self.keys.iter().enumerate() {
            if (self.keys[start] ^ key) > low {
                start = at;
            }
            let node = key & low;
            order[at] = node as NodeId;
            self.colour[node as usize] = start as u32;
            size[at] = 0;
            size[start] += 1;
            self.ties += u32::from(size[start] == 2);
        }
    }

    fn set_cell(&mut self, start: usize, end: usize) {
        for at in start..end {
            self.colour[self.order[at] as usize] = start as u32;
        }
        self.size[start] = (end - start) as u32;
        self.ties += u32::from(end - start > 1);
    }

    pub(crate) fn copy_from(&mut self, other: &Partition) {
        self.order.clone_from(&other.order);
        self.colour.clone_from(&other.colour);
        self.size.clone_from(&other.size);
        self.ties = other.ties;
        self.touched.clear();
        self.touched.resize(self.order.len().div_ceil(64), 0);
    }

    pub(crate) fn is_discrete(&self) -> bool {
        self.ties == 0
    }

    /// The first of the smallest cells with more than one member.
    pub(crate) fn smallest_tie(&self) -> Option<usize> {
        let mut best: Option<usize> = None;
        let mut at = 0;
        while at < self.order.len() {
            let size = self.size[at] as usize;
            if size > 1 && best.is_none_or(|b| (self.size[b] as usize) > size) {
                best = Some(at);
                if size == 2 {
                    break;
                }
            }
            at += size;
        }
        best
    }

    /// Gives a member of the cell at `start` a cell of its own, in front of the others.
    pub(crate) fn individualise(&mut self, start: usize, node: NodeId, graph: &Graph, edges_in: &InEdges) {
        let size = self.size[start] as usize;
        if let Some(at) = self.order[start..start + size].iter().position(|n| *n == node) {
            self.order.swap(start, start + at);
        }
        self.ties -= 1;
        self.set_cell(start, start + 1);
        self.set_cell(start + 1, start + size);
        self.touch_neighbours(start + 1, start + size, graph, edges_in);
    }

    /// The colours of these nodes have changed.
    fn touch_neighbours(&mut self, start: usize, end: usize, graph: &Graph, edges_in: &InEdges) {
        for &node in &self.order[start..end] {
            for edge in graph.edges(node).iter().chain(edges_in.of(node)) {
                let cell = self.colour[edge.target as usize];
                self.touched[cell as usize / 64] |= 1 << (cell % 64);
            }
        }
    }

    /// The neighbours of these nodes are to be looked at.
    pub(crate) fn touch_around(&mut self, start: usize, end: usize, graph: &Graph, edges_in: &InEdges) {
        self.touch_neighbours(start, end, graph, edges_in);
    }

    /// Splits a cell whose members are interchangeable, in any order.
    pub(crate) fn split_freely(&mut self, start: usize) {
        let size = self.size[start] as usize;
        self.ties -= 1;
        for at in start..start + size {
            self.set_cell(at, at + 1);
        }
    }

    /// Every cell is to be looked at.
    pub(crate) fn touch_all(&mut self) {
        self.touched.clear();
        self.touched.resize(self.order.len().div_ceil(64), 0);
        let mut start = 0;
        while start < self.order.len() {
            self.touched[start / 64] |= 1 << (start % 64);
            start += self.size[start] as usize;
        }
    }

    /// The first cell at or after a place that is to be looked at.
    #[inline]
    fn next_touched(&self, place: usize) -> Option<usize> {
        let mut word = place / 64;
        let mut bits = self.touched.get(word)? & (!0 << (place % 64));
        while bits == 0 {
            word += 1;
            bits = *self.touched.get(word)?;
        }
        let at = word * 64 + bits.trailing_zeros() as usize;
        (at < self.order.len()).then_some(at)
    }

    /// Refines until nothing splits; gives a number that depends on what was seen, the same for renumbered graphs.
    pub(crate) fn refine(
        &mut self,
        graph: &Graph,
        edges_in: &InEdges,
        hashes: &mut Vec<(u64, NodeId)>,
    ) -> u64 {
        let mut trace = 0u64;
        let mut changed = true;
        while changed && self.ties > 0 {
            changed = false;
            let mut place = 0;
            while let Some(start) = self.next_touched(place) {
                self.touched[start / 64] &= !(1 << (start % 64));
                let size = self.size[start] as usize;
                let end = start + size;
                place = end;
                if size == 1 {
                    continue;
                }
                hashes.clear();
                for &node in &self.order[start..end] {
                    let mut hash = 0u64;
                    for edge in graph.edges(node) {
                        let colour = u64::from(self.colour[edge.target as usize]);
                        hash = hash.wrapping_add(mix(u64::from(edge.label) << 32 | colour));
                    }
                    for edge in edges_in.of(node) {
                        let colour = u64::from(self.colour[edge.target as usize]);
                        hash = hash.wrapping_add(mix(!(u64::from(edge.label) << 32 | colour)));
                    }
                    hashes.push((hash, node));
                }
                if hashes.iter().all(|(hash, _)| *hash == hashes[0].0) {
                    continue;
                }
                changed = true;
                sort_by_hash(hashes);
                self.ties -= 1;
                let mut from = 0;
                while from < size {
                    let mut to = from;
                    while to < size && hashes[to].0 == hashes[from].0 {
                        self.order[start + to] = hashes[to].1;
                        to += 1;
                    }
                    self.set_cell(start + from, start + to);
                    trace = mix(trace ^ hashes[from].0).wrapping_add((start + to) as u64);
                    from = to;
                }
                // The first part keeps its colour.
                self.touch_neighbours(start + self.size[start] as usize, end, graph, edges_in);
            }
        }
        trace
    }

    /// Are all members of the cell twins?
    pub(crate) fn are_twins(&self, start: usize, graph: &Graph, edges_in: &InEdges) -> bool {
        let cell = &self.order[start..start + self.size[start] as usize];
        cell[1..].iter().all(|&other| twins(graph, edges_in, cell[0], other))
    }
}

/// Are two nodes interchangeable because they are alike and have the very same neighbours? (Exchanging them then maps every edge
/// to an edge.) Kind and data are compared, since cells go by their hash.
pub(crate) fn twins(graph: &Graph, edges_in: &InEdges, a: NodeId, b: NodeId) -> bool {
    graph.kind(a) == graph.kind(b)
        && graph.data(a) == graph.data(b)
        && same_neighbours(graph.edges(a), graph.edges(b), a, b)
        && same_neighbours(edges_in.of(a), edges_in.of(b), a, b)
}

/// Are these edges of `a` those of `b`, with `a` and `b` in each other's place?
fn same_neighbours(mine: &[Edge], theirs: &[Edge], a: NodeId, b: NodeId) -> bool {
    if mine.len() != theirs.len() {
        return false;
    }
    let adjacent = |edges: &[Edge]| edges.iter().any(|e| e.target == a || e.target == b);
    if !adjacent(mine) {
        return mine == theirs;
    }
    let exchanged = |x: NodeId| {
        if x == a {
            b
        } else if x == b {
            a
        } else {
            x
        }
    };
    mine.iter().all(|e| {
        let image = Edge { label: e.label, target: exchanged(e.target) };
        let count = |edges: &[Edge], edge: &Edge| edges.iter().filter(|e| *e == edge).count();
        count(theirs, &image) == count(mine, e)
    })
}
