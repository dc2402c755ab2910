//! Syntax tree of the `.clp` language.

use quotient_source::Span;

/// A term: what may stand as an argument or in a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Where.
    pub span: Span,
}

/// Kinds of terms.
#[derive(Clone, Debug, PartialEq)]
pub enum TermKind {
    /// `X`
    Variable(String),
    /// `3`
    Integer(i64),
    /// `a + b`
    Sum(Box<Term>, Box<Term>),
    /// `a - b`
    Difference(Box<Term>, Box<Term>),
    /// `a * b`
    Product(Box<Term>, Box<Term>),
    /// `-a`
    Negative(Box<Term>),
    /// `[a, b]`
    List(Vec<Term>),
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `=`
    Equal,
    /// `<>`
    Different,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

/// A constraint.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// `true` or `false`
    Truth(bool),
    /// `a < b`
    Compare(Relation, Term, Term),
    /// `(K, K') in {(0,0), (1,2)}`; a single term may stand without parentheses.
    In(Vec<Term>, Vec<(Vec<i64>, Span)>, Span),
    /// `K in 0..3`
    Range(Term, i64, i64),
    /// `a, b`
    And(Vec<Formula>),
    /// `a ; b`
    Or(Vec<Formula>),
    /// `not a`
    Not(Box<Formula>),
}

/// `p(args)`
#[derive(Clone, Debug, PartialEq)]
pub struct Atom {
    /// Predicate name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// Arguments; lists are kept as written.
    pub arguments: Vec<Term>,
    /// The whole atom.
    pub span: Span,
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `head.` or `head :- body.`
    Rule {
        /// The state after the step.
        head: Atom,
        /// The state before it; none for a fact.
        body: Option<Atom>,
        /// The condition.
        constraint: Formula,
        /// The whole statement.
        span: Span,
    },
    /// `assert …` or `assume …`
    Assertion(Assertion),
}

impl Item {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Item::Rule { span, .. } => *span,
            Item::Assertion(assertion) => assertion.span,
        }
    }
}

/// What an assertion claims.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// `|= p(args), constraint`
    State(Atom, Formula),
    /// `|= constraint`
    Constraint(Formula),
    /// `symmetric p(args) under permutations {(P1,T1),(P2,T2)} with ids K from 1`
    Symmetric {
        /// Which group.
        group: Group,
        /// One tuple of variables for each interchangeable part.
        blocks: Vec<(Vec<(String, Span)>, Span)>,
        /// Variables whose values name parts, and the number of the first part.
        identities: Vec<(String, Span)>,
        /// Number of the first part.
        first: i64,
    },
}

/// A group of permutations of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Every permutation, by its generators, the adjacent transpositions.
    Permutations,
    /// Cyclic shifts, by the shift by one.
    Rotations,
}

/// `assert name: p(args), constraint |= claim using a, b.`
#[derive(Clone, Debug, PartialEq)]
pub struct Assertion {
    /// `assume` instead of `assert`.
    pub assumed: bool,
    /// `assume nonincreasing`: the right state needs no longer a derivation than the left one.
    pub nonincreasing: bool,
    /// The name before the colon.
    pub name: Option<(String, Span)>,
    /// The left state.
    pub left: Atom,
    /// The constraint on it.
    pub constraint: Formula,
    /// The right side.
    pub claim: Claim,
    /// Names after `using`.
    pub using: Vec<(String, Span)>,
    /// The whole statement.
    pub span: Span,
}
