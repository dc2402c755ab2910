//! Büchi automata with one initial state; letters are sets of propositions, edges carry conjunctions of literals.

use std::fmt;

/// A conjunction of literals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label {
    /// Propositions that must hold.
    pub must: u64,
    /// Propositions that must not.
    pub must_not: u64,
}

impl Label {
    /// The label that allows every letter.
    pub const TRUE: Label = Label { must: 0, must_not: 0 };

    /// May this letter be read?
    pub fn allows(self, letter: u64) -> bool {
        self.must & !letter == 0 && self.must_not & letter == 0
    }

    /// Both at once; `None` when that is impossible.
    pub fn and(self, other: Label) -> Option<Label> {
        let both = Label { must: self.must | other.must, must_not: self.must_not | other.must_not };
        (both.must & both.must_not == 0).then_some(both)
    }

    /// Every letter allowed here is allowed by `other`.
    pub fn implies(self, other: Label) -> bool {
        other.must & !self.must == 0 && other.must_not & !self.must_not == 0
    }
}

/// An edge of an automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// Which letters may be read.
    pub label: Label,
    /// The state it leads to.
    pub target: usize,
}

/// A state of an automaton.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Runs that are here infinitely often are accepted.
    pub accepting: bool,
    /// The ways on.
    pub edges: Vec<Edge>,
}

/// A Büchi automaton: accepts the words with a run from the initial state that visits accepting states infinitely often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buchi {
    /// Its states.
    pub states: Vec<State>,
    /// Where runs start.
    pub initial: usize,
}

impl Buchi {
    /// The automaton that accepts nothing.
    pub fn empty() -> Buchi {
        Buchi { states: vec![State::default()], initial: 0 }
    }

    /// Is this state accepting with an edge to itself for every letter? Whatever follows, the word is accepted.
    pub fn accepts_everything(&self, state: usize) -> bool {
        let s = &self.states[state];
        s.accepting && s.edges.iter().any(|e| e.target == state && e.label == Label::TRUE)
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.states.iter().map(|s| s.edges.len()).sum()
    }

    /// Does the initial state allow staying there for every letter? Then every run of a system is followed for ever,
    /// whatever it does.
    pub fn follows_everything(&self) -> bool {
        let mut edges = self.states[self.initial].edges.iter();
        edges.any(|e| e.target == self.initial && e.label == Label::TRUE)
    }

    /// The strongly connected component of each state, and for each component whether it has an edge inside.
    pub(crate) fn components(&self) -> (Vec<usize>, Vec<bool>) {
        let component =
            components(self.states.len(), |s| self.states[s].edges.iter().map(|e| e.target).collect());
        let count = component.iter().max().map_or(0, |m| m + 1);
        let mut cyclic = vec![false; count];
        for (s, state) in self.states.iter().enumerate() {
            if state.edges.iter().any(|e| component[e.target] == component[s]) {
                cyclic[component[s]] = true;
            }
        }
        (component, cyclic)
    }

    /// Only the states in `keep` (which has the initial one), renumbered.
    pub(crate) fn restricted(&self, keep: &[bool]) -> Buchi {
        let mut number = vec![usize::MAX; self.states.len()];
        for (new, (s, _)) in keep.iter().enumerate().filter(|(_, k)| **k).enumerate() {
            number[s] = new;
        }
        let states = self.states.iter().zip(keep).filter(|(_, k)| **k).map(|(state, _)| State {
            accepting: state.accepting,
            edges: state
                .edges
                .iter()
                .filter(|e| keep[e.target])
                .map(|e| Edge { label: e.label, target: number[e.target] })
                .collect(),
        });
        Buchi { states: states.collect(), initial: number[self.initial] }
    }
}

/// Strongly connected components (Tarjan, with an explicit stack): the component of each node, numbered so that edges lead
/// to equal or smaller numbers.
pub(crate) fn components(count: usize, successors: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let mut index = vec![usize::MAX; count];
    let mut low = vec![0; count];
    let mut component = vec![usize::MAX; count];
    let (mut next, mut components) = (0, 0);
    let mut open: Vec<usize> = Vec::new();
    for root in 0..count {
        if index[root] != usize::MAX {
            continue;
        }
        let mut stack: Vec<(usize, Vec<usize>)> = vec![(root, successors(root))];
        index[root] = next;
        low[root] = next;
        next += 1;
        open.push(root);
        while let Some((node, left)) = stack.last_mut() {
            let node = *node;
            if let Some(to) = left.pop() {
                if index[to] == usize::MAX {
                    index[to] = next;
                    low[to] = next;
                    next += 1;
                    open.push(to);
                    stack.push((to, successors(to)));
                } else if component[to] == usize::MAX {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            stack.pop();
            if let Some((parent, _)) = stack.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == index[node] {
                while let Some(member) = open.pop() {
                    component[member] = components;
                    if member == node {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    component
}

/// As a `never` claim in SPIN's style, with propositions `p0`, `p1`, …
impl fmt::Display for Buchi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, state) in self.states.iter().enumerate() {
            let initial = if number == self.initial { " initial" } else { "" };
            let accepting = if state.accepting { " accepting" } else { "" };
            writeln!(f, "{number}:{initial}{accepting}")?;
            for edge in &state.edges {
                let literal = |p: u32| match (edge.label.must >> p & 1, edge.label.must_not >> p & 1) {
                    (1, _) => Some(format!("p{p}")),
                    (_, 1) => Some(format!("!p{p}")),
                    _ => None,
                };
                let literals: Vec<String> = (0..64).filter_map(literal).collect();
                let label = if literals.is_empty() { "1".to_owned() } else { literals.join(" && ") };
                writeln!(f, "  ({label}) -> {}", edge.target)?;
            }
        }
        Ok(())
    }
}
