//! The subcommands against a stand-in for `quotient`: a script that prints a fixed answer.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of its own for one test, with a model and a stand-in that prints `answer`.
fn prepare(name: &str, model: &str, answer: &str, status: i32) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("quotient-bench-test-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("model.pml"), model).unwrap();
    let script = folder.join("stand-in");
    std::fs::write(&script, format!("#!/bin/sh\ncat <<'END'\n{answer}\nEND\nexit {status}\n")).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn bench(folder: &Path, subcommand: &str) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_quotient-bench"))
        .arg(subcommand)
        .arg(folder.join("model.pml"))
        .arg("--quotient")
        .arg(folder.join("stand-in"))
        .output()
        .unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    output
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const MODEL: &str = "// quotient: --raw --all --safety => violated deadlock, states 4, transitions 3\n\
                     // quotient: --all --safety => violated deadlock, at most 4 states\n\
                     byte x;\nactive proctype P() { x = 1; x = 2; skip; false }\n";
const DEADLOCK: &str = r#""verdict":"violated","violations":[{"kind":"deadlock"}]"#;

#[test]
fn pinned_expectation_met() {
    let answer = format!("{{{DEADLOCK},\"states\":4,\"transitions\":3}}");
    let output = bench(&prepare("met", MODEL, &answer, 11), "pinned");
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("1 met, 0 missed"));
}

#[test]
fn pinned_expectation_missed() {
    let answer = format!("{{{DEADLOCK},\"states\":5,\"transitions\":3}}");
    let output = bench(&prepare("missed", MODEL, &answer, 11), "pinned");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("0 met, 1 missed"));
}

#[test]
fn refused_is_missed() {
    let answer = r#"{"verdict":"error","message":"no such construct"}"#;
    let output = bench(&prepare("refused", MODEL, answer, 2), "pinned");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("refused: no such construct"), "{}", text(&output));
}

#[test]
fn missing_binary_is_a_usage_error() {
    let folder = prepare("absent", MODEL, "", 0);
    std::fs::remove_file(folder.join("stand-in")).unwrap();
    assert_eq!(bench(&folder, "pinned").status.code(), Some(2));
}

/// Against the real SPIN where there is one; elsewhere only that its absence is reported.
#[test]
fn agreement_with_spin() {
    let installed = Command::new("spin").arg("-V").output().is_ok();
    for (states, agrees) in [(4, true), (5, false)] {
        let answer = format!("{{{DEADLOCK},\"states\":{states},\"transitions\":3}}");
        let output = bench(&prepare(&format!("agree{states}"), MODEL, &answer, 11), "agree");
        if !installed {
            assert_eq!(output.status.code(), Some(2));
            assert!(String::from_utf8_lossy(&output.stderr).contains("SPIN is not installed"));
        } else if agrees {
            assert!(output.status.success(), "{}", text(&output));
            assert!(text(&output).ends_with("1 agree, 0 differ, 0 skipped\n"), "{}", text(&output));
        } else {
            assert_eq!(output.status.code(), Some(1));
            assert!(text(&output).ends_with("0 agree, 1 differ, 0 skipped\n"), "{}", text(&output));
        }
    }
}

/// C programs with options, and a checkout that is not there.
#[test]
fn strangers_are_counted_and_missing_checkouts_named() {
    let answer = r#"{"verdict":"holds","assumptions":["sequential consistency: …"]}"#;
    let folder = prepare("strangers", MODEL, answer, 0);
    std::fs::create_dir(folder.join("some+one")).unwrap();
    std::fs::write(folder.join("some+one/p.c"), "int main(void) { return 0; }\n").unwrap();
    let list = folder.join("list");
    let lines = "some/one\tp.c\tholds\nsome/one\tp.c\tweak\t--arg 1 -- -I@\nsome/one\tp.c\tviolated\n\
                 some/one\tq.c\tholds\nnobody/here\tp.c\tholds\n";
    std::fs::write(&list, lines).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_quotient-bench"))
        .arg("strangers")
        .args(["--from".as_ref(), folder.as_os_str(), "--list".as_ref(), list.as_os_str()])
        .arg("--quotient")
        .arg(folder.join("stand-in"))
        .output()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let all = text.lines().find(|line| line.starts_with("all")).unwrap_or_default();
    assert_eq!(all.split_whitespace().skip(1).collect::<Vec<_>>(), ["2", "0", "0", "2", "1"], "{text}");
    assert!(text.contains("Missing: no checkout of nobody/here"), "{text}");
    assert!(text.contains("Wrong: some/one p.c: holds, an error is known"), "{text}");
}
