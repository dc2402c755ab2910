//! Little programs of calls that touch files, descriptors, a stream, the environment and random numbers: as C programs, and as
//! an operating system of a few lines that executes them in all orders. It shares nothing with the checker: not its table of
//! functions, not its idea of which calls depend on each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Names of files. The last one is in a directory.
const PATHS: [&str; 3] = ["f", "g", "d/f"];
/// What a call gives when it fails.
const FAILED: u64 = 15;

/// One call. Numbers of paths and descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    Exists(usize),
    Create(usize),
    Unlink(usize),
    Size(usize),
    Truncate(usize, u64),
    Rename(usize, usize),
    Link(usize, usize),
    EnterDirectory,
    InDirectory,
    Read(usize),
    Write(usize),
    Seek(usize, u64),
    Tell(usize),
    OpenSize(usize),
    OpenTruncate(usize, u64),
    SetVariable(u64),
    UnsetVariable,
    GetVariable,
    Random,
    Put,
    Position,
    Rewind,
    Print,
}

/// A program: the calls of each thread, and whether the second descriptor is a duplicate of the first.
#[derive(Clone, Debug)]
pub struct Program {
    pub threads: Vec<Vec<Call>>,
    pub duplicate: bool,
}

/// A generator of numbers (xorshift).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

impl Call {
    /// How many kinds there are.
    pub const KINDS: u64 = 23;

    fn of_kind(kind: u64, n: &mut Numbers) -> Call {
        let (path, other) = (n.below(3) as usize, n.below(3) as usize);
        let (descriptor, length) = (n.below(3) as usize, n.below(4));
        match kind {
            0 => Call::Exists(path),
            1 => Call::Create(path),
            2 => Call::Unlink(path),
            3 => Call::Size(path),
            4 => Call::Truncate(path, length),
            // Within a directory: the program's confinement allows no more.
            5 => Call::Rename(path % 2, other % 2),
            6 => Call::Link(path % 2, other % 2),
            7 => Call::EnterDirectory,
            8 => Call::InDirectory,
            9 => Call::Read(descriptor),
            10 => Call::Write(descriptor),
            11 => Call::Seek(descriptor, length),
            12 => Call::Tell(descriptor),
            13 => Call::OpenSize(descriptor),
            14 => Call::OpenTruncate(descriptor, length),
            15 => Call::SetVariable(length),
            16 => Call::UnsetVariable,
            17 => Call::GetVariable,
            18 => Call::Random,
            19 => Call::Put,
            20 => Call::Position,
            21 => Call::Rewind,
            _ => Call::Print,
        }
    }

    /// An expression of C for what it gives.
    fn c(self) -> String {
        let p = |path: usize| format!("\"{}\"", PATHS[path]);
        match self {
            Call::Exists(path) => format!("access({}, F_OK) == 0", p(path)),
            Call::Create(path) => format!("created({})", p(path)),
            Call::Unlink(path) => format!("unlink({}) == 0", p(path)),
            Call::Size(path) => format!("size({})", p(path)),
            Call::Truncate(path, length) => format!("truncate({}, {length}) == 0", p(path)),
            Call::Rename(from, to) => format!("rename({}, {}) == 0", p(from), p(to)),
            Call::Link(from, to) => format!("link({}, {}) == 0", p(from), p(to)),
            Call::EnterDirectory => "chdir(\"d\") == 0".to_owned(),
            Call::InDirectory => "in_directory()".to_owned(),
            Call::Read(fd) => format!("next(fd[{fd}])"),
            Call::Write(fd) => format!("write(fd[{fd}], \"\\5\", 1)"),
            Call::Seek(fd, to) => format!("lseek(fd[{fd}], {to}, SEEK_SET)"),
            Call::Tell(fd) => format!("lseek(fd[{fd}], 0, SEEK_CUR)"),
            Call::OpenSize(fd) => format!("open_size(fd[{fd}])"),
            Call::OpenTruncate(fd, length) => format!("ftruncate(fd[{fd}], {length}) == 0"),
            Call::SetVariable(value) => format!("setenv(\"X\", \"{value}\", 1) == 0"),
            Call::UnsetVariable => "unsetenv(\"X\") == 0".to_owned(),
            Call::GetVariable => "variable()".to_owned(),
            Call::Random => "drawn()".to_owned(),
            Call::Put => "fputc('x', stream) == 'x'".to_owned(),
            Call::Position => "ftell(stream)".to_owned(),
            Call::Rewind => "(rewind(stream), 2)".to_owned(),
            Call::Print => "printf(\"%d\", 10)".to_owned(),
        }
    }
}

impl Program {
    /// A random program of at most three threads with at most four calls each, `most` in all. Each program uses few kinds of calls, so
    /// that they meet.
    pub fn random(seed: u64, most: usize) -> Program {
        let mut n = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..4 {
            n.below(2);
        }
        // Names of files, descriptors, the environment with random numbers, the stream; sometimes all of them.
        let families = [(0, 9), (0, 9), (9, 6), (9, 6), (15, 4), (19, 4), (0, Call::KINDS)];
        let (least, count) = families[n.below(families.len() as u64) as usize];
        let kinds: Vec<u64> = (0..2 + n.below(4)).map(|_| least + n.below(count)).collect();
        let mut threads: Vec<Vec<Call>> = (0..2 + n.below(2))
            .map(|_| {
                let length = 1 + n.below(4);
                (0..length)
                    .map(|_| Call::of_kind(kinds[n.below(kinds.len() as u64) as usize], &mut n))
                    .collect()
            })
            .collect();
        while threads.iter().map(Vec::len).sum::<usize>() > most {
            let longest = threads.iter_mut().max_by_key(|calls| calls.len());
            longest.map(Vec::pop);
        }
        Program { threads, duplicate: n.below(2) == 0 }
    }

    fn has(&self, wanted: impl Fn(&Call) -> bool) -> bool {
        self.threads.iter().flatten().any(wanted)
    }
}

/// A C program that runs the program whose number is its argument, observes the results and prints them.
pub fn c_source(programs: &[Program]) -> String {
    let mut out = String::from(include_str!("prelude.h"));
    for (number, program) in programs.iter().enumerate() {
        let mut at = 0;
        for (thread, calls) in program.threads.iter().enumerate() {
            let _ = writeln!(out, "static void *p{number}_{thread}(void *x) {{");
            for call in calls {
                let _ = writeln!(out, "    result[{at}] = ({}) & 15;", call.c());
                at += 1;
            }
            out.push_str("    return x;\n}\n");
        }
        let streams = program.has(|c| matches!(c, Call::Put | Call::Position | Call::Rewind));
        let _ = writeln!(
            out,
            "static void p{number}(void) {{\n    start({}, {});",
            u8::from(program.duplicate),
            u8::from(streams)
        );
        for thread in 0..program.threads.len() {
            let _ = writeln!(out, "    pthread_create(&t[{thread}], 0, p{number}_{thread}, 0);");
        }
        let _ = writeln!(out, "    tell({}, {at});\n}}", program.threads.len());
    }
    out.push_str("int main(int count, char **arguments) {\n    switch (atoi(arguments[count - 1])) {\n");
    for number in 0..programs.len() {
        let _ = writeln!(out, "    case {number}: p{number}(); break;");
    }
    out.push_str("    }\n    return 0;\n}\n");
    out
}

/// The state of the little operating system.
#[derive(Clone)]
struct State {
    at: Vec<usize>,
    /// Contents of files, whether they have names or not.
    contents: Vec<Vec<u8>>,
    /// Directory (0: the outer one) and name, to the number of the contents.
    names: BTreeMap<(u8, &'static str), usize>,
    inside: bool,
    /// Of each descriptor: contents, and number of its offset.
    open: [(usize, usize); 3],
    offsets: [u64; 3],
    variable: Option<u64>,
    drawn: u64,
    position: u64,
    results: u64,
}

impl State {
    fn start(program: &Program) -> State {
        let second = if program.duplicate { 0 } else { 1 };
        State {
            at: vec![0; program.threads.len()],
            contents: vec![vec![1, 2, 3], Vec::new()],
            names: BTreeMap::from([((0, "f"), 0), ((0, "h"), 1)]),
            inside: false,
            open: [(0, 0), (0, second), (1, 2)],
            offsets: [0; 3],
            variable: None,
            drawn: 0,
            position: 0,
            results: 0,
        }
    }

    /// The directory and the name that a path means now; none if there is no such directory.
    fn place(&self, path: usize) -> Option<(u8, &'static str)> {
        match (PATHS[path].split_once('/'), self.inside) {
            (Some((_, name)), false) => Some((1, name)),
            (Some(_), true) => None,
            (None, inside) => Some((u8::from(inside), PATHS[path])),
        }
    }

    fn named(&self, path: usize) -> Option<usize> {
        self.names.get(&self.place(path)?).copied()
    }

    fn step(&mut self, call: Call) -> u64 {
        let flag = u64::from;
        match call {
            Call::Exists(path) => flag(self.named(path).is_some()),
            Call::Create(path) => match self.place(path) {
                Some(place) if !self.names.contains_key(&place) => {
                    self.names.insert(place, self.contents.len());
                    self.contents.push(Vec::new());
                    1
                }
                _ => 0,
            },
            Call::Unlink(path) => flag(self.place(path).is_some_and(|p| self.names.remove(&p).is_some())),
            Call::Size(path) => self.named(path).map_or(FAILED, |file| self.contents[file].len() as u64),
            Call::Truncate(path, length) => match self.named(path) {
                Some(file) => {
                    self.contents[file].resize(length as usize, 0);
                    1
                }
                None => 0,
            },
            Call::Rename(from, to) => match (self.named(from), self.place(from), self.place(to)) {
                (Some(file), Some(old), Some(new)) => {
                    // Two names of one file both stay.
                    if self.names.get(&new) != Some(&file) {
                        self.names.remove(&old);
                        self.names.insert(new, file);
                    }
                    1
                }
                _ => 0,
            },
            Call::Link(from, to) => match (self.named(from), self.place(to)) {
                (Some(file), Some(new)) if !self.names.contains_key(&new) => {
                    self.names.insert(new, file);
                    1
                }
                _ => 0,
            },
            Call::EnterDirectory => {
                let possible = !self.inside;
                self.inside = true;
                flag(possible)
            }
            Call::InDirectory => flag(self.inside),
            Call::Read(fd) => {
                let (file, offset) = self.open[fd];
                match self.contents[file].get(self.offsets[offset] as usize) {
                    Some(byte) => {
                        self.offsets[offset] += 1;
                        u64::from(*byte)
                    }
                    None => FAILED,
                }
            }
            Call::Write(fd) => {
                let (file, offset) = self.open[fd];
                let at = self.offsets[offset] as usize;
                if self.contents[file].len() <= at {
                    self.contents[file].resize(at + 1, 0);
                }
                self.contents[file][at] = 5;
                self.offsets[offset] += 1;
                1
            }
            Call::Seek(fd, to) => {
                self.offsets[self.open[fd].1] = to;
                to
            }
            Call::Tell(fd) => self.offsets[self.open[fd].1],
            Call::OpenSize(fd) => self.contents[self.open[fd].0].len() as u64,
            Call::OpenTruncate(fd, length) => {
                self.contents[self.open[fd].0].resize(length as usize, 0);
                1
            }
            Call::SetVariable(value) => {
                self.variable = Some(value);
                1
            }
            Call::UnsetVariable => {
                self.variable = None;
                1
            }
            Call::GetVariable => self.variable.unwrap_or(FAILED),
            Call::Random => {
                self.drawn += 1;
                self.drawn - 1
            }
            Call::Put => {
                self.position += 1;
                1
            }
            Call::Position => self.position,
            Call::Rewind => {
                self.position = 0;
                2
            }
            Call::Print => 2,
        }
    }
}

/// The results of all orders: four bits per call, those of the first thread first.
pub fn outcomes(program: &Program) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    let mut first = vec![0];
    for calls in &program.threads {
        first.push(first[first.len() - 1] + calls.len());
    }
    visit(program, &State::start(program), &first, &mut found);
    found
}

fn visit(program: &Program, state: &State, first: &[usize], found: &mut BTreeSet<u64>) {
    let mut ended = true;
    for (thread, calls) in program.threads.iter().enumerate() {
        let Some(call) = calls.get(state.at[thread]) else { continue };
        ended = false;
        let mut next = state.clone();
        let result = next.step(*call) & 15;
        next.results |= result << (4 * (first[thread] + state.at[thread]));
        next.at[thread] += 1;
        visit(program, &next, first, found);
    }
    if ended {
        found.insert(state.results);
    }
}
