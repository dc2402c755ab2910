//! Globals that nobody reads have no value.
//!
//! A variable that no expression of the program mentions except to write it cannot make a difference to any step, guard,
//! assertion or fault, so states that differ only in it are bisimilar. It becomes a scratch variable: zero in every stored
//! state. (Its steps still happen and still show in traces.) Indices inside places that are written count as read, and so
//! does everything the observer looks at. Channel variables are left alone: they hold the channels.

use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{Place, Program, Root, Type, VariableId};

struct Reads(Vec<bool>);

impl Visitor for Reads {
    fn place(&mut self, place: &Place, how: Use) {
        if let Root::Global(VariableId(v)) = place.root {
            self.0[v as usize] |= how == Use::Read;
        }
    }
}

fn holds_channels(program: &Program, ty: &Type) -> bool {
    match ty {
        // A reference keeps its object alive, but nobody gets there through an unread variable.
        Type::Channel => true,
        Type::Array(element, _) => holds_channels(program, element),
        Type::Structure(id) => program.structure(*id).fields.iter().any(|f| holds_channels(program, &f.ty)),
        Type::Int(_)
        | Type::Range(_)
        | Type::Enumeration(_)
        | Type::Reference(_)
        | Type::Thread
        | Type::Function => false,
    }
}

/// Makes unread globals scratch variables; gives how many.
pub fn forget_unread(program: &mut Program) -> usize {
    let mut reads = Reads(vec![false; program.globals.len()]);
    for function in program.readers() {
        function.provided.iter().for_each(|e| visit::expr(e, &mut reads));
        for t in function.locations.iter().flat_map(|l| &l.transformations) {
            visit::transformation(t, &mut reads);
        }
        for local in &function.locals {
            initial_values(&local.init, &mut reads);
        }
    }
    let mut forgotten = 0;
    for index in 0..program.globals.len() {
        let unread = !reads.0[index] && !program.globals[index].scratch;
        if unread && !holds_channels(program, &program.globals[index].ty) {
            program.globals[index].scratch = true;
            forgotten += 1;
        }
    }
    forgotten
}

fn initial_values(init: &quotient_program::Init, reads: &mut Reads) {
    match init {
        quotient_program::Init::Fill(e) => visit::expr(e, reads),
        quotient_program::Init::List(es) => es.iter().for_each(|e| visit::expr(e, reads)),
        quotient_program::Init::Default | quotient_program::Init::Channels(_) => {}
    }
}
