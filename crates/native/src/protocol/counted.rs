//! Loops that only count (see `native/counted_loops.rs`).

/// The most variables of such a loop.
pub const COUNTED: usize = 4;
/// The most such loops.
pub const LOOPS: usize = 1 << 10;

/// A variable of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct CountedSlot {
    /// What a round adds to it.
    pub step: i64,
    /// Where it is, relative to the frame pointer.
    pub distance: i32,
    /// Its bytes, 4 or 8; 0: there is none.
    pub size: u32,
}

/// A loop that only counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Counted {
    /// Where its head is in the program's file.
    pub address: u64,
    /// Its variables.
    pub slots: [CountedSlot; COUNTED],
    /// What is added to the counter where it is compared.
    pub counter_plus: i64,
    /// What is added to the limit, or the limit itself.
    pub limit_plus: i64,
    /// The variable that counts.
    pub counter: u8,
    /// The variable that it is compared with; [`COUNTED`]: a constant.
    pub limit: u8,
    /// See [`compares`].
    pub comparison: u8,
    /// Bytes of the first instruction.
    pub length: u8,
}

/// How the counter is related to the limit for as long as the loop goes on.
pub mod compares {
    /// Below it.
    pub const LESS: u8 = 0;
    /// Below it or equal.
    pub const AT_MOST: u8 = 1;
    /// Above it.
    pub const GREATER: u8 = 2;
    /// Above it or equal.
    pub const AT_LEAST: u8 = 3;
    /// Not equal.
    pub const DIFFERENT: u8 = 4;
    /// Without signs.
    pub const UNSIGNED: u8 = 8;
}

impl Counted {
    /// How many rounds can be made at once before the last one that goes on, where the counter and what it is compared with
    /// have these values. The comparison holds in all of them, and in the one after them.
    pub fn rounds(&self, counter: i64, limit: i64) -> u64 {
        let slot = self.slots[usize::from(self.counter)];
        let unsigned = self.comparison & compares::UNSIGNED != 0;
        let value = |v: i64| match (slot.size, unsigned) {
            (4, false) => i128::from(v as i32),
            (4, true) => i128::from(v as u32),
            (_, false) => i128::from(v),
            (_, true) => i128::from(v as u64),
        };
        let step = match slot.size {
            4 => i128::from(slot.step as i32),
            _ => i128::from(slot.step),
        };
        let (from, to) = (value(counter), value(limit));
        // The distance that is left, in the direction of the steps: the loop goes on while it is above 0.
        let left = match self.comparison & !compares::UNSIGNED {
            compares::LESS if step > 0 => to - from,
            compares::AT_MOST if step > 0 => to - from + 1,
            compares::GREATER if step < 0 => from - to,
            compares::AT_LEAST if step < 0 => from - to + 1,
            compares::DIFFERENT if step != 0 && (to - from) % step == 0 => (to - from) * step.signum(),
            _ => 0,
        };
        // Rounds in which it goes on: before each, what is left is above 0, so nothing has overflowed.
        let rounds = (left + step.abs() - 1) / step.abs().max(1);
        u64::try_from(rounds - 1).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loop itself, with a counter of 4 bytes.
    fn goes_on(comparison: u8, counter: i32, limit: i32) -> bool {
        match comparison {
            compares::LESS => counter < limit,
            compares::AT_MOST => counter <= limit,
            compares::GREATER => counter > limit,
            compares::AT_LEAST => counter >= limit,
            compares::DIFFERENT => counter != limit,
            unsigned => {
                let (counter, limit) = (counter as u32, limit as u32);
                match unsigned & !compares::UNSIGNED {
                    compares::LESS => counter < limit,
                    compares::AT_MOST => counter <= limit,
                    compares::GREATER => counter > limit,
                    _ => counter >= limit,
                }
            }
        }
    }

    #[test]
    fn rounds_are_those_of_the_loop() {
        let edges = [i32::MIN, i32::MIN + 1, -7, -2, -1, 0, 1, 2, 5, 40, i32::MAX - 3, i32::MAX];
        let comparisons = [0, 1, 2, 3, 4, 8, 9, 10, 11];
        let (mut whole, mut none) = (0, 0);
        for (comparison, step) in comparisons.into_iter().flat_map(|c| [-3, -1, 1, 2].map(|s| (c, s))) {
            let slots = [CountedSlot { step, distance: 0, size: 4 }; COUNTED];
            let counted = Counted { slots, comparison, limit: COUNTED as u8, ..Counted::default() };
            for (from, limit) in edges.into_iter().flat_map(|f| edges.map(|l| (f, l))) {
                let rounds = counted.rounds(i64::from(from), i64::from(limit));
                let (mut counter, mut real) = (from, 0u64);
                while real < 100 && goes_on(comparison, counter, limit) {
                    counter = counter.wrapping_add(step as i32);
                    real += 1;
                }
                if rounds > 0 {
                    assert!(
                        rounds < real || real == 100,
                        "{comparison} {step}: {from} to {limit}, {rounds} of {real}"
                    );
                }
                // One that ends without an overflow is told to its end.
                let ends = real < 100 && (i64::from(from) + step * real as i64) == i64::from(counter);
                if ends && comparison & compares::UNSIGNED == 0 {
                    assert_eq!(rounds, real.saturating_sub(1), "{comparison} {step}: {from} to {limit}");
                    whole += 1;
                }
                none += u32::from(rounds == 0);
            }
        }
        assert!(whole > 500 && none > 500, "{whole} {none}");
    }
}
