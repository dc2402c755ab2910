//! How several threads add entries to the same lines, without locks.
//!
//! A line is a cache line of places, taken in order and never given back. So two threads that add the same key try for the same free
//! place: the one that loses finds the key there, or one that is not its own, and goes on to the next place. An entry that fits a word (a root)
//! is one exchange of 0 for it. A node has a key and a number: the number is exchanged from 0 for [`BUSY`], then the key is
//! written, then the number, with release; who reads a number with acquire sees its key whole. (Laarman, van de Pol, Weber, "Boosting multi-core
//! reachability performance with shared hash tables", 2010.)
//!
//! Nothing here waits except for the few instructions between claiming a place and writing its number. A table is never filled up: who adds an
//! entry needs a ticket for it, and there are fewer tickets than places. Generic over the atomic words, so that the protocol is
//! checked by loom on all interleavings of small tables (the tests below, see CONTRIBUTING.md).

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
    /// Exchanges 0 for a value; gives what is there instead if that is not 0.
    fn claim(&self, value: T) -> Result<(), T>;
}

macro_rules! words {
    ($ordering:path; $($atomic:ty: $word:ty),*) => {$(
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
            fn claim(&self, value: $word) -> Result<(), $word> {
                use $ordering as Ordering;
                self.compare_exchange(0, value, Ordering::AcqRel, Ordering::Acquire).map(|_| ())
            }
        }
    )*};
}

words!(std::sync::atomic::Ordering; std::sync::atomic::AtomicU32: u32, std::sync::atomic::AtomicU64: u64);
#[cfg(all(test, loom))]
words!(loom::sync::atomic::Ordering; loom::sync::atomic::AtomicU32: u32, loom::sync::atomic::AtomicU64: u64);

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

/// There is no ticket or no number left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short;

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
                    return Err(Short);
                }
                match number.claim(BUSY) {
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

/// Is a hash there, looked for from line `at` of `lines` on? What was written before it was added is seen.
#[inline]
pub fn find<'a, W: Word<u64> + 'a>(
    line: impl Fn(usize) -> &'a [W; 8],
    lines: usize,
    mut at: usize,
    hash: u64,
) -> bool {
    loop {
        for place in line(at) {
            match place.look() {
                0 => return false,
                found if found == hash => return true,
                _ => {}
            }
        }
        at = if at + 1 == lines { 0 } else { at + 1 };
    }
}

/// Adds a hash, not 0, from line `at` of `lines` on; whether it is new.
#[inline]
pub fn insert<'a, W: Word<u64> + 'a>(
    line: impl Fn(usize) -> &'a [W; 8],
    lines: usize,
    mut at: usize,
    hash: u64,
    tickets: &mut u32,
) -> Result<bool, Short> {
    loop {
        for place in line(at) {
            let mut found = place.peek();
            if found == 0 {
                if *tickets == 0 {
                    return Err(Short);
                }
                match place.claim(hash) {
                    Ok(()) => {
                        *tickets -= 1;
                        return Ok(true);
                    }
                    Err(other) => found = other,
                }
            }
            if found == hash {
                return Ok(false);
            }
        }
        at = if at + 1 == lines { 0 } else { at + 1 };
    }
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

    #[test]
    fn a_hash_is_new_once() {
        loom::model(|| {
            // A line with two free places, then one that is free.
            let line = |taken: usize, base: u64| {
                std::array::from_fn(|place| {
                    AtomicU64::new(if place < taken { base + place as u64 } else { 0 })
                })
            };
            let lines: Arc<Vec<[AtomicU64; 8]>> = Arc::new(vec![line(7, 100), line(6, 200)]);
            let add = |lines: &[[AtomicU64; 8]], hash: u64| {
                insert(|at| &lines[at], 2, 0, hash, &mut 9).expect("there are tickets")
            };
            let other = lines.clone();
            let second = thread::spawn(move || [add(&other, 1), add(&other, 2)]);
            let first = [add(&lines, 2), add(&lines, 1)];
            let second = second.join().expect("it ends");
            assert!(first[0] != second[1] && first[1] != second[0], "{first:?} {second:?}");
            assert!(!add(&lines, 1) && !add(&lines, 2) && !add(&lines, 205));
        });
    }

    /// Who finds a hash in the second table finds it in the first, where it was added before.
    #[test]
    fn what_is_found_was_added_elsewhere_before() {
        loom::model(|| {
            let table = || Arc::new(vec![std::array::from_fn::<_, 8, _>(|_| AtomicU64::new(0))]);
            let (fresh, roots) = (table(), table());
            let add = |lines: &[[AtomicU64; 8]], hash: u64| {
                insert(|at| &lines[at], 1, 0, hash, &mut 9).expect("there are tickets")
            };
            let (other_fresh, other_roots) = (fresh.clone(), roots.clone());
            let second = thread::spawn(move || {
                add(&other_fresh, 3);
                add(&other_roots, 3)
            });
            let found = find(|at| &roots[at], 1, 0, 3);
            assert!(!found || find(|at| &fresh[at], 1, 0, 3));
            if !found {
                add(&fresh, 3);
            }
            let first = !found && add(&roots, 3);
            assert!(first != second.join().expect("it ends"), "one of them finds it new");
            assert!(find(|at| &roots[at], 1, 0, 3) && find(|at| &fresh[at], 1, 0, 3));
        });
    }
}
