//! Formulas of linear temporal logic, in `ltl` blocks and on the command line.
//!
//! As in SPIN, formulas and expressions share one precedence, from loose to tight: `->` and `<->`,
//! `||`, `&&`, the binary temporal operators, then the operators of expressions; everything
//! associates to the left. Prefix `[]`, `<>`, `X` and `!` bind tightest: `<> x == 2` reads as
//! `(<> x) == 2` and is refused. `&` and `|` with a temporal operand mean `&&` and `||` where the other operand is a truth
//! value too (`!p & X q`; SPIN takes the number of a token for the temporal operand), and are refused elsewhere.
//!
//! Beyond SPIN: `forall p: P . e`, `exists p: P . e`, `count p: P . e` over the processes of a proctype (the expression
//! reaches as far as it can); in formulas of branching time the path quantifiers `A` and `E`, `AG`, `AF`, `AX`, `EG`, `EF`,
//! `EX`, `A[f U g]`, `E[f U g]`, and `G` and `F` for `[]` and `<>`.

use quotient_source::{Diagnostic, Span};

use super::expression::infix;
use super::{Parse, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind, Formula, FormulaKind, Quantifier, UnaryOp};
use crate::token::Kind;

/// How many operators a formula may have.
const MAX_OPERATORS: usize = 1000;

/// An infix operator.
#[derive(Clone, Copy, PartialEq)]
enum Infix {
    Implies,
    Equivalent,
    Or,
    And,
    Until,
    WeakUntil,
    Release,
    State(BinaryOp),
}

/// A prefix operator.
#[derive(Clone, Copy)]
enum Prefix {
    Always,
    Eventually,
    Next,
    All,
    Exists,
    State(UnaryOp),
}

impl Parser<'_> {
    /// One formula that makes up the whole input.
    pub fn whole_formula(mut self) -> Option<Formula> {
        self.apart = true;
        let formula = self.formula().ok()?;
        if !self.at_end() {
            self.expected("an operator or the end of the formula", "");
            return None;
        }
        Some(formula)
    }

    /// One formula of branching time that makes up the whole input.
    pub fn whole_branching_formula(mut self) -> Option<Formula> {
        self.branching = true;
        self.whole_formula()
    }

    /// One formula without temporal operators that makes up the whole input.
    pub fn whole_state_formula(mut self) -> Option<Expr> {
        self.apart = true;
        let formula = self.formula().ok()?;
        if !self.at_end() {
            self.expected("an operator or the end of the expression", "");
            return None;
        }
        let span = formula.span;
        let expr = into_expression(formula);
        if expr.is_none() {
            self.report(Diagnostic::error(span, "an invariant has no temporal operators").help("use --ltl"));
        }
        expr
    }

    /// One formula.
    pub(super) fn formula(&mut self) -> Parse<Formula> {
        self.formula_operators = 0;
        self.formula_level(0)
    }

    fn formula_level(&mut self, least: u8) -> Parse<Formula> {
        self.deeper(|parser| {
            let mut left = parser.formula_prefixed()?;
            while let Some((op, level, length)) =
                parser.formula_infix().filter(|(_, level, _)| *level >= least)
            {
                let operator = parser.span();
                parser.count_operator(operator)?;
                for _ in 0..length {
                    parser.bump();
                }
                let right = parser.formula_level(level + 1)?;
                left = parser.join(op, operator, left, right)?;
            }
            Ok(left)
        })
    }

    fn count_operator(&mut self, span: Span) -> Parse<()> {
        self.formula_operators += 1;
        if self.formula_operators <= MAX_OPERATORS {
            return Ok(());
        }
        let diagnostic =
            Diagnostic::error(span, format!("this formula has more than {MAX_OPERATORS} operators"))
                .help("name parts of it with variables of the model");
        Err(self.report(diagnostic))
    }

    /// The infix operator here, its precedence, and the number of its tokens.
    fn formula_infix(&self) -> Option<(Infix, u8, usize)> {
        let next = self.ahead(1);
        let adjacent = next.span.start == self.span().end || next.origin.is_some();
        Some(match self.kind() {
            Kind::Punct("->") => (Infix::Implies, 1, 1),
            Kind::Punct("<") if next.is("->") && adjacent => (Infix::Equivalent, 1, 2),
            Kind::Punct("\\") if next.is("/") => (Infix::Or, 2, 2),
            Kind::Punct("/") if next.is("\\") => (Infix::And, 3, 2),
            Kind::Word(word) => match &**word {
                "implies" => (Infix::Implies, 1, 1),
                "equivalent" => (Infix::Equivalent, 1, 1),
                "or" => (Infix::Or, 2, 1),
                "and" => (Infix::And, 3, 1),
                "U" | "until" | "stronguntil" => (Infix::Until, 4, 1),
                "W" | "weakuntil" => (Infix::WeakUntil, 4, 1),
                "V" | "release" => (Infix::Release, 4, 1),
                _ => return None,
            },
            kind => match infix(kind)? {
                (BinaryOp::Or, _) => (Infix::Or, 2, 1),
                (BinaryOp::And, _) => (Infix::And, 3, 1),
                (op, level) => (Infix::State(op), level + 10, 1),
            },
        })
    }

    fn formula_prefix(&self) -> Option<(Prefix, usize)> {
        let next = self.ahead(1);
        Some(match self.kind() {
            Kind::Punct("[") if next.is("]") => (Prefix::Always, 2),
            Kind::Punct("<") if next.is(">") => (Prefix::Eventually, 2),
            Kind::Punct("!") => (Prefix::State(UnaryOp::Not), 1),
            Kind::Punct("~") => (Prefix::State(UnaryOp::Complement), 1),
            Kind::Punct("-") => (Prefix::State(UnaryOp::Negate), 1),
            Kind::Word(word) if self.branching && matches!(&**word, "A" | "E" | "G" | "F") => {
                let prefix = match &**word {
                    "A" => Prefix::All,
                    "E" => Prefix::Exists,
                    "G" => Prefix::Always,
                    _ => Prefix::Eventually,
                };
                (prefix, 1)
            }
            Kind::Word(word) => match &**word {
                "always" => (Prefix::Always, 1),
                "eventually" => (Prefix::Eventually, 1),
                "X" | "next" => (Prefix::Next, 1),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn formula_prefixed(&mut self) -> Parse<Formula> {
        let mut prefixes = Vec::new();
        loop {
            if self.is("!!") {
                // Two negations; SPIN reads a sorted send here and stops.
                let span = self.span();
                prefixes.push((Prefix::State(UnaryOp::Not), span));
                prefixes.push((Prefix::State(UnaryOp::Not), span));
                self.bump();
                continue;
            }
            let span = self.span();
            if let Some((path, state)) = self.path_prefix() {
                self.count_operator(span)?;
                prefixes.push((path, span));
                prefixes.push((state, span));
                self.bump();
                continue;
            }
            let Some((prefix, length)) = self.formula_prefix() else { break };
            self.count_operator(span)?;
            prefixes.push((prefix, span));
            for _ in 0..length {
                self.bump();
            }
        }
        let mut formula = self.formula_primary()?;
        for (prefix, operator) in prefixes.into_iter().rev() {
            let span = operator.to(formula.span);
            let kind = match prefix {
                Prefix::Always => FormulaKind::Always(Box::new(formula)),
                Prefix::Eventually => FormulaKind::Eventually(Box::new(formula)),
                Prefix::Next => FormulaKind::Next(Box::new(formula)),
                Prefix::All => FormulaKind::All(Box::new(formula)),
                Prefix::Exists => FormulaKind::Exists(Box::new(formula)),
                Prefix::State(UnaryOp::Not) => {
                    if let FormulaKind::Atom(expr) = &formula.kind {
                        self.refuse_negated_probe(UnaryOp::Not, operator, expr)?;
                    }
                    FormulaKind::Not(Box::new(formula))
                }
                Prefix::State(op) => {
                    let operand = self.state_expression(formula, operator)?;
                    FormulaKind::Atom(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span })
                }
            };
            formula = Formula { kind, span };
        }
        Ok(formula)
    }

    /// `AG` and the like: a path quantifier and a temporal operator in one word.
    fn path_prefix(&self) -> Option<(Prefix, Prefix)> {
        let word = self.word().filter(|_| self.branching)?;
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
        Some((path, state))
    }

    /// `forall p: P . e` and the like; `None` when this is something else.
    fn quantified(&mut self) -> Parse<Option<Formula>> {
        let quantifier = match self.word() {
            Some("forall") => Quantifier::ForAll,
            Some("exists") => Quantifier::Exists,
            Some("count") => Quantifier::Count,
            _ => return Ok(None),
        };
        if self.ahead(1).word().is_none() || !self.ahead(2).is(":") {
            return Ok(None);
        }
        let start = self.span();
        self.count_operator(start)?;
        self.bump();
        let variable = self.name("a name for the process")?;
        self.bump();
        let proctype = self.name("the name of a proctype")?;
        self.expect(".", "between the proctype and what is asked of its processes")?;
        self.bound.push((variable.name.clone(), proctype.clone()));
        let body = self.formula_level(0);
        self.bound.pop();
        let body = Box::new(self.state_expression(body?, start)?);
        let span = start.to(self.previous);
        let kind = ExprKind::Quantified { quantifier, variable, proctype, body };
        Ok(Some(Formula { kind: FormulaKind::Atom(Expr { kind, span }), span }))
    }

    fn formula_primary(&mut self) -> Parse<Formula> {
        if let Some(formula) = self.quantified()? {
            return Ok(formula);
        }
        if self.branching && self.is("[") {
            // `A[f U g]`.
            let open = self.span();
            self.bump();
            let mut formula = self.formula_level(0)?;
            self.expect("]", "after the formula")?;
            formula.span = open.to(self.previous);
            return Ok(formula);
        }
        if self.is("(") {
            let open = self.span();
            self.bump();
            let mut formula = self.formula_level(0)?;
            self.close_parenthesis(open)?;
            formula.span = open.to(self.previous);
            return Ok(formula);
        }
        if let Some(word) = self.word().filter(|w| matches!(*w, "G" | "F")) {
            let next = self.ahead(1);
            if next.is("(") || next.word().is_some_and(|w| w != "U" && w != "W" && w != "V") {
                let instead = if word == "G" { "[]" } else { "<>" };
                let diagnostic = self
                    .error_here(format!("`{word}` is not an operator here"))
                    .help(format!("write `{instead}`"));
                return Err(self.report(diagnostic));
            }
        }
        let tall = self.primary()?;
        Ok(Formula { span: tall.expr.span, kind: FormulaKind::Atom(tall.expr) })
    }

    fn join(&mut self, op: Infix, operator: Span, left: Formula, right: Formula) -> Parse<Formula> {
        let span = left.span.to(right.span);
        if let Infix::State(op) = op {
            let logical = match op {
                BinaryOp::BitAnd => Some(FormulaKind::And as fn(_, _) -> _),
                BinaryOp::BitOr => Some(FormulaKind::Or as fn(_, _) -> _),
                _ => None,
            };
            if let Some(logical) = logical
                && (is_temporal(&left) || is_temporal(&right))
                && [&left, &right].into_iter().all(is_truth_value)
            {
                return Ok(Formula { kind: logical(Box::new(left), Box::new(right)), span });
            }
            let left = Box::new(self.state_expression(left, operator)?);
            let right = Box::new(self.state_expression(right, operator)?);
            let expr = Expr { kind: ExprKind::Binary(op, left, right), span };
            return Ok(Formula { kind: FormulaKind::Atom(expr), span });
        }
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = match op {
            Infix::Implies => FormulaKind::Implies(left, right),
            Infix::Equivalent => FormulaKind::Equivalent(left, right),
            Infix::Or => FormulaKind::Or(left, right),
            Infix::And => FormulaKind::And(left, right),
            Infix::Until => FormulaKind::Until(left, right),
            Infix::WeakUntil => FormulaKind::WeakUntil(left, right),
            Infix::Release | Infix::State(_) => FormulaKind::Release(left, right),
        };
        Ok(Formula { kind, span })
    }

    /// A formula as an operand of an operator of expressions.
    fn state_expression(&mut self, formula: Formula, operator: Span) -> Parse<Expr> {
        let span = formula.span;
        match into_expression(formula) {
            Some(expr) => Ok(expr),
            None => {
                let diagnostic = Diagnostic::error(span, "a temporal formula cannot be used as a number")
                    .related(operator, "used by this operator")
                    .help("put parentheses around the expression: `<> (x == 2)`, not `<> x == 2`");
                Err(self.report(diagnostic))
            }
        }
    }
}

/// Does the formula have a temporal operator?
fn is_temporal(formula: &Formula) -> bool {
    use FormulaKind as F;
    match &formula.kind {
        F::Atom(_) => false,
        F::Not(a) => is_temporal(a),
        F::And(a, b) | F::Or(a, b) | F::Implies(a, b) | F::Equivalent(a, b) => {
            is_temporal(a) || is_temporal(b)
        }
        _ => true,
    }
}

/// Is the value 0 or 1 whatever the variables hold, so that `&` and `|` mean what `&&` and `||` do?
fn is_truth_value(formula: &Formula) -> bool {
    let FormulaKind::Atom(expr) = &formula.kind else { return true };
    match &expr.kind {
        ExprKind::Unary(op, _) => *op == UnaryOp::Not,
        ExprKind::Binary(op, ..) => {
            use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
            matches!(op, Lt | Le | Gt | Ge | Eq | Ne | And | Or)
        }
        _ => false,
    }
}

/// The formula as an expression, if it has no temporal operator.
fn into_expression(formula: Formula) -> Option<Expr> {
    let span = formula.span;
    let kind = match formula.kind {
        FormulaKind::Atom(expr) => return Some(Expr { span, ..expr }),
        FormulaKind::Not(inner) => ExprKind::Unary(UnaryOp::Not, Box::new(into_expression(*inner)?)),
        FormulaKind::And(left, right) => binary(BinaryOp::And, *left, *right)?,
        FormulaKind::Or(left, right) => binary(BinaryOp::Or, *left, *right)?,
        FormulaKind::Implies(left, right) => {
            let negated = Expr {
                span: left.span,
                kind: ExprKind::Unary(UnaryOp::Not, Box::new(into_expression(*left)?)),
            };
            ExprKind::Binary(BinaryOp::Or, Box::new(negated), Box::new(into_expression(*right)?))
        }
        FormulaKind::Equivalent(left, right) => {
            // Any number but zero is true.
            let truth = |formula: Formula| {
                let span = formula.span;
                let kind = ExprKind::Unary(UnaryOp::Not, Box::new(into_expression(formula)?));
                Some(Box::new(Expr { kind, span }))
            };
            ExprKind::Binary(BinaryOp::Eq, truth(*left)?, truth(*right)?)
        }
        _ => return None,
    };
    Some(Expr { kind, span })
}

fn binary(op: BinaryOp, left: Formula, right: Formula) -> Option<ExprKind> {
    Some(ExprKind::Binary(op, Box::new(into_expression(left)?), Box::new(into_expression(right)?)))
}
