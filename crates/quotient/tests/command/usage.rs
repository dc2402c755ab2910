//! The command as a user meets it: exit statuses, reports, errors, traces.

use std::process::{Command, Output};

use serde_json::Value;

use crate::command_line::{File, model, quotient};
use quotient_testing::setting;

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("one JSON object on standard output")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const DEADLOCK: &str =
    "bit a, b;\nactive proctype P() { a == 1; b = 1 }\nactive proctype Q() { b == 1; a = 1 }\n";
const ASSERTION: &str =
    "byte x;\nactive [2] proctype P() {\n\tbyte t;\n\tt = x;\n\tx = t + 1;\n\tassert(x < 2)\n}\n";

#[test]
fn a_model_that_holds() {
    let output = quotient(&["check", &model("peterson.pml")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("holds"));
}

#[test]
fn a_deadlock_shows_who_waits_for_what() {
    let file = File::new("deadlock.pml", DEADLOCK);
    let output = quotient(&["check", file.path()]);
    assert_eq!(output.status.code(), Some(11));
    let text = stdout(&output);
    assert!(text.contains("deadlock: invalid end state, in the initial state"), "{text}");
    assert!(text.contains("P(0) at"), "{text}");
    assert!(text.contains("a == 1"), "{text}");
    assert_eq!(quotient(&["check", "--no-deadlock", file.path()]).status.code(), Some(0));
}

#[test]
fn an_assertion_has_a_shortest_trace() {
    let file = File::new("assertion.pml", ASSERTION);
    let output = quotient(&["check", "--raw", "--json", file.path()]);
    assert_eq!(output.status.code(), Some(12));
    let object = json(&output);
    assert_eq!(object["verdict"], "violated");
    assert_eq!(object["violations"][0]["kind"], "assertion");
    assert_eq!(object["violations"][0]["message"], "assertion violated: assert(x < 2)");
    let steps = object["violations"][0]["trace"]["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 5, "{object:#}");
    assert_eq!(steps[1]["changes"][0]["name"], "x");
    assert_eq!(steps[4]["line"], 6);
}

/// As text, a run has what was wrong with an assertion, also where it goes on to something else, and the ends of processes; so has it with `--full`.
#[test]
fn text_tells_what_fails_on_the_way() {
    let file = File::new("on.pml", "byte x;\nactive proctype P() { x = 1; assert(x == 0); (x == 2) }\n");
    for more in [&["--all", "--raw"][..], &["--all", "--raw", "--full"]] {
        let text = stdout(&quotient(&[&["check", file.path()], more].concat()));
        assert_eq!(text.matches("assert(x == 0)  1 == 0").count(), 2, "{text}");
    }
    let text = stdout(&quotient(&["check", &model("dining_philosophers.pml")]));
    assert!(text.contains("  ends\n") && !text.contains("-end-"), "{text}");
}

#[test]
fn the_json_object_has_its_fields() {
    let object = json(&quotient(&["check", "--json", &model("peterson.pml")]));
    for field in [
        "verdict",
        "violations",
        "states",
        "transitions",
        "depth",
        "cpu_seconds",
        "wall_seconds",
        "store_bytes",
        "search_bytes",
        "peak_rss_bytes",
        "unexplored",
        "reductions",
        "unreached",
        "warnings",
    ] {
        assert!(object.get(field).is_some(), "no field {field}");
    }
    assert_eq!(object["verdict"], "holds");
    assert!(object["violations"][0].is_null());
    for field in ["symmetry", "por", "store", "notes"] {
        assert!(object["reductions"].get(field).is_some(), "no field reductions.{field}");
    }
}

#[test]
fn limits_end_undecided() {
    let file = File::new("counter.pml", "int x;\nactive proctype P() { do :: x++ od }\n");
    for limit in
        [["--max-states", "1000"], ["--max-depth", "50"], ["--max-time", "300ms"], ["--max-memory", "30M"]]
    {
        for search in ["bfs", "dfs"] {
            let output = quotient(&["check", "--search", search, limit[0], limit[1], "--json", file.path()]);
            assert_eq!(output.status.code(), Some(5), "{limit:?} {search}: {}", stderr(&output));
            let object = json(&output);
            assert_eq!(object["verdict"], "undecided", "{limit:?} {search}");
            assert!(object["message"].as_str().is_some_and(|m| m.contains("limit")), "{object:#}");
            assert!(object["states"].as_u64() > Some(10));
        }
    }
    // What was found before the limit is said, and that there may be more.
    let file =
        File::new("wrong_counter.pml", "int x;\nactive proctype P() { do :: x++; assert(x != 3) od }\n");
    let output = quotient(&["check", "--all", "--max-states", "1000", file.path()]);
    assert_eq!(output.status.code(), Some(12), "{}", stdout(&output));
    assert!(stdout(&output).contains("the search is incomplete: "), "{}", stdout(&output));
}

#[test]
fn temporal_claims_end_in_their_own_status() {
    let text = "bit x, y;\nactive proctype P() { do :: x = 1 - x od }\nltl p { <> (y == 1) }\n";
    let file = File::new("claim.pml", text);
    let trace = File::new("claim.trace", "");
    let output = quotient(&["check", "--trace", trace.path(), file.path()]);
    assert_eq!(output.status.code(), Some(13), "{}", stderr(&output));
    assert!(stdout(&output).contains("again and again"), "{}", stdout(&output));
    let replayed = quotient(&["replay", trace.path()]);
    assert_eq!(replayed.status.code(), Some(13), "{}", stderr(&replayed));
    assert!(stdout(&replayed).contains("formula violated: <> (y == 1)"), "{}", stdout(&replayed));
    assert_eq!(quotient(&["check", "--safety", file.path()]).status.code(), Some(0));
    assert_eq!(quotient(&["check", "--claim", "q", file.path()]).status.code(), Some(2));

    let output = quotient(&["check", "--safety", "--ltl", "<> (y", file.path()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--ltl:1:"), "{}", stderr(&output));
    let quiet = File::new("quiet.pml", "bit x;\nactive proctype P() { do :: x = 1 - x od }\n");
    let json_of = |args: &[&str]| json(&quotient(&[&["check", "--json"], args, &[quiet.path()]].concat()));
    let object = json_of(&["--ltl", "[]<> (x == 1)", "--ctl", "AG EX (x == 0)", "--invariant", "x < 2"]);
    assert_eq!(object["verdict"], "violated", "{object:#}");
    assert_eq!(object["violations"][0]["kind"], "ctl");
    let verdicts: Vec<&Value> =
        object["answers"].as_array().expect("a list").iter().map(|a| &a["verdict"]).collect();
    assert_eq!(verdicts, ["holds", "holds", "holds", "violated"], "{object:#}");
    let object = json_of(&["--ltl", "<>[] (x == 1)"]);
    assert_eq!(
        (&object["violations"][0]["kind"], &object["violations"][0]["cycle"]),
        (&"ltl".into(), &2.into())
    );
    let dot = File::new("quiet.dot", "");
    assert_eq!(
        quotient(&["check", "--symmetry", "off", "--dot", dot.path(), quiet.path()]).status.code(),
        Some(0)
    );
    let drawn = std::fs::read_to_string(dot.path()).expect("a drawing");
    assert_eq!((drawn.matches(" -> ").count(), drawn.matches("x = 1\\l").count()), (2, 1), "{drawn}");
    assert!(!drawn.contains("penwidth"), "{drawn}");
}

/// A drawing has the names of the model, and the way to what goes wrong is marked: a path from the first state to one that is red.
#[test]
fn the_way_to_a_violation_is_marked() {
    let text = "byte x;\nactive proctype P() {\n  do\n  :: x < 4 -> x++\n  :: x == 2 -> break\n  od;\n  assert(x == 3)\n}\n";
    let file = File::new("marked.pml", text);
    let dot = File::new("marked.dot", "");
    assert_eq!(quotient(&["check", "--raw", "--dot", dot.path(), file.path()]).status.code(), Some(12));
    let drawn = std::fs::read_to_string(dot.path()).expect("a drawing");
    let marked = |line: &&str| line.contains("penwidth=3");
    let steps: Vec<(&str, &str)> = drawn
        .lines()
        .filter(marked)
        .filter_map(|line| line.split_once(" [")?.0.split_once("->"))
        .map(|(from, to)| (from.trim(), to.trim()))
        .collect();
    assert_eq!(steps[0].0, "0", "{drawn}");
    assert!(steps.windows(2).all(|pair| pair[0].1 == pair[1].0), "{drawn}");
    // Twice a guard and an increment, the way out, and no step for the assertion, which leads nowhere.
    assert_eq!(steps.len(), 5, "{drawn}");
    let last = format!("  {} [", steps[4].1);
    let wrong = drawn.lines().find(|line| line.starts_with(&last)).expect("the last state");
    assert!(wrong.contains("color=red") && wrong.contains("P(0) @ line 7\\lx = 2"), "{wrong}");
    assert_eq!(drawn.lines().filter(marked).count(), 11, "{drawn}");
}

#[test]
fn wrong_input_is_explained() {
    let file = File::new("wrong.pml", "byte x;\nactive proctype P() { y = 1; z++ }\n");
    let output = quotient(&["check", file.path()]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("`y` is not declared") && text.contains("`z` is not declared"), "{text}");
    assert!(text.contains(":2:23"), "{text}");
    assert!(text.contains("help:") && text.contains("2 errors"), "{text}");

    let object = json(&quotient(&["check", "--json", file.path()]));
    assert_eq!(object["verdict"], "error");

    let missing = quotient(&["check", "no-such-file.pml"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("cannot read no-such-file.pml"));

    assert_eq!(quotient(&["check", "--no-such-option"]).status.code(), Some(2));
}

#[test]
fn definitions_parameterise_a_model() {
    let states = |n: &str| {
        json(&quotient(&["check", "--json", "--all", "-D", n, &model("phils.pml")]))["states"].as_u64()
    };
    assert!(states("N=3") < states("N=5"));
}

#[test]
fn a_trace_can_be_replayed() {
    let file = File::new("replayed.pml", ASSERTION);
    let trace = File::new("replayed.trace", "");
    let output = quotient(&["check", file.path(), "--trace", trace.path()]);
    assert_eq!(output.status.code(), Some(12));
    let replayed = quotient(&["replay", trace.path()]);
    assert_eq!(replayed.status.code(), Some(12), "{}", stderr(&replayed));
    assert!(stdout(&replayed).contains("assertion violated"));

    std::fs::write(file.path(), "byte x;\nactive proctype P() { x = 1 }\n").expect("writable");
    let changed = quotient(&["replay", trace.path()]);
    assert!(stderr(&changed).contains("has changed"), "{}", stderr(&changed));

    let nonsense = quotient(&["replay", file.path()]);
    assert_eq!(nonsense.status.code(), Some(2));
    assert!(stderr(&nonsense).contains("not a replay file"));
}

#[test]
fn simulation_repeats_with_its_seed() {
    let run = |seed: &str| {
        stdout(&quotient(&["simulate", "--seed", seed, "--steps", "50", &model("peterson.pml")]))
    };
    assert_eq!(run("7"), run("7"));
    assert!(run("7").lines().count() > 10);
    let file = File::new("print.pml", "active proctype P() { printf(\"hello %d\\n\", 7) }\n");
    assert_eq!(
        stdout(&quotient(&["simulate", "--output-only", file.path()])).lines().next(),
        Some("hello 7")
    );
}

#[test]
fn unreached_statements_are_listed() {
    let file = File::new(
        "unreached.pml",
        "byte x;\nactive proctype P() {\n\tif\n\t:: x > 0 -> x = 5\n\t:: else\n\tfi\n}\n",
    );
    let text = stdout(&quotient(&["check", file.path()]));
    assert!(text.contains("never executed:") && text.contains("x = 5"), "{text}");
}

#[test]
fn a_deep_search_overflows_nothing() {
    // The full depth of ten million levels is one command: see CONTRIBUTING.md.
    let levels: u64 = setting("QUOTIENT_DEPTH", 300_000);
    let file = File::new("deep.pml", "int x;\nactive proctype P() { do :: x < LEVELS -> x++ od }\n");
    let define = format!("LEVELS={levels}");
    let args = ["check", "--raw", "--search", "dfs", "--no-deadlock", "--json", "-D", &define, file.path()];
    let object = json(&quotient(&args));
    assert_eq!(object["verdict"], "holds");
    assert_eq!(object["depth"].as_u64(), Some(2 * levels));
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_a_report() {
    let file = File::new("endless.pml", "int x, y;\nactive proctype P() { do :: x++ :: y++ od }\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_quotient"));
    command.args(["check", "--json", "--max-time", "60s", file.path()]).stdout(std::process::Stdio::piped());
    // SAFETY: the function is one that may be called between fork and exec. Tests that run in the background ignore the signal,
    // and so would the command.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(&mut command, || {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    let child = command.spawn().expect("the command runs");
    std::thread::sleep(std::time::Duration::from_millis(700));
    let interrupted =
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(interrupted.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(5));
    let object = json(&output);
    assert_eq!(object["message"], "interrupted");
    assert!(object["states"].as_u64() > Some(0));
}

/// A replay file keeps everything that the model was read with.
#[test]
fn replay_reads_the_model_as_it_was_checked() {
    let dir = std::env::temp_dir().join(format!("quotient-included-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a temporary folder");
    std::fs::write(dir.join("limit.inc"), "#define LIMIT 3\n").expect("a file");
    // Neither the name nor, in its first words, the text says what it is.
    let text = "#include \"limit.inc\"\nbyte x;\nactive proctype P() { do :: x++; assert(x != LIMIT) od }\n";
    let file = File::new("included.model", text);
    let trace = File::new("included.trace", "");
    let folder = dir.display().to_string();
    let args = ["check", "--language", "promela", "-I", &folder, "--trace", trace.path(), file.path()];
    let output = quotient(&args);
    assert_eq!(output.status.code(), Some(12), "{}", stderr(&output));
    let replayed = quotient(&["replay", trace.path()]);
    assert_eq!(replayed.status.code(), Some(12), "{}", stderr(&replayed));
    // As BIR it cannot be read: the language is that of the file.
    let altered = std::fs::read_to_string(trace.path()).expect("a file").replace("\"promela\"", "\"bir\"");
    let other = File::new("altered.trace", &altered);
    assert_eq!(quotient(&["replay", other.path()]).status.code(), Some(2));
    let _ = std::fs::remove_dir_all(&dir);
}

/// The exit status of a replay is that of what happens again, and a path on which nothing happens is not an answer.
#[test]
fn replay_ends_in_the_status_of_what_happens() {
    for (name, text, options, status) in [
        ("stuck.pml", "byte x; active proctype P() { x == 1 }\n", &[][..], 11),
        ("wrong.pml", "byte x; active proctype P() { x = 1; assert(x == 0) }\n", &[], 12),
        ("invariant.pml", "byte x; active proctype P() { x = 1; x = 2 }\n", &["--invariant", "x < 2"], 12),
        ("formula.pml", "byte x; active proctype P() { x = 1; x = 2 }\n", &["--ltl", "[] (x < 2)"], 13),
        ("cycle.pml", "byte x; active proctype P() { do :: x = 1 - x od }\n", &["--progress"], 13),
        ("accept.pml", "byte x; active proctype P() { accept: do :: x = 1 - x od }\n", &["--acceptance"], 13),
    ] {
        let file = File::new(name, text);
        let trace = File::new(&format!("{name}.trace"), "");
        let output = quotient(&[&["check", "--trace", trace.path()], options, &[file.path()]].concat());
        assert_eq!(output.status.code(), Some(status), "{name}: {}", stderr(&output));
        let replayed = quotient(&["replay", trace.path()]);
        assert_eq!(replayed.status.code(), Some(status), "{name}: {}", stderr(&replayed));
    }
    let right = "byte x; active proctype P() { x = 1; assert(x == 1) }\n";
    let file = File::new("mended.pml", &right.replace("x == 1)", "x == 0)"));
    let trace = File::new("mended.trace", "");
    assert_eq!(quotient(&["check", "--raw", "--trace", trace.path(), file.path()]).status.code(), Some(12));
    std::fs::write(file.path(), right).expect("a file");
    let replayed = quotient(&["replay", "--json", trace.path()]);
    assert_eq!(replayed.status.code(), Some(5), "{}", stdout(&replayed));
    assert_eq!(json(&replayed)["verdict"], "undecided");
}

#[test]
fn a_log_gets_lines_now_and_then() {
    let file = File::new("endless_log.pml", "int x, y;\nactive proctype P() { do :: x++ :: y++ od }\n");
    let limits = ["--max-time", "3s", "--max-memory", "2G"];
    let logged = quotient(&[&["check", "--log-every", "500ms"], &limits[..], &[file.path()]].concat());
    assert_eq!(logged.status.code(), Some(5), "{}", stderr(&logged));
    let lines = stderr(&logged).lines().filter(|l| l.contains(" states") && l.contains(" s  ")).count();
    assert!((1..=8).contains(&lines), "{}", stderr(&logged));
    assert!(!stderr(&logged).contains('\r') && !stderr(&logged).contains('\x1b'), "{:?}", stderr(&logged));
    let silent = quotient(&[&["check"], &limits[..], &[file.path()]].concat());
    assert_eq!(stderr(&silent), "");
    assert_eq!(quotient(&["check", "--quiet", "--log-every", "1s", file.path()]).status.code(), Some(2));
}

/// A macro that the model leaves open, in the size of an array and in an expression: its value can be said.
#[test]
fn macros_that_are_left_open() {
    for text in [
        "byte a[SIZE];\nactive proctype P() { a[0] = 1 }\n",
        "byte x;\nactive proctype P() { x = 2 * SIZE }\n",
    ] {
        let folder = quotient_testing::Folder::new();
        let file = folder.path().join("open.pml");
        std::fs::write(&file, text).expect("written");
        let run = |more: &[&str]| {
            let output = crate::command_line::command().arg("check").arg(&file).args(more).output();
            let output = output.expect("the command runs");
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let (status, told) = run(&[]);
        assert_eq!(status, Some(2), "{told}");
        assert!(told.contains("say its value: `-D SIZE=VALUE`"), "{told}");
        let (status, told) = run(&["-D", "SIZE=3"]);
        assert_eq!(status, Some(0), "{told}");
    }
}
