//! Expansion of `inline` calls.

use crate::show::body;
use quotient_promela::ast::{StatementKind, Unit};
use quotient_promela::parse_text;
use quotient_source::SourceMap;

#[test]
fn parameters_are_replaced_by_tokens() {
    assert_eq!(
        body("inline f(a, b) { a = b * 2 }\ninit { f(x[1], y + 1); z }"),
        "{ x[1] = (Add y (Mul 1 2)) }; z"
    );
    assert_eq!(body("inline f() { x = 1\ny = 2 }\ninit { f()\nf() }"), "{ x = 1; y = 2 }; { x = 1; y = 2 }");
    assert_eq!(
        body("inline f(c, m) { c!m(1); c?m, _ }\ninit { f(q[2], ack) }"),
        "{ q[2]!ack, 1; q[2]?ack, _ }"
    );
    assert_eq!(
        body("inline f(P) { run P(1) }\nproctype A(byte n) { skip }\ninit { f(A) }"),
        "{ (run A(1)) }"
    );
}

#[test]
fn nested_calls() {
    let text = "inline g(y) { z = y }\ninline f(x, y) { g(x); g(y + x) }\ninit { f(y, 3) }";
    assert_eq!(body(text), "{ { z = y }; { z = (Add 3 y) } }");
}

#[test]
fn a_formal_and_an_actual_parameter_may_have_one_name() {
    assert_eq!(body("inline f(x, y) { x = y }\ninit { f(y, x) }"), "{ y = x }");
}

#[test]
fn values() {
    let text = "inline f(a) { byte t; t = a; if :: t > 1 -> return t + 1 :: else -> return 0 fi }\ninit { x[1] = f(3) }";
    assert_eq!(body(text), "{ byte t; t = 3; if :: (Gt t 1); x[1] = (Add t 1) :: else; x[1] = 0 fi }");
    let nested = "inline g(b) { return b }\ninline f(a) { byte t; t = g(a); return t }\ninit { x = f(1); y }";
    assert_eq!(body(nested), "{ byte t; { t = 1 }; x = t }; y");
}

#[test]
fn labels_are_distinct_in_each_expansion() {
    let text = "inline f() { skip; L: x; goto L; goto out }\ninit { f(); f(); out: y }";
    assert_eq!(body(text), "{ 1; L#1: x; goto L#1; goto out }; { 1; L#2: x; goto L#2; goto out }; out: y");
}

#[test]
fn a_label_that_is_alone_keeps_its_name() {
    let text = "inline f() { skip; progress: x }\ninit { goto progress; f() }";
    assert_eq!(body(text), "goto progress; { 1; progress: x }");
    let nested = "inline g() { goto M; L: x }\ninline f() { M: g() }\ninit { f(); f() }";
    assert_eq!(body(nested), "{ M#2: { goto M#2; L#1: x } }; { M#4: { goto M#4; L#3: x } }");
    assert_eq!(body("inline f(l) { l: x }\ninit { f(A); f(B); goto B }"), "{ A: x }; { B: x }; goto B");
}

#[test]
fn calls_before_the_definition_and_in_options() {
    let text = "init { if :: f(1) -> y :: else -> f(2) fi }\ninline f(a) { x = a }";
    assert_eq!(body(text), "if :: { x = 1 }; y :: else; { x = 2 } fi");
    assert_eq!(
        body("inline f(a) { x = a }\ninit { L: f(1) unless f(2) }"),
        "(L: { x = 1 } unless { x = 2 })"
    );
    assert_eq!(body("inline f(a) { x = a }\ninit { atomic { f(1) } y }"), "atomic { { x = 1 } }; y");
}

#[test]
fn places_lie_in_the_body() {
    let mut map = SourceMap::new();
    let text = "inline f(a) {\n\tx = a\n}\ninit {\n\tf(7)\n}\n";
    let parsed = parse_text(&mut map, "m.pml", text, &Default::default());
    let Unit::Init(init) = &parsed.model.units[0] else { panic!() };
    let call = &init.body.statements[0];
    assert_eq!(map.file_line(call.span), "m.pml:5");
    let StatementKind::Block(block) = &call.kind else { panic!() };
    assert_eq!(map.file_line(block.statements[0].span), "m.pml:2");
}
