//! Zeroed arrays; large ones on huge pages where the system has them.
//!
//! A visited set is read at random places: with pages of 4 KiB nearly every access also misses the translation cache.
//!
//! An array that cannot be had is `None`: stores then stay as they are and say that they are exhausted. Where addresses are limited
//! (`ulimit -v`), none are reserved beyond what is needed.

use std::sync::OnceLock;

use quotient_seams::{addresses_are_limited, fallible};

/// Bytes of a huge page.
const HUGE: usize = 1 << 21;

/// Bytes from which an array that will grow gets addresses of its own at once: growing elsewhere would give memory back to
/// the system and get it again, cleared, several times.
const GROWING: usize = 1 << 17;

/// An array of plain data, zero at first.
pub(crate) struct Zeroed<T> {
    pointer: *mut T,
    len: usize,
    /// Elements for which there are addresses.
    most: usize,
    /// What was mapped: address and bytes. `None` for memory from the ordinary allocator.
    mapped: Option<(*mut u8, usize)>,
}

/// Types for which all bytes zero is a value.
///
/// # Safety
/// Implement it for plain data only.
pub(crate) unsafe trait Plain: Copy {}
// SAFETY: integers are plain data.
unsafe impl Plain for u64 {}

// SAFETY: the array is owned; nothing else points to it.
unsafe impl<T: Plain + Send> Send for Zeroed<T> {}
// SAFETY: as above; shared access only reads.
unsafe impl<T: Plain + Sync> Sync for Zeroed<T> {}

impl<T: Plain> Zeroed<T> {
    pub(crate) fn new(len: usize) -> Option<Zeroed<T>> {
        Zeroed::growing(len, len)
    }

    /// An array of `len` elements that may grow in place up to `most`, if it is large: addresses are reserved for that,
    /// but no memory.
    pub(crate) fn growing(len: usize, most: usize) -> Option<Zeroed<T>> {
        if len == 0 {
            let pointer = std::ptr::NonNull::dangling().as_ptr();
            return Some(Zeroed { pointer, len: 0, mapped: None, most: 0 });
        }
        let bytes = len * size_of::<T>();
        if bytes >= (if most > len { GROWING } else { HUGE })
            && !limited()
            && let Some((pointer, mapped)) = map_huge(most.max(len) * size_of::<T>())
        {
            return Some(Zeroed { pointer: pointer.cast(), len, mapped: Some(mapped), most: most.max(len) });
        }
        // SAFETY: the layout has a size that is not zero.
        let pointer = fallible(|| unsafe { std::alloc::alloc_zeroed(Self::layout(len)) });
        (!pointer.is_null()).then(|| Zeroed { pointer: pointer.cast(), len, mapped: None, most: len })
    }

    /// Makes the array longer where it is; what is new is zero. `false` when there are no addresses for that.
    pub(crate) fn grow(&mut self, len: usize) -> bool {
        // The elements up to `most` were mapped with the others, zero, and were never written.
        let can = self.len <= len && len <= self.most;
        if can {
            self.len = len;
        }
        can
    }

    fn layout(len: usize) -> std::alloc::Layout {
        let array = std::alloc::Layout::array::<T>(len).expect("arrays fit the address space");
        // A cache line at least, so that lines of entries do not straddle two.
        array.align_to(64.max(align_of::<T>())).expect("64 is a power of two")
    }

    pub(crate) fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// How many elements there are, without looking at them.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.len
    }

    /// The first element, for those who write while others look ([`crate::claim`]). It stays where it is until the array is dropped.
    #[inline(always)]
    pub(crate) fn start(&self) -> *mut T {
        self.pointer
    }
}

/// Are addresses limited? Asked once.
fn limited() -> bool {
    static LIMITED: OnceLock<bool> = OnceLock::new();
    *LIMITED.get_or_init(addresses_are_limited)
}

/// Maps at least `bytes` zero bytes, aligned to huge pages and marked for them.
#[cfg(target_os = "linux")]
fn map_huge(bytes: usize) -> Option<(*mut u8, (*mut u8, usize))> {
    let size = bytes.next_multiple_of(HUGE) + HUGE;
    // SAFETY: an anonymous private mapping at an address of the system's choice affects nothing else; the advice is given
    // for a part of it.
    unsafe {
        let base = libc::mmap(
            std::ptr::null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        );
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = base.cast::<u8>();
        let start = base.add(base.align_offset(HUGE));
        libc::madvise(start.cast(), bytes.next_multiple_of(HUGE), libc::MADV_HUGEPAGE);
        Some((start, (base, size)))
    }
}

#[cfg(not(target_os = "linux"))]
fn map_huge(_bytes: usize) -> Option<(*mut u8, (*mut u8, usize))> {
    None
}

impl<T> Drop for Zeroed<T> {
    fn drop(&mut self) {
        if self.len == 0 {
            return;
        }
        match self.mapped {
            // SAFETY: this is what was mapped.
            #[cfg(target_os = "linux")]
            Some((base, size)) => unsafe {
                libc::munmap(base.cast(), size);
            },
            #[cfg(not(target_os = "linux"))]
            Some(_) => {}
            None => {
                let array = std::alloc::Layout::array::<T>(self.len).expect("it was allocated");
                let layout = array.align_to(64.max(align_of::<T>())).expect("it was allocated");
                // SAFETY: this is the layout it was allocated with.
                unsafe { std::alloc::dealloc(self.pointer.cast(), layout) };
            }
        }
    }
}

impl<T> std::ops::Deref for Zeroed<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `len` initialised values lie there.
        unsafe { std::slice::from_raw_parts(self.pointer, self.len) }
    }
}

impl<T> std::ops::DerefMut for Zeroed<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and it is owned.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.len) }
    }
}

impl<T> std::fmt::Debug for Zeroed<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{} elements]", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arrays_grow_in_place() {
        let mut array = Zeroed::<u64>::growing(300_000, 1_000_000).expect("there is memory");
        array.fill(7);
        if array.grow(900_000) {
            assert!(array[..300_000].iter().all(|w| *w == 7));
            assert!(array[300_000..].iter().all(|w| *w == 0));
        }
        assert!(!array.grow(1_000_001) && !array.grow(1000));
    }

    #[test]
    fn what_cannot_be_had_is_none() {
        assert!(Zeroed::<u64>::new(1 << 55).is_none());
    }

    #[test]
    fn small_and_large_arrays_are_zero_and_writable() {
        for len in [0, 1, 1000, 300_000, 1_000_000] {
            let mut array = Zeroed::<u64>::new(len).expect("there is memory");
            assert!(array.iter().all(|w| *w == 0));
            for (index, word) in array.iter_mut().enumerate() {
                *word = index as u64;
            }
            assert!(array.iter().enumerate().all(|(i, w)| *w == i as u64));
            assert_eq!(array.bytes(), len * 8);
        }
    }
}
