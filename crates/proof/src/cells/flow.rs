//! Control points and loop heads.
//!
//! A program has a *control column* if each of its rules moves it from one fixed value to another fixed value: for Horn clauses it
//! says which predicate holds. Its values are the control points. Invariants are wanted at some of them, the *heads*, such
//! that every cycle passes one; all other points are gone through. A program without such a column has one
//! point, which is a head.

use super::walk::Walk;
use crate::constraint::{Linear, Overflow};
use crate::program::{Program, Rule, Tree};

/// A rule between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The rule.
    pub rule: usize,
    /// The point before, as a position in `points`.
    pub from: usize,
    /// The point after.
    pub to: usize,
}

/// The control points of a program.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The control column.
    pub column: Option<usize>,
    /// Values of it.
    pub points: Vec<i64>,
    /// Points with an invariant, ascending.
    pub heads: Vec<usize>,
    /// Facts, with the point of their states.
    pub facts: Vec<(usize, usize)>,
    /// All other rules.
    pub steps: Vec<Step>,
}

/// A point is gone through only if that makes at most this many runs out of those that end and begin there.
const MOST_RUNS: usize = 48;

/// The value that the conjuncts of a guard give to a node.
fn fixed(guard: &Tree, node: usize) -> Option<i64> {
    fn bounds(tree: &Tree, node: usize, low: &mut Option<i64>, high: &mut Option<i64>) {
        match tree {
            Tree::And(list) => list.iter().for_each(|t| bounds(t, node, low, high)),
            Tree::Le(Linear { terms, bound }) => match terms[..] {
                [(n, 1)] if n == node => *high = Some(high.map_or(*bound, |h| h.min(*bound))),
                [(n, -1)] if n == node => *low = Some(low.map_or(-bound, |l| l.max(-bound))),
                _ => {}
            },
            Tree::Or(_) => {}
        }
    }
    let (mut low, mut high) = (None, None);
    bounds(guard, node, &mut low, &mut high);
    low.filter(|l| Some(*l) == high)
}

/// The values before and after a rule, if they are fixed.
fn moves(rule: &Rule, column: usize, k: usize) -> Option<(Option<i64>, i64)> {
    let after = fixed(&rule.guard, column + 1)?;
    if rule.is_fact {
        return Some((None, after));
    }
    let before = if rule.unchanged[column] { after } else { fixed(&rule.guard, k + column + 1)? };
    Some((Some(before), after))
}

impl Flow {
    /// The points of a program and heads among them.
    pub fn of(program: &Program) -> Flow {
        let k = program.width();
        let column = (0..k).find(|&c| program.rules.iter().all(|r| moves(r, c, k).is_some()));
        let mut flow =
            Flow { column, points: Vec::new(), heads: Vec::new(), facts: Vec::new(), steps: Vec::new() };
        for (number, rule) in program.rules.iter().enumerate() {
            let (before, after) = column.and_then(|c| moves(rule, c, k)).unwrap_or((Some(0), 0));
            let to = flow.point(after);
            match before.filter(|_| !rule.is_fact) {
                Some(before) => {
                    let from = flow.point(before);
                    flow.steps.push(Step { rule: number, from, to });
                }
                None => flow.facts.push((number, to)),
            }
        }
        flow.choose_heads();
        flow
    }

    fn point(&mut self, value: i64) -> usize {
        match self.points.iter().position(|p| *p == value) {
            Some(at) => at,
            None => {
                self.points.push(value);
                self.points.len() - 1
            }
        }
    }

    /// Takes points out as long as none of them would follow itself, those with the fewest runs first.
    fn choose_heads(&mut self) {
        let n = self.points.len();
        // How many runs lead from one point to another; the last row is for facts.
        let mut runs = vec![vec![0usize; n]; n + 1];
        self.facts.iter().for_each(|f| runs[n][f.1] += 1);
        self.steps.iter().for_each(|s| runs[s.from][s.to] += 1);
        let mut left: Vec<usize> = (0..n).collect();
        loop {
            let cost = |p: usize| {
                let into: usize = runs.iter().map(|r| r[p]).sum();
                let out: usize = runs[p].iter().sum();
                into.saturating_mul(out)
            };
            let fitting = left.iter().copied().filter(|&p| runs[p][p] == 0 && cost(p) <= MOST_RUNS);
            let Some(p) = fitting.min_by_key(|&p| cost(p)) else { break };
            left.retain(|q| *q != p);
            let out = std::mem::replace(&mut runs[p], vec![0; n]);
            for row in &mut runs {
                let into = std::mem::take(&mut row[p]);
                row.iter_mut().zip(&out).for_each(|(r, o)| *r += into * o);
            }
        }
        self.heads = left;
    }

    /// Says of a walk that it stands at a point.
    pub fn place(&self, walk: &mut Walk, point: usize) -> Result<(), Overflow> {
        let Some(column) = self.column else { return Ok(()) };
        let (variable, value) = (walk.state[column], self.points[point]);
        walk.system.le(&[(variable, 1)], value)?;
        walk.system.le(&[(variable, -1)], value.checked_neg().ok_or(Overflow)?)?;
        walk.system.settle()?;
        Ok(())
    }
}
