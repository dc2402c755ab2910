//! Claims: automata that watch the program. `omega.rs`: infinite runs that they accept, and fair ones.
//!
//! As in SPIN, the claim moves first: a step of the product is a move of the claim, on the state as it is, followed by a step
//! of the program. Where the program cannot move, it stutters: the claim moves alone, and the run goes on for ever in that
//! state. A claim that cannot move ends the path without a violation. A claim at its end is a violation.
//!
//! The claim's location and variables are part of the state, in front of the threads. Claims that only look (all automata of
//! formulas) share the program's successors between their moves: they are computed once and copied with the other locations.
//!
//! Progress (`np_`) is a matter of runs that go on: in a run that has ended, `np_` is true for the claim's first move in the last state,
//! if no progress label is there, and false for all that follow. A byte of the state says whether that first move was made.
//!
//! Deviation: SPIN does not store the state between the claim's last ordinary move and its first stuttering one; here it is a
//! state like any other, so that counts agree exactly only where the program can always move.

pub(crate) mod omega;

use quotient_seams::{Scope, Successors, ViolationCode};

use crate::code::{CodeAt, Operation, SiteAt};
use crate::explain::record::MicroStep;
use crate::machine::Machine;
use crate::step::Ready;
use crate::step::eval::Frame;

/// The thread id of the claim in explained steps.
pub const CLAIM_THREAD: u32 = u32::MAX;

/// What a claim did before a step of the program.
struct ClaimStep {
    state: Vec<u64>,
    number: u32,
    target: u32,
}

impl Machine {
    /// Adds the steps of claim and program.
    pub(crate) fn expand_claim(&mut self, state: &[u64], scope: Scope, out: &mut Successors) {
        let Some(claim) = self.code.claim.as_ref() else { return };
        let (pure, asks_timeout) = (claim.pure, claim.asks_timeout);
        if asks_timeout {
            // What the claim may do depends on whether the program can move: look first.
            let mut probe = Successors::new();
            let recorder = self.recorder.take();
            self.expand_once(state, Scope::All, &mut probe);
            self.recorder = recorder;
            self.timeout = probe.is_still(0..probe.len());
        }
        if pure {
            self.expand_pure(state, scope, out);
        } else {
            let steps = self.steps(state, out);
            self.timeout = false;
            for step in steps {
                self.program_step(&step.state, step.number, step.target, scope, out);
            }
        }
    }

    /// The steps with a claim that only looks: the program's successors are computed once.
    fn expand_pure(&mut self, state: &[u64], scope: Scope, out: &mut Successors) {
        let mut moves = std::mem::take(&mut self.claim_moves);
        moves.clear();
        let fault = self.enabled_claim_moves(state.as_ptr().cast::<u8>().cast_mut(), &mut moves);
        self.timeout = false;
        if let Some(site) = fault {
            self.violate(site, out);
        }
        self.keep_best(&mut moves);
        let marked = self.marks_moves();
        let (base, layout) = self.claim_place();
        let mut words = std::mem::take(&mut self.claim_state);
        words.clear();
        words.extend_from_slice(state);
        let mut shared: Option<(usize, usize)> = None;
        for &(number, target) in &moves {
            let start = out.len();
            match shared {
                Some((from, to)) if self.recorder.is_none() && !self.claim_at_end(target) => {
                    self.taken[number as usize] += 1;
                    self.copy(from, to, target, out);
                }
                _ => {
                    let first = out.len();
                    self.put_location(words.as_mut_ptr().cast(), base, layout, target);
                    self.program_step(&words, number, target, scope, out);
                    if !self.claim_at_end(target) {
                        shared = Some((first, out.len()));
                    }
                }
            }
            if marked {
                out.mark(start, self.move_marks(number));
            }
        }
        self.claim_moves = moves;
        self.claim_state = words;
    }

    /// The program's step after the claim took transformation `number` to `target`, which led to `state`.
    fn program_step(&mut self, state: &[u64], number: u32, target: u32, scope: Scope, out: &mut Successors) {
        let Some(claim) = self.code.claim.as_ref() else { return };
        let (completed, deadlock) = (claim.completed, claim.deadlock);
        self.taken[number as usize] += 1;
        let first = out.len();
        if self.claim_at_end(target) {
            self.violate(completed, out);
        } else {
            self.heap.cut = false;
            self.expand_program(state, scope, out);
            // Some threads alone that cannot move say nothing about the program.
            if out.is_still(first..out.len()) && scope == Scope::All && self.exhausted.is_none() {
                // Where an assumption forbids a step, stopping is not a deadlock.
                if self.claim_deadlocks && !self.may_stop(state) && !self.heap.cut {
                    self.violate(deadlock, out);
                }
                self.draft.clear();
                self.draft.extend_from_slice(state);
                self.set_stuttered();
                self.emit(out);
            }
        }
        self.record_claim(state, number, first, out.len());
    }

    /// The steps of any claim: with assignments, assertions and atomic sequences.
    fn steps(&mut self, state: &[u64], out: &mut Successors) -> Vec<ClaimStep> {
        let (base, layout) = self.claim_place();
        let mut done = Vec::new();
        let mut open = vec![state.to_vec()];
        // An atomic sequence of the claim that loops for ever would never let the program move.
        let mut seen = std::collections::HashSet::new();
        while let Some(words) = open.pop() {
            if !seen.insert(words.clone()) {
                continue;
            }
            let mut moves = Vec::new();
            let fault = self.enabled_claim_moves(words.as_ptr().cast::<u8>().cast_mut(), &mut moves);
            for (number, target) in moves {
                self.begin(&words);
                let performed = self.perform(number, &Ready::Yes, 0, base);
                self.set_location(base, layout, target);
                self.report_assertions(out);
                if let Err(site) = performed {
                    self.violate(site, out);
                    continue;
                }
                let next = self.draft.clone();
                if self.code.transformations[number as usize].keeps_control && !self.claim_at_end(target) {
                    self.taken[number as usize] += 1;
                    open.push(next);
                } else {
                    done.push(ClaimStep { state: next, number, target });
                }
            }
            if let Some(site) = fault {
                self.violate(site, out);
            }
        }
        done
    }

    fn claim_at_end(&self, location: u32) -> bool {
        self.code
            .claim
            .as_ref()
            .is_some_and(|c| self.code.functions[c.function as usize].locations[location as usize].valid_end)
    }

    /// How many locations the claim has, if they are few; 1 if not.
    #[inline]
    pub(crate) fn claim_layers(&self) -> u32 {
        self.code.claim.as_ref().map_or(1, |c| c.layers)
    }

    #[inline]
    pub(crate) fn claim_place(&self) -> (u32, u32) {
        (self.layout.claim.unwrap_or(0), self.code.claim.as_ref().map_or(0, |c| c.layout))
    }

    /// The transformations the claim can take in a state, with their targets; a fault in a condition ends the list.
    fn enabled_claim_moves(&mut self, memory: *mut u8, out: &mut Vec<(u32, u32)>) -> Option<SiteAt> {
        let (base, layout) = self.claim_place();
        let function = self.code.claim.as_ref().map_or(0, |c| c.function);
        let location = self.location(memory, base, layout);
        let here = &self.code.functions[function as usize].locations[location as usize];
        let (first, end) = (here.first, here.end);
        let frame = Frame { memory, base, thread: 0, received: 0 };
        let mut rank = None;
        for number in first..end {
            let t = &self.code.transformations[number as usize];
            let (operation, target, t_rank) = (t.operation, t.target, t.rank);
            if rank.is_some_and(|r| r != t_rank) {
                break;
            }
            let ready = match operation {
                Operation::Else => rank.is_none(),
                Operation::Always => true,
                Operation::When(code) => match self.run(code, frame) {
                    Ok(value) => value != 0,
                    Err(site) => return Some(site),
                },
                _ => false,
            };
            if ready {
                rank = Some(t_rank);
                out.push((number, target));
            }
        }
        None
    }

    /// Adds the entries `from..to` again, with the claim at another location.
    fn copy(&mut self, from: usize, to: usize, target: u32, out: &mut Successors) {
        let (base, layout) = self.claim_place();
        for index in from..to {
            match out.entry(index).violation {
                Some(code) => out.push_violation(code),
                None => {
                    let draft = out.draft_copy(index);
                    self.put_location(draft.as_mut_ptr().cast(), base, layout, target);
                    out.commit(None);
                }
            }
        }
    }

    /// Puts the claim's move in front of the explained steps `first..end`.
    fn record_claim(&mut self, state: &[u64], number: u32, first: usize, end: usize) {
        if let Some(recorder) = &mut self.recorder {
            let micro = MicroStep {
                thread: CLAIM_THREAD,
                transformation: number,
                partner: None,
                picks: Vec::new(),
                state: state.to_vec(),
                output: String::new(),
            };
            recorder.prefix(first, end, &micro);
        }
    }

    /// Report states where nothing can move and not all threads may stop, also where a claim watches.
    pub fn report_deadlocks(&mut self, report: bool) {
        self.claim_deadlocks = report;
    }

    /// The acceptance sets that a state is in, as bits; sets that do not exist are among them.
    #[inline]
    pub fn acceptance(&self, state: &[u64]) -> u64 {
        let Some(claim) = &self.code.claim else { return u64::MAX };
        if claim.marks.is_some() {
            return claim.outside;
        }
        let memory = state.as_ptr().cast::<u8>();
        let base = self.layout.claim.unwrap_or(0);
        let location = self.location(memory, base, claim.layout);
        let own = self.code.functions[claim.function as usize].locations[location as usize].accept;
        let of_thread = || {
            self.shape_at(memory).threads.iter().any(|t| {
                let location = self.location(memory, t.at, t.kind);
                self.code.functions[t.kind as usize].locations[location as usize].accept
            })
        };
        if own || claim.accept_labels && of_thread() { u64::MAX } else { claim.outside }
    }

    /// Is acceptance a matter of the claim's moves?
    pub(crate) fn marks_moves(&self) -> bool {
        self.code.claim.as_ref().is_some_and(|c| c.marks.is_some())
    }

    /// The acceptance sets of a move of the claim.
    fn move_marks(&self, number: u32) -> u64 {
        let Some(claim) = &self.code.claim else { return 0 };
        claim.marks.as_ref().map_or(0, |marks| marks[(number - claim.first) as usize])
    }

    /// Of moves to the same location keeps those that no other one exceeds in acceptance.
    fn keep_best(&self, moves: &mut Vec<(u32, u32)>) {
        if moves.len() < 2 || !self.marks_moves() {
            return;
        }
        let mut index = 0;
        while index < moves.len() {
            let (number, target) = moves[index];
            let marks = self.move_marks(number);
            let better = moves.iter().enumerate().any(|(other, &(n, t))| {
                let theirs = self.move_marks(n);
                other != index && t == target && marks & !theirs == 0 && (marks != theirs || other < index)
            });
            if better {
                moves.remove(index);
            } else {
                index += 1;
            }
        }
    }

    /// Notes in the draft that the program has stopped.
    fn set_stuttered(&mut self) {
        if let Some(at) = self.layout.stuttered {
            // SAFETY: the layout reserved a byte there.
            unsafe { *self.draft.as_mut_ptr().cast::<u8>().add(at as usize) = 1 };
        }
    }

    /// Is this a step of a run that does not make progress? As in SPIN, a run that has ended is none.
    #[cold]
    pub(crate) fn lacks_progress(&self, memory: *const u8) -> bool {
        // SAFETY: as above; claims are asked about states of this layout.
        let stuttered = self.layout.stuttered.is_some_and(|at| unsafe { *memory.add(at as usize) } != 0);
        !stuttered && !self.makes_progress(memory)
    }

    /// Does any thread stand at a progress location?
    fn makes_progress(&self, memory: *const u8) -> bool {
        self.shape_at(memory).threads.iter().any(|t| {
            let location = self.location(memory, t.at, t.kind);
            self.code.functions[t.kind as usize].locations[location as usize].progress
        })
    }

    /// How many threads of a function satisfy the condition at `code`.
    #[cold]
    #[inline(never)]
    pub(crate) fn count(&mut self, function: u32, code: CodeAt, frame: Frame) -> Result<i32, SiteAt> {
        let threads = self.shape_at(frame.memory).threads.len();
        let mut count = 0;
        for thread in 0..threads {
            // The function it was started with, whatever it calls.
            if self.outermost(frame.memory, thread).is_none_or(|t| t.kind != function) {
                continue;
            }
            self.bound.push(thread as u32);
            let value = self.run(code, frame);
            self.bound.pop();
            count += i32::from(value? != 0);
        }
        Ok(count)
    }

    /// Whether propositions hold in a state: the value of each condition of the claim's last location, in order. A fault
    /// is given as its code.
    pub fn claim_conditions(&mut self, state: &[u64], out: &mut Vec<bool>) -> Result<(), ViolationCode> {
        out.clear();
        self.meet_state(state);
        let Some(claim) = self.code.claim.as_ref() else { return Ok(()) };
        let function = &self.code.functions[claim.function as usize];
        let (first, end) = function.locations.last().map_or((0, 0), |l| (l.first, l.end));
        let memory = state.as_ptr().cast::<u8>().cast_mut();
        let frame = Frame { memory, base: self.layout.claim.unwrap_or(0), thread: 0, received: 0 };
        for number in first..end {
            let holds = match self.code.transformations[number as usize].operation {
                Operation::When(code) => self.run(code, frame).map(|value| value != 0),
                _ => Ok(true),
            };
            out.push(holds.map_err(|site| ViolationCode::from_index(site as usize))?);
        }
        Ok(())
    }
}
