//! The checker's arithmetic for general linear constraints: equations are solved, rows are added up. Nothing is searched for.
//!
//! A variable is a sum of *parameters* and a constant. An equation is solved for one parameter; where no coefficient is 1 or
//! -1, parameters are exchanged for others first, by Euclid's algorithm, such that both determine each other over the
//! integers. So the parameters may have any integer values: as far as the equations go, these are all solutions. A row `sum <= bound` is
//! divided by the common factor of its coefficients, and its bound rounded down, which loses no integer
//! solution. Two rows with opposite sums leave one value (an equation), or none (a contradiction), or several.
//!
//! All numbers are checked; one that leaves 128 bits is a refusal.

use std::collections::BTreeMap;

use crate::effort::Effort;
use crate::format::Combination;
use crate::trees::Refusal;

/// Parameters with coefficients other than 0, ascending.
type Sum = Vec<(usize, i128)>;

#[derive(Clone, Debug, Default)]
struct Form {
    constant: i128,
    sum: Sum,
}

#[derive(Clone, Debug)]
struct Row {
    sum: Sum,
    bound: i128,
}

/// What is known of some variables.
#[derive(Clone, Debug)]
pub struct Known<'e> {
    effort: &'e Effort,
    variables: Vec<Form>,
    parameters: usize,
    rows: Vec<Row>,
    impossible: bool,
}

fn large() -> Refusal {
    "a number is too large".into()
}

/// `a + factor * b`.
fn plus(a: &Sum, b: &Sum, factor: i128) -> Result<Sum, Refusal> {
    let mut all: BTreeMap<usize, i128> = a.iter().copied().collect();
    for &(p, c) in b {
        let entry = all.entry(p).or_insert(0);
        *entry = factor.checked_mul(c).and_then(|x| entry.checked_add(x)).ok_or_else(large)?;
    }
    Ok(all.into_iter().filter(|e| e.1 != 0).collect())
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The common factor of the coefficients; at least 1.
fn factor(sum: &Sum) -> Result<i128, Refusal> {
    let factor = sum.iter().fold(0, |g, (_, c)| gcd(c.unsigned_abs(), g)).max(1);
    i128::try_from(factor).map_err(|_| large())
}

impl Form {
    fn plus(&self, other: &Form, factor: i128) -> Result<Form, Refusal> {
        let constant = factor.checked_mul(other.constant).and_then(|c| self.constant.checked_add(c));
        Ok(Form { constant: constant.ok_or_else(large)?, sum: plus(&self.sum, &other.sum, factor)? })
    }
}

impl<'e> Known<'e> {
    /// Nothing, about no variables.
    pub fn new(effort: &'e Effort) -> Known<'e> {
        Known { effort, variables: Vec::new(), parameters: 0, rows: Vec::new(), impossible: false }
    }

    /// Whether it is contradictory.
    pub fn is_impossible(&self) -> bool {
        self.impossible
    }

    /// Pays for a copy.
    pub fn copy(&self) -> Result<Known<'e>, Refusal> {
        let terms = self.rows.iter().map(|r| 1 + r.sum.len()).sum::<usize>();
        self.effort.spend(terms + 2 * self.variables.len())?;
        Ok(self.clone())
    }

    /// Another variable.
    pub fn variable(&mut self) -> usize {
        self.variables.push(Form { constant: 0, sum: vec![(self.parameters, 1)] });
        self.parameters += 1;
        self.variables.len() - 1
    }

    fn form(&self, terms: &[(usize, i64)]) -> Result<Form, Refusal> {
        let mut form = Form::default();
        for &(variable, c) in terms {
            let own = self.variables.get(variable).ok_or("a variable is not there")?;
            self.effort.spend(1 + own.sum.len() + form.sum.len())?;
            form = form.plus(own, c.into())?;
        }
        Ok(form)
    }

    /// Adds the row `terms <= bound`.
    pub fn le(&mut self, terms: &[(usize, i64)], bound: i64) -> Result<(), Refusal> {
        let form = self.form(terms)?;
        let bound = i128::from(bound).checked_sub(form.constant).ok_or_else(large)?;
        self.row(form.sum, bound)
    }

    /// Whether `terms <= bound` is false whatever the parameters are.
    pub fn excludes(&self, terms: &[(usize, i64)], bound: i64) -> Result<bool, Refusal> {
        let form = self.form(terms)?;
        Ok(form.sum.is_empty() && form.constant > i128::from(bound))
    }

    fn row(&mut self, sum: Sum, bound: i128) -> Result<(), Refusal> {
        let row = rounded(Row { sum, bound })?;
        self.impossible |= row.sum.is_empty() && row.bound < 0;
        self.rows.push(row);
        Ok(())
    }

    /// Adds a combination of rows.
    pub fn combine(&mut self, combination: &Combination) -> Result<(), Refusal> {
        let (mut sum, mut bound) = (Sum::new(), 0i128);
        for &(number, times) in combination {
            if times <= 0 {
                return Err("a row is not multiplied by a positive number".into());
            }
            let row = self.rows.get(number).ok_or("a combination names a row that is not there")?;
            self.effort.spend(1 + row.sum.len() + sum.len())?;
            sum = plus(&sum, &row.sum, times.into())?;
            let more = i128::from(times).checked_mul(row.bound);
            bound = more.and_then(|m| bound.checked_add(m)).ok_or_else(large)?;
        }
        self.row(sum, bound)
    }

    /// Adds the equation `terms = value`.
    pub fn equal(&mut self, terms: &[(usize, i64)], value: i64) -> Result<(), Refusal> {
        let mut form = self.form(terms)?;
        form.constant = form.constant.checked_sub(value.into()).ok_or_else(large)?;
        self.solve(form)
    }

    /// Whether `terms = residue` modulo `modulus` (0: equality) whatever the parameters are.
    pub fn congruent(&self, terms: &[(usize, i64)], residue: i64, modulus: i64) -> Result<bool, Refusal> {
        let form = self.form(terms)?;
        let rest = form.constant.checked_sub(residue.into()).ok_or_else(large)?;
        Ok(match i128::from(modulus) {
            0 => form.sum.is_empty() && rest == 0,
            m => rest % m == 0 && form.sum.iter().all(|t| t.1 % m == 0),
        })
    }

    /// Puts a form in the place of a parameter.
    fn replace(&mut self, parameter: usize, by: &Form) -> Result<(), Refusal> {
        let without = |sum: &Sum| -> Option<(Sum, i128)> {
            let at = sum.binary_search_by_key(&parameter, |t| t.0).ok()?;
            let mut rest = sum.clone();
            let c = rest.remove(at).1;
            Some((rest, c))
        };
        self.effort.spend(self.variables.len() + self.rows.len())?;
        for form in &mut self.variables {
            if let Some((sum, c)) = without(&form.sum) {
                self.effort.spend(sum.len() + by.sum.len())?;
                *form = Form { constant: form.constant, sum }.plus(by, c)?;
            }
        }
        for row in &mut self.rows {
            if let Some((sum, c)) = without(&row.sum) {
                self.effort.spend(sum.len() + by.sum.len())?;
                let moved = c.checked_mul(by.constant).and_then(|m| row.bound.checked_sub(m));
                *row = rounded(Row { sum: plus(&sum, &by.sum, c)?, bound: moved.ok_or_else(large)? })?;
                self.impossible |= row.sum.is_empty() && row.bound < 0;
            }
        }
        Ok(())
    }

    /// Solves `form = 0`.
    fn solve(&mut self, mut form: Form) -> Result<(), Refusal> {
        loop {
            if form.sum.is_empty() {
                self.impossible |= form.constant != 0;
                return Ok(());
            }
            let common = factor(&form.sum)?;
            if form.constant % common != 0 {
                // A multiple of `common` is never this constant.
                self.impossible = true;
                return Ok(());
            }
            form.constant /= common;
            form.sum.iter_mut().for_each(|t| t.1 /= common);
            let Some(&(parameter, least)) = form.sum.iter().min_by_key(|t| t.1.unsigned_abs()) else {
                return Ok(());
            };
            let rest: Sum = form.sum.iter().copied().filter(|t| t.0 != parameter).collect();
            if least == 1 || least == -1 {
                let by = Form::default().plus(&Form { constant: form.constant, sum: rest }, -least)?;
                return self.replace(parameter, &by);
            }
            // parameter = new - (quotients of the others): both are integers if one of them is.
            let new = self.parameters;
            self.parameters += 1;
            let quotients = rest.iter().map(|t| (t.0, -t.1.div_euclid(least))).filter(|t| t.1 != 0);
            let by = Form { constant: 0, sum: quotients.chain([(new, 1)]).collect() };
            self.replace(parameter, &by)?;
            let own = Form { constant: form.constant, sum: rest };
            form = own.plus(&by, least)?;
        }
    }

    /// Makes equations of opposite rows that leave one value, until there are none.
    pub fn settle(&mut self) -> Result<(), Refusal> {
        while !self.impossible {
            self.effort.spend(1 + 2 * self.rows.iter().map(|r| r.sum.len()).sum::<usize>())?;
            let mut tightest: BTreeMap<&Sum, i128> = BTreeMap::new();
            for row in self.rows.iter().filter(|r| !r.sum.is_empty()) {
                let bound = tightest.entry(&row.sum).or_insert(row.bound);
                *bound = row.bound.min(*bound);
            }
            let mut equation: Option<Form> = None;
            let mut impossible = false;
            for (sum, bound) in tightest.iter().filter(|(sum, _)| sum[0].1 > 0) {
                let opposite: Sum = sum.iter().map(|t| (t.0, -t.1)).collect();
                let Some(other) = tightest.get(&opposite) else { continue };
                let room = bound.checked_add(*other).ok_or_else(large)?;
                impossible |= room < 0;
                let shorter = equation.as_ref().is_none_or(|e| sum.len() < e.sum.len());
                if room == 0 && shorter {
                    equation = Some(Form { constant: -bound, sum: (*sum).clone() });
                }
            }
            self.impossible |= impossible;
            match equation {
                Some(form) if !self.impossible => self.solve(form)?,
                _ => break,
            }
        }
        Ok(())
    }
}

fn rounded(mut row: Row) -> Result<Row, Refusal> {
    let common = factor(&row.sum)?;
    if common > 1 {
        row.sum.iter_mut().for_each(|t| t.1 /= common);
        row.bound = row.bound.div_euclid(common);
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows and equations with small coefficients, by brute force: what is called impossible has no solution in a box, and
    /// combinations say nothing that a solution violates.
    #[test]
    fn contradictions_are_true() {
        let mut seed = 7u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        let (mut impossible, mut possible) = (0, 0);
        for _ in 0..20_000 {
            let effort = Effort::new(1_000_000);
            let mut known = Known::new(&effort);
            let mut list = Vec::new();
            let variables = [known.variable(), known.variable(), known.variable()];
            for _ in 0..2 + next(5) {
                let terms: Vec<(usize, i64)> =
                    variables.iter().map(|v| (*v, next(7) as i64 - 3)).filter(|t| t.1 != 0).collect();
                let (bound, equation) = (next(9) as i64 - 4, next(3) == 0);
                list.push((terms.clone(), bound, equation));
                if equation {
                    known.equal(&terms, bound).unwrap();
                } else {
                    known.le(&terms, bound).unwrap();
                }
            }
            known.settle().unwrap();
            if known.rows.len() > 1 && !known.impossible {
                // Any multipliers: those that are not positive are refused, or what has solutions becomes impossible.
                let times = [next(7) as i64 - 3, next(7) as i64 - 3];
                let combined = known.combine(&vec![(0, times[0]), (1, times[1])]);
                assert_eq!(combined.is_ok(), times.iter().all(|t| *t > 0), "{times:?}");
                known.settle().unwrap();
            }
            let holds = |point: &[i64; 3]| {
                list.iter().all(|(terms, bound, equation)| {
                    let value: i64 = terms.iter().map(|t| t.1 * point[t.0]).sum();
                    if *equation { value == *bound } else { value <= *bound }
                })
            };
            let range = -5..6i64;
            let solvable =
                range.clone().any(|x| range.clone().any(|y| range.clone().any(|z| holds(&[x, y, z]))));
            assert!(!(known.impossible && solvable), "{list:?}");
            impossible += usize::from(known.impossible);
            possible += usize::from(solvable);
        }
        assert!(impossible > 500 && possible > 500, "{impossible} {possible}");
    }
}
