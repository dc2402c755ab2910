//! Breadth-first search by several workers, each a thread, on one shared store.
//!
//! Level by level, as one worker does it. The states of a level wait in lists, one for each worker that found some; workers take chunks of all lists as they
//! come to need more, and put what they find into lists of their own, which are the next level when all are done. So depths are those of one
//! worker, and so is everything else that depends on levels alone ([`crate::breadth_first`]): states, transitions, what is wrong and how near
//! it is. Which of several predecessors a state has on record depends on who came first; the length of a path does not.
//!
//! One worker begins alone, and also does levels of few states alone: waking others would take longer. The worker that began looks
//! after limits and progress.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use quotient_seams::{Ample, Representative, Share, Shared, SharedStore, System, Visited, Worker};

use crate::breadth_first::{BreadthFirst, Ended, Rules};
use crate::expand::Expander;
use crate::level::{Chunk, Level};
use crate::monitor::{Monitor, Watch, Watched};
use crate::parents::Parents;
use crate::restart::{Pack, Wrote};
use crate::spotted::Spotted;
use crate::{Log, Options, Report, Seams, Statistics, Stop};

/// How many workers search, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workers {
    /// How many, at most; at least one does.
    pub count: usize,
    /// One alone until so many states are stored.
    pub from: u64,
    /// One alone also where a level has fewer states.
    pub narrow: u64,
}

impl Workers {
    /// So many workers, once a search is large enough to need them.
    pub fn new(count: usize) -> Workers {
        Workers { count, from: crate::FINISH_LEVELS_FROM, narrow: 512 }
    }
}

/// Bytes of a worker's stack.
pub(crate) const STACK: usize = 1 << 26;

/// Explores everything reachable, nearest first, by several workers.
pub fn breadth_first_by_workers<S, R, A, V>(
    seams: Seams<'_, S, R, A, V>,
    workers: Workers,
    options: &mut Options<'_>,
) -> Report
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Share,
{
    let Seams { system, representative, ample, visited } = seams;
    // Where a search goes on from the states it finds, it matters which is found first.
    if representative.keeps_found() {
        return crate::breadth_first(Seams { system, representative, ample, visited }, options);
    }
    let mut log = options.log.take();
    let mut first = BreadthFirst::new(Expander::new(system, representative, ample), &mut *visited, options);
    let mut watched = Watched::new(options);
    let Begun { ended, levels, mut wrote } = begin(&mut first, &mut log, &mut watched, workers);
    if ended != Ok(Ended::Left) {
        return first.report(ended.map(|_| ()));
    }
    let count = levels.len();
    let mut others = Vec::new();
    let Expander { system, representative, ample, .. } = &first.expander;
    others.resize_with(count - 1, || (system.another(), representative.another(), ample.another()));
    let how = Shared { workers: count, tells_open: first.checks_open };
    let store = first.visited.share(how);
    let rules = first.rules;
    let team = Team::new(levels, first.depth, log.as_ref().map(|log| log.pack()));
    // All that was met before is in levels that are done.
    team.tallies[0].expanded.store(first.parents.expanded(), Ordering::Relaxed);
    for (tally, Wrote { parents, .. }) in team.tallies.iter().zip(&wrote).skip(1) {
        tally.expanded.store(parents.expanded(), Ordering::Relaxed);
    }
    let ended = std::thread::scope(|scope| {
        let mut part = store.part();
        let handles: Vec<_> = others
            .into_iter()
            .enumerate()
            .filter_map(|(before, parts)| {
                let (team, store) = (&team, &store);
                let wrote = wrote.get_mut(before + 1).map(std::mem::take).unwrap_or_default();
                let run = move || follow(parts, store.part(), team, (before + 1, wrote), rules);
                let thread = std::thread::Builder::new().name(format!("worker {}", before + 2));
                // Without threads there are fewer workers.
                thread.stack_size(STACK).spawn_scoped(scope, run).ok()
            })
            .collect();
        team.lock().threads = handles.len();
        let mut leader = first.with_store(&mut part);
        let end = team.ends_when_dropped();
        let ended = lead(&mut leader, &team, &store, (workers.narrow, log), &mut watched);
        drop(end);
        let followers = handles.into_iter().map(|thread| match thread.join() {
            Ok(follower) => follower,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        conclude(leader, ended, followers.collect(), &team)
    });
    visited.take_back(store);
    ended
}

/// A search that one worker has begun.
struct Begun {
    ended: Result<Ended, Stop>,
    /// The states that wait, for as many workers as are to go on.
    levels: Vec<Level>,
    /// What each of them had written down in an earlier run, the first one's taken out.
    wrote: Vec<Wrote>,
}

/// Searches as one worker alone, from where an earlier run was, until there is enough for several.
fn begin<S, R, A, V>(
    first: &mut BreadthFirst<'_, S, R, A, V>,
    log: &mut Option<&mut dyn Log>,
    watched: &mut Watched<'_, '_>,
    workers: Workers,
) -> Begun
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited,
{
    let ended = |ended| Begun { ended, levels: Vec::new(), wrote: Vec::new() };
    let restored = match log.as_mut().map_or(Ok(None), |log| first.restore(*log)) {
        Ok(restored) => restored,
        Err(stop) => return ended(Err(stop)),
    };
    // The level that was written last.
    let mut written = None;
    match restored {
        None => {
            if let Err(stop) = first.initial() {
                return ended(Err(stop));
            }
        }
        Some(mut restored) => {
            written = Some(first.depth);
            if restored.levels.len() > 1 {
                let count = workers.count.max(restored.levels.len());
                restored.levels.resize_with(count, Level::default);
                return Begun { ended: Ok(Ended::Left), levels: restored.levels, wrote: restored.workers };
            }
            first.next = std::mem::take(&mut restored.levels[0]);
        }
    }
    let mut level = Level::default();
    let run = first.run(&mut level, watched, |search, level| {
        if let Some(log) = log.as_mut().filter(|_| written != Some(search.depth)) {
            let records = search.records(0, level, log.pack());
            let statistics = search.statistics();
            search.cut(*log, &records, &statistics)?;
        }
        Ok(workers.count > 1 && search.visited.len() >= workers.from)
    });
    let mut levels = vec![level];
    levels.resize_with(workers.count, Level::default);
    Begun { ended: run, levels, wrote: Vec::new() }
}

/// What a worker brings back.
struct Follower<S, R, A> {
    system: S,
    representative: R,
    ample: A,
    spotted: Spotted,
    parents: Parents,
    transitions: u64,
    number: usize,
}

/// What the workers share.
struct Team {
    /// The states of the level, by the worker that found them.
    levels: RwLock<Vec<Level>>,
    /// Chunks taken of each.
    taken: Vec<Apart<AtomicUsize>>,
    /// What each has found; in between empty lists with memory.
    found: Vec<Mutex<Level>>,
    depth: AtomicU64,
    /// Somebody has a reason to stop, which all must know at once.
    stop: AtomicBool,
    /// The first reason.
    why: Mutex<Option<Stop>>,
    /// Something was found wrong.
    spotted: AtomicBool,
    /// What each has done, for progress.
    tallies: Vec<Tally>,
    /// Makes records ready, if what is found is to be written; and those of each worker.
    pack: Option<Pack>,
    records: Vec<Mutex<Vec<Vec<u8>>>>,
    gate: Mutex<Gate>,
    /// [`Gate::round`], for who looks whether it has begun before it sleeps; and the workers that are at it, but for the leader.
    round: Apart<AtomicU64>,
    busy: Apart<AtomicUsize>,
    begins: Condvar,
    is_done: Condvar,
}

/// In cache lines of its own (two, since processors fetch pairs).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

#[derive(Debug, Default)]
#[repr(align(128))]
struct Tally {
    transitions: AtomicU64,
    expanded: AtomicU64,
    bytes: AtomicU64,
    found: AtomicU64,
}

/// Where the workers meet.
#[derive(Debug, Default)]
struct Gate {
    /// Levels that all work on begun.
    round: u64,
    /// Workers but for the leader, and how many of them sleep.
    threads: usize,
    sleepers: usize,
    leader_sleeps: bool,
    ended: bool,
}

/// Ends the others' work when dropped, also by a panic.
struct EndsTeam<'t>(&'t Team);

impl Drop for EndsTeam<'_> {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.round.0.store(u64::MAX, Ordering::Release);
        self.0.begins.notify_all();
    }
}

/// Counts as done when dropped, also by a panic.
struct Done<'t>(&'t Team);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let mut gate = None;
        if std::thread::panicking() {
            self.0.stop.store(true, Ordering::Relaxed);
            // It does not come to the next meeting.
            gate.insert(self.0.lock()).threads -= 1;
        }
        if self.0.busy.0.fetch_sub(1, Ordering::AcqRel) == 1
            && gate.get_or_insert_with(|| self.0.lock()).leader_sleeps
        {
            self.0.is_done.notify_all();
        }
    }
}

impl Team {
    fn new(levels: Vec<Level>, depth: u64, pack: Option<Pack>) -> Team {
        let each = levels.len();
        Team {
            levels: RwLock::new(levels),
            taken: (0..each).map(|_| Apart::default()).collect(),
            found: (0..each).map(|_| Mutex::default()).collect(),
            depth: AtomicU64::new(depth),
            stop: AtomicBool::new(false),
            why: Mutex::default(),
            spotted: AtomicBool::new(false),
            tallies: (0..each).map(|_| Tally::default()).collect(),
            pack,
            records: (0..each).map(|_| Mutex::default()).collect(),
            gate: Mutex::default(),
            round: Apart::default(),
            busy: Apart::default(),
            begins: Condvar::new(),
            is_done: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Gate> {
        lock(&self.gate)
    }

    fn ends_when_dropped(&self) -> EndsTeam<'_> {
        EndsTeam(self)
    }

    /// Begins a round.
    fn begin(&self) {
        let mut gate = self.lock();
        gate.round += 1;
        self.busy.0.store(gate.threads, Ordering::Relaxed);
        self.round.0.store(gate.round, Ordering::Release);
        if gate.sleepers > 0 {
            self.begins.notify_all();
        }
    }

    /// Waits for a round after this one; `None` when there will be none.
    fn wait_for_round(&self, last: u64) -> Option<u64> {
        for _ in 0..LOOKS {
            if self.round.0.load(Ordering::Acquire) != last {
                break;
            }
            std::hint::spin_loop();
        }
        let mut gate = self.lock();
        while gate.round == last && !gate.ended {
            gate.sleepers += 1;
            gate = self.begins.wait(gate).unwrap_or_else(PoisonError::into_inner);
            gate.sleepers -= 1;
        }
        (!gate.ended).then_some(gate.round)
    }

    /// Chunks that nobody has taken, and their list: a worker's own before others', many as long as there are many. From the last to the first: those found last are in the
    /// processor's cache, and the small ones, which are not packed, are at the front and so the last to be shared out.
    fn take(&self, levels: &[Level], number: usize) -> Option<(usize, Range<usize>)> {
        let workers = levels.len();
        (number..number + workers).map(|list| list % workers).find_map(|list| {
            let (count, taken) = (levels[list].chunks(), &self.taken[list].0);
            let left = count.saturating_sub(taken.load(Ordering::Relaxed));
            if left == 0 {
                return None;
            }
            let most = (left / (2 * workers)).clamp(1, MOST_CHUNKS);
            let left =
                count.checked_sub(taken.fetch_add(most, Ordering::Relaxed)).filter(|left| *left > 0)?;
            Some((list, left.saturating_sub(most)..left))
        })
    }

    /// A worker cannot go on, and nobody needs to.
    fn stop(&self, why: Stop) {
        self.stop.store(true, Ordering::Relaxed);
        lock(&self.why).get_or_insert(why);
    }

    /// What all have done, as far as they have told.
    fn statistics(&self, visited: &impl Visited, level: u64) -> Statistics {
        let sum = |of: fn(&Tally) -> &AtomicU64| -> u64 {
            self.tallies.iter().map(|tally| of(tally).load(Ordering::Relaxed)).sum()
        };
        let lists = self.levels.read().unwrap_or_else(PoisonError::into_inner);
        let expanded = sum(|t| &t.expanded);
        let mut shares = [0; crate::SHARES];
        for (share, tally) in shares.iter_mut().zip(&self.tallies) {
            *share = tally.expanded.load(Ordering::Relaxed);
        }
        Statistics {
            shares,
            states: visited.len(),
            transitions: sum(|t| &t.transitions),
            expanded,
            depth: self.depth.load(Ordering::Relaxed),
            store_bytes: visited.bytes(),
            search_bytes: sum(|t| &t.bytes) + lists.iter().map(Level::bytes).sum::<u64>(),
            waiting: level.saturating_sub(expanded) + sum(|t| &t.found),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stops a worker when another has a reason to.
struct Told<'t>(&'t Team);

impl Watch for Told<'_> {
    #[inline(always)]
    fn due(&mut self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    #[cold]
    fn check(&mut self, _: &mut dyn FnMut() -> Statistics) -> Option<Stop> {
        // The reason is known; this is not another one.
        Some(Stop::Complete)
    }
}

/// Watches for all, as one of them.
struct Leading<'t, 'w, 'o, 'a, V> {
    team: &'t Team,
    watched: &'w mut Watched<'o, 'a>,
    visited: &'t V,
    /// States of this level and all before.
    level: u64,
}

impl<V: Visited> Watch for Leading<'_, '_, '_, '_, V> {
    #[inline(always)]
    fn due(&mut self) -> bool {
        self.team.stop.load(Ordering::Relaxed) || self.watched.due()
    }

    #[cold]
    fn check(&mut self, _: &mut dyn FnMut() -> Statistics) -> Option<Stop> {
        if self.team.stop.load(Ordering::Relaxed) {
            return Some(Stop::Complete);
        }
        let (team, visited, level) = (self.team, self.visited, self.level);
        self.watched.check(&mut || team.statistics(visited, level))
    }
}

/// A follower's work: level after level, until there are no more.
fn follow<S, R, A, V>(
    parts: (S, R, A),
    mut part: V,
    team: &Team,
    (number, wrote): (usize, Wrote),
    rules: Rules,
) -> Follower<S, R, A>
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited,
{
    // Made again in this thread, whose memory lies apart from the others': what they write in every step must not share cache lines.
    let (mut system, mut representative, mut ample) =
        (parts.0.another(), parts.1.another(), parts.2.another());
    drop(parts);
    let expander = Expander::new(&mut system, &mut representative, &mut ample);
    let mut search = BreadthFirst::with_rules(expander, &mut part, rules);
    search.finishes = true;
    search.resume(wrote);
    let mut round = 0;
    while let Some(next) = team.wait_for_round(round) {
        round = next;
        let done = Done(team);
        search.depth = team.depth.load(Ordering::Relaxed);
        take_part(&mut search, team, number, &mut Told(team));
        drop(done);
    }
    let transitions = search.transitions();
    let (spotted, parents) = (search.spotted, search.parents);
    Follower { system, representative, ample, spotted, parents, transitions, number }
}

/// Expands chunks of the level until there are none left or somebody stops.
fn take_part<S, R, A, V>(
    search: &mut BreadthFirst<'_, S, R, A, V>,
    team: &Team,
    number: usize,
    watch: &mut impl Watch,
) where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited,
{
    std::mem::swap(&mut search.next, &mut lock(&team.found[number]));
    search.next.first = search.parents.discovered();
    let levels = team.levels.read().unwrap_or_else(PoisonError::into_inner);
    let mut buffer = Chunk::default();
    while !team.stop.load(Ordering::Relaxed)
        && let Some((list, mut chunks)) = team.take(&levels, number)
    {
        while !chunks.is_empty() {
            let (states, done, first) = levels[list].part(chunks.start, chunks.len(), &mut buffer);
            chunks.start += done;
            search.parents.begin(list, first);
            if let Err(why) = search.level(states, watch) {
                team.stop(why);
                break;
            }
        }
        let tally = &team.tallies[number];
        tally.transitions.store(search.transitions(), Ordering::Relaxed);
        tally.expanded.store(search.parents.expanded(), Ordering::Relaxed);
        tally.bytes.store(search.bytes(), Ordering::Relaxed);
        tally.found.store(search.next.len(), Ordering::Relaxed);
    }
    if !search.spotted.is_empty() {
        team.spotted.store(true, Ordering::Relaxed);
    }
    if let Some(pack) = team.pack
        && !team.stop.load(Ordering::Relaxed)
    {
        let found = std::mem::take(&mut search.next);
        *lock(&team.records[number]) = search.records(number, &found, pack);
        search.next = found;
    }
    std::mem::swap(&mut search.next, &mut lock(&team.found[number]));
}

/// The leader's work: hands out level after level, with a part in each.
fn lead<S, R, A, T: SharedStore>(
    search: &mut BreadthFirst<'_, S, R, A, T::Part<'_>>,
    team: &Team,
    store: &T,
    (narrow, mut log): (u64, Option<&mut dyn Log>),
    watched: &mut Watched<'_, '_>,
) -> Result<(), Stop>
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
{
    let teller = store.part();
    search.finishes = true;
    let mut before = team.tallies.iter().map(|tally| tally.expanded.load(Ordering::Relaxed)).sum::<u64>();
    loop {
        let states = {
            let levels = team.levels.read().unwrap_or_else(PoisonError::into_inner);
            levels.iter().map(Level::len).sum::<u64>()
        };
        if states == 0 {
            break;
        }
        if let Some(limit) = search.rules.most_depth
            && search.depth >= limit
        {
            return Err(Monitor::depth(limit));
        }
        search.depth += 1;
        before += states;
        team.depth.store(search.depth, Ordering::Relaxed);
        team.taken.iter().for_each(|taken| taken.0.store(0, Ordering::Relaxed));
        let mut watch = Leading { team, watched: &mut *watched, visited: &teller, level: before };
        if states >= narrow {
            team.begin();
            take_part(search, team, 0, &mut watch);
            for _ in 0..LOOKS {
                if team.busy.0.load(Ordering::Acquire) == 0 {
                    break;
                }
                std::hint::spin_loop();
            }
            let mut gate = team.lock();
            while team.busy.0.load(Ordering::Relaxed) > 0 {
                gate.leader_sleeps = true;
                gate = team.is_done.wait_timeout(gate, TURN).unwrap_or_else(PoisonError::into_inner).0;
                gate.leader_sleeps = false;
                if watch.due()
                    && !team.stop.load(Ordering::Relaxed)
                    && let Some(why) = watch.check(&mut Statistics::default)
                {
                    team.stop(why);
                }
            }
        } else {
            take_part(search, team, 0, &mut watch);
        }
        if let Some(why) = lock(&team.why).take() {
            return Err(why);
        }
        if !search.rules.all && team.spotted.load(Ordering::Relaxed) {
            return Err(Stop::Violation);
        }
        let mut levels = team.levels.write().unwrap_or_else(PoisonError::into_inner);
        for (level, found) in levels.iter_mut().zip(&team.found) {
            let mut found = lock(found);
            std::mem::swap(level, &mut *found);
            found.clear();
        }
        let waiting = levels.iter().map(Level::len).sum::<u64>();
        drop(levels);
        store.next_level();
        if let Some(log) = &mut log
            && waiting > 0
        {
            let records = team.records.iter().flat_map(|records| std::mem::take(&mut *lock(records)));
            let records: Vec<Vec<u8>> = records.collect();
            let statistics = Statistics { waiting, ..team.statistics(&teller, before) };
            search.cut(&mut **log, &records, &statistics)?;
        }
    }
    // What a store refuses looks like what it has: nothing may be concluded then.
    match teller.exhausted() {
        Some(what) => Err(Stop::Incomplete(what.into())),
        None => Ok(()),
    }
}

/// Chunks that a worker takes at once, at most.
const MOST_CHUNKS: usize = 8;

/// How often a worker looks for what it waits for before it sleeps: waking a thread takes longer than many levels do, and nobody is to look for longer than that.
const LOOKS: u32 = 1 << 11;

/// How long the leader waits for the others before it looks at limits.
const TURN: Duration = Duration::from_millis(10);

/// Puts together what all have found.
fn conclude<S, R, A, V>(
    mut leader: BreadthFirst<'_, S, R, A, V>,
    ended: Result<(), Stop>,
    followers: Vec<Follower<S, R, A>>,
    team: &Team,
) -> Report
where
    S: System + Worker,
    R: Representative<S> + Worker,
    A: Ample<S> + Worker,
    V: Visited,
{
    let mut spotted = std::mem::take(&mut leader.spotted);
    let mut parents: Vec<Parents> = Vec::new();
    parents.resize_with(team.tallies.len(), Parents::default);
    parents[0] = std::mem::take(&mut leader.parents);
    let mut transitions = leader.transitions();
    let workers = followers.len() + 1;
    for follower in followers {
        leader.expander.system.join(follower.system);
        leader.expander.representative.join(follower.representative);
        leader.expander.ample.join(follower.ample);
        spotted.join(follower.number, follower.spotted);
        transitions += follower.transitions;
        parents[follower.number] = follower.parents;
    }
    let (stop, depth) = match ended {
        // The last level had nothing new: it is not counted.
        Ok(()) => (Stop::Complete, leader.depth.saturating_sub(1)),
        Err(stop) => (stop.or_violation(leader.rules.all, &spotted), leader.depth),
    };
    let expanded = parents.iter().map(Parents::expanded).sum::<u64>();
    let states = leader.visited.len();
    let statistics = Statistics {
        states,
        transitions,
        expanded,
        depth,
        waiting: states - expanded,
        ..team.statistics(&*leader.visited, 0)
    };
    let found = spotted.report_from(leader.rules.all, &parents, &mut leader.expander);
    Report { stop, found, statistics, workers }
}
