//! The nodes of states where numbers are names: what may be renamed is found by `quotient-identity`.
//!
//! Every movable identity is a *point* and has a node: a thread with its segment, and with it, or instead, the cells with its number of
//! the arrays it indexes, and the channels made for those. A cell with two movable indices (a row of one, a column of another) is
//! a node of its own with edges to both. Everything else belongs to the root and stays; it need not be shown.
//!
//! Nodes of one kind list their bytes in the same order, since they are found by one walk over the variables.

use std::collections::HashMap;

use quotient_identity::{Class, Identities, Scalar, Tree};
use quotient_program::{Program, Type};

use super::picture::{Channel, Edge, Leads, Local, NO_NODE, Picture, Run, Slot, Stands, Word};
use super::small_group::members;
use crate::state::cell::{Cell, size_of_type};
use crate::state::layout::Layout;
use crate::state::shapes::Shape;

/// What a slot holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holds {
    Identity(Class),
    /// A channel; with the number of the one that was made for this variable.
    Channel(i32),
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

/// The numbers that are names, in one shape.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) identities: Identities,
    /// For each node the points it belongs to: none (the root), itself, or row and column.
    keys: Vec<Vec<u32>>,
    /// The node of the cell with these two keys.
    cells: HashMap<(u32, u32), u32>,
    /// For each channel the node that owns it and its position among the node's channels; node 0 for channels that stay.
    owner: Vec<(u32, u32)>,
    /// For each node the numbers of the channels made for it.
    owns: Vec<Vec<i32>>,
    /// For each kind of channel what its fields hold.
    pub(super) fields: Vec<Vec<Option<Holds>>>,
    /// First label that the structure does not use.
    pub(super) first_label: u32,
    /// Labels one slot may use: a channel is shown by its owner and its position there.
    pub(super) stride: u32,
    /// All renamings, if they are few and every node is a point.
    pub(super) members: Vec<Places>,
}

/// What a value is shown as.
pub(super) enum Shown {
    /// An edge with a label to a node.
    Edge(u32, u32),
    /// The channel that was made for the variable, which says nothing about names.
    Own,
    Data(u64),
}

impl Points {
    /// What a value of a slot is shown as; `label` is the slot's first.
    #[inline]
    pub(super) fn show(&self, holds: Holds, value: i32, label: u32) -> Shown {
        let target = match holds {
            Holds::Identity(class) => self.identities.point(class, value).map(|p| (p + 1, label)),
            Holds::Channel(own) if own == value => {
                // None is as good as its own.
                return Shown::Own;
            }
            Holds::Channel(_) => self.channel_owner(value).map(|(node, slot)| (node, label + slot)),
        };
        target.map_or(Shown::Data(u64::from(value as u32)), |(node, label)| Shown::Edge(label, node))
    }

    /// The node that a channel moves with, and which of its channels it is.
    fn channel_owner(&self, number: i32) -> Option<(u32, u32)> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.owner.get(index).copied().filter(|(node, _)| *node != 0)
    }

    /// The new place of a node.
    #[inline]
    pub(super) fn place(&self, node: u32, places: &Places) -> u32 {
        match self.keys[node as usize][..] {
            [point] => places.to[point as usize] + 1,
            [row, column] => self.cells[&(places.to[row as usize], places.to[column as usize])],
            _ => node,
        }
    }

    /// A value under a renaming.
    pub(super) fn renamed(&self, holds: Holds, value: i32, places: &Places) -> i32 {
        match holds {
            Holds::Identity(class) => match self.identities.point(class, value) {
                Some(point) => self.identities.points[places.to[point as usize] as usize].value,
                None => value,
            },
            Holds::Channel(_) => match self.channel_owner(value) {
                Some((node, slot)) => self.owns[self.place(node, places) as usize][slot as usize],
                None => value,
            },
        }
    }
}

/// Cells with more than two movable indices: nothing is renamed then.
#[derive(Debug)]
pub(super) struct TooDeep;

/// A node while its bytes are being found.
#[derive(Clone, Debug, Default)]
struct Found {
    kind: u32,
    keys: Vec<u32>,
    /// Its thread: number, function, and where its segment starts.
    thread: Option<(u32, u32, u32)>,
    runs: Vec<Run>,
    slots: Vec<Slot>,
    channels: Vec<Channel>,
    owns: Vec<i32>,
}

/// The nodes for a shape.
pub(super) fn picture(
    program: &Program,
    layout: &Layout,
    shape: &Shape,
    identities: Identities,
) -> Result<Picture, TooDeep> {
    let points = identities.points.len();
    let mut nodes = vec![Found::default(); points + 1];
    for (point, node) in nodes[1..].iter_mut().enumerate() {
        node.kind = identities.structure.kind(point as u32) + 1;
        node.keys = vec![point as u32];
    }
    let fields = identities.fields.iter().map(|f| f.iter().map(|s| holds(*s)).collect()).collect();
    let mut builder = Builder {
        program,
        identities: &identities,
        nodes,
        cells: HashMap::new(),
        owner: vec![(0, 0); shape.channels.len()],
        fields,
        channel_variables: HashMap::new(),
        local: None,
    };
    builder.globals(layout)?;
    builder.threads(layout, shape)?;
    builder.channels(layout, shape);
    let Builder { nodes, cells, owner, fields, .. } = builder;
    let labels = (0..points as u32).flat_map(|p| identities.structure.edges(p)).map(|e| e.label + 1);
    let first_label = labels.max().unwrap_or(0).max(2);
    let mut picture = draw(layout, shape, &identities, &nodes);
    picture.points = Some(Box::new(Points {
        first_label,
        stride: 1 + owner.iter().map(|(_, slot)| *slot).max().unwrap_or(0),
        members: if cells.is_empty() { members(&identities) } else { Vec::new() },
        keys: nodes.iter().map(|n| n.keys.clone()).collect(),
        owns: nodes.into_iter().map(|n| n.owns).collect(),
        cells,
        owner,
        fields,
        identities,
    }));
    Ok(picture)
}

/// The nodes in flat lists.
fn draw(layout: &Layout, shape: &Shape, identities: &Identities, nodes: &[Found]) -> Picture {
    let mut picture = Picture { threads: vec![NO_NODE; shape.threads.len()], ..Picture::default() };
    for (index, node) in nodes.iter().enumerate() {
        if let Some((thread, function, at)) = node.thread {
            let len = layout.threads[function as usize].location_size;
            picture.threads[thread as usize] = index as u32;
            picture.words.push(Word::bytes(shape, at, len));
            picture.runs.push(Run { at, len });
        }
        match node.keys[..] {
            // The root's own bytes never move: they need not be shown.
            [] => {}
            [point] => {
                let edges = identities.structure.edges(point).iter();
                let edges = edges.map(|e| Edge { label: e.label, leads: Leads::To(e.target + 1) });
                picture.edges.extend(edges);
            }
            _ => {
                let keys = node.keys.iter().enumerate();
                let edges = keys.map(|(label, p)| Edge { label: label as u32, leads: Leads::To(p + 1) });
                picture.edges.extend(edges);
            }
        }
        if !node.keys.is_empty() {
            for run in &node.runs {
                let pieces = (0..run.len).step_by(8);
                let word = |done: u32| Word::bytes(shape, run.at + done, (run.len - done).min(8));
                picture.words.extend(pieces.map(word));
            }
            picture.runs.extend(&node.runs);
        }
        picture.slots.extend(&node.slots);
        picture.channels.extend(&node.channels);
        let (stands, control) = match node.thread {
            Some((thread, ..)) => (Stands::Thread(thread), 1),
            None if index == 0 => (Stands::Root, 0),
            None => (Stands::Cells, 0),
        };
        picture.end_node(stands, node.kind, control, 0);
    }
    picture
}

fn holds(scalar: Scalar) -> Option<Holds> {
    match scalar {
        Scalar::Data => None,
        Scalar::Identity(class) => Some(Holds::Identity(class)),
        Scalar::Channel => Some(Holds::Channel(0)),
    }
}

struct Builder<'a> {
    program: &'a Program,
    identities: &'a Identities,
    /// The root, then one node for each point, then cells.
    nodes: Vec<Found>,
    cells: HashMap<(u32, u32), u32>,
    owner: Vec<(u32, u32)>,
    fields: Vec<Vec<Option<Holds>>>,
    /// Which node each channel variable belongs to, by its byte.
    channel_variables: HashMap<u32, u32>,
    local: Option<Local>,
}

impl Builder<'_> {
    fn globals(&mut self, layout: &Layout) -> Result<(), TooDeep> {
        let trees = &self.identities.globals;
        for (index, (variable, tree)) in self.program.globals.iter().zip(trees).enumerate() {
            self.variable(tree, &variable.ty, layout.globals[index], &mut Vec::new())?;
        }
        Ok(())
    }

    fn threads(&mut self, layout: &Layout, shape: &Shape) -> Result<(), TooDeep> {
        for (id, instance) in shape.threads.iter().enumerate() {
            let point = self.identities.thread.get(id).copied().flatten();
            let mut keys: Vec<u32> = point.into_iter().collect();
            if let Some(point) = point {
                self.nodes[point as usize + 1].thread = Some((id as u32, instance.kind, instance.at));
            }
            let thread = &layout.threads[instance.kind as usize];
            let trees = &self.identities.locals[instance.kind as usize];
            let function = &self.program.functions[instance.kind as usize];
            for (index, (variable, tree)) in function.locals.iter().zip(trees).enumerate() {
                self.local =
                    Some(Local { function: instance.kind, segment: instance.at, variable: index as u32 });
                self.variable(tree, &variable.ty, instance.at + thread.locals[index], &mut keys)?;
            }
            self.local = None;
        }
        Ok(())
    }

    /// The node with these keys.
    fn node(&mut self, keys: &[u32]) -> Result<u32, TooDeep> {
        match *keys {
            [] => Ok(0),
            [point] => Ok(point + 1),
            [row, column] => {
                if let Some(node) = self.cells.get(&(row, column)) {
                    return Ok(*node);
                }
                let structure = &self.identities.structure;
                let points = structure.len() as u32 + 2;
                // Cells of one kind have rows and columns of one kind.
                let kind = (structure.kind(row) + 1) * points + structure.kind(column) + points;
                let node = self.nodes.len() as u32;
                self.nodes.push(Found { kind, keys: keys.to_vec(), ..Found::default() });
                self.cells.insert((row, column), node);
                Ok(node)
            }
            _ => Err(TooDeep),
        }
    }

    fn variable(&mut self, tree: &Tree, ty: &Type, at: u32, keys: &mut Vec<u32>) -> Result<(), TooDeep> {
        match (tree, ty) {
            (Tree::Array(element, length, class), Type::Array(element_type, _)) => {
                let size = size_of_type(self.program, element_type);
                for index in 0..*length {
                    let point = class.and_then(|c| self.identities.point(c, index as i32));
                    keys.extend(point);
                    self.variable(element, element_type, at + index * size, keys)?;
                    keys.truncate(keys.len() - usize::from(point.is_some()));
                }
                Ok(())
            }
            (Tree::Structure(fields), Type::Structure(id)) => {
                let mut at = at;
                for (field, tree) in self.program.structure(*id).fields.iter().zip(fields) {
                    self.variable(tree, &field.ty, at, keys)?;
                    at += size_of_type(self.program, &field.ty);
                }
                Ok(())
            }
            (Tree::Scalar(scalar), ty) => {
                let node = self.node(keys)?;
                let cell = Cell::of(ty);
                if *ty == Type::Channel {
                    self.channel_variables.insert(at, node);
                }
                let local = self.local;
                let node = &mut self.nodes[node as usize];
                match (holds(*scalar), node.runs.last_mut()) {
                    (Some(holds), _) => node.slots.push(Slot { at, cell, holds, local }),
                    // Neighbours inside a segment are moved together: segments of one function lie alike.
                    (None, Some(run))
                        if local.is_some_and(|l| run.at >= l.segment) && run.at + run.len == at =>
                    {
                        run.len += cell.size();
                    }
                    (None, _) => node.runs.push(Run { at, len: cell.size() }),
                }
                Ok(())
            }
            // The analysis and the layout walk the same types.
            _ => Err(TooDeep),
        }
    }

    /// Channels go with the variables they were made for.
    fn channels(&mut self, layout: &Layout, shape: &Shape) {
        let variables = shape.channel_variables(layout).map(|(_, at)| at);
        for (index, (instance, at)) in shape.channels.iter().zip(variables).enumerate() {
            let number = index as i32 + 1;
            let node = self.channel_variables.get(&at).copied().unwrap_or(0);
            let found = &mut self.nodes[node as usize];
            self.owner[index] = (node, found.owns.len() as u32);
            found.owns.push(number);
            for slot in found.slots.iter_mut().filter(|s| s.at == at) {
                slot.holds = Holds::Channel(number);
            }
            let holds_data = self.fields[instance.kind as usize].iter().all(Option::is_none);
            if holds_data {
                found.runs.push(Run { at: instance.at, len: layout.channels[instance.kind as usize].size });
            } else {
                found.channels.push(Channel { at: instance.at, kind: instance.kind });
            }
        }
    }
}
