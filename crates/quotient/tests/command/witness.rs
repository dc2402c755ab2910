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

/// The competition's way to mark an error: the program's own definition is replaced, and the property is about its call.
#[test]
fn a_call_of_reach_error_is_named() {
    let folder = Folder::new();
    folder.write(
        "marked.c",
        "extern void abort(void);\nvoid reach_error(void) { abort(); }\nint main(void) { reach_error(); return 0; }\n",
    );
    quotient(folder.path(), &["check", "marked.c", "--trace", "t"]);
    let told = quotient(folder.path(), &["convert", "t", "--to", "witness", "-o", "w.yml"]);
    assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
    let witness = std::fs::read_to_string(folder.path().join("w.yml")).expect("a witness");
    assert!(witness.contains("G ! call(reach_error())"), "{witness}");
    let followed = quotient(folder.path(), &["replay", "marked.c", "w.yml"]);
    assert_eq!(followed.status.code(), Some(12), "{}", text(&followed.stderr));
}

/// A file that would take a stack or a memory without bounds to read.
#[test]
fn what_no_witness_looks_like_is_refused() {
    let folder = Folder::new();
    with(&folder, "counter_race.c");
    let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (name, before) in ('b'..='j').zip('a'..) {
        bomb += &format!("{name}: &{name} [{}]\n", vec![format!("*{before}"); 9].join(","));
    }
    for (content, said) in [
        ("- ".repeat(200_000), "nested more than 64 levels deep"),
        ("[".repeat(200_000), "not YAML"),
        (bomb, "an alias"),
    ] {
        folder.write("w.yml", &content);
        let output = quotient(folder.path(), &["replay", "counter_race.c", "w.yml"]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
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
    // They go wrong where they should, but what they assume of `n` is not looked at: nothing is confirmed.
    let (status, told) = follow(&threads);
    assert_eq!(status, Some(5), "{told}");
    assert!(told.contains("another text of m.c") && told.contains("3 of 4 waypoints"), "{told}");
    assert!(
        told.contains("1 have constraints that are not looked at") && told.contains("perhaps not"),
        "{told}"
    );
    // Without threads everything is looked at.
    let open =
        |assumed| [("assumption", assumed, 15, ""), ("assumption", "1", 8, ""), ("target", "", 16, "")];
    for (assumed, expected) in [("n == 42", 12), ("n > 41 && n != 43", 12), ("n == 43", 5), ("n < 42", 5)] {
        let (status, told) = follow(&[&[value], &open(assumed)[..]].concat());
        assert_eq!(status, Some(expected), "{assumed}: {told}");
        assert_eq!(told.contains("is confirmed"), expected == 12, "{assumed}: {told}");
    }
    // A value that nobody gives is found.
    assert_eq!(follow(&open("n == 42")).0, Some(12));
    // The other order, and another value: nothing goes wrong, and nothing is believed.
    let (status, told) =
        follow(&[value, ("assumption", "1", 8, ""), ("assumption", "1", 15, ""), ("target", "", 16, "")]);
    assert_eq!(status, Some(5), "{told}");
    assert!(told.contains("not confirmed"), "{status:?} {told}");
    let (_, told) = follow(&[("function_return", "\\result == 41", 13, ""), ("target", "", 16, "")]);
    assert!(told.contains("not confirmed"), "{told}");
    // Texts that are not witnesses.
    let good = foreign(&threads);
    for cut in (0..good.len()).step_by(37).filter(|at| good.is_char_boundary(*at)) {
        std::fs::write(folder.path().join("w.yml"), &good[..cut]).expect("written");
        let output = quotient(folder.path(), &["replay", "m.c", "w.yml"]);
        assert_eq!(output.status.code(), Some(2), "{cut}: {}", text(&output.stderr));
    }
}

/// The error is reached only if the thread that is started last runs first.
const NUMBERS: &str = "#include <pthread.h>
void reach_error(void) {}
int number[2] = {1, 2}, x;
void *add(void *given) {
  int own = *(int *)given;
  int seen = x;
  x = 10 * seen + own;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, add, &number[0]);
  pthread_create(&b, 0, add, &number[1]);
  pthread_join(a, 0);
  pthread_join(b, 0);
  if (x == 21) reach_error();
  return 0;
}
";

/// Threads have the numbers that the witness's own starts give them, and what each of them is said to find is looked at. Races are not what `reach_error` is about.
#[test]
fn threads_of_witnesses_are_those_that_they_start() {
    type Said = (&'static str, &'static str, u32, &'static str);
    let folder = Folder::new();
    std::fs::write(folder.path().join("m.c"), NUMBERS).expect("written");
    let first: Said = ("function_enter", "", 12, "thread_id: 0, ");
    let second: Said = ("function_enter", "", 13, "thread_id: 0, ");
    let finds = |number: &'static str, what: &'static str| -> Said { ("assumption", what, 7, number) };
    let (one, two) = ("thread_id: 1, ", "thread_id: 2, ");
    let target: Said = ("target", "", 16, "thread_id: 0, ");
    let expected: &[(bool, &[Said])] = &[
        (true, &[first, second, finds(two, "seen == 0"), finds(one, "seen == 2"), target]),
        (false, &[first, second, finds(one, "seen == 0"), finds(two, "seen == 1"), target]),
        (false, &[first, second, finds(two, "seen == 0"), finds(one, "seen == 0"), target]),
        (true, &[first, second, finds(two, "own == 2"), finds(one, "own == 1"), target]),
        (false, &[first, second, finds(two, "own == 1"), target]),
        // Whoever is not started by the witness has no number.
        (true, &[second, finds(one, "own == 2 && seen == 0"), target]),
        (false, &[second, finds(one, "own == 1"), target]),
        (true, &[first, finds(one, "own == 1 && seen == 2"), target]),
        (false, &[second, first, target]),
        // Whoever comes first.
        (true, &[first, second, finds("", "own == 2"), finds("", "seen == 2"), target]),
        (false, &[first, second, finds("", "seen == 2"), target]),
        (false, &[first, second, target, target]),
    ];
    for (number, (good, witness)) in expected.iter().enumerate() {
        std::fs::write(folder.path().join("w.yml"), foreign(witness)).expect("written");
        let output = quotient(folder.path(), &["replay", "m.c", "w.yml"]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(if *good { 12 } else { 5 }), "{number}: {told}");
        assert_eq!(told.contains("witness is confirmed"), *good, "{number}: {told}");
        assert!(!told.contains("not understood"), "{number}: {told}");
    }
    // A thread that the witness does not start: its lines are followed.
    std::fs::write(folder.path().join("w.yml"), foreign(&[first, finds(two, "own == 2"), target]))
        .expect("written");
    let output = quotient(folder.path(), &["replay", "m.c", "w.yml"]);
    assert!(text(&output.stderr).contains("where thread 2 is started"), "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(5));
}

/// A program that ends in an error in several ways, and what is said of these.
const BRANCHES: &str = "extern int __VERIFIER_nondet_int(void);
void reach_error(void) {}
int twice(int x) { return 2 * x; }
int main(void) {
  int a = __VERIFIER_nondet_int();
  int sum = a < 0 ? -1 : 0;
  for (int i = 0; i < 3; i++) {
    int b = __VERIFIER_nondet_int();
    if (b == 7 && a != 7)
      sum++;
  }
  switch (sum) {
    case 0: return 0;
    case 1:
      if (twice(a) == 10) reach_error();
      break;
    default: reach_error();
  }
  return 0;
}
";

/// One segment: conditions to avoid, and one to follow.
type Segment = &'static [(&'static str, &'static str, u32)];

/// A witness with waypoints to avoid; all but the last one of a segment.
fn segments(segments: &[Segment]) -> String {
    let mut out = foreign(&[]);
    for segment in segments {
        out += "  - segment:\n";
        for (at, (kind, constraint, line)) in segment.iter().enumerate() {
            let action = if at + 1 == segment.len() { "follow" } else { "avoid" };
            let constraint = match *constraint {
                "" => String::new(),
                value => format!("constraint: {{value: '{value}'}}, "),
            };
            out += &format!(
                "    - waypoint: {{type: {kind}, action: {action}, {constraint}location: {{file_name: m.c, line: {line}}}}}\n"
            );
        }
    }
    out
}

/// Branches, values and places to avoid are looked at by the program itself: of each kind a witness that is right, and one that differs in what it says of this alone.
#[test]
fn constraints_of_others_are_looked_at() {
    let folder = Folder::new();
    std::fs::write(folder.path().join("m.c"), BRANCHES).expect("written");
    let five: Segment = &[("function_return", "\\result == 5", 5)];
    let once: Segment = &[("branching", "true", 9)];
    let never: Segment = &[("branching", "false", 9)];
    let (one, other): (Segment, Segment) = (&[("branching", "1", 12)], &[("branching", "default", 12)]);
    let (doubled, halved): (Segment, Segment) =
        (&[("function_return", "\\result > 9", 15)], &[("function_return", "\\result > 10", 15)]);
    let (target, behind): (Segment, Segment) = (&[("target", "", 15)], &[("target", "", 17)]);
    let entered: Segment = &[("branching", "true", 7)];
    let (left, not_left): (Segment, Segment) = (
        &[("branching", "true", 9), ("branching", "1", 12)],
        &[("branching", "false", 9), ("branching", "default", 12)],
    );
    let (above, below): (Segment, Segment) = (&[("branching", "false", 6)], &[("branching", "true", 6)]);
    let called: Segment = &[("function_enter", "", 15)];
    let without_call: Segment = &[("function_enter", "", 15), ("target", "", 17)];
    let (alone, braces): (Segment, Segment) =
        (&[("assumption", "sum == 0", 10)], &[("assumption", "sum == 1", 10)]);
    let expected: &[(bool, &[Segment])] = &[
        (true, &[five, target]),
        (false, &[five, five, target]),
        (true, &[five, once, one, doubled, target]),
        (false, &[five, once, one, halved, target]),
        (false, &[five, once, other, doubled, target]),
        (false, &[once, one, behind]),
        (true, &[once, once, other, behind]),
        (true, &[once, once, without_call]),
        (true, &[never, never, once, one, called, target]),
        (false, &[never, never, never, one, target]),
        (true, &[entered, once, left, target]),
        (false, &[entered, never, left, target]),
        (true, &[entered, once, not_left, behind]),
        (false, &[entered, once, not_left, target]),
        (true, &[five, above, target]),
        (true, &[below, never, never, never, other, behind]),
        (false, &[below, target]),
        (true, &[alone, target]),
        (false, &[braces, target]),
        (true, &[alone, braces, behind]),
    ];
    let mut confirmed = 0;
    for (number, (good, witness)) in expected.iter().enumerate() {
        std::fs::write(folder.path().join("w.yml"), segments(witness)).expect("written");
        let output = quotient(folder.path(), &["replay", "m.c", "w.yml"]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(if *good { 12 } else { 5 }), "{number}: {told}");
        assert!(!told.contains("not understood"), "{number}: {told}");
        confirmed += usize::from(told.contains("witness is confirmed"));
    }
    assert_eq!(confirmed, expected.iter().filter(|(good, _)| *good).count());
    // What is not understood confirms nothing, although the program goes wrong on the way.
    for (constraint, why) in [
        ("twice(a) == 10", "is not understood"),
        ("a = 5", "is not understood"),
        ("a == c", "does not compile"),
    ] {
        let text_of = segments(&[five, &[("assumption", "HERE", 14)], target]).replace("HERE", constraint);
        std::fs::write(folder.path().join("w.yml"), text_of.replace("line: 14", "line: 15"))
            .expect("written");
        let output = quotient(folder.path(), &["replay", "m.c", "w.yml"]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{constraint}: {told}");
        assert!(told.contains(why) && told.contains("is not confirmed"), "{constraint}: {told}");
    }
}
