//! Addresses of a program as names, files and lines.

use std::path::Path;

use addr2line::Loader;

use crate::variables::{Variable, variables};

/// The debugging information of a program that was loaded at some address.
pub struct Symbols {
    loader: Option<Loader>,
    base: u64,
    /// Symbols of variables: address, size, name; sorted.
    symbols: Vec<(u64, u64, String)>,
    /// Variables with their types, as far as there is debugging information.
    variables: Vec<Variable>,
    /// Size of the program in memory: what lies beyond belongs to libraries.
    size: u64,
}

/// Where some code is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Location {
    /// The function.
    pub function: String,
    /// The file's name, without its directory.
    pub file: String,
    /// The line.
    pub line: u32,
    /// Is it code of a library's header, such as that of `std::mutex`, and not the user's own?
    pub of_library: bool,
}

/// Where headers are installed.
const LIBRARIES: [&str; 3] = ["/usr/include/", "/usr/lib/", "/usr/local/include/"];

/// Symbols of variables (address, size, name), variables with types, and size of a program.
type Image = (Vec<(u64, u64, String)>, Vec<Variable>, u64);

fn read_image(bytes: &[u8]) -> Option<Image> {
    use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
    let file = object::File::parse(bytes).ok()?;
    let end = file.segments().map(|s| s.address() + s.size()).max()?;
    let data = file.symbols().filter(|s| s.kind() == SymbolKind::Data && s.size() > 0);
    let mut symbols: Vec<(u64, u64, String)> =
        data.filter_map(|s| Some((s.address(), s.size(), s.name().ok()?.to_owned()))).collect();
    symbols.extend(imports(&file));
    Some((symbols, variables(&file), end))
}

/// The slots that hold addresses of imported functions, by the names of these.
fn imports(file: &object::File<'_>) -> Vec<(u64, u64, String)> {
    use object::{Object, ObjectSymbol, ObjectSymbolTable, RelocationTarget};
    let Some(table) = file.dynamic_symbol_table() else { return Vec::new() };
    let name = |target: RelocationTarget| match target {
        RelocationTarget::Symbol(index) => Some(table.symbol_by_index(index).ok()?.name().ok()?.to_owned()),
        _ => None,
    };
    let relocations = file.dynamic_relocations().into_iter().flatten();
    relocations.filter_map(|(slot, relocation)| Some((slot, 8, name(relocation.target())?))).collect()
}

impl Symbols {
    /// Of the program at `path`, loaded at `base`. Without debugging information there are no names.
    pub fn new(path: &Path, base: u64) -> Symbols {
        let bytes = std::fs::read(path).unwrap_or_default();
        let (mut symbols, variables, size) = read_image(&bytes).unwrap_or_default();
        symbols.sort();
        Symbols { loader: Loader::new(path).ok(), base, symbols, variables, size }
    }

    /// Where the call that returns to `address` is; `None` outside of the program.
    pub fn code(&self, address: u64) -> Option<Location> {
        // A return address is after the call.
        let probe = address.checked_sub(self.base)?.checked_sub(1).filter(|probe| *probe < self.size)?;
        let loader = self.loader.as_ref()?;
        let place = loader.find_location(probe).ok().flatten();
        let mut function = String::new();
        if let Ok(mut frames) = loader.find_frames(probe)
            && let Ok(Some(frame)) = frames.next()
            && let Some(name) = frame.function
        {
            function = name.demangle().map_or_else(|_| String::new(), |n| n.into_owned());
        }
        if function.is_empty() {
            function = loader.find_symbol(probe)?.to_owned();
        }
        let file = place.as_ref().and_then(|p| p.file).unwrap_or("");
        let of_library = LIBRARIES.iter().any(|directory| file.starts_with(directory));
        let file = file.rsplit('/').next().unwrap_or(file).to_owned();
        Some(Location { function, file, line: place.and_then(|p| p.line).unwrap_or(0), of_library })
    }

    /// The name of the function that starts at `address`; `None` outside of the program.
    pub fn function(&self, address: u64) -> Option<String> {
        let probe = address.checked_sub(self.base).filter(|probe| *probe < self.size)?;
        self.loader.as_ref()?.find_symbol(probe).map(str::to_owned)
    }

    /// Where another program has what this one has at `address`: the same byte of the variable of that name. Heaps and stacks lie at the same addresses in every program.
    pub fn address_in(&self, other: &Symbols, address: u64) -> Option<u64> {
        if (0x5000_0000_0000..0x5400_0000_0000).contains(&address)
            || (0x5800_0000_0000..0x5900_0000_0000).contains(&address)
        {
            return Some(address);
        }
        let probe = address.checked_sub(self.base)?;
        let index = self.symbols.partition_point(|symbol| symbol.0 <= probe).checked_sub(1)?;
        let (start, size, name) = &self.symbols[index];
        let mut same = other.symbols.iter().filter(|symbol| symbol.2 == *name && symbol.1 == *size);
        let found = same.next().filter(|_| probe - start < *size && same.next().is_none())?;
        Some(other.base + found.0 + (probe - start))
    }

    /// What the program calls the memory at `address`.
    pub fn data(&self, address: u64) -> String {
        let known = address.checked_sub(self.base).and_then(|probe| {
            let index = self.variables.partition_point(|v| v.start <= probe).checked_sub(1);
            if let Some(variable) = index.map(|index| &self.variables[index])
                && probe - variable.start < variable.size
            {
                return Some(variable.place(probe - variable.start));
            }
            let index = self.symbols.partition_point(|v| v.0 <= probe).checked_sub(1)?;
            let (start, size, name) = &self.symbols[index];
            let offset = probe - start;
            (offset < *size).then(|| if offset == 0 { name.clone() } else { format!("{name}+{offset}") })
        });
        known.unwrap_or_else(|| match address {
            0x5000_0000_0000..0x5400_0000_0000 => {
                let (thread, offset) = ((address - 0x5000_0000_0000) >> 32, address & 0xffff_ffff);
                format!("heap:{thread}+{offset:#x}")
            }
            0x5800_0000_0000..0x5900_0000_0000 => {
                let (thread, offset) =
                    ((address - 0x5800_0000_0000) >> 23, 0x80_0000 - (address & 0x7f_ffff));
                format!("stack:{thread}-{offset:#x}")
            }
            _ => format!("{address:#x}"),
        })
    }
}
