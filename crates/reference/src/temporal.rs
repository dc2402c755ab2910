//! CTL* by tableau, for comparison only: no automata, no fixpoints by hand.
//!
//! `E f` is decided as Lichtenstein and Pnueli do (POPL 1985): a pair is a state and a guess which temporal subformulas of `f`
//! hold there; steps lead between pairs whose guesses fit the expansion laws; a run is real when every guess that promises
//! something (`a U b` true: b; `[] a` false: not a) is made good or withdrawn infinitely often. Exponential in the
//! formula, which is why the engine does it differently.

use crate::interpret::{StateGraph, state_graph};
use quotient_promela::ast::{Expr, Formula, FormulaKind, Model};

/// Does a formula hold in the initial state? For a formula of linear time: on all runs. An error when the model cannot be
/// explored within `limit` states.
pub fn holds(model: &Model, formula: &Formula, limit: usize) -> Result<bool, String> {
    let mut atoms = Vec::new();
    collect(formula, &mut atoms);
    let graph = state_graph(model, &atoms, limit)?;
    let mut next_atom = 0;
    let tree = Tree::new(formula, &mut next_atom);
    let checker = Checker { graph: &graph };
    Ok(if tree.is_state() { checker.state(&tree)[0] } else { !checker.exists(&Tree::Not(Box::new(tree)))[0] })
}

/// The atoms of a formula, from left to right.
fn collect(formula: &Formula, out: &mut Vec<Expr>) {
    match &formula.kind {
        FormulaKind::Atom(e) => out.push(e.clone()),
        FormulaKind::Not(a)
        | FormulaKind::Always(a)
        | FormulaKind::Eventually(a)
        | FormulaKind::Next(a)
        | FormulaKind::Exists(a)
        | FormulaKind::All(a) => collect(a, out),
        FormulaKind::And(a, b)
        | FormulaKind::Or(a, b)
        | FormulaKind::Implies(a, b)
        | FormulaKind::Equivalent(a, b)
        | FormulaKind::Until(a, b)
        | FormulaKind::WeakUntil(a, b)
        | FormulaKind::Release(a, b) => {
            collect(a, out);
            collect(b, out);
        }
    }
}

/// A formula with numbered atoms.
enum Tree {
    Atom(usize),
    Not(Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
    Exists(Box<Tree>),
    Next(Box<Tree>),
    Always(Box<Tree>),
    Eventually(Box<Tree>),
    Until(Box<Tree>, Box<Tree>),
    WeakUntil(Box<Tree>, Box<Tree>),
    Release(Box<Tree>, Box<Tree>),
}

impl Tree {
    fn new(formula: &Formula, atom: &mut usize) -> Tree {
        let mut part = |f: &Formula| Box::new(Tree::new(f, atom));
        match &formula.kind {
            FormulaKind::Atom(_) => {
                *atom += 1;
                Tree::Atom(*atom - 1)
            }
            FormulaKind::Not(a) => Tree::Not(part(a)),
            FormulaKind::And(a, b) => Tree::And(part(a), part(b)),
            FormulaKind::Or(a, b) => Tree::Or(part(a), part(b)),
            FormulaKind::Implies(a, b) => Tree::Or(Box::new(Tree::Not(part(a))), part(b)),
            FormulaKind::Equivalent(a, b) => {
                // (a and b) or not (a or b), with the atoms of both copies counted alike.
                let start = *atom;
                let both = Tree::And(Box::new(Tree::new(a, atom)), Box::new(Tree::new(b, atom)));
                let mut again = start;
                let either = Tree::Or(Box::new(Tree::new(a, &mut again)), Box::new(Tree::new(b, &mut again)));
                Tree::Or(Box::new(both), Box::new(Tree::Not(Box::new(either))))
            }
            FormulaKind::Exists(a) => Tree::Exists(part(a)),
            FormulaKind::All(a) => Tree::Not(Box::new(Tree::Exists(Box::new(Tree::Not(part(a)))))),
            FormulaKind::Next(a) => Tree::Next(part(a)),
            FormulaKind::Always(a) => Tree::Always(part(a)),
            FormulaKind::Eventually(a) => Tree::Eventually(part(a)),
            FormulaKind::Until(a, b) => Tree::Until(part(a), part(b)),
            FormulaKind::WeakUntil(a, b) => Tree::WeakUntil(part(a), part(b)),
            FormulaKind::Release(a, b) => Tree::Release(part(a), part(b)),
        }
    }

    fn is_state(&self) -> bool {
        match self {
            Tree::Atom(_) | Tree::Exists(_) => true,
            Tree::Not(a) => a.is_state(),
            Tree::And(a, b) | Tree::Or(a, b) => a.is_state() && b.is_state(),
            _ => false,
        }
    }
}

struct Checker<'a> {
    graph: &'a StateGraph,
}

/// A path formula whose state subformulas have been evaluated; temporal ones are numbered.
enum Linear {
    Known(Vec<bool>),
    Not(Box<Linear>),
    And(Box<Linear>, Box<Linear>),
    Or(Box<Linear>, Box<Linear>),
    Temporal(usize),
}

#[derive(Clone, Copy, PartialEq)]
enum Operator {
    Next,
    Always,
    Eventually,
    Until,
    WeakUntil,
    Release,
}

/// A temporal subformula; a unary one has its operand twice.
struct Temporal {
    operator: Operator,
    left: Linear,
    right: Linear,
}

impl Checker<'_> {
    fn state(&self, tree: &Tree) -> Vec<bool> {
        let count = self.graph.successors.len();
        match tree {
            Tree::Atom(atom) => (0..count).map(|s| self.graph.letters[s][*atom]).collect(),
            Tree::Not(a) => self.state(a).into_iter().map(|v| !v).collect(),
            Tree::And(a, b) => self.state(a).into_iter().zip(self.state(b)).map(|(a, b)| a && b).collect(),
            Tree::Or(a, b) => self.state(a).into_iter().zip(self.state(b)).map(|(a, b)| a || b).collect(),
            Tree::Exists(path) => self.exists(path),
            // A path formula where a state formula belongs: on all paths. (Tests do not write such.)
            _ => vec![false; count],
        }
    }

    fn linear(&self, tree: &Tree, temporal: &mut Vec<Temporal>) -> Linear {
        if tree.is_state() {
            return Linear::Known(self.state(tree));
        }
        let (operator, a, b) = match tree {
            Tree::Not(a) => return Linear::Not(Box::new(self.linear(a, temporal))),
            Tree::And(a, b) => {
                return Linear::And(Box::new(self.linear(a, temporal)), Box::new(self.linear(b, temporal)));
            }
            Tree::Or(a, b) => {
                return Linear::Or(Box::new(self.linear(a, temporal)), Box::new(self.linear(b, temporal)));
            }
            Tree::Next(a) => (Operator::Next, a, a),
            Tree::Always(a) => (Operator::Always, a, a),
            Tree::Eventually(a) => (Operator::Eventually, a, a),
            Tree::Until(a, b) => (Operator::Until, a, b),
            Tree::WeakUntil(a, b) => (Operator::WeakUntil, a, b),
            Tree::Release(a, b) => (Operator::Release, a, b),
            Tree::Atom(_) | Tree::Exists(_) => return Linear::Known(self.state(tree)),
        };
        let left = self.linear(a, temporal);
        let unary = matches!(operator, Operator::Next | Operator::Always | Operator::Eventually);
        let right = if unary { Linear::Known(Vec::new()) } else { self.linear(b, temporal) };
        temporal.push(Temporal { operator, left, right });
        Linear::Temporal(temporal.len() - 1)
    }

    /// The states where some run satisfies a path formula.
    fn exists(&self, path: &Tree) -> Vec<bool> {
        let mut temporal = Vec::new();
        let root = self.linear(path, &mut temporal);
        let guesses = 1usize << temporal.len();
        let states = self.graph.successors.len();
        let value = |formula: &Linear, pair: usize| value(formula, pair / guesses, pair % guesses);
        // The pairs that can follow each other.
        let fits = |from: usize, to: usize| {
            temporal.iter().enumerate().all(|(number, t)| {
                let now = (from % guesses) >> number & 1 == 1;
                let next = (to % guesses) >> number & 1 == 1;
                let a = value(&t.left, from);
                let b = || value(&t.right, from);
                now == match t.operator {
                    Operator::Next => value(&t.left, to),
                    Operator::Always => a && next,
                    Operator::Eventually => a || next,
                    Operator::Until | Operator::WeakUntil => b() || (a && next),
                    Operator::Release => b() && (a || next),
                }
            })
        };
        let pairs = states * guesses;
        let edges: Vec<Vec<usize>> = (0..pairs)
            .map(|from| {
                let targets = self.graph.successors[from / guesses].iter();
                targets.flat_map(|t| t * guesses..(t + 1) * guesses).filter(|to| fits(from, *to)).collect()
            })
            .collect();
        // Where the guess about a subformula is made good, or promises nothing.
        let good = |number: usize, pair: usize| {
            let t = &temporal[number];
            let now = (pair % guesses) >> number & 1 == 1;
            let a = || value(&t.left, pair);
            let b = || value(&t.right, pair);
            match t.operator {
                Operator::Next => true,
                Operator::Always => now || !a(),
                Operator::Eventually => !now || a(),
                Operator::Until => !now || b(),
                Operator::WeakUntil => now || !a(),
                Operator::Release => now || !b(),
            }
        };
        let component = strong_components(&edges);
        let mut kept = vec![vec![false; temporal.len()]; pairs];
        let mut cyclic = vec![false; pairs];
        for pair in 0..pairs {
            cyclic[component[pair]] |= edges[pair].iter().any(|to| component[*to] == component[pair]);
            for (number, kept) in kept[component[pair]].iter_mut().enumerate() {
                *kept |= good(number, pair);
            }
        }
        let mut real: Vec<bool> =
            (0..pairs).map(|p| cyclic[component[p]] && kept[component[p]].iter().all(|k| *k)).collect();
        // Backwards, the slow way.
        loop {
            let mut changed = false;
            for pair in 0..pairs {
                if !real[pair] && edges[pair].iter().any(|to| real[*to]) {
                    real[pair] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let some = |s: usize| (s * guesses..(s + 1) * guesses).any(|pair| real[pair] && value(&root, pair));
        (0..states).map(some).collect()
    }
}

fn value(formula: &Linear, state: usize, guess: usize) -> bool {
    match formula {
        Linear::Known(values) => values[state],
        Linear::Not(a) => !value(a, state, guess),
        Linear::And(a, b) => value(a, state, guess) && value(b, state, guess),
        Linear::Or(a, b) => value(a, state, guess) || value(b, state, guess),
        Linear::Temporal(number) => guess >> number & 1 == 1,
    }
}

/// Kosaraju: the order of leaving forwards, then backwards.
fn strong_components(edges: &[Vec<usize>]) -> Vec<usize> {
    let count = edges.len();
    let mut reversed = vec![Vec::new(); count];
    for (from, targets) in edges.iter().enumerate() {
        targets.iter().for_each(|to| reversed[*to].push(from));
    }
    let mut order = Vec::new();
    let mut seen = vec![false; count];
    for start in 0..count {
        let mut stack = vec![(start, 0)];
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        while let Some((node, next)) = stack.pop() {
            match edges[node].get(next) {
                Some(&to) => {
                    stack.push((node, next + 1));
                    if !std::mem::replace(&mut seen[to], true) {
                        stack.push((to, 0));
                    }
                }
                None => order.push(node),
            }
        }
    }
    let mut component = vec![usize::MAX; count];
    for &root in order.iter().rev() {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if component[node] == usize::MAX {
                component[node] = root;
                open.extend(reversed[node].iter().filter(|n| component[**n] == usize::MAX));
            }
        }
    }
    component
}
