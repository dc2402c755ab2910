//! An estimate, up front, of how many executions there will be.
//!
//! After Knuth ("Estimating the efficiency of backtrack programs", 1975): along a random path of a tree, the product of the
//! numbers of children is an unbiased estimate of the number of leaves. What DPOR will explore is learned only on the way,
//! but exploring all enabled steps with sleep sets (Godefroid 1996) gives a tree that is known beforehand and whose complete
//! leaves are exactly the Mazurkiewicz traces, each once; a leaf at which everything enabled sleeps counts as none. So the
//! mean is the number of executions of the optimal mode. Its variance is large where the tree is irregular: few probes
//! rather give too little.

use crate::execution::Execution;
use crate::operation::dependent;
use crate::random::Random;
use crate::wakeup_tree::Step;

/// Estimates the number of executions from `probes` random runs of at most `max_steps` steps. A run that is longer counts with
/// the choices made so far.
pub fn estimate<X: Execution>(program: &mut X, probes: u32, max_steps: usize, seed: u64) -> f64 {
    let mut random = Random(seed);
    let (mut asleep, mut children): (Vec<Step>, Vec<Step>) = (Vec::new(), Vec::new());
    let mut total = 0.0;
    for _ in 0..probes {
        program.restart();
        asleep.clear();
        let mut product = 1.0;
        for _ in 0..max_steps {
            let enabled = program.enabled();
            if enabled.is_empty() {
                break;
            }
            children.clear();
            for thread in enabled.iter() {
                let alternatives = program.pending(thread, 0).map_or(0, |operation| operation.alternatives);
                for alternative in 0..alternatives {
                    let sleeps = |z: &Step| z.thread == thread && z.alternative == alternative;
                    if let Some(operation) = program.pending(thread, alternative)
                        && !asleep.iter().any(sleeps)
                    {
                        children.push(Step { thread, alternative, operation });
                    }
                }
            }
            if children.is_empty() {
                product = 0.0;
                break;
            }
            product *= children.len() as f64;
            let chosen = random.below(children.len());
            let step = children[chosen];
            // What comes before it among the children has been explored when it is.
            asleep.extend_from_slice(&children[..chosen]);
            asleep.retain(|z| !dependent(z.thread, &z.operation, step.thread, &step.operation));
            program.step(step.thread, step.alternative);
        }
        total += product;
    }
    total / f64::from(probes.max(1))
}
