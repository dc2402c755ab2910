//! Constrained Horn clauses (`HORN` logic of SMT-LIB, as in CHC-COMP) over integers and booleans.
//!
//! Clauses with at most one predicate in the body are rules; clauses with head `false` are queries
//! and become safety claims, each of which may use those before it. A condition as a head is a query for its opposite. Several predicates become one
//! with a first column that says which. Booleans are 0 and 1. The clauses are satisfiable exactly
//! when every query holds. `div` and `mod` by a constant are SMT-LIB's: the rest is never negative. A query without a predicate
//! is the fact of a predicate of its own, which must not hold. Z3's `declare-rel`, `declare-var`, `rule` and `query` are read,
//! too. What is refused by name: several predicates in one body, predicates below
//! a disjunction, heads of several parts or with `exists`, sorts other than `Int` and `Bool`, non-linear terms, division by anything but a number,
//! clauses after the question, names declared twice.
//!
//! The writer is [`horn`](mod@crate::horn).

mod division;
mod expression;

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
    /// Parts of formulas and terms made so far.
    parts: usize,
    /// Formulas and terms around the one being read.
    depth: usize,
}

/// Reads clauses as statements of the `.clp` language.
pub fn read(map: &SourceMap, file: FileId, diagnostics: &mut Diagnostics) -> Vec<Item> {
    let commands = sexpr::read(file, map.text(file), diagnostics);
    let (mut predicates, mut clauses): (Vec<Predicate>, Vec<Statement>) = (Vec::new(), Vec::new());
    // Variables that Z3's rules use without a quantifier.
    let mut free: Vec<Sexpr> = Vec::new();
    // Questions are about what stands before them, and one answer is given.
    let mut asked = false;
    for command in &commands {
        let parts = command.list().unwrap_or_default();
        let outcome = match (parts.first().and_then(Sexpr::atom), parts) {
            (Some("declare-fun" | "declare-rel" | "declare-var" | "assert" | "rule"), _) if asked => {
                refuse(command.span(), "this stands after the question (`check-sat`, `query` or `exit`)")
            }
            (Some("declare-fun"), [_, name, sorts, result]) if result.atom() == Some("Bool") => {
                predicate(name, sorts, &predicates).map(|p| predicates.push(p))
            }
            (Some("declare-rel"), [_, name, sorts]) => {
                predicate(name, sorts, &predicates).map(|p| predicates.push(p))
            }
            (Some("declare-var"), [_, name, of]) => {
                free.push(Sexpr::List(vec![name.clone(), of.clone()], command.span()));
                Ok(())
            }
            (Some("assert"), [_, formula]) | (Some("rule"), [_, formula, ..]) => {
                clauses.push(Statement::Clause(formula));
                Ok(())
            }
            (Some("query"), [_, formula, ..]) => {
                asked = true;
                clauses.push(Statement::Query(formula));
                Ok(())
            }
            (Some("check-sat" | "exit"), _) => {
                asked = true;
                Ok(())
            }
            (Some("set-logic"), [_, logic]) if logic.atom() != Some("HORN") => {
                refuse(logic.span(), "the logic is not HORN")
            }
            (Some("set-logic" | "set-info" | "set-option" | "get-model" | "get-proof" | "get-info"), _) => {
                Ok(())
            }
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
            parts: 0,
            depth: 0,
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
    if rules.is_empty() && queries.is_empty() && !diagnostics.has_errors() {
        let d = Diagnostic::error(map.end(file), "there is no clause");
        diagnostics.push(d.help("clauses are `(assert (forall (…) (=> body head)))`"));
    }
    // Without facts nothing can be derived, and every query holds. Programs start somewhere: with a fact that cannot be met.
    let started = rules.iter().any(|r| matches!(r, Item::Rule { body: None, .. }));
    let place = rules.iter().find_map(|r| match r {
        Item::Rule { head, .. } => Some(head),
        Item::Assertion(_) => None,
    });
    if let (false, Some(head)) = (started, place.or(queries.first().map(|q| &q.left)).cloned()) {
        let span = head.span;
        rules.push(Item::Rule { head, body: None, constraint: Formula::Truth(false), span });
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
            Sexpr::Numeral(..) => false,
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

/// Names that mean something in SMT-LIB, which predicates cannot have.
const RESERVED: [&str; 28] = [
    "", "!", "*", "+", "-", "<", "<=", "=", "=>", ">", ">=", "_", "abs", "and", "as", "distinct", "div",
    "exists", "false", "forall", "ite", "let", "mod", "not", "or", "par", "true", "xor",
];

fn predicate(name: &Sexpr, sorts: &Sexpr, known: &[Predicate]) -> Result<Predicate> {
    let own = symbol(name)?;
    if RESERVED.contains(&own) {
        return refuse(name.span(), format!("`{own}` cannot be the name of a predicate"));
    }
    if known.iter().any(|p| p.name == own) {
        return refuse(name.span(), format!("`{own}` is declared twice"));
    }
    let Some(sorts) = sorts.list() else {
        return refuse(sorts.span(), "expected the sorts of the arguments in parentheses");
    };
    let sorts = sorts.iter().map(sort).collect::<Result<Vec<_>>>()?;
    Ok(Predicate { name: own.into(), sorts })
}

/// A name that a declaration, a quantifier or a `let` gives.
fn symbol(s: &Sexpr) -> Result<&str> {
    match s.atom() {
        None => refuse(s.span(), "expected a name"),
        Some(name @ ("true" | "false")) => {
            refuse(s.span(), format!("`{name}` cannot be given another meaning"))
        }
        Some(name) => Ok(name),
    }
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
            Some(head) => match self.applied(&head)? {
                Some((index, arguments, bindings, at)) => {
                    self.bindings = bindings;
                    Some(self.atom(index, &arguments, width, at, &mut parts)?)
                }
                // A condition follows from the body: the body and its opposite have no solution.
                None => {
                    let condition = self.formula(&head)?;
                    parts.push(not(condition));
                    None
                }
            },
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
                    let inner = literal.list().unwrap_or(std::slice::from_ref(literal));
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
        let [name, of] = v.list().unwrap_or_default() else {
            return refuse(v.span(), "expected a variable and its sort");
        };
        let (name, sort) = (symbol(name)?, sort(of)?);
        let own = self.fresh(name);
        if sort == Sort::Bool {
            self.ranges.push(Formula::Range(variable(&own, v.span()), 0, 1));
        }
        self.bindings.push((name.into(), Binding::Variable(own, sort)));
        Ok(())
    }

    fn bind(&mut self, list: &Sexpr) -> Result<()> {
        let visible = self.bindings.len();
        for b in list.list().unwrap_or_default() {
            let [name, value] = b.list().unwrap_or_default() else {
                return refuse(b.span(), "expected a name and its value");
            };
            let binding = Binding::Let(value.clone(), visible);
            self.bindings.push((symbol(name)?.into(), binding));
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
        self.spend(1, s.span())?;
        self.deeper(s.span(), |me| me.conjunct_here(s, out))
    }

    fn conjunct_here(&mut self, s: &Sexpr, out: &mut Vec<Formula>) -> Result<()> {
        let parts = s.list().unwrap_or(std::slice::from_ref(s));
        let name = parts.first().and_then(Sexpr::atom);
        match (name, parts) {
            (Some("and"), [_, rest @ ..]) if s.list().is_some() => {
                rest.iter().try_for_each(|part| self.conjunct(part, out))
            }
            // What they bind ends with them; predicates take it along.
            (Some("exists"), [_, variables, inner]) => {
                let visible = self.bindings.len();
                self.quantify(variables)?;
                let result = self.conjunct(inner, out);
                self.bindings.truncate(visible);
                result
            }
            (Some("let"), [_, list, inner]) => {
                self.with_let(list, inner, |me, inner| me.conjunct(inner, out))
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

    /// The predicate that a head is, through `let`.
    fn applied(&mut self, s: &Sexpr) -> Result<Option<Applied>> {
        self.spend(1, s.span())?;
        let parts = s.list().unwrap_or(std::slice::from_ref(s));
        let Some((name, arguments)) = parts.split_first().and_then(|(n, a)| Some((n.atom()?, a))) else {
            return Ok(None);
        };
        if let ("let", [list, inner]) = (name, arguments) {
            return self.with_let(list, inner, |me, inner| me.applied(inner));
        }
        Ok(match self.lookup(name).cloned() {
            Some(Binding::Let(value, visible)) if s.atom().is_some() => {
                self.within(visible, |me| me.applied(&value))?
            }
            Some(_) => None,
            None => {
                let index = self.predicates.iter().position(|p| p.name == name);
                index.map(|index| (index, arguments.to_vec(), self.bindings.clone(), s.span()))
            }
        })
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
}
