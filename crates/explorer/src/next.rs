//! What can happen next and why not, and where values come from.

use quotient_explain::{Course, Ending, Look, Position, Possible, Reason, offered, reason};
use quotient_machine::Machine;
use quotient_program::Operation;
use quotient_seams::{Scope, System};
use serde_json::{Value, json};

use crate::reductions::{self, Way};
use crate::session::{Session, Work, place};

impl Session {
    pub(crate) fn next(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let at = Session::at(&course, body);
        // Nothing follows what goes wrong; the others still wait for something.
        let over = goes_wrong(&course, at);
        let failing = course.rows.last().filter(|_| over).map(|row| row.thread);
        let model = work.model.clone();
        let (chosen, machine) = work.chosen();
        let (state, names) = course.state(machine, at);
        // Where a run goes wrong, the state may be one within a step: nothing is asked of it but its values.
        let asked = chosen.off().is_none() && !over;
        let explored = asked.then(|| chosen.explored(machine, &state));
        let ways = if over { Vec::new() } else { offered(machine, &state) };
        let taken = course.moves.get(at).copied();
        let set_by = course.set_by(course.first_row[at] as usize);
        let mut enabled: Vec<(u32, u32)> = Vec::new();
        let mut choices = Vec::new();
        for Possible { way, record } in &ways {
            let steps = record.steps();
            enabled.extend(steps.first().map(|s| (s.thread, s.transformation)));
            enabled.extend(steps.first().and_then(|s| Some((s.partner?, u32::MAX))));
            let statements = steps.iter().map(|s| {
                let text = machine.transformation(s.transformation).map_or("", |(_, _, t)| &t.text);
                let (file, line) = place(&model, machine, s.transformation);
                json!({ "text": text, "file": file, "line": line, "pid": s.thread })
            });
            let statements: Vec<Value> = statements.collect();
            let step = Position { moves: vec![*way], checksum: None }.to_string();
            choices.push(json!({
                "move": step.strip_prefix("q1:"),
                "pid": way.thread,
                "process": machine.thread_name(&state, way.thread, &names),
                "statements": statements,
                "violation": record.violation.map(|code| machine.violation(code).message),
                "taken": taken == Some(*way),
                "explored": explored.map(|scope| scope.includes(way.thread)),
            }));
        }
        let look = Look::new(machine, &state, &names);
        let waiting = machine.threads(&state).into_iter().filter_map(|thread| {
            let function = &machine.program().functions[thread.function as usize];
            let location = &function.locations[thread.location as usize];
            let first = first_transformation(machine, thread.function, thread.location);
            if failing == Some(thread.id) || enabled.iter().any(|(id, t)| *id == thread.id && *t != u32::MAX)
            {
                return None;
            }
            let takes_part = enabled.contains(&(thread.id, u32::MAX));
            let ended =
                location.transformations.first().is_some_and(|t| matches!(t.operation, Operation::Exit));
            // Who could go on, as far as values tell, does not wait.
            let known = |t| reason(&look, thread.id, function, location, t) != Reason::Unknown;
            if over && !location.transformations.iter().all(known) {
                return None;
            }
            let statements = location.transformations.iter().enumerate().map(|(index, t)| {
                let why = reason(&look, thread.id, function, location, t);
                let name = |id: u32| machine.thread_name(&state, id, &names);
                let reads = match &why {
                    Reason::False { reads, .. } => reads
                        .iter()
                        .map(|r| {
                            let mut shown = r.json();
                            let set = set_by.get(r.full.as_str()).map(|row| {
                                let row = &course.rows[*row as usize];
                                json!({ "step": row.step, "pid": row.thread })
                            });
                            shown["set"] = json!(set);
                            shown
                        })
                        .collect(),
                    _ => Vec::new(),
                };
                let holder = match &why {
                    Reason::Held { holder, .. } => Some(*holder),
                    _ => None,
                };
                let (file, line) = place(&model, machine, first + index as u32);
                json!({
                    "text": if t.text == "-end-" { "ends" } else { t.text.as_str() },
                    "file": file, "line": line,
                    "why": why.sentence(&name), "reads": reads, "holder": holder,
                })
            });
            Some(json!({
                "pid": thread.id,
                "process": machine.thread_name(&state, thread.id, &names),
                "ended": ended,
                "takes_part": takes_part,
                "valid_end": location.end,
                "statements": statements.collect::<Vec<_>>(),
            }))
        });
        let waiting: Vec<Value> = waiting.collect();
        Ok(json!({ "choices": choices, "waiting": waiting, "over": over }))
    }

    /// Where a value comes from: the statement that wrote it, and what that statement read, some levels deep.
    pub(crate) fn because(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let full = body["full"].as_str().ok_or("a question about a value needs its name, `full`")?;
        let row = body["row"].as_u64().map_or(course.rows.len(), |row| row as usize).min(course.rows.len());
        Ok(self.origin(&mut work.machine, &course, full, row, 3))
    }

    fn origin(&self, machine: &mut Machine, course: &Course, full: &str, row: usize, levels: u32) -> Value {
        let set = course.set_by(row).get(full).copied();
        let Some(set) = set else { return json!({ "full": full, "set": null }) };
        let step = course.rows[set as usize].step as usize;
        let mut found = None;
        let mut index = course.first_row[step - 1];
        course.explain(machine, step - 1, step, |machine, statement, effect, _| {
            if index == set {
                let text = machine.transformation(statement.transformation).map(|(_, _, t)| t.text.clone());
                found = Some((statement.thread, text.unwrap_or_default(), effect));
            }
            index += 1;
        });
        let Some((pid, text, effect)) = found else { return json!({ "full": full, "set": null }) };
        let sent_by = course.rows[set as usize].sent_by;
        let mut inputs: Vec<Value> = Vec::new();
        if levels > 1 {
            for read in &effect.reads {
                let mut input = self.origin(machine, course, &read.full, set as usize, levels - 1);
                input["name"] = json!(read.name);
                input["value"] = read.value.json();
                inputs.push(input);
            }
        }
        let write = effect.writes.iter().find(|w| w.full == full);
        json!({
            "full": full,
            "set": { "row": set, "step": step, "pid": pid, "text": text },
            "write": write.map(quotient_outcome::Write::json),
            "sent_by": sent_by.map(|row| {
                let sender = &course.rows[row as usize];
                json!({ "row": row, "step": sender.step, "pid": sender.thread })
            }),
            "inputs": inputs,
        })
    }

    /// What partial order explores here and what it leaves for later; what a check found of symmetry.
    pub(crate) fn reductions(&self, work: &mut Work, body: &Value) -> Result<Value, String> {
        let course = self.course(work, body)?;
        let at = Session::at(&course, body);
        let (chosen, machine) = work.chosen();
        let (state, names) = course.state(machine, at);
        let over = goes_wrong(&course, at);
        let all = over || chosen.off().is_some();
        let scope = if all { Scope::All } else { chosen.explored(machine, &state) };
        let mut ways = Vec::new();
        for step in if over { Vec::new() } else { offered(machine, &state) } {
            let text = step.record.steps().first().and_then(|s| machine.transformation(s.transformation));
            let text = text.map_or(String::new(), |(_, _, t)| t.text.clone());
            let pid = step.way.thread;
            let process = machine.thread_name(&state, pid, &names);
            let effects = Course::effects(machine, &state, &names, &step);
            ways.push(Way { pid, process, text, effects });
        }
        let mut said = reductions::tell(&ways, scope, chosen.off());
        said["symmetry"] = self.symmetry();
        Ok(said)
    }
}

/// Does the run end here, in what goes wrong? Then the state may be one within a step, and no step is asked for.
pub(crate) fn goes_wrong(course: &Course, at: usize) -> bool {
    at == course.len() && matches!(course.ending, Ending::Violation(_))
}

/// The number of a location's first transformation.
fn first_transformation(machine: &Machine, function: u32, location: u32) -> u32 {
    let functions = &machine.program().functions;
    let count =
        |f: &quotient_program::Function| f.locations.iter().map(|l| l.transformations.len()).sum::<usize>();
    let before: usize = functions[..function as usize].iter().map(count).sum();
    let own = &functions[function as usize].locations[..location as usize];
    (before + own.iter().map(|l| l.transformations.len()).sum::<usize>()) as u32
}
