//! What an expectation may ask for, where the files are those of somebody else.
//!
//! An expectation is a command line that the author of a file has written, and so are the options in `quotient.toml`. Testing a folder must not write where its author
//! says, talk to other machines or run commands: programs are compiled with flags of which it is known that they only compile, and run in the
//! sandbox. What else a file asks for is refused, unless the user trusts the files (`--trusted`).

use std::ffi::OsString;

use clap::Parser;

use super::options::{Command, Options};

/// Flags that only say how to compile, by their beginnings.
const COMPILES: [&str; 14] = [
    "-D",
    "-U",
    "-I",
    "-O",
    "-l",
    "-std=",
    "-pedantic",
    "-march=",
    "-mtune=",
    "-mcx16",
    "-fno-",
    "-fwrapv",
    "-fsigned-char",
    "-funsigned-char",
];

/// Warnings hand over anything to assembler, linker or preprocessor behind these.
const HANDS_OVER: [&str; 3] = ["-Wl,", "-Wa,", "-Wp,"];

/// Whole flags that only say how to compile.
const WHOLE: [&str; 4] = ["-pthread", "-ansi", "-w", "-g"];

/// Why a run with these words is not made; `Ok` also where they are no command line, which the run says itself.
pub(super) fn confined(words: &[String]) -> Result<(), String> {
    let all = std::iter::once("quotient".to_owned()).chain(words.iter().cloned());
    let Ok(options) = Options::try_parse_from(all) else { return Ok(()) };
    let (written, flags): (Option<&str>, &[OsString]) = match &options.command {
        Command::Check(check) => (check.reaches_out(), &check.native.flags),
        Command::Prove(prove) => (prove.writes(), &[]),
        _ => (Some("another subcommand"), &[]),
    };
    let foreign = flags.iter().map(|flag| flag.to_string_lossy()).find(|flag| !only_compiles(flag));
    let what = written.map(str::to_owned).or(foreign.map(|flag| format!("`-- {flag}`")));
    match what {
        None => Ok(()),
        Some(what) => Err(format!(
            "{what} may write files, run commands or use the network: not done for what a file asks for \
             (--trusted allows it)"
        )),
    }
}

fn only_compiles(flag: &str) -> bool {
    let warns = flag.starts_with("-W") && !HANDS_OVER.iter().any(|begin| flag.starts_with(begin));
    warns || WHOLE.contains(&flag) || COMPILES.iter().any(|begin| flag.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        confined(&words).err()
    }

    #[test]
    fn what_writes_runs_or_connects_is_refused() {
        for line in [
            "check a.pml --trace x",
            "check a.pml --dot=../x",
            "check a.pml --statistics x",
            "check a.pml --checkpoint x",
            "check a.pml --resume x",
            "check a.pml --disk x",
            "check a.pml --hosts x --process 0",
            "check a.pml --explore",
            "check a -- make",
            "check a.c -- -fplugin=./x.so",
            "check a.c -- -o x",
            "check a.c -- -Wl,-Map=x",
            "check a.c -- -O2 -wrapper x",
            "check a.c -- @x",
            "check a.c -- -save-temps",
            "prove a.clp --certificate x",
            "prove a.clp --smtlib x",
            "prove a.clp --picture x",
            "prove a.clp --horn x",
        ] {
            assert!(refused(line).is_some(), "{line}");
        }
    }

    #[test]
    fn what_only_checks_is_done() {
        for line in [
            "check a.pml --raw --all -D N=3 --max-time 3s --ltl []p",
            "check a.c --allow-races -- -O2 -pthread -Wall -std=c11 -DX=1",
            "prove a.clp --max-time 3s",
            "check a.pml --no-such-option",
        ] {
            assert_eq!(refused(line), None, "{line}");
        }
    }
}
