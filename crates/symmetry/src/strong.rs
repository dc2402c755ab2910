//! Strong generators: the automorphisms of a structure, by few of them.
//!
//! For base points `b0, b1, …` (all points, in the order of their numbers) the stabilisers of the first `i` base points are
//! a chain of groups. The search starts at the end of the chain, where only the identity is left, and goes up. At level `i` it
//! asks which points `bi` can be taken to while `b0 … b(i-1)` stay. A point that known generators lead to from one already
//! reached needs no search, and where the search says no, it says so for all points that generators of the levels below lead to
//! from there: an automorphism to one of those, followed by such a generator, would be one to the point searched for. So a
//! symmetric group of `n` points takes `n - 1` searches.
//!
//! The search has a budget, counted in nodes looked at and never in time, so that the same structure always has the same answer. What it does not
//! find is missing: the result then holds only automorphisms still, and what is done with them stays sound; only less is reduced. It says
//! so ([`Strong::cut`]).

use crate::graph::{Edge, Graph, NodeId};
use crate::partition::{InEdges, Partition, twins};

/// Steps of the search for one automorphism.
const BUDGET: u32 = 5_000;

/// Nodes that the whole search looks at, unless it is told otherwise: about a second.
pub const WORK: u64 = 40_000_000;

/// Nodes of all partitions that are kept, one for each base point.
const MOST_KEPT: usize = 20_000_000;

/// An automorphism.
#[derive(Clone, Debug)]
pub(crate) enum Move {
    /// The two points change places, nothing else moves.
    Exchange(NodeId, NodeId),
    /// Each point's image.
    Table(Box<[NodeId]>),
}

impl Move {
    /// Where a point goes.
    pub(crate) fn image(&self, point: NodeId) -> NodeId {
        match self {
            Move::Exchange(a, b) if *a == point => *b,
            Move::Exchange(a, b) if *b == point => *a,
            Move::Exchange(..) => point,
            Move::Table(table) => table[point as usize],
        }
    }
}

/// A base point and where it can be taken.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(crate) point: NodeId,
    /// Its orbit without itself, while the base points before it stay.
    pub(crate) orbit: Vec<NodeId>,
    /// Those of its orbit that it can change places with while everything else stays.
    pub(crate) twins: Vec<NodeId>,
    /// How many of the generators leave the base points before it where they are: the first ones.
    pub(crate) generators: usize,
}

/// Strong generators of a group, and its base points with an orbit of more than one.
#[derive(Clone, Debug, Default)]
pub struct Strong {
    pub(crate) degree: usize,
    pub(crate) generators: Vec<Move>,
    /// The first base point first.
    pub(crate) bases: Vec<Base>,
    cut: bool,
    looked_at: u64,
}

impl Strong {
    /// Those of the automorphisms of a structure.
    pub fn automorphisms(structure: &Graph) -> Strong {
        Strong::automorphisms_within(structure, WORK)
    }

    /// Colours that no automorphism changes, by refinement alone: nodes of different colours are never taken to each other.
    pub fn colours(structure: &Graph) -> Vec<u32> {
        let (mut edges_in, mut hashes) = (InEdges::default(), Vec::new());
        edges_in.build(structure);
        let mut fixed = Partition::default();
        fixed.by_data(structure);
        fixed.touch_all();
        fixed.refine(structure, &edges_in, &mut hashes);
        fixed.colour
    }

    /// Those of the automorphisms of a structure, looking at no more than so many nodes.
    pub fn automorphisms_within(structure: &Graph, work: u64) -> Strong {
        let mut edges_in = InEdges::default();
        edges_in.build(structure);
        let mut finder = Finder { structure, edges_in, hashes: Vec::new(), left: 0, work };
        let mut fixed = Partition::default();
        fixed.by_data(structure);
        fixed.touch_all();
        fixed.refine(structure, &finder.edges_in, &mut finder.hashes);
        let (mut levels, mut kept_all) = (Vec::new(), true);
        for base in 0..structure.len() as NodeId {
            let start = fixed.colour[base as usize] as usize;
            if fixed.size[start] == 1 {
                continue;
            }
            if levels.len() * structure.len() > MOST_KEPT {
                kept_all = false;
                break;
            }
            levels.push((base, start, fixed.clone()));
            fixed.individualise(start, base, structure, &finder.edges_in);
            fixed.refine(structure, &finder.edges_in, &mut finder.hashes);
        }
        let mut found = Strong { degree: structure.len(), ..Strong::default() };
        while let Some((base, start, fixed)) = levels.pop() {
            found.level(&mut finder, base, start, &fixed);
        }
        found.bases.reverse();
        found.cut = finder.work == 0 || !kept_all;
        found.looked_at = work - finder.work;
        found
    }

    /// Whether nothing can be moved.
    pub fn is_trivial(&self) -> bool {
        self.generators.is_empty()
    }

    /// Was the search ended by its budget, so that automorphisms may be missing?
    pub fn cut(&self) -> bool {
        self.cut
    }

    /// How many nodes were looked at to find them.
    pub fn looked_at(&self) -> u64 {
        self.looked_at
    }

    /// Finds where `base` can be taken; the levels below are done.
    fn level(&mut self, finder: &mut Finder<'_>, base: NodeId, start: usize, fixed: &Partition) {
        let cell = &fixed.order[start..start + fixed.size[start] as usize];
        let below = self.generators.len();
        let mut reached = vec![base];
        let mut refused: Vec<NodeId> = Vec::new();
        let mut changing: Vec<NodeId> = Vec::new();
        let mut images = cell.to_vec();
        images.sort_unstable();
        for &image in images.iter().filter(|p| **p != base) {
            if twins(finder.structure, &finder.edges_in, base, image) {
                // Twins of one point are twins of each other, and the levels below have their exchanges: one leads to all.
                if changing.is_empty() {
                    self.generators.push(Move::Exchange(base, image));
                }
                changing.push(image);
                continue;
            }
            if self.generators.len() > below && reached.len() == 1 {
                reached = self.orbit(base, self.generators.len());
            }
            if finder.work == 0 {
                break;
            }
            if reached.contains(&image) || refused.contains(&image) {
                continue;
            }
            finder.spend(reached.len() * self.generators.len());
            match finder.find(fixed, start, base, image) {
                Some(table) => {
                    self.generators.push(Move::Table(table.into()));
                    reached = self.orbit(base, self.generators.len());
                }
                None => refused.extend(self.orbit(image, below)),
            }
        }
        if self.generators.len() > below {
            let alike = changing.len() + 1 == images.len();
            let mut orbit = if alike { changing.clone() } else { self.orbit(base, self.generators.len()) };
            orbit.retain(|p| *p != base);
            orbit.sort_unstable();
            self.bases.push(Base { point: base, orbit, twins: changing, generators: self.generators.len() });
        }
    }

    /// What the first generators take a point to, itself first.
    fn orbit(&self, point: NodeId, generators: usize) -> Vec<NodeId> {
        let mut orbit = vec![point];
        let mut met = vec![false; self.degree];
        met[point as usize] = true;
        let mut next = 0;
        while next < orbit.len() {
            for generator in &self.generators[..generators] {
                let image = generator.image(orbit[next]);
                if !std::mem::replace(&mut met[image as usize], true) {
                    orbit.push(image);
                }
            }
            next += 1;
        }
        orbit
    }

    /// The orbits with more than one point.
    pub(crate) fn orbits(&self) -> Vec<Vec<NodeId>> {
        let mut met = vec![false; self.degree];
        let mut out = Vec::new();
        for point in 0..self.degree as NodeId {
            if !met[point as usize] {
                let mut orbit = self.orbit(point, self.generators.len());
                orbit.iter().for_each(|p| met[*p as usize] = true);
                orbit.sort_unstable();
                out.push(orbit);
            }
        }
        out.retain(|orbit| orbit.len() > 1);
        out
    }

    /// Number of members; as a float, since it can be astronomical.
    pub fn order(&self) -> f64 {
        self.bases.iter().map(|b| (b.orbit.len() + 1) as f64).product()
    }

    /// The generators, as tables of images.
    pub fn tables(&self) -> Vec<Vec<NodeId>> {
        let points = 0..self.degree as NodeId;
        self.generators.iter().map(|g| points.clone().map(|p| g.image(p)).collect()).collect()
    }

    /// What the group does to other points: `place` says for each point which of `degree` new ones follows it, if any does. Every
    /// member must take points that share a new one to points that share one.
    pub fn on(&self, place: &[Option<NodeId>], degree: usize) -> Strong {
        let project = |generator: &Move| {
            let mut table: Vec<NodeId> = (0..degree as NodeId).collect();
            for (point, to) in place.iter().enumerate() {
                if let (Some(from), Some(to)) = (to, place[generator.image(point as NodeId) as usize]) {
                    table[*from as usize] = to;
                }
            }
            Move::Table(table.into())
        };
        let generators = self.generators.iter().map(project).collect();
        let mut out = Strong { degree, generators, cut: self.cut, ..Strong::default() };
        for base in &self.bases {
            // What follows an earlier base point stays with it.
            let Some(point) = place[base.point as usize] else { continue };
            let mut orbit = out.orbit(point, base.generators);
            orbit.retain(|p| *p != point);
            orbit.sort_unstable();
            if !orbit.is_empty() {
                out.bases.push(Base { point, orbit, twins: Vec::new(), generators: base.generators });
            }
        }
        out
    }
}

/// Searches for single automorphisms.
struct Finder<'a> {
    structure: &'a Graph,
    edges_in: InEdges,
    hashes: Vec<(u64, NodeId)>,
    left: u32,
    work: u64,
}

impl Finder<'_> {
    fn spend(&mut self, nodes: usize) {
        self.work = self.work.saturating_sub(nodes as u64);
    }

    /// An automorphism that keeps the partition and takes `from` to `to`, both members of the cell at `start`.
    fn find(&mut self, fixed: &Partition, start: usize, from: NodeId, to: NodeId) -> Option<Vec<NodeId>> {
        self.left = BUDGET;
        self.extend(fixed, fixed, start, from, to)
    }

    /// The automorphism that exchanges what both partitions have settled, pair by pair, and moves nothing else, if it is one. Where all
    /// permutations of something are there, such ones generate them.
    fn exchange(&self, source: &Partition, image: &Partition) -> Option<Vec<NodeId>> {
        let mut table: Vec<NodeId> = (0..self.structure.len() as NodeId).collect();
        let mut moved = Vec::new();
        let mut at = 0;
        while at < table.len() {
            let (a, b) = (source.order[at], image.order[at]);
            let size = source.size[at] as usize;
            at += size;
            if size > 1 || a == b || table[a as usize] == b {
                continue;
            }
            if table[a as usize] != a || table[b as usize] != b {
                return None;
            }
            (table[a as usize], table[b as usize]) = (b, a);
            moved.extend([a, b]);
        }
        (!moved.is_empty() && self.keeps(&table, &moved)).then_some(table)
    }

    /// Does every edge of what is moved go to an edge? Those of other nodes then do so as well.
    fn keeps(&self, table: &[NodeId], moved: &[NodeId]) -> bool {
        let structure = self.structure;
        let same = |mine: &[Edge], theirs: &[Edge]| {
            let taken = |e: &Edge| (e.label, table[e.target as usize]);
            let mut mine: Vec<(u32, NodeId)> = mine.iter().map(taken).collect();
            let mut theirs: Vec<(u32, NodeId)> = theirs.iter().map(|e| (e.label, e.target)).collect();
            mine.sort_unstable();
            theirs.sort_unstable();
            mine == theirs
        };
        moved.iter().all(|&node| {
            let to = table[node as usize];
            structure.kind(node) == structure.kind(to)
                && structure.data(node) == structure.data(to)
                && same(structure.edges(node), structure.edges(to))
                && same(self.edges_in.of(node), self.edges_in.of(to))
        })
    }

    fn extend(
        &mut self,
        source: &Partition,
        image: &Partition,
        start: usize,
        from: NodeId,
        to: NodeId,
    ) -> Option<Vec<NodeId>> {
        self.left = self.left.checked_sub(1)?;
        self.spend(self.structure.len());
        if self.work == 0 {
            return None;
        }
        let (mut source, mut image) = (source.clone(), image.clone());
        source.individualise(start, from, self.structure, &self.edges_in);
        image.individualise(start, to, self.structure, &self.edges_in);
        let same = source.refine(self.structure, &self.edges_in, &mut self.hashes)
            == image.refine(self.structure, &self.edges_in, &mut self.hashes);
        if !same || source.size != image.size {
            return None;
        }
        match source.smallest_tie() {
            None => {
                let mut table = vec![0; source.order.len()];
                for (a, b) in source.order.iter().zip(&image.order) {
                    table[*a as usize] = *b;
                }
                (self.structure.renumbered(&table) == *self.structure).then_some(table)
            }
            Some(tie) => {
                if let Some(table) = self.exchange(&source, &image) {
                    return Some(table);
                }
                let next = source.order[tie];
                // First what leaves the point where it is: few points move where few have to.
                let mut candidates = image.order[tie..tie + image.size[tie] as usize].to_vec();
                candidates.sort_unstable_by_key(|to| (*to != next, *to));
                candidates.into_iter().find_map(|to| self.extend(&source, &image, tie, next, to))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symmetric_group_takes_few_generators() {
        // Pairs: each point has a partner that follows it.
        let mut g = Graph::new();
        for i in 0..12 {
            g.object(0);
            g.edge(0, i + 12);
        }
        (0..12).for_each(|_| {
            g.object(1);
        });
        let strong = Strong::automorphisms(&g);
        assert_eq!(strong.generators.len(), 11);
        assert_eq!(strong.order(), (1..=12).map(f64::from).product());
        let place: Vec<Option<NodeId>> = (0..24).map(|p| Some(p % 12)).collect();
        assert_eq!(strong.on(&place, 12).order(), strong.order());
    }

    /// Found by exchanges or otherwise: what is found are automorphisms, as many as there are when all permutations are tried.
    #[test]
    fn small_structures_by_brute_force() {
        fn permutations(left: &mut Vec<NodeId>, done: &mut Vec<NodeId>, all: &mut Vec<Vec<NodeId>>) {
            if left.is_empty() {
                all.push(done.clone());
            }
            for at in 0..left.len() {
                let point = left.remove(at);
                done.push(point);
                permutations(left, done, all);
                done.pop();
                left.insert(at, point);
            }
        }
        let mut all = Vec::new();
        permutations(&mut (0..6).collect(), &mut Vec::new(), &mut all);
        let mut random = 1u32;
        let mut next = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 16) % below
        };
        let mut moving = 0;
        for _ in 0..400 {
            let mut g = Graph::new();
            let (kinds, edges) = (1 + next(2), next(10));
            let kind: Vec<u32> = (0..6).map(|_| next(kinds)).collect();
            let arcs: Vec<(u32, u32, u32)> = (0..edges).map(|_| (next(6), next(2), next(6))).collect();
            for (node, kind) in kind.iter().enumerate() {
                g.object(*kind);
                arcs.iter().filter(|a| a.0 as usize == node).for_each(|a| {
                    g.edge(a.1, a.2);
                });
            }
            let sorted = |mut arcs: Vec<(u32, u32, u32)>| {
                arcs.sort_unstable();
                arcs
            };
            let is = |p: &[NodeId]| {
                let image = arcs.iter().map(|a| (p[a.0 as usize], a.1, p[a.2 as usize])).collect();
                (0..6).all(|n| kind[n] == kind[p[n] as usize]) && sorted(image) == sorted(arcs.clone())
            };
            let strong = Strong::automorphisms(&g);
            assert!(strong.tables().iter().all(|table| is(table)), "{kind:?} {arcs:?}");
            let count = all.iter().filter(|p| is(p)).count();
            assert_eq!(strong.order(), count as f64, "{kind:?} {arcs:?}");
            moving += u32::from(count > 1);
        }
        assert!(moving > 100);
    }

    #[test]
    fn twins_take_one_generator_each() {
        let mut g = Graph::new();
        (0..300).for_each(|i| {
            g.object(u32::from(i >= 200));
        });
        let strong = Strong::automorphisms(&g);
        assert_eq!(strong.generators.len(), 199 + 99);
        assert!(strong.bases.iter().all(|b| b.twins == b.orbit));
        let order: f64 = strong.bases.iter().map(|b| b.orbit.len() as f64 + 1.0).sum();
        assert_eq!(order, (2..=200).chain(2..=100).map(f64::from).sum());
    }

    #[test]
    fn what_is_not_there_is_refused_once_for_an_orbit() {
        // A ring of five and a path of five, of one kind: neither takes a point of the other.
        let mut g = Graph::new();
        for i in 0..5 {
            g.object(0);
            g.edge(0, (i + 1) % 5);
        }
        for i in 5..10 {
            g.object(0);
            if i < 9 {
                g.edge(0, i + 1);
            }
        }
        let strong = Strong::automorphisms(&g);
        assert_eq!(strong.order(), 5.0);
        assert_eq!(strong.generators.len(), 1);
    }
}
