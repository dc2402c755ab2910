//! A relative claim that permutes the columns, rule by rule.
//!
//! If the claim says that column `c` of the partner is column `s(c)` of the state, a step by a rule is a step between the partners
//! by the rule with its columns renamed. So if renaming takes the rules, facts included, one to one to rules, up to the order of
//! conjuncts and alternatives, the map takes every derivation to one of the same length, and so does its inverse. Nothing is
//! unfolded: the claim may have rules with any number of alternatives.
//!
//! Values of finite columns may be permuted, too (`turn = 1` becomes `turn = 2`). What a rule says about one finite column alone is then a set of
//! values, among those that the column can have (which the checker has confirmed for every reachable state), and renaming takes sets to sets.
//! A rule that compares such a column with another one is refused.

use std::collections::{BTreeMap, HashMap};

use crate::effort::Effort;
use crate::format::{Assertion, Inequality, Program, Right, Rule, Tree};
use crate::smtlib::{Writer, number};
use crate::trees::{Refusal, System, holds, negated, nodes};

/// A tree in a form that does not depend on the order of its parts, nor on how they are nested.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Normal {
    /// The values that one finite column has.
    In(usize, Vec<i64>),
    Le(Inequality),
    And(Vec<Normal>),
    Or(Vec<Normal>),
}

impl Normal {
    fn of(program: &Program, tree: &Tree) -> Normal {
        match tree {
            Tree::Le(l) => {
                let only = l.terms.first().filter(|first| l.terms.iter().all(|t| t.0 == first.0));
                match only.and_then(|first| values(program, first.0).map(|values| (first.0, values))) {
                    Some((node, values)) => {
                        let fits = |v: &&i64| holds(tree, &|_| **v);
                        Normal::In(node, values.iter().filter(fits).copied().collect())
                    }
                    None => {
                        let mut terms = l.terms.clone();
                        terms.sort_unstable();
                        Normal::Le(Inequality { terms, bound: l.bound })
                    }
                }
            }
            Tree::And(list) => Normal::And(list.iter().map(|t| Normal::of(program, t)).collect()).sorted(),
            Tree::Or(list) => Normal::Or(list.iter().map(|t| Normal::of(program, t)).collect()).sorted(),
        }
    }

    /// Parts of the same kind opened, sets of one column put together, in order.
    fn sorted(self) -> Normal {
        let (list, and) = match self {
            Normal::And(list) => (list, true),
            Normal::Or(list) => (list, false),
            leaf => return leaf,
        };
        let mut parts = Vec::new();
        let mut sets: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
        let mut open = list;
        while let Some(part) = open.pop() {
            match part {
                Normal::And(own) if and => open.extend(own),
                Normal::Or(own) if !and => open.extend(own),
                Normal::In(node, values) => match sets.get_mut(&node) {
                    None => drop(sets.insert(node, values)),
                    Some(known) if and => known.retain(|v| values.contains(v)),
                    Some(known) => known.extend(values),
                },
                other => parts.push(other),
            }
        }
        parts.extend(sets.into_iter().map(|(node, mut values)| {
            values.sort_unstable();
            values.dedup();
            Normal::In(node, values)
        }));
        parts.sort();
        parts.dedup();
        match parts.len() {
            1 => parts.remove(0),
            _ if and => Normal::And(parts),
            _ => Normal::Or(parts),
        }
    }
}

/// The values of a finite column's node, before or after a step.
fn values(program: &Program, node: usize) -> Option<&Vec<i64>> {
    let k = program.columns.len();
    let column = match node {
        n if (1..=k).contains(&n) => n - 1,
        n if n > k && n <= 2 * k => n - k - 1,
        _ => return None,
    };
    program.finite.iter().find(|f| f.column == column).map(|f| &f.values)
}

/// Operations that bringing a tree to normal form takes.
fn size(program: &Program, tree: &Tree) -> usize {
    match tree {
        Tree::Le(l) => {
            let one = l.terms.first().and_then(|t| values(program, t.0)).map_or(0, Vec::len);
            4 * (1 + l.terms.len()) * (1 + one)
        }
        Tree::And(list) | Tree::Or(list) => 4 * (1 + list.iter().map(|t| size(program, t)).sum::<usize>()),
    }
}

/// What a claim makes of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renaming {
    /// Column `c` of the state becomes column `to[c]` of the partner.
    to: Vec<usize>,
    /// For each column of the state, what its values become; none where all of them stay.
    values: Vec<Vec<(i64, i64)>>,
}

impl Renaming {
    /// Reads a claim as one.
    pub fn of(program: &Program, assertion: &Assertion, effort: &Effort) -> Result<Renaming, Refusal> {
        const NOT: &str = "the claim does not permute the columns";
        let k = program.columns.len();
        let Right::State(right) = &assertion.right else { return Err("not a relative assertion".into()) };
        let everywhere = Normal::of(program, &assertion.left) == Normal::And(Vec::new());
        if !everywhere || assertion.nodes != 2 * k + 1 {
            return Err("the claim is not about all states".into());
        }
        // Conjuncts by the two columns that they relate.
        let mut related: BTreeMap<usize, (usize, Vec<&Tree>)> = BTreeMap::new();
        let mut agenda = vec![right];
        while let Some(tree) = agenda.pop() {
            if let Tree::And(list) = tree
                && !matches!(nodes(tree)[..], [_, _])
            {
                agenda.extend(list);
                continue;
            }
            let [x, y] = nodes(tree)[..] else { return Err(NOT.into()) };
            let (_, parts) = related.entry(x).or_insert((y, Vec::new()));
            parts.push(tree);
            if !(1..=k).contains(&x) || !(k + 1..=2 * k).contains(&y) || related[&x].0 != y {
                return Err(NOT.into());
            }
        }
        let mut renaming = Renaming { to: Vec::new(), values: Vec::new() };
        for x in 1..=k {
            let Some((y, parts)) = related.get(&x) else { return Err(NOT.into()) };
            renaming.to.push(y - k - 1);
            renaming.values.push(match (values(program, x), values(program, *y)) {
                (Some(from), Some(to)) => {
                    effort.spend(from.len() * to.len() * (1 + parts.len()))?;
                    permutation(from, to, &|a, b| {
                        parts.iter().all(|p| holds(p, &|n| if n == x { a } else { b }))
                    })
                    .ok_or("the claim does not permute the values of a column")?
                }
                (None, None) if equal(parts, x, *y) => Vec::new(),
                _ => return Err(NOT.into()),
            });
        }
        let mut images = renaming.to.clone();
        images.sort_unstable();
        if images != (0..k).collect::<Vec<_>>() {
            return Err(NOT.into());
        }
        Ok(renaming)
    }

    /// Whether renaming takes each violation of a safety claim to one.
    pub fn keeps(&self, program: &Program, claim: &Assertion, effort: &Effort) -> Result<(), Refusal> {
        let Right::Constraint(right) = &claim.right else { return Err("not a safety assertion".into()) };
        let bad = Tree::And(vec![claim.left.clone(), negated(right)?]);
        effort.spend(2 * size(program, &bad))?;
        let bad = Normal::of(program, &bad);
        match self.normal(&bad)? == bad {
            true => Ok(()),
            false => Err("a violation with its columns renamed is not one".into()),
        }
    }

    /// For each rule, the rule that it is taken to.
    pub fn images(&self, program: &Program, effort: &Effort) -> Result<Vec<usize>, Refusal> {
        effort.spend(program.rules.iter().map(|r| 2 * size(program, &r.guard)).sum())?;
        let normal: Vec<Normal> = program.rules.iter().map(|r| Normal::of(program, &r.guard)).collect();
        let mut rules: HashMap<_, Vec<usize>> = HashMap::new();
        for (number, (rule, guard)) in program.rules.iter().zip(&normal).enumerate() {
            let key = (rule.fact, rule.unchanged.clone(), rule.nodes, guard.clone());
            rules.entry(key).or_default().push(number);
        }
        // Each rule is used up, so that the images are all of them.
        let mut image = |(rule, guard): (&Rule, &Normal)| {
            let mut unchanged = vec![false; self.to.len()];
            rule.unchanged.iter().enumerate().for_each(|(c, same)| unchanged[self.to[c]] = *same);
            let key = (rule.fact, unchanged, rule.nodes, self.normal(guard)?);
            rules
                .get_mut(&key)
                .and_then(Vec::pop)
                .ok_or("a rule with its columns renamed is not a rule".into())
        };
        program.rules.iter().zip(&normal).map(&mut image).collect()
    }

    fn node(&self, node: usize) -> usize {
        let k = self.to.len();
        match node {
            n if (1..=k).contains(&n) => self.to[n - 1] + 1,
            n if n > k && n <= 2 * k => self.to[n - k - 1] + k + 1,
            n => n,
        }
    }

    /// What the values of a node become.
    fn values(&self, node: usize) -> &[(i64, i64)] {
        let k = self.to.len();
        match node {
            n if (1..=k).contains(&n) => &self.values[n - 1],
            n if n > k && n <= 2 * k => &self.values[n - k - 1],
            _ => &[],
        }
    }

    fn value(&self, node: usize, value: i64) -> i64 {
        self.values(node).iter().find(|(from, _)| *from == value).map_or(value, |(_, to)| *to)
    }

    fn normal(&self, normal: &Normal) -> Result<Normal, Refusal> {
        let all = |list: &[Normal]| list.iter().map(|n| self.normal(n)).collect::<Result<Vec<_>, _>>();
        Ok(match normal {
            Normal::In(node, values) => {
                let mut values: Vec<i64> = values.iter().map(|&v| self.value(*node, v)).collect();
                values.sort_unstable();
                Normal::In(self.node(*node), values)
            }
            Normal::Le(l) => {
                if l.terms.iter().any(|t| !self.values(t.0).is_empty()) {
                    return Err("a column whose values are exchanged is compared with another one".into());
                }
                let mut terms: Vec<(usize, i64)> = l.terms.iter().map(|&(n, c)| (self.node(n), c)).collect();
                terms.sort_unstable();
                Normal::Le(Inequality { terms, bound: l.bound })
            }
            Normal::And(list) => Normal::And(all(list)?).sorted(),
            Normal::Or(list) => Normal::Or(all(list)?).sorted(),
        })
    }

    /// The values that a finite column has after renaming.
    pub fn values_after(&self, system: &System, column: usize) -> Vec<i64> {
        let from = self.to.iter().position(|to| *to == column).unwrap_or(column);
        let mut values: Vec<i64> = system.sets[from + 1].iter().map(|&v| self.value(from + 1, v)).collect();
        values.sort_unstable();
        values
    }

    /// The partners of the states of a system over the columns.
    pub fn apply(&self, program: &Program, system: &System) -> Result<System, Refusal> {
        let mut from: Vec<usize> = vec![0; self.to.len() + 1];
        self.to.iter().enumerate().for_each(|(c, &to)| from[to + 1] = c + 1);
        let exchanged = program.finite.iter().map(|f| f.column + 1).filter(|n| !self.values(*n).is_empty());
        for node in exchanged {
            let bounded = |other: usize| {
                other != node
                    && (system.matrix.get(node, other).is_some() || system.matrix.get(other, node).is_some())
            };
            if (0..=self.to.len()).any(bounded) {
                return Err("a column whose values are exchanged is compared with another one".into());
            }
        }
        let sets = program.finite.iter().map(|f| (f.column + 1, self.values_after(system, f.column).into()));
        Ok(System { matrix: system.matrix.select(&from), sets: sets.collect() })
    }

    /// The partner of a state given by terms of SMT-LIB.
    pub(crate) fn terms(&self, state: &[String]) -> Vec<String> {
        let mut partner = vec![String::new(); self.to.len()];
        for (column, (&to, term)) in self.to.iter().zip(state).enumerate() {
            partner[to] = self.values[column].iter().fold(term.clone(), |rest, (from, to)| {
                format!("(ite (= {term} {}) {} {rest})", number(*from), number(*to))
            });
        }
        partner
    }
}

/// What becomes of each value, if each has one image and all images together are the values of the other column.
fn permutation(from: &[i64], to: &[i64], related: &dyn Fn(i64, i64) -> bool) -> Option<Vec<(i64, i64)>> {
    let mut pairs = Vec::new();
    for &a in from {
        let mut images = to.iter().filter(|b| related(a, **b));
        pairs.push((a, *images.next()?));
        if images.next().is_some() {
            return None;
        }
    }
    let mut images: Vec<i64> = pairs.iter().map(|p| p.1).collect();
    images.sort_unstable();
    if images != to {
        return None;
    }
    Some(if pairs.iter().all(|(a, b)| a == b) { Vec::new() } else { pairs })
}

/// Whether the parts say that two nodes are equal, and nothing else.
fn equal(parts: &[&Tree], x: usize, y: usize) -> bool {
    let mut agenda = parts.to_vec();
    let (mut up, mut down) = (false, false);
    while let Some(tree) = agenda.pop() {
        match tree {
            Tree::And(list) => agenda.extend(list),
            Tree::Le(l) if l.bound == 0 && l.terms.len() == 2 => {
                let ascending = l.terms.contains(&(x, 1)) && l.terms.contains(&(y, -1));
                let descending = l.terms.contains(&(x, -1)) && l.terms.contains(&(y, 1));
                if !ascending && !descending {
                    return false;
                }
                (up, down) = (up || ascending, down || descending);
            }
            _ => return false,
        }
    }
    up && down
}

/// A claim's renaming, if it takes the rules to the rules.
pub fn automorphism(program: &Program, assertion: &Assertion, effort: &Effort) -> Result<Renaming, Refusal> {
    let renaming = Renaming::of(program, assertion, effort)?;
    renaming.images(program, effort)?;
    Ok(renaming)
}

/// For a solver: each rule with its columns renamed implies the rule that it is taken to.
pub(crate) fn export(program: &Program, label: &str, assertion: &Assertion, out: &mut Vec<(String, String)>) {
    let k = program.columns.len();
    let effort = Effort::new(u64::MAX);
    let Ok(renaming) = Renaming::of(program, assertion, &effort) else { return };
    let Ok(images) = renaming.images(program, &effort) else { return };
    for (number, &image) in images.iter().enumerate() {
        let mut w = Writer::new(program);
        let (after, before) = (w.constants("a", k), w.constants("x", k));
        let own = w.constants("l", w.locals(number));
        let asserts = [
            w.rule(number, &before, &after, &own),
            w.domain(&before),
            w.domain(&after),
            format!("(not {})", w.rule(image, &renaming.terms(&before), &renaming.terms(&after), &own)),
        ];
        let comment = format!("{label}: rule {number} becomes rule {image}");
        out.push((format!("{label}-rule{number}.smt2"), w.finish(&comment, &asserts)));
    }
}
