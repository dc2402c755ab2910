//! Which values nobody will read: locals that are dead where their process stands, globals that nothing ever reads.

use std::collections::HashMap;

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

    /// What is known of the values of one state.
    pub(crate) fn at<'a>(&'a self, machine: &'a Machine, state: &[u64]) -> UnreadHere<'a> {
        let of = |thread: &quotient_machine::ThreadView| {
            let live = self.live.get(thread.function as usize)?.as_ref()?;
            // Nothing is said of variables of a function that is being called.
            (machine.frames_at(state, thread.id as usize).count() == 1)
                .then(|| (thread.id, (thread.function, &live[thread.location as usize])))
        };
        UnreadHere { all: self, machine, live: machine.threads(state).iter().filter_map(of).collect() }
    }
}

/// The values of a state that nobody will read.
pub(crate) struct UnreadHere<'a> {
    all: &'a Unread,
    machine: &'a Machine,
    /// By process: its function, and the locals that are live where it stands.
    live: HashMap<u32, (u32, &'a liveness::Locals)>,
}

impl UnreadHere<'_> {
    /// Will nobody read this value?
    pub(crate) fn is_unread(&self, leaf: &Leaf) -> bool {
        match &leaf.group {
            Group::Global => self.all.globals.contains(&leaf.variable),
            Group::Process(pid) => {
                let Some((number, live)) = self.live.get(pid) else { return false };
                let function = &self.machine.program().functions[*number as usize];
                let local = (0..function.locals.len()).find(|i| function.local_name(*i) == leaf.variable);
                local.is_some_and(|local| !live.contains(local) && !self.all.remote[*number as usize][local])
            }
            Group::Channel | Group::Object(_) => false,
        }
    }
}
