//! Checking proofs of relative assertions.
//!
//! Every entry of the table says: for each reachable left state and frame there is a reachable right
//! state. The checker unfolds each entry's left side by every rule and checks that one of the listed
//! closings applies to each reduct. A reduct has a derivation shorter by one than the entry's state,
//! so entries and assertions of the group may be used on it (induction on the length); left unfolds
//! never follow such a use. With a length bound, an entry at depth `d` claims that the right state's
//! derivation is at most `d` longer, and each closing must respect it.
//!
//! What is common to many steps is computed once: the matrices of the table for each proof, right unfolds for each
//! entry (`closing.rs`).

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::Established;
use crate::closing::Obligation;
use crate::effort::Effort;
use crate::format::{Assertion, Entry, Finite, Inequality, Program, Right, Tree, Unreachable};
use crate::matrix::{Matrix, difference};
use crate::trees::{KEPT, Refusal, Sets, System, contradicts, expand, implied};
use crate::unreachable::{Context, Index};

/// One proof to check.
pub struct Check<'a> {
    pub program: &'a Program,
    pub invariants: Vec<Tree>,
    pub group: &'a [usize],
    pub known: &'a BTreeMap<usize, Established>,
    pub length_bounded: bool,
    pub one_level: bool,
    pub split: bool,
    pub entries: &'a [Entry],
    pub dead: &'a Unreachable,
    /// Of the unreachable sets.
    pub index: Index,
    pub unreachable: &'a Context<'a>,
    /// What may still be done.
    pub effort: &'a Effort,
    /// Assertions outside the group that were relied on.
    pub used: RefCell<Vec<usize>>,
}

/// The table's inequalities as closed matrices, by entry: left side, and right side if there is one.
pub type Sides = Vec<(Matrix, Option<Matrix>)>;

/// An entry for a part of an assertion's left side, with its matrices.
type Root<'a> = (&'a Entry, &'a (Matrix, Option<Matrix>));

/// `x_i - x_j <= c`.
type Difference = (usize, usize, i128);

/// Differences alone.
pub fn system(matrix: Matrix) -> System {
    System { matrix, sets: Sets::default() }
}

impl Check<'_> {
    pub fn width(&self) -> usize {
        self.program.columns.len()
    }

    pub fn nodes(&self, entry: &Entry) -> usize {
        1 + self.width() + entry.frame
    }

    /// Inequalities over an entry's layout as a matrix.
    fn matrix(&self, nodes: usize, list: &[Inequality]) -> Result<Matrix, Refusal> {
        let mut differences = Vec::new();
        for l in list {
            differences
                .push(difference(l).ok_or("an obligation has an inequality that is not a difference")?);
        }
        self.effort.spend(nodes * nodes * (KEPT + differences.len().min(nodes)))?;
        let mut matrix = Matrix::new(nodes);
        matrix.add(differences);
        Ok(matrix)
    }

    /// The state before a rule, for a matrix over state and frame; over the same layout.
    pub fn unfold(&self, nodes: usize, after: &Matrix, rule: usize) -> Result<Vec<Matrix>, Refusal> {
        let (k, rule) = (self.width(), &self.program.rules[rule]);
        let moved: Vec<usize> = (0..k).filter(|&c| !rule.fact && !rule.unchanged[c]).collect();
        let post = |c: usize| moved.iter().position(|&m| m == c).map_or(c + 1, |at| nodes + at);
        let place = |n: usize| match n {
            n if n <= k => post(n - 1),
            n if n <= 2 * k => n - k,
            n => nodes + moved.len() + (n - 2 * k - 1),
        };
        // The state after is still where the rule has it: what cannot be is seen before anything is copied.
        if contradicts(&rule.guard, after, k) {
            return Ok(Vec::new());
        }
        let own = |n: usize| if n == 0 || n > k { n } else { post(n - 1) };
        let wide = after.placed(nodes + moved.len() + rule.nodes - (2 * k + 1), &own);
        let layout: Vec<usize> = (0..nodes).collect();
        Ok(expand(&rule.guard, &system(wide), &place, self.effort)?
            .into_iter()
            .map(|s| s.matrix.select(&layout))
            .collect())
    }

    pub fn restrict(&self, matrix: Matrix) -> Result<Vec<Matrix>, Refusal> {
        let mut list = vec![matrix];
        for invariant in &self.invariants {
            let mut next = Vec::new();
            for m in list {
                next.extend(
                    expand(invariant, &system(m), &|n| n, self.effort)?.into_iter().map(|s| s.matrix),
                );
            }
            list = next;
        }
        Ok(list)
    }

    /// The whole proof.
    pub fn run(&self) -> Result<(), Refusal> {
        let mut sides = Sides::new();
        for entry in self.entries {
            let right = entry.right.as_ref().map(|r| self.matrix(self.nodes(entry), r)).transpose()?;
            sides.push((self.matrix(self.nodes(entry), &entry.left)?, right));
        }
        for &index in self.group {
            self.coverage(index, &self.program.assertions[index], &sides)?;
        }
        for number in 0..self.entries.len() {
            Obligation::new(self, number, &sides).check().map_err(|e| format!("obligation {number}: {e}"))?;
        }
        Ok(())
    }

    /// The entries at depth 0 are the whole left side of an assertion, and their right sides imply
    /// its right side.
    fn coverage(&self, index: usize, assertion: &Assertion, sides: &Sides) -> Result<(), Refusal> {
        let k = self.width();
        let Right::State(right) = &assertion.right else { return Err("not a relative assertion".into()) };
        if assertion.nodes > assertion.universal {
            return Err(
                "an assertion has variables on its right side only; this checker does not decide that".into(),
            );
        }
        let frame = k + assertion.universal - (2 * k + 1);
        let mut start = Matrix::new(1 + k + frame);
        start.add((1..=k).flat_map(|c| [(c, k + c, 0), (k + c, c, 0)]));
        let own = self.entries.iter().zip(sides);
        let roots: Vec<Root> =
            own.filter(|(e, _)| e.origin == index && e.depth == 0 && e.frame == frame).collect();
        for case in expand(&assertion.left, &system(start), &|n| n, self.effort)? {
            for case in self.restrict(case.matrix)? {
                self.cover_values(case, &roots, right, 0)?;
            }
        }
        Ok(())
    }

    /// Splits by finite columns first when the proof did.
    fn cover_values(&self, case: Matrix, roots: &[Root], right: &Tree, column: usize) -> Result<(), Refusal> {
        if case.is_empty() {
            return Ok(());
        }
        if !self.split || column >= self.program.finite.len() {
            return self.cover(case, roots, right);
        }
        let finite = &self.program.finite[column];
        for &value in &finite.values {
            let mut one = case.clone();
            let (node, value) = (finite.column + 1, i128::from(value));
            one.add([(node, 0, value), (0, node, -value)]);
            let near: Vec<Root> = roots.iter().filter(|r| r.1.0.may_be(node, value)).copied().collect();
            self.cover_values(one, &near, right, column + 1)?;
        }
        Ok(())
    }

    /// What each root leaves over is covered by the roots after it.
    fn cover(&self, case: Matrix, roots: &[Root], right: &Tree) -> Result<(), Refusal> {
        let mut open = vec![(case, 0)];
        while let Some((case, from)) = open.pop() {
            if case.is_empty() {
                continue;
            }
            let Some(at) = self.first_in_common(&case, roots, from)? else {
                // Nothing left to cover it with: only unreachable states may remain.
                let no_value = |f: &Finite| f.values.iter().all(|&v| !case.may_be(f.column + 1, v.into()));
                if self.program.finite.iter().any(no_value) || self.is_dead(&case)? {
                    continue;
                }
                return Err("part of an assertion's left side has no obligation".into());
            };
            let (_, (left, target)) = roots[at];
            let mut inside = case;
            for (i, j, c) in left.constraints() {
                if inside.implies((i, j, c)) {
                    continue;
                }
                self.effort.spend(KEPT * inside.nodes() * inside.nodes())?;
                let mut outside = inside.clone();
                outside.add([(j, i, -c - 1)]);
                open.push((outside, at + 1));
                inside.add([(i, j, c)]);
            }
            if let Some(target) = target {
                self.promises(&inside, target, right)?;
            }
        }
        Ok(())
    }

    /// The first root, from a place on, that has states of a case.
    fn first_in_common(&self, case: &Matrix, roots: &[Root], from: usize) -> Result<Option<usize>, Refusal> {
        for (at, (_, (left, _))) in roots.iter().enumerate().skip(from) {
            let constraints = left.constraints();
            self.effort.spend(case.nodes() * case.nodes() * (2 + constraints.len().min(case.nodes())))?;
            let mut common = case.clone();
            common.add(constraints);
            if !common.is_empty() {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// What an entry promises for these states implies the assertion's right side.
    fn promises(&self, inside: &Matrix, target: &Matrix, right: &Tree) -> Result<(), Refusal> {
        // Frame as the case knows it, right state as the entry promises.
        let k = self.width();
        let mut promised = target.clone();
        let frame =
            inside.constraints().into_iter().filter(|(i, j, _)| [i, j].iter().all(|n| **n == 0 || **n > k));
        promised.add(frame);
        let place = |n: usize| match n {
            n if n <= k => n + k,
            n if n <= 2 * k => n - k,
            n => n,
        };
        if implied(right, &system(promised), &place)? {
            Ok(())
        } else {
            Err("an obligation's right side does not imply the assertion's".into())
        }
    }

    /// Whether the unreachable sets together contain every state of `left`.
    ///
    /// One level is a statement about all states, not only about those that can be reached: none is dead then.
    pub fn is_dead(&self, left: &Matrix) -> Result<bool, Refusal> {
        if self.one_level {
            return Ok(false);
        }
        let columns: Vec<usize> = (0..=self.width()).collect();
        let mut own = system(left.select(&columns));
        for finite in &self.program.finite {
            let node = finite.column + 1;
            let fits = |v: &&i64| own.matrix.may_be(node, i128::from(**v));
            let values: Vec<i64> = finite.values.iter().filter(fits).copied().collect();
            own.sets.insert(node, values);
        }
        self.dead_parts(own)
    }

    /// In one set, or value by value in the first finite column with several, or piece by piece.
    fn dead_parts(&self, own: System) -> Result<bool, Refusal> {
        // No value is left in some finite column: no reachable state.
        if own.is_empty() {
            return Ok(true);
        }
        self.effort.spend(own.matrix.nodes() * own.matrix.nodes() + self.dead.sets.len())?;
        for at in self.index.candidates(&own) {
            self.effort.spend(1 + self.dead.sets[at].bounds.len())?;
            if self.unreachable.inside(&own, &self.dead.sets[at])? {
                return Ok(true);
            }
        }
        let Some((node, values)) = own.sets.iter().find(|(_, v)| v.len() > 1) else {
            return self.dead_pieces(own);
        };
        for &value in values {
            let mut part = own.clone();
            part.sets.insert(node, vec![value]);
            if !self.dead_parts(part)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What each set leaves over must be in the sets after it.
    fn dead_pieces(&self, own: System) -> Result<bool, Refusal> {
        let mut open = vec![(own, 0)];
        while let Some((own, from)) = open.pop() {
            if own.is_empty() {
                continue;
            }
            let Some((at, bounds)) = self.first_dead(&own, from)? else { return Ok(false) };
            let mut rest = own;
            for (i, j, c) in bounds {
                if rest.matrix.implies((i, j, c)) {
                    continue;
                }
                self.effort.spend(KEPT * rest.matrix.nodes() * rest.matrix.nodes())?;
                let mut outside = rest.clone();
                outside.matrix.add([(j, i, -c - 1)]);
                open.push((outside, at + 1));
                rest.matrix.add([(i, j, c)]);
            }
        }
        Ok(true)
    }

    /// The first unreachable set, from a place on, that has some of these states, and its bounds.
    fn first_dead(&self, own: &System, from: usize) -> Result<Option<(usize, Vec<Difference>)>, Refusal> {
        for at in self.index.candidates(own).into_iter().filter(|at| *at >= from) {
            let mut bounds = Vec::new();
            for l in &self.dead.sets[at].bounds {
                bounds.push(difference(l).ok_or("a set has an inequality that is not a difference")?);
            }
            self.effort.spend(own.matrix.nodes() * own.matrix.nodes() * (1 + bounds.len()))?;
            let mut inside = own.clone();
            inside.matrix.add(bounds.iter().copied());
            if !inside.is_empty() {
                return Ok(Some((at, bounds)));
            }
        }
        Ok(None)
    }
}
