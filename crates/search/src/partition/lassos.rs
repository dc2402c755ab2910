//! What the first of several processes tells of infinite runs: it asks the others for the states on the way, and takes the steps once more.

use std::collections::HashMap;

use quotient_seams::{Ample, Incomplete, Interrupt, Numbering, Omega, Representative, ViolationCode, Worker};

use super::answer::read_report;
use super::cycles::{Search, Wrong};
use super::laps::{BITS, BY_STEP, ITSELF, NOWHERE};
use super::town::{ASK, RESULT, STEP, SUMMARY, foreign};
use crate::lasso;
use crate::monitor::{Watch, Watched};
use crate::restart::{Reader, Writer};
use crate::{Cause, Found, Path, Report, Statistics, Stop};

/// What can be asked of a process about one of its states: its words; the state that it was found from; any state left before it; and from [`REACHED`] on, from where it was reached for
/// each set.
const WORDS_OF: u64 = 0;
const FOUND_FROM: u64 = 1;
const ANY_BEFORE: u64 = 2;
const REACHED: u64 = 3;

fn place(state: u64) -> (usize, u64) {
    ((state >> BITS) as usize, state & u64::from(u32::MAX))
}

impl<S, R, A, N> Search<'_, '_, '_, S, R, A, N>
where
    S: Omega<Marks = u64> + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    N: Numbering,
{
    /// What this process knows of one of its states.
    fn know(&self, what: u64, state: u64) -> Option<Vec<u64>> {
        let at = usize::try_from(state).ok()?;
        Some(match what {
            WORDS_OF => self.own.state(state)?.to_vec(),
            FOUND_FROM => vec![*self.own.from.get(at)?],
            ANY_BEFORE => vec![self.laps.as_ref()?.came_from(None, at)?],
            set => vec![self.laps.as_ref()?.came_from(Some((set - REACHED) as usize), at)?],
        })
    }

    /// Asks whoever has the state.
    fn ask(&mut self, what: u64, state: u64, watch: &mut impl Watch) -> Result<Vec<u64>, Stop> {
        let (owner, number) = place(state);
        if owner == self.rounds.me || owner >= self.rounds.count {
            return self.know(what, number).ok_or_else(|| foreign(owner));
        }
        let mut out = Writer::of(ASK);
        out.number(what);
        out.number(number);
        self.rounds.tell(owner, out.0)?;
        loop {
            let (from, message) = self.rounds.hear(watch)?;
            if let (true, Some((&STEP, rest))) = (from == owner, message.split_first()) {
                let told = Reader(rest).numbers().ok_or_else(|| foreign(from))?;
                return Ok(told.collect());
            }
        }
    }

    fn ask_one(&mut self, what: u64, state: u64, watch: &mut impl Watch) -> Result<u64, Stop> {
        let told = self.ask(what, state, watch)?;
        told.first().copied().ok_or_else(|| foreign(place(state).0))
    }

    /// Tells the first process what it asks for, until it has the report.
    pub(super) fn serve(&mut self, watch: &mut impl Watch) -> Result<Report, Stop> {
        let mut out = Writer::of(SUMMARY);
        let statistics = self.statistics();
        for number in [
            self.own.steps.marks.len() as u64,
            self.transitions,
            statistics.store_bytes,
            statistics.search_bytes,
            self.laps.as_ref().and_then(|laps| laps.any()).unwrap_or(NOWHERE),
        ] {
            out.number(number);
        }
        out.number(self.wrong.len() as u64);
        for Wrong { code, from, choice, count } in &self.wrong {
            [code.index() as u64, *from, u64::from(*choice), *count].iter().for_each(|n| out.number(*n));
        }
        let expander = &self.expander;
        for notes in [expander.system.notes(), expander.representative.notes(), expander.ample.notes()] {
            out.bytes(&notes);
        }
        self.rounds.tell(0, out.0)?;
        loop {
            let (from, message) = self.rounds.hear(watch)?;
            match (from, message.split_first()) {
                (0, Some((&RESULT, rest))) => {
                    return read_report(&mut Reader(rest)).ok_or_else(|| foreign(0));
                }
                (0, Some((&ASK, rest))) => {
                    let mut reader = Reader(rest);
                    let asked = reader.number().zip(reader.number());
                    let told = asked.and_then(|(what, state)| self.know(what, state)).unwrap_or_default();
                    let mut out = Writer::of(STEP);
                    out.numbers(told.into_iter());
                    self.rounds.tell(0, out.0)?;
                }
                // What others still say of a search that has ended.
                _ => {}
            }
        }
    }

    /// The report of all, by the first process.
    pub(super) fn report(
        &mut self,
        ended: Result<(), Stop>,
        watch: &mut Watched<'_, '_>,
    ) -> Result<Report, Stop> {
        let mut statistics = self.statistics();
        (statistics.states, statistics.transitions) = (self.own.steps.marks.len() as u64, self.transitions);
        let mut run = self.laps.as_ref().and_then(|laps| laps.any());
        let mut left = self.rounds.count - 1;
        while left > 0 {
            let (from, message) = self.rounds.hear(watch)?;
            let Some((&SUMMARY, rest)) = message.split_first() else { continue };
            left -= 1;
            let theirs = self.join(&mut Reader(rest), &mut statistics).ok_or_else(|| foreign(from))?;
            run = run.into_iter().chain(Some(theirs).filter(|state| *state != NOWHERE)).min();
        }
        statistics.expanded = statistics.states;
        statistics.depth = self.depth.saturating_sub(1);
        let mut report = Report { statistics, workers: self.rounds.count, ..Report::new() };
        report.stop = ended.err().unwrap_or(Stop::Complete);
        let mut wrong = std::mem::take(&mut self.wrong);
        wrong.sort_by_key(|wrong| wrong.code.index());
        if !self.all && self.laps.is_none() {
            wrong.truncate(1);
        }
        for Wrong { code, from, choice, count } in wrong {
            let mut choices = Vec::new();
            if from != NOWHERE {
                let mut met = self.met(&[from], watch)?;
                let (system, representative, interrupt) = self.walks(watch);
                let way = lasso::way(system, representative, &mut met, &interrupt);
                choices = way.map_err(Stop::Incomplete)?.0;
            }
            choices.push(choice);
            report.found.push(Found {
                cause: Cause::Violation(code),
                path: Path { choices },
                cycle: 0,
                count,
            });
        }
        if let Some(state) = run {
            let round = self.around(state, watch)?;
            let mut met = self.met(&round, watch)?;
            let (system, representative, interrupt) = self.walks(watch);
            let lasso = lasso::shortest(system, representative, &mut met, &interrupt);
            let lasso = lasso.map_err(Stop::Incomplete)?;
            report.found.push(Found { cause: Cause::Cycle, path: lasso.path, cycle: lasso.cycle, count: 1 });
        }
        Ok(report)
    }

    /// Takes over what a process has found; gives a state that it has left, if it has one.
    fn join(&mut self, from: &mut Reader<'_>, statistics: &mut Statistics) -> Option<u64> {
        statistics.states += from.number()?;
        statistics.transitions += from.number()?;
        statistics.store_bytes += from.number()?;
        statistics.search_bytes += from.number()?;
        let run = from.number()?;
        for _ in 0..from.number()? {
            let code = ViolationCode::from_index(usize::try_from(from.number()?).ok()?);
            let (source, choice) = (from.number()?, u32::try_from(from.number()?).ok()?);
            let count = from.number()?;
            match self.wrong.iter_mut().find(|known| known.code == code) {
                Some(known) => known.count += count,
                None => self.wrong.push(Wrong { code, from: source, choice, count }),
            }
        }
        let expander = &mut self.expander;
        let known = expander.system.take_notes(from.bytes()?)
            && expander.representative.take_notes(from.bytes()?)
            && expander.ample.take_notes(from.bytes()?);
        known.then_some(run)
    }

    /// What a walk needs.
    fn walks(&mut self, watch: &Watched<'_, '_>) -> (&mut S, &mut R, Interrupt) {
        (&mut *self.expander.system, &mut *self.expander.representative, watch.interrupt().clone())
    }

    /// States that are wanted, and those on the way to the first of them.
    fn met(&mut self, wanted: &[u64], watch: &mut impl Watch) -> Result<Met, Stop> {
        let mut met = Met::default();
        for state in wanted {
            met.add(self.ask(WORDS_OF, *state, watch)?);
        }
        met.wanted = met.numbers.len();
        let mut state = wanted.first().copied().unwrap_or(NOWHERE);
        while state != NOWHERE {
            met.add(self.ask(WORDS_OF, state, watch)?);
            state = self.ask_one(FOUND_FROM, state, watch)?;
        }
        met.stored = met.numbers.len();
        Ok(met)
    }

    /// Goes back from a state that is left, from set to set, until a lap begins where an earlier one has begun: the states of the laps between.
    fn around(&mut self, mut state: u64, watch: &mut impl Watch) -> Result<Vec<u64>, Stop> {
        let sets = self.laps.as_ref().map_or(0, |laps| laps.sets());
        let (mut back, mut begun) = (vec![state], HashMap::new());
        loop {
            let lap = back.len();
            if let Some(first) = begun.insert(state, lap - 1) {
                // The last one is the first one again.
                return Ok(back[first..lap - 1].to_vec());
            }
            for set in 0..sets {
                loop {
                    let before = self.ask_one(REACHED + set as u64, state, watch)?;
                    if before == ITSELF {
                        break;
                    }
                    if before == NOWHERE {
                        return Err(foreign(place(state).0));
                    }
                    state = before & !BY_STEP;
                    back.push(state);
                    if before & BY_STEP != 0 {
                        break;
                    }
                }
            }
            if back.len() == lap {
                state = self.ask_one(ANY_BEFORE, state, watch)?;
                back.push(state);
            }
        }
    }
}

/// States that are known to be on a way, by numbers of their own; those that are wanted first.
#[derive(Default)]
struct Met {
    numbers: HashMap<Vec<u64>, usize>,
    wanted: usize,
    stored: usize,
}

impl Met {
    fn add(&mut self, state: Vec<u64>) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(state).or_insert(next)
    }
}

impl<S> lasso::States<S> for Met {
    fn number(&mut self, _: &S, state: Vec<u64>) -> Result<usize, Incomplete> {
        Ok(self.add(state))
    }

    fn is_stored(&self, number: usize) -> bool {
        number < self.stored
    }

    fn is_wanted(&self, number: usize) -> bool {
        number < self.wanted
    }
}
