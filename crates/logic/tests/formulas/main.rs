//! Random temporal formulas.

mod generate;
mod random_formulas;
mod spin;
