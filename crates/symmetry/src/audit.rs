//! The checker's checker: do representatives behave like the states they stand for?
//!
//! On states met by random walks, in their real names: the successors of a state and those of its representative must have
//! the same canonical forms, as often, with the same violations, and both may stop or neither may. This is what soundness of
//! a representative means, checked on the user's own model. Compared are canonical forms, because a representative need not
//! be one: two successors that are renamings of each other may have different representatives.

use quotient_seams::{
    Exhausted, Interrupt, Representative, Scope, Successors, System, ViolationKind, random_walks,
};

/// What an audit found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// States compared with their representatives.
    pub states: u64,
    /// Of these, states that do not stand for themselves.
    pub renamed: u64,
    /// States that do not behave like their representative: a bug.
    pub wrong: u64,
}

/// A successor as its representative: kind of violation and words. Where it is may differ: a renaming can exchange threads that run different
/// code.
type Move = (Option<ViolationKind>, Vec<u64>);

fn moves<S: System, C: Representative<S>>(
    system: &mut S,
    canonical: &mut C,
    state: &[u64],
    out: &mut Successors,
) -> Result<Vec<Move>, Exhausted> {
    out.clear();
    system.successors(state, Scope::All, out)?;
    let mut moves: Vec<Move> = (0..out.len())
        .map(|index| {
            let mut words = Vec::new();
            if out.entry(index).has_state() && !canonical.representative(system, out.state(index), &mut words)
            {
                words = out.state(index).to_vec();
            }
            (out.entry(index).violation.map(|v| system.violation(v).kind), words)
        })
        .collect();
    moves.sort_unstable();
    Ok(moves)
}

/// Compares `samples` states with their representatives, fewer if it is interrupted; `canonical` is the canonical form.
pub fn audit<S: System, R: Representative<S>, C: Representative<S>>(
    system: &mut S,
    representative: &mut R,
    canonical: &mut C,
    samples: u64,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Audit, Exhausted> {
    let mut audit = Audit::default();
    let mut out = Successors::new();
    random_walks(system, samples, seed, interrupt, |system, state, _| {
        audit.states += 1;
        let mut stands = Vec::new();
        if representative.representative(system, state, &mut stands) {
            audit.renamed += 1;
            let expected = moves(system, canonical, state, &mut out)?;
            let found = moves(system, canonical, &stands, &mut out)?;
            let ends = !expected.is_empty() || system.is_valid_end(state) == system.is_valid_end(&stands);
            audit.wrong += u64::from(expected != found || !ends);
        }
        Ok(())
    })?;
    Ok(audit)
}
