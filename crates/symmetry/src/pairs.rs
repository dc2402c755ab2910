//! States of threads that each know something about each of the others, as small graphs.
//!
//! Where a group is the symmetric group of one orbit ([`crate::exchanges`]), its other points are often pairs of members of that orbit: the cell
//! `checked[j]` of thread `i`. A state then has a node for each of the `n (n - 1)` pairs, and all the edges that say whose they are. But
//! what such a node holds can be said of the pair itself: a graph of the `n` members alone, in which the label of an edge is all that is
//! known of a pair, has the same symmetries and is a tenth of the size. Its canonical numbering numbers the members, and with them the pairs.
//!
//! Why this is canonical: which pair a point stands for is a matter of the group, and the same for all states (checked when it is found: every exchange
//! of two members takes pairs to pairs as it takes their points). Labels are sums of hashes of what is known, numbered in the order of
//! their values; the most frequent one is left out. So states that are images of each other have small graphs that are renumberings of each other. Where
//! three members are involved at once, nothing is decided here, for all images alike. Hashes that collide could at most make two states that differ look alike, and the renaming found is
//! one of the group in any case.

use std::collections::HashMap;

use crate::graph::{Graph, NodeId, ROOT};
use crate::partition::mix;

/// Different labels; with more, nothing is decided here.
const MOST_LABELS: usize = 24;

/// What a node is, by members of the orbit; where its numbers start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// Never moved.
    Nobody,
    One(u8, u32),
    Pair(u8, u8, u32),
}

impl Of {
    fn members(self) -> (Option<u8>, Option<u8>) {
        match self {
            Of::Nobody => (None, None),
            Of::One(a, _) => (Some(a), None),
            Of::Pair(a, b, _) => (Some(a), Some(b)),
        }
    }

    /// What an exchange of two members makes of it.
    fn exchanged(self, c: u8, d: u8) -> Of {
        let to = |x: u8| {
            if x == c {
                d
            } else if x == d {
                c
            } else {
                x
            }
        };
        match self {
            Of::Nobody => Of::Nobody,
            Of::One(a, base) => Of::One(to(a), base),
            Of::Pair(a, b, base) => Of::Pair(to(a), to(b), base),
        }
    }
}

/// What the nodes of states are, seen from the members of one orbit.
#[derive(Clone, Debug)]
pub(crate) struct Pairs {
    members: usize,
    of: Vec<Of>,
    /// Edges with smaller labels are there in all states.
    first_label: u32,
}

impl Pairs {
    /// Finds them, if every point is a member, a pair of them, or belongs to one of them. `known` has the exchange of each two members, as a table;
    /// point 0 is node `shift`.
    pub(crate) fn of(
        orbit: &[NodeId],
        known: &HashMap<(NodeId, NodeId), Vec<NodeId>>,
        (shift, first_label): (u32, u32),
    ) -> Option<Pairs> {
        let n = orbit.len();
        let degree = known.values().next()?.len();
        let exchange = |c: usize, d: usize| known.get(&(orbit[c], orbit[d]));
        let moves = |c: usize, d: usize, x: usize| exchange(c, d).is_some_and(|t| t[x] as usize != x);
        let mut of: Vec<Option<Of>> = vec![None; degree];
        let mut base = shift;
        let mut any_pair = false;
        for x in 0..degree {
            if of[x].is_some() {
                continue;
            }
            // The members whose exchange with anyone moves it.
            let whose = |c: &usize| (0..n).filter(|d| d != c).all(|d| moves(*c, d, x));
            let whose: Vec<usize> = (0..n).filter(whose).collect();
            let first = match whose[..] {
                [] => Of::Nobody,
                [a] => Of::One(a as u8, base),
                // Whichever comes first: all others of the orbit follow.
                [a, b] if moves(a, b, x) => Of::Pair(a as u8, b as u8, base),
                _ => return None,
            };
            let mut found = vec![(x, first)];
            of[x] = Some(first);
            let mut at = 0;
            while let Some((y, what)) = found.get(at).copied() {
                at += 1;
                for c in 0..n {
                    for d in c + 1..n {
                        let z = exchange(c, d)?[y] as usize;
                        let image = what.exchanged(c as u8, d as u8);
                        match of[z] {
                            None => {
                                of[z] = Some(image);
                                found.push((z, image));
                            }
                            Some(known) if known == image => {}
                            Some(_) => return None,
                        }
                    }
                }
            }
            let expected = match first {
                Of::Nobody => 1,
                Of::One(..) => n,
                Of::Pair(..) => n * (n - 1),
            };
            if found.len() != expected {
                return None;
            }
            any_pair |= matches!(first, Of::Pair(..));
            base += found.len() as u32;
        }
        let nobody = (0..shift).map(|_| Some(Of::Nobody));
        let of = nobody.chain(of).collect::<Option<Vec<Of>>>()?;
        any_pair.then_some(Pairs { members: n, of, first_label })
    }

    /// Writes the small graph of a state; `false` where it cannot be written.
    pub(crate) fn show(&self, graph: &Graph, scratch: &mut Scratch, out: &mut Graph) -> bool {
        if graph.len() != self.of.len() {
            return false;
        }
        let n = self.members;
        scratch.known.clear();
        scratch.known.resize(n * n, 0);
        let known = &mut scratch.known;
        for (node, of) in self.of.iter().enumerate() {
            let node = node as NodeId;
            let (a, b) = of.members();
            if let Some(a) = a {
                // What is not there is zero, for the most part.
                let data = graph.data(node);
                if data.iter().any(|word| *word != 0) {
                    let hash = data.iter().fold(mix(u64::from(graph.kind(node))), |h, word| mix(h ^ word));
                    put(known, n, a, b.unwrap_or(a), hash);
                }
            }
            for edge in graph.edges(node).iter().filter(|e| e.label >= self.first_label) {
                let to = self.of[edge.target as usize];
                let hash = mix(u64::from(edge.label) << 32 | u64::from(graph.kind(node)));
                let hash = mix(hash ^ u64::from(graph.kind(edge.target)));
                if !relate(known, n, (*of, to), hash) {
                    return false;
                }
            }
        }
        self.write(graph, scratch, out)
    }

    fn write(&self, graph: &Graph, scratch: &mut Scratch, out: &mut Graph) -> bool {
        let n = self.members;
        let Scratch { known, labels, edges } = scratch;
        labels.clear();
        for a in 0..n {
            for b in (0..n).filter(|b| *b != a) {
                let word = known[a * n + b];
                match labels.iter().position(|(known, _)| *known == word) {
                    Some(at) => labels[at].1 += 1,
                    None if labels.len() == MOST_LABELS => return false,
                    None => labels.push((word, 1)),
                }
            }
        }
        labels.sort_unstable();
        let most = labels.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let usual = labels.iter().position(|(_, count)| *count == most);
        out.clear();
        out.object(0);
        graph.data(ROOT).iter().for_each(|word| out.word(*word));
        for a in 0..n {
            out.object(1);
            out.word(known[a * n + a]);
            edges.clear();
            for b in (0..n).filter(|b| *b != a) {
                let label = labels.iter().position(|(word, _)| *word == known[a * n + b]);
                if label != usual {
                    edges.push((label.unwrap_or(0) as u32, b as NodeId + 1));
                }
            }
            edges.sort_unstable();
            edges.iter().for_each(|(label, to)| out.edge(*label, *to));
        }
        true
    }

    /// Numbers all nodes from the numbers of the small graph's.
    pub(crate) fn number(&self, small: &[u32], number: &mut Vec<u32>) {
        let (n, place) = (self.members as u32, |a: u8| small[a as usize + 1] - 1);
        number.clear();
        number.extend(self.of.iter().enumerate().map(|(node, of)| match of {
            Of::Nobody => node as u32,
            Of::One(a, base) => base + place(*a),
            Of::Pair(a, b, base) => {
                let (a, b) = (place(*a), place(*b));
                base + a * (n - 1) + b - u32::from(b > a)
            }
        }));
    }
}

/// Scratch memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// What is known of each pair of members; of one with itself, what is known of it alone.
    known: Vec<u64>,
    labels: Vec<(u64, u32)>,
    edges: Vec<(u32, NodeId)>,
}

fn put(known: &mut [u64], n: usize, a: u8, b: u8, hash: u64) {
    let word = &mut known[a as usize * n + b as usize];
    *word = word.wrapping_add(hash);
}

/// An edge is known of the members it is about; `false` if these are more than two.
fn relate(known: &mut [u64], n: usize, (from, to): (Of, Of), hash: u64) -> bool {
    let (a, b) = match (from.members(), to.members()) {
        ((Some(a), None), (Some(b), None)) => (a, b),
        ((None, _), (Some(a), b)) | ((Some(a), b), (None, _)) => (a, b.unwrap_or(a)),
        ((Some(a), Some(b)), (Some(c), d)) => {
            let turned = c == b && d.is_none_or(|d| d == a);
            if turned || c == a && d.is_none_or(|d| d == b) {
                put(known, n, a, b, mix(hash ^ u64::from(turned)));
                return true;
            }
            return false;
        }
        ((Some(c), None), (Some(a), Some(b))) => {
            if c == a || c == b {
                put(known, n, a, b, mix(hash ^ u64::from(c == b)));
                return true;
            }
            return false;
        }
        ((None, _), (None, _)) => return true,
    };
    put(known, n, a, b, hash);
    true
}
