//! Sends, receives and polls.

use quotient_source::Span;

use super::expression::infix;
use super::{Parse, Parser};
use crate::ast::{Expr, ExprKind, ReceiveArg, Reference, StatementKind, UnaryOp};
use crate::token::{Kind, is_keyword};

impl Parser<'_> {
    /// `c ! a, b` or `c ! m(a, b)`, after the channel.
    pub(super) fn send(&mut self, channel: Reference) -> Parse<StatementKind> {
        let sorted = self.is("!!");
        self.bump();
        if self.is("(") {
            self.refuse_parenthesised_message()?;
        }
        self.in_send = true;
        let first = self.expression();
        self.in_send = false;
        let mut args = vec![first?];
        if self.is("(") {
            let open = self.span();
            self.bump();
            args.push(self.expression()?);
            while self.take(",") {
                args.push(self.expression()?);
            }
            self.close_parenthesis(open)?;
        } else {
            while self.take(",") {
                args.push(self.expression()?);
            }
        }
        Ok(StatementKind::Send { channel, sorted, args })
    }

    /// `c!(a, b)`.
    fn refuse_parenthesised_message(&mut self) -> Parse<()> {
        let mut nesting = 0;
        for distance in 0.. {
            match self.ahead(distance).kind {
                Kind::Punct("(") => nesting += 1,
                Kind::Punct(")") => nesting -= 1,
                Kind::Punct(",") if nesting == 1 => {
                    let diagnostic = self
                        .error_here("the fields of a message do not stand in parentheses")
                        .help("write `c!a,b`, or `c!m(a,b)` with the first field in front");
                    return Err(self.report(diagnostic));
                }
                Kind::End | Kind::Punct(";" | "{" | "}" | "::") => break,
                _ => {}
            }
            if nesting == 0 {
                break;
            }
        }
        Ok(())
    }

    /// `c ? a, b`, `c ?? a`, `c ?<a>`, after the channel.
    pub(super) fn receive(&mut self, channel: Reference) -> Parse<StatementKind> {
        let any = self.is("??");
        self.bump();
        let peek = self.take("<");
        let mut args = Vec::new();
        self.receive_arguments(&mut args)?;
        if infix(self.kind()).is_some() && !(peek && self.is(">")) {
            let diagnostic = self
                .error_here("a receive takes variables and constants, not expressions")
                .help("write `c?eval(e)` to wait for the value of an expression");
            return Err(self.report(diagnostic));
        }
        if peek && !self.take(">") {
            return Err(self.expected("`>`", "to close `?<`"));
        }
        Ok(StatementKind::Receive { channel, any, peek, args })
    }

    /// `[a, b]` of a poll. Leaves the greatest height of an argument in `leaf_height`.
    pub(super) fn poll_arguments(&mut self) -> Parse<Vec<ReceiveArg>> {
        self.expect("[", "after `?`")?;
        let mut args = Vec::new();
        self.deeper(|parser| parser.receive_arguments(&mut args))?;
        self.expect("]", "to close `?[`")?;
        Ok(args)
    }

    /// `a, b`, `m(a, b)` or `(a, b)`.
    fn receive_arguments(&mut self, args: &mut Vec<ReceiveArg>) -> Parse<()> {
        let mut height = 1;
        let mut open: Vec<Span> = Vec::new();
        loop {
            while self.is("(") {
                open.push(self.span());
                self.bump();
            }
            args.push(self.receive_argument()?);
            height = height.max(self.leaf_height);
            if self.take(",") {
                continue;
            }
            if self.is("(") {
                continue;
            }
            while let Some(opened) = open.pop() {
                self.close_parenthesis(opened)?;
            }
            self.leaf_height = height;
            return Ok(());
        }
    }

    fn receive_argument(&mut self) -> Parse<ReceiveArg> {
        let span = self.span();
        self.leaf_height = 1;
        match self.kind().clone() {
            Kind::Number(_) | Kind::Char(_) => self.operand().map(ReceiveArg::Constant),
            Kind::Punct("-") => {
                self.bump();
                let value = self.operand()?;
                if !matches!(value.kind, ExprKind::Number(_)) {
                    return Err(self.not_a_place(span));
                }
                let span = span.to(value.span);
                let kind = ExprKind::Unary(UnaryOp::Negate, Box::new(value));
                self.leaf_height = 2;
                Ok(ReceiveArg::Constant(Expr { kind, span }))
            }
            Kind::Punct("&") => {
                self.bump();
                self.reference().map(ReceiveArg::Pointer)
            }
            Kind::Word(word) => match &*word {
                "true" | "false" | "skip" => self.operand().map(ReceiveArg::Constant),
                "eval" => {
                    self.bump();
                    let open = self.span();
                    self.expect("(", "after `eval`")?;
                    let value = self.tall_expression()?;
                    self.close_parenthesis(open)?;
                    self.leaf_height = value.height + 1;
                    Ok(ReceiveArg::Eval(value.expr, span.to(self.previous)))
                }
                "_" => {
                    self.bump();
                    Ok(ReceiveArg::Ignore(span))
                }
                word if is_keyword(word) => Err(self.not_a_place(span)),
                _ => self.reference().map(ReceiveArg::Variable),
            },
            Kind::Punct("[") => {
                let diagnostic = self
                    .error_here("a test of a channel is an expression and has no second bracket")
                    .help("write `c?[a,b]`");
                Err(self.report(diagnostic))
            }
            _ => Err(self.expected("a variable, a constant, `_` or `eval(…)`", "in this receive")),
        }
    }

    fn not_a_place(&mut self, span: Span) -> super::Reported {
        let diagnostic = quotient_source::Diagnostic::error(span, "a message cannot be received into this")
            .help("write a variable, a constant, `_` for any value, or `eval(e)` for the value of an expression");
        self.report(diagnostic)
    }
}
