//! The reference tools from a shell.
//!
//! - `generate --seed S [--size K]` prints a random program;
//! - `interpret FILE [--limit N]` explores a model and prints what was found; for BIR also `-D N=VALUE`.

use quotient_promela::{ParseOptions, parse_file};
use quotient_reference::{bir, generate, interpret, print};
use quotient_source::{SourceMap, render};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: quotient-reference generate --seed S [--size K]
       quotient-reference interpret FILE [--limit N]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let answer = match args.first().map(String::as_str) {
        Some("generate") => generate_command(&args[1..]),
        Some("interpret") => interpret_command(&args[1..]),
        _ => Err(USAGE.to_string()),
    };
    match answer {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

/// The number after `name`, or `default` where it is not given.
fn option(args: &[String], name: &str, default: Option<u64>) -> Result<u64, String> {
    let given = match args.iter().position(|a| a == name) {
        None => default,
        Some(at) => args.get(at + 1).and_then(|v| v.parse().ok()),
    };
    given.ok_or_else(|| format!("{name} needs a number\n{USAGE}"))
}

fn generate_command(args: &[String]) -> Result<String, String> {
    let seed = option(args, "--seed", None)?;
    let size = option(args, "--size", Some(5))?;
    Ok(print(&generate(seed, size as usize)))
}

fn interpret_command(args: &[String]) -> Result<String, String> {
    let file = args.first().ok_or(USAGE)?;
    let limit = option(args, "--limit", Some(1_000_000))?;
    if file.ends_with(".bir") {
        return interpret_bir(file, limit as usize, args);
    }
    let mut map = SourceMap::new();
    let parsed = parse_file(&mut map, Path::new(file), &ParseOptions::default())
        .map_err(|error| format!("{file}: {error}"))?;
    if parsed.diagnostics.has_errors() {
        let messages: Vec<String> = parsed.diagnostics.iter().map(|d| render(&map, d, false)).collect();
        return Err(messages.join("\n"));
    }
    let outcome = interpret(&parsed.model, limit as usize)?;
    Ok(format!(
        "states              {}\ntransitions         {}\ninvalid end states  {}\n\
         assertion failures  {}\nfaults              {:?}\ncomplete            {}\n",
        outcome.states,
        outcome.transitions,
        outcome.invalid_end_states,
        outcome.assertion_failures,
        outcome.faults,
        outcome.complete
    ))
}

fn interpret_bir(file: &str, states: usize, args: &[String]) -> Result<String, String> {
    let mut map = SourceMap::new();
    let parsed =
        quotient_bir::parse_file(&mut map, Path::new(file)).map_err(|error| format!("{file}: {error}"))?;
    let mut diagnostics = parsed.diagnostics;
    let system = parsed.system.ok_or("no system")?;
    diagnostics
        .extend(quotient_bir::lower(&system, &map, &quotient_bir::LowerOptions::default()).diagnostics);
    if diagnostics.has_errors() {
        let messages: Vec<String> = diagnostics.iter().map(|d| render(&map, d, false)).collect();
        return Err(messages.join("\n"));
    }
    let mut constants = Vec::new();
    for (flag, value) in args.iter().zip(args.iter().skip(1)) {
        if flag == "-D" {
            let (name, value) = value.split_once('=').ok_or("-D needs NAME=VALUE")?;
            constants.push((name.to_owned(), value.parse().map_err(|_| "-D needs a number")?));
        }
    }
    let orbits = !args.iter().any(|a| a == "--no-orbits");
    let outcome = bir::explore(&system, &bir::Limits { states, constants, orbits })?;
    Ok(format!(
        "states              {}\n  up to addresses   {}\n  orbits            {}\ntransitions         {}\n\
         violations          {:?}\ncomplete            {}\n",
        outcome.raw, outcome.heap, outcome.orbits, outcome.transitions, outcome.violations, outcome.complete
    ))
}
