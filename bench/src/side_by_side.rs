//! Two ways of checking one model, in turn, so that a busy machine slows both alike. Medians count.

use crate::quotient;
use std::path::Path;

/// What the runs in one way gave.
#[derive(Debug, Default)]
pub struct Runs {
    /// Distinct stored states.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    seconds: Vec<f64>,
}

impl Runs {
    /// CPU seconds of a search.
    pub fn median(&self) -> f64 {
        let mut seconds = self.seconds.clone();
        seconds.sort_by(f64::total_cmp);
        seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// CPU time for each transition taken.
    pub fn microseconds_per_transition(&self) -> f64 {
        self.median() * 1e6 / self.transitions.max(1) as f64
    }
}

/// Runs `quotient check` with the one options and the other in turn.
pub fn alternate(
    binary: &Path,
    model: &Path,
    ways: [&[&str]; 2],
    repetitions: usize,
    cpu_seconds: Option<u64>,
) -> Result<[Runs; 2], String> {
    let mut runs = [Runs::default(), Runs::default()];
    for _ in 0..repetitions.max(1) {
        for (options, runs) in ways.iter().zip(&mut runs) {
            match quotient::check(binary, options, model, cpu_seconds) {
                Ok((answer, finished)) => {
                    (runs.states, runs.transitions) = (answer.states, answer.transitions);
                    runs.seconds.push(answer.search_seconds.unwrap_or(finished.cpu_seconds));
                }
                Err(failure) => {
                    return Err(format!("{}, {}: {failure:?}", model.display(), options.join(" ")));
                }
            }
        }
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_median_counts() {
        let runs = super::Runs { states: 1, transitions: 1_000_000, seconds: vec![9.0, 1.0, 2.0] };
        assert_eq!((runs.median(), runs.microseconds_per_transition()), (2.0, 2.0));
    }
}
