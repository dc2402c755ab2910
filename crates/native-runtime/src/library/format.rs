//! Formats of `printf` and `scanf`, and the arguments that they ask for.
//!
//! Arguments are found as the calling convention says (System V, x86-64): integers and pointers in six registers, then on the
//! stack; floating-point numbers in vector registers, so that only those of `long double` matter here, which are always on the
//! stack. More than eight floating-point numbers would also lie there; they are counted.

use super::accesses::{note, note_late, text_size};
use super::table::{Format, Function};
use crate::exploration::race::How;
use crate::exploration::world::world;
use crate::library::stub::{Call, Saved};

/// Goes through the arguments of a call.
struct Arguments {
    /// The next integer in a register: its number, and where they are.
    register: usize,
    registers: *const usize,
    /// The next vector register.
    vector: usize,
    /// The next one on the stack.
    stack: *const usize,
}

impl Arguments {
    fn of(registers: &[usize; 6], stack: *const usize, first: u8) -> Arguments {
        Arguments { register: first as usize, registers: registers.as_ptr(), vector: 0, stack }
    }

    /// Of a list as `va_start` makes it: offsets in an area of registers, arguments on the stack, that area.
    fn of_list(list: &[usize; 3]) -> Arguments {
        let (general, vector) = (list[0] as u32 as usize, list[0] >> 32);
        Arguments {
            register: general / 8,
            registers: list[2] as *const usize,
            vector: vector.saturating_sub(48) / 16,
            stack: list[1] as *const usize,
        }
    }

    fn next_on_stack(&mut self) -> usize {
        // SAFETY: the format says that there is such an argument.
        unsafe {
            let value = *self.stack;
            self.stack = self.stack.add(1);
            value
        }
    }

    fn integer(&mut self) -> usize {
        if self.register >= 6 {
            return self.next_on_stack();
        }
        self.register += 1;
        // SAFETY: one of six registers that were saved.
        unsafe { *self.registers.add(self.register - 1) }
    }

    fn floating(&mut self) {
        if self.vector >= 8 {
            self.next_on_stack();
        }
        self.vector += 1;
    }

    fn long_double(&mut self) {
        self.stack = ((self.stack as usize).next_multiple_of(16) + 16) as *const usize;
    }
}

/// One conversion of a format.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Conversion {
    /// The letter.
    letter: u8,
    /// Bytes of an integer; 16 for `long double`.
    size: usize,
    /// `*` as the width: an argument of `printf`, nothing stored by `scanf`.
    star: bool,
    /// `*` as the precision.
    precision_star: bool,
    width: Option<usize>,
    precision: Option<usize>,
    /// `m`: `scanf` allocates.
    allocates: bool,
    long: bool,
}

/// The conversions of a format.
struct Conversions {
    at: usize,
}

impl Conversions {
    fn next_byte(&mut self) -> u8 {
        // SAFETY: a string of the program; its end is not passed.
        let byte = unsafe { *(self.at as *const u8) };
        self.at += usize::from(byte != 0);
        byte
    }

    fn number(&mut self) -> Option<usize> {
        let mut value = None;
        // SAFETY: as above.
        while let digit @ b'0'..=b'9' = unsafe { *(self.at as *const u8) } {
            let so_far: usize = value.unwrap_or(0);
            value = Some(so_far.saturating_mul(10).saturating_add(usize::from(digit - b'0')));
            self.at += 1;
        }
        value
    }

    /// The rest of a set `[...]`.
    fn skip_set(&mut self) {
        // SAFETY: as above.
        let peek = |at: usize| unsafe { *(at as *const u8) };
        self.at += usize::from(peek(self.at) == b'^');
        self.at += usize::from(peek(self.at) == b']');
        while !matches!(self.next_byte(), b']' | 0) {}
    }
}

impl Iterator for Conversions {
    type Item = Conversion;

    fn next(&mut self) -> Option<Conversion> {
        loop {
            match self.next_byte() {
                0 => return None,
                b'%' => {}
                _ => continue,
            }
            let mut conversion = Conversion { size: 4, ..Conversion::default() };
            loop {
                let start = self.at;
                match self.next_byte() {
                    b'-' | b'+' | b' ' | b'#' | b'0' | b'\'' | b'I' => {}
                    b'1'..=b'9' => {
                        self.at = start;
                        conversion.width = self.number();
                    }
                    b'*' => conversion.star = true,
                    b'.' => {
                        // SAFETY: as above.
                        if unsafe { *(self.at as *const u8) } == b'*' {
                            self.at += 1;
                            conversion.precision_star = true;
                        } else {
                            conversion.precision = Some(self.number().unwrap_or(0));
                        }
                    }
                    b'h' => conversion.size /= 2,
                    b'l' | b'q' | b'j' | b'z' | b't' => (conversion.size, conversion.long) = (8, true),
                    b'L' => conversion.size = 16,
                    b'm' if conversion.letter == 0 && self.is_allocation() => conversion.allocates = true,
                    b'%' => break,
                    0 => return None,
                    letter => {
                        if letter == b'[' {
                            self.skip_set();
                        }
                        conversion.letter = letter;
                        return Some(conversion);
                    }
                }
            }
        }
    }
}

impl Conversions {
    /// Is the `m` before this place that of `%ms`, and not the conversion `%m`?
    fn is_allocation(&self) -> bool {
        // SAFETY: as above.
        matches!(unsafe { *(self.at as *const u8) }, b's' | b'c' | b'[' | b'l')
    }
}

/// The list of arguments that a function is given, as it is before the call: the function itself changes it.
pub fn list_of(function: &Function, arguments: &[usize; 6]) -> [usize; 3] {
    match function.format {
        Some(format) if format.list => {
            // SAFETY: a `va_list` of the program: three words.
            unsafe { *(arguments[format.argument as usize + 1] as *const [usize; 3]) }
        }
        _ => [0; 3],
    }
}

fn arguments(format: Format, registers: &[usize; 6], stack: *const usize, list: &[usize; 3]) -> Arguments {
    if format.list { Arguments::of_list(list) } else { Arguments::of(registers, stack, format.argument + 1) }
}

/// What is read because of a format, before the call: itself, and the strings that `printf` prints.
pub fn read(function: &Function, format: Format, saved: &Saved) {
    let text = saved.arguments[format.argument as usize];
    note(text, text_size(text, usize::MAX), How::READ);
    if format.scans {
        return;
    }
    let list = if format.list {
        // SAFETY: as in `list_of`.
        unsafe { *(saved.arguments[format.argument as usize + 1] as *const [usize; 3]) }
    } else {
        [0; 3]
    };
    let mut arguments = arguments(format, &saved.arguments, saved.on_stack.as_ptr(), &list);
    for conversion in (Conversions { at: text }) {
        if conversion.star {
            arguments.integer();
        }
        let precision = if conversion.precision_star {
            usize::try_from(arguments.integer() as i32).ok()
        } else {
            conversion.precision
        };
        match conversion.letter {
            b'm' => world().note_errno_read(),
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
                if conversion.size == 16 {
                    arguments.long_double()
                } else {
                    arguments.floating()
                }
            }
            b's' if !conversion.long => {
                let string = arguments.integer();
                if string != 0 {
                    note(string, text_size(string, precision.unwrap_or(usize::MAX)), How::READ);
                }
            }
            b'n' => note(arguments.integer(), conversion.size, How::WRITE),
            letter => {
                let value = arguments.integer();
                let whole = conversion.size == 8 || letter == b'p';
                world().note_printed_handle(value, function, whole, saved);
            }
        }
    }
}

/// What `scanf` has written: the first `count` conversions that store something.
pub fn scanned(format: Format, call: &Call, count: i32, name: &str) {
    let text = call.arguments[format.argument as usize];
    let stack = (call.slot + 8) as *const usize;
    let mut arguments = arguments(format, &call.arguments, stack, &call.list);
    let mut stored = 0;
    for conversion in (Conversions { at: text }) {
        if conversion.star {
            continue;
        }
        if stored >= count {
            return;
        }
        let pointer = arguments.integer();
        let size = match conversion.letter {
            _ if conversion.allocates => 8,
            b'a' | b'e' | b'f' | b'g' | b'E' | b'F' | b'G' | b'A' => conversion.size,
            b's' | b'[' => text_size(pointer, usize::MAX),
            b'c' => conversion.width.unwrap_or(1),
            b'p' => 8,
            _ => conversion.size,
        };
        stored += i32::from(conversion.letter != b'n');
        note_late(pointer, size, How::WRITE, name);
    }
}
