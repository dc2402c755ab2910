//! Formulas of linear temporal logic.

use quotient_promela::parse_formula;
use quotient_source::SourceMap;

fn formula(text: &str) -> String {
    let mut map = SourceMap::new();
    crate::show::formula(&parse_formula(&mut map, "f", text).unwrap_or_else(|d| panic!("{text}: {d:?}")))
}

#[test]
fn operators_and_precedence() {
    for (text, tree) in [
        ("[] p", "([] p)"),
        ("[]<>p", "([] (<> p))"),
        ("!<>[]!p", "(! (<> ([] (! p))))"),
        ("[] (p -> <> q)", "([] (p -> (<> q)))"),
        ("p U q && r", "((p U q) && r)"),
        ("p && q U r", "(p && (q U r))"),
        ("p U q U r", "((p U q) U r)"),
        ("p -> q -> r", "((p -> q) -> r)"),
        ("p || q -> r && s", "((p || q) -> (r && s))"),
        ("p <-> q || r", "(p <-> (q || r))"),
        ("X p U q", "((X p) U q)"),
        ("p W q V r", "((p W q) V r)"),
        ("!p & X(q U r)", "((! p) && (X (q U r)))"),
        ("s && (!r& X(!r U t)) U p", "(s && (((! r) && (X ((! r) U t))) U p))"),
        ("<> p | x == 2", "((<> p) || (Eq x 2))"),
        ("(p & q) U r", "((BitAnd p q) U r)"),
        ("x > 1 U y == 2 + 3", "((Gt x 1) U (Eq y (Add 2 3)))"),
        ("p /\\ q \\/ !r", "((p && q) || (! r))"),
        ("always p implies eventually q", "(([] p) -> (<> q))"),
        ("p until q", "(p U q)"),
        ("p stronguntil q", "(p U q)"),
        ("p weakuntil q", "(p W q)"),
        ("p release next q", "(p V (X q))"),
        ("p equivalent q and r or s", "(p <-> ((q && r) || s))"),
        ("(p && q) == 1", "(Eq (And p q) 1)"),
        ("-x < 1 && ~y", "((Lt (Negate x) 1) && (Complement y))"),
        ("P@L && P[1]@M && P[0]:x == 2", "((P[]@L && P[1]@M) && (Eq P[0]:x 2))"),
        ("len(c) > 0 && nempty(c) && c?[m]", "(((Gt len(c) 0) && nempty(c)) && c?[m])"),
        ("a[i].b < b", "(Lt a[i].b b)"),
        ("!!p", "(! (! p))"),
        ("true U false", "(1 U 0)"),
    ] {
        assert_eq!(formula(text), tree, "{text}");
    }
}

#[test]
fn refused() {
    for text in [
        "",
        "[]",
        "p U",
        "p q",
        "<> x == 1",
        "([] p) + 1",
        "(p",
        "p)",
        "x & X q",
        "x = 1",
        "!full(c)",
        "G p",
        "F (p)",
    ] {
        let mut map = SourceMap::new();
        assert!(parse_formula(&mut map, "f", text).is_err(), "{text}");
    }
}
