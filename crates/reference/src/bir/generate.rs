//! Random BIR programs.
