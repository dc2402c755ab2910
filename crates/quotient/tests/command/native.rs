//! C programs as a user meets them: schedules that are short and can be repeated, bounds, estimates, the debugger.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use quotient_testing::Folder;
use serde_json::Value;

fn quotient(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quotient")).args(args).output().expect("the command runs")
}

fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/c").join(name).display().to_string()
}

fn report(args: &[&str]) -> (Option<i32>, Value) {
    let output = quotient(args);
    let text = String::from_utf8_lossy(&output.stdout);
    let value = serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{e}: {text}{}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code(), value)
}

#[test]
fn a_violation_comes_with_the_fewest_context_switches_and_is_repeated() {
    // File, exit status, context switches. By hand: what the failure needs, and going back to main where it asserts.
    for (file, status, switches) in [
        ("lock_order_inversion.c", 11, 2),
        ("counter_load_store.c", 12, 4),
        ("bounded_buffer_if.c", 12, 4),
        ("lost_wake_up.c", 11, 2),
    ] {
        let path = example(file);
        let (code, report) = report(&["check", &path, "--json"]);
        assert_eq!(code, Some(status), "{file}: {report}");
        assert_eq!(report["context_switches"], switches, "{file}");
        assert_eq!(report["fewest_context_switches"], true, "{file}");
        let token = report["violations"][0]["schedule"].as_str().unwrap_or_default();
        assert!(token.starts_with("q1:") && token.len() < 60, "{file}: {token}");
        let again = quotient(&["replay", &path, "--schedule", token]);
        assert_eq!(again.status.code(), Some(status), "{file}: {token}");
    }
}

#[test]
fn bounds_are_no_verdicts() {
    let path = example("counter_fetch_add.c");
    let (code, all) = report(&["check", &path, "--json"]);
    assert_eq!((code, all["verdict"].as_str()), (Some(0), Some("holds")));
    let executions = all["executions"].as_u64().unwrap_or(0);
    let estimate = all["estimated_executions"].as_u64().unwrap_or(0);
    assert!(
        executions > 1 && (executions / 2..=executions * 2).contains(&estimate),
        "{estimate} for {executions}"
    );
    for bound in
        [["--max-executions", "1"], ["--max-preemptions", "0"], ["--max-steps", "3"], ["--max-time", "1ms"]]
    {
        // Threads that add once can be explored without preemptions: that bound needs another program.
        let path = if matches!(bound[0], "--max-time" | "--max-preemptions") {
            example("philosophers.c")
        } else {
            path.clone()
        };
        let output = quotient(&["check", &path, bound[0], bound[1]]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // A program that is through in a millisecond holds.
        let through = bound[0] == "--max-time" && text.contains("holds");
        assert!(through || output.status.code() == Some(5), "{bound:?}: {text}");
        assert!(through || text.contains("undecided"), "{bound:?}: {text}");
    }
}

/// What gdb says to these commands when it has stopped.
fn debugged(path: &str, schedule: &str, stop: &str, commands: &str) -> String {
    let child = Command::new(env!("CARGO_BIN_EXE_quotient"))
        .args(["replay", path, "--schedule", schedule, "--gdb", stop])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.expect("the command runs");
    let mut input = child.stdin.take().expect("it is piped");
    std::io::Write::write_all(&mut input, commands.as_bytes()).expect("gdb reads it");
    drop(input);
    let output = child.wait_with_output().expect("gdb ends");
    (String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr)).into_owned()
}

/// In the program's own code, where `next` stays, although another thread runs in between.
#[test]
#[ignore = "needs gdb"]
fn gdb_stops_before_a_step() {
    let path = example("lock_order.c");
    // T2 comes to its lock when it starts, and gets it when T1 has gone through.
    let text = debugged(&path, "q1:0*2.1*4.2*4", "7", "next\nnext\nbacktrace\nquit\n");
    assert!(text.contains("before step 7: T2 lock left"), "{text}");
    let shown: Vec<&str> =
        text.lines().filter(|l| l.contains("lock_order.c:") || l.contains("pthread_mutex")).collect();
    let lines = shown.join("\n");
    // gdb breaks long lines.
    assert!(text.contains("both (") && lines.contains("lock_order.c:13"), "{text}");
    // After two statements: at the third one, called by the second thread.
    assert!(
        text.contains("lock_order.c:15") && text.contains("in second (") && text.contains("lock_order.c:26"),
        "{text}"
    );
    assert!(!text.contains("SIGTRAP") && !text.contains("Single stepping until exit"), "{text}");
    let output = quotient(&["replay", &path, "--schedule", "q1:0*2.1", "--gdb", "9"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("has 3 steps"));
}

#[test]
#[ignore = "needs gdb"]
fn gdb_stops_at_the_failing_statement() {
    for (file, line, variable) in [
        ("counter_load_store.c", "assert(", "print counter"),
        ("null_pointer.c", "null_pointer.c:", "print $_"),
    ] {
        let path = example(file);
        let (_, object) = report(&["check", &path, "--json"]);
        let violation = &object["violations"][0];
        let schedule = violation["schedule"].as_str().unwrap_or_else(|| panic!("{object}"));
        let at = violation["at"].as_str().expect("a place");
        let text = debugged(&path, schedule, "failure", &format!("{variable}\nbacktrace\nquit\n"));
        assert!(text.contains("at the failure: T"), "{text}");
        assert!(text.contains(line) && text.contains(at), "{file}, {at}: {text}");
        // Nothing of the runtime is on the stack above it.
        let first = text.lines().find(|l| l.contains("#0  ")).unwrap_or_else(|| panic!("{text}"));
        assert!(!first.contains("quotient_runtime"), "{text}");
    }
    let path = example("lock_order.c");
    let output = quotient(&["replay", &path, "--schedule", "q1:0*2.1*4.2*4", "--gdb", "failure"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn traces_are_in_the_names_of_the_source() {
    let output = quotient(&["check", &example("philosophers_deadlock.c")]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("waits to lock fork_at[1], which T2 has"), "{text}");
    // What std::thread and std::mutex do inside of their headers and library is not shown.
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("names.cc");
    let program = "#include <cassert>\n#include <mutex>\n#include <thread>\n\
        struct Account { std::mutex lock; int money; } accounts[2];\n\
        static void work() { std::lock_guard<std::mutex> guard(accounts[1].lock); accounts[1].money++; }\n\
        int main() { std::thread a(work), b(work);\n  a.join();\n  b.join();\n  assert(accounts[1].money == 1); }\n";
    std::fs::write(&path, program).expect("the test directory can be written");
    let output = quotient(&["check", &path.display().to_string()]);
    let text = String::from_utf8_lossy(&output.stdout);
    for part in [
        "create T1 (work)  [names.cc:6]",
        "lock accounts[1].lock  [names.cc:5]",
        "join T1  [names.cc:7]",
        "T2 work",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(!text.contains("gthr"), "{text}");
}

/// What an answer is relative to is said, in text and in JSON, and only where it is so.
#[test]
fn answers_say_what_they_are_relative_to() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("relative.c");
    let program = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
        int __VERIFIER_nondet_int(void);\nstatic atomic_int x; static int plain;\n\
        static void *work(void *p) { (void)p; atomic_store_explicit(&x, 1, ORDER); plain = PLAIN; return 0; }\n\
        int main(void) { pthread_t t; atomic_store_explicit(&x, 0, memory_order_relaxed);\n\
        pthread_create(&t, 0, work, 0); int seen = atomic_load(&x); if (PLAIN) seen += plain; pthread_join(t, 0);\n\
        if (CHOICE) seen = __VERIFIER_nondet_int();\n\
        switch (END) { case 0: return 0; case 1: exit(seen & 1); case 2: exit(3); default: return 256; } }\n";
    std::fs::write(&path, program).expect("the test directory can be written");
    let path = path.display().to_string();
    let macros = |order: &str, plain: &str, choice: &str, end: &str| {
        [format!("ORDER={order}"), format!("PLAIN={plain}"), format!("CHOICE={choice}"), format!("END={end}")]
    };
    let strong = "memory_order_seq_cst";
    for (defines, options, expected) in [
        (macros(strong, "0", "0", "0"), &[][..], &[][..]),
        // An operation of a weaker order before there is another thread makes no difference.
        (macros("memory_order_release", "0", "0", "0"), &[], &["the memory model RC11"]),
        (macros("memory_order_release", "0", "0", "0"), &["--memory", "sc"], &["sequential consistency"]),
        (macros("memory_order_release", "0", "0", "0"), &["--memory", "tso"], &["the memory model TSO"]),
        (macros(strong, "1", "0", "0"), &["--allow-races"], &["sequential consistency"]),
        (macros(strong, "0", "1", "0"), &["--nondet", "4,-5"], &["the values of --nondet: 4, -5"]),
        (macros(strong, "0", "0", "1"), &[], &[]),
        (macros(strong, "0", "0", "2"), &[], &["a non-zero exit status"]),
        // Of a status eight bits are seen.
        (macros(strong, "0", "0", "3"), &[], &[]),
    ] {
        let mut arguments = vec!["check", &path];
        defines.iter().for_each(|d| arguments.extend(["-D", d]));
        arguments.extend(options);
        let text = String::from_utf8_lossy(&quotient(&arguments).stdout).into_owned();
        let (code, object) = report(&[&arguments[..], &["--json"]].concat());
        assert_eq!(code, Some(0), "{arguments:?}: {text}");
        let said: Vec<&str> =
            object["assumptions"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        assert_eq!(said.len(), expected.len(), "{arguments:?}: {said:?}");
        for (said, expected) in said.iter().zip(expected) {
            assert!(said.starts_with(expected), "{arguments:?}: {said}");
            assert!(text.contains(&format!("  under {said}\n")), "{arguments:?}: {text}");
        }
        let races = options.contains(&"--allow-races");
        assert_eq!(text.contains("no deadlock, data race, "), !races, "{text}");
        assert_eq!(text.contains("not checked: data races (--allow-races)"), races, "{text}");
        assert_eq!(object["not_checked"].as_array().map(Vec::len), Some(usize::from(races)));
    }
    let many: Vec<String> = (0..300).map(|n: i32| n.to_string()).collect();
    let output = quotient(&["check", &path, "--nondet", &many.join(",")]);
    assert_eq!(output.status.code(), Some(2));
}

/// What a program prints and how it ends: the same with and without symmetry, in any order of lines.
#[test]
fn outcomes_are_told() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outcomes.c");
    let program = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\nstatic atomic_int x, ready;\n\
        static void *work(void *a) { int r = atomic_load(&x); puts(\"seen\"); atomic_store(&x, r + 1); return a; }\n\
        static void *other(void *a) { printf(\"other %d\\n\", atomic_load(&ready)); return a; }\n\
        int main(void) { pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, i < 2 ? work : other, 0);\n\
        atomic_store(&ready, 1); for (int i = 0; i < 3; i++) pthread_join(t[i], 0); return x == 2 ? 0 : 7; }\n";
    std::fs::write(&path, program).expect("the test directory can be written");
    let path = path.to_string_lossy().into_owned();
    let mut sets = Vec::new();
    for symmetry in ["off", "costarted", "dynamic"] {
        let (code, object) = report(&["check", &path, "--symmetry", symmetry, "--outcomes", "--json"]);
        assert_eq!(code, Some(0), "{object}");
        let outcome = |o: &Value| {
            let text = o["output"].as_str().expect("a text");
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            // A schedule that is told can be repeated, and prints that.
            if let Some(schedule) = o["schedule"].as_str() {
                let again = quotient(&["replay", &path, "--schedule", schedule]);
                let shown = String::from_utf8_lossy(&again.stdout).into_owned();
                assert!(text.lines().all(|line| shown.contains(&format!("    {line}\n"))), "{shown}");
            }
            (o["exit_status"].as_u64(), lines)
        };
        let found: std::collections::BTreeSet<_> =
            object["outcomes"].as_array().expect("a list").iter().map(outcome).collect();
        sets.push((object["executions"].as_u64(), found));
    }
    let expected = [0, 7].into_iter().flat_map(|status| {
        let lines = |seen: &str| vec![seen.to_owned(), "seen".to_owned(), "seen".to_owned()];
        ["other 0", "other 1"].map(|seen| (Some(status), lines(seen)))
    });
    assert_eq!(sets[0].1, expected.collect());
    assert!(sets.iter().all(|(_, set)| *set == sets[0].1), "{sets:?}");
    assert!(sets[1].0 < sets[0].0 && sets[2].0 < sets[0].0, "{sets:?}");
    let text = String::from_utf8_lossy(&quotient(&["check", &path, "--outcomes"]).stdout).into_owned();
    assert!(text.contains("  4 outcomes\n") && text.contains("  exit status 7  q1:"), "{text}");
}

/// Code without hooks and without lines, from objects that were compiled elsewhere and from assembly outside of functions: what it
/// accesses is watched, or nobody has seen it and the answer is not "holds".
#[test]
fn code_that_was_compiled_elsewhere() {
    let folder = Folder::new();
    let program = "#include <pthread.h>\nextern int x; void g(void);\nstatic void *f(void *p) { g(); return p; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int v = x; pthread_join(t, 0); return v - v; }\n";
    folder.write("program.c", program);
    folder.write("elsewhere.c", "int x; void g(void) { x = 1; }\n");
    folder.write(
        "within.c",
        &format!("{program}int x;\n__asm__(\".text\\n.globl g\\ng: movl $1, x(%rip)\\nret\\n\");\n"),
    );
    let ended = ".text\\n.globl g\\n.type g, @function\\ng: movl $1, x(%rip)\\nret\\n.size g, .-g\\n";
    folder.write("ended.c", &format!("{program}int x;\n__asm__(\"{ended}\");\n"));
    let harmless = "__asm__(\".text\\n.globl g\\ng: xorl %eax, %eax\\nret\\n\");";
    let clock = "unsigned low, high; __asm__ volatile(\"rdtsc\" : \"=a\"(low), \"=d\"(high)); x = low == 5;";
    folder.write(
        "clock.c",
        &format!("{program}int x;\nvoid g(void) {{ {clock} }}\n").replace("v = x", "v = 0"),
    );
    let made = "#include <string.h>\n#include <sys/mman.h>\nvoid *code; void g(void) { ((void (*)(void))code)(); }\n";
    for (name, first, then) in [("mapped.c", 7, ""), ("protected.c", 3, "mprotect(code, 4096, 5);")] {
        let make = format!(
            "code = mmap(0, 4096, {first}, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); memset(code, 0xc3, 9); {then}"
        );
        folder.write(
            name,
            &format!("{made}{}int x;\n", program.replace("pthread_t t;", &format!("pthread_t t; {make}"))),
        );
    }
    folder.write("harmless.c", &format!("{program}int x;\n{harmless}\n"));
    let mut compiler = std::process::Command::new("cc");
    let compiled = compiler.current_dir(folder.path()).args(["-O1", "-c", "elsewhere.c"]).status();
    assert!(compiled.expect("a C compiler").success());
    let check = |files: &[&str]| {
        let mut command = crate::command_line::command();
        let output = command.current_dir(folder.path()).arg("check").args(files).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for (files, status, said) in [
        (&["program.c", "elsewhere.o"][..], Some(14), "data race"),
        (&["ended.c"], Some(14), "data race"),
        (&["within.c"], Some(5), "not announced by the compiler"),
        (&["clock.c"], Some(5), "not understood"),
        (&["mapped.c"], Some(5), "can be executed"),
        (&["protected.c"], Some(5), "can be executed"),
        (&["harmless.c"], Some(0), "holds"),
    ] {
        let (ended, text) = check(files);
        assert_eq!(ended, status, "{files:?}: {text}");
        assert!(text.contains(said), "{files:?}: {text}");
    }
}

/// What the compiler or the linker does not find is followed by what to say.
#[test]
fn what_is_not_found_is_followed_by_advice() {
    for (program, advice) in [
        ("#include <no_such_header.h>\nint main(void) { return 0; }\n", "`-- -I FOLDER`"),
        (
            "int __VERIFIER_hazptr_alloc(void);\nint main(void) { return __VERIFIER_hazptr_alloc(); }\n",
            "__VERIFIER_assume",
        ),
        ("int elsewhere(void);\nint main(void) { return elsewhere(); }\n", "further source files"),
    ] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("advice.c");
        std::fs::write(&path, program).expect("the test directory can be written");
        let output = quotient(&["check", &path.display().to_string()]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(advice), "{told}");
    }
}
