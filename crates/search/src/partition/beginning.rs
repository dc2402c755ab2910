//! How a search by several processes begins: the first one alone, until there is enough to hand out; or all of them where an earlier run was.

use quotient_seams::{Ample, Known, Representative, System, Visited, Worker};

use super::answer::{read_report, stopped, unfinished, write_report};
use super::kept::{Begins, Kept, agree};
use super::machines::{Peers, Process};
use super::owner::Deciding;
use super::part::{Home, Part, Post};
use super::rows::{Block, Rows};
use super::town::*;
use crate::breadth_first::{BreadthFirst, Ended};
use crate::expand::Expander;
use crate::frontier::Frontier;
use crate::level::Level;
use crate::monitor::{Watch, Watched};
use crate::parents::Parents;
use crate::restart::{Reader, Writer};
use crate::{Options, Report, Seams, Stop};

/// Explores everything reachable, nearest first, together with other processes; one begins alone until `alone` states are stored. All of them get the same report.
pub fn breadth_first_by_processes<S, R, A, V>(
    seams: Seams<'_, S, R, A, V>,
    (alone, peers): (u64, &mut dyn Peers),
    options: &mut Options<'_>,
) -> Report
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited + Default,
{
    let Seams { system, representative, ample, visited } = seams;
    let (count, me) = peers.places();
    let (most_states, mut log) = (options.limits.states, options.log.take());
    let mut first = BreadthFirst::new(Expander::new(system, representative, ample), visited, options);
    let mut watched = Watched::new(options);
    let begins = match &mut log {
        None => Ok(Begins::default()),
        Some(log) => agree(peers, *log, &mut watched),
    };
    let Begins { from, held } = match begins {
        Ok(begins) => begins,
        Err(stop) => return stopped(stop),
    };
    // All states in the order they were found, and where the last level begins.
    let (mut all, mut level_at) = (Frontier::default(), 0);
    if me == 0 && from.is_none() {
        let ended = first.initial().and_then(|()| {
            first.run(&mut Level::default(), &mut watched, |search, level| {
                level_at = all.len();
                level.each(|Known { state, .. }| {
                    all.push(state, &[]);
                    Ok::<(), Stop>(())
                })?;
                Ok(search.visited.len() >= alone)
            })
        });
        if ended != Ok(Ended::Left) {
            let report = first.report(ended.map(|_| ()));
            let message = write_report(&report);
            // Those that are gone do not need it.
            (1..count).for_each(|peer| drop(peers.send(peer, message.clone())));
            return report;
        }
    }
    let BreadthFirst { expander, visited, rules, spotted, mut parents, transitions, depth, .. } = first;
    let mut part = Part::new(expander, rules);
    (part.spotted, part.transitions, part.depth) = (spotted, transitions, depth);
    let town = Town {
        base: parents.discovered(),
        expanded: parents.expanded(),
        held,
        most_states,
        ..Town::new(peers)
    };
    let home = (me == 0).then(|| Home::of(std::mem::take(visited)));
    let mut process = Process { part, town, home, kept: log.as_mut().map(|log| Kept::new(&mut **log)) };
    let resumed = from.is_some();
    let restored = if resumed { process.restore(&mut parents) } else { Ok(()) };
    if me == 0 {
        let ended = restored.and_then(|()| match resumed {
            true => process.tell_to_begin(),
            false => process.hand_out(&all, level_at, &parents),
        });
        drop(std::mem::take(&mut all));
        let ended = ended.and_then(|()| process.run(resumed, &mut watched));
        let report = process.report(ended, &parents, &mut watched);
        let report = report.unwrap_or_else(|stop| unfinished(stop, process.so_far(), count));
        // Those that are gone do not need it.
        let _ = process.town.send_all(&write_report(&report));
        return report;
    }
    match restored.and_then(|()| process.wait_to_begin(resumed, &mut watched)) {
        Ok(None) => {}
        Ok(Some(report)) => return report,
        Err(stop) => return stopped(stop),
    }
    let ended = process.run(resumed, &mut watched);
    match (process.town.agreed, ended) {
        // The others do not know of it: they miss this process when it ends.
        (false, Err(stop)) => stopped(stop),
        _ => match process.town.to(0, process.summary()) {
            Ok(()) => process.serve(&mut watched),
            Err(stop) => stopped(stop),
        },
    }
}

impl<S, R, A, V> Process<'_, '_, S, R, A, V>
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited + Default,
{
    /// Decides on owners, and gives every process what it owns of the states found so far.
    fn hand_out(&mut self, all: &Frontier, level_at: u64, parents: &Parents) -> Result<(), Stop> {
        let (mut states, mut at) = (Vec::new(), 0);
        while let Some((Known { state, .. }, after)) = all.at(at) {
            states.push(state);
            at = after;
        }
        self.town.deciding = Deciding::choose(&states, &parents.steps(), level_at as usize, self.town.count);
        let (mut at, mut number) = (0, 0);
        let mut rows: Vec<Rows> = (0..self.town.count).map(|_| Rows::default()).collect();
        let mut own = Rows::default();
        if let Some(kept) = &mut self.kept {
            kept.parents(parents)?;
        }
        while let Some((Known { state, .. }, after)) = all.at(at) {
            let waits = number >= level_at;
            let global = self.town.global(number);
            match self.town.owner(state) {
                Some(owner) => {
                    rows[owner].push([global, u64::from(waits)], state);
                    if rows[owner].len() >= WORDS {
                        let mut message = vec![GIVEN];
                        rows[owner].take_short(&mut message);
                        self.town.to(owner, message)?;
                    }
                }
                // It has all of them in its store.
                None => {
                    if waits {
                        self.town.add(global, SAME, state);
                        self.town.given += 1;
                    }
                    if let Some(kept) = &mut self.kept {
                        own.push([global, u64::from(waits)], state);
                        kept.rows(&mut own, WORDS)?;
                    }
                }
            }
            (at, number) = (after, number + 1);
        }
        for (owner, mut rows) in rows.into_iter().enumerate().filter(|(_, rows)| rows.len() > 0) {
            let mut message = vec![GIVEN];
            rows.take_short(&mut message);
            self.town.to(owner, message)?;
        }
        if let Some(kept) = &mut self.kept {
            kept.rows(&mut own, 1)?;
        }
        self.tell_to_begin()?;
        let written = self.write_level(true);
        self.goes_on(written)
    }

    /// Tells the others how it begins.
    fn tell_to_begin(&mut self) -> Result<(), Stop> {
        let mut out = Writer::of(BEGIN);
        out.number(self.part.depth);
        out.numbers(self.town.deciding.masks().iter().copied());
        self.town.send_all(&out.0)
    }

    /// Waits until the first process has handed out its states, or says that it is where it was, too; gives the report if there is nothing to do.
    fn wait_to_begin(&mut self, resumed: bool, watch: &mut impl Watch) -> Result<Option<Report>, Stop> {
        loop {
            let (from, message) = self.next(watch)?;
            match (from, message.split_first()) {
                (0, Some((&GIVEN, rest))) if !resumed => {
                    self.given(from, rest)?;
                    if let Some(kept) = &mut self.kept {
                        kept.given(rest)?;
                    }
                }
                (0, Some((&BEGIN, rest))) => {
                    let mut reader = Reader(rest);
                    let told = reader.number().zip(reader.numbers());
                    let (depth, masks) = told.ok_or_else(|| foreign(from))?;
                    let deciding = Deciding::of_masks(masks.collect());
                    if resumed {
                        let same = self.part.depth == depth && self.town.deciding == deciding;
                        return if same { Ok(None) } else { Err(foreign(from)) };
                    }
                    (self.part.depth, self.town.deciding) = (depth, deciding);
                    self.home.get_or_insert_with(|| Home::of(V::default()));
                    let written = self.write_level(true);
                    self.goes_on(written)?;
                    return Ok(None);
                }
                (0, Some((&RESULT, rest))) => {
                    return read_report(&mut Reader(rest)).ok_or_else(|| foreign(from)).map(Some);
                }
                // Another one has begun already.
                _ => self.town.held.push_back((from, message)),
            }
        }
    }

    /// Takes states that the first process has found: all that it stores for this one, and those that wait.
    pub(super) fn given(&mut self, from: usize, message: &[u8]) -> Result<(), Stop> {
        let mut block = Block::default();
        block.read_short(message).ok_or_else(|| foreign(from))?;
        let home = self.home.get_or_insert_with(|| Home::of(V::default()));
        while let Some(([number, waits], state)) = block.next().map_err(|()| foreign(from))? {
            if state.is_empty() {
                return Err(foreign(from));
            }
            home.insert(state);
            if *waits == 1 {
                self.town.add(*number, SAME, state);
                self.town.given += 1;
            }
        }
        Ok(())
    }
}
