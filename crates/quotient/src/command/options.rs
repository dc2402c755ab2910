//! Options and their help texts.

use quotient::trace::text::Steps;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use quotient::{PartialOrder, SearchKind, StoreKind};

use super::kind::{MODELS, NATIVE, SOURCES, TRACES};
use super::named::Named;

/// A model checker for concurrent software.
#[derive(Debug, Parser)]
#[command(name = "quotient", version, about, after_help = EXIT_STATUS, max_term_width = 100)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Command,
}

pub(super) const EXIT_STATUS: &str = "\
Exit status:
   0  everything asked for was decided and holds
   1  not as expected (test)
   2  wrong usage or input
   5  undecided: a limit was reached, Ctrl-C, or something could not be checked
  10  refuted (prove)
  11  violated: deadlock or livelock
  12  violated: assertion, invariant or fault
  13  violated: temporal formula, never claim, acceptance or non-progress cycle
  14  violated: data race, crash, misuse of a primitive
  70  a bug in quotient; please report it";

// Of all subcommands only the one that is run is defined with all its options. Options have no description of their own (`///`): it would take the place of the subcommand's.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Check a model or a C or C++ program: deadlocks, assertions, faults, temporal properties, data races
    Check(Box<Check>),
    /// Run a model under every combination of reductions and stores; one table
    Compare(super::compare::Compare),
    /// Prove assertions about a constraint program: safety, and symmetries between its states
    Prove(super::prove::Prove),
    /// Check a certificate that `prove` wrote, independently of the prover
    Verify(super::prove::Verify),
    /// Show a counterexample again: from the file that `check --trace` wrote, a schedule, a trail of SPIN or a witness of SV-COMP
    Replay(Replay),
    /// Run a model once, at random or step by step
    Simulate(Simulate),
    /// Look at runs of a model or program in the browser: what happened, what is true, what could happen next, and why not
    Explore(Explore),
    /// Draw a counterexample as a picture, from the file that `check --trace` wrote: chart, heap or states around a step
    Draw(Draw),
    /// Test models, programs and proofs against what their own comments expect: `// quotient: holds`
    Test(super::expected::Test),
    /// Write answers and counterexamples in other formats: SARIF, JUnit, CSV, ITF, trails of SPIN, witnesses of SV-COMP
    Convert(super::convert::Convert),
    /// Say what command lines of SPIN mean here: spin -a, gcc, ./pan, spin -run
    FromSpin(super::from_spin::FromSpin),
    /// Say what a check with --checkpoint has reached
    Status(super::checkpoint::Status),
    /// Check by several processes on this machine, to try what `check --hosts` does on several machines
    Cluster(super::cluster::Local),
    /// Answer an editor: diagnostics, names, renaming, checks (language server protocol)
    Lsp(super::lsp::Lsp),
    /// Print a script with which a shell completes command lines
    Completions(super::shell::Completions),
    /// Write manual pages
    Man(super::shell::Man),
    /// Compile or link a C program for checking: CC="quotient cc"
    #[command(disable_help_flag = true)]
    Cc(Compiler),
    /// Compile or link a C++ program for checking: CXX="quotient c++"
    #[command(name = "c++", disable_help_flag = true)]
    Cpp(Compiler),
}

impl Command {
    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Check(_) => "check",
            Command::Compare(_) => "compare",
            Command::Prove(_) => "prove",
            Command::Verify(_) => "verify",
            Command::Replay(_) => "replay",
            Command::Simulate(_) => "simulate",
            Command::Explore(_) => "explore",
            Command::Draw(_) => "draw",
            Command::Test(_) => "test",
            Command::Convert(_) => "convert",
            Command::FromSpin(_) => "from-spin",
            Command::Status(_) => "status",
            Command::Cluster(_) => "cluster",
            Command::Lsp(_) => "lsp",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
            Command::Cc(_) => "cc",
            Command::Cpp(_) => "c++",
        }
    }

    /// The limits given for all that it does.
    pub(crate) fn bounds(&self) -> super::watch::Bounds {
        match self {
            Command::Check(check) => super::watch::Bounds { time: check.max_time, memory: check.max_memory },
            Command::Prove(prove) => prove.bounds(),
            Command::Replay(replay) => replay.bounds,
            Command::Simulate(simulate) => simulate.bounds,
            Command::Compare(compare) => super::watch::Bounds { time: None, memory: compare.max_memory },
            _ => super::watch::Bounds::default(),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Compiler {
    /// What the compiler is told
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<std::ffi::OsString>,
}

// The model and what the preprocessor is told.
#[derive(Clone, Debug, Args)]
pub(crate) struct Input {
    /// The model (Promela: .pml, BIR: .bir, DVE: .dve; `-` for standard input) or program (C: .c, C++: .cc, .cpp)
    pub(crate) file: PathBuf,

    /// The language of the model: promela, bir or dve (default: by the file's extension, else by its text)
    #[arg(help_heading = MODELS, long, value_name = "LANGUAGE", value_parser = language)]
    pub(crate) language: Option<quotient::Language>,

    /// Define a macro; it wins over the model's own #define of that name
    #[arg(help_heading = SOURCES, short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) define: Vec<String>,

    /// Look for #include files here too
    #[arg(help_heading = SOURCES, short = 'I', value_name = "DIR")]
    pub(crate) include: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) input: Input,

    /// Order of the search (default: bfs; dfs with --symmetry pc, pc-original and kbots, as in their papers)
    #[arg(help_heading = MODELS, long, value_name = "ORDER", value_parser = Named(SearchKind::NAMES))]
    pub(crate) search: Option<SearchKind>,

    /// How states are kept: tree is smallest and usually fastest
    #[arg(help_heading = MODELS, long, default_value = "tree", value_name = "STORE", value_parser = Named(StoreKind::NAMES))]
    pub(crate) store: StoreKind,

    /// How many threads search a model, or processes explore a C program [default: one per processor; one for what several cannot do]
    #[arg(long, value_name = "N", value_parser = workers)]
    pub(crate) workers: Option<usize>,

    /// Which states stand for others: exact (default), kbots[=K], pc, pc-original, heap or off; for C programs off (default), costarted or dynamic
    #[arg(long, value_name = "ORDER", value_parser = symmetry)]
    pub(crate) symmetry: Option<Symmetry>,

    /// Say more about a reduction: what is exchanged with what, and every line that tells processes apart
    #[arg(help_heading = MODELS, long, value_name = "WHAT")]
    pub(crate) explain: Vec<Explained>,

    /// Afterwards check the reductions on N states (default 10000)
    #[arg(help_heading = MODELS, long, value_name = "N", value_parser = samples, num_args = 0..=1, default_missing_value = "10000")]
    pub(crate) audit: Option<u64>,

    /// Partial order reduction: explore one interleaving of independent steps, where that is sound
    #[arg(help_heading = MODELS, long, default_value = "on", value_name = "ORDER", value_parser = Named(PartialOrder::NAMES))]
    pub(crate) por: PartialOrder,

    /// Switch off all reductions: count states as SPIN does with -o1 -o2 -o3
    #[arg(help_heading = MODELS, long)]
    pub(crate) raw: bool,

    /// Do not stop at the first violation; report one of each kind and place
    #[arg(help_heading = MODELS, long)]
    pub(crate) all: bool,

    /// Do not report deadlocks (invalid end states)
    #[arg(help_heading = MODELS, long)]
    pub(crate) no_deadlock: bool,

    /// Use the symmetries of a certificate that `prove --certificate` wrote for this model
    #[arg(help_heading = MODELS, long, value_name = "FILE", conflicts_with_all = ["symmetry", "por"])]
    pub(crate) relative: Option<PathBuf>,

    /// Propose symmetries of the processes, prove them, and search with those that are proved (safety questions; the report says which)
    #[arg(help_heading = MODELS, long, conflicts_with_all = ["symmetry", "por", "relative"])]
    pub(crate) propose: bool,

    /// Leave the model's own ltl formulas and never claims aside; --ltl, --ctl and --invariant are still checked
    #[arg(help_heading = MODELS, long)]
    pub(crate) safety: bool,

    /// Check a formula of linear temporal logic on all runs, as in an `ltl` block: '[] (p -> <> q)'
    #[arg(help_heading = MODELS, long, value_name = "FORMULA")]
    pub(crate) ltl: Vec<String>,

    /// Check a formula of CTL* in the initial state: 'AG (p -> EF q)', 'A (<>[] p -> E [] q)'
    #[arg(help_heading = MODELS, long, value_name = "FORMULA")]
    pub(crate) ctl: Vec<String>,

    /// Check that an expression holds in every state: 'forall p: P . p@critical -> owner == p'
    #[arg(help_heading = MODELS, long, value_name = "EXPRESSION")]
    pub(crate) invariant: Vec<String>,

    /// Of the model's own claims check only the one with this name
    #[arg(help_heading = MODELS, long, value_name = "NAME", conflicts_with = "safety")]
    pub(crate) claim: Option<String>,

    /// Look for acceptance cycles: runs that pass accept labels of processes infinitely often
    #[arg(help_heading = MODELS, long, conflicts_with = "safety")]
    pub(crate) acceptance: bool,

    /// Look for non-progress cycles: runs that pass progress labels only finitely often
    #[arg(help_heading = MODELS, long, conflicts_with = "safety")]
    pub(crate) progress: bool,

    /// Of infinite runs count only those where a process that can always move does move (weak fairness)
    #[arg(help_heading = MODELS, long)]
    pub(crate) fair: bool,

    /// Stop after this many states
    #[arg(help_heading = MODELS, long, value_name = "N", value_parser = count)]
    pub(crate) max_states: Option<u64>,

    /// Do not go further than this many stored states from the initial one (with partial order, several steps can lie between two)
    #[arg(help_heading = MODELS, long, value_name = "N", value_parser = count)]
    pub(crate) max_depth: Option<u64>,

    /// Stop when the process takes this much memory (for example 500M, 8G)
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_memory: Option<u64>,

    /// Stop after this time (for example 30s, 10m, 2h)
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) max_time: Option<Duration>,

    /// Write what the search finds to this folder as it goes, so that --resume can go on from there after a crash
    #[arg(help_heading = MODELS, long, value_name = "FOLDER", conflicts_with = "resume")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Go on with the check that --checkpoint wrote to this folder; only limits and what is printed can be given anew
    #[arg(help_heading = MODELS, long, value_name = "FOLDER")]
    pub(crate) resume: Option<PathBuf>,

    /// Keep states that do not fit in --max-memory (default: half of the memory) in files in this folder, which must be empty
    #[arg(help_heading = MODELS, long, value_name = "FOLDER", conflicts_with_all = ["checkpoint", "resume"])]
    pub(crate) disk: Option<PathBuf>,

    /// Check together with the processes in this list (one name:port per line, this one's by --process)
    #[arg(help_heading = MODELS, long, value_name = "FILE", conflicts_with = "disk")]
    pub(crate) hosts: Option<PathBuf>,

    /// Which process of --hosts this is, from 0 on; only number 0 prints a report
    #[arg(help_heading = MODELS, long, value_name = "K")]
    pub(crate) process: Option<usize>,

    /// With --hosts, listen at this address of the machine (default: the loopback, for processes on one machine)
    #[arg(help_heading = MODELS, long, value_name = "ADDRESS", value_parser = super::cluster::address)]
    pub(crate) listen: Option<std::net::IpAddr>,

    /// With --hosts, read the token that all processes share from this file (default: environment variable QUOTIENT_TOKEN)
    #[arg(help_heading = MODELS, long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,

    /// With --hosts, wait so long for the other processes (default: 60s)
    #[arg(help_heading = MODELS, long, value_name = "TIME", value_parser = duration)]
    pub(crate) wait: Option<Duration>,

    /// Show every variable after every step of a counterexample
    #[arg(long)]
    pub(crate) full: bool,

    /// Show these steps of a counterexample: A..B, A.., ..B, or all (default: the beginning and the end of a long one)
    #[arg(help_heading = MODELS, long, value_name = "RANGE", default_value = "", hide_default_value = true, value_parser = steps)]
    pub(crate) steps: Steps,

    /// Write the counterexample to a file for `quotient replay`, `explore` and `draw`
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Write the state graph of a small model, or the events of a C program's counterexample, to a file for Graphviz
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,

    /// Write the figures of the search to a file as it goes, a JSON object per line; `quotient draw FILE -o x.svg` makes a picture of it
    #[arg(help_heading = MODELS, long, value_name = "FILE")]
    pub(crate) statistics: Option<PathBuf>,

    /// Show the first counterexample in the browser, as `quotient explore` does, after the report
    #[arg(long, conflicts_with = "json")]
    pub(crate) explore: bool,

    /// Print JSON instead of text: one object, or one per line for several models
    #[arg(long)]
    pub(crate) json: bool,

    /// No progress line
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Write a line about the progress to standard error now and then (for example 60s), for logs
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "quiet")]
    pub(crate) log_every: Option<Duration>,

    #[command(flatten)]
    pub(crate) native: super::native::NativeOptions,

    #[command(flatten)]
    pub(crate) exploration: super::native::Exploration,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The file that `check --trace` wrote, a C or C++ program (with --schedule, or a violation witness in YAML as second file), or a Promela model, with a trail that SPIN wrote for it as second file
    pub(crate) file: PathBuf,

    /// The schedule to repeat, for a C or C++ program
    #[arg(help_heading = NATIVE, long, value_name = "TOKEN")]
    pub(crate) schedule: Option<String>,

    /// Define a macro, for a C or C++ program or a model with a trail
    #[arg(help_heading = SOURCES, short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) define: Vec<String>,

    /// The model, if it is not where the file says
    #[arg(help_heading = TRACES, long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,

    /// C and C++ programs: run under gdb and stop before this step, or at the failing statement (`failure`)
    #[arg(help_heading = NATIVE, long, value_name = "STEP", requires = "schedule", value_parser = super::native::stop)]
    pub(crate) gdb: Option<super::native::Stop>,

    /// Show every variable after every step
    #[arg(long)]
    pub(crate) full: bool,

    /// Show these steps of a counterexample: A..B, A.., ..B, or all (default: the beginning and the end of a long one)
    #[arg(help_heading = TRACES, long, value_name = "RANGE", default_value = "", hide_default_value = true, value_parser = steps)]
    pub(crate) steps: Steps,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) bounds: super::watch::Bounds,

    #[command(flatten)]
    pub(crate) native: super::native::NativeOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Simulate {
    #[command(flatten)]
    pub(crate) input: Input,

    /// Number that decides all random choices; the same seed gives the same run
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Choose every step yourself
    #[arg(short, long, conflicts_with = "seed")]
    pub(crate) interactive: bool,

    /// Stop after this many steps
    #[arg(long, default_value = "10000", value_name = "N")]
    pub(crate) steps: u64,

    /// Show only what the model prints
    #[arg(long)]
    pub(crate) output_only: bool,

    #[command(flatten)]
    pub(crate) bounds: super::watch::Bounds,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("picture"))]
pub(crate) struct Draw {
    /// The trace file, or what `check --statistics` wrote
    pub(crate) file: PathBuf,

    /// The run: a row for each statement, a column for each process (default)
    #[arg(long, group = "picture")]
    pub(crate) chart: bool,

    /// The objects, and what refers to them
    #[arg(long, group = "picture")]
    pub(crate) heap: bool,

    /// The states around a step; of a small model all
    #[arg(long, group = "picture")]
    pub(crate) graph: bool,

    /// The step that heap and graph are drawn at (default: the end of the run)
    #[arg(long, value_name = "N", conflicts_with = "chart")]
    pub(crate) step: Option<usize>,

    /// The file to write: .svg, for charts also .mmd (Mermaid), for heaps and graphs also .dot (Graphviz)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Explore {
    /// The model (Promela: .pml, BIR: .bir, DVE: .dve), a program (C: .c, C++: .cc, .cpp), or a trace file that `check --trace` wrote
    pub(crate) file: PathBuf,

    /// The language of the model: promela, bir or dve (default: by the file's extension, else by its text)
    #[arg(help_heading = MODELS, long, value_name = "LANGUAGE", value_parser = language)]
    pub(crate) language: Option<quotient::Language>,

    /// Define a macro; it wins over the model's own #define of that name
    #[arg(help_heading = SOURCES, short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) define: Vec<String>,

    /// Look for #include files here too
    #[arg(help_heading = SOURCES, short = 'I', value_name = "DIR")]
    pub(crate) include: Vec<PathBuf>,

    /// Where the run is: a position as the page's "Copy link" gives it, or the schedule of a C or C++ program
    #[arg(long, value_name = "POSITION")]
    pub(crate) at: Option<String>,

    /// The step to stand at (default: the end of the run)
    #[arg(long, value_name = "N")]
    pub(crate) step: Option<usize>,

    /// Print the address and do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,

    /// Do not check the model beside (a C or C++ program is checked by a click only)
    #[arg(long)]
    pub(crate) no_check: bool,

    /// The port to listen on, on this machine only (default: one that is free)
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,

    #[command(flatten)]
    pub(crate) native: super::native::NativeOptions,
}

pub(crate) fn count(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.chars().last() {
        Some('k' | 'K') => (&text[..text.len() - 1], 1_000),
        Some('m' | 'M') => (&text[..text.len() - 1], 1_000_000),
        Some('g' | 'G') => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| "write a number, for example 1000000 or 1M".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "too large".into())
}

/// How many workers: at least one, and not more than any machine has processors.
fn workers(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(workers @ 1..=1024) => Ok(workers),
        _ => Err("write a number of threads from 1 to 1024".to_owned()),
    }
}

/// The number after `--audit`, which may be missing: then what follows is taken for it.
fn samples(text: &str) -> Result<u64, String> {
    count(text).map_err(|why| format!("{why}, or put the file before `--audit`"))
}

/// What is to be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Explained {
    Symmetry,
}

/// Which symmetry: of a model's states, of a native program's threads, or none of either.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symmetry {
    pub(crate) of_states: Option<quotient::Symmetry>,
    pub(crate) of_threads: Option<quotient_stateless::Symmetry>,
}

fn symmetry(text: &str) -> Result<Symmetry, String> {
    let threads = quotient_stateless::Symmetry::NAMES.iter().find(|(_, name, _)| *name == text);
    let symmetry =
        Symmetry { of_states: text.parse().ok(), of_threads: threads.map(|(threads, ..)| *threads) };
    if symmetry.of_states.is_none() && symmetry.of_threads.is_none() {
        return Err(
            "write exact, kbots, kbots=K, pc, pc-original, heap or off; for C and C++ programs costarted, dynamic or off"
                .into(),
        );
    }
    Ok(symmetry)
}

/// A language of models by its name.
fn language(text: &str) -> Result<quotient::Language, String> {
    quotient::Language::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = quotient::Language::ALL.iter().map(|l| l.name()).collect();
        format!("write one of {}; C and C++ programs are known by their extension", names.join(", "))
    })
}

pub(crate) fn size(text: &str) -> Result<u64, String> {
    let number = text.trim_end_matches(['B', 'b']).trim_end_matches('i');
    let (digits, shift) = match number.chars().last() {
        Some('k' | 'K') => (&number[..number.len() - 1], 10),
        Some('m' | 'M') => (&number[..number.len() - 1], 20),
        Some('g' | 'G') => (&number[..number.len() - 1], 30),
        _ => (number, 0),
    };
    let value: u64 = digits.parse().map_err(|_| "write a size, for example 500M or 8G".to_owned())?;
    value.checked_mul(1 << shift).ok_or_else(|| "too large".into())
}

pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (digits, factor) = match text.chars().last() {
        Some('s') => {
            (text.trim_end_matches('s').trim_end_matches('m'), if text.ends_with("ms") { 0.001 } else { 1.0 })
        }
        Some('m') => (&text[..text.len() - 1], 60.0),
        Some('h') => (&text[..text.len() - 1], 3600.0),
        _ => (text, 1.0),
    };
    let value: f64 = digits.parse().map_err(|_| "write a time, for example 30s, 10m or 2h".to_owned())?;
    Duration::try_from_secs_f64(value * factor).map_err(|_| "write a time, for example 30s, 10m or 2h".into())
}

/// Definitions as pairs; a name alone means 1.
pub(crate) fn definitions(given: &[String]) -> Vec<(String, String)> {
    let pair = |d: &String| match d.split_once('=') {
        Some((name, value)) => (name.trim().to_owned(), value.to_owned()),
        None => (d.trim().to_owned(), "1".to_owned()),
    };
    given.iter().map(pair).collect()
}

impl Input {
    /// What the front end is told.
    pub(crate) fn load_options(&self) -> quotient::LoadOptions {
        let defines = definitions(&self.define);
        quotient::LoadOptions { defines, include_dirs: self.include.clone(), ..Default::default() }
    }
}

impl Explore {
    /// The model, where it is one.
    pub(crate) fn input(&self) -> Input {
        let Explore { file, language, define, include, .. } = self;
        Input { file: file.clone(), language: *language, define: define.clone(), include: include.clone() }
    }
}

impl Check {
    /// The first of the options given that writes files, or talks to others.
    pub(crate) fn reaches_out(&self) -> Option<&'static str> {
        let reaches = [
            (self.checkpoint.is_some(), "--checkpoint"),
            (self.resume.is_some(), "--resume"),
            (self.disk.is_some(), "--disk"),
            (self.hosts.is_some(), "--hosts"),
            (self.listen.is_some(), "--listen"),
            (self.token_file.is_some(), "--token-file"),
            (self.trace.is_some(), "--trace"),
            (self.dot.is_some(), "--dot"),
            (self.statistics.is_some(), "--statistics"),
            (self.explore, "--explore"),
        ];
        reaches.into_iter().find_map(|(given, name)| given.then_some(name))
    }

    /// What the model is loaded with: definitions and properties.
    pub(crate) fn load_options(&self) -> quotient::LoadOptions {
        use quotient::PropertyKeyword::{Ctl, Invariant, Ltl};
        let mut load = self.input.load_options();
        for (keyword, texts) in [(Invariant, &self.invariant), (Ltl, &self.ltl), (Ctl, &self.ctl)] {
            load.properties.extend(texts.iter().map(|text| (keyword, text.clone())));
        }
        load
    }
}

/// A range of steps; nothing stands for the usual ones.
fn steps(text: &str) -> Result<Steps, String> {
    if text.is_empty() { Ok(Steps::Usual) } else { text.parse() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Options::command().debug_assert();
    }

    /// A description of the options themselves would take its place when they are defined.
    #[test]
    fn a_subcommand_keeps_its_description() {
        use clap::CommandFactory;
        let described = |definition: &clap::Command| -> Vec<_> {
            let subcommands = definition.get_subcommands().filter(|s| s.get_name() != "help");
            subcommands.map(|s| (s.get_name().to_owned(), s.get_about().map(ToString::to_string))).collect()
        };
        let mut definition = Options::command();
        let before = described(&definition);
        assert!(before.len() > 10 && before.iter().all(|(_, about)| about.is_some()), "{before:?}");
        definition.build();
        assert_eq!(described(&definition), before);
    }

    #[test]
    fn numbers_with_units() {
        assert_eq!(count("12"), Ok(12));
        assert_eq!(count("3M"), Ok(3_000_000));
        assert!(count("x").is_err());
        assert_eq!(size("2G"), Ok(2 << 30));
        assert_eq!(size("5MiB"), Ok(5 << 20));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("20ms"), Ok(Duration::from_millis(20)));
        assert!(duration("-1s").is_err());
    }
}
