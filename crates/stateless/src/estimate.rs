//! An estimate, up front, of how many executions there will be.
//!
//! After Knuth ("Estimating the efficiency of backtrack programs", 1975): along a random path of a
//! tree, the product of the numbers of children is an unbiased estimate of the number of leaves. The
//! tree explored by DPOR is not known beforehand; here the children of a state on a random run are
//! taken to be the step made and the distinct threads with which a race of this run would have to be
//! reversed there. So the estimate is crude: right in order of magnitude where races do not depend on
//! the schedule much, too low where reversing one race uncovers others.

use crate::execution::Execution;
use crate::happens_before::{Event, HappensBefore};
use crate::operation::Operation;
use crate::random::Random;
use crate::threads::{ThreadId, ThreadSet};

/// Estimates the number of executions from `probes` random runs of at most `max_steps` steps.
pub fn estimate<X: Execution>(program: &mut X, probes: u32, max_steps: usize, seed: u64) -> f64 {
    let threads = program.max_threads();
    let mut random = Random(seed);
    let mut happens_before = HappensBefore::new(threads);
    let mut run: Vec<Event> = Vec::new();
    let mut children: Vec<ThreadSet> = Vec::new();
    let mut total = 0.0;
    for _ in 0..probes {
        program.restart();
        run.clear();
        while run.len() < max_steps {
            let enabled = program.enabled();
            if enabled.is_empty() {
                break;
            }
            let Some(thread) = enabled.iter().nth(random.below(enabled.len())) else { break };
            let Some(first) = program.pending(thread, 0) else { break };
            let alternative = random.below(first.alternatives.max(1) as usize) as u16;
            let Some(operation) = program.pending(thread, alternative) else { break };
            program.step(thread, alternative);
            run.push(Event { thread, alternative, operation });
        }
        let pending: Vec<(ThreadId, Operation)> = (0..threads as ThreadId)
            .filter_map(|t| program.pending(t, 0).map(|operation| (t, operation)))
            .collect();
        happens_before.analyse(&run, &pending, 0);
        children.clear();
        children.resize(run.len(), ThreadSet::EMPTY);
        for race in happens_before.races() {
            children[race.earlier as usize].insert(race.thread);
        }
        let mut product = 1.0;
        for (event, children) in run.iter().zip(&children) {
            product *= f64::from(event.operation.alternatives.max(1)) + children.len() as f64;
        }
        total += product;
    }
    total / f64::from(probes.max(1))
}
