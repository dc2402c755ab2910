//! Random programs and formulas through every combination of reductions and searches, against answers that share no code
//! with the engine.

mod dynamic_temporal;
mod fair_symmetry;
mod formulas;
mod random_formulas;
mod random_programs;
mod symmetric_formulas;
mod symmetric_programs;
mod temporal_objects;
