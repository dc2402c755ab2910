//! The memory models by their axioms, and all consistent graphs of a litmus program by brute force. Shares no code with
//! [`quotient_stateless::graph`]: relations are matrices of bits over all events, computed anew for every graph.
//!
//! Graphs are enumerated by letting any thread go next: a read reads from any write that is there (no model has cycles of
//! program order and reads-from), a write goes anywhere in modification order. Graphs that were met before are known by a set.

use std::collections::{BTreeMap, HashSet};

use crate::litmus::{Instruction, Litmus, Shown, locations, locks};
use quotient_stateless::graph::{MemoryModel, Order};

/// Thread and number in it.
type Name = (usize, usize);

const START: Name = (usize::MAX, 0);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum What {
    Read,
    Write,
    Fence,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Node {
    what: What,
    at: usize,
    order: Order,
    value: u64,
    /// Reads: from where.
    from: Name,
    /// Half of a read-modify-write.
    half: bool,
    /// By a locked instruction.
    locked: bool,
    /// Not shown: of a lock.
    hidden: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sketch {
    threads: Vec<Vec<Node>>,
    /// Next instruction of each thread.
    next: Vec<usize>,
    /// Writes of each location in modification order.
    writes: Vec<Vec<Name>>,
}

/// What brute force finds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// How many consistent graphs of complete executions show what.
    pub shown: BTreeMap<Shown, usize>,
    /// Consistent graphs in which some thread waits for ever.
    pub stuck: usize,
}

impl Found {
    /// How many graphs there are.
    pub fn graphs(&self) -> usize {
        self.shown.values().sum()
    }
}

/// All consistent graphs.
pub fn all(program: &Litmus, model: MemoryModel) -> Found {
    let memory = locations(program);
    let start = Sketch {
        threads: vec![Vec::new(); program.len()],
        next: vec![0; program.len()],
        writes: vec![Vec::new(); memory + locks(program)],
    };
    let mut found = Found::default();
    let mut seen = HashSet::from([start.clone()]);
    let mut todo = vec![start];
    while let Some(sketch) = todo.pop() {
        let mut more = Vec::new();
        let mut ended = true;
        for (thread, instructions) in program.iter().enumerate() {
            let Some(instruction) = instructions.get(sketch.next[thread]) else { continue };
            ended = false;
            sketch.extend(thread, *instruction, memory, &mut more);
        }
        more.retain(|sketch| sketch.is_consistent(model));
        if ended {
            *found.shown.entry(sketch.shows(memory)).or_default() += 1;
        } else if more.is_empty() {
            found.stuck += 1;
        }
        todo.extend(more.into_iter().filter(|sketch| seen.insert(sketch.clone())));
    }
    found
}

impl Sketch {
    fn extend(&self, thread: usize, instruction: Instruction, memory: usize, into: &mut Vec<Sketch>) {
        let mut next = self.clone();
        next.next[thread] += 1;
        let node = |what, at, order| Node {
            what,
            at,
            order,
            value: 0,
            from: START,
            half: false,
            locked: false,
            hidden: false,
        };
        let name = (thread, self.threads[thread].len());
        let update =
            |at: usize, change: &dyn Fn(u64) -> Option<(u64, Order, Order)>, into: &mut Vec<Sketch>| {
                let sources = [START].into_iter().chain(self.writes[at].iter().copied());
                for (place, from) in sources.enumerate() {
                    let old = self.value(from, at, memory);
                    let Some((new, read_order, write_order)) = change(old) else { continue };
                    let mut after = next.clone();
                    let hidden = at >= memory;
                    let read =
                        Node { value: old, from, locked: true, hidden, ..node(What::Read, at, read_order) };
                    // `u64::MAX`: it does not write.
                    if new == u64::MAX {
                        after.threads[thread].push(read);
                    } else {
                        after.threads[thread].push(Node { half: true, ..read });
                        let write = Node {
                            value: new,
                            half: true,
                            locked: true,
                            hidden,
                            ..node(What::Write, at, write_order)
                        };
                        after.threads[thread].push(write);
                        after.writes[at].insert(place, (name.0, name.1 + 1));
                    }
                    into.push(after);
                }
            };
        match instruction {
            Instruction::Fence(order) => {
                next.threads[thread].push(node(What::Fence, usize::MAX, order));
                into.push(next);
            }
            Instruction::If(value) => {
                let last = self.threads[thread].iter().rev().find(|n| n.what == What::Read && !n.hidden);
                if last.is_none_or(|n| n.value != value) {
                    next.next[thread] += 1;
                }
                into.push(next);
            }
            Instruction::Load(at, order) => {
                for from in [START].into_iter().chain(self.writes[at].iter().copied()) {
                    let mut after = next.clone();
                    let value = self.value(from, at, memory);
                    after.threads[thread].push(Node { value, from, ..node(What::Read, at, order) });
                    into.push(after);
                }
            }
            Instruction::Store(at, value, order) => {
                for place in 0..=self.writes[at].len() {
                    let mut after = next.clone();
                    after.threads[thread].push(Node { value, ..node(What::Write, at, order) });
                    after.writes[at].insert(place, name);
                    into.push(after);
                }
            }
            Instruction::Add(at, k, order) => update(at, &|old| Some((old + k, order, order)), into),
            Instruction::CompareAndSwap(at, expected, new, order, failure) => {
                let change = |old| {
                    Some(if old == expected { (new, order, order) } else { (u64::MAX, failure, failure) })
                };
                update(at, &change, into);
            }
            Instruction::Lock(l) => {
                let change = |old| (old == 1).then_some((0, Order::Acquire, Order::Relaxed));
                update(memory + l, &change, into);
            }
            Instruction::Unlock(l) => {
                update(memory + l, &|_| Some((1, Order::Relaxed, Order::Release)), into);
            }
        }
    }

    fn value(&self, name: Name, at: usize, memory: usize) -> u64 {
        if name == START { u64::from(at >= memory) } else { self.threads[name.0][name.1].value }
    }

    fn shows(&self, memory: usize) -> Shown {
        let reads = |nodes: &Vec<Node>| {
            nodes.iter().filter(|n| n.what == What::Read && !n.hidden).map(|n| n.value).collect()
        };
        let last = |at: usize| self.writes[at].last().map_or(0, |name| self.value(*name, at, memory));
        (self.threads.iter().map(reads).collect(), (0..memory).map(last).collect())
    }

    fn is_consistent(&self, model: MemoryModel) -> bool {
        let nodes: Vec<(Name, &Node)> = self
            .threads
            .iter()
            .enumerate()
            .flat_map(|(t, nodes)| nodes.iter().enumerate().map(move |(k, node)| ((t, k), node)))
            .collect();
        let n = nodes.len();
        let number = |name: Name| nodes.iter().position(|(other, _)| *other == name);
        let pairs = |holds: &dyn Fn(usize, usize) -> bool| {
            let mut matrix = Matrix(vec![0; n]);
            for a in 0..n {
                for b in 0..n {
                    if holds(a, b) {
                        matrix.0[a] |= 1 << b;
                    }
                }
            }
            matrix
        };
        let node = |k: usize| nodes[k].1;
        let (is_read, is_write) =
            (|k: usize| node(k).what == What::Read, |k: usize| node(k).what == What::Write);
        let is_fence = |k: usize| node(k).what == What::Fence;
        let po = pairs(&|a, b| nodes[a].0.0 == nodes[b].0.0 && nodes[a].0.1 < nodes[b].0.1);
        let rf = pairs(&|a, b| is_read(b) && number(node(b).from) == Some(a));
        let rank =
            |k: usize| self.writes[node(k).at].iter().position(|w| *w == nodes[k].0).map_or(0, |r| r + 1);
        let same = |a: usize, b: usize| node(a).at == node(b).at && !is_fence(a) && !is_fence(b);
        let mo = pairs(&|a, b| same(a, b) && is_write(a) && is_write(b) && rank(a) < rank(b));
        let read_rank = |k: usize| number(node(k).from).map_or(0, rank);
        let rmw = pairs(&|a, b| {
            po.has(a, b)
                && nodes[a].0.1 + 1 == nodes[b].0.1
                && is_read(a)
                && is_write(b)
                && node(a).half
                && node(b).half
        });
        let rb = pairs(&|a, b| same(a, b) && is_read(a) && is_write(b) && read_rank(a) < rank(b));
        let between = rb.then(&mo);
        if (0..n).any(|a| (0..n).any(|b| rmw.has(a, b) && between.has(a, b))) {
            return false;
        }
        match model {
            MemoryModel::SequentialConsistency => po.or(&rf).or(&mo).or(&rb).closed().irreflexive(),
            MemoryModel::Tso => {
                let coherent = pairs(&|a, b| po.has(a, b) && same(a, b)).or(&rf).or(&mo).or(&rb);
                let strong = |k: usize| node(k).locked || (node(k).order.is_sc() && !is_read(k));
                let buffered = |a: usize, b: usize| is_write(a) && is_read(b) && !(a..=b).any(strong);
                let silent = |k: usize| is_fence(k) && !strong(k);
                let ppo = pairs(&|a, b| po.has(a, b) && !buffered(a, b) && !silent(a) && !silent(b));
                let external = pairs(&|a, b| rf.has(a, b) && nodes[a].0.0 != nodes[b].0.0);
                coherent.closed().irreflexive() && ppo.or(&external).or(&mo).or(&rb).closed().irreflexive()
            }
            MemoryModel::Rc11 => {
                let only = |holds: &dyn Fn(usize) -> bool| pairs(&|a, b| a == b && holds(a));
                let optional = |m: &Matrix| m.or(&only(&|_| true));
                let release = only(&|k| node(k).order.releases() && !is_read(k));
                let acquire = only(&|k| node(k).order.acquires() && !is_write(k));
                let (fence, write) = (only(&is_fence), only(&is_write));
                let sequence = write.then(&optional(&rf.then(&rmw).closed()));
                let sw = release
                    .then(&optional(&fence.then(&po)))
                    .then(&sequence)
                    .then(&rf)
                    .then(&optional(&po.then(&fence)))
                    .then(&acquire);
                let hb = po.or(&sw).closed();
                let eco = rf.or(&mo).or(&rb).closed();
                if !hb.irreflexive() || !hb.then(&eco).irreflexive() || !po.or(&rf).closed().irreflexive() {
                    return false;
                }
                let elsewhere = pairs(&|a, b| po.has(a, b) && !same(a, b));
                let here = pairs(&|a, b| hb.has(a, b) && same(a, b));
                let scb = po.or(&elsewhere.then(&hb).then(&elsewhere)).or(&here).or(&mo).or(&rb);
                let sc = only(&|k| node(k).order.is_sc());
                let sc_fence = only(&|k| node(k).order.is_sc() && is_fence(k));
                let base = sc
                    .or(&sc_fence.then(&optional(&hb)))
                    .then(&scb)
                    .then(&sc.or(&optional(&hb).then(&sc_fence)));
                let fences = sc_fence.then(&hb.or(&hb.then(&eco).then(&hb))).then(&sc_fence);
                base.or(&fences).closed().irreflexive()
            }
        }
    }
}

/// A relation: for each event the set of its successors.
struct Matrix(Vec<u64>);

impl Matrix {
    fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] >> b & 1 != 0
    }

    fn or(&self, other: &Matrix) -> Matrix {
        Matrix(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    fn then(&self, other: &Matrix) -> Matrix {
        let row =
            |row: &u64| (0..self.0.len()).filter(|b| row >> b & 1 != 0).fold(0, |sum, b| sum | other.0[b]);
        Matrix(self.0.iter().map(row).collect())
    }

    fn closed(mut self) -> Matrix {
        for k in 0..self.0.len() {
            for a in 0..self.0.len() {
                if self.has(a, k) {
                    self.0[a] |= self.0[k];
                }
            }
        }
        self
    }

    fn irreflexive(&self) -> bool {
        (0..self.0.len()).all(|k| !self.has(k, k))
    }
}
