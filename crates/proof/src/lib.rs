//! Relative safety: prove that a program's reachable states are closed under a map (a symmetry, a
//! partial or "not quite" symmetry, a serialisation), then use that to shrink safety proofs.
//!
//! After Jaffar, Santosa and Voicu, *Relative Safety*, with the paper's rules made sound (see
//! [`relative`] for what was wrong and which discipline replaces it). Programs are constraint
//! programs over unbounded integers ([`language`], [`program`]); sets of states are conjunctions of
//! linear constraints ([`constraint`]) and value sets ([`domain`]); [`safety`] proves claims about
//! single states, [`relative`] claims about pairs, [`refute`] finds concrete counterexamples, and
//! [`prove`](mod@prove) decides what to try in which order.
//!
//! A *one-level* proof of an assertion and of its inverse is the certificate that its map is an
//! automorphism of the transition relation; [`prove::Report::one_level`] and
//! [`prove::Report::one_level_inverse`] (and the same fields in certificates) say when it exists.
//! Only such assertions may be used as a representative in a forward search.
//!
//! ```
//! use quotient_proof::{language, prove};
//! use quotient_source::{Diagnostics, SourceMap};
//!
//! let mut map = SourceMap::new();
//! let file = map.add(
//!     "counter.clp",
//!     "p(0). p(X') :- p(X), X' = X + 2.
//!      assert natural: p(X) |= X >= 0.
//!      assert even: p(X), X = 3 |= false using natural.",
//! );
//! let program = language::read(&map, file, &mut Diagnostics::new()).unwrap();
//! let reports = prove::prove(&program, &prove::Options::default());
//! assert!(reports.iter().all(|r| matches!(r.verdict, prove::Verdict::Proved)));
//! ```

mod assumptions;
pub mod automorphism;
pub mod canonical;
pub mod cells;
pub mod certificate;
pub mod clock;
pub mod constraint;
pub mod domain;
pub mod explain;
pub mod explicit;
pub mod frontend;
mod groups;
pub mod horn;
pub mod integer;
pub mod invariant;
pub mod inverse;
pub mod language;
pub mod limits;
pub mod models;
pub mod picture;
pub mod program;
pub mod propose;
pub mod prove;
pub mod refute;
pub mod relative;
pub mod report;
pub mod safety;
pub mod step;
pub mod table;

pub use assumptions::check_assumptions;
