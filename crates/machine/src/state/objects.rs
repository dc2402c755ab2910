//! What objects look like: sizes, where references are, where locks are.

use std::collections::HashMap;

use quotient_program::{Program, RecordId};

use super::cell::{Cell, size_of_type};
use super::kind::{Kind, Object};
use super::layout::Layout;
use super::link::{Link, links_of};

/// A record type.
#[derive(Clone, Debug)]
pub(crate) struct RecordLayout {
    pub(crate) size: u32,
    pub(crate) links: Vec<Link>,
    pub(crate) lock: bool,
    /// Where each field is, by the record that declares it and its position there.
    pub(crate) fields: HashMap<(RecordId, u32), u32>,
}

/// Elements of an array object, rows of a collection.
#[derive(Clone, Debug)]
pub(crate) struct RowLayout {
    /// Bytes before the first.
    pub(crate) header: u32,
    pub(crate) size: u32,
    pub(crate) links: Vec<Link>,
    pub(crate) lock: bool,
    /// Scalars of a row: byte and cell (collections only).
    pub(crate) cells: Vec<(u32, Cell)>,
}

/// Bytes of a lock inside its object: who holds it (a thread's number plus one), how often.
pub(crate) const LOCK_SIZE: u32 = 2;

/// The types of objects; channels are in [`Layout::channels`].
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    pub(crate) records: Vec<RecordLayout>,
    pub(crate) arrays: Vec<RowLayout>,
    pub(crate) collections: Vec<RowLayout>,
    /// `extends[record]` has the records it is or extends.
    pub(crate) extends: Vec<Vec<bool>>,
}

impl Objects {
    pub(crate) fn new(program: &Program) -> Objects {
        let count = program.records.len() as u32;
        let arrays = program.array_types.iter().map(|a| {
            let mut links = Vec::new();
            links_of(program, &a.element, 0, &mut links);
            let size = size_of_type(program, &a.element);
            let header = if a.lock { LOCK_SIZE } else { 0 };
            RowLayout { header, size, links, lock: a.lock, cells: Vec::new() }
        });
        let collections = program.collection_types.iter().map(|c| {
            let (mut cells, mut links, mut at) = (Vec::new(), Vec::new(), 0);
            for ty in &c.columns {
                links_of(program, ty, at, &mut links);
                cells.push((at, Cell::of(ty)));
                at += Cell::of(ty).size();
            }
            RowLayout { header: 0, size: at, links, lock: false, cells }
        });
        let extends = |r: u32| (0..count).map(|a| program.extends(RecordId(r), RecordId(a))).collect();
        Objects {
            records: (0..count).map(|id| record_layout(program, RecordId(id))).collect(),
            arrays: arrays.collect(),
            collections: collections.collect(),
            extends: (0..count).map(extends).collect(),
        }
    }
}

impl Layout {
    /// Bytes of an object.
    pub(crate) fn object_size(&self, kind: Kind) -> u32 {
        match kind.object() {
            Object::Free | Object::Deleted => 0,
            Object::Record(id) => self.objects.records[id.0 as usize].size,
            Object::Array(id, length) => {
                let rows = &self.objects.arrays[id.0 as usize];
                rows.header + rows.size * length
            }
            Object::Channel(id) => self.channels[id.0 as usize].size,
            Object::Lock => LOCK_SIZE,
            Object::Collection(id, rows) => self.objects.collections[id.0 as usize].size * rows,
        }
    }

    /// Whether the object has a lock, which then lies in its first bytes.
    pub(crate) fn has_lock(&self, kind: Kind) -> bool {
        match kind.object() {
            Object::Lock => true,
            Object::Record(id) => self.objects.records[id.0 as usize].lock,
            Object::Array(id, _) => self.objects.arrays[id.0 as usize].lock,
            _ => false,
        }
    }

    /// Calls `link` for every link of an object, each with its byte relative to the object. The holder of a lock is one.
    #[inline]
    pub(crate) fn object_links(&self, kind: Kind, mut link: impl FnMut(Link)) {
        if self.has_lock(kind) {
            link(Link { at: 0, thread: true });
        }
        let mut rows = |header: u32, size: u32, links: &[Link], count: u32| {
            if !links.is_empty() {
                for row in 0..count {
                    for l in links {
                        link(Link { at: header + row * size + l.at, thread: l.thread });
                    }
                }
            }
        };
        match kind.object() {
            Object::Free | Object::Deleted | Object::Lock => {}
            Object::Record(id) => self.objects.records[id.0 as usize].links.iter().for_each(|l| link(*l)),
            Object::Array(id, length) => {
                let a = &self.objects.arrays[id.0 as usize];
                rows(a.header, a.size, &a.links, length);
            }
            // Places without a message are zero: no link.
            Object::Channel(id) => {
                let c = &self.channels[id.0 as usize];
                rows(c.length_size, c.message_size, &c.links, c.capacity);
            }
            Object::Collection(id, count) => {
                let c = &self.objects.collections[id.0 as usize];
                rows(c.header, c.size, &c.links, count);
            }
        }
    }
}

fn record_layout(program: &Program, id: RecordId) -> RecordLayout {
    let all = program.all_fields(id);
    // A lock comes with the record itself or with any ancestor.
    let lock = (0..program.records.len() as u32)
        .any(|a| program.records[a as usize].lock && program.extends(id, RecordId(a)));
    let mut at = if lock { LOCK_SIZE } else { 0 };
    let (mut links, mut fields) = (Vec::new(), HashMap::new());
    for (declared_in, index) in all {
        let field = &program.record(declared_in).fields[index as usize];
        fields.insert((declared_in, index), at);
        links_of(program, &field.ty, at, &mut links);
        at += size_of_type(program, &field.ty);
    }
    RecordLayout { size: at, links, lock, fields }
}
