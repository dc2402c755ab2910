//! Everything on the command line is answered: by a verdict, or by an error that says what was not understood.

use std::fs::File as OpenFile;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::command_line::{File, command, model, quotient};

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", out(output), err(output)))
}

fn exit(args: &[&str]) -> i32 {
    quotient(args).status.code().unwrap_or(-1)
}

const DEADLOCK: &str = "bit a;\nactive proctype P() { a == 1 }\n";
const ASSERTION: &str = "byte x;\nactive proctype P() { x++; assert(x == 0) }\n";
const HOLDS: &str = "byte x;\nactive proctype P() { x = 1 }\n";
const ENDLESS: &str = "int x, y;\nactive proctype P() { do :: x++ :: y++ od }\n";
/// `a` is violated by a cycle, `b` by a path, `c` holds, and an assertion fails.
const CLAIMS: &str = "byte x, y;\n\
    active proctype P() { do :: x = 1 - x od }\n\
    active proctype Q() { do :: y < 3 -> y++; assert(y != 2) :: y == 3 -> break od; x == 5 }\n\
    ltl a { <> (x == 7) }\nltl b { [] (y < 3) }\nltl c { [] (y < 10) }\n";

/// Verdicts of the questions, as `text: verdict`.
fn answers(object: &Value) -> Vec<(String, String)> {
    let list = object["answers"].as_array().expect("a list of answers");
    let word = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    list.iter().map(|a| (word(&a["text"]), word(&a["verdict"]))).collect()
}

#[test]
fn the_status_of_a_verdict_survives_output_that_cannot_be_written() {
    let wrong = "byte x;\nactive proctype P() { y = 1 }\n";
    for (name, text, status) in [
        ("full_deadlock.pml", DEADLOCK, 11),
        ("full_assertion.pml", ASSERTION, 12),
        ("full_claims.pml", CLAIMS, 13),
        ("full_holds.pml", HOLDS, 0),
        ("full_endless.pml", ENDLESS, 5),
        ("full_wrong.pml", wrong, 2),
    ] {
        let file = File::new(name, text);
        for options in [&["check", "--max-states", "100"][..], &["check", "--max-states", "100", "--json"]] {
            let full = || OpenFile::options().write(true).open("/dev/full").expect("a full device");
            let run = |out: Stdio, err: Stdio| {
                let mut command = command();
                command.args(options).arg(file.path()).stdout(out).stderr(err);
                command.status().expect("the command runs").code()
            };
            assert_eq!(run(full().into(), Stdio::null()), Some(status), "{name}: stdout is full");
            assert_eq!(run(Stdio::null(), full().into()), Some(status), "{name}: stderr is full");
            assert_eq!(run(full().into(), full().into()), Some(status), "{name}: both are full");
            // A reader that stops at once.
            let mut child = command();
            child.args(options).arg(file.path()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = child.spawn().expect("the command runs");
            drop(child.stdout.take());
            assert_eq!(child.wait().expect("it ends").code(), Some(status), "{name}: a closed pipe");
        }
    }
    let file = File::new("full_said.pml", ASSERTION);
    let proof =
        File::new("full_said.clp", "p(X) :- X = 0.\np(Y) :- p(X), Y = X + 1.\nassert up: p(X) |= X >= 0.\n");
    let certificate = File::new("full_said.cert", "");
    quotient(&["prove", proof.path(), "--certificate", certificate.path()]);
    let spin = format!("spin -run {}", file.path());
    let answer = File::new("full_said.json", &out(&quotient(&["check", file.path(), "--json"])));
    for (line, status) in [
        (&["check", file.path()][..], 12),
        (&["compare", file.path()][..], 12),
        (&["prove", proof.path()][..], 0),
        (&["verify", certificate.path()][..], 0),
        // What is not about a verdict has done nothing, then.
        (&["convert", answer.path(), "--to", "junit"][..], 2),
        (&["from-spin", &spin][..], 2),
        (&["completions", "bash"][..], 2),
    ] {
        let full = OpenFile::options().write(true).open("/dev/full").expect("a full device");
        let said = command().args(line).stdout(full).output().expect("the command runs");
        assert_eq!(said.status.code(), Some(status), "{line:?}");
        assert_eq!(err(&said).matches("cannot write the report").count(), 1, "{line:?}: {}", err(&said));
    }
}

#[test]
fn side_files_that_cannot_be_written_change_nothing() {
    for (name, text, status) in [("side_holds.pml", HOLDS, 0), ("side_assertion.pml", ASSERTION, 12)] {
        let file = File::new(name, text);
        let output = quotient(&["check", file.path(), "--dot", "/no/such/place.dot"]);
        assert_eq!(output.status.code(), Some(status), "{}", err(&output));
        assert!(out(&output).contains("states, "), "{}", out(&output));
        assert!(err(&output).contains("cannot write /no/such/place.dot"), "{}", err(&output));
    }
    let file = File::new("side_trace.pml", ASSERTION);
    let output = quotient(&["check", file.path(), "--trace", "/no/such/place.trace", "--json"]);
    assert_eq!(output.status.code(), Some(12));
    assert_eq!(json(&output)["verdict"], "violated");
    assert!(err(&output).contains("cannot write /no/such/place.trace"), "{}", err(&output));
    // A trace of an earlier check is not one of this check.
    let file = File::new("side_none.pml", HOLDS);
    let stale = File::new("side_none.trace", "stale");
    let output = quotient(&["check", file.path(), "--trace", stale.path()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(err(&output).contains("there is no counterexample, and"), "{}", err(&output));
    let program =
        File::new("side_program.c", "#include <assert.h>\nint main(void) { assert(0); return 0; }\n");
    let proof = "p(X) :- X = 0.\np(Y) :- p(X), Y = X + 1.\nassert up: p(X) |= X >= 1.\n";
    let proof = File::new("side_proof.clp", proof);
    for (words, status, said) in [
        (&["check", program.path(), "--dot"][..], 12, "violated"),
        (&["check", program.path(), "--trace"], 12, "violated"),
        (&["check", program.path(), "--json", "--dot"], 12, "violated"),
        (&["prove", proof.path(), "--certificate"], 10, "refuted"),
        (&["prove", proof.path(), "--smtlib"], 10, "refuted"),
        (&["prove", proof.path(), "--picture"], 10, "refuted"),
    ] {
        let output = command().args(words).arg("/proc/no/such").output().expect("it runs");
        assert_eq!(output.status.code(), Some(status), "{words:?}: {}", err(&output));
        assert!(out(&output).contains(said), "{words:?}: {}", out(&output));
    }
    // What is too large to draw is still checked.
    let large = File::new("side_large.pml", "byte x, y;\nactive proctype P() { do :: x++ :: y++ od }\n");
    let drawing = File::new("side_large.dot", "");
    let output = quotient(&["check", large.path(), "--dot", drawing.path()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(err(&output).contains("too many to draw"), "{}", err(&output));
}

#[test]
fn what_is_read_is_not_written_over() {
    let file = File::new("spared.pml", ASSERTION);
    for line in [
        ["check", file.path(), "--trace", file.path()],
        ["check", file.path(), "--dot", file.path()],
        ["prove", file.path(), "--certificate", file.path()],
    ] {
        let output = quotient(&line);
        assert_eq!(output.status.code(), Some(2), "{line:?}");
        assert!(err(&output).contains("would write over"), "{}", err(&output));
        assert_eq!(std::fs::read_to_string(file.path()).expect("the model"), ASSERTION);
    }
}

/// A message with too few values is wrong wherever a process stands that would send it. If nobody takes it, nobody has moved either: the
/// process is stuck, a `timeout` comes, and a claim goes on watching.
#[test]
fn a_rendezvous_that_nobody_takes_is_no_move() {
    let channel = "chan c = [0] of { byte, byte }; byte x; proctype W(chan p) { p!0 } init { run W(c)";
    let stuck = File::new("untaken_stuck.pml", &format!("{channel} }}"));
    let waits = File::new("untaken_timeout.pml", &format!("{channel}; timeout; assert(false) }}"));
    let claim = File::new("untaken_claim.pml", &format!("{channel} }}\nltl p {{ <> (x == 1) }}"));
    for options in [&[][..], &["--raw"], &["--search", "dfs"], &["--por", "off"]] {
        let kinds = |file: &File, all: &[&str]| {
            let output = quotient(&[&["check", file.path(), "--json"], options, all].concat());
            let object = json(&output);
            let list = object["violations"].as_array().expect("a list").clone();
            let mut kinds: Vec<String> =
                list.iter().map(|v| v["kind"].as_str().unwrap_or_default().to_owned()).collect();
            kinds.sort();
            (kinds, object)
        };
        assert_eq!(kinds(&stuck, &["--all"]).0, ["channel", "deadlock"], "{options:?}");
        assert_eq!(kinds(&stuck, &[]).0.len(), 1, "{options:?}");
        assert_eq!(kinds(&waits, &["--all"]).0, ["assertion", "channel", "deadlock"], "{options:?}");
        if !options.contains(&"--search") {
            let object = kinds(&claim, &["--all"]).1;
            let verdicts = answers(&object);
            assert!(verdicts.iter().all(|(_, verdict)| verdict == "violated"), "{options:?}: {verdicts:?}");
        }
    }
}

#[test]
fn every_model_is_checked() {
    let files = [
        File::new("several_holds.pml", HOLDS),
        File::new("several_deadlock.pml", DEADLOCK),
        File::new("several_assertion.pml", ASSERTION),
    ];
    let [holds, deadlock, assertion] = [0, 1, 2].map(|n: usize| files[n].path());
    // The worst of 70, 2, 14, 13, 12, 11, 5, 0.
    let claims = File::new("several_claims.pml", CLAIMS);
    let endless = File::new("several_endless.pml", ENDLESS);
    for (models, status) in [
        (vec![holds, holds], 0),
        (vec![holds, endless.path()], 5),
        (vec![endless.path(), deadlock, holds], 11),
        (vec![assertion, deadlock], 12),
        (vec![holds, claims.path(), assertion], 13),
        (vec![holds, "no-such-model.pml", assertion], 2),
    ] {
        let arguments = [&["check", "--max-states", "1000"], &models[..]].concat();
        assert_eq!(exit(&arguments), status, "{arguments:?}");
        let lines = quotient(&[&arguments[..], &["--json"]].concat());
        assert_eq!(lines.status.code(), Some(status));
        let objects: Vec<Value> =
            out(&lines).lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
        let named: Vec<&str> = objects.iter().map(|o| o["file"].as_str().unwrap_or_default()).collect();
        assert_eq!(named, models);
    }
    let text = out(&quotient(&["check", holds, deadlock, assertion]));
    for (file, verdict) in [(holds, "holds"), (deadlock, "violated"), (assertion, "violated")] {
        assert_eq!(text.matches(&format!("{file}: {verdict}\n")).count(), 1, "{text}");
    }
    let table: Vec<&str> = text.lines().rev().take(4).collect();
    assert!(table[3].starts_with("file ") && table[3].contains("verdict"), "{text}");
    assert!(
        table[2].contains(" holds ") && table[1].contains(" violated ") && table[0].contains(" 12 "),
        "{text}"
    );
    // BIR too.
    let bir = model("dining_philosophers.bir");
    assert_eq!(exit(&["check", &bir, &bir]), 11);
}

#[test]
fn what_cannot_be_checked_together_is_refused() {
    let (pml, bir, c) = (model("peterson.pml"), model("dining_philosophers.bir"), model("c/lost_wake_up.c"));
    for files in [[&pml, &bir], [&pml, &c], [&c, &pml], [&bir, &pml]] {
        let output = quotient(&["check", files[0], files[1]]);
        assert_eq!(output.status.code(), Some(2), "{files:?}");
        assert!(err(&output).contains("cannot be checked together"), "{}", err(&output));
    }
    for option in ["--trace", "--dot", "--relative"] {
        let output = quotient(&["check", &pml, &pml, option, "x"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(err(&output).contains(&format!("{option} is for one model")), "{}", err(&output));
    }
    // Several C files are one program.
    let first = File::new("one.c", "int two(void);\nint main(void) { return two() - 2; }\n");
    let second = File::new("two.c", "int two(void) { return 2; }\n");
    let output = quotient(&["check", first.path(), second.path()]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert_eq!(out(&output).matches(": holds").count(), 1, "{}", out(&output));
}

#[test]
fn what_is_asked_beside_the_claims_is_answered() {
    let file = File::new("beside.pml", CLAIMS);
    let all = ["check", "--safety", "--all", "--json", file.path()];
    assert_eq!(answers(&json(&quotient(&all))), [("safety".into(), "violated".into())]);
    for (option, text, status) in [
        ("--ltl", "<> (x == 9)", 13),
        ("--ltl", "[] (x < 2)", 12),
        ("--ctl", "AG (x == 0)", 13),
        ("--ctl", "EF (x == 1)", 12),
        ("--invariant", "y < 9", 12),
        ("--invariant", "x == 0", 12),
    ] {
        let output = quotient(&[&all[..], &[option, text]].concat());
        assert_eq!(output.status.code(), Some(status), "{option} {text}: {}", out(&output));
        let asked = format!("{} {text}", &option[2..]);
        assert!(
            answers(&json(&output)).iter().any(|(t, _)| *t == asked),
            "{option} {text}: {}",
            out(&output)
        );
    }
    // One claim of the model, and one that is given.
    let output = quotient(&["check", "--all", "--json", "--claim", "c", "--ltl", "<> (x == 9)", file.path()]);
    let mut asked: Vec<String> = answers(&json(&output)).into_iter().map(|(text, _)| text).collect();
    asked.sort();
    assert_eq!(asked, ["ltl <> (x == 9)", "ltl c [] (y < 10)", "safety"], "{}", out(&output));
    assert_eq!(output.status.code(), Some(13));
}

#[test]
fn definitions_that_nobody_uses_are_warned_of() {
    let text = "#define N 2\n#define TWICE (2 * M)\nbyte x;\nactive proctype P() { x = N }\n\
        #ifdef EXTRA\nactive proctype Q() { skip }\n#endif\n#if 0\nbyte y = DEAD;\n#endif\n";
    let file = File::new("defined.pml", text);
    for (define, used) in [("N=3", true), ("EXTRA", true), ("n=3", false), ("M=1", false), ("DEAD=1", false)]
    {
        let output = quotient(&["check", "-D", define, "--json", file.path()]);
        assert_eq!(output.status.code(), Some(0), "{define}: {}", err(&output));
        let warnings = json(&output)["warnings"].as_array().expect("a list").clone();
        let name = define.split('=').next().unwrap_or_default();
        let about = format!("`-D {name}` has no effect: the model does not use this name");
        assert_eq!(warnings.contains(&about.clone().into()), !used, "{define}: {warnings:?}");
        assert_eq!(err(&output).contains(&about), !used, "{define}: {}", err(&output));
    }
    // A formula that is given uses it, by way of another macro.
    let output = quotient(&["check", "-D", "M=1", "--invariant", "x <= TWICE", "--json", file.path()]);
    assert_eq!(
        (output.status.code(), json(&output)["warnings"].as_array().map(Vec::len)),
        (Some(0), Some(0))
    );
}

#[test]
fn every_property_has_an_answer() {
    let file = File::new("properties.pml", CLAIMS);
    let first = quotient(&["check", "--json", file.path()]);
    let expected = [
        ("ltl a <> (x == 7)", "violated"),
        ("ltl b [] (y < 3)", "undecided"),
        ("ltl c [] (y < 10)", "undecided"),
        ("safety", "undecided"),
    ];
    let expected = expected.map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(answers(&json(&first)), expected);
    let text = out(&quotient(&["check", file.path()]));
    for (question, verdict) in &expected {
        assert!(text.contains(&format!("  {question}: {verdict}")), "{question}\n{text}");
    }
    let object = json(&quotient(&["check", "--all", "--json", file.path()]));
    let verdicts = answers(&object);
    for (question, verdict) in
        [("ltl a", "violated"), ("ltl b", "violated"), ("ltl c", "holds"), ("safety", "violated")]
    {
        assert!(
            verdicts.iter().any(|(q, v)| q.starts_with(question) && v == verdict),
            "{question} {verdicts:?}"
        );
    }
    let of: Vec<&Value> =
        object["violations"].as_array().expect("a list").iter().map(|v| &v["question"]).collect();
    assert_eq!(of, ["claim 0", "claim 1", "safety"]);
    // The search for a cycle passes every state, and ends where it finds one: the assertion beyond is found all the same.
    let beyond = "byte x;\nactive proctype P() { do :: x < 200 -> x++ :: x == 200 -> break od; assert(false) }\n\
        active proctype Q() { bit y; do :: y = 1 - y od }\nltl p { <> (x == 201) }\n";
    let beyond = File::new("beyond.pml", beyond);
    let object = json(&quotient(&["check", "--all", "--json", "--raw", beyond.path()]));
    let mut verdicts = answers(&object);
    verdicts.sort();
    assert_eq!(
        verdicts.iter().map(|(_, v)| v.as_str()).collect::<Vec<_>>(),
        ["violated", "violated"],
        "{verdicts:?}"
    );
}

#[test]
fn compare_answers_the_claims() {
    let file = File::new("compared.pml", CLAIMS);
    let options = ["--symmetry", "off,exact", "--store", "plain,tree"];
    let output = quotient(&[&["compare", file.path(), "--json"], &options[..]].concat());
    assert_eq!(output.status.code(), Some(13), "{}", err(&output));
    let rows = json(&output);
    let rows = rows.as_array().expect("a list");
    for (question, verdict) in [
        ("safety", "violated"),
        ("ltl a <> (x == 7)", "violated"),
        ("ltl b [] (y < 3)", "violated"),
        ("ltl c [] (y < 10)", "holds"),
    ] {
        let of: Vec<&Value> = rows.iter().filter(|r| r["question"] == question).collect();
        assert!(of.len() >= 4 && of.iter().all(|r| r["verdict"] == verdict), "{question}: {of:?}");
    }
    let lasso = rows.iter().filter(|r| r["question"] == "ltl a <> (x == 7)");
    let stores = |name: &str| lasso.clone().filter(|r| r["reductions"]["store"] == name).count();
    assert!(stores("plain") >= 2 && stores("tree") >= 2, "{rows:?}");
    let text = out(&quotient(&[&["compare", file.path()], &options[..]].concat()));
    assert!(text.contains("\nltl c [] (y < 10)\n"), "{text}");
    let holds = File::new("compared_holds.pml", HOLDS);
    assert_eq!(exit(&[&["compare", holds.path()], &options[..]].concat()), 0);
}

#[test]
fn stores_serve_every_question_and_orders_that_do_not_serve_are_refused() {
    let file = File::new("kept.pml", CLAIMS);
    let cycles = &["--claim", "a"][..];
    let branching = &["--safety", "--ctl", "EF (x == 1)"][..];
    for (question, dfs) in [(cycles, true), (branching, false)] {
        let usual = json(&quotient(&[&["check", file.path(), "--json"], question].concat()));
        for store in ["tree", "plain", "gzip", "collapse"] {
            let arguments = [&["check", file.path(), "--json", "--store", store], question].concat();
            let object = json(&quotient(&arguments));
            assert_eq!(object["reductions"]["store"], store, "{arguments:?}");
            assert_eq!(object["answers"][0]["verdict"], usual["answers"][0]["verdict"], "{arguments:?}");
            assert_eq!(object["states"], usual["states"], "{arguments:?}");
        }
        let (served, refused) = if dfs { ("dfs", "bfs") } else { ("bfs", "dfs") };
        let arguments = [&["check", file.path(), "--search", refused], question].concat();
        let output = quotient(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(err(&output).contains("--search does not apply"), "{}", err(&output));
        let arguments = [&["check", file.path(), "--search", served], question].concat();
        assert_ne!(exit(&arguments), 2, "{arguments:?}");
    }
    for options in [["--store", "plain"], ["--store", "tree"], ["--search", "dfs"]] {
        // Questions that a search for reachable states answers.
        let arguments = [&["check", file.path(), "--claim", "c"], &options[..]].concat();
        assert_eq!(exit(&arguments), 12, "{arguments:?}");
        assert_eq!(exit(&[&["check", file.path(), "--safety"], &options[..]].concat()), 12);
    }
    let depth = quotient(&["check", file.path(), "--safety", "--ctl", "EF (x == 1)", "--max-depth", "5"]);
    assert_eq!(depth.status.code(), Some(2), "{}", out(&depth));
    let object = json(&quotient(&["check", "--safety", "--store", "plain", "--json", file.path()]));
    assert_eq!(object["reductions"]["store"], "plain");
}

#[test]
fn cycles_that_labels_speak_of_are_named_where_nobody_asks_for_them() {
    let model = "byte x; active proctype P() { accept: do :: x = 1 - x; progress: skip od }";
    let file = File::new("labelled.pml", model);
    let left = |options: &[&str]| {
        let object = json(&quotient(&[&["check", "--json", file.path()], options].concat()));
        let left = object["not_checked"].as_array().expect("a list").clone();
        left.iter().map(|what| what.as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let both = left(&[]);
    assert!(
        both.len() == 2 && both[0].contains("--acceptance") && both[1].contains("--progress"),
        "{both:?}"
    );
    let progress = left(&["--acceptance"]);
    assert!(progress.len() == 1 && progress[0].contains("--progress"), "{progress:?}");
    assert_eq!(left(&["--acceptance", "--progress"]), Vec::<String>::new());
    let text = out(&quotient(&["check", file.path()]));
    assert!(text.contains("not checked: acceptance cycles of the model's accept labels"), "{text}");
}

#[test]
fn sentences_say_what_was_checked() {
    let file = File::new("sentences.pml", DEADLOCK);
    let text = out(&quotient(&["check", "--no-deadlock", file.path()]));
    assert!(!text.contains("no deadlock,") && text.contains("no assertion violated"), "{text}");
    assert!(text.contains("not checked: deadlocks (--no-deadlock)"), "{text}");
    let object = json(&quotient(&["check", "--no-deadlock", "--json", file.path()]));
    assert_eq!(object["not_checked"][0], "deadlocks (--no-deadlock)");
    let file = File::new("sentences_claims.pml", &CLAIMS.replace("assert(y != 2)", "skip"));
    let text = out(&quotient(&["check", "--claim", "c", file.path(), "--no-deadlock"]));
    assert!(text.contains("ltl c [] (y < 10): holds"), "{text}");
    assert!(text.contains("ltl a <> (x == 7) (--claim), ltl b [] (y < 3) (--claim)"), "{text}");
    let fair = quotient(&[
        "check",
        "--fair",
        "--safety",
        "--ltl",
        "[]<> (x == 1)",
        "--no-deadlock",
        "--json",
        file.path(),
    ]);
    assert_eq!(json(&fair)["assumptions"].as_array().map(Vec::len), Some(1), "{}", out(&fair));
}

/// A sender, a receiver, and what one more process does.
fn exclusive(other: &str) -> String {
    format!(
        "chan c = [1] of {{ byte }};\nactive proctype S() {{ xs c; c!1 }}\nactive proctype R() {{ byte x; xr c; c?x }}\n{other}\n"
    )
}

/// With SPIN's answers.
#[test]
fn channels_that_a_process_has_for_itself() {
    for (name, other, status) in [
        ("nobody", "", 0),
        ("sends", "active proctype T() { c!2 }", 12),
        ("never_executed", "active proctype T() { byte x; x == 1; c!2 }", 11),
        ("waits", "active proctype T() { byte x; end: c?7 }", 12),
        ("asks", "active proctype T() { len(c) < 5 }", 12),
        (
            "asks_itself",
            "chan d = [1] of { byte }; active proctype T() { xs d; xr d; d!1; len(d) == 1; d?_ }",
            0,
        ),
        ("asks_less", "active proctype T() { nempty(c) || true }", 12),
        ("another", "chan d = [1] of { byte }; active proctype T() { d!2; d?_ }", 0),
        ("in_a_step", "active proctype T() { d_step { empty(c) -> skip } }", 12),
        (
            "rendezvous",
            "chan d = [0] of { byte }; active proctype T() { xs d; d!1 } active proctype U() { d?_ }",
            12,
        ),
        ("twice", "active proctype T() { xs c; skip }", 12),
        ("sorted", "chan d = [2] of { byte }; active proctype T() { xr d; d!!1 }", 12),
        ("any", "chan d = [2] of { byte }; active proctype T() { xr d; d!1; d??_ }", 12),
        (
            "started",
            "proctype U(chan d) { xs d; d!1; d?_ } chan e[2] = [1] of { byte }; init { atomic { run U(e[0]); run U(e[1]) } }",
            0,
        ),
        (
            "started_alike",
            "proctype U(chan d) { xs d; d!1; d?_ } chan e[2] = [1] of { byte }; init { atomic { run U(e[1]); run U(e[1]) } }",
            12,
        ),
        ("started_taken", "proctype U(chan d) { xs d; skip } init { run U(c) }", 12),
        ("has_ended", "chan d = [2] of { byte }; proctype U() { xs d; d!1 } init { run U(); d?_; d!2 }", 12),
        (
            "given_away",
            "chan d = [1] of { chan }; proctype U() { chan e = [1] of { byte }; xr e; d!e; e?_ } active proctype T() { chan f; run U(); d?f; f!1 }",
            0,
        ),
        (
            "taken_back",
            "chan d = [1] of { chan }; proctype U() { chan e = [1] of { byte }; xr e; d!e; e?_ } active proctype T() { chan f; run U(); d?f; f!1; f?_ }",
            12,
        ),
    ] {
        let file = File::new(&format!("exclusive_{name}.pml"), &exclusive(other));
        for options in [&[][..], &["--symmetry", "off"], &["--search", "dfs"]] {
            let output = quotient(&[&["check", file.path()], options].concat());
            assert_eq!(output.status.code(), Some(status), "{name} {options:?}: {}", out(&output));
        }
    }
    // Where nothing depends on it, it can be left aside.
    let file = File::new("exclusive_aside.pml", &exclusive("active proctype T() { nempty(c) || true }"));
    for option in [&["--raw"][..], &["--por", "off"]] {
        let output = quotient(&[&["check", file.path()], option].concat());
        let expected = format!("not checked: exclusive use of channels (xr, xs) ({})", option.join(" "));
        assert_eq!(output.status.code(), Some(0), "{}", out(&output));
        assert!(out(&output).contains(&expected), "{}", out(&output));
    }
}

#[test]
fn what_a_model_states_and_nobody_checks_is_undecided() {
    for (name, text) in [
        (
            "array",
            "chan c[2] = [1] of { byte }; active proctype P() { xs c[1]; c[1]!1 } active proctype Q() { byte x; c[1]?x }",
        ),
        ("assigned", "chan c = [1] of { byte }; chan d; active proctype P() { xs d; d = c; d!1; c?_ }"),
        ("determinism", "byte x; active D_proctype P() { if :: x = 1 :: x = 2 fi }"),
        ("formula", &exclusive("ltl p { [] (len(c) < 2) }")),
    ] {
        let file = File::new(&format!("stated_{name}.pml"), text);
        let output = quotient(&["check", file.path()]);
        assert_eq!(output.status.code(), Some(5), "{name}: {}", out(&output));
        assert!(out(&output).contains("the model states what is not checked"), "{name}: {}", out(&output));
    }
    for (name, text, options) in [
        ("line", "byte x; active D_proctype P() { x = 1; if :: x == 1 -> skip :: else fi }", &[][..]),
        ("formula_aside", &exclusive("ltl p { [] (len(c) < 2) }"), &["--safety"]),
    ] {
        let file = File::new(&format!("stated_{name}.pml"), text);
        let output = quotient(&[&["check", file.path()], options].concat());
        assert_eq!(output.status.code(), Some(0), "{name}: {}", out(&output));
    }
}

#[test]
fn a_formula_that_cannot_be_asked_is_refused_before_others_are_answered() {
    let file = File::new("malformed.pml", CLAIMS);
    let many: Vec<String> = (0..70).map(|n| format!("[]<> (y != {n})")).collect();
    let many = many.join(" && ");
    // `a` is violated at once.
    assert_eq!(exit(&["check", file.path()]), 13);
    for option in ["--ltl", "--ctl"] {
        let text = if option == "--ctl" { format!("A ({many})") } else { many.clone() };
        let output = quotient(&["check", file.path(), option, &text]);
        assert_eq!(output.status.code(), Some(2), "{option}: {}", out(&output));
    }
    let output = quotient(&["check", file.path(), "--fair", "--ctl", "EF (x == 1)"]);
    assert_eq!(output.status.code(), Some(2), "{}", out(&output));
    assert!(err(&output).contains("--fair is for formulas of linear time"), "{}", err(&output));
}

#[test]
fn propositions_of_bir_know_the_operators_of_formulas() {
    let text = "system S {\n  boolean p;\n  boolean q;\n  int n;\n\
        thread T() { loc a: do { p := true; } goto b; loc b: do { q := true; } goto c; loc c: do { n := 1; } return; }\n\
        main thread MAIN() { loc m: do { start T(); } return; }\n}\n";
    let file = File::new("operators.bir", text);
    for (invariant, holds) in [
        ("q -> p", true),
        ("p -> q", false),
        ("n == 1 -> p && q", true),
        // Groups to the left, as in formulas: (p -> q) -> p, where neither is true at first.
        ("p -> q -> p", false),
        ("p -> (q -> p)", true),
        ("true -> p -> q", false),
        ("q implies p", true),
        ("p <-> q", false),
        ("(p && q) <-> (q && p)", true),
        ("p and q -> p", true),
        ("p or !p", true),
        ("forall t: T . t@c -> q", true),
        ("forall t: T . t@b -> q", false),
    ] {
        let output = quotient(&["check", file.path(), "--invariant", invariant]);
        assert_eq!(
            output.status.code(),
            Some(if holds { 0 } else { 12 }),
            "{invariant}: {}{}",
            out(&output),
            err(&output)
        );
    }
    // Numbers are not truth values.
    assert_eq!(exit(&["check", file.path(), "--invariant", "n -> p"]), 2);
}
