//! Nothing that a file contains makes the parser panic, hang or overflow the stack.
//!
//! `QUOTIENT_FUZZ_CASES` sets the number of random inputs of each kind.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use quotient_promela::{ParseOptions, parse_expression, parse_formula, parse_text};
use quotient_source::{SourceMap, render};

/// Parses, renders everything that is reported, and returns the number of errors.
fn errors(text: &str) -> usize {
    let mut map = SourceMap::new();
    let parsed = parse_text(&mut map, "fuzz.pml", text, &ParseOptions::default());
    for diagnostic in parsed.diagnostics.iter() {
        assert!(!diagnostic.message.is_empty());
        render(&map, diagnostic, false);
    }
    // Recursion over the tree must be fine too.
    drop(parsed.model.clone());
    parsed.diagnostics.error_count()
}

fn cases() -> u32 {
    quotient_testing::setting("QUOTIENT_FUZZ_CASES", 400) as u32
}

fn runner() -> TestRunner {
    TestRunner::new(Config {
        cases: cases(),
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    })
}

/// Runs the parser, and fails if it takes longer than a second.
fn parse_in_time(text: &str) {
    let start = Instant::now();
    errors(text);
    let mut map = SourceMap::new();
    let _ = parse_expression(&mut map, "e", text);
    let _ = parse_formula(&mut map, "f", text);
    assert!(start.elapsed() < Duration::from_secs(5), "took {:?} for {text:?}", start.elapsed());
}

/// Pieces from which models are made.
const PIECES: &[&str] = &[
    "byte",
    "int",
    "chan",
    "mtype",
    "unsigned",
    "bool",
    "x",
    "y",
    "P",
    "q",
    "T",
    "f",
    "L",
    "0",
    "1",
    "255",
    "'a'",
    "\"s\"",
    "proctype",
    "active",
    "init",
    "never",
    "trace",
    "ltl",
    "typedef",
    "inline",
    "if",
    "fi",
    "do",
    "od",
    "::",
    "->",
    ";",
    ",",
    ".",
    "..",
    ":",
    "=",
    "==",
    "!=",
    "<",
    ">",
    "<=",
    ">=",
    "<<",
    ">>",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "~",
    "&&",
    "||",
    "!",
    "!!",
    "?",
    "??",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "@",
    "++",
    "--",
    "else",
    "timeout",
    "break",
    "goto",
    "skip",
    "atomic",
    "d_step",
    "unless",
    "for",
    "select",
    "in",
    "of",
    "run",
    "len",
    "full",
    "nempty",
    "eval",
    "_",
    "_pid",
    "assert",
    "printf",
    "printm",
    "priority",
    "provided",
    "enabled",
    "xr",
    "xs",
    "hidden",
    "show",
    "local",
    "return",
    "c_code",
    "c_expr",
    "U",
    "X",
    "[]",
    "<>",
    "\n",
    "\n#define A x\n",
    "\n#define F(a,b) a b F\n",
    "\n#if A\n",
    "\n#else\n",
    "\n#endif\n",
    "A",
    "F(",
    "\n#undef A\n",
    "##",
    "#",
    "\\",
    "/*",
    "*/",
    "//",
    "STDIN",
    "np_",
    "active [2] proctype P() {",
    "if :: x = 1 :: else fi",
    "inline f(a) {",
    "f(x)",
];

/// Models that are correct, to be damaged.
const MODELS: &[&str] = &[
    include_str!("../models/channels.pml"),
    include_str!("../models/control.pml"),
    include_str!("../models/inlines.pml"),
    include_str!("../models/claims.pml"),
];

#[test]
fn arbitrary_characters() {
    runner()
        .run(&prop::collection::vec(any::<u8>(), 0..400), |bytes| {
            parse_in_time(&String::from_utf8_lossy(&bytes));
            Ok(())
        })
        .unwrap();
}

#[test]
fn arbitrary_tokens() {
    runner()
        .run(&prop::collection::vec(prop::sample::select(PIECES), 0..200), |pieces| {
            parse_in_time(&pieces.join(" "));
            Ok(())
        })
        .unwrap();
}

#[derive(Clone, Debug)]
enum Damage {
    Delete,
    Duplicate,
    Swap,
    Insert(&'static str),
}

/// Splits a model so that joining the parts gives it back.
fn split(model: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut word = false;
    for c in model.chars() {
        let letter = c.is_alphanumeric() || c == '_';
        match parts.last_mut() {
            Some(last) if letter && word => last.push(c),
            _ => parts.push(c.to_string()),
        }
        word = letter;
    }
    parts
}

#[test]
fn damaged_models() {
    let damage = prop_oneof![
        Just(Damage::Delete),
        Just(Damage::Duplicate),
        Just(Damage::Swap),
        prop::sample::select(PIECES).prop_map(Damage::Insert),
    ];
    let strategy = (0..MODELS.len(), prop::collection::vec((any::<prop::sample::Index>(), damage), 1..8));
    runner()
        .run(&strategy, |(model, changes)| {
            let mut parts = split(MODELS[model]);
            for (index, damage) in changes {
                if parts.len() < 2 {
                    break;
                }
                let at = index.index(parts.len() - 1);
                match damage {
                    Damage::Delete => _ = parts.remove(at),
                    Damage::Duplicate => parts.insert(at, parts[at].clone()),
                    Damage::Swap => parts.swap(at, at + 1),
                    Damage::Insert(piece) => parts.insert(at, format!(" {piece} ")),
                }
            }
            parse_in_time(&parts.concat());
            Ok(())
        })
        .unwrap();
}

#[test]
fn models_to_be_damaged_are_correct() {
    for model in MODELS {
        assert_eq!(errors(model), 0, "{model}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = 5_000;
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("{ ", "skip", " }"),
        ("if :: ", "skip", " fi"),
        ("do :: ", "skip", " od"),
        ("atomic { ", "skip", " }"),
        ("a[", "0", "]"),
        ("c?[eval(", "0", ")]"),
        ("(1 -> 2 : ", "3", ")"),
        ("run P(", "0", ")"),
        ("len(a[", "0", "])"),
        ("1 || 2 && 3 | 4 ^ 5 & 6 == 7 < 8 << 9 + 10 * (", "1", ")"),
        ("{ skip unless ", "skip", " }"),
        ("for (i : 1 .. 2) { ", "skip", " }"),
        ("L: ", "skip", ""),
        ("! ", "x", ""),
        ("~", "x", ""),
    ] {
        let text = format!("init {{ {}{middle}{} }}", open.repeat(deep), close.repeat(deep));
        let prefix = matches!(open, "L: ");
        assert!(prefix || errors(&text) > 0, "{open} is accepted");
    }
    for (open, middle, close) in [("(", "p", ")"), ("[] ", "p", ""), ("p U (", "p", ")"), ("! ", "p", "")] {
        let mut map = SourceMap::new();
        let text = format!("{}{middle}{}", open.repeat(deep), close.repeat(deep));
        assert!(parse_formula(&mut map, "f", &text).is_err());
    }
}

#[test]
fn nesting_below_the_bound_is_fine() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("{ ", "skip", " }"),
        ("if :: ", "skip", " fi"),
        ("1 || 2 && 3 | 4 ^ 5 & 6 == 7 < 8 << 9 + 10 * (", "1", ")"),
        ("a[", "0", "]"),
    ] {
        let text = format!("init {{ {}{middle}{} }}", open.repeat(90), close.repeat(90));
        assert_eq!(errors(&text), 0, "{open}");
    }
}

#[test]
fn long_chains() {
    for op in ["+", "*", "&&", "||", "&", "|", "^"] {
        let terms = vec!["x == 1"; 10_000].join(&format!(") {op} ("));
        assert_eq!(errors(&format!("byte x; init {{ ({terms}) }}")), 0, "{op}");
        assert_eq!(errors(&format!("byte x; init {{ x = {} }}", vec!["x"; 10_000].join(op))), 0, "{op}");
    }
    assert_eq!(errors(&format!("byte x; init {{ x = {} }}", vec!["x"; 900].join("-"))), 0);
    assert_eq!(errors(&format!("byte x; init {{ x = {} }}", vec!["x"; 10_000].join("-"))), 1);
    assert_eq!(errors(&format!("byte x; init {{ {} }}", "x = 1; ".repeat(20_000))), 0);
}

#[test]
fn exponential_macros_are_refused() {
    let mut text = String::from("#define M0 1\n");
    for i in 1..40 {
        text.push_str(&format!("#define M{i} M{} + M{}\n", i - 1, i - 1));
    }
    text.push_str("init { x = M39 }\n");
    assert_eq!(errors(&text), 1);
    let mut text = String::from("#define F0(a) a a\n");
    for i in 1..40 {
        text.push_str(&format!("#define F{i}(a) F{}(a a)\n", i - 1));
    }
    text.push_str("init { F39(x) }\n");
    assert_eq!(errors(&text), 1);
    let nested = format!("#define F(a) a\ninit {{ {}1{} }}", "F(".repeat(10_000), ")".repeat(10_000));
    assert!(errors(&nested) >= 1);
    assert_eq!(errors("#define A B\n#define B A\nbyte A; init { A = 1 }"), 0);
    assert!(errors("#define f(x) x f\ninit { f(1)(2)(3) }") > 0);
}

#[test]
fn exponential_inlines_are_refused() {
    let mut text = String::from("byte x;\ninline f0() { x = 1 }\n");
    for i in 1..40 {
        text.push_str(&format!("inline f{i}() {{ f{}(); f{}() }}\n", i - 1, i - 1));
    }
    text.push_str("init { f39() }\n");
    assert_eq!(errors(&text), 1);
}

#[test]
fn many_errors_end() {
    assert!(errors(&"}".repeat(100_000)) <= 60);
    assert!(errors(&"init { fi od :: ) ] , } ".repeat(5_000)) <= 60);
    assert!(errors(&"\"".repeat(10_000)) <= 60);
    for line in ["#if\n", "#frob\n", "#endif\n", "#define F(\n", "#error x\n", "#include \"no\"\n"] {
        assert!((1..=60).contains(&errors(&line.repeat(50_000))), "{line}");
    }
    assert!(errors(&format!("#define F(a) a\n{}", "F()(F(1,2) ".repeat(50_000))) <= 60);
    errors(&"#warning x\n".repeat(50_000));
    errors(&"#define A 1\n#define A 2\n".repeat(20_000));
    errors(&"int x = 4294967295;\n".repeat(20_000));
    errors(&"byte x = $;\n".repeat(20_000));
    errors(&"inline f() { ".repeat(50_000));
    errors(&"inline f(a, ".repeat(50_000));
    errors(&format!("init {{ {}", "c!(1 ".repeat(50_000)));
}
