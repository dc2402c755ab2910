//! Synchronisation objects and atomic cells: their numbers, which mean the same in every execution, and their state.
//!
//! A synchronisation object is known by its address. A *cell* is a range of bytes accessed by atomic (or, if races are
//! allowed, racing) accesses; accesses that overlap belong to one cell. Cells that turn out to overlap are made one, and the
//! exploration starts again, since numbers given before no longer mean what they meant.

use crate::exploration::clock::{Clock, clear};
use crate::memory::table::Table;
use crate::protocol::THREADS;

/// Nobody.
pub const NOBODY: u8 = 255;

/// The state of an object in the current execution.
#[derive(Clone)]
pub struct Object {
    generation: u32,
    /// Is this the state of a primitive that exists (initialised or used)?
    pub known: bool,
    /// Which kind of primitive (`lifecycle`); 0: of none that is initialised.
    pub kind: u8,
    /// Has it been destroyed?
    pub destroyed: bool,
    /// Who has it.
    pub owner: u8,
    /// How often (recursive mutexes); size (barriers).
    pub count: u32,
    /// The value that blocking operations look at.
    pub value: i64,
    /// Who has it for reading; who is at the barrier.
    pub set: u64,
    /// Who waits, oldest first; who has it for reading, once for each time but the first (reader-writer locks).
    pub waiters: Vec<u8>,
    /// What happens before the next acquisition.
    pub clock: Clock,
    /// The same for writers: what readers released.
    pub readers_clock: Clock,
}

impl Object {
    fn fresh(generation: u32) -> Object {
        Object {
            generation,
            known: false,
            kind: 0,
            destroyed: false,
            owner: NOBODY,
            count: 0,
            value: 0,
            set: 0,
            waiters: Vec::new(),
            clock: [0; THREADS],
            readers_clock: [0; THREADS],
        }
    }

    fn reset(&mut self, generation: u32) {
        self.generation = generation;
        self.forget();
    }

    /// A primitive of this kind begins its life here.
    pub fn begin(&mut self, kind: u8, value: i64) {
        self.forget();
        (self.known, self.kind, self.value) = (true, kind, value);
    }

    /// There is no primitive any more.
    pub fn forget(&mut self) {
        (self.known, self.kind, self.destroyed, self.owner) = (false, 0, false, NOBODY);
        (self.count, self.value, self.set) = (0, 0, 0);
        self.waiters.clear();
        clear(&mut self.clock);
        clear(&mut self.readers_clock);
    }
}

/// What is known of eight bytes of memory: which cells they belong to.
#[derive(Clone, Copy, Default)]
struct Granule {
    /// Number of the cell of each byte, plus one; 0: none.
    cells: [u32; 8],
}

/// All objects.
pub struct Objects {
    numbers: Table<u32>,
    /// Where each object lies and, for cells, how large its accesses are.
    extents: Vec<(usize, usize)>,
    states: Vec<Object>,
    /// States at the start of every execution: of what constructors initialised.
    baseline: Vec<(usize, Object)>,
    generation: u32,
    granules: Table<Granule>,
    /// Of each number: the number it was merged into, if any.
    merged: Vec<u32>,
    /// Of each number: can plain accesses to it race, so that they are visible?
    racing: Vec<bool>,
    /// Is there such a number?
    some_race: bool,
    /// Of each number: are its accesses all of one size at one address?
    uniform: Vec<bool>,
}

impl Objects {
    /// None yet.
    pub fn new() -> Objects {
        Objects {
            numbers: Table::new(),
            extents: Vec::new(),
            states: Vec::new(),
            baseline: Vec::new(),
            generation: 1,
            granules: Table::new(),
            merged: Vec::new(),
            racing: Vec::new(),
            some_race: false,
            uniform: Vec::new(),
        }
    }

    fn new_number(&mut self, address: usize, size: usize) -> u32 {
        let number = self.states.len() as u32;
        self.states.push(Object::fresh(0));
        self.extents.push((address, size));
        self.merged.push(number);
        self.racing.push(false);
        self.uniform.push(true);
        number
    }

    /// The number of the primitive at `address`.
    pub fn number(&mut self, address: usize) -> u32 {
        let known = *self.numbers.entry(address);
        if known != 0 {
            return known - 1;
        }
        let number = self.new_number(address, 0);
        *self.numbers.entry(address) = number + 1;
        number
    }

    /// The state of an object.
    #[inline]
    pub fn state(&mut self, number: u32) -> &mut Object {
        let generation = self.generation;
        let state = &mut self.states[number as usize];
        if state.generation != generation {
            state.reset(generation);
        }
        state
    }

    /// The state of an object, if it was used in this execution.
    #[inline]
    pub fn peek(&self, number: u32) -> Option<&Object> {
        self.states.get(number as usize).filter(|state| state.generation == self.generation)
    }

    /// The states of all objects used in this execution.
    pub fn in_use(&self) -> impl Iterator<Item = &Object> {
        self.states.iter().filter(|state| state.generation == self.generation)
    }

    /// The same, to be changed.
    pub fn in_use_mut(&mut self) -> impl Iterator<Item = &mut Object> {
        let generation = self.generation;
        self.states.iter_mut().filter(move |state| state.generation == generation)
    }

    /// Remembers the current states as those of the start.
    pub fn set_baseline(&mut self) {
        let generation = self.generation;
        let states = self.states.iter().enumerate();
        self.baseline =
            states.filter(|(_, s)| s.generation == generation).map(|(n, s)| (n, s.clone())).collect();
    }

    /// Back to the start.
    pub fn restart(&mut self) {
        self.generation += 1;
        for (number, state) in &self.baseline {
            self.states[*number] = Object { generation: self.generation, ..state.clone() };
        }
    }

    fn root(&self, mut number: u32) -> u32 {
        while self.merged[number as usize] != number {
            number = self.merged[number as usize];
        }
        number
    }

    /// The cell of a range of bytes, and whether what was known of cells has changed: they were made one, or its values
    /// turned out not to be comparable.
    pub fn cell(&mut self, address: usize, size: usize) -> (u32, bool) {
        let mut found: Option<u32> = None;
        let mut merged = false;
        let mut missing = false;
        for byte in address..address + size {
            let cell = self.granules.entry(byte >> 3).cells[byte & 7];
            if cell == 0 {
                missing = true;
                continue;
            }
            let cell = self.root(cell - 1);
            match found {
                None => found = Some(cell),
                Some(first) if first != cell => {
                    self.merged[cell as usize] = first;
                    self.racing[first as usize] |= self.racing[cell as usize];
                    self.uniform[first as usize] = false;
                    merged = true;
                }
                Some(_) => {}
            }
        }
        let number = found.unwrap_or_else(|| self.new_number(address, size));
        if missing {
            for byte in address..address + size {
                let cell = &mut self.granules.entry(byte >> 3).cells[byte & 7];
                if *cell == 0 {
                    *cell = number + 1;
                }
            }
        }
        // A known cell of another extent: still one number, but values of different accesses are not comparable.
        if self.extents[number as usize] != (address, size) && self.uniform[number as usize] {
            self.uniform[number as usize] = false;
            merged = true;
        }
        (number, merged)
    }

    /// The cells that have bytes in a range.
    pub fn cells_in(&self, address: usize, size: usize) -> Vec<u32> {
        let granules = self.granules.keys((address >> 3)..(address + size.max(1)).div_ceil(8));
        let mut found: Vec<u32> = Vec::new();
        for granule in granules {
            let Some(cells) = self.granules.get(granule).map(|g| g.cells) else { continue };
            for (byte, cell) in cells.into_iter().enumerate() {
                let inside = (address..address + size).contains(&(granule << 3 | byte));
                if inside && cell != 0 && found.last() != Some(&self.root(cell - 1)) {
                    found.push(self.root(cell - 1));
                }
            }
        }
        found
    }

    /// Is this byte part of a cell whose plain accesses are visible?
    #[inline]
    pub fn races_at(&self, byte: usize) -> bool {
        match self.granules.get(byte >> 3) {
            Some(granule) if granule.cells[byte & 7] != 0 => {
                self.racing[self.root(granule.cells[byte & 7] - 1) as usize]
            }
            _ => false,
        }
    }

    /// Is any of these bytes part of such a cell?
    pub fn range_races(&self, address: usize, size: usize) -> bool {
        let granules = (address >> 3)..=((address + size.max(1) - 1) >> 3);
        let bytes = |granule: usize| (granule << 3).max(address)..((granule << 3) + 8).min(address + size);
        granules
            .filter(|granule| self.granules.get(*granule).is_some_and(|g| g.cells != [0; 8]))
            .any(|granule| bytes(granule).any(|byte| self.races_at(byte)))
    }

    /// Are plain accesses to some bytes visible?
    pub fn has_racing(&self) -> bool {
        self.some_race
    }

    /// Makes plain accesses to these bytes visible; says whether that is new.
    pub fn make_visible(&mut self, address: usize, size: usize) -> bool {
        let (number, merged) = self.cell(address, size);
        let new = !self.racing[number as usize];
        self.racing[number as usize] = true;
        self.some_race = true;
        new || merged
    }

    /// How often it is held, or the size of a barrier.
    pub fn count(&self, number: u32) -> u32 {
        self.peek(number).map_or(0, |state| state.count)
    }

    /// Where an object lies.
    pub fn address(&self, number: u32) -> usize {
        self.extents.get(number as usize).map_or(0, |extent| extent.0)
    }

    /// The racing cells, as ranges of bytes: address and size.
    pub fn racing_cells(&self) -> Vec<(usize, usize)> {
        // Of cells that were made one, every part.
        let races = |n: &usize| self.racing[self.root(*n as u32) as usize];
        (0..self.extents.len()).filter(races).map(|n| self.extents[n]).filter(|extent| extent.1 > 0).collect()
    }

    /// Can the values of accesses to this cell be compared?
    pub fn is_uniform(&self, number: u32) -> bool {
        self.uniform[number as usize]
    }
}
