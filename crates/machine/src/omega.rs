//! Infinite runs of a program under a claim: acceptance, and weak fairness.
//!
//! Weak fairness: a thread that can move from some point on for ever moves infinitely often. That is a generalised Büchi
//! condition, one set per thread, "it cannot move here, or it moves now" (Vardi and Wolper; Choueka's copies, which SPIN
//! makes, are its degeneralisation and are not needed where components are searched). As in SPIN, whether a thread can move
//! is decided as the one who begins a step: the receiver of a rendezvous is not waiting to move, but it has moved when it
//! takes part in one. A thread that does not exist cannot move.

use quotient_system::{Exhausted, Marks, Omega, Scope, Successors, System, Violation, ViolationCode};

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
        if self.dynamic {
            self.meet_shape(state);
        }
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
pub struct Fair<'a>(pub &'a mut Machine);

/// Acceptance, and the threads towards which a part of a run is fair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairMarks {
    accepting: u64,
    threads: [u64; 4],
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
    const NONE: FairMarks = FairMarks { accepting: 0, threads: [0; 4] };

    fn add(&mut self, other: FairMarks) {
        self.accepting |= other.accepting;
        self.threads.iter_mut().zip(other.threads).for_each(|(a, b)| *a |= b);
    }

    fn is_full(self) -> bool {
        self.accepting == u64::MAX && self.threads == [u64::MAX; 4]
    }

    fn exceeds(self, other: FairMarks) -> bool {
        self.accepting & !other.accepting != 0
            || self.threads.iter().zip(other.threads).any(|(a, b)| a & !b != 0)
    }
}

impl Omega for Fair<'_> {
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
        let mut marks = FairMarks { accepting: self.0.acceptance(state), threads: [u64::MAX; 4] };
        for record in self.0.explain(state) {
            if let Some(first) = record.steps.iter().find(|s| s.thread != CLAIM_THREAD) {
                marks.threads[first.thread as usize / 64] &= !(1 << (first.thread % 64));
            }
        }
        marks
    }

    fn step_marks(&mut self, state: &[u64], successors: &Successors, steps: &mut Vec<FairMarks>) {
        steps.clear();
        for (index, record) in self.0.explain(state).iter().enumerate() {
            let mut marks = FairMarks { accepting: successors.marks(index), ..FairMarks::NONE };
            for step in record.steps.iter().filter(|s| s.thread != CLAIM_THREAD) {
                marks = step.partner.map_or(marks.with(step.thread), |p| marks.with(step.thread).with(p));
            }
            steps.push(marks);
        }
    }
}

impl System for Fair<'_> {
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
