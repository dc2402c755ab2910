//! Whether a run is possible, with disjunctions that are looked into only where that matters.
//!
//! Rules that are written as one large condition have more alternatives than can be listed, and most of them say nothing about the
//! question. So disjunctions wait. One of which a single alternative is left, by the bounds of the variables, is replaced by this
//! alternative. Then the rest is solved without those that wait: if it has no solution, neither has the run; if the solution
//! satisfies one alternative of each, it is a run. Otherwise one that it does not satisfy is opened. (The lazy scheme of
//! solvers modulo theories, after de Moura, Rueß and Sorea, without learning.) What was opened, and why each branch is
//! impossible, is evidence that the checker follows.

use quotient_proof_check::format as out;

use super::evidence::{Missing, Writer};
use super::proofs::{Combination, absurd, scaled};
use super::walk::{Places, Walk};
use crate::constraint::{Linear, Overflow};
use crate::integer::{Form, Rational, Simplex, System};
use crate::program::Tree;

/// Case distinctions on variables without whole values, one inside the other.
const DEEPEST_CASES: usize = 6;

/// What is found about a run.
pub enum Answer {
    /// It is impossible, for this reason.
    Impossible(usize),
    /// It is possible: a value for each variable.
    Possible(Vec<i64>),
}

/// The least and the largest value of each parameter, as far as single rows say it, with the row.
struct Ranges(Vec<[Option<(i64, usize)>; 2]>);

impl Ranges {
    fn of(system: &System) -> Ranges {
        let mut out: Vec<[Option<(i64, usize)>; 2]> = Vec::new();
        for number in 0..system.adopted() {
            let (&[(p, factor)], bound) = system.row(number) else { continue };
            let at = p as usize;
            if at >= out.len() {
                out.resize(at + 1, [None; 2]);
            }
            // Rows are divided by their common factor, so it is 1 or -1.
            let (side, value) = if factor > 0 { (1, bound) } else { (0, -bound) };
            let better = |(known, _): (i64, usize)| if side == 1 { value < known } else { value > known };
            if out[at][side].is_none_or(better) {
                out[at][side] = Some((value, number));
            }
        }
        Ranges(out)
    }

    fn side(&self, parameter: u32, side: usize) -> Option<(i64, usize)> {
        self.0.get(parameter as usize)?[side]
    }

    /// The largest value of a form, or the least.
    fn extreme(&self, form: &Form, largest: bool) -> Option<i128> {
        form.terms.iter().try_fold(i128::from(form.constant), |sum, &(p, c)| {
            let (value, _) = self.side(p, usize::from(largest == (c > 0)))?;
            Some(sum + i128::from(c) * i128::from(value))
        })
    }

    /// The rows that bound a sum from below, with the multipliers that make them do so.
    fn below(&self, terms: &[(u32, i64)]) -> Option<Combination> {
        terms.iter().map(|&(p, c)| Some((self.side(p, usize::from(c < 0))?.1, c.abs()))).collect()
    }
}

fn form(l: &Linear, places: &Places, system: &System) -> Result<Form, Overflow> {
    let terms: Vec<(usize, i64)> = l.terms.iter().map(|&(n, c)| (places[n], c)).collect();
    system.sum(&terms)
}

/// Whether a condition is plainly true or plainly false.
fn plain(tree: &Tree, places: &Places, system: &System, ranges: &Ranges) -> Result<Option<bool>, Overflow> {
    match tree {
        Tree::Le(l) => {
            let form = form(l, places, system)?;
            let bound = i128::from(l.bound);
            Ok(if ranges.extreme(&form, true).is_some_and(|v| v <= bound) {
                Some(true)
            } else {
                ranges.extreme(&form, false).filter(|v| *v > bound).map(|_| false)
            })
        }
        Tree::And(list) | Tree::Or(list) => {
            let strong = matches!(tree, Tree::Or(_));
            let mut open = false;
            for t in list {
                match plain(t, places, system, ranges)? {
                    Some(value) if value == strong => return Ok(Some(strong)),
                    Some(_) => {}
                    None => open = true,
                }
            }
            Ok((!open).then_some(!strong))
        }
    }
}

/// Whether a condition is true of these values of the variables.
fn satisfied(tree: &Tree, places: &Places, values: &[Rational]) -> Result<bool, Overflow> {
    Ok(match tree {
        Tree::Le(l) => {
            let mut sum = Rational::ZERO;
            for &(n, c) in &l.terms {
                sum = sum.plus(values[places[n]].times(Rational::whole(c))?)?;
            }
            sum <= Rational::whole(l.bound)
        }
        Tree::And(list) => {
            for t in list {
                if !satisfied(t, places, values)? {
                    return Ok(false);
                }
            }
            true
        }
        Tree::Or(list) => {
            for t in list {
                if satisfied(t, places, values)? {
                    return Ok(true);
                }
            }
            false
        }
    })
}

/// Why a system is impossible, seen from the last rows and the bounds of the variables.
fn quickly(system: &System, from: usize) -> Option<Vec<Combination>> {
    let ranges = Ranges::of(system);
    for number in from..system.adopted() {
        let (terms, bound) = system.row(number);
        let least = ranges.extreme(&Form { constant: 0, terms: terms.to_vec() }, false);
        if least.is_some_and(|v| v > i128::from(bound)) {
            let mut rows = ranges.below(terms)?;
            rows.push((number, 1));
            rows.sort_unstable();
            // A row may be there twice; multipliers of the same row add up.
            let mut merged: Combination = Vec::new();
            for (row, factor) in rows {
                match merged.last_mut() {
                    Some(last) if last.0 == row => last.1 += factor,
                    _ => merged.push((row, factor)),
                }
            }
            return Some(vec![merged]);
        }
    }
    None
}

/// What can be said of the disjunctions that wait.
enum Seen {
    /// This one has no alternative left.
    Nothing(usize),
    /// These have one left.
    Forced(Vec<(usize, usize)>),
    /// How many alternatives each has left; none if one of them is true anyway.
    Open(Vec<Option<usize>>),
}

fn look(walk: &Walk, ranges: &Ranges) -> Result<Seen, Overflow> {
    let (mut forced, mut open) = (Vec::new(), Vec::new());
    for (which, (list, places)) in walk.waiting().iter().enumerate() {
        let (mut left, mut last, mut holds) = (0, 0, false);
        for (at, tree) in list.iter().enumerate() {
            match plain(tree, places, &walk.system, ranges)? {
                Some(true) => {
                    holds = true;
                    break;
                }
                Some(false) => {}
                None => (left, last) = (left + 1, at),
            }
        }
        match (holds, left) {
            (true, _) => open.push(None),
            (false, 0) => return Ok(Seen::Nothing(which)),
            (false, 1) => {
                forced.push((which, last));
                open.push(Some(1));
            }
            (false, n) => open.push(Some(n)),
        }
    }
    Ok(if forced.is_empty() { Seen::Open(open) } else { Seen::Forced(forced) })
}

impl Writer<'_> {
    /// Whether a run is possible.
    pub(super) fn decide(&mut self, walk: Walk) -> Result<Answer, Missing> {
        self.decided(walk, DEEPEST_CASES)
    }

    fn decided(&mut self, mut walk: Walk, cases: usize) -> Result<Answer, Missing> {
        let mut batches = Vec::new();
        let answer = loop {
            self.tick()?;
            if walk.system.is_empty() {
                break Answer::Impossible(self.add(out::Evidence::Absurd(Vec::new()))?);
            }
            match look(&walk, &Ranges::of(&walk.system))? {
                Seen::Nothing(which) => break self.opened(walk, which, cases)?,
                Seen::Forced(list) => {
                    let Some(batch) = force(&mut walk, &list)? else {
                        // Bounds say that an alternative is impossible; why is not seen at once.
                        break self.opened(walk, list[0].0, cases)?;
                    };
                    batches.push(batch);
                }
                Seen::Open(left) => break self.solved(walk, &left, cases)?,
            }
        };
        let Answer::Impossible(mut at) = answer else { return Ok(answer) };
        for batch in batches.into_iter().rev() {
            at = self.add(out::Evidence::Forced(batch, at))?;
        }
        Ok(Answer::Impossible(at))
    }

    /// Each alternative of a disjunction.
    fn opened(&mut self, walk: Walk, which: usize, cases: usize) -> Result<Answer, Missing> {
        let mut children = Vec::new();
        for one in walk.choices(which)? {
            match self.decided(one, cases)? {
                Answer::Impossible(at) => children.push(at),
                possible => return Ok(possible),
            }
        }
        Ok(Answer::Impossible(self.add(out::Evidence::Choose(which, children))?))
    }

    /// Without the disjunctions that wait, then with one of those that the solution does not satisfy.
    fn solved(&mut self, walk: Walk, left: &[Option<usize>], cases: usize) -> Result<Answer, Missing> {
        let mut simplex = Simplex::new(&walk.system);
        if let Some(conflict) = simplex.conflict()? {
            let why = vec![scaled(&conflict)?];
            return Ok(Answer::Impossible(self.add(out::Evidence::Absurd(why))?));
        }
        let value = |variable: usize| simplex.at(walk.system.form(variable));
        let values = (0..walk.system.variables()).map(value).collect::<Result<Vec<Rational>, _>>()?;
        let mut next: Option<(usize, usize)> = None;
        for (which, (list, places)) in walk.waiting().iter().enumerate() {
            let Some(count) = left[which].filter(|n| next.is_none_or(|(_, known)| *n < known)) else {
                continue;
            };
            let mut holds = false;
            for tree in *list {
                holds = holds || satisfied(tree, places, &values)?;
            }
            if !holds {
                next = Some((which, count));
            }
        }
        if let Some((which, _)) = next {
            return self.opened(walk, which, cases);
        }
        let broken = values.iter().position(|v| v.denominator() != 1);
        let Some(variable) = broken else {
            return Ok(Answer::Possible(values.iter().map(|v| v.numerator()).collect()));
        };
        if let Some(steps) = absurd(&walk.system)? {
            return Ok(Answer::Impossible(self.add(out::Evidence::Absurd(steps))?));
        }
        if cases == 0 {
            return Err(Missing::TooLong);
        }
        let value = values[variable].floor();
        let mut found = Vec::new();
        for (factor, bound) in [(1, value), (-1, -value - 1)] {
            let mut part = walk.clone();
            part.system.le(&[(variable, factor)], bound)?;
            part.system.settle()?;
            match self.decided(part, cases - 1)? {
                Answer::Impossible(at) => found.push(at),
                possible => return Ok(possible),
            }
        }
        let case = out::Inequality { terms: vec![(variable, 1)], bound: value };
        Ok(Answer::Impossible(self.add(out::Evidence::Cases(case, found[0], found[1]))?))
    }
}

/// Adopts what is left of some disjunctions, each with its position among those that wait and the alternative. `None` if it is not seen why one of the
/// other alternatives is impossible; then nothing was changed.
fn force(walk: &mut Walk, list: &[(usize, usize)]) -> Result<Option<Vec<out::Forced>>, Overflow> {
    let mut batch = Vec::new();
    for (taken, &(which, left)) in list.iter().enumerate() {
        let (alternatives, places) = &walk.waiting()[which];
        let mut others = Vec::new();
        for (_, tree) in alternatives.iter().enumerate().filter(|(at, _)| *at != left) {
            match impossible(walk, tree, places)? {
                Some(why) => others.push(why),
                None => return Ok(None),
            }
        }
        // Those before it wait no more.
        batch.push(out::Forced { which: which - taken, left, others });
    }
    for forced in &batch {
        let (alternatives, places) = walk.take(forced.which);
        walk.adopt(&alternatives[forced.left], &places)?;
    }
    walk.system.settle()?;
    Ok(Some(batch))
}

/// Why an alternative is impossible, if that is seen.
fn impossible(walk: &Walk, tree: &Tree, places: &Places) -> Result<Option<Vec<Combination>>, Overflow> {
    // Without variables it is false by itself.
    if let Tree::Le(l) = tree {
        let form = form(l, places, &walk.system)?;
        if form.terms.is_empty() && form.constant > l.bound {
            return Ok(Some(Vec::new()));
        }
    }
    let mut other = walk.bare();
    let from = other.system.adopted();
    other.adopt(tree, places)?;
    other.system.settle()?;
    if other.system.is_empty() {
        return Ok(Some(Vec::new()));
    }
    match quickly(&other.system, from) {
        Some(why) => Ok(Some(why)),
        None => absurd(&other.system),
    }
}
