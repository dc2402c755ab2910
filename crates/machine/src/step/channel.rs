//! Channels: a length and that many messages, the oldest first; unused bytes are zero.

use quotient_program::Part;

use crate::code::{Pattern, SiteAt};
use crate::machine::Machine;
use crate::state::kind::Object;
use crate::state::layout::ChannelLayout;
use crate::state::link::Sort;
use crate::step::eval::Frame;

/// A channel in a state.
#[derive(Clone, Copy)]
pub(crate) struct Channel<'a> {
    pub(crate) layout: &'a ChannelLayout,
    pub(crate) at: *mut u8,
}

impl Channel<'_> {
    /// Number of messages.
    #[inline(always)]
    pub(crate) fn length(self) -> u32 {
        // SAFETY: a channel's segment starts with its length.
        unsafe {
            if self.layout.length_size == 1 {
                u32::from(*self.at)
            } else {
                u32::from(self.at.cast::<u16>().read_unaligned())
            }
        }
    }

    fn set_length(self, length: u32) {
        // SAFETY: as above.
        unsafe {
            if self.layout.length_size == 1 {
                *self.at = length as u8;
            } else {
                self.at.cast::<u16>().write_unaligned(length as u16);
            }
        }
    }

    #[inline(always)]
    fn message(self, position: u32) -> *mut u8 {
        let offset = self.layout.length_size + position * self.layout.message_size;
        // SAFETY: callers give positions up to the capacity.
        unsafe { self.at.add(offset as usize) }
    }

    #[inline(always)]
    pub(crate) fn field(self, position: u32, field: usize) -> i32 {
        let (offset, cell) = self.layout.fields[field];
        // SAFETY: the message is inside the segment, the field inside the message.
        unsafe { cell.load(self.message(position).add(offset as usize)) }
    }

    /// Adds a message: at the end, or before the first greater one. There must be room.
    pub(crate) fn insert(self, values: &[i32], sorted: bool) {
        let length = self.length();
        let size = self.layout.message_size as usize;
        let mut position = length;
        if sorted {
            let greater = |p: &u32| {
                // As in SPIN, the values that are sent are compared before they are cut to their fields.
                let fields = (0..self.layout.fields.len()).map(|f| self.field(*p, f));
                fields.gt(values.iter().copied())
            };
            position = (0..length).find(greater).unwrap_or(length);
        }
        // SAFETY: there is room for one more message, so everything stays inside the segment.
        unsafe {
            let at = self.message(position);
            std::ptr::copy(at, at.add(size), (length - position) as usize * size);
            for ((offset, cell), value) in self.layout.fields.iter().zip(values) {
                cell.store(at.add(*offset as usize), *value);
            }
        }
        self.set_length(length + 1);
    }

    /// Takes a message out; later ones move up, and the freed bytes become zero.
    pub(crate) fn remove(self, position: u32) {
        let length = self.length();
        let size = self.layout.message_size as usize;
        // SAFETY: `position` is below the length.
        unsafe {
            let at = self.message(position);
            std::ptr::copy(at.add(size), at, (length - position - 1) as usize * size);
            self.message(length - 1).write_bytes(0, size);
        }
        self.set_length(length - 1);
    }
}

impl Machine {
    /// The channel that a reference leads to.
    fn channel_object(&self, memory: *mut u8, reference: i32) -> Option<Channel<'_>> {
        let (kind, at) = self.object_at(memory, reference)?;
        let Object::Channel(id) = kind.object() else { return None };
        // SAFETY: as below.
        Some(Channel { layout: &self.layout.channels[id.0 as usize], at: unsafe { memory.add(at as usize) } })
    }

    /// The channel with this number (from 1) in the state at `memory`.
    #[inline(always)]
    pub(crate) fn channel(&self, memory: *mut u8, number: i32) -> Option<Channel<'_>> {
        let shape = self.shape_at(memory);
        let Some(instance) = shape.channels.get((number as usize).wrapping_sub(1)) else {
            return self.channel_object(memory, number);
        };
        let layout = &self.layout.channels[instance.kind as usize];
        // SAFETY: the shape's positions are inside the state.
        Some(Channel { layout, at: unsafe { memory.add(instance.at as usize) } })
    }

    /// Does what a receive wants fit the messages of a channel?
    pub(crate) fn check_sorts(&self, receive: u32, memory: *mut u8, channel: i32) -> Result<(), SiteAt> {
        let code = &self.code.receives[receive as usize];
        let fits = code.sorts.is_empty()
            || self.channel(memory, channel).is_none_or(|c| Sort::fit(&code.sorts, &c.layout.sorts));
        if fits { Ok(()) } else { Err(code.wrong) }
    }

    /// The position of the message that the receive with this index would take from a channel.
    pub(crate) fn find_message(
        &mut self,
        receive: u32,
        channel: i32,
        frame: Frame,
    ) -> Result<Option<u32>, SiteAt> {
        self.note(channel, Part::Messages);
        let code = &self.code.receives[receive as usize];
        let (site, any) = (code.site, code.any);
        let Some(found) = self.channel(frame.memory, channel) else { return Err(site) };
        let length = found.length();
        if length == 0 {
            // Polls and peeks ask for what a channel without capacity never has.
            let polled = found.layout.capacity == 0 && code.peek;
            return if polled { Err(code.polled) } else { Ok(None) };
        }
        if code.patterns.len() > found.layout.fields.len() {
            return Err(code.too_many);
        }
        if !Sort::fit(&code.sorts, &found.layout.sorts) {
            return Err(code.wrong);
        }
        let last = if any { length } else { 1 };
        if !code.patterns.iter().any(|p| matches!(p, Pattern::Match(_))) {
            // Nothing to compute: the channel can be read as it is.
            let equal = |position: &u32| {
                code.patterns.iter().enumerate().all(|(index, pattern)| match pattern {
                    Pattern::Equal(wanted) => found.field(*position, index) == *wanted,
                    _ => true,
                })
            };
            return Ok((0..last).find(equal));
        }
        for position in 0..last {
            if self.matches(receive, frame, |machine, field| {
                // The channel was there a moment ago.
                machine.channel(frame.memory, channel).map_or(0, |c| c.field(position, field))
            })? {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// Do these fields match the patterns of a receive?
    pub(crate) fn matches(
        &mut self,
        receive: u32,
        frame: Frame,
        field: impl Fn(&Machine, usize) -> i32,
    ) -> Result<bool, SiteAt> {
        for index in 0..self.code.receives[receive as usize].patterns.len() {
            let wanted = match self.code.receives[receive as usize].patterns[index] {
                Pattern::Match(code) => self.run(code, frame)?,
                Pattern::Equal(value) => value,
                Pattern::Bind(_) | Pattern::Ignore => continue,
            };
            if wanted != field(self, index) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Stores the fields of a received message where the patterns say. Runs on the draft.
    pub(crate) fn bind(
        &mut self,
        receive: u32,
        thread: u32,
        base: u32,
        values: &[i32],
    ) -> Result<(), SiteAt> {
        for (index, value) in values.iter().enumerate() {
            if let Some(Pattern::Bind(code)) = self.code.receives[receive as usize].patterns.get(index) {
                let memory = self.draft.as_mut_ptr().cast();
                self.run(*code, Frame { memory, base, thread, received: *value })?;
            }
        }
        Ok(())
    }
}
