//! Several processes, which are threads here with channels between them, against one: counts, depths, paths; a process that is lost.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use quotient_seams::{All, Ample, Identity, Typed, Worker};
use quotient_search::{
    Limits, Log, Options, Peers, Report, Seams, Stop, Workers, breadth_first_by_processes,
};
use quotient_visited::Tree;

use crate::restart::Records;
use crate::workers::{Some1, Tangle, follow_paths, run_with, told};

/// Numbers at random.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % bound
    }
}

/// A place among threads that send each other messages.
pub(crate) struct Place {
    me: usize,
    to: Vec<Sender<(usize, Vec<u8>)>>,
    from: Receiver<(usize, Vec<u8>)>,
    /// Messages after which this process is lost to the others.
    left: Option<usize>,
    /// One that this process needs has ended.
    ended: bool,
}

impl Peers for Place {
    fn places(&self) -> (usize, usize) {
        (self.to.len(), self.me)
    }

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), String> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1).ok_or("this process is lost")?;
        }
        self.to[to].send((self.me, message)).map_err(|_| format!("process {to} is lost"))
    }

    fn receive(&mut self, wait: Duration) -> Result<Option<(usize, Vec<u8>)>, String> {
        if self.left == Some(0) {
            return Err("this process is lost".into());
        }
        match self.from.recv_timeout(wait) {
            // An empty one says that the sender is lost, a zero that it has ended.
            Ok((from, message)) if message.is_empty() => Err(format!("process {from} is lost")),
            Ok((from, message)) if message == [0] => {
                self.ended |= self.me == 0 || from == 0;
                Ok(None)
            }
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) if self.ended => Err("a process has ended".into()),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err("all are lost".into()),
        }
    }

    fn waiting(&self) -> u64 {
        0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let said = if self.left == Some(0) { Vec::new() } else { vec![0] };
        self.to.iter().for_each(|to| drop(to.send((self.me, said.clone()))));
    }
}

/// So many of them.
pub(crate) fn places(count: usize) -> Vec<Place> {
    let (to, from): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
    let place = |(me, from)| Place { me, to: to.clone(), from, left: None, ended: false };
    from.into_iter().enumerate().map(place).collect()
}

/// A search by so many processes; all their reports.
fn run<A: Ample<Typed<Tangle>> + Worker + Clone + Sync>(
    tangle: &Tangle,
    ample: &A,
    (count, alone, lost): (usize, u64, Option<(usize, usize)>),
    (all, limits): (bool, Limits),
) -> Vec<Report> {
    run_logged(tangle, ample, (count, alone, lost), (all, limits), &mut [])
}

/// The same, with what each process writes.
fn run_logged<A: Ample<Typed<Tangle>> + Worker + Clone + Sync>(
    tangle: &Tangle,
    ample: &A,
    (count, alone, lost): (usize, u64, Option<(usize, usize)>),
    (all, limits): (bool, Limits),
    logs: &mut [Records],
) -> Vec<Report> {
    let mut places = places(count);
    if let Some((lost, left)) = lost {
        places[lost].left = Some(left);
    }
    let mut logs: Vec<Option<&mut Records>> = logs.iter_mut().map(Some).collect();
    logs.resize_with(count, || None);
    std::thread::scope(|scope| {
        let threads: Vec<_> = places
            .into_iter()
            .zip(logs)
            .map(|(mut place, log)| {
                scope.spawn(move || {
                    let (mut system, mut visited) = (Typed::new(tangle.clone()), Tree::new());
                    let seams = Seams {
                        system: &mut system,
                        representative: &mut Identity,
                        ample: &mut ample.clone(),
                        visited: &mut visited,
                    };
                    let log = log.map(|log| log as &mut dyn Log);
                    let options =
                        &mut Options { all, limits, finish_levels_from: 0, log, ..Options::default() };
                    let report = breadth_first_by_processes(seams, (alone, &mut place), options);
                    follow_paths(tangle, &mut system, &report);
                    report
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

fn compare<A: Ample<Typed<Tangle>> + Worker + Clone + Sync>(
    tangle: &Tangle,
    ample: &A,
    all: bool,
    limits: Limits,
) {
    let options = &mut Options { all, limits, finish_levels_from: 0, ..Options::default() };
    let plain = told(&run_with(tangle, ample.clone(), Workers::new(1), options));
    for (count, alone) in [(1, 0), (2, 0), (3, 500), (5, 0), (3, 1 << 40)] {
        for (me, report) in run(tangle, ample, (count, alone, None), (all, limits)).iter().enumerate() {
            let mut said = told(report);
            // Why it ended is told to the others in words.
            if me > 0
                && let (Stop::Incomplete(there), Stop::Incomplete(here)) = (&plain.0, &said.0)
            {
                assert_eq!(there.to_string(), here.to_string());
                said.0 = plain.0.clone();
            }
            assert_eq!(said, plain, "process {me} of {count}, alone until {alone}, all {all}, {limits:?}");
        }
    }
}

#[test]
fn several_processes_find_what_one_finds() {
    let never: fn(u64) -> bool = |_| false;
    let some: fn(u64) -> bool = |state| state % 4_973 == 77;
    let far: fn(u64) -> bool = |state| state == 18_888;
    let ends: fn(u64) -> bool = |state| state % 7_011 == 5_000;
    for (wrong, ends) in [(never, never), (some, ends), (far, never), (never, ends)] {
        let tangle = Tangle { size: 20_000, wrong, ends };
        for all in [false, true] {
            let shallow = Limits { depth: Some(9), ..Limits::default() };
            for limits in [Limits::default(), shallow] {
                compare(&tangle, &All, all, limits);
                compare(&tangle, &Some1, all, limits);
            }
        }
    }
}

#[test]
fn a_process_that_is_lost_ends_all_others() {
    let tangle = Tangle { size: 300_000, wrong: |_| false, ends: |_| false };
    for lost in [(0, 40), (1, 5), (1, 60), (2, 33)] {
        let started = Instant::now();
        for report in run(&tangle, &Some1, (3, 0, Some(lost)), (true, Limits::default())) {
            let Stop::Incomplete(why) = &report.stop else { panic!("{lost:?}: {:?}", report.stop) };
            assert!(why.to_string().contains("lost"), "{why}");
        }
        assert!(started.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn limits_end_all_processes() {
    let tangle = Tangle { size: 1 << 40, wrong: |_| false, ends: |_| false };
    let time = Limits { time: Some(Duration::from_millis(200)), ..Limits::default() };
    let states = Limits { states: Some(100_000), ..Limits::default() };
    for limits in [time, states] {
        let started = Instant::now();
        for report in run(&tangle, &All, (3, 0, None), (false, limits)) {
            assert!(matches!(report.stop, Stop::Incomplete(_)), "{:?}", report.stop);
        }
        assert!(started.elapsed() < Duration::from_secs(60));
    }
}

/// Each process of a search that was interrupted has written up to some level, not all of them up to the same one; the next run goes on from the last that all have, and
/// so does the one after that.
#[test]
fn a_search_by_several_processes_goes_on_from_the_last_level_that_all_have() {
    let never: fn(u64) -> bool = |_| false;
    let some: fn(u64) -> bool = |state| state % 4_973 == 77;
    let far: fn(u64) -> bool = |state| state == 18_888;
    let ends: fn(u64) -> bool = |state| state % 7_011 == 5_000;
    let (mut random, limits) = (Random(19), Limits::default());
    for (wrong, ends, all) in [(never, never, false), (some, ends, true), (far, never, false)] {
        let tangle = Tangle { size: 20_000, wrong, ends };
        goes_on(&tangle, &All, all, limits, &mut random);
        goes_on(&tangle, &Some1, all, limits, &mut random);
    }
}

fn goes_on<A: Ample<Typed<Tangle>> + Worker + Clone + Sync>(
    tangle: &Tangle,
    ample: &A,
    all: bool,
    limits: Limits,
    random: &mut Random,
) {
    for (count, alone) in [(2, 0), (3, 500)] {
        let plain: Vec<_> =
            run(tangle, ample, (count, alone, None), (all, limits)).iter().map(told).collect();
        let mut logs = vec![Records::default(); count];
        let logged = |logs: &mut [Records], how: &str| {
            let reports = run_logged(tangle, ample, (count, alone, None), (all, limits), logs);
            let said: Vec<_> = reports.iter().map(told).collect();
            assert_eq!(said, plain, "{count} processes, alone until {alone}, all {all}, {how}");
        };
        logged(&mut logs, "writing");
        let levels = logs[0].cuts.len();
        assert!(levels > 3 && logs.iter().all(|log| log.cuts.len() == levels), "{levels} levels");
        for level in 0..levels {
            let mut cut = |cuts: usize, log: &Records| match random.below(4) {
                // A process that has written nothing: all begin again.
                0 if level == 1 => Records::default(),
                1 => log.until((level + 2).min(cuts - 1)),
                _ => log.until(level.min(cuts - 1)),
            };
            let mut again: Vec<Records> = logs.iter().map(|log| cut(levels, log)).collect();
            logged(&mut again, &format!("from level {level} of {levels}"));
            let mut third: Vec<Records> = again.iter().map(|log| cut(log.cuts.len(), log)).collect();
            logged(&mut third, &format!("from level {level} of {levels}, once more"));
        }
    }
}

/// A log with a record too few, a short one, or one twice ends the search undecided.
#[test]
fn logs_that_are_not_whole_end_all_processes_undecided() {
    let tangle = Tangle { size: 20_000, wrong: |_| false, ends: |_| false };
    let (how, limits) = ((3, 0, None), (false, Limits::default()));
    let mut logs = vec![Records::default(); 3];
    run_logged(&tangle, &All, how, limits, &mut logs);
    let until: Vec<Records> = logs.iter().map(|log| log.until(3)).collect();
    for change in 0..3 {
        let mut logs = until.clone();
        match change {
            0 => drop(logs[1].all.pop()),
            1 => drop(logs[2].all.last_mut().expect("it has records").pop()),
            _ => logs[1].all.insert(1, until[1].all[1].clone()),
        }
        for report in run_logged(&tangle, &All, how, limits, &mut logs) {
            assert!(matches!(report.stop, Stop::Incomplete(_)), "change {change}: {:?}", report.stop);
        }
    }
}
