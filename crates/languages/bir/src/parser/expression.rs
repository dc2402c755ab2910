//! Expressions [114-137], by precedence climbing. From loosest to tightest: `=>` (to the right), `? :`, `||`, `&&`, `|`,
//! `^`, `&`, `== !=`, `< <= > >= instanceof kindof`, `shl shr ushr`, `+ -`, `* / %`, prefix operators and casts,
//! postfix.

use quotient_source::{Diagnostic, Span};

use super::{MAX_HEIGHT, Parse, Parser, is_name};
use crate::ast::{Binary, Expr, ExprKind, ExtensionUse, LockTest, Unary};
use crate::token::Kind;

/// Infix operators with their precedence.
pub(super) const OPERATORS: &[(&str, Binary, u8)] = &[
    ("=>", Binary::Implies, 1),
    ("||", Binary::Or, 3),
    ("&&", Binary::And, 4),
    ("|", Binary::BitOr, 5),
    ("^", Binary::BitXor, 6),
    ("&", Binary::BitAnd, 7),
    ("==", Binary::Eq, 8),
    ("!=", Binary::Ne, 8),
    ("<", Binary::Lt, RELATIONAL),
    ("<=", Binary::Le, RELATIONAL),
    (">", Binary::Gt, RELATIONAL),
    (">=", Binary::Ge, RELATIONAL),
    ("shl", Binary::Shl, 10),
    ("shr", Binary::Shr, 10),
    ("ushr", Binary::Ushr, 10),
    ("+", Binary::Add, 11),
    ("-", Binary::Sub, 11),
    ("*", Binary::Mul, 12),
    ("/", Binary::Div, 12),
    ("%", Binary::Rem, 12),
];
const CONDITIONAL: u8 = 2;
const RELATIONAL: u8 = 9;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.nested(|p| p.binary(0))
    }

    /// Whether the token after the next `ahead` ones can start an operand: then a `>` before it compares, and does not
    /// close `<e>`.
    fn starts_operand(&self, ahead: usize) -> bool {
        const WORDS: &[&str] = &[
            "true",
            "false",
            "null",
            "new",
            "let",
            "lockAvailable",
            "hasLock",
            "wasNotified",
            "threadTerminated",
        ];
        let token = self.peek(ahead);
        match &token.kind {
            Kind::Punct(punct) => matches!(*punct, "(" | "!" | "-" | "+"),
            Kind::Word(word) => is_name(token) || WORDS.contains(&&**word),
            Kind::Quoted(_) | Kind::Integer(..) | Kind::Real(..) | Kind::Text(_) => true,
            Kind::TypeVariable(_) | Kind::End => false,
        }
    }

    pub(super) fn make(&mut self, kind: ExprKind, span: Span, children: &[u16]) -> Parse<Expr> {
        let height = 1 + children.iter().max().copied().unwrap_or(0);
        if height > MAX_HEIGHT {
            let d = Diagnostic::error(span, "the expression is too large")
                .help("split it into several assignments or funs");
            return Err(self.report(d));
        }
        Ok(Expr { kind, span, height })
    }

    /// An expression of operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Parse<Expr> {
        let mut left = self.prefix()?;
        loop {
            if self.angle && self.is(">") && !self.starts_operand(1) {
                return Ok(left);
            }
            if least <= CONDITIONAL && self.is("?") {
                self.bump();
                let yes = self.expression()?;
                self.expect(":", "a conditional is written `c ? a : b`")?;
                let no = self.nested(|p| p.binary(CONDITIONAL))?;
                let (span, heights) = (left.span.to(no.span), [left.height, yes.height, no.height]);
                let kind = ExprKind::Conditional(Box::new(left), Box::new(yes), Box::new(no));
                left = self.make(kind, span, &heights)?;
                continue;
            }
            if least <= RELATIONAL && (self.is("instanceof") || self.is("kindof")) {
                let exact = self.bump().is("kindof");
                let ty = self.ty()?;
                let (span, height) = (left.span.to(ty.span), left.height);
                left = self.make(ExprKind::TypeTest(exact, Box::new(left), ty), span, &[height])?;
                continue;
            }
            let found = OPERATORS.iter().find(|(text, _, level)| self.is(text) && *level >= least);
            let Some(&(_, op, level)) = found else {
                if self.is("=") && self.trying == 0 {
                    let d = Diagnostic::error(self.span(), "expected an operator, found `=`");
                    return Err(self.report(d.help("equality is written `==`, assignment `:=`")));
                }
                return Ok(left);
            };
            // `=>` groups to the right, everything else to the left.
            let right_level = if self.bump().is("=>") { level } else { level + 1 };
            let right = self.nested(|p| p.binary(right_level))?;
            let (span, heights) = (left.span.to(right.span), [left.height, right.height]);
            left = self.make(ExprKind::Binary(op, Box::new(left), Box::new(right)), span, &heights)?;
        }
    }

    pub(super) fn prefix(&mut self) -> Parse<Expr> {
        let start = self.span();
        let op = match self.token().kind {
            Kind::Punct("-") => Some(Unary::Minus),
            Kind::Punct("+") => Some(Unary::Plus),
            Kind::Punct("!") => Some(Unary::Not),
            _ => None,
        };
        let Some(op) = op else {
            return match self.cast()? {
                Some(cast) => Ok(cast),
                None => self.postfix(),
            };
        };
        self.bump();
        if let (Unary::Minus, Kind::Integer(value, long)) = (op, self.token().kind.clone()) {
            self.bump();
            let mut literal = self.integer(-value, long)?;
            literal.span = start.to(literal.span);
            return Ok(literal);
        }
        let operand = self.nested(|p| p.prefix())?;
        let (span, height) = (start.to(operand.span), operand.height);
        self.make(ExprKind::Unary(op, Box::new(operand)), span, &[height])
    }

    /// `(T) e`, if that is what comes next: a type in parentheses, followed by something that starts an operand. After
    /// a record's or alias's name a sign does not count, so that `(x) - 1` is a difference.
    fn cast(&mut self) -> Parse<Option<Expr>> {
        if !self.is("(") {
            return Ok(None);
        }
        let start = self.span();
        let ty = self.attempt(|p| {
            p.bump();
            let named = is_name(p.token());
            let ty = p.ty()?;
            p.expect(")", "")?;
            let token = p.token();
            let operand = match &token.kind {
                Kind::Word(word) => {
                    !["shl", "shr", "ushr", "instanceof", "kindof", "do", "in", "goto", "return"]
                        .contains(&&**word)
                }
                Kind::Punct("(" | "!") => true,
                Kind::Punct("-" | "+") => !named,
                Kind::Punct(_) | Kind::End => false,
                _ => true,
            };
            if operand { Ok(ty) } else { Err(super::Reported) }
        });
        let Some(ty) = ty else { return Ok(None) };
        let operand = self.nested(|p| p.prefix())?;
        let (span, height) = (start.to(operand.span), operand.height);
        self.make(ExprKind::Cast(ty, Box::new(operand)), span, &[height]).map(Some)
    }

    /// A primary expression with its fields and indices.
    pub(super) fn postfix(&mut self) -> Parse<Expr> {
        let mut base = self.nested(|p| p.primary())?;
        loop {
            if self.is(".") {
                self.bump();
                if let ExprKind::Name(extension) = &base.kind
                    && let Some(used) = self.extension_use(extension.clone())?
                {
                    let heights: Vec<u16> = used.args.iter().map(|a| a.height).collect();
                    let span = base.span.to(self.previous());
                    base = self.make(ExprKind::Extension(used), span, &heights)?;
                    continue;
                }
                let field = self.name("the name of a field")?;
                let (span, height) = (base.span.to(field.span), base.height);
                base = self.make(ExprKind::Field(Box::new(base), field), span, &[height])?;
            } else if self.is("[") {
                self.bump();
                let index = self.bracketed()?;
                let end = self.expect("]", "an element is written `a[i]`")?;
                let (span, heights) = (base.span.to(end), [base.height, index.height]);
                base = self.make(ExprKind::Index(Box::new(base), Box::new(index)), span, &heights)?;
            } else {
                return Ok(base);
            }
        }
    }

    /// `op<T>(…)` after `X.`; `None` (and nothing taken) when a field follows instead.
    fn extension_use(&mut self, extension: crate::ast::Name) -> Parse<Option<ExtensionUse>> {
        if !is_name(self.token()) {
            return Ok(None);
        }
        let start = self.at;
        let operation = self.name("")?;
        let types = if self.is("<") {
            let types = self.attempt(|p| {
                let types = p.type_args()?;
                if p.is("(") { Ok(types) } else { Err(super::Reported) }
            });
            types.unwrap_or_default()
        } else {
            Vec::new()
        };
        if !self.eat("(") {
            self.at = start;
            return Ok(None);
        }
        let args = self.arguments()?;
        Ok(Some(ExtensionUse { extension, operation, types, args }))
    }

    /// An expression inside brackets, where `>` is an operator again.
    fn bracketed(&mut self) -> Parse<Expr> {
        let angle = std::mem::replace(&mut self.angle, false);
        let inner = self.expression();
        self.angle = angle;
        inner
    }

    fn arguments(&mut self) -> Parse<Vec<Expr>> {
        let angle = std::mem::replace(&mut self.angle, false);
        let args = self.list(")", |p| p.expression());
        self.angle = angle;
        args
    }

    fn primary(&mut self) -> Parse<Expr> {
        let start = self.span();
        let leaf = |kind| Ok(Expr { kind, span: start, height: 1 });
        match self.token().kind.clone() {
            Kind::Integer(value, long) => {
                self.bump();
                self.integer(value, long)
            }
            Kind::Real(text, float) => {
                self.bump();
                leaf(ExprKind::Real(text, float))
            }
            Kind::Text(text) => {
                self.bump();
                leaf(ExprKind::String(text))
            }
            Kind::Punct("(") => {
                self.bump();
                let inner = self.bracketed()?;
                let end = self.expect(")", "close the parenthesis")?;
                Ok(Expr { span: start.to(end), ..inner })
            }
            Kind::Punct("<") => {
                self.bump();
                let angle = std::mem::replace(&mut self.angle, true);
                let inner = self.expression();
                self.angle = angle;
                let inner = inner?;
                let end = self.expect(">", "an atomic expression is written `<e>`")?;
                Ok(Expr { span: start.to(end), ..inner })
            }
            Kind::Word(word) => self.word_expression(&word, start),
            _ if self.at_name() => self.variable_or_call(),
            _ => Err(self.unexpected("an expression", "")),
        }
    }

    fn variable_or_call(&mut self) -> Parse<Expr> {
        let name = self.name("a variable")?;
        if let Some(of_thread) = self.of_thread(&name)? {
            return Ok(of_thread);
        }
        if !self.eat("(") {
            let span = name.span;
            return Ok(Expr { kind: ExprKind::Name(name), span, height: 1 });
        }
        let args = self.arguments()?;
        let span = name.span.to(self.previous());
        let heights: Vec<u16> = args.iter().map(|a| a.height).collect();
        self.make(ExprKind::Call(name, args), span, &heights)
    }

    fn word_expression(&mut self, word: &str, start: Span) -> Parse<Expr> {
        let leaf = |kind| Ok(Expr { kind, span: start, height: 1 });
        match word {
            "true" | "false" => {
                self.bump();
                leaf(ExprKind::Boolean(word == "true"))
            }
            "null" => {
                self.bump();
                leaf(ExprKind::Null)
            }
            "new" => self.new_expression(start),
            "let" => self.let_expression(start),
            "lockAvailable" => self.lock_test(LockTest::LockAvailable, start),
            "hasLock" => self.lock_test(LockTest::HasLock, start),
            "wasNotified" => self.lock_test(LockTest::WasNotified, start),
            "threadTerminated" => {
                let operand = self.test_operand()?;
                let height = operand.height;
                self.make(ExprKind::Terminated(Box::new(operand)), start.to(self.previous()), &[height])
            }
            "start" => {
                let d = Diagnostic::error(start, "`start` inside an expression")
                    .help("expressions change nothing; write `t := start T();` first");
                Err(self.report(d))
            }
            "invoke" => {
                let d = Diagnostic::error(start, "a call inside an expression")
                    .help("expressions change nothing; write `x := invoke f(…)` first, or make it a `fun`");
                Err(self.report(d))
            }
            _ if self.at_name() => self.variable_or_call(),
            _ => Err(self.unexpected("an expression", "")),
        }
    }

    fn test_operand(&mut self) -> Parse<Expr> {
        self.bump();
        self.expect("(", "the operand is written in parentheses")?;
        let operand = self.bracketed()?;
        self.expect(")", "the operand is written in parentheses")?;
        Ok(operand)
    }

    fn lock_test(&mut self, test: LockTest, start: Span) -> Parse<Expr> {
        let operand = self.test_operand()?;
        let height = operand.height;
        self.make(ExprKind::LockTest(test, Box::new(operand)), start.to(self.previous()), &[height])
    }

    fn new_expression(&mut self, start: Span) -> Parse<Expr> {
        self.bump();
        let ty = self.nested(|p| p.basic_type())?;
        let mut lengths = Vec::new();
        let mut open = 0;
        while self.is("[") {
            self.bump();
            if self.eat("]") {
                open += 1;
            } else if open > 0 {
                return Err(self.unexpected("`]`", "the lengths that are given come first: `new int[3][]`"));
            } else {
                lengths.push(self.bracketed()?);
                self.expect("]", "a length is written `new int[3]`")?;
            }
            if lengths.len() + open > 20 {
                let d = Diagnostic::error(self.previous(), "an array type has at most 20 dimensions");
                return Err(self.report(d));
            }
        }
        let span = start.to(self.previous());
        let heights: Vec<u16> = lengths.iter().map(|l| l.height).collect();
        let kind = match (ty.kind.clone(), lengths.is_empty()) {
            (_, false) => ExprKind::NewArray(ty, lengths, open),
            (_, true) if open > 0 => {
                let d = Diagnostic::error(span, "a new array needs a length");
                return Err(self.report(d.help("write `new int[3]`")));
            }
            (crate::ast::TypeKind::Named(name), true) => ExprKind::NewRecord(name),
            (crate::ast::TypeKind::Lock, true) => ExprKind::NewLock,
            (crate::ast::TypeKind::Extension(..), true) => ExprKind::NewExtension(ty),
            _ => {
                let d = Diagnostic::error(
                    span,
                    "only records, locks, arrays and collections are made with `new`",
                );
                return Err(self.report(d.help("write `new Record`, `new lock` or `new int[3]`")));
            }
        };
        self.make(kind, span, &heights)
    }

    fn let_expression(&mut self, start: Span) -> Parse<Expr> {
        self.bump();
        let mut bindings = Vec::new();
        while !self.is("in") {
            let name = self.name("the name of a variable")?;
            if !self.eat("=") && !self.eat(":=") {
                return Err(self.unexpected("`=`", "`let x = e in e`"));
            }
            bindings.push((name, self.expression()?));
            let _ = self.eat(",") || self.eat(";");
        }
        if bindings.is_empty() {
            return Err(self.unexpected("the name of a variable", "`let x = e in e`"));
        }
        self.bump();
        let body = self.expression()?;
        let span = start.to(body.span);
        let heights: Vec<u16> = bindings.iter().map(|(_, e)| e.height).chain([body.height]).collect();
        self.make(ExprKind::Let(bindings, Box::new(body)), span, &heights)
    }
}
