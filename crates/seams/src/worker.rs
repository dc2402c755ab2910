//! Parts for several threads.

/// What a thread needs of its own to take part in a search: a system, a representative or an ample set is one worker's part, with
/// memory of its own, of something that any number of workers can have a part of. Parts share what never changes, and what must be
/// the same to all, such as the numbers that a state is encoded with: so a state that one worker found can be handed to any other.
pub trait Worker: Send {
    /// A part for another worker.
    fn another(&self) -> Self
    where
        Self: Sized;
}
