//! `quotient-bench`: Quotient beside an installed SPIN.
//!
//! Every figure this tool prints comes from running both programs in the same invocation, or
//! from an expectation that `spin-expect` wrote into a model's own header. Nothing is stored
//! elsewhere. See `bench/README.md` for what each subcommand compares and with which flags.

mod agree;
mod beem;
mod beem_formulas;
mod error_kind;
mod expectation;
mod genmc;
mod horn;
mod inspect;
mod instance;
mod native;
mod pan_output;
mod papers;
mod partial_order;
mod pfscan;
mod pinned;
mod process;
mod published;
mod quotient;
mod scale;
mod side_by_side;
mod spacer;
mod speed;
mod spin;
mod spin_expect;
mod strangers;
mod symmetry;
mod symmetry_cost;
mod table;
mod tables;
mod verdicts;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Compares Quotient with SPIN.
#[derive(Parser)]
#[command(name = "quotient-bench", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compute expectation headers of models with an installed SPIN and write them into the files
    SpinExpect(spin_expect::Options),
    /// Compare states, transitions and error kinds of every model with SPIN's
    Agree(agree::Options),
    /// Compare counts and answers on the BEEM benchmarks with the published ones
    Beem(beem::Options),
    /// Compare executions of C programs with what GenMC's tests expect
    Genmc(genmc::Options),
    /// Prove a folder of Horn clauses, beside Z3's Spacer
    Horn(horn::Options),
    /// The paper on thread symmetry in C programs again: what symmetry saves, ours beside theirs
    Inspect(inspect::Options),
    /// States and transitions of Promela models beside those that LTSmin's tests expect
    Ltsmin(published::Options),
    /// Executions of C programs beside the traces that Nidhugg's tests expect
    Nidhugg(published::Options),
    /// Measure what an execution of a C program costs, by one process and by two
    Native(native::Options),
    /// Measure what partial order reduction saves and costs, beside SPIN's
    PartialOrder(partial_order::Options),
    /// The real pfscan without and with symmetry: outcomes, executions, time
    Pfscan(pfscan::Options),
    /// Compare Quotient with the expectation headers of the models; needs no SPIN
    Pinned(pinned::Options),
    /// Measure two workers beside one, checkpoints, and what growth costs
    Scale(scale::Options),
    /// Compare proofs of safety with Z3's Spacer, on the same Horn clauses
    Spacer(spacer::Options),
    /// Compare speed and memory with SPIN's, alternating in one run
    Speed(speed::Options),
    /// Check models of public repositories that are not part of this project
    Strangers(strangers::Options),
    /// What symmetry saves on models of public repositories that are not part of this project
    Symmetry(symmetry::Options),
    /// Measure what the exact form costs beside heap symmetry
    SymmetryCost(symmetry_cost::Options),
    /// The tables of the papers on heap and thread symmetry again, ours beside theirs
    #[command(visible_alias = "papers")]
    Tables(tables::Options),
    /// Compare verdicts on temporal claims with SPIN's
    Verdicts(verdicts::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::SpinExpect(options) => spin_expect::run(&options),
        Command::Agree(options) => agree::run(&options),
        Command::Beem(options) => beem::run(&options),
        Command::Genmc(options) => genmc::run(&options),
        Command::Horn(options) => horn::run(&options),
        Command::Inspect(options) => inspect::run(&options),
        Command::Ltsmin(options) => published::ltsmin(&options),
        Command::Nidhugg(options) => published::nidhugg(&options),
        Command::Native(options) => native::run(&options),
        Command::PartialOrder(options) => partial_order::run(&options),
        Command::Pfscan(options) => pfscan::run(&options),
        Command::Pinned(options) => pinned::run(&options),
        Command::Scale(options) => scale::run(&options),
        Command::Spacer(options) => spacer::run(&options),
        Command::Speed(options) => speed::run(&options),
        Command::Strangers(options) => strangers::run(&options),
        Command::Symmetry(options) => symmetry::run(&options),
        Command::SymmetryCost(options) => symmetry_cost::run(&options),
        Command::Tables(options) => tables::run(&options),
        Command::Verdicts(options) => verdicts::run(&options),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("quotient-bench: {message}");
            ExitCode::from(2)
        }
    }
}
