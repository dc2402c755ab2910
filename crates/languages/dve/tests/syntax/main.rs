//! The DVE front end: messages, robustness.

mod errors;
mod robustness;
