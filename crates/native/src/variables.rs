//! What the program calls a place inside of a variable: `seat[2].fork`, from the debugging information.
//!
//! Variables of static storage with their types are read from DWARF, as far as needed to name places: arrays, structures and
//! their members. What a union holds, and members whose names begin with an underscore (the inside of the library's
//! types), are not named.

use addr2line::gimli::{self, AttributeValue, EndianSlice, LittleEndian, UnitOffset};
use object::{Object, ObjectSection};

type Bytes<'a> = EndianSlice<'a, LittleEndian>;
type Unit<'a> = gimli::Unit<Bytes<'a>>;

/// Types within types that are followed: names of more are not readable.
pub(crate) const DEEPEST: usize = 12;

/// What a type is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    Plain,
    /// Size and shape of an element.
    Array(u64, Box<Shape>),
    /// Offset, size, name and shape of each member.
    Structure(Vec<(u64, u64, String, Shape)>),
}

/// A variable.
pub(crate) struct Variable {
    /// Where it begins, in the file's addresses.
    pub start: u64,
    pub size: u64,
    name: String,
    shape: Shape,
}

impl Variable {
    /// The name of the place `offset` bytes after its start.
    pub fn place(&self, mut offset: u64) -> String {
        let mut name = self.name.clone();
        let mut shape = &self.shape;
        loop {
            match shape {
                Shape::Array(size, element) if *size > 0 => {
                    name.push_str(&format!("[{}]", offset / size));
                    (offset, shape) = (offset % size, element);
                }
                Shape::Structure(members) => {
                    let around = |m: &&(u64, u64, String, Shape)| m.0 <= offset && offset < m.0 + m.1;
                    let Some((start, _, member, inner)) = members.iter().find(around) else { break };
                    name.push_str(&format!(".{member}"));
                    (offset, shape) = (offset - start, inner);
                }
                _ => break,
            }
        }
        if offset > 0 {
            name.push_str(&format!("+{offset}"));
        }
        name
    }
}

/// The variables of a program, sorted by address.
pub(crate) fn variables(file: &object::File<'_>) -> Vec<Variable> {
    let section = |id: gimli::SectionId| -> Result<Bytes<'_>, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|s| s.data().ok()).unwrap_or_default();
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let mut found = Vec::new();
    // What cannot be read has no names.
    if let Ok(dwarf) = gimli::Dwarf::load(section) {
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            if let Ok(unit) = dwarf.unit(header) {
                let _ = collect(&dwarf, &unit, &mut found);
            }
        }
    }
    found.sort_by_key(|variable: &Variable| variable.start);
    found
}

fn collect<'a>(
    dwarf: &gimli::Dwarf<Bytes<'a>>,
    unit: &Unit<'a>,
    found: &mut Vec<Variable>,
) -> Result<(), gimli::Error> {
    let types = Types { dwarf, unit };
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        let Some(AttributeValue::Exprloc(place)) = entry.attr_value(gimli::DW_AT_location) else { continue };
        if entry.tag() != gimli::DW_TAG_variable {
            continue;
        }
        let mut operations = place.operations(unit.encoding());
        let Some(gimli::Operation::Address { address }) = operations.next()? else { continue };
        // A variable that is declared elsewhere has its name and type there.
        let declared = match entry.attr_value(gimli::DW_AT_specification) {
            Some(AttributeValue::UnitRef(at)) => Some(unit.entry(at)?),
            _ => None,
        };
        let attribute = |name| {
            entry.attr_value(name).or_else(|| declared.as_ref().and_then(|entry| entry.attr_value(name)))
        };
        let (Some(name), Some(AttributeValue::UnitRef(of))) =
            (attribute(gimli::DW_AT_name), attribute(gimli::DW_AT_type))
        else {
            continue;
        };
        let name = dwarf.attr_string(unit, name)?.to_string_lossy().into_owned();
        let (size, shape) = types.shape(of, DEEPEST)?;
        if size > 0 {
            found.push(Variable { start: address, size, name, shape });
        }
    }
    Ok(())
}

/// The types of a unit.
pub(crate) struct Types<'u, 'a> {
    pub dwarf: &'u gimli::Dwarf<Bytes<'a>>,
    pub unit: &'u Unit<'a>,
}

impl Types<'_, '_> {
    /// Size and shape of the type at `at`.
    pub fn shape(&self, at: UnitOffset, depth: usize) -> Result<(u64, Shape), gimli::Error> {
        let mut tree = self.unit.entries_tree(Some(at))?;
        let root = tree.root()?;
        let entry = root.entry();
        let size = entry.attr_value(gimli::DW_AT_byte_size).and_then(|v| v.udata_value()).unwrap_or(0);
        let inner = match entry.attr_value(gimli::DW_AT_type) {
            Some(AttributeValue::UnitRef(inner)) => Some(inner),
            _ => None,
        };
        match entry.tag() {
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type => match inner {
                Some(inner) if depth > 0 => self.shape(inner, depth - 1),
                _ => Ok((size, Shape::Plain)),
            },
            gimli::DW_TAG_array_type => {
                let Some(inner) = inner.filter(|_| depth > 0) else { return Ok((size, Shape::Plain)) };
                let (mut size, mut shape) = self.shape(inner, depth - 1)?;
                let mut counts = Vec::new();
                let mut children = root.children();
                while let Some(child) = children.next()? {
                    let number = |name| child.entry().attr_value(name).and_then(|v| v.udata_value());
                    let last = number(gimli::DW_AT_upper_bound).map(|last| last.wrapping_add(1));
                    counts.push(number(gimli::DW_AT_count).or(last).unwrap_or(0));
                }
                // The last dimension is the innermost.
                for count in counts.into_iter().rev() {
                    shape = Shape::Array(size, Box::new(shape));
                    size = size.saturating_mul(count);
                }
                Ok((size, shape))
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type if depth > 0 => {
                let mut members = Vec::new();
                let mut children = root.children();
                while let Some(child) = children.next()? {
                    let child = child.entry();
                    let offset = child.attr_value(gimli::DW_AT_data_member_location);
                    let (Some(offset), Some(name), Some(AttributeValue::UnitRef(of)), gimli::DW_TAG_member) = (
                        offset.and_then(|v| v.udata_value()),
                        child.attr_value(gimli::DW_AT_name),
                        child.attr_value(gimli::DW_AT_type),
                        child.tag(),
                    ) else {
                        continue;
                    };
                    let name = self.dwarf.attr_string(self.unit, name)?.to_string_lossy().into_owned();
                    if !name.starts_with('_') {
                        let (size, shape) = self.shape(of, depth - 1)?;
                        members.push((offset, size, name, shape));
                    }
                }
                Ok((size, Shape::Structure(members)))
            }
            // A pointer's size need not be told.
            gimli::DW_TAG_pointer_type if size == 0 => Ok((8, Shape::Plain)),
            _ => Ok((size, Shape::Plain)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_the_names_of_the_source() {
        let seat = Shape::Structure(vec![
            (0, 40, "fork".to_owned(), Shape::Plain),
            (40, 8, "taken".to_owned(), Shape::Array(4, Box::new(Shape::Plain))),
        ]);
        let table = Variable {
            start: 0,
            size: 144,
            name: "seat".to_owned(),
            shape: Shape::Array(48, Box::new(seat)),
        };
        assert_eq!(table.place(0), "seat[0].fork");
        assert_eq!(table.place(96), "seat[2].fork");
        assert_eq!(table.place(48 + 44), "seat[1].taken[1]");
        assert_eq!(table.place(8), "seat[0].fork+8");
    }
}
