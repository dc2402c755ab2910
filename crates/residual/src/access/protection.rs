//! Which references of a thread lead to objects that nobody else touches meanwhile: what lets independence look past the part.
//!
//! Per location, what is known of the locals that hold references, whatever way led there (a forward analysis, one function at a
//! time; nothing is known at the start of a function, after a call, and where an exception is caught):
//!
//! - *Held*: the running thread holds the lock of the object. Every `lock(x)` and `unwait(x)` adds one to how often the object
//!   is locked and makes `x` held. `y := x` makes `y` held by the same taking. `unlock(x)` takes one away: `x` and all that may be
//!   held by the same taking are held no longer; what is held by another taking still is, also if it is the same object,
//!   because locks count. An `unlock` of something not known to be held may end any of them, and so may `wait`.
//! - *Fresh*: the local has the only reference to an object that this thread made. Reading it for anything but to follow it ends
//!   that.
//!
//! What is done to an object under its own lock ([`Guard::OwnLock`]) is not done while another thread holds that lock. What is
//! done to a fresh object ([`Guard::Fresh`]) is done to none that another thread can reach.

use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{Action, Expr, Function, LockOperation, Operation, Pattern, Place, Root};

/// How a touch of an object is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Not at all, as far as is known.
    None,
    /// The thread holds the object's own lock.
    OwnLock,
    /// No other thread has a reference to the object.
    Fresh,
}

/// Locals that are looked at; what the others hold is not known.
const MOST: usize = 64;

/// What is known at a point: a set is a word with a bit per local.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    held: u64,
    fresh: u64,
    /// Per local, those that may be held by the same taking.
    same: Vec<u64>,
}

impl Known {
    /// Nothing is known.
    pub(super) fn nothing() -> Known {
        Known { held: 0, fresh: 0, same: vec![0; MOST] }
    }

    /// How a place inside the object of a reference is protected.
    pub(super) fn guard(&self, reference: &Expr) -> Guard {
        match local(reference) {
            Some(v) if self.fresh >> v & 1 == 1 => Guard::Fresh,
            Some(v) if self.held >> v & 1 == 1 => Guard::OwnLock,
            _ => Guard::None,
        }
    }

    /// What is known on both of two ways.
    fn meet(&mut self, other: &Known) -> bool {
        let before = self.clone();
        self.held &= other.held;
        self.fresh &= other.fresh;
        for (same, more) in self.same.iter_mut().zip(&other.same) {
            *same |= more;
        }
        *self != before
    }

    /// A local gets another value.
    fn forget(&mut self, v: usize) {
        self.held &= !(1 << v);
        self.fresh &= !(1 << v);
        self.same[v] = 0;
        self.same.iter_mut().for_each(|s| *s &= !(1 << v));
    }

    /// After the operation of a transformation.
    pub(super) fn operation(&mut self, operation: &Operation) {
        let mut reads = Reads::default();
        visit::operation(operation, &mut reads);
        self.fresh &= !reads.escaping();
        if let Operation::Receive { patterns, .. } = operation {
            for pattern in patterns {
                if let Pattern::Bind(Place { root: Root::Local(v), .. }) = pattern
                    && (v.0 as usize) < MOST
                {
                    self.forget(v.0 as usize);
                }
            }
        }
    }

    /// After an action.
    pub(super) fn action(&mut self, action: &Action) {
        let mut reads = Reads::default();
        visit::action(action, &mut reads);
        self.fresh &= !reads.escaping();
        // Copies are made before the variable loses what it had.
        let copied = match action {
            Action::Assign(place, e) if place.path.is_empty() => {
                local(e).filter(|from| self.held >> from & 1 == 1).zip(whole(place))
            }
            _ => None,
        };
        let taking = copied.map(|(from, _)| self.same[from] | 1 << from);
        for v in (0..MOST).filter(|v| reads.written >> v & 1 == 1) {
            self.forget(v);
        }
        match action {
            Action::Forget(v) if (v.0 as usize) < MOST => self.forget(v.0 as usize),
            Action::New { result, .. } => self.fresh |= whole(result).map_or(0, |v| 1 << v),
            Action::Call { .. } => self.held = 0,
            Action::Lock(operation, lock) => self.lock(*operation, local(lock)),
            _ => {}
        }
        if let (Some((from, to)), Some(taking)) = (copied, taking)
            && from != to
        {
            self.held |= 1 << to;
            let taking = taking & !(1 << to);
            self.same[to] = taking;
            for v in (0..MOST).filter(|v| taking >> v & 1 == 1) {
                self.same[v] |= 1 << to;
            }
        }
    }

    fn lock(&mut self, operation: LockOperation, lock: Option<usize>) {
        match (operation, lock) {
            (LockOperation::Lock | LockOperation::Unwait, Some(v)) => {
                self.held |= 1 << v;
                // A taking of its own.
                self.same[v] = 0;
                self.same.iter_mut().for_each(|s| *s &= !(1 << v));
            }
            (LockOperation::Unlock, Some(v)) if self.held >> v & 1 == 1 => {
                self.held &= !(self.same[v] | 1 << v);
            }
            (LockOperation::Unlock | LockOperation::Wait, _) => self.held = 0,
            (
                LockOperation::Lock
                | LockOperation::Unwait
                | LockOperation::Notify
                | LockOperation::NotifyAll,
                _,
            ) => {}
        }
    }
}

/// The local that an expression is, if it is one.
fn local(e: &Expr) -> Option<usize> {
    match e {
        Expr::Spanned(inner, _) => local(inner),
        Expr::Load(place) => whole(place),
        _ => None,
    }
}

/// The local that a place is the whole of.
fn whole(place: &Place) -> Option<usize> {
    match place.root {
        Root::Local(v) if place.path.is_empty() && (v.0 as usize) < MOST => Some(v.0 as usize),
        _ => None,
    }
}

/// How often each local is read, how often of these in order to follow it, and which ones are written.
struct Reads {
    all: [u32; MOST],
    followed: [u32; MOST],
    written: u64,
}

impl Default for Reads {
    fn default() -> Reads {
        Reads { all: [0; MOST], followed: [0; MOST], written: 0 }
    }
}

impl Reads {
    fn escaping(&self) -> u64 {
        (0..MOST).filter(|v| self.all[*v] > self.followed[*v]).fold(0, |set, v| set | 1 << v)
    }
}

impl Visitor for Reads {
    fn place(&mut self, place: &Place, how: Use) {
        match &place.root {
            Root::Local(v) if (v.0 as usize) < MOST => match how {
                Use::Read => self.all[v.0 as usize] += 1,
                Use::Write => self.written |= 1 << v.0,
            },
            Root::Object { reference, .. } => {
                if let Some(v) = local(reference) {
                    self.followed[v] += 1;
                }
            }
            _ => {}
        }
    }
}

/// What is known at each location of a function, before its transformations.
pub(super) fn known(function: &Function) -> Vec<Known> {
    let mut at: Vec<Option<Known>> = vec![None; function.locations.len()];
    let mut waiting = vec![function.entry.0 as usize];
    waiting.extend(function.catches.iter().map(|c| c.target.0 as usize));
    for start in &waiting {
        at[*start] = Some(Known::nothing());
    }
    while let Some(location) = waiting.pop() {
        let Some(here) = at[location].clone() else { continue };
        for t in &function.locations[location].transformations {
            let Some(target) = t.target.map(|l| l.0 as usize) else { continue };
            let mut after = here.clone();
            after.operation(&t.operation);
            t.actions.iter().for_each(|a| after.action(a));
            let changed = match &mut at[target] {
                Some(known) => known.meet(&after),
                unknown => {
                    *unknown = Some(after);
                    true
                }
            };
            if changed {
                waiting.push(target);
            }
        }
    }
    at.into_iter().map(|known| known.unwrap_or_else(Known::nothing)).collect()
}
