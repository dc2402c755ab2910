//! `quotient prove` and `quotient verify`: relative safety of constraint programs.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use quotient::promela::ParseOptions;
use quotient_proof::command::{ProveOptions, prove_main, verify_main};
use quotient_proof::prove::Options;
use quotient_proof::safety::{Order, SafetyOptions};

use super::kind::Kind;
use super::{status, terminal};

/// Order of unfolding in safety proofs.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OrderName {
    /// Oldest goal first: stores less
    Breadth,
    /// Newest goal first
    Depth,
}

const EXIT_STATUS: &str = "\
Exit status:
   0  every assertion was proved
   2  wrong usage or input
   5  some assertion is unknown, none refuted
  10  some assertion was refuted";

#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Prove {
    /// The program: constraints (.clp), while/await (.await), Promela (.pml) or Horn clauses (.smt2)
    #[arg(required_unless_present_any = ["table", "generate"])]
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

    /// Write the proofs as a certificate for `quotient verify`
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,

    /// Write every entailment of the proofs as an SMT-LIB file that a solver must answer `unsat` (a name in .smt2: one script)
    #[arg(long, value_name = "DIR")]
    smtlib: Option<PathBuf>,

    /// Print the program as constraints (.clp) instead
    #[arg(long)]
    print: bool,

    /// Write the program and its safety claims as Horn clauses (SMT-LIB; `-` to print them) instead
    #[arg(long, value_name = "FILE")]
    horn: Option<PathBuf>,

    #[command(flatten)]
    preprocessor: Preprocessor,

    /// Print the paper's two tables, or one of them, with our figures beside (--max-time limits each row)
    #[arg(long, value_name = "1|2", num_args = 0..=1, default_missing_value = "0", conflicts_with = "file",
          value_parser = clap::value_parser!(u8).range(0..=2))]
    table: Option<u8>,

    /// Print a generated example instead
    #[arg(long, value_name = "MODEL", requires = "n", conflicts_with = "file")]
    generate: Option<String>,

    /// Size of the generated example
    #[arg(long, value_name = "N")]
    n: Option<usize>,
}

/// What the preprocessor of Promela models is told.
#[derive(Debug, Args)]
pub(crate) struct Preprocessor {
    /// Define a macro of a Promela model
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,

    /// Look for #include files of a Promela model here too
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
}

impl Preprocessor {
    fn options(&self) -> ParseOptions {
        let define = |d: &String| match d.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (d.clone(), "1".to_owned()),
        };
        ParseOptions { defines: self.define.iter().map(define).collect(), include_dirs: self.include.clone() }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The certificate that `prove --certificate` wrote
    certificate: PathBuf,

    /// Also check that it is about this program
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    #[command(flatten)]
    preprocessor: Preprocessor,
}

fn code(status: i32) -> u8 {
    u8::try_from(status).unwrap_or(status::ERROR)
}

/// Runs `prove`; gives the exit status.
pub(crate) fn main(prove: &Prove, given: &clap::ArgMatches) -> u8 {
    // Without a file the example is generated, and there is nothing to preprocess.
    let kind = prove.file.as_deref().map_or(Kind::Proof, Kind::of);
    if let Some(status) = super::refused("prove", given, kind) {
        return status;
    }
    let limit = Duration::from_secs(prove.max_time);
    let order = match prove.order {
        OrderName::Breadth => Order::Breadth,
        OrderName::Depth => Order::Depth,
    };
    let safety = SafetyOptions { order, evict: prove.evict, max_stored: prove.max_stored, max_time: limit };
    let options = ProveOptions {
        file: prove.file.clone(),
        generate: prove.generate.clone().zip(prove.n),
        table: prove.table,
        print: prove.print,
        horn: prove.horn.clone(),
        preprocessor: prove.preprocessor.options(),
        only: prove.only.clone(),
        json: prove.json,
        colour: terminal::colour(),
        certificate: prove.certificate.clone(),
        smtlib: prove.smtlib.clone(),
        options: Options {
            safety,
            without_assertions: prove.without_assertions,
            one_level_only: prove.one_level_only,
            paper_counts: prove.paper_counts,
            max_time: limit,
            explore: prove.explore,
            inverses: prove.inverses,
        },
    };
    code(prove_main(&options, &mut std::io::stdout().lock(), &mut std::io::stderr().lock()))
}

/// Runs `verify`; gives the exit status.
pub(crate) fn verify(verify: &Verify, given: &clap::ArgMatches) -> u8 {
    // The preprocessor is for the program that a certificate is compared with.
    let kind = verify.program.as_deref().map_or(Kind::Proof, Kind::of);
    if let Some(status) = super::refused("verify", given, kind) {
        return status;
    }
    let (mut stdout, mut stderr) = (std::io::stdout().lock(), std::io::stderr().lock());
    let preprocessor = verify.preprocessor.options();
    let source = verify.program.as_deref();
    code(verify_main(&verify.certificate, source, &preprocessor, &mut stdout, &mut stderr))
}
