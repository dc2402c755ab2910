//! All stores hold the same states: static and dynamic programs, both searches, several orders.

use std::path::Path;

use quotient_engine::{Check, LoadOptions, Model, PartialOrder, SearchKind, StoreKind, Symmetry, Verdict};

fn load(name: &str, defines: &[(&str, &str)]) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
    let defines = defines.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    Model::load(&path, &LoadOptions { defines, ..LoadOptions::default() }).expect("loads")
}

/// States, transitions, bytes of the store.
fn run(model: &Model, check: &Check<'_>) -> (u64, u64, u64) {
    let check = Check { all: true, safety_only: true, partial_order: PartialOrder::Off, ..*check };
    let outcome = model.check(&check).expect("checked");
    assert!(!matches!(outcome.verdict, Verdict::Undecided(_)), "{:?}", outcome.verdict);
    assert_eq!(outcome.store, Some(check.store));
    (outcome.statistics.states, outcome.statistics.transitions, outcome.statistics.store_bytes)
}

#[test]
fn counts_are_the_same() {
    let models = [
        load("dining_philosophers.bir", &[("N", "5")]),
        load("bounded_buffer.bir", &[]),
        load("ordered_list.bir", &[("N", "2")]),
        load("mailboxes.bir", &[]),
        load("btree.pml", &[]),
        load("leader.pml", &[("N", "4")]),
        load("two_phase_commit.pml", &[]),
    ];
    for (number, model) in models.iter().enumerate() {
        for symmetry in [Symmetry::Off, Symmetry::ProgramCounter, Symmetry::Exact] {
            for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
                let check = Check { symmetry: Some(symmetry), search, ..Check::default() };
                let plain = run(model, &Check { store: StoreKind::Plain, ..check });
                for store in StoreKind::ALL {
                    let found = run(model, &Check { store, ..check });
                    let what = format!("model {number}, {symmetry:?}, {search:?}, {}", store.name());
                    assert_eq!((found.0, found.1), (plain.0, plain.1), "{what}");
                }
            }
        }
    }
}

#[test]
fn collapse_takes_a_third_of_plain() {
    let model = load("bounded_buffer.bir", &[("N", "4"), ("M", "2")]);
    for symmetry in [Symmetry::Heap, Symmetry::Exact] {
        let bytes = |store| run(&model, &Check { symmetry: Some(symmetry), store, ..Check::default() }).2;
        let (plain, collapse) = (bytes(StoreKind::Plain), bytes(StoreKind::Collapse));
        assert!(3 * collapse <= plain, "{symmetry:?}: {collapse} of {plain} bytes");
    }
}
