//! A hash table from addresses to small values that can be emptied in constant time.

use std::ops::Range;

/// Open addressing; an entry is valid if it is of the current generation.
pub struct Table<V> {
    entries: Vec<(usize, u32, V)>,
    generation: u32,
    used: usize,
}

impl<V: Copy + Default> Table<V> {
    /// An empty table.
    pub fn new() -> Table<V> {
        Table { entries: vec![(0, 0, V::default()); 256], generation: 1, used: 0 }
    }

    #[inline]
    fn slot(&self, key: usize) -> usize {
        let mask = self.entries.len() - 1;
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) & mask;
        loop {
            let entry = &self.entries[slot];
            if entry.1 != self.generation || entry.0 == key {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The value of `key`.
    #[inline]
    pub fn get(&self, key: usize) -> Option<V> {
        let entry = &self.entries[self.slot(key)];
        (entry.1 == self.generation).then_some(entry.2)
    }

    /// All keys and their values.
    pub fn iter(&self) -> impl Iterator<Item = (usize, V)> + '_ {
        self.entries.iter().filter(|entry| entry.1 == self.generation).map(|entry| (entry.0, entry.2))
    }

    /// The keys of a range, in order: by looking for each of them, or through the table, whichever is shorter.
    pub fn keys(&self, range: Range<usize>) -> Vec<usize> {
        let mut keys: Vec<usize> = if range.len() < self.entries.len() {
            range.filter(|key| self.get(*key).is_some()).collect()
        } else {
            self.iter().map(|(key, _)| key).filter(|key| range.contains(key)).collect()
        };
        keys.sort_unstable();
        keys
    }

    /// The value of `key`, which is put in if it is not there.
    #[inline]
    pub fn entry(&mut self, key: usize) -> &mut V {
        if self.used * 4 >= self.entries.len() * 3 {
            self.grow();
        }
        let slot = self.slot(key);
        let entry = &mut self.entries[slot];
        if entry.1 != self.generation {
            *entry = (key, self.generation, V::default());
            self.used += 1;
        }
        &mut self.entries[slot].2
    }

    fn grow(&mut self) {
        let larger = vec![(0, 0, V::default()); self.entries.len() * 2];
        let old = std::mem::replace(&mut self.entries, larger);
        for (key, generation, value) in old {
            if generation == self.generation {
                let slot = self.slot(key);
                self.entries[slot] = (key, generation, value);
            }
        }
    }

    /// Empties the table.
    pub fn clear(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.used = 0;
        if self.generation == 0 {
            self.entries.fill((0, 0, V::default()));
            self.generation = 1;
        }
    }
}
