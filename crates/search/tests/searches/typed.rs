//! A user's own type, through every search and store, against closed forms.

use quotient_seams::{Model, Typed, Visited, Walk};
use quotient_search::{Cause, Options, Report, Seams, Stop, breadth_first, depth_first};
use quotient_visited::{Plain, Tree};

/// `n` counters that each count to `most`, one step at a time.
struct Counters {
    n: usize,
    most: u8,
    forbidden: Option<Vec<u8>>,
}

impl Model for Counters {
    type State = Vec<u8>;

    fn initial(&self) -> Vec<Vec<u8>> {
        vec![vec![0; self.n]]
    }

    fn next(&self, state: &Vec<u8>) -> Vec<Vec<u8>> {
        (0..self.n)
            .filter(|i| state[*i] < self.most)
            .map(|i| {
                let mut next = state.clone();
                next[i] += 1;
                next
            })
            .collect()
    }

    fn check(&self, state: &Vec<u8>) -> Result<(), String> {
        if self.forbidden.as_ref() == Some(state) { Err(format!("{state:?} is forbidden")) } else { Ok(()) }
    }

    fn is_valid_end(&self, _: &Vec<u8>) -> bool {
        true
    }
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Breadth,
    Depth,
}

fn run<V: Visited>(model: Counters, mut visited: V, order: Order, mut options: Options<'_>) -> Report {
    let seams = Seams {
        system: &mut Typed::new(model),
        representative: &mut quotient_seams::Identity,
        ample: &mut quotient_seams::All,
        visited: &mut visited,
    };
    match order {
        Order::Breadth => breadth_first(seams, &mut options),
        Order::Depth => depth_first(seams, &mut options),
    }
}

#[test]
fn counts_are_the_closed_form() {
    for (n, most) in [(1, 9u8), (2, 5), (3, 6), (4, 4)] {
        let base = u64::from(most) + 1;
        let states = base.pow(n as u32);
        let transitions = n as u64 * u64::from(most) * base.pow(n as u32 - 1);
        for order in [Order::Breadth, Order::Depth] {
            let counters = || Counters { n, most, forbidden: None };
            for report in [
                run(counters(), Plain::new(), order, Options::default()),
                run(counters(), Tree::new(), order, Options::default()),
            ] {
                assert_eq!(report.stop, Stop::Complete);
                let s = report.statistics;
                assert_eq!((s.states, s.transitions), (states, transitions), "{n} counters to {most}");
                assert_eq!(s.depth, n as u64 * u64::from(most));
            }
        }
    }
}

#[test]
fn paths_lead_where_they_say() {
    let forbidden = vec![2, 0, 3];
    for order in [Order::Breadth, Order::Depth] {
        let counters = || Counters { n: 3, most: 4, forbidden: Some(forbidden.clone()) };
        let report = run(counters(), Tree::new(), order, Options::default());
        let found = &report.found[0];
        assert!(matches!(found.cause, Cause::Violation(_)));
        assert_eq!(report.stop, Stop::Violation);
        // Follow the choices by hand.
        let mut system = Typed::new(counters());
        let mut walk = Walk::start(&mut system, found.path.choices[0]).expect("it serialises");
        for choice in &found.path.choices[1..] {
            walk.look(&mut system).expect("it serialises");
            walk.take(*choice as usize).expect("there is such a step");
        }
        assert_eq!(system.unpack(walk.state()), forbidden);
        assert_eq!(found.path.choices.len(), 6, "every path to it has five steps");
    }
}

#[test]
fn going_on_after_a_violation_covers_everything() {
    for order in [Order::Breadth, Order::Depth] {
        let report = run(
            Counters { n: 2, most: 3, forbidden: Some(vec![1, 1]) },
            Plain::new(),
            order,
            Options { all: true, ..Options::default() },
        );
        assert_eq!(report.stop, Stop::Complete);
        assert_eq!(report.statistics.states, 16);
        // It is entered from two sides.
        assert_eq!(report.found[0].count, 2);
    }
}
