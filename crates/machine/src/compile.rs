//! Programs to compact code.

use std::collections::HashMap;

use quotient_program as ir;
use quotient_program::{BinaryOp, Expr, Place, Program, Projection, Root, Type, UnaryOp};
use quotient_source::{SourceMap, Span};

use crate::code::{
    Code, CodeAt, Element, Function, Leaf, LenMask, Location, Op, Operation, Pattern, Print, PrintPart,
    Receive, Send, SiteAt, Start, Transformation,
};
use crate::direct::INTERPRET;
use crate::dynamic::compile::CallPlace;
use crate::dynamic::segments::{Segments, Sort};
use crate::eval::{DEEP, SHALLOW};
use crate::fault::{Fault, Site};
use crate::layout::{Cell, Layout, scalar_cells, size_of_type};
use crate::plain_compile::{has_links, is_plain};

/// Compiles a program for a layout. The source map is asked for the texts that fault messages quote.
pub(crate) fn compile(program: &Program, layout: &Layout, sources: &SourceMap) -> Code {
    let dynamic = program.features.dynamic;
    let mut compiler = Compiler {
        program,
        layout,
        segments: if dynamic { Segments::new(program, layout) } else { Segments::default() },
        sources,
        code: Code::default(),
        sites: HashMap::new(),
        span: None,
        nesting: 0,
        deepest: 0,
    };
    if dynamic {
        compiler.dynamic_tables();
    }
    compiler.code.init = compiler.init_globals();
    for (index, function) in program.functions.iter().enumerate() {
        let compiled = compiler.function(index as u32, function);
        compiler.code.functions.push(compiled);
    }
    if let Some(observer) = &program.observer {
        let compiled = compiler.function(u32::MAX, &observer.function);
        let site = compiler.site(Fault::Trace { negated: observer.negated }, observer.function.span);
        let function = compiler.code.functions.len() as u32;
        compiler.code.observer = Some(crate::code::Observer { negated: observer.negated, function, site });
        compiler.code.functions.push(compiled);
    }
    if dynamic {
        compiler.idle_functions();
    }
    if let Some(claim) = &program.claim {
        compiler.claim(claim);
    }
    compiler.code.deep = compiler.deepest > SHALLOW;
    debug_assert!(compiler.deepest <= DEEP);
    compiler.code
}

pub(crate) struct Compiler<'a> {
    pub(crate) program: &'a Program,
    pub(crate) layout: &'a Layout,
    pub(crate) segments: Segments,
    pub(crate) sources: &'a SourceMap,
    pub(crate) code: Code,
    /// The numbers of its sites.
    sites: HashMap<Site, SiteAt>,
    /// The innermost known place, for faults.
    pub(crate) span: Option<Span>,
    /// Expressions around the one being compiled; each holds at most a few values on the stack.
    pub(crate) nesting: usize,
    deepest: usize,
}

/// Values that one level of nesting keeps on the stack at most: a place, an index and an operand; a `run` keeps its
/// arguments, which are counted apart.
const PER_LEVEL: usize = 3;

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
        known
    }

    fn expr_code(&mut self, function: u32, expr: &Expr) -> CodeAt {
        let start = self.here();
        self.expr(function, expr);
        self.emit(Op::Return);
        start
    }

    pub(crate) fn function(&mut self, number: u32, function: &ir::Function) -> Function {
        self.span = Some(function.span);
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
                .map(|t| self.transformation(number, index as u32, t))
                .collect();
            for (mut t, ir) in compiled.into_iter().zip(&location.transformations) {
                t.number = self.code.transformations.len() as u32;
                self.code.transformations.push(t);
                let direct = self.direct(number, ir, &function.locations);
                self.code.directs.list.push(direct);
            }
            let directs = &self.code.directs.list[first as usize..];
            let plain = is_plain(self.program, function, location);
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
        Function { locations, entry: function.entry.0, provided, priority: function.priority, init }
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
                    sorts: args.iter().map(Sort::of_expr).collect(),
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
                let receive = self.receive(function, channel, false, true, patterns, t.span);
                Operation::Event { send: *send, receive }
            }
            ir::Operation::Receive { guard, channel, any, peek, patterns } => {
                let guard = guard.as_ref().map(|e| self.expr_code(function, e));
                let channel = self.expr_code(function, channel);
                let receive = self.receive(function, channel, *any, *peek, patterns, t.span);
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
            rank: t.rank,
            number: 0,
        }
    }

    fn receive(
        &mut self,
        function: u32,
        channel: CodeAt,
        any: bool,
        peek: bool,
        patterns: &[ir::Pattern],
        span: Span,
    ) -> u32 {
        let sorts = patterns.iter().map(|p| match p {
            ir::Pattern::Bind(place) => Sort::of_type(&place.ty),
            ir::Pattern::Match(e) => Sort::of_expr(e),
            ir::Pattern::Ignore => Sort::Any,
        });
        let sorts = sorts.collect();
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

    fn action(&mut self, function: u32, action: &ir::Action, place: &CallPlace) {
        match action {
            ir::Action::Assign(place, value) => self.store(function, place, |c| c.expr(function, value)),
            ir::Action::Assert(e, span) => {
                let text = self.sources.slice(*span).split_whitespace().collect::<Vec<_>>().join(" ");
                let site = self.site(Fault::Assertion { text }, *span);
                self.expr(function, e);
                self.emit(Op::Assert(site));
            }
            ir::Action::Start { function: started, args, priority, result } => {
                let layout = &self.layout.threads[started.0 as usize];
                let callee = self.program.function(*started);
                let mut params = Vec::with_capacity(args.len());
                for (v, at) in callee.locals[..callee.params].iter().zip(&layout.locals) {
                    scalar_cells(self.program, &v.ty, *at, &mut params);
                }
                params.truncate(args.len());
                self.code.starts.push(Start {
                    function: started.0,
                    params,
                    has_priority: priority.is_some(),
                });
                let index = self.code.starts.len() as u32 - 1;
                let start = |c: &mut Self| {
                    // The arguments wait on the stack.
                    let waiting = args.len() / PER_LEVEL + 1;
                    c.nesting += waiting;
                    for arg in args {
                        c.expr(function, arg);
                    }
                    c.nesting -= waiting;
                    if let Some(priority) = priority {
                        c.expr(function, priority);
                    }
                    c.emit(Op::Start(index));
                    if result.as_ref().is_some_and(|r| r.ty == Type::Thread) {
                        c.emit(Op::AddConst(1));
                    }
                };
                match result {
                    Some(place) => self.store(function, place, start),
                    None => {
                        start(self);
                        self.emit(Op::Pop);
                    }
                }
            }
            ir::Action::Print(printf) => {
                // The code of the parts lies behind a jump: it runs only when a step is explained.
                let jump = self.emit(Op::Jump(0));
                let parts = printf
                    .parts
                    .iter()
                    .map(|part| match part {
                        ir::PrintfPart::Text(text) => PrintPart::Text(text.clone()),
                        ir::PrintfPart::Decimal(e) => PrintPart::Decimal(self.expr_code(function, e)),
                        ir::PrintfPart::Unsigned(e) => PrintPart::Unsigned(self.expr_code(function, e)),
                        ir::PrintfPart::Hex(e) => PrintPart::Hex(self.expr_code(function, e)),
                        ir::PrintfPart::Octal(e) => PrintPart::Octal(self.expr_code(function, e)),
                        ir::PrintfPart::Character(e) => PrintPart::Character(self.expr_code(function, e)),
                        ir::PrintfPart::Name(e, set) => {
                            PrintPart::Name(self.expr_code(function, e), set.map(|s| s.0))
                        }
                    })
                    .collect();
                self.code.ops[jump] = Op::Jump(self.here());
                self.code.prints.push(Print { parts });
                let index = self.code.prints.len() as u32 - 1;
                self.emit(Op::Print(index));
            }
            ir::Action::SetPriority(thread, priority) => {
                self.expr(function, thread);
                self.expr(function, priority);
                self.emit(Op::SetPriority);
            }
            ir::Action::Forget(variable) => {
                let at = self.layout.threads[function as usize].locals[variable.0 as usize];
                let ty = &self.local(function, *variable).ty.clone();
                let len = size_of_type(self.program, ty);
                self.emit(Op::Forget { at, len });
                if has_links(self.program, ty) {
                    self.emit(Op::Touch);
                }
            }
            dynamic => self.dynamic_action(function, dynamic, place),
        }
    }

    pub(crate) fn expr(&mut self, function: u32, expr: &Expr) {
        self.nesting += 1;
        self.deepest = self.deepest.max(self.nesting * PER_LEVEL + 2);
        self.expr_inside(function, expr);
        self.nesting -= 1;
    }

    fn expr_inside(&mut self, function: u32, expr: &Expr) {
        match expr {
            Expr::Const(value) => {
                self.emit(Op::Const(*value));
            }
            Expr::Load(place) => self.load(function, place),
            Expr::Unary(op, a) => {
                self.expr(function, a);
                self.emit(match op {
                    UnaryOp::Not => Op::Not,
                    UnaryOp::Complement => Op::Complement,
                    UnaryOp::Negate => Op::Negate,
                });
            }
            Expr::Binary(op, a, b) => self.binary(function, *op, a, b),
            Expr::Conditional(c, a, b) => {
                self.expr(function, c);
                let to_else = self.emit(Op::JumpIfZero(0));
                self.expr(function, a);
                let to_end = self.emit(Op::Jump(0));
                self.code.ops[to_else] = Op::JumpIfZero(self.here());
                self.expr(function, b);
                self.code.ops[to_end] = Op::Jump(self.here());
            }
            Expr::SelfId => {
                self.emit(Op::SelfId);
            }
            Expr::ThreadCount => {
                self.emit(Op::ThreadCount);
            }
            Expr::Last => {
                self.emit(Op::Last);
            }
            Expr::Timeout => {
                self.emit(Op::Timeout);
            }
            Expr::Length(c) => self.channel_query(function, c, Op::Length),
            Expr::Full(c) => self.channel_query(function, c, Op::Full),
            Expr::Empty(c) => self.channel_query(function, c, Op::Empty),
            Expr::Poll { channel, any, patterns } => {
                self.expr(function, channel);
                let jump = self.emit(Op::Jump(0));
                let span = self.current_span();
                // A poll binds nothing: a variable stands for any value.
                let patterns: Vec<_> = patterns
                    .iter()
                    .map(|p| match p {
                        ir::Pattern::Match(e) => ir::Pattern::Match(e.clone()),
                        _ => ir::Pattern::Ignore,
                    })
                    .collect();
                let index = self.receive(function, 0, *any, true, &patterns, span);
                self.code.ops[jump] = Op::Jump(self.here());
                self.emit(Op::Poll(index));
            }
            Expr::At { thread, label } => {
                self.expr(function, thread);
                let label = self.program.labels[label.0 as usize];
                self.emit(Op::At { function: label.function.0, location: label.location.0 });
            }
            Expr::Enabled(_)
            | Expr::LocationOf(_)
            | Expr::NonProgress
            | Expr::Oldest(_)
            | Expr::Bound(_)
            | Expr::Count { .. } => self.claim_expr(function, expr),
            Expr::Priority(thread) => {
                self.expr(function, thread);
                self.emit(Op::Priority);
            }
            Expr::SelfThread
            | Expr::Terminated(_)
            | Expr::InstanceOf { .. }
            | Expr::Cast { .. }
            | Expr::ArrayLength(_)
            | Expr::Lock(..)
            | Expr::Query { .. }
            | Expr::Reachable(..)
            | Expr::Function(_) => self.dynamic_expr(function, expr),
            Expr::Spanned(inner, span) => {
                let outer = self.span.replace(*span);
                self.expr(function, inner);
                self.span = outer;
            }
        }
    }

    pub(crate) fn current_span(&self) -> Span {
        // Every function, transformation and initialiser sets it before code is emitted.
        self.span.expect("code is compiled only inside something that has a place")
    }

    fn channel_query(&mut self, function: u32, channel: &Expr, op: fn(SiteAt) -> Op) {
        self.expr(function, channel);
        let site = self.site(Fault::NoChannel, self.current_span());
        self.emit(op(site));
    }

    fn binary(&mut self, function: u32, op: BinaryOp, a: &Expr, b: &Expr) {
        if !matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Div | BinaryOp::Mod)
            && let Some(right) = self.leaf(function, b)
        {
            match self.leaf(function, a) {
                Some(left) => self.emit(Op::BinaryLeaves(op, left, right)),
                None => {
                    self.expr(function, a);
                    self.emit(Op::BinaryLeaf(op, right))
                }
            };
            return;
        }
        self.expr(function, a);
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let jump = self.emit(Op::Pop);
                self.expr(function, b);
                self.emit(Op::Truth);
                let end = self.here();
                self.code.ops[jump] = if op == BinaryOp::And { Op::AndThen(end) } else { Op::OrElse(end) };
                return;
            }
            _ => {}
        }
        self.expr(function, b);
        let op = match op {
            BinaryOp::Div => Op::Divide(self.site(Fault::Division, self.current_span())),
            BinaryOp::Mod => Op::Remainder(self.site(Fault::Division, self.current_span())),
            op => Op::Binary(op),
        };
        self.emit(op);
    }

    /// The operand that an expression is, if it needs no code of its own.
    fn leaf(&mut self, function: u32, expr: &Expr) -> Option<Leaf> {
        match expr {
            Expr::Const(value) => Some(Leaf::Const(*value)),
            Expr::SelfId => Some(Leaf::SelfId),
            Expr::Spanned(inner, _) => self.leaf(function, inner),
            Expr::Load(place) => {
                let Cell::U8(_) = Cell::of(&place.ty) else { return None };
                match self.simple(function, place) {
                    Simple::Fixed { local: true, at } => Some(Leaf::Local8(at)),
                    Simple::Fixed { local: false, at } => Some(Leaf::Global8(at)),
                    _ => self.element(function, place).map(Leaf::Element),
                }
            }
            _ => None,
        }
    }

    /// The number of an element of a byte array with a leaf as its index.
    fn element(&mut self, function: u32, place: &Place) -> Option<u32> {
        let (Simple::Element { local, at, len, index }, Cell::U8(mask)) =
            (self.simple(function, place), Cell::of(&place.ty))
        else {
            return None;
        };
        let index = self.leaf(function, &index).filter(|l| !matches!(l, Leaf::Element(_)))?;
        let site = self.index_site(place, len);
        self.code.elements.push(Element { local, at, len, mask, site, index });
        Some(self.code.elements.len() as u32 - 1)
    }

    /// The place's constant part, and its one index if it is the element of a byte array.
    fn load(&mut self, function: u32, place: &Place) {
        let cell = Cell::of(&place.ty);
        if let Some(element) = self.element(function, place) {
            self.emit(Op::Leaf(Leaf::Element(element)));
            return;
        }
        match self.simple(function, place) {
            Simple::Fixed { local, at } => {
                self.emit(match (local, cell) {
                    (false, Cell::U8(_)) => Op::Global8(at),
                    (true, Cell::U8(_)) => Op::Local8(at),
                    (false, cell) => Op::Global(at, cell),
                    (true, cell) => Op::Local(at, cell),
                });
            }
            Simple::Element { local, at, len, index } if matches!(cell, Cell::U8(_)) => {
                self.expr(function, &index);
                let site = self.index_site(place, len);
                self.emit(if local {
                    Op::LocalIndex8 { at, len, site }
                } else {
                    Op::GlobalIndex8 { at, len, site }
                });
            }
            _ => {
                self.place(function, place);
                self.emit(Op::Load(cell));
            }
        }
    }

    /// Code that stores what `value` pushes.
    pub(crate) fn store(&mut self, function: u32, place: &Place, value: impl FnOnce(&mut Self)) {
        let cell = Cell::of(&place.ty);
        let value = |c: &mut Self| {
            value(c);
            c.before_store(&place.ty, place.span);
        };
        if let Some(element) = self.element(function, place) {
            value(self);
            self.emit(Op::StoreElement8(element));
            return;
        }
        match self.simple(function, place) {
            Simple::Fixed { local, at } => {
                value(self);
                self.emit(match (local, cell) {
                    (false, Cell::U8(mask)) => Op::StoreGlobal8(at, mask),
                    (true, Cell::U8(mask)) => Op::StoreLocal8(at, mask),
                    (false, cell) => Op::StoreGlobal(at, cell),
                    (true, cell) => Op::StoreLocal(at, cell),
                });
            }
            simple => {
                if let (Simple::Element { local, at, len, index }, Cell::U8(mask)) = (&simple, cell)
                    && let Some(len_mask) = LenMask::new(*len, mask)
                {
                    self.expr(function, index);
                    value(self);
                    let (at, site) = (*at, self.index_site(place, *len));
                    self.emit(if *local {
                        Op::StoreLocalIndex8 { at, len_mask, site }
                    } else {
                        Op::StoreGlobalIndex8 { at, len_mask, site }
                    });
                } else {
                    self.place(function, place);
                    value(self);
                    self.emit(Op::Store(cell));
                }
            }
        }
    }

    pub(crate) fn index_site(&mut self, place: &Place, length: u32) -> SiteAt {
        let text = self.sources.slice(place.span).split_whitespace().collect::<Vec<_>>().join(" ");
        self.site(Fault::Index { text, length }, place.span)
    }

    pub(crate) fn simple(&self, function: u32, place: &Place) -> Simple {
        let (local, mut at, mut ty) = match &place.root {
            Root::Global(v) => {
                (false, self.layout.globals[v.0 as usize], &self.program.globals[v.0 as usize].ty)
            }
            Root::Local(v) => (
                true,
                self.layout.threads[function as usize].locals[v.0 as usize],
                &self.local(function, *v).ty,
            ),
            Root::Remote { .. } | Root::Object { .. } => return Simple::No,
        };
        for (depth, projection) in place.path.iter().enumerate() {
            match (projection, ty) {
                (Projection::Field(field), Type::Structure(id)) => {
                    let fields = &self.program.structure(*id).fields;
                    at += fields[..*field as usize]
                        .iter()
                        .map(|f| size_of_type(self.program, &f.ty))
                        .sum::<u32>();
                    ty = &fields[*field as usize].ty;
                }
                (Projection::Index(index), Type::Array(element, len)) => {
                    match index.constant() {
                        Some(i) if (0..*len as i32).contains(&i) => {
                            at += i as u32 * size_of_type(self.program, element);
                        }
                        _ if depth + 1 == place.path.len() => {
                            return Simple::Element { local, at, len: *len, index: index.clone() };
                        }
                        _ => return Simple::No,
                    }
                    ty = element;
                }
                _ => unreachable!("front ends give places that fit their types"),
            }
        }
        Simple::Fixed { local, at }
    }

    /// Pushes the byte position of a place.
    fn place(&mut self, function: u32, place: &Place) {
        let program = self.program;
        let mut path = &place.path[..];
        let object_type;
        let mut ty = match &place.root {
            Root::Global(v) => {
                self.emit(Op::GlobalPlace(self.layout.globals[v.0 as usize]));
                &program.globals[v.0 as usize].ty
            }
            Root::Local(v) => {
                self.emit(Op::LocalPlace(self.layout.threads[function as usize].locals[v.0 as usize]));
                &crate::claim_compile::local_of(program, function, *v).ty
            }
            Root::Remote { thread, function: remote, variable } => {
                self.expr(function, thread);
                let name = program.function(*remote).name.clone();
                let site = self.site(Fault::NoProcess { name }, place.span);
                let at = self.layout.threads[remote.0 as usize].locals[variable.0 as usize];
                self.emit(Op::RemotePlace { function: remote.0, at, site });
                &program.function(*remote).locals[variable.0 as usize].ty
            }
            Root::Object { reference, referent } => {
                (object_type, path) = self.object_place(function, reference, *referent, place);
                &object_type
            }
        };
        for projection in path {
            match (projection, ty) {
                (Projection::Field(field), Type::Structure(id)) => {
                    let fields = &program.structure(*id).fields;
                    let offset: u32 =
                        fields[..*field as usize].iter().map(|f| size_of_type(program, &f.ty)).sum();
                    if offset > 0 {
                        self.emit(Op::AddConst(offset as i32));
                    }
                    ty = &fields[*field as usize].ty;
                }
                (Projection::Index(index), Type::Array(element, len)) => {
                    self.expr(function, index);
                    let site = self.index_site(place, *len);
                    self.emit(Op::Index { stride: size_of_type(program, element), len: *len, site });
                    ty = element;
                }
                _ => unreachable!("front ends give places that fit their types"),
            }
        }
    }
}

/// How a place is found.
pub(crate) enum Simple {
    Fixed { local: bool, at: u32 },
    Element { local: bool, at: u32, len: u32, index: Expr },
    No,
}
