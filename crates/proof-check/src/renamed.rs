//! A relative claim that permutes the columns, rule by rule.
//!
//! If the claim says that column `c` of the partner is column `s(c)` of the state, a step by a rule is a step between the partners
//! by the rule with its columns renamed. So if renaming takes the rules, facts included, one to one to rules, up to the order of
//! conjuncts and alternatives, the map takes every derivation to one of the same length, and so does its inverse. Nothing is
//! unfolded: the claim may have rules with any number of alternatives.

use std::collections::HashMap;

use crate::effort::Effort;
use crate::format::{Assertion, Inequality, Program, Right, Rule, Tree};
use crate::smtlib::Writer;
use crate::trees::Refusal;

/// A tree in a form that does not depend on the order of its parts, nor on how they are nested.
fn normal(tree: &Tree, rename: &dyn Fn(usize) -> usize) -> Tree {
    let parts = |list: &[Tree], and: bool| {
        let mut parts = Vec::new();
        for part in list.iter().map(|t| normal(t, rename)) {
            match part {
                Tree::And(own) if and => parts.extend(own),
                Tree::Or(own) if !and => parts.extend(own),
                other => parts.push(other),
            }
        }
        parts.sort();
        parts.dedup();
        parts
    };
    let one = |mut parts: Vec<Tree>, all: fn(Vec<Tree>) -> Tree| match parts.len() {
        1 => parts.remove(0),
        _ => all(parts),
    };
    match tree {
        Tree::Le(l) => {
            let mut terms: Vec<(usize, i64)> = l.terms.iter().map(|&(n, c)| (rename(n), c)).collect();
            terms.sort_unstable();
            Tree::Le(Inequality { terms, bound: l.bound })
        }
        Tree::And(list) => one(parts(list, true), Tree::And),
        Tree::Or(list) => one(parts(list, false), Tree::Or),
    }
}

/// Operations that bringing a tree to normal form takes.
fn size(tree: &Tree) -> usize {
    match tree {
        Tree::Le(l) => 4 * (1 + l.terms.len()),
        Tree::And(list) | Tree::Or(list) => 4 * (1 + list.iter().map(size).sum::<usize>()),
    }
}

/// Where the columns of a claim go: column `c` of the state becomes column `to[c]` of the partner.
fn permutation(assertion: &Assertion, k: usize) -> Result<Vec<usize>, Refusal> {
    let Right::State(right) = &assertion.right else { return Err("not a relative assertion".into()) };
    let everywhere = normal(&assertion.left, &|n| n) == Tree::And(Vec::new());
    if !everywhere || assertion.nodes != 2 * k + 1 {
        return Err("the claim is not about all states".into());
    }
    let mut agenda = vec![right];
    let mut equal = Vec::new();
    while let Some(tree) = agenda.pop() {
        match tree {
            Tree::And(list) => agenda.extend(list),
            Tree::Le(l) if l.bound == 0 => match l.terms[..] {
                [(a, 1), (b, -1)] | [(b, -1), (a, 1)] => equal.push((a, b)),
                _ => return Err("the claim does not permute the columns".into()),
            },
            _ => return Err("the claim does not permute the columns".into()),
        }
    }
    let mut to = vec![None; k];
    for &(state, partner) in equal.iter().filter(|(a, b)| (1..=k).contains(a) && *b > k) {
        let both = equal.contains(&(partner, state));
        if !both || to[state - 1].replace(partner - k - 1).is_some() {
            return Err("the claim does not permute the columns".into());
        }
    }
    let to: Vec<usize> = to.into_iter().flatten().collect();
    let mut images = to.clone();
    images.sort_unstable();
    // Each column is the image of one, and nothing else is said.
    if images != (0..k).collect::<Vec<_>>() || equal.len() != 2 * k {
        return Err("the claim does not permute the columns".into());
    }
    Ok(to)
}

/// For each rule, the rule that renaming takes it to.
pub fn images(program: &Program, assertion: &Assertion, effort: &Effort) -> Result<Vec<usize>, Refusal> {
    let k = program.columns.len();
    let to = permutation(assertion, k)?;
    let rename = |node: usize| match node {
        n if (1..=k).contains(&n) => to[n - 1] + 1,
        n if n > k && n <= 2 * k => to[n - k - 1] + k + 1,
        n => n,
    };
    let key = |rule: &Rule, rename: &dyn Fn(usize) -> usize, to: &dyn Fn(usize) -> usize| {
        let mut unchanged = vec![false; k];
        rule.unchanged.iter().enumerate().for_each(|(c, same)| unchanged[to(c)] = *same);
        (rule.fact, unchanged, rule.nodes, normal(&rule.guard, rename))
    };
    effort.spend(program.rules.iter().map(|r| 2 * size(&r.guard)).sum())?;
    let mut rules: HashMap<_, Vec<usize>> = HashMap::new();
    for (number, rule) in program.rules.iter().enumerate() {
        rules.entry(key(rule, &|n| n, &|c| c)).or_default().push(number);
    }
    // Each rule is used up, so that the images are all of them.
    let image = |rule: &Rule| rules.get_mut(&key(rule, &rename, &|c| to[c])).and_then(Vec::pop);
    let images: Option<Vec<usize>> = program.rules.iter().map(image).collect();
    images.ok_or_else(|| "a rule with its columns renamed is not a rule".into())
}

/// For a solver: each rule with its columns renamed implies the rule that it is taken to.
pub(crate) fn export(program: &Program, label: &str, assertion: &Assertion, out: &mut Vec<(String, String)>) {
    let k = program.columns.len();
    let Ok(images) = images(program, assertion, &Effort::new(u64::MAX)) else { return };
    let Ok(to) = permutation(assertion, k) else { return };
    for (number, &image) in images.iter().enumerate() {
        let mut w = Writer::new(program);
        let (after, before) = (w.constants("a", k), w.constants("x", k));
        let own = w.constants("l", w.locals(number));
        let moved = |state: &[String]| {
            let mut partner = vec![String::new(); k];
            to.iter().zip(state).for_each(|(to, name)| partner[*to] = name.clone());
            partner
        };
        let asserts = [
            w.rule(number, &before, &after, &own),
            format!("(not {})", w.rule(image, &moved(&before), &moved(&after), &own)),
        ];
        let comment = format!("{label}: rule {number} becomes rule {image}");
        out.push((format!("{label}-rule{number}.smt2"), w.finish(&comment, &asserts)));
    }
}
