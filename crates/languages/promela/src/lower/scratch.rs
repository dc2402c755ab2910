//! `hidden` variables: no part of the state, if every step that reads one has written it before.
//!
//! SPIN keeps hidden variables outside the state and does not restore them when it backtracks, so a model that
//! carries a value from one step to another in a hidden variable has no defined meaning there. Here such a variable
//! becomes an ordinary one, with a warning.

use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{Place, Program, Root, VariableId};
use quotient_source::{Diagnostic, Diagnostics};

use quotient_front_end::{Claim, ClaimKind};

struct Reads<'a> {
    scratch: &'a [bool],
    read: Vec<VariableId>,
}

impl Visitor for Reads<'_> {
    fn place(&mut self, place: &Place, how: Use) {
        if let Root::Global(id) = place.root
            && how == Use::Read
            && self.scratch[id.0 as usize]
        {
            self.read.push(id);
        }
    }
}

/// Makes hidden variables that are read anywhere ordinary ones. (Reading at all is the rare case: hidden variables are
/// places to throw values away.)
pub(super) fn check(program: &mut Program, claims: &[Claim], diagnostics: &mut Diagnostics) {
    let scratch: Vec<bool> = program.globals.iter().map(|g| g.scratch).collect();
    let mut reads = Reads { scratch: &scratch, read: Vec::new() };
    for claim in claims {
        claim.propositions.iter().for_each(|e| visit::expr(e, &mut reads));
    }
    let never = claims.iter().filter_map(|c| match &c.kind {
        ClaimKind::Never(function) => Some(&**function),
        _ => None,
    });
    for function in program.functions.iter().chain(never) {
        if let Some(provided) = &function.provided {
            visit::expr(provided, &mut reads);
        }
        for location in &function.locations {
            location.transformations.iter().for_each(|t| visit::transformation(t, &mut reads));
        }
    }
    let mut read = reads.read;
    read.sort();
    read.dedup();
    for id in read {
        let variable = &mut program.globals[id.0 as usize];
        variable.scratch = false;
        diagnostics.push(
            Diagnostic::warning(
                variable.span,
                format!("the hidden variable `{}` is read, so it is part of the state", variable.name),
            )
            .help("remove `hidden`, or use `_` for values that nobody needs"),
        );
    }
}
