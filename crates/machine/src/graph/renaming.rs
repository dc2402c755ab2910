//! States of static programs as graphs, and renamed.
//!
//! What may be renamed is found by `quotient-identity`, once for every shape in which no more threads can be started; states
//! of other shapes stand for themselves. See [`plan`] for what becomes a node.
//!
//! A local variable that is dead has no value: if it holds an identity, its zero is not a reference to thread 0.

use quotient_identity::{Code, Identities, analyse};
use quotient_program::{Action, Expr, FunctionId, Program};
use quotient_seams::Worker;
use quotient_symmetry::StateGraph;
use quotient_symmetry::graph::Graph;

use super::plan::{Holds, NodePlan, Plan, Slot};
use super::small_group::Reading;
use crate::machine::Machine;
use crate::state::cell::Cell;
use crate::step::eval::read;

/// Shows and renames the states of a [`Machine`].
#[derive(Debug)]
pub struct Renaming {
    /// Evaluated from outside in every state.
    properties: Vec<Expr>,
    /// For each function and location the locals that are dead there and therefore zero.
    dead: Vec<Vec<Vec<bool>>>,
    /// For each function and location whether a thread can still start another from there; empty for functions that never
    /// do.
    starts: Vec<Vec<bool>>,
    /// Some function starts threads.
    starter: bool,
    /// By shape: nothing known yet, nothing to rename, or how.
    plans: Vec<Option<Option<Box<Plan>>>>,

    // Scratch.
    shape: usize,
    places: Places,
    point_number: Vec<u32>,
    composed: Vec<u32>,
    reading: Reading,
}

/// Who takes whose place.
#[derive(Debug, Default)]
struct Places {
    /// For each point the one whose place it takes over.
    from: Vec<u32>,
    /// For each point its new place.
    to: Vec<u32>,
}

impl Renaming {
    /// For states of this program. `dead` says, for each function and location, which locals have no value there (they are
    /// zero); an empty list: none is known to be. `properties` are expressions that must not change their value.
    pub fn new(program: &Program, dead: Vec<Vec<Vec<bool>>>, properties: Vec<Expr>) -> Renaming {
        Renaming {
            properties,
            dead,
            starter: starts(program).iter().any(|s| !s.is_empty()),
            starts: starts(program),
            plans: Vec::new(),
            shape: 0,
            places: Places::default(),
            point_number: Vec::new(),
            composed: Vec::new(),
            reading: Reading::default(),
        }
    }

    /// What may be renamed in states where the threads of this state exist; `None` while more can be started.
    pub fn identities(&mut self, machine: &Machine, state: &[u64]) -> Option<Identities> {
        let memory = state.as_ptr().cast::<u8>();
        if self.may_start(machine, memory) {
            return None;
        }
        let shape = machine.shape_number(memory) as usize;
        Some(self.analyse(machine, shape))
    }

    /// What may be renamed in the largest of the shapes met so far in which something may be.
    pub fn largest(&self) -> Option<&Identities> {
        let plans = self.plans.iter().flatten().flatten();
        plans.map(|p| &p.identities).max_by_key(|i| i.thread.len())
    }

    /// What may be renamed in the state whose graph was made last.
    pub fn current(&self) -> Option<&Identities> {
        self.plans.get(self.shape)?.as_ref()?.as_ref().map(|p| &p.identities)
    }

    fn analyse(&self, machine: &Machine, shape: usize) -> Identities {
        let threads: Vec<FunctionId> =
            machine.shapes.list[shape].threads.iter().map(|t| FunctionId(t.kind)).collect();
        let properties: Vec<&Expr> = self.properties.iter().collect();
        let code = |function: FunctionId| {
            let starts = &self.starts[function.0 as usize];
            let locations = machine.program.function(function).locations.len();
            let settled = if threads.contains(&function) { Code::Live } else { Code::Settled };
            if starts.is_empty() {
                vec![settled; locations]
            } else {
                starts.iter().map(|starts| if *starts { Code::Past } else { settled }).collect()
            }
        };
        analyse(&machine.program, &threads, &code, &properties)
    }

    /// Can a thread of this state still start another?
    fn may_start(&self, machine: &Machine, memory: *const u8) -> bool {
        if !self.starter {
            return false;
        }
        machine.shape_at(memory).threads.iter().any(|t| {
            let starts = &self.starts[t.kind as usize];
            !starts.is_empty() && starts[machine.location(memory, t.at, t.kind) as usize]
        })
    }

    fn prepare(&mut self, machine: &Machine, shape: usize) {
        if self.plans.len() <= shape {
            self.plans.resize_with(shape + 1, || None);
        }
        if self.plans[shape].is_none() {
            let identities = self.analyse(machine, shape);
            let plan = (!identities.is_trivial())
                .then(|| {
                    Plan::new(&machine.program, &machine.layout, &machine.shapes.list[shape], identities).ok()
                })
                .flatten();
            self.plans[shape] = Some(plan.map(Box::new));
        }
    }
}

impl Worker for Renaming {
    /// The same, with nothing remembered.
    fn another(&self) -> Renaming {
        Renaming {
            properties: self.properties.clone(),
            dead: self.dead.clone(),
            starts: self.starts.clone(),
            starter: self.starter,
            plans: Vec::new(),
            shape: 0,
            places: Places::default(),
            point_number: Vec::new(),
            composed: Vec::new(),
            reading: Reading::default(),
        }
    }
}

/// For each function and location whether a start is still ahead.
fn starts(program: &Program) -> Vec<Vec<bool>> {
    let of = |function: &quotient_program::Function| {
        let mut ahead: Vec<bool> = function
            .locations
            .iter()
            .map(|l| {
                let actions = l.transformations.iter().flat_map(|t| &t.actions);
                actions.into_iter().any(|a| matches!(a, Action::Start { .. }))
            })
            .collect();
        if !ahead.contains(&true) {
            return Vec::new();
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (at, location) in function.locations.iter().enumerate() {
                let next = location.transformations.iter().filter_map(|t| t.target);
                if !ahead[at] && next.into_iter().any(|to| ahead[to.0 as usize]) {
                    ahead[at] = true;
                    changed = true;
                }
            }
        }
        ahead
    };
    program.functions.iter().map(of).collect()
}

/// Bytes as words.
fn words<O: Sink>(state: &[u64], at: u32, len: u32, out: &mut O) {
    let memory = state.as_ptr().cast::<u8>();
    let mut done = 0;
    while done < len {
        let now = (len - done).min(8);
        let mut word = [0; 8];
        // SAFETY: runs lie inside the state, by the layout of its shape.
        unsafe {
            std::ptr::copy_nonoverlapping(memory.add((at + done) as usize), word.as_mut_ptr(), now as usize);
        }
        out.word(u64::from_le_bytes(word));
        done += now;
    }
}

/// What a state is shown to: a graph, or a reading.
trait Sink {
    fn word(&mut self, word: u64);
    fn reference(&mut self, label: u32, node: u32);
}

impl Sink for Graph {
    #[inline]
    fn word(&mut self, word: u64) {
        Graph::word(self, word);
    }

    #[inline]
    fn reference(&mut self, label: u32, node: u32) {
        Graph::word(self, REFERENCE);
        self.edge(label, node);
    }
}

impl Sink for Reading {
    #[inline]
    fn word(&mut self, word: u64) {
        Reading::word(self, word);
    }

    #[inline]
    fn reference(&mut self, label: u32, node: u32) {
        // Nodes are the root and one for each point.
        Reading::reference(self, u64::from(label), node - 1);
    }
}

/// Stands for "an edge says more".
const REFERENCE: u64 = u64::MAX;

impl Plan {
    /// A value that holds an identity or a channel: an edge, or data.
    #[inline]
    fn show<O: Sink>(&self, holds: Holds, value: i32, label: u32, out: &mut O) {
        let target = match holds {
            Holds::Identity(class) => self.identities.point(class, value).map(|p| (p + 1, label)),
            Holds::Channel(own) if own == value && own != 0 => None,
            Holds::Channel(_) => self.channel_owner(value).map(|(node, slot)| (node, label + slot)),
        };
        match target {
            Some((node, label)) => out.reference(label, node),
            // The channel that was made for the variable says nothing about names.
            None if matches!(holds, Holds::Channel(own) if own == value) => out.word(REFERENCE - 1),
            None => out.word(value as u32 as u64),
        }
    }

    /// The node that a channel moves with, and which of its channels it is.
    fn channel_owner(&self, number: i32) -> Option<(u32, u32)> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.owner.get(index).copied().filter(|(node, _)| *node != 0)
    }

    /// The new place of a node.
    fn place(&self, node: u32, places: &Places) -> u32 {
        match self.nodes[node as usize].keys[..] {
            [point] => places.to[point as usize] + 1,
            [row, column] => self.cells[&(places.to[row as usize], places.to[column as usize])],
            _ => node,
        }
    }

    /// A value under a renaming.
    fn renamed(&self, holds: Holds, value: i32, places: &Places) -> i32 {
        match holds {
            Holds::Identity(class) => match self.identities.point(class, value) {
                Some(point) => self.identities.points[places.to[point as usize] as usize].value,
                None => value,
            },
            Holds::Channel(_) => match self.channel_owner(value) {
                Some((node, slot)) => self.nodes[self.place(node, places) as usize].owns[slot as usize],
                None => value,
            },
        }
    }
}

impl Renaming {
    /// Whether a slot is part of a dead variable.
    fn is_dead(&self, machine: &Machine, state: &[u64], slot: &Slot) -> bool {
        let Some(local) = slot.local else { return false };
        let location = machine.location(state.as_ptr().cast(), local.segment, local.function);
        let locations = self.dead.get(local.function as usize);
        locations.and_then(|l| l.get(location as usize)).is_some_and(|dead| dead[local.variable as usize])
    }
}

impl Renaming {
    /// Shows what a node holds besides plain data.
    fn references<O: Sink>(
        &self,
        machine: &Machine,
        state: &[u64],
        plan: &Plan,
        node: &NodePlan,
        out: &mut O,
    ) {
        let stride = plan.stride;
        let mut label = plan.first_label;
        for slot in &node.slots {
            let value = read(state, slot.at, slot.cell);
            if value == 0 && self.is_dead(machine, state, slot) {
                out.word(0);
            } else {
                plan.show(slot.holds, value, label, out);
            }
            label += stride;
        }
        for channel in &node.channels {
            let layout = &machine.layout.channels[channel.kind as usize];
            let length_cell = if layout.length_size == 1 { Cell::U8(u8::MAX) } else { Cell::U16(u16::MAX) };
            let length = read(state, channel.at, length_cell) as u32;
            out.word(u64::from(length));
            let mut at = channel.at + layout.length_size;
            for _ in 0..length {
                for ((offset, cell), holds) in layout.fields.iter().zip(&plan.fields[channel.kind as usize]) {
                    let value = read(state, at + offset, *cell);
                    match holds {
                        Some(holds) => plan.show(*holds, value, label, out),
                        None => out.word(value as u32 as u64),
                    }
                    label += stride;
                }
                at += layout.message_size;
            }
            // Later labels must not depend on the length.
            label += (layout.capacity - length) * layout.fields.len() as u32 * stride;
        }
    }

    /// The plan for a state; `None` when nothing of it may be renamed.
    fn choose(&mut self, machine: &Machine, state: &[u64]) -> Option<()> {
        let memory = state.as_ptr().cast::<u8>();
        let shape = machine.shape_number(memory) as usize;
        if self.may_start(machine, memory) {
            return None;
        }
        if !matches!(self.plans.get(shape), Some(Some(_))) {
            self.prepare(machine, shape);
        }
        self.shape = shape;
        matches!(self.plans.get(shape), Some(Some(Some(_)))).then_some(())
    }
}

impl StateGraph<Machine> for Renaming {
    fn graph(&mut self, machine: &Machine, state: &[u64], out: &mut Graph) -> bool {
        if self.choose(machine, state).is_none() {
            return false;
        }
        let memory = state.as_ptr().cast::<u8>();
        let Some(Some(Some(plan))) = self.plans.get(self.shape) else { return false };
        for node in &plan.nodes {
            match node.thread {
                Some((function, at)) => {
                    out.thread(node.kind, 1);
                    out.word(u64::from(machine.location(memory, at, function)));
                }
                None => {
                    out.object(node.kind);
                }
            }
            match node.keys[..] {
                // The root's own bytes never move: they need not be shown.
                [] => {}
                [point] => {
                    for edge in plan.identities.structure.edges(point) {
                        out.edge(edge.label, edge.target + 1);
                    }
                    node.runs.iter().for_each(|run| words(state, run.at, run.len, out));
                }
                _ => {
                    for (label, point) in node.keys.iter().enumerate() {
                        out.edge(label as u32, point + 1);
                    }
                    node.runs.iter().for_each(|run| words(state, run.at, run.len, out));
                }
            }
            self.references(machine, state, plan, node, out);
        }
        true
    }

    fn rename(&mut self, machine: &Machine, state: &[u64], number: &[u32], out: &mut Vec<u64>) -> bool {
        let Some(Some(Some(plan))) = self.plans.get(self.shape) else { return false };
        let points = plan.identities.points.len();
        self.point_number.clear();
        self.point_number.extend_from_slice(&number[1..points + 1]);
        plan.identities.group.least(&self.point_number, &mut self.places.from, &mut self.composed);
        if self.places.from.iter().enumerate().all(|(at, from)| at as u32 == *from) {
            return false;
        }
        self.places.to.clear();
        self.places.to.resize(points, 0);
        for (at, from) in self.places.from.iter().enumerate() {
            self.places.to[*from as usize] = at as u32;
        }
        self.apply(machine, state, out);
        true
    }

    fn new_name(&self, thread: u32) -> u32 {
        let renamed = || {
            let identities = self.current()?;
            let point = (*identities.thread.get(thread as usize)?)?;
            let place = *self.places.to.get(point as usize)?;
            identities.thread.iter().position(|p| *p == Some(place))
        };
        renamed().map_or(thread, |name| name as u32)
    }

    fn shortcut(&mut self, machine: &Machine, state: &[u64], out: &mut Vec<u64>) -> Option<bool> {
        if self.choose(machine, state).is_none() {
            return Some(false);
        }
        let Some(Some(Some(plan))) = self.plans.get(self.shape) else { return Some(false) };
        if plan.members.is_empty() {
            return None;
        }
        let memory = state.as_ptr().cast::<u8>();
        let mut reading = std::mem::take(&mut self.reading);
        reading.clear();
        for node in &plan.nodes {
            reading.node();
            if let Some((function, at)) = node.thread {
                reading.word(u64::from(machine.location(memory, at, function)));
            }
            if !node.keys.is_empty() {
                node.runs.iter().for_each(|run| words(state, run.at, run.len, &mut reading));
            }
            self.references(machine, state, plan, node, &mut reading);
        }
        let least = reading.least(&plan.members);
        self.reading = reading;
        if least == 0 {
            return Some(false);
        }
        let Some(Some(Some(plan))) = self.plans.get(self.shape) else { return Some(false) };
        self.places.from.clone_from(&plan.members[least].from);
        self.places.to.clone_from(&plan.members[least].to);
        self.apply(machine, state, out);
        Some(true)
    }
}

impl Renaming {
    /// Writes the state with everything in its new place.
    fn apply(&self, machine: &Machine, state: &[u64], out: &mut Vec<u64>) {
        let Some(Some(Some(plan))) = self.plans.get(self.shape) else { return };
        out.clear();
        out.extend_from_slice(state);
        let target = out.as_mut_ptr().cast::<u8>();
        let source = state.as_ptr().cast::<u8>();
        let copy = |from: u32, to: u32, len: u32| {
            // SAFETY: both lie inside states of this shape; `state` and `out` are different memory.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    source.add(from as usize),
                    target.add(to as usize),
                    len as usize,
                )
            }
        };
        let store = |at: u32, cell: Cell, value: i32| {
            // SAFETY: as above.
            unsafe { cell.store(target.add(at as usize), value) }
        };
        for (index, from) in plan.nodes.iter().enumerate() {
            let to = &plan.nodes[plan.place(index as u32, &self.places) as usize];
            let moves = from.keys.iter().any(|p| self.places.from[*p as usize] != *p);
            if moves {
                if let (Some((function, a)), Some((_, b))) = (from.thread, to.thread) {
                    copy(a, b, machine.layout.threads[function as usize].location_size);
                }
                from.runs.iter().zip(&to.runs).for_each(|(a, b)| copy(a.at, b.at, a.len));
            }
            for (a, b) in from.slots.iter().zip(&to.slots) {
                let value = read(state, a.at, a.cell);
                let dead = value == 0 && self.is_dead(machine, state, a);
                store(b.at, b.cell, if dead { 0 } else { plan.renamed(a.holds, value, &self.places) });
            }
            for (a, b) in from.channels.iter().zip(&to.channels) {
                let layout = &machine.layout.channels[a.kind as usize];
                if moves {
                    copy(a.at, b.at, layout.size);
                }
                let length_cell =
                    if layout.length_size == 1 { Cell::U8(u8::MAX) } else { Cell::U16(u16::MAX) };
                let length = read(state, a.at, length_cell) as u32;
                for message in 0..length {
                    let offset = layout.length_size + message * layout.message_size;
                    for ((field, cell), holds) in layout.fields.iter().zip(&plan.fields[a.kind as usize]) {
                        if let Some(holds) = holds {
                            let value = read(state, a.at + offset + field, *cell);
                            store(b.at + offset + field, *cell, plan.renamed(*holds, value, &self.places));
                        }
                    }
                }
            }
        }
    }
}
