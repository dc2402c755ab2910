//! Symmetry of execution graphs: threads that run the same code from equal arguments (*mates*), as in SPORE (Kokologiannakis,
//! Marmanis, Vafeiadis, PLDI 2024), with another choice of representatives.
//!
//! To exchange mates maps graphs of a program to graphs of it, consistent ones to consistent ones. Of the graphs that are images of each other one is
//! enough. Two mates are told apart by the first place in which they differ: before it they have read the same writes and have written
//! nothing. At that place both access the same location, and which comes first is decided by modification order: the
//! position of what is read, or written. The thread with the smaller number must come first ([`is_canonical`]).
//!
//! TruSt comes to a graph through others, in which reads read something else (the last write) until they are revisited. So that those
//! graphs are representatives as well, an event of a thread *depends* on the event of each smaller mate at the same
//! place ([`Graph::counterparts`]): it is in the prefix, as if by program order or reads-from. Then a revisit of the smaller
//! one's read takes the greater one's event away, which is added again by reading the last write, and that is never too early.
//!
//! # Why every graph has an image that is visited
//!
//! Modification order can contradict these dependences: under RC11 `b` can read `w2`, then let a third thread write `w1` before `w2` in modification
//! order, which `a` reads. Then `b` has to come first, or `w1` would depend on itself. So a thread may come later in spite of a smaller
//! position if what it reads depends on a mate that comes between. With this exception an order exists: deal with
//! the groups of mates that are equal up to some place, those with the longest common past first. For each group let the threads go one after
//! the other: always one with the smallest position among those whose source does not depend on one that is left; ties are in the
//! order that was found for their longer common past. There is always one, since program order, reads-from and the dependences added so far
//! have no cycle; and the dependences that the order adds close none, as it respects those that are there. The
//! graph renumbered in this order passes the test at every place: when `j` went before `k`, either its position was not greater, or `k` waited for one
//! that came after `j` or was `j`.
//!
//! Where threads are at accesses to different locations (memory of their own), at choices, or were woken by different events, nothing
//! is asked and nothing depends.

use crate::graph::event::{Event, EventId, INITIAL, Part, Which, join};
use crate::graph::structure::Graph;
use crate::threads::{ThreadId, ThreadSet};

impl Graph {
    /// The smaller mates of a thread.
    fn mates_of(&self, thread: ThreadId) -> ThreadSet {
        self.thread(thread).first().map_or(self.mates, |first| first.mates)
    }

    /// The event that has created a thread; [`INITIAL`]: none has.
    pub(crate) fn creation(&self, thread: ThreadId) -> EventId {
        match self.thread(thread).first() {
            Some(first) => first.after.first().copied().unwrap_or(INITIAL),
            None => self.woken[thread as usize],
        }
    }

    /// Have both threads done the same before this place, and written nothing?
    fn are_equal_before(&self, a: ThreadId, b: ThreadId, index: usize) -> bool {
        let woken_by = |thread: ThreadId, event: &Event| {
            let creation = self.creation(thread);
            event.after.iter().copied().filter(|id| *id != creation).collect::<Vec<_>>()
        };
        let same = |at: usize| {
            let (x, y) = (&self.thread(a)[at], &self.thread(b)[at]);
            let shape =
                |e: &Event| (e.part, e.location, e.order, e.exclusive, e.blocked, e.from, e.alternative);
            shape(x) == shape(y)
                && x.part != Part::Write
                && x.wakes.is_empty()
                && y.wakes.is_empty()
                && woken_by(a, x) == woken_by(b, y)
        };
        (0..index).all(same)
    }

    /// The events of smaller mates at the place of an access, which they make to the same location after the same past; by threads.
    pub(crate) fn counterparts(&self, thread: ThreadId, index: usize, event: &Event) -> Vec<EventId> {
        self.mates_of(thread)
            .iter()
            .filter(|mate| {
                let other = self.thread(*mate).get(index);
                other.is_some_and(|o| (o.part, o.location) == (event.part, event.location))
                    && self.are_equal_before(*mate, thread, index)
            })
            .map(|thread| EventId { thread, index: index as u32 })
            .collect()
    }

    /// Makes an access that is about to be added depend on those of smaller mates, on read-modify-writes as a whole: a revisit takes
    /// both halves away, or none.
    pub(crate) fn follow_mates(&self, thread: ThreadId, event: &mut Event) {
        let index = self.thread(thread).len();
        let n = self.width();
        let at = Which::Prefix as usize * n;
        for mate in self.counterparts(thread, index, event) {
            let events = &self.thread(mate.thread)[mate.index as usize..];
            let half = events[0].exclusive && events.len() > 1;
            join(&mut event.clocks[at..at + n], events[usize::from(half)].clock(Which::Prefix));
        }
    }
}

/// Does the event, which was just added, come after those of its smaller mates?
pub(crate) fn is_canonical(graph: &Graph, id: EventId) -> bool {
    let event = graph.event(id);
    let Some(place) = graph.place(event.location).filter(|_| event.is_read() || event.is_write()) else {
        return true;
    };
    let position = |id: EventId| {
        let event = graph.event(id);
        place.position(if event.is_read() { event.from } else { id })
    };
    let before = id.index.checked_sub(1).map(|index| graph.event(EventId { index, ..id }));
    let source = (event.is_read() && event.from != INITIAL).then(|| graph.event(event.from));
    let waited_for = |mate: EventId| [before, source].iter().flatten().any(|e| e.depends_on(mate));
    let own = position(id);
    for mate in graph.counterparts(id.thread, id.index as usize, event).into_iter().rev() {
        if waited_for(mate) {
            return true;
        }
        if position(mate) > own {
            return false;
        }
    }
    true
}
