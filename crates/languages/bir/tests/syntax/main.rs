//! The BIR front end: messages, robustness.

mod errors;
mod robustness;
