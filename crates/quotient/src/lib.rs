//! Quotient is a model checker for concurrent software. This crate is the command and the library facade.
//!
//! # Checking a Promela model
//!
//! ```
//! use quotient::{Check, Model};
//!
//! let text = "byte x; active [2] proctype P() { x++; assert(x <= 2) }";
//! let model = Model::from_text("counter.pml", text).expect("a correct model");
//! let outcome = model.check(&Check::default()).expect("small enough");
//! assert!(outcome.holds());
//! ```
//!
//! # Checking your own type
//!
//! Anything that implements [`seams::Model`] can be checked with every search and store.
//!
//! ```
//! use quotient::seams::{self, Typed};
//! use quotient::{search, visited};
//!
//! /// Two jugs of 3 and 5 litres. Can one of them ever hold exactly 4?
//! struct Jugs;
//!
//! impl seams::Model for Jugs {
//!     type State = (u8, u8);
//!
//!     fn initial(&self) -> Vec<(u8, u8)> {
//!         vec![(0, 0)]
//!     }
//!
//!     fn next(&self, &(a, b): &(u8, u8)) -> Vec<(u8, u8)> {
//!         let to_b = a.min(5 - b);
//!         let to_a = b.min(3 - a);
//!         vec![(3, b), (a, 5), (0, b), (a, 0), (a - to_b, b + to_b), (a + to_a, b - to_a)]
//!     }
//!
//!     fn check(&self, &(_, b): &(u8, u8)) -> Result<(), String> {
//!         if b == 4 { Err("the large jug holds 4 litres".into()) } else { Ok(()) }
//!     }
//! }
//!
//! let report = search::breadth_first(
//!     search::Seams {
//!         system: &mut Typed::new(Jugs),
//!         representative: &mut quotient::seams::Identity,
//!         ample: &mut quotient::seams::All,
//!         visited: &mut visited::Tree::new(),
//!     },
//!     &mut search::Options::default(),
//! );
//! let found = &report.found[0];
//! assert_eq!(found.path.choices.len(), 7); // the initial state and six steps, the fewest possible
//! ```

pub use quotient_engine::*;
pub use quotient_front_end::Feature;
pub use quotient_outcome::{self as outcome, status};

pub use quotient_ample as ample;
pub use quotient_bir as bir;
pub use quotient_checkpoint as checkpoint;
pub use quotient_cluster as cluster;
pub use quotient_logic as logic;
pub use quotient_machine as machine;
pub use quotient_program as program;
pub use quotient_promela as promela;
pub use quotient_proof as proof;
pub use quotient_seams as seams;
pub use quotient_search as search;
pub use quotient_source as source;
pub use quotient_symmetry as symmetry;
pub use quotient_trace as trace;
pub use quotient_visited as visited;
