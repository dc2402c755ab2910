//! What is true at a place: values, who set them, what the last step changed, where processes stand.

use std::collections::HashMap;

use quotient_explain::{Course, Ending, Group, Leaf, Look};
use quotient_machine::{Machine, ObjectNames};
use quotient_program::Operation;
use serde_json::Value;

use crate::api::{self, GroupKind};
use crate::server::Refused;
use crate::session::{Session, Work};

impl Session {
    /// The state of a question, the names of its objects, and the number of statements before it.
    pub(crate) fn place_in(
        machine: &mut Machine,
        course: &Course,
        body: &Value,
    ) -> (Vec<u64>, ObjectNames, usize) {
        let at = Session::at(course, body);
        let end = course.first_row[at] as usize;
        let wanted = body["row"].as_u64().map(|row| row as usize).filter(|row| *row < end);
        let (state, names) = course.state(machine, at);
        let Some(wanted) = wanted.filter(|row| at > 0 && *row > course.first_row[at - 1] as usize) else {
            return (state, names, end);
        };
        // After some of the statements of the step.
        let mut row = course.first_row[at - 1] as usize;
        let mut found = (state, names, end);
        course.explain(machine, at - 1, at, |_, _, _, after| {
            row += 1;
            if let (true, Some((state, names))) = (row == wanted, after) {
                found = (state.to_vec(), names.clone(), wanted);
            }
        });
        found
    }

    /// The state at a place.
    pub(crate) fn state(&self, work: &mut Work, body: &Value) -> Result<api::State, Refused> {
        let course = self.course(work, body)?;
        let model = work.model.clone();
        let machine = &mut work.machine;
        let (state, names, row) = Session::place_in(machine, &course, body);
        let ends_wrong = row == course.rows.len() && matches!(course.ending, Ending::Violation(_));
        let at = Session::at(&course, body);
        let earlier = (at > 0).then(|| course.state(machine, at - 1));
        let earlier = earlier.map(|(state, names)| Look::new(machine, &state, &names).leaves());
        let before: HashMap<&str, &quotient_outcome::Value> =
            earlier.iter().flatten().map(|leaf| (leaf.full.as_str(), &leaf.value)).collect();
        let look = Look::new(machine, &state, &names);
        let unread = work.unread.at(machine, &state);
        let leaves = look.leaves().into_iter().map(|leaf| {
            let set = course.set_by(&leaf.full, row).map(|row| row as usize);
            let was = before.get(leaf.full.as_str()).filter(|was| ***was != leaf.value);
            api::Leaf {
                before: was.map(ToString::to_string),
                set: set.map(|row| api::Setting { row, step: course.rows[row].step as usize }),
                // Where a run goes wrong, what went wrong has read what it did.
                unread: !ends_wrong && unread.is_unread(&leaf),
                group: group(&leaf),
                variable: leaf.variable,
                name: leaf.name,
                full: leaf.full,
                value: leaf.value,
            }
        });
        let leaves: Vec<api::Leaf> = leaves.collect();
        let processes = machine.threads(&state).into_iter().map(|thread| {
            let function = &machine.program().functions[thread.function as usize];
            let location = &function.locations[thread.location as usize];
            // Who goes wrong stands where that happens.
            let wrong = course.rows.last().filter(|row| ends_wrong && row.thread == thread.id);
            let wrong = wrong.and_then(|row| machine.transformation(row.transformation));
            let span = wrong.map_or(location.span, |(_, _, t)| t.span);
            // The state in which a run goes wrong may be one behind that: who goes wrong in its last statement has not ended.
            let ended = wrong.is_none()
                && location.transformations.first().is_some_and(|t| matches!(t.operation, Operation::Exit));
            api::Standing {
                pid: thread.id,
                name: machine.thread_name(&state, thread.id, &names),
                file: model.sources.written(span).file.0,
                line: model.sources.position(span).line,
                ended,
                valid_end: location.end || ended,
                stack: Vec::new(),
            }
        });
        Ok(api::State { row, leaves, processes: processes.collect() })
    }
}

fn group(leaf: &Leaf) -> api::Group {
    let (kind, pid, name) = match &leaf.group {
        Group::Global => (GroupKind::Global, None, None),
        Group::Channel => (GroupKind::Channel, None, None),
        Group::Process(pid) => (GroupKind::Process, Some(*pid), None),
        Group::Object(name) => (GroupKind::Object, None, Some(name.clone())),
    };
    api::Group { kind, pid, name }
}
