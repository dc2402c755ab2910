//! Claims to compact code.

use quotient_program::visit::{self, Visitor};
use quotient_program::{Claim, Expr};

use crate::compile::Compiler;
use crate::fault::Fault;

/// Does anything ask for `timeout`?
struct AsksTimeout(bool);

impl Visitor for AsksTimeout {
    fn expr(&mut self, e: &Expr) {
        self.0 |= matches!(e, Expr::Timeout);
    }
}

impl Compiler<'_> {
    /// Compiles the claim; its segment has the layout behind those of the program's functions.
    pub(crate) fn claim(&mut self, claim: &Claim) {
        let layout = self.program.functions.len() as u32;
        let first = self.code.transformations.len() as u32;
        let compiled = self.function(layout, &claim.function);
        let function = self.code.functions.len() as u32;
        self.code.functions.push(compiled);
        let span = claim.function.span;
        let completed = self.site(Fault::Claim { origin: claim.origin, message: claim.message(false) }, span);
        let deadlock = self.site(Fault::Deadlock, span);
        let locations = &claim.function.locations;
        let pure = locations.iter().all(|l| {
            !l.deterministic && l.transformations.iter().all(|t| t.actions.is_empty() && !t.keeps_control)
        });
        let mut timeout = AsksTimeout(false);
        locations
            .iter()
            .flat_map(|l| &l.transformations)
            .for_each(|t| visit::transformation(t, &mut timeout));
        self.code.claim = Some(crate::code::Claim {
            function,
            layout,
            pure,
            asks_timeout: timeout.0,
            completed,
            deadlock,
            accept_labels: claim.accept_labels,
            first,
            marks: claim.acceptance.as_ref().map(|a| a.marks.concat()),
            outside: !0 << claim.acceptance.as_ref().map_or(1, |a| a.sets),
        });
    }
}
