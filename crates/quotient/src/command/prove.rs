//! `quotient prove` and `quotient verify`: relative safety of constraint programs.

use std::cell::{Cell, RefCell};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Args;
use quotient::promela::ParseOptions;
use quotient::seams::Interrupt;
use quotient_proof::limits::{Limits, Progress};
use quotient_proof::prove::Options;
use quotient_proof::safety::{Order, SafetyOptions};

use super::kind::{Given, Kind, MODELS};
use super::named::Named;
use super::options::{duration, size};
use super::progress::ProgressLine;
use super::proving::{ProveOptions, prove_main};
use super::verifying::verify_main;
use super::{terminal, watch};

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
    #[arg(long, default_value = "breadth", value_parser = Named(Order::NAMES))]
    order: Order,

    /// Drop table entries that a newer one covers
    #[arg(long)]
    evict: bool,

    /// Do not use relative assertions in safety proofs
    #[arg(long)]
    without_assertions: bool,

    /// Do not propose symmetries (exchanges and rotations of processes) to a program that states none
    #[arg(long)]
    without_proposals: bool,

    /// Do not look for invariants: unfold backwards only
    #[arg(long)]
    without_invariants: bool,

    /// Try only the one-level proof of relative assertions
    #[arg(long)]
    one_level_only: bool,

    /// Count goals as the paper's first table does (costs time)
    #[arg(long)]
    paper_counts: bool,

    /// Also look for one-level proofs of the inverses
    #[arg(long)]
    inverses: bool,

    /// End after this time (for example 30s, 10m, 2h) and say what is known
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) max_time: Option<Duration>,

    /// Give up on an assertion after this time
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10m")]
    max_time_each: Duration,

    /// End when the process takes this much memory (for example 500M, 8G) and say what is known
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_memory: Option<u64>,

    /// Write a line about the progress to standard error now and then (for example 60s), for logs
    #[arg(long, value_name = "TIME", value_parser = duration)]
    log_every: Option<Duration>,

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

    /// Say in the program's names why this assertion has its verdict; may be repeated
    #[arg(long, value_name = "NAME")]
    explain: Vec<String>,

    /// Write a picture of the proofs: sets of states and which rules connect them (SVG if the name ends in .svg, else DOT for Graphviz)
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,

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

impl Prove {
    /// The first of the options given that writes a file.
    pub(crate) fn writes(&self) -> Option<&'static str> {
        let written = [
            (&self.certificate, "--certificate"),
            (&self.smtlib, "--smtlib"),
            (&self.picture, "--picture"),
            (&self.horn, "--horn"),
        ];
        written.into_iter().find_map(|(path, name)| path.as_ref().map(|_| name))
    }
}

// What the preprocessor of Promela models is told.
#[derive(Debug, Args)]
pub(crate) struct Preprocessor {
    /// Define a macro of a Promela model
    #[arg(help_heading = MODELS, short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,

    /// Look for #include files of a Promela model here too
    #[arg(help_heading = MODELS, short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
}

impl Prove {
    /// The limits given for all that it does. Those of a table are for each row.
    pub(crate) fn bounds(&self) -> watch::Bounds {
        watch::Bounds { time: self.max_time.filter(|_| self.table.is_none()), memory: self.max_memory }
    }
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

/// What a person sees on standard error while a proof is looked for; reports are written where it was.
#[derive(Clone)]
struct Line(Rc<RefCell<ProgressLine>>);

impl Line {
    /// When to end, telling this line what is going on, if somebody reads it.
    fn limits(&self, interrupt: Interrupt, read: bool) -> Limits {
        let limits = Limits::new(interrupt);
        if !read {
            return limits;
        }
        let (line, shown) = (self.0.clone(), Cell::new(Instant::now()));
        limits.observed(move |Progress { doing, goals, stored }| {
            if shown.get().elapsed() >= Duration::from_millis(100) {
                shown.set(Instant::now());
                line.borrow_mut().counted(&format!("{doing}: {goals} goals, {stored} stored"), goals as u64);
            }
        })
    }
}

/// Standard output, with the line on standard error out of the way.
struct Reports(Line, terminal::Output);

impl Write for Reports {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.0.0.borrow_mut().clear();
        self.1.write(text)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.1.flush()
    }
}

/// Runs `prove`; gives the exit status.
pub(crate) fn main(prove: &Prove, given: &Given) -> u8 {
    // Without a file the example is generated, and there is nothing to preprocess.
    let kind = prove.file.as_deref().map_or(Kind::Proof, Kind::of);
    if let Some(status) = super::refused("prove", given, kind) {
        return status;
    }
    // Rows of a table are limited one by one.
    let limit = if prove.table.is_some() {
        prove.max_time.unwrap_or(prove.max_time_each)
    } else {
        prove.max_time_each
    };
    let safety = SafetyOptions {
        order: prove.order,
        evict: prove.evict,
        max_stored: prove.max_stored,
        max_time: limit,
        ..SafetyOptions::default()
    };
    let line = Line(Rc::new(RefCell::new(ProgressLine::new(false, prove.log_every))));
    let read = prove.log_every.is_some() || std::io::stderr().is_terminal();
    let interrupt = watch::interrupt().clone();
    if let Some(file) = &prove.file {
        watch::about(file, prove.json);
        watch::journal().enter("proving");
    }
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
        without_proposals: prove.without_proposals,
        explain: prove.explain.clone(),
        picture: prove.picture.clone(),
        options: Options {
            safety,
            without_assertions: prove.without_assertions,
            without_invariants: prove.without_invariants,
            one_level_only: prove.one_level_only,
            paper_counts: prove.paper_counts,
            max_time: limit,
            limits: line.limits(interrupt, read),
            explore: prove.explore,
            inverses: prove.inverses,
        },
    };
    let mut reports = Reports(line.clone(), terminal::Output::default());
    let status = prove_main(&options, &mut reports, &mut std::io::stderr());
    let _ = reports.flush();
    line.0.borrow_mut().clear();
    status
}

/// Runs `verify`; gives the exit status.
pub(crate) fn verify(verify: &Verify, given: &Given) -> u8 {
    // The preprocessor is for the program that a certificate is compared with.
    let kind = verify.program.as_deref().map_or(Kind::Proof, Kind::of);
    if let Some(status) = super::refused("verify", given, kind) {
        return status;
    }
    let mut stdout = terminal::Output::default();
    let preprocessor = verify.preprocessor.options();
    let source = verify.program.as_deref();
    let status = verify_main(&verify.certificate, source, &preprocessor, &mut stdout, &mut std::io::stderr());
    let _ = stdout.flush();
    status
}
