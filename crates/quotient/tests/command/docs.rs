//! Every command line in README.md and docs/ is run, and its output compared with what stands below it.
//!
//! A block of code with lines that begin with `$ ` is a session: commands, each with the output that follows it. A line `...` stands for any
//! lines; a command without output must only be understood. Numbers with a decimal point vary (times, memory) and are not
//! compared. A block after `<!-- not run: REASON -->` is not run; the test lists it with its reason.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command line and the output below it.
struct Session {
    place: String,
    command: String,
    expected: Vec<String>,
}

/// A block of code: its sessions, and why it is not run.
struct Block {
    place: String,
    sessions: Vec<Session>,
    not_run: Option<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The blocks with sessions of a file.
fn blocks(name: &str, text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut inside, mut mark) = (false, None);
    for (number, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", number + 1);
        if line.trim_start().starts_with("```") {
            inside = !inside;
            if inside {
                blocks.push(Block { place, sessions: Vec::new(), not_run: mark.take() });
            }
            continue;
        }
        if !inside {
            let reason = line.strip_prefix("<!-- not run:").and_then(|rest| rest.strip_suffix("-->"));
            mark = reason.map(|r| r.trim().to_owned()).or(mark.filter(|_| line.is_empty()));
            continue;
        }
        // Forms of a command line have placeholders; all others are run.
        let form = line.contains(['[', '|']) || line.contains("FILE");
        // A block was begun by the line that set `inside`.
        let sessions = &mut blocks.last_mut().expect("inside of a block").sessions;
        // What `from-spin` prints is a command line, too.
        let is_output =
            sessions.last().is_some_and(|session| session.command.starts_with("quotient from-spin"));
        let is_command = line.starts_with("quotient ") && !is_output;
        assert!(form || !is_command, "{place}: write `$ ` before a command line");
        match (line.strip_prefix("$ "), sessions.last_mut()) {
            (Some(command), _) => {
                sessions.push(Session { place, command: command.to_owned(), expected: Vec::new() });
            }
            (None, Some(session)) => session.expected.push(line.trim_end().to_owned()),
            (None, None) => {}
        }
    }
    blocks.retain(|b| !b.sessions.is_empty());
    blocks
}

/// The same line with `#` for every number that has a decimal point.
fn masked(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..start]);
        let number = &rest[start..];
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        let digits = number[..end].trim_end_matches('.');
        out.push_str(if digits.contains('.') { "#" } else { digits });
        rest = &number[digits.len()..];
    }
    out + rest
}

/// Does the output have the expected lines?
fn matches(expected: &[String], output: &[String]) -> bool {
    match expected {
        [] => output.iter().all(|line| line.is_empty()),
        [dots, rest @ ..] if dots.trim() == "..." => (0..=output.len()).any(|n| matches(rest, &output[n..])),
        [line, rest @ ..] => {
            output.first().is_some_and(|o| masked(o) == masked(line)) && matches(rest, &output[1..])
        }
    }
}

/// Runs a session; gives what is wrong.
fn run(session: &Session, folder: &Path) -> Option<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let command = session.command.replace("cargo run --release --", "quotient");
    let output = Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", folder.join("bin").display()))
        .output()
        .expect("a shell");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let place = &session.place;
    if matches!(output.status.code(), None | Some(2 | 70 | 101 | 127)) {
        return Some(format!("{place}: `{command}` ends with {}\n{stderr}", output.status));
    }
    let lines: Vec<String> = stdout.lines().map(|l| l.trim_end().to_owned()).collect();
    let end = session.expected.iter().rposition(|l| !l.is_empty()).map_or(0, |at| at + 1);
    let expected = &session.expected[..end];
    if expected.is_empty() || matches(expected, &lines) {
        return None;
    }
    Some(format!("{place}: `{command}` prints\n{stdout}\ninstead of\n{}", expected.join("\n")))
}

#[test]
fn command_lines_of_the_docs_print_what_they_say() {
    let root = root();
    let mut files = vec![root.join("README.md")];
    files.extend(std::fs::read_dir(root.join("docs")).expect("docs").filter_map(|e| Some(e.ok()?.path())));
    files.retain(|f| f.extension().is_some_and(|e| e == "md"));
    files.sort();
    let folder = std::env::temp_dir().join(format!("quotient-docs-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("bin")).expect("a temporary folder");
    std::os::unix::fs::symlink(root.join("models"), folder.join("models")).expect("a link");
    let binary = crate::command_line::command().get_program().to_owned();
    std::os::unix::fs::symlink(binary, folder.join("bin/quotient")).expect("a link");
    let (mut wrong, mut not_run, mut ran) = (Vec::new(), String::new(), 0);
    for file in &files {
        let name = file.strip_prefix(&root).expect("in the repository").display().to_string();
        for block in blocks(&name, &std::fs::read_to_string(file).expect("text")) {
            if let Some(reason) = &block.not_run {
                assert!(!reason.is_empty(), "{}: not run, for no reason", block.place);
                let _ = writeln!(not_run, "  {}: {reason}", block.place);
                continue;
            }
            ran += block.sessions.len();
            wrong.extend(block.sessions.iter().filter_map(|session| run(session, &folder)));
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    println!("{ran} command lines run; not run:\n{not_run}");
    assert!(ran >= 10, "only {ran} command lines were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn sessions_are_read_and_compared() {
    let text = "<!-- not run: why -->\n\n```\n$ a\n```\nwords\n```\n$ b c\nx 1.5 s\n...\ny 2\n$ d\n```\n```\nno session\n```\n";
    let blocks = blocks("f", text);
    assert_eq!(blocks.len(), 2);
    assert_eq!((blocks[0].not_run.as_deref(), blocks[1].not_run.as_deref()), (Some("why"), None));
    let session = &blocks[1].sessions[0];
    assert_eq!((session.command.as_str(), session.place.as_str(), session.expected.len()), ("b c", "f:8", 3));
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(matches(&session.expected, &lines("x 0.25 s\nanything\ny 2")));
    assert!(matches(&session.expected, &lines("x 7.0 s\ny 2\n")));
    assert!(!matches(&session.expected, &lines("x 7.0 s\ny 3")));
    assert!(!matches(&session.expected, &lines("x 7.0 s\ny 2\nmore")));
    assert_eq!(masked("1,234 states in 0.5 s."), "1,234 states in # s.");
}

/// Files that the map and the guide for contributors name, as `crate/file.rs` for one in its `src` or as paths from `crates` or the root.
#[test]
fn files_that_are_named_exist() {
    let root = root();
    let (mut wrong, mut found) = (Vec::new(), 0);
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(root.join(name)).expect("text");
        // Between every other pair of back quotes stands code.
        for word in text.split('`').skip(1).step_by(2) {
            let is_path = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
            let ending = word.rsplit_once('.').map_or("", |(_, ending)| ending);
            if !word.contains('/')
                || !word.chars().all(is_path)
                || !["rs", "txt", "json", "md"].contains(&ending)
            {
                continue;
            }
            let crates = root.join("crates");
            let (first, rest) = word.split_once('/').expect("it was asked for");
            let places = [root.join(word), crates.join(word), crates.join(first).join("src").join(rest)];
            found += 1;
            if !places.iter().any(|place| place.is_file()) {
                wrong.push(format!("{name}: {word}"));
            }
        }
    }
    assert!(found >= 30, "only {found} files are named");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every link of a page to a file of the repository leads to one, and every heading that is named is there.
#[test]
fn links_of_the_docs_lead_somewhere() {
    let root = root();
    let mut files: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"]
            .map(|name| root.join(name))
            .to_vec();
    files.extend(std::fs::read_dir(root.join("docs")).expect("docs").filter_map(|e| Some(e.ok()?.path())));
    files.retain(|f| f.extension().is_some_and(|e| e == "md"));
    let (mut links, mut broken) = (0, Vec::new());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("text");
        for (at, _) in text.match_indices("](") {
            let Some(end) = text[at..].find(')') else { continue };
            let link = &text[at + 2..at + end];
            if link.contains("://") || link.contains([' ', '\n']) {
                continue;
            }
            links += 1;
            let (path, heading) =
                link.split_once('#').map_or((link, None), |(path, heading)| (path, Some(heading)));
            let target =
                if path.is_empty() { file.clone() } else { file.parent().expect("a folder").join(path) };
            let known = |heading: &str| {
                let text = std::fs::read_to_string(&target).unwrap_or_default();
                let named = |line: &str| {
                    let words = line.trim_start_matches('#').trim().to_lowercase();
                    words
                        .chars()
                        .filter(|c| c.is_alphanumeric() || "- _".contains(*c))
                        .collect::<String>()
                        .replace(' ', "-")
                };
                text.lines().filter(|line| line.starts_with('#')).any(|line| named(line) == heading)
            };
            if !target.exists() || heading.is_some_and(|heading| !known(heading)) {
                broken.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(links > 50, "{links}");
}

/// The book's table of contents has every page.
#[test]
fn the_book_has_every_page() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("a summary");
    for page in std::fs::read_dir(docs).expect("docs").filter_map(|e| Some(e.ok()?.path())) {
        let name = page.file_name().and_then(|n| n.to_str()).expect("a name").to_owned();
        let is_page = page.extension().is_some_and(|e| e == "md") && name != "SUMMARY.md";
        assert!(!is_page || summary.contains(&format!("({name})")), "{name} is not in docs/SUMMARY.md");
    }
}

/// Words of prose: code, links and comments are left out.
fn prose(text: &str) -> String {
    let (mut out, mut inside) = (String::new(), false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside && !line.starts_with("<!--") {
            // Between every other pair of back quotes stands code.
            let words: Vec<&str> = line.split('`').step_by(2).collect();
            let mut rest = words.join(" ");
            while let Some(at) = rest.find("](") {
                let end = rest[at..].find(')').map_or(rest.len(), |end| at + end + 1);
                rest.replace_range(at..end, " ");
            }
            let rest: Vec<&str> = rest.split_whitespace().filter(|word| !word.contains("://")).collect();
            out.push_str(&rest.join(" "));
            out.push('\n');
        }
    }
    out
}

/// Every word of the book and the README is in the dictionary or in `docs/words.txt`, and every word there is used.
#[test]
#[ignore = "needs hunspell with the dictionary en_GB"]
fn words_are_those_that_hunspell_knows() {
    let root = root();
    let known = std::fs::read_to_string(root.join("docs/words.txt")).expect("a list");
    let known: std::collections::BTreeSet<&str> =
        known.lines().filter(|line| !line.starts_with('#')).collect();
    let mut files = vec![root.join("README.md")];
    files.extend(std::fs::read_dir(root.join("docs")).expect("docs").filter_map(|e| Some(e.ok()?.path())));
    // What the command says of itself is checked where it is written.
    files.retain(|f| f.extension().is_some_and(|e| e == "md") && !f.ends_with("reference.md"));
    files.sort();
    let folder = quotient_testing::Folder::new();
    let (mut wrong, mut used) = (Vec::new(), std::collections::BTreeSet::new());
    for file in files {
        let text = folder.path().join("text");
        std::fs::write(&text, prose(&std::fs::read_to_string(&file).expect("text"))).expect("written");
        let output = Command::new("hunspell")
            .args(["-i", "utf-8", "-d", "en_GB", "-l"])
            .arg(&text)
            .env("LC_ALL", "C.UTF-8")
            .output()
            .expect("hunspell");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for word in String::from_utf8_lossy(&output.stdout).lines() {
            // Names with digits and letters that stand alone are not words.
            let base = word.strip_suffix("'s").unwrap_or(word);
            if base.len() < 2 || base.contains(|c: char| c.is_ascii_digit()) {
                continue;
            }
            match known.get(base) {
                Some(_) => drop(used.insert(base.to_owned())),
                None => wrong.push(format!("{}: {word}", file.display())),
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "not in docs/words.txt:\n{}", wrong.join("\n"));
    let unused: Vec<&&str> = known.iter().filter(|word| !used.contains(**word)).collect();
    assert!(unused.is_empty(), "in docs/words.txt and not used: {unused:?}");
}
