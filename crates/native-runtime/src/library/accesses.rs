//! What library functions do to memory that they are given.

use super::format;
use super::table::{Access, Extent, Function, Pointer};
use crate::exploration::race::How;
use crate::exploration::world::{fail, running, world};
use crate::library::stub::{Call, Saved};
use crate::protocol::FailureKind;

/// Reads a byte of the program. What cannot be read is a crash of the program, which called a function with it.
fn byte(address: usize) -> u8 {
    // SAFETY: the program has given this address to a function that reads it.
    unsafe { *(address as *const u8) }
}

/// The same for a word.
fn word(address: usize) -> usize {
    // SAFETY: as above.
    unsafe { (address as *const usize).read_unaligned() }
}

/// Where an access begins; 0 if nowhere.
fn place(pointer: Pointer, arguments: &[usize; 6], result: usize) -> usize {
    match pointer {
        Pointer::Argument(n) => arguments[n as usize],
        Pointer::Held(n) if arguments[n as usize] == 0 => 0,
        Pointer::Held(n) => word(arguments[n as usize]),
        Pointer::Result => result,
        Pointer::Variable(n) => world().library.variables[n as usize],
    }
}

/// Bytes of the string at `text`, its end included, but at most `most`.
pub fn text_size(text: usize, most: usize) -> usize {
    (0..most).find(|&n| byte(text + n) == 0).map_or(most, |n| n + 1)
}

/// Bytes of two strings that are compared until they differ.
fn common_size(a: usize, b: usize, most: usize) -> usize {
    let ends = |n: &usize| byte(a + n) != byte(b + n) || byte(a + n) == 0;
    (0..most).find(ends).map_or(most, |n| n + 1)
}

/// Characters that are read to find out about a number.
fn number_size(text: usize) -> usize {
    let spaces = (0..).find(|n| !byte(text + n).is_ascii_whitespace()).unwrap_or(0);
    let of_number = |c: u8| c.is_ascii_alphanumeric() || b"+-.".contains(&c);
    (spaces..).find(|n| !of_number(byte(text + n))).map_or(0, |n| n + 1)
}

/// The part of memory at `at` that is known before the call: start and size.
fn part_before(extent: Extent, at: usize, arguments: &[usize; 6]) -> (usize, usize) {
    let argument = |n: u8| arguments[n as usize];
    if let Extent::Appended(other, most) = extent {
        let most = most.map_or(usize::MAX, argument);
        let added = text_size(argument(other), most);
        // The end is added if the limit has cut it off.
        let ends = added > 0 && byte(argument(other) + added - 1) == 0;
        return (at + text_size(at, usize::MAX) - 1, added + usize::from(!ends));
    }
    (at, size_before(extent, at, arguments))
}

fn size_before(extent: Extent, at: usize, arguments: &[usize; 6]) -> usize {
    let argument = |n: u8| arguments[n as usize];
    match extent {
        Extent::Argument(n) => argument(n),
        Extent::Product(a, b) => argument(a).saturating_mul(argument(b)),
        Extent::Constant(n) => n as usize,
        Extent::Between(from, to) => argument(to).saturating_sub(argument(from)),
        // A string of C++: where its text is, its length, and room for a short one.
        Extent::Length(n) => word(argument(n) + 8).saturating_add(1),
        Extent::Text => text_size(at, usize::MAX),
        Extent::TextUpTo(n) => text_size(at, argument(n)),
        Extent::LengthOf(n) => text_size(argument(n), usize::MAX),
        Extent::Common(other, None) => common_size(at, argument(other), usize::MAX),
        Extent::Common(other, Some(most)) => common_size(at, argument(other), argument(most)),
        Extent::Number => number_size(at),
        Extent::Strings(n) => argument(n).saturating_mul(8),
        _ => 0,
    }
}

/// The same for what is known afterwards. Results of type `int` have nothing in their upper half.
fn size_after(extent: Extent, at: usize, call: &Call, result: usize) -> usize {
    let argument = |n: u8| call.arguments[n as usize];
    match extent {
        Extent::ResultBytes => usize::try_from(result as isize).unwrap_or(0),
        Extent::ResultTimes(n) => result.saturating_mul(argument(n)),
        Extent::TextAfterwards if result as i32 == 0 || result as i32 == -1 => 0,
        Extent::TextAfterwards | Extent::End => text_size(at, usize::MAX),
        Extent::Printed(n) => usize::try_from(result as i32).map_or(0, |r| (r + 1).min(argument(n))),
        Extent::UpToResult if result >= at => result - at + 1,
        Extent::UpToResultOr(_) if result >= at => result - at + 1,
        Extent::UpToResultOr(n) => argument(n),
        Extent::UpToResult => text_size(at, usize::MAX),
        Extent::ChangedWords(n) if words_hash(at, argument(n)) == call.words => 0,
        Extent::ChangedWords(n) => argument(n).saturating_mul(8),
        extent => size_before(extent, at, &call.arguments),
    }
}

/// A hash of so many words. One word that changes always shows.
fn words_hash(at: usize, count: usize) -> u64 {
    let mix = |hash: u64, n: usize| {
        (hash ^ word(at + 8 * n) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    };
    (0..count).fold(count as u64, mix)
}

/// What is compared after the call: see [`Extent::ChangedWords`].
pub fn words_before(function: &Function, arguments: &[usize; 6]) -> u64 {
    function.accesses.iter().fold(0, |known, access| match access.extent {
        Extent::ChangedWords(n) => words_hash(place(access.pointer, arguments, 0), arguments[n as usize]),
        _ => known,
    })
}

fn is_late(access: &Access) -> bool {
    access.extent.is_afterwards() || access.pointer == Pointer::Result
}

/// The accesses known before the call: where, how far, how.
fn early<'a>(
    function: &'a Function,
    arguments: &'a [usize; 6],
) -> impl Iterator<Item = (usize, usize, &'a Access)> {
    // Of strings that an array points to, as many parts as there are strings, after the array.
    let strings = |access: &Access| match access.extent {
        Extent::Strings(n) => arguments[n as usize],
        _ => 0,
    };
    let parts = move |access: &'a Access| (0..=strings(access)).map(move |part| (part, access));
    function.accesses.iter().filter(|a| !is_late(a)).flat_map(parts).filter_map(move |(part, access)| {
        let at = place(access.pointer, arguments, 0);
        let (at, size) = match (at, part) {
            (0, _) => (0, 0),
            (at, 0) => part_before(access.extent, at, arguments),
            (at, part) => match word(at + 8 * (part - 1)) {
                0 => (0, 0),
                text => (text, text_size(text, usize::MAX)),
            },
        };
        (size > 0).then_some((at, size, access))
    })
}

/// How many steps of the exploration these accesses would be: more than none only if races are allowed.
pub fn visible_steps(function: &Function, arguments: &[usize; 6]) -> usize {
    if world().shared.allow_races == 0 || !world().threaded {
        return 0;
    }
    let races = |(at, size, access): (usize, usize, &Access)| {
        if world().objects.range_races(at, size) {
            usize::from(access.reads) + usize::from(access.writes)
        } else {
            0
        }
    };
    early(function, arguments).map(races).sum()
}

/// A plain access inside of a function.
pub fn note(address: usize, size: usize, how: How) {
    if running() && size > 0 {
        crate::exploration::race::access(address, size, how);
    }
}

/// Takes note of the accesses that are known before the call.
pub fn before(function: &Function, saved: &Saved) {
    for (at, size, access) in early(function, &saved.arguments) {
        if access.reads {
            note(at, size, How::READ);
        }
        if access.writes {
            note(at, size, How::WRITE);
        }
    }
    if let Some(format) = function.format {
        format::read(function, format, saved);
    }
}

/// An access that has happened: it cannot be a step of its own any more.
pub fn note_late(address: usize, size: usize, how: How, name: &str) {
    let mut w = world();
    if size == 0 || address == 0 {
        return;
    }
    w.check_address(address, size, how.write);
    if !w.threaded {
        return;
    }
    if w.shared.allow_races != 0 && w.objects.range_races(address, size) {
        fail(FailureKind::Refused, &format!("calls {name}: it accesses memory that races"), address);
    }
    w.note_for_symmetry(address, size);
    w.note_plain(address, size);
    w.note_access(address, size, how);
    w.note_stale(address, size, how.write);
    w.note_errno(address, how.write);
}

/// Takes note of the others.
pub fn after(function: &Function, call: &Call, result: usize, name: &str) {
    for access in function.accesses.iter().filter(|a| is_late(a)) {
        let at = place(access.pointer, &call.arguments, result);
        if at == 0 {
            continue;
        }
        let size = size_after(access.extent, at, call, result);
        let (at, size) = if access.extent == Extent::End { (at + size - 1, 1) } else { (at, size) };
        if access.reads {
            note_late(at, size, How::READ, name);
        }
        if access.writes {
            note_late(at, size, How::WRITE, name);
        }
    }
    if let Some(format) = function.format
        && format.scans
    {
        format::scanned(format, call, result as i32, name);
    }
}
