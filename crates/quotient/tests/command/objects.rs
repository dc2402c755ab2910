//! Programs with objects as a user of the command meets them: reports, names in traces, `compare`.

use serde_json::Value;

use crate::command_line::{File, model, quotient};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_report_names_the_threads_that_change_places() {
    let output = text(&quotient(&["check", &model("dining_philosophers.bir")]).stdout);
    assert!(output.contains("symmetry: objects; threads of Philosopher (exact)"), "{output}");
}

/// The second worker comes last, holds the lock while it calls a function, and has one name in all of that.
#[test]
fn a_thread_has_one_name() {
    let file = File::new(
        "names.bir",
        "system Names {
           top record Object {}
           Object guard;
           int done;
           function finish() { assert done < 2; }
           thread Worker() {
             lock(guard);
             done := done + 1;
             invoke finish();
             unlock(guard);
           }
           main thread MAIN() {
             guard := new Object;
             atomic start Worker(); start Worker(); end
           }
         }",
    );
    let trace = File::new("names.trace", "");
    let checked = quotient(&["check", file.path(), "--trace", trace.path()]);
    let report = text(&checked.stdout);
    assert_eq!(checked.status.code(), Some(12), "{report}");
    let replayed = text(&quotient(&["replay", trace.path()]).stdout);
    let full = text(&quotient(&["replay", trace.path(), "--full"]).stdout);
    for shown in [&report, &replayed, &full] {
        assert!(shown.contains("held by Worker(1)"), "{shown}");
        assert!(!shown.contains("held by finish"), "{shown}");
        assert!(shown.contains("Object#1.lock") && !shown.contains("Object#2"), "{shown}");
    }
}

/// Every store counts the same; partial order reduction is left out where it does not apply, and that is said once.
#[test]
fn compare_counts_the_same_in_all_stores() {
    let file = model("dining_philosophers.bir");
    let csv = text(&quotient(&["compare", &file, "--csv"]).stdout);
    let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    // Five orders without partial order, three with, in four stores.
    assert_eq!(rows.len(), 32, "{csv}");
    let expected = [("off", "36"), ("heap", "36"), ("pc", "19"), ("kbots", "14"), ("exact", "14")];
    for row in &rows {
        assert_eq!(row[3], "violated", "{csv}");
        let states = expected.iter().find(|(order, _)| *order == row[0]).map(|(_, states)| *states);
        assert!(row[1] == "on" || states == Some(row[4]), "{csv}");
    }
    let table = text(&quotient(&["compare", &file]).stdout);
    assert_eq!(table.lines().filter(|line| line.contains("violated")).count(), 32, "{table}");
    assert_eq!(table.matches("note (pc, kbots): partial order reduction is off").count(), 1, "{table}");
    let list = quotient(&["compare", &file, "--json", "--symmetry", "pc,exact", "--store", "tree,collapse"]);
    let list: Vec<Value> = serde_json::from_slice(&list.stdout).expect("a JSON list");
    let refused = |row: &&Value| row["asked"]["por"] != row["reductions"]["por"];
    assert_eq!((list.len(), list.iter().filter(refused).count()), (7, 1));
    assert!(list.iter().filter(refused).all(|row| row["reductions"]["notes"][0].is_string()));
}

#[test]
fn what_follows_audit_is_its_number() {
    let file = model("dining_philosophers.bir");
    let audited = text(&quotient(&["check", &file, "--no-deadlock", "--audit"]).stdout);
    assert!(audited.contains("behave like their representatives"), "{audited}");
    let refused = quotient(&["check", "--audit", &file]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("put the file before `--audit`"), "{}", text(&refused.stderr));
}
