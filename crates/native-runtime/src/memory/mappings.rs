//! Memory that the program maps itself: at addresses that depend on its thread's past alone, gone before the next execution.

use crate::exploration::world::{Runtime, World, active, fail, world};
use crate::pass_on;
use crate::protocol::{FailureKind, THREADS};
use crate::system::system_call::{number, system_call};

/// Where the mappings lie: an area per thread.
const BASE: usize = 0x5c00_0000_0000;
const AREA: usize = 1 << 36;
const PAGE: usize = 4096;

const FIXED: i32 = 0x10 | 0x10_0000;
const SHARED: i32 = 1;
const ANONYMOUS: i32 = 0x20;
const WRITABLE: i32 = 2;

/// How much of each area is in use.
pub struct Mappings {
    used: [usize; THREADS],
    /// What is mapped now: address and length.
    live: Vec<(usize, usize)>,
    /// Has the program mapped a file?
    has_file: bool,
    /// Has it mapped one so that others see what is written?
    has_shared_file: bool,
}

impl Default for Mappings {
    fn default() -> Mappings {
        Mappings { used: [0; THREADS], live: Vec::new(), has_file: false, has_shared_file: false }
    }
}

impl Mappings {
    /// Is anything mapped that the program has mapped?
    pub fn in_use(&self) -> bool {
        !self.live.is_empty()
    }

    /// A part of the program's memory is not mapped any more. A thread that has nothing left starts again: what it has mapped and given back
    /// does not tell it apart.
    fn given_back(&mut self, address: usize, length: usize) {
        self.live.retain(|(start, size)| !(address <= *start && start + size <= address + length));
        for (thread, used) in self.used.iter_mut().enumerate() {
            let area = BASE + thread * AREA..BASE + (thread + 1) * AREA;
            if !self.live.iter().any(|(start, _)| area.contains(start)) {
                *used = 0;
            }
        }
    }

    /// Takes everything away.
    pub fn restart(&mut self) {
        (self.has_file, self.has_shared_file) = (false, false);
        self.live.clear();
        for (thread, used) in self.used.iter_mut().enumerate().filter(|(_, used)| **used > 0) {
            const MUNMAP: usize = 11;
            // SAFETY: the area has only mappings of the program, which does not run.
            unsafe { system_call(MUNMAP, [BASE + thread * AREA, *used, 0, 0, 0, 0]) };
            *used = 0;
        }
    }
}

impl World {
    /// Room for a new mapping of the running thread; `None` if there is none.
    fn place_mapping(&mut self, length: usize) -> Option<usize> {
        let used = &mut self.mappings.used[self.current];
        let start = *used;
        // A page in between belongs to nobody.
        let end = length.checked_next_multiple_of(PAGE)?.checked_add(start + PAGE)?;
        (end <= AREA).then(|| {
            *used = end;
            BASE + self.current * AREA + start
        })
    }
}

impl Runtime {
    /// One byte of a file can lie at several addresses, and can be written by `write`: accesses that depend on each other
    /// without being at one place. So with several threads a file is mapped for itself and not changed, or not at all.
    pub fn refuse_shared_files(self, changes: bool) {
        let text = match self.threaded {
            true if self.mappings.has_shared_file => {
                "mmap: a mapping of a file that other mappings of it see"
            }
            true if self.mappings.has_file && changes => "mmap: of a file, while files are changed",
            _ => return,
        };
        fail(FailureKind::Refused, text, 0);
    }
}

/// Code that a program makes while it runs has no hooks, and nobody has looked at it.
fn refuse_code(protection: i32, text: &'static str, address: usize) {
    const EXECUTABLE: i32 = 4;
    if protection & EXECUTABLE != 0 {
        fail(FailureKind::Refused, text, address);
    }
}

fn map(address: usize, length: usize, protection: i32, flags: i32, file: i32, offset: i64) -> isize {
    refuse_code(
        protection,
        "mmap: memory that can be executed; code that a program makes is not checked",
        address,
    );
    if flags & FIXED != 0 {
        fail(FailureKind::Refused, "mmap: a mapping at a fixed address", address);
    }
    if flags & ANONYMOUS == 0 {
        let mut w = world();
        w.mappings.has_file = true;
        w.mappings.has_shared_file |= flags & SHARED != 0 && protection & WRITABLE != 0;
        w.refuse_shared_files(w.files_changed);
    }
    if flags & SHARED != 0 && flags & ANONYMOUS == 0 && protection & WRITABLE != 0 {
        crate::descriptors::files::note(true);
    }
    let Some(place) = world().place_mapping(length) else { return -12 };
    let arguments =
        [place, length, protection as usize, (flags | 0x10) as usize, file as usize, offset as usize];
    // SAFETY: a new mapping where none is.
    let result = unsafe { system_call(number::MMAP, arguments) };
    if result == place as isize {
        world().mappings.live.push((place, length.next_multiple_of(PAGE)));
    }
    result
}

/// `munmap`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn munmap(address: usize, length: usize) -> i32 {
    let result = pass_on!("munmap", fn(usize, usize) -> i32; address, length);
    if active() && result == 0 {
        world().mappings.given_back(address, length.next_multiple_of(PAGE));
    }
    result
}

/// `mprotect`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mprotect(address: usize, length: usize, protection: i32) -> i32 {
    if active() {
        let text = "mprotect: memory that can be executed; code that a program makes is not checked";
        refuse_code(protection, text, address);
    }
    pass_on!("mprotect", fn(usize, usize, i32) -> i32; address, length, protection)
}

macro_rules! maps {
    ($($name:ident $literal:literal),*) => { $(
        #[doc = concat!("`", $literal, "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            address: usize, length: usize, protection: i32, flags: i32, file: i32, offset: i64,
        ) -> isize {
            if !active() {
                return pass_on!($literal, fn(usize, usize, i32, i32, i32, i64) -> isize; address, length, protection, flags, file, offset);
            }
            let result = map(address, length, protection, flags, file, offset);
            if result < 0 {
                // SAFETY: the program's errno.
                unsafe { *__errno_location() = -result as i32 };
                return -1;
            }
            result
        }
    )* };
}

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
}

maps! { mmap "mmap", mmap64 "mmap64" }
