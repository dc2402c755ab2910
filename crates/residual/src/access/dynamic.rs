//! What steps of dynamic programs touch: objects, calls, exceptions, ends of threads.

use quotient_program::visit::Use;
use quotient_program::{
    Action, Callee, Choice, Expr, FunctionId, LocationId, Part, Place, Projection, Referent, Root,
    Transformation, Type, VariableId, VirtualEntries,
};

use super::Touch;
use super::step::Collector;

impl Collector<'_> {
    /// A part of some object is touched.
    pub(super) fn object(&mut self, part: Part, how: Use) {
        self.step.touches.push(Touch::Object { part, how });
        if part != Part::Existence {
            self.step.touches.push(Touch::Object { part: Part::Existence, how: Use::Read });
        }
    }

    /// A place inside an object.
    pub(super) fn object_place(&mut self, place: &Place, how: Use) {
        let Root::Object { referent, .. } = &place.root else { return };
        match (place.path.first(), referent) {
            (Some(Projection::Member(record, field)), _) => self.object(Part::Field(*record, *field), how),
            (_, Referent::Array(id)) => self.object(Part::Elements(*id), how),
            // Front ends give no such places.
            _ => self.step.touches.push(Touch::Everything),
        }
    }

    /// Looks at an expression that only dynamic programs have, or that means something else there.
    pub(super) fn dynamic_expr(&mut self, e: &Expr) -> bool {
        if !self.program.features.dynamic {
            return false;
        }
        match e {
            Expr::Length(_) | Expr::Full(_) | Expr::Empty(_) | Expr::Poll { .. } => {
                self.object(Part::Messages, Use::Read);
            }
            Expr::Terminated(_) => self.step.touches.push(Touch::Ended(Use::Read)),
            Expr::InstanceOf { .. } | Expr::Cast { .. } | Expr::ArrayLength(_) => {
                self.object(Part::Existence, Use::Read);
            }
            Expr::Lock(..) => self.object(Part::Lock, Use::Read),
            Expr::Query { collection, .. } => self.rows(collection, Use::Read),
            // Any link of any object.
            Expr::Reachable(..) => self.step.touches.push(Touch::Everything),
            _ => return false,
        }
        true
    }

    /// The rows of a collection are touched.
    fn rows(&mut self, collection: &Expr, how: Use) {
        match collection {
            Expr::Spanned(inner, _) => self.rows(inner, how),
            Expr::Load(Place { ty: Type::Reference(Referent::Collection(id)), .. }) => {
                self.object(Part::Rows(*id), how);
            }
            _ => {
                let all = 0..self.program.collection_types.len() as u32;
                all.for_each(|id| self.object(Part::Rows(quotient_program::CollectionTypeId(id)), how));
            }
        }
    }

    /// Looks at an action that only dynamic programs have.
    pub(super) fn dynamic_action(&mut self, t: &Transformation, action: &Action) {
        match action {
            Action::New { .. } => self.step.touches.push(Touch::Allocate),
            Action::Delete(_) => self.object(Part::Existence, Use::Write),
            Action::Lock(..) => self.object(Part::Lock, Use::Write),
            Action::Update { collection, .. } => self.rows(collection, Use::Write),
            Action::Choose { choice: Choice::Members(collection), .. } => self.rows(collection, Use::Read),
            Action::Call { callee, .. } => {
                if matches!(callee, Callee::Virtual(_)) {
                    self.object(Part::Existence, Use::Read);
                }
                for function in self.callees(callee) {
                    self.initial_values(function);
                    self.step.calls.push(function);
                }
                self.step.calls_in_control |= t.keeps_control;
            }
            Action::Return(_) | Action::EndThread => self.leave(),
            Action::Throw(_) => {
                self.object(Part::Existence, Use::Read);
                self.leave();
            }
            Action::Halt => self.step.touches.push(Touch::Everything),
            Action::Assign(..)
            | Action::Start { .. }
            | Action::Assert(..)
            | Action::Print(_)
            | Action::SetPriority(..)
            | Action::Forget(_)
            | Action::Choose { .. }
            | Action::Assume(_) => {}
        }
    }

    /// The function is left: its caller moves to another place, or the thread ends.
    fn leave(&mut self) {
        self.step.leaves = true;
        self.step.touches.push(Touch::Ended(Use::Write));
        for label in &self.program.labels {
            self.step.touches.push(Touch::Position { function: label.function, how: Use::Write });
        }
        // The value returned, or the exception caught, goes to a variable of some other frame.
        for (f, variables) in self.remote.iter().enumerate() {
            for v in (0..variables.len()).filter(|v| variables[*v]) {
                let (function, variable) = (FunctionId(f as u32), VariableId(v as u32));
                self.step.touches.push(Touch::Remote { function, variable, how: Use::Write });
            }
        }
    }

    /// Everything that a call may mean.
    fn callees(&self, callee: &Callee) -> Vec<FunctionId> {
        match callee {
            Callee::Function(function) => vec![*function],
            Callee::Value(_) => (0..self.program.functions.len() as u32).map(FunctionId).collect(),
            Callee::Virtual(table) => match &self.program.virtual_tables[table.0 as usize].entries {
                VirtualEntries::Records(entries) => entries.iter().map(|(_, f)| *f).collect(),
                VirtualEntries::Constants(entries) => entries.iter().map(|(_, f)| *f).collect(),
            },
        }
    }

    /// Exceptions that come up here, or in what is called from here, lead to where they are caught.
    pub(super) fn catches(&mut self, location: usize) {
        let here = LocationId(location as u32);
        let catches = &self.program.function(self.function).catches;
        self.step.targets.extend(catches.iter().filter(|c| c.locations.contains(&here)).map(|c| c.target));
    }
}
