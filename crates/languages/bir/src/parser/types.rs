//! Types [10-33].

use quotient_source::Diagnostic;

use super::{Parse, Parser};
use crate::ast::{Expr, ExprKind, Name, Range, Type, TypeKind, Unary};
use crate::token::Kind;

impl Parser<'_> {
    /// A type, arrays included.
    pub(super) fn ty(&mut self) -> Parse<Type> {
        let mut ty = self.nested(|p| p.basic_type())?;
        let mut dimensions = 0;
        while self.is("[") && self.peek(1).is("]") {
            let start = ty.span;
            self.bump();
            self.bump();
            dimensions += 1;
            if dimensions > 20 {
                let d = Diagnostic::error(self.previous(), "an array type has at most 20 dimensions");
                return Err(self.report(d));
            }
            ty = Type { span: start.to(self.previous()), kind: TypeKind::Array(Box::new(ty)) };
        }
        Ok(ty)
    }

    /// A type without `[]`.
    pub(super) fn basic_type(&mut self) -> Parse<Type> {
        let start = self.span();
        if let Kind::TypeVariable(text) = self.token().kind.clone() {
            self.bump();
            return Ok(Type { kind: TypeKind::Variable(Name { text, span: start }), span: start });
        }
        let word = match &self.token().kind {
            Kind::Word(word) => word.clone(),
            _ => "".into(),
        };
        let kind = match &*word {
            "boolean" => self.simple(TypeKind::Boolean),
            "float" | "double" => self.simple(TypeKind::Real(&*word == "double")),
            "tid" => self.simple(TypeKind::Tid),
            "string" => self.simple(TypeKind::String),
            "lock" => self.simple(TypeKind::Lock),
            "int" | "long" => {
                self.bump();
                let long = &*word == "long";
                TypeKind::Integer(long, self.range()?)
            }
            _ if self.at_name() => {
                let name = self.name("a type")?;
                if self.eat(".") {
                    // The type of an extension may be called `type`, `set` or the like; those are not keywords.
                    let ty = self.name("the name of the extension's type")?;
                    let args = if self.is("<") { self.type_args()? } else { Vec::new() };
                    TypeKind::Extension(name, ty, args)
                } else {
                    TypeKind::Named(name)
                }
            }
            _ => {
                return Err(self.unexpected(
                    "a type",
                    "types are boolean, int, long, tid, string, lock, records, enumerations, aliases and arrays of them",
                ));
            }
        };
        Ok(Type { kind, span: start.to(self.previous()) })
    }

    fn simple(&mut self, kind: TypeKind) -> TypeKind {
        self.bump();
        kind
    }

    /// `wrap? (lo, hi)`, if it comes next.
    fn range(&mut self) -> Parse<Option<Range>> {
        let wrap = self.eat("wrap");
        if !self.is("(") {
            if wrap {
                return Err(self.unexpected("`(`", "a range is written `wrap (0, 7)`"));
            }
            return Ok(None);
        }
        self.bump();
        let low = Box::new(self.bound()?);
        self.expect(",", "a range is written `(low, high)`")?;
        let high = Box::new(self.bound()?);
        self.expect(")", "a range is written `(low, high)`")?;
        Ok(Some(Range { wrap, low, high }))
    }

    /// A number with a sign, or a constant.
    pub(super) fn bound(&mut self) -> Parse<Expr> {
        let start = self.span();
        let sign = match self.token().kind {
            Kind::Punct("-") => Some(Unary::Minus),
            Kind::Punct("+") => Some(Unary::Plus),
            _ => None,
        };
        if sign.is_some() {
            self.bump();
        }
        let value = match self.token().kind.clone() {
            Kind::Integer(value, long) => {
                self.bump();
                self.integer(if sign == Some(Unary::Minus) { -value } else { value }, long)?
            }
            _ if self.at_name() => {
                let block = self.name("a constant")?;
                self.expect(".", "constants are written with their block: `Block.N`")?;
                let element = self.name("the name of the constant")?;
                let base = Expr { span: block.span, kind: ExprKind::Name(block), height: 1 };
                let kind = ExprKind::Field(Box::new(base), element);
                Expr { kind, span: start.to(self.previous()), height: 2 }
            }
            _ => return Err(self.unexpected("a number or a constant", "for example `5`, `-1` or `Block.N`")),
        };
        Ok(match (sign, &value.kind) {
            (None, _) | (Some(Unary::Minus), ExprKind::Integer(..)) => value,
            (Some(op), _) => {
                let height = value.height + 1;
                Expr { kind: ExprKind::Unary(op, Box::new(value)), span: start.to(self.previous()), height }
            }
        })
    }

    /// An integer literal just read; 2147483648 is only a number after a minus sign.
    pub(super) fn integer(&mut self, value: i128, long: bool) -> Parse<Expr> {
        let span = self.previous();
        let fits = if long { i64::try_from(value).is_ok() } else { i32::try_from(value).is_ok() };
        if !fits {
            let what = if long { "a long" } else { "an int" };
            let d = Diagnostic::error(span, format!("`{value}` is too large for {what}"));
            return Err(self.report(d));
        }
        Ok(Expr { kind: ExprKind::Integer(value as i64, long), span, height: 1 })
    }

    /// `<T, …>`
    pub(super) fn type_args(&mut self) -> Parse<Vec<Type>> {
        self.expect("<", "")?;
        self.list(">", |p| p.ty())
    }

    /// The type of an extension's parameter or result: also `lazy`, and functions `a * b -> c`.
    pub(super) fn general_type(&mut self) -> Parse<Type> {
        let start = self.span();
        self.eat("lazy");
        let mut args = Vec::new();
        if !self.eat("unit") {
            args.push(self.ty()?);
            while self.eat("*") {
                args.push(self.ty()?);
            }
        }
        if self.eat("->") {
            let result = Box::new(self.nested(|p| p.ty())?);
            return Ok(Type { kind: TypeKind::Function(args, result), span: start.to(self.previous()) });
        }
        match (args.pop(), args.is_empty()) {
            (Some(ty), true) => Ok(ty),
            _ => Err(self.unexpected("`->`", "a function type is written `int * int -> boolean`")),
        }
    }
}
