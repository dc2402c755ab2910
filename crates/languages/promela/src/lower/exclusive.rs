//! `xr` and `xs`: assertions that one process alone receives from a channel, or sends to it.
//!
//! A process claims the channel when it starts. From then on it is a violation if another process comes to a statement that receives
//! or sends there, whether or not the statement can be executed; `len`, `full`, `empty` and polls need both directions, `nfull` that of
//! sending, `nempty` that of receiving. As in SPIN, a rendezvous channel cannot be claimed, `??` cannot be used on a channel claimed by
//! `xr` nor `!!` on one. SPIN needs the claims for its partial order reduction, and checks them only with it; nothing relies on them
//! here, and they can be switched off ([`Program::exclusive`]).
//!
//! The checks are part of the program: a location with such a statement has a further way on, which can be taken when the claim is
//! another process's, on which an assertion fails, and where the process then stays. Claims of processes that exist at first are constants. Those of processes
//! that are started are kept in two arrays, `xs` and `xr`: for each channel, the process that claims it. They change when a process
//! starts and never again, so ample sets lose nothing. A claim outlives its process, as in SPIN; but SPIN mixes the
//! claims of different runs, and of channels that have one number one after the other.
//!
//! What depends on variables that are assigned to, or on objects, is not checked, and says so.

use std::collections::HashSet;

use quotient_program::visit::{self, Use, Visitor};
use quotient_program::{
    Action, BinaryOp, Expr, Function, FunctionId, Init, IntType, Location, LocationId, Operation, Place,
    Program, Projection, Root, Transformation, Type, UnaryOp, Variable, VariableId,
};
use quotient_source::{Diagnostic, Diagnostics, Span, Unchecked};

use quotient_front_end::{Claim, ClaimKind};

/// One channel of an `xr` or `xs`.
#[derive(Debug)]
pub(super) struct Exclusive {
    pub function: FunctionId,
    /// `xs` rather than `xr`.
    pub send: bool,
    pub channel: Expr,
    pub span: Span,
}

/// Nobody has claimed a channel. There are at most 255 processes.
const NOBODY: i32 = 255;

/// A claim of a process that exists at first, on the channel of a global variable that is never assigned to.
struct Fixed {
    send: bool,
    global: VariableId,
    thread: i32,
}

/// What is used of a channel.
struct Access {
    channel: Expr,
    send: bool,
    receive: bool,
    /// `??` or `!!`: nobody at all may have claimed the channel for receiving.
    out_of_order: bool,
}

/// Adds the checks to the program.
pub(super) fn check(
    program: &mut Program,
    claims: &[Exclusive],
    temporal: &[Claim],
    diagnostics: &mut Diagnostics,
) {
    if claims.is_empty() {
        return;
    }
    let uses = Uses::of(program);
    let started = started(program);
    let checked = program.globals.len();
    program.globals.push(Variable {
        name: "xr, xs".into(),
        ty: Type::Int(IntType::BIT),
        init: Init::Fill(Expr::truth()),
        scratch: false,
        span: claims[0].span,
    });
    program.exclusive = Some(VariableId(checked as u32));
    let mut fixed: Vec<Fixed> = Vec::new();
    let mut later: Vec<&Exclusive> = Vec::new();
    for claim in claims {
        let Some(root) = uses.lasting(program, claim) else {
            unchecked(claim, diagnostics);
            continue;
        };
        let variable = match root {
            Claimed::Global(id) => &program.globals[id.0 as usize],
            Claimed::Local(id) => &program.functions[claim.function.0 as usize].locals[id.0 as usize],
        };
        let made = match variable.init {
            Init::Channels(kind) => Some(program.channel_types[kind.0 as usize].capacity),
            _ => None,
        };
        if made == Some(0) {
            never(program, claim, Expr::truth(), "a rendezvous channel");
            continue;
        }
        if let Claimed::Local(id) = root
            && made.is_some()
            && !uses.given_away.contains(&(claim.function, id))
        {
            continue;
        }
        let initial = program.initial.iter().enumerate().filter(|(_, f)| **f == claim.function);
        let pids: Vec<i32> = initial.map(|(pid, _)| pid as i32).collect();
        match root {
            Claimed::Global(global) if made.is_some() => {
                for thread in pids {
                    let other = |f: &Fixed| f.send == claim.send && f.global == global && f.thread != thread;
                    if fixed.iter().any(other) {
                        let who = equal(Expr::SelfId, Expr::Const(thread));
                        never(program, claim, who, "a channel that another process has claimed");
                    } else {
                        fixed.push(Fixed { send: claim.send, global, thread });
                    }
                }
            }
            _ if !pids.is_empty() => unchecked(claim, diagnostics),
            _ => {}
        }
        if started.contains(&claim.function) {
            later.push(claim);
        }
    }
    let owners = later.first().map(|claim| Owners::new(program, claim.span));
    let rules = Rules { fixed, owners, uses, started };
    rules.watch_accesses(program);
    rules.watch_starts(program, &later);
    for claim in temporal.iter().filter(|c| rules.looks(program, c)) {
        // A claim is one more process to SPIN.
        diagnostics.push(
            Diagnostic::warning(
                claim.span,
                "this claim looks at a channel that xr or xs gives to one process",
            )
            .help("SPIN reports that as a violation; `nempty` and `nfull` need one direction only")
            .unchecked(Unchecked::ExclusiveUse, "exclusive use of channels (xr, xs) by a claim"),
        );
    }
    // Where nothing can go wrong nobody asks.
    if !is_read(program, VariableId(checked as u32)) {
        program.globals.truncate(checked);
        program.exclusive = None;
    }
}

fn is_read(program: &Program, global: VariableId) -> bool {
    struct Reads(VariableId, bool);
    impl Visitor for Reads {
        fn place(&mut self, place: &Place, _: Use) {
            self.1 |= matches!(place.root, Root::Global(id) if id == self.0);
        }
    }
    let mut reads = Reads(global, false);
    let transformations =
        program.functions.iter().flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
    transformations.for_each(|t| visit::transformation(t, &mut reads));
    reads.1
}

/// Something goes wrong, and claims are checked.
fn and_checked(program: &Program, wrong: Expr, span: Span) -> Expr {
    let Some(id) = program.exclusive else { return wrong };
    let place = Place { root: Root::Global(id), path: Vec::new(), ty: Type::Int(IntType::BIT), span };
    binary(BinaryOp::And, Expr::Load(place), wrong)
}

fn unchecked(claim: &Exclusive, diagnostics: &mut Diagnostics) {
    let message = "whether another process uses the channel is not checked";
    diagnostics.push(
        Diagnostic::warning(claim.span, message)
            .help("xr and xs are checked for channels in variables and parameters that are never assigned to")
            .unchecked(Unchecked::ExclusiveUse, "exclusive use of channels (xr, xs)"),
    );
}

/// The functions of processes that are started.
fn started(program: &Program) -> HashSet<FunctionId> {
    let transformations =
        program.functions.iter().flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
    let starts = transformations.flat_map(|t| &t.actions).filter_map(|a| match a {
        Action::Start { function, .. } => Some(*function),
        _ => None,
    });
    starts.collect()
}

/// A claim that is wrong as soon as its process exists and `when` holds.
fn never(program: &mut Program, claim: &Exclusive, when: Expr, what: &str) {
    let when = and_checked(program, when, claim.span);
    let function = &mut program.functions[claim.function.0 as usize];
    let (entry, stop) = (function.entry, LocationId(function.locations.len() as u32));
    let text = format!("{} of {what}", word(claim.send));
    if let Some(location) = function.locations.get_mut(entry.0 as usize) {
        location.transformations.insert(0, failure(when, stop, false, 0, claim.span, text));
        function.locations.push(standstill(claim.span));
    }
}

/// Where a process stays.
fn standstill(span: Span) -> Location {
    Location { end: true, ..Location::new(span) }
}

fn word(send: bool) -> &'static str {
    if send { "xs" } else { "xr" }
}

/// A way on that can be taken when `when` holds, and fails.
fn failure(
    when: Expr,
    to: LocationId,
    keeps_control: bool,
    rank: u16,
    span: Span,
    text: String,
) -> Transformation {
    Transformation {
        operation: Operation::When(when),
        actions: vec![Action::Assert(Expr::Const(0), span)],
        target: Some(to),
        keeps_control,
        rank,
        span,
        text,
    }
}

fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

fn equal(a: Expr, b: Expr) -> Expr {
    binary(BinaryOp::Eq, a, b)
}

fn any(terms: impl IntoIterator<Item = Expr>) -> Option<Expr> {
    terms.into_iter().reduce(|a, b| binary(BinaryOp::Or, a, b))
}

/// Whose variable has the channel that is claimed.
#[derive(Clone, Copy)]
enum Claimed {
    Global(VariableId),
    Local(VariableId),
}

/// What is done to variables.
struct Uses {
    assigned_globals: HashSet<VariableId>,
    assigned_locals: HashSet<(FunctionId, VariableId)>,
    /// Locals that are read otherwise than as the channel of an operation.
    given_away: HashSet<(FunctionId, VariableId)>,
}

struct UsesOf<'a> {
    function: FunctionId,
    uses: &'a mut Uses,
    /// The next place is that of a channel that something is done with.
    channel: bool,
}

impl Visitor for UsesOf<'_> {
    fn expr(&mut self, e: &Expr) {
        if let Expr::Length(c) | Expr::Full(c) | Expr::Empty(c) | Expr::Poll { channel: c, .. } = e {
            self.channel = matches!(**c, Expr::Load(_));
        }
    }

    fn place(&mut self, place: &Place, how: Use) {
        let as_channel = std::mem::take(&mut self.channel);
        match (&place.root, how) {
            (Root::Global(id), Use::Write) => _ = self.uses.assigned_globals.insert(*id),
            (Root::Local(id), Use::Write) => _ = self.uses.assigned_locals.insert((self.function, *id)),
            (Root::Local(id), Use::Read) if !as_channel => {
                self.uses.given_away.insert((self.function, *id));
            }
            (Root::Remote { function, variable, .. }, _) => {
                self.uses.given_away.insert((*function, *variable));
            }
            _ => {}
        }
    }
}

impl Uses {
    fn of(program: &Program) -> Uses {
        let mut uses = Uses {
            assigned_globals: HashSet::new(),
            assigned_locals: HashSet::new(),
            given_away: HashSet::new(),
        };
        for (index, function) in program.functions.iter().enumerate() {
            let function_id = FunctionId(index as u32);
            let mut visitor = UsesOf { function: function_id, uses: &mut uses, channel: false };
            for local in &function.locals {
                match &local.init {
                    Init::Fill(e) => visit::expr(e, &mut visitor),
                    Init::List(list) => list.iter().for_each(|e| visit::expr(e, &mut visitor)),
                    Init::Default | Init::Channels(_) => {}
                }
            }
            for t in function.locations.iter().flat_map(|l| &l.transformations) {
                // The channel of a send or receive comes first where there is no guard, as in Promela.
                visitor.channel = matches!(
                    &t.operation,
                    Operation::Send { guard: None, channel: Expr::Load(_), .. }
                        | Operation::Receive { guard: None, channel: Expr::Load(_), .. }
                );
                visit::transformation(t, &mut visitor);
            }
        }
        uses
    }

    /// The variable that a claim is about, if its channel is the same as long as the process exists.
    fn lasting(&self, program: &Program, claim: &Exclusive) -> Option<Claimed> {
        let Expr::Load(Place { root, path, ty: Type::Channel, .. }) = &claim.channel else { return None };
        if !path.is_empty() || program.features.dynamic {
            return None;
        }
        match root {
            Root::Global(id) if !self.assigned_globals.contains(id) => Some(Claimed::Global(*id)),
            Root::Local(id) if !self.assigned_locals.contains(&(claim.function, *id)) => {
                Some(Claimed::Local(*id))
            }
            _ => None,
        }
    }
}

/// The arrays that say who has claimed a channel.
struct Owners {
    /// For receiving and for sending.
    arrays: [VariableId; 2],
    length: u32,
    /// The number of a process that was just started.
    newest: VariableId,
}

impl Owners {
    fn new(program: &mut Program, span: Span) -> Owners {
        let count = |v: &Variable| match (&v.init, &v.ty) {
            (Init::Channels(_), Type::Array(_, length)) => *length,
            (Init::Channels(_), _) => 1,
            _ => 0,
        };
        let locals = program.functions.iter().flat_map(|f| &f.locals);
        let fields = program.structures.iter().flat_map(|s| &s.fields);
        let length = if locals.chain(fields).any(|v| count(v) > 0) {
            256
        } else {
            1 + program.globals.iter().map(count).sum::<u32>().min(255)
        };
        let mut add = |name: &str, ty: Type, init: Init| {
            program.globals.push(Variable { name: name.into(), ty, init, scratch: false, span });
            VariableId(program.globals.len() as u32 - 1)
        };
        let byte = || Type::Int(IntType::BYTE);
        let array = || Type::Array(Box::new(byte()), length);
        // Words of the language, so that no variable of the model has these names.
        let arrays = ["xr", "xs"].map(|name| add(name, array(), Init::Fill(Expr::Const(NOBODY))));
        Owners { arrays, length, newest: add("run", byte(), Init::Default) }
    }

    fn place(&self, send: bool, channel: Expr, span: Span) -> Place {
        let root = Root::Global(self.arrays[usize::from(send)]);
        Place { root, path: vec![Projection::Index(channel)], ty: Type::Int(IntType::BYTE), span }
    }

    /// A channel that has a number. Other values are faults of the operation itself.
    fn exists(&self, channel: &Expr) -> Expr {
        binary(BinaryOp::Lt, channel.clone(), Expr::Const(self.length as i32))
    }

    fn newest(&self, span: Span) -> Place {
        Place { root: Root::Global(self.newest), path: Vec::new(), ty: Type::Int(IntType::BYTE), span }
    }
}

struct Rules {
    fixed: Vec<Fixed>,
    owners: Option<Owners>,
    uses: Uses,
    started: HashSet<FunctionId>,
}

impl Rules {
    /// When `who` may not use the channel in this direction; `None` for never. `only`: the one process that `who` can be, where there
    /// is just one.
    fn forbidden(
        &self,
        program: &Program,
        (channel, send): (&Expr, bool),
        who: &Expr,
        only: Option<i32>,
        span: Span,
    ) -> Option<Expr> {
        let mut terms = Vec::new();
        for claim in self.fixed.iter().filter(|f| f.send == send) {
            if let Some(same) = self.same(program, claim.global, channel, span)
                && only != Some(claim.thread)
            {
                let other = binary(BinaryOp::Ne, who.clone(), Expr::Const(claim.thread));
                terms.push(binary(BinaryOp::And, same, other));
            }
        }
        if let Some(owners) = &self.owners {
            let owner = || Expr::Load(owners.place(send, channel.clone(), span));
            let claimed = binary(BinaryOp::Ne, owner(), Expr::Const(NOBODY));
            let other = binary(BinaryOp::Ne, owner(), who.clone());
            let both = binary(BinaryOp::And, claimed, other);
            terms.push(binary(BinaryOp::And, owners.exists(channel), both));
        }
        any(terms)
    }

    /// When anybody has claimed the channel for receiving.
    fn claimed(&self, program: &Program, channel: &Expr, span: Span) -> Option<Expr> {
        let fixed = self.fixed.iter().filter(|f| !f.send);
        let mut terms: Vec<Expr> =
            fixed.filter_map(|f| self.same(program, f.global, channel, span)).collect();
        if let Some(owners) = &self.owners {
            let owner = Expr::Load(owners.place(false, channel.clone(), span));
            let claimed = binary(BinaryOp::Ne, owner, Expr::Const(NOBODY));
            terms.push(binary(BinaryOp::And, owners.exists(channel), claimed));
        }
        any(terms)
    }

    /// When `channel` is that of the global variable; `None` for never.
    fn same(&self, program: &Program, global: VariableId, channel: &Expr, span: Span) -> Option<Expr> {
        if let Expr::Load(Place { root: Root::Global(id), .. }) = channel
            && *id != global
            && matches!(program.globals[id.0 as usize].init, Init::Channels(_))
            && !self.uses.assigned_globals.contains(id)
        {
            return None;
        }
        let place = Place { root: Root::Global(global), path: Vec::new(), ty: Type::Channel, span };
        match channel {
            Expr::Load(Place { root: Root::Global(id), .. }) if *id == global => Some(Expr::truth()),
            _ => Some(equal(channel.clone(), Expr::Load(place))),
        }
    }

    /// Processes that are started make their claims then.
    fn watch_starts(&self, program: &mut Program, claims: &[&Exclusive]) {
        let Some(owners) = &self.owners else { return };
        let mut functions = std::mem::take(&mut program.functions);
        for t in functions.iter_mut().flat_map(|f| &mut f.locations).flat_map(|l| &mut l.transformations) {
            let mut actions = Vec::with_capacity(t.actions.len());
            for mut action in std::mem::take(&mut t.actions) {
                let mut then = Vec::new();
                if let Action::Start { function, result, .. } = &mut action {
                    let made: Vec<&&Exclusive> = claims.iter().filter(|c| c.function == *function).collect();
                    if !made.is_empty() {
                        let given = result.clone();
                        let newest = result.get_or_insert_with(|| owners.newest(t.span)).clone();
                        let who = Expr::Load(newest.clone());
                        for claim in made {
                            then.extend(self.make_claim(program, owners, claim, &who, t.span));
                        }
                        if given.is_none() {
                            then.push(Action::Assign(newest, Expr::Const(0)));
                        }
                    }
                }
                actions.push(action);
                actions.append(&mut then);
            }
            t.actions = actions;
        }
        program.functions = functions;
    }

    /// What is done when process `who` was started and makes a claim.
    fn make_claim(
        &self,
        program: &Program,
        owners: &Owners,
        claim: &Exclusive,
        who: &Expr,
        span: Span,
    ) -> Vec<Action> {
        let channel = match &claim.channel {
            Expr::Load(Place { root: Root::Local(variable), path, ty, span }) => Expr::Load(Place {
                root: Root::Remote {
                    thread: Box::new(who.clone()),
                    function: claim.function,
                    variable: *variable,
                },
                path: path.clone(),
                ty: ty.clone(),
                span: *span,
            }),
            global => global.clone(),
        };
        let forbidden = self.forbidden(program, (&channel, claim.send), who, None, span);
        let full = Expr::Full(Box::new(channel.clone()));
        let empty = Expr::Empty(Box::new(channel.clone()));
        // Both at once: a rendezvous channel.
        let rendezvous = binary(BinaryOp::And, full, empty);
        let wrong = match forbidden {
            Some(forbidden) => binary(BinaryOp::Or, forbidden, rendezvous),
            None => rendezvous,
        };
        vec![
            Action::Assert(and_checked(program, wrong, span).negated(), span),
            Action::Assign(owners.place(claim.send, channel, span), who.clone()),
        ]
    }

    fn watch_accesses(&self, program: &mut Program) {
        let mut functions = std::mem::take(&mut program.functions);
        for (index, function) in functions.iter_mut().enumerate() {
            let only = self.only_process(program, FunctionId(index as u32));
            self.watch_function(program, function, only);
        }
        program.functions = functions;
    }

    /// The one process that ever runs a function, if there is just one.
    fn only_process(&self, program: &Program, function: FunctionId) -> Option<i32> {
        let mut initial = program.initial.iter().enumerate().filter(|(_, f)| **f == function);
        let first = initial.next().filter(|_| !self.started.contains(&function))?;
        initial.next().is_none().then_some(first.0 as i32)
    }

    fn watch_function(&self, program: &Program, function: &mut Function, only: Option<i32>) {
        let stop = LocationId(function.locations.len() as u32);
        let mut stopped = None;
        for location in &mut function.locations {
            let mut all = Vec::with_capacity(location.transformations.len());
            for mut t in std::mem::take(&mut location.transformations) {
                let wrong = accesses(&t);
                let wrong = wrong.iter().flat_map(|access| self.wrong(program, access, only, t.span));
                let (terms, words): (Vec<Expr>, Vec<&str>) = wrong.unzip();
                let Some(wrong) = any(terms) else {
                    all.push(t);
                    continue;
                };
                let wrong = and_checked(program, wrong, t.span);
                if location.deterministic {
                    t.actions.insert(0, Action::Assert(wrong.negated(), t.span));
                    all.push(t);
                    continue;
                }
                stopped = Some(t.span);
                let words: Vec<&str> = ["xr", "xs"].into_iter().filter(|w| words.contains(w)).collect();
                let text = format!("{} (another process's channel: {})", t.text, words.join(", "));
                let failure = failure(wrong, stop, t.keeps_control, t.rank, t.span, text);
                all.extend([t, failure]);
            }
            location.transformations = all;
        }
        function.locations.extend(stopped.map(standstill));
    }

    /// Does a temporal claim look at a channel that may be claimed for a process?
    fn looks(&self, program: &Program, claim: &Claim) -> bool {
        let mut found = Looks { list: Vec::new(), negated: false };
        claim.propositions.iter().for_each(|e| visit::expr(e, &mut found));
        if let ClaimKind::Never(function) = &claim.kind {
            let transformations = function.locations.iter().flat_map(|l| &l.transformations);
            transformations.for_each(|t| visit::transformation(t, &mut found));
        }
        found.list.iter().any(|access| !self.wrong(program, access, None, claim.span).is_empty())
    }

    /// When an access is not allowed, and by which claim.
    fn wrong(
        &self,
        program: &Program,
        access: &Access,
        only: Option<i32>,
        span: Span,
    ) -> Vec<(Expr, &'static str)> {
        let mut wrong = Vec::new();
        for (used, send) in [(access.receive, false), (access.send, true)] {
            if used {
                let forbidden = self.forbidden(program, (&access.channel, send), &Expr::SelfId, only, span);
                wrong.extend(forbidden.map(|e| (e, word(send))));
            }
        }
        if access.out_of_order {
            wrong.extend(self.claimed(program, &access.channel, span).map(|e| (e, word(false))));
        }
        wrong
    }
}

/// The channels that a transformation uses.
fn accesses(t: &Transformation) -> Vec<Access> {
    let mut found = Looks { list: Vec::new(), negated: false };
    match &t.operation {
        Operation::Send { channel, sorted, .. } => {
            let channel = channel.clone();
            found.list.push(Access { channel, send: true, receive: false, out_of_order: *sorted });
        }
        Operation::Receive { channel, any, .. } => {
            let channel = channel.clone();
            found.list.push(Access { channel, send: false, receive: true, out_of_order: *any });
        }
        _ => {}
    }
    visit::transformation(t, &mut found);
    found.list
}

/// Looks for questions about channels.
struct Looks {
    list: Vec<Access>,
    /// The expression is that of a negation.
    negated: bool,
}

impl Visitor for Looks {
    fn expr(&mut self, e: &Expr) {
        let negated = std::mem::take(&mut self.negated);
        let (channel, send, receive) = match e {
            Expr::Unary(UnaryOp::Not, inner) => {
                self.negated = matches!(**inner, Expr::Full(_) | Expr::Empty(_));
                return;
            }
            Expr::Full(channel) => (channel, true, !negated),
            Expr::Empty(channel) => (channel, !negated, true),
            Expr::Length(channel) | Expr::Poll { channel, .. } => (channel, true, true),
            _ => return,
        };
        self.list.push(Access { channel: (**channel).clone(), send, receive, out_of_order: false });
    }
}
