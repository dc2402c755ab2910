//! Locations as machine code.
//!
//! Where a state is expanded often, the steps of its threads are translated: one function for each thread of a shape and each
//! of its locations, so that every offset, every array bound and the thread's own id are constants in the code. A function
//! writes its successors straight to the buffer of successors. It handles what goes well: conditions, changes of
//! variables, sends and receives on channels with room for messages. Whatever does not (a wrong index, a failed assertion,
//! an unexpected kind of channel) makes it give up; then the interpreter does the location again from the start, and it alone
//! reports faults. So translated code decides nothing that the interpreter would not.
//!
//! - `assembler.rs`: instructions. `executable.rs`: memory for them.
//! - `expression.rs`, `channel.rs`, `location.rs`: the translation.

mod assembler;
mod channel;
mod executable;
mod expression;
mod location;

use quotient_system::Successors;

use crate::machine::Machine;
use executable::Executable;
use location::Translator;

/// Expansions of a shape before its locations are translated: small models are done before.
const PATIENCE: u32 = 200;

/// Bytes of code after which nothing more is translated.
const MOST_BYTES: usize = 64 << 20;

/// The interpreter must do this.
const INTERPRET: usize = 0;
/// Not translated yet.
const NOT_YET: usize = 1;

/// What a function gives when the interpreter must do the location again.
const GAVE_UP: u32 = u32::MAX;

/// The state, room for successors' words, room for their entries, the index of the first word: how many successors.
type Function = unsafe extern "sysv64" fn(*const u64, *mut u64, *mut quotient_system::Entry, usize) -> u32;

/// The translated part of a program.
#[derive(Debug)]
pub(crate) struct Translated {
    enabled: bool,
    executable: Executable,
    /// By number of the shape.
    shapes: Vec<ShapeCode>,
}

#[derive(Debug, Default)]
struct ShapeCode {
    expanded: u32,
    threads: Vec<ThreadCode>,
    /// Most successors that one thread has.
    most: usize,
    /// Addresses of functions, or a mark, of all locations of all threads.
    entries: Vec<usize>,
}

/// Where a thread of a shape stands, and what it can do there.
#[derive(Clone, Copy, Debug)]
struct ThreadCode {
    /// The byte of its location.
    at: u32,
    /// The location has two bytes.
    wide: bool,
    /// Its first location in the list of entries.
    first: u32,
}

impl Translated {
    pub(crate) fn new(enabled: bool) -> Translated {
        Translated { enabled, executable: Executable::default(), shapes: Vec::new() }
    }

    pub(crate) fn disable(&mut self) {
        self.enabled = false;
    }
}

impl Machine {
    /// Notes that a state of this shape is expanded; whether its threads may be done by translated code.
    #[inline(always)]
    pub(crate) fn translated_shape(&mut self, shape: u32) -> bool {
        if !self.translated.enabled {
            return false;
        }
        match self.translated.shapes.get_mut(shape as usize) {
            Some(code) if code.expanded > PATIENCE => true,
            _ => self.count_shape(shape),
        }
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
        for thread in &self.shapes.list[shape as usize].threads {
            let locations = &self.code.functions[thread.kind as usize].locations;
            let wide = self.layout.threads[thread.kind as usize].location_size == 2;
            code.threads.push(ThreadCode { at: thread.at, wide, first: entries });
            entries += locations.len() as u32;
            let most = locations.iter().map(|l| (l.end - l.first) as usize).max();
            code.most = code.most.max(most.unwrap_or(0));
        }
        code.entries = vec![NOT_YET; entries as usize];
        true
    }

    /// Adds the steps of the threads from `first` up to `end` by translated code, until one needs the interpreter: gives its
    /// number, or `end`. The shape must be a translated one.
    #[inline(never)]
    pub(crate) fn translated_moves(
        &mut self,
        state: &[u64],
        shape: u32,
        first: u32,
        end: u32,
        out: &mut Successors,
    ) -> u32 {
        // SAFETY: `translated_shape` was true, so the shape has code for all its threads, an entry for each location. What
        // is no mark is the address of a function translated for states of this shape; it writes at most one successor for
        // each transformation of the location.
        unsafe {
            let code: *const ShapeCode = self.translated.shapes.as_ptr().add(shape as usize);
            let threads = (*code).threads.as_ptr();
            let entries = (*code).entries.as_ptr();
            let memory = state.as_ptr().cast::<u8>();
            let mut thread = first;
            out.write(
                (*code).most * (end - first) as usize,
                state.len(),
                |mut words, mut entry, mut start| {
                    let before = entry;
                    while thread < end {
                        let at = *threads.add(thread as usize);
                        let place = memory.add(at.at as usize);
                        let location = if at.wide {
                            u32::from(place.cast::<u16>().read_unaligned())
                        } else {
                            u32::from(*place)
                        };
                        let mut function = *entries.add((at.first + location) as usize);
                        if function == NOT_YET {
                            function = self.translate(state, shape, thread, location);
                        }
                        if function == INTERPRET {
                            break;
                        }
                        let function = std::mem::transmute::<usize, Function>(function);
                        let count = function(state.as_ptr(), words, entry, start);
                        if count == GAVE_UP {
                            break;
                        }
                        words = words.add(count as usize * state.len());
                        start += count as usize * state.len();
                        entry = entry.add(count as usize);
                        thread += 1;
                    }
                    entry.offset_from_unsigned(before)
                },
            );
            thread
        }
    }

    /// Translates a location; gives the entry.
    #[cold]
    #[inline(never)]
    fn translate(&mut self, state: &[u64], shape: u32, thread: u32, location: u32) -> usize {
        let entry = if self.translated.executable.bytes() > MOST_BYTES {
            INTERPRET
        } else {
            let code = Translator::new(self, state, shape, thread).location(location);
            let place = |code: Vec<u8>| self.translated.executable.place(&code);
            code.and_then(place).map_or(INTERPRET, |at| at.expose_provenance())
        };
        let code = &mut self.translated.shapes[shape as usize];
        let at = code.threads[thread as usize].first + location;
        code.entries[at as usize] = entry;
        entry
    }
}
