//! Symmetry where only fair runs count.
//!
//! Weak fairness is to each thread by its name, and states stand for others in which threads are called otherwise. The search
//! therefore follows names (`search/liveness.rs`), and a component of representatives is judged by which threads can have
//! whose part (`machine/claim/omega.rs`, after Emerson and Sistla).
//!
//! A counterexample is looked for with threads in their places, objects renamed only, over the states that those of the component stand
//! for. So they must be recognised by their representative, which must be canonical. Its fairness is checked again.
//!
//! Threads keep their places with other orders, and where a program with objects starts threads: the name of a thread that has ended is given to another,
//! and which name that is depends on all the others.

use quotient_machine::{Asked, Fair, Machine, RENAMED, Renaming};
use quotient_program::{Action, Program};
use quotient_seams::{Marks, Omega, Representative as Stands, Walk, Worker};
use quotient_symmetry::thread_order::ThreadOrder;
use quotient_symmetry::{Order, Ordered};

use crate::Check;
use crate::symmetry_choice::{Representative, Symmetry};

/// Do only fair runs of this machine count?
pub(crate) fn asked(machine: &Machine, check: &Check<'_>) -> bool {
    check.fair && machine.program().claim.as_ref().is_some_and(|c| c.cycles)
}

/// Does the program start threads while it runs?
pub(crate) fn starts_threads(program: &Program) -> bool {
    let transformations =
        program.functions.iter().flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
    transformations.flat_map(|t| &t.actions).any(|a| matches!(a, Action::Start { .. }))
}

/// Why threads must keep their places.
pub(crate) fn refusal(program: &Program, symmetry: Symmetry) -> Option<&'static str> {
    if !matches!(symmetry, Symmetry::Exact) {
        return Some("--fair needs a canonical order, and --symmetry pc and kbots are not canonical");
    }
    (program.features.dynamic && starts_threads(program)).then_some(
        "only fair runs count, and threads that are started get the names of others that have ended",
    )
}

/// What stands for the states of a program with objects when threads keep their places. Nothing does without objects, nor where threads
/// are started: even the order that leaves threads alone closes the gaps that ended threads leave.
pub(crate) fn in_place(machine: &Machine) -> Option<Representative> {
    if starts_threads(machine.program()) {
        return None;
    }
    let states = Renaming::new(machine, Vec::new(), Asked::default());
    states.opaque().is_some().then(|| Ordered::new(states, Order::Heap(ThreadOrder::None)))
}

/// The representative of a machine, where only its fair runs count.
pub(crate) struct OfFair<'a, R> {
    stands: &'a mut R,
    /// For threads in their places.
    in_place: Option<Representative>,
    /// The last state had its threads renamed.
    renamed: bool,
}

impl<'a, R: Stands<Machine>> OfFair<'a, R> {
    pub(crate) fn new(stands: &'a mut R, machine: &Machine) -> OfFair<'a, R> {
        let in_place = if R::CHANGES { in_place(machine) } else { None };
        OfFair { stands, in_place, renamed: false }
    }
}

impl<R: Stands<Machine>> Stands<Fair> for OfFair<'_, R> {
    const CHANGES: bool = R::CHANGES;

    fn representative(&mut self, system: &Fair, state: &[u64], out: &mut Vec<u64>) -> bool {
        // Only so many names can be followed.
        self.renamed = R::CHANGES && system.0.thread_total(state) <= RENAMED as usize;
        if self.renamed {
            self.stands.representative(&system.0, state, out)
        } else {
            self.with_threads_in_place(system, state, out)
        }
    }

    fn name(&self) -> &'static str {
        self.stands.name()
    }

    fn is_canonical(&self) -> bool {
        self.stands.is_canonical()
    }

    fn renames(&self) -> bool {
        self.stands.renames()
    }

    fn new_name(&self, thread: u32) -> u32 {
        if self.renamed { self.stands.new_name(thread) } else { thread }
    }

    fn with_threads_in_place(&mut self, system: &Fair, state: &[u64], out: &mut Vec<u64>) -> bool {
        self.in_place.as_mut().is_some_and(|stands| stands.representative(&system.0, state, out))
    }
}

/// Is the run that ends in this cycle, in real names, fair to every thread?
pub(crate) fn is_fair(machine: &mut Machine, choices: &[u32], cycle: usize) -> bool {
    let Some((&first, rest)) = choices.split_first() else { return false };
    let machine = &mut Fair(machine.another());
    let Ok(mut walk) = Walk::start(machine, first) else { return false };
    let (mut met, mut steps) = (<Fair as Omega>::Marks::NONE, Vec::new());
    for (index, &choice) in rest.iter().enumerate() {
        if walk.look(machine).is_err() || choice as usize >= walk.looked().len() {
            return false;
        }
        if index + cycle >= rest.len() {
            met.add(machine.state_marks(walk.state()));
            machine.step_marks(walk.state(), walk.looked(), &mut steps);
            met.add(steps[choice as usize]);
        }
        if walk.take(choice as usize).is_err() {
            return false;
        }
    }
    met.is_full()
}
