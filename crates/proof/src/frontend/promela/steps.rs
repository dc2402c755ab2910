//! Rules from the control flow of processes.
//!
//! From every location where a process can be interrupted, each way to the next such location is one
//! rule: the conditions met on the way are evaluated over the values assigned on it. Where an atomic
//! sequence goes on, so does the way; where it can block, the way also ends there under the condition
//! that it does, and the place becomes one where the process can be interrupted (control is lost).

use std::collections::{BTreeMap, BTreeSet};

use quotient_program::{Action, Location, LocationId, Operation, Program, Transformation};
use quotient_source::{Diagnostic, SourceMap, Span};

use super::expression::{Evaluator, Fault, Result, range};
use super::layout::{Layout, Thread};
use super::{Translation, prelude};
use crate::frontend::symbolic::{Condition, Sum};
use crate::frontend::transitions::Transition;
use crate::language::ast::{Assertion, Claim, Formula, Item};

/// At most this many rules.
const MAX_RULES: usize = 20_000;

/// A way from a location.
#[derive(Clone)]
struct Way {
    from: u32,
    guard: Condition,
    state: Vec<Sum>,
    /// Locations passed on it.
    passed: Vec<u32>,
    /// The first statement.
    span: Span,
    /// After the `d_step` it is in, the process stays in control.
    keeps_after: bool,
}

struct Translator<'a> {
    program: &'a Program,
    threads: &'a [Thread],
    layout: &'a Layout,
    faults: Vec<Fault>,
    steps: Vec<Transition>,
    /// Locations still to start from, and all those ever found, of the thread at hand.
    agenda: Vec<u32>,
    stable: BTreeSet<u32>,
    wide: Option<Span>,
    unbounded: Option<(Span, String)>,
    ends: Option<Span>,
}

/// Translates a program to facts, rules and claims.
pub(super) fn translate(program: &Program, map: &SourceMap) -> Result<Translation> {
    whole_program(program)?;
    let start = prelude::start(program)?;
    let threads = start.threads;
    let moves: Vec<bool> = threads
        .iter()
        .map(|t| {
            let location = &program.function(t.function).locations[t.location as usize];
            location.transformations.iter().any(|t| !matches!(t.operation, Operation::Exit))
        })
        .collect();
    let layout = Layout::new(program, &threads, &moves)?;
    let mut translator = Translator {
        program,
        threads: &threads,
        layout: &layout,
        faults: Vec::new(),
        steps: Vec::new(),
        agenda: Vec::new(),
        stable: BTreeSet::new(),
        wide: None,
        unbounded: None,
        ends: None,
    };
    let mut legend = Vec::new();
    for thread in (0..threads.len()).filter(|&t| moves[t]) {
        translator.thread(thread)?;
        let function = program.function(threads[thread].function);
        for &location in &translator.stable {
            let place = &function.locations[location as usize];
            let text = place.transformations.first().map_or("", |t| t.text.as_str());
            legend.push(format!(
                "P{thread} = {location}: {} at {}, before `{text}`",
                function.name,
                map.file_line(place.span)
            ));
        }
    }
    let span = program.function(threads[0].function).span;
    let counters: Vec<i64> =
        threads.iter().zip(&moves).filter(|t| *t.1).map(|t| t.0.location.into()).collect();
    let values: Vec<Option<i64>> =
        start.globals.iter().chain(start.locals.iter().flatten()).map(|v| Some(*v)).collect();
    let mut items = vec![layout.columns.fact(&counters, &values, span)];
    items.extend(translator.steps.into_iter().map(|s| layout.columns.rule(s)));
    let claims = claims(&layout, translator.faults, map);
    let names = claims.iter().filter_map(|c| c.name.as_ref().map(|n| n.0.clone())).collect();
    items.extend(claims.into_iter().map(Item::Assertion));
    Ok(Translation {
        items,
        columns: layout.described.clone(),
        threads: threads.len(),
        claims: names,
        unbounded: translator.unbounded.or(translator
            .wide
            .map(|span| (span, "a condition computes with 32-bit integers, which may wrap around".into()))),
        ends: translator.ends,
        legend,
    })
}

/// What no single process can be asked about.
fn whole_program(program: &Program) -> Result<()> {
    let refuse = |span: Span, what: &str| {
        Err(Box::new(Diagnostic::error(span, format!("{what}: not supported by `prove`"))))
    };
    if program.initial.is_empty() {
        return Err(Box::new(Diagnostic::global("the model has no process that exists at the start")));
    }
    if let Some(observer) = &program.observer {
        return refuse(observer.function.span, "a `trace` or `notrace` declaration");
    }
    for function in &program.functions {
        if function.provided.is_some() {
            return refuse(function.span, "`provided`");
        }
        if program.features.priorities {
            return refuse(function.span, "priorities");
        }
    }
    Ok(())
}

/// One safety claim for each place where something can go wrong.
fn claims(layout: &Layout, faults: Vec<Fault>, map: &SourceMap) -> Vec<Assertion> {
    let mut sites: BTreeMap<(u32, u32, &'static str), (Span, Vec<Condition>)> = BTreeMap::new();
    for fault in faults {
        let line = map.position(fault.span).line;
        let site = sites.entry((fault.span.file.0, line, fault.kind)).or_insert((fault.span, Vec::new()));
        if !site.1.contains(&fault.condition) {
            site.1.push(fault.condition);
        }
    }
    let several_files = sites.keys().map(|s| s.0).collect::<BTreeSet<_>>().len() > 1;
    let name = |&(file, line, kind): &(u32, u32, &str)| {
        if several_files { format!("{kind}_{file}_{line}") } else { format!("{kind}_{line}") }
    };
    sites
        .iter()
        .map(|(site, (span, list))| {
            let bad = list.iter().map(|c| c.formula(&layout.columns, *span)).collect();
            Assertion {
                assumed: false,
                nonincreasing: false,
                name: Some((name(site), *span)),
                left: layout.columns.state(*span),
                constraint: Formula::Or(bad),
                claim: Claim::Constraint(Formula::Truth(false)),
                using: Vec::new(),
                span: *span,
            }
        })
        .collect()
}

impl Translator<'_> {
    fn thread(&mut self, thread: usize) -> Result<()> {
        self.agenda = vec![self.threads[thread].location];
        self.stable = self.agenda.iter().copied().collect();
        while let Some(from) = self.agenda.pop() {
            let state = (0..self.layout.columns.variables.len()).map(Sum::column).collect();
            let location = &self.program.function(self.threads[thread].function).locations[from as usize];
            let way = Way {
                from,
                guard: Condition::Truth(true),
                state,
                passed: Vec::new(),
                span: location.span,
                keeps_after: false,
            };
            self.ways(thread, from, way)?;
        }
        Ok(())
    }

    fn location(&self, thread: usize, at: u32) -> &'_ Location {
        &self.program.function(self.threads[thread].function).locations[at as usize]
    }

    fn evaluator<'e>(&'e mut self, thread: usize, at: u32, way: &'e Way, span: Span) -> Evaluator<'e> {
        let counter = self.layout.counter[thread].unwrap_or_default();
        let assumed = Condition::At(counter, way.from.into()).and(way.guard.clone());
        Evaluator {
            program: self.program,
            threads: self.threads,
            layout: self.layout,
            thread,
            location: at,
            state: &way.state,
            span,
            faults: &mut self.faults,
            wide: &mut self.wide,
            compared: false,
            assumed,
        }
    }

    /// When each transformation of a location can be taken, without what hides it.
    fn ready(&mut self, thread: usize, at: u32, way: &Way) -> Result<Vec<Condition>> {
        let list: Vec<Transformation> = self.location(thread, at).transformations.clone();
        let mut ready = Vec::new();
        for t in &list {
            let condition = match &t.operation {
                Operation::Always => Condition::Truth(true),
                Operation::When(e) => self.evaluator(thread, at, way, t.span).condition(e)?,
                Operation::Else => {
                    ready.iter().cloned().fold(Condition::Truth(false), Condition::or).negated()
                }
                Operation::Enter => {
                    let inner = t.target.map_or(at, |t| t.0);
                    let first = self.ready(thread, inner, way)?;
                    first.into_iter().fold(Condition::Truth(false), Condition::or)
                }
                Operation::Exit => {
                    self.ends.get_or_insert(t.span);
                    Condition::Truth(false)
                }
                _ => return self.evaluator(thread, at, way, t.span).refuse("a channel"),
            };
            ready.push(condition);
        }
        Ok(ready)
    }

    /// Every way on from `at`.
    fn ways(&mut self, thread: usize, at: u32, way: Way) -> Result<()> {
        let location = self.location(thread, at);
        let (list, deterministic) = (location.transformations.clone(), location.deterministic);
        let ready = self.ready(thread, at, &way)?;
        self.continues(&way, list.first().map_or(way.span, |t| t.span));
        for (index, t) in list.iter().enumerate() {
            let mut guard = way.guard.clone().and(ready[index].clone());
            for (other, r) in list.iter().zip(&ready).take(index) {
                if other.rank < t.rank || deterministic {
                    guard = guard.and(r.clone().negated());
                }
            }
            if guard == Condition::Truth(false) {
                continue;
            }
            let mut next = Way { guard, ..way.clone() };
            if next.passed.is_empty() {
                next.span = t.span;
            }
            if next.passed.contains(&at) {
                return self.evaluator(thread, at, &way, t.span).refuse("a loop inside an atomic sequence");
            }
            next.passed.push(at);
            if matches!(t.operation, Operation::Enter) {
                next.keeps_after = t.keeps_control;
            }
            for done in self.actions(thread, at, t, next)? {
                self.arrive(thread, t, done)?;
            }
        }
        Ok(())
    }

    /// The way after the actions of a transformation, once for each case.
    fn actions(&mut self, thread: usize, at: u32, t: &Transformation, way: Way) -> Result<Vec<Way>> {
        let mut ways = vec![way];
        for action in &t.actions {
            let mut after = Vec::new();
            for way in ways {
                match action {
                    Action::Assign(place, e) => {
                        let mut evaluator = self.evaluator(thread, at, &way, t.span);
                        let (places, values) = (evaluator.place(place)?, evaluator.value(e)?);
                        for (p, column) in &places {
                            for (v, sum) in &values {
                                let guard = way.guard.clone().and(p.clone()).and(v.clone());
                                if guard == Condition::Truth(false) {
                                    continue;
                                }
                                let mut next = Way { guard, ..way.clone() };
                                // What is stored in a variable of its type is known for constants.
                                next.state[*column] = match sum.as_constant() {
                                    Some(c) => Sum::constant(self.layout.ty(*column).wrap(c as i32).into()),
                                    None => sum.clone(),
                                };
                                after.push(next);
                            }
                        }
                    }
                    Action::Assert(e, span) => {
                        let mut evaluator = self.evaluator(thread, at, &way, *span);
                        let holds = evaluator.condition(e)?;
                        evaluator.fault("assert", holds.negated());
                        self.continues(&way, *span);
                        after.push(way);
                    }
                    Action::Print(_) => after.push(way),
                    Action::Forget(id) => {
                        let column = self.layout.local(thread, *id);
                        let mut next = way;
                        next.state[column] = Sum::constant(0);
                        after.push(next);
                    }
                    Action::Start { .. } => {
                        return self.evaluator(thread, at, &way, t.span).refuse("starting a process later");
                    }
                    _ => return self.evaluator(thread, at, &way, t.span).refuse("this statement"),
                }
            }
            ways = after;
        }
        Ok(ways)
    }

    /// Where a way goes after a transformation: on, or to its end.
    fn arrive(&mut self, thread: usize, t: &Transformation, way: Way) -> Result<()> {
        let Some(LocationId(target)) = t.target else {
            self.ends.get_or_insert(t.span);
            return Ok(());
        };
        let inside = self.location(thread, target).deterministic;
        let leaves_d_step =
            way.passed.last().is_some_and(|&last| self.location(thread, last).deterministic) && !inside;
        if inside {
            // A d_step that blocks after its first statement is an error.
            if !matches!(t.operation, Operation::Enter) {
                let ready = self.ready(thread, target, &way)?;
                let any = ready.into_iter().fold(Condition::Truth(false), Condition::or);
                self.evaluator(thread, target, &way, t.span).fault("d_step", any.negated());
            }
            return self.ways(thread, target, way);
        }
        if t.keeps_control || (leaves_d_step && way.keeps_after) {
            let ready = self.ready(thread, target, &way)?;
            let blocked = ready.into_iter().fold(Condition::Truth(false), Condition::or).negated();
            let stays = way.guard.clone().and(blocked);
            if stays != Condition::Truth(false) {
                self.emit(thread, target, Way { guard: stays, ..way.clone() })?;
            }
            return self.ways(thread, target, way);
        }
        self.emit(thread, target, way)
    }

    fn emit(&mut self, thread: usize, target: u32, way: Way) -> Result<()> {
        if self.steps.len() >= MAX_RULES {
            let message = format!("the model has more than {MAX_RULES} steps");
            return Err(Box::new(Diagnostic::error(way.span, message)));
        }
        if self.stable.insert(target) {
            self.agenda.push(target);
        }
        let columns = &self.layout.columns;
        let changed = way.state.iter().enumerate().filter(|(at, sum)| sum.as_column() != Some(*at));
        self.steps.push(Transition {
            span: way.span,
            process: self.layout.counter[thread].unwrap_or_default(),
            from: way.from.into(),
            to: target.into(),
            guard: way.guard.formula(columns, way.span),
            assigned: changed.map(|(at, sum)| (at, sum.term(columns, way.span))).collect(),
        });
        Ok(())
    }

    /// Notes when a step goes on after an assignment that may wrap around: what follows may read it.
    fn continues(&mut self, way: &Way, span: Span) {
        for (at, sum) in way.state.iter().enumerate() {
            if sum.as_column() == Some(at) {
                continue;
            }
            let (low, high) = range(self.layout.ty(at));
            let (least, most) = sum.bounds(&|c| range(self.layout.ty(c)));
            if least < i128::from(low) || most > i128::from(high) {
                let name = &self.layout.columns.variables[at];
                let message = format!("a step goes on after an assignment in which {name} may wrap around");
                self.unbounded.get_or_insert((span, message));
            }
        }
    }
}
