//! Infinite runs of a program under a claim: acceptance, and weak fairness.
//!
//! Weak fairness: a thread that can move from some point on for ever moves infinitely often. That is a generalised Büchi
//! condition, one set per thread, "it cannot move here, or it moves now" (Vardi and Wolper; Choueka's copies, which SPIN
//! makes, are its degeneralisation and are not needed where components are searched). As in SPIN, whether a thread can move
//! is decided as the one who begins a step: the receiver of a rendezvous is not waiting to move, but it has moved when it
//! takes part in one. A thread that does not exist cannot move.

use std::sync::atomic::{AtomicU64, Ordering};

use quotient_seams::{
    Exhausted, Marks, Names, Omega, Scope, Successors, System, Violation, ViolationCode, Worker,
};

use crate::claim::CLAIM_THREAD;
use crate::machine::Machine;

impl Omega for Machine {
    type Marks = u64;

    fn layers(&self) -> u32 {
        self.claim_layers()
    }

    #[inline]
    fn take_layer(&self, state: &mut [u64]) -> u32 {
        if self.claim_layers() == 1 {
            return 0;
        }
        let (base, layout) = self.claim_place();
        let memory = state.as_mut_ptr().cast::<u8>();
        let location = self.location(memory, base, layout);
        self.put_location(memory, base, layout, 0);
        location
    }

    #[inline]
    fn put_layer(&self, state: &mut [u64], layer: u32) {
        if self.claim_layers() > 1 {
            let (base, layout) = self.claim_place();
            self.put_location(state.as_mut_ptr().cast(), base, layout, layer);
        }
    }

    #[inline]
    fn state_marks(&mut self, state: &[u64]) -> u64 {
        self.meet_state(state);
        self.acceptance(state)
    }

    #[inline]
    fn step_marks(&mut self, _: &[u64], successors: &Successors, steps: &mut Vec<u64>) {
        steps.clear();
        if self.marks_moves() {
            steps.extend((0..successors.len()).map(|i| successors.marks(i)));
        }
    }
}

/// A machine whose runs count only when they are weakly fair.
#[derive(Debug)]
pub struct Fair(pub Machine);

impl Worker for Fair {
    fn another(&self) -> Fair {
        Fair(self.0.another())
    }

    fn join(&mut self, other: Fair) {
        self.0.join(other.0);
    }
}

/// Acceptance, and the threads towards which a part of a run is fair.
///
/// Where threads may be renamed from state to state, a search calls them all along by the names they had in the beginning, and
/// goes round a cycle of representatives with the names exchanged: see [`FairMarks::is_full`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairMarks {
    accepting: u64,
    threads: [u64; 4],
    /// For each of the threads that may be renamed the least one whose part it can have.
    parts: ThreadNames,
}

impl FairMarks {
    fn with(mut self, thread: u32) -> FairMarks {
        if thread < 256 {
            self.threads[thread as usize / 64] |= 1 << (thread % 64);
        }
        self
    }
}

impl Marks for FairMarks {
    type Names = ThreadNames;
    const NONE: FairMarks = FairMarks { accepting: 0, threads: [0; 4], parts: ThreadNames::OWN };

    fn renamed(mut self, names: ThreadNames) -> FairMarks {
        if names != ThreadNames::OWN {
            let mut low = self.threads[0] & !((1 << RENAMED) - 1);
            for thread in (0..RENAMED).filter(|t| self.threads[0] >> t & 1 != 0) {
                low |= 1 << names.name(thread);
            }
            self.threads[0] = low;
        }
        self
    }

    fn identify(&mut self, one: ThreadNames, other: ThreadNames) {
        if one != other {
            (0..RENAMED).for_each(|t| self.parts.join(one.name(t), other.name(t)));
        }
    }

    fn add(&mut self, other: FairMarks) {
        self.accepting |= other.accepting;
        self.threads.iter_mut().zip(other.threads).for_each(|(a, b)| *a |= b);
        if other.parts != ThreadNames::OWN {
            (0..RENAMED).for_each(|t| self.parts.join(t, other.parts.name(t)));
        }
    }

    /// A component of representatives has a fair run when everything is accepted and, among the threads that can have each other's
    /// part, one is treated fairly (Emerson and Sistla, "Utilizing symmetry when model checking under fairness assumptions",
    /// 1997, whose threads of a component these are). For a cycle of representatives leads from a real state to a renaming
    /// of it. Going round it again and again, in all ways the component has, a real thread has the parts of all that it can be
    /// exchanged with, and so comes to the place where one like it moves, or cannot. The other way round, a thread never has another
    /// part than these, so if none of them is treated fairly, no run in the component is fair to it.
    fn is_full(self) -> bool {
        if self.accepting != u64::MAX || self.threads[0] | ((1 << RENAMED) - 1) != u64::MAX {
            return false;
        }
        let treated = (0..RENAMED).filter(|t| self.threads[0] >> t & 1 != 0);
        let parts = treated.fold(0u32, |parts, t| parts | 1 << self.parts.name(t));
        (0..RENAMED).all(|t| parts >> self.parts.name(t) & 1 != 0) && self.threads[1..] == [u64::MAX; 3]
    }

    fn exceeds(self, other: FairMarks) -> bool {
        self.accepting & !other.accepting != 0
            || self.threads.iter().zip(other.threads).any(|(a, b)| a & !b != 0)
    }

    type Shared = [AtomicU64; 5];

    fn add_to(self, [accepting, threads @ ..]: &[AtomicU64; 5]) -> FairMarks {
        let add = |bits: u64, to: &AtomicU64| to.fetch_or(bits, Ordering::Relaxed) | bits;
        FairMarks {
            accepting: add(self.accepting, accepting),
            threads: std::array::from_fn(|k| add(self.threads[k], &threads[k])),
            ..self
        }
    }

    fn met_in([accepting, threads @ ..]: &[AtomicU64; 5]) -> FairMarks {
        let met = |of: &AtomicU64| of.load(Ordering::Relaxed);
        let threads = std::array::from_fn(|k| met(&threads[k]));
        FairMarks { accepting: met(accepting), threads, ..FairMarks::NONE }
    }
}

/// How many threads may be renamed where fairness is asked for.
pub const RENAMED: u32 = 16;

/// For each of the first [`RENAMED`] threads one of them, four bits each: names, or the least member of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadNames(u64);

impl ThreadNames {
    /// The name of a thread.
    fn name(self, thread: u32) -> u32 {
        (self.0 >> (4 * thread) & 15) as u32
    }

    fn put(&mut self, thread: u32, name: u32) {
        self.0 = self.0 & !(15 << (4 * thread)) | u64::from(name) << (4 * thread);
    }

    /// Joins the classes of two threads, where the names are the least members of classes.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.name(a), self.name(b));
        if a != b {
            let all = *self;
            (0..RENAMED).filter(|t| all.name(*t) == a.max(b)).for_each(|t| self.put(t, a.min(b)));
        }
    }
}

impl Names for ThreadNames {
    const ASKED: bool = true;
    const OWN: ThreadNames = ThreadNames(0xfedc_ba98_7654_3210);

    fn of(new: impl Fn(u32) -> u32) -> ThreadNames {
        let mut names = ThreadNames(0);
        (0..RENAMED).for_each(|t| names.put(t, new(t)));
        names
    }

    fn before(self, last: ThreadNames) -> ThreadNames {
        let mut names = ThreadNames(0);
        (0..RENAMED).for_each(|t| names.put(last.name(t), self.name(t)));
        names
    }
}

impl Omega for Fair {
    type Marks = FairMarks;

    fn layers(&self) -> u32 {
        self.0.layers()
    }

    fn take_layer(&self, state: &mut [u64]) -> u32 {
        self.0.take_layer(state)
    }

    fn put_layer(&self, state: &mut [u64], layer: u32) {
        self.0.put_layer(state, layer);
    }

    fn state_marks(&mut self, state: &[u64]) -> FairMarks {
        let mut marks =
            FairMarks { accepting: self.0.acceptance(state), threads: [u64::MAX; 4], ..FairMarks::NONE };
        for record in self.0.explain_moves(state) {
            if let Some(first) = record.steps().iter().find(|s| s.thread != CLAIM_THREAD) {
                marks.threads[first.thread as usize / 64] &= !(1 << (first.thread % 64));
            }
        }
        marks
    }

    fn step_marks(&mut self, state: &[u64], successors: &Successors, steps: &mut Vec<FairMarks>) {
        steps.clear();
        for (index, record) in self.0.explain_moves(state).iter().enumerate() {
            let mut marks = FairMarks { accepting: successors.marks(index), ..FairMarks::NONE };
            for step in record.steps().iter().filter(|s| s.thread != CLAIM_THREAD) {
                marks = step.partner.map_or(marks.with(step.thread), |p| marks.with(step.thread).with(p));
            }
            steps.push(marks);
        }
    }
}

impl System for Fair {
    fn initial(&mut self, out: &mut Successors) -> Result<(), Exhausted> {
        self.0.initial(out)
    }

    fn successors(&mut self, state: &[u64], scope: Scope, out: &mut Successors) -> Result<(), Exhausted> {
        self.0.successors(state, scope, out)
    }

    fn is_valid_end(&mut self, state: &[u64]) -> bool {
        self.0.is_valid_end(state)
    }

    fn violation(&self, code: ViolationCode) -> Violation {
        self.0.violation(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renamings_are_undone_and_done() {
        let turn = ThreadNames::of(|t| if t < 3 { (t + 1) % 3 } else { t });
        assert_eq!(turn.before(turn), ThreadNames::OWN);
        assert_eq!(ThreadNames::OWN.before(turn).name(1), 0);
        assert_eq!(turn.before(ThreadNames::OWN), turn);
    }

    #[test]
    fn who_can_have_whose_part() {
        let all = FairMarks { accepting: u64::MAX, threads: [u64::MAX; 4], ..FairMarks::NONE };
        assert!(all.is_full());
        let mut starved = all;
        starved.threads[0] &= !2;
        assert!(!starved.is_full());
        // Thread 1 takes the part of thread 0, who is treated fairly.
        let exchange = ThreadNames::of(|t| if t < 2 { 1 - t } else { t });
        let mut exchanged = starved;
        exchanged.identify(exchange, ThreadNames::OWN);
        assert!(exchanged.is_full());
        // Others being exchanged is of no use to it.
        let others = ThreadNames::of(|t| if t == 2 || t == 3 { 5 - t } else { t });
        let mut unrelated = starved;
        unrelated.identify(others, ThreadNames::OWN);
        assert!(!unrelated.is_full());
        // What two components know is known of both together.
        unrelated.add(exchanged);
        assert!(unrelated.is_full());
    }
}
