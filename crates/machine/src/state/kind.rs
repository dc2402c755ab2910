//! Kinds of objects, packed into 32 bits: what it is, its type, and its length where that varies.

use quotient_program::{ArrayTypeId, ChannelTypeId, CollectionTypeId, RecordId};

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind(pub(crate) u32);

/// A kind, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    /// No object has this number.
    Free,
    /// Deleted, but still referred to.
    Deleted,
    Record(RecordId),
    Array(ArrayTypeId, u32),
    Channel(ChannelTypeId),
    Lock,
    Collection(CollectionTypeId, u32),
}

/// Most elements of an array or rows of a collection.
pub(crate) const LONGEST: u32 = u16::MAX as u32;

/// Most record, array, channel or collection types; a compile-time refusal above.
pub(crate) const MOST_TYPES: usize = 1 << 13;

impl Kind {
    pub(crate) const FREE: Kind = Kind(0);
    pub(crate) const DELETED: Kind = Kind(1);
    pub(crate) const LOCK: Kind = Kind(2);

    const fn pack(tag: u32, ty: u32, length: u32) -> Kind {
        Kind(tag << 29 | ty << 16 | length)
    }

    pub(crate) fn record(id: RecordId) -> Kind {
        Kind::pack(1, id.0, 0)
    }

    /// `length` must be at most [`LONGEST`].
    pub(crate) fn array(id: ArrayTypeId, length: u32) -> Kind {
        Kind::pack(2, id.0, length)
    }

    pub(crate) fn channel(id: ChannelTypeId) -> Kind {
        Kind::pack(3, id.0, 0)
    }

    /// `rows` must be at most [`LONGEST`].
    pub(crate) fn collection(id: CollectionTypeId, rows: u32) -> Kind {
        Kind::pack(4, id.0, rows)
    }

    #[inline]
    pub(crate) fn object(self) -> Object {
        let ty = self.0 >> 16 & 0x1fff;
        let length = self.0 & 0xffff;
        match self.0 >> 29 {
            1 => Object::Record(RecordId(ty)),
            2 => Object::Array(ArrayTypeId(ty), length),
            3 => Object::Channel(ChannelTypeId(ty)),
            4 => Object::Collection(CollectionTypeId(ty), length),
            _ => match length {
                0 => Object::Free,
                1 => Object::Deleted,
                _ => Object::Lock,
            },
        }
    }

    /// Can a reference to it be followed?
    #[inline]
    pub(crate) fn exists(self) -> bool {
        self.0 > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_come_apart_as_they_were_packed() {
        let all = [
            (Kind::FREE, Object::Free),
            (Kind::DELETED, Object::Deleted),
            (Kind::LOCK, Object::Lock),
            (Kind::record(RecordId(0)), Object::Record(RecordId(0))),
            (Kind::array(ArrayTypeId(8191), LONGEST), Object::Array(ArrayTypeId(8191), LONGEST)),
            (Kind::channel(ChannelTypeId(3)), Object::Channel(ChannelTypeId(3))),
            (Kind::collection(CollectionTypeId(7), 2), Object::Collection(CollectionTypeId(7), 2)),
        ];
        for (index, (kind, object)) in all.iter().enumerate() {
            assert_eq!(kind.object(), *object);
            assert_eq!(kind.exists(), index > 1);
        }
    }
}
