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
//! A thread that ever asks for its identity or creates threads is not exchanged. Whatever else is not understood answers
//! "no", and the report says why. What cannot be noticed: a program that orders or hashes addresses.

use crate::exploration::world::{Status, World};
use crate::memory::heap;
use crate::protocol::{OUTS, Op, THREADS, why};
use crate::symmetry::frames::Frame;

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
            (t.detached, t.joined, t.cancelled, t.uncancellable, t.c11, t.owed)
        };
        no(x.signals.mask != y.signals.mask || !x.local_destructors.is_empty(), why::UNKNOWN)?;
        no(!y.local_destructors.is_empty(), why::UNKNOWN)?;
        no(flags(x) != flags(y) || x.children != 0 || y.children != 0, why::JOIN)?;
        no(!x.cleanup.is_empty() || !y.cleanup.is_empty() || !self.keys.is_empty(), why::UNKNOWN)?;
        no(self.mappings.in_use(), why::UNKNOWN)?;
        no(!x.frames.complete || !y.frames.complete, why::UNKNOWN)?;
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
    fn owner_of(&self, address: usize) -> Option<usize> {
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
            needed = live_registers(pairing, needed);
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
        for k in 0..x.len() {
            let pairing = self.pairing(x[k].place, y[k].place).cloned().ok_or(why::CODE)?;
            let reasons = 1 | needs[k] << 1;
            for piece in pairing.pieces.iter().filter(|p| p.needs & reasons != 0) {
                let from = x[k].pointer.wrapping_add_signed(piece.first as isize);
                let to = y[k].pointer.wrapping_add_signed(piece.second as isize);
                if !self.same_memory(from, to, piece.length as usize, a, b) {
                    return Err(why::LOCALS);
                }
            }
            let live = live_registers(&pairing, needs[k]);
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
    fn locals_correspond(&self, a: usize, b: usize) -> bool {
        let (x, y) = (self.threads[a].fs, self.threads[b].fs);
        self.local_ranges.iter().all(|(below, size)| self.same_memory(x - below, y - below, *size, a, b))
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
            to[0] |= self.references_in(range, None);
        }
        for thread in 0..THREADS {
            // A very large heap is not looked through.
            let used = self.heap.used(thread);
            to[1] |= if used.len() < 1 << 24 { self.references_in(used, Some(thread)) } else { u64::MAX };
            if self.threads[thread].lives() {
                to[2] |= self.references_of(thread);
            }
        }
        self.references = References { at, to };
        to
    }

    fn references_in(&self, range: std::ops::Range<usize>, by: Option<usize>) -> u64 {
        let words = (range.start.next_multiple_of(8)..range.end.saturating_sub(7)).step_by(8);
        let mut to = 0;
        for address in words {
            let word = read(address);
            if (LOW..HIGH).contains(&word)
                && let Some(owner) = self.owner_of(word).filter(|o| Some(*o) != by)
            {
                to |= 1 << owner;
            }
        }
        to
    }

    /// Threads that a thread refers to in its live locals, registers and operands; if its code is not understood, in all of
    /// its stack.
    fn references_of(&mut self, thread: usize) -> u64 {
        let frames = self.threads[thread].frames.frames.clone();
        let needs = if self.threads[thread].frames.complete { self.needs(&frames, &frames) } else { None };
        let mut to = 0;
        let mut note = |w: &World, value: usize| {
            if let Some(owner) = w.owner_of(value).filter(|o| *o != thread) {
                to |= 1u64 << owner;
            }
        };
        for value in self.threads[thread].operands {
            note(self, value);
        }
        let Some(needs) = needs else {
            let t = &self.threads[thread];
            let all = t.sp.max(t.stack.start)..t.top.min(t.stack.end);
            return to | self.references_in(all, Some(thread));
        };
        for k in 0..frames.len() {
            let Some(pairing) = self.pairing(frames[k].place, frames[k].place).cloned() else {
                return u64::MAX;
            };
            for piece in pairing.pieces.iter().filter(|p| p.needs & (1 | needs[k] << 1) != 0) {
                let start = frames[k].pointer.wrapping_add_signed(piece.first as isize);
                let end = start + piece.length as usize;
                // A word of which only a part is live is not a pointer; every word that is touched counts all the same.
                for address in ((start & !7)..end).step_by(8) {
                    note(self, read(address));
                }
            }
            let live = live_registers(&pairing, needs[k]);
            for r in (1..OUTS).filter(|r| live >> r & 1 != 0) {
                note(self, frames[k].registers[r - 1]);
            }
        }
        to
    }

    /// Takes note of threads that were found to be symmetric, for the report.
    pub fn note_class(&mut self, threads: u64) {
        for class in &mut self.shared.classes {
            if *class == 0 || *class & threads != 0 {
                *class |= threads;
                return;
            }
        }
    }

    /// These threads cannot be exchanged now; if they are the same, with nobody.
    pub fn note_unlike(&mut self, a: usize, b: usize, reason: u16) {
        self.shared.unlike[a.min(b)][a.max(b)] |= reason;
    }
}

/// The registers that are live in a frame whose caller needs these.
fn live_registers(pairing: &crate::symmetry::question::Pairing, needed: u8) -> u8 {
    let reasons = (0..OUTS).filter(|r| needed >> r & 1 != 0);
    reasons.fold(pairing.registers[0], |live, r| live | pairing.registers[r + 1])
}

/// Is one of the two in the set, and the other not?
fn differ(set: u64, a: usize, b: usize) -> bool {
    set >> a & 1 != set >> b & 1
}

impl World {
    /// Are the accesses of `a` and `b` that could still be part of a data race mirror images: is there, for each of one, one of
    /// the other to the same bytes in the same way, that happens before the same things? And does what others did happen
    /// before both or none?
    ///
    /// Epochs that do not belong to an access do not matter: later accesses have later epochs, which nobody has seen. Memory
    /// that has only ever been accessed by atomic operations, by one thread, or under one lock ([`crate::symmetry::guard`]), cannot be part of
    /// a race; should that turn out to be wrong, the exploration starts again.
    fn accesses_mirrored(&mut self, a: usize, b: usize) -> bool {
        let mut of: [Vec<(usize, u8, crate::exploration::race::How, u32)>; 2] = Default::default();
        let all: Vec<(usize, crate::exploration::race::Access)> = self.races.all().collect();
        for (granule, access) in all {
            if access.how.atomic && self.races.rely_on_atomic(granule)
                || self.races.rely_on_private(granule, access.thread)
                || self.rely_on_guard(granule)
            {
                continue;
            }
            let (x, y) = (&self.threads[a], &self.threads[b]);
            let owner = self.owner_of(granule * 8);
            let thread = access.thread as usize;
            if owner == Some(a) || owner == Some(b) {
                // Nobody else has a pointer to it. What others did there must be over for its owner.
                let owner = owner.unwrap_or(a);
                if thread != owner && access.epoch > self.threads[owner].clock[thread] {
                    return false;
                }
            } else if thread == a || thread == b {
                of[usize::from(thread == b)].push((granule, access.bytes, access.how, access.epoch));
            } else {
                let clocks = [(&x.clock, &y.clock), (&x.acquired, &y.acquired), (&x.fence, &y.fence)];
                let before = |clock: &crate::exploration::clock::Clock| access.epoch <= clock[thread];
                if clocks.iter().any(|(c, d)| before(c) != before(d)) {
                    return false;
                }
            }
        }
        let [of_a, mut of_b] = of;
        if of_a.len() != of_b.len() {
            return false;
        }
        for (granule, bytes, how, epoch) in of_a {
            let same = |other: &(usize, u8, crate::exploration::race::How, u32)| {
                (other.0, other.1, other.2) == (granule, bytes, how)
                    && self.ordered_alike(a, epoch, b, other.3)
            };
            let Some(found) = of_b.iter().position(same) else { return false };
            of_b.swap_remove(found);
        }
        true
    }

    /// Does the access of `a` in epoch `e` happen before the same things as that of `b` in epoch `f`, mirrored?
    fn ordered_alike(&self, a: usize, e: u32, b: usize, f: u32) -> bool {
        let alike = |clock: &crate::exploration::clock::Clock| (e <= clock[a]) == (f <= clock[b]);
        let threads = self.threads.iter().enumerate().filter(|(t, _)| *t != a && *t != b);
        let (x, y) = (&self.threads[a], &self.threads[b]);
        threads.into_iter().all(|(_, t)| alike(&t.clock) && alike(&t.acquired) && alike(&t.fence))
            && self.objects.in_use().all(|o| alike(&o.clock) && alike(&o.readers_clock))
            && (e <= y.clock[a]) == (f <= x.clock[b])
            && (e <= y.acquired[a]) == (f <= x.acquired[b])
            && (e <= y.fence[a]) == (f <= x.fence[b])
            && (e <= x.acquired[a]) == (f <= y.acquired[b])
            && (e <= x.fence[a]) == (f <= y.fence[b])
    }
}
