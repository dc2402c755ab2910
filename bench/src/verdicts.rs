//! `verdicts`: the same verdicts as SPIN on temporal claims, on any folder of models.
//!
//! A model with `ltl` blocks or `never` claims is asked for each of them (`pan -a -N name`); one without, but with accept labels,
//! for acceptance cycles. SPIN is told to leave invalid end states aside (`-E`), and assertions too (`-A`) where the model has one
//! that fails, so that an error is one of the claim. (SPIN turns `[] p` into an assertion of the claim, which `-A` would leave out
//! as well.) Quotient runs with its default reductions.

use crate::process;
use crate::quotient;
use crate::spin::{self, Failure, Limits};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `verdicts`.
#[derive(clap::Args)]
pub struct Options {
    /// Models, or folders to search for `.pml` files
    paths: Vec<PathBuf>,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
    /// More options for `quotient check`, such as `--por=off`
    #[arg(long, allow_hyphen_values = true)]
    with: Vec<String>,
    /// CPU seconds per claim and checker
    #[arg(long, default_value_t = 60)]
    cpu: u64,
    /// Memory bound for SPIN, in MiB
    #[arg(long, default_value_t = 4096)]
    memory: u64,
}

/// One claim of a model, as Quotient answered it.
#[derive(Debug, PartialEq)]
struct Claim {
    /// The name that SPIN knows it by, if it has one.
    name: Option<String>,
    text: String,
    /// `None`: undecided.
    holds: Option<bool>,
}

/// What Quotient said about a model.
#[derive(Debug, Default)]
struct Said {
    claims: Vec<Claim>,
    /// An assertion of the model itself fails.
    asserts: bool,
}

/// Runs the subcommand; `Ok(false)` when a verdict differs.
pub fn run(options: &Options) -> Result<bool, String> {
    let version = spin::version()?;
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    if !binary.exists() {
        return Err(format!("no quotient at {}; build it or pass --quotient", binary.display()));
    }
    let models = crate::instance::models_under(&options.paths)?;
    let limits = Limits {
        optimisation: "-O1",
        cpu_seconds: options.cpu,
        memory_mebibytes: options.memory,
        hash_bits: 20,
        max_depth: 20_000_000,
    };
    println!("{version}: spin -a; pan -a -E -N claim. quotient check --all {}", options.with.join(" "));
    let (mut agree, mut differ, mut skipped) = (0, 0, 0);
    for model in models {
        let Said { claims, asserts } = match claims(&binary, &model, options) {
            Ok(said) if said.claims.is_empty() => continue,
            Ok(said) => said,
            Err(why) => {
                skipped += 1;
                println!("skipped {}: {why}", model.display());
                continue;
            }
        };
        let several = claims.len() > 1;
        let pan = spin::build_with_claims(&model, &limits);
        for claim in &claims {
            let name = claim.name.as_deref().filter(|_| several);
            let spin =
                pan.as_ref().map_err(Clone::clone).and_then(|pan| pan.claim_holds(&limits, name, asserts));
            let (word, text) = judge(claim.holds, spin);
            match word {
                "agree" => agree += 1,
                "DIFFER" => differ += 1,
                _ => skipped += 1,
            }
            println!("{word:8}{}: {}: {text}", model.display(), claim.text);
        }
    }
    println!("{agree} agree, {differ} differ, {skipped} skipped");
    Ok(differ == 0)
}

fn judge(ours: Option<bool>, spin: Result<bool, Failure>) -> (&'static str, String) {
    let word = |holds| if holds { "holds" } else { "violated" };
    match (ours, spin) {
        (Some(ours), Ok(spin)) if ours == spin => ("agree", word(ours).into()),
        (Some(ours), Ok(spin)) => ("DIFFER", format!("SPIN {}, quotient {}", word(spin), word(ours))),
        (None, _) => ("skipped", "quotient is undecided".into()),
        (_, Err(Failure::OverTheCap(what))) => ("skipped", format!("SPIN over the cap: {what}")),
        (_, Err(Failure::Failed(why))) => ("skipped", format!("spin failed: {why}")),
    }
}

/// A file with the files that it includes, as far as they can be read.
fn with_included(file: &Path, depth: u32) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut out = text.clone();
    for line in text.lines().filter(|_| depth > 0) {
        let Some(rest) = line.trim_start().strip_prefix('#') else { continue };
        let Some(name) = rest.trim_start().strip_prefix("include").and_then(|r| r.split('"').nth(1)) else {
            continue;
        };
        out.push_str(&with_included(&file.with_file_name(name), depth - 1));
    }
    out
}

/// Can a model with this text have a temporal claim, or accept labels?
fn may_claim(text: &str) -> bool {
    let code = code(text);
    let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| matches!(word, "ltl" | "never") || word.starts_with("accept"))
}

/// The claims of a model with Quotient's answers; none for models without temporal claims.
fn claims(binary: &Path, model: &Path, options: &Options) -> Result<Said, String> {
    let text = std::fs::read_to_string(model).map_err(|error| error.to_string())?;
    if !may_claim(&with_included(model, 8)) {
        return Ok(Said::default());
    }
    let mut command = Command::new(binary);
    command.args(["check", "--all", "--json"]).args(&options.with);
    // Without claims, accept labels of processes are asked for.
    let (found, asserts) = answers(&mut command, model, options.cpu)?;
    if !found.is_empty() {
        let mut names = ltl_names(&text).into_iter();
        let claim = |(text, holds): (String, Option<bool>)| {
            let name = if text.starts_with("ltl") { names.next().flatten() } else { None };
            Claim { name, text, holds }
        };
        return Ok(Said { claims: found.into_iter().map(claim).collect(), asserts });
    }
    if !text.contains("accept") {
        return Ok(Said::default());
    }
    let mut command = Command::new(binary);
    command.args(["check", "--all", "--json", "--acceptance"]).args(&options.with);
    let (found, asserts) = answers(&mut command, model, options.cpu)?;
    let claims = found.into_iter().map(|(text, holds)| Claim { name: None, text, holds }).collect();
    Ok(Said { claims, asserts })
}

/// The answers to everything but the safety question, in words, and whether it holds; and whether an assertion fails.
#[allow(clippy::type_complexity, reason = "one use, named in the comment")]
fn answers(
    command: &mut Command,
    model: &Path,
    cpu_seconds: u64,
) -> Result<(Vec<(String, Option<bool>)>, bool), String> {
    let finished = process::run(command.arg(model), Some(cpu_seconds))?;
    if finished.over_cpu_limit() {
        return Err(format!("quotient over the cap: {cpu_seconds} s of CPU time"));
    }
    let json: Value = serde_json::from_str(&finished.stdout)
        .map_err(|_| format!("quotient gave no answer: {}", finished.stderr.lines().next().unwrap_or("")))?;
    if json["verdict"] == "error" {
        let message = json["message"].as_str().unwrap_or("").lines().next().unwrap_or("").to_owned();
        return Err(format!("quotient refused: {message}"));
    }
    let list = json["answers"].as_array().cloned().unwrap_or_default();
    let asked = list.iter().filter(|a| a["question"] != "safety");
    let answer = |a: &Value| {
        let holds = match a["verdict"].as_str() {
            Some("holds") => Some(true),
            Some("violated") => Some(false),
            _ => None,
        };
        (a["text"].as_str().unwrap_or("").to_owned(), holds)
    };
    let violations = json["violations"].as_array().cloned().unwrap_or_default();
    let asserts = violations.iter().any(|v| v["kind"] == "assertion");
    Ok((asked.map(answer).collect(), asserts))
}

/// A text without comments and strings.
fn code(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(['"', '/']) {
        out.push_str(&rest[..at]);
        let from = &rest[at..];
        let end = if let Some(comment) = from.strip_prefix("/*") {
            comment.find("*/").map(|e| e + 4)
        } else if from.starts_with("//") {
            from.find('\n')
        } else if let Some(string) = from.strip_prefix('"') {
            string.find('"').map(|e| e + 2)
        } else {
            out.push('/');
            rest = &from[1..];
            continue;
        };
        out.push(' ');
        rest = end.map_or("", |end| &from[end..]);
    }
    out + rest
}

/// The names of the `ltl` blocks of a model, in order.
fn ltl_names(text: &str) -> Vec<Option<String>> {
    let code = code(text);
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = Vec::new();
    for (at, _) in code.match_indices("ltl") {
        let rest = &code[at + 3..];
        if code[..at].ends_with(is_name) || rest.starts_with(is_name) {
            continue;
        }
        // The formula follows in braces or, in older models, between other marks.
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        out.push((end > 0).then(|| rest[..end].to_owned()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_count() {
        assert_eq!(judge(Some(true), Ok(true)).0, "agree");
        assert_eq!(judge(Some(true), Ok(false)).0, "DIFFER");
        assert_eq!(judge(None, Ok(false)).0, "skipped");
    }

    #[test]
    fn models_that_claim_nothing() {
        assert!(may_claim("ltl p { [] x }") && may_claim("never { skip }") && may_claim("accept_all: skip"));
        assert!(!may_claim("byte nevermore, xltl; printf(\"ltl { \"); /* never */ x = 1 / 2 // accept\n"));
    }

    #[test]
    fn names_of_blocks() {
        let text = "/* ltl */ ltl p1 { [] x }\n ltl { <> y }\nltlx\nltl p2 $ always z $\n";
        assert_eq!(ltl_names(text), [Some("p1".to_owned()), None, Some("p2".to_owned())]);
    }
}
