//! Loops that only count: `for (i = 0; i < 20000000; i++);`, with which programs take up time.
//!
//! Such a loop is a path of instructions from its head back to it that has one conditional jump and, besides, only moves and
//! additions of constants between registers and variables of the frame that no hook announces. It is followed symbolically, once: a
//! value is a constant, or what a variable had at the head plus a constant. It counts if every variable that is written ends as itself plus
//! a constant (its *step*), and if the jump compares one variable that moves with a constant or a variable that stays.
//!
//! Then the runtime can tell how often the jump goes on, and adds as many steps at once, but for the last round, which the
//! program makes itself: registers and flags are what they would have been, for no instruction of the path reads a register that the
//! round has not set (such a path is not taken). Nobody can notice: the path has no visible operation and no
//! call, so no other thread runs and no handler is called within it.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind, Register};

use crate::protocol::{COUNTED, Counted, CountedSlot, compares};

/// The most instructions of a round.
const LONGEST: usize = 32;

/// What a register or variable holds, relative to the head of the loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    Constant(i64),
    /// The variable with this number, plus a constant.
    Variable(usize, i64),
}

impl Value {
    fn plus(self, more: i64) -> Value {
        match self {
            Value::Constant(value) => Value::Constant(value.wrapping_add(more)),
            Value::Variable(number, constant) => Value::Variable(number, constant.wrapping_add(more)),
        }
    }
}

/// A variable of the frame: its distance from the frame pointer, its size, what it holds now.
struct Variable {
    distance: i64,
    size: usize,
    value: Value,
}

/// One round, followed symbolically.
#[derive(Default)]
struct Round {
    variables: Vec<Variable>,
    /// Values and sizes by full register.
    registers: BTreeMap<Register, (Value, usize)>,
    /// What was compared last, and the size.
    flags: Option<(Value, Value, usize)>,
}

/// The loops of a function that only count.
pub fn counted_loops(instructions: &[Instruction]) -> Vec<Counted> {
    let jumps = instructions.iter().filter(|i| i.is_jmp_short_or_near() || i.is_jcc_short_or_near());
    let back = jumps.filter(|i| i.near_branch_target() <= i.ip()).map(Instruction::near_branch_target);
    let heads: BTreeSet<u64> = back.collect();
    heads.into_iter().filter_map(|head| counted_loop(instructions, head)).collect()
}

/// The loop that begins at `head`, if it only counts.
fn counted_loop(instructions: &[Instruction], head: u64) -> Option<Counted> {
    let at = |address: u64| {
        let index = instructions.binary_search_by_key(&address, Instruction::ip).ok()?;
        instructions.get(index)
    };
    let first = at(head)?;
    // The runtime executes a copy of it elsewhere.
    if first.is_jmp_short_or_near() || first.is_jcc_short_or_near() {
        return None;
    }
    let (mut round, mut goes_on) = (Round::default(), None);
    let mut next = head;
    for _ in 0..LONGEST {
        let instruction = at(next)?;
        next = instruction.next_ip();
        if instruction.is_jmp_short_or_near() {
            next = instruction.near_branch_target();
        } else if instruction.is_jcc_short_or_near() {
            let (left, right, size) = round.flags?;
            let back = instruction.near_branch_target() == head;
            let condition = instruction.condition_code();
            let condition = if back { condition } else { opposite(condition)? };
            // A second way out.
            if goes_on.replace((left, right, size, condition)).is_some() {
                return None;
            }
            if back {
                next = head;
            }
        } else {
            round.follow(instruction)?;
        }
        if next == head {
            return round.description(head, first.len() as u8, goes_on?);
        }
    }
    None
}

fn opposite(condition: ConditionCode) -> Option<ConditionCode> {
    Some(match condition {
        ConditionCode::l => ConditionCode::ge,
        ConditionCode::ge => ConditionCode::l,
        ConditionCode::le => ConditionCode::g,
        ConditionCode::g => ConditionCode::le,
        ConditionCode::b => ConditionCode::ae,
        ConditionCode::ae => ConditionCode::b,
        ConditionCode::be => ConditionCode::a,
        ConditionCode::a => ConditionCode::be,
        ConditionCode::e => ConditionCode::ne,
        ConditionCode::ne => ConditionCode::e,
        _ => return None,
    })
}

/// How the sides of a comparison are related for as long as the loop goes on; `swapped`: the right one moves.
fn comparison(condition: ConditionCode, swapped: bool) -> Option<u8> {
    Some(match (condition, swapped) {
        (ConditionCode::l, false) | (ConditionCode::g, true) => compares::LESS,
        (ConditionCode::le, false) | (ConditionCode::ge, true) => compares::AT_MOST,
        (ConditionCode::g, false) | (ConditionCode::l, true) => compares::GREATER,
        (ConditionCode::ge, false) | (ConditionCode::le, true) => compares::AT_LEAST,
        (ConditionCode::b, false) | (ConditionCode::a, true) => compares::LESS | compares::UNSIGNED,
        (ConditionCode::be, false) | (ConditionCode::ae, true) => compares::AT_MOST | compares::UNSIGNED,
        (ConditionCode::a, false) | (ConditionCode::b, true) => compares::GREATER | compares::UNSIGNED,
        (ConditionCode::ae, false) | (ConditionCode::be, true) => compares::AT_LEAST | compares::UNSIGNED,
        (ConditionCode::ne, _) => compares::DIFFERENT,
        _ => return None,
    })
}

/// The size of what a general register is the name of, if it is one of four or eight bytes.
fn register_size(register: Register) -> Option<usize> {
    let plain = register.is_gpr32() || register.is_gpr64();
    let special = matches!(register.full_register(), Register::RSP | Register::RBP);
    (plain && !special).then(|| register.size())
}

impl Round {
    /// The variable that an operand in memory is.
    fn variable(&mut self, instruction: &Instruction) -> Option<usize> {
        let of_frame = instruction.memory_base() == Register::RBP
            && instruction.memory_index() == Register::None
            && instruction.segment_prefix() == Register::None;
        let size = instruction.memory_size().size();
        if !of_frame || !matches!(size, 4 | 8) {
            return None;
        }
        let distance = instruction.memory_displacement64() as i64;
        if let Some(number) = self.variables.iter().position(|v| v.distance == distance) {
            return (self.variables[number].size == size).then_some(number);
        }
        let apart =
            |v: &Variable| distance + size as i64 <= v.distance || v.distance + v.size as i64 <= distance;
        let number = self.variables.len();
        if number == COUNTED || !self.variables.iter().all(apart) {
            return None;
        }
        self.variables.push(Variable { distance, size, value: Value::Variable(number, 0) });
        Some(number)
    }

    /// What an operand holds, and its size (0: a constant of any).
    fn operand(&mut self, instruction: &Instruction, operand: u32) -> Option<(Value, usize)> {
        match instruction.op_kind(operand) {
            OpKind::Memory => {
                let number = self.variable(instruction)?;
                Some((self.variables[number].value, self.variables[number].size))
            }
            OpKind::Register => {
                let register = instruction.op_register(operand);
                let size = register_size(register)?;
                let (value, held) = *self.registers.get(&register.full_register())?;
                (held == size).then_some((value, size))
            }
            OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32
            | OpKind::Immediate32to64
            | OpKind::Immediate64 => Some((Value::Constant(instruction.immediate(operand) as i64), 0)),
            _ => None,
        }
    }

    fn store(&mut self, instruction: &Instruction, value: Value) -> Option<()> {
        match instruction.op0_kind() {
            OpKind::Memory => {
                let number = self.variable(instruction)?;
                self.variables[number].value = value;
            }
            OpKind::Register => {
                let register = instruction.op0_register();
                self.registers.insert(register.full_register(), (value, register_size(register)?));
            }
            _ => return None,
        }
        Some(())
    }

    /// Follows an instruction that does not jump; none if it is not understood.
    fn follow(&mut self, instruction: &Instruction) -> Option<()> {
        if instruction.has_lock_prefix() {
            return None;
        }
        match instruction.mnemonic() {
            Mnemonic::Nop | Mnemonic::Endbr64 => Some(()),
            Mnemonic::Mov => {
                let (value, _) = self.operand(instruction, 1)?;
                self.store(instruction, value)
            }
            Mnemonic::Add | Mnemonic::Sub => {
                let (Value::Constant(more), 0) = self.operand(instruction, 1)? else { return None };
                let more = if instruction.mnemonic() == Mnemonic::Sub { more.wrapping_neg() } else { more };
                self.add(instruction, more)
            }
            Mnemonic::Inc => self.add(instruction, 1),
            Mnemonic::Dec => self.add(instruction, -1),
            Mnemonic::Lea => {
                let base = instruction.memory_base();
                let (value, size) = *self.registers.get(&base.full_register())?;
                let plain = instruction.memory_index() == Register::None && base.is_gpr64();
                // The upper half of the register is not known if only the lower half was set from a variable.
                if !plain || register_size(instruction.op0_register())? != size {
                    return None;
                }
                self.store(instruction, value.plus(instruction.memory_displacement64() as i64))
            }
            Mnemonic::Cmp => {
                let ((left, one), (right, other)) =
                    (self.operand(instruction, 0)?, self.operand(instruction, 1)?);
                self.flags = Some((left, right, one.max(other)));
                Some(())
            }
            Mnemonic::Test => {
                let same = instruction.op0_kind() == OpKind::Register
                    && instruction.op1_kind() == OpKind::Register
                    && instruction.op0_register() == instruction.op1_register();
                let (value, size) = self.operand(instruction, 0)?;
                self.flags = same.then_some((value, Value::Constant(0), size));
                Some(())
            }
            _ => None,
        }
    }

    fn add(&mut self, instruction: &Instruction, more: i64) -> Option<()> {
        let (value, _) = self.operand(instruction, 0)?;
        // They are those of the sum.
        self.flags = None;
        self.store(instruction, value.plus(more))
    }

    /// What the runtime has to know, if the loop only counts.
    fn description(
        &self,
        address: u64,
        length: u8,
        (left, right, size, condition): (Value, Value, usize, ConditionCode),
    ) -> Option<Counted> {
        let mut slots = [CountedSlot::default(); COUNTED];
        for (number, variable) in self.variables.iter().enumerate() {
            // Written with something else than itself plus a constant.
            let Value::Variable(origin, step) = variable.value else { return None };
            if origin != number {
                return None;
            }
            let distance = i32::try_from(variable.distance).ok()?;
            slots[number] = CountedSlot { step, distance, size: variable.size as u32 };
        }
        let moves = |value: Value| matches!(value, Value::Variable(number, _) if slots[number].step != 0);
        let (counter, limit, swapped) = match (moves(left), moves(right)) {
            (true, false) => (left, right, false),
            (false, true) => (right, left, true),
            _ => return None,
        };
        let Value::Variable(counter, counter_plus) = counter else { return None };
        let (limit, limit_plus) = match limit {
            Value::Constant(value) => (COUNTED, value),
            Value::Variable(number, constant) => (number, constant),
        };
        (slots[counter].size as usize == size).then_some(())?;
        Some(Counted {
            address,
            slots,
            counter_plus,
            limit_plus,
            counter: counter as u8,
            limit: limit as u8,
            comparison: comparison(condition, swapped)?,
            length,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::compares;
    use iced_x86::{Decoder, DecoderOptions};

    fn found(code: &[u8]) -> Vec<Counted> {
        let decoder = Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE);
        counted_loops(&decoder.into_iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_loop_as_compilers_write_it() {
        // jmp to the test; add dword [rbp-4], 1; cmp dword [rbp-4], 19999999; jle back.
        let code = [0xeb, 4, 0x83, 0x45, 0xfc, 1, 0x81, 0x7d, 0xfc, 0xff, 0x2c, 0x31, 1, 0x7e, 0xf3];
        let [counted] = found(&code)[..] else { panic!("{:?}", found(&code)) };
        assert_eq!((counted.address, counted.length, counted.comparison), (0x1002, 4, compares::AT_MOST));
        assert_eq!(counted.slots[0], CountedSlot { step: 1, distance: -4, size: 4 });
        assert_eq!((counted.counter_plus, counted.limit_plus, counted.limit), (1, 19_999_999, COUNTED as u8));
    }
}
