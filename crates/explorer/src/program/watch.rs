//! Expressions over the memory that a run of a program has named: atomics, what is accessed under `--memory` or in a race, locks. Nothing is run
//! for them. The operators are C's, on 64-bit integers; a lock counts as 1 while it is held.

use std::collections::BTreeMap;

use quotient_outcome::Value as Shown;
use serde_json::Value;

use super::Program;
use super::executed::Executed;
use crate::api;
use crate::server::Refused;

/// The longest expression, and how deep it may be nested.
const LONGEST_EXPRESSION: usize = 4096;
const DEEPEST: usize = 64;

/// What is known of memory and locks, by name.
type Memory<'a> = BTreeMap<&'a str, Shown>;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expression {
    Number(i64),
    Name(String),
    Unary(char, Box<Expression>),
    Binary(&'static str, Box<Expression>, Box<Expression>),
}

/// Operators with how strongly they bind; longer ones first.
const OPERATORS: &[(&str, u8)] = &[
    ("||", 1),
    ("&&", 2),
    ("==", 6),
    ("!=", 6),
    ("<=", 7),
    (">=", 7),
    ("<<", 8),
    (">>", 8),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("<", 7),
    (">", 7),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    names: &'a [&'a str],
}

impl Parser<'_> {
    fn rest(&mut self) -> &str {
        self.at += self.text[self.at..].len() - self.text[self.at..].trim_start().len();
        &self.text[self.at..]
    }

    fn wrong(&self, what: &str) -> String {
        format!("{what} (column {})", self.text[..self.at].chars().count() + 1)
    }

    fn expression(&mut self, least: u8) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong("the expression is nested too deeply"));
        }
        let mut left = self.operand()?;
        loop {
            let rest = self.rest();
            let found = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign));
            let Some((sign, strength)) = found.filter(|(_, strength)| *strength >= least) else { break };
            self.at += sign.len();
            let right = self.expression(strength + 1)?;
            left = Expression::Binary(sign, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expression, String> {
        let names = self.names;
        let rest = self.rest().to_owned();
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        // Names may have indices and fields: the longest that fits.
        let whole = |name: &&&str| rest.strip_prefix(**name).is_some_and(|after| !after.starts_with(is_name));
        if let Some(name) = names.iter().filter(whole).max_by_key(|name| name.len()) {
            self.at += name.len();
            return Ok(Expression::Name((*name).to_owned()));
        }
        match rest.chars().next() {
            Some('(') => {
                self.at += 1;
                let inner = self.expression(1)?;
                if !self.rest().starts_with(')') {
                    return Err(self.wrong("expected `)`"));
                }
                self.at += 1;
                Ok(inner)
            }
            Some(sign @ ('!' | '-' | '~')) => {
                self.at += 1;
                Ok(Expression::Unary(sign, Box::new(self.expression(11)?)))
            }
            Some(c) if c.is_ascii_digit() => {
                let digits: String = rest.chars().take_while(|c| is_name(*c)).collect();
                let number = match digits.strip_prefix("0x") {
                    Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16),
                    None => digits.parse(),
                };
                let number = number.map_err(|_| self.wrong(&format!("`{digits}` is not a number")))?;
                self.at += digits.len();
                Ok(Expression::Number(number))
            }
            Some(c) if is_name(c) => {
                let name: String = rest.chars().take_while(|c| is_name(*c)).collect();
                let known: Vec<&str> = names.iter().take(6).copied().collect();
                let known = match known.is_empty() {
                    true => "it has named nothing".to_owned(),
                    false => format!("it has named {}", known.join(", ")),
                };
                Err(self.wrong(&format!("this run has not named `{name}`; {known}")))
            }
            _ => Err(self.wrong("expected a name, a number or `(`")),
        }
    }
}

fn parse(text: &str, names: &[&str]) -> Result<Expression, String> {
    if text.len() > LONGEST_EXPRESSION {
        return Err("the expression is longer than 4 kB".into());
    }
    let mut parser = Parser { text, at: 0, depth: 0, names };
    let found = parser.expression(1)?;
    if !parser.rest().is_empty() {
        return Err(parser.wrong("expected an operator"));
    }
    Ok(found)
}

/// The value of an expression; none where it needs something that is not known yet, or divides by zero.
fn value(expression: &Expression, memory: &Memory<'_>) -> Option<i64> {
    Some(match expression {
        Expression::Number(number) => *number,
        Expression::Name(name) => match memory.get(name.as_str())? {
            Shown::Number(number) => *number,
            Shown::Lock(holder, _) => i64::from(holder.is_some()),
            Shown::Nothing => 0,
            other => other.to_string().parse().ok()?,
        },
        Expression::Unary(sign, inner) => {
            let inner = value(inner, memory)?;
            match sign {
                '!' => i64::from(inner == 0),
                '-' => inner.wrapping_neg(),
                _ => !inner,
            }
        }
        Expression::Binary("||", a, b) => {
            let (a, b) = (value(a, memory), value(b, memory));
            match (a, b) {
                (Some(a), _) if a != 0 => 1,
                (a, b) => i64::from(a.zip(b)?.1 != 0),
            }
        }
        Expression::Binary("&&", a, b) => {
            let (a, b) = (value(a, memory), value(b, memory));
            match (a, b) {
                (Some(0), _) => 0,
                (a, b) => i64::from(a.zip(b)?.1 != 0),
            }
        }
        Expression::Binary(sign, a, b) => {
            let (a, b) = (value(a, memory)?, value(b, memory)?);
            let shift = u32::try_from(b).unwrap_or(64);
            match *sign {
                "==" => i64::from(a == b),
                "!=" => i64::from(a != b),
                "<=" => i64::from(a <= b),
                ">=" => i64::from(a >= b),
                "<" => i64::from(a < b),
                ">" => i64::from(a > b),
                "<<" => a.checked_shl(shift)?,
                ">>" => a.checked_shr(shift)?,
                "|" => a | b,
                "^" => a ^ b,
                "&" => a & b,
                "+" => a.wrapping_add(b),
                "-" => a.wrapping_sub(b),
                "*" => a.wrapping_mul(b),
                "/" => a.checked_div(b)?,
                _ => a.checked_rem(b)?,
            }
        }
    })
}

/// The value as it is shown: of a name as the state shows it, of a condition true or false.
fn shown(expression: &Expression, memory: &Memory<'_>) -> String {
    let is_condition = match expression {
        Expression::Name(name) => {
            return memory.get(name.as_str()).map_or_else(unknown, ToString::to_string);
        }
        Expression::Unary(sign, _) => *sign == '!',
        Expression::Binary(sign, ..) => ["||", "&&", "==", "!=", "<=", ">=", "<", ">"].contains(sign),
        Expression::Number(_) => false,
    };
    match value(expression, memory) {
        None => unknown(),
        Some(value) if is_condition => (value != 0).to_string(),
        Some(value) => value.to_string(),
    }
}

fn unknown() -> String {
    "not known here".to_owned()
}

/// Everything that a run names.
fn names(run: &Executed) -> Vec<&str> {
    let effects = run.rows.iter().map(|row| &row.effect);
    let memory = effects.flat_map(|e| {
        let reads = e.reads.iter().map(|r| r.full.as_str());
        reads.chain(e.writes.iter().map(|w| w.full.as_str()))
    });
    let mut names: Vec<&str> = memory.chain(run.held.iter().map(|h| h.object.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// What is known before a row.
fn known_at(run: &Executed, rows: usize) -> Memory<'_> {
    let memory = run.memory(rows).into_iter().map(|(name, known)| (name, known.value));
    let locks = run.locks(rows).into_iter();
    let locks = locks.map(|(name, (holder, _))| (name, Shown::Lock(holder.map(|h| (format!("T{h}"), h)), 1)));
    memory.chain(locks).collect()
}

impl Program {
    /// The value of an expression at a place, and along the run.
    pub(super) fn eval(&self, body: &Value) -> Result<api::Evaluated, Refused> {
        let text = body["expr"].as_str().ok_or("the expression is missing: `expr`")?;
        let wrong = |wrong: String| api::Evaluated { value: None, history: None, wrong: Some(wrong) };
        let Some(run) = self.course(body)? else {
            return Ok(wrong("the program has not been run to this place".into()));
        };
        let expression = match parse(text, &names(&run)) {
            Ok(expression) => expression,
            Err(why) => return Ok(wrong(why)),
        };
        let mut history: Vec<(usize, String)> = Vec::new();
        let short = run.rows.len() <= crate::session::WHOLE_HISTORY / 2;
        for rows in (0..=run.rows.len()).filter(|_| short) {
            let value = shown(&expression, &known_at(&run, rows));
            if history.last().is_none_or(|(_, last)| *last != value) {
                history.push((rows, value));
            }
        }
        let here = run.first_row[Program::at(&run, body)];
        let value = Some(shown(&expression, &known_at(&run, here)));
        Ok(api::Evaluated { value, history: short.then_some(history), wrong: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_have_the_values_that_c_gives_them() {
        let memory: Memory<'_> = [
            ("x", Shown::Number(3)),
            ("a[1]", Shown::Number(-2)),
            ("m", Shown::Lock(Some(("T1".into(), 1)), 1)),
        ]
        .into();
        let names = ["x", "a[1]", "m", "later"];
        let of = |text: &str| parse(text, &names).map(|e| shown(&e, &memory));
        for (text, expected) in [
            ("x", "3"),
            ("x + 2 * x", "9"),
            ("(x + 2) * x", "15"),
            ("x - 1 - 1", "1"),
            ("-a[1] == 2", "true"),
            ("!m", "false"),
            ("m && x > 5", "false"),
            ("x == 3 || later == 1", "true"),
            ("later == 1 && x == 3", "not known here"),
            ("1 << 4 | 1", "17"),
            ("0x10 % x", "1"),
            ("x / 0", "not known here"),
            ("m", "held by T1"),
            ("later", "not known here"),
        ] {
            assert_eq!(of(text).as_deref(), Ok(expected), "{text}");
        }
        for (text, wrong) in [
            ("y", "this run has not named `y`"),
            ("x +", "expected a name, a number or `(` (column 4)"),
            ("(x", "expected `)` (column 3)"),
            ("x x", "expected an operator (column 3)"),
            ("9z", "`9z` is not a number"),
        ] {
            assert!(of(text).is_err_and(|e| e.starts_with(wrong)), "{text}: {:?}", of(text));
        }
        assert!(of(&"(".repeat(5_000)).is_err());
        assert!(of(&"!".repeat(4_000)).is_err());
    }
}
