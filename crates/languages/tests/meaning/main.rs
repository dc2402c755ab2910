//! What programs of each language mean: counts and verdicts against SPIN and independent interpreters.

mod bir;
mod dve;
mod promela;
mod statement_table;
