//! How several threads add entries to the same lines, without locks.
//!
//! A line is a cache line of places, taken in order and never given back. So two threads that add the same key try for the same free
//! place: the one that loses finds the key there, or one that is not its own, and goes on to the next place. Roots are entries in lanes of a word
//! ([`crate::packed`]): the word without the entry is exchanged for the word with it in its first free lane; who loses looks at the same word again. A node has a key and a number: the number is exchanged from 0 for [`BUSY`], then the key is
//! written, then the number, with release; who reads a number with acquire sees its key whole. (Laarman, van de Pol, Weber, "Boosting multi-core
//! reachability performance with shared hash tables", 2010.)
//!
//! Nothing here waits except for the few instructions between claiming a place and writing its number. A table is never filled up: who adds an
//! entry needs a ticket for it, and there are fewer tickets than places. Generic over the atomic words, so that the protocol is
//! checked by loom on all interleavings of small tables (the tests below, see CONTRIBUTING.md).

use crate::packed::{FARTHEST, Format};

/// A word that threads share; 0 at first.
pub trait Word<T> {
    /// Reads it, with nothing said about others.
    fn peek(&self) -> T;
    /// Reads it; what was written before it was [published](Word::publish) is seen.
    fn look(&self) -> T;
    /// Writes it, with nothing said about others.
    fn put(&self, value: T);
    /// Writes it after everything written before.
    fn publish(&self, value: T);
    /// Exchanges one value for another; gives what is there instead if that is not the first.
    fn exchange(&self, before: T, after: T) -> Result<(), T>;
    /// Looks at eight words, one after the other in any order. `MODERN`: the processor has AVX.
    #[inline(always)]
    fn eight<const MODERN: bool>(words: &[Self; 8]) -> [T; 8]
    where
        Self: Sized,
    {
        std::array::from_fn(|at| words[at].look())
    }
}

macro_rules! words {
    ($ordering:path; $($atomic:ty: $word:ty $({ $($more:tt)* })?),*) => {$(
        impl $crate::claim::Word<$word> for $atomic {
            #[inline(always)]
            fn peek(&self) -> $word {
                use $ordering as Ordering;
                self.load(Ordering::Relaxed)
            }

            #[inline(always)]
            fn look(&self) -> $word {
                use $ordering as Ordering;
                self.load(Ordering::Acquire)
            }

            #[inline(always)]
            fn put(&self, value: $word) {
                use $ordering as Ordering;
                self.store(value, Ordering::Relaxed);
            }

            #[inline(always)]
            fn publish(&self, value: $word) {
                use $ordering as Ordering;
                self.store(value, Ordering::Release);
            }

            #[inline(always)]
            fn exchange(&self, before: $word, after: $word) -> Result<(), $word> {
                use $ordering as Ordering;
                self.compare_exchange(before, after, Ordering::AcqRel, Ordering::Acquire).map(|_| ())
            }

            $($($more)*)?
        }
    )*};
}

words!(std::sync::atomic::Ordering; std::sync::atomic::AtomicU32: u32, std::sync::atomic::AtomicU64: u64 {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn eight<const MODERN: bool>(words: &[Self; 8]) -> [u64; 8] {
        let start = words.as_ptr().cast::<u32>();
        // SAFETY: the eight words are there, and threads write to them only as is said above. Each is read whole.
        let read = std::array::from_fn::<_, 4, _>(|two| unsafe { load::<MODERN>(start.add(4 * two)) });
        // SAFETY: all bits are a value of both.
        unsafe { std::mem::transmute::<[std::arch::x86_64::__m128i; 4], [u64; 8]>(read) }
    }
});
#[cfg(all(test, loom))]
words!(loom::sync::atomic::Ordering; loom::sync::atomic::AtomicU32: u32, loom::sync::atomic::AtomicU64: u64);

/// Four words of 32 bits, or two of 64, that other threads may write to meanwhile. `MODERN`: the processor has AVX.
///
/// # Safety
/// The words are there, and are written to as said above only.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn load<const MODERN: bool>(at: *const u32) -> std::arch::x86_64::__m128i {
    let four: std::arch::x86_64::__m128i;
    // SAFETY: by this function's contract. To the compiler this is what relaxed atomic loads are (it may assume nothing about them); the processor
    // reads each aligned word whole, and loads one after the other as they stand in the program, so that what was published before a word was
    // is seen. The newer form of the instruction does the same; mixed with others of its kind it is the faster one.
    unsafe {
        if MODERN {
            std::arch::asm!("vmovdqu {four}, [{at}]", at = in(reg) at, four = out(xmm_reg) four, options(nostack, preserves_flags, readonly));
        } else {
            std::arch::asm!("movdqu {four}, [{at}]", at = in(reg) at, four = out(xmm_reg) four, options(nostack, preserves_flags, readonly));
        }
    }
    four
}

/// The number of a node whose key is being written.
pub const BUSY: u32 = u32::MAX;

/// What a thread may still add to a part of a table before it asks for more.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// Places that are counted as taken already.
    pub tickets: u32,
    /// Numbers for nodes.
    pub numbers: std::ops::Range<u32>,
}

/// What is lacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Short {
    /// A ticket, or a number.
    Tickets,
    /// A free lane near enough, or lanes wide enough.
    Lanes,
}

/// The number of a key, looked for from line `at` of `lines` on; a new one from the budget if it has none. A line is the first slots of all keys, then
/// the second ones and so on, then the numbers, as in [`crate::interner`].
#[inline]
pub fn intern<'a, W: Word<u32> + 'a, const SLOTS: usize, const PLACES: usize>(
    line: impl Fn(usize) -> &'a [W; 16],
    lines: usize,
    mut at: usize,
    key: &[u32; SLOTS],
    budget: &mut Budget,
) -> Result<u32, Short> {
    loop {
        let cells = line(at);
        for place in 0..PLACES {
            let number = &cells[SLOTS * PLACES + place];
            let mut found = number.look();
            if found == 0 {
                if budget.tickets == 0 || budget.numbers.is_empty() {
                    return Err(Short::Tickets);
                }
                match number.exchange(0, BUSY) {
                    Ok(()) => {
                        for (slot, value) in key.iter().enumerate() {
                            cells[slot * PLACES + place].put(*value);
                        }
                        let new = budget.numbers.start;
                        number.publish(new);
                        budget.numbers.start += 1;
                        budget.tickets -= 1;
                        return Ok(new);
                    }
                    Err(other) => found = other,
                }
            }
            let mut waited = 0u32;
            while found == BUSY {
                pause(&mut waited);
                found = number.look();
            }
            if (0..SLOTS).all(|slot| cells[slot * PLACES + place].peek() == key[slot]) {
                return Ok(found);
            }
        }
        at = if at + 1 == lines { 0 } else { at + 1 };
    }
}

/// Is an entry there, looked for from its own line `at` of `lines` on? What was written before it was added is seen.
#[inline(always)]
pub fn find<'a, const MODERN: bool, W: Word<u64> + 'a>(
    line: impl Fn(usize) -> &'a [W; 8],
    lines: usize,
    mut at: usize,
    format: Format,
    entry: u64,
) -> bool {
    for away in 0..=FARTHEST as u64 {
        let words = W::eight::<MODERN>(line(at));
        if format.any_holds(&words, entry + away) {
            return true;
        }
        // Words that were full had all that they will ever have; the first that was not had nothing behind it when it was read.
        if format.full_words(&words) < 8 {
            return false;
        }
        at = if at + 1 == lines { 0 } else { at + 1 };
    }
    false
}

/// Adds an entry, from its own line `at` of `lines` on; whether it is new. Fails without a ticket for it, and where all lines that are near enough are full.
///
/// The words of a line need not be read at the same time. Those before the first that was not full have all that they will ever have. If that one is exchanged as it was read,
/// nothing has been added behind it: so the entry was nowhere in the line.
#[inline(always)]
pub fn insert<'a, const MODERN: bool, W: Word<u64> + 'a>(
    line: impl Fn(usize) -> &'a [W; 8],
    lines: usize,
    mut at: usize,
    format: Format,
    entry: u64,
    tickets: &mut u32,
) -> Result<bool, Short> {
    for away in 0..=FARTHEST as u64 {
        let places = line(at);
        loop {
            let words = W::eight::<MODERN>(places);
            if format.any_holds(&words, entry + away) {
                return Ok(false);
            }
            let full = format.full_words(&words);
            if full == 8 {
                break;
            }
            if *tickets == 0 {
                return Err(Short::Tickets);
            }
            let word = words[full];
            if places[full].exchange(word, format.with(word, entry + away)).is_ok() {
                *tickets -= 1;
                return Ok(true);
            }
        }
        at = if at + 1 == lines { 0 } else { at + 1 };
    }
    Err(Short::Lanes)
}

/// Waits a moment: whoever writes needs a few instructions, unless it is not running at all.
#[inline]
fn pause(waited: &mut u32) {
    #[cfg(all(test, loom))]
    loom::thread::yield_now();
    *waited += 1;
    if *waited < 64 { std::hint::spin_loop() } else { std::thread::yield_now() }
}

#[cfg(all(test, loom))]
mod tests {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU32, AtomicU64};
    use loom::thread;

    use super::*;

    fn budget(first: u32) -> Budget {
        Budget { tickets: 4, numbers: first..first + 4 }
    }

    /// Two lines of nodes with three slots: twice four places, of which the first two of a line are free, so that few ways are left to look at.
    fn lines() -> Arc<Vec<[AtomicU32; 16]>> {
        let line = |base: u32| {
            std::array::from_fn(|word| {
                // Places 0 and 1 hold other keys already.
                let taken = word % 4 < 2;
                AtomicU32::new(if taken { base + word as u32 } else { 0 })
            })
        };
        Arc::new(vec![line(1000), line(2000)])
    }

    fn number(lines: &[[AtomicU32; 16]], key: [u32; 3], budget: &mut Budget) -> u32 {
        intern::<_, 3, 4>(|at| &lines[at], 2, 0, &key, budget).expect("there are tickets")
    }

    #[test]
    fn a_key_has_one_number_and_a_number_one_key() {
        loom::model(|| {
            let lines = lines();
            let other = lines.clone();
            let second = thread::spawn(move || {
                let mut budget = budget(50);
                [number(&other, [7, 8, 9], &mut budget), number(&other, [7, 8, 10], &mut budget)]
            });
            let mut own = budget(10);
            let first = [number(&lines, [7, 8, 10], &mut own), number(&lines, [7, 8, 9], &mut own)];
            let second = second.join().expect("it ends");
            assert_eq!([first[1], first[0]], second, "both threads have the same numbers");
            assert_ne!(first[0], first[1]);
            // They are there, and nothing is new.
            let mut none = Budget::default();
            assert_eq!(number(&lines, [7, 8, 9], &mut none), second[0]);
            assert_eq!(number(&lines, [7, 8, 10], &mut none), second[1]);
        });
    }

    /// Two lanes of 32 bits to a word.
    fn format() -> Format {
        let format = Format::new(1 << 12, 0, 0);
        assert!(!format.is_full(1) && format.is_full(1 << 32 | 1));
        format
    }

    /// Lines whose first words are full, of other entries.
    fn words(taken: &[usize]) -> Arc<Vec<[AtomicU64; 8]>> {
        let line = |taken: usize| {
            let full = |word: u64| ((word + 500) << 32 | (word + 600)) << 3 | 1;
            std::array::from_fn(|word| AtomicU64::new(if word < taken { full(word as u64) } else { 0 }))
        };
        Arc::new(taken.iter().map(|taken| line(*taken)).collect())
    }

    fn add(lines: &[[AtomicU64; 8]], entry: u64) -> bool {
        insert::<false, _>(|at| &lines[at], lines.len(), 0, format(), entry << 3 | 1, &mut 9)
            .expect("there are tickets")
    }

    fn there(lines: &[[AtomicU64; 8]], entry: u64) -> bool {
        find::<false, _>(|at| &lines[at], lines.len(), 0, format(), entry << 3 | 1)
    }

    #[test]
    fn a_hash_is_new_once() {
        loom::model(|| {
            // A line with one free word of two lanes, then one that is free.
            let lines = words(&[7, 6]);
            let other = lines.clone();
            let second = thread::spawn(move || [add(&other, 1), add(&other, 2)]);
            let first = [add(&lines, 2), add(&lines, 1)];
            let second = second.join().expect("it ends");
            assert!(first[0] != second[1] && first[1] != second[0], "{first:?} {second:?}");
            assert!(!add(&lines, 1) && !add(&lines, 2));
            assert!(there(&lines, 1) && there(&lines, 2) && !there(&lines, 3));
        });
    }

    /// The last lane of a line is taken by one of two threads; the other's entry goes to the next line, as one that is one line away.
    #[test]
    fn entries_pushed_to_the_next_line_are_new_once() {
        loom::model(|| {
            let lines = words(&[7, 7]);
            assert!(add(&lines, 9));
            let other = lines.clone();
            let second = thread::spawn(move || [add(&other, 1), add(&other, 2)]);
            let first = add(&lines, 2);
            let second = second.join().expect("it ends");
            assert!(second[0] && first != second[1], "{first:?} {second:?}");
            assert!(there(&lines, 1) && there(&lines, 2) && there(&lines, 9) && !add(&lines, 2));
        });
    }

    /// Both threads try for the last lane of a line with the same entry: the one that loses sees a line that is full, and must find its entry there.
    #[test]
    fn the_last_lane_of_a_line_is_looked_at_again() {
        loom::model(|| {
            let lines = words(&[7, 6]);
            assert!(add(&lines, 9));
            let other = lines.clone();
            let second = thread::spawn(move || [add(&other, 2), there(&other, 2)]);
            let first = add(&lines, 2);
            assert!(there(&lines, 2));
            let second = second.join().expect("it ends");
            assert!(first != second[0] && second[1], "{first} {second:?}");
            let next = lines[1].iter().map(Word::peek).collect::<Vec<u64>>();
            assert!(next[6..] == [0, 0], "nothing has gone to the next line: {next:x?}");
        });
    }

    /// Who finds a hash in the second table finds it in the first, where it was added before.
    #[test]
    fn what_is_found_was_added_elsewhere_before() {
        loom::model(|| {
            let (fresh, roots) = (words(&[0]), words(&[0]));
            let (other_fresh, other_roots) = (fresh.clone(), roots.clone());
            let second = thread::spawn(move || {
                add(&other_fresh, 3);
                add(&other_roots, 3)
            });
            let found = there(&roots, 3);
            assert!(!found || there(&fresh, 3));
            if !found {
                add(&fresh, 3);
            }
            let first = !found && add(&roots, 3);
            assert!(first != second.join().expect("it ends"), "one of them finds it new");
            assert!(there(&roots, 3) && there(&fresh, 3));
        });
    }
}
