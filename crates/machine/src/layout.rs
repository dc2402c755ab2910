//! Where everything lies in a packed state.
//!
//! A state starts with the number of its [shape](crate::shapes): which threads and channels exist, in the order of their
//! creation, and where each lies. Then come the globals, then one segment per thread (its location, its
//! priority if the program uses them, its locals) and per channel (its length, its messages).
//!
//! Unused bytes are always zero, so that equal states are equal words.

use crate::dynamic::segments::Sort;
use quotient_program::visit::{self, Visitor};
use quotient_program::{ChannelTypeId, Expr, IntType, Program, RangeType, Type};

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

/// Where the scalars of a value at `at` are, in order.
pub(crate) fn scalar_cells(program: &Program, ty: &Type, at: u32, out: &mut Vec<(u32, Cell)>) {
    let mut types = Vec::new();
    program.scalar_types(ty, &mut types);
    let mut next = at;
    for cell in types.into_iter().map(Cell::of) {
        out.push((next, cell));
        next += cell.size();
    }
}

/// The segment of a thread.
#[derive(Clone, Debug)]
pub(crate) struct ThreadLayout {
    /// Bytes of the location: 1, 2 or 4.
    pub(crate) location_size: u32,
    /// Where the priority is, if the program uses them.
    pub(crate) priority: Option<u32>,
    /// Where each local starts.
    pub(crate) locals: Vec<u32>,
    /// The bytes of temporaries: locals that have a value only inside one transformation.
    pub(crate) scratch: Vec<std::ops::Range<u32>>,
    /// Size of the segment.
    pub(crate) size: u32,
    /// Channels made when the thread starts: the byte of the variable that gets the number, and the kind.
    pub(crate) channels: Vec<(u32, ChannelTypeId)>,
}

/// The segment of a channel: its length, then its messages.
#[derive(Clone, Debug)]
pub(crate) struct ChannelLayout {
    pub(crate) capacity: u32,
    /// Bytes of the length: 1 or 2.
    pub(crate) length_size: u32,
    /// Fields of a message: byte within the message and cell.
    pub(crate) fields: Vec<(u32, Cell)>,
    /// What each field names.
    pub(crate) sorts: Vec<Sort>,
    pub(crate) message_size: u32,
    pub(crate) size: u32,
}

/// Everything that is known before the first state.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Bytes of the shape number: 2 or 4.
    pub(crate) shape_size: u32,
    /// Where each global starts.
    pub(crate) globals: Vec<u32>,
    /// Where the id of the last thread is.
    pub(crate) last: Option<u32>,
    /// Where the observer's location is, and in what: two bytes, or four where it has too many.
    pub(crate) observer: Option<(u32, Cell)>,
    /// Where it is noted that the program has stopped and the claim goes on alone (claims that ask for progress).
    pub(crate) stuttered: Option<u32>,
    /// Where the claim's segment is: its location and variables. Its layout is the last one of `threads`.
    pub(crate) claim: Option<u32>,
    /// Scratch variables: zero in every stored state.
    pub(crate) scratch: std::ops::Range<u32>,
    /// First byte after the globals.
    pub(crate) fixed: u32,
    pub(crate) threads: Vec<ThreadLayout>,
    pub(crate) channels: Vec<ChannelLayout>,
    /// Channels made before the first state: the byte of the global that gets the number, and the kind.
    pub(crate) initial_channels: Vec<(u32, ChannelTypeId)>,
}

impl Layout {
    pub(crate) fn new(program: &Program, wide_shapes: bool) -> Layout {
        let shape_size = if wide_shapes { 4 } else { 2 };
        let mut at = shape_size;
        let mut globals = vec![0; program.globals.len()];
        let mut initial_channels = Vec::new();
        for (index, variable) in program.globals.iter().enumerate().filter(|(_, v)| !v.scratch) {
            globals[index] = at;
            channels_of(program, variable, at, &mut initial_channels);
            at += size_of_type(program, &variable.ty);
        }
        let mut reserve = |wanted: bool, size: u32| {
            let place = at;
            wanted.then(|| {
                at += size;
                place
            })
        };
        let last = reserve(program.features.last, 1);
        let many = program.observer.as_ref().is_some_and(|o| o.function.locations.len() > 1 << 16);
        let location = if many { Cell::U32(u32::MAX) } else { Cell::U16(u16::MAX) };
        let observer = reserve(program.observer.is_some(), if many { 4 } else { 2 }).map(|at| (at, location));
        let stuttered = reserve(program.claim.as_ref().is_some_and(asks_for_progress), 1);
        let mut threads: Vec<ThreadLayout> =
            program.functions.iter().map(|f| thread_layout(program, f)).collect();
        let claim_layout = program.claim.as_ref().map(|c| thread_layout(program, &c.function));
        let claim = reserve(claim_layout.is_some(), claim_layout.as_ref().map_or(0, |l| l.size));
        threads.extend(claim_layout);
        let scratch_start = at;
        for (index, variable) in program.globals.iter().enumerate().filter(|(_, v)| v.scratch) {
            globals[index] = at;
            at += size_of_type(program, &variable.ty);
        }
        if program.features.dynamic {
            // In the place of the observer's function, of an ended thread and of no thread.
            threads.extend([(); 3].map(|()| ThreadLayout {
                location_size: 1,
                priority: None,
                locals: Vec::new(),
                scratch: Vec::new(),
                size: 1,
                channels: Vec::new(),
            }));
        }
        Layout {
            shape_size,
            globals,
            last,
            observer,
            stuttered,
            claim,
            scratch: scratch_start..at,
            fixed: at,
            threads,
            channels: program.channel_types.iter().map(channel_layout).collect(),
            initial_channels,
        }
    }
}

/// Does a claim ask whether there is progress?
fn asks_for_progress(claim: &quotient_program::Claim) -> bool {
    struct Asks(bool);
    impl Visitor for Asks {
        fn expr(&mut self, e: &Expr) {
            self.0 |= matches!(e, Expr::NonProgress);
        }
    }
    let mut asks = Asks(false);
    let locations = claim.function.locations.iter();
    locations.flat_map(|l| &l.transformations).for_each(|t| visit::transformation(t, &mut asks));
    asks.0
}

/// Channels that a variable's initial value makes, in order.
fn channels_of(
    program: &Program,
    variable: &quotient_program::Variable,
    at: u32,
    out: &mut Vec<(u32, ChannelTypeId)>,
) {
    if program.features.dynamic {
        // Channels are objects there.
        return;
    }
    match (&variable.init, &variable.ty) {
        (quotient_program::Init::Channels(kind), ty) => {
            out.extend((0..size_of_type(program, ty)).map(|i| (at + i, *kind)));
        }
        (_, Type::Structure(id)) => {
            let mut field_at = at;
            for field in &program.structure(*id).fields {
                channels_of(program, field, field_at, out);
                field_at += size_of_type(program, &field.ty);
            }
        }
        (_, Type::Array(element, length)) if matches!(**element, Type::Structure(_)) => {
            let inner = quotient_program::Variable { ty: (**element).clone(), ..variable.clone() };
            let size = size_of_type(program, element);
            for index in 0..*length {
                channels_of(program, &inner, at + index * size, out);
            }
        }
        _ => {}
    }
}

fn thread_layout(program: &Program, function: &quotient_program::Function) -> ThreadLayout {
    // While a frame waits for a call to return, its location says which call (see `dynamic/frames.rs`).
    let calls = function.locations.iter().flat_map(|l| &l.transformations).flat_map(|t| &t.actions);
    let calls = calls.filter(|a| matches!(a, quotient_program::Action::Call { .. })).count();
    let location_size = match function.locations.len() + calls {
        ..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        _ => 4,
    };
    let mut at = location_size;
    let priority = program.features.priorities.then(|| {
        at += 1;
        at - 1
    });
    let mut locals = Vec::new();
    let mut channels = Vec::new();
    for variable in &function.locals {
        locals.push(at);
        channels_of(program, variable, at, &mut channels);
        at += size_of_type(program, &variable.ty);
    }
    let scratch = function.locals.iter().zip(&locals).filter(|(variable, _)| variable.scratch);
    let scratch = scratch.map(|(variable, at)| *at..*at + size_of_type(program, &variable.ty)).collect();
    ThreadLayout { location_size, priority, locals, scratch, size: at, channels }
}

fn channel_layout(channel: &quotient_program::ChannelType) -> ChannelLayout {
    let length_size = if channel.capacity < 256 { 1 } else { 2 };
    let mut message_size = 0;
    let fields = channel
        .fields
        .iter()
        .map(|ty| {
            let cell = Cell::of(ty);
            let at = message_size;
            message_size += cell.size();
            (at, cell)
        })
        .collect();
    let size = length_size + channel.capacity * message_size;
    let sorts = channel.fields.iter().map(Sort::of_type).collect();
    ChannelLayout { capacity: channel.capacity, length_size, fields, sorts, message_size, size }
}
