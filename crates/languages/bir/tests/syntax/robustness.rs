//! Nothing that is fed to the front end may panic, hang or overflow the stack: texts of BIR words in random order,
//! mutated models, extreme nesting.

use proptest::prelude::*;
use quotient_bir::{LowerOptions, lower, parse_text};
use quotient_source::{SourceMap, render};

/// Reads and checks a text. Diagnostics must be renderable. Gives the number of errors.
fn survive(text: &str) -> usize {
    let mut map = SourceMap::new();
    let parsed = parse_text(&mut map, "fuzz.bir", text);
    let mut diagnostics = parsed.diagnostics;
    if let Some(system) = parsed.system {
        // Also where there are errors: the translation must bear any tree.
        diagnostics.extend(lower(&system, &map, &LowerOptions::default()).diagnostics);
    }
    for diagnostic in diagnostics.iter().take(20) {
        assert!(!render(&map, diagnostic, false).is_empty());
    }
    diagnostics.error_count()
}

const WORDS: &[&str] = &[
    "system",
    "S",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ":",
    ",",
    ".",
    ":=",
    "=",
    "==",
    "->",
    "=>",
    "&&",
    "+",
    "-",
    "*",
    "!",
    "?",
    "record",
    "R",
    "extends",
    "throwable",
    "top",
    "enum",
    "E",
    "a",
    "b",
    "const",
    "C",
    "N",
    "3",
    "int",
    "wrap",
    "boolean",
    "tid",
    "lock",
    "string",
    "\"s\"",
    "active",
    "main",
    "thread",
    "T",
    "function",
    "f",
    "returns",
    "return",
    "goto",
    "loc",
    "l",
    "live",
    "when",
    "do",
    "visible",
    "invoke",
    "virtual",
    "v",
    "on",
    "catch",
    "at",
    "atomic",
    "end",
    "while",
    "if",
    "elseif",
    "else",
    "choose",
    "try",
    "skip",
    "fun",
    "g",
    "let",
    "in",
    "new",
    "x",
    "y",
    "null",
    "true",
    "instanceof",
    "kindof",
    "assert",
    "assume",
    "throw",
    "exit",
    "start",
    "unlock",
    "wait",
    "unwait",
    "notify",
    "notifyAll",
    "lockAvailable",
    "hasLock",
    "wasNotified",
    "threadTerminated",
    "extension",
    "Set",
    "for",
    "typedef",
    "expdef",
    "actiondef",
    "`a",
    "...",
    "typealias",
    "A",
    "transient",
    "{|q|}",
    "1.5",
    "7L",
];

const MODELS: &[&str] = &[
    include_str!("../../../../../models/dining_philosophers.bir"),
    include_str!("../../../../../tests/bir/features/everything.bir"),
    include_str!("../../../../../tests/bir/errors/virtual_functions.bir"),
    include_str!("../../../../../tests/bir/errors/extension_types.bir"),
];

/// Random inputs of each kind.
fn cases() -> u32 {
    quotient_testing::setting("QUOTIENT_FUZZ_CASES", 600) as u32
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn word_soup(words in prop::collection::vec(prop::sample::select(WORDS), 0..120)) {
        survive(&format!("system S {{ {} }}", words.join(" ")));
        survive(&words.join(" "));
        survive(&format!("system S {{ record R {{ R x; }} active thread T() {{ R x; int y; {} }} }}", words.join(" ")));
    }

    #[test]
    fn arbitrary_text(text in "\\PC{0,200}") {
        survive(&text);
        survive(&format!("system S {{ active thread T() {{ {text} }} }}"));
    }

    #[test]
    fn mutated_models(
        model in prop::sample::select(MODELS),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4usize, prop::sample::select(WORDS)), 1..6),
    ) {
        let mut words: Vec<&str> = model.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        for (index, edit, word) in &edits {
            if words.is_empty() {
                break;
            }
            let at = index.index(words.len());
            match edit {
                0 => { words.remove(at); }
                1 => words.insert(at, word),
                2 => words[at] = word,
                _ => {
                    let other = words[(at * 7 + 3) % words.len()];
                    words[at] = other;
                }
            }
        }
        survive(&words.join(" "));
        survive(&words.concat());
    }
}

#[test]
fn models_are_correct() {
    for model in &MODELS[..2] {
        assert_eq!(survive(model), 0);
    }
}

#[test]
fn extreme_nesting() {
    let deep = |open: &str, close: &str, n: usize| format!("{}true{}", open.repeat(n), close.repeat(n));
    for n in [100, 5_000, 50_000] {
        for text in [
            deep("(", ")", n),
            deep("!", "", n),
            deep("<", ">", n),
            deep("true && ", "", n),
            deep("true => ", "", n),
            deep("b ? true : ", "", n),
            deep("(boolean) ", "", n),
            deep("let x = 1 in ", "", n),
            format!("a{} == 1", "[0]".repeat(n)),
            format!("a{} == 1", ".next".repeat(n)),
            format!("f({}", "f(".repeat(n)),
        ] {
            survive(&format!("system S {{ boolean b; active thread T() {{ assert {text}; }} }}"));
        }
        let statements = ["while true do ", "if true do ", "atomic ", "try ", "choose do "];
        for word in statements {
            survive(&format!(
                "system S {{ active thread T() {{ {} skip; {} }} }}",
                word.repeat(n),
                "end ".repeat(n)
            ));
        }
        survive(&format!("system S {{ int{} x; active thread T() {{ skip; }} }}", "[]".repeat(n)));
        survive(&format!("system S {{ {}", "record R {".repeat(n)));
        survive(&format!("{}{}", "system S {".repeat(n), "}".repeat(n)));
    }
}

/// Funs that call each other many times: the expansion is bounded in size and time.
#[test]
fn exploding_funs() {
    let mut text = String::from("system S { fun f0(int x) returns int = x + x;\n");
    for i in 1..60 {
        text += &format!("fun f{i}(int x) returns int = f{}(f{}(x)) + f{}(x);\n", i - 1, i - 1, i - 1);
    }
    text += "active thread T() { int x; x := f59(x); x := f59(3); } }";
    assert!(survive(&text) > 0);
    let fib = "system S { fun fib(int n) returns int = n < 2 ? n : fib(n - 1) + fib(n - 2);
        active thread T() { int x; x := fib(N); assert x == M; } }";
    assert_eq!(survive(&fib.replace('N', "15").replace('M', "610")), 0);
    assert!(survive(&fib.replace('N', "40").replace('M', "1")) > 0);
}
