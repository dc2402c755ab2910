//! Numbers for 64-bit keys: each distinct key gets the next number, from 1. Five entries share a cache
//! line, so that a lookup is one memory access.

use crate::directory::{Directory, Segment};
use crate::hash::mix;


const LINE: usize = 5;

#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Line {
    keys: [u64; LINE],
    ids: [u32; LINE],
    used: u32,
}

const FREE: Line = Line { keys: [0; LINE], ids: [0; LINE], used: 0 };

#[derive(Debug, Default)]
struct Lines {
    lines: Vec<Line>,
    len: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Interner {
    directory: Directory<Lines>,
    full: bool,
}

#[inline(always)]
fn home(hash: u64, lines: usize) -> usize {
    ((u64::from(hash as u32) * lines as u64) >> 32) as usize
}

impl Lines {
    /// The number of `key`, or the line with a free place for it. No segment is ever full.
    #[inline(always)]
    fn find(&self, key: u64, hash: u64) -> Result<u32, usize> {
        let mut at = home(hash, self.lines.len());
        loop {
            // SAFETY: `home` is below the number of lines, and wrapping keeps `at` there.
            let line = unsafe { self.lines.get_unchecked(at) };
            for place in 0..LINE {
                if line.keys[place] == key && place < line.used as usize {
                    return Ok(line.ids[place]);
                }
            }
            if (line.used as usize) < LINE {
                return Err(at);
            }
            at += 1;
            if at == self.lines.len() {
                at = 0;
            }
        }
    }

    fn put(&mut self, at: usize, key: u64, id: u32) {
        let line = &mut self.lines[at];
        let place = line.used as usize;
        line.keys[place] = key;
        line.ids[place] = id;
        line.used += 1;
        self.len += 1;
    }

    /// Makes room for one more: at most three in four places are used.
    fn reserve(&mut self) {
        if (self.len as usize + 1) * 4 > self.lines.len() * LINE * 3 {
            let lines = (self.lines.len() + self.lines.len() / 3).max(1) + 1;
            let old = std::mem::replace(&mut self.lines, vec![FREE; lines]);
            self.len = 0;
            for line in &old {
                for place in 0..line.used as usize {
                    self.add(line.keys[place], mix(line.keys[place]), line.ids[place]);
                }
            }
        }
    }

    fn add(&mut self, key: u64, hash: u64, id: u32) {
        if let Err(at) = self.find(key, hash) {
            self.put(at, key, id);
        }
    }
}

impl Segment for Lines {
    fn bytes(&self) -> usize {
        self.lines.len() * size_of::<Line>()
    }

    fn drain_into(self, to: &mut dyn FnMut(u64) -> *mut Self) {
        for line in &self.lines {
            for place in 0..line.used as usize {
                let hash = mix(line.keys[place]);
                // SAFETY: `to` gives a live segment of the new directory, different from `self`.
                let segment = unsafe { &mut *to(hash) };
                segment.reserve();
                segment.add(line.keys[place], hash, line.ids[place]);
            }
        }
    }
}

impl Interner {
    /// The number of a key, a new one if it has none.
    #[inline(always)]
    pub(crate) fn intern(&mut self, key: u64) -> u32 {
        let hash = mix(key);
        let lines = self.directory.segment(hash);
        if !lines.lines.is_empty()
            && let Ok(id) = lines.find(key, hash)
        {
            return id;
        }
        self.intern_new(key, hash)
    }

    #[cold]
    #[inline(never)]
    fn intern_new(&mut self, key: u64, hash: u64) -> u32 {
        let next = self.directory.len() + 1;
        if next > u64::from(u32::MAX) {
            self.full = true;
            return u32::MAX;
        }
        let lines = self.directory.segment_mut(hash);
        lines.reserve();
        lines.add(key, hash, next as u32);
        self.directory.added();
        next as u32
    }


    /// Whether the numbers have run out; keys interned since then have no number of their own.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.directory.bytes()
    }
}
