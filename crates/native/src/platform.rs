//! What a program cannot be checked on: was it preprocessed for another platform, does it want code on its stacks, and are addresses
//! scarce here?
//!
//! A `.i` file has the library's types as they were where it was made. If they are smaller than those of this machine's
//! library, the library writes past the program's variables, and no verdict would mean anything. Read from the debugging
//! information: types of the library by their names, with the sizes that they have here.

use std::path::Path;

use addr2line::gimli::{self, AttributeValue, EndianSlice, LittleEndian, UnitOffset};
use object::{Object, ObjectSection};

type Unit<'a> = gimli::Unit<EndianSlice<'a, LittleEndian>>;

/// Types of the library, and their sizes on x86-64 Linux.
const SIZES: [(&str, u64); 8] = [
    ("size_t", 8),
    ("pthread_t", 8),
    ("pthread_mutex_t", 40),
    ("pthread_cond_t", 48),
    ("pthread_rwlock_t", 56),
    ("pthread_barrier_t", 32),
    ("pthread_attr_t", 56),
    ("sem_t", 32),
];
/// Types that are names of types, one of the other.
const DEEPEST: usize = 16;

/// Whether the number of addresses that a process may have is limited (`ulimit -v`).
pub(crate) fn addresses_are_limited() -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a structure of the right kind to write to.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    known && limit.rlim_cur != libc::RLIM_INFINITY
}

/// Does the program want to execute code on its stacks, as nested functions whose address is taken do? Those of the runtime have none.
fn executes_stack(bytes: &[u8]) -> bool {
    const STACK: u32 = 0x6474_e551;
    const EXECUTABLE: u32 = 1;
    let number = |at: usize, size: usize| {
        let bytes = bytes.get(at..at + size).unwrap_or_default();
        bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    let (start, size, count) = (number(0x20, 8) as usize, number(0x36, 2) as usize, number(0x38, 2) as usize);
    let headers = (0..count).map(|header| start.saturating_add(header * size));
    headers
        .map(|at| (number(at, 4) as u32, number(at + 4, 4) as u32))
        .any(|(kind, flags)| kind == STACK && flags & EXECUTABLE != 0)
}

/// Why the program cannot be run as it wants to be, in words: code on its stacks, a type of the library that has another size than here;
/// `None` if there is nothing.
pub(crate) fn foreign(program: &Path) -> Option<String> {
    let bytes = std::fs::read(program).ok()?;
    if executes_stack(&bytes) {
        return Some(
            "the program executes code on its stacks (nested functions, a GNU extension)".to_owned(),
        );
    }
    let file = object::File::parse(&*bytes).ok()?;
    let section = |id: gimli::SectionId| -> Result<_, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|s| s.data().ok()).unwrap_or_default();
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let dwarf = gimli::Dwarf::load(section).ok()?;
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let mut entries = unit.entries();
        while let Ok(Some(entry)) = entries.next_dfs() {
            if entry.tag() != gimli::DW_TAG_typedef {
                continue;
            }
            let Some(name) = entry.attr_value(gimli::DW_AT_name) else { continue };
            let Ok(name) = dwarf.attr_string(&unit, name) else { continue };
            let name = name.to_string_lossy();
            let here = SIZES.iter().find(|(known, _)| *known == name);
            if let Some((name, here)) = here
                && let Some(there) = size(&unit, entry.offset(), DEEPEST)
                && there != *here
            {
                return Some(format!(
                    "the program was preprocessed for another platform: {name} has {there} bytes, and {here} here; check the source file instead"
                ));
            }
        }
    }
    None
}

/// The size of the type at `offset`.
fn size(unit: &Unit<'_>, offset: UnitOffset, deepest: usize) -> Option<u64> {
    let entry = unit.entry(offset).ok()?;
    if let Some(size) = entry.attr_value(gimli::DW_AT_byte_size).and_then(|v| v.udata_value()) {
        return Some(size);
    }
    match entry.attr_value(gimli::DW_AT_type)? {
        AttributeValue::UnitRef(next) if deepest > 0 => size(unit, next, deepest - 1),
        _ => None,
    }
}
