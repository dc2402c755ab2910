//! Keeps a checked program from writing anywhere but into its scratch directory (Landlock, Linux 5.13 and later).

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const CREATE_RULESET: libc::c_long = 444;
const ADD_RULE: libc::c_long = 445;
const RESTRICT_SELF: libc::c_long = 446;
const PATH_BENEATH: libc::c_int = 1;

/// Rights of Landlock's first version that change files: write, remove, make.
const WRITING: u64 =
    1 << 1 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12;
const WRITE_FILE: u64 = 1 << 1;

#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    parent: libc::c_int,
}

/// A set of rules that a process can enter. Where the kernel has none, nothing is kept from anything.
pub(crate) struct Confinement {
    rules: Option<OwnedFd>,
}

impl Confinement {
    /// Writing is allowed in `directory` and to the null device.
    pub(crate) fn new(directory: &Path) -> Confinement {
        let handled = WRITING;
        // SAFETY: the attribute is one word long.
        let rules = unsafe { libc::syscall(CREATE_RULESET, &raw const handled, 8usize, 0) } as i32;
        if rules < 0 {
            return Confinement { rules: None };
        }
        // SAFETY: a new descriptor.
        let rules = unsafe { OwnedFd::from_raw_fd(rules) };
        let complete = allow(&rules, directory, WRITING) && allow(&rules, Path::new("/dev/null"), WRITE_FILE);
        Confinement { rules: complete.then_some(rules) }
    }

    /// Confines the calling process. Only system calls: it is called between fork and exec.
    pub(crate) fn enter(&self) {
        if let Some(rules) = &self.rules {
            // SAFETY: no memory is involved.
            unsafe {
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                libc::syscall(RESTRICT_SELF, rules.as_raw_fd(), 0);
            }
        }
    }
}

fn allow(rules: &OwnedFd, path: &Path, allowed: u64) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: a terminated path; the descriptor is owned from here on.
    unsafe {
        let parent = libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        if parent < 0 {
            return false;
        }
        let parent = OwnedFd::from_raw_fd(parent);
        let rule = Beneath { allowed, parent: parent.as_raw_fd() };
        libc::syscall(ADD_RULE, rules.as_raw_fd(), PATH_BENEATH, &raw const rule, 0) == 0
    }
}
