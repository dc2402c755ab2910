//! Short constructors for syntax trees without source text: every span is the empty span of file 0.

use quotient_promela::ast::*;
use quotient_source::{FileId, Span};

/// The span of everything that was never written down.
pub fn nowhere() -> Span {
    Span { file: FileId(0), start: 0, end: 0 }
}

/// A name.
pub fn ident(name: &str) -> Ident {
    Ident { name: name.to_string(), span: nowhere() }
}

/// An expression.
pub fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: nowhere() }
}

/// A number.
pub fn number(value: i32) -> Expr {
    expr(ExprKind::Number(value))
}

/// A plain variable.
pub fn name(variable: &str) -> Reference {
    Reference { parts: vec![Part { name: ident(variable), index: None }], span: nowhere() }
}

/// `variable[index]`.
pub fn element(variable: &str, index: Expr) -> Reference {
    Reference { parts: vec![Part { name: ident(variable), index: Some(Box::new(index)) }], span: nowhere() }
}

/// The value of a variable.
pub fn value(reference: Reference) -> Expr {
    expr(ExprKind::Reference(reference))
}

/// `left op right`.
pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    expr(ExprKind::Binary(op, Box::new(left), Box::new(right)))
}

/// A statement without labels.
pub fn statement(kind: StatementKind) -> Statement {
    Statement { labels: Vec::new(), kind, span: nowhere() }
}

/// A condition as a statement.
pub fn condition(e: Expr) -> Statement {
    statement(StatementKind::Expr(e))
}

/// `skip`.
pub fn skip() -> Statement {
    condition(number(1))
}

/// A sequence.
pub fn sequence(statements: Vec<Statement>) -> Sequence {
    Sequence { statements }
}

/// `:: statements`.
pub fn choice(statements: Vec<Statement>) -> Choice {
    Choice { sequence: sequence(statements), span: nowhere() }
}

/// A declaration of one variable.
pub fn declare(
    ty: TypeName,
    variable: &str,
    length: Option<usize>,
    init: Option<Initialiser>,
) -> Declaration {
    let length = length.map(|n| number(n as i32));
    let variable =
        Variable { name: ident(variable), pointer: false, width: None, length, init, span: nowhere() };
    Declaration { visibility: Visibility::Plain, ty, variables: vec![variable], span: nowhere() }
}

/// A proctype without parameters, not active.
pub fn proctype(name: &str, body: Vec<Statement>) -> Proctype {
    Proctype {
        name: ident(name),
        deterministic: false,
        active: None,
        params: Vec::new(),
        priority: None,
        provided: None,
        body: sequence(body),
        span: nowhere(),
        end: nowhere(),
    }
}

/// `active` or `active [count]`.
pub fn active(count: Option<i32>) -> Active {
    Active { count: count.map(number), span: nowhere() }
}
