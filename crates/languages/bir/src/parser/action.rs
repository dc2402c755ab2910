//! Actions [138-148] and calls.

use quotient_source::{Diagnostic, Span};

use super::{Parse, Parser};
use crate::ast::{Action, ActionKind, Expr, ExprKind, Invoke, LockOp, StatementKind};
use crate::token::Kind;

impl Parser<'_> {
    /// An action with its semicolon.
    pub(super) fn action(&mut self) -> Parse<Action> {
        let start = self.span();
        let kind = self.action_kind()?;
        self.semicolon("an action")?;
        Ok(Action { kind, span: start.to(self.previous()) })
    }

    /// A statement of one action, or a call.
    pub(super) fn simple_statement(&mut self, start: Span) -> Parse<StatementKind> {
        let statement = match self.call(start)? {
            Some(invoke) => StatementKind::Invoke(invoke),
            None => {
                let kind = self.action_kind()?;
                StatementKind::Action(Action { kind, span: start.to(self.previous()) })
            }
        };
        self.semicolon("a statement")?;
        Ok(statement)
    }

    /// `x := invoke f(…)`, `invoke f(…)` and also `f(…)`. (`x := f(…)` is an assignment until names are resolved.)
    fn call(&mut self, start: Span) -> Parse<Option<Invoke>> {
        if self.is("invoke") {
            return self.invoke(None, start).map(Some);
        }
        if !self.at_name() {
            return Ok(None);
        }
        if self.peek(1).is("(") {
            let target = self.name("the function to call")?;
            self.bump();
            let args = self.list(")", |p| p.expression())?;
            let span = start.to(self.previous());
            return Ok(Some(Invoke { result: None, is_virtual: false, target, args, span }));
        }
        let with_result = self.attempt(|p| {
            let result = p.postfix()?;
            p.expect(":=", "")?;
            if p.is("invoke") { Ok(result) } else { Err(super::Reported) }
        });
        match with_result {
            Some(result) => self.invoke(Some(result), start).map(Some),
            None => Ok(None),
        }
    }

    /// An action without its semicolon.
    pub(super) fn action_kind(&mut self) -> Parse<ActionKind> {
        let word = match &self.token().kind {
            Kind::Word(word) => word.clone(),
            _ => "".into(),
        };
        Ok(match &*word {
            "assert" => ActionKind::Assert(self.after_word()?),
            "assume" => ActionKind::Assume(self.after_word()?),
            "throw" => ActionKind::Throw(self.after_word()?),
            "exit" => {
                self.bump();
                ActionKind::Exit
            }
            "start" => self.start(None)?,
            "lock" => self.lock(LockOp::Lock)?,
            "unlock" => self.lock(LockOp::Unlock)?,
            "wait" => self.lock(LockOp::Wait)?,
            "unwait" => self.lock(LockOp::Unwait)?,
            "notify" => self.lock(LockOp::Notify)?,
            "notifyAll" => self.lock(LockOp::NotifyAll)?,
            "invoke" => {
                let d = Diagnostic::error(self.span(), "a call is not an action").help(
                    "with locations, a call is a transformation of its own: `loc l: invoke f() goto m;`",
                );
                return Err(self.report(d));
            }
            _ if self.at_name() => self.assignment()?,
            _ if self.is("...") || self.is(".") => {
                return Err(self.unexpected("an action", "dots stand for what was left out: write it out"));
            }
            _ => {
                return Err(self.unexpected(
                    "an action",
                    "actions are `x := e`, assert, assume, throw, exit, start, lock(e), unlock(e), wait(e), unwait(e), notify(e), notifyAll(e), and operations of extensions",
                ));
            }
        })
    }

    fn after_word(&mut self) -> Parse<Expr> {
        self.bump();
        self.expression()
    }

    fn lock(&mut self, op: LockOp) -> Parse<ActionKind> {
        self.bump();
        self.expect("(", "the lock is written in parentheses: `lock(l);`")?;
        let lock = self.expression()?;
        self.expect(")", "the lock is written in parentheses: `lock(l);`")?;
        Ok(ActionKind::Lock(op, lock))
    }

    fn start(&mut self, result: Option<Expr>) -> Parse<ActionKind> {
        self.bump();
        let thread = self.name("the thread to start")?;
        self.expect("(", "arguments are written in parentheses: `start T(x);`")?;
        let args = self.list(")", |p| p.expression())?;
        Ok(ActionKind::Start { result, thread, args })
    }

    /// `lhs := e`, `lhs := start T(…)` or `X.a(…)`.
    fn assignment(&mut self) -> Parse<ActionKind> {
        let left = self.postfix()?;
        if let ExprKind::Extension(used) = left.kind {
            return Ok(ActionKind::Extension(used));
        }
        if self.is("=") || self.is("==") {
            let d = Diagnostic::error(
                self.span(),
                format!("assignment is written `:=`, not {}", self.token().describe()),
            );
            return Err(self.report(d.help("write `x := e;`")));
        }
        if matches!(left.kind, ExprKind::Call(..)) && !self.is(":=") {
            let d = Diagnostic::error(left.span, "a call is not an action")
                .help("with locations, a call is a transformation of its own: `loc l: invoke f() goto m;`");
            return Err(self.report(d));
        }
        self.expect(":=", "an assignment is written `x := e;`")?;
        if !matches!(left.kind, ExprKind::Name(_) | ExprKind::Field(..) | ExprKind::Index(..)) {
            let d = Diagnostic::error(left.span, "nothing can be assigned to this")
                .help("the left side is a variable, a field `x.f` or an element `a[i]`");
            return Err(self.report(d));
        }
        if self.is("start") {
            return self.start(Some(left));
        }
        if self.is("invoke") {
            let d = Diagnostic::error(self.span(), "a call is not an action").help(
                "with locations, a call is a transformation of its own: `loc l: x := invoke f() goto m;`",
            );
            return Err(self.report(d));
        }
        let value = self.expression()?;
        Ok(ActionKind::Assign(left, value))
    }
}
