//! Constraint programs in normal form.
//!
//! A state is a vector of integers, one per *column* (the arguments of the predicate with lists
//! flattened). A rule relates the state before a step to the state after it. Constraints are trees
//! of linear inequalities over numbered nodes:
//!
//! - in a rule with `k` columns: nodes `1..=k` the state after, `k+1..=2k` the state before, then
//!   the rule's own variables;
//! - in an assertion: nodes `1..=k` the left state, `k+1..=2k` the right state, then the variables
//!   of the left side (universal) and those of the right side only (existential).

use quotient_source::Span;

use crate::constraint::Linear;

/// A constraint in negation normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// One inequality.
    Le(Linear),
    /// All of them; empty is true.
    And(Vec<Tree>),
    /// One of them; empty is false.
    Or(Vec<Tree>),
}

impl Tree {
    /// Always true.
    pub fn truth() -> Tree {
        Tree::And(Vec::new())
    }

    /// Whether the values (indexed by node) satisfy it.
    pub fn holds(&self, values: &[i64]) -> bool {
        match self {
            Tree::Le(l) => l.holds(values),
            Tree::And(list) => list.iter().all(|t| t.holds(values)),
            Tree::Or(list) => list.iter().any(|t| t.holds(values)),
        }
    }

    /// Calls `visit` on every inequality.
    pub fn each(&self, visit: &mut impl FnMut(&Linear)) {
        match self {
            Tree::Le(l) => visit(l),
            Tree::And(list) | Tree::Or(list) => list.iter().for_each(|t| t.each(visit)),
        }
    }

    /// The complement; `None` when a constant overflows.
    pub fn negated(&self) -> Option<Tree> {
        Some(match self {
            Tree::Le(l) => Tree::Le(l.negated().ok()?),
            Tree::And(list) => Tree::Or(list.iter().map(Tree::negated).collect::<Option<_>>()?),
            Tree::Or(list) => Tree::And(list.iter().map(Tree::negated).collect::<Option<_>>()?),
        })
    }

    /// Every way to choose one alternative in each disjunction, in lexicographic order; `None`
    /// when there are more than `limit`.
    pub fn disjuncts(&self, limit: usize) -> Option<Vec<Vec<Linear>>> {
        match self {
            Tree::Le(l) => Some(vec![vec![l.clone()]]),
            Tree::Or(list) => {
                let mut out = Vec::new();
                for t in list {
                    out.extend(t.disjuncts(limit)?);
                    if out.len() > limit {
                        return None;
                    }
                }
                Some(out)
            }
            Tree::And(list) => {
                let mut out: Vec<Vec<Linear>> = vec![Vec::new()];
                for t in list {
                    let next = t.disjuncts(limit)?;
                    if out.len().saturating_mul(next.len()) > limit {
                        return None;
                    }
                    out = out
                        .iter()
                        .flat_map(|a| next.iter().map(move |b| a.iter().chain(b).cloned().collect()))
                        .collect();
                }
                Some(out)
            }
        }
    }
}

/// A fact or a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The statement in the source; `None` for generated programs.
    pub span: Option<Span>,
    /// Facts have no state before.
    pub is_fact: bool,
    /// Columns whose value is the same before and after; their "before" node is not used.
    pub unchanged: Vec<bool>,
    /// Number of nodes of the guard, the zero node included.
    pub nodes: usize,
    /// The relation.
    pub guard: Tree,
}

/// The right side of an assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Right {
    /// A state related to the left one is reachable too.
    State(Tree),
    /// The left state satisfies a constraint.
    Constraint(Tree),
}

/// `left |= right`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// Its name, unique in the program.
    pub name: String,
    /// The statement in the source.
    pub span: Option<Span>,
    /// Taken for granted (`assume`).
    pub assumed: bool,
    /// Assumed to be length-non-increasing as well (`assume nonincreasing`).
    pub nonincreasing: bool,
    /// Assertions its proof may rely on, by index.
    pub using: Vec<usize>,
    /// Number of nodes, the zero node included.
    pub nodes: usize,
    /// One past the last universal node: those from here on occur on the right only.
    pub universal: usize,
    /// Condition on the left state.
    pub left: Tree,
    /// What follows.
    pub right: Right,
}

impl Assertion {
    /// Whether it relates two states.
    pub fn is_relative(&self) -> bool {
        matches!(self.right, Right::State(_))
    }
}

/// How the arguments of the predicate are written: a column or a list of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A single column.
    Column,
    /// A list.
    List(Vec<Argument>),
}

/// A constraint program with its assertions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The predicate's name.
    pub predicate: String,
    /// Argument structure, for printing.
    pub arguments: Vec<Argument>,
    /// Column names, for printing.
    pub columns: Vec<String>,
    /// Names and numbers of arguments of the predicates that the first column tells apart, for printing; none if it does not.
    pub predicates: Vec<(String, usize)>,
    /// Facts and rules in source order.
    pub rules: Vec<Rule>,
    /// Assertions in source order.
    pub assertions: Vec<Assertion>,
}

impl Program {
    /// Number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// The columns of the first argument when it is a list: by convention the program counters.
    pub fn counters(&self) -> usize {
        fn size(a: &Argument) -> usize {
            match a {
                Argument::Column => 1,
                Argument::List(l) => l.iter().map(size).sum(),
            }
        }
        match self.arguments.first() {
            Some(list @ Argument::List(_)) => size(list),
            _ => 0,
        }
    }

    /// `p([0,1],5)` for the given values.
    pub fn show(&self, values: &[i64]) -> String {
        let text: Vec<String> = values.iter().map(i64::to_string).collect();
        self.show_terms(&text)
    }

    /// The predicate applied to terms already written out.
    pub fn show_terms(&self, terms: &[String]) -> String {
        fn write(a: &Argument, terms: &mut impl Iterator<Item = String>, out: &mut String) {
            match a {
                Argument::Column => out.push_str(&terms.next().unwrap_or_default()),
                Argument::List(list) => {
                    out.push('[');
                    for (n, a) in list.iter().enumerate() {
                        if n > 0 {
                            out.push(',');
                        }
                        write(a, terms, out);
                    }
                    out.push(']');
                }
            }
        }
        // Clauses with several predicates are shown with these.
        let which = terms.first().and_then(|t| t.parse::<usize>().ok()).and_then(|t| self.predicates.get(t));
        if let Some((name, arguments)) = which {
            let own: Vec<String> = terms.iter().skip(1).take(*arguments).cloned().collect();
            return format!("{name}({})", own.join(","));
        }
        let mut out = format!("{}(", self.predicate);
        let mut terms = terms.iter().cloned();
        for (n, a) in self.arguments.iter().enumerate() {
            if n > 0 {
                out.push(',');
            }
            write(a, &mut terms, &mut out);
        }
        out.push(')');
        out
    }
}
