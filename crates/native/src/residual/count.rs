//! What becomes of the result of an atomic addition: does anybody learn more of it than whether it was one of a few values?
//!
//! Asked of `atomic_fetch_add`, `atomic_fetch_sub` and the like, for `quotient_stateless::counts`. The result is followed forwards through the
//! function, as that of `pthread_self` is (`own_handle`), with a constant that was added to it since: `old + k`. It may be
//!
//! - copied between registers and words of the frame, if nobody else can reach the frame;
//! - added a constant to, or subtracted one from;
//! - compared with a constant, where nothing but equality is asked of the comparison: then `old == constant - k` is *watched*;
//! - returned. Then the same question is asked of the call that the function returns to, with this `k`: a library's `operator--` asks nothing itself.
//!
//! Everything else is a use, also what is not understood. Whether results are compared as numbers of four or of eight bytes makes no difference: whoever
//! relies on the answer has seen that the values lie between 0 and the largest `int`.

use std::collections::{BTreeMap, HashMap};

use iced_x86::{
    ConditionCode, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};
use quotient_stateless::counts::WATCHED;

use super::escape::{ARGUMENTS, Addresses, CLOBBERED, analyse, harmless};
use super::image::Image;
use super::own_handle::{Place, number, place, used_place};

/// What is known of the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Use {
    /// The values that it is compared with, as bits.
    pub watched: u8,
    /// It is returned, after this was added to it.
    pub returned: Option<i64>,
}

/// What a register or a word of the frame holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Held {
    /// The result and this.
    Sum(i64),
    /// The result, and not the same on all ways here.
    Unclear,
    /// The same, but for the lowest byte.
    AllButByte,
}

/// Where the result may be.
#[derive(Clone, Default, PartialEq, Eq)]
struct Holders {
    /// General registers, by number.
    registers: BTreeMap<usize, Held>,
    /// Words of the frame: offset from the frame pointer, size.
    slots: BTreeMap<(i64, i64), Held>,
    /// The flags say whether the result was equal to this; or are of the result, but unclear.
    flags: Option<Option<i64>>,
}

fn join<K: Ord + Copy>(into: &mut BTreeMap<K, Held>, other: &BTreeMap<K, Held>) {
    for (key, held) in other {
        let known = into.entry(*key).or_insert(*held);
        if *known != *held {
            *known = Held::Unclear;
        }
    }
}

impl Holders {
    fn of(&self, register: Register) -> Option<Held> {
        number(register).and_then(|n| self.registers.get(&n)).copied()
    }

    fn set(&mut self, register: Register, held: Option<Held>) {
        if let Some(number) = number(register) {
            match held {
                Some(held) => self.registers.insert(number, held),
                None => self.registers.remove(&number),
            };
        }
    }

    /// Says whether something has changed.
    fn join(&mut self, other: &Holders) -> bool {
        let before = self.clone();
        join(&mut self.registers, &other.registers);
        join(&mut self.slots, &other.slots);
        self.flags = match (self.flags, other.flags) {
            (Some(a), Some(b)) if a != b => Some(None),
            (a, b) => a.or(b),
        };
        *self != before
    }
}

/// What becomes of the result of the call that returns to `return_place`, if it is the result of the addition and `added`.
///
/// # Errors
/// How it is used, or what was not understood.
pub fn uses(image: &Image, return_place: u64, added: i64) -> Result<Use, String> {
    let function = image.function(return_place).ok_or("code outside of known functions")?;
    let code = image.instructions(function)?;
    let frame = analyse(image, function, &code);
    let mut search = Search {
        image,
        factory: InstructionInfoFactory::new(),
        escapes: frame.escapes,
        found: Use::default(),
    };
    let mut holders = Holders::default();
    holders.set(Register::RAX, Some(Held::Sum(added)));
    let mut before = HashMap::from([(return_place, holders)]);
    let mut left = vec![return_place];
    while let Some(address) = left.pop() {
        let (instruction, next) =
            code.get(&address).ok_or_else(|| format!("no known way to {address:#x}"))?;
        let mut after = before[&address].clone();
        let addresses = frame.addresses.get(&address).ok_or("no known way")?;
        search.step(instruction, addresses, &mut after)?;
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
    Ok(search.found)
}

struct Search<'a> {
    image: &'a Image,
    factory: InstructionInfoFactory,
    escapes: bool,
    found: Use,
}

/// Sizes that a result has.
fn whole(size: usize) -> bool {
    size == 4 || size == 8
}

impl Search<'_> {
    fn step(
        &mut self,
        instruction: &Instruction,
        addresses: &Addresses,
        holders: &mut Holders,
    ) -> Result<(), String> {
        let used = || Err(format!("used at {:#x}", instruction.ip()));
        match instruction.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall => {
                self.call(instruction, addresses, holders)?;
                CLOBBERED.iter().for_each(|register| holders.set(*register, None));
                holders.flags = None;
                return Ok(());
            }
            FlowControl::Return => return self.returns(holders, used),
            _ => {}
        }
        if instruction.rflags_read() != 0
            && let Some(flags) = holders.flags
        {
            let equality = matches!(instruction.condition_code(), ConditionCode::e | ConditionCode::ne);
            match flags.filter(|value| equality && (0..WATCHED).contains(value)) {
                Some(value) => self.found.watched |= 1 << value,
                None => return used(),
            }
        }
        if instruction.rflags_modified() != 0 {
            holders.flags = None;
        }
        if self.moves(instruction, addresses, holders)? {
            return Ok(());
        }
        if self.reads_a_slot(instruction, addresses, holders) {
            return used();
        }
        let info = self.factory.info(instruction);
        for access in info.used_registers() {
            let reads = !matches!(
                access.access(),
                OpAccess::Write | OpAccess::CondWrite | OpAccess::None | OpAccess::NoMemAccess
            );
            let low = access.register().size() == 1 && !is_high(access.register());
            match holders.of(access.register()) {
                Some(Held::AllButByte) if low => {}
                Some(_) if reads => return used(),
                _ => {}
            }
        }
        let mut written = Vec::new();
        for access in info.used_registers().iter().filter(|access| access.access() == OpAccess::Write) {
            written.push(access.register());
        }
        for memory in info.used_memory().iter().filter(|memory| memory.access() == OpAccess::Write) {
            if let Place::At(from) = used_place(memory, addresses) {
                let size = memory.memory_size().size() as i64;
                holders.slots.retain(|(slot, length), _| *slot < from || slot + length > from + size);
            }
        }
        for register in written {
            match register.size() {
                4.. => holders.set(register, None),
                1 if !is_high(register) && holders.of(register).is_some() => {
                    holders.set(register, Some(Held::AllButByte));
                }
                // A write of less leaves the rest as it was.
                _ => {}
            }
        }
        Ok(())
    }

    fn returns(&mut self, holders: &Holders, used: impl Fn() -> Result<(), String>) -> Result<(), String> {
        let kept = [Register::RDX, Register::RBX, Register::R12, Register::R13, Register::R14, Register::R15];
        if kept.into_iter().any(|register| holders.of(register).is_some()) {
            return used();
        }
        match holders.of(Register::RAX) {
            None => Ok(()),
            Some(Held::Sum(added)) if self.found.returned.is_none_or(|known| known == added) => {
                self.found.returned = Some(added);
                Ok(())
            }
            // Of a result of one byte nothing else is looked at; what is looked at beyond that is a use by the caller.
            Some(_) => used(),
        }
    }

    /// Is the instruction one that moves the result, adds a constant to it, or compares it with one? Then does that.
    fn moves(
        &mut self,
        instruction: &Instruction,
        addresses: &Addresses,
        holders: &mut Holders,
    ) -> Result<bool, String> {
        let used = || Err(format!("used at {:#x}", instruction.ip()));
        let register = |operand: u32| {
            (instruction.op_kind(operand) == OpKind::Register).then(|| instruction.op_register(operand))
        };
        let memory = |operand: u32| instruction.op_kind(operand) == OpKind::Memory;
        let at = || {
            let (base, index) = (instruction.memory_base(), instruction.memory_index());
            place(base, index, instruction.memory_displacement64(), addresses)
        };
        if instruction.mnemonic() != Mnemonic::Lea
            && [instruction.memory_base(), instruction.memory_index()]
                .into_iter()
                .any(|r| holders.of(r).is_some())
        {
            return used();
        }
        let size = instruction.memory_size().size();
        // What the operand holds of the result, as a whole.
        let held = |operand: u32, holders: &Holders| match register(operand) {
            Some(register) => holders.of(register).filter(|_| whole(register.size())),
            None if memory(operand) && whole(size) => match at() {
                Place::At(offset) => holders.slots.get(&(offset, size as i64)).copied(),
                _ => None,
            },
            None => None,
        };
        let constant = |operand: u32| match instruction.op_kind(operand) {
            OpKind::Immediate8to32 | OpKind::Immediate8to64 | OpKind::Immediate32to64 => {
                Some(instruction.immediate(operand) as i64)
            }
            OpKind::Immediate32 => Some(i64::from(instruction.immediate32() as i32)),
            _ => None,
        };
        let sum = |held: Option<Held>| match held {
            Some(Held::Sum(added)) => Some(added),
            _ => None,
        };
        match instruction.mnemonic() {
            Mnemonic::Mov | Mnemonic::Movsxd => {
                let Some(held) = held(1, holders) else { return Ok(false) };
                let Held::Sum(_) = held else { return used() };
                match register(0) {
                    Some(target) if whole(target.size()) && number(target).is_some() => {
                        if matches!(target.full_register(), Register::RSP | Register::RBP) {
                            return used();
                        }
                        holders.set(target, Some(held));
                    }
                    Some(_) => return used(),
                    None => match at() {
                        Place::At(offset) if !self.escapes && whole(size) => {
                            let end = offset + size as i64;
                            holders.slots.retain(|(slot, length), _| *slot >= end || slot + length <= offset);
                            holders.slots.insert((offset, size as i64), held);
                        }
                        _ => return used(),
                    },
                }
                Ok(true)
            }
            Mnemonic::Cdqe if sum(holders.of(Register::RAX)).is_some() => Ok(true),
            Mnemonic::Lea if instruction.memory_index() == Register::None => {
                let Some(added) = sum(holders.of(instruction.memory_base())) else { return Ok(false) };
                let more = instruction.memory_displacement64() as i64;
                let more = if instruction.memory_displ_size() == 4 { i64::from(more as i32) } else { more };
                match register(0) {
                    Some(target) if whole(target.size()) => {
                        holders.set(target, Some(Held::Sum(added.wrapping_add(more))));
                        Ok(true)
                    }
                    _ => used(),
                }
            }
            Mnemonic::Add | Mnemonic::Sub | Mnemonic::Inc | Mnemonic::Dec => {
                let (Some(target), Some(added)) = (register(0), sum(held(0, holders))) else {
                    return Ok(false);
                };
                let more = match instruction.mnemonic() {
                    Mnemonic::Inc => Some(1),
                    Mnemonic::Dec => Some(-1),
                    Mnemonic::Add => constant(1),
                    _ => constant(1).map(i64::wrapping_neg),
                };
                let Some(more) = more else { return used() };
                let added = added.wrapping_add(more);
                holders.set(target, Some(Held::Sum(added)));
                holders.flags = Some(Some(added.wrapping_neg()));
                Ok(true)
            }
            Mnemonic::Cmp => {
                let (Some(added), Some(value)) = (sum(held(0, holders)), constant(1)) else {
                    return Ok(false);
                };
                holders.flags = Some(Some(value.wrapping_sub(added)));
                Ok(true)
            }
            Mnemonic::Test if register(0).is_some() && register(0) == register(1) => {
                let Some(added) = sum(held(0, holders)) else { return Ok(false) };
                holders.flags = Some(Some(added.wrapping_neg()));
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// May the instruction read a word of the frame that holds the result?
    fn reads_a_slot(&mut self, instruction: &Instruction, addresses: &Addresses, holders: &Holders) -> bool {
        if holders.slots.is_empty() {
            return false;
        }
        // These read what was pushed, and the result is never pushed.
        let unwinds = matches!(instruction.mnemonic(), Mnemonic::Pop | Mnemonic::Leave | Mnemonic::Ret);
        let info = self.factory.info(instruction);
        info.used_memory().iter().any(|memory| {
            let nothing = [OpAccess::Write, OpAccess::CondWrite, OpAccess::NoMemAccess, OpAccess::None];
            if nothing.contains(&memory.access()) {
                return false;
            }
            let size = memory.memory_size().size() as i64;
            match used_place(memory, addresses) {
                Place::At(from) if size > 0 => {
                    holders.slots.keys().any(|(slot, length)| *slot < from + size && from < slot + length)
                }
                Place::At(_) => true,
                Place::InFrame => !(unwinds && memory.base() == Register::RSP),
                Place::Elsewhere => false,
            }
        })
    }

    fn call(&self, call: &Instruction, addresses: &Addresses, holders: &Holders) -> Result<(), String> {
        let used = || Err(format!("given to a function at {:#x}", call.ip()));
        let target = [call.memory_base(), call.memory_index(), call.op0_register()];
        if target.into_iter().any(|register| holders.of(register).is_some()) {
            return used();
        }
        let known = self.image.called(call).and_then(harmless);
        let count = known.map_or(ARGUMENTS.len(), |(count, _)| count);
        if ARGUMENTS.iter().take(count).any(|register| holders.of(*register).is_some()) {
            return used();
        }
        // What the runtime reads behind an argument is read without a hook.
        let behind = known.and_then(|(_, behind)| behind);
        let reads_frame = behind.is_some_and(|(argument, _)| addresses.contains_key(&ARGUMENTS[argument]));
        if reads_frame && !holders.slots.is_empty() { used() } else { Ok(()) }
    }
}

fn is_high(register: Register) -> bool {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}
