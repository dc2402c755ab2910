//! Where the parts of a state lie that a renaming moves, for one shape.
//!
//! Every movable identity is a node: a thread with its segment, and with it, or instead, the cells with its number of the
//! arrays it indexes, and the channels made for those. A cell with two movable indices (a row of one, a column of another) is
//! a node of its own with edges to both. Everything else belongs to the root and stays.
//!
//! Nodes of one kind list their bytes in the same order, since they are found by one walk over the variables.

use std::collections::HashMap;

use quotient_identity::{Class, Identities, Scalar, Tree};
use quotient_program::{Program, Type};

use super::small_group::{Member, members};
use crate::state::cell::{Cell, size_of_type};
use crate::state::layout::Layout;
use crate::state::shapes::Shape;

/// Bytes that are moved as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) at: u32,
    pub(super) len: u32,
}

/// A scalar that holds an identity or the number of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) at: u32,
    pub(super) cell: Cell,
    pub(super) holds: Holds,
    /// The local variable it is part of; it may be dead.
    pub(super) local: Option<Local>,
}

/// A local variable of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local {
    pub(super) function: u32,
    /// Where the thread's segment starts.
    pub(super) segment: u32,
    pub(super) variable: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Holds {
    Identity(Class),
    /// A channel; with the number of the one that was made for this variable.
    Channel(i32),
}

/// A channel that moves with its node and whose messages hold identities.
#[derive(Clone, Debug)]
pub(super) struct ChannelPlan {
    pub(super) at: u32,
    pub(super) kind: u32,
}

/// One node.
#[derive(Clone, Debug, Default)]
pub(super) struct NodePlan {
    pub(super) kind: u32,
    /// The points it belongs to: itself, or row and column.
    pub(super) keys: Vec<u32>,
    /// Its thread: function, and where its segment starts.
    pub(super) thread: Option<(u32, u32)>,
    pub(super) runs: Vec<Run>,
    pub(super) slots: Vec<Slot>,
    pub(super) channels: Vec<ChannelPlan>,
    /// Numbers of the channels made for it.
    pub(super) owns: Vec<i32>,
}

/// Everything about one shape.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) identities: Identities,
    /// The root, then one node for each point, then cells.
    pub(super) nodes: Vec<NodePlan>,
    /// The node of the cell with these two keys.
    pub(super) cells: HashMap<(u32, u32), u32>,
    /// For each channel the node that owns it and its position among the node's channels; node 0 for channels that stay.
    pub(super) owner: Vec<(u32, u32)>,
    /// For each kind of channel what its fields hold.
    pub(super) fields: Vec<Vec<Option<Holds>>>,
    /// First label that the structure does not use.
    pub(super) first_label: u32,
    /// Labels one slot may use: a channel is shown by its owner and its position there.
    pub(super) stride: u32,
    /// All renamings, if they are few and every node is a point.
    pub(super) members: Vec<Member>,
}

/// Cells with more than two movable indices: nothing is renamed then.
#[derive(Debug)]
pub(super) struct TooDeep;

struct Builder<'a> {
    program: &'a Program,
    plan: Plan,
    /// Which node each channel variable belongs to, by its byte.
    channel_variables: HashMap<u32, u32>,
    local: Option<Local>,
}

impl Plan {
    pub(super) fn new(
        program: &Program,
        layout: &Layout,
        shape: &Shape,
        identities: Identities,
    ) -> Result<Plan, TooDeep> {
        let points = identities.points.len();
        let fields = identities.fields.iter().map(|f| f.iter().map(|s| holds(*s)).collect()).collect();
        let labels = (0..points as u32).flat_map(|p| identities.structure.edges(p)).map(|e| e.label + 1);
        let first_label = labels.max().unwrap_or(0).max(2);
        let mut nodes = vec![NodePlan::default(); points + 1];
        for (point, node) in nodes[1..].iter_mut().enumerate() {
            node.kind = identities.structure.kind(point as u32) + 1;
            node.keys = vec![point as u32];
        }
        let owner = vec![(0, 0); shape.channels.len()];
        let plan = Plan {
            identities,
            nodes,
            cells: HashMap::new(),
            owner,
            fields,
            first_label,
            stride: 1,
            members: Vec::new(),
        };
        let mut builder = Builder { program, plan, channel_variables: HashMap::new(), local: None };
        builder.globals(layout)?;
        builder.threads(layout, shape)?;
        builder.channels(layout, shape);
        let mut plan = builder.plan;
        plan.stride = 1 + plan.owner.iter().map(|(_, slot)| *slot).max().unwrap_or(0);
        if plan.cells.is_empty() {
            plan.members = members(&plan.identities);
        }
        Ok(plan)
    }
}

fn holds(scalar: Scalar) -> Option<Holds> {
    match scalar {
        Scalar::Data => None,
        Scalar::Identity(class) => Some(Holds::Identity(class)),
        Scalar::Channel => Some(Holds::Channel(0)),
    }
}

impl Builder<'_> {
    fn globals(&mut self, layout: &Layout) -> Result<(), TooDeep> {
        let trees = self.plan.identities.globals.clone();
        for (index, (variable, tree)) in self.program.globals.iter().zip(&trees).enumerate() {
            self.variable(tree, &variable.ty, layout.globals[index], &mut Vec::new())?;
        }
        Ok(())
    }

    fn threads(&mut self, layout: &Layout, shape: &Shape) -> Result<(), TooDeep> {
        for (id, instance) in shape.threads.iter().enumerate() {
            let point = self.plan.identities.thread.get(id).copied().flatten();
            let mut keys: Vec<u32> = point.into_iter().collect();
            if let Some(point) = point {
                self.plan.nodes[point as usize + 1].thread = Some((instance.kind, instance.at));
            }
            let thread = &layout.threads[instance.kind as usize];
            let trees = self.plan.identities.locals[instance.kind as usize].clone();
            let function = &self.program.functions[instance.kind as usize];
            for (index, (variable, tree)) in function.locals.iter().zip(&trees).enumerate() {
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
                if let Some(node) = self.plan.cells.get(&(row, column)) {
                    return Ok(*node);
                }
                let structure = &self.plan.identities.structure;
                let points = structure.len() as u32 + 2;
                // Cells of one kind have rows and columns of one kind.
                let kind = (structure.kind(row) + 1) * points + structure.kind(column) + points;
                let node = self.plan.nodes.len() as u32;
                self.plan.nodes.push(NodePlan { kind, keys: keys.to_vec(), ..NodePlan::default() });
                self.plan.cells.insert((row, column), node);
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
                    let point = class.and_then(|c| self.plan.identities.point(c, index as i32));
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
                let node = &mut self.plan.nodes[node as usize];
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
        let mut variables: Vec<u32> = layout.initial_channels.iter().map(|(at, _)| *at).collect();
        for thread in &shape.threads {
            let own = &layout.threads[thread.kind as usize].channels;
            variables.extend(own.iter().map(|(at, _)| thread.at + at));
        }
        for (index, (instance, at)) in shape.channels.iter().zip(variables).enumerate() {
            let number = index as i32 + 1;
            let node = self.channel_variables.get(&at).copied().unwrap_or(0);
            let plan = &mut self.plan.nodes[node as usize];
            self.plan.owner[index] = (node, plan.owns.len() as u32);
            plan.owns.push(number);
            for slot in plan.slots.iter_mut().filter(|s| s.at == at) {
                slot.holds = Holds::Channel(number);
            }
            let holds_data = self.plan.fields[instance.kind as usize].iter().all(Option::is_none);
            if holds_data {
                plan.runs.push(Run { at: instance.at, len: layout.channels[instance.kind as usize].size });
            } else {
                plan.channels.push(ChannelPlan { at: instance.at, kind: instance.kind });
            }
        }
    }
}
