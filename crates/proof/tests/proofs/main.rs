//! The prover: papers' examples, random programs, certificates, messages.

mod cells;
mod certificates;
mod errors;
mod forgeries;
mod frontend;
mod integer;
mod invariants;
mod listed;
mod paper;
mod propose;
mod support;
mod volume;
