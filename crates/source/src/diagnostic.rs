//! What a front end says about its input.

use std::collections::HashMap;

use crate::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used, but the author should look.
    Warning,
}

/// One message about the input: what is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, as a sentence without a full stop.
    pub message: String,
    /// Where; `None` for the input as a whole.
    pub span: Option<Span>,
    /// A few words under the caret.
    pub label: String,
    /// Other places that explain this one ("first declared here", "in this expansion of M").
    pub related: Vec<(Span, String)>,
    /// What to write instead.
    pub help: Option<String>,
    /// A warning about what the input states and nobody checks, which the label says.
    pub unchecked: Option<Unchecked>,
}

/// What an input states and nobody checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// That one process alone uses a channel (`xr`, `xs`).
    ExclusiveUse,
    /// That a process is deterministic (`D_proctype`).
    Determinism,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span: Some(span),
            label: String::new(),
            related: Vec::new(),
            help: None,
            unchecked: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// An error that belongs to no place.
    pub fn global(message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span: None,
            label: String::new(),
            related: Vec::new(),
            help: None,
            unchecked: None,
        }
    }

    /// Puts a few words under the caret.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Adds a place that explains this one.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }

    /// The input states this, and it is not checked: reports say so with their answers.
    pub fn unchecked(mut self, what: Unchecked, words: impl Into<String>) -> Diagnostic {
        self.unchecked = Some(what);
        self.label(words)
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

/// The messages of one run of a front end, in order.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    /// Which of them are at a place.
    at: HashMap<Option<Span>, Vec<usize>>,
}

impl Diagnostics {
    /// None yet.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a message; the same message at the same place is kept once.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let here = self.at.entry(diagnostic.span).or_default();
        if !here.iter().any(|index| self.list[*index] == diagnostic) {
            here.push(self.list.len());
            self.list.push(diagnostic);
        }
    }

    /// Whether an error is among them.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// How many errors there are.
    pub fn error_count(&self) -> usize {
        self.list.iter().filter(|d| d.severity == Severity::Error).count()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Takes over the messages of another run.
    pub fn extend(&mut self, other: Diagnostics) {
        for diagnostic in other.list {
            self.push(diagnostic);
        }
    }
}
