//! What a step of a thread touches: the access summaries that partial order reduction works with.
//!
//! [`Accesses::new`] gives, for every location of every function, a [`Step`]: everything that a thread standing there may
//! read, write, send, receive, start or wait for until it comes to rest again. A step is what the machine does at once: a
//! transformation and, where the thread keeps control or arrives at a transient or deterministic location, those after
//! it. What the rest of a thread can still do is the union of the steps of the locations it can still reach, which the
//! caller computes ([`Step::targets`]).
//!
//! Summaries are *symbolic*: the index of an array cell and the channel of an operation are kept as expressions when they
//! are [`fixed`](mod@fixed) (built from constants, the thread's own id and variables that are never assigned), so that the
//! caller can evaluate them once per thread. What is not fixed is any cell, or any channel.
//!
//! Everything errs on the side of more: a summary may contain what never happens, and never lacks what can.
//!
//! - `timeout` is touched by nobody: it is true only in states where nothing can move otherwise, and a reduction that
//!   explores some of the moves only does so where there is one. There it is the constant 0.
//! - `else`, `unless` and the first location of a `d_step` with several ways on *sense* whether other transformations are
//!   executable: there, a channel operation also looks at the channel ([`ChannelTouch::sensed`]).
//! - `provided` is read by every step of its function.
//! - `_last`, priorities and committed locations are visible in every step: [`Accesses::new`] refuses such programs.
//!
//! Of objects a summary says which *parts* may be touched ([`Touch::Object`]), not of which object: the caller finds that out
//! by executing the step. Where it is done under the object's own lock, or to an object that only one local leads to, the
//! summary says so ([`Guard`]). A call is a step to the start of what is called, a return one back; where such a step goes on,
//! because the place it comes to is passed at once, is again for the caller to find out ([`Step::calls`],
//! [`Step::leaves`]). Places where an exception may be caught are among the targets of all places it may come from.

pub mod fixed;
mod gates;
mod objects;
mod protection;
mod step;

use quotient_program::visit::{self, Visitor};
use quotient_program::{Expr, FunctionId, LocationId, Part, Program, VariableId};

use fixed::Fixed;
use step::Named;

use crate::liveness::remotely_read;
pub use gates::{Condition, Way};
pub use protection::Guard;

/// One way down from a variable to a part of it.
#[derive(Clone, Debug)]
pub enum Selector {
    /// A field of a structure.
    Field(u32),
    /// The element with this index, a fixed expression.
    Index(Expr),
    /// Any element.
    Any,
}

/// How a channel is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelUse {
    /// A message is added.
    Send {
        /// Not at the end but in order.
        sorted: bool,
    },
    /// A message is taken, or (`peek`) only looked at.
    Receive {
        /// Any position, not only the first.
        any: bool,
        /// It stays in the channel.
        peek: bool,
    },
    /// A condition that a message more can make true and never false: `nempty(c)`, `c?[...]`.
    NotEmpty {
        /// Any position, not only the first.
        any: bool,
    },
    /// A condition that a message less can make true and never false: `nfull(c)`.
    NotFull,
    /// Any other look at how full it is or what is in it.
    Look,
}

impl ChannelUse {
    /// A send or receive, rather than a condition.
    pub fn is_operation(self) -> bool {
        matches!(self, ChannelUse::Send { .. } | ChannelUse::Receive { .. })
    }
}

/// When, within a step, a channel is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// First, before anything has happened: while the channel does not permit it, the thread rests.
    First,
    /// Later, where an earlier condition of the same step has made sure that the channel permits it.
    Assured,
    /// Later: the step is cut short when the channel does not permit it.
    Later,
}

/// One use of a channel.
#[derive(Clone, Debug)]
pub struct ChannelTouch {
    /// The channel, a fixed expression; `None` when it may be any.
    pub channel: Option<Expr>,
    /// How it is used.
    pub how: ChannelUse,
    /// When it is used.
    pub moment: Moment,
    /// Something else happens when it is not possible (`else`, `unless`, the next way on of a `d_step`).
    pub sensed: bool,
}

/// Something that a step may touch.
#[derive(Clone, Debug)]
pub enum Touch {
    /// Part of a global variable is read or written.
    Global {
        /// The variable.
        variable: VariableId,
        /// Which part.
        path: Vec<Selector>,
        /// Read or written.
        how: visit::Use,
    },
    /// A channel is used.
    Channel(ChannelTouch),
    /// A local variable that other threads can see is read by one of them, or written by its owner.
    Remote {
        /// The function it belongs to.
        function: FunctionId,
        /// The variable.
        variable: VariableId,
        /// Read or written.
        how: visit::Use,
    },
    /// Where a thread of this function stands, as far as labels tell it, is read, or changed.
    Position {
        /// The function.
        function: FunctionId,
        /// Read or written.
        how: visit::Use,
    },
    /// How many threads there are, or whether one exists, is read.
    Threads,
    /// A thread is started.
    Start(FunctionId),
    /// The thread ends, once it is the youngest.
    Exit,
    /// The observer sees a channel operation.
    Observer,
    /// Some object is touched; which one, only the execution knows.
    Object {
        /// What of it.
        part: Part,
        /// Read or written.
        how: visit::Use,
        /// What keeps others away from it meanwhile.
        guard: Guard,
    },
    /// An object is made.
    Allocate,
    /// Whether threads have ended is read, or changed.
    Ended(visit::Use),
    /// Everything: all threads are ended.
    Everything,
}

/// What a thread at one location may do until it rests again.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// Everything it may touch.
    pub touches: Vec<Touch>,
    /// Where its transformations lead, for walking on.
    pub targets: Vec<LocationId>,
    /// Its transformations one by one. Touches that belong to none of them belong to all.
    pub ways: Vec<Way>,
    /// Every way on is a send or receive: while the channels permit none, the thread cannot move.
    pub only_channels: bool,
    /// A step from here may go round a cycle of the control flow. Every cycle of a function has such a location, and so has
    /// every way that an exception takes.
    pub closes_cycle: bool,
    /// No thread ever rests here.
    pub never_rests: bool,
    /// What it may call. The step may go on in there.
    pub calls: Vec<FunctionId>,
    /// It may leave the function. The step may go on in the caller.
    pub leaves: bool,
    /// A call in it is made in exclusive control: the step goes on to the end of it.
    pub calls_in_control: bool,
}

/// The summaries of a program.
#[derive(Clone, Debug)]
pub struct Accesses {
    /// Per function and location.
    pub steps: Vec<Vec<Step>>,
    /// Locals of each function that fixed expressions use.
    pub keys: Vec<Vec<VariableId>>,
    /// Globals that fixed expressions use. Nobody writes them; but in a representative, cells may have changed places.
    pub globals: Vec<VariableId>,
}

impl Accesses {
    /// What evaluating an expression of nobody in particular touches.
    pub fn of_expression(program: &Program, e: &Expr) -> Vec<Touch> {
        step::expression(program, &Fixed::new(program), e)
    }

    /// Summarises a program, or says why that is not possible.
    pub fn new(program: &Program) -> Result<Accesses, &'static str> {
        if reads_foreign_links(program) {
            return Err("a process reads another one's references, so that nothing is known to be its own");
        }
        if program.features.last {
            return Err("the model uses _last, which every step changes");
        }
        if program.features.priorities {
            return Err(
                "the model uses priorities, by which a step can depend on what any other process can do",
            );
        }
        if program.commits() {
            return Err(
                "the model has committed states, by which a step can depend on where any other process stands",
            );
        }
        if program.observer.as_ref().is_some_and(|o| reads_variables(&o.function)) {
            return Err("the trace assertion reads variables");
        }
        let fixed = Fixed::new(program);
        let (remote, labels) = (remotely_read(program), Named::new(program));
        let mut left = step::MOST_TOUCHES;
        let steps: Option<Vec<Vec<Step>>> = (0..program.functions.len())
            .map(|f| step::steps(program, &fixed, FunctionId(f as u32), &remote, &labels, &mut left))
            .collect();
        let Some(steps) = steps else {
            return Err("the model's atomic sequences are too long to say what each of their steps touches");
        };
        let (mut keys, mut globals) = (Vec::new(), Vec::new());
        for steps in &steps {
            keys.push(variables(steps.iter().flat_map(|s| &s.touches), &mut globals));
        }
        Ok(Accesses { steps, keys, globals })
    }

    /// Adds to the globals what the fixed expressions of these touches use.
    pub fn add_globals(&mut self, touches: &[Touch]) {
        variables(touches.iter(), &mut self.globals);
    }
}

/// Does some thread read a reference out of another thread's variables?
fn reads_foreign_links(program: &Program) -> bool {
    use quotient_program::{Place, Root};
    struct Foreign<'a>(&'a Program, bool);
    impl Visitor for Foreign<'_> {
        fn place(&mut self, place: &Place, _: visit::Use) {
            if let Root::Remote { function, variable, .. } = place.root {
                let ty = &self.0.function(function).locals[variable.0 as usize].ty;
                self.1 |= self.0.holds_references(ty);
            }
        }
    }
    let mut foreign = Foreign(program, false);
    for t in program.functions.iter().flat_map(|f| &f.locations).flat_map(|l| &l.transformations) {
        visit::transformation(t, &mut foreign);
    }
    let provided = program.functions.iter().filter_map(|f| f.provided.as_ref());
    provided.for_each(|e| visit::expr(e, &mut foreign));
    foreign.1
}

/// Does a function look at any variable except to name a channel?
fn reads_variables(function: &quotient_program::Function) -> bool {
    use quotient_program::{Operation, Pattern};
    struct Loads(bool);
    impl Visitor for Loads {
        fn place(&mut self, _: &quotient_program::Place, _: visit::Use) {
            self.0 = true;
        }
    }
    let mut loads = Loads(false);
    for t in function.locations.iter().flat_map(|l| &l.transformations) {
        match &t.operation {
            // The channel itself is looked up by name: channel variables that are assigned do not occur here.
            Operation::Event { patterns, .. } => {
                for pattern in patterns {
                    if let Pattern::Match(e) = pattern {
                        visit::expr(e, &mut loads);
                    }
                }
            }
            other => visit::operation(other, &mut loads),
        }
        t.actions.iter().for_each(|a| visit::action(a, &mut loads));
    }
    loads.0
}

/// The locals that the fixed expressions of touches use; adds the globals.
fn variables<'a>(touches: impl Iterator<Item = &'a Touch>, globals: &mut Vec<VariableId>) -> Vec<VariableId> {
    struct Used<'a> {
        locals: Vec<VariableId>,
        globals: &'a mut Vec<VariableId>,
    }
    impl Visitor for Used<'_> {
        fn place(&mut self, place: &quotient_program::Place, _: visit::Use) {
            let (list, variable) = match place.root {
                quotient_program::Root::Local(v) => (&mut self.locals, v),
                quotient_program::Root::Global(v) => (&mut *self.globals, v),
                // Not in fixed expressions.
                _ => return,
            };
            if !list.contains(&variable) {
                list.push(variable);
            }
        }
    }
    let mut used = Used { locals: Vec::new(), globals };
    for touch in touches {
        match touch {
            Touch::Global { path, .. } => {
                for selector in path {
                    if let Selector::Index(e) = selector {
                        visit::expr(e, &mut used);
                    }
                }
            }
            Touch::Channel(ChannelTouch { channel: Some(e), .. }) => visit::expr(e, &mut used),
            _ => {}
        }
    }
    used.locals
}
