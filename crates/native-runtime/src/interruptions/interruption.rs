//! Points at which a thread can be interrupted: cancelled, or made to run a signal handler.
//!
//! A thread that blocks goes on when it gets what it waits for *or* when it is interrupted. The exploration knows operations that
//! wait for one thing. So before an operation that may block, a thread that could be interrupted decides how its wait will
//! end: it gets what it waits for (the first alternative), or it is interrupted (the others), and then waits for that alone. A
//! decision that does not come true is not an execution of the program: a thread that waits for an interruption that never
//! comes, or that waits in vain and has been interrupted, makes the execution an infeasible one ([`World::is_in_vain`]).
//! Until then everything in it is real, since such a thread has done nothing more than wait.
//!
//! Nothing is lost: a wait that blocks for ever, uninterrupted, is that of the first alternative; one that is interrupted
//! that of the other, wherever it happens to be when the interruption comes. If the operation would not block, being
//! interrupted in it is being interrupted before it. If the interruption is already there the thread takes it, without decision.
//!
//! Handlers run at visible operations only (and at calls that wait), not between other instructions.

use crate::exploration::world::{Pending, Status, World, announce, world};
use crate::interruptions::signal::Signals;
use crate::protocol::Op;

/// Bits of [`Pending::size`] at a point: what it looks at.
const CANCELLATION: u8 = 1;
const SIGNALS: u8 = 2;

/// How the wait at a point goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It ends when the thread gets what it waits for.
    Through,
    /// It has ended: a handler has run.
    Interrupted {
        /// Was the handler installed with `SA_RESTART`?
        restarts: bool,
    },
    /// It ends when the thread is cancelled.
    BeCancelled,
    /// It ends when the thread has a signal.
    BeSignalled,
}

/// How a point was passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// Nothing happened, or will happen while the operation waits.
    Through,
    /// A handler has run. Is the operation to be done again?
    Interrupted {
        /// Was the handler installed with `SA_RESTART`?
        restarts: bool,
    },
}

/// Does this point look at signals?
pub fn looks_at_signals(pending: &Pending) -> bool {
    pending.size & SIGNALS != 0
}

impl World {
    /// What the point that `thread` is at looks at: whether it is interrupted now.
    pub fn is_interrupted_now(&self, thread: usize, pending: &Pending) -> bool {
        pending.size & CANCELLATION != 0 && self.is_cancelled(thread)
            || pending.size & SIGNALS != 0 && self.has_signal(thread)
    }

    /// What the exploration has found out about interruptions, for a process that repeats a schedule: told like memory whose
    /// accesses are steps, at addresses that no program has.
    pub fn interruptions(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let Signals { used, receivers, .. } = self.signals;
        let found = [(1, usize::from(used)), (2, receivers as usize), (3, self.cancelled_ever as usize)];
        found.into_iter().filter(|(_, what)| *what != 0)
    }

    /// Takes note of one of these; says whether it was one.
    pub fn note_interruptions(&mut self, address: u64, what: u64) -> bool {
        match address {
            1 => self.signals.used = true,
            2 => self.signals.receivers = what,
            3 => self.cancelled_ever = what,
            _ => return false,
        }
        self.signal_object();
        true
    }

    /// The objects that a point looks at.
    pub fn looked_at(&self, pending: &Pending) -> impl Iterator<Item = u32> {
        let cancellation = (pending.size & CANCELLATION != 0).then_some(pending.object);
        cancellation.into_iter().chain((pending.size & SIGNALS != 0).then_some(pending.other))
    }

    /// Has this thread decided for an end of its wait that has not come?
    pub fn is_in_vain(&self, thread: usize) -> bool {
        let t = &self.threads[thread];
        let waits_in_vain = match (t.status, t.pending.op) {
            (Status::Ready, Op::AwaitCancel) => return true,
            // It has decided for one of several descriptors, and another one is ready.
            (Status::Ready, Op::Poll) if self.polls_in_vain(thread) => return true,
            (Status::Waiting { .. }, Op::SignalResume) if t.signals.decided => return true,
            (Status::Ready, op) => blocks(op),
            (Status::Waiting { .. } | Status::AtBarrier, _) => true,
            _ => false,
        };
        let cancellable = (t.asynchronous || is_cancellation_point(t))
            && self.is_cancellable(thread)
            && self.is_cancelled(thread);
        waits_in_vain && (cancellable || self.has_signal(thread))
    }
}

/// Can this operation block?
pub fn blocks(op: Op) -> bool {
    matches!(
        op,
        Op::Lock
            | Op::ReadLock
            | Op::WriteLock
            | Op::AtomicBegin
            | Op::Once
            | Op::Join
            | Op::Wait
            | Op::SemaphoreWait
            | Op::FutexWait
            | Op::PipeRead
            | Op::PipeWrite
            | Op::Poll
            | Op::Accept
            | Op::SignalWait
    )
}

/// Is what the thread waits for a cancellation point?
fn is_cancellation_point(thread: &crate::exploration::world::Thread) -> bool {
    match thread.status {
        Status::Ready => {
            blocks(thread.pending.op)
                && !matches!(
                    thread.pending.op,
                    Op::Lock | Op::ReadLock | Op::WriteLock | Op::AtomicBegin | Op::Once | Op::FutexWait
                )
        }
        Status::Waiting { .. } => thread.pending.op != Op::FutexResume,
        _ => false,
    }
}

/// What a point lets happen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Handlers of signals run, and the thread may be cancelled.
    Cancellation,
    /// Only handlers run.
    Handlers,
}

/// What follows a point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// An operation that may block: how the wait ends is a choice.
    Blocks,
    /// One that does not, or none.
    GoesOn,
}

impl Next {
    /// An operation that may block, or not.
    pub fn may_block(blocks: bool) -> Next {
        if blocks { Next::Blocks } else { Next::GoesOn }
    }
}

/// A point of the running thread: before an operation that may block (which is the next one), or before one that does not or
/// none at all. Does not return if the thread is cancelled.
pub fn point(kind: Kind, next: Next) -> Passed {
    match decide(kind, next) {
        Decision::Through => Passed::Through,
        Decision::Interrupted { restarts } => Passed::Interrupted { restarts },
        Decision::BeCancelled => {
            crate::interruptions::cancellation::await_request();
            crate::interruptions::cancellation::act()
        }
        Decision::BeSignalled => {
            crate::interruptions::signal_wait::await_handled();
            match crate::interruptions::signal::handle_one() {
                Some(restarts) => Passed::Interrupted { restarts },
                None => Passed::Through,
            }
        }
    }
}

/// The same, but how the wait goes on is left to the caller.
pub fn decide(kind: Kind, next: Next) -> Decision {
    let w = world();
    let me = w.current;
    let cancels = kind == Kind::Cancellation && w.is_cancellable(me);
    let looks = if cancels { CANCELLATION } else { 0 } | if w.is_receiver(me) { SIGNALS } else { 0 };
    pass(looks, next)
}

/// A point at which handlers are waited for anyway: only cancellation interrupts.
pub fn cancellation_point() {
    let w = world();
    let looks = if w.is_cancellable(w.current) { CANCELLATION } else { 0 };
    if pass(looks, Next::Blocks) == Decision::BeCancelled {
        crate::interruptions::cancellation::await_request();
        crate::interruptions::cancellation::act();
    }
}

/// Passes a point that looks at cancellation, signals, or both.
fn pass(looks: u8, next: Next) -> Decision {
    let (cancels, receives) = (looks & CANCELLATION != 0, looks & SIGNALS != 0);
    if looks == 0 {
        return Decision::Through;
    }
    let mut w = world();
    let me = w.current;
    let (cancellation, signals) = (w.cancellation(me), w.signal_object());
    let choices = if next == Next::Blocks { 1 + looks.count_ones() as u16 } else { 1 };
    let pending = Pending { size: looks, choices, other: signals, ..Pending::on(Op::Point, cancellation, 0) };
    let alternative = announce(pending);
    if receives || next == Next::Blocks {
        world().note_changed();
    }
    let w = world();
    if cancels && w.is_cancelled(me) {
        crate::interruptions::cancellation::act();
    }
    if receives
        && w.has_signal(me)
        && let Some(restarts) = crate::interruptions::signal::handle_one()
    {
        return Decision::Interrupted { restarts };
    }
    match alternative {
        0 => {
            world().me().passed = next == Next::Blocks;
            Decision::Through
        }
        1 if cancels => Decision::BeCancelled,
        _ => Decision::BeSignalled,
    }
}

/// A point before a call that is not done again after a handler has run: has one?
pub fn interrupted_always(may_block: bool) -> bool {
    point(Kind::Cancellation, Next::may_block(may_block)) != Passed::Through
}

/// Before a visible operation that is not a cancellation point, or whose point was passed: handlers run, and the operation is
/// done as if nothing had happened.
pub fn before(op: Op) {
    let mut w = world();
    let me = w.me();
    if std::mem::take(&mut me.passed) || matches!(op, Op::Exit) {
        return;
    }
    let kind = if world().me().asynchronous { Kind::Cancellation } else { Kind::Handlers };
    while point(kind, Next::may_block(blocks(op))) != Passed::Through {}
    world().me().passed = false;
}
