//! A graph as a schedule: its events in an order that respects program order and reads-from.
//!
//! Each step has the alternative that makes it do what the graph says ([`super::MemoryProgram`]). Reads that wait, and
//! read-modify-writes of which only the read is there, are not executed.

use std::collections::BTreeMap;

use crate::graph::event::{Event, EventId, Part, Which};
use crate::graph::label::Location;
use crate::graph::structure::Graph;
use crate::threads::ThreadId;

/// A step of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Whose.
    pub thread: ThreadId,
    /// In which way.
    pub alternative: u16,
    /// The event; of a read-modify-write the read.
    pub event: EventId,
}

/// What has been executed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Executed {
    /// Events of each thread.
    lengths: Vec<usize>,
    /// The positions of modification order whose writes were executed, of each location.
    written: BTreeMap<Location, Vec<EventId>>,
}

impl Executed {
    pub fn new(threads: usize) -> Executed {
        Executed { lengths: vec![0; threads], written: BTreeMap::new() }
    }

    /// Are all that it needs executed, and is it the next one of its thread?
    fn is_ready(&self, thread: usize, event: &Event) -> bool {
        let needs = event.clock(Which::Prefix).iter().enumerate();
        needs.into_iter().all(|(t, &known)| t == thread || known as usize <= self.lengths[t])
    }

    /// The next step of a thread, if there is one in the graph and it can be made.
    pub fn next(&mut self, graph: &Graph, thread: ThreadId) -> Option<Step> {
        let at = self.lengths[thread as usize];
        let events = graph.thread(thread);
        let event = events.get(at)?;
        if event.blocked || (event.is_read() && event.exclusive && at + 1 == events.len()) {
            return None;
        }
        if !self.is_ready(thread as usize, event) {
            return None;
        }
        let id = EventId { thread, index: at as u32 };
        let taken = if event.is_read() && event.exclusive { 2 } else { 1 };
        let last = &events[at + taken - 1];
        let alternative = match event.part {
            _ if last.object => last.alternative,
            Part::Read => self.later(graph, event.location, event.from),
            Part::Write => self.later(graph, event.location, id),
            Part::Fence | Part::Local => event.alternative,
        };
        if last.is_write() {
            let write = EventId { thread, index: (at + taken - 1) as u32 };
            self.written.entry(last.location).or_default().push(write);
        }
        self.lengths[thread as usize] += taken;
        Some(Step { thread, alternative, event: id })
    }

    /// How many writes were executed that come after this one in modification order.
    fn later(&self, graph: &Graph, location: Location, write: EventId) -> u16 {
        let (Some(place), Some(written)) = (graph.place(location), self.written.get(&location)) else {
            return 0;
        };
        let position = place.position(write);
        written.iter().filter(|w| place.position(**w) > position).count() as u16
    }
}

/// The schedule of a graph. Threads go on for as long as they can.
pub(crate) fn schedule(graph: &Graph) -> (Vec<Step>, Executed) {
    let mut executed = Executed::new(graph.width());
    let mut steps = Vec::new();
    let mut thread = 0;
    loop {
        if let Some(step) = executed.next(graph, thread) {
            steps.push(step);
            continue;
        }
        let others = (0..graph.width() as ThreadId).filter(|t| *t != thread);
        let Some(step) = others.into_iter().find_map(|t| executed.next(graph, t)) else { break };
        thread = step.thread;
        steps.push(step);
    }
    (steps, executed)
}
