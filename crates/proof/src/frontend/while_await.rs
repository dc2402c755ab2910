//! The while/await language of the paper (its figures 1, 3, 5 and 7).
//!
//! ```text
//! var t1 = 0, t2 = 0;
//!
//! process
//!   while (true) do
//!     <0> t1 := t2 + 1
//!     <1> await (t1 < t2 \/ t2 = 0) skip
//!     <2> t1 := 0
//!   end
//!
//! process
//!   …
//!
//! assert swap: p([P1,P2],T1,T2) |= p([P2,P1],T2,T1).
//! ```
//!
//! A program is a list of variables (without an initial value: any), processes, and assertions in
//! the `.clp` language about `p([P1,…,Pn], …)`: the program counters of the processes in order, then
//! the variables in the order of their declaration, each with its first letter in upper case.
//! Statements are `skip`, `x := term`, `await (b) s`, `if (b) do … else … end`, `while (b) do … end`,
//! `{ s; s }`, several assignments in one step, and `s or s`, either of two such steps. Each is one step, taken at the program point
//! written in front of it, or at a fresh one; `while (true)` takes no step. A process that has
//! reached the end of its text stays there.

use std::collections::{BTreeMap, BTreeSet};

use quotient_source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};

use super::transitions::{Columns, Transition};
use crate::language::ast::{Formula, Item, Term, TermKind};
use crate::language::lexer::{Token, tokens};
use crate::language::parser::{Parsed, Parser};

/// A statement with its program point (none for `while (true)`).
struct Statement {
    point: Option<i64>,
    span: Span,
    kind: Kind,
}

enum Kind {
    /// One of these: waits for the condition, then assigns.
    Step(Vec<(Formula, BTreeMap<usize, Term>)>),
    If(Formula, Vec<Statement>, Vec<Statement>),
    While(Formula, Vec<Statement>),
    /// `while (true)`.
    Forever(Vec<Statement>),
}

struct Reader {
    parser: Parser,
    columns: Columns,
    initial: Vec<Option<i64>>,
}

/// Reads a program as statements of the `.clp` language.
pub fn read(map: &SourceMap, file: FileId, diagnostics: &mut Diagnostics) -> Vec<Item> {
    let list = tokens(file, map.text(file), diagnostics);
    let parser = Parser::new(list);
    let mut reader = Reader { parser, columns: Columns::default(), initial: Vec::new() };
    let (mut processes, mut assertions) = (Vec::new(), Vec::new());
    while *reader.parser.peek() != Token::End {
        let outcome = if reader.parser.word("var") {
            reader.variables()
        } else if reader.parser.word("process") {
            reader.process().map(|p| processes.push(p))
        } else if matches!(reader.parser.peek(), Token::Word(w) if w == "assert" || w == "assume") {
            reader.parser.item().map(|item| assertions.push(item))
        } else {
            reader.parser.fail("expected `var`, `process`, `assert` or `assume`")
        };
        if let Err(diagnostic) = outcome {
            diagnostics.push(*diagnostic);
            // The rest of a damaged program would only give follow-up mistakes.
            return assertions;
        }
    }
    let Some(first) = processes.first().map(|p: &(Vec<Statement>, Span)| p.1) else {
        diagnostics.push(
            Diagnostic::error(map.end(file), "the program has no process")
                .help("write `process`, then statements such as `while (true) do <0> x := x + 1 end`"),
        );
        return assertions;
    };
    reader.columns.counters = (1..=processes.len()).map(|n| format!("P{n}")).collect();
    for name in &reader.columns.variables {
        if reader.columns.counters.contains(name) {
            diagnostics
                .push(Diagnostic::error(first, format!("a variable has the name of a counter, `{name}`")));
        }
    }
    let (mut rules, mut starts) = (Vec::new(), Vec::new());
    for (number, (statements, _)) in processes.iter_mut().enumerate() {
        let mut used = BTreeSet::new();
        if let Err(diagnostic) = points(statements, &mut used) {
            diagnostics.push(*diagnostic);
            return assertions;
        }
        let mut next = used.last().map_or(0, |last| last + 1);
        fresh_points(statements, &mut next);
        let mut steps = Vec::new();
        let compiled = first_point(statements, next).and_then(|start| {
            compile(statements, next, number, &mut steps)?;
            Ok(start)
        });
        match compiled {
            Ok(start) => starts.push(start),
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
        rules.extend(steps.into_iter().map(|s| reader.columns.rule(s)));
    }
    if starts.len() < processes.len() {
        return assertions;
    }
    let mut items = vec![reader.columns.fact(&starts, &reader.initial, first)];
    items.extend(rules);
    items.extend(assertions);
    items
}

/// The column of a program variable: the first letter in upper case.
fn column(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

impl Reader {
    /// `var x = 0, y;`
    fn variables(&mut self) -> Parsed<()> {
        loop {
            let span = self.parser.span();
            let name = match self.parser.peek().clone() {
                Token::Word(name) | Token::Variable(name) => {
                    self.parser.advance();
                    name
                }
                _ => return self.parser.fail("expected the name of a variable"),
            };
            let column = column(&name);
            if self.columns.variables.contains(&column) {
                let message = format!("there is already a variable with the column `{column}`");
                return Err(Box::new(Diagnostic::error(span, message)));
            }
            let value = if self.parser.accept("=") || self.parser.accept(":=") {
                Some(self.parser.integer()?)
            } else {
                None
            };
            self.parser.declare(&name, &column);
            self.columns.variables.push(column);
            self.initial.push(value);
            if !self.parser.accept(",") {
                break;
            }
        }
        let _ = self.parser.accept(";") || self.parser.accept(".");
        Ok(())
    }

    fn process(&mut self) -> Parsed<(Vec<Statement>, Span)> {
        let span = self.parser.previous();
        // A name and a colon may follow.
        if matches!(
            (self.parser.peek(), self.parser.after()),
            (Token::Word(_) | Token::Variable(_), Some(Token::Symbol(":")))
        ) {
            self.parser.advance();
            self.parser.advance();
        }
        let body = self.statements()?;
        Ok((body, span))
    }

    /// Statements up to `end`, `else`, or what cannot start one.
    fn statements(&mut self) -> Parsed<Vec<Statement>> {
        let mut list = Vec::new();
        loop {
            while self.parser.accept(";") {}
            match self.parser.peek() {
                Token::End => return Ok(list),
                Token::Word(w)
                    if matches!(w.as_str(), "end" | "else" | "process" | "assert" | "assume" | "var") =>
                {
                    return Ok(list);
                }
                _ => list.push(self.statement()?),
            }
        }
    }

    fn statement(&mut self) -> Parsed<Statement> {
        self.parser.deeper()?;
        let start = self.parser.span();
        let mut point = None;
        if self.parser.accept("<") {
            point = Some(self.parser.integer()?);
            self.parser.expect(">")?;
        }
        let kind = if self.parser.word("while") {
            let condition = self.condition()?;
            self.keyword("do")?;
            let body = self.statements()?;
            self.keyword("end")?;
            if condition == Formula::Truth(true) && point.is_none() {
                Kind::Forever(body)
            } else {
                Kind::While(condition, body)
            }
        } else if self.parser.word("if") {
            let condition = self.condition()?;
            if !self.parser.word("then") {
                self.keyword("do")?;
            }
            let yes = self.statements()?;
            let no = if self.parser.word("else") { self.statements()? } else { Vec::new() };
            self.keyword("end")?;
            Kind::If(condition, yes, no)
        } else {
            let mut alternatives = vec![self.step()?];
            while self.parser.word("or") {
                alternatives.push(self.step()?);
            }
            Kind::Step(alternatives)
        };
        Ok(Statement { point, span: start.to(self.parser.previous()), kind })
    }

    /// `await (b) s`, or `s` alone.
    fn step(&mut self) -> Parsed<(Formula, BTreeMap<usize, Term>)> {
        let condition = if self.parser.word("await") { self.condition()? } else { Formula::Truth(true) };
        Ok((condition, self.simple(BTreeMap::new())?))
    }

    fn keyword(&mut self, word: &str) -> Parsed<()> {
        if self.parser.word(word) { Ok(()) } else { self.parser.fail(format!("expected `{word}`")) }
    }

    fn condition(&mut self) -> Parsed<Formula> {
        self.parser.expect("(")?;
        let condition = self.parser.formula()?;
        self.parser.expect(")")?;
        Ok(condition)
    }

    /// `skip`, an assignment, or several in braces; `done` are those before it in the same step.
    fn simple(&mut self, mut done: BTreeMap<usize, Term>) -> Parsed<BTreeMap<usize, Term>> {
        if self.parser.word("skip") {
            return Ok(done);
        }
        if self.parser.accept("{") {
            while !self.parser.accept("}") {
                done = self.simple(done)?;
                while self.parser.accept(";") {}
            }
            return Ok(done);
        }
        let span = self.parser.span();
        let name = match self.parser.peek().clone() {
            Token::Word(name) | Token::Variable(name) => name,
            _ => return self.parser.fail("expected a statement"),
        };
        let at =
            self.parser.declared(&name).and_then(|c| self.columns.variables.iter().position(|v| *v == c));
        let Some(at) = at else {
            let message = format!("`{name}` is not a variable of the program");
            let help = "declare it before the processes: `var x = 0;`";
            return Err(Box::new(Diagnostic::error(span, message).help(help)));
        };
        self.parser.advance();
        self.parser.expect(":=")?;
        let term = self.parser.term()?;
        let term = self.substituted(&term, &done);
        done.insert(at, term);
        Ok(done)
    }

    /// The term after the assignments of the same step that stand before it.
    fn substituted(&self, term: &Term, done: &BTreeMap<usize, Term>) -> Term {
        let inner = |t: &Term| Box::new(self.substituted(t, done));
        let kind = match &term.kind {
            TermKind::Variable(name) => {
                let at = self.columns.variables.iter().position(|v| v == name);
                return at.and_then(|at| done.get(&at)).unwrap_or(term).clone();
            }
            TermKind::Sum(a, b) => TermKind::Sum(inner(a), inner(b)),
            TermKind::Difference(a, b) => TermKind::Difference(inner(a), inner(b)),
            TermKind::Product(a, b) => TermKind::Product(inner(a), inner(b)),
            TermKind::Negative(a) => TermKind::Negative(inner(a)),
            other => other.clone(),
        };
        Term { kind, span: term.span }
    }
}

/// Collects the points the user wrote.
fn points(list: &[Statement], used: &mut BTreeSet<i64>) -> Parsed<()> {
    for statement in list {
        if let Some(point) = statement.point
            && !used.insert(point)
        {
            let message = format!("the program point <{point}> is used twice in this process");
            return Err(Box::new(Diagnostic::error(statement.span, message)));
        }
        match &statement.kind {
            Kind::If(_, yes, no) => {
                points(yes, used)?;
                points(no, used)?;
            }
            Kind::While(_, body) | Kind::Forever(body) => points(body, used)?,
            Kind::Step(..) => {}
        }
    }
    Ok(())
}

/// Gives every step without a point a fresh one.
fn fresh_points(list: &mut [Statement], next: &mut i64) {
    for statement in list {
        if statement.point.is_none() && !matches!(statement.kind, Kind::Forever(_)) {
            statement.point = Some(*next);
            *next += 1;
        }
        match &mut statement.kind {
            Kind::If(_, yes, no) => {
                fresh_points(yes, next);
                fresh_points(no, next);
            }
            Kind::While(_, body) | Kind::Forever(body) => fresh_points(body, next),
            Kind::Step(..) => {}
        }
    }
}

/// Where a list of statements starts, when `after` follows it.
fn first_point(list: &[Statement], after: i64) -> Parsed<i64> {
    let Some(statement) = list.first() else { return Ok(after) };
    match (&statement.kind, statement.point) {
        (Kind::Forever(body), _) if body.is_empty() => {
            Err(Box::new(Diagnostic::error(statement.span, "this loop does nothing, for ever")))
        }
        (Kind::Forever(body), _) => first_point(body, after),
        (_, Some(point)) => Ok(point),
        (_, None) => Err(Box::new(Diagnostic::error(statement.span, "a statement has no program point"))),
    }
}

/// The steps of a list of statements that continues at `after`.
fn compile(list: &[Statement], after: i64, process: usize, out: &mut Vec<Transition>) -> Parsed<()> {
    for (at, statement) in list.iter().enumerate() {
        let next = first_point(&list[at + 1..], after)?;
        let mut step = |to: i64, guard: Formula, assigned: BTreeMap<usize, Term>| {
            let from = statement.point.unwrap_or(after);
            out.push(Transition { span: statement.span, process, from, to, guard, assigned });
        };
        match &statement.kind {
            Kind::Step(list) => {
                list.iter().for_each(|(guard, assigned)| step(next, guard.clone(), assigned.clone()))
            }
            Kind::If(condition, yes, no) => {
                step(first_point(yes, next)?, condition.clone(), BTreeMap::new());
                step(first_point(no, next)?, Formula::Not(Box::new(condition.clone())), BTreeMap::new());
                compile(yes, next, process, out)?;
                compile(no, next, process, out)?;
            }
            Kind::While(condition, body) => {
                let head = statement.point.unwrap_or(after);
                step(first_point(body, head)?, condition.clone(), BTreeMap::new());
                step(next, Formula::Not(Box::new(condition.clone())), BTreeMap::new());
                compile(body, head, process, out)?;
            }
            Kind::Forever(body) => {
                let head = first_point(std::slice::from_ref(statement), after)?;
                compile(body, head, process, out)?;
                if let Some(unreached) = list.get(at + 1) {
                    let message = "this statement is never reached: the loop before it does not end";
                    return Err(Box::new(Diagnostic::error(unreached.span, message)));
                }
            }
        }
    }
    Ok(())
}
