//! Properties of the random programs: the parser reads them back unchanged, seeds are stable, the
//! language is covered, sizes are useful.

use quotient_promela::{ParseOptions, parse_text};
use quotient_reference::{generate, interpret, print};
use quotient_source::{SourceMap, render};

#[test]
fn printed_programs_are_read_back() {
    for seed in 0..400 {
        let model = generate(seed, 3 + (seed % 5) as usize);
        let text = print(&model);
        let mut map = SourceMap::new();
        let parsed = parse_text(&mut map, "random.pml", &text, &ParseOptions::default());
        if parsed.diagnostics.has_errors() {
            let first = parsed.diagnostics.iter().next().map(|d| render(&map, d, false));
            panic!("seed {seed}: {}\n{text}", first.unwrap_or_default());
        }
        assert_eq!(print(&parsed.model), text, "seed {seed}");
        // The tree may differ where the text does not; the meaning may not.
        assert_eq!(interpret(&parsed.model, 500), interpret(&model, 500), "seed {seed}\n{text}");
    }
}

#[test]
fn a_seed_is_a_program() {
    for seed in 0..50 {
        assert_eq!(print(&generate(seed, 5)), print(&generate(seed, 5)));
    }
    assert_ne!(print(&generate(1, 5)), print(&generate(2, 5)));
}

/// Words that show a construct in the printed text.
const CONSTRUCTS: [&str; 60] = [
    "active proctype",
    "active [",
    "init {",
    "run P",
    " = run P",
    "provided (",
    "typedef",
    "mtype = ",
    "mtype:set",
    "hidden ",
    "bit ",
    "bool ",
    "byte ",
    "pid ",
    "short ",
    "int ",
    "unsigned ",
    "chan q",
    "] = [",
    "= [0] of",
    "= [2] of",
    "{ chan }",
    "{ T0 }",
    "if\n",
    "do\n",
    ":: else",
    "break;",
    "goto L",
    "L0: ",
    "end1: ",
    "end9: ",
    "atomic {",
    "d_step {",
    "unless",
    "timeout",
    "skip;",
    "assert(",
    "printf(",
    "printm(",
    "for (",
    " in c",
    " in g",
    "select (",
    "++;",
    "--;",
    "!!",
    "??",
    "?<",
    "??<",
    "?[",
    "??[",
    "eval(",
    "_, ",
    "len(",
    "nfull(",
    "empty(",
    " -> ",
    "_pid",
    "_nr_pr",
    "@L",
];

#[test]
fn programs_cover_the_language() {
    let mut missing: Vec<&str> = CONSTRUCTS.to_vec();
    for seed in 0..1500 {
        let text = print(&generate(seed, 5));
        missing.retain(|construct| !text.contains(construct));
    }
    assert!(missing.is_empty(), "never generated: {missing:?}");
}

/// Most programs are small enough to be explored and large enough to say something.
#[test]
fn programs_are_of_useful_size() {
    let (mut complete, mut busy, mut faulty) = (0, 0, 0);
    for seed in 0..200 {
        let outcome = interpret(&generate(seed, 5), 20_000).expect("generated programs are accepted");
        complete += usize::from(outcome.complete);
        busy += usize::from(outcome.states >= 20);
        faulty += usize::from(!outcome.faults.is_empty());
    }
    assert!(complete >= 170, "{complete} of 200 are finite and small");
    assert!(busy >= 100, "{busy} of 200 have 20 states and more");
    assert!(faulty <= 20, "{faulty} of 200 have faults");
}
