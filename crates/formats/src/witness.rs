//! Violation witnesses of the Competition on Software Verification (sv-witnesses, YAML, format 2.x).
//!
//! A witness is a sequence of segments, each with waypoints: places that an execution passes (`follow`), with a constraint on values, and at last the
//! `target`, where it goes wrong. Version 2.2 adds `thread_id`: which thread passes the waypoint; segments are passed in their order, whatever
//! the thread. `main` is 0, and the thread that the k-th `function_enter` of the witness at a call of `pthread_create` starts is k. Two targets in the last
//! segment are the two accesses of a data race.
//!
//! What is written: a step that starts a thread is a `function_enter`, every other step of the counterexample an `assumption` that is always true (`1`), in its thread, at its line; a value that the
//! environment chooses is a `function_return` with `\result == VALUE` (an `ext_c_expression`, as version 2.1 calls what version 2.0 calls an `acsl_expression`). Columns are left out, which the format allows:
//! the leftmost suitable place of the line.
//!
//! What is read is any witness of one entry `violation_sequence`: everything that its segments say ([`Condition`]), and apart from that the waypoints to
//! follow with their threads, lines and chosen values. Waypoints to avoid and other constraints are counted as not used by these: they restrict which
//! executions are meant, so whoever uses the waypoints alone has not confirmed the witness.

use std::fmt::Write;

use sha2::{Digest, Sha256};
use yaml_rust2::parser::{Event, Parser};
use yaml_rust2::{Yaml, YamlLoader};

/// The version that is written: the first that names threads.
pub const VERSION: &str = "2.2";

/// What a witness is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The files of the program, with their contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// The property that is violated: what stands in `LTL(…)`.
    pub property: String,
    /// Version of this program.
    pub version: String,
    /// Seconds since 1970.
    pub time: u64,
}

/// What is required at a waypoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// It is passed.
    Passed,
    /// A call there begins; if it starts a thread, the thread gets the next number.
    Enters,
    /// A call there gives this value.
    Gives(i64),
    /// It is where the property is violated.
    Target,
}

/// A waypoint to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waypoint {
    /// The requirement.
    pub requirement: Requirement,
    /// The thread, where it is said.
    pub thread: Option<u32>,
    /// Its file.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// The function around it, where it is said.
    pub function: Option<String>,
}

/// What a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An expression before a statement.
    Assumption,
    /// Which way a branch goes.
    Branching,
    /// A call begins.
    Enter,
    /// What a call gives.
    Return,
    /// Where the property is violated.
    Target,
}

/// A waypoint with everything that it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What it is about.
    pub subject: Subject,
    /// Must no execution that is meant pass it?
    pub avoid: bool,
    /// The constraint as it stands there.
    pub constraint: Option<String>,
    /// The thread, where it is said.
    pub thread: Option<u32>,
    /// Its file.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// Its column, where it is said.
    pub column: Option<u32>,
}

/// A witness that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The property as it stands there.
    pub specification: String,
    /// Hashes of files, by name.
    pub hashes: Vec<(String, String)>,
    /// The segments: waypoints to avoid, and at the end one to follow.
    pub segments: Vec<Vec<Condition>>,
    /// The waypoints to follow, in order.
    pub waypoints: Vec<Waypoint>,
    /// Waypoints and constraints that are not used.
    pub unused: usize,
}

/// SHA-256 in hexadecimal digits.
pub fn hash(contents: &[u8]) -> String {
    Sha256::digest(contents).iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// A string: JSON's strings are YAML's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Days since 1970 as a date of the Gregorian calendar (H. Hinnant's civil_from_days).
fn date(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + u64::from(month <= 2), month, doy - (153 * mp + 2) / 5 + 1)
}

/// The witness: waypoints in order, targets at the end.
pub fn write(about: &About, waypoints: &[Waypoint]) -> String {
    let mut content = String::new();
    let mut in_target = false;
    for waypoint in waypoints {
        let is_target = waypoint.requirement == Requirement::Target;
        // The accesses of a race are one segment.
        if !(is_target && in_target) {
            content.push_str("    - segment:\n");
        }
        in_target = is_target;
        let (kind, constraint) = match waypoint.requirement {
            Requirement::Passed => ("assumption", Some(("1".to_owned(), "c_expression"))),
            Requirement::Gives(value) => {
                ("function_return", Some((format!("\\result == {value}"), "ext_c_expression")))
            }
            Requirement::Enters => ("function_enter", None),
            Requirement::Target => ("target", None),
        };
        let _ =
            writeln!(content, "        - waypoint:\n            type: {kind}\n            action: follow");
        if let Some((value, format)) = constraint {
            let value = quoted(&value);
            let _ = writeln!(
                content,
                "            constraint:\n              value: {value}\n              format: {format}"
            );
        }
        if let Some(thread) = waypoint.thread {
            let _ = writeln!(content, "            thread_id: {thread}");
        }
        let (file, line) = (quoted(&waypoint.file), waypoint.line);
        let _ = writeln!(
            content,
            "            location:\n              file_name: {file}\n              line: {line}"
        );
        if let Some(function) = &waypoint.function {
            let _ = writeln!(content, "              function: {}", quoted(function));
        }
    }
    // The same counterexample has the same name.
    let mut digest = Sha256::digest(format!("{about:?}{content}").as_bytes()).to_vec();
    digest[6] = digest[6] & 0x0f | 0x80;
    digest[8] = digest[8] & 0x3f | 0x80;
    let hex = digest.iter().take(16).fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    });
    let uuid = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..32]].join("-");
    let ((year, month, day), seconds) = (date(about.time / 86_400), about.time % 86_400);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let mut out = format!(
        "- entry_type: violation_sequence\n  metadata:\n    format_version: \"{VERSION}\"\n    uuid: \"{uuid}\"\n    creation_time: \
         \"{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}Z\"\n    producer:\n      name: \"Quotient\"\n      version: {}\n    task:\n      input_files:\n",
        quoted(&about.version)
    );
    for (name, _) in &about.files {
        let _ = writeln!(out, "        - {}", quoted(name));
    }
    out.push_str("      input_file_hashes:\n");
    for (name, contents) in &about.files {
        let _ = writeln!(out, "        {}: \"{}\"", quoted(name), hash(contents));
    }
    let specification = quoted(&format!("CHECK( init(main()), LTL({}) )", about.property));
    let _ = write!(
        out,
        "      specification: {specification}\n      data_model: LP64\n      language: C\n  content:\n"
    );
    out + &content
}

/// Reads a witness.
///
/// # Errors
/// What is wrong with it, or what it has beyond an execution that goes wrong.
pub fn read(text: &str) -> Result<Witness, String> {
    bounded(text)?;
    let documents = YamlLoader::load_from_str(text).map_err(|error| format!("not YAML: {error}"))?;
    let entries = documents.first().and_then(Yaml::as_vec).ok_or("not a list of entries")?;
    let [entry] = entries.as_slice() else {
        return Err(format!("{} entries; only one violating execution can be followed", entries.len()));
    };
    match entry["entry_type"].as_str() {
        Some("violation_sequence") => {}
        Some(other) => return Err(format!("an entry of the type {other}, not violation_sequence")),
        None => return Err("the entry has no entry_type".to_owned()),
    }
    let metadata = &entry["metadata"];
    let version = &metadata["format_version"];
    let version = version.as_str().map(str::to_owned).or_else(|| version.as_f64().map(|v| format!("{v:.1}")));
    match version {
        Some(version) if version.starts_with("2.") => {}
        Some(version) => return Err(format!("format version {version}, not 2.x")),
        None => return Err("the entry has no format_version".to_owned()),
    }
    let task = &metadata["task"];
    let hashes = task["input_file_hashes"].as_hash().map_or_else(Vec::new, |hashes| {
        let pair =
            |(name, hash): (&Yaml, &Yaml)| Some((name.as_str()?.to_owned(), hash.as_str()?.to_owned()));
        hashes.iter().filter_map(pair).collect()
    });
    let specification = task["specification"].as_str().unwrap_or_default().trim().to_owned();
    let (mut waypoints, mut segments, mut unused) = (Vec::new(), Vec::new(), 0);
    for item in entry["content"].as_vec().ok_or("the entry has no content")? {
        let segment = item["segment"].as_vec().ok_or("something in content is not a segment")?;
        let mut conditions = Vec::new();
        for waypoint in segment {
            let waypoint = &waypoint["waypoint"];
            conditions.push(condition(waypoint)?);
            let (waypoint, known) = one(waypoint)?;
            unused += usize::from(!known);
            waypoints.extend(waypoint);
        }
        segments.push(conditions);
    }
    match waypoints.last() {
        Some(last) if last.requirement == Requirement::Target => {}
        _ => return Err("the last waypoint is not a target".to_owned()),
    }
    Ok(Witness { specification, hashes, segments, waypoints, unused })
}

/// Deeper than any witness is nested: the loader of documents calls itself for each level.
const DEEPEST: usize = 64;

/// Refuses what the loader would take a stack or a memory without bounds for: deep nesting, and what stands for a copy of something else.
fn bounded(text: &str) -> Result<(), String> {
    let mut parser = Parser::new_from_str(text);
    let mut depth = 0_usize;
    loop {
        match parser.next_token().map_err(|error| format!("not YAML: {error}"))?.0 {
            Event::StreamEnd => return Ok(()),
            Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
            Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
            Event::Alias(_) => return Err("it has an alias (`*name`), which no witness needs".to_owned()),
            _ => {}
        }
        if depth > DEEPEST {
            return Err(format!("lists are nested more than {DEEPEST} levels deep"));
        }
    }
}

/// A number, a truth value or a string, as text.
fn text(value: &Yaml) -> Option<String> {
    match value {
        Yaml::String(text) => Some(text.clone()),
        Yaml::Integer(number) => Some(number.to_string()),
        Yaml::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// The thread that passes a waypoint, where it is said.
fn thread(waypoint: &Yaml) -> Result<Option<u32>, String> {
    let thread = &waypoint["thread_id"];
    match thread.as_i64().or_else(|| thread.as_str()?.parse().ok()) {
        Some(number) => Ok(Some(u32::try_from(number).map_err(|_| format!("thread_id {number}"))?)),
        None if thread.is_badvalue() || thread.is_null() => Ok(None),
        None => Err("a thread_id that is not a number".to_owned()),
    }
}

/// Everything that a waypoint says.
fn condition(waypoint: &Yaml) -> Result<Condition, String> {
    let subject = match waypoint["type"].as_str() {
        Some("assumption") => Subject::Assumption,
        Some("branching") => Subject::Branching,
        Some("function_enter") => Subject::Enter,
        Some("function_return") => Subject::Return,
        Some("target") => Subject::Target,
        kind => return Err(format!("a waypoint of the type {}", kind.unwrap_or("(none)"))),
    };
    let location = &waypoint["location"];
    let number = |what: &str| location[what].as_i64().and_then(|number| u32::try_from(number).ok());
    let (Some(file), Some(line)) = (location["file_name"].as_str(), number("line")) else {
        return Err("a waypoint has no file_name and line".to_owned());
    };
    Ok(Condition {
        subject,
        avoid: waypoint["action"].as_str() == Some("avoid"),
        constraint: text(&waypoint["constraint"]["value"]).map(|text| text.trim().to_owned()),
        thread: thread(waypoint)?,
        file: file.to_owned(),
        line,
        column: number("column"),
    })
}

/// A waypoint, if it is to be followed; and whether everything it says is used.
fn one(waypoint: &Yaml) -> Result<(Option<Waypoint>, bool), String> {
    match waypoint["action"].as_str() {
        Some("follow") => {}
        Some("avoid") => return Ok((None, false)),
        Some("cycle") => return Err("it describes an execution that does not end".to_owned()),
        _ => return Err("a waypoint has no action".to_owned()),
    }
    let constraint = text(&waypoint["constraint"]["value"]);
    let (requirement, known) = match (waypoint["type"].as_str(), constraint.as_deref()) {
        (Some("target"), _) => (Requirement::Target, true),
        (Some("function_enter"), _) => (Requirement::Enters, true),
        (Some("function_return"), Some(text)) => match result(text) {
            Some(value) => (Requirement::Gives(value), true),
            None => (Requirement::Passed, false),
        },
        (Some("assumption" | "branching" | "function_return"), text) => {
            (Requirement::Passed, matches!(text.map(str::trim), None | Some("1")))
        }
        (kind, _) => return Err(format!("a waypoint of the type {}", kind.unwrap_or("(none)"))),
    };
    let thread = thread(waypoint)?;
    let location = &waypoint["location"];
    let line = location["line"].as_i64().and_then(|line| u32::try_from(line).ok());
    let (Some(file), Some(line)) = (location["file_name"].as_str(), line) else {
        return Err("a waypoint has no file_name and line".to_owned());
    };
    let function = location["function"].as_str().map(str::to_owned);
    Ok((Some(Waypoint { requirement, thread, file: file.to_owned(), line, function }), known))
}

/// The value of `\result == VALUE`.
fn result(text: &str) -> Option<i64> {
    let value = text.trim().strip_prefix("\\result")?.trim().strip_prefix("==")?.trim();
    let value = value.strip_prefix('(').and_then(|v| v.strip_suffix(')')).unwrap_or(value);
    value.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waypoint(requirement: Requirement, thread: u32, line: u32) -> Waypoint {
        Waypoint {
            requirement,
            thread: Some(thread),
            file: "a \"b\".c".into(),
            line,
            function: Some("f".into()),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let waypoints = vec![
            waypoint(Requirement::Passed, 0, 2),
            waypoint(Requirement::Enters, 0, 3),
            waypoint(Requirement::Gives(-7), 1, 4),
            waypoint(Requirement::Target, 1, 5),
            waypoint(Requirement::Target, 0, 6),
        ];
        let about = About {
            files: vec![("a \"b\".c".into(), b"abc".to_vec())],
            property: "G ! data-race".into(),
            version: "0".into(),
            time: 951_782_400,
        };
        let text = write(&about, &waypoints);
        assert!(text.contains("creation_time: \"2000-02-29T00:00:00Z\""), "{text}");
        let read = read(&text).expect("a witness");
        assert_eq!(read.waypoints, waypoints);
        let sizes: Vec<usize> = read.segments.iter().map(Vec::len).collect();
        assert_eq!(sizes, [1, 1, 1, 2]);
        assert_eq!((read.segments[1][0].subject, read.segments[1][0].thread), (Subject::Enter, Some(0)));
        assert_eq!(read.segments[2][0].constraint.as_deref(), Some("\\result == -7"));
        assert_eq!(
            (read.unused, read.specification.as_str()),
            (0, "CHECK( init(main()), LTL(G ! data-race) )")
        );
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(read.hashes, [("a \"b\".c".to_owned(), abc.to_owned())]);
        // Two targets are one segment.
        assert_eq!(text.matches("segment:").count(), 4);
    }

    #[test]
    fn what_a_witness_does_not_say_is_refused() {
        let about = About { files: Vec::new(), property: "G".into(), version: "0".into(), time: 0 };
        let good = write(&about, &[waypoint(Requirement::Passed, 0, 3), waypoint(Requirement::Target, 0, 3)]);
        assert!(read(&good).is_ok());
        for (from, to, told) in [
            ("violation_sequence", "invariant_set", "invariant_set"),
            ("\"2.2\"", "\"1.0\"", "1.0"),
            ("type: target", "type: assumption", "not a target"),
            ("action: follow", "action: cycle", "does not end"),
            ("thread_id: 0", "thread_id: -1", "thread_id"),
            ("line: 3", "line: x", "line"),
            ("  content:", "  contents:", "content"),
            ("- entry_type", "entry_type: 1\n- entry", "YAML"),
        ] {
            let error = read(&good.replacen(from, to, 1)).expect_err(to);
            assert!(error.contains(told), "{to}: {error}");
        }
        let avoided = good.replacen("action: follow", "action: avoid", 1);
        assert_eq!(read(&avoided).map(|w| (w.waypoints.len(), w.unused)), Ok((1, 1)));
    }
}
