//! Numbers for 64-bit keys: each distinct key gets the next number, from 1. Five entries share a cache
//! line, so that a lookup is one memory access.

use crate::directory::{Directory, Segment, home};
use crate::hash::mix;
use crate::memory::{Plain, Zeroed};

const LINE: usize = 5;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line {
    keys: [u64; LINE],
    /// 0 marks a free place: numbers start at 1.
    ids: [u32; LINE],
}

// SAFETY: integers only.
unsafe impl Plain for Line {}

#[derive(Debug)]
struct Lines {
    lines: Zeroed<Line>,
    len: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Lines::with_units(0)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Interner {
    directory: Directory<Lines>,
    full: bool,
}

impl Lines {
    /// The number of `key`, or the line and place where it belongs. There must be a free place.
    #[inline(always)]
    fn find(&self, key: u64, hash: u64, depth: u32) -> Result<u32, (usize, usize)> {
        let mut at = home(hash, depth, self.lines.len());
        loop {
            // SAFETY: `home` is below the number of lines, and wrapping keeps `at` there.
            let line = unsafe { self.lines.get_unchecked(at) };
            for place in 0..LINE {
                if line.ids[place] == 0 {
                    return Err((at, place));
                }
                if line.keys[place] == key {
                    return Ok(line.ids[place]);
                }
            }
            at += 1;
            if at == self.lines.len() {
                at = 0;
            }
        }
    }

    fn put(&mut self, (at, place): (usize, usize), key: u64, id: u32) {
        let line = &mut self.lines[at];
        line.keys[place] = key;
        line.ids[place] = id;
        self.len += 1;
    }
}

impl Segment for Lines {
    fn with_units(units: usize) -> Self {
        Lines { lines: Zeroed::new(units), len: 0 }
    }

    fn units(&self) -> usize {
        self.lines.len()
    }

    // 32 MiB.
    const MOST_UNITS: usize = 1 << 19;

    fn next_units(units: usize) -> usize {
        if units < 1 << 10 { (units * 2).max(4) } else { (units + units / 4).min(Self::MOST_UNITS) }
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        // At most four in five places are used.
        (self.len + 1) * 5 > self.lines.len() * LINE * 4
    }

    fn move_into(&mut self, new_depth: u32, lower: &mut Self, mut upper: Option<&mut Self>) {
        for line in self.lines.iter() {
            for place in (0..LINE).filter(|p| line.ids[*p] != 0) {
                let hash = mix(line.keys[place]);
                let to = match &mut upper {
                    Some(upper) if hash >> (64 - new_depth) & 1 == 1 => &mut **upper,
                    _ => &mut *lower,
                };
                if let Err(free) = to.find(line.keys[place], hash, new_depth) {
                    to.put(free, line.keys[place], line.ids[place]);
                }
            }
        }
    }

    fn bytes(&self) -> usize {
        self.lines.bytes()
    }
}

impl Interner {
    /// The number of a key, a new one if it has none.
    #[inline(always)]
    pub(crate) fn intern(&mut self, key: u64) -> u32 {
        let hash = mix(key);
        let (lines, depth) = self.directory.segment(hash);
        if !lines.lines.is_empty()
            && let Ok(id) = lines.find(key, hash, depth)
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
        let (lines, depth) = self.directory.segment_with_room(hash);
        if let Err(free) = lines.find(key, hash, depth) {
            lines.put(free, key, next as u32);
        }
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
