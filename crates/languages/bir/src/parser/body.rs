//! Bodies of threads and functions: locations [89-97] and structured statements [98-108].

use quotient_source::{Diagnostic, Span};

use super::{Parse, Parser};
use crate::ast::{
    Body, Catch, Expr, Handler, Invoke, Jump, Location, Statement, StatementKind, Transformation, Variable,
    Work,
};

/// Where reading of a low-level body can be resumed.
const LOW_WORDS: &[&str] = &["loc", "catch"];

/// Where reading of a high-level body can be resumed.
const HIGH_WORDS: &[&str] = &[
    "end", "else", "elseif", "catch", "while", "if", "choose", "try", "atomic", "return", "skip", "assert",
    "assume",
];

impl Parser<'_> {
    /// `{ locals body }`
    pub(super) fn code(&mut self) -> Parse<(Vec<Variable>, Body)> {
        let opening = self.expect("{", "a body is written in braces")?;
        let errors = self.diagnostics.error_count();
        let mut locals = Vec::new();
        while self.at_local() {
            let start = self.at;
            match self.variable() {
                Ok(local) => locals.push(local),
                Err(_) => self.skip_statement(start, LOW_WORDS),
            }
        }
        let body = if self.is("loc") {
            self.low_body()
        } else {
            let mut statements = Vec::new();
            while self.goes_on() {
                self.statement_into(&mut statements);
                self.stray_word();
            }
            if statements.is_empty() && self.is("}") && self.diagnostics.error_count() == errors {
                let d = Diagnostic::error(self.span(), "a body needs at least one location or statement")
                    .help("write `skip;` for nothing");
                self.report(d);
            }
            Body::High(statements)
        };
        if !self.is("}") {
            let token = self.token();
            let message = format!("expected `}}`, found {}", token.describe());
            let d = Diagnostic::error(token.span, message).related(opening, "to close this brace");
            return Err(self.report(d));
        }
        self.bump();
        Ok((locals, body))
    }

    /// Reports an `end`, `else` or `catch` that belongs to nothing.
    fn stray_word(&mut self) {
        let stray = ["end", "else", "elseif", "catch"].iter().any(|w| self.is(w));
        if stray {
            let what = self.token().describe();
            let d = Diagnostic::error(self.span(), format!("{what} without a statement that it belongs to"))
                .help("every `end` closes one `if`, `while`, `choose`, `try` or `atomic`");
            self.report(d);
            self.bump();
            self.eat(";");
        }
    }

    fn low_body(&mut self) -> Body {
        let (mut locations, mut catches) = (Vec::new(), Vec::new());
        while self.goes_on() {
            let start = self.at;
            if self.is("loc") {
                match self.location() {
                    Ok(location) => locations.push(location),
                    Err(_) => self.skip_statement(start, LOW_WORDS),
                }
            } else if self.is("catch") {
                match self.catch() {
                    Ok(catch) => catches.push(catch),
                    Err(_) => self.skip_statement(start, LOW_WORDS),
                }
            } else {
                self.unexpected(
                    "`loc`, `catch` or `}`",
                    "a body with locations consists of locations and catch clauses",
                );
                self.skip_statement(start, LOW_WORDS);
            }
        }
        Body::Low(locations, catches)
    }

    fn location(&mut self) -> Parse<Location> {
        self.bump();
        let name = self.name("the name of the location")?;
        self.expect(":", "a location is written `loc name: do { … } goto other;`")?;
        let mut live = None;
        if self.eat("live") {
            self.expect("{", "a live set is written `live { x, y }`")?;
            live = Some(self.list("}", |p| p.name("a local variable"))?);
        }
        let mut transformations = Vec::new();
        let errors = self.diagnostics.error_count();
        while self.goes_on() && !self.is("loc") && !self.is("catch") {
            let start = self.at;
            match self.transformation() {
                Ok(t) => transformations.push(t),
                Err(_) => self.skip_statement(start, LOW_WORDS),
            }
        }
        if transformations.is_empty() && self.diagnostics.error_count() == errors {
            let d =
                Diagnostic::error(name.span, format!("the location `{}` has no transformation", name.text))
                    .help("write at least `do { } return;`");
            self.report(d);
        }
        Ok(Location { name, live, transformations })
    }

    fn visibility(&mut self) {
        let _ = self.eat("visible") || self.eat("invisible");
    }

    fn transformation(&mut self) -> Parse<Transformation> {
        let start = self.span();
        let guard = if self.eat("when") { Some(self.expression()?) } else { None };
        let work = if self.eat("do") {
            self.visibility();
            self.expect("{", "actions are written in braces: `do { x := 1; } goto l;`")?;
            let mut actions = Vec::new();
            while self.goes_on() && !self.is("loc") && !self.is("goto") {
                let from = self.at;
                match self.action() {
                    Ok(action) => actions.push(action),
                    Err(_) => self.skip_statement(from, &["loc", "goto"]),
                }
            }
            self.expect("}", "close the actions before the jump")?;
            Work::Do(actions)
        } else {
            let from = self.at;
            let result = if self.at_name() && self.peek(1).is(":=") {
                let result = self.postfix()?;
                self.bump();
                Some(result)
            } else {
                None
            };
            self.visibility();
            if !self.is("invoke") {
                self.at = from;
                let help =
                    "a transformation is written `when e do { … } goto l;` or `x := invoke f(…) goto l;`";
                return Err(self.unexpected("`do` or `invoke`", help));
            }
            Work::Invoke(self.invoke(result, start)?)
        };
        let jump = self.jump()?;
        self.semicolon("a transformation")?;
        Ok(Transformation { guard, work, jump, span: start.to(self.previous()) })
    }

    fn jump(&mut self) -> Parse<Jump> {
        if self.eat("goto") {
            return Ok(Jump::Goto(self.name("the name of a location")?));
        }
        if self.eat("return") {
            return Ok(Jump::Return(if self.is(";") { None } else { Some(self.expression()?) }));
        }
        Err(self.unexpected(
            "`goto` or `return`",
            "every transformation says where it goes: `goto l;` or `return;`",
        ))
    }

    /// `invoke virtual? f(args)`
    pub(super) fn invoke(&mut self, result: Option<Expr>, start: Span) -> Parse<Invoke> {
        self.expect("invoke", "")?;
        if self.is("reflect") {
            let d = Diagnostic::error(self.span(), "`invoke reflect` is not supported")
                .help("call the function by its name, or through a virtual table");
            return Err(self.report(d));
        }
        let is_virtual = self.eat("virtual");
        let target = self.name("the function to call")?;
        self.expect("(", "arguments are written in parentheses")?;
        let args = self.list(")", |p| p.expression())?;
        Ok(Invoke { result, is_virtual, target, args, span: start.to(self.previous()) })
    }

    fn catch(&mut self) -> Parse<Catch> {
        self.bump();
        let record = self.name("the record that is caught")?;
        let variable = self.name("the local that the record is stored in")?;
        self.expect("at", "a catch clause is written `catch Error e at l1, l2 goto l3;`")?;
        let mut at = vec![self.name("the name of a location")?];
        while self.eat(",") {
            at.push(self.name("the name of a location")?);
        }
        let jump = self.jump()?;
        self.semicolon("a catch clause")?;
        Ok(Catch { record, variable, at, jump })
    }

    /// Statements up to one of the words, which is not taken.
    fn statements(&mut self, until: &[&str], what: &str) -> Parse<Vec<Statement>> {
        let start = self.span();
        let mut statements = Vec::new();
        while self.goes_on() && !until.iter().any(|w| self.is(w)) {
            self.statement_into(&mut statements);
            if !until.iter().any(|w| self.is(w)) {
                self.stray_word();
            }
        }
        if statements.is_empty() && until.iter().any(|w| self.is(w)) {
            let d = Diagnostic::error(start, format!("{what} needs at least one statement"));
            self.report(d.help("write `skip;` for nothing"));
        }
        Ok(statements)
    }

    fn statement_into(&mut self, statements: &mut Vec<Statement>) {
        let start = self.at;
        match self.nested(|p| p.statement()) {
            Ok(statement) => statements.push(statement),
            Err(_) => self.skip_statement(start, HIGH_WORDS),
        }
    }

    /// The `end` of a compound statement that started at `head`.
    fn end(&mut self, head: Span) -> Parse<()> {
        if self.eat("end") {
            self.eat(";");
            return Ok(());
        }
        let d = Diagnostic::error(self.span(), format!("expected `end`, found {}", self.token().describe()))
            .related(head, "to close this statement");
        Err(self.report(d))
    }

    fn statement(&mut self) -> Parse<Statement> {
        let start = self.span();
        if self.is("loc") {
            let d = Diagnostic::error(start, "a location inside a body of statements")
                .help("a body consists either of locations or of statements");
            return Err(self.report(d));
        }
        let kind = if self.eat("atomic") {
            let body = self.statements(&["end"], "`atomic`")?;
            self.end(start)?;
            StatementKind::Atomic(body)
        } else if self.eat("while") {
            let condition = self.expression()?;
            self.expect("do", "a loop is written `while e do … end`")?;
            let body = self.statements(&["end"], "a loop")?;
            self.end(start)?;
            StatementKind::While(condition, body)
        } else if self.eat("if") {
            self.if_statement(start)?
        } else if self.eat("choose") {
            self.choose_statement(start)?
        } else if self.eat("try") {
            self.try_statement(start)?
        } else if self.eat("return") {
            let value = if self.is(";") { None } else { Some(self.expression()?) };
            self.semicolon("a statement")?;
            StatementKind::Return(value)
        } else if self.eat("skip") {
            self.semicolon("a statement")?;
            StatementKind::Skip
        } else if self.eat("<") {
            // `<action>`: every action is atomic anyway.
            let outer = std::mem::replace(&mut self.angle, true);
            let action = self.action_kind();
            self.angle = outer;
            let action = action?;
            self.eat(";");
            self.expect(">", "an atomic action is written `<x := y + 1;>`")?;
            self.eat(";");
            StatementKind::Action(crate::ast::Action { kind: action, span: start.to(self.previous()) })
        } else {
            self.simple_statement(start)?
        };
        let compound =
            !matches!(kind, StatementKind::Return(_) | StatementKind::Action(_) | StatementKind::Invoke(_));
        let span = if compound { start } else { start.to(self.previous()) };
        Ok(Statement { kind, span })
    }

    fn if_statement(&mut self, start: Span) -> Parse<StatementKind> {
        let until = &["elseif", "else", "end"];
        let mut branches = Vec::new();
        loop {
            let condition = self.expression()?;
            self.expect("do", "a branch is written `if e do … end`")?;
            branches.push((condition, self.statements(until, "a branch")?));
            if !self.eat("elseif") {
                break;
            }
        }
        let otherwise = self.else_branch()?;
        self.end(start)?;
        Ok(StatementKind::If(branches, otherwise))
    }

    fn else_branch(&mut self) -> Parse<Option<Vec<Statement>>> {
        if !self.eat("else") {
            return Ok(None);
        }
        self.expect("do", "the last branch is written `else do … end`")?;
        self.statements(&["end"], "a branch").map(Some)
    }

    fn choose_statement(&mut self, start: Span) -> Parse<StatementKind> {
        let until = &["when", "do", "else", "end"];
        let mut alternatives = Vec::new();
        while self.is("when") || self.is("do") {
            let guard = if self.eat("when") { Some(self.expression()?) } else { None };
            self.expect("do", "an alternative is written `when <e> do …`")?;
            alternatives.push((guard, self.statements(until, "an alternative")?));
        }
        if alternatives.is_empty() {
            return Err(
                self.unexpected("`when` or `do`", "`choose` needs at least one alternative: `when <e> do …`")
            );
        }
        let otherwise = self.else_branch()?;
        self.end(start)?;
        Ok(StatementKind::Choose(alternatives, otherwise))
    }

    fn try_statement(&mut self, start: Span) -> Parse<StatementKind> {
        let body = self.statements(&["catch", "end"], "`try`")?;
        let mut handlers = Vec::new();
        while self.eat("catch") {
            self.expect("(", "a handler is written `catch (Error e) …`")?;
            let record = self.name("the record that is caught")?;
            let variable = self.name("the local that the record is stored in")?;
            self.expect(")", "a handler is written `catch (Error e) …`")?;
            handlers.push(Handler {
                record,
                variable,
                body: self.statements(&["catch", "end"], "a handler")?,
            });
        }
        if handlers.is_empty() {
            self.unexpected("`catch`", "`try` needs at least one `catch (Error e) …`");
        }
        self.end(start)?;
        Ok(StatementKind::Try(body, handlers))
    }
}
