//! The smallest programs on which symmetry as published loses an outcome, because a pruned subtree
//! takes with it what it would have reported to states above: nothing is lost here.

use std::collections::BTreeSet;

use quotient_stateless::{Algorithm, Bound, Configuration, Ending, Outcome, Symmetry, Verdict, explore};
use quotient_thread_programs::residual::UpTo;
use quotient_thread_programs::{Instruction, Machine, Program, Value, brute_force};

const X: u8 = 0;
const Y: u8 = 1;

fn load(variable: u8) -> Instruction {
    Instruction::Load { register: 0, variable }
}

fn store(variable: u8, value: i64) -> Instruction {
    Instruction::Store { variable, value: Value::Constant(value) }
}

/// `variable = r + 1`
fn store_next(variable: u8) -> Instruction {
    Instruction::Store { variable, value: Value::Sum(0, 1) }
}

fn fetch_add(variable: u8) -> Instruction {
    Instruction::FetchAdd { register: 0, variable, amount: 1 }
}

/// Loses with source sets and residual-code symmetry.
fn first() -> Program {
    Program::new(vec![vec![load(X), store(X, 1)], vec![store(X, 1)]], 1)
}

/// Loses also with Flanagan–Godefroid.
fn second() -> Program {
    Program::new(vec![vec![load(Y), store(X, 2), store_next(Y)], vec![store(X, 2), store_next(Y)]], 2)
}

/// Identical threads beside another one; loses with Flanagan–Godefroid, highest thread first.
fn third() -> Program {
    let alike = vec![store(X, 1), fetch_add(Y), fetch_add(X)];
    Program::new(vec![alike.clone(), alike, vec![store(X, 1)]], 2)
}

type Outcomes = BTreeSet<(Ending, u64)>;

fn explored(
    program: &Program,
    algorithm: Algorithm,
    symmetry: Symmetry,
    images: bool,
) -> (Outcomes, Verdict) {
    let mut machine = Machine::new(program.clone());
    let configuration =
        Configuration { algorithm, symmetry, images, stop_at_first: false, ..Configuration::default() };
    let mut found = BTreeSet::new();
    let mut up_to = UpTo { machine: &mut machine, symmetry };
    let report = explore(&mut up_to, &configuration, &mut |outcome: Outcome| {
        found.insert((outcome.ending, outcome.hash));
    });
    (found, report.unwrap().verdict)
}

fn expected(program: &Program, symmetry: Symmetry) -> Outcomes {
    brute_force::outcomes(&Machine::new(program.clone()), symmetry, 10_000).unwrap()
}

#[test]
fn nothing_is_lost() {
    for program in [first(), second(), third()] {
        for symmetry in [Symmetry::Costarted, Symmetry::Dynamic] {
            for algorithm in [Algorithm::SourceSets, Algorithm::Optimal] {
                let (found, verdict) = explored(&program, algorithm, symmetry, true);
                assert_eq!(found, expected(&program, symmetry), "{algorithm:?}, {symmetry:?}\n{program}");
                assert_eq!(verdict, Verdict::Holds);
            }
        }
    }
}

/// The published pruning does lose outcomes, and admits that it may.
#[test]
fn without_images_something_is() {
    let all = expected(&first(), Symmetry::Dynamic);
    for algorithm in [Algorithm::SourceSets, Algorithm::Optimal] {
        let (found, verdict) = explored(&first(), algorithm, Symmetry::Dynamic, false);
        assert!(found.is_subset(&all) && found.len() < all.len(), "{algorithm:?}");
        assert_eq!(verdict, Verdict::Undecided(Bound::LossySymmetry));
    }
    let all = expected(&second(), Symmetry::Dynamic);
    let (found, _) = explored(&second(), Algorithm::FlanaganGodefroid, Symmetry::Dynamic, false);
    assert!(found.is_subset(&all) && found.len() < all.len());
}
