//! The program's heap.
//!
//! Every thread has an arena at a fixed address, from which it takes one block after the other. Where a block lies depends
//! only on what its thread did, so allocations of different threads commute, and addresses mean the same in all equivalent
//! executions. Nothing is used twice within an execution: a bit per 16 bytes says which memory is allocated, and every
//! access through a hook is looked up there, which finds uses after free and accesses outside of blocks.
//!
//! The first bytes of a block that `malloc` gives have a pattern that nothing else has, so that a primitive that was never
//! initialised can be told from one that was (`lifecycle`). Read as a pointer, it points nowhere.
//!
//! An allocation must happen before every use of its block by another thread: a pointer that was passed on by a relaxed
//! store may be seen by a thread for which there is no block yet. The epochs of a thread's allocations grow with their
//! addresses, so a few numbers per arena tell the epoch of every block.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::exploration::world::{Runtime, World, active, controlled, fail, world};
use crate::memory::region;
use crate::protocol::{FailureKind, THREADS};
use crate::system::system_call::{map_fixed, number, system_call};

/// Where the arenas lie.
pub const BASE: usize = 0x5000_0000_0000;
/// Size of an arena.
pub const ARENA: usize = 1 << 32;
/// Where the bits lie.
const BITS: usize = 0x5400_0000_0000;
/// Largest block.
const LARGEST: usize = 1 << 30;
const LIVE: usize = 0x1d1e_a11c_0de0_0001;
const FREED: usize = 0x1d1e_a11c_0de0_0002;
/// In every word of a block that nobody has written to, as far as `FILLED` bytes.
const PATTERN: u64 = 0x0000_6b6b_6b6b_6b6b;
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
}

fn prepare() {
    if EARLY_TOP.load(Relaxed) == 0 {
        map_fixed(BASE, ARENA * (THREADS + 1));
        map_fixed(BITS, ARENA * (THREADS + 1) / 128);
        EARLY_TOP.store(BASE, Relaxed);
    }
}

fn bits(address: usize) -> (*mut u64, u32) {
    let granule = (address - BASE) / 16;
    ((BITS + granule / 64 * 8) as *mut u64, (granule % 64) as u32)
}

fn set_bits(address: usize, size: usize, live: bool) {
    let mut at = address;
    let end = address + size;
    while at < end {
        let (word, bit) = bits(at);
        let count = (64 - bit).min((end - at).div_ceil(16) as u32);
        let mask = (u64::MAX >> (64 - count)) << bit;
        // SAFETY: within the mapped bits, since the address is within the arenas.
        unsafe {
            if live {
                *word |= mask;
            } else {
                *word &= !mask;
            }
        }
        at += count as usize * 16;
    }
}

fn is_live(address: usize) -> bool {
    let (word, bit) = bits(address);
    // SAFETY: as above.
    unsafe { *word >> bit & 1 != 0 }
}

/// Where the bits of a range of heap memory lie.
pub fn bits_of(range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    bits(range.start).0 as usize..bits(range.end).0 as usize + 8
}

/// Is this an address of the program's heap?
pub fn contains(address: usize) -> bool {
    (BASE..BASE + ARENA * (THREADS + 1)).contains(&address)
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
        Heap { tops, start: tops, early: BASE, live: 0, latest: [0; THREADS], epochs }
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
            set_bits(start.next_multiple_of(16), used, false);
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
    // Header, block, and at least one granule that belongs to nobody.
    let block = (top + 32).next_multiple_of(alignment);
    let end = block + size.next_multiple_of(16).max(16);
    if end > limit {
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
    set_bits(block, size.max(1), true);
    if in_world {
        let mut w = world();
        let current = w.current;
        w.heap.tops[current] = end;
        w.heap.live += 1;
        let epoch = w.threads[current].clock[current];
        if w.is_kept_by_library() {
            // Whoever gets to know of the block does so by a call that is ordered with this one.
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

/// Gives a block back.
pub fn release(block: usize) {
    if block == 0 || !contains(block) {
        return;
    }
    let header = (block - 8) as *mut usize;
    // SAFETY: within the arenas; what is not a header is recognised as such.
    let mark = unsafe { *header };
    if mark != LIVE {
        if active() {
            let text = if mark == FREED { "double free" } else { "free of something that is not a block" };
            fail(FailureKind::Memory, text, block);
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
        w.heap.live -= 1;
    }
    set_bits(block, size.max(1), false);
    // SAFETY: as above.
    unsafe { *header = FREED };
}

impl Runtime {
    /// Ends the execution if an access goes to memory that is not there.
    #[inline]
    pub fn check_address(self, address: usize, size: usize, write: bool) {
        if contains(address) {
            if size > 0 && (!is_live(address) || !is_live(address + size - 1)) {
                bad_heap_access(address, write);
            }
            if self.threaded {
                self.check_allocation(address);
            }
        } else if let Some(owner) = crate::threads::stack::owner(address) {
            if owner != self.current {
                self.note_foreign_stack(owner, address);
            }
        } else if (region::BASE..region::BASE + region::SIZE).contains(&address) {
            fail(FailureKind::Memory, "access to memory of the checker through a wild pointer", address);
        }
    }

    /// The allocation of a block must happen before its use by another thread.
    #[inline]
    fn check_allocation(self, address: usize) {
        let owner = (address - BASE) / ARENA;
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

impl World {}

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

#[cold]
fn bad_heap_access(address: usize, write: bool) -> ! {
    let arena = (address - BASE) / ARENA;
    let w = world();
    let top = w.heap.tops.get(arena).copied().unwrap_or(BASE + ARENA * (THREADS + 1));
    let verb = if write { "write to" } else { "read of" };
    // The nearest header below the address tells what was there.
    let mut at = (address & !15).saturating_sub(8);
    let lowest = BASE + arena * ARENA;
    while at > lowest + 16 {
        // SAFETY: within the arena.
        let (mark, size) = unsafe { (*(at as *const usize), *((at - 8) as *const usize)) };
        if mark == FREED && address < at + 8 + size {
            fail(
                FailureKind::Memory,
                &format!("{verb} freed memory ({} bytes into a block of {size})", address - at - 8),
                address,
            );
        }
        if mark == LIVE || mark == FREED {
            let text =
                format!("{verb} memory {} bytes past the start of a block of {size}", address - at - 8);
            fail(FailureKind::Memory, &text, address);
        }
        at -= 16;
    }
    let text = if address >= top {
        "access to heap memory that was never allocated"
    } else {
        "access outside of heap blocks"
    };
    fail(FailureKind::Memory, text, address)
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
    let new = allocate(size, 16);
    let mut kept = 0;
    if new != 0 && is_block(block as usize) {
        // SAFETY: both blocks have at least this size.
        unsafe {
            kept = block_size(block as usize).min(size);
            (new as *mut u8).copy_from_nonoverlapping(block, kept);
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
