//! A store that has no room any more answers as if it had seen everything. No search may conclude anything from that.

use std::time::Duration;

use quotient_seams::{
    All, Exhausted, Identity, Interrupt, Known, Loaded, Model, Numbering, Omega, Reason, Scope, Successors,
    System, Typed, Violation, ViolationCode, Visited,
};
use quotient_search::{
    Limits, Options, Seams, Statistics, Stop, breadth_first, depth_first, graph, liveness,
};
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

/// The same as a system whose runs are judged: none counts.
struct Judged(Typed<Numbers>);

impl System for Judged {
    fn initial(&mut self, out: &mut Successors) -> Result<(), Exhausted> {
        self.0.initial(out)
    }

    fn successors(&mut self, state: &[u64], scope: Scope, out: &mut Successors) -> Result<(), Exhausted> {
        self.0.successors(state, scope, out)
    }

    fn is_valid_end(&mut self, state: &[u64]) -> bool {
        self.0.is_valid_end(state)
    }

    fn violation(&self, code: ViolationCode) -> Violation {
        self.0.violation(code)
    }
}

impl Omega for Judged {
    type Marks = u64;

    fn state_marks(&mut self, _: &[u64]) -> u64 {
        0
    }

    fn step_marks(&mut self, _: &[u64], _: &Successors, _: &mut Vec<u64>) {}
}

/// Takes so many states and no more.
pub(crate) struct Refusing {
    store: Plain,
    most: u64,
    refused: bool,
}

/// As if its numbers had 16 bits.
impl Default for Refusing {
    fn default() -> Self {
        Refusing { store: Plain::new(), most: 1 << 16, refused: false }
    }
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

impl Numbering for Refusing {
    fn number(&mut self, key: u64, state: &[u64]) -> u32 {
        if self.store.len() == self.most && !self.store.contains(key, state) {
            self.refused = true;
            return 0;
        }
        self.store.number(key, state)
    }
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Breadth,
    Depth,
    Cycles,
    Graph,
}

const ORDERS: [Order; 4] = [Order::Breadth, Order::Depth, Order::Cycles, Order::Graph];

fn search(bound: u64, most: u64, order: Order, options: &mut Options<'_>) -> (Stop, Statistics) {
    let seams = Seams {
        system: &mut Judged(Typed::new(Numbers(bound))),
        representative: &mut Identity,
        ample: &mut All,
        visited: &mut Refusing { store: Plain::new(), most, refused: false },
    };
    let report = match order {
        Order::Breadth => breadth_first(seams, options),
        Order::Depth => depth_first(seams, options),
        Order::Cycles => liveness(seams, options),
        Order::Graph => return graph(seams, options, &mut |_, _| Ok(())),
    };
    (report.stop, report.statistics)
}

#[test]
fn nothing_is_concluded_from_a_store_that_refuses() {
    for order in ORDERS {
        for most in [0, 1, 2, 10, 98] {
            let (stop, _) = search(100, most, order, &mut Options::default());
            assert_eq!(stop, Stop::Incomplete("no room".into()), "{most} states, {order:?}");
        }
        let (stop, statistics) = search(100, 99, order, &mut Options::default());
        assert_eq!((stop, statistics.states), (Stop::Complete, 99), "{order:?}");
    }
}

#[test]
fn a_search_ends_by_its_time_or_by_its_token() {
    for order in ORDERS {
        let limits = Limits { time: Some(Duration::from_millis(30)), ..Limits::default() };
        let (stop, _) = search(u64::MAX / 4, u64::MAX, order, &mut Options { limits, ..Options::default() });
        assert_eq!(stop, Stop::Incomplete(Reason::Time(Duration::from_millis(30)).into()));
        let token = Interrupt::new();
        token.raise(Reason::Asked("SIGINT"));
        let mut options = Options { interrupt: Some(&token), ..Options::default() };
        let (stop, statistics) = search(u64::MAX / 4, u64::MAX, order, &mut options);
        assert_eq!(stop, Stop::Incomplete(Reason::Asked("SIGINT").into()));
        assert!(statistics.states < 1000, "at once: {} states", statistics.states);
    }
}
