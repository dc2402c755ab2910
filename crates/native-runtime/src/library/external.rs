//! Things outside of memory, as objects of the exploration.
//!
//! A thing that exists once (the environment, a generator of random numbers) is one object. For files there are several kinds:
//!
//! | object | is | touched by |
//! |---|---|---|
//! | a file | its name, made absolute | who opens, tests, changes it; who reads or writes it |
//! | a descriptor | its number: it stands for the offset as well | who uses it |
//! | a stream | its address: buffer, position | who uses it |
//! | the names | all names of files, the current directory | everybody who names a file; changed by who makes directories or lists one |
//!
//! An operation touches a file and one of the others. Names and descriptors stand for what they mean only as long as no two
//! of them mean the same: as soon as the program does what could bring that about (links, renaming, another current
//! directory, duplicates of descriptors, a descriptor closed by another thread than the one that opened it), in any
//! execution, all of these are one object ([`Thing::Files`]), and the exploration starts again. That is always correct and
//! only costs executions.
//!
//! Descriptors must have the same number in all orders of independent calls, but the kernel gives out the lowest free one.
//! So each thread but the main one has a range of numbers of its own. Addresses of streams are like that already, since
//! every thread has its own part of the heap. An answer is relative to that ([`Outside::Descriptors`]). Like an address, a number stands for what it names and for nothing else: threads that
//! have nothing open can be exchanged, and what they open later has other numbers then.
//!
//! What is printed is not an object: nobody in the program can notice in which order two threads print, unless it asks for the
//! position or makes the stream something else (`observes` in the table): then the exploration starts again as well.

use crate::environment::outside;
use crate::exploration::world::{Pending, Runtime, World, visible, world};
use crate::library::stub::{Call, Saved};
use crate::protocol::{Op, Outside};
use crate::system::system_call::{number, system_call};

use super::accesses::text_size;
use super::table::{Change, Content, Function, Opened, Stream, Thing, Touch};

/// Objects have keys that are not addresses of user space.
const THINGS: usize = 1 << 63;
const DESCRIPTORS: usize = THINGS | 1 << 32;
const STREAMS: usize = THINGS | 1 << 48;
const FILES: usize = THINGS | 1 << 62;
/// Where the ranges of descriptors of threads begin, and their size. The session's own are below.
const FIRST: usize = 192;
const RANGE: usize = 26;
/// How the standard output is told to a process that repeats a schedule: see `World::note_interruptions`.
const OUTPUT_MARK: u64 = 4;

/// An open descriptor.
#[derive(Clone, Copy, Debug)]
struct Open {
    descriptor: i32,
    file: usize,
    thread: usize,
}

/// What is known of files.
#[derive(Default)]
pub struct External {
    open: Vec<Open>,
    /// Have two names or descriptors meant the same, in any execution?
    merged: bool,
    /// Can the program notice what is printed?
    observed: bool,
    /// Names of files in the scratch directory.
    harmless: Vec<Vec<u8>>,
    /// Streams of the C library: standard input, output, errors.
    streams: [usize; 3],
}

impl External {
    /// Looks up what does not change.
    pub fn prepare(&mut self) {
        unsafe extern "C" {
            fn dlsym(handle: usize, name: *const std::ffi::c_char) -> usize;
        }
        self.streams = [c"stdin", c"stdout", c"stderr"].map(|name| {
            // SAFETY: a terminated name; a variable of the C library that holds a pointer.
            unsafe {
                let variable = dlsym(0, name.as_ptr());
                if variable == 0 { 0 } else { *(variable as *const usize) }
            }
        });
    }

    /// Has this thread opened something that is still open?
    pub fn has_open(&self, thread: usize) -> bool {
        self.open.iter().any(|o| o.thread == thread)
    }

    /// Nothing is open.
    pub fn restart(&mut self) {
        self.open.clear();
    }

    /// What a process that repeats a schedule must know.
    pub fn told(&self) -> Option<(usize, usize)> {
        self.observed.then_some((OUTPUT_MARK as usize, 0))
    }

    /// Takes note of that; says whether it was this.
    pub fn note_told(&mut self, mark: u64) -> bool {
        self.observed |= mark == OUTPUT_MARK;
        mark == OUTPUT_MARK
    }

    fn find(&self, descriptor: i32) -> Option<Open> {
        self.open.iter().find(|o| o.descriptor == descriptor).copied()
    }

    /// The key of the file with this name.
    fn file(&self, name: usize) -> usize {
        // SAFETY: a string of the program, as the call says.
        let name = unsafe { std::slice::from_raw_parts(name as *const u8, text_size(name, 4096)) };
        FILES | name_hash(name, self.merged)
    }

    /// Is this a name of a file that was in the scratch directory when it was looked for, and can it have become another one since?
    pub fn is_harmless(&self, name: &[u8]) -> bool {
        !self.merged && self.harmless.iter().any(|known| known == name)
    }

    /// Takes note of such a name.
    pub fn note_harmless(&mut self, name: &[u8]) {
        const MOST: usize = 64;
        if self.harmless.len() < MOST {
            self.harmless.push(name.to_vec());
        }
    }
}

/// A hash of a name without `.`, `..` and repeated slashes: what the working directory is called is left out. Different files
/// with the same hash count as one.
fn name_hash(name: &[u8], may_have_moved: bool) -> usize {
    let name = name.strip_suffix(b"\0").unwrap_or(name);
    let mut parts: Vec<&[u8]> = Vec::new();
    let here = || match may_have_moved {
        true => std::env::current_dir().unwrap_or_default().into_os_string().into_encoded_bytes(),
        false => crate::system::sandbox::directory().as_bytes().to_vec(),
    };
    let full = if name.starts_with(b"/") { name.to_vec() } else { [here().as_slice(), b"/", name].concat() };
    for part in full.split(|b| *b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let bytes = parts.iter().flat_map(|part| part.iter().chain(b"/"));
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
    hash as usize & ((1 << 61) - 1)
}

/// What an operation touches: a key, and whether that is changed.
type Touched = (usize, bool);

impl World {
    fn descriptor_of(&self, stream: usize) -> i32 {
        const DESCRIPTOR: usize = 112;
        if stream == 0 {
            return -1;
        }
        // SAFETY: a stream of the C library, whose layout is part of its binary interface.
        unsafe { *((stream + DESCRIPTOR) as *const i32) }
    }

    fn stream_of(&self, stream: Stream, saved: &Saved) -> usize {
        match stream {
            Stream::Argument(n) => saved.arguments[n as usize],
            Stream::Input => self.external.streams[0],
            Stream::Output => self.external.streams[1],
        }
    }

    /// Is a pipe or a socket between threads used?
    pub fn is_channel(&self, function: &Function, saved: &Saved) -> bool {
        let Some(Touch::Descriptor { argument, .. }) = function.touch else { return false };
        let descriptor = saved.arguments[argument as usize] as i32;
        self.pipes.contains(descriptor) || self.sockets.contains(descriptor)
    }

    /// Is this the standard output or that for errors?
    fn is_output(&self, stream: usize) -> bool {
        stream != 0 && self.external.streams[1..].contains(&stream)
    }

    fn thing(thing: Thing, writes: bool) -> [Option<Touched>; 2] {
        [Some((THINGS | (thing as usize) << 4, writes)), None]
    }

    /// What a call touches.
    fn touched(&self, function: &Function, saved: &Saved) -> [Option<Touched>; 2] {
        let Some(touch) = function.touch else {
            return if function.merges { World::thing(Thing::Files, true) } else { [None; 2] };
        };
        let changes = |content: Content| content == Content::Written;
        let file = |descriptor: i32, content: Content| {
            let open = self.external.find(descriptor).filter(|_| content != Content::None)?;
            Some((open.file, changes(content)))
        };
        let unmerged = match touch {
            Touch::Thing { thing, writes } if thing != Thing::Names => return World::thing(thing, writes),
            Touch::Thing { thing, writes } => World::thing(thing, writes),
            Touch::Path { argument, change } => {
                let name = saved.arguments[argument as usize];
                let writes = changed(change, saved);
                let [names, _] = World::thing(Thing::Names, false);
                if name == 0 { [names, None] } else { [names, Some((self.external.file(name), writes))] }
            }
            Touch::Descriptor { argument, moves, content } => {
                let descriptor = saved.arguments[argument as usize] as i32;
                if (descriptor == 1 || descriptor == 2) && !self.external.observed {
                    return [None; 2];
                }
                let key = DESCRIPTORS | (descriptor as u32 as usize) << 4;
                // The descriptor itself is neither opened nor closed meanwhile: that would be a change of it.
                [Some((key, moves)), file(descriptor, content)]
            }
            Touch::Stream { stream, moves, content } => {
                let stream = self.stream_of(stream, saved);
                if self.is_output(stream) && !self.external.observed {
                    return [None; 2];
                }
                [Some((STREAMS | stream, moves)), file(self.descriptor_of(stream), content)]
            }
            Touch::Directory { argument } => {
                let [names, _] = World::thing(Thing::Names, true);
                [names, Some((STREAMS | saved.arguments[argument as usize], true))]
            }
        };
        if self.external.merged {
            let writes = unmerged.iter().flatten().any(|(_, writes)| *writes);
            return World::thing(Thing::Files, writes);
        }
        unmerged
    }

    /// Does the call need a step of its own?
    pub fn is_external_step(&self, function: &Function, saved: &Saved) -> bool {
        self.threaded && self.touched(function, saved).iter().any(Option::is_some)
    }

    /// Everything that has to do with files becomes one object.
    fn merge(&mut self) {
        self.grown |= !std::mem::replace(&mut self.external.merged, true);
    }

    /// May the current directory, a standard descriptor or the mask for new files be another one afterwards?
    fn changes_process(&self, function: &Function, saved: &Saved) -> bool {
        let is_standard = |argument: u8| (0..=2).contains(&(saved.arguments[argument as usize] as i32));
        function.merges
            || function.observes.is_some()
            || function.closes.is_some_and(is_standard)
            || matches!(function.touch, Some(Touch::Thing { thing: Thing::Names, writes: true }))
    }

    /// Does the stream get a buffer that the program can access (`setvbuf`)?
    pub fn gives_buffer(&self, function: &Function, saved: &Saved) -> bool {
        function.observes.is_some()
            && matches!(function.touch, Some(Touch::Stream { content: Content::None, .. }))
            && saved.arguments[1] != 0
    }

    /// Does what the function prints leave the program, so that it never notices?
    pub fn prints_away(&self, function: &Function, saved: &Saved) -> bool {
        let is_output = match function.touch {
            Some(Touch::Stream { stream, .. }) => self.is_output(self.stream_of(stream, saved)),
            _ => false,
        };
        is_output && !self.external.observed
    }

    /// What is printed becomes something that can be noticed.
    fn observe(&mut self, function: &Function, saved: &Saved) {
        let is_copied = is_duplicate(function, saved);
        let Some(argument) = function.observes.or(is_copied.then_some(None)) else { return };
        let observed = argument.is_none_or(|n| {
            let value = saved.arguments[n as usize];
            let is_stream = matches!(function.touch, Some(Touch::Stream { .. }) | None);
            if is_stream { self.is_output(value) } else { matches!(value as i32, 1 | 2) }
        });
        if observed && self.threaded && !self.external.observed {
            self.external.observed = true;
            self.grown = true;
        }
    }

    /// Is something read from standard input?
    fn is_input(&self, function: &Function, saved: &Saved) -> bool {
        match function.touch {
            Some(Touch::Stream { stream, content: Content::Read, .. }) => {
                self.descriptor_of(self.stream_of(stream, saved)) == 0
            }
            Some(Touch::Descriptor { argument, content: Content::Read, .. }) => {
                saved.arguments[argument as usize] as i32 == 0
            }
            _ => false,
        }
    }

    fn is_flush_of_all(&self, function: &Function, saved: &Saved) -> bool {
        // `fflush(0)`: a stream is written that is none.
        matches!(function.touch, Some(Touch::Stream { stream: Stream::Argument(n), .. })
            if saved.arguments[n as usize] == 0)
    }

    /// A descriptor, stream or directory was opened: takes note of it, and gives it a number of the running thread's range.
    pub fn opened(&mut self, kind: Opened, function: &Function, call: &Call, result: usize) -> usize {
        let descriptor = match kind {
            Opened::Nothing => return result,
            Opened::Descriptor => result as i32,
            _ if result == 0 => return result,
            Opened::Stream => self.descriptor_of(result),
            // SAFETY: a stream of names; its first word holds the descriptor.
            Opened::Directory => unsafe { *(result as *const i32) },
        };
        if descriptor < 0 {
            return result;
        }
        self.files_opened = true;
        let placed =
            if kind == Opened::Descriptor { self.place(descriptor) } else { self.move_to_range(descriptor) };
        let file = match function.touch {
            Some(Touch::Path { argument, .. }) => self.external.file(call.arguments[argument as usize]),
            _ => FILES | placed as usize,
        };
        let thread = self.current;
        self.external.open.retain(|o| o.descriptor != placed);
        self.external.open.push(Open { descriptor: placed, file, thread });
        match kind {
            Opened::Descriptor => placed as usize,
            // SAFETY: as where they were read.
            Opened::Stream => unsafe {
                *((result + 112) as *mut i32) = placed;
                result
            },
            // SAFETY: the same.
            _ => unsafe {
                *(result as *mut i32) = placed;
                result
            },
        }
    }

    /// Gives a new descriptor a number of the running thread's range, which the program learns.
    pub fn place(&mut self, descriptor: i32) -> i32 {
        let placed = self.move_to_range(descriptor);
        self.number_told(placed);
        placed
    }

    /// The program asks for the number of an open stream's descriptor.
    pub fn number_asked(&mut self) {
        let highest = self.external.open.iter().map(|open| open.descriptor).max();
        self.number_told(highest.unwrap_or(0));
    }

    /// The program learns the number of a descriptor.
    fn number_told(&mut self, descriptor: i32) {
        if descriptor >= FIRST as i32 {
            let taken = &mut self.shared.outside[Outside::Descriptors as usize];
            self.outside_noted |= std::mem::replace(&mut taken.met, 1) == 0;
        }
    }

    /// Moves a new descriptor to the range of the running thread; gives its number.
    fn move_to_range(&mut self, descriptor: i32) -> i32 {
        const FCNTL: usize = 72;
        const DUPLICATE: usize = 0;
        if self.current == 0 {
            return descriptor;
        }
        let first = FIRST + (self.current - 1) * RANGE;
        // SAFETY: descriptors of this process; no memory is involved.
        unsafe {
            let placed = system_call(FCNTL, [descriptor as usize, DUPLICATE, first, 0, 0, 0]);
            if placed < 0 {
                return descriptor;
            }
            system_call(number::CLOSE, [descriptor as usize, 0, 0, 0, 0, 0]);
            placed as i32
        }
    }
}

impl Runtime {
    /// Makes the step of a call, if it needs one. The call must follow at once.
    pub fn touch(mut self, slot: usize, function: &Function, saved: &Saved) {
        let duplicates = is_duplicate(function, saved);
        self.observe(function, saved);
        self.process_changed |= duplicates || self.changes_process(function, saved);
        if function.merges || duplicates || self.is_flush_of_all(function, saved) {
            self.merge();
        }
        if let Some(n) = function.closes
            && let Some(open) = self.external.find(saved.arguments[n as usize] as i32)
            && open.thread != self.current
        {
            self.merge();
        }
        if self.is_input(function, saved) {
            // Copies of this process would share the offset.
            self.files_ever_changed |= self.has_input;
            outside::note(Outside::Input, b"");
        }
        match function.touch {
            Some(Touch::Path { argument, change }) if !changed(change, saved) => {
                outside::note_file(saved.arguments[argument as usize]);
            }
            _ => {}
        }
        if self.threaded {
            let touched = self.touched(function, saved);
            let mut objects = touched.iter().flatten().map(|(key, writes)| {
                let number = world().objects.number(*key);
                (number, *writes)
            });
            if let Some((object, writes)) = objects.next() {
                let (other, second) = objects.next().map_or((0, 0), |(o, w)| (o, 2 | i64::from(w) << 2));
                let need = i64::from(writes) | second;
                visible(Pending { other, need, ..Pending::on(Op::Call, object, slot) });
            }
        }
        if let Some(n) = function.closes {
            let descriptor = saved.arguments[n as usize] as i32;
            world().external.open.retain(|o| o.descriptor != descriptor);
        }
    }
}

/// Does it make a duplicate of a descriptor, because its command says so (`fcntl`)?
fn is_duplicate(function: &Function, saved: &Saved) -> bool {
    const DUPLICATE: i32 = 0;
    const DUPLICATE_CLOSED_ON_EXEC: i32 = 1030;
    let command = function.duplicates.map(|n| saved.arguments[n as usize] as i32);
    matches!(command, Some(DUPLICATE | DUPLICATE_CLOSED_ON_EXEC))
}

fn changed(change: Change, saved: &Saved) -> bool {
    const CREATES_OR_TRUNCATES: usize = 0o100 | 0o1000;
    match change {
        Change::Never => false,
        Change::Always => true,
        Change::ByFlags(n) => saved.arguments[n as usize] & CREATES_OR_TRUNCATES != 0,
        Change::ByMode(n) => {
            let mode = saved.arguments[n as usize];
            // SAFETY: a string of the program.
            mode != 0 && matches!(unsafe { *(mode as *const u8) }, b'w' | b'a')
        }
    }
}
