//! Random command lines: whatever is asked, the answer is complete and says the same in text, in JSON and by the exit status.
//!
//! A line has any options with any values, useful or not, and one or more small models. It is run twice, with and without
//! `--json`. Beside the forms, verdicts are compared: what a line decides about a property is what was found out about that property
//! alone, without any reduction.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Output;

use quotient_testing::{Random, setting};
use serde_json::Value;

/// Models with the claims they make: text and, to ask them one by one, their names.
const MODELS: &[(&str, &str, &[&str])] = &[
    ("plain.pml", "byte x;\nactive [2] proctype P() { x++; x-- }\n", &[]),
    ("dead.pml", "byte x;\nactive proctype P() { x = 1; x == 2 }\nactive proctype Q() { x++ }\n", &[]),
    ("wrong.pml", "byte x;\nactive [2] proctype P() { byte t; t = x; x = t + 1; assert(x < 2) }\n", &[]),
    (
        "lively.pml",
        "bit x;\nbyte y;\nactive proctype P() { do :: x = 1 - x od }\n\
        active proctype Q() { progress: do :: y < 2 -> y++ :: y == 2 -> accept: y = 0 od }\n\
        ltl often { []<> (x == 1) }\nltl small { [] (y < 3) }\n",
        &["ltl often []<> (x == 1)", "ltl small [] (y < 3)"],
    ),
    (
        "watched.pml",
        "byte x;\nactive proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }\n\
        never { do :: x != 2 :: x == 2 -> break od }\n",
        &["never"],
    ),
    ("fault.pml", "byte x;\nbyte a[2];\nactive proctype P() { do :: x < 4 -> a[x] = 1; x++ od }\n", &[]),
    (
        "objects.bir",
        "system S {\n  int x;\n  thread T() { loc a: do { x := x + 1; } goto b; loc b: do { x := x - 1; } return; }\n\
        main thread MAIN() { loc m: do { start T(); start T(); } return; }\n}\n",
        &[],
    ),
    (
        "locked.bir",
        "system S {\n  int x;\n  main thread MAIN() { loc m: do { x := 1; } goto n; loc n: when x == 2 do {} return; }\n}\n",
        &[],
    ),
];

/// Properties of all models: they have a global `x`.
const PROPERTIES: &[(&str, &str)] = &[
    ("--ltl", "[] (x < 2)"),
    ("--ltl", "<> (x == 1)"),
    ("--ltl", "[]<> (x == 0)"),
    ("--ltl", "X (x == 1)"),
    ("--ltl", "[] (x =="),
    ("--ctl", "EF (x == 2)"),
    ("--ctl", "AG EF (x == 0)"),
    ("--ctl", "AX (x == 1)"),
    ("--invariant", "x < 3"),
    ("--invariant", "x == 0"),
    ("--invariant", "nonsense"),
];

/// Other options.
const OPTIONS: &[&[&str]] = &[
    &["--search", "bfs"],
    &["--search", "dfs"],
    &["--store", "tree"],
    &["--store", "plain"],
    &["--store", "gzip"],
    &["--store", "collapse"],
    &["--store", "none"],
    &["--symmetry", "off"],
    &["--symmetry", "exact"],
    &["--symmetry", "pc"],
    &["--symmetry", "kbots=2"],
    &["--symmetry", "heap"],
    &["--symmetry", "dynamic"],
    &["--audit=20"],
    &["--por", "off"],
    &["--por", "on"],
    &["--por", "si"],
    &["--raw"],
    &["--all"],
    &["--all"],
    &["--all"],
    &["--no-deadlock"],
    &["--safety"],
    &["--safety"],
    &["--claim", "often"],
    &["--claim", "small"],
    &["--claim", ""],
    &["--acceptance"],
    &["--progress"],
    &["--fair"],
    &["--max-states", "3"],
    &["--max-states", "1M"],
    &["--max-depth", "2"],
    &["--max-memory", "500M"],
    &["--max-time", "100s"],
    &["--full"],
    &["--trace", "/no/such/place"],
    &["--dot", "/no/such/place"],
    &["--relative", "/no/such/place"],
    &["-D", "NOBODY=1"],
    &["-D", "1x=2"],
    &["-I", "."],
    &["--quiet"],
    &["--dpor", "fg"],
    &["--allow-races"],
    &["--max-executions", "5"],
    &["--nondet", "1,-2"],
    &["--", "-O2"],
];

struct Lines {
    folder: PathBuf,
    /// What a property alone is, for a model: by model, property and fairness.
    alone: HashMap<(String, String, bool), Option<bool>>,
    decided: u64,
    refused: u64,
}

fn words(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

impl Lines {
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = crate::command_line::command();
        command.current_dir(&self.folder).args(arguments).output().expect("the command runs")
    }

    /// Whether a property holds, asked alone and without reductions; nothing where it cannot be asked.
    fn alone(&mut self, file: &str, text: &str, fair: bool) -> Option<bool> {
        let key = (file.to_owned(), text.to_owned(), fair);
        if let Some(known) = self.alone.get(&key) {
            return *known;
        }
        let (keyword, rest) = text.split_once(' ').unwrap_or((text, ""));
        let name = rest.split(' ').next().unwrap_or_default();
        let mut arguments =
            vec!["check", file, "--json", "--raw", "--all", "--symmetry", "off", "--por", "off"];
        let option = format!("--{keyword}");
        match keyword {
            "safety" => arguments.push("--safety"),
            "no" if text == "no acceptance cycle" => arguments.push("--acceptance"),
            "no" => arguments.push("--progress"),
            "never" => {}
            "ltl" if ["often", "small"].contains(&name) => arguments.extend(["--claim", name]),
            _ => arguments.extend(["--safety", &option, rest]),
        }
        if fair {
            arguments.push("--fair");
        }
        let output = self.run(&arguments);
        let object: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let answers = object["answers"].as_array().cloned().unwrap_or_default();
        let own = answers.iter().find(|a| a["text"] == text);
        let value = own.and_then(|a| match a["verdict"].as_str() {
            Some("holds") => Some(true),
            Some("violated") => Some(false),
            _ => None,
        });
        self.alone.insert(key, value);
        value
    }

    /// The objects of a run with `--json`; several models have one a line.
    fn objects(&self, output: &Output, models: usize, line: &str) -> Vec<Value> {
        let text = words(&output.stdout);
        let read = |text: &str| {
            serde_json::from_str(text)
                .unwrap_or_else(|e| panic!("{line}\n{e}: {text}{}", words(&output.stderr)))
        };
        if models == 1 || text.starts_with("{\n") {
            vec![read(&text)]
        } else {
            text.lines().map(read).collect()
        }
    }

    fn check(&mut self, models: &[usize], options: &[&str]) {
        let files: Vec<&str> = models.iter().map(|m| MODELS[*m].0).collect();
        // What follows `--` comes last.
        let (before, after) = match options.iter().position(|o| *o == "--") {
            Some(at) => options.split_at(at),
            None => (options, &[][..]),
        };
        let plain = [&["check"], &files[..], before, after].concat();
        let with_json = [&["check", "--json"], &files[..], before, after].concat();
        let line = plain.join(" ");
        let (text, json) = (self.run(&plain), self.run(&with_json));
        for output in [&text, &json] {
            let status = output.status.code().unwrap_or_else(|| panic!("{line}\na signal ended it"));
            assert!(
                [0, 2, 5, 11, 12, 13].contains(&status),
                "{line}\nstatus {status}: {}",
                words(&output.stderr)
            );
            assert!(!words(&output.stderr).contains("panicked"), "{line}\n{}", words(&output.stderr));
        }
        assert_eq!(text.status.code(), json.status.code(), "{line}");
        let status = json.status.code().unwrap_or(-1);
        if json.stdout.is_empty() {
            // Not even the options were understood.
            assert_eq!(status, 2, "{line}");
            assert!(words(&json.stderr).starts_with("error: "), "{line}\n{}", words(&json.stderr));
            self.refused += 1;
            return;
        }
        let objects = self.objects(&json, models.len(), &line);
        let rank = |s: i32| [70, 2, 14, 13, 12, 11, 5, 0].iter().position(|r| *r == s).unwrap_or(0);
        let statuses = objects.iter().map(|o| match o["verdict"].as_str() {
            Some("holds") => 0,
            Some("undecided") => 5,
            Some("error") => 2,
            Some("violated") => {
                let kinds =
                    o["violations"].as_array().expect("a list").iter().map(|v| match v["kind"].as_str() {
                        Some("deadlock") => 11,
                        Some("ltl" | "ctl" | "never" | "acceptance" | "non-progress") => 13,
                        _ => 12,
                    });
                kinds.min_by_key(|s| rank(*s)).expect("a violation")
            }
            other => panic!("{line}\nthe verdict {other:?}"),
        });
        assert_eq!(statuses.min_by_key(|s| rank(*s)), Some(status), "{line}");
        if objects.iter().any(|o| o["verdict"] == "error" && o["file"].is_null()) {
            self.refused += 1;
            return;
        }
        assert_eq!(objects.len(), models.len(), "{line}");
        let report = words(&text.stdout);
        for (model, object) in models.iter().zip(&objects) {
            self.agree(*model, object, options, &report, &line);
        }
    }

    /// Text and JSON say the same about a model, and everything that was asked is there.
    fn agree(&mut self, model: usize, object: &Value, options: &[&str], report: &str, line: &str) {
        let (file, _, own) = MODELS[model];
        let verdict = object["verdict"].as_str().unwrap_or_default();
        assert_eq!(object["file"], file, "{line}");
        if verdict == "error" {
            self.refused += 1;
            return;
        }
        assert!(report.contains(&format!("{file}: {verdict}\n")), "{line}\n{report}");
        let given = |option: &str| {
            options.iter().position(|o| *o == option).map(|at| options[(at + 1).min(options.len() - 1)])
        };
        let mut asked: Vec<String> = vec!["safety".to_owned()];
        let wanted =
            |claim: &&&str| given("--claim").is_none_or(|name| claim.split(' ').nth(1) == Some(name));
        if given("--safety").is_none() {
            asked.extend(own.iter().filter(wanted).map(|c| (*c).to_owned()));
        }
        for (at, option) in options.iter().enumerate() {
            match *option {
                "--ltl" | "--ctl" | "--invariant" => {
                    asked.push(format!("{} {}", &option[2..], options[at + 1]))
                }
                "--acceptance" => asked.push("no acceptance cycle".to_owned()),
                "--progress" => asked.push("no non-progress cycle".to_owned()),
                _ => {}
            }
        }
        let answers = object["answers"].as_array().expect("a list");
        let mut answered: Vec<&str> = answers.iter().filter_map(|a| a["text"].as_str()).collect();
        answered.sort_unstable();
        asked.sort_unstable();
        assert_eq!(answered, asked, "{line}");
        // One violation is enough to be violated, one open question to be no more than undecided.
        let of = |word: &str| answers.iter().any(|a| a["verdict"] == word);
        let expected = if of("violated") {
            "violated"
        } else if of("undecided") {
            "undecided"
        } else {
            "holds"
        };
        assert_eq!(verdict, expected, "{line}");
        let not_served = given("--claim").is_none() && given("--safety").is_none();
        for answer in answers {
            let (text, found) =
                (answer["text"].as_str().unwrap_or_default(), answer["verdict"].as_str().unwrap_or_default());
            let sentence = verdict == "holds" && text == "safety" || answers.len() == 1;
            assert!(sentence || report.contains(&format!("  {text}: {found}")), "{line}\n{text}\n{report}");
            if verdict == "holds" && text == "safety" {
                let deadlocks = given("--no-deadlock").is_none();
                let claimed = report.contains(&format!("{file}: holds\n  no deadlock, no assertion"));
                assert_eq!(claimed, deadlocks, "{line}\n{report}");
            }
            let fair = given("--fair").is_some();
            let dead = text == "safety" && given("--no-deadlock").is_some();
            if found == "undecided" || dead {
                continue;
            }
            self.decided += 1;
            if let Some(holds) = self.alone(file, text, fair) {
                assert_eq!(found, if holds { "holds" } else { "violated" }, "{line}\n{text}");
            }
        }
        let left = object["not_checked"].as_array().expect("a list");
        let (cycles, left): (Vec<&Value>, Vec<&Value>) = left
            .iter()
            .partition(|what| what.as_str().is_some_and(|what| what.contains(" cycles of the model's ")));
        let unasked = ["--acceptance", "--progress"].iter().filter(|option| given(option).is_none()).count();
        assert_eq!(cycles.len(), if file == "lively.pml" { unasked } else { 0 }, "{line}");
        assert_eq!(
            left.is_empty(),
            given("--no-deadlock").is_none() && (own.is_empty() || not_served),
            "{line}"
        );
        let store = &object["reductions"]["store"];
        let named = report.contains(" store: ");
        if objects_alone(line) {
            assert_eq!(named, !store.is_null(), "{line}\n{report}");
        }
    }
}

/// Is the line about one model?
fn objects_alone(line: &str) -> bool {
    MODELS.iter().map(|(name, ..)| line.matches(name).count()).sum::<usize>() == 1
}

#[test]
fn random_command_lines_are_answered() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("random_command_lines");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text, _) in MODELS {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let mut lines = Lines { folder, alone: HashMap::new(), decided: 0, refused: 0 };
    let mut random = Random::new(setting("QUOTIENT_SEED", 1));
    let count = setting("QUOTIENT_COMMAND_LINES", 400);
    for _ in 0..count {
        let several = if random.below(5) == 0 { 2 + random.below(2) } else { 1 };
        let mut models = vec![random.below(MODELS.len())];
        while models.len() < several {
            // Mostly of one kind.
            let other = random.below(MODELS.len());
            let alike = MODELS[other].0.ends_with("bir") == MODELS[models[0]].0.ends_with("bir");
            if alike || random.below(8) == 0 {
                models.push(other);
            }
        }
        let mut options: Vec<&str> = Vec::new();
        for _ in 0..random.below(3) {
            let (option, text) = *random.one(PROPERTIES);
            options.extend([option, text]);
        }
        for _ in 0..random.below(4) {
            let more = *random.one(OPTIONS);
            if !options.contains(&"--") && !options.contains(&more[0]) {
                options.extend(more);
            }
        }
        lines.check(&models, &options);
    }
    println!("{count} lines: {} answers compared, {} lines or models refused", lines.decided, lines.refused);
    assert!(lines.decided >= count / 3 && lines.refused >= count / 20, "the lines ask for little");
}

/// The other subcommands: never a panic, never a status that is not in the table.
#[test]
fn other_subcommands_end_in_the_table() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("random_other_commands");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text, _) in MODELS {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let lines = Lines { folder, alone: HashMap::new(), decided: 0, refused: 0 };
    let options: &[&[&str]] = &[
        &["--json"],
        &["--csv"],
        &["--symmetry", "exact,off"],
        &["--store", "tree"],
        &["--max-states", "2"],
        &["--seed", "3"],
        &["--output-only"],
        &["--full"],
        &["--schedule", "q1:0"],
        &["-D", "N=1"],
        &["-I", "."],
        &["--model", "plain.pml"],
    ];
    let mut random = Random::new(setting("QUOTIENT_SEED", 1) ^ 77);
    for _ in 0..setting("QUOTIENT_COMMAND_LINES", 400) / 4 {
        let mut line = vec![*random.one(&["compare", "simulate", "replay", "verify"])];
        line.push(MODELS[random.below(MODELS.len())].0);
        for _ in 0..random.below(3) {
            let more = *random.one(options);
            if !line.contains(&more[0]) {
                line.extend(more);
            }
        }
        if line[0] == "simulate" {
            line.extend(["--steps", "20"]);
        }
        let output = lines.run(&line);
        let status = output.status.code();
        let known = [0, 2, 5, 10, 11, 12, 13, 14].map(Some);
        assert!(known.contains(&status), "{line:?}: {status:?}\n{}", words(&output.stderr));
        if line.contains(&"--json") && status != Some(2) && line[0] == "compare" {
            let rows: Value = serde_json::from_slice(&output.stdout).expect("a list");
            assert!(rows.as_array().is_some_and(|r| !r.is_empty()), "{line:?}");
        }
    }
}
