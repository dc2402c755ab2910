//! Calls, returns, exceptions, and the ends of threads.
//!
//! A frame is a segment like that of a thread's body: a location and locals. While a frame waits for a call to return, its
//! location is a number behind those of its function's locations: which call it waits for. So the state says where to go on,
//! where the value goes, and which catches apply.

use super::kind::{Kind, Object};
use super::shapes::WORKING;
use crate::code::SiteAt;
use crate::eval::Frame;
use crate::machine::Machine;
use crate::shapes::{Instance, MOST_THREADS};

use super::allocate::DEEPEST;

impl Machine {
    /// Enters a function: a new frame on top of a thread of the draft, with these arguments.
    pub(crate) fn push_frame(&mut self, thread: u32, call: u32, function: u32) -> Result<(), SiteAt> {
        let site = &self.code.dynamic.calls[call as usize];
        let pseudo = site.waiting;
        let shape = self.work();
        let caller = shape.threads[thread as usize];
        if shape.stacks[thread as usize].len() + 1 >= DEEPEST {
            self.exhausted = Some(format!("a stack of more than {DEEPEST} frames").into());
            return Ok(());
        }
        self.set_location(caller.at, caller.kind, pseudo);
        let at = self.append(self.heap.segments.frame_sizes[function as usize]);
        let shape = &mut self.shapes.list[WORKING as usize];
        shape.stacks[thread as usize].push(caller);
        shape.threads[thread as usize] = Instance { kind: function, at };
        self.enter(thread, function, at)
    }

    /// Puts a new frame at the start of its function: arguments, initial values, location.
    fn enter(&mut self, thread: u32, function: u32, at: u32) -> Result<(), SiteAt> {
        let args = std::mem::take(&mut self.heap.args);
        let params = self.code.dynamic.functions[function as usize].params.clone();
        let memory = self.draft.as_mut_ptr().cast::<u8>();
        let mut fault = Ok(());
        for (param, value) in params.iter().zip(&args) {
            match param.fit(*value) {
                // SAFETY: parameters are locals of the new frame.
                Ok(value) => unsafe { param.cell.store(memory.add((at + param.at) as usize), value) },
                Err(site) => fault = Err(site),
            }
        }
        self.heap.args = args;
        fault?;
        let entry = self.code.functions[function as usize].entry;
        self.set_location(at, function, entry);
        let init = self.code.functions[function as usize].init;
        let memory = self.draft.as_mut_ptr().cast();
        self.run(init, Frame { memory, base: at, thread, received: 0 }).map(|_| ())
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
        let code = &self.code.dynamic.functions[caller.kind as usize];
        let call = &self.code.dynamic.calls[code.calls[(waiting - code.locations) as usize] as usize];
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
        let Some(code) = self.code.dynamic.functions.get(frame.kind as usize) else { return location };
        match location.checked_sub(code.locations) {
            None => location,
            Some(call) => self.code.dynamic.calls[code.calls[call as usize] as usize].location,
        }
    }

    /// Is the thread inside a call that was made in exclusive control?
    pub(crate) fn exclusive(&self, memory: *const u8, thread: u32) -> bool {
        let stacks = &self.shape_at(memory).stacks;
        stacks.get(thread as usize).is_some_and(|frames| {
            frames.iter().any(|frame| {
                let code = &self.code.dynamic.functions[frame.kind as usize];
                let waiting = self.location(memory, frame.at, frame.kind) - code.locations;
                self.code.dynamic.calls[code.calls[waiting as usize] as usize].keeps_control
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
            let extends = &self.heap.segments.extends[record.0 as usize];
            let catches = &self.code.dynamic.functions[top.kind as usize].catches;
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

    /// Ends a thread of the draft with all its frames. Its number stays taken as long as somebody holds its id.
    pub(crate) fn stop_thread(&mut self, thread: u32) {
        let ended = self.heap.segments.ended();
        self.work();
        let at = self.append(self.heap.segments.frame_sizes[ended as usize]);
        let shape = &mut self.shapes.list[WORKING as usize];
        shape.stacks[thread as usize].clear();
        shape.threads[thread as usize] = Instance { kind: ended, at };
        shape.alive -= 1;
    }

    /// Ends all threads.
    pub(crate) fn halt(&mut self) {
        let runs: Vec<u32> = {
            let shape = self.shape_at(self.draft.as_ptr().cast());
            let all = shape.threads.iter().enumerate();
            all.filter(|(_, t)| self.heap.segments.runs(t.kind)).map(|(t, _)| t as u32).collect()
        };
        runs.into_iter().for_each(|t| self.stop_thread(t));
    }

    /// Takes the youngest thread out of the draft: the end of a process of Promela.
    pub(crate) fn drop_youngest(&mut self) {
        let shape = self.work();
        shape.threads.pop();
        shape.stacks.pop();
        shape.heads.pop();
        shape.alive -= 1;
    }

    /// Adds a thread to the draft; gives its number and its first frame, not yet initialised.
    pub(crate) fn add_thread_segment(&mut self, function: u32) -> Option<(u32, u32)> {
        let nobody = self.heap.segments.nobody();
        self.work();
        let head = self.append(self.heap.segments.head);
        let at = self.append(self.heap.segments.frame_sizes[function as usize]);
        let shape = &mut self.shapes.list[WORKING as usize];
        let instance = Instance { kind: function, at };
        shape.alive += 1;
        if let Some(free) = shape.threads.iter().position(|t| t.kind == nobody) {
            shape.threads[free] = instance;
            shape.stacks[free].clear();
            shape.heads[free] = head;
            return Some((free as u32, at));
        }
        if shape.threads.len() == MOST_THREADS {
            self.exhausted = Some(format!("more than {MOST_THREADS} threads at once").into());
            return None;
        }
        shape.threads.push(instance);
        shape.stacks.push(Vec::new());
        shape.heads.push(head);
        Some((shape.threads.len() as u32 - 1, at))
    }

    /// Starts a thread of a dynamic program; gives its number.
    pub(crate) fn start_dynamic(
        &mut self,
        function: u32,
        args: &[i32],
        priority: Option<i32>,
    ) -> Result<u32, SiteAt> {
        let Some((thread, at)) = self.add_thread_segment(function) else { return Ok(0) };
        if let Some(offset) = self.layout.threads[function as usize].priority {
            let initial = priority.unwrap_or(self.code.functions[function as usize].priority);
            let memory = self.draft.as_mut_ptr().cast::<u8>();
            // SAFETY: the priority lies in the new segment.
            unsafe { *memory.add((at + offset) as usize) = initial as u8 };
        }
        let waiting = std::mem::replace(&mut self.heap.args, args.to_vec());
        let entered = self.enter(thread, function, at);
        self.heap.args = waiting;
        entered.map(|()| thread)
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
        match &self.code.dynamic.tables[table as usize] {
            super::compile::Table::Constants(entries) => {
                entries.iter().find(|(value, _)| *value == first).map(|(_, f)| *f)
            }
            super::compile::Table::Records(functions) => {
                match self.object_at(self.draft.as_ptr().cast(), first).map(|(k, _)| Kind::object(k)) {
                    Some(Object::Record(id)) => functions[id.0 as usize],
                    _ => None,
                }
            }
        }
    }
}
