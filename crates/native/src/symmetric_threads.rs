//! What the report says about threads that could be exchanged, and why others could not.
//!
//! Threads are compared in pairs, at every state. A pair that could be exchanged somewhere may differ elsewhere; both is said. Pairs with the
//! same reasons are named together.

use crate::protocol::{THREADS, why};
use quotient_stateless::{Symmetry, ThreadId, ThreadSet};

type Pair = (ThreadId, ThreadId);

/// The most pairs that a note names.
const MOST_PAIRS: usize = 4;

fn list(threads: ThreadSet) -> String {
    let names: Vec<String> = threads.iter().map(|t| format!("T{t}")).collect();
    match names.as_slice() {
        [first, second] => format!("{first} and {second}"),
        names => names.join(", "),
    }
}

/// The pairs by name; together, if they are all pairs of some threads.
fn pairs(pairs: &[Pair]) -> String {
    let threads: ThreadSet = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    if pairs.len() == threads.len() * (threads.len() - 1) / 2 {
        return list(threads);
    }
    let named: Vec<String> = pairs.iter().take(MOST_PAIRS).map(|(a, b)| format!("T{a} and T{b}")).collect();
    let more = match pairs.len().saturating_sub(MOST_PAIRS) {
        0 => String::new(),
        more => format!("; {more} more pairs"),
    };
    named.join("; ") + &more
}

fn reasons(bits: u16, example: &dyn Fn(u16) -> Option<String>) -> String {
    let told = |(bit, text): &(u16, &str)| match example(*bit) {
        Some(what) => format!("{text} ({what})"),
        None => (*text).to_owned(),
    };
    let reasons: Vec<String> = why::ALL.iter().filter(|(bit, _)| bits & bit != 0).map(told).collect();
    reasons.join("; ")
}

/// The notes of a report: sets of threads that could be exchanged, then why others, or the same elsewhere, could not. `example`
/// names something that a reason was found for.
pub(crate) fn notes(
    classes: &[u64],
    unlike: &[[u16; THREADS]; THREADS],
    symmetry: Symmetry,
    example: &dyn Fn(u16) -> Option<String>,
) -> Vec<String> {
    let classes: Vec<ThreadSet> = classes.iter().filter(|c| **c != 0).map(|c| ThreadSet(*c)).collect();
    let found = if symmetry == Symmetry::Costarted { "started alike" } else { "symmetric at some point" };
    let mut notes: Vec<String> = classes.iter().map(|class| format!("{found}: {}", list(*class))).collect();
    // Pairs with the same reasons, by whether they were alike elsewhere.
    let mut groups: Vec<(bool, u16, Vec<Pair>)> = Vec::new();
    for (a, row) in unlike.iter().enumerate() {
        for (b, &bits) in row.iter().enumerate().filter(|(_, bits)| **bits != 0) {
            let (a, b) = (a as ThreadId, b as ThreadId);
            if a == b {
                notes.push(format!(
                    "not symmetric with others: {}: {}",
                    list(ThreadSet::only(a)),
                    reasons(bits, example)
                ));
                continue;
            }
            let alike = classes.iter().any(|class| class.contains(a) && class.contains(b));
            match groups.iter_mut().find(|group| group.0 == alike && group.1 == bits) {
                Some(group) => group.2.push((a, b)),
                None => groups.push((alike, bits, vec![(a, b)])),
            }
        }
    }
    groups.sort_by_key(|(alike, ..)| *alike);
    for (alike, bits, group) in groups {
        let when = if alike { "not symmetric at other points" } else { "never symmetric" };
        notes.push(format!("{when}: {}: {}", pairs(&group), reasons(bits, example)));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_named_with_their_reasons() {
        let mut unlike = [[0; THREADS]; THREADS];
        unlike[1][2] = why::CODE;
        (unlike[1][3], unlike[2][3]) = (why::LOCALS | why::CODE, why::LOCALS | why::CODE);
        unlike[4][4] = why::IDENTITY;
        let found = notes(&[0b110, 0, 0, 0], &unlike, Symmetry::Dynamic, &|_| None);
        let expected = [
            "symmetric at some point: T1 and T2",
            "not symmetric with others: T4: asks for its own identity",
            "never symmetric: T1 and T3; T2 and T3: residual code differs; live locals differ",
            "not symmetric at other points: T1 and T2: residual code differs",
        ];
        assert_eq!(found, expected);
        assert_eq!(
            notes(&[0b1110], &[[0; THREADS]; THREADS], Symmetry::Costarted, &|_| None),
            ["started alike: T1, T2, T3"]
        );
    }

    #[test]
    fn many_pairs_are_counted() {
        let star: Vec<Pair> = (2..=8).map(|b| (1, b)).collect();
        assert_eq!(pairs(&star), "T1 and T2; T1 and T3; T1 and T4; T1 and T5; 3 more pairs");
        assert_eq!(pairs(&[(1, 2), (1, 3), (2, 3)]), "T1, T2, T3");
    }
}
