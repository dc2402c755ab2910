//! Exact elimination of variables from general linear inequalities (Fourier–Motzkin).
//!
//! Eliminating `x` from `a*x + s <= c` (a > 0) and `-b*x + t <= d` (b > 0) gives
//! `b*s + a*t <= b*c + a*d`: every rational solution without `x` extends to one with `x`. Over the
//! integers the result *over-approximates* the projection, and is exact when `a` or `b` is 1 in
//! every combined pair (an integer `x` then fits between the two bounds). So
//!
//! - a contradiction derived this way is a real one: "empty" is always right;
//! - no contradiction means "not known to be empty";
//! - a projection carries a flag saying whether it is exact.
//!
//! Dividing by the common factor and rounding the bound down (in [`Linear::shape`]) sharpens the
//! test and loses no integer solution. Coefficients are kept in `i128` while combining and must
//! fit `i64` afterwards, else the combination is an [`Overflow`].

use super::Overflow;
use super::linear::{Linear, Shape};

/// More inequalities than this and elimination gives up.
const LIMIT: usize = 600;

/// What elimination found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Eliminated {
    /// No integer solution exists.
    Empty,
    /// The remaining inequalities, and whether they are the exact projection.
    Rest(Vec<Linear>, bool),
    /// Too large.
    GaveUp,
}

fn combine(up: &Linear, a: i64, down: &Linear, b: i64) -> Result<Linear, Overflow> {
    // up has +a*x, down has -b*x.
    let narrow = |v: i128| i64::try_from(v).map_err(|_| Overflow);
    let scale = |l: &Linear, by: i64| {
        l.terms.iter().map(|&(n, c)| (n, i128::from(c) * i128::from(by))).collect::<Vec<_>>()
    };
    let mut terms = scale(up, b);
    terms.extend(scale(down, a));
    terms.sort_by_key(|t| t.0);
    let mut merged: Vec<(usize, i128)> = Vec::new();
    for (n, c) in terms {
        match merged.last_mut() {
            Some(last) if last.0 == n => last.1 += c,
            _ => merged.push((n, c)),
        }
    }
    let bound = i128::from(up.bound) * i128::from(b) + i128::from(down.bound) * i128::from(a);
    let merged = merged
        .into_iter()
        .filter(|t| t.1 != 0)
        .map(|(n, c)| Ok((n, narrow(c)?)))
        .collect::<Result<Vec<_>, Overflow>>()?;
    Ok(Linear { terms: merged, bound: narrow(bound)? })
}

fn tidy(list: Vec<Linear>) -> Option<Vec<Linear>> {
    let mut out: Vec<Linear> = Vec::new();
    for l in list {
        match l.shape() {
            Shape::Truth(true) => {}
            Shape::Truth(false) => return None,
            Shape::Difference(i, j, c) => out.push(Linear::difference(i, j, c)),
            Shape::General(g) => out.push(g),
        }
    }
    // Of two inequalities with the same left side keep the tighter.
    out.sort();
    out.dedup_by(|later, earlier| later.terms == earlier.terms);
    Some(out)
}

/// Eliminates every node for which `drop` holds.
pub(super) fn eliminate(list: Vec<Linear>, drop: impl Fn(usize) -> bool) -> Result<Eliminated, Overflow> {
    let Some(mut list) = tidy(list) else { return Ok(Eliminated::Empty) };
    let mut exact = true;
    loop {
        // The variable whose elimination makes the fewest new inequalities.
        let mut candidates: Vec<usize> =
            list.iter().flat_map(|l| l.terms.iter().map(|t| t.0)).filter(|&n| drop(n)).collect();
        candidates.sort_unstable();
        candidates.dedup();
        let coefficient = |l: &Linear, x: usize| l.terms.iter().find(|t| t.0 == x).map_or(0, |t| t.1);
        let cost = |x: usize| {
            let up = list.iter().filter(|l| coefficient(l, x) > 0).count();
            let down = list.iter().filter(|l| coefficient(l, x) < 0).count();
            up * down
        };
        let Some(x) = candidates.into_iter().min_by_key(|&x| cost(x)) else {
            return Ok(Eliminated::Rest(list, exact));
        };
        let (mut up, mut down, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for l in list {
            match coefficient(&l, x) {
                0 => rest.push(l),
                c if c > 0 => up.push((c, l)),
                c => down.push((c.checked_neg().ok_or(Overflow)?, l)),
            }
        }
        exact &= up.iter().all(|u| down.iter().all(|d| u.0 == 1 || d.0 == 1));
        if rest.len() + up.len() * down.len() > LIMIT {
            return Ok(Eliminated::GaveUp);
        }
        for (a, u) in &up {
            for (b, d) in &down {
                rest.push(combine(u, *a, d, *b)?);
            }
        }
        match tidy(rest) {
            None => return Ok(Eliminated::Empty),
            Some(next) => list = next,
        }
    }
}
