//! Automata with acceptance on their edges, in several sets: the form a search over components uses directly.
//!
//! They are smaller than Büchi automata (`[]<>p` is one state), and what they save is saved in every product. Reduced like
//! those (see `simulation`): states from which nothing is accepted are removed, marks outside of accepting components are
//! set alike, states that simulate each other are merged, edges next to better ones dropped, and acceptance sets that others
//! imply are left out.

use crate::alternating;
use crate::buchi::components;
use crate::simulation::{classes, greatest};
use crate::{Buchi, Label};

/// An edge with the acceptance sets it is in, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MarkedEdge {
    /// Which letters may be read.
    pub label: Label,
    /// The state it leads to.
    pub target: usize,
    /// The acceptance sets.
    pub marks: u64,
}

/// An automaton with several acceptance sets of edges: accepts the words with a run that takes edges of every set infinitely
/// often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generalised {
    /// The edges of each state.
    pub states: Vec<Vec<MarkedEdge>>,
    /// Where runs start.
    pub initial: usize,
    /// Number of acceptance sets, at most 63; with none, every infinite run is accepted.
    pub sets: u32,
}

/// States beyond which the quadratic part is not tried.
const MOST_STATES: usize = 600;

impl Generalised {
    /// All marks.
    pub fn all(&self) -> u64 {
        (1 << self.sets) - 1
    }

    /// Is there an edge from this state to itself for every letter, with all marks? Whatever follows, the word is accepted.
    pub fn accepts_everything(&self, state: usize) -> bool {
        let all = self.all();
        self.states[state].iter().any(|e| e.target == state && e.label == Label::TRUE && e.marks == all)
    }

    /// Which states are on a cycle that is accepted?
    pub fn accepting_states(&self) -> Vec<bool> {
        let component = self.components();
        let accepting = self.accepting_components(&component);
        component.iter().map(|c| accepting[*c]).collect()
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.states.iter().map(Vec::len).sum()
    }

    /// From the raw form; `None` when it has too many acceptance sets.
    pub(crate) fn new(raw: &alternating::Generalised) -> Option<Generalised> {
        if raw.sets > 63 {
            return None;
        }
        // A first state of its own, with the edges of all initial ones.
        let edge = |e: &alternating::GeneralisedEdge| MarkedEdge {
            label: e.label,
            target: e.target + 1,
            marks: e.accepting as u64,
        };
        let first = raw.initial.iter().flat_map(|s| raw.states[*s].iter().map(edge)).collect();
        let rest = raw.states.iter().map(|edges| edges.iter().map(edge).collect());
        let states = std::iter::once(first).chain(rest).collect();
        Some(Generalised { states, initial: 0, sets: raw.sets })
    }

    /// A Büchi automaton in this form: the edges that leave accepting states are marked.
    pub(crate) fn from_buchi(automaton: &Buchi) -> Generalised {
        let states = automaton.states.iter().map(|s| {
            let marks = u64::from(s.accepting);
            s.edges.iter().map(|e| MarkedEdge { label: e.label, target: e.target, marks }).collect()
        });
        Generalised { states: states.collect(), initial: automaton.initial, sets: 1 }
    }

    fn components(&self) -> Vec<usize> {
        components(self.states.len(), |s| self.states[s].iter().map(|e| e.target).collect())
    }

    /// By component: does it have a cycle with all marks?
    fn accepting_components(&self, component: &[usize]) -> Vec<bool> {
        let mut met = vec![None; self.states.len()];
        for (s, edges) in self.states.iter().enumerate() {
            for e in edges.iter().filter(|e| component[e.target] == component[s]) {
                *met[component[s]].get_or_insert(0) |= e.marks;
            }
        }
        met.into_iter().map(|m| m.is_some_and(|m| m == self.all())).collect()
    }

    /// Only states that are reachable and from which something is accepted; only edges that no other one to the same state
    /// covers.
    fn trimmed(&self) -> Generalised {
        let component = self.components();
        let mut useful = self.accepting_components(&component);
        let mut order: Vec<usize> = (0..self.states.len()).collect();
        // Edges lead to components with equal or smaller numbers.
        order.sort_unstable_by_key(|s| component[*s]);
        for s in order {
            useful[component[s]] |= self.states[s].iter().any(|e| useful[component[e.target]]);
        }
        let mut keep = vec![false; self.states.len()];
        let mut open = vec![self.initial];
        keep[self.initial] = true;
        while let Some(s) = open.pop() {
            for e in self.states[s].iter().filter(|e| useful[component[e.target]]) {
                if !std::mem::replace(&mut keep[e.target], true) {
                    open.push(e.target);
                }
            }
        }
        let mut number = vec![usize::MAX; self.states.len()];
        for (new, (old, _)) in keep.iter().enumerate().filter(|(_, k)| **k).enumerate() {
            number[old] = new;
        }
        let kept = self.states.iter().zip(&keep).filter(|(_, k)| **k).map(|(edges, _)| {
            let inside = edges.iter().filter(|e| keep[e.target] && useful[component[e.target]]);
            let mut edges: Vec<MarkedEdge> =
                inside.map(|e| MarkedEdge { target: number[e.target], ..*e }).collect();
            edges.sort_unstable();
            edges.dedup();
            let covered = |e: &MarkedEdge, o: &MarkedEdge| {
                e != o && e.target == o.target && e.label.implies(o.label) && e.marks & !o.marks == 0
            };
            edges.iter().filter(|e| !edges.iter().any(|o| covered(e, o))).copied().collect()
        });
        Generalised { states: kept.collect(), initial: number[self.initial], sets: self.sets }
    }

    /// Sets the marks that make no difference: those between components as told, those inside rejecting ones to none. (None
    /// with no sets at all is everything, but then no component is rejecting.)
    fn fill(&mut self, marked: bool) {
        let component = self.components();
        let accepting = self.accepting_components(&component);
        let fill = if marked { self.all() } else { 0 };
        for (s, edges) in self.states.iter_mut().enumerate() {
            for e in edges {
                if component[s] != component[e.target] {
                    e.marks = fill;
                } else if !accepting[component[s]] {
                    e.marks = 0;
                }
            }
        }
    }

    /// Leaves out an acceptance set that all edges of accepting components are in, or that another one implies there. One
    /// set stays while there are cycles outside of accepting components: having no marks, they stay rejected by it.
    fn drop_set(&mut self) -> bool {
        self.fill(false);
        let component = self.components();
        let accepting = self.accepting_components(&component);
        let inside: Vec<u64> = self
            .states
            .iter()
            .enumerate()
            .flat_map(|(s, edges)| edges.iter().map(move |e| (s, e)))
            .filter(|(s, e)| component[*s] == component[e.target] && accepting[component[*s]])
            .map(|(_, e)| e.marks)
            .collect();
        let redundant = (0..self.sets).find(|i| {
            let in_set = |marks: &u64| marks >> i & 1 == 1;
            let implied_by = |j: u32| j != *i && inside.iter().all(|m| m >> j & 1 == 0 || in_set(m));
            inside.iter().all(in_set) || (0..self.sets).any(implied_by)
        });
        let Some(i) = redundant else { return false };
        let rejected = self.states.iter().enumerate().any(|(s, edges)| {
            edges.iter().any(|e| component[e.target] == component[s] && !accepting[component[s]])
        });
        if self.sets == 1 && rejected {
            return false;
        }
        let low = (1u64 << i) - 1;
        for e in self.states.iter_mut().flatten() {
            e.marks = e.marks & low | (e.marks >> 1) & !low;
        }
        self.sets -= 1;
        true
    }

    /// Merges states that simulate each other; removes edges next to better ones.
    fn simulated(&self) -> Generalised {
        let n = self.states.len();
        if n > MOST_STATES {
            return self.clone();
        }
        let mut below = vec![vec![true; n]; n];
        let follows = |below: &[Vec<bool>], q: usize, p: usize| {
            let covered = |e: &MarkedEdge, f: &MarkedEdge| {
                e.label.implies(f.label) && e.marks & !f.marks == 0 && below[e.target][f.target]
            };
            self.states[q].iter().all(|e| self.states[p].iter().any(|f| covered(e, f)))
        };
        greatest(&mut below, follows);
        let class = classes(&below);
        let covers = |x: &MarkedEdge, y: &MarkedEdge| {
            y.label.implies(x.label) && y.marks & !x.marks == 0 && below[y.target][x.target]
        };
        let states = self.states.iter().map(|edges| {
            let mut edges: Vec<MarkedEdge> =
                edges.iter().map(|e| MarkedEdge { target: class[e.target], ..*e }).collect();
            edges.sort_unstable();
            edges.dedup();
            // Of two edges as good as each other, the first stays.
            let dropped = |a: usize| {
                (0..edges.len()).any(|b| {
                    a != b && covers(&edges[b], &edges[a]) && (!covers(&edges[a], &edges[b]) || b < a)
                })
            };
            (0..edges.len()).filter(|a| !dropped(*a)).map(|a| edges[a]).collect()
        });
        Generalised { states: states.collect(), initial: class[self.initial], sets: self.sets }
    }

    /// An equivalent automaton, usually smaller.
    pub(crate) fn reduced(self) -> Generalised {
        let size = |g: &Generalised| (g.states.len(), g.edges(), g.sets);
        let mut best = self.trimmed();
        loop {
            let before = size(&best);
            // First with the marks as they are: the initial state often equals another one.
            for fill in [None, Some(true), Some(false)] {
                let mut next = best.clone();
                if let Some(marked) = fill {
                    while next.drop_set() {}
                    next.fill(marked);
                }
                let next = next.simulated().trimmed();
                if size(&next) < size(&best) {
                    best = next;
                }
            }
            if size(&best) == before {
                return best;
            }
        }
    }
}
