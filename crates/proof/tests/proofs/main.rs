//! The prover: papers' examples, random programs, certificates, messages.

mod bounded;
mod cells;
mod certificates;
mod errors;
mod figures;
mod forgeries;
mod frontend;
mod horn_texts;
mod integer;
mod invariants;
mod listed;
mod paper;
mod propose;
mod support;
mod volume;
