//! What is accepted as SPIN accepts it, and what is refused when a model is read.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use crate::command_line::{File, model, quotient};

const HOLDS: &str = "byte x;\nactive proctype P() { x++; assert(x == 1) }\n";
const BIR: &str = "system Two { active thread A() { loc l0: do { } return; } }\n";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

fn from_standard_input(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_quotient"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads all of it");
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_model_from_standard_input() {
    let output = from_standard_input(&["check", "-"], HOLDS);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let output = from_standard_input(&["check", "-"], BIR);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let output = from_standard_input(&["check", "-"], "int main() { return 0; }\n");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("--language"), "{}", text(&output));
}

#[test]
fn any_file_name() {
    for name in ["model.prom", "model.txt", "model"] {
        let file = File::new(name, HOLDS);
        let output = quotient(&["check", file.path()]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output));
    }
    // Without a process the text says nothing; the option decides.
    let file = File::new("claim.txt", "byte x;\n");
    assert_eq!(quotient(&["check", file.path()]).status.code(), Some(2));
    let output = quotient(&["check", "--language", "promela", file.path()]);
    assert!(text(&output).contains("no process to start with"), "{}", text(&output));
    let given = quotient(&["check", "--language", "promela", &model("peterson.pml")]);
    assert_eq!(given.status.code(), Some(0), "{}", text(&given));
    let file = File::new("really.pml", BIR);
    assert_eq!(quotient(&["check", "--language", "bir", file.path()]).status.code(), Some(0));
    assert_eq!(quotient(&["check", "--language", "cobol", file.path()]).status.code(), Some(2));
}

/// The number that a global begins with can be a length and a number of processes; anything else is not a constant.
#[test]
fn a_variable_as_a_length() {
    let used = "int n = 3, k;\nbyte a[n];\nactive [n] proctype P() { k++; a[k - 1] = 1; assert(k < 3) }\n";
    let file = File::new("length.pml", used);
    let output = quotient(&["check", file.path()]);
    assert_eq!(output.status.code(), Some(12), "{}", text(&output));
    assert!(text(&output).contains("assertion violated"), "{}", text(&output));
    assert!(text(&output).contains("the number that the variable begins with: 3"), "{}", text(&output));
    for refused in [
        "int n = 2 + 1; byte a[n]; init { a[0] = 1 }",
        "int n; byte a[n]; init { a[0] = 1 }",
        "int n = 3; byte a[n + 1]; init { a[0] = 1 }",
        "int n = 3; chan c = [n] of { byte }; init { c!1 }",
        "int n = 3; init { byte n; byte a[n]; a[0] = 1 }",
    ] {
        let file = File::new("no_length.pml", refused);
        assert_eq!(quotient(&["check", file.path()]).status.code(), Some(2), "{refused}");
    }
}

/// A receive into `_pid` is one into a variable that starts as the process's number.
#[test]
fn a_process_can_overwrite_its_number() {
    let text_of = |declaration: &str, me: &str| {
        format!(
            "chan in = [2] of {{ byte, byte }};\nbyte x;\nactive [2] proctype Q() {{\n\t{declaration}\n\tin!0,{me}; in?0,{me}; x = x + {me}; in!0,{me} + 1; in?_,{me}; assert(x != 9)\n}}\n"
        )
    };
    let figures = |declaration: &str, me: &str| {
        let file = File::new("own_id.pml", &text_of(declaration, me));
        let output =
            quotient(&["check", "--raw", "--symmetry", "off", "--no-deadlock", "--json", file.path()]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (json["states"].as_u64(), json["transitions"].as_u64())
    };
    // SPIN's count for the second model.
    assert_eq!(figures("byte me = _pid;", "me"), (Some(148), Some(246)));
    assert_eq!(figures("", "_pid"), (Some(148), Some(246)));
}

fn refused(name: &str, model: &str, message: &str) {
    let file = File::new(name, model);
    let output = quotient(&["check", file.path()]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains(message), "{}", text(&output));
    assert!(text(&output).contains('^'), "a caret: {}", text(&output));
}

#[test]
fn what_cannot_fit_is_refused_when_it_is_read() {
    let nested = "typedef A { byte x[1000] }\ntypedef B { A a[1000] }\ntypedef C { B b[1000] }\ntypedef D { C c[1000] }\nD d;\ninit { skip }\n";
    refused("nested.pml", nested, "takes 953 MiB");
    // Nothing else is wrong because of it.
    let used = nested.replace("skip", "d.c[1].b[1].a[1].x[1] = 1");
    let file = File::new("used.pml", &used);
    let told = text(&quotient(&["check", file.path()]));
    assert_eq!(told.matches("error:").count(), 1, "{told}");
    let channels = "typedef M { int x[4000] }\nchan c[200] = [255] of { M };\ninit { skip }\n";
    refused("channels.pml", channels, "a state takes 778 MiB");
    let processes = "active [255] proctype P() { int x[65536]; x[3] = 1 }\n";
    refused("processes.pml", processes, "a state takes 63 MiB");
    let mut doubled = String::from("typedef T0 { byte a }\n");
    for i in 1..60 {
        doubled += &format!("typedef T{i} {{ T{0} a; T{0} b }}\n", i - 1);
    }
    refused("doubled.pml", &(doubled + "T59 t;\ninit { skip }\n"), "takes 32 MiB");
    let mut deep: String = (1..3000).map(|i| format!("typedef T{i} {{ T{} a }}\n", i + 1)).collect();
    deep += "typedef T3000 { byte x }\nT1 t;\ninit { skip }\n";
    refused("deep.pml", &deep, "structures inside each other");
    refused("round.pml", "typedef A { B b }\ntypedef B { A a[2] }\nA a;\ninit { skip }\n", "contains itself");
}

#[test]
fn an_endless_d_step_is_found_at_once() {
    let file = File::new("endless.pml", "active proctype P() { d_step { do :: skip od } }\n");
    let output = quotient(&["check", "--max-time", "5s", file.path()]);
    assert_eq!(output.status.code(), Some(12), "{}", text(&output));
    assert!(text(&output).contains("a d_step sequence does not end"), "{}", text(&output));
    // A cycle through 65,536 values is one, too; through all integers nobody can tell.
    let file = File::new("round.pml", "short x;\nactive proctype P() { d_step { do :: x++ od } }\n");
    assert_eq!(quotient(&["check", file.path()]).status.code(), Some(12));
    let file = File::new("long.pml", "int x;\nactive proctype P() { d_step { do :: x++ od } }\n");
    let output = quotient(&["check", "--max-time", "5s", file.path()]);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output));
    // One that ends after many statements is none.
    let file = File::new(
        "ends.pml",
        "int x;\nactive proctype P() { d_step { do :: x < 100000 -> x++ :: else -> break od } assert(x == 7) }\n",
    );
    let output = quotient(&["check", file.path()]);
    assert!(text(&output).contains("assertion violated"), "{}", text(&output));
}

/// A process of more locations than two bytes can number: its end is reached.
#[test]
fn a_process_of_seventy_thousand_statements() {
    let mut model = String::from("byte x;\nactive proctype P() {\n");
    for i in 0..70_000 {
        model += &format!("x = {};\n", i % 7);
    }
    model += "assert(false) }\n";
    let file = File::new("long_process.pml", &model);
    let output = quotient(&["check", "--raw", "--json", file.path()]);
    assert_eq!(output.status.code(), Some(12), "a failed assertion at the end");
}

/// Twice as many statements must not take much more than twice the time to load; all these took quadratic time once.
#[test]
fn loading_takes_linear_time() {
    let repeated = |before: &str, statement: fn(usize) -> String, after: &str, count: usize| {
        before.to_owned() + &(0..count).map(statement).collect::<String>() + after
    };
    type Form = (&'static str, fn(usize) -> String, &'static str);
    let forms: [Form; 5] = [
        ("byte x;\nactive proctype P() {\natomic {\n", |i| format!("x = x + {};\n", i % 7), "skip } }\n"),
        ("byte x;\nactive proctype P() {\n", |i| format!("assert(x != {i});\n"), "skip }\n"),
        (
            "byte x;\ninline f(a) { x = a; x = a + 1 }\nactive proctype P() {\n",
            |i| format!("f({i});\n"),
            "skip }\n",
        ),
        ("byte x;\n", |i| format!("proctype P{i}() {{ x = 1; x-- }}\n"), "init { run P1() }\n"),
        ("chan c = [2] of { byte };\nbyte x;\nactive proctype P() {\n", |_| "c!1; c?x;\n".into(), "skip }\n"),
    ];
    for (number, (before, statement, after)) in forms.into_iter().enumerate() {
        let seconds = |count: usize| {
            let file = File::new(&format!("linear{number}.pml"), &repeated(before, statement, after, count));
            let started = Instant::now();
            let output = quotient(&["check", "--max-states", "2", "--json", file.path()]);
            assert!(matches!(output.status.code(), Some(0 | 5 | 12)), "{}", text(&output));
            started.elapsed().as_secs_f64()
        };
        let (small, large) = (seconds(5_000), seconds(40_000));
        assert!(large < 30.0 * small + 1.0, "{before}: {small} s for 5,000, {large} s for 40,000");
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let nested = |open: &str, close: &str| {
        format!("byte x;\nactive proctype P() {{ {}x++{} }}\n", open.repeat(100_000), close.repeat(100_000))
    };
    for (open, close) in [("if :: ", " fi"), ("{", "}"), ("x++ unless {", "}"), ("atomic {", "}")] {
        refused("deep.pml", &nested(open, close), "nested too deeply");
    }
}

/// A `trace` of more locations than two bytes can number. Each first message leads to a location of its own, which allows the message 1; the
/// one whose number is that of the location taken here, cut off at two bytes, allows 2.
#[test]
fn an_observer_of_seventy_thousand_locations() {
    let model = |second: u32| {
        let mut model =
            format!("chan c = [1] of {{ int }};\nactive proctype P() {{ c!66000; c?_; c!{second}; c?_ }}\n");
        model += "trace {\nif\n";
        for first in 1..=70_000 {
            model += &format!(":: c!{first}; c!{}\n", if first <= 70_000 - (1 << 16) { 2 } else { 1 });
        }
        model + "fi }\n"
    };
    for (second, status) in [(1, 0), (2, 12)] {
        let file = File::new("observer.pml", &model(second));
        let output = quotient(&["check", "--json", file.path()]);
        assert_eq!(output.status.code(), Some(status), "{second}: {}", text(&output));
    }
}

/// What is said about a process or a place that cannot be is true of nothing: a warning says so.
#[test]
fn formulas_about_nothing_are_warned_of() {
    for (model, warned) in [
        (
            "byte x; active proctype P() { do :: L: x = 1 - x od }\nltl p { [] !(P@L) }\n",
            "no process is ever at `L`",
        ),
        ("byte x; active proctype P() { L: x = 1 }\nltl p { [] !(P[7]@L) }\n", "process 7 is never a `P`"),
        (
            "byte x; active proctype P() { L: x = 1 }\nactive proctype Q() { skip }\nltl p { [] !(P[1]@L) }\n",
            "processes of `P` have the numbers 0",
        ),
        ("byte x; active proctype P() { L: x = 1 }\nltl p { [] !(P[0]@L) }\n", ""),
        ("byte x; proctype P() { L: x = 1 }\ninit { run P() }\nltl p { [] !(P[1]@L) }\n", ""),
    ] {
        let file = File::new("nothing.pml", model);
        let output = quotient(&["check", "--json", file.path()]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(warned.is_empty(), errors.is_empty(), "{model}{errors}");
        assert!(errors.contains(warned), "{model}{errors}");
    }
    let file =
        File::new("assumes.bir", "system A { int x; active thread T() { assume x == 1; assert false; } }\n");
    let output = quotient(&["check", file.path()]);
    assert!(text(&output).contains("under the model's own assumptions (assume)"), "{}", text(&output));
}
