//! Classes of the states of a graph whose processes end in the order of their numbers.
//!
//! In Promela a process ceases to exist only when it is the youngest. So where processes end, states that are alike otherwise differ in which of
//! them are still there, and no renaming keeps the model as it is written. A check leaves such ends out where nobody notices them
//! ([`Model::without_ends`]): its states are those here with the ended processes at their ends, and so are the classes of this file.
//! Which state of that program a state here is follows from the steps that lead to it, without the ends.

use quotient_engine::{Check, Model, Representative, Symmetry, representative};
use quotient_explain::{Move, possible};
use quotient_machine::Machine;
use quotient_seams::{Representative as _, Successors, System};

/// The program without ends, and what stands for its states.
pub(crate) struct Ends {
    machine: Machine,
    stands: Representative,
}

impl Ends {
    /// None where there are no such ends, or nothing can be renamed without them either.
    pub(crate) fn new(model: &Model) -> Option<Ends> {
        let mut machine = model.without_ends()?;
        let check = Check { raw: true, symmetry: Some(Symmetry::Exact), ..Check::default() };
        let stands = representative(&mut machine, &check)?;
        Some(Ends { machine, stands })
    }

    /// For each state the one that stands for it, found by what leads there: the number of a state before, the step, and whether that is the end
    /// of a process. None where the two programs do not have the same steps.
    pub(crate) fn stand(
        &mut self,
        found_by: impl Iterator<Item = Option<(usize, Move, bool)>>,
    ) -> Option<Vec<Vec<u64>>> {
        let mut initial = Successors::new();
        self.machine.initial(&mut initial).ok()?;
        let first = (0..initial.len()).find(|i| initial.entry(*i).has_state())?;
        let mut states: Vec<Vec<u64>> = Vec::new();
        for found_by in found_by {
            let state = match found_by {
                None => initial.state(first).to_vec(),
                Some((before, _, true)) => states[before].clone(),
                Some((before, way, false)) => {
                    let ways = possible(&mut self.machine, &states[before]);
                    ways.into_iter().find(|p| p.way == way)?.record.state?
                }
            };
            states.push(state);
        }
        let Ends { machine, stands } = self;
        let one = |state: Vec<u64>| {
            let mut out = Vec::new();
            if stands.representative(machine, &state, &mut out) { out } else { state }
        };
        Some(states.into_iter().map(one).collect())
    }
}
