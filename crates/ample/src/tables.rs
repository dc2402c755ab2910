//! Tables computed ahead: for each *role* and location, what comes next and what may still come.
//!
//! A role is a function together with what makes its threads touch different things: the thread's id, the values of the
//! locals that fixed expressions use, and the channels it brought along. Threads of one role at one location touch the
//! same things; so a table per role, made when a role is first met, turns the choice of an ample set into looking up a few
//! masks. What the rest of a thread may touch is the union over all locations it can still reach (residual code), and over
//! all that the threads it may still start can touch; of those neither ids nor values are known, so they count as any.
//!
//! Where states are replaced by representatives, a table must hold for the state at hand, not for the one it was made in.
//! Ids and values of locals are looked at in every state anyway; globals that nobody writes, which tables also depend on,
//! may be exchanged by a representative, so there is a set of tables per arrangement of their values.

use std::collections::HashMap;

use quotient_machine::{Machine, ScalarAt, ThreadAt};
use quotient_program::{FunctionId, Program};
use quotient_residual::access::{Accesses, Step, Touch};

use crate::gates::{self, Gates, Ways};
use crate::objects::{MOVE, Mask, Objects, Site, Wait};

/// What is known of a thread of one role at one location.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// What its next step may write, whatever the channels hold.
    pub writes: u128,
    /// The bits its next step may write, and from the second number on those it may read, in [`Tables::bits`].
    pub bits: (u32, u32, u32),
    /// What it waits for, in [`Tables::waits`].
    pub waits: (u32, u32),
    /// All that it may still touch: a number in [`Tables::futures`].
    pub future: u32,
    /// Every way on is a send or receive with a known channel.
    pub only_channels: bool,
    /// The thread is at its end.
    pub at_end: bool,
    /// Gates that every way on has to pass.
    pub(crate) needs: u64,
}

impl Entry {
    /// Whether the thread can go alone depends on more than what others may still do: on channels, or on who is the youngest.
    #[inline]
    pub fn depends(&self) -> bool {
        self.at_end || self.waits.0 != self.waits.1 || self.only_channels
    }
}

/// A role.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    /// Its first entry.
    pub first: u32,
    /// Its locations, of which each has an entry.
    pub locations: u32,
    /// The gates that its steps have to pass.
    pub gates: u64,
}

/// The tables of a program.
#[derive(Clone, Debug)]
pub struct Tables {
    accesses: Accesses,
    objects: Objects,
    /// Where the locals lie that make up the key of a role, per function.
    keys: Vec<Vec<ScalarAt>>,
    brings_channels: Vec<bool>,
    /// Cells of globals that nobody writes and fixed expressions use, if representatives may exchange them.
    exchanged: Vec<ScalarAt>,

    /// The arrangements of the exchanged cells met so far, numbered.
    arrangements: HashMap<Vec<i32>, u32>,
    /// What a thread of each function may touch in its whole life, whoever it is; per arrangement, once it is needed.
    whole_life: HashMap<u32, Vec<Mask>>,
    /// By function and key: the arrangement, the id, the first channel, the values.
    roles: HashMap<(u32, Vec<i32>), Role>,
    /// Entries of all roles, one per location.
    pub entries: Vec<Entry>,
    /// Channel operations that threads rest at.
    pub waits: Vec<Wait>,
    /// Lists of bits.
    pub bits: Vec<u8>,
    /// What threads may still touch, each once; the first is nothing.
    pub futures: Vec<Mask>,
    future_numbers: HashMap<Mask, u32>,
    pub(crate) gates: Gates,
    /// Per entry, the gates that the thread is behind.
    pub(crate) behind: Vec<u64>,
}

/// Roles after which a new one shares the table of its function.
const MOST_ROLES: usize = 4096;

/// Arrangements of exchanged cells after which no new one has tables.
const MOST_ARRANGEMENTS: u32 = 64;

impl Tables {
    /// Prepares a program's tables, or says why there can be none. `renamed`: states are replaced by representatives; `propositions`: what
    /// else is looked at.
    pub fn new(machine: &Machine, renamed: bool, propositions: &[Touch]) -> Result<Tables, &'static str> {
        let program = machine.program();
        let mut accesses = Accesses::new(program)?;
        accesses.add_globals(propositions);
        let objects = Objects::new(machine, &accesses);
        let keys = accesses.keys.iter().enumerate().map(|(f, locals)| {
            let function = FunctionId(f as u32);
            let scalars = locals.iter().flat_map(|v| {
                let ty = &program.function(function).locals[v.0 as usize].ty;
                (0..program.scalars(ty)).map(|s| (*v, s))
            });
            scalars.filter_map(|(v, s)| machine.local_at(function, v, s)).collect()
        });
        let keys: Vec<Vec<ScalarAt>> = keys.collect();
        let mut exchanged = Vec::new();
        for v in accesses.globals.iter().filter(|_| renamed) {
            let scalars = program.scalars(&program.globals[v.0 as usize].ty);
            exchanged.extend((0..scalars).filter_map(|s| machine.global_at(*v, s)));
        }
        Ok(Tables {
            keys,
            brings_channels: (0..program.functions.len())
                .map(|f| machine.brings_channels(FunctionId(f as u32)))
                .collect(),
            exchanged,
            arrangements: HashMap::new(),
            accesses,
            objects,
            whole_life: HashMap::new(),
            roles: HashMap::new(),
            entries: Vec::new(),
            waits: Vec::new(),
            bits: Vec::new(),
            futures: vec![Mask::default()],
            future_numbers: HashMap::from([(Mask::default(), 0)]),
            gates: Gates::default(),
            behind: Vec::new(),
        })
    }

    /// For each thread of a state, the locations from which its next step may close a cycle of its control flow.
    pub(crate) fn closing(&self, machine: &Machine, state: &[u64]) -> Vec<Vec<bool>> {
        let steps = |at: ThreadAt| &self.accesses.steps[at.function as usize];
        machine.threads_at(state).map(|at| steps(at).iter().map(|step| step.closes_cycle).collect()).collect()
    }

    /// What must not change unseen for expressions to keep their values.
    pub fn visible(&self, machine: &Machine, state: &[u64], touches: &[Touch]) -> u128 {
        self.objects.visible(machine.program(), touches, Site { machine, state, thread: None })
    }

    /// The number of the arrangement of what representatives may have exchanged; none when there are too many to have tables for each.
    pub fn arrange(&mut self, machine: &Machine, state: &[u64]) -> Option<u32> {
        let values: Vec<i32> = self.exchanged.iter().map(|at| machine.global_value(state, *at)).collect();
        let next = self.arrangements.len() as u32;
        if next < MOST_ARRANGEMENTS {
            return Some(*self.arrangements.entry(values).or_insert(next));
        }
        self.arrangements.get(&values).copied()
    }

    /// The bytes of a state that hold what representatives may exchange.
    pub(crate) fn exchanged_bytes(&self) -> impl Iterator<Item = u32> {
        self.exchanged.iter().flat_map(|at| Machine::global_bytes(*at))
    }

    /// Where the locals lie that make up a thread's key.
    pub(crate) fn key(&self, at: ThreadAt) -> &[ScalarAt] {
        &self.keys[at.function as usize]
    }

    /// A thread's role, which may be new, in a state of this arrangement.
    pub fn role(
        &mut self,
        machine: &Machine,
        state: &[u64],
        arrangement: u32,
        thread: usize,
        at: ThreadAt,
    ) -> Role {
        let f = at.function;
        let values = self.keys[f as usize].iter().map(|k| machine.local_value(state, at, *k));
        let brings = self.brings_channels[f as usize];
        let channels = if brings { machine.own_channels(state, thread).start } else { 0 };
        let mut key: Vec<i32> =
            [arrangement as i32, thread as i32, channels].into_iter().chain(values).collect();
        let mut thread = Some(thread);
        if !self.roles.contains_key(&(f, key.clone())) && self.roles.len() >= MOST_ROLES {
            // One table for all that follow.
            key.truncate(1);
            thread = None;
        }
        if let Some(role) = self.roles.get(&(f, key.clone())) {
            return *role;
        }
        let role = self.add_role(f as usize, arrangement, Site { machine, state, thread });
        self.roles.insert((f, key), role);
        role
    }

    /// Makes the table of a role.
    fn add_role(&mut self, function: usize, arrangement: u32, site: Site<'_>) -> Role {
        let program = site.machine.program();
        if !self.whole_life.contains_key(&arrangement) {
            let lives = self.whole_lives(program, Site { thread: None, ..site });
            self.whole_life.insert(arrangement, lives);
        }
        let first = self.entries.len();
        let (mut futures, mut ways) = (Vec::new(), Vec::new());
        self.add_gates(function, site);
        for step in &self.accesses.steps[function] {
            let mut entry = Entry { only_channels: step.only_channels, ..Entry::default() };
            let mut next = Mask { read: 0, write: MOVE };
            let mut future = Mask::default();
            let mut each = Vec::new();
            entry.waits.0 = self.waits.len() as u32;
            for touch in &step.touches {
                let (now, mut later, wait) = self.objects.masks(program, touch, site);
                next.add(now);
                // What cannot be asked is not known to be impossible.
                let unknown = matches!(touch, Touch::Channel(c) if wait.is_none() && c.how.is_operation());
                entry.only_channels &= !unknown;
                if let Some(wait) = wait
                    && !self.waits[entry.waits.0 as usize..].contains(&wait)
                {
                    self.waits.push(wait);
                }
                entry.at_end |= matches!(touch, Touch::Exit);
                if let Touch::Start(started) = touch {
                    later.add(self.whole_life[&arrangement][started.0 as usize]);
                }
                future.add(later);
                each.push(later.read | later.write);
            }
            let here = self.ways(step, &each, site);
            entry.needs = here.each.iter().map(|(_, must)| *must).reduce(|a, b| a & b).unwrap_or(0);
            ways.push(here);
            entry.waits.1 = self.waits.len() as u32;
            entry.writes = next.write;
            entry.bits.0 = self.bits.len() as u32;
            self.bits.extend(ones(next.write));
            entry.bits.1 = self.bits.len() as u32;
            self.bits.extend(ones(next.read & !next.write));
            entry.bits.2 = self.bits.len() as u32;
            self.entries.push(entry);
            futures.push(if step.never_rests { Mask::default() } else { future });
        }
        close(&self.accesses.steps[function], &mut futures);
        self.behind.extend(gates::behind(&self.accesses.steps[function], &ways));
        for (entry, future) in self.entries[first..].iter_mut().zip(futures) {
            entry.future = *self.future_numbers.entry(future).or_insert_with(|| {
                self.futures.push(future);
                self.futures.len() as u32 - 1
            });
        }
        let gates = ways.iter().flat_map(|w| &w.each).fold(0, |set, (_, must)| set | must);
        Role { first: first as u32, locations: (self.entries.len() - first) as u32, gates }
    }

    /// Numbers the gates that a role has to pass.
    fn add_gates(&mut self, function: usize, site: Site<'_>) {
        let ways = self.accesses.steps[function].iter().flat_map(|s| &s.ways);
        for condition in ways.flat_map(|w| &w.conditions) {
            if let Some(gate) = self.objects.gate(condition, site) {
                self.gates.add(gate);
            }
        }
    }

    /// What is known of the ways of a step, given the bits of its touches.
    fn ways(&self, step: &Step, touches: &[u128], site: Site<'_>) -> Ways {
        let bits = |touches: &[u128]| touches.iter().fold(0, |all, bits| all | bits);
        let mut each = Vec::new();
        for way in &step.ways {
            let gates = way.conditions.iter().filter_map(|c| self.objects.gate(c, site));
            let must = gates.fold(0, |set, gate| set | self.gates.find(gate));
            each.push((self.gates.about(bits(&touches[way.touches.clone()])), must));
        }
        let own = |t: &usize| !step.ways.iter().any(|w| w.touches.contains(t));
        let common: Vec<u128> = (0..touches.len()).filter(own).map(|t| touches[t]).collect();
        Ways { touched: self.gates.about(bits(&common)), each }
    }

    /// What any thread of each function may touch from its start to its end.
    fn whole_lives(&self, program: &Program, site: Site<'_>) -> Vec<Mask> {
        let mut lives = vec![Mask::default(); program.functions.len()];
        loop {
            let before = lives.clone();
            for (f, steps) in self.accesses.steps.iter().enumerate() {
                for touch in steps.iter().flat_map(|s| &s.touches) {
                    let (_, later, _) = self.objects.masks(program, touch, site);
                    lives[f].add(later);
                    if let Touch::Start(started) = touch {
                        let started = lives[started.0 as usize];
                        lives[f].add(started);
                    }
                }
            }
            if lives == before {
                return lives;
            }
        }
    }
}

/// The positions of the ones of a mask.
pub fn ones(mut mask: u128) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as u8;
        (mask != 0).then(|| {
            mask &= mask - 1;
            bit
        })
    })
}

/// Adds to each location what those it leads to have, until nothing changes.
fn close(steps: &[Step], futures: &mut [Mask]) {
    let mut changed = true;
    while changed {
        changed = false;
        for (l, step) in steps.iter().enumerate().rev() {
            let mut sum = futures[l];
            for target in &step.targets {
                sum.add(futures[target.0 as usize]);
            }
            changed |= sum != futures[l];
            futures[l] = sum;
        }
    }
}
