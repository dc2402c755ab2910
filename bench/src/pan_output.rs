//! Reading what SPIN's generated verifier (`pan`) prints.

use crate::error_kind::{ErrorKind, ErrorKinds};

/// The figures of one finished run of `pan`.
#[derive(Clone, Debug, PartialEq)]
pub struct PanOutput {
    /// "states, stored".
    pub states: u64,
    /// Transitions taken: `pan` counts the initial state as one, which is subtracted here.
    pub transitions: u64,
    /// The kinds of error reported.
    pub errors: ErrorKinds,
    /// "State-vector N byte".
    pub vector_bytes: Option<u64>,
    /// "actual memory usage for states", in bytes; absent on tiny state spaces.
    pub state_bytes: Option<f64>,
}

/// Why a run of `pan` gives no figures.
#[derive(Clone, Debug, PartialEq)]
pub enum Incomplete {
    /// The search was cut at the depth given with `-m`: run again deeper.
    Depth,
    /// The search stopped early for another reason.
    Stopped(String),
    /// There was no result to read.
    Unreadable(String),
}

/// Messages after which `pan` stops the whole search although it was told to go on (`-c0`), so
/// that its counts say nothing.
const FATAL: [&str; 6] = [
    "block in d_step",
    "rv-attempt in d_step",
    "too many processes",
    "too many queues",
    "VECTORSZ",
    "non-determinism in event-trace",
];

/// Reads the complete standard output of `pan`.
pub fn parse(output: &str) -> Result<PanOutput, Incomplete> {
    if output.contains("max search depth too small") {
        return Err(Incomplete::Depth);
    }
    let fatal = output.lines().find(|line| is_report(line) && FATAL.iter().any(|word| line.contains(word)));
    if let Some(line) = fatal {
        return Err(Incomplete::Stopped(line.to_string()));
    }
    if output.contains("Search not completed") {
        let reason = output.lines().find(|line| line.starts_with("pan: ")).unwrap_or("search not completed");
        return Err(Incomplete::Stopped(reason.to_string()));
    }
    let (Some(states), Some(transitions)) =
        (count_before(output, " states, stored"), count_before(output, " transitions (="))
    else {
        let first = output.lines().find(|line| !line.trim().is_empty()).unwrap_or("no output");
        return Err(Incomplete::Unreadable(first.to_string()));
    };
    Ok(PanOutput {
        states: states as u64,
        transitions: (transitions as u64).saturating_sub(1),
        errors: error_kinds(output),
        vector_bytes: output
            .lines()
            .find_map(|line| line.strip_prefix("State-vector "))
            .and_then(|rest| rest.split_whitespace().next())
            .and_then(|number| number.parse().ok()),
        state_bytes: count_before(output, "\tactual memory usage for states")
            .map(|megabytes| megabytes * 1048576.0),
    })
}

/// A line of the form `pan:7: message (at depth 12)`.
fn is_report(line: &str) -> bool {
    line.strip_prefix("pan:").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The kinds of all error reports in the output.
fn error_kinds(output: &str) -> ErrorKinds {
    let mut kinds = ErrorKinds::default();
    for line in output.lines().filter(|line| is_report(line)) {
        let Some((_, message)) = line.split_once(": ") else { continue };
        kinds.0.insert(classify(message));
    }
    kinds
}

/// `pan` reports a bad index as a failed assertion with a fixed text, so the order matters.
fn classify(message: &str) -> ErrorKind {
    if message.contains("invalid array index") {
        ErrorKind::Index
    } else if message.starts_with("assertion violated") {
        ErrorKind::Assertion
    } else if message.starts_with("invalid end state") {
        ErrorKind::Deadlock
    } else if message.contains("event_trace") {
        ErrorKind::Trace
    } else if ["queue", "chan", "pars in receive", "parameters in send", "fields in recv"]
        .iter()
        .any(|words| message.contains(words))
    {
        ErrorKind::Channel
    } else {
        ErrorKind::Other
    }
}

/// The number that stands directly before `label`, which `pan` may print as `1.5e+08`.
fn count_before(output: &str, label: &str) -> Option<f64> {
    let line = output.lines().find(|line| line.contains(label))?;
    let before = &line[..line.find(label)?];
    before.split_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLETE: &str = "\
pan:1: invalid end state (at depth 3)
pan:2: assertion violated (x<4) (at depth 5)
pan:3: assertion violated - invalid array index (at depth 6)

(Spin Version 6.5.2 -- 6 December 2019)

Full statespace search for:
\tnever claim         \t- (none specified)

State-vector 28 byte, depth reached 9, errors: 3
       46 states, stored
       23 states, matched
       69 transitions (= stored+matched)
        0 atomic steps
hash conflicts:         0 (resolved)

Stats on memory usage (in Megabytes):
    0.002\tequivalent memory usage for states (stored*(State-vector + overhead))
    0.500\tactual memory usage for states
";

    #[test]
    fn figures_and_kinds() {
        let read = parse(COMPLETE).unwrap();
        assert_eq!((read.states, read.transitions), (46, 68));
        assert_eq!(read.errors.to_string(), "assertion,deadlock,index");
        assert_eq!(read.vector_bytes, Some(28));
        assert_eq!(read.state_bytes, Some(524288.0));
    }

    #[test]
    fn large_counts_in_exponent_form() {
        let output = " 1.2345679e+08 states, stored\n 2.5e+08 transitions (= stored+matched)\n";
        let read = parse(output).unwrap();
        assert_eq!((read.states, read.transitions), (123456790, 249999999));
    }

    #[test]
    fn too_shallow_is_not_a_result() {
        let output = format!("error: max search depth too small\n{COMPLETE}");
        assert_eq!(parse(&output), Err(Incomplete::Depth));
    }

    #[test]
    fn early_stop_is_not_a_result() {
        let output = format!("pan: reached -DMEMLIM bound\n{COMPLETE}Warning: Search not completed\n");
        assert_eq!(parse(&output), Err(Incomplete::Stopped("pan: reached -DMEMLIM bound".into())));
        let output = format!("pan:1: block in d_step seq, line 4 (at depth 2)\n{COMPLETE}");
        assert!(matches!(parse(&output), Err(Incomplete::Stopped(_))));
    }

    #[test]
    fn no_figures_is_unreadable() {
        assert_eq!(parse("\n"), Err(Incomplete::Unreadable("no output".into())));
        assert_eq!(parse("Segmentation\n"), Err(Incomplete::Unreadable("Segmentation".into())));
    }

    #[test]
    fn messages() {
        assert_eq!(classify("event_trace error (no matching event) (at depth 1)"), ErrorKind::Trace);
        assert_eq!(classify("qrecv bad queue# (at depth 1)"), ErrorKind::Channel);
        assert_eq!(classify("missing pars in receive (at depth 1)"), ErrorKind::Channel);
        assert_eq!(classify("too few parameters in send stmnt (at depth 1)"), ErrorKind::Channel);
        assert_eq!(classify("polling rv chan (at depth 1)"), ErrorKind::Channel);
        assert_eq!(classify("some new text"), ErrorKind::Other);
    }
}
