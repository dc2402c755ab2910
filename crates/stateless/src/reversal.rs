//! How each algorithm makes sure that the reversal of a race is explored.
//!
//! *Optimal* (J. ACM 2017, algorithm 2). The sequence `v` explored instead of the earlier event `e`
//! consists of all events of the whole run after `e` that do not happen after it, then the later
//! operation. It is inserted into the wake-up tree at the state of `e`, unless some step asleep
//! there is a weak initial of `v` (then `v` is covered elsewhere). All races of every complete run
//! are considered, also those whose both events were there in earlier runs: `v` may contain
//! different events after the later one, and the redundancy check is right only if it sees them.
//!
//! *Source sets* (same paper, algorithm 1). `v` stops at the later operation; one of its initials is
//! added unless one is there or asleep. Only races of new events have to be considered.
//!
//! *Flanagan–Godefroid* (POPL 2005). The thread of the later operation is added if it is enabled
//! before `e`; else an enabled thread through which something happens before the later operation;
//! else all enabled threads. Deviation: races are those of [`crate::happens_before`], found when the
//! later operation is executed or still pending at the end, where the paper looks at every pending
//! operation in every state, and then at the last dependent event only. Both are sound, by the same
//! argument: let `w` be a sequence from the state of `e` and `p` an explored first step that
//! occurs in `w` but is not an initial of it. Then some event `g` of `w` before it depends on it, the
//! race is seen in a run below `p`, and what is added occurs in `w` strictly earlier (or is all
//! that is enabled). So in the end an initial of `w` is explored.

use crate::ahead::{Job, Reported};
use crate::configuration::Algorithm;
use crate::execution::Symmetry;
use crate::explore::Exploration;
use crate::happens_before::{Event, HappensBefore, Race};
use crate::operation::dependent;
use crate::parallel::Request;
use crate::symmetry::Classes;
use crate::threads::{ThreadId, ThreadSet};
use crate::wakeup_tree::{ANY, Insertion, Root, Sequence, Step, is_weak_initial, take_weak_initial};

impl Exploration {
    /// Asks for everything that the current run shows to be missing.
    pub(crate) fn reverse_races(&mut self, happens_before: &HappensBefore, from: usize) {
        if self.configuration.symmetry == Symmetry::Off {
            let run = std::mem::take(&mut self.run);
            self.reverse_races_of(&run, happens_before, from, |_| true);
            self.run = run;
        } else {
            let mut run = std::mem::take(&mut self.image);
            run.clone_from(&self.run);
            self.reverse_races_of(&run, happens_before, from, |_| true);
            self.image = run;
        }
    }

    /// The same for `run`, at those states that are `concerned`; up to there it agrees with the current run.
    pub(crate) fn reverse_races_of(
        &mut self,
        run: &[Event],
        happens_before: &HappensBefore,
        from: usize,
        concerned: impl Fn(usize) -> bool,
    ) {
        for (k, event) in run.iter().enumerate() {
            if event.operation.alternatives > 1 && concerned(k) {
                self.other_alternatives(run, happens_before, k, from);
            }
        }
        for race in happens_before.races() {
            if concerned(race.earlier as usize) {
                match self.configuration.algorithm {
                    Algorithm::Optimal => self.insert_reversal(run, happens_before, race),
                    Algorithm::SourceSets => self.add_initial(run, happens_before, race),
                    Algorithm::FlanaganGodefroid => self.add_enabled(run, happens_before, race),
                }
            }
        }
    }

    fn other_alternatives(&mut self, run: &[Event], happens_before: &HappensBefore, k: usize, from: usize) {
        let event = run[k];
        // Whom another alternative wakes is not known here, and does not matter: a thread that waits
        // to be woken makes no step, or only one that writes the object it waits on.
        let mut operation = event.operation;
        operation.wakes = ThreadSet::EMPTY;
        for alternative in (0..event.operation.alternatives).filter(|&a| a != event.alternative) {
            let step = Step { thread: event.thread, alternative, operation };
            if self.configuration.algorithm == Algorithm::Optimal {
                self.collect_not_after(run, happens_before, k, run.len(), run.len());
                self.insert_sequence(run, k, step);
            } else if k >= from && k < self.shared {
                self.requests.push(Request::Alternative { at: k, thread: step.thread, alternative });
            } else if k >= from {
                let known = |z: &Step| z.thread == step.thread && z.alternative == alternative;
                let frame = &self.frames[k];
                if !frame.sleepers.iter().any(known) && !self.trees.first_steps(frame.tree).any(known) {
                    // Before all others: these sources treat a thread as asleep, or as known, when one
                    // alternative is; so all of them come before anything else is explored.
                    self.trees.push_front(self.frames[k].tree, step);
                }
            }
        }
    }

    /// Collects the events before `end`, other than `skip`, that come after event `i` but do not
    /// happen after it.
    fn collect_not_after(
        &mut self,
        run: &[Event],
        happens_before: &HappensBefore,
        i: usize,
        skip: usize,
        end: usize,
    ) {
        let thread = run[i].thread;
        self.sequence.clear();
        let unordered = |&j: &usize| j != skip && !happens_before.ordered(i, thread, j);
        self.sequence.extend((i + 1..end).filter(unordered).map(|j| j as u32));
    }

    fn insert_reversal(&mut self, run: &[Event], happens_before: &HappensBefore, race: &Race) {
        let i = race.earlier as usize;
        self.collect_not_after(run, happens_before, i, race.later as usize, run.len());
        self.insert_sequence(
            run,
            i,
            Step { thread: race.thread, alternative: ANY, operation: race.reversed },
        );
    }

    /// Inserts the collected events followed by `last` at state `at`, unless it is redundant.
    pub(crate) fn insert_sequence(&mut self, run: &[Event], at: usize, last: Step) {
        let sequence = Sequence { run, events: &self.sequence, last };
        let frame = &self.frames[at];
        if frame.sleepers.iter().any(|z| sequence.has_weak_initial(z)) {
            return;
        }
        if self.configuration.symmetry == Symmetry::Off {
            match self.trees.insert(frame.tree, &sequence) {
                Insertion::Redundant => return,
                Insertion::New => {}
                Insertion::Below(branch) => spoil(&mut self.frames[at].given, branch, &mut self.spoiled),
            }
            if at < self.shared {
                let steps = (0..=sequence.events.len()).map(|position| sequence.step(position));
                let steps = steps.map(|step| (step.thread, step.alternative)).collect();
                self.reports.push(Reported { at, steps });
            }
        } else {
            let mut steps = std::mem::take(&mut self.steps);
            steps.clear();
            steps.extend((0..=sequence.events.len()).map(|position| sequence.step(position)));
            self.insert_up_to_symmetry(at, &mut steps);
            self.steps = steps;
        }
    }

    /// Inserts `steps` at state `at`, or a symmetric counterpart of them further down.
    ///
    /// The current branch, and every branch before the first one that is a weak initial of the
    /// steps, will be asleep with its counterparts when later branches are explored; so a
    /// counterpart of the first matching branch stands for the sequence, and the sequence, with the
    /// two threads exchanged, is inserted below that branch. It must not just be dropped: below the
    /// branch, steps are asleep whose runs have reported this very race, here, in the trust that it
    /// will be explored.
    fn insert_up_to_symmetry(&mut self, mut at: usize, steps: &mut Vec<Step>) {
        let first = at;
        'down: loop {
            let frame = &self.frames[at];
            if at > first && frame.sleepers.iter().any(|z| is_weak_initial(z, steps)) {
                return;
            }
            let Some(current) = self.run.get(at).copied() else {
                // At the end of the current run: this run is equivalent to what was asked for. Unless it is what a copy has
                // reported for the state that its branch was given away at, where the run ends now.
                if at == first {
                    self.insert_at(at, steps);
                }
                return;
            };
            let current = Step {
                thread: current.thread,
                alternative: current.alternative,
                operation: current.operation,
            };
            if take_counterpart(steps, &current, &frame.classes, &mut self.statistics.pruned_symmetric) {
                at += 1;
                continue 'down;
            }
            let reported =
                (at < self.shared).then(|| steps.iter().map(|s| (s.thread, s.alternative)).collect());
            if self.insert_at(at, steps)
                && let Some(steps) = reported
            {
                self.reports.push(Reported { at, steps });
            }
            return;
        }
    }

    /// Inserts `steps` below the first branch at state `at` that can stand for them, or as a new one. Says whether the tree has grown.
    fn insert_at(&mut self, at: usize, steps: &mut Vec<Step>) -> bool {
        let frame = &self.frames[at];
        let found = self.trees.branches(frame.tree).find_map(|(branch, step)| {
            take_counterpart(steps, step, &frame.classes, &mut self.statistics.pruned_symmetric)
                .then_some(branch)
        });
        match found {
            Some(branch) => {
                let grown = self.trees.insert_below(branch, steps);
                if grown {
                    spoil(&mut self.frames[at].given, branch, &mut self.spoiled);
                }
                grown
            }
            None => {
                self.trees.push_all(frame.tree, steps);
                true
            }
        }
    }

    /// Builds the tree of the state at the end of the run again, now that its classes are known: of
    /// its sequences, some may be symmetric to others.
    pub(crate) fn merge_symmetric(&mut self) {
        let at = self.live - 1;
        let tree = self.frames[at].tree;
        if self.trees.branches(tree).nth(1).is_some() {
            for mut steps in self.trees.take_sequences(tree) {
                if !self.frames[at].sleepers.iter().any(|z| is_weak_initial(z, &steps)) {
                    self.insert_at(at, &mut steps);
                }
            }
        }
    }

    /// The threads that are explored, to be explored or asleep at state `at`, whose event in the
    /// current run is `current`; and those that are so up to symmetry.
    fn known(&self, at: usize, current: ThreadId) -> (ThreadSet, ThreadSet) {
        let frame = &self.frames[at];
        let own: ThreadSet = self.trees.first_steps(frame.tree).map(|z| z.thread).chain([current]).collect();
        let asleep: ThreadSet = frame.sleepers.iter().map(|z| z.thread).collect();
        let mut mates = ThreadSet::EMPTY;
        if !frame.classes.is_empty() {
            for thread in own.iter() {
                mates = mates | frame.classes.mates(thread);
            }
        }
        (own | asleep | frame.elsewhere, mates)
    }

    fn add_initial(&mut self, run: &[Event], happens_before: &HappensBefore, race: &Race) {
        let i = race.earlier as usize;
        self.collect_not_after(run, happens_before, i, run.len(), race.later as usize);
        // The first event of each thread, unless something in the sequence happens before it.
        let mut first = [u32::MAX; crate::threads::MAX_THREADS];
        let mut seen = ThreadSet::EMPTY;
        let mut initials = ThreadSet::EMPTY;
        let mut last_is_initial = true;
        for &j in &self.sequence {
            let event = &run[j as usize];
            last_is_initial &= !dependent(event.thread, &event.operation, race.thread, &race.reversed);
            if seen.contains(event.thread) {
                continue;
            }
            let clock = happens_before.clock(j as usize);
            if seen.iter().all(|t| clock[t as usize] <= first[t as usize]) {
                initials.insert(event.thread);
            }
            seen.insert(event.thread);
            first[event.thread as usize] = j;
        }
        if last_is_initial {
            initials.insert(race.thread);
        }
        let (known, mates) = self.known(i, run[i].thread);
        if !(initials & known).is_empty() {
            return;
        }
        if !(initials & mates).is_empty() {
            self.statistics.pruned_symmetric += 1;
            return;
        }
        debug_assert!(!initials.is_empty());
        if i < self.shared {
            self.requests.push(Request::Initials { at: i, initials });
            return;
        }
        if let Some(thread) = initials.first() {
            self.add_thread(i, thread);
        }
    }

    fn add_enabled(&mut self, run: &[Event], happens_before: &HappensBefore, race: &Race) {
        let i = race.earlier as usize;
        let enabled = self.frames[i].enabled;
        let (known, mates) = self.known(i, run[i].thread);
        let mut wanted = ThreadSet::EMPTY;
        if enabled.contains(race.thread) {
            wanted.insert(race.thread);
        } else {
            // Threads with an event between the two that does not happen after the earlier one, but
            // happens before the later operation even when that is moved before the earlier event.
            self.collect_not_after(run, happens_before, i, run.len(), race.later as usize);
            let mut through = ThreadSet::EMPTY;
            for (position, &j) in self.sequence.iter().enumerate() {
                let by = run[j as usize].thread;
                let leads_to_later = |&x: &u32| {
                    let other = &run[x as usize];
                    happens_before.ordered(j as usize, by, x as usize)
                        && dependent(other.thread, &other.operation, race.thread, &race.reversed)
                };
                if enabled.contains(by) && self.sequence[position..].iter().any(leads_to_later) {
                    through.insert(by);
                }
            }
            if !(through & known).is_empty() {
                return;
            }
            match through.first() {
                Some(thread) => wanted.insert(thread),
                None => wanted = enabled,
            }
        }
        for thread in (wanted - known).iter() {
            if mates.contains(thread) {
                self.statistics.pruned_symmetric += 1;
            } else {
                self.add_thread(i, thread);
            }
        }
    }

    fn add_thread(&mut self, at: usize, thread: ThreadId) {
        let operation = crate::operation::Operation::new(crate::operation::Kind::Other);
        let step = Step { thread, alternative: ANY, operation };
        self.trees.push(self.frames[at].tree, step);
    }
}

/// Something has grown below this branch: who explores it does so in vain.
fn spoil(given: &mut Vec<(Root, Job)>, branch: Root, spoiled: &mut Vec<Job>) {
    if let Some(position) = given.iter().position(|(b, _)| *b == branch) {
        spoiled.push(given.remove(position).1);
    }
}

/// Is `branch`, or a counterpart of it under an exchange of threads, a weak initial of `steps`? If
/// so takes it out, and applies the exchange to the steps.
fn take_counterpart(steps: &mut Vec<Step>, branch: &Step, classes: &Classes, pruned: &mut u64) -> bool {
    if take_weak_initial(steps, branch) {
        return true;
    }
    for mate in classes.mates(branch.thread).iter() {
        let operation = branch.operation.swapped(branch.thread, mate);
        let counterpart = Step { thread: mate, operation, ..*branch };
        if take_weak_initial(steps, &counterpart) {
            for step in steps.iter_mut() {
                if step.thread == mate {
                    step.thread = branch.thread;
                } else if step.thread == branch.thread {
                    step.thread = mate;
                }
                step.operation = step.operation.swapped(branch.thread, mate);
            }
            *pruned += 1;
            return true;
        }
    }
    false
}
