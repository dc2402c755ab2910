//! Wake-up trees (Abdulla, Aronis, Jonsson, Sagonas: "Source sets: a foundation for optimal dynamic
//! partial order reduction", J. ACM 64(4), 2017; first in POPL 2014), section 5.
//!
//! At every state of the current run hangs an ordered tree of the sequences still to be explored
//! from there. A branch carries the operation it is expected to execute, so that weak initials can
//! be decided without executing anything.
//!
//! A step `z` is a *weak initial* of a sequence `v` from the same state when `v` could be started
//! with `z`: walking along `v`, either the step itself is met before anything that depends on it, or
//! nothing in `v` depends on it. Only direct dependence has to be looked at: whatever happens before
//! the first event of `z`'s thread in `v` does so through an event of `v` that this event depends
//! on directly.

use crate::happens_before::Event;
use crate::operation::{Operation, dependent};
use crate::threads::ThreadId;

/// Stands for whichever alternative: the last step of a sequence is executed in a state that nobody
/// has seen yet.
pub const ANY: u16 = u16::MAX;

const NONE: u32 = u32::MAX;

/// A step at a given state: of a sleeping thread, or of a branch.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Whose step.
    pub thread: ThreadId,
    /// In which way, or [`ANY`].
    pub alternative: u16,
    /// What it is expected to execute.
    pub operation: Operation,
}

impl Step {
    /// Is this the same step of the same thread? Unknown alternatives match all: whoever explores
    /// one of them will add the others.
    #[inline]
    fn matches(&self, thread: ThreadId, alternative: u16) -> bool {
        self.thread == thread
            && (self.alternative == alternative || self.alternative == ANY || alternative == ANY)
    }
}

/// A sequence to be explored: events of a run, then one more step.
pub struct Sequence<'a> {
    /// The run.
    pub run: &'a [Event],
    /// Indices of the events of the run, in order.
    pub events: &'a [u32],
    /// The step after them.
    pub last: Step,
}

/// What a walk along a sequence found about a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Initial {
    /// Not a weak initial.
    No,
    /// An initial: the step at this position.
    At(usize),
    /// Independent of the whole sequence.
    Independent,
}

impl Sequence<'_> {
    /// The step at a position.
    #[inline]
    pub fn step(&self, position: usize) -> Step {
        match self.events.get(position) {
            Some(&k) => {
                let event = &self.run[k as usize];
                Step { thread: event.thread, alternative: event.alternative, operation: event.operation }
            }
            None => self.last,
        }
    }

    #[inline]
    fn walk(&self, z: &Step, taken: &[bool]) -> Initial {
        for (position, &k) in self.events.iter().enumerate() {
            if !taken.is_empty() && taken[position] {
                continue;
            }
            let event = &self.run[k as usize];
            if event.thread == z.thread {
                return if z.matches(event.thread, event.alternative) {
                    Initial::At(position)
                } else {
                    Initial::No
                };
            }
            if dependent(event.thread, &event.operation, z.thread, &z.operation) {
                return Initial::No;
            }
        }
        if taken.last() == Some(&true) {
            return Initial::Independent;
        }
        let last = &self.last;
        if last.thread == z.thread {
            if z.matches(last.thread, last.alternative) {
                return Initial::At(self.events.len());
            }
            return Initial::No;
        }
        if dependent(last.thread, &last.operation, z.thread, &z.operation) {
            return Initial::No;
        }
        Initial::Independent
    }

    /// Is `z` a weak initial of this sequence?
    #[inline]
    pub fn has_weak_initial(&self, z: &Step) -> bool {
        self.walk(z, &[]) != Initial::No
    }
}

/// Is `z` a weak initial of `steps`?
pub fn is_weak_initial(z: &Step, steps: &[Step]) -> bool {
    for step in steps {
        if step.thread == z.thread {
            return z.matches(step.thread, step.alternative);
        }
        if dependent(step.thread, &step.operation, z.thread, &z.operation) {
            return false;
        }
    }
    true
}

/// Is `z` a weak initial of `steps`? If so takes its step out, if it is one of them.
pub fn take_weak_initial(steps: &mut Vec<Step>, z: &Step) -> bool {
    for position in 0..steps.len() {
        let step = &steps[position];
        if step.thread == z.thread {
            if !z.matches(step.thread, step.alternative) {
                return false;
            }
            steps.remove(position);
            return true;
        }
        if dependent(step.thread, &step.operation, z.thread, &z.operation) {
            return false;
        }
    }
    true
}

#[derive(Clone, Copy, Debug)]
struct Branch {
    step: Step,
    child: u32,
    next: u32,
}

/// All wake-up trees of an exploration, in one arena.
#[derive(Default)]
pub struct WakeupTrees {
    branches: Vec<Branch>,
    free: Vec<u32>,
    releasing: Vec<u32>,
    /// Which steps of the sequence being inserted were found in the tree.
    taken: Vec<bool>,
}

/// The root of a wake-up tree, or a branch of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Root(u32);

/// What became of a sequence that was inserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Insertion {
    /// It was there already.
    Redundant,
    /// It is a new branch of the root.
    New,
    /// Something grew below this branch of the root.
    Below(Root),
}

impl WakeupTrees {
    fn allocate(&mut self, step: Step) -> u32 {
        let branch = Branch { step, child: NONE, next: NONE };
        match self.free.pop() {
            Some(free) => {
                self.branches[free as usize] = branch;
                free
            }
            None => {
                self.branches.push(branch);
                self.branches.len() as u32 - 1
            }
        }
    }

    /// A tree without branches.
    pub fn empty(&mut self) -> Root {
        let operation = Operation::new(crate::operation::Kind::Other);
        Root(self.allocate(Step { thread: 0, alternative: ANY, operation }))
    }

    /// Gives back the tree.
    pub fn release(&mut self, root: Root) {
        // Trees can be as deep as a run is long: no recursion.
        self.releasing.push(root.0);
        while let Some(branch) = self.releasing.pop() {
            let mut child = self.branches[branch as usize].child;
            while child != NONE {
                self.releasing.push(child);
                child = self.branches[child as usize].next;
            }
            self.free.push(branch);
        }
    }

    /// Takes the first branch off the tree: its step, and the tree below it.
    pub fn take_first(&mut self, root: Root) -> Option<(Step, Root)> {
        let child = self.branches[root.0 as usize].child;
        if child == NONE {
            return None;
        }
        let branch = self.branches[child as usize];
        self.branches[root.0 as usize].child = branch.next;
        self.branches[child as usize].next = NONE;
        Some((branch.step, Root(child)))
    }

    /// Has the tree any branch?
    pub fn is_empty(&self, root: Root) -> bool {
        self.branches[root.0 as usize].child == NONE
    }

    /// The first steps of the tree.
    pub fn first_steps(&self, root: Root) -> impl Iterator<Item = &Step> {
        let mut child = self.branches[root.0 as usize].child;
        std::iter::from_fn(move || {
            let branch = self.branches.get(child as usize)?;
            child = branch.next;
            Some(&branch.step)
        })
    }

    /// Adds a branch of a single step.
    pub fn push(&mut self, root: Root, step: Step) {
        let branch = self.allocate(step);
        self.append(root.0, branch);
    }

    /// Adds a branch of a single step before all others.
    pub fn push_front(&mut self, root: Root, step: Step) {
        let branch = self.allocate(step);
        self.branches[branch as usize].next = self.branches[root.0 as usize].child;
        self.branches[root.0 as usize].child = branch;
    }

    fn append(&mut self, parent: u32, branch: u32) {
        let mut last = self.branches[parent as usize].child;
        if last == NONE {
            self.branches[parent as usize].child = branch;
            return;
        }
        while self.branches[last as usize].next != NONE {
            last = self.branches[last as usize].next;
        }
        self.branches[last as usize].next = branch;
    }

    /// The branches of the tree.
    pub fn branches(&self, root: Root) -> impl Iterator<Item = (Root, &Step)> {
        let mut child = self.branches[root.0 as usize].child;
        std::iter::from_fn(move || {
            let branch = self.branches.get(child as usize)?;
            let found = (Root(child), &branch.step);
            child = branch.next;
            Some(found)
        })
    }

    /// Inserts what is left of a sequence into the tree below a branch that was a weak initial of it. Says whether it has grown.
    pub fn insert_below(&mut self, branch: Root, steps: &mut Vec<Step>) -> bool {
        let mut at = branch.0;
        'descend: loop {
            let mut child = self.branches[at as usize].child;
            if child == NONE || steps.is_empty() {
                // A leaf: whatever is explored from there covers the sequence.
                return false;
            }
            while child != NONE {
                let step = self.branches[child as usize].step;
                if take_weak_initial(steps, &step) {
                    at = child;
                    continue 'descend;
                }
                child = self.branches[child as usize].next;
            }
            self.append_all(at, steps);
            return true;
        }
    }

    /// Takes the tree apart into the sequences to its leaves, the first one first.
    pub fn take_sequences(&mut self, root: Root) -> Vec<Vec<Step>> {
        let mut sequences = Vec::new();
        let mut path: Vec<Root> = vec![root];
        let mut steps: Vec<Step> = Vec::new();
        let mut leaf = false;
        while let Some(&at) = path.last() {
            if let Some((step, below)) = self.take_first(at) {
                leaf = true;
                steps.push(step);
                path.push(below);
                continue;
            }
            if leaf {
                sequences.push(steps.clone());
                leaf = false;
            }
            steps.pop();
            path.pop();
            if at != root {
                self.free.push(at.0);
            }
        }
        sequences
    }

    /// Adds `steps` as a new branch.
    pub fn push_all(&mut self, root: Root, steps: &[Step]) {
        self.append_all(root.0, steps);
    }

    fn append_all(&mut self, mut at: u32, steps: &[Step]) {
        for step in steps {
            let branch = self.allocate(*step);
            self.append(at, branch);
            at = branch;
        }
    }

    /// Inserts `sequence` unless some leaf already leads into it: descends into the first branch
    /// that is a weak initial of what is left of the sequence, takes that step out of it, and adds
    /// what is left where no branch is.
    pub fn insert(&mut self, root: Root, sequence: &Sequence<'_>) -> Insertion {
        let length = sequence.events.len() + 1;
        self.taken.clear();
        self.taken.resize(length, false);
        let mut at = root.0;
        let mut first = NONE;
        'descend: loop {
            let mut child = self.branches[at as usize].child;
            while child != NONE {
                let branch = &self.branches[child as usize];
                let found = sequence.walk(&branch.step, &self.taken);
                if let Initial::At(position) = found {
                    self.taken[position] = true;
                }
                if found != Initial::No {
                    if branch.child == NONE {
                        return Insertion::Redundant;
                    }
                    if first == NONE {
                        first = child;
                    }
                    at = child;
                    continue 'descend;
                }
                child = branch.next;
            }
            break;
        }
        if self.taken.iter().all(|&t| t) {
            return Insertion::Redundant;
        }
        for position in 0..length {
            if !self.taken[position] {
                let branch = self.allocate(sequence.step(position));
                self.append(at, branch);
                at = branch;
            }
        }
        if first == NONE { Insertion::New } else { Insertion::Below(Root(first)) }
    }

    /// Makes a branch of the tree its first one.
    pub fn bring_to_front(&mut self, root: Root, branch: Root) {
        let mut link = self.branches[root.0 as usize].child;
        if link == branch.0 {
            return;
        }
        while link != NONE && self.branches[link as usize].next != branch.0 {
            link = self.branches[link as usize].next;
        }
        if link != NONE {
            self.branches[link as usize].next = self.branches[branch.0 as usize].next;
            self.branches[branch.0 as usize].next = self.branches[root.0 as usize].child;
            self.branches[root.0 as usize].child = branch.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{Kind, Mode};

    fn write(thread: ThreadId, object: u32) -> Event {
        let operation = Operation::new(Kind::Store).with(object, Mode::Write, 0, 0);
        Event { thread, alternative: 0, operation }
    }

    fn step(event: Event) -> Step {
        Step { thread: event.thread, alternative: event.alternative, operation: event.operation }
    }

    #[test]
    fn weak_initials_are_what_the_sequence_can_start_with() {
        let run = [write(0, 0), write(1, 1)];
        let v = Sequence { run: &run, events: &[0, 1], last: step(write(2, 0)) };
        assert!(v.has_weak_initial(&step(write(0, 0))));
        assert!(v.has_weak_initial(&step(write(1, 1))));
        assert!(!v.has_weak_initial(&step(write(2, 0))), "comes after a write of the same object");
        assert!(v.has_weak_initial(&step(write(3, 7))), "independent of everything");
        assert!(!v.has_weak_initial(&step(write(3, 1))));
    }

    #[test]
    fn a_tree_comes_apart_into_its_sequences() {
        let run = [write(0, 0), write(1, 1)];
        let mut trees = WakeupTrees::default();
        let root = trees.empty();
        let last = |thread| step(write(thread, 0));
        trees.insert(root, &Sequence { run: &run, events: &[0, 1], last: last(2) });
        trees.insert(root, &Sequence { run: &run, events: &[0, 1], last: last(3) });
        trees.insert(root, &Sequence { run: &run, events: &[], last: last(4) });
        let threads = |s: &Vec<Step>| s.iter().map(|z| z.thread).collect::<Vec<_>>();
        let sequences: Vec<_> = trees.take_sequences(root).iter().map(threads).collect();
        assert_eq!(sequences, [vec![0, 1, 2], vec![0, 1, 3], vec![4]]);
        assert!(trees.is_empty(root));
        assert_eq!(trees.branches.len() - trees.free.len(), 1, "everything but the root is given back");
    }

    #[test]
    fn an_equivalent_sequence_is_not_inserted_twice() {
        let run = [write(0, 0), write(1, 1), write(1, 1), write(0, 0)];
        let mut trees = WakeupTrees::default();
        let root = trees.empty();
        let insert = |trees: &mut WakeupTrees, events: &[u32], thread| {
            trees.insert(root, &Sequence { run: &run, events, last: step(write(thread, 0)) })
        };
        assert_eq!(insert(&mut trees, &[0, 1], 2), Insertion::New);
        assert_eq!(insert(&mut trees, &[2, 3], 2), Insertion::Redundant);
        assert!(matches!(insert(&mut trees, &[0, 1], 3), Insertion::Below(_)));
        let (first, below) = trees.take_first(root).unwrap();
        assert_eq!(first.thread, 0);
        assert!(trees.is_empty(root));
        assert_eq!(trees.take_first(below).unwrap().0.thread, 1);
    }
}
