//! Pointers: their types, what they lead to, `new` and `delete`.
//!
//! A pointer `T &p` refers to an array object of elements of type `T`; `new T` makes one element, `new T[n]` makes n, and
//! plain use of `p` means the first. A `chan` of a model with pointers is a reference to a channel object; `chan &c` is the
//! same thing written differently. References are not numbers: they can be copied and compared with `==` and `!=`, and the
//! checks here see to it that nothing else is done with them.

use quotient_program::{
    Action, Allocation, ArrayType, ArrayTypeId, Expr, Place, Projection, Referent, Root, Type,
};
use quotient_source::{Diagnostic, Span};

use super::Lowering;
use crate::ast;
use crate::ast::ExprKind;

/// What kind of value an expression has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A number.
    Data,
    /// A reference; `None` for null, which fits everywhere.
    Reference(Option<Referent>),
    /// A function.
    Function,
}

impl Sort {
    /// The sort of the values of a type.
    pub(super) fn of(ty: &Type) -> Sort {
        match ty {
            Type::Reference(referent) => Sort::Reference(Some(*referent)),
            Type::Function => Sort::Function,
            _ => Sort::Data,
        }
    }

    /// Can a value of this sort stand where `other` is wanted?
    pub(super) fn fits(self, other: Sort) -> bool {
        match (self, other) {
            (Sort::Reference(a), Sort::Reference(b)) => a.is_none() || b.is_none() || a == b,
            (a, b) => a == b,
        }
    }
}

impl Lowering<'_> {
    /// The type of a pointer to this.
    pub(super) fn pointer_to(&mut self, element: Type) -> Type {
        if element == self.channel_reference() {
            return element;
        }
        let known = self.program.array_types.iter().position(|a| a.element == element);
        let index = known.unwrap_or_else(|| {
            let name = self.type_text(&element);
            self.program.array_types.push(ArrayType { name, element, lock: false });
            self.program.array_types.len() - 1
        });
        Type::Reference(Referent::Array(ArrayTypeId(index as u32)))
    }

    /// The type of `chan`.
    pub(super) fn channel_reference(&self) -> Type {
        if self.program.features.dynamic { Type::Reference(Referent::Channel) } else { Type::Channel }
    }

    pub(super) fn is_channel(&self, ty: &Type) -> bool {
        matches!(ty, Type::Channel | Type::Reference(Referent::Channel))
    }

    fn type_text(&self, ty: &Type) -> String {
        match ty {
            Type::Int(int) => match (int.bits, int.signed) {
                (1, false) => "bit".into(),
                (8, false) => "byte".into(),
                (16, true) => "short".into(),
                (32, true) => "int".into(),
                (bits, _) => format!("unsigned:{bits}"),
            },
            Type::Enumeration(_) => "mtype".into(),
            Type::Structure(id) => self.program.structure(*id).name.clone(),
            Type::Reference(Referent::Array(id)) => {
                format!("{} &", self.program.array_types[id.0 as usize].name)
            }
            Type::Reference(_) | Type::Channel => "chan".into(),
            Type::Function => "ftype".into(),
            Type::Array(element, length) => format!("{}[{length}]", self.type_text(element)),
            Type::Range(_) | Type::Thread => String::new(),
        }
    }

    fn sort_text(&self, sort: Sort) -> String {
        match sort {
            Sort::Data => "a number".into(),
            Sort::Function => "a function".into(),
            Sort::Reference(None) => "null".into(),
            Sort::Reference(Some(Referent::Array(id))) => {
                format!("a pointer to `{}`", self.program.array_types[id.0 as usize].name)
            }
            Sort::Reference(Some(_)) => "a channel".into(),
        }
    }

    /// What a pointer leads to: element `index` of its object.
    pub(super) fn follow(&self, place: Place, index: Expr) -> Option<Place> {
        let Type::Reference(referent @ Referent::Array(id)) = place.ty else { return None };
        let ty = self.program.array_types[id.0 as usize].element.clone();
        let span = place.span;
        let root = Root::Object { reference: Box::new(Expr::Load(place)), referent };
        Some(Place { root, path: vec![Projection::Index(index)], ty, span })
    }

    /// The pointer that `&r` means.
    pub(super) fn pointer(&mut self, r: &ast::Reference) -> Option<Place> {
        let mut place = self.unfollowed(r)?;
        if let Type::Array(element, _) = &place.ty
            && self.is_channel(element)
        {
            place.ty = (**element).clone();
            place.path.push(Projection::Index(Expr::Const(0)));
        }
        if !matches!(place.ty, Type::Reference(_)) {
            let name = &r.parts[r.parts.len() - 1].name.name;
            self.report(
                Diagnostic::error(r.span, format!("`{name}` is not a pointer"))
                    .help("declare it with `&` before its name; only a pointer has a reference of its own"),
            );
            return None;
        }
        Some(place)
    }

    /// Looks without reporting anything: the real translation does.
    fn quietly<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.diagnostics.clone();
        let result = look(self);
        self.diagnostics = before;
        result
    }

    /// What kind of value an expression has.
    pub(super) fn sort_of(&mut self, e: &ast::Expr) -> Sort {
        if !self.program.features.dynamic {
            return Sort::Data;
        }
        match &e.kind {
            ExprKind::Address(r) => {
                let place = self.quietly(|this| this.pointer(r));
                place.map_or(Sort::Reference(None), |p| Sort::of(&p.ty))
            }
            ExprKind::Reference(r) if self.is_null(r) => Sort::Reference(None),
            ExprKind::Reference(r) if self.function_named(r).is_some() => Sort::Function,
            ExprKind::Reference(r) if self.is_variable(&r.parts[0].name.name) => {
                self.quietly(|this| this.place(r)).map_or(Sort::Data, |p| Sort::of(&p.ty))
            }
            ExprKind::Conditional(_, a, b) => match self.sort_of(a) {
                Sort::Reference(None) => self.sort_of(b),
                sort => sort,
            },
            _ => Sort::Data,
        }
    }

    /// `null`, unless a variable has that name.
    fn is_null(&self, r: &ast::Reference) -> bool {
        r.parts.len() == 1 && r.parts[0].name.name == "null" && !self.is_variable("null")
    }

    /// A value of a wanted type, as an argument or on the right of an assignment.
    pub(super) fn typed(&mut self, e: &ast::Expr, wanted: &Type) -> Expr {
        let (sort, wanted) = (self.sort_of(e), Sort::of(wanted));
        if !sort.fits(wanted) {
            let message = format!("this is {}, not {}", self.sort_text(sort), self.sort_text(wanted));
            let mut diagnostic = Diagnostic::error(e.span, message);
            if matches!(wanted, Sort::Reference(_)) && sort == Sort::Data {
                diagnostic = diagnostic
                    .help("plain use of a pointer means what it leads to: write `&p` for the reference");
            }
            self.report(diagnostic);
            return Expr::Const(0);
        }
        if sort == Sort::Data { self.expr(e) } else { self.opaque(e) }
    }

    /// A reference or function as a value.
    pub(super) fn opaque(&mut self, e: &ast::Expr) -> Expr {
        match &e.kind {
            ExprKind::Address(r) => self.pointer(r).map_or(Expr::Const(0), Expr::Load),
            ExprKind::Reference(r) if self.is_null(r) => Expr::Const(0),
            ExprKind::Reference(r) => match self.function_named(r) {
                Some(function) => {
                    self.value_functions.push(function);
                    Expr::Function(function)
                }
                None => self.place(r).map_or(Expr::Const(0), Expr::Load),
            },
            ExprKind::Conditional(c, a, b) => {
                let (first, second) = (self.sort_of(a), self.sort_of(b));
                if !first.fits(second) {
                    let message =
                        format!("this is {}, the other {}", self.sort_text(second), self.sort_text(first));
                    self.error(b.span, message);
                }
                let (a, b) = (self.opaque(a), self.opaque(b));
                Expr::Conditional(Box::new(self.expr(c)), Box::new(a), Box::new(b))
            }
            _ => self.expr(e),
        }
    }

    /// `a == b` and `a != b` where one side is not a number; `None` when both are.
    pub(super) fn compare_opaque(&mut self, a: &ast::Expr, b: &ast::Expr) -> Option<(Expr, Expr)> {
        let (first, second) = (self.sort_of(a), self.sort_of(b));
        if first == Sort::Data && second == Sort::Data {
            return None;
        }
        if !first.fits(second) {
            let message = format!("this is {}, the other {}", self.sort_text(second), self.sort_text(first));
            self.error(b.span, message);
            return Some((Expr::Const(0), Expr::Const(0)));
        }
        Some((self.opaque(a), self.opaque(b)))
    }

    /// Reports a reference where a number is needed.
    pub(super) fn refuse_opaque(&mut self, span: Span) -> Expr {
        self.report(
            Diagnostic::error(span, "a reference is not a number").help(
                "it can be copied (`&q = &p`), compared (`&p == &q`, `&p == null`), sent and passed on",
            ),
        );
        Expr::Const(0)
    }

    /// `&p = …`.
    pub(super) fn point(&mut self, to: &ast::Reference, value: &ast::PointerValue) -> Vec<Action> {
        let Some(result) = self.pointer(to) else { return Vec::new() };
        match value {
            ast::PointerValue::Expr(e) => {
                let value = self.typed(e, &result.ty);
                vec![Action::Assign(result, value)]
            }
            ast::PointerValue::New(object) => {
                let (made, what, span) = match object {
                    ast::NewObject::Channel(channel) => {
                        let kind = self.channel_type(channel);
                        (self.channel_reference(), Allocation::Channel(kind), channel.span)
                    }
                    ast::NewObject::Elements { ty, length, span } => {
                        let element = self.element_type(ty, *span);
                        let made = self.pointer_to(element);
                        let Type::Reference(Referent::Array(id)) = made else { return Vec::new() };
                        let length = length.as_ref().map_or(Expr::Const(1), |e| self.expr(e));
                        (made, Allocation::Array(id, vec![length]), *span)
                    }
                };
                if made != result.ty {
                    let message = format!(
                        "this makes {}, the pointer is {}",
                        self.sort_text(Sort::of(&made)),
                        self.sort_text(Sort::of(&result.ty))
                    );
                    self.error(span, message);
                    return Vec::new();
                }
                vec![Action::New { result, what }]
            }
        }
    }

    fn element_type(&mut self, ty: &ast::TypeName, span: Span) -> Type {
        if *ty == ast::TypeName::Unsigned {
            self.error(span, "`new` cannot make an `unsigned`: use byte, short or int");
            return Type::Int(quotient_program::IntType::INT);
        }
        self.scalar_type(ty)
    }

    /// `delete(&p)`.
    pub(super) fn delete(&mut self, e: &ast::Expr) -> Vec<Action> {
        match self.sort_of(e) {
            Sort::Reference(_) => vec![Action::Delete(self.opaque(e))],
            _ => {
                self.report(Diagnostic::error(e.span, "`delete` takes a pointer").help("write `delete(&p)`"));
                Vec::new()
            }
        }
    }
}
