//! The lines that are said to tell processes apart are the ones that do.
//!
//! Every model is symmetric but for one line, which is known. The report must name that line, and once the lines it names are left out of the text,
//! every permutation must be found: by the same analysis, but of another program.

use quotient_engine::{Check, Model, SymmetryReport};

const NAME: &str = "reasons.pml";

fn symmetry(text: &str) -> SymmetryReport {
    let model = Model::from_text(NAME, text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let limits = quotient_search::Limits { states: Some(2_000), ..Default::default() };
    let check = Check { all: true, explain_symmetry: true, limits, ..Check::default() };
    model.check(&check).unwrap_or_else(|e| panic!("{e}\n{text}")).symmetry
}

/// Declarations and the body of a process, one statement in each line.
const BASES: [(&str, &str); 3] = [
    ("byte owner = 9, x, st[3];", "owner == 9 -> owner = _pid;\nst[_pid] = 1;\nst[_pid] = 0;\nowner = 9;"),
    (
        "byte owner, x, st[3]; chan c = [1] of { byte };",
        "c!_pid;\nst[_pid] = 1;\nc?owner;\nst[owner] = 0;\nx = x + 1;",
    ),
    (
        "byte owner, x, st[3];",
        "st[_pid] = 1;\n(st[0] + st[1] + st[2] <= 2);\nowner = _pid;\nst[_pid] = 0;\nif :: owner == _pid :: else fi;",
    ),
];

/// Each tells processes 0, 1 and 2 apart.
const CAUSES: [&str; 12] = [
    "x = x + _pid;",
    "x = 2 * _pid;",
    "st[1] = 5;",
    "_pid > 0;",
    "if :: _pid == 1 -> x = 1 :: else fi;",
    "x = x + 3 - _pid;",
    "x = st[(_pid + 1) % 3];",
    "st[0] == 0;",
    "owner < _pid;",
    "st[_pid] = _pid;",
    "if :: _pid % 2 == 0 :: x = 7 fi;",
    "atomic { owner = 2; st[owner] = 3 };",
];

/// The program with these lines in the body, and the line where the last of them stands.
fn program(declarations: &str, body: &str, last: &str) -> (String, usize) {
    let text = format!("{declarations}\nactive [3] proctype P() {{\ndo ::\n{body}\n{last}\nod }}\n");
    let line = 4 + body.lines().count();
    (text, line)
}

fn named(report: &SymmetryReport) -> Vec<usize> {
    let limit = report.limit.as_deref().unwrap_or_default();
    let after = limit.split(':').skip(1);
    after.filter_map(|rest| rest.split_once(" (")?.0.parse().ok()).collect()
}

#[test]
fn known_causes_are_named_and_leaving_the_lines_out_makes_the_processes_alike() {
    let mut models = 0;
    for (declarations, body) in BASES {
        let (text, _) = program(declarations, body, "skip;");
        assert_eq!(symmetry(&text).renamings.as_deref(), Some("6"), "alike without a cause\n{text}");
        for cause in CAUSES {
            let (text, line) = program(declarations, body, cause);
            let report = symmetry(&text);
            assert_ne!(report.renamings.as_deref(), Some("6"), "told apart\n{text}");
            let named = named(&report);
            assert!(named.contains(&line), "line {line}: {:?}\n{text}", report.limit);
            let without: Vec<&str> = text
                .lines()
                .enumerate()
                .map(|(at, line)| if named.contains(&(at + 1)) { "skip;" } else { line })
                .collect();
            let left = symmetry(&without.join("\n"));
            assert_eq!(left.renamings.as_deref(), Some("6"), "{:?}\n{text}", report.limit);
            models += 1;
        }
    }
    assert!(models >= 30);
}

/// Processes that are alike but for one place, as proctypes of their own: the place is named, and what is done there left out in both, the next one is.
#[test]
fn the_first_difference_between_proctypes_is_named() {
    let body = |name: &str, own: &str, first: &str, second: &str| {
        format!(
            "active proctype {name}() {{\ndo ::\n{own} == 0 -> {own} = 1;\n{first};\n{own} = 2;\n{second};\n{own} = 0\nod }}\n"
        )
    };
    let program = |first: [&str; 2], second: [&str; 2]| {
        format!(
            "byte a, b, x;\n{}{}",
            body("P", "a", first[0], second[0]),
            body("Q", "b", first[1], second[1])
        )
    };
    let differs = |text: &str| symmetry(text).limit.unwrap_or_default();
    let alike = ["x = x + 1", "x = x + 1"];
    assert_eq!(symmetry(&program(alike, alike)).renamings.as_deref(), Some("2"));
    for other in [["x = x + 1", "x = x + 2"], ["x = x + 1", "x = x - 1"], ["x = x * 2 + 1", "x = x * 3 + 1"]]
    {
        let limit = differs(&program(other, alike));
        let expected =
            format!("P and Q differ first by {NAME}:5 ({}) and {NAME}:13 ({})", other[0], other[1]);
        assert_eq!(limit, expected);
        let limit = differs(&program(alike, other));
        let expected =
            format!("P and Q differ first by {NAME}:7 ({}) and {NAME}:15 ({})", other[0], other[1]);
        assert_eq!(limit, expected);
        // The first of two; without it, the other one.
        let limit = differs(&program(other, other));
        assert!(limit.contains(":5 (") && limit.contains(":13 ("), "{limit}");
        let limit = differs(&program(["skip", "skip"], other));
        assert!(limit.contains(":7 (") && limit.contains(":15 ("), "{limit}");
    }
    // Their own code is alike; a third process knows only one of them.
    let text = program(alike, alike) + "active proctype R() { do :: a == 2 -> x = 0 od }\n";
    assert_eq!(differs(&text), "P and Q do the same, but others treat them in different ways");
}

/// Where so short a search is not worth it, the report says that the reasons were not looked for to the end, and who does that.
#[test]
fn much_code_is_only_tried_when_asked() {
    let body: Vec<String> = (0..200).map(|i| format!("x[_pid] = {i};")).collect();
    let text =
        format!("byte x[3];\nactive [3] proctype P() {{ do ::\n{}\nx[0] > 3\nod }}\n", body.join("\n"));
    let ask = |explain_symmetry| {
        let model = Model::from_text(NAME, &text).expect("correct");
        let limits = quotient_search::Limits { states: Some(2_000), ..Default::default() };
        let check = Check { explain_symmetry, limits, ..Check::default() };
        model.check(&check).expect("checked").symmetry.limit.expect("one is named")
    };
    assert_eq!(
        ask(false),
        "processes are told apart; by what was not looked for to the end (--explain symmetry does)"
    );
    assert_eq!(ask(true), "told apart by reasons.pml:203 (x[0] > 3)");
}
