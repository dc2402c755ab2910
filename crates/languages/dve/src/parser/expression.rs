//! Expressions, by precedence climbing.

use quotient_formula::Parse;
use quotient_source::Span;

use super::{MAX_HEIGHT, Parser};
use crate::ast::{Binary, Expr, ExprKind, Unary};
use crate::print;
use crate::token::Kind;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.operations(0)
    }

    pub(super) fn make(&mut self, kind: ExprKind, span: Span, heights: &[u16]) -> Parse<Expr> {
        let height = heights.iter().copied().max().unwrap_or(0) + 1;
        if height > MAX_HEIGHT {
            let message = format!("this expression is too long: more than {MAX_HEIGHT} operations in a row");
            return Err(self.error(span, message, "cut it into several transitions or variables"));
        }
        Ok(Expr { kind, span, height })
    }

    pub(super) fn operator(&self) -> Option<(Binary, u8)> {
        let spelled = |(_, words, _): &&(Binary, &[&str], u8)| words.iter().any(|w| self.is(w));
        Binary::ALL.iter().find(spelled).map(|(op, _, binding)| (*op, *binding))
    }

    fn operations(&mut self, least: u8) -> Parse<Expr> {
        let mut left = self.operand()?;
        // The last operator of this level.
        let mut before: Option<Binary> = None;
        while let Some((op, binding)) = self.operator() {
            if binding <= least {
                break;
            }
            let at = self.bump().span;
            let right = self.operations(binding)?;
            if let Some(before) = before.filter(|before| is_disputed(*before, op)) {
                let (a, b) = (print::spelling(before), print::spelling(op));
                let message = format!("`{b}` after `{a}` needs parentheses");
                let help = format!(
                    "DiVinE's manual reads `x {a} y {b} z` as `x {a} (y {b} z)`, its grammar as `(x {a} y) {b} z`"
                );
                return Err(self.error(at, message, &help));
            }
            before = Some(op);
            let (span, heights) = (left.span.to(right.span), [left.height, right.height]);
            left = self.make(ExprKind::Binary(op, Box::new(left), Box::new(right)), span, &heights)?;
        }
        Ok(left)
    }

    fn operand(&mut self) -> Parse<Expr> {
        let op = match () {
            () if self.is("-") => Unary::Minus,
            () if self.is("~") => Unary::Complement,
            // `!` is what later versions of DiVinE write.
            () if self.is("not") || self.is("!") => Unary::Not,
            () => return self.simple(),
        };
        let start = self.bump().span;
        let operand = self.nested(Parser::operand)?;
        let (span, height) = (start.to(operand.span), operand.height);
        self.make(ExprKind::Unary(op, Box::new(operand)), span, &[height])
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Parse<Expr>) -> Parse<Expr> {
        self.deeper()?;
        let e = parse(self);
        self.nesting -= 1;
        e
    }

    /// A number, a name with what belongs to it, or an expression in parentheses.
    pub(super) fn simple(&mut self) -> Parse<Expr> {
        let span = self.span();
        let number = match self.token().kind {
            Kind::Number(value) => Some(value),
            _ if self.is("true") => Some(1),
            _ if self.is("false") => Some(0),
            _ => None,
        };
        if let Some(value) = number {
            self.bump();
            return self.make(ExprKind::Number(value), span, &[]);
        }
        if self.eat("(") {
            let mut e = self.nested(Parser::expression)?;
            e.span = span.to(self.expect(")", "")?);
            return Ok(e);
        }
        if !matches!(self.token().kind, Kind::Word(_)) {
            return Err(self.unexpected("an expression", ""));
        }
        let name = self.name("an expression")?;
        if self.eat(".") {
            let what = if self.proposition {
                "a state or variable of the process"
            } else {
                "a state of the process"
            };
            let of = self.name(what)?;
            let span = name.span.to(of.span);
            if self.proposition && self.is("[") {
                let (index, end) = self.index()?;
                let height = index.height;
                let kind = ExprKind::Foreign(name, of, Some(Box::new(index)));
                return self.make(kind, span.to(end), &[height]);
            }
            return self.make(ExprKind::Of(name, of), span, &[]);
        }
        if !self.proposition && self.eat("->") {
            let of = self.name("a variable of the process")?;
            let span = name.span.to(of.span);
            if self.is("[") {
                let (index, end) = self.index()?;
                let height = index.height;
                let kind = ExprKind::Foreign(name, of, Some(Box::new(index)));
                return self.make(kind, span.to(end), &[height]);
            }
            return self.make(ExprKind::Foreign(name, of, None), span, &[]);
        }
        if self.is("[") {
            let (index, end) = self.index()?;
            let (span, height) = (name.span.to(end), index.height);
            return self.make(ExprKind::Index(name, Box::new(index)), span, &[height]);
        }
        let span = name.span;
        self.make(ExprKind::Name(name), span, &[])
    }

    /// `[e]`, and where it ends.
    fn index(&mut self) -> Parse<(Expr, Span)> {
        self.bump();
        let index = self.nested(Parser::expression)?;
        let end = self.expect("]", "")?;
        Ok((index, end))
    }
}

/// The manual has `and` bind more tightly than `or`, and `&` more tightly than `^` and `|`; the grammar has them bind equally. Where that
/// makes a difference, nothing is guessed.
fn is_disputed(before: Binary, op: Binary) -> bool {
    matches!(
        (before, op),
        (Binary::Or, Binary::And)
            | (Binary::BitOr, Binary::BitXor | Binary::BitAnd)
            | (Binary::BitXor, Binary::BitAnd)
    )
}
