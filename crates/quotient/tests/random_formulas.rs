//! Random programs with random temporal formulas, against a tableau on the reference interpreter's states (which shares no
//! code with the engine), and against SPIN where it is installed.
//!
//! `QUOTIENT_RANDOM_FORMULAS` sets how many programs (a slice by default), `QUOTIENT_SEED` the first seed,
//! `QUOTIENT_SPIN_FORMULAS` how many programs SPIN is asked about. A failure prints program and formula.

use std::process::Command;

use quotient::promela::PropertyKeyword;
use quotient::source::SourceMap;
use quotient::{Check, Model, Question, Verdict};
use quotient_promela::ast;
use quotient_reference::random::Random;
use quotient_reference::{generate, interpret, print, temporal};

/// Programs with more states than this are skipped: the tableau is slow.
const LIMIT: usize = 250;

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

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

/// A formula of linear time with at most `temporal` temporal operators.
fn linear(random: &mut Random, atoms: &[String], temporal: &mut usize, depth: usize, next: bool) -> String {
    let atom = |random: &mut Random| random.pick(atoms).cloned().unwrap_or_else(|| "true".into());
    if depth == 0 || random.chance(15) {
        return atom(random);
    }
    let part = |random: &mut Random, temporal: &mut usize| linear(random, atoms, temporal, depth - 1, next);
    if *temporal > 0 && random.chance(65) {
        *temporal -= 1;
        return match random.below(if next { 7 } else { 6 }) {
            0 | 1 => format!("[] ({})", part(random, temporal)),
            2 | 3 => format!("<> ({})", part(random, temporal)),
            4 => format!("(({}) U ({}))", part(random, temporal), part(random, temporal)),
            5 => {
                let op = if random.chance(50) { "V" } else { "W" };
                format!("(({}) {op} ({}))", part(random, temporal), part(random, temporal))
            }
            _ => format!("X ({})", part(random, temporal)),
        };
    }
    match random.below(4) {
        0 => format!("!({})", part(random, temporal)),
        1 => format!("(({}) && ({}))", part(random, temporal), part(random, temporal)),
        2 => format!("(({}) || ({}))", part(random, temporal), part(random, temporal)),
        _ => format!("(({}) -> ({}))", part(random, temporal), part(random, temporal)),
    }
}

/// A state formula of CTL*.
fn branching(random: &mut Random, atoms: &[String], depth: usize) -> String {
    if depth == 0 {
        return random.pick(atoms).cloned().unwrap_or_else(|| "true".into());
    }
    let part = |random: &mut Random| branching(random, atoms, depth - 1);
    match random.below(10) {
        0 => format!("!({})", part(random)),
        1 => format!("(({}) && ({}))", part(random), part(random)),
        2 => format!("(({}) || ({}))", part(random), part(random)),
        3 => {
            // A path formula over state formulas.
            let inner: Vec<String> = (0..2).map(|_| part(random)).collect();
            let quantifier = if random.chance(50) { "A" } else { "E" };
            format!("{quantifier} ({})", linear(random, &inner, &mut 3, 3, true))
        }
        n => {
            let quantifier = if n % 2 == 0 { "A" } else { "E" };
            match random.below(5) {
                0 => format!("{quantifier}X ({})", part(random)),
                1 => format!("{quantifier}F ({})", part(random)),
                2 => format!("{quantifier}[({}) U ({})]", part(random), part(random)),
                3 => format!("{quantifier} (({}) W ({}))", part(random), part(random)),
                _ => format!("{quantifier}G ({})", part(random)),
            }
        }
    }
}

fn parse(keyword: PropertyKeyword, text: &str) -> ast::Formula {
    let mut map = SourceMap::new();
    let macros = quotient_promela::Macros::default();
    let property =
        quotient_promela::parse_property(&mut map, keyword, text, &macros).expect("a correct formula");
    match property.kind {
        ast::PropertyKind::Ltl(formula) | ast::PropertyKind::Ctl(formula) => formula,
        ast::PropertyKind::Invariant(_) => unreachable!("no invariants here"),
    }
}

/// What the engine says about the first claim.
fn engine(text: &str, keyword: PropertyKeyword, formula: &str, raw: bool) -> Result<bool, String> {
    let model = Model::from_text_with("random.pml", text, &[(keyword, formula.to_owned())])
        .map_err(|e| format!("refused: {e}"))?;
    let check = Check { raw, all: true, ..Check::default() };
    let outcome = model.check(&check).map_err(|e| e.to_string())?;
    let answer = outcome.answers.iter().find(|a| a.question == Question::Claim(0)).ok_or("no answer")?;
    match &answer.verdict {
        Verdict::Holds => Ok(true),
        Verdict::Violated => Ok(false),
        Verdict::Undecided(why) => Err(format!("undecided: {why}")),
    }
}

#[test]
fn formulas_agree_with_the_tableau() {
    let programs = from_environment("QUOTIENT_RANDOM_FORMULAS", 250);
    let first = from_environment("QUOTIENT_SEED", 9_000_000);
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
            let (keyword, formula) = if round < 3 {
                (PropertyKeyword::Ltl, linear(&mut random, &atoms, &mut 3, 4, round == 2))
            } else {
                (PropertyKeyword::Ctl, branching(&mut random, &atoms, 2))
            };
            let tree_formula = parse(keyword, &formula);
            let Ok(expected) = temporal::holds(&tree, &tree_formula, LIMIT) else { continue };
            for raw in [true, false] {
                let found = engine(&text, keyword, &formula, raw);
                assert_eq!(found, Ok(expected), "seed {seed}, raw {raw}: {keyword:?} {formula}\n\n{text}");
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
fn spin(directory: &std::path::Path, text: &str) -> Option<bool> {
    let run = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).current_dir(directory).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let _ = std::fs::remove_file(directory.join("pan.c"));
    std::fs::write(directory.join("model.pml"), text).ok()?;
    run("spin", &["-a", "model.pml"])?;
    if !directory.join("pan.c").exists() {
        return None;
    }
    run("gcc", &["-O0", "-w", "-DNOREDUCE", "-DVECTORSZ=8192", "-o", "pan", "pan.c"])?;
    let pan = directory.join("pan");
    let said = run(pan.to_str()?, &["-a", "-E", "-m200000", "-w18"])?;
    if said.contains("max search depth too small") || !said.contains("errors: ") {
        return None;
    }
    Some(said.contains("errors: 0"))
}

#[test]
fn formulas_agree_with_spin() {
    let programs = from_environment("QUOTIENT_SPIN_FORMULAS", 4);
    if Command::new("spin").arg("-V").output().is_err() {
        eprintln!("SKIPPED: spin is not installed, formulas are not compared with it");
        return;
    }
    let directory = std::env::temp_dir().join(format!("quotient-formulas-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a temporary folder");
    let mut seed = from_environment("QUOTIENT_SEED", 9_500_000);
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
        let Some(expected) = spin(&directory, &format!("{text}\nltl f {{ {formula} }}\n")) else { continue };
        let found = engine(&text, PropertyKeyword::Ltl, &formula, false);
        assert_eq!(found, Ok(expected), "seed {seed}: {formula}\n\n{text}");
        compared += 1;
        violated += u64::from(!expected);
    }
    println!("{compared} formulas compared with SPIN, {violated} violated");
    let _ = std::fs::remove_dir_all(&directory);
}
