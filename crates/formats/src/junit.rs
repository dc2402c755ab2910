//! JUnit XML, as CI servers read it: a suite of cases with times, failures, errors and what was skipped.

use std::fmt::Write;

use serde_json::Value;

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it is about: a file.
    pub class: String,
    /// What is asked of it.
    pub name: String,
    /// How long it took.
    pub seconds: f64,
    /// What came of it.
    pub outcome: CaseOutcome,
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseOutcome {
    /// As it should be.
    Passed,
    /// Not as it should be: a line, and the details.
    Failed(String, String),
    /// No answer: a line, and the details.
    Error(String, String),
    /// Not asked.
    Skipped(String),
}

/// A report with one suite.
pub fn junit(suite: &str, cases: &[Case]) -> String {
    let count = |of: fn(&CaseOutcome) -> bool| cases.iter().filter(|c| of(&c.outcome)).count();
    let failures = count(|o| matches!(o, CaseOutcome::Failed(..)));
    let errors = count(|o| matches!(o, CaseOutcome::Error(..)));
    let skipped = count(|o| matches!(o, CaseOutcome::Skipped(_)));
    let seconds: f64 = cases.iter().map(|c| c.seconds).sum();
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.3}\"",
        cases.len()
    );
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"{}\" {counts}>", escaped(suite));
    let _ = writeln!(out, "  <testsuite name=\"{}\" {counts} skipped=\"{skipped}\">", escaped(suite));
    for case in cases {
        let head = format!(
            "<testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
            escaped(&case.class),
            escaped(&case.name),
            case.seconds
        );
        let _ = match &case.outcome {
            CaseOutcome::Passed => writeln!(out, "    {head}/>"),
            CaseOutcome::Failed(message, details) => {
                writeln!(out, "    {head}>{}</testcase>", element("failure", message, details))
            }
            CaseOutcome::Error(message, details) => {
                writeln!(out, "    {head}>{}</testcase>", element("error", message, details))
            }
            CaseOutcome::Skipped(why) => {
                writeln!(out, "    {head}><skipped message=\"{}\"/></testcase>", escaped(why))
            }
        };
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn element(name: &str, message: &str, details: &str) -> String {
    format!("<{name} message=\"{}\">{}</{name}>", escaped(message), escaped(details))
}

/// The cases of a document: one for each question that was asked.
pub fn cases(document: &Value) -> Vec<Case> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let class = document["file"].as_str().unwrap_or("-").to_owned();
    let answers = document["answers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let violations = document["violations"].as_array().map(Vec::as_slice).unwrap_or_default();
    let whole = document["cpu_seconds"].as_f64().unwrap_or(0.0);
    let told = |of: &mut dyn Iterator<Item = &Value>| {
        let lines: Vec<String> = of
            .map(|v| format!("{} ({})", text(&v["message"]), v["at"].as_str().unwrap_or("no place")))
            .collect();
        (lines.first().cloned().unwrap_or_else(|| "violated".into()), lines.join("\n"))
    };
    if answers.is_empty() {
        let outcome = match document["verdict"].as_str() {
            Some("holds") => CaseOutcome::Passed,
            Some("violated") => {
                let (line, all) = told(&mut violations.iter());
                CaseOutcome::Failed(line, all)
            }
            _ => CaseOutcome::Error(text(&document["message"]), String::new()),
        };
        let name = document["command"].as_str().unwrap_or("check").to_owned();
        return vec![Case { class, name, seconds: whole, outcome }];
    }
    let share = whole / answers.len() as f64;
    let case = |answer: &Value| {
        let outcome = match answer["verdict"].as_str() {
            Some("holds" | "proved") => CaseOutcome::Passed,
            Some("assumed") => CaseOutcome::Skipped("assumed".into()),
            Some("violated" | "refuted") => {
                let (line, all) = told(
                    &mut violations
                        .iter()
                        .filter(|v| v["question"].is_null() || v["question"] == answer["question"]),
                );
                CaseOutcome::Failed(line, all)
            }
            _ => {
                let why = answer["message"].as_str().or(answer["reason"].as_str()).unwrap_or("no answer");
                CaseOutcome::Error(why.to_owned(), String::new())
            }
        };
        let name = answer["text"].as_str().or(answer["assertion"].as_str()).unwrap_or("check").to_owned();
        Case { class: class.clone(), name, seconds: answer["cpu_seconds"].as_f64().unwrap_or(share), outcome }
    };
    answers.iter().map(case).collect()
}

/// Text for XML: characters that XML 1.0 cannot have are shown as a replacement character.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
