//! Violations that symmetry makes images of each other.
//!
//! A renaming may exchange processes that run different code. Then a violation in the one is a violation in the other, at another
//! place, and a search over representatives may meet only one of them. Whoever asks for all violations wants both. Which places can be
//! meant is known from the program's graph: those of the transformations that the renamings take to the one that was seen. Whether a
//! place is really violated depends on the initial state, which renamings need not keep. So the run that was found is executed again in
//! all its images at once: from each real state every step is taken that leads to a renaming of the next state of the run. What that
//! meets is a violation with a run of its own; what it does not meet is named in a note.

use std::collections::BTreeSet;

use quotient_machine::Machine;
use quotient_seams::{System, ViolationCode, Walk};
use quotient_trace::{Told, images_of_the_end};

use crate::Model;
use crate::check::CheckError;
use crate::outcome::{Outcome, ViolationReport};
use crate::symmetry_choice::Representative;

/// Successors that are compared for the images of one run.
const MOST_COMPARED: usize = 200_000;

/// The transformations that representatives exchange, by their numbers, in lists.
pub(crate) fn exchanged(machine: &Machine, representative: &Representative) -> Vec<Vec<usize>> {
    let lists = representative.states.exchanged();
    if lists.is_empty() {
        return Vec::new();
    }
    let mut first = Vec::new();
    let mut number = 0;
    for function in &machine.program().functions {
        let mut of_function = Vec::new();
        for location in &function.locations {
            of_function.push(number);
            number += location.transformations.len();
        }
        first.push(of_function);
    }
    let of = |(function, location, which): (u32, u32, u32)| {
        first[function as usize][location as usize] + which as usize
    };
    lists.into_iter().map(|list| list.into_iter().map(of).collect()).collect()
}

/// The violation that a run ends in.
fn end(machine: &mut Machine, choices: &[u32]) -> Option<ViolationCode> {
    let (first, rest) = choices.split_first()?;
    let mut walk = Walk::start(machine, *first).ok()?;
    let mut violation = None;
    for choice in rest {
        let entry = walk.look(machine).ok()?.entry(*choice as usize);
        violation = entry.violation;
        walk.take(*choice as usize).ok()?;
    }
    violation
}

impl Model {
    /// Adds the images of violations, from number `known` on, that are at other places; what may be violated and was not met is noted.
    pub(crate) fn mirrored(
        &self,
        known: usize,
        machine: &mut Machine,
        canonical: &mut Representative,
        told: Told,
        outcome: &mut Outcome,
    ) -> Result<(), CheckError> {
        let exchanged = exchanged(machine, canonical);
        if exchanged.is_empty() {
            return Ok(());
        }
        let mut met: BTreeSet<ViolationCode> = BTreeSet::new();
        let mut ends = Vec::new();
        for violation in std::mem::take(&mut outcome.violations).into_iter().enumerate() {
            let end = if violation.0 < known { None } else { end(machine, &violation.1.choices) };
            // Two that were found may be images of one.
            if end.is_none_or(|code| met.insert(code)) {
                ends.extend(end.map(|code| (outcome.violations.len(), code)));
                outcome.violations.push(violation.1);
            }
        }
        let mut missing: BTreeSet<ViolationCode> = BTreeSet::new();
        for (at, code) in ends {
            let mut wanted = images(machine, &exchanged, code);
            wanted.retain(|code| !met.contains(code));
            if wanted.is_empty() {
                continue;
            }
            let found = &outcome.violations[at];
            let (choices, question, found_in) = (found.choices.clone(), found.question, found.how);
            let runs = images_of_the_end(machine, canonical, &choices, &wanted, MOST_COMPARED);
            for (code, choices) in runs {
                met.insert(code);
                let trace = self.replay(machine, &choices, 0, told)?;
                let violation = machine.violation(code);
                outcome.violations.push(ViolationReport {
                    kind: violation.kind,
                    message: violation.message,
                    at: trace.violation_at.clone(),
                    count: 1,
                    trace,
                    choices,
                    how: found_in,
                    cycle: 0,
                    question,
                    found_by: None,
                    branches: Vec::new(),
                });
            }
            missing.extend(wanted);
        }
        missing.retain(|code| !met.contains(code));
        if !missing.is_empty() {
            let mut places: Vec<String> =
                missing.iter().map(|code| self.sources.file_line(machine.site(*code).span)).collect();
            places.sort_unstable();
            places.dedup();
            outcome.note(format!(
                "mirror images of what was found may be violated, too: {}; check with --symmetry off to find out",
                places.join(", ")
            ));
        }
        Ok(())
    }
}

/// The violations of the same kind that transformations can end in which take the place of one that can end in this one.
fn images(machine: &Machine, exchanged: &[Vec<usize>], code: ViolationCode) -> BTreeSet<ViolationCode> {
    let can = |number: &usize| machine.violations_of(*number).any(|other| other == code);
    let kind = machine.violation(code).kind;
    let others = exchanged.iter().filter(|list| list.iter().any(can)).flatten();
    let others = others.flat_map(|number| machine.violations_of(*number));
    others.filter(|other| machine.violation(*other).kind == kind).collect()
}
