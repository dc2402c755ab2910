//! Memory kept for the end, and how much there is at all.

use std::sync::atomic::{AtomicPtr, Ordering};

use quotient::seams::addresses_are_limited;

/// Bytes of the reserve: enough for any report.
const RESERVE: usize = 16 << 20;

static KEPT: AtomicPtr<libc::c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Makes ready for the day when the system refuses memory.
pub(super) fn prepare() {
    if addresses_are_limited() {
        // Other threads allocate little here: they need not reserve addresses of their own for it.
        // SAFETY: sets an option of the allocator.
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
        keep();
    }
    touch_stack();
}

/// Maps the reserve; it counts against the limits, but takes no memory.
fn keep() {
    // SAFETY: an anonymous mapping at an address of the system's choice affects nothing else.
    let reserve = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            RESERVE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if reserve != libc::MAP_FAILED {
        KEPT.store(reserve, Ordering::Relaxed);
    }
}

/// Gives the reserve back.
pub(super) fn release() {
    let reserve = KEPT.swap(std::ptr::null_mut(), Ordering::Relaxed);
    if !reserve.is_null() {
        // SAFETY: this was mapped by `keep`, and whoever takes it out of the variable is the only one to know it.
        unsafe { libc::munmap(reserve, RESERVE) };
    }
}

/// Has the stack grow now to what reports need: it cannot when there is no memory.
#[inline(never)]
fn touch_stack() {
    let mut pages = [0u8; 1 << 18];
    for byte in pages.iter_mut().step_by(4096) {
        // SAFETY: a reference is valid for writing.
        unsafe { std::ptr::write_volatile(byte, 1) };
    }
}

/// Resident bytes at which the system is about to end the process: a little less than what its control group may have.
pub(super) fn ceiling() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().flat_map(places).filter_map(|path| std::fs::read_to_string(path).ok());
    let least = limits.filter_map(|text| text.trim().parse::<u64>().ok()).min()?;
    // Without a limit the file says "max", or a number that no machine has.
    (least < 1 << 50).then(|| least - least / 20)
}

/// Where the limits of a control group, given as in `/proc/self/cgroup`, and of those above it can be found.
fn places(line: &str) -> Vec<String> {
    let mut parts = line.splitn(3, ':');
    let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
        return Vec::new();
    };
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        c if c.split(',').any(|c| c == "memory") => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        _ => return Vec::new(),
    };
    let mut out = vec![format!("{root}/{file}")];
    let mut above = String::from(root);
    for part in path.split('/').filter(|part| !part.is_empty()) {
        above.push('/');
        above.push_str(part);
        out.push(format!("{above}/{file}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_control_groups_are_found() {
        let new =
            ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/a/b/memory.max"];
        assert_eq!(places("0::/a/b"), new);
        assert_eq!(places("0::/"), ["/sys/fs/cgroup/memory.max"]);
        let old = "/sys/fs/cgroup/memory/memory.limit_in_bytes";
        assert_eq!(places("4:cpu,memory:/"), [old]);
        assert!(places("3:cpuset:/x").is_empty() && places("").is_empty());
    }
}
