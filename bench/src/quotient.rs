//! Running `quotient check --json` and reading its answer.

use crate::error_kind::{ErrorKind, ErrorKinds};
use crate::process::{self, Finished};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The binary to compare with SPIN when none is named: the one built beside this tool.
pub fn default_binary() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("quotient")));
    match beside {
        Some(path) if path.exists() => path,
        _ => PathBuf::from("target/release/quotient"),
    }
}

/// The figures of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Distinct stored states.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// Kinds of all violations.
    pub errors: ErrorKinds,
    /// Bytes held by the visited set.
    pub store_bytes: Option<u64>,
    /// CPU time of the search alone.
    pub search_seconds: Option<f64>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// A limit was reached.
    OverTheCap(String),
    /// The model was refused.
    Refused(String),
    /// The program crashed or printed something that is not an answer. This is never a reason to
    /// skip a model: callers count it as a difference.
    Broken(String),
}

/// Runs `quotient check OPTIONS --json MODEL`.
pub fn check(
    binary: &Path,
    options: &[&str],
    model: &Path,
    cpu_seconds: Option<u64>,
) -> Result<(Answer, Finished), Failure> {
    let mut command = Command::new(binary);
    // SPIN is compiled with -DNOCLAIM: claims are left aside on both sides.
    command.arg("check").args(options).args(["--safety", "--json"]).arg(model);
    // CPU time is that of one worker, as SPIN's is.
    if !options.contains(&"--workers") {
        command.args(["--workers", "1"]);
    }
    let finished = process::run(&mut command, cpu_seconds).map_err(Failure::Broken)?;
    if finished.over_cpu_limit() {
        return Err(Failure::OverTheCap(format!("{} s of CPU time", cpu_seconds.unwrap_or(0))));
    }
    if let Some(signal) = finished.signal {
        return Err(Failure::Broken(format!("ended by signal {signal}")));
    }
    if finished.status == Some(101) {
        return Err(Failure::Broken(format!("panicked: {}", first_line(&finished.stderr))));
    }
    match parse(&finished.stdout) {
        Ok(answer) => Ok((answer, finished)),
        Err(Failure::Broken(_)) if finished.status == Some(2) => {
            Err(Failure::Refused(first_line(&finished.stderr)))
        }
        Err(failure) => Err(failure),
    }
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no message").to_string()
}

/// Reads the JSON object that `check --json` prints.
fn parse(text: &str) -> Result<Answer, Failure> {
    let json: Value =
        serde_json::from_str(text).map_err(|error| Failure::Broken(format!("not JSON: {error}")))?;
    let message = || match json["message"].as_str().or(json["violations"][0]["message"].as_str()) {
        Some(message) => message.to_string(),
        None => "no message".to_string(),
    };
    match json["verdict"].as_str() {
        Some("holds" | "violated") => {}
        Some("undecided") => return Err(Failure::OverTheCap(message())),
        Some("error") => return Err(Failure::Refused(message())),
        other => return Err(Failure::Broken(format!("verdict {other:?}"))),
    }
    let (Some(states), Some(transitions)) = (json["states"].as_u64(), json["transitions"].as_u64()) else {
        return Err(Failure::Broken("no states or transitions in the answer".into()));
    };
    let listed = json["violations"].as_array().into_iter().flatten();
    let kinds: std::collections::BTreeSet<ErrorKind> =
        listed.map(|violation| ErrorKind::named(violation["kind"].as_str().unwrap_or("other"))).collect();
    if json["verdict"] == "violated" && kinds.is_empty() {
        return Err(Failure::Broken("violated, but no violation in the answer".into()));
    }
    Ok(Answer {
        states,
        transitions,
        errors: ErrorKinds(kinds),
        store_bytes: json["store_bytes"].as_u64(),
        search_seconds: json["search_seconds"].as_f64(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_violations() {
        let answer = parse(
            r#"{"verdict":"violated","violations":[{"kind":"assertion"},{"kind":"deadlock"},{"kind":"deadlock"}],
                "states":12,"transitions":20,"depth":5,"store_bytes":96,"search_seconds":0.5,"reductions":{}}"#,
        );
        let answer = answer.unwrap();
        assert_eq!(answer.search_seconds, Some(0.5));
        assert_eq!((answer.states, answer.transitions, answer.store_bytes), (12, 20, Some(96)));
        assert_eq!(answer.errors.to_string(), "assertion,deadlock");
    }

    #[test]
    fn missing_optional_fields() {
        let answer = parse(r#"{"verdict":"holds","states":1,"transitions":0}"#).unwrap();
        assert_eq!(answer.errors, ErrorKinds::default());
        assert_eq!(answer.store_bytes, None);
    }

    #[test]
    fn kinds_that_are_not_in_the_list_are_other() {
        let text = r#"{"verdict":"violated","violations":[{"kind":"fault"}],"states":1,"transitions":0}"#;
        assert_eq!(parse(text).unwrap().errors.to_string(), "other");
    }

    #[test]
    fn no_answer() {
        assert!(matches!(parse(r#"{"verdict":"undecided","states":9}"#), Err(Failure::OverTheCap(_))));
        let refused = parse(r#"{"verdict":"error","message":"c_code is not supported"}"#);
        assert_eq!(refused, Err(Failure::Refused("c_code is not supported".into())));
        assert!(matches!(parse(r#"{"verdict":"holds"}"#), Err(Failure::Broken(_))));
        assert!(matches!(
            parse(r#"{"verdict":"violated","states":1,"transitions":1}"#),
            Err(Failure::Broken(_))
        ));
        assert!(matches!(parse(""), Err(Failure::Broken(_))));
    }
}
