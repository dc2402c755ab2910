//! Macro expansion.
//!
//! Expansion follows the C standard in the way compilers implement it: a stack of token lists; a
//! macro is disabled while its own expansion is on the stack, and its name found there is painted
//! and never expanded again, so expansion always ends. Since it may still be exponentially long,
//! the number of tokens it produces is bounded.

use std::collections::HashSet;
use std::rc::Rc;

use quotient_source::{Diagnostic, Diagnostics, FileId, Severity, Span};

use super::macros::{Macro, MacroTable};
use crate::lexer::tokenize;
use crate::token::{Kind, Token};
use crate::{MAX_ERRORS, MAX_MESSAGES};

/// How many tokens macro expansion may produce for one model.
const MAX_EXPANDED: usize = 1_000_000;
/// How deep calls of macros may stand in arguments of calls of macros.
const MAX_ARGUMENT_DEPTH: usize = 100;

/// Expands macros in lists of tokens.
pub(crate) struct Expander<'a> {
    /// The macros defined now.
    pub macros: MacroTable,
    /// Where mistakes go.
    pub diagnostics: &'a mut Diagnostics,
    /// Set when a bound was exceeded: what is produced from then on is useless.
    pub gave_up: bool,
    disabled: HashSet<Rc<str>>,
    produced: usize,
    depth: usize,
}

/// A list of tokens being read: the input, or the replacement of a macro.
struct Frame {
    tokens: std::vec::IntoIter<Token>,
    name: Option<Rc<str>>,
}

/// The lists being read, innermost last.
struct Stack {
    frames: Vec<Frame>,
}

impl Stack {
    /// The next token, left in place. Lists that have been read to the end are closed.
    fn peek(&mut self, disabled: &mut HashSet<Rc<str>>) -> Option<&Token> {
        while self.frames.last().is_some_and(|f| f.tokens.as_slice().is_empty()) {
            if let Some(name) = self.frames.pop().and_then(|f| f.name) {
                disabled.remove(&name);
            }
        }
        self.frames.last().and_then(|f| f.tokens.as_slice().first())
    }

    fn next(&mut self, disabled: &mut HashSet<Rc<str>>) -> Option<Token> {
        self.peek(disabled)?;
        self.frames.last_mut()?.tokens.next()
    }
}

impl<'a> Expander<'a> {
    /// An expander that knows `macros`.
    pub fn new(macros: MacroTable, diagnostics: &'a mut Diagnostics) -> Expander<'a> {
        Expander { macros, diagnostics, gave_up: false, disabled: HashSet::new(), produced: 0, depth: 0 }
    }

    /// All macros in `tokens` replaced.
    pub fn expand(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        if !tokens.iter().any(|t| t.word().is_some_and(|name| self.macros.get(name).is_some())) {
            return tokens;
        }
        let mut output = Vec::with_capacity(tokens.len());
        let mut stack = Stack { frames: vec![Frame { tokens: tokens.into_iter(), name: None }] };
        // A line break before a macro that expands to nothing belongs to the token after it.
        let mut line_start = false;
        while let Some(mut token) = stack.next(&mut self.disabled) {
            if self.gave_up {
                break;
            }
            token.line_start |= std::mem::take(&mut line_start);
            let Kind::Word(name) = &token.kind else {
                output.push(token);
                continue;
            };
            let Some(definition) = self.macros.get(name).cloned().filter(|_| !token.painted) else {
                output.push(token);
                continue;
            };
            if self.disabled.contains(name) {
                token.painted = true;
                output.push(token);
                continue;
            }
            definition.used.set(true);
            let name = name.clone();
            let (arguments, use_span) = match &definition.parameters {
                None => (Vec::new(), token.span),
                Some(parameters) => {
                    if !stack.peek(&mut self.disabled).is_some_and(|t| t.is("(")) {
                        output.push(token);
                        continue;
                    }
                    let Some((arguments, close)) = self.arguments(&mut stack, &token, &name, &definition)
                    else {
                        continue;
                    };
                    if !self.right_number(&token, &name, &definition, parameters.len(), &arguments) {
                        // Go on with some value, so that one mistake gives one message.
                        output.push(Token { kind: Kind::Number("1".into()), ..token });
                        continue;
                    }
                    (arguments, if token.origin.is_none() { token.span.to(close) } else { token.span })
                }
            };
            let mut replacement = self.substitute(&definition, &arguments, use_span);
            match replacement.first_mut() {
                Some(first) => (first.line_start, first.space) = (token.line_start, token.space),
                None => line_start = token.line_start,
            }
            self.produced += replacement.len() + 1;
            if self.produced > MAX_EXPANDED {
                self.give_up(&token, &definition, "macros expand to more than a million tokens");
                break;
            }
            self.disabled.insert(name.clone());
            stack.frames.push(Frame { tokens: replacement.into_iter(), name: Some(name) });
        }
        // Only after giving up can lists be left.
        for frame in stack.frames {
            if let Some(name) = frame.name {
                self.disabled.remove(&name);
            }
        }
        output
    }

    /// Adds a message; after too many errors nothing more is read, and after too many messages of any
    /// kind warnings are left out.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        let warning = diagnostic.severity == Severity::Warning;
        if warning && self.diagnostics.iter().count() >= MAX_MESSAGES {
            return;
        }
        self.diagnostics.push(diagnostic);
        self.gave_up |= self.diagnostics.error_count() >= MAX_ERRORS;
    }

    fn give_up(&mut self, token: &Token, definition: &Macro, message: &str) {
        if !self.gave_up {
            self.gave_up = true;
            self.report(
                Diagnostic::error(token.span, message)
                    .related(definition.span, "while expanding this macro")
                    .help(
                        "macros that use others twice or more grow exponentially; use an `inline` or a loop",
                    ),
            );
        }
    }

    /// Reads the arguments of a call, from `(` to `)`.
    fn arguments(
        &mut self,
        stack: &mut Stack,
        call: &Token,
        name: &str,
        definition: &Macro,
    ) -> Option<(Vec<Vec<Token>>, Span)> {
        stack.next(&mut self.disabled);
        let fixed = match (&definition.parameters, definition.variadic) {
            (Some(parameters), true) => parameters.len(),
            _ => usize::MAX,
        };
        let mut arguments = vec![Vec::new()];
        let mut nesting = 0;
        while let Some(mut token) = stack.next(&mut self.disabled) {
            match token.kind {
                Kind::Punct(")") if nesting == 0 => return Some((arguments, token.span)),
                Kind::Punct(")") => nesting -= 1,
                Kind::Punct("(") => nesting += 1,
                Kind::Punct(",") if nesting == 0 && arguments.len() < fixed => {
                    arguments.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            token.space |= token.line_start;
            token.line_start = false;
            if let Kind::Word(word) = &token.kind {
                token.painted |= self.disabled.contains(word);
            }
            if let Some(last) = arguments.last_mut() {
                last.push(token);
            }
        }
        self.report(
            Diagnostic::error(call.span, format!("this call of the macro `{name}` is not closed"))
                .related(definition.span, "defined here")
                .help("write the missing `)`"),
        );
        // The rest of the text is lost in the arguments.
        self.gave_up = true;
        None
    }

    fn right_number(
        &mut self,
        call: &Token,
        name: &str,
        definition: &Macro,
        wanted: usize,
        arguments: &[Vec<Token>],
    ) -> bool {
        let given = arguments.len();
        let none = wanted == 0 && given == 1 && arguments[0].is_empty();
        if given == wanted || none || (definition.variadic && given + 1 == wanted) {
            return true;
        }
        self.report(
            Diagnostic::error(call.span, format!("the macro `{name}` takes {wanted} arguments, not {given}"))
                .related(definition.span, "defined here")
                .help(format!("give {wanted} arguments, separated by commas")),
        );
        false
    }

    /// The body of a macro with arguments in place of parameters.
    fn substitute(&mut self, definition: &Macro, arguments: &[Vec<Token>], use_span: Span) -> Vec<Token> {
        let parameters = definition.parameters.as_deref().unwrap_or(&[]);
        let argument_of = |token: &Token| {
            let index = parameters.iter().position(|p| token.word() == Some(p))?;
            Some((index, arguments.get(index).map_or(&[][..], Vec::as_slice)))
        };
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut output: Vec<Token> = Vec::new();
        let body = &definition.body;
        let mut at = 0;
        while at < body.len() {
            let token = &body[at];
            let before_paste = body.get(at + 1).is_some_and(|t| t.is("##"));
            if token.is("#")
                && definition.parameters.is_some()
                && let Some((_, raw)) = body.get(at + 1).and_then(argument_of)
            {
                output.push(placed(&stringify(raw), token, use_span));
                at += 2;
                continue;
            }
            if token.is("##") && !output.is_empty() && at + 1 < body.len() {
                let right = match argument_of(&body[at + 1]) {
                    Some((_, raw)) => raw.to_vec(),
                    None => vec![placed(&body[at + 1].kind, &body[at + 1], use_span)],
                };
                self.paste(&mut output, right, token, use_span);
                at += 2;
                continue;
            }
            match argument_of(token) {
                Some((_, [])) if before_paste => {
                    // Nothing pasted to the right operand is the right operand.
                    if let Some(right) = body.get(at + 2) {
                        match argument_of(right) {
                            Some((_, raw)) => output.extend(raw.iter().cloned()),
                            None => output.push(placed(&right.kind, right, use_span)),
                        }
                    }
                    at += 3;
                    continue;
                }
                Some((_, raw)) if before_paste => output.extend(raw.iter().cloned()),
                Some((index, raw)) => {
                    if expanded.get(index).is_some_and(Option::is_none) {
                        let value = self.expand_argument(raw, token, definition);
                        expanded[index] = Some(value);
                    }
                    let value = expanded.get(index).and_then(Option::as_deref).unwrap_or(&[]);
                    let start = output.len();
                    if self.produced + output.len() + value.len() <= MAX_EXPANDED {
                        output.extend(value.iter().cloned());
                    } else {
                        self.produced = MAX_EXPANDED;
                    }
                    if let Some(first) = output.get_mut(start) {
                        first.space = token.space;
                    }
                }
                None => output.push(placed(&token.kind, token, use_span)),
            }
            at += 1;
        }
        output
    }

    fn expand_argument(&mut self, raw: &[Token], token: &Token, definition: &Macro) -> Vec<Token> {
        if self.depth >= MAX_ARGUMENT_DEPTH {
            self.give_up(token, definition, "calls of macros are nested too deeply");
            return Vec::new();
        }
        self.depth += 1;
        let value = self.expand(raw.to_vec());
        self.depth -= 1;
        value
    }

    /// `left ## right`: the last token of `output` and the first of `right` become one.
    fn paste(&mut self, output: &mut Vec<Token>, right: Vec<Token>, operator: &Token, use_span: Span) {
        let mut right = right.into_iter();
        let Some(first) = right.next() else { return };
        let Some(last) = output.pop() else { return };
        let text = format!("{}{}", last.kind.spelling(), first.kind.spelling());
        let mut pasted = tokenize(FileId(0), &text);
        match pasted.pop() {
            Some(token) if pasted.is_empty() && !matches!(token.kind, Kind::Invalid(..)) => {
                let mut token = placed(&token.kind, operator, use_span);
                token.space = last.space;
                output.push(token);
            }
            _ => {
                self.report(
                    Diagnostic::error(use_span, format!("`{text}`, made by `##`, is not one token"))
                        .related(operator.span, "pasted here")
                        .help(
                            "`##` joins parts of a name or number; leave it out to put tokens side by side",
                        ),
                );
                output.push(last);
            }
        }
        output.extend(right);
    }
}

/// A token of a macro body as it stands at the macro's use.
fn placed(kind: &Kind, token: &Token, use_span: Span) -> Token {
    Token {
        kind: kind.clone(),
        span: use_span,
        origin: Some(token.span),
        formal: None,
        line_start: false,
        space: token.space,
        painted: false,
    }
}

fn stringify(tokens: &[Token]) -> Kind {
    let mut text = String::new();
    for (i, token) in tokens.iter().enumerate() {
        if i > 0 && token.space {
            text.push(' ');
        }
        let spelling = token.kind.spelling();
        match token.kind {
            Kind::Text(_) | Kind::Char(_) => {
                text.push_str(&spelling.replace('\\', "\\\\").replace('"', "\\\""));
            }
            _ => text.push_str(&spelling),
        }
    }
    Kind::Text(text.into())
}
