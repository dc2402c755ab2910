//! Violation witnesses of C programs: written, followed, and those of others.

use std::path::Path;
use std::process::{Command, Output};

use quotient_testing::Folder;

fn quotient(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quotient"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn with(folder: &Folder, name: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/c").join(name);
    std::fs::copy(from, folder.path().join(name)).expect("an example");
}

#[test]
fn counterexamples_are_confirmed_by_their_witnesses() {
    let programs: [(&str, &[&str], &str); 6] = [
        ("counter_load_store.c", &[], "G ! call(__assert_fail())"),
        ("counter_race.c", &[], "G ! data-race"),
        ("bounded_buffer_if.c", &[], "G ! call(__assert_fail())"),
        ("readers_writers_race.c", &[], "G ! data-race"),
        ("nondeterministic_values.c", &["--nondet", "0,3,4"], "G ! call(__assert_fail())"),
        ("use_after_free.c", &[], "G valid-deref"),
    ];
    for (name, options, property) in programs {
        let folder = Folder::new();
        with(&folder, name);
        let checked = quotient(folder.path(), &[&["check", name, "--trace", "t"], options].concat());
        let told = quotient(folder.path(), &["convert", "t", "--to", "witness", "-o", "w.yml"]);
        assert_eq!(told.status.code(), Some(0), "{name}: {}", text(&told.stderr));
        let witness = std::fs::read_to_string(folder.path().join("w.yml")).expect("a witness");
        assert!(witness.contains(property), "{name}: {witness}");
        // The values that it has are enough: no options.
        let followed = quotient(folder.path(), &["replay", name, "w.yml"]);
        assert_eq!(followed.status.code(), checked.status.code(), "{name}: {}", text(&followed.stderr));
        assert!(!text(&followed.stderr).contains("warning"), "{name}: {}", text(&followed.stderr));
    }
}

/// What the format cannot say is refused, and so is what is not a counterexample of a C program.
#[test]
fn what_a_witness_cannot_say_is_refused() {
    for (name, told) in [
        ("philosophers_deadlock.c", "no property for: deadlock"),
        ("publish_relaxed.c", "weaker memory model"),
        ("null_pointer.c", "no property for: crash"),
    ] {
        let folder = Folder::new();
        with(&folder, name);
        quotient(folder.path(), &["check", name, "--trace", "t"]);
        let output = quotient(folder.path(), &["convert", "t", "--to", "witness"]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(text(&output.stderr).contains(told), "{name}: {}", text(&output.stderr));
    }
    let folder = Folder::new();
    std::fs::write(folder.path().join("t"), "{}").expect("written");
    let output = quotient(folder.path(), &["convert", "t", "--to", "witness"]);
    assert!(text(&output.stderr).contains("not a counterexample of a C program"), "{}", text(&output.stderr));
}

/// A witness as other tools write it: version 2.0, few waypoints, no threads or numbers of their own, a value of the environment.
fn foreign(waypoints: &[(&str, &str, u32, &str)]) -> String {
    let mut out = "- entry_type: violation_sequence\n  metadata:\n    format_version: '2.0'\n    uuid: 018cdad1-1dd5-4f78-8d1a-3881aab1e25b\n    \
        creation_time: '2025-08-18T17:47:57+08:00'\n    producer: {name: another tool, version: '7'}\n    task:\n      input_files: [m.c]\n      \
        input_file_hashes: {m.c: '00'}\n      specification: G ! call(reach_error())\n      data_model: LP64\n      language: C\n  content:\n"
        .to_owned();
    for (kind, constraint, line, thread) in waypoints {
        let constraint = match *constraint {
            "" => String::new(),
            value => format!("constraint: {{value: '{value}'}}, "),
        };
        out += &format!(
            "  - segment:\n    - waypoint: {{type: {kind}, action: follow, {constraint}{thread}location: {{file_name: src/m.c, line: {line}, column: 3}}}}\n"
        );
    }
    out
}

const PROGRAM: &str = "#include <pthread.h>
#include <stdatomic.h>
extern int __VERIFIER_nondet_int(void);
void reach_error(void) {}
atomic_int x, y;
void *other(void *a) {
  int seen = atomic_load(&x);
  atomic_store(&y, seen + 1);
  return a;
}
int main(void) {
  pthread_t t;
  int n = __VERIFIER_nondet_int();
  pthread_create(&t, 0, other, 0);
  atomic_store(&x, n);
  if (atomic_load(&y) == 43) reach_error();
  pthread_join(t, 0);
  return 0;
}
";

#[test]
fn witnesses_of_others_are_followed() {
    let folder = Folder::new();
    std::fs::write(folder.path().join("m.c"), PROGRAM).expect("written");
    let follow = |waypoints: &[(&str, &str, u32, &str)]| {
        std::fs::write(folder.path().join("w.yml"), foreign(waypoints)).expect("written");
        let output = quotient(folder.path(), &["replay", "m.c", "w.yml"]);
        (output.status.code(), text(&output.stderr))
    };
    let value = ("function_return", "\\result == 42", 13, "");
    // Threads with numbers of their own; line 8 before line 16. The only value that there is needs no step.
    let threads = [
        ("function_return", "\\result == 42", 13, "thread_id: 10, "),
        ("assumption", "n == 42", 15, "thread_id: 10, "),
        ("assumption", "1", 8, "thread_id: 11, "),
        ("target", "", 16, "thread_id: 10, "),
    ];
    let (status, told) = follow(&threads);
    assert_eq!(status, Some(12), "{told}");
    assert!(told.contains("another text of m.c") && told.contains("3 of 4 waypoints"), "{told}");
    assert!(told.contains("1 have constraints that are not looked at"), "{told}");
    // No threads at all: lines are enough here.
    assert_eq!(
        follow(&[value, ("assumption", "1", 15, ""), ("assumption", "1", 8, ""), ("target", "", 16, "")]).0,
        Some(12)
    );
    // The other order, and another value: nothing goes wrong, and nothing is believed.
    let (status, told) =
        follow(&[value, ("assumption", "1", 8, ""), ("assumption", "1", 15, ""), ("target", "", 16, "")]);
    assert_eq!(status, Some(5), "{told}");
    assert!(told.contains("not confirmed"), "{status:?} {told}");
    let (_, told) = follow(&[("function_return", "\\result == 41", 13, ""), ("target", "", 16, "")]);
    assert!(told.contains("not confirmed"), "{told}");
    // Texts that are no witnesses.
    let good = foreign(&threads);
    for cut in (0..good.len()).step_by(37).filter(|at| good.is_char_boundary(*at)) {
        std::fs::write(folder.path().join("w.yml"), &good[..cut]).expect("written");
        let output = quotient(folder.path(), &["replay", "m.c", "w.yml"]);
        assert_eq!(output.status.code(), Some(2), "{cut}: {}", text(&output.stderr));
    }
}
