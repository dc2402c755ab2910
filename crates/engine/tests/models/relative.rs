//! Proved symmetries in forward search: they find what the whole search finds, and those that must not be used are
//! refused for a reason.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use quotient_engine::{Check, Model, Outcome, Relative, Verdict};
use quotient_proof::automorphism::Automorphism;
use quotient_proof::explicit::explore;
use quotient_proof::frontend::promela::translate;
use quotient_proof::limits::Limits;
use quotient_proof::prove::{Options, Verdict as Proved, prove};
use quotient_proof::safety::SafetyOptions;
use quotient_proof::{certificate, language};
use quotient_source::Diagnostics;
use quotient_testing::Random;

/// Proves the assertions in a model's comments; gives the certificate and how many were proved.
fn certificate_of(model: &Model) -> (String, usize) {
    let mut diagnostics = Diagnostics::new();
    let translation = translate(&model.program, &model.sources, &mut diagnostics).expect("supported");
    let program = language::program(&translation.items, &mut diagnostics).expect("well formed");
    // Claims about unbounded integers may have no proof; a forward search does not need them.
    let limits = SafetyOptions { max_stored: 2_000, ..SafetyOptions::default() };
    let options =
        Options { inverses: true, safety: limits, max_time: Duration::from_secs(2), ..Options::default() };
    let reports = prove(&program, &options);
    let proved = reports.iter().filter(|r| matches!(r.verdict, Proved::Proved)).count();
    let written = certificate::certificate(&program, &reports).expect("no overflow").expect("complete");
    (serde_json::to_string(&written).expect("serialisable"), proved)
}

fn whole(model: &Model) -> Outcome {
    model.check(&Check { raw: true, all: true, ..Check::default() }).expect("checked")
}

fn with(model: &Model, relative: &Relative) -> Outcome {
    model.check(&Check { all: true, relative: Some(relative), ..Check::default() }).expect("checked")
}

fn peterson() -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/relative/peterson.pml");
    Model::from_text("peterson.pml", &std::fs::read_to_string(path).expect("readable")).expect("well formed")
}

/// The model without the assertions in its comments: what is proposed is what they say.
#[test]
fn proposed_symmetries_are_used() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/relative/peterson.pml");
    let text = std::fs::read_to_string(path).expect("readable").replace("/*@", "/*");
    let model = Model::from_text("peterson.pml", &text).expect("well formed");
    let relative = Relative::proposed(&model, &Check::default()).expect("proved");
    assert_eq!(relative.used(), ["exchange_1_2_with_values", "exchange_2_3_with_values"]);
    let stated = peterson();
    let stated = with(&stated, &Relative::new(&stated, &certificate_of(&stated).0).expect("usable"));
    let proposed = with(&model, &relative);
    assert_eq!(proposed.statistics.states, stated.statistics.states);
    assert_eq!(proposed.verdict, Verdict::Holds);
    // A process that has another place to go: nothing is proposed that holds.
    let text =
        "byte x; active proctype a() { do :: x = 1 od } active proctype b() { do :: x == 1 -> x = 2 od }";
    let model = Model::from_text("two.pml", text).expect("well formed");
    assert!(Relative::proposed(&model, &Check::default()).is_err());
}

#[test]
fn one_state_is_kept_of_each_orbit() {
    let model = peterson();
    let relative = Relative::new(&model, &certificate_of(&model).0).expect("usable");
    assert_eq!(relative.used(), ["swap.1", "swap.2"]);
    let outcome = with(&model, &relative);
    assert_eq!((outcome.verdict.clone(), outcome.symmetry.order.as_str()), (Verdict::Holds, "proved"));
    // Orbits by brute force: columns are P, Q, V of three processes (V_0 unused), and Inside.
    let translation = translate(&model.program, &model.sources, &mut Diagnostics::new()).unwrap();
    let program = language::program(&translation.items, &mut Diagnostics::new()).unwrap();
    let reachable = explore(&program, 10_000, &Limits::default());
    assert!(reachable.complete);
    assert_eq!(reachable.states.len() as u64, whole(&model).statistics.states);
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let orbits: BTreeSet<Vec<i64>> = reachable
        .states
        .iter()
        .map(|s| {
            let image = |order: &[usize; 3]| {
                let mut out = s.clone();
                for (place, &from) in order.iter().enumerate() {
                    out[place] = s[from];
                    out[3 + place] = s[3 + from];
                }
                for level in 7..9 {
                    // The process that was at `from` is now at `place`.
                    let moved = order.iter().position(|&from| from as i64 == s[level] - 1);
                    out[level] = moved.map_or(s[level], |place| place as i64 + 1);
                }
                out
            };
            orders.iter().map(image).min().expect("six of them")
        })
        .collect();
    assert_eq!(outcome.statistics.states, orbits.len() as u64);
}

#[test]
fn a_counterexample_is_a_real_path() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/relative/peterson.pml");
    let text = std::fs::read_to_string(path)
        .expect("readable")
        .replace("assert(inside == 1)", "assert(inside == 0)");
    let model = Model::from_text("broken.pml", &text).expect("well formed");
    let relative = Relative::new(&model, &certificate_of(&model).0).expect("usable");
    let outcome = with(&model, &relative);
    assert_eq!(outcome.verdict, Verdict::Violated);
    // The same length as without: a shortest path.
    let plain = whole(&model);
    assert_eq!(outcome.violations[0].choices.len(), plain.violations[0].choices.len());
    assert_eq!(outcome.violations[0].kind, "assertion");
}

/// The assertion is true (1 and 2 are both reachable) but its proof is deeper than one level: 2 has a successor and
/// 1 has none. A search that kept one state of {1, 2} would keep 1 and never see 3.
const DEEPER: &str = "byte x;
    active proctype a() {
        do
        :: atomic { x == 0 -> x = 1 }
        :: atomic { x == 0 -> x = 2 }
        :: atomic { x == 2 -> x = 3 }
        :: atomic { x == 3 -> assert(false) }
        od
    }
    /*@ assert flip: p([P0],X) |= p([P0],X'), (X,X') in {(0,0),(1,2),(2,1),(3,3)}. */";

#[test]
fn deeper_proofs_are_refused_and_must_be() {
    let model = Model::from_text("deeper.pml", DEEPER).expect("well formed");
    let (certificate, proved) = certificate_of(&model);
    assert_eq!(proved, 1, "the assertion is true and proved; the model's own is refuted");
    let relative = Relative::new(&model, &certificate).expect("about this model");
    assert!(relative.used().is_empty());
    assert!(relative.refused()[0].contains("`flip` is not used: its proof is deeper than one level"));
    // Only the assertion is asked for: where the model stops is not the point.
    let assertions = |relative| {
        let check = Check { deadlocks: false, relative: Some(relative), ..Check::default() };
        model.check(&check).expect("checked")
    };
    let outcome = assertions(&relative);
    assert_eq!((outcome.verdict, outcome.symmetry.order.as_str()), (Verdict::Violated, "off"));
    assert!(outcome.notes.iter().any(|n| n.contains("deeper than one level")));
    // What would happen without the refusal: the violation is missed.
    let flip = Automorphism {
        name: "flip".into(),
        source: vec![0, 1],
        values: vec![Vec::new(), vec![(1, 2), (2, 1)]],
    };
    let forced = Relative::unchecked(&model, vec![flip]).expect("supported");
    assert_eq!(assertions(&forced).verdict, Verdict::Holds);
}

fn refusal(text: &str) -> String {
    let model = Model::from_text("model.pml", text).expect("well formed");
    match Relative::new(&model, &certificate_of(&model).0) {
        Err(refused) => refused.0,
        Ok(relative) => relative.refused().join("\n"),
    }
}

#[test]
fn what_the_proof_does_not_cover_is_refused() {
    let pair = |ty: &str, body: &str, more: &str| {
        format!(
            "{ty} x[2]; active [2] proctype a() {{ {body} }}
             /*@ assert swap: symmetric p([P0,P1],X_0,X_1{more}) under permutations {{(P0,X_0),(P1,X_1)}}. */"
        )
    };
    // The base case is used.
    assert_eq!(refusal(&pair("byte", "do :: x[_pid] = x[1 - _pid] + 1 od", "")), "");
    let ends = refusal(&pair("byte", "x[_pid] = 1", ""));
    assert!(ends.contains("a process can end"), "{ends}");
    let computes = refusal(&pair("int", "do :: x[_pid] + 1 > x[1 - _pid] -> x[_pid] = x[1 - _pid] od", ""));
    assert!(computes.contains("32-bit integers"), "{computes}");
    let goes_on = refusal(&pair("byte", "do :: atomic { x[_pid] = x[1 - _pid] + 1; x[_pid] < 9 } od", ""));
    assert!(goes_on.contains("may wrap around"), "{goes_on}");
    let claim =
        refusal(&pair("byte", "do :: assert(_pid == 1 || x[_pid] < 9); x[_pid] = x[1 - _pid] od", ""));
    assert!(claim.contains("not shown to be invariant"), "{claim}");
    let invariant = refusal(
        "byte x[2]; active [2] proctype a() { do :: x[_pid] >= 0 -> x[_pid] = 1 od }
         /*@ assert swap: symmetric p([P0,P1],X_0,X_1) under permutations {(P0,X_0),(P1,X_1)} using low.
             assert low: p([P0,P1],X_0,X_1) |= X_0 >= 0, X_1 >= 0. */",
    );
    assert!(invariant.contains("relies on invariants"), "{invariant}");
    let types = refusal(
        "byte x; short y; active proctype a() { do :: x = 1 :: y = 1 :: x = 0 :: y = 0 od }
         /*@ assert flip: p([P0],X,Y) |= p([P0],Y,X). */",
    );
    assert!(types.contains("different types"), "{types}");
    // A certificate of another model.
    let first = Model::from_text("a.pml", &pair("byte", "do :: x[_pid] = 1 od", "")).unwrap();
    let second = Model::from_text("b.pml", &pair("byte", "do :: x[_pid] = 2 od", "")).unwrap();
    let wrong = Relative::new(&second, &certificate_of(&first).0).unwrap_err();
    assert_eq!(wrong.0, "it is not about this model");
}

/// Random pairs of equal processes, over variables that wrap around: the verdict of the reduced search
/// is that of the whole one, and states are about halved.
#[test]
fn random_symmetric_models_keep_their_verdict() {
    let (mut used, mut violated, mut before, mut after) = (0, 0, 0, 0);
    for seed in 0..40 {
        let mut r = Random::new(seed);
        let place = |r: &mut Random| ["x[_pid]", "x[1 - _pid]", "y"][r.number(3) as usize];
        let mut options = String::new();
        for _ in 0..2 + r.number(3) {
            let relation = ["<", "==", "!=", ">="][r.number(4) as usize];
            let guard = format!("{} {relation} {}", place(&mut r), r.number(3));
            let value = match r.number(3) {
                0 => r.number(4).to_string(),
                1 => place(&mut r).to_string(),
                _ => format!("{} + 1", place(&mut r)),
            };
            let target = place(&mut r);
            let check =
                if r.number(4) == 0 { format!("; assert(y != {})", r.number(4)) } else { String::new() };
            options += &match r.number(3) {
                0 => format!(":: atomic {{ {guard} -> {target} = {value} }}{check}\n"),
                1 => format!(":: {guard} -> {target} = {value}{check}\n"),
                _ => format!(":: {target} = {value}{check}\n"),
            };
        }
        // `y` wraps around after 3, `x` after 255.
        let text = format!(
            "unsigned y : 2; byte x[2];
             active [2] proctype a() {{ do\n{options} od }}
             /*@ assert swap: symmetric p([P0,P1],Y,X_0,X_1) under permutations {{(P0,X_0),(P1,X_1)}}. */"
        );
        let model = Model::from_text("random.pml", &text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let bound = Check { raw: true, all: true, ..Check::default() };
        let relative =
            Relative::new(&model, &certificate_of(&model).0).unwrap_or_else(|e| panic!("{text}\n{e}"));
        assert_eq!(relative.used(), ["swap"], "{text}\n{:?}", relative.refused());
        let (full, reduced) = (model.check(&bound).unwrap(), with(&model, &relative));
        assert_eq!(full.verdict, reduced.verdict, "seed {seed}\n{text}");
        let kinds = |o: &Outcome| {
            o.violations.iter().map(|v| (v.kind.to_string(), v.at.clone())).collect::<BTreeSet<_>>()
        };
        assert_eq!(kinds(&full), kinds(&reduced), "seed {seed}\n{text}");
        let (f, h) = (full.statistics.states, reduced.statistics.states);
        assert!(h <= f && f <= 2 * h, "seed {seed}: {f} and {h}\n{text}");
        used += 1;
        violated += u32::from(full.verdict == Verdict::Violated);
        before += f;
        after += h;
    }
    println!("{used} models, {violated} violated; {before} states without, {after} with");
    assert!(violated > 5);
}
