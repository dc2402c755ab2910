//! Exchanges of two points, where a group is all permutations of some of its points.
//!
//! In early states many threads are alike, each with variables of its own about each of the others. No two nodes are twins then, and a search that gives
//! one thread after another a number of its own finds out, branch by branch, that all are alike. But the group is known: where it is the symmetric group
//! of one orbit, for any two points of the orbit there is exactly one member that exchanges them and leaves the others of the orbit alone. Whether it leaves a state
//! alone is quickly seen. If that holds for one member of a cell and each of the others, every order of the cell is as good as any other, so
//! that all its members get numbers at once.
//!
//! Which exchange belongs to two points is a matter of the group, so that of states that are images of each other the same is found.

use std::collections::HashMap;

use crate::graph::{Graph, NodeId};
use crate::pairs::Pairs;
use crate::partition::Partition;
use crate::strong::Strong;

/// Points of an orbit that are exchanged; with more, a table of all pairs is too large.
const MOST: usize = 40;

/// What moves, and where to.
type Moved = Box<[(NodeId, NodeId)]>;

/// For two points of an orbit what moves when they are exchanged.
#[derive(Clone, Debug, Default)]
pub struct Exchanges {
    moved: HashMap<(NodeId, NodeId), Moved>,
    /// Where the other points are pairs of these.
    pub(crate) pairs: Option<Pairs>,
}

impl Exchanges {
    /// Those of a group, if it is the symmetric group of one of its orbits. In graphs of states point 0 is node `shift`, and edges
    /// with labels below `first_label` are the same in all of them.
    pub fn of(strong: &Strong, shift: u32, first_label: u32) -> Option<Exchanges> {
        let orbit = strong.orbits().into_iter().find(|orbit| {
            let all: f64 = (1..=orbit.len()).map(|n| n as f64).product();
            (3..=MOST).contains(&orbit.len()) && (strong.order() - all).abs() < 0.5
        })?;
        let known = all_exchanges(strong, &orbit)?;
        let pairs = Pairs::of(&orbit, &known, (shift, first_label));
        let moved = known.into_iter().map(|((a, b), table)| {
            let pairs = table.iter().enumerate().filter(|(x, y)| *x != **y as usize);
            let pairs = pairs.map(|(x, y)| (x as NodeId + shift, y + shift)).collect();
            ((a + shift, b + shift), pairs)
        });
        Some(Exchanges { moved: moved.collect(), pairs })
    }

    /// Is every order of this cell as good as any other?
    pub(crate) fn frees(
        &self,
        graph: &Graph,
        partition: &Partition,
        start: usize,
        image: &mut Vec<NodeId>,
    ) -> bool {
        let cell = &partition.order[start..start + partition.size[start] as usize];
        cell[1..].iter().all(|other| {
            let Some(moved) = self.moved.get(&(cell[0], *other)) else { return false };
            leaves_alone(graph, partition, moved, image)
        })
    }
}

/// For each two points of an orbit the member of the group that exchanges them, as a table; none if not all are found.
///
/// One is among the generators, their powers, and the powers of products of two. A member `g` takes the exchange of `a` and `b` to that of `g(a)` and `g(b)`, so that
/// one leads to all others. Once all are there, the group is all permutations of the orbit; it has no more members, so that each is the only one.
fn all_exchanges(strong: &Strong, orbit: &[NodeId]) -> Option<HashMap<(NodeId, NodeId), Vec<NodeId>>> {
    let generators = strong.tables();
    let exchanged = |table: &[NodeId]| {
        let mut moved = orbit.iter().copied().filter(|p| table[*p as usize] != *p);
        match (moved.next(), moved.next(), moved.next()) {
            (Some(a), Some(b), None) => Some((a, b)),
            _ => None,
        }
    };
    let after = |first: &[NodeId], second: &[NodeId]| -> Vec<NodeId> {
        first.iter().map(|x| second[*x as usize]).collect()
    };
    let power = |of: &[NodeId]| {
        let mut table = of.to_vec();
        for _ in 0..MOST {
            if let Some(two) = exchanged(&table) {
                return Some((two, table));
            }
            table = after(&table, of);
        }
        None
    };
    let products = || {
        let second = |g: &Vec<NodeId>| generators.iter().find_map(|h| power(&after(g, h)));
        generators.iter().find_map(second)
    };
    let ((a, b), table) = generators.iter().find_map(|g| power(g)).or_else(products)?;
    let mut known = HashMap::from([((a, b), table.clone()), ((b, a), table)]);
    let mut open = vec![(a, b)];
    while let Some(two) = open.pop() {
        for g in &generators {
            let image = (g[two.0 as usize], g[two.1 as usize]);
            if known.contains_key(&image) {
                continue;
            }
            let old = &known[&two];
            let mut table = vec![0; old.len()];
            for (x, y) in old.iter().enumerate() {
                table[g[x] as usize] = g[*y as usize];
            }
            known.insert((image.1, image.0), table.clone());
            known.insert(image, table);
            open.push(image);
        }
    }
    (known.len() == orbit.len() * (orbit.len() - 1)).then_some(known)
}

/// Is this an automorphism of a graph that keeps a partition? What does not move keeps its edges if what moves does, in both directions.
fn leaves_alone(
    graph: &Graph,
    partition: &Partition,
    moved: &[(NodeId, NodeId)],
    image: &mut Vec<NodeId>,
) -> bool {
    if image.len() < graph.len() {
        image.extend(image.len() as NodeId..graph.len() as NodeId);
    }
    let same = |(x, y): &(NodeId, NodeId)| {
        partition.colour[*x as usize] == partition.colour[*y as usize] && graph.data(*x) == graph.data(*y)
    };
    if !moved.iter().all(same) {
        return false;
    }
    moved.iter().for_each(|(x, y)| image[*x as usize] = *y);
    let keeps = |x: NodeId| {
        let (mine, theirs) = (graph.edges(x), graph.edges(image[x as usize]));
        let there =
            |label: u32, target: NodeId| theirs.iter().any(|e| e.label == label && e.target == target);
        graph.kind(x) == graph.kind(image[x as usize])
            && mine.len() == theirs.len()
            && mine.iter().all(|e| there(e.label, image[e.target as usize]))
    };
    // Also of those that stay: they may lead to what moves.
    let all = (0..graph.len() as NodeId).all(keeps);
    moved.iter().for_each(|(x, _)| image[*x as usize] = *x);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Exact;

    /// Kind, data, edges.
    type Node = (u32, Vec<u64>, Vec<(u32, u32)>);

    /// Threads, each with a node about each of the others, as points; some nodes have other data.
    fn state(n: u32, data: impl Fn(u32, u32) -> u64, number: impl Fn(u32) -> u32) -> Graph {
        let mut old: Vec<Node> = vec![(9, vec![], vec![])];
        old.extend((0..n).map(|_| (0, vec![], vec![])));
        for a in 0..n {
            for b in 0..n {
                let kind = if a == b { 1 } else { 2 };
                old.push((kind, vec![data(a, b)], vec![(0, 1 + a), (1, 1 + b)]));
            }
        }
        let mut order: Vec<u32> = (0..old.len() as u32).collect();
        order.sort_by_key(|x| number(*x));
        let mut graph = Graph::new();
        for x in order {
            let (kind, data, edges) = &old[x as usize];
            graph.object(*kind);
            data.iter().for_each(|word| graph.word(*word));
            edges.iter().for_each(|(label, to)| graph.edge(*label, number(*to)));
        }
        graph
    }

    fn exchanges(n: u32) -> Exchanges {
        let structure = state(n, |_, _| 0, |x| x);
        let strong = Strong::automorphisms(&structure);
        Exchanges::of(&strong, 0, 2).expect("all permutations")
    }

    #[test]
    fn every_two_points_of_the_orbit_are_exchanged() {
        let n = 6;
        let all = exchanges(n);
        // Of the threads, or of the nodes that each has of its own.
        assert_eq!(all.moved.len() as u32, n * (n - 1));
        for ((a, b), moved) in &all.moved {
            assert!(moved.contains(&(*a, *b)) && moved.contains(&(*b, *a)));
            assert_eq!(moved.len() as u32, 2 * (1 + 1 + 2 * (n - 2)) + 2);
        }
    }

    /// Whatever the generators are: those that are found first for nodes in another order need not exchange two points alone.
    #[test]
    fn they_are_found_from_any_generators() {
        let mut without = 0;
        for n in 3..8 {
            let (points, total) = (1 + n, 1 + n + n * n);
            for turn in 0..total {
                let number = |x: u32| if x == 0 { 0 } else { (x - 1 + turn) % (total - 1) + 1 };
                let strong = Strong::automorphisms(&state(n, |_, _| 0, number));
                let found = Exchanges::of(&strong, 0, 2).expect("all permutations");
                assert_eq!(found.moved.len() as u32, n * (n - 1));
                let threads: Vec<u32> = (1..points).map(number).collect();
                let two =
                    |table: &&Vec<u32>| threads.iter().filter(|t| table[**t as usize] != **t).count() == 2;
                without += u32::from(strong.tables().iter().filter(two).count() < n as usize - 1);
            }
        }
        assert!(without > 0, "generators that exchange two points alone are not enough");
    }

    #[test]
    fn the_form_is_canonical_and_takes_no_choices() {
        let n = 6;
        let known = exchanges(n);
        for which in 0..40u64 {
            let data = move |a: u32, b: u32| u64::from(a != b && (which >> (a % 3 * 2 + b % 2)) & 1 == 1);
            // A permutation of threads, and what it does to the others.
            let turn = move |x: u32| (x * 5 + which as u32) % n;
            let renumber = move |x: u32| match x {
                0 => 0,
                x if x <= n => 1 + turn(x - 1),
                x => 1 + n + turn((x - 1 - n) / n) * n + turn((x - 1 - n) % n),
            };
            let forms: Vec<Graph> = [state(n, data, |x| x), state(n, data, renumber)]
                .iter()
                .map(|graph| {
                    let (mut exact, mut number) = (Exact::new(), Vec::new());
                    exact.number_in(graph, Some(&known), &mut number);
                    if which == 0 {
                        assert_eq!(exact.statistics.choices, 0, "all alike");
                    }
                    graph.renumbered(&number)
                })
                .collect();
            assert_eq!(forms[0], forms[1], "{which}");
        }
    }
}
