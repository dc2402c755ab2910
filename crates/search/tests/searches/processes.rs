//! Several processes, which are threads here with channels between them, against one: counts, depths, paths; a process that is lost.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use quotient_seams::{All, Ample, Identity, Typed, Worker};
use quotient_search::{Limits, Options, Peers, Report, Seams, Stop, Workers, breadth_first_by_processes};
use quotient_visited::Tree;

use crate::workers::{Some1, Tangle, follow_paths, run_with, told};

/// A place among threads that send each other messages.
struct Place {
    me: usize,
    to: Vec<Sender<(usize, Vec<u8>)>>,
    from: Receiver<(usize, Vec<u8>)>,
    /// Messages after which this process is lost to the others.
    left: Option<usize>,
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
            // An empty one says that the sender is gone.
            Ok((from, message)) if message.is_empty() => Err(format!("process {from} is lost")),
            Ok(message) => Ok(Some(message)),
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
        if self.left == Some(0) {
            self.to.iter().for_each(|to| drop(to.send((self.me, Vec::new()))));
        }
    }
}

/// A search by so many processes; all their reports.
fn run<A: Ample<Typed<Tangle>> + Worker + Clone + Sync>(
    tangle: &Tangle,
    ample: &A,
    (count, alone, lost): (usize, u64, Option<(usize, usize)>),
    (all, limits): (bool, Limits),
) -> Vec<Report> {
    let (to, from): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
    let places = from.into_iter().enumerate().map(|(me, from)| {
        let left = lost.filter(|lost| lost.0 == me).map(|lost| lost.1);
        Place { me, to: to.clone(), from, left }
    });
    let places: Vec<Place> = places.collect();
    drop(to);
    std::thread::scope(|scope| {
        let threads: Vec<_> = places
            .into_iter()
            .map(|mut place| {
                scope.spawn(move || {
                    let (mut system, mut visited) = (Typed::new(tangle.clone()), Tree::new());
                    let seams = Seams {
                        system: &mut system,
                        representative: &mut Identity,
                        ample: &mut ample.clone(),
                        visited: &mut visited,
                    };
                    let options = &mut Options { all, limits, finish_levels_from: 0, ..Options::default() };
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
