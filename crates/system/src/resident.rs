//! How much memory the process really has.

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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn what_is_written_to_is_resident() {
        let before = super::resident_bytes().expect("Linux tells");
        let block = std::hint::black_box(vec![1u8; 64 << 20]);
        let after = super::resident_bytes().expect("Linux tells");
        assert!(after >= before + (60 << 20), "{before} to {after} with {} more", block.len());
    }
}
