//! What a checked program is kept from, as far as the kernel can: the part that is set up before it starts.
//!
//! - Landlock (Linux 5.13 and later, each newer version keeps more): no file outside of the scratch directory is written, made,
//!   removed or truncated; no TCP connection is made or accepted; no signal and no connection to an abstract socket
//!   leaves the program.
//! - A process group of its own, which is ended with the check, whoever is in it.
//! - The filter for system calls (seccomp) is installed by the runtime, which knows its own code (`sandbox` there).
//!
//! What the kernel lacks is told in the report. For tests, the environment variable `QUOTIENT_SANDBOX_WITHOUT` names parts that
//! are to be taken for absent.

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const CREATE_RULESET: libc::c_long = 444;
const ADD_RULE: libc::c_long = 445;
const RESTRICT_SELF: libc::c_long = 446;
/// Asks for the version.
const VERSION: u32 = 1;
const PATH_BENEATH: libc::c_int = 1;

/// Rights of Landlock's first version that change files: write, remove, make.
const WRITING: u64 =
    1 << 1 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12;
const WRITE_FILE: u64 = 1 << 1;
/// Moving files between directories.
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
/// Commands to devices.
const IOCTL_DEVICE: u64 = 1 << 15;
/// Binding and connecting TCP sockets.
const TCP: u64 = 3;
/// Abstract sockets and signals.
const SCOPES: u64 = 3;

/// What later versions keep a program from, with the version, the rights of files, of the network, and the scopes.
const LATER: [(i64, u64, u64, u64, &str); 5] = [
    (2, REFER, 0, 0, "files can be moved between directories"),
    (3, TRUNCATE, 0, 0, "files outside of the scratch directory can be truncated"),
    (4, 0, TCP, 0, "TCP connections can be made"),
    (5, IOCTL_DEVICE, 0, 0, "commands can be sent to devices"),
    (6, 0, 0, SCOPES, "signals and connections to abstract sockets can leave the program"),
];

/// What is handled: the kernel's structure.
#[repr(C)]
#[derive(Default)]
struct Handled {
    files: u64,
    network: u64,
    scopes: u64,
}

#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    parent: libc::c_int,
}

/// A set of rules that a process can enter.
pub(crate) struct Confinement {
    rules: Option<OwnedFd>,
    /// What the program is not kept from.
    missing: Vec<&'static str>,
}

/// Is this part to be taken for absent?
pub(crate) fn without(part: &str) -> bool {
    let parts = std::env::var("QUOTIENT_SANDBOX_WITHOUT").unwrap_or_default();
    parts.split(',').any(|p| p == part)
}

/// The version of Landlock that the kernel has; 0: none.
fn version() -> i64 {
    if without("landlock") {
        return 0;
    }
    // SAFETY: asks for a number; no memory is involved.
    unsafe { libc::syscall(CREATE_RULESET, std::ptr::null::<Handled>(), 0usize, VERSION) }.max(0)
}

impl Confinement {
    /// Writing is allowed in `directory` and to the null device.
    pub(crate) fn new(directory: &Path) -> Confinement {
        let version = version();
        let absent = || Confinement {
            rules: None,
            missing: vec![
                "this kernel has no Landlock: the program can change files outside of its scratch directory, make TCP connections and send signals",
            ],
        };
        if version < 1 {
            return absent();
        }
        let mut handled = Handled { files: WRITING, ..Handled::default() };
        let mut missing = Vec::new();
        for (since, files, network, scopes, what) in LATER {
            if version < since {
                missing.push(what);
                continue;
            }
            handled.files |= files;
            handled.network |= network;
            handled.scopes |= scopes;
        }
        // Older versions do not know the last fields.
        let size = match version {
            ..=3 => 8usize,
            4..=5 => 16,
            _ => 24,
        };
        // SAFETY: the attribute is at least as long as said.
        let rules = unsafe { libc::syscall(CREATE_RULESET, &raw const handled, size, 0) } as i32;
        if rules < 0 {
            return absent();
        }
        // SAFETY: a new descriptor.
        let rules = unsafe { OwnedFd::from_raw_fd(rules) };
        let to_null = handled.files & (WRITE_FILE | TRUNCATE | IOCTL_DEVICE);
        let complete =
            allow(&rules, directory, handled.files) && allow(&rules, Path::new("/dev/null"), to_null);
        if complete { Confinement { rules: Some(rules), missing } } else { absent() }
    }

    /// What the program is not kept from, in words.
    pub(crate) fn missing(&self) -> &[&'static str] {
        &self.missing
    }

    /// Confines the calling process. Only system calls: it is called between fork and exec.
    ///
    /// # Errors
    /// If the process cannot be confined although the kernel has what it takes.
    pub(crate) fn enter(&self) -> std::io::Result<()> {
        // SAFETY: no memory is involved.
        unsafe {
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 {
                return Err(std::io::Error::last_os_error());
            }
            if let Some(rules) = &self.rules
                && libc::syscall(RESTRICT_SELF, rules.as_raw_fd(), 0) < 0
            {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    }
}

/// The calling process becomes the first of a new process group.
pub(crate) fn own_group() -> bool {
    // SAFETY: no memory is involved.
    unsafe { libc::setpgid(0, 0) == 0 }
}

/// Ends a process group of which the first process has ended, but was not waited for: nobody else can have its number.
pub(crate) fn end_group(first: u32) {
    // SAFETY: no memory is involved.
    unsafe { libc::kill(-(first as libc::pid_t), libc::SIGKILL) };
}

/// Has the process ended? It stays to be waited for.
pub(crate) fn has_ended(process: u32) -> std::io::Result<bool> {
    let mut information = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: room for one siginfo_t, of which zeroes are a value.
    unsafe {
        if libc::waitid(libc::P_PID, process, information.as_mut_ptr(), options) < 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(information.assume_init().si_pid() != 0)
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
