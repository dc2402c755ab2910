//! Checking proofs of relative assertions.
//!
//! Every entry of the table says: for each reachable left state and frame there is a reachable right
//! state. The checker unfolds each entry's left side by every rule and checks that one of the listed
//! closings applies to each reduct. A reduct has a derivation shorter by one than the entry's state,
//! so entries and assertions of the group may be used on it (induction on the length); left unfolds
//! never follow such a use. With a length bound, an entry at depth `d` claims that the right state's
//! derivation is at most `d` longer, and each closing must respect it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::Established;
use crate::format::{Assertion, Closing, Entry, Inequality, Program, Right, Tree, Unreachable};
use crate::matrix::{Matrix, difference};
use crate::trees::{Refusal, System, expand, implied};
use crate::unreachable::Context;

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
    pub unreachable: &'a Context<'a>,
    /// Assertions outside the group that were relied on.
    pub used: RefCell<Vec<usize>>,
}

fn system(matrix: Matrix) -> System {
    System { matrix, sets: BTreeMap::new() }
}

impl Check<'_> {
    fn width(&self) -> usize {
        self.program.columns.len()
    }

    fn nodes(&self, entry: &Entry) -> usize {
        1 + self.width() + entry.frame
    }

    /// Inequalities over an entry's layout as a matrix.
    fn matrix(&self, nodes: usize, list: &[Inequality]) -> Result<Matrix, Refusal> {
        let mut matrix = Matrix::new(nodes);
        let mut differences = Vec::new();
        for l in list {
            let (i, j, c) =
                difference(l).ok_or("an obligation has an inequality that is not a difference")?;
            if i >= nodes || j >= nodes {
                return Err("an obligation mentions a node outside its layout".into());
            }
            differences.push((i, j, c));
        }
        matrix.add(differences);
        Ok(matrix)
    }

    /// The state before a rule, for a matrix over state and frame; over the same layout.
    fn unfold(&self, nodes: usize, after: &Matrix, rule: usize) -> Result<Vec<Matrix>, Refusal> {
        let (k, rule) = (self.width(), &self.program.rules[rule]);
        let moved: Vec<usize> = (0..k).filter(|&c| !rule.fact && !rule.unchanged[c]).collect();
        let post = |c: usize| moved.iter().position(|&m| m == c).map_or(c + 1, |at| nodes + at);
        let place = |n: usize| match n {
            n if n <= k => post(n - 1),
            n if n <= 2 * k => n - k,
            n => nodes + moved.len() + (n - 2 * k - 1),
        };
        let own = |n: usize| if n == 0 || n > k { n } else { post(n - 1) };
        let wide = after.placed(nodes + moved.len() + rule.nodes - (2 * k + 1), &own);
        let layout: Vec<usize> = (0..nodes).collect();
        Ok(expand(&rule.guard, &system(wide), &place)?
            .into_iter()
            .map(|s| s.matrix.select(&layout))
            .collect())
    }

    fn restrict(&self, matrix: Matrix) -> Result<Vec<Matrix>, Refusal> {
        let mut list = vec![matrix];
        for invariant in &self.invariants {
            let mut next = Vec::new();
            for m in list {
                next.extend(expand(invariant, &system(m), &|n| n)?.into_iter().map(|s| s.matrix));
            }
            list = next;
        }
        Ok(list)
    }

    /// The whole proof.
    pub fn run(&self) -> Result<(), Refusal> {
        for &index in self.group {
            let assertion = self.program.assertions.get(index).ok_or("no such assertion")?;
            self.coverage(index, assertion)?;
        }
        for (number, entry) in self.entries.iter().enumerate() {
            if entry.frame < self.width() {
                return Err("an obligation has too small a frame".into());
            }
            self.entry(entry).map_err(|e| format!("obligation {number}: {e}"))?;
        }
        Ok(())
    }

    /// The entries at depth 0 are the whole left side of an assertion, and their right sides imply
    /// its right side.
    fn coverage(&self, index: usize, assertion: &Assertion) -> Result<(), Refusal> {
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
        let roots: Vec<&Entry> =
            self.entries.iter().filter(|e| e.origin == index && e.depth == 0 && e.frame == frame).collect();
        for case in expand(&assertion.left, &system(start), &|n| n)? {
            for case in self.restrict(case.matrix)? {
                self.cover_values(case, &roots, right, 0)?;
            }
        }
        Ok(())
    }

    /// Splits by finite columns first when the proof did.
    fn cover_values(
        &self,
        case: Matrix,
        roots: &[&Entry],
        right: &Tree,
        column: usize,
    ) -> Result<(), Refusal> {
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
            let fits = |e: &&&Entry| {
                e.left.iter().all(|l| match difference(l) {
                    Some((i, 0, c)) if i == node => value <= c,
                    Some((0, j, c)) if j == node => -value <= c,
                    _ => true,
                })
            };
            let near: Vec<&Entry> = roots.iter().filter(fits).copied().collect();
            self.cover_values(one, &near, right, column + 1)?;
        }
        Ok(())
    }

    fn cover(&self, case: Matrix, roots: &[&Entry], right: &Tree) -> Result<(), Refusal> {
        if case.is_empty() {
            return Ok(());
        }
        let Some((entry, rest)) = roots.split_first() else {
            // Nothing left to cover it with: only unreachable states may remain.
            let absent = self.program.finite.iter().any(|f| {
                f.values.iter().all(|&v| {
                    let (node, v) = (f.column + 1, i128::from(v));
                    let mut one = case.clone();
                    one.add([(node, 0, v), (0, node, -v)]);
                    one.is_empty()
                })
            });
            return if absent || self.is_dead(&case)? {
                Ok(())
            } else {
                Err("part of an assertion's left side has no obligation".into())
            };
        };
        let left = self.matrix(self.nodes(entry), &entry.left)?;
        let mut common = case.clone();
        common.add(left.constraints());
        if common.is_empty() {
            return self.cover(case, rest, right);
        }
        let mut inside = case;
        for (i, j, c) in left.constraints() {
            if inside.implies((i, j, c)) {
                continue;
            }
            let mut outside = inside.clone();
            outside.add([(j, i, -c - 1)]);
            self.cover(outside, rest, right)?;
            inside.add([(i, j, c)]);
        }
        let Some(target) = &entry.right else { return Ok(()) };
        // Frame as the case knows it, right state as the entry promises.
        let k = self.width();
        let mut promised = self.matrix(self.nodes(entry), target)?;
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

    fn entry(&self, entry: &Entry) -> Result<(), Refusal> {
        let nodes = self.nodes(entry);
        let left = self.matrix(nodes, &entry.left)?;
        if self.one_level && entry.depth != 0 {
            return Err("a one-level proof has an obligation below the assertion".into());
        }
        if let Some(direct) = &entry.direct {
            if self.one_level {
                return Err("a one-level proof closes an obligation without unfolding it".into());
            }
            if !matches!(direct, Closing::Itself(_)) {
                return Err("an obligation is closed by a hypothesis before it was unfolded".into());
            }
            return if self.closes(entry, &left, direct, entry.depth, None)? {
                Ok(())
            } else {
                Err("it is not closed as claimed".into())
            };
        }
        for (index, rule) in self.program.rules.iter().enumerate() {
            let hints = entry.closings.get(index).ok_or("closings are missing")?;
            for reduct in self.unfold(nodes, &left, index)? {
                let parts = if rule.fact { vec![reduct] } else { self.restrict(reduct)? };
                for part in parts {
                    if !self.closed(entry, part, hints, index)? {
                        return Err(format!("a reduct by rule {index} is not closed"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Closed as a whole or, where the proof splits, value by value.
    fn closed(&self, entry: &Entry, part: Matrix, hints: &[Closing], rule: usize) -> Result<bool, Refusal> {
        if part.is_empty() {
            return Ok(true);
        }
        for hint in hints {
            if self.closes(entry, &part, hint, entry.depth + 1, Some(rule))? {
                return Ok(true);
            }
        }
        let open = self.program.finite.iter().find(|f| part.constant(f.column + 1).is_none());
        let Some(finite) = open.filter(|_| self.split && !self.program.rules[rule].fact) else {
            return Ok(false);
        };
        for &value in &finite.values {
            let (node, value) = (finite.column + 1, i128::from(value));
            let mut one = part.clone();
            one.add([(node, 0, value), (0, node, -value)]);
            if !self.closed(entry, one, hints, rule)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether one closing applies; `left` is over the entry's layout, `depth` counts left unfolds.
    fn closes(
        &self,
        entry: &Entry,
        left: &Matrix,
        closing: &Closing,
        depth: usize,
        rule: Option<usize>,
    ) -> Result<bool, Refusal> {
        let is_fact = rule.is_some_and(|r| self.program.rules[r].fact);
        if is_fact != matches!(closing, Closing::Fact(_)) {
            return Ok(false);
        }
        let (path, excess, conclusions) = match closing {
            // One level is a statement about all states, not only about those that can be reached.
            Closing::Unreachable => return Ok(!self.one_level && self.is_dead(left)?),
            Closing::Fact(path) => (path, 0, None),
            Closing::Itself(path) => (path, 0, Some(vec![left.clone()])),
            Closing::Assertion(index, path) => {
                if !self.group.contains(index) {
                    let known = self.known.get(index).ok_or("an assertion is used before it is proved")?;
                    if self.length_bounded && !known.length_bounded {
                        return Err("an assertion without a length bound is used in a bounded proof".into());
                    }
                    self.used.borrow_mut().push(*index);
                }
                (path, 0, self.apply_assertion(entry, left, &self.program.assertions[*index])?)
            }
            Closing::Entry(index, path) | Closing::SameFrame(index, path) => {
                let hypothesis =
                    self.entries.get(*index).ok_or("a closing names an obligation that is not there")?;
                let same = matches!(closing, Closing::SameFrame(..));
                (path, hypothesis.depth, self.apply_entry(entry, left, hypothesis, same)?)
            }
        };
        // A hypothesis that applies and promises what cannot be: the state is unreachable.
        if conclusions.as_ref().is_some_and(Vec::is_empty) {
            return Ok(!self.one_level);
        }
        if self.one_level {
            let own = matches!(closing, Closing::Assertion(a, _) if *a == entry.origin);
            if path.len() != 1 || !(own || is_fact) {
                return Ok(false);
            }
        }
        if self.length_bounded && excess + path.len() > depth {
            return Ok(false);
        }
        let Some(target) = &entry.right else { return Ok(false) };
        let nodes = self.nodes(entry);
        let mut rights = vec![self.matrix(nodes, target)?];
        for (at, &rule) in path.iter().enumerate() {
            let fact = self.program.rules.get(rule).ok_or("no such rule")?.fact;
            if fact != (is_fact && at + 1 == path.len()) {
                return Ok(false);
            }
            let mut next = Vec::new();
            for right in &rights {
                next.extend(self.unfold(nodes, right, rule)?);
            }
            rights = next;
        }
        match (is_fact, conclusions) {
            (true, _) => {
                let k = self.width();
                let frame: Vec<usize> = std::iter::once(0).chain(k + 1..nodes).collect();
                let own = left.select(&frame);
                Ok(!path.is_empty() && rights.iter().any(|r| own.included_in(&r.select(&frame))))
            }
            (false, None) => Ok(false),
            (false, Some(list)) => Ok(list.iter().all(|c| rights.iter().any(|r| c.included_in(r)))),
        }
    }

    /// Whether the unreachable sets together contain every state of `left`.
    fn is_dead(&self, left: &Matrix) -> Result<bool, Refusal> {
        let columns: Vec<usize> = (0..=self.width()).collect();
        let mut own = system(left.select(&columns));
        for finite in &self.program.finite {
            let node = finite.column + 1;
            let fits = |v: &&i64| {
                own.matrix.get(node, 0).is_none_or(|c| i128::from(**v) <= c)
                    && own.matrix.get(0, node).is_none_or(|c| -i128::from(**v) <= c)
            };
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
        for set in &self.dead.sets {
            if self.unreachable.inside(&own, set)? {
                return Ok(true);
            }
        }
        let Some((&node, values)) = own.sets.iter().find(|(_, v)| v.len() > 1) else {
            return self.dead_pieces(own, 0);
        };
        for value in values.clone() {
            let mut part = own.clone();
            part.sets.insert(node, vec![value]);
            if !self.dead_parts(part)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What each set leaves over must be in the sets after it.
    fn dead_pieces(&self, own: System, from: usize) -> Result<bool, Refusal> {
        if own.is_empty() {
            return Ok(true);
        }
        for (at, set) in self.dead.sets.iter().enumerate().skip(from) {
            let mut values = self.program.finite.iter().zip(&set.values);
            if !values.all(|(f, list)| own.sets[&(f.column + 1)].iter().all(|v| list.contains(v))) {
                continue;
            }
            let mut bounds = Vec::new();
            for l in &set.bounds {
                bounds.push(difference(l).ok_or("a set has an inequality that is not a difference")?);
            }
            let mut inside = own.clone();
            inside.matrix.add(bounds.iter().copied());
            if inside.is_empty() {
                continue;
            }
            let mut rest = own;
            for (i, j, c) in bounds {
                if rest.matrix.implies((i, j, c)) {
                    continue;
                }
                let mut outside = rest.clone();
                outside.matrix.add([(j, i, -c - 1)]);
                if !self.dead_pieces(outside, at + 1)? {
                    return Ok(false);
                }
                rest.matrix.add([(i, j, c)]);
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// States of which one is reachable, by an assertion; over the entry's layout.
    fn apply_assertion(
        &self,
        entry: &Entry,
        left: &Matrix,
        assertion: &Assertion,
    ) -> Result<Option<Vec<Matrix>>, Refusal> {
        let (k, nodes) = (self.width(), self.nodes(entry));
        let Right::State(right) = &assertion.right else { return Err("not a relative assertion".into()) };
        let place = |n: usize| if n <= k { n } else { n - k - 1 + nodes };
        let wide = system(left.extended(k + assertion.nodes - (2 * k + 1)));
        let layout: Vec<usize> = (0..nodes).collect();
        for joint in expand(&assertion.left, &wide, &place)? {
            if left.included_in(&joint.matrix.select(&layout)) {
                let concluded = expand(right, &joint, &place)?;
                return Ok(Some(concluded.iter().map(|s| self.concluded(entry, &s.matrix)).collect()));
            }
        }
        Ok(None)
    }

    fn concluded(&self, entry: &Entry, matrix: &Matrix) -> Matrix {
        let (k, nodes) = (self.width(), self.nodes(entry));
        let source: Vec<usize> = std::iter::once(0).chain(nodes..nodes + k).chain(k + 1..nodes).collect();
        matrix.select(&source)
    }

    fn apply_entry(
        &self,
        entry: &Entry,
        left: &Matrix,
        by: &Entry,
        same: bool,
    ) -> Result<Option<Vec<Matrix>>, Refusal> {
        let (k, nodes) = (self.width(), self.nodes(entry));
        let own = self.matrix(self.nodes(by), &by.left)?;
        let columns: Vec<usize> = (0..=k).collect();
        let applies = if same {
            by.frame == entry.frame && left.included_in(&own)
        } else {
            left.select(&columns).included_in(&own.select(&columns))
        };
        if !applies {
            return Ok(None);
        }
        let Some(right) = &by.right else { return Ok(Some(Vec::new())) };
        let mut wide = left.extended(k + by.frame);
        // The concluded state right behind our nodes, then the hypothesis's frame (or ours).
        let frame = |n: usize| if same { n } else { n - k - 1 + nodes + k };
        let place_left = |n: usize| if n <= k { n } else { frame(n) };
        let place_right = |n: usize| match n {
            0 => 0,
            n if n <= k => n - 1 + nodes,
            n => frame(n),
        };
        let right = self.matrix(self.nodes(by), right)?;
        wide.add(own.constraints().into_iter().map(|(i, j, c)| (place_left(i), place_left(j), c)));
        wide.add(right.constraints().into_iter().map(|(i, j, c)| (place_right(i), place_right(j), c)));
        Ok(Some(if wide.is_empty() { Vec::new() } else { vec![self.concluded(entry, &wide)] }))
    }
}
