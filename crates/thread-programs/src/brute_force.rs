//! The oracle: all interleavings, one by one.
//!
//! It uses the interpreter and nothing of the exploration: what an executed instruction touches is
//! written down here a second time, from the instructions themselves. Two interleavings are the same
//! Mazurkiewicz trace when every thread did the same and every object saw the same sequence of
//! accesses, up to the order of reads between two writes.

use std::collections::{BTreeSet, HashSet};

use super::machine::{Machine, State, Status};
use super::program::Instruction;
use super::residual::outcome_hash;
use quotient_stateless::execution::{Ending, Execution, Symmetry};
use quotient_stateless::threads::ThreadId;

/// The outcomes of all executions, up to a symmetry. `None` if there are more than `limit` states.
pub fn outcomes(machine: &Machine, symmetry: Symmetry, limit: usize) -> Option<BTreeSet<(Ending, u64)>> {
    let mut machine = machine.clone();
    machine.restart();
    let mut seen: HashSet<State> = HashSet::new();
    let mut left = vec![machine.clone()];
    let mut found = BTreeSet::new();
    seen.insert(machine.state().clone());
    while let Some(machine) = left.pop() {
        let mut moved = false;
        for_each_step(&machine, |next, _, _| {
            moved = true;
            if seen.insert(next.state().clone()) {
                left.push(next);
            }
        });
        if !moved {
            found.insert((machine.ending(), outcome_hash(&machine, symmetry)));
        }
        if seen.len() > limit {
            return None;
        }
    }
    Some(found)
}

/// Is there a reachable state in which two threads are about to access the same variable, one of them
/// to change it, and not both atomically? `None` if there are more than `limit` states.
pub fn data_race(machine: &Machine, limit: usize) -> Option<bool> {
    let mut machine = machine.clone();
    machine.restart();
    let plain = |machine: &Machine, thread| {
        let instruction = machine.instruction(thread);
        !machine.program().atomic
            && matches!(instruction, Some(Instruction::Load { .. } | Instruction::Store { .. }))
    };
    let mut seen: HashSet<State> = HashSet::from([machine.state().clone()]);
    let mut left = vec![machine];
    while let Some(machine) = left.pop() {
        let enabled: Vec<ThreadId> = machine.enabled().iter().collect();
        for (i, &s) in enabled.iter().enumerate() {
            for &t in &enabled[i + 1..] {
                let (a, b) = (touched(&machine, s), touched(&machine, t));
                let conflict = a.iter().any(|x| b.iter().any(|y| x.0 == y.0 && (x.1 || y.1)));
                if conflict && (plain(&machine, s) || plain(&machine, t)) {
                    return Some(true);
                }
            }
        }
        for_each_step(&machine, |next, _, _| {
            if seen.insert(next.state().clone()) {
                left.push(next);
            }
        });
        if seen.len() > limit {
            return None;
        }
    }
    Some(false)
}

/// The number of Mazurkiewicz traces of complete executions. `None` if there are more than `limit`
/// interleavings.
pub fn traces(machine: &Machine, limit: u64) -> Option<usize> {
    let mut machine = machine.clone();
    machine.restart();
    let mut search = Traces { found: HashSet::new(), interleavings: 0, limit, history: Vec::new() };
    search.from(&machine).then_some(search.found.len())
}

fn for_each_step(machine: &Machine, mut see: impl FnMut(Machine, ThreadId, u16)) {
    for thread in machine.enabled().iter() {
        for alternative in 0..alternatives(machine, thread) {
            let mut next = machine.clone();
            next.step(thread, alternative);
            see(next, thread, alternative);
        }
    }
}

fn alternatives(machine: &Machine, thread: ThreadId) -> u16 {
    if machine.state().threads[thread as usize].status != Status::Ready {
        return 1;
    }
    match machine.instruction(thread) {
        Some(Instruction::Choose { choices, .. }) => choices.max(1) as u16,
        Some(Instruction::Signal(c)) => machine.state().waiters[c as usize].len().max(1) as u16,
        _ => 1,
    }
}

/// An object, by kind and number.
type Object = (char, u8);

struct Executed {
    thread: ThreadId,
    label: (u16, u16, Status),
    touched: Vec<(Object, bool)>,
}

/// What the next step of `thread` touches, and whether it changes it.
fn touched(machine: &Machine, thread: ThreadId) -> Vec<(Object, bool)> {
    use Instruction::*;
    let state = machine.state();
    let Some(instruction) = machine.instruction(thread) else { return Vec::new() };
    let free = |m: u8| state.owners[m as usize].is_none();
    match (state.threads[thread as usize].status, instruction) {
        (Status::Ready, Load { variable, .. }) => vec![(('x', variable), false)],
        (Status::Ready, Store { variable, .. } | FetchAdd { variable, .. } | Count { variable, .. }) => {
            vec![(('x', variable), true)]
        }
        (Status::Ready, CompareAndSwap { variable, .. }) => {
            vec![(('x', variable), swap_succeeds(machine, thread, instruction))]
        }
        (Status::Ready, Lock(m) | Unlock(m)) => vec![(('m', m), true)],
        (Status::Ready, TryLock { mutex, .. }) => vec![(('m', mutex), free(mutex))],
        (Status::Ready, ReadLock(l) | WriteLock(l) | Release(l)) => vec![(('l', l), true)],
        (Status::Ready, TryWriteLock { lock, .. }) => {
            let (readers, writer) = &state.holders[lock as usize];
            vec![(('l', lock), readers.is_empty() && writer.is_none())]
        }
        (Status::Ready, Wait { condition, mutex } | TimedWait { condition, mutex, .. }) => {
            vec![(('m', mutex), true), (('c', condition), true)]
        }
        (Status::Ready, Signal(c) | Broadcast(c)) => {
            vec![(('c', c), !state.waiters[c as usize].is_empty())]
        }
        (Status::Ready, SemaphoreWait(s) | SemaphorePost(s)) => vec![(('s', s), true)],
        (Status::Ready, Barrier(b)) => vec![(('b', b), true)],
        (Status::Waiting, TimedWait { condition, .. }) => vec![(('c', condition), true)],
        (Status::Reacquiring { .. }, Wait { mutex, .. } | TimedWait { mutex, .. }) => {
            vec![(('m', mutex), true)]
        }
        _ => Vec::new(),
    }
}

fn swap_succeeds(machine: &Machine, thread: ThreadId, instruction: Instruction) -> bool {
    use super::program::Value;
    let Instruction::CompareAndSwap { variable, expected, .. } = instruction else { return false };
    let registers = machine.state().threads[thread as usize].registers;
    let expected = match expected {
        Value::Constant(c) => c,
        Value::Register(r) => registers[r as usize],
        Value::Sum(r, c) => registers[r as usize] + c,
    };
    machine.state().variables[variable as usize] == expected
}

struct Traces {
    found: HashSet<Vec<u8>>,
    interleavings: u64,
    limit: u64,
    history: Vec<Executed>,
}

impl Traces {
    fn from(&mut self, machine: &Machine) -> bool {
        let mut steps = Vec::new();
        for_each_step(machine, |next, thread, alternative| steps.push((next, thread, alternative)));
        if steps.is_empty() {
            self.interleavings += 1;
            let normal = self.normal_form(machine.state().threads.len());
            self.found.insert(normal);
            return self.interleavings <= self.limit;
        }
        for (next, thread, alternative) in steps {
            let local = &machine.state().threads[thread as usize];
            let label = (alternative, local.location, local.status);
            self.history.push(Executed { thread, label, touched: touched(machine, thread) });
            let within = self.from(&next);
            self.history.pop();
            if !within {
                return false;
            }
        }
        true
    }

    /// What each thread did, then what each object saw, reads between writes sorted.
    fn normal_form(&self, threads: usize) -> Vec<u8> {
        let mut normal = Vec::new();
        let mut objects: BTreeSet<Object> = BTreeSet::new();
        for thread in 0..threads {
            for event in self.history.iter().filter(|e| e.thread as usize == thread) {
                let status = match event.label.2 {
                    Status::Ready => 0,
                    Status::Waiting => 1,
                    Status::Reacquiring { .. } => 2,
                    _ => 3,
                };
                normal.extend([event.label.0 as u8, event.label.1 as u8, status]);
                objects.extend(event.touched.iter().map(|t| t.0));
            }
            normal.push(255);
        }
        for object in objects {
            let mut ordinals = vec![0u8; threads];
            let mut reads: Vec<(ThreadId, u8)> = Vec::new();
            for event in &self.history {
                let ordinal = ordinals[event.thread as usize];
                ordinals[event.thread as usize] += 1;
                let Some(&(_, write)) = event.touched.iter().find(|t| t.0 == object) else { continue };
                if !write {
                    reads.push((event.thread, ordinal));
                    continue;
                }
                reads.sort_unstable();
                for (thread, ordinal) in reads.drain(..) {
                    normal.extend([thread, ordinal]);
                }
                normal.extend([254, event.thread, ordinal]);
            }
            reads.sort_unstable();
            for (thread, ordinal) in reads.drain(..) {
                normal.extend([thread, ordinal]);
            }
            normal.push(255);
        }
        normal
    }
}
