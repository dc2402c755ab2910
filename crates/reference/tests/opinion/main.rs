//! The second opinion itself: its generator, its interpreter, and SPIN as their judge.

mod corners;
mod corpus;
mod coverage;
mod programs;
mod spin;
mod statement_table;
mod verifier;
