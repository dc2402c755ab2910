//! Ample sets for programs: implementations of the `Ample` seam, which of the enabled actions must be explored?
//!
//! [`AmpleSets`] proposes the threads whose next steps are independent of everything that the
//! others can still do: see [`mod@sets`] for the conditions and why they suffice for which [`Question`]. [`DynamicSets`] does
//! the same for programs with objects.

mod combination;
pub mod dynamic;
pub mod futures;
mod gates;
mod layout;
mod memo;
pub mod objects;
pub mod question;
pub mod sets;
pub mod tables;

pub use dynamic::DynamicSets;
pub use question::Question;
pub use sets::AmpleSets;
