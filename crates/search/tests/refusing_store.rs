//! A store that has no room any more answers as if it had seen everything. No search may conclude anything from that.

use std::time::Duration;

use quotient_seams::{All, Identity, Interrupt, Known, Loaded, Model, Reason, Typed, Visited};
use quotient_search::{Limits, Options, Report, Seams, Stop, breadth_first, depth_first};
use quotient_visited::Plain;

/// Numbers that double or grow by one, up to a bound.
struct Numbers(u64);

impl Model for Numbers {
    type State = u64;

    fn initial(&self) -> Vec<u64> {
        vec![1]
    }

    fn next(&self, state: &u64) -> Vec<u64> {
        [state * 2, state + 1, 1].into_iter().filter(|n| *n < self.0).collect()
    }

    fn check(&self, _: &u64) -> Result<(), String> {
        Ok(())
    }
}

/// Takes so many states and no more.
struct Refusing {
    store: Plain,
    most: u64,
    refused: bool,
}

impl Visited for Refusing {
    fn hint_len(&self, words: usize) -> usize {
        self.store.hint_len(words)
    }

    fn load(&mut self, state: &[u64], parent: Option<Known<'_>>, hint: &mut [u32]) -> Loaded {
        self.store.load(state, parent, hint)
    }

    fn prepare(&mut self, state: &[u64], loaded: Loaded, hint: &mut [u32]) -> u64 {
        self.store.prepare(state, loaded, hint)
    }

    fn insert(&mut self, key: u64, state: &[u64]) -> bool {
        if self.store.len() == self.most && !self.store.contains(key, state) {
            self.refused = true;
            return false;
        }
        self.store.insert(key, state)
    }

    fn contains(&self, key: u64, state: &[u64]) -> bool {
        self.store.contains(key, state)
    }

    fn len(&self) -> u64 {
        self.store.len()
    }

    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn exhausted(&self) -> Option<&'static str> {
        self.refused.then_some("no room")
    }

    fn name(&self) -> &'static str {
        "refusing"
    }
}

fn search(bound: u64, most: u64, depth: bool, options: &mut Options<'_>) -> Report {
    let seams = Seams {
        system: &mut Typed::new(Numbers(bound)),
        representative: &mut Identity,
        ample: &mut All,
        visited: &mut Refusing { store: Plain::new(), most, refused: false },
    };
    if depth { depth_first(seams, options) } else { breadth_first(seams, options) }
}

#[test]
fn nothing_is_concluded_from_a_store_that_refuses() {
    for depth in [false, true] {
        for most in [0, 1, 2, 10, 98] {
            let report = search(100, most, depth, &mut Options::default());
            assert_eq!(
                report.stop,
                Stop::Incomplete("no room".into()),
                "{most} states, depth-first: {depth}"
            );
        }
        let report = search(100, 99, depth, &mut Options::default());
        assert_eq!((report.stop, report.statistics.states), (Stop::Complete, 99), "depth-first: {depth}");
    }
}

#[test]
fn a_search_ends_by_its_time_or_by_its_token() {
    for depth in [false, true] {
        let limits = Limits { time: Some(Duration::from_millis(30)), ..Limits::default() };
        let report = search(u64::MAX / 4, u64::MAX, depth, &mut Options { limits, ..Options::default() });
        assert_eq!(report.stop, Stop::Incomplete("time limit of 0.03 s reached".into()));
        let token = Interrupt::new();
        token.raise(Reason::Asked("SIGINT"));
        let mut options = Options { interrupt: Some(&token), ..Options::default() };
        let report = search(u64::MAX / 4, u64::MAX, depth, &mut options);
        assert_eq!(report.stop, Stop::Incomplete("interrupted".into()));
        assert!(report.statistics.states < 1000, "at once: {} states", report.statistics.states);
    }
}
