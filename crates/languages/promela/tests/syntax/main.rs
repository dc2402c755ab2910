//! The Promela front end: grammar, preprocessor, messages, robustness.

mod errors;
mod formula;
mod grammar;
mod inline;
mod preprocess;
mod robustness;
mod show;
