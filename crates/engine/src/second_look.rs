//! A second look: where breadth-first search stops at a limit of states, time or memory and has found nothing wrong, depth-first search
//! and then random search go on with a tenth of the budget each.
//!
//! Breadth-first search gives the shortest counterexample and spends all its budget near the initial states where the state space is
//! wide; a violation that lies deep but on many runs is found by the others within moments. A second look can only turn
//! "undecided" into "violated", by a counterexample that is executed again like any other: that nothing was found, and even that
//! a search came to its end, changes nothing in the verdict.
//!
//! The limit on states is that of the first search, and each of the others has a tenth of it besides. Time and memory are limits of the whole
//! check: the first search has to stop a little earlier, so that two tenths of the time are left, and a quarter of the memory, since tables grow by
//! large steps. Random walks store nothing, so a limit of memory alone would never end them: there they pass at most a tenth as many states as
//! the first search stored, or [`FEWEST`]. A bound on depth cuts off the same for all searches: there is nothing to look for again.

use std::time::{Duration, Instant};

use quotient_machine::Machine;
use quotient_seams::{Incomplete, Limit, Reason, resident_bytes};
use quotient_search::{Limits, Report, Statistics, Stop, random_walks};

use crate::searching::{SEED, Searched, options, run};
use crate::symmetry_choice::Representative;
use crate::{Check, SearchKind};

/// States that random walks may pass even where the first search stored few.
const FEWEST: u64 = 10_000;

/// Which search found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looker {
    /// Depth-first search.
    DepthFirst,
    /// Random walks.
    Random,
}

impl Looker {
    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Looker::DepthFirst => "depth-first search",
            Looker::Random => "random search",
        }
    }
}

/// What a second look did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecondLook {
    /// The searches and how much each of them did; the last one may have found something.
    pub searches: Vec<(Looker, Statistics)>,
    /// Which of them found a violation.
    pub found_by: Option<Looker>,
}

/// The budget of one check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// When the whole check ends, and the time that it has.
    ends: Option<(Instant, Duration)>,
}

/// What came of a first search and, perhaps, a second look.
pub(crate) struct Looked {
    pub(crate) report: Report,
    pub(crate) second: Option<SecondLook>,
}

impl Budget {
    /// Counted from now on.
    pub(crate) fn new(check: &Check<'_>) -> Budget {
        let ends = check.limits.time.and_then(|time| Some((Instant::now().checked_add(time)?, time)));
        Budget { ends }
    }

    /// The limits of the first search for a machine.
    pub(crate) fn first(&self, machine: &Machine, check: &Check<'_>) -> Limits {
        if !self.serves(machine, check) {
            return check.limits;
        }
        let left = |ends: Instant| ends.saturating_duration_since(Instant::now());
        let time = self.ends.map(|(ends, _)| left(ends) / 10 * 8);
        // With the disk memory is not a limit of the search.
        let part = if check.disk.is_some() { 0 } else { 4 };
        let memory = check.limits.memory.map(|bytes| bytes - bytes.checked_div(part).unwrap_or(0));
        Limits { time, memory, ..check.limits }
    }

    /// Looks again, if that is of use after `report`; says the reason for the first search's end in terms of the whole check.
    pub(crate) fn look_again(
        &self,
        machine: &mut Machine,
        stands: Option<&mut Representative>,
        check: &Check<'_>,
        mut report: Report,
        progress: &mut dyn FnMut(&Statistics),
    ) -> Looked {
        let Stop::Incomplete(why) = &report.stop else { return Looked { report, second: None } };
        if !self.serves(machine, check) {
            return Looked { report, second: None };
        }
        let by_depth = matches!(why, Incomplete::Limit(Limit::Depth(_)));
        report.stop = Stop::Incomplete(self.in_whole(check, why));
        // The whole check was ended: do nothing more.
        if by_depth || !report.found.is_empty() || check.ended().is_some() {
            return Looked { report, second: None };
        }
        let mut second = SecondLook::default();
        let deep = Check { search: SearchKind::DepthFirst, limits: self.tenth(check), ..*check };
        let (found, _): Searched = run(machine, stands, &deep, progress);
        second.searches.push((Looker::DepthFirst, found.statistics));
        if !found.found.is_empty() {
            second.found_by = Some(Looker::DepthFirst);
            report.found = found.found;
            return Looked { report, second: Some(second) };
        }
        if check.ended().is_none() {
            let tenth = self.tenth(check);
            let stored = (report.statistics.states / 10).max(FEWEST);
            let states = tenth.states.or(tenth.time.is_none().then_some(stored));
            let random = Check { limits: Limits { states, ..tenth }, ..*check };
            machine.set_interrupt(check.interrupt.cloned());
            let found = random_walks(machine, SEED, &mut options(&random, progress));
            machine.set_interrupt(None);
            second.searches.push((Looker::Random, found.statistics));
            if !found.found.is_empty() {
                second.found_by = Some(Looker::Random);
                report.found = found.found;
            }
        }
        Looked { report, second: Some(second) }
    }

    /// A tenth of everything, as far as it is left.
    fn tenth(&self, check: &Check<'_>) -> Limits {
        let time = self.ends.map(|(ends, whole)| {
            let left = ends.saturating_duration_since(Instant::now());
            // Never the last moments: the token of the whole check would be raised, and nothing more be reported.
            (whole / 10).min(left / 20 * 19)
        });
        let memory = check.limits.memory.map(|bytes| {
            // Without knowing what is taken, what the search itself holds counts.
            let taken = resident_bytes().unwrap_or(0);
            (taken + bytes / 10).min(bytes - bytes / 20)
        });
        let states = check.limits.states.map(|states| states / 10);
        Limits { states, time, memory, depth: check.limits.depth }
    }

    /// Why the first search ended, where it ended at its part of a limit.
    fn in_whole(&self, check: &Check<'_>, why: &Incomplete) -> Incomplete {
        match (why, self.ends, check.limits.memory) {
            (Incomplete::Ended(Reason::Time(_)), Some((_, whole)), _) => Reason::Time(whole).into(),
            (Incomplete::Ended(Reason::Memory(_)), _, Some(whole)) => Reason::Memory(whole).into(),
            _ => why.clone(),
        }
    }

    /// Is this a breadth-first search for reachable states by one process, with a limit that others share?
    fn serves(&self, machine: &Machine, check: &Check<'_>) -> bool {
        let cycles = machine.program().claim.as_ref().is_some_and(|c| c.cycles);
        let limited = check.limits.states.is_some() || check.limits.memory.is_some() || self.ends.is_some();
        limited
            && !cycles
            && check.processes.is_none()
            && !matches!(check.search, SearchKind::DepthFirst | SearchKind::Random)
    }
}
