//! Non-progress cycles: small models, and random programs against SPIN's `-DNP` with `-l` and `-l -f`.
//!
//! `QUOTIENT_SPIN_PROGRESS` sets how many random programs SPIN is asked about, `QUOTIENT_SEED` the first seed.

use std::path::Path;
use std::process::Command;

use quotient::{Check, Model, SearchKind, Verdict};
use quotient_reference::generate::{Knobs, generate_with};
use quotient_reference::{interpret, print};

fn holds(text: &str, check: &Check<'_>) -> bool {
    let model = Model::from_text("progress.pml", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let outcome = model.check(check).unwrap_or_else(|e| panic!("{e}\n{text}"));
    match outcome.verdict {
        // Only cycles are asked about here: SPIN's `-l` looks for nothing else.
        Verdict::Holds | Verdict::Violated => {
            !outcome.violations.iter().any(|v| v.kind == "non-progress" || v.kind == "never")
        }
        Verdict::Undecided(why) => panic!("undecided: {why}\n{text}"),
    }
}

fn all_ways(text: &str, progress: bool, fair: bool) -> Vec<bool> {
    [true, false]
        .iter()
        .map(|&raw| holds(text, &Check { raw, progress, fair, all: true, ..Check::default() }))
        .collect()
}

/// With SPIN's verdicts.
#[test]
fn small_models() {
    for (text, without, fair) in [
        ("byte x; active proctype P() { x = 1; x = 2 }", true, true),
        ("byte x; active proctype P() { end: x == 1 }", true, true),
        ("byte x; active proctype P() { x == 1 }", true, true),
        ("byte x; active proctype P() { do :: x = 1 :: x = 2; progress: skip od }", false, false),
        ("byte x; active proctype P() { do :: x = 1; progress: skip od }", true, true),
        ("byte x; active proctype P() { do :: x = 1 - x :: break od }", false, false),
        (
            "byte x; active proctype P() { do :: x = 1 - x od } active proctype Q() { do :: skip; progress: skip od }",
            false,
            true,
        ),
        (
            "chan c = [0] of { byte }; active proctype P() { do :: c!1 od } active proctype Q() { do :: d_step { c?1; skip }; progress: skip od }",
            true,
            true,
        ),
    ] {
        assert_eq!(all_ways(text, true, false), [without; 2], "{text}");
        assert_eq!(all_ways(text, true, true), [fair; 2], "fair: {text}");
    }
}

/// `np_` in claims written by hand: true for the first move of the claim in the state where a run has ended, false from then on.
#[test]
fn claims_written_by_hand() {
    let program = "byte x; active proctype P() { x = 1; x = 2 }\n";
    let labelled = "byte x; active proctype P() { x = 1; progress: x = 2 }\n";
    for (program, claim, expected) in [
        (program, "never { do :: true :: np_ -> break od; accept: do :: np_ od }", true),
        (program, "never { do :: np_ -> break :: true od }", false),
        (labelled, "never { do :: true :: x == 2 && np_ -> break od }", false),
        (labelled, "never { do :: true :: x == 1 && np_ -> break od }", true),
        (
            program,
            "never { do :: true :: x == 2 && np_ -> x == 2 && np_ -> x == 2 && np_ -> break od }",
            true,
        ),
        (
            program,
            "never { do :: true :: x == 2 && np_ -> x == 2 && np_ -> x == 2 && !np_ -> break od }",
            false,
        ),
    ] {
        let text = format!("{program}{claim}\n");
        assert_eq!(all_ways(&text, false, false), [expected; 2], "{text}");
    }
}

/// Does SPIN find no non-progress cycle? `None` when it has no answer.
fn spin(directory: &Path, text: &str) -> Option<[bool; 2]> {
    let run = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).current_dir(directory).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for left in ["pan.c", "pan"] {
        let _ = std::fs::remove_file(directory.join(left));
    }
    std::fs::write(directory.join("model.pml"), text).ok()?;
    run("spin", &["-a", "model.pml"])?;
    run("gcc", &["-O0", "-w", "-DNP", "-DNOREDUCE", "-DNFAIR=4", "-DVECTORSZ=8192", "-o", "pan", "pan.c"])?;
    let pan = directory.join("pan");
    let ask = |args: &[&str]| {
        let said = run(pan.to_str()?, args)?;
        let usable = said.contains("errors: ") && !said.contains("search depth too small");
        usable.then(|| !said.contains("non-progress cycle (at"))
    };
    // `-A` and `-E` leave assertions and invalid end states aside.
    Some([ask(&["-l", "-A", "-E", "-m200000", "-w18"])?, ask(&["-l", "-f", "-A", "-E", "-m200000", "-w18"])?])
}

#[test]
fn random_programs_agree_with_spin() {
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default);
    if Command::new("spin").arg("-V").output().is_err() {
        println!("SKIPPED: spin is not installed, non-progress cycles are not compared with it");
        return;
    }
    let programs = number("QUOTIENT_SPIN_PROGRESS", 6);
    let directory = std::env::temp_dir().join(format!("quotient-progress-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a temporary folder");
    let mut seed = number("QUOTIENT_SEED", 11_000_000);
    let (mut compared, mut cycles, mut unfair) = (0, 0, 0);
    while compared < programs {
        seed += 1;
        let knobs = Knobs {
            size: 1 + (seed % 6) as usize,
            meaningful_labels: 90,
            channel_faults: 0,
            ..Knobs::default()
        };
        let tree = generate_with(seed, &knobs);
        let text = print(&tree);
        let usable = interpret(&tree, 5_000).is_ok_and(|o| o.complete && o.faults.is_empty() && o.states > 5);
        // SPIN counts the claim itself among the processes.
        if !usable || !text.contains("progress") || text.contains("_nr_pr") {
            continue;
        }
        let Some(expected) = spin(&directory, &text) else { continue };
        for (fair, expected) in [(false, expected[0]), (true, expected[1])] {
            assert_eq!(all_ways(&text, true, fair), [expected; 2], "seed {seed}, fair {fair}\n\n{text}");
        }
        let search = SearchKind::DepthFirst;
        let check = Check { progress: true, search, all: true, ..Check::default() };
        assert_eq!(holds(&text, &check), expected[0], "seed {seed}, depth first\n\n{text}");
        compared += 1;
        cycles += u64::from(!expected[0]);
        unfair += u64::from(!expected[0] && expected[1]);
    }
    println!(
        "{compared} programs compared with SPIN: {cycles} with non-progress cycles, {unfair} of them unfair ones only"
    );
    let _ = std::fs::remove_dir_all(&directory);
}
