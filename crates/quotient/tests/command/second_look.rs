//! Where breadth-first search stops at a limit, depth-first and random search look once more; the report says which of them found
//! something, and what they did not find never turns into "holds".

use std::process::Output;

use serde_json::Value;

use crate::command_line::{File, quotient};

/// Wide near the beginning; every run is wrong after 200 steps.
const DEEP: &str = "byte sum, n[5];
active [5] proctype P() { do :: n[_pid] < 100 -> atomic { n[_pid]++; sum++; assert(sum != 200) } od }
";

/// As wide, and wrong only where Q moves 50 times: depth-first search moves the others first, in hundreds of thousands of ways.
const ASIDE: &str = "byte a, b, c, q;
active proctype A() { do :: a = (a + 1) % 250 od }
active proctype B() { do :: b = (b + 1) % 250 od }
active proctype C() { do :: c = (c + 1) % 250 od }
active proctype Q() { do :: q < 25 -> q++; assert(q != 25) od }
";

/// As wide, and nothing is ever wrong.
const RIGHT: &str = "byte n[5];
active [5] proctype P() { do :: n[_pid] = (n[_pid] + 1) % 250 od }
";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn check(file: &File, options: &[&str]) -> (Option<i32>, Value) {
    let output = quotient(
        &[&["check", "--json", "--por", "off", "--symmetry", "off"], options, &[file.path()]].concat(),
    );
    let object = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output)));
    (output.status.code(), object)
}

/// What each of the second searches said, and who found the violation.
fn looked(object: &Value) -> (Vec<(String, bool)>, Option<String>) {
    let list = object["second_look"].as_array().cloned().unwrap_or_default();
    let search = |s: &Value| (s["search"].as_str().unwrap_or("").to_owned(), s["found"] == true);
    (list.iter().map(search).collect(), object["violations"][0]["found_by"].as_str().map(str::to_owned))
}

#[test]
fn depth_first_search_finds_what_lies_deep() {
    let file = File::new("deep.pml", DEEP);
    for limit in [["--max-states", "20000"], ["--max-time", "4s"], ["--max-memory", "150M"]] {
        let (status, object) = check(&file, &limit);
        assert_eq!(status, Some(12), "{limit:?}: {object:#}");
        let found = "depth-first search".to_owned();
        assert_eq!(looked(&object), (vec![(found.clone(), true)], Some(found)), "{limit:?}");
        let notes = object["reductions"]["notes"].to_string();
        assert!(notes.contains("the search is incomplete: "), "{notes}");
        // The limit is the one that was given, whatever part of it the first search had.
        let stated = [
            ["--max-states", "limit of 20000 states"],
            ["--max-time", "time limit of 4 s"],
            ["--max-memory", "memory limit of 150 MiB"],
        ];
        let said = stated.iter().find(|s| s[0] == limit[0]).map_or("", |s| s[1]);
        assert!(notes.contains(said), "{limit:?}: {notes}");
    }
    let output =
        quotient(&["check", "--por", "off", "--symmetry", "off", "--max-states", "20000", file.path()]);
    assert!(
        text(&output).contains("(found by depth-first search after breadth-first search had stopped"),
        "{}",
        text(&output)
    );
}

#[test]
fn random_search_finds_what_depth_first_search_passes_by() {
    let file = File::new("aside.pml", ASIDE);
    let (status, object) = check(&file, &["--max-states", "20000"]);
    assert_eq!(status, Some(12), "{object:#}");
    let searches = vec![("depth-first search".to_owned(), false), ("random search".to_owned(), true)];
    assert_eq!(looked(&object), (searches, Some("random search".to_owned())));
    // The same each time, and it can be replayed.
    let trace = File::new("aside.trace", "");
    let (_, again) = check(&file, &["--max-states", "20000", "--trace", trace.path()]);
    assert_eq!(again["violations"][0]["choices"], object["violations"][0]["choices"]);
    assert_eq!(quotient(&["replay", trace.path()]).status.code(), Some(12));
}

#[test]
fn nothing_found_is_still_undecided() {
    let file = File::new("right.pml", RIGHT);
    for limit in [["--max-states", "20000"], ["--max-time", "1s"]] {
        let (status, object) = check(&file, &limit);
        assert_eq!(status, Some(5), "{limit:?}: {object:#}");
        assert_eq!(object["verdict"], "undecided");
        let (searches, found_by) = looked(&object);
        // A search that overruns its part of the time, by a table that grows, leaves nothing for the one after it.
        let least = if limit[0] == "--max-time" { 1 } else { 2 };
        assert!((least..=2).contains(&searches.len()) && found_by.is_none(), "{limit:?}: {object:#}");
    }
    let output =
        quotient(&["check", "--por", "off", "--symmetry", "off", "--max-states", "20000", file.path()]);
    assert!(
        text(&output).contains("a second look by depth-first search (2,001 states) and random search (2,001 states) found nothing either"),
        "{}",
        text(&output)
    );
}

/// A search that was asked for is the only one, and one that comes to its end needs no second look.
#[test]
fn no_second_look_where_none_is_due() {
    let file = File::new("deep_again.pml", DEEP);
    let (status, object) = check(&file, &["--max-states", "150", "--search", "dfs"]);
    assert_eq!((status, &object["second_look"]), (Some(5), &Value::Null), "{object:#}");
    let small = File::new("small.pml", "byte x; active proctype P() { x = 1; x = 2 }\n");
    let (status, object) = check(&small, &["--max-states", "20000", "--max-time", "60s"]);
    assert_eq!((status, &object["second_look"]), (Some(0), &Value::Null), "{object:#}");
    let (status, object) = check(&file, &["--max-depth", "3"]);
    assert_eq!((status, &object["second_look"]), (Some(5), &Value::Null), "{object:#}");
}

/// A claim that a run can violate by its beginning is looked for in the same way; one about cycles is not.
#[test]
fn invariants_get_a_second_look() {
    let file = File::new("invariant.pml", &DEEP.replace("assert(sum != 200)", "skip"));
    let (status, object) = check(&file, &["--max-states", "20000", "--invariant", "sum != 200"]);
    assert_eq!(status, Some(12), "{object:#}");
    assert_eq!(looked(&object).1.as_deref(), Some("depth-first search"));
}

/// Random walks store nothing: a limit of memory alone does not end them.
#[test]
fn a_second_look_ends_where_memory_is_the_only_limit() {
    let file = File::new("small.pml", "byte x; active [2] proctype P() { x++; x-- }");
    let (status, object) = check(&file, &["--max-depth", "2", "--max-memory", "500M"]);
    assert_eq!(
        (status, looked(&object)),
        (Some(5), (vec![], None)),
        "a bound on depth is one for all: {object:#}"
    );
    let file = File::new("right.pml", RIGHT);
    let (status, object) = check(&file, &["--max-memory", "100M"]);
    let nothing = |name: &str| (name.to_owned(), false);
    assert_eq!(status, Some(5), "{object:#}");
    assert_eq!(looked(&object), (vec![nothing("depth-first search"), nothing("random search")], None));
}
