//! Definitions, references and renaming in the three languages.

use quotient_testing::Folder;
use serde_json::{Value, json};

use crate::conversation::{about, edited};

/// The line, counted from 1, and column of a definition.
fn defined(file: &str, marked: &str) -> Option<(u64, u64)> {
    let answer = about(&format!("file:///nowhere/{file}"), marked, "textDocument/definition", json!({}));
    let start = &answer["result"]["range"]["start"];
    Some((start["line"].as_u64()? + 1, start["character"].as_u64()?))
}

fn renamed(file: &str, marked: &str, new: &str) -> Result<String, String> {
    let uri = format!("file:///nowhere/{file}");
    let answer = about(&uri, marked, "textDocument/rename", json!({ "newName": new }));
    match answer["error"]["message"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => Ok(edited(&marked.replacen('|', "", 1), &answer["result"]["changes"][&uri])),
    }
}

const PROMELA: &str = "#define MAX(a, b) ((a) > (b) -> (a) : (b))
mtype = { one, two };
typedef T { byte f; byte g };
byte x = 1, y;
T t[2];
inline set(v, e) { byte old; old = v; v = e }
proctype P(byte x) {
	byte z;
again:	z = x;
	if
	:: z < 3 -> z++; goto again
	:: else -> { byte x; x = 4; y = MAX(x, z) }
	fi;
	t[z % 2].g = x;
	set(y, one)
}
init { x = 2; run P(x) }
ltl p { <> (y == one) }
";

#[test]
fn promela() {
    let at = |needle: &str, mark: &str| defined("m.pml", &PROMELA.replacen(needle, mark, 1));
    assert_eq!(at("z = x;", "z = |x;"), Some((7, 16)), "a parameter hides the global");
    assert_eq!(at("x = 4", "|x = 4"), Some((12, 19)), "a block hides the parameter");
    assert_eq!(at("MAX(x, z)", "MAX(|x, z)"), Some((12, 19)));
    assert_eq!(at("MAX(x, z)", "|MAX(x, z)"), Some((1, 8)));
    assert_eq!(at("(a) > (b)", "(|a) > (b)"), Some((1, 12)));
    assert_eq!(at("goto again", "goto ag|ain"), Some((9, 0)));
    assert_eq!(at("].g", "].|g"), Some((3, 25)));
    assert_eq!(at("init { x", "init { |x"), Some((4, 5)));
    assert_eq!(at("run P", "run |P"), Some((7, 9)));
    assert_eq!(at("== one", "== |one"), Some((2, 10)));
    assert_eq!(at("v = e }", "|v = e }"), Some((6, 11)));
    assert_eq!(at("old = v", "|old = v"), Some((6, 24)));
    assert_eq!(at("goto", "g|oto"), None);
}

#[test]
fn remote_references_of_promela() {
    let text = "active proctype A() { byte v; l: v = 1 }\nltl p { [] (!A@|l) }\n";
    assert_eq!(defined("m.pml", text), Some((1, 30)));
    let text = "active proctype A() { byte v; l: v = 1 }\nltl p { [] (A:|v < 2) }\n";
    assert_eq!(defined("m.pml", text), Some((1, 27)));
}

#[test]
fn bir() {
    let text = "system S {
  const Size { N = 3; }
  enum Colour { red, green }
  record Node { Node next; int value; }
  Node head;
  function push(Node n) returns Node {
    Node other;
    loc a: do { other := n; n.next := head; } goto b;
    loc b: do { head.value := Size.N; } return other;
  }
  active thread T() {
    Node mine;
    loc l: do { mine := new Node; } goto m;
    loc m: mine := invoke push(mine) goto l;
  }
}
";
    let at = |needle: &str, mark: &str| defined("m.bir", &text.replacen(needle, mark, 1));
    assert_eq!(at("other := n", "other := |n"), Some((6, 21)));
    assert_eq!(at("return other", "return |other"), Some((7, 9)));
    assert_eq!(at(":= head", ":= |head"), Some((5, 7)));
    assert_eq!(at("head.value", "head.|value"), Some((4, 31)));
    assert_eq!(at("Size.N", "Size.|N"), Some((2, 15)));
    assert_eq!(at("goto b", "goto |b"), Some((9, 8)));
    assert_eq!(at("goto l", "goto |l"), Some((13, 8)));
    assert_eq!(at("invoke push", "invoke |push"), Some((6, 11)));
    assert_eq!(at("new Node", "new |Node"), Some((4, 9)));
    let changed = renamed("m.bir", &text.replacen("n.next", "n.|next", 1), "after").unwrap();
    assert_eq!(changed, text.replace("next", "after"));
    let changed = renamed("m.bir", &text.replacen("goto l", "goto |l", 1), "again").unwrap();
    assert_eq!(changed, text.replace("loc l:", "loc again:").replace("goto l;", "goto again;"));
}

#[test]
fn dve() {
    let text = "const byte N = 2;
byte x, y[2] = {0, 1};
channel c;
process P { byte x; state a, b; init a; assert b: x < N; trans a -> b { guard x < N; sync c!; effect x = x + 1, y[0] = x; }, b -> a {}; }
process Q { state a; init a; trans a -> a { sync c?; effect x = 0; }; }
system async;
";
    let at = |needle: &str, mark: &str| defined("m.dve", &text.replacen(needle, mark, 1));
    assert_eq!(at("guard x", "guard |x"), Some((4, 17)));
    assert_eq!(at("effect x = 0", "effect |x = 0"), Some((2, 5)));
    assert_eq!(at("a -> b {", "a -> |b {"), Some((4, 29)));
    assert_eq!(at("assert b", "assert |b"), Some((4, 29)));
    assert_eq!(at("sync c?", "sync |c?"), Some((3, 8)));
    assert_eq!(at("< N;", "< |N;"), Some((1, 11)));
    let changed = renamed("m.dve", &text.replacen("init a; trans", "init |a; trans", 1), "s").unwrap();
    let wanted = text.replace("state a; init a; trans a -> a {", "state s; init s; trans s -> s {");
    assert_eq!(changed, wanted);
}

#[test]
fn renaming_changes_what_is_meant_and_nothing_else() {
    let changed = renamed("m.pml", &PROMELA.replacen("byte x = 1", "byte |x = 1", 1), "count").unwrap();
    let wanted = PROMELA
        .replace("byte x = 1", "byte count = 1")
        .replace("init { x = 2; run P(x) }", "init { count = 2; run P(count) }");
    assert_eq!(changed, wanted);
    let changed = renamed("m.pml", &PROMELA.replacen("(byte x)", "(byte |x)", 1), "limit").unwrap();
    let wanted = PROMELA
        .replace("(byte x)", "(byte limit)")
        .replace("z = x;", "z = limit;")
        .replace(".g = x;", ".g = limit;");
    assert_eq!(changed, wanted);
    let changed = renamed("m.pml", &PROMELA.replacen("byte g", "byte |g", 1), "field").unwrap();
    assert_eq!(changed, PROMELA.replace("byte g", "byte field").replace("].g", "].field"));
    let changed = renamed("m.pml", &PROMELA.replacen("again:", "|again:", 1), "once_more").unwrap();
    assert_eq!(changed, PROMELA.replace("again", "once_more"));
}

#[test]
fn renaming_that_would_change_the_model_is_refused() {
    let refused = |text: &str, new: &str, why: &str| {
        let error = renamed("m.pml", text, new).unwrap_err();
        assert!(error.contains(why), "{error}");
    };
    refused("byte |x, y; active proctype P() { x = y }", "y", "occurs in the file already");
    refused("byte |x; active proctype P() { x = 1 }", "do", "would have an error");
    refused("byte |x; active proctype P() { x = 1 }", "1x", "not a name");
    refused("byte |x; active proctype P() { x = }", "z", "has errors");
    // The body of the macro means the local of whoever uses it; the text does not show it.
    refused("#define M v = 1\nactive proctype P() { byte |v; M }", "w", "would have an error");
    refused(
        "byte v;\n#define M v = 1\nactive proctype P() { byte |v; v = 2; M }",
        "w",
        "means several things",
    );
    refused("active proctype P() { |skip }", "w", "no name here");
    refused("i|nit { skip }", "w", "no name of its own");
}

#[test]
fn included_files() {
    let folder = Folder::new();
    std::fs::write(folder.path().join("common.h"), "byte shared;\n").unwrap();
    let uri = format!("file://{}/m.pml", folder.path().display());
    let text = "#include \"common.h\"\nactive proctype P() { |shared = 1 }\n";
    let answer = about(&uri, text, "textDocument/definition", json!({}));
    assert!(answer["result"]["uri"].as_str().unwrap().ends_with("/common.h"), "{answer}");
    let answer = about(&uri, text, "textDocument/rename", json!({ "newName": "other" }));
    assert!(answer["error"]["message"].as_str().unwrap().contains("another file"), "{answer}");
    let answer =
        about(&uri, text, "textDocument/references", json!({ "context": { "includeDeclaration": true } }));
    assert_eq!(answer["result"].as_array().map(Vec::len), Some(1));
    assert_ne!(answer["result"], Value::Null);
}
