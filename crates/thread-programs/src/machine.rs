//! The interpreter: a model program as an [`Execution`].

use super::program::{Instruction, Program, REGISTERS, Value};
use super::residual::Residual;
use quotient_stateless::counts::need;
use quotient_stateless::execution::{Ending, Execution, Outcome, Symmetry};
use quotient_stateless::operation::{Kind, Mode, Operation};
use quotient_stateless::threads::{ThreadId, ThreadSet};

/// Local instructions a thread may execute between two visible operations.
const LOCAL_STEPS: usize = 10_000;

/// Places of a reader-writer lock: more than readers can take.
const PLACES: i64 = 1000;

/// What a thread is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Status {
    /// Not yet created.
    Unborn,
    /// About to execute the visible instruction at its location.
    Ready,
    /// In a condition wait, not yet woken.
    Waiting,
    /// Woken from a condition wait (by a signal, or by its timeout), about to take the mutex.
    Reacquiring {
        /// Did it time out?
        timed_out: bool,
    },
    /// Waiting at a barrier.
    AtBarrier,
    /// Released from a barrier.
    Released,
    /// At its end.
    Ended,
    /// Ended by a failure.
    Failed,
}

/// The local state of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Thread {
    /// Index of its next instruction.
    pub location: u16,
    /// What it is doing there.
    pub status: Status,
    /// Its registers.
    pub registers: [i64; REGISTERS],
}

/// The state of a program.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct State {
    /// The threads.
    pub threads: Vec<Thread>,
    /// The shared variables.
    pub variables: Vec<i64>,
    /// Who has each mutex.
    pub owners: Vec<Option<ThreadId>>,
    /// Who has each reader-writer lock for reading (in order, as often as it was taken), and who for writing.
    pub holders: Vec<(Vec<ThreadId>, Option<ThreadId>)>,
    /// Who waits on each condition variable, oldest first.
    pub waiters: Vec<Vec<ThreadId>>,
    /// The semaphores.
    pub semaphores: Vec<i64>,
    /// Who is at each barrier.
    pub arrived: Vec<ThreadSet>,
}

/// An executing model program.
#[derive(Clone)]
pub struct Machine {
    program: Program,
    residual: Residual,
    initial: State,
    state: State,
    /// Variables whose counts are announced as additions.
    counted: ThreadSet,
}

impl Machine {
    /// The program in its initial state.
    pub fn new(program: Program) -> Machine {
        let created = program.created();
        let unborn = |t: usize| if created.contains(t as ThreadId) { Status::Unborn } else { Status::Ready };
        let threads = (0..program.threads.len())
            .map(|t| Thread { location: 0, status: unborn(t), registers: [0; REGISTERS] })
            .collect();
        let state = State {
            threads,
            variables: program.variables.clone(),
            owners: vec![None; program.mutexes],
            holders: vec![(Vec::new(), None); program.locks],
            waiters: vec![Vec::new(); program.conditions],
            semaphores: program.semaphores.clone(),
            arrived: vec![ThreadSet::EMPTY; program.barriers.len()],
        };
        let residual = Residual::new(&program);
        let counted = ThreadSet::EMPTY;
        let mut machine = Machine { program, residual, initial: state.clone(), state, counted };
        for t in 0..machine.state.threads.len() {
            if machine.state.threads[t].status == Status::Ready {
                machine.run_local(t as ThreadId);
            }
        }
        machine.initial = machine.state.clone();
        machine
    }

    /// Announces what `Count` does to these variables as additions ([`quotient_stateless::counts`]), and nothing else about them in a way that
    /// depends on their values.
    #[must_use]
    pub fn counting(mut self, variables: impl IntoIterator<Item = u8>) -> Machine {
        self.counted = variables.into_iter().collect();
        self
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The current state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The residual code of the program.
    pub fn residual(&self) -> &Residual {
        &self.residual
    }

    /// The instruction `thread` is at.
    pub fn instruction(&self, thread: ThreadId) -> Option<Instruction> {
        let local = &self.state.threads[thread as usize];
        self.program.threads[thread as usize].get(local.location as usize).copied()
    }

    fn value(&self, thread: ThreadId, value: Value) -> i64 {
        let registers = &self.state.threads[thread as usize].registers;
        match value {
            Value::Constant(c) => c,
            Value::Register(r) => registers[r as usize],
            Value::Sum(r, c) => registers[r as usize].wrapping_add(c),
        }
    }

    /// Executes local instructions up to the next visible one.
    fn run_local(&mut self, thread: ThreadId) {
        let code = &self.program.threads[thread as usize];
        let local = &mut self.state.threads[thread as usize];
        local.status = Status::Ready;
        for _ in 0..LOCAL_STEPS {
            let Some(instruction) = code.get(local.location as usize) else {
                local.status = Status::Ended;
                return;
            };
            local.location += 1;
            match *instruction {
                Instruction::Set { register, value } => {
                    local.registers[register as usize] = match value {
                        Value::Constant(c) => c,
                        Value::Register(r) => local.registers[r as usize],
                        Value::Sum(r, c) => local.registers[r as usize].wrapping_add(c),
                    };
                }
                Instruction::Assert(condition) => {
                    if !condition.holds(&local.registers) {
                        local.status = Status::Failed;
                        return;
                    }
                }
                Instruction::Branch { condition, target } => {
                    if condition.holds(&local.registers) {
                        local.location = target;
                    }
                }
                Instruction::Jump(target) => local.location = target,
                _ => {
                    local.location -= 1;
                    return;
                }
            }
        }
        local.status = Status::Failed;
    }

    fn object(&self, kind: Object, number: u8) -> u32 {
        let p = &self.program;
        let base = match kind {
            Object::Variable => 0,
            Object::Mutex => p.variables.len(),
            Object::Condition => p.variables.len() + p.mutexes,
            Object::Semaphore => p.variables.len() + p.mutexes + p.conditions,
            Object::Barrier => p.variables.len() + p.mutexes + p.conditions + p.semaphores.len(),
            Object::Lock => {
                p.variables.len() + p.mutexes + p.conditions + p.semaphores.len() + p.barriers.len()
            }
        };
        base as u32 + number as u32
    }

    fn free(&self, mutex: u8) -> i64 {
        self.state.owners[mutex as usize].is_none() as i64
    }

    fn mutex(&self, kind: Kind, mode: Mode, mutex: u8) -> Operation {
        Operation::new(kind).with(self.object(Object::Mutex, mutex), mode, 1, self.free(mutex))
    }

    /// Places left in a reader-writer lock, of which a reader takes one and a writer all.
    fn places(&self, lock: u8) -> i64 {
        let (readers, writer) = &self.state.holders[lock as usize];
        if writer.is_some() { 0 } else { PLACES - readers.len() as i64 }
    }

    fn lock(&self, kind: Kind, mode: Mode, need: i64, lock: u8) -> Operation {
        Operation::new(kind).with(self.object(Object::Lock, lock), mode, need, self.places(lock))
    }

    fn memory(&self, kind: Kind, mode: Mode, variable: u8, need: i64) -> Operation {
        let value = self.state.variables[variable as usize];
        Operation::new(kind).with(self.object(Object::Variable, variable), mode, need, value)
    }

    fn ready_operation(&self, thread: ThreadId, instruction: Instruction, alternative: u16) -> Operation {
        use Instruction::*;
        let plain = |mut operation: Operation| {
            operation.atomic = self.program.atomic;
            operation
        };
        match instruction {
            Load { variable, .. } => plain(self.memory(Kind::Load, Mode::Read, variable, 0)),
            Store { variable, .. } => plain(self.memory(Kind::Store, Mode::Write, variable, 0)),
            FetchAdd { variable, .. } => self.memory(Kind::ReadModifyWrite, Mode::Write, variable, 0),
            Count { variable, amount, watched, .. } if self.counted.contains(variable) => {
                let needed = need(amount, watched.map_or(0, |value| 1 << value));
                self.memory(Kind::ReadModifyWrite, Mode::Add, variable, needed)
            }
            Count { variable, .. } => self.memory(Kind::ReadModifyWrite, Mode::Write, variable, 0),
            CompareAndSwap { variable, .. } if self.counted.contains(variable) => {
                self.memory(Kind::CompareAndSwap, Mode::Write, variable, 0)
            }
            CompareAndSwap { variable, expected, .. } => {
                let expected = self.value(thread, expected);
                self.memory(Kind::CompareAndSwap, Mode::CompareAndSwap, variable, expected)
            }
            Lock(m) => self.mutex(Kind::Lock, Mode::Acquire, m),
            Unlock(m) => self.mutex(Kind::Unlock, Mode::Write, m),
            TryLock { mutex, .. } => self.mutex(Kind::TryLock, Mode::Try, mutex),
            ReadLock(l) => self.lock(Kind::Lock, Mode::Acquire, 1, l),
            WriteLock(l) => self.lock(Kind::Lock, Mode::Acquire, PLACES, l),
            TryWriteLock { lock, .. } => self.lock(Kind::TryLock, Mode::Try, PLACES, lock),
            Release(l) => self.lock(Kind::Unlock, Mode::Write, 0, l),
            Wait { condition, mutex } | TimedWait { condition, mutex, .. } => {
                let waiters = self.state.waiters[condition as usize].len() as i64;
                self.mutex(Kind::ConditionWait, Mode::Write, mutex).with(
                    self.object(Object::Condition, condition),
                    Mode::Write,
                    0,
                    waiters,
                )
            }
            Signal(c) | Broadcast(c) => {
                let waiters = &self.state.waiters[c as usize];
                let signal = matches!(instruction, Signal(_));
                let kind = if signal { Kind::Signal } else { Kind::Broadcast };
                let object = self.object(Object::Condition, c);
                let mut operation = Operation::new(kind).with(object, Mode::Try, 1, waiters.len() as i64);
                if signal {
                    operation.alternatives = waiters.len().max(1) as u16;
                    operation.wakes = waiters.get(alternative as usize).copied().into_iter().collect();
                } else {
                    operation.wakes = waiters.iter().copied().collect();
                }
                operation
            }
            SemaphoreWait(s) => Operation::new(Kind::SemaphoreWait).with(
                self.object(Object::Semaphore, s),
                Mode::Acquire,
                1,
                self.state.semaphores[s as usize],
            ),
            SemaphorePost(s) => Operation::new(Kind::SemaphorePost).with(
                self.object(Object::Semaphore, s),
                Mode::Write,
                0,
                self.state.semaphores[s as usize],
            ),
            Barrier(b) => {
                let arrived = self.state.arrived[b as usize];
                let object = self.object(Object::Barrier, b);
                let mut operation =
                    Operation::new(Kind::BarrierArrive).with(object, Mode::Write, 0, arrived.len() as i64);
                if arrived.len() + 1 >= self.program.barriers[b as usize] as usize {
                    operation.wakes = arrived;
                }
                operation
            }
            Create(t) => {
                let mut operation = Operation::new(Kind::Create);
                if self.state.threads[t as usize].status == Status::Unborn {
                    operation.wakes.insert(t);
                }
                operation
            }
            Join(set) => {
                let mut operation = Operation::new(Kind::Join);
                operation.awaits = set;
                operation
            }
            Choose { choices, .. } => {
                let mut operation = Operation::new(Kind::Choose);
                operation.alternatives = choices.max(1) as u16;
                operation
            }
            Set { .. } | Assert(_) | Branch { .. } | Jump(_) => Operation::new(Kind::Other),
        }
    }

    fn ended(&self, set: ThreadSet) -> bool {
        set.iter().all(|t| matches!(self.state.threads[t as usize].status, Status::Ended | Status::Failed))
    }

    fn is_enabled(&self, thread: ThreadId) -> bool {
        let local = &self.state.threads[thread as usize];
        let instruction = self.instruction(thread);
        match (local.status, instruction) {
            (Status::Ready, Some(Instruction::Lock(m))) => self.free(m) == 1,
            (Status::Ready, Some(Instruction::ReadLock(l))) => self.places(l) >= 1,
            (Status::Ready, Some(Instruction::WriteLock(l))) => self.places(l) == PLACES,
            (Status::Ready, Some(Instruction::SemaphoreWait(s))) => self.state.semaphores[s as usize] > 0,
            (Status::Ready, Some(Instruction::Join(set))) => self.ended(set),
            (Status::Ready, _) | (Status::Released, _) => true,
            (Status::Waiting, Some(Instruction::TimedWait { .. })) => true,
            (
                Status::Reacquiring { .. },
                Some(Instruction::Wait { mutex, .. } | Instruction::TimedWait { mutex, .. }),
            ) => self.free(mutex) == 1,
            _ => false,
        }
    }

    fn go_on(&mut self, thread: ThreadId) {
        self.state.threads[thread as usize].location += 1;
        self.run_local(thread);
    }

    fn fail(&mut self, thread: ThreadId) {
        self.state.threads[thread as usize].status = Status::Failed;
    }

    fn set(&mut self, thread: ThreadId, register: u8, value: i64) {
        self.state.threads[thread as usize].registers[register as usize] = value;
    }

    fn step_ready(&mut self, thread: ThreadId, alternative: u16, instruction: Instruction) {
        use Instruction::*;
        match instruction {
            Load { register, variable } => {
                self.set(thread, register, self.state.variables[variable as usize]);
            }
            Store { variable, value } => {
                self.state.variables[variable as usize] = self.value(thread, value);
            }
            FetchAdd { register, variable, amount } => {
                let old = self.state.variables[variable as usize];
                self.state.variables[variable as usize] = old.wrapping_add(amount);
                self.set(thread, register, old);
            }
            Count { register, variable, amount, watched } => {
                let old = self.state.variables[variable as usize];
                self.state.variables[variable as usize] = old.wrapping_add(amount);
                if let Some(watched) = watched {
                    self.set(thread, register, i64::from(old == i64::from(watched)));
                }
            }
            CompareAndSwap { register, variable, expected, new } => {
                let success = self.state.variables[variable as usize] == self.value(thread, expected);
                if success {
                    self.state.variables[variable as usize] = self.value(thread, new);
                }
                self.set(thread, register, success as i64);
            }
            Lock(m) => self.state.owners[m as usize] = Some(thread),
            Unlock(m) => {
                if self.state.owners[m as usize] != Some(thread) {
                    return self.fail(thread);
                }
                self.state.owners[m as usize] = None;
            }
            TryLock { register, mutex } => {
                let success = self.free(mutex);
                if success == 1 {
                    self.state.owners[mutex as usize] = Some(thread);
                }
                self.set(thread, register, success);
            }
            ReadLock(l) => {
                let readers = &mut self.state.holders[l as usize].0;
                readers.insert(readers.partition_point(|r| *r < thread), thread);
            }
            WriteLock(l) => self.state.holders[l as usize].1 = Some(thread),
            TryWriteLock { register, lock } => {
                let success = self.places(lock) == PLACES;
                if success {
                    self.state.holders[lock as usize].1 = Some(thread);
                }
                self.set(thread, register, success as i64);
            }
            Release(l) => {
                let (readers, writer) = &mut self.state.holders[l as usize];
                if *writer == Some(thread) {
                    *writer = None;
                } else if let Ok(at) = readers.binary_search(&thread) {
                    readers.remove(at);
                } else {
                    return self.fail(thread);
                }
            }
            Wait { condition, mutex } | TimedWait { condition, mutex, .. } => {
                if self.state.owners[mutex as usize] != Some(thread) {
                    return self.fail(thread);
                }
                self.state.owners[mutex as usize] = None;
                self.state.waiters[condition as usize].push(thread);
                self.state.threads[thread as usize].status = Status::Waiting;
                return;
            }
            Signal(c) => {
                let waiters = &mut self.state.waiters[c as usize];
                if (alternative as usize) < waiters.len() {
                    let woken = waiters.remove(alternative as usize);
                    self.state.threads[woken as usize].status = Status::Reacquiring { timed_out: false };
                }
            }
            Broadcast(c) => {
                for woken in self.state.waiters[c as usize].drain(..) {
                    self.state.threads[woken as usize].status = Status::Reacquiring { timed_out: false };
                }
            }
            SemaphoreWait(s) => self.state.semaphores[s as usize] -= 1,
            SemaphorePost(s) => self.state.semaphores[s as usize] += 1,
            Barrier(b) => {
                let arrived = &mut self.state.arrived[b as usize];
                if arrived.len() + 1 < self.program.barriers[b as usize] as usize {
                    arrived.insert(thread);
                    self.state.threads[thread as usize].status = Status::AtBarrier;
                    return;
                }
                for released in std::mem::take(arrived).iter() {
                    self.state.threads[released as usize].status = Status::Released;
                }
            }
            Create(t) => {
                if self.state.threads[t as usize].status == Status::Unborn {
                    self.run_local(t);
                }
            }
            Choose { register, .. } => self.set(thread, register, alternative as i64),
            Join(_) | Set { .. } | Assert(_) | Branch { .. } | Jump(_) => {}
        }
        self.go_on(thread);
    }

    /// How the current state would be judged if it were final.
    pub fn ending(&self) -> Ending {
        let status = |s| self.state.threads.iter().any(|t| t.status == s);
        if status(Status::Failed) {
            Ending::Assertion
        } else if self.state.threads.iter().any(|t| !matches!(t.status, Status::Ended | Status::Unborn)) {
            Ending::Deadlock
        } else {
            Ending::Finished
        }
    }
}

enum Object {
    Variable,
    Mutex,
    Condition,
    Semaphore,
    Barrier,
    Lock,
}

impl Execution for Machine {
    fn max_threads(&self) -> usize {
        self.program.threads.len()
    }

    fn restart(&mut self) {
        let (state, initial) = (&mut self.state, &self.initial);
        state.threads.copy_from_slice(&initial.threads);
        state.variables.copy_from_slice(&initial.variables);
        state.owners.fill(None);
        for (readers, writer) in &mut state.holders {
            readers.clear();
            *writer = None;
        }
        state.waiters.iter_mut().for_each(Vec::clear);
        state.semaphores.copy_from_slice(&initial.semaphores);
        state.arrived.fill(ThreadSet::EMPTY);
    }

    fn enabled(&self) -> ThreadSet {
        (0..self.state.threads.len() as ThreadId).filter(|&t| self.is_enabled(t)).collect()
    }

    fn pending(&self, thread: ThreadId, alternative: u16) -> Option<Operation> {
        let local = &self.state.threads[thread as usize];
        let instruction = self.instruction(thread)?;
        match (local.status, instruction) {
            (Status::Ready, _) => Some(self.ready_operation(thread, instruction, alternative)),
            (Status::Released, _) => Some(Operation::new(Kind::Resume)),
            (Status::Waiting, Instruction::TimedWait { condition, .. }) => {
                let object = self.object(Object::Condition, condition);
                let waiters = self.state.waiters[condition as usize].len() as i64;
                Some(Operation::new(Kind::ConditionTimeout).with(object, Mode::Write, 0, waiters))
            }
            (Status::Reacquiring { .. }, Instruction::Wait { mutex, .. }) => {
                Some(self.mutex(Kind::ConditionReacquire, Mode::Acquire, mutex))
            }
            (Status::Reacquiring { timed_out }, Instruction::TimedWait { condition, mutex, .. }) => {
                let mut operation = self.mutex(Kind::ConditionReacquire, Mode::Acquire, mutex);
                operation.timed = (!timed_out).then(|| self.object(Object::Condition, condition));
                Some(operation)
            }
            _ => None,
        }
    }

    fn step(&mut self, thread: ThreadId, alternative: u16) {
        let Some(instruction) = self.instruction(thread) else { return };
        match (self.state.threads[thread as usize].status, instruction) {
            (Status::Ready, _) => self.step_ready(thread, alternative, instruction),
            (Status::Released, _) => self.go_on(thread),
            (Status::Waiting, Instruction::TimedWait { condition, .. }) => {
                self.state.waiters[condition as usize].retain(|&t| t != thread);
                self.state.threads[thread as usize].status = Status::Reacquiring { timed_out: true };
            }
            (Status::Reacquiring { .. }, Instruction::Wait { mutex, .. }) => {
                self.state.owners[mutex as usize] = Some(thread);
                self.go_on(thread);
            }
            (Status::Reacquiring { timed_out }, Instruction::TimedWait { register, mutex, .. }) => {
                self.state.owners[mutex as usize] = Some(thread);
                self.set(thread, register, timed_out as i64);
                self.go_on(thread);
            }
            _ => {}
        }
    }

    fn outcome(&mut self) -> Outcome {
        Outcome { ending: self.ending(), hash: super::residual::outcome_hash(self, Symmetry::Off) }
    }

    fn symmetric(&mut self, a: ThreadId, b: ThreadId, symmetry: Symmetry) -> bool {
        super::residual::symmetric(self, a, b, symmetry)
    }
}
