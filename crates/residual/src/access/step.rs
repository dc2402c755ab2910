//! The step of a location: its transformations and what follows them at once.

use std::collections::HashSet;

use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{
    Action, BinaryOp, Expr, Function, FunctionId, Init, LocationId, Operation, Part, Pattern, Place, Program,
    Projection, Root, Transformation, UnaryOp,
};

use super::fixed::{Fixed, same};
use super::gates::{self, Condition, Way};
use super::protection::{self, Known};
use super::{ChannelTouch, ChannelUse, Moment, Selector, Step, Touch};
use crate::control::{going_back, kept_behind};
use crate::liveness::remotely_read;

/// Touches of all steps of a program together after which it is not summarised any more. (A step from each statement of a long
/// `atomic` that may block reaches to its end.)
pub(super) const MOST_TOUCHES: usize = 8_000_000;

/// The steps of a function's locations, for as many touches as `left` says; `None` when there are more.
pub(super) fn steps(
    program: &Program,
    fixed: &Fixed,
    function: FunctionId,
    remote: &[Vec<bool>],
    labels: &Named,
    left: &mut usize,
) -> Option<Vec<Step>> {
    let f = program.function(function);
    let (back, kept) = (back_edges(f), kept_behind(f));
    let knows = if program.features.dynamic { protection::known(f) } else { Vec::new() };
    let passed = passed(program, f, &kept);
    let mut steps = Vec::with_capacity(f.locations.len());
    for (l, passed) in passed.into_iter().enumerate() {
        let mut collector = Collector {
            program,
            fixed,
            function,
            remote,
            labels,
            back: &back,
            kept: &kept,
            knows: &knows,
            passed,
            foreign: false,
            known: Known::nothing(),
            step: Step::default(),
            left: *left,
        };
        collector.location(l);
        *left = left.checked_sub(collector.step.touches.len())?;
        steps.push(collector.step);
    }
    Some(steps)
}

/// Locations where no thread ever rests, so that no step begins there: what follows them belongs to the steps that lead to
/// them, and needs not be followed again from here. (From each location of an `atomic` of n statements that would be n² in all.)
///
/// A thread is there only while it takes a step, if the location is transient or inside a `d_step`; or if every
/// transformation that leads there keeps control and one of those that lead on is always possible. Not so where a thread
/// starts, where another thread's rendezvous may have put it, or where a `provided` clause may stop it; and not
/// in programs with calls, where steps go on in callers.
fn passed(program: &Program, function: &Function, kept: &[bool]) -> Vec<bool> {
    let count = function.locations.len();
    if program.features.dynamic || function.provided.is_some() {
        return vec![false; count];
    }
    let mut never_left = vec![true; count];
    let mut met = vec![false; count];
    for (from, location) in function.locations.iter().enumerate() {
        for t in &location.transformations {
            let Some(target) = t.target else { continue };
            never_left[target.0 as usize] &= t.keeps_control || kept[from];
            met[target.0 as usize] |=
                matches!(t.operation, Operation::Send { .. } | Operation::Receive { .. });
        }
    }
    let goes_on =
        |t: &Transformation| matches!(t.operation, Operation::Always | Operation::Else) && t.target.is_some();
    let locations = function.locations.iter().enumerate();
    locations
        .map(|(l, here)| {
            let at_once = here.transient
                || here.deterministic
                || never_left[l] && here.transformations.iter().any(goes_on);
            at_once && !met[l] && l != function.entry.0 as usize
        })
        .collect()
}

/// Which locations have labels that expressions refer to, per function.
pub(super) struct Named(HashSet<(FunctionId, LocationId)>);

impl Named {
    pub(super) fn new(program: &Program) -> Named {
        Named(program.labels.iter().map(|n| (n.function, n.location)).collect())
    }
}

/// What an expression outside of all functions touches.
pub(super) fn expression(program: &Program, fixed: &Fixed, e: &Expr) -> Vec<Touch> {
    let mut collector = Collector {
        program,
        fixed,
        function: FunctionId(u32::MAX),
        remote: &remotely_read(program),
        labels: &Named::new(program),
        back: &[],
        kept: &[],
        knows: &[],
        passed: false,
        known: Known::nothing(),
        foreign: true,
        step: Step::default(),
        left: MOST_TOUCHES,
    };
    collector.reads(e);
    collector.step.touches
}

/// Locations with a transformation that goes back in a depth-first walk: every cycle has one.
fn back_edges(function: &Function) -> Vec<bool> {
    let n = function.locations.len();
    let (mut back, starts) = (vec![false; n], std::iter::once(function.entry.0 as usize).chain(0..n));
    going_back(function, starts, &mut back, |_, _| true, |back, from, _| back[from] = true);
    back
}

/// A condition, and whether it must hold or must not.
#[derive(Clone, Copy)]
struct Wanted<'e> {
    condition: &'e Expr,
    holds: bool,
}

/// Channels of which a condition of the step has said that a receive, or a send, is possible.
type Assured = Vec<(Expr, ChannelUse)>;

pub(super) struct Collector<'a> {
    pub(super) program: &'a Program,
    fixed: &'a Fixed,
    pub(super) function: FunctionId,
    pub(super) remote: &'a [Vec<bool>],
    labels: &'a Named,
    back: &'a [bool],
    /// Where the end of a `d_step` keeps control.
    kept: &'a [bool],
    /// What is known of references at each location, where there are objects.
    knows: &'a [Known],
    /// No thread rests at the location that the step begins at: see [`passed`].
    passed: bool,
    /// How many touches there may be.
    left: usize,
    /// The same at the point being looked at.
    pub(super) known: Known,
    /// The code at hand is not the function's own: none of its expressions is fixed here.
    foreign: bool,
    pub(super) step: Step,
}

impl Collector<'_> {
    fn location(&mut self, location: usize) {
        let function = self.program.function(self.function);
        let here = &function.locations[location];
        self.step.never_rests = here.deterministic;
        self.step.targets = here.transformations.iter().filter_map(|t| t.target).collect();
        if let Some(provided) = &function.provided {
            self.reads(provided);
        }
        self.step.only_channels = !here.transformations.is_empty()
            && here
                .transformations
                .iter()
                .all(|t| matches!(t.operation, Operation::Send { .. } | Operation::Receive { .. }));
        self.first(location, false);
        self.catches(location);
    }

    /// The transformations of a location where the step begins.
    fn first(&mut self, location: usize, sensed: bool) {
        self.step.closes_cycle |= self.back[location];
        let function = self.program.function(self.function);
        let ts = &function.locations[location].transformations;
        let sensed = sensed
            || ts.iter().any(|t| matches!(t.operation, Operation::Else))
            || ts.windows(2).any(|w| w[0].rank != w[1].rank)
            || function.locations[location].deterministic && ts.len() > 1;
        for t in ts {
            let (from, way) = (self.step.touches.len(), self.step.ways.len());
            self.arrive(location);
            self.moves(location, t);
            let conditions = if sensed { Vec::new() } else { self.conditions(t) };
            if let (Operation::Enter, Some(target)) = (&t.operation, t.target) {
                // Executable when what it leads to is.
                self.actions(t);
                self.first(target.0 as usize, sensed);
                self.step.ways.truncate(way);
                let touches = from..self.step.touches.len();
                self.step.ways.push(Way { touches, target: t.target, conditions });
                continue;
            }
            let mut assured = Assured::new();
            match &t.operation {
                Operation::When(e) => {
                    self.guard(Wanted { condition: e, holds: true }, sensed);
                    self.conjuncts(e, &mut assured);
                }
                operation => self.operation(operation, Moment::First, sensed),
            }
            self.actions(t);
            if !self.passed {
                self.after(location, t, assured);
            }
            let touches = from..self.step.touches.len();
            self.step.ways.push(Way { touches, target: t.target, conditions });
        }
    }

    /// The conditions of a way on.
    fn conditions(&self, t: &Transformation) -> Vec<Condition> {
        let function = self.program.function(self.function);
        gates::conditions(self.fixed, self.function, function, &t.operation, t.target)
    }

    /// Everything that follows a transformation of a location in the same step.
    fn after(&mut self, from: usize, t: &Transformation, assured: Assured) {
        // What is still assured only shrinks along the way: one bit each.
        let all: u64 = if assured.len() >= 64 { 0 } else { (1 << assured.len()) - 1 };
        let mut seen: HashSet<(LocationId, u64)> = HashSet::new();
        let mut waiting: Vec<(LocationId, u64)> = Vec::new();
        let function = self.program.function(self.function);
        let kept = self.kept;
        let goes_on = |from: usize, t: &Transformation| {
            t.target.filter(|l| {
                let target = &function.locations[l.0 as usize];
                let kept = kept.get(from).copied().unwrap_or(false);
                t.keeps_control || kept || target.transient || target.deterministic
            })
        };
        waiting.extend(goes_on(from, t).map(|l| (l, all)));
        while let Some((location, left)) = waiting.pop() {
            if !seen.insert((location, left)) {
                continue;
            }
            if self.step.touches.len() > self.left {
                // There are too many already.
                return;
            }
            self.step.closes_cycle |= self.back[location.0 as usize];
            let here = &function.locations[location.0 as usize];
            for t in &here.transformations {
                self.arrive(location.0 as usize);
                self.moves(location.0 as usize, t);
                let mut left = left;
                let (used, clears) = match &t.operation {
                    Operation::Receive { channel, peek, .. } => {
                        (Some((channel, ChannelUse::NotEmpty { any: false })), !peek)
                    }
                    Operation::Send { channel, .. } => (Some((channel, ChannelUse::NotFull)), true),
                    _ => (None, false),
                };
                let mut moment = Moment::Later;
                if let Some((channel, wanted)) = used {
                    for (bit, (assured_channel, what)) in assured.iter().enumerate() {
                        if left >> bit & 1 == 1 && *what == wanted {
                            if same(channel, assured_channel) {
                                moment = Moment::Assured;
                            }
                            // Another expression may name the same channel.
                            if clears {
                                left &= !(1 << bit);
                            }
                        }
                    }
                }
                self.operation(&t.operation, moment, false);
                self.actions(t);
                waiting.extend(goes_on(location.0 as usize, t).map(|l| (l, left)));
            }
        }
    }

    /// Looks at the transformations of a location.
    fn arrive(&mut self, location: usize) {
        if let Some(known) = self.knows.get(location) {
            self.known.clone_from(known);
        }
    }

    /// A move from one place to another that labels can tell apart.
    fn moves(&mut self, from: usize, t: &Transformation) {
        let named = |l: LocationId| self.labels.0.contains(&(self.function, l));
        if !self.labels.0.is_empty() && (named(LocationId(from as u32)) || t.target.is_some_and(named)) {
            self.step.touches.push(Touch::Position { function: self.function, how: Use::Write });
        }
    }

    fn is_fixed(&self, e: &Expr) -> bool {
        !self.foreign && self.fixed.is_fixed(self.function, e)
    }

    fn channel(&self, channel: &Expr) -> Option<Expr> {
        self.is_fixed(channel).then(|| channel.clone())
    }

    fn uses(&mut self, channel: &Expr, how: ChannelUse, moment: Moment, sensed: bool) {
        self.reads(channel);
        if self.has_channel_objects() {
            // Whether a rendezvous is possible depends on where the other thread stands, which matters where something else happens
            // if it is not: somewhere else, or the step is cut short. (Only who sends begins a rendezvous.)
            let rendezvous = how.is_operation() && self.program.channel_types.iter().any(|c| c.capacity == 0);
            let begins = matches!(how, ChannelUse::Send { .. });
            if rendezvous && (sensed || begins && moment != Moment::First) {
                self.step.touches.push(Touch::Everything);
            }
            // Both ends alike.
            return self.object(Part::Messages, Use::Write);
        }
        let channel = self.channel(channel);
        self.step.touches.push(Touch::Channel(ChannelTouch { channel, how, moment, sensed }));
    }

    /// A condition that decides whether the step is possible.
    fn guard(&mut self, Wanted { condition, holds }: Wanted<'_>, sensed: bool) {
        match condition {
            Expr::Spanned(e, _) => self.guard(Wanted { condition: e, holds }, sensed),
            Expr::Unary(UnaryOp::Not, e) => self.guard(Wanted { condition: e, holds: !holds }, sensed),
            Expr::Binary(BinaryOp::And | BinaryOp::Or, a, b) => {
                self.guard(Wanted { condition: a, holds }, sensed);
                self.guard(Wanted { condition: b, holds }, sensed);
            }
            Expr::Empty(c) if !holds => {
                self.uses(c, ChannelUse::NotEmpty { any: false }, Moment::First, sensed);
            }
            Expr::Full(c) if !holds => self.uses(c, ChannelUse::NotFull, Moment::First, sensed),
            Expr::Poll { channel, any, patterns } if holds => {
                for pattern in patterns {
                    if let Pattern::Match(e) = pattern {
                        self.reads(e);
                    }
                }
                self.uses(channel, ChannelUse::NotEmpty { any: *any }, Moment::First, sensed);
            }
            other => self.reads(other),
        }
    }

    /// What a condition that holds says about channels.
    fn conjuncts(&self, e: &Expr, out: &mut Assured) {
        match e {
            Expr::Spanned(e, _) => self.conjuncts(e, out),
            Expr::Binary(BinaryOp::And, a, b) => {
                self.conjuncts(a, out);
                self.conjuncts(b, out);
            }
            Expr::Unary(UnaryOp::Not, inner) => match strip(inner) {
                Expr::Empty(c) => {
                    out.extend(self.channel(c).map(|c| (c, ChannelUse::NotEmpty { any: false })))
                }
                Expr::Full(c) => out.extend(self.channel(c).map(|c| (c, ChannelUse::NotFull))),
                _ => {}
            },
            _ => {}
        }
    }

    fn operation(&mut self, operation: &Operation, moment: Moment, sensed: bool) {
        let (channel, how) = match operation {
            Operation::Exit => {
                self.step.touches.push(Touch::Exit);
                return;
            }
            Operation::When(e) => return self.reads(e),
            Operation::Always | Operation::Else | Operation::Enter | Operation::Event { .. } => return,
            Operation::Send { guard, channel, sorted, args } => {
                guard.iter().for_each(|e| self.reads(e));
                args.iter().for_each(|e| self.reads(e));
                (channel, ChannelUse::Send { sorted: *sorted })
            }
            Operation::Receive { guard, channel, any, peek, patterns } => {
                guard.iter().for_each(|e| self.reads(e));
                for pattern in patterns {
                    match pattern {
                        Pattern::Bind(place) => visit::place(place, Use::Write, self),
                        Pattern::Match(e) => self.reads(e),
                        Pattern::Ignore => {}
                    }
                }
                (channel, ChannelUse::Receive { any: *any, peek: *peek })
            }
        };
        self.uses(channel, how, moment, sensed);
        if self.program.observer.is_some() {
            self.step.touches.push(Touch::Observer);
        }
    }

    fn actions(&mut self, t: &Transformation) {
        if !self.knows.is_empty() {
            self.known.operation(&t.operation);
        }
        for action in &t.actions {
            visit::action(action, self);
            self.object_action(t, action);
            if let Action::Start { function, .. } = action {
                self.step.touches.push(Touch::Start(*function));
                self.step.touches.push(Touch::Position { function: *function, how: Use::Write });
                self.initial_values(*function);
            }
            if !self.knows.is_empty() {
                self.known.action(action);
            }
        }
    }

    /// What giving the locals of a function their first values touches.
    pub(super) fn initial_values(&mut self, function: FunctionId) {
        self.foreign = true;
        for local in &self.program.function(function).locals {
            match &local.init {
                Init::Fill(e) => self.reads(e),
                Init::List(es) => es.iter().for_each(|e| self.reads(e)),
                Init::Default => {}
                Init::Channels(_) if self.has_channel_objects() => self.step.touches.push(Touch::Allocate),
                Init::Channels(_) => {}
            }
        }
        self.foreign = false;
    }

    pub(super) fn reads(&mut self, e: &Expr) {
        visit::expr(e, self);
    }
}

/// The expression without its place in the source.
pub(super) fn strip(e: &Expr) -> &Expr {
    match e {
        Expr::Spanned(inner, _) => strip(inner),
        other => other,
    }
}

impl Visitor for Collector<'_> {
    fn expr(&mut self, e: &Expr) {
        match e {
            // In claims, which threads there are; what is asked of each of them is visited too.
            Expr::ThreadCount | Expr::Count { .. } | Expr::Oldest(_) => {
                self.step.touches.push(Touch::Threads);
            }
            _ if self.object_expr(e) => {}
            Expr::Length(c) | Expr::Full(c) | Expr::Empty(c) | Expr::Poll { channel: c, .. } => {
                let channel = self.channel(c);
                let (how, moment) = (ChannelUse::Look, Moment::Later);
                self.step.touches.push(Touch::Channel(ChannelTouch { channel, how, moment, sensed: true }));
            }
            Expr::At { label, .. } => {
                let function = self.program.labels[label.0 as usize].function;
                self.step.touches.push(Touch::Threads);
                self.step.touches.push(Touch::Position { function, how: Use::Read });
            }
            // Programs with `_last` or priorities are refused; for `timeout` see the module.
            Expr::Last | Expr::Priority(_) | Expr::Timeout => {}
            Expr::Const(_)
            | Expr::Load(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Conditional(..)
            | Expr::SelfId
            | Expr::Bound(_)
            | Expr::Spanned(..) => {}
            // Only in claims, or seen by `object_expr`.
            _ => {}
        }
    }

    fn place(&mut self, place: &Place, how: Use) {
        match &place.root {
            Root::Global(variable) => {
                // Nobody reads it in another step: it is zero again after every step.
                if self.program.globals[variable.0 as usize].scratch {
                    return;
                }
                let path = place
                    .path
                    .iter()
                    .map(|p| match p {
                        Projection::Field(f) => Selector::Field(*f),
                        Projection::Index(e) if self.is_fixed(e) => Selector::Index(e.clone()),
                        Projection::Index(_) | Projection::Member(..) => Selector::Any,
                    })
                    .collect();
                self.step.touches.push(Touch::Global { variable: *variable, path, how });
            }
            Root::Local(variable) => {
                if how == Use::Write && self.remote[self.function.0 as usize][variable.0 as usize] {
                    self.step.touches.push(Touch::Remote {
                        function: self.function,
                        variable: *variable,
                        how,
                    });
                }
            }
            Root::Remote { function, variable, .. } => {
                self.step.touches.push(Touch::Threads);
                self.step.touches.push(Touch::Remote { function: *function, variable: *variable, how });
            }
            Root::Object { .. } => self.object_place(place, how),
        }
    }
}
