//! What the segments of a dynamic program look like: sizes, where references are, where locks are.

use std::collections::HashMap;

use quotient_program::{Program, RecordId, Type, Variable};

use super::kind::{Kind, Object};
use crate::layout::{Cell, Layout, size_of_type};

/// A cell that names an object or a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// Its byte within the segment (or element, message, row).
    pub(crate) at: u32,
    /// It names a thread (one byte) rather than an object (two bytes).
    pub(crate) thread: bool,
}

impl Link {
    /// What it holds: 0 for nothing.
    ///
    /// # Safety
    /// `at` must be the first byte of the cell, inside a state.
    #[inline]
    pub(crate) unsafe fn load(self, at: *const u8) -> u32 {
        // SAFETY: by this function's contract.
        unsafe { if self.thread { u32::from(*at) } else { u32::from(at.cast::<u16>().read_unaligned()) } }
    }

    /// Stores a number.
    ///
    /// # Safety
    /// As for [`Link::load`], and nobody else uses the state.
    #[inline]
    pub(crate) unsafe fn store(self, at: *mut u8, number: u32) {
        // SAFETY: by this function's contract.
        unsafe {
            if self.thread {
                *at = number as u8;
            } else {
                at.cast::<u16>().write_unaligned(number as u16);
            }
        }
    }

    pub(crate) fn size(self) -> u32 {
        if self.thread { 1 } else { 2 }
    }
}

/// What a value names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Nothing: a number.
    Data,
    Object,
    Thread,
    /// Zero, or nothing is known or wanted: it fits everywhere.
    Any,
}

impl Sort {
    pub(crate) fn of_type(ty: &Type) -> Sort {
        match ty {
            Type::Reference(_) => Sort::Object,
            Type::Thread => Sort::Thread,
            _ => Sort::Data,
        }
    }

    pub(crate) fn of_expr(expr: &quotient_program::Expr) -> Sort {
        use quotient_program::Expr;
        match expr {
            Expr::Const(0) => Sort::Any,
            Expr::Load(place) => Sort::of_type(&place.ty),
            Expr::Spanned(inner, _) => Sort::of_expr(inner),
            Expr::Cast { .. } => Sort::Object,
            Expr::SelfThread => Sort::Thread,
            Expr::Conditional(_, a, b) => match Sort::of_expr(a) {
                Sort::Any => Sort::of_expr(b),
                sort => sort,
            },
            _ => Sort::Data,
        }
    }

    /// Do the values of a send, or what a receive wants, fit the fields of a channel?
    pub(crate) fn fit(sorts: &[Sort], fields: &[Sort]) -> bool {
        sorts.iter().zip(fields).all(|(a, b)| *a == Sort::Any || a == b)
    }
}

/// A record type.
#[derive(Clone, Debug)]
pub(crate) struct RecordLayout {
    pub(crate) size: u32,
    pub(crate) links: Vec<Link>,
    pub(crate) lock: bool,
    /// Where each field is, by the record that declares it and its position there.
    pub(crate) fields: HashMap<(RecordId, u32), u32>,
}

/// Elements of an array object, messages of a channel, rows of a collection.
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

/// Bytes of a thread's head in programs with locks: the lock it waits for, how often it held it, whether it was notified.
pub(crate) const HEAD_SIZE: u32 = 4;

/// Everything about segments that does not depend on a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments {
    pub(crate) records: Vec<RecordLayout>,
    pub(crate) arrays: Vec<RowLayout>,
    pub(crate) channels: Vec<RowLayout>,
    pub(crate) collections: Vec<RowLayout>,
    /// Links among the globals, and among the scratch variables.
    pub(crate) globals: Vec<Link>,
    pub(crate) scratch: Vec<Link>,
    /// Links of a frame, by function.
    pub(crate) frames: Vec<Vec<Link>>,
    /// Bytes of a frame, by function; 0 for an ended thread.
    pub(crate) frame_sizes: Vec<u32>,
    /// Bytes of a thread's head.
    pub(crate) head: u32,
    /// Bytes before the first segment.
    pub(crate) fixed: u32,
    /// The number of functions; the two numbers after the observer's mean an ended thread and no thread.
    pub(crate) functions: u32,
    /// `extends[record]` has the records it is or extends.
    pub(crate) extends: Vec<Vec<bool>>,
}

/// Links of a value at byte `at`.
fn links_of(program: &Program, ty: &Type, at: u32, out: &mut Vec<Link>) {
    match ty {
        Type::Reference(_) => out.push(Link { at, thread: false }),
        Type::Thread => out.push(Link { at, thread: true }),
        Type::Array(element, length) => {
            let size = size_of_type(program, element);
            (0..*length).for_each(|i| links_of(program, element, at + i * size, out));
        }
        Type::Structure(id) => {
            let mut at = at;
            for field in &program.structure(*id).fields {
                links_of(program, &field.ty, at, out);
                at += size_of_type(program, &field.ty);
            }
        }
        Type::Int(_) | Type::Range(_) | Type::Enumeration(_) | Type::Channel | Type::Function => {}
    }
}

fn links_of_variables<'a>(
    program: &Program,
    variables: impl Iterator<Item = (&'a Variable, &'a u32)>,
) -> Vec<Link> {
    let mut out = Vec::new();
    variables.for_each(|(v, at)| links_of(program, &v.ty, *at, &mut out));
    out
}

impl Segments {
    pub(crate) fn new(program: &Program, layout: &Layout) -> Segments {
        let locks = |lock: bool| if lock { LOCK_SIZE } else { 0 };
        let records =
            (0..program.records.len() as u32).map(|id| record_layout(program, RecordId(id))).collect();
        let arrays = program.array_types.iter().map(|a| {
            let mut links = Vec::new();
            links_of(program, &a.element, 0, &mut links);
            let size = size_of_type(program, &a.element);
            RowLayout { header: locks(a.lock), size, links, lock: a.lock, cells: Vec::new() }
        });
        let channels = layout.channels.iter().zip(&program.channel_types).map(|(layout, ty)| {
            let mut links = Vec::new();
            for ((at, _), ty) in layout.fields.iter().zip(&ty.fields) {
                links_of(program, ty, *at, &mut links);
            }
            RowLayout {
                header: layout.length_size,
                size: layout.message_size,
                links,
                lock: false,
                cells: Vec::new(),
            }
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
        let named = |scratch: bool| {
            let both = program.globals.iter().zip(&layout.globals);
            links_of_variables(program, both.filter(move |(v, _)| v.scratch == scratch))
        };
        let mut frames: Vec<Vec<Link>> = program
            .functions
            .iter()
            .zip(&layout.threads)
            .map(|(f, t)| links_of_variables(program, f.locals.iter().zip(&t.locals)))
            .collect();
        frames.resize(layout.threads.len(), Vec::new());
        let record_count = program.records.len() as u32;
        let extends = (0..record_count)
            .map(|r| (0..record_count).map(|a| program.extends(RecordId(r), RecordId(a))).collect())
            .collect();
        Segments {
            records,
            arrays: arrays.collect(),
            channels: channels.collect(),
            collections: collections.collect(),
            globals: named(false),
            scratch: named(true),
            frames,
            frame_sizes: layout.threads.iter().map(|t| t.size).collect(),
            head: if uses_locks(program) { HEAD_SIZE } else { 0 },
            fixed: layout.fixed,
            functions: program.functions.len() as u32,
            extends,
        }
    }

    /// The kind of a thread that has ended and is still referred to.
    pub(crate) fn ended(&self) -> u32 {
        self.functions + 1
    }

    /// The kind of a thread number that is not in use.
    pub(crate) fn nobody(&self) -> u32 {
        self.functions + 2
    }

    /// Does an instance of this kind run something?
    #[inline]
    pub(crate) fn runs(&self, kind: u32) -> bool {
        kind < self.functions
    }

    /// Bytes of an object.
    pub(crate) fn object_size(&self, kind: Kind, layout: &Layout) -> u32 {
        match kind.object() {
            Object::Free | Object::Deleted => 0,
            Object::Record(id) => self.records[id.0 as usize].size,
            Object::Array(id, length) => {
                let rows = &self.arrays[id.0 as usize];
                rows.header + rows.size * length
            }
            Object::Channel(id) => layout.channels[id.0 as usize].size,
            Object::Lock => LOCK_SIZE,
            Object::Collection(id, rows) => self.collections[id.0 as usize].size * rows,
        }
    }

    /// Whether the object has a lock, which then lies in its first bytes.
    pub(crate) fn has_lock(&self, kind: Kind) -> bool {
        match kind.object() {
            Object::Lock => true,
            Object::Record(id) => self.records[id.0 as usize].lock,
            Object::Array(id, _) => self.arrays[id.0 as usize].lock,
            _ => false,
        }
    }

    /// Calls `link` for every link of an object, each with its byte relative to the object. The holder of a lock is one.
    #[inline]
    pub(crate) fn object_links(&self, kind: Kind, layout: &Layout, mut link: impl FnMut(Link)) {
        if self.has_lock(kind) {
            link(Link { at: 0, thread: true });
        }
        let mut rows = |layout: &RowLayout, count: u32| {
            if !layout.links.is_empty() {
                for row in 0..count {
                    for l in &layout.links {
                        link(Link { at: layout.header + row * layout.size + l.at, thread: l.thread });
                    }
                }
            }
        };
        match kind.object() {
            Object::Free | Object::Deleted | Object::Lock => {}
            Object::Record(id) => self.records[id.0 as usize].links.iter().for_each(|l| link(*l)),
            Object::Array(id, length) => rows(&self.arrays[id.0 as usize], length),
            // Places without a message are zero: no link.
            Object::Channel(id) => {
                rows(&self.channels[id.0 as usize], layout.channels[id.0 as usize].capacity)
            }
            Object::Collection(id, count) => rows(&self.collections[id.0 as usize], count),
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

/// Can a thread wait for a lock?
fn uses_locks(program: &Program) -> bool {
    let actions = program.functions.iter().flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
    actions
        .flat_map(|t| &t.actions)
        .any(|a| matches!(a, quotient_program::Action::Lock(quotient_program::LockOperation::Wait, _)))
}
