//! Every option of `quotient check` with every kind of input: it has an effect that can be seen, or it is refused.
//!
//! The options are those that `--help` lists, so that a new one without an entry here is noticed.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Output;

use quotient_testing::Folder;
use serde_json::Value;

use crate::command_line::quotient;

/// What an option does with a kind of input.
enum Cell {
    /// An error says that it does not apply.
    Refused,
    /// This file, checked with these arguments, gives another answer when these are added.
    Seen(&'static str, &'static [&'static str], &'static [&'static str]),
    /// The file that it names is written.
    Written(&'static str, &'static [&'static str]),
    /// It serves, but nothing can be seen of it here: why.
    Unseen(&'static str),
}

use Cell::{Refused, Seen, Unseen, Written};

const SYMMETRIC: &str = "#ifndef N\n#define N 3\n#endif\nbyte x;\n\
    active [N] proctype P() { byte l; l = 1; x = x + l; l = 2; x = x + l; assert(x < 200) }\n";
const WRONG: &str = "byte x;\nactive proctype P() { x++; assert(x == 0); x++; assert(x == 0); false }\n";
const CLAIMS: &str = "bit x;\nactive proctype P() { do :: x = 1 - x :: skip od }\n\
    active proctype Q() { bit z; progress: accept: do :: z = 1 - z od }\n\
    ltl a { []<> (x == 1) }\nltl b { [] (x < 2) }\n";
const ENDLESS: &str = "int x, y;\nactive proctype P() { do :: x++ :: y++ od }\n";
const INCLUDES: &str = "#include \"included.h\"\nactive proctype P() { byte x = ONE }\n";

const BIR: &str = "system S {\n  const Size { N = 3; }\n  int n;\n  boolean p;\n\
    thread T() { loc a: do { n := n + 1; } goto b; loc b: do { p := !p; } goto c; loc c: do { assert n < 9; } return; }\n\
    main thread MAIN() { int i; loc m: when i < Size.N do { i := i + 1; start T(); } goto m; when i >= Size.N do {} return; }\n}\n";
const BIR_WRONG: &str = "system S {\n  int n;\n\
    main thread MAIN() { loc a: do { n := 1; assert n == 0; } goto b; loc b: do { n := 2; assert n == 0; } goto c; loc c: when n == 5 do {} return; }\n}\n";
const BIR_ENDLESS: &str = "system S {\n  int x;\n  int y;\n\
    main thread MAIN() { loc a: do { x := x + 1; } goto a; do { y := y + 1; } goto a; }\n}\n";

const C: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <stdatomic.h>\n\
    int __VERIFIER_nondet_int(void);\n\
    static atomic_int x; static int plain; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static int ready;\n\
    static void *work(void *p) { (void)p; atomic_fetch_add(&x, 1); atomic_store(&x, 2); return 0; }\n\
    static atomic_int y;\n\
    static void *mixed(void *p) { if (p == (void *)0) atomic_store(&x, 1); else if (p == (void *)1) atomic_store(&y, 1); else { atomic_load(&x); atomic_load(&y); } return 0; }\n\
    static void *racing(void *p) { (void)p; plain = 1; return 0; }\n\
    static void *wake(void *p) { (void)p; pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }\n\
    int main(int count, char **arguments) {\n\
    pthread_t t[3]; (void)t; (void)arguments;\n\
    #ifdef THREADS\n for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, work, 0);\n for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);\n#endif\n\
    #ifdef SPIN\n pthread_create(&t[0], 0, work, 0); while (atomic_load(&x) < 2);\n#endif\n\
    #ifdef MIXED\n for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, mixed, (void *)i);\n for (int i = 0; i < 3; i++) pthread_join(t[i], 0);\n#endif\n\
    #ifdef RACE\n pthread_create(&t[0], 0, racing, 0); int v = plain; pthread_join(t[0], 0); return v - v;\n#endif\n\
    #ifdef LEAK\n pthread_create(&t[0], 0, work, 0); pthread_exit(0);\n#endif\n\
    #ifdef CONDITION\n pthread_create(&t[0], 0, wake, 0); pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); pthread_join(t[0], 0);\n#endif\n\
    #ifdef NONDET\n return __VERIFIER_nondet_int() == 3;\n#endif\n\
    #ifdef LOOP\n while (1);\n#endif\n\
    #ifdef INPUT\n assert(getchar() == EOF);\n#endif\n\
    #ifdef FILES\n assert(!fopen(\"beside.txt\", \"r\"));\n#endif\n\
    #ifdef FAIL\n assert(atomic_load(&x) < 0);\n#endif\n\
    assert(count == 1);\n return 0; }\n";

const FILES: &[(&str, &str)] = &[
    ("symmetric.pml", SYMMETRIC),
    ("wrong.pml", WRONG),
    ("claims.pml", CLAIMS),
    ("endless.pml", ENDLESS),
    ("includes.pml", INCLUDES),
    ("within/included.h", "#define ONE 1\n"),
    ("threads.bir", BIR),
    ("wrong.bir", BIR_WRONG),
    ("endless.bir", BIR_ENDLESS),
    ("program.c", C),
    ("includes.c", "#include \"included.h\"\nint main(void) { return ONE - 1; }\n"),
    ("beside.txt", "text\n"),
    ("peer.txt", "port 80\non connect\nsend \"hello\"\n"),
];

/// The options with what they do to Promela models, BIR models, C programs.
#[rustfmt::skip]
fn table() -> Vec<(&'static str, [Cell; 3])> {
    vec![
        ("-D", [
            Seen("symmetric.pml", &[], &["-D", "N=2"]),
            Seen("threads.bir", &[], &["-D", "N=2"]),
            Seen("program.c", &[], &["-D", "FAIL"]),
        ]),
        ("-I", [Seen("includes.pml", &[], &["-I", "within"]), Refused, Seen("includes.c", &[], &["-I", "within"])]),
        ("--search", [Seen("symmetric.pml", &[], &["--search", "dfs"]), Seen("threads.bir", &[], &["--search", "dfs"]), Refused]),
        ("--store", [Seen("symmetric.pml", &[], &["--store", "gzip"]), Seen("threads.bir", &[], &["--store", "plain"]), Refused]),
        ("--symmetry", [
            Seen("symmetric.pml", &[], &["--symmetry", "off"]),
            Seen("threads.bir", &[], &["--symmetry", "pc"]),
            Seen("program.c", &["-D", "THREADS=2"], &["--symmetry", "costarted"]),
        ]),
        ("--explain", [
            Seen("symmetric.pml", &[], &["--explain", "symmetry"]),
            Seen("threads.bir", &[], &["--explain", "symmetry"]),
            Refused,
        ]),
        ("--audit", [Seen("symmetric.pml", &[], &["--audit=50"]), Seen("threads.bir", &[], &["--audit=50"]), Refused]),
        ("--por", [Seen("symmetric.pml", &[], &["--por", "off"]), Seen("threads.bir", &[], &["--por", "off"]), Refused]),
        ("--raw", [Seen("symmetric.pml", &[], &["--raw"]), Seen("threads.bir", &[], &["--raw"]), Refused]),
        ("--all", [Seen("wrong.pml", &[], &["--all"]), Seen("wrong.bir", &[], &["--all"]), Refused]),
        ("--no-deadlock", [Seen("wrong.pml", &["--all"], &["--no-deadlock"]), Seen("wrong.bir", &["--all"], &["--no-deadlock"]), Refused]),
        ("--propose", [Seen("symmetric.pml", &[], &["--propose"]), Refused, Refused]),
        ("--relative", [Seen("symmetric.pml", &[], &["--relative", "no-such-certificate"]), Refused, Refused]),
        ("--safety", [
            Seen("claims.pml", &[], &["--safety"]),
            Unseen("a BIR model makes no claims of its own, so there is nothing to leave aside"),
            Refused,
        ]),
        ("--ltl", [Seen("wrong.pml", &[], &["--ltl", "[] (x < 2)"]), Seen("threads.bir", &[], &["--ltl", "<> p"]), Refused]),
        ("--ctl", [Seen("wrong.pml", &[], &["--ctl", "EF (x == 2)"]), Seen("threads.bir", &[], &["--ctl", "EF p"]), Refused]),
        ("--invariant", [Seen("wrong.pml", &[], &["--invariant", "x < 9"]), Seen("threads.bir", &[], &["--invariant", "n < 2"]), Refused]),
        ("--claim", [Seen("claims.pml", &[], &["--claim", "b"]), Refused, Refused]),
        ("--acceptance", [Seen("claims.pml", &["--claim", "b"], &["--acceptance"]), Refused, Refused]),
        ("--progress", [Seen("claims.pml", &["--claim", "b"], &["--progress"]), Refused, Refused]),
        ("--fair", [Seen("claims.pml", &[], &["--fair"]), Seen("threads.bir", &["--ltl", "<> p"], &["--fair"]), Refused]),
        ("--max-states", [Seen("symmetric.pml", &[], &["--max-states", "2"]), Seen("threads.bir", &[], &["--max-states", "2"]), Refused]),
        ("--max-depth", [Seen("symmetric.pml", &[], &["--max-depth", "1"]), Seen("threads.bir", &[], &["--max-depth", "1"]), Refused]),
        ("--max-memory", [
            Seen("endless.pml", &["--max-states", "2M"], &["--max-memory", "1M"]),
            Seen("endless.bir", &["--max-states", "2M"], &["--max-memory", "1M"]),
            Unseen("a bound on the address space, which a small program does not meet"),
        ]),
        ("--max-time", [
            Seen("endless.pml", &["--max-states", "1M"], &["--max-time", "20ms"]),
            Seen("endless.bir", &["--max-states", "300k"], &["--max-time", "20ms"]),
            Seen("program.c", &["-D", "SPIN", "--max-steps", "40", "--max-executions", "20000"], &["--max-time", "5ms"]),
        ]),
        ("--full", [Seen("wrong.pml", &[], &["--full"]), Seen("wrong.bir", &[], &["--full"]), Unseen("frames of stacks that one function does not have")]),
        ("--language", [
            Seen("wrong.pml", &[], &["--language", "bir"]),
            Seen("wrong.bir", &[], &["--language", "promela"]),
            Seen("program.c", &[], &["--language", "promela"]),
        ]),
        ("--steps", [Seen("wrong.pml", &[], &["--steps", "1..1"]), Seen("wrong.bir", &["--all"], &["--steps", "1..1"]), Refused]),
        ("--trace", [Written("wrong.pml", &["--trace", "written.trace"]), Written("wrong.bir", &["--trace", "written.trace"]), Written("program.c", &["-D", "RACE", "--trace", "written.trace"])]),
        ("--dot", [Written("claims.pml", &["--dot", "written.dot"]), Written("wrong.bir", &["--dot", "written.dot"]), Written("program.c", &["-D", "RACE", "--dot", "written.dot"])]),
        ("--explore", [
            Unseen("it serves a page until it is ended: see the tests of the explorer"),
            Unseen("it serves a page until it is ended: see the tests of the explorer"),
            Unseen("it serves a page until it is ended: see the tests of the explorer"),
        ]),
        ("--json", [Seen("wrong.pml", &[], &["--json"]), Seen("wrong.bir", &[], &["--json"]), Seen("program.c", &[], &["--json"])]),
        ("--quiet", [Unseen("no terminal"), Unseen("no terminal"), Unseen("no terminal")]),
        ("--log-every", [
            Unseen("lines about the time on standard error: see the tests of the command"),
            Unseen("lines about the time on standard error: see the tests of the command"),
            Unseen("lines about the time on standard error: see the tests of the command"),
        ]),
        ("--dpor", [Refused, Refused, Seen("program.c", &["-D", "MIXED", "--workers", "1"], &["--dpor", "fg"])]),
        ("--memory", [Refused, Refused, Seen("program.c", &["-D", "MIXED"], &["--memory", "tso"])]),
        ("--allow-races", [Refused, Refused, Seen("program.c", &["-D", "RACE"], &["--allow-races"])]),
        ("--leaks", [Refused, Refused, Seen("program.c", &["-D", "LEAK"], &["--leaks"])]),
        ("--spurious", [Refused, Refused, Seen("program.c", &["-D", "CONDITION", "--max-executions", "50"], &["--spurious"])]),
        ("--peer", [Refused, Refused, Seen("program.c", &[], &["--peer", "peer.txt"])]),
        ("--outcomes", [Refused, Refused, Seen("program.c", &["-D", "THREADS=2"], &["--outcomes"])]),
        ("--max-executions", [Refused, Refused, Seen("program.c", &["-D", "THREADS=2"], &["--max-executions", "1"])]),
        ("--max-preemptions", [Refused, Refused, Seen("program.c", &["-D", "THREADS=2"], &["--max-preemptions", "0"])]),
        ("--max-steps", [Refused, Refused, Seen("program.c", &["-D", "THREADS=2"], &["--max-steps", "2"])]),
        ("--step-time", [Refused, Refused, Seen("program.c", &["-D", "LOOP", "--step-time", "2"], &["--step-time", "1"])]),
        ("--nondet", [Refused, Refused, Seen("program.c", &["-D", "NONDET"], &["--nondet", "1,2"])]),
        ("--checkpoint", [Written("symmetric.pml", &["--checkpoint", "written.run"]), Written("threads.bir", &["--checkpoint", "written.run"]), Refused]),
        ("--hosts", [
            Seen("symmetric.pml", &[], &["--hosts", "nowhere"]),
            Seen("threads.bir", &[], &["--hosts", "nowhere"]),
            Refused,
        ]),
        ("--process", [
            Seen("symmetric.pml", &[], &["--process", "1"]),
            Seen("threads.bir", &[], &["--process", "1"]),
            Refused,
        ]),
        ("--listen", [
            Seen("symmetric.pml", &[], &["--listen", "127.0.0.1"]),
            Seen("threads.bir", &[], &["--listen", "127.0.0.1"]),
            Refused,
        ]),
        ("--token-file", [
            Seen("symmetric.pml", &[], &["--token-file", "nowhere"]),
            Seen("threads.bir", &[], &["--token-file", "nowhere"]),
            Refused,
        ]),
        ("--wait", [
            Seen("symmetric.pml", &[], &["--wait", "10s"]),
            Seen("threads.bir", &[], &["--wait", "10s"]),
            Refused,
        ]),
        ("--disk", [
            Seen("symmetric.pml", &["--store", "gzip"], &["--disk", "nowhere"]),
            Seen("threads.bir", &["--store", "gzip"], &["--disk", "nowhere"]),
            Refused,
        ]),
        ("--statistics", [Written("symmetric.pml", &["--statistics", "written.jsonl"]), Written("threads.bir", &["--statistics", "written.jsonl"]), Refused]),
        ("--resume", [Seen("symmetric.pml", &[], &["--resume", "nowhere"]), Seen("threads.bir", &[], &["--resume", "nowhere"]), Refused]),
        ("--workers", [
            Seen("symmetric.pml", &["--search", "dfs"], &["--workers", "2"]),
            Seen("threads.bir", &["--store", "gzip"], &["--workers", "2"]),
            Unseen("the same executions, by whichever process"),
        ]),
        ("--arg", [Refused, Refused, Seen("program.c", &[], &["--arg", "one"])]),
        ("--stdin", [Refused, Refused, Seen("program.c", &["-D", "INPUT"], &["--stdin", "beside.txt"])]),
        ("--file", [Refused, Refused, Seen("program.c", &["-D", "FILES"], &["--file", "beside.txt"])]),
    ]
}

/// A value that the parser of an option takes.
fn value(option: &str) -> Option<&'static str> {
    Some(match option {
        "-D" => "N=1",
        "-I" | "--trace" | "--dot" | "--relative" | "--stdin" | "--file" | "--checkpoint" | "--resume"
        | "--statistics" | "--disk" | "--hosts" | "--token-file" => "beside.txt",
        "--peer" => "peer.txt",
        "--search" => "bfs",
        "--store" => "tree",
        "--por" => "off",
        "--ltl" | "--ctl" | "--invariant" => "true",
        "--claim" | "--arg" => "b",
        "--steps" => "1..2",
        "--language" => "promela",
        "--dpor" => "source",
        "--memory" => "tso",
        "--explain" => "symmetry",
        "--max-time" | "--wait" => "10s",
        "--listen" => "127.0.0.1",
        "--max-memory" | "--max-states" | "--max-depth" | "--max-executions" | "--max-preemptions"
        | "--max-steps" | "--step-time" | "--nondet" | "--workers" | "--process" => "9",
        _ => return None,
    })
}

/// The options that the help lists: the long name, or the short one where there is no other.
fn listed() -> BTreeSet<String> {
    let help = quotient(&["check", "--help"]);
    let mut found = BTreeSet::new();
    for line in String::from_utf8_lossy(&help.stdout).lines() {
        let line = line.trim_start();
        if !line.starts_with('-') {
            continue;
        }
        let words: Vec<&str> =
            line.split([' ', ',', '[', '=']).filter(|w| w.starts_with('-') && w.len() > 1).collect();
        let name = words.iter().find(|w| w.starts_with("--")).or(words.first());
        found.extend(name.map(|n| (*n).to_owned()));
    }
    found.remove("--help");
    found.remove("--");
    found
}

/// What a run says, without what differs from run to run.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<String> = Vec::new();
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(mut object)) => {
            for varying in [
                "cpu_seconds",
                "wall_seconds",
                "search_seconds",
                "peak_rss_bytes",
                "microseconds_per_execution",
            ] {
                object.remove(varying);
            }
            lines.push(Value::Object(object).to_string());
        }
        _ => {
            let stable = |line: &&str| !line.contains(" s CPU") && !line.contains("resident at most");
            lines.extend(text.lines().filter(stable).map(str::to_owned));
        }
    }
    format!("{:?}\n{}", output.status.code(), lines.join("\n"))
}

#[test]
fn every_option_is_used_or_refused() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("option_table");
    std::fs::create_dir_all(folder.join("within")).expect("a folder");
    for (name, text) in FILES {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let run = |file: &str, arguments: &[&str]| {
        let mut command = crate::command_line::command();
        command.current_dir(&folder).arg("check").arg(file).args(arguments);
        command.output().expect("the command runs")
    };
    let table = table();
    let known: BTreeSet<String> = table.iter().map(|(option, _)| (*option).to_owned()).collect();
    assert_eq!(listed(), known, "the options of --help and those of this table");
    let mut wrong = Vec::new();
    for (option, cells) in &table {
        for (cell, usual) in cells.iter().zip(["symmetric.pml", "threads.bir", "program.c"]) {
            match cell {
                Refused => {
                    let output = run(usual, &[&[*option], value(option).as_slice()].concat());
                    let message = String::from_utf8_lossy(&output.stderr);
                    let named = message.contains(&format!("{option} does not apply to "));
                    if output.status.code() != Some(2) || !named {
                        wrong.push(format!("{option} with {usual} is not refused: {message}"));
                    }
                }
                Seen(file, base, added) => {
                    // A model is compared by its JSON object, unless that is what is asked for.
                    let json: &[&str] =
                        if ["--json", "--steps"].contains(option) { &[] } else { &["--json"] };
                    let before = said(&run(file, &[base, json].concat()));
                    let repeated = *option == "--step-time";
                    let base = if repeated { &base[..2] } else { base };
                    let output = run(file, &[base, json, *added].concat());
                    if said(&output) == before {
                        wrong.push(format!("{option} with {file} has no effect"));
                    }
                    let message = String::from_utf8_lossy(&output.stderr);
                    if message.contains("does not apply") {
                        wrong.push(format!("{option} with {file} is refused: {message}"));
                    }
                }
                Written(file, arguments) => {
                    let target = folder.join(arguments.last().expect("the file that it names"));
                    let _ = std::fs::remove_file(&target);
                    let _ = std::fs::remove_dir_all(&target);
                    run(file, arguments);
                    if !target.exists() {
                        wrong.push(format!("{option} with {file} writes nothing"));
                    }
                }
                Unseen(why) => assert!(!why.is_empty()),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What stands without a name: more files, and what follows `--`.
#[test]
fn positional_arguments_are_used_or_refused() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("option_table_positional");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in FILES.iter().filter(|(name, _)| !name.contains('/')) {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let status = |arguments: &[&str]| {
        let mut command = crate::command_line::command();
        let output = command.current_dir(&folder).arg("check").args(arguments).output().expect("it runs");
        output.status.code()
    };
    assert_eq!(status(&["program.c", "--", "-DFAIL"]), Some(12));
    for model in ["symmetric.pml", "threads.bir"] {
        assert_eq!(status(&[model, "--", "-DFAIL"]), Some(2), "{model}");
    }
    for command in ["compare", "simulate"] {
        let path = folder.join("program.c").display().to_string();
        assert_eq!(quotient(&[command, &path]).status.code(), Some(2), "{command}");
    }
}

/// Options that do not go together: one of them would have no effect, and the message says which.
#[test]
fn options_that_leave_each_other_without_effect_are_refused() {
    let folder = Folder::new();
    for (name, text) in FILES.iter().filter(|(name, _)| !name.contains('/')) {
        folder.write(name, text);
    }
    let run = |arguments: &[&str]| {
        let mut command = crate::command_line::command();
        command.current_dir(folder.path()).arg("check").args(arguments).output().expect("it runs")
    };
    for (arguments, said) in [
        (["program.c", "--memory", "tso", "--dpor", "fg"], "--dpor fg"),
        (["program.c", "--memory", "rc11", "--dpor", "source"], "--dpor source"),
        (["program.c", "--memory", "rc11", "--max-preemptions", "0"], "--max-preemptions"),
        (["program.c", "--memory", "tso", "--symmetry", "dynamic"], "--symmetry dynamic"),
        (["symmetric.pml", "--search", "random", "--store", "gzip"], "--store gzip"),
        (["threads.bir", "--search", "random", "--store", "bitstate"], "--store bitstate"),
        (["symmetric.pml", "--search", "random", "--symmetry", "exact"], "--symmetry"),
    ] {
        let output = run(&arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(said), "{arguments:?}: {message}");
    }
    // An audit that had nothing to look at says so.
    for others in [
        &["--raw"][..],
        &["--search", "random", "--max-states", "500"],
        &["--por", "off", "--symmetry", "off"],
    ] {
        let output = run(&[&["symmetric.pml", "--audit=50"], others].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("--audit had nothing to look at"), "{others:?}: {text}");
    }
    let text = run(&["symmetric.pml", "--audit=50"]);
    assert!(!String::from_utf8_lossy(&text.stdout).contains("nothing to look at"));
}

/// A limit is named as it was given, however it was shared out among workers.
#[test]
fn a_limit_is_the_one_that_was_given() {
    let folder = Folder::new();
    folder.write("symmetric.pml", SYMMETRIC);
    let mut command = crate::command_line::command();
    command.current_dir(folder.path());
    let options = ["--search", "random", "--max-states", "2001", "--workers", "3"];
    let output = command.args(["check", "symmetric.pml"]).args(options).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("limit of 2001 states reached"), "{text}");
}

/// What an option may be without effect beside, and why.
const EXPLAINED: [(&str, &str, &str); 2] = [
    ("--por", "--search", "random walks take any move, as the report says"),
    ("--explain", "--search", "random walks look for no symmetry"),
];

/// Whatever has an effect alone has one beside another order of search or memory model, or the two are refused together.
#[test]
fn options_have_their_effect_beside_others() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path().join("within")).expect("a folder");
    for (name, text) in FILES {
        folder.write(name, text);
    }
    let run = |file: &str, arguments: &[&[&str]]| {
        let mut command = crate::command_line::command();
        command.current_dir(folder.path()).args(["check", "--json", file]).args(arguments.concat());
        command.output().expect("the command runs")
    };
    let random: &[&str] = &["--search", "random", "--workers", "1", "--max-states", "2000"];
    let beside: [(&str, &[&[&str]]); 3] =
        [(".pml", &[random]), (".bir", &[random]), (".c", &[&["--memory", "tso"], &["--memory", "rc11"]])];
    // What decides about the time or the form of an answer, and what opens a connection.
    let left = [
        "--json",
        "--steps",
        "--language",
        "--max-time",
        "--step-time",
        "--max-memory",
        "--max-states",
        "--hosts",
    ];
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (option, cells) in table() {
        for cell in &cells {
            let Seen(file, base, added) = cell else { continue };
            if left.contains(&option) || file.starts_with("endless") {
                continue;
            }
            let others =
                beside.iter().filter(|(kind, _)| file.ends_with(kind)).flat_map(|(_, others)| *others);
            for other in others.filter(|other| other[0] != option && !base.contains(&other[0])) {
                let explained = EXPLAINED.iter().any(|(one, two, _)| *one == option && *two == other[0]);
                let (before, after) = (run(file, &[*base, *other]), run(file, &[*base, *other, *added]));
                if before.status.code() == Some(2) || after.status.code() == Some(2) {
                    continue;
                }
                compared += 1;
                if said(&before) == said(&after) && !explained {
                    wrong.push(format!("{option} with {file} has no effect beside {}", other.join(" ")));
                }
            }
        }
    }
    assert!(compared >= 30, "only {compared} pairs were compared");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
