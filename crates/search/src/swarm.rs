//! Random walks by several workers, each with a seed of its own (a swarm: Holzmann, Joshi, Groce, "Swarm verification techniques", 2011). The first violation
//! ends all of them; nothing else is shared.

use std::time::Duration;

use quotient_seams::{Incomplete, Interrupt, Limit, Reason, System, Worker};

use crate::{Limits, Options, Report, Statistics, Stop, random_walks};

/// Longer than any search.
const EVER: Duration = Duration::from_secs(1 << 40);

/// Walks at random with so many workers; `limits.states` counts the states that all of them pass.
pub fn swarm<S: System + Worker>(
    system: &mut S,
    seed: u64,
    workers: usize,
    options: &mut Options<'_>,
) -> Report {
    let others: Vec<S> = (1..workers).map(|_| system.another()).collect();
    let each =
        |limits: Limits| Limits { states: limits.states.map(|n| n.div_ceil(workers as u64)), ..limits };
    // Raised with the outer one, and by whoever finds something.
    let found = Interrupt::within(options.interrupt, Some(options.limits.time.unwrap_or(EVER)));
    let limits = Limits { time: None, ..each(options.limits) };
    let (all, deadlocks) = (options.all, options.deadlocks);
    let found: &Interrupt = &found;
    let mut reports: Vec<Report> = std::thread::scope(|scope| {
        let threads: Vec<_> = others
            .into_iter()
            .enumerate()
            .filter_map(|(before, mut system)| {
                let run = move || {
                    let mut own =
                        Options { limits, all, deadlocks, interrupt: Some(found), ..Options::default() };
                    let report = walk(&mut system, seed, before as u64 + 1, found, &mut own);
                    (system, report)
                };
                std::thread::Builder::new().spawn_scoped(scope, run).ok()
            })
            .collect();
        let mut told = |statistics: &Statistics| {
            if let Some(progress) = options.progress.as_mut() {
                progress(statistics);
            }
        };
        let progress: Option<&mut dyn FnMut(&Statistics)> = Some(&mut told);
        let mut own =
            Options { limits, all, deadlocks, interrupt: Some(found), progress, ..Options::default() };
        let first = walk(system, seed, 0, found, &mut own);
        let mut reports = vec![first];
        for thread in threads {
            let (other, report) = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            system.join(other);
            reports.push(report);
        }
        reports
    });
    let workers = reports.len();
    // One that has found something, or the first.
    let best = reports.iter().position(|r| !r.found.is_empty()).unwrap_or(0);
    let mut report = reports.swap_remove(best);
    for other in reports {
        let (sum, more) = (&mut report.statistics, other.statistics);
        sum.states += more.states;
        sum.transitions += more.transitions;
        sum.expanded += more.expanded;
        sum.depth = sum.depth.max(more.depth);
        sum.search_bytes += more.search_bytes;
        for found in other.found {
            match report.found.iter_mut().find(|f| f.cause == found.cause) {
                Some(known) => known.count += found.count,
                None if all => report.found.push(found),
                None => {}
            }
        }
    }
    // Each stops at its share of the limit; the answer names the limit that was asked for.
    if let (Stop::Incomplete(Incomplete::Limit(Limit::States(share))), Some(asked)) =
        (&mut report.stop, options.limits.states)
    {
        *share = asked;
    }
    Report { workers, ..report }
}

/// One worker's walks; the others end when it finds something.
fn walk<S: System>(
    system: &mut S,
    seed: u64,
    number: u64,
    found: &Interrupt,
    options: &mut Options<'_>,
) -> Report {
    let report = random_walks(system, seed.wrapping_add(number.wrapping_mul(0x9e37_79b9)), options);
    if report.stop == Stop::Violation {
        found.raise(Reason::Asked("another worker"));
    }
    report
}
