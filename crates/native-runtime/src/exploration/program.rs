//! The program as the exploration sees it.

use quotient_stateless::happens_before::Event;
use quotient_stateless::{Ending, Execution, Kind, Mode, Operation, Outcome, Symmetry, ThreadId, ThreadSet};

use crate::exploration::outcomes::flush_output;
use crate::exploration::world::{NOWHERE, Pending, Runtime, Status, World, world};
use crate::instrumentation::atomics::read_value;
use crate::primitives::rwlock::PLACES;
use crate::protocol::{Chosen, FailureKind, Op, STEPS, Step, THREADS, met};

/// Controlled executions of the program in this process.
#[derive(Default)]
pub struct Program {
    /// Steps made in the current execution.
    pub steps: usize,
}

impl World {
    fn value(&self, object: u32) -> i64 {
        self.objects.peek(object).map_or(0, |state| state.value)
    }

    fn cell(&self, kind: Kind, mode: Mode, pending: &Pending) -> Operation {
        let value = read_value(pending.address, pending.size as usize);
        // Values of accesses of different extents cannot be compared: a compare-and-swap then counts as a write.
        let comparable = self.objects.is_uniform(pending.object) && !self.is_counted(pending.object);
        let mode = if mode == Mode::CompareAndSwap && !comparable { Mode::Write } else { mode };
        Operation::new(kind).with(pending.object, mode, pending.need, value)
    }

    fn on_object(&self, kind: Kind, mode: Mode, need: i64, pending: &Pending) -> Operation {
        Operation::new(kind).with(pending.object, mode, need, self.value(pending.object))
    }

    fn ready_operation(&self, pending: &Pending, alternative: u16) -> Operation {
        match pending.op {
            Op::Load => self.cell(Kind::Load, Mode::Read, pending),
            Op::Store => self.cell(Kind::Store, Mode::Write, pending),
            Op::Update if self.is_count(pending) => self.cell(Kind::ReadModifyWrite, Mode::Add, pending),
            Op::Update => self.cell(Kind::ReadModifyWrite, Mode::Write, pending),
            Op::CompareAndSwap => self.cell(Kind::CompareAndSwap, Mode::CompareAndSwap, pending),
            Op::Read => self.cell(Kind::Load, Mode::Read, pending),
            Op::Write => self.cell(Kind::Store, Mode::Write, pending),
            Op::AtomicBegin => {
                let mut operation = self.on_object(Kind::Other, Mode::Write, 0, pending);
                operation.alternatives = pending.choices;
                operation
            }
            Op::Lock | Op::Once => self.on_object(Kind::Lock, Mode::Acquire, 1, pending),
            Op::TryLock | Op::TimedLock => self.on_object(Kind::TryLock, Mode::Try, 1, pending),
            Op::Unlock | Op::OnceDone | Op::LockRelease | Op::Destroy | Op::Initialise => {
                self.on_object(Kind::Unlock, Mode::Write, 0, pending)
            }
            Op::ReadLock => self.on_object(Kind::Lock, Mode::Acquire, 1, pending),
            Op::WriteLock => self.on_object(Kind::Lock, Mode::Acquire, PLACES, pending),
            Op::TryReadLock => self.on_object(Kind::TryLock, Mode::Try, 1, pending),
            Op::TryWriteLock => self.on_object(Kind::TryLock, Mode::Try, PLACES, pending),
            Op::Wait | Op::TimedWait => Operation::new(Kind::ConditionWait)
                .with(pending.other, Mode::Write, 0, self.value(pending.other))
                .with(pending.object, Mode::Write, 0, self.value(pending.object)),
            Op::Signal | Op::Broadcast => self.wake_operation(pending, alternative),
            Op::SemaphoreWait => self.on_object(Kind::SemaphoreWait, Mode::Acquire, 1, pending),
            Op::SemaphoreTry => self.on_object(Kind::SemaphoreWait, Mode::Try, 1, pending),
            Op::SemaphorePost => self.on_object(Kind::SemaphorePost, Mode::Write, 0, pending),
            Op::SemaphoreValue => self.on_object(Kind::Load, Mode::Read, 0, pending),
            Op::OpenSemaphore | Op::UnlinkSemaphore | Op::OwnerDies => {
                self.on_object(Kind::Other, Mode::Write, 0, pending)
            }
            Op::FutexWait => Operation::new(Kind::ConditionWait)
                .with(pending.object, Mode::Write, 0, self.value(pending.object))
                .with(pending.other, Mode::Read, 0, read_value(pending.address, pending.size as usize)),
            Op::FutexWakeOne | Op::FutexWake => self.wake_operation(pending, alternative),
            Op::PipeRead | Op::PipeWrite => self.pipe_operation(Mode::Acquire, pending),
            Op::PipeTryRead | Op::PipeTryWrite => self.pipe_operation(Mode::Try, pending),
            Op::PipeClose => self.pipe_operation(Mode::Write, pending),
            Op::Cancel => self.on_object(Kind::Other, Mode::Write, 0, pending),
            Op::AwaitCancel => self.on_object(Kind::Other, Mode::Acquire, 1, pending),
            Op::SendSignal => self.send_operation(pending, alternative),
            Op::SignalState | Op::SignalWait => self.on_object(Kind::Other, Mode::Write, 0, pending),
            // Only who sends signals looks at what others block.
            Op::SignalReturn => self.on_object(Kind::Other, Mode::Read, 0, pending),
            Op::SocketState => self.on_object(Kind::Other, Mode::Write, 0, pending),
            Op::Accept => self.on_object(Kind::Other, Mode::Acquire, 1, pending),
            Op::TryAccept => self.on_object(Kind::Other, Mode::Try, 1, pending),
            Op::Poll => self.on_object(Kind::Other, Mode::Acquire, pending.need, pending),
            Op::TryPoll => self.on_object(Kind::Other, Mode::Read, 0, pending),
            Op::Barrier if self.arrivals_commute(pending.object) => {
                self.on_object(Kind::BarrierArrive, Mode::Read, 0, pending)
            }
            Op::BarrierLeave => {
                let mut operation = self.on_object(Kind::Resume, Mode::Read, 0, pending);
                (operation.awaits, operation.wakes) = (ThreadSet(pending.set), ThreadSet(pending.set));
                operation.alternatives = pending.choices;
                operation
            }
            Op::Barrier => {
                let mut operation = self.on_object(Kind::BarrierArrive, Mode::Write, 0, pending);
                if let Some(state) = self.objects.peek(pending.object)
                    && state.value + 1 >= i64::from(state.count)
                {
                    operation.wakes = ThreadSet(state.set);
                }
                operation
            }
            Op::Call => {
                let mode = |writes: i64| if writes != 0 { Mode::Write } else { Mode::Read };
                let operation =
                    Operation::new(Kind::Other).with(pending.object, mode(pending.need & 1), 0, 0);
                if pending.need & 2 == 0 {
                    return operation;
                }
                operation.with(pending.other, mode(pending.need & 4), 0, 0)
            }
            Op::Create => {
                let mut operation = Operation::new(Kind::Create);
                operation.wakes = ThreadSet(pending.set);
                if self.signals.used {
                    // There is one more who may get them.
                    operation = operation.with(self.signals.object, Mode::Write, 0, 0);
                }
                operation
            }
            Op::Join => {
                let mut operation = Operation::new(Kind::Join);
                operation.awaits = ThreadSet(pending.set);
                operation
            }
            Op::Choose => {
                let mut operation = Operation::new(Kind::Choose);
                operation.alternatives = pending.choices;
                operation
            }
            _ => Operation::new(Kind::Other),
        }
    }

    /// The object that it needs something of, and the one that it adds to.
    fn pipe_operation(&self, mode: Mode, pending: &Pending) -> Operation {
        Operation::new(Kind::Other).with(pending.object, mode, pending.need, self.value(pending.object)).with(
            pending.other,
            Mode::Write,
            0,
            self.value(pending.other),
        )
    }

    /// Who gets a signal is a choice, and may be waiting for it.
    fn send_operation(&self, pending: &Pending, alternative: u16) -> Operation {
        let mut operation = self.on_object(Kind::Signal, Mode::Write, 0, pending);
        let (ways, woken) = self.ways_to_send(pending, alternative);
        operation.alternatives = ways;
        operation.wakes = woken.into_iter().map(|t| t as ThreadId).collect();
        operation
    }

    /// A point of interruption: in one way if the thread is interrupted already, else as it decides.
    fn point_operation(&self, thread: usize, pending: &Pending) -> Operation {
        let mut operation = Operation::new(Kind::Choose);
        for object in self.looked_at(pending) {
            operation = operation.with(object, Mode::Read, 0, self.value(object));
        }
        operation.alternatives = if self.is_interrupted_now(thread, pending) { 1 } else { pending.choices };
        operation
    }

    fn wake_operation(&self, pending: &Pending, alternative: u16) -> Operation {
        let waiters = self.objects.peek(pending.object).map_or(&[][..], |state| &state.waiters);
        let signal = matches!(pending.op, Op::Signal | Op::FutexWakeOne);
        let kind = if signal { Kind::Signal } else { Kind::Broadcast };
        let mut operation = Operation::new(kind).with(pending.object, Mode::Try, 1, waiters.len() as i64);
        if signal {
            operation.alternatives = waiters.len().max(1) as u16;
            operation.wakes = waiters.get(alternative as usize).copied().into_iter().collect();
        } else {
            operation.wakes = waiters.iter().copied().collect();
        }
        operation
    }

    /// What a thread is about to do, as the exploration sees it.
    pub fn operation(&self, thread: usize, alternative: u16) -> Option<Operation> {
        // An operation is large: it is made where it is wanted, and looked at again only where there are sections.
        if self.sections.used {
            return self.operation_beside_sections(thread, alternative);
        }
        self.own_operation(thread, alternative)
    }

    /// Every access is ordered with the sections of others.
    #[cold]
    fn operation_beside_sections(&self, thread: usize, alternative: u16) -> Option<Operation> {
        let operation = self.own_operation(thread, alternative)?;
        let begins = self.threads[thread].pending.op == Op::AtomicBegin;
        if !begins && !operation.accesses().is_empty() {
            return Some(operation.with(self.sections.object, Mode::Read, 0, 0));
        }
        Some(operation)
    }

    #[inline]
    fn own_operation(&self, thread: usize, alternative: u16) -> Option<Operation> {
        let number = thread;
        let thread = &self.threads[thread];
        let pending = &thread.pending;
        match thread.status {
            Status::Ready if pending.op == Op::Point => Some(self.point_operation(number, pending)),
            Status::Ready if pending.op == Op::Exit => None,
            Status::Ready => Some(self.ready_operation(pending, alternative)),
            Status::Released => Some(Operation::new(Kind::Resume)),
            Status::Waiting { timed: true } => {
                Some(self.on_object(Kind::ConditionTimeout, Mode::Write, 0, pending))
            }
            Status::Reacquiring { timed_out, timed }
                if matches!(pending.op, Op::FutexResume | Op::SignalResume) =>
            {
                let mut operation = Operation::new(Kind::Resume);
                operation.timed = (timed && !timed_out).then_some(pending.object);
                Some(operation)
            }
            Status::Reacquiring { timed_out, timed } => {
                let free = self.value(pending.other);
                let mut operation =
                    Operation::new(Kind::ConditionReacquire).with(pending.other, Mode::Acquire, 1, free);
                operation.timed = (timed && !timed_out).then_some(pending.object);
                Some(operation)
            }
            _ => None,
        }
    }

    /// Can it be done now?
    pub fn is_enabled(&self, thread: usize) -> bool {
        let status = self.threads[thread].status;
        if matches!(status, Status::Unborn | Status::Finished) {
            return false;
        }
        let pending = &self.threads[thread].pending;
        if status == Status::Ready && pending.op == Op::BarrierLeave {
            return self.all_have_arrived(pending.object);
        }
        self.operation(thread, 0).is_some_and(|operation| {
            operation.accesses().iter().all(|a| a.possible_at(a.value))
                && operation.awaits.iter().all(|t| self.threads[t as usize].status == Status::Finished)
        })
    }

    /// How the execution ended, if nothing has failed: is it a deadlock?
    fn judge_end(&mut self) -> Ending {
        let threads = &self.threads[..self.named.min(THREADS)];
        let exited = threads.iter().any(|t| t.status == Status::Ready && t.pending.op == Op::Exit);
        let assumed = threads.iter().any(|t| t.status == Status::Assumed);
        let waiting = threads.iter().filter(|t| t.lives() && t.pending.op != Op::Exit).count();
        let blocked = threads.iter().any(|t| t.lives() && t.status != Status::Assumed);
        let unjoined =
            threads[1..].iter().filter(|t| t.status != Status::Unborn && !t.detached && !t.joined).count();
        let alive = || (0..threads.len()).filter(|&t| threads[t].lives());
        let at_barrier =
            |t: &usize| threads[*t].status == Status::AtBarrier || threads[*t].pending.op == Op::BarrierLeave;
        if let Some(thread) = alive().filter(at_barrier).find(|&t| self.has_signal(t)) {
            let text = format!("a signal to thread {thread} while it waits at a barrier");
            self.record_failure(FailureKind::Refused, &text, NOWHERE, NOWHERE);
            return Ending::Crash;
        }
        if assumed
            || self.stopped
            || alive().any(|t| self.is_in_vain(t))
            || alive().any(|t| self.has_stale_wait(t))
        {
            return Ending::Infeasible;
        }
        if blocked && (!exited || self.waits_in_a_circle()) {
            let spins = alive().any(|t| threads[t].status == Status::Spinning);
            let kind = if spins { FailureKind::Livelock } else { FailureKind::Deadlock };
            self.record_failure(kind, "", NOWHERE, NOWHERE);
            return Ending::Deadlock;
        }
        if !exited && self.exit_handlers.is_needed() {
            let text = "handlers of atexit after the last thread has ended by itself";
            self.record_failure(FailureKind::Refused, text, NOWHERE, NOWHERE);
            return Ending::Crash;
        }
        self.shared.leaked = self.shared.leaked.max(unjoined as u32);
        self.shared.waiting = self.shared.waiting.max(waiting as u32);
        // Without a call of exit the program ends with its last thread, and status 0. Of a status eight bits are seen.
        let statuses = threads.iter().filter(|t| t.status == Status::Ready && t.pending.op == Op::Exit);
        let success = statuses.clone().count() == 0 || statuses.clone().any(|t| t.operands[0] & 0xff == 0);
        self.shared.exit_status = statuses.clone().next().map_or(0, |t| t.operands[0] as u32 & 0xff);
        self.shared.met |= if success { met::SUCCESS } else { met::FAILURE };
        if self.shared.leaks != 0 && unjoined > 0 {
            let text = format!("{unjoined} joinable thread(s) are never joined");
            self.record_failure(FailureKind::Leak, &text, NOWHERE, NOWHERE);
            return Ending::Crash;
        }
        Ending::Finished
    }

    fn failure_kind(&self) -> FailureKind {
        FailureKind::from_number(self.shared.failure.kind).unwrap_or(FailureKind::None)
    }
}

impl Runtime {
    /// Ends the execution: it says nothing, and everything starts again.
    pub fn abandon(mut self) -> ! {
        self.abandoned = true;
        loop {
            self.leave();
        }
    }
}

impl Execution for Program {
    fn max_threads(&self) -> usize {
        world().limit
    }

    fn restart(&mut self) {
        self.steps = 0;
        let mut w = world();
        w.restart();
        w.run(0);
        self.start_children();
    }

    fn enabled(&self) -> ThreadSet {
        let w = world();
        if w.failed || w.abandoned {
            return ThreadSet::EMPTY;
        }
        (0..w.limit).filter(|&t| w.is_enabled(t)).map(|t| t as ThreadId).collect()
    }

    fn pending(&self, thread: ThreadId, alternative: u16) -> Option<Operation> {
        let w = world();
        if w.abandoned {
            return None;
        }
        w.operation(thread as usize, alternative)
    }

    fn step(&mut self, thread: ThreadId, alternative: u16) {
        let mut w = world();
        if self.steps < STEPS {
            w.shared.schedule[self.steps] = Chosen { thread: u16::from(thread), alternative };
            w.shared.schedule_length = self.steps as u32 + 1;
        }
        w.write_script(self.steps, thread as usize, alternative);
        let before = w.replays().then(|| w.describe(thread as usize, alternative));
        w.shared.steps += 1;
        w.alternative = alternative;
        w.trap = before.is_some() && w.shared.trap as usize == self.steps + 1;
        w.run(thread as usize);
        self.start_children();
        if let Some(mut step) = before {
            world().complete(&mut step);
            if self.steps < STEPS {
                world().shared.trace[self.steps] = step;
                world().shared.trace_length = self.steps as u32 + 1;
            }
        }
        self.steps += 1;
    }

    fn repeat(&mut self, run: &[Event], _check: bool) -> Result<(), usize> {
        let mut w = world();
        w.keep_ghosts(run);
        if w.replays() || !w.script.is_of(run) {
            self.restart();
            for (step, event) in run.iter().enumerate() {
                w.add_ghosts(step);
                let met = self.pending(event.thread, event.alternative);
                if !met.is_some_and(|met| met.same_shape(&event.operation)) {
                    return Err(step);
                }
                self.step(event.thread, event.alternative);
            }
            w.add_ghosts(run.len());
            return Ok(());
        }
        w.restart();
        w.script.start(run.len());
        w.run(0);
        self.steps = world().script.end()?;
        Ok(())
    }

    fn outcome(&mut self) -> Outcome {
        let mut w = world();
        let ending = if w.abandoned {
            Ending::Infeasible
        } else if w.failed {
            match w.failure_kind() {
                FailureKind::Assertion | FailureKind::Error => Ending::Assertion,
                FailureKind::Race => Ending::Race,
                _ => Ending::Crash,
            }
        } else {
            w.judge_end()
        };
        let hash = match ending {
            Ending::Finished if w.wants_outcomes() => {
                flush_output();
                w.observation().wrapping_add(w.outcome_hash())
            }
            Ending::Finished => w.observation(),
            _ => 0,
        };
        Outcome { ending, hash }
    }

    fn symmetric(&mut self, a: ThreadId, b: ThreadId, symmetry: Symmetry) -> bool {
        let found = match symmetry {
            Symmetry::Off => false,
            Symmetry::Costarted => world().costarted(a as usize, b as usize),
            Symmetry::Dynamic => world().dynamically_symmetric(a as usize, b as usize),
        };
        let shared = &mut world().shared;
        shared.symmetry_tests += 1;
        shared.symmetry_found += u64::from(found);
        found
    }
}

impl Program {
    /// Lets new threads come to their first visible operation.
    fn start_children(&mut self) {
        loop {
            let mut w = world();
            if w.failed || w.abandoned {
                return;
            }
            let Some(new) = w.next_starting() else { return };
            w.run(new);
        }
    }
}

impl World {
    /// Writes down the step that `thread` is about to make.
    fn describe(&mut self, thread: usize, alternative: u16) -> Step {
        let operation = self.operation(thread, alternative);
        let number = thread as u8;
        let thread = &self.threads[thread];
        let pending = thread.pending;
        let op = match thread.status {
            Status::Waiting { .. } => Op::TimeOut,
            _ => pending.op,
        };
        let object = if op == Op::Reacquire { pending.other } else { pending.object };
        let is_cell =
            matches!(op, Op::Load | Op::Store | Op::Update | Op::CompareAndSwap | Op::Read | Op::Write);
        let before = match op {
            _ if is_cell => read_value(pending.address, pending.size as usize),
            Op::Fence => thread.operands[crate::exploration::messages::operand::ORDERS] as i64,
            _ => self.value(object),
        };
        Step {
            thread: number,
            op: op as u8,
            size: pending.size,
            success: match operation.as_ref().and_then(|o| o.accesses().first()) {
                Some(access) if matches!(access.mode, Mode::Try | Mode::CompareAndSwap) => {
                    access.writes() as u8
                }
                _ => 1,
            },
            alternative,
            alternatives: operation.map_or(1, |o| o.alternatives),
            source: 0,
            newer: 0,
            wakes: operation.map_or(0, |o| o.wakes.0),
            awaits: operation.map_or(0, |o| o.awaits.0),
            address: pending.address as u64,
            other: self.objects.address(pending.other) as u64,
            before,
            after: before,
            stack: thread.announced_at.unwrap_or_else(|| thread.saved_stack(&self.code)),
        }
    }

    /// Adds what the step has done.
    fn complete(&mut self, step: &mut Step) {
        let is_cell = Op::from_number(step.op).is_some_and(|op| {
            matches!(op, Op::Load | Op::Store | Op::Update | Op::CompareAndSwap | Op::Read | Op::Write)
        });
        if is_cell && !self.failed {
            step.after = read_value(step.address as usize, step.size as usize);
        }
        self.complete_weakly(step);
    }
}
