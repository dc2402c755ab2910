//! The whole way from a setting to its renamings.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use quotient_program::FunctionId;
use quotient_source::Span;
use quotient_symmetry::strong::{Strong, WORK};

use crate::build::{MOST_NODES, Part, StepAt, build};
use crate::ground::{Cell, Loc, Op, Setting, Thread, Var};
use crate::join::join;
use crate::scans::computed;
use crate::sorts::Sorts;
use crate::specialise::{Specialised, specialise};
use crate::structure::{Place, Structure, Union, structure};

/// What a stored scalar is to a renaming.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holds {
    /// A number.
    Data,
    /// A name of this class.
    Name(u32),
    /// The number of a channel.
    Channel,
    /// A constant: no part of a state.
    Constant(i32),
}

/// What a field of a channel's messages holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// The same in all messages.
    One(Holds),
    /// What the constant in another field of the message says.
    Tagged {
        /// The other field.
        tag: usize,
        /// For each constant that is sent.
        holds: Vec<(i32, Holds)>,
    },
}

/// The renamings that a program cannot notice, in states of one setting.
#[derive(Clone, Debug, Default)]
pub struct Symmetry {
    /// What moves, where to, and what must be kept.
    pub structure: Structure,
    /// What each cell of the state holds, where that is not just data.
    pub cells: Vec<(Cell, Holds)>,
    /// What the fields of each channel's messages hold, from number 1.
    pub fields: Vec<Vec<Field>>,
    /// The search for renamings was ended by its budget: some may be missing.
    pub cut: bool,
    /// Nothing may be renamed, and why.
    pub refused: Option<(&'static str, Option<Span>)>,
    /// Size of the graph: nodes and edges.
    pub size: (usize, usize),
    /// What each thread runs.
    pub threads: Vec<FunctionId>,
    /// Generators, each as a list of parts with their images.
    pub generators: Vec<Vec<(Part, Part)>>,
    /// Pairs of threads that run different functions with the same kinds of steps, and are not exchanged; one of each function.
    pub resembling: Vec<(u32, u32)>,
    /// Cells that the code in question reads or writes.
    pub touched: HashSet<Cell>,
    /// Transformations of the program that take each other's place, where these are not the same: function, location, and number there.
    pub exchanged: Vec<Vec<(u32, u32, u32)>>,
}

impl Symmetry {
    /// Nothing may be renamed among these threads.
    pub fn refused(why: &'static str, span: Option<Span>, threads: Vec<FunctionId>) -> Symmetry {
        Symmetry { refused: Some((why, span)), threads, ..Symmetry::default() }
    }

    /// Whether nothing can be renamed.
    pub fn is_trivial(&self) -> bool {
        self.structure.group.is_trivial()
    }

    /// Threads that cannot take each other's place are of different kinds: how many there are.
    fn kinds_of_threads(&self, setting: &Setting<'_>) -> usize {
        let threads = 0..setting.threads.len() as u32;
        let moving = threads.clone().filter_map(|t| self.place(Part::Thread(t)));
        let roles: BTreeSet<u32> = moving.map(|place| place.role).collect();
        roles.len() + threads.filter(|t| self.place(Part::Thread(*t)).is_none()).count()
    }

    /// A cell that nobody reads or writes.
    pub fn is_untouched(&self, cell: Cell) -> bool {
        !self.touched.contains(&cell)
    }

    /// Places of the code that can take each other's place: threads and their locations, by class.
    pub fn places(&self) -> Vec<Vec<(u32, u32)>> {
        let mut classes: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
        for (part, place) in &self.structure.place {
            if let Part::Location(thread, location) = part {
                classes.entry(place.role).or_default().push((*thread, *location));
            }
        }
        classes.into_values().collect()
    }

    /// Where a part is, if it moves.
    pub fn place(&self, part: Part) -> Option<Place> {
        self.structure.place.get(&part).copied()
    }
}

const TOO_LARGE: &str = "the program is too large to be looked at as a whole";

/// Finds the renamings of a setting.
pub fn symmetry(setting: &Setting<'_>) -> Symmetry {
    let statements = |f: &FunctionId| {
        let locations = &setting.program.function(*f).locations;
        locations.iter().map(|l| l.transformations.len()).sum::<usize>()
    };
    // Each would be a node, in each thread.
    if setting.threads.iter().map(statements).sum::<usize>() > MOST_NODES {
        return Symmetry::refused(TOO_LARGE, None, setting.threads.to_vec());
    }
    let mut of = match specialise(setting, &[]) {
        Ok(of) => of,
        Err((why, span)) => {
            return Symmetry::refused(why, span, setting.threads.to_vec());
        }
    };
    let computed = computed(setting, &of);
    join(setting, &mut of);
    // All that is tried has one budget, of about a second.
    let work = &mut { WORK };
    let mut found = of_specialised(setting, &of, work);
    if let Some(mut computed) = computed {
        join(setting, &mut computed);
        let other = of_specialised(setting, &computed, work);
        if other.refused.is_none() && other.structure.order > found.structure.order {
            (found, of) = (other, computed);
        }
    }
    found.cut |= *work == 0;
    if found.refused.is_none() {
        let role = |t: u32| found.place(Part::Thread(t)).map(|place| place.role);
        let exchanged = |a: u32, b: u32| role(a).is_some() && role(a) == role(b);
        found.resembling = resembling(setting, &of).into_iter().filter(|(a, b)| !exchanged(*a, *b)).collect();
    }
    found
}

fn of_specialised(setting: &Setting<'_>, of: &Specialised, work: &mut u64) -> Symmetry {
    let mut sorts = Sorts::new(setting, of);
    let plain = of_classes(setting, of, &mut sorts, work);
    let all_alike = plain.kinds_of_threads(setting) == skeletons(of);
    if plain.refused.is_some() || all_alike && !plain.is_trivial() {
        return plain;
    }
    let Some(mut split) = sorts.split(of) else { return plain };
    let split = of_classes(setting, of, &mut split, work);
    let better = split.refused.is_none() && split.structure.order > plain.structure.order;
    if better { split } else { plain }
}

/// What is found with these classes, padded where that makes more threads alike.
fn of_classes(setting: &Setting<'_>, of: &Specialised, sorts: &mut Sorts<'_>, work: &mut u64) -> Symmetry {
    let plain = of_sorts(setting, of, sorts, work);
    if plain.refused.is_none() && plain.kinds_of_threads(setting) > skeletons(of) && sorts.pad() {
        let padded = of_sorts(setting, of, sorts, work);
        if padded.refused.is_none() && padded.kinds_of_threads(setting) < plain.kinds_of_threads(setting) {
            return padded;
        }
    }
    plain
}

/// What there is of a location whatever it refers to: labels, and kinds of steps.
type Skeleton = Vec<(u32, Vec<(u32, usize, bool)>)>;

fn skeleton(thread: &Thread) -> Skeleton {
    let kind = |op: &Op| match op {
        Op::Always => 0,
        Op::When(_) => 1,
        Op::Else => 2,
        Op::Send { .. } => 3,
        Op::Receive { .. } => 4,
        Op::Enter => 5,
        Op::Exit => 6,
    };
    let of_loc = |loc: &Loc| {
        let mut steps: Vec<(u32, usize, bool)> =
            loc.steps.iter().map(|s| (kind(&s.op), s.acts.len(), s.keeps)).collect();
        steps.sort_unstable();
        (loc.flags, steps)
    };
    let mut locs: Vec<_> = thread.locs.iter().flatten().map(of_loc).collect();
    locs.sort_unstable();
    locs
}

/// How many kinds of threads there are at least: those whose code has other kinds of steps are never alike, whatever they hold.
fn skeletons(of: &Specialised) -> usize {
    of.threads.iter().map(skeleton).collect::<BTreeSet<_>>().len()
}

/// Pairs of threads that run different functions with the same kinds of steps, the first of each function.
fn resembling(setting: &Setting<'_>, of: &Specialised) -> Vec<(u32, u32)> {
    let mut first: Vec<(FunctionId, u32, Skeleton)> = Vec::new();
    for (thread, function) in setting.threads.iter().enumerate() {
        if first.iter().all(|(f, ..)| f != function) {
            first.push((*function, thread as u32, skeleton(&of.threads[thread])));
        }
    }
    let mut out = Vec::new();
    for (at, (_, a, mine)) in first.iter().enumerate() {
        // One or two statements do not make a resemblance.
        let alike = first[at + 1..].iter().filter(|(_, _, theirs)| mine.len() > 2 && mine == theirs);
        out.extend(alike.map(|(_, b, _)| (*a, *b)));
    }
    out
}

fn of_sorts(setting: &Setting<'_>, of: &Specialised, sorts: &Sorts<'_>, work: &mut u64) -> Symmetry {
    let Some(built) = build(setting, of, sorts) else {
        return Symmetry::refused(TOO_LARGE, None, setting.threads.to_vec());
    };
    let strong = Strong::automorphisms_within(&built.graph, *work);
    *work = work.saturating_sub(strong.looked_at());
    let edges = (0..built.graph.len() as u32).map(|n| built.graph.edges(n).len()).sum();
    let size = (built.graph.len(), edges);
    if strong.is_trivial() {
        // Nobody asks what cells hold where nothing is renamed.
        let structure = Structure { exact: true, order: 1.0, ..Structure::default() };
        let threads = setting.threads.to_vec();
        return Symmetry { structure, cut: strong.cut(), size, threads, ..Symmetry::default() };
    }
    let Some(structure) = structure(&built.parts, &strong, work) else {
        return Symmetry::refused("too much of a state moves", None, setting.threads.to_vec());
    };
    let tables = strong.tables();
    let generators = tables.iter().map(|table| {
        let moved = built.parts.iter().zip(table).enumerate().filter(|(at, (_, to))| *at != **to as usize);
        moved.map(|(_, (part, to))| (*part, built.parts[*to as usize])).collect()
    });
    let generators: Vec<Vec<(Part, Part)>> = generators.filter(|g: &Vec<_>| !g.is_empty()).collect();
    Symmetry {
        resembling: Vec::new(),
        exchanged: exchanged(setting, of, &built.steps, &tables),
        structure,
        cells: cells(setting, of, sorts),
        fields: fields(setting, sorts),
        cut: strong.cut(),
        refused: None,
        size,
        threads: setting.threads.to_vec(),
        generators,
        touched: built
            .parts
            .iter()
            .filter_map(|part| if let Part::Cell(cell) = part { Some(*cell) } else { None })
            .collect(),
    }
}

/// Function, location and step, as the program has them before threads are specialised.
type StepOf = (u32, u32, u32);

/// The transformations that steps of one orbit were made from, where it is not the same ones for all: a step can be made from several, one
/// after the other, and these do not take each other's place.
fn exchanged(
    setting: &Setting<'_>,
    of: &Specialised,
    steps: &[(u32, StepAt)],
    generators: &[Vec<u32>],
) -> Vec<Vec<StepOf>> {
    if generators.is_empty() {
        return Vec::new();
    }
    let number: HashMap<u32, u32> = steps.iter().map(|(node, _)| *node).zip(0..).collect();
    let mut orbits = Union::new(steps.len());
    for generator in generators {
        for (at, (node, _)) in steps.iter().enumerate() {
            orbits.join(at as u32, number[&generator[*node as usize]]);
        }
    }
    let mut found: BTreeMap<u32, BTreeSet<Vec<StepOf>>> = BTreeMap::new();
    for (at, (_, (thread, location, which))) in steps.iter().enumerate() {
        let function = setting.threads[*thread as usize].0;
        let made_of = of.threads[*thread as usize].locs[*location as usize].iter().flat_map(|l| {
            let step = &l.steps[*which as usize];
            step.from.iter().map(|(location, which)| (function, *location, *which))
        });
        found.entry(orbits.find(at as u32)).or_default().insert(made_of.collect());
    }
    let several = found.into_values().filter(|steps| steps.len() > 1);
    several.map(|steps| steps.into_iter().flatten().collect::<BTreeSet<_>>().into_iter().collect()).collect()
}

fn holds(sorts: &Sorts<'_>, class: Option<usize>) -> Holds {
    match class.filter(|c| sorts.is_names(*c)) {
        Some(class) if sorts.holds_channels(class) => Holds::Channel,
        Some(class) => Holds::Name(sorts.find(class) as u32),
        None => Holds::Data,
    }
}

fn cells(setting: &Setting<'_>, of: &Specialised, sorts: &Sorts<'_>) -> Vec<(Cell, Holds)> {
    let mut out = Vec::new();
    for var in setting.variables() {
        for (scalar, path) in setting.paths(var).into_iter().enumerate() {
            let cell = (var, scalar as u32);
            let holds = match of.constants.get(&cell) {
                // Globals that never change need no attention.
                Some(value) if matches!(var, Var::Local(..)) => Holds::Constant(*value),
                Some(_) => Holds::Data,
                None => holds(sorts, sorts.cell_class(cell, &path)),
            };
            if holds != Holds::Data {
                out.push((cell, holds));
            }
        }
    }
    out
}

fn fields(setting: &Setting<'_>, sorts: &Sorts<'_>) -> Vec<Vec<Field>> {
    let of = |(index, channel): (usize, &crate::ground::Channel)| {
        let class = sorts.channel[index];
        let union = sorts.unions.as_ref().and_then(|u| u.of_channel(index));
        let field = |f: usize| match union.filter(|u| u.fields.contains(&f)) {
            Some(union) => {
                let under = |tag: &i32| (*tag, holds(sorts, sorts.field(class, f, Some(*tag))));
                Field::Tagged { tag: union.tag, holds: union.values.iter().map(under).collect() }
            }
            None => Field::One(holds(sorts, sorts.field(class, f, None))),
        };
        let fields = setting.program.channel_types[channel.kind.0 as usize].fields.len();
        (0..fields).map(field).collect()
    };
    setting.channels.iter().enumerate().map(of).collect()
}
