//! The start of every execution: all writable memory of the program, copied once and copied back before each execution.
//!
//! What belongs to it: the data of the program and of all libraries but this one, arguments and environment, what constructors allocated, the control
//! block and thread-local variables of each thread. Stacks and the rest of the heap are zeroed as far as they were used, so
//! that a program that reads uninitialised memory does the same in every execution.

use std::ops::Range;

use crate::exploration::world::{Thread, World};
use crate::memory::written_pages::{WrittenPages, whole_pages};
use crate::protocol::THREADS;
use crate::system::system_call::{number, system_call};

/// Stacks are zeroed in pieces of this size below the lowest frame that was seen.
const CHUNK: usize = 4096;

struct Copied {
    address: usize,
    content: Vec<u8>,
}

impl Copied {
    fn new(range: Range<usize>) -> Copied {
        // SAFETY: mapped memory that nobody changes meanwhile.
        let content = unsafe { std::slice::from_raw_parts(range.start as *const u8, range.len()) }.to_vec();
        Copied { address: range.start, content }
    }

    fn range(&self) -> Range<usize> {
        self.address..self.address + self.content.len()
    }

    fn restore(&self) {
        self.restore_part(self.range());
    }

    #[inline]
    fn restore_part(&self, part: Range<usize>) {
        let content = &self.content[part.start - self.address..part.end - self.address];
        // SAFETY: the memory it was copied from, still mapped and writable; no reference into it is held by the driver.
        unsafe { (part.start as *mut u8).copy_from_nonoverlapping(content.as_ptr(), content.len()) };
    }

    /// Copies back what is not part of the whole pages that are watched.
    fn restore_edges(&self, pages: &Range<usize>) {
        if pages.is_empty() {
            return self.restore();
        }
        let all = self.range();
        self.restore_part(all.start..pages.start);
        self.restore_part(pages.end..all.end);
    }
}

/// A copy of the program's memory.
pub struct Snapshot {
    /// Data and heap, then the control block and thread-local variables of each thread but the main one.
    data: Vec<Copied>,
    /// Where those of threads begin.
    threads: usize,
    written: WrittenPages,
    /// The whole pages of each of these, which are watched.
    pages: Vec<Range<usize>>,
    /// Must notes of writes be taken anew?
    rewatch: bool,
    /// The control block and thread-local variables of the main thread. The kernel itself writes there, again and again.
    main: Copied,
    keys: usize,
}

/// What `dl_iterate_phdr` tells (the parts used).
#[repr(C)]
pub struct Loaded {
    /// How far it was moved.
    pub base: usize,
    /// The name of its file.
    pub name: *const std::ffi::c_char,
    /// Its segments.
    pub headers: *const Header,
    /// Their number.
    pub count: u16,
    added: u64,
    removed: u64,
    /// Number of its thread-local variables, and where they are for the calling thread.
    local_module: usize,
    local_data: usize,
}

/// A segment.
#[repr(C)]
pub struct Header {
    /// What it is.
    pub kind: u32,
    /// What may be done with it.
    pub flags: u32,
    offset: u64,
    /// Where it is, before it was moved.
    pub address: u64,
    physical: u64,
    file_size: u64,
    /// Its size.
    pub memory_size: u64,
    alignment: u64,
}

unsafe extern "C" {
    /// Calls a function for every loaded object.
    pub fn dl_iterate_phdr(callback: extern "C" fn(&Loaded, usize, *mut u8) -> i32, data: *mut u8) -> i32;
}

/// Segments of the loaded objects.
#[derive(Default)]
struct Segments {
    writable: Vec<Range<usize>>,
    code: crate::threads::context::Code,
    base: Option<usize>,
    /// Thread-local variables: how far below the FS base, and their size.
    locals: Vec<(usize, usize)>,
}

extern "C" fn collect(object: &Loaded, _size: usize, segments: *mut u8) -> i32 {
    const LOAD: u32 = 1;
    // SAFETY: what `take` passes.
    let segments = unsafe { &mut *segments.cast::<Segments>() };
    // SAFETY: as the dynamic linker says.
    let headers = unsafe { std::slice::from_raw_parts(object.headers, object.count as usize) };
    let range = |h: &Header| {
        let start = object.base + h.address as usize;
        start..start + h.memory_size as usize
    };
    let loads = || headers.iter().filter(|h| h.kind == LOAD);
    // The program itself comes first.
    if segments.base.is_none() {
        segments.base = Some(object.base);
        segments.code.program = loads().find(|h| h.flags & 1 != 0).map_or(0..0, range);
    }
    let code = loads().map(range).find(|r| r.contains(&(collect as *const () as usize)));
    match code {
        Some(code) => {
            segments.code.own = code;
            return 0;
        }
        None => segments.writable.extend(loads().filter(|h| h.flags & 2 != 0).map(range)),
    }
    const THREAD_LOCAL: u32 = 7;
    if let Some(header) = headers.iter().find(|h| h.kind == THREAD_LOCAL && object.local_data != 0) {
        let below = crate::threads::context::fs_base().wrapping_sub(object.local_data);
        segments.locals.push((below, header.memory_size as usize));
    }
    0
}

/// The code of this library and of the program.
pub fn code() -> crate::threads::context::Code {
    let mut segments = Segments::default();
    // SAFETY: the callback has the right type.
    unsafe { dl_iterate_phdr(collect, (&raw mut segments).cast()) };
    segments.code
}

/// The mappings of the process that can be written to.
fn writable_mappings() -> Vec<Range<usize>> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let parse = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let range = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
        rest.starts_with("rw").then_some(range)
    };
    maps.lines().filter_map(parse).collect()
}

fn common(a: &Range<usize>, b: &Range<usize>) -> Option<Range<usize>> {
    let both = a.start.max(b.start)..a.end.min(b.end);
    (!both.is_empty()).then_some(both)
}

impl Snapshot {
    /// The memory that is copied, but for stacks and control blocks.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.data[..self.threads].iter().map(Copied::range)
    }

    /// Copies the current state.
    pub fn take(world: &mut World) -> Snapshot {
        let mut segments = Segments::default();
        // SAFETY: the callback has the right type.
        unsafe { dl_iterate_phdr(collect, (&raw mut segments).cast()) };
        world.shared.program_base = segments.base.unwrap_or(0) as u64;
        world.code = segments.code.clone();
        world.local_ranges = std::mem::take(&mut segments.locals);
        let mappings = writable_mappings();
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for segment in &segments.writable {
            // Parts that were made read-only after relocation are not among the writable mappings.
            ranges.extend(mappings.iter().filter_map(|m| common(m, segment)));
        }
        // Arguments and environment: the array of pointers to them, and the strings above it. The driver's own frames are below.
        let arguments = world.main[2];
        let above = mappings.iter().filter(|m| m.contains(&arguments)).map(|m| arguments..m.end);
        ranges.extend(above);
        let (start, end) = world.heap.start_range();
        ranges.push(start..end);
        ranges.push(crate::memory::heap::sizes_of(start..end));
        let mut data: Vec<Copied> = ranges.into_iter().map(Copied::new).collect();
        let threads = data.len();
        let (first, donor) = (&world.threads[0], &world.threads[1]);
        let mut main = 0..0;
        if !world.kernel_threads() {
            // The dynamic linker allocated it: the part of its mapping around the FS base, which is laid out as that of a
            // donor, where it ends the stack.
            let near = first.fs - (donor.fs - donor.own_frames())..first.fs + (donor.stack.end - donor.fs);
            let around = mappings.iter().filter(|m| m.contains(&first.fs));
            main = around.filter_map(|m| common(m, &near)).next().unwrap_or(0..0);
            data.extend(
                world.threads[1..].iter().map(|thread| Copied::new(thread.own_frames()..thread.stack.end)),
            );
        }
        Snapshot {
            written: watch(&data),
            pages: pages_of(&data),
            data,
            threads,
            main: Copied::new(main),
            keys: world.keys.len(),
            rewatch: false,
        }
    }
}

fn pages_of(data: &[Copied]) -> Vec<Range<usize>> {
    data.iter().map(|copied| whole_pages(&copied.range())).collect()
}

fn watch(data: &[Copied]) -> WrittenPages {
    WrittenPages::new(&pages_of(data))
}

fn scrub(thread: &Thread) {
    let lowest = (thread.lowest.min(thread.top) & !(CHUNK - 1)).max(thread.stack.start);
    // SAFETY: the part of a stack that is not in use now.
    unsafe {
        if thread.top - lowest > 1 << 20 {
            let page = lowest.next_multiple_of(4096);
            let length = (thread.top - page) & !4095;
            system_call(number::MADVISE, [page, length, 4, 0, 0, 0]);
            ((page + length) as *mut u8).write_bytes(0, thread.top - page - length);
        } else {
            (lowest as *mut u8).write_bytes(0, thread.top - lowest);
        }
        // Functions without hooks went deeper: down to the first chunk that nobody has touched.
        let mut chunk = lowest;
        while chunk >= thread.stack.start + CHUNK {
            chunk -= CHUNK;
            let words = std::slice::from_raw_parts_mut(chunk as *mut u64, CHUNK / 8);
            if words.iter().fold(0, |any, word| any | *word) == 0 {
                break;
            }
            words.fill(0);
        }
    }
}

impl World {
    /// Is this memory of the program that can be read: data, heap, stacks?
    pub fn is_memory(&self, range: Range<usize>) -> bool {
        let within = |outer: Range<usize>| outer.start <= range.start && range.end <= outer.end;
        let data = self.snapshot.iter().flat_map(|s| &s.data);
        crate::memory::heap::contains(range.start) && crate::memory::heap::contains(range.end)
            || data.map(Copied::range).any(within)
            || self.threads.iter().any(|t| within(t.stack.clone()))
    }

    /// This process is a new one, of which the kernel has taken no notes.
    pub fn rewatch(&mut self) {
        if let Some(snapshot) = &mut self.snapshot {
            snapshot.rewatch = true;
        }
    }

    /// Brings all memory of the program back to the start.
    pub fn restore(&mut self) {
        let Some(mut snapshot) = self.snapshot.take() else { return };
        if std::mem::take(&mut snapshot.rewatch) {
            snapshot.data.iter().for_each(Copied::restore);
            snapshot.written = watch(&snapshot.data);
        }
        // Nobody has used what belongs to threads without a name.
        let named = self.named.min(THREADS);
        let used = snapshot.threads + named - 1;
        let (data, pages) = (&snapshot.data[..used], &snapshot.pages[..used]);
        for (copied, pages) in data.iter().zip(pages) {
            copied.restore_edges(pages);
        }
        snapshot.written.for_all(pages, |number, part| data[number].restore_part(part));
        snapshot.main.restore();
        for (number, thread) in self.threads[..named].iter().enumerate() {
            if number == 0 || thread.status != crate::exploration::world::Status::Unborn {
                scrub(thread);
            }
        }
        self.keys.truncate(snapshot.keys);
        self.heap.restart();
        self.snapshot = Some(snapshot);
    }
}
