//! Which numbers are names, in states of one set of threads.
//!
//! That is found by `quotient-identity`, once for every shape in which no more threads can be started; states of other shapes
//! stand for themselves.
//!
//! A local variable that is dead has no value: if it holds an identity, its zero is not a reference to thread 0.

use quotient_identity::{Code, Identities, analyse};
use quotient_program::{Action, Expr, Function, FunctionId, Program};

use super::picture::Slot;
use crate::machine::Machine;

/// What the analysis is asked with.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    /// Evaluated from outside in every state.
    properties: Vec<Expr>,
    /// For each function and location the locals that are dead there and therefore zero.
    dead: Vec<Vec<Vec<bool>>>,
    /// For each function and location whether a thread can still start another from there; empty for functions that never
    /// do.
    starts: Vec<Vec<bool>>,
    /// Some function starts threads.
    starter: bool,
}

impl Numbers {
    pub(super) fn new(program: &Program, dead: Vec<Vec<Vec<bool>>>, properties: Vec<Expr>) -> Numbers {
        let starts: Vec<Vec<bool>> = program.functions.iter().map(starts).collect();
        Numbers { properties, dead, starter: starts.iter().any(|s| !s.is_empty()), starts }
    }

    /// What may be renamed in states of a shape in which nobody can be started any more.
    pub(super) fn analyse(&self, machine: &Machine, shape: usize) -> Identities {
        let threads: Vec<FunctionId> =
            machine.shapes.list[shape].threads.iter().map(|t| FunctionId(t.kind)).collect();
        let properties: Vec<&Expr> = self.properties.iter().collect();
        let code = |function: FunctionId| {
            let starts = &self.starts[function.0 as usize];
            let locations = machine.program.function(function).locations.len();
            let settled = if threads.contains(&function) { Code::Live } else { Code::Settled };
            if starts.is_empty() {
                vec![settled; locations]
            } else {
                starts.iter().map(|starts| if *starts { Code::Past } else { settled }).collect()
            }
        };
        analyse(&machine.program, &threads, &code, &properties)
    }

    /// Can a thread of this state still start another?
    #[inline]
    pub(super) fn may_start(&self, machine: &Machine, memory: *const u8) -> bool {
        self.starter
            && machine.shape_at(memory).threads.iter().any(|t| {
                let starts = &self.starts[t.kind as usize];
                !starts.is_empty() && starts[machine.location(memory, t.at, t.kind) as usize]
            })
    }

    /// Is a slot part of a dead variable?
    pub(super) fn is_dead(&self, machine: &Machine, state: &[u64], slot: &Slot) -> bool {
        let Some(local) = slot.local else { return false };
        let location = machine.location(state.as_ptr().cast(), local.segment, local.function);
        let locations = self.dead.get(local.function as usize);
        locations.and_then(|l| l.get(location as usize)).is_some_and(|dead| dead[local.variable as usize])
    }
}

/// For each location whether a start is still ahead; empty if there is none.
fn starts(function: &Function) -> Vec<bool> {
    let mut ahead: Vec<bool> = function
        .locations
        .iter()
        .map(|l| {
            let mut actions = l.transformations.iter().flat_map(|t| &t.actions);
            actions.any(|a| matches!(a, Action::Start { .. }))
        })
        .collect();
    if !ahead.contains(&true) {
        return Vec::new();
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (at, location) in function.locations.iter().enumerate() {
            let mut next = location.transformations.iter().filter_map(|t| t.target);
            if !ahead[at] && next.any(|to| ahead[to.0 as usize]) {
                ahead[at] = true;
                changed = true;
            }
        }
    }
    ahead
}
