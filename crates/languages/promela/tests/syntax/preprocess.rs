//! The preprocessor, seen through the parser.

use std::fs;
use std::path::PathBuf;

use crate::show::{body, last_body, model_with};
use quotient_promela::{ParseOptions, parse_file, parse_formula_with, parse_text};
use quotient_source::{SourceMap, render};

fn define(pairs: &[(&str, &str)]) -> ParseOptions {
    let defines = pairs.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    ParseOptions { defines, ..ParseOptions::default() }
}

#[test]
fn object_and_function_macros() {
    assert_eq!(body("#define N 3\ninit { x = N + N }"), "x = (Add 3 3)");
    assert_eq!(
        body("#define F(a,b) (a) * (b)\ninit { x = F(1 + 2, y[F(1,2)]) }"),
        "x = (Mul (Add 1 2) y[(Mul 1 2)])"
    );
    assert_eq!(body("#define F(a) a\n#define G F\ninit { x = G(1) + F }"), "x = (Add 1 F)");
    assert_eq!(body("#define F() 7\ninit { x = F() }"), "x = 7");
    assert_eq!(body("#define F (1)\ninit { x = F }"), "x = 1");
    assert_eq!(body("#define TWO x = 1; \\\n\ty = 2\ninit { TWO }"), "x = 1; y = 2");
    assert_eq!(body("#define TWO x = 1;\\ \t\n\ty = 2\ninit { TWO }"), "x = 1; y = 2");
    assert_eq!(body("#define NOTHING\ninit { x = 1\nNOTHING y = 2 }"), "x = 1; y = 2");
    assert_eq!(body("#define F(x) x\ninit { y = F\n(1) }"), "y = 1");
    assert_eq!(body("#define V(a, ...) c!a, __VA_ARGS__\ninit { V(1, 2, 3) }"), "c!1, 2, 3");
}

#[test]
fn recursion_stops() {
    assert_eq!(body("#define x x + 1\ninit { y = x }"), "y = (Add x 1)");
    assert_eq!(body("#define a b\n#define b a\ninit { y = a + b }"), "y = (Add a b)");
    // The examples of the C standard on rescanning, in Promela's tokens.
    assert_eq!(body("#define f(a) a + f\ninit { y = f(2)[9] }"), "y = (Add 2 f[9])");
    assert_eq!(body("#define z z[0]\n#define f(a) f[a]\ninit { y = f(f(z)) }"), "y = f[f[z[0]]]");
}

#[test]
fn paste_and_stringify() {
    assert_eq!(
        body("#define C(a,b) a##b\ninit { x = C(y, 1) + C(1, 2) + C(, z) }"),
        "x = (Add (Add y1 12) z)"
    );
    assert_eq!(
        body("#define S(a) printf(#a)\ninit { S(x  == 'a' + \"q\") }"),
        "printf(\"x == 'a' + \\\"q\\\"\" )"
    );
    assert_eq!(body("#define N 3\n#define C(a) a ## N\ninit { x = C(y) }"), "x = yN");
}

#[test]
fn conditions() {
    let text = "#if N > 2 && defined(M) || !defined K\ninit { yes }\n#elif N == 1\ninit { one }\n#else\ninit { no }\n#endif";
    assert_eq!(last_body(&model_with(text, &define(&[("N", "3"), ("M", "")]))), "yes");
    assert_eq!(last_body(&model_with(text, &define(&[("N", "1"), ("K", "1")]))), "one");
    assert_eq!(last_body(&model_with(text, &define(&[("N", "2"), ("K", "1")]))), "no");
    let nested =
        "#ifdef A\n#if 0\n'broken \"\n#endif\ninit { a }\n#else\n#ifndef B\ninit { b }\n#endif\n#endif";
    assert_eq!(last_body(&model_with(nested, &define(&[("A", "1")]))), "a");
    assert_eq!(body(nested), "b");
    for (condition, holds) in [
        ("1 ? 0 : 1", false),
        ("(1 << 3) == 8 && 7 / 2 == 3 && 7 % 2", true),
        ("~0 == -1", true),
        ("'a' == 97", true),
        ("UNKNOWN", false),
        ("1 + 2 * 3 == 7", true),
        ("2 - 1 - 1", false),
    ] {
        let text = format!("#if {condition}\ninit {{ yes }}\n#else\ninit {{ no }}\n#endif");
        assert_eq!(body(&text), if holds { "yes" } else { "no" }, "{condition}");
    }
}

#[test]
fn outside_definitions_are_stronger() {
    let text = "#define N 3\n#ifndef N\n#error no N\n#endif\ninit { x = N }";
    assert_eq!(body(text), "x = 3");
    assert_eq!(last_body(&model_with(text, &define(&[("N", "5")]))), "x = 5");
    assert_eq!(last_body(&model_with(text, &define(&[("N", "5"), ("N", "6")]))), "x = 6");
    let undefined = "#undef N\n#define N 3\ninit { x = N }";
    assert_eq!(last_body(&model_with(undefined, &define(&[("N", "5")]))), "x = 5");
    assert!(crate::show::parse("init { skip }", &define(&[("2x", "1")])).1.contains("not a name"));
}

#[test]
fn ignored_directives_and_comments() {
    assert_eq!(
        body("# 1 \"a.pml\"\n#line 3\n#pragma once\n#ident \"x\"\n#\ninit { x /* ; */ = 1 // y\n}"),
        "x = 1"
    );
    assert_eq!(body("// a \\\n still a comment\ninit { x }"), "x");
}

fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("quotient-promela-{name}-{}", std::process::id()));
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn includes() {
    let folder = folder(
        "includes",
        &[
            ("main.pml", "#include \"sub/a.h\"\n#include <lib.h>\ninit { x = A + B + L }\n"),
            (
                "sub/a.h",
                "#ifndef GUARD\n#define GUARD\n#include \"b.h\"\n#define A 1\n#include \"a.h\"\n#endif\n",
            ),
            ("sub/b.h", "#define B 2\n"),
            ("lib/lib.h", "#define L 3\n"),
            ("loop.pml", "#include \"loop.pml\"\n#include \"loop.pml\"\ninit { skip }\n"),
        ],
    );
    let options = ParseOptions { include_dirs: vec![folder.join("lib")], ..ParseOptions::default() };
    let mut map = SourceMap::new();
    let parsed = parse_file(&mut map, &folder.join("main.pml"), &options).unwrap();
    assert!(!parsed.diagnostics.has_errors());
    assert_eq!(last_body(&parsed.model), "x = (Add (Add 1 2) 3)");
    let parsed = parse_file(&mut map, &folder.join("loop.pml"), &options).unwrap();
    assert_eq!(parsed.diagnostics.error_count(), 1);
    assert!(parsed.diagnostics.iter().next().unwrap().message.contains("includes itself without end"));
    assert!(parse_file(&mut map, &folder.join("missing.pml"), &options).is_err());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn tokens_of_a_macro_stand_at_its_outermost_use() {
    let text = "#define INNER x +\n#define OUTER y = INNER\ninit {\n\tOUTER;\n\tskip\n}\n";
    let mut map = SourceMap::new();
    let parsed = parse_text(&mut map, "m.pml", text, &ParseOptions::default());
    let diagnostic = parsed.diagnostics.iter().next().unwrap();
    assert_eq!(map.file_line(diagnostic.span.unwrap()), "m.pml:4");
    assert_eq!(map.file_line(diagnostic.related[0].0), "m.pml:1");
    assert!(render(&map, diagnostic, false).contains("macro"));
}

#[test]
fn macros_serve_formulas_given_apart() {
    let mut map = SourceMap::new();
    let parsed = parse_text(&mut map, "m.pml", "#define p (x > 1)\ninit { skip }", &ParseOptions::default());
    let formula = parse_formula_with(&mut map, "--ltl", "[] p", &parsed.macros).unwrap();
    assert_eq!(crate::show::formula(&formula), "([] (Gt x 1))");
}
