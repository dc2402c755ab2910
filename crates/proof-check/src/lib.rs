//! Checks certificates of the relative-safety prover, trusting nothing of it.
//!
//! The certificate contains the program in normal form, the assertions, and for each proof the
//! table the prover ended with. The checker redoes every unfolding and decides every entailment with
//! a procedure of its own ([`matrix`]). It is small on purpose: read it instead of the prover.
//!
//! What it does not do: relate the normal form to the source text (the command compares the
//! certificate's program with the one it reads from the file), and decide general linear
//! inequalities: a table that needs them is refused, and an invariant at loop heads ([`format::Cells`]) brings the
//! combinations of rows that show them, which are only added up.

mod cells;
mod cells_smtlib;
mod closing;
pub mod effort;
pub mod format;
mod inductive;
mod integer;
mod inverse;
mod listed;
pub mod matrix;
mod orbits;
mod relative;
mod renamed;
pub mod smtlib;
pub mod trees;
mod unreachable;
pub mod validate;

use std::collections::BTreeMap;

use effort::Effort;
use format::{Assertion, Certificate, FORMAT, Program, Proof, Right, Start, Tree, Unreachable};
use trees::{Refusal, System, expand, negated};
use unreachable::{Context, Index};

/// What a valid certificate establishes about an assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Established {
    /// The assertion.
    pub assertion: usize,
    /// Whether it is length-non-increasing.
    pub length_bounded: bool,
    /// Whether its proof is one-level: its map takes every step to a step.
    pub one_level: bool,
    /// Whether its inverse has a one-level proof.
    pub one_level_inverse: bool,
    /// Assumptions it depends on.
    pub assumptions: Vec<usize>,
}

impl Established {
    /// Nothing beside the assertion.
    fn plain(assertion: usize, assumptions: Vec<usize>) -> Established {
        let (length_bounded, one_level, one_level_inverse) = (false, false, false);
        Established { assertion, length_bounded, one_level, one_level_inverse, assumptions }
    }
}

/// Reads a certificate from JSON text.
pub fn read(text: &str) -> serde_json::Result<Certificate> {
    serde_json::from_str(text)
}

/// Checks a certificate given as JSON text.
pub fn check_text(text: &str) -> Result<Vec<Established>, Refusal> {
    check(&read(text).map_err(|e| format!("not a certificate: {e}"))?)
}

/// Checks a certificate.
pub fn check(certificate: &Certificate) -> Result<Vec<Established>, Refusal> {
    check_within(certificate, &Effort::for_certificate(certificate))
}

/// The same, with as much work as the caller allows.
pub fn check_within(certificate: &Certificate, effort: &Effort) -> Result<Vec<Established>, Refusal> {
    if certificate.format != FORMAT {
        return Err(format!("unknown format `{}`", certificate.format));
    }
    let mut checker = Checker::new(certificate.program.clone(), effort)?;
    for (number, proof) in certificate.proofs.iter().enumerate() {
        checker.accept(proof, effort).map_err(|e| format!("proof {number}: {e}"))?;
    }
    Ok(checker.established())
}

/// Checks proofs about one program, each of which may rely on those before it.
pub struct Checker {
    program: Program,
    known: BTreeMap<usize, Established>,
}

impl Checker {
    /// Nothing is established but what the program assumes.
    pub fn new(program: Program, effort: &Effort) -> Result<Checker, Refusal> {
        validate::program(&program)?;
        finite_columns(&program, effort)?;
        let assumed = |(index, assertion): (usize, &Assertion)| {
            let established = Established {
                assertion: index,
                length_bounded: assertion.nonincreasing,
                one_level: false,
                one_level_inverse: false,
                assumptions: vec![index],
            };
            assertion.assumed.then_some((index, established))
        };
        let known = program.assertions.iter().enumerate().filter_map(assumed).collect();
        Ok(Checker { program, known })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Checks the next proof. One that is refused changes nothing.
    pub fn accept(&mut self, proof: &Proof, effort: &Effort) -> Result<(), Refusal> {
        validate::proof(&self.program, proof)?;
        for established in check_proof(&self.program, proof, &self.known, effort)? {
            self.known.insert(established.assertion, established);
        }
        Ok(())
    }

    /// What the proofs so far establish, without assumptions.
    pub fn established(self) -> Vec<Established> {
        let Checker { program, known } = self;
        known.into_values().filter(|e| !program.assertions[e.assertion].assumed).collect()
    }
}

/// Whether a relative assertion permutes columns and values, takes the rules to the rules, and the violations of a safety claim to violations.
pub fn keeps(program: &Program, map: usize, claim: usize, effort: &Effort) -> Result<(), Refusal> {
    let renaming = renamed::automorphism(program, &program.assertions[map], effort)?;
    renaming.keeps(program, &program.assertions[claim], effort)
}

/// A tree without the inequalities that are not differences: it allows more.
fn differences(tree: &Tree) -> Tree {
    match tree {
        Tree::Le(l) if !l.terms.is_empty() && matrix::difference(l).is_none() => Tree::And(Vec::new()),
        Tree::Le(l) => Tree::Le(l.clone()),
        Tree::And(list) => Tree::And(list.iter().map(differences).collect()),
        Tree::Or(list) => Tree::Or(list.iter().map(differences).collect()),
    }
}

/// No fact or rule gives a finite column a value outside its list.
fn finite_columns(program: &Program, effort: &Effort) -> Result<(), Refusal> {
    for finite in &program.finite {
        for rule in program.rules.iter().filter(|r| r.fact || !r.unchanged[finite.column]) {
            let node = finite.column + 1;
            let guard = differences(&rule.guard);
            for system in expand(&guard, &System::new(rule.nodes), &|n| n, effort)? {
                let mut gaps = vec![(None, finite.values.first().map(|v| i128::from(*v) - 1))];
                for pair in finite.values.windows(2) {
                    gaps.push((Some(i128::from(pair[0]) + 1), Some(i128::from(pair[1]) - 1)));
                }
                gaps.push((finite.values.last().map(|v| i128::from(*v) + 1), None));
                effort.spend(gaps.len() * rule.nodes * rule.nodes)?;
                for (low, high) in gaps {
                    let mut outside = system.clone();
                    outside.matrix.add(low.map(|l| (0, node, -l)));
                    outside.matrix.add(high.map(|h| (node, 0, h)));
                    if !outside.is_empty() {
                        return Err(format!("column {} can have a value that is not listed", finite.column));
                    }
                }
            }
        }
    }
    Ok(())
}

/// A proved safety claim as a tree over the columns.
fn invariant(program: &Program, index: usize) -> Result<Tree, Refusal> {
    let assertion = &program.assertions[index];
    let Right::Constraint(claim) = &assertion.right else {
        return Err("an invariant relates two states".into());
    };
    if assertion.universal > 2 * program.columns.len() + 1 {
        return Err("an invariant has variables of its own".into());
    }
    Ok(Tree::Or(vec![negated(&assertion.left)?, claim.clone()]))
}

fn check_proof(
    program: &Program,
    proof: &Proof,
    known: &BTreeMap<usize, Established>,
    effort: &Effort,
) -> Result<Vec<Established>, Refusal> {
    let need = |index: usize| -> Result<&Established, Refusal> {
        known.get(&index).ok_or_else(|| format!("assertion {index} is used before it is proved"))
    };
    let mut assumptions = Vec::new();
    let mut invariants = Vec::new();
    let listed: &[usize] = match proof {
        Proof::Safety { invariants, .. } | Proof::Relative { invariants, .. } => invariants,
        Proof::Cells { .. } | Proof::Listed { .. } | Proof::Renamed { .. } => &[],
    };
    for &index in listed {
        assumptions.extend(&need(index)?.assumptions);
        invariants.push(invariant(program, index)?);
    }
    match proof {
        Proof::Safety { assertion, maps, start, table, found, under, .. } => {
            for &map in maps {
                let established = need(map)?;
                if !established.length_bounded {
                    return Err(format!("assertion {map} is used as a map but not length-non-increasing"));
                }
                assumptions.extend(&established.assumptions);
            }
            let claim = &program.assertions[*assertion];
            let Right::Constraint(right) = &claim.right else { return Err("not a safety assertion".into()) };
            let mut context = Context { program, invariants, maps, effort };
            if !found.is_empty() {
                let orbits = match under {
                    Some(under) => orbits::Canonical::new(&context, under, claim)?,
                    None => orbits::Canonical::default(),
                };
                inductive::check(&context, found, &orbits)?;
                context.invariants.push(inductive::tree(&context, found));
            }
            let mut bad = context.universe();
            bad.matrix = bad.matrix.extended(claim.nodes - bad.matrix.nodes());
            let tree = Tree::And(vec![claim.left.clone(), negated(right)?]);
            let k = program.columns.len();
            let start: Vec<&Start> = start.iter().collect();
            for system in expand(&tree, &bad, &|n| n, effort)? {
                let columns: Vec<usize> = (0..=k).collect();
                let mut parts = vec![System { matrix: system.matrix.select(&columns), sets: system.sets }];
                for invariant in &context.invariants {
                    let mut next = Vec::new();
                    for part in &parts {
                        next.extend(expand(invariant, part, &|n| n, effort)?);
                    }
                    parts = next;
                }
                for part in parts {
                    if !split_covered(&context, part, &start, table)? {
                        return Err("a violating state is not covered".into());
                    }
                }
            }
            context.check(table)?;
            assumptions.sort_unstable();
            assumptions.dedup();
            Ok(vec![Established::plain(*assertion, assumptions)])
        }
        Proof::Cells { assertion, cells } => {
            cells::check(program, &program.assertions[*assertion], cells, effort)?;
            Ok(vec![Established::plain(*assertion, assumptions)])
        }
        Proof::Renamed { assertion } => {
            renamed::automorphism(program, &program.assertions[*assertion], effort)?;
            Ok(vec![Established {
                assertion: *assertion,
                length_bounded: true,
                one_level: true,
                one_level_inverse: true,
                assumptions,
            }])
        }
        Proof::Listed { assertion, states } => {
            let context = Context { program, invariants, maps: &[], effort };
            listed::check(&context, &program.assertions[*assertion], states)?;
            Ok(vec![Established::plain(*assertion, assumptions)])
        }
        Proof::Relative { group, length_bounded, one_level, split, entries, dead, inverse, .. } => {
            let unreachable = Context { program, invariants: invariants.clone(), maps: &[], effort };
            unreachable.check(dead)?;
            let check = relative::Check {
                program,
                invariants,
                group,
                known,
                length_bounded: *length_bounded,
                one_level: *one_level,
                split: *split,
                entries,
                dead,
                index: Index::of(program, &dead.sets),
                unreachable: &unreachable,
                effort,
                used: std::cell::RefCell::new(Vec::new()),
            };
            check.run()?;
            if let Some(entries) = inverse {
                inverse::check(program, group, entries, known, effort)
                    .map_err(|e| format!("its inverse: {e}"))?;
            }
            for index in check.used.into_inner() {
                assumptions.extend(&need(index)?.assumptions);
            }
            assumptions.sort_unstable();
            assumptions.dedup();
            let (length_bounded, one_level) = (*length_bounded, *one_level);
            Ok(group
                .iter()
                .map(|&assertion| Established {
                    assertion,
                    length_bounded,
                    one_level,
                    one_level_inverse: inverse.is_some(),
                    assumptions: assumptions.clone(),
                })
                .collect())
        }
    }
}

/// Covered as a whole, or value by value in the first finite column with several values.
fn split_covered(
    context: &Context,
    system: System,
    start: &[&Start],
    table: &Unreachable,
) -> Result<bool, Refusal> {
    let finite = &context.program.finite;
    let values: usize = system.sets.iter().map(|(_, v)| v.len()).sum();
    context.effort.spend((1 + start.len()) * (1 + values))?;
    let meant = |s: &&&Start, all: bool| {
        let fits = |values: &[i64], own: &[i64]| {
            if all { own.iter().all(|v| values.contains(v)) } else { own.iter().any(|v| values.contains(v)) }
        };
        s.values.len() == finite.len()
            && finite.iter().zip(&s.values).all(|(f, values)| fits(values, &system.sets[f.column + 1]))
    };
    for part in start.iter().filter(|s| meant(s, true)) {
        if context.covered(&system, &part.covers, &table.sets)? {
            return Ok(true);
        }
    }
    let Some((node, values)) = system.sets.iter().find(|(_, v)| v.len() > 1) else { return Ok(false) };
    let near: Vec<&Start> = start.iter().filter(|s| meant(s, false)).copied().collect();
    for &value in values {
        let mut part = system.clone();
        part.sets.insert(node, vec![value]);
        if !split_covered(context, part, &near, table)? {
            return Ok(false);
        }
    }
    Ok(true)
}
