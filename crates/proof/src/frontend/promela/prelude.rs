//! The first state: initial values, and the atomic sequence of `init` that starts the processes.
//!
//! A model is static when all its processes exist from the start, or are started by `init` in one
//! atomic sequence before anything else can happen. That sequence is executed here, and the state
//! after it is the fact the rules start from: nobody sees the states inside it.

use quotient_program::{Action, FunctionId, Init, Operation, Program, Type, Variable};
use quotient_source::{Diagnostic, Span};

use super::expression::{Evaluator, Result};
use super::layout::{Layout, Thread};
use crate::frontend::symbolic::{Condition, Sum};

/// At most this many steps before the first state.
const MAX_STEPS: usize = 100_000;

/// The processes and the values of all variables in the first state.
pub(super) struct Start {
    pub(super) threads: Vec<Thread>,
    /// Scalars of the globals.
    pub(super) globals: Vec<i64>,
    /// Scalars of each thread's locals.
    pub(super) locals: Vec<Vec<i64>>,
}

fn starts(action: &Action) -> bool {
    matches!(action, Action::Start { .. })
}

fn not_static<T>(span: Span, message: &str) -> Result<T> {
    Err(Box::new(
        Diagnostic::error(span, format!("{message}: not supported by `prove`")).help(
            "start all processes with `active`, or in one `atomic` sequence at the beginning of `init`",
        ),
    ))
}

/// Initial values of a variable's scalars.
fn initial(
    program: &Program,
    variable: &Variable,
    evaluate: &mut dyn FnMut(&quotient_program::Expr) -> Result<i64>,
) -> Result<Vec<i64>> {
    fn count(program: &Program, ty: &Type) -> usize {
        program.scalars(ty)
    }
    fn default(
        program: &Program,
        ty: &Type,
        evaluate: &mut dyn FnMut(&quotient_program::Expr) -> Result<i64>,
    ) -> Result<Vec<i64>> {
        Ok(match ty {
            Type::Structure(id) => {
                let mut out = Vec::new();
                for field in &program.structure(*id).fields {
                    out.extend(initial(program, field, evaluate)?);
                }
                out
            }
            Type::Array(element, length) => {
                let one = default(program, element, evaluate)?;
                one.repeat(*length as usize)
            }
            other => vec![0; count(program, other)],
        })
    }
    let mut values = match &variable.init {
        Init::Fill(e) => vec![evaluate(e)?; count(program, &variable.ty)],
        Init::List(list) => list.iter().map(&mut *evaluate).collect::<Result<_>>()?,
        Init::Default => default(program, &variable.ty, evaluate)?,
        // The layout has refused channels already.
        Init::Channels(_) => vec![0; count(program, &variable.ty)],
    };
    values.resize(count(program, &variable.ty), 0);
    fn wrap(program: &Program, ty: &Type, values: &mut [i64]) {
        match ty {
            Type::Int(int) => {
                for v in values {
                    *v = i64::from(int.wrap(*v as i32));
                }
            }
            Type::Array(element, _) => {
                let size = program.scalars(element).max(1);
                values.chunks_mut(size).for_each(|part| wrap(program, element, part));
            }
            Type::Structure(id) => {
                let mut rest = values;
                for field in &program.structure(*id).fields {
                    let (part, more) = rest.split_at_mut(program.scalars(&field.ty));
                    wrap(program, &field.ty, part);
                    rest = more;
                }
            }
            _ => {}
        }
    }
    wrap(program, &variable.ty, &mut values);
    Ok(values)
}

/// Values of the locals of a new thread.
fn new_locals(program: &Program, function: FunctionId, arguments: &[i64]) -> Result<Vec<i64>> {
    let function = program.function(function);
    let mut out = Vec::new();
    let mut arguments = arguments.iter();
    for (at, variable) in function.locals.iter().enumerate() {
        if at < function.params {
            let mut types = Vec::new();
            program.scalar_types(&variable.ty, &mut types);
            for ty in types {
                let value = arguments.next().copied().unwrap_or(0);
                out.push(match ty {
                    Type::Int(int) => i64::from(int.wrap(value as i32)),
                    _ => value,
                });
            }
            continue;
        }
        out.extend(initial(program, variable, &mut |e| match e.constant() {
            Some(value) => Ok(value.into()),
            None => not_static(variable.span, "an initial value that is not a constant"),
        })?);
    }
    Ok(out)
}

/// Finds the first state.
pub(super) fn start(program: &Program) -> Result<Start> {
    let mut globals = Vec::new();
    for variable in &program.globals {
        globals.extend(initial(program, variable, &mut |e| match e.constant() {
            Some(value) => Ok(value.into()),
            None => not_static(variable.span, "an initial value that is not a constant"),
        })?);
    }
    let mut start = Start { threads: Vec::new(), globals, locals: Vec::new() };
    for &function in &program.initial {
        let entry = program.function(function).entry.0;
        start.threads.push(Thread { function, location: entry });
        start.locals.push(new_locals(program, function, &[])?);
    }
    let starter = |f: &FunctionId| {
        let body = &program.function(*f).locations;
        body.iter().flat_map(|l| &l.transformations).any(|t| t.actions.iter().any(starts))
    };
    match (program.initial.iter().position(starter), program.initial.len()) {
        (None, _) => {}
        (Some(0), 1) => run_init(program, &mut start)?,
        (Some(at), _) => {
            let span = program.function(program.initial[at]).span;
            return not_static(span, "a process that starts others while some exist already");
        }
    }
    Ok(start)
}

/// Executes the atomic sequence that `init` begins with.
fn run_init(program: &Program, start: &mut Start) -> Result<()> {
    let first = start.threads.clone();
    let layout = Layout::new(program, &first, &[true])?;
    let mut state: Vec<Sum> =
        start.globals.iter().chain(&start.locals[0]).map(|v| Sum::constant(*v)).collect();
    let function = program.function(first[0].function);
    let mut at = function.entry;
    for _ in 0..MAX_STEPS {
        let location = &function.locations[at.0 as usize];
        let span = location.span;
        let mut faults = Vec::new();
        let mut chosen = None;
        for t in &location.transformations {
            let mut evaluator = Evaluator {
                program,
                threads: &first,
                layout: &layout,
                thread: 0,
                location: at.0,
                state: &state,
                span: t.span,
                faults: &mut faults,
                wide: &mut None,
                compared: false,
                assumed: Condition::Truth(true),
            };
            let ready = match &t.operation {
                Operation::Always | Operation::Enter => Condition::Truth(true),
                Operation::When(e) => evaluator.condition(e)?,
                Operation::Else => Condition::Truth(chosen.is_none()),
                Operation::Exit => Condition::Truth(false),
                _ => return evaluator.refuse("a channel"),
            };
            match ready {
                Condition::Truth(true) if chosen.is_some() => {
                    return not_static(t.span, "a choice before all processes are started");
                }
                Condition::Truth(true) => chosen = Some(t),
                Condition::Truth(false) => {}
                _ => {
                    return not_static(
                        t.span,
                        "a condition that is not fixed before all processes are started",
                    );
                }
            }
        }
        let Some(t) = chosen else { return not_static(span, "waiting before all processes are started") };
        for action in &t.actions {
            let mut evaluator = Evaluator {
                program,
                threads: &first,
                layout: &layout,
                thread: 0,
                location: at.0,
                state: &state,
                span: t.span,
                faults: &mut faults,
                wide: &mut None,
                compared: false,
                assumed: Condition::Truth(true),
            };
            let mut constant = |e: &quotient_program::Expr| -> Result<i64> {
                match &evaluator.value(e)?[..] {
                    [(Condition::Truth(true), sum)] if sum.as_constant().is_some() => {
                        Ok(sum.as_constant().unwrap_or_default())
                    }
                    _ => not_static(t.span, "a value that is not fixed"),
                }
            };
            let (place, value) = match action {
                Action::Assign(place, e) => (Some(place), constant(e)?),
                Action::Start { function, args, result, .. } => {
                    let arguments = args.iter().map(constant).collect::<Result<Vec<_>>>()?;
                    start.locals.push(new_locals(program, *function, &arguments)?);
                    let location = program.function(*function).entry.0;
                    start.threads.push(Thread { function: *function, location });
                    (result.as_ref(), start.threads.len() as i64 - 1)
                }
                Action::Print(_) => continue,
                _ => return not_static(t.span, "this statement before all processes are started"),
            };
            let Some(place) = place else { continue };
            match evaluator.place(place)?[..] {
                [(Condition::Truth(true), column)] => {
                    state[column] = Sum::constant(layout.ty(column).wrap(value as i32).into());
                }
                _ => return not_static(t.span, "an index that is not fixed"),
            }
        }
        if let Some(fault) = faults.first() {
            return not_static(fault.span, "an index out of bounds before all processes are started");
        }
        let Some(target) = t.target else { return not_static(t.span, "an `init` that ends at once") };
        at = target;
        let inside = t.keeps_control || function.locations[at.0 as usize].deterministic;
        if !inside {
            break;
        }
    }
    let values: Vec<i64> = state.iter().map(|s| s.as_constant().unwrap_or_default()).collect();
    let (globals, locals) = values.split_at(start.globals.len());
    start.globals = globals.to_vec();
    start.locals[0] = locals.to_vec();
    start.threads[0].location = at.0;
    Ok(())
}
