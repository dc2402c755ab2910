//! Where the graphs of all states of one shape have their data and their edges.
//!
//! Which nodes there are, and which bytes of the state are data or names of which node, depends on the shape alone. It is found
//! out once per shape, so that showing or renaming a state is a walk over flat lists.
//!
//! Two kinds of things name nodes. A *link* is opaque: it holds the number of an object or thread, and 0 for none. A *slot* is a
//! number of the program that was found to be an identity, or the number of a channel ([`super::points`]): whether it names a node
//! depends on its value, and if it does not it is data.

use crate::state::cell::Cell;
use crate::state::link::Link;
use crate::state::shapes::Shape;

use super::points::{Holds, Points};

/// No node.
pub(super) const NO_NODE: u32 = u32::MAX;

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    Root,
    Thread(u32),
    Object(u32),
    /// A row of an unordered collection.
    Row,
    /// What belongs to an identity that is not a thread's, or to two identities.
    Cells,
}

/// A node. Its words, edges, slots, channels and runs follow those of the node before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) stands: Stands,
    pub(super) kind: u32,
    /// Words that say where a thread stands.
    pub(super) control: u32,
    /// Words at the end that say who synchronises with whom.
    pub(super) hidden: u32,
    pub(super) words_end: u32,
    pub(super) edges_end: u32,
    pub(super) slots_end: u32,
    pub(super) channels_end: u32,
    pub(super) runs_end: u32,
}

/// A word of data: some bytes of the state, those of links cut out, or a location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    at: u32,
    shift: u32,
    mask: u64,
    /// Bits that do not depend on the state.
    constant: u64,
}

impl Word {
    /// The bytes of `mask` from `at` on, of states of this shape.
    pub(super) fn new(shape: &Shape, at: u32, mask: u64, constant: u64) -> Word {
        let read = at.min(shape.words * 8 - 8);
        Word { at: read, shift: (at - read) * 8, mask, constant }
    }

    /// So many bytes from `at` on, at most eight.
    pub(super) fn bytes(shape: &Shape, at: u32, size: u32) -> Word {
        Word::new(shape, at, u64::MAX >> (64 - 8 * size), 0)
    }

    /// Its value in a state.
    ///
    /// # Safety
    /// `state` must be a state of the shape that the word was made for.
    #[inline]
    pub(super) unsafe fn read(&self, state: *const u8) -> u64 {
        // SAFETY: eight bytes from `at` on lie inside the state.
        let bytes = unsafe { state.add(self.at as usize).cast::<u64>().read_unaligned() };
        (u64::from_le(bytes) >> self.shift & self.mask) | self.constant
    }
}

/// An edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) label: u32,
    pub(super) leads: Leads,
}

/// Where an edge leads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Leads {
    /// To what the link at this byte of the state names.
    By(Link),
    /// Always to this node.
    To(u32),
}

/// A scalar that holds an identity or the number of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) at: u32,
    pub(super) cell: Cell,
    pub(super) holds: Holds,
    /// The local variable it is part of; it may be dead.
    pub(super) local: Option<Local>,
}

/// A local variable of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local {
    pub(super) function: u32,
    /// Where the thread's segment starts.
    pub(super) segment: u32,
    pub(super) variable: u32,
}

/// A channel that moves with its node and whose messages have slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channel {
    pub(super) at: u32,
    pub(super) kind: u32,
    /// From 0.
    pub(super) number: u32,
}

/// Bytes that are moved as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) at: u32,
    pub(super) len: u32,
}

/// The rows of an unordered collection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unordered {
    pub(super) id: usize,
    pub(super) at: u32,
    pub(super) count: u32,
}

/// The nodes of the states of a shape.
#[derive(Debug, Default)]
pub(super) struct Picture {
    pub(super) nodes: Vec<Node>,
    pub(super) words: Vec<Word>,
    pub(super) edges: Vec<Edge>,
    pub(super) slots: Vec<Slot>,
    pub(super) channels: Vec<Channel>,
    pub(super) runs: Vec<Run>,
    /// The node of each thread and object.
    pub(super) threads: Vec<u32>,
    pub(super) objects: Vec<u32>,
    pub(super) unordered: Vec<Unordered>,

    // Opaque names.
    /// For each thread the first one with the same stack of functions.
    pub(super) alike: Vec<u32>,
    /// Places that threads may change: those of threads that are not pinned.
    pub(super) places: Vec<u32>,
    /// Every number below the greatest is in use.
    pub(super) without_holes: bool,

    /// Numbers that are names.
    pub(super) points: Option<Box<Points>>,
}

impl Picture {
    /// Where what belongs to a node starts, in a list where the node before ends at `end`.
    #[inline(always)]
    fn start(&self, index: u32, end: impl Fn(&Node) -> u32) -> usize {
        index.checked_sub(1).map_or(0, |before| end(&self.nodes[before as usize])) as usize
    }

    /// The words of a node.
    #[inline]
    pub(super) fn words(&self, index: u32) -> &[Word] {
        &self.words[self.start(index, |n| n.words_end)..self.nodes[index as usize].words_end as usize]
    }

    /// The edges of a node.
    #[inline]
    pub(super) fn edges(&self, index: u32) -> &[Edge] {
        &self.edges[self.start(index, |n| n.edges_end)..self.nodes[index as usize].edges_end as usize]
    }

    /// The slots of a node.
    #[inline]
    pub(super) fn slots(&self, index: u32) -> &[Slot] {
        &self.slots[self.start(index, |n| n.slots_end)..self.nodes[index as usize].slots_end as usize]
    }

    /// The channels of a node that have slots in their messages.
    #[inline]
    pub(super) fn channels(&self, index: u32) -> &[Channel] {
        let end = self.nodes[index as usize].channels_end as usize;
        &self.channels[self.start(index, |n| n.channels_end)..end]
    }

    /// The bytes that move with a node.
    #[inline]
    pub(super) fn runs(&self, index: u32) -> &[Run] {
        &self.runs[self.start(index, |n| n.runs_end)..self.nodes[index as usize].runs_end as usize]
    }

    /// The last run of bytes that move with a node; it must have one.
    #[inline]
    pub(super) fn last_run(&self, node: &Node) -> Run {
        self.runs[node.runs_end as usize - 1]
    }

    /// Ends a node: what was added to the lists since the last one is its own.
    pub(super) fn end_node(&mut self, stands: Stands, kind: u32, control: u32, hidden: u32) {
        self.nodes.push(Node {
            stands,
            kind,
            control,
            hidden,
            words_end: self.words.len() as u32,
            edges_end: self.edges.len() as u32,
            slots_end: self.slots.len() as u32,
            channels_end: self.channels.len() as u32,
            runs_end: self.runs.len() as u32,
        });
    }
}
