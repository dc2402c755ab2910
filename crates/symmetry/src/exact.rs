//! The exact form: a canonical numbering of a graph.
//!
//! For every renumbering `p` of a graph `g`, numbering `p(g)` and numbering `g` lead to the same graph, so the number of
//! representatives is the number of orbits. Steps:
//!
//! 0. Where the group is known to be all permutations of some nodes, and the others are pairs of these, a graph of these alone is
//!    numbered instead ([`crate::pairs`]).
//! 1. Sort the threads by what they are and refer to, and number the rest by walks from them ([`crate::signature`]). In most
//!    programs that nearly always decides.
//! 2. Otherwise order all nodes by kind and data. If no two are equal, that is the numbering. If some are, walk from what
//!    differs ([`crate::walk`]): in rings and the like that nearly always numbers everything.
//! 3. Otherwise refine along edges in both directions until stable ([`crate::partition`]). Cells of *twins* (same neighbours)
//!    need no choice.
//!    Neither do cells all of whose members can be exchanged by members of the group that leave the state alone ([`crate::exchanges`]).
//! 4. Otherwise individualise: give each member of the smallest cell, in turn, a number of its own, refine, and recurse; of
//!    all numberings reached keep the one with the least encoding. Two numberings with the same encoding show an
//!    automorphism; members of a cell that automorphisms map to each other lead to the same encodings and are tried once.
//!    Branches whose refinement looked different from the best one's are cut (McKay's scheme).
//! 5. A budget bounds step 4. Past it the best numbering found so far is used: still a renaming of the state, only perhaps
//!    not the canonical one. The statistics count it, and the report says so.
//!
//! Every choice on the way (order of cells, cell chosen, branches cut) is made by colours and counts that renumbering does
//! not change; only which of several equal branches comes first depends on the numbers, and these lead to the same encoding.

use std::cmp::Ordering;

use crate::exchanges::Exchanges;
use crate::graph::{Graph, NodeId};
use crate::pairs::{Pairs, Scratch};
use crate::partition::{InEdges, Partition};
use crate::signature::Signatures;
use crate::walk::Walks;

/// How often which step decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExactStatistics {
    /// Graphs numbered.
    pub calls: u64,
    /// Signatures of threads sufficed.
    pub signed: u64,
    /// All nodes differed in kind or data.
    pub distinct: u64,
    /// Walks from what differs sufficed.
    pub walked: u64,
    /// Refinement, or refinement and twins, sufficed.
    pub refined: u64,
    /// Choices had to be compared.
    pub searched: u64,
    /// Choices tried in all.
    pub choices: u64,
    /// The budget ran out: the representative may not be canonical.
    pub over_budget: u64,
}

impl ExactStatistics {
    /// Adds what another worker has counted.
    pub(crate) fn add(&mut self, other: &ExactStatistics) {
        let ExactStatistics { calls, signed, distinct, walked, refined, searched, choices, over_budget } =
            other;
        self.calls += calls;
        self.signed += signed;
        self.distinct += distinct;
        self.walked += walked;
        self.refined += refined;
        self.searched += searched;
        self.choices += choices;
        self.over_budget += over_budget;
    }
}

/// Choices tried for one graph before the best found so far is used.
pub const BUDGET: u64 = 1_000;

/// Numbers graphs canonically; keeps its scratch memory.
#[derive(Clone, Debug)]
pub struct Exact {
    /// Most choices tried for one graph.
    pub budget: u64,
    /// What happened so far.
    pub statistics: ExactStatistics,
    signatures: Signatures,
    edges_in: InEdges,
    walks: Walks,
    hashes: Vec<(u64, NodeId)>,
    levels: Vec<Level>,
    /// Choices made on the way to the current level.
    path: Vec<NodeId>,
    best: Best,
    encoding: Vec<u64>,
    number: Vec<u32>,
    image: Vec<NodeId>,
    spent: u64,
    pairs: Scratch,
    small: Graph,
    small_number: Vec<u32>,
}

/// One level of the search.
#[derive(Clone, Debug, Default)]
struct Level {
    partition: Partition,
    /// Union-find over nodes: which are known to be mapped to each other by automorphisms that fix the path to here.
    orbit: Vec<NodeId>,
    /// Members tried or skipped so far.
    tried: Vec<NodeId>,
}

/// The best numbering found.
#[derive(Clone, Debug, Default)]
struct Best {
    found: bool,
    /// What refinement saw on each level on the way.
    trace: Vec<u64>,
    path: Vec<NodeId>,
    encoding: Vec<u64>,
    order: Vec<NodeId>,
}

impl Default for Exact {
    fn default() -> Self {
        Exact {
            budget: BUDGET,
            statistics: ExactStatistics::default(),
            signatures: Signatures::default(),
            edges_in: InEdges::default(),
            walks: Walks::default(),
            hashes: Vec::new(),
            levels: vec![Level::default()],
            path: Vec::new(),
            best: Best::default(),
            encoding: Vec::new(),
            number: Vec::new(),
            image: Vec::new(),
            spent: 0,
            pairs: Scratch::default(),
            small: Graph::new(),
            small_number: Vec::new(),
        }
    }
}

fn find(orbit: &mut [NodeId], mut node: NodeId) -> NodeId {
    while orbit[node as usize] != node {
        orbit[node as usize] = orbit[orbit[node as usize] as usize];
        node = orbit[node as usize];
    }
    node
}

impl Exact {
    /// A form with the default budget.
    pub fn new() -> Exact {
        Exact::default()
    }

    /// Numbers the nodes; `number[n]` is the number of node `n`.
    pub fn number(&mut self, graph: &Graph, number: &mut Vec<u32>) {
        self.number_in(graph, None, number);
    }

    /// The same for the state of a group with these exchanges.
    pub fn number_in(&mut self, graph: &Graph, exchanges: Option<&Exchanges>, number: &mut Vec<u32>) {
        self.statistics.calls += 1;
        let pairs = exchanges.and_then(|known| known.pairs.as_ref());
        if !pairs.is_some_and(|pairs| self.number_pairs(graph, pairs, number)) {
            self.number_whole(graph, exchanges, number);
        }
    }

    /// The same by the small graph of the nodes that others are pairs of; `false` where there is none.
    fn number_pairs(&mut self, graph: &Graph, pairs: &Pairs, number: &mut Vec<u32>) -> bool {
        let mut small = std::mem::take(&mut self.small);
        let shown = pairs.show(graph, &mut self.pairs, &mut small);
        if shown {
            let mut found = std::mem::take(&mut self.small_number);
            self.number_whole(&small, None, &mut found);
            pairs.number(&found, number);
            self.small_number = found;
        }
        self.small = small;
        shown
    }

    fn number_whole(&mut self, graph: &Graph, exchanges: Option<&Exchanges>, number: &mut Vec<u32>) {
        if !graph.has_unordered_edges() && self.signatures.number(graph, number) {
            self.statistics.signed += 1;
            return;
        }
        self.levels[0].partition.by_data(graph);
        if self.levels[0].partition.is_discrete() {
            self.statistics.distinct += 1;
        } else {
            if !graph.has_unordered_edges()
                && self.walks.number(graph, &self.levels[0].partition, self.budget, number)
            {
                self.statistics.walked += 1;
                return;
            }
            self.edges_in.build(graph);
            self.levels[0].partition.touch_all();
            self.levels[0].partition.refine(graph, &self.edges_in, &mut self.hashes);
            self.free_twins(graph, 0);
            self.free_exchanges(graph, exchanges, 0);
            if self.levels[0].partition.is_discrete() {
                self.statistics.refined += 1;
            } else {
                self.statistics.searched += 1;
                self.best.found = false;
                self.best.trace.clear();
                self.path.clear();
                self.spent = 0;
                self.search(graph, exchanges, 0);
                self.statistics.choices += self.spent;
                self.statistics.over_budget += u64::from(self.spent > self.budget);
                let Best { order, .. } = &self.best;
                write_numbers(order, number);
                return;
            }
        }
        write_numbers(&self.levels[0].partition.order, number);
    }

    /// Splits cells of twins. Their neighbours cannot tell them apart, so nothing else splits by that.
    fn free_twins(&mut self, graph: &Graph, level: usize) {
        let partition = &mut self.levels[level].partition;
        let mut at = 0;
        while at < partition.order.len() {
            let size = partition.size[at] as usize;
            if size > 1 && partition.are_twins(at, graph, &self.edges_in) {
                partition.split_freely(at);
            }
            at += size;
        }
    }

    /// Splits cells of which every order is as good as any other, and refines again; gives what was seen on the way.
    fn free_exchanges(&mut self, graph: &Graph, exchanges: Option<&Exchanges>, level: usize) -> u64 {
        let Some(exchanges) = exchanges else { return 0 };
        let (mut at, mut trace) = (0, 0);
        while !self.levels[level].partition.is_discrete() && at < graph.len() {
            let partition = &mut self.levels[level].partition;
            let size = partition.size[at] as usize;
            if size > 1 && exchanges.frees(graph, partition, at, &mut self.image) {
                partition.split_freely(at);
                partition.touch_around(at, at + size, graph, &self.edges_in);
                trace ^= partition.refine(graph, &self.edges_in, &mut self.hashes).rotate_left(7);
                self.free_twins(graph, level);
                // What was left alone may be free now.
                at = 0;
            } else {
                at += size;
            }
        }
        trace
    }

    /// Explores the choices at a level whose partition is stable and not discrete. Gives the level to go on with: a lower
    /// one after an automorphism, since everything between would only repeat what the best numbering's branch gave.
    fn search(&mut self, graph: &Graph, exchanges: Option<&Exchanges>, level: usize) -> usize {
        if self.levels.len() < level + 2 {
            self.levels.push(Level::default());
        }
        let here = &mut self.levels[level];
        here.orbit.clear();
        here.orbit.extend(0..graph.len() as NodeId);
        here.tried.clear();
        let Some(start) = here.partition.smallest_tie() else { return level };
        let size = here.partition.size[start] as usize;
        for member in 0..size {
            let here = &mut self.levels[level];
            let node = here.partition.order[start + member];
            if member > 0 {
                let root = find(&mut here.orbit, node);
                let known = (0..here.tried.len()).any(|i| {
                    let other = here.tried[i];
                    find(&mut here.orbit, other) == root
                });
                if known {
                    continue;
                }
                if self.spent > self.budget {
                    break;
                }
            }
            self.levels[level].tried.push(node);
            self.spent += 1;
            let (above, below) = self.levels.split_at_mut(level + 1);
            let next = &mut below[0].partition;
            next.copy_from(&above[level].partition);
            next.individualise(start, node, graph, &self.edges_in);
            let trace = next.refine(graph, &self.edges_in, &mut self.hashes);
            self.free_twins(graph, level + 1);
            let trace = trace ^ self.free_exchanges(graph, exchanges, level + 1);
            // Ties left are part of what is compared, so that ways that end on different levels are never taken for alike.
            let trace = trace.rotate_left(20).wrapping_add(u64::from(self.levels[level + 1].partition.ties));
            match self.compare_trace(level, trace) {
                Ordering::Greater => continue,
                Ordering::Less => {
                    self.best.found = false;
                    self.best.trace.truncate(level);
                    self.best.trace.push(trace);
                }
                Ordering::Equal => {}
            }
            self.path.truncate(level);
            self.path.push(node);
            let back = if self.levels[level + 1].partition.is_discrete() {
                self.leaf(graph, level + 1)
            } else {
                self.search(graph, exchanges, level + 1)
            };
            if back < level {
                return back;
            }
        }
        level
    }

    fn compare_trace(&self, level: usize, trace: u64) -> Ordering {
        match self.best.trace.get(level) {
            Some(best) => trace.cmp(best),
            // The first way down: whatever it sees is best so far.
            None => Ordering::Less,
        }
    }

    /// A numbering is complete: better, equal (an automorphism) or worse.
    fn leaf(&mut self, graph: &Graph, level: usize) -> usize {
        let order = std::mem::take(&mut self.levels[level].partition.order);
        self.encode(graph, &order);
        let ordering = if self.best.found { self.encoding.cmp(&self.best.encoding) } else { Ordering::Less };
        let mut back = level;
        match ordering {
            Ordering::Less => {
                self.best.found = true;
                self.best.path.clone_from(&self.path);
                std::mem::swap(&mut self.best.encoding, &mut self.encoding);
                self.best.order.clone_from(&order);
            }
            Ordering::Equal => {
                // best.order[i] -> order[i] is an automorphism. It fixes the choices that both paths have in common, so it
                // counts on every level down to where they part, and there the whole branch is a copy of the best one's.
                let common = self.path.iter().zip(&self.best.path).take_while(|(a, b)| a == b).count();
                for at in 0..=common.min(level - 1) {
                    let orbit = &mut self.levels[at].orbit;
                    for (&a, &b) in self.best.order.iter().zip(&order) {
                        let (a, b) = (find(orbit, a), find(orbit, b));
                        orbit[a.max(b) as usize] = a.min(b);
                    }
                }
                back = common;
            }
            Ordering::Greater => {}
        }
        self.levels[level].partition.order = order;
        back
    }

    /// The graph under a numbering, as words. Kinds and data are those of the cells and equal for all leaves that are
    /// compared, but are cheap to be sure of.
    fn encode(&mut self, graph: &Graph, order: &[NodeId]) {
        write_numbers(order, &mut self.number);
        self.encoding.clear();
        for &node in order {
            self.encoding.push(u64::from(graph.kind(node)));
            self.encoding.extend_from_slice(graph.data(node));
            let start = self.encoding.len();
            for edge in graph.edges(node) {
                self.encoding
                    .push(u64::from(edge.label) << 32 | u64::from(self.number[edge.target as usize]));
            }
            // Labels ascend already; only members of unordered collections change places.
            self.encoding[start..].sort_unstable();
        }
    }
}

fn write_numbers(order: &[NodeId], number: &mut Vec<u32>) {
    number.clear();
    number.resize(order.len(), 0);
    for (new, &node) in order.iter().enumerate() {
        number[node as usize] = new as u32;
    }
}
