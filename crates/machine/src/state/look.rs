//! Looks at a state without changing it, for reductions: where its threads stand, what a variable holds, how full a
//! channel is. Nothing here allocates.

use std::ops::Range;

use quotient_program::{FunctionId, VariableId};

use crate::machine::Machine;
use crate::state::cell::{Cell, scalar_of};
use crate::step::eval::read;

/// A thread of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadAt {
    /// Index of its function.
    pub function: u32,
    /// Its location.
    pub location: u32,
    /// Where its part of the state starts.
    base: u32,
}

/// Where a scalar lies: in the whole state for a global, in its thread's part for a local.
#[derive(Clone, Copy, Debug)]
pub struct ScalarAt {
    offset: u32,
    cell: Cell,
}

/// A frame of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameAt {
    /// Index of its function.
    pub function: u32,
    /// Its location; of a frame that waits for a call, where the call is.
    pub location: u32,
    /// Where a frame that waits for a call goes on.
    pub resumes: Option<u32>,
}

/// How full a channel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Messages in it.
    pub length: u32,
    /// Messages it can hold; 0 for rendezvous.
    pub capacity: u32,
}

impl Machine {
    /// Number of threads of a state.
    #[inline]
    pub fn thread_total(&self, state: &[u64]) -> usize {
        self.shape_at(state.as_ptr().cast()).threads.len()
    }

    /// The number of a state's shape: which threads it has and where they lie.
    #[inline]
    pub fn shape_of(&self, state: &[u64]) -> u32 {
        self.shape_number(state.as_ptr().cast())
    }

    /// The bytes of a state that are a thread's location, the lowest first.
    pub fn location_bytes(&self, thread: ThreadAt) -> Range<u32> {
        thread.base..thread.base + self.layout.threads[thread.function as usize].location_size
    }

    /// A thread of a state; `thread` must be below their number.
    #[inline]
    pub fn thread_at(&self, state: &[u64], thread: usize) -> ThreadAt {
        let memory = state.as_ptr().cast();
        let instance = self.shape_at(memory).threads[thread];
        let location = self.location(memory, instance.at, instance.kind);
        ThreadAt { function: instance.kind, location, base: instance.at }
    }

    /// The threads of a state, in the order of their ids.
    #[inline]
    pub fn threads_at(&self, state: &[u64]) -> impl Iterator<Item = ThreadAt> {
        let memory = state.as_ptr().cast::<u8>();
        self.shape_at(memory).threads.iter().map(move |instance| ThreadAt {
            function: instance.kind,
            location: self.location(memory, instance.at, instance.kind),
            base: instance.at,
        })
    }

    /// Makes sure that the shape of a state is known, which a representative or another worker may have met first.
    #[inline]
    pub fn meet_state(&mut self, state: &[u64]) {
        self.shapes.meet(self.shape_number(state.as_ptr().cast()));
    }

    /// The frames of a thread, the topmost first; none when it has ended. The machine must have met the
    /// state.
    pub fn frames_at(&self, state: &[u64], thread: usize) -> impl Iterator<Item = FrameAt> {
        let memory = state.as_ptr().cast::<u8>();
        let shape = self.shape_at(memory);
        let runs = self.layout.runs(shape.threads[thread].kind);
        let top = std::iter::once(&shape.threads[thread]);
        top.chain(shape.stacks[thread].iter().rev()).filter(move |_| runs).map(move |frame| {
            let location = self.location(memory, frame.at, frame.kind);
            let call = self.code.awaited(frame.kind, location);
            FrameAt {
                function: frame.kind,
                location: call.map_or(location, |c| c.location),
                resumes: call.map(|c| c.target),
            }
        })
    }

    /// Is a thread inside a call that was made in exclusive control?
    pub fn is_exclusive(&self, state: &[u64], thread: usize) -> bool {
        self.exclusive(state.as_ptr().cast(), thread as u32)
    }

    /// The numbers of the channels that came into being with a thread.
    pub fn own_channels(&self, state: &[u64], thread: usize) -> Range<i32> {
        let shape = self.shape_at(state.as_ptr().cast());
        let made = |kind: u32| self.layout.threads[kind as usize].channels.len();
        let before: usize = shape.threads[..thread].iter().map(|t| made(t.kind)).sum();
        let first = 1 + self.layout.initial_channels.len() + before;
        first as i32..(first + made(shape.threads[thread].kind)) as i32
    }

    /// Number of channels that exist before any thread does; channels are numbered from 1.
    pub fn initial_channel_total(&self) -> usize {
        self.layout.initial_channels.len()
    }

    /// Do threads of this function bring channels of their own?
    pub fn brings_channels(&self, function: FunctionId) -> bool {
        !self.layout.threads[function.0 as usize].channels.is_empty()
    }

    /// How full a channel is; `None` when there is no channel with this number.
    #[inline]
    pub fn fill(&self, state: &[u64], channel: i32) -> Option<Fill> {
        let channel = self.channel(state.as_ptr().cast::<u8>().cast_mut(), channel)?;
        Some(Fill { length: channel.length(), capacity: channel.layout.capacity })
    }

    /// Number of fields of a channel's messages; 0 when there is no channel with this number.
    pub fn field_total(&self, state: &[u64], channel: i32) -> usize {
        self.channel(state.as_ptr().cast::<u8>().cast_mut(), channel).map_or(0, |c| c.layout.fields.len())
    }

    /// The messages in a channel, the oldest first; none when there is no channel with this number.
    pub fn messages(&self, state: &[u64], channel: i32) -> Vec<Vec<i32>> {
        let Some(channel) = self.channel(state.as_ptr().cast::<u8>().cast_mut(), channel) else {
            return Vec::new();
        };
        let fields = channel.layout.fields.len();
        (0..channel.length()).map(|m| (0..fields).map(|f| channel.field(m, f)).collect()).collect()
    }

    /// The bytes of states of this state's shape that hold how many messages a channel has, the lowest first; `None` when there is no
    /// channel with this number.
    pub fn length_bytes(&self, state: &[u64], channel: i32) -> Option<Range<u32>> {
        let first = state.as_ptr().cast::<u8>();
        let channel = self.channel(first.cast_mut(), channel)?;
        // SAFETY: both point into the state.
        let at = unsafe { channel.at.cast_const().offset_from(first) } as u32;
        Some(at..at + channel.layout.length_size)
    }

    /// Where a scalar of a global lies: number `scalar` of the scalars of its type.
    pub fn global_at(&self, variable: VariableId, scalar: usize) -> Option<ScalarAt> {
        let ty = &self.program.globals.get(variable.0 as usize)?.ty;
        let (within, cell) = scalar_of(&self.program, ty, scalar)?;
        Some(ScalarAt { offset: self.layout.globals[variable.0 as usize] + within, cell })
    }

    /// Where a scalar of a local lies.
    pub fn local_at(&self, function: FunctionId, variable: VariableId, scalar: usize) -> Option<ScalarAt> {
        let ty = &self.program.function(function).locals.get(variable.0 as usize)?.ty;
        let (within, cell) = scalar_of(&self.program, ty, scalar)?;
        Some(ScalarAt {
            offset: self.layout.threads[function.0 as usize].locals[variable.0 as usize] + within,
            cell,
        })
    }

    /// The bytes of a state that a scalar of a global lies in.
    pub fn global_bytes(at: ScalarAt) -> Range<u32> {
        at.offset..at.offset + at.cell.size()
    }

    /// The bytes of a state that a scalar of a thread lies in.
    pub fn local_bytes(&self, thread: ThreadAt, at: ScalarAt) -> Range<u32> {
        let first = thread.base + at.offset;
        first..first + at.cell.size()
    }

    /// The value of a global's scalar.
    #[inline]
    pub fn global_value(&self, state: &[u64], at: ScalarAt) -> i32 {
        read(state, at.offset, at.cell)
    }

    /// The value of a scalar of a thread.
    #[inline]
    pub fn local_value(&self, state: &[u64], thread: ThreadAt, at: ScalarAt) -> i32 {
        read(state, thread.base + at.offset, at.cell)
    }
}
