//! Which columns range over finitely many values, and states that use this.
//!
//! A column is *finite* when every inequality of the program about it has no other variable, and
//! every fact and rule that sets it admits finitely many values. Then it never holds any other
//! value in a reachable state, and a set of values (a bit mask) represents it exactly: guards
//! intersect, value maps permute bits, and no disjunction is needed. Finite columns that every rule
//! either leaves alone or moves from one fixed value are *locations* (program counters). All other
//! columns are *data* and live in a [`Region`].

use std::collections::BTreeSet;

use crate::constraint::{INFINITY, Linear, Region};
use crate::program::{Program, Right, Rule, Tree};

/// At most this many values make a finite column.
pub const MAX_VALUES: usize = 128;

/// Ways to satisfy the conditions of all rules from which on they cannot be listed, and nothing that lists them is tried.
pub const MOST_LISTED: usize = 200_000;

/// Ways to satisfy a condition.
pub fn alternatives(tree: &Tree) -> usize {
    match tree {
        Tree::Le(_) => 1,
        Tree::Or(list) => list.iter().map(alternatives).fold(0, usize::saturating_add),
        Tree::And(list) => list.iter().map(alternatives).fold(1, usize::saturating_mul),
    }
}

/// A finite column.
#[derive(Clone, Debug)]
pub struct Finite {
    /// The column, from 0.
    pub column: usize,
    /// Its values, ascending; bit `i` of a set stands for `values[i]`.
    pub values: Vec<i64>,
    /// Whether it is a location.
    pub location: bool,
}

/// Where a column is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the sets, at this index.
    Set(usize),
    /// In the region, at this node.
    Node(usize),
}

/// The split of a program's columns.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Finite columns.
    pub finite: Vec<Finite>,
    /// Data columns; node `i + 1` is `data[i]`.
    pub data: Vec<usize>,
    /// Place of each column.
    pub places: Vec<Place>,
}

/// A set of states: a product of value sets and a region over the data columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// One set for each finite column.
    pub sets: Vec<u128>,
    /// The data columns (and, in relative proofs, further nodes after them).
    pub region: Region,
}

impl State {
    /// Whether every state of `self` is derived to be in `other`.
    pub fn included_in(&self, other: &State) -> Result<bool, crate::constraint::Overflow> {
        if self.sets.iter().zip(&other.sets).any(|(a, b)| a & !b != 0) {
            return Ok(false);
        }
        self.region.included_in(&other.region)
    }
}

/// Truth of a tree when only `node` has a value: `false` only if no completion makes it true.
fn possible(tree: &Tree, node: usize, value: i64) -> bool {
    match tree {
        Tree::And(list) => list.iter().all(|t| possible(t, node, value)),
        Tree::Or(list) => list.iter().any(|t| possible(t, node, value)),
        Tree::Le(l) => match l.terms[..] {
            [] => l.bound >= 0,
            [(n, c)] if n == node => i128::from(c) * i128::from(value) <= i128::from(l.bound),
            _ => true,
        },
    }
}

/// Bounds of `node` implied by the tree's unary inequalities.
fn hull(tree: &Tree, node: usize) -> (Option<i64>, Option<i64>) {
    match tree {
        Tree::Le(l) => match l.terms[..] {
            [(n, c)] if n == node && c > 0 => (None, Some(l.bound.div_euclid(c))),
            [(n, c)] if n == node && c < 0 => (Some(-l.bound.div_euclid(-c)), None),
            _ => (None, None),
        },
        Tree::And(list) => list
            .iter()
            .map(|t| hull(t, node))
            .fold((None, None), |(low, high), (l, h)| (low.max(l), [high, h].into_iter().flatten().min())),
        Tree::Or(list) => {
            let all: Vec<_> = list.iter().map(|t| hull(t, node)).collect();
            let low = all.iter().map(|h| h.0).min().flatten();
            let high =
                if all.iter().any(|h| h.1.is_none()) { None } else { all.iter().filter_map(|h| h.1).max() };
            (low, high)
        }
    }
}

/// The values a rule may give to a column it sets; `None` when not finitely many are evident.
pub(crate) fn assigned(rule: &Rule, column: usize) -> Option<Vec<i64>> {
    let (low, high) = hull(&rule.guard, column + 1);
    let (low, high) = (low?, high?);
    (high.checked_sub(low)? < 4096).then_some(())?;
    Some((low..=high).filter(|&v| possible(&rule.guard, column + 1, v)).collect())
}

impl Domain {
    /// Everything is data: the plain view, used where columns are related to each other.
    pub fn plain(program: &Program) -> Domain {
        let data: Vec<usize> = (0..program.width()).collect();
        let places = data.iter().map(|&c| Place::Node(c + 1)).collect();
        Domain { finite: Vec::new(), data, places }
    }

    /// Finds the finite columns.
    pub fn of(program: &Program) -> Domain {
        // Which values a column has is seen by listing alternatives.
        let all = program.rules.iter().map(|r| alternatives(&r.guard)).fold(0, usize::saturating_add);
        if all > MOST_LISTED {
            return Domain::plain(program);
        }
        Domain::keeping(program, &|_| true)
    }

    /// Finds the finite columns and keeps sets for those of them that `keep` names; the others are data.
    pub fn keeping(program: &Program, keep: &dyn Fn(&Finite) -> bool) -> Domain {
        let k = program.width();
        let mut eligible = vec![true; k];
        let column_of = |node: usize| (1..=2 * k).contains(&node).then(|| (node - 1) % k);
        for rule in &program.rules {
            rule.guard.each(&mut |l| {
                if l.terms.len() > 1 {
                    l.terms.iter().filter_map(|t| column_of(t.0)).for_each(|c| eligible[c] = false);
                }
            });
        }
        // Conditions on states are compiled against the same split.
        for assertion in &program.assertions {
            let mut visit = |l: &Linear| {
                if l.terms.len() > 1 {
                    l.terms.iter().filter(|t| (1..=k).contains(&t.0)).for_each(|t| eligible[t.0 - 1] = false);
                }
            };
            assertion.left.each(&mut visit);
            if let Right::Constraint(claim) = &assertion.right {
                claim.each(&mut visit);
            }
        }
        let mut finite = Vec::new();
        for column in (0..k).filter(|&c| eligible[c]) {
            let mut values = BTreeSet::new();
            let setters = program.rules.iter().filter(|r| r.is_fact || !r.unchanged[column]);
            let known = setters.map(|r| assigned(r, column).map(|v| values.extend(v))).all(|v| v.is_some());
            if !known || values.len() > MAX_VALUES || values.is_empty() {
                continue;
            }
            let values: Vec<i64> = values.into_iter().collect();
            let location = program
                .rules
                .iter()
                .filter(|r| !r.is_fact && !r.unchanged[column])
                .all(|r| values.iter().filter(|&&v| possible(&r.guard, k + column + 1, v)).count() <= 1);
            finite.push(Finite { column, values, location });
        }
        finite.retain(keep);
        let mut places = vec![Place::Node(0); k];
        for (at, f) in finite.iter().enumerate() {
            places[f.column] = Place::Set(at);
        }
        let data: Vec<usize> = (0..k).filter(|c| finite.iter().all(|f| f.column != *c)).collect();
        for (at, &column) in data.iter().enumerate() {
            places[column] = Place::Node(at + 1);
        }
        Domain { finite, data, places }
    }

    /// All values of a finite column.
    pub fn full(&self, at: usize) -> u128 {
        match self.finite[at].values.len() {
            128 => u128::MAX,
            n => (1 << n) - 1,
        }
    }

    /// Every state.
    pub fn universe(&self) -> State {
        let sets = (0..self.finite.len()).map(|f| self.full(f)).collect();
        State { sets, region: Region::universe(self.data.len() + 1) }
    }

    /// Nodes of the data columns, the zero node included.
    pub fn nodes(&self) -> usize {
        self.data.len() + 1
    }

    /// The state as readable text: `p([2,P2],T1,T2), P2 in {0,1}, T1 >= 0`.
    pub fn show(&self, program: &Program, state: &State) -> String {
        let mut terms: Vec<String> = program.columns.clone();
        let mut notes = Vec::new();
        for (f, &set) in self.finite.iter().zip(&state.sets) {
            let values: Vec<String> =
                (0..f.values.len()).filter(|i| set >> i & 1 == 1).map(|i| f.values[i].to_string()).collect();
            if values.len() == 1 {
                terms[f.column] = values[0].clone();
            } else if values.len() < f.values.len() {
                notes.push(format!("{} in {{{}}}", program.columns[f.column], values.join(",")));
            }
        }
        let name = |node: usize| {
            if node == 0 { String::new() } else { program.columns[self.data[node - 1]].clone() }
        };
        // A column that is another one plus a constant is shown as that.
        let dbm = state.region.dbm();
        let nodes: Vec<usize> = (0..self.nodes()).collect();
        let base = |i: usize| {
            let equal = |j: &usize| dbm.entry(i, *j) < INFINITY && dbm.entry(*j, i) == -dbm.entry(i, *j);
            (0..i).find(equal)
        };
        let own: Vec<usize> = nodes.iter().copied().filter(|&i| base(i).is_none()).collect();
        for (i, j) in nodes.iter().filter_map(|&i| base(i).map(|j| (i, j))) {
            terms[self.data[i - 1]] = match (j, dbm.entry(i, j)) {
                (0, c) => c.to_string(),
                (j, 0) => name(j),
                (j, c) if c > 0 => format!("{}+{c}", name(j)),
                (j, c) => format!("{}{c}", name(j)),
            };
        }
        for (i, j, c) in dbm.select(&own).essential() {
            notes.push(match (own[i], own[j], c) {
                (i, 0, c) => format!("{} <= {c}", name(i)),
                (0, j, c) => format!("{} >= {}", name(j), -c),
                (i, j, 0) => format!("{} <= {}", name(i), name(j)),
                (i, j, c) if c > 0 => format!("{} <= {} + {c}", name(i), name(j)),
                (i, j, c) => format!("{} + {} <= {}", name(i), -c, name(j)),
            });
        }
        let mut out = program.show_terms(&terms);
        for note in notes {
            out.push_str(", ");
            out.push_str(&note);
        }
        out
    }
}
