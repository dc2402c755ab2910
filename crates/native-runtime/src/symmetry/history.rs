//! Accesses that data races are looked for with, when two threads are exchanged.
//!
//! Let exchanging `a` and `b` map a state to itself. What is left out are images of runs that are made from there, and a race in an image
//! may be between something that happens in it and an access from before, which has no image: it was made by `a`, and not by `b`.
//! So for every access of one that the other has not made, the other is given a *ghost* of it, and so is a third thread of an access of
//! which only one of them knows. It has a component of all vector clocks
//! to itself, and is known to those who know of the access, mirrored: who is ordered behind the ghost in a run is ordered, in the image
//! of the run, behind the access. Something that races with a ghost means a race in an execution that is not made. Then
//! the exploration starts again, and these bytes have no ghosts any more: threads are not exchanged where their
//! accesses to them differ, and the race is found where it is.
//!
//! Ghosts belong to the state at which the exchange was found to be possible, which is before anything is explored from it: runs
//! that come through this state again get them again.
//!
//! What is accessed by atomic operations only, by one thread, by reads
//! only, or under one lock ([`crate::symmetry::guard`]) cannot be part of a race; should that turn out to be wrong, the exploration starts again.

use std::collections::HashSet;

use quotient_stateless::happens_before::Event;

use crate::exploration::clock::Clock;
use crate::exploration::race::{Access, How};
use crate::exploration::world::{Thread, World};
use crate::protocol::{THREADS, why};

/// An access: number of its eight bytes, which of these, how, and the component of clocks and the epoch that it has.
type Made = (usize, u8, How, usize, u32);

/// Two threads with ghosts, and the state that they belong to: how many steps lead to it, and a hash of these.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Exchange {
    length: usize,
    steps: u64,
    threads: (usize, usize),
}

/// What is known of histories.
#[derive(Default)]
pub struct Histories {
    /// Exchanges on the way to the current state.
    exchanges: Vec<Exchange>,
    /// Bytes that have no ghosts.
    without_ghosts: HashSet<usize>,
    /// Whose the ghosts are that were made in this execution. Their components follow those of the threads.
    ghosts: Vec<usize>,
}

impl Histories {
    /// A new execution begins.
    pub fn restart(&mut self) {
        self.ghosts.clear();
    }
}

fn mixed(hash: u64, thread: u16, alternative: u16) -> u64 {
    (hash ^ (u64::from(thread) << 16 | u64::from(alternative)))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
        .wrapping_add(1)
}

impl World {
    /// Can no race be told apart by an exchange of `a` and `b`?
    pub fn accesses_mirrored(&mut self, a: usize, b: usize) -> bool {
        let Some(missing) = self.unmirrored(a, b) else { return false };
        let refused = |(_, made): &&(usize, Made)| self.histories.without_ghosts.contains(&made.0);
        if let Some(&(_, (granule, ..))) = missing.iter().find(refused) {
            self.note_difference(why::HISTORY, granule * 8, 0);
            return false;
        }
        if missing.is_empty() {
            return true;
        }
        let length = self.shared.schedule_length as usize;
        let made = &self.shared.schedule[..length];
        let steps = made.iter().fold(0, |hash, c| mixed(hash, c.thread, c.alternative));
        self.histories.exchanges.push(Exchange { length, steps, threads: (a, b) });
        let enough = self.add_ghosts_at(length);
        if !enough {
            self.histories.exchanges.pop();
        }
        enough
    }

    /// A run is about to be repeated: what does not lie on it is over.
    pub fn keep_ghosts(&mut self, run: &[Event]) {
        if self.histories.exchanges.is_empty() {
            return;
        }
        let mut hashes = vec![0];
        for event in run {
            let last = hashes.last().copied().unwrap_or(0);
            hashes.push(mixed(last, u16::from(event.thread), event.alternative));
        }
        self.histories.exchanges.retain(|e| hashes.get(e.length) == Some(&e.steps));
    }

    /// The state after `length` steps of a run is reached: ghosts that belong to it are made.
    #[inline]
    pub fn add_ghosts(&mut self, length: usize) {
        if !self.histories.exchanges.is_empty() {
            self.add_ghosts_at(length);
        }
    }

    /// Says whether there were enough components.
    fn add_ghosts_at(&mut self, length: usize) -> bool {
        let here = self.histories.exchanges.iter().filter(|e| e.length == length);
        let pairs: Vec<(usize, usize)> = here.map(|e| e.threads).collect();
        // Ghosts of one pair may be missing in another one.
        let mut more = true;
        while more {
            more = false;
            for &(a, b) in &pairs {
                let missing = self.unmirrored(a, b).unwrap_or_default();
                // One ghost stands for all accesses of an epoch.
                let mut made: Vec<(usize, (usize, u32), usize)> = Vec::new();
                for (owner, (granule, bytes, how, component, epoch)) in missing {
                    let known = made.iter().find(|m| (m.0, m.1) == (owner, (component, epoch))).map(|m| m.2);
                    let Some(ghost) = known.or_else(|| self.new_ghost((a, b), (component, epoch), owner))
                    else {
                        return false;
                    };
                    made.push((owner, (component, epoch), ghost));
                    self.races.add_ghost(granule, Access { epoch: 1, bytes, thread: ghost as u8, how });
                    more = true;
                }
            }
        }
        true
    }

    /// The ghost of an access when `a` and `b` are exchanged, which `owner` has then; gives its component of clocks.
    fn new_ghost(
        &mut self,
        (a, b): (usize, usize),
        (component, epoch): (usize, u32),
        owner: usize,
    ) -> Option<usize> {
        let ghost = self.limit + self.histories.ghosts.len();
        if ghost >= THREADS {
            return None;
        }
        self.histories.ghosts.push(owner);
        crate::exploration::clock::note_threads(ghost + 1);
        let knows = |clock: &Clock| u32::from(clock[component] >= epoch);
        for thread in &mut self.threads {
            for clock in [&mut thread.clock, &mut thread.acquired, &mut thread.fence] {
                clock[ghost] = knows(clock);
            }
        }
        for object in self.objects.in_use_mut() {
            object.clock[ghost] = knows(&object.clock);
            object.readers_clock[ghost] = knows(&object.readers_clock);
        }
        let known = |t: &Thread| [t.clock[ghost], t.acquired[ghost], t.fence[ghost]];
        let exchanged = [known(&self.threads[b]), known(&self.threads[a])];
        for (thread, known) in [a, b].into_iter().zip(exchanged) {
            let t = &mut self.threads[thread];
            (t.clock[ghost], t.acquired[ghost], t.fence[ghost]) = (known[0], known[1], known[2]);
        }
        Some(ghost)
    }

    /// Something races with a ghost.
    pub fn ghost_met(&mut self, granule: usize) {
        let new = self.histories.without_ghosts.insert(granule);
        self.learnt += u64::from(new);
        self.grown |= new;
    }

    /// The accesses that have no mirror image, to the same bytes in the same way: who would have to have made it, and the access.
    /// `None` if one is to memory that is exchanged as well.
    fn unmirrored(&mut self, a: usize, b: usize) -> Option<Vec<(usize, Made)>> {
        let mut of: [Vec<Made>; 2] = Default::default();
        let mut of_others: Vec<(usize, Made)> = Vec::new();
        let all: Vec<(usize, Access)> = self.races.all().collect();
        for (granule, access) in all {
            if access.how.atomic && self.races.rely_on_atomic(granule)
                || self.races.rely_on_private(granule, access.thread)
                || self.belongs_to_no_worker(granule * 8) && self.races.rely_on_unchanged(granule)
                || self.rely_on_guard(granule, access.bytes)
            {
                continue;
            }
            let (x, y) = (&self.threads[a], &self.threads[b]);
            let owner = self.owner_of(granule * 8);
            let component = access.thread as usize;
            // Whose access it is, or whose ghost.
            let ghost_of = component.checked_sub(self.limit).and_then(|k| self.histories.ghosts.get(k));
            let thread = ghost_of.copied().unwrap_or(component);
            if owner == Some(a) || owner == Some(b) {
                // Nobody else has a pointer to it. What others did there must be over for its owner.
                let owner = owner.unwrap_or(a);
                if thread != owner && access.epoch > self.threads[owner].clock[component] {
                    self.note_difference(why::HISTORY, granule * 8, 0);
                    return None;
                }
            } else if thread == a || thread == b {
                let made = (granule, access.bytes, access.how, component, access.epoch);
                of[usize::from(thread == b)].push(made);
            } else {
                let clocks = [(&x.clock, &y.clock), (&x.acquired, &y.acquired), (&x.fence, &y.fence)];
                let before = |clock: &Clock| access.epoch <= clock[component];
                if clocks.iter().any(|(c, d)| before(c) != before(d)) {
                    let made = (granule, access.bytes, access.how, component, access.epoch);
                    of_others.push((thread, made));
                }
            }
        }
        let [of_a, mut of_b] = of;
        let mut missing = Vec::new();
        for made in of_a {
            let same = |other: &Made| {
                (other.0, other.1, other.2) == (made.0, made.1, made.2)
                    && self.ordered_alike(a, (made.3, made.4), b, (other.3, other.4))
            };
            match of_b.iter().position(same) {
                Some(found) => {
                    of_b.swap_remove(found);
                }
                None => missing.push((b, made)),
            }
        }
        missing.extend(of_b.into_iter().map(|made| (a, made)));
        // What one of them knows of others, and the other one does not.
        for &(owner, made) in &of_others {
            let same = |other: &(usize, Made)| {
                (other.0, other.1.0, other.1.1, other.1.2) == (owner, made.0, made.1, made.2)
                    && self.ordered_alike(a, (made.3, made.4), b, (other.1.3, other.1.4))
            };
            if !of_others.iter().any(same) {
                missing.push((owner, made));
            }
        }
        // Memory of a third thread would have to be exchanged with it.
        missing.iter().all(|(_, made)| self.belongs_to_no_worker(made.0 * 8)).then_some(missing)
    }

    /// Does an access of `a` happen before the same things as one of `b`, mirrored? Of each, its component of clocks and its epoch.
    fn ordered_alike(&self, a: usize, (i, e): (usize, u32), b: usize, (j, f): (usize, u32)) -> bool {
        let alike = |c: &Clock, d: &Clock| (e <= c[i]) == (f <= d[j]);
        let threads = self.threads.iter().enumerate().filter(|(t, _)| *t != a && *t != b);
        let (x, y) = (&self.threads[a], &self.threads[b]);
        let mirrored = |x: &Thread, y: &Thread| {
            alike(&x.clock, &y.clock) && alike(&x.acquired, &y.acquired) && alike(&x.fence, &y.fence)
        };
        threads.into_iter().all(|(_, t)| mirrored(t, t))
            && self
                .objects
                .in_use()
                .all(|o| alike(&o.clock, &o.clock) && alike(&o.readers_clock, &o.readers_clock))
            && mirrored(x, y)
            && mirrored(y, x)
    }
}
