//! Constant expressions: array lengths, capacities, numbers of processes.

use quotient_source::Diagnostic;

use super::Lowering;
use crate::ast;

impl Lowering<'_> {
    /// The value of an expression that must be constant.
    pub(super) fn constant(&mut self, expr: &ast::Expr) -> Option<i32> {
        match fold(expr, &|name| self.names.constant(name)) {
            Ok(value) => Some(value),
            Err(span) => {
                if let Some(name) = unknown(expr, &|name| {
                    self.names.constant(name).is_some()
                        || self.local(name).is_some()
                        || self.names.globals.contains_key(name)
                }) {
                    let message = format!("`{}` is not defined", name.name);
                    let help =
                        format!("`#define` it in the model, or say its value: `-D {}=VALUE`", name.name);
                    self.report(Diagnostic::error(name.span, message).help(help));
                    return None;
                }
                self.report(
                    Diagnostic::error(expr.span, "this must be a constant")
                        .related(span, "this is not known before the model runs")
                        .help("use a number or a `#define`"),
                );
                None
            }
        }
    }

    /// A constant within bounds, or a global alone that begins with a number: SPIN takes that number, whatever is assigned later.
    pub(super) fn initial_in(&mut self, expr: &ast::Expr, low: i32, high: i32, what: &str) -> i32 {
        if let ast::ExprKind::Reference(r) = &expr.kind
            && let [part] = &r.parts[..]
            && part.index.is_none()
            && self.local(&part.name.name).is_none()
            && let Some(&value) = self.names.numerals.get(&part.name.name)
            && (low..=high).contains(&value)
        {
            let message = format!("{what} is the number that the variable begins with: {value}");
            self.report(Diagnostic::warning(expr.span, message));
            return value;
        }
        self.constant_in(expr, low, high, what)
    }

    /// A constant within bounds; the lower bound when it is not.
    pub(super) fn constant_in(&mut self, expr: &ast::Expr, low: i32, high: i32, what: &str) -> i32 {
        let Some(value) = self.constant(expr) else { return low };
        if !(low..=high).contains(&value) {
            self.report(Diagnostic::error(
                expr.span,
                format!("{what} must be from {low} to {high}, this is {value}"),
            ));
            return low;
        }
        value
    }
}

/// The first name in an expression that nothing in the model has.
fn unknown<'a>(expr: &'a ast::Expr, known: &dyn Fn(&str) -> bool) -> Option<&'a ast::Ident> {
    match &expr.kind {
        ast::ExprKind::Reference(r) => Some(&r.parts[0].name).filter(|name| !known(&name.name)),
        ast::ExprKind::Unary(_, a) => unknown(a, known),
        ast::ExprKind::Binary(_, a, b) => unknown(a, known).or_else(|| unknown(b, known)),
        ast::ExprKind::Conditional(c, a, b) => [c, a, b].into_iter().find_map(|part| unknown(part, known)),
        _ => None,
    }
}

/// Evaluates a constant expression; the error is the part that is not constant.
pub(super) fn fold(
    expr: &ast::Expr,
    constant: &dyn Fn(&str) -> Option<i32>,
) -> Result<i32, quotient_source::Span> {
    match &expr.kind {
        ast::ExprKind::Number(value) => Ok(*value),
        ast::ExprKind::Reference(r) if r.parts.len() == 1 && r.parts[0].index.is_none() => {
            constant(&r.parts[0].name.name).ok_or(expr.span)
        }
        ast::ExprKind::Unary(op, a) => {
            let a = fold(a, constant)?;
            Ok(match op {
                ast::UnaryOp::Not => i32::from(a == 0),
                ast::UnaryOp::Complement => !a,
                ast::UnaryOp::Negate => a.wrapping_neg(),
            })
        }
        ast::ExprKind::Binary(op, a, b) => {
            let (a, b) = (fold(a, constant)?, fold(b, constant)?);
            op.apply(a, b).ok_or(expr.span)
        }
        ast::ExprKind::Conditional(c, a, b) => {
            if fold(c, constant)? != 0 {
                fold(a, constant)
            } else {
                fold(b, constant)
            }
        }
        _ => Err(expr.span),
    }
}
