//! Dining philosophers as in `models/phils.pml`, for Stateright: all states, breadth-first, one thread.
//!
//! `cargo run --release --bin with-stateright -- PHILOSOPHERS`

use std::time::Instant;

use stateright::{Checker, Model, Property};

struct Table(usize);

/// Where everybody stands, and which forks are taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    at: Vec<u8>,
    taken: Vec<bool>,
}

impl Model for Table {
    type State = State;
    type Action = usize;

    fn init_states(&self) -> Vec<State> {
        vec![State { at: vec![0; self.0], taken: vec![false; self.0] }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<usize>) {
        let free = |fork: usize| !state.taken[fork % self.0];
        actions.extend((0..self.0).filter(|&who| match state.at[who] {
            0 => free(who),
            1 => free(who + 1),
            _ => true,
        }));
    }

    fn next_state(&self, state: &State, who: usize) -> Option<State> {
        let mut next = state.clone();
        let fork = if next.at[who] % 3 == 0 { who } else { (who + 1) % self.0 };
        next.taken[fork] = next.at[who] < 2;
        next.at[who] = (next.at[who] + 1) % 4;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Table>> {
        // One that is never decided, so that everything is explored.
        vec![Property::sometimes("never", |_, _| false)]
    }
}

fn main() {
    let philosophers = std::env::args().nth(1).map_or(5, |a| a.parse().expect("a number"));
    let start = Instant::now();
    let checker = Table(philosophers).checker().threads(1).spawn_bfs().join();
    println!("{} states, {:.2} s", checker.unique_state_count(), start.elapsed().as_secs_f64());
}
