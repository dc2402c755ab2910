//! Which sums of columns are bounded, which columns matter, which conditions the program itself asks.

use std::collections::{BTreeMap, BTreeSet};

use super::walk::{Leaf, To};
use crate::integer::common_factor;

/// A sum of columns.
pub type Sum = Vec<(usize, i64)>;

/// How rich the sums are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Differences of two columns.
    Zones,
    /// Also sums of two columns.
    Octagons,
    /// Also the sums that the program's own conditions are about.
    Guards,
    /// Also sums of three columns with coefficients -1 to 1.
    Triples,
    /// The same with coefficients -2 to 2.
    Doubles,
}

/// More sums than this at one head are not tried.
const MOST_SUMS: usize = 700;

/// What a program asks and mentions.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// For each head, the columns that influence anything, ascending.
    pub live: Vec<Vec<usize>>,
    /// For each head, the conditions `sum <= bound` on its states.
    pub atoms: Vec<Vec<(Sum, i64)>>,
    /// Numbers that occur.
    pub constants: BTreeSet<i64>,
}

/// Looks at all runs. `k` columns, `heads` heads; the control column has one value at each head.
pub fn survey(leaves: &[Leaf], k: usize, heads: usize, control: Option<usize>) -> Survey {
    let mut live = live(leaves, k, heads);
    live.iter_mut().for_each(|columns| columns.retain(|c| Some(*c) != control));
    let mut survey = Survey { live, atoms: vec![Vec::new(); heads], ..Survey::default() };
    for leaf in leaves {
        for (from, shift) in [(leaf.from, 0), (leaf.to.head(), k)] {
            let Some(head) = from else { continue };
            // Parameters that are columns, up to a constant.
            let mut columns: BTreeMap<u32, (usize, i64)> = BTreeMap::new();
            for &c in &survey.live[head] {
                let form = leaf.system.form(c + shift);
                survey.constants.insert(form.constant);
                if let [(p, 1)] = form.terms[..] {
                    columns.entry(p).or_insert((c, form.constant));
                }
            }
            for (terms, bound) in leaf.system.constraints() {
                survey.constants.insert(bound);
                let own: Option<Vec<(usize, i64, i64)>> = terms
                    .iter()
                    .map(|(p, f)| columns.get(p).map(|(c, constant)| (*c, *f, *constant)))
                    .collect();
                let Some(own) = own else { continue };
                let shifted = own.iter().try_fold(bound, |b, (_, f, constant)| {
                    f.checked_mul(*constant).and_then(|s| b.checked_add(s))
                });
                let Some(bound) = shifted else { continue };
                let mut sum: Sum = own.iter().map(|o| (o.0, o.1)).collect();
                sum.sort_unstable();
                survey.constants.insert(bound);
                let opposite: Sum = sum.iter().map(|t| (t.0, -t.1)).collect();
                let known = survey.atoms[head]
                    .iter()
                    .any(|(s, b)| *s == sum && *b == bound || *s == opposite && -bound - 1 == *b);
                if !known {
                    survey.atoms[head].push((sum, bound));
                }
            }
        }
    }
    survey
}

impl To {
    /// The head, if it is one.
    pub fn head(self) -> Option<usize> {
        match self {
            To::Head(head) => Some(head),
            To::Bad => None,
        }
    }
}

/// Columns that matter: one whose value a run compares, or computes with, or hands on to one that matters.
fn live(leaves: &[Leaf], k: usize, heads: usize) -> Vec<Vec<usize>> {
    let mut live = vec![vec![false; k]; heads];
    loop {
        let before = live.clone();
        for leaf in leaves {
            let Some(from) = leaf.from else { continue };
            let mut used: BTreeMap<u32, usize> = BTreeMap::new();
            let mut needed: BTreeSet<u32> = BTreeSet::new();
            for (terms, _) in leaf.system.constraints() {
                needed.extend(terms.iter().map(|t| t.0));
            }
            if let To::Head(to) = leaf.to {
                for c in (0..k).filter(|&c| live[to][c]) {
                    needed.extend(leaf.system.form(k + c).terms.iter().map(|t| t.0));
                }
            }
            for c in 0..k {
                leaf.system.form(c).terms.iter().for_each(|t| *used.entry(t.0).or_insert(0) += 1);
            }
            for (c, live) in live[from].iter_mut().enumerate() {
                let form = leaf.system.form(c);
                // Alone on a parameter that nothing needs, it may have any value.
                let free = matches!(form.terms[..], [(p, 1 | -1)] if used[&p] == 1 && !needed.contains(&p));
                *live |= !free;
            }
        }
        if live == before {
            break;
        }
    }
    live.into_iter().map(|l| (0..k).filter(|&c| l[c]).collect()).collect()
}

/// Divided by the common factor.
fn primitive(sum: Sum) -> Sum {
    let factor = common_factor(sum.iter().map(|t| t.1)).max(1);
    sum.into_iter().map(|(c, f)| (c, f / factor)).collect()
}

/// The sums to bound at a head, both signs of each. Columns that have one value in each cell are left out.
pub fn sums(survey: &Survey, head: usize, level: Level, fixed: &[usize]) -> Vec<Sum> {
    let columns: Vec<usize> = survey.live[head].iter().copied().filter(|c| !fixed.contains(c)).collect();
    let mut out: BTreeSet<Sum> = BTreeSet::new();
    for (at, &a) in columns.iter().enumerate() {
        out.insert(vec![(a, 1)]);
        for &b in &columns[at + 1..] {
            out.insert(vec![(a, 1), (b, -1)]);
            if level >= Level::Octagons {
                out.insert(vec![(a, 1), (b, 1)]);
            }
        }
    }
    if level >= Level::Guards {
        for (sum, _) in &survey.atoms[head] {
            let sum = primitive(sum.iter().copied().filter(|t| columns.contains(&t.0)).collect());
            if !sum.is_empty() {
                out.insert(sum);
            }
        }
    }
    if level >= Level::Triples {
        let largest = if level == Level::Doubles { 2 } else { 1 };
        let range = -largest..=largest;
        for (i, &a) in columns.iter().enumerate() {
            for (j, &b) in columns.iter().enumerate().skip(i + 1) {
                for &c in columns.iter().skip(j + 1).chain([&usize::MAX]) {
                    for x in range.clone() {
                        for y in range.clone() {
                            for z in range.clone() {
                                let terms = [(a, x), (b, y), (c, z)];
                                let sum: Sum =
                                    terms.into_iter().filter(|t| t.1 != 0 && t.0 != usize::MAX).collect();
                                if !sum.is_empty() {
                                    out.insert(primitive(sum));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    let mut all: BTreeSet<Sum> = BTreeSet::new();
    for sum in out {
        all.insert(sum.iter().map(|t| (t.0, -t.1)).collect());
        all.insert(sum);
    }
    let mut all: Vec<Sum> = all.into_iter().collect();
    all.sort_by_key(|s| s.len());
    all.truncate(MOST_SUMS);
    all
}
