//! The explorer's memory: a mapping of its own, which no snapshot contains.
//!
//! Free lists by powers of two over a bump pointer. Only one kernel thread of the process runs at any time, so there is no
//! lock.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::system::system_call::{die, map_fixed};

/// Where the region lies.
pub const BASE: usize = 0x6100_0000_0000;
/// How large it may get.
pub const SIZE: usize = 1 << 36;
const CLASSES: usize = 37;

/// The allocator.
pub struct Region;

static TOP: AtomicUsize = AtomicUsize::new(0);
static FREE: [AtomicUsize; CLASSES] = [const { AtomicUsize::new(0) }; CLASSES];

fn class(layout: Layout) -> usize {
    layout.size().max(layout.align()).max(16).next_power_of_two().trailing_zeros() as usize
}

// SAFETY: blocks of a class are of its size and aligned to it up to a page; no two live blocks overlap, since a block
// comes from the bump pointer once and is in at most one free list.
unsafe impl GlobalAlloc for Region {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let class = class(layout);
        if class >= CLASSES || layout.align() > 4096 {
            return std::ptr::null_mut();
        }
        let free = FREE[class].load(Relaxed);
        if free != 0 {
            // SAFETY: a free block holds the address of the next one.
            FREE[class].store(unsafe { *(free as *const usize) }, Relaxed);
            return free as *mut u8;
        }
        let mut top = TOP.load(Relaxed);
        if top == 0 {
            map_fixed(BASE, SIZE);
            top = BASE;
        }
        let size = 1usize << class;
        let block = top.next_multiple_of(size.min(4096));
        if block + size > BASE + SIZE {
            die(b"quotient: the explorer is out of memory\n");
        }
        TOP.store(block + size, Relaxed);
        block as *mut u8
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let class = class(layout);
        // SAFETY: the block is free and at least 16 bytes large.
        unsafe { *block.cast::<usize>() = FREE[class].load(Relaxed) };
        FREE[class].store(block as usize, Relaxed);
    }
}
