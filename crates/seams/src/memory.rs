//! How much memory the process really has, and allocations that it can do without.

use std::cell::Cell;

thread_local! {
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Runs something whose allocations may fail: what makes tables larger can also leave them as they are and say so. An allocator that
/// ends the process when there is no memory asks [`may_fail`] first.
pub fn fallible<T>(allocate: impl FnOnce() -> T) -> T {
    let before = MAY_FAIL.replace(true);
    let result = allocate();
    MAY_FAIL.set(before);
    result
}

/// Can the allocation that this thread makes fail without harm?
pub fn may_fail() -> bool {
    MAY_FAIL.get()
}

/// Bytes resident now; `None` where the system does not tell.
///
/// Resident, not allocated: tables reserve addresses for growing in place, and only what was written to takes memory. Allocates
/// nothing.
#[cfg(target_os = "linux")]
pub fn resident_bytes() -> Option<u64> {
    use std::io::Read;
    let mut text = [0; 128];
    let length = std::fs::File::open("/proc/self/statm").ok()?.read(&mut text).ok()?;
    let pages: u64 = std::str::from_utf8(&text[..length]).ok()?.split(' ').nth(1)?.parse().ok()?;
    // SAFETY: asks for a constant of the system.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some(pages * u64::try_from(size).ok()?)
}

/// Bytes resident now; `None` where the system does not tell.
#[cfg(not(target_os = "linux"))]
pub fn resident_bytes() -> Option<u64> {
    None
}

/// Is the address space of the process limited, as by `ulimit -v`? Otherwise the system grants addresses without end, and only
/// what is written to counts.
pub fn addresses_are_limited() -> bool {
    #[cfg(unix)]
    return [libc::RLIMIT_AS, libc::RLIMIT_DATA].into_iter().any(|resource| {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: writes one structure.
        let known = unsafe { libc::getrlimit(resource, &mut limit) } == 0;
        known && limit.rlim_cur != libc::RLIM_INFINITY
    });
    #[cfg(not(unix))]
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_to_is_resident() {
        let before = resident_bytes().expect("Linux tells");
        let block = std::hint::black_box(vec![1u8; 64 << 20]);
        let after = resident_bytes().expect("Linux tells");
        assert!(after >= before + (60 << 20), "{before} to {after} with {} more", block.len());
    }

    #[test]
    fn only_what_is_marked_may_fail() {
        assert!(!may_fail() && fallible(|| fallible(may_fail) && may_fail()) && !may_fail());
    }
}
