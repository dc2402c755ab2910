//! `check --hosts` and `quotient cluster`: several processes on this machine give the report of one.
//!
//! `QUOTIENT_KILLS` sets how often processes are killed that write checkpoints.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use quotient_testing::{Folder, Random, setting};
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

/// Waits until all have met: then each has threads that read what the others send.
fn met(all: &mut [Child]) {
    let reads = |child: &Child| {
        let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
        let names = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
        names.filter(|name| name.starts_with("reads")).count() > 0
    };
    let began = Instant::now();
    while !all.iter_mut().all(|child| reads(child) || !matches!(child.try_wait(), Ok(None))) {
        assert!(began.elapsed() < Duration::from_secs(60), "they do not meet");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A process that is killed ends the others within seconds, undecided, and only the first one writes a report.
#[test]
fn a_process_that_is_killed_ends_the_others() {
    let folder = Folder::new();
    let list = list(&folder, 3);
    let phils = model("phils.pml");
    let words = [phils.as_str(), "-DN=14", "--raw", "--no-deadlock"];
    let mut all: Vec<Child> = (0..3).map(|process| start(&list, process, &words)).collect();
    met(&mut all);
    std::thread::sleep(Duration::from_secs(2));
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
    // What was found until then is not lost.
    let states = report.lines().find_map(|line| line.trim().split_once(" states, "));
    let states = states.and_then(|(states, _)| states.replace(',', "").parse::<u64>().ok());
    assert!(states.is_some_and(|states| states > 1_000), "{report}");
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

fn cluster(count: usize, words: &[&str]) -> Output {
    let count = count.to_string();
    command().args(["cluster", "--local", &count, "check"]).args(words).output().expect("it runs")
}

/// One process of several is killed at a random moment, again and again: the others end within seconds and say how to go on, and what comes of it in the end is what
/// comes of it otherwise.
#[test]
fn processes_that_are_killed_go_on() {
    let mut random = Random::new(setting("QUOTIENT_SEED", 19));
    let (phils, peterson) = (model("phils.pml"), model("peterson_n.pml"));
    let all: [&[&str]; 3] = [
        &[&phils, "-DN=12", "--raw", "--all"],
        &[&peterson, "-DN=4", "--raw"],
        &[&phils, "-DN=12", "--raw", "--all", "--max-depth", "28"],
    ];
    let mut killed = 0;
    for round in 0..setting("QUOTIENT_KILLS", 3) as usize {
        let (words, count) = (all[round % all.len()], 2 + round % 2);
        let began = Instant::now();
        let whole = command().arg("check").args(words).args(["--json", "--workers", "1"]).output();
        let (expected, takes) = (told(&whole.expect("it runs")), began.elapsed());
        let folder = Folder::new();
        let run = folder.path().join("run").display().to_string();
        let has_begun = || (0..count).all(|k| Path::new(&run).join(format!("process-{k}/run.json")).exists());
        let free: &[&str] = if words.contains(&"--max-depth") { &words[4..] } else { &[] };
        let mut arguments: Vec<&str> =
            words.iter().copied().chain(["--json", "--checkpoint", &run]).collect();
        for _ in 0..3 {
            let list = list(&folder, count);
            let mut all: Vec<Child> = (0..count).map(|k| start(&list, k, &arguments)).collect();
            // Whoever waits for a process that never comes waits for long.
            met(&mut all);
            std::thread::sleep(takes.mul_f64(random.number(1000) as f64 / 1000.0));
            let victim = random.below(count);
            let ended_before = all.iter_mut().any(|child| !matches!(child.try_wait(), Ok(None)));
            all[victim].kill().expect("it can be killed");
            let at = Instant::now();
            for (number, child) in all.into_iter().enumerate() {
                let output = child.wait_with_output().expect("it ends");
                if !ended_before && number != victim {
                    let code = output.status.code();
                    // It may have been at its end, or not have met the others yet.
                    assert!(
                        code == Some(5) || code == Some(2) || code == expected.0,
                        "{code:?}: {}",
                        text(&output.stderr)
                    );
                    let said = [text(&output.stdout), text(&output.stderr)].concat();
                    assert!(code != Some(5) || !free.is_empty() || said.contains("--resume"), "{said}");
                    killed += usize::from(code == Some(5));
                }
            }
            assert!(at.elapsed() < Duration::from_secs(70), "{:?}", at.elapsed());
            if has_begun() {
                arguments = ["--json", "--resume", &run].iter().chain(free).copied().collect();
            } else {
                let _ = std::fs::remove_dir_all(&run);
            }
        }
        let output = cluster(count, &arguments);
        assert_eq!(told(&output), expected, "{words:?} by {count}: {}", text(&output.stderr));
        let ended = cluster(count, &[&["--resume", &run, "--json"], free].concat());
        assert_eq!(told(&ended), expected, "{words:?} by {count}, ended: {}", text(&ended.stderr));
        let reached = quotient(&["status", &run, "--json"]);
        let reached: Value = serde_json::from_slice(&reached.stdout).expect("it is JSON");
        let search = &reached["searches"][0];
        assert_eq!(
            [&search["states"], &search["transitions"]],
            [&expected.1[1], &expected.1[2]],
            "{reached:#}"
        );
        assert_eq!(reached["processes"].as_array().map(Vec::len), Some(count));
    }
    assert!(killed > 0, "all had ended before they were killed");
}

/// What is wrong with the folder of several processes is said, and nothing is overwritten.
#[test]
fn what_several_processes_cannot_resume_is_said() {
    let folder = Folder::new();
    let run = folder.path().join("run").display().to_string();
    let (phils, peterson) = (model("phils.pml"), model("peterson_n.pml"));
    let words = [peterson.as_str(), "-DN=4"];
    let whole = told(&cluster(2, &[&words[..], &["--json"]].concat()));
    let limited = [&words[..], &["--max-depth", "40", "--checkpoint", &run]].concat();
    let output = cluster(2, &limited);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    assert!(
        report.contains(&format!("`quotient cluster --local 2 check --resume {run}` goes on")),
        "{report}"
    );
    let log = Path::new(&run).join("process-1/search-1.log");
    let written = std::fs::read(&log).expect("there is a log");
    let refused = |output: Output, why: &str| {
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{why}: {said}");
    };
    refused(cluster(2, &limited), "nothing is overwritten");
    refused(cluster(3, &["--resume", &run]), "is that of 2 processes, and there are 3 here");
    refused(quotient(&["check", "--resume", &run]), "is that of 2 processes");
    refused(cluster(2, &["--resume", &run, "-DN=3"]), "there -DN=4, here -DN=3");
    refused(cluster(2, &["--resume", &run, "--por", "off"]), "there not given, here --por=off");
    refused(cluster(2, &["--resume", "/nowhere"]), "holds no checkpoint");
    let other = Folder::new();
    other.write("thesis.txt", "years of work");
    let foreign = other.path().display().to_string();
    refused(cluster(2, &[&words[..], &["--checkpoint", &foreign]].concat()), "is not empty");
    assert_eq!(std::fs::read_dir(other.path()).expect("it is there").count(), 1, "nothing was added");
    // The folder of one process, and a process's folder of another run.
    let single = folder.path().join("single").display().to_string();
    quotient(&["check", &phils, "-DN=8", "--raw", "--max-depth", "5", "--checkpoint", &single]);
    refused(cluster(2, &["--resume", &single]), "is that of one process");
    let second = folder.path().join("second").display().to_string();
    cluster(2, &[&words[..], &["--max-depth", "40", "--checkpoint", &second]].concat());
    let mixed = folder.path().join("mixed");
    for (from, process) in [(&run, "process-0"), (&second, "process-1")] {
        let to = mixed.join(process);
        std::fs::create_dir_all(&to).expect("it can be made");
        for file in ["run.json", "search-1.log"] {
            let from = Path::new(from).join(process).join(file);
            std::fs::copy(from, to.join(file)).expect("it can be copied");
        }
    }
    refused(cluster(2, &["--resume", &mixed.display().to_string()]), "is not of the run");
    assert_eq!(std::fs::read(&log).expect("it is there"), written, "nothing was overwritten");
    // Damage is named, and all go on from what is left.
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
    for (process, (message, damage)) in damages.into_iter().enumerate() {
        let log = Path::new(&run).join(format!("process-{}/search-1.log", process % 2));
        let mut bytes = std::fs::read(&log).expect("there is a log");
        damage(&mut bytes);
        std::fs::write(&log, bytes).expect("it can be written");
        let output = cluster(2, &["--resume", &run, "--max-depth", "41"]);
        let said = [text(&output.stdout), text(&output.stderr)].concat();
        assert!(said.contains("search-1.log") && said.contains(message), "{message}: {said}");
    }
    let output = cluster(2, &["--resume", &run, "--json"]);
    assert_eq!(told(&output), whole, "{}", text(&output.stderr));
}
