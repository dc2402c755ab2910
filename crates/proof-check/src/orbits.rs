//! Sets that contain every reachable state up to renaming.
//!
//! Let each map be a permutation of columns and values that takes the rules to the rules ([`crate::renamed`]), and let the violations of
//! the claim be taken to violations. If every fact, and every image of a set under a step, lies in a set *after some maps were applied*, then
//! every reachable state does: let `s` be in a set after renaming by `m`, and let a step lead from `s` to `t`. Then a step leads from `m(s)` to
//! `m(t)`, which lies in a set after renaming by some `n`; so `t` does after renaming by `m` and `n`. If no violation is in a set, none is
//! reachable, since its renamings would be violations, too.
//!
//! Which maps to apply needs no trust. They are applied one after the other as long as they make the values of some columns
//! smaller, in the order that the certificate gives: exchanges of neighbours sort processes by their places.

use crate::effort::Effort;
use crate::format::{Assertion, Orbits, Program, Right, States};
use crate::inductive;
use crate::renamed::{Renaming, automorphism};
use crate::smtlib::{Writer, and, or, tree};
use crate::trees::{Refusal, System};
use crate::unreachable::Context;

/// Maps that were applied, in order, by their positions.
pub type Path = Vec<usize>;

/// Longest path.
const LONGEST: usize = 200;

/// How states are renamed before they are looked up; not at all by default.
#[derive(Default)]
pub struct Canonical {
    maps: Vec<Renaming>,
    /// Columns whose values become smaller.
    order: Vec<usize>,
}

impl Canonical {
    /// Checks that the maps are what they have to be.
    pub fn new(context: &Context, orbits: &Orbits, claim: &Assertion) -> Result<Canonical, Refusal> {
        let mut maps = Vec::new();
        for &map in &orbits.maps {
            let assertion = &context.program.assertions[map];
            let renaming = automorphism(context.program, assertion, context.effort)?;
            renaming.keeps(context.program, claim, context.effort)?;
            maps.push(renaming);
        }
        let order = orbits.order.iter().map(|&f| context.program.finite[f].column).collect();
        Ok(Canonical { maps, order })
    }

    /// Whether nothing is renamed.
    pub fn is_empty(&self) -> bool {
        self.maps.is_empty()
    }

    /// The states renamed as far as that makes them smaller, with the maps applied so far and now.
    pub fn representative(
        &self,
        context: &Context,
        system: System,
        path: &Path,
    ) -> Result<(System, Path), Refusal> {
        let (mut system, mut path) = (system, path.clone());
        while path.len() < LONGEST {
            context.effort.spend((1 + self.maps.len()) * (1 + self.order.len()))?;
            let now = || self.order.iter().map(|c| &*system.sets[c + 1]);
            let smaller = |map: &Renaming| {
                let after = self.order.iter().map(|&c| map.values_after(&system, c));
                after.zip(now()).find(|(a, b)| a != *b).is_some_and(|(a, b)| a < *b)
            };
            let Some(next) = self.maps.iter().position(smaller) else { break };
            context.effort.spend(system.matrix.nodes() * system.matrix.nodes())?;
            system = self.maps[next].apply(context.program, &system)?;
            path.push(next);
        }
        Ok((system, path))
    }
}

/// For a solver: each map takes violations to violations, and each step from a set leads into one of those that its images were found
/// in, after these maps. (That maps take rules to rules is part of their own proofs.)
pub(crate) fn export(
    program: &Program,
    label: &str,
    claim: usize,
    found: &[States],
    orbits: &Orbits,
    out: &mut Vec<(String, String)>,
) {
    let effort = Effort::new(u64::MAX);
    let context = Context { program, invariants: Vec::new(), maps: &[], effort: &effort };
    let claim = &program.assertions[claim];
    let Ok(canonical) = Canonical::new(&context, orbits, claim) else { return };
    let Ok(arrivals) = inductive::check(&context, found, &canonical) else { return };
    let k = program.columns.len();
    if let Right::Constraint(right) = &claim.right {
        for (number, map) in canonical.maps.iter().enumerate() {
            let mut w = Writer::new(program);
            let state = w.constants("x", k);
            let own = w.constants("u", claim.nodes - (2 * k + 1));
            let bad = |state: &[String]| {
                let names = |n: usize| if n <= k { state[n - 1].clone() } else { own[n - 2 * k - 1].clone() };
                and(vec![tree(&claim.left, &names), format!("(not {})", tree(right, &names))])
            };
            let asserts = [w.domain(&state), bad(&state), format!("(not {})", bad(&map.terms(&state)))];
            let comment = format!("{label}: map {number} takes violations to violations");
            out.push((format!("{label}-map{number}.smt2"), w.finish(&comment, &asserts)));
        }
    }
    let from = found.iter().enumerate().map(|(at, states)| (Some(at), Some(states)));
    for (at, states) in std::iter::once((None, None)).chain(from) {
        for (rule, _) in program.rules.iter().enumerate().filter(|(_, r)| r.fact == at.is_none()) {
            let mut w = Writer::new(program);
            let (after, before) = (w.constants("a", k), w.constants("x", k));
            let own = w.constants("l", w.locals(rule));
            let mut asserts = vec![w.rule(rule, &before, &after, &own), w.domain(&after)];
            asserts.extend(states.map(|s| w.states(s, &before)));
            let arrived = arrivals.get(&(at, rule)).into_iter().flatten();
            let inside = arrived.map(|(path, set)| {
                let renamed =
                    path.iter().fold(after.clone(), |state, &map| canonical.maps[map].terms(&state));
                w.states(&found[*set], &renamed)
            });
            asserts.push(format!("(not {})", or(inside.collect())));
            let from = at.map_or("initial".to_owned(), |at| format!("set{at}"));
            let comment = format!("{label}: {from}, rule {rule} does not leave the invariant");
            out.push((format!("{label}-{from}-rule{rule}.smt2"), w.finish(&comment, &asserts)));
        }
    }
}
