//! What the page is told, on every model of this repository and on random programs (`QUOTIENT_RANDOM_PROGRAMS` sets how many): it is true, and of
//! the types that the page has for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use quotient_engine::{Check, Model, Question};
use quotient_explain::Position;
use quotient_explorer::session::Opening;
use quotient_explorer::{Answers, Session, checking};
use quotient_reference::{generate, print};
use quotient_testing::setting;
use quotient_trace::TraceFile;
use serde_json::{Value, json};

use crate::types::Types;

/// The models of this repository (`QUOTIENT_EVERY`: every so many of them) and random programs.
pub(crate) fn subjects() -> impl Iterator<Item = (String, Model)> {
    let every = setting("QUOTIENT_EVERY", 1) as usize;
    let files = quotient_testing::models().into_iter().step_by(every.max(1));
    let files = files
        .filter_map(|file| Some((file.display().to_string(), Model::load(&file, &Default::default()).ok()?)));
    let random = (0..setting("QUOTIENT_RANDOM_PROGRAMS", 500)).filter_map(|seed| {
        let text = print(&generate(7_300_000 + seed, 1 + (seed % 12) as usize));
        Some((format!("program {seed}"), Model::from_text("random.pml", &text).ok()?))
    });
    files.chain(random)
}

/// The answer to a question, which is of the type that the page has for it.
fn ask(types: &Types, session: &Session, name: &str, question: &str, body: &Value) -> Value {
    let answer = session.answer(question, body).unwrap_or_else(|e| panic!("{name}: {question} {body}: {e}"));
    let ty = match question {
        "run" => "Run",
        "steps" => "Steps",
        "place" => "Place",
        "passing" => "Passing",
        "walk" => "Walked",
        "eval" => "Evaluated",
        "find" => "Found",
        "changed" => "Changed",
        "state" => "State",
        "next" => "Next",
        "because" => "Origin",
        "heap" => "Heap",
        "graph" => "Graph",
        "class" => "Class",
        "same" => "Same",
        "trace" => "Drawn",
        "reductions" => "Reductions",
        "progress" => "Progress",
        "info" => "Info",
        _ => return answer,
    };
    if let Some(wrong) = types.wrong(ty, &answer) {
        panic!("{name}: {question} {body}: {wrong}");
    }
    answer
}

/// What trace files of a test begin with.
fn about(name: &str) -> TraceFile {
    TraceFile {
        format: "quotient-trace".into(),
        version: TraceFile::VERSION,
        model: name.into(),
        defines: Vec::new(),
        language: None,
        include_dirs: Vec::new(),
        raw: false,
        all: false,
        checksum: String::new(),
        question: Question::Safety.to_string(),
        properties: Vec::new(),
        choices: Vec::new(),
        cycle: 0,
        kind: String::new(),
        message: String::new(),
    }
}

/// Are the values of two states the same, up to the numbers of objects? A state knows objects by what leads to them alone; their numbers are
/// those of the run, in which an object that took another's place has a later one. So the numbers may differ, but one stands for one.
fn same_values(then: &[(String, String)], now: &[(String, String)]) -> bool {
    let pieces = |values: &[(String, String)]| {
        let values = values.iter().map(|(name, value)| format!("{name} = {value}\n"));
        let all: String = values.collect();
        all.split('#').map(str::to_owned).collect::<Vec<_>>()
    };
    let (then, now) = (pieces(then), pieces(now));
    let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
    let mut agree = |(index, (then, now)): (usize, (&String, &String))| {
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let ends = if index == 0 { (0, 0) } else { (digits(then), digits(now)) };
        let (old, new) = (then[..ends.0].to_owned(), now[..ends.1].to_owned());
        let one_for_one = ends == (0, 0)
            || *there.entry(old.clone()).or_insert(new.clone()) == new
                && *back.entry(new).or_insert(old.clone()) == old;
        one_for_one && then[ends.0..] == now[ends.1..]
    };
    then.len() == now.len() && then.iter().zip(&now).enumerate().all(&mut agree)
}

/// A random run of every subject: a step that can be taken does what is said beforehand; where a state is said to come again it has the same
/// values; the run's trace file leads to the same run.
#[test]
fn what_is_said_of_steps_and_states_is_so() {
    let types = Types::of_the_page();
    let (mut foretold, mut again, mut exchanged, mut written, mut unwritten) = (0, 0, 0, 0, 0);
    for (index, (name, model)) in subjects().enumerate() {
        let model = Arc::new(model);
        let session = Session::new(model.clone(), name.clone(), Vec::new(), Opening::default());
        let Ok(session) = session.map(|s| s.written_as(about(&name))) else { continue };
        let walk = json!({ "path": "q1:", "steps": 25, "seed": index + 1 });
        let Ok(walked) = session.answer("walk", &walk) else { continue };
        let path = &walked["path"];
        let ask = |question: &str, body: &Value| ask(&types, &session, &name, question, body);
        let length = ask("run", &json!({ "path": path }))["length"].as_u64().unwrap();

        let half = length / 2;
        let next = ask("next", &json!({ "path": path, "at": half }));
        for choice in next["choices"].as_array().unwrap() {
            // The server keeps a few runs only.
            let here = ask("run", &json!({ "path": path }));
            let taken =
                format!("~{}:{half}.{}", here["id"].as_str().unwrap(), choice["move"].as_str().unwrap());
            let made = ask("steps", &json!({ "path": taken }));
            let made = made["rows"].as_array().unwrap().iter().filter(|r| r["step"] == half + 1);
            let told = choice["statements"].as_array().unwrap();
            let part =
                |s: &Value| (s["pid"].clone(), s["text"].clone(), s["writes"].clone(), s["reads"].clone());
            let (made, told): (Vec<_>, Vec<_>) = (made.map(part).collect(), told.iter().map(part).collect());
            assert_eq!(made, told, "{name}: {taken}");
            foretold += 1;
        }

        // Values, and where each process stands.
        let there = |at: &Value| {
            let state = ask("state", &json!({ "path": path, "at": at }));
            let leaves = state["leaves"].as_array().unwrap().iter();
            let values: Vec<(String, String)> = leaves
                .map(|l| {
                    (l["full"].as_str().unwrap().to_owned(), l["value"]["text"].as_str().unwrap().to_owned())
                })
                .collect();
            let processes = state["processes"].as_array().unwrap().iter();
            let stand = |p: &Value| {
                let name = p["name"].as_str().unwrap();
                let code = name.split('(').next().unwrap().to_owned();
                (p["pid"].as_u64().unwrap(), (p["ended"] == true, code, p["line"].to_string()))
            };
            (values, processes.map(stand).collect::<BTreeMap<_, _>>())
        };
        for repeat in ask("same", &json!({ "path": path }))["repeats"].as_array().unwrap() {
            assert!(repeat["of"].as_u64() < repeat["step"].as_u64(), "{name}: {repeat}");
            let (then, now) = (there(&repeat["of"]), there(&repeat["step"]));
            let renaming = repeat["renaming"].as_array().unwrap();
            if renaming.is_empty() {
                assert_eq!(then.1, now.1, "{name}: {repeat}");
                assert!(same_values(&then.0, &now.0), "{name}: {repeat}: {:?} {:?}", then.0, now.0);
                again += 1;
            } else {
                for pair in renaming {
                    let (old, new) = (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap());
                    let (then, now) = (&then.1[&old], &now.1[&new]);
                    // Processes of different proctypes that do the same have it in different lines.
                    assert!(then == now || then.0 == now.0 && then.1 != now.1, "{name}: {repeat}");
                }
                exchanged += 1;
            }
        }

        let told = session.answer("trace", &json!({ "path": path }));
        if let Err(refused) = &told
            && refused.to_string().contains("ends before a younger one")
        {
            unwritten += 1;
            continue;
        }
        let file = ask("trace", &json!({ "path": path }));
        written += 1;
        let file: Value = serde_json::from_str(file["text"].as_str().unwrap()).unwrap();
        let choices: Vec<u32> =
            file["choices"].as_array().unwrap().iter().map(|c| c.as_u64().unwrap() as u32).collect();
        let found = checking::in_position(
            &model,
            Question::Safety,
            &choices,
            0,
            quotient_engine::Compile::AS_WRITTEN,
        )
        .unwrap()
        .0;
        let wanted: Position = path.as_str().unwrap().parse().unwrap();
        assert_eq!(found.moves, wanted.moves, "{name}");
    }
    println!(
        "{foretold} steps, {again} states again, {exchanged} with others in their places; {written} files, {unwritten} refused"
    );
    assert!(unwritten * 20 < written, "{unwritten} of {written}");
    assert!(foretold > 500 && again > 50 && exchanged > 5, "{foretold} {again} {exchanged}");
}

/// "Set in step N" leads to a step that writes that value, and every value that *Because* names is the one that was read there: the one
/// that the state before that statement has.
#[test]
fn values_are_set_where_it_is_said() {
    let types = Types::of_the_page();
    let (mut asked, mut inputs, mut sent) = (0, 0, 0);
    for (index, (name, model)) in subjects().enumerate() {
        let Ok(session) = Session::new(Arc::new(model), name.clone(), Vec::new(), Opening::default()) else {
            continue;
        };
        let walk = json!({ "path": "q1:", "steps": 25, "seed": index });
        let Ok(walked) = session.answer("walk", &walk) else { continue };
        let path = &walked["path"];
        let ask = |question: &str, body: &Value| ask(&types, &session, &name, question, body);
        ask("info", &json!({}));
        ask("progress", &json!({}));
        let run = ask("run", &json!({ "path": path }));
        let length = run["length"].as_u64().unwrap();
        let rows = ask("steps", &json!({ "path": path }));
        let rows = rows["rows"].as_array().unwrap();
        for row in rows {
            assert_eq!(types.wrong("Statement", row), None, "{name}");
        }
        let state = ask("state", &json!({ "path": path }));
        for leaf in state["leaves"].as_array().unwrap() {
            let full = &leaf["full"];
            let Some(row) = leaf["set"]["row"].as_u64() else { continue };
            let written = rows[row as usize]["writes"].as_array().unwrap();
            assert!(written.iter().any(|w| w["full"] == *full), "{name}: {full} in row {row}");
            assert_eq!(rows[row as usize]["step"], leaf["set"]["step"], "{name}: {full}");
            let origin = ask("because", &json!({ "path": path, "full": full, "row": rows.len() }));
            assert_eq!(origin["set"]["row"], leaf["set"]["row"], "{name}: {full}");
            let step = rows[row as usize]["step"].as_u64().unwrap();
            let first = rows.iter().position(|r| r["step"] == step).unwrap() as u64;
            // The state before that statement: within the step, or after the one before.
            let before = match row == first {
                true => ask("state", &json!({ "path": path, "at": step - 1 })),
                false => ask("state", &json!({ "path": path, "at": step, "row": row })),
            };
            for input in origin["inputs"].as_array().into_iter().flatten() {
                let reads = rows[row as usize]["reads"].as_array().unwrap();
                let read = reads.iter().find(|r| r["full"] == input["full"]);
                assert_eq!(read.map(|r| &r["value"]), Some(&input["value"]), "{name}: {full}");
                let leaves = before["leaves"].as_array().unwrap();
                let held = leaves.iter().find(|l| l["full"] == input["full"]);
                // What the statement itself wrote first it reads as it wrote it; a channel's variable names the channel.
                let own = written.iter().any(|w| w["full"] == input["full"]);
                if let (Some(held), false) = (held, own || input["value"]["text"] == input["full"]) {
                    assert_eq!(held["value"]["text"], input["value"]["text"], "{name}: {}", input["full"]);
                    inputs += 1;
                }
            }
            // What was received is what its sender read when it sent.
            for input in origin["sent"].as_array().into_iter().flatten() {
                let sender = origin["sent_by"]["row"].as_u64().expect("who sent it") as usize;
                let reads = rows[sender]["reads"].as_array().unwrap();
                let read = reads.iter().find(|r| r["full"] == input["full"]);
                assert_eq!(read.map(|r| &r["value"]), Some(&input["value"]), "{name}: {full}, sent");
                sent += 1;
            }
            asked += 1;
        }
        // Every view answers at every model.
        for question in ["next", "heap", "graph", "reductions", "class", "passing"] {
            ask(question, &json!({ "path": path, "at": length }));
        }
        ask("next", &json!({ "path": path, "at": 0 }));
        // What a place is: its state and what can happen next; by the run's short name, too.
        let short = json!(format!("~{}", run["id"].as_str().unwrap()));
        let place = ask("place", &json!({ "path": path, "at": length }));
        assert_eq!(place["state"], state, "{name}");
        assert_eq!(ask("place", &json!({ "path": short, "at": length })), place, "{name}");
        let half = length / 2;
        let shorter = ask("run", &json!({ "path": format!("~{}:{half}", run["id"].as_str().unwrap()) }));
        assert_eq!(shorter["length"], half, "{name}");
        // What the page has already is left out, and the rest is the same.
        let known = rows.len() / 2;
        let rest = ask("run", &json!({ "path": path, "known": known }));
        let told = |run: &Value| quotient_explorer::packed(&run["rows"]["statement"]);
        assert_eq!(
            (told(&run)[known..].to_vec(), rest["from"].as_u64()),
            (told(&rest), Some(known as u64)),
            "{name}"
        );
        ask("find", &json!({ "path": path, "text": "x", "row": 0 }));
        ask("changed", &json!({ "path": path }));
    }
    println!("{asked} values, {inputs} of what they were made from, {sent} of what their senders read");
    assert!(asked > 500 && inputs > 200 && sent > 20, "{asked} values, {inputs} inputs, {sent} sent");
}

/// Four philosophers around a table: after one step of one of them, the state stands for four, each of which can be gone to and has the
/// same class; the renamings are rotations.
#[test]
fn the_members_of_a_class_are_places_to_stand_at() {
    let types = Types::of_the_page();
    let text = "#define N 4\nbool taken[N];\nactive [N] proctype philosopher() {\n\tdo :: atomic { !taken[_pid] -> taken[_pid] = true };\n\
                atomic { !taken[(_pid + 1) % N] -> taken[(_pid + 1) % N] = true };\ntaken[_pid] = false; taken[(_pid + 1) % N] = false od }\n";
    let model = Model::from_text("ring.pml", text).unwrap();
    let session = Session::new(Arc::new(model), "ring.pml".into(), Vec::new(), Opening::default()).unwrap();
    let class = |path: &Value| ask(&types, &session, "ring", "class", &json!({ "path": path }));
    let start = class(&json!("q1:"));
    assert_eq!(start["count"], 1, "{start}");
    let one = class(&json!("q1:0"));
    assert_eq!(one["count"], 4, "{one}");
    let plays: Vec<&Value> = one["members"].as_array().unwrap().iter().map(|m| &m["plays"]).collect();
    assert_eq!(plays, [&json!([[0, 0]]), &json!([[0, 1]]), &json!([[0, 2]]), &json!([[0, 3]])]);
    for member in one["members"].as_array().unwrap() {
        let other = class(&member["path"]);
        assert_eq!(other["count"], 4, "{other}");
    }
    // Two neighbours have a fork each: the table can be turned, and nothing else.
    let two = class(&json!("q1:0.1"));
    assert_eq!(two["count"], 4, "{two}");
    // Two that sit opposite: turning by two is the same state.
    assert_eq!(class(&json!("q1:0.2"))["count"], 2);
    // The graph beside: 4 states become one.
    let graph = ask(&types, &session, "ring", "graph", &json!({ "path": "q1:" }));
    let of_layer = |layer: u64| {
        let nodes = graph["nodes"].as_array().unwrap().iter().filter(|n| n["layer"] == layer);
        let classes: std::collections::BTreeSet<u64> =
            nodes.clone().map(|n| n["class"].as_u64().unwrap()).collect();
        (nodes.count(), classes.len())
    };
    assert_eq!((of_layer(0), of_layer(1)), ((1, 1), (4, 1)), "{graph}");
}

/// Processes that end do so in the order of their numbers, which tells them apart; a check leaves their ends out and finds them alike. The
/// page says both, and does not contradict itself.
#[test]
fn symmetry_that_only_the_reduced_program_has_is_told() {
    let text = "byte x; active [2] proctype P() { x++; x-- }\n";
    let model = Arc::new(Model::from_text("ends.pml", text).unwrap());
    let session = Session::new(model.clone(), "ends.pml".into(), Vec::new(), Opening::default()).unwrap();
    let why = || session.answer("class", &json!({ "path": "q1:" })).unwrap()["why"].clone();
    assert_eq!(why(), "No renaming was found that keeps the program as it is.");
    let outcome = model.check(&Check::default()).unwrap();
    assert!(!outcome.symmetry.found.is_empty(), "{:?}", outcome.symmetry);
    session.knows(&outcome, 0.0);
    assert!(why().as_str().unwrap().contains("after its reductions"), "{}", why());
}

/// A run that goes on for ever, and who is left out of it.
#[test]
fn who_never_moves_in_a_cycle_is_told() {
    let text =
        "bool a; active proctype P() { do :: a = 1 - a od } active proctype Q() { byte n; do :: n = 1 od }";
    let model = Model::from_text("left.pml", text).unwrap();
    let session = Session::new(Arc::new(model), "left.pml".into(), Vec::new(), Opening::default()).unwrap();
    let told =
        |path: &str, cycle: u64| session.answer("starved", &json!({ "path": path, "cycle": cycle })).unwrap();
    assert_eq!(told("q1:0*2", 2)["starved"][0]["name"], "Q(1)");
    assert_eq!(told("q1:0.1.0.1", 4)["starved"], json!([]));
}
