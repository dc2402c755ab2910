//! Exit statuses, the same for every subcommand. Those of violations are [`ViolationKind::status`](crate::ViolationKind::status).

/// Everything asked for was decided and holds.
pub const HOLDS: u8 = 0;
/// Usage or input error.
pub const ERROR: u8 = 2;
/// Undecided: a bound was reached, or something could not be checked.
pub const UNDECIDED: u8 = 5;
/// A bug of the checker.
pub const BUG: u8 = 70;

/// The worst of some statuses, which must not be overlooked: bugs, errors, violations (races and crashes before temporal
/// properties, safety, deadlocks, refuted assertions), undecided. There is nothing wrong with none.
pub fn worst(statuses: impl IntoIterator<Item = u8>) -> u8 {
    let rank = |status: &u8| match *status {
        HOLDS => 0,
        UNDECIDED => 1,
        ERROR => u8::MAX - 1,
        BUG => u8::MAX,
        violation => violation,
    };
    statuses.into_iter().max_by_key(rank).unwrap_or(HOLDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_bad_is_overlooked() {
        let from_the_worst_on = [BUG, ERROR, 14, 13, 12, 11, 10, UNDECIDED, HOLDS];
        for (at, worse) in from_the_worst_on.iter().enumerate() {
            for better in &from_the_worst_on[at..] {
                assert_eq!(worst([*better, *worse]), *worse);
                assert_eq!(worst([*worse, *better]), *worse);
            }
        }
        assert_eq!(worst([]), HOLDS);
    }
}
