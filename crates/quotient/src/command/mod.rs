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

/// Runs the command.
pub(crate) fn main() -> ExitCode {
    usage::start();
    let options = Options::parse();
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
    ExitCode::from(status)
}
