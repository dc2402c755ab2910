//! Graphs: how they grow, and how they are cut back.
//!
//! Events are shared between graphs, so that a copy costs a pointer per event. An event never changes, except that the value
//! that a write of an object leaves is filled in when it is executed.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::graph::event::{CLOCKS, Event, EventId, INITIAL, Part, Which, join};
use crate::graph::label::{Access, Change, Location, Order};
use crate::threads::{ThreadId, ThreadSet};

/// The accesses to a location.
#[derive(Clone, Debug)]
pub struct Place {
    /// What it held before all of them.
    pub initial: u64,
    /// The writes in modification order, without the initial one.
    pub writes: Vec<EventId>,
    /// The reads, in no particular order.
    pub reads: Vec<EventId>,
}

impl Place {
    /// The position of a write in modification order; the initial one is at 0.
    pub fn position(&self, write: EventId) -> usize {
        if write == INITIAL {
            return 0;
        }
        // A write of this place: it is among them.
        self.writes.iter().position(|w| *w == write).map_or(0, |at| at + 1)
    }

    /// The write at a position.
    pub fn at(&self, position: usize) -> EventId {
        position.checked_sub(1).map_or(INITIAL, |at| self.writes[at])
    }

    /// The last write.
    pub fn last(&self) -> EventId {
        self.at(self.writes.len())
    }
}

/// An operation of an object that is to be executed next: by whom, and which number its read has, if it had one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Again {
    pub thread: ThreadId,
    pub stamp: Option<u32>,
}

/// An execution graph.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) threads: Vec<Vec<Rc<Event>>>,
    pub(crate) places: BTreeMap<Location, Rc<Place>>,
    /// By which event each thread was last let go on; [`INITIAL`]: by none.
    pub(crate) woken: Vec<EventId>,
    /// Events added so far.
    pub(crate) stamps: u32,
    /// What comes next, first one last.
    pub(crate) again: Vec<Again>,
    /// The thread whose next event does not come after who woke it last ([`super::MemoryProgram::resumes`]).
    pub(crate) early: Option<ThreadId>,
    /// Smaller mates of the thread whose first event comes next.
    pub(crate) mates: ThreadSet,
}

impl Graph {
    /// Without events, for at most `threads` threads.
    pub fn new(threads: usize) -> Graph {
        Graph {
            threads: vec![Vec::new(); threads],
            places: BTreeMap::new(),
            woken: vec![INITIAL; threads],
            stamps: 0,
            again: Vec::new(),
            early: None,
            mates: ThreadSet::EMPTY,
        }
    }

    /// The events of a thread, in program order.
    pub fn thread(&self, thread: ThreadId) -> &[Rc<Event>] {
        &self.threads[thread as usize]
    }

    /// How many threads there may be.
    pub fn width(&self) -> usize {
        self.threads.len()
    }

    /// An event that is not the initial one.
    pub fn event(&self, id: EventId) -> &Event {
        &self.threads[id.thread as usize][id.index as usize]
    }

    /// The accesses to a location, if there are any.
    pub fn place(&self, location: Location) -> Option<&Place> {
        self.places.get(&location).map(|place| &**place)
    }

    /// The value that a write leaves.
    pub fn value(&self, location: Location, write: EventId) -> u64 {
        if write == INITIAL {
            return self.place(location).map_or(0, |place| place.initial);
        }
        self.event(write).value.get()
    }

    /// The name of the next event of a thread.
    pub fn next_id(&self, thread: ThreadId) -> EventId {
        EventId { thread, index: self.threads[thread as usize].len() as u32 }
    }

    /// The last event of a thread.
    pub fn last(&self, thread: ThreadId) -> Option<&Rc<Event>> {
        self.threads[thread as usize].last()
    }

    /// All events with their names.
    pub fn events(&self) -> impl Iterator<Item = (EventId, &Rc<Event>)> {
        self.threads.iter().enumerate().flat_map(|(t, events)| {
            let id = move |index: usize| EventId { thread: t as ThreadId, index: index as u32 };
            events.iter().enumerate().map(move |(index, event)| (id(index), event))
        })
    }

    /// Makes sure that the location is known.
    pub(crate) fn know(&mut self, location: Location, initial: u64) {
        self.places
            .entry(location)
            .or_insert_with(|| Rc::new(Place { initial, writes: Vec::new(), reads: Vec::new() }));
    }

    /// The next event of a thread, with the clocks of what comes before it by program order, by being woken and by waiting for
    /// the end of others.
    pub(crate) fn draft(&self, thread: ThreadId, part: Part, awaits: ThreadSet) -> Event {
        let n = self.width();
        let mut clocks: Box<[u32]> = match self.last(thread) {
            Some(last) => last.clocks.clone(),
            None => vec![0; n * CLOCKS].into(),
        };
        clocks[Which::Message as usize * n..].fill(0);
        let ends = awaits.iter().map(|t| match self.next_id(t).index {
            0 => self.woken[t as usize],
            length => EventId { thread: t, index: length - 1 },
        });
        let mut after: Vec<EventId> = ends.chain([self.woken[thread as usize]]).collect();
        if self.early == Some(thread) {
            after.pop();
        }
        after.retain(|id| *id != INITIAL);
        for id in &after {
            let event = self.event(*id);
            for which in [Which::Prefix, Which::HappensBefore] {
                let at = which as usize * n;
                join(&mut clocks[at..at + n], event.clock(which));
            }
        }
        let index = self.next_id(thread).index;
        for which in [Which::Prefix, Which::HappensBefore] {
            clocks[which as usize * n + thread as usize] = index + 1;
        }
        Event {
            stamp: self.stamps,
            part,
            location: Location(u64::MAX),
            order: Order::Relaxed,
            exclusive: false,
            locked: false,
            blocked: false,
            object: false,
            from: INITIAL,
            access: None,
            value: Cell::new(0),
            alternative: 0,
            wakes: ThreadSet::EMPTY,
            after,
            mates: if index == 0 { self.mates } else { ThreadSet::EMPTY },
            clocks,
        }
    }

    fn join_from(&self, event: &mut Event, into: Which, from: EventId, which: Which) {
        if from != INITIAL {
            let n = self.width();
            let at = into as usize * n;
            join(&mut event.clocks[at..at + n], self.event(from).clock(which));
        }
    }

    /// A read of memory by `thread` from the write `from`. What it is depends on the value.
    pub(crate) fn draft_read(&self, thread: ThreadId, access: Access, from: EventId) -> Event {
        let mut event = self.draft(thread, Part::Read, ThreadSet::EMPTY);
        let old = self.value(access.location, from);
        let is_load = access.change == Change::None;
        event.exclusive = access.change.apply(old, access.bytes).is_some();
        event.locked = !is_load;
        event.order = if event.exclusive || is_load { access.order } else { access.failure };
        event.access = Some(access);
        event.location = access.location;
        self.reads_from(&mut event, from);
        self.follow_mates(thread, &mut event);
        event
    }

    /// Sets what a read reads from, and its clocks.
    pub(crate) fn reads_from(&self, event: &mut Event, from: EventId) {
        event.from = from;
        self.join_from(event, Which::Prefix, from, Which::Prefix);
        self.join_from(event, Which::Acquired, from, Which::Message);
        if event.order.acquires() {
            self.join_from(event, Which::HappensBefore, from, Which::Message);
        }
    }

    /// A write. If it is the half of a read-modify-write, its read is the last event of the thread.
    pub(crate) fn draft_write(
        &self,
        thread: ThreadId,
        location: Location,
        order: Order,
        exclusive: bool,
    ) -> Event {
        let mut event = self.draft(thread, Part::Write, ThreadSet::EMPTY);
        let n = self.width();
        (event.location, event.order, event.exclusive) = (location, order, exclusive);
        event.locked = exclusive;
        self.follow_mates(thread, &mut event);
        let of = if order.releases() { Which::HappensBefore } else { Which::Released };
        let message = event.clock(of).to_vec();
        event.clocks[Which::Message as usize * n..].copy_from_slice(&message);
        if exclusive && let Some(read) = self.last(thread) {
            let from = read.from;
            self.join_from(&mut event, Which::Message, from, Which::Message);
        }
        event
    }

    /// A fence.
    pub(crate) fn draft_fence(&self, thread: ThreadId, order: Order) -> Event {
        let mut event = self.draft(thread, Part::Fence, ThreadSet::EMPTY);
        let n = self.width();
        event.order = order;
        let range = |which: Which| which as usize * n..(which as usize + 1) * n;
        if order.acquires() {
            let acquired = event.clock(Which::Acquired).to_vec();
            join(&mut event.clocks[range(Which::HappensBefore)], &acquired);
        }
        if order.releases() {
            let before = event.clock(Which::HappensBefore).to_vec();
            event.clocks[range(Which::Released)].copy_from_slice(&before);
        }
        event
    }

    /// Adds an event to its thread; a write goes to this position of the modification order (after that many).
    pub(crate) fn add(&mut self, thread: ThreadId, event: Event, position: usize) -> EventId {
        let id = self.next_id(thread);
        if matches!(event.part, Part::Read | Part::Write)
            && let Some(place) = self.places.get_mut(&event.location)
        {
            let place = Rc::make_mut(place);
            match event.part {
                Part::Read => place.reads.push(id),
                _ => place.writes.insert(position, id),
            }
        }
        for woken in event.wakes.iter() {
            self.woken[woken as usize] = id;
        }
        self.stamps = self.stamps.max(event.stamp + 1);
        self.threads[thread as usize].push(Rc::new(event));
        id
    }

    /// The graph without the read `read` and without what was added after it, except what `prefix` covers.
    pub(crate) fn without(&self, read: EventId, prefix: &[u32]) -> Graph {
        let stamp = self.event(read).stamp;
        let cut = |t: usize| {
            let gone = |e: &Rc<Event>| e.stamp >= stamp;
            let kept = prefix[t] as usize;
            let events = &self.threads[t];
            kept + events[kept.min(events.len())..]
                .iter()
                .position(gone)
                .unwrap_or(events.len().saturating_sub(kept))
        };
        let lengths: Vec<usize> = (0..self.width()).map(cut).collect();
        self.shortened(&lengths)
    }

    /// The graph in which each thread has only so many events.
    pub(crate) fn shortened(&self, lengths: &[usize]) -> Graph {
        let kept = |id: &EventId| (id.index as usize) < lengths[id.thread as usize];
        let mut graph = Graph {
            threads: self
                .threads
                .iter()
                .zip(lengths)
                .map(|(events, &n)| events[..n.min(events.len())].to_vec())
                .collect(),
            places: BTreeMap::new(),
            woken: vec![INITIAL; self.width()],
            stamps: self.stamps,
            again: Vec::new(),
            early: self.early,
            mates: self.mates,
        };
        for (location, place) in &self.places {
            if place.writes.iter().all(kept) && place.reads.iter().all(kept) {
                graph.places.insert(*location, place.clone());
                continue;
            }
            let only = |ids: &[EventId]| ids.iter().copied().filter(kept).collect::<Vec<_>>();
            let (writes, reads) = (only(&place.writes), only(&place.reads));
            if !writes.is_empty() || !reads.is_empty() {
                graph.places.insert(*location, Rc::new(Place { initial: place.initial, writes, reads }));
            }
        }
        let mut wakers: Vec<(u32, EventId, ThreadSet)> = graph
            .events()
            .filter(|(_, event)| !event.wakes.is_empty())
            .map(|(id, event)| (event.stamp, id, event.wakes))
            .collect();
        wakers.sort_unstable_by_key(|(stamp, ..)| *stamp);
        for (_, id, wakes) in wakers {
            wakes.iter().for_each(|t| graph.woken[t as usize] = id);
        }
        graph
    }
}
