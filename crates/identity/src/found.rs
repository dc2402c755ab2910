//! The symmetry found, in words.

use std::collections::BTreeMap;

use quotient_program::{FunctionId, Init, Program};
use quotient_symmetry::action::Action;

use crate::analysis::Symmetry;
use crate::build::Part;
use crate::ground::Var;

impl Symmetry {
    /// What can be done to the threads, by function and then across functions, and to what moves without them; for example "11 phil:
    /// rotations". Functions that only one thread runs, and that moves with none of another, are left out.
    pub fn found(&self, program: &Program) -> Vec<String> {
        let mut out = Vec::new();
        let name = |f: FunctionId| program.function(f).name.as_str();
        let mut functions: Vec<FunctionId> = self.threads.clone();
        functions.sort_unstable();
        functions.dedup();
        // The threads of each orbit, and the points they move with.
        let mut orbits: BTreeMap<u32, Vec<(usize, u32)>> = BTreeMap::new();
        for thread in 0..self.threads.len() {
            if let Some(place) = self.place(Part::Thread(thread as u32)) {
                orbits.entry(place.role).or_default().push((thread, place.point));
            }
        }
        let action = |members: &[(usize, u32)]| {
            let points: Vec<u32> = members.iter().map(|(_, point)| *point).collect();
            words(self.structure.group.action(&points), points.len())
        };
        for function in functions {
            let own = self.threads.iter().filter(|f| **f == function).count();
            let within = orbits.values().filter(|m| m.iter().all(|(t, _)| self.threads[*t] == function));
            let parts: Vec<String> = within
                .clone()
                .map(|members| {
                    let action = action(members);
                    if members.len() == own { action } else { format!("{action} of {}", members.len()) }
                })
                .collect();
            let with = match within.collect::<Vec<_>>()[..] {
                [members] if members.len() == own => self.with(program, members),
                _ => String::new(),
            };
            let across = orbits.values().any(|m| {
                let runs = |(t, _): &(usize, u32)| self.threads[*t] == function;
                m.iter().any(runs) && !m.iter().all(runs)
            });
            if own > 1 && !(parts.is_empty() && across) {
                let parts = if parts.is_empty() { "none".into() } else { parts.join(", ") };
                out.push(format!("{own} {}{with}: {parts}", name(function)));
            }
        }
        for members in orbits.values() {
            let mut names: Vec<&str> = members.iter().map(|(t, _)| name(self.threads[*t])).collect();
            names.dedup();
            if names.len() > 1 {
                let with = self.with(program, members);
                out.push(format!("{}{with}: {}", names.join(", "), action(members)));
            }
        }
        out.extend(self.without_threads());
        out
    }

    /// How many renamings there are, in words.
    pub fn order(&self) -> String {
        let order = self.structure.order;
        if order < 1e15 { group_digits(order as u64) } else { format!("{order:.1e}") }
    }

    /// The global variables and channels that go with threads, one with each: " with link1 .. link4".
    fn with(&self, program: &Program, threads: &[(usize, u32)]) -> String {
        let channels = channel_names(program);
        let mut companions: BTreeMap<u32, BTreeMap<u32, String>> = BTreeMap::new();
        for (part, place) in &self.structure.place {
            let name = match part {
                Part::Channel(number) => channels.get(*number as usize - 1).cloned().flatten(),
                Part::Cell((Var::Global(v), 0)) => {
                    let variable = &program.globals[*v as usize];
                    (program.scalars(&variable.ty) == 1).then(|| variable.name.clone())
                }
                _ => None,
            };
            if let Some(name) = name.filter(|_| threads.iter().any(|(_, point)| *point == place.point)) {
                companions.entry(place.role).or_default().insert(place.point, name);
            }
        }
        let mut all: Vec<String> = Vec::new();
        for names in companions.into_values().filter(|names| names.len() == threads.len()) {
            let mut names: Vec<&String> = threads.iter().filter_map(|(_, point)| names.get(point)).collect();
            names.dedup();
            all.push(match &names[..] {
                [first, .., last] if names.len() > 2 => format!("{first} .. {last}"),
                few => few.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(", "),
            });
        }
        all.sort_unstable();
        all.dedup();
        if all.len() > 3 {
            all.truncate(3);
            all.push("…".into());
        }
        if all.is_empty() { String::new() } else { format!(" with {}", all.join(", ")) }
    }

    /// What is exchanged with what, one line for each set, and the size of the graph.
    pub fn explained(&self, program: &Program) -> Vec<String> {
        let channels = channel_names(program);
        let variable = |name: &str, scalars: usize, scalar: u32| {
            if scalars == 1 { name.to_owned() } else { format!("{name}[{scalar}]") }
        };
        let thread = |t: u32| format!("{}({t})", program.function(self.threads[t as usize]).name);
        let name = |part: &Part| match part {
            Part::Thread(t) => thread(*t),
            Part::Channel(number) => {
                let named = channels.get(*number as usize - 1).cloned().flatten();
                named.unwrap_or_else(|| format!("channel {number}"))
            }
            Part::Name(_, value) => format!("{value}"),
            Part::Cell((Var::Local(t, v), scalar)) => {
                let local = &program.function(self.threads[*t as usize]).locals[*v as usize];
                format!("{}.{}", thread(*t), variable(&local.name, program.scalars(&local.ty), *scalar))
            }
            Part::Cell((Var::Global(v) | Var::Remote(_, v), scalar)) => {
                let global = &program.globals[*v as usize];
                variable(&global.name, program.scalars(&global.ty), *scalar)
            }
            Part::Location(t, location) => format!("{} at {location}", thread(*t)),
            Part::Watch(location) => format!("the claim at {location}"),
        };
        let mut orbits: BTreeMap<u32, Vec<Part>> = BTreeMap::new();
        for (part, place) in &self.structure.place {
            orbits.entry(place.role).or_default().push(*part);
        }
        let mut out = Vec::new();
        for mut orbit in orbits.into_values() {
            orbit.sort_unstable();
            let what = match orbit[0] {
                Part::Thread(_) => "processes",
                Part::Channel(_) => "channels",
                Part::Name(..) => "values",
                Part::Cell(_) => "variables",
                Part::Location(..) | Part::Watch(_) => continue,
            };
            let names: Vec<String> = orbit.iter().map(name).collect();
            out.push(format!("{what} {}", names.join(", ")));
        }
        out.sort_unstable();
        let (nodes, edges) = self.size;
        let points = self.structure.graph.len();
        let between: usize = (0..points as u32).map(|p| self.structure.graph.edges(p).len()).sum();
        out.push(format!(
            "graph of the program: {nodes} nodes, {edges} edges; of a state: {points} points, {between} edges"
        ));
        if !self.structure.exact && !self.is_trivial() {
            out.push(
                "the edges do not give exactly these renamings: more states than needed may be stored".into(),
            );
        }
        out
    }

    /// Orbits of what moves with no thread.
    fn without_threads(&self) -> Vec<String> {
        let mut with_thread = vec![false; self.structure.graph.len()];
        for (part, place) in &self.structure.place {
            with_thread[place.point as usize] |= matches!(part, Part::Thread(_));
        }
        // By kind of point: one of its parts, and the points.
        let mut kinds: BTreeMap<u32, (Part, Vec<u32>)> = BTreeMap::new();
        for (part, place) in &self.structure.place {
            if !with_thread[place.point as usize] && self.structure.graph.kind(place.point) == place.role {
                let (first, points) = kinds.entry(place.role).or_insert((*part, Vec::new()));
                *first = (*first).min(*part);
                points.push(place.point);
            }
        }
        let mut out = Vec::new();
        for (first, mut points) in kinds.into_values() {
            points.sort_unstable();
            let what = match first {
                Part::Channel(_) => "channels",
                Part::Name(..) => "values",
                Part::Cell(_) => "variables",
                Part::Location(..) | Part::Thread(_) | Part::Watch(_) => continue,
            };
            let action = words(self.structure.group.action(&points), points.len());
            out.push(format!("{} {what}: {action}", points.len()));
        }
        out
    }

    /// Are the threads that can be renamed on rings, of three or more, which can only be turned (and turned over)?
    pub fn is_ring(&self) -> bool {
        let mut orbits: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for thread in 0..self.threads.len() {
            if let Some(place) = self.place(Part::Thread(thread as u32)) {
                orbits.entry(place.role).or_default().push(place.point);
            }
        }
        let turns = |points: &Vec<u32>| {
            let action = self.structure.group.action(points);
            points.len() > 2 && matches!(action, Action::Rotations | Action::RotationsAndReflections)
        };
        !orbits.is_empty() && orbits.values().all(turns)
    }

    /// Is every permutation of the threads of each function possible?
    pub fn is_full(&self) -> bool {
        let mut functions: Vec<FunctionId> = self.threads.clone();
        functions.sort_unstable();
        functions.dedup();
        functions.iter().all(|function| {
            let own: Vec<u32> =
                (0..self.threads.len() as u32).filter(|t| self.threads[*t as usize] == *function).collect();
            let places: Option<Vec<_>> = own.iter().map(|t| self.place(Part::Thread(*t))).collect();
            own.len() < 2
                || places.is_some_and(|places| {
                    let points: Vec<u32> = places.iter().map(|place| place.point).collect();
                    self.structure.group.permutes(&points)
                })
        })
    }
}

/// For each channel of a global that is not an array the name of its variable, from number 1.
fn channel_names(program: &Program) -> Vec<Option<String>> {
    let mut out = Vec::new();
    for variable in &program.globals {
        if let Init::Channels(_) = variable.init {
            let scalars = program.scalars(&variable.ty);
            out.extend((0..scalars).map(|_| (scalars == 1).then(|| variable.name.clone())));
        } else if program.scalars(&variable.ty) > 1 {
            // Structures may have channels, too: from there on numbers are not known.
            return out;
        }
    }
    out
}

fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn words(action: Action, count: usize) -> String {
    match action {
        Action::All => "all permutations".into(),
        Action::Rotations => "rotations".into(),
        Action::RotationsAndReflections => "rotations and reflections".into(),
        Action::Sets(size) => {
            format!("all permutations of {} sets of {size}, and within each", count / size)
        }
        Action::Some(order) => match u64::try_from(order) {
            Ok(order) => format!("{} permutations", group_digits(order)),
            Err(_) => "some permutations".into(),
        },
        Action::Unknown => "some permutations".into(),
    }
}
