//! The papers' thread orders: dining philosophers against table 1 of Robby, Dwyer, Hatcliff and Iosif, and against a search
//! written here for this one model.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;

use quotient_engine::{Check, LoadOptions, Model, PartialOrder, SearchKind, Symmetry};

fn philosophers(n: usize) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/dining_philosophers.bir");
    let defines = vec![("N".to_owned(), n.to_string())];
    Model::load(&path, &LoadOptions { defines, ..LoadOptions::default() }).expect("loads")
}

/// States and transitions.
fn counts(model: &Model, symmetry: Symmetry, search: SearchKind) -> (u64, u64) {
    let check = Check {
        symmetry: Some(symmetry),
        search,
        partial_order: PartialOrder::Off,
        all: true,
        ..Check::default()
    };
    let outcome = model.check(&check).expect("checked");
    let kinds: Vec<&str> = outcome.violations.iter().map(|v| v.kind.as_str()).collect();
    assert_eq!(kinds, ["deadlock"], "{symmetry:?}");
    (outcome.statistics.states, outcome.statistics.transitions)
}

const PCS: Symmetry = Symmetry::ProgramCounter;
const BOTS: Symmetry = Symmetry::Bounded(None);

#[test]
fn philosophers_give_the_papers_counts() {
    // N; states and states seen again: NTS, PCS, unbounded BOTS; orbits.
    let table = [
        (3, [(36, 41), (19, 21), (14, 15)], 14),
        (5, [(393, 1024), (250, 659), (160, 410)], 81),
        (7, [(4287, 17394), (3337, 13683), (2207, 8937)], 615),
    ];
    for (n, paper, orbits) in table {
        let model = philosophers(n);
        for (symmetry, (states, seen)) in [Symmetry::Heap, PCS, BOTS].into_iter().zip(paper) {
            let (found, transitions) = counts(&model, symmetry, SearchKind::Usual);
            // A transition leads to a new state or to one seen again; the paper counts the end of MAIN among the latter.
            assert_eq!((found, transitions + 2 - found), (states, seen + 1), "N = {n}, {symmetry:?}");
        }
        assert_eq!(counts(&model, Symmetry::Exact, SearchKind::Usual).0, orbits, "N = {n}");
        // Objects in the original order of the threads: a fork's place tells who is beside it, and nothing is merged.
        assert_eq!(
            counts(&model, Symmetry::ProgramCounterOriginal, SearchKind::Usual).0,
            paper[0].0,
            "N = {n}"
        );
    }
}

/// Philosopher `i` has fork `i` on the left and `i + 1` on the right; their locations say everything.
type State = Vec<u8>;

fn held(state: &State, fork: usize) -> bool {
    state[fork] > 0 || state[(fork + state.len() - 1) % state.len()] == 2
}

fn successors(state: &State) -> Vec<State> {
    let n = state.len();
    let moves = (0..n).filter(|&i| match state[i] {
        0 => !held(state, i),
        1 => !held(state, (i + 1) % n),
        _ => true,
    });
    let step = |i: usize| {
        let mut next = state.clone();
        next[i] = (next[i] + 1) % 4;
        next
    };
    moves.map(step).collect()
}

/// Figure 3, for two philosophers.
fn bots(state: &State, a: usize, b: usize) -> Ordering {
    let n = state.len();
    let mut result = state[a].cmp(&state[b]);
    for side in 0..2 {
        let (x, y) = ((a + side) % n, (b + side) % n);
        if x != y {
            result = result.then(held(state, x).cmp(&held(state, y)));
        }
    }
    result
}

/// What is stored: threads in order with their forks, forks numbered as the threads name them.
fn key(state: &State, symmetry: Symmetry) -> Vec<(u8, usize, usize, bool)> {
    let n = state.len();
    let mut order: Vec<usize> = Vec::new();
    for i in 0..n {
        // Behind everything that is not greater: ties stay in the order of the philosophers.
        let greater = |j: &usize| match symmetry {
            BOTS => bots(state, *j, i) == Ordering::Greater,
            _ => state[*j] > state[i],
        };
        let place = order.iter().rposition(|j| !greater(j)).map_or(0, |p| p + 1);
        order.insert(place, i);
    }
    let mut number = HashMap::new();
    for &i in &order {
        for fork in [i, (i + 1) % n] {
            let next = number.len();
            number.entry(fork).or_insert(next);
        }
    }
    order.iter().map(|&i| (state[i], number[&i], number[&((i + 1) % n)], held(state, i))).collect()
}

/// States stored, with the one before MAIN has started the philosophers.
fn stored(n: usize, symmetry: Symmetry, depth_first: bool) -> u64 {
    let start = vec![0; n];
    let mut seen = HashSet::from([key(&start, symmetry)]);
    if depth_first {
        let mut stack = vec![successors(&start).into_iter()];
        while let Some(level) = stack.last_mut() {
            match level.next() {
                None => drop(stack.pop()),
                Some(state) if seen.insert(key(&state, symmetry)) => {
                    stack.push(successors(&state).into_iter());
                }
                Some(_) => {}
            }
        }
    } else {
        let mut queue = VecDeque::from([start]);
        while let Some(state) = queue.pop_front() {
            queue.extend(successors(&state).into_iter().filter(|s| seen.insert(key(s, symmetry))));
        }
    }
    seen.len() as u64 + 1
}

#[test]
fn philosophers_agree_with_a_search_of_their_own() {
    for n in 2..=7 {
        let model = philosophers(n);
        for symmetry in [PCS, BOTS] {
            for (depth_first, search) in [(true, SearchKind::DepthFirst), (false, SearchKind::BreadthFirst)] {
                let found = counts(&model, symmetry, search).0;
                assert_eq!(found, stored(n, symmetry, depth_first), "N = {n}, {symmetry:?}, {search:?}");
            }
        }
    }
}
