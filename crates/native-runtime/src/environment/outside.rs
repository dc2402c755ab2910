//! What the program takes from outside: standard input, the environment, the clock, files that were not given.
//!
//! An answer is relative to all of this. It is the same in every execution, so nothing else would tell the user that an empty
//! input or another clock was never tried. Each kind is noted where it is taken first, with the names of what was asked for.
//!
//! Standard input has two witnesses: the table of library functions (`library`), which knows the place, and the filter for
//! system calls (`sandbox`), which also sees code that is in no table, such as that of `std::cin`.

use crate::exploration::world::{active, controlled, fail, world};
use crate::protocol::{FailureKind, MORE, NAMES, Outside, Stack};

/// Takes note.
pub fn note(what: Outside, name: &[u8]) {
    if active() {
        let stack = world().stack_here();
        note_at(what, name, stack);
    }
}

/// Takes note, for code that was interrupted with this stack.
pub fn note_at(what: Outside, name: &[u8], stack: Stack) {
    if !controlled() {
        return;
    }
    let mut w = world();
    let w = &mut *w;
    let taken = &mut w.shared.outside[what as usize];
    if taken.met == 0 {
        (taken.met, taken.stack) = (1, stack);
        w.outside_noted = true;
    }
    let used = taken.names_length as usize;
    let is_known = taken.names[..used].split(|b| *b == b'\n').any(|known| known == name);
    if name.is_empty() || is_known || taken.names[..used].ends_with(MORE.as_bytes()) {
        return;
    }
    let is_room = used + name.len() + 2 + MORE.len() <= NAMES;
    let name = if is_room { name } else { MORE.as_bytes() };
    let start = used + usize::from(used > 0);
    if used > 0 {
        taken.names[used] = b'\n';
    }
    taken.names[start..start + name.len()].copy_from_slice(name);
    taken.names_length = (start + name.len()) as u32;
    w.outside_noted = true;
}

/// A file is looked for by its name, and not to be made anew.
pub fn note_file(path: usize) {
    if !active() || path == 0 {
        return;
    }
    // SAFETY: a string of the program, as the call says.
    let name = unsafe { std::ffi::CStr::from_ptr(path as *const std::ffi::c_char) }.to_bytes();
    let w = world();
    // As long as no execution has changed a file or the current directory, a name means what it meant.
    if !w.files_ever_changed && w.external.is_harmless(name) {
        return;
    }
    match crate::system::sandbox::whereabouts(path) {
        None => note(Outside::Missing, name),
        Some(place) => match place.as_os_str().as_encoded_bytes() {
            b"/dev/null" | b"/dev/zero" | b"/dev/full" => {}
            b"/dev/random" | b"/dev/urandom" => {
                fail(
                    FailureKind::Refused,
                    "random numbers of the kernel are different in every execution",
                    0,
                );
            }
            _ if crate::system::sandbox::is_scratch(&place) => world().external.note_harmless(name),
            // The only file in memory: standard input under another name.
            place if place.starts_with(b"/memfd:") => note(Outside::Input, b""),
            _ => note(Outside::Files, name),
        },
    }
}
