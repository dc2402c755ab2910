//! Every kind of statement in every surrounding on every kind of channel, against SPIN's answers, which are pinned in
//! `crates/reference/src/statement_table.txt`; and the reduced searches against them.

use std::collections::BTreeSet;

use quotient_engine::{Check, Model, PartialOrder, SearchKind, Verdict};
use quotient_reference::statement_table::{deviation, interpreted, pinned, table};

/// The kinds of violation that a line of the table means.
fn kinds(line: &str) -> BTreeSet<&str> {
    match line.strip_prefix("fault ") {
        Some("polled-rendezvous") => BTreeSet::from(["channel"]),
        Some(_) => BTreeSet::from(["d_step"]),
        None => line.split(' ').skip(4).collect(),
    }
}

fn compare(text: &str, expected: &str) -> Result<(), String> {
    let model = Model::from_text("table.pml", text).map_err(|e| e.to_string())?;
    let wanted = kinds(expected);
    let fault = expected.starts_with("fault");
    for (raw, partial_order) in
        [(true, PartialOrder::Off), (false, PartialOrder::Off), (false, PartialOrder::On)]
    {
        for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
            let how = format!("raw {raw}, partial order {partial_order:?}, {search:?}");
            let check = Check { raw, partial_order, search, all: true, ..Check::default() };
            let outcome = model.check(&check).map_err(|e| format!("{how}: {e}"))?;
            if let Verdict::Undecided(why) = &outcome.verdict {
                return Err(format!("{how}: undecided, {why}"));
            }
            let found: BTreeSet<&str> = outcome.violations.iter().map(|v| v.kind.as_str()).collect();
            let statistics = &outcome.statistics;
            let counts = format!("states {} transitions {}", statistics.states, statistics.transitions);
            // From a fault on, the two go on in different ways.
            let agrees = if fault {
                wanted.is_subset(&found)
            } else {
                found == wanted && (!raw || expected.starts_with(&counts))
            };
            if !agrees {
                return Err(format!("{how}: {counts} {found:?} instead of {expected}"));
            }
        }
    }
    Ok(())
}

#[test]
fn every_statement_everywhere_is_as_spin_has_it() {
    let pinned = pinned();
    let mut differences = Vec::new();
    let entries = table();
    for entry in &entries {
        let own = deviation(&entry.name).map(|_| interpreted(&entry.text));
        let expected = own.as_deref().or(pinned.get(entry.name.as_str()).copied()).unwrap_or("missing");
        if let Err(what) = compare(&entry.text, expected) {
            differences.push(format!("{}: {what}\n{}", entry.name, entry.text));
        }
    }
    let of = entries.len();
    assert!(differences.is_empty(), "{} of {of} differ:\n{}", differences.len(), differences.join("\n"));
}
