//! Which numbers are names, in states of one set of threads.
//!
//! That is found by `quotient-identity`, once for every shape in which no more threads can be started; states of other shapes
//! stand for themselves. All workers use what the first of them found.
//!
//! A local variable that is dead has no value: if it holds a name, its zero is not a reference to thread 0.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quotient_identity::{
    Asked, Difference, Effort, Reasons, Setting, Symmetry, differences, reasons, refused,
};
use quotient_seams::Worker;

use super::Renamed;
use super::beginning::Beginning;
use super::picture::{Picture, Slot};
use super::points;
use crate::machine::Machine;
use crate::state::layout::Layout;
use crate::state::shapes::Shape;

/// Pairs of threads whose first difference is looked for.
const MOST_PAIRS: usize = 4;

/// What the analysis is asked with, and what it has answered.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Asked from outside in every state.
    asked: Box<Asked>,
    /// For each function and location the locals that are dead there and therefore zero.
    dead: Vec<Vec<Vec<bool>>>,
    beginning: Beginning,
    /// Of the full set of threads, or of a shape.
    symmetries: Mutex<HashMap<Option<u32>, Arc<Symmetry>>>,
    /// Some state was renamed.
    renamed: AtomicBool,
    /// The program is one in which nothing is renamed.
    refused_as_a_whole: bool,
    /// Threads of the largest set that was refused.
    refused: AtomicUsize,
    /// By shape.
    pictures: Mutex<HashMap<u32, Option<Arc<Picture>>>>,
}

impl Numbers {
    pub(super) fn new(machine: &Machine, dead: Vec<Vec<Vec<bool>>>, asked: Asked) -> Numbers {
        let beginning = Beginning::new(machine.another());
        Numbers {
            asked: Box::new(asked),
            dead,
            beginning,
            symmetries: Mutex::default(),
            renamed: AtomicBool::new(false),
            refused_as_a_whole: refused(machine.program()).is_some(),
            refused: AtomicUsize::new(0),
            pictures: Mutex::default(),
        }
    }

    fn functions(shape: &Shape) -> Vec<u32> {
        shape.threads.iter().map(|thread| thread.kind).collect()
    }

    /// Is nothing renamed in any state?
    pub(super) fn is_refused(&self) -> bool {
        self.refused_as_a_whole
    }

    /// What may be renamed in states of a shape in which nobody can be started any more.
    pub(super) fn symmetry(&self, machine: &Machine, number: u32, shape: &Shape) -> Arc<Symmetry> {
        let functions = Numbers::functions(shape);
        let known = self.beginning.full().is_some_and(|full| full.starts_with(&functions));
        self.of_threads(machine, (!known).then_some(number), &functions)
    }

    /// What may be renamed among threads that run these functions.
    fn of_threads(&self, machine: &Machine, key: Option<u32>, functions: &[u32]) -> Arc<Symmetry> {
        // Nothing is left half done by a worker that panics: what it has not found is missing.
        let mut symmetries = self.symmetries.lock().unwrap_or_else(PoisonError::into_inner);
        let found = symmetries.entry(key).or_insert_with(|| {
            let found = self.beginning.of_threads(machine, functions, &self.dead, &self.asked);
            Arc::new(found)
        });
        found.clone()
    }

    /// What may be renamed once all threads exist, if it is known which these are: until then nothing is, and afterwards no other set of
    /// threads is met but those that are left when the youngest end.
    pub(super) fn finally(&self, machine: &Machine) -> Option<Arc<Symmetry>> {
        Some(self.of_threads(machine, None, &self.beginning.full()?))
    }

    /// The lines that tell these threads apart, nobody being started any more; none if there are too many to try.
    pub(super) fn reasons(&self, machine: &Machine, known: &Symmetry, effort: Effort) -> Option<Reasons> {
        if !effort.suffices(machine.program(), known) {
            return None;
        }
        let functions: Vec<u32> = known.threads.iter().map(|f| f.0).collect();
        let ask = |setting: &Setting<'_>| reasons(setting, known, effort);
        self.beginning.ask(machine, &functions, &self.dead, &self.asked, ask)
    }

    /// Threads of different functions that look alike and are not exchanged, and where they first differ; none if that is too much.
    pub(super) fn differences(
        &self,
        machine: &Machine,
        known: &Symmetry,
        effort: Effort,
    ) -> Option<Vec<(u32, u32, Difference)>> {
        if known.resembling.is_empty() {
            return Some(Vec::new());
        }
        if !effort.suffices_for_differences(known) {
            return None;
        }
        let functions: Vec<u32> = known.threads.iter().map(|f| f.0).collect();
        let pairs = &known.resembling[..known.resembling.len().min(MOST_PAIRS)];
        let ask = |setting: &Setting<'_>| differences(setting, pairs);
        Some(self.beginning.ask(machine, &functions, &self.dead, &self.asked, ask))
    }

    /// Every symmetry found so far, by any worker.
    pub(super) fn found(&self) -> Vec<Arc<Symmetry>> {
        let symmetries = self.symmetries.lock().unwrap_or_else(PoisonError::into_inner);
        symmetries.values().cloned().collect()
    }

    /// A state was renamed.
    #[inline]
    pub(super) fn note_renamed(&self) {
        // Read first: workers share it.
        if !self.renamed.load(Ordering::Relaxed) {
            self.renamed.store(true, Ordering::Relaxed);
        }
    }

    /// Was any state renamed, by any worker?
    pub(super) fn has_renamed(&self) -> bool {
        self.renamed.load(Ordering::Relaxed)
    }

    /// The nodes of states of such a shape; none if nothing moves.
    pub(super) fn picture(
        &self,
        machine: &Machine,
        layout: &Layout,
        number: u32,
        shape: &Shape,
    ) -> Option<Arc<Picture>> {
        // As above.
        let mut pictures = self.pictures.lock().unwrap_or_else(PoisonError::into_inner);
        let found = pictures.entry(number).or_insert_with(|| {
            let symmetry = self.symmetry(machine, number, shape);
            if symmetry.is_trivial() {
                return None;
            }
            let reduced = !self.dead.is_empty();
            points::picture(machine.program(), layout, shape, symmetry, reduced).map(Arc::new)
        });
        found.clone()
    }

    /// Can a thread of this state still start another?
    #[inline]
    pub(super) fn may_start(&self, machine: &Machine, memory: *const u8) -> bool {
        self.beginning.starts
            && machine
                .shape_at(memory)
                .threads
                .iter()
                .any(|t| self.starts_from(t.kind, machine.location(memory, t.at, t.kind)))
    }

    /// Can a thread that runs this function still start others from this location?
    #[inline]
    pub(super) fn starts_from(&self, function: u32, location: u32) -> bool {
        !self.beginning.live[function as usize][location as usize]
    }

    /// When states like this one, with the same threads, are renamed.
    pub(super) fn renamed(&self, machine: &Machine, state: &[u64]) -> Renamed {
        let starters = self.beginning.starters(&machine.shape_at(state.as_ptr().cast()).threads);
        starters.map_or(Renamed::Never, Renamed::Once)
    }

    /// Is it known without an analysis that nothing is renamed in states like this one, where nobody can be started any more? Why is kept for the largest
    /// set of threads only: there may be as many sets as states.
    pub(super) fn refuses(&self, machine: &Machine, state: &[u64]) -> bool {
        let functions = Numbers::functions(machine.shape_at(state.as_ptr().cast()));
        let refuses = self.beginning.refuses(&functions);
        if refuses && self.refused.fetch_max(functions.len(), Ordering::Relaxed) < functions.len() {
            self.of_threads(machine, Some(machine.shape_of(state)), &functions);
        }
        refuses
    }

    /// Is a slot part of a dead variable?
    pub(super) fn is_dead(&self, machine: &Machine, state: &[u64], slot: &Slot) -> bool {
        let Some(local) = slot.local else { return false };
        let location = machine.location(state.as_ptr().cast(), local.segment, local.function);
        self.dead_at(local.function, location, local.variable)
    }

    /// Is a local dead at a location?
    pub(super) fn dead_at(&self, function: u32, location: u32, variable: u32) -> bool {
        let locations = self.dead.get(function as usize);
        locations.and_then(|l| l.get(location as usize)).is_some_and(|dead| dead[variable as usize])
    }
}
