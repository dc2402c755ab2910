//! The common steps, done in place.
//!
//! At a *plain* location every transformation is a condition (or `else`, or nothing) followed by changes of variables: no
//! channels, no threads started. Such a step is made directly in the buffer of successors, and where the thread keeps
//! control (or arrives at a transient location) and there is exactly one way on, also the steps after it. Everything else
//! takes the general way (`step.rs`).

use quotient_seams::Successors;

use crate::code::{Location, Operation, SiteAt};
use crate::machine::Machine;
use crate::state::shapes::Instance;
use crate::step::NOBODY;
use crate::step::eval::Frame;

/// Steps done in place before a chain is handed to the general way, which notices endless ones.
const LONGEST_CHAIN: u32 = 1000;

impl Machine {
    /// A location of a function.
    #[inline(always)]
    pub(crate) fn location_code(&self, function: u32, location: u32) -> &Location {
        // SAFETY: instances have functions of the program, and threads stand at locations of theirs.
        unsafe {
            self.code.functions.get_unchecked(function as usize).locations.get_unchecked(location as usize)
        }
    }

    /// Adds the steps of a thread that stands at a plain location.
    #[inline(always)]
    pub(crate) fn plain_moves(
        &mut self,
        state: &[u64],
        thread: u32,
        instance: Instance,
        (first, end): (u32, u32),
        out: &mut Successors,
    ) {
        let memory = state.as_ptr().cast::<u8>().cast_mut();
        let frame = Frame { memory, base: instance.at, thread, received: 0 };
        let mut moved = false;
        for number in first..end {
            // SAFETY: a location's transformations are in the list.
            let t = unsafe { self.code.transformations.get_unchecked(number as usize) };
            match t.operation {
                Operation::When(code) => {
                    match self.condition(number, frame, |m| Ok(m.run(code, frame)? != 0)) {
                        Ok(false) => continue,
                        Ok(true) => {}
                        Err(site) => {
                            moved = true;
                            self.violate_at(site, thread, number, state, out);
                            continue;
                        }
                    }
                }
                Operation::Else if moved => continue,
                _ => {}
            }
            moved = true;
            out.draft(state);
            self.plain_step(number, instance, thread, out);
        }
    }

    /// Makes one step on the draft in `out`, and those that follow it at once.
    #[inline(never)]
    pub(crate) fn plain_step(
        &mut self,
        mut number: u32,
        instance: Instance,
        thread: u32,
        out: &mut Successors,
    ) {
        let mut chain = 0;
        loop {
            // SAFETY: as above.
            let t = unsafe { self.code.transformations.get_unchecked(number as usize) };
            let (target, keeps_control, actions) = (t.target, t.keeps_control, t.actions);
            let memory = out.drafted().as_mut_ptr().cast::<u8>();
            let frame = Frame { memory, base: instance.at, thread, received: 0 };
            // SAFETY: as above.
            unsafe { *self.taken.get_unchecked_mut(number as usize) += 1 };
            let changed = match self.change(number, frame) {
                Some(changed) => changed,
                None => actions.map_or(Ok(()), |code| self.run(code, frame).map(|_| ())),
            };
            if let Err(site) = changed {
                return self.plain_fault(site, thread, number, chain, out);
            }
            self.put_location(memory, instance.at, instance.kind, target);
            chain += 1;
            if self.recorder.is_some() {
                self.record_state(thread, number, None, out.drafted());
            }
            if !self.failed_assertions.is_empty() {
                self.report_assertions(out);
            }
            let here = self.location_code(instance.kind, target);
            if !keeps_control && !here.transient {
                break;
            }
            let (first, end, plain) = (here.first, here.end, here.plain);
            // After a step at a `timeout` time goes on: what follows sees none.
            let follows = plain && chain < LONGEST_CHAIN && !self.timeout;
            let next = if follows { self.only_way(first, end, frame) } else { None };
            match next {
                Some(next) => number = next,
                None => {
                    self.postpone_state(thread, NOBODY, out.drafted());
                    self.unrecord_all(chain);
                    return;
                }
            }
        }
        self.mover = thread;
        self.emit_draft(out);
        self.unrecord_all(chain);
    }

    /// The one transformation that can be taken; `None` when there is none, or more than one, or a fault.
    #[inline(always)]
    fn only_way(&mut self, first: u32, end: u32, frame: Frame) -> Option<u32> {
        let mut found = None;
        for number in first..end {
            // SAFETY: a location's transformations are in the list.
            let operation = unsafe { self.code.transformations.get_unchecked(number as usize) }.operation;
            let can = match operation {
                Operation::When(code) => {
                    self.condition(number, frame, |m| Ok(m.run(code, frame)? != 0)).ok()?
                }
                Operation::Else => found.is_none(),
                _ => true,
            };
            if can {
                if found.is_some() {
                    return None;
                }
                found = Some(number);
            }
        }
        found
    }

    #[cold]
    pub(crate) fn plain_fault(
        &mut self,
        site: SiteAt,
        thread: u32,
        number: u32,
        chain: u32,
        out: &mut Successors,
    ) {
        if self.recorder.is_some() {
            self.record_state(thread, number, None, out.drafted());
        }
        self.report_assertions(out);
        self.violate(site, out);
        self.unrecord_all(chain + 1);
    }
}
