//! Horn clauses in the many ways in which SMT-LIB can write them: names bound again, `exists`, quotation, large numbers.
//!
//! Random clauses over few values are evaluated here, by an evaluator of expressions that shares nothing with the reader, and the least model
//! is computed; the answer must be the same. `QUOTIENT_HORN_TEXTS=20000` sets their number, `QUOTIENT_PROOF_SEED` the first seed.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use quotient_proof::program::Program;
use quotient_proof::prove::{Options, Verdict, prove};
use quotient_testing::Random;

use crate::support::load_text;

/// `sat`, `unsat`, `unknown`.
fn answer(program: &Program, options: &Options) -> &'static str {
    let reports = prove(program, options);
    if reports.iter().any(|r| matches!(r.verdict, Verdict::Refuted(_))) {
        "unsat"
    } else if reports.iter().all(|r| matches!(r.verdict, Verdict::Proved)) {
        "sat"
    } else {
        "unknown"
    }
}

fn of_text(name: &str, text: &str) -> String {
    match load_text(&format!("{name}.smt2"), text) {
        Ok(program) => answer(&program, &Options::default()).to_owned(),
        Err(message) => message,
    }
}

#[test]
fn unusual_clauses_have_their_meaning_or_are_refused() {
    let deep = |n: usize| {
        let mut text = "(= y x)".to_owned();
        for _ in 0..n {
            text = format!("(let ((x (+ x 1))) {text})");
        }
        format!("(assert (forall ((x Int) (y Int)) (=> (and (p x) {text} (<= x 3)) (p y))))")
    };
    let doubled = |n: usize| {
        let mut text = format!("(= y a{n})");
        for i in (1..=n).rev() {
            text = format!("(let ((a{i} (+ a{} a{}))) {text})", i - 1, i - 1);
        }
        format!("(assert (forall ((a0 Int) (y Int)) (=> (and (p a0) {text} (<= a0 3)) (p y))))")
    };
    let many = format!(
        "(assert (forall ((x Int)) (=> (and (p x) (< (+ 0 {}) 5)) (p (+ x 1)))))",
        "x ".repeat(20_000)
    );
    let nested = format!(
        "(assert (forall ((x Int)) (=> (and (p x) {} (= x 0) {}) (p (+ x 1)))))",
        "(not ".repeat(1_600),
        ")".repeat(1_600)
    );
    let start = "(assert (p 0))";
    for (number, (clauses, expected)) in [
        // A name that a `let` or `exists` binds ends with it.
        ("(assert (forall ((x Int) (y Int)) (=> (and (let ((x 5)) (= y x)) (p x)) (p (+ x y)))))", "unsat"),
        ("(assert (forall ((x Int)) (=> (and (exists ((x Int)) (= x 9)) (p x) (< x 5)) (p (+ x 3)))))", "sat"),
        // Names on the left of a `let` see what is outside of it.
        ("(assert (forall ((x Int) (y Int)) (=> (and (p x) (let ((x y) (y x)) (= x (+ y 3))) (< x 6)) (p y))))", "sat"),
        ("(assert (forall ((x Int)) (=> (and (p x) (let ((x x)) (= x 0))) (p (+ x 5)))))", "unsat"),
        ("(assert (forall ((x Int) (b Bool)) (=> (and (p x) (let ((b (not b))) (= b (= x 0))) b (= x 0)) (p (+ x 5)))))", "sat"),
        // What follows is one predicate or a condition.
        ("(assert (forall ((x Int)) (=> (p x) (and (p 5) (p 3)))))", "in a head of several parts"),
        ("(assert (forall ((x Int)) (=> (p x) (exists ((y Int)) (p y)))))", "`exists` is not supported here"),
        ("(assert (forall ((x Int)) (=> (p x) (and (>= x 0) (<= x 0)))))", "sat"),
        ("(assert (forall ((x Int)) (=> (p x) (> x 0))))", "unsat"),
        ("(assert (forall ((x Int)) (or (not (p x)) (>= x 1) (p 5))))", "unsat"),
        // `|5|` is a name, `5` a number; so is Z3's `-5`.
        ("(assert (forall ((|5| Int)) (=> (and (p |5|) (= |5| 7)) (p 5))))", "sat"),
        ("(assert (forall ((|5| Int)) (=> (and (p |5|) (= |5| 0)) (p 5))))", "unsat"),
        ("(assert (forall ((x Int)) (=> (and (p x) (> x -5)) (p 5))))", "unsat"),
        ("(assert (forall ((x Int)) (=> (and (p x) (> x 1.5)) (p 5))))", "`1.5` is not an integer"),
        // Every name once, and none of SMT-LIB's own.
        ("(declare-fun p (Bool) Bool)", "`p` is declared twice"),
        ("(declare-fun and (Int) Bool)", "`and` cannot be the name of a predicate"),
        ("(declare-fun || () Bool)", "cannot be the name of a predicate"),
        ("(assert (forall ((true Bool)) (=> true (p 5))))", "`true` cannot be given another meaning"),
        ("(assert (forall ((p Int)) (=> (= p 5) (p p))))", "a predicate below"),
        // One question, after everything.
        ("(check-sat) (assert (p 5))", "after the question"),
        ("(exit) (assert (p 5))", "after the question"),
        ("(push 1) (assert (p 5)) (pop 1)", "not supported"),
        ("(declare-const c Int) (assert (p c))", "not supported"),
        ("(define-fun f () Int 5) (assert (p f))", "not supported"),
        ("(assert (! (p 5) :named a))", "`!` is not supported"),
        ("(assert (forall ((x Int)) (=> (p x) ((_ divisible 3) x))))", "expected a formula"),
        // Numbers.
        ("(assert (p 99999999999999999999999))", "the number is too large"),
        ("(assert (p 9223372036854775807))", "the number is too large"),
        ("(assert (p -9223372036854775808))", "the number is too large"),
        ("(assert (forall ((x Int)) (=> (and (p x) (= (mod x -9223372036854775808) 5)) (p 5))))", "the number is too large"),
        ("(assert (p (* 1099511627776 1099511627776)))", "too large"),
        ("(assert (forall ((x Int)) (=> (p x) (p (* 1099511627776 x)))))", "sat"),
        ("(assert (forall ((x Int)) (=> (p x) (p (* 1099511627776 (* 1099511627776 x))))))", "too large"),
        ("(assert (forall ((x Int)) (=> (and (p x) (= (mod (- 7) 3) 2) (= (div (- 7) (- 3)) 3)) (p 5))))", "unsat"),
        ("(assert (forall ((x Int)) (=> (and (p x) (= (mod (- 7) (- 3)) (- 1))) (p 5))))", "sat"),
        // Large and deep.
        (&*deep(300), "sat"),
        (&*deep(1_500), "nested too deeply"),
        (&*doubled(10), "sat"),
        (&*doubled(60), "too large"),
        (&*many, "sat"),
        (&*nested, "nested too deeply"),
        ("(assert (forall ((x Int)) (=> (p |x) (p 5))))", "this quotation is never closed"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!(
            "(set-logic HORN)(declare-fun p (Int) Bool){start}{clauses}\n\
             (assert (forall ((x Int)) (=> (and (p x) (= x 5)) false)))"
        );
        // The claim comes before the question where there is one.
        let text = if clauses.starts_with("(check-sat)") || clauses.starts_with("(exit)") {
            format!("(declare-fun p (Int) Bool){start}(assert (not (p 5))){clauses}")
        } else {
            text
        };
        let found = of_text(&format!("unusual-{number}"), &text);
        let shown = if clauses.len() > 300 { &clauses[..300] } else { clauses };
        assert!(found.contains(expected) && (found.len() > 7 || found == expected), "{shown}: {found}");
    }
}

#[test]
fn without_facts_every_query_holds() {
    let declared = "(set-logic HORN)(declare-fun p (Int) Bool)";
    let (step, query) = (
        "(assert (forall ((x Int)) (=> (and (p x) (< x 9)) (p (+ x 1)))))",
        "(assert (forall ((x Int)) (=> (and (p (+ x 1)) (> x 3)) false)))",
    );
    assert_eq!(of_text("query", &format!("{declared}{query}")), "sat");
    assert_eq!(of_text("step", &format!("{declared}{step}{query}")), "sat");
    assert_eq!(of_text("fact", &format!("{declared}(assert (p 0)){step}{query}")), "unsat");
    assert!(of_text("empty", "").contains("there is no clause"));
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sort {
    Int,
    Bool,
}

/// An expression; booleans are 0 and 1.
#[derive(Clone, Debug)]
enum E {
    Number(i64),
    Name(String),
    Apply(&'static str, Vec<E>),
    Let(Vec<(String, E)>, Box<E>),
    /// A number from 0 to 3, or a boolean.
    Exists(String, Sort, Box<E>),
    Predicate(usize, Vec<E>),
}

/// What names stand for, the last one counts.
type Scope = Vec<(String, i64)>;
type Facts = BTreeSet<(usize, Vec<i64>)>;

fn values(sort: Sort) -> std::ops::RangeInclusive<i64> {
    if sort == Sort::Int { 0..=3 } else { 0..=1 }
}

fn value(e: &E, scope: &mut Scope, facts: &Facts) -> i64 {
    match e {
        E::Number(n) => *n,
        E::Name(name) if name == "true" => 1,
        E::Name(name) => scope.iter().rev().find(|s| s.0 == *name).expect("names are bound").1,
        E::Let(list, inner) => {
            let own: Vec<(String, i64)> =
                list.iter().map(|(n, e)| (n.clone(), value(e, scope, facts))).collect();
            let before = scope.len();
            scope.extend(own);
            let result = value(inner, scope, facts);
            scope.truncate(before);
            result
        }
        E::Exists(name, sort, inner) => {
            let any = values(*sort).any(|v| {
                scope.push((name.clone(), v));
                let holds = value(inner, scope, facts) == 1;
                scope.pop();
                holds
            });
            i64::from(any)
        }
        E::Predicate(which, list) => {
            let state = list.iter().map(|e| value(e, scope, facts)).collect();
            i64::from(facts.contains(&(*which, state)))
        }
        E::Apply(operator, list) => {
            let v: Vec<i64> = list.iter().map(|e| value(e, scope, facts)).collect();
            let chain = |holds: fn(i64, i64) -> bool| i64::from(v.windows(2).all(|w| holds(w[0], w[1])));
            match *operator {
                "and" => i64::from(v.iter().all(|x| *x == 1)),
                "or" => i64::from(v.contains(&1)),
                "not" => 1 - v[0],
                "=>" => i64::from(v[v.len() - 1] == 1 || v[..v.len() - 1].contains(&0)),
                "xor" | "distinct" => i64::from(v[0] != v[1]),
                "=" => chain(|a, b| a == b),
                "<" => chain(|a, b| a < b),
                "<=" => chain(|a, b| a <= b),
                ">" => chain(|a, b| a > b),
                ">=" => chain(|a, b| a >= b),
                "ite" => v[if v[0] == 1 { 1 } else { 2 }],
                "+" => v.iter().sum(),
                "-" if v.len() == 1 => -v[0],
                "-" => v[0] - v[1..].iter().sum::<i64>(),
                "*" => v.iter().product(),
                "abs" => v[0].abs(),
                "div" => v[0].div_euclid(v[1]),
                "mod" => v[0].rem_euclid(v[1]),
                other => panic!("{other}"),
            }
        }
    }
}

fn quoted(name: &str) -> String {
    if name.contains([' ', '(']) || name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("|{name}|")
    } else {
        name.into()
    }
}

impl fmt::Display for E {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let list = |l: &[E]| l.iter().map(|e| format!(" {e}")).collect::<String>();
        match self {
            E::Number(n) if *n < 0 => write!(f, "(- {})", -n),
            E::Number(n) => write!(f, "{n}"),
            E::Name(name) => write!(f, "{}", quoted(name)),
            E::Apply(operator, l) => write!(f, "({operator}{})", list(l)),
            E::Let(l, inner) => {
                let l: String = l.iter().map(|(n, e)| format!("({} {e})", quoted(n))).collect();
                write!(f, "(let ({l}) {inner})")
            }
            E::Exists(name, sort, inner) => {
                let range =
                    if *sort == Sort::Int { format!("(<= 0 {} 3)", quoted(name)) } else { "true".into() };
                write!(f, "(exists (({} {sort:?})) (and {range} {inner}))", quoted(name))
            }
            E::Predicate(which, l) if l.is_empty() => write!(f, "P{which}"),
            E::Predicate(which, l) => write!(f, "(P{which}{})", list(l)),
        }
    }
}

struct Clause {
    variables: Vec<(String, Sort)>,
    /// Around body and head.
    bound: Vec<(String, E)>,
    body: Vec<E>,
    head: Option<E>,
}

const NAMES: [&str; 4] = ["x", "y", "1", "a b"];

struct Maker {
    random: Random,
    predicates: Vec<Vec<Sort>>,
    scope: Vec<(String, Sort)>,
}

impl Maker {
    /// A visible name of this sort: one that no later one hides.
    fn name(&mut self, sort: Sort) -> Option<E> {
        let last = |n: &str| self.scope.iter().rev().find(|s| s.0 == n).map(|s| s.1);
        let list: Vec<&str> = NAMES.into_iter().filter(|n| last(n) == Some(sort)).collect();
        self.random.pick(&list).map(|n| E::Name((*n).into()))
    }

    fn fresh(&mut self) -> String {
        (*self.random.one(&NAMES)).into()
    }

    fn let_in(&mut self, depth: usize, sort: Sort) -> E {
        let mut list: Vec<(String, E)> = Vec::new();
        let mut own = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let (name, of) = (self.fresh(), if self.random.chance(60) { Sort::Int } else { Sort::Bool });
            if list.iter().all(|l| l.0 != name) {
                list.push((name.clone(), self.expression(depth, of)));
                own.push((name, of));
            }
        }
        let before = self.scope.len();
        self.scope.extend(own);
        let inner = self.expression(depth, sort);
        self.scope.truncate(before);
        E::Let(list, inner.into())
    }

    fn expression(&mut self, depth: usize, sort: Sort) -> E {
        if depth == 0 || self.random.chance(15) {
            if let Some(name) = self.name(sort).filter(|_| self.random.chance(80)) {
                return name;
            }
            return match sort {
                Sort::Int => E::Number(i64::from(self.random.between(-2, 5))),
                Sort::Bool => E::Name("true".into()),
            };
        }
        let d = depth - 1;
        let few = |me: &mut Maker, of: Sort, least: usize| -> Vec<E> {
            (0..least + me.random.below(2)).map(|_| me.expression(d, of)).collect()
        };
        match sort {
            Sort::Int => match self.random.below(9) {
                0 | 1 => E::Apply("+", few(self, Sort::Int, 2)),
                2 => E::Apply("-", few(self, Sort::Int, 1)),
                3 => E::Apply(
                    "*",
                    vec![E::Number(i64::from(self.random.between(-2, 3))), self.expression(d, Sort::Int)],
                ),
                4 => {
                    let by = *self.random.one(&[2, 3, -2, -3]);
                    let operator = *self.random.one(&["div", "mod"]);
                    E::Apply(operator, vec![self.expression(d, Sort::Int), E::Number(by)])
                }
                5 => E::Apply("abs", vec![self.expression(d, Sort::Int)]),
                6 => E::Apply(
                    "ite",
                    vec![
                        self.expression(d, Sort::Bool),
                        self.expression(d, Sort::Int),
                        self.expression(d, Sort::Int),
                    ],
                ),
                _ => self.let_in(d, Sort::Int),
            },
            Sort::Bool => match self.random.below(10) {
                0..=2 => {
                    let operator = *self.random.one(&["=", "<", "<=", ">", ">="]);
                    E::Apply(operator, few(self, Sort::Int, 2))
                }
                3 => E::Apply("distinct", vec![self.expression(d, Sort::Int), self.expression(d, Sort::Int)]),
                4 => E::Apply("and", few(self, Sort::Bool, 1)),
                5 => E::Apply("or", few(self, Sort::Bool, 1)),
                6 => E::Apply("not", vec![self.expression(d, Sort::Bool)]),
                7 => {
                    let operator = *self.random.one(&["=", "xor", "=>", "distinct"]);
                    E::Apply(operator, vec![self.expression(d, Sort::Bool), self.expression(d, Sort::Bool)])
                }
                8 => E::Apply(
                    "ite",
                    vec![
                        self.expression(d, Sort::Bool),
                        self.expression(d, Sort::Bool),
                        self.expression(d, Sort::Bool),
                    ],
                ),
                _ => self.let_in(d, Sort::Bool),
            },
        }
    }

    fn applied(&mut self, which: usize, depth: usize) -> E {
        let sorts = self.predicates[which].clone();
        E::Predicate(which, sorts.into_iter().map(|s| self.expression(depth, s)).collect())
    }

    /// A part of a body: perhaps the predicate, perhaps below `and`, `let` and `exists`.
    fn part(&mut self, predicate: Option<usize>, depth: usize) -> E {
        match self.random.below(4) {
            0 if depth > 0 => {
                let place = self.random.below(2);
                let parts = (0..2).map(|n| self.part(predicate.filter(|_| n == place), depth - 1)).collect();
                E::Apply("and", parts)
            }
            1 if depth > 0 => {
                let (name, sort) =
                    (self.fresh(), if self.random.chance(60) { Sort::Int } else { Sort::Bool });
                let bound = self.expression(1, sort);
                self.scope.push((name.clone(), sort));
                let inner = self.part(predicate, depth - 1);
                self.scope.pop();
                E::Let(vec![(name, bound)], inner.into())
            }
            2 if depth > 0 => {
                let (name, sort) =
                    (self.fresh(), if self.random.chance(60) { Sort::Int } else { Sort::Bool });
                self.scope.push((name.clone(), sort));
                let inner = self.part(predicate, depth - 1);
                self.scope.pop();
                E::Exists(name, sort, inner.into())
            }
            _ => match predicate {
                Some(which) => {
                    let depth = usize::from(self.random.chance(30));
                    self.applied(which, depth)
                }
                None => self.expression(2, Sort::Bool),
            },
        }
    }

    fn clause(&mut self, body: bool, head: Option<usize>) -> Clause {
        let mut variables = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let name = self.fresh();
            if variables.iter().all(|(n, _): &(String, Sort)| *n != name) {
                variables.push((name, if self.random.chance(75) { Sort::Int } else { Sort::Bool }));
            }
        }
        self.scope.clone_from(&variables);
        let mut bound: Vec<(String, E)> = Vec::new();
        if self.random.chance(30) {
            let (name, sort) = (self.fresh(), if self.random.chance(60) { Sort::Int } else { Sort::Bool });
            bound.push((name.clone(), self.expression(1, sort)));
            self.scope.push((name, sort));
        }
        let which = self.random.below(self.predicates.len());
        let mut parts = vec![self.part(body.then_some(which), 2)];
        if self.random.chance(60) {
            parts.push(self.part(None, 1));
        }
        if self.random.chance(50) {
            parts.reverse();
        }
        let head = head.map(|which| self.applied(which, 2));
        Clause { variables, bound, body: parts, head }
    }
}

impl Clause {
    /// Each choice of the variables.
    fn each(&self, run: &mut dyn FnMut(&mut Scope)) {
        fn go(left: &[(String, Sort)], scope: &mut Scope, run: &mut dyn FnMut(&mut Scope)) {
            let Some(((name, sort), rest)) = left.split_first() else { return run(scope) };
            for v in values(*sort) {
                scope.push((name.clone(), v));
                go(rest, scope, run);
                scope.pop();
            }
        }
        go(&self.variables, &mut Vec::new(), run);
    }

    /// What follows from the facts; `true` if a contradiction does.
    fn follow(&self, facts: &Facts, out: &mut Facts) -> bool {
        let mut contradiction = false;
        self.each(&mut |scope| {
            let own: Vec<(String, i64)> =
                self.bound.iter().map(|(n, e)| (n.clone(), value(e, scope, facts))).collect();
            let before = scope.len();
            scope.extend(own);
            if self.body.iter().all(|p| value(p, scope, facts) == 1) {
                match &self.head {
                    Some(E::Predicate(which, list)) => {
                        let state = list.iter().map(|e| value(e, scope, facts)).collect();
                        out.insert((*which, state));
                    }
                    _ => contradiction = true,
                }
            }
            scope.truncate(before);
        });
        contradiction
    }

    /// One of the ways to write it.
    fn text(&self, random: &mut Random, rules: bool) -> String {
        let mut body: Vec<String> = self
            .variables
            .iter()
            .filter(|v| v.1 == Sort::Int)
            .map(|(n, _)| format!("(<= 0 {n} 3)", n = quoted(n)))
            .collect();
        let parts: Vec<String> = self.body.iter().map(E::to_string).collect();
        let head = self.head.as_ref().map_or("false".to_owned(), E::to_string);
        let whole = |list: &[String]| match list {
            [] => "true".to_owned(),
            [one] => one.clone(),
            _ => format!("(and {})", list.join(" ")),
        };
        let bound: String = self.bound.iter().map(|(n, e)| format!("({} {e})", quoted(n))).collect();
        let around =
            |inner: String| if bound.is_empty() { inner } else { format!("(let ({bound}) {inner})") };
        let variables: String =
            self.variables.iter().map(|(n, s)| format!("({} {s:?})", quoted(n))).collect();
        // Ranges are about variables, which a `let` around the rest may hide.
        let ranges = whole(&body);
        let inner = match random.below(5) {
            0 => format!("(=> {ranges} {})", around(format!("(=> {} {head})", whole(&parts)))),
            1 => {
                let parts: String = parts.iter().map(|p| format!("(not {p}) ")).collect();
                let rest =
                    if self.head.is_some() { format!("(or {parts}{head})") } else { format!("(or {parts})") };
                format!("(=> {ranges} {})", around(rest))
            }
            2 => format!("(=> {ranges} {})", around(format!("(=> {} {head})", parts.join(" ")))),
            3 if self.head.is_none() && !rules => {
                let inner = around(whole(&parts));
                return format!("(assert (not (exists ({variables}) (and {ranges} {inner}))))");
            }
            _ if self.bound.is_empty() => {
                body.extend(parts.clone());
                format!("(=> {} {head})", whole(&body))
            }
            _ => format!("(=> {ranges} {})", around(format!("(=> {} {head})", whole(&parts)))),
        };
        let keyword = if rules { "rule" } else { "assert" };
        format!("({keyword} (forall ({variables}) {inner}))")
    }
}

/// A system of clauses as text, and whether it has a model.
fn system(seed: u64) -> (String, bool) {
    let mut random = Random::new(seed);
    let rules = random.chance(25);
    let predicates: Vec<Vec<Sort>> = (0..1 + random.below(3))
        .map(|_| {
            (0..random.below(3)).map(|_| if random.chance(75) { Sort::Int } else { Sort::Bool }).collect()
        })
        .collect();
    let count = predicates.len();
    let mut maker = Maker { random, predicates, scope: Vec::new() };
    let mut clauses = vec![maker.clause(false, Some(0))];
    for _ in 0..2 + maker.random.below(4) {
        let (body, head) = (maker.random.chance(80), maker.random.below(count));
        clauses.push(maker.clause(body, Some(head)));
    }
    for _ in 0..1 + maker.random.below(2) {
        let body = maker.random.chance(95);
        clauses.push(maker.clause(body, None));
    }
    let mut facts = Facts::new();
    loop {
        let mut next = facts.clone();
        clauses.iter().filter(|c| c.head.is_some()).for_each(|c| {
            c.follow(&facts, &mut next);
        });
        if next == facts {
            break;
        }
        facts = next;
    }
    let holds = clauses.iter().filter(|c| c.head.is_none()).all(|c| !c.follow(&facts, &mut Facts::new()));
    let mut text = if rules { String::new() } else { "(set-logic HORN)\n".to_owned() };
    for (n, sorts) in maker.predicates.iter().enumerate() {
        let sorts = sorts.iter().map(|s| format!("{s:?}")).collect::<Vec<_>>().join(" ");
        text += &if rules {
            format!("(declare-rel P{n} ({sorts}))\n")
        } else {
            format!("(declare-fun P{n} ({sorts}) Bool)\n")
        };
    }
    for clause in &clauses {
        text += &clause.text(&mut maker.random, rules);
        text.push('\n');
    }
    (text + "(check-sat)\n", holds)
}

#[test]
fn random_clauses_have_the_answer_of_their_least_model() {
    let (count, first) = (
        quotient_testing::setting("QUOTIENT_HORN_TEXTS", 300),
        quotient_testing::setting("QUOTIENT_PROOF_SEED", 1),
    );
    let options = Options { max_time: Duration::from_secs(1), ..Options::default() };
    let (mut sat, mut unsat, mut unknown, mut refused) = (0, 0, 0, 0);
    for seed in first..first + count {
        let (text, holds) = system(seed);
        match load_text(&format!("random-{seed}.smt2"), &text) {
            Ok(program) => match answer(&program, &options) {
                "sat" => {
                    assert!(holds, "sat but has no model, seed {seed}\n{text}");
                    sat += 1;
                }
                "unsat" => {
                    assert!(!holds, "unsat but has a model, seed {seed}\n{text}");
                    unsat += 1;
                }
                _ => unknown += 1,
            },
            Err(message) => {
                // What a fact cannot be without.
                let expected = ["no fact says", "no clause that defines", "too large once"];
                assert!(expected.iter().any(|e| message.contains(e)), "seed {seed}: {message}\n{text}");
                refused += 1;
            }
        }
    }
    println!("{count} systems: {sat} sat, {unsat} unsat, {unknown} unknown, {refused} refused");
    assert!(sat > 0 && unsat > 0 && refused * 4 < count && unknown * 10 < count);
}
