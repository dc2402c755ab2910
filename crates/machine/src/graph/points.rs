//! The nodes of states where numbers are names: what may be renamed is found by `quotient-identity`.
//!
//! Everything that moves together is a *point* and has a node: a thread, its cells, the cells of arrays with its number, the channels made for
//! it. What a part of a state is to its point is its *role*. Nodes of one kind have parts with the same roles, and list them in
//! the same order, so that moving a point to another's place is a walk over both lists. Where a thread stands is a part as well: a location
//! moves with its thread, or apart from it. Everything else belongs to the root and stays; of it, only what may hold names is shown.
//!
//! Threads that have ended are missing from a shape, and with them all that was theirs; they kept their place, so that no other does.
//!
//! A constant (a local that nobody changes) stays with its thread when everything else is exchanged. It has its value where it is alive, and
//! none where it is dead.

use std::collections::HashMap;
use std::sync::Arc;

use quotient_identity::{Field, Holds as Held, Part, Place, Symmetry, Var};
use quotient_program::{Action, Program, Type, VariableId};

use super::picture::{Channel, Edge, Leads, Local, NO_NODE, Picture, Run, Slot, Stands, Word};
use super::small_group::members;
use crate::claim::CLAIM_THREAD;
use crate::state::cell::{Cell, scalar_of};
use crate::state::layout::Layout;
use crate::state::shapes::Shape;

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// A name of this class, by its number in [`Points::names`].
    Name(u32),
    /// The number of a channel.
    Channel,
}

/// What a field of a channel's messages holds; without anything, data.
#[derive(Clone, Debug)]
pub(super) enum Content {
    One(Option<Holds>),
    /// What the value of another field says.
    Tagged {
        tag: usize,
        holds: Vec<(i32, Option<Holds>)>,
    },
}

impl Content {
    /// What it holds in one message; `field` gives the values of others.
    #[inline]
    pub(super) fn holds(&self, field: impl Fn(usize) -> i32) -> Option<Holds> {
        match self {
            Content::One(holds) => *holds,
            Content::Tagged { tag, holds } => {
                let tag = field(*tag);
                holds.iter().find(|(value, _)| *value == tag).and_then(|(_, holds)| *holds)
            }
        }
    }

    fn is_data(&self) -> bool {
        match self {
            Content::One(holds) => holds.is_none(),
            Content::Tagged { holds, .. } => holds.iter().all(|(_, holds)| holds.is_none()),
        }
    }
}

/// Who takes whose place.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// For each point the one whose place it takes over.
    pub(super) from: Vec<u32>,
    /// For each point its new place.
    pub(super) to: Vec<u32>,
}

impl Places {
    /// Finds the new places from who takes over which.
    pub(super) fn turn(&mut self) {
        self.to.clear();
        self.to.resize(self.from.len(), 0);
        for (at, from) in self.from.iter().enumerate() {
            self.to[*from as usize] = at as u32;
        }
    }
}

/// The values of a class that move, each with its place.
#[derive(Clone, Debug, Default)]
struct ClassOfNames {
    least: i32,
    places: Vec<Option<Place>>,
}

impl ClassOfNames {
    fn new(values: &[(i32, Place)]) -> ClassOfNames {
        let least = values.iter().map(|(value, _)| *value).min().unwrap_or(0);
        let most = values.iter().map(|(value, _)| *value).max().unwrap_or(0);
        let mut places = vec![None; (most - least) as usize + 1];
        for (value, place) in values {
            places[(value - least) as usize] = Some(*place);
        }
        ClassOfNames { least, places }
    }

    #[inline]
    fn place(&self, value: i32) -> Option<Place> {
        let index = usize::try_from(i64::from(value) - i64::from(self.least)).ok()?;
        self.places.get(index).copied().flatten()
    }
}

/// The widest range of values among which those of a class lie.
const WIDEST: i64 = 1 << 16;

/// A thread that moves, or whose locations do.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) thread: u32,
    pub(super) function: u32,
    /// Where its segment starts.
    pub(super) at: u32,
    /// Where the thread is; none if it stays.
    pub(super) place: Option<Place>,
    /// Where each of its locations is; none for those that stay, or where it never stands.
    pub(super) locations: Vec<Option<Place>>,
    /// Locals that do not move with it, but are forgotten where they are dead.
    forgets: Vec<Forgotten>,
}

/// A scalar of a local that has this value where it is alive; without one, nobody reads it, and representatives have zero there: the thread
/// whose place is taken may have forgotten it already.
#[derive(Clone, Copy, Debug)]
struct Forgotten {
    at: u32,
    cell: Cell,
    variable: u32,
    value: Option<i32>,
}

/// The numbers that are names, in one shape.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) symmetry: Arc<Symmetry>,
    names: Vec<ClassOfNames>,
    /// The place of each channel, from number 1.
    channels: Vec<Option<Place>>,
    /// By role and point: the number of the thread, channel or location, or the value of the name.
    images: Vec<i32>,
    /// For each channel, from number 1, what its fields hold.
    pub(super) fields: Vec<Vec<Content>>,
    pub(super) standing: Vec<Standing>,
    /// For each thread its number in [`Points::standing`], if it is there.
    of_thread: Vec<Option<u32>>,
    /// For each node the threads of [`Points::standing`] that it has.
    pub(super) stand: Vec<Vec<u32>>,
    /// Some location of a thread that moves is one where it never stands.
    unsure: bool,
    /// Some locals that may have a value are never read.
    unread: bool,
    /// First label that the structure does not use.
    pub(super) first_label: u32,
    /// Labels one slot may use: one for each role.
    pub(super) stride: u32,
    /// All renamings, if they are few.
    pub(super) members: Vec<Places>,
}

/// What a value is shown as.
pub(super) enum Shown {
    /// An edge with a label to a node.
    Edge(u32, u32),
    Data(u64),
}

impl Points {
    /// How many points there are.
    pub(super) fn len(&self) -> usize {
        self.symmetry.structure.graph.len()
    }

    fn place_of(&self, holds: Holds, value: i32) -> Option<Place> {
        match holds {
            Holds::Name(class) => self.names[class as usize].place(value),
            Holds::Channel => {
                let index = usize::try_from(value).ok()?.checked_sub(1)?;
                self.channels.get(index).copied().flatten()
            }
        }
    }

    /// What a value of a slot is shown as; `label` is the slot's first.
    #[inline]
    pub(super) fn show(&self, holds: Holds, value: i32, label: u32) -> Shown {
        match self.place_of(holds, value) {
            Some(place) => Shown::Edge(label + place.role, place.point + 1),
            None => Shown::Data(u64::from(value as u32)),
        }
    }

    /// The new place of a node.
    #[inline]
    pub(super) fn node(&self, node: u32, places: &Places) -> u32 {
        node.checked_sub(1).map_or(0, |point| places.to[point as usize] + 1)
    }

    /// What is at a place afterwards, seen from where it was: the number of what takes its place.
    #[inline]
    pub(super) fn image(&self, place: Place, places: &Places) -> i32 {
        self.images[place.role as usize * self.len() + places.to[place.point as usize] as usize]
    }

    /// A value under a renaming.
    #[inline]
    pub(super) fn renamed(&self, holds: Holds, value: i32, places: &Places) -> i32 {
        self.place_of(holds, value).map_or(value, |place| self.image(place, places))
    }

    /// What a thread is called under a renaming.
    pub(super) fn name(&self, thread: u32, places: &Places) -> u32 {
        let place = self.standing(thread).and_then(|standing| standing.place);
        place.map_or(thread, |place| self.image(place, places) as u32)
    }

    /// Where a thread stands, if it or its locations move.
    #[inline]
    pub(super) fn standing(&self, thread: u32) -> Option<&Standing> {
        self.of_thread.get(thread as usize).copied().flatten().map(|at| &self.standing[at as usize])
    }

    /// Does every thread that moves stand where it is known to?
    #[inline]
    pub(super) fn is_known(&self, location: impl Fn(&Standing) -> u32) -> bool {
        !self.unsure
            || self.standing.iter().all(|s| {
                s.place.is_none() || s.locations.get(location(s) as usize).is_some_and(Option::is_some)
            })
    }

    /// The locals of a thread that do not move with it, but are forgotten: what each is now. `dead` says which variables are.
    pub(super) fn forgotten(
        &self,
        standing: &Standing,
        dead: impl Fn(u32) -> bool,
        mut store: impl FnMut(u32, Cell, i32),
    ) {
        for local in &standing.forgets {
            match (dead(local.variable), local.value) {
                (false, Some(value)) => store(local.at, local.cell, value),
                _ => store(local.at, local.cell, 0),
            }
        }
    }

    /// Does a local that nobody reads any more still have a value?
    #[inline]
    pub(super) fn has_unread(&self, read: impl Fn(u32, Cell) -> i32) -> bool {
        self.unread && {
            let all = self.standing.iter().flat_map(|s| &s.forgets);
            all.filter(|local| local.value.is_none()).any(|local| read(local.at, local.cell) != 0)
        }
    }
}

/// A node while its parts are being found.
#[derive(Clone, Debug, Default)]
struct Found {
    /// With their roles; the root's have none.
    runs: Vec<(u32, Run)>,
    slots: Vec<(u32, Slot)>,
    channels: Vec<(u32, Channel)>,
    /// Positions in the list of threads.
    threads: Vec<(u32, u32)>,
}

/// The nodes for a shape; none if names are too far apart.
pub(super) fn picture(
    program: &Program,
    layout: &Layout,
    shape: &Shape,
    symmetry: Arc<Symmetry>,
    reduced: bool,
) -> Option<Picture> {
    let count = symmetry.structure.graph.len();
    let mut builder = Builder {
        program,
        layout,
        shape,
        symmetry: &symmetry,
        classes: HashMap::new(),
        names: Vec::new(),
        nodes: vec![Found::default(); count + 1],
        standing: Vec::new(),
        fields: Vec::new(),
        unsure: false,
    };
    builder.names()?;
    builder.cells()?;
    builder.channels();
    builder.threads(reduced)?;
    builder.claim();
    let Builder { names, mut nodes, standing, fields, unsure, .. } = builder;
    let roles = symmetry.structure.place.values().map(|p| p.role + 1).max().unwrap_or(0);
    let mut images = vec![0; roles as usize * count];
    for (part, place) in &symmetry.structure.place {
        images[place.role as usize * count + place.point as usize] = match part {
            Part::Thread(thread) => *thread as i32,
            Part::Channel(number) => *number,
            Part::Name(_, value) => *value,
            Part::Location(_, location) | Part::Watch(location) => *location as i32,
            Part::Cell(_) => 0,
        };
    }
    // A variable may still name a channel that has gone with its thread.
    let channels = (1..=symmetry.fields.len() as i32).map(|n| symmetry.place(Part::Channel(n))).collect();
    let mut of_thread = vec![None; shape.threads.len()];
    for (at, standing) in standing.iter().enumerate().filter(|(_, s)| s.thread != CLAIM_THREAD) {
        of_thread[standing.thread as usize] = Some(at as u32);
    }
    let unread = standing.iter().flat_map(|s| &s.forgets).any(|local| local.value.is_none());
    let graph = &symmetry.structure.graph;
    let labels = (0..count as u32).flat_map(|p| graph.edges(p)).map(|e| e.label + 1);
    let first_label = labels.max().unwrap_or(0);
    arrange(&symmetry, &mut nodes);
    let mut picture = draw(shape, &symmetry, &nodes, &standing);
    picture.points = Some(Box::new(Points {
        first_label,
        stride: roles.max(1),
        members: members(&symmetry.structure.group),
        stand: nodes.iter().map(|n| n.threads.iter().map(|(_, at)| *at).collect()).collect(),
        names,
        channels,
        images,
        fields,
        standing,
        of_thread,
        unread,
        unsure,
        symmetry,
    }));
    Some(picture)
}

/// Brings the parts of all nodes of one kind into the same order, that of the bytes of the first of them, and makes one run of
/// neighbours that are neighbours in all of them.
fn arrange(symmetry: &Symmetry, nodes: &mut [Found]) {
    let kind = |node: usize| symmetry.structure.graph.kind(node as u32 - 1);
    let mut kinds: HashMap<u32, Vec<usize>> = HashMap::new();
    for node in 1..nodes.len() {
        kinds.entry(kind(node)).or_default().push(node);
    }
    for members in kinds.into_values() {
        let first = &nodes[members[0]];
        let place: HashMap<u32, u32> = first.runs.iter().map(|(role, run)| (*role, run.at)).collect();
        for node in &members {
            let node = &mut nodes[*node];
            node.runs.sort_by_key(|(role, _)| place.get(role).copied());
            node.slots.sort_by_key(|(role, _)| *role);
            node.channels.sort_by_key(|(role, _)| *role);
            node.threads.sort_by_key(|(role, _)| *role);
        }
        let mut at = 1;
        while at < nodes[members[0]].runs.len() {
            let adjacent = |node: &usize| {
                let runs = &nodes[*node].runs;
                let (a, b) = (runs[at - 1].1, runs[at].1);
                a.at + a.len == b.at
            };
            if members.iter().all(adjacent) {
                for node in &members {
                    let (_, taken) = nodes[*node].runs.remove(at);
                    nodes[*node].runs[at - 1].1.len += taken.len;
                }
            } else {
                at += 1;
            }
        }
    }
}

/// The nodes in flat lists.
fn draw(shape: &Shape, symmetry: &Symmetry, nodes: &[Found], standing: &[Standing]) -> Picture {
    let graph = &symmetry.structure.graph;
    let mut picture = Picture { threads: vec![NO_NODE; shape.threads.len()], ..Picture::default() };
    for (index, node) in nodes.iter().enumerate() {
        let point = (index as u32).checked_sub(1);
        if let Some(point) = point {
            let edges = graph.edges(point).iter();
            let edges = edges.map(|e| Edge { label: e.label, leads: Leads::To(e.target + 1) });
            picture.edges.extend(edges);
        }
        for (_, run) in &node.runs {
            let word = |done: u32| Word::bytes(shape, run.at + done, (run.len - done).min(8));
            picture.words.extend((0..run.len).step_by(8).map(word));
            picture.runs.push(*run);
        }
        picture.slots.extend(node.slots.iter().map(|(_, slot)| *slot));
        picture.channels.extend(node.channels.iter().map(|(_, channel)| *channel));
        for (_, at) in node.threads.iter().filter(|(_, at)| standing[*at as usize].thread != CLAIM_THREAD) {
            picture.threads[standing[*at as usize].thread as usize] = index as u32;
        }
        let (stands, control) = match (point, node.threads.first()) {
            (None, _) => (Stands::Root, 0),
            (_, Some((_, at))) => (Stands::Thread(standing[*at as usize].thread), node.threads.len() as u32),
            _ => (Stands::Cells, 0),
        };
        picture.end_node(stands, point.map_or(0, |p| graph.kind(p) + 1), control, 0);
    }
    picture
}

struct Builder<'a> {
    program: &'a Program,
    layout: &'a Layout,
    shape: &'a Shape,
    symmetry: &'a Symmetry,
    /// The classes of which some name moves, numbered.
    classes: HashMap<u32, u32>,
    names: Vec<ClassOfNames>,
    /// The root, then one node for each point.
    nodes: Vec<Found>,
    standing: Vec<Standing>,
    fields: Vec<Vec<Content>>,
    unsure: bool,
}

impl Builder<'_> {
    fn names(&mut self) -> Option<()> {
        let mut values: HashMap<u32, Vec<(i32, Place)>> = HashMap::new();
        for (part, place) in &self.symmetry.structure.place {
            if let Part::Name(class, value) = part {
                values.entry(*class).or_default().push((*value, *place));
            }
        }
        for (class, values) in values {
            let (least, most) = values.iter().fold((i64::MAX, i64::MIN), |(least, most), (value, _)| {
                (least.min(i64::from(*value)), most.max(i64::from(*value)))
            });
            if most - least > WIDEST {
                return None;
            }
            self.classes.insert(class, self.names.len() as u32);
            self.names.push(ClassOfNames::new(&values));
        }
        Some(())
    }

    fn holds(&self, held: Held) -> Option<Holds> {
        match held {
            Held::Name(class) => self.classes.get(&class).map(|class| Holds::Name(*class)),
            Held::Channel => Some(Holds::Channel),
            Held::Data | Held::Constant(_) => None,
        }
    }

    fn content(&self, field: Field) -> Content {
        match field {
            Field::One(held) => Content::One(self.holds(held)),
            Field::Tagged { tag, holds } => Content::Tagged {
                tag,
                holds: holds.into_iter().map(|(v, held)| (v, self.holds(held))).collect(),
            },
        }
    }

    /// Where a cell lies, and the local it is part of.
    fn place_of(&self, var: Var, scalar: u32) -> Option<(u32, Cell, Option<Local>)> {
        let (start, ty, local): (u32, &Type, Option<Local>) = match var {
            Var::Global(v) => (self.layout.globals[v as usize], &self.program.globals[v as usize].ty, None),
            Var::Local(thread, v) => {
                let instance = self.shape.threads.get(thread as usize)?;
                let locals = &self.program.functions[instance.kind as usize].locals;
                let at = instance.at + self.layout.threads[instance.kind as usize].locals[v as usize];
                let local = Local { function: instance.kind, segment: instance.at, variable: v };
                (at, &locals[v as usize].ty, Some(local))
            }
            Var::Remote(..) => return None,
        };
        let (within, cell) = scalar_of(self.program, ty, scalar as usize)?;
        Some((start + within, cell, local))
    }

    /// Is this a local of a thread that is not there any more?
    fn has_ended(&self, var: Var) -> bool {
        matches!(var, Var::Local(thread, _) if thread as usize >= self.shape.threads.len())
    }

    fn cells(&mut self) -> Option<()> {
        let mut held: HashMap<(Var, u32), Held> = self.symmetry.cells.iter().copied().collect();
        let mut moving: Vec<((Var, u32), Place)> = Vec::new();
        for (part, place) in &self.symmetry.structure.place {
            if let Part::Cell(cell) = part {
                moving.push((*cell, *place));
            }
        }
        for (cell, place) in moving {
            if self.has_ended(cell.0) {
                continue;
            }
            let (at, size, local) = self.place_of(cell.0, cell.1)?;
            let holds = held.remove(&cell).and_then(|held| self.holds(held));
            let node = &mut self.nodes[place.point as usize + 1];
            match holds {
                Some(holds) => node.slots.push((place.role, Slot { at, cell: size, holds, local })),
                None => node.runs.push((place.role, Run { at, len: size.size() })),
            }
        }
        // What stays may still hold names.
        for (cell, kept) in held {
            if let Some(holds) = self.holds(kept).filter(|_| !self.has_ended(cell.0)) {
                let (at, size, local) = self.place_of(cell.0, cell.1)?;
                self.nodes[0].slots.push((0, Slot { at, cell: size, holds, local }));
            }
        }
        self.nodes[0].slots.sort_by_key(|(_, slot)| slot.at);
        Some(())
    }

    fn channels(&mut self) {
        for (index, instance) in self.shape.channels.iter().enumerate() {
            let held = self.symmetry.fields.get(index).cloned().unwrap_or_default();
            let fields: Vec<Content> = held.into_iter().map(|held| self.content(held)).collect();
            let holds_data = fields.iter().all(Content::is_data);
            self.fields.push(fields);
            let number = index as i32 + 1;
            let place = self.symmetry.place(Part::Channel(number));
            let (role, node) = place.map_or((0, 0), |place| (place.role, place.point + 1));
            let node = &mut self.nodes[node as usize];
            let len = self.layout.channels[instance.kind as usize].size;
            if !holds_data {
                let channel = Channel { at: instance.at, kind: instance.kind, number: index as u32 };
                node.channels.push((role, channel));
            } else if place.is_some() && len > 0 {
                node.runs.push((role, Run { at: instance.at, len }));
            }
        }
    }

    fn threads(&mut self, reduced: bool) -> Option<()> {
        for (thread, instance) in self.shape.threads.iter().enumerate() {
            let thread = thread as u32;
            let place = self.symmetry.place(Part::Thread(thread));
            let locations = self.program.functions[instance.kind as usize].locations.len() as u32;
            let locations: Vec<Option<Place>> =
                (0..locations).map(|l| self.symmetry.place(Part::Location(thread, l))).collect();
            if place.is_none() && locations.iter().all(Option::is_none) {
                continue;
            }
            self.unsure |= place.is_some() && locations.iter().any(Option::is_none);
            let forgets = if reduced { self.forgets(thread, instance.kind)? } else { Vec::new() };
            let (role, node) = place.map_or((0, 0), |place| (place.role, place.point + 1));
            self.nodes[node as usize].threads.push((role, self.standing.len() as u32));
            let (function, at) = (instance.kind, instance.at);
            self.standing.push(Standing { thread, function, at, place, locations, forgets });
        }
        Some(())
    }

    /// The claim, if its locations move: a thread that stays where it is.
    fn claim(&mut self) {
        let Some(at) = self.layout.claim else { return };
        let moving = self.symmetry.structure.place.keys();
        let last = moving.filter_map(|part| if let Part::Watch(l) = part { Some(*l) } else { None }).max();
        let Some(last) = last else { return };
        let locations = (0..=last).map(|l| self.symmetry.place(Part::Watch(l))).collect();
        // Its layout is after those of the program's functions.
        let function = self.program.functions.len() as u32;
        self.nodes[0].threads.push((0, self.standing.len() as u32));
        let forgets = Vec::new();
        self.standing.push(Standing { thread: CLAIM_THREAD, function, at, place: None, locations, forgets });
    }

    /// The locals of a thread that do not move with it and that its function writes or forgets.
    fn forgets(&self, thread: u32, function: u32) -> Option<Vec<Forgotten>> {
        let code = &self.program.functions[function as usize];
        let mut changed = vec![false; code.locals.len()];
        for action in code.locations.iter().flat_map(|l| &l.transformations).flat_map(|t| &t.actions) {
            match action {
                Action::Forget(VariableId(v)) => changed[*v as usize] = true,
                Action::Assign(place, _) => {
                    if let quotient_program::Root::Local(VariableId(v)) = place.root {
                        changed[v as usize] = true;
                    }
                }
                _ => {}
            }
        }
        let constants: HashMap<(Var, u32), Held> = self.symmetry.cells.iter().copied().collect();
        let mut out = Vec::new();
        for (v, local) in code.locals.iter().enumerate().filter(|(v, _)| changed[*v]) {
            let var = Var::Local(thread, v as u32);
            for scalar in 0..self.program.scalars(&local.ty) as u32 {
                let moves = self.symmetry.place(Part::Cell((var, scalar))).is_some();
                let value = match constants.get(&(var, scalar)) {
                    Some(Held::Constant(value)) => Some(*value),
                    _ => None,
                };
                if moves || value.is_none() && !self.symmetry.is_untouched((var, scalar)) {
                    continue;
                }
                let (at, cell, _) = self.place_of(var, scalar)?;
                out.push(Forgotten { at, cell, variable: v as u32, value });
            }
        }
        Some(out)
    }
}
