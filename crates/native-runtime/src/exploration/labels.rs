//! The program as the exploration of graphs sees it (`quotient_stateless::graph`): what each thread is about to do, with
//! memory orders.
//!
//! Every operation of a primitive is a read-modify-write of its object, which acquires if it takes something and releases if it
//! gives something. What touches two objects at once, or can go on in two ways without being woken, is not covered: the
//! exploration then ends with its name.

use quotient_stateless::graph::{Access, Label, Location, MemoryProgram, Order};
use quotient_stateless::{Mode, ThreadId};

use crate::exploration::messages::{announced, operand, order};
use crate::exploration::program::Program;
use crate::exploration::world::{Pending, Status, World, world};
use crate::instrumentation::atomics::read_value;
use crate::protocol::{Op, memory};

/// Objects that are not memory are locations with this bit.
const OBJECT: u64 = 1 << 63;

fn object_location(object: u32) -> Location {
    Location(OBJECT | u64::from(object))
}

impl World {
    /// What a thread is about to do.
    fn label(&self, number: usize) -> Option<Label> {
        let thread = &self.threads[number];
        let pending = &thread.pending;
        match thread.status {
            Status::Ready if pending.op == Op::Exit => None,
            Status::Ready if self.sections.used => Some(Label::Unsupported("atomic sections")),
            Status::Ready => Some(self.ready_label(number, pending, &thread.operands)),
            Status::Released => Some(Label::Local),
            Status::Waiting { timed: true } | Status::Reacquiring { timed: true, .. } => {
                Some(Label::Unsupported("waits with a time limit"))
            }
            Status::Reacquiring { .. } if pending.op == Op::Reacquire => {
                Some(self.object_label(pending.other, Mode::Acquire, 1, Order::Acquire))
            }
            Status::Reacquiring { .. } => Some(Label::Unsupported("futexes and signals")),
            _ => None,
        }
    }

    fn object_label(&self, object: u32, mode: Mode, need: i64, order: Order) -> Label {
        let value = self.objects.peek(object).map_or(0, |state| state.value);
        Label::Object { location: object_location(object), mode, need, value, order }
    }

    fn ready_label(&self, number: usize, pending: &Pending, operands: &[usize; 3]) -> Label {
        let order = match pending.op {
            Op::Load | Op::Store | Op::Update | Op::CompareAndSwap => {
                return self.access_label(pending, operands);
            }
            Op::Fence => return Label::Fence(order(operands[operand::ORDERS])),
            Op::Read | Op::Write if self.memory == memory::TSO => {
                return self.access_label(pending, operands);
            }
            Op::Read | Op::Write => return Label::Unsupported("plain accesses that race"),
            Op::Create | Op::Join | Op::Choose | Op::Yield => Order::Relaxed,
            // Arrivals are independent, and the step that lets all go waits for them as a join waits for ends.
            Op::Barrier if self.arrivals_commute(pending.object) => return Label::Local,
            Op::BarrierLeave => return Label::Local,
            // The mutex is given back by a step of its own.
            Op::Wait => return self.object_label(pending.object, Mode::Write, 0, Order::Relaxed),
            Op::Signal | Op::Broadcast | Op::Call => Order::Relaxed,
            Op::Lock | Op::TryLock | Op::TimedLock | Op::Once => Order::Acquire,
            Op::ReadLock | Op::TryReadLock | Op::WriteLock | Op::TryWriteLock => Order::Acquire,
            Op::SemaphoreWait | Op::SemaphoreTry => Order::Acquire,
            Op::Unlock | Op::OnceDone | Op::LockRelease | Op::SemaphorePost => Order::Release,
            Op::Destroy | Op::Initialise | Op::SemaphoreValue => Order::Relaxed,
            Op::Barrier => Order::AcquireRelease,
            op => return Label::Unsupported(op.text()),
        };
        let Some(operation) = self.operation(number, 0) else { return Label::Local };
        match operation.accesses() {
            [] => Label::Local,
            [one] => self.object_label(one.object, one.mode, one.need, order).with_value(one.value),
            _ => Label::Unsupported(pending.op.text()),
        }
    }

    fn access_label(&self, pending: &Pending, operands: &[usize; 3]) -> Label {
        if pending.size > 8 {
            return Label::Unsupported("atomic accesses of more than eight bytes");
        }
        if !self.objects.is_uniform(pending.object) {
            return Label::Unsupported("atomic accesses of different sizes to the same memory");
        }
        if self.messages.hidden {
            return Label::Unsupported("atomic variables that something without a hook writes to");
        }
        let Some(change) = announced(pending, operands) else {
            return Label::Unsupported("atomic instructions of inline assembly");
        };
        let life = self.messages.life(pending.object, self.restarts_made);
        let orders = operands[operand::ORDERS];
        Label::Access(Access {
            location: Location(u64::from(pending.object) | u64::from(life) << 32),
            bytes: pending.size,
            initial: read_value(pending.address, pending.size as usize) as u64,
            change,
            order: order(orders),
            failure: order(orders >> 32),
        })
    }
}

impl MemoryProgram for Program {
    fn label(&self, thread: ThreadId) -> Option<Label> {
        let w = world();
        if w.failed || w.abandoned { None } else { w.label(thread as usize) }
    }

    fn object_value(&self, location: Location) -> i64 {
        let object = (location.0 & !OBJECT) as u32;
        world().object_value(object)
    }

    fn ended(&self) -> bool {
        let w = world();
        w.failed || w.abandoned
    }

    fn resumes(&self, thread: ThreadId) -> bool {
        !world().threads[thread as usize].woken_early
    }
}

impl World {
    /// The value that blocking operations look at. A condition variable's is the number of its waiters.
    fn object_value(&self, object: u32) -> i64 {
        self.objects.peek(object).map_or(0, |state| state.value)
    }
}
