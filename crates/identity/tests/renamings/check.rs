//! Renamings checked state by state: what a generator does to a decoded state is written here, from its list of parts with their images, and
//! nothing is asked of the code that shows and renames states.

use std::collections::{BTreeMap, HashMap, HashSet};

use quotient_identity::{Cell, Field, Holds, Part, Symmetry, Var};
use quotient_machine::Beginning;
use quotient_machine::{Machine, Scalar};
use quotient_program::VariableId;
use quotient_residual::liveness;
use quotient_seams::{Scope, Successors, System, Worker};
use quotient_testing::setting;

/// All states up to a limit, with their successors.
pub struct Explored {
    pub states: Vec<Box<[u64]>>,
    /// For each state that was expanded its successors; none for a violation.
    pub rows: Vec<Vec<Option<usize>>>,
    /// Whether each state that was expanded may be the last.
    pub ends: Vec<bool>,
    pub complete: bool,
}

pub fn explore(machine: &mut Machine, limit: usize) -> Explored {
    let mut ids: HashMap<Box<[u64]>, usize> = HashMap::new();
    let mut out = Explored { states: Vec::new(), rows: Vec::new(), ends: Vec::new(), complete: true };
    let mut next = Successors::new();
    if machine.initial(&mut next).is_err() {
        out.complete = false;
        return out;
    }
    for index in (0..next.len()).filter(|i| next.entry(*i).has_state()) {
        ids.insert(next.state(index).into(), out.states.len());
        out.states.push(next.state(index).into());
    }
    while out.rows.len() < out.states.len() {
        if out.states.len() > limit {
            out.complete = false;
            break;
        }
        next.clear();
        let state = out.states[out.rows.len()].clone();
        if machine.successors(&state, Scope::All, &mut next).is_err() {
            out.complete = false;
            break;
        }
        let mut row = Vec::new();
        for index in 0..next.len() {
            let entry = next.entry(index);
            if !entry.has_state() || entry.violation.is_some() {
                row.push(None);
            }
            if entry.has_state() {
                let state: Box<[u64]> = next.state(index).into();
                let fresh = out.states.len();
                let id = *ids.entry(state.clone()).or_insert(fresh);
                if id == fresh {
                    out.states.push(state);
                }
                row.push(Some(id));
            }
        }
        out.rows.push(row);
        out.ends.push(machine.is_valid_end(&state));
    }
    out
}

/// For each function and location the locals that are dead there.
pub fn dead_locals(machine: &Machine) -> Vec<Vec<Vec<bool>>> {
    let program = machine.program();
    let remote = liveness::remotely_read(program);
    let of = |(function, remote): (&quotient_program::Function, Vec<bool>)| {
        let live = liveness::live(function).unwrap_or_default();
        let dead =
            |l: &liveness::Locals| remote.iter().enumerate().map(|(v, r)| !l.contains(v) && !r).collect();
        live.iter().map(dead).collect()
    };
    program.functions.iter().zip(remote).map(of).collect()
}

/// Where everything lies in a decoded state of one set of threads.
struct Layout {
    functions: Vec<u32>,
    cells: Vec<(Cell, usize, Scalar)>,
    /// By channel: where it starts, capacity, fields.
    channels: Vec<(usize, usize, usize)>,
    size: usize,
}

impl Layout {
    fn new(machine: &Machine, state: &[u64]) -> Layout {
        let program = machine.program();
        let functions: Vec<u32> = machine.threads_at(state).map(|t| t.function).collect();
        let mut layout = Layout { size: functions.len(), functions, cells: Vec::new(), channels: Vec::new() };
        for (v, variable) in program.globals.iter().enumerate().filter(|(_, v)| !v.scratch) {
            for scalar in 0..program.scalars(&variable.ty) {
                let at = Scalar::Global { variable: VariableId(v as u32), scalar };
                layout.cells.push(((Var::Global(v as u32), scalar as u32), layout.size, at));
                layout.size += 1;
            }
        }
        for (thread, function) in layout.functions.clone().into_iter().enumerate() {
            for (v, variable) in program.functions[function as usize].locals.iter().enumerate() {
                for scalar in 0..program.scalars(&variable.ty) {
                    let at = Scalar::Local { thread, variable: VariableId(v as u32), scalar };
                    layout.cells.push((
                        (Var::Local(thread as u32, v as u32), scalar as u32),
                        layout.size,
                        at,
                    ));
                    layout.size += 1;
                }
            }
        }
        let mut number = 1;
        while let Some(fill) = machine.fill(state, number) {
            let fields = machine.field_total(state, number);
            layout.channels.push((layout.size, fill.capacity as usize, fields));
            layout.size += 1 + fill.capacity as usize * fields;
            number += 1;
        }
        layout
    }

    fn decode(&self, machine: &Machine, state: &[u64]) -> Box<[i32]> {
        let mut out = vec![0; self.size];
        for (at, thread) in machine.threads_at(state).enumerate() {
            out[at] = thread.location as i32;
        }
        for (_, at, scalar) in &self.cells {
            if let Some(place) = machine.scalar_place(state, *scalar) {
                out[*at] = place.get(state);
            }
        }
        for (index, (at, _, fields)) in self.channels.iter().enumerate() {
            let messages = machine.messages(state, index as i32 + 1);
            out[*at] = messages.len() as i32;
            for (m, message) in messages.iter().enumerate() {
                for (f, value) in message.iter().enumerate() {
                    out[at + 1 + m * fields + f] = *value;
                }
            }
        }
        out.into()
    }
}

/// What a generator does to decoded states.
struct Action<'a> {
    layout: &'a Layout,
    dead: &'a [Vec<Vec<bool>>],
    image: HashMap<Part, Part>,
    holds: HashMap<Cell, Holds>,
    at: HashMap<Cell, usize>,
    fields: &'a [Vec<Field>],
}

impl Action<'_> {
    fn of(&self, part: Part) -> Part {
        self.image.get(&part).copied().unwrap_or(part)
    }

    fn value(&self, holds: Holds, value: i32) -> i32 {
        match holds {
            Holds::Data | Holds::Constant(_) => value,
            Holds::Name(class) => match self.of(Part::Name(class, value)) {
                Part::Name(_, value) => value,
                other => panic!("a name goes to {other:?}"),
            },
            Holds::Channel => match self.of(Part::Channel(value)) {
                Part::Channel(number) => number,
                other => panic!("a channel goes to {other:?}"),
            },
        }
    }

    /// What a field of a message holds.
    fn field(&self, channel: usize, field: usize, message: &[i32]) -> Holds {
        match &self.fields[channel][field] {
            Field::One(holds) => *holds,
            Field::Tagged { tag, holds } => {
                let known = holds.iter().find(|(value, _)| *value == message[*tag]);
                known.unwrap_or_else(|| panic!("a message {message:?} with an unknown tag")).1
            }
        }
    }

    fn apply(&self, state: &[i32]) -> Box<[i32]> {
        let mut out: Box<[i32]> = state.into();
        for (thread, location) in state[..self.layout.functions.len()].iter().enumerate() {
            let Part::Thread(to) = self.of(Part::Thread(thread as u32)) else {
                panic!("a thread goes elsewhere")
            };
            let Part::Location(_, location) = self.of(Part::Location(thread as u32, *location as u32)) else {
                panic!("a location goes elsewhere")
            };
            out[to as usize] = location as i32;
        }
        for (cell, at, _) in &self.layout.cells {
            let holds = self.holds.get(cell).copied().unwrap_or(Holds::Data);
            let Part::Cell(to) = self.of(Part::Cell(*cell)) else { panic!("a cell goes elsewhere") };
            let value = state[*at];
            let none = match cell.0 {
                Var::Local(thread, v) => {
                    let function = self.layout.functions[thread as usize] as usize;
                    let location = state[thread as usize] as usize;
                    let dead = self.dead.get(function).and_then(|d| d.get(location));
                    value == 0 && dead.is_some_and(|d| d[v as usize])
                }
                _ => false,
            };
            out[self.at[&to]] = if none { value } else { self.value(holds, value) };
        }
        for (index, (at, _, fields)) in self.layout.channels.iter().enumerate() {
            let Part::Channel(to) = self.of(Part::Channel(index as i32 + 1)) else {
                panic!("a channel goes elsewhere")
            };
            let (to, capacity, _) = self.layout.channels[to as usize - 1];
            out[to] = state[*at];
            for m in 0..capacity {
                let message = &state[at + 1 + m * fields..at + 1 + (m + 1) * fields];
                let used = (m as i32) < state[*at];
                for (f, value) in message.iter().enumerate() {
                    out[to + 1 + m * fields + f] =
                        if used { self.value(self.field(index, f, message), *value) } else { *value };
                }
            }
        }
        out
    }
}

/// A generator in a form that is quick to apply, for counting.
struct Compiled<'a> {
    of: &'a Action<'a>,
    /// By thread: where it goes.
    threads: Vec<usize>,
    /// By thread and location.
    locations: Vec<HashMap<i32, i32>>,
    /// By cell: where it is, where it goes, what its values become, and the thread and the variable it belongs to if it is a local.
    cells: Vec<(usize, usize, Values, Option<Local>)>,
    /// By channel.
    channels: Vec<usize>,
    values: HashMap<(Option<u32>, i32), i32>,
}

/// The values that a generator changes: none, those of a class, or numbers of channels.
type Values = Option<Option<u32>>;

/// A thread and its variable.
type Local = (usize, usize);

impl<'a> Compiled<'a> {
    fn new(of: &'a Action<'a>) -> Compiled<'a> {
        let threads = of.layout.functions.len();
        let mut out = Compiled {
            of,
            threads: (0..threads).collect(),
            locations: vec![HashMap::new(); threads],
            cells: Vec::new(),
            channels: (0..of.layout.channels.len()).collect(),
            values: HashMap::new(),
        };
        for (from, to) in &of.image {
            match (*from, *to) {
                // Threads that have ended are no part of these states, nor are their channels.
                (Part::Thread(a), _) | (Part::Location(a, _), _) if a as usize >= threads => {}
                (Part::Thread(a), Part::Thread(b)) => out.threads[a as usize] = b as usize,
                (Part::Location(t, a), Part::Location(_, b)) => {
                    out.locations[t as usize].insert(a as i32, b as i32);
                }
                (Part::Channel(a), Part::Channel(b)) => {
                    if let Some(to) = out.channels.get_mut(a as usize - 1) {
                        *to = b as usize - 1;
                    }
                    out.values.insert((None, a), b);
                }
                (Part::Name(class, a), Part::Name(_, b)) => {
                    out.values.insert((Some(class), a), b);
                }
                (Part::Cell(_), Part::Cell(_)) | (Part::Watch(_), Part::Watch(_)) => {}
                other => panic!("a part goes to one of another kind: {other:?}"),
            }
        }
        let values = |holds: Holds| match holds {
            Holds::Data | Holds::Constant(_) => None,
            Holds::Name(class) => Some(Some(class)),
            Holds::Channel => Some(None),
        };
        for (cell, at, _) in &of.layout.cells {
            let holds = of.holds.get(cell).copied().unwrap_or(Holds::Data);
            let Part::Cell(to) = of.of(Part::Cell(*cell)) else { panic!("a cell goes elsewhere") };
            let local = match cell.0 {
                Var::Local(thread, v) => Some((thread as usize, v as usize)),
                _ => None,
            };
            out.cells.push((*at, of.at[&to], values(holds), local));
        }
        out
    }

    fn value(&self, values: Values, value: i32) -> i32 {
        values.and_then(|kind| self.values.get(&(kind, value)).copied()).unwrap_or(value)
    }

    fn apply(&self, state: &[i32]) -> Box<[i32]> {
        let mut out: Box<[i32]> = state.into();
        for (thread, to) in self.threads.iter().enumerate() {
            let location = state[thread];
            out[*to] = self.locations[thread].get(&location).copied().unwrap_or(location);
        }
        for (from, to, values, local) in &self.cells {
            let value = state[*from];
            let dead = |(thread, v): Local| {
                let function = self.of.layout.functions[thread] as usize;
                let dead = self.of.dead.get(function).and_then(|d| d.get(state[thread] as usize));
                dead.is_some_and(|dead| dead[v])
            };
            let none = value == 0 && local.is_some_and(dead);
            out[*to] = if none { value } else { self.value(*values, value) };
        }
        for (channel, to) in self.channels.iter().enumerate() {
            let (from, capacity, fields) = self.of.layout.channels[channel];
            let (to, ..) = self.of.layout.channels[*to];
            let used = state[from];
            out[to] = used;
            for m in 0..capacity {
                let message = &state[from + 1 + m * fields..from + 1 + (m + 1) * fields];
                for (f, value) in message.iter().enumerate() {
                    let known = (m as i32) < used;
                    out[to + 1 + m * fields + f] = if known {
                        self.of.value(self.of.field(channel, f, message), *value)
                    } else {
                        *value
                    };
                }
            }
        }
        out
    }
}

/// What a check found.
#[derive(Debug, Default)]
pub struct Checked {
    /// Order of the largest group.
    pub order: f64,
    pub generators: usize,
    pub states: usize,
    /// Orbits of all states, where they were counted.
    pub orbits: Option<usize>,
    pub compared: usize,
    pub unreached: usize,
    pub exact: bool,
    pub refused: Option<&'static str>,
    pub nodes: usize,
    pub points: usize,
    pub micros: u128,
}

/// Checks all generators on all states, of every set of threads that nobody adds to, and counts orbits.
pub fn check(machine: &mut Machine, reduced: bool, limit: usize) -> Result<Checked, String> {
    let mut out = Checked { exact: true, ..Checked::default() };
    let dead = if reduced { dead_locals(machine) } else { Vec::new() };
    let beginning = Beginning::new(machine.another());
    let explored = explore(machine, limit);
    out.states = explored.states.len();
    let mut shapes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut outside = 0;
    for (id, state) in explored.states.iter().enumerate() {
        if beginning.may_start(machine, state) {
            outside += 1;
        } else {
            shapes.entry(machine.shape_of(state)).or_default().push(id);
        }
    }
    let mut orbits = Some(outside);
    for members in shapes.values() {
        let first = &explored.states[members[0]];
        let start = std::time::Instant::now();
        let Some(symmetry) = beginning.symmetry(machine, first, &dead, &Default::default()) else { continue };
        out.micros += start.elapsed().as_micros();
        out.order = out.order.max(symmetry.structure.order);
        out.exact &= symmetry.structure.exact || symmetry.refused.is_some();
        out.generators += symmetry.generators.len();
        out.nodes = out.nodes.max(symmetry.size.0);
        out.points = out.points.max(symmetry.structure.graph.len());
        out.refused = out.refused.or(symmetry.refused.map(|r| r.0));
        let found = check_shape(machine, &explored, members, &symmetry, &dead, &mut out)?;
        orbits = orbits.and_then(|sum| Some(sum + found?));
    }
    out.orbits = orbits.filter(|_| explored.complete);
    Ok(out)
}

fn check_shape(
    machine: &Machine,
    explored: &Explored,
    members: &[usize],
    symmetry: &Symmetry,
    dead: &[Vec<Vec<bool>>],
    out: &mut Checked,
) -> Result<Option<usize>, String> {
    if symmetry.is_trivial() {
        return Ok(Some(members.len()));
    }
    let layout = Layout::new(machine, &explored.states[members[0]]);
    let holds: HashMap<Cell, Holds> = symmetry.cells.iter().copied().collect();
    let decode = |id: usize| {
        let mut decoded = layout.decode(machine, &explored.states[id]);
        for (cell, at, _) in &layout.cells {
            // Constants are not part of a state, nor is what no code in question touches: it may have been forgotten or not.
            let untouched = matches!(cell.0, Var::Local(..)) && symmetry.is_untouched(*cell);
            if untouched || matches!(holds.get(cell), Some(Holds::Constant(_))) {
                decoded[*at] = 0;
            }
        }
        decoded
    };
    let decoded: HashMap<usize, Box<[i32]>> = members.iter().map(|id| (*id, decode(*id))).collect();
    let index: HashMap<&Box<[i32]>, usize> = decoded.iter().map(|(id, d)| (d, *id)).collect();
    let at: HashMap<Cell, usize> = layout.cells.iter().map(|(cell, at, _)| (*cell, *at)).collect();
    let actions: Vec<Action<'_>> = symmetry
        .generators
        .iter()
        .map(|g| Action {
            layout: &layout,
            dead,
            image: g.iter().copied().collect(),
            holds: holds.clone(),
            at: at.clone(),
            fields: &symmetry.fields,
        })
        .collect();
    for (which, action) in actions.iter().enumerate() {
        for id in members {
            let Some(row) = explored.rows.get(*id) else { continue };
            let image = action.apply(&decoded[id]);
            let Some(&other) = index.get(&image) else {
                out.unreached += 1;
                continue;
            };
            let Some(other_row) = explored.rows.get(other) else { continue };
            out.compared += 1;
            // As sets: two options that are alike are one. A violation, or a state with other threads, is only that.
            let set = |row: &[Option<usize>], go: bool| {
                let mut set: Vec<Option<Box<[i32]>>> = row
                    .iter()
                    .map(|to| {
                        let state = decoded.get(&(*to)?)?;
                        Some(if go { action.apply(state) } else { state.clone() })
                    })
                    .collect();
                set.sort();
                set.dedup();
                set
            };
            let (mapped, real) = (set(row, true), set(other_row, false));
            let ends = row.is_empty() && explored.ends[*id] != explored.ends[other];
            if mapped != real || ends {
                let differ = |a: &[i32], b: &[i32]| -> Vec<String> {
                    let both = a.iter().zip(b).enumerate().filter(|(_, (x, y))| x != y);
                    both.map(|(at, (x, y))| format!("{at}:{x}->{y}")).collect()
                };
                return Err(format!(
                    "generator {which} is not a symmetry: {:?}\nstate {:?}\nimage {:?}\nsuccessors of the image {:?}\nimages of successors {:?}",
                    symmetry.generators[which],
                    decoded[id],
                    differ(&decoded[id], &image),
                    real.iter().flatten().map(|s| differ(&image, s)).collect::<Vec<_>>(),
                    mapped.iter().flatten().map(|s| differ(&image, s)).collect::<Vec<_>>(),
                ));
            }
        }
    }
    Ok(count_orbits(&actions, members, &decoded))
}

/// Images that are made at most to count orbits. Where the states that are reached are closed under the renamings, as many as there
/// are states and generators are made; otherwise all of each orbit, reached or not.
fn most_images() -> usize {
    setting("QUOTIENT_IMAGES", 2_000_000) as usize
}

/// Number of orbits with reachable states: each orbit is made whole, from one state of it that is reached, and dropped again.
fn count_orbits(
    actions: &[Action<'_>],
    members: &[usize],
    decoded: &HashMap<usize, Box<[i32]>>,
) -> Option<usize> {
    let compiled: Vec<Compiled> = actions.iter().map(Compiled::new).collect();
    // Of the states that are reached those whose orbit was not made yet.
    let mut left: HashSet<&[i32]> = members.iter().map(|id| &*decoded[id]).collect();
    let (mut orbits, mut made, most) = (0, 0, most_images());
    for id in members {
        let first = &decoded[id];
        if !left.remove(&**first) {
            continue;
        }
        orbits += 1;
        let mut orbit: HashSet<Box<[i32]>> = HashSet::from([first.clone()]);
        let mut open = vec![first.clone()];
        while let Some(state) = open.pop() {
            for action in &compiled {
                let image = action.apply(&state);
                made += 1;
                if made > most {
                    return None;
                }
                if !orbit.contains(&image) {
                    left.remove(&*image);
                    open.push(image.clone());
                    orbit.insert(image);
                }
            }
        }
    }
    Some(orbits)
}
