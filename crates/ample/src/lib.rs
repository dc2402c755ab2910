//! Ample sets for programs: implementations of the `Ample` seam, which of the enabled actions must be explored?
//!
//! [`AmpleSets`] proposes the threads whose next steps are independent of everything that the
//! others can still do: see [`mod@sets`] for the conditions and why they suffice for which [`Question`].

mod combination;
mod frames;
pub mod futures;
mod gates;
mod layout;
mod memo;
pub mod objects;
pub mod question;
mod roles;
pub mod sets;
pub mod tables;

pub use question::Question;
pub use sets::{AmpleSets, Independence};
