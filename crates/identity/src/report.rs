//! The symmetry found, in words.

use quotient_program::{FunctionId, Program};
use quotient_source::Span;
use quotient_symmetry::group::{Action, Group};

use crate::Point;

/// Something that limits which identities can be renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Where, if it is one place.
    pub span: Option<Span>,
    /// Why.
    pub why: String,
}

/// What was found about the threads that run one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The function.
    pub function: FunctionId,
    /// How many threads run it.
    pub threads: usize,
    /// What can be done to each set of threads that can change places; the others stay where they are.
    pub moved: Vec<(usize, Action)>,
}

impl Finding {
    /// For example "11 phil: rotations".
    pub fn text(&self, program: &Program) -> String {
        let name = &program.function(self.function).name;
        let parts: Vec<String> = self
            .moved
            .iter()
            .map(|(count, action)| {
                let action = match action {
                    Action::All => "all permutations",
                    Action::Rotations => "rotations",
                    Action::RotationsAndReflections => "rotations and reflections",
                    Action::Other => "some permutations",
                };
                if *count == self.threads { action.to_owned() } else { format!("{action} of {count}") }
            })
            .collect();
        let parts = if parts.is_empty() { "none".into() } else { parts.join(", ") };
        format!("{} {name}: {parts}", self.threads)
    }

    /// Every permutation of all the threads.
    pub fn is_full(&self) -> bool {
        self.moved == [(self.threads, Action::All)]
    }
}

/// What a group does to threads, by function; functions that only one thread runs are left out.
pub(crate) fn findings(
    threads: &[FunctionId],
    thread: &[Option<u32>],
    points: &[Point],
    group: &Group,
) -> Vec<Finding> {
    let orbits = group.orbits();
    let mut functions: Vec<FunctionId> = threads.to_vec();
    functions.sort_unstable();
    functions.dedup();
    let mut out = Vec::new();
    for function in functions {
        let own: Vec<usize> = (0..threads.len()).filter(|t| threads[*t] == function).collect();
        if own.len() < 2 {
            continue;
        }
        let mut moved = Vec::new();
        let mut done: Vec<u32> = Vec::new();
        for point in own.iter().filter_map(|t| thread[*t]) {
            let orbit = orbits[point as usize];
            if done.contains(&orbit) {
                continue;
            }
            done.push(orbit);
            let members: Vec<u32> =
                own.iter().filter_map(|t| thread[*t]).filter(|p| orbits[*p as usize] == orbit).collect();
            if members.len() > 1 {
                moved.push((members.len(), group.action(&members)));
            }
        }
        out.push(Finding { function, threads: own.len(), moved });
    }
    debug_assert!(thread.iter().flatten().all(|p| (*p as usize) < points.len()));
    out
}
