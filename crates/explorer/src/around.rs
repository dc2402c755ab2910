//! What else can happen: random walks, the nearest run that passes, and the states around a place.
//!
//! All of it on the program as written, and each within a bound: these answer a person who waits.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{Hash, Hasher};

use quotient_engine::Model;
use quotient_explain::{Course, Ending, Move, offered};
use quotient_machine::Machine;
use quotient_program::Operation;
use quotient_seams::{Interrupt, Scope, Successors, System, ViolationCode};

use crate::api::{self, StateKind};
use crate::class::Classes;
use crate::next::{goes_wrong, written};
use crate::reductions::Chosen;
use crate::same;

/// States that are looked at after one other choice before it counts as unknown.
const MOST_STATES: usize = 50_000;

/// States of a drawing: of a whole graph, and around a place.
const WHOLE: usize = 300;
const RING: usize = 60;

/// Goes on at random from the end of a run.
pub(crate) fn walk(machine: &mut Machine, course: &mut Course, steps: usize, seed: u64) {
    let mut random = seed;
    for _ in 0..steps {
        if course.ending != Ending::Open {
            return;
        }
        let (state, _) = course.state(machine, course.len());
        let ways = offered(machine, &state);
        if ways.is_empty() {
            return;
        }
        // SplitMix64.
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let choice = ((z ^ (z >> 31)) % ways.len() as u64) as usize;
        if let Some(way) = ways.into_iter().nth(choice) {
            course.take(machine, way);
        }
    }
}

/// What a run must not come to, to pass.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Bad {
    Violation(ViolationCode),
    Deadlock,
}

/// The last step of a run with another choice after which `bad` cannot be reached: its number, and that choice. None where none is found
/// within the bounds.
pub(crate) fn passing(
    machine: &mut Machine,
    course: &Course,
    bad: Bad,
    interrupt: &Interrupt,
) -> Option<(usize, Move)> {
    // States from which it cannot be reached; looked at again for no other choice.
    let mut safe = HashSet::new();
    for step in (0..course.len()).rev() {
        let (state, _) = course.state(machine, step);
        for way in offered(machine, &state) {
            let Some(next) = way.record.state.clone() else { continue };
            if way.way != course.moves[step] && cannot_reach(machine, next, bad, &mut safe, interrupt) {
                return Some((step + 1, way.way));
            }
            if interrupt.reason().is_some() {
                return None;
            }
        }
    }
    None
}

/// Is `bad` reached from no state that `from` leads to? False also where that is not known.
fn cannot_reach(
    machine: &mut Machine,
    from: Vec<u64>,
    bad: Bad,
    safe: &mut HashSet<Vec<u64>>,
    interrupt: &Interrupt,
) -> bool {
    let mut seen = HashSet::from([from.clone()]);
    let mut open = vec![from];
    let mut out = Successors::new();
    while let Some(state) = open.pop() {
        if safe.contains(&state) {
            continue;
        }
        if seen.len() > MOST_STATES || interrupt.reason().is_some() {
            return false;
        }
        out.clear();
        if machine.successors(&state, Scope::All, &mut out).is_err() {
            return false;
        }
        if out.is_empty() && bad == Bad::Deadlock && !machine.is_valid_end(&state) {
            return false;
        }
        for index in 0..out.len() {
            let entry = out.entry(index);
            if entry.violation.is_some_and(|code| Bad::Violation(code) == bad) {
                return false;
            }
            if entry.has_state() && !seen.contains(out.state(index)) {
                seen.insert(out.state(index).to_vec());
                open.push(out.state(index).to_vec());
            }
        }
    }
    safe.extend(seen);
    true
}

/// The states around a place: all of a small model, or the nearest ones.
pub(crate) fn graph(
    machine: &mut Machine,
    course: &Course,
    at: usize,
    (chosen, classes, model): (&mut Chosen, &mut Classes, &Model),
    interrupt: &Interrupt,
) -> api::Graph {
    // The state in which a run goes wrong may be one within a step: the one before it is drawn.
    let at = if goes_wrong(course, at) { at.saturating_sub(1) } else { at };
    let (here, _) = course.state(machine, at);
    let (start, _) = course.state(machine, 0);
    let whole = Graph::explore(machine, start, WHOLE, chosen, interrupt);
    let (graph, is_whole) = match whole {
        graph if graph.complete => (graph, true),
        _ => (Graph::explore(machine, here.clone(), RING, chosen, interrupt), false),
    };
    // The first step after which the run is in a state.
    let mut on_run: HashMap<Vec<u64>, usize> = HashMap::new();
    if course.len() <= same::LONGEST_RUN {
        for (step, state) in same::states(machine, course, course.len()).into_iter().enumerate() {
            on_run.entry(state).or_insert(step);
        }
    }
    on_run.insert(here.clone(), at);
    let mut stands: Vec<Vec<u64>> = graph.states.iter().map(|n| classes.stands(machine, &n.state)).collect();
    // Where less can be renamed because processes end in order, states are alike as a check takes them, without the ends.
    let found_by = graph.states.iter().map(|node| node.before.map(|(id, way)| (id, way, node.by_an_end)));
    let ends = if is_whole { classes.without_ends(model) } else { None };
    let alike = ends.and_then(|ends| ends.stand(found_by));
    let count = |stands: &[Vec<u64>]| stands.iter().collect::<HashSet<_>>().len();
    let alike = alike.filter(|alike| count(alike) < count(&stands));
    let without_ends = alike.is_some();
    stands = alike.unwrap_or(stands);
    // Classes are numbered as they are met.
    let mut numbers: HashMap<&[u64], usize> = HashMap::new();
    let nodes = graph.states.iter().enumerate().map(|(id, node)| {
        let number = numbers.len();
        let class = *numbers.entry(&stands[id]).or_insert(number);
        api::GraphNode {
            id,
            key: key(&node.state),
            class,
            layer: node.layer,
            here: node.state == here,
            on_run: on_run.get(&node.state).copied(),
            moves: graph.moves(id).into_iter().map(written).collect(),
            kind: node.kind,
            expanded: node.expanded,
        }
    });
    let nodes = nodes.collect();
    api::Graph {
        nodes,
        edges: graph.edges,
        whole: is_whole,
        at: if is_whole { 0 } else { at },
        reduced: None,
        without_ends,
    }
}

/// Names a state in every answer.
fn key(state: &[u64]) -> String {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

struct Node {
    state: Vec<u64>,
    /// The state that it was found from, and by which step.
    before: Option<(usize, Move)>,
    /// That step is the end of a process.
    by_an_end: bool,
    layer: usize,
    kind: StateKind,
    expanded: bool,
}

struct Graph {
    states: Vec<Node>,
    edges: Vec<api::GraphEdge>,
    complete: bool,
}

impl Graph {
    /// The steps by which a state was found.
    fn moves(&self, id: usize) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut at = self.states[id].before;
        while let Some((before, way)) = at {
            moves.push(way);
            at = self.states[before].before;
        }
        moves.reverse();
        moves
    }

    fn explore(
        machine: &mut Machine,
        from: Vec<u64>,
        most: usize,
        chosen: &mut Chosen,
        interrupt: &Interrupt,
    ) -> Graph {
        let mut graph = Graph { states: Vec::new(), edges: Vec::new(), complete: true };
        let mut numbers: HashMap<Vec<u64>, usize> = HashMap::from([(from.clone(), 0)]);
        let kind = StateKind::Open;
        graph.states.push(Node {
            state: from,
            before: None,
            by_an_end: false,
            layer: 0,
            kind,
            expanded: false,
        });
        let mut open = VecDeque::from([0]);
        while let Some(id) = open.pop_front() {
            if graph.states.len() >= most || interrupt.reason().is_some() {
                graph.complete = false;
                return graph;
            }
            let (state, layer) = (graph.states[id].state.clone(), graph.states[id].layer);
            let explored = chosen.explored(machine, &state);
            let ways = offered(machine, &state);
            let node = &mut graph.states[id];
            node.expanded = true;
            if ways.is_empty() {
                let valid = machine.is_valid_end(&state);
                node.kind = if valid { StateKind::End } else { StateKind::Deadlock };
            }
            for way in ways {
                if way.record.violation.is_some() {
                    graph.states[id].kind = StateKind::Violation;
                }
                let first = way.record.steps().first().map(|s| s.transformation);
                let first = first.and_then(|t| machine.transformation(t)).map(|(_, _, t)| t);
                let ends = first.is_some_and(|t| matches!(t.operation, Operation::Exit));
                let text = first.map_or("", |t| &t.text).to_owned();
                let Some(next) = way.record.state else { continue };
                let number = numbers.len();
                let to = *numbers.entry(next.clone()).or_insert(number);
                if to == number {
                    let (layer, before, kind) = (layer + 1, Some((id, way.way)), StateKind::Open);
                    let by_an_end = ends;
                    graph.states.push(Node { state: next, before, by_an_end, layer, kind, expanded: false });
                    open.push_back(to);
                }
                let pid = way.way.thread;
                let left_out = !explored.includes(pid);
                graph.edges.push(api::GraphEdge { from: id, to, pid, text, left_out, ends });
            }
        }
        graph
    }
}
