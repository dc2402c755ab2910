//! Expressions: resolved, typed and translated. Operators are in `operator.rs`, extensions in `extension.rs`.

use quotient_program::{Expr, LockQuery, Place, Projection, RecordId, Referent, Root, VariableId};
use quotient_source::Span;

use super::types::Ty;
use super::{Item, Lower};
use crate::ast::{self, ExprKind, LockTest};

impl Lower<'_> {
    /// An expression and its type.
    pub(super) fn expr(&mut self, e: &ast::Expr) -> (Expr, Ty) {
        self.expansion = super::fun::Expansion::default();
        self.inner(e)
    }

    /// An expression of a given type.
    pub(super) fn expect(&mut self, e: &ast::Expr, expected: &Ty) -> Expr {
        let (value, found) = self.expr(e);
        self.coerce(e.span, value, &found, expected)
    }

    /// A value in a place of the given type.
    pub(super) fn coerce(&mut self, span: Span, value: Expr, found: &Ty, expected: &Ty) -> Expr {
        if !self.fits(found, expected) {
            self.mismatch(span, found, expected);
        } else if let (Ty::Int(Some(range)), Some(constant)) = (expected, value.constant())
            && range.fit(constant).is_none()
        {
            let (low, high) = (range.low, range.high);
            self.error(span, format!("{constant} is outside the range ({low}, {high})"));
        }
        value
    }

    /// A value, with its position for faults.
    fn spanned(&self, e: Expr, span: Span) -> Expr {
        Expr::Spanned(Box::new(e), span)
    }

    pub(super) fn nothing(&self) -> (Expr, Ty) {
        (Expr::Const(0), Ty::Error)
    }

    pub(super) fn inner(&mut self, e: &ast::Expr) -> (Expr, Ty) {
        if !self.enter_expansion(e.span) {
            return (super::fun::opaque(), Ty::Error);
        }
        let result = self.by_kind(e);
        self.expansion.depth -= 1;
        result
    }

    fn by_kind(&mut self, e: &ast::Expr) -> (Expr, Ty) {
        match &e.kind {
            ExprKind::Boolean(_)
            | ExprKind::Integer(..)
            | ExprKind::Real(..)
            | ExprKind::String(_)
            | ExprKind::Null => match self.constant_value(e) {
                Some(value) => (Expr::Const(value.value), value.ty),
                None => self.nothing(),
            },
            ExprKind::Name(name) => self.name(name),
            ExprKind::Field(base, field) => self.field_value(e, base, field),
            ExprKind::Index(..) => match self.place(e) {
                Some((place, ty)) => (self.spanned(Expr::Load(place), e.span), ty),
                None => self.nothing(),
            },
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, e.span),
            ExprKind::Conditional(c, a, b) => self.conditional(c, a, b, e.span),
            ExprKind::NewRecord(_)
            | ExprKind::NewLock
            | ExprKind::NewArray(..)
            | ExprKind::NewExtension(_) => {
                self.error(e.span, "`new` inside an expression")
                    .help("expressions change nothing; assign the new object first: `x := new R;`");
                self.nothing()
            }
            ExprKind::Cast(ty, operand) => self.cast(ty, operand, e.span),
            ExprKind::TypeTest(exact, operand, ty) => self.type_test(*exact, operand, ty),
            ExprKind::LockTest(..) if self.quantified.is_some() => {
                self.error(e.span, "lock queries need a thread and cannot be used in a formula");
                self.nothing()
            }
            ExprKind::LockTest(test, operand) => {
                let lock = self.lock_operand(operand);
                let query = match test {
                    LockTest::LockAvailable => LockQuery::Available,
                    LockTest::HasLock => LockQuery::Held,
                    LockTest::WasNotified => LockQuery::Notified,
                };
                (self.spanned(Expr::Lock(query, Box::new(lock)), e.span), Ty::Boolean)
            }
            ExprKind::Terminated(operand) => {
                let (thread, ty) = self.inner(operand);
                if !self.fits(&ty, &Ty::Tid) {
                    self.mismatch(operand.span, &ty, &Ty::Tid);
                }
                (self.spanned(Expr::Terminated(Box::new(thread)), e.span), Ty::Boolean)
            }
            ExprKind::Let(bindings, body) => {
                let depth = self.scope.bound.len();
                for (name, value) in bindings {
                    let (value, ty) = self.inner(value);
                    self.scope.bound.push(Some((name.text.clone(), value, ty)));
                }
                let result = self.inner(body);
                self.scope.bound.truncate(depth);
                result
            }
            ExprKind::At(thread, location) => self.at(thread, location),
            ExprKind::Remote(thread, local) => self.remote(thread, local),
            ExprKind::Quantified(quantifier, variable, kind, body) => {
                self.quantifier(*quantifier, variable, kind, body)
            }
            ExprKind::Call(name, args) if self.is_reachable(name) => self.reachable(args, e.span),
            ExprKind::Call(name, args) => self.fun_call(name, args, e.span),
            ExprKind::Extension(used) => self.extension_query(used, e.span),
        }
    }

    /// A variable, or what a name stands for.
    fn name(&mut self, name: &ast::Name) -> (Expr, Ty) {
        for bound in self.scope.bound.iter().rev() {
            match bound {
                Some((bound, value, ty)) if *bound == name.text => {
                    let (value, ty) = (value.clone(), ty.clone());
                    self.expansion.copied += size(&value);
                    return (value, ty);
                }
                Some(_) => {}
                // Inside a fun nothing but its parameters, constants and globals can be seen.
                None => return self.global_name(name),
            }
        }
        if let Some((id, ty)) = self.scope.locals.get(&name.text).cloned() {
            return (Expr::Load(self.variable_place(Root::Local(id), &ty, name.span)), ty);
        }
        self.global_name(name)
    }

    fn global_name(&mut self, name: &ast::Name) -> (Expr, Ty) {
        match self.names.get(&name.text).cloned() {
            Some(Item::Global(id)) => {
                let ty = self.globals[id.0 as usize].clone();
                (Expr::Load(self.variable_place(Root::Global(id), &ty, name.span)), ty)
            }
            Some(other) => {
                let what = other.what();
                let help = match other {
                    Item::Const(_) => format!("a constant is written with its block: `{}.N`", name.text),
                    Item::Enum(_) => format!("an element is written with its enumeration: `{}.e`", name.text),
                    _ => "expected a variable".to_owned(),
                };
                self.error(name.span, format!("`{}` is {what}, not a value", name.text)).help(help);
                self.nothing()
            }
            None => {
                self.unknown(name, "variable");
                self.nothing()
            }
        }
    }

    pub(super) fn variable_place(&mut self, root: Root, ty: &Ty, span: Span) -> Place {
        Place { root, path: Vec::new(), ty: self.ir(ty), span }
    }

    /// The place of a local.
    pub(super) fn local_place(&mut self, id: VariableId, ty: &Ty, span: Span) -> Place {
        self.variable_place(Root::Local(id), ty, span)
    }

    /// Whether a name is a variable here (so that `x.f` is a field of an object).
    fn is_variable(&self, name: &ast::Name) -> bool {
        let bound = self.scope.bound.iter().rev().take_while(|b| b.is_some()).flatten();
        bound.into_iter().any(|(b, _, _)| *b == name.text)
            || self.scope.locals.contains_key(&name.text)
            || matches!(self.names.get(&name.text), Some(Item::Global(_)))
    }

    /// `e.f`, `a.length`, `Block.N` or `Enumeration.element`.
    fn field_value(&mut self, e: &ast::Expr, base: &ast::Expr, field: &ast::Name) -> (Expr, Ty) {
        if let ExprKind::Name(name) = &base.kind
            && !self.is_variable(name)
            && matches!(self.names.get(&name.text), Some(Item::Const(_) | Item::Enum(_)))
        {
            return match self.qualified(name, field) {
                Some(value) => (Expr::Const(value.value), value.ty),
                None => self.nothing(),
            };
        }
        let (reference, ty) = self.inner(base);
        if matches!(ty, Ty::Array(_)) && &*field.text == "length" {
            return (self.spanned(Expr::ArrayLength(Box::new(reference)), e.span), Ty::Int(None));
        }
        match self.field_place(reference, &ty, base.span, field, e.span) {
            Some((place, ty)) => (self.spanned(Expr::Load(place), e.span), ty),
            None => self.nothing(),
        }
    }

    /// The field with this name of a record or one it extends.
    fn find_field(&self, record: RecordId, name: &str) -> Option<(RecordId, u32)> {
        let fields = self.program.all_fields(record);
        fields.into_iter().find(|(owner, at)| self.program.record(*owner).fields[*at as usize].name == name)
    }

    fn field_place(
        &mut self,
        reference: Expr,
        ty: &Ty,
        base: Span,
        field: &ast::Name,
        span: Span,
    ) -> Option<(Place, Ty)> {
        let record = match ty {
            Ty::Error => return None,
            Ty::Record(record) => *record,
            other => {
                let shown = self.show(other);
                let d = self.error(base, format!("a value of type {shown} has no fields"));
                if matches!(other, Ty::Array(_)) {
                    d.help("an array has elements `a[i]` and a length `a.length`");
                }
                return None;
            }
        };
        let Some((owner, at)) = self.find_field(record, &field.text) else {
            let name = self.program.record(record).name.clone();
            let fields = self.program.all_fields(record);
            let fields: Vec<String> = fields
                .into_iter()
                .map(|(o, at)| self.program.record(o).fields[at as usize].name.clone())
                .collect();
            let help = if fields.is_empty() {
                "it has no fields".to_owned()
            } else {
                format!("its fields are {}", fields.join(", "))
            };
            self.error(field.span, format!("the record `{name}` has no field `{}`", field.text)).help(help);
            return None;
        };
        // What is typed as the top record may be an array: following it must say that it is a record.
        let reference = if Some(record) == self.top {
            self.spanned(Expr::Cast { reference: Box::new(reference), record }, base)
        } else {
            reference
        };
        let ty = self.field_types[owner.0 as usize][at as usize].clone();
        let root = Root::Object { reference: Box::new(reference), referent: Referent::Record(record) };
        let place = Place { root, path: vec![Projection::Member(owner, at)], ty: self.ir(&ty), span };
        Some((place, ty))
    }

    /// A place that can be assigned to.
    pub(super) fn place(&mut self, e: &ast::Expr) -> Option<(Place, Ty)> {
        match &e.kind {
            ExprKind::Name(name) => {
                let (value, ty) = self.name(name);
                match value {
                    Expr::Load(place) => Some((place, ty)),
                    _ if ty == Ty::Error => None,
                    _ => {
                        self.error(
                            e.span,
                            format!("`{}` is bound by `let` or a fun and cannot change", name.text),
                        );
                        None
                    }
                }
            }
            ExprKind::Field(base, field) => {
                if let ExprKind::Name(name) = &base.kind
                    && !self.is_variable(name)
                    && matches!(self.names.get(&name.text), Some(Item::Const(_) | Item::Enum(_)))
                {
                    self.error(e.span, "a constant cannot be assigned to");
                    return None;
                }
                let (reference, ty) = self.inner(base);
                if matches!(ty, Ty::Array(_)) && &*field.text == "length" {
                    self.error(e.span, "the length of an array cannot change");
                    return None;
                }
                self.field_place(reference, &ty, base.span, field, e.span)
            }
            ExprKind::Index(base, index) => {
                let (reference, ty) = self.inner(base);
                let (index_value, index_ty) = self.inner(index);
                if !self.fits(&index_ty, &Ty::Int(None)) {
                    self.mismatch(index.span, &index_ty, &Ty::Int(None));
                }
                let element = match &ty {
                    Ty::Array(element) => element.clone(),
                    Ty::Error => return None,
                    other => {
                        let shown = self.show(other);
                        self.error(base.span, format!("a value of type {shown} has no elements"));
                        return None;
                    }
                };
                let referent = Referent::Array(self.array_type(&element));
                let root = Root::Object { reference: Box::new(reference), referent };
                let ty = self.ir(&element);
                let path = vec![Projection::Index(index_value)];
                Some((Place { root, path, ty, span: e.span }, (*element).clone()))
            }
            _ => {
                self.error(e.span, "nothing can be assigned to this");
                None
            }
        }
    }

    fn cast(&mut self, ty: &ast::Type, operand: &ast::Expr, span: Span) -> (Expr, Ty) {
        let (value, found) = self.inner(operand);
        let wanted = self.ty(ty);
        match (&found, &wanted) {
            (Ty::Error, _) | (_, Ty::Error) => (value, wanted),
            (Ty::Int(_), Ty::Int(None)) => (value, Ty::Int(None)),
            (Ty::Int(_), Ty::Int(Some(_))) => {
                if let Some(constant) = value.constant() {
                    let checked = super::Value { value: constant, ty: found.clone() };
                    self.check_constant(operand.span, &checked, &wanted);
                    return (value, wanted);
                }
                self.error(ty.span, "a cast to a range is not supported")
                    .help("assign the value to a variable of that type: the range is checked there");
                (value, wanted)
            }
            (Ty::Record(a), Ty::Record(b)) if self.program.extends(*a, *b) => (value, wanted),
            (Ty::Record(a), Ty::Record(b)) if self.program.extends(*b, *a) => {
                let cast = Expr::Cast { reference: Box::new(value), record: *b };
                (self.spanned(cast, span), wanted)
            }
            (found, wanted) if self.fits(found, wanted) => (value, wanted.clone()),
            (found, wanted) => {
                let (from, to) = (self.show(found), self.show(wanted));
                self.error(span, format!("a value of type {from} cannot be cast to {to}"))
                    .help("casts lead between records of which one extends the other, and between integers");
                self.nothing()
            }
        }
    }

    fn type_test(&mut self, exact: bool, operand: &ast::Expr, ty: &ast::Type) -> (Expr, Ty) {
        let (value, found) = self.inner(operand);
        let tested = self.ty(ty);
        match (&found, &tested) {
            (Ty::Error, _) | (_, Ty::Error) => self.nothing(),
            (Ty::Record(_) | Ty::Null, Ty::Record(record)) => {
                let test = Expr::InstanceOf { reference: Box::new(value), record: *record, exact };
                (test, Ty::Boolean)
            }
            (_, Ty::Record(_)) => {
                let shown = self.show(&found);
                self.error(operand.span, format!("a value of type {shown} is not a record"));
                self.nothing()
            }
            _ => {
                self.error(ty.span, "only records are tested with `instanceof` and `kindof`");
                self.nothing()
            }
        }
    }

    /// The operand of an operation on locks: a lock, or a record or array, which then carries one.
    pub(super) fn lock_operand(&mut self, e: &ast::Expr) -> Expr {
        let (value, ty) = self.inner(e);
        match &ty {
            Ty::Error | Ty::Lock => {}
            Ty::Record(record) => {
                for index in 0..self.program.records.len() {
                    if self.program.extends(RecordId(index as u32), *record) {
                        self.program.records[index].lock = true;
                    }
                }
                if Some(*record) == self.top {
                    self.lock_arrays = true;
                }
            }
            Ty::Array(element) => {
                let id = self.array_type(element);
                self.program.array_types[id.0 as usize].lock = true;
            }
            other => {
                let shown = self.show(other);
                self.error(e.span, format!("a value of type {shown} has no lock"))
                    .help("locks are `new lock`, records and arrays");
            }
        }
        value
    }

    pub(super) fn wrong_count(&mut self, span: Span, name: &str, expected: usize, found: usize) {
        let plural = if expected == 1 { "" } else { "s" };
        self.error(span, format!("`{name}` takes {expected} argument{plural}, not {found}"));
    }

    /// The type of an array of `open` more dimensions.
    pub(super) fn array_of(&self, element: Ty, dimensions: usize) -> Ty {
        (0..dimensions).fold(element, |ty, _| Ty::Array(std::rc::Rc::new(ty)))
    }
}

/// Number of nodes of an expression.
pub(super) fn size(e: &Expr) -> usize {
    struct Count(usize);
    impl quotient_program::visit::Visitor for Count {
        fn expr(&mut self, _: &Expr) {
            self.0 += 1;
        }
    }
    let mut count = Count(0);
    quotient_program::visit::expr(e, &mut count);
    count.0
}
