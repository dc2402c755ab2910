//! Random small finite constraint programs with random assertions, and what is true of them.
//!
//! Two columns with values from 0 to [`MAX`]; the reachable states are computed beside the text, by an evaluator that shares
//! nothing with the prover.

use std::collections::BTreeSet;

use quotient_testing::Random;

pub type Point = (i64, i64);
const MAX: i64 = 3;

fn value(r: &mut Random) -> i64 {
    r.number(MAX as u64 + 1) as i64
}

/// A condition on two variables, as text over `x`, `y` and as a predicate.
#[derive(Clone)]
pub enum Guard {
    True,
    Compare(bool, u8, i64),
    Both(u8, i64),
    Sum(u8, i64),
    And(Box<Guard>, Box<Guard>),
    Or(Box<Guard>, Box<Guard>),
    Not(Box<Guard>),
}

const RELATIONS: [&str; 6] = ["=", "<>", "<", "<=", ">", ">="];

fn relate(r: u8, a: i64, b: i64) -> bool {
    [a == b, a != b, a < b, a <= b, a > b, a >= b][r as usize]
}

impl Guard {
    fn random(r: &mut Random, depth: u32) -> Guard {
        match r.number(if depth == 0 { 6 } else { 10 }) {
            0 | 1 => Guard::True,
            2..=4 => Guard::Compare(r.number(2) == 0, r.number(6) as u8, value(r)),
            5 if r.number(4) == 0 => Guard::Sum(r.number(6) as u8, r.number(7) as i64),
            5 => Guard::Both(r.number(6) as u8, r.number(3) as i64 - 1),
            6 | 7 => Guard::And(Guard::random(r, depth - 1).into(), Guard::random(r, depth - 1).into()),
            8 => Guard::Or(Guard::random(r, depth - 1).into(), Guard::random(r, depth - 1).into()),
            _ => Guard::Not(Guard::random(r, depth - 1).into()),
        }
    }

    pub fn holds(&self, (x, y): Point) -> bool {
        match self {
            Guard::True => true,
            Guard::Compare(first, r, c) => relate(*r, if *first { x } else { y }, *c),
            Guard::Both(r, c) => relate(*r, x, y + c),
            Guard::Sum(r, c) => relate(*r, x + y, *c),
            Guard::And(a, b) => a.holds((x, y)) && b.holds((x, y)),
            Guard::Or(a, b) => a.holds((x, y)) || b.holds((x, y)),
            Guard::Not(a) => !a.holds((x, y)),
        }
    }

    fn text(&self, x: &str, y: &str) -> String {
        match self {
            Guard::True => "true".into(),
            Guard::Compare(first, r, c) => {
                format!("{} {} {c}", if *first { x } else { y }, RELATIONS[*r as usize])
            }
            Guard::Both(r, c) => format!("{x} {} {y} + {c}", RELATIONS[*r as usize]).replace("+ -", "- "),
            Guard::Sum(r, c) => format!("{x} + {y} {} {c}", RELATIONS[*r as usize]),
            Guard::And(a, b) => format!("({}, {})", a.text(x, y), b.text(x, y)),
            Guard::Or(a, b) => format!("({} ; {})", a.text(x, y), b.text(x, y)),
            Guard::Not(a) => format!("not ({})", a.text(x, y)),
        }
    }
}

/// A new value as a function of the old state.
#[derive(Clone, Copy)]
pub enum Update {
    Constant(i64),
    Own(i64),
    Other(i64),
    /// Anything from 0 to this.
    Choice(i64),
}

impl Update {
    fn random(r: &mut Random) -> Update {
        match r.number(8) {
            0..=2 => Update::Constant(value(r)),
            3 | 4 => Update::Own(0),
            5 => Update::Own(r.number(3) as i64 - 1),
            6 => Update::Other(r.number(3) as i64 - 1),
            _ => Update::Choice(value(r)),
        }
    }

    fn values(self, own: i64, other: i64) -> Vec<i64> {
        match self {
            Update::Constant(c) => vec![c],
            Update::Own(d) => vec![own + d],
            Update::Other(d) => vec![other + d],
            Update::Choice(c) => (0..=c).collect(),
        }
    }

    fn text(self, own: &str, other: &str, fresh: &str, extra: &mut Vec<String>) -> String {
        let plus = |name: &str, d: i64| match d {
            0 => name.to_string(),
            d => format!("{name} + {d}").replace("+ -", "- "),
        };
        match self {
            Update::Constant(c) => c.to_string(),
            Update::Own(d) => plus(own, d),
            Update::Other(d) => plus(other, d),
            Update::Choice(c) => {
                extra.push(format!("{fresh} in 0..{c}"));
                fresh.into()
            }
        }
    }
}

pub enum Claim {
    Safety(Guard),
    /// Relation between left (x, y) and right (u, v).
    Relative(Update, Update),
    /// `(x, u) in pairs`, v = y, on the right (existential) or on the left (universal).
    Map(Vec<(i64, i64)>, bool),
}

pub struct Assertion {
    pub left: Guard,
    pub claim: Claim,
    pub using: Vec<usize>,
}

pub struct Case {
    pub text: String,
    pub reachable: BTreeSet<Point>,
    pub assertions: Vec<Assertion>,
}

pub fn case(seed: u64) -> Case {
    let mut r = Random::new(seed);
    let (mut text, mut reachable) = (String::new(), BTreeSet::new());
    for _ in 0..1 + r.number(2) {
        let point = (value(&mut r), value(&mut r));
        reachable.insert(point);
        text.push_str(&format!("p({},{}).\n", point.0, point.1));
    }
    let inside = |v: i64| (0..=MAX).contains(&v);
    let mut rules = Vec::new();
    for _ in 0..1 + r.number(6) {
        let (first, second, guard) =
            (Update::random(&mut r), Update::random(&mut r), Guard::random(&mut r, 2));
        let mut extra = vec![guard.text("X", "Y")];
        let head = (first.text("X", "Y", "U", &mut extra), second.text("Y", "X", "V", &mut extra));
        let keep = |u: Update, t: &str| match u {
            Update::Own(0) | Update::Constant(_) | Update::Choice(_) => String::new(),
            _ => format!(", {t} in 0..{MAX}"),
        };
        let limits = keep(first, &head.0) + &keep(second, &head.1);
        text.push_str(&format!("p({},{}) :- p(X,Y), {}{limits}.\n", head.0, head.1, extra.join(", ")));
        rules.push((first, second, guard));
    }
    loop {
        let mut new = Vec::new();
        for &(x, y) in &reachable {
            for (first, second, guard) in rules.iter().filter(|rule| rule.2.holds((x, y))) {
                let _ = guard;
                for u in first.values(x, y).into_iter().filter(|&u| inside(u)) {
                    for v in second.values(y, x).into_iter().filter(|&v| inside(v)) {
                        new.push((u, v));
                    }
                }
            }
        }
        let before = reachable.len();
        reachable.extend(new);
        if reachable.len() == before {
            break;
        }
    }
    let mut assertions: Vec<Assertion> = Vec::new();
    for number in 0..1 + r.number(4) as usize {
        let left = Guard::random(&mut r, 1);
        let claim = match r.number(5) {
            0 | 1 => Claim::Safety(if r.number(2) == 0 {
                Guard::Not(Guard::True.into())
            } else {
                Guard::random(&mut r, 1)
            }),
            2 => Claim::Relative(Update::Other(0), Update::Other(0)),
            3 => Claim::Relative(Update::random(&mut r), Update::random(&mut r)),
            _ => {
                let count = 2 + r.number(3) as usize;
                let pairs = (0..=MAX).map(|v| (v, value(&mut r))).take(count).collect();
                Claim::Map(pairs, r.number(2) == 0)
            }
        };
        let using: Vec<usize> = (0..number).filter(|_| r.number(2) == 0).collect();
        let mut after = Vec::new();
        let (mut before, right) = (
            left.text("X", "Y"),
            match &claim {
                Claim::Safety(g) => g.text("X", "Y"),
                Claim::Relative(u, v) => {
                    let state = (u.text("X", "Y", "U", &mut after), v.text("Y", "X", "V", &mut after));
                    format!("p({},{})", state.0, state.1)
                }
                Claim::Map(..) => "p(U,Y)".into(),
            },
        );
        if let Claim::Map(pairs, universal) = &claim {
            let list: Vec<String> = pairs.iter().map(|(a, b)| format!("({a},{b})")).collect();
            let map = format!("(X,U) in {{{}}}", list.join(","));
            if *universal { before = format!("{before}, {map}") } else { after.push(map) }
        }
        let tail = if after.is_empty() { String::new() } else { format!(", {}", after.join(", ")) };
        let names: Vec<String> = using.iter().map(|u| format!("c{u}")).collect();
        let using_text =
            if names.is_empty() { String::new() } else { format!(" using {}", names.join(", ")) };
        text.push_str(&format!("assert c{number}: p(X,Y), {before} |= {right}{tail}{using_text}.\n"));
        assertions.push(Assertion { left, claim, using });
    }
    Case { text, reachable, assertions }
}

/// The truth, by enumeration.
pub fn truth(case: &Case, assertion: &Assertion) -> bool {
    case.reachable.iter().filter(|p| assertion.left.holds(**p)).all(|&(x, y)| match &assertion.claim {
        Claim::Safety(g) => g.holds((x, y)),
        Claim::Relative(u, v) => {
            u.values(x, y).iter().any(|&a| v.values(y, x).iter().any(|&b| case.reachable.contains(&(a, b))))
        }
        Claim::Map(pairs, universal) => {
            let mut images = pairs.iter().filter(|p| p.0 == x).map(|p| case.reachable.contains(&(p.1, y)));
            if *universal { images.all(|i| i) } else { images.any(|i| i) }
        }
    })
}
