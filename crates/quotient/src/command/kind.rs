//! What kind of input a file is, and which options serve which kind.
//!
//! An option that does nothing for an input would leave its user with an answer to another question, so it is refused. What serves what is
//! one table; a test walks all options of the command line through it.

use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory};

use super::{native, options};

/// A kind of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A Promela model.
    Promela,
    /// A BIR model.
    Bir,
    /// A DVE model.
    Dve,
    /// Sources of a C or C++ program.
    Source,
    /// A C or C++ program that was compiled before.
    Program,
    /// A C or C++ program that a build command makes.
    Built,
    /// Constraints, while/await programs, Horn clauses: what only `prove` reads.
    Proof,
    /// A counterexample that `check --trace` wrote.
    Trace,
}

use Kind::{Bir, Built, Dve, Program, Promela, Proof, Source, Trace};

impl Kind {
    /// The kind of a file whose language may have been given.
    pub(crate) fn given(file: &Path, language: Option<quotient::Language>) -> Kind {
        match language {
            Some(quotient::Language::Promela) => Promela,
            Some(quotient::Language::Bir) => Bir,
            Some(quotient::Language::Dve) => Dve,
            None => Kind::of(file),
        }
    }

    /// The kind of a file: by its extension, else by its text. Files of no known kind are taken for Promela, whose front end says
    /// what is wrong with them.
    pub(crate) fn of(file: &Path) -> Kind {
        if quotient_native::build::is_native_source(file) {
            return Source;
        }
        if native::is_native(file) {
            return Program;
        }
        match file.extension().and_then(|e| e.to_str()) {
            Some("bir") => Bir,
            Some("dve") => Dve,
            Some("clp" | "await" | "smt2") => Proof,
            _ if quotient::Language::from_extension(file).is_none() && file.is_file() => {
                let text = std::fs::read(file).unwrap_or_default();
                match quotient::Language::from_text(&String::from_utf8_lossy(&text)) {
                    Some(quotient::Language::Bir) => Bir,
                    _ => Promela,
                }
            }
            _ => Promela,
        }
    }

    /// As an error message says it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Promela => "Promela models",
            Bir => "BIR models",
            Dve => "DVE models",
            Source => "C and C++ programs",
            Program => "compiled programs",
            Built => "programs that a build command makes",
            Proof => "constraint programs",
            Trace => "trace files",
        }
    }

    /// Is it checked by running it?
    pub(crate) fn is_native(self) -> bool {
        matches!(self, Source | Program | Built)
    }
}

const MODELS: &[Kind] = &[Promela, Bir, Dve];
const NATIVE: &[Kind] = &[Source, Program, Built];
const CHECKED: &[Kind] = &[Promela, Bir, Dve, Source, Program, Built];
const REPLAYED: &[Kind] = &[Trace, Source, Program];
const PROVED: &[Kind] = &[Promela, Proof];

/// One option of a subcommand, by the name of its field, and the kinds of input it serves.
type Row = (&'static str, &'static [Kind]);

/// Options of `check`.
const CHECK: &[Row] = &[
    ("file", CHECKED),
    ("language", MODELS),
    ("define", &[Promela, Bir, Source]),
    ("include", &[Promela, Source]),
    ("search", MODELS),
    ("store", MODELS),
    ("symmetry", CHECKED),
    ("audit", MODELS),
    ("por", MODELS),
    ("raw", MODELS),
    ("all", MODELS),
    ("no_deadlock", MODELS),
    ("relative", &[Promela]),
    ("safety", MODELS),
    ("ltl", MODELS),
    ("ctl", MODELS),
    ("invariant", MODELS),
    ("claim", &[Promela, Dve]),
    ("acceptance", &[Promela]),
    ("progress", &[Promela]),
    ("fair", MODELS),
    ("max_states", MODELS),
    ("max_depth", MODELS),
    ("max_memory", CHECKED),
    ("max_time", CHECKED),
    ("full", CHECKED),
    ("steps", MODELS),
    ("trace", MODELS),
    ("dot", MODELS),
    ("json", CHECKED),
    ("quiet", CHECKED),
    ("more", &[Promela, Bir, Dve, Source]),
    ("dpor", NATIVE),
    ("allow_races", NATIVE),
    ("leaks", NATIVE),
    ("spurious", NATIVE),
    ("max_executions", NATIVE),
    ("max_preemptions", NATIVE),
    ("max_steps", NATIVE),
    ("step_time", NATIVE),
    ("nondet", NATIVE),
    ("workers", NATIVE),
    ("arguments", NATIVE),
    ("stdin", NATIVE),
    ("files", NATIVE),
    ("flags", &[Source, Built]),
];

/// Options of `replay`. A schedule is repeated, not explored: options of the exploration mean nothing.
const REPLAY: &[Row] = &[
    ("file", REPLAYED),
    ("schedule", &[Source, Program]),
    ("define", &[Source]),
    ("model", &[Trace]),
    ("gdb", &[Source, Program]),
    ("full", REPLAYED),
    ("steps", &[Trace]),
    ("memory", REPLAYED),
    ("time", REPLAYED),
    ("json", REPLAYED),
    ("more", &[Source]),
    ("dpor", &[]),
    ("allow_races", &[Source, Program]),
    ("leaks", &[Source, Program]),
    ("spurious", &[Source, Program]),
    ("max_executions", &[]),
    ("max_preemptions", &[]),
    ("max_steps", &[]),
    ("step_time", &[Source, Program]),
    ("nondet", &[Source, Program]),
    ("workers", &[]),
    ("arguments", &[Source, Program]),
    ("stdin", &[Source, Program]),
    ("files", &[Source, Program]),
    ("flags", &[Source]),
];

/// Options of `compare`.
const COMPARE: &[Row] = &[
    ("file", MODELS),
    ("language", MODELS),
    ("define", &[Promela, Bir]),
    ("include", &[Promela]),
    ("symmetry", MODELS),
    ("store", MODELS),
    ("max_states", MODELS),
    ("max_memory", MODELS),
    ("max_time", MODELS),
    ("json", MODELS),
    ("csv", MODELS),
];

/// Options of `simulate`.
const SIMULATE: &[Row] = &[
    ("file", MODELS),
    ("language", MODELS),
    ("define", &[Promela, Bir]),
    ("include", &[Promela]),
    ("memory", MODELS),
    ("time", MODELS),
    ("seed", MODELS),
    ("interactive", MODELS),
    ("steps", MODELS),
    ("output_only", MODELS),
];

/// Options of `prove` and `verify` that depend on the input: the preprocessor is that of Promela. All others serve all inputs.
const PROVE: &[Row] = &[("file", PROVED), ("define", &[Promela]), ("include", &[Promela])];

/// The rows of a subcommand.
fn rows(command: &str) -> &'static [Row] {
    match command {
        "check" => CHECK,
        "replay" => REPLAY,
        "compare" => COMPARE,
        "simulate" => SIMULATE,
        "prove" | "verify" => PROVE,
        _ => &[],
    }
}

/// What to use instead.
fn advice(option: &str, kind: Kind) -> Option<&'static str> {
    Some(match (option, kind) {
        ("por" | "raw", _) if kind.is_native() => "--dpor chooses the reduction of a C or C++ program",
        ("dpor", Promela | Bir | Dve) => "--por chooses the partial order reduction of a model",
        ("max_states" | "max_depth", _) if kind.is_native() => {
            "--max-executions and --max-steps bound the exploration of a C or C++ program"
        }
        ("max_executions" | "max_steps", Promela | Bir | Dve) => "--max-states and --max-depth bound a search",
        ("trace", _) if kind.is_native() => {
            "the report has a schedule, and the command that repeats it; --json has its steps"
        }
        ("ltl" | "ctl" | "invariant" | "claim" | "acceptance" | "progress", _) if kind.is_native() => {
            "assert() in the program says what must hold"
        }
        ("all", _) if kind.is_native() => "the check of a C or C++ program ends at the first violation",
        ("define", Program | Built) => "the program is compiled already, or by the command",
        ("define", Trace) => "the trace file has the definitions it was made with",
        ("acceptance" | "progress", Bir) => "BIR has no accept or progress labels; use --ltl",
        ("acceptance" | "progress", Dve) => "the property process says what must not happen; or use --ltl",
        ("define", Dve) => "DVE models have no parameters; change the constants, or what m4 is told",
        ("claim", Bir) => "a BIR model makes no claims of its own; use --ltl, --ctl or --invariant",
        ("more", Program) => "one program is checked at a time",
        _ => return None,
    })
}

/// The options that were given and do not serve inputs of this kind, as an error message; the subcommand itself too.
pub(crate) fn refuse(command: &str, given: &ArgMatches, kind: Kind) -> Result<(), String> {
    let definition = options::Options::command();
    let Some(definition) = definition.find_subcommand(command) else { return Ok(()) };
    for (id, kinds) in rows(command) {
        let was_given = given.try_contains_id(id).unwrap_or(false)
            && given.value_source(id) == Some(ValueSource::CommandLine);
        if !was_given || kinds.contains(&kind) {
            continue;
        }
        if *id == "file" {
            return Err(format!("`quotient {command}` does not apply to {}", kind.name()));
        }
        let argument = definition.get_arguments().find(|a| a.get_id() == id);
        let name = argument.map_or_else(|| (*id).to_owned(), option_name);
        let what = match kinds.is_empty() {
            true => format!("`quotient {command}`"),
            false => kind.name().to_owned(),
        };
        let advice = advice(id, kind).map_or_else(String::new, |advice| format!("\nhelp: {advice}"));
        return Err(format!("{name} does not apply to {what}{advice}"));
    }
    Ok(())
}

/// An option as it is written.
fn option_name(argument: &clap::Arg) -> String {
    match (argument.get_long(), argument.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) if argument.is_last_set() => "what follows `--`".to_owned(),
        (None, None) => "a second file".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever adds an option says which kinds of input it serves.
    #[test]
    fn every_option_is_in_the_table() {
        let definition = options::Options::command();
        for command in ["check", "replay", "compare", "simulate"] {
            let subcommand = definition.find_subcommand(command).expect("a subcommand");
            for argument in subcommand.get_arguments().filter(|a| a.get_id() != "help") {
                let id = argument.get_id().as_str();
                assert!(rows(command).iter().any(|(row, _)| *row == id), "{command}: no row for `{id}`");
            }
        }
    }

    /// No row is left behind when an option goes or is renamed.
    #[test]
    fn every_row_is_an_option() {
        let definition = options::Options::command();
        for command in ["check", "replay", "compare", "simulate"] {
            let subcommand = definition.find_subcommand(command).expect("a subcommand");
            for (id, _) in rows(command) {
                assert!(subcommand.get_arguments().any(|a| a.get_id() == id), "{command}: `{id}`");
            }
        }
    }
}
