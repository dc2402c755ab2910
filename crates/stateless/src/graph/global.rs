//! Sequential consistency and TSO: an order of all events in which everybody sees them.
//!
//! Sequential consistency: program order, reads-from, modification order and from-reads (a read comes before the writes after the one
//! that it reads) have no cycle. TSO: the same, but a write is not ordered before the reads that follow it in its thread unless
//! there is a fence or a locked instruction between, and a thread may read its own writes early (only reads from *other*
//! threads' writes order). See Alglave, Maranget, Tautschnig, TOPLAS 2014, figure 21.
//!
//! A graph is extended by one event at a time, so a new cycle goes through the new event. It is looked for from there,
//! backwards. An event that is the last one of its thread and location has nothing after it and is part of no cycle.

use crate::graph::event::{Event, EventId, INITIAL, Part};
use crate::graph::label::MemoryModel;
use crate::graph::structure::Graph;

/// How TSO sees an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A plain read.
    Read,
    /// A plain write.
    Write,
    /// A fence, a locked instruction, a store with a fence after it.
    Strong,
    /// A fence that is not an instruction.
    Nothing,
}

fn class(event: &Event, model: MemoryModel) -> Class {
    match event.part {
        _ if model == MemoryModel::SequentialConsistency => Class::Strong,
        Part::Local => Class::Strong,
        Part::Fence if event.order.is_sc() => Class::Strong,
        Part::Fence => Class::Nothing,
        _ if event.locked => Class::Strong,
        Part::Read => Class::Read,
        Part::Write if event.order.is_sc() => Class::Strong,
        Part::Write => Class::Write,
    }
}

/// Has the new event no cycle through it?
pub(crate) fn is_acyclic(graph: &Graph, model: MemoryModel, new: EventId) -> bool {
    let offsets: Vec<usize> = graph
        .threads
        .iter()
        .scan(0, |sum, events| {
            let offset = *sum;
            *sum += events.len();
            Some(offset)
        })
        .collect();
    let total = graph.threads.iter().map(Vec::len).sum();
    let mut seen = vec![false; total];
    let mut todo = Vec::new();
    predecessors(graph, model, new, &mut todo);
    while let Some(id) = todo.pop() {
        if id == new {
            return false;
        }
        let slot = &mut seen[offsets[id.thread as usize] + id.index as usize];
        if !std::mem::replace(slot, true) {
            predecessors(graph, model, id, &mut todo);
        }
    }
    true
}

/// Is nothing ordered after the event?
pub(crate) fn is_last(graph: &Graph, id: EventId) -> bool {
    let event = graph.event(id);
    let Some(place) = graph.place(event.location) else { return true };
    match event.part {
        Part::Read => place.last() == event.from,
        Part::Write => place.last() == id,
        _ => true,
    }
}

fn predecessors(graph: &Graph, model: MemoryModel, id: EventId, into: &mut Vec<EventId>) {
    let event = graph.event(id);
    in_thread(graph, model, id, into);
    waited_for(graph, model, event, into);
    let Some(place) = graph.place(event.location) else { return };
    match event.part {
        Part::Read => {
            let own = event.from.thread == id.thread && model == MemoryModel::Tso;
            if event.from != INITIAL && !own {
                into.push(event.from);
            }
        }
        Part::Write => {
            let before = place.at(place.position(id) - 1);
            if before != INITIAL {
                into.push(before);
            }
            let own = |r: &EventId| event.exclusive && r.thread == id.thread && r.index + 1 == id.index;
            into.extend(place.reads.iter().filter(|r| graph.event(**r).from == before && !own(r)));
        }
        _ => {}
    }
}

/// What the thread did before, as far as it is ordered: nearest events, from which the rest follows.
fn in_thread(graph: &Graph, model: MemoryModel, id: EventId, into: &mut Vec<EventId>) {
    let events = graph.thread(id.thread);
    let own = class(&events[id.index as usize], model);
    let mut nearest = |not: Class| {
        let at = (0..id.index).rev().find(|&k| {
            let class = class(&events[k as usize], model);
            class != not && class != Class::Nothing
        });
        match at {
            Some(index) => into.push(EventId { thread: id.thread, index }),
            // Nothing before it in the thread: it is still after what its thread was started by.
            None => waited_for(graph, model, &events[0], into),
        }
    };
    match own {
        Class::Nothing => {}
        Class::Read => nearest(Class::Write),
        Class::Write | Class::Strong => {
            nearest(Class::Nothing);
            nearest(Class::Read);
        }
    }
}

/// Events of other threads that it waited for, with everything before them.
fn waited_for(graph: &Graph, model: MemoryModel, event: &Event, into: &mut Vec<EventId>) {
    for id in &event.after {
        for not in [Class::Nothing, Class::Read, Class::Write] {
            let events = graph.thread(id.thread);
            let at = (0..=id.index).rev().find(|&k| {
                let class = class(&events[k as usize], model);
                class != not && class != Class::Nothing
            });
            into.extend(at.map(|index| EventId { thread: id.thread, index }));
        }
    }
}
