//! Scalars in bytes.

use quotient_program::{IntType, Program, RangeType, Type};

/// How a scalar is kept in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// One unsigned byte, of which `mask` is used.
    U8(u8),
    /// Two bytes, of which `mask` is used.
    U16(u16),
    /// Two bytes, signed.
    I16,
    /// Four bytes, as a 32-bit integer, of which `mask` is used.
    U32(u32),
    /// Four bytes.
    I32,
}

impl Cell {
    /// An unsigned number of so many bytes: 1, 2 or 4.
    pub(crate) fn of_size(bytes: u32) -> Cell {
        match bytes {
            1 => Cell::U8(u8::MAX),
            2 => Cell::U16(u16::MAX),
            _ => Cell::U32(u32::MAX),
        }
    }

    fn of_int(int: IntType) -> Cell {
        let ones = |n: u8| if n >= 32 { u32::MAX } else { (1u32 << n) - 1 };
        match (int.bits, int.signed) {
            (..=8, false) => Cell::U8(ones(int.bits) as u8),
            (9..=16, false) => Cell::U16(ones(int.bits) as u16),
            (_, false) => Cell::U32(ones(int.bits)),
            (16, true) => Cell::I16,
            (_, true) => Cell::I32,
        }
    }

    /// The smallest cell that holds every value of a range.
    fn of_range(range: RangeType) -> Cell {
        match (range.low, range.high) {
            (0.., ..=0xff) => Cell::U8(u8::MAX),
            (0.., ..=0xffff) => Cell::U16(u16::MAX),
            (-0x8000.., ..=0x7fff) => Cell::I16,
            _ => Cell::I32,
        }
    }

    /// The cell of a scalar type.
    pub(crate) fn of(ty: &Type) -> Cell {
        match ty {
            Type::Int(int) => Cell::of_int(*int),
            Type::Range(range) => Cell::of_range(*range),
            Type::Enumeration(_) | Type::Channel | Type::Thread => Cell::U8(u8::MAX),
            Type::Reference(_) | Type::Function => Cell::U16(u16::MAX),
            // Structures and arrays are taken apart before a cell is asked for.
            Type::Structure(_) | Type::Array(..) => unreachable!("not a scalar"),
        }
    }

    /// Bytes it takes.
    pub(crate) fn size(self) -> u32 {
        match self {
            Cell::U8(_) => 1,
            Cell::U16(_) | Cell::I16 => 2,
            Cell::U32(_) | Cell::I32 => 4,
        }
    }

    /// Reads a value.
    ///
    /// # Safety
    /// `at` must be valid for reading [`Cell::size`] bytes.
    #[inline(always)]
    pub(crate) unsafe fn load(self, at: *const u8) -> i32 {
        // SAFETY: by this function's contract.
        unsafe {
            match self {
                Cell::U8(_) => i32::from(*at),
                Cell::U16(_) => i32::from(at.cast::<u16>().read_unaligned()),
                Cell::I16 => i32::from(at.cast::<i16>().read_unaligned()),
                Cell::U32(_) | Cell::I32 => at.cast::<i32>().read_unaligned(),
            }
        }
    }

    /// Stores a value, wrapped around.
    ///
    /// # Safety
    /// `at` must be valid for writing [`Cell::size`] bytes.
    #[inline(always)]
    pub(crate) unsafe fn store(self, at: *mut u8, value: i32) {
        // SAFETY: by this function's contract.
        unsafe {
            match self {
                Cell::U8(mask) => *at = value as u8 & mask,
                Cell::U16(mask) => at.cast::<u16>().write_unaligned(value as u16 & mask),
                Cell::I16 => at.cast::<i16>().write_unaligned(value as i16),
                Cell::U32(mask) => at.cast::<u32>().write_unaligned(value as u32 & mask),
                Cell::I32 => at.cast::<i32>().write_unaligned(value),
            }
        }
    }

    /// The value after a store and a load.
    pub(crate) fn wrap(self, value: i32) -> i32 {
        match self {
            Cell::U8(mask) => i32::from(value as u8 & mask),
            Cell::U16(mask) => i32::from(value as u16 & mask),
            Cell::I16 => i32::from(value as i16),
            Cell::U32(mask) => (value as u32 & mask) as i32,
            Cell::I32 => value,
        }
    }
}

/// Bytes a value of any type takes.
pub(crate) fn size_of_type(program: &Program, ty: &Type) -> u32 {
    match ty {
        Type::Array(element, length) => length * size_of_type(program, element),
        Type::Structure(id) => {
            program.structure(*id).fields.iter().map(|f| size_of_type(program, &f.ty)).sum()
        }
        scalar => Cell::of(scalar).size(),
    }
}

/// The byte and the cell of one scalar of a type.
pub(crate) fn scalar_of(program: &Program, ty: &Type, scalar: usize) -> Option<(u32, Cell)> {
    match ty {
        Type::Array(element, length) => {
            let each = program.scalars(element).max(1);
            if scalar / each >= *length as usize {
                return None;
            }
            let (within, cell) = scalar_of(program, element, scalar % each)?;
            Some((within + (scalar / each) as u32 * size_of_type(program, element), cell))
        }
        Type::Structure(id) => {
            let (mut at, mut left) = (0, scalar);
            for field in &program.structure(*id).fields {
                let scalars = program.scalars(&field.ty);
                if left < scalars {
                    let (within, cell) = scalar_of(program, &field.ty, left)?;
                    return Some((at + within, cell));
                }
                left -= scalars;
                at += size_of_type(program, &field.ty);
            }
            None
        }
        scalar_type => (scalar == 0).then(|| (0, Cell::of(scalar_type))),
    }
}
