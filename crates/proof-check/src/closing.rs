//! One obligation of a relative proof: its reducts, and what closes them.
//!
//! Reducts of an obligation are mostly closed by the same few right unfolds (a rule with many alternatives has as many
//! reducts), so the right side unfolded along a path of rules is computed once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::format::{Assertion, Closing, Entry, Right};
use crate::matrix::Matrix;
use crate::relative::{Check, Sides, system};
use crate::trees::{Refusal, expand};

/// An obligation being checked.
pub struct Obligation<'a> {
    check: &'a Check<'a>,
    sides: &'a Sides,
    entry: &'a Entry,
    left: &'a Matrix,
    target: Option<&'a Matrix>,
    /// The right side unfolded along the paths asked for so far.
    rights: RefCell<HashMap<Vec<usize>, Rc<Vec<Matrix>>>>,
}

impl<'a> Obligation<'a> {
    /// The entry with this number.
    pub fn new(check: &'a Check<'a>, number: usize, sides: &'a Sides) -> Obligation<'a> {
        let (left, right) = &sides[number];
        let rights = RefCell::new(HashMap::new());
        Obligation { check, sides, entry: &check.entries[number], left, target: right.as_ref(), rights }
    }

    /// Every reduct, or the state itself, is closed.
    pub fn check(&self) -> Result<(), Refusal> {
        let (check, entry) = (self.check, self.entry);
        if check.one_level && entry.depth != 0 {
            return Err("a one-level proof has an obligation below the assertion".into());
        }
        if let Some(direct) = &entry.direct {
            if check.one_level {
                return Err("a one-level proof closes an obligation without unfolding it".into());
            }
            if !matches!(direct, Closing::Itself(_)) {
                return Err("an obligation is closed by a hypothesis before it was unfolded".into());
            }
            return if self.closes(self.left, direct, entry.depth, None)? {
                Ok(())
            } else {
                Err("it is not closed as claimed".into())
            };
        }
        for (index, rule) in check.program.rules.iter().enumerate() {
            let hints = &entry.closings[index];
            for reduct in check.unfold(self.left.nodes(), self.left, index)? {
                let parts = if rule.fact { vec![reduct] } else { check.restrict(reduct)? };
                for part in parts {
                    if !self.closed(part, hints, index)? {
                        return Err(format!("a reduct by rule {index} is not closed"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Closed as a whole or, where the proof splits, value by value.
    fn closed(&self, part: Matrix, hints: &[Closing], rule: usize) -> Result<bool, Refusal> {
        if part.is_empty() {
            return Ok(true);
        }
        self.check.effort.spend((1 + hints.len()) * part.nodes() * part.nodes())?;
        for hint in hints {
            if self.closes(&part, hint, self.entry.depth + 1, Some(rule))? {
                return Ok(true);
            }
        }
        let program = self.check.program;
        let open = program.finite.iter().find(|f| part.constant(f.column + 1).is_none());
        let Some(finite) = open.filter(|_| self.check.split && !program.rules[rule].fact) else {
            return Ok(false);
        };
        for &value in &finite.values {
            let (node, value) = (finite.column + 1, i128::from(value));
            if !part.may_be(node, value) {
                continue;
            }
            let mut one = part.clone();
            one.add([(node, 0, value), (0, node, -value)]);
            if !self.closed(one, hints, rule)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether one closing applies; `left` is over the entry's layout, `depth` counts left unfolds.
    fn closes(
        &self,
        left: &Matrix,
        closing: &Closing,
        depth: usize,
        rule: Option<usize>,
    ) -> Result<bool, Refusal> {
        let check = self.check;
        let is_fact = rule.is_some_and(|r| check.program.rules[r].fact);
        if is_fact != matches!(closing, Closing::Fact(_)) {
            return Ok(false);
        }
        let (path, excess, conclusions) = match closing {
            Closing::Unreachable => return check.is_dead(left),
            Closing::Fact(path) => (path, 0, None),
            Closing::Itself(path) => (path, 0, Some(vec![left.clone()])),
            Closing::Assertion(index, path) => {
                let by = &check.program.assertions[*index];
                if !check.group.contains(index) {
                    let known = check.known.get(index).ok_or("an assertion is used before it is proved")?;
                    if check.length_bounded && !known.length_bounded {
                        return Err("an assertion without a length bound is used in a bounded proof".into());
                    }
                    check.used.borrow_mut().push(*index);
                }
                (path, 0, self.apply_assertion(left, by)?)
            }
            Closing::Entry(index, path) | Closing::SameFrame(index, path) => {
                let by = &check.entries[*index];
                let same = matches!(closing, Closing::SameFrame(..));
                (path, by.depth, self.apply_entry(left, *index, same)?)
            }
        };
        // A hypothesis that applies and promises what cannot be: the state is unreachable.
        if conclusions.as_ref().is_some_and(Vec::is_empty) {
            return Ok(!check.one_level);
        }
        if check.one_level {
            let own = matches!(closing, Closing::Assertion(a, _) if *a == self.entry.origin);
            if path.len() != 1 || !(own || is_fact) {
                return Ok(false);
            }
        }
        if check.length_bounded && excess + path.len() > depth {
            return Ok(false);
        }
        // A fact ends the path of a reduct by a fact, and nothing else.
        for (at, &rule) in path.iter().enumerate() {
            let fact = check.program.rules[rule].fact;
            if fact != (is_fact && at + 1 == path.len()) {
                return Ok(false);
            }
        }
        match (is_fact, conclusions) {
            (true, _) => {
                let Some(rights) = self.unfolded(path)? else { return Ok(false) };
                let frame: Vec<usize> =
                    std::iter::once(0).chain(check.width() + 1..self.left.nodes()).collect();
                let own = left.select(&frame);
                check.effort.spend(rights.len() * frame.len() * frame.len())?;
                Ok(!path.is_empty() && rights.iter().any(|r| own.included_in(&r.select(&frame))))
            }
            (false, None) => Ok(false),
            (false, Some(list)) => {
                let Some(rights) = self.unfolded(path)? else { return Ok(false) };
                check.effort.spend(list.len() * rights.len() * left.nodes() * left.nodes())?;
                Ok(list.iter().all(|c| rights.iter().any(|r| c.included_in(r))))
            }
        }
    }

    /// The right side unfolded along a path of rules; none when there is no right side.
    fn unfolded(&self, path: &[usize]) -> Result<Option<Rc<Vec<Matrix>>>, Refusal> {
        let Some(target) = self.target else { return Ok(None) };
        if let Some(known) = self.rights.borrow().get(path) {
            return Ok(Some(known.clone()));
        }
        let found = match path.split_last() {
            None => vec![target.clone()],
            Some((&rule, before)) => {
                let mut list = Vec::new();
                for right in self.unfolded(before)?.iter().flat_map(|r| r.iter()) {
                    list.extend(self.check.unfold(self.left.nodes(), right, rule)?);
                }
                list
            }
        };
        let found = Rc::new(found);
        self.rights.borrow_mut().insert(path.to_vec(), found.clone());
        Ok(Some(found))
    }

    /// States of which one is reachable, by an assertion; over the entry's layout.
    fn apply_assertion(&self, left: &Matrix, by: &Assertion) -> Result<Option<Vec<Matrix>>, Refusal> {
        let (k, nodes) = (self.check.width(), left.nodes());
        let Right::State(right) = &by.right else { return Err("not a relative assertion".into()) };
        let place = |n: usize| if n <= k { n } else { n - k - 1 + nodes };
        let wide = system(left.extended(k + by.nodes - (2 * k + 1)));
        let layout: Vec<usize> = (0..nodes).collect();
        for joint in expand(&by.left, &wide, &place, self.check.effort)? {
            if left.included_in(&joint.matrix.select(&layout)) {
                let concluded = expand(right, &joint, &place, self.check.effort)?;
                return Ok(Some(concluded.iter().map(|s| self.concluded(&s.matrix)).collect()));
            }
        }
        Ok(None)
    }

    /// The concluded state, which stands after our nodes, with our frame.
    fn concluded(&self, matrix: &Matrix) -> Matrix {
        let (k, nodes) = (self.check.width(), self.left.nodes());
        let source: Vec<usize> = std::iter::once(0).chain(nodes..nodes + k).chain(k + 1..nodes).collect();
        matrix.select(&source)
    }

    /// The same, by an entry of the table.
    fn apply_entry(&self, left: &Matrix, by: usize, same: bool) -> Result<Option<Vec<Matrix>>, Refusal> {
        let (k, nodes) = (self.check.width(), left.nodes());
        let ((own, right), frame) = (&self.sides[by], self.check.entries[by].frame);
        let columns: Vec<usize> = (0..=k).collect();
        let applies = if same {
            frame == self.entry.frame && left.included_in(own)
        } else {
            left.select(&columns).included_in(&own.select(&columns))
        };
        if !applies {
            return Ok(None);
        }
        let Some(right) = right else { return Ok(Some(Vec::new())) };
        let width = nodes + k + frame;
        self.check.effort.spend(width * width * (2 + width))?;
        let mut wide = left.extended(k + frame);
        // The concluded state right after our nodes, then the hypothesis's frame (or ours).
        let frame = |n: usize| if same { n } else { n - k - 1 + nodes + k };
        let place_left = |n: usize| if n <= k { n } else { frame(n) };
        let place_right = |n: usize| match n {
            0 => 0,
            n if n <= k => n - 1 + nodes,
            n => frame(n),
        };
        wide.add(own.constraints().into_iter().map(|(i, j, c)| (place_left(i), place_left(j), c)));
        wide.add(right.constraints().into_iter().map(|(i, j, c)| (place_right(i), place_right(j), c)));
        Ok(Some(if wide.is_empty() { Vec::new() } else { vec![self.concluded(&wide)] }))
    }
}
