//! Common conditions and changes, done without the interpreter.
//!
//! Most conditions compare bytes (variables, elements of arrays, constants), and most changes store a byte, or the sum or
//! difference of two. These are kept as tables of tests and changes. An operand is found by adding offsets to one of
//! three addresses, the state, the thread's segment, and a table of *constants*: whatever depends on nothing but the
//! thread's id, one row of 256 bytes each. So reading an operand takes no decision but the check of its index, and a
//! comparison none at all; what a processor cannot predict is only which test comes next.
//!
//! What has no such form (wide integers, products, assertions, …) is left to the interpreter, which computes the same.

use crate::code::SiteAt;
use crate::eval::Frame;
use crate::machine::Machine;

/// What an operand's offset counts from: index into the addresses of [`Addresses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Base {
    State = 0,
    Thread = 1,
    Constants = 2,
}

/// Bytes in a row of constants: one for each thread id.
pub(crate) const ROW: u32 = 256;

/// A byte: at an offset, plus an index that is itself a byte at an offset. Without an index of its own it has the constant
/// 0 as its index and 1 as its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) at: u32,
    pub(crate) index_at: u32,
    /// The index must be below this.
    pub(crate) len: u32,
    pub(crate) site: SiteAt,
    pub(crate) base: Base,
    pub(crate) index_base: Base,
}

/// A comparison, and where to go on after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    pub(crate) left: Operand,
    pub(crate) right: Operand,
    /// Outcomes that count as true: bit 0 for less, 1 for equal, 2 for greater.
    pub(crate) accepts: u32,
    /// The next test, [`PASS`] or [`FAIL`]: when false, when true.
    pub(crate) next: [u32; 2],
}

/// A store of `left + right`, or of `left - right`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) to: Operand,
    pub(crate) left: Operand,
    pub(crate) right: Operand,
    pub(crate) subtract: bool,
    pub(crate) mask: u8,
}

/// The condition holds.
pub(crate) const PASS: u32 = u32::MAX;
/// The condition does not hold.
pub(crate) const FAIL: u32 = u32::MAX - 1;
/// The interpreter must be asked.
pub(crate) const INTERPRET: u32 = u32::MAX - 2;

/// A transformation's condition and changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direct {
    /// Its first test, [`PASS`], [`FAIL`] or [`INTERPRET`].
    pub(crate) condition: u32,
    /// Its changes; `first` may be [`INTERPRET`].
    pub(crate) first: u32,
    pub(crate) end: u32,
}

/// All tests and changes of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directs {
    /// By number of the transformation.
    pub(crate) list: Vec<Direct>,
    pub(crate) tests: Vec<Test>,
    pub(crate) changes: Vec<Change>,
    /// Rows of [`ROW`] bytes; the first holds zeros.
    pub(crate) constants: Vec<u8>,
}

/// The addresses that offsets of operands are added to, by [`Base`].
struct Addresses([*mut u8; 3]);

impl Addresses {
    /// Where an operand lies, or the site of a wrong index.
    ///
    /// # Safety
    /// The operand must have been compiled for the program whose state and constants these are: then its offsets are
    /// inside what they count from, and an index below the length stays there.
    #[inline(always)]
    unsafe fn place(&self, operand: &Operand) -> Result<*mut u8, SiteAt> {
        // SAFETY: by this function's contract.
        unsafe {
            let index = *self.0[operand.index_base as usize].add(operand.index_at as usize);
            if u32::from(index) >= operand.len {
                return Err(operand.site);
            }
            Ok(self.0[operand.base as usize].add(operand.at as usize + usize::from(index)))
        }
    }

    /// The value of an operand.
    ///
    /// # Safety
    /// As for [`Addresses::place`].
    #[inline(always)]
    unsafe fn value(&self, operand: &Operand) -> Result<u8, SiteAt> {
        // SAFETY: by this function's contract.
        unsafe { Ok(*self.place(operand)?) }
    }
}

impl Directs {
    #[inline(always)]
    fn addresses(&self, frame: Frame) -> Addresses {
        // SAFETY: a thread's segment is inside the state, and thread ids are below 256, the length of the first row.
        unsafe {
            Addresses([
                frame.memory,
                frame.memory.add(frame.base as usize),
                self.constants.as_ptr().add(frame.thread as usize).cast_mut(),
            ])
        }
    }
}

impl Machine {
    /// Whether a transformation that has a condition can be taken; `interpret` is asked where there are no tests.
    #[inline(always)]
    pub(crate) fn condition(
        &mut self,
        number: u32,
        frame: Frame,
        interpret: impl FnOnce(&mut Machine) -> Result<bool, SiteAt>,
    ) -> Result<bool, SiteAt> {
        let directs = &self.code.directs;
        // SAFETY: there is one for each transformation.
        let mut at = unsafe { directs.list.get_unchecked(number as usize) }.condition;
        let addresses = directs.addresses(frame);
        while at < INTERPRET {
            // SAFETY: what is not a mark is the number of a test, and the test was compiled for this program.
            unsafe {
                let test = directs.tests.get_unchecked(at as usize);
                let left = addresses.value(&test.left)?;
                let right = addresses.value(&test.right)?;
                let outcome = 1 + u32::from(left > right) - u32::from(left < right);
                at = *test.next.get_unchecked((test.accepts >> outcome & 1) as usize);
            }
        }
        if at == INTERPRET { interpret(self) } else { Ok(at == PASS) }
    }

    /// Does the changes of a transformation on the state at `frame`. `None` when it is for the interpreter to do.
    #[inline(always)]
    pub(crate) fn change(&mut self, number: u32, frame: Frame) -> Option<Result<(), SiteAt>> {
        let directs = &self.code.directs;
        // SAFETY: as above.
        let Direct { first, end, .. } = *unsafe { directs.list.get_unchecked(number as usize) };
        if first == INTERPRET {
            return None;
        }
        let addresses = directs.addresses(frame);
        for at in first..end {
            // SAFETY: as above; a change never has a constant as its goal.
            unsafe {
                let change = directs.changes.get_unchecked(at as usize);
                let operands = addresses.value(&change.left).and_then(|left| {
                    let right = addresses.value(&change.right)?;
                    Ok((left, right, addresses.place(&change.to)?))
                });
                let (left, right, to) = match operands {
                    Ok(operands) => operands,
                    Err(site) => return Some(Err(site)),
                };
                let right = if change.subtract { right.wrapping_neg() } else { right };
                *to = left.wrapping_add(right) & change.mask;
            }
        }
        Some(Ok(()))
    }
}
