//! DVE against the reference interpreter, which shares only the syntax tree: random systems, the files of `tests/dve`, and
//! `models/*.dve`.
//!
//! For every system: as many states and transitions without reductions; the same kinds of violation in every combination of
//! representative, ample sets, reductions and search; the same answer about the property process.
//!
//! `QUOTIENT_RANDOM_PROGRAMS` sets how many systems, `QUOTIENT_SEED` the first seed.

use std::collections::BTreeSet;
use std::path::Path;

use quotient_engine::{
    Check, Language, LoadOptions, Model, PartialOrder, Question, SearchKind, Symmetry, Verdict,
};
use quotient_expectations::{Bound, Expectation, Figure};
use quotient_reference::dve::{self, Summary};
use quotient_testing::setting;

/// Larger systems are left out.
const MOST_STATES: usize = 1_500;

/// What the reference says of a system, and of its property process.
fn expected(text: &str, most: usize) -> Option<(Summary, Option<bool>)> {
    let mut map = quotient_source::SourceMap::new();
    let system = quotient_dve::parse_text(&mut map, "system.dve", text).system?;
    let summary = dve::explore(&system, most)?;
    let accepts = dve::accepts(&system, 8 * most);
    Some((summary, accepts))
}

fn load(text: &str) -> Result<Model, String> {
    Model::from_text_in(Language::DVE, "system.dve", text, &LoadOptions::default()).map_err(|e| e.to_string())
}

/// Deadlock, fault and assertion, as far as a check reports them.
fn kinds(model: &Model, check: &Check<'_>) -> Result<(u64, u64, BTreeSet<&'static str>), String> {
    let outcome = model.check(check).map_err(|e| e.to_string())?;
    if let Verdict::Undecided(why) = &outcome.verdict {
        return Err(format!("undecided: {why}"));
    }
    let kind = |kind: &str| match kind {
        "deadlock" => "deadlock",
        "invariant" => "assertion",
        "never" => "never",
        _ => "fault",
    };
    let found = outcome.violations.iter().map(|v| kind(v.kind.as_str())).collect();
    Ok((outcome.statistics.states, outcome.statistics.transitions, found))
}

/// Compares the engine's answers about `text` with what is expected; `Ok(false)` when it is too large.
fn compare(text: &str, reference: &str) -> Result<bool, String> {
    let Some((summary, accepts)) = expected(reference, MOST_STATES) else { return Ok(false) };
    compare_with(&load(text)?, &summary, accepts).map(|()| true)
}

fn compare_with(model: &Model, summary: &Summary, accepts: Option<bool>) -> Result<(), String> {
    let all = Check { all: true, ..Check::default() };
    let (states, transitions, _) = kinds(model, &Check { raw: true, safety_only: true, ..all })?;
    if (states, transitions) != (summary.states as u64, summary.transitions as u64) {
        return Err(format!(
            "{states} states and {transitions} transitions, expected {} and {}",
            summary.states, summary.transitions
        ));
    }
    let mut wanted = BTreeSet::new();
    let parts = [("deadlock", summary.deadlock), ("fault", summary.fault), ("assertion", summary.assertion)];
    wanted.extend(parts.iter().filter(|(_, found)| *found).map(|(kind, _)| *kind));
    let has_property = model.claims.iter().any(|c| c.keyword == "never");
    if accepts == Some(true) && has_property {
        wanted.insert("never");
    }
    for symmetry in [Symmetry::Off, Symmetry::Exact, Symmetry::ProgramCounter] {
        for partial_order in [PartialOrder::Off, PartialOrder::On] {
            for raw in [false, true] {
                for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
                    let check = Check { raw, search, partial_order, symmetry: Some(symmetry), ..all };
                    // A fault ends runs: what lies after it is not asked.
                    let check = Check { safety_only: summary.fault, ..check };
                    let (_, _, mut found) = match kinds(model, &check) {
                        // An order that is not canonical does not go with ample sets.
                        Err(why) if symmetry == Symmetry::ProgramCounter && why.contains("canonical") => {
                            continue;
                        }
                        other => other?,
                    };
                    let mut wanted = wanted.clone();
                    if summary.fault {
                        wanted.remove("never");
                        wanted.remove("assertion");
                        found.remove("assertion");
                    }
                    if found != wanted {
                        let name = symmetry.name();
                        return Err(format!(
                            "{name}, partial order {partial_order:?}, raw {raw}, {search:?}: {found:?}, expected {wanted:?}"
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn random_systems() {
    let (count, first) = (setting("QUOTIENT_RANDOM_PROGRAMS", 300), setting("QUOTIENT_SEED", 0));
    let mut compared = 0;
    for seed in first..first + count {
        let text = dve::generate(seed);
        assert_eq!(dve::mistakes(&text), Vec::<String>::new(), "seed {seed}\n{text}");
        match compare(&text, &text) {
            Ok(large) => compared += u64::from(large),
            Err(what) => {
                let small = dve::shrink(&text, &|t| compare(t, t).is_err());
                panic!("seed {seed}: {what}\nafter shrinking: {:?}\n{small}", compare(&small, &small));
            }
        }
    }
    println!("{compared} of {count} systems compared");
    assert!(compared * 2 >= count, "only {compared} of {count} systems were small enough");
}

/// The random systems can tell when something is wrong: each of these changes to what the engine reads or runs shows in some of them.
#[test]
fn planted_faults_are_noticed() {
    type Change = (&'static str, fn(&str) -> String, fn(&mut Model));
    let changes: [Change; 5] = [
        (
            "no committed states",
            |text| text.lines().filter(|l| !l.starts_with("commit")).collect::<Vec<_>>().join("\n"),
            |_| {},
        ),
        ("one more message", |text| text.replace("q[1]", "q[2]").replace("r[2]", "r[3]"), |_| {}),
        ("receives that wait for nobody", |text| text.replace("sync s?;", ""), |_| {}),
        ("types of messages", |text| text.replace("channel {byte}", "channel {int}"), |_| {}),
        ("the sender first", str::to_owned, |model| model.program.features.receiver_first = false),
    ];
    let mut noticed = [0; 5];
    for seed in 0..setting("QUOTIENT_PLANTED", 120) {
        let text = dve::generate(seed);
        let Some((summary, accepts)) = expected(&text, MOST_STATES) else { continue };
        for ((_, change, alter), noticed) in changes.iter().zip(&mut noticed) {
            let changed = change(&text);
            if !dve::mistakes(&changed).is_empty() {
                continue;
            }
            let mut model = load(&changed).expect("it was looked at");
            alter(&mut model);
            *noticed += u32::from(compare_with(&model, &summary, accepts).is_err());
        }
    }
    for ((name, ..), noticed) in changes.iter().zip(noticed) {
        println!("{name}: {noticed}");
        assert!(noticed >= 3, "{name}: noticed {noticed} times");
    }
}

fn folder(name: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries.map(|e| e.expect("a file").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "dve"));
    files.sort();
    let name = |f: &Path| f.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.iter().map(|f| (name(f), std::fs::read_to_string(f).expect("readable"))).collect()
}

/// What a file says of itself: counts, and what is found.
fn pinned(text: &str) -> Option<(usize, usize, Vec<&'static str>)> {
    let all = quotient_expectations::read(text).ok()?;
    let safety = Expectation::with(&all, &["--raw", "--all", "--safety"])?;
    let figure = |figure| safety.figure(Bound::Exactly, figure).map(|number| number as usize);
    let kinds = Expectation::with(&all, &["--raw", "--all"])?.kinds();
    let names = [
        ("deadlock", &["deadlock"][..]),
        ("fault", &["range", "index", "division"]),
        ("assertion", &["invariant"]),
        ("accepted", &["never"]),
    ];
    let found = names.into_iter().filter(|(_, own)| own.iter().any(|kind| kinds.contains(kind)));
    Some((figure(Figure::States)?, figure(Figure::Transitions)?, found.map(|(name, _)| name).collect()))
}

/// The files of the corpus and the example models have the counts that stand in their first lines, which the reference
/// finds, too.
#[test]
fn corpus() {
    let files: Vec<_> = folder("tests/dve").into_iter().chain(folder("models")).collect();
    assert!(files.len() >= 15, "only {} files", files.len());
    let mut wrong = Vec::new();
    for (name, text) in files {
        let (summary, accepts) = expected(&text, 200_000).unwrap_or_else(|| panic!("{name} is too large"));
        let found = [
            ("deadlock", summary.deadlock),
            ("fault", summary.fault),
            ("assertion", summary.assertion),
            ("accepted", accepts == Some(true)),
        ];
        let found: Vec<&str> = found.into_iter().filter(|(_, f)| *f).map(|(n, _)| n).collect();
        let is = (summary.states, summary.transitions, found);
        if pinned(&text).as_ref() != Some(&is) {
            wrong.push(format!("{name}: {is:?} instead of {:?}", pinned(&text)));
        }
        let compared = load(&text).and_then(|model| compare_with(&model, &summary, accepts));
        wrong.extend(compared.err().map(|what| format!("{name}: {what}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A formula gives the answer that the property process for its negation gives.
#[test]
fn formulas() {
    let text = "byte x;
        process A { state a, b; init a; trans a -> b { effect x = 1; }, b -> a { effect x = 0; }; }
        process B { byte l; state c, d; init c; trans c -> d { guard x == 1; effect l = 1; }, d -> c { effect l = 0; }; }";
    let with = |formula: &str, rest: &str| {
        let properties = match formula {
            "" => Vec::new(),
            f => vec![(quotient_engine::PropertyKeyword::Ltl, f.to_owned())],
        };
        let options = LoadOptions { properties, ..LoadOptions::default() };
        let model = Model::from_text_in(Language::DVE, "f.dve", &format!("{text}\n{rest}"), &options)
            .expect("correct");
        let outcome = model.check(&Check::default()).expect("small");
        let answer = outcome.answers.iter().find(|a| a.question == Question::Claim(0)).expect("an answer");
        answer.verdict == Verdict::Holds
    };
    let watch = |guards: &str| {
        format!(
            "process W {{ state s, t; init s; accept t; trans s -> s {{}}, {guards}; }}\nsystem async property W;"
        )
    };
    let plain = "system async;";
    assert!(with("[] (A.b -> x == 1)", plain));
    assert!(with("", &watch("s -> t { guard A.b and x != 1; }, t -> t {}")));
    assert!(!with("[] <> B.d", plain));
    assert!(!with("", &watch("s -> t { guard not B.d; }, t -> t { guard not B.d; }")));
    assert!(with("[] (B.l == 1 -> B.d)", plain));
    assert!(with("", &watch("s -> t { guard B->l == 1 and not B.d; }, t -> t {}")));
}
