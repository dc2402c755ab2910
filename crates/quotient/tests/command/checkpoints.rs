//! `--checkpoint`, `--resume`, `quotient status`: a check that is killed goes on, and what is wrong with a folder is said.
//!
//! `QUOTIENT_KILLS` sets how many checks are killed.

use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use quotient_testing::{Folder, Random, setting};
use serde_json::Value;

use crate::command_line::{File, command, model, quotient};

/// What must be the same whether a check was interrupted or not.
fn told(output: &Output) -> (Option<i32>, Vec<Value>) {
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let fields = ["verdict", "states", "transitions", "depth", "violations", "unreached", "answers"];
    let picked = fields.map(|field| match &json[field] {
        Value::Array(all) => all.iter().map(|one| one["kind"].clone()).collect(),
        other => other.clone(),
    });
    (output.status.code(), picked.to_vec())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A check that is killed at random moments, again and again, ends like one that is not.
#[test]
fn checks_that_are_killed_go_on() {
    let mut random = Random::new(setting("QUOTIENT_SEED", 19));
    let phils = model("phils.pml");
    let peterson = model("peterson_n.pml");
    let pool = model("worker_pool.pml");
    let all: [&[&str]; 4] = [
        &[&phils, "-DN=10", "--raw", "--all", "--workers", "1"],
        &[&phils, "-DN=10", "--raw", "--all", "--workers", "2"],
        &[&peterson, "-DN=4", "--workers", "2"],
        &[&pool, "--raw", "--workers", "2"],
    ];
    let whole: Vec<(_, Duration)> = all
        .iter()
        .map(|words| {
            let started = Instant::now();
            let output = command().arg("check").args(*words).arg("--json").output().expect("it runs");
            (told(&output), started.elapsed())
        })
        .collect();
    let mut killed = 0;
    for round in 0..setting("QUOTIENT_KILLS", 6) as usize {
        let (words, (expected, takes)) = (all[round % all.len()], &whole[round % all.len()]);
        let folder = Folder::new();
        let run = folder.path().join("run");
        let run = run.to_str().expect("an ordinary path");
        let mut arguments: Vec<&str> = ["check"].iter().chain(words).copied().collect();
        arguments.extend(["--json", "--checkpoint", run]);
        for _ in 0..3 {
            let mut child = command()
                .args(&arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("it runs");
            std::thread::sleep(takes.mul_f64(random.number(1000) as f64 / 1000.0));
            killed += usize::from(child.try_wait().expect("it can be asked").is_none());
            child.kill().expect("it can be killed");
            child.wait().expect("it has ended");
            if Path::new(run).join("run.json").exists() {
                arguments = vec!["check", "--resume", run, "--json"];
            } else {
                let _ = std::fs::remove_dir_all(run);
            }
        }
        let output = quotient(&arguments);
        assert_eq!(&told(&output), expected, "{words:?}\n{}", text(&output.stderr));
        // And what has ended can be asked again.
        assert_eq!(&told(&quotient(&["check", "--resume", run, "--json"])), expected, "{words:?}, ended");
    }
    assert!(killed > 0, "all had ended before they were killed");
}

/// A run that was stopped by a limit, in a folder of its own.
fn stopped(folder: &Folder) -> String {
    let run = folder.path().join("run").display().to_string();
    let peterson = model("peterson_n.pml");
    let words = ["check", &peterson, "-DN=3", "--raw", "--max-depth", "60", "--checkpoint", &run];
    let output = quotient(&words);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains(&format!("`quotient check --resume {run}` goes on from here")));
    run
}

#[test]
fn damage_is_named_and_the_search_goes_on_from_the_last_good_cut() {
    let whole = told(&quotient(&["check", &model("peterson_n.pml"), "-DN=3", "--raw", "--json"]));
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage); 4] = [
        ("was not written to its end", |log| log.truncate(log.len() - 3)),
        ("is damaged", |log| {
            let middle = log.len() / 2;
            log[middle] ^= 4;
        }),
        ("is damaged", |log| log[0] ^= 1),
        ("is too short", Vec::clear),
    ];
    for (message, damage) in damages {
        let folder = Folder::new();
        let run = stopped(&folder);
        let path = Path::new(&run).join("search-1.log");
        let mut log = std::fs::read(&path).expect("there is a log");
        damage(&mut log);
        std::fs::write(&path, log).expect("it can be written");
        let output = quotient(&["check", "--resume", &run]);
        let printed = text(&output.stdout);
        assert!(printed.contains("search-1.log") && printed.contains(message), "{printed}");
        assert_eq!(told(&quotient(&["check", "--resume", &run, "--json"])), whole, "{message}");
    }
}

#[test]
fn what_cannot_be_resumed_is_said() {
    let folder = Folder::new();
    let run = stopped(&folder);
    let refused = |words: &[&str], message: &str| {
        let output = quotient(words);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
        assert!(told.contains(message), "{words:?}: {told}");
    };
    refused(&["check", &model("mutex.pml"), "--checkpoint", &run], "nothing is overwritten");
    refused(&["check", "--resume", &run, "-DN=4"], "there -DN=3, here -DN=4");
    refused(&["check", "--resume", &run, "--por", "off"], "there not given, here --por=off");
    refused(&["check", &model("mutex.pml"), "--resume", &run], "is that of another check");
    refused(&["check", "--resume", "/nowhere"], "holds no checkpoint");
    refused(&["status", "/nowhere"], "holds no checkpoint");
    let other = Folder::new();
    other.write("thesis.txt", "years of work");
    let other = other.path().to_str().expect("an ordinary path");
    refused(&["check", &model("mutex.pml"), "--checkpoint", other], "is not empty");
    refused(&["check", "--resume", other], "holds no checkpoint");
    // Another version, and another text.
    let manifest = Path::new(&run).join("run.json");
    let written = std::fs::read_to_string(&manifest).expect("there is a manifest");
    std::fs::write(&manifest, written.replace(env!("CARGO_PKG_VERSION"), "0.0.7"))
        .expect("it can be written");
    refused(&["check", "--resume", &run], "written by quotient 0.0.7");
    std::fs::write(&manifest, &written[..written.len() / 2]).expect("it can be written");
    refused(&["check", "--resume", &run], "holds no checkpoint");
    std::fs::write(&manifest, &written).expect("it can be written");
    assert_eq!(quotient(&["check", "--resume", &run, "--max-depth", "61"]).status.code(), Some(5));

    let changed = File::new("changed.pml", "byte x; active proctype P() { do :: x < 200 -> x++ od }");
    let folder = Folder::new();
    let run = folder.path().join("run").display().to_string();
    assert_eq!(
        quotient(&["check", changed.path(), "--checkpoint", &run, "--max-states", "5"]).status.code(),
        Some(5)
    );
    std::fs::write(changed.path(), "byte x; active proctype P() { do :: x < 201 -> x++ od }")
        .expect("it can be written");
    refused(&["check", "--resume", &run], "its text has changed");
    // What cannot be written leaves nothing behind.
    let claims =
        File::new("claims.pml", "bit x; active proctype P() { do :: x = 1 - x od } ltl a { []<> (x == 1) }");
    let nothing = folder.path().join("nothing").display().to_string();
    refused(&["check", claims.path(), "--checkpoint", &nothing], "ltl a");
    refused(&["check", &model("mutex.pml"), "--store", "gzip", "--checkpoint", &nothing], "gzip");
    refused(&["check", &model("mutex.pml"), "--search", "dfs", "--checkpoint", &nothing], "level by level");
    assert!(!Path::new(&nothing).exists());
}

/// A disk without room ends the check undecided, and what was written is enough to go on.
#[test]
#[cfg(unix)]
fn a_full_disk_stops_honestly() {
    let folder = Folder::new();
    let run = folder.path().join("run").display().to_string();
    let binary = command().get_program().to_owned();
    let phils = model("phils.pml");
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec {} check {phils} -DN=10 --raw --all --checkpoint {run}",
        binary.display()
    );
    let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("there is a shell");
    assert_eq!(output.status.code(), Some(5), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("cannot be written"), "{}", text(&output.stdout));
    let whole = told(&quotient(&["check", &phils, "-DN=10", "--raw", "--all", "--json"]));
    assert_eq!(told(&quotient(&["check", "--resume", &run, "--json"])), whole);
}

#[test]
fn status_says_what_is_reached() {
    let folder = Folder::new();
    let run = stopped(&folder);
    let printed = text(&quotient(&["status", &run]).stdout);
    for part in ["stopped", "-DN=3 --raw", "depth 60", "go on: quotient check --resume"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let json: Value = serde_json::from_slice(&quotient(&["status", &run, "--json"]).stdout).expect("JSON");
    assert_eq!((json["state"].as_str(), json["searches"][0]["depth"].as_u64()), (Some("stopped"), Some(60)));
    quotient(&["check", "--resume", &run, "--max-depth", "1000"]);
    let printed = text(&quotient(&["status", &run]).stdout);
    assert!(printed.contains("ended, holds"), "{printed}");
}

#[test]
fn statistics_are_written_and_drawn() {
    let folder = Folder::new();
    let (lines, picture) = (folder.path().join("run.jsonl"), folder.path().join("run.svg"));
    let (lines, picture) =
        (lines.to_str().expect("an ordinary path"), picture.to_str().expect("an ordinary path"));
    let output = quotient(&[
        "check",
        &model("phils.pml"),
        "-DN=11",
        "--raw",
        "--all",
        "--statistics",
        lines,
        "--json",
    ]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let written = std::fs::read_to_string(lines).expect("it was written");
    let moments: Vec<Value> = written.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let last = moments.last().expect("there is one");
    for field in ["states", "transitions", "depth"] {
        assert_eq!(last[field], json[field], "{field}");
    }
    assert!(moments.is_sorted_by_key(|m| m["states"].as_u64()), "{written}");
    assert!(quotient(&["draw", lines, "-o", picture]).status.success());
    let drawn = std::fs::read_to_string(picture).expect("it was drawn");
    assert!(drawn.starts_with("<svg") && drawn.contains("510,116 states"), "{drawn}");
    assert_eq!(quotient(&["draw", lines, "--heap", "-o", picture]).status.code(), Some(2));
    assert_eq!(quotient(&["draw", lines, "-o", "x.mmd"]).status.code(), Some(2));
}
