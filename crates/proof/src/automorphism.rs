//! Which proved assertions a forward search may use: automorphisms of a model's transition relation.
//!
//! Relative safety speaks of the *set* of reachable states. A forward search that keeps one state for
//! several needs more: every step of one must be a step of the other. A one-level proof says that
//! the assertion's map takes each step to a step and each initial state to an initial state, whatever
//! the state; with a one-level proof of the inverse the map is an automorphism. A deeper proof says
//! nothing of the kind: the partner may be reachable by other steps, or have other successors, and
//! merging the two can lose states (`engine/tests/models/relative.rs` has a model where it does).
//!
//! The proof is about unbounded integers, the model's own wrap around. The maps accepted here permute
//! columns of equal types, and values of columns that only ever hold constants. Wrapping works column by
//! column, so it commutes with such a map; the two places where it would matter that a value had wrapped
//! (within one step, and in a comparison that computes) are found by the translation and refused here,
//! and so are proofs that rely on invariants, which may hold of unbounded integers only.

use quotient_program::Program as Model;
use quotient_proof_check::Established;
use quotient_proof_check::format::{Certificate, Proof, Right, Tree};
use quotient_source::{Diagnostics, SourceMap};

use crate::canonical::Map;
use crate::certificate;
use crate::domain::Domain;
use crate::frontend::promela::{Place, Translation};
use crate::language;
use crate::program::Program;
use crate::prove::violations;

/// A map of states: column `c` of the image holds the value of column `source[c]`, changed by `values[c]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automorphism {
    /// The assertion it comes from.
    pub name: String,
    /// Where each column's value comes from.
    pub source: Vec<usize>,
    /// For each column, values that change; the others stay.
    pub values: Vec<Vec<(i64, i64)>>,
}

/// What a certificate offers to a forward search of a model.
#[derive(Clone, Debug, Default)]
pub struct Usable {
    /// The maps.
    pub maps: Vec<Automorphism>,
    /// Assertions that cannot be used, with the reason.
    pub refused: Vec<String>,
    /// Whether some map exchanges processes that run different code.
    pub across_code: bool,
}

/// The maps of a certificate that are automorphisms of a model and preserve its claims. The error says
/// why the certificate as a whole is of no use.
pub fn automorphisms(
    certificate: &Certificate,
    model: &Model,
    translation: &Translation,
    map: &SourceMap,
) -> Result<Usable, String> {
    let program = language::program(&translation.items, &mut Diagnostics::new())
        .ok_or("the model's own assertions are not well formed")?;
    let domain = Domain::of(&program);
    let own = certificate::program(&program, &domain);
    if own.rules != certificate.program.rules || own.columns != certificate.program.columns {
        return Err("it is not about this model".into());
    }
    let candidates = Certificate {
        proofs: certificate.proofs.iter().filter(|p| candidate(p).is_ok()).cloned().collect(),
        ..certificate.clone()
    };
    let established = quotient_proof_check::check(&candidates).map_err(|e| format!("it is refused: {e}"))?;
    if let Some(span) = translation.ends {
        let at = map.file_line(span);
        return Err(format!("a process can end ({at}), and processes end in the order of their numbers"));
    }
    if let Some((span, what)) = &translation.unbounded {
        return Err(format!("the proof is about unbounded integers, and at {} {what}", map.file_line(*span)));
    }
    let mut usable = Usable::default();
    for (index, assertion) in certificate.program.assertions.iter().enumerate() {
        if !matches!(assertion.right, Right::State(_)) {
            continue;
        }
        let found = one_level(certificate, established.iter().find(|e| e.assertion == index), index)
            .and_then(|()| permutation(certificate, index, translation))
            .and_then(|found| preserves_ends(&found, model, translation).map(|across| (found, across)))
            .and_then(|found| {
                preserves_claims(certificate, index, &program, &domain, translation).map(|()| found)
            });
        match found {
            Ok((found, across)) => {
                usable.across_code |= across;
                usable.maps.push(found);
            }
            Err(reason) => usable.refused.push(format!("`{}` is not used: {reason}", assertion.name)),
        }
    }
    Ok(usable)
}

/// Whether a proof is what a forward search needs, going by what it claims. Only such proofs are checked, alone: they
/// rely on no other.
fn candidate(proof: &Proof) -> Result<usize, &'static str> {
    let (group, invariants, one_level, inverse) = match proof {
        Proof::Renamed { assertion } => return Ok(*assertion),
        Proof::Relative { group, invariants, one_level, inverse, .. } => {
            (group, invariants, one_level, inverse)
        }
        _ => return Err("it relates no two states"),
    };
    match (&group[..], *one_level) {
        ([_], true) => {}
        _ => {
            return Err(
                "its proof is deeper than one level: it says which states are reachable, not which steps \
                        correspond, and serves backward proofs only",
            );
        }
    }
    if inverse.is_none() {
        return Err("its inverse has no one-level proof in the certificate");
    }
    if !invariants.is_empty() {
        return Err("its proof relies on invariants, which are proved for unbounded integers only");
    }
    Ok(group[0])
}

/// The proof of an assertion is there, is checked, and is what a forward search needs.
fn one_level(
    certificate: &Certificate,
    established: Option<&Established>,
    index: usize,
) -> Result<(), String> {
    let proof = certificate
        .proofs
        .iter()
        .find(|p| match p {
            Proof::Renamed { assertion } => *assertion == index,
            Proof::Relative { group, .. } => group.contains(&index),
            _ => false,
        })
        .ok_or("it is not proved")?;
    candidate(proof)?;
    match established {
        Some(e) if e.one_level && e.one_level_inverse && e.assumptions.is_empty() => Ok(()),
        _ => Err("its proof does not establish what it claims".into()),
    }
}

/// All parts of a conjunction.
fn conjuncts<'t>(tree: &'t Tree, out: &mut Vec<&'t Tree>) {
    match tree {
        Tree::And(list) => list.iter().for_each(|t| conjuncts(t, out)),
        other => out.push(other),
    }
}

fn holds(tree: &Tree, value: &dyn Fn(usize) -> i64) -> bool {
    match tree {
        Tree::Le(l) => {
            l.terms.iter().map(|&(n, c)| i128::from(c) * i128::from(value(n))).sum::<i128>()
                <= i128::from(l.bound)
        }
        Tree::And(list) => list.iter().all(|t| holds(t, value)),
        Tree::Or(list) => list.iter().any(|t| holds(t, value)),
    }
}

fn nodes(tree: &Tree, out: &mut Vec<usize>) {
    match tree {
        Tree::Le(l) => out.extend(l.terms.iter().map(|t| t.0)),
        Tree::And(list) | Tree::Or(list) => list.iter().for_each(|t| nodes(t, out)),
    }
}

/// Reads the assertion as a permutation of columns and of values.
fn permutation(
    certificate: &Certificate,
    index: usize,
    translation: &Translation,
) -> Result<Automorphism, String> {
    let assertion = &certificate.program.assertions[index];
    let k = certificate.program.columns.len();
    let Right::State(right) = &assertion.right else { return Err("it relates no two states".into()) };
    let mut conditions = Vec::new();
    conjuncts(&assertion.left, &mut conditions);
    if !conditions.is_empty() || assertion.nodes > 2 * k + 1 {
        return Err("it speaks of some states only, not of all".into());
    }
    let mut parts = Vec::new();
    conjuncts(right, &mut parts);
    let (mut source, mut values) = (Vec::new(), Vec::new());
    for column in 0..k {
        let y = k + column + 1;
        let name = &certificate.program.columns[column];
        let own: Vec<&Tree> = parts
            .iter()
            .copied()
            .filter(|part| {
                let mut list = Vec::new();
                nodes(part, &mut list);
                list.contains(&y)
            })
            .collect();
        let mut mentioned = Vec::new();
        own.iter().for_each(|part| nodes(part, &mut mentioned));
        mentioned.sort_unstable();
        mentioned.dedup();
        let x = match mentioned[..] {
            [x, other] if other == y && x <= k => x,
            _ => return Err(format!("its right side does not say {name} by one column of the left")),
        };
        source.push(x - 1);
        values.push(value_map(certificate, &own, x, y).ok_or_else(|| {
            format!("its right side gives {name} a value that is neither that of a column nor a permutation of values")
        })?);
    }
    let mut sorted = source.clone();
    sorted.sort_unstable();
    if sorted != (0..k).collect::<Vec<_>>() {
        return Err("it is not a permutation of the columns".into());
    }
    for (column, &from) in source.iter().enumerate() {
        let (to, from) = (&translation.columns[column], &translation.columns[from]);
        if to.ty != from.ty {
            return Err(format!("{} and {} have different types", from.name, to.name));
        }
        let fits = |v: i64| to.ty.is_none_or(|ty| i32::try_from(v).is_ok_and(|v| ty.wrap(v) == v));
        if !values[column].iter().all(|&(_, v)| fits(v)) {
            return Err(format!("{} cannot hold a value it would get", to.name));
        }
    }
    Ok(Automorphism { name: assertion.name.clone(), source, values })
}

/// The values that change on the way from node `x` to node `y`; none when it is the identity. `None` when the
/// relation is not a permutation that leaves all but finitely many values alone.
fn value_map(certificate: &Certificate, parts: &[&Tree], x: usize, y: usize) -> Option<Vec<(i64, i64)>> {
    let related = |a: i64, b: i64| {
        parts.iter().all(|p| {
            holds(p, &|n| {
                if n == x {
                    a
                } else if n == y {
                    b
                } else {
                    0
                }
            })
        })
    };
    // Every constant the relation mentions lies strictly inside this range; beyond it nothing changes any more.
    fn largest(tree: &Tree) -> i64 {
        match tree {
            Tree::Le(l) => l.bound.saturating_abs(),
            Tree::And(list) | Tree::Or(list) => list.iter().map(largest).max().unwrap_or(0),
        }
    }
    let limit = parts.iter().map(|p| largest(p)).max()?.checked_add(2).filter(|l| *l <= 1000)?;
    let finite = certificate.program.finite.iter().find(|f| f.column + 1 == x);
    let mut moved = Vec::new();
    for a in -limit..=limit {
        let images: Vec<i64> = (-limit..=limit).filter(|&b| related(a, b)).collect();
        match images[..] {
            [b] if a == b => {}
            [b] => moved.push((a, b)),
            // A value the column never holds needs no image.
            [] if finite.is_some_and(|f| !f.values.contains(&a)) => {}
            _ => return None,
        }
    }
    let far = limit + 5;
    let beyond =
        related(far, far) && related(-far, -far) && !related(far, far + 1) && !related(-far, -far + 1);
    if !beyond && finite.is_none_or(|f| f.values.iter().any(|v| v.abs() > limit)) {
        return None;
    }
    // A permutation: what moves in is what moves out.
    let (mut from, mut to): (Vec<i64>, Vec<i64>) = moved.iter().copied().unzip();
    from.sort_unstable();
    to.sort_unstable();
    (from == to).then_some(moved)
}

/// Processes keep their valid end states. Says whether any of them runs other code than its partner.
fn preserves_ends(found: &Automorphism, model: &Model, translation: &Translation) -> Result<bool, String> {
    let mut across = false;
    for (column, &from) in found.source.iter().enumerate() {
        let (Place::Counter { function: to, .. }, Place::Counter { function: from, .. }) =
            (translation.columns[column].place, translation.columns[from].place)
        else {
            if translation.columns[column].ty.is_none() || translation.columns[from].ty.is_none() {
                return Err("it exchanges a program counter and a variable".into());
            }
            continue;
        };
        if !found.values[column].is_empty() {
            return Err("it changes the places of a process".into());
        }
        if to != from {
            across = true;
            let ends = |f| model.function(f).locations.iter().map(|l| l.end).collect::<Vec<_>>();
            if ends(to) != ends(from) {
                return Err("it exchanges processes with different end labels".into());
            }
        }
    }
    Ok(across)
}

/// The image of a violation is one of the same claim. (The map has finite order, so this holds for its inverse, too.)
fn preserves_claims(
    certificate: &Certificate,
    index: usize,
    program: &Program,
    domain: &Domain,
    translation: &Translation,
) -> Result<(), String> {
    let name = &certificate.program.assertions[index].name;
    let at = program.assertions.iter().position(|a| a.name == *name);
    let at = at.filter(|&at| {
        certificate::program(program, domain).assertions[at] == certificate.program.assertions[index]
    });
    // An assertion of the certificate that the model does not state is compiled the same way.
    let mut with = program.clone();
    let at = match at {
        Some(at) => at,
        None => {
            with.assertions.push(
                certificate::assertion(&certificate.program.assertions[index]).ok_or("it is too large")?,
            );
            with.assertions.len() - 1
        }
    };
    let image = Map::of(&with, domain, at)?;
    for claim in with.assertions.iter().filter(|a| translation.claims.contains(&a.name)) {
        let show = |e: crate::constraint::Overflow| e.to_string();
        let bad = violations(&with, domain, claim).map_err(show)?;
        for state in &bad {
            let mut inside = false;
            if let Some(image) = image.image(state).map_err(show)? {
                for other in &bad {
                    inside = inside || image.included_in(other).map_err(show)?;
                }
            }
            if !inside {
                return Err(format!(
                    "the claim `{}` of the model is not shown to be invariant under it",
                    claim.name
                ));
            }
        }
    }
    Ok(())
}
