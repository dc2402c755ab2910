//! Which moves suffice from a state, and what has been tried of what an [`Ample`] set proposes.

use quotient_seams::{Ample, Exhausted, Proposals, Scope, Successors, System};

/// How far a search has come with the moves of a state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    /// The moves generated last: [`ALL`], [`REST`], or the number of the proposal plus [`FIRST`].
    pub(crate) tag: u32,
    /// Proposals tried.
    tried: u32,
    /// The threads they are moves of, if they were proposed, one bit each.
    proposed: u64,
    /// Threads whose moves were explored and did not suffice, one bit each.
    explored: u64,
}

/// The tag of all moves.
const ALL: u32 = 0;
/// The tag of the moves that are left when those of refused proposals have been explored already.
const REST: u32 = 1;
/// The tag of the first proposal's moves.
const FIRST: u32 = 2;

/// How many tags there are.
pub(crate) const fn tags<S: ?Sized, A: Ample<S>>() -> u32 {
    A::PROPOSALS + FIRST
}

impl Turn {
    /// Nothing has been tried.
    #[inline(always)]
    pub(crate) fn is_first(self) -> bool {
        self.tried == 0 && self.explored == 0
    }

    /// As numbers, to be written.
    pub(crate) fn numbers(self) -> [u64; 4] {
        [u64::from(self.tag), u64::from(self.tried), self.proposed, self.explored]
    }

    /// What was written as [`Turn::numbers`].
    pub(crate) fn of([tag, tried, proposed, explored]: [u64; 4]) -> Turn {
        Turn { tag: tag as u32, tried: tried as u32, proposed, explored }
    }

    /// The moves generated last are all that the state has.
    #[inline(always)]
    pub(crate) fn is_whole(self) -> bool {
        self.tag == ALL
    }

    /// The moves generated last are those of a proposal: the search may refuse them, and asks again.
    #[inline(always)]
    pub(crate) fn is_proposal(self) -> bool {
        self.tag >= FIRST
    }

    /// The moves generated last are not enough, but they have been explored: they need not be again.
    pub(crate) fn explored(self) -> Turn {
        Turn { explored: self.explored | self.proposed, ..self }
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

/// Generates moves that suffice from `state`: those of the first proposal after the last one tried that can be taken, or all that have
/// not been explored. A search that refuses them asks again.
#[inline]
pub(crate) fn suffice<S: System, A: Ample<S>>(
    system: &mut S,
    ample: &mut A,
    state: &[u64],
    turn: &mut Turn,
    out: &mut Successors,
) -> Result<(), Exhausted> {
    if A::PROPOSALS == 0 {
        return system.successors(state, Scope::All, out);
    }
    let one_by_one = ample.one_by_one();
    let all = if one_by_one { Proposals::default() } else { ample.proposals(system, state) };
    loop {
        let proposal = match one_by_one {
            true => ample.proposal(system, state, turn.tried),
            false => all.get(turn.tried),
        };
        if proposal == Scope::All {
            let (tag, scope) = match turn.explored {
                0 => (ALL, Scope::All),
                explored => (REST, Scope::Except(explored)),
            };
            turn.tag = tag;
            return system.successors(state, scope, out);
        }
        turn.tag = turn.tried + FIRST;
        turn.tried += 1;
        if may_be_taken(system, ample, state, proposal, out)? {
            turn.proposed = threads(proposal);
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
    match tag {
        ALL => return Ok(Scope::All),
        REST => {}
        proposal => return Ok(ample.proposal(system, state, proposal - FIRST)),
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
