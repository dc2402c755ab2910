//! Syntax of dSPIN's extensions: pointers and functions.

use quotient_source::Span;

use super::{ChannelInit, Declaration, Expr, Ident, Reference, Sequence, TypeName};

/// `function f(params) : type { body }`.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Ident,
    /// Formal parameters.
    pub params: Vec<Declaration>,
    /// What it returns.
    pub returns: Option<TypeName>,
    /// The body.
    pub body: Sequence,
    /// From `function` to the type.
    pub span: Span,
    /// The closing brace of the body.
    pub end: Span,
}

/// Statements of dSPIN.
#[derive(Clone, Debug)]
pub enum DynamicStatement {
    /// `&p = …`.
    Point(Reference, PointerValue),
    /// `delete(&p)`.
    Delete(Expr),
    /// `f(args)`, `x = f(args)`, `&p = f(args)`.
    Call {
        /// The function, or a variable that holds one.
        callee: Reference,
        /// The arguments.
        args: Vec<Expr>,
        /// Where the value goes.
        result: Option<CallTarget>,
    },
    /// `return`, `return e`.
    Return(Option<Expr>),
}

/// Where the value of a call goes.
#[derive(Clone, Debug)]
pub struct CallTarget {
    /// The variable.
    pub reference: Reference,
    /// Written with `&`: the pointer itself.
    pub pointer: bool,
}

/// What a pointer is given.
#[derive(Clone, Debug)]
pub enum PointerValue {
    /// A new object.
    New(NewObject),
    /// `&q`, `null`, or a condition between such.
    Expr(Expr),
}

/// `new …`.
#[derive(Clone, Debug)]
pub enum NewObject {
    /// `T` or `T[n]`.
    Elements {
        /// The type of an element.
        ty: TypeName,
        /// How many; `None` for one.
        length: Option<Expr>,
        /// The whole.
        span: Span,
    },
    /// `chan = [n] of { … }`.
    Channel(ChannelInit),
}
