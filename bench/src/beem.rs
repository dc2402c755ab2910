//! `beem`: the BEEM benchmarks, with the counts and answers that are published with them.
//!
//! The models are not part of this project: `--from` names a checkout of a public copy, with `results.xml` beside the models of
//! each family. Every instance is searched whole, without reductions, under a time limit, the smallest first; then every
//! property is asked: for an accepted run of the property process (`NAME.ID.propN.dve`), as a formula of linear time, and for goals that can
//! be reached. What was found is written to a log, and
//! what the log knows is not computed again. A difference is a failure; what is over the limit is not.
//!
//! DiVinE has one more state where something has no value: the error state. It is counted here, and so are the steps to it.

use crate::beem_formulas::{Family, Kind};
use crate::process;
use crate::quotient;
use crate::table;
use serde_json::Value;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `beem`.
#[derive(clap::Args)]
pub struct Options {
    /// The checkout, or any folder in it with `results.xml` files below
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Instances with at most so many published states
    #[arg(long, default_value_t = 10_000_000, value_name = "N")]
    most_states: u64,
    /// Seconds per instance
    #[arg(long, default_value_t = 300)]
    seconds: u64,
    /// Where results are kept from one run to the next
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Only instances whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    only: String,
    /// Leave the property processes out
    #[arg(long)]
    no_properties: bool,
    /// The `quotient` binary [default: the one beside this program]
    #[arg(long)]
    quotient: Option<PathBuf>,
}

/// What is published about an instance.
#[derive(Debug, Default, PartialEq)]
struct Instance {
    name: String,
    folder: PathBuf,
    states: u64,
    /// The search that counted came to its end.
    complete: bool,
    transitions: Option<u64>,
    /// Property numbers, and whether the property holds; nothing where that is not known.
    ltl: Vec<(u32, Option<bool>)>,
    /// Goals, and whether one can be reached.
    goals: Vec<(u32, Option<bool>)>,
}

/// Runs the subcommand; `Ok(false)` when something differs.
pub fn run(options: &Options) -> Result<bool, String> {
    // SAFETY: plain numbers; children inherit the priority. Failing leaves it as it is.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 10) };
    let binary = options.quotient.clone().unwrap_or_else(quotient::default_binary);
    let mut log = Log::open(options.log.as_deref())?;
    let mut instances = Vec::new();
    find(&options.from, 0, &mut instances)?;
    if instances.is_empty() {
        return Err(format!("{}: no results.xml below", options.from.display()));
    }
    let wanted = |i: &Instance| i.states <= options.most_states && i.name.contains(&options.only);
    instances.retain(wanted);
    instances.sort_by_key(|i| i.states);
    let whole: Vec<&Instance> = instances.iter().filter(|i| i.complete).collect();
    let mut same = count(&whole, &binary, options, &mut log)?;
    if !options.no_properties {
        same &= properties(&instances, &binary, options, &mut log)?;
    }
    Ok(same)
}

/// States and transitions of all instances.
fn count(instances: &[&Instance], binary: &Path, options: &Options, log: &mut Log) -> Result<bool, String> {
    let mut rows = Vec::new();
    let (mut states_agree, mut transitions_agree, mut transitions_known) = (0, 0, 0);
    let (mut differ, mut open) = (0, 0);
    for instance in instances {
        let model = instance.folder.join(format!("{}.dve", instance.name));
        let found =
            log.ask(&format!("count {}", instance.name), || counted(binary, &model, options.seconds))?;
        let published = instance.transitions.map_or("?".into(), |t| t.to_string());
        let mut row = vec![instance.name.clone(), instance.states.to_string(), published];
        match found.split(' ').collect::<Vec<_>>()[..] {
            [states, transitions, errors, seconds] => {
                let number = |text: &str| text.parse::<u64>().unwrap_or(0);
                let (states, errors) = (number(states), number(errors));
                let transitions = number(transitions) + errors;
                let states = states + u64::from(errors > 0);
                let mut same = states == instance.states;
                states_agree += u32::from(same);
                if let Some(known) = instance.transitions {
                    transitions_known += 1;
                    transitions_agree += u32::from(known == transitions);
                    same &= known == transitions;
                }
                differ += u32::from(!same);
                let note = match (same, errors) {
                    (false, _) => "differs",
                    (true, 0) => "",
                    _ => "with the error state",
                };
                row.extend([states.to_string(), transitions.to_string(), seconds.into(), note.into()]);
            }
            _ => {
                open += 1;
                row.extend(["-".into(), "-".into(), "-".into(), found]);
            }
        }
        rows.push(row);
    }
    let heading = ["instance", "states", "transitions", "ours", "ours", "s", ""];
    println!("{}", table::render(&heading, &rows));
    println!(
        "{} instances: states of {states_agree} agree, transitions of {transitions_agree} of {transitions_known}; {differ} differ, {open} not decided",
        rows.len()
    );
    Ok(differ == 0)
}

/// Answers about property processes, formulas and goals of all instances.
fn properties(
    instances: &[Instance],
    binary: &Path,
    options: &Options,
    log: &mut Log,
) -> Result<bool, String> {
    let mut rows = Vec::new();
    let mut totals =
        [("property process", Tally::default()), ("formula", Tally::default()), ("goal", Tally::default())];
    for instance in instances {
        let asked = instance
            .ltl
            .iter()
            .flat_map(|p| [(0, *p), (1, *p)])
            .chain(instance.goals.iter().map(|p| (2, *p)));
        for (kind, (number, published)) in asked {
            let name = format!("{}.prop{number}", instance.name);
            let Some(question) = question(instance, kind, number) else { continue };
            let key = format!("{} {name}", totals[kind].0.replace("property process", "property"));
            let found = log.ask(&key, || answered(binary, &question, options.seconds))?;
            let word = |holds: bool| if holds { "holds" } else { "violated" };
            // A goal that cannot be reached is an invariant that holds.
            let published = published.map(|p| word(p != (kind == 2)));
            let answer = ["holds", "violated"].into_iter().find(|w| found.starts_with(w));
            let note = totals[kind].1.add(answer, published, &found);
            let (published, answer) = (published.unwrap_or("unknown"), answer.unwrap_or("-"));
            rows.push(vec![name, totals[kind].0.into(), published.into(), answer.into(), note]);
        }
    }
    println!("{}", table::render(&["property", "as", "published", "ours", ""], &rows));
    for (name, tally) in &totals {
        let Tally { agree, differ, open, new } = tally;
        println!(
            "{name}: {agree} agree, {differ} differ, {open} not decided, {new} decided without a published answer"
        );
    }
    Ok(totals.iter().all(|(_, tally)| tally.differ == 0))
}

/// How answers compare.
#[derive(Default)]
struct Tally {
    agree: u32,
    differ: u32,
    open: u32,
    new: u32,
}

impl Tally {
    fn add(&mut self, answer: Option<&str>, published: Option<&str>, found: &str) -> String {
        let (count, note) = match (answer, published) {
            (None, _) => (&mut self.open, found),
            (Some(_), None) => (&mut self.new, ""),
            (Some(a), Some(b)) if a == b => (&mut self.agree, ""),
            _ => (&mut self.differ, "differs"),
        };
        *count += 1;
        note.to_owned()
    }
}

/// A question about a property of an instance: the model with its property process, or the model alone with a formula.
struct Asked {
    model: PathBuf,
    flags: Vec<String>,
}

fn question(instance: &Instance, kind: usize, number: u32) -> Option<Asked> {
    let base = instance.folder.join(&instance.name);
    let file = |end: &str| PathBuf::from(format!("{}{end}", base.display()));
    if kind == 0 {
        let model = file(&format!(".prop{number}.dve"));
        return model.is_file().then(|| Asked { model, flags: Vec::new() });
    }
    let (family, id) = instance.name.rsplit_once('.')?;
    let above = instance.folder.parent()?;
    let read = |end: &str| std::fs::read_to_string(above.join(format!("{family}.{end}")));
    let known = Family::read(&read("xml").ok()?, &read("mdve").unwrap_or_default());
    let flags = match kind {
        1 => vec!["--ltl".to_owned(), known.formula(id, number, Kind::Linear)?],
        _ => vec!["--invariant".to_owned(), format!("!({})", known.formula(id, number, Kind::Goal)?)],
    };
    Some(Asked { model: file(".dve"), flags })
}

/// One run of the checker, and its answer in JSON.
fn check(binary: &Path, flags: &[&str], model: &Path, seconds: u64) -> Result<(Value, f64), String> {
    let mut command = Command::new(binary);
    command.arg("check").args(flags).args(["--json", "--max-time", &format!("{seconds}s")]).arg(model);
    let finished = process::run(&mut command, Some(4 * seconds + 10))?;
    let json: Value = serde_json::from_str(&finished.stdout).unwrap_or_default();
    if json["verdict"].is_string() {
        return Ok((json, finished.cpu_seconds));
    }
    Err(format!("no answer: status {:?}, signal {:?}", finished.status, finished.signal))
}

/// The first line of what an answer says.
fn message(answer: &Value) -> String {
    let message = answer["message"].as_str().unwrap_or("");
    message.lines().next().unwrap_or("").to_owned()
}

/// States, transitions, faults and CPU seconds, as a line for the log.
fn counted(binary: &Path, model: &Path, seconds: u64) -> String {
    let (json, cpu) = match check(binary, &["--raw", "--all", "--safety"], model, seconds) {
        Ok(answer) => answer,
        Err(why) => return why,
    };
    // What was found before a limit decides some questions, but counts nothing.
    if let Some(left) = json["unexplored"].as_u64().filter(|left| *left > 0) {
        return format!("undecided: {left} states were left when the search was stopped");
    }
    match json["verdict"].as_str() {
        Some("holds" | "violated") => {
            // A deadlock is a state like any other.
            let all = json["violations"].as_array().into_iter().flatten();
            let faults = all.filter(|v| v["kind"] != "deadlock").map(|v| v["count"].as_u64().unwrap_or(1));
            format!("{} {} {} {cpu:.1}", json["states"], json["transitions"], faults.sum::<u64>())
        }
        other => format!("{}: {}", other.unwrap_or(""), message(&json)),
    }
}

/// What is found out about a property, as a line for the log. Deadlocks and faults are other questions.
fn answered(binary: &Path, asked: &Asked, seconds: u64) -> String {
    let flags = asked.flags.iter().map(String::as_str);
    let flags: Vec<&str> = ["--all", "--no-deadlock"].into_iter().chain(flags).collect();
    let (json, cpu) = match check(binary, &flags, &asked.model, seconds) {
        Ok(answer) => answer,
        Err(why) => return why,
    };
    let mut answers = json["answers"].as_array().into_iter().flatten();
    let claim = answers.find(|a| a["question"].as_str().is_some_and(|q| q.starts_with("claim")));
    match claim {
        Some(answer) => match answer["verdict"].as_str() {
            Some(verdict @ ("holds" | "violated")) => format!("{verdict} {} {cpu:.1}", answer["states"]),
            other => format!("{}: {}", other.unwrap_or(""), message(answer)),
        },
        None => format!("{}: {}", json["verdict"].as_str().unwrap_or(""), message(&json)),
    }
}

/// Results of earlier runs.
struct Log {
    known: HashMap<String, String>,
    file: Option<std::fs::File>,
}

impl Log {
    fn open(path: Option<&Path>) -> Result<Log, String> {
        let Some(path) = path else { return Ok(Log { known: HashMap::new(), file: None }) };
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let entry = |line: &str| line.split_once('\t').map(|(a, b)| (a.to_owned(), b.to_owned()));
        let known = text.lines().filter_map(entry).collect();
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Log { known, file: Some(file) })
    }

    /// What is known, or what `compute` gives.
    fn ask(&mut self, name: &str, compute: impl FnOnce() -> String) -> Result<String, String> {
        if let Some(known) = self.known.get(name) {
            return Ok(known.clone());
        }
        let found = compute();
        if let Some(file) = &mut self.file {
            writeln!(file, "{name}\t{found}").map_err(|error| error.to_string())?;
        }
        eprintln!("{name}: {found}");
        Ok(found)
    }
}

/// Finds the published results in a folder and those below it.
fn find(folder: &Path, depth: usize, out: &mut Vec<Instance>) -> Result<(), String> {
    let results = folder.join("results.xml");
    if let Ok(text) = std::fs::read_to_string(&results) {
        let mut found = published(&text);
        for instance in &mut found {
            instance.folder = folder.to_owned();
            let statistics = folder.join(format!("{}.stat.xml", instance.name));
            let text = std::fs::read_to_string(statistics).unwrap_or_default();
            instance.transitions = element(&text, "edges").and_then(|t| t.parse().ok());
        }
        out.append(&mut found);
        return Ok(());
    }
    if depth == 4 {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    folders.iter().try_for_each(|below| find(below, depth + 1, out))
}

/// The instances of a `results.xml`.
fn published(text: &str) -> Vec<Instance> {
    let mut instances = Vec::new();
    for part in text.split("<instance ").skip(1) {
        let (Some(name), Some(id)) = (attribute(part, "name"), attribute(part, "id")) else { continue };
        let states = element(part, "states").and_then(|s| s.parse().ok()).unwrap_or(0);
        let complete = attribute(part, "complete") == Some("yes");
        let answers = |element: &str| {
            let start = format!("<{element} ");
            let parts = part.split(&start).skip(1).filter_map(|p| {
                let answer = match attribute(p, "answer")? {
                    "yes" => Some(true),
                    "no" => Some(false),
                    _ => None,
                };
                Some((attribute(p, "prop-id")?.parse().ok()?, answer))
            });
            parts.collect::<Vec<(u32, Option<bool>)>>()
        };
        let (ltl, goals) = (answers("ltl-prob"), answers("reach-goal"));
        let name = format!("{name}.{id}");
        instances.push(Instance { name, states, complete, ltl, goals, ..Instance::default() });
    }
    instances
}

/// The first value of an attribute.
fn attribute<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let start = text.find(&format!("{name}=\""))? + name.len() + 2;
    let length = text[start..].find('"')?;
    Some(&text[start..start + length])
}

/// The content of the first element with a name.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let start = text.find(&format!("<{name}>"))? + name.len() + 2;
    let length = text[start..].find('<')?;
    Some(text[start..start + length].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read() {
        let text = r#"<instance-list>
<instance name="lock" id="1"><reach-time complete="yes">4.1</reach-time><states>12</states>
<reach-goal prop-id="1" answer="yes" length="1"/><ltl-prob prop-id="2" answer="no" length="3"/></instance>
<instance name="lock" id="2"><reach-time complete="no">9</reach-time><states>99</states>
<ltl-prob prop-id="2" answer="unknown" length="0"/><ltl-prob prop-id="3" answer="yes" length="0"/></instance>"#;
        let found = published(text);
        assert_eq!(found.len(), 2);
        assert_eq!((&*found[0].name, found[0].states, found[0].complete), ("lock.1", 12, true));
        assert_eq!(found[0].ltl, [(2, Some(false))]);
        assert_eq!((&*found[1].name, found[1].complete), ("lock.2", false));
        assert_eq!(found[1].ltl, [(2, None), (3, Some(true))]);
    }
}
