//! The symmetry found, in words.

use std::collections::BTreeMap;

use quotient_program::{FunctionId, Program};
use quotient_symmetry::group::Action;

use crate::analysis::Symmetry;
use crate::build::Part;

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
            words(self.structure.group.action(&points))
        };
        for function in functions {
            let own = self.threads.iter().filter(|f| **f == function).count();
            let within = orbits.values().filter(|m| m.iter().all(|(t, _)| self.threads[*t] == function));
            let parts: Vec<String> = within
                .map(|members| {
                    let action = action(members);
                    if members.len() == own {
                        action.to_owned()
                    } else {
                        format!("{action} of {}", members.len())
                    }
                })
                .collect();
            let across = orbits.values().any(|m| {
                let runs = |(t, _): &(usize, u32)| self.threads[*t] == function;
                m.iter().any(runs) && !m.iter().all(runs)
            });
            if own > 1 && !(parts.is_empty() && across) {
                let parts = if parts.is_empty() { "none".into() } else { parts.join(", ") };
                out.push(format!("{own} {}: {parts}", name(function)));
            }
        }
        for members in orbits.values() {
            let mut names: Vec<&str> = members.iter().map(|(t, _)| name(self.threads[*t])).collect();
            names.dedup();
            if names.len() > 1 {
                out.push(format!("{}: {}", names.join(", "), action(members)));
            }
        }
        out.extend(self.without_threads());
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
                Part::Location(..) | Part::Thread(_) => continue,
            };
            out.push(format!("{} {what}: {}", points.len(), words(self.structure.group.action(&points))));
        }
        out
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
                    self.structure.group.action(&points) == Action::All
                })
        })
    }
}

fn words(action: Action) -> &'static str {
    match action {
        Action::All => "all permutations",
        Action::Rotations => "rotations",
        Action::RotationsAndReflections => "rotations and reflections",
        Action::Other => "some permutations",
    }
}
