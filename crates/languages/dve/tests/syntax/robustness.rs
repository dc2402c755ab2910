//! Nothing that is fed to the front end may panic, hang or overflow the stack: texts of DVE words in random order, damaged
//! models, extreme nesting. `QUOTIENT_FUZZ_CASES` sets how many.

use proptest::prelude::*;
use quotient_dve::{lower, parse_property, parse_text, print};
use quotient_front_end::PropertyKeyword;
use quotient_source::{SourceMap, render};

/// Reads and translates a text. Diagnostics must be renderable. Gives the number of errors.
fn survive(text: &str) -> usize {
    let mut map = SourceMap::new();
    let parsed = parse_text(&mut map, "fuzz.dve", text);
    let mut diagnostics = parsed.diagnostics;
    if let Some(system) = parsed.system {
        // Also where there are errors: the translation must bear any tree.
        diagnostics.extend(lower(&system, &[], &map).diagnostics);
        print::system(&system);
    }
    for diagnostic in diagnostics.iter().take(20) {
        assert!(!render(&map, diagnostic, false).is_empty());
    }
    for keyword in PropertyKeyword::ALL {
        let _ = parse_property(&mut map, keyword, text);
    }
    diagnostics.error_count()
}

const WORDS: &[&str] = &[
    "byte",
    "int",
    "const",
    "channel",
    "process",
    "P",
    "Q",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ":",
    ".",
    "->",
    "=>",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    ">",
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
    "!",
    "?",
    "and",
    "or",
    "not",
    "imply",
    "&&",
    "||",
    "true",
    "false",
    "x",
    "y",
    "f",
    "c",
    "s",
    "t",
    "state",
    "init",
    "accept",
    "commit",
    "assert",
    "trans",
    "guard",
    "sync",
    "effect",
    "system",
    "async",
    "property",
    "buchi",
    "genbuchi",
    "0",
    "1",
    "2",
    "300",
    "99999999999",
    "//",
    "/*",
    "*/",
    "\\",
    "\n",
    "$",
    "é",
];

const MODEL: &str = "const byte n = 2;
byte x = 1, f[n] = {1, 2};
int z = -3;
channel c;
channel {byte, int} q[2];
channel {byte} r[0];
process P {
  byte l; const byte k[2] = {1, 2};
  state s, t, u;
  init s;
  commit t;
  assert u: x <= l, s: f[0] == 1;
  trans s -> t { guard x == 1 and not (f[x] > k[1]); sync c!x + 1; effect x = x * 2, f[l] = x; },
        -> u { sync r?l; }, u -> s { guard Q.a imply z < 0; sync q!{x, z}; };
}
process Q {
  byte m; int o;
  state a;
  init a;
  trans a -> a { sync c?m; }, a -> a { sync q?{m, o}; }, a -> a { sync r!300; };
}
process W { state v, w; init v; accept w; trans v -> v {}, v -> w { guard P->l == 0 or P.s; }; }
system async property W;
";

fn cases() -> ProptestConfig {
    let cases = quotient_testing::setting("QUOTIENT_FUZZ_CASES", 3_000) as u32;
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

#[test]
fn the_model_is_correct() {
    assert_eq!(survive(MODEL), 0);
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn words_in_any_order(words in prop::collection::vec(prop::sample::select(WORDS), 0..80)) {
        survive(&words.join(" "));
    }

    #[test]
    fn any_text(text in any::<String>()) {
        survive(&text);
    }

    #[test]
    fn damaged_models(cuts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, prop::sample::select(WORDS)), 1..6)) {
        let mut text = MODEL.to_owned();
        for (at, length, word) in cuts {
            let places: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
            if places.is_empty() {
                break;
            }
            let from = at.index(places.len());
            let to = (from + length).min(places.len() - 1);
            text.replace_range(places[from]..places[to], word);
        }
        survive(&text);
    }
}

#[test]
fn extreme_nesting() {
    let with = |e: &str| {
        format!("byte x;\nprocess P {{ state s; init s; trans s -> s {{ guard {e}; }}; }}\nsystem async;")
    };
    for open in ["(", "not ", "-", "f[", "not (", "~"] {
        survive(&with(&(open.repeat(100_000) + "x")));
    }
    for op in [" + ", " and ", " == ", " imply "] {
        survive(&with(&vec!["x"; 50_000].join(op)));
    }
    assert_eq!(survive(&with(&vec!["x"; 900].join(" and "))), 0);
    survive(&"{".repeat(100_000));
    survive(&"process P {".repeat(10_000));
    survive(&"process P { trans a -> b {".repeat(10_000));
    survive(&"channel {".repeat(10_000));
}
