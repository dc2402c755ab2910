//! The table of library functions can be read, line by line. It is part of the runtime, which cannot be part of a test.

#[path = "../../../native-runtime/src/library/table.rs"]
#[allow(dead_code, reason = "the test uses a part of it")]
mod table;

use table::{Access, Extent, Pointer, SHORT, TEXT, find};

fn lines() -> impl Iterator<Item = &'static str> {
    TEXT.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

#[test]
fn every_line_can_be_read() {
    for line in lines() {
        for name in line.split(' ').next().unwrap_or_default().split(',') {
            let short = SHORT.iter().find_map(|(short, long)| Some((*long, name.strip_prefix(short)?)));
            let (beginning, rest) = short.unwrap_or(("", name));
            let function = format!("{beginning}{}", rest.trim_end_matches('*'));
            assert!(find(&function).is_some(), "{name}: {line}");
        }
    }
}

#[test]
fn names_occur_once() {
    let mut seen = std::collections::BTreeSet::new();
    for name in lines().flat_map(|line| line.split(' ').next().unwrap_or_default().split(',')) {
        assert!(seen.insert(name), "{name} is there twice");
    }
}

#[test]
fn effects_mean_what_the_table_says() {
    let function = find("fread").expect("in the table");
    let written =
        Access { pointer: Pointer::Argument(0), extent: Extent::ResultTimes(1), reads: false, writes: true };
    assert_eq!(function.accesses, [written]);
    assert!(function.has_afterwards() && !function.is_pure());
    assert!(find("sqrt").is_some_and(|f| f.is_pure()));
    assert!(find("no_such_function").is_none());
}
