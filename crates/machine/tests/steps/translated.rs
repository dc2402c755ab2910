//! Machine code gives the successors that the interpreter gives, in the same order: of all states (or many) of all models, of all programs of the corpus,
//! and of random programs, each thread together with the others and alone. `QUOTIENT_RANDOM_PROGRAMS` sets how many of these.

use std::collections::HashSet;

use quotient_engine::{Compile, Model};
use quotient_machine::Machine;
use quotient_reference::{generate, print};
use quotient_seams::{Entry, Scope, Successors, System, Worker};
use quotient_testing::setting;

/// States of a program that are looked at.
const MOST: usize = 1_500;

/// So often states of a shape are expanded before anything is translated, and more.
const PATIENCE: usize = 210;

type Moves = Vec<(Vec<u64>, Entry)>;

fn moves(machine: &mut Machine, state: &[u64], scope: Scope) -> Option<Moves> {
    let mut out = Successors::new();
    machine.successors(state, scope, &mut out).ok()?;
    Some((0..out.len()).map(|i| (out.state(i).to_vec(), out.entry(i))).collect())
}

/// The states that can be reached, at most [`MOST`].
fn states(machine: &mut Machine) -> Vec<Vec<u64>> {
    let mut out = Successors::new();
    if machine.initial(&mut out).is_err() {
        return Vec::new();
    }
    let (mut found, mut seen, mut next) = (Vec::new(), HashSet::new(), 0);
    loop {
        for state in (0..out.len()).map(|i| out.state(i)) {
            if !state.is_empty() && found.len() < MOST && seen.insert(state.to_vec()) {
                found.push(state.to_vec());
            }
        }
        let Some(state): Option<&Vec<u64>> = found.get(next) else { return found };
        next += 1;
        out.clear();
        if machine.successors(state, Scope::All, &mut out).is_err() {
            return found;
        }
    }
}

/// Compares; gives how many moves there were.
fn compare(name: &str, mut translated: Machine) -> usize {
    let mut interpreted = translated.another();
    interpreted.interpret_only();
    let states = states(&mut interpreted);
    let mut compared = 0;
    // Each state often enough, so that also what few states have is translated.
    for round in 0..2 + PATIENCE / states.len().max(1) {
        for state in &states {
            let wanted = moves(&mut interpreted, state, Scope::All);
            let got = moves(&mut translated, state, Scope::All);
            assert!(same(&got, &wanted), "{name}, round {round}: {state:x?}\n{got:x?}\n{wanted:x?}");
            compared += wanted.map_or(0, |moves| moves.len());
            for thread in 0..if round % 100 == 1 { 4 } else { 0 } {
                let scope = Scope::Thread(thread);
                let wanted = moves(&mut interpreted, state, scope);
                let got = moves(&mut translated, state, scope);
                assert!(same(&got, &wanted), "{name}: {state:x?} {thread}\n{got:x?}\n{wanted:x?}");
            }
        }
    }
    compared
}

fn same(a: &Option<Moves>, b: &Option<Moves>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|((s, e), (t, f))| {
                    s == t && e.violation == f.violation && e.has_state() == f.has_state()
                })
        }
        (a, b) => a.is_none() == b.is_none(),
    }
}

fn compare_model(name: &str, model: Result<Model, impl Sized>, raw: bool) -> usize {
    let Ok(model) = model else { return 0 };
    let Ok((machine, _)) = model.machine(Compile { raw, wide: false, all: false }) else { return 0 };
    compare(name, machine)
}

#[test]
fn models_step_alike() {
    let (mut programs, mut moves) = (0, 0);
    for path in quotient_testing::models().iter().filter(|path| path.extension().is_some_and(|e| e == "pml"))
    {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let name = path.display().to_string();
        for raw in [true, false] {
            let compared = compare_model(&name, Model::from_text(&name, &text), raw);
            programs += usize::from(compared > 0);
            moves += compared;
        }
    }
    println!("{programs} programs, {moves} moves");
    assert!(programs > 600 && moves > 250_000, "{programs} programs, {moves} moves");
}

#[test]
fn random_programs_step_alike() {
    let count = setting("QUOTIENT_RANDOM_PROGRAMS", 150);
    let first = setting("QUOTIENT_SEED", 1_910_000);
    for seed in first..first + count {
        let text = print(&generate(seed, 1 + (seed % 9) as usize));
        compare_model(&format!("{seed}\n{text}"), Model::from_text("random.pml", &text), seed % 2 == 0);
    }
}
