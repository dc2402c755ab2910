//! Ample sets for temporal questions: the reduced graph of random programs against the full one.
//!
//! Both graphs are built here, state by state. For CTL*-X they must be equivalent under divergence-sensitive stuttering
//! bisimulation, computed by splitting blocks; for LTL-X they must show the same sequences of different letters, up to a
//! length. A letter is the value of a few global variables. `QUOTIENT_RANDOM_PROGRAMS` sets how many programs.

use std::collections::{BTreeSet, HashMap};

use quotient_ample::{AmpleSets, Independence, Question};
use quotient_engine::Model;
use quotient_machine::Machine;
use quotient_program::{Expr, Place, Projection, Root, Type, VariableId};
use quotient_reference::{generate, print};
use quotient_seams::{All, Ample, Scope, Successors, System};
use quotient_testing::setting;

const MOST_STATES: usize = 400;
/// Letters of a sequence.
const LETTERS: usize = 4;

struct Graph {
    edges: Vec<Vec<usize>>,
    letters: Vec<String>,
}

/// The first scalars of up to three globals, as expressions, with their names.
fn propositions(machine: &Machine, seed: u64) -> (Vec<Expr>, Vec<String>) {
    let globals = machine.program().globals.iter().enumerate().filter(|(_, g)| !g.scratch);
    let mut found = Vec::new();
    for (index, global) in globals {
        let root = Root::Global(VariableId(index as u32));
        let (path, ty, name) = match &global.ty {
            Type::Int(_) => (Vec::new(), global.ty.clone(), global.name.clone()),
            Type::Array(element, _) if matches!(**element, Type::Int(_)) => {
                (vec![Projection::Index(Expr::Const(0))], (**element).clone(), format!("{}[0]", global.name))
            }
            _ => continue,
        };
        found.push((Expr::Load(Place { root, path, ty, span: global.span }), name));
    }
    let keep = |i: &usize| (seed >> (i % 16)) & 1 == 1;
    let kept = found.into_iter().enumerate().filter(|(i, _)| keep(i)).map(|(_, e)| e).take(3);
    kept.unzip()
}

/// The graph that a choice of moves gives; `None` when it is too large or something goes wrong in it.
fn graph<A: Ample<Machine>>(machine: &mut Machine, ample: &mut A, names: &[String]) -> Option<Graph> {
    let mut out = Successors::new();
    machine.initial(&mut out).ok()?;
    if out.len() != 1 || !out.entry(0).has_state() {
        return None;
    }
    let mut states = vec![out.state(0).to_vec()];
    let mut numbers = HashMap::from([(states[0].clone(), 0usize)]);
    let mut edges: Vec<Vec<usize>> = Vec::new();
    while edges.len() < states.len() {
        let state = states[edges.len()].clone();
        let proposals = ample.proposals(machine, &state);
        for number in 0.. {
            let scope = proposals.get(number);
            out.clear();
            machine.successors(&state, scope, &mut out).ok()?;
            let fine = (0..out.len()).all(|i| out.entry(i).has_state());
            if scope == Scope::All || fine && (1..=ample.most_moves()).contains(&out.len()) {
                break;
            }
        }
        let mut targets = Vec::new();
        for index in 0..out.len() {
            if !out.entry(index).has_state() {
                return None;
            }
            let next = out.state(index).to_vec();
            let fresh = states.len();
            let number = *numbers.entry(next.clone()).or_insert(fresh);
            if number == fresh {
                states.push(next);
            }
            targets.push(number);
        }
        // What cannot move stays for ever.
        if targets.is_empty() {
            targets.push(edges.len());
        }
        edges.push(targets);
        if states.len() > MOST_STATES {
            return None;
        }
    }
    let letter = |state: &Vec<u64>| {
        let values = machine
            .values(state, &quotient_machine::ObjectNames::default())
            .into_iter()
            .filter(|v| names.contains(&v.name));
        values.map(|v| format!("{}={};", v.name, v.text)).collect::<String>()
    };
    let letters = states.iter().map(letter).collect();
    Some(Graph { edges, letters })
}

/// The states reachable inside a block, the blocks that can be entered from there, and whether one can stay for ever.
fn signature(graph: &Graph, block: &[usize], from: usize) -> (BTreeSet<usize>, bool) {
    let (mut inside, mut waiting, mut exits) = (BTreeSet::from([from]), vec![from], BTreeSet::new());
    while let Some(state) = waiting.pop() {
        for &next in &graph.edges[state] {
            if block[next] != block[from] {
                exits.insert(block[next]);
            } else if inside.insert(next) {
                waiting.push(next);
            }
        }
    }
    // Take away what has no successor left inside: a rest means a cycle.
    let mut rest = inside;
    loop {
        let stays: BTreeSet<usize> =
            rest.iter().copied().filter(|s| graph.edges[*s].iter().any(|n| rest.contains(n))).collect();
        if stays.len() == rest.len() {
            return (exits, !rest.is_empty());
        }
        rest = stays;
    }
}

/// Are the first states of two graphs equivalent under divergence-sensitive stuttering bisimulation?
fn stuttering_bisimilar(a: &Graph, b: &Graph) -> bool {
    let shift = a.edges.len();
    let mut edges = a.edges.clone();
    edges.extend(b.edges.iter().map(|targets| targets.iter().map(|t| t + shift).collect()));
    let letters: Vec<String> = a.letters.iter().chain(&b.letters).cloned().collect();
    let both = Graph { edges, letters };
    let mut names: HashMap<String, usize> = HashMap::new();
    let mut block: Vec<usize> = Vec::new();
    for letter in &both.letters {
        let fresh = names.len();
        block.push(*names.entry(letter.clone()).or_insert(fresh));
    }
    let mut count = names.len();
    loop {
        let mut names: HashMap<(usize, BTreeSet<usize>, bool), usize> = HashMap::new();
        let mut next = Vec::new();
        for state in 0..block.len() {
            let (exits, stays) = signature(&both, &block, state);
            let fresh = names.len();
            next.push(*names.entry((block[state], exits, stays)).or_insert(fresh));
        }
        block = next;
        if names.len() == count {
            return block[0] == block[shift];
        }
        count = names.len();
    }
}

/// Sequences of different letters, from the first state.
fn sequences(graph: &Graph) -> BTreeSet<Vec<String>> {
    let mut seen: BTreeSet<(usize, Vec<String>)> = BTreeSet::new();
    let mut waiting = vec![(0, vec![graph.letters[0].clone()])];
    while let Some((state, word)) = waiting.pop() {
        if !seen.insert((state, word.clone())) {
            continue;
        }
        for &next in &graph.edges[state] {
            let mut word = word.clone();
            if word.last() != Some(&graph.letters[next]) {
                if word.len() == LETTERS {
                    continue;
                }
                word.push(graph.letters[next].clone());
            }
            waiting.push((next, word));
        }
    }
    seen.into_iter().map(|(_, word)| word).collect()
}

#[test]
fn temporal_questions_keep_their_answers() {
    let programs = setting("QUOTIENT_RANDOM_PROGRAMS", 150);
    let first = setting("QUOTIENT_SEED", 9_000_000);
    let (mut compared, mut smaller) = (0, [0, 0]);
    for seed in first..first + programs {
        let tree = generate(seed, 1 + (seed % 8) as usize);
        let text = print(&tree);
        let Ok(model) = Model::from_text("random.pml", &text) else { continue };
        let Ok((mut machine, _)) =
            model.machine(quotient_engine::Compile { raw: seed % 2 == 0, wide: false, all: false })
        else {
            continue;
        };
        let (visible, names) = propositions(&machine, seed / 3);
        let Some(full) = graph(&mut machine, &mut All, &names) else { continue };
        let questions =
            [Question::CtlStarX { visible: visible.clone() }, Question::LtlX { visible: visible.clone() }];
        for (index, question) in questions.iter().enumerate() {
            let Ok(mut ample) = AmpleSets::new(&machine, question, Independence::default()) else { continue };
            let reduced = graph(&mut machine, &mut ample, &names).expect("it is part of the full graph");
            compared += 1;
            smaller[index] += usize::from(reduced.edges.len() < full.edges.len());
            let (same, what) = if index == 0 {
                (stuttering_bisimilar(&full, &reduced), "not stuttering bisimilar")
            } else {
                (sequences(&full) == sequences(&reduced), "other sequences")
            };
            assert!(same, "seed {seed}: {what} over {names:?}\n\n{text}");
        }
    }
    println!("{compared} graphs compared, smaller: {smaller:?}");
    assert!(compared as u64 > programs / 2, "only {compared} comparisons");
    assert!(smaller.iter().all(|s| *s > 0), "nothing was reduced: {smaller:?}");
}
