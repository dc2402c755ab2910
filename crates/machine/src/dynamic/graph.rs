//! States of dynamic programs as graphs, and their renamings.
//!
//! The root has the globals; a thread has its head and its frames; an object has its contents. What names an object or a
//! thread is an edge, labelled by its position in the node (null: no edge); everything else is data. The rows of an
//! unordered collection are unordered: members that are references are edges with one label, other rows are nodes of their own.
//!
//! Objects may be renamed freely: a program can only copy references, compare them, and follow them. Threads may be renamed
//! when the program names them by opaque ids alone ([`quotient_program::Type::Thread`]). Where Promela's numbers are used
//! (`_pid`, results of `run`, remote references, priorities) all threads are pinned. Promela's rule that only the youngest
//! process can end depends on the order of the threads: a thread whose function can end that way is pinned, and the others
//! change places among themselves, so that the rule sees no difference.
//!
//! A claim follows references like the program, and asks of threads through quantifiers, or names one, which pins them all.

use std::sync::Arc;

use quotient_program::visit::{self, Visitor};
use quotient_program::{Action, Expr, Function, Operation, Place, Program, Root, Type};
use quotient_symmetry::StateGraph;
use quotient_symmetry::graph::{Graph, ROOT};

use super::collect::Links;
use super::collections::sort_rows;
use super::kind::{Kind, Object};
use super::segments::{Link, Segments};
use super::shapes::{Registered, describe};
use crate::layout::{Instance, Layout, Shape};
use crate::machine::Machine;

/// Shows the states of one machine as graphs and renames them.
#[derive(Debug)]
pub struct DynamicGraph {
    segments: Arc<Segments>,
    layout: Layout,
    /// Threads running this function keep their place.
    pinned: Vec<bool>,
    /// The functions that threads are started with.
    threads_run: Vec<usize>,
    /// Whether the rows of each collection type are ordered.
    ordered: Vec<bool>,

    registered: Registered,
    shapes: Vec<Shape>,
    /// The node of each thread and object of the graph made last; [`NO_NODE`] where there is none.
    threads: Vec<u32>,
    objects: Vec<u32>,
    rows: Vec<Row>,
    bytes: Vec<u8>,
    description: Vec<u32>,
    order: Vec<u32>,
    /// New numbers of threads and objects.
    new_threads: Vec<u32>,
    new_objects: Vec<u32>,
    row_cells: Vec<i32>,
}

const NO_NODE: u32 = u32::MAX;

/// A row of an unordered collection with a node of its own.
#[derive(Clone, Copy, Debug)]
struct Row {
    collection: usize,
    at: u32,
}

impl DynamicGraph {
    /// For the states of this machine. `None` when its program is not dynamic.
    pub fn new(machine: &Machine) -> Option<DynamicGraph> {
        let program = machine.program();
        program.features.dynamic.then(|| DynamicGraph {
            segments: machine.heap.segments.clone(),
            layout: machine.layout.clone(),
            pinned: pinned(program),
            threads_run: threads_run(program),
            ordered: program.collection_types.iter().map(|c| c.extension.ordered()).collect(),
            registered: machine.heap.registered.share(),
            shapes: vec![Shape::empty(machine.layout.fixed)],
            threads: Vec::new(),
            objects: Vec::new(),
            rows: Vec::new(),
            bytes: Vec::new(),
            description: Vec::new(),
            order: Vec::new(),
            new_threads: Vec::new(),
            new_objects: Vec::new(),
            row_cells: Vec::new(),
        })
    }

    /// What may be renamed, in words.
    pub fn found(&self) -> &'static str {
        let pinned = |f: &usize| self.pinned[*f];
        match (self.threads_run.iter().all(pinned), self.threads_run.iter().any(pinned)) {
            (true, _) => "objects",
            (_, true) => "objects; threads that never end",
            _ => "objects and threads",
        }
    }

    fn shape_number(&mut self, state: &[u64]) -> usize {
        // A state of a dynamic program starts with a 32-bit shape number.
        let number = state[0] as u32;
        if number as usize >= self.shapes.len() {
            self.registered.catch_up(number, &mut self.shapes, &self.segments, &self.layout);
        }
        number as usize
    }
}

/// Does a claim name a thread otherwise than by a quantifier?
struct Named(bool);

impl Visitor for Named {
    fn expr(&mut self, e: &Expr) {
        self.0 |= match e {
            Expr::At { thread, .. } | Expr::Enabled(thread) | Expr::LocationOf(thread) => !is_bound(thread),
            Expr::Oldest(_) | Expr::SelfId | Expr::SelfThread | Expr::Last | Expr::Priority(_) => true,
            _ => false,
        };
    }

    fn place(&mut self, place: &Place, _: visit::Use) {
        self.0 |= matches!(&place.root, Root::Remote { thread, .. } if !is_bound(thread));
    }
}

fn is_bound(thread: &Expr) -> bool {
    match thread {
        Expr::Spanned(inner, _) => is_bound(inner),
        other => matches!(other, Expr::Bound(_)),
    }
}

/// The functions whose threads keep their place.
fn pinned(program: &Program) -> Vec<bool> {
    struct Numbers(bool);
    impl Visitor for Numbers {
        fn expr(&mut self, e: &Expr) {
            self.0 |= matches!(e, Expr::SelfId | Expr::Last | Expr::At { .. } | Expr::Priority(_));
        }

        fn place(&mut self, place: &Place, _: visit::Use) {
            self.0 |= matches!(place.root, Root::Remote { .. });
        }
    }
    let mut numbers =
        Numbers(program.features.last || program.features.priorities || program.observer.is_some());
    for function in &program.functions {
        function.provided.iter().for_each(|e| visit::expr(e, &mut numbers));
        for t in function.locations.iter().flat_map(|l| &l.transformations) {
            visit::transformation(t, &mut numbers);
            for action in &t.actions {
                if let Action::Start { result: Some(place), .. } = action {
                    numbers.0 |= place.ty != Type::Thread;
                }
            }
        }
    }
    if let Some(claim) = &program.claim {
        let mut named = Named(false);
        let transformations = claim.function.locations.iter().flat_map(|l| &l.transformations);
        transformations.for_each(|t| visit::transformation(t, &mut named));
        numbers.0 |= named.0;
    }
    program.functions.iter().map(|f| numbers.0 || can_exit(f)).collect()
}

/// The functions that threads are started with.
fn threads_run(program: &Program) -> Vec<usize> {
    let actions = program.functions.iter().flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
    let started = actions.flat_map(|t| &t.actions).filter_map(|a| match a {
        Action::Start { function, .. } => Some(function.0 as usize),
        _ => None,
    });
    let mut all: Vec<usize> = started.chain(program.initial.iter().map(|f| f.0 as usize)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Can a thread with this body come to where it waits to be the youngest?
fn can_exit(function: &Function) -> bool {
    let mut seen = vec![false; function.locations.len()];
    let mut waiting = vec![function.entry.0 as usize];
    while let Some(location) = waiting.pop() {
        if std::mem::replace(&mut seen[location], true) {
            continue;
        }
        for t in &function.locations[location].transformations {
            if matches!(t.operation, Operation::Exit) {
                return true;
            }
            waiting.extend(t.target.map(|l| l.0 as usize));
        }
        let caught = function.catches.iter().filter(|c| c.locations.iter().any(|l| l.0 as usize == location));
        waiting.extend(caught.map(|c| c.target.0 as usize));
    }
    false
}

/// Does a thread keep its place? The function it was started with decides.
fn is_pinned(pinned: &[bool], shape: &Shape, thread: usize) -> bool {
    let outermost = shape.stacks[thread].first().unwrap_or(&shape.threads[thread]);
    pinned.get(outermost.kind as usize).copied().unwrap_or(false)
}

/// Writes the data and the edges of a node.
struct NodeWriter<'a> {
    state: *const u8,
    threads: &'a [u32],
    objects: &'a [u32],
    bytes: &'a mut Vec<u8>,
    graph: &'a mut Graph,
}

impl NodeWriter<'_> {
    /// Collects bytes; those of links are cut out by the caller.
    fn copy(&mut self, at: u32, size: u32) -> usize {
        let start = self.bytes.len();
        // SAFETY: segments lie inside the state.
        let bytes = unsafe { std::slice::from_raw_parts(self.state.add(at as usize), size as usize) };
        self.bytes.extend_from_slice(bytes);
        start
    }

    fn cut(&mut self, start: usize, offset: u32, link: Link) {
        let at = start + offset as usize;
        self.bytes[at..at + link.size() as usize].fill(0);
    }

    /// The bytes collected become data of the last node.
    fn flush(&mut self) {
        for chunk in self.bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.graph.word(u64::from_le_bytes(word));
        }
        self.bytes.clear();
    }

    fn edge(&mut self, label: u32, link: Link) {
        // SAFETY: links lie inside the state.
        let number = unsafe { link.load(self.state.add(link.at as usize)) };
        let nodes = if link.thread { self.threads } else { self.objects };
        if let Some(node) = number.checked_sub(1).and_then(|n| nodes.get(n as usize)) {
            self.graph.edge(label, *node);
        }
    }
}

impl StateGraph<Machine> for DynamicGraph {
    fn graph(&mut self, machine: &Machine, state: &[u64], out: &mut Graph) -> bool {
        if state.is_empty() {
            return false;
        }
        let number = self.shape_number(state);
        let shape = &self.shapes[number];
        let segments = &self.segments;
        let links = Links { shape, segments, layout: &self.layout };
        let mut next = ROOT + 1;
        let mut count = |exists: bool| {
            let node = if exists { next } else { NO_NODE };
            next += u32::from(exists);
            node
        };
        self.threads.clear();
        self.threads.extend(shape.threads.iter().map(|t| count(t.kind != segments.nobody())));
        self.objects.clear();
        self.objects.extend(shape.objects.iter().map(|o| count(Kind(o.kind) != Kind::FREE)));
        self.rows.clear();
        self.bytes.clear();
        let memory = state.as_ptr().cast::<u8>();
        let mut writer = NodeWriter {
            state: memory,
            threads: &self.threads,
            objects: &self.objects,
            bytes: &mut self.bytes,
            graph: out,
        };

        writer.graph.object(0);
        let shape_size = self.layout.shape_size;
        writer.copy(shape_size, segments.fixed - shape_size);
        let mut label = 0;
        links.globals(true, |link| {
            writer.cut(0, link.at - shape_size, link);
            writer.edge(label, link);
            label += 1;
        });
        writer.flush();

        for (t, top) in shape.threads.iter().enumerate().filter(|(_, t)| t.kind != segments.nobody()) {
            let runs = segments.runs(top.kind);
            let pin = if is_pinned(&self.pinned, shape, t) { t as u32 + 1 } else { 0 };
            let frames = shape.stacks[t].iter().chain(std::iter::once(top));
            writer.graph.thread(pin, frames.clone().count() as u32);
            for frame in frames.clone() {
                let location = machine.location(memory, frame.at, frame.kind);
                writer.graph.word(u64::from(frame.kind) << 32 | u64::from(location));
            }
            if !runs {
                continue;
            }
            let mut label = 0;
            if let Some(head) = links.head(t) {
                let start = writer.copy(head.at, segments.head);
                writer.cut(start, 0, head);
                writer.edge(0, head);
                label = 1;
            }
            for frame in frames {
                let start = writer.copy(frame.at, segments.frame_sizes[frame.kind as usize]);
                links.frame(*frame, |link| {
                    writer.cut(start, link.at - frame.at, link);
                    writer.edge(label, link);
                    label += 1;
                });
            }
            writer.flush();
        }

        for (o, object) in shape.objects.iter().enumerate().filter(|(_, o)| Kind(o.kind) != Kind::FREE) {
            let kind = Kind(object.kind);
            writer.graph.object(kind.0);
            if let Object::Collection(id, count) = kind.object()
                && !self.ordered[id.0 as usize]
            {
                let rows = &segments.collections[id.0 as usize];
                let plain = rows.links.len() == 1 && rows.cells.len() == 1;
                for row in 0..count {
                    let at = object.at + row * rows.size;
                    if plain {
                        writer.edge(0, Link { at, thread: rows.links[0].thread });
                    } else if rows.links.is_empty() {
                        // Sorted as they are: plain data.
                        writer.copy(at, rows.size);
                    } else {
                        writer.graph.edge(0, next);
                        next += 1;
                        self.rows.push(Row { collection: id.0 as usize, at });
                    }
                }
                writer.flush();
                continue;
            }
            writer.copy(object.at, segments.object_size(kind, &self.layout));
            let mut label = 0;
            links.object(o, |link| {
                writer.cut(0, link.at - object.at, link);
                writer.edge(label, link);
                label += 1;
            });
            writer.flush();
        }
        for row in &self.rows {
            let rows = &segments.collections[row.collection];
            // A kind that no object has.
            writer.graph.object(7 << 29 | row.collection as u32);
            let start = writer.copy(row.at, rows.size);
            for (label, link) in rows.links.iter().enumerate() {
                writer.cut(start, link.at, *link);
                writer.edge(label as u32, Link { at: row.at + link.at, thread: link.thread });
            }
            writer.flush();
        }
        true
    }

    fn rename(&mut self, _: &Machine, state: &[u64], number: &[u32], out: &mut Vec<u64>) -> bool {
        let from = self.shape_number(state);
        self.new_numbers(from, number);
        let stays = |new: &[u32]| new.iter().enumerate().all(|(old, new)| *new == old as u32);
        if stays(&self.new_threads) && stays(&self.new_objects) {
            return false;
        }
        // A failure to find a number for the shape leaves the state as it is: sound, only less reduction.
        let Ok(to) = self.renamed_shape(from) else { return false };
        let (old, new) = (&self.shapes[from], &self.shapes[to as usize]);
        out.clear();
        out.resize(new.words as usize, 0);
        let (source, target) = (state.as_ptr().cast::<u8>(), out.as_mut_ptr().cast::<u8>());
        let segments = &self.segments;
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
        copy(0, 0, segments.fixed);
        // SAFETY: every state of a dynamic program starts with a 32-bit shape number.
        unsafe { target.cast::<u32>().write_unaligned(to) };
        for (t, top) in old.threads.iter().enumerate().filter(|(_, t)| segments.runs(t.kind)) {
            let n = self.new_threads[t] as usize;
            copy(old.heads[t], new.heads[n], segments.head);
            for (a, b) in old.stacks[t].iter().zip(&new.stacks[n]) {
                copy(a.at, b.at, segments.frame_sizes[b.kind as usize]);
            }
            copy(top.at, new.threads[n].at, segments.frame_sizes[top.kind as usize]);
        }
        for (o, object) in old.objects.iter().enumerate().filter(|(_, o)| Kind(o.kind) != Kind::FREE) {
            let n = self.new_objects[o] as usize;
            copy(object.at, new.objects[n].at, segments.object_size(Kind(object.kind), &self.layout));
        }
        let links = Links { shape: new, segments, layout: &self.layout };
        let relink = |link: Link| {
            let names = if link.thread { &self.new_threads } else { &self.new_objects };
            // SAFETY: links of the new shape lie inside the new state, which nobody else uses.
            unsafe {
                let at = target.add(link.at as usize);
                if let Some(new) = link.load(at).checked_sub(1).and_then(|n| names.get(n as usize)) {
                    link.store(at, new + 1);
                }
            }
        };
        links.globals(true, relink);
        (0..new.threads.len()).for_each(|t| links.thread(t, relink));
        (0..new.objects.len()).for_each(|o| links.object(o, relink));
        for object in &new.objects {
            if let Object::Collection(id, count) = Kind(object.kind).object()
                && !self.ordered[id.0 as usize]
            {
                sort_collection(segments, id.0 as usize, target, object.at, count, &mut self.row_cells);
            }
        }
        true
    }
}

/// Sorts the rows of a collection in place.
fn sort_collection(segments: &Segments, id: usize, state: *mut u8, at: u32, count: u32, rows: &mut Vec<i32>) {
    let layout = &segments.collections[id];
    let place = |row: u32, offset: u32| {
        // SAFETY: the rows lie inside the state.
        unsafe { state.add((at + row * layout.size + offset) as usize) }
    };
    rows.clear();
    for row in 0..count {
        // SAFETY: as above.
        rows.extend(layout.cells.iter().map(|(offset, cell)| unsafe { cell.load(place(row, *offset)) }));
    }
    sort_rows(rows, layout.cells.len());
    for (row, values) in rows.chunks(layout.cells.len().max(1)).enumerate() {
        for (value, (offset, cell)) in values.iter().zip(&layout.cells) {
            // SAFETY: as above.
            unsafe { cell.store(place(row as u32, *offset), *value) };
        }
    }
}

impl DynamicGraph {
    /// New numbers by the order of the nodes' numbers. Pinned threads keep theirs; the others share the places left.
    fn new_numbers(&mut self, shape: usize, number: &[u32]) {
        let shape = &self.shapes[shape];
        let sorted = |order: &mut Vec<u32>, nodes: &[u32], keep: &dyn Fn(usize) -> bool| {
            order.clear();
            order.extend((0..nodes.len()).filter(|i| nodes[*i] != NO_NODE && keep(*i)).map(|i| i as u32));
            order.sort_unstable_by_key(|i| number[nodes[*i as usize] as usize]);
        };
        let is_pinned = |t: usize| is_pinned(&self.pinned, shape, t);
        self.new_threads.clear();
        self.new_threads.extend(0..self.threads.len() as u32);
        sorted(&mut self.order, &self.threads, &|t| !is_pinned(t));
        let mut free = (0..self.threads.len()).filter(|t| !is_pinned(*t));
        for old in &self.order {
            // There are at least as many places as threads that may move.
            let Some(place) = free.next() else { break };
            self.new_threads[*old as usize] = place as u32;
        }
        self.new_objects.clear();
        self.new_objects.extend(0..self.objects.len() as u32);
        sorted(&mut self.order, &self.objects, &|_| true);
        for (new, old) in self.order.iter().enumerate() {
            self.new_objects[*old as usize] = new as u32;
        }
    }

    /// Whether everything takes the place of something of its kind, and nothing a place where there was nothing.
    fn keeps_shape(&self, shape: &Shape) -> bool {
        let same = |a: &[Instance], b: &[Instance]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.kind == b.kind)
        };
        let mut threads = shape.threads.iter().zip(&self.new_threads).enumerate();
        let mut objects = shape.objects.iter().zip(&self.new_objects);
        shape.threads.len() == self.new_threads.len()
            && shape.objects.len() == self.new_objects.len()
            && !shape.threads.iter().any(|t| t.kind == self.segments.nobody())
            && !shape.objects.iter().any(|o| Kind(o.kind) == Kind::FREE)
            && threads.all(|(t, (top, new))| {
                let new = *new as usize;
                top.kind == shape.threads[new].kind && same(&shape.stacks[t], &shape.stacks[new])
            })
            && objects.all(|(object, new)| object.kind == shape.objects[*new as usize].kind)
    }

    /// The shape after the renaming.
    fn renamed_shape(&mut self, from: usize) -> Result<u32, String> {
        let shape = &self.shapes[from];
        if self.keeps_shape(shape) {
            return Ok(from as u32);
        }
        let nobody = Instance { kind: self.segments.nobody(), at: 0 };
        let mut threads: Vec<(&[Instance], Instance)> = vec![(&[], nobody); shape.threads.len()];
        for (t, top) in shape.threads.iter().enumerate().filter(|(_, t)| t.kind != nobody.kind) {
            threads[self.new_threads[t] as usize] = (&shape.stacks[t], *top);
        }
        while threads.last().is_some_and(|(_, top)| top.kind == nobody.kind) {
            threads.pop();
        }
        let exists = |o: &&Instance| Kind(o.kind) != Kind::FREE;
        let mut kinds = vec![Kind::FREE; shape.objects.iter().filter(exists).count()];
        for (o, object) in shape.objects.iter().enumerate().filter(|(_, o)| exists(o)) {
            kinds[self.new_objects[o] as usize] = Kind(object.kind);
        }
        describe(threads.into_iter(), kinds.into_iter(), &mut self.description);
        self.registered.find(&self.description, &mut self.shapes, &self.segments, &self.layout)
    }
}
