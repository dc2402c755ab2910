//! The program's code: functions, instructions, imported names.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, Register};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use super::scalars::Scalars;

/// Imported functions that do not come back, and go to no place of the function that calls them: `longjmp` may do that.
const NEVER_RETURN: [&str; 12] = [
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "abort",
    "__assert_fail",
    "__assert_perror_fail",
    "__assert",
    "__stack_chk_fail",
    "pthread_exit",
    "thrd_exit",
    "_ZSt9terminatev",
];

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Function {
    /// Address of its first instruction.
    pub start: u64,
    /// Address after its last one.
    pub end: u64,
}

/// A section that is loaded: its address and content, and whether it can be written to.
struct Section {
    address: u64,
    content: Vec<u8>,
    writable: bool,
}

/// A program's code and constant data.
pub struct Image {
    sections: Vec<Section>,
    functions: BTreeMap<u64, Function>,
    /// Names of imported functions, by the address of the slot that will hold theirs.
    imports: HashMap<u64, String>,
    /// Scalar variables of functions, by the address of the function.
    scalars: HashMap<u64, Scalars>,
}

/// Where the function begins that contains this address.
pub fn start(file: &object::File<'_>, address: u64) -> Option<u64> {
    let around = |s: &object::Symbol<'_, '_>| {
        s.kind() == SymbolKind::Text && (s.address()..s.address() + s.size()).contains(&address)
    };
    file.symbols().find(around).map(|s| s.address())
}

impl Image {
    /// Reads the file; `None` if it is not a program of this machine.
    pub fn read(path: &Path) -> Option<Image> {
        let bytes = std::fs::read(path).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        let mut sections = Vec::new();
        for section in file.sections().filter(|s| s.address() != 0) {
            let object::SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            let writable = sh_flags.0 & object::elf::SHF_WRITE.0 != 0;
            let content = section.data().ok()?.to_vec();
            sections.push(Section { address: section.address(), content, writable });
        }
        let named = file.symbols().filter(|s| s.kind() == SymbolKind::Text && s.size() > 0);
        let functions = named
            .map(|s| (s.address(), Function { start: s.address(), end: s.address() + s.size() }))
            .collect();
        let mut imports = HashMap::new();
        if let (Some(relocations), Some(table)) = (file.dynamic_relocations(), file.dynamic_symbol_table()) {
            use object::ObjectSymbolTable;
            for (slot, relocation) in relocations {
                if let object::RelocationTarget::Symbol(index) = relocation.target()
                    && let Ok(symbol) = table.symbol_by_index(index)
                    && let Ok(name) = symbol.name()
                {
                    imports.insert(slot, name.to_owned());
                }
            }
        }
        let scalars = super::scalars::scalars(&file);
        Some(Image { sections, functions, imports, scalars })
    }

    /// The scalar variables of a function.
    pub fn scalars(&self, function: Function) -> &[(i64, u32)] {
        self.scalars.get(&function.start).map_or(&[], Vec::as_slice)
    }

    /// The function that contains this address.
    pub fn function(&self, address: u64) -> Option<Function> {
        let (_, function) = self.functions.range(..=address).next_back()?;
        (address < function.end).then_some(*function)
    }

    fn bytes(&self, address: u64) -> Option<(&[u8], bool)> {
        let section = self
            .sections
            .iter()
            .find(|s| (s.address..s.address + s.content.len() as u64).contains(&address))?;
        Some((&section.content[(address - section.address) as usize..], section.writable))
    }

    /// Constant data.
    pub fn constant(&self, address: u64, size: usize) -> Option<&[u8]> {
        self.bytes(address).filter(|(_, writable)| !writable)?.0.get(..size)
    }

    /// The instruction at this address.
    pub fn decode(&self, address: u64) -> Option<Instruction> {
        let (bytes, _) = self.bytes(address)?;
        let bytes = &bytes[..bytes.len().min(16)];
        let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
        (!instruction.is_invalid()).then_some(instruction)
    }

    /// The imported function that a call of this address ends up in.
    pub fn import(&self, target: u64) -> Option<&str> {
        let mut address = target;
        for _ in 0..3 {
            let instruction = self.decode(address)?;
            if instruction.flow_control() == FlowControl::IndirectBranch {
                let slot =
                    instruction.is_ip_rel_memory_operand().then(|| instruction.ip_rel_memory_address())?;
                return self.imports.get(&slot).map(String::as_str);
            }
            address = instruction.next_ip();
        }
        None
    }

    /// The imported function that an instruction calls.
    pub fn called(&self, call: &Instruction) -> Option<&str> {
        if call.flow_control() == FlowControl::IndirectCall {
            let slot = call.is_ip_rel_memory_operand().then(|| call.ip_rel_memory_address())?;
            return self.imports.get(&slot).map(String::as_str);
        }
        self.import(call.near_branch_target())
    }

    /// Where a function saves a register of its caller, as an offset from the frame pointer: its prologue pushes some right
    /// after it has set up the frame pointer.
    pub fn saved(&self, function: Function, register: Register) -> Option<i64> {
        let mut address = function.start;
        let (mut framed, mut offset) = (false, 0);
        for _ in 0..12 {
            let instruction = self.decode(address)?;
            address = instruction.next_ip();
            match instruction.mnemonic() {
                Mnemonic::Mov if instruction.op0_register() == Register::RBP => framed = true,
                Mnemonic::Push if framed => {
                    offset -= 8;
                    if instruction.op0_register() == register {
                        return Some(offset);
                    }
                }
                _ if framed => return None,
                _ => {}
            }
        }
        None
    }

    /// Where control can go from here, within the function.
    ///
    /// # Errors
    /// If that is not known.
    pub fn successors(&self, instruction: &Instruction) -> Result<Vec<u64>, String> {
        if self.ends(instruction) { Ok(Vec::new()) } else { successors(instruction) }
    }

    /// Is it the last instruction of its function, and the call of a function that does not return? Where the compiler did not know that, there
    /// are instructions after it, and nothing is gained: control is then taken to reach these.
    fn ends(&self, instruction: &Instruction) -> bool {
        let is_call = matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
        is_call
            && self.function(instruction.ip()).is_some_and(|f| f.end == instruction.next_ip())
            && self.called(instruction).is_some_and(|name| NEVER_RETURN.contains(&name))
    }

    /// The instructions of a function that can be reached from its start, with their successors within it.
    ///
    /// # Errors
    /// What was not understood: also code that no jump leads to, which is where exceptions are caught (what it reads would be missed), and calls of `setjmp`,
    /// to which control comes back.
    pub fn instructions(&self, function: Function) -> Result<BTreeMap<u64, (Instruction, Vec<u64>)>, String> {
        let mut found = BTreeMap::new();
        let mut left = vec![function.start];
        while let Some(address) = left.pop() {
            if found.contains_key(&address) {
                continue;
            }
            if !(function.start..function.end).contains(&address) {
                return Err(format!("control leaves the function at {address:#x}"));
            }
            let instruction =
                self.decode(address).ok_or_else(|| format!("no instruction at {address:#x}"))?;
            let next = self.successors(&instruction)?;
            left.extend(&next);
            found.insert(address, (instruction, next));
        }
        let mut address = function.start;
        while address < function.end {
            let instruction =
                self.decode(address).ok_or_else(|| format!("no instruction at {address:#x}"))?;
            if !found.contains_key(&address) && instruction.mnemonic() != Mnemonic::Nop {
                return Err(format!("no known way to {address:#x}"));
            }
            let is_call = matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
            if is_call && self.called(&instruction).is_some_and(|name| name.contains("setjmp")) {
                return Err(format!("setjmp at {address:#x}"));
            }
            address = instruction.next_ip();
        }
        Ok(found)
    }
}

/// Where control can go from here, if calls return.
fn successors(instruction: &Instruction) -> Result<Vec<u64>, String> {
    let next = instruction.next_ip();
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => Ok(vec![next]),
        FlowControl::ConditionalBranch => Ok(vec![next, instruction.near_branch_target()]),
        FlowControl::UnconditionalBranch => Ok(vec![instruction.near_branch_target()]),
        FlowControl::Return => Ok(Vec::new()),
        // `ud2` after what does not return, `hlt`.
        FlowControl::Exception if instruction.mnemonic() == Mnemonic::Ud2 => Ok(Vec::new()),
        _ => Err(format!("an indirect jump or an interrupt at {:#x}", instruction.ip())),
    }
}
