//! Answers in the formats of other tools.
//!
//! | module | format | read by |
//! |---|---|---|
//! | [`sarif`](mod@sarif) | SARIF 2.1.0 | code scanning, editors |
//! | [`junit`](mod@junit) | JUnit XML | CI servers |
//! | [`csv`](mod@csv) | comma-separated figures | spreadsheets |
//! | [`itf`](mod@itf) | Informal Trace Format | Apalache's and Quint's trace viewers |
//! | [`trail`](mod@trail) | SPIN's trails | `spin -t` |
//! | [`witness`](mod@witness) | violation witnesses in YAML | validators of SV-COMP |
//!
//! The first three are functions of the JSON document that every engine prints (`docs/json.md`), so that models, C programs and proofs need
//! nothing of their own here; ITF has typed values, and is made from states; a trail has numbers of statements, and a witness lines
//! with threads.

pub mod csv;
pub mod itf;
pub mod junit;
pub mod sarif;
pub mod trail;
pub mod witness;

/// A place written as `file:line`.
pub(crate) fn place(at: &str) -> Option<(&str, u64)> {
    let (file, line) = at.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}
