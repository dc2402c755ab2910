//! BIR against the reference interpreter, which shares only the syntax tree: random programs, and the files of
//! `tests/bir/features` and `models/`.
//!
//! For every program: as many states with raw numbers, up to addresses, and up to addresses and threads (orbits, which the
//! reference counts by brute force); the same kinds of violation with every representative, with and without reductions.
//!
//! `QUOTIENT_RANDOM_PROGRAMS` sets how many programs, `QUOTIENT_SEED` the first seed.

use std::collections::BTreeSet;
use std::path::Path;

use quotient_engine::{Check, LoadOptions, Model, Symmetry, Verdict};
use quotient_program::{Refused, Rows};
use quotient_reference::bir::{self, Limits, generate};
use quotient_testing::setting;

/// States and kinds of violation; `None` when undecided.
fn answer(model: &Model, check: &Check<'_>) -> Result<Option<(u64, BTreeSet<String>)>, String> {
    let outcome = model.check(check).map_err(|e| e.to_string())?;
    if let Verdict::Undecided(_) = outcome.verdict {
        return Ok(None);
    }
    let kinds = outcome.violations.iter().map(|v| v.kind.to_string()).collect();
    Ok(Some((outcome.statistics.states, kinds)))
}

/// Compares one program; `Ok(None)` when it is too large. `raw`: numbers of objects are compared too. Gives the number of orbits.
fn compare(text: &str, constants: &[(&str, i32)], states: usize) -> Result<Option<usize>, String> {
    let mut map = quotient_source::SourceMap::new();
    let parsed = quotient_bir::parse_text(&mut map, "program.bir", text);
    let system = parsed.system.ok_or("does not parse")?;
    let named = constants.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
    let expected = bir::explore(&system, &Limits { states, constants: named, orbits: true })?;
    if !expected.complete {
        return Ok(None);
    }
    let defines = constants.iter().map(|(n, v)| ((*n).to_owned(), v.to_string())).collect();
    let options = LoadOptions { defines, ..LoadOptions::default() };
    let model = Model::from_bir_text("program.bir", text, &options).map_err(|e| e.to_string())?;
    let raw = Check { raw: true, all: true, ..Check::default() };
    // Orbits are the same whatever numbers threads get. Counts with threads in place depend on which free number a new
    // thread takes, where the reference and the machine still differ: they are compared for the philosophers, and up to
    // addresses (with collections in any order) where no thread is started.
    let mut counted = vec![("orbits", Symmetry::Exact, expected.orbits)];
    let philosophers = text.contains("nDiningPhilosophers");
    if philosophers || !text.contains("start ") {
        counted.push(("up to addresses", Symmetry::Heap, expected.heap));
    }
    if philosophers {
        counted.push(("raw", Symmetry::Off, expected.raw));
    }
    for (what, symmetry, states) in counted {
        let check = Check { symmetry: Some(symmetry), ..raw };
        let Some((found, kinds)) = answer(&model, &check)? else { return Err("undecided".into()) };
        if kinds != expected.violations {
            return Err(format!("{what}: violations {kinds:?}, expected {:?}", expected.violations));
        }
        // Fewer would mean that states which differ were taken for one, more that some of a class were not.
        if found != states as u64 {
            return Err(format!("{what}: {found} states, expected {states}"));
        }
    }
    let orders =
        [Symmetry::ProgramCounter, Symmetry::Bounded(None), Symmetry::Exact, Symmetry::Heap, Symmetry::Off];
    for symmetry in orders {
        for raw in [false, true] {
            let check = Check { raw, all: true, symmetry: Some(symmetry), ..Check::default() };
            let Some((_, kinds)) = answer(&model, &check)? else { return Err("undecided".into()) };
            if kinds != expected.violations {
                let name = symmetry.name();
                let message =
                    format!("{name}, raw {raw}: violations {kinds:?}, expected {:?}", expected.violations);
                return Err(message);
            }
        }
    }
    Ok(Some(expected.orbits))
}

fn random() {
    let (count, first) = (setting("QUOTIENT_RANDOM_PROGRAMS", 200), setting("QUOTIENT_SEED", 0));
    let (mut compared, mut reduced) = (0u64, 0u64);
    for seed in first..first + count {
        let text = generate::generate(seed);
        match compare(&text, &[], 1_500) {
            Ok(None) => {}
            Ok(Some(orbits)) => {
                compared += 1;
                reduced += u64::from(orbits > 1);
            }
            Err(what) => {
                let fails = |t: &str| compare(t, &[], 1_500).is_err();
                let small = generate::shrink(&text, &fails);
                let now = compare(&small, &[], 1_500);
                panic!("seed {seed}: {what}\nafter shrinking: {now:?}\n{small}");
            }
        }
    }
    println!("{compared} of {count} programs compared");
    assert!(compared * 2 >= count, "only {compared} of {count} programs were small enough");
    assert!(reduced > 0);
}

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn models() {
    type Case = (&'static str, &'static [(&'static str, i32)], usize);
    let cases: &[Case] = &[
        ("models/dining_philosophers.bir", &[("N", 3)], 14),
        ("models/dining_philosophers.bir", &[("N", 4)], 34),
        ("models/dining_philosophers.bir", &[("N", 5)], 81),
        ("models/bounded_buffer.bir", &[("N", 3), ("M", 1)], 1_854),
        ("models/ordered_list.bir", &[("N", 2), ("MAX", 2)], 0),
        ("models/helping_stack.bir", &[("N", 2)], 0),
        ("models/worker_pool.bir", &[("N", 2)], 0),
        ("models/mailboxes.bir", &[("N", 2)], 0),
        ("models/tree_rotation.bir", &[("ROTATIONS", 1)], 0),
    ];
    for (path, constants, orbits) in cases {
        let found = compare(&read(path), constants, 30_000);
        match found {
            Ok(Some(found)) if *orbits == 0 || found == *orbits => eprintln!("{path} {constants:?}: {found}"),
            other => panic!("{path} {constants:?}: {other:?}, expected {orbits} orbits"),
        }
    }
}

fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/bir/features");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the corpus").map(|e| e.expect("a file").path()).collect();
    files.sort();
    assert!(files.len() >= 20);
    let mut wrong = Vec::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("readable");
        match compare(&text, &[], 30_000) {
            Ok(Some(_)) => {}
            other => wrong.push(format!("{name}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same orbits and verdicts as the reference on random programs.
#[test]
fn random_programs() {
    random();
}

/// The same orbits and verdicts as the reference on every file of the corpus.
#[test]
fn features() {
    corpus();
}

/// Last in, first out: a collection that a program brings along.
#[derive(Debug)]
struct Stack;

impl quotient_program::Extension for Stack {
    fn name(&self) -> &'static str {
        "Stack"
    }

    fn ordered(&self) -> bool {
        true
    }

    fn operation(&self, name: &str) -> Option<(u32, usize)> {
        match name {
            "push" => Some((0, 1)),
            "pop" => Some((1, 0)),
            "size" => Some((2, 0)),
            _ => None,
        }
    }

    fn apply(&self, operation: u32, rows: &mut Rows<'_>, args: &[i32]) -> Result<i32, Refused> {
        match operation {
            0 => {
                rows.cells.extend_from_slice(args);
                Ok(0)
            }
            1 => rows.cells.pop().ok_or(Refused("the stack is empty")),
            _ => Ok(rows.len() as i32),
        }
    }

    fn is_query(&self, operation: u32) -> bool {
        operation == 2
    }
}

#[test]
fn an_extension_of_the_user() {
    let text = "system S {
        extension Stack for Stack {
            typedef type<`a>;
            actiondef push<`a>(Stack.type<`a>, `a);
            expdef `a pop<`a>(Stack.type<`a>);
            expdef int size<`a>(Stack.type<`a>);
        }
        record R {}
        active thread T() {
            Stack.type<R> s; R a; R b;
            s := new Stack.type<R>; a := new R;
            Stack.push(s, a); Stack.push(s, null);
            assert Stack.size(s) == 2;
            b := Stack.pop(s); assert b == null;
            b := Stack.pop(s); assert b == a;
            b := Stack.pop(s);
        } }";
    let options = LoadOptions { extensions: vec![std::sync::Arc::new(Stack)], ..LoadOptions::default() };
    let model = Model::from_bir_text("stack.bir", text, &options).expect("correct");
    let outcome = model.check(&Check { all: true, ..Check::default() }).expect("small");
    let kinds: Vec<&str> = outcome.violations.iter().map(|v| v.kind.as_str()).collect();
    assert_eq!(kinds, ["collection"]);
    let unknown = Model::from_bir_text("stack.bir", text, &LoadOptions::default());
    assert!(unknown.expect_err("not registered").to_string().contains("there is no extension `Stack`"));
}
