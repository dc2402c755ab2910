//! Which values nobody will read: locals that are dead where their process stands, globals that nothing ever reads.

use quotient_engine::Model;
use quotient_explain::{Group, Leaf};
use quotient_machine::Machine;
use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{Place, Program, Root};
use quotient_residual::liveness;

/// What is known of the variables of a model.
pub(crate) struct Unread {
    /// By function: the locals that are live at each location; none where that is not known.
    live: Vec<Option<Vec<liveness::Locals>>>,
    /// By function and local: others may read it.
    remote: Vec<Vec<bool>>,
    /// Names of globals that nothing reads.
    globals: Vec<String>,
}

struct Reads(Vec<bool>);

impl Visitor for Reads {
    fn place(&mut self, place: &Place, used: Use) {
        if let (Root::Global(v), Use::Read) = (&place.root, used) {
            self.0[v.0 as usize] = true;
        }
    }
}

fn globals(model: &Model, program: &Program) -> Vec<String> {
    let mut reads = Reads(vec![false; program.globals.len()]);
    for function in program.readers() {
        function.provided.iter().for_each(|e| visit::expr(e, &mut reads));
        let all = function.locations.iter().flat_map(|l| &l.transformations);
        all.for_each(|t| visit::transformation(t, &mut reads));
    }
    for claim in &model.claims {
        claim.propositions.iter().for_each(|e| visit::expr(e, &mut reads));
        if let quotient_engine::ClaimKind::Never(function) = &claim.kind {
            let all = function.locations.iter().flat_map(|l| &l.transformations);
            all.for_each(|t| visit::transformation(t, &mut reads));
        }
    }
    let named = program.globals.iter().zip(&reads.0);
    named.filter(|(_, read)| !**read).map(|(variable, _)| variable.name.clone()).collect()
}

impl Unread {
    pub(crate) fn new(model: &Model) -> Unread {
        let program = &model.program;
        Unread {
            live: program.functions.iter().map(liveness::live).collect(),
            remote: liveness::remotely_read(program),
            globals: globals(model, program),
        }
    }

    /// Will nobody read this value? Nothing is said of variables of a function that is being called.
    pub(crate) fn is_unread(&self, machine: &Machine, state: &[u64], leaf: &Leaf) -> bool {
        match &leaf.group {
            Group::Global => self.globals.contains(&leaf.variable),
            Group::Process(pid) => self.is_dead(machine, state, *pid, &leaf.variable),
            Group::Channel | Group::Object(_) => false,
        }
    }

    fn is_dead(&self, machine: &Machine, state: &[u64], pid: u32, variable: &str) -> bool {
        if machine.frames_at(state, pid as usize).count() != 1 {
            return false;
        }
        let Some(thread) = machine.threads(state).into_iter().find(|t| t.id == pid) else { return false };
        let function = &machine.program().functions[thread.function as usize];
        let Some(local) = (0..function.locals.len()).find(|i| function.local_name(*i) == variable) else {
            return false;
        };
        let Some(Some(live)) = self.live.get(thread.function as usize) else { return false };
        !live[thread.location as usize].contains(local) && !self.remote[thread.function as usize][local]
    }
}
