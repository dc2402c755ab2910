//! `quotient-prove`: the prover as a command of its own.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use quotient_proof::command::{ProveOptions, prove_main, verify_main};
use quotient_proof::prove::Options;
use quotient_proof::safety::{Order, SafetyOptions};

/// Order of unfolding in safety proofs.
#[derive(Clone, Copy, ValueEnum)]
enum OrderName {
    /// Oldest goal first: stores less.
    Breadth,
    /// Newest goal first.
    Depth,
}

/// Prove or refute the assertions of a constraint program.
///
/// Exit status: 0 everything proved, 10 something refuted, 5 something unknown, 2 bad input.
#[derive(Parser)]
#[command(name = "quotient-prove", version)]
struct Arguments {
    /// Constraint program (`.clp`)
    file: Option<PathBuf>,
    /// Prove only this assertion and what it uses; may be repeated
    #[arg(long = "only", value_name = "NAME")]
    only: Vec<String>,
    /// Print JSON, one object for each assertion
    #[arg(long)]
    json: bool,
    /// Order of unfolding in safety proofs
    #[arg(long, value_enum, default_value = "breadth")]
    order: OrderName,
    /// Drop table entries that a newer one covers
    #[arg(long)]
    evict: bool,
    /// Do not use relative assertions in safety proofs
    #[arg(long)]
    without_assertions: bool,
    /// Try only the one-level proof of relative assertions
    #[arg(long)]
    one_level_only: bool,
    /// Count goals as the paper's first table does (costs time)
    #[arg(long)]
    paper_counts: bool,
    /// Also look for one-level proofs of the inverses
    #[arg(long)]
    inverses: bool,
    /// Give up on an assertion after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    max_time: u64,
    /// Give up on a safety proof after storing this many sets
    #[arg(long, value_name = "N", default_value_t = 2_000_000)]
    max_stored: usize,
    /// Explore at most this many concrete states (for counterexamples and guidance)
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    explore: usize,
    /// Write the proofs as a certificate that `verify` checks
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Write every entailment of the proofs as an SMT-LIB file that a solver must answer `unsat`
    #[arg(long, value_name = "DIR")]
    smtlib: Option<PathBuf>,
    /// Check a certificate instead (with FILE, also that it is about that program)
    #[arg(long, value_name = "CERTIFICATE")]
    verify: Option<PathBuf>,
    /// Print the program and its safety claims as HORN clauses (SMT-LIB) instead of proving them
    #[arg(long)]
    horn: bool,
    /// Print the paper's two tables with our figures beside (use --max-time to limit each row)
    #[arg(long, conflicts_with = "file")]
    table: bool,
    /// Print a generated example instead
    #[arg(long, value_name = "MODEL", requires = "n", conflicts_with = "file")]
    generate: Option<String>,
    /// Size of the generated example
    #[arg(long, value_name = "N")]
    n: Option<usize>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (mut stdout, mut stderr) = (std::io::stdout().lock(), std::io::stderr().lock());
    if let Some(certificate) = &arguments.verify {
        let status = verify_main(certificate, arguments.file.as_deref(), &mut stdout, &mut stderr);
        return ExitCode::from(u8::try_from(status).unwrap_or(2));
    }
    let options = ProveOptions {
        file: arguments.file,
        generate: arguments.generate.zip(arguments.n),
        table: arguments.table,
        horn: arguments.horn,
        only: arguments.only,
        json: arguments.json,
        colour: std::io::IsTerminal::is_terminal(&std::io::stderr()),
        certificate: arguments.certificate,
        smtlib: arguments.smtlib,
        options: Options {
            safety: SafetyOptions {
                order: match arguments.order {
                    OrderName::Breadth => Order::Breadth,
                    OrderName::Depth => Order::Depth,
                },
                evict: arguments.evict,
                max_stored: arguments.max_stored,
                max_time: Duration::from_secs(arguments.max_time),
            },
            without_assertions: arguments.without_assertions,
            one_level_only: arguments.one_level_only,
            paper_counts: arguments.paper_counts,
            max_time: Duration::from_secs(arguments.max_time),
            explore: arguments.explore,
            inverses: arguments.inverses,
        },
    };
    let status = prove_main(&options, &mut stdout, &mut stderr);
    ExitCode::from(u8::try_from(status).unwrap_or(2))
}
