//! Relative safety.
pub mod constraint;
