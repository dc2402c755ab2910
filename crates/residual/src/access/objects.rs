//! What steps touch of objects; calls, exceptions, ends of threads.

use quotient_program::visit::Use;
use quotient_program::{
    Action, ArrayTypeId, Callee, Choice, CollectionTypeId, Expr, FunctionId, LocationId, Part, Place,
    Program, Projection, RecordId, Referent, Root, Transformation, Type, VariableId, VirtualEntries,
};

use super::step::Collector;
use super::{Guard, Touch};

impl Collector<'_> {
    /// A part of some object is touched.
    pub(super) fn object(&mut self, part: Part, how: Use) {
        self.guarded(part, how, Guard::None);
    }

    /// As above, with what is known to keep others away.
    fn guarded(&mut self, part: Part, how: Use, guard: Guard) {
        self.step.touches.push(Touch::Object { part, how, guard });
        if part != Part::Existence {
            self.step.touches.push(Touch::Object { part: Part::Existence, how: Use::Read, guard });
        }
    }

    /// A place inside an object.
    pub(super) fn object_place(&mut self, place: &Place, how: Use) {
        let Root::Object { referent, reference } = &place.root else { return };
        let guard = self.known.guard(reference);
        match (place.path.first(), referent) {
            (Some(Projection::Member(record, field)), _) => {
                self.guarded(Part::Field(*record, *field), how, guard);
            }
            (_, Referent::Array(id)) => self.guarded(Part::Elements(*id), how, guard),
            // Front ends give no such places.
            _ => self.step.touches.push(Touch::Everything),
        }
    }

    /// Looks at an expression about objects.
    pub(super) fn object_expr(&mut self, e: &Expr) -> bool {
        match e {
            Expr::Length(_) | Expr::Full(_) | Expr::Empty(_) | Expr::Poll { .. }
                if self.has_channel_objects() =>
            {
                self.object(Part::Messages, Use::Read);
            }
            Expr::Terminated(_) => self.step.touches.push(Touch::Ended(Use::Read)),
            Expr::InstanceOf { .. } | Expr::Cast { .. } | Expr::ArrayLength(_) => {
                self.object(Part::Existence, Use::Read);
            }
            Expr::Lock(..) => self.object(Part::Lock, Use::Read),
            Expr::Query { collection, .. } => self.rows(collection, Use::Read),
            Expr::Reachable(..) => self.links(),
            _ => return false,
        }
        true
    }

    /// Are channels objects?
    pub(super) fn has_channel_objects(&self) -> bool {
        self.program.features.dynamic
    }

    /// Everything in objects that may lead to other objects is read.
    fn links(&mut self) {
        let program = self.program;
        let leads_on = |ty: &Type| program.holds_references(ty) || holds_channels(program, ty);
        for (r, record) in program.records.iter().enumerate() {
            for (f, field) in record.fields.iter().enumerate() {
                if leads_on(&field.ty) {
                    self.object(Part::Field(RecordId(r as u32), f as u32), Use::Read);
                }
            }
        }
        for (a, array) in program.array_types.iter().enumerate() {
            if leads_on(&array.element) {
                self.object(Part::Elements(ArrayTypeId(a as u32)), Use::Read);
            }
        }
        for c in 0..program.collection_types.len() as u32 {
            self.object(Part::Rows(CollectionTypeId(c)), Use::Read);
        }
        self.object(Part::Messages, Use::Read);
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
                all.for_each(|id| self.object(Part::Rows(CollectionTypeId(id)), how));
            }
        }
    }

    /// Looks at an action on objects, a call, or the end of a thread.
    pub(super) fn object_action(&mut self, t: &Transformation, action: &Action) {
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
                    self.appears(function);
                }
                self.step.calls_in_control |= t.keeps_control;
            }
            Action::Return(_) | Action::EndThread => self.leave(),
            Action::Throw(_) => {
                self.object(Part::Existence, Use::Read);
                // It may be caught at an earlier place, of this function or of a caller.
                self.step.closes_cycle = true;
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

    /// A new frame of a function: its place and its variables are there for others to see.
    fn appears(&mut self, function: FunctionId) {
        self.step.touches.push(Touch::Position { function, how: Use::Write });
        let variables = &self.remote[function.0 as usize];
        for v in (0..variables.len()).filter(|v| variables[*v]) {
            let variable = VariableId(v as u32);
            self.step.touches.push(Touch::Remote { function, variable, how: Use::Write });
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

/// May a value of the type be a channel?
fn holds_channels(program: &Program, ty: &Type) -> bool {
    match ty {
        Type::Channel => true,
        Type::Array(element, _) => holds_channels(program, element),
        Type::Structure(id) => program.structure(*id).fields.iter().any(|f| holds_channels(program, &f.ty)),
        _ => false,
    }
}
