//! Which objects a step touches, and whose they are: what partial order reduction asks of a state with objects.
//!
//! A program's text says which *parts* of objects a step may touch ([`quotient_program::Part`]), but not of which objects. So
//! the step is executed, for every way on of a thread, and every reference that is followed on the way is noted, also by
//! conditions that do not hold. Everything that decides what the step does is then either in the thread's own frames, among
//! the globals, or noted here.

use quotient_program::Part;
use quotient_seams::{Scope, Successors};

use crate::machine::Machine;
use crate::state::kind::{Kind, Object};
use crate::state::link::Link;

/// What is noted while a step is executed.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    pub(crate) on: bool,
    /// The steps lead somewhere.
    pub(crate) moves: bool,
    touched: Vec<(u32, Part)>,
    /// Where the step leads does not matter.
    successors: Successors,
}

impl Machine {
    /// A reference is followed.
    #[inline(always)]
    pub(crate) fn note(&mut self, reference: i32, part: Part) {
        if self.heap.footprint.on {
            self.heap.footprint.touched.push((reference as u32, part));
        }
    }

    /// The rows of the collection that a reference leads to are touched.
    pub(crate) fn note_rows(&mut self, memory: *const u8, reference: i32) {
        if let Some(Object::Collection(id, _)) =
            self.object_at(memory, reference).map(|(k, _)| Kind::object(k))
        {
            self.note(reference, Part::Rows(id));
        }
    }

    /// Does the thread hold the lock of the object with this number (from 1)?
    pub fn holds_lock(&self, state: &[u64], object: u32, thread: u32) -> bool {
        u32::from(self.lock_holder(state.as_ptr().cast(), object as i32)) == thread + 1
    }

    /// The objects (as numbers from 1) that the next steps of a thread touch, with what they touch of them; also objects that
    /// these steps make. `None` when there is no step, or that cannot be found out within the machine's limits.
    pub fn footprint(&mut self, state: &[u64], thread: u32) -> Option<&[(u32, Part)]> {
        self.meet_state(state);
        let mut successors = std::mem::take(&mut self.heap.footprint.successors);
        successors.clear();
        self.heap.footprint.touched.clear();
        (self.heap.footprint.on, self.heap.footprint.moves, self.heap.watched) = (true, false, true);
        // What a claim looks at on the way is not part of the step.
        self.expand_program(state, Scope::Thread(thread), &mut successors);
        (self.heap.footprint.on, self.heap.watched) = (false, self.heap.scratch);
        let moves = self.heap.footprint.moves || !successors.is_empty();
        self.heap.footprint.successors = successors;
        (self.exhausted.take().is_none() && moves).then_some(&self.heap.footprint.touched)
    }
}

/// Who can reach which object.
#[derive(Clone, Debug, Default)]
pub struct Ownership {
    /// Per object: the only thread that can reach it, [`SHARED`] or [`NOBODY`].
    owner: Vec<u32>,
    waiting: Vec<u32>,
}

/// More than one thread, or the globals, lead to it.
const SHARED: u32 = u32::MAX;
/// There is no such object.
const NOBODY: u32 = u32::MAX - 1;

impl Ownership {
    /// Looks at a state, which the machine must have met.
    pub fn find(&mut self, machine: &Machine, state: &[u64]) {
        let memory = state.as_ptr().cast::<u8>();
        let links = machine.links(machine.shape_number(memory));
        self.owner.clear();
        self.owner.resize(links.shape.objects.len(), NOBODY);
        self.waiting.clear();
        links.globals(true, |link| self.reach(memory, link, SHARED));
        self.spread(machine, memory, SHARED);
        for thread in 0..links.shape.threads.len() {
            links.thread(thread, |link| self.reach(memory, link, thread as u32));
            self.spread(machine, memory, thread as u32);
        }
    }

    /// A link of `by`, or of something that `by` reaches.
    fn reach(&mut self, memory: *const u8, link: Link, by: u32) {
        if link.thread {
            return;
        }
        // SAFETY: links of a shape lie inside a state of that shape.
        let number = unsafe { link.load(memory.add(link.at as usize)) };
        let Some(owner) = number.checked_sub(1).and_then(|i| self.owner.get_mut(i as usize)) else { return };
        if *owner != by && *owner != SHARED {
            *owner = if *owner == NOBODY { by } else { SHARED };
            self.waiting.push(number - 1);
        }
    }

    /// Goes on from what was reached. What turns out to be shared passes that on: an object is looked at twice at most.
    fn spread(&mut self, machine: &Machine, memory: *const u8, by: u32) {
        let links = machine.links(machine.shape_number(memory));
        while let Some(object) = self.waiting.pop() {
            let owner = self.owner[object as usize];
            let by = if owner == SHARED { SHARED } else { by };
            links.object(object as usize, |link| self.reach(memory, link, by));
        }
    }

    /// Can nobody but this thread reach the object with this number (from 1) until the thread moves? So it is for objects
    /// that do not exist yet.
    pub fn is_private(&self, object: u32, thread: u32) -> bool {
        let owner = object.checked_sub(1).and_then(|i| self.owner.get(i as usize));
        owner.is_none_or(|o| *o == thread || *o == NOBODY)
    }
}
