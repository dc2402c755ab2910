//! Declarations of a system [2, 57-112].

use quotient_source::Diagnostic;

use super::{Parse, Parser, is_name};
use crate::ast::{
    Alias, ConstBlock, Constant, Definition, DefinitionKind, Enumeration, Expr, ExprKind, Extension, Fun,
    Function, Name, Record, Thread, Type, Variable, VirtualTable,
};
use crate::token::Kind;

impl Parser<'_> {
    pub(super) fn const_block(&mut self) -> Parse<ConstBlock> {
        self.bump();
        let name = self.name("the name of the block of constants")?;
        self.expect("{", "constants are written `const Block { N = 5; }`")?;
        let mut elements = Vec::new();
        while self.goes_on() {
            let name = self.name("the name of a constant")?;
            if !self.eat("=") && !self.eat(":=") {
                return Err(self.unexpected("`=`", "constants are written `const Block { N = 5; }`"));
            }
            let ty = self.cast_of_literal()?;
            let value = self.literal()?;
            self.semicolon("a constant")?;
            elements.push(Constant { name, ty, value });
        }
        self.expect("}", "close the block of constants")?;
        Ok(ConstBlock { name, elements })
    }

    /// `(T)` before a literal.
    fn cast_of_literal(&mut self) -> Parse<Option<Type>> {
        if !self.eat("(") {
            return Ok(None);
        }
        let ty = self.ty()?;
        self.expect(")", "a cast is written `(T) value`")?;
        Ok(Some(ty))
    }

    /// A literal: numbers with a sign, strings, `true`, `false`, `null`, constants and elements of enumerations.
    fn literal(&mut self) -> Parse<Expr> {
        let span = self.span();
        let kind = match self.token().kind.clone() {
            Kind::Text(text) => ExprKind::String(text),
            Kind::Real(text, float) => ExprKind::Real(text, float),
            Kind::Word(word) if &*word == "true" => ExprKind::Boolean(true),
            Kind::Word(word) if &*word == "false" => ExprKind::Boolean(false),
            Kind::Word(word) if &*word == "null" => ExprKind::Null,
            Kind::Punct("-") if matches!(self.peek(1).kind, Kind::Real(..)) => {
                self.bump();
                let Kind::Real(text, float) = self.token().kind.clone() else { unreachable!() };
                ExprKind::Real(format!("-{text}").into(), float)
            }
            Kind::Integer(..) | Kind::Punct("-" | "+") => return self.bound(),
            _ if self.at_name() => return self.bound(),
            _ => {
                return Err(self.unexpected(
                    "a literal",
                    "an initial value is a number, a string, true, false, null, a constant or an element of an enumeration",
                ));
            }
        };
        self.bump();
        Ok(Expr { kind, span, height: 1 })
    }

    pub(super) fn semicolon(&mut self, what: &str) -> Parse<()> {
        if self.eat(";") {
            return Ok(());
        }
        // Where it is missing, rather than at what comes after, which may be lines away.
        let end = self.previous();
        let at = quotient_source::Span { start: end.end.saturating_sub(1).max(end.start), ..end };
        let d = Diagnostic::error(at, format!("expected `;` after this, found {}", self.token().describe()));
        Err(self.report(d.help(format!("{what} ends with `;`"))))
    }

    pub(super) fn enumeration(&mut self) -> Parse<Enumeration> {
        self.bump();
        let name = self.name("the name of the enumeration")?;
        self.expect("{", "an enumeration is written `enum Colour { red, green }`")?;
        let elements = self.list("}", |p| p.name("the name of an element"))?;
        self.eat(";");
        Ok(Enumeration { name, elements })
    }

    pub(super) fn record(&mut self) -> Parse<Record> {
        let top = self.eat("top");
        let throwable = self.eat("throwable");
        self.expect("record", "`top` and `throwable` stand before `record`")?;
        let name = self.name("the name of the record")?;
        let mut parents = Vec::new();
        if self.eat("extends") {
            parents.push(self.name("the record it extends")?);
            while self.eat(",") {
                parents.push(self.name("the record it extends")?);
            }
        }
        self.expect("{", "a record's fields are written in braces")?;
        let mut fields = Vec::new();
        while self.goes_on() {
            let start = self.at;
            match self.field() {
                Ok(field) => fields.push(field),
                Err(_) => self.skip_statement(start, &[]),
            }
        }
        self.expect("}", "close the record")?;
        self.eat(";");
        Ok(Record { name, top, throwable, parents, fields })
    }

    fn field(&mut self) -> Parse<(Type, Name)> {
        let ty = self.ty()?;
        let name = self.name("the name of the field")?;
        if self.is("=") || self.is(":=") {
            let d = Diagnostic::error(self.span(), "a field has no initial value")
                .help("assign to it after `new`; fields start as 0, false or null");
            return Err(self.report(d));
        }
        self.semicolon("a field")?;
        Ok((ty, name))
    }

    pub(super) fn alias(&mut self) -> Parse<Alias> {
        self.bump();
        let name = self.name("the new name of the type")?;
        let ty = self.ty()?;
        self.semicolon("a type alias")?;
        Ok(Alias { name, ty })
    }

    pub(super) fn global(&mut self) -> Parse<Variable> {
        if !self.at_type() {
            return Err(self.unexpected(
                "a declaration",
                "a system declares const, enum, record, extension, typealias, thread, function, virtual, fun, or a variable such as `int x := 0;`",
            ));
        }
        self.variable()
    }

    fn at_type(&self) -> bool {
        const WORDS: &[&str] =
            &["boolean", "int", "long", "float", "double", "tid", "string", "lock", "transient"];
        self.at_name()
            || WORDS.iter().any(|w| self.is(w))
            || matches!(self.token().kind, Kind::TypeVariable(_))
    }

    /// `transient? T x (:= literal)?;`
    pub(super) fn variable(&mut self) -> Parse<Variable> {
        self.eat("transient");
        let ty = self.ty()?;
        let name = self.name("the name of the variable")?;
        let mut value = None;
        if self.eat(":=") || self.eat("=") {
            if self.is("new") {
                let d = Diagnostic::error(self.span(), "an initial value must be a literal")
                    .help("assign the new object in the first step of a thread");
                return Err(self.report(d));
            }
            let cast = self.cast_of_literal()?;
            let literal = self.literal()?;
            value = Some(match cast {
                None => literal,
                Some(ty) => {
                    let (span, height) = (ty.span.to(literal.span), literal.height + 1);
                    Expr { kind: ExprKind::Cast(ty, Box::new(literal)), span, height }
                }
            });
        }
        self.semicolon("a variable declaration")?;
        Ok(Variable { ty, name, value })
    }

    /// Whether a declaration of a local comes next, rather than a statement.
    pub(super) fn at_local(&mut self) -> bool {
        if !self.at_type() || (self.is("lock") && self.peek(1).is("(")) {
            return false;
        }
        if !self.at_name() {
            return true;
        }
        let at = self.at;
        // `T end;` is a declaration, too: its name will be reported.
        let keyword = matches!(self.token().kind, Kind::Word(_)) && {
            let at = self.at;
            let typed = self.attempt(|p| p.ty()).is_some();
            let named = matches!(self.token().kind, Kind::Word(_)) && self.peek(1).is(";");
            self.at = at;
            typed && named
        };
        let typed = keyword || self.attempt(|p| p.ty()).is_some() && is_name(self.token());
        self.at = at;
        typed
    }

    pub(super) fn params(&mut self) -> Parse<Vec<Variable>> {
        self.expect("(", "parameters are written in parentheses")?;
        self.list(")", |p| {
            let ty = p.ty()?;
            let name = p.name("the name of the parameter")?;
            Ok(Variable { ty, name, value: None })
        })
    }

    pub(super) fn thread(&mut self) -> Parse<Thread> {
        let one = Expr { kind: ExprKind::Integer(1, false), span: self.span(), height: 1 };
        let mut active = None;
        if self.eat("main") {
            active = Some(one);
        } else if self.eat("active") {
            active = Some(one);
            if self.eat("[") {
                active = Some(self.bound()?);
                self.expect("]", "a number of threads is written `active [3] thread`")?;
            }
        }
        self.expect("thread", "a thread is written `active thread T() { … }`")?;
        let name = self.name("the name of the thread")?;
        let params = self.params()?;
        let (locals, body) = self.code()?;
        Ok(Thread { name, active, params, locals, body })
    }

    pub(super) fn function(&mut self) -> Parse<Function> {
        self.bump();
        let name = self.name("the name of the function")?;
        let params = self.params()?;
        let returns = if self.eat("returns") { Some(self.ty()?) } else { None };
        let (locals, body) = self.code()?;
        Ok(Function { name, params, returns, locals, body })
    }

    pub(super) fn virtual_table(&mut self) -> Parse<VirtualTable> {
        self.bump();
        let name = self.name("the name of the virtual table")?;
        let on = if self.eat("on") { Some(self.name("the enumeration")?) } else { None };
        self.expect("{", "a virtual table is written `virtual v { Record -> function … }`")?;
        let mut entries = Vec::new();
        while self.goes_on() {
            let key = self.name("a record or element")?;
            self.expect("->", "an entry is written `Record -> function`")?;
            let function = self.name("the function")?;
            let _ = self.eat(",") || self.eat(";");
            entries.push((key, function));
        }
        self.expect("}", "close the virtual table")?;
        Ok(VirtualTable { name, on, entries })
    }

    pub(super) fn fun(&mut self) -> Parse<Fun> {
        self.bump();
        let name = self.name("the name of the fun")?;
        let params = self.params()?;
        self.expect("returns", "a fun is written `fun f(int x) returns int = x + 1;`")?;
        let returns = self.ty()?;
        self.expect("=", "a fun is written `fun f(int x) returns int = x + 1;`")?;
        let value = self.expression()?;
        self.semicolon("a fun")?;
        Ok(Fun { name, params, returns, value })
    }

    pub(super) fn extension(&mut self) -> Parse<Extension> {
        self.bump();
        let name = self.name("the name of the extension")?;
        self.expect("for", "an extension is written `extension Set for Set { … }`")?;
        let first = self.name("what implements the extension")?;
        let (mut text, mut span) = (first.text.to_string(), first.span);
        while self.eat(".") {
            let part = self.name("the rest of the name")?;
            text = format!("{text}.{}", part.text);
            span = span.to(part.span);
        }
        let class = Name { text: text.into(), span };
        self.expect("{", "an extension's definitions are written in braces")?;
        let mut definitions = Vec::new();
        while self.goes_on() {
            let start = self.at;
            match self.definition() {
                Ok(definition) => definitions.push(definition),
                Err(_) => self.skip_statement(start, &["typedef", "ptypedef", "expdef", "actiondef"]),
            }
        }
        self.expect("}", "close the extension")?;
        Ok(Extension { name, class, definitions })
    }

    fn definition(&mut self) -> Parse<Definition> {
        let kind = if self.is("typedef") || self.is("ptypedef") {
            DefinitionKind::Type(self.bump().is("ptypedef"))
        } else if self.eat("expdef") {
            DefinitionKind::Expression(self.general_type()?)
        } else if self.eat("actiondef") {
            DefinitionKind::Action
        } else {
            let help = "an extension consists of typedef, ptypedef, expdef and actiondef";
            return Err(self.unexpected("a definition", help));
        };
        let name = self.name("the name of the definition")?;
        let mut variables = Vec::new();
        if self.eat("<") {
            variables = self.list(">", |p| match p.token().kind.clone() {
                Kind::TypeVariable(text) => Ok(Name { text, span: p.bump().span }),
                _ => Err(p.unexpected("a type variable", "type variables are written `` `a ``")),
            })?;
        }
        let (mut params, mut variadic) = (Vec::new(), false);
        if !matches!(kind, DefinitionKind::Type(_)) {
            self.expect("(", "parameters are written in parentheses")?;
            params = self.list(")", |p| {
                let ty = p.general_type()?;
                if p.at_name() {
                    p.bump(); // a parameter may be named; the name means nothing
                }
                variadic = p.eat("...");
                Ok(ty)
            })?;
        }
        self.semicolon("a definition")?;
        Ok(Definition { kind, name, variables, params, variadic })
    }
}
