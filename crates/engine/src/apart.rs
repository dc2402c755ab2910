//! What was never executed, where different code takes each other's place.
//!
//! A state that stands for others may have a process at another statement than the states it stands for, so that executing a statement in it says only that one
//! of those that take each other's place was executed in some real state. Which ones depends on the initial state and the way from there, which is no longer known.
//! Statements outside of such sets are executed in representatives exactly when they are in real states. The others are listed as never executed where none of
//! their set was, or no process can have arrived there; for the rest a second search looks, in which every state stands for itself. It ends when all of them
//! were executed; when it has seen everything, it knows the others; at a part of the first search's states it gives up, and the report says which statements
//! are left open.

use quotient_machine::Machine;
use quotient_search::{Limits, Statistics, Stop, Workers};

use crate::mirrored::exchanged;
use crate::outcome::Outcome;
use crate::searching::run;
use crate::symmetry_choice::Representative;
use crate::unreached::{Unreached, covered, unreached};
use crate::{Check, CheckError, Model};

/// States of the first attempt; each further one has ten times as many.
const FIRST: u64 = 300;

/// So many states the second search may have where the first one had few.
const FEWEST: u64 = 10_000;

impl Model {
    /// Notes what was never executed in a search that has explored everything: `states` of them, with what stood for others. `again` makes a second machine.
    pub(crate) fn never_executed(
        &self,
        (machine, stands): (&Machine, Option<&Representative>),
        states: u64,
        check: &Check<'_>,
        again: impl FnOnce() -> Result<Machine, CheckError>,
        outcome: &mut Outcome,
    ) -> Result<(), CheckError> {
        let exchanged = stands.map_or_else(Vec::new, |stands| exchanged(machine, stands));
        let listed = unreached(machine, self, &exchanged, Doubt::Executed);
        let mut open = Vec::new();
        if !exchanged.is_empty() {
            open = unreached(machine, self, &exchanged, Doubt::Listed);
            open.retain(|statement| !listed.contains(statement));
        }
        let mut missing = Vec::new();
        if !open.is_empty() {
            check.enter("looking for what was never executed");
            let (never, open) = self.look_apart(again()?, open, states, check);
            missing = never;
            if !open.is_empty() {
                let mut places: Vec<&str> = open.iter().map(|statement| &*statement.at).collect();
                places.dedup();
                outcome.note(format!(
                    "not known whether these were ever executed, since processes that run different code take each other's place: {}; --symmetry off tells",
                    places.join(", ")
                ));
            }
        }
        // In the order of the program.
        outcome.unreached = match missing.is_empty() {
            true => listed,
            false => {
                let all = unreached(machine, self, &exchanged, Doubt::Listed);
                all.into_iter().filter(|s| listed.contains(s) || missing.contains(s)).collect()
            }
        };
        outcome.covered = covered(machine, self, &outcome.unreached);
        Ok(())
    }

    /// Which of these statements are never executed, and of which it is not known, by a search in which every state stands for itself.
    fn look_apart(
        &self,
        mut machine: Machine,
        mut open: Vec<Unreached>,
        states: u64,
        check: &Check<'_>,
    ) -> (Vec<Unreached>, Vec<Unreached>) {
        let most = FEWEST.max(states / 10);
        let mut next = FIRST;
        while check.ended().is_none() {
            let limits = Limits { states: Some(next.min(most)), ..check.limits };
            let part = Check {
                limits,
                workers: Some(Workers::new(1)),
                checkpoint: None,
                disk: None,
                processes: None,
                journal: None,
                audit: 0,
                ..*check
            };
            let (report, _) = run(&mut machine, None, &part, &mut |_: &Statistics| {});
            let missing = unreached(&machine, self, &[], Doubt::Listed);
            open.retain(|statement| missing.contains(statement));
            if report.stop == Stop::Complete {
                return (open, Vec::new());
            }
            if open.is_empty() || next >= most {
                break;
            }
            next *= 10;
        }
        (Vec::new(), open)
    }
}

/// What becomes of a statement of which only one that takes its place is known to have been executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It counts as executed, if a process can have arrived there.
    Executed,
    /// It is listed.
    Listed,
}
