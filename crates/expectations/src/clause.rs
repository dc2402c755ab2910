//! One thing that is expected of an answer.

use std::fmt;

/// One thing that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clause {
    /// Everything asked for holds.
    Holds,
    /// A violation, of this kind and at this line where they are given.
    Violated {
        /// Its kind, as in the JSON document.
        kind: Option<String>,
        /// Its line.
        line: Option<u64>,
    },
    /// No answer, for a reason of this kind where it is given.
    Undecided(Option<String>),
    /// The input is wrong, at this line where it is given.
    Error(Option<u64>),
    /// What `prove` says of an assertion.
    Assertion {
        /// Its verdict: one of [`PROOFS`].
        verdict: String,
        /// Its name.
        name: String,
    },
    /// A figure of the answer.
    Count(Bound, u64, Figure),
}

/// The verdicts of a proof.
pub(crate) const PROOFS: [&str; 3] = ["proved", "refuted", "unknown"];

/// How a figure is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// It is the number.
    Exactly,
    /// It is the number or less.
    AtMost,
}

/// A figure of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Distinct states stored.
    States,
    /// Steps between them.
    Transitions,
    /// Greatest distance from the initial state.
    Depth,
    /// Executions of a C program.
    Executions,
}

impl Figure {
    const ALL: [Figure; 4] = [Figure::States, Figure::Transitions, Figure::Depth, Figure::Executions];

    /// Its name, here and in the JSON document.
    pub fn name(self) -> &'static str {
        match self {
            Figure::States => "states",
            Figure::Transitions => "transitions",
            Figure::Depth => "depth",
            Figure::Executions => "executions",
        }
    }

    fn named(name: &str) -> Option<Figure> {
        Figure::ALL.into_iter().find(|figure| figure.name() == name)
    }
}

impl Clause {
    /// Reads a clause; an error says what a clause can be.
    pub(crate) fn parse(text: &str) -> Result<Clause, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |word: &str| {
            let digits: String = word.chars().filter(|c| !matches!(c, '_' | ',')).collect();
            digits.parse::<u64>().map_err(|_| format!("`{word}` is not a number"))
        };
        Ok(match words[..] {
            ["holds"] => Clause::Holds,
            ["violated"] => Clause::Violated { kind: None, line: None },
            ["violated", "line", line] => Clause::Violated { kind: None, line: Some(number(line)?) },
            ["violated", kind] => Clause::Violated { kind: Some(kind.into()), line: None },
            ["violated", kind, "line", line] => {
                Clause::Violated { kind: Some(kind.into()), line: Some(number(line)?) }
            }
            ["undecided"] => Clause::Undecided(None),
            ["undecided", kind] => Clause::Undecided(Some(kind.into())),
            ["error"] => Clause::Error(None),
            ["error", "line", line] => Clause::Error(Some(number(line)?)),
            [verdict, name] if PROOFS.contains(&verdict) => {
                Clause::Assertion { verdict: verdict.into(), name: name.into() }
            }
            ["at", "most", count, figure] if Figure::named(figure).is_some() => {
                Clause::Count(Bound::AtMost, number(count)?, Figure::named(figure).unwrap_or(Figure::States))
            }
            [figure, count] if Figure::named(figure).is_some() => {
                Clause::Count(Bound::Exactly, number(count)?, Figure::named(figure).unwrap_or(Figure::States))
            }
            _ => {
                return Err(format!(
                    "`{text}` is not an expectation; known are: holds, violated [KIND] [line N], undecided [KIND], error [line N], \
                     proved|refuted|unknown NAME, states|transitions|depth|executions N, at most N states|…"
                ));
            }
        })
    }

    /// The kind of the violation that is expected, where there is one.
    pub fn kind(&self) -> &str {
        match self {
            Clause::Violated { kind: Some(kind), .. } => kind,
            _ => "",
        }
    }

    /// Does it say something about the verdict?
    pub(crate) fn is_verdict(&self) -> bool {
        !matches!(self, Clause::Count(..) | Clause::Assertion { .. })
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, line: &Option<u64>| match line {
            Some(line) => write!(f, " line {line}"),
            None => Ok(()),
        };
        match self {
            Clause::Holds => f.write_str("holds"),
            Clause::Violated { kind, line: at } => {
                f.write_str("violated")?;
                if let Some(kind) = kind {
                    write!(f, " {kind}")?;
                }
                line(f, at)
            }
            Clause::Undecided(None) => f.write_str("undecided"),
            Clause::Undecided(Some(kind)) => write!(f, "undecided {kind}"),
            Clause::Error(at) => {
                f.write_str("error")?;
                line(f, at)
            }
            Clause::Assertion { verdict, name } => write!(f, "{verdict} {name}"),
            Clause::Count(Bound::Exactly, count, figure) => write!(f, "{} {count}", figure.name()),
            Clause::Count(Bound::AtMost, count, figure) => write!(f, "at most {count} {}", figure.name()),
        }
    }
}
