//! Single scalars of a packed state, for those who map states to states: where a variable or a thread's
//! location lies, to be read and written as a number.

use quotient_program::{Type, VariableId};

use crate::machine::Machine;
use crate::state::cell::{Cell, scalar_of};

/// What a scalar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// The number of the shape: states with equal numbers have the same threads and channels at the same places.
    Shape,
    /// The location of a thread.
    Location {
        /// The thread.
        thread: usize,
    },
    /// A scalar of a global variable, counted through its fields and elements.
    Global {
        /// The variable.
        variable: VariableId,
        /// Which of its scalars.
        scalar: usize,
    },
    /// A scalar of a thread's local variable.
    Local {
        /// The thread.
        thread: usize,
        /// The variable.
        variable: VariableId,
        /// Which of its scalars.
        scalar: usize,
    },
}

/// Where a scalar lies in every state of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarPlace {
    at: u32,
    cell: Cell,
}

impl ScalarPlace {
    /// The value in a state of the shape the place belongs to.
    ///
    /// # Panics
    /// When the state is too short for the place, so of another shape.
    pub fn get(self, state: &[u64]) -> i32 {
        assert!((self.at + self.cell.size()) as usize <= 8 * state.len(), "the state has another shape");
        // SAFETY: the bytes are inside the state.
        unsafe { self.cell.load(state.as_ptr().cast::<u8>().add(self.at as usize)) }
    }

    /// Changes the value, wrapped to its type.
    ///
    /// # Panics
    /// When the state is too short for the place, so of another shape.
    pub fn set(self, state: &mut [u64], value: i32) {
        assert!((self.at + self.cell.size()) as usize <= 8 * state.len(), "the state has another shape");
        // SAFETY: the bytes are inside the state.
        unsafe { self.cell.store(state.as_mut_ptr().cast::<u8>().add(self.at as usize), value) }
    }
}

impl Machine {
    /// Where a scalar lies in states of the shape of `state`; `None` when they have no such thing.
    pub fn scalar_place(&self, state: &[u64], scalar: Scalar) -> Option<ScalarPlace> {
        let shape = self.shape_at(state.as_ptr().cast());
        match scalar {
            Scalar::Shape => {
                let cell =
                    if self.layout.shape_size == 2 { Cell::U16(u16::MAX) } else { Cell::U32(u32::MAX) };
                Some(ScalarPlace { at: 0, cell })
            }
            Scalar::Location { thread } => {
                let instance = shape.threads.get(thread)?;
                let cell = Cell::of_size(self.layout.threads[instance.kind as usize].location_size);
                Some(ScalarPlace { at: instance.at, cell })
            }
            Scalar::Global { variable, scalar } => {
                let ty = &self.program.globals.get(variable.0 as usize)?.ty;
                self.within(ty, *self.layout.globals.get(variable.0 as usize)?, scalar)
            }
            Scalar::Local { thread, variable, scalar } => {
                let instance = shape.threads.get(thread)?;
                let function = &self.program.functions[instance.kind as usize];
                let ty = &function.locals.get(variable.0 as usize)?.ty;
                let at = *self.layout.threads[instance.kind as usize].locals.get(variable.0 as usize)?;
                self.within(ty, instance.at + at, scalar)
            }
        }
    }

    /// The scalar number `scalar` of a value at byte `at`.
    fn within(&self, ty: &Type, at: u32, scalar: usize) -> Option<ScalarPlace> {
        let (within, cell) = scalar_of(&self.program, ty, scalar)?;
        Some(ScalarPlace { at: at + within, cell })
    }
}
