//! What the loaded objects import, and from where: read from their dynamic sections, as the dynamic linker has filled them in.
//!
//! Two things are done with it before the program's `main`:
//!
//! - Calls of the program to other libraries go through stubs of [`crate::library::stub`] where the table of [`crate::library`] says
//!   that they have effects, or where it says nothing. "The program" is every object that was compiled with hooks. Calls
//!   between libraries stay as they are.
//! - A function of the program that has the name of one of the C library (`read`) takes its place for everybody, so for this
//!   runtime too. Here such names are bound to the C library again: the runtime never calls the program by accident.
//!
//! Slots hold addresses of functions: those of the linker's tables (`JUMP_SLOT`), and those of functions whose address is
//! taken (`GLOB_DAT`, or a word of data). A pointer to a function of a library is therefore a pointer to its stub.

use std::ffi::{CStr, c_char};
use std::ops::Range;

use crate::memory::snapshot::{Header, Loaded, dl_iterate_phdr};
use crate::system::system_call::{READ_WRITE, number, system_call};

#[repr(C)]
struct Relocation {
    offset: u64,
    kind: u32,
    symbol: u32,
    addend: i64,
}

#[repr(C)]
struct Symbol {
    name: u32,
    information: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

unsafe extern "C" {
    fn dlsym(handle: usize, name: *const c_char) -> usize;
}

/// A slot that holds the address of an imported function.
pub struct Import {
    /// Its name.
    pub name: &'static CStr,
    /// Where the address is kept.
    pub slot: usize,
    /// Does the object itself define such a function, too?
    pub is_defined: bool,
    /// Was that made read-only after it was filled in?
    read_only: bool,
}

impl Import {
    /// The address it holds.
    pub fn target(&self) -> usize {
        // SAFETY: a slot of a loaded object.
        unsafe { *(self.slot as *const usize) }
    }

    /// Makes it hold another address.
    pub fn redirect(&self, target: usize) {
        const PAGE: usize = 4096;
        let page = self.slot & !(PAGE - 1);
        let length = if self.slot + 8 > page + PAGE { 2 * PAGE } else { PAGE };
        let protect = |protection| {
            // SAFETY: pages of the tables of a loaded object.
            unsafe { system_call(number::MPROTECT, [page, length, protection, 0, 0, 0]) }
        };
        if self.read_only && protect(READ_WRITE) < 0 {
            return;
        }
        // SAFETY: a slot that can be written.
        unsafe { *(self.slot as *mut usize) = target };
        if self.read_only {
            protect(1);
        }
    }
}

/// A loaded object.
pub struct Object {
    /// All of its memory.
    pub memory: Vec<Range<usize>>,
    /// Functions that it imports.
    pub imports: Vec<Import>,
    /// Functions to be called at the end, in this order.
    pub at_end: Vec<usize>,
    /// Its file's name.
    pub name: &'static CStr,
}

impl Object {
    /// Was it compiled with hooks?
    pub fn has_hooks(&self) -> bool {
        self.imports.iter().any(|import| import.name.to_bytes().starts_with(b"__tsan_"))
    }

    /// Does this address belong to it?
    pub fn contains(&self, address: usize) -> bool {
        self.memory.iter().any(|range| range.contains(&address))
    }
}

/// All loaded objects, the program first.
pub fn objects() -> Vec<Object> {
    let mut found: Vec<Object> = Vec::new();
    // SAFETY: the callback has the right type.
    unsafe { dl_iterate_phdr(read, (&raw mut found).cast()) };
    found
}

extern "C" fn read(loaded: &Loaded, _size: usize, found: *mut u8) -> i32 {
    const LOAD: u32 = 1;
    const DYNAMIC: u32 = 2;
    const RELRO: u32 = 0x6474_e552;
    // SAFETY: what `objects` passes; headers as the dynamic linker says.
    let (found, headers) = unsafe {
        (&mut *found.cast::<Vec<Object>>(), std::slice::from_raw_parts(loaded.headers, loaded.count as usize))
    };
    let range = |h: &Header| {
        let start = loaded.base + h.address as usize;
        start..start + h.memory_size as usize
    };
    let of = |kind: u32| headers.iter().filter(move |h| h.kind == kind);
    let mut object = Object {
        memory: of(LOAD).map(range).collect(),
        imports: Vec::new(),
        at_end: Vec::new(),
        // SAFETY: a terminated name that lives as long as the object.
        name: if loaded.name.is_null() { c"" } else { unsafe { CStr::from_ptr(loaded.name) } },
    };
    if let Some(dynamic) = of(DYNAMIC).next() {
        let read_only: Vec<Range<usize>> = of(RELRO).map(range).collect();
        read_dynamic(&mut object, range(dynamic), loaded.base, &read_only);
    }
    found.push(object);
    0
}

/// The tables that the dynamic section refers to.
#[derive(Default)]
struct Tables {
    strings: usize,
    symbols: usize,
    /// Address and size.
    relocations: (usize, usize),
    jumps: (usize, usize),
    at_end: (usize, usize),
}

fn read_dynamic(object: &mut Object, section: Range<usize>, base: usize, read_only: &[Range<usize>]) {
    let mut tables = Tables::default();
    // Most addresses were made absolute by the dynamic linker.
    let absolute = |value: usize| if value < base { base + value } else { value };
    for entry in section.step_by(16) {
        // SAFETY: a pair of words of the dynamic section.
        let (tag, value) = unsafe { (*(entry as *const usize), *((entry + 8) as *const usize)) };
        match tag {
            0 => break,
            5 => tables.strings = absolute(value),
            6 => tables.symbols = absolute(value),
            7 => tables.relocations.0 = absolute(value),
            8 => tables.relocations.1 = value,
            23 => tables.jumps.0 = absolute(value),
            2 => tables.jumps.1 = value,
            26 => tables.at_end.0 = absolute(value),
            28 => tables.at_end.1 = value,
            _ => {}
        }
    }
    if tables.strings == 0 || tables.symbols == 0 || !object.contains(tables.symbols) {
        return;
    }
    for (start, size) in [tables.relocations, tables.jumps] {
        for at in (start..start + size).step_by(size_of::<Relocation>()) {
            // SAFETY: a relocation of this object.
            let relocation = unsafe { &*(at as *const Relocation) };
            object.imports.extend(import(relocation, &tables, base, read_only));
        }
    }
    // SAFETY: an array of addresses of functions, relocated; the last one is called first.
    let last = (0..tables.at_end.1 / 8).map(|i| unsafe { *((tables.at_end.0 + i * 8) as *const usize) });
    object.at_end = last.rev().filter(|f| *f != 0 && *f != usize::MAX).collect();
}

fn import(
    relocation: &Relocation,
    tables: &Tables,
    base: usize,
    read_only: &[Range<usize>],
) -> Option<Import> {
    const WORD: u32 = 1;
    const GLOBAL_DATA: u32 = 6;
    const JUMP_SLOT: u32 = 7;
    const FUNCTION: u8 = 2;
    // SAFETY: a symbol of this object, and its name.
    let (symbol, name) = unsafe {
        let symbol = &*(tables.symbols as *const Symbol).add(relocation.symbol as usize);
        (symbol, CStr::from_ptr((tables.strings + symbol.name as usize) as *const c_char))
    };
    let is_function = symbol.information & 15 == FUNCTION;
    let wanted = match relocation.kind {
        JUMP_SLOT => true,
        GLOBAL_DATA | WORD => is_function && relocation.addend == 0,
        _ => false,
    };
    let slot = base + relocation.offset as usize;
    (relocation.symbol != 0 && wanted).then(|| Import {
        name,
        slot,
        is_defined: symbol.section != 0,
        read_only: read_only.iter().any(|r| r.contains(&slot)),
    })
}

/// Binds what this library imports to the libraries after it where the program has taken the place of their functions.
pub fn bind_own() {
    let all = objects();
    let here = bind_own as *const () as usize;
    let (Some(program), Some(own)) = (all.first(), all.iter().find(|o| o.contains(here))) else { return };
    for import in own.imports.iter().filter(|import| program.contains(import.target())) {
        // SAFETY: RTLD_NEXT and a terminated name.
        let next = unsafe { dlsym(usize::MAX, import.name.as_ptr()) };
        if next != 0 {
            import.redirect(next);
        }
    }
}
