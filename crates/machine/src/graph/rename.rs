//! A state under a numbering of its graph.
//!
//! First everything gets its new place: points by the least member of the group that comes near the numbering, opaque threads and
//! objects in the order of their numbers. Then the bytes of each node are copied to where the node in its new place has them, and
//! whatever names a node is given the new name.

use quotient_seams::Incomplete;

use super::picture::{Leads, NO_NODE, Picture, Stands};
use super::points::Points;
use super::show::length;
use super::{Names, Renaming};
use crate::heap::collections::sort_rows;
use crate::machine::Machine;
use crate::state::cell::Cell;
use crate::state::kind::Kind;
use crate::state::layout::Layout;
use crate::state::shapes::{Instance, Shape, describe};
use crate::step::eval::read;

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

impl Renaming {
    /// See [`quotient_symmetry::StateGraph::rename`].
    pub(super) fn rename_by(
        &mut self,
        machine: &Machine,
        state: &[u64],
        number: &[u32],
        out: &mut Vec<u64>,
    ) -> bool {
        let Some(picture) = self.picture(self.shape) else { return false };
        if let Some(points) = &picture.points {
            let count = points.len();
            self.point_number.clear();
            self.point_number.extend_from_slice(&number[1..count + 1]);
            // Borrowed apart: the picture stays as it is.
            let Some(Some(Some(picture))) = self.pictures.get(self.shape) else { return false };
            let Some(points) = &picture.points else { return false };
            points.symmetry.structure.group.least(
                &self.point_number,
                &mut self.places.from,
                &mut self.composed,
            );
            let stays = self.places.from.iter().enumerate().all(|(at, from)| at as u32 == *from);
            if stays && !points.has_unread(|at, cell| read(state, at, cell)) {
                return false;
            }
            self.places.turn();
            self.apply(machine, state, self.shape, out);
            return true;
        }
        if !self.new_numbers(number) {
            return false;
        }
        // A failure to find a number for the shape leaves the state as it is: sound, only less reduction.
        let Ok(to) = self.renamed_shape() else { return false };
        self.draw(machine, to as usize);
        self.apply(machine, state, to as usize, out);
        true
    }

    /// Writes the state with everything in its new place, of this shape.
    pub(super) fn apply(&mut self, machine: &Machine, state: &[u64], to: usize, out: &mut Vec<u64>) {
        let (Some(old), Some(new)) = (self.picture(self.shape), self.picture(to)) else { return };
        out.clear();
        if let Some(points) = &old.points {
            if let Names::Numbers(numbers) = &*self.names {
                numbers.note_renamed();
            }
            out.extend_from_slice(state);
            self.move_points(machine, state, old, points, out.as_mut_ptr().cast());
            return;
        }
        out.resize(self.shapes.list[to].words as usize, 0);
        let (source, target) = (state.as_ptr().cast::<u8>(), out.as_mut_ptr().cast::<u8>());
        // SAFETY: every state starts with the fixed part.
        unsafe { copy(source, target, self.layout.fixed as usize) };
        machine.put_shape_number(target, to as u32);
        for node in &old.nodes {
            let place = match node.stands {
                Stands::Thread(t) => new.threads[self.new_threads[t as usize] as usize],
                Stands::Object(o) => new.objects[self.new_objects[o as usize] as usize],
                Stands::Root | Stands::Row | Stands::Cells => continue,
            };
            // The bytes of a thread or object lie together.
            let (a, b) = (old.last_run(node), new.last_run(&new.nodes[place as usize]));
            // SAFETY: both lie inside their states, which are different memory; nodes in each other's place are of one size.
            unsafe { copy(source.add(a.at as usize), target.add(b.at as usize), a.len as usize) };
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
        if !new.unordered.is_empty() {
            self.sort_collections(to, target);
        }
    }

    /// Sorts the rows of the unordered collections of a state of this shape.
    fn sort_collections(&mut self, shape: usize, state: *mut u8) {
        let mut rows = std::mem::take(&mut self.row_cells);
        for unordered in self.picture(shape).iter().flat_map(|picture| &picture.unordered) {
            sort_collection(&self.layout, unordered.id, state, unordered.at, unordered.count, &mut rows);
        }
        self.row_cells = rows;
    }

    /// Moves what belongs to points, in a copy of the state. The shape stays the same.
    fn move_points(
        &self,
        machine: &Machine,
        state: &[u64],
        picture: &Picture,
        points: &Points,
        target: *mut u8,
    ) {
        let source = state.as_ptr().cast::<u8>();
        for index in 0..picture.nodes.len() as u32 {
            let place = points.node(index, &self.places);
            if place != index {
                for (a, b) in picture.runs(index).iter().zip(picture.runs(place)) {
                    // SAFETY: both lie inside states of this shape, which are different memory; nodes in each other's place have
                    // runs of the same lengths.
                    unsafe { copy(source.add(a.at as usize), target.add(b.at as usize), a.len as usize) };
                }
            }
            self.rename_values(machine, state, (picture, points), (index, place), target);
        }
        self.move_locations(machine, state, points, target);
    }

    /// Puts every thread where the one whose place it takes stands, and what it has forgotten there is forgotten.
    fn move_locations(&self, machine: &Machine, state: &[u64], points: &Points, target: *mut u8) {
        let Names::Numbers(numbers) = &*self.names else { return };
        for standing in &points.standing {
            let location = machine.location(state.as_ptr().cast(), standing.at, standing.function);
            let place = standing.locations.get(location as usize).copied().flatten();
            let location = place.map_or(location, |place| points.image(place, &self.places) as u32);
            let thread = standing.place.map(|place| points.image(place, &self.places) as u32);
            let to = match thread {
                Some(thread) => points.standing(thread).unwrap_or(standing),
                None => standing,
            };
            let cell = Cell::of_size(self.layout.threads[to.function as usize].location_size);
            // SAFETY: a thread's segment starts with its location, and locals lie inside it.
            let store = |at: u32, cell: Cell, value: i32| unsafe {
                cell.store(target.add(at as usize), value);
            };
            store(to.at, cell, location as i32);
            points.forgotten(to, |v| numbers.dead_at(to.function, location, v), store);
        }
    }

    /// Gives what the slots of a node hold, and the messages of its channels, their new names. The shape stays the same.
    fn rename_values(
        &self,
        machine: &Machine,
        state: &[u64],
        (picture, points): (&Picture, &Points),
        (index, place): (u32, u32),
        target: *mut u8,
    ) {
        let Names::Numbers(numbers) = &*self.names else { return };
        let store = |at: u32, cell: Cell, value: i32| {
            // SAFETY: slots lie inside states of this shape.
            unsafe { cell.store(target.add(at as usize), value) }
        };
        for (a, b) in picture.slots(index).iter().zip(picture.slots(place)) {
            let value = read(state, a.at, a.cell);
            let dead = value == 0 && numbers.is_dead(machine, state, a);
            store(b.at, b.cell, if dead { 0 } else { points.renamed(a.holds, value, &self.places) });
        }
        for (a, b) in picture.channels(index).iter().zip(picture.channels(place)) {
            let layout = &self.layout.channels[a.kind as usize];
            if index != place {
                let source = state.as_ptr().cast::<u8>();
                // SAFETY: both channels lie inside their states, which are different memory.
                unsafe { copy(source.add(a.at as usize), target.add(b.at as usize), layout.size as usize) };
            }
            for message in 0..length(state, a.at, layout) {
                let offset = layout.length_size + message * layout.message_size;
                let old = |f: usize| read(state, a.at + offset + layout.fields[f].0, layout.fields[f].1);
                for ((field, cell), content) in layout.fields.iter().zip(&points.fields[a.number as usize]) {
                    if let Some(holds) = content.holds(old) {
                        let value = read(state, a.at + offset + field, *cell);
                        store(b.at + offset + field, *cell, points.renamed(holds, value, &self.places));
                    }
                }
            }
        }
    }

    /// New numbers of threads and objects by the order of the nodes' numbers; `false` when everything keeps its own. Pinned threads
    /// keep theirs; the others share the places left.
    fn new_numbers(&mut self, number: &[u32]) -> bool {
        let Some(Some(Some(picture))) = self.pictures.get(self.shape) else { return false };
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
    fn renamed_shape(&mut self) -> Result<u32, Incomplete> {
        let shape = &self.shapes.list[self.shape];
        if self.picture(self.shape).is_some_and(|picture| self.keeps_shape(shape, picture)) {
            return Ok(self.shape as u32);
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

    /// See [`quotient_symmetry::StateGraph::new_name`].
    pub(super) fn new_name_of(&self, thread: u32) -> u32 {
        let Some(old) = self.picture(self.shape) else { return thread };
        if thread as usize >= old.threads.len() {
            return thread;
        }
        if let Some(points) = &old.points {
            return points.name(thread, &self.places);
        }
        let exists = |t: u32| old.threads[t as usize] != NO_NODE;
        let name = |t: u32| self.new_threads[t as usize];
        if exists(thread) {
            return name(thread);
        }
        // Threads may take the places of threads that have ended: those are called by the names that are left, in order.
        let all = 0..old.threads.len() as u32;
        let before = (0..thread).filter(|t| !exists(*t)).count();
        let used = |wanted: u32| all.clone().any(|t| exists(t) && name(t) == wanted);
        all.clone().filter(|name| !used(*name)).nth(before).unwrap_or(thread)
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
