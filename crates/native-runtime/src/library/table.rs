//! The table of library functions: what each does to memory that it is given, and to what lies outside of memory.
//!
//! The table is text (`functions.txt`), so that it can be read and added to by people who know the functions. A line has names,
//! separated by commas, and effects. A function without effects touches nothing that another thread could notice. A name
//! that ends in `*` stands for all names that begin so; the first line that fits counts. `string::` and `const-string::` stand for how
//! the names of members of `std::string` begin.
//!
//! | effect | meaning |
//! |---|---|
//! | `r0:E`, `w0:E`, `u0:E` | reads, writes, or both, what argument 0 points to, as far as `E` says; `wR:E` what the result points to |
//! | `E` = `2`, `1*2`, `#8` | argument 2 bytes; the product of two arguments; 8 bytes |
//! | `E` = `s`, `s2`, `l1` | a string; at most argument 2 bytes of it; as many bytes as the string argument 1 has |
//! | `E` = `c1`, `c1.2` | a string as far as it agrees with that of argument 1 (in at most argument 2 bytes), and the next byte |
//! | `E` = `a1`, `a1.2` | what is appended: from the end of the string, as many bytes as the string argument 1 has (of at most argument 2) |
//! | `E` = `n` | the characters of a number, and the next one |
//! | `E` = `-1.2` | as many bytes as argument 2 is after argument 1 |
//! | `E` = `t` | a string of C++: the object, and its text |
//! | `E` = `v0` | argument 0 pointers to strings, and the strings |
//! | `w*0:E` | the same of what the word points to that argument 0 points to |
//! | `w@optind:E` | the same of a variable of the C library: see [`VARIABLES`] |
//! | after the call: `R`, `R*1`, `S`, `P1`, `F` | as many bytes as the result says (times argument 1); the string that is there then; what is printed into argument 1 bytes; a string up to where the result points |
//! | after the call: `f2` | up to where the result points, or argument 2 bytes |
//! | after the call: `e` | the last byte of a string |
//! | after the call: `m0` | argument 0 words, if they have changed |
//! | `printf1`, `vprintf1`, `scanf1`, `vscanf1` | a format in argument 1, and the arguments that it asks for, or a list of them |
//! | `env?`, `env!` | looks at, changes something that exists once: see [`Thing`] |
//! | `path0?`, `path0!`, `path0@1`, `path0%1` | a file by its name: looked at, changed, changed if the flags in argument 1 or the mode there say so |
//! | `fd0?r`, `fd0!w`, `fd0!-` | a descriptor: its offset is used (`!`: moved), its file is read, written, neither |
//! | `stream1!r`, `stream1!w`, `stream1?-` | the same for a stream; `stdin!r`, `stdout!w` without an argument |
//! | `directory0!` | a stream of the names in a directory |
//! | `point` | is a cancellation point |
//! | `opens`, `opens-stream`, `opens-directory` | gives a new descriptor, stream, directory |
//! | `closes0` | the descriptor is free afterwards |
//! | `changes` | changes files, so that the working directory must be restored |
//! | `merges` | makes two names or descriptors mean one thing: from then on all files are one |
//! | `duplicates1` | the same, if argument 1 is a command of `fcntl` that makes a duplicate |
//! | `observes1`, `observes` | what was written to the standard output can be noticed: by the stream (or descriptor) of argument 1, by anybody |
//! | `thread0` | argument 0 is the handle of a thread |
//! | `alone` | not while several threads exist |
//! | `never` | not at all |
//! | `from-machine`, `from-clock`, `from-random`, `from-environment` | the result comes from outside, and an answer is relative to it (`outside`) |
//! | `gives-number` | the result is the number of a descriptor |
//! | `errno` | it looks at the number of the last error |
//! | `ostream` | the first argument is a stream of C++: known if it is the standard output |

use crate::protocol::Outside;

/// A pointer that is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pointer {
    /// An argument.
    Argument(u8),
    /// What the word holds that an argument points to.
    Held(u8),
    /// What the function gives.
    Result,
    /// One of [`VARIABLES`].
    Variable(u8),
}

/// Variables of the C library that functions use and programs can name.
pub const VARIABLES: [&std::ffi::CStr; 4] = [c"optind", c"optarg", c"opterr", c"optopt"];

/// How far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Extent {
    Argument(u8),
    Product(u8, u8),
    Constant(u32),
    Between(u8, u8),
    Length(u8),
    Text,
    TextUpTo(u8),
    LengthOf(u8),
    Common(u8, Option<u8>),
    Number,
    Appended(u8, Option<u8>),
    End,
    ResultBytes,
    ResultTimes(u8),
    TextAfterwards,
    Printed(u8),
    UpToResult,
    UpToResultOr(u8),
    Strings(u8),
    ChangedWords(u8),
}

impl Extent {
    /// Is it known only after the call?
    pub fn is_afterwards(self) -> bool {
        use Extent::*;
        matches!(
            self,
            End | ResultBytes
                | ResultTimes(_)
                | TextAfterwards
                | Printed(_)
                | UpToResult
                | UpToResultOr(_)
                | ChangedWords(_)
        )
    }
}

/// An access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Where.
    pub pointer: Pointer,
    /// How far.
    pub extent: Extent,
    /// Is it read?
    pub reads: bool,
    /// Is it written?
    pub writes: bool,
}

/// What exists once, outside of the memory that the program can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Thing {
    /// The names of files, and the current directory.
    Names,
    /// Everything that has to do with files, if parts of it cannot be told apart.
    Files,
    /// Environment variables.
    Environment,
    /// `rand`, `random`.
    Random,
    /// `drand48` and its like.
    Random48,
    /// What `strtok` goes on from.
    Token,
    /// What `getpwent`, `gethostent` and their like go on from.
    Databases,
    /// Messages to the system's log.
    Log,
    /// Identities, limits and masks of the process.
    Process,
}

/// Names of things in the table.
const THINGS: [(&str, Thing); 8] = [
    ("names", Thing::Names),
    ("env", Thing::Environment),
    ("random", Thing::Random),
    ("random48", Thing::Random48),
    ("token", Thing::Token),
    ("databases", Thing::Databases),
    ("log", Thing::Log),
    ("process", Thing::Process),
];

/// How a file is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Not at all.
    None,
    /// Read.
    Read,
    /// Written.
    Written,
}

/// Is a named file changed?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Change {
    Never,
    Always,
    ByFlags(u8),
    ByMode(u8),
}

/// A stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Stream {
    Argument(u8),
    Input,
    Output,
}

/// What is touched outside of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Touch {
    Thing { thing: Thing, writes: bool },
    Path { argument: u8, change: Change },
    Descriptor { argument: u8, moves: bool, content: Content },
    Stream { stream: Stream, moves: bool, content: Content },
    Directory { argument: u8 },
}

/// A format and its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Are values read according to it (`scanf`)?
    pub scans: bool,
    /// Which argument it is.
    pub argument: u8,
    /// Is what follows a list of arguments?
    pub list: bool,
}

/// What the result is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Opened {
    Nothing,
    Descriptor,
    Stream,
    Directory,
}

/// What a function does.
#[derive(Clone, Debug)]
pub struct Function {
    /// Accesses to memory.
    pub accesses: Vec<Access>,
    /// What else it touches.
    pub touch: Option<Touch>,
    /// Its format.
    pub format: Option<Format>,
    /// Is it a cancellation point?
    pub point: bool,
    /// What it opens.
    pub opened: Opened,
    /// Which descriptor it closes.
    pub closes: Option<u8>,
    /// Does it change files?
    pub changes: bool,
    /// Does it give one thing two names?
    pub merges: bool,
    /// The same, if this argument is a command that says so.
    pub duplicates: Option<u8>,
    /// Can it notice what was written to the standard output? By which argument.
    pub observes: Option<Option<u8>>,
    /// Which argument is the handle of a thread.
    pub thread: Option<u8>,
    /// Only while there is one thread?
    pub alone: bool,
    /// Not even then?
    pub never: bool,
    /// Is its first argument a stream of C++?
    pub ostream: bool,
    /// Does it look at the number of the last error (`errno`)?
    pub errno: bool,
    /// Where its result comes from, if that is outside of the program.
    pub from: Option<Outside>,
}

impl Function {
    const NONE: Function = Function {
        accesses: Vec::new(),
        touch: None,
        format: None,
        point: false,
        opened: Opened::Nothing,
        closes: None,
        changes: false,
        merges: false,
        duplicates: None,
        observes: None,
        thread: None,
        alone: false,
        never: false,
        ostream: false,
        errno: false,
        from: None,
    };

    /// Is there nothing to take note of?
    pub fn is_pure(&self) -> bool {
        self.accesses.is_empty()
            && self.touch.is_none()
            && self.format.is_none()
            && !(self.point
                || self.changes
                || self.merges
                || self.duplicates.is_some()
                || self.alone
                || self.never
                || self.ostream
                || self.errno)
            && self.observes.is_none()
            && self.thread.is_none()
            && self.from.is_none()
    }

    /// Does the library keep memory that it allocates here, and give it to others (`setenv`)?
    pub fn keeps_memory(&self) -> bool {
        matches!(self.touch, Some(Touch::Thing { thing: Thing::Environment, writes: true }))
    }

    /// Is there something to be done after the call?
    pub fn has_afterwards(&self) -> bool {
        let late = |a: &Access| a.extent.is_afterwards() || a.pointer == Pointer::Result;
        self.accesses.iter().any(late)
            || self.format.is_some_and(|f| f.scans)
            || self.opened != Opened::Nothing
            || self.keeps_memory()
    }
}

/// The table.
pub static TEXT: &str = include_str!("functions.txt");

/// Short for how names begin.
pub const SHORT: [(&str, &str); 2] = [
    ("string::", "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE"),
    ("const-string::", "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE"),
];

/// Does a name of the table mean this function?
fn fits(pattern: &str, name: &str) -> bool {
    let short = SHORT.iter().find_map(|(short, long)| Some((pattern.strip_prefix(short)?, *long)));
    let (pattern, name) = match short {
        None => (pattern, Some(name)),
        Some((rest, long)) => (rest, name.strip_prefix(long)),
    };
    name.is_some_and(|name| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => pattern == name,
    })
}

/// The line of a function: its number and what it says.
fn line(name: &str) -> Option<(usize, &'static str)> {
    TEXT.lines().enumerate().find_map(|(number, line)| {
        let (names, effects) = line.split_once(' ').unwrap_or((line, ""));
        (!line.starts_with('#') && names.split(',').any(|pattern| fits(pattern, name)))
            .then_some((number, effects))
    })
}

/// What the table says of a function; `None`: nothing.
pub fn find(name: &str) -> Option<Function> {
    let (_, effects) = line(name)?;
    let mut function = Function::NONE.clone();
    for effect in effects.split_whitespace() {
        // A line that cannot be read says nothing: the function is unknown. Tests read every line.
        function.add(effect)?;
    }
    Some(function)
}

fn digit(text: &str) -> Option<u8> {
    text.parse().ok().filter(|n| *n < 6)
}

fn extent(text: &str) -> Option<Extent> {
    Some(match text.split_at_checked(1)? {
        ("s", "") => Extent::Text,
        ("s", n) => Extent::TextUpTo(digit(n)?),
        ("l", n) => Extent::LengthOf(digit(n)?),
        ("n", "") => Extent::Number,
        ("c", rest) => match rest.split_once('.') {
            Some((other, most)) => Extent::Common(digit(other)?, Some(digit(most)?)),
            None => Extent::Common(digit(rest)?, None),
        },
        ("a", rest) => match rest.split_once('.') {
            Some((other, most)) => Extent::Appended(digit(other)?, Some(digit(most)?)),
            None => Extent::Appended(digit(rest)?, None),
        },
        ("e", "") => Extent::End,
        ("#", n) => Extent::Constant(n.parse().ok()?),
        ("-", rest) => {
            let (from, to) = rest.split_once('.')?;
            Extent::Between(digit(from)?, digit(to)?)
        }
        ("R", "") => Extent::ResultBytes,
        ("R", rest) => Extent::ResultTimes(digit(rest.strip_prefix('*')?)?),
        ("S", "") => Extent::TextAfterwards,
        ("P", n) => Extent::Printed(digit(n)?),
        ("F", "") => Extent::UpToResult,
        ("f", n) => Extent::UpToResultOr(digit(n)?),
        ("v", n) => Extent::Strings(digit(n)?),
        ("m", n) => Extent::ChangedWords(digit(n)?),
        (first, "") => Extent::Argument(digit(first)?),
        (first, rest) => Extent::Product(digit(first)?, digit(rest.strip_prefix('*')?)?),
    })
}

fn content(text: &str) -> Option<Content> {
    Some(match text {
        "r" => Content::Read,
        "w" => Content::Written,
        "-" => Content::None,
        _ => return None,
    })
}

/// `?r`, `!w` …: is the offset moved, and what happens to the content?
fn moves(text: &str) -> Option<(bool, Content)> {
    let (mark, rest) = text.split_at_checked(1)?;
    let moves = match mark {
        "!" => true,
        "?" => false,
        _ => return None,
    };
    Some((moves, content(rest)?))
}

fn touch(effect: &str) -> Option<Touch> {
    if let Some(rest) = effect.strip_prefix("path") {
        let argument = digit(rest.get(..1)?)?;
        let change = match rest.get(1..)? {
            "?" => Change::Never,
            "!" => Change::Always,
            by if by.starts_with('@') => Change::ByFlags(digit(&by[1..])?),
            by => Change::ByMode(digit(by.strip_prefix('%')?)?),
        };
        return Some(Touch::Path { argument, change });
    }
    if let Some(rest) = effect.strip_prefix("fd") {
        let (moves, content) = moves(rest.get(1..)?)?;
        return Some(Touch::Descriptor { argument: digit(rest.get(..1)?)?, moves, content });
    }
    if let Some(rest) = effect.strip_prefix("directory") {
        return Some(Touch::Directory { argument: digit(rest.get(..1)?)? });
    }
    let streams = [("stdin", Stream::Input), ("stdout", Stream::Output)];
    for (name, stream) in streams {
        if let Some(rest) = effect.strip_prefix(name) {
            let (moves, content) = moves(rest)?;
            return Some(Touch::Stream { stream, moves, content });
        }
    }
    if let Some(rest) = effect.strip_prefix("stream") {
        let (moves, content) = moves(rest.get(1..)?)?;
        return Some(Touch::Stream { stream: Stream::Argument(digit(rest.get(..1)?)?), moves, content });
    }
    let (name, mark) = effect.split_at_checked(effect.len().checked_sub(1)?)?;
    let thing = THINGS.iter().find(|(known, _)| *known == name)?.1;
    Some(Touch::Thing { thing, writes: mark == "!" })
}

impl Function {
    fn add(&mut self, effect: &str) -> Option<()> {
        if let Some((place, how_far)) = effect.split_once(':') {
            let (verb, pointer) = place.split_at_checked(1)?;
            let variable = |name: &str| VARIABLES.iter().position(|v| v.to_str() == Ok(name));
            let pointer = match pointer.split_at_checked(1)? {
                ("*", argument) => Pointer::Held(digit(argument)?),
                ("@", name) => Pointer::Variable(variable(name)? as u8),
                ("R", "") => Pointer::Result,
                _ => Pointer::Argument(digit(pointer)?),
            };
            let (reads, writes) = match verb {
                "r" => (true, false),
                "w" => (false, true),
                "u" => (true, true),
                _ => return None,
            };
            let mut add = |pointer, extent| self.accesses.push(Access { pointer, extent, reads, writes });
            match (pointer, how_far) {
                (Pointer::Argument(n), "t") => {
                    add(pointer, Extent::Constant(32));
                    add(Pointer::Held(n), Extent::Length(n));
                }
                _ => add(pointer, extent(how_far)?),
            }
            return Some(());
        }
        let formats = [
            ("printf", false, false),
            ("vprintf", false, true),
            ("scanf", true, false),
            ("vscanf", true, true),
        ];
        for (name, scans, list) in formats {
            if let Some(argument) = effect.strip_prefix(name) {
                self.format = Some(Format { scans, argument: digit(argument)?, list });
                return Some(());
            }
        }
        match effect {
            "point" => self.point = true,
            "opens" => self.opened = Opened::Descriptor,
            "opens-stream" => self.opened = Opened::Stream,
            "opens-directory" => self.opened = Opened::Directory,
            "changes" => self.changes = true,
            "merges" => self.merges = true,
            "observes" => self.observes = Some(None),
            "alone" => self.alone = true,
            "never" => self.never = true,
            "ostream" => self.ostream = true,
            "errno" => self.errno = true,
            "from-machine" => self.from = Some(Outside::Machine),
            "from-clock" => self.from = Some(Outside::Clock),
            "gives-number" => self.from = Some(Outside::Descriptors),
            "from-random" => self.from = Some(Outside::Random),
            "from-environment" => self.from = Some(Outside::Environment),
            _ => {
                if let Some(argument) = effect.strip_prefix("duplicates") {
                    self.duplicates = Some(digit(argument)?);
                } else if let Some(argument) = effect.strip_prefix("closes") {
                    self.closes = Some(digit(argument)?);
                } else if let Some(argument) = effect.strip_prefix("observes") {
                    self.observes = Some(Some(digit(argument)?));
                } else if let Some(argument) = effect.strip_prefix("thread") {
                    self.thread = Some(digit(argument)?);
                } else if self.touch.is_none() {
                    self.touch = Some(touch(effect)?);
                } else {
                    return None;
                }
            }
        }
        Some(())
    }
}
