//! Which integers of a program are identities, and which renamings of them the program cannot notice.
//!
//! Promela has no type for process ids: they are bytes, stored, sent, compared, computed with, used as indices. [`analyse`]
//! finds out which of a program's integers are identities (`_pid`, results of `run`, what they flow into, what indexes arrays
//! with them), turns arithmetic on them into tables, and the tables into a structure of edges and colours over the
//! identities. The renamings the program cannot notice are the automorphisms of that structure: everything for plain `_pid`,
//! the rotations for `(_pid + 1) % N`, nothing for `j >= _pid`. Nothing is declared and no group is guessed.
//!
//! What the analysis does not understand stays as it is: such classes of values are numbers, and what they touch is pinned.
//!
//! - [`mod@collect`] walks the code; [`mod@classes`] holds the classes of values;
//! - [`mod@solve`] decides which are identities and states why renaming them is sound;
//! - [`mod@report`] names what was found and the line that limits it.
//!
//! Beside it stands its successor, which state graphs do not use yet: [`symmetry`] finds the renamings as automorphisms of the program's
//! graph, of threads, channels, cells, values and locations, within one proctype or across several.
//!
//! - [`mod@specialise`]: each thread's own copy of its code, constants put in ([`mod@fold`], [`mod@ground`]); [`mod@join`]: steps that nobody sees
//!   between are one; [`mod@layers`]: actions up to their order;
//! - [`mod@sorts`]: which values are names; [`mod@tables`]: arithmetic on them; [`mod@padding`]: classes of different size;
//! - [`mod@build`]: the graph, and why its automorphisms are symmetries;
//! - [`mod@structure`]: points and edges, from which representatives are to be made;
//! - [`mod@found`]: what was found, in words; [`mod@reasons`]: the lines that tell threads apart.

mod analysis;
mod build;
mod classes;
mod collect;
mod fold;
mod found;
mod ground;
mod join;
mod layers;
mod padding;
mod reasons;
mod report;
mod solve;
mod sorts;
mod specialise;
mod structure;
mod tables;
mod term;

pub use analysis::{Holds, Symmetry, symmetry};
pub use build::Part;
pub use ground::{Before, Cell, Channel, Setting, Values, Var};
pub use reasons::{Effort, reasons};
pub use structure::{Place, Structure};

use std::collections::BTreeMap;

use quotient_program::{Expr, FunctionId, Operation, Program};
use quotient_source::Span;
use quotient_symmetry::graph::Graph;
use quotient_symmetry::group::Group;

use classes::{CHANNEL, ClassId, Shape, THREAD};
use collect::Collected;
pub use report::{Finding, Limit};

/// Number of a class of identities.
pub type Class = u32;

/// One identity: a value of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Its class.
    pub class: Class,
    /// Its value.
    pub value: i32,
}

/// What a stored scalar is to a renaming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A number.
    Data,
    /// An identity.
    Identity(Class),
    /// The number of a channel.
    Channel,
}

/// What a variable is to a renaming.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A scalar.
    Scalar(Scalar),
    /// The fields of a structure.
    Structure(Vec<Tree>),
    /// The elements of an array; with the class whose points they belong to, if they move with them.
    Array(Box<Tree>, u32, Option<Class>),
}

/// The identities of a program and the renamings it cannot notice.
#[derive(Clone, Debug)]
pub struct Identities {
    /// The identities that some renaming moves; threads come first, in the order of their ids.
    pub points: Vec<Point>,
    /// What renamings must keep, as a graph over the points.
    pub structure: Graph,
    /// The renamings: automorphisms of the structure.
    pub group: Group,
    /// The point of each thread, by id.
    pub thread: Vec<Option<u32>>,
    /// The point of each value of each class.
    by_value: Vec<BTreeMap<i32, u32>>,
    /// Global variables.
    pub globals: Vec<Tree>,
    /// Local variables, by function.
    pub locals: Vec<Vec<Tree>>,
    /// Fields of messages, by kind of channel.
    pub fields: Vec<Vec<Scalar>>,
    /// What was found about the threads.
    pub findings: Vec<Finding>,
    /// What limits it, when not every permutation is possible.
    pub limit: Option<Limit>,
}

impl Identities {
    /// The point of a value, if it is one that moves.
    #[inline]
    pub fn point(&self, class: Class, value: i32) -> Option<u32> {
        self.by_value[class as usize].get(&value).copied()
    }

    /// Whether nothing can be renamed.
    pub fn is_trivial(&self) -> bool {
        self.group.is_trivial()
    }
}

/// What is known of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// It may have been executed, while threads were still being started.
    Past,
    /// It may have been executed after that, and will not be again.
    Settled,
    /// It can still be executed.
    Live,
}

/// Analyses a program in whose states exactly these threads exist. `code(f)` says which locations of a function can still be
/// executed; `properties` are expressions that are evaluated from outside in every state (propositions of a temporal
/// formula), each inside the [`Expr::Spanned`] that a limit is to name. Nothing may be renamed while threads can still be started.
pub fn analyse(
    program: &Program,
    threads: &[FunctionId],
    code: &dyn Fn(FunctionId) -> Vec<Code>,
    properties: &[&Expr],
) -> Identities {
    let mut collected = collect::collect(program, code, properties);
    if program.features.last || program.features.priorities {
        let why = "the model uses _last or priorities".to_owned();
        collected.refused = Some(Limit { span: None, why });
    }
    let mut solved = solve::identities(&collected, threads);
    let ends = |function: FunctionId| end_of(program, function, &code(function));
    if collected.refused.is_some() {
        solved.values.clear();
    }
    let all = solve::constraints(&collected, &solved, threads, &ends);
    let points = solve::points(&solved);
    let every: Vec<&solve::Constraint<'_>> = all.iter().collect();
    let structure = solve::structure(&collected, &solved, threads, &every, &points);
    let mut identities = compact(&collected, &solved, threads, &points, &structure);
    identities.limit = collected.refused.clone().or_else(|| solved.threads_are_numbers.clone());
    if identities.limit.is_none() && identities.findings.iter().any(|f| !f.is_full()) {
        // The first line that, taken alone, already excludes something.
        identities.limit = all
            .iter()
            .filter(|c| {
                let structure = solve::structure(&collected, &solved, threads, &[*c], &points);
                let alone = compact(&collected, &solved, threads, &points, &structure);
                alone.findings.iter().any(|f| !f.is_full())
            })
            .map(solve::Constraint::limit)
            .min_by_key(|limit| limit.span.map_or((u32::MAX, u32::MAX), |s| (s.file.0, s.start)));
    }
    identities
}

/// Where threads that run this function can end.
fn end_of(program: &Program, function: FunctionId, code: &[Code]) -> Option<Span> {
    let locations =
        program.function(function).locations.iter().zip(code).filter(|(_, code)| **code == Code::Live);
    let mut ends = locations
        .flat_map(|(location, _)| &location.transformations)
        .filter(|t| matches!(t.operation, Operation::Exit) || t.target.is_none());
    ends.next().map(|t| t.span)
}

/// Keeps the points that move. A point that nothing moves is a number like any other; edges to it are the same for all points
/// of an orbit, and orbits are the kinds of what remains.
fn compact(
    collected: &Collected,
    solved: &solve::Solved,
    threads: &[FunctionId],
    points: &[solve::Point],
    structure: &Graph,
) -> Identities {
    let group = Group::automorphisms(structure);
    let (moved, orbits) = (group.moved(), group.orbits());
    let mut new = vec![None; points.len()];
    let mut classes: Vec<ClassId> = Vec::new();
    let mut kept = Vec::new();
    let mut by_value: Vec<BTreeMap<i32, u32>> = Vec::new();
    for (at, point) in points.iter().enumerate().filter(|(at, _)| moved[*at]) {
        let class = classes.iter().position(|c| *c == point.class).unwrap_or_else(|| {
            classes.push(point.class);
            by_value.push(BTreeMap::new());
            classes.len() - 1
        });
        new[at] = Some(kept.len() as u32);
        by_value[class].insert(point.value, kept.len() as u32);
        kept.push(Point { class: class as u32, value: point.value });
    }
    let mut graph = Graph::new();
    for at in (0..points.len()).filter(|at| moved[*at]) {
        graph.object(orbits[at]);
        for edge in structure.edges(at as u32) {
            if let Some(to) = new[edge.target as usize] {
                graph.edge(edge.label, to);
            }
        }
    }
    let thread: Vec<Option<u32>> = (0..threads.len())
        .map(|t| {
            let point = solve::Point { class: THREAD, value: t as i32 };
            points.binary_search(&point).ok().and_then(|at| new[at])
        })
        .collect();
    let find = &collected.classes;
    let class = |id: ClassId| classes.iter().position(|c| *c == find.find(id)).map(|c| c as u32);
    let scalar = |id: ClassId| {
        if find.find(id) == find.find(CHANNEL) && !solved.channels_are_numbers {
            Scalar::Channel
        } else {
            class(id).map_or(Scalar::Data, Scalar::Identity)
        }
    };
    let group = Group::automorphisms(&graph);
    let findings = report::findings(threads, &thread, &kept, &group);
    Identities {
        points: kept,
        group,
        structure: graph,
        thread,
        by_value,
        globals: collected.globals.iter().map(|s| tree(s, &class, &scalar)).collect(),
        locals: collected
            .locals
            .iter()
            .map(|f| f.iter().map(|s| tree(s, &class, &scalar)).collect())
            .collect(),
        fields: collected.fields.iter().map(|f| f.iter().map(|c| scalar(*c)).collect()).collect(),
        findings,
        limit: None,
    }
}

fn tree(shape: &Shape, class: &dyn Fn(ClassId) -> Option<Class>, scalar: &dyn Fn(ClassId) -> Scalar) -> Tree {
    match shape {
        Shape::Scalar { class, .. } => Tree::Scalar(scalar(*class)),
        Shape::Structure(fields) => Tree::Structure(fields.iter().map(|f| tree(f, class, scalar)).collect()),
        Shape::Array { index, length, element } => {
            Tree::Array(Box::new(tree(element, class, scalar)), *length, class(*index))
        }
    }
}
