//! Where reductions of programs apply, and that nobody notices them there.

mod local_steps;
mod never_claims;
