//! Which threads may change places where names are opaque.
//!
//! Threads may be renamed when the program names them by opaque ids alone ([`quotient_program::Type::Thread`]). Where Promela's
//! numbers are used (`_pid`, results of `run`, remote references, priorities) all threads are pinned. Promela's rule that only the
//! youngest process can end depends on the order of the threads: a thread whose function can end that way is pinned, and the
//! others change places among themselves, so that the rule sees no difference.
//!
//! A claim follows references like the program, and asks of threads through quantifiers, or names one, which pins them all.

use quotient_program::visit::{self, Visitor};
use quotient_program::{Action, Expr, Function, Operation, Place, Program, Root, Type};
use quotient_source::Span;

/// Why something keeps its place, and where the program says so.
pub type Limit = (&'static str, Option<Span>);

/// What keeps its place.
#[derive(Clone, Debug)]
pub(super) struct Pins {
    /// Threads running this function keep their place.
    pub(super) functions: Vec<bool>,
    /// Why, and where the program says so: the first reason found.
    pub(super) limit: Option<Limit>,
    /// What may be renamed, in words.
    pub(super) found: String,
}

impl Pins {
    pub(super) fn new(program: &Program) -> Pins {
        let threads_run = threads_run(program);
        let all = pins_all(program);
        let exits: Vec<Option<Span>> = program.functions.iter().map(exit).collect();
        let ends = threads_run.iter().find_map(|f| exits[*f]);
        let limit =
            all.or(ends.map(|span| ("only the youngest process can end, as this one does", Some(span))));
        let functions: Vec<bool> = exits.iter().map(|exit| all.is_some() || exit.is_some()).collect();
        // A function that one thread alone runs from the beginning on has nobody to change places with.
        let runs_alone = |f: usize| program.initial.iter().filter(|i| i.0 as usize == f).count() == 1;
        let free = threads_run.iter().filter(|f| !functions[**f]);
        let names: Vec<&str> = free
            .filter(|f| !runs_alone(**f) || starts(program).any(|started| started == **f))
            .map(|f| program.functions[*f].name.as_str())
            .collect();
        let found = match &names[..] {
            [] => "objects".to_owned(),
            names => format!("objects; threads of {}", names.join(", ")),
        };
        Pins { functions, limit, found }
    }
}

/// Does a claim name a thread otherwise than by a quantifier?
struct Named(bool);

impl Visitor for Named {
    fn expr(&mut self, e: &Expr) {
        self.0 |= match e {
            Expr::At { thread, .. } | Expr::Enabled(thread) | Expr::LocationOf(thread) => !is_bound(thread),
            Expr::Oldest(_) | Expr::SelfId | Expr::SelfThread | Expr::Last | Expr::Priority(_) => true,
            _ => false,
        };
    }

    fn place(&mut self, place: &Place, _: visit::Use) {
        self.0 |= matches!(&place.root, Root::Remote { thread, .. } if !is_bound(thread));
    }
}

fn is_bound(thread: &Expr) -> bool {
    match thread {
        Expr::Spanned(inner, _) => is_bound(inner),
        other => matches!(other, Expr::Bound(_)),
    }
}

/// Are threads named by numbers?
struct Numbers(bool);

impl Visitor for Numbers {
    fn expr(&mut self, e: &Expr) {
        self.0 |= matches!(e, Expr::SelfId | Expr::Last | Expr::At { .. } | Expr::Priority(_));
    }

    fn place(&mut self, place: &Place, _: visit::Use) {
        self.0 |= matches!(place.root, Root::Remote { .. });
    }
}

/// Why all threads keep their place, if they do.
fn pins_all(program: &Program) -> Option<Limit> {
    for function in &program.functions {
        let mut provided = Numbers(false);
        function.provided.iter().for_each(|e| visit::expr(e, &mut provided));
        if provided.0 {
            return Some(("a process is named by its number in a `provided` clause", None));
        }
        for t in function.locations.iter().flat_map(|l| &l.transformations) {
            let mut numbers = Numbers(false);
            visit::transformation(t, &mut numbers);
            if numbers.0 {
                return Some(("a process is named by its number here", Some(t.span)));
            }
            let keeps = |action: &Action| matches!(action, Action::Start { result: Some(place), .. } if place.ty != Type::Thread);
            if t.actions.iter().any(keeps) {
                return Some(("the number of a new process is kept here", Some(t.span)));
            }
        }
    }
    if program.features.last {
        return Some(("`_last` is the number of a process", None));
    }
    if program.features.priorities {
        return Some(("processes have priorities", None));
    }
    if program.observer.is_some() {
        return Some(("a trace declaration watches the channels", None));
    }
    let claim = program.claim.as_ref()?;
    claim.function.locations.iter().flat_map(|l| &l.transformations).find_map(|t| {
        let mut named = Named(false);
        visit::transformation(t, &mut named);
        named.0.then_some(("the property names a process", Some(t.span)))
    })
}

/// The functions that threads are started with by others.
fn starts(program: &Program) -> impl Iterator<Item = usize> + '_ {
    let actions = program.functions.iter().flat_map(|f| &f.locations).flat_map(|l| &l.transformations);
    actions.flat_map(|t| &t.actions).filter_map(|a| match a {
        Action::Start { function, .. } => Some(function.0 as usize),
        _ => None,
    })
}

/// The functions that threads are started with.
fn threads_run(program: &Program) -> Vec<usize> {
    let mut all: Vec<usize> = starts(program).chain(program.initial.iter().map(|f| f.0 as usize)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Where a thread with this body waits to be the youngest, if it can come to that.
fn exit(function: &Function) -> Option<Span> {
    let mut seen = vec![false; function.locations.len()];
    let mut waiting = vec![function.entry.0 as usize];
    while let Some(location) = waiting.pop() {
        if std::mem::replace(&mut seen[location], true) {
            continue;
        }
        for t in &function.locations[location].transformations {
            if matches!(t.operation, Operation::Exit) {
                return Some(t.span);
            }
            waiting.extend(t.target.map(|l| l.0 as usize));
        }
        let caught = function.catches.iter().filter(|c| c.locations.iter().any(|l| l.0 as usize == location));
        waiting.extend(caught.map(|c| c.target.0 as usize));
    }
    None
}
