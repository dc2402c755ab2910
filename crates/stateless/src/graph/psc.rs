//! Sequentially consistent accesses and fences of RC11: `psc` is acyclic.
//!
//! Definitions as in Lahav et al., PLDI 2017, figure 2:
//!
//! ```text
//! scb      = po ∪ po|≠loc ; hb ; po|≠loc ∪ hb|loc ∪ mo ∪ rb
//! psc_base = ([SC] ∪ [F SC] ; hb?) ; scb ; ([SC] ∪ hb? ; [F SC])
//! psc_F    = [F SC] ; (hb ∪ hb ; eco ; hb) ; [F SC]
//! ```
//!
//! Relations are rows of bits over all events. Nothing is computed where fewer than two threads have sequentially consistent events.

use crate::graph::event::{EventId, Part};
use crate::graph::structure::Graph;

/// A relation: for each event the set of its successors.
struct Relation {
    words: usize,
    rows: Vec<u64>,
}

impl Relation {
    fn new(events: usize) -> Relation {
        let words = events.div_ceil(64);
        Relation { words, rows: vec![0; words * events] }
    }

    fn row(&self, a: usize) -> &[u64] {
        &self.rows[a * self.words..(a + 1) * self.words]
    }

    fn add(&mut self, a: usize, b: usize) {
        self.rows[a * self.words + b / 64] |= 1 << (b % 64);
    }

    fn add_row(&mut self, a: usize, row: &[u64]) {
        for (into, from) in self.rows[a * self.words..].iter_mut().zip(row) {
            *into |= from;
        }
    }
}

fn ones(row: &[u64]) -> impl Iterator<Item = usize> + '_ {
    row.iter().enumerate().flat_map(|(at, word)| {
        let mut word = *word;
        std::iter::from_fn(move || {
            let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
            word &= word - 1;
            Some(at * 64 + bit)
        })
    })
}

/// The image of a set of events.
fn image(set: &[u64], relation: &Relation) -> Vec<u64> {
    let mut result = vec![0; relation.words];
    for a in ones(set) {
        for (into, from) in result.iter_mut().zip(relation.row(a)) {
            *into |= from;
        }
    }
    result
}

/// Has `psc` no cycle?
pub(crate) fn is_acyclic(graph: &Graph) -> bool {
    let threads_with_sc =
        graph.threads.iter().filter(|events| events.iter().any(|e| e.order.is_sc() && !e.object));
    if threads_with_sc.count() < 2 {
        return true;
    }
    Psc::new(graph).is_acyclic()
}

struct Psc<'a> {
    graph: &'a Graph,
    ids: Vec<EventId>,
    offsets: Vec<usize>,
}

impl<'a> Psc<'a> {
    fn new(graph: &'a Graph) -> Psc<'a> {
        let ids: Vec<EventId> = graph.events().map(|(id, _)| id).collect();
        let mut offsets = Vec::with_capacity(graph.width());
        let mut sum = 0;
        for events in &graph.threads {
            offsets.push(sum);
            sum += events.len();
        }
        Psc { graph, ids, offsets }
    }

    fn number(&self, id: EventId) -> usize {
        self.offsets[id.thread as usize] + id.index as usize
    }

    fn is_acyclic(&self) -> bool {
        let n = self.ids.len();
        let event = |k: usize| self.graph.event(self.ids[k]);
        let hb = self.happens_before();
        let eco = self.extended_coherence();
        let scb = self.sc_before(&hb);
        let is_sc = |k: &usize| event(*k).order.is_sc() && !event(*k).object;
        let sc: Vec<usize> = (0..n).filter(is_sc).collect();
        let is_fence = |k: usize| event(k).part == Part::Fence;
        let fences: Vec<usize> = sc.iter().copied().filter(|k| is_fence(*k)).collect();
        let has = |set: &[u64], k: usize| set[k / 64] >> (k % 64) & 1 != 0;
        let mut psc = Relation::new(n);
        for &a in &sc {
            let mut from = vec![0; psc.words];
            from[a / 64] |= 1 << (a % 64);
            if is_fence(a) {
                from.iter_mut().zip(hb.row(a)).for_each(|(into, row)| *into |= row);
            }
            let to = image(&from, &scb);
            let then = image(&to, &hb);
            sc.iter().filter(|b| has(&to, **b)).for_each(|b| psc.add(a, *b));
            fences.iter().filter(|b| has(&then, **b)).for_each(|b| psc.add(a, *b));
            if is_fence(a) {
                let seen = image(&image(hb.row(a), &eco), &hb);
                fences.iter().filter(|b| has(hb.row(a), **b) || has(&seen, **b)).for_each(|b| psc.add(a, *b));
            }
        }
        // No cycle: events without a predecessor are taken away until none is left.
        let mut left = sc;
        while !left.is_empty() {
            let mut targets = vec![0u64; psc.words];
            for &a in &left {
                targets.iter_mut().zip(psc.row(a)).for_each(|(into, row)| *into |= row);
            }
            let before = left.len();
            left.retain(|&b| has(&targets, b));
            if left.len() == before {
                return false;
            }
        }
        true
    }

    fn happens_before(&self) -> Relation {
        let mut hb = Relation::new(self.ids.len());
        for (b, id) in self.ids.iter().enumerate() {
            let event = self.graph.event(*id);
            for (t, &known) in event.clock(crate::graph::event::Which::HappensBefore).iter().enumerate() {
                (0..known as usize)
                    .map(|k| self.offsets[t] + k)
                    .filter(|a| *a != b)
                    .for_each(|a| hb.add(a, b));
            }
        }
        hb
    }

    /// Reads-from, modification order and from-reads, and what follows from them.
    fn extended_coherence(&self) -> Relation {
        let mut eco = Relation::new(self.ids.len());
        for place in self.graph.places.values() {
            let accesses = place.writes.iter().map(|w| (*w, place.position(*w), true));
            let reads = place.reads.iter().map(|r| (*r, place.position(self.graph.event(*r).from), false));
            let all: Vec<(EventId, usize, bool)> = accesses.chain(reads).collect();
            for (a, at, writes) in &all {
                for (b, then, later_writes) in &all {
                    // A write is before what reads it; a read is before later writes, and two reads of one write are not ordered.
                    let before = at < then || (at == then && *writes && !*later_writes);
                    if before && a != b {
                        eco.add(self.number(*a), self.number(*b));
                    }
                }
            }
        }
        eco
    }

    fn sc_before(&self, hb: &Relation) -> Relation {
        let n = self.ids.len();
        let mut scb = Relation::new(n);
        let mut other = Relation::new(n);
        let locates = |id: EventId| {
            let event = self.graph.event(id);
            matches!(event.part, Part::Read | Part::Write).then_some(event.location)
        };
        for (a, id) in self.ids.iter().enumerate() {
            let end = self.offsets[id.thread as usize] + self.graph.thread(id.thread).len();
            let place = locates(*id);
            for b in a + 1..end {
                scb.add(a, b);
                if place.is_none() || place != locates(self.ids[b]) {
                    other.add(a, b);
                }
            }
            for b in ones(hb.row(a)) {
                if place.is_some() && place == locates(self.ids[b]) {
                    scb.add(a, b);
                }
            }
        }
        for a in 0..n {
            let row = image(&image(other.row(a), hb), &other);
            scb.add_row(a, &row);
        }
        for place in self.graph.places.values() {
            for (at, a) in place.writes.iter().enumerate() {
                place.writes[at + 1..].iter().for_each(|b| scb.add(self.number(*a), self.number(*b)));
            }
            for r in &place.reads {
                let from = place.position(self.graph.event(*r).from);
                place.writes[from..].iter().for_each(|b| scb.add(self.number(*r), self.number(*b)));
            }
        }
        scb
    }
}
