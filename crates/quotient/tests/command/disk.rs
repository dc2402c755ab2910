//! `--disk`: more states than memory, the same report; what is wrong with a folder is said.

use std::process::Output;

use quotient_testing::Folder;
use serde_json::Value;

use crate::command_line::{command, model, quotient};

fn told(output: &Output) -> (Option<i32>, Vec<Value>) {
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let fields = ["verdict", "states", "transitions", "depth", "unreached", "answers"];
    let picked = fields.map(|field| match &json[field] {
        Value::Array(all) => all.iter().map(|one| one["verdict"].clone()).collect(),
        other => other.clone(),
    });
    (output.status.code(), picked.to_vec())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// With a limit at which the search in memory is undecided, the disk gives its whole answer.
#[test]
fn more_states_than_memory() {
    let folder = Folder::new();
    let states = folder.path().join("states");
    let states = states.to_str().expect("an ordinary path");
    let peterson = model("peterson_n.pml");
    let words = ["check", &peterson, "-DN=4", "--por", "off", "--json"];
    let whole = told(&quotient(&words));
    assert_eq!(whole.0, Some(0));
    let limited = |more: &[&str]| {
        let output = command().args(words).args(["--max-memory", "28M"]).args(more).output();
        output.expect("it runs")
    };
    assert_eq!(limited(&[]).status.code(), Some(5), "28 MB are too few");
    let output = limited(&["--disk", states]);
    assert_eq!(told(&output), whole, "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let notes = json["reductions"]["notes"].to_string();
    assert!(notes.contains("disk: states in") && !notes.contains(" 1 part(s)"), "{notes}");
    assert!(!std::path::Path::new(states).exists(), "nothing is left behind");
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = Folder::new();
    let states = folder.path().join("states");
    let refused = |words: &[&str], why: &str| {
        let output = quotient(words);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(why), "{words:?}: {said}");
    };
    let (mutex, disk) = (model("mutex.pml"), states.display().to_string());
    refused(&["check", &mutex, "--disk", &disk, "--store", "gzip"], "gzip");
    refused(&["check", &mutex, "--disk", &disk, "--search", "dfs"], "level by level");
    refused(&["check", &mutex, "--disk", &disk, "--workers", "2"], "--disk has one worker");
    refused(&["check", &mutex, "--disk", &disk, "--checkpoint", "run"], "cannot be used with");
    refused(&["check", &mutex, &mutex, "--disk", &disk], "--disk");
    assert!(!states.exists(), "a check that is refused leaves nothing behind");
    std::fs::create_dir(&states).expect("it can be made");
    std::fs::write(states.join("mine"), "something").expect("it can be written");
    refused(&["check", &mutex, "--disk", &disk], "is not empty");
    assert_eq!(std::fs::read(states.join("mine")).expect("it is there"), b"something");
}

/// A disk without room ends the check undecided.
#[test]
#[cfg(unix)]
fn a_full_disk_stops_honestly() {
    let folder = Folder::new();
    let states = folder.path().join("states").display().to_string();
    let phils = model("phils.pml");
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec {} check {phils} -DN=10 --raw --no-deadlock --disk {states}",
        command().get_program().display()
    );
    let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
    assert_eq!(output.status.code(), Some(5), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("the disk cannot be used"), "{}", text(&output.stdout));
}
