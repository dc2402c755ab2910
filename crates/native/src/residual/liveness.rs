//! Which bytes of a frame and which registers may still be read, when a function goes on after a call.
//!
//! Backward liveness over the function's instructions. What is read after the function returns depends on the caller:
//! whether it looks at the result and at the registers that a called function keeps. Liveness is a union over these
//! reasons, so it is computed once for each of them alone ([`OUT_REGISTERS`]).

use std::collections::{BTreeMap, HashMap};

use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, UsedMemory,
};

use super::escape::{ARGUMENTS, Addresses, CLOBBERED, Frame, Within, analyse, harmless};
use super::image::{Function, Image};
use crate::protocol::{OUTS, THROUGH_POINTER};

/// What a caller may look at after a return. The first stands for all registers of a result.
pub const OUT_REGISTERS: [Register; OUTS] =
    [Register::RAX, Register::RBX, Register::R12, Register::R13, Register::R14, Register::R15];

/// The largest frame that is looked at.
const MOST: i64 = 1 << 16;

/// What may be read from some place on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Live {
    /// Offsets of bytes from the frame pointer, with the reasons as bits (see [`LivePiece::needs`](crate::protocol::LivePiece::needs)).
    pub bytes: Vec<(i32, u8)>,
    /// Registers, by reason (see [`super::Pairing::registers`]).
    pub registers: [u8; OUTS + 1],
}

/// Sets of registers and of bytes of the frame, by reason.
#[derive(Clone, PartialEq, Eq)]
struct Set {
    /// Per register (general: 0 to 15, vector: 16 to 47): the reasons.
    registers: [u8; 48],
    /// Per byte of the frame: the reasons.
    bytes: Vec<u8>,
}

/// Reads and writes of an instruction.
#[derive(Default)]
struct Effect {
    reads: Vec<usize>,
    writes: Vec<usize>,
    /// Offsets and sizes of what is read and certainly written in the frame.
    read_bytes: Vec<(i64, u32)>,
    written_bytes: Vec<(i64, u32)>,
    /// The same for what is read after a hook has announced it.
    announced_bytes: Vec<(i64, u32)>,
    /// May read anything in the frame.
    reads_frame: bool,
    /// May read anything in the frame through a pointer.
    reads_through_pointer: bool,
    returns: bool,
    /// Does nothing but set this register: what it reads is needed only if the register is.
    only_sets: Option<usize>,
}

/// Liveness of a function.
#[derive(Debug)]
pub struct Liveness {
    places: HashMap<u64, Live>,
}

fn number(register: Register) -> Option<usize> {
    let full = register.full_register();
    if full.is_gpr64() {
        return Some(full.number());
    }
    if full.is_vector_register() {
        return Some(16 + full.number());
    }
    None
}

impl Liveness {
    /// Of this function.
    ///
    /// # Errors
    /// What was not understood.
    pub fn new(image: &Image, function: Function) -> Result<Liveness, String> {
        let code = image.instructions(function)?;
        let frame = analyse(image, function, &code);
        let mut effects = BTreeMap::new();
        let mut factory = InstructionInfoFactory::new();
        let mut lowest = 0;
        for (address, (instruction, _)) in &code {
            let addresses = &frame.addresses[address];
            let mut effect = effect(image, instruction, addresses, &frame, &mut factory)?;
            if effect.read_bytes.iter().any(|read| is_announced(image, &code, &frame, *address, *read)) {
                effect.announced_bytes = std::mem::take(&mut effect.read_bytes);
            }
            let all = effect.read_bytes.iter().chain(&effect.written_bytes).chain(&effect.announced_bytes);
            lowest = all.map(|(offset, _)| *offset).fold(lowest, i64::min);
            effects.insert(*address, effect);
        }
        // The whole frame is what the prologue reserves.
        for (instruction, _) in code.values() {
            if instruction.mnemonic() == Mnemonic::Sub && instruction.op0_register() == Register::RSP {
                lowest = lowest.min(-(instruction.immediate(1) as i64) - 64);
            }
        }
        if lowest < -MOST {
            return Err("a very large frame".to_owned());
        }
        let size = (-lowest) as usize;
        // Bytes of which every read through a pointer is announced by a hook.
        let mut announced = vec![false; size];
        for &(offset, length) in image.scalars(function) {
            let bytes =
                (offset..offset + i64::from(length)).filter_map(|at| usize::try_from(at - lowest).ok());
            bytes.for_each(|byte| announced.get_mut(byte).into_iter().for_each(|a| *a = true));
        }
        let mut before: HashMap<u64, Set> = HashMap::new();
        let mut changed = true;
        while changed {
            changed = false;
            for (address, (_, next)) in code.iter().rev() {
                let mut set = Set { registers: [0; 48], bytes: vec![0; size] };
                for target in next {
                    if let Some(after) = before.get(target) {
                        set.join(after);
                    }
                }
                set.apply(&effects[address], lowest, &announced);
                if before.get(address) != Some(&set) {
                    before.insert(*address, set);
                    changed = true;
                }
            }
        }
        let places = code
            .values()
            .filter(|(i, _)| matches!(i.flow_control(), FlowControl::Call | FlowControl::IndirectCall));
        let places = places.filter_map(|(i, _)| Some((i.next_ip(), before.get(&i.next_ip())?.live(lowest))));
        Ok(Liveness { places: places.collect() })
    }

    /// What may be read after the call that returns to `place`.
    ///
    /// # Errors
    /// If there is no such call, or a vector register is needed.
    pub fn at(&self, place: u64) -> Result<Live, String> {
        self.places.get(&place).cloned().ok_or_else(|| format!("no call returns to {place:#x}"))
    }
}

impl Set {
    fn join(&mut self, other: &Set) {
        self.registers.iter_mut().zip(&other.registers).for_each(|(a, b)| *a |= b);
        self.bytes.iter_mut().zip(&other.bytes).for_each(|(a, b)| *a |= b);
    }

    fn apply(&mut self, effect: &Effect, lowest: i64, announced: &[bool]) {
        let index = |offset: i64| usize::try_from(offset - lowest).ok();
        let needed = effect.only_sets.map_or(1, |register| self.registers[register]);
        for &register in &effect.writes {
            self.registers[register] = 0;
        }
        for &(offset, size) in &effect.written_bytes {
            for byte in (offset..offset + i64::from(size)).filter_map(index) {
                if let Some(byte) = self.bytes.get_mut(byte) {
                    *byte = 0;
                }
            }
        }
        if effect.returns {
            for (k, register) in OUT_REGISTERS.iter().enumerate() {
                self.registers[register.number()] |= 2 << k;
            }
            // The other registers of a result.
            self.registers[Register::RDX.number()] |= 2;
            self.registers[16] |= 2;
            self.registers[17] |= 2;
        }
        for &register in &effect.reads {
            self.registers[register] |= needed;
        }
        for &(offset, size) in &effect.read_bytes {
            for byte in (offset..offset + i64::from(size)).filter_map(index) {
                if let Some(byte) = self.bytes.get_mut(byte) {
                    *byte |= needed;
                }
            }
        }
        for &(offset, size) in &effect.announced_bytes {
            for byte in (offset..offset + i64::from(size)).filter_map(index) {
                if let Some(live) = self.bytes.get_mut(byte) {
                    *live |= if announced[byte] { THROUGH_POINTER } else { needed };
                }
            }
        }
        if effect.reads_through_pointer {
            for (byte, announced) in self.bytes.iter_mut().zip(announced) {
                *byte |= if *announced { THROUGH_POINTER } else { 1 };
            }
        }
        if effect.reads_frame {
            self.bytes.iter_mut().for_each(|byte| *byte |= needed);
        }
    }

    fn live(&self, lowest: i64) -> Live {
        let bytes = self.bytes.iter().enumerate().filter(|(_, needs)| **needs != 0);
        let mut registers = [0; OUTS + 1];
        for (reason, set) in registers.iter_mut().enumerate() {
            for (k, register) in OUT_REGISTERS.iter().enumerate() {
                if self.registers[register.number()] >> reason & 1 != 0 {
                    *set |= 1 << k;
                }
            }
        }
        Live { bytes: bytes.map(|(k, needs)| ((k as i64 + lowest) as i32, *needs)).collect(), registers }
    }
}

/// Has a hook told of this read of the frame, on the only way to it? It stands before the read, and nothing but other hooks is
/// called in between.
fn is_announced(
    image: &Image,
    code: &BTreeMap<u64, (Instruction, Vec<u64>)>,
    frame: &Frame,
    read: u64,
    (offset, size): (i64, u32),
) -> bool {
    let mut at = read;
    while let Some((&before, (instruction, next))) = code.range(..at).next_back() {
        // Nobody comes here from elsewhere.
        if *next != [at] || code.values().any(|(i, to)| i.next_ip() != at && to.contains(&at)) {
            return false;
        }
        if matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall) {
            let Some(name) = image.called(instruction).filter(|name| name.starts_with("__tsan_")) else {
                return false;
            };
            let reads = name.strip_prefix("__tsan_").is_some_and(|n| n == format!("read{size}"));
            let there = frame.addresses[&before].get(&ARGUMENTS[0]) == Some(&Within::At(offset));
            if reads && there {
                return true;
            }
            if !name.starts_with("__tsan_read") && !name.starts_with("__tsan_write") {
                return false;
            }
        } else if instruction.flow_control() != FlowControl::Next {
            return false;
        }
        at = before;
    }
    false
}

/// Is this what sets up or takes down a frame?
fn frames(instruction: &Instruction) -> bool {
    let on_stack = instruction.op0_register() == Register::RSP && instruction.op1_kind() != OpKind::Register;
    match instruction.mnemonic() {
        Mnemonic::Sub | Mnemonic::Add => on_stack && instruction.op1_kind() != OpKind::Memory,
        Mnemonic::Push | Mnemonic::Pop => instruction.op0_register() == Register::RBP,
        Mnemonic::Mov => {
            instruction.op0_register() == Register::RBP && instruction.op1_register() == Register::RSP
        }
        Mnemonic::Leave => true,
        _ => false,
    }
}

fn effect(
    image: &Image,
    instruction: &Instruction,
    addresses: &Addresses,
    frame: &Frame,
    factory: &mut InstructionInfoFactory,
) -> Result<Effect, String> {
    let mut effect = Effect::default();
    match instruction.flow_control() {
        FlowControl::Call | FlowControl::IndirectCall => {
            call(image, instruction, addresses, frame, &mut effect);
            if instruction.flow_control() == FlowControl::IndirectCall {
                effect.reads.extend(
                    [instruction.memory_base(), instruction.op0_register()].into_iter().filter_map(number),
                );
            }
            return Ok(effect);
        }
        FlowControl::Return => {
            effect.returns = true;
            return Ok(effect);
        }
        _ => {}
    }
    if frames(instruction) {
        return Ok(effect);
    }
    // The prologue saves registers of the caller: they are at the top of the frame, like any other value.
    if instruction.mnemonic() == Mnemonic::Push {
        effect.reads.extend(number(instruction.op0_register()));
        return Ok(effect);
    }
    // The epilogue takes them back.
    if instruction.mnemonic() == Mnemonic::Pop {
        let register = instruction.op0_register();
        let saved = image.function(instruction.ip()).and_then(|f| image.saved(f, register));
        let offset = saved.ok_or_else(|| format!("a register is popped at {:#x}", instruction.ip()))?;
        effect.only_sets = number(register);
        effect.writes.extend(number(register));
        effect.read_bytes.push((offset, 8));
        return Ok(effect);
    }
    let info = factory.info(instruction);
    let zeroes = matches!(instruction.mnemonic(), Mnemonic::Xor | Mnemonic::Sub | Mnemonic::Pxor)
        && instruction.op_count() == 2
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register();
    for used in info.used_registers() {
        let register = used.register();
        if matches!(register.full_register(), Register::RSP) {
            return Err(format!("the stack pointer is used at {:#x}", instruction.ip()));
        }
        let Some(index) = number(register) else { continue };
        match used.access() {
            // Writing half a register or less leaves the rest.
            OpAccess::Write if register.size() >= 4 => effect.writes.push(index),
            OpAccess::Write | OpAccess::CondWrite => {}
            _ if zeroes => effect.writes.push(index),
            OpAccess::ReadWrite | OpAccess::ReadCondWrite | OpAccess::Read | OpAccess::CondRead => {
                effect.reads.push(index)
            }
            _ => {}
        }
    }
    let target = instruction.op0_register();
    if instruction.mnemonic() == Mnemonic::Mov
        && instruction.op0_kind() == OpKind::Register
        && target.size() >= 4
    {
        effect.only_sets = number(target);
    }
    if instruction.mnemonic() != Mnemonic::Lea {
        for memory in info.used_memory() {
            touches(memory, addresses, frame, &mut effect);
        }
    }
    Ok(effect)
}

/// An access to memory.
fn touches(memory: &UsedMemory, addresses: &Addresses, frame: &Frame, effect: &mut Effect) {
    let reads = !matches!(memory.access(), OpAccess::Write | OpAccess::CondWrite | OpAccess::NoMemAccess);
    let size = memory.memory_size().size() as u32;
    let base = memory.base().full_register();
    let indexed = memory.index() != Register::None;
    let at = match (base, addresses.get(&base)) {
        _ if indexed => None,
        (Register::RBP, _) => Some(memory.displacement() as i64),
        (_, Some(Within::At(offset))) => Some(offset + memory.displacement() as i64),
        _ => None,
    };
    if let Some(offset) = at {
        // The frame pointer and the return address of the caller are not variables; what lies above are arguments on the
        // stack, which are not looked at here but belong to the caller's frame.
        if offset >= 16 && reads {
            effect.reads_frame = true;
        }
        if reads {
            effect.read_bytes.push((offset, size));
        }
        if memory.access() == OpAccess::Write {
            effect.written_bytes.push((offset, size));
        }
        return;
    }
    let inside = base == Register::RBP
        || addresses.contains_key(&base)
        || addresses.contains_key(&memory.index().full_register());
    effect.reads_frame |= reads && inside;
    effect.reads_through_pointer |= reads && !inside && frame.escapes;
}

fn call(image: &Image, instruction: &Instruction, addresses: &Addresses, frame: &Frame, effect: &mut Effect) {
    let known = image.called(instruction).and_then(harmless);
    let count = known.map_or(ARGUMENTS.len(), |(count, _)| count.min(ARGUMENTS.len()));
    effect.writes.extend(CLOBBERED.iter().filter_map(|r| number(*r)));
    effect.writes.extend(16..48);
    if known.is_none() {
        // The number of vector registers in use, and these, for functions that take floating-point arguments.
        effect.reads.push(Register::RAX.number());
        effect.reads.extend(16..24);
        effect.reads_through_pointer |= frame.escapes;
    }
    effect.reads.extend(ARGUMENTS[..count].iter().filter_map(|r| number(*r)));
    if let Some((_, Some((argument, size)))) = known {
        match addresses.get(&ARGUMENTS[argument]) {
            Some(Within::At(offset)) => effect.read_bytes.push((*offset, size)),
            Some(Within::Anywhere) => effect.reads_frame = true,
            None => effect.reads_frame |= frame.escapes,
        }
    }
}
