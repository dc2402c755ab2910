//! Invariants at loop heads: lattices and bounds in cells, grown in one fixpoint, with evidence that can be checked.
//!
//! [`flow`] finds the control points and loop heads, [`walk`] the runs between them, [`templates`] which sums of columns to bound,
//! [`growth`] the cells, [`evidence`] what is written down for the checker. This file tries one plan after the other, from
//! cheap to dear: differences; cells by the values of finite columns; what was found as context for
//! unfolding backwards; sums, the program's own conditions; cells split by these conditions or by parity; sums of three columns.
//! [`bounded`] is another way, for rules with more alternatives than can be listed: whole runs, decided by [`decide`], with what [`points`] finds.
//! After Granger's congruences and Miné's weakly relational domains, with bounds that climb thresholds instead of widening.

pub mod bounded;
pub mod decide;
pub mod evidence;
pub mod flow;
pub mod growth;
pub mod points;
pub mod proofs;
pub mod templates;
pub mod walk;

use std::time::Duration;

use quotient_proof_check::format as out;

use crate::domain::Domain;
use crate::limits::Limits;
use crate::program::{Assertion, Program, Right, Tree};
use evidence::{Claim, described, write};
use flow::Flow;
use growth::{Failed, Grown, Item, Meets, Plan, grow};
use templates::{Level, Survey, sums, survey};
use walk::{Leaf, leaves};

/// An invariant that excludes a claim's violations, with its evidence.
#[derive(Clone, Debug)]
pub struct Found {
    /// What it is made of, for the report.
    pub name: &'static str,
    /// The cells and why they are an invariant.
    pub cells: out::Cells,
}

/// A run that could not be excluded: the goal that stays open, with values that show why.
#[derive(Clone, Debug)]
pub struct Open {
    /// The states, as far as their columns have whole numbers; each but the first with a rule that leads to it, where one is known. The last one violates
    /// the claim.
    pub states: Vec<(Option<usize>, Vec<Option<i64>>)>,
    /// What is known of the first state: the invariant tried, and its cell.
    pub invariant: Option<(&'static str, out::Cell)>,
}

/// Why none was found.
#[derive(Clone, Debug, Default)]
pub struct Tried {
    /// What the last invariant tried does not exclude.
    pub open: Option<Open>,
}

/// Time for one plan.
const EACH: Duration = Duration::from_millis(1500);
/// Finite columns with more values than this are not split by value.
const MOST_VALUES: usize = 16;
/// Cells by value at most.
const MOST_KEYS: usize = 256;
/// Conditions of a head that cells are split by, at most.
const MOST_ATOMS: usize = 10;

struct Search<'a> {
    program: &'a Program,
    flow: Flow,
    leaves: Vec<Leaf>,
    survey: Survey,
    claim: Claim<'a>,
    limits: &'a Limits,
    values: Vec<Item>,
    tried: Tried,
}

/// The violations of a claim, and their opposite where it can be said without quantifiers.
fn violations(assertion: &Assertion, k: usize) -> Option<(Tree, Option<Tree>)> {
    let Right::Constraint(claim) = &assertion.right else { return None };
    let bad = Tree::And(vec![assertion.left.clone(), claim.negated()?]);
    let good = if assertion.universal > 2 * k + 1 { None } else { bad.negated() };
    Some((bad, good))
}

/// Looks for an invariant that excludes the violations of a claim.
pub fn prove(
    program: &Program,
    domain: &Domain,
    assertion: &Assertion,
    limits: &Limits,
) -> Result<Found, Tried> {
    let k = program.width();
    let Some((bad, good)) = violations(assertion, k) else { return Err(Tried::default()) };
    let claim = Claim { bad: &bad, nodes: assertion.nodes, good: good.as_ref() };
    let flow = Flow::of(program);
    let Ok(leaves) = leaves(program, &flow, (&bad, assertion.nodes)) else { return Err(Tried::default()) };
    let survey = survey(&leaves, k, flow.heads.len(), flow.column);
    let finite =
        domain.finite.iter().filter(|f| Some(f.column) != flow.column && f.values.len() <= MOST_VALUES);
    let mut values = Vec::new();
    let mut count = 1;
    for f in finite {
        count *= f.values.len();
        if count <= MOST_KEYS {
            values.push(Item::Value(f.column, f.values.clone()));
        }
    }
    let mut search = Search { program, flow, leaves, survey, claim, limits, values, tried: Tried::default() };
    search.run().ok_or(search.tried)
}

impl Search<'_> {
    fn plan(&self, level: Level, keys: Vec<Vec<Item>>) -> Plan {
        let columns = |items: &[Item]| -> Vec<usize> {
            items.iter().filter_map(|i| if let Item::Value(c, _) = i { Some(*c) } else { None }).collect()
        };
        let sums = (0..self.flow.heads.len()).map(|h| sums(&self.survey, h, level, &columns(&keys[h])));
        Plan { sums: sums.collect(), keys, stop: true }
    }

    fn no_keys(&self) -> Vec<Vec<Item>> {
        vec![Vec::new(); self.flow.heads.len()]
    }

    fn grown(&mut self, name: &'static str, plan: &Plan, time: Duration) -> Option<Grown> {
        let limits = self.limits.within(time);
        match grow(&self.leaves, &self.survey, plan, self.program.width(), &limits) {
            Ok(grown) => Some(grown),
            Err(Failed::Meets(meets)) => {
                let Meets { before, after } = *meets;
                let (mut states, mut invariant) = (Vec::new(), None);
                if let Some((cell, state)) = before {
                    invariant = Some((name, described(&self.flow, plan, &cell)));
                    states.extend(Some((None, state)).filter(|(_, s)| *s != after));
                }
                states.push((None, after));
                self.tried.open = Some(Open { states, invariant });
                None
            }
            Err(_) => None,
        }
    }

    fn written(&mut self, plan: &Plan, grown: &Grown, depth: usize, time: Duration) -> Option<out::Cells> {
        let limits = self.limits.within(time);
        write(self.program, &self.flow, plan, &grown.cells, self.claim, depth, &limits).ok()
    }

    /// One plan.
    fn attempt(&mut self, name: &'static str, level: Level, keys: Vec<Vec<Item>>) -> Option<Found> {
        let plan = self.plan(level, keys);
        let grown = self.grown(name, &plan, EACH)?;
        let cells = self.written(&plan, &grown, 0, 4 * EACH)?;
        Some(Found { name, cells })
    }

    /// What a plan finds, as context for unfolding backwards.
    fn unfolded(&mut self, name: &'static str, level: Level, keys: Vec<Vec<Item>>) -> Option<Found> {
        let plan = Plan { stop: false, ..self.plan(level, keys) };
        let grown = self.grown(name, &plan, 2 * EACH)?;
        for depth in [1, 2, 4] {
            if let Some(cells) = self.written(&plan, &grown, depth, EACH) {
                return Some(Found { name, cells });
            }
        }
        None
    }

    fn ended(&self) -> bool {
        let progress = crate::limits::Progress { doing: "looking for an invariant", goals: 0, stored: 0 };
        self.limits.reached(progress).is_some()
    }

    /// The conditions to split cells by.
    fn atoms(&self) -> Vec<(usize, Item)> {
        let mut out = Vec::new();
        for (head, atoms) in self.survey.atoms.iter().enumerate() {
            out.extend(atoms.iter().take(MOST_ATOMS).map(|(s, b)| (head, Item::Atom(s.clone(), *b))));
        }
        out
    }

    fn run(&mut self) -> Option<Found> {
        let none = self.no_keys();
        let values: Vec<Vec<Item>> = vec![self.values.clone(); self.flow.heads.len()];
        let keyed = !self.values.is_empty();
        if let Some(found) = self.attempt("differences and congruences", Level::Zones, none.clone()) {
            return Some(found);
        }
        if keyed
            && let Some(found) =
                self.attempt("differences and congruences by value", Level::Zones, values.clone())
        {
            return Some(found);
        }
        for level in [Level::Octagons, Level::Guards] {
            if let Some(found) = self.attempt("sums and congruences", level, none.clone()) {
                return Some(found);
            }
        }
        if let Some(found) =
            self.unfolded("differences and congruences, unfolded", Level::Zones, none.clone())
        {
            return Some(found);
        }
        if let Some(found) = self.unfolded("sums and congruences, unfolded", Level::Guards, none.clone()) {
            return Some(found);
        }
        if keyed && let Some(found) = self.unfolded("sums by value, unfolded", Level::Guards, values) {
            return Some(found);
        }
        if let Some(found) = self.attempt("sums of three columns", Level::Triples, none.clone()) {
            return Some(found);
        }
        if let Some(found) = self.split() {
            return Some(found);
        }
        self.attempt("sums of three columns, doubled", Level::Doubles, none.clone())
            .or_else(|| self.parity())
            .or_else(|| self.unfolded("sums of three columns, unfolded", Level::Triples, none))
    }

    /// Cells split by conditions of the program.
    fn split(&mut self) -> Option<Found> {
        let atoms = self.atoms();
        let name = "sums in cells by condition";
        let with = |me: &Self, chosen: &[&(usize, Item)]| {
            let mut keys = me.no_keys();
            chosen.iter().for_each(|(head, item)| keys[*head].push(item.clone()));
            keys
        };
        let mut first = self.no_keys();
        for (head, item) in &atoms {
            if first[*head].len() < 3 {
                first[*head].push(item.clone());
            }
        }
        for level in [Level::Zones, Level::Guards] {
            if let Some(found) = self.attempt(name, level, first.clone()) {
                return Some(found);
            }
        }
        for (at, one) in atoms.iter().enumerate() {
            if self.ended() {
                return None;
            }
            if let Some(found) = self.attempt(name, Level::Guards, with(self, &[one])) {
                return Some(found);
            }
            for other in &atoms[..at] {
                if self.ended() {
                    return None;
                }
                if let Some(found) = self.attempt(name, Level::Guards, with(self, &[other, one])) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Cells split by whether a column is even.
    fn parity(&mut self) -> Option<Found> {
        for head in 0..self.flow.heads.len() {
            for column in self.survey.live[head].clone() {
                if self.ended() {
                    return None;
                }
                let keys = (0..self.flow.heads.len())
                    .map(|h| {
                        let live = self.survey.live[h].contains(&column);
                        if live { vec![Item::Rest(column, 2)] } else { Vec::new() }
                    })
                    .collect();
                if let Some(found) = self.attempt("sums in cells by parity", Level::Guards, keys) {
                    return Some(found);
                }
            }
        }
        None
    }
}
