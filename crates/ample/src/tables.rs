//! Tables computed ahead: for each *role* and location, what comes next and what may still come.
//!
//! A role is a function together with what makes its threads touch different things: the thread's id, the values of the
//! locals that fixed expressions use, and the channels it brought along. Threads of one role at one location touch the
//! same things; so a table per role, made when a role is first met, turns the choice of an ample set into looking up a few
//! masks. What the rest of a thread may touch is the union over all locations it can still reach (residual code), and over
//! all that the threads it may still start can touch; of those neither ids nor values are known, so they count as any.

use std::collections::HashMap;

use quotient_machine::{Machine, ScalarAt};
use quotient_program::{FunctionId, Program};
use quotient_residual::access::{Accesses, Step, Touch};

use crate::objects::{MOVE, Mask, Objects, Site, Wait};

/// What is known of a thread of one role at one location.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// What its next step may touch, whatever the channels hold.
    pub next: Mask,
    /// All that it may still read or write.
    pub future: u128,
    /// All that it may still write.
    pub future_writes: u128,
    /// What it waits for, in [`Tables::waits`].
    pub waits: (u32, u32),
    /// Every way on is a send or receive with a known channel.
    pub only_channels: bool,
    /// The thread is at its end.
    pub at_end: bool,
    /// The step may close a cycle of the control flow.
    pub closes_cycle: bool,
}

/// The tables of a program.
#[derive(Debug)]
pub struct Tables {
    accesses: Accesses,
    objects: Objects,
    /// Where the locals lie that make up the key of a role, per function.
    keys: Vec<Vec<ScalarAt>>,
    brings_channels: Vec<bool>,
    /// What a thread of each function may touch in its whole life, whoever it is; computed with the first state.
    whole_life: Option<Vec<Mask>>,

    roles: HashMap<(u32, Vec<i32>), u32>,
    /// Entries of all roles, one per location.
    pub entries: Vec<Entry>,
    /// Channel operations that threads rest at.
    pub waits: Vec<Wait>,
    /// The role of each thread in the state looked at last: function, key, first entry.
    last: Vec<(u32, Vec<i32>, u32)>,
    scratch: Vec<i32>,
}

/// Roles after which a new one shares the table of its function.
const MOST_ROLES: usize = 4096;

impl Tables {
    /// Prepares a program's tables, or says why there can be none.
    pub fn new(machine: &Machine) -> Result<Tables, &'static str> {
        let program = machine.program();
        let accesses = Accesses::new(program)?;
        let objects = Objects::new(machine, &accesses);
        let keys = accesses.keys.iter().enumerate().map(|(f, locals)| {
            let function = FunctionId(f as u32);
            let scalars = locals.iter().flat_map(|v| {
                let ty = &program.function(function).locals[v.0 as usize].ty;
                (0..program.scalars(ty)).map(|s| (*v, s))
            });
            scalars.filter_map(|(v, s)| machine.local_at(function, v, s)).collect()
        });
        Ok(Tables {
            keys: keys.collect(),
            brings_channels: (0..program.functions.len())
                .map(|f| machine.brings_channels(FunctionId(f as u32)))
                .collect(),
            accesses,
            objects,
            whole_life: None,
            roles: HashMap::new(),
            entries: Vec::new(),
            waits: Vec::new(),
            last: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// What must not change unseen for expressions to keep their values.
    pub fn visible(&self, machine: &Machine, state: &[u64], touches: &[Touch]) -> u128 {
        self.objects.visible(machine.program(), touches, Site { machine, state, thread: None })
    }

    /// The entry of a thread.
    #[inline]
    pub fn entry(&mut self, machine: &Machine, state: &[u64], thread: usize) -> usize {
        let at = machine.thread_at(state, thread);
        let keys = &self.keys[at.function as usize];
        if let Some((function, key, first)) = self.last.get(thread)
            && *function == at.function
            && !self.brings_channels[at.function as usize]
            && keys.iter().zip(&key[1..]).all(|(k, v)| machine.local_value(state, at, *k) == *v)
        {
            return (*first + at.location) as usize;
        }
        self.find_role(machine, state, thread) as usize + at.location as usize
    }

    /// The first entry of a thread's role, which may be new.
    #[cold]
    fn find_role(&mut self, machine: &Machine, state: &[u64], thread: usize) -> u32 {
        let at = machine.thread_at(state, thread);
        let f = at.function;
        let mut key = std::mem::take(&mut self.scratch);
        key.clear();
        key.push(thread as i32);
        key.extend(self.keys[f as usize].iter().map(|k| machine.local_value(state, at, *k)));
        if self.brings_channels[f as usize] {
            key.push(machine.own_channels(state, thread).start);
        }
        let first = match self.roles.get(&(f, key.clone())) {
            Some(first) => *first,
            None => {
                let full = self.roles.len() >= MOST_ROLES;
                let site = Site { machine, state, thread: (!full).then_some(thread) };
                if full {
                    // One table for all that follow.
                    key.clear();
                }
                let known = self.roles.get(&(f, key.clone())).copied();
                known.unwrap_or_else(|| {
                    let first = self.add_role(f as usize, site);
                    self.roles.insert((f, key.clone()), first);
                    first
                })
            }
        };
        if self.last.len() <= thread {
            self.last.resize(thread + 1, (u32::MAX, vec![0], 0));
        }
        // A shared table is not remembered: its key says nothing.
        let remembered = if key.is_empty() { u32::MAX } else { f };
        if key.is_empty() {
            key.push(0);
        }
        self.last[thread].0 = remembered;
        self.last[thread].1.clone_from(&key);
        self.last[thread].2 = first;
        self.scratch = key;
        first
    }

    /// Makes the table of a role.
    fn add_role(&mut self, function: usize, site: Site<'_>) -> u32 {
        let program = site.machine.program();
        if self.whole_life.is_none() {
            self.whole_life = Some(self.whole_lives(program, Site { thread: None, ..site }));
        }
        let first = self.entries.len();
        let mut futures = Vec::new();
        let steps = &self.accesses.steps[function];
        for step in steps {
            let mut entry = Entry {
                next: Mask { read: 0, write: MOVE },
                only_channels: step.only_channels,
                closes_cycle: step.closes_cycle,
                ..Entry::default()
            };
            let mut future = Mask::default();
            entry.waits.0 = self.waits.len() as u32;
            for touch in &step.touches {
                let (next, later, wait) = self.objects.masks(program, touch, site);
                entry.next.add(next);
                future.add(later);
                let is_operation =
                    matches!(touch, Touch::Channel(c) if wait.is_none() && c.how.is_operation());
                // What cannot be asked is not known to be impossible.
                entry.only_channels &= !is_operation;
                self.waits.extend(wait);
                entry.at_end |= matches!(touch, Touch::Exit);
                if let (Touch::Start(started), Some(lives)) = (touch, &self.whole_life) {
                    future.add(lives[started.0 as usize]);
                }
            }
            entry.waits.1 = self.waits.len() as u32;
            self.entries.push(entry);
            futures.push(if step.never_rests { Mask::default() } else { future });
        }
        close(steps, &mut futures);
        for (entry, future) in self.entries[first..].iter_mut().zip(futures) {
            entry.future = future.read | future.write;
            entry.future_writes = future.write;
        }
        first as u32
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
