//! Random programs with interchangeable processes and random formulas without `X`, in every combination of representative,
//! ample sets and search, against a tableau on the reference interpreter's states (which shares no code with the engine).
//!
//! Propositions are about globals, about cells that belong to one process (which pins it), and about all processes at once.
//! The reference does not know quantifiers: it is told the same thing written out for each process. Processes of such
//! programs run for ever, since a process that has ended is not counted.
//!
//! `QUOTIENT_SYMMETRIC_FORMULAS` sets how many programs (a slice by default), `QUOTIENT_SEED` the first seed.

use crate::formulas::{branching, engine, linear, model, of_each, parse, ways};
use quotient_engine::PropertyKeyword;
use quotient_promela::{ParseOptions, parse_text};
use quotient_reference::symmetric::symmetric;
use quotient_reference::temporal;
use quotient_source::SourceMap;
use quotient_testing::{Random, setting};

/// Programs with more states than this are skipped: the tableau is slow.
const LIMIT: usize = 300;

/// A proposition for the engine, and the same one for the tableau.
type Atom = (String, String);

/// Propositions about a program.
fn atoms(text: &str) -> Vec<Atom> {
    let plain = |e: &str| (e.to_owned(), e.to_owned());
    let mut out = vec![plain("(x == 0)"), plain("(x > 1)"), plain("(start == 1)")];
    let Some((processes, first)) = processes(text) else { return out };
    // These name a process.
    out.push(plain(&format!("(a[{first}] == 1)")));
    out.push(plain(&format!("(owner == {first})")));
    let forever = text.contains("byte t; do\n");
    if forever && text.contains("active [") {
        for body in ["a[p] == 1", "b[p] == 1", "owner == p", "a[p] > b[p]"] {
            let of = |p: usize| {
                format!("({})", body.replace("[p]", &format!("[{p}]")).replace("== p", &format!("== {p}")))
            };
            let each: Vec<String> = (first..first + processes).map(of).collect();
            out.push((format!("(exists p: P . {body})"), format!("({})", each.join(" || "))));
            out.push((format!("(forall p: P . {body})"), format!("({})", each.join(" && "))));
            out.push((format!("((count p: P . {body}) == 1)"), format!("(({}) == 1)", each.join(" + "))));
        }
        // Those that name all processes alike, one by one: parts of the automaton name only some of them.
        let each: Vec<String> = (first..first + processes).map(|p| format!("(a[{p}] == 1)")).collect();
        out.push(plain(&format!("({})", each.join(" || "))));
        let pairs = each
            .iter()
            .enumerate()
            .flat_map(|(i, p)| each[..i].iter().map(move |q| format!("!({p} && {q})")));
        out.push(plain(&format!("({})", pairs.collect::<Vec<_>>().join(" && "))));
    }
    out
}

/// How many processes there are, and the id of the first; none where `init` starts them.
pub fn processes(text: &str) -> Option<(usize, usize)> {
    let at = text.find("active [")?;
    let count = text[at + 8..].split(']').next()?.parse().ok()?;
    Some((count, usize::from(text[..at].contains("proctype other"))))
}

/// The program, and perhaps a process that goes round for ever by two ways or more that look alike: a renaming exchanges their locations, and only one
/// of them goes back to the beginning.
fn with_laps(text: String, random: &mut Random) -> String {
    if !random.chance(35) {
        return text;
    }
    let own = *random.one(&["lap == 0", "lap != 2", "if :: lap == 1 -> lap = 0 :: else fi", "skip"]);
    let laps = vec![own; 2 + random.below(2)].join("; ");
    format!("byte lap;\n{text}active proctype laps() {{ do :: {laps} od }}\n")
}

#[test]
fn symmetric_programs_keep_their_answers() {
    let programs = setting("QUOTIENT_SYMMETRIC_FORMULAS", 60);
    let first = setting("QUOTIENT_SEED", 7_000_000);
    let (mut compared, mut violated, mut symmetric_ones, mut ample_ones) = (0, 0, 0, 0);
    let (mut smaller, mut exchanged) = (0, 0);
    for seed in first..first + programs {
        // Not the numbers that made the program.
        let mut random = Random::new(!seed);
        let text = with_laps(symmetric(seed), &mut random);
        let parsed = parse_text(&mut SourceMap::new(), "random.pml", &text, &ParseOptions::default());
        let tree = parsed.model;
        let atoms = atoms(&text);
        let names: Vec<String> = atoms.iter().map(|(engine, _)| engine.clone()).collect();
        let each = processes(&text).filter(|_| text.contains("active ["));
        for round in 0..5 {
            let (keyword, formula) = if let (4, Some((processes, first))) = (round, each) {
                // Only where there are no ample sets may such a formula's automaton be renamed with the processes.
                (PropertyKeyword::Ltl, of_each(&mut random, first..first + processes))
            } else if round < 2 {
                (PropertyKeyword::Ltl, linear(&mut random, &names, &mut 3, 3, false))
            } else {
                (PropertyKeyword::Ctl, branching(&mut random, &names, 2, false))
            };
            // What is written out consists of propositions that stand for themselves.
            let mut written_out = formula.clone();
            for (engine, tableau) in &atoms {
                written_out = written_out.replace(engine.as_str(), tableau.as_str());
            }
            let Ok(expected) = temporal::holds(&tree, &parse(keyword, &written_out), LIMIT) else { continue };
            let model = model(&text, keyword, &formula);
            let mut found = vec![(None, engine(&model, None))];
            found.extend(ways().into_iter().map(|way| (Some(way), engine(&model, Some(way)))));
            // A fault ends runs, and which formulas hold then is not for the tableau to say.
            if found.iter().all(|(_, said)| said.as_ref().is_err_and(|why| why.starts_with("undecided"))) {
                continue;
            }
            for (way, said) in &found {
                let holds = said.as_ref().map(|s| s.holds);
                assert_eq!(holds, Ok(expected), "seed {seed}, {way:?}: {keyword:?} {formula}\n\n{text}");
            }
            compared += 1;
            violated += u64::from(!expected);
            let said: Vec<_> = found.iter().filter_map(|(_, s)| s.as_ref().ok()).collect();
            symmetric_ones += u64::from(said.iter().any(|s| s.symmetry));
            ample_ones += u64::from(said.iter().any(|s| s.ample));
            let most = said.iter().map(|s| s.states).max();
            exchanged +=
                u64::from(round == 4 && each.is_some() && said.iter().any(|s| s.symmetry && !s.ample));
            smaller += u64::from(said.iter().any(|s| s.symmetry && s.ample && Some(s.states) < most));
        }
    }
    println!(
        "{compared} formulas compared, {violated} violated; with symmetry {symmetric_ones}, with ample sets {ample_ones}, both and smaller {smaller}; {exchanged} that say the same of each process, with symmetry"
    );
    assert!(compared > programs, "only {compared} formulas on {programs} programs could be compared");
    assert!(symmetric_ones * 10 > compared, "only {symmetric_ones} of {compared} with symmetry: no force");
    assert!(
        ample_ones * 4 > compared && smaller > 0,
        "{ample_ones} with ample sets, {smaller} smaller: no force"
    );
    assert!(exchanged > 0, "no automaton whose locations are exchanged: no force");
    assert!(violated * 10 > compared && violated * 10 < compared * 9, "{violated} of {compared}: no force");
}
