//! SPIN's trails, both ways, and SPIN's numbers of statements. Tests that need SPIN are ignored, by name: `spin`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use quotient::{LoadOptions, Model};
use quotient_testing::{Folder, setting};

fn quotient(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quotient"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("it runs")
}

fn spin(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("spin").args(arguments).current_dir(folder).output().expect("spin runs");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What SPIN says where it cannot follow a trail.
const REFUSED: [&str; 6] = [
    "transition failed",
    "no matching stmnt",
    "invalid statement",
    "stop error",
    "trail file doesn't match",
    "(?)",
];

/// Every Promela model of the repository that has no include, largest files left out.
fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open = vec![root.join("models"), root.join("tests/promela")];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "pml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The statements in SPIN's tables: by proctype, number and line; those without a line have 0.
fn tables(text: &str) -> BTreeMap<String, BTreeMap<u32, u32>> {
    let mut tables: BTreeMap<String, BTreeMap<u32, u32>> = BTreeMap::new();
    let mut proctype = String::new();
    let mut last = None;
    for line in text.lines() {
        if let Some(rest) = line.trim().strip_prefix("/* proctype ") {
            proctype = rest.split_once(": ").map_or("", |(_, name)| name.trim_end_matches(" */")).to_owned();
        } else if let Some((_, rest)) = line.split_once("settr(") {
            let Some(number) = rest.split(',').next().and_then(|n| n.parse::<u32>().ok()) else { continue };
            tables.entry(proctype.clone()).or_default().entry(number).or_insert(0);
            last = Some(number);
        } else if let Some((_, rest)) = line.split_once("tr_2_src(") {
            let at = rest.rsplit_once(", ").and_then(|(_, n)| n.trim_end_matches(");").parse().ok());
            if let (Some(number), Some(at)) = (last, at) {
                tables.entry(proctype.clone()).or_default().insert(number, at);
            }
        }
    }
    tables
}

/// Every statement of every model has SPIN's number: the tables of its verifier have that number, in the same proctype, for a statement of the same line.
#[test]
#[ignore = "needs spin"]
fn spin_gives_statements_the_same_numbers() {
    let (mut compared, mut statements, mut lines) = (0, 0, 0);
    let mut wrong = Vec::new();
    for path in models() {
        let Ok(model) = Model::load(&path, &LoadOptions::default()) else { continue };
        if model.numbers.is_empty() {
            continue;
        }
        let folder = Folder::new();
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
        std::fs::copy(&path, folder.path().join(name)).expect("copied");
        spin(folder.path(), &["-o3", "-a", name]);
        let Ok(text) = std::fs::read_to_string(folder.path().join("pan.t")) else { continue };
        let tables = tables(&text);
        compared += 1;
        for (function, numbers) in model.program.functions.iter().zip(&model.numbers) {
            let Some(table) = tables.get(&function.name) else { continue };
            for (location, numbers) in function.locations.iter().zip(numbers) {
                for (t, number) in location.transformations.iter().zip(numbers) {
                    if location.deterministic {
                        continue;
                    }
                    statements += 1;
                    let line = model.sources.position(t.span).line;
                    match table.get(number) {
                        None => {
                            wrong.push(format!("{name}: {}: {number} `{}` is unknown", function.name, t.text))
                        }
                        Some(0) => {}
                        Some(at) if *at == line => lines += 1,
                        Some(at) => wrong.push(format!(
                            "{name}: {}: {number} `{}` is line {at}, not {line}",
                            function.name, t.text
                        )),
                    }
                }
            }
        }
    }
    eprintln!("{compared} models, {statements} statements, {lines} with their line; {} differ", wrong.len());
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 300 && lines > 1000, "{compared} models, {lines} lines");
}

/// The values of globals at the end of what `spin -t -p -g` prints.
fn last_values(said: &str) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    // A `d_step` goes on after an assertion that fails in it.
    let before = said.split("assertion violated").next().unwrap_or(said);
    for line in before.lines() {
        if let Some((name, value)) = line.strip_prefix("\t\t").and_then(|rest| rest.split_once(" = "))
            && !name.contains(['(', ' '])
        {
            values.insert(name.to_owned(), value.trim().to_owned());
        }
    }
    values
}

/// Counterexamples of the repository's models, repeated by SPIN: no step is refused, an assertion is reported, and the global numbers have
/// the values that they have here.
#[test]
#[ignore = "needs spin"]
fn spin_repeats_counterexamples() {
    let (mut repeated, mut asserted, mut compared) = (0, 0, 0);
    let mut wrong = Vec::new();
    for path in models() {
        let folder = Folder::new();
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name").to_owned();
        std::fs::copy(&path, folder.path().join(&name)).expect("copied");
        let checked = quotient(
            folder.path(),
            &[
                "check",
                &name,
                "--json",
                "--max-states",
                "20000",
                "--max-time",
                "5s",
                "--trace",
                "found.trace",
            ],
        );
        if !matches!(checked.status.code(), Some(11 | 12)) || !folder.path().join("found.trace").exists() {
            continue;
        }
        let kind = String::from_utf8_lossy(&checked.stdout).into_owned();
        let answer: serde_json::Value = serde_json::from_str(&kind).expect("JSON");
        let kind = answer["violations"][0]["kind"].as_str().unwrap_or("").to_owned();
        // What is a fault here need not be one for SPIN's simulator; and it knows no pointers.
        let pointers = Model::load(&path, &LoadOptions::default()).is_ok_and(|m| m.numbers.is_empty());
        if !["deadlock", "assertion"].contains(&kind.as_str()) || pointers {
            continue;
        }
        let converted = quotient(
            folder.path(),
            &["convert", "found.trace", "--to", "trail", "-o", &format!("{name}.trail")],
        );
        if converted.status.code() != Some(0) {
            wrong.push(format!("{name}: {}", String::from_utf8_lossy(&converted.stderr)));
            continue;
        }
        let said = spin(folder.path(), &["-t", "-p", "-g", &name]);
        repeated += 1;
        for bad in REFUSED {
            if said.contains(bad) {
                wrong.push(format!("{name}: {bad}"));
            }
        }
        let ends = said.contains("trail ends after")
            || said.contains("assertion violated")
            || said.contains("Error:");
        if !ends {
            wrong.push(format!("{name}: SPIN did not come to the end"));
        }
        if kind == "assertion" {
            asserted += 1;
            if !said.contains("assertion violated") {
                wrong.push(format!("{name}: no assertion for SPIN"));
            }
        }
        // The same run, read again here.
        let replayed = quotient(folder.path(), &["replay", &name, &format!("{name}.trail")]);
        if replayed.status.code() != checked.status.code() {
            wrong.push(format!(
                "{name}: replayed {:?}, checked {:?}",
                replayed.status.code(),
                checked.status.code()
            ));
        }
        let shown = quotient(folder.path(), &["replay", "found.trace", "--full", "--json"]);
        let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).expect("JSON");
        let values = &shown["violations"][0]["trace"]["last"];
        for (name_of, value) in last_values(&said) {
            if let Some(own) = values[&name_of].as_str() {
                compared += 1;
                if own != value && own.parse::<i64>().is_ok() {
                    wrong.push(format!("{name}: {name_of} is {value} for SPIN, {own} here"));
                }
            }
        }
    }
    eprintln!(
        "{repeated} repeated, {asserted} assertions, {compared} values compared, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{} wrong of {repeated}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(repeated > 30 && asserted > 7 && compared > 20, "{repeated} repeated, {asserted} assertions");
}

/// Runs that are repeated for ever: SPIN makes every step, comes to the beginning of the cycle, and at the end its global variables are what they
/// were there.
#[test]
#[ignore = "needs spin"]
fn spin_repeats_cycles() {
    let turns = include_str!("../../../../models/tutorial/turns.pml");
    let progress = "byte x;\nactive proctype P() {\n  x = 3;\n  do\n  :: x < 5 -> x++\n  :: x == 5 -> x = 2\n  :: x == 9 ->\nprogress: skip\n  od\n}\n";
    let accept = "byte x, y;\nactive proctype P() {\n  do\n  :: x = (x + 1) % 3;\naccept:\n     skip\n  od\n}\nactive proctype Q() { y = 1 }\n";
    let channel = "chan c = [2] of { byte };\nbyte got;\nactive proctype P() {\n  do\n  :: c!1\n  :: c!2\n  od\n}\nactive proctype Q() {\n  do\n  :: c?got\n  od\n}\nltl p { <> (got == 2) }\n";
    for (model, option) in
        [(turns, "--all"), (progress, "--progress"), (accept, "--acceptance"), (channel, "--all")]
    {
        let folder = Folder::new();
        std::fs::write(folder.path().join("m.pml"), model).expect("written");
        let checked = quotient(folder.path(), &["check", "m.pml", option, "--trace", "t"]);
        assert_eq!(checked.status.code(), Some(13), "{option}: {}", String::from_utf8_lossy(&checked.stdout));
        let converted = quotient(folder.path(), &["convert", "t", "--to", "trail", "-o", "m.pml.trail"]);
        assert_eq!(converted.status.code(), Some(0), "{}", String::from_utf8_lossy(&converted.stderr));
        let said = spin(folder.path(), &["-t", "-p", "-g", "m.pml"]);
        for bad in REFUSED {
            assert!(!said.contains(bad), "{option}: {bad}\n{said}");
        }
        let (before, _) =
            said.split_once("START OF CYCLE").unwrap_or_else(|| panic!("{option}: no cycle\n{said}"));
        let (first, last) = (last_values(before), last_values(&said));
        for (name, value) in &last {
            // What was never printed before has not changed before: it is 0.
            assert_eq!(first.get(name).map_or("0", String::as_str), value, "{option}: {name}\n{said}");
        }
    }
}

/// Trails of SPIN's verifiers, with merged statements as it writes them by default, end here as they do there.
#[test]
#[ignore = "needs spin"]
fn trails_of_spin_are_followed() {
    let mut wrong = Vec::new();
    let mut followed = 0;
    let mut kinds = BTreeSet::new();
    let most = setting("QUOTIENT_TRAILS", 12);
    for path in models() {
        if followed == most {
            break;
        }
        let folder = Folder::new();
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name").to_owned();
        std::fs::copy(&path, folder.path().join(&name)).expect("copied");
        let quick = ["check", &name, "--max-states", "5000", "--max-time", "2s", "--safety"];
        let status = quotient(folder.path(), &quick).status.code();
        // A few of each kind.
        if !matches!(status, Some(11 | 12)) || path.to_string_lossy().len() % 3 == 0 && most < 50 {
            continue;
        }
        spin(folder.path(), &["-a", &name]);
        let compiled = Command::new("gcc")
            .args(["-w", "-O0", "-DSAFETY", "-o", "pan", "pan.c"])
            .current_dir(folder.path())
            .output();
        if !compiled.is_ok_and(|c| c.status.success()) {
            continue;
        }
        let pan = Command::new("./pan").arg("-m20000").current_dir(folder.path()).output().expect("pan runs");
        let said = String::from_utf8_lossy(&pan.stdout).into_owned();
        let trail = format!("{name}.trail");
        if !folder.path().join(&trail).exists() {
            continue;
        }
        let expected = if said.contains("pan:1: invalid end state") {
            11
        } else if said.contains("pan:1: assertion violated") {
            12
        } else {
            continue;
        };
        followed += 1;
        kinds.insert(expected);
        let replayed = quotient(folder.path(), &["replay", &name, &trail]);
        if replayed.status.code() != Some(expected) {
            let error = String::from_utf8_lossy(&replayed.stderr).into_owned();
            wrong.push(format!("{}: {:?}, not {expected}: {error}", path.display(), replayed.status.code()));
        }
    }
    eprintln!("{followed} followed, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{} wrong of {followed}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(followed >= most.min(10) && kinds.len() == 2, "{followed} trails, {kinds:?}");
}

#[test]
fn what_cannot_be_a_trail_is_refused() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("m.pml", "byte x;\nactive proctype P() { x = 1; assert(x == 0) }\n");
    write("m.bir", "system S { active thread T() { loc a: do { } return; } }\n");
    write("good.trail", "1:0:0\n2:0:1\n");
    write("merged.trail", "-4:-4:-4\n1:0:0\n2:0:1\n");
    write("other.trail", "1:0:1\n");
    write("permuted.trail", "-5:1:2\n1:0:0\n");
    write("text.trail", "hello\n");
    let replay = |arguments: &[&str]| {
        let output = quotient(folder.path(), &[&["replay"], arguments].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for good in ["good.trail", "merged.trail"] {
        assert_eq!(replay(&["m.pml", good]).0, Some(12), "{good}");
    }
    for (arguments, why) in [
        (vec!["m.pml", "other.trail"], "process 0 cannot execute SPIN's statement 1"),
        (vec!["m.pml", "permuted.trail"], "permuted"),
        (vec!["m.pml", "text.trail"], "not `depth:process:statement`"),
        (vec!["m.bir", "good.trail"], "Promela"),
        (vec!["m.pml", "good.trail", "--model", "m.pml"], "--model does not apply"),
        (vec!["m.pml", "good.trail", "--schedule", "x"], "--schedule does not apply"),
        (vec!["m.pml", "nothing.trail"], "No such file"),
    ] {
        let (status, said) = replay(&arguments);
        assert_eq!(status, Some(2), "{arguments:?}: {said}");
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
}
