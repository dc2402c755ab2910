//! Calls, returns and exceptions.
//!
//! A frame is a segment like that of a thread's body: a location and locals. While a frame waits for a call to return, its
//! location is a number after those of its function's locations: which call it waits for. So the state says where to go on,
//! where the value goes, and which catches apply.

use crate::code::SiteAt;
use crate::code::calls::Table;
use crate::machine::Machine;
use crate::state::kind::{Kind, Object};
use crate::state::shapes::{Instance, WORKING};

/// Most frames of one thread.
const DEEPEST: usize = 255;

impl Machine {
    /// Enters a function: a new frame on top of a thread of the draft, with these arguments.
    pub(crate) fn push_frame(&mut self, thread: u32, call: u32, function: u32) -> Result<(), SiteAt> {
        let waiting = self.code.calls[call as usize].waiting;
        let shape = self.work();
        let caller = shape.threads[thread as usize];
        if shape.stacks[thread as usize].len() + 1 >= DEEPEST {
            self.exhausted = Some(format!("a stack of more than {DEEPEST} frames").into());
            return Ok(());
        }
        self.set_location(caller.at, caller.kind, waiting);
        let at = self.append(self.layout.threads[function as usize].size);
        let shape = &mut self.shapes.list[WORKING as usize];
        shape.stacks[thread as usize].push(caller);
        shape.threads[thread as usize] = Instance { kind: function, at };
        let args = std::mem::take(&mut self.heap.args);
        let entered = self.enter(thread, function, at, &args);
        self.heap.args = args;
        entered
    }

    /// Leaves the topmost frame of a thread of the draft with a value; the thread ends when it was the last.
    pub(crate) fn pop_frame(&mut self, thread: u32, value: i32) -> Result<(), SiteAt> {
        let shape = self.work();
        let Some(caller) = shape.stacks[thread as usize].pop() else {
            self.stop_thread(thread);
            return Ok(());
        };
        shape.threads[thread as usize] = caller;
        let memory = self.draft.as_ptr().cast::<u8>();
        let waiting = self.location(memory, caller.at, caller.kind);
        let Some(call) = self.code.awaited(caller.kind, waiting) else { return Ok(()) };
        let (target, result) = (call.target, call.result);
        self.set_location(caller.at, caller.kind, target);
        if let Some(result) = result {
            let value = result.fit(value)?;
            let memory = self.draft.as_mut_ptr().cast::<u8>();
            // SAFETY: the result is a local of the caller's frame.
            unsafe { result.cell.store(memory.add((caller.at + result.at) as usize), value) };
        }
        Ok(())
    }

    /// The location of a frame; of one that waits, where its call is.
    pub(crate) fn origin(&self, memory: *const u8, frame: Instance) -> u32 {
        let location = self.location(memory, frame.at, frame.kind);
        self.code.awaited(frame.kind, location).map_or(location, |call| call.location)
    }

    /// Is the thread inside a call that was made in exclusive control?
    pub(crate) fn exclusive(&self, memory: *const u8, thread: u32) -> bool {
        let stacks = &self.shape_at(memory).stacks;
        stacks.get(thread as usize).is_some_and(|frames| {
            frames.iter().any(|frame| {
                let waiting = self.location(memory, frame.at, frame.kind);
                self.code.awaited(frame.kind, waiting).is_some_and(|call| call.keeps_control)
            })
        })
    }

    /// Throws the record a reference leads to. Gives the record's number when nobody catches it.
    pub(crate) fn unwind(&mut self, thread: u32, reference: i32) -> Result<(), u32> {
        let kind = self.object_at(self.draft.as_ptr().cast(), reference).map(|(kind, _)| kind.object());
        let Some(Object::Record(record)) = kind else { return Err(0) };
        loop {
            let memory = self.draft.as_ptr().cast::<u8>();
            let top = self.shape_at(memory).threads[thread as usize];
            let location = self.origin(memory, top);
            let extends = &self.layout.objects.extends[record.0 as usize];
            let catches = &self.code.functions[top.kind as usize].catches;
            let found =
                catches.iter().find(|c| extends[c.record as usize] && c.locations.contains(&location));
            if let Some((variable, target)) = found.map(|c| (c.variable, c.target)) {
                self.set_location(top.at, top.kind, target);
                if let Some(at) = variable {
                    let memory = self.draft.as_mut_ptr().cast::<u8>();
                    // SAFETY: the variable is a reference among the locals of the frame.
                    unsafe {
                        memory.add((top.at + at) as usize).cast::<u16>().write_unaligned(reference as u16);
                    }
                }
                self.heap.dirty = true;
                return Ok(());
            }
            let shape = self.work();
            let Some(caller) = shape.stacks[thread as usize].pop() else { return Err(record.0) };
            shape.threads[thread as usize] = caller;
        }
    }

    /// The frame of a thread that runs a function from its start: the outermost one.
    pub(crate) fn outermost(&self, memory: *const u8, thread: usize) -> Option<Instance> {
        let shape = self.shape_at(memory);
        let below = shape.stacks.get(thread).and_then(|frames| frames.first());
        below.or_else(|| shape.threads.get(thread)).copied()
    }

    /// The function a virtual table gives for the first argument; `None` for null, for a deleted object and where the table
    /// has no entry.
    pub(crate) fn resolve(&self, table: u32, first: i32) -> Option<u32> {
        match &self.code.tables[table as usize] {
            Table::Constants(entries) => entries.iter().find(|(value, _)| *value == first).map(|(_, f)| *f),
            Table::Records(functions) => {
                match self.object_at(self.draft.as_ptr().cast(), first).map(|(k, _)| Kind::object(k)) {
                    Some(Object::Record(id)) => functions[id.0 as usize],
                    _ => None,
                }
            }
        }
    }
}
