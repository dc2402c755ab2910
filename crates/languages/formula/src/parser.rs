//! The parser of formulas.
//!
//! As in SPIN, formulas and expressions share one precedence, from loose to tight: `->` and `<->`,
//! `||`, `&&`, the binary temporal operators, then the operators of expressions; everything
//! associates to the left. Prefix `[]`, `<>`, `X` and `!` bind tightest: `<> x == 2` reads as
//! `(<> x) == 2` and is refused. `&` and `|` with a temporal operand mean `&&` and `||` where the other operand is a truth
//! value too (`!p & X q`; SPIN takes the number of a token for the temporal operand), and are refused elsewhere.
//!
//! Beyond SPIN: `forall p: P . e`, `exists p: P . e`, `count p: P . e` over the processes of a kind (the expression
//! reaches as far as it can); in formulas of branching time the path quantifiers `A` and `E`, `AG`, `AF`, `AX`, `EG`, `EF`,
//! `EX`, `A[f U g]`, `E[f U g]`, and `G` and `F` for `[]` and `<>`.

use quotient_source::{Diagnostic, Span};

use crate::{Formula, FormulaKind};

/// How many operators a formula may have.
const MAX_OPERATORS: usize = 1000;

/// A mistake that has been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported;

/// The result of parsing something; a failure has been reported.
pub type Parse<T> = Result<T, Reported>;

/// Operators between truth values that formulas and expressions both have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connective {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `->`
    Implies,
    /// `<->`
    Equivalent,
}

/// Of how many processes something is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// Of all of them.
    ForAll,
    /// Of at least one.
    Exists,
    /// How many there are.
    Count,
}

/// Tokens as the parser of formulas reads them.
pub trait Tokens {
    /// Is the token after the next `ahead` ones this operator or bracket?
    fn is(&self, ahead: usize, punctuation: &str) -> bool;
    /// The token after the next `ahead` ones, if it is a word.
    fn word(&self, ahead: usize) -> Option<&str>;
    /// Where the next token is.
    fn span(&self) -> Span;
    /// Is there nothing between the next token and the one after it?
    fn touches(&self) -> bool;
    /// Where the last token was.
    fn previous(&self) -> Span;
    /// Are there no more tokens?
    fn at_end(&self) -> bool;
    /// Takes a token.
    fn bump(&mut self);

    /// Reports a mistake.
    fn report(&mut self, diagnostic: Diagnostic) -> Reported;
    /// Reports that something else should stand here; `why` may be empty.
    fn expected(&mut self, what: &str, why: &str) -> Reported;
    /// Takes `)`, or reports that it is missing.
    fn close(&mut self, open: Span) -> Parse<()>;
    /// Goes one level deeper, or reports that there are too many.
    fn enter(&mut self) -> Parse<()>;
    /// Comes back from there.
    fn leave(&mut self);
}

/// What the parser of formulas needs of a language: a parser that stands at a token and can read the language's own expressions.
pub trait Expressions {
    /// Its tokens, and where it stands among them.
    type Tokens: Tokens;
    /// An expression.
    type Expr;
    /// A name.
    type Name;
    /// An operator between two expressions, other than the connectives.
    type Infix: Copy;
    /// An operator before an expression, other than `!`.
    type Prefix: Copy;

    /// Where it stands.
    fn tokens(&self) -> &Self::Tokens;
    /// The same, to go on.
    fn tokens_mut(&mut self) -> &mut Self::Tokens;

    /// Takes a name, or reports that one is missing.
    fn name(&mut self, what: &str) -> Parse<Self::Name>;
    /// Takes an expression without operators around it: a variable with its indices, a number, a call. Not one in parentheses.
    fn primary(&mut self) -> Parse<Self::Expr>;
    /// The operator between expressions that comes next, and how tightly it binds (from 1).
    fn infix(&self) -> Option<(Self::Infix, u8)>;
    /// The operator before an expression that comes next.
    fn prefix(&self) -> Option<Self::Prefix>;

    /// `left op right`
    fn binary(
        &mut self,
        op: Self::Infix,
        left: Self::Expr,
        right: Self::Expr,
        span: Span,
    ) -> Parse<Self::Expr>;
    /// `op operand`
    fn unary(&mut self, op: Self::Prefix, operand: Self::Expr, span: Span) -> Parse<Self::Expr>;
    /// `!operand`
    fn not(&mut self, operand: Self::Expr, span: Span) -> Parse<Self::Expr>;
    /// Two truth values.
    fn connected(
        &mut self,
        connective: Connective,
        left: Self::Expr,
        right: Self::Expr,
        span: Span,
    ) -> Parse<Self::Expr>;
    /// Begins the body of a quantifier.
    fn bind(&mut self, variable: &Self::Name, kind: &Self::Name);
    /// Ends it.
    fn unbind(&mut self);
    /// The quantifier and its body.
    fn quantified(
        &mut self,
        quantifier: Quantifier,
        variable: Self::Name,
        kind: Self::Name,
        body: Self::Expr,
        span: Span,
    ) -> Parse<Self::Expr>;
    /// Where an expression stands.
    fn span_of(expr: &Self::Expr) -> Span;
    /// The same expression with parentheses around it.
    fn parenthesised(expr: Self::Expr, span: Span) -> Self::Expr;

    /// Does the language's negation come next?
    fn is_not(&self) -> bool {
        self.tokens().is(0, "!")
    }
    /// If the operator is bitwise: the connective that means the same between truth values.
    fn bitwise(_op: Self::Infix) -> Option<Connective> {
        None
    }
    /// Is the value 0 or 1 whatever the variables hold?
    fn is_truth_value(_expr: &Self::Expr) -> bool {
        true
    }
    /// Refuses what cannot be negated.
    fn may_negate(&mut self, _operand: &Self::Expr, _operator: Span) -> Parse<()> {
        Ok(())
    }
}

/// A formula of linear time that makes up the whole input.
pub fn linear<L: Expressions>(language: &mut L) -> Parse<Formula<L::Expr>> {
    whole(language, Time::Linear)
}

/// A formula of branching time that makes up the whole input.
pub fn branching<L: Expressions>(language: &mut L) -> Parse<Formula<L::Expr>> {
    whole(language, Time::Branching)
}

/// A formula without temporal operators that makes up the whole input.
pub fn invariant<L: Expressions>(language: &mut L) -> Parse<L::Expr> {
    let formula = linear_part(language)?;
    if !language.tokens().at_end() {
        return Err(language.tokens_mut().expected("an operator or the end of the expression", ""));
    }
    let span = formula.span;
    match into_expression(language, formula)? {
        Some(expr) => Ok(expr),
        None => {
            let diagnostic =
                Diagnostic::error(span, "an invariant has no temporal operators").help("use --ltl");
            Err(language.tokens_mut().report(diagnostic))
        }
    }
}

/// A formula of linear time, as part of a model.
pub fn linear_part<L: Expressions>(language: &mut L) -> Parse<Formula<L::Expr>> {
    Parser { language, time: Time::Linear, operators: 0 }.level(0)
}

fn whole<L: Expressions>(language: &mut L, time: Time) -> Parse<Formula<L::Expr>> {
    let formula = Parser { language: &mut *language, time, operators: 0 }.level(0)?;
    if !language.tokens().at_end() {
        return Err(language.tokens_mut().expected("an operator or the end of the formula", ""));
    }
    Ok(formula)
}

#[derive(Clone, Copy, PartialEq)]
enum Time {
    Linear,
    Branching,
}

/// An infix operator.
#[derive(Clone, Copy)]
enum Infix<Op> {
    Connective(Connective),
    Until,
    WeakUntil,
    Release,
    State(Op),
}

/// A prefix operator.
#[derive(Clone, Copy)]
enum Prefix<Op> {
    Always,
    Eventually,
    Next,
    All,
    Exists,
    Not,
    State(Op),
}

struct Parser<'l, L> {
    language: &'l mut L,
    time: Time,
    operators: usize,
}

impl<L: Expressions> Parser<'_, L> {
    fn level(&mut self, least: u8) -> Parse<Formula<L::Expr>> {
        self.language.tokens_mut().enter()?;
        let formula = self.infixes(least);
        self.language.tokens_mut().leave();
        formula
    }

    fn infixes(&mut self, least: u8) -> Parse<Formula<L::Expr>> {
        let mut left = self.prefixed()?;
        while let Some((op, level, length)) = self.infix().filter(|(_, level, _)| *level >= least) {
            let operator = self.language.tokens().span();
            self.count_operator(operator)?;
            self.skip(length);
            let right = self.level(level + 1)?;
            left = self.join(op, operator, left, right)?;
        }
        Ok(left)
    }

    fn skip(&mut self, tokens: usize) {
        for _ in 0..tokens {
            self.language.tokens_mut().bump();
        }
    }

    fn count_operator(&mut self, span: Span) -> Parse<()> {
        self.operators += 1;
        if self.operators <= MAX_OPERATORS {
            return Ok(());
        }
        let diagnostic =
            Diagnostic::error(span, format!("this formula has more than {MAX_OPERATORS} operators"))
                .help("name parts of it with variables of the model");
        Err(self.language.tokens_mut().report(diagnostic))
    }

    /// The infix operator here, its precedence, and the number of its tokens. Languages may have the operators of formulas as one
    /// token or as several.
    fn infix(&self) -> Option<(Infix<L::Infix>, u8, usize)> {
        use Connective::{And, Equivalent, Implies, Or};
        let l = &*self.language;
        let connective = |c, level, tokens| Some((Infix::Connective(c), level, tokens));
        match () {
            () if l.tokens().is(0, "->") => return connective(Implies, 1, 1),
            () if l.tokens().is(0, "<->") => return connective(Equivalent, 1, 1),
            () if l.tokens().is(0, "<") && l.tokens().is(1, "->") && l.tokens().touches() => {
                return connective(Equivalent, 1, 2);
            }
            () if l.tokens().is(0, "||") || l.tokens().is(0, "\\/") => return connective(Or, 2, 1),
            () if l.tokens().is(0, "\\") && l.tokens().is(1, "/") => return connective(Or, 2, 2),
            () if l.tokens().is(0, "&&") || l.tokens().is(0, "/\\") => return connective(And, 3, 1),
            () if l.tokens().is(0, "/") && l.tokens().is(1, "\\") => return connective(And, 3, 2),
            () => {}
        }
        if let Some(word) = l.tokens().word(0) {
            match word {
                "implies" => return connective(Implies, 1, 1),
                "equivalent" => return connective(Equivalent, 1, 1),
                "or" => return connective(Or, 2, 1),
                "and" => return connective(And, 3, 1),
                "U" | "until" | "stronguntil" => return Some((Infix::Until, 4, 1)),
                "W" | "weakuntil" => return Some((Infix::WeakUntil, 4, 1)),
                "V" | "release" => return Some((Infix::Release, 4, 1)),
                _ => {}
            }
        }
        l.infix().map(|(op, level)| (Infix::State(op), level + 10, 1))
    }

    fn prefix(&self) -> Option<(Prefix<L::Prefix>, usize)> {
        let l = &*self.language;
        match () {
            () if l.tokens().is(0, "[") && l.tokens().is(1, "]") => return Some((Prefix::Always, 2)),
            () if l.tokens().is(0, "<") && l.tokens().is(1, ">") => return Some((Prefix::Eventually, 2)),
            () if l.is_not() => return Some((Prefix::Not, 1)),
            () => {}
        }
        let branching = self.time == Time::Branching;
        let prefix = match l.tokens().word(0) {
            Some("A") if branching => Prefix::All,
            Some("E") if branching => Prefix::Exists,
            Some("G") if branching => Prefix::Always,
            Some("F") if branching => Prefix::Eventually,
            Some("always") => Prefix::Always,
            Some("eventually") => Prefix::Eventually,
            Some("X" | "next") => Prefix::Next,
            _ => Prefix::State(l.prefix()?),
        };
        Some((prefix, 1))
    }

    fn prefixed(&mut self) -> Parse<Formula<L::Expr>> {
        let mut prefixes = Vec::new();
        loop {
            let span = self.language.tokens().span();
            if self.language.tokens().is(0, "!!") {
                // Two negations; SPIN reads a sorted send here and stops.
                prefixes.extend([(Prefix::Not, span), (Prefix::Not, span)]);
                self.language.tokens_mut().bump();
                continue;
            }
            if let Some([path, state]) = self.path_prefix() {
                self.count_operator(span)?;
                prefixes.extend([(path, span), (state, span)]);
                self.language.tokens_mut().bump();
                continue;
            }
            let Some((prefix, length)) = self.prefix() else { break };
            self.count_operator(span)?;
            prefixes.push((prefix, span));
            self.skip(length);
        }
        let mut formula = self.primary()?;
        for (prefix, operator) in prefixes.into_iter().rev() {
            let span = operator.to(formula.span);
            let kind = match prefix {
                Prefix::Always => FormulaKind::Always(Box::new(formula)),
                Prefix::Eventually => FormulaKind::Eventually(Box::new(formula)),
                Prefix::Next => FormulaKind::Next(Box::new(formula)),
                Prefix::All => FormulaKind::All(Box::new(formula)),
                Prefix::Exists => FormulaKind::Exists(Box::new(formula)),
                Prefix::Not => {
                    if let FormulaKind::Atom(expr) = &formula.kind {
                        self.language.may_negate(expr, operator)?;
                    }
                    FormulaKind::Not(Box::new(formula))
                }
                Prefix::State(op) => {
                    let operand = self.state_expression(formula, operator)?;
                    FormulaKind::Atom(self.language.unary(op, operand, span)?)
                }
            };
            formula = Formula { kind, span };
        }
        Ok(formula)
    }

    /// `AG` and the like: a path quantifier and a temporal operator in one word.
    fn path_prefix(&self) -> Option<[Prefix<L::Prefix>; 2]> {
        let word = self.language.tokens().word(0).filter(|_| self.time == Time::Branching)?;
        let (path, state) = word.split_at_checked(1)?;
        let path = match path {
            "A" => Prefix::All,
            "E" => Prefix::Exists,
            _ => return None,
        };
        let state = match state {
            "G" => Prefix::Always,
            "F" => Prefix::Eventually,
            "X" => Prefix::Next,
            _ => return None,
        };
        Some([path, state])
    }

    /// `forall p: P . e` and the like; `None` when this is something else.
    fn quantified(&mut self) -> Parse<Option<Formula<L::Expr>>> {
        let quantifier = match self.language.tokens().word(0) {
            Some("forall") => Quantifier::ForAll,
            Some("exists") => Quantifier::Exists,
            Some("count") => Quantifier::Count,
            _ => return Ok(None),
        };
        if self.language.tokens().word(1).is_none() || !self.language.tokens().is(2, ":") {
            return Ok(None);
        }
        let start = self.language.tokens().span();
        self.count_operator(start)?;
        self.language.tokens_mut().bump();
        let variable = self.language.name("a name for the process")?;
        self.language.tokens_mut().bump();
        let kind = self.language.name("the name of a kind of process")?;
        self.expect(".", "between the kind of process and what is asked of it")?;
        self.language.bind(&variable, &kind);
        let body = self.level(0);
        self.language.unbind();
        let body = self.state_expression(body?, start)?;
        let span = start.to(self.language.tokens().previous());
        let expr = self.language.quantified(quantifier, variable, kind, body, span)?;
        Ok(Some(Formula { kind: FormulaKind::Atom(expr), span }))
    }

    fn expect(&mut self, punctuation: &str, why: &str) -> Parse<()> {
        if !self.language.tokens().is(0, punctuation) {
            return Err(self.language.tokens_mut().expected(&format!("`{punctuation}`"), why));
        }
        self.language.tokens_mut().bump();
        Ok(())
    }

    fn primary(&mut self) -> Parse<Formula<L::Expr>> {
        if let Some(formula) = self.quantified()? {
            return Ok(formula);
        }
        let open = self.language.tokens().span();
        let bracket = self.time == Time::Branching && self.language.tokens().is(0, "[");
        if bracket || self.language.tokens().is(0, "(") {
            self.language.tokens_mut().bump();
            let mut formula = self.level(0)?;
            if bracket {
                // `A[f U g]`.
                self.expect("]", "after the formula")?;
            } else {
                self.language.tokens_mut().close(open)?;
            }
            formula.span = open.to(self.language.tokens().previous());
            return Ok(formula);
        }
        if let Some(word) = self.language.tokens().word(0).filter(|w| matches!(*w, "G" | "F")) {
            let instead = if word == "G" { "[]" } else { "<>" };
            let applied = self.language.tokens().word(1).is_some_and(|w| w != "U" && w != "W" && w != "V");
            if self.language.tokens().is(1, "(") || applied {
                let diagnostic = Diagnostic::error(open, format!("`{word}` is not an operator here"))
                    .help(format!("write `{instead}`"));
                return Err(self.language.tokens_mut().report(diagnostic));
            }
        }
        let expr = self.language.primary()?;
        Ok(Formula { span: L::span_of(&expr), kind: FormulaKind::Atom(expr) })
    }

    fn join(
        &mut self,
        op: Infix<L::Infix>,
        operator: Span,
        left: Formula<L::Expr>,
        right: Formula<L::Expr>,
    ) -> Parse<Formula<L::Expr>> {
        let span = left.span.to(right.span);
        let mut op = op;
        if let Infix::State(state) = op {
            let logical = L::bitwise(state)
                .filter(|_| left.is_temporal() || right.is_temporal())
                .filter(|_| [&left, &right].into_iter().all(is_truth_value::<L>));
            let Some(logical) = logical else {
                let left = self.state_expression(left, operator)?;
                let right = self.state_expression(right, operator)?;
                let expr = self.language.binary(state, left, right, span)?;
                return Ok(Formula { kind: FormulaKind::Atom(expr), span });
            };
            op = Infix::Connective(logical);
        }
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = match op {
            Infix::Connective(Connective::Implies) => FormulaKind::Implies(left, right),
            Infix::Connective(Connective::Equivalent) => FormulaKind::Equivalent(left, right),
            Infix::Connective(Connective::Or) => FormulaKind::Or(left, right),
            Infix::Connective(Connective::And) => FormulaKind::And(left, right),
            Infix::Until => FormulaKind::Until(left, right),
            Infix::WeakUntil => FormulaKind::WeakUntil(left, right),
            Infix::Release | Infix::State(_) => FormulaKind::Release(left, right),
        };
        Ok(Formula { kind, span })
    }

    /// A formula as an operand of an operator of expressions.
    fn state_expression(&mut self, formula: Formula<L::Expr>, operator: Span) -> Parse<L::Expr> {
        let span = formula.span;
        match into_expression(self.language, formula)? {
            Some(expr) => Ok(expr),
            None => {
                let diagnostic = Diagnostic::error(span, "a temporal formula cannot be used as a number")
                    .related(operator, "used by this operator")
                    .help("put parentheses around the expression: `<> (x == 2)`, not `<> x == 2`");
                Err(self.language.tokens_mut().report(diagnostic))
            }
        }
    }
}

/// Is the value 0 or 1 whatever the variables hold, so that `&` and `|` mean what `&&` and `||` do?
fn is_truth_value<L: Expressions>(formula: &Formula<L::Expr>) -> bool {
    match &formula.kind {
        FormulaKind::Atom(expr) => L::is_truth_value(expr),
        _ => true,
    }
}

/// The formula as an expression, if it has no temporal operator.
fn into_expression<L: Expressions>(language: &mut L, formula: Formula<L::Expr>) -> Parse<Option<L::Expr>> {
    let span = formula.span;
    let (connective, left, right) = match formula.kind {
        FormulaKind::Atom(expr) => return Ok(Some(L::parenthesised(expr, span))),
        FormulaKind::Not(inner) => {
            let Some(inner) = into_expression(language, *inner)? else { return Ok(None) };
            return language.not(inner, span).map(Some);
        }
        FormulaKind::And(left, right) => (Connective::And, left, right),
        FormulaKind::Or(left, right) => (Connective::Or, left, right),
        FormulaKind::Implies(left, right) => (Connective::Implies, left, right),
        FormulaKind::Equivalent(left, right) => (Connective::Equivalent, left, right),
        _ => return Ok(None),
    };
    let (left, right) = (into_expression(language, *left)?, into_expression(language, *right)?);
    let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
    language.connected(connective, left, right, span).map(Some)
}
