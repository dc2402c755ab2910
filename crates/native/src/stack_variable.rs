//! Is what lies at an address of a stack a variable of its function, or one of a block inside of it?
//!
//! A variable of a function exists as long as the function runs. Where a block is entered again, by a loop, its variables are other ones at the
//! same addresses.

use std::path::Path;

use addr2line::gimli::{
    self, AttributeValue, DebuggingInformationEntry, EndianSlice, LittleEndian, Operation,
};
use object::{Object, ObjectSection};

use crate::variables::{DEEPEST, Types};

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// The number of the frame pointer.
const FRAME_POINTER: gimli::Register = gimli::Register(6);

/// A place on a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnStack {
    /// An address within the function's code, in the file's addresses.
    pub code: u64,
    /// How far the place is from the function's frame pointer.
    pub offset: i64,
}

/// Does the place belong to a variable or parameter of the function itself? Without debugging information nobody knows: `false`.
pub(crate) fn is_of_function(path: &Path, place: OnStack) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    let Ok(file) = object::File::parse(&*bytes) else { return false };
    let section = |id: gimli::SectionId| -> Result<Bytes<'_>, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|s| s.data().ok()).unwrap_or_default();
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let Ok(dwarf) = gimli::Dwarf::load(section) else { return false };
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let found = dwarf.unit(header).and_then(|unit| search(&dwarf, &unit, place));
        if let Ok(Some(found)) = found {
            return found;
        }
    }
    false
}

/// The answer, if the function is in this unit.
fn search(
    dwarf: &gimli::Dwarf<Bytes<'_>>,
    unit: &gimli::Unit<Bytes<'_>>,
    place: OnStack,
) -> Result<Option<bool>, gimli::Error> {
    let types = Types { dwarf, unit };
    let mut entries = unit.entries();
    let mut functions = Vec::new();
    while let Some(entry) = entries.next_dfs()? {
        if entry.tag() == gimli::DW_TAG_subprogram {
            let mut ranges = dwarf.die_ranges(unit, entry)?;
            while let Some(range) = ranges.next()? {
                if (range.begin..range.end).contains(&place.code) {
                    functions.push(entry.offset());
                }
            }
        }
    }
    let Some(function) = functions.first() else { return Ok(None) };
    let mut tree = unit.entries_tree(Some(*function))?;
    let root = tree.root()?;
    let Some(base) = base(unit, root.entry())? else { return Ok(Some(false)) };
    let mut children = root.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        let is_variable = matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter);
        if let (true, Some(start), Some(AttributeValue::UnitRef(of))) =
            (is_variable, offset(unit, entry)?, entry.attr_value(gimli::DW_AT_type))
        {
            let (size, _) = types.shape(of, DEEPEST)?;
            if (base + start..base + start + size as i64).contains(&place.offset) {
                return Ok(Some(true));
            }
        }
    }
    Ok(Some(false))
}

/// How far from the frame pointer the places of a function's variables are counted.
fn base(
    unit: &gimli::Unit<Bytes<'_>>,
    function: &DebuggingInformationEntry<Bytes<'_>>,
) -> Result<Option<i64>, gimli::Error> {
    let Some(AttributeValue::Exprloc(place)) = function.attr_value(gimli::DW_AT_frame_base) else {
        return Ok(None);
    };
    Ok(match place.operations(unit.encoding()).next()? {
        // The return address and the caller's frame pointer lie in between.
        Some(Operation::CallFrameCFA) => Some(16),
        Some(Operation::Register { register: FRAME_POINTER }) => Some(0),
        _ => None,
    })
}

fn offset(
    unit: &gimli::Unit<Bytes<'_>>,
    variable: &DebuggingInformationEntry<Bytes<'_>>,
) -> Result<Option<i64>, gimli::Error> {
    let Some(AttributeValue::Exprloc(place)) = variable.attr_value(gimli::DW_AT_location) else {
        return Ok(None);
    };
    Ok(match place.operations(unit.encoding()).next()? {
        Some(Operation::FrameOffset { offset }) => Some(offset),
        _ => None,
    })
}
