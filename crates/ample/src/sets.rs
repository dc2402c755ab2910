//! Ample sets of threads.
//!
//! A set T of threads is proposed in a state when no step that a thread outside T (or one it may still start) can ever
//! take touches what the next steps of T's threads touch, in the sense of [`crate::objects`], *including* what decides
//! whether those next steps are possible. The moves of T then form an ample set (Clarke, Grumberg, Peled, "Model Checking",
//! 1999; seed 002 of the design, section 4):
//!
//! - **C0**, some move is explored if there is one: the search takes a proposal only when T can move.
//! - **C1**, nothing that depends on a move of T happens before one of them: on a path of other threads' steps, none of
//!   them writes what T's next steps read or write, or reads what they write, so each of T's moves stays possible, has
//!   the same effect, commutes with every step of the path, and T gets no new moves. A channel operation that is possible
//!   now stays so, since only T uses its end of the channel; one that is impossible waits for the other end, which is
//!   then part of what must not be touched.
//! - **C2**, for temporal questions: T's next steps write nothing that a proposition reads.
//! - **C3**, no thread is postponed for ever. For temporal questions T contains no thread whose next step may close a
//!   cycle of its control flow. In a cycle of states, the thread with the lowest id that moves goes round a cycle of its
//!   control flow (it cannot end: only threads with lower ids could start it again), so some state of the cycle was
//!   expanded whole. This needs no stack and no luck: every search, and both passes of a nested one, choose the same sets
//!   (Kurshan, Levin, Minea, Peled, Yenigün, "Static partial order reduction", 1998). For safety less is needed, and the
//!   search checks it ([`Proviso::SomeOpen`]): from every state a state that was expanded whole can be reached.
//!   Where states are replaced by representatives, a cycle of representatives leads from a state to a renaming of it; gone
//!   round as often as it takes, it is a cycle of states. Renamings can exchange locations, too, so that the representatives need not
//!   come to where the control flow goes back: a step closes a cycle as well if one does from a location that renamings exchange with
//!   its own ([`AmpleSets::beside`]); where these are not known, every step of a function that has a cycle does. While threads go round a cycle
//!   of states nobody is started, so all of them have one shape, and its renamings are those that count.
//! - **C4**, for CTL*-X: exactly one move ([`Ample::most_moves`]).
//!
//! **Safety.** Let a path w of the full graph start in a state s of the reduced graph and end in a failing step. Follow
//! the reduced graph from s to the state f that was expanded whole. While the ample moves on the way are not in w, they
//! commute with all of w: w is still possible and its last step still fails, because it reads the same values. When one is
//! in w, the first such can be taken first, and the rest of w, one step shorter, goes on from there. In f, the first step
//! of w is explored. So some path of the reduced graph ends in the same failing step, and by the same argument every
//! transformation that is ever taken is taken. A step that faults ends its path, so it commutes with nothing: the search
//! refuses a proposal with a faulting move, and the others cannot fault later (C1).
//!
//! **`timeout`** is false as long as T can move, on all these paths. A proposal is refused when T cannot move.
//!
//! What steps touch is known in two ways. Where a program has no objects and no calls, a thread's role and place say it
//! ([`crate::roles`]). Otherwise its frames say which parts of objects it may touch, and the state which objects these are
//! ([`crate::frames`]).

use quotient_machine::{Machine, Renaming};
use quotient_seams::{Ample, Passing, Proposals, Proviso, Scope, Successors, Worker};

use crate::Question;
use crate::frames::ByFrames;
use crate::roles::ByRoles;

/// Proposes ample sets for a compiled program.
#[derive(Clone, Debug)]
pub struct AmpleSets {
    proviso: Proviso,
    most_moves: usize,
    name: &'static str,
    by: By,
}

/// How it is known what steps touch.
#[derive(Clone, Debug)]
enum By {
    Roles(Box<ByRoles>),
    Frames(Box<ByFrames>),
}

/// Which steps are independent, and which states ample sets are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Independence {
    /// Allocations are independent of each other.
    pub symmetric: bool,
    /// States are replaced by representatives.
    pub renamed: bool,
}

/// Proposals per state.
pub(crate) const MOST_PROPOSALS: u32 = 7;

impl AmpleSets {
    /// Prepares the reduction of a program for a question, or says why there can be none.
    pub fn new(
        machine: &Machine,
        question: &Question,
        independence: Independence,
    ) -> Result<AmpleSets, &'static str> {
        let Independence { symmetric, renamed } = independence;
        let (by, name) = if machine.program().features.dynamic {
            let name = if symmetric { "si" } else { "on" };
            (By::Frames(Box::new(ByFrames::new(machine, question, symmetric)?)), name)
        } else {
            (By::Roles(Box::new(ByRoles::new(machine, question, renamed)?)), "on")
        };
        Ok(AmpleSets {
            proviso: if matches!(question, Question::Safety) { Proviso::SomeOpen } else { Proviso::None },
            most_moves: if matches!(question, Question::CtlStarX { .. }) { 1 } else { usize::MAX },
            name,
            by,
        })
    }
}

impl AmpleSets {
    /// Representatives are those of these renamings.
    pub fn beside(mut self, renaming: &Renaming) -> AmpleSets {
        if let By::Roles(roles) = &mut self.by {
            roles.set_renaming(renaming);
        }
        self
    }
}

impl Worker for AmpleSets {
    /// What is remembered holds for every worker: shapes have the same numbers.
    fn another(&self) -> AmpleSets {
        self.clone()
    }
}

impl Ample<Machine> for AmpleSets {
    const PROPOSALS: u32 = MOST_PROPOSALS;

    #[inline]
    fn proposals(&mut self, machine: &mut Machine, state: &[u64]) -> Proposals {
        match &mut self.by {
            By::Roles(sets) => {
                machine.meet_state(state);
                sets.look(machine, state)
            }
            By::Frames(sets) => sets.look(machine, state, MOST_PROPOSALS),
        }
    }

    /// The youngest thread first, so those that were not looked for come after.
    fn proposal(&mut self, machine: &mut Machine, state: &[u64], number: u32) -> Scope {
        match &mut self.by {
            By::Roles(_) => self.proposals(machine, state).get(number),
            By::Frames(sets) => sets.look(machine, state, MOST_PROPOSALS.min(number + 1)).get(number),
        }
    }

    /// Where objects are looked at, steps are executed.
    #[inline]
    fn one_by_one(&self) -> bool {
        matches!(self.by, By::Frames(_))
    }

    #[inline]
    fn passing(&mut self, machine: &mut Machine, from: &[u64], to: &[u64]) -> Passing {
        match &mut self.by {
            By::Roles(sets) => sets.passing(machine, from, to),
            By::Frames(_) => Passing::default(),
        }
    }

    #[inline]
    fn next_passing(
        &mut self,
        machine: &mut Machine,
        from: &[u64],
        successors: &Successors,
        first: usize,
    ) -> Option<(usize, Passing)> {
        match &mut self.by {
            By::Roles(sets) => sets.next_passing(machine, from, successors, first),
            By::Frames(_) => None,
        }
    }

    fn proviso(&self) -> Proviso {
        self.proviso
    }

    fn most_moves(&self) -> usize {
        self.most_moves
    }

    fn name(&self) -> &'static str {
        self.name
    }
}
