//! The whole way from a setting to its renamings.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use quotient_program::FunctionId;
use quotient_source::Span;
use quotient_symmetry::strong::Strong;

use crate::build::{MOST_NODES, Part, build};
use crate::ground::{Cell, Setting, Var};
use crate::join::join;
use crate::sorts::Sorts;
use crate::specialise::{Specialised, specialise};
use crate::structure::{Place, Structure, structure};

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

/// The renamings that a program cannot notice, in states of one setting.
#[derive(Clone, Debug, Default)]
pub struct Symmetry {
    /// What moves, where to, and what must be kept.
    pub structure: Structure,
    /// What each cell of the state holds, where that is not just data.
    pub cells: Vec<(Cell, Holds)>,
    /// What the fields of each channel's messages hold, from number 1.
    pub fields: Vec<Vec<Holds>>,
    /// Nothing may be renamed, and why.
    pub refused: Option<(&'static str, Option<Span>)>,
    /// Size of the graph: nodes and edges.
    pub size: (usize, usize),
    /// What each thread runs.
    pub threads: Vec<FunctionId>,
    /// Generators, each as a list of parts with their images.
    pub generators: Vec<Vec<(Part, Part)>>,
    /// Cells that the code in question reads or writes.
    pub touched: HashSet<Cell>,
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

    /// Functions and locations that take each other's place, where these are not the same.
    pub fn exchanged_locations(&self) -> Vec<Vec<(u32, u32)>> {
        let mut roles: BTreeMap<u32, BTreeSet<(u32, u32)>> = BTreeMap::new();
        for (part, place) in &self.structure.place {
            if let Part::Location(thread, location) = part {
                let function = self.threads[*thread as usize].0;
                roles.entry(place.role).or_default().insert((function, *location));
            }
        }
        roles.into_values().filter(|l| l.len() > 1).map(|l| l.into_iter().collect()).collect()
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
    let mut of = match specialise(setting) {
        Ok(of) => of,
        Err((why, span)) => {
            return Symmetry::refused(why, span, setting.threads.to_vec());
        }
    };
    join(setting, &mut of);
    of_specialised(setting, &of)
}

fn of_specialised(setting: &Setting<'_>, of: &Specialised) -> Symmetry {
    let mut sorts = Sorts::new(setting, of);
    let plain = of_sorts(setting, of, &sorts);
    // Only where it makes more threads alike.
    if plain.refused.is_none() && plain.kinds_of_threads(setting) > 1 && sorts.pad() {
        let padded = of_sorts(setting, of, &sorts);
        if padded.refused.is_none() && padded.kinds_of_threads(setting) < plain.kinds_of_threads(setting) {
            return padded;
        }
    }
    plain
}

fn of_sorts(setting: &Setting<'_>, of: &Specialised, sorts: &Sorts<'_>) -> Symmetry {
    let Some(built) = build(setting, of, sorts) else {
        return Symmetry::refused(TOO_LARGE, None, setting.threads.to_vec());
    };
    let strong = Strong::automorphisms(&built.graph);
    let Some(structure) = structure(&built.parts, &strong) else {
        return Symmetry::refused("too much of a state moves", None, setting.threads.to_vec());
    };
    let tables = strong.tables();
    let generators = tables.iter().map(|table| {
        let moved = built.parts.iter().zip(table).enumerate().filter(|(at, (_, to))| *at != **to as usize);
        moved.map(|(_, (part, to))| (*part, built.parts[*to as usize])).collect()
    });
    let generators: Vec<Vec<(Part, Part)>> = generators.filter(|g: &Vec<_>| !g.is_empty()).collect();
    let edges = (0..built.graph.len() as u32).map(|n| built.graph.edges(n).len()).sum();
    Symmetry {
        structure,
        cells: cells(setting, of, sorts),
        fields: fields(setting, sorts),
        refused: None,
        size: (built.graph.len(), edges),
        threads: setting.threads.to_vec(),
        generators,
        touched: built
            .parts
            .iter()
            .filter_map(|part| if let Part::Cell(cell) = part { Some(*cell) } else { None })
            .collect(),
    }
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

fn fields(setting: &Setting<'_>, sorts: &Sorts<'_>) -> Vec<Vec<Holds>> {
    let of = |(channel, class): (&crate::ground::Channel, &usize)| {
        let fields = setting.program.channel_types[channel.kind.0 as usize].fields.len();
        (0..fields).map(|f| holds(sorts, sorts.field(*class, f))).collect()
    };
    setting.channels.iter().zip(&sorts.channel).map(of).collect()
}
