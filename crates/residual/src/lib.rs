//! What the rest of a program can still do: liveness of local variables and steps that nobody else can notice.
//!
//! [`reduce`] changes a program so that it has fewer states and the same verdicts: a local variable whose value cannot be
//! read any more has none ([`mod@liveness`]), nor has a global that is never read ([`mod@unread`]), and steps that touch only the process's own variables happen together
//! with the step before ([`mod@local_steps`]), and processes that have ended stay where nobody notices ([`mod@ended`]) or, with objects, cease to exist in any order ([`mod@any_order`]). Both only apply where their side conditions hold; the result says what was
//! done.

pub mod access;
pub mod any_order;
mod control;
pub mod ended;
pub mod liveness;
pub mod local_steps;
pub mod stutter;
pub mod unread;

use quotient_program::Program;

/// What [`reduce`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reduced {
    /// Globals that are never read.
    pub unread: usize,
    /// Locals that lose their value somewhere, counted once per place.
    pub forgotten: usize,
    /// Locations that are passed in the step that reaches them.
    pub merged: usize,
    /// Ends of processes that nobody notices.
    pub ended: usize,
}

/// Reduces a program where that preserves deadlocks, assertions and faults: whether there are any, and each of them if `all` are asked for.
pub fn reduce(program: &mut Program, all: bool) -> Reduced {
    let unread = unread::forget_unread(program);
    // A claim may count processes, steps or stuttering at the end.
    let ended = if program.claim.is_some() {
        0
    } else {
        any_order::end_in_any_order(program) + ended::keep_ended(program)
    };
    Reduced {
        unread,
        ended,
        forgotten: liveness::forget_dead(program),
        merged: local_steps::merge(program, all),
    }
}
