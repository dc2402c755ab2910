//! Coherence and atomicity: from which writes a read may read, and where in modification order a write may go.
//!
//! Coherence (`hb; eco` is irreflexive): an access may not come before what happens before it. The new event is the last one by
//! happens-before, so all that can go wrong is that the write it reads, or the place at which it writes, is before a write that happens
//! before it, or before what a read that happens before it has read. This is part of all three models: what TSO and
//! sequential consistency allow, RC11 allows as well (Lahav et al., section 5), with the orders that the accesses have.
//!
//! Atomicity: a read-modify-write comes right after what it reads.

use crate::graph::event::{Event, EventId, Which, covers};
use crate::graph::label::MemoryModel;
use crate::graph::mates::is_canonical;
use crate::graph::structure::Graph;
use crate::graph::{global, psc};
use crate::threads::ThreadId;

/// The first position of modification order that an event may read from; a write must go after it.
///
/// The accesses of one thread to a location never go back in modification order, so of each thread the last one that happens before
/// the event suffices.
pub(crate) fn floor(graph: &Graph, event: &Event) -> usize {
    let Some(place) = graph.place(event.location) else { return 0 };
    let clock = event.clock(Which::HappensBefore);
    let mut last: Vec<Option<u32>> = vec![None; graph.width()];
    for access in place.writes.iter().chain(&place.reads).filter(|access| covers(clock, **access)) {
        let known = &mut last[access.thread as usize];
        *known = (*known).max(Some(access.index));
    }
    let position = |(thread, index): (usize, Option<u32>)| {
        let id = EventId { thread: thread as ThreadId, index: index? };
        let access = graph.event(id);
        Some(place.position(if access.is_read() { access.from } else { id }))
    };
    last.into_iter().enumerate().filter_map(position).max().unwrap_or(0)
}

/// Can a write go to this position, as far as atomicity is concerned?
pub(crate) fn is_free(graph: &Graph, event: &Event, position: usize) -> bool {
    graph
        .place(event.location)
        .is_none_or(|place| place.writes.get(position).is_none_or(|next| !graph.event(*next).exclusive))
}

/// The graph with the read added, if it is consistent and a representative.
pub(crate) fn with_read(graph: &Graph, model: MemoryModel, thread: ThreadId, read: Event) -> Option<Graph> {
    let place = graph.place(read.location)?;
    (place.position(read.from) >= floor(graph, &read)).then_some(())?;
    let mut graph = graph.clone();
    let id = graph.add(thread, read, 0);
    (is_canonical(&graph, id) && is_consistent(&graph, model, id)).then_some(graph)
}

/// The graph with the write added at this position, if it is consistent and a representative.
pub(crate) fn with_write(
    graph: &Graph,
    model: MemoryModel,
    thread: ThreadId,
    write: Event,
    position: usize,
) -> Option<Graph> {
    (position >= floor(graph, &write) && is_free(graph, &write, position)).then_some(())?;
    let mut graph = graph.clone();
    let id = graph.add(thread, write, position);
    (is_canonical(&graph, id) && is_consistent(&graph, model, id)).then_some(graph)
}

/// Is the graph still consistent with its new event, which respects coherence and atomicity?
pub(crate) fn is_consistent(graph: &Graph, model: MemoryModel, new: EventId) -> bool {
    match model {
        // Nothing comes after it, so it is part of no cycle.
        _ if global::is_last(graph, new) => true,
        MemoryModel::Rc11 => psc::is_acyclic(graph),
        _ => global::is_acyclic(graph, model, new),
    }
}
