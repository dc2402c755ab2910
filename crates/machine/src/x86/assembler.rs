//! The few x86-64 instructions that translated locations need.
//!
//! Memory is always addressed as a base register, a 32-bit displacement and perhaps a scaled index. Jumps go to labels, with
//! 32-bit distances that are filled in at the end.

/// A register, by its number in the instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Reg {
    Rax = 0,
    Rcx = 1,
    Rdx = 2,
    Rbx = 3,
    Rsi = 6,
    Rdi = 7,
    R8 = 8,
    R9 = 9,
    R10 = 10,
    R11 = 11,
    R12 = 12,
}

impl Reg {
    /// Does its number mean its low byte also without a prefix? 4 to 7 mean other registers then.
    fn has_low_byte(self) -> bool {
        !matches!(self, Reg::Rsi | Reg::Rdi)
    }
}

/// A place in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mem {
    pub(crate) base: Reg,
    /// With its scale: 1, 2, 4 or 8.
    pub(crate) index: Option<(Reg, u8)>,
    pub(crate) at: i32,
}

/// Two-operand arithmetic, by its number in the instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Alu {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    Cmp = 7,
}

/// A condition after a comparison, by its number in the instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Cond {
    AboveOrEqual = 3,
    Equal = 4,
    NotEqual = 5,
    Less = 12,
    GreaterOrEqual = 13,
    LessOrEqual = 14,
    Greater = 15,
}

impl Cond {
    /// The opposite: its number differs in the last bit.
    pub(crate) fn negated(self) -> Cond {
        match self {
            Cond::Equal => Cond::NotEqual,
            Cond::NotEqual => Cond::Equal,
            Cond::Less => Cond::GreaterOrEqual,
            Cond::GreaterOrEqual => Cond::Less,
            Cond::LessOrEqual => Cond::Greater,
            Cond::Greater => Cond::LessOrEqual,
            Cond::AboveOrEqual => {
                unreachable!("only bounds are compared without sign, and never the other way round")
            }
        }
    }
}

/// A place in the code that jumps lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label(usize);

/// Code being written.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    pub(crate) code: Vec<u8>,
    labels: Vec<Option<usize>>,
    /// Where distances must be filled in, and to which labels.
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Bytes written.
    pub(crate) fn len(&self) -> usize {
        self.code.len()
    }

    /// The label stands for what is written next.
    pub(crate) fn bind(&mut self, label: Label) {
        self.labels[label.0] = Some(self.code.len());
    }

    /// Fills in the jumps.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        for (at, label) in self.jumps {
            let target = self.labels[label.0].expect("every label that is jumped to has been bound");
            let distance = target as i64 - (at as i64 + 4);
            self.code[at..at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        self.code
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    fn imm32(&mut self, value: i32) {
        self.bytes(&value.to_le_bytes());
    }

    /// The prefix for wide operands or high registers. `byte` asks for one also where a low byte register needs it.
    fn rex(&mut self, wide: bool, reg: u8, index: u8, base: u8) {
        let rex = 0x40 | u8::from(wide) << 3 | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3;
        if rex != 0x40 {
            self.code.push(rex);
        }
    }

    /// Operation code and operands, one of them in memory. `reg` is a register or part of the operation code.
    fn with_mem(&mut self, prefix: &[u8], wide: bool, opcode: &[u8], reg: u8, mem: Mem) {
        assert!(mem.index.is_some() || mem.base != Reg::R12, "this base needs an index byte");
        self.bytes(prefix);
        let index = mem.index.map_or(0, |(index, _)| index as u8);
        self.rex(wide, reg, index, mem.base as u8);
        self.bytes(opcode);
        match mem.index {
            None => self.code.push(0x80 | (reg & 7) << 3 | (mem.base as u8 & 7)),
            Some((index, scale)) => {
                self.code.push(0x80 | (reg & 7) << 3 | 4);
                let scale = scale.trailing_zeros() as u8;
                self.code.push(scale << 6 | (index as u8 & 7) << 3 | (mem.base as u8 & 7));
            }
        }
        self.imm32(mem.at);
    }

    /// Operation code and two registers, `rm` the one that is changed.
    fn with_reg(&mut self, wide: bool, opcode: &[u8], reg: u8, rm: Reg) {
        self.rex(wide, reg, 0, rm as u8);
        self.bytes(opcode);
        self.code.push(0xc0 | (reg & 7) << 3 | (rm as u8 & 7));
    }

    /// 32 bits from memory: of so many bytes, extended.
    pub(crate) fn load(&mut self, to: Reg, from: Mem, size: u32, signed: bool) {
        let opcode: &[u8] = match (size, signed) {
            (1, _) => &[0x0f, 0xb6],
            (2, false) => &[0x0f, 0xb7],
            (2, true) => &[0x0f, 0xbf],
            _ => &[0x8b],
        };
        self.with_mem(&[], false, opcode, to as u8, from);
    }

    /// The low bytes to memory: so many. The registers of values have byte forms without a prefix.
    pub(crate) fn store(&mut self, to: Mem, from: Reg, size: u32) {
        assert!(size > 1 || from.has_low_byte(), "its low byte needs a prefix");
        match size {
            1 => self.with_mem(&[], false, &[0x88], from as u8, to),
            2 => self.with_mem(&[0x66], false, &[0x89], from as u8, to),
            _ => self.with_mem(&[], false, &[0x89], from as u8, to),
        }
    }

    /// A constant of so many bytes to memory.
    pub(crate) fn store_constant(&mut self, to: Mem, value: i32, size: u32) {
        match size {
            1 => {
                self.with_mem(&[], false, &[0xc6], 0, to);
                self.code.push(value as u8);
            }
            2 => {
                self.with_mem(&[0x66], false, &[0xc7], 0, to);
                self.bytes(&(value as u16).to_le_bytes());
            }
            _ => {
                self.with_mem(&[], false, &[0xc7], 0, to);
                self.imm32(value);
            }
        }
    }

    /// A small constant as eight bytes to memory.
    pub(crate) fn store_constant_wide(&mut self, to: Mem, value: i32) {
        self.with_mem(&[], true, &[0xc7], 0, to);
        self.imm32(value);
    }

    pub(crate) fn load_wide(&mut self, to: Reg, from: Mem) {
        self.with_mem(&[], true, &[0x8b], to as u8, from);
    }

    pub(crate) fn store_wide(&mut self, to: Mem, from: Reg) {
        self.with_mem(&[], true, &[0x89], from as u8, to);
    }

    /// Sixteen bytes from one place to another, through the first vector register.
    pub(crate) fn copy_16(&mut self, to: Mem, from: Mem) {
        self.with_mem(&[], false, &[0x0f, 0x10], 0, from);
        self.with_mem(&[], false, &[0x0f, 0x11], 0, to);
    }

    /// 32-bit arithmetic, `to` changed.
    pub(crate) fn alu(&mut self, op: Alu, to: Reg, from: Reg) {
        self.with_reg(false, &[(op as u8) << 3 | 1], from as u8, to);
    }

    pub(crate) fn alu_constant(&mut self, op: Alu, to: Reg, value: i32) {
        self.with_reg(false, &[0x81], op as u8, to);
        self.imm32(value);
    }

    /// 64-bit arithmetic with a small constant.
    pub(crate) fn alu_constant_wide(&mut self, op: Alu, to: Reg, value: i32) {
        self.with_reg(true, &[0x81], op as u8, to);
        self.imm32(value);
    }

    pub(crate) fn alu_wide(&mut self, op: Alu, to: Reg, from: Reg) {
        self.with_reg(true, &[(op as u8) << 3 | 1], from as u8, to);
    }

    /// Arithmetic on a byte in memory.
    pub(crate) fn alu_byte(&mut self, op: Alu, to: Mem, value: u8) {
        self.with_mem(&[], false, &[0x80], op as u8, to);
        self.code.push(value);
    }

    /// 64-bit arithmetic on memory with a small constant.
    pub(crate) fn alu_mem_wide(&mut self, op: Alu, to: Mem, value: i8) {
        self.with_mem(&[], true, &[0x83], op as u8, to);
        self.code.push(value as u8);
    }

    /// Compares four bytes in memory with a constant.
    pub(crate) fn compare_mem(&mut self, with: Mem, value: i32) {
        self.with_mem(&[], false, &[0x81], Alu::Cmp as u8, with);
        self.imm32(value);
    }

    pub(crate) fn multiply(&mut self, to: Reg, from: Reg) {
        self.with_reg(false, &[0x0f, 0xaf], to as u8, from);
    }

    pub(crate) fn multiply_constant(&mut self, to: Reg, value: i32) {
        self.with_reg(false, &[0x69], to as u8, to);
        self.imm32(value);
    }

    pub(crate) fn negate(&mut self, to: Reg) {
        self.with_reg(false, &[0xf7], 3, to);
    }

    pub(crate) fn complement(&mut self, to: Reg) {
        self.with_reg(false, &[0xf7], 2, to);
    }

    /// Divides `rax` by a register: the quotient in `rax`, the remainder in `rdx`.
    pub(crate) fn divide(&mut self, by: Reg) {
        self.code.push(0x99);
        self.with_reg(false, &[0xf7], 7, by);
    }

    pub(crate) fn shift_left(&mut self, to: Reg, by: u8) {
        self.with_reg(false, &[0xc1], 4, to);
        self.code.push(by);
    }

    /// Keeps the sign.
    pub(crate) fn shift_right(&mut self, to: Reg, by: u8) {
        self.with_reg(false, &[0xc1], 7, to);
        self.code.push(by);
    }

    /// Is it zero? (For a jump or [`Assembler::truth`].)
    pub(crate) fn test(&mut self, reg: Reg) {
        self.with_reg(false, &[0x85], reg as u8, reg);
    }

    /// 1 when the condition holds, else 0. One of the registers of values.
    pub(crate) fn truth(&mut self, cond: Cond, to: Reg) {
        assert!(to.has_low_byte(), "its low byte needs a prefix");
        self.with_reg(false, &[0x0f, 0x90 | cond as u8], 0, to);
        self.with_reg(false, &[0x0f, 0xb6], to as u8, to);
    }

    pub(crate) fn constant(&mut self, to: Reg, value: i32) {
        self.rex(false, 0, 0, to as u8);
        self.code.push(0xb8 | (to as u8 & 7));
        self.imm32(value);
    }

    pub(crate) fn address(&mut self, to: Reg, address: u64) {
        self.rex(true, 0, 0, to as u8);
        self.code.push(0xb8 | (to as u8 & 7));
        self.bytes(&address.to_le_bytes());
    }

    pub(crate) fn copy(&mut self, to: Reg, from: Reg) {
        self.with_reg(false, &[0x89], from as u8, to);
    }

    pub(crate) fn copy_wide(&mut self, to: Reg, from: Reg) {
        self.with_reg(true, &[0x89], from as u8, to);
    }

    pub(crate) fn jump(&mut self, to: Label) {
        self.code.push(0xe9);
        self.jumps.push((self.code.len(), to));
        self.imm32(0);
    }

    pub(crate) fn jump_if(&mut self, cond: Cond, to: Label) {
        self.bytes(&[0x0f, 0x80 | cond as u8]);
        self.jumps.push((self.code.len(), to));
        self.imm32(0);
    }

    /// Jumps to the address in a register.
    pub(crate) fn jump_to(&mut self, to: Reg) {
        self.with_reg(false, &[0xff], 4, to);
    }

    /// Jumps to the address in memory.
    pub(crate) fn jump_through(&mut self, at: Mem) {
        self.with_mem(&[], false, &[0xff], 4, at);
    }

    pub(crate) fn push(&mut self, reg: Reg) {
        self.rex(false, 0, 0, reg as u8);
        self.code.push(0x50 | (reg as u8 & 7));
    }

    pub(crate) fn pop(&mut self, reg: Reg) {
        self.rex(false, 0, 0, reg as u8);
        self.code.push(0x58 | (reg as u8 & 7));
    }

    pub(crate) fn ret(&mut self) {
        self.code.push(0xc3);
    }
}
