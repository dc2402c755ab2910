//! Residual code of model programs, and what follows from it about symmetric threads.
//!
//! The residual code of a thread is what it may still execute: the part of its code reachable from
//! its location. Two locations have equal residual code when a walk in lockstep maps instructions
//! one-to-one and, unless registers are observed at the end, registers one-to-one; constants,
//! shared objects and threads must be the same (Yang et al. 2009, fig. 3). This is decided once per
//! program by writing down the walk with registers and locations numbered in the order in which they
//! are met: equal words, equal code.
//!
//! Exchanging threads `a` and `b` maps a state to itself when
//! * their residual code is equal, and the values of *live* registers, in the order of the walk;
//! * they are doing the same thing there (and wait in no queue, where positions differ);
//! * neither has a mutex, or they would own different ones (both may read under the same lock);
//! * nobody's residual code creates one of them, or joins one without the other. A join of a set of
//!   threads is what consecutive joins amount to when their results are not asked for.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::machine::{Machine, Status};
use super::program::{Instruction, Program, REGISTERS, Value};
use quotient_stateless::execution::{Execution, Symmetry};
use quotient_stateless::threads::{ThreadId, ThreadSet};

/// What is known about one location of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Location {
    /// Equal numbers: equal residual code.
    class: u32,
    /// The live registers in the order of the walk.
    live: Vec<u8>,
    /// The sets of threads that may still be joined.
    joins: Vec<ThreadSet>,
    /// The threads that may still be created.
    creates: ThreadSet,
}

/// The residual code of every location of a program.
#[derive(Clone, Debug)]
pub struct Residual {
    threads: Vec<Vec<Location>>,
    /// Threads with the same number have the same code.
    same_code: Vec<u32>,
}

/// A word of the walk through residual code.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Word {
    /// An instruction, with its registers and target numbered.
    Instruction(Instruction),
    /// Back at a location met before.
    Again(usize),
    /// The end of the thread.
    End,
}

impl Residual {
    /// Computes the residual code of all locations.
    pub fn new(program: &Program) -> Residual {
        let mut classes: HashMap<Vec<Word>, u32> = HashMap::new();
        let mut codes: HashMap<&[Instruction], u32> = HashMap::new();
        let mut same_code = Vec::new();
        let mut threads = Vec::new();
        for code in &program.threads {
            let next = codes.len() as u32;
            same_code.push(*codes.entry(code).or_insert(next));
            let live = live_registers(code, program.registers_observed);
            let mut locations = Vec::new();
            for location in 0..=code.len() {
                let walk = Walk::new(code, location, program.registers_observed);
                let next = classes.len() as u32;
                let class = *classes.entry(walk.words).or_insert(next);
                let live = walk.order.iter().copied().filter(|&r| live[location] >> r & 1 == 1).collect();
                locations.push(Location { class, live, joins: walk.joins, creates: walk.creates });
            }
            threads.push(locations);
        }
        Residual { threads, same_code }
    }

    fn at(&self, thread: ThreadId, location: u16) -> &Location {
        let locations = &self.threads[thread as usize];
        &locations[(location as usize).min(locations.len() - 1)]
    }
}

/// Registers (as bits) that may be read before they are written, at each location.
fn live_registers(code: &[Instruction], observed: bool) -> Vec<u8> {
    let end = if observed { (1 << REGISTERS) - 1 } else { 0 };
    let mut live = vec![0u8; code.len() + 1];
    live[code.len()] = end;
    loop {
        let mut changed = false;
        for location in (0..code.len()).rev() {
            let mut after = 0;
            for next in successors(&code[location], location, code.len()) {
                after |= live[next];
            }
            let (reads, writes) = registers(&code[location]);
            // `end` is all registers when they are observed: they can be seen wherever a thread stops.
            let here = reads | after & !writes | end;
            if here != live[location] {
                live[location] = here;
                changed = true;
            }
        }
        if !changed {
            return live;
        }
    }
}

fn successors(instruction: &Instruction, location: usize, length: usize) -> impl Iterator<Item = usize> {
    let (next, target) = match *instruction {
        Instruction::Branch { target, .. } => (Some(location + 1), Some(target as usize)),
        Instruction::Jump(target) => (None, Some(target as usize)),
        _ => (Some(location + 1), None),
    };
    next.into_iter().chain(target).map(move |l| l.min(length))
}

fn value_register(value: Value) -> u8 {
    match value {
        Value::Constant(_) => 0,
        Value::Register(r) | Value::Sum(r, _) => 1 << r,
    }
}

/// Registers read and written, as bits.
fn registers(instruction: &Instruction) -> (u8, u8) {
    use Instruction::*;
    match *instruction {
        Load { register, .. }
        | FetchAdd { register, .. }
        | TryLock { register, .. }
        | TryWriteLock { register, .. }
        | TimedWait { register, .. }
        | Choose { register, .. } => (0, 1 << register),
        Store { value, .. } => (value_register(value), 0),
        Count { register, watched, .. } => (0, if watched.is_some() { 1 << register } else { 0 }),
        CompareAndSwap { register, expected, new, .. } => {
            (value_register(expected) | value_register(new), 1 << register)
        }
        Set { register, value } => (value_register(value), 1 << register),
        Assert(condition) | Branch { condition, .. } => (1 << condition.register, 0),
        _ => (0, 0),
    }
}

struct Walk<'a> {
    code: &'a [Instruction],
    observed: bool,
    words: Vec<Word>,
    numbers: HashMap<usize, usize>,
    /// Registers in the order in which they are met.
    order: Vec<u8>,
    joins: Vec<ThreadSet>,
    creates: ThreadSet,
}

impl<'a> Walk<'a> {
    fn new(code: &'a [Instruction], location: usize, observed: bool) -> Walk<'a> {
        let order = if observed { (0..REGISTERS as u8).collect() } else { Vec::new() };
        let mut walk = Walk {
            code,
            observed,
            words: Vec::new(),
            numbers: HashMap::new(),
            order,
            joins: Vec::new(),
            creates: ThreadSet::EMPTY,
        };
        let mut left = vec![location];
        while let Some(location) = left.pop() {
            walk.visit(location, &mut left);
        }
        walk
    }

    fn visit(&mut self, location: usize, left: &mut Vec<usize>) {
        let Some(&instruction) = self.code.get(location) else {
            self.words.push(Word::End);
            return;
        };
        if let Some(&number) = self.numbers.get(&location) {
            self.words.push(Word::Again(number));
            return;
        }
        self.numbers.insert(location, self.numbers.len());
        match instruction {
            Instruction::Join(set) => self.joins.push(set),
            Instruction::Create(t) => self.creates.insert(t),
            _ => {}
        }
        let renamed = self.rename(instruction);
        self.words.push(Word::Instruction(renamed));
        left.extend(successors(&instruction, location, self.code.len()));
    }

    fn register(&mut self, register: u8) -> u8 {
        if self.observed {
            return register;
        }
        let met = self.order.iter().position(|&r| r == register);
        met.unwrap_or_else(|| {
            self.order.push(register);
            self.order.len() - 1
        }) as u8
    }

    fn value(&mut self, value: Value) -> Value {
        match value {
            Value::Constant(c) => Value::Constant(c),
            Value::Register(r) => Value::Register(self.register(r)),
            Value::Sum(r, c) => Value::Sum(self.register(r), c),
        }
    }

    /// The instruction with registers numbered and without its target: targets are told by the walk.
    fn rename(&mut self, mut instruction: Instruction) -> Instruction {
        use Instruction::*;
        match &mut instruction {
            Store { value, .. } => *value = self.value(*value),
            CompareAndSwap { register, expected, new, .. } => {
                *expected = self.value(*expected);
                *new = self.value(*new);
                *register = self.register(*register);
            }
            Set { register, value } => {
                *value = self.value(*value);
                *register = self.register(*register);
            }
            Load { register, .. }
            | FetchAdd { register, .. }
            | Count { register, .. }
            | TryLock { register, .. }
            | TryWriteLock { register, .. }
            | TimedWait { register, .. }
            | Choose { register, .. } => *register = self.register(*register),
            Assert(condition) | Branch { condition, .. } => {
                condition.register = self.register(condition.register);
            }
            _ => {}
        }
        if let Some(target) = instruction.target_mut() {
            *target = 0;
        }
        instruction
    }
}

/// Can `a` and `b` be exchanged in the current state of the machine?
pub(crate) fn symmetric(machine: &Machine, a: ThreadId, b: ThreadId, symmetry: Symmetry) -> bool {
    let (state, residual) = (machine.state(), machine.residual());
    let (x, y) = (&state.threads[a as usize], &state.threads[b as usize]);
    let alike = match symmetry {
        Symmetry::Off => false,
        // The rest follows from their pasts, which the exploration compares.
        Symmetry::Costarted => residual.same_code[a as usize] == residual.same_code[b as usize],
        Symmetry::Dynamic => {
            let (p, q) = (residual.at(a, x.location), residual.at(b, y.location));
            x.status == y.status
                && x.status != Status::Waiting
                && state.owners.iter().all(|owner| *owner != Some(a) && *owner != Some(b))
                && state.holders.iter().all(|(readers, writer)| {
                    let times = |t: ThreadId| readers.iter().filter(|r| **r == t).count();
                    times(a) == times(b) && *writer != Some(a) && *writer != Some(b)
                })
                && p.class == q.class
                && p.live.len() == q.live.len()
                && p.live
                    .iter()
                    .zip(&q.live)
                    .all(|(&r, &s)| x.registers[r as usize] == y.registers[s as usize])
        }
    };
    alike
        && state.threads.iter().enumerate().all(|(t, local)| {
            let location = residual.at(t as ThreadId, local.location);
            !location.creates.contains(a)
                && !location.creates.contains(b)
                && location.joins.iter().all(|set| set.contains(a) == set.contains(b))
        })
}

/// What can be observed of a thread: name, place, registers, status, mutexes it has.
type Observed = (u32, u32, [i64; REGISTERS], Status, Vec<u8>);

/// Hash of what can be observed in the current (final) state, up to the symmetry: with `Costarted`
/// threads of the same code are not told apart, with `Dynamic` threads are not told apart at all,
/// but by their residual code, registers if these are observed, and mutexes.
pub fn outcome_hash(machine: &Machine, symmetry: Symmetry) -> u64 {
    let (state, residual) = (machine.state(), machine.residual());
    let observed = machine.program().registers_observed;
    let mut threads: Vec<Observed> = Vec::new();
    for (t, local) in state.threads.iter().enumerate() {
        let t_id = t as ThreadId;
        let owned = (0..state.owners.len() as u8).filter(|&m| state.owners[m as usize] == Some(t_id));
        let read = (0..state.holders.len() as u8)
            .flat_map(|l| state.holders[l as usize].0.iter().filter(|r| **r == t_id).map(move |_| l));
        let written = (0..state.holders.len() as u8).filter(|&l| state.holders[l as usize].1 == Some(t_id));
        let held = owned.chain(read.map(|l| 100 + l)).chain(written.map(|l| 200 + l)).collect();
        let (name, location) = match symmetry {
            Symmetry::Off => (t as u32, u32::from(local.location)),
            Symmetry::Costarted => (residual.same_code[t], u32::from(local.location)),
            Symmetry::Dynamic if local.status == Status::Failed => (0, u32::MAX),
            Symmetry::Dynamic => (0, residual.at(t as ThreadId, local.location).class),
        };
        let registers = if observed { local.registers } else { [0; REGISTERS] };
        threads.push((name, location, registers, local.status, held));
    }
    if symmetry != Symmetry::Off {
        threads.sort_by_key(|t| {
            let mut hasher = DefaultHasher::new();
            t.hash(&mut hasher);
            hasher.finish()
        });
    }
    let mut hasher = DefaultHasher::new();
    (threads, &state.variables, &state.semaphores).hash(&mut hasher);
    hasher.finish()
}

/// A machine whose outcomes are taken up to a symmetry.
pub struct UpTo<'a> {
    /// The machine.
    pub machine: &'a mut Machine,
    /// Up to this.
    pub symmetry: Symmetry,
}

impl Execution for UpTo<'_> {
    fn max_threads(&self) -> usize {
        self.machine.max_threads()
    }
    fn restart(&mut self) {
        self.machine.restart();
    }
    fn enabled(&self) -> ThreadSet {
        self.machine.enabled()
    }
    fn pending(
        &self,
        thread: ThreadId,
        alternative: u16,
    ) -> Option<quotient_stateless::operation::Operation> {
        self.machine.pending(thread, alternative)
    }
    fn step(&mut self, thread: ThreadId, alternative: u16) {
        self.machine.step(thread, alternative);
    }
    fn outcome(&mut self) -> quotient_stateless::execution::Outcome {
        let hash = outcome_hash(self.machine, self.symmetry);
        quotient_stateless::execution::Outcome { ending: self.machine.ending(), hash }
    }
    fn symmetric(&mut self, a: ThreadId, b: ThreadId, symmetry: Symmetry) -> bool {
        self.machine.symmetric(a, b, symmetry)
    }
}
