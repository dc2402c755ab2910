//! Relative safety: `p(X), phi |= p(Y), psi`, after Jaffar, Santosa and Voicu, made sound.
//!
//! The rules as printed allow a left unfold after an assumption was used; that proves false claims.
//! Here an assumption (AP) is always the last step on the left of a branch, and only right unfolds
//! follow it. The proof is a table of obligations. Each is unfolded on the left once, completely,
//! and each reduct is either *closed* or becomes an obligation of the table itself:
//!
//! - a reduct by a fact is closed when the right side unfolds to a fact, too;
//! - otherwise by AP: an assertion of the group proved together, or any obligation of the table,
//!   applies to the reduct's state and yields states that are right states after some right unfolds;
//! - or directly (DP): the reduct's state itself is such a right state;
//! - or because the state is unreachable (a safety proof, or an obligation that says so).
//!
//! **Soundness** is induction on the length of the derivation of the left state, for all
//! obligations of the table and all assertions of the group at once: every reduct of an obligation
//! has a derivation shorter by one, so whatever is used to close it is used on a shorter
//! derivation. It does not matter which obligation was created first. Splitting is not an unfold:
//! an assertion's own obligations are all in the table, unfolded.
//!
//! **Length.** Obligation `j` carries `excess(j)`: the right state has a derivation at most that
//! much longer than the left one. A reduct closed by a hypothesis with excess `c` and `r` right
//! unfolds needs `c + r - 1 <= excess(j)`, by DP or a fact `r - 1 <= excess(j)`. Assertions get
//! excess 0 and an obligation created `d` unfolds below them `d`: then the conditions hold along
//! every branch exactly when "right unfolds <= left unfolds" does. A proof under them makes the
//! assertion *length-non-increasing* and so usable in safety proofs.

mod hypothesis;
mod obligation;
mod right;
mod search;
mod split;

pub use hypothesis::Frame;
pub use obligation::{Layout, Obligation, expand, obligations, satisfiable};
pub use search::{
    Closing, Entry, Outcome, Reduct, RelativeOptions, RelativeProof, Support, Used, prove_group,
};
pub use split::{Grain, split};
