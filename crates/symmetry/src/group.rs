//! Groups of permutations: the symmetries of a fixed structure.
//!
//! Where identities are numbers that programs compute with, not every numbering is a renaming that the program allows: in a
//! ring only rotations are. The structure that must be kept (edges, colours) is a [`Graph`] without a root; its
//! automorphisms are found once, as a chain of stabilisers (Sims): for base points `b0, b1, …` the automorphisms that fix
//! `b0 … b(i-1)` and take `bi` to each point of its orbit. [`Group::least`] turns any numbering of the points into a member
//! of the group, the same for all numberings that differ by a member.
//!
//! How the automorphisms are found is in [`mod@crate::strong`].

use std::collections::HashMap;

use crate::action::{Action, action};
use crate::graph::{Graph, NodeId};
use crate::strong::{Base, Move, Strong};

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

impl Group {
    /// The automorphisms of a structure. Points are taken as base points in the order of their numbers.
    pub fn automorphisms(structure: &Graph) -> Group {
        Group::new(&Strong::automorphisms(structure))
    }

    /// The group of these generators, with a member for each point of each orbit.
    pub fn new(strong: &Strong) -> Group {
        let level = |base: &Base| Level { base: base.point, images: members_to(strong, base) };
        Group { degree: strong.degree, levels: strong.bases.iter().map(level).collect() }
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
        if self.permutes(orbit) {
            return Action::All;
        }
        let place: HashMap<NodeId, u8> = orbit.iter().copied().zip(0..).collect();
        let mut generators: Vec<Vec<u8>> = Vec::new();
        for (_, how) in self.levels.iter().flat_map(|level| &level.images) {
            let table: Option<Vec<u8>> = orbit.iter().map(|p| place.get(&how.image(*p)).copied()).collect();
            generators.extend(table);
        }
        generators.sort_unstable();
        generators.dedup();
        action(orbit.len(), &generators)
    }

    /// Is there a member for every permutation of these points? `true` is certain.
    pub fn permutes(&self, points: &[NodeId]) -> bool {
        // In the order of the chain: while the first ones stay, the next can be taken to each of the others.
        let mut points = points.to_vec();
        points.sort_unstable();
        points.iter().enumerate().all(|(i, p)| {
            let images = self.levels.iter().find(|l| l.base == *p).map_or(&[][..], |l| &l.images);
            points[i + 1..].iter().all(|later| images.iter().any(|(image, _)| image == later))
        })
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
                Some((image, Move::Exchange(..))) => g.swap(level.base as usize, image as usize),
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
                        Move::Exchange(..) => composed.swap(level.base as usize, *image as usize),
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

/// For each point of a base point's orbit a member of the group that takes the base point there, the base points before it
/// staying where they are: an exchange if there is one, otherwise a product of generators.
fn members_to(strong: &Strong, base: &Base) -> Vec<(NodeId, Move)> {
    let generators = &strong.generators[..base.generators];
    let mut found: Vec<Option<Move>> = vec![None; strong.degree];
    for twin in &base.twins {
        found[*twin as usize] = Some(Move::Exchange(base.point, *twin));
    }
    found[base.point as usize] = Some(Move::Exchange(base.point, base.point));
    let mut queue: Vec<NodeId> = vec![base.point];
    queue.extend(base.orbit.iter().filter(|p| found[**p as usize].is_some()));
    let mut next = 0;
    // Each of the orbit once, and the base point.
    while queue.len() <= base.orbit.len() && next < queue.len() {
        let at = queue[next];
        next += 1;
        for generator in generators {
            let to = generator.image(at);
            if found[to as usize].is_none() {
                // Points in the queue have a member.
                let Some(first) = &found[at as usize] else { continue };
                let table = (0..strong.degree as NodeId).map(|p| generator.image(first.image(p))).collect();
                found[to as usize] = Some(Move::Table(table));
                queue.push(to);
            }
        }
    }
    let of = |p: &NodeId| found[*p as usize].take().map(|member| (*p, member));
    base.orbit.iter().filter_map(of).collect()
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
