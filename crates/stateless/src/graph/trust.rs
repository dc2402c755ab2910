//! TruSt: every consistent execution graph of a program, each once (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL
//! 2022).
//!
//! A graph is extended by one event at a time, of the first thread that can go on. A read reads from every write that is there,
//! where that is consistent; a write goes to every place of the modification order, and it may *revisit* reads that are
//! not before it by program order and reads-from: such a read then reads from the new write, and what was added after the
//! read goes, except what the write depends on. So that no graph comes up twice, a revisit is made only if all that goes
//! was added in the one *maximal* way: each read from the last write there was, each write last in modification order.
//!
//! Why every consistent graph comes up, and once: theorem 1 of the paper. It needs of the model that
//! consistent graphs have no cycle of program order and reads-from, that prefixes of consistent graphs are consistent, and that a graph
//! can be extended by its maximal event. RC11, TSO and sequential consistency have all three.
//!
//! Where this deviates:
//!
//! - The memory of a revisit is the graph itself: what is still to be explored is a stack of consistent graphs, and each is executed from the
//!   start. A graph that is taken from the stack leads to a complete one without further choices, so executions are graphs.
//! - A read of an object that is not memory (a lock) which finds a value at which it cannot go on is *blocked*. It reads from the last
//!   operation of the object only: an operation that makes it possible comes later, and revisits it. Where it was there
//!   already, the read can read from it directly.
//! - What an operation of an object does (whom a signal wakes, in how many ways) depends on the state in which it is executed. So after a
//!   revisit both operations are executed again and their events made anew, the revisited one with its old number.

use std::rc::Rc;
use std::time::Instant;

use crate::configuration::{
    Bound, Configuration, ExplorationError, Observer, Progress, Report, Statistics, Violation,
};
use crate::execution::{Ending, Outcome, Symmetry};
use crate::explore::{out_of_bounds, report};
use crate::graph::event::{Event, EventId, Part, Which};
use crate::graph::label::{Access, Change, Label, Location, MemoryModel, MemoryProgram, Order};
use crate::graph::linear::{self, Step};
use crate::graph::placement::{floor, with_read, with_write};
use crate::graph::structure::{Again, Graph};
use crate::operation::Mode;
use crate::schedule::{Choice, Schedule};
use crate::threads::{MAX_THREADS, ThreadId, ThreadSet};

/// Explores `program` under `model`. Every complete execution is shown to `observer`, with its graph to `graphs`.
///
/// # Errors
/// If the program turns out not to be deterministic, or does something that graphs do not cover.
pub fn explore<P: MemoryProgram>(
    program: &mut P,
    model: MemoryModel,
    configuration: &Configuration,
    observer: &mut impl Observer,
    graphs: &mut dyn FnMut(&Graph),
) -> Result<Report, ExplorationError> {
    let threads = program.max_threads();
    if threads > MAX_THREADS {
        return Err(ExplorationError::TooManyThreads(threads));
    }
    let symmetric = configuration.symmetry == Symmetry::Costarted;
    let stack = vec![Graph::new(threads)];
    let mut trust = Trust { model, symmetric, stack, statistics: Statistics::default() };
    let (mut violation, mut bound) = (None, None);
    let start = Instant::now();
    while let Some(graph) = trust.stack.pop() {
        if let Some(by) = out_of_bounds(configuration, trust.statistics.made(), start) {
            bound = Some(by);
            break;
        }
        let (end, steps) = trust.run(program, graph, configuration.max_steps)?;
        let statistics = &mut trust.statistics;
        statistics.depth = statistics.depth.max(steps.len());
        let outcome = match end {
            End::Complete(_) | End::Early => program.outcome(),
            End::Blocked => Outcome { ending: Ending::Infeasible, hash: 0 },
            End::Cut => {
                statistics.cut += 1;
                bound = Some(Bound::Steps);
                let progress = Progress { statistics: &trust.statistics, run: &[] };
                if observer.cut(&progress).is_break() {
                    bound = Some(Bound::Stopped);
                    break;
                }
                continue;
            }
        };
        if outcome.ending == Ending::Infeasible {
            statistics.infeasible += 1;
        } else {
            statistics.executions += 1;
            if let End::Complete(graph) = &end {
                graphs(graph);
            }
        }
        if outcome.ending.is_violation() && violation.is_none() {
            let choice = |s: &Step| Choice { thread: s.thread, alternative: s.alternative };
            let schedule = Schedule { choices: steps.iter().map(choice).collect() };
            violation = Some(Violation { ending: outcome.ending, schedule, race: None });
        }
        let progress = Progress { statistics: &trust.statistics, run: &[] };
        if observer.execution(outcome, &progress).is_break() {
            bound = Some(Bound::Stopped);
            break;
        }
        if violation.is_some() && configuration.stop_at_first {
            break;
        }
    }
    Ok(report(violation, bound, trust.statistics))
}

/// How a run ended.
enum End {
    Complete(Graph),
    /// In a violation, before all of the graph was executed: plain accesses that race are made in another order than when the
    /// graph grew, and only one of the two orders may show it (the later access was not reached, the earlier one not yet made).
    Early,
    /// A thread waits for what has happened already, or no way on is consistent: other graphs have it.
    Blocked,
    Cut,
}

/// What comes next.
enum Next {
    End,
    /// An operation of this thread.
    Operation(ThreadId),
    /// An operation of an object, executed again after a revisit.
    Again(Again),
    /// The writing half of this thread's read-modify-write.
    Half(ThreadId),
}

impl Next {
    fn thread(&self) -> Option<ThreadId> {
        match self {
            Next::End => None,
            Next::Operation(thread) | Next::Half(thread) => Some(*thread),
            Next::Again(again) => Some(again.thread),
        }
    }
}

/// The ways to extend a graph.
#[derive(Default)]
struct Ways {
    /// The maximal one, which goes on from here.
    here: Option<Graph>,
    /// All others.
    others: Vec<Graph>,
}

struct Trust {
    model: MemoryModel,
    /// Are threads exchanged?
    symmetric: bool,
    stack: Vec<Graph>,
    statistics: Statistics,
}

impl Trust {
    /// Executes a graph and extends it to a complete one; other ways to go on are put on the stack.
    fn run<P: MemoryProgram>(
        &mut self,
        program: &mut P,
        mut graph: Graph,
        max_steps: usize,
    ) -> Result<(End, Vec<Step>), ExplorationError> {
        let (mut steps, mut executed) = linear::schedule(&graph);
        program.restart();
        for (number, step) in steps.iter().enumerate() {
            if program.ended() && program.outcome().ending.is_violation() {
                steps.truncate(number);
                return Ok((End::Early, steps));
            }
            if !is_expected(program, &graph, *step) {
                return Err(ExplorationError::NotDeterministic { step: number, thread: step.thread });
            }
            execute(program, &graph, *step);
        }
        self.statistics.steps += steps.len() as u64;
        self.statistics.replayed += steps.len() as u64;
        loop {
            if program.ended() {
                return Ok((End::Complete(graph), steps));
            }
            if steps.len() > max_steps {
                return Ok((End::Cut, steps));
            }
            let next = next(program, &mut graph)?;
            graph.early = next.thread().filter(|t| !program.resumes(*t));
            let first = next.thread().filter(|t| self.symmetric && graph.thread(*t).is_empty());
            graph.mates = first.map_or(ThreadSet::EMPTY, |thread| mates(program, &graph, thread));
            let (thread, ways) = match next {
                Next::End => {
                    let end = if waits_in_vain(&graph) { End::Blocked } else { End::Complete(graph) };
                    return Ok((end, steps));
                }
                Next::Half(thread) => (thread, self.half(program, graph, thread)),
                Next::Again(again) => (again.thread, again_executed(program, graph, again)),
                Next::Operation(thread) => (thread, self.ways(program, graph, thread)),
            };
            self.stack.extend(ways.others);
            let Some(here) = ways.here else { return Ok((End::Blocked, steps)) };
            graph = here;
            if let Some(step) = executed.next(&graph, thread) {
                self.statistics.steps += 1;
                execute(program, &graph, step);
                steps.push(step);
            }
        }
    }

    /// The ways in which the operation of a thread can be added.
    fn ways<P: MemoryProgram>(&self, program: &P, mut graph: Graph, thread: ThreadId) -> Ways {
        match program.label(thread) {
            Some(Label::Access(access)) => {
                graph.know(access.location, access.initial);
                match access.change {
                    Change::Store(value) => self.store(graph, thread, access, value),
                    _ => self.read(program, graph, thread, access),
                }
            }
            Some(Label::Fence(order)) => {
                let event = graph.draft_fence(thread, order);
                graph.add(thread, event, 0);
                Ways { here: Some(graph), others: Vec::new() }
            }
            Some(Label::Object { location, mode, need, value, order }) => {
                graph.know(location, value as u64);
                self.object(program, &graph, thread, ObjectUse { location, mode, need, order })
            }
            Some(Label::Local) => local(program, graph, thread),
            Some(Label::Unsupported(_)) | None => Ways::default(),
        }
    }

    /// A load, or the reading half of a read-modify-write, which is followed by its writing half at once.
    fn read<P: MemoryProgram>(
        &self,
        program: &P,
        mut graph: Graph,
        thread: ThreadId,
        access: Access,
    ) -> Ways {
        let mut others = Vec::new();
        let Some(place) = graph.place(access.location) else { return Ways::default() };
        let (end, last) = (place.writes.len(), place.last());
        let mut before = graph.draft(thread, Part::Read, ThreadSet::EMPTY);
        before.location = access.location;
        for position in floor(&graph, &before)..end {
            let event = graph.draft_read(thread, access, place.at(position));
            let exclusive = event.exclusive;
            let Some(extended) = with_read(&graph, self.model, thread, event) else { continue };
            if exclusive {
                let halves = self.half(program, extended, thread);
                others.extend(halves.others);
                others.extend(halves.here);
            } else {
                others.push(extended);
            }
        }
        // Reading the last write is always consistent.
        let event = graph.draft_read(thread, access, last);
        let exclusive = event.exclusive;
        graph.add(thread, event, 0);
        let mut ways = match exclusive {
            true => self.half(program, graph, thread),
            false => Ways { here: Some(graph), others: Vec::new() },
        };
        ways.others.extend(others);
        ways
    }

    /// A store: at every position, and read by whoever can be revisited.
    fn store(&self, mut graph: Graph, thread: ThreadId, access: Access, value: u64) -> Ways {
        let mut others = Vec::new();
        let end = graph.place(access.location).map_or(0, |place| place.writes.len());
        let event = graph.draft_write(thread, access.location, access.order, false);
        event.value.set(value);
        for position in floor(&graph, &event)..end {
            others.extend(with_write(&graph, self.model, thread, event.clone(), position));
        }
        self.revisit(&graph, thread, &event, None, &mut others);
        // The last position is always consistent.
        graph.add(thread, event, end);
        Ways { here: Some(graph), others }
    }

    /// The writing half of a read-modify-write, whose read is the last event of the thread.
    fn half<P: MemoryProgram>(&self, program: &P, mut graph: Graph, thread: ThreadId) -> Ways {
        let mut ways = Ways::default();
        let Some(read) = graph.last(thread) else { return ways };
        let Some(access) = read.access else { return self.object_half(program, &graph, thread) };
        let Some(place) = graph.place(access.location) else { return ways };
        let Some(value) = access.change.apply(graph.value(access.location, read.from), access.bytes) else {
            return ways;
        };
        let event = graph.draft_write(thread, access.location, access.order, true);
        event.value.set(value);
        let (position, end) = (place.position(read.from), place.writes.len());
        self.revisit(&graph, thread, &event, Some(read.from), &mut ways.others);
        ways.here = if position == end {
            graph.add(thread, event, position);
            Some(graph)
        } else {
            with_write(&graph, self.model, thread, event, position)
        };
        ways
    }

    /// The graphs in which a read of memory that was there before reads from the new write, which comes right after `right_after` if
    /// that is given.
    fn revisit(
        &self,
        graph: &Graph,
        thread: ThreadId,
        write: &Event,
        right_after: Option<EventId>,
        into: &mut Vec<Graph>,
    ) {
        let Some(place) = graph.place(write.location) else { return };
        let id = graph.next_id(thread);
        for &read in &place.reads {
            let Some((rest, stamp, access)) = without(graph, write, read) else { continue };
            let Some(access) = access else { continue };
            let mut rest = rest;
            rest.know(write.location, place.initial);
            let Some(left) = rest.place(write.location) else { continue };
            let positions = match right_after {
                Some(from) => left.position(from)..=left.position(from),
                None => 0..=left.writes.len(),
            };
            for position in positions {
                let Some(written) = with_write(&rest, self.model, thread, write.clone(), position) else {
                    continue;
                };
                let mut written = written;
                written.mates = graph.event(read).mates;
                let mut event = written.draft_read(read.thread, access, id);
                event.stamp = stamp;
                into.extend(with_read(&written, self.model, read.thread, event));
            }
        }
    }

    /// An operation of an object: after every other one, as far as it can go on there; later operations are then
    /// revisited.
    fn object<P: MemoryProgram>(
        &self,
        program: &P,
        graph: &Graph,
        thread: ThreadId,
        used: ObjectUse,
    ) -> Ways {
        let mut ways = Ways::default();
        let Some(place) = graph.place(used.location) else { return ways };
        let end = place.writes.len();
        for position in (0..=end).rev() {
            let from = place.at(position);
            let event = used.draft(graph, thread, from);
            if event.blocked && position < end {
                continue;
            }
            let blocked = event.blocked;
            let Some(extended) = with_read(graph, self.model, thread, event) else { continue };
            if blocked {
                ways.here = Some(extended);
                continue;
            }
            let halves = self.object_half(program, &extended, thread);
            ways.others.extend(halves.others);
            put(&mut ways, halves.here, position == end);
        }
        ways
    }

    /// The rest of an operation of an object, whose read is the last event of the thread.
    fn object_half<P: MemoryProgram>(&self, program: &P, graph: &Graph, thread: ThreadId) -> Ways {
        let mut ways = Ways::default();
        let Some(read) = graph.last(thread) else { return ways };
        let (location, from) = (read.location, read.from);
        let Some(place) = graph.place(location) else { return ways };
        if place.last() == from {
            ways = object_written(program, graph, thread);
        }
        let write = graph.draft_write(thread, location, Order::Relaxed, true);
        for &other in &place.reads {
            let Some((rest, stamp, access)) = without(graph, &write, other) else { continue };
            let last = rest.place(location).map_or(crate::graph::INITIAL, |left| left.last());
            if access.is_some() || last != from {
                continue;
            }
            // Both are executed again: this operation, and then the revisited one.
            let mut lengths: Vec<usize> = rest.threads.iter().map(Vec::len).collect();
            lengths[thread as usize] -= 1;
            let mut rest = rest.shortened(&lengths);
            rest.again =
                vec![Again { thread: other.thread, stamp: Some(stamp) }, Again { thread, stamp: None }];
            ways.others.push(rest);
        }
        ways
    }
}

/// How an operation uses an object.
#[derive(Clone, Copy)]
struct ObjectUse {
    location: Location,
    mode: Mode,
    need: i64,
    order: Order,
}

impl ObjectUse {
    /// Its read, from the operation `from`.
    fn draft(self, graph: &Graph, thread: ThreadId, from: EventId) -> Event {
        let value = graph.value(self.location, from) as i64;
        let possible = value >= self.need;
        let mut event = graph.draft(thread, Part::Read, ThreadSet::EMPTY);
        event.location = self.location;
        (event.object, event.locked) = (true, true);
        event.blocked = self.mode == Mode::Acquire && !possible;
        event.exclusive = !event.blocked;
        let succeeds = !matches!(self.mode, Mode::Acquire | Mode::Try) || possible;
        event.order = if succeeds { self.order } else { Order::Relaxed };
        graph.reads_from(&mut event, from);
        graph.follow_mates(thread, &mut event);
        event
    }
}

/// The threads with smaller numbers that a thread can be exchanged with: started alike, by the same thread, which has only
/// created others in between.
fn mates<P: MemoryProgram>(program: &mut P, graph: &Graph, thread: ThreadId) -> ThreadSet {
    let started_together = |other: &ThreadId| {
        let (first, second) = (graph.creation(*other), graph.creation(thread));
        let between = || &graph.thread(first.thread)[first.index as usize..second.index as usize];
        first == second
            || first.thread == second.thread
                && first.index < second.index
                && between().iter().all(|event| event.part == Part::Local)
    };
    (0..thread)
        .filter(started_together)
        .filter(|other| program.symmetric(*other, thread, Symmetry::Costarted))
        .collect()
}

/// Adds a way: the maximal one goes on from here.
fn put(ways: &mut Ways, graph: Option<Graph>, maximal: bool) {
    match graph {
        Some(graph) if maximal => ways.here = Some(graph),
        Some(graph) => ways.others.push(graph),
        None => {}
    }
}

/// The writing half of an operation on an object, as the last one, in all its ways.
fn object_written<P: MemoryProgram>(program: &P, graph: &Graph, thread: ThreadId) -> Ways {
    let mut ways = Ways::default();
    let Some(read) = graph.last(thread) else { return ways };
    let end = graph.place(read.location).map_or(0, |place| place.writes.len());
    let count = program.pending(thread, 0).map_or(1, |operation| operation.alternatives);
    for alternative in 0..count {
        let mut event = graph.draft_write(thread, read.location, read.order, true);
        (event.object, event.alternative) = (true, alternative);
        event.wakes = program.pending(thread, alternative).map_or(ThreadSet::EMPTY, |o| o.wakes);
        let mut graph = graph.clone();
        graph.add(thread, event, end);
        put(&mut ways, Some(graph), alternative == 0);
    }
    ways
}

/// An operation on an object that is executed again after a revisit: as the last one. Of the revisited operation this adds the read;
/// the rest follows.
fn again_executed<P: MemoryProgram>(program: &P, mut graph: Graph, again: Again) -> Ways {
    let Some(Label::Object { location, mode, need, value, order }) = program.label(again.thread) else {
        return Ways::default();
    };
    graph.know(location, value as u64);
    let from = graph.place(location).map_or(crate::graph::INITIAL, |place| place.last());
    let used = ObjectUse { location, mode, need, order };
    let mut event = used.draft(&graph, again.thread, from);
    event.stamp = again.stamp.unwrap_or(event.stamp);
    graph.add(again.thread, event, 0);
    match again.stamp {
        Some(_) => Ways { here: Some(graph), others: Vec::new() },
        None => object_written(program, &graph, again.thread),
    }
}

/// Creation, join, a choice.
fn local<P: MemoryProgram>(program: &P, graph: Graph, thread: ThreadId) -> Ways {
    let mut ways = Ways::default();
    let count = program.pending(thread, 0).map_or(1, |operation| operation.alternatives);
    let with = |mut graph: Graph, alternative: u16| {
        let operation = program.pending(thread, alternative)?;
        let mut event = graph.draft(thread, Part::Local, operation.awaits);
        (event.alternative, event.wakes) = (alternative, operation.wakes);
        graph.add(thread, event, 0);
        Some(graph)
    };
    ways.others.extend((1..count).filter_map(|alternative| with(graph.clone(), alternative)));
    ways.here = with(graph, 0);
    ways
}

/// If the write can revisit the read: the graph without the read and what goes with it, the read's number and its access.
fn without(graph: &Graph, write: &Event, read: EventId) -> Option<(Graph, u32, Option<Access>)> {
    if write.depends_on(read) {
        return None;
    }
    let event = graph.event(read);
    let goes = |(id, e): &(EventId, &Rc<Event>)| e.stamp >= event.stamp && !write.depends_on(*id);
    if !graph.events().filter(goes).all(|(id, _)| is_maximal(graph, write, id)) {
        return None;
    }
    Some((graph.without(read, write.clock(Which::Prefix)), event.stamp, event.access))
}

/// Was the event added in the maximal way, among what was added before it and what the write depends on?
fn is_maximal(graph: &Graph, write: &Event, id: EventId) -> bool {
    let event = graph.event(id);
    if event.alternative != 0 {
        return false;
    }
    let Some(place) = graph.place(event.location).filter(|_| event.is_read() || event.is_write()) else {
        return true;
    };
    let previous = |k: &EventId| graph.event(*k).stamp <= event.stamp || write.depends_on(*k);
    if event.is_write() && place.reads.iter().any(|r| graph.event(*r).from == id && previous(r)) {
        return false;
    }
    let expected = if event.is_read() { event.from } else { id };
    place.writes.iter().rev().copied().find(previous).unwrap_or(crate::graph::INITIAL) == expected
}

/// What comes next in a graph: a function of the graph.
fn next<P: MemoryProgram>(program: &P, graph: &mut Graph) -> Result<Next, ExplorationError> {
    if let Some(again) = graph.again.pop() {
        return Ok(Next::Again(again));
    }
    let threads = 0..graph.width() as ThreadId;
    let is_half = |t: &ThreadId| graph.last(*t).is_some_and(|e| e.is_read() && e.exclusive);
    if let Some(thread) = threads.clone().find(is_half) {
        return Ok(Next::Half(thread));
    }
    for thread in threads {
        if graph.last(thread).is_some_and(|event| event.blocked) {
            continue;
        }
        match program.label(thread) {
            None => {}
            Some(Label::Local) if !program.enabled().contains(thread) => {}
            Some(Label::Unsupported(what)) => return Err(ExplorationError::Unsupported(what)),
            Some(_) => return Ok(Next::Operation(thread)),
        }
    }
    Ok(Next::End)
}

/// Does a thread wait in the graph for what another one has done already?
fn waits_in_vain(graph: &Graph) -> bool {
    let waits = |events: &Vec<Rc<Event>>| {
        let blocked = events.last().filter(|event| event.blocked)?;
        graph.place(blocked.location).map(|place| place.last() != blocked.from)
    };
    graph.threads.iter().any(|events| waits(events) == Some(true))
}

/// Is the thread about to do what the graph says?
fn is_expected<P: MemoryProgram>(program: &P, graph: &Graph, step: Step) -> bool {
    let event = graph.event(step.event);
    match program.label(step.thread) {
        Some(Label::Access(access)) => !event.object && event.location == access.location,
        Some(Label::Object { location, .. }) => event.object && event.location == location,
        Some(Label::Fence(order)) => event.part == Part::Fence && event.order == order,
        Some(Label::Local) => event.part == Part::Local,
        Some(Label::Unsupported(_)) | None => false,
    }
}

/// Makes a step, and takes note of what it leaves.
fn execute<P: MemoryProgram>(program: &mut P, graph: &Graph, step: Step) {
    program.step(step.thread, step.alternative);
    let event = graph.event(step.event);
    if event.object {
        let write = EventId { index: step.event.index + 1, ..step.event };
        graph.event(write).value.set(program.object_value(event.location) as u64);
    }
}
