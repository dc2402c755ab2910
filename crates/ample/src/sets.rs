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

use quotient_machine::Machine;
use quotient_residual::access::{Accesses, Touch};
use quotient_system::Scope;

use crate::objects::Objects;
use crate::tables::Tables;
use crate::{Ample, Proviso, Question};

/// Proposes ample sets for a compiled program.
#[derive(Debug)]
pub struct AmpleSets {
    tables: Tables,
    proviso: Proviso,
    /// Cycles of the control flow must not be closed by an ample step.
    breaks_cycles: bool,
    most_moves: usize,
    propositions: Vec<Touch>,
    /// The bits of the propositions; known once there is a state.
    visible: Option<u128>,

    /// Entries of the threads of the state being looked at.
    now: Vec<usize>,
    proposals: Vec<Scope>,
    /// Per thread: what its next step touches, and the threads that can get in its way.
    conflicts: Vec<u64>,
}

/// Proposals per state.
const MOST_PROPOSALS: u32 = 7;

impl AmpleSets {
    /// Prepares the reduction of a program for a question, or says why there can be none.
    pub fn new(machine: &Machine, question: &Question) -> Result<AmpleSets, &'static str> {
        let visible = question.visible().iter();
        let propositions = visible.flat_map(|e| Accesses::of_expression(machine.program(), e)).collect();
        let temporal = question.is_temporal();
        Ok(AmpleSets {
            tables: Tables::new(machine)?,
            proviso: if matches!(question, Question::Safety) { Proviso::SomeOpen } else { Proviso::None },
            breaks_cycles: temporal,
            most_moves: if matches!(question, Question::CtlStarX { .. }) { 1 } else { usize::MAX },
            propositions,
            visible: None,
            now: Vec::new(),
            proposals: Vec::new(),
            conflicts: Vec::new(),
        })
    }

    /// May a thread at this entry be in an ample set at all?
    #[inline]
    fn is_eligible(&self, entry: usize, visible: u128) -> bool {
        let entry = &self.tables.entries[entry];
        entry.next.write & visible == 0 && !(self.breaks_cycles && entry.closes_cycle)
    }

    /// What a thread waits for in this state, on top of what its next steps touch; `None` when it surely cannot move.
    #[inline]
    fn waits(&self, machine: &Machine, state: &[u64], entry: usize, youngest: bool) -> (u128, bool) {
        let entry = &self.tables.entries[entry];
        if entry.at_end && !youngest {
            return (Objects::waits_for_ends(), false);
        }
        let (mut read, mut possible) = (0, !entry.only_channels);
        for wait in &self.tables.waits[entry.waits.0 as usize..entry.waits.1 as usize] {
            let Some(fill) = machine.fill(state, wait.channel) else {
                possible = true;
                continue;
            };
            let (empty, full) = (fill.length == 0, fill.length == fill.capacity);
            read |= if empty { wait.when_empty } else { 0 } | if full { wait.when_full } else { 0 };
            let blocked = empty && wait.when_empty != 0 || full && wait.when_full != 0;
            possible |= wait.operation && (!blocked || fill.capacity == 0);
        }
        (read, possible)
    }

    fn look(&mut self, machine: &Machine, state: &[u64]) {
        self.proposals.clear();
        let threads = machine.thread_total(state);
        if threads < 2 {
            return;
        }
        let visible = match self.visible {
            Some(bits) => bits,
            None => {
                let bits = self.tables.visible(machine, state, &self.propositions);
                self.visible = Some(bits);
                bits
            }
        };
        // What some thread, and what more than one thread, may still touch and write.
        let (mut once, mut twice, mut once_written, mut twice_written) = (0u128, 0u128, 0u128, 0u128);
        self.now.clear();
        for thread in 0..threads {
            let at = self.tables.entry(machine, state, thread);
            self.now.push(at);
            let entry = &self.tables.entries[at];
            twice |= once & entry.future;
            once |= entry.future;
            twice_written |= once_written & entry.future_writes;
            once_written |= entry.future_writes;
        }
        for thread in 0..threads {
            let at = self.now[thread];
            let entry = &self.tables.entries[at];
            let others = twice | once & !entry.future;
            let others_write = twice_written | once_written & !entry.future_writes;
            if entry.next.write & others != 0
                || entry.next.read & others_write != 0
                || !self.is_eligible(at, visible)
            {
                continue;
            }
            let (read, possible) = self.waits(machine, state, at, thread + 1 == threads);
            if possible && read & others_write == 0 {
                self.proposals.push(Scope::Thread(thread as u32));
                if self.proposals.len() == MOST_PROPOSALS as usize {
                    return;
                }
            }
        }
        if self.proposals.is_empty() && (3..=64).contains(&threads) {
            self.close(machine, state, visible);
        }
    }

    /// No thread can go alone: the smallest sets of threads that can go together.
    fn close(&mut self, machine: &Machine, state: &[u64], visible: u128) {
        let threads = self.now.len();
        let mut movable = 0u64;
        self.conflicts.clear();
        for thread in 0..threads {
            let at = self.now[thread];
            let next = self.tables.entries[at].next;
            let (read, possible) = self.waits(machine, state, at, thread + 1 == threads);
            let read = next.read | read;
            movable |= u64::from(possible) << thread;
            let mut row = 0u64;
            for (other, at) in self.now.iter().enumerate().filter(|(o, _)| *o != thread) {
                let future = &self.tables.entries[*at];
                let conflict = next.write & future.future | read & future.future_writes;
                row |= u64::from(conflict != 0) << other;
            }
            self.conflicts.push(row);
        }
        let mut best: Option<u64> = None;
        for thread in 0..threads {
            if movable >> thread & 1 == 0 {
                continue;
            }
            let (mut set, mut done) = (1u64 << thread, 0u64);
            while set != done {
                let next = (set & !done).trailing_zeros();
                done |= 1 << next;
                set |= self.conflicts[next as usize];
                if best.is_some_and(|b| set.count_ones() >= b.count_ones()) {
                    break;
                }
            }
            // A set with all threads that may move is no reduction.
            let members = |t: &usize| set >> *t & 1 == 1;
            if set == done
                && movable & !set != 0
                && (0..threads).filter(members).all(|t| self.is_eligible(self.now[t], visible))
            {
                best = Some(set);
            }
        }
        self.proposals.extend(best.map(Scope::Threads));
    }
}

impl Ample<Machine> for AmpleSets {
    const PROPOSALS: u32 = MOST_PROPOSALS;

    #[inline]
    fn propose(&mut self, machine: &Machine, state: &[u64], attempt: u32) -> Scope {
        if attempt == 0 {
            self.look(machine, state);
        }
        self.proposals.get(attempt as usize).copied().unwrap_or(Scope::All)
    }

    fn proviso(&self) -> Proviso {
        self.proviso
    }

    fn most_moves(&self) -> usize {
        self.most_moves
    }

    fn name(&self) -> &'static str {
        "on"
    }
}
