//! The language of model programs.

use std::fmt;

use quotient_stateless::threads::{ThreadId, ThreadSet};

/// Registers of each thread, initially 0.
pub const REGISTERS: usize = 4;

/// A value computed from registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Value {
    /// A constant.
    Constant(i64),
    /// The content of a register.
    Register(u8),
    /// A register plus a constant.
    Sum(u8, i64),
}

/// How a register is compared with a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
}

/// A test of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Condition {
    /// The register.
    pub register: u8,
    /// The comparison.
    pub comparison: Comparison,
    /// What it is compared with.
    pub constant: i64,
}

impl Condition {
    /// Is it true of these registers?
    pub fn holds(&self, registers: &[i64; REGISTERS]) -> bool {
        let value = registers[self.register as usize];
        match self.comparison {
            Comparison::Equal => value == self.constant,
            Comparison::NotEqual => value != self.constant,
            Comparison::Less => value < self.constant,
        }
    }
}

/// An instruction. Objects (variables, mutexes, …) are numbered per kind from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Instruction {
    /// `register = variable`
    Load {
        /// Target.
        register: u8,
        /// Source.
        variable: u8,
    },
    /// `variable = value`
    Store {
        /// Target.
        variable: u8,
        /// Source.
        value: Value,
    },
    /// `register = variable; variable += amount`, atomically.
    FetchAdd {
        /// Gets the old value.
        register: u8,
        /// Target.
        variable: u8,
        /// Added to it.
        amount: i64,
    },
    /// `register = (variable == watched); variable += amount`, atomically; the register stays as it is if nothing is watched.
    Count {
        /// Gets 1 if the old value was the one that is watched, else 0.
        register: u8,
        /// Target.
        variable: u8,
        /// Added to it.
        amount: i64,
        /// What the old value is compared with.
        watched: Option<u8>,
    },
    /// If `variable == expected` then `variable = new; register = 1` else `register = 0`, atomically.
    CompareAndSwap {
        /// Gets 1 on success, else 0.
        register: u8,
        /// Target.
        variable: u8,
        /// Compared with it.
        expected: Value,
        /// Stored on success.
        new: Value,
    },
    /// Takes a mutex; blocks while somebody has it.
    Lock(u8),
    /// Gives a mutex back; a failure unless the thread has it.
    Unlock(u8),
    /// Takes the mutex if it is free; `register` says whether.
    TryLock {
        /// Gets 1 on success, else 0.
        register: u8,
        /// The mutex.
        mutex: u8,
    },
    /// Takes a reader-writer lock for reading; blocks while somebody has it for writing.
    ReadLock(u8),
    /// Takes a reader-writer lock for writing; blocks while somebody has it.
    WriteLock(u8),
    /// Takes the reader-writer lock for writing if nobody has it; `register` says whether.
    TryWriteLock {
        /// Gets 1 on success, else 0.
        register: u8,
        /// The reader-writer lock.
        lock: u8,
    },
    /// Gives a reader-writer lock back; a failure unless the thread has it.
    Release(u8),
    /// Gives back the mutex, waits to be signalled, takes the mutex again.
    Wait {
        /// The condition variable.
        condition: u8,
        /// A mutex the thread has.
        mutex: u8,
    },
    /// The same, but may also end by itself.
    TimedWait {
        /// Gets 1 after a timeout, 0 after a signal.
        register: u8,
        /// The condition variable.
        condition: u8,
        /// A mutex the thread has.
        mutex: u8,
    },
    /// Wakes one waiter, any of them.
    Signal(u8),
    /// Wakes all waiters.
    Broadcast(u8),
    /// Blocks until the semaphore is positive, then decrements it.
    SemaphoreWait(u8),
    /// Increments the semaphore.
    SemaphorePost(u8),
    /// Waits until as many threads as the barrier has places have arrived.
    Barrier(u8),
    /// Starts a thread; a thread that is the target of such an instruction does not run before.
    Create(ThreadId),
    /// Blocks until all these threads have ended.
    Join(ThreadSet),
    /// `register` = any of 0, …, choices − 1.
    Choose {
        /// Target.
        register: u8,
        /// How many values.
        choices: u8,
    },
    /// `register = value` (local).
    Set {
        /// Target.
        register: u8,
        /// Source.
        value: Value,
    },
    /// Ends the thread as failed unless the condition holds (local).
    Assert(Condition),
    /// Goes to instruction `target` if the condition holds (local).
    Branch {
        /// When to go there.
        condition: Condition,
        /// Where to; past the end: the thread ends.
        target: u16,
    },
    /// Goes to an instruction (local).
    Jump(u16),
}

impl Instruction {
    /// Is it executed without anybody noticing?
    pub fn is_local(&self) -> bool {
        use Instruction::*;
        matches!(self, Set { .. } | Assert(_) | Branch { .. } | Jump(_))
    }

    /// Where a branch or jump goes.
    pub fn target_mut(&mut self) -> Option<&mut u16> {
        match self {
            Instruction::Branch { target, .. } | Instruction::Jump(target) => Some(target),
            _ => None,
        }
    }
}

/// A model program.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Program {
    /// The code of each thread.
    pub threads: Vec<Vec<Instruction>>,
    /// Initial values of the shared variables.
    pub variables: Vec<i64>,
    /// Number of mutexes.
    pub mutexes: usize,
    /// Number of reader-writer locks.
    pub locks: usize,
    /// Number of condition variables.
    pub conditions: usize,
    /// Initial values of the semaphores.
    pub semaphores: Vec<i64>,
    /// Number of places of each barrier.
    pub barriers: Vec<u8>,
    /// Are the registers at the end part of the outcome? If so, no register is ever dead, and
    /// residual code is compared without renaming registers.
    pub registers_observed: bool,
    /// Are loads and stores atomic? If not, they can race.
    pub atomic: bool,
}

impl Program {
    /// A program over `variables` shared variables, initially 0, and nothing else.
    pub fn new(threads: Vec<Vec<Instruction>>, variables: usize) -> Program {
        Program {
            threads,
            variables: vec![0; variables],
            mutexes: 0,
            locks: 0,
            conditions: 0,
            semaphores: Vec::new(),
            barriers: Vec::new(),
            registers_observed: true,
            atomic: true,
        }
    }

    /// The threads that are started by a `create` instruction.
    pub fn created(&self) -> ThreadSet {
        let all = self.threads.iter().flatten();
        all.filter_map(|i| if let Instruction::Create(t) = i { Some(*t) } else { None }).collect()
    }

    /// The number of instructions that are visible operations.
    pub fn visible_instructions(&self) -> usize {
        self.threads.iter().flatten().filter(|i| !i.is_local()).count()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Constant(c) => write!(f, "{c}"),
            Value::Register(r) => write!(f, "r{r}"),
            Value::Sum(r, c) => write!(f, "r{r}+{c}"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comparison = match self.comparison {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
        };
        write!(f, "r{} {comparison} {}", self.register, self.constant)
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Instruction::*;
        match self {
            Load { register, variable } => write!(f, "r{register} = x{variable}"),
            Store { variable, value } => write!(f, "x{variable} = {value}"),
            FetchAdd { register, variable, amount } => {
                write!(f, "r{register} = fetch_add(x{variable}, {amount})")
            }
            Count { register, variable, amount, watched: Some(watched) } => {
                write!(f, "r{register} = (fetch_add(x{variable}, {amount}) == {watched})")
            }
            Count { variable, amount, .. } => write!(f, "fetch_add(x{variable}, {amount})"),
            CompareAndSwap { register, variable, expected, new } => {
                write!(f, "r{register} = cas(x{variable}, {expected}, {new})")
            }
            Lock(m) => write!(f, "lock(m{m})"),
            Unlock(m) => write!(f, "unlock(m{m})"),
            TryLock { register, mutex } => write!(f, "r{register} = trylock(m{mutex})"),
            ReadLock(l) => write!(f, "read_lock(l{l})"),
            WriteLock(l) => write!(f, "write_lock(l{l})"),
            TryWriteLock { register, lock } => write!(f, "r{register} = try_write_lock(l{lock})"),
            Release(l) => write!(f, "release(l{l})"),
            Wait { condition, mutex } => write!(f, "wait(c{condition}, m{mutex})"),
            TimedWait { register, condition, mutex } => {
                write!(f, "r{register} = timedwait(c{condition}, m{mutex})")
            }
            Signal(c) => write!(f, "signal(c{c})"),
            Broadcast(c) => write!(f, "broadcast(c{c})"),
            SemaphoreWait(s) => write!(f, "wait(s{s})"),
            SemaphorePost(s) => write!(f, "post(s{s})"),
            Barrier(b) => write!(f, "barrier(b{b})"),
            Create(t) => write!(f, "create({t})"),
            Join(set) => write!(f, "join({:?})", set.iter().collect::<Vec<_>>()),
            Choose { register, choices } => write!(f, "r{register} = choose({choices})"),
            Set { register, value } => write!(f, "r{register} = {value}"),
            Assert(condition) => write!(f, "assert {condition}"),
            Branch { condition, target } => write!(f, "if {condition} goto {target}"),
            Jump(target) => write!(f, "goto {target}"),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (t, code) in self.threads.iter().enumerate() {
            let code: Vec<String> = code.iter().map(ToString::to_string).collect();
            writeln!(f, "T{t}: {}", code.join("; "))?;
        }
        Ok(())
    }
}
