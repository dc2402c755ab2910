//! Files that the program writes: its working directory is put back to how it was before the next execution.

use std::ffi::{CStr, c_char};

use crate::exploration::world::{World, active, fail, world};
use crate::protocol::{FailureKind, SESSION_DESCRIPTOR};
use crate::system::system_call::{number, system_call};
use crate::{pass_on, real};

/// Flags of `open` that say that something may change: write only, read and write, create, truncate.
const CHANGING: i32 = 1 | 2 | 0o100 | 0o1000;

/// Flags of `open` that make a file or empty it.
const CREATING: i32 = 0o100 | 0o1000;
/// A copy of standard input, beside the session's own descriptors.
pub const KEPT_INPUT: i32 = SESSION_DESCRIPTOR + 4;
const UMASK: usize = 95;
/// Stands for the current directory.
const HERE: i32 = -100;

/// A file is opened by its name; if it is used as it is, the answer is relative to it.
fn look(path: usize, as_it_is: bool) {
    if as_it_is {
        crate::environment::outside::note_file(path);
    }
}

macro_rules! opens {
    ($($name:ident),*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(path: usize, flags: i32, mode: u32) -> i32 {
            note(flags & CHANGING != 0);
            look(path, flags & CREATING == 0);
            // SAFETY: the arguments are those that the program gives to the C library's function of this name, with all that it owes to that.
            let opened = unsafe { open_real!($name)(path, flags, mode) };
            is_real(stringify!($name), opened >= 0 || flags & CHANGING == 0, &[path]);
            opened
        }
    )* };
}

macro_rules! open_real {
    (open) => {
        real!("open", fn(usize, i32, u32) -> i32)
    };
    (open64) => {
        real!("open64", fn(usize, i32, u32) -> i32)
    };
}

opens! { open, open64 }

/// `openat`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn openat(directory: i32, path: usize, flags: i32, mode: u32) -> i32 {
    note(flags & CHANGING != 0);
    if directory == HERE {
        look(path, flags & CREATING == 0);
    }
    let opened = pass_on!("openat", fn(i32, usize, i32, u32) -> i32; directory, path, flags, mode);
    is_real("openat", opened >= 0 || flags & CHANGING == 0, &[path]);
    opened
}

/// `creat`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn creat(path: usize, mode: u32) -> i32 {
    note(true);
    let opened = pass_on!("creat", fn(usize, u32) -> i32; path, mode);
    is_real("creat", opened >= 0, &[path]);
    opened
}

fn changes(mode: *const c_char) -> bool {
    // SAFETY: a string of the program.
    unsafe { CStr::from_ptr(mode) }.to_bytes().iter().any(|b| b"wa+".contains(b))
}

fn creates(mode: *const c_char) -> bool {
    // SAFETY: a string of the program.
    matches!(unsafe { *mode } as u8, b'w' | b'a')
}

/// `fopen`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fopen(path: usize, mode: *const c_char) -> usize {
    note(active() && changes(mode));
    look(path, active() && !creates(mode));
    let stream = pass_on!("fopen", fn(usize, *const c_char) -> usize; path, mode);
    is_real("fopen", stream != 0 || !active() || !changes(mode), &[path]);
    stream
}

/// `fopen64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fopen64(path: usize, mode: *const c_char) -> usize {
    note(active() && changes(mode));
    look(path, active() && !creates(mode));
    let stream = pass_on!("fopen64", fn(usize, *const c_char) -> usize; path, mode);
    is_real("fopen64", stream != 0 || !active() || !changes(mode), &[path]);
    stream
}

/// Functions that change files, with which of their arguments are names of files.
macro_rules! changing {
    ($($name:ident $literal:literal $($path:literal)*),*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(a: usize, b: usize, c: usize, d: usize, e: usize) -> i32 {
            note(true);
            let result = pass_on!($literal, fn(usize, usize, usize, usize, usize) -> i32; a, b, c, d, e);
            is_real($literal, result >= 0, &[$([a, b, c, d, e][$path]),*]);
            result
        }
    )* };
}

changing! {
    mkdir "mkdir" 0, rmdir "rmdir" 0, unlink "unlink" 0, remove "remove" 0, rename "rename" 0 1, symlink "symlink" 1, link "link" 0 1,
    truncate "truncate" 0, truncate64 "truncate64" 0, mkstemp "mkstemp" 0, chmod "chmod" 0,
    mkdirat "mkdirat" 1, unlinkat "unlinkat" 1, renameat "renameat" 1 3, linkat "linkat" 1 3, symlinkat "symlinkat" 2
}

/// A call that changes files has `succeeded`, or would have failed without the sandbox as well: otherwise everything that
/// follows is a run that does not exist. It is refused by name.
fn is_real(name: &str, succeeded: bool, paths: &[usize]) {
    // EPERM, EACCES, EXDEV (how the sandbox refuses to move a file from one directory to another), EROFS.
    const REFUSALS: [i32; 4] = [1, 13, 18, 30];
    // SAFETY: the program's errno.
    if succeeded || !active() || !REFUSALS.contains(unsafe { &*__errno_location() }) {
        return;
    }
    if paths.iter().any(|path| is_kept_from(*path)) {
        let text = format!("{name}: outside of the scratch directory, nothing can be changed during a check");
        fail(FailureKind::Refused, &text, 0);
    }
}

/// Could the program change this file, or make it, if it were not for the sandbox?
fn is_kept_from(path: usize) -> bool {
    const WRITABLE: usize = 2;
    const ACCESS: usize = 21;
    if path == 0 {
        return false;
    }
    // SAFETY: a string of the program, as the call says.
    let name = unsafe { CStr::from_ptr(path as *const c_char) }.to_bytes();
    let parent = match name.iter().rposition(|b| *b == b'/') {
        None => c".".to_owned(),
        Some(0) => c"/".to_owned(),
        Some(at) => std::ffi::CString::new(&name[..at]).unwrap_or_default(),
    };
    // What exists can be changed or, in its directory, removed or replaced.
    let places = [path, parent.as_ptr() as usize];
    let outside = |place: &usize| {
        crate::system::sandbox::whereabouts(*place).is_some_and(|place| !crate::system::sandbox::is_scratch(&place))
            // SAFETY: terminated strings; only asks, which the sandbox does not restrict.
            && unsafe { system_call(ACCESS, [*place, WRITABLE, 0, 0, 0, 0]) } == 0
    };
    places.iter().any(outside)
}

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
}

/// Files are used, and changed or not.
pub fn note(changes: bool) {
    if active() {
        world().files_opened = true;
        world().files_changed |= changes;
        world().files_ever_changed |= changes;
        world().refuse_shared_files(changes);
    }
}

macro_rules! opening {
    ($($name:ident $literal:literal),*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(a: usize, b: usize, c: usize) -> usize {
            note(false);
            // Arguments that the function has not are not looked at.
            pass_on!($literal, fn(usize, usize, usize) -> usize; a, b, c)
        }
    )* };
}

opening! { opendir "opendir" }

/// `tmpfile`, in a directory that the sandbox closes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tmpfile() -> usize {
    note(false);
    let stream = pass_on!("tmpfile", fn() -> usize;);
    is_real("tmpfile", stream != 0, &[c"/tmp/file".as_ptr() as usize]);
    stream
}

/// `tmpfile64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tmpfile64() -> usize {
    // SAFETY: the same function.
    unsafe { tmpfile() }
}

/// `fdopen`: not of pipes and sockets between threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fdopen(descriptor: i32, mode: usize) -> usize {
    note(false);
    if active() && (world().pipes.contains(descriptor) || world().sockets.contains(descriptor)) {
        fail(FailureKind::Refused, "fdopen: streams of the C library on pipes between threads", 0);
    }
    pass_on!("fdopen", fn(i32, usize) -> usize; descriptor, mode)
}

macro_rules! duplicating {
    ($($name:ident $literal:literal),*) => { $(
        #[doc = concat!("`", stringify!($name), "`: not of pipes between threads.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(descriptor: i32, to: i32, flags: i32) -> i32 {
            note(false);
            if active() && (world().pipes.contains(descriptor) || world().sockets.contains(descriptor)) {
                fail(FailureKind::Refused, concat!($literal, ": duplicates of a pipe's descriptor"), 0);
            }
            // Arguments that the function has not are not looked at.
            pass_on!($literal, fn(i32, i32, i32) -> i32; descriptor, to, flags)
        }
    )* };
}

duplicating! { dup "dup", dup2 "dup2", dup3 "dup3" }

/// Makes descriptors of this process refer to another file; says whether that was possible.
pub fn redirect(path: &CStr, flags: usize, to: &[i32]) -> bool {
    // SAFETY: a terminated path; descriptors of this process.
    unsafe {
        let opened = system_call(number::OPEN, [path.as_ptr() as usize, flags, 0, 0, 0, 0]);
        opened >= 0
            && to.iter().all(|&d| system_call(number::DUP2, [opened as usize, d as usize, 0, 0, 0, 0]) >= 0)
            && system_call(number::CLOSE, [opened as usize, 0, 0, 0, 0, 0]) >= 0
    }
}

impl World {
    /// What the program prints is not kept: only that of the execution that is repeated for a trace is shown.
    pub fn discard_output(&mut self) {
        if redirect(c"/dev/null", 1, &[1, 2, SESSION_DESCRIPTOR + 1]) {
            self.shared.output = -1;
        }
    }

    /// Keeps what an execution may change of the process: the current directory, the standard descriptors, the mask for new files.
    pub fn keep_process(&mut self) {
        crate::system::sandbox::directory();
        // SAFETY: descriptors and the mask of this process; the mask is put back at once.
        unsafe {
            system_call(number::DUP2, [0, KEPT_INPUT as usize, 0, 0, 0, 0]);
            self.kept_mask = system_call(UMASK, [0o22, 0, 0, 0, 0, 0]) as usize;
            system_call(UMASK, [self.kept_mask, 0, 0, 0, 0, 0]);
        }
    }

    /// Puts all of that back. What the program prints goes on to where it went at the start.
    fn restore_process(&mut self) {
        const CHDIR: usize = 80;
        let directory = std::ffi::CString::new(crate::system::sandbox::directory()).unwrap_or_default();
        // SAFETY: a terminated path; descriptors that were kept.
        unsafe {
            system_call(CHDIR, [directory.as_ptr() as usize, 0, 0, 0, 0, 0]);
            system_call(UMASK, [self.kept_mask, 0, 0, 0, 0, 0]);
            system_call(number::DUP2, [KEPT_INPUT as usize, 0, 0, 0, 0, 0]);
            for output in [1, 2] {
                system_call(number::DUP2, [SESSION_DESCRIPTOR as usize + 1, output, 0, 0, 0, 0]);
            }
        }
    }

    /// Puts the working directory back to how it was.
    pub fn restore_files(&mut self) {
        if let Some(limit) = self.kept_descriptors.take() {
            const DESCRIPTORS: usize = 7;
            // SAFETY: a struct rlimit, as the process had it.
            unsafe { real!("setrlimit", fn(usize, *const [u64; 2]) -> i32)(DESCRIPTORS, &limit) };
        }
        if std::mem::take(&mut self.process_changed) {
            self.restore_process();
        }
        if self.files_opened {
            self.files_opened = false;
            close_descriptors();
        }
        if !self.files_changed {
            return;
        }
        self.files_changed = false;
        // What fails shows itself as an execution that cannot be repeated.
        let _ = restore();
    }
}

/// Has the program opened descriptors before `main`?
pub fn opened_already() -> bool {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return false };
    let open = entries.flatten().filter_map(|entry| {
        let number: i32 = entry.file_name().to_str()?.parse().ok()?;
        // The directory itself is open while it is read.
        let itself = std::fs::read_link(entry.path()).ok()?.ends_with("fd");
        (!itself).then_some(number)
    });
    open.into_iter().any(|number| number > 2 && !(SESSION_DESCRIPTOR..=KEPT_INPUT).contains(&number))
}

/// Closes what the program has opened.
fn close_descriptors() {
    const OURS: usize = crate::protocol::SESSION_DESCRIPTOR as usize;
    // SAFETY: descriptors of the program; no memory is involved.
    unsafe {
        system_call(number::CLOSE_RANGE, [3, OURS - 1, 0, 0, 0, 0]);
        system_call(number::CLOSE_RANGE, [OURS + 5, u32::MAX as usize, 0, 0, 0, 0]);
    }
}

fn restore() -> std::io::Result<()> {
    for entry in std::fs::read_dir(".")? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            std::fs::remove_dir_all(&path)?;
        } else {
            std::fs::remove_file(&path)?;
        }
    }
    for entry in std::fs::read_dir("../original")? {
        let entry = entry?;
        std::fs::copy(entry.path(), entry.file_name())?;
    }
    Ok(())
}
