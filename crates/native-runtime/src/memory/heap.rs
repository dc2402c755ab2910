//! The program's heap.
//!
//! Every thread has an arena at a fixed address, from which it takes one block after the other. Where a block lies depends
//! only on what its thread did, so allocations of different threads commute, and addresses mean the same in all equivalent
//! executions. Nothing is used twice within an execution: a number per 16 bytes (a *granule*) says how many of them are
//! allocated, and every access through a hook is looked up there, which finds uses after free and accesses outside of
//! blocks, to the byte. Blocks begin at granules, and between two of them there is at least one granule that belongs to
//! nobody, so a range is within one block iff all its granules but the last are full and the last has enough.
//!
//! The first bytes of a block that `malloc` gives have a pattern that nothing else has, so that a primitive that was never
//! initialised can be told from one that was (`lifecycle`). Read as a pointer, it points nowhere.
//!
//! An allocation must happen before every use of its block by another thread: a pointer that was passed on by a relaxed
//! store may be seen by a thread for which there is no block yet. The epochs of a thread's allocations grow with their
//! addresses, so a few numbers per arena tell the epoch of every block.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::exploration::world::{NOWHERE, Runtime, World, active, controlled, fail, fail_at, running, world};
use crate::memory::region;
use crate::memory::unwritten::PATTERN;
use crate::protocol::{FailureKind, Place, Role, THREADS};
use crate::system::system_call::{map_fixed, number, system_call};

/// Where the arenas lie.
pub const BASE: usize = 0x5000_0000_0000;
/// Size of an arena.
pub const ARENA: usize = 1 << 32;
/// Where the numbers of allocated bytes lie.
const SIZES: usize = 0x5400_0000_0000;
/// Bytes that have one number.
const GRANULE: usize = 16;
/// Largest block.
const LARGEST: usize = 1 << 30;
const LIVE: usize = 0x1d1e_a11c_0de0_0001;
const FREED: usize = 0x1d1e_a11c_0de0_0002;
/// So many bytes of a block have the pattern of memory that nobody has written to.
const FILLED: usize = 4096;

/// Where the next block goes that no thread of the program asks for: the first arena before anything else exists, then the
/// last one.
static EARLY_TOP: AtomicUsize = AtomicUsize::new(0);

/// The arenas.
pub struct Heap {
    /// First free address of each arena.
    tops: [usize; THREADS],
    /// The same at the start of every execution.
    start: [usize; THREADS],
    /// End of what was allocated before the first execution.
    early: usize,
    /// Blocks given out in this execution and not freed.
    pub live: i64,
    /// Of each arena: the epoch of its thread at the last allocation.
    latest: [u32; THREADS],
    /// Of each arena: addresses from which on blocks were allocated in which epoch, in increasing order.
    epochs: [Vec<(usize, u32)>; THREADS],
    /// In a run that is repeated: where blocks were allocated, and given back, in this order.
    places: Vec<(usize, Place)>,
}

fn prepare() {
    if EARLY_TOP.load(Relaxed) == 0 {
        map_fixed(BASE, ARENA * (THREADS + 1));
        map_fixed(SIZES, ARENA * (THREADS + 1) / GRANULE);
        EARLY_TOP.store(BASE, Relaxed);
    }
}

/// How many bytes are allocated of the granule of `address`.
#[inline]
fn allocated(address: usize) -> *mut u8 {
    (SIZES + (address - BASE) / GRANULE) as *mut u8
}

/// The bytes from `block` on are allocated.
fn set_allocated(block: usize, size: usize) {
    // SAFETY: within the mapped numbers, since the block is within the arenas.
    unsafe {
        allocated(block).write_bytes(GRANULE as u8, size / GRANULE);
        if !size.is_multiple_of(GRANULE) {
            *allocated(block + size) = (size % GRANULE) as u8;
        }
    }
}

/// They are not.
fn set_free(start: usize, size: usize) {
    // SAFETY: as above.
    unsafe { allocated(start).write_bytes(0, size.div_ceil(GRANULE)) };
}

/// Are these bytes part of one block?
#[inline]
fn is_allocated(address: usize, size: usize) -> bool {
    // SAFETY: as above.
    let first = unsafe { *allocated(address) } as usize;
    address % GRANULE + size <= first
        || (first == GRANULE && is_long_range_allocated(address, size))
        || size == 0
}

/// The same for a range that goes on after its first granule, which is full.
fn is_long_range_allocated(address: usize, size: usize) -> bool {
    let end = address.saturating_add(size);
    let mut granule = (address / GRANULE + 1) * GRANULE;
    loop {
        // SAFETY: the granule after a full one is within the arenas: a block ends before its arena does.
        let bytes = unsafe { *allocated(granule) } as usize;
        if granule + bytes >= end {
            return true;
        }
        if bytes < GRANULE {
            return false;
        }
        granule += GRANULE;
    }
}

/// Where the numbers of a range of heap memory lie.
pub fn sizes_of(range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    allocated(range.start) as usize & !7..(allocated(range.end) as usize + 1).next_multiple_of(8)
}

/// Is this an address of the program's heap?
pub fn contains(address: usize) -> bool {
    (BASE..BASE + ARENA * (THREADS + 1)).contains(&address)
}

/// The number of the arena of this address, which is that of its thread.
pub fn arena_of(address: usize) -> usize {
    (address - BASE) / ARENA
}

/// Does a live block start at `address`?
pub fn is_block(address: usize) -> bool {
    // SAFETY: the header of a block lies before it, within the arena.
    contains(address) && address > BASE + 16 && unsafe { *((address - 8) as *const usize) == LIVE }
}

/// The size asked for of a block of this heap.
///
/// # Safety
/// `block` must be a block.
pub unsafe fn block_size(block: usize) -> usize {
    // SAFETY: by the caller.
    unsafe { *((block - 16) as *const usize) }
}

impl Heap {
    /// Empty arenas.
    pub fn new() -> Heap {
        prepare();
        let tops = std::array::from_fn(|t| BASE + t * ARENA);
        let epochs = std::array::from_fn(|_| Vec::new());
        Heap { tops, start: tops, early: BASE, live: 0, latest: [0; THREADS], epochs, places: Vec::new() }
    }

    /// Remembers what is allocated as the start of every execution.
    pub fn set_start(&mut self) {
        self.early = EARLY_TOP.load(Relaxed);
        // Where the program's first block lies does not depend on what was allocated before.
        self.tops[0] = (self.early + 1).next_multiple_of(1 << 20);
        // What is allocated on behalf of the driver from now on has an arena of its own, which stays as it is.
        EARLY_TOP.store(BASE + ARENA * THREADS, Relaxed);
        self.start = self.tops;
        self.live = 0;
    }

    /// What a thread has allocated in this execution.
    pub fn used(&self, thread: usize) -> std::ops::Range<usize> {
        self.start[thread]..self.tops[thread]
    }

    /// What is in use at the start.
    pub fn start_range(&self) -> (usize, usize) {
        (BASE, self.early)
    }

    /// Back to the start, but for the content of what was allocated there.
    pub fn restart(&mut self) {
        for (top, start) in self.tops.iter_mut().zip(&self.start) {
            let (start, used) = (*start, *top - *start);
            if used == 0 {
                continue;
            }
            set_free(start.next_multiple_of(GRANULE), used);
            if used > 1 << 20 {
                let page = start.next_multiple_of(4096);
                // SAFETY: the rest of an arena; the pages read as zeroes afterwards. 4: MADV_DONTNEED.
                unsafe {
                    (start as *mut u8).write_bytes(0, page - start);
                    system_call(number::MADVISE, [page, used, 4, 0, 0, 0]);
                }
            } else {
                // SAFETY: memory of the arena that was given out.
                unsafe { (start as *mut u8).write_bytes(0, used) };
            }
            *top = start;
        }
        self.live = 0;
        self.places.clear();
        for (latest, epochs) in
            self.latest.iter_mut().zip(&mut self.epochs).filter(|(latest, _)| **latest != 0)
        {
            *latest = 0;
            epochs.clear();
        }
    }
}

/// A new block of zeroed memory; 0 if there is none.
pub fn allocate(size: usize, alignment: usize) -> usize {
    prepare();
    if size > LARGEST {
        return 0;
    }
    let alignment = alignment.max(16);
    let in_world = active();
    let (top, limit) = if in_world {
        let w = world();
        (w.heap.tops[w.current], BASE + (w.current + 1) * ARENA)
    } else {
        let top = EARLY_TOP.load(Relaxed);
        (top, BASE + ((top - BASE) / ARENA + 1) * ARENA)
    };
    // At least one granule that belongs to nobody, header, block.
    let block = (top + 32).next_multiple_of(alignment);
    let end = block + size.next_multiple_of(16).max(16);
    if end + GRANULE > limit {
        return 0;
    }
    if in_world && is_too_much(end - top) {
        fail(FailureKind::Refused, "malloc: the program uses more memory than --max-memory allows", 0);
    }
    // SAFETY: fresh memory of the arena.
    unsafe {
        *((block - 16) as *mut usize) = size;
        *((block - 8) as *mut usize) = LIVE;
    }
    set_allocated(block, size);
    if in_world {
        let mut w = world();
        let current = w.current;
        w.heap.tops[current] = end;
        w.heap.live += 1;
        w.note_place(block, Role::Allocation);
        let epoch = w.threads[current].clock[current];
        if w.is_kept_by_library() {
            // Whoever learns of the block does so by a call that is ordered with this one.
            w.heap.latest[current] = epoch;
            w.heap.epochs[current].push((block, 0));
        } else if w.heap.latest[current] != epoch || w.heap.epochs[current].last().is_some_and(|e| e.1 == 0) {
            w.heap.latest[current] = epoch;
            w.heap.epochs[current].push((block, epoch));
        }
    } else {
        EARLY_TOP.store(end, Relaxed);
    }
    block
}

/// Would the program have more memory than the user allows?
fn is_too_much(more: usize) -> bool {
    let w = world();
    let used = || (0..THREADS).map(|thread| w.heap.used(thread).len()).sum::<usize>();
    w.shared.max_memory > 0 && (used() + more) as u64 > w.shared.max_memory
}

/// The running thread is about to give a block back or to move it. If it owes joins, and others may use the block, it
/// waits for them first: until then they may not have ended.
fn settle_before_release(block: usize) {
    /// Of a larger block nobody asks who uses it.
    const LARGE: usize = 4096;
    if !active() || !is_block(block) {
        return;
    }
    let mut w = world();
    let owed = w.me().owed;
    // SAFETY: a block of this heap.
    let size = unsafe { block_size(block) };
    if owed != 0 && (size > LARGE || w.is_foreign(block, size.max(1))) {
        crate::threads::thread::settle(owed);
    }
}

/// Gives a block back.
pub fn release(block: usize) {
    if block == 0 || !contains(block) {
        return;
    }
    settle_before_release(block);
    let header = (block - 8) as *mut usize;
    // SAFETY: within the arenas; what is not a header is recognised as such.
    let mark = unsafe { *header };
    if mark != LIVE {
        if active() {
            let text = if mark == FREED { "double free" } else { "free of something that is not a block" };
            let mut w = world();
            let here =
                Place { thread: w.current as u8, address: block as u64, stack: w.stack_here(), ..NOWHERE };
            fail_at(FailureKind::Memory, text, here, w.place_of(block));
        }
        return;
    }
    // SAFETY: a block of this heap.
    let size = unsafe { block_size(block) };
    if active() {
        let mut w = world();
        if w.threaded {
            w.check_allocation(block);
            w.note_free(block, size);
        }
        w.note_place(block, Role::Release);
        w.heap.live -= 1;
    }
    set_free(block, size);
    // SAFETY: as above.
    unsafe { *header = FREED };
}

impl Runtime {
    /// Ends the execution if an access goes to memory that is not there.
    #[inline]
    pub fn check_address(self, address: usize, size: usize, write: bool) {
        if contains(address) {
            if !is_allocated(address, size) {
                bad_heap_access(address, size, write);
            }
            if self.threaded {
                self.check_allocation(address);
            }
        } else if let Some(owner) = crate::threads::stack::owner(address) {
            if owner != self.current {
                self.note_foreign_stack(owner, address, size);
            }
        } else if (region::BASE..region::BASE + region::SIZE).contains(&address) {
            fail(FailureKind::Memory, "access to memory of the checker through a wild pointer", address);
        }
    }

    /// The allocation of a block must happen before its use by another thread.
    #[inline]
    fn check_allocation(self, address: usize) {
        let owner = arena_of(address);
        if owner < THREADS
            && owner != self.current
            && self.threads[self.current].clock[owner] < self.heap.latest[owner]
        {
            self.check_epoch(address, owner);
        }
    }

    #[cold]
    fn check_epoch(self, address: usize, owner: usize) {
        let epochs = &self.heap.epochs[owner];
        let index = epochs.partition_point(|(start, _)| *start <= address);
        let known = self.threads[self.current].clock[owner];
        let unordered = index > 0 && known < epochs[index - 1].1;
        if unordered && self.shared.allow_races == 0 {
            let text = format!(
                "use of a block that thread {owner} has allocated, without anything that orders the two"
            );
            fail(FailureKind::Memory, &text, address);
        }
    }
}

impl World {
    /// Takes note of where a block is allocated or given back, if somebody wants to know.
    fn note_place(&mut self, block: usize, role: Role) {
        if self.replays() {
            let (thread, stack) = (self.current as u8, self.stack_here());
            self.heap.places.push((block, Place { thread, role: role as u8, stack, ..NOWHERE }));
        }
    }

    /// Where a block was given back or, if it was not, allocated.
    fn place_of(&self, block: usize) -> Place {
        self.heap.places.iter().rev().find(|(b, _)| *b == block).map_or(NOWHERE, |(_, place)| *place)
    }
}

/// Has nobody written to the beginning of this memory since it was allocated?
pub fn is_untouched(address: usize, size: usize) -> bool {
    let words = (address.next_multiple_of(8)..(address + size) & !7).step_by(8);
    // SAFETY: memory of the heap.
    words.len() > 0 && words.into_iter().all(|at| unsafe { *(at as *const u64) } == PATTERN)
}

/// Marks a new block, from `from` on, as not written to.
fn fill(block: usize, from: usize) {
    if block != 0 && active() {
        // SAFETY: a block of this heap.
        let end = block + unsafe { block_size(block) }.min(FILLED);
        for at in ((block + from).next_multiple_of(8)..end & !7).step_by(8) {
            // SAFETY: as above; nobody has the block yet.
            unsafe { *(at as *mut u64) = PATTERN };
        }
    }
}

/// A block and what became of it: its address, its size, was it given back?
struct Block {
    start: usize,
    size: usize,
    freed: bool,
}

/// The block with the nearest header at or below `address`, in its arena.
fn block_below(address: usize) -> Option<Block> {
    let lowest = BASE + (address - BASE) / ARENA * ARENA;
    let mut header = (address & !(GRANULE - 1)).checked_sub(8)?;
    while header > lowest + GRANULE {
        // SAFETY: within the arena.
        let (mark, size) = unsafe { (*(header as *const usize), *((header - 8) as *const usize)) };
        if mark == LIVE || mark == FREED {
            return Some(Block { start: header + 8, size, freed: mark == FREED });
        }
        header -= GRANULE;
    }
    None
}

fn bytes(count: usize) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

#[cold]
fn bad_heap_access(address: usize, size: usize, write: bool) -> ! {
    let mut w = world();
    let verb = if write { "write to" } else { "read of" };
    // The block that the access begins in or after, and the one whose header is next: one granule is between the two.
    let below = block_below(address);
    let above = block_below(address + 2 * GRANULE).filter(|b| b.start > address);
    let (text, block) = match (below, above) {
        (Some(b), _) if b.freed && address < b.start + b.size => (
            format!("{verb} freed memory ({} into a block of {})", bytes(address - b.start), bytes(b.size)),
            Some(b),
        ),
        // Nearer to the start of the one than to the end of the other.
        (below, Some(a))
            if below
                .as_ref()
                .is_none_or(|b| a.start - address < (address + 1).saturating_sub(b.start + b.size)) =>
        {
            (
                format!("{verb} memory {} before a block of {}", bytes(a.start - address), bytes(a.size)),
                Some(a),
            )
        }
        (Some(b), _) if address < b.start + b.size => (
            format!(
                "{verb} {} from {} into a block of {} on",
                bytes(size),
                bytes(address - b.start),
                bytes(b.size)
            ),
            Some(b),
        ),
        (Some(b), _) => {
            let past = match address - b.start - b.size {
                0 => "right after".to_owned(),
                past => format!("{} after", bytes(past)),
            };
            (format!("{verb} memory {past} a block of {}", bytes(b.size)), Some(b))
        }
        (None, _) => ("access to heap memory that was never allocated".to_owned(), None),
    };
    let stack = w.stack_here();
    let here = Place { thread: w.current as u8, address: address as u64, stack, ..NOWHERE };
    let there = block.map_or(NOWHERE, |b| w.place_of(b.start));
    fail_at(FailureKind::Memory, &text, here, there)
}

macro_rules! out_of_memory {
    ($block:expr) => {{
        let block = $block;
        if block == 0 {
            // SAFETY: the C library's errno of this thread.
            unsafe { *__errno_location() = 12 };
        }
        block as *mut u8
    }};
}

/// Where the `errno` of the calling thread is.
pub fn errno_address() -> usize {
    // SAFETY: needs nothing.
    unsafe { __errno_location() as usize }
}

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
    fn __libc_malloc(size: usize) -> *mut u8;
    fn __libc_calloc(count: usize, size: usize) -> *mut u8;
    fn __libc_realloc(block: *mut u8, size: usize) -> *mut u8;
    fn __libc_free(block: *mut u8);
    fn __libc_memalign(alignment: usize, size: usize) -> *mut u8;
}

/// Is this a checked process? Decided once, before anything is allocated.
fn ours() -> bool {
    static DECIDED: AtomicUsize = AtomicUsize::new(0);
    match DECIDED.load(Relaxed) {
        0 => {
            // A descriptor of this number exists, and the block says that it is ours: `attach` decides.
            crate::exploration::driver::attach_once();
            DECIDED.store(if controlled() { 1 } else { 2 }, Relaxed);
            controlled()
        }
        decided => decided == 1,
    }
}

/// `malloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(size: usize) -> *mut u8 {
    if !ours() {
        // SAFETY: a program that is not checked has all its blocks from the C library.
        return unsafe { __libc_malloc(size) };
    }
    let block = allocate(size, 16);
    fill(block, 0);
    out_of_memory!(block)
}

/// `calloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut u8 {
    if !ours() {
        // SAFETY: a program that is not checked has all its blocks from the C library.
        return unsafe { __libc_calloc(count, size) };
    }
    out_of_memory!(count.checked_mul(size).map_or(0, |total| allocate(total, 16)))
}

/// `free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut u8) {
    if !ours() {
        // SAFETY: a program that is not checked has all its blocks from the C library.
        return unsafe { __libc_free(block) };
    }
    release(block as usize);
}

/// `realloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut u8, size: usize) -> *mut u8 {
    if !ours() {
        // SAFETY: a program that is not checked has all its blocks from the C library.
        return unsafe { __libc_realloc(block, size) };
    }
    settle_before_release(block as usize);
    let new = allocate(size, 16);
    let mut kept = 0;
    if new != 0 && is_block(block as usize) {
        // SAFETY: both blocks have at least this size.
        unsafe {
            kept = block_size(block as usize).min(size);
            (new as *mut u8).copy_from_nonoverlapping(block, kept);
        }
        if running() {
            // Whoever reads what was moved reads what was here.
            world().note_moved(block as usize, kept);
        }
    }
    fill(new, kept);
    if new != 0 {
        release(block as usize);
    }
    out_of_memory!(new)
}

/// `memalign`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memalign(alignment: usize, size: usize) -> *mut u8 {
    if !ours() {
        // SAFETY: a program that is not checked has all its blocks from the C library.
        return unsafe { __libc_memalign(alignment, size) };
    }
    if active() && !alignment.is_power_of_two() {
        let text = format!("an allocation with the alignment {alignment}, which is not a power of two");
        fail(FailureKind::Misuse, &text, 0);
    }
    let block = allocate(size, alignment);
    fill(block, 0);
    out_of_memory!(block)
}

/// `aligned_alloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut u8 {
    // SAFETY: the same function by another name.
    unsafe { memalign(alignment, size) }
}

/// `posix_memalign`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(out: *mut *mut u8, alignment: usize, size: usize) -> i32 {
    const EINVAL: i32 = 22;
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return EINVAL;
    }
    // SAFETY: the caller gives room for a pointer.
    unsafe {
        let block = memalign(alignment, size);
        if block.is_null() {
            return 12;
        }
        *out = block;
    }
    0
}

/// `malloc_usable_size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_usable_size(block: *mut u8) -> usize {
    if is_block(block as usize) {
        // SAFETY: a block of this heap.
        return unsafe { block_size(block as usize) };
    }
    0
}
