//! Parses models and prints what is wrong with them: `parse [-D NAME=VALUE] [--tree] FILE…`.

use std::path::Path;
use std::process::ExitCode;

use quotient_promela::{ParseOptions, parse_file};
use quotient_source::{SourceMap, render};

fn main() -> ExitCode {
    let mut options = ParseOptions::default();
    let (mut tree, mut failed) = (false, 0);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--tree" => tree = true,
            "-D" => {
                let definition = arguments.next().unwrap_or_default();
                let (name, value) = definition.split_once('=').unwrap_or((&definition, "1"));
                options.defines.push((name.to_string(), value.to_string()));
            }
            path => failed += u32::from(!parse(path, &options, tree)),
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(2) }
}

fn parse(path: &str, options: &ParseOptions, tree: bool) -> bool {
    let mut map = SourceMap::new();
    match parse_file(&mut map, Path::new(path), options) {
        Err(error) => {
            println!("{path}: {error}");
            false
        }
        Ok(parsed) => {
            for diagnostic in parsed.diagnostics.iter() {
                println!("{}", render(&map, diagnostic, false));
            }
            let good = !parsed.diagnostics.has_errors();
            println!("{path}: {}", if good { "ok" } else { "errors" });
            if tree {
                println!("{:#?}", parsed.model);
            }
            good
        }
    }
}
