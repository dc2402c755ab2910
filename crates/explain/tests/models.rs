//! What is said of runs, compared with what the machine does, on every model of this repository and on random programs: random walks from
//! fixed seeds. `QUOTIENT_RANDOM_PROGRAMS` sets how many programs.

use std::collections::{BTreeMap, BTreeSet};

use quotient_engine::Model;
use quotient_explain::{Course, Ending, Evaluation, Look, Position, Reason, possible, reason};
use quotient_machine::{Machine, ObjectNames};
use quotient_program::{Expr, Operation};
use quotient_reference::{generate, print};
use quotient_seams::{Interrupt, Scope, Successors, System};
use quotient_testing::{Random, models, setting};

/// A run of at most `steps` steps, chosen at random.
fn walk(machine: &mut Machine, random: &mut Random, steps: usize) -> Option<Course> {
    let mut course = Course::start(machine)?;
    for _ in 0..steps {
        // A state in which something went wrong is not one to go on from.
        if course.ending != Ending::Open {
            break;
        }
        let (state, _) = course.state(machine, course.len());
        let ways = possible(machine, &state);
        if ways.is_empty() {
            break;
        }
        let choice = random.below(ways.len());
        let way = ways.into_iter().nth(choice)?;
        course.take(machine, way);
    }
    Some(course)
}

/// The machine's own list of values, by name.
fn values(machine: &Machine, state: &[u64], names: &ObjectNames) -> BTreeMap<String, String> {
    machine.values(state, names).into_iter().map(|v| (v.name, v.text)).collect()
}

/// A thread that has ended and an object that was deleted are called otherwise; what refers to them has not changed.
fn is_called_otherwise(value: &str) -> bool {
    value.starts_with("ended(") || value.ends_with(" (deleted)")
}

/// The models of this repository and random programs, with names.
fn subjects() -> impl Iterator<Item = (String, Model)> {
    let files = models().into_iter().filter_map(|file| {
        let model = Model::load(&file, &Default::default()).ok()?;
        Some((file.file_name().unwrap().to_string_lossy().into_owned(), model))
    });
    let programs = setting("QUOTIENT_RANDOM_PROGRAMS", 500);
    let random = (0..programs).filter_map(|seed| {
        let text = print(&generate(9_100_000 + seed, 1 + (seed % 12) as usize));
        Some((format!("program {seed}"), Model::from_text("random.pml", &text).ok()?))
    });
    files.chain(random)
}

fn each_walk(seed: u64, each: impl FnMut(&str, &Model, &mut Machine, Course)) -> usize {
    each_long_walk(seed, 60, each)
}

fn each_long_walk(
    seed: u64,
    steps: usize,
    mut each: impl FnMut(&str, &Model, &mut Machine, Course),
) -> usize {
    let mut count = 0;
    for (index, (name, model)) in subjects().enumerate() {
        let Ok(mut machine) = model.as_written() else { continue };
        let mut random = Random::new(seed + index as u64);
        if let Some(course) = walk(&mut machine, &mut random, steps) {
            each(&name, &model, &mut machine, course);
            count += 1;
        }
    }
    count
}

/// Every value that changes in a statement is among what the statement is said to write, under the name that traces use.
#[test]
fn what_changes_is_written() {
    let walks = each_walk(1, |file, _, machine, course| {
        let mut before = course.state(machine, 0);
        let mut row = 0;
        for step in 0..course.len() {
            let mut seen = Vec::new();
            course.explain(machine, step, step + 1, |machine, _, effect, after| {
                seen.push((effect, after.map(|(s, n)| (s.to_vec(), n.clone(), values(machine, s, n)))));
            });
            for (effect, after) in seen {
                let Some((state, names, new)) = after else { continue };
                let old = values(machine, &before.0, &before.1);
                let written: BTreeSet<&str> = effect.writes.iter().map(|w| w.full.as_str()).collect();
                for (name, value) in &new {
                    if old.get(name) != Some(value) && !is_called_otherwise(value) {
                        assert!(
                            written.contains(name.as_str()),
                            "{file}: row {row}: {name} becomes {value}, written: {written:?}"
                        );
                    }
                }
                for write in effect.writes.iter().filter(|w| w.after.is_some()) {
                    if let (Some(shown), Some(after)) = (new.get(&write.full), &write.after)
                        && !is_called_otherwise(shown)
                    {
                        assert_eq!(
                            shown.replace("null", "none"),
                            after.to_string(),
                            "{file}: row {row}: {}",
                            write.full
                        );
                    }
                }
                before = (state, names);
                row += 1;
            }
            before = course.state(machine, step + 1);
        }
    });
    assert!(walks > 800, "{walks} walks");
}

/// A position gives the same run again, from its text.
#[test]
fn positions_lead_where_they_came_from() {
    each_walk(2, |file, _, machine, course| {
        let text = Position { moves: course.moves.clone(), checksum: None }.to_string();
        let again = Course::follow(machine, &text.parse().unwrap(), &Interrupt::new()).unwrap();
        assert_eq!(again.rows, course.rows, "{file}");
        assert_eq!(again.ending, course.ending, "{file}");
        for step in [0, course.len() / 2, course.len()] {
            assert_eq!(again.state(machine, step).0, course.state(machine, step).0, "{file}");
        }
    });
}

/// "Set in step N" leads to a statement that writes that place, and no later one before here does.
#[test]
fn who_set_a_value_wrote_it() {
    let mut found = 0;
    each_walk(3, |file, _, _, course| {
        for row in [course.rows.len() / 2, course.rows.len()] {
            for name in &course.written {
                let writes =
                    |r: &usize| course.writes(*r).iter().any(|(n, _)| course.written[*n as usize] == *name);
                // Looked for from the end, one after the other.
                let last = (0..row).rev().find(writes).map(|r| r as u32);
                assert_eq!(course.set_by(name, row), last, "{file}: {name}");
                found += usize::from(last.is_some());
            }
        }
    });
    assert!(found > 1_000, "{found}");
}

/// A branch of a run is the run of its first steps, as if nothing else had been made.
#[test]
fn a_branch_is_as_if_followed_from_the_start() {
    let mut branches = 0;
    each_long_walk(6, 150, |file, _, machine, course| {
        for steps in [0, 1, 63, 64, 65, course.len() / 2, course.len()] {
            let position =
                Position { moves: course.moves[..steps.min(course.len())].to_vec(), checksum: None };
            let plain = Course::follow(machine, &position, &Interrupt::new()).unwrap();
            let branch = course.branch(machine, steps);
            assert_eq!(
                (
                    &branch.moves,
                    &branch.rows,
                    &branch.first_row,
                    &branch.called,
                    &branch.held,
                    &branch.ending
                ),
                (&plain.moves, &plain.rows, &plain.first_row, &plain.called, &plain.held, &plain.ending),
                "{file}: {steps}"
            );
            assert_eq!(branch.state(machine, steps).0, plain.state(machine, steps).0, "{file}: {steps}");
            for name in &plain.written {
                let rows = plain.rows.len();
                assert_eq!(branch.set_by(name, rows), plain.set_by(name, rows), "{file}: {name}");
            }
            // It goes on as the run did.
            let mut again = branch;
            if again.ending == Ending::Open {
                let moves = &course.moves[steps.min(course.len())..];
                again.go_on(machine, moves, &Interrupt::new());
                assert_eq!((&again.rows, &again.held), (&course.rows, &course.held), "{file}: {steps}");
                for row in 0..course.rows.len() {
                    assert_eq!(again.writes(row), course.writes(row), "{file}: {row}");
                }
            }
            branches += 1;
        }
    });
    assert!(branches > 1_000, "{branches}");
}

/// What a statement is said to read is what the state before it holds there, under the name that the state gives it, unless the statement
/// itself wrote it before.
#[test]
fn what_is_read_is_what_was_there() {
    let mut compared = 0;
    each_walk(5, |file, _, machine, course| {
        let mut before = course.state(machine, 0);
        for step in 0..course.len() {
            let mut seen = Vec::new();
            course.explain(machine, step, step + 1, |_, _, effect, after| {
                seen.push((effect, after.map(|(s, n)| (s.to_vec(), n.clone()))));
            });
            for (effect, after) in seen {
                let old = values(machine, &before.0, &before.1);
                for read in &effect.reads {
                    let own = effect.writes.iter().any(|w| w.full == read.full);
                    if let (Some(held), false) = (old.get(&read.full), own)
                        && !is_called_otherwise(held)
                        // A channel's own variable names the channel; the name stands for what is in it.
                        && read.value.to_string() != read.full
                    {
                        compared += 1;
                        assert_eq!(
                            held.replace("null", "none"),
                            read.value.to_string(),
                            "{file}: step {}: {}",
                            step + 1,
                            read.full
                        );
                    }
                }
                if let Some(after) = after {
                    before = after;
                }
            }
            before = course.state(machine, step + 1);
        }
    });
    assert!(compared > 5_000, "{compared} reads");
}

/// Every violation that a check finds is a run of the program as written, as long as its trace says: the number of a step is the same in both.
#[test]
fn steps_of_traces_are_positions() {
    let mut compared = 0;
    for (name, model) in subjects().step_by(2) {
        let limits = quotient_search::Limits { states: Some(500), ..Default::default() };
        let check = quotient_engine::Check { limits, ..Default::default() };
        let Ok(outcome) = model.check(&check) else { continue };
        for v in &outcome.violations {
            let path = model.written_path(v.question, &v.choices, v.cycle, quotient_engine::Compile::REDUCED);
            let path = path.unwrap_or_else(|e| panic!("{name}: {e}"));
            let last = v.trace.steps.last().map_or(0, |s| s.number);
            // Steps in which only a claim moves are not steps of the program.
            let alone = v.trace.steps.iter().filter(|s| s.process == "-" || s.process == "claim").count();
            let steps = path.choices.len() - 1;
            assert!(steps <= last && last <= steps + alone, "{name}: {steps} steps, the trace has {last}");
            if alone > 0 {
                continue;
            }
            let mut machine = model.as_written().unwrap();
            let Some(mut course) = Course::start(&mut machine) else { continue };
            for &choice in path.choices.iter().skip(1) {
                let (state, _) = course.state(&mut machine, course.len());
                let way = possible(&mut machine, &state).into_iter().nth(choice as usize).unwrap();
                course.take(&mut machine, way);
            }
            let told: Vec<(usize, u32)> = v.trace.steps.iter().map(|s| (s.number, s.pid)).collect();
            let made: Vec<(usize, u32)> = course.rows.iter().map(|r| (r.step as usize, r.thread)).collect();
            assert_eq!(told, made, "{name}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared} violations");
}

/// A state that a search finds is the one at its address: states are found breadth first by the machine's own successors, which is what a search asks,
/// and each is then gone to by the text of its position.
#[test]
fn positions_lead_to_the_states_of_a_search() {
    let mut compared = 0;
    for (name, model) in subjects().step_by(2) {
        let Ok(mut machine) = model.as_written() else { continue };
        let mut out = Successors::new();
        if machine.initial(&mut out).is_err() || out.is_empty() || !out.entry(0).has_state() {
            continue;
        }
        // Each state with the numbers of the choices that lead to it.
        let mut found: Vec<(Vec<u64>, Vec<usize>)> = vec![(out.state(0).to_vec(), Vec::new())];
        let mut seen: BTreeSet<Vec<u64>> = found.iter().map(|f| f.0.clone()).collect();
        let mut next = 0;
        while next < found.len() && found.len() < 60 {
            let (state, choices) = found[next].clone();
            next += 1;
            out.clear();
            if machine.successors(&state, Scope::All, &mut out).is_err() {
                break;
            }
            for index in 0..out.len() {
                if out.entry(index).has_state() && seen.insert(out.state(index).to_vec()) {
                    let mut choices = choices.clone();
                    choices.push(index);
                    found.push((out.state(index).to_vec(), choices));
                }
            }
        }
        for (state, choices) in found.iter().step_by(7) {
            let Some(mut course) = Course::start(&mut machine) else { continue };
            for choice in choices {
                let (here, _) = course.state(&mut machine, course.len());
                let way = possible(&mut machine, &here).into_iter().nth(*choice).unwrap();
                course.take(&mut machine, way);
            }
            let address = Position { moves: course.moves, checksum: None }.to_string();
            let there = Course::follow(&mut machine, &address.parse().unwrap(), &Interrupt::new()).unwrap();
            assert_eq!(there.state(&mut machine, there.len()).0, *state, "{name}: {address}");
            compared += 1;
        }
    }
    assert!(compared > 1_000, "{compared} states");
}

/// Conditions have the value here that the machine gives them: what can be executed is true, and where a condition is the only thing that
/// keeps a thread from moving, it is false. Reasons say what is so.
#[test]
fn conditions_and_reasons_agree_with_the_machine() {
    let (mut conditions, mut reasons) = (0, 0);
    each_walk(4, |file, _, machine, course| {
        let plain = {
            let program = machine.program();
            !program.commits()
                && !program.features.priorities
                && program.functions.iter().all(|f| f.provided.is_none())
        };
        let steps = if course.ending == Ending::Open { course.len() + 1 } else { course.len() };
        for step in 0..steps {
            let (state, names) = course.state(machine, step);
            // A step that goes wrong may do so in its condition.
            let ways = possible(machine, &state);
            if ways.iter().any(|p| p.record.violation.is_some()) {
                continue;
            }
            let enabled: BTreeSet<(u32, u32)> = ways
                .iter()
                .filter_map(|p| p.record.steps().first().map(|s| (s.thread, s.transformation)))
                .collect();
            let partners: BTreeSet<u32> = ways
                .iter()
                .flat_map(|p| p.record.steps().iter().filter_map(|s| s.partner).collect::<Vec<_>>())
                .collect();
            let look = Look::new(machine, &state, &names);
            let mut number = 0;
            let mut first = Vec::new();
            for function in &machine.program().functions {
                first.push(Vec::new());
                for location in &function.locations {
                    first.last_mut().unwrap().push(number);
                    number += location.transformations.len() as u32;
                }
            }
            for thread in machine.threads(&state) {
                let function = &machine.program().functions[thread.function as usize];
                let location = &function.locations[thread.location as usize];
                for (index, t) in location.transformations.iter().enumerate() {
                    let at = first[thread.function as usize][thread.location as usize] + index as u32;
                    let can = enabled.contains(&(thread.id, at));
                    if let Operation::When(condition) = &t.operation {
                        let value = Evaluation::new(&look, Some(thread.id)).value(condition);
                        if let Ok(value) = value {
                            conditions += 1;
                            if can {
                                assert_ne!(value, 0, "{file}: step {step}: {}", t.text);
                            } else if plain
                                && location.transformations.iter().all(|o| o.rank == t.rank)
                                && no_choice(t)
                            {
                                assert_eq!(value, 0, "{file}: step {step}: {}", t.text);
                            }
                        }
                    }
                    if can || partners.contains(&thread.id) || !no_choice(t) {
                        continue;
                    }
                    match reason(&look, thread.id, function, location, t) {
                        // The condition is false here, and what the reason says was read is what the state holds.
                        Reason::False { reads, .. } => {
                            reasons += 1;
                            if let Operation::When(condition) = &t.operation {
                                let value = Evaluation::new(&look, Some(thread.id)).value(condition);
                                assert_eq!(value.ok(), Some(0), "{file}: step {step}: {}", t.text);
                            }
                            let held = values(machine, &state, &names);
                            for read in &reads {
                                let Some(held) = held.get(&read.full) else { continue };
                                let (said, held) = (read.value.to_string(), held.replace("null", "none"));
                                let same = said == held || said == read.full || is_called_otherwise(&held);
                                assert!(same, "{file}: step {step}: {} is {held}, not {said}", read.full);
                            }
                        }
                        why @ (Reason::Full(_) | Reason::Empty(_)) => {
                            reasons += 1;
                            let (Reason::Full(name) | Reason::Empty(name)) = &why else { continue };
                            if let Some(text) = values(machine, &state, &names).get(name) {
                                let is_empty = matches!(why, Reason::Empty(_));
                                assert_eq!(text == "[]", is_empty, "{file}: step {step}: {name} is {text}");
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
    });
    assert!(conditions > 3_000 && reasons > 2_000, "{conditions} conditions, {reasons} reasons");
}

/// No action of a transformation can keep it from being taken.
fn no_choice(t: &quotient_program::Transformation) -> bool {
    use quotient_program::Action;
    t.actions.iter().all(|a| !matches!(a, Action::Choose { .. } | Action::Assume(_)))
        && !matches!(&t.operation, Operation::When(e) if mentions_timeout(e))
}

fn mentions_timeout(expr: &Expr) -> bool {
    format!("{expr:?}").contains("Timeout")
}
