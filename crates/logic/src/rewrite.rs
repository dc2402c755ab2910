//! Formulas made smaller before they are translated.
//!
//! The rules are those of Etessami and Holzmann ("Optimizing Büchi automata", CONCUR 2000) and of Somenzi and Bloem
//! ("Efficient Büchi automata from LTL formulae", CAV 2000): constants, distribution in the direction that saves temporal
//! operators, implication found by syntax, and *pure* formulas. A formula is purely eventual when it holds on every word
//! that ends in one on which it holds (`<>f`), purely universal when it holds on every end of a word on which it holds
//! (`[]f`); one that is both (`[]<>f`) does not depend on when it is asked.

use std::collections::HashMap;

use crate::normal::{Arena, FALSE, Id, Node, TRUE};

/// An equivalent formula, usually smaller.
pub(crate) fn simplify(arena: &mut Arena, root: Id) -> Id {
    let mut rewriter = Rewriter { arena, implied: HashMap::new(), done: HashMap::new() };
    rewriter.formula(root)
}

struct Rewriter<'a> {
    arena: &'a mut Arena,
    implied: HashMap<(Id, Id), bool>,
    done: HashMap<Id, Id>,
}

impl Rewriter<'_> {
    fn formula(&mut self, id: Id) -> Id {
        if let Some(done) = self.done.get(&id) {
            return *done;
        }
        let new = match self.arena.node(id) {
            Node::False | Node::True | Node::Literal { .. } => id,
            Node::And(a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                self.and(a, b)
            }
            Node::Or(a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                self.or(a, b)
            }
            Node::Next(a) => {
                let a = self.formula(a);
                self.next(a)
            }
            Node::Until(a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                self.until(a, b)
            }
            Node::Release(a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                self.release(a, b)
            }
        };
        self.done.insert(id, new);
        new
    }

    fn eventual(&self, id: Id) -> bool {
        match self.arena.node(id) {
            Node::False | Node::True => true,
            Node::Literal { .. } => false,
            Node::And(a, b) | Node::Or(a, b) | Node::Release(a, b) => self.eventual(a) && self.eventual(b),
            Node::Next(a) => self.eventual(a),
            Node::Until(a, b) => a == TRUE || self.eventual(b),
        }
    }

    fn universal(&self, id: Id) -> bool {
        match self.arena.node(id) {
            Node::False | Node::True => true,
            Node::Literal { .. } => false,
            Node::And(a, b) | Node::Or(a, b) | Node::Until(a, b) => self.universal(a) && self.universal(b),
            Node::Next(a) => self.universal(a),
            Node::Release(a, b) => a == FALSE || self.universal(b),
        }
    }

    /// Independent of time.
    fn timeless(&self, id: Id) -> bool {
        self.eventual(id) && self.universal(id)
    }

    /// Does `a` imply `b`, as far as their syntax shows?
    fn implies(&mut self, a: Id, b: Id) -> bool {
        if a == b || a == FALSE || b == TRUE {
            return true;
        }
        if let Some(known) = self.implied.get(&(a, b)) {
            return *known;
        }
        let result = self.implies_by_syntax(a, b);
        self.implied.insert((a, b), result);
        result
    }

    fn implies_by_syntax(&mut self, a: Id, b: Id) -> bool {
        let (left, right) = (self.arena.node(a), self.arena.node(b));
        if let Node::And(c, d) = right
            && self.implies(a, c)
            && self.implies(a, d)
        {
            return true;
        }
        if let Node::Or(c, d) = left
            && self.implies(c, b)
            && self.implies(d, b)
        {
            return true;
        }
        let by_left = match left {
            Node::And(c, d) => self.implies(c, b) || self.implies(d, b),
            Node::Until(c, d) => self.implies(d, b) && self.implies(c, b),
            Node::Release(_, d) => self.implies(d, b),
            Node::Next(c) => self.eventual(b) && self.implies(c, b),
            _ => false,
        };
        let by_right = match right {
            Node::Or(c, d) => self.implies(a, c) || self.implies(a, d),
            Node::Until(_, d) => self.implies(a, d),
            Node::Release(c, d) => self.implies(a, c) && self.implies(a, d),
            Node::Next(c) => self.universal(a) && self.implies(a, c),
            _ => false,
        };
        let by_both = match (left, right) {
            (Node::Until(c, d), Node::Until(e, f)) | (Node::Release(c, d), Node::Release(e, f)) => {
                self.implies(c, e) && self.implies(d, f)
            }
            (Node::Next(c), Node::Next(d)) => self.implies(c, d),
            _ => false,
        };
        by_left || by_right || by_both
    }

    fn excludes(&mut self, a: Id, b: Id) -> bool {
        let not_b = self.arena.not(b);
        self.implies(a, not_b)
    }

    fn covers(&mut self, a: Id, b: Id) -> bool {
        let not_a = self.arena.not(a);
        self.implies(not_a, b)
    }

    fn operands(&self, id: Id, conjunction: bool, out: &mut Vec<Id>) {
        match self.arena.node(id) {
            Node::And(a, b) if conjunction => {
                self.operands(a, true, out);
                self.operands(b, true, out);
            }
            Node::Or(a, b) if !conjunction => {
                self.operands(a, false, out);
                self.operands(b, false, out);
            }
            _ => out.push(id),
        }
    }

    fn and(&mut self, a: Id, b: Id) -> Id {
        self.combine(a, b, true)
    }

    fn or(&mut self, a: Id, b: Id) -> Id {
        self.combine(a, b, false)
    }

    /// A conjunction or disjunction: pairs of operands are joined where a rule applies, until none does.
    fn combine(&mut self, a: Id, b: Id, conjunction: bool) -> Id {
        let mut parts = Vec::new();
        self.operands(a, conjunction, &mut parts);
        self.operands(b, conjunction, &mut parts);
        parts.sort_unstable();
        parts.dedup();
        let (neutral, absorbing) = if conjunction { (TRUE, FALSE) } else { (FALSE, TRUE) };
        'again: loop {
            for i in 0..parts.len() {
                for j in 0..parts.len() {
                    if i == j {
                        continue;
                    }
                    let (x, y) = (parts[i], parts[j]);
                    let joined = if conjunction { self.join_and(x, y) } else { self.join_or(x, y) };
                    let Some(joined) = joined else { continue };
                    parts.retain(|p| *p != x && *p != y);
                    self.operands(joined, conjunction, &mut parts);
                    parts.sort_unstable();
                    parts.dedup();
                    continue 'again;
                }
            }
            break;
        }
        if parts.contains(&absorbing) {
            return absorbing;
        }
        parts.retain(|p| *p != neutral);
        let mut parts = parts.into_iter().rev();
        let Some(mut result) = parts.next() else { return neutral };
        for part in parts {
            let node = if conjunction { Node::And(part, result) } else { Node::Or(part, result) };
            result = self.arena.add(node);
        }
        result
    }

    /// One formula for `x && y`, if a rule has one.
    fn join_and(&mut self, x: Id, y: Id) -> Option<Id> {
        if self.implies(x, y) {
            return Some(x);
        }
        if self.excludes(x, y) {
            return Some(FALSE);
        }
        match (self.arena.node(x), self.arena.node(y)) {
            (Node::Release(a, b), Node::Release(c, d)) if a == c => {
                let both = self.and(b, d);
                Some(self.release(a, both))
            }
            (Node::Until(a, b), Node::Until(c, d)) if b == d => {
                let both = self.and(a, c);
                Some(self.until(both, b))
            }
            (Node::Until(TRUE, b), Node::Until(TRUE, d)) => match (self.arena.node(b), self.arena.node(d)) {
                (Node::Release(FALSE, e), Node::Release(FALSE, f)) => {
                    let both = self.and(e, f);
                    let always = self.release(FALSE, both);
                    Some(self.until(TRUE, always))
                }
                _ => None,
            },
            (Node::Next(a), Node::Next(b)) => {
                let both = self.and(a, b);
                Some(self.next(both))
            }
            _ => None,
        }
    }

    /// One formula for `x || y`, if a rule has one.
    fn join_or(&mut self, x: Id, y: Id) -> Option<Id> {
        if self.implies(x, y) {
            return Some(y);
        }
        if self.covers(x, y) {
            return Some(TRUE);
        }
        match (self.arena.node(x), self.arena.node(y)) {
            (Node::Until(a, b), Node::Until(c, d)) if a == c => {
                let either = self.or(b, d);
                Some(self.until(a, either))
            }
            (Node::Release(a, b), Node::Release(c, d)) if b == d => {
                let either = self.or(a, c);
                Some(self.release(either, b))
            }
            (Node::Release(FALSE, b), Node::Release(FALSE, d)) => {
                match (self.arena.node(b), self.arena.node(d)) {
                    (Node::Until(TRUE, e), Node::Until(TRUE, f)) => {
                        let either = self.or(e, f);
                        let eventually = self.until(TRUE, either);
                        Some(self.release(FALSE, eventually))
                    }
                    _ => None,
                }
            }
            (Node::Next(a), Node::Next(b)) => {
                let either = self.or(a, b);
                Some(self.next(either))
            }
            _ => None,
        }
    }

    fn next(&mut self, a: Id) -> Id {
        if self.timeless(a) { a } else { self.arena.add(Node::Next(a)) }
    }

    /// The operands of `id` that do not depend on time, and the rest, each joined; `None` when there are none.
    fn split_timeless(&mut self, id: Id) -> Option<(bool, Id, Id)> {
        let conjunction = match self.arena.node(id) {
            Node::And(..) => true,
            Node::Or(..) => false,
            _ => return None,
        };
        let mut parts = Vec::new();
        self.operands(id, conjunction, &mut parts);
        let (fixed, rest): (Vec<Id>, Vec<Id>) = parts.into_iter().partition(|p| self.timeless(*p));
        if fixed.is_empty() {
            return None;
        }
        let neutral = if conjunction { TRUE } else { FALSE };
        let fixed = fixed.into_iter().fold(neutral, |a, b| self.combine(a, b, conjunction));
        let rest = rest.into_iter().fold(neutral, |a, b| self.combine(a, b, conjunction));
        Some((conjunction, fixed, rest))
    }

    fn until(&mut self, a: Id, b: Id) -> Id {
        if self.eventual(b) || self.implies(a, b) {
            return b;
        }
        if a != TRUE && self.covers(a, b) {
            return self.until(TRUE, b);
        }
        if let Some((conjunction, fixed, rest)) = self.split_timeless(b) {
            let inner = self.until(a, rest);
            return self.combine(inner, fixed, conjunction);
        }
        match (self.arena.node(a), self.arena.node(b)) {
            (Node::Next(c), Node::Next(d)) => {
                let inner = self.until(c, d);
                return self.next(inner);
            }
            (Node::True, Node::Next(d)) => {
                let inner = self.until(TRUE, d);
                return self.next(inner);
            }
            (Node::True, Node::Until(_, d)) => return self.until(TRUE, d),
            (_, Node::Until(c, _)) if self.implies(a, c) => return b,
            (Node::Until(_, d), _) if d == b => return a,
            _ => {}
        }
        self.arena.add(Node::Until(a, b))
    }

    fn release(&mut self, a: Id, b: Id) -> Id {
        if self.universal(b) || self.implies(b, a) {
            return b;
        }
        if a != FALSE && self.excludes(a, b) {
            return self.release(FALSE, b);
        }
        if let Some((conjunction, fixed, rest)) = self.split_timeless(b) {
            let inner = self.release(a, rest);
            return self.combine(inner, fixed, conjunction);
        }
        match (self.arena.node(a), self.arena.node(b)) {
            (Node::Next(c), Node::Next(d)) => {
                let inner = self.release(c, d);
                return self.next(inner);
            }
            (Node::False, Node::Next(d)) => {
                let inner = self.release(FALSE, d);
                return self.next(inner);
            }
            (Node::False, Node::Release(_, d)) => return self.release(FALSE, d),
            (_, Node::Release(c, _)) if self.implies(c, a) => return b,
            (Node::Release(_, d), _) if d == b => return a,
            _ => {}
        }
        self.arena.add(Node::Release(a, b))
    }
}
