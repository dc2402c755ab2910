//! Answers in the formats of other tools.
//!
//! | module | format | read by |
//! |---|---|---|
//! | [`sarif`](mod@sarif) | SARIF 2.1.0 | code scanning, editors |
//! | [`junit`](mod@junit) | JUnit XML | CI servers |
//! | [`csv`](mod@csv) | comma-separated figures | spreadsheets |
//! | [`itf`](mod@itf) | Informal Trace Format | Apalache's and Quint's trace viewers |
//!
//! The first three are functions of the JSON document that every engine prints (`docs/json.md`), so that models, C programs and proofs need
//! nothing of their own here; ITF has typed values, and is made from states.

pub mod csv;
pub mod itf;
pub mod junit;
pub mod sarif;

/// A place written as `file:line`.
pub(crate) fn place(at: &str) -> Option<(&str, u64)> {
    let (file, line) = at.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}
