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

use crate::futures::{Futures, MOST_THREADS};
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

    futures: Futures,
    /// The threads of the state being looked at.
    threads: Vec<Looked>,
    proposals: Vec<Scope>,
}

/// A thread of the state being looked at.
#[derive(Clone, Copy, Debug)]
struct Looked {
    /// The threads that can get in the way of its next step.
    in_the_way: u64,
    /// It may be able to move.
    movable: bool,
    /// Its next step may be in an ample set.
    eligible: bool,
}

/// Proposals per state.
const MOST_PROPOSALS: u32 = 7;

impl AmpleSets {
    /// Prepares the reduction of a program for a question, or says why there can be none.
    /// `renamed`: states are replaced by representatives.
    pub fn new(machine: &Machine, question: &Question, renamed: bool) -> Result<AmpleSets, &'static str> {
        let visible = question.visible().iter();
        let propositions =
            visible.flat_map(|e| Accesses::of_expression(machine.program(), renamed, e)).collect();
        let temporal = question.is_temporal();
        Ok(AmpleSets {
            tables: Tables::new(machine, renamed)?,
            proviso: if matches!(question, Question::Safety) { Proviso::SomeOpen } else { Proviso::None },
            breaks_cycles: temporal,
            most_moves: if matches!(question, Question::CtlStarX { .. }) { 1 } else { usize::MAX },
            propositions,
            visible: None,
            futures: Futures::default(),
            threads: Vec::new(),
            proposals: Vec::new(),
        })
    }

    /// Finds the proposals for a state.
    fn look(&mut self, machine: &Machine, state: &[u64]) {
        self.proposals.clear();
        let count = machine.thread_total(state);
        if !(2..=MOST_THREADS).contains(&count) {
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
        // Where the threads stand; the entries wait where their sets will be.
        self.threads.clear();
        for (thread, at) in machine.threads_at(state).enumerate() {
            let entry = self.tables.entry(machine, state, thread, at);
            self.futures.set(thread, self.tables.entries[entry].future, &self.tables.futures);
            self.threads.push(Looked { in_the_way: entry as u64, movable: false, eligible: false });
        }
        self.futures.truncate(count, &self.tables.futures);
        // The youngest first: it is most often the one that serves the others.
        for thread in (0..count).rev() {
            let entry = self.threads[thread].in_the_way as usize;
            let looked = self.look_at(machine, state, thread, entry, visible);
            self.threads[thread] = looked;
            if looked.in_the_way == 0 && looked.movable && looked.eligible {
                self.proposals.push(Scope::Thread(thread as u32));
                if self.proposals.len() == MOST_PROPOSALS as usize {
                    return;
                }
            }
        }
        if self.proposals.is_empty() && count > 2 {
            self.smallest_set();
        }
    }

    /// One thread of a state.
    #[inline]
    fn look_at(
        &self,
        machine: &Machine,
        state: &[u64],
        thread: usize,
        entry: usize,
        visible: u128,
    ) -> Looked {
        let entry = &self.tables.entries[entry];
        let (first, middle, end) = entry.bits;
        let bits = &self.tables.bits;
        let written = &bits[first as usize..middle as usize];
        let read = &bits[middle as usize..end as usize];
        let mut in_the_way = self.futures.in_the_way(written, read);
        let mut movable = !entry.only_channels;
        if entry.at_end && thread + 1 != self.threads.len() {
            in_the_way |= self.futures.writing(Objects::end_of_others());
            movable = false;
        }
        for wait in &self.tables.waits[entry.waits.0 as usize..entry.waits.1 as usize] {
            let Some(fill) = machine.fill(state, wait.channel) else {
                // A fault, sooner or later: no reason to wait.
                movable = true;
                continue;
            };
            let blocked = if wait.needs_room { fill.length >= fill.capacity } else { fill.length == 0 };
            if blocked {
                in_the_way |= self.futures.writing(wait.other_end);
            }
            movable |= wait.operation && (!blocked || fill.capacity == 0);
        }
        let eligible = entry.writes & visible == 0 && !(self.breaks_cycles && entry.closes_cycle);
        Looked { in_the_way: in_the_way & !(1 << thread), movable, eligible }
    }

    /// No thread can go alone: proposes the smallest set of threads that can go together, if it is not all of them.
    fn smallest_set(&mut self) {
        let threads = &self.threads;
        let movable = threads.iter().rev().fold(0u64, |set, t| set << 1 | u64::from(t.movable));
        let mut best: Option<u64> = None;
        let mut tried = 0u64;
        for thread in (0..threads.len()).filter(|t| movable >> t & 1 == 1) {
            let (mut set, mut done) = (1u64 << thread, 0u64);
            while set != done {
                let next = (set & !done).trailing_zeros();
                done |= 1 << next;
                // A thread that was tried before needs at least the set found then.
                if tried >> next & 1 == 1 || best.is_some_and(|b| set.count_ones() >= b.count_ones()) {
                    break;
                }
                set |= threads[next as usize].in_the_way;
            }
            tried |= 1 << thread;
            // A set with all threads that may move is no reduction.
            let members_eligible =
                || threads.iter().enumerate().all(|(t, looked)| set >> t & 1 == 0 || looked.eligible);
            if set == done && movable & !set != 0 && members_eligible() {
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
