//! What SPIN's verifier says of a model: text in, counts out.

use quotient_testing::spin::Verifier;

#[derive(Debug)]
pub struct Report {
    pub states: usize,
    /// As printed: one more than the steps taken.
    pub transitions: usize,
    pub errors: usize,
    /// The messages, each at least once.
    pub messages: Vec<String>,
}

/// Verifies a model without any reduction, passing over errors.
pub fn verify(text: &str) -> Result<Report, String> {
    let verifier = Verifier::new(text, &["-DSAFETY", "-DNOCLAIM"])?;
    parse(&verifier.run(&["-c0", "-n"]).ok_or("search depth")?)
}

fn parse(said: &str) -> Result<Report, String> {
    let before = |words: &str| {
        let line = said.lines().find(|line| line.contains(words))?;
        line.split_whitespace().next()?.parse::<f64>().ok().map(|n| n as usize)
    };
    let after = |word: &str| {
        let at = said.find(word)? + word.len();
        said[at..].split_whitespace().next()?.parse().ok()
    };
    let messages: Vec<String> = said.lines().filter(|l| l.starts_with("pan:")).map(str::to_string).collect();
    match (before("states, stored"), before("transitions (="), after("errors: ")) {
        (Some(states), Some(transitions), Some(errors)) => {
            Ok(Report { states, transitions, errors, messages })
        }
        _ if !messages.is_empty() => Ok(Report { states: 0, transitions: 0, errors: 0, messages }),
        _ => Err(format!("verifier: {}", said.lines().next().unwrap_or("silent"))),
    }
}
