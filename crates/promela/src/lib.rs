//! Promela, the input language of SPIN 6.5: preprocessor, parser and syntax tree, and the
//! translation of a model to a program.

pub mod ast;
