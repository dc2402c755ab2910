//! What tests of all crates share; nothing of it is shipped.
//!
//! - [`Random`]: numbers by which programs are named;
//! - [`setting`]: how much of a volume to run, from the environment;
//! - [`Folder`]: a folder that is gone afterwards;
//! - [`messages`]: erroneous inputs beside what is reported about them;
//! - [`models`]: the models of this repository;
//! - [`spin`]: SPIN's verifiers. Tests that need them are `#[ignore = "needs spin"]`, have `spin` in their names, and are run by
//!   `.ci/run`, which installs it.

mod folder;
mod messages;
mod models;
mod random;
pub mod spin;

pub use folder::Folder;
pub use messages::messages;
pub use models::models;
pub use random::Random;

/// The number that an environment variable sets, or `otherwise`.
pub fn setting(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// Are expected results to be written anew (`QUOTIENT_BLESS=1`)?
pub fn blessing() -> bool {
    std::env::var_os("QUOTIENT_BLESS").is_some()
}
