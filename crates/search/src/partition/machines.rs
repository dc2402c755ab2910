//! Breadth-first search by several processes, each the owner of a part of the states, with messages between them.
//!
//! The first process begins alone and hands out what it has found when there is enough of it. Then all expand their parts of a level at the same time; letters go out as they are
//! found, and are taken between two chunks of states, so that nobody waits for anybody before a level's end. A level ends in rounds: each says that it has sent its letters (`END`); each
//! confirms to whom it heard that from, after its answers (`TAKEN`); each says how far it is (`STATUS`). Whoever has heard all three from all others knows what all know: whether
//! expansions are still deferred (then there is another round), how many states the next level has, whether something was found wrong or somebody has to stop. All decide alike.
//! What comes from a process that is a round ahead is held back until this one is there, too.
//!
//! States are numbered by each owner in the order they were found, and each keeps the steps to its own (12 bytes a state). The first process asks for them when
//! it makes the way to a violation. In the end all have the same report.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use quotient_seams::{Ample, Known, Representative, System, Visited, Worker};

use super::answer::{read_report, stopped, write_report};
use super::owner::Deciding;
use super::part::{By, Home, Part, Post, Source};
use super::rows::{Block, Rows};
use super::town::*;
use crate::breadth_first::{BreadthFirst, Ended};
use crate::expand::{Expander, Turn};
use crate::frontier::Frontier;
use crate::level::Level;
use crate::monitor::{Monitor, Watch, Watched};
use crate::parents::Parents;
use crate::restart::{Reader, Writer};
use crate::spotted::Spotted;
use crate::{Options, Report, Seams, Statistics, Stop};

/// The other processes of a search.
pub trait Peers {
    /// How many processes there are, and which of them this is.
    fn places(&self) -> (usize, usize);

    /// Sends a message. `Err` if the process is lost.
    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), String>;

    /// The next message and whose it is; waits so long for one. `Err` if a process is lost.
    fn receive(&mut self, wait: Duration) -> Result<Option<(usize, Vec<u8>)>, String>;

    /// Bytes that wait to be sent.
    fn waiting(&self) -> u64;
}

/// States of a level, a chunk of them at a time.
struct Chunk<'l> {
    level: &'l Frontier,
    place: &'l mut usize,
    number: &'l mut u64,
    left: u64,
}

impl<'p> Source<Town<'p>, (u64, Turn)> for Chunk<'_> {
    fn next(&mut self, town: &mut Town<'p>, state: &mut Vec<u64>) -> Result<Option<(u64, Turn)>, Stop> {
        if self.left == 0 || town.stop.is_some() {
            return Ok(None);
        }
        let Some((Known { state: found, .. }, after)) = self.level.at(*self.place) else { return Ok(None) };
        state.clear();
        state.extend_from_slice(found);
        (*self.place, self.left) = (after, self.left - 1);
        *self.number += 1;
        town.expanded += 1;
        Ok(Some((*self.number - 1, Turn::default())))
    }
}

/// Expansions that were deferred, a chunk of them at a time.
struct Again<'l>(&'l mut Vec<(u64, Turn, Vec<u64>)>, u64);

impl<'p> Source<Town<'p>, (u64, Turn)> for Again<'_> {
    fn next(&mut self, _: &mut Town<'p>, state: &mut Vec<u64>) -> Result<Option<(u64, Turn)>, Stop> {
        if self.1 == 0 {
            return Ok(None);
        }
        self.1 -= 1;
        let Some((number, turn, words)) = self.0.pop() else { return Ok(None) };
        *state = words;
        Ok(Some((number, turn)))
    }
}

/// Letters of a message.
struct Letters {
    block: Block,
    from: usize,
}

impl<'p> Source<Town<'p>, (By, bool)> for Letters {
    fn next(&mut self, _: &mut Town<'p>, state: &mut Vec<u64>) -> Result<Option<(By, bool)>, Stop> {
        let Some(([from, choice], words)) = self.block.next().map_err(|()| foreign(self.from))? else {
            return Ok(None);
        };
        if place(*from).0 != self.from || words.is_empty() {
            return Err(foreign(self.from));
        }
        state.clear();
        state.extend_from_slice(words);
        Ok(Some((By { from: *from, choice: (choice >> 1) as u32 }, choice & 1 == 1)))
    }
}

/// One process of a search.
struct Process<'p, 'a, S, R, A, V> {
    part: Part<'a, S, R, A>,
    town: Town<'p>,
    home: Option<Home<V>>,
}

impl<S, R, A, V> Process<'_, '_, S, R, A, V>
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited + Default,
{
    /// Level after level, until there is nothing new anywhere.
    fn run(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        loop {
            let town = &mut self.town;
            std::mem::swap(&mut town.level, &mut town.next);
            town.next.clear();
            town.first = town.number() - town.level.len();
            if let Some(home) = &mut self.home {
                home.next_level();
            }
            // The level has states: the first one was handed out, of the others all have heard.
            if let Some(limit) = self.part.rules.most_depth
                && self.part.depth >= limit
            {
                self.town.agreed = true;
                return Err(Monitor::depth(limit));
            }
            self.part.depth += 1;
            self.handle_held(watch)?;
            self.level(watch)?;
            let status = loop {
                let status = self.round(watch)?;
                if status.deferred == 0 {
                    break status;
                }
                self.handle_held(watch)?;
                self.again(watch)?;
            };
            if status.spotted && !self.part.rules.all {
                self.town.agreed = true;
                return Err(Stop::Violation);
            }
            if status.next == 0 {
                return Ok(());
            }
        }
    }

    /// What came too early is of the round that begins.
    fn handle_held(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        for (from, message) in std::mem::take(&mut self.town.held) {
            self.handle(from, message, watch)?;
        }
        Ok(())
    }

    /// Expands what is this process's of a level.
    fn level(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        let level = std::mem::take(&mut self.town.level);
        let (mut at, mut number) = (0, self.town.first);
        while level.at(at).is_some() && self.town.stop.is_none() {
            let mut chunk = Chunk { level: &level, place: &mut at, number: &mut number, left: CHUNK };
            let ended = self.part.expand(&mut chunk, &mut self.home, &mut self.town, watch);
            self.goes_on(ended)?;
            self.read(watch)?;
        }
        self.town.level = level;
        Ok(())
    }

    /// Goes on with expansions that were not accepted.
    fn again(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        let mut deferred = std::mem::take(&mut self.town.deferred);
        while !deferred.is_empty() && self.town.stop.is_none() {
            let mut some = Again(&mut deferred, CHUNK);
            let ended = self.part.expand(&mut some, &mut self.home, &mut self.town, watch);
            self.goes_on(ended)?;
            self.read(watch)?;
        }
        Ok(())
    }

    /// Where this process must stop, all do, at the end of the round.
    fn goes_on(&mut self, ended: Result<(), Stop>) -> Result<(), Stop> {
        let Err(why) = ended else { return Ok(()) };
        if self.town.stop.is_none() {
            self.town.stop = Some(why);
            self.town.send_all(&[STOP])?;
        }
        Ok(())
    }

    /// Reads what has come; where too much waits to be sent, until that is less.
    fn read(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        while let Some((from, message)) = self.town.receive(Duration::ZERO)? {
            self.handle(from, message, watch)?;
        }
        while self.town.peers.waiting() > MOST_WAITING {
            self.wait(watch)?;
        }
        Ok(())
    }

    /// Waits for a message, a little, and handles it.
    fn wait(&mut self, watch: &mut impl Watch) -> Result<(), Stop> {
        if let Some((from, message)) = self.town.receive(TURN)? {
            return self.handle(from, message, watch);
        }
        let ended = match watch.due() {
            true => watch.check(&mut || self.town.statistics(Statistics::default())),
            false => None,
        };
        self.goes_on(ended.map_or(Ok(()), Err))
    }

    /// The end of a round: what all have.
    fn round(&mut self, watch: &mut impl Watch) -> Result<Status, Stop> {
        let round = self.town.round + 1;
        let others = (0..self.town.count).filter(|peer| *peer != self.town.me);
        for peer in others.collect::<Vec<_>>() {
            self.town.flush(peer)?;
            self.town.send_round(END, peer, round)?;
        }
        while !self.town.all(|peer| self.town.ended[peer].min(self.town.taken[peer]), |r| *r >= round) {
            self.wait(watch)?;
        }
        let town = &mut self.town;
        let accepted = std::mem::take(&mut town.accepted);
        town.deferred.retain(|(number, ..)| !accepted.contains(number));
        let stop = town.stop.as_ref().map(|stop| match stop {
            Stop::Incomplete(why) => why.to_string(),
            _ => String::new(),
        });
        let mut all = Status {
            deferred: town.deferred.len() as u64,
            next: town.next.len(),
            states: town.states(),
            transitions: self.part.transitions(),
            expanded: town.expanded,
            spotted: !self.part.spotted.is_empty(),
            stop,
        };
        let own = all.clone();
        self.town.send_all(&all.write(round))?;
        while !self.town.all(|peer| self.town.statuses[peer].is_some(), |has| *has) {
            self.wait(watch)?;
        }
        let mut stops = None;
        for (peer, status) in self.town.statuses.iter_mut().enumerate() {
            let Some(status) = status.take() else { continue };
            all.deferred += status.deferred;
            all.next += status.next;
            all.states += status.states;
            all.transitions += status.transitions;
            all.expanded += status.expanded;
            all.spotted |= status.spotted;
            stops = stops
                .or(status.stop.filter(|why| !why.is_empty()).map(|why| format!("process {peer}: {why}")));
        }
        self.town.others = Status {
            states: all.states - own.states,
            transitions: all.transitions - own.transitions,
            expanded: all.expanded - own.expanded,
            ..Status::default()
        };
        self.town.round = round;
        self.town.agreed = self.town.stop.is_some() || stops.is_some();
        match (self.town.stop.take(), stops) {
            (Some(Stop::Complete), Some(why)) | (None, Some(why)) => return Err(lost(why)),
            (Some(stop), _) => return Err(stop),
            (None, None) => {}
        }
        Ok(all)
    }

    fn handle(&mut self, from: usize, message: Vec<u8>, watch: &mut impl Watch) -> Result<(), Stop> {
        let town = &mut self.town;
        let Some((&kind, rest)) = message.split_first() else { return Err(foreign(from)) };
        if town.statuses[from].is_some() && matches!(kind, LETTERS | END | STATUS) {
            town.held.push_back((from, message));
            return Ok(());
        }
        let mut reader = Reader(rest);
        let mut round = || reader.number().ok_or_else(|| foreign(from));
        match kind {
            LETTERS => {
                let mut block = Block::default();
                block.read_short(rest).ok_or_else(|| foreign(from))?;
                let letters = &mut Letters { block, from };
                let ended = self.part.take(letters, true, &mut self.home, &mut self.town, watch);
                self.goes_on(ended.map(|_| ()))?;
                let answers = std::mem::take(&mut self.town.answers[from]);
                if !answers.is_empty() {
                    let mut out = Writer::of(ANSWERS);
                    out.numbers(answers.into_iter());
                    self.town.to(from, out.0)?;
                }
            }
            ANSWERS => {
                let numbers = reader.numbers().ok_or_else(|| foreign(from))?;
                town.accepted.extend(numbers);
            }
            END => {
                let ended = round()?;
                town.ended[from] = ended;
                town.send_round(TAKEN, from, ended)?;
            }
            TAKEN => town.taken[from] = round()?,
            STATUS => {
                let (round, status) = Status::read(&mut reader).ok_or_else(|| foreign(from))?;
                if round != town.round + 1 {
                    return Err(foreign(from));
                }
                town.statuses[from] = Some(status);
            }
            // That is no reason of its own.
            STOP => {
                town.stop.get_or_insert(Stop::Complete);
            }
            // What is said after the search, by one who knows already that it has ended.
            SUMMARY | ASK | RESULT => town.held.push_back((from, message)),
            _ => return Err(foreign(from)),
        }
        Ok(())
    }

    /// Takes states that the first process has found: all that it stores for this one, and those that wait.
    fn given(&mut self, from: usize, message: &[u8]) -> Result<(), Stop> {
        let mut block = Block::default();
        block.read_short(message).ok_or_else(|| foreign(from))?;
        let home = self.home.get_or_insert_with(|| Home::of(V::default()));
        while let Some(([number, waits], state)) = block.next().map_err(|()| foreign(from))? {
            let mut hint = vec![0; home.store.hint_len(state.len())];
            let loaded = home.store.load(state, None, &mut hint);
            let key = home.store.prepare(state, loaded, &mut hint);
            home.store.insert(key, state);
            if *waits == 1 {
                self.town.add(*number, SAME, state);
                self.town.given += 1;
            }
        }
        Ok(())
    }

    /// What this process has found, for the first one.
    fn summary(&self) -> Vec<u8> {
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
    fn serve(&mut self, watch: &mut impl Watch) -> Report {
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
    fn next(&mut self, watch: &mut impl Watch) -> Result<(usize, Vec<u8>), Stop> {
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
    fn report(
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
    let most_states = options.limits.states;
    let mut first = BreadthFirst::new(Expander::new(system, representative, ample), visited, options);
    let mut watched = Watched::new(options);
    // All states in the order they were found, and where the last level begins.
    let (mut all, mut level_at) = (Frontier::default(), 0);
    if me == 0 {
        let ended = first.initial().and_then(|()| {
            first.run(&mut Level::default(), &mut watched, |search, level| {
                level_at = all.len();
                let mut cursor = level.cursor();
                while let Some((Known { state, .. }, _)) = cursor.next() {
                    all.push(state, &[]);
                }
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
    let BreadthFirst { expander, visited, rules, spotted, parents, transitions, depth, .. } = first;
    let mut part = Part::new(expander, rules);
    (part.spotted, part.transitions, part.depth) = (spotted, transitions, depth);
    let town = Town {
        peers,
        count,
        me,
        deciding: Deciding::default(),
        out: (0..count).map(|_| Rows::default()).collect(),
        answers: vec![Vec::new(); count],
        level: Frontier::default(),
        first: 0,
        next: Frontier::default(),
        base: parents.discovered(),
        from: Vec::new(),
        choices: Vec::new(),
        given: 0,
        expanded: parents.expanded(),
        deferred: Vec::new(),
        accepted: HashSet::new(),
        ended: vec![0; count],
        taken: vec![0; count],
        statuses: vec![None; count],
        others: Status::default(),
        round: 0,
        held: VecDeque::new(),
        stop: None,
        agreed: false,
        most_states,
    };
    let home = (me == 0).then(|| Home::of(std::mem::take(visited)));
    let mut process = Process { part, town, home };
    if me == 0 {
        let ended = process.hand_out(&all, level_at, &parents).and_then(|()| {
            drop(std::mem::take(&mut all));
            process.run(&mut watched)
        });
        let report = process.report(ended, &parents, &mut watched).unwrap_or_else(stopped);
        // Those that are gone do not need it.
        let _ = process.town.send_all(&write_report(&report));
        return report;
    }
    match process.wait_to_begin(&mut watched) {
        Ok(None) => {}
        Ok(Some(report)) => return report,
        Err(stop) => return stopped(stop),
    }
    let ended = process.run(&mut watched);
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
                None if waits => {
                    self.town.add(global, SAME, state);
                    self.town.given += 1;
                }
                None => {}
            }
            (at, number) = (after, number + 1);
        }
        for (owner, mut rows) in rows.into_iter().enumerate().filter(|(_, rows)| rows.len() > 0) {
            let mut message = vec![GIVEN];
            rows.take_short(&mut message);
            self.town.to(owner, message)?;
        }
        let mut out = Writer::of(BEGIN);
        out.number(self.part.depth);
        out.numbers(self.town.deciding.masks().iter().copied());
        self.town.send_all(&out.0)
    }

    /// Waits until the first process has handed out its states; gives the report if there is nothing to do.
    fn wait_to_begin(&mut self, watch: &mut impl Watch) -> Result<Option<Report>, Stop> {
        loop {
            let (from, message) = self.next(watch)?;
            match (from, message.split_first()) {
                (0, Some((&GIVEN, rest))) => self.given(from, rest)?,
                (0, Some((&BEGIN, rest))) => {
                    let mut reader = Reader(rest);
                    let told = reader.number().zip(reader.numbers());
                    let (depth, masks) = told.ok_or_else(|| foreign(from))?;
                    self.part.depth = depth;
                    self.town.deciding = Deciding::of_masks(masks.collect());
                    self.home.get_or_insert_with(|| Home::of(V::default()));
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
}
