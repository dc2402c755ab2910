//! Stateless exploration of small programs: closed forms, random programs, counterexamples.

mod closed_forms;
mod contract;
mod counterexamples;
mod counts;
mod memory_models;
mod minimise;
mod parallel;
mod random_programs;
mod verdicts;
