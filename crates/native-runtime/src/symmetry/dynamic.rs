//! Threads that can be exchanged now, whatever they did before (symmetry class B).
//!
//! After Yang, Chen, Gopalakrishnan and Wang (2009): same residual code up to renaming, and equal live locals. That looks
//! at the two threads alone; here exchanging them must map the *whole* state to itself:
//!
//! - their pending operations are the same, on the same object, with the same operands;
//! - their frames pair up: residual code equal up to a renaming of bytes of the frames (asked of the checker, [`crate::symmetry::question`]),
//!   and live bytes and registers equal, where a pointer into one's own stack or heap corresponds to the one into the
//!   other's;
//! - what they have allocated, and their thread-local variables, are equal in the same sense;
//! - nobody else has a pointer to their stacks or heaps, or a handle of theirs, in memory that is live;
//! - no lock is held by one of them, no queue contains one, and sets of threads contain both or none;
//! - the accesses that data races are looked for with are mirrored: who will find a race with one of them would find one with
//!   the other.
//!
//! A thread that ever uses its identity ([`crate::symmetry::own_handle`]) or creates threads is not exchanged. Whatever else is not understood answers
//! "no", and the report says why. What cannot be noticed: a program that orders or hashes addresses.

use crate::exploration::world::{Status, World};
use crate::memory::heap;
use crate::protocol::{OUTS, Op, THREADS, THROUGH_POINTER, why};
use crate::symmetry::frames::Frame;
use crate::symmetry::kept_handle::RETURNED;
use crate::symmetry::stale::chain;

/// Operations whose whole effect is given by the object, the operands and the function called.
const KNOWN: [Op; 21] = [
    Op::Load,
    Op::Store,
    Op::Update,
    Op::CompareAndSwap,
    Op::Lock,
    Op::TryLock,
    Op::Unlock,
    Op::ReadLock,
    Op::TryReadLock,
    Op::WriteLock,
    Op::TryWriteLock,
    Op::LockRelease,
    Op::Wait,
    Op::Reacquire,
    Op::Signal,
    Op::Broadcast,
    Op::SemaphoreWait,
    Op::SemaphorePost,
    Op::Barrier,
    Op::Yield,
    Op::AtomicBegin,
];

/// Where stacks and heaps of threads lie: everything between these addresses belongs to some thread.
const LOW: usize = heap::BASE;
const HIGH: usize = 0x5900_0000_0000;

/// Who has references to whom, in the current state.
#[derive(Default)]
pub struct References {
    /// The execution and step this is about.
    at: (u64, usize),
    /// Threads that a global refers to, a heap block of somebody else, live locals of somebody else.
    to: [u64; 3],
}

fn read(address: usize) -> usize {
    // SAFETY: called for memory of the program that is mapped: stacks, heaps, data.
    unsafe { (address as *const usize).read_unaligned() }
}

fn byte(address: usize) -> u8 {
    // SAFETY: as above.
    unsafe { *(address as *const u8) }
}

impl World {
    /// Does exchanging these threads map the current state to itself?
    pub fn dynamically_symmetric(&mut self, a: usize, b: usize) -> bool {
        match self.exchangeable(a, b) {
            Ok(()) => {
                self.note_class(1 << a | 1 << b);
                true
            }
            Err(reason) => {
                self.note_unlike(a, b, reason);
                false
            }
        }
    }

    fn exchangeable(&mut self, a: usize, b: usize) -> Result<(), u16> {
        let no = |condition: bool, reason: u16| if condition { Err(reason) } else { Ok(()) };
        no(a == 0 || b == 0, 0)?;
        no((self.identified >> a | self.identified >> b) & 1 != 0, why::IDENTITY)?;
        let (x, y) = (&self.threads[a], &self.threads[b]);
        let settled = matches!(x.status, Status::Ready | Status::Reacquiring { .. } | Status::Released);
        no(!settled || x.status != y.status, why::CODE)?;
        let (p, q) = (&x.pending, &y.pending);
        let operation =
            |p: &crate::exploration::world::Pending| (p.op, p.size, p.choices, p.object, p.other, p.need);
        no(operation(p) != operation(q) || p.set != 0 || q.set != 0, why::CODE)?;
        no(!KNOWN.contains(&p.op), why::UNKNOWN)?;
        let flags = |t: &crate::exploration::world::Thread| {
            (t.detached, t.joined, t.cancelled, t.uncancellable, t.asynchronous, t.c11, t.owed)
        };
        no(x.signals.mask != y.signals.mask || !x.local_destructors.is_empty(), why::UNKNOWN)?;
        no(!y.local_destructors.is_empty(), why::UNKNOWN)?;
        no(flags(x) != flags(y) || x.children != 0 || y.children != 0, why::JOIN)?;
        no(!x.cleanup.is_empty() || !y.cleanup.is_empty() || !self.keys.is_empty(), why::UNKNOWN)?;
        no(self.mappings.in_use(), why::UNKNOWN)?;
        no(self.external.has_open(a) || self.external.has_open(b), why::UNKNOWN)?;
        no(!x.frames.complete || !y.frames.complete, why::UNKNOWN)?;
        // Who is in the middle of a loop that waits may stay earlier than who has just come there.
        no(!x.iteration.has_just_begun() || !y.iteration.has_just_begun(), why::CODE)?;
        no(x.frames.entry != y.frames.entry || x.frames.frames.len() != y.frames.frames.len(), why::CODE)?;
        no(!self.objects_invariant(a, b), why::OBJECTS)?;
        no(self.threads.iter().any(|t| differ(t.pending.set, a, b) || differ(t.owed, a, b)), why::JOIN)?;
        self.frames_correspond(a, b)?;
        no(!self.heaps_correspond(a, b), why::HEAP)?;
        no(!self.locals_correspond(a, b), why::THREAD_LOCAL)?;
        let referenced = self.referenced().map(|to| to & (1 << a | 1 << b) != 0);
        no(referenced[0], why::REFERENCE_GLOBAL)?;
        no(referenced[1], why::REFERENCE_HEAP)?;
        no(referenced[2], why::REFERENCE)?;
        no(!self.accesses_mirrored(a, b), why::HISTORY)
    }

    fn objects_invariant(&self, a: usize, b: usize) -> bool {
        let (x, y) = (a as u8, b as u8);
        self.objects.in_use().all(|o| {
            o.owner != x
                && o.owner != y
                && !differ(o.set, a, b)
                && !o.waiters.contains(&x)
                && !o.waiters.contains(&y)
        })
    }

    /// The thread that an address belongs to.
    pub fn owner_of(&self, address: usize) -> Option<usize> {
        if !(LOW..HIGH).contains(&address) {
            return None;
        }
        if heap::contains(address) {
            // Before the first execution, blocks came from the first arena: they belong to nobody.
            let arena = (address - heap::BASE) / heap::ARENA;
            return (1..THREADS).contains(&arena).then_some(arena);
        }
        let thread = self.threads.iter().position(|t| t.stack.contains(&address))?;
        // Above the part that is used for frames lies the control block, which the C library refers to; its own address is the
        // handle.
        let t = &self.threads[thread];
        (address < t.top || address == t.handle).then_some(thread)
    }

    /// The value that `b` has where `a` has `value`, if there can be one. Frames that correspond byte by byte are needed for
    /// pointers into the stack.
    fn translated(&self, value: usize, a: usize, b: usize) -> Option<usize> {
        let (x, y) = (&self.threads[a], &self.threads[b]);
        if value == x.handle && self.own_handles.is_out(a) {
            return self.own_handles.is_out(b).then_some(y.handle);
        }
        if (x.top..x.stack.end).contains(&value) && value != x.handle {
            // The control block and thread-local variables.
            return Some(value.wrapping_sub(x.fs).wrapping_add(y.fs));
        }
        match self.owner_of(value) {
            Some(owner) if owner == a => {
                if heap::contains(value) {
                    return Some(value - a * heap::ARENA + b * heap::ARENA);
                }
                let (x, y) = (&self.threads[a].frames.frames, &self.threads[b].frames.frames);
                let k = x.iter().position(|f| value < f.pointer + 16)?;
                (value != self.threads[a].handle && self.exact >> k & 1 != 0)
                    .then(|| value.wrapping_sub(x[k].pointer).wrapping_add(y[k].pointer))
            }
            Some(owner) if owner == b => None,
            _ => Some(value),
        }
    }

    /// What the frames' callers need, outermost first: bits of [`crate::protocol::OUTS`].
    fn needs(&mut self, frames: &[Frame], others: &[Frame]) -> Option<Vec<u8>> {
        // The result of a thread's routine may be asked for.
        let mut needed = 1u8;
        let mut all = vec![0; frames.len()];
        for k in (0..frames.len()).rev() {
            all[k] = needed;
            let pairing = self.pairing(frames[k].place, others[k].place)?;
            needed = pairing.live_registers(needed);
        }
        Some(all)
    }

    fn frames_correspond(&mut self, a: usize, b: usize) -> Result<(), u16> {
        let (x, y) = (self.threads[a].frames.frames.clone(), self.threads[b].frames.frames.clone());
        let needs = self.needs(&x, &y).ok_or(why::CODE)?;
        self.exact = 0;
        for k in 0..x.len() {
            let pairing = self.pairing(x[k].place, y[k].place).ok_or(why::CODE)?;
            if pairing.pieces.iter().all(|p| p.first == p.second) {
                self.exact |= 1 << k;
            }
        }
        let mut chains = (0, 0);
        for k in 0..x.len() {
            chains = (chain(chains.0, x[k].place), chain(chains.1, y[k].place));
            let pairing = self.pairing(x[k].place, y[k].place).cloned().ok_or(why::CODE)?;
            let reasons = 1 | needs[k] << 1;
            for piece in pairing.pieces.iter().filter(|p| p.needs & (reasons | THROUGH_POINTER) != 0) {
                let from = x[k].pointer.wrapping_add_signed(piece.first as isize);
                let to = y[k].pointer.wrapping_add_signed(piece.second as isize);
                let length = piece.length as usize;
                if self.same_memory(from, to, length, a, b) {
                    continue;
                }
                let stale = piece.needs & reasons == 0
                    && self.stale.rely(chains.0, x[k].pointer, from, length)
                    && self.stale.rely(chains.1, y[k].pointer, to, length);
                if !stale {
                    let at = (0..length).find(|k| byte(from + k) != byte(to + k)).unwrap_or(0);
                    let offset = (piece.first as isize).wrapping_add_unsigned(at) as usize;
                    self.note_difference(why::LOCALS, offset, x[k].place);
                    return Err(why::LOCALS);
                }
            }
            let live = pairing.live_registers(needs[k]);
            // The first of them is the result of what was called, which is not there yet.
            for r in (1..OUTS).filter(|r| live >> r & 1 != 0) {
                if self.translated(x[k].registers[r - 1], a, b) != Some(y[k].registers[r - 1]) {
                    return Err(why::LOCALS);
                }
            }
        }
        let (p, q) = (self.threads[a].operands, self.threads[b].operands);
        let same = p.iter().zip(&q).all(|(p, q)| self.translated(*p, a, b) == Some(*q));
        if same { Ok(()) } else { Err(why::LOCALS) }
    }

    /// Is memory the same, where pointers to one's own correspond?
    fn same_memory(&self, from: usize, to: usize, length: usize, a: usize, b: usize) -> bool {
        let mut k = 0;
        while k < length {
            let word = (from + k).is_multiple_of(8) && (to + k).is_multiple_of(8) && k + 8 <= length;
            if word && self.translated(read(from + k), a, b) == Some(read(to + k)) {
                k += 8;
                continue;
            }
            if byte(from + k) != byte(to + k) || (word && self.owner_of(read(from + k)).is_some()) {
                return false;
            }
            k += 1;
        }
        true
    }

    fn heaps_correspond(&self, a: usize, b: usize) -> bool {
        let (x, y) = (self.heap.used(a), self.heap.used(b));
        x.len() == y.len() && self.same_memory(x.start, y.start, x.len(), a, b)
    }

    /// Thread-local variables of the program and of its libraries.
    fn locals_correspond(&mut self, a: usize, b: usize) -> bool {
        self.learnt += u64::from(!self.errno_read && !self.errno_relied_on);
        self.errno_relied_on |= !self.errno_read;
        let (x, y) = (self.threads[a].fs, self.threads[b].fs);
        self.local_ranges.iter().all(|(below, size)| {
            let same = |from: usize, upto: usize| {
                from >= upto || self.same_memory(x - below + from, y - below + from, upto - from, a, b)
            };
            // `errno` does not count until the program reads it.
            let errno = below.wrapping_sub(self.errno_below);
            if self.errno_read || errno >= *size {
                return same(0, *size);
            }
            same(0, errno) && same(errno + 4, *size)
        })
    }

    /// Threads whose handle, stack or heap somebody else refers to, in live memory.
    fn referenced(&mut self) -> [u64; 3] {
        let at = (self.restarts_made, self.shared.schedule_length as usize);
        if self.references.at == at {
            return self.references.to;
        }
        let mut to = [0; 3];
        let ranges: Vec<std::ops::Range<usize>> =
            self.snapshot.iter().flat_map(crate::memory::snapshot::Snapshot::ranges).collect();
        for range in ranges {
            let (found, at) = self.references_in(range, None, true);
            if found & !to[0] != 0 {
                self.note_difference(why::REFERENCE_GLOBAL, at, 0);
            }
            to[0] |= found;
        }
        for thread in 0..THREADS {
            // A very large heap is not looked through.
            let used = self.heap.used(thread);
            to[1] |=
                if used.len() < 1 << 24 { self.references_in(used, Some(thread), true).0 } else { u64::MAX };
            if self.threads[thread].lives() {
                to[2] |= self.references_of(thread);
            }
        }
        self.references = References { at, to };
        to
    }

    /// The threads that words of a range refer to, other than `by`, and where the last of these is. If the range is `announced`, whatever reads it
    /// is announced, and handles that are never read do not count ([`crate::symmetry::own_handle`]).
    fn references_in(
        &mut self,
        range: std::ops::Range<usize>,
        by: Option<usize>,
        announced: bool,
    ) -> (u64, usize) {
        let words = (range.start.next_multiple_of(8)..range.end.saturating_sub(7)).step_by(8);
        let (mut to, mut at) = (0, 0);
        for address in words {
            let word = read(address);
            if (LOW..HIGH).contains(&word)
                && let Some(owner) = self.owner_of(word).filter(|o| Some(*o) != by)
                && !(announced && self.is_never_read(address, word, owner))
                && !(announced && self.handled(word) == Some(owner) && self.kept_handles.rely(address))
            {
                (to, at) = (to | 1 << owner, address);
            }
        }
        (to, at)
    }

    /// Threads that a thread refers to in its live locals, registers and operands; if its code is not understood, in all of
    /// its stack.
    fn references_of(&mut self, thread: usize) -> u64 {
        let frames = self.threads[thread].frames.frames.clone();
        let mut to = 0;
        for value in self.threads[thread].operands {
            to |= self.reference(value, thread);
        }
        let t = &self.threads[thread];
        let (low, top) = (t.sp.max(t.stack.start), t.top.min(t.stack.end));
        if frames.first().is_some_and(|frame| frame.place == RETURNED) {
            // Only others who have been given pointers to it still look at it.
            return self.references_left(frames[0]);
        }
        if !t.frames.complete || frames.is_empty() {
            return to | self.references_in(low..top, Some(thread), false).0;
        }
        let chains: Vec<usize> = frames
            .iter()
            .scan(0, |called, frame| {
                *called = chain(*called, frame.place);
                Some(*called)
            })
            .collect();
        // The result of a thread's routine may be asked for.
        let mut needed = 1u8;
        for k in (0..frames.len()).rev() {
            let frame = frames[k];
            let Some(pairing) = self.pairing(frame.place, frame.place).cloned() else {
                // A frame of a library, or one that is not understood: everything in it counts, and it may need anything of
                // what it has called.
                let end = frames.get(k + 1).map_or(top, |outer| outer.low).clamp(low, top);
                to |= self.references_in(frame.low.clamp(low, end)..end, Some(thread), false).0;
                frame.registers.iter().for_each(|value| to |= self.reference(*value, thread));
                needed = (1 << OUTS) - 1;
                continue;
            };
            let reasons = 1 | needed << 1;
            for piece in pairing.pieces.iter().filter(|p| p.needs & (reasons | THROUGH_POINTER) != 0) {
                let start = frame.pointer.wrapping_add_signed(piece.first as isize);
                let length = piece.length as usize;
                // A word of which only a part is live is not a pointer; every word that is touched counts all the same.
                let found = ((start & !7)..start + length)
                    .step_by(8)
                    .fold(0, |found, address| found | self.reference(read(address), thread));
                let stale = found & !to != 0
                    && piece.needs & reasons == 0
                    && self.stale.rely(chains[k], frame.pointer, start, length);
                if found & !to != 0 && !stale {
                    self.note_difference(why::REFERENCE, piece.first as isize as usize, frame.place);
                }
                to |= if stale { 0 } else { found };
            }
            let live = pairing.live_registers(needed);
            for r in (1..OUTS).filter(|r| live >> r & 1 != 0) {
                to |= self.reference(frame.registers[r - 1], thread);
            }
            needed = live;
        }
        to
    }

    /// Threads that what lies in the stack of the main thread refers to, after `main` has returned.
    fn references_left(&mut self, frame: Frame) -> u64 {
        let (mut to, chain) = (0, chain(0, frame.place));
        for address in (frame.low.next_multiple_of(8)..frame.pointer).step_by(8) {
            let found = self.reference(read(address), 0);
            if found & !to != 0 && !self.stale.rely(chain, frame.pointer, address, 8) {
                self.note_difference(why::REFERENCE, address, 0);
                to |= found;
            }
        }
        to
    }

    /// The thread that a value of `thread` refers to, as a set, if it is another one.
    fn reference(&self, value: usize, thread: usize) -> u64 {
        self.owner_of(value).filter(|owner| *owner != thread).map_or(0, |owner| 1 << owner)
    }

    /// Takes note of threads that were found to be symmetric, for the report.
    pub fn note_class(&mut self, threads: u64) {
        for class in &mut self.shared.classes {
            if *class == 0 || *class & threads != 0 {
                self.learnt += u64::from(*class | threads != *class);
                *class |= threads;
                return;
            }
        }
    }

    /// Takes note of an example of a reason: an address, or a place and an offset from its frame pointer.
    pub fn note_difference(&mut self, reason: u16, what: usize, place: usize) {
        let differences = &mut self.shared.differences;
        differences[reason.trailing_zeros() as usize] =
            crate::protocol::Difference { what: what as i64, place: place as u64 };
    }

    /// These threads cannot be exchanged now; if they are the same, with nobody.
    pub fn note_unlike(&mut self, a: usize, b: usize, reason: u16) {
        self.shared.unlike[a.min(b)][a.max(b)] |= reason;
    }
}

/// Is one of the two in the set, and the other not?
fn differ(set: u64, a: usize, b: usize) -> bool {
    set >> a & 1 != set >> b & 1
}
