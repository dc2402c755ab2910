//! The expressions of `#if` and `#elif`: integers, C's operators, `defined`.

use quotient_source::{Diagnostic, Span};

use super::expansion::Expander;
use crate::token::{Kind, Token};

/// How deep parentheses and prefix operators may nest.
const MAX_DEPTH: usize = 100;

/// Whether the condition on `line` holds. A mistake is reported and counts as false.
pub(super) fn holds(expander: &mut Expander<'_>, directive: Span, line: &[Token]) -> bool {
    let tokens = expand_condition(expander, line);
    let mut reader = Reader { tokens: &tokens, at: 0, depth: 0, directive };
    let value = reader.conditional().and_then(|value| match reader.peek() {
        None => Ok(value),
        Some(extra) => Err(Diagnostic::error(extra.span, "expected an operator")
            .help("the condition of `#if` is one integer expression")),
    });
    match value {
        Ok(value) => value != 0,
        Err(diagnostic) => {
            expander.report(diagnostic);
            false
        }
    }
}

/// Replaces `defined X` and `defined(X)`, then expands macros.
fn expand_condition(expander: &mut Expander<'_>, line: &[Token]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let found = match &line[at..] {
            [word, open, name, close, ..]
                if word.word() == Some("defined")
                    && open.is("(")
                    && close.is(")")
                    && name.word().is_some() =>
            {
                Some((name, 4))
            }
            [word, name, ..] if word.word() == Some("defined") && name.word().is_some() => Some((name, 2)),
            _ => None,
        };
        match found {
            Some((name, length)) => {
                let defined = name.word().is_some_and(|n| expander.macros.is_defined(n));
                tokens.push(Token::new(Kind::Number(if defined { "1" } else { "0" }.into()), name.span));
                at += length;
            }
            None => {
                tokens.push(line[at].clone());
                at += 1;
            }
        }
    }
    expander.expand(tokens)
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    directive: Span,
}

type Value = Result<i64, Diagnostic>;

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self, punct: &str) -> bool {
        let found = self.peek().is_some_and(|t| t.is(punct));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, punct: &str) -> Result<(), Diagnostic> {
        if self.take(punct) {
            return Ok(());
        }
        let span = self.peek().map_or(self.directive, |t| t.span);
        Err(Diagnostic::error(span, format!("expected `{punct}` in the condition of `#if`")))
    }

    fn conditional(&mut self) -> Value {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(self.directive, "this condition is nested too deeply"));
        }
        let mut value = self.binary(0)?;
        if self.take("?") {
            let yes = self.conditional()?;
            self.expect(":")?;
            let no = self.conditional()?;
            value = if value != 0 { yes } else { no };
        }
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, least: u8) -> Value {
        let mut left = self.unary()?;
        while let Some(Token { kind: Kind::Punct(op), span, .. }) = self.peek() {
            let (op, span) = (*op, *span);
            let Some(level) = level(op).filter(|&l| l >= least) else { break };
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = apply(op, left, right)
                .ok_or_else(|| Diagnostic::error(span, "division by zero in the condition of `#if`"))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Value {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(self.directive, "this condition is nested too deeply"));
        }
        let Some(token) = self.peek() else {
            return Err(Diagnostic::error(self.directive, "a value is missing in this condition")
                .help("write an integer expression after `#if`, such as `#if N > 2`"));
        };
        let span = token.span;
        let value = match &token.kind {
            Kind::Punct("!") => i64::from(self.operand()? == 0),
            Kind::Punct("!!") => i64::from(self.operand()? != 0),
            Kind::Punct("~") => !self.operand()?,
            Kind::Punct("-") => self.operand()?.wrapping_neg(),
            Kind::Punct("+") => self.operand()?,
            Kind::Punct("(") => {
                self.at += 1;
                let value = self.conditional()?;
                self.expect(")")?;
                value
            }
            Kind::Number(digits) => {
                let value = digits.parse();
                self.at += 1;
                value.map_err(|_| Diagnostic::error(span, "this number is too large"))?
            }
            Kind::Char(c) => {
                let value = i64::from(*c);
                self.at += 1;
                value
            }
            // As in C, a name that is not a macro is 0.
            Kind::Word(_) => {
                self.at += 1;
                0
            }
            other => {
                return Err(Diagnostic::error(span, format!("{} is not a value", other.described()))
                    .help("conditions of `#if` have integers, macros, `defined(NAME)` and operators"));
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    fn operand(&mut self) -> Value {
        self.at += 1;
        self.unary()
    }
}

fn level(op: &str) -> Option<u8> {
    Some(match op {
        "||" => 0,
        "&&" => 1,
        "|" => 2,
        "^" => 3,
        "&" => 4,
        "==" | "!=" => 5,
        "<" | ">" | "<=" | ">=" => 6,
        "<<" | ">>" => 7,
        "+" | "-" => 8,
        "*" | "/" | "%" => 9,
        _ => return None,
    })
}

fn apply(op: &str, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<" => i64::from(a < b),
        ">" => i64::from(a > b),
        "<=" => i64::from(a <= b),
        ">=" => i64::from(a >= b),
        "<<" => a.wrapping_shl(b as u32),
        ">>" => a.wrapping_shr(b as u32),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if b != 0 => a.wrapping_div(b),
        "%" if b != 0 => a.wrapping_rem(b),
        _ => return None,
    })
}
