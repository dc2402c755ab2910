//! What can be allocated: records, arrays, channels, locks and collections; and how they are referred to.
//!
//! A *reference* is opaque: it can be copied, compared for equality, and followed. 0 is null. Objects that no variable,
//! message or other object leads to do not exist; [`crate::Action::Delete`] ends an object while references to it may
//! remain, and following one of those is a fault.

use std::sync::Arc;

use quotient_source::Span;

use crate::types::id;
use crate::{Extension, FunctionId, Program, Type, Variable};

id!(
    /// Index into [`crate::Program::records`].
    RecordId
);
id!(
    /// Index into [`crate::Program::array_types`].
    ArrayTypeId
);
id!(
    /// Index into [`crate::Program::collection_types`].
    CollectionTypeId
);
id!(
    /// Index into [`crate::Program::virtual_tables`].
    VirtualTableId
);

/// What a reference leads to, as far as its type says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Referent {
    /// A record of this type or one that extends it.
    Record(RecordId),
    /// An array object.
    Array(ArrayTypeId),
    /// A channel (of any kind).
    Channel,
    /// A lock that is not part of a record.
    Lock,
    /// A collection.
    Collection(CollectionTypeId),
    /// Anything; it must be cast before it is followed.
    Any,
}

/// A kind of record.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// The records it extends. Its fields are those of its ancestors, each ancestor once, and its own.
    pub parents: Vec<RecordId>,
    /// The fields it adds, each with its initial value (a constant).
    pub fields: Vec<Variable>,
    /// Carries a lock of its own.
    pub lock: bool,
    /// Can be thrown.
    pub throwable: bool,
    /// Where it is declared.
    pub span: Span,
}

/// A kind of array object. Its length is given when it is made.
#[derive(Clone, Debug)]
pub struct ArrayType {
    /// The name traces use.
    pub name: String,
    /// What it holds.
    pub element: Type,
    /// Carries a lock of its own.
    pub lock: bool,
}

/// A kind of collection: an object whose contents vary in length, with operations that an [`Extension`] defines.
#[derive(Clone, Debug)]
pub struct CollectionType {
    /// The name traces use.
    pub name: String,
    /// What it can do.
    pub extension: Arc<dyn Extension>,
    /// The scalar types of a row: one for a set, two (key and value) for a map.
    pub columns: Vec<Type>,
}

/// Which function a virtual call means.
#[derive(Clone, Debug)]
pub struct VirtualTable {
    /// Its name.
    pub name: String,
    /// What decides.
    pub entries: VirtualEntries,
}

/// The rows of a virtual table.
#[derive(Clone, Debug)]
pub enum VirtualEntries {
    /// By the type of the object that the first argument refers to. A record without an entry of its own uses that of
    /// the nearest ancestor that has one (front ends see to it that there is one such).
    Records(Vec<(RecordId, FunctionId)>),
    /// By the value of the first argument.
    Constants(Vec<(i32, FunctionId)>),
}

/// What can be touched of an object, whichever object it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A field: the record that declares it, and its position there.
    Field(RecordId, u32),
    /// The elements of an array.
    Elements(ArrayTypeId),
    /// The rows of a collection.
    Rows(CollectionTypeId),
    /// The messages of a channel.
    Messages,
    /// Its lock, with those who wait for it.
    Lock,
    /// That it has not been deleted. Whoever touches another part also reads this one.
    Existence,
}

/// What [`crate::Action::New`] makes.
#[derive(Clone, Debug)]
pub enum Allocation {
    /// A record with its fields' initial values.
    Record(RecordId),
    /// An array of this many zero elements. With several lengths, an array of arrays: the element of each type but the last is a reference to an array of the next.
    Array(ArrayTypeId, Vec<crate::Expr>),
    /// An empty channel.
    Channel(crate::ChannelTypeId),
    /// A free lock.
    Lock,
    /// An empty collection.
    Collection(CollectionTypeId),
}

impl Program {
    /// The record with this id.
    pub fn record(&self, id: RecordId) -> &Record {
        &self.records[id.0 as usize]
    }

    /// Is `record` the same as `ancestor` or does it extend it, directly or not?
    pub fn extends(&self, record: RecordId, ancestor: RecordId) -> bool {
        record == ancestor || self.record(record).parents.iter().any(|p| self.extends(*p, ancestor))
    }

    /// Every field of a record in the order of storage: the fields of its parents from left to right, each ancestor once,
    /// then its own. A field is named by the record that declares it and its position there.
    pub fn all_fields(&self, record: RecordId) -> Vec<(RecordId, u32)> {
        fn collect(
            program: &Program,
            record: RecordId,
            seen: &mut Vec<RecordId>,
            out: &mut Vec<(RecordId, u32)>,
        ) {
            if seen.contains(&record) {
                return;
            }
            seen.push(record);
            for parent in &program.record(record).parents {
                collect(program, *parent, seen, out);
            }
            out.extend((0..program.record(record).fields.len()).map(|f| (record, f as u32)));
        }
        let mut out = Vec::new();
        collect(self, record, &mut Vec::new(), &mut out);
        out
    }

    /// The function a virtual table gives for records of this type: its own entry or that of the nearest ancestor (breadth
    /// first, parents from left to right).
    pub fn virtual_function(&self, table: VirtualTableId, record: RecordId) -> Option<FunctionId> {
        let VirtualEntries::Records(entries) = &self.virtual_tables[table.0 as usize].entries else {
            return None;
        };
        let mut level = vec![record];
        while !level.is_empty() {
            for r in &level {
                if let Some((_, function)) = entries.iter().find(|(of, _)| of == r) {
                    return Some(*function);
                }
            }
            level = level.iter().flat_map(|r| self.record(*r).parents.iter().copied()).collect();
        }
        None
    }

    /// Does a value of this type hold a reference?
    pub fn holds_references(&self, ty: &Type) -> bool {
        match ty {
            Type::Reference(_) => true,
            Type::Array(element, _) => self.holds_references(element),
            Type::Structure(id) => self.structure(*id).fields.iter().any(|f| self.holds_references(&f.ty)),
            Type::Int(_)
            | Type::Range(_)
            | Type::Enumeration(_)
            | Type::Channel
            | Type::Thread
            | Type::Function => false,
        }
    }
}
