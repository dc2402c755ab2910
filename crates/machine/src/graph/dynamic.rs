//! States of dynamic programs as graphs, and their renamings.
//!
//! The root has the globals; a thread has its head and its frames; an object has its contents. What names an object or a
//! thread is an edge, labelled by its position in the node (null: no edge); everything else is data. The rows of an
//! unordered collection are unordered: members that are references are edges with one label, other rows are nodes of their own.
//!
//! Objects may be renamed freely: a program can only copy references, compare them, and follow them. Which threads may be is
//! found out by [`super::pins`].

use std::sync::Arc;

use quotient_seams::{Incomplete, Worker};
use quotient_source::Span;
use quotient_symmetry::StateGraph;
use quotient_symmetry::graph::Graph;

use super::picture::{Leads, NO_NODE, Picture, Stands};
use super::pins::Pins;
use crate::heap::collections::sort_rows;
use crate::machine::Machine;
use crate::state::kind::Kind;
use crate::state::layout::Layout;
use crate::state::shapes::describe;
use crate::state::shapes::{Instance, Shape, Shapes};

/// Shows the states of one machine as graphs and renames them.
#[derive(Debug)]
pub struct DynamicGraph {
    layout: Arc<Layout>,
    pins: Pins,
    /// Whether the rows of each collection type are ordered.
    ordered: Vec<bool>,

    shapes: Shapes,
    /// The nodes of the states of each shape, as far as such a state was met.
    pictures: Vec<Option<Box<Picture>>>,
    description: Vec<u32>,
    order: Vec<u32>,
    /// New numbers of threads and objects.
    new_threads: Vec<u32>,
    new_objects: Vec<u32>,
    /// The shape of the state that was renamed last.
    renamed: usize,
    row_cells: Vec<i32>,
}

impl DynamicGraph {
    /// For the states of this machine. `None` when its program is not dynamic.
    pub fn new(machine: &Machine) -> Option<DynamicGraph> {
        let program = machine.program();
        program.features.dynamic.then(|| {
            let ordered = program.collection_types.iter().map(|c| c.extension.ordered()).collect();
            DynamicGraph::over(machine.layout.clone(), Pins::new(program), ordered, machine.shapes.share())
        })
    }

    fn over(layout: Arc<Layout>, pins: Pins, ordered: Vec<bool>, shapes: Shapes) -> DynamicGraph {
        DynamicGraph {
            layout,
            pins,
            ordered,
            shapes,
            pictures: Vec::new(),
            description: Vec::new(),
            order: Vec::new(),
            new_threads: Vec::new(),
            new_objects: Vec::new(),
            renamed: 0,
            row_cells: Vec::new(),
        }
    }

    /// What may be renamed, in words.
    pub fn found(&self) -> &str {
        &self.pins.found
    }

    /// Why threads, or some of them, keep their place, and where the program says so.
    pub fn limit(&self) -> Option<(&'static str, Option<Span>)> {
        self.pins.limit
    }

    fn shape_number(&mut self, state: &[u64]) -> usize {
        // A state of a dynamic program starts with a 32-bit shape number.
        let number = state[0] as u32;
        self.shapes.meet(number);
        number as usize
    }

    /// Makes the picture of a shape if it is missing.
    #[inline]
    fn draw(&mut self, shape: usize) {
        if self.pictures.get(shape).is_none_or(Option::is_none) {
            self.pictures.resize_with(self.shapes.list.len(), || None);
            let picture =
                Picture::new(&self.shapes.list[shape], &self.layout, &self.pins.functions, &self.ordered);
            self.pictures[shape] = Some(Box::new(picture));
        }
    }
}

impl Worker for DynamicGraph {
    fn another(&self) -> DynamicGraph {
        let (pins, ordered) = (self.pins.clone(), self.ordered.clone());
        DynamicGraph::over(self.layout.clone(), pins, ordered, self.shapes.share())
    }
}

/// Copies bytes, few at a time as a rule.
///
/// # Safety
/// Both must have room for `size` bytes and not overlap.
#[inline]
unsafe fn copy(source: *const u8, target: *mut u8, size: usize) {
    // SAFETY: by this function's contract; two copies of a shorter length may cover the same bytes twice.
    unsafe {
        let both = |n: usize| {
            std::ptr::copy_nonoverlapping(source, target, n);
            std::ptr::copy_nonoverlapping(source.add(size - n), target.add(size - n), n);
        };
        match size {
            0 => {}
            1 => *target = *source,
            2..=3 => both(2),
            4..=7 => both(4),
            8..=16 => both(8),
            _ => std::ptr::copy_nonoverlapping(source, target, size),
        }
    }
}

impl StateGraph<Machine> for DynamicGraph {
    fn graph(&mut self, _: &Machine, state: &[u64], out: &mut Graph) -> bool {
        if state.is_empty() {
            return false;
        }
        let shape = self.shape_number(state);
        self.draw(shape);
        let Some(picture) = &self.pictures[shape] else { return false };
        let memory = state.as_ptr().cast::<u8>();
        // SAFETY: the state has the shape of the picture.
        out.words(picture.words.iter().map(|word| unsafe { word.read(memory) }));
        // Only members of unordered collections have the same label.
        let ordered = picture.unordered.is_empty();
        let (mut word, mut edge) = (0, 0);
        for node in &picture.nodes {
            let control = matches!(node.stands, Stands::Thread(_)).then_some(node.control);
            out.node(node.kind, control, node.hidden, word);
            word = node.words_end;
            let edges = &picture.edges[edge..node.edges_end as usize];
            edge = node.edges_end as usize;
            for edge in edges {
                match edge.leads {
                    Leads::Row(node) => out.edge(edge.label, node),
                    Leads::By(link) => {
                        // SAFETY: links of the shape lie inside the state.
                        let number = unsafe { link.load(memory.add(link.at as usize)) };
                        let nodes = if link.thread { &picture.threads } else { &picture.objects };
                        match number.checked_sub(1).and_then(|n| nodes.get(n as usize)) {
                            Some(node) if ordered => out.ordered_edge(edge.label, *node),
                            Some(node) => out.edge(edge.label, *node),
                            None => {}
                        }
                    }
                }
            }
        }
        true
    }

    fn rename(&mut self, _: &Machine, state: &[u64], number: &[u32], out: &mut Vec<u64>) -> bool {
        let from = self.shape_number(state);
        self.renamed = from;
        self.draw(from);
        if !self.new_numbers(from, number) {
            return false;
        }
        // A failure to find a number for the shape leaves the state as it is: sound, only less reduction.
        let Ok(to) = self.renamed_shape(from) else { return false };
        self.draw(to as usize);
        let (Some(old), Some(new)) = (&self.pictures[from], &self.pictures[to as usize]) else {
            return false;
        };
        out.clear();
        out.resize(self.shapes.list[to as usize].words as usize, 0);
        let (source, target) = (state.as_ptr().cast::<u8>(), out.as_mut_ptr().cast::<u8>());
        // SAFETY: every state starts with the fixed part, and that with a 32-bit shape number.
        unsafe {
            copy(source, target, self.layout.fixed as usize);
            target.cast::<u32>().write_unaligned(to);
        }
        for node in &old.nodes {
            let place = match node.stands {
                Stands::Thread(t) => new.threads[self.new_threads[t as usize] as usize],
                Stands::Object(o) => new.objects[self.new_objects[o as usize] as usize],
                Stands::Root | Stands::Row => continue,
            };
            let place = &new.nodes[place as usize];
            // SAFETY: both have that size and lie inside their states.
            unsafe {
                copy(source.add(node.at as usize), target.add(place.at as usize), node.size as usize);
            }
        }
        for edge in &new.edges {
            let Leads::By(link) = edge.leads else { continue };
            let names = if link.thread { &self.new_threads } else { &self.new_objects };
            // SAFETY: links of the new shape lie inside the new state, which nobody else uses.
            unsafe {
                let at = target.add(link.at as usize);
                if let Some(new) = link.load(at).checked_sub(1).and_then(|n| names.get(n as usize)) {
                    link.store(at, new + 1);
                }
            }
        }
        for rows in &new.unordered {
            sort_collection(&self.layout, rows.id, target, rows.at, rows.count, &mut self.row_cells);
        }
        true
    }

    fn new_name(&self, thread: u32) -> u32 {
        let Some(Some(picture)) = self.pictures.get(self.renamed) else { return thread };
        let exists = |t: u32| picture.threads.get(t as usize).is_some_and(|node| *node != NO_NODE);
        if thread as usize >= self.new_threads.len() {
            return thread;
        }
        if exists(thread) {
            return self.new_threads[thread as usize];
        }
        // Threads may take the places of threads that have ended: those are called by the names that are left, in order.
        let before = (0..thread).filter(|t| !exists(*t)).count();
        let used =
            |name: u32| (0..self.new_threads.len()).any(|t| exists(t as u32) && self.new_threads[t] == name);
        (0..self.new_threads.len() as u32).filter(|name| !used(*name)).nth(before).unwrap_or(thread)
    }
}

/// Sorts the rows of a collection in place.
fn sort_collection(layout: &Layout, id: usize, state: *mut u8, at: u32, count: u32, rows: &mut Vec<i32>) {
    let layout = &layout.objects.collections[id];
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
    /// New numbers by the order of the nodes' numbers; `false` when everything keeps its own. Pinned threads keep theirs; the
    /// others share the places left.
    fn new_numbers(&mut self, shape: usize, number: &[u32]) -> bool {
        let Some(picture) = &self.pictures[shape] else { return false };
        self.order.clear();
        self.order.resize(number.len(), 0);
        for (node, number) in number.iter().enumerate() {
            self.order[*number as usize] = node as u32;
        }
        self.new_threads.clear();
        self.new_threads.extend(0..picture.threads.len() as u32);
        self.new_objects.clear();
        self.new_objects.extend(0..picture.objects.len() as u32);
        // There are at least as many places as threads that may move.
        let mut places = picture.places.iter();
        let (mut objects, mut moved) = (0, false);
        for node in &self.order {
            let node = &picture.nodes[*node as usize];
            match node.stands {
                // A pinned thread has a kind of its own.
                Stands::Thread(t) if node.kind == 0 => {
                    let place = places.next().copied().unwrap_or(t);
                    self.new_threads[t as usize] = place;
                    moved |= place != t;
                }
                Stands::Object(o) => {
                    self.new_objects[o as usize] = objects;
                    moved |= objects != o;
                    objects += 1;
                }
                _ => {}
            }
        }
        moved
    }

    /// Whether everything takes the place of something of its kind, and nothing a place where there was nothing.
    fn keeps_shape(&self, shape: &Shape, picture: &Picture) -> bool {
        let alike = &picture.alike;
        let mut objects = shape.objects.iter().zip(&self.new_objects);
        picture.without_holes
            && self.new_threads.iter().zip(alike).all(|(new, alike_with)| alike[*new as usize] == *alike_with)
            && objects.all(|(object, new)| object.kind == shape.objects[*new as usize].kind)
    }

    /// The shape after the renaming.
    fn renamed_shape(&mut self, from: usize) -> Result<u32, Incomplete> {
        let shape = &self.shapes.list[from];
        if self.pictures[from].as_ref().is_some_and(|picture| self.keeps_shape(shape, picture)) {
            return Ok(from as u32);
        }
        let nobody = Instance { kind: self.layout.nobody(), at: 0 };
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
        self.shapes.find(&self.description)
    }
}
