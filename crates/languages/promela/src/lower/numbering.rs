//! The numbers that SPIN gives statements, which its trails consist of.
//!
//! SPIN numbers the elements of all processes and claims as it makes them (`flow.c`, `new_el`), one count for the whole text; formulas come after
//! everything else. Within a process the order is that in which elements are made here ([`super::elements`]).

use quotient_program::FunctionId;

/// A part of the model with statements.
#[derive(Debug)]
pub(super) struct Numbered {
    /// Its place among the parts of the model.
    pub(super) unit: usize,
    /// The function that it has become, if it is a process.
    pub(super) function: Option<FunctionId>,
    /// The numbers of its transformations by location, counted from its first.
    pub(super) numbers: Vec<Vec<u32>>,
    /// How many elements it has.
    pub(super) made: u32,
}

impl Numbered {
    /// A claim or an observer.
    pub(super) fn other(unit: usize, made: u32) -> Numbered {
        Numbered { unit, function: None, numbers: Vec::new(), made }
    }
}

/// The numbers by function, location and position.
pub(super) fn numbers(functions: usize, mut parts: Vec<Numbered>) -> Vec<Vec<Vec<u32>>> {
    parts.sort_by_key(|part| part.unit);
    let mut all = vec![Vec::new(); functions];
    let mut first = 0;
    for part in parts {
        if let Some(place) = part.function.and_then(|id| all.get_mut(id.0 as usize)) {
            let shifted = part.numbers.into_iter().map(|l| l.into_iter().map(|n| n + first).collect());
            *place = shifted.collect();
        }
        first += part.made;
    }
    all
}
