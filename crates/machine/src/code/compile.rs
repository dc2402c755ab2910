//! Programs to compact code.

use std::collections::HashMap;

use quotient_program as ir;
use quotient_program::{Action, Expr, LockOperation, Program};
use quotient_source::{SourceMap, Span};

use super::calls::CallPlace;
use super::plain::{is_plain, keeps_callers_control};
use super::{
    Code, CodeAt, Function, Location, Op, Operation, Pattern, Receive, Send, SiteAt, Transformation,
};
use crate::explain::fault::{Fault, Site};
use crate::state::layout::Layout;
use crate::state::link::Sort;
use crate::step::direct::INTERPRET;
use crate::step::eval::{DEEP, SHALLOW};

/// Compiles a program for a layout. The source map is asked for the texts that fault messages quote.
pub(crate) fn compile(program: &Program, layout: &Layout, sources: &SourceMap) -> Code {
    let mut compiler = Compiler {
        program,
        layout,
        sources,
        code: Code::default(),
        sites: HashMap::new(),
        own_sites: Vec::new(),
        span: None,
        nesting: 0,
        deepest: 0,
        first_call: 0,
        ends_specially: false,
    };
    compiler.virtual_tables();
    compiler.object_inits();
    compiler.code.init = compiler.init_globals();
    for (index, function) in program.functions.iter().enumerate() {
        let compiled = compiler.function(index as u32, function);
        compiler.code.functions.push(compiled);
    }
    if let Some(observer) = &program.observer {
        let compiled = compiler.function(u32::MAX, &observer.function);
        let site = compiler.site(Fault::Trace { negated: observer.negated }, observer.function.span);
        let function = compiler.code.functions.len() as u32;
        compiler.code.observer = Some(super::Observer { negated: observer.negated, function, site });
        compiler.code.functions.push(compiled);
    }
    compiler.idle_functions();
    if let Some(claim) = &program.claim {
        compiler.claim(claim);
    }
    compiler.code.deep = compiler.deepest > SHALLOW;
    debug_assert!(compiler.deepest <= DEEP);
    compiler.code
}

/// Which message a receive takes.
#[derive(Clone, Copy)]
pub(super) struct Taking {
    /// The first that fits, not only the first.
    pub(super) any: bool,
    /// It stays where it is.
    pub(super) peek: bool,
}

pub(crate) struct Compiler<'a> {
    pub(crate) program: &'a Program,
    pub(crate) layout: &'a Layout,
    pub(crate) sources: &'a SourceMap,
    pub(crate) code: Code,
    /// The numbers of its sites.
    sites: HashMap<Site, SiteAt>,
    /// Those of the transformation that is being compiled.
    own_sites: Vec<SiteAt>,
    /// The innermost known place, for faults.
    pub(crate) span: Option<Span>,
    /// Expressions around the one being compiled; each holds at most a few values on the stack.
    pub(crate) nesting: usize,
    pub(super) deepest: usize,
    /// The first call of the function being compiled.
    pub(super) first_call: u32,
    /// Every transformation of the function being compiled does: see [`Transformation::ends_specially`].
    ends_specially: bool,
}

/// Values that one level of nesting keeps on the stack at most: a place, an index and an operand; a `run` keeps its
/// arguments, which are counted apart.
pub(super) const PER_LEVEL: usize = 3;

impl Compiler<'_> {
    pub(crate) fn emit(&mut self, op: Op) -> usize {
        self.code.ops.push(op);
        self.code.ops.len() - 1
    }

    pub(crate) fn here(&self) -> CodeAt {
        self.code.ops.len() as u32
    }

    pub(crate) fn site(&mut self, fault: Fault, span: Span) -> SiteAt {
        let site = Site { fault, span };
        let next = self.code.sites.len() as u32;
        let known = *self.sites.entry(site.clone()).or_insert(next);
        if known == next {
            self.code.sites.push(site);
        }
        self.own_sites.push(known);
        known
    }

    pub(super) fn expr_code(&mut self, function: u32, expr: &Expr) -> CodeAt {
        let start = self.here();
        self.expr(function, expr);
        self.emit(Op::Return);
        start
    }

    pub(crate) fn function(&mut self, number: u32, function: &ir::Function) -> Function {
        self.span = Some(function.span);
        self.first_call = self.code.calls.len() as u32;
        let exclusive = keeps_callers_control(self.program, function);
        self.ends_specially = exclusive || function.locals.iter().any(|v| v.scratch);
        let (params, catches) = (self.params(number, function), self.catches(number, function));
        let init = self.here();
        if let Some(layout) = self.layout.threads.get(number as usize) {
            let starts = layout.locals.clone();
            for (variable, at) in function.locals.iter().zip(&starts).skip(function.params) {
                self.init(number, variable, *at, true);
            }
            for variable in &function.dead_at_start {
                let nowhere = CallPlace { location: 0, target: 0, keeps_control: false };
                self.action(number, &ir::Action::Forget(*variable), &nowhere);
            }
        }
        self.emit(Op::Return);
        let provided = function.provided.as_ref().map(|e| self.expr_code(number, e));
        let mut locations = Vec::new();
        for (index, location) in function.locations.iter().enumerate() {
            let first = self.code.transformations.len() as u32;
            // Nested code is emitted while compiling: collect, then append in order.
            let compiled: Vec<_> = location
                .transformations
                .iter()
                .map(|t| {
                    self.own_sites.clear();
                    let compiled = self.transformation(number, index as u32, t);
                    self.own_sites.sort_unstable();
                    self.own_sites.dedup();
                    (compiled, self.own_sites.as_slice().into())
                })
                .collect();
            for ((mut t, sites), ir) in compiled.into_iter().zip(&location.transformations) {
                self.code.sites_of.push(sites);
                t.number = self.code.transformations.len() as u32;
                self.code.transformations.push(t);
                let direct = self.direct(number, ir, &function.locations);
                self.code.directs.list.push(direct);
            }
            let directs = &self.code.directs.list[first as usize..];
            let plain = !exclusive && is_plain(self.program, function, location);
            let direct = plain && directs.iter().all(|d| d.condition != INTERPRET);
            locations.push(Location {
                direct,
                first,
                end: self.code.transformations.len() as u32,
                deterministic: location.deterministic,
                committed: location.committed,
                transient: location.transient,
                valid_end: location.end,
                plain,
                accept: location.accept,
                progress: location.progress,
            });
        }
        Function {
            locations,
            entry: function.entry.0,
            provided,
            priority: function.priority,
            init,
            params,
            catches,
            first_call: self.first_call,
        }
    }

    /// The functions of an ended thread and of no thread: one location, where nothing can be done.
    fn idle_functions(&mut self) {
        let init = self.here();
        self.emit(Op::Return);
        let nothing = self.code.transformations.len() as u32;
        let location = Location {
            accept: false,
            progress: false,
            first: nothing,
            end: nothing,
            deterministic: false,
            committed: false,
            transient: false,
            valid_end: true,
            plain: false,
            direct: false,
        };
        let function = Function {
            locations: vec![location],
            entry: 0,
            provided: None,
            priority: 1,
            init,
            params: Vec::new(),
            catches: Vec::new(),
            first_call: 0,
        };
        self.code.functions.resize(self.program.functions.len() + 3, function);
    }

    fn transformation(&mut self, function: u32, location: u32, t: &ir::Transformation) -> Transformation {
        self.span = Some(t.span);
        let operation = match &t.operation {
            ir::Operation::Always => Operation::Always,
            ir::Operation::When(e) => Operation::When(self.expr_code(function, e)),
            ir::Operation::Else => Operation::Else,
            ir::Operation::Enter => Operation::Enter {
                blocked: self.site(Fault::Blocked, t.span),
                endless: self.site(Fault::Endless, t.span),
            },
            ir::Operation::Exit => Operation::Exit,
            ir::Operation::Send { guard, channel, sorted, args } => {
                let send = Send {
                    guard: guard.as_ref().map(|e| self.expr_code(function, e)),
                    channel: self.expr_code(function, channel),
                    sorted: *sorted,
                    args: args.iter().map(|e| self.expr_code(function, e)).collect(),
                    sorts: self.sorts(args.iter().map(Sort::of_expr)),
                    wrong: self.site(Fault::Message, t.span),
                    site: self.site(Fault::NoChannel, t.span),
                    too_many: self.site(Fault::Fields, t.span),
                    too_few: self.site(Fault::FewerSent, t.span),
                    in_d_step: self.site(Fault::RendezvousInDStep, t.span),
                };
                self.code.sends.push(send);
                Operation::Send(self.code.sends.len() as u32 - 1)
            }
            ir::Operation::Event { send, channel, patterns } => {
                let channel = self.expr_code(function, channel);
                let receive =
                    self.receive(function, channel, Taking { any: false, peek: true }, patterns, t.span);
                Operation::Event { send: *send, receive }
            }
            ir::Operation::Receive { guard, channel, any, peek, patterns } => {
                let guard = guard.as_ref().map(|e| self.expr_code(function, e));
                let channel = self.expr_code(function, channel);
                let receive =
                    self.receive(function, channel, Taking { any: *any, peek: *peek }, patterns, t.span);
                self.code.receives[receive as usize].guard = guard;
                Operation::Receive(receive)
            }
        };
        let actions = (!t.actions.is_empty()).then(|| {
            let start = self.here();
            let place =
                CallPlace { location, target: t.target.map_or(0, |l| l.0), keeps_control: t.keeps_control };
            for action in &t.actions {
                self.action(function, action, &place);
            }
            self.emit(Op::Return);
            start
        });
        Transformation {
            operation,
            actions,
            target: t.target.map_or(0, |l| l.0),
            keeps_control: t.keeps_control,
            ends_specially: self.ends_specially || t.actions.iter().any(ends_specially),
            picks: t.actions.iter().any(picks),
            rank: t.rank,
            number: 0,
        }
    }

    /// What the values of a send, or the fields of a receive, name; nothing where all channels fit.
    fn sorts(&self, sorts: impl Iterator<Item = Sort>) -> Vec<Sort> {
        let sorts: Vec<Sort> = sorts.collect();
        let data = |sort: &Sort| matches!(sort, Sort::Data | Sort::Any);
        let all_fit = sorts.iter().all(data) && self.layout.channels.iter().all(|c| c.sorts.iter().all(data));
        if all_fit { Vec::new() } else { sorts }
    }

    pub(super) fn receive(
        &mut self,
        function: u32,
        channel: CodeAt,
        Taking { any, peek }: Taking,
        patterns: &[ir::Pattern],
        span: Span,
    ) -> u32 {
        let sorts = patterns.iter().map(|p| match p {
            ir::Pattern::Bind(place) => Sort::of_type(&place.ty),
            ir::Pattern::Match(e) => Sort::of_expr(e),
            ir::Pattern::Ignore => Sort::Any,
        });
        let sorts = self.sorts(sorts);
        let patterns = patterns
            .iter()
            .map(|p| match p {
                ir::Pattern::Ignore => Pattern::Ignore,
                ir::Pattern::Match(e) => match e.constant() {
                    Some(value) => Pattern::Equal(value),
                    None => Pattern::Match(self.expr_code(function, e)),
                },
                ir::Pattern::Bind(place) => {
                    let start = self.here();
                    self.store(function, place, |c| {
                        c.emit(Op::Received);
                    });
                    self.emit(Op::Return);
                    Pattern::Bind(start)
                }
            })
            .collect();
        let site = self.site(Fault::NoChannel, span);
        let too_many = self.site(Fault::Fields, span);
        let wrong = self.site(Fault::Message, span);
        let too_few = self.site(Fault::FewerReceived, span);
        let polled = self.site(Fault::PolledRendezvous, span);
        self.code.receives.push(Receive {
            guard: None,
            channel,
            any,
            peek,
            patterns,
            sorts,
            site,
            too_many,
            too_few,
            wrong,
            polled,
        });
        self.code.receives.len() as u32 - 1
    }
}

/// Does an action pick one of several values, or one of several threads that wait?
fn picks(action: &Action) -> bool {
    matches!(action, Action::Choose { .. } | Action::Lock(LockOperation::Notify, _))
}

/// Does an action end its transformation otherwise than by going to the target?
fn ends_specially(action: &Action) -> bool {
    matches!(
        action,
        Action::Call { .. }
            | Action::Return(_)
            | Action::Throw(_)
            | Action::Assume(_)
            | Action::Choose { .. }
            | Action::EndThread
            | Action::Halt
    )
}
