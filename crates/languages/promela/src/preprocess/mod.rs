//! The preprocessor: directives, files and conditional compilation.
//!
//! SPIN hands a model to the C preprocessor; we do the same work on tokens, so that every token
//! keeps its place. Supported: `#define` (object- and function-like, `#`, `##`, `...`), `#undef`,
//! `#include`, `#if/#ifdef/#ifndef/#elif/#else/#endif`, `#error`, `#warning`; `#line`, `# n "file"`,
//! `#ident` and `#pragma` are accepted without effect.
//!
//! A definition given from outside (`-D N=5`) is stronger than the file's own: `#define N 3` and
//! `#undef N` in the file then have no effect. This way a model states its defaults and the command
//! line changes them. Of several outside definitions of one name the last one counts.

mod condition;
mod expansion;
mod macros;

use std::cell::Cell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use quotient_source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};

use expansion::Expander;
use macros::Macro;
pub(crate) use macros::MacroTable;

use crate::ParseOptions;
use crate::lexer::tokenize;
use crate::token::{Kind, Token};

/// How deep `#include` may nest; deeper means that files include each other without end.
const MAX_INCLUDE_DEPTH: usize = 40;
/// How many files one model may include in all.
const MAX_INCLUDES: usize = 2000;

/// What the preprocessor hands to the parser.
pub(crate) struct Preprocessed {
    /// The tokens; empty when `complete` is false.
    pub tokens: Vec<Token>,
    /// False when the preprocessor had to give up: the tokens then mean nothing.
    pub complete: bool,
    /// The macros defined at the end.
    pub macros: MacroTable,
}

/// Runs the preprocessor on `file`, which starts with the macros of `macros`.
pub(crate) fn preprocess(
    map: &mut SourceMap,
    diagnostics: &mut Diagnostics,
    file: FileId,
    options: &ParseOptions,
    macros: MacroTable,
) -> Preprocessed {
    let mut preprocessor = Preprocessor {
        map,
        include_dirs: &options.include_dirs,
        expander: Expander::new(macros, diagnostics),
        output: Vec::new(),
        including: Vec::new(),
        includes: 0,
    };
    preprocessor.define_from_outside(&options.defines);
    preprocessor.file(file);
    let Preprocessor { expander, output, .. } = preprocessor;
    let complete = !expander.gave_up;
    Preprocessed { tokens: if complete { output } else { Vec::new() }, complete, macros: expander.macros }
}

/// One open `#if`.
struct Conditional {
    /// Whether the text around it is compiled.
    outer: bool,
    /// Whether the current branch is compiled.
    active: bool,
    /// Whether a branch was compiled already.
    taken: bool,
    /// The `#else`, once seen.
    otherwise: Option<Span>,
    /// The `#if`.
    span: Span,
}

struct Preprocessor<'a> {
    include_dirs: &'a [PathBuf],
    map: &'a mut SourceMap,
    expander: Expander<'a>,
    output: Vec<Token>,
    including: Vec<(PathBuf, Span)>,
    includes: usize,
}

impl Preprocessor<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.expander.report(diagnostic);
    }

    fn define_from_outside(&mut self, defines: &[(String, String)]) {
        for (name, value) in defines {
            let file = self.map.add("<command line>", format!("#define {name} {value}"));
            let tokens = tokenize(file, self.map.text(file));
            let span = Span::new(file, 8, 8 + name.len());
            match tokens.get(2).map(|t| &t.kind) {
                Some(Kind::Word(word)) if **word == **name => {
                    let body = tokens[3..].to_vec();
                    let definition = Macro {
                        span,
                        parameters: None,
                        variadic: false,
                        body,
                        outside: true,
                        used: Cell::new(false),
                    };
                    self.expander.macros.insert(word.clone(), Rc::new(definition));
                }
                _ => self.report(
                    Diagnostic::error(span, format!("`{name}` cannot be defined: it is not a name")).help(
                        "a definition has the form `NAME=VALUE`, with letters, digits and `_` in the name",
                    ),
                ),
            }
        }
    }

    fn file(&mut self, file: FileId) {
        let tokens = tokenize(file, self.map.text(file));
        let is_directive = |t: &Token| t.line_start && t.is("#");
        if !tokens.iter().any(is_directive) {
            // Long models are mostly of this kind: nothing is copied.
            self.put(tokens);
            return;
        }
        let mut conditionals: Vec<Conditional> = Vec::new();
        let mut at = 0;
        while at < tokens.len() && !self.expander.gave_up {
            let active = conditionals.last().is_none_or(|c| c.active);
            if is_directive(&tokens[at]) {
                let end = (at + 1..tokens.len()).find(|&i| tokens[i].line_start).unwrap_or(tokens.len());
                self.directive(file, &tokens[at], &tokens[at + 1..end], active, &mut conditionals);
                at = end;
            } else {
                let end = (at..tokens.len()).find(|&i| is_directive(&tokens[i])).unwrap_or(tokens.len());
                if active {
                    self.put(tokens[at..end].to_vec());
                }
                at = end;
            }
        }
        if let Some(open) = conditionals.last() {
            let span = open.span;
            self.report(
                Diagnostic::error(span, "this `#if` is not closed")
                    .help("write `#endif` where its text ends"),
            );
        }
    }

    /// Expands text and adds it to what is given on.
    fn put(&mut self, tokens: Vec<Token>) {
        let expanded = self.expander.expand(tokens);
        if self.output.is_empty() {
            self.output = expanded;
        } else {
            self.output.extend(expanded);
        }
    }

    fn directive(
        &mut self,
        file: FileId,
        hash: &Token,
        line: &[Token],
        active: bool,
        conditionals: &mut Vec<Conditional>,
    ) {
        let Some(first) = line.first() else { return };
        let span = hash.span.to(first.span);
        let rest = &line[1..];
        match first.word().unwrap_or("") {
            "if" | "ifdef" | "ifndef" => {
                let holds = active && self.condition(first.word().unwrap_or(""), span, rest);
                let opened =
                    Conditional { outer: active, active: holds, taken: holds, otherwise: None, span };
                conditionals.push(opened);
            }
            word @ ("elif" | "else" | "endif") => self.branch(word, span, rest, conditionals),
            _ if !active => {}
            "define" => self.define(span, rest),
            "undef" => self.undefine(span, rest),
            "include" => self.include(file, span, rest),
            word @ ("error" | "warning") => {
                let text = self.line_text(rest);
                let text = if text.is_empty() { format!("#{word}") } else { text };
                let all = rest.last().map_or(span, |last| span.to(last.span));
                self.report(match word {
                    "error" => Diagnostic::error(all, text),
                    _ => Diagnostic::warning(all, text),
                });
            }
            "line" | "pragma" | "ident" => {}
            _ if matches!(first.kind, Kind::Number(_)) => {}
            _ => {
                let name = first.kind.spelling();
                self.report(
                    Diagnostic::error(span, format!("`#{name}` is not a directive"))
                        .help("directives are #define, #undef, #include, #if, #ifdef, #ifndef, #elif, #else, #endif, #error, #warning, #line and #pragma"),
                );
            }
        }
    }

    /// The source text of a directive's line, for `#error`.
    fn line_text(&self, tokens: &[Token]) -> String {
        match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => self.map.slice(first.span.to(last.span)).to_string(),
            _ => String::new(),
        }
    }

    fn condition(&mut self, word: &str, span: Span, line: &[Token]) -> bool {
        if word == "if" {
            return condition::holds(&mut self.expander, span, line);
        }
        match line.first().map(|t| &t.kind) {
            Some(Kind::Word(name)) => self.expander.macros.is_defined(name) == (word == "ifdef"),
            _ => {
                self.report(
                    Diagnostic::error(span, format!("`#{word}` needs a name"))
                        .help(format!("write `#{word} NAME`")),
                );
                false
            }
        }
    }

    fn branch(&mut self, word: &str, span: Span, line: &[Token], conditionals: &mut Vec<Conditional>) {
        let Some(mut open) = conditionals.pop() else {
            self.report(
                Diagnostic::error(span, format!("`#{word}` without `#if`"))
                    .help("remove it, or write the `#if` that it belongs to"),
            );
            return;
        };
        if word == "endif" {
            return;
        }
        if let Some(otherwise) = open.otherwise {
            self.report(
                Diagnostic::error(span, format!("`#{word}` after `#else`"))
                    .related(otherwise, "the `#else` of the same `#if`")
                    .help("`#else` is the last branch; use `#elif` before it"),
            );
        }
        open.active = open.outer && !open.taken && (word == "else" || self.condition("if", span, line));
        open.taken |= open.active;
        if word == "else" {
            open.otherwise = Some(span);
        }
        conditionals.push(open);
    }

    fn define(&mut self, span: Span, line: &[Token]) {
        let Some(Kind::Word(name)) = line.first().map(|t| t.kind.clone()) else {
            self.report(Diagnostic::error(span, "`#define` needs a name").help("write `#define NAME value`"));
            return;
        };
        if &*name == "defined" {
            self.report(
                Diagnostic::error(line[0].span, "`defined` cannot be a macro").help("choose another name"),
            );
            return;
        }
        let definition = match macros::parse_definition(line) {
            Ok(definition) => definition,
            Err(diagnostic) => return self.report(diagnostic),
        };
        if let Some(old) = self.expander.macros.get(&name) {
            if old.outside {
                return;
            }
            if !old.same_as(&definition) {
                let old = old.span;
                self.report(
                    Diagnostic::warning(
                        line[0].span,
                        format!("the macro `{name}` is defined again, differently"),
                    )
                    .related(old, "first defined here")
                    .help(format!("write `#undef {name}` before it if this is meant")),
                );
            }
        }
        self.expander.macros.insert(name, Rc::new(definition));
    }

    fn undefine(&mut self, span: Span, line: &[Token]) {
        match line.first().and_then(|t| t.word()) {
            Some(name) => self.expander.macros.remove(name),
            None => self.report(Diagnostic::error(span, "`#undef` needs a name").help("write `#undef NAME`")),
        }
    }

    fn include(&mut self, file: FileId, span: Span, line: &[Token]) {
        let expanded = match line.first() {
            Some(first) if first.word().is_some() => self.expander.expand(line.to_vec()),
            _ => line.to_vec(),
        };
        let all = line.last().map_or(span, |last| span.to(last.span));
        let name = match expanded.first().map(|t| &t.kind) {
            Some(Kind::Text(name)) => name.to_string(),
            Some(Kind::Punct("<")) => {
                let text = self.line_text(line);
                text.strip_prefix('<').and_then(|t| t.split('>').next()).unwrap_or("").to_string()
            }
            _ => String::new(),
        };
        if name.is_empty() {
            self.report(
                Diagnostic::error(all, "`#include` needs a file name").help("write `#include \"file.pml\"`"),
            );
            return;
        }
        let here = Path::new(self.map.name(file)).parent().map(Path::to_path_buf).unwrap_or_default();
        let candidates: Vec<PathBuf> =
            std::iter::once(&here).chain(self.include_dirs).map(|dir| dir.join(&name)).collect();
        let Some(path) = candidates.iter().find(|p| p.is_file()) else {
            let looked: Vec<String> = candidates.iter().map(|p| format!("`{}`", p.display())).collect();
            self.report(
                Diagnostic::error(all, format!("the file `{name}` is not found"))
                    .help(format!("looked for {}", looked.join(", "))),
            );
            return;
        };
        self.includes += 1;
        if self.including.len() >= MAX_INCLUDE_DEPTH || self.includes > MAX_INCLUDES {
            self.refuse_cycle(all, path);
            return;
        }
        match self.map.load(path) {
            Ok(included) => {
                self.including.push((path.clone(), all));
                self.file(included);
                self.including.pop();
            }
            Err(error) => {
                self.report(Diagnostic::error(all, format!("the file `{name}` cannot be read: {error}")))
            }
        }
    }

    /// Files that include each other without end: names the files of the circle.
    fn refuse_cycle(&mut self, span: Span, path: &Path) {
        let mut seen = HashSet::new();
        let circle: Vec<String> = self
            .including
            .iter()
            .filter(|(p, _)| seen.insert(p.clone()))
            .map(|(p, _)| format!("`{}`", p.display()))
            .collect();
        let message = if self.including.iter().any(|(p, _)| p == path) {
            format!("`{}` includes itself without end", path.display())
        } else {
            "too many included files".to_string()
        };
        self.report(
            Diagnostic::error(span, message)
                .help(format!("files being included: {}; guard them with `#ifndef`", circle.join(", "))),
        );
        self.expander.gave_up = true;
    }
}
