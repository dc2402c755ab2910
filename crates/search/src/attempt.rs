//! Which moves suffice from a state, and what has been tried of what an [`Ample`] set proposes.

use quotient_seams::{Ample, Exhausted, Proposals, Scope, Successors, System};

/// How far the proposals for a state have been tried.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attempt {
    /// The moves generated last: 0 for all of them, else the number of the proposal plus 1, or [`rest`].
    pub(crate) tag: u32,
    /// The threads they are moves of, if they were proposed, one bit each.
    proposed: u64,
    /// Threads whose moves were explored and did not suffice, one bit each.
    explored: u64,
}

/// The tag of the moves that are left when those of refused proposals have been explored already.
pub(crate) const fn rest<S: ?Sized, A: Ample<S>>() -> u32 {
    A::PROPOSALS + 1
}

impl Attempt {
    /// The moves generated last are not enough, but they have been explored: they need not be again.
    pub(crate) fn add_to_explored(&mut self) {
        self.explored |= self.proposed;
    }
}

/// The threads of a proposal, one bit each.
fn threads(proposal: Scope) -> u64 {
    match proposal {
        Scope::Thread(thread) => 1 << thread,
        Scope::Threads(threads) => threads,
        Scope::All | Scope::Except(_) => 0,
    }
}

/// Generates moves that suffice from `state`: those of the first proposal behind the last attempt that can be taken, or all that have
/// not been explored. A search that refuses them asks again.
#[inline]
pub(crate) fn suffice<S: System, A: Ample<S>>(
    system: &mut S,
    ample: &mut A,
    state: &[u64],
    attempt: &mut Attempt,
    out: &mut Successors,
) -> Result<(), Exhausted> {
    if A::PROPOSALS == 0 {
        return system.successors(state, Scope::All, out);
    }
    let all = if A::ONE_BY_ONE { Proposals::default() } else { ample.proposals(system, state) };
    loop {
        let proposal = match A::ONE_BY_ONE {
            true => ample.proposal(system, state, attempt.tag),
            false => all.get(attempt.tag),
        };
        if proposal == Scope::All {
            let (tag, scope) = match attempt.explored {
                0 => (0, Scope::All),
                explored => (rest::<S, A>(), Scope::Except(explored)),
            };
            attempt.tag = tag;
            return system.successors(state, scope, out);
        }
        attempt.tag += 1;
        if may_be_taken(system, ample, state, proposal, out)? {
            attempt.proposed = threads(proposal);
            return Ok(());
        }
    }
}

/// Generates the moves of a proposal, if they may be explored alone: there must be some, but not too many, and none that ends
/// its path in a fault, since that commutes with nothing.
#[inline]
fn may_be_taken<S: System, A: Ample<S>>(
    system: &mut S,
    ample: &A,
    state: &[u64],
    proposal: Scope,
    out: &mut Successors,
) -> Result<bool, Exhausted> {
    let first = out.len();
    system.successors(state, proposal, out)?;
    let moves = out.len() - first;
    if (1..=ample.most_moves()).contains(&moves)
        && (!out.has_violations() || (first..out.len()).all(|i| out.entry(i).has_state()))
    {
        return Ok(true);
    }
    out.truncate(first);
    Ok(false)
}

/// The moves that a tag stands for.
pub(crate) fn tagged_scope<S: System, A: Ample<S>>(
    system: &mut S,
    ample: &mut A,
    state: &[u64],
    tag: u32,
) -> Result<Scope, Exhausted> {
    if tag == 0 {
        return Ok(Scope::All);
    }
    if tag != rest::<S, A>() {
        return Ok(ample.proposal(system, state, tag - 1));
    }
    let proposals = ample.proposals(system, state);
    // The rest is explored only after every proposal that may be taken was.
    let mut explored = 0;
    let mut out = Successors::new();
    for proposal in (0..).map(|number| proposals.get(number)).take_while(|p| *p != Scope::All) {
        if may_be_taken(system, ample, state, proposal, &mut out)? {
            explored |= threads(proposal);
        }
    }
    Ok(Scope::Except(explored))
}
