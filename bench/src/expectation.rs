//! What SPIN has to say of a model, in the form of all expectations (`quotient-expectations`): two runs of Quotient pin it.
//!
//! ```text
//! // quotient: --raw --all --safety => violated assertion, states 12, transitions 20
//! // quotient: --all --safety => violated assertion, at most 9 states
//! ```
//!
//! Where SPIN's answer must not be pinned, the first line has no counts: it says what a sound checker should say, and a `// why:` line why SPIN is
//! not the reference.

use quotient_expectations::{Bound, Clause, Expectation as Expected, Figure};

use crate::error_kind::{ErrorKind, ErrorKinds};

/// The two header lines that come from SPIN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// Stored states without any reduction.
    pub states: u64,
    /// Transitions without any reduction.
    pub transitions: u64,
    /// Kinds of all errors, search not stopped at the first.
    pub errors: ErrorKinds,
    /// States that SPIN stores with its default reductions: an upper bound for ours.
    pub default_states: u64,
}

/// What a model's header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// Counts and errors confirmed by SPIN.
    Pinned(Pinned),
    /// Errors by our own semantics.
    Own(ErrorKinds),
}

/// The options of the run that counts as SPIN does without reductions.
const RAW: [&str; 3] = ["--raw", "--all", "--safety"];
/// Those of the run whose states SPIN's default reductions bound.
const DEFAULT: [&str; 2] = ["--all", "--safety"];

/// Reads the expectations of a model; `Ok(None)` when it has none of these.
pub fn read(text: &str) -> Result<Option<Expectation>, String> {
    let all = quotient_expectations::read(text).map_err(|malformed| malformed.to_string())?;
    let Some(raw) = Expected::with(&all, &RAW) else { return Ok(None) };
    let kinds = ErrorKinds(raw.kinds().into_iter().map(ErrorKind::named).collect());
    let exactly = |figure| raw.figure(Bound::Exactly, figure);
    let (states, transitions) = match (exactly(Figure::States), exactly(Figure::Transitions)) {
        (Some(states), Some(transitions)) => (states, transitions),
        (None, None) => return Ok(Some(Expectation::Own(kinds))),
        _ => return Err("states and transitions are pinned together".into()),
    };
    let default = Expected::with(&all, &DEFAULT).ok_or("nothing is expected of the default reductions")?;
    // Where our default mode has more states for a reason that the model gives, there is no bound.
    let default_states = default.figure(Bound::AtMost, Figure::States).unwrap_or(u64::MAX);
    Ok(Some(Expectation::Pinned(Pinned { states, transitions, errors: kinds, default_states })))
}

/// The text with these expectations replaced by `pinned` (or with them at the end).
pub fn write(text: &str, pinned: &Pinned) -> String {
    let count = |bound, number, figure| Clause::Count(bound, number, figure);
    let counts = [
        count(Bound::Exactly, pinned.states, Figure::States),
        count(Bound::Exactly, pinned.transitions, Figure::Transitions),
    ];
    let bound = [count(Bound::AtMost, pinned.default_states, Figure::States)];
    let written = with(text, &RAW, pinned, &counts);
    with(&written, &DEFAULT, pinned, &bound)
}

/// The text with the expectation of one run replaced.
fn with(text: &str, options: &[&str], pinned: &Pinned, figures: &[Clause]) -> String {
    let all = quotient_expectations::read(text).unwrap_or_default();
    let old = Expected::with(&all, options).cloned().unwrap_or_else(|| Expected {
        lines: Vec::new(),
        options: options.iter().map(|&option| option.to_owned()).collect(),
        clauses: Vec::new(),
    });
    // SPIN's words are coarser than ours: what is said stays where it means the same.
    let same = ErrorKinds(old.kinds().into_iter().map(ErrorKind::named).collect()) == pinned.errors
        && !old.clauses.is_empty();
    let mut clauses: Vec<Clause> = match same {
        true => old.clauses.iter().filter(|c| !matches!(c, Clause::Count(..))).cloned().collect(),
        false => verdict(&pinned.errors),
    };
    clauses.extend_from_slice(figures);
    quotient_expectations::rewrite(text, &old, &clauses, "//")
}

fn verdict(errors: &ErrorKinds) -> Vec<Clause> {
    let kind = |kind: &ErrorKind| (*kind != ErrorKind::Other).then(|| kind.name().to_owned());
    match errors.0.is_empty() {
        true => vec![Clause::Holds],
        false => errors.0.iter().map(|k| Clause::Violated { kind: kind(k), line: None }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Pinned {
        let errors = ErrorKinds::parse("deadlock").unwrap();
        Pinned { states: 3, transitions: 2, errors, default_states: 2 }
    }

    #[test]
    fn written_headers_read_back_and_replace_old_ones() {
        let first = write("// a model\nbyte x;\n", &sample());
        assert_eq!(read(&first).unwrap(), Some(Expectation::Pinned(sample())));
        let mut other = sample();
        other.states = 4;
        let second = write(&first, &other);
        assert_eq!(read(&second).unwrap(), Some(Expectation::Pinned(other)));
        assert_eq!(second.matches("quotient:").count(), 2);
        assert!(second.starts_with(
            "// a model\nbyte x;\n// quotient: --raw --all --safety => violated deadlock, states 4, transitions 2\n"
        ));
        assert!(second.ends_with("// quotient: --all --safety => violated deadlock, at most 2 states\n"));
    }

    #[test]
    fn own_semantics_have_no_counts() {
        let text =
            "// quotient: --raw --all --safety => violated index\n// why: memory beside the array\nbyte x;\n";
        let expected = ErrorKinds::parse("index").unwrap();
        assert_eq!(read(text).unwrap(), Some(Expectation::Own(expected)));
    }

    #[test]
    fn kinds_that_spin_has_no_word_for_stay() {
        let text = "// quotient: --raw --all --safety => violated division, states 1, transitions 1\n\
                    // quotient: --all --safety => violated division, at most 1 states\n";
        let Some(Expectation::Pinned(mut pinned)) = read(text).unwrap() else { panic!("counts") };
        assert_eq!(pinned.errors.to_string(), "other");
        pinned.states = 2;
        assert!(write(text, &pinned).contains("violated division, states 2, transitions 1\n"));
    }

    #[test]
    fn broken_headers_are_errors() {
        assert_eq!(read("byte x;\n").unwrap(), None);
        assert!(read("// quotient: --raw --all --safety => holds, states 1, transitions 1\n").is_err());
        assert!(read("// quotient: --raw --all --safety => holds, states x\n").is_err());
        assert!(read("// quotient: --raw --all --safety => holds, states 1\n").is_err());
    }
}
