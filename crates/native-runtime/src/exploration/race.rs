//! Data races by vector clocks.
//!
//! A data race is a pair of accesses to one byte, one of them a write, not both atomic, that are not ordered by
//! happens-before as C11 defines it: program order, creation and joining, and release/acquire edges of primitives and
//! atomics. The order in which the exploration happens to run unrelated accesses is not part of it.
//!
//! Epochs as in FastTrack (Flanagan, Freund 2009): an access of thread `t` carries the `t`-component of its clock, which
//! `t` increases whenever it releases something; it happens before what thread `u` does now iff `u`'s clock has at least that
//! component. Unlike there, all accesses of a byte that could still be part of a race are kept: per thread and kind of
//! access the last one suffices, and a plain write that comes after an access makes it superfluous.

use crate::exploration::buffered;
use crate::exploration::clock::{Clock, join};
use crate::exploration::world::{NOWHERE, Runtime, World, fail_at, world};
use crate::memory::table::Table;
use crate::protocol::{FailureKind, Place, Stack};

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct How {
    /// Is it changed?
    pub write: bool,
    /// By an atomic operation?
    pub atomic: bool,
}

impl How {
    /// A plain read.
    pub const READ: How = How { write: false, atomic: false };
    /// A plain write.
    pub const WRITE: How = How { write: true, atomic: false };
}

#[derive(Clone, Copy)]
struct Entry {
    next: u32,
    epoch: u32,
    /// Which bytes of the granule.
    bytes: u8,
    thread: u8,
    how: How,
    /// Index of its stack, if they are kept.
    stack: u32,
    /// Was it not made, but would have been by a thread that is exchanged (`symmetry::history`)?
    ghost: bool,
}

/// An access that can still be part of a race.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The epoch of its thread.
    pub epoch: u32,
    /// Which bytes of eight.
    pub bytes: u8,
    /// By whom.
    pub thread: u8,
    /// How.
    pub how: How,
}

/// The accesses of the current execution that can still be part of a race.
pub struct Races {
    /// Per eight bytes: the first entry, plus one.
    granules: Table<u32>,
    entries: Vec<Entry>,
    stacks: Vec<Stack>,
    /// Per eight bytes, in all executions so far: who has accessed them, and who while owing joins.
    touched: Table<(u64, u64)>,
    /// Per eight bytes, in all executions so far: were they accessed plainly, and did somebody rely on that they were not?
    plain: Table<(bool, bool)>,
    /// Per eight bytes, in all executions so far: who has written to them while there were threads, and who relies on that nobody
    /// else does (all bits: somebody relies on that nobody does at all)?
    changed: Table<(u64, u64)>,
    /// Per four bytes, in all executions so far: the locks of every access.
    pub guards: Table<crate::symmetry::guard::Guard>,
    /// Is no lock to be relied on?
    pub guards_distrusted: bool,
    /// How often one of these tables has changed.
    pub learnt: u64,
}

impl Races {
    /// None yet.
    pub fn new() -> Races {
        Races {
            granules: Table::new(),
            entries: Vec::new(),
            stacks: Vec::new(),
            touched: Table::new(),
            plain: Table::new(),
            changed: Table::new(),
            guards: Table::new(),
            guards_distrusted: false,
            learnt: 0,
        }
    }

    /// All accesses that can still be part of a race, with the number of their eight bytes.
    pub fn all(&self) -> impl Iterator<Item = (usize, Access)> + '_ {
        self.granules.iter().flat_map(move |(granule, head)| {
            let mut at = head;
            std::iter::from_fn(move || {
                let entry = self.entries.get((at as usize).checked_sub(1)?)?;
                at = entry.next;
                let Entry { epoch, bytes, thread, how, .. } = *entry;
                Some((granule, Access { epoch, bytes, thread, how }))
            })
        })
    }

    /// Adds an access that was not made.
    pub fn add_ghost(&mut self, granule: usize, access: Access) {
        let head = self.granules.entry(granule);
        let Access { epoch, bytes, thread, how } = access;
        self.entries.push(Entry { next: *head, epoch, bytes, thread, how, stack: 0, ghost: true });
        *head = self.entries.len() as u32;
    }

    /// Have these eight bytes only been accessed by atomic operations so far? Then somebody relies on it.
    pub fn rely_on_atomic(&mut self, granule: usize) -> bool {
        let (plain, relied) = self.plain.entry(granule);
        self.learnt += u64::from(!*plain && !*relied);
        *relied |= !*plain;
        !*plain
    }

    /// Has nobody written to these eight bytes so far while there were threads? Then somebody relies on it.
    pub fn rely_on_unchanged(&mut self, granule: usize) -> bool {
        let (by, relying) = self.changed.entry(granule);
        if *by == 0 {
            self.learnt += u64::from(*relying != u64::MAX);
            *relying = u64::MAX;
        }
        *by == 0
    }

    /// Has nobody else than this thread written to these eight bytes so far while there were threads? Then it relies on it.
    pub fn rely_on_own_changes(&mut self, granule: usize, thread: u8) -> bool {
        let (by, relying) = self.changed.entry(granule);
        let own = *by & !(1 << thread) == 0;
        let before = std::mem::replace(relying, *relying | u64::from(own) << thread);
        self.learnt += u64::from(before != *relying);
        own
    }

    /// Has only this thread accessed these eight bytes so far? Then it relies on it.
    pub fn rely_on_private(&mut self, granule: usize, thread: u8) -> bool {
        let (by, owing) = self.touched.entry(granule);
        let private = *by & !(1 << thread) == 0;
        let before = std::mem::replace(owing, *owing | u64::from(private) << thread);
        self.learnt += u64::from(before != *owing);
        private
    }

    /// Back to the start.
    pub fn restart(&mut self) {
        self.granules.clear();
        self.entries.clear();
        self.stacks.clear();
    }
}

impl World {
    /// Does somebody else access these bytes, in any execution so far? If not, it is remembered that the running thread
    /// relied on that; should it turn out to be wrong, the exploration starts again.
    pub fn is_foreign(&mut self, address: usize, size: usize) -> bool {
        let me = 1u64 << self.current;
        let mut foreign = false;
        for granule in (address >> 3)..=((address + size - 1) >> 3) {
            let (by, owing) = self.races.touched.entry(granule);
            foreign |= *by & !me != 0;
            let new = *owing & me == 0;
            *owing |= me;
            self.races.learnt += u64::from(new);
        }
        foreign
    }

    /// Takes note of who uses which memory, if symmetry is asked for.
    pub fn note_for_symmetry(&mut self, address: usize, size: usize) {
        if self.shared.symmetry != 0 {
            self.note_touch(address, size);
            self.note_use(address, size);
        }
    }

    fn note_touch(&mut self, address: usize, size: usize) {
        let me = 1u64 << self.current;
        for granule in (address >> 3)..=((address + size - 1) >> 3) {
            let (by, owing) = self.races.touched.entry(granule);
            if *by & me == 0 {
                *by |= me;
                self.grown |= *owing & !me != 0;
                self.races.learnt += 1;
            }
        }
    }

    /// Takes note of a write, if symmetry is dynamic.
    fn note_change(&mut self, address: usize, size: usize) {
        let me = 1u64 << self.current;
        for granule in (address >> 3)..=((address + size.max(1) - 1) >> 3) {
            let (by, relying) = self.races.changed.entry(granule);
            let new = *by & me == 0;
            self.grown |= new && *relying & !me != 0;
            *by |= me;
            self.races.learnt += u64::from(new);
        }
    }

    /// Takes note of a plain access, if symmetry is dynamic.
    pub fn note_plain(&mut self, address: usize, size: usize) {
        if self.shared.symmetry != 2 {
            return;
        }
        for granule in (address >> 3)..=((address + size.max(1) - 1) >> 3) {
            let (plain, relied) = self.races.plain.entry(granule);
            let new = !std::mem::replace(plain, true);
            self.grown |= *relied && new;
            self.races.learnt += u64::from(new);
        }
    }

    /// The running thread acquires what `clock` has.
    pub fn acquire(&mut self, clock: &Clock) {
        let me = self.current;
        join(&mut self.threads[me].clock, clock);
    }

    /// The running thread releases: its clock, and a new epoch from here on.
    pub fn release(&mut self) -> Clock {
        let me = self.current;
        let clock = self.threads[me].clock;
        self.threads[me].clock[me] += 1;
        clock
    }

    /// Acquires from a synchronisation object.
    pub fn acquire_object(&mut self, object: u32) {
        join(&mut self.threads[self.current].clock, &self.objects.state(object).clock);
    }

    /// Releases to a synchronisation object: what was released to it before counts as well.
    pub fn release_object(&mut self, object: u32) {
        let me = self.current;
        join(&mut self.objects.state(object).clock, &self.threads[me].clock);
        self.threads[me].clock[me] += 1;
    }
}

impl Runtime {
    /// Takes note of an access of the running thread and looks for a race with an earlier one.
    pub fn note_access(mut self, address: usize, size: usize, how: How) {
        if self.shared.symmetry == 2 || self.loops.notes_changes {
            self.note_guard(address, size);
            if how.write {
                self.note_change(address, size);
            }
        }
        if self.replays() {
            let stack = self.stack_here();
            self.note_with(address, size, how, Some(&stack));
        } else {
            self.note_with(address, size, how, None);
        }
    }

    #[inline]
    fn note_with(self, address: usize, size: usize, how: How, stack: Option<&Stack>) {
        let mut byte = address;
        let end = address + size;
        while byte < end {
            let upto = end.min((byte | 7) + 1);
            let bytes = (((1u16 << (upto - byte)) - 1) << (byte & 7)) as u8;
            self.note_in_granule(byte >> 3, bytes, how, stack);
            byte = upto;
        }
    }

    /// Memory is given back: that conflicts with every access to it. Later accesses are found by the heap, and what nobody has
    /// accessed in this execution conflicts with nothing. Also what is known of all executions is about accesses that
    /// are made in one.
    pub fn note_free(mut self, address: usize, size: usize) {
        buffered::settle();
        if self.shared.symmetry != 0 {
            self.note_use(address, size);
        }
        self.begin_new_life(address, size);
        for granule in self.races.granules.keys((address >> 3)..(address + size).div_ceil(8)) {
            self.note_plain(granule * 8, 8);
            if self.shared.symmetry == 2 || self.loops.notes_changes {
                self.note_guard(granule * 8, 8);
                self.note_change(granule * 8, 8);
            }
            if let Some(head) = self.races.granules.get(granule).filter(|head| *head != 0) {
                self.check(granule, head, 0xff, How::WRITE);
            }
            // Whoever accesses it now is told by the heap.
            *self.races.granules.entry(granule) = 0;
        }
    }

    #[inline]
    fn note_in_granule(mut self, granule: usize, bytes: u8, how: How, stack: Option<&Stack>) {
        let thread = self.current as u8;
        let clock = &self.threads[self.current].clock;
        let epoch = clock[self.current];
        let slot = &raw mut *self.races.granules.entry(granule);
        // SAFETY: nothing is put into the table before the end of this function.
        let head = unsafe { *slot };
        if head != 0 {
            let first = &self.races.entries[head as usize - 1];
            // Most accesses repeat the last one.
            if first.thread == thread
                && first.how == how
                && first.epoch == epoch
                && first.bytes == bytes
                && !first.ghost
                && stack.is_none()
            {
                return;
            }
            // In a run that is repeated everything was checked when it was made.
            if !self.script.is_running() {
                self.check(granule, head, bytes, how);
            }
        }
        let stack = stack.map_or(0, |stack| {
            self.races.stacks.push(*stack);
            self.races.stacks.len() as u32 - 1
        });
        let entry = Entry { next: 0, epoch, bytes, thread, how, stack, ghost: false };
        let w = &mut *self;
        let (races, clock) = (&mut w.races, &w.threads[w.current].clock);
        // Entries that are no longer needed: each would race only with what the new one races with as well. The first one's
        // place is taken, the others are taken out, so that lists stay short where locks are used.
        let (mut at, mut last, mut placed) = (head, 0u32, false);
        while at != 0 {
            let old = &mut races.entries[at as usize - 1];
            let next = old.next;
            let superfluous = old.bytes & !bytes == 0
                && ((old.thread == thread && old.how == how)
                    || (how.write
                        && (!how.atomic || old.how.atomic)
                        && old.epoch <= clock[old.thread as usize]));
            if !superfluous {
                last = at;
            } else if !placed {
                *old = Entry { next, ..entry };
                (placed, last) = (true, at);
            } else {
                races.entries[last as usize - 1].next = next;
            }
            at = next;
        }
        if !placed {
            races.entries.push(Entry { next: head, ..entry });
            // SAFETY: as above.
            unsafe { *slot = races.entries.len() as u32 };
        }
    }

    fn check(mut self, granule: usize, head: u32, bytes: u8, how: How) {
        let mut at = head;
        while at != 0 {
            let old = self.races.entries[at as usize - 1];
            let conflict = old.bytes & bytes != 0
                && old.thread as usize != self.current
                && (how.write || old.how.write)
                && !(how.atomic && old.how.atomic);
            if conflict && old.epoch > self.threads[self.current].clock[old.thread as usize] {
                if old.ghost {
                    self.ghost_met(granule);
                } else {
                    self.found(granule, bytes, how, old);
                }
            }
            at = old.next;
        }
    }

    #[cold]
    fn found(mut self, granule: usize, bytes: u8, how: How, old: Entry) {
        let range = |bytes: u8| {
            let first = bytes.trailing_zeros() as usize;
            (granule * 8 + first, 8 - bytes.leading_zeros() as usize - first)
        };
        let (address, size) = range(bytes);
        if self.shared.allow_races != 0 {
            let (old_address, old_size) = range(old.bytes);
            let new =
                self.objects.make_visible(address, size) | self.objects.make_visible(old_address, old_size);
            self.grown |= new;
            return;
        }
        let (old_address, old_size) = range(old.bytes);
        let there = Place {
            thread: old.thread,
            write: old.how.write as u8,
            atomic: old.how.atomic as u8,
            size: old_size as u8,
            address: old_address as u64,
            stack: self.races.stacks.get(old.stack as usize).copied().unwrap_or(NOWHERE.stack),
            ..NOWHERE
        };
        let here = Place {
            thread: self.current as u8,
            write: how.write as u8,
            atomic: how.atomic as u8,
            size: size as u8,
            address: address as u64,
            stack: self.stack_here(),
            ..NOWHERE
        };
        fail_at(FailureKind::Race, "two accesses that nothing orders, one of them a write", here, there);
    }
}

/// A plain access by the running thread, told by a hook before it happens.
#[inline]
pub fn access(address: usize, size: usize, how: How) {
    buffered::settle();
    access_within(address, size, how);
}

/// A read and a write of the same bytes, told together before they happen.
#[inline]
pub fn update(address: usize, size: usize) {
    access(address, size, How::READ);
    access_within(address, size, How::WRITE);
}

/// Part of an access that is not over yet.
#[inline]
fn access_within(address: usize, size: usize, how: How) {
    let mut w = world();
    w.shared.filtered += 1;
    if w.is_polling_looked_at() && w.look_at_polling(address, size, how) {
        w.abandon();
    }
    w.check_address(address, size, how.write);
    if how.write
        && let Some(owner) = crate::threads::stack::owner(address)
    {
        crate::threads::stack::note_write(&mut w, owner, address, size);
    }
    if w.threaded {
        shared_access(address, size, how);
    }
    if !how.write {
        world().check_value(address, size);
    }
    crate::exploration::world::quiet();
}

fn shared_access(address: usize, size: usize, how: How) {
    let mut w = world();
    if w.shared.symmetry != 0 && size > 0 {
        let owed = w.me().owed;
        if owed != 0 && w.is_foreign(address, size) {
            crate::threads::thread::settle(owed);
        }
        world().note_for_symmetry(address, size);
        world().note_plain(address, size);
    }
    let mut w = world();
    let races = w.objects.has_racing() && w.objects.range_races(address, size);
    if races {
        crate::instrumentation::atomics::racing_access(address, size, how);
    } else if w.threads[w.current].iteration.is_open() {
        w.note_plain_in_iteration(address, size, how.write);
    }
    let mut w = world();
    w.note_access(address, size, how);
    if how.write && !(races && buffered::is_buffered()) {
        w.begin_new_life(address, size);
    }
    // What is read now was there when the thread stopped before this access, if it did.
    w.note_stale(address, size, how.write);
    w.note_errno(address, how.write);
}
