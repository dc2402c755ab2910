//! The engine: a model and a [`Check`] become an [`Outcome`].
//!
//! [`Model`] is a program with its claims, in any language. [`Check`] says what is asked and which reductions may be used. For
//! each [`Question`] the seams are chosen, with the reasons for what is left off; a search runs; and what it found is
//! executed again and written down. Nothing here prints, and nothing ends the process.

mod apart;
mod ask;
mod asked;
mod audit;
mod branching;
mod check;
mod choices;
mod dot;
mod evidence;
mod fairness;
mod journal;
mod load;
mod mirrored;
mod outcome;
mod perhaps;
mod plan;
mod position;
mod question;
mod recording;
mod relative;
mod searching;
mod second_look;
mod symmetry_choice;
mod unreached;
mod workers;

pub use check::{Check, CheckError, Compile, Disk, Processes};
pub use choices::{PartialOrder, SearchKind, StoreKind};
pub use dot::MOST_DRAWN;
pub use journal::{Journal, Known, KnownViolation};
pub use load::{LoadError, Model};
pub use outcome::{Answer, Applied, Branch, Outcome, ViolationReport};
pub use position::WrittenPath;
pub use question::Question;
pub use quotient_front_end::{ClaimKind, LoadOptions, PropertyKeyword};
pub use quotient_languages::Language;
pub use quotient_outcome::{Incomplete, Limit, Verdict, ViolationKind};
pub use quotient_search::Workers;
pub use relative::{Refused, Relative};
pub use second_look::{Looker, SecondLook};
pub use symmetry_choice::{ForOne, Representative, Symmetry, SymmetryReport, is_ring, representative};
