//! Invariants grown from single points: for rules with more alternatives than can be listed.
//!
//! At each control point one cell: affine equalities, and bounds of columns and of the sums that the claim is about. While a run of one rule leads
//! out of a cell, the state found there is taken in (Reps, Sagiv and Yorsh, *Symbolic implementation of the best transformer*). Whether there
//! is such a run is decided as a whole (`decide.rs`), with "outside of the cell" as one more disjunction. Bounds take the
//! value they need twice, then climb thresholds, so growth ends.

use std::collections::BTreeSet;

use quotient_proof_check::format as out;

use super::decide::Answer;
use super::evidence::{Missing, Writer};
use super::templates::Sum;
use super::walk::{Places, Walk};
use crate::constraint::{Linear, Overflow};
use crate::integer::Lattice;
use crate::invariant::thresholds::Thresholds;
use crate::program::Tree;

/// Times a bound takes the value it needs.
const EXACT: u8 = 2;
/// Columns up to which their differences are bounded, too.
const FEW_COLUMNS: usize = 8;

/// What is reached at a control point.
struct Grown {
    lattice: Lattice,
    bounds: Vec<Option<i64>>,
    grown: Vec<u8>,
}

/// Cells of all control points, by position in the flow; none where nothing is reached.
pub struct Reached {
    cells: Vec<Option<out::Cell>>,
}

impl Reached {
    /// Every state may be reached.
    pub fn everything(points: &[i64]) -> Reached {
        let anything = |p: &i64| Some(out::Cell { point: *p, bounds: Vec::new(), congruences: Vec::new() });
        Reached { cells: points.iter().map(anything).collect() }
    }

    /// The cell of a control point.
    pub fn cell(&self, point: usize) -> Option<&out::Cell> {
        self.cells[point].as_ref()
    }

    /// Those that there are, by ascending control point.
    pub fn list(&self) -> Vec<out::Cell> {
        let mut list: Vec<out::Cell> = self.cells.iter().flatten().cloned().collect();
        list.sort_by_key(|c| c.point);
        list
    }
}

/// Whether a cell says nothing.
pub fn is_everything(cell: &out::Cell) -> bool {
    cell.bounds.is_empty() && cell.congruences.is_empty()
}

/// Says of the state of a walk that it is in a cell.
pub fn enter(walk: &mut Walk, cell: &out::Cell) -> Result<(), Overflow> {
    let state = walk.state.clone();
    let place = |terms: &[(usize, i64)]| -> Vec<(usize, i64)> {
        terms.iter().map(|&(n, c)| (state[n - 1], c)).collect()
    };
    for l in &cell.bounds {
        walk.system.le(&place(&l.terms), l.bound)?;
    }
    for c in &cell.congruences {
        walk.system.equal(&place(&c.terms), c.residue)?;
    }
    walk.system.settle()?;
    Ok(())
}

/// What is true of a state outside of a cell: one of these, in the order of the checker.
pub fn outside(cell: &out::Cell) -> Result<Vec<Tree>, Overflow> {
    let le = |terms: &[(usize, i64)], sign: i64, bound: i64| {
        Ok(Tree::Le(Linear { terms: terms.iter().map(|&(n, c)| (n, sign * c)).collect(), bound }))
    };
    let mut list = Vec::new();
    for l in &cell.bounds {
        list.push(le(&l.terms, -1, l.bound.checked_add(1).and_then(i64::checked_neg).ok_or(Overflow)?)?);
    }
    for c in &cell.congruences {
        list.push(le(&c.terms, 1, c.residue.checked_sub(1).ok_or(Overflow)?)?);
        list.push(le(&c.terms, -1, c.residue.checked_add(1).and_then(i64::checked_neg).ok_or(Overflow)?)?);
    }
    Ok(list)
}

/// The sums to bound: columns, those of the claim, differences if there are few columns.
fn sums(k: usize, control: Option<usize>, bad: &Tree) -> Vec<Sum> {
    let columns: Vec<usize> = (0..k).filter(|c| Some(*c) != control).collect();
    let mut all: BTreeSet<Sum> = columns.iter().map(|&c| vec![(c, 1)]).collect();
    bad.each(&mut |l| {
        if l.terms.iter().all(|t| (1..=k).contains(&t.0) && Some(t.0 - 1) != control) && l.terms.len() > 1 {
            all.insert(l.terms.iter().map(|t| (t.0 - 1, t.1)).collect());
        }
    });
    if columns.len() <= FEW_COLUMNS {
        for (at, &a) in columns.iter().enumerate() {
            all.extend(columns[at + 1..].iter().map(|&b| vec![(a, 1), (b, -1)]));
        }
    }
    let opposite: Vec<Sum> = all.iter().map(|s| s.iter().map(|t| (t.0, -t.1)).collect()).collect();
    all.extend(opposite);
    all.into_iter().collect()
}

impl Grown {
    fn new(state: Vec<i64>, sums: &[Sum]) -> Grown {
        let bounds = sums.iter().map(|s| value(s, &state)).collect();
        Grown { lattice: Lattice::point(state), bounds, grown: vec![0; sums.len()] }
    }

    fn take_in(&mut self, state: &[i64], sums: &[Sum], thresholds: &Thresholds) {
        self.lattice.take_in(state, &[]);
        for (at, sum) in sums.iter().enumerate() {
            let Some(bound) = self.bounds[at] else { continue };
            let needed = value(sum, state);
            if needed.is_some_and(|v| v <= bound) {
                continue;
            }
            self.grown[at] = self.grown[at].saturating_add(1);
            self.bounds[at] = match needed {
                Some(v) if self.grown[at] <= EXACT => Some(v),
                Some(v) => thresholds.above(v),
                None => None,
            };
        }
    }

    /// As certificates have it. What equalities say is not said again by bounds.
    fn cell(&self, point: i64, sums: &[Sum], control: Option<usize>) -> out::Cell {
        let node = |terms: &[(usize, i64)]| terms.iter().map(|t| (t.0 + 1, t.1)).collect();
        let rows = self.lattice.congruences();
        let about = |c: &crate::integer::Congruence| match c.terms[..] {
            [(column, _)] => Some(column),
            _ => None,
        };
        let equalities =
            rows.iter().filter(|c| c.modulus == 0 && about(c).is_none_or(|c| Some(c) != control));
        let congruences: Vec<out::Congruence> = equalities
            .map(|c| out::Congruence { terms: node(&c.terms), residue: c.residue, modulus: 0 })
            .collect();
        let fixed = |sum: &Sum| {
            congruences
                .iter()
                .any(|c| matches!((&c.terms[..], &sum[..]), ([(n, _)], [(s, _)]) if *n == s + 1))
        };
        let bounded = sums.iter().zip(&self.bounds).filter(|(sum, _)| !fixed(sum));
        let bounds =
            bounded.filter_map(|(sum, b)| b.map(|bound| out::Inequality { terms: node(sum), bound }));
        out::Cell { point, bounds: bounds.collect(), congruences }
    }
}

fn value(sum: &Sum, state: &[i64]) -> Option<i64> {
    let total: i128 = sum.iter().map(|&(c, f)| i128::from(f) * i128::from(state[c])).sum();
    i64::try_from(total).ok().filter(|v| v.unsigned_abs() < 1 << 40)
}

impl<'a> Writer<'a> {
    /// Cells that no rule leads out of.
    pub(super) fn reached(&mut self) -> Result<Reached, Missing> {
        let (program, flow) = (self.program, self.flow);
        let sums = sums(program.width(), flow.column, self.claim.bad);
        let thresholds = Thresholds::of(program);
        let mut all: Vec<Option<Grown>> = flow.points.iter().map(|_| None).collect();
        loop {
            let mut changed = false;
            let facts = flow.facts.iter().map(|&(rule, to)| (None, rule, to));
            let steps = flow.steps.iter().map(|s| (Some(s.from), s.rule, s.to));
            for (from, rule, to) in facts.chain(steps) {
                loop {
                    let cell = |p: usize| all[p].as_ref().map(|g| g.cell(flow.points[p], &sums, flow.column));
                    let start = match from {
                        None => None,
                        Some(from) => match cell(from) {
                            None => break,
                            start => start,
                        },
                    };
                    let target = cell(to);
                    let Some(state) = self.leaves(start.as_ref(), from, rule, target.as_ref())? else {
                        break;
                    };
                    changed = true;
                    match &mut all[to] {
                        Some(grown) => grown.take_in(&state, &sums, &thresholds),
                        none => *none = Some(Grown::new(state, &sums)),
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let cell =
            |(p, g): (usize, &Option<Grown>)| g.as_ref().map(|g| g.cell(flow.points[p], &sums, flow.column));
        Ok(Reached { cells: all.iter().enumerate().map(cell).collect() })
    }

    /// The walk by one rule from a cell.
    fn stepped(
        &self,
        start: Option<&out::Cell>,
        from: Option<usize>,
        rule: usize,
    ) -> Result<Walk<'a>, Overflow> {
        let mut walk = Walk::new(self.program.width());
        if let Some(from) = from {
            self.flow.place(&mut walk, from)?;
        }
        if let Some(cell) = start {
            enter(&mut walk, cell)?;
        }
        walk.forwards(&self.program.rules[rule])
    }

    /// A state outside of a cell that a rule leads to.
    fn leaves(
        &mut self,
        start: Option<&out::Cell>,
        from: Option<usize>,
        rule: usize,
        target: Option<&out::Cell>,
    ) -> Result<Option<Vec<i64>>, Missing> {
        let opposites = target.map(outside).transpose()?;
        let state_of = |state: &[usize], values: &[i64]| state.iter().map(|&v| values[v]).collect();
        let walk = self.stepped(start, from, rule)?;
        let state = walk.state.clone();
        // What is decided here is not part of the proof yet.
        let written = self.written();
        let answer = match &opposites {
            None => self.decide(walk)?,
            Some(list) => self.decide(with(walk, list))?,
        };
        self.forget(written);
        Ok(match answer {
            Answer::Impossible(_) => None,
            Answer::Possible(values) => Some(state_of(&state, &values)),
        })
    }

    /// Evidence that a rule leads from a cell to another, or nowhere.
    pub(super) fn kept(
        &mut self,
        from: Option<usize>,
        rule: usize,
        to: usize,
        reached: &Reached,
        number: Option<usize>,
    ) -> Result<usize, Missing> {
        let start = from.and_then(|f| reached.cell(f));
        let walk = self.stepped(start, from, rule)?;
        let Some((cell, number)) = reached.cell(to).zip(number) else {
            return match self.decide(walk)? {
                Answer::Impossible(at) => Ok(at),
                Answer::Possible(_) => Err(Missing::TooLong),
            };
        };
        if is_everything(cell) {
            return self.add(out::Evidence::Inside { cell: number, given: Vec::new(), bounds: Vec::new() });
        }
        let opposites = outside(cell)?;
        match self.decide(with(walk, &opposites))? {
            Answer::Impossible(at) => self.add(out::Evidence::Outside(number, at)),
            Answer::Possible(_) => Err(Missing::TooLong),
        }
    }
}

/// The walk with one more disjunction that waits, about its state.
fn with<'t>(walk: Walk<'t>, list: &'t [Tree]) -> Walk<'t> {
    let places: Places = std::rc::Rc::new(std::iter::once(0).chain(walk.state.iter().copied()).collect());
    let mut walk = walk;
    walk.wait(list, places);
    walk
}
