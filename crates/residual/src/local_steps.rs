//! Purely local steps merge with the step before.
//!
//! A location is made *transient* (a process that arrives goes on at once, in the same step) when
//!
//! 1. every transformation there reads and writes only the process's own variables, none of which another process can
//!    see (and globals that nobody reads), and uses no channel, no clock (`timeout`), no other process: such a step commutes with every step of every
//!    other process, and neither enables nor disables one;
//! 2. one of them can always be taken, so that arriving there is never the end of a path (no deadlock is hidden), and none
//!    can be interrupted by an `unless` whose condition is not itself local;
//! 3. nothing refers to the location or to one that a transformation leads to (arriving at a label that is asked for
//!    from outside is not a local matter), and it has no end, progress or accept label; where a claim asks for progress (`np_`), none
//!    leads to a progress label either: a run that stays before it for ever makes none;
//! 4. on every cycle of the process some location is not transient, so that a step ends;
//! 5. where somebody can do something *because* no partner is ready for a rendezvous (`else` and the main part of an `unless` beside a
//!    channel operation, and losing control inside `atomic`), none of its transformations leads to a location with a channel
//!    operation: there the process becomes ready, so that the step does disable something.
//! 6. where all violations are asked for, no transformation may fail: a fault ends the path, and what others could have done before it is left out.
//!
//! Then exploring that process alone from such a state is a persistent set of invisible steps, and by 4 no process is
//! postponed for ever: deadlocks, assertion failures and faults are preserved (Godefroid, "Partial-Order Methods",
//! 1996; the static form is SPIN's statement merging, which merges less: only chains of unconditional steps). Assertions
//! and faults in a merged step are still reported, since it is still executed.
//!
//! Formulas without `X` are preserved too: a merged step changes nothing that a claim reads (its variables and labels count
//! as referred to), so that runs differ only in how often a letter is repeated, and by 4 every infinite run stays infinite.
//! So are claims written by hand that are closed under stuttering ([`crate::stutter`]). A claim that can tell the difference
//! (`X`, any other written by hand, or asking `enabled`, `pc_value` or `timeout`) switches merging off.
//!
//! Programs that look at the last process (`_last`), use priorities or have committed locations are left alone: there, which
//! process moves is visible.
//! So is a process with a `provided` clause.

use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{
    Action, Expr, Function, Location, Operation, Place, Program, Root, Transformation, VariableId,
};

use crate::control::{going_back, kept_behind};
use crate::liveness::remotely_read;

/// Marks transient locations; gives how many. With `all`, violations are not to hide each other.
pub fn merge(program: &mut Program, all: bool) -> usize {
    if program.features.last || program.features.priorities || program.commits() || claim_sees_steps(program)
    {
        return 0;
    }
    let remote = remotely_read(program);
    let partners = partners_are_missed(program);
    let scratch: Vec<bool> = program.globals.iter().map(|g| g.scratch).collect();
    let named = named_locations(program);
    let asks_for_progress = claim_asks(program, |e| matches!(e, Expr::NonProgress));
    let mut merged = 0;
    for (index, remote) in remote.iter().enumerate() {
        let function = &program.functions[index];
        if function.provided.is_some() {
            continue;
        }
        let named = &named[index];
        let is_seen = |target: quotient_program::LocationId| {
            named[target.0 as usize] || asks_for_progress && function.locations[target.0 as usize].progress
        };
        let mut transient: Vec<bool> = (0..function.locations.len())
            .map(|l| {
                l != function.entry.0 as usize
                    && !named[l]
                    && function.locations[l].transformations.iter().all(|t| !t.target.is_some_and(is_seen))
                    && is_local(function, l, remote, &scratch)
                    && !(all
                        && function.locations[l]
                            .transformations
                            .iter()
                            .any(|t| t.may_fault(program, &function.locals)))
                    && !(partners
                        && function.locations[l].transformations.iter().any(|t| {
                            t.target.is_some_and(|to| uses_channels(&function.locations[to.0 as usize]))
                        }))
            })
            .collect();
        break_cycles(function, &mut transient);
        for (location, transient) in program.functions[index].locations.iter_mut().zip(transient) {
            location.transient = transient;
            merged += usize::from(transient);
        }
    }
    merged
}

/// Does a location have a channel operation?
fn uses_channels(location: &Location) -> bool {
    let channel =
        |o: &Operation| matches!(o, Operation::Send { .. } | Operation::Receive { .. } | Operation::Enter);
    location.transformations.iter().any(|t| channel(&t.operation))
}

/// Condition 5: can somebody do something because no partner is ready for a rendezvous?
fn partners_are_missed(program: &Program) -> bool {
    program.channel_types.iter().any(|c| c.capacity == 0)
        && program.functions.iter().any(|function| {
            // Where a process is without having lost control.
            let mut held = vec![false; function.locations.len()];
            for (location, kept) in function.locations.iter().zip(kept_behind(function)) {
                for t in location.transformations.iter().filter(|t| t.keeps_control || kept) {
                    t.target.iter().for_each(|to| held[to.0 as usize] = true);
                }
            }
            function.locations.iter().zip(held).any(|(location, held)| {
                let ts = &location.transformations;
                let other_ways = ts.iter().any(|t| matches!(t.operation, Operation::Else))
                    || ts.windows(2).any(|w| w[0].rank != w[1].rank);
                uses_channels(location) && (other_ways || held)
            })
        })
}

/// Locations of each function that some expression refers to.
fn named_locations(program: &Program) -> Vec<Vec<bool>> {
    struct Labels<'a>(&'a Program, Vec<Vec<bool>>);
    impl Visitor for Labels<'_> {
        fn expr(&mut self, e: &Expr) {
            if let Expr::At { label, .. } = e {
                let label = self.0.labels[label.0 as usize];
                self.1[label.function.0 as usize][label.location.0 as usize] = true;
            }
        }
    }
    let named = program.functions.iter().map(|f| vec![false; f.locations.len()]).collect();
    let mut labels = Labels(program, named);
    for reader in program.readers() {
        reader.provided.iter().for_each(|e| visit::expr(e, &mut labels));
        reader
            .locations
            .iter()
            .flat_map(|l| &l.transformations)
            .for_each(|t| visit::transformation(t, &mut labels));
    }
    labels.1
}

/// A claim that can count steps, or that asks where a thread stands or whether it can move: merged steps would show.
fn claim_sees_steps(program: &Program) -> bool {
    program.claim.as_ref().is_some_and(|claim| !claim.stutter_invariant)
        || claim_asks(program, |e| matches!(e, Expr::Enabled(_) | Expr::LocationOf(_) | Expr::Timeout))
}

/// Does the claim have such an expression?
fn claim_asks(program: &Program, what: fn(&Expr) -> bool) -> bool {
    struct Asks(fn(&Expr) -> bool, bool);
    impl Visitor for Asks {
        fn expr(&mut self, e: &Expr) {
            self.1 |= self.0(e);
        }
    }
    let mut asks = Asks(what, false);
    let claims = program.claim.iter().flat_map(|claim| &claim.function.locations);
    claims.flat_map(|l| &l.transformations).for_each(|t| visit::transformation(t, &mut asks));
    asks.1
}

/// Conditions 1 to 3.
fn is_local(function: &Function, location: usize, remote: &[bool], scratch: &[bool]) -> bool {
    let location = &function.locations[location];
    if location.end || location.progress || location.accept || location.deterministic {
        return false;
    }
    // An exclusive step (`keeps_control`) goes on anyway; leave it to the machine.
    let ts = &location.transformations;
    !ts.is_empty()
        && ts.iter().all(|t| is_local_step(t, remote, scratch) && !t.keeps_control)
        && ts.windows(2).all(|w| w[0].rank == w[1].rank)
        && ts.iter().any(|t| always_possible(t, ts))
}

/// Can this one be taken whenever no other one of the location can?
fn always_possible(t: &Transformation, all: &[Transformation]) -> bool {
    match &t.operation {
        Operation::Always | Operation::Else => true,
        Operation::When(e) if e.constant().is_some_and(|c| c != 0) => true,
        // `:: c :: !c` and `:: i < n :: i >= n` and the like.
        Operation::When(e) => all.iter().any(|other| match &other.operation {
            Operation::When(f) => complementary(e, f),
            _ => false,
        }),
        _ => false,
    }
}

/// Does one of two conditions always hold? Decided on their text only.
fn complementary(a: &Expr, b: &Expr) -> bool {
    use quotient_program::BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let (a, b) = (strip(a), strip(b));
    match (a, b) {
        (Expr::Unary(quotient_program::UnaryOp::Not, inner), other)
        | (other, Expr::Unary(quotient_program::UnaryOp::Not, inner)) => same(inner, other),
        (Expr::Binary(op_a, a1, a2), Expr::Binary(op_b, b1, b2)) => {
            let covers = matches!(
                (op_a, op_b),
                (Eq, Ne) | (Ne, Eq) | (Lt, Ge) | (Ge, Lt) | (Gt, Le) | (Le, Gt) | (Le, Ge) | (Ge, Le)
            );
            covers && same(a1, b1) && same(a2, b2)
        }
        _ => false,
    }
}

fn strip(e: &Expr) -> &Expr {
    match e {
        Expr::Spanned(inner, _) => strip(inner),
        other => other,
    }
}

/// Equal expressions over plain locals and constants.
fn same(a: &Expr, b: &Expr) -> bool {
    match (strip(a), strip(b)) {
        (Expr::Const(a), Expr::Const(b)) => a == b,
        (Expr::SelfId, Expr::SelfId) => true,
        (Expr::Load(a), Expr::Load(b)) => match (&a.root, &b.root) {
            (Root::Local(a_id), Root::Local(b_id)) => a_id == b_id && a.path.is_empty() && b.path.is_empty(),
            _ => false,
        },
        (Expr::Binary(op_a, a1, a2), Expr::Binary(op_b, b1, b2)) => {
            op_a == op_b && same(a1, b1) && same(a2, b2)
        }
        _ => false,
    }
}

/// Condition 1.
fn is_local_step(t: &Transformation, remote: &[bool], scratch: &[bool]) -> bool {
    struct Local<'a> {
        remote: &'a [bool],
        scratch: &'a [bool],
        local: bool,
    }
    impl Visitor for Local<'_> {
        fn expr(&mut self, e: &Expr) {
            let own = match e {
                Expr::Const(_)
                | Expr::Load(_)
                | Expr::Unary(..)
                | Expr::Binary(..)
                | Expr::Conditional(..)
                | Expr::SelfId
                | Expr::SelfThread
                | Expr::Function(_)
                | Expr::Spanned(..) => true,
                Expr::ThreadCount
                | Expr::Last
                | Expr::Timeout
                | Expr::Length(_)
                | Expr::Full(_)
                | Expr::Empty(_)
                | Expr::Poll { .. }
                | Expr::At { .. }
                | Expr::Priority(_)
                | Expr::Terminated(_)
                | Expr::InstanceOf { .. }
                | Expr::Cast { .. }
                | Expr::ArrayLength(_)
                | Expr::Lock(..)
                | Expr::Query { .. }
                | Expr::Reachable(..)
                | Expr::Enabled(_)
                | Expr::LocationOf(_)
                | Expr::NonProgress
                | Expr::Count { .. }
                | Expr::Bound(_)
                | Expr::Oldest(_) => false,
            };
            self.local &= own;
        }

        fn place(&mut self, place: &Place, _: Use) {
            self.local &= match &place.root {
                Root::Local(VariableId(v)) => !self.remote[*v as usize],
                // Nobody reads it, so writing it is nobody else's business.
                Root::Global(VariableId(v)) => self.scratch[*v as usize],
                Root::Remote { .. } | Root::Object { .. } => false,
            };
        }
    }
    if !matches!(t.operation, Operation::Always | Operation::Else | Operation::When(_)) || t.target.is_none()
    {
        return false;
    }
    let acts = t.actions.iter().all(|a| match a {
        Action::Assign(..) | Action::Assert(..) | Action::Print(_) | Action::Forget(_) => true,
        Action::Start { .. }
        | Action::SetPriority(..)
        | Action::New { .. }
        | Action::Delete(_)
        | Action::Lock(..)
        | Action::Update { .. }
        | Action::Choose { .. }
        | Action::Call { .. }
        | Action::Return(_)
        | Action::Throw(_)
        | Action::Assume(_)
        | Action::EndThread
        | Action::Halt => false,
    });
    let mut visitor = Local { remote, scratch, local: acts };
    visit::transformation(t, &mut visitor);
    visitor.local
}

/// Condition 4: a depth-first walk over transient locations; where it closes a cycle, that location is not transient.
fn break_cycles(function: &Function, transient: &mut [bool]) {
    let inside = |transient: &&mut [bool], location: usize| transient[location];
    going_back(function, 0..transient.len(), &mut &mut *transient, inside, |transient, _, to| {
        transient[to] = false
    });
}
