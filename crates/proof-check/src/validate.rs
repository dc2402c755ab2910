//! Every field of a certificate, checked before anything is computed from it.
//!
//! What the other modules rely on, and never ask again:
//!
//! - node numbers are within the layout they are used in, and occur once in an inequality (`x - x <= -1` is a false
//!   statement in the shape of a bound); node 0 is never named, coefficients are never 0;
//! - indices of rules, assertions, sets and obligations exist; lists that belong together have the same length;
//! - numbers are small enough that no sum of them leaves 128 bits ([`LARGEST_BOUND`], [`LARGEST_COEFFICIENT`]);
//! - layouts are small enough to be allocated ([`MOST_NODES`]), and an obligation's frame is the one of its assertion, so
//!   that no number in a proof decides how much memory is taken.

use crate::format::{
    Assertion, Cells, Closing, Cover, Entry, Evidence, Inequality, Program, Proof, Right, Rule, States, Tree,
    Unreachable,
};
use crate::trees::{self, Refusal};

/// Nodes of a rule or an assertion. Matrices have at most four times as many.
pub const MOST_NODES: usize = 1000;
/// Absolute value of a bound, or of a value of a finite column.
///
/// The entries of a matrix that has solutions are sums along paths without repeated nodes, through the constraints of
/// the sets and rules unfolded: at most `4 * MOST_NODES * LONGEST_PATH` of these, which 128 bits hold.
pub const LARGEST_BOUND: i64 = 1 << 61;
/// Absolute value of a coefficient. With values as large as bounds, a sum of a million such terms is below 2^122.
pub const LARGEST_COEFFICIENT: i64 = 1 << 40;
/// Terms of an inequality.
const MOST_TERMS: usize = 1 << 20;
/// Unfolds on the right side, and depth of an obligation.
pub const LONGEST_PATH: usize = 1000;

fn require(condition: bool, what: &str) -> Result<(), Refusal> {
    if condition { Ok(()) } else { Err(what.to_string()) }
}

fn inequality(l: &Inequality, allowed: &dyn Fn(usize) -> bool) -> Result<(), Refusal> {
    require(l.terms.len() <= MOST_TERMS, "an inequality has too many terms")?;
    require(l.bound.unsigned_abs() <= LARGEST_BOUND.unsigned_abs(), "a bound is too large")?;
    let mut named: Vec<usize> = l.terms.iter().map(|t| t.0).collect();
    named.sort_unstable();
    require(named.windows(2).all(|pair| pair[0] != pair[1]), "an inequality repeats a node")?;
    for &(node, coefficient) in &l.terms {
        require(node > 0 && allowed(node), "an inequality names a node that is not there")?;
        let size = coefficient.unsigned_abs();
        let fits = size != 0 && size <= LARGEST_COEFFICIENT.unsigned_abs();
        require(fits, "an inequality has a coefficient that is zero or too large")?;
    }
    Ok(())
}

fn tree(tree_: &Tree, allowed: &dyn Fn(usize) -> bool) -> Result<(), Refusal> {
    match tree_ {
        Tree::Le(l) => inequality(l, allowed),
        Tree::And(list) | Tree::Or(list) => list.iter().try_for_each(|t| tree(t, allowed)),
    }
}

/// Columns, rules, assertions.
pub fn program(program: &Program) -> Result<(), Refusal> {
    let k = program.columns.len();
    require(2 * k < MOST_NODES, "the program has too many columns")?;
    for (number, r) in program.rules.iter().enumerate() {
        rule(r, k).map_err(|e| format!("rule {number}: {e}"))?;
    }
    for (number, a) in program.assertions.iter().enumerate() {
        assertion(a, k).map_err(|e| format!("assertion {number}: {e}"))?;
    }
    let mut before: Vec<usize> = Vec::new();
    for finite in &program.finite {
        require(finite.column < k, "a list of values belongs to no column")?;
        require(!before.contains(&finite.column), "a column has two lists of values")?;
        before.push(finite.column);
        let ascending = finite.values.windows(2).all(|pair| pair[0] < pair[1]);
        require(ascending, "the values of a column are not in ascending order")?;
        let small = finite.values.iter().all(|v| v.unsigned_abs() <= LARGEST_BOUND.unsigned_abs());
        require(small, "a value of a column is too large")?;
    }
    Ok(())
}

fn rule(rule: &Rule, k: usize) -> Result<(), Refusal> {
    require(rule.unchanged.len() == k, "it does not say of each column whether it is unchanged")?;
    require(rule.nodes > 2 * k && rule.nodes <= MOST_NODES, "it has too few nodes or too many")?;
    // A column that keeps its value, and every column of a fact, has no node for the value before.
    tree(&rule.guard, &|n| {
        n < rule.nodes && (n <= k || n > 2 * k || !(rule.fact || rule.unchanged[n - k - 1]))
    })
}

/// The inverse of an assertion is checked by the same rule.
pub(crate) fn assertion(assertion: &Assertion, k: usize) -> Result<(), Refusal> {
    let universal = assertion.universal;
    require(universal > 2 * k && universal <= assertion.nodes, "it has too few nodes")?;
    require(assertion.nodes <= MOST_NODES, "it has too many nodes")?;
    let about_left = |n: usize| n < universal && (n <= k || n > 2 * k);
    tree(&assertion.left, &about_left)?;
    match &assertion.right {
        Right::State(right) => tree(right, &|n| n < assertion.nodes),
        Right::Constraint(claim) => tree(claim, &about_left),
    }
}

/// A proof about a program that was validated.
pub(crate) fn proof(program: &Program, proof: &Proof) -> Result<(), Refusal> {
    let assertions = |list: &[usize]| list.iter().all(|&a| a < program.assertions.len());
    match proof {
        Proof::Safety { assertion, invariants, maps, start, table, found, under } => {
            let listed = assertions(&[*assertion]) && assertions(invariants) && assertions(maps);
            require(listed, "it names an assertion that is not there")?;
            for one in start {
                values(program, &one.values)?;
                covers(program, &one.covers, table)?;
            }
            sets(program, found)?;
            if let Some(under) = under {
                require(assertions(&under.maps), "it names an assertion that is not there")?;
                let listed = under.order.iter().all(|&f| f < program.finite.len());
                require(listed, "it names a finite column that is not there")?;
                require(under.order.len() <= program.finite.len(), "it lists a column twice")?;
                let alone = invariants.is_empty() && maps.is_empty() && table.sets.is_empty();
                require(alone && !found.is_empty(), "sets up to renaming are used for something else")?;
            }
            unreachable(program, table)
        }
        Proof::Cells { assertion, cells } => {
            require(assertions(&[*assertion]), "it names an assertion that is not there")?;
            at_heads(program, cells)
        }
        Proof::Renamed { assertion } => {
            require(assertions(&[*assertion]), "it names an assertion that is not there")
        }
        Proof::Listed { assertion, states } => {
            require(assertions(&[*assertion]), "it names an assertion that is not there")?;
            let small = |v: &i64| v.unsigned_abs() <= LARGEST_BOUND.unsigned_abs();
            for (at, one) in states.iter().enumerate() {
                require(one.state.len() == program.columns.len(), "a state has too few or too many values")?;
                require(one.state.iter().all(small), "a value is too large")?;
                let rule =
                    program.rules.get(one.rule).ok_or("a state is derived by a rule that is not there")?;
                require(rule.fact == one.before.is_none(), "a fact follows a state, or a rule does not")?;
                require(one.before.is_none_or(|b| b < at), "a state is derived from a later one")?;
            }
            Ok(())
        }
        Proof::Relative { group, invariants, entries, dead, inverse, .. } => {
            require(!group.is_empty(), "it proves no assertion")?;
            let listed = assertions(group) && assertions(invariants);
            require(listed, "it names an assertion that is not there")?;
            obligations(program, &program.assertions, entries)?;
            unreachable(program, dead)?;
            if let Some(entries) = inverse {
                require(group.len() == 1, "its inverse belongs to several assertions")?;
                let mut assertions = program.assertions.clone();
                let k = program.columns.len();
                let inverse = crate::inverse::inverse(&program.assertions[group[0]], k)?;
                assertion(&inverse, k).map_err(|e| format!("its inverse: {e}"))?;
                assertions.push(inverse);
                obligations(program, &assertions, entries).map_err(|e| format!("its inverse: {e}"))?;
            }
            Ok(())
        }
    }
}

/// Cells and evidence. Children come before their parents, so evidence ends.
fn at_heads(program: &Program, cells: &Cells) -> Result<(), Refusal> {
    let k = program.columns.len();
    require(cells.control.is_none_or(|c| c < k), "the control column is not there")?;
    let small = |v: i64| v.unsigned_abs() <= LARGEST_BOUND.unsigned_abs();
    for cell in &cells.cells {
        require(small(cell.point), "a control point is too large")?;
        cell.bounds.iter().try_for_each(|l| inequality(l, &|n| n <= k))?;
        for c in &cell.congruences {
            let row = Inequality { terms: c.terms.clone(), bound: c.residue };
            inequality(&row, &|n| n <= k)?;
            require(
                c.modulus >= 0 && c.modulus <= LARGEST_COEFFICIENT,
                "a modulus is negative or too large",
            )?;
        }
    }
    let there = |list: &[usize]| list.iter().all(|&e| e < cells.evidence.len());
    require(
        there(&cells.facts) && there(&cells.steps) && there(&cells.claims),
        "a run has evidence that is not there",
    )?;
    for (at, evidence) in cells.evidence.iter().enumerate() {
        let before = |list: &[usize]| list.iter().all(|&child| child < at);
        let fine = match evidence {
            Evidence::Absurd(_) => true,
            Evidence::Inside { cell, .. } => *cell < cells.cells.len(),
            Evidence::Outside(cell, child) => *cell < cells.cells.len() && before(&[*child]),
            Evidence::Follow(list)
            | Evidence::Before(list)
            | Evidence::Among(list)
            | Evidence::Choose(_, list) => before(list),
            Evidence::Earlier(child) | Evidence::Forced(_, child) => before(&[*child]),
            Evidence::Cases(case, yes, no) => {
                // Variables are counted from 0 and are there or not when the case is looked at.
                let shifted = case.terms.iter().map(|&(v, c)| (v.saturating_add(1), c)).collect();
                inequality(&Inequality { terms: shifted, bound: case.bound }, &|_| true)?;
                before(&[*yes, *no])
            }
            Evidence::Rests(column, modulus, list) => {
                *column < k && (1..=LARGEST_COEFFICIENT).contains(modulus) && before(list)
            }
        };
        require(fine, "evidence names something that is not there, or comes after what needs it")?;
    }
    Ok(())
}

/// Values of each finite column, ascending, among those listed for it.
fn values(program: &Program, lists: &[Vec<i64>]) -> Result<(), Refusal> {
    require(lists.len() == program.finite.len(), "a set has the wrong number of value lists")?;
    for (finite, list) in program.finite.iter().zip(lists) {
        let ascending = list.windows(2).all(|pair| pair[0] < pair[1]);
        let listed = list.iter().all(|v| finite.values.binary_search(v).is_ok());
        require(ascending && listed, "a set has a value outside its column's values, or out of order")?;
    }
    Ok(())
}

fn covers(program: &Program, covers: &[Cover], table: &Unreachable) -> Result<(), Refusal> {
    for cover in covers {
        require(cover.set < table.sets.len(), "a cover names a set that is not there")?;
        require(cover.path.len() <= LONGEST_PATH, "a cover applies too many assertions")?;
        let there = cover.path.iter().all(|&a| a < program.assertions.len());
        require(there, "a cover names an assertion that is not there")?;
    }
    Ok(())
}

fn sets(program: &Program, list: &[States]) -> Result<(), Refusal> {
    let k = program.columns.len();
    for set in list {
        values(program, &set.values)?;
        // Values say everything about finite columns.
        let open = |n: usize| n <= k && program.finite.iter().all(|f| f.column + 1 != n);
        set.bounds.iter().try_for_each(|l| inequality(l, &open))?;
    }
    Ok(())
}

fn unreachable(program: &Program, table: &Unreachable) -> Result<(), Refusal> {
    require(table.covers.len() == table.sets.len(), "a table has sets without covers")?;
    sets(program, &table.sets)?;
    for by_rule in &table.covers {
        require(by_rule.len() == program.rules.len(), "a set does not have covers for each rule")?;
        by_rule.iter().try_for_each(|list| covers(program, list, table))?;
    }
    Ok(())
}

fn obligations(program: &Program, assertions: &[Assertion], entries: &[Entry]) -> Result<(), Refusal> {
    let k = program.columns.len();
    for entry in entries {
        let origin = assertions.get(entry.origin).ok_or("an obligation descends from no assertion")?;
        // The state an assertion started from, then the other universal variables.
        require(
            entry.frame == origin.universal - (k + 1),
            "an obligation has another frame than its assertion",
        )?;
        require(entry.depth <= LONGEST_PATH, "an obligation is too deep")?;
        let nodes = 1 + k + entry.frame;
        for l in entry.left.iter().chain(entry.right.iter().flatten()) {
            inequality(l, &|n| n < nodes)?;
        }
        let count = match &entry.direct {
            Some(_) => entry.closings.len() == program.rules.len() || entry.closings.is_empty(),
            None => entry.closings.len() == program.rules.len(),
        };
        require(count, "an obligation does not have closings for each rule")?;
        for closing in entry.closings.iter().flatten().chain(&entry.direct) {
            let (known, path) = match closing {
                Closing::Assertion(a, path) => (*a < assertions.len(), path.as_slice()),
                Closing::Entry(e, path) | Closing::SameFrame(e, path) => {
                    (*e < entries.len(), path.as_slice())
                }
                Closing::Itself(path) | Closing::Fact(path) => (true, path.as_slice()),
                Closing::Unreachable => (true, [].as_slice()),
            };
            require(known, "a closing names an assertion or obligation that is not there")?;
            require(path.len() <= LONGEST_PATH, "a closing unfolds too often")?;
            require(
                path.iter().all(|&r| r < program.rules.len()),
                "a closing names a rule that is not there",
            )?;
        }
    }
    Ok(())
}

/// That an assertion speaks of the columns of its left state alone.
pub fn has_own_variables(assertion: &Assertion, k: usize) -> bool {
    trees::nodes(&assertion.left).iter().any(|&n| n > 2 * k)
}
