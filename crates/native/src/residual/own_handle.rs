//! What becomes of the result of a call: is it only moved about, or does it decide something?
//!
//! Asked of calls of `pthread_self`. Registers and words of the frame that hold the result are followed forwards through the function, and into
//! functions of the program that are given it as an argument. The result may be
//!
//! - copied as a whole between registers and words of the frame, and stored anywhere else as a whole;
//! - given to functions that do the same with every thread's handle (`pthread_detach`), that print it, or that only say whether two are equal;
//! - compared for being equal, where nothing but that is asked of the comparison.
//!
//! Everything else is taken for a use: arithmetic, order, a part of it, an address made of it, a function that is not known, a result of
//! the function, an atomic operation. What is stored outside of the frame is not followed, since every read of it is announced when it happens (by hooks, by the table of
//! library functions, by breakpoints where there are no hooks); the same holds for reads of the frame by others. So only reads of the
//! frame by the function itself have to be found here: these are relative to the frame pointer, to the stack pointer, or to an address that was made from these in the
//! function ([`super::escape`]). Functions with code that only exceptions lead to, or that `longjmp` comes back to, are not understood. Where it is not known which word such an instruction reads or writes, the answer is a use.

use std::collections::{BTreeSet, HashMap};

use iced_x86::{
    ConditionCode, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
    UsedMemory,
};

use super::escape::{ARGUMENTS, Addresses, CLOBBERED, Within, analyse, harmless};
use super::image::{Function, Image};

/// Calls that are followed into each other.
const DEEPEST: usize = 4;
/// Bytes of a handle.
const SIZE: i64 = 8;

/// What becomes of a value that is no use of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fate {
    /// It is copied and stored.
    Stored,
    /// It is also compared with others, for being equal.
    Compared,
}

/// Where the value may be.
#[derive(Clone, Default, PartialEq, Eq)]
struct Holders {
    /// General registers, as bits.
    registers: u16,
    /// Words of the frame: offsets from the frame pointer.
    slots: BTreeSet<i64>,
    /// The flags are those of a comparison with it.
    flags: bool,
}

impl Holders {
    fn has(&self, register: Register) -> bool {
        number(register).is_some_and(|number| self.registers >> number & 1 != 0)
    }

    fn set(&mut self, register: Register, holds: bool) {
        if let Some(number) = number(register) {
            self.registers = self.registers & !(1 << number) | u16::from(holds) << number;
        }
    }

    fn join(&mut self, other: &Holders) -> bool {
        let before = (self.registers, self.slots.len(), self.flags);
        self.registers |= other.registers;
        self.slots.extend(&other.slots);
        self.flags |= other.flags;
        before != (self.registers, self.slots.len(), self.flags)
    }
}

/// The number of the general register that this one is a part of.
pub fn number(register: Register) -> Option<usize> {
    let full = register.full_register();
    full.is_gpr64().then(|| full.number())
}

/// Where an operand in memory lies.
pub enum Place {
    /// At this offset from the frame pointer.
    At(i64),
    /// Somewhere in the frame.
    InFrame,
    /// In no frame of this function, or where a hook announces it.
    Elsewhere,
}

/// Where an operand with these parts lies.
pub fn place(base: Register, index: Register, displacement: u64, addresses: &Addresses) -> Place {
    let within = |register: Register| addresses.get(&register.full_register()).copied();
    let displacement = displacement as i64;
    match (base.full_register(), index) {
        (Register::RBP, Register::None) => Place::At(displacement),
        (Register::RBP | Register::RSP, _) | (_, Register::RBP) => Place::InFrame,
        (base, Register::None) => match within(base) {
            Some(Within::At(offset)) => Place::At(offset.wrapping_add(displacement)),
            Some(Within::Anywhere) => Place::InFrame,
            None => Place::Elsewhere,
        },
        (base, index) if within(base).or(within(index)).is_some() => Place::InFrame,
        _ => Place::Elsewhere,
    }
}

/// What becomes of the result of the call that returns to `return_place`.
///
/// # Errors
/// How it is used, or what was not understood.
pub fn fate(image: &Image, return_place: u64) -> Result<Fate, String> {
    let function = image.function(return_place).ok_or("code outside of known functions")?;
    let mut holders = Holders::default();
    holders.set(Register::RAX, true);
    let mut search = Search { image, factory: InstructionInfoFactory::new(), fate: Fate::Stored };
    search.follow(function, return_place, holders, DEEPEST)?;
    Ok(search.fate)
}

struct Search<'a> {
    image: &'a Image,
    factory: InstructionInfoFactory,
    fate: Fate,
}

impl Search<'_> {
    fn follow(
        &mut self,
        function: Function,
        start: u64,
        holders: Holders,
        depth: usize,
    ) -> Result<(), String> {
        let code = self.image.instructions(function)?;
        let frame = analyse(self.image, function, &code);
        let mut before = HashMap::from([(start, holders)]);
        let mut left = vec![start];
        while let Some(address) = left.pop() {
            let (instruction, next) =
                code.get(&address).ok_or_else(|| format!("no known way to {address:#x}"))?;
            let mut after = before[&address].clone();
            self.step(instruction, &frame.addresses[&address], &mut after, depth)?;
            for &target in next {
                let known = before.get_mut(&target).map(|known| known.join(&after));
                if known.is_none() {
                    before.insert(target, after.clone());
                }
                if known != Some(false) {
                    left.push(target);
                }
            }
        }
        Ok(())
    }

    fn step(
        &mut self,
        instruction: &Instruction,
        addresses: &Addresses,
        holders: &mut Holders,
        depth: usize,
    ) -> Result<(), String> {
        let used = || Err(format!("used at {:#x}", instruction.ip()));
        match instruction.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall => {
                self.call(instruction, addresses, holders, depth)?;
                CLOBBERED.iter().for_each(|register| holders.set(*register, false));
                holders.flags = false;
                return Ok(());
            }
            FlowControl::Return => {
                // The result, and registers that the caller finds again.
                let kept = [Register::RAX, Register::RDX, Register::RBX, Register::R12, Register::R13];
                let kept = kept.into_iter().chain([Register::R14, Register::R15]);
                return if kept.into_iter().any(|r| holders.has(r)) { used() } else { Ok(()) };
            }
            _ => {}
        }
        let equality = matches!(instruction.condition_code(), ConditionCode::e | ConditionCode::ne);
        if holders.flags && instruction.rflags_read() != 0 && !equality {
            return used();
        }
        if instruction.rflags_modified() != 0 {
            holders.flags = false;
        }
        let operand = || {
            let (base, index) = (instruction.memory_base(), instruction.memory_index());
            place(base, index, instruction.memory_displacement64(), addresses)
        };
        let in_address = holders.has(instruction.memory_base()) || holders.has(instruction.memory_index());
        let whole = |register: Register| register.is_gpr64();
        let register = |number: u32| {
            (instruction.op_kind(number) == OpKind::Register).then(|| instruction.op_register(number))
        };
        let held_slot = |holders: &Holders| {
            instruction.memory_size().size() as i64 == SIZE
                && matches!(operand(), Place::At(offset) if holders.slots.contains(&offset))
        };
        match instruction.mnemonic() {
            Mnemonic::Mov if !in_address => {
                let source = register(1).filter(|r| whole(*r) && holders.has(*r));
                let loads = instruction.op1_kind() == OpKind::Memory && held_slot(holders);
                let target = register(0);
                if loads || source.is_some() {
                    match target {
                        Some(Register::RSP | Register::RBP) => return used(),
                        Some(target) if whole(target) => {
                            holders.set(target, true);
                            return Ok(());
                        }
                        Some(_) => return used(),
                        None => {}
                    }
                    match operand() {
                        Place::At(offset) if offset % SIZE == 0 => {
                            holders.slots.insert(offset);
                        }
                        Place::At(_) | Place::InFrame => return used(),
                        Place::Elsewhere => {}
                    }
                    return Ok(());
                }
            }
            Mnemonic::Cmp | Mnemonic::Test if !in_address => {
                let operands = [register(0), register(1)];
                let holds = operands.iter().flatten().any(|r| whole(*r) && holders.has(*r));
                // `test` of a register with itself asks whether it is zero.
                let fits = instruction.mnemonic() == Mnemonic::Cmp
                    || operands[0].is_some() && operands[0] == operands[1];
                let slot = instruction.op_count() == 2 && held_slot(holders);
                if fits && (holds || slot) {
                    let wide = operands.iter().flatten().all(|r| whole(*r));
                    if !wide || !slot && self.reads_a_slot(instruction, addresses, holders) {
                        return used();
                    }
                    holders.flags = true;
                    self.fate = Fate::Compared;
                    return Ok(());
                }
            }
            _ => {}
        }
        if self.reads_a_slot(instruction, addresses, holders) {
            return used();
        }
        let info = self.factory.info(instruction);
        let mut written = Vec::new();
        for access in info.used_registers() {
            let reads = !matches!(
                access.access(),
                OpAccess::Write | OpAccess::CondWrite | OpAccess::None | OpAccess::NoMemAccess
            );
            if reads && holders.has(access.register()) {
                return used();
            }
            // A write of less leaves the rest as it was.
            if access.access() == OpAccess::Write && access.register().size() >= 4 {
                written.push(access.register());
            }
        }
        for memory in info.used_memory() {
            let size = memory.memory_size().size() as i64;
            if memory.access() == OpAccess::Write
                && let Place::At(from) = used_place(memory, addresses)
            {
                holders.slots.retain(|slot| *slot < from || slot + SIZE > from + size);
            }
        }
        written.into_iter().for_each(|register| holders.set(register, false));
        Ok(())
    }

    /// May the instruction read a word of the frame that holds the value?
    fn reads_a_slot(&mut self, instruction: &Instruction, addresses: &Addresses, holders: &Holders) -> bool {
        if holders.slots.is_empty() {
            return false;
        }
        // These read what was pushed, and the value is never pushed.
        let unwinds = matches!(instruction.mnemonic(), Mnemonic::Pop | Mnemonic::Leave | Mnemonic::Ret);
        let info = self.factory.info(instruction);
        info.used_memory().iter().any(|memory| {
            let writes = matches!(memory.access(), OpAccess::Write | OpAccess::CondWrite);
            if writes || memory.access() == OpAccess::NoMemAccess || memory.access() == OpAccess::None {
                return false;
            }
            let size = memory.memory_size().size() as i64;
            match used_place(memory, addresses) {
                Place::At(from) if size > 0 => {
                    holders.slots.iter().any(|slot| *slot < from + size && from < slot + SIZE)
                }
                Place::At(_) => true,
                Place::InFrame => !(unwinds && memory.base() == Register::RSP),
                Place::Elsewhere => false,
            }
        })
    }

    /// Does the function take a variable number of arguments? Then it finds them by a list, without hooks. Such a function begins with the question whether
    /// there are any in vector registers.
    fn is_variadic(&self, function: Function) -> bool {
        let mut address = function.start;
        while let Some(instruction) = self.image.decode(address).filter(|_| address < function.end) {
            if matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall) {
                return false;
            }
            if instruction.mnemonic() == Mnemonic::Test && instruction.op0_register() == Register::AL {
                return true;
            }
            address = instruction.next_ip();
        }
        true
    }

    fn call(
        &mut self,
        call: &Instruction,
        addresses: &Addresses,
        holders: &Holders,
        depth: usize,
    ) -> Result<(), String> {
        let used = || Err(format!("given to a function at {:#x}", call.ip()));
        let any = |count: usize| ARGUMENTS.iter().take(count).any(|r| holders.has(*r));
        let target = [call.memory_base(), call.memory_index()];
        if target.into_iter().chain([call.op0_register()]).any(|r| holders.has(r)) {
            return used();
        }
        let name = self.image.called(call);
        if let Some((count, behind)) = name.and_then(harmless) {
            // What the runtime reads behind an argument is read without a hook.
            let reads_frame =
                behind.is_some_and(|(argument, _)| addresses.contains_key(&ARGUMENTS[argument]));
            let reads = reads_frame && !holders.slots.is_empty();
            return if any(count) || reads { used() } else { Ok(()) };
        }
        let count = match name {
            Some("pthread_detach" | "pthread_self" | "thrd_current") => 0,
            Some("malloc" | "free" | "pthread_mutex_lock" | "pthread_mutex_unlock") => 1,
            _ => ARGUMENTS.len(),
        };
        match name {
            // What is printed, and where, is looked at when it happens.
            Some("printf") if !any(1) => Ok(()),
            Some("fprintf" | "__printf_chk") if !any(2) => Ok(()),
            Some("__fprintf_chk") if !any(3) => Ok(()),
            Some("pthread_equal" | "thrd_equal") => {
                self.fate = Fate::Compared;
                Ok(())
            }
            _ if !any(count) => Ok(()),
            None if call.flow_control() == FlowControl::Call && depth > 0 => {
                let function = self.image.function(call.near_branch_target());
                let Some(function) = function.filter(|f| f.start == call.near_branch_target()) else {
                    return used();
                };
                let mut given = Holders::default();
                ARGUMENTS.iter().for_each(|r| given.set(*r, holders.has(*r)));
                if self.is_variadic(function) {
                    return used();
                }
                self.follow(function, function.start, given, depth - 1)
            }
            _ => used(),
        }
    }
}

/// The same for one that is used without being written down.
pub fn used_place(memory: &UsedMemory, addresses: &Addresses) -> Place {
    place(memory.base(), memory.index(), memory.displacement(), addresses)
}
