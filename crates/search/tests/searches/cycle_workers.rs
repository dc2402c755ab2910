//! Infinite runs of random graphs, with marks on states and on steps, by several workers who give way to each other at random, and by several processes: the answer of the definition.

use quotient_seams::{
    All, Exhausted, Identity, Omega, Scope, Successors, System, Violation, ViolationCode, Worker,
};
use quotient_search::{
    Cause, Options, Report, Seams, Stop, liveness, liveness_by_processes, liveness_by_workers,
};
use quotient_visited::{NumberedStates, NumberedTree, Plain};

use crate::processes::places;

/// A graph: for each node its marks, and its steps with theirs. Two marks are to be met.
#[derive(Clone)]
struct Graph {
    nodes: Vec<(u64, Vec<(usize, u64)>)>,
    random: u64,
    gives_way: bool,
}

/// Marks that do not exist are met from the start.
const OTHERS: u64 = !3;

fn next(random: &mut u64) -> u64 {
    *random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    *random >> 33
}

impl Graph {
    fn random(seed: u64) -> Graph {
        let random = &mut (seed ^ 0x1234_5678);
        let count = 2 + next(random) as usize % 60;
        let far = 1 + next(random) as usize % count;
        let rare = 2 + next(random) % 40;
        let marks = |random: &mut u64| match next(random) % rare {
            0 => 1,
            1 => 2,
            _ => 0,
        };
        let nodes = (0..count).map(|node| {
            let own = marks(random);
            let steps = (0..next(random) % 4).map(|_| {
                let to = (node + count + 1 + next(random) as usize % far - far / 2) % count;
                (to, marks(random))
            });
            (own, steps.collect())
        });
        Graph { nodes: nodes.collect(), random: seed, gives_way: false }
    }

    /// Does the cycle that was found exist, and meet both marks?
    fn has(&self, report: &Report) -> bool {
        let [found] = &report.found[..] else { return false };
        let start = found.path.choices.len() - found.cycle;
        let (mut node, mut begins, mut met) = (0, usize::MAX, 0);
        // The first choice is that of the initial state.
        for (at, choice) in found.path.choices.iter().enumerate().skip(1) {
            if at == start {
                begins = node;
            }
            let (to, marks) = self.nodes[node].1[*choice as usize];
            if at >= start {
                met |= marks | self.nodes[node].0;
            }
            node = to;
        }
        found.cause == Cause::Cycle && found.cycle > 0 && node == begins && met == 3
    }

    /// What can be reached from a node by at least one step.
    fn reached(&self, from: usize) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.len()];
        let mut waiting = vec![from];
        while let Some(node) = waiting.pop() {
            for (to, _) in &self.nodes[node].1 {
                if !std::mem::replace(&mut reached[*to], true) {
                    waiting.push(*to);
                }
            }
        }
        reached
    }

    /// Is there a reachable component with both marks? And the states and steps that can be reached.
    fn answer(&self) -> (bool, u64, u64) {
        let from: Vec<Vec<bool>> = (0..self.nodes.len()).map(|node| self.reached(node)).collect();
        let all: Vec<usize> = (0..self.nodes.len()).filter(|n| *n == 0 || from[0][*n]).collect();
        let is_full = |node: &&usize| {
            let same = |other: usize| from[**node][other] && from[other][**node];
            let members = all.iter().filter(|other| same(**other)).map(|other| &self.nodes[*other]);
            let met = members.fold(0, |met, (own, steps)| {
                steps.iter().filter(|(to, _)| same(*to)).fold(met | own, |met, (_, marks)| met | marks)
            });
            met == 3
        };
        let steps = all.iter().map(|node| self.nodes[*node].1.len() as u64).sum();
        (all.iter().any(|node| is_full(&node)), all.len() as u64, steps)
    }
}

impl System for Graph {
    fn initial(&mut self, out: &mut Successors) -> Result<(), Exhausted> {
        out.push(&[0]);
        Ok(())
    }

    fn successors(&mut self, state: &[u64], _: Scope, out: &mut Successors) -> Result<(), Exhausted> {
        if self.gives_way && next(&mut self.random).is_multiple_of(3) {
            std::thread::yield_now();
        }
        self.nodes[state[0] as usize].1.iter().for_each(|(to, _)| out.push(&[*to as u64]));
        Ok(())
    }

    fn is_valid_end(&mut self, _: &[u64]) -> bool {
        true
    }

    fn violation(&self, _: ViolationCode) -> Violation {
        unreachable!("nothing goes wrong")
    }
}

impl Omega for Graph {
    type Marks = u64;

    fn state_marks(&mut self, state: &[u64]) -> u64 {
        OTHERS | self.nodes[state[0] as usize].0
    }

    fn step_marks(&mut self, state: &[u64], _: &Successors, steps: &mut Vec<u64>) {
        steps.clear();
        steps.extend(self.nodes[state[0] as usize].1.iter().map(|(_, marks)| marks));
    }
}

impl Worker for Graph {
    fn another(&self) -> Graph {
        Graph { random: self.random.wrapping_mul(3) + 1, gives_way: true, ..self.clone() }
    }
}

/// `QUOTIENT_RANDOM_GRAPHS` sets how many.
#[test]
fn random_graphs() {
    let count = std::env::var("QUOTIENT_RANDOM_GRAPHS").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000);
    let mut violated = 0;
    for seed in 0..count {
        let mut graph = Graph::random(seed);
        let (full, states, steps) = graph.answer();
        violated += u64::from(full);
        let (representative, ample) = (&mut Identity, &mut All);
        let visited = &mut Plain::new();
        let seams = Seams { system: &mut graph, representative, ample, visited };
        assert_eq!(liveness(seams, &mut Options::default()).stop == Stop::Violation, full, "seed {seed}");
        graph.gives_way = true;
        for workers in [1, 2, 4] {
            let (representative, ample) = (&mut Identity, &mut All);
            let visited = &mut NumberedStates::new();
            let seams = Seams { system: &mut graph, representative, ample, visited };
            let report = liveness_by_workers(seams, workers, &mut Options::default());
            let stop = if full { Stop::Violation } else { Stop::Complete };
            assert_eq!(report.stop, stop, "seed {seed}, {workers} workers");
            if !full {
                let counted = (report.statistics.states, report.statistics.transitions);
                assert_eq!(counted, (states, steps), "seed {seed}, {workers} workers");
            }
        }
    }
    assert!(6 * violated > count && 6 * violated < 5 * count, "{violated} of {count}");
}

/// The reports of so many processes.
fn by_processes(graph: &Graph, count: usize, alone: u64) -> Vec<Report> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = places(count)
            .into_iter()
            .map(|mut place| {
                scope.spawn(move || {
                    let (mut graph, visited) = (graph.clone(), &mut NumberedTree::new());
                    let (representative, ample) = (&mut Identity, &mut All);
                    let seams = Seams { system: &mut graph, representative, ample, visited };
                    let one = |system: &mut Graph,
                               representative: &mut Identity,
                               ample: &mut All,
                               options: &mut Options<'_>| {
                        let visited = &mut Plain::new();
                        liveness(Seams { system, representative, ample, visited }, options)
                    };
                    liveness_by_processes(seams, (alone, &mut place), &mut Options::default(), one)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// `QUOTIENT_RANDOM_GRAPHS` sets how many.
#[test]
fn random_graphs_by_processes() {
    let count = std::env::var("QUOTIENT_RANDOM_GRAPHS").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    let mut violated = 0;
    for seed in 0..count {
        let graph = Graph::random(seed);
        let (full, states, steps) = graph.answer();
        violated += u64::from(full);
        for (processes, alone) in [(1, 0), (2, 0), (3, 8)] {
            for (me, report) in by_processes(&graph, processes, alone).iter().enumerate() {
                let how = format!("seed {seed}, process {me} of {processes}, alone until {alone}");
                let stop = if full { Stop::Violation } else { Stop::Complete };
                assert_eq!(report.stop, stop, "{how}");
                if full {
                    assert!(graph.has(report), "{how}: {:?}", report.found);
                } else {
                    let counted = (report.statistics.states, report.statistics.transitions);
                    assert_eq!(counted, (states, steps), "{how}");
                }
            }
        }
    }
    assert!(6 * violated > count && 6 * violated < 5 * count, "{violated} of {count}");
}
