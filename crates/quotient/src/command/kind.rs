//! What kind of input a file is, and which options serve which kind.
//!
//! An option that does nothing for an input would leave its user with an answer to another question, so it is refused. What serves what is
//! one table; a test walks all options of the command line through it.

use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory};

use quotient::{Feature, Language};

use super::{native, options};

/// A kind of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A model, in a language that may not be known; then loading it says so.
    Model(Option<Language>),
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

/// Inputs that an option serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Serves {
    /// All models.
    Models,
    /// Models in languages with a feature.
    With(Feature),
    /// Sources of a C or C++ program.
    Sources,
    /// A compiled program.
    Programs,
    /// What a build command makes.
    Builds,
    /// What only `prove` reads.
    Proofs,
    /// A written counterexample.
    Traces,
}

use Serves::{Builds, Models, Programs, Proofs, Sources, Traces, With};

impl Serves {
    fn serves(self, kind: Kind) -> bool {
        match (self, kind) {
            (With(feature), Kind::Model(Some(language))) => language.features().contains(&feature),
            (Models | With(_), Kind::Model(_))
            | (Sources, Kind::Source)
            | (Programs, Kind::Program)
            | (Builds, Kind::Built)
            | (Proofs, Kind::Proof)
            | (Traces, Kind::Trace) => true,
            _ => false,
        }
    }
}

impl Kind {
    /// The kind of a file whose language may have been given.
    pub(crate) fn given(file: &Path, language: Option<Language>) -> Kind {
        if language.is_some() { Kind::Model(language) } else { Kind::of(file) }
    }

    /// The kind of a file: by its extension, else by its text. Everything else is taken for a model in an unknown language.
    pub(crate) fn of(file: &Path) -> Kind {
        if quotient_native::build::is_native_source(file) {
            return Kind::Source;
        }
        if native::is_native(file) {
            return Kind::Program;
        }
        if matches!(file.extension().and_then(|e| e.to_str()), Some("clp" | "await" | "smt2")) {
            return Kind::Proof;
        }
        let shown = || {
            let text = file.is_file().then(|| std::fs::read(file).ok())??;
            Language::from_text(&String::from_utf8_lossy(&text))
        };
        Kind::Model(Language::from_extension(file).or_else(shown))
    }

    /// As an error message says it.
    pub(crate) fn name(self) -> String {
        let name = match self {
            Kind::Model(Some(language)) => return format!("{} models", language.title()),
            Kind::Model(None) => "models",
            Kind::Source => "C and C++ programs",
            Kind::Program => "compiled programs",
            Kind::Built => "programs that a build command makes",
            Kind::Proof => "constraint programs",
            Kind::Trace => "trace files",
        };
        name.to_owned()
    }

    /// Is it checked by running it?
    pub(crate) fn is_native(self) -> bool {
        matches!(self, Kind::Source | Kind::Program | Kind::Built)
    }
}

const MODELS: &[Serves] = &[Models];
const NATIVE: &[Serves] = &[Sources, Programs, Builds];
const CHECKED: &[Serves] = &[Models, Sources, Programs, Builds];
const REPLAYED: &[Serves] = &[Traces, Sources, Programs];
const PROVED: &[Serves] = &[With(Feature::Proofs), Proofs];

/// One option of a subcommand, by the name of its field, and the kinds of input it serves.
type Row = (&'static str, &'static [Serves]);

/// Options of `check`.
const CHECK: &[Row] = &[
    ("file", CHECKED),
    ("language", MODELS),
    ("define", &[With(Feature::Definitions), Sources]),
    ("include", &[With(Feature::Include), Sources]),
    ("search", MODELS),
    ("store", MODELS),
    ("symmetry", CHECKED),
    ("audit", MODELS),
    ("por", MODELS),
    ("raw", MODELS),
    ("all", MODELS),
    ("no_deadlock", MODELS),
    ("relative", &[With(Feature::Proofs)]),
    ("propose", &[With(Feature::Proofs)]),
    ("safety", MODELS),
    ("ltl", MODELS),
    ("ctl", MODELS),
    ("invariant", MODELS),
    ("claim", &[With(Feature::Claims)]),
    ("acceptance", &[With(Feature::Labels)]),
    ("progress", &[With(Feature::Labels)]),
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
    ("log_every", CHECKED),
    ("more", &[Models, Sources]),
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
    ("flags", &[Sources, Builds]),
];

/// Options of `replay`. A schedule is repeated, not explored: options of the exploration mean nothing.
const REPLAY: &[Row] = &[
    ("file", REPLAYED),
    ("schedule", &[Sources, Programs]),
    ("define", &[Sources]),
    ("model", &[Traces]),
    ("gdb", &[Sources, Programs]),
    ("full", REPLAYED),
    ("steps", &[Traces]),
    ("memory", REPLAYED),
    ("time", REPLAYED),
    ("json", REPLAYED),
    ("more", &[Sources]),
    ("dpor", &[]),
    ("allow_races", &[Sources, Programs]),
    ("leaks", &[Sources, Programs]),
    ("spurious", &[Sources, Programs]),
    ("max_executions", &[]),
    ("max_preemptions", &[]),
    ("max_steps", &[]),
    ("step_time", &[Sources, Programs]),
    ("nondet", &[Sources, Programs]),
    ("workers", &[]),
    ("arguments", &[Sources, Programs]),
    ("stdin", &[Sources, Programs]),
    ("files", &[Sources, Programs]),
    ("flags", &[Sources]),
];

/// Options of `compare`.
const COMPARE: &[Row] = &[
    ("file", MODELS),
    ("language", MODELS),
    ("define", &[With(Feature::Definitions)]),
    ("include", &[With(Feature::Include)]),
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
    ("define", &[With(Feature::Definitions)]),
    ("include", &[With(Feature::Include)]),
    ("memory", MODELS),
    ("time", MODELS),
    ("seed", MODELS),
    ("interactive", MODELS),
    ("steps", MODELS),
    ("output_only", MODELS),
];

/// Options of `prove` and `verify` that depend on the input: the preprocessor is that of Promela. All others serve all inputs.
const PROVE: &[Row] =
    &[("file", PROVED), ("define", &[With(Feature::Definitions)]), ("include", &[With(Feature::Include)])];

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
        ("dpor", Kind::Model(_)) => "--por chooses the partial order reduction of a model",
        ("max_states" | "max_depth", _) if kind.is_native() => {
            "--max-executions and --max-steps bound the exploration of a C or C++ program"
        }
        ("max_executions" | "max_steps", Kind::Model(_)) => "--max-states and --max-depth bound a search",
        ("trace", _) if kind.is_native() => {
            "the report has a schedule, and the command that repeats it; --json has its steps"
        }
        ("ltl" | "ctl" | "invariant" | "claim" | "acceptance" | "progress", _) if kind.is_native() => {
            "assert() in the program says what must hold"
        }
        ("all", _) if kind.is_native() => "the check of a C or C++ program ends at the first violation",
        ("define", Kind::Program | Kind::Built) => "the program is compiled already, or by the command",
        ("define", Kind::Trace) => "the trace file has the definitions it was made with",
        ("acceptance" | "progress", Kind::Model(_)) => {
            "the language has no accept or progress labels; use --ltl"
        }
        ("claim", Kind::Model(_)) => {
            "a model in this language makes no claims of its own; use --ltl, --ctl or --invariant"
        }
        ("more", Kind::Program) => "one program is checked at a time",
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
        if !was_given || kinds.iter().any(|k| k.serves(kind)) {
            continue;
        }
        if *id == "file" {
            return Err(format!("`quotient {command}` does not apply to {}", kind.name()));
        }
        let argument = definition.get_arguments().find(|a| a.get_id() == id);
        let name = argument.map_or_else(|| (*id).to_owned(), option_name);
        let what = match kinds.is_empty() {
            true => format!("`quotient {command}`"),
            false => kind.name(),
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
