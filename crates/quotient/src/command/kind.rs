//! What kind of input a file is, and which options serve which kind.
//!
//! An option that does nothing for an input would leave its user with an answer to another question, so it is refused. The definition of
//! an option says what it serves by its heading in the help; a test walks all options through all kinds of input.

use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;

use quotient::{Feature, Language};

use super::native;

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
    /// A model with a trail that SPIN wrote.
    Trail,
}

/// Headings of options in the help, each of which says what the options under it serve. Options without one serve all inputs of their
/// subcommand.
pub(crate) const MODELS: &str = "Models";
pub(crate) const SOURCES: &str = "Models and sources of programs";
pub(crate) const NATIVE: &str = "C and C++ programs";
pub(crate) const COMPILED: &str = "C and C++ programs that are compiled now";
pub(crate) const TRACES: &str = "Trace files";

/// Do options under this heading serve such inputs?
fn serves(heading: Option<&str>, kind: Kind) -> bool {
    match heading {
        Some(MODELS) => matches!(kind, Kind::Model(_)),
        Some(SOURCES) => matches!(kind, Kind::Model(_) | Kind::Source | Kind::Trail),
        Some(NATIVE) => kind.is_native(),
        Some(COMPILED) => matches!(kind, Kind::Source | Kind::Built),
        Some(TRACES) => matches!(kind, Kind::Trace | Kind::Trail),
        _ => true,
    }
}

/// What the language of a model must have for an option.
fn needed(option: &str) -> Option<Feature> {
    Some(match option {
        "define" => Feature::Definitions,
        "include" => Feature::Include,
        "relative" | "propose" => Feature::Proofs,
        "claim" => Feature::Claims,
        "acceptance" | "progress" => Feature::Labels,
        _ => return None,
    })
}

/// Does a subcommand serve such inputs at all?
fn applies(command: &str, kind: Kind) -> bool {
    match command {
        "check" => matches!(kind, Kind::Model(_)) || kind.is_native(),
        "replay" => matches!(kind, Kind::Trace | Kind::Trail | Kind::Source | Kind::Program),
        "explore" => matches!(kind, Kind::Model(_) | Kind::Trace | Kind::Source | Kind::Program),
        "prove" | "verify" => kind == Kind::Proof || kind.has(Feature::Proofs),
        _ => matches!(kind, Kind::Model(_)),
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
            Language::from_text(String::from_utf8_lossy(&text).trim_start_matches('\u{feff}'))
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
            Kind::Trail => "trails of SPIN",
        };
        name.to_owned()
    }

    /// Is it a model whose language has this, as far as that is known?
    fn has(self, feature: Feature) -> bool {
        match self {
            Kind::Model(language) => language.is_none_or(|language| language.features().contains(&feature)),
            _ => false,
        }
    }

    /// Is it checked by running it?
    pub(crate) fn is_native(self) -> bool {
        matches!(self, Kind::Source | Kind::Program | Kind::Built)
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

/// What was given to a subcommand, and what could have been.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) definition: clap::Command,
    pub(crate) matches: ArgMatches,
}

impl Given {
    /// Was this option given, and not only its default taken?
    pub(crate) fn has(&self, id: &str) -> bool {
        self.matches.try_contains_id(id).unwrap_or(false)
            && self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }
}

/// The options that were given and do not serve inputs of this kind, as an error message; the subcommand itself too.
pub(crate) fn refuse(command: &str, given: &Given, kind: Kind) -> Result<(), String> {
    if !applies(command, kind) {
        let advice = match kind {
            Kind::Proof => "\nhelp: `quotient prove FILE` proves what they assert",
            _ if kind.is_native() || matches!(kind, Kind::Model(_)) => {
                "\nhelp: `quotient check FILE` checks them"
            }
            _ => "",
        };
        return Err(format!("`quotient {command}` does not apply to {}{advice}", kind.name()));
    }
    for argument in given.definition.get_arguments() {
        let id = argument.get_id().as_str();
        let lacking = matches!(kind, Kind::Model(_)) && needed(id).is_some_and(|feature| !kind.has(feature));
        if given.has(id) && (lacking || !serves(argument.get_help_heading(), kind)) {
            let advice = advice(id, kind).map_or_else(String::new, |advice| format!("\nhelp: {advice}"));
            return Err(format!("{} does not apply to {}{advice}", option_name(argument), kind.name()));
        }
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
    use clap::CommandFactory;

    use super::super::options;
    use super::*;

    fn built() -> clap::Command {
        let mut definition = options::Options::command();
        definition.build();
        definition
    }

    /// A heading that `serves` does not know would serve everything.
    #[test]
    fn every_heading_is_known() {
        let definition = built();
        for subcommand in definition.get_subcommands() {
            for heading in subcommand.get_arguments().filter_map(clap::Arg::get_help_heading) {
                assert!([MODELS, SOURCES, NATIVE, COMPILED, TRACES].contains(&heading), "{heading}");
            }
        }
    }

    /// An option that needs a feature exists.
    #[test]
    fn every_needed_feature_belongs_to_an_option() {
        let definition = built();
        let check = definition.find_subcommand("check").expect("a subcommand");
        let needing = check.get_arguments().filter(|a| needed(a.get_id().as_str()).is_some());
        assert_eq!(needing.count(), 7);
    }
}
