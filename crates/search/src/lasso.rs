//! A short lasso through a component whose marks are complete: nearest first, over the states that the search has stored.
//!
//! All steps are looked at here, whatever ample sets the search used: the steps it explored are among them, so a way to the
//! component and a cycle in it exist.

use std::collections::{HashMap, VecDeque};

use quotient_symmetry::Representative;
use quotient_system::{Marks, Omega, Scope, Successors};
use quotient_visited::Numbered;

use crate::Path;

/// The states of a component: those with a place from `first` on, below `open`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Component<'a> {
    pub(crate) place: &'a [u32],
    pub(crate) first: u32,
    pub(crate) open: u32,
    /// Layers of each core.
    pub(crate) layers: u32,
}

impl Component<'_> {
    fn has(&self, index: usize) -> bool {
        self.place.get(index).is_some_and(|p| (self.first..self.open).contains(p))
    }

    /// Was the state stored by the search?
    fn stored(&self, index: usize) -> bool {
        self.place.get(index).is_some_and(|p| *p != 0)
    }
}

/// A path whose last `cycle` steps lead from a state back to it.
pub(crate) struct Lasso {
    pub(crate) path: Path,
    pub(crate) cycle: usize,
}

/// A state met by a breadth-first walk.
struct Node {
    state: Vec<u64>,
    number: usize,
    parent: usize,
    choice: u32,
}

struct Walk<'a, S: Omega, R> {
    system: &'a mut S,
    representative: &'a mut R,
    store: &'a mut Numbered,
    component: Component<'a>,
    successors: Successors,
    scratch: Vec<u64>,
}

/// A way to the component and around in it.
pub(crate) fn shortest<S: Omega, R: Representative<S>>(
    system: &mut S,
    representative: &mut R,
    store: &mut Numbered,
    component: Component<'_>,
) -> Result<Lasso, String> {
    let mut walk =
        Walk { system, representative, store, component, successors: Successors::new(), scratch: Vec::new() };
    let (mut choices, start) = walk.initial_way()?.ok_or_else(lost)?;
    // One acceptance set of states: stop at the nearest accepting state, and come back to it. Several: meet them one by one.
    let mut met = S::Marks::NONE;
    let mut at = start;
    let mut anchor = None;
    let mut cycle = Vec::new();
    loop {
        let own = walk.system.state_marks(&at.1);
        if own.exceeds(met) {
            met.add(own);
            if anchor.is_none() {
                choices.append(&mut cycle);
                anchor = Some(at.clone());
            }
        }
        if met.is_full() {
            break;
        }
        let goal = walk.towards(&at, &mut |state_marks, step_marks: S::Marks| {
            state_marks.exceeds(met) || step_marks.exceeds(met)
        })?;
        let (more, marks, next) = goal.ok_or_else(lost)?;
        if anchor.is_none() && marks.exceeds(met) {
            // A mark of a step: the cycle must contain the step.
            anchor = Some(at.clone());
        }
        met.add(marks);
        cycle.extend(more);
        at = next;
    }
    let anchor = anchor.ok_or_else(lost)?;
    if at.0 != anchor.0 || cycle.is_empty() {
        let back = walk.back(&at, anchor.0)?.ok_or_else(lost)?;
        cycle.extend(back);
    }
    let length = cycle.len();
    choices.extend(cycle);
    Ok(Lasso { path: Path { choices }, cycle: length })
}

/// A shortest way to the component, as choices.
pub(crate) fn way<S: Omega, R: Representative<S>>(
    system: &mut S,
    representative: &mut R,
    store: &mut Numbered,
    component: Component<'_>,
) -> Result<Vec<u32>, String> {
    let (successors, scratch) = (Successors::new(), Vec::new());
    let mut walk = Walk { system, representative, store, component, successors, scratch };
    walk.initial_way()?.map(|(choices, _)| choices).ok_or_else(lost)
}

fn lost() -> String {
    "the way to a cycle was lost; this is a bug in quotient, please report it".to_owned()
}

/// A state with its number.
type At = (usize, Vec<u64>);

impl<S: Omega, R: Representative<S>> Walk<'_, S, R> {
    /// The successors of a state, with their numbers.
    fn step(&mut self, state: Option<&[u64]>) -> Result<Vec<(u32, usize, Vec<u64>)>, String> {
        self.successors.clear();
        match state {
            Some(state) => self.system.successors(state, Scope::All, &mut self.successors),
            None => self.system.initial(&mut self.successors),
        }
        .map_err(|e| e.what)?;
        let mut out = Vec::new();
        for index in 0..self.successors.len() {
            if !self.successors.entry(index).has_state() {
                continue;
            }
            if self.representative.representative(
                self.system,
                self.successors.state(index),
                &mut self.scratch,
            ) {
                self.successors.replace(index, &self.scratch);
            }
            let state = self.successors.state(index).to_vec();
            let mut core = state.clone();
            let layer = self.system.take_layer(&mut core) as usize;
            let number = self.store.number_of(&core) as usize * self.component.layers as usize + layer;
            out.push((index as u32, number, state));
        }
        Ok(out)
    }

    fn choices(nodes: &[Node], mut index: usize) -> Vec<u32> {
        let mut choices = Vec::new();
        while index != usize::MAX {
            choices.push(nodes[index].choice);
            index = nodes[index].parent;
        }
        choices.reverse();
        choices
    }

    /// The shortest way from an initial state to the component.
    fn initial_way(&mut self) -> Result<Option<(Vec<u32>, At)>, String> {
        let mut nodes: Vec<Node> = Vec::new();
        let mut seen: HashMap<usize, ()> = HashMap::new();
        let mut next = usize::MAX;
        loop {
            let source = (next != usize::MAX).then(|| nodes[next].state.clone());
            for (choice, number, state) in self.step(source.as_deref())? {
                if !self.component.stored(number) || seen.insert(number, ()).is_some() {
                    continue;
                }
                nodes.push(Node { state, number, parent: next, choice });
                let last = nodes.len() - 1;
                if self.component.has(number) {
                    let at = (nodes[last].number, std::mem::take(&mut nodes[last].state));
                    return Ok(Some((Self::choices(&nodes, last), at)));
                }
            }
            if next != usize::MAX {
                nodes[next].state = Vec::new();
            }
            next = next.wrapping_add(1);
            if next >= nodes.len() {
                return Ok(None);
            }
        }
    }

    /// The shortest way inside the component to a state, or over a step, that is wanted; with the marks met at its end.
    #[allow(clippy::type_complexity, reason = "choices, marks, state")]
    fn towards(
        &mut self,
        from: &At,
        wanted: &mut dyn FnMut(S::Marks, S::Marks) -> bool,
    ) -> Result<Option<(Vec<u32>, S::Marks, At)>, String> {
        let mut nodes =
            vec![Node { state: from.1.clone(), number: from.0, parent: usize::MAX, choice: u32::MAX }];
        let mut seen: HashMap<usize, ()> = HashMap::new();
        let mut open = VecDeque::from([0usize]);
        let mut steps = Vec::new();
        while let Some(index) = open.pop_front() {
            let state = nodes[index].state.clone();
            let next = self.step(Some(&state))?;
            self.system.step_marks(&state, &self.successors, &mut steps);
            for (choice, number, next) in next {
                if !self.component.has(number) {
                    continue;
                }
                let on_step = steps.get(choice as usize).copied().unwrap_or(S::Marks::NONE);
                let in_state = self.system.state_marks(&next);
                let done = wanted(in_state, on_step);
                if done || seen.insert(number, ()).is_none() {
                    nodes.push(Node { state: next, number, parent: index, choice });
                    let last = nodes.len() - 1;
                    if done {
                        // The state's own marks are added by the caller.
                        let mut choices = Self::choices(&nodes, last);
                        choices.remove(0);
                        return Ok(Some((choices, on_step, (number, nodes[last].state.clone()))));
                    }
                    open.push_back(last);
                }
            }
        }
        Ok(None)
    }

    /// The shortest way inside the component, of at least one step, to the state with this number.
    fn back(&mut self, from: &At, to: usize) -> Result<Option<Vec<u32>>, String> {
        let mut nodes =
            vec![Node { state: from.1.clone(), number: from.0, parent: usize::MAX, choice: u32::MAX }];
        let mut seen: HashMap<usize, ()> = HashMap::new();
        let mut open = VecDeque::from([0usize]);
        while let Some(index) = open.pop_front() {
            let state = std::mem::take(&mut nodes[index].state);
            for (choice, number, next) in self.step(Some(&state))? {
                if !self.component.has(number) || (number != to && seen.insert(number, ()).is_some()) {
                    continue;
                }
                nodes.push(Node { state: next, number, parent: index, choice });
                if number == to {
                    let mut choices = Self::choices(&nodes, nodes.len() - 1);
                    choices.remove(0);
                    return Ok(Some(choices));
                }
                open.push_back(nodes.len() - 1);
            }
        }
        Ok(None)
    }
}
