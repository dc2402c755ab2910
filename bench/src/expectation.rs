//! Expectation headers: comment lines at the top of a model that pin what a checker must answer.
//!
//! ```text
//! // expect: states=12 transitions=20 errors=assertion,deadlock
//! // spin-default: states=9
//! ```
//!
//! or, where SPIN's answer must not be pinned, what a sound checker should say and why SPIN is
//! not the reference:
//!
//! ```text
//! // expect-own: errors=index
//! // why: SPIN goes on with the memory beside the array
//! ```

use crate::error_kind::ErrorKinds;

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

const EXPECT: &str = "// expect: ";
const OWN: &str = "// expect-own: ";
const EXCEEDS: &str = "// default-exceeds: ";
const DEFAULT: &str = "// spin-default: ";

/// Reads the header of a model; `Ok(None)` when it has none.
pub fn read(text: &str) -> Result<Option<Expectation>, String> {
    let header: Vec<&str> = text.lines().take_while(|line| line.starts_with("//")).collect();
    let find = |prefix: &str| header.iter().find_map(|line| line.strip_prefix(prefix));
    if let Some(own) = find(OWN) {
        return Ok(Some(Expectation::Own(errors(own)?)));
    }
    let Some(expect) = find(EXPECT) else { return Ok(None) };
    let default = find(DEFAULT).ok_or("an `expect` line without a `spin-default` line")?;
    Ok(Some(Expectation::Pinned(Pinned {
        states: number(expect, "states")?,
        transitions: number(expect, "transitions")?,
        errors: errors(expect)?,
        // Where our default mode has more states for a reason that the header gives, there is no bound.
        default_states: match find(EXCEEDS) {
            Some(_) => u64::MAX,
            None => number(default, "states")?,
        },
    })))
}

/// The text with its header replaced by `pinned` (or with one added at the top).
pub fn write(text: &str, pinned: &Pinned) -> String {
    let mut result = format!(
        "{EXPECT}states={} transitions={} errors={}\n{DEFAULT}states={}\n",
        pinned.states, pinned.transitions, pinned.errors, pinned.default_states
    );
    let mut in_header = true;
    for line in text.lines() {
        in_header &= line.starts_with("//");
        if !(in_header && (line.starts_with(EXPECT) || line.starts_with(DEFAULT))) {
            result.push_str(line);
            result.push('\n');
        }
    }
    result
}

fn field<'a>(line: &'a str, name: &str) -> Result<&'a str, String> {
    line.split_whitespace()
        .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        .ok_or_else(|| format!("no `{name}=` in `{line}`"))
}

fn number(line: &str, name: &str) -> Result<u64, String> {
    field(line, name)?.parse().map_err(|_| format!("`{name}=` is not a number in `{line}`"))
}

fn errors(line: &str) -> Result<ErrorKinds, String> {
    ErrorKinds::parse(field(line, "errors")?).ok_or_else(|| format!("unknown error kind in `{line}`"))
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
        assert_eq!(second.matches("expect:").count(), 1);
        assert!(second.ends_with("// a model\nbyte x;\n"));
    }

    #[test]
    fn own_semantics_have_no_counts() {
        let text = "// expect-own: errors=index\n// why: memory beside the array\nbyte x;\n";
        let expected = ErrorKinds::parse("index").unwrap();
        assert_eq!(read(text).unwrap(), Some(Expectation::Own(expected)));
    }

    #[test]
    fn broken_headers_are_errors() {
        assert_eq!(read("byte x;\n").unwrap(), None);
        assert!(read("// expect: states=1 transitions=1 errors=none\n").is_err());
        assert!(read("// expect: states=x transitions=1 errors=none\n// spin-default: states=1\n").is_err());
        assert!(read("// expect-own: errors=fire\n").is_err());
    }
}
