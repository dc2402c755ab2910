//! `d_step`: deterministic sequences, one step from their first statement to their last.

use quotient_system::Successors;

use crate::code::SiteAt;
use crate::endless::D_STEP_LIMIT;
use crate::eval::Frame;
use crate::machine::Machine;
use crate::step::Ready;

impl Machine {
    /// A `d_step`: one step through deterministic locations, each by its first ready transformation. `false`
    /// when the first location cannot be passed.
    pub(crate) fn deterministic(
        &mut self,
        state: &[u64],
        number: u32,
        function: u32,
        frame: Frame,
        (blocked, endless): (SiteAt, SiteAt),
        also: u32,
        out: &mut Successors,
    ) -> bool {
        let (thread, base) = (frame.thread, frame.base);
        self.begin(state);
        let entry = &self.code.transformations[number as usize];
        let (mut location, keeps_control) = (entry.target, entry.keeps_control);
        let mut passed = 0;
        loop {
            let here = &self.code.functions[function as usize].locations[location as usize];
            if !here.deterministic {
                break;
            }
            let (first, end) = (here.first, here.end);
            let mut next = None;
            for candidate in first..end {
                let operation = self.code.transformations[candidate as usize].operation;
                let frame = self.draft_frame(thread, base);
                let result = self.ready(operation, frame).and_then(|ready| match ready {
                    Ready::No | Ready::Rendezvous(_) => Ok(false),
                    ready => self.perform(candidate, &ready, thread, base).map(|()| true),
                });
                match result {
                    Ok(false) => {}
                    Ok(true) => {
                        next = Some(candidate);
                        break;
                    }
                    Err(site) => {
                        self.taken[candidate as usize] = true;
                        self.record(thread, candidate, None);
                        self.report_assertions(out);
                        self.violate(site, out);
                        self.unrecord_all(passed + 1);
                        return true;
                    }
                }
            }
            let Some(candidate) = next else {
                if passed > 0 {
                    self.violate(blocked, out);
                    self.unrecord_all(passed);
                }
                return passed > 0;
            };
            passed += 1;
            self.taken[candidate as usize] = true;
            location = self.code.transformations[candidate as usize].target;
            self.set_location(base, function, location);
            self.record(thread, candidate, None);
            if !self.failed_assertions.is_empty() {
                self.report_assertions(out);
            }
            if self.goes_round(passed) {
                self.violate(endless, out);
                self.unrecord_all(passed);
                return true;
            }
            if passed > D_STEP_LIMIT {
                self.too_long();
                self.unrecord_all(passed);
                return true;
            }
        }
        self.taken[number as usize] = true;
        self.mover = thread;
        if keeps_control {
            self.postpone(thread, also);
        } else {
            self.settle(thread, also, out);
        }
        self.unrecord_all(passed);
        true
    }
}
