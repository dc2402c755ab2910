//! Loops over arrays that nobody can look into, as what they compute.
//!
//! `d_step { i = 0; do :: i < N -> if :: busy[i] -> n++ :: else fi; i++ :: else -> break od }` asks for all elements in an order that nobody
//! sees. The counter is a number, so that as it stands every element is pinned. Here such code is evaluated in part:
//!
//! 1. *Unrolled* ([`unroll`]): at locations that are passed in the step that leads there, a local whose value is known is that value, so each of
//!    these locations comes once for each value. Conditions on the counter fold, and `busy[i]` becomes `busy[0]`, `busy[1]`. This
//!    is constant propagation along paths and changes nothing that can be seen, if no thread can be stopped at such a location: where one may
//!    block, nothing is unrolled.
//! 2. *Conditions become values* ([`convert`]): two ways that come together again, of which one is taken if `e` holds, are one way that stores
//!    `e -> new : old`, where neither side can be a fault nor changes what `e` reads.
//! 3. *Composed* ([`compose`]): a value that is only read by the next store to the same cell is put in there. `n + 1` if `busy[0]`, then if
//!    `busy[1]`, is the sum `n + (busy[0] -> 1 : 0) + (busy[1] -> 1 : 0)`; `ok = 0` if `a`, then if `b`, is `ok = (a || b -> 0 : ok)`; `ok = ok && a[0]`, then
//!    `ok && a[1]`, a conjunction. Of these the graph knows that they have no order, as it does of independent stores.
//!
//! A value that is stored in between is wrapped to the type of its cell. For sums that makes no difference to what is stored in the end, nor for a
//! choice between values; elsewhere only truth values are composed, which every type holds.

use std::collections::{HashMap, HashSet};

use quotient_program::{BinaryOp, Type, UnaryOp};

use crate::fold::{binary, connective, is_truth, unary};
use crate::forgotten::drop_repeated;
use crate::ground::{
    Act, Exp, Loc, Op, Pat, Ref, Setting, Step, Thread, Var, each, each_in_act, each_in_op, may_fault, range,
};
use crate::join::{asked_for, drop_overwritten, join_thread};
use crate::specialise::{Specialised, keep_reachable, stores_may_fault};

/// Values of a counter.
const MOST_VALUES: usize = 40;

/// Locations that are made for one thread.
const MOST_LOCATIONS: usize = 1_000;

/// The threads with such loops as what they compute; none if there are no such loops.
pub(crate) fn computed(setting: &Setting<'_>, of: &Specialised) -> Option<Specialised> {
    let mut out: Option<Specialised> = None;
    let (mut asked, mut touched) = (None, None);
    for number in 0..of.threads.len() {
        let function = setting.threads[number];
        let thread = &of.threads[number];
        // Where threads are that have started others is not known to the last.
        let all_live = setting.live[function.0 as usize].iter().all(|live| *live);
        if thread.provided.is_some() || !all_live {
            continue;
        }
        let counters = counters(setting, thread, number as u32);
        if counters.is_empty() {
            continue;
        }
        let asked = asked.get_or_insert_with(|| asked_for(setting, of));
        if asked.all {
            return None;
        }
        let entry = setting.program.function(function).entry.0;
        let known = |location: u32| location == entry || asked.locations.contains(&(number as u32, location));
        let Some(mut thread) = unroll(setting, thread, &counters, known) else { continue };
        keep_reachable(&mut thread.locs, entry);
        drop_repeated(&mut thread, entry);
        let touched = touched.get_or_insert_with(|| touched_in(of));
        let idle = |var: &Var| match var {
            Var::Local(_, v) => !touched.contains(var) && !touched.contains(&Var::Remote(function.0, *v)),
            _ => false,
        };
        loop {
            join_thread(&mut thread, known);
            for step in thread.locs.iter_mut().flatten().flat_map(|l| &mut l.steps) {
                step.acts.retain(|act| !matches!(act, Act::Forget(var) if idle(var)));
                drop_overwritten(setting, &mut step.acts);
            }
            if !convert(setting, &mut thread, known) {
                break;
            }
        }
        for step in thread.locs.iter_mut().flatten().flat_map(|l| &mut l.steps) {
            compose(setting, &mut step.acts);
        }
        out.get_or_insert_with(|| of.clone()).threads[number] = thread;
    }
    out
}

/// Variables that code reads or writes. What is forgotten of others is not part of a state.
fn touched_in(of: &Specialised) -> HashSet<Var> {
    let mut out = HashSet::new();
    let bound = |patterns: &[Pat], out: &mut HashSet<Var>| {
        out.extend(patterns.iter().filter_map(|p| if let Pat::Bind(r) = p { Some(r.var) } else { None }));
    };
    let mut look = |e: &Exp| match e {
        Exp::Load(r) => {
            out.insert(r.var);
        }
        Exp::Poll(_, _, patterns) => bound(patterns, &mut out),
        _ => {}
    };
    of.properties.iter().for_each(|e| each(e, &mut look));
    let steps = || of.threads.iter().flat_map(|t| t.locs.iter().flatten()).flat_map(|l| &l.steps);
    of.threads.iter().flat_map(|t| &t.provided).for_each(|e| each(e, &mut look));
    for step in steps() {
        each_in_op(&step.op, &mut look);
        step.acts.iter().for_each(|act| each_in_act(act, &mut look));
    }
    for step in steps() {
        if let Op::Receive { patterns, .. } = &step.op {
            bound(patterns, &mut out);
        }
        out.extend(
            step.acts.iter().filter_map(|a| if let Act::Assign(r, _) = a { Some(r.var) } else { None }),
        );
    }
    out
}

/// Is a location passed by every thread that arrives, without a stop? Only if `steps` are what can be done there.
fn is_passed(loc: &Loc, kept: bool, steps: &[Step]) -> bool {
    let silent = loc.flags & Loc::LABELS == 0;
    let plain = steps.iter().all(|s| matches!(s.op, Op::Always | Op::When(_) | Op::Else) && s.rank == 0);
    let never_blocks = steps.iter().any(|s| matches!(s.op, Op::Always | Op::Else));
    silent && plain && never_blocks && (kept || loc.deterministic || loc.flags & 1 << 4 != 0)
}

/// A thread with its loops unrolled over counters whose values are known; none if there are none. `asked` says of which locations somebody
/// knows.
fn unroll(
    setting: &Setting<'_>,
    thread: &Thread,
    counters: &[Var],
    asked: impl Fn(u32) -> bool,
) -> Option<Thread> {
    let mut out: Option<Thread> = None;
    for counter in counters {
        let mut unrolled = out.as_ref().unwrap_or(thread).clone();
        if (Unroll { setting, counter: *counter, asked: &asked }).thread(&mut unrolled).is_some() {
            out = Some(unrolled);
        }
    }
    out
}

/// Locals by which arrays are indexed and which are set to a constant somewhere.
fn counters(setting: &Setting<'_>, thread: &Thread, number: u32) -> Vec<Var> {
    let (mut indices, mut set): (Vec<Var>, Vec<Var>) = (Vec::new(), Vec::new());
    let mut place = |r: &Ref| {
        for e in &r.index {
            each(e, &mut |e| match e {
                Exp::Load(i) if i.index.is_empty() && !indices.contains(&i.var) => indices.push(i.var),
                _ => {}
            });
        }
    };
    let steps = || thread.locs.iter().flatten().flat_map(|l| &l.steps);
    for step in steps() {
        each_in_op(&step.op, &mut |e| {
            if let Exp::Load(r) = e {
                place(r);
            }
        });
        for act in &step.acts {
            if let Act::Assign(r, e) = act {
                place(r);
                if matches!(e, Exp::Num(_)) {
                    set.push(r.var);
                }
            }
            each_in_act(act, &mut |e| {
                if let Exp::Load(r) = e {
                    place(r);
                }
            });
        }
    }
    let simple = |var: &Var| {
        let own = matches!(var, Var::Local(t, _) if *t == number);
        own && set.contains(var) && matches!(setting.variable(*var).ty, Type::Int(_))
    };
    indices.into_iter().filter(simple).collect()
}

struct Unroll<'a, F> {
    setting: &'a Setting<'a>,
    counter: Var,
    asked: &'a F,
}

impl<F: Fn(u32) -> bool> Unroll<'_, F> {
    /// None if nothing is gained, or it cannot be done; the thread is then of no use.
    fn thread(&self, thread: &mut Thread) -> Option<()> {
        let real = thread.locs.len();
        let mut made: HashMap<(u32, i32), u32> = HashMap::new();
        let mut open: Vec<(u32, i32)> = Vec::new();
        for from in 0..real {
            let Some(mut loc) = thread.locs[from].clone() else { continue };
            for step in &mut loc.steps {
                let known = self.after(&step.acts, None)?;
                self.lead(thread, step, known, &mut made, &mut open)?;
            }
            thread.locs[from] = Some(loc);
        }
        while let Some((at, value)) = open.pop() {
            // Both are there: they were made.
            let loc = thread.locs[at as usize].clone()?;
            let mut steps = self.steps(&loc, value)?;
            // Control was kept on the way here, or it is a location that is always passed.
            if !is_passed(&loc, true, &steps) {
                return None;
            }
            for step in &mut steps {
                let known = self.after(&step.acts, Some(value))?;
                let known = self.put_in(step, value).and(known);
                self.lead(thread, step, known, &mut made, &mut open)?;
            }
            let to = made[&(at, value)] as usize;
            thread.locs[to] = Some(Loc { steps, flags: loc.flags | Loc::MADE, ..loc });
        }
        (!made.is_empty()).then_some(())
    }

    /// Makes a step lead to where the counter has this value, if it is known and its target is passed.
    fn lead(
        &self,
        thread: &mut Thread,
        step: &mut Step,
        known: Option<i32>,
        made: &mut HashMap<(u32, i32), u32>,
        open: &mut Vec<(u32, i32)>,
    ) -> Option<()> {
        let (Some(to), Some(value)) = (step.target, known) else { return Some(()) };
        let plain = matches!(step.op, Op::Always | Op::When(_) | Op::Else);
        let inside = thread.locs.get(to as usize)?.as_ref().is_some_and(|next| {
            let kept = step.keeps || next.deterministic || next.flags & 1 << 4 != 0;
            kept && next.flags & Loc::LABELS == 0 && !next.steps.is_empty() && !(self.asked)(to)
        });
        if !plain || !inside || !self.reads(thread, to) {
            return Some(());
        }
        if let Some(known) = made.get(&(to, value)) {
            step.target = Some(*known);
            return Some(());
        }
        let values = made.keys().filter(|(at, _)| *at == to).count();
        if values >= MOST_VALUES || made.len() >= MOST_LOCATIONS {
            return None;
        }
        let new = thread.locs.len() as u32;
        thread.locs.push(None);
        made.insert((to, value), new);
        open.push((to, value));
        step.target = Some(new);
        Some(())
    }

    /// May the counter be read at a location that is passed, or after it, before it is set? Only then its value is of interest.
    fn reads(&self, thread: &Thread, from: u32) -> bool {
        let mut seen = vec![from];
        let mut next = 0;
        while next < seen.len() {
            let Some(loc) = thread.locs.get(seen[next] as usize).and_then(Option::as_ref) else {
                next += 1;
                continue;
            };
            next += 1;
            for step in &loc.steps {
                let mut read = false;
                let mut look = |e: &Exp| read |= matches!(e, Exp::Load(r) if r.var == self.counter);
                each_in_op(&step.op, &mut look);
                step.acts.iter().for_each(|act| each_in_act(act, &mut look));
                if read {
                    return true;
                }
                let set = step.acts.iter().any(|a| matches!(a, Act::Assign(r, _) if r.var == self.counter));
                let kept = step.target.filter(|to| {
                    let next = thread.locs.get(*to as usize).and_then(Option::as_ref);
                    next.is_some_and(|n| step.keeps || n.deterministic || n.flags & 1 << 4 != 0)
                });
                if let Some(to) = kept.filter(|to| !set && !seen.contains(to)) {
                    seen.push(to);
                }
            }
        }
        false
    }

    /// The steps of a location where the counter has a value: guards are decided where they can be.
    fn steps(&self, loc: &Loc, value: i32) -> Option<Vec<Step>> {
        let mut out: Vec<Step> = Vec::new();
        let mut taken = false;
        for step in &loc.steps {
            let mut step = step.clone();
            match &step.op {
                Op::When(e) => match self.with(e, value) {
                    Exp::Num(0) => continue,
                    Exp::Num(_) => {
                        step.op = Op::Always;
                        taken = true;
                    }
                    e => step.op = Op::When(e),
                },
                Op::Always => taken = true,
                Op::Else if taken => continue,
                Op::Else if out.is_empty() => step.op = Op::Always,
                Op::Else => {}
                _ => return None,
            }
            out.push(step);
            if loc.deterministic && taken {
                // The first that can be taken is.
                break;
            }
        }
        (!out.is_empty()).then_some(out)
    }

    /// The value of the counter after these actions, if it is known; none if that cannot be told.
    fn after(&self, acts: &[Act], before: Option<i32>) -> Option<Option<i32>> {
        let mut known = before;
        for act in acts {
            match act {
                Act::Assign(r, e) if r.var == self.counter => {
                    let e = match known {
                        Some(value) => self.with(e, value),
                        None => e.clone(),
                    };
                    let (low, high) = range(&r.ty);
                    known = match e {
                        // What does not fit is wrapped: not followed.
                        Exp::Num(value) if (low..=high).contains(&value) => Some(value),
                        _ => None,
                    };
                }
                Act::Forget(var) if *var == self.counter => known = None,
                _ => {}
            }
        }
        Some(known)
    }

    /// Puts the counter's value into the actions of a step; none if it is not known at their end.
    fn put_in(&self, step: &mut Step, value: i32) -> Option<()> {
        let mut known = Some(value);
        for act in &mut step.acts {
            let was = known;
            known = self.after(std::slice::from_ref(act), was).flatten();
            if let Some(value) = was {
                *act = match &*act {
                    Act::Assign(r, e) => {
                        let index = r.index.iter().map(|e| self.with(e, value)).collect();
                        Act::Assign(Ref { index, ..r.clone() }, self.with(e, value))
                    }
                    Act::Assert(e) => Act::Assert(self.with(e, value)),
                    Act::Evaluate(e) => Act::Evaluate(self.with(e, value)),
                    Act::Forget(var) => Act::Forget(*var),
                };
            }
        }
        known.map(|_| ())
    }

    fn with(&self, e: &Exp, value: i32) -> Exp {
        replace(self.setting, e, &|e| match e {
            Exp::Load(r) if r.var == self.counter => Some(Exp::Num(value)),
            _ => None,
        })
    }
}

/// An expression with parts of it replaced, folded again.
fn replace(setting: &Setting<'_>, e: &Exp, by: &dyn Fn(&Exp) -> Option<Exp>) -> Exp {
    if let Some(new) = by(e) {
        return new;
    }
    let go = |e: &Exp| replace(setting, e, by);
    let all = |list: &[Exp]| list.iter().map(go).collect::<Vec<_>>();
    match e {
        Exp::Load(r) => Exp::Load(Ref { index: all(&r.index), ..r.clone() }),
        Exp::Unary(op, a) => unary(*op, go(a)),
        Exp::Binary(op, a, b) => binary(*op, go(a), go(b)),
        Exp::All(list) => connective(setting, true, all(list)),
        Exp::Any(list) => connective(setting, false, all(list)),
        Exp::Count(list) => Exp::Count(all(list)),
        Exp::If(c, a, b) => match go(c) {
            Exp::Num(0) => go(b),
            Exp::Num(_) => go(a),
            c => Exp::If(Box::new(c), Box::new(go(a)), Box::new(go(b))),
        },
        Exp::Of(what, channel) => Exp::Of(what, Box::new(go(channel))),
        Exp::Poll(channel, any, patterns) => {
            let pattern = |p: &Pat| match p {
                Pat::Match(e) => Pat::Match(go(e)),
                Pat::Bind(r) => Pat::Bind(Ref { index: all(&r.index), ..r.clone() }),
                Pat::Ignore => Pat::Ignore,
            };
            Exp::Poll(Box::new(go(channel)), *any, patterns.iter().map(pattern).collect())
        }
        Exp::AtNamed(id, label) => Exp::AtNamed(Box::new(go(id)), *label),
        e => e.clone(),
    }
}

/// Makes one way of two that come together again at once; `true` if some were.
fn convert(setting: &Setting<'_>, thread: &mut Thread, asked: impl Fn(u32) -> bool) -> bool {
    // All steps that lead there keep control; the beginning is asked for.
    let mut kept = vec![true; thread.locs.len()];
    for step in thread.locs.iter().flatten().flat_map(|l| &l.steps) {
        if let Some(to) = step.target {
            kept[to as usize] &= step.keeps && matches!(step.op, Op::Always | Op::When(_) | Op::Else);
        }
    }
    let mut changed = false;
    for (at, loc) in thread.locs.iter_mut().enumerate() {
        let Some(loc) = loc else { continue };
        let [yes, no] = &loc.steps[..] else { continue };
        let (Op::When(e), Op::Else) = (&yes.op, &no.op) else { continue };
        let alike = yes.target == no.target && yes.keeps == no.keeps && yes.target.is_some();
        if !alike || !is_passed(loc, kept[at], &loc.steps) || asked(at as u32) || may_fault(setting, e) {
            continue;
        }
        let simple = |act: &Act| match act {
            Act::Assign(r, value) => {
                let mut touched = false;
                each(e, &mut |e| touched |= matches!(e, Exp::Load(read) if !apart(read, r)));
                r.constants().is_some() && !stores_may_fault(setting, r, value) && !touched
            }
            _ => false,
        };
        if !yes.acts.iter().chain(&no.acts).all(simple) {
            continue;
        }
        let choice = |act: &Act, holds: bool| match act {
            Act::Assign(r, value) => {
                let (new, old) = (Box::new(value.clone()), Box::new(Exp::Load(r.clone())));
                let (a, b) = if holds { (new, old) } else { (old, new) };
                Act::Assign(r.clone(), Exp::If(Box::new(truth(e)), a, b))
            }
            act => act.clone(),
        };
        let acts = yes.acts.iter().map(|a| choice(a, true)).chain(no.acts.iter().map(|a| choice(a, false)));
        let mut step = Step { op: Op::Always, acts: acts.collect(), ..yes.clone() };
        step.spans.extend(&no.spans);
        step.from.extend(&no.from);
        loc.steps = vec![step];
        changed = true;
    }
    changed
}

/// Are these certainly different cells? The second has constant indices.
fn apart(a: &Ref, b: &Ref) -> bool {
    let remote = matches!(a.var, Var::Remote(..));
    !remote && (a.var != b.var || a.fields != b.fields || a.constants().is_some() && a.index != b.index)
}

/// Only whether it holds.
fn truth(e: &Exp) -> Exp {
    if is_truth(e) {
        e.clone()
    } else {
        Exp::Binary(BinaryOp::Ne, Box::new(e.clone()), Box::new(Exp::Num(0)))
    }
}

/// Puts values into the next store to the same cell where nobody else reads them.
fn compose(setting: &Setting<'_>, acts: &mut Vec<Act>) {
    for act in acts.iter_mut() {
        if let Act::Assign(r, e) = act {
            *e = normal(r, e);
        }
    }
    let mut at = 0;
    while at < acts.len() {
        match into_next(setting, acts, at) {
            Some((next, act)) => {
                acts[next] = act;
                acts.remove(at);
            }
            None => at += 1,
        }
    }
}

/// The next store to the same cell, and what it is with this one put in.
fn into_next(setting: &Setting<'_>, acts: &[Act], at: usize) -> Option<(usize, Act)> {
    let Act::Assign(r, first) = &acts[at] else { return None };
    if r.constants().is_none() || stores_may_fault(setting, r, first) {
        return None;
    }
    let next = at + 1 + next_store(setting, &acts[at + 1..], r, first)?;
    let Act::Assign(_, second) = &acts[next] else { return None };
    if stores_may_fault(setting, r, second) {
        return None;
    }
    Some((next, Act::Assign(r.clone(), put_in(setting, r, first, second)?)))
}

/// The next store to a cell, if nobody reads the cell before, and nothing that its first value is computed from changes.
fn next_store(setting: &Setting<'_>, acts: &[Act], r: &Ref, first: &Exp) -> Option<usize> {
    let reads = |e: &Exp, var: Var| {
        let mut found = false;
        each(e, &mut |e| {
            found |= matches!(e, Exp::Load(read) if read.var == var || matches!(read.var, Var::Remote(..)));
        });
        found
    };
    for (at, act) in acts.iter().enumerate() {
        let Act::Assign(other, e) = act else { return None };
        if other == r {
            return Some(at);
        }
        let mut read = false;
        each_in_act(act, &mut |e| read |= matches!(e, Exp::Load(x) if !apart(x, r)));
        if read || !apart(other, r) || reads(first, other.var) || stores_may_fault(setting, other, e) {
            return None;
        }
    }
    None
}

/// A choice that adds is a sum: `(c -> r + k : r)` is `r + (c -> k : 0)`.
fn normal(r: &Ref, e: &Exp) -> Exp {
    let own = Exp::Load(r.clone());
    let Exp::If(c, a, b) = e else { return e.clone() };
    let added = |e: &Exp| match e {
        Exp::Binary(BinaryOp::Add, x, y) if **x == own => Some((**y).clone()),
        Exp::Binary(BinaryOp::Add, x, y) if **y == own => Some((**x).clone()),
        Exp::Binary(BinaryOp::Sub, x, y) if **x == own => Some(unary(UnaryOp::Negate, (**y).clone())),
        _ => None,
    };
    let choice = |a: Exp, b: Exp| Exp::If(c.clone(), Box::new(a), Box::new(b));
    match (added(a), added(b)) {
        (Some(more), _) if **b == own => binary(BinaryOp::Add, own.clone(), choice(more, Exp::Num(0))),
        (_, Some(more)) if **a == own => binary(BinaryOp::Add, own.clone(), choice(Exp::Num(0), more)),
        _ => e.clone(),
    }
}

/// The second value with the first in place of what is stored; none where wrapping in between might be noticed.
fn put_in(setting: &Setting<'_>, r: &Ref, first: &Exp, second: &Exp) -> Option<Exp> {
    let own = Exp::Load(r.clone());
    let reads = |e: &Exp| {
        let mut found = false;
        each(e, &mut |e| found |= matches!(e, Exp::Load(x) if !apart(x, r)));
        found
    };
    match second {
        e if *e == own => Some(first.clone()),
        e if !reads(e) => None,
        // Modulo the size of the cell.
        Exp::Binary(BinaryOp::Add, a, b) if **a == own && !reads(b) && matches!(r.ty, Type::Int(_)) => {
            let sum = matches!(first, Exp::Binary(BinaryOp::Add, ..) | Exp::Num(_));
            sum.then(|| Exp::Binary(BinaryOp::Add, Box::new(first.clone()), b.clone()))
        }
        // The same value in both cases: whether one of both conditions holds.
        Exp::If(c, a, b) if !reads(c) => match first {
            Exp::If(before, x, y) if **b == own && **x == **a && matches!(**a, Exp::Num(_)) => {
                let either = connective(setting, false, vec![(**before).clone(), (**c).clone()]);
                Some(Exp::If(Box::new(either), a.clone(), y.clone()))
            }
            Exp::If(before, x, y) if **a == own && **y == **b && matches!(**b, Exp::Num(_)) => {
                let both = connective(setting, true, vec![(**before).clone(), (**c).clone()]);
                Some(Exp::If(Box::new(both), x.clone(), b.clone()))
            }
            _ => None,
        },
        Exp::All(list) | Exp::Any(list) if is_truth(first) => {
            let and = matches!(second, Exp::All(_));
            let parts =
                list.iter().map(|e| if *e == own { first.clone() } else { e.clone() }).collect::<Vec<_>>();
            let alone = list.iter().filter(|e| reads(e)).count() == 1 && list.contains(&own);
            alone.then(|| connective(setting, and, parts))
        }
        _ => None,
    }
}
