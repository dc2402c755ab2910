//! `inline` definitions and the expansion of their calls.
//!
//! As in SPIN, a call is replaced by the body with the actual parameters put, as tokens, where the
//! formal ones stand. Names in the body mean what they mean at the call (dynamic scoping); the body
//! becomes a block of its own. `return e` in a body is the assignment of `e` to the variable of
//! `x = f(…)`; it does not leave the body.
//!
//! Each expansion has labels of its own, see `labels.rs`.

use std::collections::HashMap;
use std::rc::Rc;

use quotient_source::{Diagnostic, Span};

use super::labels::make_labels_unique;
use super::{Parse, Parser, Reported};
use crate::ast::{Reference, Sequence, StatementKind};
use crate::token::{Kind, Token};

/// How deep calls may be nested.
const MAX_CALLS: usize = 64;
/// How many tokens the expansion of calls may produce for one model.
const MAX_EXPANDED: usize = 1_000_000;

/// One definition.
#[derive(Debug)]
struct Inline {
    name: Rc<str>,
    parameters: Vec<Rc<str>>,
    /// The tokens between the braces.
    body: Rc<[Token]>,
    /// The name in the definition.
    span: Span,
    /// The closing brace.
    end: Span,
}

/// A call being expanded.
struct Call {
    definition: Rc<Inline>,
    span: Span,
    result: Option<Reference>,
}

/// All definitions, and the calls being expanded.
#[derive(Default)]
pub(super) struct Inlines {
    definitions: HashMap<Rc<str>, Rc<Inline>>,
    calls: Vec<Call>,
    expansions: usize,
    produced: usize,
}

impl Inlines {
    pub fn contains(&self, name: &str) -> bool {
        self.definitions.contains_key(name)
    }

    /// Whether the body of an inline is being read.
    pub fn in_call(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Names and places of the calls being expanded, innermost first.
    pub fn calls(&self) -> Vec<(Rc<str>, Span)> {
        self.calls.iter().rev().take(3).map(|c| (c.definition.name.clone(), c.span)).collect()
    }

    /// The call, in a file, that is being expanded.
    pub fn outermost_call(&self) -> Option<Span> {
        self.calls.first().map(|c| c.span)
    }

    /// A number that tells the token lists apart that are being read.
    pub fn expansion(&self) -> usize {
        (self.expansions << 8) + self.calls.len()
    }
}

/// The definition that starts with the word `inline` at `tokens[0]`, and the number of its tokens.
fn read_definition(tokens: &[Token]) -> Option<(Inline, usize)> {
    let Kind::Word(name) = &tokens.get(1)?.kind else { return None };
    if !tokens.get(2)?.is("(") {
        return None;
    }
    let mut at = 3;
    let mut parameters: Vec<Rc<str>> = Vec::new();
    while !tokens.get(at)?.is(")") {
        let Kind::Word(parameter) = &tokens[at].kind else { return None };
        parameters.push(parameter.clone());
        at += 1;
        if tokens.get(at)?.is(",") {
            at += 1;
        } else if !tokens.get(at)?.is(")") {
            return None;
        }
    }
    at += 1;
    if !tokens.get(at)?.is("{") {
        return None;
    }
    let (start, mut nesting) = (at + 1, 1);
    while nesting > 0 {
        at += 1;
        match tokens.get(at)?.kind {
            Kind::Punct("{") => nesting += 1,
            Kind::Punct("}") => nesting -= 1,
            _ => {}
        }
    }
    let inline = Inline {
        name: name.clone(),
        parameters,
        body: tokens[start..at].into(),
        span: tokens[1].span,
        end: tokens[at].span,
    };
    Some((inline, at + 1))
}

impl Parser<'_> {
    /// Finds the definitions of a model. Mistakes are reported when the parser comes there.
    pub(super) fn collect_inlines(&mut self, tokens: &[Token]) {
        // Only outside braces: no token is then scanned for two definitions.
        let mut nesting = 0usize;
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Punct("{") => nesting += 1,
                Kind::Punct("}") => nesting = nesting.saturating_sub(1),
                _ => {}
            }
            if nesting == 0
                && token.word() == Some("inline")
                && let Some((inline, _)) = read_definition(&tokens[at..])
            {
                self.inlines.definitions.entry(inline.name.clone()).or_insert(Rc::new(inline));
            }
        }
    }

    /// `inline f(a, b) { … }` at top level: checked here, used where it is called.
    pub(super) fn inline_definition(&mut self) -> Parse<()> {
        let tokens = self.tokens.clone();
        let Some((inline, length)) = read_definition(&tokens[self.at..]) else {
            return Err(self.bad_definition());
        };
        for (index, parameter) in inline.parameters.iter().enumerate() {
            if inline.parameters[..index].contains(parameter) {
                self.report(
                    Diagnostic::error(inline.span, format!("the parameter `{parameter}` appears twice"))
                        .help("give the parameters different names"),
                );
            }
        }
        let first = self.inlines.definitions.get(&inline.name).map_or(inline.span, |first| first.span);
        if first != inline.span {
            self.report(
                Diagnostic::error(inline.span, format!("the inline `{}` is defined twice", inline.name))
                    .related(first, "first defined here")
                    .help("rename or remove one of them"),
            );
        }
        for _ in 0..length {
            self.bump();
        }
        Ok(())
    }

    /// Says what is wrong with a definition that cannot be read.
    fn bad_definition(&mut self) -> Reported {
        self.bump();
        if let Err(reported) = self.name("a name for the inline") {
            return reported;
        }
        if let Err(reported) = self.expect("(", "after the name of the inline") {
            return reported;
        }
        while !self.is(")") {
            if let Some(word) = self.word().filter(|w| crate::token::is_type(w)) {
                let diagnostic = self
                    .error_here(format!("a parameter of an inline has no type, found `{word}`"))
                    .help("write the names only: `inline f(a, b) { … }`");
                return self.report(diagnostic);
            }
            if let Err(reported) = self.name("a parameter name") {
                return reported;
            }
            if !self.is(")") && !self.take(",") {
                return self.expected("`,` or `)`", "after the parameter");
            }
        }
        self.bump();
        let open = self.span();
        if let Err(reported) = self.expect("{", "to start the body of the inline") {
            return reported;
        }
        while !self.at_end() && !self.at_unit_start() {
            self.bump();
        }
        let diagnostic =
            Diagnostic::error(open, "this `{` is not closed").help("write `}` where the inline ends");
        self.report(diagnostic)
    }

    /// Whether a call of an inline starts here.
    pub(super) fn at_inline_call(&self) -> bool {
        self.word().is_some_and(|w| self.inlines.contains(w)) && self.ahead(1).is("(")
    }

    /// Expands the call that starts here; its value goes to `result`.
    pub(super) fn inline_call(&mut self, result: Option<Reference>) -> Parse<StatementKind> {
        let span = self.span();
        let definition = self.word().and_then(|w| self.inlines.definitions.get(w)).cloned();
        let Some(definition) = definition else { return Err(self.expected("an inline", "")) };
        self.bump();
        let arguments = self.actual_parameters(&definition)?;
        let (wanted, given) = (definition.parameters.len(), arguments.len());
        if wanted != given {
            return Err(self.report(
                Diagnostic::error(
                    span,
                    format!("`{}` takes {wanted} parameters, not {given}", definition.name),
                )
                .related(definition.span, "defined here")
                .help(format!("give {wanted} parameters, separated by commas")),
            ));
        }
        if self.inlines.calls.iter().any(|c| Rc::ptr_eq(&c.definition, &definition)) {
            return Err(self.report(
                Diagnostic::error(span, format!("the inline `{}` calls itself", definition.name))
                    .related(definition.span, "defined here")
                    .help("an inline is copied into its caller and cannot be recursive; use a loop or a proctype"),
            ));
        }
        let body = substitute(&definition, &arguments);
        self.inlines.produced += body.len();
        if self.inlines.calls.len() >= MAX_CALLS || self.inlines.produced > MAX_EXPANDED {
            let reported = self.report(
                Diagnostic::error(span, "inline calls expand to too much text")
                    .label("more than a million tokens, or 64 calls inside each other")
                    .help("let one inline call another in fewer places, or use a loop"),
            );
            self.stop();
            return Err(reported);
        }
        self.inlines.calls.push(Call { definition: definition.clone(), span, result });
        let parsed = self.deeper(|parser| Ok(parser.sub_sequence(body, &definition)));
        self.inlines.calls.pop();
        if self.stopped {
            self.stop();
        }
        let mut sequence = parsed?;
        self.inlines.expansions += 1;
        make_labels_unique(&mut sequence, self.inlines.expansions);
        Ok(StatementKind::Block(sequence))
    }

    /// The actual parameters of a call, as tokens.
    fn actual_parameters(&mut self, definition: &Inline) -> Parse<Vec<Vec<Token>>> {
        let open = self.span();
        self.expect("(", "after the name of the inline")?;
        let mut arguments: Vec<Vec<Token>> = vec![Vec::new()];
        let mut nesting = 0usize;
        loop {
            let token = self.token().clone();
            match token.kind {
                Kind::Punct(")") if nesting == 0 => break,
                Kind::Punct(")" | "]") => nesting = nesting.saturating_sub(1),
                Kind::Punct("(" | "[") => nesting += 1,
                Kind::End | Kind::Punct(";" | "{" | "}" | "::") => {
                    let name = &definition.name;
                    return Err(self.report(
                        Diagnostic::error(open, format!("this call of `{name}` is not closed"))
                            .help("write the missing `)`"),
                    ));
                }
                _ => {}
            }
            self.bump();
            match arguments.last_mut() {
                Some(_) if nesting == 0 && token.is(",") => arguments.push(Vec::new()),
                Some(last) => last.push(Token { line_start: false, ..token }),
                None => {}
            }
        }
        self.bump();
        if arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if arguments.iter().any(Vec::is_empty) {
            return Err(self.report(
                Diagnostic::error(
                    open,
                    format!("a parameter of this call of `{}` is empty", definition.name),
                )
                .related(definition.span, "defined here")
                .help("write something between the commas"),
            ));
        }
        Ok(arguments)
    }

    /// Parses the tokens of an expansion in place of the input.
    fn sub_sequence(&mut self, mut body: Vec<Token>, definition: &Inline) -> Sequence {
        body.push(Token { line_start: true, ..Token::new(Kind::End, definition.end) });
        let outer_tokens = std::mem::replace(&mut self.tokens, Rc::new(body));
        let outer = (self.at, self.line_end, self.previous, self.parentheses, self.in_sequence);
        (self.at, self.line_end, self.parentheses, self.in_sequence) = (0, false, 0, true);
        let sequence = self.sequence(definition.span);
        if !self.at_end() {
            let found = self.kind().described();
            let diagnostic = self
                .error_here(format!("expected a statement, found {found}"))
                .help("remove it, or write what it closes");
            self.report(diagnostic);
        }
        self.tokens = outer_tokens;
        (self.at, self.line_end, self.previous, self.parentheses, self.in_sequence) = outer;
        self.separated = false;
        sequence
    }

    /// `return e`: an assignment to the variable of the call.
    pub(super) fn return_statement(&mut self) -> Parse<StatementKind> {
        let span = self.span();
        self.bump();
        let Some(call) = self.inlines.calls.last() else {
            if self.in_function {
                return self.function_return();
            }
            return Err(self.report(
                Diagnostic::error(span, "`return` outside an inline")
                    .help("a process ends at its closing brace; jump there with `goto` and a label"),
            ));
        };
        let Some(result) = call.result.clone() else {
            let name = call.definition.name.clone();
            return Err(self.report(
                Diagnostic::error(span, format!("the call of `{name}` does not take its value"))
                    .help(format!("call it as `x = {name}(…)`, or remove the `return`")),
            ));
        };
        let value = self.expression()?;
        Ok(StatementKind::Assign(result, value))
    }
}

/// The body of an inline with actual parameters in place of formal ones.
fn substitute(definition: &Inline, arguments: &[Vec<Token>]) -> Vec<Token> {
    let mut body = Vec::with_capacity(definition.body.len() + 1);
    for token in definition.body.iter() {
        let index = token.word().and_then(|w| definition.parameters.iter().position(|p| **p == *w));
        let Some(argument) = index.and_then(|i| arguments.get(i)) else {
            body.push(token.clone());
            continue;
        };
        let start = body.len();
        body.extend(argument.iter().map(|t| Token { formal: Some(token.span), ..t.clone() }));
        if let Some(first) = body.get_mut(start) {
            first.line_start = token.line_start;
        }
    }
    body
}
