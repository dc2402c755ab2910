//! Random programs with random temporal formulas, against a tableau on the reference interpreter's states (which shares no
//! code with the engine), and against SPIN where it is installed. For programs with symmetry see `symmetric_formulas.rs`.
//!
//! `QUOTIENT_RANDOM_FORMULAS` sets how many programs (a slice by default), `QUOTIENT_SEED` the first seed,
//! `QUOTIENT_SPIN_FORMULAS` how many programs SPIN is asked about. A failure prints program and formula.

use crate::formulas::{branching, engine, engine_with, linear, model, parse, ways};
use quotient_engine::PropertyKeyword;
use quotient_engine::{PartialOrder, SearchKind, StoreKind, Symmetry};
use quotient_promela::ast;
use quotient_reference::{generate, interpret, print, temporal};
use quotient_testing::spin::Verifier;
use quotient_testing::{Random, setting};

/// Programs with more states than this are skipped: the tableau is slow.
const LIMIT: usize = 250;

/// Expressions about the globals of a model that can be true and false.
fn atoms(tree: &ast::Model) -> Vec<String> {
    let mut out = Vec::new();
    for unit in &tree.units {
        let ast::Unit::Declaration(declaration) = unit else { continue };
        if declaration.visibility == ast::Visibility::Hidden {
            continue;
        }
        use ast::TypeName::{Bit, Bool, Byte, Chan, Int, Short, Unsigned};
        for variable in &declaration.variables {
            let name = &variable.name.name;
            let index = if variable.length.is_some() { "[0]" } else { "" };
            match declaration.ty {
                Bit | Bool => out.push(format!("({name}{index} == 1)")),
                Byte | Int | Short | Unsigned => {
                    out.push(format!("({name}{index} == 0)"));
                    out.push(format!("({name}{index} > 1)"));
                }
                Chan if matches!(variable.init, Some(ast::Initialiser::Channel(_))) && index.is_empty() => {
                    out.push(format!("(len({name}) > 0)"));
                }
                _ => {}
            }
        }
    }
    out
}

#[test]
fn formulas_agree_with_the_tableau() {
    let programs = setting("QUOTIENT_RANDOM_FORMULAS", 250);
    let first = setting("QUOTIENT_SEED", 9_000_000);
    let (mut compared, mut violated) = (0, 0);
    for seed in first..first + programs {
        let tree = generate(seed, 1 + (seed % 6) as usize);
        let atoms = atoms(&tree);
        let usable = interpret(&tree, LIMIT).is_ok_and(|o| o.complete && o.faults.is_empty());
        if atoms.is_empty() || !usable {
            continue;
        }
        let text = print(&tree);
        let mut random = Random::new(seed);
        for round in 0..4 {
            // With `X` nothing is left out, whatever is asked for: two ways are enough then.
            let next = round == 2 || (round == 3 && seed % 4 == 0);
            let (keyword, formula) = if round < 3 {
                (PropertyKeyword::Ltl, linear(&mut random, &atoms, &mut 3, 4, next))
            } else {
                (PropertyKeyword::Ctl, branching(&mut random, &atoms, 2, next))
            };
            let tree_formula = parse(keyword, &formula);
            let Ok(expected) = temporal::holds(&tree, &tree_formula, LIMIT) else { continue };
            let reduced = if next {
                vec![(Symmetry::Exact, PartialOrder::On, SearchKind::BreadthFirst)]
            } else {
                ways()
            };
            let model = model(&text, keyword, &formula);
            for way in std::iter::once(None).chain(reduced.into_iter().map(Some)) {
                let found = engine(&model, way).map(|said| said.holds);
                assert_eq!(found, Ok(expected), "seed {seed}, {way:?}: {keyword:?} {formula}\n\n{text}");
            }
            // Every store, with one of the ways: the same states, too.
            let way = (!next).then(|| *random.pick(&ways()).expect("there are some"));
            let usual = engine(&model, way);
            for store in StoreKind::ALL {
                let found = engine_with(&model, way, store);
                assert_eq!(found, usual, "seed {seed}, {way:?}, {}: {formula}\n\n{text}", store.name());
            }
            compared += 1;
            violated += u64::from(!expected);
        }
    }
    println!("{compared} formulas compared, {violated} violated");
    assert!(compared * 2 > programs, "only {compared} formulas on {programs} programs could be compared");
    assert!(
        violated * 5 > compared && violated * 5 < compared * 4,
        "{violated} of {compared} violated: no force"
    );
}

/// SPIN's verdict on a model whose only claim is an `ltl` block; `None` when it has none.
fn spin(text: &str) -> Option<bool> {
    let said = Verifier::new(text, &[]).ok()?.run(&["-a", "-E"])?;
    said.contains("errors: ").then(|| said.contains("errors: 0"))
}

#[test]
#[ignore = "needs spin"]
fn formulas_agree_with_spin() {
    let programs = setting("QUOTIENT_SPIN_FORMULAS", 4);
    let mut seed = setting("QUOTIENT_SEED", 9_500_000);
    let (mut compared, mut violated) = (0, 0);
    while compared < programs {
        seed += 1;
        let tree = generate(seed, 1 + (seed % 8) as usize);
        let atoms = atoms(&tree);
        // An assertion that fails would end SPIN's search before the formula is decided.
        let usable = interpret(&tree, 20_000)
            .is_ok_and(|o| o.complete && o.faults.is_empty() && o.assertion_failures == 0 && o.states > 3);
        if atoms.is_empty() || !usable {
            continue;
        }
        let formula = linear(&mut Random::new(seed), &atoms, &mut 3, 4, false);
        let text = print(&tree);
        // SPIN counts the claim itself among the processes.
        if text.contains("_nr_pr") {
            continue;
        }
        let Some(expected) = spin(&format!("{text}\nltl f {{ {formula} }}\n")) else { continue };
        let way = Some((Symmetry::Exact, PartialOrder::On, SearchKind::BreadthFirst));
        let model = model(&text, PropertyKeyword::Ltl, &formula);
        let found = engine(&model, way).map(|said| said.holds);
        assert_eq!(found, Ok(expected), "seed {seed}: {formula}\n\n{text}");
        compared += 1;
        violated += u64::from(!expected);
    }
    println!("{compared} formulas compared with SPIN, {violated} violated");
}
