//! `quotient check -- make`: the user's own build command, with `quotient cc` and `quotient c++` in place of the compilers.
//!
//! The wrapper writes down what it links; what is there afterwards is what can be checked.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::{Binary, BuildError};
use crate::scratch::Scratch;

/// Names the file that the wrapper writes to.
const LINKED: &str = "QUOTIENT_LINKED";

/// Runs a build command with `quotient`, the path of this program, as compilers; gives the programs that it has linked.
///
/// # Errors
/// If the command cannot be started or fails.
pub fn build(command: &[OsString], quotient: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let Some((program, arguments)) = command.split_first() else { return Ok(Vec::new()) };
    let scratch = Scratch::new().map_err(|e| BuildError::File(std::env::temp_dir(), e))?;
    let list = scratch.path().join("linked");
    let mut run = Command::new(program);
    run.args(arguments).env(LINKED, &list);
    for (variable, name) in [("CC", "cc"), ("CXX", "c++")] {
        let compiler = format!("{} {name}", quotient.display());
        // Assignments of a makefile win over the environment, but not over arguments.
        if Path::new(program).file_name().is_some_and(|p| p == "make" || p == "gmake") {
            run.arg(format!("{variable}={compiler}"));
        }
        run.env(variable, compiler);
    }
    let status = run.status().map_err(|error| BuildError::Compiler(program.clone(), error))?;
    if !status.success() {
        return Err(BuildError::Rejected(format!("{} ends with {status}", program.display())));
    }
    let mut linked: Vec<PathBuf> = Vec::new();
    for line in std::fs::read_to_string(&list).unwrap_or_default().lines() {
        let path = PathBuf::from(line);
        // Trials of a configuration script are gone by now; CMake keeps one.
        let is_trial = path.iter().any(|part| part == "CMakeFiles");
        if !is_trial && !linked.contains(&path) && Binary::is_checkable(&path) {
            linked.push(path);
        }
    }
    Ok(linked)
}

/// Takes note of a program that was linked with these arguments, if somebody wants to know.
pub(crate) fn note_linked(arguments: &[OsString]) {
    let Some(list) = std::env::var_os(LINKED) else { return };
    if arguments.iter().any(|a| a == "-shared") {
        return;
    }
    let after = |(k, argument): (usize, &OsString)| {
        let text = argument.to_string_lossy().into_owned();
        match text.strip_prefix("-o") {
            Some("") => arguments.get(k + 1).cloned(),
            Some(name) => Some(OsString::from(name)),
            None => None,
        }
    };
    let output = arguments.iter().enumerate().filter_map(after).next_back();
    let path = std::path::absolute(output.as_deref().unwrap_or(OsStr::new("a.out")));
    // Nothing depends on it but the comfort of not naming the program.
    if let (Ok(path), Ok(mut file)) = (path, std::fs::OpenOptions::new().create(true).append(true).open(list))
    {
        let _ = std::io::Write::write_all(&mut file, format!("{}\n", path.display()).as_bytes());
    }
}
