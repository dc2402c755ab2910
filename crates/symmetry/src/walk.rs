//! Canonical numberings by walks.
//!
//! Nodes that differ from all others in kind and data have a place of their own. From them a walk goes along edges, in both
//! directions, and numbers what it meets, wherever label and colour leave no choice. In most states of most programs that
//! numbers everything: no refinement, no search. Where it stops short, it goes on from a node of the smallest group of nodes
//! that still look alike, of these one whose neighbours look the least. If there are several, each is tried, and the walk that
//! saw the least is taken; a ring of equal threads is numbered like that. If even that does not reach every node, nothing is
//! decided here and the general form ([`crate::exact`]) does it all.
//!
//! Why this is canonical: which node is numbered next depends on numbers, labels and colours alone, so a renumbered graph is
//! walked alike. A walk is written down as it goes (per node: its colour, its edges, the numbers they lead to), and a walk that
//! stops short ends with a mark less than anything else. The least of the walks from all members of a group is thus the same
//! for every renumbering of the graph, and so is whether it stopped short. Two walks with the same record that reach every
//! node show the same graph, given that their nodes agree in kind and data, which is compared: colours are hashes. Walks
//! are left early only when their record is already greater than the least, so the outcome does not depend on the order of
//! trying.
//!
//! Edges with the same label leave a choice that is not followed up here: graphs that have such go to the general form.

use std::cmp::Ordering;

use crate::graph::{Graph, NodeId};
use crate::partition::{Partition, mix};

/// No number yet.
const NONE: u32 = u32::MAX;

/// The record of a walk that stopped short. Less than all other entries.
const SHORT: u64 = 0;

/// Nodes walked, at most, to decide between the members of a group: beyond, automorphisms should be made use of.
const LONGEST: usize = 1 << 14;

/// Scratch memory of the walks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walks {
    /// Nodes by number.
    order: Vec<NodeId>,
    /// Numbers of nodes.
    number: Vec<u32>,
    /// Edges in the other direction, as a list per node: the last edge to it, and for each edge its source and the one before.
    last_in: Vec<u32>,
    edges_in: Vec<EdgeIn>,
    /// Nodes to go on from.
    members: Vec<NodeId>,
    /// In-neighbours of the current node, by label and colour.
    waiting: Vec<(u64, NodeId)>,
    /// The least record, and the nodes by number of its walk.
    least: Vec<u64>,
    least_order: Vec<NodeId>,
}

/// An edge seen from its target.
#[derive(Clone, Copy, Debug)]
struct EdgeIn {
    source: NodeId,
    label: u32,
    before: u32,
}

/// What a walk does with what it sees.
trait Record {
    /// Notes an entry; `false` ends the walk.
    fn note(&mut self, entry: u64) -> bool;
}

/// The walk from what differs has nothing to compare with.
struct Nothing;

impl Record for Nothing {
    #[inline]
    fn note(&mut self, _: u64) -> bool {
        true
    }
}

/// Compares with the least record as long as both agree, then replaces it or gives up.
struct Compare<'a> {
    least: &'a mut Vec<u64>,
    /// Entries that agree; `None` once this record is less.
    agree: Option<usize>,
}

impl Record for Compare<'_> {
    #[inline]
    fn note(&mut self, entry: u64) -> bool {
        if let Some(at) = self.agree {
            match self.least.get(at).map_or(Ordering::Less, |least| entry.cmp(least)) {
                Ordering::Equal => {
                    self.agree = Some(at + 1);
                    return true;
                }
                Ordering::Greater => return false,
                Ordering::Less => {
                    self.least.truncate(at);
                    self.agree = None;
                }
            }
        }
        self.least.push(entry);
        true
    }
}

impl Walks {
    /// Numbers the nodes of a graph, given its partition by kind and data, if walks suffice. At most `budget` members of a group
    /// are tried.
    pub(crate) fn number(
        &mut self,
        graph: &Graph,
        by_data: &Partition,
        budget: u64,
        number: &mut Vec<u32>,
    ) -> bool {
        let n = graph.len();
        self.order.clear();
        self.number.clear();
        self.number.resize(n, NONE);
        self.turn_edges(graph);
        for (node, size) in by_data.order.iter().zip(&by_data.size) {
            if *size == 1 {
                self.take(*node);
            }
        }
        let mut from = 0;
        loop {
            self.go_on(from, graph, by_data, &mut Nothing);
            if self.order.len() == n {
                break;
            }
            from = self.order.len();
            self.choose_members(graph, by_data);
            if let [node] = self.members[..] {
                self.take(node);
                continue;
            }
            if self.members.len() as u64 > budget || self.members.len() * (n - from) > LONGEST {
                return false;
            }
            self.least.clear();
            self.least_order.clear();
            for at in 0..self.members.len() {
                self.compare_from(self.members[at], graph, by_data);
            }
            if self.least_order.len() < n {
                return false;
            }
            number.clear();
            number.resize(n, 0);
            self.least_order.iter().zip(0..).for_each(|(node, at)| number[*node as usize] = at);
            return true;
        }
        number.clone_from(&self.number);
        true
    }

    /// Gives a node the next number.
    #[inline]
    fn take(&mut self, node: NodeId) {
        self.number[node as usize] = self.order.len() as u32;
        self.order.push(node);
    }

    /// Lists the edges by their targets.
    fn turn_edges(&mut self, graph: &Graph) {
        self.last_in.clear();
        self.last_in.resize(graph.len(), NONE);
        self.edges_in.clear();
        for source in 0..graph.len() as NodeId {
            for edge in graph.edges(source) {
                let last = &mut self.last_in[edge.target as usize];
                let before = std::mem::replace(last, self.edges_in.len() as u32);
                self.edges_in.push(EdgeIn { source, label: edge.label, before });
            }
        }
    }

    /// Finds the nodes to go on from: of the cell with the fewest members without a number (the first of these), those whose
    /// neighbours look the least.
    fn choose_members(&mut self, graph: &Graph, by_data: &Partition) {
        let (mut best, mut fewest) = (0, usize::MAX);
        let mut at = 0;
        while at < by_data.order.len() {
            let size = by_data.size[at] as usize;
            let cell = &by_data.order[at..at + size];
            let left = cell.iter().filter(|node| self.number[**node as usize] == NONE).count();
            if left > 0 && left < fewest {
                (best, fewest) = (at, left);
            }
            at += size;
        }
        self.members.clear();
        let mut least = u64::MAX;
        for &node in &by_data.order[best..best + by_data.size[best] as usize] {
            if self.number[node as usize] != NONE {
                continue;
            }
            let looks = self.neighbourhood(node, graph, by_data);
            if looks < least {
                least = looks;
                self.members.clear();
            }
            if looks == least {
                self.members.push(node);
            }
        }
    }

    /// A number for what the neighbours of a node look like; equal numbers mean nothing.
    fn neighbourhood(&self, node: NodeId, graph: &Graph, by_data: &Partition) -> u64 {
        let looks = |label: u32, node: NodeId| {
            let number = self.number[node as usize];
            let place = if number == NONE { by_data.colour[node as usize] } else { !number };
            u64::from(label) << 32 | u64::from(place)
        };
        let mut sum = 0u64;
        for edge in graph.edges(node) {
            sum = sum.wrapping_add(mix(looks(edge.label, edge.target)));
        }
        let mut at = self.last_in[node as usize];
        while let Some(edge) = self.edges_in.get(at as usize) {
            sum = sum.wrapping_add(mix(!looks(edge.label, edge.source)));
            at = edge.before;
        }
        sum
    }

    /// One walk from a member of a group; its record becomes the least one if it is.
    fn compare_from(&mut self, node: NodeId, graph: &Graph, by_data: &Partition) {
        let from = self.order.len();
        self.take(node);
        let mut least = std::mem::take(&mut self.least);
        let mut record = Compare { least: &mut least, agree: Some(0) };
        let finished = self.go_on(from, graph, by_data, &mut record)
            && (self.order.len() == graph.len() || record.note(SHORT));
        let better = finished && (record.agree.is_none() || self.differs_downwards(graph));
        self.least = least;
        if better {
            self.least_order.clone_from(&self.order);
        }
        for node in self.order.drain(from..) {
            self.number[node as usize] = NONE;
        }
    }

    /// Colours are hashes: nodes with the same record may still differ. Then kind and data decide.
    #[cold]
    fn differs_downwards(&self, graph: &Graph) -> bool {
        let contents = |node: &NodeId| (graph.kind(*node), graph.data(*node));
        self.order.iter().map(contents).lt(self.least_order.iter().map(contents))
    }

    /// Numbers what can be met from the nodes with numbers `from` on; `false` when the record ended the walk.
    #[inline]
    fn go_on(
        &mut self,
        mut from: usize,
        graph: &Graph,
        by_data: &Partition,
        record: &mut impl Record,
    ) -> bool {
        while let Some(&node) = self.order.get(from) {
            from += 1;
            let edges = graph.edges(node);
            let colour = by_data.colour[node as usize];
            if !record.note(u64::from(colour + 1) << 32 | edges.len() as u64) {
                return false;
            }
            for edge in edges {
                let mut number = self.number[edge.target as usize];
                if number == NONE {
                    number = self.order.len() as u32;
                    self.take(edge.target);
                }
                if !record.note(u64::from(edge.label) << 32 | u64::from(number)) {
                    return false;
                }
            }
            if self.order.len() < graph.len() {
                self.go_back(node, by_data);
            }
        }
        true
    }

    /// Numbers the in-neighbours of a node that no other one is like.
    #[inline]
    fn go_back(&mut self, node: NodeId, by_data: &Partition) {
        self.waiting.clear();
        let mut at = self.last_in[node as usize];
        while let Some(edge) = self.edges_in.get(at as usize) {
            at = edge.before;
            if self.number[edge.source as usize] == NONE {
                let colour = by_data.colour[edge.source as usize];
                self.waiting.push((u64::from(edge.label) << 32 | u64::from(colour), edge.source));
            }
        }
        match self.waiting[..] {
            [] => return,
            [(_, source)] => return self.take(source),
            _ => self.waiting.sort_unstable_by_key(|(key, _)| *key),
        }
        let mut at = 0;
        while let Some(&(key, source)) = self.waiting.get(at) {
            let alike = self.waiting[at..].iter().take_while(|(other, _)| *other == key).count();
            // A source can wait under two labels.
            if alike == 1 && self.number[source as usize] == NONE {
                self.take(source);
            }
            at += alike;
        }
    }
}
