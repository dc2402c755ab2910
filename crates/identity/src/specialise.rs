//! Each thread's own copy of its code.
//!
//! A cell that no live code writes, and of which one value is known, is that value for ever: a *constant*. So is a local whose
//! every write stores the same constant, where nobody reads it before the first of them and it has no value where it is dead. Constants
//! are not part of a state: whether one has been forgotten already shows where its thread stands.
//!
//! With `_pid` and the constants put in, options whose guard is 0 are dropped, and locations that the thread cannot reach any
//! more. This is exact: the thread takes the same steps in the same states. What is dropped besides are *dead stores*: to a
//! local that is dead after the step and that nothing in the step reads afterwards, where evaluating it cannot be a fault.

use std::collections::{BTreeSet, HashMap};

use quotient_program::{
    Action, Location, Operation, Pattern, Place, PrintfPart, Program, Root, Transformation, Type,
};
use quotient_source::Span;

use crate::fold::{Fold, Refused};
use crate::ground::{
    Act, Cell, Exp, Loc, Op, Ref, Setting, Step, Thread, Var, each_in_act, may_fault, outside,
};
use crate::nodes::Map;

/// The threads of a setting, and its constants.
#[derive(Clone)]
pub(crate) struct Specialised {
    pub(crate) threads: Vec<Thread>,
    pub(crate) constants: Map<Cell, i32>,
    pub(crate) properties: Vec<Exp>,
}

/// Why nothing may be renamed in any state of a program, whatever its threads are.
pub fn refused(program: &Program) -> Option<&'static str> {
    let features = &program.features;
    if features.last || features.priorities {
        return Some("the model uses _last or priorities");
    }
    if features.dynamic {
        return Some("the model has objects or functions");
    }
    program.observer.is_some().then_some("an observer sees the processes")
}

/// Specialises every thread; or says what is not understood, and where. Statements that are `blank` do nothing and can always be executed.
pub(crate) fn specialise(
    setting: &Setting<'_>,
    blank: &[Span],
) -> Result<Specialised, (Refused, Option<Span>)> {
    if let Some(why) = refused(setting.program) {
        return Err((why, None));
    }
    let constants = constants(setting, blank);
    let threads = (0..setting.threads.len() as u32)
        .map(|thread| thread_of(setting, &constants, thread, blank))
        .collect::<Result<Vec<Thread>, _>>()?;
    let fold = Fold { setting, constants: &constants, thread: None };
    let properties =
        setting.asked.properties.iter().map(|e| fold.expr(e, &[])).collect::<Result<Vec<Exp>, _>>();
    let properties = properties.map_err(|why| (why, None))?;
    Ok(Specialised { threads, constants, properties })
}

/// How live code writes to variables.
#[derive(Default)]
struct Writes<'a> {
    /// Variables, and the cells of them, that are written in any way.
    cells: BTreeSet<Cell>,
    whole: BTreeSet<Var>,
    /// Of locals without parts: what is assigned, or none where something else is.
    assigned: HashMap<Var, Vec<Option<&'a quotient_program::Expr>>>,
}

/// The cells that live code never changes, with their values.
fn constants(setting: &Setting<'_>, blank: &[Span]) -> Map<Cell, i32> {
    let mut writes = Writes::default();
    let mut forgotten: BTreeSet<Var> = BTreeSet::new();
    for thread in 0..setting.threads.len() as u32 {
        let all = live(setting, thread).flat_map(|(_, l)| &l.transformations);
        for t in all.filter(|t| !blank.contains(&t.span)) {
            if let Operation::Receive { patterns, .. } = &t.operation {
                for pattern in patterns {
                    if let Pattern::Bind(place) = pattern {
                        writes.add(setting, thread, place, None);
                    }
                }
            }
            for action in &t.actions {
                match action {
                    Action::Assign(place, e) => writes.add(setting, thread, place, Some(e)),
                    Action::Forget(v) => {
                        forgotten.insert(Var::Local(thread, v.0));
                    }
                    _ => {}
                }
            }
        }
    }
    let mut constants = Map::default();
    for cell in setting.cells() {
        let Some(before) = setting.before.cells.get(&cell) else { continue };
        let written = writes.cells.contains(&cell) || writes.whole.contains(&cell.0);
        // Forgotten without its death being known: it is zero from some time on.
        let fades = forgotten.contains(&cell.0) && setting.dead.is_empty();
        if !written && !before.any && before.known.len() == 1 && !fades && !setting.variable(cell.0).scratch {
            constants.extend(before.known.first().map(|value| (cell, *value)));
        }
    }
    same_everywhere(setting, &writes, &mut constants);
    constants
}

/// Adds locals whose every write stores the same constant and which are dead where their threads start.
fn same_everywhere(setting: &Setting<'_>, writes: &Writes<'_>, constants: &mut Map<Cell, i32>) {
    loop {
        let mut found = Vec::new();
        for (var, assigned) in &writes.assigned {
            let Var::Local(thread, v) = *var else { continue };
            let function = setting.threads[thread as usize];
            let entry = setting.program.function(function).entry.0 as usize;
            let dead = setting.dead.get(function.0 as usize).and_then(|d| d.get(entry));
            let unread = dead.is_some_and(|dead| dead.get(v as usize) == Some(&true));
            let all_live = setting.live[function.0 as usize].iter().all(|live| *live);
            if constants.contains_key(&(*var, 0)) || !unread || !all_live {
                continue;
            }
            let fold = Fold { setting, constants, thread: Some(thread) };
            let value = |e: &Option<&quotient_program::Expr>| match fold.expr((*e)?, &[]) {
                Ok(Exp::Num(value) | Exp::Channel(value)) => Some(value),
                _ => None,
            };
            let ty = &setting.variable(*var).ty;
            let (low, high) = crate::ground::range(ty);
            let first = assigned.first().and_then(value).filter(|v| (low..=high).contains(v));
            if let Some(first) = first
                && assigned.iter().all(|e| value(e) == Some(first))
            {
                found.push(((*var, 0), first));
            }
        }
        if found.is_empty() {
            return;
        }
        constants.extend(found);
    }
}

impl<'a> Writes<'a> {
    fn add(
        &mut self,
        setting: &Setting<'_>,
        thread: u32,
        place: &Place,
        value: Option<&'a quotient_program::Expr>,
    ) {
        let var = match &place.root {
            Root::Global(v) => Var::Global(v.0),
            Root::Local(v) => Var::Local(thread, v.0),
            // Nobody writes to another thread's variables; objects are refused.
            Root::Remote { .. } | Root::Object { .. } => return,
        };
        let none = Map::default();
        let fold = Fold { setting, constants: &none, thread: Some(thread) };
        let cell = fold.place(place, &[]).ok().and_then(|r| {
            let index = r.constants()?;
            setting.cell(r.var, &r.fields, &index)
        });
        match cell {
            Some(cell) => self.cells.insert(cell),
            None => self.whole.insert(var),
        };
        if matches!(var, Var::Local(..)) && place.path.is_empty() {
            self.assigned.entry(var).or_default().push(value);
        } else if matches!(var, Var::Local(..)) {
            self.assigned.entry(var).or_default().push(None);
        }
    }
}

/// The locations of a thread's function that can still be executed.
fn live<'a>(setting: &Setting<'a>, thread: u32) -> impl Iterator<Item = (usize, &'a Location)> {
    let function = setting.threads[thread as usize];
    let live = &setting.live[function.0 as usize];
    setting.program.function(function).locations.iter().enumerate().filter(|(at, _)| live[*at])
}

fn thread_of(
    setting: &Setting<'_>,
    constants: &Map<Cell, i32>,
    thread: u32,
    blank: &[Span],
) -> Result<Thread, (Refused, Option<Span>)> {
    let function = setting.program.function(setting.threads[thread as usize]);
    let fold = Fold { setting, constants, thread: Some(thread) };
    let mut locs: Vec<Option<Loc>> = vec![None; function.locations.len()];
    for (at, location) in live(setting, thread) {
        let mut steps = Vec::new();
        for (which, t) in location.transformations.iter().enumerate() {
            let from = (at as u32, which as u32);
            if blank.contains(&t.span) {
                steps.push(blanked(t, from));
                continue;
            }
            let step = step(setting, &fold, thread, t, from).map_err(|why| (why, Some(t.span)))?;
            steps.extend(step);
        }
        let flags = [
            location.end,
            location.accept,
            location.progress,
            location.deterministic,
            location.transient,
            location.committed,
        ];
        let flags = flags.iter().rev().fold(0, |bits, flag| bits << 1 | u32::from(*flag));
        locs[at] = Some(Loc { flags, deterministic: location.deterministic, steps });
    }
    if setting.live[setting.threads[thread as usize].0 as usize].iter().all(|live| *live) {
        keep_reachable(&mut locs, function.entry.0);
    }
    let ends = |s: &&Step| s.op == Op::Exit || s.target.is_none();
    let exits = locs.iter().flatten().flat_map(|l| &l.steps).filter(ends);
    let exits = exits.filter_map(|s| s.spans.first().copied()).find(|span| !blank.contains(span));
    let provided = function.provided.as_ref().map(|e| fold.expr(e, &[])).transpose();
    let provided = provided.map_err(|why| (why, Some(function.span)))?;
    Ok(Thread { locs, provided: provided.filter(|e| !matches!(e, Exp::Num(v) if *v != 0)), exits })
}

/// Drops the locations that cannot be reached. What a thread has done before was done with the same constants.
pub(crate) fn keep_reachable(locs: &mut [Option<Loc>], entry: u32) {
    let mut seen = vec![false; locs.len()];
    let mut stack = vec![entry as usize];
    while let Some(at) = stack.pop() {
        if !std::mem::replace(&mut seen[at], true) {
            let steps = locs[at].iter().flat_map(|l| &l.steps);
            stack.extend(steps.filter_map(|s| s.target).map(|to| to as usize));
        }
    }
    for (at, seen) in seen.iter().enumerate() {
        if !seen {
            locs[at] = None;
        }
    }
}

/// A step that does nothing but go on.
fn blanked(t: &Transformation, from: (u32, u32)) -> Step {
    let op = if matches!(t.operation, Operation::Exit) { Op::Exit } else { Op::Always };
    let target = t.target.map(|l| l.0);
    let (keeps, rank, spans) = (t.keeps_control, t.rank, vec![t.span]);
    Step { op, acts: Vec::new(), target, keeps, rank, spans, from: vec![from] }
}

/// A step with everything folded; none if it can never be taken.
fn step(
    setting: &Setting<'_>,
    fold: &Fold<'_>,
    thread: u32,
    t: &Transformation,
    from: (u32, u32),
) -> Result<Option<Step>, Refused> {
    let guarded =
        |guard: &Option<quotient_program::Expr>| guard.as_ref().map(|e| fold.expr(e, &[])).transpose();
    let op = match &t.operation {
        Operation::Always => Op::Always,
        Operation::Else => Op::Else,
        Operation::Enter => Op::Enter,
        Operation::Exit => Op::Exit,
        Operation::When(e) => match fold.expr(e, &[])? {
            Exp::Num(0) => return Ok(None),
            Exp::Num(_) => Op::Always,
            e => Op::When(e),
        },
        Operation::Send { guard, channel, sorted, args } => {
            let guard = guarded(guard)?;
            if guard == Some(Exp::Num(0)) {
                return Ok(None);
            }
            let args = args.iter().map(|a| fold.expr(a, &[])).collect::<Result<_, _>>()?;
            let guard = guard.filter(|g| !matches!(g, Exp::Num(_)));
            Op::Send { guard, channel: fold.expr(channel, &[])?, sorted: *sorted, args }
        }
        Operation::Receive { guard, channel, any, peek, patterns } => {
            let guard = guarded(guard)?;
            if guard == Some(Exp::Num(0)) {
                return Ok(None);
            }
            let guard = guard.filter(|g| !matches!(g, Exp::Num(_)));
            let patterns = fold.patterns(patterns, &[])?;
            Op::Receive { guard, channel: fold.expr(channel, &[])?, any: *any, peek: *peek, patterns }
        }
        Operation::Event { .. } => return Err("an observer sees the processes"),
    };
    let mut acts = Vec::new();
    for action in &t.actions {
        match action {
            Action::Assign(place, e) => {
                let (r, e) = (fold.place(place, &[])?, fold.expr(e, &[])?);
                if !is_constant(fold, &r) {
                    acts.push(Act::Assign(r, e));
                }
            }
            Action::Assert(e, _) => match fold.expr(e, &[])? {
                Exp::Num(v) if v != 0 => {}
                e => acts.push(Act::Assert(e)),
            },
            Action::Forget(v) => acts.push(Act::Forget(Var::Local(thread, v.0))),
            Action::Print(printf) => {
                for part in &printf.parts {
                    if let Some(e) = printed(part) {
                        let e = fold.expr(e, &[])?;
                        if may_fault(setting, &e) {
                            acts.push(Act::Evaluate(e));
                        }
                    }
                }
            }
            Action::Start { .. } => return Err("processes may still be started"),
            Action::SetPriority(..) => return Err("the model uses priorities"),
            _ => return Err("the model has objects or functions"),
        }
    }
    let dead = |var: Var| {
        let Var::Local(_, v) = var else { return false };
        let function = setting.threads[thread as usize].0 as usize;
        let at = t.target.and_then(|l| setting.dead.get(function)?.get(l.0 as usize)?.get(v as usize));
        at == Some(&true)
    };
    drop_dead_stores(setting, &mut acts, &dead);
    let target = t.target.map(|l| l.0);
    let (keeps, rank, spans) = (t.keeps_control, t.rank, vec![t.span]);
    Ok(Some(Step { op, acts, target, keeps, rank, spans, from: vec![from] }))
}

/// A store to a constant says nothing: it is that value already, or has none yet.
fn is_constant(fold: &Fold<'_>, r: &Ref) -> bool {
    let cell = r.constants().and_then(|index| fold.setting.cell(r.var, &r.fields, &index));
    cell.is_some_and(|cell| fold.constants.contains_key(&cell))
}

fn printed(part: &PrintfPart) -> Option<&quotient_program::Expr> {
    match part {
        PrintfPart::Text(_) => None,
        PrintfPart::Decimal(e)
        | PrintfPart::Unsigned(e)
        | PrintfPart::Hex(e)
        | PrintfPart::Octal(e)
        | PrintfPart::Character(e)
        | PrintfPart::Name(e, _) => Some(e),
    }
}

/// Drops stores to variables that are dead afterwards.
fn drop_dead_stores(setting: &Setting<'_>, acts: &mut Vec<Act>, dead: &dyn Fn(Var) -> bool) {
    let mut at = acts.len();
    while at > 0 {
        at -= 1;
        let Act::Assign(r, e) = &acts[at] else { continue };
        let read_later = acts[at + 1..].iter().any(|act| {
            let mut found = false;
            each_in_act(act, &mut |e| found |= matches!(e, Exp::Load(read) if read.var == r.var));
            found
        });
        if dead(r.var) && !read_later && !stores_may_fault(setting, r, e) {
            acts.remove(at);
        }
    }
}

/// May storing this there be a fault?
pub(crate) fn stores_may_fault(setting: &Setting<'_>, r: &Ref, e: &Exp) -> bool {
    may_fault(setting, e)
        || outside(setting, r)
        || r.index.iter().any(|e| may_fault(setting, e))
        || matches!(r.ty, Type::Range(range) if !range.wrap)
}
