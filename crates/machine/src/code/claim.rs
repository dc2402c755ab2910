//! Claims to compact code.

use quotient_program::visit::{self, Visitor};
use quotient_program::{Claim, Expr, Program, Variable, VariableId};

use crate::code::Op;
use crate::code::compile::Compiler;
use crate::explain::fault::Fault;

/// Locations of a claim up to which a search keeps something for each of them with every state of the program.
const MOST_LAYERS: usize = 8;

/// Does anything ask for `timeout`?
struct AsksTimeout(bool);

impl Visitor for AsksTimeout {
    fn expr(&mut self, e: &Expr) {
        self.0 |= matches!(e, Expr::Timeout);
    }
}

impl Compiler<'_> {
    /// Compiles the claim; its segment has the layout after those of the program's functions.
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
            layers: if locations.len() <= MOST_LAYERS { locations.len() as u32 } else { 1 },
            outside: !0 << claim.acceptance.as_ref().map_or(1, |a| a.sets),
        });
    }

    /// What only claims ask of a state.
    pub(crate) fn claim_expr(&mut self, function: u32, expr: &Expr) {
        match expr {
            Expr::Enabled(thread) => {
                self.expr(function, thread);
                self.emit(Op::Enabled);
            }
            Expr::LocationOf(thread) => {
                self.expr(function, thread);
                self.emit(Op::LocationOf);
            }
            Expr::Oldest(of) => _ = self.emit(Op::Oldest(of.0)),
            Expr::Bound(depth) => _ = self.emit(Op::Bound(*depth)),
            Expr::Count { function: of, body } => {
                let count = self.emit(Op::Count { function: of.0, end: 0 });
                self.expr(function, body);
                self.emit(Op::Return);
                self.code.ops[count] = Op::Count { function: of.0, end: self.here() };
            }
            _ => _ = self.emit(Op::NonProgress),
        }
    }

    /// A local of a function; the number after the last function is the claim's.
    pub(crate) fn local(&self, function: u32, variable: VariableId) -> &Variable {
        local_of(self.program, function, variable)
    }
}

/// A local of a function; the number after the last function is the claim's.
pub(crate) fn local_of(program: &Program, function: u32, variable: VariableId) -> &Variable {
    &locals_of(program, function)[variable.0 as usize]
}

/// All of them.
pub(crate) fn locals_of(program: &Program, function: u32) -> &[Variable] {
    let claim = program.claim.iter().map(|c| &c.function);
    let function = program.functions.iter().chain(claim).nth(function as usize);
    &function.expect("code is compiled for functions of the program").locals
}
