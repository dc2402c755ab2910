//! Loops that wait: `while (!flag);`, `while (trylock(&m)) sched_yield();`, compare-and-swap loops that fail.
//!
//! An *idle* iteration changes nothing and leaves its thread in the state in which it began. Repeating it is of no use
//! until something that it has read changes. A thread that completes an idle iteration stays where it is, for
//! good ([`Status::Spinning`](crate::exploration::world::Status)). So loops that wait end, whatever the limits.
//!
//! # Why nothing is lost
//!
//! Take any finite execution of the program and cut out one idle iteration of thread `t`. What is left is an execution as
//! well: `t` goes on from the same state, and the others find the same values, as the iteration has changed none. Both
//! end in the same state. Cut until there is no idle iteration left: this execution is one of the program in which threads stay
//! after an idle iteration, and that program is what is explored, by any algorithm, since whether a thread stays depends on
//! what it has done and read itself. The orders in which `t` reads too early and stays are executions, too, which say
//! nothing: they are counted apart.
//!
//! *Nothing changed* means: loads, compare-and-swaps that fail, try-locks that fail, updates and stores that leave the value
//! as it was, sleeping and yielding, plain reads, plain writes to the thread's own stack, fences; and critical sections that are
//! entered and left within the iteration. The latter are seen by who *tries* to take the lock meanwhile, and only by them:
//! they count as nothing for as long as nobody tries, in any execution, and the exploration starts again if somebody does.
//! What a thread writes to its own stack counts as nothing for as long as nobody else uses those bytes. Let somebody else use them in some execution:
//! cut the idle iterations that are complete by then. The one that is not complete stays, so what is left is explored, and the
//! exploration starts again there.
//! Whatever else a thread calls is a change ([`active`](crate::exploration::world::active)).
//!
//! *The same state* means: the same frames at the same places, with equal registers and bytes as far as they are live
//! (by the analysis of `crate::symmetry::question`; all of them where code is not understood) and nobody else uses them, the same `errno`, and the same
//! operation ahead. Thread-local variables and the heap are not compared, since writing to them is a change.
//!
//! Data races: cutting takes happens-before edges away and adds none, so a race between accesses that are left stays
//! one. A plain read inside of an idle iteration is lost with it, though. Let it race with a later write by `u`. If
//! every way to notice another thread orders (locks, sequentially consistent atomics), `u` has noticed nothing that `t`
//! did after the iteration, or the two would be ordered; so there is an execution in which `t` stays after that very iteration and `u` still
//! writes, and the race is found there. If there are other ways (weak orders, tries that fail, allowed races), such reads are idle only if
//! they cannot be part of a race: nobody else has ever written to that memory while there were threads (thread-local variables, for
//! example), or it is only accessed under one lock. Should somebody do otherwise, the exploration starts again.
//!
//! Whatever is relied on here is a fact about all executions so far that can only be lost, never gained, and when it is lost the
//! exploration starts again. So whether a thread stays does not depend on when others do what is independent of it.
//!
//! # Weak memory
//!
//! Under a weak memory model the argument is about execution graphs: take the events of an idle iteration out of a consistent graph. What is left is
//! consistent, and it is a graph of the program, in which the thread has not gone round. Event by event:
//!
//! - Loads, compare-and-swaps that fail and fences: nothing comes after them but what is in the thread. Every relation of the
//!   graph that is left is contained in what it was.
//! - Updates that leave the value as it was: who has read from one reads from what it has read from, the same value and its
//!   neighbour in modification order. From-reads and modification order of what is left are as before, and so is
//!   atomicity. The new reads-from edge was a path before (reads-from, the update, reads-from), which synchronised as well, since
//!   updates continue release sequences. So happens-before does not grow, nor does anything that is made of it.
//! - A critical section that is entered and left: all operations of a lock are updates of its object, and the two are
//!   taken out in the same way. What lies between them in the object's order is found possible without them, too,
//!   except by who tries; as above, nobody does.
//! - Tries that fail are updates that leave the value.
//!
//! A store is never idle here. Somebody else's store may come between it and the one before it in modification order, so that it
//! does not depend on the thread alone whether it changes anything. What the iteration has read is the value of
//! a message, which may be older than what memory holds; such a wait is stale in the end, and says nothing.
//!
//! # Waits that nobody can end
//!
//! In the end, if the values that a staying thread has read are still the same, its next iteration would be idle again. If that
//! is so for all threads that stay, and nobody else can move, nothing will ever change: a livelock. If not, the execution
//! says nothing. Every livelock is found: cut the idle iterations out of an execution that leads there and append one for each
//! thread that waits, which reads what is there in the end.
//!
//! Where loops are is learnt: a place is looked at once a thread has come by twice without a change in between, from the next
//! exploration on. So programs without such loops pay next to nothing.

use crate::exploration::world::{Pending, Runtime, Status, World};
use crate::instrumentation::atomics::read_value;
use crate::memory::table::Table;
use crate::protocol::{OUTS, Op, THROUGH_POINTER, WATCHED, mode};
use crate::symmetry::frames::Frames;

/// The most operations, visits and reads of an iteration that is looked at.
const MOST_OPERATIONS: usize = 64;
const MOST_VISITS: usize = 32;
const MOST_SEEN: usize = 256;
/// The most bytes of states of a thread.
const MOST_STATE: usize = 1 << 20;

/// Something that an iteration has read.
#[derive(Clone, Copy, Debug)]
enum Seen {
    /// Memory.
    Memory { address: usize, size: u8, visible: bool, value: i64 },
    /// The value of a synchronisation object.
    Object { number: u32, value: i64 },
}

/// A place that a thread has come by, and its state there.
struct Visit {
    place: usize,
    /// Part of `states`.
    state: std::ops::Range<usize>,
    /// Where in `seen` what it has read since then begins.
    seen: usize,
    /// How many locks it had taken.
    taken: usize,
}

/// What a thread has done since it last changed anything.
#[derive(Default)]
pub struct Iteration {
    /// Its operations: kind, object, and where if it was looked up.
    passed: Vec<(Op, u32, usize)>,
    visits: Vec<Visit>,
    states: Vec<u8>,
    seen: Vec<Seen>,
    /// Locks that it has taken and has.
    taken: Vec<u32>,
    /// Has it come back, about to do what it is about to do now?
    came_back: bool,
    /// If so: where in `seen` its last iteration begins.
    waits_from: usize,
    frames: Frames,
}

impl Iteration {
    /// Something has changed.
    #[inline]
    pub fn changed(&mut self) {
        if !self.passed.is_empty() {
            self.forget();
        }
    }

    #[cold]
    #[inline(never)]
    fn forget(&mut self) {
        self.passed.clear();
        self.visits.clear();
        self.states.clear();
        self.seen.clear();
        self.taken.clear();
    }

    /// Has nothing changed since some operation?
    #[inline]
    pub fn is_open(&self) -> bool {
        !self.passed.is_empty()
    }

    /// Is what it has done since then seen by nobody, and has it done nothing but arrive?
    pub fn has_just_begun(&self) -> bool {
        self.visits.is_empty() || self.visits.len() == 1 && self.seen.is_empty() && self.taken.is_empty()
    }

    fn note(&mut self, seen: Seen) {
        if self.visits.is_empty() {
            return;
        }
        if self.seen.len() == MOST_SEEN {
            return self.forget();
        }
        self.seen.push(seen);
    }
}

/// What is known of loops that wait, in all executions so far.
pub struct Loops {
    /// Places that threads come by again and again.
    places: Vec<usize>,
    /// Of locks, by number: has somebody tried to take it; does somebody rely on that nobody does?
    tried: Vec<(bool, bool)>,
    /// Can threads notice each other without being ordered?
    unordered: bool,
    /// Does somebody rely on that they cannot?
    relied_on_order: bool,
    /// Is it written down which memory changes, and under which locks it is accessed?
    pub notes_changes: bool,
    /// Per eight bytes of stacks: does somebody else than the owner use them; and does the owner rely on that nobody does?
    stacks: Table<(bool, bool)>,
}

impl Loops {
    /// Nothing yet.
    pub fn new() -> Loops {
        Loops {
            places: Vec::new(),
            tried: Vec::new(),
            unordered: false,
            relied_on_order: false,
            notes_changes: false,
            stacks: Table::new(),
        }
    }
}

fn granules(address: usize, size: usize) -> std::ops::RangeInclusive<usize> {
    (address >> 3)..=((address + size.max(1) - 1) >> 3)
}

/// Can an iteration that changes nothing have this operation?
fn can_be_idle(pending: &Pending) -> bool {
    match pending.op {
        Op::Load
        | Op::Store
        | Op::Update
        | Op::CompareAndSwap
        | Op::Read
        | Op::Lock
        | Op::TryLock
        | Op::TimedLock
        | Op::Unlock
        | Op::ReadLock
        | Op::TryReadLock
        | Op::WriteLock
        | Op::TryWriteLock
        | Op::LockRelease
        | Op::SemaphoreTry
        | Op::SemaphoreValue
        | Op::Yield => true,
        Op::Point => pending.choices == 1 && !crate::interruptions::interruption::looks_at_signals(pending),
        _ => false,
    }
}

/// Can it be idle under a weak memory model? Whether an update was, is known when it is done.
fn can_be_idle_weakly(pending: &Pending) -> bool {
    pending.op == Op::Fence || can_be_idle(pending) && pending.op != Op::Store
}

/// Does it try to take a lock?
fn tries(op: Op) -> bool {
    matches!(op, Op::TryLock | Op::TimedLock | Op::TryReadLock | Op::TryWriteLock)
}

impl World {
    /// The running thread changes something.
    #[inline]
    pub fn note_changed(&mut self) {
        let current = self.current;
        self.threads[current].iteration.changed();
    }

    /// The running thread has done an operation on memory, which has changed it or not.
    #[inline]
    pub fn note_cell(&mut self, address: usize, size: usize, changed: bool) {
        let iteration = &mut self.threads[self.current].iteration;
        if changed {
            iteration.changed();
        } else if iteration.is_open() {
            let value = read_value(address, size);
            iteration.note(Seen::Memory { address, size: size as u8, visible: true, value });
        }
    }

    /// The running thread has read a message under a weak memory model, and left the value as it was. Threads then notice each other
    /// unordered.
    pub fn note_message(&mut self, address: usize, size: usize, value: u64) {
        self.note_unordered();
        let value = value as i64;
        let iteration = &mut self.threads[self.current].iteration;
        if iteration.is_open() {
            iteration.note(Seen::Memory { address, size: size as u8, visible: true, value });
        }
    }

    /// The running thread has looked at an object without changing it. It is not ordered after who has changed it.
    pub fn note_looked(&mut self, number: u32) {
        let value = self.objects.state(number).value;
        self.threads[self.current].iteration.note(Seen::Object { number, value });
        self.note_unordered();
    }

    /// Threads can notice each other without being ordered.
    #[inline]
    pub fn note_unordered(&mut self) {
        if !self.loops.unordered {
            self.loops.unordered = true;
            self.grown |= self.loops.relied_on_order;
        }
    }

    /// The running thread has taken a lock.
    pub fn note_lock(&mut self, number: u32) {
        let iteration = &mut self.threads[self.current].iteration;
        if !iteration.is_open() {
            return;
        }
        iteration.taken.push(number);
        if !iteration.visits.is_empty() && self.shared.mode == mode::EXPLORE {
            let (tried, relied) = flags(&mut self.loops.tried, number);
            *relied |= !*tried;
            if *tried {
                iteration.forget();
            }
        }
    }

    /// The running thread has given a lock back: that is nothing if it has taken it since. Iterations that began while it had it
    /// have let others in.
    pub fn note_unlock(&mut self, number: u32) {
        let iteration = &mut self.threads[self.current].iteration;
        let Some(at) = iteration.taken.iter().position(|&n| n == number) else {
            return iteration.changed();
        };
        iteration.taken.remove(at);
        iteration.visits.retain(|visit| visit.taken <= at);
    }

    /// The running thread changes memory without a hook.
    #[inline]
    pub fn note_written(&mut self, address: usize, size: usize) {
        if self.threads[self.current].iteration.is_open() {
            self.note_plain_in_iteration(address, size, true);
        }
    }

    /// The running thread makes a plain access, of which nobody else can know right now.
    #[cold]
    #[inline(never)]
    pub fn note_plain_in_iteration(&mut self, address: usize, size: usize, write: bool) {
        let current = self.current;
        // Above the part of the stack that frames use lie thread-local variables.
        let own = self.threads[current].stack.contains(&address)
            && address < self.threads[current].top
            && granules(address, size).all(|granule| {
                let (shared, relied) = self.loops.stacks.entry(granule);
                *relied |= !*shared;
                !*shared
            });
        let iteration = &mut self.threads[current].iteration;
        if write {
            if !own {
                iteration.forget();
            }
            return;
        }
        if own || iteration.visits.is_empty() {
            return;
        }
        if !self.is_settled(address, size) {
            return self.note_changed();
        }
        let iteration = &mut self.threads[current].iteration;
        for at in (address..address + size).step_by(8) {
            let size = (address + size - at).min(8);
            // Any size that can be read at once.
            let size = if size.is_power_of_two() { size } else { 1 };
            let value = read_value(at, size);
            iteration.note(Seen::Memory { address: at, size: size as u8, visible: false, value });
        }
    }

    /// Can a plain read of this memory be left out? See above, on data races.
    fn is_settled(&mut self, address: usize, size: usize) -> bool {
        if self.replays() {
            // The exploration has found out.
            return true;
        }
        if !self.loops.unordered && self.memory == 0 && self.shared.allow_races == 0 {
            self.loops.relied_on_order = true;
            return true;
        }
        if !self.loops.notes_changes {
            (self.loops.notes_changes, self.grown) = (true, true);
            return false;
        }
        // Nobody else is there, or will be without coming after it.
        if self.is_alone() {
            return true;
        }
        self.note_guard(address, size);
        let me = self.current as u8;
        granules(address, size).all(|granule| {
            let first = address.saturating_sub(granule << 3);
            let end = (address + size - (granule << 3)).min(8);
            let bytes = ((1u16 << end) - (1u16 << first)) as u8;
            self.races.rely_on_own_changes(granule, me) || self.rely_on_guard(granule, bytes)
        })
    }

    /// Somebody else than their owner uses these bytes of a stack.
    pub fn note_shared_stack(&mut self, address: usize, size: usize) {
        for granule in granules(address, size) {
            let (shared, relied) = self.loops.stacks.entry(granule);
            self.grown |= *relied && !*shared;
            *shared = true;
        }
    }

    /// Has something changed that a thread which stays has read? Then its next iteration would be another one.
    pub fn has_stale_wait(&self, thread: usize) -> bool {
        let t = &self.threads[thread];
        let changed = |seen: &Seen| match *seen {
            Seen::Memory { address, size, value, .. } => read_value(address, size as usize) != value,
            Seen::Object { number, value } => self.objects.peek(number).map_or(0, |o| o.value) != value,
        };
        t.status == Status::Spinning
            && (self.is_cancelled(thread) || t.iteration.seen[t.iteration.waits_from..].iter().any(changed))
    }

    /// A repeated schedule has come to its end: threads that have come back stay. Before that they do what the schedule says, since
    /// this process does not know all that the exploration has found out.
    pub fn let_waiting_stay(&mut self) {
        for thread in &mut self.threads {
            if thread.status == Status::Ready && thread.iteration.came_back {
                thread.status = Status::Spinning;
            }
        }
    }

    /// What a thread that stays waits to see changed: addresses, those of its visible operations if there are any.
    pub fn watched(&self, thread: usize) -> [u64; WATCHED] {
        let iteration = &self.threads[thread].iteration;
        let seen = &iteration.seen[iteration.waits_from.min(iteration.seen.len())..];
        let is_visible = |seen: &&Seen| !matches!(seen, Seen::Memory { visible: false, .. });
        let any_visible = seen.iter().any(|s| is_visible(&s));
        let mut watched = [0; WATCHED];
        let mut length = 0;
        for seen in seen.iter().filter(|s| !any_visible || is_visible(s)) {
            let address = match *seen {
                Seen::Memory { address, .. } => address as u64,
                Seen::Object { number, .. } => self.objects.address(number) as u64,
            };
            if length < WATCHED && !watched.contains(&address) {
                watched[length] = address;
                length += 1;
            }
        }
        watched
    }

    /// The places of loops, to tell a process that repeats a schedule: as memory that races, of no size.
    pub fn told_loops(&self) -> Vec<(usize, usize)> {
        self.loops.places.iter().map(|place| (*place, 0)).collect()
    }

    /// Takes note of one of these; says whether it was one.
    pub fn note_told_loop(&mut self, place: usize, size: usize) -> bool {
        if size == 0 {
            self.loops.places.push(place);
        }
        size == 0
    }

    /// Writes down the state of the running thread, about to do `pending`. Says whether it could.
    fn write_state(&mut self, pending: &Pending) -> bool {
        let mut iteration = std::mem::take(&mut self.threads[self.current].iteration);
        let known = self.write_state_to(&mut iteration, pending);
        self.threads[self.current].iteration = iteration;
        known
    }

    fn write_state_to(&mut self, iteration: &mut Iteration, pending: &Pending) -> bool {
        crate::symmetry::frames::capture(&self.code.own, &mut iteration.frames);
        let me = &self.threads[self.current];
        let (fs, top, operands) = (crate::threads::context::fs_base(), me.top, me.operands);
        let frames = &iteration.frames.frames;
        let states = &mut iteration.states;
        if !iteration.frames.complete || frames.is_empty() || states.len() > MOST_STATE {
            return false;
        }
        let mut word = |word: usize| states.extend_from_slice(&word.to_le_bytes());
        word(pending.op as usize);
        word(pending.address);
        word(pending.need as usize);
        operands.into_iter().for_each(&mut word);
        // SAFETY: `errno` of this thread.
        word(unsafe { *((fs - self.errno_below) as *const u32) } as usize);
        // What callers need, outermost first; the result of a thread's routine may be asked for.
        let mut needs = vec![1u8; frames.len()];
        for k in (1..frames.len()).rev() {
            let pairing = self.pairing(frames[k].place, frames[k].place);
            needs[k - 1] = pairing.map_or(u8::MAX, |pairing| pairing.live_registers(needs[k]));
        }
        for (k, frame) in frames.iter().enumerate() {
            [frame.place, frame.pointer, frame.low].into_iter().for_each(|word| {
                states.extend_from_slice(&word.to_le_bytes());
            });
            let pairing = self.pairing(frame.place, frame.place).cloned();
            let live = pairing.as_ref().map_or(u8::MAX, |pairing| pairing.live_registers(needs[k]));
            for register in (1..OUTS).filter(|r| live >> r & 1 != 0) {
                states.extend_from_slice(&frame.registers[register - 1].to_le_bytes());
            }
            let mut bytes = |from: usize, length: usize| {
                for granule in granules(from, length).filter(|_| length > 0) {
                    // What others use is memory like any other: reads of it are noted, writes are changes.
                    let (shared, relied) = self.loops.stacks.entry(granule);
                    if *shared {
                        continue;
                    }
                    *relied = true;
                    let (start, end) = (from.max(granule << 3), (from + length).min((granule + 1) << 3));
                    // SAFETY: within the stack of the running thread.
                    let part = unsafe { std::slice::from_raw_parts(start as *const u8, end - start) };
                    states.extend_from_slice(part);
                }
            };
            match pairing {
                Some(pairing) => {
                    let reasons = 1 | needs[k] << 1 | THROUGH_POINTER;
                    for piece in pairing.pieces.iter().filter(|p| p.needs & reasons != 0) {
                        bytes(frame.pointer.wrapping_add_signed(piece.first as isize), piece.length as usize);
                    }
                }
                None => {
                    let end = frames.get(k + 1).map_or(top, |caller| caller.low);
                    bytes(frame.low, end.saturating_sub(frame.low).min(MOST_STATE));
                }
            }
        }
        true
    }
}

fn flags(table: &mut Vec<(bool, bool)>, number: u32) -> (&mut bool, &mut bool) {
    let number = number as usize;
    if number >= table.len() {
        table.resize(number + 1, (false, false));
    }
    let (first, second) = &mut table[number];
    (first, second)
}

impl Runtime {
    /// The running thread is about to do `pending`: has it been here, in this state, and changed nothing since?
    #[inline]
    pub fn comes_back(mut self, pending: &Pending) -> bool {
        let current = self.current;
        self.threads[current].iteration.came_back = false;
        if tries(pending.op) {
            let (tried, relied) = flags(&mut self.loops.tried, pending.object);
            let new = !std::mem::replace(tried, true) && *relied;
            self.grown |= new;
        }
        let weak = self.memory != 0;
        let iteration = &mut self.threads[current].iteration;
        if !(if weak { can_be_idle_weakly(pending) } else { can_be_idle(pending) }) {
            iteration.changed();
            return false;
        }
        let before =
            iteration.passed.iter().any(|(op, object, _)| (*op, *object) == (pending.op, pending.object));
        if !before && self.loops.places.is_empty() {
            self.threads[current].iteration.passed.push((pending.op, pending.object, 0));
            return false;
        }
        self.look_back(pending)
    }

    #[inline(never)]
    fn look_back(mut self, pending: &Pending) -> bool {
        let current = self.current;
        let place = self.place_in_program();
        let passed = (pending.op, pending.object, place);
        let known = self.loops.places.contains(&place);
        let iteration = &mut self.threads[current].iteration;
        if iteration.passed.len() == MOST_OPERATIONS || iteration.visits.len() == MOST_VISITS {
            iteration.forget();
        }
        let again = iteration.passed.contains(&passed);
        iteration.passed.push(passed);
        if !known {
            if again && place != 0 && !self.replays() {
                self.loops.places.push(place);
                self.grown = true;
            }
            return false;
        }
        let start = self.threads[current].iteration.states.len();
        if !self.write_state(pending) {
            return false;
        }
        let iteration = &mut self.threads[current].iteration;
        let state = start..iteration.states.len();
        let same = |visit: &&Visit| {
            visit.place == place
                && visit.taken == iteration.taken.len()
                && iteration.states[visit.state.clone()] == iteration.states[state.clone()]
        };
        if let Some(at) = iteration.visits.iter().position(|visit| same(&visit)) {
            // Should it go on, its next iteration begins here.
            iteration.waits_from = std::mem::replace(&mut iteration.visits[at].seen, iteration.seen.len());
            iteration.came_back = true;
            return true;
        }
        let visit = Visit { place, state, seen: iteration.seen.len(), taken: iteration.taken.len() };
        iteration.visits.push(visit);
        false
    }

    /// Where the program has called this library.
    #[inline(never)]
    pub fn place_in_program(self) -> usize {
        let stack = &self.threads[self.current].stack;
        let mut frame = crate::threads::context::frame_pointer();
        while stack.contains(&frame) && stack.contains(&(frame + 8)) {
            // SAFETY: within the stack of the running thread.
            let (next, address) = unsafe { (*(frame as *const usize), *((frame + 8) as *const usize)) };
            if !self.code.own.contains(&address) {
                return address;
            }
            if next <= frame {
                break;
            }
            frame = next;
        }
        0
    }
}
