//! Traces tell the truth: values of the program as written, statements as they are executed, threads that keep their names.

use crate::command_line::{File, model, quotient};
use quotient::trace::Trace;
use quotient::{Check, Model, Outcome};
use quotient_reference::{generate, print};
use quotient_testing::setting;

fn check(text: &str) -> Outcome {
    let read = Model::from_text("m.pml", text).unwrap_or_else(|e| panic!("{e}"));
    read.check(&Check::default()).expect("an outcome")
}

fn trace(outcome: &Outcome) -> &Trace {
    &outcome.violations.first().expect("a violation").trace
}

/// The statements, with what they changed.
fn lines(trace: &Trace) -> Vec<String> {
    let change = |c: &quotient::trace::Change| {
        let value = |v: &Option<String>| v.clone().unwrap_or_else(|| "-".into());
        format!("{} {} {}", c.name, value(&c.before), value(&c.after))
    };
    let line = |s: &quotient::trace::Step| {
        format!(
            "{} | {} | {}",
            s.process,
            s.statement,
            s.changes.iter().map(change).collect::<Vec<_>>().join(", ")
        )
    };
    trace.steps.iter().map(line).collect()
}

#[test]
fn a_dead_variable_keeps_its_value() {
    let outcome = check(
        "byte x, y, unread;
         active proctype P() {
             byte t = 3;
             x = 1;
             unread = 5;
             y = x + t;
             assert(y != 4)
         }",
    );
    assert!(outcome.reduced.forgotten > 0 && outcome.reduced.unread > 0, "the program is reduced");
    let lines = lines(trace(&outcome));
    assert!(lines.contains(&"P(0) | y = x + t | y 0 4".into()), "{lines:#?}");
    assert!(lines.contains(&"P(0) | unread = 5 | unread 0 5".into()), "{lines:#?}");
    let last = &trace(&outcome).last;
    assert!(last.contains(&("P(0).t".into(), "3".into())), "{last:?}");
}

#[test]
fn loops_show_their_parts() {
    let outcome = check(
        "byte n;
         active proctype P() { byte i; for (i : 1 .. 2) { n = n + i } select (i : 7 .. 8); assert(i != 8) }",
    );
    let trace = trace(&outcome);
    let statements: Vec<&str> = trace.steps.iter().map(|s| s.statement.as_str()).collect();
    let expected = [
        "i = 1",
        "i <= 2",
        "n = n + i",
        "i++",
        "i <= 2",
        "n = n + i",
        "i++",
        "i > 2",
        "i = 8",
        "assert(i != 8)",
    ];
    assert_eq!(statements, expected);
}

#[test]
fn macros_and_inlines_show_what_is_executed_and_where_it_was_called() {
    let text = "#define INC(v) v = v + 1\n#define LIMIT 3\n#define DONE (x == 0)\nbyte x;\n\
                inline twice(a, n) {\n  a = a * n;\n  x < LIMIT\n}\n\
                active proctype P() {\n  INC(x);\n  twice(x, 2);\n  twice(x, 1 + 1);\n  DONE\n}\n";
    let outcome = check(text);
    let trace = trace(&outcome);
    let steps: Vec<(u32, &str, Option<&str>)> =
        trace.steps.iter().map(|s| (s.line, s.statement.as_str(), s.called_at.as_deref())).collect();
    let expected = [
        (10, "x = x + 1", None),
        (6, "x = x * 2", Some("m.pml:11")),
        (7, "x < LIMIT", Some("m.pml:11")),
        (6, "x = x * 1 + 1", Some("m.pml:12")),
    ];
    assert_eq!(steps, expected, "{text}");
    // It waits for the second condition: 3 is not less than 3.
    assert_eq!(trace.processes[0].waits_for, ["x < LIMIT"]);
}

#[test]
fn a_blocked_d_step_shows_what_it_waits_for() {
    let outcome = check("byte x; active proctype P() { d_step { if :: x > 3 -> x = 0 :: x == 2 fi } }");
    assert_eq!(trace(&outcome).processes[0].waits_for, ["d_step { x > 3  or  x == 2 }"]);
}

#[test]
fn a_number_used_again_is_another_process() {
    let outcome = check(
        "byte n;
         proctype A() { byte own = n; n++; assert(n < 2 || own == 9) }
         init { run A(); _nr_pr == 1; run A() }",
    );
    let names: Vec<&str> = trace(&outcome).steps.iter().map(|s| s.process.as_str()).collect();
    assert!(names.contains(&"A(1)") && names.contains(&"A(1)#2"), "{names:?}");
    let first_of_second = trace(&outcome).steps.iter().find(|s| s.process == "A(1)#2").expect("a step");
    assert!(first_of_second.changes.iter().all(|c| !c.name.starts_with("A(1).")), "{first_of_second:?}");
}

#[test]
fn an_endless_process_does_not_miss_its_end() {
    let outcome = check(
        "byte x; active proctype P() { do :: x = 1 - x od } active proctype Q() { end: x == 7; x = 0 }",
    );
    let missing: Vec<&str> = outcome.unreached.iter().map(|u| u.statement.as_str()).collect();
    // Q could end and never does; P cannot end.
    assert_eq!(missing, ["x == 7", "x = 0", "the end of the process"]);
    assert!(outcome.unreached.iter().all(|u| u.process == "Q"), "{:?}", outcome.unreached);
}

#[test]
fn lassos_are_short() {
    // A depth-first search goes to 20 first; the nearest cycle is right at the beginning.
    let outcome = check(
        "byte x;
         active proctype P() { do :: x < 20 -> x++ :: x > 0 -> x-- od }
         ltl p { <> (x == 21) }",
    );
    let violation = outcome.violations.first().expect("a violation");
    let steps = violation.trace.steps.last().map_or(0, |s| s.number);
    assert!(steps <= 4, "{} steps", steps);
}

#[test]
fn long_traces_are_cut_and_ranges_shown() {
    let text = "byte x; active proctype P() { do :: x < 250 -> x++ :: x == 250 -> assert(false) od }";
    let file = File::new("long.pml", text);
    let run = |options: &[&str]| {
        let output = quotient(&[&["check", "--raw", file.path()], options].concat());
        assert_eq!(output.status.code(), Some(12));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let cut = run(&[]);
    assert!(cut.contains("statements left out; --steps all shows them"), "{cut}");
    assert!(cut.lines().count() < 160, "{}", cut.lines().count());
    assert!(run(&["--steps", "all"]).lines().count() > 500);
    let range = run(&["--steps", "11..12"]);
    assert_eq!(range.lines().filter(|l| l.contains("P(0)  ")).count(), 2, "{range}");
    let wrong = quotient(&["check", file.path(), "--steps", "first"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn simulation_is_linear_and_offers_each_choice_once() {
    let output = quotient(&["simulate", &model("peterson.pml"), "--steps", "50000", "--seed", "1"]);
    assert_eq!(output.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&output.stdout).contains("50000  user("));
    let mut asked = std::process::Command::new(env!("CARGO_BIN_EXE_quotient"));
    let text = "byte x; active proctype P() { atomic { x = 3; if :: x = 1 :: x = 2 fi } }";
    let file = File::new("choices.pml", text);
    let output = asked.args(["simulate", "--interactive", file.path()]).output().expect("it runs");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("choose 1 to 2"), "{shown}");
    assert!(shown.contains("x = 3; x = 1") && shown.contains("x = 3; x = 2"), "{shown}");
    // An assertion that fails is one choice, though a search may go on after it.
    let text = "byte x; active proctype P() { if :: assert(x == 1) :: x = 2 fi; x = 3 }";
    let file = File::new("fails.pml", text);
    let mut asked = std::process::Command::new(env!("CARGO_BIN_EXE_quotient"));
    let output = asked.args(["simulate", "--interactive", file.path()]).output().expect("it runs");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("choose 1 to 2") && shown.matches("assert(x == 1)").count() == 1, "{shown}");
}

/// The variable that a change is about: without process and index.
fn variable(name: &str) -> &str {
    let own = name.rsplit_once(").").map_or(name, |(_, own)| own);
    own.split(['[', '.']).next().unwrap_or(own)
}

/// Of every random program's violations: each change is made by a statement that names the variable, and the changes lead from the
/// first state to the last.
#[test]
fn every_change_is_made_by_a_statement_that_names_the_variable() {
    let count: u64 = setting("QUOTIENT_RANDOM_PROGRAMS", 300);
    let mut looked_at = 0;
    for seed in 0..count {
        let text = print(&generate(seed, 2 + seed as usize % 4));
        let model = Model::from_text("random.pml", &text).unwrap_or_else(|e| panic!("{e}"));
        let limits = quotient::search::Limits { states: Some(20_000), ..Default::default() };
        let outcome = model
            .check(&Check { all: true, limits, ..Check::default() })
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        for violation in &outcome.violations {
            let trace = &violation.trace;
            let mut values: std::collections::BTreeMap<_, _> = trace.initial.iter().cloned().collect();
            for step in &trace.steps {
                for change in &step.changes {
                    match &change.after {
                        Some(after) => _ = values.insert(change.name.clone(), after.clone()),
                        None => _ = values.remove(&change.name),
                    }
                    // A channel may go by the name of a parameter.
                    let channel = change.after.as_ref().is_some_and(|v| v.starts_with('['));
                    let made = change.before.is_some() && change.after.is_some() && !channel;
                    let named = step.statement.contains(variable(&change.name));
                    assert!(!made || named, "seed {seed}: {change:?} by {step:?}\n{text}");
                    looked_at += usize::from(made);
                }
            }
            assert_eq!(values, trace.last.iter().cloned().collect(), "seed {seed}\n{text}");
        }
    }
    assert!(looked_at as u64 > count, "{looked_at} changes");
}

/// Also where no way leads there: a process that goes round for ever is missing what stands after the loop, but not its end.
#[test]
fn statements_behind_an_endless_loop_are_never_executed() {
    let outcome = check(
        "byte x;
         inline set(v) { x = v }
         active proctype P() { do :: x = 1 - x od; x = 5; set(6); if :: x == 2 -> goto L :: else fi; L: skip }
         active proctype Q() { goto M; set(6); M: x = 1 - x }",
    );
    let mut never: Vec<_> =
        outcome.unreached.iter().map(|u| format!("{} {}", u.process, u.statement)).collect();
    never.sort();
    // A statement of an inline is one statement, wherever it is called.
    assert_eq!(never, ["P else", "P skip", "P x = 5", "P x = 6", "P x == 2"]);
}
