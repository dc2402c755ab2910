//! Conjunctions: equations solved over the integers, inequalities over what is left.
//!
//! Every inequality that is *adopted* has a number, in the order of adoption, and keeps it; proofs name rows by these
//! numbers. What a row says about the parameters depends on the parameters chosen, but its common factor, and
//! so its rounded bound, does not: a unimodular change of parameters keeps it.

use std::collections::HashMap;

use super::{common_factor, narrow};
use crate::constraint::Overflow;

/// Terms over parameters, ascending.
pub type Terms = Vec<(u32, i64)>;

/// An affine form over parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The constant.
    pub constant: i64,
    /// Parameters with their coefficients, ascending; none of the coefficients is 0.
    pub terms: Terms,
}

/// `terms <= bound` over parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) terms: Terms,
    pub(super) bound: i64,
}

/// A conjunction over integer variables.
#[derive(Clone, Debug, Default)]
pub struct System {
    forms: Vec<Form>,
    parameters: u32,
    rows: Vec<Row>,
    empty: bool,
}

/// `one + factor * other`.
fn combined(one: &[(u32, i64)], other: &[(u32, i64)], factor: i64) -> Result<Terms, Overflow> {
    let mut out = Vec::with_capacity(one.len() + other.len());
    let (mut a, mut b) = (0, 0);
    while a < one.len() || b < other.len() {
        let left = one.get(a).map_or(u32::MAX, |t| t.0);
        let right = other.get(b).map_or(u32::MAX, |t| t.0);
        let parameter = left.min(right);
        let mut sum: i128 = 0;
        if left == parameter {
            sum += i128::from(one[a].1);
            a += 1;
        }
        if right == parameter {
            sum += i128::from(other[b].1) * i128::from(factor);
            b += 1;
        }
        if sum != 0 {
            out.push((parameter, narrow(sum)?));
        }
    }
    Ok(out)
}

fn tightened(mut row: Row) -> Row {
    let factor = common_factor(row.terms.iter().map(|t| t.1));
    if factor > 1 {
        row.terms.iter_mut().for_each(|t| t.1 /= factor);
        row.bound = row.bound.div_euclid(factor);
    }
    row
}

impl Form {
    /// `self + factor * other`.
    pub fn plus(&self, other: &Form, factor: i64) -> Result<Form, Overflow> {
        let constant = i128::from(self.constant) + i128::from(other.constant) * i128::from(factor);
        Ok(Form { constant: narrow(constant)?, terms: combined(&self.terms, &other.terms, factor)? })
    }

    /// With `parameter` replaced by a form that does not mention it; `None` if there is nothing to replace.
    fn replaced(&self, parameter: u32, by: &Form) -> Result<Option<Form>, Overflow> {
        let Ok(at) = self.terms.binary_search_by_key(&parameter, |t| t.0) else { return Ok(None) };
        let factor = self.terms[at].1;
        let terms = self.terms.iter().copied().filter(|t| t.0 != parameter).collect();
        Form { constant: self.constant, terms }.plus(by, factor).map(Some)
    }
}

impl System {
    /// Whether it was found to have no solution.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// A new variable.
    pub fn variable(&mut self) -> usize {
        let parameter = self.parameter();
        self.forms.push(Form { constant: 0, terms: vec![(parameter, 1)] });
        self.forms.len() - 1
    }

    fn parameter(&mut self) -> u32 {
        self.parameters += 1;
        self.parameters - 1
    }

    /// What a variable is.
    pub fn form(&self, variable: usize) -> &Form {
        &self.forms[variable]
    }

    /// A sum of variables as a form over the parameters.
    pub fn sum(&self, terms: &[(usize, i64)]) -> Result<Form, Overflow> {
        let mut out = Form::default();
        for &(variable, factor) in terms {
            out = out.plus(&self.forms[variable], factor)?;
        }
        Ok(out)
    }

    /// Number of rows adopted.
    pub fn adopted(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// A row, as terms over parameters and a bound.
    pub fn row(&self, number: usize) -> (&[(u32, i64)], i64) {
        (&self.rows[number].terms, self.rows[number].bound)
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.forms.len()
    }

    /// The rows that say something, as terms over parameters and bounds.
    pub fn constraints(&self) -> impl Iterator<Item = (&[(u32, i64)], i64)> {
        self.rows.iter().filter(|r| !r.terms.is_empty()).map(|r| (&r.terms[..], r.bound))
    }

    /// Adopts `terms <= bound`.
    pub fn le(&mut self, terms: &[(usize, i64)], bound: i64) -> Result<(), Overflow> {
        let sum = self.sum(terms)?;
        self.adopt(sum.terms, narrow(i128::from(bound) - i128::from(sum.constant))?);
        Ok(())
    }

    /// Adopts a row over parameters.
    pub fn adopt(&mut self, terms: Terms, bound: i64) {
        let row = tightened(Row { terms, bound });
        self.empty |= row.terms.is_empty() && row.bound < 0;
        self.rows.push(row);
    }

    /// Adopts a combination of rows.
    pub fn derive(&mut self, multipliers: &[(usize, i64)]) -> Result<(), Overflow> {
        let (mut terms, mut bound) = (Vec::new(), 0);
        for &(row, factor) in multipliers {
            let row = &self.rows[row];
            terms = combined(&terms, &row.terms, factor)?;
            bound = narrow(i128::from(bound) + i128::from(row.bound) * i128::from(factor))?;
        }
        self.adopt(terms, bound);
        Ok(())
    }

    /// Adds the equation `terms = value`.
    pub fn equal(&mut self, terms: &[(usize, i64)], value: i64) -> Result<(), Overflow> {
        let mut form = self.sum(terms)?;
        form.constant = narrow(i128::from(form.constant) - i128::from(value))?;
        self.solve(form, &mut [])
    }

    /// Replaces a parameter everywhere.
    fn replace(&mut self, parameter: u32, by: &Form, waiting: &mut [Form]) -> Result<(), Overflow> {
        for form in self.forms.iter_mut().chain(waiting) {
            if let Some(next) = form.replaced(parameter, by)? {
                *form = next;
            }
        }
        for row in &mut self.rows {
            let Ok(at) = row.terms.binary_search_by_key(&parameter, |t| t.0) else { continue };
            let factor = row.terms.remove(at).1;
            let terms = combined(&row.terms, &by.terms, factor)?;
            let bound = narrow(i128::from(row.bound) - i128::from(by.constant) * i128::from(factor))?;
            *row = tightened(Row { terms, bound });
            self.empty |= row.terms.is_empty() && row.bound < 0;
        }
        Ok(())
    }

    /// Solves `form = 0` for one parameter, after changes of parameters that make its coefficient 1 or -1.
    fn solve(&mut self, mut form: Form, waiting: &mut [Form]) -> Result<(), Overflow> {
        loop {
            if form.terms.is_empty() {
                self.empty |= form.constant != 0;
                return Ok(());
            }
            let factor = common_factor(form.terms.iter().map(|t| t.1));
            if form.constant % factor != 0 {
                self.empty = true;
                return Ok(());
            }
            form.constant /= factor;
            form.terms.iter_mut().for_each(|t| t.1 /= factor);
            let Some(&(parameter, least)) = form.terms.iter().min_by_key(|t| t.1.unsigned_abs()) else {
                return Ok(());
            };
            let terms: Terms = form.terms.iter().copied().filter(|t| t.0 != parameter).collect();
            if least.unsigned_abs() == 1 {
                let by = Form::default().plus(&Form { constant: form.constant, terms }, -least)?;
                return self.replace(parameter, &by, waiting);
            }
            // parameter = fresh - sum of quotients: the other coefficients become remainders.
            let fresh = self.parameter();
            let quotient = |t: &(u32, i64)| (t.0, -t.1.div_euclid(least));
            let mut terms: Terms = terms.iter().map(quotient).filter(|t| t.1 != 0).collect();
            terms.push((fresh, 1));
            let by = Form { constant: 0, terms };
            self.replace(parameter, &by, waiting)?;
            if let Some(next) = form.replaced(parameter, &by)? {
                form = next;
            }
        }
    }

    /// Turns pairs of opposite rows that leave one value into equations, until there are none; `false` when nothing is left.
    pub fn settle(&mut self) -> Result<bool, Overflow> {
        while !self.empty {
            let mut tightest: HashMap<&[(u32, i64)], i64> = HashMap::new();
            for row in self.rows.iter().filter(|r| !r.terms.is_empty()) {
                let bound = tightest.entry(&row.terms).or_insert(row.bound);
                *bound = row.bound.min(*bound);
            }
            let (mut equations, mut impossible) = (Vec::new(), false);
            for (terms, bound) in tightest.iter().filter(|(terms, _)| terms[0].1 > 0) {
                let opposite: Terms = terms.iter().map(|t| (t.0, -t.1)).collect();
                let Some(other) = tightest.get(&opposite[..]) else { continue };
                let room = i128::from(*bound) + i128::from(*other);
                impossible |= room < 0;
                if room == 0 {
                    equations.push(Form { constant: -bound, terms: terms.to_vec() });
                }
            }
            self.empty |= impossible;
            if equations.is_empty() || self.empty {
                break;
            }
            // Short equations first: their solutions make the others shorter. (The map has no order of its own.)
            equations.sort_by(|a, b| (a.terms.len(), &a.terms).cmp(&(b.terms.len(), &b.terms)));
            for at in 0..equations.len() {
                let (done, waiting) = equations.split_at_mut(at + 1);
                self.solve(std::mem::take(&mut done[at]), waiting)?;
                if self.empty {
                    break;
                }
            }
        }
        Ok(!self.empty)
    }

    /// Keeps the given variables, in this order, and the rows that say something.
    pub fn select(&self, variables: &[usize]) -> System {
        let forms = variables.iter().map(|&v| self.forms[v].clone()).collect();
        let mut rows: Vec<Row> = Vec::new();
        for row in self.rows.iter().filter(|r| !r.terms.is_empty()) {
            match rows.iter_mut().find(|r| r.terms == row.terms) {
                Some(known) => known.bound = known.bound.min(row.bound),
                None => rows.push(row.clone()),
            }
        }
        System { forms, parameters: self.parameters, rows, empty: self.empty }
    }
}
