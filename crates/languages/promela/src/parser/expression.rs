//! Infix and prefix operators.
//!
//! Precedence is SPIN's, from loose to tight: `||`, `&&`, `|`, `^`, `&`, equality, comparison, shift,
//! sum, product; all associate to the left; prefix `!`, `~` and `-` bind tightest. Operators are
//! resolved with explicit stacks, so that a long chain needs no recursion. A long chain of one
//! associative operator becomes a balanced tree (values wrap around, so that the grouping of `+` and
//! `*` does not matter; `&&` and `||` keep the order of their operands), any other chain must stay
//! below [`MAX_EXPRESSION_HEIGHT`].

use quotient_source::{Diagnostic, Span};

use super::{MAX_EXPRESSION_HEIGHT, Parse, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::token::Kind;

/// Chains up to this length are built as written, to the left.
const SHORT_CHAIN: usize = 32;

/// An expression and the height of its tree.
#[derive(Debug)]
pub(super) struct Tall {
    pub expr: Expr,
    pub height: usize,
}

/// An operand on the stack: finished, or a chain of one associative operator.
enum Operand {
    Done(Tall),
    Chain(BinaryOp, Vec<Tall>),
}

/// The infix operator that a token is, with its precedence.
pub(super) fn infix(kind: &Kind) -> Option<(BinaryOp, u8)> {
    let Kind::Punct(punct) = kind else { return None };
    Some(match *punct {
        "||" => (BinaryOp::Or, 1),
        "&&" => (BinaryOp::And, 2),
        "|" => (BinaryOp::BitOr, 3),
        "^" => (BinaryOp::BitXor, 4),
        "&" => (BinaryOp::BitAnd, 5),
        "==" => (BinaryOp::Eq, 6),
        "!=" => (BinaryOp::Ne, 6),
        "<" => (BinaryOp::Lt, 7),
        ">" => (BinaryOp::Gt, 7),
        "<=" => (BinaryOp::Le, 7),
        ">=" => (BinaryOp::Ge, 7),
        "<<" => (BinaryOp::Shl, 8),
        ">>" => (BinaryOp::Shr, 8),
        "+" => (BinaryOp::Add, 9),
        "-" => (BinaryOp::Sub, 9),
        "*" => (BinaryOp::Mul, 10),
        "/" => (BinaryOp::Div, 10),
        "%" => (BinaryOp::Mod, 10),
        _ => return None,
    })
}

fn is_associative(op: BinaryOp) -> bool {
    use BinaryOp::{Add, And, BitAnd, BitOr, BitXor, Mul, Or};
    matches!(op, Or | And | BitOr | BitXor | BitAnd | Add | Mul)
}

impl Parser<'_> {
    /// One expression.
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.tall_expression().map(|tall| tall.expr)
    }

    /// One expression that makes up the whole input.
    pub fn whole_expression(mut self) -> Option<Expr> {
        self.apart = true;
        let expr = self.expression().ok()?;
        if !self.at_end() {
            self.expected("an operator or the end of the expression", "");
            return None;
        }
        Some(expr)
    }

    pub(super) fn tall_expression(&mut self) -> Parse<Tall> {
        self.deeper(|parser| {
            let first = parser.prefixed()?;
            parser.infixes(first)
        })
    }

    /// Goes on after a first operand that has been read.
    pub(super) fn expression_after(&mut self, first: Tall) -> Parse<Tall> {
        self.infixes(first)
    }

    fn infixes(&mut self, first: Tall) -> Parse<Tall> {
        let mut operands = vec![Operand::Done(first)];
        let mut operators: Vec<(BinaryOp, u8)> = Vec::new();
        while let Some((op, level)) = infix(self.kind()) {
            while operators.last().is_some_and(|(_, l)| *l >= level) {
                self.reduce(&mut operands, &mut operators)?;
            }
            let operator = self.span();
            self.bump();
            self.refuse_assigning_operator(operator)?;
            operators.push((op, level));
            let right = self.prefixed()?;
            operands.push(Operand::Done(right));
        }
        while !operators.is_empty() {
            self.reduce(&mut operands, &mut operators)?;
        }
        match operands.pop() {
            Some(operand) => self.finish(operand),
            None => Err(self.expected("an expression", "")),
        }
    }

    /// Applies the operator on top of the stack.
    fn reduce(&mut self, operands: &mut Vec<Operand>, operators: &mut Vec<(BinaryOp, u8)>) -> Parse<()> {
        let (Some((op, _)), Some(right), Some(left)) = (operators.pop(), operands.pop(), operands.pop())
        else {
            return Err(self.expected("an expression", ""));
        };
        let right = self.finish(right)?;
        operands.push(match left {
            Operand::Chain(same, mut terms) if same == op => {
                terms.push(right);
                Operand::Chain(op, terms)
            }
            left => {
                let left = self.finish(left)?;
                if is_associative(op) {
                    Operand::Chain(op, vec![left, right])
                } else {
                    Operand::Done(self.binary(op, left, right)?)
                }
            }
        });
        Ok(())
    }

    fn finish(&mut self, operand: Operand) -> Parse<Tall> {
        match operand {
            Operand::Done(tall) => Ok(tall),
            Operand::Chain(op, terms) if terms.len() > SHORT_CHAIN => self.balanced(op, terms),
            Operand::Chain(op, terms) => {
                let mut terms = terms.into_iter();
                let Some(mut left) = terms.next() else { return Err(self.expected("an expression", "")) };
                for right in terms {
                    left = self.binary(op, left, right)?;
                }
                Ok(left)
            }
        }
    }

    /// Pairs neighbours until one is left: logarithmic height, same order.
    fn balanced(&mut self, op: BinaryOp, mut terms: Vec<Tall>) -> Parse<Tall> {
        while terms.len() > 1 {
            let mut pairs = Vec::with_capacity(terms.len().div_ceil(2));
            let mut rest = terms.into_iter();
            while let Some(left) = rest.next() {
                pairs.push(match rest.next() {
                    Some(right) => self.binary(op, left, right)?,
                    None => left,
                });
            }
            terms = pairs;
        }
        match terms.pop() {
            Some(tall) => Ok(tall),
            None => Err(self.expected("an expression", "")),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: Tall, right: Tall) -> Parse<Tall> {
        let span = left.expr.span.to(right.expr.span);
        let height = left.height.max(right.height) + 1;
        self.check_height(height, span)?;
        let kind = ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr));
        Ok(Tall { expr: Expr { kind, span }, height })
    }

    fn check_height(&mut self, height: usize, span: Span) -> Parse<()> {
        if height <= MAX_EXPRESSION_HEIGHT {
            return Ok(());
        }
        let diagnostic = Diagnostic::error(span, "this expression is too long")
            .label(format!("more than {MAX_EXPRESSION_HEIGHT} operators, one inside the other"))
            .help("group parts of it with parentheses, or compute it in several steps");
        Err(self.report(diagnostic))
    }

    /// An operand with the prefix operators in front of it.
    fn prefixed(&mut self) -> Parse<Tall> {
        let mut prefixes: Vec<(UnaryOp, Span)> = Vec::new();
        loop {
            let op = match self.kind() {
                Kind::Punct("!") => UnaryOp::Not,
                Kind::Punct("~") => UnaryOp::Complement,
                Kind::Punct("-") => UnaryOp::Negate,
                Kind::Punct("!!") => {
                    let diagnostic = self
                        .error_here("`!!` is the sorted send, not a double negation")
                        .help("leave both `!` out, or write `!(!x)`");
                    return Err(self.report(diagnostic));
                }
                _ => break,
            };
            prefixes.push((op, self.span()));
            self.bump();
        }
        let mut tall = self.primary()?;
        for (op, operator) in prefixes.into_iter().rev() {
            self.refuse_negated_probe(op, operator, &tall.expr)?;
            let span = operator.to(tall.expr.span);
            let height = tall.height + 1;
            self.check_height(height, span)?;
            let kind = ExprKind::Unary(op, Box::new(tall.expr));
            tall = Tall { expr: Expr { kind, span }, height };
        }
        Ok(tall)
    }

    /// `!full(q)`: SPIN's grammar forbids it.
    pub(super) fn refuse_negated_probe(&mut self, op: UnaryOp, operator: Span, operand: &Expr) -> Parse<()> {
        let (word, instead, channel) = match &operand.kind {
            ExprKind::Full(c) => ("full", "nfull", c),
            ExprKind::Nfull(c) => ("nfull", "full", c),
            ExprKind::Empty(c) => ("empty", "nempty", c),
            ExprKind::Nempty(c) => ("nempty", "empty", c),
            _ => return Ok(()),
        };
        let name = channel.parts.first().map_or("", |p| p.name.name.as_str());
        let operator = operator.to(operand.span);
        let diagnostic = match op {
            UnaryOp::Not => Diagnostic::error(operator, format!("`{word}` cannot be negated"))
                .help(format!("write `{instead}({name})`")),
            _ => Diagnostic::error(operator, format!("`{word}` is a condition, not a number"))
                .help(format!("use `len({name})` to compute with the number of messages")),
        };
        Err(self.report(diagnostic))
    }

    /// `x += 1` and the like, after the operator.
    fn refuse_assigning_operator(&mut self, operator: Span) -> Parse<()> {
        let adjacent = operator.file == self.span().file && operator.end == self.span().start;
        if self.is("=") && adjacent {
            let diagnostic = Diagnostic::error(operator.to(self.span()), "Promela has no such assignment")
                .help("write it in full: `x = x + 1` (or `x++`, `x--`)");
            return Err(self.report(diagnostic));
        }
        Ok(())
    }
}
