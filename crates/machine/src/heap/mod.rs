//! Objects: how they come, are used, and go.
//!
//! Objects are numbered from 1; a reference is the number. While a step changes what exists, the draft is in the *working* shape:
//! segments are only appended, so that no byte moves under running code, and what ended leaves a hole. When the step is done,
//! [`collect`] finds what can still be reached and copies it into a normal shape: threads in order, each with its frames, then objects by
//! number. So garbage is never part of a stored state, and equal states are equal words. An object keeps its number as long as it
//! exists; a new one gets the lowest free number. Renaming objects and threads ([`crate::graph`]) is the business of a representative.
//!
//! - `allocate.rs`: the working shape, new and deleted objects. `operations.rs`: instructions; `locks.rs`, `collections.rs`: what some of them do.
//! - `footprint.rs`: which objects a step touches, for partial order reduction.

pub(crate) mod allocate;
pub(crate) mod collect;
pub(crate) mod collections;
pub(crate) mod footprint;
pub(crate) mod locks;
pub(crate) mod operations;

use crate::state::layout::Layout;
use crate::step::finish::Pending;
use collect::Marks;
use footprint::Footprint;

/// What a worker keeps for steps that work on objects.
#[derive(Debug)]
pub(crate) struct Heap {
    /// Something was added, ended or let go since the draft was last in a normal shape.
    pub(crate) dirty: bool,
    /// More than `dirty` has to be looked at before a state is stored: scratch variables lead to objects, or only the footprint of the
    /// step is wanted.
    pub(crate) watched: bool,
    /// Scratch variables may lead to objects.
    pub(crate) scratch: bool,
    /// How the transformation being taken ends, other than by a jump.
    pub(crate) pending: Pending,
    /// Arguments of the call that is pending.
    pub(crate) args: Vec<i32>,
    pub(crate) operands: Vec<i32>,
    /// The picks made in this run of a transformation: which, of how many.
    pub(crate) picks: Vec<(u32, u32)>,
    /// How many of them have been used so far.
    pub(crate) picked: usize,
    /// An assumption failed in the expansion of this state.
    pub(crate) cut: bool,
    /// The transformation just tried cannot be taken: there was nothing to pick from.
    pub(crate) blocked: bool,

    pub(crate) footprint: Footprint,
    pub(crate) marks: Marks,
    pub(crate) description: Vec<u32>,
    pub(crate) spare: Vec<u64>,
    pub(crate) rows: Vec<i32>,
}

impl Heap {
    pub(crate) fn new(layout: &Layout) -> Heap {
        let scratch = !layout.scratch_links.is_empty();
        Heap {
            dirty: false,
            watched: scratch,
            scratch,
            pending: Pending::Nothing,
            args: Vec::new(),
            operands: Vec::new(),
            picks: Vec::new(),
            picked: 0,
            cut: false,
            blocked: false,
            footprint: Footprint::default(),
            marks: Marks::default(),
            description: Vec::new(),
            spare: Vec::new(),
            rows: Vec::new(),
        }
    }
}
