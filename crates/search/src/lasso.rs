//! A short lasso through a component whose marks are complete: nearest first, over the states that the search has stored.
//!
//! In that component, from a nearest state of it, the nearest missing mark is walked to, again and again, and back to the first state with one.
//!
//! The component was found deepest first, and there may be shorter lassos elsewhere. So afterwards every state, the nearest first, is tried as the
//! place where the way ends and a cycle begins, over pairs of a state and what was met since the way's end; first for lassos of a few steps, then of twice as many, and so on,
//! as far as that can be shorter and as the work allowed ([`MORE_WORK`]) lasts. If it was enough, there is no shorter lasso: a shortest one goes the shortest way to the
//! first state of its cycle, and from there around.
//!
//! All steps are looked at here, whatever ample sets the search used: the steps it explored are among them, so a way to the
//! component and a cycle in it exist.
//!
//! Where marks ask for the names of threads, the way and the cycle are taken with every thread in its place: over the states of the
//! system that the states of the component stand for, as far as they are needed.

use std::collections::{HashMap, HashSet, VecDeque};

use quotient_seams::{Incomplete, Interrupt, Marks, Names, Omega, Representative, Scope, Successors};

use crate::Path;

/// What a search knows of its states, by number.
pub(crate) trait States<S> {
    /// The number of a state, which stands for itself.
    fn number(&mut self, system: &S, state: Vec<u64>) -> Result<usize, Incomplete>;

    /// Was it stored by the search?
    fn is_stored(&self, number: usize) -> bool;

    /// Is it one of those that are looked for: of a component, or a single one?
    fn is_wanted(&self, number: usize) -> bool;
}

/// A path whose last `cycle` steps lead from a state back to it.
pub(crate) struct Lasso {
    pub(crate) path: Path,
    pub(crate) cycle: usize,
}

/// States expanded to find a shorter lasso than the first one found, at most.
const MORE_WORK: usize = 50_000;

/// States looked at with threads in their places, at most.
const MOST_STATES: usize = 1 << 22;

/// A state met by a breadth-first walk.
struct Node {
    state: Vec<u64>,
    /// Its number: that of what stands for it, unless threads keep their places.
    own: usize,
    parent: usize,
    choice: u32,
    /// Steps from where the walk started.
    depth: usize,
}

/// What walks ask a representative. They are compiled once for a system, whatever its representative and store are: a counterexample is looked for once.
trait Stands<S> {
    /// As [`Representative::representative`].
    fn stand(&mut self, system: &S, state: &[u64], out: &mut Vec<u64>) -> bool;

    /// As [`Representative::with_threads_in_place`].
    fn stand_in_place(&mut self, system: &S, state: &[u64], out: &mut Vec<u64>) -> bool;
}

impl<S, R: Representative<S>> Stands<S> for R {
    fn stand(&mut self, system: &S, state: &[u64], out: &mut Vec<u64>) -> bool {
        self.representative(system, state, out)
    }

    fn stand_in_place(&mut self, system: &S, state: &[u64], out: &mut Vec<u64>) -> bool {
        self.with_threads_in_place(system, state, out)
    }
}

struct Walk<'a, S> {
    system: &'a mut S,
    representative: &'a mut dyn Stands<S>,
    states: &'a mut dyn States<S>,
    /// Whether threads keep their places.
    in_place: bool,
    /// Raised when the search is to end.
    interrupt: &'a Interrupt,
    /// All states are wanted, stored or not.
    everything: bool,
    successors: Successors,
    scratch: Vec<u64>,
    /// Numbers of states with their threads in place.
    own: HashMap<Vec<u64>, usize>,
    /// States that may still be expanded.
    left: usize,
}

/// A successor: which one, the number of what stands for it, its own number, and itself.
type Step = (u32, usize, usize, Vec<u64>);

/// A way to the component and around in it.
pub(crate) fn shortest<S: Omega, R: Representative<S>>(
    system: &mut S,
    representative: &mut R,
    states: &mut dyn States<S>,
    interrupt: &Interrupt,
) -> Result<Lasso, Incomplete> {
    Walk::new(system, representative, states, interrupt).shortest()
}

/// A shortest way to the component, as choices, and where it leads.
pub(crate) fn way<S: Omega, R: Representative<S>>(
    system: &mut S,
    representative: &mut R,
    states: &mut dyn States<S>,
    interrupt: &Interrupt,
) -> Result<(Vec<u32>, Vec<u64>), Incomplete> {
    let mut walk = Walk::new(system, representative, states, interrupt);
    let way = walk.next_way(&mut Ways::default())?;
    way.map(|(choices, at)| (choices, at.1)).ok_or_else(|| walk.lost())
}

/// A state with its own number.
type At = (usize, Vec<u64>);

/// A breadth-first walk from the initial states, as far as it has come.
#[derive(Default)]
struct Ways {
    nodes: Vec<Node>,
    seen: HashSet<usize>,
    /// The next node to expand; the initial states come before the first one.
    next: Option<usize>,
    /// Nodes of the component that have been met and not given yet.
    met: VecDeque<usize>,
}

impl<'a, S: Omega> Walk<'a, S> {
    fn new<R: Representative<S>>(
        system: &'a mut S,
        representative: &'a mut R,
        states: &'a mut dyn States<S>,
        interrupt: &'a Interrupt,
    ) -> Walk<'a, S> {
        Walk {
            system,
            representative,
            states,
            in_place: <S::Marks as Marks>::Names::ASKED && R::CHANGES,
            interrupt,
            everything: false,
            successors: Successors::new(),
            scratch: Vec::new(),
            own: HashMap::new(),
            left: usize::MAX,
        }
    }

    /// A short way to the component and around in it.
    fn shortest(mut self) -> Result<Lasso, Incomplete> {
        let (choices, start) = self.next_way(&mut Ways::default())?.ok_or_else(|| self.lost())?;
        let mut best = self.around(choices, start)?.ok_or_else(|| self.lost())?;
        self.everything = true;
        self.left = self.left.min(MORE_WORK);
        // What goes wrong from here on leaves what was found.
        let _ = self.shorten(&mut best);
        Ok(best)
    }

    /// Where threads keep their places, a representative that is not canonical may hide the way.
    fn lost(&self) -> Incomplete {
        if self.in_place {
            return Incomplete::TooLong;
        }
        "the way to a cycle was lost; this is a bug in quotient, please report it".to_owned().into()
    }

    fn is_stored(&self, number: usize) -> bool {
        self.everything || self.states.is_stored(number)
    }

    fn is_wanted(&self, number: usize) -> bool {
        self.everything || self.states.is_wanted(number)
    }

    /// The successors of a state.
    fn step(&mut self, state: Option<&[u64]>) -> Result<Vec<Step>, Incomplete> {
        self.left = self.left.checked_sub(1).ok_or("the work allowed is done")?;
        if let Some(reason) = self.interrupt.reason() {
            return Err(Incomplete::Unconfirmed(format!(
                "{reason} while a short counterexample was looked for; a violation exists"
            )));
        }
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
            let found = self.successors.state(index);
            let mut core = found.to_vec();
            if self.representative.stand(self.system, found, &mut self.scratch) {
                core.clone_from(&self.scratch);
            }
            let state = if !self.in_place {
                core.clone()
            } else if self.representative.stand_in_place(self.system, found, &mut self.scratch) {
                self.scratch.clone()
            } else {
                found.to_vec()
            };
            let number = self.states.number(self.system, core)?;
            let own = if self.in_place { self.own_number(&state)? } else { number };
            out.push((index as u32, number, own, state));
        }
        Ok(out)
    }

    /// The number of a state with threads in place.
    fn own_number(&mut self, state: &[u64]) -> Result<usize, Incomplete> {
        if let Some(number) = self.own.get(state) {
            return Ok(*number);
        }
        if self.own.len() == MOST_STATES {
            return Err(Incomplete::TooLong);
        }
        self.own.insert(state.to_vec(), self.own.len());
        Ok(self.own.len() - 1)
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

    /// The shortest way from an initial state to the next state of the component, the nearest ones first.
    fn next_way(&mut self, ways: &mut Ways) -> Result<Option<(Vec<u32>, At)>, Incomplete> {
        while ways.met.is_empty() {
            let (source, parent) = match ways.next {
                None => (None, usize::MAX),
                Some(next) if next >= ways.nodes.len() => return Ok(None),
                // Those met were given before.
                Some(next) => (Some(std::mem::take(&mut ways.nodes[next].state)), next),
            };
            for (choice, number, own, state) in self.step(source.as_deref())? {
                // One state of a class is enough here.
                if self.is_stored(number) && ways.seen.insert(number) {
                    if self.is_wanted(number) {
                        ways.met.push_back(ways.nodes.len());
                    }
                    ways.nodes.push(Node { state, own, parent, choice, depth: 0 });
                }
            }
            ways.next = Some(ways.next.map_or(0, |next| next + 1));
        }
        let Some(met) = ways.met.pop_front() else { return Ok(None) };
        let at = (ways.nodes[met].own, ways.nodes[met].state.clone());
        Ok(Some((Self::choices(&ways.nodes, met), at)))
    }

    /// Looks for shorter lassos everywhere; of the shortest ones takes the first, so that it does not matter which component was found.
    fn shorten(&mut self, best: &mut Lasso) -> Result<(), Incomplete> {
        let mut most = 4;
        while most < best.path.choices.len() {
            self.shorten_to(most, best)?;
            if best.path.choices.len() <= most {
                return Ok(());
            }
            most *= 2;
        }
        self.shorten_to(best.path.choices.len(), best)
    }

    /// Looks for the shortest lasso of at most so many choices.
    fn shorten_to(&mut self, mut most: usize, best: &mut Lasso) -> Result<(), Incomplete> {
        let mut ways = Ways::default();
        while let Some((mut choices, start)) = self.next_way(&mut ways)? {
            // A cycle has at least one step.
            if choices.len() >= most {
                break;
            }
            if let Some(cycle) = self.cycle(&start, most - choices.len())? {
                let length = cycle.len();
                choices.extend(cycle);
                *best = Lasso { path: Path { choices }, cycle: length };
                most = best.path.choices.len() - 1;
            }
        }
        Ok(())
    }

    /// The shortest cycle from a state back to it, of at most `most` steps, in which everything is met.
    fn cycle(&mut self, start: &At, most: usize) -> Result<Option<Vec<u32>>, Incomplete> {
        let first =
            Node { state: start.1.clone(), own: start.0, parent: usize::MAX, choice: u32::MAX, depth: 0 };
        let mut nodes = vec![(first, self.system.state_marks(&start.1))];
        // What was met where: a pair is left out if more was met there before.
        let mut seen: HashMap<usize, Vec<S::Marks>> = HashMap::new();
        let mut steps = Vec::new();
        let mut index = 0;
        while index < nodes.len() && nodes[index].0.depth < most {
            let (node, met) = &mut nodes[index];
            let (depth, met, state) = (node.depth + 1, *met, std::mem::take(&mut node.state));
            let next = self.step(Some(&state))?;
            self.system.step_marks(&state, &self.successors, &mut steps);
            for (choice, _, own, next) in next {
                let mut met = met;
                met.add(steps.get(choice as usize).copied().unwrap_or(S::Marks::NONE));
                met.add(self.system.state_marks(&next));
                let closes = own == start.0 && met.is_full();
                let known = seen.entry(own).or_default();
                if !closes && known.iter().any(|known| !met.exceeds(*known)) {
                    continue;
                }
                known.push(met);
                nodes.push((Node { state: next, own, parent: index, choice, depth }, met));
                if closes {
                    let mut choices = Vec::new();
                    let mut at = nodes.len() - 1;
                    while at != 0 {
                        choices.push(nodes[at].0.choice);
                        at = nodes[at].0.parent;
                    }
                    choices.reverse();
                    return Ok(Some(choices));
                }
            }
            index += 1;
        }
        Ok(None)
    }

    /// A lasso whose way to the component is `choices`, which lead to `start`.
    fn around(&mut self, mut choices: Vec<u32>, start: At) -> Result<Option<Lasso>, Incomplete> {
        // One acceptance set of states: stop at the nearest accepting state, and come back to it. Several: meet them one by one.
        let mut met = S::Marks::NONE;
        let mut at = start;
        let mut anchor = None;
        let mut cycle = Vec::new();
        loop {
            let own = self.system.state_marks(&at.1);
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
            let goal =
                self.nearest(&at, &mut |_, in_state, on_step| in_state.exceeds(met) || on_step.exceeds(met))?;
            let Some((more, marks, next)) = goal else { return Ok(None) };
            if anchor.is_none() && marks.exceeds(met) {
                // A mark of a step: the cycle must contain the step.
                anchor = Some(at.clone());
            }
            met.add(marks);
            cycle.extend(more);
            at = next;
        }
        let Some(anchor) = anchor else { return Ok(None) };
        if at.0 != anchor.0 || cycle.is_empty() {
            // By its own number: where threads keep their places, exactly that state.
            let back = self.nearest(&at, &mut |own, _, _| own == anchor.0)?;
            let Some((back, ..)) = back else { return Ok(None) };
            cycle.extend(back);
        }
        let length = cycle.len();
        choices.extend(cycle);
        Ok(Some(Lasso { path: Path { choices }, cycle: length }))
    }

    /// The shortest way inside the component, of one step at least, to a state or over a step that is wanted, by the state's own
    /// number, its marks and those of the step; with the marks of the last step.
    #[allow(clippy::type_complexity, reason = "choices, marks, state")]
    fn nearest(
        &mut self,
        from: &At,
        wanted: &mut dyn FnMut(usize, S::Marks, S::Marks) -> bool,
    ) -> Result<Option<(Vec<u32>, S::Marks, At)>, Incomplete> {
        let mut nodes =
            vec![Node { state: from.1.clone(), own: from.0, parent: usize::MAX, choice: u32::MAX, depth: 0 }];
        let mut seen = HashSet::new();
        let mut steps = Vec::new();
        let mut index = 0;
        while index < nodes.len() {
            let depth = nodes[index].depth + 1;
            let state = std::mem::take(&mut nodes[index].state);
            let next = self.step(Some(&state))?;
            self.system.step_marks(&state, &self.successors, &mut steps);
            for (choice, number, own, next) in next {
                if !self.is_wanted(number) {
                    continue;
                }
                let on_step = steps.get(choice as usize).copied().unwrap_or(S::Marks::NONE);
                let done = wanted(own, self.system.state_marks(&next), on_step);
                if done {
                    nodes.push(Node { state: Vec::new(), own, parent: index, choice, depth });
                    let choices = Self::choices(&nodes, nodes.len() - 1).split_off(1);
                    return Ok(Some((choices, on_step, (own, next))));
                }
                if seen.insert(own) {
                    nodes.push(Node { state: next, own, parent: index, choice, depth });
                }
            }
            index += 1;
        }
        Ok(None)
    }
}
