//! Sizes against SPIN's own translation (`spin -f`).

use std::process::Command;

use crate::generate::Random;
use quotient_logic::translate;

/// States of the never claim that SPIN prints for a formula; `None` when it gives up.
fn spin_states(formula: &str) -> Option<usize> {
    let output = Command::new("spin").args(["-f", formula]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let labels = text.lines().filter(|l| l.ends_with(':') && !l.starts_with(char::is_whitespace)).count();
    (output.status.success() && labels > 0).then_some(labels)
}

#[test]
#[ignore = "needs spin"]
fn automata_are_no_larger_than_spins() {
    assert!(spin_states("<> p").is_some(), "spin must be installed for this test");
    let mut random = Random::new(7);
    let (mut log, mut count, mut larger) = (0.0, 0, 0);
    let mut most: f64 = 0.0;
    while count < 1_000 {
        let size = 3 + random.below(8);
        let formula = random.formula(size, 3);
        let Some(theirs) = spin_states(&formula.to_string()) else { continue };
        let ours = translate(&formula).expect("small formulas have automata").states.len();
        let ratio = ours as f64 / theirs as f64;
        log += ratio.ln();
        larger += usize::from(ours > theirs);
        if ratio > most {
            most = ratio;
            eprintln!("{ours} / {theirs} states: {formula}");
        }
        count += 1;
    }
    let mean = (log / f64::from(count)).exp();
    eprintln!("geometric mean of states, ours / SPIN's: {mean:.3} ({larger} of {count} larger)");
    assert!(mean <= 1.0, "{mean}");
}
