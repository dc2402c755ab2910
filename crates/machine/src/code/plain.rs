//! Which locations are plain: see `step/plain.rs`.

use quotient_program as ir;
use quotient_program::{Program, Type};

/// See [`super::Location::plain`]; the function must not be one that keeps its callers' control.
pub(super) fn is_plain(program: &Program, function: &ir::Function, location: &ir::Location) -> bool {
    let ts = &location.transformations;
    ts.windows(2).all(|w| w[0].rank == w[1].rank)
        && ts.iter().all(|t| {
            let operation =
                matches!(t.operation, ir::Operation::Always | ir::Operation::When(_) | ir::Operation::Else);
            let changes = t.actions.iter().all(|a| match a {
                // Letting go of a reference may leave garbage.
                ir::Action::Assign(place, _) => !has_links(program, &place.ty),
                ir::Action::Forget(v) => !has_links(program, &function.locals[v.0 as usize].ty),
                ir::Action::Assert(..) | ir::Action::Print(_) => true,
                _ => false,
            });
            operation && changes && t.target.is_some()
        })
}

/// Can a thread be in this function by a call that was made in exclusive control? Then it keeps control there, too.
pub(super) fn keeps_callers_control(program: &Program, function: &ir::Function) -> bool {
    let actions = |f: &ir::Function, found: &dyn Fn(&ir::Transformation, &ir::Action) -> bool| {
        f.locations.iter().flat_map(|l| &l.transformations).any(|t| t.actions.iter().any(|a| found(t, a)))
    };
    actions(function, &|_, a| matches!(a, ir::Action::Return(_)))
        && program
            .functions
            .iter()
            .any(|f| actions(f, &|t, a| t.keeps_control && matches!(a, ir::Action::Call { .. })))
}

/// Does a value of this type name objects or threads?
pub(super) fn has_links(program: &Program, ty: &Type) -> bool {
    match ty {
        Type::Reference(_) | Type::Thread => true,
        Type::Array(element, _) => has_links(program, element),
        Type::Structure(id) => program.structure(*id).fields.iter().any(|f| has_links(program, &f.ty)),
        _ => false,
    }
}
