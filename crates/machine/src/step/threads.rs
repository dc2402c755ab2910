//! Threads that start and end.
//!
//! In an [open](crate::state::shapes::Shape::open) shape a thread is added and dropped at the end of the draft. In others, where objects
//! follow the threads or numbers of threads are free, the draft is worked on first.
//!
//! There are two ways to end. A process of Promela ends when it is the youngest, and its number is free again at once. A thread
//! that ends at any other time keeps its number as long as somebody holds its id.

use crate::code::SiteAt;
use crate::machine::Machine;
use crate::state::shapes::{Instance, MOST_THREADS, WORKING};
use crate::step::eval::Frame;

impl Machine {
    /// Starts a thread of the draft; gives its id. When there is no room, notes that and gives 0.
    pub(crate) fn start_thread(
        &mut self,
        function: u32,
        args: &[i32],
        priority: Option<i32>,
    ) -> Result<u32, SiteAt> {
        let Some((thread, at)) = self.add_thread(function) else { return Ok(0) };
        if let Some(offset) = self.layout.threads[function as usize].priority {
            let initial = priority.unwrap_or(self.code.functions[function as usize].priority);
            let memory = self.draft.as_mut_ptr().cast::<u8>();
            // SAFETY: the priority lies in the new segment.
            unsafe { *memory.add((at + offset) as usize) = initial as u8 };
        }
        self.enter(thread, function, at, args).map(|()| thread)
    }

    /// Puts a new frame at the start of its function: arguments, location, initial values.
    pub(crate) fn enter(&mut self, thread: u32, function: u32, at: u32, args: &[i32]) -> Result<(), SiteAt> {
        let code = &self.code.functions[function as usize];
        let (entry, init) = (code.entry, code.init);
        let memory = self.draft.as_mut_ptr().cast::<u8>();
        for (param, value) in code.params.iter().zip(args) {
            let value = param.fit(*value)?;
            // SAFETY: parameters are locals of the new frame.
            unsafe { param.cell.store(memory.add((at + param.at) as usize), value) };
        }
        self.set_location(at, function, entry);
        let memory = self.draft.as_mut_ptr().cast();
        self.run(init, Frame { memory, base: at, thread, received: 0 }).map(|_| ())
    }

    /// Adds a thread to the draft, with the channels that it brings; gives its number and its first frame, not yet initialised.
    fn add_thread(&mut self, function: u32) -> Option<(u32, u32)> {
        let shape = self.shape_number(self.draft.as_ptr().cast());
        if self.shapes.list[shape as usize].open {
            self.add_at_end(shape, function)
        } else {
            self.add_anywhere(function)
        }
    }

    fn add_at_end(&mut self, old: u32, function: u32) -> Option<(u32, u32)> {
        let shape = match self.shapes.start(old, function) {
            Ok(shape) => shape,
            Err(what) => {
                self.exhausted = Some(what);
                return None;
            }
        };
        let first_channel = self.shapes.list[old as usize].channels.len();
        let new = &self.shapes.list[shape as usize];
        let (words, thread) = (new.words as usize, new.threads.len() - 1);
        let at = new.threads[thread].at;
        self.draft.resize(words, 0);
        self.set_shape_number(shape);
        let memory = self.draft.as_mut_ptr().cast::<u8>();
        for (index, (variable, _)) in self.layout.threads[function as usize].channels.iter().enumerate() {
            // SAFETY: the variable that gets the number is in the new segment.
            unsafe { *memory.add((at + variable) as usize) = (first_channel + index + 1) as u8 };
        }
        Some((thread as u32, at))
    }

    /// As above, with the lowest number that is free. (Where shapes are not open, channels are objects: threads bring none.)
    fn add_anywhere(&mut self, function: u32) -> Option<(u32, u32)> {
        let nobody = self.layout.nobody();
        self.work();
        let head = self.append(self.layout.head);
        let at = self.append(self.layout.threads[function as usize].size);
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

    /// Takes the youngest thread, with its channels, out of the draft.
    pub(crate) fn end_youngest(&mut self) {
        let old = self.shape_number(self.draft.as_ptr().cast());
        if !self.shapes.list[old as usize].open {
            let shape = self.work();
            shape.threads.pop();
            shape.stacks.pop();
            shape.heads.pop();
            shape.alive -= 1;
            return;
        }
        let shape = match self.shapes.end(old) {
            Ok(shape) => shape,
            Err(what) => return self.exhausted = Some(what),
        };
        let new = &self.shapes.list[shape as usize];
        let (words, bytes) = (new.words as usize, new.bytes as usize);
        self.draft.truncate(words);
        // SAFETY: `bytes` is at most eight times `words`.
        unsafe {
            let memory = self.draft.as_mut_ptr().cast::<u8>();
            memory.add(bytes).write_bytes(0, words * 8 - bytes);
        }
        self.set_shape_number(shape);
    }

    /// Ends a thread of the draft with all its frames. Its number stays taken as long as somebody holds its id.
    pub(crate) fn stop_thread(&mut self, thread: u32) {
        let ended = self.layout.ended();
        self.work();
        let at = self.append(self.layout.threads[ended as usize].size);
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
            all.filter(|(_, t)| self.layout.runs(t.kind)).map(|(t, _)| t as u32).collect()
        };
        runs.into_iter().for_each(|t| self.stop_thread(t));
    }

    /// Has the thread not ended?
    pub(crate) fn runs(&self, memory: *const u8, thread: u32) -> bool {
        let thread = self.shape_at(memory).threads.get(thread as usize);
        thread.is_some_and(|t| self.layout.runs(t.kind))
    }
}
