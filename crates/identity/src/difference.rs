//! Where the code of two threads first differs.
//!
//! For threads that run different functions, leaving lines out does not tell much: a line that is left out in one of them makes them differ
//! more. Here both are read side by side from their beginnings, in the program's graph: a step of one is set against a step of
//! the other that looks the same, down to what it reads and writes, and from then on these cells, values, channels and locations are set against each
//! other. The first step for which there is none is the answer. Of options that could be set against several the first counts.
//!
//! If there is no such step, both do the same to things of their own, and others tell them apart.

use std::collections::{BTreeMap, HashMap, VecDeque};

use quotient_source::Span;
use quotient_symmetry::graph::{Graph, NodeId};

use crate::build::{Built, Part, build};
use crate::ground::Setting;
use crate::sorts::Sorts;
use crate::specialise::{Specialised, specialise};

/// How two threads differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// By these statements; none where nothing stands against the other.
    At(Option<Span>, Option<Span>),
    /// Not by what they do themselves: others treat them in different ways.
    Elsewhere,
}

/// Nodes that are looked at before the question is given up.
const MOST: usize = 200_000;

/// The first differences between two threads each, where they can be said.
pub fn differences(setting: &Setting<'_>, pairs: &[(u32, u32)]) -> Vec<(u32, u32, Difference)> {
    let Ok(of) = specialise(setting, &[]) else { return Vec::new() };
    let mut sorts = Sorts::new(setting, &of).split(&of).unwrap_or_else(|| Sorts::new(setting, &of));
    sorts.pad();
    let Some(built) = build(setting, &of, &sorts) else { return Vec::new() };
    let of_pair = |(a, b): &(u32, u32)| Some((*a, *b, difference(setting, &of, &built, *a, *b)?));
    pairs.iter().filter_map(of_pair).collect()
}

fn difference(setting: &Setting<'_>, of: &Specialised, built: &Built, a: u32, b: u32) -> Option<Difference> {
    let mut steps: HashMap<(u32, u32), Vec<(NodeId, u32)>> = HashMap::new();
    for (node, (thread, location, which)) in &built.steps {
        steps.entry((*thread, *location)).or_default().push((*node, *which));
    }
    let index: HashMap<Part, NodeId> = built.parts.iter().copied().zip(0..).collect();
    let mut walk = Walk { graph: &built.graph, image: HashMap::new(), origin: HashMap::new(), left: MOST };
    let first = |thread: u32| {
        let entry = setting.program.function(setting.threads[thread as usize]).entry.0;
        let locs = &of.threads[thread as usize].locs;
        let known = |l: &u32| locs.get(*l as usize).is_some_and(Option::is_some);
        Some(entry).filter(known).or_else(|| (0..locs.len() as u32).find(known))
    };
    let mut trail = Vec::new();
    let threads = (index[&Part::Thread(a)], index[&Part::Thread(b)]);
    // Their colours may differ: only the youngest can end, for example.
    walk.set(threads.0, threads.1, &mut trail);
    let mut open: VecDeque<(u32, u32)> = VecDeque::from([(first(a)?, first(b)?)]);
    let mut met = vec![open[0]];
    while let Some((x, y)) = open.pop_front() {
        let found = walk.locations(of, built, &index, &steps, (a, x), (b, y));
        let Ok(next) = found else { return found.err().filter(|_| walk.left > 0) };
        for pair in next {
            if !met.contains(&pair) {
                met.push(pair);
                open.push_back(pair);
            }
        }
    }
    (walk.left > 0).then_some(Difference::Elsewhere)
}

/// What has been set against what.
struct Walk<'a> {
    graph: &'a Graph,
    image: HashMap<NodeId, NodeId>,
    origin: HashMap<NodeId, NodeId>,
    left: usize,
}

impl Walk<'_> {
    fn set(&mut self, x: NodeId, y: NodeId, trail: &mut Vec<NodeId>) {
        self.image.insert(x, y);
        self.origin.insert(y, x);
        trail.push(x);
    }

    /// Forgets what was set since the trail had this length.
    fn undo(&mut self, trail: &mut Vec<NodeId>, length: usize) {
        for x in trail.drain(length..) {
            if let Some(y) = self.image.remove(&x) {
                self.origin.remove(&y);
            }
        }
    }

    /// Sets a node and all it has edges to against another; `false` where that is not possible, and then nothing is set.
    fn same(&mut self, x: NodeId, y: NodeId, trail: &mut Vec<NodeId>) -> bool {
        match (self.image.get(&x), self.origin.get(&y)) {
            (Some(known), _) => return *known == y,
            (None, Some(_)) => return false,
            (None, None) => {}
        }
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || self.graph.kind(x) != self.graph.kind(y) {
            return false;
        }
        let length = trail.len();
        self.set(x, y, trail);
        let by_label = |node: NodeId| {
            let mut groups: BTreeMap<u32, Vec<NodeId>> = BTreeMap::new();
            for edge in self.graph.edges(node) {
                groups.entry(edge.label).or_default().push(edge.target);
            }
            groups
        };
        let (mine, mut theirs) = (by_label(x), by_label(y));
        for (label, targets) in mine {
            let mut others = theirs.remove(&label).unwrap_or_default();
            for target in targets {
                // What is set already first: it leaves no choice.
                others.sort_by_key(|o| self.image.get(&target) != Some(o));
                let fits = (0..others.len()).find(|at| self.same(target, others[*at], trail));
                let Some(at) = fits else {
                    self.undo(trail, length);
                    return false;
                };
                others.remove(at);
            }
            if !others.is_empty() {
                self.undo(trail, length);
                return false;
            }
        }
        if !theirs.is_empty() {
            self.undo(trail, length);
            return false;
        }
        true
    }

    /// Sets the steps of two locations against each other; gives the locations that they lead to, or the difference.
    fn locations(
        &mut self,
        of: &Specialised,
        built: &Built,
        index: &HashMap<Part, NodeId>,
        steps: &HashMap<(u32, u32), Vec<(NodeId, u32)>>,
        x: (u32, u32),
        y: (u32, u32),
    ) -> Result<Vec<(u32, u32)>, Difference> {
        let span = |(thread, location): (u32, u32), which: u32| {
            let location = of.threads[thread as usize].locs[location as usize].as_ref()?;
            location.steps.get(which as usize)?.spans.first().copied()
        };
        let none = Vec::new();
        let mine = steps.get(&x).unwrap_or(&none);
        let mut theirs = steps.get(&y).unwrap_or(&none).clone();
        let node = |(thread, location): (u32, u32)| index.get(&Part::Location(thread, location)).copied();
        let mut trail = Vec::new();
        if let (Some(here), Some(there)) = (node(x), node(y))
            && !self.same(here, there, &mut trail)
        {
            return Err(Difference::At(span(x, 0), span(y, 0)));
        }
        for (step, which) in mine {
            let found = (0..theirs.len()).find(|other| self.same(*step, theirs[*other].0, &mut trail));
            let Some(found) = found else {
                let against = theirs.first().and_then(|(_, which)| span(y, *which));
                return Err(Difference::At(span(x, *which), against));
            };
            theirs.remove(found);
        }
        if let Some((_, which)) = theirs.first() {
            return Err(Difference::At(None, span(y, *which)));
        }
        let places = trail.iter().filter_map(|node| {
            let location = |node: NodeId| match built.parts.get(node as usize) {
                Some(Part::Location(_, location)) => Some(*location),
                _ => None,
            };
            Some((location(*node)?, location(*self.image.get(node)?)?))
        });
        Ok(places.collect())
    }
}
