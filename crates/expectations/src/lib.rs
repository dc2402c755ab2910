//! What is expected of a model, program or proof, written in its own comments:
//!
//! ```text
//! // quotient: holds
//! // quotient: violated assertion line 19
//! // quotient: --raw --all => violated assertion, violated deadlock, states 12, transitions 20
//! // quotient: --all => violated assertion, violated deadlock, at most 9 states
//! ```
//!
//! A line has options of the command (before `=>`, quoted as in a shell) and clauses, separated by commas. Lines with the same options are one
//! expectation: one run answers all their clauses. [`read`] finds the lines of a text, [`judge`] compares clauses with the JSON document of a
//! run (`docs/json.md`), [`bless`] says what the clauses would have to be, and [`rewrite`] writes them.
//!
//! A clause about the verdict is strict: an unexpected violation, a missing one and an answer that is missing are all differences. A line that
//! says nothing about the verdict (`states 19` alone) leaves it open.

mod clause;
mod judge;
mod lines;

pub use clause::{Bound, Clause, Figure};
pub use judge::{Difference, bless, judge};
pub use lines::{Expectation, Malformed, quoted, read, rewrite};
