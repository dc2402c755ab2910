//! Declarations of variables, channels, fields and parameters.

use quotient_source::Span;

use super::{Parse, Parser};
use crate::ast::{ChannelInit, Declaration, Ident, Initialiser, TypeName, Variable, Visibility};
use crate::token::{Kind, is_type};

impl Parser<'_> {
    /// Whether a declaration starts here.
    pub(super) fn at_declaration(&self) -> bool {
        match self.word() {
            Some("hidden" | "show" | "local") => true,
            Some(word) if is_type(word) => true,
            Some("ftype") => self.ahead(1).word().is_some(),
            Some(word) => {
                let next = self.ahead(1);
                self.typedefs.contains(word) && (next.word().is_some() || self.at_pointer_name())
            }
            None => false,
        }
    }

    /// `hidden byte x = 1, y[3]`.
    pub(super) fn declaration(&mut self) -> Parse<Declaration> {
        let start = self.span();
        let visibility = self.visibility();
        let ty = self.type_name()?;
        self.refuse_mtype_definition(&ty)?;
        let mut variables = vec![self.variable(&ty)?];
        while self.take(",") {
            self.refuse_type_after_comma()?;
            variables.push(self.variable(&ty)?);
        }
        Ok(Declaration { visibility, ty, variables, span: start.to(self.previous) })
    }

    /// The formal parameters, after `(`, and `)`.
    pub(super) fn parameters(&mut self) -> Parse<Vec<Declaration>> {
        let mut params = Vec::new();
        while !self.is(")") {
            params.push(self.parameter_group()?);
            if !self.take(";") && !self.is(")") {
                return Err(self.expected("`;` or `)`", "after the parameter"));
            }
        }
        self.bump();
        Ok(params)
    }

    /// One group of formal parameters: `byte a, b`.
    fn parameter_group(&mut self) -> Parse<Declaration> {
        if self.is_name()
            && !self.word().is_some_and(|w| self.typedefs.contains(w))
            && self.ahead(1).word().is_none()
        {
            let name = self.word().unwrap_or("").to_string();
            let diagnostic = self
                .error_here(format!("the parameter `{name}` has no type"))
                .help(format!("write a type in front of it, for example `byte {name}`"));
            return Err(self.report(diagnostic));
        }
        let group = self.declaration()?;
        if let Some(variable) = group.variables.iter().find(|v| v.init.is_some()) {
            let name = &variable.name.name;
            let diagnostic = quotient_source::Diagnostic::error(
                variable.span,
                format!("the parameter `{name}` cannot have an initial value"),
            )
            .help("parameters get their values from `run`; remove the `= …`");
            return Err(self.report(diagnostic));
        }
        Ok(group)
    }

    fn visibility(&mut self) -> Visibility {
        let visibility = match self.word() {
            Some("hidden") => Visibility::Hidden,
            Some("show") => Visibility::Show,
            Some("local") => Visibility::Local,
            _ => return Visibility::Plain,
        };
        self.bump();
        visibility
    }

    /// A type: built in, `mtype:set`, or the name of a typedef.
    pub(super) fn type_name(&mut self) -> Parse<TypeName> {
        let Some(word) = self.word().map(str::to_string) else {
            return Err(self.expected("a type", ""));
        };
        let ty = match word.as_str() {
            "bit" => TypeName::Bit,
            "bool" => TypeName::Bool,
            "byte" => TypeName::Byte,
            "pid" => TypeName::Pid,
            "short" => TypeName::Short,
            "int" => TypeName::Int,
            "unsigned" => TypeName::Unsigned,
            "chan" => TypeName::Chan,
            "ftype" if !self.typedefs.contains("ftype") => {
                self.dynamic = true;
                TypeName::Ftype
            }
            "mtype" => {
                self.bump();
                let named = self.is(":");
                self.take(":");
                return Ok(TypeName::Mtype(if named {
                    Some(self.name("the name of an mtype set")?)
                } else {
                    None
                }));
            }
            _ => {
                let known = self.typedefs.contains(word.as_str());
                let ident = Ident { name: word, span: self.span() };
                if known {
                    self.bump();
                    return Ok(TypeName::Named(ident));
                }
                let diagnostic =
                    self.error_here(format!("`{}` is not a type", ident.name)).help(type_advice(&ident.name));
                return Err(self.report(diagnostic));
            }
        };
        self.bump();
        Ok(ty)
    }

    fn refuse_mtype_definition(&mut self, ty: &TypeName) -> Parse<()> {
        if matches!(ty, TypeName::Mtype(_)) && (self.is("{") || self.is("=")) {
            let diagnostic = self
                .error_here("mtype names must be defined outside processes")
                .help("move `mtype = { … }` to the top of the model");
            return Err(self.report(diagnostic));
        }
        Ok(())
    }

    /// `int a, int b`, as C writes parameters.
    fn refuse_type_after_comma(&mut self) -> Parse<()> {
        if let Some(word) = self.word().filter(|w| is_type(w)) {
            let diagnostic = self
                .error_here(format!("expected a name after `,`, found the type `{word}`"))
                .help("after a comma the type stays the same; use `;` before another type: `byte a; int b`");
            return Err(self.report(diagnostic));
        }
        Ok(())
    }

    fn variable(&mut self, ty: &TypeName) -> Parse<Variable> {
        let pointer = self.take("&");
        self.dynamic |= pointer;
        let name = self.name("a name for the variable")?;
        let mut variable = Variable { span: name.span, name, pointer, width: None, length: None, init: None };
        if self.is_word("STDIN") || variable.name.name == "STDIN" {
            let diagnostic = quotient_source::Diagnostic::error(
                variable.span,
                "the channel `STDIN` is not supported: a model must be closed",
            )
            .help("let a process send the input, choosing it with `select` or `if`");
            self.report(diagnostic);
        }
        if self.is(":") {
            if *ty != TypeName::Unsigned {
                let diagnostic = self
                    .error_here("only `unsigned` has a width")
                    .help(format!("write `unsigned {} : n`, or leave the width out", variable.name.name));
                return Err(self.report(diagnostic));
            }
            self.bump();
            variable.width = Some(self.operand()?);
        }
        if self.is("[") {
            let open = self.span();
            self.bump();
            variable.length = Some(self.expression()?);
            self.expect("]", "after the length of the array")?;
            if self.is("[") {
                let name = &variable.name.name;
                let diagnostic = self
                    .error_here("an array has one dimension")
                    .related(open, "the first dimension")
                    .help(format!("use a structure: `typedef Row {{ byte cell[8] }}; Row {name}[8]`, then `{name}[i].cell[j]`"));
                return Err(self.report(diagnostic));
            }
        }
        if self.take("=") {
            variable.init = Some(self.initialiser()?);
        }
        variable.span = variable.span.to(self.previous);
        Ok(variable)
    }

    fn initialiser(&mut self) -> Parse<Initialiser> {
        let start = self.span();
        if self.take("{") {
            let mut values = vec![self.expression()?];
            while self.take(",") {
                values.push(self.expression()?);
            }
            self.close_brace("the list of values", start)?;
            return Ok(Initialiser::List(values, start.to(self.previous)));
        }
        if self.is("[") {
            return self.channel_initialiser(start).map(Initialiser::Channel);
        }
        self.expression().map(Initialiser::Expr)
    }

    /// `[n] of { types }`.
    pub(super) fn channel_initialiser(&mut self, start: Span) -> Parse<ChannelInit> {
        self.bump();
        let capacity = self.expression()?;
        self.expect("]", "after the capacity of the channel")?;
        if !self.take_word("of") {
            let found = self.kind().described();
            let diagnostic = self
                .error_here(format!("expected `of` after the capacity of the channel, found {found}"))
                .help("write `[2] of { byte, bool }`");
            return Err(self.report(diagnostic));
        }
        let open = self.span();
        if !self.take("{") {
            let found = self.kind().described();
            let diagnostic = self
                .error_here(format!("expected `{{` before the types of a message, found {found}"))
                .help("write the types in braces: `[2] of { byte, bool }`");
            return Err(self.report(diagnostic));
        }
        let mut fields = Vec::new();
        loop {
            let span = self.span();
            let ty = self.type_name()?;
            if ty == TypeName::Unsigned {
                let diagnostic =
                    quotient_source::Diagnostic::error(span, "`unsigned` cannot be a message field")
                        .help("use `byte`, `short` or `int`");
                self.report(diagnostic);
                if self.take(":") && matches!(self.kind(), Kind::Number(_)) {
                    self.bump();
                }
            }
            let pointer = self.take("&");
            self.dynamic |= pointer;
            let ty = if pointer { TypeName::Pointer(Box::new(ty)) } else { ty };
            fields.push((ty, span.to(self.previous)));
            if !self.take(",") {
                break;
            }
        }
        self.close_brace("the types of a message", open)?;
        Ok(ChannelInit { capacity, fields, span: start.to(self.previous) })
    }
}

fn type_advice(word: &str) -> String {
    let built_in = "types are bit, bool, byte, short, int, unsigned, pid, mtype, chan and typedef names";
    match word {
        "char" => "use `byte`".to_string(),
        "long" => "use `int`, which has 32 bits".to_string(),
        "boolean" => "use `bool`".to_string(),
        "void" => "Promela has no functions; leave it out".to_string(),
        "float" | "double" => "Promela has no fractions; use `int`".to_string(),
        "string" => "Promela has no strings outside `printf`; use `mtype` names".to_string(),
        "struct" | "enum" => "write `typedef T { … }` for a structure, `mtype = { … }` for names".to_string(),
        _ => built_in.to_string(),
    }
}
