//! Which parts of a frame are single numbers or pointers: from the debugging information, as offsets from the frame pointer.
//!
//! If the address of such a variable is given away, the compiler puts a hook before every read of it, directly or through a pointer. Structures and arrays are not among them: primitives and sets of signals are read by the runtime itself, without a hook.

use std::collections::HashMap;

use addr2line::gimli::{self, AttributeValue, EndianSlice, LittleEndian, UnitOffset};
use object::{Object, ObjectSection};

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// Offset from the frame pointer, and size.
pub type Scalars = Vec<(i64, u32)>;

/// Types that are followed: names and qualifiers of types.
const DEEPEST: usize = 12;

/// The variables of all functions, by the address of the function. Of what cannot be read nothing is known.
fn frames(file: &object::File<'_>) -> HashMap<u64, Vec<Place>> {
    let section = |id: gimli::SectionId| -> Result<Bytes<'_>, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|s| s.data().ok()).unwrap_or_default();
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let mut found: HashMap<u64, Vec<Place>> = HashMap::new();
    if let Ok(dwarf) = gimli::Dwarf::load(section) {
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            if let Ok(unit) = dwarf.unit(header) {
                let _ = collect(&dwarf, &unit, &mut found);
            }
        }
    }
    found
}

/// The scalar variables of all functions, by the address of the function. A place that a variable of another kind shares is left out.
pub fn scalars(file: &object::File<'_>) -> HashMap<u64, Scalars> {
    frames(file)
        .into_iter()
        .map(|(start, variables)| {
            let others: Vec<&Place> = variables.iter().filter(|v| !v.is_scalar).collect();
            let apart = |v: &&Place| !others.iter().any(|o| v.start < o.end && o.start < v.end);
            let scalars = variables.iter().filter(|v| v.is_scalar).filter(apart);
            (start, scalars.map(|v| (v.start, (v.end - v.start) as u32)).collect())
        })
        .collect()
}

/// A variable of a frame.
struct Place {
    name: String,
    start: i64,
    end: i64,
    is_scalar: bool,
}

/// The variable at an offset from the frame pointer of the function at `function`.
pub fn variable(file: &object::File<'_>, function: u64, offset: i64) -> Option<String> {
    let places = frames(file).remove(&function)?;
    places.into_iter().find(|p| (p.start..p.end).contains(&offset)).map(|p| p.name).filter(|n| !n.is_empty())
}

fn collect<'a>(
    dwarf: &gimli::Dwarf<Bytes<'a>>,
    unit: &gimli::Unit<Bytes<'a>>,
    found: &mut HashMap<u64, Vec<Place>>,
) -> Result<(), gimli::Error> {
    // The function around the entry: its depth, its address, and how far its frame base is above the frame pointer.
    let mut around: Option<(isize, u64, i64)> = None;
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        let depth = entry.depth();
        if around.is_some_and(|(of, ..)| depth <= of) {
            around = None;
        }
        match entry.tag() {
            gimli::DW_TAG_subprogram => {
                let start = match entry.attr_value(gimli::DW_AT_low_pc) {
                    Some(AttributeValue::Addr(start)) => Some(start),
                    _ => None,
                };
                let base = match entry.attr_value(gimli::DW_AT_frame_base) {
                    Some(AttributeValue::Exprloc(base)) => match base.operations(unit.encoding()).next()? {
                        // The address after the return address; the frame pointer of the caller is below that.
                        Some(gimli::Operation::CallFrameCFA) => Some(16),
                        Some(gimli::Operation::Register { register }) if register.0 == 6 => Some(0),
                        _ => None,
                    },
                    _ => None,
                };
                around = start.zip(base).map(|(start, base)| (depth, start, base));
            }
            gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                let (Some((_, start, base)), Some(AttributeValue::Exprloc(place))) =
                    (around, entry.attr_value(gimli::DW_AT_location))
                else {
                    continue;
                };
                let (Some(gimli::Operation::FrameOffset { offset }), Some(AttributeValue::UnitRef(of))) =
                    (place.operations(unit.encoding()).next()?, entry.attr_value(gimli::DW_AT_type))
                else {
                    continue;
                };
                let scalar = size_of_scalar(unit, of, DEEPEST)?;
                let size = scalar.map_or_else(|| size_of(unit, of, DEEPEST), |size| Ok(i64::from(size)))?;
                let first = offset + base;
                let name = match entry.attr_value(gimli::DW_AT_name) {
                    Some(name) => dwarf.attr_string(unit, name)?.to_string_lossy().into_owned(),
                    None => String::new(),
                };
                let place = Place {
                    name,
                    start: first,
                    end: first.saturating_add(size),
                    is_scalar: scalar.is_some(),
                };
                found.entry(start).or_default().push(place);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The size of a type, if it is that of a number or pointer. What is volatile or atomic may be a lock of the runtime's.
fn size_of_scalar(
    unit: &gimli::Unit<Bytes<'_>>,
    at: UnitOffset,
    depth: usize,
) -> Result<Option<u32>, gimli::Error> {
    let entry = unit.entry(at)?;
    let size = entry.attr_value(gimli::DW_AT_byte_size).and_then(|v| v.udata_value());
    match (entry.tag(), entry.attr_value(gimli::DW_AT_type)) {
        (gimli::DW_TAG_typedef | gimli::DW_TAG_const_type, Some(AttributeValue::UnitRef(inner)))
            if depth > 0 =>
        {
            size_of_scalar(unit, inner, depth - 1)
        }
        (gimli::DW_TAG_pointer_type, _) => Ok(Some(8)),
        (gimli::DW_TAG_base_type | gimli::DW_TAG_enumeration_type, _) => {
            Ok(size.and_then(|size| u32::try_from(size).ok()).filter(|size| matches!(size, 4 | 8)))
        }
        _ => Ok(None),
    }
}

/// The size of any type; of one whose size is not told, more than there can be.
fn size_of(unit: &gimli::Unit<Bytes<'_>>, at: UnitOffset, depth: usize) -> Result<i64, gimli::Error> {
    let mut tree = unit.entries_tree(Some(at))?;
    let root = tree.root()?;
    let entry = root.entry();
    if let Some(size) = entry.attr_value(gimli::DW_AT_byte_size).and_then(|v| v.udata_value()) {
        return Ok(i64::try_from(size).unwrap_or(i64::MAX));
    }
    let inner = match entry.attr_value(gimli::DW_AT_type) {
        Some(AttributeValue::UnitRef(inner)) if depth > 0 => size_of(unit, inner, depth - 1)?,
        _ => return Ok(i64::MAX),
    };
    if entry.tag() != gimli::DW_TAG_array_type {
        return Ok(inner);
    }
    let mut size = inner;
    let mut children = root.children();
    while let Some(child) = children.next()? {
        let number = |name| child.entry().attr_value(name).and_then(|v| v.udata_value());
        let last = number(gimli::DW_AT_upper_bound).map(|last| last.wrapping_add(1));
        let count = number(gimli::DW_AT_count).or(last).and_then(|n| i64::try_from(n).ok());
        size = count.map_or(i64::MAX, |count| size.saturating_mul(count));
    }
    Ok(size)
}
