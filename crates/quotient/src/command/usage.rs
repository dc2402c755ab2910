//! What the process has used so far.

/// CPU seconds used before this program started: a process keeps its account when it becomes another program, as `cargo run` does.
static BEFORE: std::sync::OnceLock<f64> = std::sync::OnceLock::new();

/// Called first of all.
pub(crate) fn start() {
    BEFORE.get_or_init(total_seconds);
}

/// CPU seconds of this program, user and system.
pub(crate) fn cpu_seconds() -> f64 {
    total_seconds() - BEFORE.get().copied().unwrap_or(0.0)
}

/// CPU seconds of the processes that were started and have ended.
pub(crate) fn children_seconds() -> f64 {
    seconds_of(&usage(libc::RUSAGE_CHILDREN))
}

fn total_seconds() -> f64 {
    seconds_of(&usage(libc::RUSAGE_SELF))
}

fn seconds_of(usage: &libc::rusage) -> f64 {
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// The most memory the process has had resident, in bytes.
pub(crate) fn peak_rss_bytes() -> u64 {
    // The account of the process also counts the program it was before (`cargo run`); that of its memory does not.
    let own = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    if let Some(kib) = own {
        return kib * 1024;
    }
    let peak = usage(libc::RUSAGE_SELF).ru_maxrss as u64;
    // Linux counts in KiB, macOS in bytes.
    if cfg!(target_os = "macos") { peak } else { peak * 1024 }
}

fn usage(who: libc::c_int) -> libc::rusage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for writing one rusage, which zeroes are a value of.
    unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    }
}
