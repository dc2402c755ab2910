//! How a search by several processes ends: the first one joins what all have found, asks for the ways to it, and gives all the same report.

use std::collections::HashSet;

use quotient_seams::{Ample, Representative, System, Visited, Worker};

use super::answer::{read_report, stopped};
use super::machines::Process;
use super::part::Post;
use super::town::*;
use crate::monitor::Watch;
use crate::parents::Parents;
use crate::restart::{Reader, Writer};
use crate::spotted::Spotted;
use crate::{Report, Statistics, Stop};

impl<S, R, A, V> Process<'_, '_, S, R, A, V>
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited + Default,
{
    /// What this process has found, for the first one.
    pub(super) fn summary(&self) -> Vec<u8> {
        let mut out = Writer::of(SUMMARY);
        for number in [self.town.states(), self.part.transitions(), self.town.expanded] {
            out.number(number);
        }
        let bytes = self.home.as_ref().map_or(0, |home| home.store.bytes());
        out.number(bytes);
        out.number(8 * self.town.from.capacity() as u64 + 4 * self.town.choices.capacity() as u64);
        self.part.spotted.write(&mut out);
        let expander = &self.part.expander;
        for notes in [expander.system.notes(), expander.representative.notes(), expander.ample.notes()] {
            out.bytes(&notes);
        }
        out.0
    }

    /// The step to a state of this process.
    fn step(&self, number: u64) -> Option<(u64, u32)> {
        let at = usize::try_from(number.checked_sub(self.town.base)?).ok()?;
        Some((*self.town.from.get(at)?, *self.town.choices.get(at)?))
    }

    /// Tells the first process the steps that it asks for, until it has the report.
    pub(super) fn serve(&mut self, watch: &mut impl Watch) -> Report {
        loop {
            match self.last(watch) {
                Err(stop) => return stopped(stop),
                Ok((0, message)) => match message.split_first() {
                    Some((&ASK, rest)) => {
                        let step = Reader(rest).number().and_then(|number| self.step(number));
                        let mut out = Writer::of(STEP);
                        let (from, choice) = step.unwrap_or((0, 0));
                        out.number(from);
                        out.number(u64::from(choice));
                        if let Err(stop) = self.town.to(0, out.0) {
                            return stopped(stop);
                        }
                    }
                    Some((&RESULT, rest)) => {
                        return read_report(&mut Reader(rest)).unwrap_or_else(|| stopped(foreign(0)));
                    }
                    _ => {}
                },
                // What others still say of a search that has ended.
                Ok(_) => {}
            }
        }
    }

    /// The next message after the search; some have come before its end.
    fn last(&mut self, watch: &mut impl Watch) -> Result<(usize, Vec<u8>), Stop> {
        match self.town.held.pop_front() {
            Some(message) => Ok(message),
            None => self.next(watch),
        }
    }

    /// The next message.
    pub(super) fn next(&mut self, watch: &mut impl Watch) -> Result<(usize, Vec<u8>), Stop> {
        loop {
            if let Some(message) = self.town.receive(TURN)? {
                return Ok(message);
            }
            if watch.due()
                && let Some(stop) = watch.check(&mut || self.town.statistics(Statistics::default()))
            {
                return Err(stop);
            }
        }
    }

    /// The choices to a state of a process.
    fn path(
        &mut self,
        parents: &Parents,
        (mut owner, mut number): (usize, u64),
        watch: &mut impl Watch,
    ) -> Result<Vec<u32>, Stop> {
        let mut choices = Vec::new();
        while owner != 0 || number >= self.town.base {
            let (from, choice) = if owner == 0 {
                self.step(number).ok_or_else(|| foreign(0))?
            } else {
                let mut out = Writer::of(ASK);
                out.number(number);
                self.town.to(owner, out.0)?;
                loop {
                    let (from, message) = self.next(watch)?;
                    if from == owner && message.first() == Some(&STEP) {
                        let mut reader = Reader(&message[1..]);
                        let step = reader.number().zip(reader.number());
                        let (from, choice) = step.ok_or_else(|| foreign(owner))?;
                        break (from, choice as u32);
                    }
                }
            };
            if choice != SAME {
                choices.push(choice);
            }
            let before = place(from);
            if before.0 >= self.town.count {
                return Err(foreign(owner));
            }
            (owner, number) = before;
        }
        let mut path = Parents::path(std::slice::from_ref(parents), 0, number);
        path.extend(choices.into_iter().rev());
        Ok(path)
    }

    /// The report of all, by the first process.
    pub(super) fn report(
        &mut self,
        ended: Result<(), Stop>,
        parents: &Parents,
        watch: &mut impl Watch,
    ) -> Result<Report, Stop> {
        let mut spotted = std::mem::take(&mut self.part.spotted);
        let mut statistics = Statistics {
            states: self.town.states() + self.town.base,
            transitions: self.part.transitions(),
            expanded: self.town.expanded,
            store_bytes: self.home.as_ref().map_or(0, |home| home.store.bytes()),
            search_bytes: 12 * self.town.from.capacity() as u64,
            ..Statistics::default()
        };
        if let (false, Err(stop)) = (self.town.agreed, &ended) {
            return Err(stop.clone());
        }
        let mut left: HashSet<usize> = (1..self.town.count).collect();
        while !left.is_empty() {
            let (from, message) = self.last(watch)?;
            let Some((&SUMMARY, rest)) = message.split_first() else { continue };
            left.remove(&from);
            self.join(&mut Reader(rest), from, &mut spotted, &mut statistics).ok_or_else(|| foreign(from))?;
        }
        let (all, depth) = (self.part.rules.all, self.part.depth);
        (statistics.depth, statistics.waiting) = (depth, statistics.states - statistics.expanded);
        let stop = match ended {
            // The last level had nothing new: it is not counted.
            Ok(()) => {
                statistics.depth = depth.saturating_sub(1);
                Stop::Complete
            }
            Err(stop) => stop.or_violation(all, &spotted),
        };
        let mut paths = Vec::new();
        for place in spotted.places(all) {
            paths.push(self.path(parents, place, watch)?);
        }
        let mut paths = paths.into_iter();
        let way = &mut |_, _| paths.next().ok_or_else(|| foreign(0));
        let found = spotted.report(all, way, &mut self.part.expander)?;
        Ok(Report { stop, found, statistics, workers: self.town.count })
    }

    /// How far the search has come, where a process is lost: what the first one has, and what the others had at the end of the last round.
    pub(super) fn so_far(&self) -> Statistics {
        let (town, others) = (&self.town, &self.town.others);
        let states = town.states() + town.base + others.states;
        let expanded = town.expanded + others.expanded;
        Statistics {
            states,
            transitions: self.part.transitions() + others.transitions,
            expanded,
            depth: self.part.depth,
            waiting: states.saturating_sub(expanded),
            store_bytes: self.home.as_ref().map_or(0, |home| home.store.bytes()),
            search_bytes: 12 * town.from.capacity() as u64,
            ..Statistics::default()
        }
    }

    /// Takes over what a process has found.
    fn join(
        &mut self,
        from: &mut Reader<'_>,
        worker: usize,
        spotted: &mut Spotted,
        statistics: &mut Statistics,
    ) -> Option<()> {
        statistics.states += from.number()?;
        statistics.transitions += from.number()?;
        statistics.expanded += from.number()?;
        statistics.store_bytes += from.number()?;
        statistics.search_bytes += from.number()?;
        spotted.join(worker, Spotted::read(from)?);
        let expander = &mut self.part.expander;
        let known = expander.system.take_notes(from.bytes()?)
            && expander.representative.take_notes(from.bytes()?)
            && expander.ample.take_notes(from.bytes()?);
        known.then_some(())
    }
}
