//! Linear programs over the rationals, exactly.
//!
//! The tableau of Dutertre and de Moura (*A fast linear-arithmetic solver for DPLL(T)*): every row of a system has a slack
//! variable equal to its left side with the row's bound above it; parameters are free. Bland's rule chooses, so pivoting
//! ends. An infeasible system and an optimum are both explained by multipliers of rows.

use std::collections::HashMap;

use super::rational::Rational;
use super::system::{Form, System};
use crate::constraint::Overflow;

/// Pivots for one question; more are given up.
const MOST_PIVOTS: usize = 3_000;

/// What maximising gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Optimum {
    /// The largest value, and the combination of rows (by their numbers in the system) that shows that it is.
    At(Rational, Vec<(usize, Rational)>),
    /// There is none.
    Unbounded,
}

/// A tableau for the rows of a system.
#[derive(Clone, Debug)]
pub struct Simplex {
    /// Parameters in use, ascending; variable `i` is the i-th of them.
    parameters: Vec<u32>,
    /// For each slack variable, the row of the system.
    rows: Vec<usize>,
    bounds: Vec<Rational>,
    basic: Vec<usize>,
    other: Vec<usize>,
    table: Vec<Vec<Rational>>,
    values: Vec<Rational>,
}

impl Simplex {
    /// The tableau of a system, at the origin. Of rows with the same left side the tightest is taken.
    pub fn new(system: &System) -> Simplex {
        let mut chosen: Vec<usize> = Vec::new();
        let mut known: HashMap<&[(u32, i64)], usize> = HashMap::new();
        for (at, row) in system.rows().iter().enumerate().filter(|(_, r)| !r.terms.is_empty()) {
            match known.get(&row.terms[..]) {
                Some(&place) if row.bound < system.rows()[chosen[place]].bound => chosen[place] = at,
                Some(_) => {}
                None => {
                    known.insert(&row.terms, chosen.len());
                    chosen.push(at);
                }
            }
        }
        let mut parameters: Vec<u32> =
            chosen.iter().flat_map(|&r| system.rows()[r].terms.iter().map(|t| t.0)).collect();
        parameters.sort_unstable();
        parameters.dedup();
        let n = parameters.len();
        let mut table = Vec::with_capacity(chosen.len());
        for &r in &chosen {
            let mut line = vec![Rational::ZERO; n];
            for &(p, c) in &system.rows()[r].terms {
                // Every parameter of a row was collected above.
                if let Ok(at) = parameters.binary_search(&p) {
                    line[at] = Rational::whole(c);
                }
            }
            table.push(line);
        }
        Simplex {
            bounds: chosen.iter().map(|&r| Rational::whole(system.rows()[r].bound)).collect(),
            basic: (n..n + chosen.len()).collect(),
            other: (0..n).collect(),
            values: vec![Rational::ZERO; n + chosen.len()],
            rows: chosen,
            parameters,
            table,
        }
    }

    fn bound(&self, variable: usize) -> Option<Rational> {
        variable.checked_sub(self.parameters.len()).map(|slack| self.bounds[slack])
    }

    /// Whether a variable that is not basic may grow.
    fn may_grow(&self, variable: usize) -> bool {
        self.bound(variable).is_none_or(|b| self.values[variable] < b)
    }

    /// Changes a variable that is not basic, and what depends on it.
    fn shift(&mut self, column: usize, by: Rational) -> Result<(), Overflow> {
        if by.is_zero() {
            return Ok(());
        }
        let variable = self.other[column];
        self.values[variable] = self.values[variable].plus(by)?;
        for (line, &b) in self.table.iter().zip(&self.basic) {
            if !line[column].is_zero() {
                self.values[b] = self.values[b].plus(line[column].times(by)?)?;
            }
        }
        Ok(())
    }

    /// Exchanges a basic variable and one that is not.
    fn pivot(&mut self, row: usize, column: usize) -> Result<(), Overflow> {
        let mut line = std::mem::take(&mut self.table[row]);
        let pivot = line[column];
        for (c, entry) in line.iter_mut().enumerate() {
            if c == column {
                *entry = Rational::ONE.over(pivot)?;
            } else if !entry.is_zero() {
                *entry = entry.over(pivot)?.negated();
            }
        }
        for (r, other) in self.table.iter_mut().enumerate() {
            if r == row || other[column].is_zero() {
                continue;
            }
            let factor = std::mem::replace(&mut other[column], Rational::ZERO);
            for (entry, own) in other.iter_mut().zip(&line) {
                if !own.is_zero() {
                    *entry = entry.plus(factor.times(*own)?)?;
                }
            }
        }
        self.table[row] = line;
        std::mem::swap(&mut self.basic[row], &mut self.other[column]);
        Ok(())
    }

    /// `None` if there is a solution; otherwise rows that together are impossible, with positive multipliers.
    pub fn conflict(&mut self) -> Result<Option<Vec<(usize, Rational)>>, Overflow> {
        for _ in 0..MOST_PIVOTS {
            let broken = (0..self.basic.len())
                .filter(|&r| self.bound(self.basic[r]).is_some_and(|b| self.values[self.basic[r]] > b))
                .min_by_key(|&r| self.basic[r]);
            let Some(row) = broken else { return Ok(None) };
            let variable = self.basic[row];
            let able = |c: &usize| {
                let a = self.table[row][*c];
                a.is_positive() || a.is_negative() && self.may_grow(self.other[*c])
            };
            let column = (0..self.other.len()).filter(able).min_by_key(|&c| self.other[c]);
            let Some(column) = column else {
                // All that could help is at its bound: parameters can always move, so these are slack variables.
                let slack = |v: usize| self.rows[v - self.parameters.len()];
                let mut why = vec![(slack(variable), Rational::ONE)];
                for (c, a) in self.table[row].iter().enumerate().filter(|(_, a)| !a.is_zero()) {
                    why.push((slack(self.other[c]), a.negated()));
                }
                return Ok(Some(why));
            };
            let target = self.bound(variable).unwrap_or(Rational::ZERO);
            let by = target.minus(self.values[variable])?.over(self.table[row][column])?;
            self.shift(column, by)?;
            self.pivot(row, column)?;
        }
        Err(Overflow)
    }

    /// A sum of parameters over the variables that are not basic; `None` if a parameter occurs in no row: it is free.
    fn objective(&self, terms: &[(u32, i64)]) -> Result<Option<Vec<Rational>>, Overflow> {
        let mut out = vec![Rational::ZERO; self.other.len()];
        for &(parameter, factor) in terms {
            let Ok(variable) = self.parameters.binary_search(&parameter) else { return Ok(None) };
            let factor = Rational::whole(factor);
            if let Some(column) = self.other.iter().position(|&v| v == variable) {
                out[column] = out[column].plus(factor)?;
            } else if let Some(row) = self.basic.iter().position(|&v| v == variable) {
                for (entry, own) in out.iter_mut().zip(&self.table[row]) {
                    if !own.is_zero() {
                        *entry = entry.plus(factor.times(*own)?)?;
                    }
                }
            }
        }
        Ok(Some(out))
    }

    /// The largest value of a sum of parameters. The rows have a solution, and the tableau is at one
    /// ([`conflict`](Simplex::conflict) was asked and found none).
    pub fn maximum(&mut self, terms: &[(u32, i64)]) -> Result<Optimum, Overflow> {
        for _ in 0..MOST_PIVOTS {
            let Some(objective) = self.objective(terms)? else { return Ok(Optimum::Unbounded) };
            let able = |c: &usize| {
                objective[*c].is_negative() || objective[*c].is_positive() && self.may_grow(self.other[*c])
            };
            let column = (0..self.other.len()).filter(able).min_by_key(|&c| self.other[c]);
            let Some(column) = column else {
                let mut value = Rational::ZERO;
                let mut why = Vec::new();
                for (c, factor) in objective.into_iter().enumerate().filter(|(_, f)| !f.is_zero()) {
                    let slack = self.other[c] - self.parameters.len();
                    value = value.plus(factor.times(self.bounds[slack])?)?;
                    why.push((self.rows[slack], factor));
                }
                return Ok(Optimum::At(value, why));
            };
            let up = objective[column].is_positive();
            let entering = self.other[column];
            let mut limit: Option<(Rational, usize, Option<usize>)> = match self.bound(entering) {
                Some(b) if up => Some((b.minus(self.values[entering])?, entering, None)),
                _ => None,
            };
            for row in 0..self.basic.len() {
                let rate = if up { self.table[row][column] } else { self.table[row][column].negated() };
                let Some(bound) = self.bound(self.basic[row]).filter(|_| rate.is_positive()) else {
                    continue;
                };
                let room = bound.minus(self.values[self.basic[row]])?.over(rate)?;
                if limit.is_none_or(|(r, v, _)| room < r || room == r && self.basic[row] < v) {
                    limit = Some((room, self.basic[row], Some(row)));
                }
            }
            let Some((room, _, row)) = limit else { return Ok(Optimum::Unbounded) };
            self.shift(column, if up { room } else { room.negated() })?;
            if let Some(row) = row {
                self.pivot(row, column)?;
            }
        }
        Err(Overflow)
    }

    /// The rows that hold with equality at the point where the tableau is.
    pub fn tight(&self) -> Vec<usize> {
        let n = self.parameters.len();
        (0..self.rows.len()).filter(|&s| self.values[n + s] == self.bounds[s]).map(|s| self.rows[s]).collect()
    }

    /// The value of a form at the point where the tableau is, if it is whole.
    pub fn value(&self, form: &Form) -> Result<Option<i64>, Overflow> {
        let value = self.at(form)?;
        Ok((value.denominator() == 1).then_some(value.numerator()))
    }

    /// The value of a form at the point where the tableau is.
    pub fn at(&self, form: &Form) -> Result<Rational, Overflow> {
        let mut sum = Rational::whole(form.constant);
        for &(p, c) in &form.terms {
            if let Ok(variable) = self.parameters.binary_search(&p) {
                sum = sum.plus(Rational::whole(c).times(self.values[variable])?)?;
            }
        }
        Ok(sum)
    }

    /// A parameter whose value is not whole, with that value.
    pub fn fraction(&self) -> Option<(u32, Rational)> {
        let at = self.parameters.iter().zip(&self.values);
        at.map(|(p, v)| (*p, *v)).find(|(_, v)| v.denominator() != 1)
    }
}
