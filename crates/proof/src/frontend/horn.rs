//! Constrained Horn clauses (`HORN` logic of SMT-LIB, as in CHC-COMP) over integers and booleans.
//!
//! Clauses with at most one predicate in the body are rules; clauses with head `false` are queries
//! and become safety claims, each of which may use those before it. A condition as a head is a query for its opposite. Several predicates become one
//! with a first column that says which. Booleans are 0 and 1. The clauses are satisfiable exactly
//! when every query holds. `div` and `mod` by a constant are SMT-LIB's: the rest is never negative. A query without a predicate
//! is the fact of a predicate of its own, which must not hold. Z3's `declare-rel`, `declare-var`, `rule` and `query` are read,
//! too. What is refused by name: several predicates in one body, predicates below
//! a disjunction, sorts other than `Int` and `Bool`, non-linear terms, division by anything but a number.
//!
//! The writer is [`horn`](mod@crate::horn).

mod division;

use quotient_source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};

use super::sexpr::{self, Sexpr};
use super::transitions::{PREDICATE, integer, variable};
use crate::language::ast::{Assertion, Atom, Claim, Formula, Item, Relation, Term, TermKind};

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

fn refuse<T>(span: Span, what: impl Into<String>) -> Result<T> {
    Err(Box::new(Diagnostic::error(span, what).help("`prove` reads linear Horn clauses over Int and Bool")))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Int,
    Bool,
}

struct Predicate {
    name: String,
    sorts: Vec<Sort>,
}

/// The predicate of queries that have none, which cannot be written.
const NO_PREDICATE: &str = "";

/// What a name means.
#[derive(Clone)]
enum Binding {
    /// A quantified variable, with its name in `.clp`.
    Variable(String, Sort),
    /// A `let`, evaluated where only the bindings before this position are visible.
    Let(Sexpr, usize),
}

/// A predicate applied to arguments, with what names in them mean.
type Applied = (usize, Vec<Sexpr>, Vec<(String, Binding)>, Span);

/// The parts of a body, each with the number of bindings visible in it, and the head (none for `false`).
type Parts = (Vec<(Sexpr, usize)>, Option<Sexpr>);

/// One clause being read.
struct Clause<'p> {
    predicates: &'p [Predicate],
    bindings: Vec<(String, Binding)>,
    /// Number of variables named so far.
    named: usize,
    /// What the variables themselves imply: booleans are 0 or 1.
    ranges: Vec<Formula>,
    atoms: Vec<Applied>,
    /// Quotients named so far, by what is divided and the divisor.
    quotients: Vec<(String, i64, Term)>,
}

/// Reads clauses as statements of the `.clp` language.
pub fn read(map: &SourceMap, file: FileId, diagnostics: &mut Diagnostics) -> Vec<Item> {
    let commands = sexpr::read(file, map.text(file), diagnostics);
    let (mut predicates, mut clauses): (Vec<Predicate>, Vec<Statement>) = (Vec::new(), Vec::new());
    // Variables that Z3's rules use without a quantifier.
    let mut free: Vec<Sexpr> = Vec::new();
    for command in &commands {
        let parts = command.list().unwrap_or_default();
        let outcome = match (parts.first().and_then(Sexpr::atom), parts) {
            (Some("declare-fun"), [_, name, sorts, result]) if result.atom() == Some("Bool") => {
                predicate(name, sorts).map(|p| predicates.push(p))
            }
            (Some("declare-rel"), [_, name, sorts]) => predicate(name, sorts).map(|p| predicates.push(p)),
            (Some("declare-var"), [_, name, of]) => {
                free.push(Sexpr::List(vec![name.clone(), of.clone()], command.span()));
                Ok(())
            }
            (Some("assert"), [_, formula]) | (Some("rule"), [_, formula, ..]) => {
                clauses.push(Statement::Clause(formula));
                Ok(())
            }
            (Some("query"), [_, formula, ..]) => {
                clauses.push(Statement::Query(formula));
                Ok(())
            }
            (Some("set-logic"), [_, logic]) if logic.atom() != Some("HORN") => {
                refuse(logic.span(), "the logic is not HORN")
            }
            (Some("set-logic" | "set-info" | "set-option" | "check-sat" | "get-model" | "exit"), _) => Ok(()),
            _ => refuse(command.span(), "this command is not supported"),
        };
        if let Err(diagnostic) = outcome {
            diagnostics.push(*diagnostic);
        }
    }
    if clauses.iter().any(|c| lacks_predicate(c, &predicates)) {
        predicates.push(Predicate { name: NO_PREDICATE.into(), sorts: Vec::new() });
    }
    let width = predicates.iter().map(|p: &Predicate| p.sorts.len()).max().unwrap_or(0);
    let (mut rules, mut queries): (Vec<Item>, Vec<Assertion>) = (Vec::new(), Vec::new());
    for statement in clauses {
        let mut clause = Clause {
            predicates: &predicates,
            bindings: Vec::new(),
            named: 0,
            ranges: Vec::new(),
            atoms: Vec::new(),
            quotients: Vec::new(),
        };
        let quantified = clause.quantify_all(&free);
        match quantified.and_then(|()| clause.read(statement, width, queries.len())) {
            Ok(items) => {
                for item in items {
                    match item {
                        Item::Assertion(mut query) => {
                            query.using = queries.iter().filter_map(|q| q.name.clone()).collect();
                            queries.push(query);
                        }
                        rule => rules.push(rule),
                    }
                }
            }
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
    }
    if rules.is_empty() && !diagnostics.has_errors() {
        diagnostics.push(Diagnostic::error(map.end(file), "there is no clause that defines a predicate"));
    }
    rules.extend(queries.into_iter().map(Item::Assertion));
    rules
}

/// Names and numbers of arguments of the predicates, in the order in which the first column numbers them; none if there is only one.
pub fn predicates(map: &SourceMap, file: FileId) -> Vec<(String, usize)> {
    let mut list = Vec::new();
    for command in &sexpr::read(file, map.text(file), &mut Diagnostics::new()) {
        if let Some([what, name, sorts, ..]) = command.list()
            && matches!(what.atom(), Some("declare-fun" | "declare-rel"))
        {
            list.push((name.atom().unwrap_or_default().to_owned(), sorts.list().map_or(0, <[_]>::len)));
        }
    }
    if list.len() > 1 { list } else { Vec::new() }
}

/// A clause to be true, or a formula that must not be derivable.
#[derive(Clone, Copy)]
enum Statement<'s> {
    Clause(&'s Sexpr),
    Query(&'s Sexpr),
}

/// Whether it may be a query that mentions no predicate.
fn lacks_predicate(statement: &Statement, predicates: &[Predicate]) -> bool {
    fn mentions(s: &Sexpr, predicates: &[Predicate]) -> bool {
        match s {
            Sexpr::Atom(name, _) => predicates.iter().any(|p| p.name == *name),
            Sexpr::List(parts, _) => parts.iter().any(|p| mentions(p, predicates)),
        }
    }
    let (Statement::Clause(formula) | Statement::Query(formula)) = statement;
    !mentions(formula, predicates)
}

fn sort(s: &Sexpr) -> Result<Sort> {
    match s.atom() {
        Some("Int") => Ok(Sort::Int),
        Some("Bool") => Ok(Sort::Bool),
        _ => refuse(s.span(), "a sort other than Int and Bool"),
    }
}

fn predicate(name: &Sexpr, sorts: &Sexpr) -> Result<Predicate> {
    let sorts = sorts.list().unwrap_or_default().iter().map(sort).collect::<Result<Vec<_>>>()?;
    Ok(Predicate { name: name.atom().unwrap_or_default().into(), sorts })
}

/// A value with the condition under which it is this.
type Cases = Vec<(Formula, Term)>;

fn truth() -> Formula {
    Formula::And(Vec::new())
}

fn not(f: Formula) -> Formula {
    Formula::Not(Box::new(f))
}

impl Clause<'_> {
    fn quantify_all(&mut self, variables: &[Sexpr]) -> Result<()> {
        variables.iter().try_for_each(|v| self.quantify_one(v))
    }

    fn read(mut self, statement: Statement, width: usize, number: usize) -> Result<Vec<Item>> {
        let (Statement::Clause(formula) | Statement::Query(formula)) = statement;
        let span = formula.span();
        let (body, head) = match statement {
            Statement::Clause(formula) => self.split(formula)?,
            Statement::Query(formula) => (vec![(formula.clone(), self.bindings.len())], None),
        };
        let mut parts = Vec::new();
        for (part, depth) in &body {
            // A body is read where its own bindings are visible.
            let hidden = self.bindings.split_off(*depth);
            self.conjunct(part, &mut parts)?;
            self.bindings.truncate(*depth);
            self.bindings.extend(hidden);
        }
        if let [_, (_, _, _, second), ..] = &self.atoms[..] {
            return refuse(*second, "a second predicate in the body of a clause");
        }
        let before = match self.atoms.pop() {
            None => None,
            Some((index, arguments, bindings, span)) => {
                let outer = std::mem::replace(&mut self.bindings, bindings);
                let atom = self.atom(index, &arguments, width, span, &mut parts)?;
                self.bindings = outer;
                Some(atom)
            }
        };
        let head = match head {
            None => None,
            Some(head) => {
                let mut found = Vec::new();
                self.conjunct(&head, &mut found)?;
                match self.atoms.pop() {
                    Some((index, arguments, bindings, at)) if found.is_empty() => {
                        self.bindings = bindings;
                        Some(self.atom(index, &arguments, width, at, &mut parts)?)
                    }
                    // A condition follows from the body: the body and its opposite have no solution.
                    None => {
                        let condition = self.formula(&head)?;
                        parts.push(not(condition));
                        None
                    }
                    Some(_) => {
                        return refuse(
                            head.span(),
                            "the head of a clause is neither a predicate nor a condition",
                        );
                    }
                }
            }
        };
        let query = |left: Atom, constraint: Formula| {
            Item::Assertion(Assertion {
                assumed: false,
                nonincreasing: false,
                name: Some((format!("query_{}", number + 1), span)),
                left,
                constraint,
                claim: Claim::Constraint(Formula::Truth(false)),
                using: Vec::new(),
                span,
            })
        };
        // A query without a predicate: a predicate of its own holds if the constraint can be met, and must not.
        let alone = self.predicates.iter().position(|p| p.name == NO_PREDICATE);
        let alone = match alone.filter(|_| head.is_none() && before.is_none()) {
            Some(index) => Some(self.atom(index, &[], width, span, &mut parts)?),
            None => None,
        };
        parts.splice(0..0, std::mem::take(&mut self.ranges));
        let constraint = Formula::And(parts);
        match (head, before, alone) {
            (Some(head), body, _) => Ok(vec![Item::Rule { head, body, constraint, span }]),
            (None, Some(left), _) => Ok(vec![query(left, constraint)]),
            (None, None, Some(own)) => {
                let fact = Item::Rule { head: own.clone(), body: None, constraint, span };
                Ok(vec![fact, query(own, truth())])
            }
            (None, None, None) => refuse(span, "a query without a predicate"),
        }
    }

    /// Body and head of a clause.
    fn split(&mut self, formula: &Sexpr) -> Result<Parts> {
        let parts = formula.list().unwrap_or_default();
        Ok(match (parts.first().and_then(Sexpr::atom), parts) {
            (Some("forall"), [_, variables, inner]) => {
                self.quantify(variables)?;
                self.split(inner)?
            }
            (Some("let"), [_, list, inner]) => {
                self.bind(list)?;
                self.split(inner)?
            }
            (Some("=>"), [_, body @ .., head]) => {
                let visible = self.bindings.len();
                let mut all: Vec<(Sexpr, usize)> = body.iter().map(|b| (b.clone(), visible)).collect();
                let (more, head) = self.split(head)?;
                all.extend(more);
                (all, head)
            }
            (Some("not"), [_, body]) => (vec![(body.clone(), self.bindings.len())], None),
            (Some("or"), [_, literals @ ..]) => {
                let (mut body, mut head) = (Vec::new(), None);
                for literal in literals {
                    let inner = literal.list().unwrap_or_default();
                    match (inner.first().and_then(Sexpr::atom), inner) {
                        (Some("not"), [_, negated]) => body.push((negated.clone(), self.bindings.len())),
                        (Some(name), _)
                            if self.predicates.iter().any(|p| p.name == name) && head.is_none() =>
                        {
                            head = Some(literal.clone());
                        }
                        _ => {
                            let span = literal.span();
                            let negated = vec![Sexpr::Atom("not".into(), span), literal.clone()];
                            body.push((Sexpr::List(negated, span), self.bindings.len()));
                        }
                    }
                }
                (body, head)
            }
            _ if formula.atom() == Some("false") => (Vec::new(), None),
            _ => (Vec::new(), Some(formula.clone())),
        })
    }

    fn quantify(&mut self, variables: &Sexpr) -> Result<()> {
        variables.list().unwrap_or_default().iter().try_for_each(|v| self.quantify_one(v))
    }

    fn quantify_one(&mut self, v: &Sexpr) -> Result<()> {
        {
            let [name, of] = v.list().unwrap_or_default() else {
                return refuse(v.span(), "expected a variable and its sort");
            };
            let sort = sort(of)?;
            let own = self.fresh(name.atom().unwrap_or_default());
            if sort == Sort::Bool {
                self.ranges.push(Formula::Range(variable(&own, v.span()), 0, 1));
            }
            self.bindings.push((name.atom().unwrap_or_default().into(), Binding::Variable(own, sort)));
        }
        Ok(())
    }

    fn bind(&mut self, list: &Sexpr) -> Result<()> {
        let visible = self.bindings.len();
        for b in list.list().unwrap_or_default() {
            let [name, value] = b.list().unwrap_or_default() else {
                return refuse(b.span(), "expected a name and its value");
            };
            let binding = Binding::Let(value.clone(), visible);
            self.bindings.push((name.atom().unwrap_or_default().into(), binding));
        }
        Ok(())
    }

    /// A variable of the `.clp` language.
    fn fresh(&mut self, name: &str) -> String {
        self.named += 1;
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let first = plain.chars().next().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_uppercase());
        match first {
            Some(first) => format!("{first}{}_{}", &plain[1..], self.named),
            None => format!("V{plain}_{}", self.named),
        }
    }

    fn lookup(&self, name: &str) -> Option<&Binding> {
        self.bindings.iter().rev().find(|b| b.0 == name).map(|b| &b.1)
    }

    /// Reads within the bindings that a `let` sees.
    fn within<T>(&mut self, visible: usize, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let hidden = self.bindings.split_off(visible);
        let result = run(self);
        self.bindings.truncate(visible);
        self.bindings.extend(hidden);
        result
    }

    /// One part of a body: predicates apart, the rest as formulas.
    fn conjunct(&mut self, s: &Sexpr, out: &mut Vec<Formula>) -> Result<()> {
        let parts = s.list().unwrap_or(std::slice::from_ref(s));
        let name = parts.first().and_then(Sexpr::atom);
        match (name, parts) {
            (Some("and"), [_, rest @ ..]) if s.list().is_some() => {
                rest.iter().try_for_each(|part| self.conjunct(part, out))
            }
            (Some("exists"), [_, variables, inner]) => {
                self.quantify(variables)?;
                self.conjunct(inner, out)
            }
            (Some("let"), [_, list, inner]) => {
                self.bind(list)?;
                self.conjunct(inner, out)
            }
            (Some(name), [_, arguments @ ..]) => {
                if let Some(Binding::Let(value, visible)) =
                    self.lookup(name).cloned().filter(|_| s.atom().is_some())
                {
                    return self.within(visible, |me| me.conjunct(&value, out));
                }
                match self.predicates.iter().position(|p| p.name == name) {
                    Some(index) if self.lookup(name).is_none() => {
                        self.atoms.push((index, arguments.to_vec(), self.bindings.clone(), s.span()));
                        Ok(())
                    }
                    _ => {
                        out.push(self.formula(s)?);
                        Ok(())
                    }
                }
            }
            _ => {
                out.push(self.formula(s)?);
                Ok(())
            }
        }
    }

    /// A predicate applied to arguments; conditions of its arguments go to `parts`.
    fn atom(
        &mut self,
        index: usize,
        arguments: &[Sexpr],
        width: usize,
        span: Span,
        parts: &mut Vec<Formula>,
    ) -> Result<Atom> {
        let sorts = self.predicates[index].sorts.clone();
        if sorts.len() != arguments.len() {
            return refuse(
                span,
                format!("the predicate has {} arguments, not {}", sorts.len(), arguments.len()),
            );
        }
        let mut terms = Vec::new();
        if self.predicates.len() > 1 {
            let which = integer(i64::try_from(index).unwrap_or(0), span);
            terms.push(Term { kind: TermKind::List(vec![which]), span });
        }
        for (sort, argument) in sorts.iter().zip(arguments) {
            let mut cases = match sort {
                Sort::Int => self.term(argument)?,
                Sort::Bool => {
                    let f = self.formula(argument)?;
                    match f {
                        Formula::Truth(value) => vec![(truth(), integer(value.into(), span))],
                        // A boolean variable stands for itself.
                        Formula::Compare(Relation::Equal, t, _) if argument.atom().is_some() => {
                            vec![(truth(), t)]
                        }
                        f => vec![(f.clone(), integer(1, span)), (not(f), integer(0, span))],
                    }
                }
            };
            if cases.len() == 1 {
                terms.push(cases.remove(0).1);
                continue;
            }
            let name = self.fresh("arg");
            let equal = |(c, t): (Formula, Term)| {
                Formula::And(vec![c, Formula::Compare(Relation::Equal, variable(&name, span), t)])
            };
            parts.push(Formula::Or(cases.into_iter().map(equal).collect()));
            terms.push(variable(&name, span));
        }
        terms.extend((sorts.len()..width.max(1)).map(|_| integer(0, span)));
        Ok(Atom { name: PREDICATE.into(), name_span: span, arguments: terms, span })
    }

    fn formula(&mut self, s: &Sexpr) -> Result<Formula> {
        let span = s.span();
        if let Some(name) = s.atom() {
            return match (name, self.lookup(name).cloned()) {
                (_, Some(Binding::Let(value, visible))) => self.within(visible, |me| me.formula(&value)),
                (_, Some(Binding::Variable(own, Sort::Bool))) => {
                    Ok(Formula::Compare(Relation::Equal, variable(&own, span), integer(1, span)))
                }
                ("true", _) => Ok(Formula::Truth(true)),
                ("false", _) => Ok(Formula::Truth(false)),
                _ => refuse(span, format!("`{name}` is not a formula")),
            };
        }
        let parts = s.list().unwrap_or_default();
        let Some((operator, rest)) = parts.split_first().and_then(|(o, r)| Some((o.atom()?, r))) else {
            return refuse(span, "expected a formula");
        };
        match (operator, rest) {
            ("and", _) => Ok(Formula::And(rest.iter().map(|f| self.formula(f)).collect::<Result<_>>()?)),
            ("or", _) => Ok(Formula::Or(rest.iter().map(|f| self.formula(f)).collect::<Result<_>>()?)),
            ("not", [inner]) => Ok(not(self.formula(inner)?)),
            ("=>", [a, b]) => Ok(Formula::Or(vec![not(self.formula(a)?), self.formula(b)?])),
            ("xor", [a, b]) => {
                let (a, b) = (self.formula(a)?, self.formula(b)?);
                Ok(Formula::Or(vec![
                    Formula::And(vec![a.clone(), not(b.clone())]),
                    Formula::And(vec![not(a), b]),
                ]))
            }
            ("ite", [c, a, b]) => {
                let (c, a, b) = (self.formula(c)?, self.formula(a)?, self.formula(b)?);
                Ok(Formula::Or(vec![Formula::And(vec![c.clone(), a]), Formula::And(vec![not(c), b])]))
            }
            ("let", [list, inner]) => {
                let visible = self.bindings.len();
                self.bind(list)?;
                let result = self.formula(inner);
                self.bindings.truncate(visible);
                result
            }
            ("=" | "distinct", [a, b]) if self.is_boolean(a) || self.is_boolean(b) => {
                let (a, b) = (self.formula(a)?, self.formula(b)?);
                let same = Formula::Or(vec![
                    Formula::And(vec![a.clone(), b.clone()]),
                    Formula::And(vec![not(a), not(b)]),
                ]);
                Ok(if operator == "=" { same } else { not(same) })
            }
            ("=" | "distinct" | "<" | "<=" | ">" | ">=", [_, _, ..]) => {
                let relation = match operator {
                    "=" => Relation::Equal,
                    "distinct" => Relation::Different,
                    "<" => Relation::Less,
                    "<=" => Relation::AtMost,
                    ">" => Relation::Greater,
                    _ => Relation::AtLeast,
                };
                let values = rest.iter().map(|t| self.term(t)).collect::<Result<Vec<_>>>()?;
                let mut all = Vec::new();
                for (at, pair) in values.windows(2).enumerate() {
                    if operator == "distinct" && values.len() > 2 {
                        return refuse(rest[at].span(), "`distinct` of more than two terms");
                    }
                    let mut cases = Vec::new();
                    for (c, x) in &pair[0] {
                        for (d, y) in &pair[1] {
                            let here = Formula::Compare(relation, x.clone(), y.clone());
                            cases.push(Formula::And(vec![c.clone(), d.clone(), here]));
                        }
                    }
                    all.push(if cases.len() == 1 { cases.remove(0) } else { Formula::Or(cases) });
                }
                Ok(Formula::And(all))
            }
            _ if self.predicates.iter().any(|p| p.name == operator) => {
                refuse(span, "a predicate below a disjunction or negation")
            }
            _ => refuse(span, format!("`{operator}` is not supported")),
        }
    }

    fn is_boolean(&self, s: &Sexpr) -> bool {
        match s {
            Sexpr::Atom(name, _) => match self.lookup(name) {
                Some(Binding::Variable(_, sort)) => *sort == Sort::Bool,
                Some(Binding::Let(value, _)) => self.is_boolean(value),
                None => name == "true" || name == "false",
            },
            Sexpr::List(parts, _) => match parts.first().and_then(Sexpr::atom) {
                Some("ite") => parts.get(2).is_some_and(|p| self.is_boolean(p)),
                Some("let") => parts.get(2).is_some_and(|p| self.is_boolean(p)),
                Some(o) => {
                    ["and", "or", "not", "=>", "xor", "=", "distinct", "<", "<=", ">", ">="].contains(&o)
                }
                None => false,
            },
        }
    }

    fn term(&mut self, s: &Sexpr) -> Result<Cases> {
        let span = s.span();
        if let Some(name) = s.atom() {
            if let Ok(value) = name.parse::<i64>() {
                return if value <= 1 << 40 {
                    Ok(vec![(truth(), integer(value, span))])
                } else {
                    refuse(span, "the number is too large")
                };
            }
            return match self.lookup(name).cloned() {
                Some(Binding::Let(value, visible)) => self.within(visible, |me| me.term(&value)),
                Some(Binding::Variable(own, Sort::Int)) => Ok(vec![(truth(), variable(&own, span))]),
                _ => refuse(span, format!("`{name}` is not an integer term")),
            };
        }
        let parts = s.list().unwrap_or_default();
        let Some((operator, rest)) = parts.split_first().and_then(|(o, r)| Some((o.atom()?, r))) else {
            return refuse(span, "expected a term");
        };
        let make = |kind| Term { kind, span };
        match (operator, rest) {
            ("ite", [c, a, b]) => {
                let c = self.formula(c)?;
                let mut out = Vec::new();
                for (condition, value) in [(c.clone(), a), (not(c), b)] {
                    let cases = self.term(value)?;
                    out.extend(
                        cases.into_iter().map(|(own, t)| (Formula::And(vec![condition.clone(), own]), t)),
                    );
                }
                Ok(out)
            }
            ("let", [list, inner]) => {
                let visible = self.bindings.len();
                self.bind(list)?;
                let result = self.term(inner);
                self.bindings.truncate(visible);
                result
            }
            ("-", [one]) => {
                let cases = self.term(one)?;
                Ok(cases.into_iter().map(|(c, t)| (c, make(TermKind::Negative(Box::new(t))))).collect())
            }
            ("+" | "-" | "*", [first, more @ ..]) => {
                let mut out = self.term(first)?;
                for next in more {
                    let right = self.term(next)?;
                    let mut joined = Vec::new();
                    for (c, x) in &out {
                        for (d, y) in &right {
                            let (x, y) = (Box::new(x.clone()), Box::new(y.clone()));
                            let kind = match operator {
                                "+" => TermKind::Sum(x, y),
                                "-" => TermKind::Difference(x, y),
                                _ => TermKind::Product(x, y),
                            };
                            joined.push((Formula::And(vec![c.clone(), d.clone()]), make(kind)));
                        }
                    }
                    out = joined;
                }
                Ok(out)
            }
            ("div" | "mod", [dividend, divisor]) => {
                let divisor_span = divisor.span();
                let Some(by) = self.number(divisor)?.filter(|d| *d != 0) else {
                    return refuse(
                        divisor_span,
                        format!("`{operator}` by anything but a number other than 0"),
                    );
                };
                let mut out = Vec::new();
                for (condition, term) in self.term(dividend)? {
                    let quotient = self.quotient(&term, by, span);
                    let value = if operator == "div" {
                        quotient
                    } else {
                        let back = make(TermKind::Product(Box::new(integer(by, span)), Box::new(quotient)));
                        make(TermKind::Difference(Box::new(term), Box::new(back)))
                    };
                    out.push((condition, value));
                }
                Ok(out)
            }
            ("abs", [one]) => {
                let mut out = Vec::new();
                for (condition, term) in self.term(one)? {
                    let negative = Formula::Compare(Relation::Less, term.clone(), integer(0, span));
                    let minus = make(TermKind::Negative(Box::new(term.clone())));
                    out.push((Formula::And(vec![condition.clone(), not(negative.clone())]), term));
                    out.push((Formula::And(vec![condition, negative]), minus));
                }
                Ok(out)
            }
            _ => refuse(span, format!("`{operator}` is not supported")),
        }
    }
}
