//! Which pages of the program's memory were ever written to since the snapshot was taken.
//!
//! Pages are write-protected once by the kernel's asynchronous userfault write protection (Linux 6.7 and later): the first
//! write to a page, also one by the kernel itself, takes the protection off and is remembered; later ones cost nothing.
//! `PAGEMAP_SCAN` then lists the pages that were ever written, and only these have to be copied back. Most of the data of the
//! C library is never written. Where the kernel has none of this, everything counts as written.
//!
//! Taking off the protection is a page fault, also if the kernel itself writes. So as long as the kernel thread that runs the
//! program has had no fault since the pages were listed, the list is still right, and asking for the number of faults is much
//! cheaper than asking for the pages.

use std::ops::Range;

use crate::protocol::SESSION_DESCRIPTOR;
use crate::system::system_call::{number, system_call};

const PAGE: usize = 4096;
/// The most runs of written pages in an answer.
const MOST_RUNS: usize = 64;

// From the kernel's linux/userfaultfd.h and linux/fs.h.
const API: usize = 0xc018_aa3f;
const REGISTER: usize = 0xc020_aa00;
const WRITE_PROTECT: usize = 0xc018_aa06;
const PAGEMAP_SCAN: usize = 0xc060_6610;
const API_VERSION: u64 = 0xaa;
const ASYNCHRONOUS: u64 = 1 << 15 | 1 << 13 | 1;
const REGISTER_FOR_WRITES: u64 = 2;
const PAGE_IS_WRITTEN: u64 = 2;
const USER_MODE_ONLY_CLOSE_ON_EXEC: usize = 1 | 0o2_000_000;

/// A run of pages in the kernel's answer.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Run {
    start: u64,
    end: u64,
    categories: u64,
}

/// The kernel's way to tell which pages were written.
pub struct WrittenPages {
    /// The process's page map, if the kernel can tell.
    page_map: Option<usize>,
    runs: [Run; MOST_RUNS],
    /// Faults of this kernel thread before the pages were last listed.
    faults: Option<u64>,
    /// What was listed, and where the list of each range ends.
    listed: Vec<Range<usize>>,
    ends: Vec<usize>,
}

/// The number of page faults of the calling kernel thread so far.
fn faults() -> Option<u64> {
    const GETRUSAGE: usize = 98;
    const THIS_THREAD: usize = 1;
    let mut usage = [0u64; 18];
    let result = call(GETRUSAGE, THIS_THREAD, usage.as_mut_ptr() as usize, 0);
    // Without and with input and output: after two times and four numbers of memory.
    (result == 0).then(|| usage[8] + usage[9])
}

fn call(number_of: usize, a: usize, b: usize, c: usize) -> isize {
    // SAFETY: only called with what the calls below want.
    unsafe { system_call(number_of, [a, b, c, 0, 0, 0]) }
}

/// The whole pages of a range; the rest of it is copied always.
pub fn whole_pages(range: &Range<usize>) -> Range<usize> {
    let (start, end) = (range.start.next_multiple_of(PAGE), range.end & !(PAGE - 1));
    if start < end { start..end } else { range.start..range.start }
}

impl WrittenPages {
    /// Starts to take note of writes to these ranges of whole pages.
    pub fn new(ranges: &[Range<usize>]) -> WrittenPages {
        let runs = [Run::default(); MOST_RUNS];
        WrittenPages { page_map: watch(ranges), runs, faults: None, listed: Vec::new(), ends: Vec::new() }
    }

    /// Calls `restore` with each part of the ranges, of whole pages, that may have been written to, and the number of its
    /// range. The ranges are the first ones of those that are watched.
    #[inline]
    pub fn for_all(&mut self, ranges: &[Range<usize>], mut restore: impl FnMut(usize, Range<usize>)) {
        let now = faults();
        if now.is_none() || now != self.faults || ranges.len() != self.ends.len() {
            // Faults from here on, those of this list included, are not in the number: it is looked at again next time.
            self.faults = now;
            self.listed.clear();
            self.ends.clear();
            for range in ranges {
                let mut listed = std::mem::take(&mut self.listed);
                self.for_each(range, |part| listed.push(part));
                self.listed = listed;
                self.ends.push(self.listed.len());
            }
        }
        let mut from = 0;
        for (number, end) in self.ends.iter().enumerate() {
            self.listed[from..*end].iter().for_each(|part| restore(number, part.clone()));
            from = *end;
        }
    }

    fn for_each(&mut self, range: &Range<usize>, mut restore: impl FnMut(Range<usize>)) {
        let Some(page_map) = self.page_map else { return restore(range.clone()) };
        let mut at = range.start;
        while at < range.end {
            let mut question = [0u64; 12];
            question[0] = size_of_val(&question) as u64;
            question[2] = at as u64;
            question[3] = range.end as u64;
            question[5] = self.runs.as_mut_ptr() as u64;
            question[6] = MOST_RUNS as u64;
            question[9] = PAGE_IS_WRITTEN;
            question[11] = PAGE_IS_WRITTEN;
            let found = call(number::IOCTL, page_map, PAGEMAP_SCAN, question.as_mut_ptr() as usize);
            // `walk_end` is where the kernel stopped.
            let reached = question[4] as usize;
            if found < 0 || reached <= at {
                return restore(at..range.end);
            }
            for run in &self.runs[..found as usize] {
                restore(run.start as usize..run.end as usize);
            }
            at = reached;
        }
    }
}

/// Write-protects the ranges; gives a descriptor of the page map if that was possible for all of them.
fn watch(ranges: &[Range<usize>]) -> Option<usize> {
    let faults = call(number::USERFAULTFD, USER_MODE_ONLY_CLOSE_ON_EXEC, 0, 0);
    if faults < 0 {
        return None;
    }
    let faults = out_of_the_way(faults as usize, SESSION_DESCRIPTOR as usize + 2)?;
    let mut api = [API_VERSION, ASYNCHRONOUS, 0];
    if call(number::IOCTL, faults, API, api.as_mut_ptr() as usize) < 0 {
        return None;
    }
    for range in ranges.iter().filter(|r| !r.is_empty()) {
        let (start, length) = (range.start as u64, range.len() as u64);
        let mut register = [start, length, REGISTER_FOR_WRITES, 0];
        let mut protect = [start, length, 1];
        if call(number::IOCTL, faults, REGISTER, register.as_mut_ptr() as usize) < 0
            || call(number::IOCTL, faults, WRITE_PROTECT, protect.as_mut_ptr() as usize) < 0
        {
            return None;
        }
    }
    let map = call(number::OPEN, c"/proc/self/pagemap".as_ptr() as usize, 0o2_000_000, 0);
    if map < 0 {
        return None;
    }
    out_of_the_way(map as usize, SESSION_DESCRIPTOR as usize + 3)
}

/// Moves a descriptor to where the program's are not.
fn out_of_the_way(descriptor: usize, to: usize) -> Option<usize> {
    let moved = call(number::DUP2, descriptor, to, 0);
    call(number::CLOSE, descriptor, 0, 0);
    (moved >= 0).then_some(to)
}
