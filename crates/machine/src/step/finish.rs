//! The end of a transformation: assertions, the new location, who goes on. Where it says so
//! ([`Transformation::ends_specially`](crate::code::Transformation::ends_specially)): calls, returns, exceptions, picks and assumptions.
//!
//! A transformation that picks a value is run once for every pick: the first run notes what there was to pick from, each
//! further one replays the picks before and takes the next at the last place where there is one left.

use quotient_seams::{Scope, Successors};

use crate::code::SiteAt;
use crate::machine::Machine;
use crate::step::Ready;
use crate::step::eval::Frame;

/// How a transformation ends, other than by a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    Nothing,
    /// Enters a function, by the call with this number.
    Call {
        call: u32,
        function: u32,
    },
    Return(i32),
    /// Throws; the site of an exception that nobody catches is this one plus the record's number.
    Throw {
        reference: i32,
        unhandled: SiteAt,
    },
    /// An assumption does not hold.
    Cut,
    /// There is nothing to pick from.
    Blocked,
    EndThread,
    Halt,
}

/// What code gives instead of a fault when [`Pending`] says why it stopped.
pub(crate) const INTERRUPTED: SiteAt = SiteAt::MAX;

impl Machine {
    /// Picks one of `count` (more than none).
    pub(crate) fn pick(&mut self, count: u32) -> u32 {
        let heap = &mut self.heap;
        heap.picked += 1;
        if heap.picks.len() < heap.picked {
            heap.picks.push((0, count));
        }
        heap.picks[heap.picked - 1].0
    }

    /// Goes to the next combination of picks; `false` when all were made.
    fn next_picks(&mut self) -> bool {
        let heap = &mut self.heap;
        heap.picks.truncate(heap.picked);
        heap.picked = 0;
        while let Some((which, count)) = heap.picks.last_mut() {
            *which += 1;
            if which < count {
                return true;
            }
            heap.picks.pop();
        }
        false
    }

    /// Takes a ready transformation once for each way to pick; `false` when it could not be taken.
    pub(crate) fn take_each(
        &mut self,
        state: &[u64],
        number: u32,
        ready: &Ready,
        function: u32,
        frame: Frame,
        also: u32,
        out: &mut Successors,
    ) -> bool {
        self.heap.picks.clear();
        self.heap.picked = 0;
        let mut taken = false;
        loop {
            self.heap.blocked = false;
            self.begin(state);
            let performed = self.perform(number, ready, frame.thread, frame.base);
            self.finish(performed, number, function, frame.thread, frame.base, also, out);
            taken |= !self.heap.blocked;
            if !self.next_picks() {
                return taken;
            }
        }
    }

    /// Does what is pending. The error is the site of a fault.
    fn jump(&mut self, number: u32, function: u32, thread: u32, base: u32) -> Result<(), SiteAt> {
        match std::mem::replace(&mut self.heap.pending, Pending::Nothing) {
            Pending::Nothing => {
                let target = self.code.transformations[number as usize].target;
                self.set_location(base, function, target);
                Ok(())
            }
            Pending::Call { call, function } => self.push_frame(thread, call, function),
            Pending::Return(value) => self.pop_frame(thread, value),
            Pending::Throw { reference, unhandled } => {
                self.unwind(thread, reference).map_err(|record| unhandled + record)
            }
            Pending::EndThread => {
                self.stop_thread(thread);
                Ok(())
            }
            Pending::Halt => {
                self.halt();
                Ok(())
            }
            Pending::Cut | Pending::Blocked => Ok(()),
        }
    }

    /// Temporaries of a frame have values only inside one transformation: what they held must not tell states apart.
    fn forget_temporaries(&mut self, function: u32, base: u32) {
        let memory = self.draft.as_mut_ptr().cast::<u8>();
        for temporary in &self.layout.threads[function as usize].scratch {
            // SAFETY: locals lie inside their frame, which is in the draft until the jump.
            let bytes = unsafe {
                let at = memory.add((base + temporary.start) as usize);
                std::slice::from_raw_parts_mut(at, temporary.len())
            };
            if bytes.iter().any(|byte| *byte != 0) {
                bytes.fill(0);
                // It may have been the last to refer to an object.
                self.heap.dirty = true;
            }
        }
    }

    /// After the actions: assertions, the new location, and who goes on.
    #[inline(always)]
    pub(crate) fn finish(
        &mut self,
        performed: Result<(), SiteAt>,
        number: u32,
        function: u32,
        thread: u32,
        base: u32,
        also: u32,
        out: &mut Successors,
    ) {
        let t = &self.code.transformations[number as usize];
        if t.ends_specially {
            return self.finish_specially(performed, number, function, thread, base, also, out);
        }
        let (target, keeps_control) = (t.target, t.keeps_control);
        self.taken[number as usize] += 1;
        self.mover = thread;
        if let Err(site) = performed {
            self.record(thread, number, None);
            self.report_assertions(out);
            self.violate(site, out);
            self.unrecord();
            return;
        }
        self.set_location(base, function, target);
        self.record(thread, number, None);
        if !self.failed_assertions.is_empty() {
            self.report_assertions(out);
        }
        if keeps_control {
            self.postpone(thread, also);
        } else {
            self.settle(thread, also, out);
        }
        self.unrecord();
    }

    /// The same where the transformation may end otherwise than by going to its target.
    pub(crate) fn finish_specially(
        &mut self,
        performed: Result<(), SiteAt>,
        number: u32,
        function: u32,
        thread: u32,
        base: u32,
        also: u32,
        out: &mut Successors,
    ) {
        if performed == Err(INTERRUPTED) && matches!(self.heap.pending, Pending::Cut | Pending::Blocked) {
            let pending = std::mem::replace(&mut self.heap.pending, Pending::Nothing);
            self.heap.cut |= pending == Pending::Cut;
            self.heap.blocked = pending == Pending::Blocked;
            self.failed_assertions.clear();
            return;
        }
        self.taken[number as usize] += 1;
        self.mover = thread;
        let interrupted = performed == Err(INTERRUPTED);
        let performed = if interrupted { Ok(()) } else { performed };
        self.forget_temporaries(function, base);
        let performed = performed.and_then(|()| self.jump(number, function, thread, base));
        self.heap.pending = Pending::Nothing;
        self.record(thread, number, None);
        self.report_assertions(out);
        if let Err(site) = performed {
            self.violate(site, out);
            self.unrecord();
            return;
        }
        let memory = self.draft.as_ptr().cast::<u8>();
        let alive = self.runs(memory, thread);
        let keeps_control = self.code.transformations[number as usize].keeps_control;
        if alive && (keeps_control || self.exclusive(memory, thread)) {
            self.postpone(thread, also);
        } else {
            self.settle(thread, also, out);
        }
        self.unrecord();
    }

    /// Is there a step from this state that an assumption forbids? Then stopping here is not a deadlock.
    pub(crate) fn is_cut(&mut self, state: &[u64]) -> bool {
        self.meet_state(state);
        self.heap.cut = false;
        let taken = self.taken.clone();
        self.expand(state, Scope::All, &mut Successors::new());
        // In place: machine code has the address of the list.
        self.taken.copy_from_slice(&taken);
        self.heap.cut
    }
}
