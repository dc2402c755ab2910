//! Can memory of a function's frame be reached by others?
//!
//! Registers that may hold an address within the frame are followed through the function. Such an address must not be stored,
//! returned, or given to a function, except to the hooks and primitives of the runtime that are known not to keep it. If
//! it is, everything in the frame may be read at any time by anybody who is called.

use std::collections::{BTreeMap, HashMap};

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

use super::image::{Function, Image};

/// Registers that pass arguments, in order.
pub const ARGUMENTS: [Register; 6] =
    [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];
/// Registers that a called function need not keep.
pub const CLOBBERED: [Register; 9] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];

/// What a function of the runtime does with addresses it is given: how many arguments it has, and what it reads behind them
/// (argument, bytes).
pub fn harmless(name: &str) -> Option<(usize, Option<(usize, u32)>)> {
    if name == "__tsan_func_entry" || name.starts_with("__tsan_read") || name.starts_with("__tsan_write") {
        let range = name.ends_with("_range");
        return Some((if range { 2 } else { 1 }, None));
    }
    if name.starts_with("__tsan_unaligned_") || name.starts_with("__tsan_volatile_") {
        return Some((1, None));
    }
    if let Some(rest) = name.strip_prefix("__tsan_atomic") {
        let bits: u32 = rest.split('_').next()?.parse().ok()?;
        if rest.contains("compare_exchange") {
            // The expected value lies after the second argument.
            return Some((5, Some((1, bits / 8))));
        }
        let count = if rest.contains("load") { 2 } else { 3 };
        // The address itself: an atomic variable in the frame is shared with others.
        return rest.split_once('_').map(|_| (count, Some((0, bits / 8))));
    }
    match name {
        "__tsan_func_exit" | "__tsan_init" => Some((0, None)),
        // They write after their first and second argument, respectively.
        "pthread_create" => Some((4, None)),
        "pthread_join" => Some((2, None)),
        _ => None,
    }
}

/// Which arguments of such a function may point into the frame without being kept.
fn may_point(name: &str, argument: usize) -> bool {
    match name {
        "pthread_create" => argument == 0,
        "pthread_join" => argument == 1,
        _ if name.contains("compare_exchange") => argument == 1,
        _ if name.starts_with("__tsan_atomic") => false,
        _ => argument == 0,
    }
}

/// An address within the frame: at a known offset from the frame pointer, or anywhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Within {
    /// At this offset.
    At(i64),
    /// Somewhere.
    Anywhere,
}

/// Registers that may hold addresses within the frame.
pub type Addresses = HashMap<Register, Within>;

/// What is known of a frame.
#[derive(Debug)]
pub struct Frame {
    /// May others reach it?
    pub escapes: bool,
    /// The addresses in registers before each instruction.
    pub addresses: HashMap<u64, Addresses>,
}

/// Is the register a general one other than the frame and stack pointers?
pub fn general(register: Register) -> Option<Register> {
    let full = register.full_register();
    (full.is_gpr64() && full != Register::RBP && full != Register::RSP).then_some(full)
}

/// Follows addresses through a function.
pub fn analyse(image: &Image, function: Function, code: &BTreeMap<u64, (Instruction, Vec<u64>)>) -> Frame {
    let mut frame = Frame { escapes: false, addresses: HashMap::new() };
    let mut factory = InstructionInfoFactory::new();
    let mut left = vec![function.start];
    frame.addresses.insert(function.start, Addresses::new());
    while let Some(address) = left.pop() {
        let (instruction, next) = &code[&address];
        let mut after = frame.addresses[&address].clone();
        frame.escapes |= step(image, instruction, &mut after, &mut factory);
        for &target in next {
            let mut changed = false;
            let known = frame.addresses.entry(target).or_insert_with(|| {
                changed = true;
                Addresses::new()
            });
            for (register, within) in &after {
                let joined = match known.get(register) {
                    None => *within,
                    Some(old) if old == within => continue,
                    Some(Within::Anywhere) => continue,
                    Some(_) => Within::Anywhere,
                };
                known.insert(*register, joined);
                changed = true;
            }
            if changed {
                left.push(target);
            }
        }
    }
    frame
}

/// What an instruction does to the addresses. Says whether one escapes.
fn step(
    image: &Image,
    instruction: &Instruction,
    addresses: &mut Addresses,
    factory: &mut InstructionInfoFactory,
) -> bool {
    let call = matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
    if call {
        let name = image.called(instruction);
        let known = name.and_then(|name| Some((name, harmless(name)?.0)));
        let escapes = match known {
            Some((name, count)) => (0..count.min(ARGUMENTS.len()))
                .any(|k| addresses.contains_key(&ARGUMENTS[k]) && !may_point(name, k)),
            None => ARGUMENTS.iter().any(|r| addresses.contains_key(r)),
        };
        CLOBBERED.iter().for_each(|r| {
            addresses.remove(r);
        });
        return escapes;
    }
    if instruction.flow_control() == FlowControl::Return {
        return addresses.contains_key(&Register::RAX);
    }
    let first = || general(instruction.op0_register());
    match instruction.mnemonic() {
        Mnemonic::Lea => {
            let base = instruction.memory_base();
            let indexed = instruction.memory_index() != Register::None;
            let within = if base == Register::RBP && !indexed {
                Some(Within::At(instruction.memory_displacement64() as i64))
            } else {
                let parts = [base, instruction.memory_index()];
                let inside = |r: &Register| {
                    matches!(*r, Register::RBP | Register::RSP)
                        || general(*r).is_some_and(|r| addresses.contains_key(&r))
                };
                parts.iter().any(inside).then_some(Within::Anywhere)
            };
            set(addresses, first(), within);
            return false;
        }
        Mnemonic::Mov if instruction.op1_kind() == OpKind::Register => {
            let source = instruction.op1_register();
            let within = match source {
                // The prologue copies the stack pointer to the frame pointer, which is not an address of a variable.
                Register::RBP | Register::RSP => Some(Within::Anywhere),
                _ => general(source).and_then(|r| addresses.get(&r).copied()),
            };
            if instruction.op0_kind() == OpKind::Register {
                set(addresses, first(), within);
                return false;
            }
            return within.is_some();
        }
        Mnemonic::Push => {
            return general(instruction.op0_register()).is_some_and(|r| addresses.contains_key(&r));
        }
        Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Leave | Mnemonic::Nop => return false,
        _ => {}
    }
    // Anything computed from an address may be one; a value loaded from memory is none, since none is stored.
    let info = factory.info(instruction);
    let (mut reads, mut stores) = (false, false);
    let mut written = Vec::new();
    for used in info.used_registers() {
        let Some(register) = general(used.register()) else { continue };
        let as_address = instruction.memory_base().full_register() == register
            || instruction.memory_index().full_register() == register;
        match used.access() {
            OpAccess::Write | OpAccess::CondWrite => written.push(register),
            OpAccess::ReadWrite | OpAccess::ReadCondWrite => {
                reads |= addresses.contains_key(&register);
                written.push(register);
            }
            _ => reads |= addresses.contains_key(&register) && !as_address,
        }
    }
    for memory in info.used_memory() {
        stores |= !matches!(memory.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess);
    }
    for register in written {
        set(addresses, Some(register), reads.then_some(Within::Anywhere));
    }
    reads && stores
}

fn set(addresses: &mut Addresses, register: Option<Register>, within: Option<Within>) {
    if let Some(register) = register {
        match within {
            Some(within) => addresses.insert(register, within),
            None => addresses.remove(&register),
        };
    }
}
