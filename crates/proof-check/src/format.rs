//! Certificates as JSON: the program, the proofs, nothing computed.
//!
//! Node numbers are those of the prover's normal form. In a rule over `k` columns: `1..=k` the
//! state after, `k+1..=2k` the state before (a column marked unchanged has only its "after" node),
//! then the rule's own variables. In an assertion: `1..=k` the left state, `k+1..=2k` the right
//! state, `2k+1..universal` variables of the left side, the rest variables of the right side only.

use serde::{Deserialize, Serialize};

/// `sum of coefficient * node <= bound`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Inequality {
    /// `(node, coefficient)`.
    pub terms: Vec<(usize, i64)>,
    /// Right-hand side.
    pub bound: i64,
}

/// A constraint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tree {
    /// One inequality.
    Le(Inequality),
    /// All.
    And(Vec<Tree>),
    /// Some.
    Or(Vec<Tree>),
}

/// A fact or rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Facts have no state before.
    pub fact: bool,
    /// Columns that keep their value.
    pub unchanged: Vec<bool>,
    /// Nodes, the zero node included.
    pub nodes: usize,
    /// The relation.
    pub guard: Tree,
}

/// The right side of an assertion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// A related state is reachable.
    State(Tree),
    /// The left state satisfies this.
    Constraint(Tree),
}

/// An assertion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assertion {
    /// Its name.
    pub name: String,
    /// Taken for granted.
    pub assumed: bool,
    /// Taken to be length-non-increasing, too.
    pub nonincreasing: bool,
    /// Nodes, the zero node included.
    pub nodes: usize,
    /// One past the last universal node.
    pub universal: usize,
    /// Condition on the left state.
    pub left: Tree,
    /// What follows.
    pub right: Right,
}

/// A column with finitely many values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finite {
    /// Column, from 0.
    pub column: usize,
    /// Its values, ascending.
    pub values: Vec<i64>,
}

/// The program the proofs are about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Column names.
    pub columns: Vec<String>,
    /// Facts and rules.
    pub rules: Vec<Rule>,
    /// Assertions.
    pub assertions: Vec<Assertion>,
    /// Finite columns. The checker verifies that no other values occur.
    pub finite: Vec<Finite>,
}

/// A set of states: values of the finite columns, and inequalities over the other columns, which
/// are numbered by column (node `c + 1` for column `c`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct States {
    /// Values of each finite column.
    pub values: Vec<Vec<i64>>,
    /// Constraints on the other columns.
    pub bounds: Vec<Inequality>,
}

/// Where a reduct of a set goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cover {
    /// Index of the set that contains its image.
    pub set: usize,
    /// Assertions applied first, in order.
    pub path: Vec<usize>,
}

/// Where violating states go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The states meant: values of each finite column.
    pub values: Vec<Vec<i64>>,
    /// The covers they need.
    pub covers: Vec<Cover>,
}

/// No state of these sets is reachable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreachable {
    /// The sets.
    pub sets: Vec<States>,
    /// For each set and rule, the covers its reducts need.
    pub covers: Vec<Vec<Vec<Cover>>>,
}

/// What closes a reduct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closing {
    /// An assertion, then right unfolds by these rules.
    Assertion(usize, Vec<usize>),
    /// A table entry with any frame, then right unfolds.
    Entry(usize, Vec<usize>),
    /// A table entry with the same frame, then right unfolds.
    SameFrame(usize, Vec<usize>),
    /// The state itself, then right unfolds.
    Itself(Vec<usize>),
    /// A fact on the right (for reducts by facts).
    Fact(Vec<usize>),
    /// The state is in one of the unreachable sets.
    Unreachable,
}

/// An obligation of the table. Nodes: `1..=k` the state, then the frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Assertion it descends from.
    pub origin: usize,
    /// Left unfolds below it.
    pub depth: usize,
    /// Number of frame nodes.
    pub frame: usize,
    /// Left state and frame.
    pub left: Vec<Inequality>,
    /// Right state and frame; none when the left state is claimed unreachable.
    pub right: Option<Vec<Inequality>>,
    /// Closed without a left unfold.
    pub direct: Option<Closing>,
    /// For each rule, what closes its reducts.
    pub closings: Vec<Vec<Closing>>,
}

/// A proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// Of a safety assertion.
    Safety {
        /// The assertion.
        assertion: usize,
        /// Invariants used; proved before.
        invariants: Vec<usize>,
        /// Relative assertions used as maps; proved before.
        maps: Vec<usize>,
        /// Covers for the violating states.
        start: Vec<Start>,
        /// The table.
        table: Unreachable,
        /// Sets of states that contain every reachable one: an invariant that was found. None when empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        found: Vec<States>,
        /// The sets contain every reachable state up to renaming.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        under: Option<Orbits>,
    },
    /// Of a safety assertion, by an invariant at loop heads.
    Cells {
        /// The assertion.
        assertion: usize,
        /// The invariant.
        cells: Cells,
    },
    /// Of a relative assertion, state by state: the list is closed under steps, and each left state has a partner in it.
    Listed {
        /// The assertion.
        assertion: usize,
        /// All reachable states, each with a derivation.
        states: Vec<Derived>,
    },
    /// Of a relative assertion that permutes the columns: it takes each rule to a rule, word for word.
    Renamed {
        /// The assertion.
        assertion: usize,
    },
    /// Of a group of relative assertions.
    Relative {
        /// The assertions.
        group: Vec<usize>,
        /// Invariants used; proved before.
        invariants: Vec<usize>,
        /// Claimed: right unfolds within left unfolds.
        length_bounded: bool,
        /// Claimed: every reduct is matched by one right unfold and the assertion itself.
        one_level: bool,
        /// Whether finite columns are to be split by value.
        split: bool,
        /// The table.
        entries: Vec<Entry>,
        /// Sets shown unreachable on the way (without maps).
        dead: Unreachable,
        /// The table of a one-level proof of the inverse, for a single assertion that has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inverse: Option<Vec<Entry>>,
    },
}

/// Renamings under which some sets contain every reachable state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orbits {
    /// Relative assertions that permute columns and values.
    pub maps: Vec<usize>,
    /// Finite columns (positions among these): a map is applied as long as it makes their values smaller.
    pub order: Vec<usize>,
}

/// A state with its derivation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Derived {
    /// The values of all columns.
    pub state: Vec<i64>,
    /// The fact or rule that leads to it.
    pub rule: usize,
    /// The state before, an earlier one of the list; none for a fact.
    pub before: Option<usize>,
}

/// A combination of rows: their numbers, with positive multipliers.
pub type Combination = Vec<(usize, i64)>;

/// `terms = residue` modulo `modulus`; a modulus of 0 means equality. Nodes by column, as in [`States`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Congruence {
    /// Nodes with coefficients.
    pub terms: Vec<(usize, i64)>,
    /// What is left.
    pub residue: i64,
    /// The modulus.
    pub modulus: i64,
}

/// A set of states at a loop head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The control point, a value of the control column.
    pub point: i64,
    /// Inequalities; nodes by column.
    pub bounds: Vec<Inequality>,
    /// Equalities and congruences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub congruences: Vec<Congruence>,
}

/// Why a run, or the end of one, is as claimed. Children are positions in a list, each before its parent.
///
/// What is known of a run are numbered variables, equations, numbered rows, and disjunctions that wait; `cells.rs` says
/// in which order they come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// It is impossible: each combination gives another row, the last of them a contradiction.
    Absurd(Vec<Combination>),
    /// The state is in a cell.
    Inside {
        /// The cell.
        cell: usize,
        /// Rows derived first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        given: Vec<Combination>,
        /// For each inequality of the cell, what makes its opposite impossible.
        bounds: Vec<Vec<Combination>>,
    },
    /// The state is in a cell without congruences (equalities may be), since outside it is impossible: the disjunction of the opposites of its inequalities, and of below and above for its
    /// equalities, in their order, is one that waits.
    Outside(usize, usize),
    /// Each rule that leaves the state's control point, in the order of the program.
    Follow(Vec<usize>),
    /// Each fact and rule that leads to the state's control point, in the order of the program.
    Before(Vec<usize>),
    /// Each cell of the state's control point, in their order.
    Among(Vec<usize>),
    /// The state is earlier than the first violation: it does not violate the claim.
    Earlier(usize),
    /// Each alternative of a disjunction that waits: 0 is the one that has waited longest.
    Choose(usize, Vec<usize>),
    /// Disjunctions of which one alternative is left, then what follows from those.
    Forced(Vec<Forced>, usize),
    /// The inequality, or its opposite. Variables by number.
    Cases(Inequality, usize, usize),
    /// Each rest of a column of the state (from 0) modulo a number.
    Rests(usize, i64, Vec<usize>),
}

/// A disjunction that waits, and the one alternative of it that is possible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forced {
    /// Which of those that wait.
    pub which: usize,
    /// The alternative that is left.
    pub left: usize,
    /// For each of the others, in their order, what makes it impossible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Vec<Combination>>,
}

/// An invariant at loop heads that excludes a claim's violations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cells {
    /// The column whose values are the control points; each rule moves it from one fixed value to another. None: one point, 0.
    pub control: Option<usize>,
    /// The control points with an invariant.
    pub heads: Vec<i64>,
    /// The invariant: at each head, one of its cells.
    pub cells: Vec<Cell>,
    /// All evidence.
    pub evidence: Vec<Evidence>,
    /// For each fact, in the order of the program: runs that begin with it.
    pub facts: Vec<usize>,
    /// For each cell: runs that go on from it.
    pub steps: Vec<usize>,
    /// For each control point in ascending order: no violation there.
    pub claims: Vec<usize>,
}

/// A certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// [`FORMAT`].
    pub format: String,
    /// The program.
    pub program: Program,
    /// The proofs, each relying on earlier ones only.
    pub proofs: Vec<Proof>,
}

/// The format's name and version.
pub const FORMAT: &str = "quotient relative-safety certificate 3";
