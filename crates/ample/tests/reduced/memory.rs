//! Ample sets are a function of the state alone, whatever was looked at before and is remembered of it: of random programs, all states
//! are looked at again and again in random order, and each answer is compared with that of ample sets that have seen nothing else.
//! `QUOTIENT_RANDOM_PROGRAMS` sets how many programs.

use std::collections::HashSet;

use quotient_ample::{AmpleSets, Independence, Question};
use quotient_engine::Model;
use quotient_machine::Machine;
use quotient_reference::{generate, print};
use quotient_seams::{Ample, Passing, Proposals, Scope, Successors, System};
use quotient_testing::setting;

const MOST_STATES: usize = 300;

/// The states that can be reached, at most so many.
fn states(machine: &mut Machine) -> Vec<Vec<u64>> {
    let mut out = Successors::new();
    let mut found: Vec<Vec<u64>> = Vec::new();
    let mut seen = HashSet::new();
    let mut next = 0;
    if machine.initial(&mut out).is_err() {
        return found;
    }
    loop {
        for state in (0..out.len()).map(|i| out.state(i)) {
            if !state.is_empty() && found.len() < MOST_STATES && seen.insert(state.to_vec()) {
                found.push(state.to_vec());
            }
        }
        let Some(state) = found.get(next) else { return found };
        next += 1;
        out.clear();
        if machine.successors(&state.clone(), Scope::All, &mut out).is_err() {
            return found;
        }
    }
}

/// The answers for a state: what is proposed, and which threads may go on after each of its moves.
fn ask(machine: &mut Machine, ample: &mut AmpleSets, state: &[u64]) -> (Proposals, Vec<Passing>) {
    let mut out = Successors::new();
    let proposals = ample.proposals(machine, state);
    machine.successors(state, Scope::All, &mut out).expect("it was possible before");
    let passing: Vec<_> = (0..out.len()).map(|i| ample.passing(machine, state, out.state(i))).collect();
    let mut first = 0;
    while let Some((index, one)) = ample.next_passing(machine, state, &out, first) {
        assert_eq!(passing[index], one);
        assert!(passing[first..index].iter().all(|p| p.threads == 0));
        first = index + 1;
    }
    assert!(passing[first..].iter().all(|p| p.threads == 0));
    (proposals, passing)
}

#[test]
fn nothing_depends_on_what_is_remembered() {
    let programs = setting("QUOTIENT_RANDOM_PROGRAMS", 60);
    let first = setting("QUOTIENT_SEED", 9_500_000);
    let (mut asked, mut proposed, mut passed) = (0, 0, 0);
    for seed in first..first + programs {
        let text = print(&generate(seed, 1 + (seed % 9) as usize));
        let Ok(model) = Model::from_text("random.pml", &text) else { continue };
        let Ok((mut machine, _)) =
            model.machine(quotient_engine::Compile { raw: seed % 2 == 0, wide: false, all: false })
        else {
            continue;
        };
        let states = states(&mut machine);
        let question = match seed % 3 {
            0 => Question::LtlX { visible: Vec::new() },
            _ => Question::Safety,
        };
        let independence = Independence { renamed: seed % 4 == 1, ..Independence::default() };
        let Ok(mut ample) = AmpleSets::new(&machine, &question, independence) else { continue };
        let alone: Vec<_> = states
            .iter()
            .map(|state| {
                let mut fresh = AmpleSets::new(&machine, &question, independence).expect("as before");
                ask(&mut machine, &mut fresh, state)
            })
            .collect();
        let mut random = seed;
        for _ in 0..4 * states.len() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = (random >> 33) as usize % states.len();
            let answer = ask(&mut machine, &mut ample, &states[number]);
            assert_eq!(answer, alone[number], "seed {seed}, state {number}\n\n{text}");
            asked += 1;
            proposed += usize::from(answer.0 != Proposals::default());
            passed += usize::from(answer.1.iter().any(|p| p.threads != 0));
        }
    }
    println!("{asked} answers, {proposed} with proposals, {passed} with states to pass through");
    assert!(asked > 100 * programs as usize && 10 * proposed > asked && 50 * passed > asked);
}
