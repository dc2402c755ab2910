//! What a state is made of, for stores that keep components once.

/// What a part of a state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// What is global, and whatever says of which parts the state consists.
    Globals,
    /// Opens a thread: the first bytes that say where it stands.
    Thread,
    /// More such bytes of the thread that was opened last.
    Control,
    /// Values of the thread that was opened last.
    Store,
    /// An object or a channel.
    Object,
}

/// A part of a state: bytes from `start` on, up to the next part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// Its first byte.
    pub start: u32,
}

/// Says of which parts states consist.
pub trait Parts {
    /// The parts of a state, in the order of their bytes. The first one starts at byte 0 and has the kind
    /// [`PartKind::Globals`]; states whose first parts are equal must have the same list.
    fn parts(&mut self, state: &[u64]) -> &[Part];
}

/// States without parts of their own: everything is global.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole;

impl Parts for Whole {
    fn parts(&mut self, _state: &[u64]) -> &[Part] {
        &[Part { kind: PartKind::Globals, start: 0 }]
    }
}
