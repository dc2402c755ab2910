//! Parser of the `.clp` language: recursive descent, one statement at a time; after a mistake it
//! skips to the next full stop, so that several mistakes are reported in one run.

use std::collections::HashMap;

use quotient_source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};

use super::ast::*;
use super::lexer::{Token, tokens};

/// Nesting deeper than this is refused rather than risking the stack.
const MAX_DEPTH: usize = 200;

pub(crate) struct Parser {
    tokens: Vec<(Token, Span)>,
    /// For each opening parenthesis the index of the one that closes it.
    closing: Vec<usize>,
    at: usize,
    depth: usize,
    /// Lower-case words that stand for a variable, in languages that have them.
    names: HashMap<String, String>,
}

pub(crate) type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Parses a file into statements.
pub fn parse(map: &SourceMap, file: FileId, diagnostics: &mut Diagnostics) -> Vec<Item> {
    statements(tokens(file, map.text(file), diagnostics), diagnostics)
}

/// Parses tokens into statements.
pub(crate) fn statements(tokens: Vec<(Token, Span)>, diagnostics: &mut Diagnostics) -> Vec<Item> {
    let mut parser = Parser::new(tokens);
    let mut items = Vec::new();
    while *parser.peek() != Token::End {
        parser.depth = 0;
        match parser.item() {
            Ok(item) => items.push(item),
            Err(diagnostic) => {
                diagnostics.push(*diagnostic);
                parser.skip_statement();
            }
        }
    }
    items
}

fn closings(tokens: &[(Token, Span)]) -> Vec<usize> {
    let mut closing = vec![tokens.len(); tokens.len()];
    let mut open = Vec::new();
    for (at, (token, _)) in tokens.iter().enumerate() {
        match token {
            Token::Symbol("(") => open.push(at),
            Token::Symbol(")") => {
                if let Some(start) = open.pop() {
                    closing[start] = at;
                }
            }
            _ => {}
        }
    }
    closing
}

impl Parser {
    pub(crate) fn new(tokens: Vec<(Token, Span)>) -> Parser {
        let closing = closings(&tokens);
        Parser { tokens, closing, at: 0, depth: 0, names: HashMap::new() }
    }

    /// From now on the word is a variable.
    pub(crate) fn declare(&mut self, word: &str, variable: &str) {
        self.names.insert(word.into(), variable.into());
    }

    /// The variable a word stands for.
    pub(crate) fn declared(&self, word: &str) -> Option<String> {
        self.names.get(word).cloned()
    }

    /// Goes on after the next full stop.
    pub(crate) fn skip_statement(&mut self) {
        while !matches!(self.peek(), Token::Symbol(".") | Token::End) {
            self.at += 1;
        }
        self.accept(".");
    }

    pub(crate) fn advance(&mut self) {
        self.at += usize::from(*self.peek() != Token::End);
    }

    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    /// The token after the next.
    pub(crate) fn after(&self) -> Option<&Token> {
        self.tokens.get(self.at + 1).map(|t| &t.0)
    }

    pub(crate) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    pub(crate) fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    pub(crate) fn accept(&mut self, symbol: &str) -> bool {
        let yes = matches!(self.peek(), Token::Symbol(s) if *s == symbol);
        self.at += usize::from(yes);
        yes
    }

    pub(crate) fn word(&mut self, word: &str) -> bool {
        let yes = matches!(self.peek(), Token::Word(w) if w == word);
        self.at += usize::from(yes);
        yes
    }

    pub(crate) fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(Box::new(Diagnostic::error(self.span(), message)))
    }

    pub(crate) fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.accept(symbol) {
            return Ok(());
        }
        let found = match self.peek() {
            Token::End => "the end of the file".to_string(),
            Token::Word(w) | Token::Variable(w) => format!("`{w}`"),
            Token::Integer(i) => format!("`{i}`"),
            Token::Symbol(s) => format!("`{s}`"),
        };
        let help = match symbol {
            "." => "every statement ends with a full stop",
            "|=" => "an assertion reads `assert p(X), X > 0 |= p(X).`",
            _ => "",
        };
        let mut d = Diagnostic::error(self.span(), format!("expected `{symbol}`, found {found}"));
        if !help.is_empty() {
            d = d.help(help);
        }
        Err(Box::new(d))
    }

    pub(crate) fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { self.fail("nested too deeply") } else { Ok(()) }
    }

    /// Whether `p(` follows (and not `not (`).
    fn at_atom(&self) -> bool {
        match (self.peek(), self.after()) {
            (Token::Word(word), Some(Token::Symbol("("))) => word != "not",
            _ => false,
        }
    }

    pub(crate) fn name(&mut self, what: &str) -> Parsed<(String, Span)> {
        let span = self.span();
        match self.peek().clone() {
            Token::Word(name) => {
                self.at += 1;
                Ok((name, span))
            }
            _ => self.fail(format!("expected {what}")),
        }
    }

    fn variable(&mut self) -> Parsed<(String, Span)> {
        let span = self.span();
        match self.peek().clone() {
            Token::Variable(name) => {
                self.at += 1;
                Ok((name, span))
            }
            _ => self.fail("expected a variable (an upper-case name)"),
        }
    }

    pub(crate) fn integer(&mut self) -> Parsed<i64> {
        let negative = self.accept("-");
        match *self.peek() {
            Token::Integer(value) => {
                self.at += 1;
                Ok(if negative { -value } else { value })
            }
            _ => self.fail("expected a number"),
        }
    }

    pub(crate) fn item(&mut self) -> Parsed<Item> {
        let start = self.span();
        if self.word("assert") {
            return self.assertion(start, false);
        }
        if self.word("assume") {
            return self.assertion(start, true);
        }
        let head = self.atom()?;
        let (mut body, mut parts) = (None, Vec::new());
        if self.accept(":-") {
            loop {
                if self.at_atom() {
                    let atom = self.atom()?;
                    if body.is_some() {
                        return Err(Box::new(
                            Diagnostic::error(atom.span, "a rule has at most one state in its body")
                                .label("second state")
                                .help("write the product of the two systems as one predicate"),
                        ));
                    }
                    body = Some(atom);
                } else {
                    parts.push(self.disjunct()?);
                }
                if !self.accept(",") {
                    break;
                }
            }
            if self.accept(";") {
                return Err(Box::new(
                    Diagnostic::error(self.previous(), "a disjunction in a rule needs parentheses")
                        .help("write `p(X) :- p(Y), (X = Y ; X = 0).`"),
                ));
            }
        }
        self.expect(".")?;
        Ok(Item::Rule { head, body, constraint: Formula::And(parts), span: start.to(self.previous()) })
    }

    fn assertion(&mut self, start: Span, assumed: bool) -> Parsed<Item> {
        let nonincreasing = assumed && self.word("nonincreasing");
        let mut name = None;
        if matches!((self.peek(), self.after()), (Token::Word(_), Some(Token::Symbol(":")))) {
            name = Some(self.name("a name")?);
            self.expect(":")?;
        }
        let symmetric = self.word("symmetric");
        let left = self.atom()?;
        let mut parts = Vec::new();
        while self.accept(",") {
            parts.push(self.disjunct()?);
        }
        let claim = if symmetric {
            self.symmetric()?
        } else {
            self.expect("|=")?;
            if self.at_atom() {
                let atom = self.atom()?;
                let mut parts = Vec::new();
                while self.accept(",") {
                    parts.push(self.disjunct()?);
                }
                Claim::State(atom, Formula::And(parts))
            } else {
                Claim::Constraint(self.formula()?)
            }
        };
        let mut using = Vec::new();
        if self.word("using") {
            using.push(self.name("the name of an assertion")?);
            while self.accept(",") {
                using.push(self.name("the name of an assertion")?);
            }
        }
        self.expect(".")?;
        let span = start.to(self.previous());
        let constraint = Formula::And(parts);
        Ok(Item::Assertion(Assertion { assumed, nonincreasing, name, left, constraint, claim, using, span }))
    }

    fn symmetric(&mut self) -> Parsed<Claim> {
        if !self.word("under") {
            return self.fail("expected `under permutations {…}` or `under rotations {…}`");
        }
        let group = if self.word("permutations") || self.word("transpositions") {
            Group::Permutations
        } else if self.word("rotations") {
            Group::Rotations
        } else {
            return self.fail("expected `permutations`, `transpositions` or `rotations`");
        };
        self.expect("{")?;
        let mut blocks = Vec::new();
        loop {
            let start = self.span();
            let mut block = Vec::new();
            if self.accept("(") {
                block.push(self.variable()?);
                while self.accept(",") {
                    block.push(self.variable()?);
                }
                self.expect(")")?;
            } else {
                block.push(self.variable()?);
            }
            blocks.push((block, start.to(self.previous())));
            if !self.accept(",") {
                break;
            }
        }
        self.expect("}")?;
        let (mut identities, mut first) = (Vec::new(), 1);
        if self.word("with") {
            if !self.word("ids") {
                return self.fail("expected `ids`, as in `with ids Turn from 1`");
            }
            identities.push(self.variable()?);
            while self.accept(",") {
                identities.push(self.variable()?);
            }
            if self.word("from") {
                first = self.integer()?;
            }
        }
        Ok(Claim::Symmetric { group, blocks, identities, first })
    }

    fn atom(&mut self) -> Parsed<Atom> {
        let (name, name_span) = self.name("a predicate, such as `p(…)`")?;
        self.expect("(")?;
        let mut arguments = vec![self.term()?];
        while self.accept(",") {
            arguments.push(self.term()?);
        }
        self.expect(")")?;
        Ok(Atom { name, name_span, arguments, span: name_span.to(self.previous()) })
    }

    /// `a, b ; c, d`: `;` binds weaker than `,`.
    pub(crate) fn formula(&mut self) -> Parsed<Formula> {
        let mut alternatives = Vec::new();
        loop {
            let mut parts = vec![self.disjunct()?];
            while self.accept(",") || self.word("and") {
                parts.push(self.disjunct()?);
            }
            alternatives.push(if parts.len() == 1 { parts.remove(0) } else { Formula::And(parts) });
            if !(self.accept(";") || self.word("or")) {
                break;
            }
        }
        Ok(if alternatives.len() == 1 { alternatives.remove(0) } else { Formula::Or(alternatives) })
    }

    /// One conjunct.
    fn disjunct(&mut self) -> Parsed<Formula> {
        self.deeper()?;
        let result = self.conjunct();
        self.depth -= 1;
        result
    }

    fn conjunct(&mut self) -> Parsed<Formula> {
        if self.word("true") {
            return Ok(Formula::Truth(true));
        }
        if self.word("false") {
            return Ok(Formula::Truth(false));
        }
        if self.word("not") {
            return Ok(Formula::Not(Box::new(self.disjunct()?)));
        }
        if let Token::Word(word) = self.peek().clone()
            && !self.names.contains_key(&word)
        {
            if matches!(self.after(), Some(Token::Symbol("("))) {
                return self.fail(format!("a state such as `{word}(…)` cannot stand here"));
            }
            return self.fail(format!("`{word}` is not a constraint"));
        }
        let start = self.span();
        if matches!(self.peek(), Token::Symbol("(")) {
            // What follows the matching parenthesis tells a tuple, a term and a formula apart.
            match self.tokens.get(self.closing[self.at] + 1).map(|t| &t.0) {
                Some(Token::Word(w)) if w == "in" => {
                    self.at += 1;
                    let mut tuple = vec![self.term()?];
                    while self.accept(",") {
                        tuple.push(self.term()?);
                    }
                    self.expect(")")?;
                    return self.membership(tuple, start);
                }
                Some(Token::Symbol("+" | "-" | "*" | "<" | ">" | "=" | "<>" | "<=" | ">=")) => {}
                _ => {
                    self.at += 1;
                    let inner = self.formula()?;
                    self.expect(")")?;
                    return Ok(inner);
                }
            }
        }
        self.comparison()
    }

    fn membership(&mut self, tuple: Vec<Term>, start: Span) -> Parsed<Formula> {
        if !self.word("in") {
            return self.fail("expected `in`");
        }
        if !matches!(self.peek(), Token::Symbol("{")) {
            let low = self.integer()?;
            self.expect("..")?;
            let high = self.integer()?;
            let span = start.to(self.previous());
            let mut tuple = tuple;
            return match tuple.pop() {
                Some(term) if tuple.is_empty() => Ok(Formula::Range(term, low, high)),
                _ => Err(Box::new(Diagnostic::error(span, "a range holds single values, not tuples"))),
            };
        }
        self.expect("{")?;
        let mut values = Vec::new();
        loop {
            let from = self.span();
            let mut value = Vec::new();
            if self.accept("(") {
                value.push(self.integer()?);
                while self.accept(",") {
                    value.push(self.integer()?);
                }
                self.expect(")")?;
            } else {
                value.push(self.integer()?);
            }
            let span = from.to(self.previous());
            if value.len() != tuple.len() {
                return Err(Box::new(
                    Diagnostic::error(
                        span,
                        format!("expected {} values, found {}", tuple.len(), value.len()),
                    )
                    .related(start, "for this tuple"),
                ));
            }
            values.push((value, span));
            if !self.accept(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(Formula::In(tuple, values, start.to(self.previous())))
    }

    fn comparison(&mut self) -> Parsed<Formula> {
        let start = self.span();
        let left = self.term()?;
        if matches!(self.peek(), Token::Word(w) if w == "in") {
            return self.membership(vec![left], start);
        }
        let relation = match self.peek() {
            Token::Symbol("=") => Relation::Equal,
            Token::Symbol("<>") => Relation::Different,
            Token::Symbol("<") => Relation::Less,
            Token::Symbol("<=") => Relation::AtMost,
            Token::Symbol(">") => Relation::Greater,
            Token::Symbol(">=") => Relation::AtLeast,
            _ => return self.fail("expected a comparison such as `=`, `<>`, `<`, `<=`, `>` or `>=`"),
        };
        self.at += 1;
        Ok(Formula::Compare(relation, left, self.term()?))
    }

    pub(crate) fn term(&mut self) -> Parsed<Term> {
        let mut left = self.factor()?;
        loop {
            let make = if self.accept("+") {
                TermKind::Sum
            } else if self.accept("-") {
                TermKind::Difference
            } else {
                return Ok(left);
            };
            let right = self.factor()?;
            let span = left.span.to(right.span);
            left = Term { kind: make(Box::new(left), Box::new(right)), span };
        }
    }

    fn factor(&mut self) -> Parsed<Term> {
        let mut left = self.primary()?;
        while self.accept("*") {
            let right = self.primary()?;
            let span = left.span.to(right.span);
            left = Term { kind: TermKind::Product(Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn primary(&mut self) -> Parsed<Term> {
        self.deeper()?;
        let start = self.span();
        let kind = match self.peek().clone() {
            Token::Variable(name) => {
                self.at += 1;
                TermKind::Variable(name)
            }
            Token::Integer(value) => {
                self.at += 1;
                TermKind::Integer(value)
            }
            Token::Symbol("-") => {
                self.at += 1;
                TermKind::Negative(Box::new(self.primary()?))
            }
            Token::Symbol("(") => {
                self.at += 1;
                let inner = self.term()?;
                self.expect(")")?;
                inner.kind
            }
            Token::Symbol("[") => {
                self.at += 1;
                let mut list = vec![self.term()?];
                while self.accept(",") {
                    list.push(self.term()?);
                }
                self.expect("]")?;
                TermKind::List(list)
            }
            Token::Word(word) if self.names.contains_key(&word) => {
                self.at += 1;
                TermKind::Variable(self.names[&word].clone())
            }
            Token::Word(word) => {
                let d = Diagnostic::error(start, format!("`{word}` is not a term"))
                    .help("variables start with an upper-case letter");
                return Err(Box::new(d));
            }
            _ => return self.fail("expected a term: a variable, a number or a list"),
        };
        self.depth -= 1;
        Ok(Term { kind, span: start.to(self.previous()) })
    }
}
