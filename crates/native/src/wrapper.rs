//! `CC="quotient cc"`: a compiler that makes programs which can be checked.
//!
//! The user's compiler is called with the same arguments and the flags of [`crate::build`]. A call that compiles and links at
//! once is cut in two: the sanitizer's flag must not be on a command that links, or its own runtime would be linked.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use crate::build::{
    BuildError, compile_flags, default_compiler, install_runtime, is_native_source, link_flags, spoils,
};
use crate::project::note_linked;
use crate::scratch::Scratch;

/// Flags after which nothing is linked.
const NO_LINK: [&str; 8] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-dumpmachine"];

/// Flags whose value is the next argument.
const WITH_VALUE: [&str; 14] =
    ["-o", "-I", "-D", "-U", "-L", "-l", "-include", "-isystem", "-MF", "-MT", "-MQ", "-x", "-Xlinker", "-T"];

/// Runs the compiler; gives its exit status.
///
/// # Errors
/// If the compiler cannot be started or files cannot be written.
pub fn run(arguments: &[OsString], cpp: bool) -> Result<u8, BuildError> {
    let compiler = default_compiler(cpp);
    let arguments: Vec<&OsString> =
        arguments.iter().filter(|a| !spoils(a) && !starts(a, "-static")).collect();
    let links = !arguments.iter().any(|a| NO_LINK.iter().any(|n| *a == n)) && has_input(&arguments);
    if !links {
        let compiles = has_input(&arguments);
        let mut command = Command::new(&compiler);
        command.args(&arguments);
        if compiles {
            command.args(compile_flags()).arg("-O0");
        }
        return status(command, &compiler);
    }
    let runtime = install_runtime()?;
    let scratch = Scratch::new().map_err(|e| BuildError::File(std::env::temp_dir(), e))?;
    let mut linked: Vec<OsString> = Vec::new();
    let sources: Vec<usize> = inputs(&arguments).into_iter().filter(|&i| is_source(arguments[i])).collect();
    for (index, argument) in arguments.iter().enumerate() {
        if !sources.contains(&index) {
            linked.push((*argument).clone());
            continue;
        }
        let object = scratch.path().join(format!("{index}.o"));
        let mut command = Command::new(&compiler);
        command
            .args(for_compilation(&arguments))
            .args(compile_flags())
            .arg("-O0")
            .arg("-c")
            .arg(argument)
            .arg("-o")
            .arg(&object);
        let code = status(command, &compiler)?;
        if code != 0 {
            return Ok(code);
        }
        linked.push(object.into_os_string());
    }
    let mut command = Command::new(&compiler);
    command.args(&linked).args(link_flags(&runtime));
    let code = status(command, &compiler)?;
    if code == 0 {
        note_linked(&linked);
    }
    Ok(code)
}

fn starts(argument: &OsStr, prefix: &str) -> bool {
    argument.to_string_lossy().starts_with(prefix)
}

fn is_source(argument: &OsStr) -> bool {
    is_native_source(Path::new(argument))
}

/// Positions of the arguments that are files.
fn inputs(arguments: &[&OsString]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut index = 0;
    while index < arguments.len() {
        let argument = arguments[index];
        if WITH_VALUE.iter().any(|flag| *argument == *flag) {
            index += 1;
        } else if !starts(argument, "-") {
            found.push(index);
        }
        index += 1;
    }
    found
}

fn has_input(arguments: &[&OsString]) -> bool {
    !inputs(arguments).is_empty()
}

/// The arguments without files, the output and the linker's flags.
fn for_compilation(arguments: &[&OsString]) -> Vec<OsString> {
    let files = inputs(arguments);
    let mut kept = Vec::new();
    let mut index = 0;
    while index < arguments.len() {
        let argument = arguments[index];
        let takes_value = WITH_VALUE.iter().any(|flag| *argument == *flag);
        let linker = *argument == "-o"
            || *argument == "-Xlinker"
            || *argument == "-T"
            || starts(argument, "-l")
            || starts(argument, "-L")
            || starts(argument, "-Wl,")
            || *argument == "-shared"
            || *argument == "-rdynamic";
        if !files.contains(&index) && !linker {
            kept.push(argument.clone());
            if takes_value && let Some(value) = arguments.get(index + 1) {
                kept.push((*value).clone());
            }
        }
        index += 1 + usize::from(takes_value);
    }
    kept
}

fn status(mut command: Command, compiler: &OsString) -> Result<u8, BuildError> {
    let status = command.status().map_err(|error| BuildError::Compiler(compiler.clone(), error))?;
    Ok(status.code().map_or(1, |code| code as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_for_the_compilation_alone() {
        let all: Vec<OsString> =
            ["-O2", "a.c", "-o", "prog", "-I", "inc", "b.o", "-lm", "-DX=1", "-L", "lib"]
                .map(Into::into)
                .to_vec();
        let all: Vec<&OsString> = all.iter().collect();
        assert_eq!(inputs(&all), [1, 6]);
        assert_eq!(for_compilation(&all), ["-O2", "-I", "inc", "-DX=1"]);
    }
}
