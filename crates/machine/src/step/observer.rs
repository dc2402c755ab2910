//! The observer of channel operations: `trace` and `notrace`.
//!
//! It stands at a location of its own, part of the state. Every send on a channel that the trace mentions in a send (and
//! every receive likewise) must match one of the events it waits for; the first one that matches moves it on. A `trace`
//! is violated by an event that does not match, also after its end. A `notrace` is violated when it reaches its end; an
//! event that does not match ends the matter without a violation, as in SPIN.

use crate::code::{Operation, SiteAt};
use crate::machine::Machine;
use crate::step::eval::Frame;

impl Machine {
    pub(crate) fn set_observer(&mut self, location: u32) {
        if let Some((at, cell)) = self.layout.observer {
            let memory = self.draft.as_mut_ptr().cast::<u8>();
            // SAFETY: the layout reserved this cell there.
            unsafe { cell.store(memory.add(at as usize), location as i32) };
        }
    }

    /// Shows the observer a channel operation that was just done on the draft.
    #[inline(always)]
    pub(crate) fn observe(&mut self, send: bool, channel: i32, values: &[i32]) -> Result<(), SiteAt> {
        if self.code.observer.is_some() { self.observe_event(send, channel, values) } else { Ok(()) }
    }

    #[cold]
    fn observe_event(&mut self, send: bool, channel: i32, values: &[i32]) -> Result<(), SiteAt> {
        let (Some(observer), Some((at, cell))) = (self.code.observer.clone(), self.layout.observer) else {
            return Ok(());
        };
        if !self.in_scope(observer.function, send, channel)? {
            return Ok(());
        }
        // SAFETY: the layout reserved this cell there.
        let location = unsafe { cell.load(self.draft.as_ptr().cast::<u8>().add(at as usize)) } as u32;
        let locations = &self.code.functions[observer.function as usize].locations;
        let end = locations.iter().position(|l| {
            (l.first..l.end)
                .any(|t| matches!(self.code.transformations[t as usize].operation, Operation::Exit))
        });
        let end = end.map(|l| l as u32);
        let here = &locations[location as usize];
        for number in here.first..here.end {
            let t = &self.code.transformations[number as usize];
            let target = t.target;
            let Operation::Event { send: wants_send, receive } = t.operation else { continue };
            if wants_send != send || self.event_channel(receive)? != channel {
                continue;
            }
            let frame = self.observer_frame();
            if self.matches(receive, frame, |_, field| values.get(field).copied().unwrap_or(0))? {
                self.taken[number as usize] += 1;
                self.set_observer(target);
                if observer.negated && Some(target) == end {
                    self.failed_assertions.push(observer.site);
                }
                return Ok(());
            }
        }
        if !observer.negated {
            self.failed_assertions.push(observer.site);
        } else if let Some(end) = end {
            self.set_observer(end);
        }
        Ok(())
    }

    fn observer_frame(&mut self) -> Frame {
        Frame { memory: self.draft.as_mut_ptr().cast(), base: 0, thread: 0, received: 0 }
    }

    /// The channel an event of the observer is about.
    fn event_channel(&mut self, receive: u32) -> Result<i32, SiteAt> {
        let code = self.code.receives[receive as usize].channel;
        let frame = self.observer_frame();
        self.run(code, frame)
    }

    /// Does the observer mention this operation on this channel anywhere?
    fn in_scope(&mut self, function: u32, send: bool, channel: i32) -> Result<bool, SiteAt> {
        for location in 0..self.code.functions[function as usize].locations.len() {
            let here = &self.code.functions[function as usize].locations[location];
            for number in here.first..here.end {
                let operation = self.code.transformations[number as usize].operation;
                if let Operation::Event { send: wants_send, receive } = operation
                    && wants_send == send
                    && self.event_channel(receive)? == channel
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
