//! The nodes of states with objects: opaque names.
//!
//! The root has the globals; a thread has its head and its frames; an object has its contents. What names an object or a
//! thread is an edge, labelled by its position in the node (null: no edge); everything else is data. The rows of an
//! unordered collection are unordered: members that are references are edges with one label, other rows are nodes of their own.
//!
//! Objects may be renamed freely: a program can only copy references, compare them, and follow them. Which threads may be is
//! found out by [`super::pins`].

use super::picture::{Edge, Leads, NO_NODE, Picture, Run, Stands, Unordered, Word};
use crate::heap::collect::Links;
use crate::state::kind::{Kind, Object};
use crate::state::layout::Layout;
use crate::state::link::Link;
use crate::state::objects::LOCK_SIZE;
use crate::state::shapes::{Instance, Shape};

/// The nodes for a shape. `pinned`: the functions whose threads keep their place; `ordered`: whether the rows of each
/// collection type are.
pub(super) fn picture(shape: &Shape, layout: &Layout, pinned: &[bool], ordered: &[bool]) -> Picture {
    let mut next = 1;
    let mut number = |exists: bool| {
        let node = if exists { next } else { NO_NODE };
        next += u32::from(exists);
        node
    };
    let mut picture = Picture {
        threads: shape.threads.iter().map(|t| number(t.kind != layout.nobody())).collect(),
        objects: shape.objects.iter().map(|o| number(Kind(o.kind) != Kind::FREE)).collect(),
        ..Picture::default()
    };
    picture.without_holes = !picture.threads.iter().chain(&picture.objects).any(|n| *n == NO_NODE);
    let links = Links { shape, layout };
    let mut writer = Writer { picture: &mut picture, links, next, here: Vec::new() };
    writer.root();
    for t in 0..shape.threads.len() {
        writer.thread(t, is_pinned(pinned, shape, t));
    }
    let mut rows = Vec::new();
    for o in 0..shape.objects.len() {
        writer.object(o, ordered, &mut rows);
    }
    for (collection, at) in rows {
        writer.row(collection, at);
    }
    picture
}

/// Does a thread keep its place? The function it was started with decides.
fn is_pinned(pinned: &[bool], shape: &Shape, thread: usize) -> bool {
    let outermost = shape.stacks[thread].first().unwrap_or(&shape.threads[thread]);
    pinned.get(outermost.kind as usize).copied().unwrap_or(false)
}

struct Writer<'a> {
    picture: &'a mut Picture,
    links: Links<'a>,
    /// The number of the next node for a row.
    next: u32,
    /// Bytes of the current node that are not data: first, number.
    here: Vec<(u32, u32)>,
}

impl Writer<'_> {
    fn link(&mut self, label: u32, link: Link) {
        self.picture.edges.push(Edge { label, leads: Leads::By(link) });
        self.here.push((link.at, link.size()));
    }

    /// The bytes from `at` on, except what is not data, become words. Words without any data are left out.
    fn data(&mut self, at: u32, size: u32) {
        for start in (at..at + size).step_by(8) {
            let is_data = |byte: u32| {
                byte < at + size && !self.here.iter().any(|(cut, n)| (*cut..cut + n).contains(&byte))
            };
            let mask = (0..8).filter(|i| is_data(start + i)).fold(0, |mask, i| mask | 0xff << (8 * i));
            if mask != 0 {
                self.picture.words.push(Word::new(self.links.shape, start, mask, 0));
            }
        }
        self.here.clear();
    }

    /// Bytes that are not values of the program: how often a lock is held, whether a waiting thread was notified.
    fn synchronisation(&mut self, at: u32, size: u32) {
        self.picture.words.push(Word::bytes(self.links.shape, at, size));
    }

    fn root(&mut self) {
        let mut label = 0;
        self.links.globals(true, |link| {
            self.link(label, link);
            label += 1;
        });
        let at = self.links.layout.shape_size;
        self.data(at, self.links.layout.fixed - at);
        self.picture.end_node(Stands::Root, 0, 0, 0);
    }

    fn thread(&mut self, t: usize, pinned: bool) {
        let Links { shape, layout } = self.links;
        let top = shape.threads[t];
        let kinds = |t: usize| shape.stacks[t].iter().chain([&shape.threads[t]]).map(|f| f.kind);
        self.picture.alike.push((0..t).find(|u| kinds(*u).eq(kinds(t))).unwrap_or(t) as u32);
        if !pinned {
            self.picture.places.push(t as u32);
        }
        if top.kind == layout.nobody() {
            return;
        }
        let frames: Vec<Instance> = shape.stacks[t].iter().copied().chain([top]).collect();
        for frame in &frames {
            let bytes = layout.threads[frame.kind as usize].location_size;
            let (mask, constant) = ((1u64 << (8 * bytes)) - 1, u64::from(frame.kind) << 32);
            self.picture.words.push(Word::new(shape, frame.at, mask, constant));
            self.here.push((frame.at, bytes));
        }
        // A thread that has ended has no contents.
        let runs = layout.runs(top.kind);
        let at = shape.heads[t];
        // Head and frames lie one after the other.
        let size = if runs { top.at + layout.threads[top.kind as usize].size - at } else { 0 };
        if runs {
            let mut label = 0;
            self.links.thread(t, |link| {
                self.link(label, link);
                label += 1;
            });
        }
        // The head starts with the lock that is waited for.
        let lock = Link { at, thread: false }.size();
        let waits = runs && layout.head > lock;
        if waits {
            self.here.push((at + lock, layout.head - lock));
        }
        self.data(at, size);
        if waits {
            self.synchronisation(at + lock, layout.head - lock);
        }
        self.picture.runs.push(Run { at, len: size });
        let kind = if pinned { t as u32 + 1 } else { 0 };
        self.picture.end_node(Stands::Thread(t as u32), kind, frames.len() as u32, u32::from(waits));
    }

    /// An object; rows of it that are nodes of their own are added to `rows`, as collection and byte.
    fn object(&mut self, o: usize, ordered: &[bool], rows: &mut Vec<(usize, u32)>) {
        let Links { shape, layout } = self.links;
        let Instance { kind, at } = shape.objects[o];
        let kind = Kind(kind);
        if kind == Kind::FREE {
            return;
        }
        let size = layout.object_size(kind);
        let has_lock = layout.has_lock(kind);
        match kind.object() {
            Object::Collection(id, count) if !ordered[id.0 as usize] => {
                let id = id.0 as usize;
                self.picture.unordered.push(Unordered { id, at, count });
                let row = &layout.objects.collections[id];
                let places = (0..count).map(|i| at + i * row.size);
                match (&row.links[..], &row.cells[..]) {
                    // Sorted as they are: plain data.
                    ([], _) => self.data(at, size),
                    ([link], [_]) => {
                        places.for_each(|at| self.link(0, Link { at, thread: link.thread }));
                        self.here.clear();
                    }
                    _ => {
                        for at in places {
                            self.picture.edges.push(Edge { label: 0, leads: Leads::To(self.next) });
                            self.next += 1;
                            rows.push((id, at));
                        }
                    }
                }
            }
            _ => {
                let mut label = 0;
                self.links.object(o, |link| {
                    self.link(label, link);
                    label += 1;
                });
                // A lock lies in the first bytes: its holder, a link, and how often it is held.
                if has_lock {
                    self.here.push((at + 1, LOCK_SIZE - 1));
                }
                self.data(at, size);
                if has_lock {
                    self.synchronisation(at + 1, LOCK_SIZE - 1);
                }
            }
        }
        self.picture.runs.push(Run { at, len: size });
        self.picture.end_node(Stands::Object(o as u32), kind.0, 0, u32::from(has_lock));
    }

    fn row(&mut self, collection: usize, at: u32) {
        let row = &self.links.layout.objects.collections[collection];
        for (label, link) in row.links.iter().enumerate() {
            self.link(label as u32, Link { at: at + link.at, thread: link.thread });
        }
        self.data(at, row.size);
        // A kind that no object has.
        self.picture.end_node(Stands::Row, 7 << 29 | collection as u32, 0, 0);
    }
}
