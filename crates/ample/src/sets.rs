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
//!   round as often as it takes, it is a cycle of states. Threads that change places run the same function, so in it, too,
//!   no thread closes a cycle of its control flow unless some representative was expanded whole.
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

use quotient_machine::{Fill, Machine};
use quotient_residual::access::{Accesses, Touch};
use quotient_system::Successors;

use crate::futures::{Futures, MOST_THREADS};
use crate::memo::Memo;
use crate::objects::Objects;
use crate::tables::Tables;
use crate::usual::{Known, Looks, Step, Usual, UsualThread};
use crate::{Ample, Passing, Proposals, Proviso, Question};

/// Proposes ample sets for a compiled program.
#[derive(Debug)]
pub struct AmpleSets {
    tables: Tables,
    proviso: Proviso,
    /// Cycles of the control flow must not be closed by an ample step.
    breaks_cycles: bool,
    /// States may be passed through.
    passes: bool,
    most_moves: usize,
    propositions: Vec<Touch>,
    /// The bits of the propositions; known once there is a state. Where states are replaced by representatives, they are
    /// those of the state looked at last: what a fixed expression names may have changed places.
    visible: Option<u128>,
    renamed: bool,

    futures: Futures,
    /// Per entry: what was found out about it, as long as no thread's future changes.
    known: Vec<Known>,
    /// Entries of the threads of the state being looked at.
    entries: [u32; MOST_THREADS],
    /// Per thread, the others that can get in the way of its next step.
    in_the_way: [u64; MOST_THREADS],
    usual: Usual,
    /// What was proposed before.
    memo: Memo<Proposals>,
    /// Entries that the tables had when the state before was looked at.
    tabled: usize,
    /// The version of the futures that are those of the state looked at last.
    looked: u64,
}

/// Proposals per state.
const MOST_PROPOSALS: u32 = 7;

impl AmpleSets {
    /// Prepares the reduction of a program for a question, or says why there can be none.
    /// `renamed`: states are replaced by representatives.
    pub fn new(machine: &Machine, question: &Question, renamed: bool) -> Result<AmpleSets, &'static str> {
        let visible = question.visible().iter();
        let propositions = visible.flat_map(|e| Accesses::of_expression(machine.program(), e)).collect();
        let temporal = question.is_temporal();
        Ok(AmpleSets {
            tables: Tables::new(machine, renamed)?,
            proviso: if matches!(question, Question::Safety) { Proviso::SomeOpen } else { Proviso::None },
            breaks_cycles: temporal,
            passes: !temporal,
            most_moves: if matches!(question, Question::CtlStarX { .. }) { 1 } else { usize::MAX },
            propositions,
            visible: None,
            renamed,
            futures: Futures::default(),
            known: Vec::new(),
            entries: [0; MOST_THREADS],
            in_the_way: [0; MOST_THREADS],
            usual: Usual::default(),
            memo: Memo::default(),
            tabled: 0,
            looked: 0,
        })
    }

    /// Finds the proposals for a state, or remembers them.
    #[inline]
    fn look(&mut self, machine: &Machine, state: &[u64]) -> Proposals {
        if !self.memo.is_about(self.usual.generation) {
            return self.look_afresh(machine, state);
        }
        let (shape, version) = (machine.shape_of(state), self.futures.version());
        let gates = &self.tables.gates;
        let closed = || gates.closed(machine, state, gates.all());
        if !self.usual.key(shape, state, version, closed, &mut self.memo.key) {
            return self.look_afresh(machine, state);
        }
        if let Some(found) = self.memo.find() {
            return *found;
        }
        let found = self.look_afresh(machine, state);
        // Unless somebody's future turned out to be another one.
        if self.memo.is_about(self.usual.generation) && self.futures.version() == version {
            self.memo.keep(found);
        }
        found
    }

    /// Finds the proposals for a state.
    #[inline]
    fn look_afresh(&mut self, machine: &Machine, state: &[u64]) -> Proposals {
        let Some(Looks { movable, eligible, free, closing, .. }) = self.look_at_all(machine, state) else {
            return Proposals::default();
        };
        let mut alone = movable & eligible & free;
        if alone == 0 {
            let count = machine.thread_total(state);
            let movable = movable & u64::MAX >> (64 - count);
            // A thread that closes a cycle is better left to a state that is expanded whole.
            let mut set = self.smallest_set(movable, eligible & !closing);
            if set.is_none() && closing & eligible != 0 {
                set = self.smallest_set(movable, eligible);
            }
            return Proposals::together(set.unwrap_or(0));
        }
        // The youngest first: it is most often the one that serves the others.
        while alone >> MOST_PROPOSALS != 0 && alone.count_ones() > MOST_PROPOSALS {
            alone &= alone - 1;
        }
        Proposals::alone(alone)
    }

    /// Looks at every thread, the quick way if possible; `None` when nothing can be proposed.
    #[inline]
    fn look_at_all(&mut self, machine: &Machine, state: &[u64]) -> Option<Looks> {
        let (shape, version) = (machine.shape_of(state), self.futures.version());
        match self.usual.look(shape, state, version, &mut self.in_the_way) {
            Some(looks) if looks.special != 0 => Some(self.look_at_special(machine, state, looks)),
            None => self.look_closer(machine, state),
            looks => looks,
        }
    }

    /// Looks at the threads that wait for channels, or that gates may keep others away from, in the usual case.
    #[inline(never)]
    fn look_at_special(&mut self, machine: &Machine, state: &[u64], mut looks: Looks) -> Looks {
        let youngest = machine.thread_total(state) - 1;
        let mut left = looks.special;
        while left != 0 {
            let thread = left.trailing_zeros() as usize;
            left &= left - 1;
            let entry = self.usual.entry_of(thread, state);
            let free = if self.tables.entries[entry].depends() {
                let before = self.in_the_way[thread];
                let fill = |wait, channel| self.usual.fill(machine, state, wait, channel);
                let (blockers, moves) = self.look_at(entry, thread == youngest, before, fill);
                self.in_the_way[thread] = blockers & !(1 << thread);
                looks.movable &= !(u64::from(!moves) << thread);
                self.in_the_way[thread] == 0
            } else {
                self.is_free_by_gates(machine, state, thread)
            };
            if free {
                // As a closer look would have it: proposals must not depend on which way they were found.
                self.in_the_way[thread] = 0;
                looks.free |= 1 << thread;
            }
        }
        looks
    }

    /// Do gates keep everybody out of the way of a thread's next step, in the usual case?
    #[inline]
    fn is_free_by_gates(&self, machine: &Machine, state: &[u64], thread: usize) -> bool {
        let (blockers, gates) = self.usual.gates_for(thread, state);
        let entry = |thread| self.usual.entry_of(thread, state);
        gates != 0 && self.are_kept_away(machine, state, blockers, gates, entry)
    }

    /// Are these threads, at these entries, behind gates that are closed?
    #[inline(always)]
    fn are_kept_away(
        &self,
        machine: &Machine,
        state: &[u64],
        mut threads: u64,
        gates: u64,
        entry: impl Fn(usize) -> usize,
    ) -> bool {
        let closed = self.tables.gates.closed(machine, state, gates);
        if closed == 0 {
            return false;
        }
        while threads != 0 {
            if self.tables.behind[entry(threads.trailing_zeros() as usize)] & closed == 0 {
                return false;
            }
            threads &= threads - 1;
        }
        true
    }

    /// As [`Ample::passing`]; `from` is given with its shape, and if it is `known`, all futures are those of the version there.
    #[inline(always)]
    fn pass(
        &mut self,
        machine: &Machine,
        (from, shape): (&[u64], u32),
        to: &[u64],
        known: bool,
        version: u64,
    ) -> Passing {
        let usual = known && machine.shape_of(to) == shape;
        match if usual { self.usual.step(shape, from, to, version) } else { Step::Unusual } {
            Step::Ends => Passing::default(),
            Step::Passes { thread, closing } => Passing { threads: thread, closing },
            Step::Gates { thread, closing } => {
                match self.is_free_by_gates(machine, to, thread.trailing_zeros() as usize) {
                    true => Passing { threads: thread, closing },
                    false => Passing::default(),
                }
            }
            Step::Unusual => self.look_for_passing(machine, from, to),
        }
    }

    /// As [`Ample::passing`], where the quick way cannot be taken.
    #[cold]
    #[inline(never)]
    fn look_for_passing(&mut self, machine: &Machine, from: &[u64], to: &[u64]) -> Passing {
        if machine.shape_of(from) != machine.shape_of(to) {
            return Passing::default();
        }
        let both = machine.threads_at(from).zip(machine.threads_at(to)).enumerate();
        let mut moved = both.filter(|(_, (before, after))| before.location != after.location);
        let (Some((thread, (before, after))), None) = (moved.next(), moved.next()) else {
            return Passing::default();
        };
        if !self.tables.begin(machine, from) {
            return Passing::default();
        }
        let old = self.tables.entry(machine, from, thread, before);
        if !self.tables.begin(machine, to) {
            return Passing::default();
        }
        let new = self.tables.entry(machine, to, thread, after);
        let entry = new;
        let (old, new) = (&self.tables.entries[old], &self.tables.entries[new]);
        if old.future != new.future || new.depends() {
            return Passing::default();
        }
        // Nobody's future has changed since: only the thread that moved has to be looked at.
        if self.looked == self.futures.version() && self.tabled == self.tables.entries.len() {
            let known = self.known_of(entry, self.visible.unwrap_or(0));
            self.usual.note(thread, entry, known);
            let (in_the_way, bit) = (known.in_the_way & !(1 << thread), 1 << thread);
            if in_the_way == 0 && known.eligible {
                return Passing { threads: bit, closing: if known.closes { bit } else { 0 } };
            }
            if !known.eligible || known.gates_for(thread) == 0 {
                return Passing::default();
            }
        }
        match self.look_at_all(machine, to) {
            Some(looks) => {
                let threads = looks.movable & looks.eligible & looks.free & 1 << thread;
                Passing { threads, closing: threads & looks.closing }
            }
            None => Passing::default(),
        }
    }

    /// Looks at every thread; `None` when nothing can be proposed.
    #[inline(never)]
    fn look_closer(&mut self, machine: &Machine, state: &[u64]) -> Option<Looks> {
        let count = machine.thread_total(state);
        if !(2..=MOST_THREADS).contains(&count) {
            return None;
        }
        let visible = match self.visible {
            Some(bits) if !self.renamed || self.propositions.is_empty() => bits,
            before => {
                let bits = self.tables.visible(machine, state, &self.propositions);
                if before.is_some_and(|before| before != bits) {
                    self.known.clear();
                }
                self.visible = Some(bits);
                bits
            }
        };
        if !self.tables.begin(machine, state) {
            return None;
        }
        for ((thread, at), slot) in machine.threads_at(state).enumerate().zip(&mut self.entries) {
            let entry = self.tables.entry(machine, state, thread, at);
            self.futures.set(thread, self.tables.entries[entry].future, &self.tables.futures);
            *slot = entry as u32;
        }
        self.futures.truncate(count, &self.tables.futures);
        if std::mem::replace(&mut self.tabled, self.tables.entries.len()) != self.tables.entries.len() {
            // A new role has new gates: what was found out without them would depend on what was met before.
            self.futures.outdate();
        }
        let mut looks = Looks::default();
        let version = self.futures.version();
        for thread in 0..count {
            let entry = self.entries[thread] as usize;
            let known = self.known_of(entry, visible);
            let (mut in_the_way, mut moves) = (known.in_the_way, true);
            if known.depends {
                let fill = |_, channel| machine.fill(state, channel);
                (in_the_way, moves) = self.look_at(entry, thread + 1 == count, in_the_way, fill);
            }
            in_the_way &= !(1 << thread);
            let gates = known.gates_for(thread);
            if in_the_way != 0 && gates != 0 {
                let entry = |thread: usize| self.entries[thread] as usize;
                if self.are_kept_away(machine, state, in_the_way, gates, entry) {
                    in_the_way = 0;
                }
            }
            self.in_the_way[thread] = in_the_way;
            looks.movable |= u64::from(moves) << thread;
            looks.eligible |= u64::from(known.eligible) << thread;
            looks.free |= u64::from(in_the_way == 0) << thread;
            looks.closing |= u64::from(known.closes) << thread;
        }
        // What representatives exchange and propositions name must be looked at in every state.
        if !self.renamed || self.propositions.is_empty() {
            let threads = machine.threads_at(state).enumerate().map(|(thread, at)| {
                Some(UsualThread { at: machine.location_byte(at)?, first: self.tables.usual_first(thread)? })
            });
            let keys = machine.threads_at(state).flat_map(|at| {
                self.tables.key(at).iter().map(move |scalar| machine.local_bytes(at, *scalar))
            });
            self.usual.remember((machine.shape_of(state), state), version, threads, keys);
            self.usual.note_waits(machine, state, &self.tables.waits);
            if !self.memo.was_made_for(self.usual.generation) {
                let worthwhile = self.usual.has_key(self.tables.gates.len());
                self.memo.begin(self.usual.generation, worthwhile);
            }
            for (thread, &entry) in self.entries[..count].iter().enumerate() {
                self.usual.note(thread, entry as usize, self.known[entry as usize]);
            }
        }
        Some(looks)
    }

    /// Are the futures those of this state's threads, as far as they depend on nothing but the shape?
    fn futures_are_of(&self, machine: &Machine, state: &[u64]) -> bool {
        let threads = machine.threads_at(state).enumerate();
        threads.filter(|(_, at)| self.tables.key(*at).is_empty()).all(|(thread, at)| {
            let entry = self.tables.usual_first(thread).map(|first| (first + at.location) as usize);
            entry.is_some_and(|e| self.futures.of(thread) == Some(self.tables.entries[e].future))
        })
    }

    /// What is known of an entry with the futures at hand.
    #[inline]
    fn known_of(&mut self, entry: usize, visible: u128) -> Known {
        match self.known.get(entry) {
            Some(known) if known.version == self.futures.version() => *known,
            _ => {
                let known = self.find_out(entry, visible);
                if self.known.len() < self.tables.entries.len() {
                    self.known.resize(self.tables.entries.len(), Known::default());
                }
                self.known[entry] = known;
                known
            }
        }
    }

    /// What does not depend on the state beyond the threads' futures.
    #[cold]
    fn find_out(&self, entry: usize, visible: u128) -> Known {
        let entry = &self.tables.entries[entry];
        let (first, middle, end) = entry.bits;
        let written = &self.tables.bits[first as usize..middle as usize];
        let read = &self.tables.bits[middle as usize..end as usize];
        let (in_spite_of_gates, gates) = self.find_gates(entry.needs, written, read);
        Known {
            version: self.futures.version(),
            in_the_way: self.futures.in_the_way(written, read),
            in_spite_of_gates,
            gates,
            eligible: entry.writes & visible == 0 && !(self.breaks_cycles && entry.closes_cycle),
            closes: entry.closes_cycle,
            depends: entry.depends(),
        }
    }

    /// The gates of one of the things that a step touches, and the threads that get in its way by other things: as few as possible. No
    /// gates that the step itself `needs`: while they are closed, it is not possible.
    #[cold]
    fn find_gates(&self, needs: u64, written: &[u8], read: &[u8]) -> (u64, u64) {
        let mut best = (u64::MAX, 0);
        for bit in written.iter().chain(read).filter(|bit| self.tables.gates.bits >> **bit & 1 == 1) {
            let gates = self.tables.gates.about(1 << bit) & !needs;
            let without = |bits: &[u8]| bits.iter().copied().filter(|b| b != bit).collect::<Vec<u8>>();
            let others = self.futures.in_the_way(&without(written), &without(read));
            if gates != 0 && others.count_ones() < best.0.count_ones() {
                best = (others, gates);
            }
        }
        best
    }

    /// What the state adds to the threads in the way of a step, and whether the step may be possible. `fill`: how full the channel of
    /// a wait is.
    #[inline(always)]
    fn look_at(
        &self,
        entry: usize,
        youngest: bool,
        mut in_the_way: u64,
        fill: impl Fn(usize, i32) -> Option<Fill>,
    ) -> (u64, bool) {
        let entry = &self.tables.entries[entry];
        let mut movable = !entry.only_channels;
        if entry.at_end && !youngest {
            in_the_way |= self.futures.writing(Objects::end_of_others());
            movable = false;
        }
        let (first, end) = (entry.waits.0 as usize, entry.waits.1 as usize);
        for (wait, number) in self.tables.waits[first..end].iter().zip(first..) {
            let Some(fill) = fill(number, wait.channel) else {
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
        (in_the_way, movable)
    }

    /// The smallest set of eligible threads that can go together, if it is not all that may move. No thread can go alone.
    fn smallest_set(&self, movable: u64, eligible: u64) -> Option<u64> {
        let candidates = movable & eligible;
        // Most often two that only get in each other's way.
        let mut left = candidates;
        while left != 0 {
            let thread = left.trailing_zeros();
            left &= left - 1;
            let other = self.in_the_way[thread as usize];
            let set = 1u64 << thread | other;
            if other & other.wrapping_sub(1) == 0
                && set & !eligible == 0
                && movable & !set != 0
                && self.in_the_way[other.trailing_zeros() as usize % MOST_THREADS] & !set == 0
            {
                return Some(set);
            }
        }
        let mut best: Option<u64> = None;
        let (mut tried, mut left) = (0u64, candidates);
        while left != 0 {
            let thread = left.trailing_zeros();
            left &= left - 1;
            let start = 1u64 << thread | self.in_the_way[thread as usize];
            // A set with all threads that may move is no reduction.
            if movable & !start == 0 || start & !eligible != 0 {
                continue;
            }
            let (mut set, mut done) = (start, 1u64 << thread);
            while set != done {
                let next = (set & !done).trailing_zeros();
                // A thread that was tried before needs at least the set found then.
                if tried >> next & 1 == 1 || best.is_some_and(|b| set.count_ones() >= b.count_ones()) {
                    break;
                }
                done |= 1 << next;
                set |= self.in_the_way[next as usize];
                if set & !eligible != 0 {
                    break;
                }
            }
            tried |= 1 << thread;
            if set == done && movable & !set != 0 && set & !eligible == 0 {
                best = Some(set);
            }
        }
        best
    }
}

impl Ample<Machine> for AmpleSets {
    const PROPOSALS: u32 = MOST_PROPOSALS;

    #[inline]
    fn proposals(&mut self, machine: &mut Machine, state: &[u64]) -> Proposals {
        let proposals = self.look(machine, state);
        self.looked = self.futures.version();
        proposals
    }

    /// Only the thread that the step has moved: another that can go alone could most often do so before the step. Only if it has
    /// still to do what it had before, as in a loop, which makes the question cheap. And only if no channel decides whether it can go alone: then
    /// wherever it stands there it goes on at once, so that no other way leads to such a state, and none is gone on from twice.
    #[inline]
    fn passing(&mut self, machine: &mut Machine, from: &[u64], to: &[u64]) -> Passing {
        if !self.passes || to.is_empty() {
            return Passing::default();
        }
        let known = self.looked == self.futures.version();
        self.pass(machine, (from, machine.shape_of(from)), to, known, self.futures.version())
    }

    #[inline]
    fn next_passing(
        &mut self,
        machine: &mut Machine,
        from: &[u64],
        successors: &Successors,
        first: usize,
    ) -> Option<(usize, Passing)> {
        if !self.passes {
            return None;
        }
        let (shape, version) = (machine.shape_of(from), self.futures.version());
        let known = self.looked == version;
        debug_assert!(!known || !self.usual.is_about(shape) || self.futures_are_of(machine, from));
        for index in first..successors.len() {
            let to = successors.state(index);
            if to.is_empty() {
                continue;
            }
            let passing = self.pass(machine, (from, shape), to, known, version);
            if passing.threads != 0 {
                return Some((index, passing));
            }
        }
        None
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
