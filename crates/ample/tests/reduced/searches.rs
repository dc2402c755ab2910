//! Every search with every reduction and store on random programs, put together from the seams: counts and kinds of violation against
//! the reference interpreter, which shares no code with them, and every path followed again.
//!
//! `QUOTIENT_RANDOM_PROGRAMS` sets how many programs, `QUOTIENT_SEED` the first seed.

use std::collections::BTreeSet;

use quotient_ample::{AmpleSets, Independence, Question};
use quotient_front_end::{FrontEnd, LoadOptions};
use quotient_machine::{Machine, Renaming};
use quotient_promela::Promela;
use quotient_reference::{Outcome, generate, interpret, print};
use quotient_seams::{All, Ample, Identity, Numbering, Representative, System, Visited, Walk, Worker};
use quotient_search::{Cause, Found, Options, Report, Seams, Stop, breadth_first, depth_first, graph};
use quotient_source::SourceMap;
use quotient_symmetry::{Order, Ordered};
use quotient_testing::setting;
use quotient_visited::{Collapse, Gzip, NumberedTree, Plain, Tree};

/// Programs with more states than this are skipped.
const LIMIT: usize = 3_000;

fn machine(text: &str) -> Machine {
    let mut sources = SourceMap::new();
    let file = sources.add("random.pml", text);
    let loaded = Promela.load(&mut sources, file, &LoadOptions::default()).expect("a correct program");
    Machine::new(loaded.program, &sources).expect("small enough")
}

fn expected_kinds(outcome: &Outcome) -> BTreeSet<String> {
    let kinds = [("assertion", outcome.assertion_failures > 0), ("deadlock", outcome.invalid_end_states > 0)];
    kinds.into_iter().filter(|(_, met)| *met).map(|(kind, _)| kind.to_owned()).collect()
}

/// Follows a path through representatives and finds what is said to be at its end.
fn ends_as_said<R: Representative<Machine>>(machine: &mut Machine, stands: &mut R, found: &Found) -> bool {
    let Some((&first, steps)) = found.path.choices.split_first() else { return false };
    let Ok(mut walk) = Walk::start(machine, first) else { return false };
    let mut last = None;
    for &choice in steps {
        walk.represent(machine, stands);
        if walk.state().is_empty() || walk.look(machine).is_err() || walk.take(choice as usize).is_err() {
            return false;
        }
        last = walk.looked().entry(choice as usize).violation;
    }
    match found.cause {
        Cause::Violation(code) => steps.is_empty() || last == Some(code),
        Cause::Deadlock => {
            walk.represent(machine, stands);
            let state = walk.state().to_vec();
            walk.look(machine).is_ok_and(|next| next.is_empty()) && !machine.is_valid_end(&state)
        }
        Cause::Cycle => false,
    }
}

/// One combination; whether depth first.
fn search<R: Representative<Machine>, A: Ample<Machine>, V: Visited>(
    machine: &mut Machine,
    representative: &mut R,
    ample: &mut A,
    visited: &mut V,
    depth: bool,
) -> Report {
    let mut options = Options { all: true, ..Options::default() };
    let seams = Seams { system: machine, representative, ample, visited };
    if depth { depth_first(seams, &mut options) } else { breadth_first(seams, &mut options) }
}

/// Both searches and several stores with a representative and an ample set: the same violations, each at the end of its path. Gives
/// states and transitions of each search, which must be the same for all stores.
fn every_search<R: Representative<Machine>, A: Ample<Machine>>(
    machine: &mut Machine,
    stands: &mut R,
    ample: &mut A,
    kinds: &BTreeSet<String>,
    what: &str,
) -> [(u64, u64); 2] {
    [false, true].map(|depth| {
        let reports = [
            search(machine, stands, ample, &mut Tree::new(), depth),
            search(machine, stands, ample, &mut Plain::new(), depth),
            search(machine, stands, ample, &mut NumberedTree::new(), depth),
        ];
        let counts = reports.each_ref().map(|r| (r.statistics.states, r.statistics.transitions));
        // What is on the stack is told by keys, and the keys of some stores are less distinct: then more is explored.
        if !depth || A::PROPOSALS == 0 {
            assert!(counts.iter().all(|c| *c == counts[0]), "{what}, depth first {depth}: {counts:?}");
        }
        for report in &reports {
            assert_eq!(report.stop, Stop::Complete, "{what}");
            let name = |cause: Cause| match cause {
                Cause::Deadlock => "deadlock".to_owned(),
                Cause::Violation(code) => machine.violation(code).kind.to_string(),
                Cause::Cycle => "cycle".to_owned(),
            };
            let found: BTreeSet<String> = report.found.iter().map(|f| name(f.cause)).collect();
            assert_eq!(found, *kinds, "{what}, depth first {depth}");
            for found in &report.found {
                assert!(ends_as_said(machine, stands, found), "{what}, depth first {depth}: {found:?}");
            }
        }
        counts[0]
    })
}

fn nodes<V: Numbering>(machine: &mut Machine, mut visited: V) -> u64 {
    let (representative, ample) = (&mut Identity, &mut All);
    let seams = Seams { system: machine, representative, ample, visited: &mut visited };
    let (stop, statistics) = graph(seams, &mut Options::default(), &mut |_, _| Ok(()));
    assert_eq!(stop, Stop::Complete);
    statistics.states
}

#[test]
fn searches_agree_on_random_programs() {
    let programs = setting("QUOTIENT_RANDOM_PROGRAMS", 150);
    let first = setting("QUOTIENT_SEED", 77_000_000);
    let (mut compared, mut violated, mut smaller) = (0, 0, 0);
    for seed in first..first + programs {
        let tree = generate(seed, 1 + (seed % 7) as usize);
        let Some(expected) = interpret(&tree, LIMIT).ok().filter(|o| o.complete) else { continue };
        // What faults there are, and whether a state that has nothing but a fault is also stuck, is compared elsewhere.
        if !expected.faults.is_empty() {
            continue;
        }
        let text = print(&tree);
        let what = format!("seed {seed}\n\n{text}");
        let kinds = expected_kinds(&expected);
        let mut machine = machine(&text);
        let exact = (expected.states as u64, expected.transitions as u64);
        let whole = every_search(&mut machine, &mut Identity, &mut All, &kinds, &what);
        assert_eq!(whole, [exact; 2], "{what}");
        for states in [
            nodes(&mut machine, NumberedTree::new()),
            nodes(&mut machine, Plain::new()),
            nodes(&mut machine, Gzip::new()),
        ] {
            assert_eq!(states, exact.0, "{what}");
        }
        let parts = machine.parts();
        assert_eq!(nodes(&mut machine, Collapse::new(parts)), exact.0, "{what}");
        // A worker of the same machine, as if on another thread.
        let mut other = machine.another();
        assert_eq!(every_search(&mut other, &mut Identity, &mut All, &kinds, &what), whole, "{what}");
        let mut stands = Ordered::new(Renaming::new(&machine, Vec::new(), Default::default()), Order::Exact);
        every_search(&mut machine, &mut stands, &mut All, &kinds, &what);
        for renamed in [false, true] {
            let independence = Independence { renamed, ..Independence::default() };
            let Ok(mut ample) = AmpleSets::new(&machine, &Question::Safety, independence) else { continue };
            let reduced = if renamed {
                every_search(&mut machine, &mut stands, &mut ample, &kinds, &what)
            } else {
                every_search(&mut machine, &mut Identity, &mut ample, &kinds, &what)
            };
            assert!(reduced.iter().all(|r| r.0 <= exact.0), "{what}");
            smaller += u64::from(reduced[0].0 < exact.0);
            // What is remembered for one worker holds for another.
            let again = every_search(&mut other, &mut Identity, &mut ample.another(), &kinds, &what);
            assert!(renamed || again == reduced, "{what}: {again:?} instead of {reduced:?}");
        }
        compared += 1;
        violated += u64::from(!kinds.is_empty());
    }
    println!(
        "{compared} programs compared, {violated} violated, ample sets left something out {smaller} times"
    );
    assert!(compared * 2 > programs && violated * 10 > compared && smaller * 10 > compared);
}
