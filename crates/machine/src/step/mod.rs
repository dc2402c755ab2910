//! Steps: what can happen next in a state, and how it happens.
//!
//! - `mod.rs`: the general way. `plain.rs`, `direct.rs`: common steps, done in place. `crate::x86`: the same as machine code.
//! - `eval.rs`: the interpreter of compact code. `channel.rs`, `rendezvous.rs`, `d_step.rs`: messages, deterministic sequences.
//! - `threads.rs`, `frames.rs`, `finish.rs`: starts and ends, calls, how a transformation ends.
//! - `permission.rs`: who may move at all. `observer.rs`: `trace` declarations. `endless.rs`: sequences that do not end.

pub(crate) mod channel;
pub(crate) mod d_step;
pub(crate) mod direct;
pub(crate) mod endless;
pub(crate) mod eval;
pub(crate) mod finish;
mod frames;
mod observer;
mod permission;
mod plain;
mod rendezvous;
mod threads;

use quotient_seams::{Interrupt, Scope, Successors, ViolationCode};

use crate::code::{Operation, SiteAt};
use crate::machine::Machine;
use crate::state::link::Sort;
use endless::Passed;
use eval::Frame;

/// A state between two stored states: inside an atomic sequence, or at a transient location.
#[derive(Debug)]
pub(crate) struct Intermediate {
    words: Vec<u64>,
    /// The thread that goes on.
    holder: u32,
    /// Another thread that may stand at a transient location.
    also: u32,
    /// How this state was reached (only while a step is being explained).
    last: Option<u32>,
}

pub(crate) const NOBODY: u32 = u32::MAX;

/// Whether a transformation can be taken, with what was found out on the way.
pub(crate) enum Ready {
    No,
    Yes,
    /// There is room in this channel.
    Room(i32),
    /// The message at this position of this channel matches.
    Message(i32, u32),
    /// A send on this channel, which has no capacity.
    Rendezvous(i32),
}

impl Machine {
    /// Adds the successors of a state.
    #[inline]
    pub(crate) fn expand(&mut self, state: &[u64], scope: Scope, out: &mut Successors) {
        if self.code.claim.is_some() {
            self.expand_claim(state, scope, out);
        } else {
            self.expand_program(state, scope, out);
        }
    }

    /// Adds the successors of a state, leaving a claim aside.
    #[inline]
    pub(crate) fn expand_program(&mut self, state: &[u64], scope: Scope, out: &mut Successors) {
        let before = out.len();
        self.expand_once(state, scope, out);
        if out.is_still(before..out.len())
            && scope == Scope::All
            && self.program.features.timeout
            && self.exhausted.is_none()
        {
            // Only where no thread at all can move; a part of the threads cannot tell.
            self.timeout = true;
            self.expand_once(state, scope, out);
            self.timeout = false;
        }
    }

    #[inline(always)]
    pub(crate) fn expand_once(&mut self, state: &[u64], scope: Scope, out: &mut Successors) {
        match scope {
            Scope::All => self.expand_run(state, 0, u32::MAX, out),
            Scope::Thread(thread) => self.expand_run(state, thread, thread.saturating_add(1), out),
            Scope::Threads(bits) => self.expand_runs(state, bits, out),
            Scope::Except(bits) => {
                self.expand_runs(state, !bits, out);
                // Threads that have no bit are not excepted.
                self.expand_run(state, u64::BITS, u32::MAX, out);
            }
        }
    }

    /// Adds the moves of some of the first threads, one bit each, those that follow one another together.
    #[inline(never)]
    fn expand_runs(&mut self, state: &[u64], mut bits: u64, out: &mut Successors) {
        while bits != 0 {
            let first = bits.trailing_zeros();
            let end = first + (bits >> first).trailing_ones();
            self.expand_run(state, first, end, out);
            bits &= u64::MAX.checked_shl(end).unwrap_or(0);
        }
    }

    /// Adds the moves of the threads from `first` up to `end`, as far as there are so many.
    #[inline(always)]
    fn expand_run(&mut self, state: &[u64], first: u32, end: u32, out: &mut Successors) {
        #[cfg(all(target_arch = "x86_64", unix))]
        if let Some((next, end)) = self.expand_current(state, first, end, out) {
            if next < end {
                self.expand_rest(state, next, end, out);
            }
            return;
        }
        let threads = self.shape_at(state.as_ptr().cast()).threads.len() as u32;
        if first < threads {
            self.expand_range(state, first, end.min(threads), out);
        }
    }

    /// Adds the moves of the threads from `first` up to `end`.
    #[inline(always)]
    fn expand_range(&mut self, state: &[u64], first: u32, end: u32, out: &mut Successors) {
        let next = self.expand_translated(state, first, end, out);
        if next < end {
            self.expand_from(state, next, end, out);
        }
    }

    /// As above, where translated code has stopped.
    #[cfg(all(target_arch = "x86_64", unix))]
    #[inline(never)]
    fn expand_rest(&mut self, state: &[u64], first: u32, end: u32, out: &mut Successors) {
        let shape = self.shape_of(state);
        if self.go_on(state, shape, first) {
            self.expand_range(state, first, end, out);
        } else {
            self.expand_from(state, first, end, out);
        }
    }

    /// Whether nothing but the step itself is to be done.
    #[inline(always)]
    fn is_quick(&self) -> bool {
        !self.restricted && !self.must_clean && self.recorder.is_none()
    }

    /// Adds the steps of threads from `first` on as far as there is machine code; gives the first thread that is left.
    #[cfg(all(target_arch = "x86_64", unix))]
    #[inline(always)]
    fn expand_translated(&mut self, state: &[u64], first: u32, end: u32, out: &mut Successors) -> u32 {
        let shape = self.shape_number(state.as_ptr().cast());
        if self.is_quick() && self.translated_shape(shape) {
            self.make_current(state, shape);
            self.translated_moves(state, shape, first, end, out)
        } else {
            first
        }
    }

    #[cfg(not(all(target_arch = "x86_64", unix)))]
    fn expand_translated(&mut self, _state: &[u64], first: u32, _end: u32, _out: &mut Successors) -> u32 {
        first
    }

    /// As above, after a thread that had to be interpreted: what is not translated by now is not in this expansion.
    #[cfg(all(target_arch = "x86_64", unix))]
    #[inline(never)]
    fn go_on_translated(&mut self, state: &[u64], first: u32, end: u32, out: &mut Successors) -> u32 {
        match self.is_translated(self.shape_number(state.as_ptr().cast())) {
            true => self.expand_translated(state, first, end, out),
            false => first,
        }
    }

    #[cfg(not(all(target_arch = "x86_64", unix)))]
    fn go_on_translated(&mut self, _state: &[u64], first: u32, _end: u32, _out: &mut Successors) -> u32 {
        first
    }

    /// Adds the steps of the threads from `first` up to `end`; the first one by interpretation.
    #[inline(never)]
    fn expand_from(&mut self, state: &[u64], first: u32, end: u32, out: &mut Successors) {
        let memory = state.as_ptr().cast::<u8>();
        // The list of a shape's threads stays where it is when new shapes are added.
        let list = self.shape_at(memory).threads.as_ptr();
        let quick = self.is_quick();
        let mut thread = first;
        while thread < end {
            // SAFETY: `thread` is below the number of threads, and the list is alive: shapes are never removed.
            let instance = unsafe { *list.add(thread as usize) };
            let location = self.location(memory, instance.at, instance.kind);
            let here = self.location_code(instance.kind, location);
            if here.direct && quick {
                let range = (here.first, here.end);
                self.direct_moves(state, thread, instance, range, out);
            } else if here.plain && !self.restricted {
                let range = (here.first, here.end);
                self.plain_moves(state, thread, instance, range, out);
            } else {
                self.moves(state, thread, NOBODY, out);
            }
            if !self.pool.is_empty() {
                self.drain(out);
            }
            thread = self.go_on_translated(state, thread + 1, end, out);
        }
    }

    /// Gives the step up if it is to be left. One that is being explained is part of a path and comes to its end.
    fn look_at_interrupt(&mut self) {
        if self.recorder.is_none()
            && let Some(reason) = self.interrupt.as_ref().and_then(Interrupt::reason)
        {
            self.exhausted = Some(reason.into());
        }
    }

    /// Goes on from intermediate states until all are stored ones.
    #[cold]
    #[inline(never)]
    fn drain(&mut self, out: &mut Successors) {
        let timeout = std::mem::replace(&mut self.timeout, false);
        let mut passed = Passed::default();
        while let Some(item) = self.pool.pop() {
            if passed.again(&item.words, item.holder, item.also, self.pool.is_empty()) {
                continue;
            }
            if passed.is_long() {
                self.look_at_interrupt();
            }
            if self.exhausted.is_some() {
                self.pool.clear();
                break;
            }
            if let Some(recorder) = &mut self.recorder {
                recorder.last = item.last;
            }
            if !self.moves(&item.words, item.holder, item.also, out) {
                // Control is lost: others may move from here.
                self.draft.clear();
                self.draft.extend_from_slice(&item.words);
                if item.also != NOBODY && self.at_transient(item.also) {
                    self.postpone(item.also, NOBODY);
                } else {
                    self.emit(out);
                }
            }
            self.free.push(item.words);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.last = None;
        }
        self.timeout = timeout;
    }

    /// Adds what one thread can do; `false` when it can do nothing.
    #[inline]
    pub(crate) fn moves(&mut self, state: &[u64], thread: u32, also: u32, out: &mut Successors) -> bool {
        let memory = state.as_ptr().cast::<u8>().cast_mut();
        let instance = self.shape_at(memory).threads[thread as usize];
        let frame = Frame { memory, base: instance.at, thread, received: 0 };
        match self.may_move(instance.kind, frame) {
            Ok(true) => {}
            Ok(false) => return false,
            Err(site) => {
                self.violate(site, out);
                return true;
            }
        }
        let location = self.location(memory, instance.at, instance.kind);
        // SAFETY: a thread's location is one of its function's.
        let (first, end) = unsafe {
            let function = self.code.functions.get_unchecked(instance.kind as usize);
            let location = function.locations.get_unchecked(location as usize);
            (location.first, location.end)
        };
        let mut any = false;
        // The rank that hides those after it.
        let mut rank = None;
        for number in first..end {
            // SAFETY: a location's transformations are in the list.
            let t = unsafe { self.code.transformations.get_unchecked(number as usize) };
            let (t_rank, picks) = (t.rank, t.picks);
            if rank.is_some_and(|r| r != t_rank) {
                break;
            }
            let mut possible = true;
            let ready = match t.operation {
                Operation::Else if any => continue,
                Operation::Enter { .. } => {
                    if self.deterministic(state, number, instance.kind, frame, also, out) {
                        (any, rank) = (true, Some(t_rank));
                    }
                    continue;
                }
                Operation::Exit => {
                    if self.shape_at(memory).threads.len() as u32 == thread + 1 {
                        (any, rank) = (true, Some(t_rank));
                        self.begin(state);
                        self.end_youngest();
                        self.taken[number as usize] += 1;
                        self.mover = thread;
                        self.record(thread, number, None);
                        self.emit(out);
                        self.unrecord();
                    }
                    continue;
                }
                operation => self.ready(operation, frame),
            };
            match ready {
                Ok(Ready::No) => possible = false,
                Ok(Ready::Rendezvous(channel)) => {
                    possible = self.rendezvous(state, number, channel, instance.kind, frame, out);
                    if !possible {
                        // As in SPIN: a message that nobody takes lets the main part of an `unless` go on, whatever else the
                        // escape could do.
                        rank = None;
                    }
                }
                Ok(ready) if picks => {
                    possible = self.take_each(state, number, &ready, instance.kind, frame, also, out);
                }
                Ok(ready) => {
                    self.begin(state);
                    self.take(number, &ready, instance.kind, frame, also, out);
                }
                Err(site) => self.violate_at(site, thread, number, state, out),
            }
            if possible {
                (any, rank) = (true, Some(t_rank));
            }
        }
        any
    }

    /// Could this thread take a step if it were alone (a send that needs a partner counts)?
    pub(crate) fn can_move(&mut self, memory: *mut u8, thread: u32) -> Result<bool, SiteAt> {
        let shape = self.shape_at(memory);
        let instance = shape.threads[thread as usize];
        let youngest = shape.threads.len() as u32 == thread + 1;
        let frame = Frame { memory, base: instance.at, thread, received: 0 };
        if self.commits && !self.may_go_first(frame) {
            return Ok(false);
        }
        if let Some(provided) = self.code.functions[instance.kind as usize].provided
            && self.run(provided, frame)? == 0
        {
            return Ok(false);
        }
        let location = self.location(memory, instance.at, instance.kind);
        let location = &self.code.functions[instance.kind as usize].locations[location as usize];
        for number in location.first..location.end {
            let t = &self.code.transformations[number as usize];
            let can = match t.operation {
                Operation::Exit => youngest,
                Operation::Enter { .. } => self.can_enter(t.target, instance.kind, frame)?,
                operation => !matches!(self.ready(operation, frame)?, Ready::No),
            };
            if can {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Can the first location of a `d_step` be passed?
    fn can_enter(&mut self, location: u32, function: u32, frame: Frame) -> Result<bool, SiteAt> {
        let location = &self.code.functions[function as usize].locations[location as usize];
        for number in location.first..location.end {
            let operation = self.code.transformations[number as usize].operation;
            if !matches!(self.ready(operation, frame)?, Ready::No) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether an operation can be taken in a state. `Else` is taken to be: the caller knows better.
    #[inline(always)]
    pub(crate) fn ready(&mut self, operation: Operation, frame: Frame) -> Result<Ready, SiteAt> {
        match operation {
            Operation::Always | Operation::Else => Ok(Ready::Yes),
            Operation::When(code) => Ok(if self.run(code, frame)? != 0 { Ready::Yes } else { Ready::No }),
            Operation::Send(index) => {
                if let Some(guard) = self.code.sends[index as usize].guard
                    && self.run(guard, frame)? == 0
                {
                    return Ok(Ready::No);
                }
                let code = self.code.sends[index as usize].channel;
                let number = self.run(code, frame)?;
                self.note(number, quotient_program::Part::Messages);
                let send = &self.code.sends[index as usize];
                let Some(channel) = self.channel(frame.memory, number) else { return Err(send.site) };
                if send.args.len() > channel.layout.fields.len() {
                    return Err(send.too_many);
                }
                if !Sort::fit(&send.sorts, &channel.layout.sorts) {
                    return Err(send.wrong);
                }
                Ok(if channel.layout.capacity == 0 {
                    Ready::Rendezvous(number)
                } else if channel.length() < channel.layout.capacity {
                    Ready::Room(number)
                } else {
                    Ready::No
                })
            }
            Operation::Receive(index) => {
                if let Some(guard) = self.code.receives[index as usize].guard
                    && self.run(guard, frame)? == 0
                {
                    return Ok(Ready::No);
                }
                let code = self.code.receives[index as usize].channel;
                let number = self.run(code, frame)?;
                Ok(match self.find_message(index, number, frame)? {
                    Some(position) => Ready::Message(number, position),
                    None => Ready::No,
                })
            }
            Operation::Event { .. } | Operation::Enter { .. } | Operation::Exit => Ok(Ready::No),
        }
    }

    /// Starts the next state as a copy of this one.
    #[inline(always)]
    pub(crate) fn begin(&mut self, state: &[u64]) {
        self.draft.clear();
        self.draft.extend_from_slice(state);
    }

    /// Does on the draft what a ready operation does, then the actions.
    #[inline(always)]
    pub(crate) fn perform(
        &mut self,
        number: u32,
        ready: &Ready,
        thread: u32,
        base: u32,
    ) -> Result<(), SiteAt> {
        match *ready {
            Ready::Room(channel) => {
                let Operation::Send(index) = self.code.transformations[number as usize].operation else {
                    unreachable!("only sends need room")
                };
                let frame = self.draft_frame(thread, base);
                self.evaluate_args(index, channel, frame)?;
                let values = std::mem::take(&mut self.values);
                let sorted = self.code.sends[index as usize].sorted;
                let memory = self.draft.as_mut_ptr().cast();
                if let Some(channel) = self.channel(memory, channel) {
                    channel.insert(&values, sorted);
                }
                let observed = self.observe(true, channel, &values);
                self.values = values;
                observed?;
            }
            Ready::Message(channel, position) => {
                let Operation::Receive(index) = self.code.transformations[number as usize].operation else {
                    unreachable!("only receives find messages")
                };
                let memory = self.draft.as_mut_ptr().cast();
                let mut values = std::mem::take(&mut self.values);
                values.clear();
                let mut lets_go = false;
                if let Some(found) = self.channel(memory, channel) {
                    lets_go = !found.layout.links.is_empty();
                    values.extend((0..found.layout.fields.len()).map(|f| found.field(position, f)));
                    if !self.code.receives[index as usize].peek {
                        found.remove(position);
                        let code = &self.code.receives[index as usize];
                        if code.patterns.len() < values.len() {
                            // As in SPIN, the message is taken all the same.
                            self.failed_assertions.push(code.too_few);
                        }
                    }
                }
                self.heap.dirty |= lets_go;
                let observed = self.observe(false, channel, &values);
                let bound = observed.and_then(|()| self.bind(index, thread, base, &values));
                self.values = values;
                bound?;
            }
            Ready::Yes | Ready::No | Ready::Rendezvous(_) => {}
        }
        self.actions(number, thread, base)
    }

    #[inline(always)]
    pub(crate) fn actions(&mut self, number: u32, thread: u32, base: u32) -> Result<(), SiteAt> {
        match self.code.transformations[number as usize].actions {
            None => Ok(()),
            Some(code) => {
                let frame = self.draft_frame(thread, base);
                self.run(code, frame).map(|_| ())
            }
        }
    }

    #[inline(always)]
    pub(crate) fn draft_frame(&mut self, thread: u32, base: u32) -> Frame {
        Frame { memory: self.draft.as_mut_ptr().cast(), base, thread, received: 0 }
    }

    /// Puts the values of a send, one per field of the channel's messages, into `values`.
    pub(crate) fn evaluate_args(&mut self, send: u32, channel: i32, frame: Frame) -> Result<(), SiteAt> {
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        let mut fault = None;
        for index in 0..self.code.sends[send as usize].args.len() {
            let code = self.code.sends[send as usize].args[index];
            match self.run(code, frame) {
                Ok(value) => values.push(value),
                Err(site) => {
                    fault = Some(site);
                    break;
                }
            }
        }
        if let Some(channel) = self.channel(frame.memory, channel) {
            let fields = channel.layout.fields.len();
            let too_few =
                (fault.is_none() && values.len() < fields).then_some(self.code.sends[send as usize].too_few);
            values.resize(fields, 0);
            // A sorted send looks at the whole values.
            if !self.code.sends[send as usize].sorted {
                for (value, (_, cell)) in values.iter_mut().zip(&channel.layout.fields) {
                    *value = cell.wrap(*value);
                }
            }
            // As in SPIN, the message is sent all the same.
            self.failed_assertions.extend(too_few);
        }
        self.values = values;
        fault.map_or(Ok(()), Err)
    }

    /// Takes a ready transformation on the draft and passes the result on.
    #[inline(always)]
    fn take(
        &mut self,
        number: u32,
        ready: &Ready,
        function: u32,
        frame: Frame,
        also: u32,
        out: &mut Successors,
    ) {
        let (thread, base) = (frame.thread, frame.base);
        let performed = self.perform(number, ready, thread, base);
        self.finish(performed, number, function, thread, base, also, out);
    }

    /// Stores the draft, unless a thread that moved stands at a transient location.
    #[inline(always)]
    pub(crate) fn settle(&mut self, thread: u32, also: u32, out: &mut Successors) {
        if self.has_transient {
            if self.at_transient(thread) {
                return self.postpone(thread, also);
            }
            if also != NOBODY && self.at_transient(also) {
                return self.postpone(also, NOBODY);
            }
        }
        self.emit(out);
    }

    /// Does this thread of the draft stand at a transient location?
    fn at_transient(&self, thread: u32) -> bool {
        let memory = self.draft.as_ptr().cast::<u8>();
        self.shape_at(memory).threads.get(thread as usize).is_some_and(|t| {
            let location = self.location(memory, t.at, t.kind);
            self.code.functions[t.kind as usize].locations[location as usize].transient
        })
    }

    /// Makes the draft an intermediate state.
    pub(crate) fn postpone(&mut self, holder: u32, also: u32) {
        if self.heap.dirty {
            self.normalise(true);
        }
        let draft = std::mem::take(&mut self.draft);
        self.postpone_state(holder, also, &draft);
        self.draft = draft;
    }

    /// Makes a state an intermediate one.
    pub(crate) fn postpone_state(&mut self, holder: u32, also: u32, state: &[u64]) {
        let mut words = self.free.pop().unwrap_or_default();
        words.clear();
        words.extend_from_slice(state);
        let last = self.recorder.as_ref().and_then(|r| r.last);
        self.pool.push(Intermediate { words, holder, also, last });
    }

    /// Adds the draft to the successors.
    #[inline(always)]
    pub(crate) fn emit(&mut self, out: &mut Successors) {
        if (self.heap.dirty || self.heap.watched) && !self.tidy() {
            return;
        }
        out.draft(&self.draft);
        self.emit_draft(out);
    }

    /// Takes garbage out of the draft; `false` where it is not wanted as a successor.
    #[inline(never)]
    fn tidy(&mut self) -> bool {
        // Where a step leads whose footprint is asked for does not matter.
        if self.heap.footprint.on {
            self.heap.footprint.moves = true;
            return false;
        }
        // What only a scratch variable leads to was kept while the step went on, and is garbage now.
        self.normalise(false);
        true
    }

    /// Makes the draft in `out` a successor.
    #[inline(always)]
    pub(crate) fn emit_draft(&mut self, out: &mut Successors) {
        if self.must_clean {
            self.clean(out.drafted());
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.close(Some(out.drafted()));
        }
        out.commit(None);
    }

    /// Zeroes scratch variables and notes who moved last.
    fn clean(&self, state: &mut [u64]) {
        let memory = state.as_mut_ptr().cast::<u8>();
        let scratch = self.layout.scratch.clone();
        // SAFETY: the layout's positions are inside the state.
        unsafe {
            memory.add(scratch.start as usize).write_bytes(0, scratch.len());
            if let Some(last) = self.layout.last {
                *memory.add(last as usize) = self.mover as u8;
            }
        }
    }

    /// Adds a violation that ends its path.
    #[cold]
    pub(crate) fn violate(&mut self, site: SiteAt, out: &mut Successors) {
        out.push_violation(ViolationCode::from_index(site as usize));
        if let Some(recorder) = &mut self.recorder {
            recorder.close(None);
        }
    }

    /// Adds a violation of the state as it is: nobody moves.
    #[cold]
    pub(crate) fn remark(&mut self, site: SiteAt, out: &mut Successors) {
        out.push_remark(ViolationCode::from_index(site as usize));
        if let Some(recorder) = &mut self.recorder {
            recorder.close(None);
        }
    }

    /// Adds the violation of a transformation that could not even be tried.
    #[cold]
    pub(crate) fn violate_at(
        &mut self,
        site: SiteAt,
        thread: u32,
        number: u32,
        state: &[u64],
        out: &mut Successors,
    ) {
        self.begin(state);
        self.record(thread, number, None);
        self.violate(site, out);
        self.unrecord();
    }

    /// Adds the assertions that failed in the step just made; the step itself goes on.
    pub(crate) fn report_assertions(&mut self, out: &mut Successors) {
        let mut failed = std::mem::take(&mut self.failed_assertions);
        for site in failed.drain(..) {
            self.violate(site, out);
        }
        self.failed_assertions = failed;
    }
}
