//! Linear formulas in negation normal form, each subformula stored once.

use std::collections::HashMap;

use crate::Formula;

/// Index into an [`Arena`].
pub(crate) type Id = usize;

/// A formula whose parts are in the same arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Node {
    False,
    True,
    Literal { prop: u32, negated: bool },
    And(Id, Id),
    Or(Id, Id),
    Next(Id),
    Until(Id, Id),
    Release(Id, Id),
}

/// Formulas, each once. The first two are false and true.
#[derive(Debug)]
pub(crate) struct Arena {
    nodes: Vec<Node>,
    known: HashMap<Node, Id>,
}

pub(crate) const FALSE: Id = 0;
pub(crate) const TRUE: Id = 1;

impl Default for Arena {
    fn default() -> Self {
        let mut arena = Arena { nodes: Vec::new(), known: HashMap::new() };
        arena.add(Node::False);
        arena.add(Node::True);
        arena
    }
}

impl Arena {
    pub(crate) fn node(&self, id: Id) -> Node {
        self.nodes[id]
    }

    pub(crate) fn add(&mut self, node: Node) -> Id {
        if let Some(id) = self.known.get(&node) {
            return *id;
        }
        self.nodes.push(node);
        self.known.insert(node, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The formula, or its negation; `None` when it has path quantifiers.
    pub(crate) fn negation_normal(&mut self, formula: &Formula, negate: bool) -> Option<Id> {
        let node = match (formula, negate) {
            (Formula::True, false) | (Formula::False, true) => Node::True,
            (Formula::True, true) | (Formula::False, false) => Node::False,
            (Formula::Prop(p), negated) => Node::Literal { prop: *p, negated },
            (Formula::Not(a), negate) => return self.negation_normal(a, !negate),
            (Formula::Next(a), negate) => Node::Next(self.negation_normal(a, negate)?),
            (Formula::And(a, b), false) | (Formula::Or(a, b), true) => {
                Node::And(self.negation_normal(a, negate)?, self.negation_normal(b, negate)?)
            }
            (Formula::Or(a, b), false) | (Formula::And(a, b), true) => {
                Node::Or(self.negation_normal(a, negate)?, self.negation_normal(b, negate)?)
            }
            (Formula::Until(a, b), false) | (Formula::Release(a, b), true) => {
                Node::Until(self.negation_normal(a, negate)?, self.negation_normal(b, negate)?)
            }
            (Formula::Release(a, b), false) | (Formula::Until(a, b), true) => {
                Node::Release(self.negation_normal(a, negate)?, self.negation_normal(b, negate)?)
            }
            (Formula::Exists(_) | Formula::All(_), _) => return None,
        };
        Some(self.add(node))
    }

    /// The negation of a formula.
    pub(crate) fn not(&mut self, id: Id) -> Id {
        let node = match self.node(id) {
            Node::False => Node::True,
            Node::True => Node::False,
            Node::Literal { prop, negated } => Node::Literal { prop, negated: !negated },
            Node::And(a, b) => Node::Or(self.not(a), self.not(b)),
            Node::Or(a, b) => Node::And(self.not(a), self.not(b)),
            Node::Next(a) => Node::Next(self.not(a)),
            Node::Until(a, b) => Node::Release(self.not(a), self.not(b)),
            Node::Release(a, b) => Node::Until(self.not(a), self.not(b)),
        };
        self.add(node)
    }
}
