//! Groups of permutations: the symmetries of a fixed structure.
//!
//! Where identities are numbers that programs compute with, not every numbering is a renaming that the program allows: in a
//! ring only rotations are. The structure that must be kept (edges, colours) is a [`Graph`] without a root; its
//! automorphisms are found once, as a chain of stabilisers (Sims): for base points `b0, b1, …` the automorphisms that fix
//! `b0 … b(i-1)` and take `bi` to each point of its orbit. [`Group::least`] turns any numbering of the points into a member
//! of the group, the same for all numberings that differ by a member.
//!
//! The search for automorphisms has a budget. What it does not find is missing from the chain, which then holds only
//! automorphisms still: what is done with them stays sound, only less is reduced.

use crate::graph::{Graph, NodeId};
use crate::partition::{InEdges, Partition, twins};

/// Steps of the search for one automorphism.
const BUDGET: u32 = 5_000;

/// Automorphisms of a structure, as a chain of stabilisers.
#[derive(Clone, Debug, Default)]
pub struct Group {
    degree: usize,
    levels: Vec<Level>,
}

#[derive(Clone, Debug)]
struct Level {
    base: NodeId,
    /// Points that the base point can be taken to, other than itself, and how.
    images: Vec<(NodeId, Move)>,
}

#[derive(Clone, Debug)]
enum Move {
    /// The two points change places, nothing else moves.
    Exchange,
    /// Each point's image.
    Table(Box<[NodeId]>),
}

/// What a group does to some of its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Every permutation of them.
    All,
    /// The powers of one cycle through all of them.
    Rotations,
    /// Rotations, and reflections.
    RotationsAndReflections,
    /// Something else.
    Other,
}

impl Group {
    /// The automorphisms of a structure. Points are taken as base points in the order of their numbers.
    pub fn automorphisms(structure: &Graph) -> Group {
        let mut edges_in = InEdges::default();
        edges_in.build(structure);
        let mut finder = Finder { structure, edges_in, hashes: Vec::new(), left: 0 };
        let mut fixed = Partition::default();
        fixed.by_data(structure);
        fixed.touch_all();
        fixed.refine(structure, &finder.edges_in, &mut finder.hashes);
        let mut levels = Vec::new();
        for base in 0..structure.len() as NodeId {
            let start = fixed.colour[base as usize] as usize;
            let size = fixed.size[start] as usize;
            if size == 1 {
                continue;
            }
            let cell = fixed.order[start..start + size].to_vec();
            let mut images = Vec::new();
            for &image in cell.iter().filter(|p| **p != base) {
                if twins(structure, &finder.edges_in, base, image) {
                    images.push((image, Move::Exchange));
                } else if let Some(table) = finder.find(&fixed, start, base, image) {
                    images.push((image, Move::Table(table.into())));
                }
            }
            images.sort_unstable_by_key(|(image, _)| *image);
            if !images.is_empty() {
                levels.push(Level { base, images });
            }
            fixed.individualise(start, base, structure, &finder.edges_in);
            fixed.refine(structure, &finder.edges_in, &mut finder.hashes);
        }
        Group { degree: structure.len(), levels }
    }

    /// Whether nothing can be moved.
    pub fn is_trivial(&self) -> bool {
        self.levels.is_empty()
    }

    /// Number of points.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Number of members; as a float, since it can be astronomical.
    pub fn order(&self) -> f64 {
        self.levels.iter().map(|l| (l.images.len() + 1) as f64).product()
    }

    /// Which points some member moves.
    pub fn moved(&self) -> Vec<bool> {
        let mut moved = vec![false; self.degree];
        for level in &self.levels {
            for (image, how) in &level.images {
                moved[level.base as usize] = true;
                moved[*image as usize] = true;
                if let Move::Table(table) = how {
                    for (point, to) in table.iter().enumerate() {
                        moved[point] |= point as NodeId != *to;
                    }
                }
            }
        }
        moved
    }

    /// For each point the least point of its orbit.
    pub fn orbits(&self) -> Vec<NodeId> {
        let mut orbit: Vec<NodeId> = (0..self.degree as NodeId).collect();
        let mut changed = true;
        while changed {
            changed = false;
            let mut join = |a: NodeId, b: NodeId| {
                let least = orbit[a as usize].min(orbit[b as usize]);
                changed |= orbit[a as usize] != least || orbit[b as usize] != least;
                orbit[a as usize] = least;
                orbit[b as usize] = least;
            };
            for level in &self.levels {
                for (image, how) in &level.images {
                    join(level.base, *image);
                    if let Move::Table(table) = how {
                        table.iter().enumerate().for_each(|(point, to)| join(point as NodeId, *to));
                    }
                }
            }
        }
        orbit
    }

    /// What the group does to the points of one orbit.
    pub fn action(&self, orbit: &[NodeId]) -> Action {
        let lengths: Vec<usize> = orbit
            .iter()
            .map(|p| self.levels.iter().find(|l| l.base == *p).map_or(1, |l| l.images.len() + 1))
            .collect();
        let n = orbit.len();
        if lengths.iter().enumerate().all(|(i, length)| *length == n - i) {
            return Action::All;
        }
        let order: usize = lengths.iter().product();
        // Which member was found for an image is chance: look at all of them, if they are few.
        let cycle = self.order() <= 4096.0
            && self.members().iter().any(|member| {
                let mut at = member[orbit[0] as usize];
                let mut length = 1;
                while at != orbit[0] {
                    at = member[at as usize];
                    length += 1;
                }
                length == n
            });
        match (cycle, order) {
            (true, order) if order == n => Action::Rotations,
            (true, order) if order == 2 * n => Action::RotationsAndReflections,
            _ => Action::Other,
        }
    }

    /// The member `g` of the group for which the sequence of `number[g[b]]` over the base points is least. Of two numberings
    /// `number` and `number ∘ h` with `h` in the group, the results `g` and `g'` satisfy `g = h ∘ g'`: both put the same
    /// number at the same point. `g[p]` is the point whose place is taken over by `p`: what was at `g[p]` goes to `p`.
    pub fn least(&self, number: &[u32], g: &mut Vec<NodeId>, scratch: &mut Vec<NodeId>) {
        g.clear();
        g.extend(0..self.degree as NodeId);
        for level in &self.levels {
            let mut least = number[g[level.base as usize] as usize];
            let mut chosen = None;
            for (image, how) in &level.images {
                let candidate = number[g[*image as usize] as usize];
                if candidate < least {
                    least = candidate;
                    chosen = Some((*image, how));
                }
            }
            match chosen {
                None => {}
                Some((image, Move::Exchange)) => g.swap(level.base as usize, image as usize),
                Some((_, Move::Table(table))) => {
                    scratch.clear();
                    scratch.extend(table.iter().map(|to| g[*to as usize]));
                    std::mem::swap(g, scratch);
                }
            }
        }
    }

    /// Every member, as tables of images; for tests and small groups.
    pub fn members(&self) -> Vec<Vec<NodeId>> {
        let mut all: Vec<Vec<NodeId>> = vec![(0..self.degree as NodeId).collect()];
        for level in &self.levels {
            let mut next = all.clone();
            for (image, how) in &level.images {
                for g in &all {
                    let mut composed = g.clone();
                    match how {
                        Move::Exchange => composed.swap(level.base as usize, *image as usize),
                        Move::Table(table) => {
                            composed = table.iter().map(|to| g[*to as usize]).collect();
                        }
                    }
                    next.push(composed);
                }
            }
            all = next;
        }
        all
    }
}

/// Searches for single automorphisms.
struct Finder<'a> {
    structure: &'a Graph,
    edges_in: InEdges,
    hashes: Vec<(u64, NodeId)>,
    left: u32,
}

impl Finder<'_> {
    /// An automorphism that keeps the partition and takes `from` to `to`, both members of the cell at `start`.
    fn find(&mut self, fixed: &Partition, start: usize, from: NodeId, to: NodeId) -> Option<Vec<NodeId>> {
        self.left = BUDGET;
        self.extend(fixed, fixed, start, from, to)
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
                let next = source.order[tie];
                let candidates = image.order[tie..tie + image.size[tie] as usize].to_vec();
                candidates.into_iter().find_map(|to| self.extend(&source, &image, tie, next, to))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(n: u32) -> Graph {
        let mut g = Graph::new();
        for i in 0..n {
            g.object(0);
            g.edge(0, (i + 1) % n);
        }
        g
    }

    #[test]
    fn a_ring_has_rotations() {
        let group = Group::automorphisms(&ring(7));
        assert_eq!(group.order(), 7.0);
        assert_eq!(group.action(&[0, 1, 2, 3, 4, 5, 6]), Action::Rotations);
        let members = group.members();
        assert_eq!(members.len(), 7);
        for g in members {
            assert!((0..7).all(|i| g[(i + 1) % 7] == (g[i] + 1) % 7));
        }
    }

    #[test]
    fn points_without_edges_have_all_permutations() {
        let mut g = Graph::new();
        for _ in 0..5 {
            g.object(0);
        }
        g.object(1);
        let group = Group::automorphisms(&g);
        assert_eq!(group.order(), 120.0);
        assert_eq!(group.action(&[0, 1, 2, 3, 4]), Action::All);
        assert_eq!(group.moved(), [true, true, true, true, true, false]);
        assert_eq!(group.orbits(), [0, 0, 0, 0, 0, 5]);
    }

    #[test]
    fn an_undirected_ring_has_reflections_too() {
        let n = 5;
        let mut g = Graph::new();
        for i in 0..n {
            g.object(0);
            g.edge(0, (i + 1) % n);
            g.edge(0, (i + n - 1) % n);
        }
        let group = Group::automorphisms(&g);
        assert_eq!(group.order(), 10.0);
        assert_eq!(group.action(&[0, 1, 2, 3, 4]), Action::RotationsAndReflections);
    }

    #[test]
    fn least_is_the_same_for_the_whole_coset() {
        let mut undirected = Graph::new();
        for i in 0..6u32 {
            undirected.object(0);
            undirected.edge(0, (i + 1) % 6);
            undirected.edge(0, (i + 5) % 6);
        }
        for structure in [ring(6), undirected] {
            let group = Group::automorphisms(&structure);
            let number = [3, 1, 4, 0, 5, 2];
            let (mut g, mut scratch) = (Vec::new(), Vec::new());
            group.least(&number, &mut g, &mut scratch);
            let placed: Vec<u32> = g.iter().map(|p| number[*p as usize]).collect();
            for h in group.members() {
                let other: Vec<u32> = (0..6).map(|p| number[h[p] as usize]).collect();
                let mut g = Vec::new();
                group.least(&other, &mut g, &mut scratch);
                let again: Vec<u32> = g.iter().map(|p| other[*p as usize]).collect();
                assert_eq!(again, placed);
            }
        }
    }
}
