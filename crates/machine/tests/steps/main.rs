//! Steps of programs: explained, by several workers, and what no modelling language says yet.

mod committed;
mod explained;
mod threads;
mod translated;
mod workers;
