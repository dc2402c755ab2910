//! Steps of plain states.

use std::collections::HashSet;

use quotient_bir::ast::{ActionKind, Expr, ExprKind, ExtensionUse, LockOp, LockTest, TypeKind};

use super::code::{Doing, Next, Node, Way};
use super::collection;
use super::eval::{Context, Place, Stop};
use super::state::{Class, Fault, Frame, Kind, Object, State, Thread, Ty, Value};
use super::table::Table;

/// Makes all combinations of choices, one run after the other.
#[derive(Default)]
pub(super) struct Picker {
    made: Vec<(usize, usize)>,
    at: usize,
}

impl Picker {
    /// One of `count` possibilities.
    pub(super) fn pick(&mut self, count: usize) -> usize {
        if self.at == self.made.len() {
            self.made.push((0, count));
        }
        self.at += 1;
        self.made[self.at - 1].0
    }

    /// Goes to the next combination; `false` when there is none.
    pub(super) fn next(&mut self) -> bool {
        self.at = 0;
        while let Some((which, count)) = self.made.last_mut() {
            *which += 1;
            if which < count {
                return true;
            }
            self.made.pop();
        }
        false
    }
}

/// What follows a state.
#[derive(Default)]
pub(super) struct Successors {
    pub(super) states: Vec<State>,
    pub(super) violations: Vec<&'static str>,
    /// A step was forbidden by an assumption.
    pub(super) cut: bool,
}

/// How a step ended.
enum Ended {
    /// The state after it, and whether the thread stays in control.
    To(State, bool),
    Fault(Fault),
    Cut,
    /// Nothing to choose from.
    Blocked,
}

/// How the actions of a step ended.
enum Flow {
    Next,
    Throw(usize),
    Exit,
}

pub(super) struct Runner<'t, 'a> {
    table: &'t Table<'a>,
}

fn wrong<T>(what: &str) -> Result<T, Stop> {
    super::table::wrong(what).map_err(Stop::Wrong)
}

impl<'t, 'a> Runner<'t, 'a> {
    pub(super) fn new(table: &'t Table<'a>) -> Self {
        Runner { table }
    }

    pub(super) fn initial(&self) -> Result<State, String> {
        let globals = self.table.globals.iter().map(|(_, _, value)| value.clone()).collect();
        let mut state = State { globals, ..State::default() };
        for code in &self.table.active {
            let frame = self.frame(*code, &[]).map_err(|_| "parameters of an active thread".to_owned())?;
            state.threads.push(Some(Thread { frames: vec![frame], waits: None }));
        }
        Ok(state)
    }

    fn frame(&self, code: usize, args: &[Value]) -> Result<Frame, Stop> {
        let body = &self.table.codes[code];
        let mut locals: Vec<Value> = body.locals.iter().map(|(_, _, value)| value.clone()).collect();
        for (index, arg) in args.iter().enumerate() {
            locals[index] = body.locals[index].1.store(arg.clone())?;
        }
        Ok(Frame { code, node: body.entry, calling: None, locals })
    }

    fn node(&self, state: &State, thread: usize) -> Option<&'t Node<'a>> {
        // A thread may end inside of an atomic sequence.
        let frame = state.threads.get(thread)?.as_ref()?.frames.last()?;
        self.table.codes[frame.code].nodes.get(frame.node)
    }

    /// All states that one step of any thread leads to.
    pub(super) fn successors(&self, state: &State) -> Result<Successors, String> {
        let mut out = Successors::default();
        for thread in 0..state.threads.len() {
            self.thread(state, thread, &mut HashSet::new(), &mut out)?;
        }
        Ok(out)
    }

    /// All steps of a thread, atomic sequences followed to their ends. `inner` are the states seen inside.
    fn thread(
        &self,
        state: &State,
        thread: usize,
        inner: &mut HashSet<State>,
        out: &mut Successors,
    ) -> Result<(), String> {
        for ended in self.steps(state, thread)? {
            match ended {
                Ended::Fault(fault) => out.violations.push(fault.0),
                Ended::Cut => out.cut = true,
                Ended::Blocked => {}
                Ended::To(next, false) => out.states.push(next),
                Ended::To(next, true) => {
                    let goes_on = self
                        .steps(&next, thread)?
                        .iter()
                        .any(|e| matches!(e, Ended::To(..) | Ended::Fault(_)));
                    if !goes_on {
                        out.states.push(next);
                    } else if inner.insert(next.clone()) {
                        self.thread(&next, thread, inner, out)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The single steps of a thread. An assertion that fails is a fault and also a step.
    fn steps(&self, state: &State, thread: usize) -> Result<Vec<Ended>, String> {
        let Some(node) = self.node(state, thread) else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        for (number, way) in node.ways.iter().enumerate() {
            self.way(state, thread, way, number, node, &mut out)?;
        }
        let none = !out.iter().any(|e| !matches!(e, Ended::Blocked));
        if let Some(way) = node.otherwise.as_ref().filter(|_| none) {
            self.way(state, thread, way, node.ways.len(), node, &mut out)?;
        }
        Ok(out)
    }

    fn way(
        &self,
        state: &State,
        thread: usize,
        way: &Way<'a>,
        number: usize,
        node: &Node<'a>,
        out: &mut Vec<Ended>,
    ) -> Result<(), String> {
        match self.enabled(state, thread, way) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(Stop::Fault(fault)) => {
                out.push(Ended::Fault(fault));
                return Ok(());
            }
            Err(Stop::Wrong(what)) => return Err(what),
        }
        let mut picker = Picker::default();
        loop {
            let mut failed = false;
            let ended = self.take(state, thread, way, number, node, &mut picker, &mut failed);
            match ended {
                Ok(ended) => {
                    // A step that an assumption or an empty choice forbids does not happen, nor do its assertions.
                    if failed && !matches!(ended, Ended::Cut | Ended::Blocked) {
                        out.push(Ended::Fault(Fault("assertion")));
                    }
                    out.push(ended);
                }
                Err(Stop::Fault(fault)) => {
                    if failed {
                        out.push(Ended::Fault(Fault("assertion")));
                    }
                    out.push(Ended::Fault(fault));
                }
                Err(Stop::Wrong(what)) => return Err(what),
            }
            if !picker.next() {
                return Ok(());
            }
        }
    }

    fn enabled(&self, state: &State, thread: usize, way: &Way<'a>) -> Result<bool, Stop> {
        let context = Context { table: self.table, state, thread };
        for (condition, wanted) in &way.guard {
            if context.truth(condition)? != *wanted {
                return Ok(false);
            }
        }
        // A lock operation that comes first waits.
        if let Doing::Actions([first, ..]) = &way.work
            && let ActionKind::Lock(op @ (LockOp::Lock | LockOp::Unwait), e) = &first.kind
        {
            let lock = context.lock(e)?;
            if *op == LockOp::Unwait && !context.lock_test(LockTest::WasNotified, lock) {
                return Ok(false);
            }
            return Ok(context.lock_test(LockTest::LockAvailable, lock));
        }
        Ok(true)
    }

    fn take(
        &self,
        before: &State,
        thread: usize,
        way: &Way<'a>,
        number: usize,
        node: &Node<'a>,
        picker: &mut Picker,
        failed: &mut bool,
    ) -> Result<Ended, Stop> {
        let mut state = before.clone();
        let mut keeps = match way.next {
            Next::Node(next) => {
                let code = frame_of(&mut state, thread)?.code;
                node.block.is_some() && self.table.codes[code].nodes[next].block == node.block
            }
            Next::Return(_) => false,
        };
        match &way.work {
            Doing::Call { is_virtual, target, args, .. } => {
                let mut values = Vec::new();
                for arg in *args {
                    values.push(self.argument(&mut state, thread, arg)?);
                }
                let code = self.callee(&state, *is_virtual, target, &values)?;
                let callee = self.frame(code, &values)?;
                let frame = frame_of(&mut state, thread)?;
                frame.calling = Some(number);
                self.forget(frame, &way.forget);
                thread_of(&mut state, thread)?.frames.push(callee);
            }
            Doing::Actions(actions) => {
                match self.actions(&mut state, thread, actions, picker, failed)? {
                    Some(Flow::Next) => self.jump(&mut state, thread, way)?,
                    Some(Flow::Throw(object)) => {
                        keeps = false;
                        if let Some(fault) = self.unwind(&mut state, thread, object)? {
                            return Ok(Ended::Fault(fault));
                        }
                    }
                    Some(Flow::Exit) => thread_of(&mut state, thread)?.frames.clear(),
                    None => {
                        // The last choice says which of the two it was.
                        return Ok(if picker.made.last() == Some(&(0, 0)) {
                            Ended::Blocked
                        } else {
                            Ended::Cut
                        });
                    }
                }
            }
        }
        end_if_done(&mut state, thread)?;
        state.collect();
        Ok(Ended::To(state, keeps))
    }

    fn forget(&self, frame: &mut Frame, which: &[usize]) {
        for v in which {
            frame.locals[*v] = self.table.codes[frame.code].locals[*v].1.initial();
        }
    }

    fn jump(&self, state: &mut State, thread: usize, way: &Way<'a>) -> Result<(), Stop> {
        match way.next {
            Next::Node(next) => {
                let frame = frame_of(state, thread)?;
                self.forget(frame, &way.forget);
                frame.node = next;
            }
            Next::Return(value) => {
                let value = match value {
                    Some(e) => Context { table: self.table, state, thread }.eval(e)?,
                    None => Value::Null,
                };
                thread_of(state, thread)?.frames.pop();
                let Some(caller) = thread_of(state, thread)?.frames.last_mut() else { return Ok(()) };
                let code = &self.table.codes[caller.code];
                let way = &code.nodes[caller.node].ways[caller.calling.take().unwrap_or(0)];
                let (Doing::Call { result, .. }, Next::Node(next)) = (&way.work, way.next) else {
                    return wrong("a return");
                };
                if let Some(result) = result {
                    caller.locals[*result] = code.locals[*result].1.store(value)?;
                }
                caller.node = next;
            }
        }
        Ok(())
    }

    /// The nearest catch, from the topmost frame on; a fault when there is none.
    fn unwind(&self, state: &mut State, thread: usize, object: usize) -> Result<Option<Fault>, Stop> {
        let Kind::Record(thrown) = state.objects[object].as_ref().map_or(Kind::Lock, |o| o.kind) else {
            return wrong("an exception");
        };
        let thread = thread_of(state, thread)?;
        while let Some(frame) = thread.frames.last_mut() {
            let catches = &self.table.codes[frame.code].catches;
            let found = catches.iter().find(|c| {
                let record = self.table.record_numbers.get(&c.record);
                c.at.contains(&frame.node)
                    && record.is_some_and(|r| self.table.records[thrown].ancestors.contains(r))
            });
            if let Some(catch) = found {
                frame.calling = None;
                frame.node = catch.target;
                frame.locals[catch.variable] = Value::Ref(object);
                return Ok(None);
            }
            thread.frames.pop();
        }
        Ok(Some(Fault("exception")))
    }

    fn callee(&self, state: &State, is_virtual: bool, target: &str, args: &[Value]) -> Result<usize, Stop> {
        let name = match (is_virtual, self.table.virtuals.get(target)) {
            (true, Some(table)) => {
                let key =
                    |name: &str| table.entries.iter().find(|(k, _)| *k.text == *name).map(|(_, f)| &f.text);
                let found = match (args.first(), &table.on) {
                    (Some(Value::Int(i)), Some(on)) => {
                        self.table.enums.get(&on.text).and_then(|e| e.get(*i as usize)).and_then(|n| key(n))
                    }
                    (Some(Value::Ref(o)), None) => {
                        let Some(Kind::Record(r)) = state.objects[*o].as_ref().map(|o| o.kind) else {
                            return wrong("a receiver");
                        };
                        let names = self.table.record_numbers.iter();
                        let name_of = |a: usize| names.clone().find(|(_, n)| **n == a).map(|(name, _)| name);
                        let ancestors = self.table.records[r].ancestors.iter();
                        ancestors.filter_map(|a| name_of(*a)).find_map(|name| key(name))
                    }
                    _ => return Err(Fault("call").into()),
                };
                match found {
                    Some(name) => name.to_string(),
                    None => return wrong("a virtual table"),
                }
            }
            _ => target.to_owned(),
        };
        match self.table.code_numbers.get(&*name) {
            Some(code) => Ok(*code),
            None => wrong("a function"),
        }
    }

    /// An argument, which may make an object.
    fn argument(&self, state: &mut State, thread: usize, e: &Expr) -> Result<Value, Stop> {
        match self.allocate(state, thread, e)? {
            Some(value) => Ok(value),
            None => Context { table: self.table, state, thread }.eval(e),
        }
    }

    /// The object of a `new`; `None` for any other expression.
    fn allocate(&self, state: &mut State, thread: usize, e: &Expr) -> Result<Option<Value>, Stop> {
        let object = |kind, cells| Object { kind, cells, lock: None };
        let made = match &e.kind {
            ExprKind::NewLock => object(Kind::Lock, Vec::new()),
            ExprKind::NewRecord(name) => {
                let named = quotient_bir::ast::Type { kind: TypeKind::Named(name.clone()), span: e.span };
                match &self.table.resolve(&named).kind {
                    TypeKind::Lock => object(Kind::Lock, Vec::new()),
                    TypeKind::Extension(extension, ..) => self.collection(&extension.text)?,
                    TypeKind::Named(name) => {
                        let Some(record) = self.table.record_numbers.get(&name.text) else {
                            return wrong("a record");
                        };
                        let fields = &self.table.records[*record].fields;
                        object(Kind::Record(*record), fields.iter().map(|(_, ty)| ty.initial()).collect())
                    }
                    _ => return wrong("a new record"),
                }
            }
            ExprKind::NewExtension(ty) => match &ty.kind {
                TypeKind::Extension(extension, ..) => self.collection(&extension.text)?,
                _ => return wrong("a collection"),
            },
            ExprKind::NewArray(ty, lengths, open) => {
                let element = if *open > 0 { Ty::Reference } else { self.table.ty(ty)? };
                let mut numbers = Vec::new();
                for length in lengths {
                    match (Context { table: self.table, state, thread }).eval(length)? {
                        Value::Int(n) if n >= 0 => numbers.push(n as usize),
                        Value::Int(_) => return Err(Fault("index").into()),
                        _ => return wrong("a length"),
                    }
                }
                return Ok(Some(array(state, element, &numbers)));
            }
            _ => return Ok(None),
        };
        Ok(Some(Value::Ref(State::place(&mut state.objects, made))))
    }

    fn collection(&self, extension: &str) -> Result<Object, Stop> {
        match self.table.extensions.get(extension) {
            Some(Some(class)) => Ok(Object { kind: Kind::Collection(*class), cells: Vec::new(), lock: None }),
            _ => wrong("a collection"),
        }
    }

    /// Does the actions in order. `None` when the step is forbidden after all.
    fn actions(
        &self,
        state: &mut State,
        thread: usize,
        actions: &'a [quotient_bir::ast::Action],
        picker: &mut Picker,
        failed: &mut bool,
    ) -> Result<Option<Flow>, Stop> {
        for action in actions {
            match &action.kind {
                ActionKind::Assign(left, right) => {
                    if !self.assign(state, thread, left, right, picker)? {
                        return Ok(None);
                    }
                }
                ActionKind::Assert(e) => {
                    *failed |= !Context { table: self.table, state, thread }.truth(e)?;
                }
                ActionKind::Assume(e) => {
                    if !(Context { table: self.table, state, thread }).truth(e)? {
                        picker.made.truncate(picker.at);
                        return Ok(None);
                    }
                }
                ActionKind::Throw(e) => {
                    return match self.argument(state, thread, e)? {
                        Value::Ref(object) => Ok(Some(Flow::Throw(object))),
                        _ => Err(Fault("null").into()),
                    };
                }
                ActionKind::Exit => return Ok(Some(Flow::Exit)),
                ActionKind::Lock(op, e) => self.lock(state, thread, *op, e, picker)?,
                ActionKind::Start { result, thread: name, args } => {
                    let mut values = Vec::new();
                    for arg in args {
                        values.push(self.argument(state, thread, arg)?);
                    }
                    let Some(code) = self.table.code_numbers.get(&name.text) else {
                        return wrong("a thread");
                    };
                    let started = Thread { frames: vec![self.frame(*code, &values)?], waits: None };
                    let id = State::place(&mut state.threads, started);
                    if let Some(result) = result {
                        self.store(state, thread, result, Value::Tid(id))?;
                    }
                }
                ActionKind::Extension(used) => {
                    let mut values = Vec::new();
                    for arg in &used.args {
                        values.push(self.argument(state, thread, arg)?);
                    }
                    self.update(state, used, &values)?;
                }
            }
        }
        Ok(Some(Flow::Next))
    }

    fn store(&self, state: &mut State, thread: usize, left: &Expr, value: Value) -> Result<(), Stop> {
        let place = Context { table: self.table, state, thread }.place(left)?;
        match place {
            Place::Global(index) => state.globals[index] = self.table.globals[index].1.store(value)?,
            Place::Local(index) => {
                let frame = frame_of(state, thread)?;
                frame.locals[index] = self.table.codes[frame.code].locals[index].1.store(value)?;
            }
            Place::Cell(object, cell) => {
                let Some(object) = &mut state.objects[object] else { return wrong("an object") };
                let ty = match object.kind {
                    Kind::Record(r) => self.table.records[r].fields[cell].1,
                    Kind::Array(ty) => ty,
                    _ => Ty::Reference,
                };
                object.cells[cell] = ty.store(value)?;
            }
        }
        Ok(())
    }

    /// An assignment; `false` when there is nothing to choose from.
    fn assign(
        &self,
        state: &mut State,
        thread: usize,
        left: &Expr,
        right: &'a Expr,
        picker: &mut Picker,
    ) -> Result<bool, Stop> {
        let value = match &right.kind {
            ExprKind::Extension(used) => {
                let mut values = Vec::new();
                for arg in &used.args {
                    values.push(self.argument(state, thread, arg)?);
                }
                match self.special(state, used, &values, picker)? {
                    Some(None) => return Ok(false),
                    Some(Some(value)) => value,
                    None => self.update(state, used, &values)?,
                }
            }
            _ => self.argument(state, thread, right)?,
        };
        self.store(state, thread, left, value)?;
        Ok(true)
    }

    /// `create`, `any` and the operations of `Choose`: `None` for other operations, `Some(None)` for an empty choice.
    fn special(
        &self,
        state: &mut State,
        used: &ExtensionUse,
        values: &[Value],
        picker: &mut Picker,
    ) -> Result<Option<Option<Value>>, Stop> {
        let mut one_of = |options: Vec<Value>| {
            if options.is_empty() {
                picker.made.truncate(picker.at);
                picker.made.push((0, 0));
                return Some(None);
            }
            Some(Some(options[picker.pick(options.len())].clone()))
        };
        let class = self.table.extensions.get(&used.extension.text).copied().flatten();
        Ok(match (class, &*used.operation.text) {
            (Some(class), "create") => {
                let mut object = self.collection(&used.extension.text)?;
                let insert = if class == Class::Queue { "enqueue" } else { "add" };
                for value in values {
                    let added = collection::apply(class, &mut object, insert, std::slice::from_ref(value));
                    if added.is_err() {
                        return wrong("a new collection");
                    }
                }
                Some(Some(Value::Ref(State::place(&mut state.objects, object))))
            }
            (Some(class), "any") => {
                let Some(Value::Ref(object)) = values.first() else { return Err(Fault("null").into()) };
                let width = if class == Class::Map { 2 } else { 1 };
                let cells = state.objects[*object].as_ref().map(|o| o.cells.clone()).unwrap_or_default();
                one_of(cells.chunks(width).map(|row| row[0].clone()).collect())
            }
            (None, "of") => one_of(values.to_vec()),
            (None, "flag") => one_of(vec![Value::Bool(false), Value::Bool(true)]),
            (None, "range") => match values {
                [Value::Int(low), Value::Int(high)] => one_of((*low..=*high).map(Value::Int).collect()),
                _ => return wrong("a range"),
            },
            _ => None,
        })
    }

    fn update(&self, state: &mut State, used: &ExtensionUse, values: &[Value]) -> Result<Value, Stop> {
        let Some(Some(class)) = self.table.extensions.get(&used.extension.text) else {
            return wrong("an extension");
        };
        let Some(Value::Ref(object)) = values.first() else { return Err(Fault("null").into()) };
        let Some(object) = &mut state.objects[*object] else { return wrong("an object") };
        match collection::apply(*class, object, &used.operation.text, &values[1..]) {
            Ok(value) => Ok(value),
            Err(Some(fault)) => Err(fault.into()),
            Err(None) => wrong("an operation"),
        }
    }

    fn lock(
        &self,
        state: &mut State,
        thread: usize,
        op: LockOp,
        e: &Expr,
        picker: &mut Picker,
    ) -> Result<(), Stop> {
        let lock = Context { table: self.table, state, thread }.lock(e)?;
        let held = state.objects[lock].as_ref().and_then(|o| o.lock);
        let misuse = || Stop::Fault(Fault("lock"));
        let own = held.filter(|(holder, _)| *holder == thread).map(|(_, count)| count);
        let waits = thread_of(state, thread)?.waits;
        let now;
        let mut waiting = waits;
        match op {
            LockOp::Lock => match (held, own) {
                (None, _) => now = Some((thread, 1)),
                (_, Some(count)) => now = Some((thread, count + 1)),
                _ => return Err(misuse()),
            },
            LockOp::Unlock => match own.ok_or_else(misuse)? {
                1 => now = None,
                count => now = Some((thread, count - 1)),
            },
            LockOp::Wait => {
                let count = own.ok_or_else(misuse)?;
                if waits.is_some() {
                    return Err(misuse());
                }
                (now, waiting) = (None, Some((lock, count, false)));
            }
            LockOp::Unwait => match waits {
                Some((of, count, true)) if of == lock && held.is_none() => {
                    (now, waiting) = (Some((thread, count)), None);
                }
                _ => return Err(misuse()),
            },
            LockOp::Notify | LockOp::NotifyAll => {
                own.ok_or_else(misuse)?;
                let sleeping = |t: &Option<Thread>| {
                    t.as_ref().is_some_and(|t| t.waits.is_some_and(|(of, _, told)| of == lock && !told))
                };
                let mut all: Vec<usize> =
                    (0..state.threads.len()).filter(|t| sleeping(&state.threads[*t])).collect();
                if op == LockOp::Notify && !all.is_empty() {
                    all = vec![all[picker.pick(all.len())]];
                }
                for t in all {
                    if let Some((_, _, told)) = state.threads[t].as_mut().and_then(|t| t.waits.as_mut()) {
                        *told = true;
                    }
                }
                return Ok(());
            }
        }
        if let Some(object) = &mut state.objects[lock] {
            object.lock = now;
        }
        thread_of(state, thread)?.waits = waiting;
        Ok(())
    }
}

fn thread_of(state: &mut State, thread: usize) -> Result<&mut Thread, Stop> {
    match &mut state.threads[thread] {
        Some(thread) => Ok(thread),
        None => wrong("a thread"),
    }
}

fn frame_of(state: &mut State, thread: usize) -> Result<&mut Frame, Stop> {
    match thread_of(state, thread)?.frames.last_mut() {
        Some(frame) => Ok(frame),
        None => wrong("a frame"),
    }
}

/// A thread without frames has ended and waits for nothing.
fn end_if_done(state: &mut State, thread: usize) -> Result<(), Stop> {
    let thread = thread_of(state, thread)?;
    if thread.frames.is_empty() {
        thread.waits = None;
    }
    Ok(())
}

/// An array of arrays, as deep as there are lengths.
fn array(state: &mut State, element: Ty, lengths: &[usize]) -> Value {
    let Some((length, rest)) = lengths.split_first() else { return Value::Null };
    let (kind, cells) = match rest {
        [] => (Kind::Array(element), vec![element.initial(); *length]),
        rest => {
            let cells = (0..*length).map(|_| array(state, element, rest)).collect();
            (Kind::Array(Ty::Reference), cells)
        }
    };
    Value::Ref(State::place(&mut state.objects, Object { kind, cells, lock: None }))
}
