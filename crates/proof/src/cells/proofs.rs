//! Contradictions, and the combinations of rows that show them.

use crate::constraint::Overflow;
use crate::integer::{Optimum, Rational, Simplex, System};

/// Multipliers of rows, whole numbers.
pub type Combination = Vec<(usize, i64)>;

/// Rows that are tight everywhere, looked for among at most this many.
const MOST_TIGHT: usize = 64;

/// Whole multipliers in the same proportion.
pub fn scaled(list: &[(usize, Rational)]) -> Result<Combination, Overflow> {
    let mut common: i64 = 1;
    for (_, factor) in list {
        let d = factor.denominator();
        let shared = crate::integer::common_factor([common, d].into_iter());
        common = common.checked_mul(d / shared).ok_or(Overflow)?;
    }
    let whole = |(row, f): &(usize, Rational)| {
        Ok((*row, (common / f.denominator()).checked_mul(f.numerator()).ok_or(Overflow)?))
    };
    let list: Combination = list.iter().map(whole).collect::<Result<_, Overflow>>()?;
    let shared = crate::integer::common_factor(list.iter().map(|l| l.1)).max(1);
    Ok(list.into_iter().map(|(row, f)| (row, f / shared)).collect())
}

/// Makes equations of inequalities that hold with equality everywhere; what was derived for it is added to `steps`. `None` when
/// the system turns out to be impossible (then `steps` ends in a contradiction); otherwise the tableau, at a solution.
pub fn sharpen(system: &mut System, steps: &mut Vec<Combination>) -> Result<Option<Simplex>, Overflow> {
    'again: loop {
        if !system.settle()? {
            return Ok(None);
        }
        let mut simplex = Simplex::new(system);
        if let Some(conflict) = simplex.conflict()? {
            steps.push(scaled(&conflict)?);
            return Ok(None);
        }
        let mut tight = simplex.tight();
        tight.truncate(MOST_TIGHT);
        while let Some(row) = tight.pop() {
            let (terms, bound) = system.row(row);
            let opposite: Vec<(u32, i64)> = terms.iter().map(|t| (t.0, -t.1)).collect();
            if let Optimum::At(value, why) = simplex.maximum(&opposite)?
                && value.floor() <= -bound
            {
                let step = scaled(&why)?;
                system.derive(&step)?;
                steps.push(step);
                continue 'again;
            }
            // Rows that are not tight at this solution either are done with.
            let still = simplex.tight();
            tight.retain(|r| still.contains(r));
        }
        return Ok(Some(simplex));
    }
}

/// What shows that a system is impossible, if that is seen.
pub fn absurd(system: &System) -> Result<Option<Vec<Combination>>, Overflow> {
    let mut system = system.clone();
    if !system.settle()? {
        return Ok(Some(Vec::new()));
    }
    if let Some(conflict) = Simplex::new(&system).conflict()? {
        return Ok(Some(vec![scaled(&conflict)?]));
    }
    let mut steps = Vec::new();
    Ok(sharpen(&mut system, &mut steps)?.is_none().then_some(steps))
}

/// A solution in whole numbers, found by at most this many case distinctions one inside the other: a value for each variable.
pub fn whole(system: &System, cases: usize) -> Option<Vec<i64>> {
    let mut system = system.clone();
    if !system.settle().ok()? {
        return None;
    }
    let mut simplex = Simplex::new(&system);
    if simplex.conflict().ok()?.is_some() {
        return None;
    }
    let at = |v: usize| simplex.at(system.form(v)).ok();
    let values = (0..system.variables()).map(at).collect::<Option<Vec<Rational>>>()?;
    let Some(variable) = values.iter().position(|v| v.denominator() != 1) else {
        return Some(values.iter().map(|v| v.numerator()).collect());
    };
    let value = values[variable].floor();
    let mut parts = [(1, value), (-1, -value - 1)].into_iter().filter(|_| cases > 0);
    parts.find_map(|(factor, bound)| {
        let mut part = system.clone();
        part.le(&[(variable, factor)], bound).ok()?;
        whole(&part, cases - 1)
    })
}
