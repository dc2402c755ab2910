//! Holes in the compiler's instrumentation: accesses to memory that no hook announces.
//!
//! A static scan of the program's own code, function by function. Every instruction with a memory operand outside of the
//! stack must have a hook (`__tsan_read4`, `__tsan_atomic32_load`, …) before it, with no other call and no target of a jump in
//! between; what the compiler is known to leave out lacks one: inline assembly, structures passed or returned by value,
//! functions that are not to be instrumented, files compiled without it.
//!
//! What it does not look at: operands relative to the stack or frame pointer, thread-local variables, constants (memory that
//! cannot be written, and loads that only feed an indirect jump or call: tables of jumps and virtual functions), code
//! without line numbers (start-up code). A hole behind the hook of another access can be missed: this is a warning, not a
//! proof that there are none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SymbolKind};

use crate::symbols::{Location, Symbols};

/// How many instructions after a load an indirect jump or call may use it.
const TABLE_DISTANCE: usize = 4;

/// Accesses without a hook, one per line of source, in the order of addresses.
pub fn holes(program: &Path) -> Vec<Location> {
    let bytes = std::fs::read(program).unwrap_or_default();
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    let symbols = Symbols::new(program, 0);
    let scan = Scan::new(&file);
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for address in scan.addresses(&file) {
        // As for a return address: the instruction ends behind it.
        if let Some(place) = symbols.code(address + 1)
            && place.line > 0
            && seen.insert((place.file.clone(), place.line))
        {
            found.push(place);
        }
    }
    found
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
        let functions = file.symbols().filter(|s| s.kind() == SymbolKind::Text && s.size() > 0);
        let functions: BTreeMap<u64, u64> = functions.map(|s| (s.address(), s.size())).collect();
        functions.iter().flat_map(|(&address, &size)| self.function(address, size)).collect()
    }

    fn function(&self, address: u64, size: u64) -> Vec<u64> {
        let Some(bytes) = self.bytes(address, size) else { return Vec::new() };
        let instructions: Vec<Instruction> =
            Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).into_iter().collect();
        let jumps = instructions.iter().filter(|i| i.is_jmp_short_or_near() || i.is_jcc_short_or_near());
        let targets: BTreeSet<u64> = jumps.map(Instruction::near_branch_target).collect();
        let (mut hooked, mut found) = (false, Vec::new());
        for (index, instruction) in instructions.iter().enumerate() {
            hooked &= !targets.contains(&instruction.ip());
            if instruction.is_call_near() || instruction.is_call_near_indirect() {
                hooked = self.callee(instruction).is_some_and(|name| is_hook(&name));
                continue;
            }
            let feeds_table = instructions[index + 1..].iter().take(TABLE_DISTANCE).any(|next| {
                next.is_jmp_near_indirect() || next.is_call_near_indirect() && !self.calls_by_slot(next)
            });
            if !hooked && self.is_shared_access(instruction) && !feeds_table {
                found.push(instruction.ip());
            }
        }
        found
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
        let on_stack = matches!(instruction.memory_base(), Register::RSP | Register::RBP | Register::ESP);
        !on_stack && !matches!(instruction.memory_segment(), Register::FS | Register::GS)
    }
}

/// Does this function announce an access?
fn is_hook(name: &str) -> bool {
    let access = ["read", "write", "unaligned", "volatile", "atomic", "vptr", "memcpy", "memset", "memmove"];
    name.strip_prefix("__tsan_").is_some_and(|rest| access.iter().any(|a| rest.starts_with(a)))
}
