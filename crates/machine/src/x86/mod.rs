//! Locations as machine code.
//!
//! Where a state is expanded often, the steps of its threads are translated: one piece of code for each thread of a shape and each
//! of its locations, so that every offset, every array bound and the thread's own id are constants in the code. It
//! writes its successors straight to the buffer of successors. It handles what goes well: conditions, changes of
//! variables, sends and receives on channels with room for messages, and what a thread does at once after these because it keeps control, as
//! long as there is one way on. Whatever does not (a wrong index, a failed assertion,
//! an unexpected kind of channel) makes it give up; then the interpreter does the location again from the start, and it alone
//! reports faults. So translated code decides nothing that the interpreter would not.
//!
//! - `assembler.rs`: instructions. `executable.rs`: memory for them.
//! - `encoding.rs` (tests): every instruction as another decoder reads it.
//! - `expression.rs`, `channel.rs`, `location.rs`: the translation.

mod assembler;
mod channel;
#[cfg(test)]
mod encoding;
mod executable;
mod expression;
mod location;

use quotient_seams::{Entry, Successors};

use crate::machine::Machine;
use executable::Executable;
use location::Translator;

/// Expansions of a shape before its locations are translated: small models are done before.
const PATIENCE: u32 = 50;

/// Bytes of code after which nothing more is translated.
const MOST_BYTES: usize = 64 << 20;

/// What is known of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    NotYet,
    Translated,
    /// The interpreter must do it.
    Interpret,
}

/// The way into the code of a shape: the state, room for successors' words, room for their entries, the index of the first
/// word, the code of the first thread at its location, the thread after the last one.
type Enter = unsafe extern "sysv64" fn(*const u64, *mut u64, *mut Entry, usize, usize, u64) -> Left;

/// How code was left.
#[repr(C)]
struct Left {
    /// Behind the last entry added.
    entry: *mut Entry,
    /// The thread to be done next.
    thread: u64,
}

/// The translated part of a program.
#[derive(Debug)]
pub(crate) struct Translated {
    enabled: bool,
    executable: Executable,
    /// By number of the shape.
    shapes: Vec<ShapeCode>,
    /// The shape whose states were expanded last.
    current: Option<Current>,
}

/// What is needed to expand all threads of a state of one shape, at hand.
#[derive(Clone, Copy, Debug)]
struct Current {
    shape: u32,
    threads: u32,
    /// Words of a state.
    words: usize,
    /// Most successors of a thread.
    most: usize,
    /// The address of the way in.
    enter: usize,
    /// The address of the list of threads.
    list: usize,
    /// The address of the list of entries.
    entries: usize,
}

#[derive(Debug, Default)]
struct ShapeCode {
    expanded: u32,
    threads: Vec<ThreadCode>,
    /// Most successors that one thread has.
    most: usize,
    /// Addresses of the code of all locations of all threads. What is not translated has code that stops there.
    entries: Vec<usize>,
    marks: Vec<Mark>,
    /// The address of the way in.
    enter: usize,
}

/// Where a thread of a shape stands, and what it can do there.
#[derive(Clone, Copy, Debug)]
struct ThreadCode {
    /// The byte of its location.
    at: u32,
    /// Bytes of the location.
    size: u32,
    /// Its first location in the list of entries.
    first: u32,
}

impl ThreadCode {
    /// The number of the thread's location in a state, in the list of the shape.
    #[inline(always)]
    fn entry(self, state: &[u64]) -> usize {
        // SAFETY: the location is inside the state.
        let location = unsafe {
            let place = state.as_ptr().cast::<u8>().add(self.at as usize);
            match self.size {
                1 => u32::from(*place),
                2 => u32::from(place.cast::<u16>().read_unaligned()),
                _ => place.cast::<u32>().read_unaligned(),
            }
        };
        (self.first + location) as usize
    }
}

impl Translated {
    pub(crate) fn new(enabled: bool) -> Translated {
        Translated { enabled, executable: Executable::default(), shapes: Vec::new(), current: None }
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    pub(crate) fn disable(&mut self) {
        self.enabled = false;
        self.current = None;
    }
}

impl Machine {
    /// Notes that a state of this shape is expanded; whether its threads may be done by translated code.
    #[inline(always)]
    pub(crate) fn translated_shape(&mut self, shape: u32) -> bool {
        if !self.translated.enabled {
            return false;
        }
        self.is_translated(shape) || self.count_shape(shape)
    }

    /// Whether the threads of this shape may be done by translated code.
    #[inline(always)]
    pub(crate) fn is_translated(&self, shape: u32) -> bool {
        self.translated.shapes.get(shape as usize).is_some_and(|code| code.expanded > PATIENCE)
    }

    #[cold]
    #[inline(never)]
    fn count_shape(&mut self, shape: u32) -> bool {
        let shapes = &mut self.translated.shapes;
        if shapes.len() <= shape as usize {
            shapes.resize_with(shape as usize + 1, ShapeCode::default);
        }
        let code = &mut shapes[shape as usize];
        code.expanded += 1;
        if code.expanded <= PATIENCE {
            return false;
        }
        let mut entries = 0;
        let threads = &self.shapes.list[shape as usize].threads;
        for thread in threads {
            let locations = &self.code.functions[thread.kind as usize].locations;
            let size = self.layout.threads[thread.kind as usize].location_size;
            code.threads.push(ThreadCode { at: thread.at, size, first: entries });
            entries += locations.len() as u32;
            let most = locations.iter().map(|l| (l.end - l.first) as usize).max();
            code.most = code.most.max(most.unwrap_or(0));
        }
        code.marks = vec![Mark::NotYet; entries as usize];
        let channels = self.shapes.list[shape as usize].channels.as_ptr().expose_provenance() as u64;
        let mut place = |code: Vec<u8>| Some(self.translated.executable.place(&code)?.expose_provenance());
        let stops: Option<Vec<usize>> = (0..threads.len() as u32).map(|t| place(location::stop(t))).collect();
        let Some((enter, stops)) = place(location::enter(channels)).zip(stops) else {
            self.translated.disable();
            return false;
        };
        let code = &mut self.translated.shapes[shape as usize];
        code.enter = enter;
        for (thread, stop) in threads.iter().zip(stops) {
            let locations = self.code.functions[thread.kind as usize].locations.len();
            code.entries.extend(std::iter::repeat_n(stop, locations));
        }
        true
    }

    /// Adds the steps of the threads from `first` up to `end` by translated code, until one needs the interpreter: gives its
    /// number, or `end`. The shape must be a translated one.
    #[inline(always)]
    pub(crate) fn translated_moves(
        &mut self,
        state: &[u64],
        shape: u32,
        first: u32,
        end: u32,
        out: &mut Successors,
    ) -> u32 {
        // SAFETY: `translated_shape` was true, so the shape has code for all its threads, an entry for each location. The code
        // was translated for states of this shape; it writes at most one successor for each transformation of a location.
        unsafe {
            let code: *const ShapeCode = self.translated.shapes.as_ptr().add(shape as usize);
            let enter = std::mem::transmute::<usize, Enter>((*code).enter);
            let mut thread = first;
            let most = (*code).most * (end - first) as usize;
            out.write(most, state.len(), |words, entries, start| {
                let mut added = 0;
                while thread < end {
                    let at = *(*code).threads.as_ptr().add(thread as usize);
                    let number = at.entry(state);
                    let function = *(*code).entries.as_ptr().add(number);
                    let (words, start) = (words.add(added * state.len()), start + added * state.len());
                    let entry = entries.add(added);
                    let left = enter(state.as_ptr(), words, entry, start, function, u64::from(end));
                    added += left.entry.offset_from_unsigned(entry);
                    thread = left.thread as u32;
                    if thread < end && !self.go_on(state, shape, thread) {
                        break;
                    }
                }
                added
            });
            thread
        }
    }

    /// Adds the steps of the threads from `first` on, or of that one alone, by translated code, if the state has the shape of the
    /// one before, until one needs the interpreter: gives its number, or that after the last one, and the latter. Otherwise
    /// does nothing. The same as [`Machine::translated_moves`].
    #[inline(always)]
    pub(crate) fn expand_current(
        &mut self,
        state: &[u64],
        first: u32,
        end: u32,
        out: &mut Successors,
    ) -> Option<(u32, u32)> {
        let current = self.translated.current.as_ref()?;
        if self.shape_number(state.as_ptr().cast()) != current.shape
            || state.len() != current.words
            || self.recorder.is_some()
            || first >= current.threads
        {
            return None;
        }
        let end = end.min(current.threads);
        let mut thread = first;
        // SAFETY: the shape is a translated one and `first` one of its threads, as in `translated_moves`; its lists never move.
        unsafe {
            let enter = std::mem::transmute::<usize, Enter>(current.enter);
            let entries = std::ptr::with_exposed_provenance::<usize>(current.entries);
            let at = *std::ptr::with_exposed_provenance::<ThreadCode>(current.list).add(first as usize);
            let function = *entries.add(at.entry(state));
            let most = current.most * (end - first) as usize;
            out.write(most, current.words, |words, entry, start| {
                let left = enter(state.as_ptr(), words, entry, start, function, u64::from(end));
                thread = left.thread as u32;
                left.entry.offset_from_unsigned(entry)
            });
        }
        Some((thread, end))
    }

    /// Remembers the shape of a state for [`Machine::expand_current`].
    #[inline(always)]
    pub(crate) fn make_current(&mut self, state: &[u64], shape: u32) {
        if self.translated.current.as_ref().is_none_or(|current| current.shape != shape) {
            self.set_current(state, shape);
        }
    }

    #[cold]
    #[inline(never)]
    fn set_current(&mut self, state: &[u64], shape: u32) {
        let code = &self.translated.shapes[shape as usize];
        self.translated.current = Some(Current {
            shape,
            threads: code.threads.len() as u32,
            words: state.len(),
            most: code.most,
            enter: code.enter,
            list: code.threads.as_ptr().expose_provenance(),
            entries: code.entries.as_ptr().expose_provenance(),
        });
    }

    /// Whether translated code can go on with a thread where it stopped, after the location was translated.
    #[cold]
    #[inline(never)]
    pub(crate) fn go_on(&mut self, state: &[u64], shape: u32, thread: u32) -> bool {
        let code = &self.translated.shapes[shape as usize];
        let at = code.threads[thread as usize];
        let number = at.entry(state);
        code.marks[number] == Mark::NotYet && self.translate(state, shape, thread, number)
    }

    /// Translates the location with this number in the shape's list; `false` when that is not possible.
    fn translate(&mut self, state: &[u64], shape: u32, thread: u32, number: usize) -> bool {
        let code = &self.translated.shapes[shape as usize];
        let location = number as u32 - code.threads[thread as usize].first;
        let next = code.threads.get(thread as usize + 1).map(|next| {
            let list = code.entries.as_ptr().wrapping_add(next.first as usize);
            (*next, list.expose_provenance() as u64)
        });
        let mut entry = None;
        if self.translated.executable.bytes() <= MOST_BYTES {
            let code = Translator::new(self, state, shape, thread).location(location, next);
            entry = code.and_then(|code| self.translated.executable.place(&code));
        }
        let code = &mut self.translated.shapes[shape as usize];
        code.marks[number] = if entry.is_some() { Mark::Translated } else { Mark::Interpret };
        if let Some(entry) = entry {
            code.entries[number] = entry.expose_provenance();
        }
        entry.is_some()
    }
}
