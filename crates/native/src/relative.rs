//! What an answer is relative to: everything that the exploration takes as it is.
//!
//! Other orders of threads are explored; other inputs, clocks, environments and memory models are not. What of these a program
//! has used is said with the answer. A standard input that the program reads but the user did not give leaves no answer at
//! all: an empty one is hardly what was meant, and can be asked for (`--stdin /dev/null`). So does a connection to somebody outside of
//! the program, which the sandbox does not let it make, and a server to which no thread of the program ever connects.

use std::collections::BTreeSet;

use addr2line::gimli::{self, EndianSlice, LittleEndian};
use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use object::{Object, ObjectSection, ObjectSymbol};
use quotient_stateless::graph::MemoryModel;

use crate::build::Binary;
use crate::check::Request;
use crate::protocol::{MORE, Outside, Shared, Taken, met};
use crate::symbols::Symbols;

/// The sentences, each of which can follow the word "under".
pub(crate) fn assumptions(binary: &Binary, shared: &Shared, request: &Request) -> Vec<String> {
    let is_met = |bit: u32| shared.met & bit != 0;
    let mut out = Vec::new();
    let racing = request.allow_races && shared.cells_length > 0;
    match crate::check::explored_model(shared) {
        MemoryModel::Rc11 => out.push("the memory model RC11 (no load buffering)".to_owned()),
        MemoryModel::Tso => out.push("the memory model TSO".to_owned()),
        MemoryModel::SequentialConsistency => {}
    }
    let sequential = crate::check::explored_model(shared) == MemoryModel::SequentialConsistency;
    if sequential && (is_met(met::WEAK_ORDER) || racing) {
        let what = match is_met(met::WEAK_ORDER) {
            true => "atomic operations have weaker memory orders",
            false => "memory is accessed in data races",
        };
        let why = String::from_utf8_lossy(&shared.memory_why[..shared.memory_why_length as usize]);
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        out.push(format!("sequential consistency: {what}, and what only they allow is not explored{why}"));
    }
    if is_met(met::STEADY_WAIT) {
        out.push("waits on condition variables that end by signals only (others: --spurious)".to_owned());
    }
    if is_met(met::STEADY_EXCHANGE) {
        out.push("weak compare-and-swap operations that fail only where the values differ".to_owned());
    }
    if is_met(met::GIVEN_VALUE) {
        let values: Vec<String> = request.values.iter().map(i64::to_string).collect();
        out.push(format!("the values of --nondet: {}", values.join(", ")));
    }
    if is_met(met::FAILURE) && !is_met(met::SUCCESS) {
        out.push("a non-zero exit status: every execution ended with one".to_owned());
    }
    if !request.peer.is_empty() {
        out.push("peers that answer as --peer says, at once".to_owned());
    }
    out.extend(outside(binary, shared, request));
    out.extend(entry(binary, shared, request));
    if !binary.uninitialised().is_empty() {
        out.push(format!(
            "what these variables hold without ever getting a value: {}",
            binary.uninitialised().join(", ")
        ));
    }
    out
}

/// What the runtime has seen the program take.
fn outside(binary: &Binary, shared: &Shared, request: &Request) -> Vec<String> {
    // Who reads a given input is not looked for.
    let given = request.surroundings.input.as_ref();
    let mut out: Vec<String> =
        given.iter().map(|file| format!("the standard input {}", file.display())).collect();
    for kind in Outside::ALL {
        let taken = &shared.outside[*kind as usize];
        if taken.met == 0 {
            continue;
        }
        let names = names(taken);
        out.push(match kind {
            Outside::Input if given.is_some() => continue,
            Outside::Input => "an empty standard input, since none was given (--stdin)".to_owned(),
            Outside::Environment => format!("the environment variables of this check: {names}"),
            Outside::Clock => format!("a clock that goes the same way in every execution: {names}"),
            Outside::Random => format!("one sequence of random numbers: {names}"),
            Outside::Machine => format!("what these functions give on this machine: {names}"),
            Outside::Files => format!("files of this machine as they are: {names}"),
            Outside::Missing => format!("the absence of files that were not given (--file): {names}"),
            Outside::Peers if strangers(shared).is_empty() => continue,
            Outside::Peers => format!("nobody else listening: {}", strangers(shared).join(", ")),
            Outside::Listens | Outside::Connects => continue,
            Outside::Offers => format!("connections from the program's own threads only: {names}"),
            Outside::Unwritten => format!(
                "what memory holds before anybody has written to it (first read{})",
                place(binary, shared, taken)
            ),
            Outside::Descriptors => {
                "numbers of descriptors from a range of each thread's own, where the system gives the lowest free one"
                    .to_owned()
            }
        });
    }
    out
}

fn names(taken: &Taken) -> String {
    let length = (taken.names_length as usize).min(taken.names.len());
    let text = String::from_utf8_lossy(&taken.names[..length]);
    text.lines().collect::<Vec<_>>().join(", ")
}

/// Sockets to which the program connected in vain, and which it bound in no execution.
fn strangers(shared: &Shared) -> Vec<String> {
    only_first(shared, Outside::Peers, Outside::Listens)
}

/// Names that were taken in the first way, and not in the second. What had no room in the list counts as such.
fn only_first(shared: &Shared, first: Outside, second: Outside) -> Vec<String> {
    let [first, second] = [first, second].map(|kind| names(&shared.outside[kind as usize]));
    let second: BTreeSet<&str> = second.split(", ").collect();
    first.split(", ").filter(|name| *name == MORE || !second.contains(name)).map(str::to_owned).collect()
}

/// The program is a server without clients: a sentence that says where.
pub(crate) fn nobody_connects(binary: &Binary, shared: &Shared) -> Option<String> {
    let taken = &shared.outside[Outside::Offers as usize];
    let alone = only_first(shared, Outside::Offers, Outside::Connects);
    (taken.met != 0 && !alone.is_empty()).then(|| {
        let (place, alone) = (place(binary, shared, taken), alone.join(", "));
        format!("lets others connect{place} to {alone}, and no thread of the program does; what others would send is not explored")
    })
}

/// The program would connect to somebody else: a sentence that says where.
pub(crate) fn connects_to_others(binary: &Binary, shared: &Shared) -> Option<String> {
    let taken = &shared.outside[Outside::Peers as usize];
    let strangers = strangers(shared);
    (taken.met != 0 && !strangers.is_empty()).then(|| {
        let (place, strangers) = (place(binary, shared, taken), strangers.join(", "));
        format!("connects{place} to {strangers}, where nobody in the program listens; connections to others are not allowed")
    })
}

/// What `main` is given.
fn entry(binary: &Binary, shared: &Shared, request: &Request) -> Vec<String> {
    let entry = Entry::of(binary);
    let mut out = Vec::new();
    if entry.starts_threads && shared.threads <= 1 {
        out.push(
            "a way through the program on which it starts no thread, the same in every execution".to_owned(),
        );
    }
    if entry.parameters > 0 {
        let given = &request.surroundings.arguments;
        let given: Vec<_> = given.iter().map(|argument| argument.to_string_lossy()).collect();
        out.push(match given.is_empty() {
            true => "no arguments, since none were given (--arg)".to_owned(),
            false => format!("the arguments {}", given.join(" ")),
        });
    }
    let is_told = shared.outside[Outside::Environment as usize].met != 0;
    if (entry.parameters > 2 || entry.reads_environment) && !is_told {
        out.push("the environment variables of this check".to_owned());
    }
    if !entry.instructions.is_empty() {
        let names: Vec<&str> = entry.instructions.into_iter().collect();
        out.push(format!("what these instructions give on this machine: {}", names.join(", ")));
    }
    out
}

/// Standard input was read and not given: a sentence that says where.
pub(crate) fn input_not_given(binary: &Binary, shared: &Shared, request: &Request) -> Option<String> {
    let taken = &shared.outside[Outside::Input as usize];
    if taken.met == 0 || request.surroundings.input.is_some() {
        return None;
    }
    let place = place(binary, shared, taken);
    Some(format!(
        "reads standard input{place}, which was not given: use --stdin FILE, or --stdin /dev/null for an empty one"
    ))
}

/// Where it was taken first.
fn place(binary: &Binary, shared: &Shared, taken: &Taken) -> String {
    let symbols = Symbols::new(binary.path(), shared.program_base);
    let mut stack = taken.stack.iter().take_while(|a| **a != 0);
    let found = stack.find_map(|address| symbols.code(*address).filter(|l| !l.of_library && l.line > 0));
    found.map_or_else(String::new, |l| format!(" at {}:{}", l.file, l.line))
}

/// What the program's file says of it.
#[derive(Default)]
struct Entry {
    /// Parameters of `main`.
    parameters: usize,
    /// Does it refer to a function that starts threads?
    starts_threads: bool,
    /// Does it refer to the variable `environ`?
    reads_environment: bool,
    /// Instructions whose results come from the processor: its clock, its random numbers, what it is.
    instructions: BTreeSet<&'static str>,
}

impl Entry {
    fn of(binary: &Binary) -> Entry {
        let bytes = std::fs::read(binary.path()).unwrap_or_default();
        let Ok(file) = object::File::parse(&*bytes) else { return Entry::default() };
        let is_environment = |s: object::Symbol<'_, '_>| {
            s.name().is_ok_and(|name| ["environ", "__environ", "_environ"].contains(&name))
        };
        let reads_environment = file.dynamic_symbols().any(is_environment);
        let is_start = |name: &str| {
            ["pthread_create", "thrd_create"].contains(&name)
                || name.starts_with("_ZNSt6thread15_M_start_thread")
        };
        let starts_threads = file.dynamic_symbols().any(|s| s.is_undefined() && s.name().is_ok_and(is_start));
        // Without debugging information it may have them.
        let parameters = parameters_of_main(&file).unwrap_or(1);
        Entry { parameters, starts_threads, reads_environment, instructions: asking_instructions(&file) }
    }
}

fn asking_instructions(file: &object::File<'_>) -> BTreeSet<&'static str> {
    const ASKING: [(Mnemonic, &str); 7] = [
        (Mnemonic::Rdtsc, "rdtsc"),
        (Mnemonic::Rdtscp, "rdtscp"),
        (Mnemonic::Rdrand, "rdrand"),
        (Mnemonic::Rdseed, "rdseed"),
        (Mnemonic::Cpuid, "cpuid"),
        (Mnemonic::Rdpid, "rdpid"),
        (Mnemonic::Rdpmc, "rdpmc"),
    ];
    let mut found = BTreeSet::new();
    let sections: Vec<_> = file.sections().filter(|s| s.kind() == object::SectionKind::Text).collect();
    for function in file.symbols().filter(|s| s.kind() == object::SymbolKind::Text && s.size() > 0) {
        let code = sections.iter().find_map(|s| s.data_range(function.address(), function.size()).ok()?);
        let code = code.unwrap_or_default();
        let instructions = Decoder::with_ip(64, code, function.address(), DecoderOptions::NONE);
        let name = |mnemonic| ASKING.iter().find(|(asking, _)| *asking == mnemonic).map(|(_, name)| *name);
        found.extend(instructions.into_iter().filter_map(|i| name(i.mnemonic())));
    }
    found
}

fn parameters_of_main(file: &object::File<'_>) -> Option<usize> {
    let section = |id: gimli::SectionId| -> Result<EndianSlice<'_, LittleEndian>, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|s| s.data().ok()).unwrap_or_default();
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let dwarf = gimli::Dwarf::load(section).ok()?;
    let mut units = dwarf.units();
    while let Some(header) = units.next().ok()? {
        let unit = dwarf.unit(header).ok()?;
        let mut entries = unit.entries();
        let mut inside = None;
        while let Some(entry) = entries.next_dfs().ok()? {
            let depth = entry.depth();
            match &mut inside {
                Some((start, parameters)) if depth > *start => {
                    *parameters +=
                        usize::from(depth == *start + 1 && entry.tag() == gimli::DW_TAG_formal_parameter);
                }
                Some((_, parameters)) => return Some(*parameters),
                None if entry.tag() == gimli::DW_TAG_subprogram => {
                    let name = entry.attr_value(gimli::DW_AT_name);
                    let name = name.and_then(|name| dwarf.attr_string(&unit, name).ok());
                    let is_main = name.is_some_and(|name| name.slice() == b"main");
                    let is_defined = entry.attr_value(gimli::DW_AT_low_pc).is_some();
                    if is_main && is_defined {
                        inside = Some((depth, 0));
                    }
                }
                None => {}
            }
        }
        if let Some((_, parameters)) = inside {
            return Some(parameters);
        }
    }
    None
}
