//! Ultimately periodic words and what holds on them, by the definitions: nothing here is shared with the translation.

use crate::{Buchi, Formula, Generalised};

/// A prefix and a cycle that is repeated for ever. A letter is the set of propositions that hold, as bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// The letters before the cycle.
    pub prefix: Vec<u64>,
    /// The letters of the cycle; not empty.
    pub cycle: Vec<u64>,
}

impl Lasso {
    fn len(&self) -> usize {
        self.prefix.len() + self.cycle.len()
    }

    fn letter(&self, at: usize) -> u64 {
        if at < self.prefix.len() { self.prefix[at] } else { self.cycle[at - self.prefix.len()] }
    }

    /// The position after this one.
    pub(crate) fn next(&self, at: usize) -> usize {
        if at + 1 == self.len() { self.prefix.len() } else { at + 1 }
    }

    /// Does a formula of LTL hold on the word? (A path quantifier is read as "on this word".)
    pub fn satisfies(&self, formula: &Formula) -> bool {
        self.values(formula)[0]
    }

    /// The value of a formula at each position of prefix and cycle.
    pub fn values(&self, formula: &Formula) -> Vec<bool> {
        let positions = 0..self.len();
        match formula {
            Formula::True => vec![true; self.len()],
            Formula::False => vec![false; self.len()],
            Formula::Prop(p) => positions.map(|i| *p < 64 && self.letter(i) >> p & 1 == 1).collect(),
            Formula::Not(a) => self.values(a).into_iter().map(|v| !v).collect(),
            Formula::And(a, b) => self.values(a).iter().zip(self.values(b)).map(|(a, b)| *a && b).collect(),
            Formula::Or(a, b) => self.values(a).iter().zip(self.values(b)).map(|(a, b)| *a || b).collect(),
            Formula::Next(a) => {
                let a = self.values(a);
                positions.map(|i| a[self.next(i)]).collect()
            }
            // The least solution of: b, or a now and the same in the next position.
            Formula::Until(a, b) => self.solve(&self.values(a), &self.values(b), false),
            // The greatest solution of: b, and a now or the same in the next position.
            Formula::Release(a, b) => {
                let not = |f: &Formula| self.values(f).into_iter().map(|v| !v).collect::<Vec<bool>>();
                self.solve(&not(a), &not(b), false).into_iter().map(|v| !v).collect()
            }
            Formula::Exists(a) | Formula::All(a) => self.values(a),
        }
    }

    fn solve(&self, a: &[bool], b: &[bool], start: bool) -> Vec<bool> {
        let mut value = vec![start; self.len()];
        // Information travels backwards, at most twice around.
        for _ in 0..2 {
            for i in (0..self.len()).rev() {
                value[i] = b[i] || (a[i] && value[self.next(i)]);
            }
        }
        value
    }

    /// Does an automaton accept the word? By reachability in the product of states and positions.
    pub fn accepted_by(&self, automaton: &Buchi) -> bool {
        let n = self.len();
        let count = automaton.states.len() * n;
        let successors = |node: usize| {
            let (state, at) = (node / n, node % n);
            let (letter, next) = (self.letter(at), self.next(at));
            automaton.states[state]
                .edges
                .iter()
                .filter(move |e| e.label.allows(letter))
                .map(move |e| e.target * n + next)
        };
        let reach = |from: Vec<usize>| {
            let mut seen = vec![false; count];
            let mut open = from;
            while let Some(node) = open.pop() {
                if !std::mem::replace(&mut seen[node], true) {
                    open.extend(successors(node));
                }
            }
            seen
        };
        let reachable = reach(vec![automaton.initial * n]);
        (0..count).any(|node| {
            let accepting = automaton.states[node / n].accepting;
            reachable[node] && accepting && reach(successors(node).collect())[node]
        })
    }

    /// Does an automaton with several acceptance sets accept the word? Some state of the product must be reachable, and for
    /// each set an edge of it must lie between that state and itself.
    pub fn accepted_by_generalised(&self, automaton: &Generalised) -> bool {
        let n = self.len();
        let count = automaton.states.len() * n;
        let steps = |node: usize| {
            let (state, at) = (node / n, node % n);
            let (letter, next) = (self.letter(at), self.next(at));
            let allowed = automaton.states[state].iter().filter(move |e| e.label.allows(letter));
            allowed.map(move |e| (e.target * n + next, e.marks))
        };
        let reach = |from: usize| {
            let mut seen = vec![false; count];
            let mut open = vec![from];
            while let Some(node) = open.pop() {
                if !std::mem::replace(&mut seen[node], true) {
                    open.extend(steps(node).map(|(to, _)| to));
                }
            }
            seen
        };
        let all: Vec<Vec<bool>> = (0..count).map(reach).collect();
        (0..count).any(|node| {
            // Edges on a cycle through `node`: from something it reaches to something that reaches it.
            let mut met = None;
            for from in (0..count).filter(|from| all[node][*from]) {
                for (_, marks) in steps(from).filter(|(to, _)| all[*to][node]) {
                    *met.get_or_insert(0) |= marks;
                }
            }
            all[automaton.initial * n][node] && met.is_some_and(|m| m == automaton.all())
        })
    }
}
