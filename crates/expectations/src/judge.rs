//! Clauses against the JSON document of a run.

use serde_json::Value;

use crate::{Bound, Clause};

/// Something that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What was expected.
    pub expected: String,
    /// What the answer says instead.
    pub found: String,
}

/// What an answer says about the verdict, as clauses with everything that is known.
fn verdict(document: &Value) -> Vec<Clause> {
    let place = |v: &Value| v["at"].as_str()?.rsplit(':').next()?.parse::<u64>().ok();
    let text = |v: &Value| v.as_str().map(str::to_owned);
    match document["verdict"].as_str() {
        Some("holds") => vec![Clause::Holds],
        Some("violated") => {
            let violations = document["violations"].as_array().map(Vec::as_slice).unwrap_or_default();
            let mut all: Vec<Clause> = Vec::new();
            for violation in violations {
                let clause = Clause::Violated { kind: text(&violation["kind"]), line: place(violation) };
                if !all.contains(&clause) {
                    all.push(clause);
                }
            }
            if all.is_empty() { vec![Clause::Violated { kind: None, line: None }] } else { all }
        }
        Some("undecided") => vec![Clause::Undecided(text(&document["incomplete"]["kind"]))],
        _ => vec![Clause::Error(document["errors"][0]["line"].as_u64())],
    }
}

/// Is what was found an instance of what is expected?
fn matches(expected: &Clause, found: &Clause) -> bool {
    fn may<T: PartialEq>(expected: &Option<T>, found: &Option<T>) -> bool {
        expected.is_none() || expected == found
    }
    match (expected, found) {
        (Clause::Violated { kind, line }, Clause::Violated { kind: k, line: l }) => {
            may(kind, k) && may(line, l)
        }
        (Clause::Undecided(kind), Clause::Undecided(k)) => may(kind, k),
        (Clause::Error(line), Clause::Error(l)) => may(line, l),
        _ => expected == found,
    }
}

/// All that is not as the clauses say.
pub fn judge(clauses: &[Clause], document: &Value) -> Vec<Difference> {
    let mut differences = Vec::new();
    let found = verdict(document);
    let message = document["message"]
        .as_str()
        .map(|m| format!(": {}", m.lines().next().unwrap_or("")))
        .unwrap_or_default();
    let all = found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ") + &message;
    let expected: Vec<&Clause> = clauses.iter().filter(|c| c.is_verdict()).collect();
    for clause in &expected {
        if !found.iter().any(|f| matches(clause, f)) {
            differences.push(Difference { expected: clause.to_string(), found: all.clone() });
        }
    }
    if !expected.is_empty() && differences.is_empty() {
        for extra in found.iter().filter(|f| !expected.iter().any(|clause| matches(clause, f))) {
            differences.push(Difference { expected: "no other violation".into(), found: extra.to_string() });
        }
    }
    for clause in clauses {
        match clause {
            Clause::Count(bound, expected, figure) => {
                let found = document[figure.name()].as_u64();
                let met = found.is_some_and(|n| match bound {
                    Bound::Exactly => n == *expected,
                    Bound::AtMost => n <= *expected,
                });
                if !met {
                    let found = found.map_or_else(
                        || format!("no {} in the answer ({all})", figure.name()),
                        |n| format!("{} {n}", figure.name()),
                    );
                    differences.push(Difference { expected: clause.to_string(), found });
                }
            }
            Clause::Assertion { verdict, name } => {
                let answers = document["answers"].as_array().into_iter().flatten();
                let said =
                    answers.filter(|a| a["assertion"] == name.as_str()).find_map(|a| a["verdict"].as_str());
                if said != Some(verdict) {
                    let found = said.map_or_else(
                        || format!("no assertion `{name}` in the answer"),
                        |v| format!("{v} {name}"),
                    );
                    differences.push(Difference { expected: clause.to_string(), found });
                }
            }
            _ => {}
        }
    }
    differences
}

/// What the clauses would have to be for this answer: as much is said as before. Without clauses, the verdict.
pub fn bless(clauses: &[Clause], document: &Value) -> Vec<Clause> {
    let (kinds, lines) =
        clauses.iter().fold((clauses.is_empty(), clauses.is_empty()), |(k, l), clause| match clause {
            Clause::Violated { kind, line } => (k || kind.is_some(), l || line.is_some()),
            Clause::Error(line) => (k, l || line.is_some()),
            Clause::Undecided(kind) => (k || kind.is_some(), l),
            Clause::Holds => (true, l),
            _ => (k, l),
        });
    let mut blessed: Vec<Clause> = Vec::new();
    if clauses.is_empty() || clauses.iter().any(Clause::is_verdict) {
        for clause in verdict(document) {
            let clause = match clause {
                Clause::Violated { kind, line } => {
                    Clause::Violated { kind: kind.filter(|_| kinds), line: line.filter(|_| lines) }
                }
                Clause::Undecided(kind) => Clause::Undecided(kind.filter(|_| kinds)),
                Clause::Error(line) => Clause::Error(line.filter(|_| lines)),
                other => other,
            };
            if !blessed.contains(&clause) {
                blessed.push(clause);
            }
        }
    }
    for clause in clauses {
        match clause {
            Clause::Count(bound, number, figure) => {
                let found = document[figure.name()].as_u64();
                let kept = *bound == Bound::AtMost && found.is_some_and(|n| n <= *number);
                if let Some(found) = found {
                    blessed.push(Clause::Count(*bound, if kept { *number } else { found }, *figure));
                }
            }
            Clause::Assertion { name, .. } => {
                let answers = document["answers"].as_array().into_iter().flatten();
                let said =
                    answers.filter(|a| a["assertion"] == name.as_str()).find_map(|a| a["verdict"].as_str());
                blessed.extend(
                    said.map(|verdict| Clause::Assertion { verdict: verdict.into(), name: name.clone() }),
                );
            }
            _ => {}
        }
    }
    blessed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn clauses(text: &str) -> Vec<Clause> {
        text.split(", ").map(|c| Clause::parse(c).unwrap()).collect()
    }

    fn violated() -> Value {
        json!({ "verdict": "violated", "message": null, "states": 12, "transitions": 20, "violations": [
            { "kind": "assertion", "at": "m.pml:19" }, { "kind": "deadlock", "at": null } ] })
    }

    #[test]
    fn every_violation_is_expected_and_every_expectation_met() {
        let differ = |text: &str| judge(&clauses(text), &violated()).len();
        assert_eq!(differ("violated"), 0);
        assert_eq!(differ("violated assertion, violated deadlock"), 0);
        assert_eq!(differ("violated assertion line 19, violated deadlock, states 12"), 0);
        assert_eq!(differ("violated assertion"), 1, "the deadlock is not expected");
        assert_eq!(differ("violated assertion line 18, violated deadlock"), 1);
        assert_eq!(differ("holds"), 1);
        assert_eq!(differ("undecided"), 1);
        assert_eq!(differ("states 12"), 0, "nothing is said about the verdict");
        assert_eq!(differ("states 13, at most 11 states, at most 12 states, depth 3"), 3);
    }

    #[test]
    fn an_unexpected_pass_is_a_difference() {
        let holds = json!({ "verdict": "holds", "violations": [], "message": null });
        assert_eq!(judge(&clauses("violated"), &holds).len(), 1);
        assert_eq!(judge(&clauses("undecided time"), &holds).len(), 1);
        assert_eq!(judge(&clauses("error"), &holds).len(), 1);
        assert_eq!(judge(&clauses("holds"), &holds), []);
    }

    #[test]
    fn reasons_places_and_assertions() {
        let undecided = json!({ "verdict": "undecided", "message": "m", "incomplete": { "kind": "time" } });
        assert_eq!(judge(&clauses("undecided"), &undecided), []);
        assert_eq!(judge(&clauses("undecided memory"), &undecided).len(), 1);
        let error = json!({ "verdict": "error", "message": "m", "errors": [{ "line": 3 }] });
        assert_eq!(judge(&clauses("error line 3"), &error), []);
        assert_eq!(judge(&clauses("error line 4"), &error).len(), 1);
        let proved = json!({ "verdict": "holds", "answers": [{ "assertion": "room", "verdict": "proved" }] });
        assert_eq!(judge(&clauses("holds, proved room"), &proved), []);
        assert_eq!(judge(&clauses("refuted room, proved door"), &proved).len(), 2);
    }

    #[test]
    fn blessing_says_as_much_as_before() {
        let say = |text: &str| {
            let old = if text.is_empty() { Vec::new() } else { clauses(text) };
            let new = bless(&old, &violated());
            assert_eq!(judge(&new, &violated()), [], "{text}");
            new.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(say(""), "violated assertion line 19, violated deadlock");
        assert_eq!(say("holds, states 5"), "violated assertion, violated deadlock, states 12");
        assert_eq!(say("violated, at most 20 states"), "violated, at most 20 states");
        assert_eq!(say("at most 2 states, executions 5"), "at most 12 states");
    }
}
