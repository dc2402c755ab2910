//! The search: which states are stored, and how many steps lead to a stored state.
//!
//! A state is stored between steps that can be interleaved. Inside an atomic sequence, and between offer
//! and acceptance of a rendezvous, it is not; when an atomic sequence blocks, it is stored after all and
//! every process may go on. A *transition* is a path from one stored state to the next.

use super::elements::Shape;
use super::resolved::{Basic, Value};
use super::state::{Context, Program, State, Stored};
use super::step::Effect;
use super::{Fault, Outcome};
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// Longest path through states that are not stored.
const UNSTORED_DEPTH: usize = 1500;

/// FNV-1a, a word at a time: nobody chooses states to make it slow.
#[derive(Default)]
struct Words(u64);

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Where the steps of each state lead, and which propositions hold there.
type Graph = (Vec<Vec<usize>>, Vec<Vec<bool>>);

/// The search.
pub(super) struct Search<'a> {
    program: &'a Program,
    limit: usize,
    outcome: Outcome,
    /// Stored states with their numbers, in the order they were met.
    visited: HashMap<Stored, usize, BuildHasherDefault<Words>>,
    /// States to be expanded, with their numbers.
    queue: VecDeque<(usize, State)>,
    /// A state that is no longer needed, to write the next one over.
    spare: State,
    /// The number of the state being expanded.
    current: Option<usize>,
    /// By number: where the steps of each state lead.
    edges: Vec<Vec<usize>>,
    /// Looked at in every stored state.
    propositions: &'a [Value],
    /// By number: which propositions hold.
    letters: Vec<Vec<bool>>,
    /// Steps left before the search is given up.
    fuel: usize,
}

impl<'a> Search<'a> {
    /// Explores everything from `initial`, but stores no more than `limit` states.
    pub fn run(program: &'a Program, initial: State, limit: usize) -> Outcome {
        Search::explore(program, initial, limit, &[]).outcome
    }

    /// The graph of everything from `initial`: edges, which propositions hold where, and the outcome. `None` when something
    /// was left out or went wrong.
    pub fn graph(
        program: &'a Program,
        initial: State,
        limit: usize,
        propositions: &'a [Value],
    ) -> Option<Graph> {
        let search = Search::explore(program, initial, limit, propositions);
        let usable = search.outcome.complete && search.outcome.faults.is_empty();
        usable.then_some((search.edges, search.letters))
    }

    fn explore(program: &'a Program, initial: State, limit: usize, propositions: &'a [Value]) -> Search<'a> {
        let mut search = Search {
            program,
            limit,
            outcome: Outcome { complete: true, ..Outcome::default() },
            visited: HashMap::default(),
            queue: VecDeque::new(),
            spare: State::default(),
            current: None,
            edges: Vec::new(),
            propositions,
            letters: Vec::new(),
            fuel: limit.saturating_mul(200).max(1_000_000),
        };
        search.store(initial);
        while let Some((number, state)) = search.queue.pop_front() {
            if !search.outcome.complete {
                break;
            }
            search.current = Some(number);
            search.expand(&state);
            search.spare = state;
        }
        search.outcome.states = search.visited.len();
        // The initial state is stored without a step.
        search.outcome.transitions -= 1;
        search
    }

    fn store(&mut self, state: State) {
        self.outcome.transitions += 1;
        if let Some(&known) = self.visited.get(&state.stored) {
            self.edge(known);
            self.spare = state;
            return;
        }
        if self.visited.len() >= self.limit {
            self.outcome.complete = false;
            return;
        }
        let number = self.visited.len();
        self.visited.insert(state.stored.clone(), number);
        self.edges.push(Vec::new());
        self.edge(number);
        let mut letter = Vec::new();
        for proposition in self.propositions {
            let mut state = state.clone();
            let mut context = Context { program: self.program, state: &mut state, me: 0, timeout: false };
            match context.truth(proposition) {
                Ok(holds) => letter.push(holds),
                Err(fault) => self.fault(fault),
            }
        }
        self.letters.push(letter);
        self.queue.push_back((number, state));
    }

    fn edge(&mut self, to: usize) {
        if let Some(from) = self.current {
            self.edges[from].push(to);
        }
    }

    fn expand(&mut self, state: &State) {
        for timeout in [false, true] {
            let mut any = false;
            for pid in (0..state.stored.processes.len()).rev() {
                any |= self.process(state, pid, timeout, 0);
            }
            if any || state.stored.processes.is_empty() {
                return;
            }
        }
        let rests = |p: &super::state::Process| self.program.proctypes[p.proctype].table.stop[p.at];
        if !state.stored.processes.iter().all(rests) {
            self.outcome.invalid_end_states += 1;
        }
    }

    fn fault(&mut self, fault: Fault) {
        self.outcome.faults.insert(fault);
    }

    /// Every step of process `pid`; was there one? The steps of an escape keep those of other escapes and
    /// of the main sequence from being tried.
    fn process(&mut self, state: &State, pid: usize, timeout: bool, depth: usize) -> bool {
        if self.fuel == 0 || depth > UNSTORED_DEPTH {
            self.outcome.complete = false;
            return true;
        }
        self.fuel -= 1;
        let program = self.program;
        let definition = &program.proctypes[state.stored.processes[pid].proctype];
        if let Some(provided) = &definition.provided {
            let mut state = state.clone();
            match (Context { program, state: &mut state, me: pid, timeout }).truth(provided) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(fault) => {
                    self.fault(fault);
                    return true;
                }
            }
        }
        let mut any = false;
        let mut escaping = None;
        let at = state.stored.processes[pid].at;
        self.outcome.beyond_spin |= matches!(definition.table.elements.elements[at].shape, Shape::Unless);
        for transition in &definition.table.steps[at] {
            if escaping.is_some() && escaping != transition.escape {
                break;
            }
            let mut next = std::mem::take(&mut self.spare);
            next.clone_from(state);
            let shape = &definition.table.elements.elements[transition.element].shape;
            let mut context = Context { program, state: &mut next, me: pid, timeout };
            let effect = context.execute(shape, any);
            if effect != Ok(Effect::Blocked) {
                self.outcome.faults.extend(next.noted.drain(..));
                self.outcome.beyond_spin |= matches!(shape, Shape::DStep(_)) && next.hidden != state.hidden;
            }
            match effect {
                Ok(Effect::Blocked) => {
                    self.spare = next;
                    continue;
                }
                Ok(Effect::Done) => {}
                Ok(Effect::Violated(times)) => self.outcome.assertion_failures += times,
                Err(fault) => {
                    self.fault(fault);
                    any = true;
                    continue;
                }
            }
            let died = pid >= next.stored.processes.len();
            if let Some(target) = transition.target
                && !died
            {
                next.stored.processes[pid].at = target;
            }
            if next.handshake.is_none() {
                any = true;
                escaping = transition.escape;
                self.arrive(next, pid, transition.atomic, depth);
            } else if self.accept(&next, pid, depth) {
                any = true;
                escaping = transition.escape;
            } else {
                escaping = None;
                // A `d_step` that could go another way keeps SPIN from taking the sender's `else`.
                let mut others = (0..state.stored.processes.len()).filter(|other| *other != pid);
                self.outcome.beyond_spin |= self.stands_at(state, pid, |s| matches!(s, Shape::Else))
                    && others.any(|other| self.stands_at(state, other, |s| matches!(s, Shape::DStep(_))));
            }
        }
        any
    }

    /// Lets the other processes accept the message that `sender` offers; did one?
    fn accept(&mut self, state: &State, sender: usize, depth: usize) -> bool {
        let mut accepted = false;
        for pid in (0..state.stored.processes.len()).rev() {
            if pid != sender {
                self.outcome.beyond_spin |= self.peeks(state, pid);
                accepted |= self.process(state, pid, false, depth + 1);
            }
        }
        accepted
    }

    fn stands_at(&self, state: &State, pid: usize, wanted: impl Fn(&Shape) -> bool) -> bool {
        let process = &state.stored.processes[pid];
        let table = &self.program.proctypes[process.proctype].table;
        table.steps[process.at].iter().any(|t| wanted(&table.elements.elements[t.element].shape))
    }

    /// Does a process stand where it would look at a message without taking it?
    fn peeks(&self, state: &State, pid: usize) -> bool {
        self.stands_at(state, pid, |shape| matches!(shape, Shape::Basic(Basic::Receive { peek: true, .. })))
    }

    /// After a step: stores the state, or goes on at once with the same process.
    fn arrive(&mut self, state: State, pid: usize, atomic: bool, depth: usize) {
        if !atomic || !self.process(&state, pid, false, depth + 1) {
            self.store(state);
        }
    }
}
