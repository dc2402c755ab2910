//! Garbage is never part of a state: what nothing leads to vanishes before a state is stored.
//!
//! Everything is reachable that the globals or a thread that has not ended lead to, along references and along ids of
//! threads. A thread that has ended exists only as long as somebody holds its id. A copy of what is reachable goes into the
//! normal shape; everything keeps its number. Scratch variables count while a step goes on, not in a stored state, where they
//! are zero.

use crate::machine::Machine;
use crate::state::kind::Kind;
use crate::state::layout::Layout;
use crate::state::link::Link;
use crate::state::shapes::{Instance, Shape, WORKING, describe};

/// Where the links of a state are. Positions given are bytes of the state.
#[derive(Clone, Copy)]
pub(crate) struct Links<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) layout: &'a Layout,
}

impl Links<'_> {
    #[inline]
    pub(crate) fn globals(self, scratch: bool, mut link: impl FnMut(Link)) {
        self.layout.global_links.iter().for_each(|l| link(*l));
        if scratch {
            self.layout.scratch_links.iter().for_each(|l| link(*l));
        }
    }

    /// The lock a thread waits for, if the program has locks.
    #[inline]
    pub(crate) fn head(self, thread: usize) -> Option<Link> {
        (self.layout.head > 0 && self.layout.runs(self.shape.threads[thread].kind))
            .then(|| Link { at: self.shape.heads[thread], thread: false })
    }

    /// The links of one frame.
    #[inline]
    pub(crate) fn frame(self, frame: Instance, mut link: impl FnMut(Link)) {
        for l in &self.layout.threads[frame.kind as usize].links {
            link(Link { at: frame.at + l.at, thread: l.thread });
        }
    }

    /// All links of a thread: its head, then its frames from the outermost on.
    #[inline]
    pub(crate) fn thread(self, thread: usize, mut link: impl FnMut(Link)) {
        if let Some(l) = self.head(thread) {
            link(l);
        }
        for frame in &self.shape.stacks[thread] {
            self.frame(*frame, &mut link);
        }
        self.frame(self.shape.threads[thread], link);
    }

    #[inline]
    pub(crate) fn object(self, object: usize, mut link: impl FnMut(Link)) {
        let Instance { kind, at } = self.shape.objects[object];
        self.layout.object_links(Kind(kind), |l| link(Link { at: at + l.at, thread: l.thread }));
    }
}

/// What can be reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    pub(crate) objects: Vec<bool>,
    pub(crate) threads: Vec<bool>,
    waiting: Vec<u32>,
}

impl Marks {
    /// Marks what the globals and the threads lead to, and what is reached from there.
    fn find(&mut self, links: Links<'_>, scratch: bool, memory: *const u8) {
        self.clear(links);
        links.globals(scratch, |l| self.follow(memory, l));
        for thread in 0..links.shape.threads.len() {
            links.thread(thread, |l| self.follow(memory, l));
        }
        self.spread(links, memory);
    }

    /// Marks the threads that run, and nothing else.
    fn clear(&mut self, Links { shape, layout }: Links<'_>) {
        self.objects.clear();
        self.objects.resize(shape.objects.len(), false);
        self.threads.clear();
        self.threads.extend(shape.threads.iter().map(|t| layout.runs(t.kind)));
        self.waiting.clear();
    }

    /// Marks what a link names.
    #[inline]
    fn follow(&mut self, memory: *const u8, link: Link) {
        // SAFETY: links of a shape lie inside a state of that shape.
        let number = unsafe { link.load(memory.add(link.at as usize)) };
        self.mark(number, link.thread);
    }

    /// Marks an object or thread by its number from 1; 0 is none.
    #[inline]
    fn mark(&mut self, number: u32, thread: bool) {
        let Some(index) = number.checked_sub(1).map(|i| i as usize) else { return };
        let seen = if thread { &mut self.threads } else { &mut self.objects };
        if let Some(seen) = seen.get_mut(index)
            && !std::mem::replace(seen, true)
            && !thread
        {
            self.waiting.push(index as u32);
        }
    }

    /// Goes on from the objects marked.
    fn spread(&mut self, links: Links<'_>, memory: *const u8) {
        while let Some(object) = self.waiting.pop() {
            links.object(object as usize, |l| self.follow(memory, l));
        }
    }
}

impl Machine {
    /// Brings the draft into its normal shape, without garbage. `scratch` variables count or not.
    #[inline(never)]
    pub(crate) fn normalise(&mut self, scratch: bool) {
        self.heap.dirty = false;
        let mut marks = std::mem::take(&mut self.heap.marks);
        let number = self.shape_number(self.draft.as_ptr().cast());
        let links = self.links(number);
        marks.find(links, scratch, self.draft.as_ptr().cast());
        let garbage =
            links.shape.objects.iter().zip(&marks.objects).any(|(o, m)| !m && Kind(o.kind) != Kind::FREE)
                || links
                    .shape
                    .threads
                    .iter()
                    .zip(&marks.threads)
                    .any(|(t, m)| !m && t.kind != links.layout.nobody());
        if number == WORKING || garbage {
            let mut out = std::mem::take(&mut self.heap.spare);
            self.copy_normal(number, &marks, &mut out);
            std::mem::swap(&mut self.draft, &mut out);
            self.heap.spare = out;
        }
        self.heap.marks = marks;
    }

    /// A copy of the draft in a normal shape, with its garbage.
    pub(crate) fn normal_copy(&mut self) -> Vec<u64> {
        let number = self.shape_number(self.draft.as_ptr().cast());
        let shape = &self.shapes.list[number as usize];
        let marks = Marks {
            objects: vec![true; shape.objects.len()],
            threads: vec![true; shape.threads.len()],
            waiting: Vec::new(),
        };
        let mut out = Vec::new();
        self.copy_normal(number, &marks, &mut out);
        out
    }

    pub(crate) fn links(&self, shape: u32) -> Links<'_> {
        Links { shape: &self.shapes.list[shape as usize], layout: &self.layout }
    }

    /// Does following references from an object lead to another one? Not from or to null.
    pub(crate) fn leads_to(&self, memory: *const u8, from: i32, to: i32) -> bool {
        let links = self.links(self.shape_number(memory));
        let mut marks = Marks::default();
        marks.clear(links);
        marks.mark(u32::try_from(from).unwrap_or(0), false);
        marks.spread(links, memory);
        // A deleted object has no links.
        usize::try_from(to)
            .ok()
            .and_then(|to| marks.objects.get(to.checked_sub(1)?).copied())
            .unwrap_or(false)
    }

    fn copy_normal(&mut self, from: u32, marks: &Marks, out: &mut Vec<u64>) {
        let mut description = std::mem::take(&mut self.heap.description);
        {
            let shape = &self.shapes.list[from as usize];
            let kept = |marks: &[bool]| marks.iter().rposition(|m| *m).map_or(0, |last| last + 1);
            let threads = (0..kept(&marks.threads)).map(|t| {
                let top = shape.threads[t];
                let kind = if marks.threads[t] { top.kind } else { self.layout.nobody() };
                (&shape.stacks[t][..], Instance { kind, ..top })
            });
            let kinds = (0..kept(&marks.objects))
                .map(|o| if marks.objects[o] { Kind(shape.objects[o].kind) } else { Kind::FREE });
            describe(threads, kinds, &mut description);
        }
        let found = self.shapes.find(&description);
        self.heap.description = description;
        let to = match found {
            Ok(number) => number,
            Err(what) => {
                self.exhausted = Some(what);
                return;
            }
        };
        let (old, new) = (&self.shapes.list[from as usize], &self.shapes.list[to as usize]);
        out.clear();
        out.resize(new.words as usize, 0);
        let (source, target) = (self.draft.as_ptr().cast::<u8>(), out.as_mut_ptr().cast::<u8>());
        let copy = |from: u32, to: u32, size: u32| {
            // SAFETY: both segments have that size and lie inside their states.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    source.add(from as usize),
                    target.add(to as usize),
                    size as usize,
                );
            }
        };
        let layout = &self.layout;
        let size = |frame: &Instance| layout.threads[frame.kind as usize].size;
        copy(0, 0, layout.fixed);
        for (t, thread) in new.threads.iter().enumerate().filter(|(_, t)| layout.runs(t.kind)) {
            copy(old.heads[t], new.heads[t], layout.head);
            for (a, b) in old.stacks[t].iter().zip(&new.stacks[t]) {
                copy(a.at, b.at, size(b));
            }
            copy(old.threads[t].at, thread.at, size(thread));
        }
        for (a, b) in old.channels.iter().zip(&new.channels) {
            copy(a.at, b.at, layout.channels[b.kind as usize].size);
        }
        for (a, b) in old.objects.iter().zip(&new.objects) {
            copy(a.at, b.at, layout.object_size(Kind(b.kind)));
        }
        self.put_shape_number(target, to);
    }
}
