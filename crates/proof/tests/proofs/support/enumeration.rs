//! What is true of the program in a certificate, by counting: states within a box of values, forwards from the facts.
//!
//! Shares nothing with prover and checker but the certificate's data types. States found are reachable; whether others are,
//! outside of the box or through it, is not known, so the answer to "is this claim false?" is *yes* only if it is false
//! whatever happens outside.

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;

use quotient_proof_check::format::{Assertion, Program, Right, Rule, Tree};

/// A state.
pub type Point = Vec<i64>;

/// States found, with the length of a shortest derivation inside the box.
pub struct Found {
    pub lengths: BTreeMap<Point, usize>,
    /// Whether no step is known to leave the box, and every step was found.
    pub closed: bool,
}

fn holds(tree: &Tree, values: &[i64]) -> bool {
    match tree {
        Tree::Le(l) => {
            let term = |&(n, c): &(usize, i64)| i128::from(c).saturating_mul(values[n].into());
            l.terms.iter().map(term).fold(0, i128::saturating_add) <= l.bound.into()
        }
        Tree::And(list) => list.iter().all(|t| holds(t, values)),
        Tree::Or(list) => list.iter().any(|t| holds(t, values)),
    }
}

fn mentioned(tree: &Tree, from: usize, out: &mut Vec<usize>) {
    match tree {
        Tree::Le(l) => out.extend(l.terms.iter().map(|t| t.0).filter(|n| *n >= from)),
        Tree::And(list) | Tree::Or(list) => list.iter().for_each(|t| mentioned(t, from, out)),
    }
    out.sort_unstable();
    out.dedup();
}

/// Calls `visit` with every way to give the open nodes values in the box; stops when it says so.
fn each(
    open: &[usize],
    range: &RangeInclusive<i64>,
    values: &mut Vec<i64>,
    visit: &mut dyn FnMut(&[i64]) -> bool,
) -> bool {
    let Some((&node, rest)) = open.split_first() else { return visit(values) };
    for value in range.clone() {
        values[node] = value;
        if each(rest, range, values, visit) {
            return true;
        }
    }
    false
}

/// The box.
pub struct Enumeration<'p> {
    program: &'p Program,
    range: RangeInclusive<i64>,
    /// For each rule, its own variables.
    own: Vec<Vec<usize>>,
}

impl<'p> Enumeration<'p> {
    /// `None` for a program with too many variables to enumerate.
    pub fn new(program: &'p Program, range: RangeInclusive<i64>) -> Option<Enumeration<'p>> {
        let k = program.columns.len();
        let own = |rule: &Rule| {
            let mut list = Vec::new();
            mentioned(&rule.guard, 2 * k + 1, &mut list);
            list
        };
        let own: Vec<Vec<usize>> = program.rules.iter().map(own).collect();
        (k <= 3 && own.iter().all(|o| o.len() <= 1)).then_some(Enumeration { program, range, own })
    }

    fn width(&self) -> usize {
        self.program.columns.len()
    }

    /// States after a rule, within the box.
    pub fn after(&self, number: usize, before: Option<&Point>) -> Vec<Point> {
        let (k, rule) = (self.width(), &self.program.rules[number]);
        let mut values = vec![0; rule.nodes.max(2 * k + 2)];
        let mut open = Vec::new();
        for column in 0..k {
            if let Some(before) = before {
                values[k + column + 1] = before[column];
            }
            match before {
                Some(before) if rule.unchanged[column] => values[column + 1] = before[column],
                _ => open.push(column + 1),
            }
        }
        open.extend(&self.own[number]);
        let mut out = Vec::new();
        each(&open, &self.range, &mut values, &mut |values| {
            if holds(&rule.guard, values) {
                out.push(values[1..=k].to_vec());
            }
            false
        });
        out.sort();
        out.dedup();
        out
    }

    /// Every step from a state.
    pub fn successors(&self, state: &Point) -> Vec<Point> {
        let rules = (0..self.program.rules.len()).filter(|&r| !self.program.rules[r].fact);
        let mut out: Vec<Point> = rules.flat_map(|r| self.after(r, Some(state))).collect();
        out.sort();
        out.dedup();
        out
    }

    /// The states reachable inside the box.
    pub fn explore(&self) -> Found {
        let mut found = Found { lengths: BTreeMap::new(), closed: self.own.iter().all(Vec::is_empty) };
        let mut agenda = VecDeque::new();
        let edge = |p: &Point| p.iter().any(|v| v == self.range.start() || v == self.range.end());
        let add = |found: &mut Found, agenda: &mut VecDeque<Point>, state: Point, length: usize| {
            found.closed &= !edge(&state);
            if !found.lengths.contains_key(&state) {
                found.lengths.insert(state.clone(), length);
                agenda.push_back(state);
            }
        };
        for rule in (0..self.program.rules.len()).filter(|&r| self.program.rules[r].fact) {
            self.after(rule, None).into_iter().for_each(|s| add(&mut found, &mut agenda, s, 1));
        }
        while let Some(state) = agenda.pop_front() {
            let length = found.lengths[&state] + 1;
            self.successors(&state).into_iter().for_each(|s| add(&mut found, &mut agenda, s, length));
        }
        found
    }

    /// A reachable state for which a claim fails. For relative claims only if `found` is closed; `short` asks for a partner
    /// with a derivation that is not longer.
    pub fn violation(&self, found: &Found, assertion: &Assertion, short: bool) -> Option<Point> {
        let k = self.width();
        let (tree, relative) = match &assertion.right {
            Right::State(tree) => (tree, true),
            Right::Constraint(tree) => (tree, false),
        };
        let mut variables = Vec::new();
        mentioned(&assertion.left, 2 * k + 1, &mut variables);
        mentioned(tree, 2 * k + 1, &mut variables);
        let universal = variables.iter().all(|&v| v < assertion.universal);
        if variables.len() > 1 || !universal || (relative && !found.closed) {
            return None;
        }
        let mut values = vec![0; assertion.nodes.max(2 * k + 2)];
        for (state, length) in &found.lengths {
            values[1..=k].copy_from_slice(state);
            let failed = each(&variables, &self.range, &mut values, &mut |values| {
                holds(&assertion.left, values)
                    && if relative {
                        let mut values = values.to_vec();
                        !found.lengths.iter().any(|(right, own)| {
                            values[k + 1..=2 * k].copy_from_slice(right);
                            holds(tree, &values) && (!short || own <= length)
                        })
                    } else {
                        !holds(tree, values)
                    }
            });
            if failed {
                return Some(state.clone());
            }
        }
        None
    }

    /// A step whose image under a relative claim, read as a map of all states, is not a step. `None` when the claim is not
    /// about all states, or not a function within the box.
    pub fn unmatched_step(&self, assertion: &Assertion) -> Option<(Point, Point)> {
        let k = self.width();
        let Right::State(tree) = &assertion.right else { return None };
        let mut variables = Vec::new();
        mentioned(tree, 2 * k + 1, &mut variables);
        mentioned(&assertion.left, 1, &mut variables);
        if !variables.is_empty() || !holds(&assertion.left, &[]) {
            return None;
        }
        let mut states = Vec::new();
        each(&(0..k).collect::<Vec<_>>(), &self.range, &mut vec![0; k], &mut |values| {
            states.push(values.to_vec());
            false
        });
        let mut image = BTreeMap::new();
        let mut values = vec![0; 2 * k + 1];
        for state in &states {
            values[1..=k].copy_from_slice(state);
            let mut partners = states.iter().filter(|partner| {
                values[k + 1..=2 * k].copy_from_slice(partner);
                holds(tree, &values)
            });
            if let (Some(one), None) = (partners.next(), partners.next()) {
                image.insert(state.clone(), one.clone());
            }
        }
        for (state, partner) in &image {
            let matched = self.successors(partner);
            for next in self.successors(state) {
                if image.get(&next).is_some_and(|wanted| !matched.contains(wanted)) {
                    return Some((state.clone(), next));
                }
            }
        }
        None
    }
}
