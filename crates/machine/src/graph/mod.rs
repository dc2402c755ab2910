//! States as graphs, and renamed.
//!
//! A renaming shows a state as a graph, whose nodes are what may take other names: threads, objects, cells and channels that
//! belong to an identity. Whoever numbers that graph is told back what the state is called under the numbering. What the nodes are is found
//! out once per shape (`picture.rs`) and then a walk over flat lists.
//!
//! - `picture.rs`: the nodes of a shape, and where their bytes are.
//! - `objects.rs`: the nodes of programs whose names are opaque; `pins.rs`: which threads keep their place there.
//! - `points.rs`: the nodes of programs whose names are numbers; `numbers.rs`: which numbers these are, in which shapes.
//! - `beginning.rs`: how a program comes to its full set of threads, for the analysis of its graph.
//! - `show.rs`: a state as a graph. `rename.rs`: a state under a numbering. `small_group.rs`: a quicker way where renamings are few.

mod beginning;
mod numbers;
mod objects;
mod picture;
mod pins;
mod points;
mod rename;
mod show;
mod small_group;

use std::sync::Arc;

use quotient_identity::{Asked, Difference, Effort, Reasons, Symmetry};
use quotient_seams::Worker;
use quotient_symmetry::StateGraph;
use quotient_symmetry::exchanges::Exchanges;
use quotient_symmetry::graph::Graph;
use quotient_symmetry::strong::Strong;

use crate::machine::Machine;
use crate::state::layout::Layout;
use crate::state::shapes::Shapes;
pub use beginning::Beginning;
use numbers::Numbers;
use picture::Picture;
pub use pins::Limit;
use pins::Pins;
use points::Places;
use small_group::Reading;

use crate::step::eval::read;

/// Shows and renames the states of a [`Machine`].
#[derive(Debug)]
pub struct Renaming {
    layout: Arc<Layout>,
    names: Arc<Names>,

    shapes: Shapes,
    /// By shape: when anything in its states is renamed.
    renamed: Vec<Renamed>,
    /// By shape: nothing known yet, nothing to rename, or how.
    pictures: Vec<Option<Option<Arc<Picture>>>>,

    // Scratch.
    /// The shape of the state that was shown last.
    shape: usize,
    places: Places,
    point_number: Vec<u32>,
    composed: Vec<u32>,
    reading: Reading,
    order: Vec<u32>,
    /// New numbers of threads and objects.
    new_threads: Vec<u32>,
    new_objects: Vec<u32>,
    description: Vec<u32>,
    row_cells: Vec<i32>,
}

/// In which states of a shape anything is renamed. Most programs rename nothing in most of their shapes, and should not pay for being asked.
#[derive(Clone, Debug, Default)]
enum Renamed {
    /// Nobody has asked yet.
    #[default]
    Unknown,
    /// In none: nothing moves, or some thread may start others wherever it is.
    Never,
    /// Once none of these threads may start others: where each is in the state, and what it runs.
    Once(Box<[(u32, u32)]>),
}

/// What names are in a program.
#[derive(Debug)]
enum Names {
    /// Numbers; some of them are found to be identities.
    Numbers(Numbers),
    /// References and ids of threads, which programs can only copy, compare and follow.
    Opaque {
        pins: Pins,
        /// Whether the rows of each collection type are ordered.
        ordered: Vec<bool>,
    },
}

impl Renaming {
    /// For states of this machine. `dead` says, for each function and location, which locals have no value there (they are
    /// zero); an empty list: none is known to be. `asked`: what renamings must leave alone.
    pub fn new(machine: &Machine, dead: Vec<Vec<Vec<bool>>>, asked: Asked) -> Renaming {
        let program = machine.program();
        let names = if program.features.dynamic {
            let ordered = program.collection_types.iter().map(|c| c.extension.ordered()).collect();
            Names::Opaque { pins: Pins::new(program), ordered }
        } else {
            Names::Numbers(Numbers::new(machine, dead, asked))
        };
        Renaming::over(machine.layout.clone(), Arc::new(names), machine.shapes.share())
    }

    fn over(layout: Arc<Layout>, names: Arc<Names>, shapes: Shapes) -> Renaming {
        Renaming {
            layout,
            names,
            shapes,
            renamed: Vec::new(),
            pictures: Vec::new(),
            shape: 0,
            places: Places::default(),
            point_number: Vec::new(),
            composed: Vec::new(),
            reading: Reading::default(),
            order: Vec::new(),
            new_threads: Vec::new(),
            new_objects: Vec::new(),
            description: Vec::new(),
            row_cells: Vec::new(),
        }
    }

    /// Where names are opaque: what may be renamed, in words; and why threads, or some of them, keep their place, and where the program
    /// says so.
    pub fn opaque(&self) -> Option<(&str, Option<Limit>)> {
        match &*self.names {
            Names::Opaque { pins, .. } => Some((&pins.found, pins.limit)),
            Names::Numbers(_) => None,
        }
    }

    /// Where names are numbers: is it known that nothing is renamed in any state?
    pub fn is_refused(&self) -> bool {
        match &*self.names {
            Names::Numbers(numbers) => numbers.is_refused(),
            Names::Opaque { .. } => false,
        }
    }

    /// Where names are numbers: what may be renamed in states where the threads of this state exist; `None` while more can be started.
    pub fn symmetry(&self, machine: &Machine, state: &[u64]) -> Option<Arc<Symmetry>> {
        let Names::Numbers(numbers) = &*self.names else { return None };
        let memory = state.as_ptr().cast::<u8>();
        let number = machine.shape_number(memory);
        (!numbers.may_start(machine, memory))
            .then(|| numbers.symmetry(machine, number, machine.shape_at(memory)))
    }

    /// Where names are numbers, and it is known which threads there will be: what may be renamed once all of them exist. Until then nothing is.
    pub fn finally(&self, machine: &Machine) -> Option<Arc<Symmetry>> {
        match &*self.names {
            Names::Numbers(numbers) => numbers.finally(machine),
            Names::Opaque { .. } => None,
        }
    }

    /// Where names are numbers: the lines that tell these threads apart; none if there are too many to try.
    pub fn reasons(&self, machine: &Machine, known: &Symmetry, effort: Effort) -> Option<Reasons> {
        match &*self.names {
            Names::Numbers(numbers) => numbers.reasons(machine, known, effort),
            Names::Opaque { .. } => Some(Reasons::default()),
        }
    }

    /// Where names are numbers: threads of different functions that look alike and are not exchanged, and where they first differ;
    /// none if that is too much to find out.
    pub fn differences(
        &self,
        machine: &Machine,
        known: &Symmetry,
        effort: Effort,
    ) -> Option<Vec<(u32, u32, Difference)>> {
        match &*self.names {
            Names::Numbers(numbers) => numbers.differences(machine, known, effort),
            Names::Opaque { .. } => Some(Vec::new()),
        }
    }

    /// What may be renamed in the largest of the shapes met so far in which something may be.
    pub fn largest(&self) -> Option<Arc<Symmetry>> {
        let moving = self.found().into_iter().filter(|s| !s.is_trivial());
        moving.max_by_key(|s| (s.threads.len(), s.threads.clone()))
    }

    /// All that was found of sets of threads met so far, by any worker.
    pub fn found(&self) -> Vec<Arc<Symmetry>> {
        match &*self.names {
            Names::Numbers(numbers) => numbers.found(),
            Names::Opaque { .. } => Vec::new(),
        }
    }

    /// Was any state renamed so far, by any worker? Where names are opaque this is not known, and counts as yes.
    pub fn has_renamed(&self) -> bool {
        match &*self.names {
            Names::Numbers(numbers) => numbers.has_renamed(),
            Names::Opaque { .. } => true,
        }
    }

    /// Transformations that take each other's place in representatives, where these are not the same: lists of functions, locations and
    /// numbers there.
    pub fn exchanged(&self) -> Vec<Vec<(u32, u32, u32)>> {
        self.found().iter().flat_map(|symmetry| symmetry.exchanged.clone()).collect()
    }

    /// What may be renamed in the state whose graph was made last.
    pub fn current(&self) -> Option<&Symmetry> {
        self.picture(self.shape)?.points.as_ref().map(|p| &*p.symmetry)
    }

    /// Can a thread of this state still start another? Then nothing is renamed in it, where names are numbers.
    #[inline]
    pub fn may_start(&self, machine: &Machine, state: &[u64]) -> bool {
        match &*self.names {
            Names::Numbers(numbers) => numbers.may_start(machine, state.as_ptr().cast()),
            Names::Opaque { .. } => false,
        }
    }

    /// Threads and locations of which representatives of states of this shape may have one for another, by class.
    pub fn places(&mut self, machine: &Machine, state: &[u64]) -> Vec<Vec<(u32, u32)>> {
        if self.may_start(machine, state) {
            return Vec::new();
        }
        let shape = machine.shape_of(state) as usize;
        self.draw(machine, shape);
        let points = self.picture(shape).and_then(|picture| picture.points.as_ref());
        points.map_or_else(Vec::new, |points| points.symmetry.places())
    }

    #[inline]
    fn picture(&self, shape: usize) -> Option<&Picture> {
        self.pictures.get(shape)?.as_ref()?.as_deref()
    }

    /// Makes the picture of a shape if it is missing.
    #[inline]
    fn draw(&mut self, machine: &Machine, shape: usize) {
        if self.pictures.get(shape).is_none_or(Option::is_none) {
            self.draw_new(machine, shape);
        }
    }

    #[cold]
    fn draw_new(&mut self, machine: &Machine, number: usize) {
        self.shapes.meet(number as u32);
        if self.pictures.len() <= number {
            self.pictures.resize_with(self.shapes.list.len(), || None);
        }
        let shape = &self.shapes.list[number];
        let picture = match &*self.names {
            Names::Opaque { pins, ordered } => {
                Some(Arc::new(objects::picture(shape, &self.layout, &pins.functions, ordered)))
            }
            Names::Numbers(numbers) => numbers.picture(machine, &self.layout, number as u32, shape),
        };
        if let Some(renamed) = self.renamed.get_mut(number).filter(|_| picture.is_none()) {
            *renamed = Renamed::Never;
        }
        self.pictures[number] = Some(picture);
    }

    /// Finds out when anything in states of this state's shape is renamed. The machine knows the shape; a view of one's own is only needed where
    /// something moves.
    #[cold]
    fn look_at(&mut self, machine: &Machine, state: &[u64]) {
        let number = machine.shape_of(state) as usize;
        if self.renamed.len() <= number {
            self.renamed.resize(number + 1, Renamed::Unknown);
        }
        let is_still = matches!(self.pictures.get(number), Some(Some(None)));
        self.renamed[number] = match &*self.names {
            _ if is_still => Renamed::Never,
            Names::Opaque { .. } => Renamed::Once(Box::default()),
            Names::Numbers(numbers) => numbers.renamed(machine, state),
        };
    }

    /// Whether it is known without a picture that nothing is renamed in states of this state's shape.
    #[cold]
    fn is_shape_refused(&mut self, machine: &Machine, state: &[u64]) -> bool {
        let Names::Numbers(numbers) = &*self.names else { return false };
        let refused = numbers.refuses(machine, state);
        if refused {
            self.renamed[machine.shape_of(state) as usize] = Renamed::Never;
        }
        refused
    }

    /// Chooses the picture for a state; `false` when nothing of it may be renamed.
    #[inline]
    fn choose(&mut self, machine: &Machine, state: &[u64]) -> bool {
        if state.is_empty() {
            return false;
        }
        let memory = state.as_ptr().cast::<u8>();
        let shape = machine.shape_number(memory) as usize;
        if matches!(self.renamed.get(shape), None | Some(Renamed::Unknown)) {
            self.look_at(machine, state);
        }
        match (&self.renamed[shape], &*self.names) {
            (Renamed::Once(threads), Names::Numbers(numbers)) => {
                let mut places = threads.iter().map(|(at, of)| (*of, machine.location(memory, *at, *of)));
                if places.any(|(of, location)| numbers.starts_from(of, location)) {
                    return false;
                }
            }
            (Renamed::Never, _) => return false,
            _ => {}
        }
        if !matches!(self.pictures.get(shape), Some(Some(_))) && self.is_shape_refused(machine, state) {
            return false;
        }
        self.shape = shape;
        self.draw(machine, shape);
        let Some(picture) = self.picture(shape) else { return false };
        picture.points.as_ref().is_none_or(|p| p.is_known(|s| machine.location(memory, s.at, s.function)))
    }
}

impl Worker for Renaming {
    /// The same, with nothing remembered.
    fn another(&self) -> Renaming {
        Renaming::over(self.layout.clone(), self.names.clone(), self.shapes.share())
    }
}

impl StateGraph<Machine> for Renaming {
    fn graph(&mut self, machine: &Machine, state: &[u64], out: &mut Graph) -> bool {
        let shown = self.choose(machine, state);
        if shown {
            self.show(machine, state, out);
        }
        shown
    }

    fn rename(&mut self, machine: &Machine, state: &[u64], number: &[u32], out: &mut Vec<u64>) -> bool {
        self.rename_by(machine, state, number, out)
    }

    fn new_name(&self, thread: u32) -> u32 {
        self.new_name_of(thread)
    }

    #[inline]
    fn shortcut(&mut self, machine: &Machine, state: &[u64], out: &mut Vec<u64>) -> Option<bool> {
        if matches!(&*self.names, Names::Opaque { .. }) {
            return None;
        }
        if !self.choose(machine, state) {
            return Some(false);
        }
        let points = self.picture(self.shape)?.points.as_ref()?;
        if points.members.is_empty() {
            return None;
        }
        let mut reading = std::mem::take(&mut self.reading);
        self.read(machine, state, &mut reading);
        let mut places = std::mem::take(&mut self.places);
        let members = &self.picture(self.shape)?.points.as_ref()?.members;
        let least = reading.least(members);
        places.from.clone_from(&members[least].from);
        places.to.clone_from(&members[least].to);
        let points = self.picture(self.shape)?.points.as_ref()?;
        let changed = least > 0 || points.has_unread(|at, cell| read(state, at, cell));
        (self.reading, self.places) = (reading, places);
        if changed {
            self.apply(machine, state, self.shape, out);
        }
        Some(changed)
    }

    #[inline]
    fn stays(&mut self, machine: &Machine, state: &[u64]) -> bool {
        matches!(&*self.names, Names::Numbers(_)) && !self.choose(machine, state)
    }

    fn exchanges(&self) -> Option<&Exchanges> {
        self.current()?.structure.exchanges.as_ref()
    }

    fn orbit(&mut self, machine: &Machine, state: &[u64], scratch: &mut Graph) -> Option<f64> {
        if matches!(&*self.names, Names::Opaque { .. }) {
            return None;
        }
        if !self.choose(machine, state) {
            return Some(1.0);
        }
        let points = self.picture(self.shape)?.points.as_ref()?;
        let structure = &points.symmetry.structure;
        let (few, exact, order) = (!points.members.is_empty(), structure.exact, structure.order);
        // What leaves the state as it is: by members, or as the automorphisms of its graph, which has the structure's edges.
        if few {
            let mut reading = std::mem::take(&mut self.reading);
            self.read(machine, state, &mut reading);
            let same = reading.same(&self.picture(self.shape)?.points.as_ref()?.members);
            self.reading = reading;
            return Some(order / same as f64);
        }
        if !exact {
            return None;
        }
        self.show(machine, state, scratch);
        let strong = Strong::automorphisms(scratch);
        (!strong.cut()).then(|| order / strong.order())
    }
}
