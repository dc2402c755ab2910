//! From what the code does to the renamings it cannot notice.
//!
//! A class is a class of *identities* when every use of its values can be tabulated; its values are then *points*. A family
//! of permutations, one per class, is a symmetry of the program when it
//!
//! - leaves the constants that live code mentions alone,
//! - takes a thread to a thread that runs the same function, and an index inside an array to one inside,
//! - commutes with every expression `f(x)` whose value becomes a point again: the edge `x -> f(x)`,
//! - preserves every other value computed from one point (a colour) or two (a relation).
//!
//! These are the automorphisms of a graph over the points, which [`quotient_symmetry::group::Group`] finds. Why that suffices: let `p` be such a family,
//! acting on states by moving threads, cells of arrays indexed by points, and channels made for them, and by renaming the
//! points that are stored. By induction over expressions, an expression has, in `p(s)`, the value that `p` makes of its value
//! in `s`: a copy by definition; a table by the conditions above; anything else contains no points (classes that mix points
//! and numbers are not classes of identities). Hence a step of thread `t` from `s` to `s'` is a step of thread `p(t)` from
//! `p(s)` to `p(s')`, with the same faults. Only code that can still be executed has to be looked at for that; other code
//! matters for the values it may have left.

use std::collections::{BTreeMap, BTreeSet};

use quotient_program::FunctionId;
use quotient_source::Span;
use quotient_symmetry::graph::Graph;

use crate::classes::{CHANNEL, Class, ClassId, Shape, THREAD};
use crate::collect::{Atom, Collected, Sink};
use crate::{Code, Limit};

/// Values of a class beyond which it is not tabulated.
const MOST_VALUES: usize = 300;

/// A fault, as a value of a table.
const FAULT: i64 = i64::MAX;

/// Which classes are identities, with their values.
#[derive(Debug)]
pub(crate) struct Solved {
    /// The values of each class of identities.
    pub(crate) values: BTreeMap<ClassId, BTreeSet<i32>>,
    /// Why threads are no identities.
    pub(crate) threads_are_numbers: Option<Limit>,
    /// Numbers of channels are computed with.
    pub(crate) channels_are_numbers: bool,
}

/// A point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) class: ClassId,
    pub(crate) value: i32,
}

/// Finds the classes of identities.
pub(crate) fn identities(collected: &Collected, threads: &[FunctionId]) -> Solved {
    let classes = &collected.classes;
    let mut numbers: BTreeMap<ClassId, Limit> = BTreeMap::new();
    for (class, limit) in &collected.numbers {
        numbers.entry(classes.find(*class)).or_insert_with(|| limit.clone());
    }
    let channel = classes.find(CHANNEL);
    let is_computed = |class: ClassId| {
        collected.atoms.iter().any(|a| a.leaves.iter().any(|l| classes.find(l.class) == class))
    };
    let channels_are_numbers = {
        let class = classes.get(CHANNEL);
        channel == classes.find(THREAD)
            || numbers.contains_key(&channel)
            || !class.stored.is_empty()
            || !class.lengths.is_empty()
            || class.constants.keys().chain(&class.initial).any(|c| *c != 0)
            || is_computed(channel)
            || collected.atoms.iter().any(|a| matches!(a.sink, Sink::Class(c) if classes.find(c) == channel))
            || collected.open.iter().any(|c| classes.find(*c) == channel)
    };
    numbers.entry(channel).or_insert(Limit { span: None, why: "channel numbers are not process ids".into() });
    loop {
        let ids = candidates(collected, &numbers);
        let before = numbers.len();
        for atom in collected.atoms.iter().filter(|a| a.is_live()) {
            judge(collected, atom, &ids, &mut numbers);
        }
        if numbers.len() > before {
            continue;
        }
        match values(collected, threads, &ids) {
            Ok(values) => {
                let threads_are_numbers = numbers.get(&classes.find(THREAD)).cloned();
                return Solved { values, threads_are_numbers, channels_are_numbers };
            }
            Err((class, limit)) => {
                numbers.insert(class, limit);
            }
        }
    }
}

/// Classes that may be identities: thread ids, indices, and what is computed from them.
fn candidates(collected: &Collected, numbers: &BTreeMap<ClassId, Limit>) -> BTreeSet<ClassId> {
    let classes = &collected.classes;
    let allowed = |class: &ClassId| !numbers.contains_key(class);
    let mut ids: BTreeSet<ClassId> = classes
        .all()
        .filter(|c| *c == THREAD || !classes.class[*c].lengths.is_empty())
        .filter(allowed)
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for atom in &collected.atoms {
            if let Sink::Class(to) = atom.sink
                && let [leaf] = &atom.leaves[..]
                && ids.contains(&classes.find(leaf.class))
                && allowed(&classes.find(to))
            {
                changed |= ids.insert(classes.find(to));
            }
        }
    }
    ids
}

/// Makes classes numbers where an atom does something that cannot be tabulated.
fn judge(
    collected: &Collected,
    atom: &Atom,
    ids: &BTreeSet<ClassId>,
    numbers: &mut BTreeMap<ClassId, Limit>,
) {
    let classes = &collected.classes;
    let leaves: Vec<ClassId> = atom.leaves.iter().map(|l| classes.find(l.class)).collect();
    let identities = leaves.iter().filter(|c| ids.contains(c)).count();
    let sink = match atom.sink {
        Sink::Class(class) => Some(classes.find(class)).filter(|c| ids.contains(c)),
        Sink::Truth => None,
    };
    let mut pin = |class: ClassId, why: &str| {
        numbers.entry(class).or_insert_with(|| Limit { span: Some(atom.span), why: why.into() });
    };
    if identities == 0 {
        if let Some(sink) = sink {
            pin(sink, "an identity is computed from data");
        }
        return;
    }
    let tabulated = identities == leaves.len() && (identities == 1 || identities == 2 && sink.is_none());
    if !tabulated {
        for class in leaves.iter().filter(|c| ids.contains(c)).chain(&sink) {
            pin(*class, "arithmetic mixes identities with data or with each other");
        }
    }
}

type Pinned = (ClassId, Limit);

/// The values each class may have, or a class that is not to be tabulated after all.
fn values(
    collected: &Collected,
    threads: &[FunctionId],
    ids: &BTreeSet<ClassId>,
) -> Result<BTreeMap<ClassId, BTreeSet<i32>>, Pinned> {
    let classes = &collected.classes;
    let mut open: BTreeSet<ClassId> = collected.open.iter().map(|c| classes.find(*c)).collect();
    open.extend(classes.all().filter(|c| classes.class[*c].open));
    let mut values: BTreeMap<ClassId, BTreeSet<i32>> = BTreeMap::new();
    for &id in ids {
        let class = &classes.class[id];
        let mut set: BTreeSet<i32> = class.constants.keys().chain(&class.initial).copied().collect();
        if id == THREAD {
            set.extend(0..threads.len() as i32);
        }
        values.insert(id, set);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for atom in &collected.atoms {
            let Sink::Class(to) = atom.sink else { continue };
            let to = classes.find(to);
            if !ids.contains(&to) {
                continue;
            }
            let from = match &atom.leaves[..] {
                [leaf] if ids.contains(&classes.find(leaf.class)) => leaf,
                // Live atoms of this form were judged; of others only what they may have left counts.
                _ => {
                    changed |= open.insert(to);
                    continue;
                }
            };
            let source = classes.find(from.class);
            if open.contains(&source) {
                changed |= open.insert(to);
            }
            for value in domain(&values, source, from.runs, threads) {
                let Some(value) = atom.term.value(&[value]) else { continue };
                let set = values.entry(to).or_default();
                if set.len() > MOST_VALUES {
                    changed |= open.insert(to);
                    break;
                }
                if atom.is_live() {
                    changed |= set.insert(value);
                } else {
                    for stored in &classes.class[to].stored {
                        changed |= set.insert(stored.wrap(value));
                    }
                }
            }
        }
    }
    let pinned =
        |class: ClassId, span: Option<Span>, why: &str| Err((class, Limit { span, why: why.into() }));
    for &id in ids {
        let Class { stored, .. } = &classes.class[id];
        let used = collected.atoms.iter().find(|a| {
            a.is_live()
                && (a.leaves.iter().any(|l| classes.find(l.class) == id)
                    || matches!(a.sink, Sink::Class(c) if classes.find(c) == id))
        });
        let span = used.map(|a| a.span);
        if open.contains(&id) && (used.is_some() || stored.windows(2).any(|w| w[0] != w[1])) {
            return pinned(id, span, "a process id is used in arithmetic and may be any number");
        }
        if !open.contains(&id) && values[&id].len() > MOST_VALUES {
            return pinned(id, span, "an identity has too many values");
        }
        if values[&id].iter().any(|v| stored.iter().any(|s| s.wrap(*v) != *v)) {
            return pinned(id, span, "an identity does not fit into the variable it is stored in");
        }
    }
    Ok(values)
}

/// The values a leaf can have.
fn domain(
    values: &BTreeMap<ClassId, BTreeSet<i32>>,
    class: ClassId,
    runs: Option<FunctionId>,
    threads: &[FunctionId],
) -> Vec<i32> {
    match runs {
        Some(function) => (0..threads.len()).filter(|t| threads[*t] == function).map(|t| t as i32).collect(),
        None => values.get(&class).map_or_else(Vec::new, |set| set.iter().copied().collect()),
    }
}

/// A condition on renamings, and the line it comes from.
pub(crate) enum Constraint<'a> {
    /// A constant.
    Constant(Point, Span),
    /// An atom.
    Atom(&'a Atom),
    /// A thread whose end can be noticed.
    End(Point, Span),
    /// A point that owns channels whose numbers are computed with.
    Channel(Point),
}

impl Constraint<'_> {
    pub(crate) fn limit(&self) -> Limit {
        let (span, why) = match self {
            Constraint::Constant(point, span) => {
                (Some(*span), format!("the value {} is named here", point.value))
            }
            Constraint::Atom(atom) => (Some(atom.span), "process ids are used in arithmetic here".to_owned()),
            Constraint::End(_, span) => (Some(*span), "only the youngest process can end".to_owned()),
            Constraint::Channel(_) => (None, "channel numbers are used in arithmetic".to_owned()),
        };
        Limit { span, why }
    }
}

/// All conditions beyond those of the state itself.
pub(crate) fn constraints<'a>(
    collected: &'a Collected,
    solved: &Solved,
    threads: &[FunctionId],
    ends: &dyn Fn(FunctionId) -> Option<Span>,
) -> Vec<Constraint<'a>> {
    let classes = &collected.classes;
    let mut out = Vec::new();
    for &class in solved.values.keys() {
        for (&value, &span) in &classes.class[class].constants {
            out.push(Constraint::Constant(Point { class, value }, span));
        }
        if solved.channels_are_numbers && classes.class[class].owns_channels {
            for &value in &solved.values[&class] {
                out.push(Constraint::Channel(Point { class, value }));
            }
        }
    }
    if solved.values.contains_key(&THREAD) {
        // Threads are numbered by age, and no more are started here.
        for (function, span) in &collected.oldest {
            let oldest = threads.iter().position(|f| f == function);
            let point = |thread: usize| Point { class: THREAD, value: thread as i32 };
            out.extend(oldest.map(|thread| Constraint::Constant(point(thread), *span)));
        }
        for (thread, function) in threads.iter().enumerate() {
            let point = Point { class: THREAD, value: thread as i32 };
            if let Some(span) = ends(*function) {
                out.push(Constraint::End(point, span));
            }
            let makes = collected.locals[function.0 as usize].iter().any(Shape::makes_channels);
            if solved.channels_are_numbers && makes {
                out.push(Constraint::Channel(point));
            }
        }
    }
    out.extend(
        collected
            .atoms
            .iter()
            .filter(|a| {
                a.is_live() && a.leaves.iter().any(|l| solved.values.contains_key(&classes.find(l.class)))
            })
            .map(Constraint::Atom),
    );
    out
}

/// The points of a structure, in order.
pub(crate) fn points(solved: &Solved) -> Vec<Point> {
    let all = solved.values.iter();
    all.flat_map(|(class, set)| set.iter().map(|value| Point { class: *class, value: *value })).collect()
}

/// The structure that renamings must keep, as far as these constraints say.
pub(crate) fn structure(
    collected: &Collected,
    solved: &Solved,
    threads: &[FunctionId],
    constraints: &[&Constraint<'_>],
    points: &[Point],
) -> Graph {
    let classes = &collected.classes;
    let index = |point: Point| points.binary_search(&point).ok();
    let mut colours: Vec<Vec<u64>> = vec![Vec::new(); points.len()];
    let mut edges: Vec<Vec<(u32, u32)>> = vec![Vec::new(); points.len()];
    for (at, point) in points.iter().enumerate() {
        let runs = (point.class == THREAD).then(|| threads.get(point.value as usize)).flatten();
        colours[at].push(runs.map_or(0, |f| u64::from(f.0) + 1));
        let mut lengths = classes.class[point.class].lengths.clone();
        lengths.sort_unstable();
        lengths.dedup();
        let inside = lengths.iter().filter(|l| (0..**l as i32).contains(&point.value)).count();
        colours[at].push(inside as u64);
    }
    let mut label = 0;
    for (number, constraint) in constraints.iter().enumerate() {
        // A colour is a list of pairs: what it comes from, and a value.
        let source = (number as u64 + 1) << 2;
        match constraint {
            Constraint::Constant(point, _) | Constraint::End(point, _) | Constraint::Channel(point) => {
                if let Some(at) = index(*point) {
                    colours[at].extend([source, at as u64]);
                }
            }
            Constraint::Atom(atom) => {
                tabulate(
                    collected,
                    solved,
                    threads,
                    (atom, source),
                    &index,
                    &mut label,
                    &mut colours,
                    &mut edges,
                );
            }
        }
    }
    // A value that is neither a thread nor an index nor computed with is left alone: renaming it gains next to nothing. What
    // counts is all code that runs after the last start, so that what can be renamed in a state can be in all later ones.
    let mut related = edges.clone();
    let mut ignored = colours.clone();
    for atom in collected.atoms.iter().filter(|a| a.code == Code::Settled) {
        if atom.leaves.len() <= 2
            && atom.leaves.iter().all(|l| solved.values.contains_key(&classes.find(l.class)))
        {
            tabulate(collected, solved, threads, (atom, 0), &index, &mut label, &mut ignored, &mut related);
        }
    }
    let mut touched = vec![false; points.len()];
    for (from, list) in related.iter().enumerate() {
        for (_, to) in list {
            touched[from] = true;
            touched[*to as usize] = true;
        }
    }
    let mut graph = Graph::new();
    for (at, point) in points.iter().enumerate() {
        graph.object(point.class as u32);
        if !touched[at] && colours[at][0] == 0 && colours[at][1] == 0 {
            colours[at].extend([0, at as u64]);
        }
        colours[at].iter().for_each(|c| graph.word(*c));
        edges[at].sort_unstable();
        edges[at].iter().for_each(|(label, to)| graph.edge(*label, *to));
    }
    graph
}

/// Adds the table of an atom: edges for an id-valued function, colours for other functions, edges for relations.
fn tabulate(
    collected: &Collected,
    solved: &Solved,
    threads: &[FunctionId],
    (atom, source): (&Atom, u64),
    index: &dyn Fn(Point) -> Option<usize>,
    label: &mut u32,
    colours: &mut [Vec<u64>],
    edges: &mut [Vec<(u32, u32)>],
) {
    let classes = &collected.classes;
    let leaf = |at: usize| {
        let class = classes.find(atom.leaves[at].class);
        let all = domain(&solved.values, class, atom.leaves[at].runs, threads);
        all.into_iter().filter_map(move |value| index(Point { class, value }).map(|at| (at, value)))
    };
    let sink = match atom.sink {
        Sink::Class(class) => Some(classes.find(class)).filter(|c| solved.values.contains_key(c)),
        Sink::Truth => None,
    };
    let result = |value: Option<i32>| match (value, atom.sink) {
        (None, _) => FAULT,
        (Some(value), Sink::Truth) => i64::from(value != 0),
        (Some(value), Sink::Class(_)) => i64::from(value),
    };
    if let [_] = &atom.leaves[..] {
        for (at, value) in leaf(0) {
            let value = atom.term.value(&[value]);
            match (sink, value) {
                (Some(class), Some(value)) => match index(Point { class, value }) {
                    Some(to) => edges[at].push((*label, to as u32)),
                    // Not a value that was foreseen; keep the point where it is.
                    None => colours[at].extend([source | 1, at as u64]),
                },
                (_, value) => {
                    colours[at].extend([source | 2, result(value) as u64]);
                }
            }
        }
        *label += 1;
        return;
    }
    // Two leaves and a value that is no point. One label for each value but zero.
    let mut seen: BTreeMap<i64, u32> = BTreeMap::new();
    let second: Vec<(usize, i32)> = leaf(1).collect();
    for (a, left) in leaf(0) {
        for &(b, right) in &second {
            let value = result(atom.term.value(&[left, right]));
            if value != 0 {
                let next = seen.len() as u32;
                let label = *label + *seen.entry(value).or_insert(next);
                edges[a].push((label, b as u32));
            }
        }
    }
    *label += seen.len() as u32;
}
