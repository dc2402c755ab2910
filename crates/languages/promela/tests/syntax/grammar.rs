//! The grammar, construct by construct.

use crate::show::{body, declaration, model, statements};
use quotient_promela::ast::{Initialiser, Unit};
use quotient_promela::parse_expression;
use quotient_source::SourceMap;

fn expression(text: &str) -> String {
    let mut map = SourceMap::new();
    crate::show::expr(&parse_expression(&mut map, "e", text).unwrap_or_else(|d| panic!("{text}: {d:?}")))
}

#[test]
fn precedence() {
    for (text, tree) in [
        ("a + b * c", "(Add a (Mul b c))"),
        ("a - b - c", "(Sub (Sub a b) c)"),
        ("a * b / c % d", "(Mod (Div (Mul a b) c) d)"),
        ("a << b + c", "(Shl a (Add b c))"),
        ("a < b << c", "(Lt a (Shl b c))"),
        ("a == b < c", "(Eq a (Lt b c))"),
        ("a & b == c", "(BitAnd a (Eq b c))"),
        ("a ^ b & c", "(BitXor a (BitAnd b c))"),
        ("a | b ^ c", "(BitOr a (BitXor b c))"),
        ("a && b | c", "(And a (BitOr b c))"),
        ("a || b && c || d", "(Or (Or a (And b c)) d)"),
        ("a != b == c", "(Eq (Ne a b) c)"),
        ("a <= b >= c > d", "(Gt (Ge (Le a b) c) d)"),
        ("!a && b", "(And (Not a) b)"),
        ("!a == b", "(Eq (Not a) b)"),
        ("-a + ~b", "(Add (Negate a) (Complement b))"),
        ("- - a", "(Negate (Negate a))"),
        ("a >> 1 >> 2", "(Shr (Shr a 1) 2)"),
        ("(a || b) && c", "(And (Or a b) c)"),
        ("(a -> b : c) + 1", "(Add (Cond a b c) 1)"),
        ("(a -> b : (c -> d : e))", "(Cond a b (Cond c d e))"),
        ("(a > 1 && b -> x : y)", "(Cond (And (Gt a 1) b) x y)"),
    ] {
        assert_eq!(expression(text), tree, "{text}");
    }
}

#[test]
fn operands() {
    for (text, tree) in [
        ("010", "10"),
        ("true", "1"),
        ("false", "0"),
        ("skip", "1"),
        ("'a'", "97"),
        ("'\\n'", "10"),
        ("'\\0'", "48"),
        ("'''", "39"),
        ("2147483648", "-2147483648"),
        ("a.b[i + 1].c", "a.b[(Add i 1)].c"),
        ("a[b[c]]", "a[b[c]]"),
        (
            "_pid + _last + _nr_pr + np_ + _priority",
            "(Add (Add (Add (Add _pid _last) _nr_pr) np_) _priority)",
        ),
        ("timeout", "timeout"),
        ("len(c[1]) + full(d)", "(Add len(c[1]) full(d))"),
        ("empty(a) || nfull(b.c) && nempty(d)", "(Or empty(a) (And nfull(b.c) nempty(d)))"),
        ("c?[x, 1, _, eval(y + 1), -3]", "c?[x, =1, _, eval((Add y 1)), =(Negate 3)]"),
        ("c.d[1]??[m(a, b)] && x", "(And c.d[1]??[m, a, b] x)"),
        ("run P(1, x + 2) priority 3", "(run P(1, (Add x 2)) priority 3)"),
        (
            "enabled(p) + pc_value(1) + get_priority(_pid)",
            "(Add (Add enabled(p) pc_value(1)) get_priority(_pid))",
        ),
        ("P@L && P[i]@M", "(And P[]@L P[i]@M)"),
        ("P:x == P[1]:y[2]", "(Eq P[]:x P[1]:y[2])"),
        ("(a -> b : c)", "(Cond a b c)"),
        ("(a -> b[1] : c)", "(Cond a b[1] c)"),
        ("in + X + U", "(Add (Add in X) U)"),
    ] {
        assert_eq!(expression(text), tree, "{text}");
    }
}

#[test]
fn simple_statements() {
    for (text, tree) in [
        ("x = y + 1", "x = (Add y 1)"),
        ("a[1].b = run P()", "a[1].b = (run P())"),
        ("x++; y[2]--", "x++; y[2]--"),
        ("x > 1", "(Gt x 1)"),
        ("x - 1 > 2 -> skip", "(Gt (Sub x 1) 2); 1"),
        ("(x)", "x"),
        ("c!1,2", "c!1, 2"),
        ("c!m(a, b)", "c!m, a, b"),
        ("c!!1", "c!!1"),
        ("c[i]!(1 + 2) * 3", "c[i]!(Mul (Add 1 2) 3)"),
        ("c?x,y", "c?x, y"),
        ("c?m(x,_)", "c?m, x, _"),
        ("c?(x,y)", "c?x, y"),
        ("c??x(1)", "c??x, =1"),
        ("c?<x,eval(y)>", "c?<x, eval(y)>"),
        ("c??<x> -> y", "c??<x>; y"),
        ("c?[x] -> c?x", "c?[x]; c?x"),
        ("assert(x == 1); assert x == 1 && y", "assert((Eq x 1)); assert((And (Eq x 1) y))"),
        ("printf(\"a\\n\"); printf(\"%d %e\", x, y)", "printf(\"a\\n\" ); printf(\"%d %e\" x, y)"),
        ("printm(x)", "printm(x)"),
        ("goto L; break; else", "goto L; break; else"),
        ("else skip", "else; 1"),
        ("set_priority(_pid, 3)", "set_priority(_pid, 3)"),
        ("xr c; xs c, d[1]", "xr c; xs c, d[1]"),
        ("timeout; np_", "timeout; np_"),
        ("P[0]@L && x; P:x == 1", "(And P[0]@L x); (Eq P[]:x 1)"),
    ] {
        assert_eq!(statements(text), tree, "{text}");
    }
}

#[test]
fn compound_statements() {
    for (text, tree) in [
        ("if :: x -> y :: else fi", "if :: x; y :: else fi"),
        ("do :: x = 1; :: break; od", "do :: x = 1 :: break od"),
        ("atomic { x = 1; y = 2; }", "atomic { x = 1; y = 2 }"),
        ("d_step { x = 1 } ; { y }", "d_step { x = 1 }; { y }"),
        ("for (i : 1 .. n + 1) { x++ }", "for (i : 1 .. (Add n 1)) { x++ }"),
        ("for (i in a.b) { x++ }", "for (i in a.b) { x++ }"),
        ("select (i : 1 .. 3); x", "select (i : 1 .. 3); x"),
        ("{ x = 1 } unless { y }", "({ x = 1 } unless { y })"),
        ("x = 1 unless y; z", "(x = 1 unless y); z"),
        ("L: M: x = 1; N: ; O: }", "L: M: x = 1; N: 1; O: 1"),
        ("L: x unless M: y", "(L: x unless M: y)"),
        ("if :: a -> if :: b fi fi", "if :: a; if :: b fi fi"),
        ("do :: L: x od", "do :: L: x od"),
    ] {
        let text = text.strip_suffix(" }").filter(|_| text.ends_with("O: }")).unwrap_or(text);
        assert_eq!(statements(text), tree, "{text}");
    }
}

#[test]
fn separators() {
    // Line breaks, `}` and `else` replace semicolons, as in SPIN; parentheses hide line breaks.
    for (text, tree) in [
        ("x = 1\ny = 2", "x = 1; y = 2"),
        ("x = 1;;; y = 2 -> ; z\n;\n", "x = 1; y = 2; z"),
        ("{ x } y", "{ x }; y"),
        ("if :: x fi\ny", "if :: x fi; y"),
        ("x++\ny--\nz", "x++; y--; z"),
        ("c!x\n(y > 0) -> z", "c!x; (Gt y 0); z"),
        ("c?x\n(y)", "c?x; y"),
        ("x = y\n-1", "x = y; (Negate 1)"),
        ("x = (y\n-1)", "x = (Sub y 1)"),
        ("x = y -\n1", "x = (Sub y 1)"),
        ("x > 1\n-> y", "(Gt x 1); y"),
        ("x > 1 --> y", "(Gt x 1); y"),
        ("if :: x = 0fi", "if :: x = 0 fi"),
        ("{ x }\nunless { y }", "({ x } unless { y })"),
        ("skip\ntimeout\nbreak\ngoto L\nx", "1; timeout; break; goto L; x"),
        ("a[1]\n(x)", "a[1]; x"),
        ("x /* one\ntwo */ (y)", "x; y"),
        ("for (i : 1 .. 2)\n{ x }\ny", "for (i : 1 .. 2) { x }; y"),
        ("byte a\nbyte b = 2\nT\nt", "byte a; byte b = 2; T t"),
        ("L:\nx", "L: x"),
        ("atomic\n{ x\n}\ny", "atomic { x }; y"),
        ("do\n:: x\n:: else\n\ty\nod\nz", "do :: x :: else; y od; z"),
        ("printf(\"a\")\nx", "printf(\"a\" ); x"),
    ] {
        assert_eq!(statements(text), tree, "{text}");
    }
}

#[test]
fn declarations() {
    for (text, tree) in [
        ("bit a; bool b; byte c; pid d; short e; int f", "bit a; bool b; byte c; pid d; short e; int f"),
        ("unsigned u : 5, v : 3 = 1", "unsigned u:5, v:3 = 1"),
        ("int a[3] = { 1, 2, 3 }, b = a[0]", "int a[3] = {1, 2, 3}, b = a[0]"),
        ("hidden byte x; show byte y; local byte z", "hidden byte x; show byte y; local byte z"),
        ("chan c = [2] of { byte, mtype, chan, T }", "chan c = [2] of {byte, mtype, chan, T}"),
        ("chan c[3] = [0] of { mtype:m }, d", "chan c[3] = [0] of {mtype:m}, d"),
        ("mtype m = x; mtype:set n", "mtype m = x; mtype:set n"),
        ("T t, u[2]", "T t, u[2]"),
        ("x = 1; byte y = x + 1; y++", "x = 1; byte y = (Add x 1); y++"),
    ] {
        assert_eq!(statements(text), tree, "{text}");
    }
}

#[test]
fn units() {
    let model = model(
        "mtype = { a, b c }; mtype { d }\nmtype:s = { e }\nmtype x = a; byte y byte z\n\
         typedef T { byte f; int g[2]\n chan h }\n\
         active [2] proctype P(byte p, q; T t) priority 3 provided (x == a) { skip }\n\
         D_proctype D() { skip };\n\
         active proctype A() { skip }\n\
         init priority 2 { skip }\n\
         never n { skip } trace { x!1 } notrace { x?1 }\n\
         ltl f { [] p }; ltl { <> q }",
    );
    let mut kinds = Vec::new();
    for unit in &model.units {
        kinds.push(match unit {
            Unit::Mtype(m) => {
                let names: Vec<&str> = m.names.iter().map(|n| n.name.as_str()).collect();
                format!(
                    "mtype{} {}",
                    m.set.as_ref().map_or(String::new(), |s| format!(":{}", s.name)),
                    names.join(" ")
                )
            }
            Unit::Declaration(d) => declaration(d),
            Unit::Function(f) => format!("function {}", f.name.name),
            Unit::Typedef(t) => {
                format!("{} {}", t.name.name, t.fields.iter().map(declaration).collect::<Vec<_>>().join(" "))
            }
            Unit::Proctype(p) => {
                let active = match &p.active {
                    None => "passive".to_string(),
                    Some(a) => a.count.as_ref().map_or("1".to_string(), crate::show::expr),
                };
                let params: Vec<String> = p.params.iter().map(declaration).collect();
                let priority = p.priority.as_ref().map(crate::show::expr);
                let provided = p.provided.as_ref().map(crate::show::expr);
                format!(
                    "{active} {} {} {:?} {priority:?} {provided:?}",
                    p.deterministic,
                    p.name.name,
                    params.join("; ")
                )
            }
            Unit::Init(i) => format!("init {:?}", i.priority.as_ref().map(crate::show::expr)),
            Unit::Never(n) => format!("never {:?}", n.name.as_ref().map(|n| &n.name)),
            Unit::Trace(t) => format!("trace {}", t.negated),
            Unit::Ltl(l) => {
                format!("ltl {:?} {}", l.name.as_ref().map(|n| &n.name), crate::show::formula(&l.formula))
            }
        });
    }
    let expected = [
        "mtype a b c",
        "mtype d",
        "mtype:s e",
        "mtype x = a",
        "byte y",
        "byte z",
        "T byte f int g[2] chan h",
        "2 false P \"byte p, q; T t\" Some(\"3\") Some(\"(Eq x a)\")",
        "passive true D \"\" None None",
        "1 false A \"\" None None",
        "init Some(\"2\")",
        "never Some(\"n\")",
        "trace false",
        "trace true",
        "ltl Some(\"f\") ([] p)",
        "ltl None (<> q)",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn spans_point_at_the_source() {
    let text = "byte x = 1 + 2;\nactive proctype P() {\nL:\tif\n\t:: x > 1 -> x = 3\n\tfi\n}\n";
    let mut map = SourceMap::new();
    let parsed = quotient_promela::parse_text(&mut map, "m.pml", text, &Default::default());
    let Unit::Declaration(d) = &parsed.model.units[0] else { panic!() };
    assert_eq!(map.slice(d.span), "byte x = 1 + 2");
    let Some(Initialiser::Expr(e)) = &d.variables[0].init else { panic!() };
    assert_eq!(map.slice(e.span), "1 + 2");
    let Unit::Proctype(p) = &parsed.model.units[1] else { panic!() };
    assert_eq!(map.slice(p.span), "proctype P()");
    assert_eq!(map.file_line(p.end), "m.pml:6");
    let statement = &p.body.statements[0];
    assert_eq!(map.slice(statement.span), "if");
    assert_eq!(map.slice(statement.labels[0].span), "L");
    let quotient_promela::ast::StatementKind::If(choices) = &statement.kind else { panic!() };
    assert_eq!(map.slice(choices[0].span), "::");
    let spans: Vec<&str> = choices[0].sequence.statements.iter().map(|s| map.slice(s.span)).collect();
    assert_eq!(spans, ["x > 1", "x = 3"]);
}

#[test]
fn best_effort_after_errors() {
    let (parsed, messages) = crate::show::parse(
        "byte x;\nproctype P() { x = ; x = 2; if :: x + -> x = 3 fi; x = 4 }\nbyte y = ;\ninit { skip }",
        &Default::default(),
    );
    assert_eq!(parsed.diagnostics.error_count(), 3, "{messages}");
    assert_eq!(parsed.model.units.len(), 3);
    let Unit::Proctype(p) = &parsed.model.units[1] else { panic!() };
    assert_eq!(crate::show::sequence(&p.body), "x = 2; if :: x = 3 fi; x = 4");
}

#[test]
fn long_chains_are_balanced() {
    let tree = expression(&vec!["x"; 40].join(" && "));
    assert!(tree.starts_with("(And (And (And (And (And (And x x)"), "{tree}");
    assert_eq!(expression("a + b + c + d"), "(Add (Add (Add a b) c) d)");
}

#[test]
fn bodies() {
    assert_eq!(
        body("never { do :: !p -> goto acc :: else od; acc: skip }"),
        "do :: (Not p); goto acc :: else od; acc: 1"
    );
}
