//! `d_step`: deterministic sequences, one step from their first statement to their last.
//!
//! A `d_step` can begin when one of the ways on from its first location is possible; it takes the first possible way there and at
//! each location after it. While a message is offered in a rendezvous, it begins only with a receive that matches it, as in
//! SPIN, where every other statement waits for the rendezvous to be over: but then its ways are tried in order all the same, and a
//! condition before the receive may be the first that holds. See [`crate::step::rendezvous`] for what happens to the message then.

use quotient_seams::Successors;

use crate::code::{Operation, SiteAt};
use crate::machine::Machine;
use crate::step::Ready;
use crate::step::endless::D_STEP_LIMIT;
use crate::step::eval::Frame;

/// How far a `d_step` came.
pub(crate) enum Passage {
    /// It cannot begin.
    Closed,
    /// Something went wrong, which has been reported.
    Faulted,
    /// To its end, with so many transformations, all of which are noted.
    Through(u32),
}

/// Whether a transformation inside a `d_step` can be taken.
enum Inside {
    No,
    Yes(Ready),
    /// A receive, of the message that is offered.
    Offer(u32),
}

impl Machine {
    /// A `d_step`: one step through deterministic locations, each by its first ready transformation. `false`
    /// when the first location cannot be passed.
    pub(crate) fn deterministic(
        &mut self,
        state: &[u64],
        number: u32,
        function: u32,
        frame: Frame,
        also: u32,
        out: &mut Successors,
    ) -> bool {
        self.begin(state);
        match self.pass_d_step(number, function, frame.thread, frame.base, out) {
            Passage::Closed => false,
            Passage::Faulted => true,
            Passage::Through(passed) => {
                self.leave_d_step(number, frame.thread, also, out);
                self.unrecord_all(passed);
                true
            }
        }
    }

    /// The draft is at the end of the `d_step` that transformation `entry` enters.
    pub(crate) fn leave_d_step(&mut self, entry: u32, thread: u32, also: u32, out: &mut Successors) {
        self.taken[entry as usize] += 1;
        self.mover = thread;
        if self.code.transformations[entry as usize].keeps_control {
            self.postpone(thread, also);
        } else {
            self.settle(thread, also, out);
        }
    }

    /// Goes through the `d_step` that transformation `entry` enters, on the draft.
    pub(crate) fn pass_d_step(
        &mut self,
        entry: u32,
        function: u32,
        thread: u32,
        base: u32,
        out: &mut Successors,
    ) -> Passage {
        let entry = &self.code.transformations[entry as usize];
        let Operation::Enter { blocked, endless } = entry.operation else {
            unreachable!("only `Enter` leads into a d_step")
        };
        let mut location = entry.target;
        let mut passed = 0;
        loop {
            let here = &self.code.functions[function as usize].locations[location as usize];
            if !here.deterministic {
                return Passage::Through(passed);
            }
            let (first, end) = (here.first, here.end);
            let mut next = None;
            for candidate in first..end {
                let operation = self.code.transformations[candidate as usize].operation;
                let frame = self.draft_frame(thread, base);
                let result = self.ready_inside(operation, frame).and_then(|inside| match inside {
                    Inside::No => Ok(false),
                    Inside::Yes(ready) => self.perform(candidate, &ready, thread, base).map(|()| true),
                    Inside::Offer(receive) => {
                        self.take_offer(receive, thread, base)?;
                        self.passing = 0;
                        self.actions(candidate, thread, base).map(|()| true)
                    }
                });
                match result {
                    Ok(false) => {}
                    Ok(true) => {
                        next = Some(candidate);
                        break;
                    }
                    Err(site) => {
                        self.taken[candidate as usize] += 1;
                        self.record(thread, candidate, None);
                        self.report_assertions(out);
                        self.violate(site, out);
                        self.unrecord_all(passed + 1);
                        return Passage::Faulted;
                    }
                }
            }
            let Some(candidate) = next else {
                if passed == 0 {
                    return Passage::Closed;
                }
                self.violate(blocked, out);
                self.unrecord_all(passed);
                return Passage::Faulted;
            };
            passed += 1;
            self.taken[candidate as usize] += 1;
            location = self.code.transformations[candidate as usize].target;
            self.set_location(base, function, location);
            self.record(thread, candidate, None);
            if !self.failed_assertions.is_empty() {
                self.report_assertions(out);
            }
            if self.goes_round(passed) {
                self.violate(endless, out);
                self.unrecord_all(passed);
                return Passage::Faulted;
            }
            if passed > D_STEP_LIMIT {
                self.too_long();
                self.unrecord_all(passed);
                return Passage::Faulted;
            }
        }
    }

    /// Whether an operation inside a `d_step` can be taken. A send that needs a partner would end the step in the middle: a fault.
    fn ready_inside(&mut self, operation: Operation, frame: Frame) -> Result<Inside, SiteAt> {
        if self.passing != 0
            && let Operation::Receive(receive) = operation
        {
            // Nothing but the message offered can be received now.
            return Ok(if self.accepts(receive, frame)? { Inside::Offer(receive) } else { Inside::No });
        }
        match (self.ready(operation, frame)?, operation) {
            (Ready::No, _) => Ok(Inside::No),
            // The message offered takes up the one place that the channel has for a moment.
            (Ready::Rendezvous(channel), _) if channel == self.passing => Ok(Inside::No),
            (Ready::Rendezvous(_), Operation::Send(send)) => Err(self.code.sends[send as usize].in_d_step),
            (ready, _) => Ok(Inside::Yes(ready)),
        }
    }

    /// While a message is offered: can a `d_step` with this first location begin by taking it?
    pub(crate) fn opens_by_offer(
        &mut self,
        location: u32,
        function: u32,
        frame: Frame,
    ) -> Result<bool, SiteAt> {
        let location = &self.code.functions[function as usize].locations[location as usize];
        for number in location.first..location.end {
            if let Operation::Receive(receive) = self.code.transformations[number as usize].operation
                && self.accepts(receive, frame)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
