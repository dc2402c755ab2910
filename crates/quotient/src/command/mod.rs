//! The command line: one module per subcommand.

/// Writes a line to standard error, which may be closed or full: the answer does not depend on it. The macro of the standard library would
/// end the process instead, with a status of its own.
macro_rules! eprintln {
    ($($argument:tt)*) => { $crate::command::terminal::complain(format_args!($($argument)*)) };
}

mod check;
mod checkpoint;
mod cluster;
mod compare;
mod convert;
mod draw;
mod expected;
mod explore;
mod from_spin;
mod human;
mod json;
mod kind;
mod lsp;
mod named;
mod native;
mod native_chart;
mod native_report;
mod options;
mod progress;
mod prove;
mod proving;
mod reference;
mod replay;
mod schedule_file;
mod several;
mod shell;
mod simulate;
mod statistics;
mod terminal;
mod trail;
mod usage;
mod verifying;
mod watch;
mod witness;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use kind::Given;
use options::{Command, Options};

use quotient::status;

/// Reads the command line. `check -- COMMAND` names no file: the command will make it.
fn parse() -> (Options, Given) {
    let mut words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    match checkpoint::resumed(&words) {
        Ok(None) => {}
        Ok(Some(all)) => words = all,
        Err(message) => {
            eprintln!("error: {message}");
            std::process::exit(i32::from(status::ERROR));
        }
    }
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let builds = words.get(1).is_some_and(|word| word == "check")
        && native::is_build_command(words.get(end + 1..).unwrap_or_default());
    let read = |words: &[std::ffi::OsString]| {
        let mut definition = Options::command();
        let mut matches = definition.try_get_matches_from_mut(words)?;
        let options = Options::from_arg_matches(&matches)?;
        let given = matches.remove_subcommand().and_then(|(name, matches)| {
            let definition = std::mem::take(definition.find_subcommand_mut(name)?);
            Some(Given { definition, matches })
        });
        Ok::<_, clap::Error>((options, given.unwrap_or_default()))
    };
    let read_again = match read(&words) {
        Err(error) if builds && error.kind() == clap::error::ErrorKind::MissingRequiredArgument => {
            words.insert(end, native::BUILT.into());
            read(&words)
        }
        other => other,
    };
    read_again.unwrap_or_else(|error| advised(error, &words).exit())
}

/// The error with what to do: about files where a subcommand or option was expected, and files that look like options.
fn advised(mut error: clap::Error, words: &[std::ffi::OsString]) -> clap::Error {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let is_file = |word: &&std::ffi::OsString| std::path::Path::new(word).exists();
    let dashed = || words.iter().skip(1).filter(is_file).find(|w| w.as_encoded_bytes().starts_with(b"-"));
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => words.get(1).filter(is_file).map(|file| {
            let file = file.display();
            format!("a file is checked by: quotient check {file}")
        }),
        ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument => dashed()
            .map(|file| format!("a file whose name begins with a dash is written ./{}", file.display())),
        _ => None,
    };
    // What follows `--` is for the compiler: the tip to write a mistyped option there is none.
    if tip.is_some() || error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
    }
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// A panic is a bug of the checker, and has its exit status. No answer is lost by it: one that was printed came with the end.
fn end_panics_as_bugs() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |information| {
        usual(information);
        eprintln!("error: this is a bug in quotient, please report it");
        std::process::exit(i32::from(status::BUG));
    }));
}

/// Runs the command.
pub(crate) fn main() -> ExitCode {
    usage::start();
    end_panics_as_bugs();
    let (options, given) = parse();
    let given = &given;
    json::begin(options.command.name());
    watch::start(options.command.bounds());
    let status = match &options.command {
        Command::Check(check) => check::main(check, given),
        Command::Compare(compare) => compare::main(compare, given),
        Command::Prove(prove) => prove::main(prove, given),
        Command::Verify(verify) => prove::verify(verify, given),
        Command::Replay(replay) => replay::main(replay, given),
        Command::Simulate(simulate) => simulate::main(simulate, given),
        Command::Explore(explore) => explore::main(explore, given),
        Command::Draw(drawing) => draw::main(drawing),
        Command::Test(test) => expected::main(test),
        Command::Convert(convert) => convert::main(convert),
        Command::FromSpin(from) => from_spin::main(from),
        Command::Status(run) => checkpoint::reached(run),
        Command::Cluster(local) => cluster::main(local),
        Command::Lsp(server) => lsp::main(server),
        Command::Completions(shell) => shell::completions(shell),
        Command::Man(man) => shell::man(man),
        Command::Cc(compiler) => native::compile(&compiler.arguments, false),
        Command::Cpp(compiler) => native::compile(&compiler.arguments, true),
    };
    watch::finish();
    ExitCode::from(status)
}

/// Refuses options that do not serve an input; gives the exit status.
fn refused(command: &str, given: &Given, kind: kind::Kind) -> Option<u8> {
    let message = kind::refuse(command, given, kind).err()?;
    eprintln!("error: {message}");
    Some(status::ERROR)
}
