//! From the group to what a representative needs: points and few edges between them.
//!
//! Parts of states that always move together share a *point*: thread 3, name 3, cell `st[3]`, the channel made for it. Parts of one orbit have one
//! *role*; a part is known by its role and its point. Between points there are labelled edges, orbits of pairs of points, the sparsest first, until
//! the automorphisms of points and edges are exactly the group. A state with these edges is a graph, and its canonical form gives one
//! form for each orbit. Edges are unions of orbits, so the group is always among their automorphisms; if there are not enough of
//! them, what is done stays sound, since renamings are taken from the group itself, and may only store more.

use std::collections::HashMap;

use quotient_symmetry::exchanges::Exchanges;
use quotient_symmetry::graph::Graph;
use quotient_symmetry::group::Group;
use quotient_symmetry::strong::Strong;

use crate::build::Part;

/// Where a part is: what it is to its point, and the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Parts that can take each other's place have one role.
    pub role: u32,
    /// What it moves with.
    pub point: u32,
}

/// Points, edges between them, and the group on them.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// The parts that move, each with its place.
    pub place: HashMap<Part, Place>,
    /// The points, by kind, with their edges.
    pub graph: Graph,
    /// What can be done to the points.
    pub group: Group,
    /// Exchanges of two points, if these are all there is.
    pub exchanges: Option<Exchanges>,
    /// The edges leave nothing but the group.
    pub exact: bool,
    /// Number of renamings.
    pub order: f64,
}

/// Parts that are compared pair by pair.
const MOST_PARTS: usize = 1_500;

/// Relations that are tried as edges.
const MOST_RELATIONS: usize = 60;

/// The structure of a group of automorphisms, whose first points are these parts. `work`: nodes that may be looked at.
pub(crate) fn structure(parts: &[Part], strong: &Strong, work: &mut u64) -> Option<Structure> {
    let generators = strong.tables();
    let moved: Vec<usize> =
        (0..parts.len()).filter(|p| generators.iter().any(|g| g[*p] as usize != *p)).collect();
    if moved.is_empty() {
        return Some(Structure { exact: true, order: 1.0, ..Structure::default() });
    }
    let orbits = Orbits::of(parts.len(), &generators);
    // What belongs to a thread, one of its orbit to each, goes with it.
    let index: HashMap<Part, usize> = parts.iter().copied().zip(0..).collect();
    let follows = |p: usize| owner(parts[p]).and_then(|thread| index.get(&Part::Thread(thread)).copied());
    let mut with_thread: HashMap<usize, usize> = HashMap::new();
    for &p in &moved {
        let Some(thread) = follows(p) else { continue };
        let orbit = orbits.members(p);
        let threads = orbits.members(thread);
        let mut theirs: Vec<usize> = orbit.iter().filter_map(|q| follows(*q)).collect();
        theirs.sort_unstable();
        theirs.dedup();
        if theirs.len() == orbit.len() && threads.len() == orbit.len() {
            with_thread.insert(p, thread);
        }
    }
    let free: Vec<usize> = moved.iter().copied().filter(|p| !with_thread.contains_key(p)).collect();
    if free.len() > MOST_PARTS {
        return None;
    }
    let pairs = Pairs::new(&free, &generators);
    let mut points = pairs.points(&free, &orbits);
    for (&p, thread) in &with_thread {
        // The thread moves, since its orbit has as many members.
        let point = points.of.get(thread)?.point;
        points.of.insert(p, Place { role: orbits.role(p), point });
    }
    let total = points.anchors.len();
    let place: Vec<Option<u32>> = (0..strong_degree(&generators, parts.len()))
        .map(|p| points.of.get(&p).map(|place| place.point))
        .collect();
    let projected = strong.on(&place, total);
    let (graph, exact) = pairs.edges(&points, projected.order(), work);
    let order = projected.order();
    let place = points.of.iter().map(|(p, place)| (parts[*p], *place)).collect();
    // Nodes of states have the root before them.
    let labels = (0..graph.len() as u32).flat_map(|p| graph.edges(p)).map(|e| e.label + 1).max().unwrap_or(0);
    let exchanges = if exact { Exchanges::of(&projected, 1, labels) } else { None };
    Some(Structure { place, graph, group: Group::new(&projected), exchanges, exact, order })
}

/// How many nodes the generators know.
fn strong_degree(generators: &[Vec<u32>], parts: usize) -> usize {
    generators.first().map_or(parts, Vec::len)
}

/// The thread that a part belongs to.
fn owner(part: Part) -> Option<u32> {
    match part {
        Part::Location(thread, _) | Part::Cell((crate::ground::Var::Local(thread, _), _)) => Some(thread),
        _ => None,
    }
}

/// Orbits of parts.
struct Orbits {
    least: Vec<u32>,
    members: HashMap<u32, Vec<usize>>,
    /// The orbits with more than one member, numbered, by their least members.
    roles: HashMap<u32, u32>,
}

impl Orbits {
    fn of(parts: usize, generators: &[Vec<u32>]) -> Orbits {
        let mut joined = Union::new(parts);
        for p in 0..parts {
            for g in generators {
                joined.join(p as u32, g[p]);
            }
        }
        let least = joined.least();
        let mut members: HashMap<u32, Vec<usize>> = HashMap::new();
        for p in 0..parts as u32 {
            members.entry(least[p as usize]).or_default().push(p as usize);
        }
        let mut moving: Vec<u32> =
            members.iter().filter(|(_, m)| m.len() > 1).map(|(least, _)| *least).collect();
        moving.sort_unstable();
        let roles = moving.into_iter().zip(0..).collect();
        Orbits { least, members, roles }
    }

    /// The number of a moving part's orbit.
    fn role(&self, part: usize) -> u32 {
        self.roles[&self.least[part]]
    }

    fn members(&self, part: usize) -> &[usize] {
        &self.members[&self.least[part]]
    }
}

/// Sets of numbers that are joined; each is known by its least member.
pub(crate) struct Union(Vec<u32>);

impl Union {
    pub(crate) fn new(count: usize) -> Union {
        Union((0..count as u32).collect())
    }

    pub(crate) fn find(&mut self, mut x: u32) -> u32 {
        let parent = &mut self.0;
        while parent[x as usize] != x {
            parent[x as usize] = parent[parent[x as usize] as usize];
            x = parent[x as usize];
        }
        x
    }

    pub(crate) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
    }

    /// For each number the least of its set.
    fn least(mut self) -> Vec<u32> {
        for x in 0..self.0.len() as u32 {
            self.0[x as usize] = self.find(x);
        }
        self.0
    }
}

/// Orbits of pairs of parts.
struct Pairs {
    parts: usize,
    /// The least pair of each pair's orbit.
    least: Vec<u32>,
    local: HashMap<usize, usize>,
}

/// The points, each with the part it was made for.
struct Points {
    of: HashMap<usize, Place>,
    /// For each point a part, by its number among those that were compared, and its role.
    anchors: Vec<(usize, u32)>,
}

impl Pairs {
    fn new(free: &[usize], generators: &[Vec<u32>]) -> Pairs {
        let n = free.len();
        let local: HashMap<usize, usize> = free.iter().copied().zip(0..).collect();
        let mut joined = Union::new(n * n);
        for g in generators {
            let image: Vec<usize> = free.iter().map(|p| local[&(g[*p] as usize)]).collect();
            let moved: Vec<usize> = (0..n).filter(|a| image[*a] != *a).collect();
            for &a in &moved {
                for b in 0..n {
                    joined.join((a * n + b) as u32, (image[a] * n + image[b]) as u32);
                    joined.join((b * n + a) as u32, (image[b] * n + image[a]) as u32);
                }
            }
        }
        Pairs { parts: n, least: joined.least(), local }
    }

    fn of(&self, a: usize, b: usize) -> u32 {
        self.least[a * self.parts + b]
    }

    /// Parts whose orbits follow each other one to one share points.
    fn points(&self, free: &[usize], orbits: &Orbits) -> Points {
        let mut done: Vec<u32> = Vec::new();
        // Orbits that have points of their own.
        let mut anchored: Vec<Vec<usize>> = Vec::new();
        let mut points = Points { of: HashMap::new(), anchors: Vec::new() };
        for &p in free {
            let role = orbits.role(p);
            if done.contains(&role) {
                continue;
            }
            done.push(role);
            let mine: Vec<usize> = orbits.members(p).iter().map(|q| self.local[q]).collect();
            let partner = anchored.iter().find_map(|theirs| {
                let first = *theirs.first()?;
                let alone = |y: &&usize| {
                    mine.iter().filter(|z| self.of(first, **z) == self.of(first, **y)).count() == 1
                };
                let y = mine.iter().find(alone).filter(|_| theirs.len() == mine.len())?;
                Some((theirs, self.of(first, *y)))
            });
            match partner {
                Some((theirs, relation)) => {
                    for x in theirs {
                        let point = points.of[&free[*x]].point;
                        for y in mine.iter().filter(|y| self.of(*x, **y) == relation) {
                            points.of.insert(free[*y], Place { role, point });
                        }
                    }
                }
                None => {
                    for x in &mine {
                        let point = points.anchors.len() as u32;
                        points.of.insert(free[*x], Place { role, point });
                        points.anchors.push((*x, role));
                    }
                    anchored.push(mine);
                }
            }
        }
        points
    }

    /// Edges between points, until their automorphisms are no more than `order`.
    fn edges(&self, points: &Points, order: f64, work: &mut u64) -> (Graph, bool) {
        let anchors = &points.anchors;
        let mut relations: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
        for (i, (a, _)) in anchors.iter().enumerate() {
            for (j, (b, _)) in anchors.iter().enumerate().filter(|(j, _)| *j != i) {
                relations.entry(self.of(*a, *b)).or_default().push((i as u32, j as u32));
            }
        }
        let mut relations: Vec<(u32, Vec<(u32, u32)>)> = relations.into_iter().collect();
        relations.sort_unstable_by_key(|(name, pairs)| (pairs.len(), *name));
        let mut chosen: Vec<Vec<(u32, u32)>> = Vec::new();
        let graph_of = |chosen: &[Vec<(u32, u32)>]| {
            let mut graph = Graph::new();
            for (i, (_, role)) in anchors.iter().enumerate() {
                graph.object(*role);
                for (label, pairs) in chosen.iter().enumerate() {
                    for (_, to) in pairs.iter().filter(|(from, _)| *from == i as u32) {
                        graph.edge(label as u32, *to);
                    }
                }
            }
            graph
        };
        let mut graph = graph_of(&chosen);
        let mut cut = false;
        let mut order_of = |graph: &Graph| {
            let strong = Strong::automorphisms_within(graph, *work);
            *work = work.saturating_sub(strong.looked_at());
            cut |= strong.cut();
            strong.order()
        };
        let mut now = order_of(&graph);
        let enough = |now: f64| now <= order * 1.000_001;
        for (_, pairs) in relations.into_iter().take(MOST_RELATIONS) {
            if enough(now) {
                break;
            }
            chosen.push(pairs);
            let next_graph = graph_of(&chosen);
            let next = order_of(&next_graph);
            if next < now * 0.999_999 {
                (graph, now) = (next_graph, next);
            } else {
                chosen.pop();
            }
        }
        // Where the work is over, there may be more than were found.
        (graph, enough(now) && !cut)
    }
}
