//! `check --hosts` and `quotient cluster`: several processes on this machine give the report of one.

use std::net::TcpListener;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use quotient_testing::Folder;
use serde_json::Value;

use crate::command_line::{command, model, quotient};

fn told(output: &Output) -> (Option<i32>, Vec<Value>) {
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let fields = ["verdict", "states", "transitions", "depth", "unreached", "violations"];
    let picked = fields.map(|field| match (field, &json[field]) {
        ("violations", Value::Array(all)) => all.iter().map(|one| one["kind"].clone()).collect(),
        (_, other) => other.clone(),
    });
    (output.status.code(), picked.to_vec())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Small ones end with the first process, larger ones are divided; symmetry and partial order on and off.
#[test]
fn three_processes_give_the_report_of_one() {
    let (phils, peterson, pool, bir) = (
        model("phils.pml"),
        model("peterson_n.pml"),
        model("worker_pool.pml"),
        model("dining_philosophers.bir"),
    );
    let all: [&[&str]; 8] = [
        &[&model("mutex.pml")],
        &[&phils, "-DN=10", "--raw", "--all"],
        &[&phils, "-DN=10", "--raw"],
        &[&peterson, "-DN=4"],
        &[&peterson, "-DN=4", "--symmetry", "off"],
        &[&peterson, "-DN=3", "--por", "off"],
        &[&pool, "--raw"],
        &[&bir, "-DN=7"],
    ];
    for words in all {
        let one = command().arg("check").args(words).args(["--json", "--workers", "1"]).output();
        let one = one.expect("it runs");
        let three = command().args(["cluster", "--local", "3", "check"]).args(words).arg("--json").output();
        let three = three.expect("it runs");
        assert_eq!(told(&three), told(&one), "{words:?}: {}", text(&three.stderr));
    }
}

/// A list of hosts on this machine, in a folder.
fn list(folder: &Folder, count: usize) -> String {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0").expect("there is a port")).collect();
    let lines: String =
        listeners.iter().map(|l| format!("{}\n", l.local_addr().expect("it has one"))).collect();
    let path = folder.path().join("hosts.txt");
    std::fs::write(&path, lines).expect("it can be written");
    path.display().to_string()
}

fn start(list: &str, process: usize, words: &[&str]) -> Child {
    let mut command = command();
    command.arg("check").args(words).args(["--hosts", list, "--process", &process.to_string()]);
    command.env("QUOTIENT_TOKEN", "a token for the tests").stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

/// A process that is killed ends the others within seconds, undecided, and only the first one writes a report.
#[test]
fn a_process_that_is_killed_ends_the_others() {
    let folder = Folder::new();
    let list = list(&folder, 3);
    let phils = model("phils.pml");
    let words = [phils.as_str(), "-DN=14", "--raw", "--no-deadlock"];
    let mut all: Vec<Child> = (0..3).map(|process| start(&list, process, &words)).collect();
    std::thread::sleep(Duration::from_secs(3));
    assert!(all.iter_mut().all(|child| matches!(child.try_wait(), Ok(None))), "they search");
    all[2].kill().expect("it can be killed");
    let killed = Instant::now();
    let ended: Vec<Output> =
        all.into_iter().map(|child| child.wait_with_output().expect("it ends")).collect();
    assert!(killed.elapsed() < Duration::from_secs(30), "{:?}", killed.elapsed());
    for output in &ended[..2] {
        assert_eq!(output.status.code(), Some(5), "{}{}", text(&output.stdout), text(&output.stderr));
    }
    let report = text(&ended[0].stdout);
    assert!(report.contains("process 2") && report.contains("is lost"), "{report}");
    assert!(ended[1].stdout.is_empty(), "{}", text(&ended[1].stdout));
    assert!(text(&ended[1].stderr).contains("is lost"), "{}", text(&ended[1].stderr));
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = Folder::new();
    let list = list(&folder, 2);
    let mutex = model("mutex.pml");
    let refused = |words: &[&str], why: &str| {
        let output = command().args(words).env("QUOTIENT_TOKEN", "a token for the tests").output();
        let output = output.expect("it runs");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(why), "{words:?}: {said}");
    };
    let hosts = ["--hosts", &list, "--wait", "1s"];
    let with = |words: &[&str], why: &str| refused(&[&["check", &mutex], &hosts[..], words].concat(), why);
    with(&["--workers", "2"], "one worker");
    with(&["--store", "gzip"], "gzip");
    with(&["--search", "dfs"], "level by level");
    with(&["--disk", "x"], "cannot be used with");
    with(&["--checkpoint", "x"], "cannot be used with");
    with(&["--process", "7"], "there is no process 7");
    with(&["--listen", "here"], "in figures");
    with(&[], "did not come");
    refused(&["check", &mutex, "--process", "1"], "--hosts");
    refused(&["cluster", "--local", "2", "prove", "x"], "can only check");
    std::fs::write(folder.path().join("bad.txt"), "one:1\ntwo\n").expect("it can be written");
    let bad = folder.path().join("bad.txt").display().to_string();
    refused(&["check", &mutex, "--hosts", &bad], "line 2");
    // Without a token, and with a short one.
    let output = quotient(&["check", &mutex, "--hosts", &list]);
    assert!(text(&output.stderr).contains("need a token"), "{}", text(&output.stderr));
    std::fs::write(folder.path().join("token"), "short\n").expect("it can be written");
    let short = folder.path().join("token").display().to_string();
    let output = quotient(&["check", &mutex, "--hosts", &list, "--token-file", &short]);
    assert!(text(&output.stderr).contains("fewer than 16"), "{}", text(&output.stderr));
    // Another model, another option.
    for other in [&[model("phils.pml").as_str()][..], &[mutex.as_str(), "--raw"]] {
        let list = self::list(&folder, 2);
        let first = start(&list, 0, &[&mutex]);
        let second = start(&list, 1, other).wait_with_output().expect("it ends");
        let first = first.wait_with_output().expect("it ends");
        for output in [first, second] {
            assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
            assert!(text(&output.stderr).contains("differs"), "{}", text(&output.stderr));
        }
    }
}
