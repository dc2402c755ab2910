//! CTL*: which nodes of an explicit graph satisfy a formula.
//!
//! State formulas are labelled from the inside out (Clarke, Emerson, Sistla 1986). The operators of CTL take time linear in
//! the graph: `EX` by looking once, `EU` backwards, `EG` by removing nodes that must leave. Any other path formula is
//! translated to an automaton over its maximal state subformulas, and the nodes from which the product has an accepting
//! component are the ones (Emerson and Lei 1987).

use std::collections::{HashMap, VecDeque};

use crate::buchi::components;
use crate::{Formula, Generalised, Graph, Lasso, TranslateError, translate_generalised};

/// Why a formula has no value on a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelError {
    /// A temporal operator without a path quantifier in front.
    Unquantified,
    /// A path formula has no automaton.
    Translate(TranslateError),
}

impl std::fmt::Display for LabelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LabelError::Unquantified => {
                f.write_str("a temporal operator outside of `A` and `E`: say on which paths it is meant")
            }
            LabelError::Translate(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for LabelError {}

/// Labels a graph.
#[derive(Debug)]
pub struct Labelling<'a> {
    graph: &'a Graph,
    reversed: Graph,
    /// Never use the methods for CTL alone (for tests).
    pub general: bool,
}

/// A path of nodes, the last `cycle` of which are repeated for ever, and the formula that holds on it.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The nodes, from the one asked about on.
    pub nodes: Vec<u32>,
    /// How many nodes at the end form the cycle.
    pub cycle: usize,
}

impl<'a> Labelling<'a> {
    /// Prepares a graph.
    pub fn new(graph: &'a Graph) -> Labelling<'a> {
        Labelling { graph, reversed: graph.reversed(), general: false }
    }

    /// The nodes where a state formula holds.
    pub fn nodes(&self, formula: &Formula) -> Result<Vec<bool>, LabelError> {
        let all = 0..self.graph.len();
        Ok(match formula {
            Formula::True => vec![true; self.graph.len()],
            Formula::False => vec![false; self.graph.len()],
            Formula::Prop(p) => all.map(|n| *p < 64 && self.graph.letter(n) >> p & 1 == 1).collect(),
            Formula::Not(a) => self.nodes(a)?.into_iter().map(|v| !v).collect(),
            Formula::And(a, b) => both(self.nodes(a)?, &self.nodes(b)?, |a, b| a && b),
            Formula::Or(a, b) => both(self.nodes(a)?, &self.nodes(b)?, |a, b| a || b),
            Formula::Exists(path) => self.exists(path)?,
            Formula::All(path) => self.exists(&path.clone().negated())?.into_iter().map(|v| !v).collect(),
            Formula::Next(_) | Formula::Until(..) | Formula::Release(..) => {
                return Err(LabelError::Unquantified);
            }
        })
    }

    /// The nodes where some path satisfies a path formula.
    fn exists(&self, path: &Formula) -> Result<Vec<bool>, LabelError> {
        if self.general {
            return self.exists_general(path);
        }
        if is_state(path) {
            return self.nodes(path);
        }
        match path {
            Formula::Or(a, b) => Ok(both(self.exists(a)?, &self.exists(b)?, |a, b| a || b)),
            Formula::And(a, b) if is_state(a) => Ok(both(self.nodes(a)?, &self.exists(b)?, |a, b| a && b)),
            Formula::And(a, b) if is_state(b) => Ok(both(self.exists(a)?, &self.nodes(b)?, |a, b| a && b)),
            Formula::Next(a) if is_state(a) => {
                let a = self.nodes(a)?;
                let some = |n: usize| self.graph.successors(n).iter().any(|t| a[*t as usize]);
                Ok((0..self.graph.len()).map(some).collect())
            }
            Formula::Until(a, b) if is_state(a) && is_state(b) => {
                Ok(self.until(&self.nodes(a)?, self.nodes(b)?))
            }
            Formula::Release(a, b) if is_state(a) && is_state(b) => {
                let (a, b) = (self.nodes(a)?, self.nodes(b)?);
                // Either b for ever, or b until both hold.
                let released = self.until(&b, both(a, &b, |a, b| a && b));
                Ok(both(self.always(b), &released, |a, b| a || b))
            }
            Formula::Not(inner) => match &**inner {
                Formula::Not(a) => self.exists(a),
                Formula::Next(a) => self.exists(&a.clone().negated().next()),
                Formula::And(a, b) => self.exists(&a.clone().negated().or(b.clone().negated())),
                Formula::Or(a, b) => self.exists(&a.clone().negated().and(b.clone().negated())),
                Formula::Until(a, b) => self.exists(&a.clone().negated().release(b.clone().negated())),
                Formula::Release(a, b) => self.exists(&a.clone().negated().until(b.clone().negated())),
                _ => self.exists_general(path),
            },
            _ => self.exists_general(path),
        }
    }

    /// `E[a U b]`: backwards from b through a.
    fn until(&self, a: &[bool], b: Vec<bool>) -> Vec<bool> {
        let mut holds = b;
        let mut open: Vec<usize> = (0..holds.len()).filter(|n| holds[*n]).collect();
        while let Some(node) = open.pop() {
            for from in self.reversed.successors(node) {
                let from = *from as usize;
                if a[from] && !holds[from] {
                    holds[from] = true;
                    open.push(from);
                }
            }
        }
        holds
    }

    /// `E[] b`: nodes with b, as long as some successor stays.
    fn always(&self, b: Vec<bool>) -> Vec<bool> {
        let mut holds = b;
        let staying = |n: usize, holds: &[bool]| {
            self.graph.successors(n).iter().filter(|t| holds[**t as usize]).count()
        };
        let mut left: Vec<usize> = (0..holds.len()).map(|n| staying(n, &holds)).collect();
        let mut open: Vec<usize> = (0..holds.len()).filter(|n| holds[*n] && left[*n] == 0).collect();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut holds[node], false) {
                continue;
            }
            for from in self.reversed.successors(node) {
                let from = *from as usize;
                left[from] -= 1;
                if holds[from] && left[from] == 0 {
                    open.push(from);
                }
            }
        }
        holds
    }

    /// The path formula over its maximal state subformulas, the graph labelled with those, and its automaton.
    fn linear(&self, path: &Formula) -> Result<Linear, LabelError> {
        let mut known: HashMap<Formula, u32> = HashMap::new();
        let mut letters = vec![0u64; self.graph.len()];
        let formula = self.abstracted(path, &mut known, &mut letters)?;
        let automaton = translate_generalised(&formula).map_err(LabelError::Translate)?;
        let mut states: Vec<(u32, Formula)> = known.into_iter().map(|(f, number)| (number, f)).collect();
        states.sort_by_key(|(number, _)| *number);
        let states = states.into_iter().map(|(_, f)| f).collect();
        Ok(Linear { formula, graph: self.graph.relabelled(letters), automaton, states })
    }

    fn abstracted(
        &self,
        path: &Formula,
        known: &mut HashMap<Formula, u32>,
        letters: &mut [u64],
    ) -> Result<Formula, LabelError> {
        if is_state(path) {
            if let Some(number) = known.get(path) {
                return Ok(Formula::Prop(*number));
            }
            let number = known.len() as u32;
            if number >= crate::MOST_PROPOSITIONS {
                return Err(LabelError::Translate(TranslateError::TooManyPropositions));
            }
            for (letter, holds) in letters.iter_mut().zip(self.nodes(path)?) {
                *letter |= u64::from(holds) << number;
            }
            known.insert(path.clone(), number);
            return Ok(Formula::Prop(number));
        }
        let mut part = |f: &Formula| self.abstracted(f, known, letters);
        Ok(match path {
            Formula::Not(a) => part(a)?.negated(),
            Formula::And(a, b) => part(a)?.and(part(b)?),
            Formula::Or(a, b) => part(a)?.or(part(b)?),
            Formula::Next(a) => part(a)?.next(),
            Formula::Until(a, b) => part(a)?.until(part(b)?),
            Formula::Release(a, b) => part(a)?.release(part(b)?),
            // The rest are state formulas.
            _ => path.clone(),
        })
    }

    fn exists_general(&self, path: &Formula) -> Result<Vec<bool>, LabelError> {
        let Linear { graph, automaton, .. } = self.linear(path)?;
        let product = Product { graph: &graph, automaton: &automaton };
        let (component, good) = product.good_components();
        let states = automaton.states.len();
        Ok((0..graph.len()).map(|n| good[component[n * states + automaton.initial]]).collect())
    }

    /// A path from a node that satisfies a path formula. It was checked against the meaning of the formula.
    pub fn witness(&self, node: u32, path: &Formula) -> Result<Option<Witness>, LabelError> {
        Ok(self.witness_over(node, path)?.map(|(witness, ..)| witness))
    }

    /// The same, with the formula over its maximal state subformulas, the word on the path over those, and what they are.
    #[allow(clippy::type_complexity, reason = "one use, named in the comment")]
    pub(crate) fn witness_over(
        &self,
        node: u32,
        path: &Formula,
    ) -> Result<Option<(Witness, Formula, Lasso, Vec<Formula>)>, LabelError> {
        let Linear { formula, graph, automaton, states } = self.linear(path)?;
        let product = Product { graph: &graph, automaton: &automaton };
        let Some(witness) = product.witness(node) else { return Ok(None) };
        let word = graph.word(&witness.nodes, witness.cycle);
        Ok(word.satisfies(&formula).then_some((witness, formula, word, states)))
    }
}

/// A path formula over its maximal state subformulas.
struct Linear {
    formula: Formula,
    /// The graph labelled with those.
    graph: Graph,
    automaton: Generalised,
    /// What the propositions stand for.
    states: Vec<Formula>,
}

/// Neither temporal operators nor connectives above them: its value depends on the node alone.
fn is_state(formula: &Formula) -> bool {
    match formula {
        Formula::Next(_) | Formula::Until(..) | Formula::Release(..) => false,
        Formula::Exists(_) | Formula::All(_) => true,
        _ => formula.children().iter().all(|f| is_state(f)),
    }
}

fn both(mut a: Vec<bool>, b: &[bool], join: impl Fn(bool, bool) -> bool) -> Vec<bool> {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = join(*a, *b));
    a
}

/// Nodes with states of an automaton: node `n` in state `q` is `n * states + q`.
struct Product<'a> {
    graph: &'a Graph,
    automaton: &'a Generalised,
}

impl Product<'_> {
    fn steps(&self, at: usize) -> impl Iterator<Item = (usize, u64)> {
        let states = self.automaton.states.len();
        let (node, state) = (at / states, at % states);
        let letter = self.graph.letter(node);
        let moves = self.automaton.states[state].iter().filter(move |e| e.label.allows(letter));
        moves.flat_map(move |e| {
            self.graph.successors(node).iter().map(move |t| (*t as usize * states + e.target, e.marks))
        })
    }

    /// The component of each pair, and of each component whether an accepting one can be reached from it.
    fn good_components(&self) -> (Vec<usize>, Vec<bool>) {
        let (component, mut good) = self.accepting_components();
        let count = component.len();
        let mut order: Vec<usize> = (0..count).collect();
        // Edges lead to components with equal or smaller numbers.
        order.sort_unstable_by_key(|at| component[*at]);
        for at in order {
            if !good[component[at]] && self.steps(at).any(|(to, _)| good[component[to]]) {
                good[component[at]] = true;
            }
        }
        (component, good)
    }

    fn accepting_components(&self) -> (Vec<usize>, Vec<bool>) {
        let count = self.graph.len() * self.automaton.states.len();
        let component = components(count, |at| self.steps(at).map(|(to, _)| to).collect());
        let mut met: Vec<Option<u64>> = vec![None; count];
        for at in 0..count {
            for (_, marks) in self.steps(at).filter(|(to, _)| component[*to] == component[at]) {
                *met[component[at]].get_or_insert(0) |= marks;
            }
        }
        let accepting = met.into_iter().map(|m| m.is_some_and(|m| m == self.automaton.all())).collect();
        (component, accepting)
    }

    /// The shortest way from `from` to a pair that `goal` accepts (by one step at least when `moving`), inside `inside`; with
    /// the marks of its last step.
    fn way(
        &self,
        from: usize,
        moving: bool,
        inside: &dyn Fn(usize) -> bool,
        goal: &dyn Fn(usize, u64) -> bool,
    ) -> Option<(Vec<usize>, u64)> {
        if !moving && goal(from, 0) {
            return Some((Vec::new(), 0));
        }
        let mut parent: HashMap<usize, usize> = HashMap::new();
        let mut open = VecDeque::from([from]);
        while let Some(at) = open.pop_front() {
            for (to, marks) in self.steps(at).filter(|(to, _)| inside(*to)) {
                if goal(to, marks) {
                    let mut way = vec![to];
                    let mut back = at;
                    while back != from {
                        way.push(back);
                        back = parent[&back];
                    }
                    way.reverse();
                    return Some((way, marks));
                }
                if to != from && !parent.contains_key(&to) {
                    parent.insert(to, at);
                    open.push_back(to);
                }
            }
        }
        None
    }

    /// A path from a node that the automaton accepts.
    fn witness(&self, node: u32) -> Option<Witness> {
        let states = self.automaton.states.len();
        let (component, accepting) = self.accepting_components();
        let start = node as usize * states + self.automaton.initial;
        let (prefix, _) = self.way(start, false, &|_| true, &|at, _| accepting[component[at]])?;
        let anchor = prefix.last().copied().unwrap_or(start);
        let inside = |at: usize| component[at] == component[anchor];
        // Around, over an edge of each acceptance set, and back.
        let (mut cycle, mut met, mut at) = (Vec::new(), 0, anchor);
        while met != self.automaton.all() {
            let (more, marks) = self.way(at, true, &inside, &|_, marks| marks & !met != 0)?;
            met |= marks;
            at = more.last().copied()?;
            cycle.extend(more);
        }
        if at != anchor || cycle.is_empty() {
            cycle.extend(self.way(at, true, &inside, &|to, _| to == anchor)?.0);
        }
        // The cycle ends with the anchor; the path starts with the node itself, and the anchor is not listed twice.
        let length = cycle.len();
        let mut nodes: Vec<u32> =
            std::iter::once(start).chain(prefix).map(|at| (at / states) as u32).collect();
        nodes.extend(cycle.iter().map(|at| (at / states) as u32));
        nodes.pop();
        Some(Witness { nodes, cycle: length })
    }
}
