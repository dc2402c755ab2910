//! The reference tools from a shell: `generate --seed S [--size K]` prints a random program.

use std::process::ExitCode;

const USAGE: &str = "usage: quotient-reference generate --seed S [--size K]\n       quotient-reference outcome --seed S [--size K] [--limit N]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, default: Option<u64>| {
        let given = args.iter().position(|a| a == name).map(|at| args.get(at + 1));
        match given {
            None => default,
            Some(value) => value.and_then(|v| v.parse().ok()),
        }
    };
    let (Some(seed), Some(size), Some(limit)) =
        (option("--seed", None), option("--size", Some(5)), option("--limit", Some(100_000)))
    else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let model = quotient_reference::generate(seed, size as usize);
    match args.first().map(String::as_str) {
        Some("generate") => print!("{}", quotient_reference::print(&model)),
        Some("outcome") => match quotient_reference::interpret(&model, limit as usize) {
            Ok(outcome) => println!("{outcome:?}"),
            Err(message) => {
                eprintln!("{message}");
                return ExitCode::from(2);
            }
        },
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
