//! Holes in the compiler's instrumentation: accesses to memory that no hook announces.
//!
//! A static scan of the program's own code, function by function. Every instruction with a memory operand outside of the
//! stack must have a hook (`__tsan_read4`, `__tsan_write_range`, …) before it, with no other call and no target of a jump in
//! between, and hooks announce as many bytes as are accessed; what the compiler is known to leave out lacks one: inline assembly, structures passed or returned by value,
//! functions that are not to be instrumented, files compiled without it.
//!
//! Instructions that read the processor's clock, or ask it for random numbers, are found, too: an execution could not be repeated.
//!
//! What it does not look at: operands relative to the stack or frame pointer, thread-local variables, constants (memory that
//! cannot be written, and loads that only feed an indirect jump or call: tables of jumps and virtual functions). An access of assembly in the
//! place of another one that was announced, between a hook and its access, can be missed.
//!
//! The runtime watches the instructions that are found ([`instructions`]), so that what they do is checked like all else. That takes
//! a breakpoint in each, so it must be known that they are instructions: code of functions that the symbols give an end. The rest (assembly outside of
//! functions, stripped objects) may be constants; if it accesses memory, nobody has seen what it does ([`unwatched`]).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SymbolKind};

use crate::counted_loops::counted_loops;
use crate::protocol::{Counted, Hole, hole};
use crate::symbols::{Location, Symbols};

/// Instructions whose result is another one each time: the processor's clock and random numbers.
const GIVES_ANYTHING: [Mnemonic; 5] =
    [Mnemonic::Rdtsc, Mnemonic::Rdtscp, Mnemonic::Rdpmc, Mnemonic::Rdrand, Mnemonic::Rdseed];

/// What the compiler adds to every program for its end: it accesses a variable of its own, on the thread that ends the program.
const AT_THE_END: &str = "__do_global_dtors_aux";

/// How many instructions after a load an indirect jump or call may use it.
const TABLE_DISTANCE: usize = 4;

/// Accesses without a hook, one per line of source, in the order of addresses.
pub fn holes(program: &Path) -> Vec<Location> {
    let bytes = std::fs::read(program).unwrap_or_default();
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    let scan = Scan::new(&file);
    places(program, scan.addresses(&file).into_iter().chain(scan.outside(&file)))
}

/// Those that the runtime cannot watch.
pub(crate) fn unwatched(program: &Path) -> Vec<Location> {
    let bytes = std::fs::read(program).unwrap_or_default();
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    places(program, Scan::new(&file).outside(&file))
}

/// Where instructions stand, each line of source, or function without lines, once.
fn places(program: &Path, addresses: impl IntoIterator<Item = u64>) -> Vec<Location> {
    let symbols = Symbols::new(program, 0);
    let mut seen = BTreeSet::new();
    let nameless = |address: u64| Location {
        function: format!("{address:#x}"),
        file: String::new(),
        line: 0,
        of_library: false,
    };
    // As for a return address: the instruction ends after it.
    let place = |address: u64| symbols.code(address + 1).unwrap_or_else(|| nameless(address));
    let new = |place: &Location| match place.line {
        0 => seen.insert((place.function.clone(), 0)),
        line => seen.insert((place.file.clone(), line)),
    };
    addresses.into_iter().map(place).filter(new).collect()
}

/// The instructions themselves, for the runtime to watch, in the order of their addresses.
pub fn instructions(program: &Path) -> Vec<Hole> {
    let bytes = std::fs::read(program).unwrap_or_default();
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    let scan = Scan::new(&file);
    let mut factory = InstructionInfoFactory::new();
    let addresses = scan.addresses(&file).into_iter().chain(scan.fences(&file));
    let mut found: Vec<Hole> = addresses.filter_map(|at| scan.describe(at, &mut factory)).collect();
    found.sort_by_key(|hole| hole.address);
    found.dedup_by_key(|hole| hole.address);
    found
}

/// Loops that only count, in the order of their addresses.
pub(crate) fn counted(program: &Path) -> Vec<Counted> {
    let bytes = std::fs::read(program).unwrap_or_default();
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    let scan = Scan::new(&file);
    let functions = scan.functions(&file).into_iter();
    let mut found: Vec<Counted> =
        functions.flat_map(|(address, size)| counted_loops(&scan.instructions(address, size))).collect();
    found.sort_by_key(|counted| counted.address);
    found.dedup_by_key(|counted| counted.address);
    found
}

/// The number of a general register among those that the kernel saves.
fn kernel_number(register: Register) -> u8 {
    const ORDER: [Register; 16] = [
        Register::R8,
        Register::R9,
        Register::R10,
        Register::R11,
        Register::R12,
        Register::R13,
        Register::R14,
        Register::R15,
        Register::RDI,
        Register::RSI,
        Register::RBP,
        Register::RBX,
        Register::RDX,
        Register::RAX,
        Register::RCX,
        Register::RSP,
    ];
    ORDER.iter().position(|r| *r == register).map_or(hole::NONE, |n| n as u8)
}

fn is_on_stack(instruction: &Instruction) -> bool {
    matches!(instruction.memory_base(), Register::RSP | Register::RBP | Register::ESP)
}

/// Is it a fence between all accesses before and after it, and nothing else that others notice?
fn is_fence(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Mfence
        || (instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg)
            && is_on_stack(instruction)
            && instruction.memory_segment() == Register::SS
}

/// What an instruction does to its memory operand.
fn kind(instruction: &Instruction, factory: &mut InstructionInfoFactory) -> u8 {
    let atomic = instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg;
    if atomic && matches!(instruction.mnemonic(), Mnemonic::Cmpxchg) {
        return hole::COMPARE_AND_SWAP;
    }
    let size = instruction.memory_size().size();
    if atomic {
        return if matches!(size, 1 | 2 | 4 | 8) { hole::ATOMIC_UPDATE } else { hole::UNKNOWN };
    }
    let [memory] = factory.info(instruction).used_memory() else { return hole::UNKNOWN };
    match memory.access() {
        OpAccess::Read | OpAccess::CondRead => hole::READ,
        OpAccess::Write | OpAccess::CondWrite => hole::WRITE,
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => hole::UPDATE,
        _ => hole::UNKNOWN,
    }
}

struct Scan {
    /// Names of functions by the address of the slot that the dynamic linker fills.
    slots: BTreeMap<u64, String>,
    /// Memory that can be written: start and end.
    writable: Vec<(u64, u64)>,
    /// Code: start and content.
    code: Vec<(u64, Vec<u8>)>,
}

impl Scan {
    fn new(file: &object::File<'_>) -> Scan {
        let mut slots = BTreeMap::new();
        let names: BTreeMap<_, _> =
            file.dynamic_symbols().filter_map(|s| Some((s.index().0, s.name().ok()?.to_owned()))).collect();
        for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
            if let RelocationTarget::Symbol(index) = relocation.target()
                && let Some(name) = names.get(&index.0)
            {
                slots.insert(address, name.clone());
            }
        }
        let constant =
            |name: &str| name.starts_with(".got") || name == ".data.rel.ro" || name == ".init_array";
        let writable = file.sections().filter(|s| {
            let writes =
                matches!(s.flags(), object::SectionFlags::Elf { sh_flags, .. } if sh_flags.0 & 1 != 0);
            writes && s.address() != 0 && !s.name().is_ok_and(constant)
        });
        let writable = writable.map(|s| (s.address(), s.address() + s.size())).collect();
        let code = file.sections().filter(|s| s.kind() == object::SectionKind::Text);
        let code = code.filter_map(|s| Some((s.address(), s.data().ok()?.to_vec()))).collect();
        Scan { slots, writable, code }
    }

    fn bytes(&self, address: u64, size: u64) -> Option<&[u8]> {
        let (start, content) = self
            .code
            .iter()
            .find(|(start, content)| (*start..start + content.len() as u64).contains(&address))?;
        let from = (address - start) as usize;
        content.get(from..(from + size as usize).min(content.len()))
    }

    /// Addresses of instructions that access memory without a hook.
    fn addresses(&self, file: &object::File<'_>) -> Vec<u64> {
        self.functions(file).into_iter().flat_map(|(address, size)| self.function(address, size)).collect()
    }

    /// Functions that consist of instructions: where they begin, and their sizes.
    fn functions(&self, file: &object::File<'_>) -> BTreeMap<u64, u64> {
        let functions = file.symbols().filter(|s| s.kind() == SymbolKind::Text && s.size() > 0);
        let functions = functions.map(|s| (s.address(), s.size()));
        functions.filter(|(address, size)| self.is_code(*address, *size)).collect()
    }

    /// Addresses of such instructions in code that no function with a known end covers.
    fn outside(&self, file: &object::File<'_>) -> Vec<u64> {
        let sections = file.sections().filter(|s| s.kind() == object::SectionKind::Text);
        // Stubs and what the linker puts together of parts: jumps and calls through constants.
        let linked = |name: &str| [".plt", ".init", ".fini"].iter().any(|made| name.starts_with(made));
        let sections = sections.filter(|s| !s.name().is_ok_and(linked));
        let mut marks: Vec<(u64, u64, String)> = file
            .symbols()
            .filter(|s| {
                s.kind() == SymbolKind::Text
                    || s.kind() == SymbolKind::Unknown
                    || s.kind() == SymbolKind::Label
            })
            .filter(|s| s.section_index().is_some())
            .map(|s| {
                let size = if self.is_code(s.address(), s.size()) { s.size() } else { 0 };
                (s.address(), size, s.name().unwrap_or_default().to_owned())
            })
            .collect();
        marks.sort();
        let mut found = Vec::new();
        for section in sections {
            let end = section.address() + section.size();
            let inside = |address: u64| (section.address()..end).contains(&address);
            // From here on no function with an end; what begins there, if that has a name.
            let (mut from, mut name) = (section.address(), "");
            for (address, size, next) in marks.iter().filter(|(address, ..)| inside(*address)) {
                if *address > from && name != AT_THE_END {
                    found.extend(self.function(from, address - from));
                }
                if *address >= from {
                    (from, name) = (*address, next.as_str());
                }
                if address + size > from {
                    (from, name) = (address + size, "");
                }
            }
            if end > from && name != AT_THE_END {
                found.extend(self.function(from, end - from));
            }
        }
        found
    }

    /// Addresses of fences.
    fn fences(&self, file: &object::File<'_>) -> Vec<u64> {
        let functions = file.symbols().filter(|s| s.kind() == SymbolKind::Text && s.size() > 0);
        let functions = functions.filter(|s| self.is_code(s.address(), s.size()));
        let instructions = functions.flat_map(|s| self.instructions(s.address(), s.size()));
        instructions.filter(is_fence).map(|instruction| instruction.ip()).collect()
    }

    fn instructions(&self, address: u64, size: u64) -> Vec<Instruction> {
        let bytes = self.bytes(address, size).unwrap_or_default();
        Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).into_iter().collect()
    }

    /// Is there nothing but instructions? Functions written in assembly can have constants in them.
    fn is_code(&self, address: u64, size: u64) -> bool {
        !self.instructions(address, size).iter().any(Instruction::is_invalid)
    }

    fn function(&self, address: u64, size: u64) -> Vec<u64> {
        let instructions = self.instructions(address, size);
        let jumps = instructions.iter().filter(|i| i.is_jmp_short_or_near() || i.is_jcc_short_or_near());
        let targets: BTreeSet<u64> = jumps.map(Instruction::near_branch_target).collect();
        // Bytes that hooks have announced and that were not accessed yet.
        let (mut announced, mut found) = (0usize, Vec::new());
        for (index, instruction) in instructions.iter().enumerate() {
            if targets.contains(&instruction.ip()) {
                announced = 0;
            }
            if instruction.is_call_near() || instruction.is_call_near_indirect() {
                let bytes = self.callee(instruction).and_then(|name| announced_bytes(&name));
                announced = bytes.map_or(0, |bytes| announced.saturating_add(bytes));
                continue;
            }
            let feeds_table = instructions[index + 1..].iter().take(TABLE_DISTANCE).any(|next| {
                next.is_jmp_near_indirect() || next.is_call_near_indirect() && !self.calls_by_slot(next)
            });
            if GIVES_ANYTHING.contains(&instruction.mnemonic()) {
                found.push(instruction.ip());
                continue;
            }
            if !self.is_shared_access(instruction) || feeds_table {
                continue;
            }
            match announced.checked_sub(instruction.memory_size().size()) {
                Some(left) if !instruction.has_lock_prefix() => announced = left,
                _ => found.push(instruction.ip()),
            }
        }
        found
    }

    /// What the runtime has to know of the instruction at `address`.
    fn describe(&self, address: u64, factory: &mut InstructionInfoFactory) -> Option<Hole> {
        let bytes = self.bytes(address, 15)?;
        let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let instruction = decoder.decode();
        let offsets = decoder.get_constant_offsets(&instruction);
        let relative = instruction.is_ip_rel_memory_operand();
        // Addresses of 32 bits, segments and string instructions are not followed.
        let base = instruction.memory_base();
        let plain = base == Register::None || relative || base.is_gpr64();
        let operand = (0..instruction.op_count()).any(|n| instruction.op_kind(n) == OpKind::Memory);
        let size = instruction.memory_size().size();
        let understood = plain && operand && (1..=64).contains(&size) && !instruction.has_rep_prefix();
        Some(Hole {
            address,
            displacement: instruction.memory_displacement64() as i64,
            size: size as u16,
            length: instruction.len() as u8,
            kind: if is_fence(&instruction) {
                hole::FENCE
            } else if understood {
                kind(&instruction, factory)
            } else {
                hole::UNKNOWN
            },
            base: if relative { hole::ABSOLUTE } else { kernel_number(base) },
            index: kernel_number(instruction.memory_index()),
            scale: instruction.memory_index_scale() as u8,
            displacement_at: if relative { offsets.displacement_offset() as u8 } else { 0 },
        })
    }

    fn calls_by_slot(&self, instruction: &Instruction) -> bool {
        instruction.is_ip_rel_memory_operand()
    }

    /// The name of the library function that is called, directly or through a stub.
    fn callee(&self, call: &Instruction) -> Option<String> {
        if call.is_ip_rel_memory_operand() {
            return self.slots.get(&call.ip_rel_memory_address()).cloned();
        }
        let target = call.is_call_near().then(|| call.near_branch_target())?;
        let stub = Decoder::with_ip(64, self.bytes(target, 16)?, target, DecoderOptions::NONE);
        let jump =
            stub.into_iter().take(2).find(|i| i.is_jmp_near_indirect() && i.is_ip_rel_memory_operand())?;
        self.slots.get(&jump.ip_rel_memory_address()).cloned()
    }

    fn is_shared_access(&self, instruction: &Instruction) -> bool {
        let nothing = [Mnemonic::Lea, Mnemonic::Nop, Mnemonic::Endbr64, Mnemonic::INVALID];
        let accesses = (0..instruction.op_count()).any(|operand| {
            matches!(
                instruction.op_kind(operand),
                OpKind::Memory | OpKind::MemoryESRDI | OpKind::MemorySegRSI | OpKind::MemoryESEDI
            )
        });
        if !accesses || nothing.contains(&instruction.mnemonic()) {
            return false;
        }
        if instruction.is_ip_rel_memory_operand() {
            let address = instruction.ip_rel_memory_address();
            return self.writable.iter().any(|(start, end)| (*start..*end).contains(&address));
        }
        !is_on_stack(instruction) && !matches!(instruction.memory_segment(), Register::FS | Register::GS)
    }
}

/// How many bytes this function announces to be accessed, if it is a hook; any number for ranges, and for what reads and
/// writes, where instructions in between may use the value several times.
fn announced_bytes(name: &str) -> Option<usize> {
    let access = ["read", "write", "unaligned", "volatile", "atomic", "vptr", "memcpy", "memset", "memmove"];
    let rest = name.strip_prefix("__tsan_").filter(|rest| access.iter().any(|a| rest.starts_with(a)))?;
    let digits = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
    let announces_one = rest.contains("read") || rest.contains("write");
    match digits.parse() {
        Ok(bytes) if announces_one && !rest.contains("read_write") => Some(bytes),
        // An atomic operation is made by the hook itself.
        _ if rest.starts_with("atomic") => Some(0),
        _ => Some(usize::MAX),
    }
}
