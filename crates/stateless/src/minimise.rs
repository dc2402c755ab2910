//! A failing schedule with few context switches.
//!
//! What a person can follow is long stretches of one thread. Three ways, cheapest first; every candidate is executed, and
//! counts only if it fails in the same way:
//!
//! 1. *Reordering.* Independent operations commute: of the orders that happens-before allows, a greedy one stays with a
//!    thread for as long as possible.
//! 2. *Merging.* A stretch of a thread is moved next to another stretch of the same thread.
//! 3. *Context bounding* (Qadeer, Rehof 2005): all schedules with no switch, one switch, and so on. The first one that
//!    fails has the fewest possible. This ends with the budget of executions, and then the answer does not claim it.
//!
//! A switch is counted wherever two neighbouring steps are of different threads, also where the first one could not go on.

use crate::execution::{Execution, Outcome};
use crate::happens_before::{Event, HappensBefore};
use crate::schedule::{Choice, Schedule};
use crate::threads::{ThreadId, ThreadSet};

/// A schedule with few context switches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Minimised {
    /// The schedule, complete.
    pub schedule: Schedule,
    /// How many context switches it has.
    pub switches: usize,
    /// Has no failing schedule fewer?
    pub fewest: bool,
    /// How many executions were made.
    pub executions: u64,
}

/// The number of context switches of a schedule.
pub fn switches(choices: &[Choice]) -> usize {
    choices.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
}

/// Looks for a schedule with fewer context switches than `schedule`, which fails; `same` says whether an execution that
/// has just ended fails in the same way. Makes at most `budget` executions, and none once `goes_on` says no.
pub fn minimise<X: Execution>(
    program: &mut X,
    schedule: &Schedule,
    budget: u64,
    goes_on: &mut dyn FnMut() -> bool,
    same: &mut dyn FnMut(&mut X, Outcome) -> bool,
) -> Minimised {
    let steps = schedule.choices.len() * 2 + 100;
    let mut search = Search { program, goes_on, same, left: budget, made: 0, steps, run: Vec::new() };
    let mut best = schedule.choices.clone();
    // Not even this one fails when it is repeated: nothing to do.
    let mut fewest = false;
    if let Some(repeated) = search.attempt(&best) {
        best = repeated;
        search.reorder(&mut best);
        search.merge(&mut best);
        fewest = search.bounded(&mut best);
    }
    let executions = search.made;
    Minimised { switches: switches(&best), schedule: Schedule { choices: best }, fewest, executions }
}

struct Search<'a, X: Execution> {
    program: &'a mut X,
    goes_on: &'a mut dyn FnMut() -> bool,
    same: &'a mut dyn FnMut(&mut X, Outcome) -> bool,
    /// Executions that may still be made.
    left: u64,
    /// Those that were made.
    made: u64,
    /// The most steps of an execution.
    steps: usize,
    /// What the last attempt executed.
    run: Vec<Event>,
}

/// A step of a context-bounded search, and what else could have been done there.
struct Branch {
    choice: Choice,
    others: Vec<Choice>,
    switches: usize,
}

impl<X: Execution> Search<'_, X> {
    fn step(&mut self, choice: Choice) -> bool {
        let Some(operation) = self.program.pending(choice.thread, choice.alternative) else { return false };
        if !self.program.enabled().contains(choice.thread) || choice.alternative >= operation.alternatives {
            return false;
        }
        self.program.step(choice.thread, choice.alternative);
        self.run.push(Event { thread: choice.thread, alternative: choice.alternative, operation });
        true
    }

    fn choices(&self) -> Vec<Choice> {
        self.run.iter().map(|e| Choice { thread: e.thread, alternative: e.alternative }).collect()
    }

    /// Another execution; none if that is too many.
    fn begin(&mut self) -> Option<()> {
        if !(self.goes_on)() {
            self.left = 0;
        }
        self.left = self.left.checked_sub(1)?;
        self.made += 1;
        Some(())
    }

    /// Executes these choices and then whatever stays with a thread; the schedule, if it fails in the same way.
    fn attempt(&mut self, choices: &[Choice]) -> Option<Vec<Choice>> {
        self.begin()?;
        self.program.restart();
        self.run.clear();
        for choice in choices {
            if self.program.enabled().is_empty() {
                break;
            }
            if !self.step(*choice) {
                return None;
            }
        }
        while self.run.len() < self.steps {
            let enabled = self.program.enabled();
            let stay = self.run.last().map(|e| e.thread).filter(|&t| enabled.contains(t));
            let Some(thread) = stay.or(enabled.first()) else {
                let outcome = self.program.outcome();
                return (self.same)(self.program, outcome).then(|| self.choices());
            };
            if !self.step(Choice { thread, alternative: 0 }) {
                return None;
            }
        }
        None
    }

    /// Takes the candidate if it fails with fewer switches.
    fn improve(&mut self, best: &mut Vec<Choice>, candidate: &[Choice]) -> bool {
        if switches(candidate) >= switches(best) {
            return false;
        }
        match self.attempt(candidate) {
            Some(found) if switches(&found) < switches(best) => {
                *best = found;
                true
            }
            _ => false,
        }
    }

    /// The same trace in another order. The last attempt must have executed `best`.
    fn reorder(&mut self, best: &mut Vec<Choice>) {
        let mut clocks = HappensBefore::new(self.program.max_threads());
        clocks.analyse(&self.run, &[], 0);
        let run = std::mem::take(&mut self.run);
        let threads: ThreadSet = run.iter().map(|e| e.thread).collect();
        let orders: Vec<Vec<Choice>> =
            threads.iter().map(|first| greedy_order(&run, &clocks, first)).collect();
        for order in orders {
            self.improve(best, &order);
        }
    }

    /// Moves stretches next to others of the same thread, as long as it helps.
    fn merge(&mut self, best: &mut Vec<Choice>) {
        while self.left > 0 {
            let stretches: Vec<Vec<Choice>> =
                best.chunk_by(|a, b| a.thread == b.thread).map(<[Choice]>::to_vec).collect();
            let mut improved = false;
            'pairs: for from in 0..stretches.len() {
                for to in 0..stretches.len() {
                    if from != to && stretches[from][0].thread == stretches[to][0].thread {
                        let candidate = moved(&stretches, from, to);
                        improved = self.improve(best, &candidate);
                        if improved || self.left == 0 {
                            break 'pairs;
                        }
                    }
                }
            }
            if !improved {
                return;
            }
        }
    }

    /// All schedules with fewer switches, fewest first. Says whether all of them were tried, or one was found.
    fn bounded(&mut self, best: &mut Vec<Choice>) -> bool {
        for most in 0..switches(best) {
            match self.within(most) {
                None => return false,
                Some(Some(found)) => {
                    *best = found;
                    return true;
                }
                Some(None) => {}
            }
        }
        true
    }

    /// All schedules with at most so many switches: the first one that fails. `None` if the budget does not suffice.
    fn within(&mut self, most: usize) -> Option<Option<Vec<Choice>>> {
        let mut path: Vec<Branch> = Vec::new();
        loop {
            self.begin()?;
            self.program.restart();
            self.run.clear();
            for branch in &path {
                let Choice { thread, alternative } = branch.choice;
                self.program.step(thread, alternative);
            }
            // An execution that is longer than this may be one that fails, so that nothing can be claimed.
            let ended = self.extend(&mut path, most)?;
            if ended {
                let outcome = self.program.outcome();
                if (self.same)(self.program, outcome) {
                    return Some(Some(path.iter().map(|branch| branch.choice).collect()));
                }
            }
            loop {
                let Some(branch) = path.last_mut() else { return Some(None) };
                let Some(next) = branch.others.pop() else {
                    path.pop();
                    continue;
                };
                branch.choice = next;
                let before = path.len().checked_sub(2).map(|i| &path[i]);
                let (thread, switches) = before.map_or((next.thread, 0), |b| (b.choice.thread, b.switches));
                let last = path.len() - 1;
                path[last].switches = switches + usize::from(thread != next.thread);
                break;
            }
        }
    }

    /// Goes on to the end. Says whether it was reached with at most `most` switches; `None` if it is too far away.
    fn extend(&mut self, path: &mut Vec<Branch>, most: usize) -> Option<bool> {
        loop {
            let enabled = self.program.enabled();
            if enabled.is_empty() {
                return Some(true);
            }
            if path.len() >= self.steps {
                return None;
            }
            let (last, used) = path.last().map_or((None, 0), |b| (Some(b.choice.thread), b.switches));
            let costs = |thread: ThreadId| usize::from(last.is_some_and(|l| l != thread));
            let mut options: Vec<Choice> = Vec::new();
            // The last one is taken first: staying with the thread.
            let own = last.filter(|&t| enabled.contains(t));
            let others = enabled.iter().filter(|&t| Some(t) != own);
            for thread in others.chain(own).filter(|&t| used + costs(t) <= most) {
                let alternatives = self.program.pending(thread, 0).map_or(0, |o| o.alternatives);
                options.extend((0..alternatives).rev().map(|alternative| Choice { thread, alternative }));
            }
            let Some(choice) = options.pop() else { return Some(false) };
            path.push(Branch { choice, others: options, switches: used + costs(choice.thread) });
            self.program.step(choice.thread, choice.alternative);
        }
    }
}

/// Stretch `from` moved next to stretch `to`: after it if it comes later, else before it.
fn moved(stretches: &[Vec<Choice>], from: usize, to: usize) -> Vec<Choice> {
    let mut order: Vec<usize> = (0..stretches.len()).filter(|&i| i != from).collect();
    let at = order.iter().position(|&i| i == to).unwrap_or(0);
    order.insert(if from > to { at + 1 } else { at }, from);
    order.into_iter().flat_map(|i| stretches[i].iter().copied()).collect()
}

/// An order of the events that happens-before allows: starts with thread `first` if it can, stays with a thread while
/// that is possible, then goes on with the one that can make most steps.
fn greedy_order(run: &[Event], clocks: &HappensBefore, first: ThreadId) -> Vec<Choice> {
    let threads: ThreadSet = run.iter().map(|e| e.thread).collect();
    let of =
        |thread: ThreadId| run.iter().enumerate().filter(move |(_, e)| e.thread == thread).map(|(k, _)| k);
    let mut queues: Vec<(ThreadId, std::collections::VecDeque<usize>)> =
        threads.iter().map(|t| (t, of(t).collect())).collect();
    let mut done = vec![false; run.len()];
    let mut order = Vec::new();
    let mut current = first;
    while order.len() < run.len() {
        // How many steps each thread can make now, one after the other.
        let ready = |queue: &std::collections::VecDeque<usize>, done: &[bool]| {
            let mut made: Vec<usize> = Vec::new();
            for &k in queue {
                let before = (0..k).filter(|&i| clocks.ordered(i, run[i].thread, k));
                if before.into_iter().any(|i| !done[i] && !made.contains(&i)) {
                    break;
                }
                made.push(k);
            }
            made.len()
        };
        let lengths: Vec<(usize, ThreadId)> =
            queues.iter().map(|(t, queue)| (ready(queue, &done), *t)).collect();
        let stays = lengths.iter().find(|(length, t)| *t == current && *length > 0);
        let Some(&(length, thread)) = stays.or_else(|| lengths.iter().max_by_key(|(length, _)| *length))
        else {
            break;
        };
        if length == 0 {
            break;
        }
        current = thread;
        let queue = queues.iter_mut().find(|(t, _)| *t == thread).map(|(_, queue)| queue);
        for k in queue.into_iter().flat_map(|queue| queue.drain(..length)) {
            done[k] = true;
            order.push(Choice { thread, alternative: run[k].alternative });
        }
    }
    order
}
