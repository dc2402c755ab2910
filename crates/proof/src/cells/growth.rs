//! Growth from below: at each head cells take in what runs lead to, until no run leaves them.
//!
//! A cell is a lattice (affine equalities and congruences) and a bound for each of a list of sums. Both grow in one fixpoint and
//! strengthen each other: the image of a cell under a run is computed by solving the run's equations together with those
//! of the lattice, over the integers, and maximising each sum over the inequalities that are left. A bound that has to
//! grow takes the value it needs twice, then climbs a list of thresholds, then is given up; lattices have no infinite
//! chains. So growth ends, and then no run leaves the cells. Cells only get larger: the first that meets a violation ends the attempt, unless
//! the caller wants the invariant anyway.

use std::collections::{HashMap, VecDeque};

use super::proofs::{sharpen, whole};
use super::templates::{Sum, Survey};
use super::walk::{Leaf, To};
use crate::constraint::Overflow;
use crate::integer::{Congruence, Form, Lattice, Optimum, Simplex, System, common_factor};
use crate::invariant::thresholds::Thresholds;
use crate::limits::{Limits, Progress, Reached};

/// What tells the cells of a head apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// The value of a column, one of these.
    Value(usize, Vec<i64>),
    /// Whether `sum <= bound`.
    Atom(Sum, i64),
    /// The rest of a column modulo a number.
    Rest(usize, i64),
}

/// A set of states at a head.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The head.
    pub head: usize,
    /// What each item of the key says.
    pub key: Vec<i64>,
    /// Over the live columns of the head.
    lattice: Lattice,
    /// The same in dual form, over columns.
    pub congruences: Vec<Congruence>,
    /// Bounds of the head's sums.
    bounds: Vec<Option<i64>>,
    grown: Vec<u8>,
    waiting: bool,
}

/// How to look.
#[derive(Clone, Debug)]
pub struct Plan {
    /// For each head, the sums to bound.
    pub sums: Vec<Vec<Sum>>,
    /// For each head, what tells cells apart.
    pub keys: Vec<Vec<Item>>,
    /// Whether to end at the first cell that meets a violation.
    pub stop: bool,
}

/// Why there is no invariant.
#[derive(Clone, Debug)]
pub enum Failed {
    /// A violation is met.
    Meets(Box<Meets>),
    /// More cells or steps than are worth it.
    TooMany,
    /// A limit was reached.
    Limit(Reached),
    /// Arithmetic left the exact range.
    Overflow,
}

/// A run to a violation that cells do not exclude. Values that are not whole numbers are left out.
#[derive(Clone, Debug)]
pub struct Meets {
    /// The cell that it starts from, and the state there; none for a run that begins with a fact.
    pub before: Option<(Cell, Vec<Option<i64>>)>,
    /// The violation.
    pub after: Vec<Option<i64>>,
}

impl From<Overflow> for Failed {
    fn from(_: Overflow) -> Failed {
        Failed::Overflow
    }
}

const MOST_CELLS: usize = 400;
const MOST_STEPS: usize = 20_000;
/// Case distinctions to find a state in whole numbers, for the report.
const WHOLE_CASES: usize = 8;
/// Times a bound takes the exact value it needs.
const EXACT: u8 = 2;

/// Cells that no run leaves.
pub struct Grown {
    /// The cells.
    pub cells: Vec<Cell>,
    /// Whether one of them meets a violation.
    pub meets: bool,
}

struct Growth<'a> {
    survey: &'a Survey,
    plan: &'a Plan,
    thresholds: Thresholds,
    k: usize,
    cells: Vec<Cell>,
    by_key: HashMap<(usize, Vec<i64>), usize>,
    open: VecDeque<usize>,
}

impl Cell {
    /// The inequalities that a cell has, over columns: its key's and its bounds.
    pub fn rows(&self, plan: &Plan) -> Vec<(Sum, i64)> {
        let mut rows = Vec::new();
        for (item, &value) in plan.keys[self.head].iter().zip(&self.key) {
            match item {
                Item::Value(column, _) => {
                    rows.push((vec![(*column, 1)], value));
                    rows.push((vec![(*column, -1)], -value));
                }
                Item::Atom(sum, bound) if value == 1 => rows.push((sum.clone(), *bound)),
                Item::Atom(sum, bound) => {
                    rows.push((sum.iter().map(|t| (t.0, -t.1)).collect(), -bound - 1));
                }
                Item::Rest(..) => {}
            }
        }
        let bounded = plan.sums[self.head].iter().zip(&self.bounds);
        rows.extend(bounded.filter_map(|(sum, bound)| bound.map(|b| (sum.clone(), b))));
        rows
    }

    /// The rests that its key says.
    pub fn rests(&self, plan: &Plan) -> Vec<Congruence> {
        let items = plan.keys[self.head].iter().zip(&self.key);
        items
            .filter_map(|(item, &residue)| match item {
                Item::Rest(c, modulus) => {
                    Some(Congruence { terms: vec![(*c, 1)], residue, modulus: *modulus })
                }
                _ => None,
            })
            .collect()
    }

    /// Adds what the cell says to a system, in which the columns are these variables.
    pub fn describe(&self, plan: &Plan, system: &mut System, state: &[usize]) -> Result<(), Overflow> {
        for (sum, bound) in self.rows(plan) {
            let terms: Vec<(usize, i64)> = sum.iter().map(|&(c, f)| (state[c], f)).collect();
            system.le(&terms, bound)?;
        }
        for congruence in self.congruences.iter().chain(&self.rests(plan)) {
            congruent(system, state, congruence)?;
        }
        system.settle()?;
        Ok(())
    }
}

/// Adds a congruence about the columns.
pub fn congruent(system: &mut System, state: &[usize], congruence: &Congruence) -> Result<(), Overflow> {
    let mut terms: Vec<(usize, i64)> = congruence.terms.iter().map(|&(c, f)| (state[c], f)).collect();
    if congruence.modulus != 0 {
        terms.push((system.variable(), -congruence.modulus));
    }
    system.equal(&terms, congruence.residue)
}

/// Cells that contain every state at a head, as the plan sees them.
pub fn grow(
    leaves: &[Leaf],
    survey: &Survey,
    plan: &Plan,
    k: usize,
    limits: &Limits,
) -> Result<Grown, Failed> {
    let mut growth = Growth {
        survey,
        plan,
        thresholds: Thresholds::around(survey.constants.iter().copied()),
        k,
        cells: Vec::new(),
        by_key: HashMap::new(),
        open: VecDeque::new(),
    };
    let mut meets = false;
    for leaf in leaves.iter().filter(|l| l.from.is_none()) {
        let mut system = leaf.system.clone();
        if leaf.to == To::Bad {
            meets |= growth.meets(&system, None)?;
        } else if let To::Head(head) = leaf.to {
            system.settle()?;
            growth.arrive(system, head)?;
        }
    }
    let mut goals = 0;
    while let Some(at) = growth.open.pop_front() {
        growth.cells[at].waiting = false;
        // Violations first: most attempts end there.
        let own = |bad: bool| {
            let head = growth.cells[at].head;
            leaves.iter().filter(move |l| l.from == Some(head) && (l.to == To::Bad) == bad)
        };
        let runs: Vec<&Leaf> = own(true).chain(own(false)).collect();
        let cell = growth.cells[at].clone();
        for leaf in runs {
            goals += 1;
            if goals > MOST_STEPS {
                return Err(Failed::TooMany);
            }
            let progress = Progress { doing: "looking for an invariant", goals, stored: growth.cells.len() };
            if let Some(reached) = limits.reached(progress) {
                return Err(Failed::Limit(reached));
            }
            let mut system = leaf.system.clone();
            let state: Vec<usize> = (0..k).collect();
            cell.describe(plan, &mut system, &state)?;
            match leaf.to {
                To::Bad if plan.stop || !meets => meets |= growth.meets(&system, Some(&cell))?,
                To::Bad => {}
                To::Head(head) => growth.arrive(system, head)?,
            }
        }
    }
    Ok(Grown { cells: growth.cells, meets })
}

impl Growth<'_> {
    /// Whether a violation is possible.
    fn meets(&self, system: &System, from: Option<&Cell>) -> Result<bool, Failed> {
        let mut system = system.clone();
        if !system.settle()? {
            return Ok(false);
        }
        let Some(simplex) = sharpen(&mut system, &mut Vec::new())? else { return Ok(false) };
        if self.plan.stop {
            let whole = whole(&system, WHOLE_CASES);
            let at = |v: usize| match &whole {
                Some(values) => Some(values[v]),
                None => simplex.value(system.form(v)).ok().flatten(),
            };
            let before = from.map(|cell| (cell.clone(), (0..self.k).map(at).collect()));
            let after = (self.k..2 * self.k).map(at).collect();
            return Err(Failed::Meets(Box::new(Meets { before, after })));
        }
        Ok(true)
    }

    /// Takes in the states where a run ends, in the cells of its head.
    fn arrive(&mut self, system: System, head: usize) -> Result<(), Failed> {
        if system.is_empty() {
            return Ok(());
        }
        let state: Vec<usize> = (self.k..2 * self.k).collect();
        self.split(system, &state, head, Vec::new())
    }

    fn split(
        &mut self,
        mut system: System,
        state: &[usize],
        head: usize,
        key: Vec<i64>,
    ) -> Result<(), Failed> {
        let Some(mut simplex) = sharpen(&mut system, &mut Vec::new())? else { return Ok(()) };
        let plan = self.plan;
        let Some(item) = plan.keys[head].get(key.len()) else {
            return self.take_in(&system, &mut simplex, state, head, key);
        };
        for (value, part) in item.parts(&system, state)? {
            let mut key = key.clone();
            key.push(value);
            self.split(part, state, head, key)?;
        }
        Ok(())
    }

    fn take_in(
        &mut self,
        system: &System,
        simplex: &mut Simplex,
        state: &[usize],
        head: usize,
        key: Vec<i64>,
    ) -> Result<(), Failed> {
        let live = &self.survey.live[head];
        let forms: Vec<&Form> = live.iter().map(|&c| system.form(state[c])).collect();
        let base: Vec<i64> = forms.iter().map(|f| f.constant).collect();
        let mut parameters: Vec<u32> = forms.iter().flat_map(|f| f.terms.iter().map(|t| t.0)).collect();
        parameters.sort_unstable();
        parameters.dedup();
        let along = |p: &u32| -> Vec<i64> {
            let factor = |f: &&Form| f.terms.iter().find(|t| t.0 == *p).map_or(0, |t| t.1);
            forms.iter().map(factor).collect()
        };
        let directions: Vec<Vec<i64>> = parameters.iter().map(along).collect();
        let sums = &self.plan.sums[head];
        let wanted = |sum: &Sum, simplex: &mut Simplex| -> Result<Option<i64>, Overflow> {
            let terms: Vec<(usize, i64)> = sum.iter().map(|&(c, f)| (state[c], f)).collect();
            largest(&system.sum(&terms)?, simplex)
        };
        let id = (head, key);
        let at = match self.by_key.get(&id) {
            Some(&at) => {
                let cell = &mut self.cells[at];
                let mut changed = false;
                if !cell.lattice.contains(&base, &directions).unwrap_or(false) {
                    let before = cell.lattice.clone();
                    cell.lattice.take_in(&base, &directions);
                    changed |= cell.lattice != before;
                }
                for (n, sum) in sums.iter().enumerate() {
                    let Some(bound) = cell.bounds[n] else { continue };
                    let next = match wanted(sum, simplex).ok().flatten() {
                        Some(value) if value <= bound => continue,
                        Some(value) => {
                            cell.grown[n] = cell.grown[n].saturating_add(1);
                            if cell.grown[n] <= EXACT { Some(value) } else { self.thresholds.above(value) }
                        }
                        None => None,
                    };
                    cell.bounds[n] = next;
                    changed = true;
                }
                if !changed {
                    return Ok(());
                }
                at
            }
            None => {
                if self.cells.len() >= MOST_CELLS {
                    return Err(Failed::TooMany);
                }
                let mut lattice = Lattice::point(base.clone());
                lattice.take_in(&base, &directions);
                let mut bounds = Vec::with_capacity(sums.len());
                for sum in sums {
                    bounds.push(wanted(sum, simplex).ok().flatten());
                }
                let grown = vec![0; sums.len()];
                let (key, congruences) = (id.1.clone(), Vec::new());
                self.cells.push(Cell { head, key, lattice, congruences, bounds, grown, waiting: false });
                self.by_key.insert(id, self.cells.len() - 1);
                self.cells.len() - 1
            }
        };
        let cell = &mut self.cells[at];
        cell.congruences = cell.lattice.congruences();
        for congruence in &mut cell.congruences {
            congruence.terms.iter_mut().for_each(|t| t.0 = live[t.0]);
        }
        if !std::mem::replace(&mut cell.waiting, true) {
            self.open.push_back(at);
        }
        Ok(())
    }
}

/// The largest value of a form; `None` if there is none.
fn largest(form: &Form, simplex: &mut Simplex) -> Result<Option<i64>, Overflow> {
    if form.terms.is_empty() {
        return Ok(Some(form.constant));
    }
    match simplex.maximum(&form.terms)? {
        Optimum::Unbounded => Ok(None),
        Optimum::At(value, _) => {
            // The sum is a multiple of the common factor.
            let factor = common_factor(form.terms.iter().map(|t| t.1));
            let whole = value.floor().div_euclid(factor) * factor;
            whole.checked_add(form.constant).map(Some).ok_or(Overflow)
        }
    }
}

impl Item {
    /// The parts of a system in which the item has one value each.
    pub fn parts(&self, system: &System, state: &[usize]) -> Result<Vec<(i64, System)>, Overflow> {
        let mut out = Vec::new();
        match self {
            Item::Value(column, values) => {
                let form = system.form(state[*column]);
                if form.terms.is_empty() {
                    return Ok(vec![(form.constant, system.clone())]);
                }
                for &value in values {
                    let mut part = system.clone();
                    part.le(&[(state[*column], 1)], value)?;
                    part.le(&[(state[*column], -1)], -value)?;
                    if part.settle()? {
                        out.push((value, part));
                    }
                }
            }
            Item::Atom(sum, bound) => {
                let terms: Vec<(usize, i64)> = sum.iter().map(|&(c, f)| (state[c], f)).collect();
                let opposite: Vec<(usize, i64)> = terms.iter().map(|t| (t.0, -t.1)).collect();
                for (value, terms, bound) in [(1, terms, *bound), (0, opposite, -bound - 1)] {
                    let mut part = system.clone();
                    part.le(&terms, bound)?;
                    if part.settle()? {
                        out.push((value, part));
                    }
                }
            }
            Item::Rest(column, modulus) => {
                for rest in 0..*modulus {
                    let mut part = system.clone();
                    let congruence =
                        Congruence { terms: vec![(*column, 1)], residue: rest, modulus: *modulus };
                    congruent(&mut part, state, &congruence)?;
                    if part.settle()? {
                        out.push((rest, part));
                    }
                }
            }
        }
        Ok(out)
    }
}
