//! The canonical form on random graphs.

mod exact_form;
#[cfg(feature = "nauty-oracle")]
mod nauty;
mod random_graphs;
