//! The command line: one module per subcommand.

mod check;
mod compare;
mod human;
mod json;
mod native;
mod native_report;
mod options;
mod prove;
mod replay;
mod simulate;
mod terminal;
mod usage;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use options::{Command, Options};

/// Exit statuses, the same for every subcommand.
pub(crate) mod status {
    /// Everything asked for was decided and holds.
    pub(crate) const HOLDS: u8 = 0;
    /// Usage or input error.
    pub(crate) const ERROR: u8 = 2;
    /// Undecided: a bound was reached, or something could not be checked.
    pub(crate) const UNDECIDED: u8 = 5;
    /// Deadlock.
    pub(crate) const DEADLOCK: u8 = 11;
    /// Another violation of safety.
    pub(crate) const SAFETY: u8 = 12;
    /// A violation of a temporal property.
    pub(crate) const LIVENESS: u8 = 13;
    /// Data race or crash.
    pub(crate) const RACE_OR_CRASH: u8 = 14;
    /// A bug of the checker.
    pub(crate) const BUG: u8 = 70;
}

/// Reads the command line. `check -- COMMAND` names no file: the command will make it.
fn parse() -> Options {
    let mut words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let builds = words.get(1).is_some_and(|word| word == "check")
        && native::is_build_command(words.get(end + 1..).unwrap_or_default());
    match Options::try_parse_from(&words) {
        Err(error) if builds && error.kind() == clap::error::ErrorKind::MissingRequiredArgument => {
            words.insert(end, native::BUILT.into());
            Options::parse_from(words)
        }
        Err(error) => error.exit(),
        Ok(options) => options,
    }
}

/// Runs the command.
pub(crate) fn main() -> ExitCode {
    usage::start();
    let options = parse();
    watch::start(options.command.bounds());
    let status = match &options.command {
        Command::Check(check) => check::main(check),
        Command::Compare(compare) => compare::main(compare),
        Command::Prove(prove) => prove::main(prove),
        Command::Verify(verify) => prove::verify(verify),
        Command::Replay(replay) => replay::main(replay),
        Command::Simulate(simulate) => simulate::main(simulate),
        Command::Cc(compiler) => native::compile(&compiler.arguments, false),
        Command::Cpp(compiler) => native::compile(&compiler.arguments, true),
    };
    watch::finish();
    ExitCode::from(status)
}
