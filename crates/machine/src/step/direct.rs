//! Common conditions and changes, done without the interpreter.
//!
//! Most conditions compare bytes (variables, elements of arrays, constants), and most changes store a byte, or the sum or
//! difference of two. These are kept as tables of tests and changes. An operand is found by adding offsets to one of
//! three addresses, the state, the thread's segment, and a table of *constants*: whatever depends on nothing but the
//! thread's id, one row of 256 bytes each. So reading an operand takes no decision but the check of its index, and a
//! comparison none at all; what a processor cannot predict is only which test comes next.
//!
//! What has no such form (wide integers, products, assertions, …) is left to the interpreter, which computes the same.

use quotient_seams::Successors;

use crate::code::SiteAt;
use crate::machine::Machine;
use crate::state::shapes::Instance;
use crate::step::eval::Frame;

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

/// `else`: true when nothing else was.
pub(crate) const OTHERWISE: u32 = u32::MAX - 3;
/// The least of the marks; smaller numbers are those of tests.
const MARKS: u32 = OTHERWISE;

/// A transformation's condition and changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direct {
    /// Its first test, [`PASS`], [`FAIL`], [`OTHERWISE`] or [`INTERPRET`].
    pub(crate) condition: u32,
    /// Its changes; `first` may be [`INTERPRET`].
    pub(crate) first: u32,
    pub(crate) end: u32,
    /// Where the thread goes.
    pub(crate) target: u16,
    /// The step ends there, and the changes need no interpreter.
    pub(crate) quick: bool,
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

impl Addresses {
    /// The addresses for another state of the same shape.
    #[inline(always)]
    fn on(&self, memory: *mut u8, frame: Frame) -> Addresses {
        // SAFETY: a thread's segment is inside the state.
        Addresses([memory, unsafe { memory.add(frame.base as usize) }, self.0[Base::Constants as usize]])
    }

    /// Does tests, from `at` on, until a mark is reached.
    ///
    /// # Safety
    /// As for [`Addresses::place`]; what is not a mark must be the number of one of the tests.
    #[inline(always)]
    unsafe fn test(&self, tests: *const Test, mut at: u32) -> Result<u32, SiteAt> {
        while at < MARKS {
            // SAFETY: by this function's contract.
            unsafe {
                let test = &*tests.add(at as usize);
                let left = self.value(&test.left)?;
                let right = self.value(&test.right)?;
                let outcome = 1 + u32::from(left > right) - u32::from(left < right);
                at = *test.next.get_unchecked((test.accepts >> outcome & 1) as usize);
            }
        }
        Ok(at)
    }

    /// Does the changes from `first` up to `end`.
    ///
    /// # Safety
    /// As for [`Addresses::place`]; the changes must exist. (A change never has a constant as its goal.)
    #[inline(always)]
    unsafe fn change(&self, changes: *const Change, first: u32, end: u32) -> Result<(), SiteAt> {
        for at in first..end {
            // SAFETY: by this function's contract.
            unsafe {
                let change = &*changes.add(at as usize);
                let left = self.value(&change.left)?;
                let right = self.value(&change.right)?;
                let right = if change.subtract { right.wrapping_neg() } else { right };
                *self.place(&change.to)? = left.wrapping_add(right) & change.mask;
            }
        }
        Ok(())
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
        // SAFETY: there is one for each transformation; it is of the program whose state this is.
        let at = unsafe {
            let first = directs.list.get_unchecked(number as usize).condition;
            directs.addresses(frame).test(directs.tests.as_ptr(), first)?
        };
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
        // SAFETY: as above.
        Some(unsafe { directs.addresses(frame).change(directs.changes.as_ptr(), first, end) })
    }

    /// Adds the steps of a thread that stands at a direct location, while no step is being explained and nothing must be
    /// done to states before they are stored. The same steps in the same order as `plain_moves`, which says more.
    #[inline(always)]
    pub(crate) fn direct_moves(
        &mut self,
        state: &[u64],
        thread: u32,
        instance: Instance,
        (first, end): (u32, u32),
        out: &mut Successors,
    ) {
        // The tables do not move while a state is expanded, and stores to states do not change them; the compiler does
        // not know that.
        let directs = &self.code.directs;
        let (list, tests) = (directs.list.as_ptr(), directs.tests.as_ptr());
        let changes = directs.changes.as_ptr();
        let memory = state.as_ptr().cast::<u8>().cast_mut();
        let frame = Frame { memory, base: instance.at, thread, received: 0 };
        let addresses = directs.addresses(frame);
        let mut moved = false;
        for number in first..end {
            // SAFETY: a location's transformations are in the list, and everything is of this program.
            let direct = unsafe { &*list.add(number as usize) };
            // SAFETY: as above.
            match unsafe { addresses.test(tests, direct.condition) } {
                Ok(PASS) => {}
                Ok(OTHERWISE) if !moved => {}
                Ok(_) => continue,
                Err(site) => {
                    moved = true;
                    self.violate_at(site, thread, number, state, out);
                    continue;
                }
            }
            moved = true;
            let draft = out.draft(state).as_mut_ptr().cast::<u8>();
            if !direct.quick {
                self.plain_step(number, instance, thread, out);
                continue;
            }
            // SAFETY: as above; the draft is a state of the same shape.
            let changed = unsafe { addresses.on(draft, frame).change(changes, direct.first, direct.end) };
            // SAFETY: `taken` has an element for each transformation.
            unsafe { *self.taken.get_unchecked_mut(number as usize) += 1 };
            if let Err(site) = changed {
                self.plain_fault(site, thread, number, 0, out);
                continue;
            }
            self.put_location(draft, instance.at, instance.kind, u32::from(direct.target));
            out.commit(None);
        }
    }
}
