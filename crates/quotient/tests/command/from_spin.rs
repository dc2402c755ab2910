//! `quotient from-spin`: command lines of SPIN, and what SPIN itself says to them.

use std::process::Command;

use quotient_testing::Folder;

use crate::command_line::{command, model};

/// What is printed for a line (standard output, standard error) and the exit status.
fn asked(words: &[&str]) -> (String, String, Option<i32>) {
    let output = command().arg("from-spin").args(words).output().expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout).trim_end().to_owned(), text(&output.stderr), output.status.code())
}

#[test]
fn usual_lines() {
    let peterson = &model("peterson.pml");
    let lines = [
        ("spin -a M; gcc -O2 -DSAFETY -o pan pan.c; ./pan -m100000", "quotient check M"),
        (
            "spin -a -DN=4 M && cc -DNOREDUCE -DMEMLIM=800 pan.c && ./a.out -c0 -E",
            "quotient check M -D N=4 --no-deadlock --all --por off --max-memory 800M",
        ),
        ("spin -o1 -o2 -o3 -a M; gcc -DNOREDUCE -o verify pan.c; ./verify -n", "quotient check M --raw"),
        ("spin -run -a -f M", "quotient check M --acceptance --fair"),
        ("spin -run -l -DNP M", "quotient check M --progress"),
        (
            "spin -a -f '!([]<> (inside == 1))' M; gcc -o pan pan.c; ./pan -a",
            "quotient check M --ltl '[]<> (inside == 1)'",
        ),
        ("spin -search -bitstate -Q5 M", "quotient check M --store bitstate --max-time 5m"),
        ("spin -run -i M; spin -t -p M", "quotient check M --por off"),
        ("spin -n7 -u50 -p M", "quotient simulate M --seed 7 --steps 50"),
        ("spin M", "quotient simulate M --output-only"),
        ("spin -t -p M", "quotient replay M M.trail"),
        (
            "rm -f pan*; spin -a M && gcc -o pan pan.c && ./pan -m100 2>&1 | tee out | tail",
            "quotient check M",
        ),
        ("spin -t2 -DN=3 M", "quotient replay M M2.trail -D N=3"),
        ("spin -p -g -k found.trail M", "quotient replay M found.trail"),
    ];
    for (line, expected) in lines {
        let with = |text: &str| text.replace(" M", &format!(" {peterson}"));
        let (printed, notes, status) = asked(&[&with(line)]);
        assert_eq!((printed, status), (with(expected), Some(0)), "{line}\n{notes}");
    }
}

#[test]
fn words_of_one_command_need_no_quotes() {
    let peterson = &model("peterson.pml");
    let (printed, notes, status) = asked(&["spin", "-run", "-noreduce", peterson]);
    assert_eq!((printed, status), (format!("quotient check {peterson} --por off"), Some(0)), "{notes}");
}

#[test]
fn what_cannot_be_said_is_refused_by_name() {
    let peterson = &model("peterson.pml");
    for (line, word) in [
        ("spin -a M; gcc pan.c; ./a.out -A", "-A"),
        ("spin -m M", "-m"),
        ("spin -a -N claim.never M", "-N claim.never"),
        ("spin -a M; gcc -DNOSTUTTER -o pan pan.c; ./pan", "-DNOSTUTTER"),
        ("spin -run -link other.c M", "-link other.c"),
        ("spin -run --frobnicate M", "--frobnicate"),
    ] {
        let line = line.replace(" M", &format!(" {peterson}"));
        for run in [&[line.as_str()][..], &["--run", &line][..]] {
            let (printed, notes, status) = asked(run);
            assert_eq!(status, Some(2), "{line}\n{printed}\n{notes}");
            assert!(
                notes.lines().any(|l| l.trim_start().starts_with(word) && l.contains("not available")),
                "{notes}"
            );
            assert!(!printed.contains("holds"), "{printed}");
        }
    }
    for (line, said) in [
        ("make verify", "`make` is not a command of SPIN"),
        ("spin -a $MODEL", "only the shell knows"),
        ("./pan -a", "no command line of spin names the model"),
        ("spin -a 'x.pml", "is not closed"),
        ("spin -a -f !([]p) x.pml", "put formulas into quotes"),
        ("spin -f '[] (p -> <> q)'", "--ltl '!([] (p -> <> q))'"),
        ("spin -V", "quotient --version"),
    ] {
        let (printed, notes, status) = asked(&[line]);
        assert_eq!((printed.as_str(), status), ("", Some(2)), "{notes}");
        assert!(notes.contains(said), "{notes}");
    }
}

/// A model that cannot be read is a note: the command line is known in any case, and leaves claims aside where that was asked.
#[test]
fn models_that_are_not_there() {
    let (printed, notes, status) = asked(&["spin -a none.pml; gcc -DNOCLAIM -o pan pan.c; ./pan"]);
    assert_eq!((printed.as_str(), status), ("quotient check none.pml --safety", Some(0)), "{notes}");
    assert!(
        notes.contains("note: the model cannot be read now") && notes.contains("no such file"),
        "{notes}"
    );
    assert!(!notes.lines().any(|line| line.starts_with("error")), "{notes}");
}

/// Models with a line for SPIN each.
const ASKED_OF_BOTH: &[(&str, &str)] = &[
    (
        "byte x; active [2] proctype P() { x++; assert(x < 2) }",
        "spin -a m.pml; gcc -w -DSAFETY -o pan pan.c; ./pan",
    ),
    (
        "byte x; active [2] proctype P() { x++; assert(x < 3) }",
        "spin -a m.pml; gcc -w -DSAFETY -o pan pan.c; ./pan",
    ),
    ("chan c = [0] of { byte }; active proctype P() { c!1 }", "spin -run m.pml"),
    ("chan c = [0] of { byte }; active proctype P() { c!1 }", "spin -run -E m.pml"),
    ("byte x; active proctype P() { do :: x = 1 - x od } ltl p { []<> (x == 0) }", "spin -run -a m.pml"),
    (
        "byte x; active proctype P() { do :: x = 1 - x od } ltl p { <>[] (x == 0) }",
        "spin -run -a -ltl p m.pml",
    ),
    (
        "byte x; active proctype P() { do :: x = 1 - x od } ltl p { <>[] (x == 0) }",
        "spin -run -noclaim m.pml",
    ),
    (
        "byte x; active proctype P() { do :: x = 1 - x od }",
        "spin -a -f '!([]<> (x == 0))' m.pml; gcc -w -o pan pan.c; ./pan -a",
    ),
    (
        "byte x; active proctype P() { do :: x = 1 - x od }",
        "spin -a -f '[]<> (x == 0)' m.pml; gcc -w -o pan pan.c; ./pan -a",
    ),
    ("byte x; active proctype P() { accept: do :: x = 1 - x od }", "spin -run -a m.pml"),
    ("active proctype P() { do :: skip; progress: skip od }", "spin -run -l m.pml"),
    ("byte x; active proctype P() { do :: x = 1 - x :: x = x; progress: skip od }", "spin -run -l m.pml"),
    (
        "byte x; active proctype P() { do :: x = 1 - x od } active proctype Q() { do :: true -> accept: skip od }",
        "spin -run -a -f m.pml",
    ),
    ("byte x = N; active proctype P() { assert(x == 3) }", "spin -a -DN=3 m.pml; gcc -w -o pan pan.c; ./pan"),
    ("byte x = N; active proctype P() { assert(x == 3) }", "spin -a -DN=4 m.pml; gcc -w -o pan pan.c; ./pan"),
];

/// SPIN's answer and the answer to what its command line means here are the same.
#[test]
#[ignore = "needs spin"]
fn spin_and_the_translation_agree() {
    for (text, line) in ASKED_OF_BOTH {
        let folder = Folder::new();
        folder.write("m.pml", text);
        let spin =
            Command::new("sh").args(["-c", line]).current_dir(folder.path()).output().expect("sh runs");
        let said = String::from_utf8_lossy(&spin.stdout).into_owned();
        let violated = match said.lines().find_map(|l| l.split_once("errors: ")) {
            Some((_, count)) => count.trim() != "0",
            None => panic!("{line}\n{text}\n{said}{}", String::from_utf8_lossy(&spin.stderr)),
        };
        let here = command().args(["from-spin", "--run", line]).current_dir(folder.path()).output();
        let here = here.expect("the command runs");
        let report = String::from_utf8_lossy(&here.stdout).into_owned();
        let expected = if violated { 11..=13 } else { 0..=0 };
        let status = here.status.code().unwrap_or(-1);
        assert!(
            expected.contains(&status),
            "{line}\n{text}\nSPIN violated: {violated}\n{report}{}",
            String::from_utf8_lossy(&here.stderr)
        );
    }
}
