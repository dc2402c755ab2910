//! Constant indices outside of an array, in every place where an expression can stand: a fault wherever it is evaluated, however the
//! model is searched, as SPIN says.

use quotient_engine::{Check, Model, Verdict};
use quotient_testing::spin::Verifier;

const DECLARED: &str = "byte a[3], x; mtype = { m }; mtype names[2]; typedef T { byte f[2] }; T t[3]; \
     chan c = [1] of { byte }; chan d[2] = [1] of { byte }; proctype Q(byte z) { skip }\n";

/// Bodies that evaluate such an index.
const FAULTS: &[&str] = &[
    "printf(\"%d\", a[7])",
    "printf(\"%d\", a[-1])",
    "printf(\"%d %d\", a[2], a[3])",
    "printf(\"%d\", t[1].f[2])",
    "printf(\"%d\", t[3].f[1])",
    "printf(\"%d\", len(d[2]))",
    "printf(\"%e\", names[2])",
    "printm(names[2])",
    "byte own[3]; printf(\"%d\", own[3])",
    "d_step { skip; printf(\"%d\", a[3]) }",
    "atomic { skip; printf(\"%d\", a[3]) }",
    "{ printf(\"%d\", a[3]) } unless { x == 1 }",
    "a[3] == 0",
    "if :: a[3] == 0 -> skip :: else -> skip fi",
    "{ skip; skip } unless { a[3] == 1 }",
    "c!a[3]",
    "c!!a[3]",
    "d[2]!1",
    "c!1; c?a[3]",
    "c!0; c?eval(a[3])",
    "c!0; c??eval(a[3])",
    "c!0; c?<a[3]>",
    "c!0; c?[eval(a[3])]",
    "d[2]?x",
    "len(d[2]) == 0",
    "nfull(d[2])",
    "run Q(a[3])",
    "d_step { skip; x = a[3]; x = 0 }",
    "byte y; x = 1; y = a[3]; y = 1",
    "byte i; select(i : 0 .. a[3])",
    "byte i; for (i : 0 .. a[3]) { skip }",
    "assert(a[3] == 0)",
    "a[3]++",
    "x = (x == 1 -> 1 : a[3])",
];

/// Bodies that hold such an index and never evaluate it, or hold the last one that there is.
const SAFE: &[&str] = &[
    "printf(\"%d %d\", a[2], t[2].f[1])",
    "printf(\"%d\", (x == 0 -> 1 : a[3]))",
    "x == 1 && a[3] == 0 || x == 0",
    "if :: x == 0 -> skip :: a[2] == 1 -> skip fi",
];

/// The same for formulas, with the state in which they are asked.
const FORMULAS: &[(&str, bool)] = &[
    ("[] (a[3] == 0)", true),
    ("<> (x == 1 && a[3] == 0)", true),
    ("[] (x == 2 -> a[3] == 0)", false),
    ("<> (x == 1 && a[2] == 0)", false),
];

fn text(body: &str) -> String {
    format!("{DECLARED}active [2] proctype P() {{ {body} }}\n")
}

fn formula_text(formula: &str) -> String {
    format!("{DECLARED}active proctype P() {{ x = 1 }}\nltl p {{ {formula} }}\n")
}

/// Every program, and whether an index is outside of its array in it.
fn programs() -> Vec<(String, bool)> {
    let faults = FAULTS.iter().map(|body| (text(body), true));
    let safe = SAFE.iter().map(|body| (text(body), false));
    let formulas = FORMULAS.iter().map(|(formula, fault)| (formula_text(formula), *fault));
    faults.chain(safe).chain(formulas).collect()
}

#[test]
fn an_index_outside_of_its_array_is_a_fault() {
    for (text, fault) in programs() {
        let model = Model::from_text("index.pml", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        for raw in [true, false] {
            let outcome = model
                .check(&Check { raw, all: true, ..Check::default() })
                .unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert!(!matches!(outcome.verdict, Verdict::Undecided(_)), "{text}");
            let found = outcome.violations.iter().any(|v| v.kind.as_str() == "index");
            assert_eq!(found, fault, "raw: {raw}\n{text}");
        }
    }
}

#[test]
#[ignore = "needs spin"]
fn spin_says_the_same_of_constant_indices() {
    for (text, fault) in programs() {
        let verifier = Verifier::new(&text, &["-DNOREDUCE"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let output = verifier.run(&["-a"]).expect("small");
        assert_eq!(output.contains("invalid array index"), fault, "{output}\n{text}");
    }
}
