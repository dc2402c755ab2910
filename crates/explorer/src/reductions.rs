//! What a check leaves out at a place: which steps partial order explores here, which it leaves for later, and why.
//!
//! Ample sets are asked for the program as written, with the question of safety; the search of a check asks the same of the reduced
//! program, whose steps are merged.

use std::collections::BTreeSet;

use quotient_ample::{AmpleSets, Independence, Question};
use quotient_explain::{Effect, Event};
use quotient_machine::Machine;
use quotient_seams::{Ample, Scope, Successors, System};

use crate::api;

/// Ample sets of a program, or why there are none.
pub(crate) struct Chosen(Result<AmpleSets, &'static str>);

impl Chosen {
    pub(crate) fn new(machine: &Machine) -> Chosen {
        Chosen(AmpleSets::new(machine, &Question::Safety, Independence::default()))
    }

    /// Why all interleavings are explored, if that is so everywhere.
    pub(crate) fn off(&self) -> Option<&'static str> {
        self.0.as_ref().err().copied()
    }

    /// The threads that are explored from a state: those of the first proposal that has a move and ends in no fault, as a search takes it.
    pub(crate) fn explored(&mut self, machine: &mut Machine, state: &[u64]) -> Scope {
        let Ok(sets) = &mut self.0 else { return Scope::All };
        let mut out = Successors::new();
        for number in 0..AmpleSets::PROPOSALS {
            let scope = sets.proposal(machine, state, number);
            if scope == Scope::All {
                break;
            }
            out.clear();
            let generated = machine.successors(state, scope, &mut out);
            let whole = (0..out.len()).all(|i| out.entry(i).violation.is_none() && out.entry(i).has_state());
            if generated.is_ok() && !out.is_empty() && whole {
                return scope;
            }
        }
        Scope::All
    }
}

/// A step that can be made.
pub(crate) struct Way {
    pub(crate) pid: u32,
    pub(crate) process: String,
    pub(crate) text: String,
    pub(crate) effects: Vec<Effect>,
}

impl Way {
    fn shown(&self, why: Option<&str>) -> api::Explored {
        let (process, text) = (self.process.clone(), self.text.clone());
        api::Explored { pid: self.pid, process, text, why: why.map(str::to_owned) }
    }

    fn reads(&self) -> BTreeSet<&str> {
        self.effects.iter().flat_map(|e| &e.reads).map(|r| r.full.as_str()).collect()
    }

    fn writes(&self) -> BTreeSet<&str> {
        self.effects.iter().flat_map(|e| &e.writes).map(|w| w.full.as_str()).collect()
    }

    fn channels(&self) -> BTreeSet<&str> {
        let events = self.effects.iter().flat_map(|e| &e.events);
        let channels = events.filter_map(|event| match event {
            Event::Send { channel, .. } | Event::Receive { channel, .. } => Some(channel.as_str()),
            _ => None,
        });
        channels.collect()
    }

    /// What two steps both touch, one of them writing, in a sentence.
    fn conflict(&self, other: &Way) -> Option<String> {
        let both = format!("{} and {}", self.process, other.process);
        if let Some(channel) = self.channels().intersection(&other.channels()).next() {
            return Some(format!("{both} use the same channel, {channel}"));
        }
        let (own, others) = (self.writes(), other.writes());
        let touched = own.iter().find(|w| others.contains(*w) || other.reads().contains(*w));
        let touched = touched.or_else(|| {
            let reads = self.reads();
            others.iter().find(|w| reads.contains(*w))
        });
        touched.map(|name| format!("{both} touch {name}, and one of them writes it"))
    }
}

/// What is explored at a place and what is not.
pub(crate) fn tell(ways: &[Way], scope: Scope, off: Option<&'static str>) -> api::Reductions {
    let (explored, later): (Vec<&Way>, Vec<&Way>) = ways.iter().partition(|w| scope.includes(w.pid));
    let names: Vec<&str> = {
        let mut names: Vec<&str> = explored.iter().map(|w| w.process.as_str()).collect();
        names.dedup();
        names
    };
    let why = match (off, later.is_empty()) {
        (Some(off), _) => format!("All steps are explored: {off}."),
        (None, true) if names.len() <= 1 => "There is nothing to leave for later.".to_owned(),
        (None, true) => {
            let mut pairs = ways.iter().enumerate().flat_map(|(i, a)| {
                ways[i + 1..].iter().filter(move |b| a.pid != b.pid).map(move |b| a.conflict(b))
            });
            match pairs.find_map(|conflict| conflict) {
                Some(conflict) => format!("All steps are explored, their order matters: {conflict}."),
                None => "All steps are explored: each may depend on what the others do later.".to_owned(),
            }
        }
        (None, false) => format!(
            "{} alone {} explored: nothing that any other process can still do changes or notices what happens here.",
            names.join(" and "),
            if names.len() == 1 { "is" } else { "are" }
        ),
    };
    let touched: BTreeSet<&str> =
        explored.iter().flat_map(|w| w.reads().into_iter().chain(w.writes()).chain(w.channels())).collect();
    let touched: Vec<&str> = touched.into_iter().take(4).collect();
    let touch = if names.len() == 1 { "touches" } else { "touch" };
    let touches = match touched.is_empty() {
        true => format!("{} {touch} nothing that others see", names.join(" and ")),
        false => format!(
            "{} {touch} only {}, which nobody else reaches in a way that matters before it",
            names.join(" and "),
            touched.join(", ")
        ),
    };
    let left = format!("{touches}: this step can still be taken after it, with the same result");
    api::Reductions {
        explored: explored.iter().map(|w| w.shown(None)).collect(),
        later: later.iter().map(|w| w.shown(Some(&left))).collect(),
        why,
        symmetry: None,
    }
}
