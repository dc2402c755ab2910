//! `quotient test`, `convert`, `completions` and `man`.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::command_line::{command, quotient};

/// A folder of its own with some files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("expected_{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    for (file, text) in files {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders are made");
        std::fs::write(path, text).expect("files are written");
    }
    folder
}

fn run(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } =
        command().args(words).current_dir(folder).output().expect("quotient runs");
    (status.code(), format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr)))
}

const RIGHT: &str =
    "// quotient: violated assertion line 3\nbyte x;\nactive proctype P() { assert(x == 1) }\n";
const UNEXPECTED_PASS: &str = "// quotient: violated\nbyte x;\nactive proctype P() { assert(x == 0) }\n";
const WRONG_COUNT: &str =
    "/* quotient: --raw => holds, states 7 */\nbyte x;\nactive proctype P() { x = 1 }\n";
const HANGING: &str = "// quotient: holds\nint x, y;\nactive proctype P() { do :: x++ :: y++ od }\n";
const MALFORMED: &str = "byte x;\n// quotient: hodls\nactive proctype P() { x = 1 }\n";
const WITHOUT: &str = "byte x;\nactive proctype P() { x = 1 }\n";

#[test]
fn everything_as_expected() {
    let folder = folder(
        "met",
        &[
            ("a.pml", RIGHT),
            ("deep/b.c", "// quotient: --allow-races => holds, executions 1\nint main(void) { return 0; }\n"),
            (
                "c.clp",
                "% quotient: holds, proved up\np(0). p(Y) :- p(X), Y = X + 1. assert up: p(X) |= X >= 0.\n",
            ),
            ("d.pml", "// quotient: error line 2\nbyte x = ;\n"),
            ("target/built.pml", "this is not looked at"),
            ("readme.txt", "nor is this"),
        ],
    );
    let (status, text) = run(&folder, &["test"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("running 4 expectations of 4 files"), "{text}");
    assert!(text.contains("test deep/b.c (--allow-races) ... ok"), "{text}");
    assert!(text.contains("test result: ok. 4 passed; 0 failed; 0 without an expectation"), "{text}");
}

/// Files of others cannot have files written: neither by their expectations nor by their settings or names.
#[test]
fn files_of_others_write_nothing() {
    let writes = "// quotient: --trace out.txt => violated\nactive proctype P() { assert(false) }\n";
    let named = "// quotient: a.pml => violated\nactive proctype P() { assert(false) }\n";
    let builds = "// quotient: holds\nint main(void) { return 0; }\n";
    let settings = "options = [\"--\", \"-Wl,-Map=out.txt\"]\n";
    let files =
        [("a.pml", writes), ("--trace=out.pml", named), ("c/b.c", builds), ("c/quotient.toml", settings)];
    let folder = folder("foreign", &files);
    let (status, text) = run(&folder, &["test"]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("a.pml:1\n  --trace may write files"), "{text}");
    assert!(text.contains("`-- -Wl,-Map=out.txt` may write files"), "{text}");
    assert!(!folder.join("out.txt").exists() && !folder.join("c/out.txt").exists());
    assert!(std::fs::read_to_string(folder.join("--trace=out.pml")).is_ok_and(|text| text == named));
    let (status, text) = run(&folder, &["test", "--trusted", "a.pml"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(folder.join("out.txt").exists());
}

#[test]
fn whatever_is_not_as_expected_is_a_failure() {
    let files = [
        ("a.pml", RIGHT),
        ("count.pml", WRONG_COUNT),
        ("hang.pml", HANGING),
        ("malformed.pml", MALFORMED),
        ("pass.pml", UNEXPECTED_PASS),
        ("without.pml", WITHOUT),
    ];
    let folder = folder("missed", &files);
    let (status, text) =
        run(&folder, &["test", "--timeout", "2s", "--junit", "junit.xml", "--sarif", "log.sarif"]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("1 passed; 4 failed; 1 without an expectation"), "{text}");
    assert!(text.contains("count.pml:1\n  expected: states 7\n  found:    states 3"), "{text}");
    assert!(text.contains("hang.pml:1\n  no answer after 2 s\n  quotient check hang.pml"), "{text}");
    assert!(text.contains("malformed.pml:2\n  `hodls` is not an expectation"), "{text}");
    assert!(text.contains("pass.pml:1\n  expected: violated\n  found:    holds"), "{text}");
    assert!(text.contains("--bless):\n  without.pml\n"), "{text}");
    let junit = std::fs::read_to_string(folder.join("junit.xml")).expect("a report");
    assert!(junit.contains("tests=\"6\" failures=\"2\" errors=\"3\""), "{junit}");
    let sarif = std::fs::read_to_string(folder.join("log.sarif")).expect("a log");
    assert!(sarif.contains("\"uri\": \"pass.pml\""), "{sarif}");
    // A file without an expectation alone: a failure unless that is allowed.
    assert_eq!(run(&folder, &["test", "without.pml"]).0, Some(1));
    assert_eq!(run(&folder, &["test", "without.pml", "--allow-missing"]).0, Some(0));
}

#[test]
fn blessing_writes_what_is_found() {
    let folder = folder(
        "blessed",
        &[("count.pml", WRONG_COUNT), ("pass.pml", UNEXPECTED_PASS), ("without.pml", WITHOUT)],
    );
    let (_, text) = run(&folder, &["test", "--bless"]);
    assert!(text.contains("3 blessed"), "{text}");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a model");
    assert!(
        read("count.pml").starts_with("/* quotient: --raw => holds, states 3 */\n"),
        "{}",
        read("count.pml")
    );
    assert!(read("pass.pml").starts_with("// quotient: holds\nbyte x;"));
    assert!(
        read("without.pml").starts_with("byte x;") && read("without.pml").ends_with("\n// quotient: holds\n")
    );
    assert_eq!(run(&folder, &["test"]).0, Some(0));
}

#[test]
fn settings_of_a_folder() {
    let settings = "options = [\"--max-states\", \"5\"]\nskip = [\"old\", \"*.c\"]\ntimeout = \"20s\"\n";
    let bounded = "// quotient: undecided states\nint x, y;\nactive proctype P() { do :: x++ :: y++ od }\n";
    let files = [
        ("quotient.toml", settings),
        ("deep/a.pml", bounded),
        ("old/b.pml", WITHOUT),
        ("part.c", "int x;\n"),
    ];
    let folder = folder("settings", &files);
    let (status, text) = run(&folder, &["test", "."]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("running 1 expectation of 1 file\n"), "{text}");
    std::fs::write(folder.join("quotient.toml"), "optoins = []\n").expect("settings are written");
    let (status, text) = run(&folder, &["test", "."]);
    assert_eq!(status, Some(2));
    assert!(text.contains("quotient.toml: unknown setting `optoins`"), "{text}");
}

#[test]
fn answers_and_counterexamples_in_other_formats() {
    let folder = folder("formats", &[("a.pml", RIGHT), ("b.pml", WITHOUT)]);
    let (_, answers) = run(&folder, &["check", "a.pml", "b.pml", "--json"]);
    std::fs::write(folder.join("answers.json"), answers).expect("answers are kept");
    let (status, csv) = run(&folder, &["convert", "answers.json", "--to", "csv"]);
    assert_eq!(status, Some(0), "{csv}");
    assert!(csv.contains("\na.pml,violated,,") && csv.contains("\nb.pml,holds,,"), "{csv}");
    let (_, junit) = run(&folder, &["convert", "answers.json", "--to", "junit"]);
    assert!(junit.contains("tests=\"2\" failures=\"1\" errors=\"0\""), "{junit}");
    let (_, sarif) = run(&folder, &["convert", "answers.json", "--to", "sarif"]);
    assert!(sarif.contains("\"startLine\": 3"), "{sarif}");
    run(&folder, &["check", "a.pml", "--trace", "trace.json"]);
    let (status, itf) = run(&folder, &["convert", "trace.json", "--to", "itf"]);
    assert_eq!(status, Some(0), "{itf}");
    assert!(itf.contains("\"statement\": \"assert(x == 1)\""), "{itf}");
    // What cannot be converted is refused with advice.
    let (status, text) = run(&folder, &["convert", "trace.json", "--to", "sarif"]);
    assert_eq!(status, Some(2));
    assert!(text.contains("`--to itf` and `--to trail` convert it"), "{text}");
    let (status, text) = run(&folder, &["convert", "a.pml", "--to", "csv"]);
    assert_eq!((status, text.contains("not JSON")), (Some(2), true), "{text}");
    let (status, text) = run(&folder, &["convert", "answers.json", "--to", "csv", "-o", "answers.json"]);
    assert_eq!((status, text.contains("would write over")), (Some(2), true), "{text}");
}

#[test]
fn a_lasso_in_itf_names_the_state_it_comes_back_to() {
    let model = "bit x;\nactive proctype P() { x = 1; do :: x = 1 - x od }\nltl p { <>[] (x == 1) }\n";
    let folder = folder("lasso", &[("a.pml", model)]);
    assert_eq!(run(&folder, &["check", "a.pml", "--trace", "trace.json"]).0, Some(13));
    let (_, text) = run(&folder, &["convert", "trace.json", "--to", "itf"]);
    let trace: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let (states, back) =
        (trace["states"].as_array().expect("states"), trace["loop"].as_u64().expect("a lasso"));
    assert!((back as usize) < states.len());
    // Along the cycle x takes both values, which is what violates the formula.
    let values: std::collections::BTreeSet<u64> =
        states[back as usize..].iter().filter_map(|s| s["x"].as_u64()).collect();
    assert_eq!(values.len(), 2, "{text}");
}

#[test]
fn shells_and_manuals_know_every_subcommand() {
    let help = String::from_utf8(quotient(&["--help"]).stdout).expect("text");
    let folder = folder("manual", &[("empty", "")]);
    assert_eq!(run(&folder, &["man", "pages"]).0, Some(0));
    let (_, bash) = run(&folder, &["completions", "bash"]);
    for command in
        ["check", "compare", "prove", "verify", "replay", "simulate", "explore", "draw", "test", "convert"]
    {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        assert!(bash.contains(&format!("quotient,{command})")), "{command}");
        let page =
            std::fs::read_to_string(folder.join(format!("pages/quotient-{command}.1"))).expect("a page");
        assert!(page.contains(".SH"), "{command}");
    }
}

/// `docs/reference.md` is what the command says of itself; `QUOTIENT_BLESS=1` writes it.
#[test]
fn the_reference_of_options_is_the_commands_own() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let folder = folder("reference", &[("empty", "")]);
    assert_eq!(run(&folder, &["man", ".", "--markdown"]).0, Some(0));
    let page = std::fs::read_to_string(folder.join("reference.md")).expect("a page");
    assert!(page.contains("\n## quotient check\n") && page.contains("| `--max-time TIME` |"), "{page}");
    assert!(page.contains("| `race` | 14 |") && page.contains("| `transitions` | integer |"), "{page}");
    assert!(!page.contains("|  |"), "something has no words: {page}");
    if std::env::var_os("QUOTIENT_BLESS").is_some() {
        std::fs::write(docs.join("reference.md"), &page).expect("written");
    }
    let kept = std::fs::read_to_string(docs.join("reference.md")).unwrap_or_default();
    assert!(kept == page, "docs/reference.md is old: run this test with QUOTIENT_BLESS=1");
}
