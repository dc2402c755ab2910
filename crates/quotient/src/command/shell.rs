//! `quotient completions` and `quotient man`: what a shell and a manual know of the command, made from its own definition.

use std::path::PathBuf;

use clap::{Args, CommandFactory};

use super::options::Options;
use super::{status, terminal};

/// Options of `completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Options of `man`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder to write the pages to
    pub(crate) folder: PathBuf,

    /// Write one page in Markdown, reference.md, with every option of every subcommand
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Prints a script for a shell; gives the exit status.
pub(crate) fn completions(options: &Completions) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Options::command(), "quotient", &mut script);
    terminal::product(&String::from_utf8_lossy(&script))
}

/// Writes a page for the command and each subcommand; gives the exit status.
pub(crate) fn man(options: &Man) -> u8 {
    let written = std::fs::create_dir_all(&options.folder).and_then(|()| match options.markdown {
        true => std::fs::write(options.folder.join("reference.md"), reference(Options::command())),
        false => clap_mangen::generate_to(Options::command(), &options.folder),
    });
    match written {
        Ok(()) => status::HOLDS,
        Err(error) => {
            eprintln!("error: cannot write to {}: {error}", options.folder.display());
            status::ERROR
        }
    }
}

/// Every option of every subcommand, as a page in Markdown.
fn reference(mut command: clap::Command) -> String {
    command.build();
    let mut page = String::from(
        "# Every option\n\nWritten by `quotient man docs --markdown` from the command's own definition.\n",
    );
    for subcommand in command.get_subcommands().filter(|s| s.get_name() != "help" && !s.is_hide_set()) {
        let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
        page.push_str(&format!("\n## quotient {}\n\n{about}.\n\n", subcommand.get_name()));
        page.push_str("| option | serves | meaning |\n|---|---|---|\n");
        let shown = subcommand.get_arguments().filter(|a| !a.is_hide_set() && a.get_id() != "help");
        for argument in shown {
            let serves = argument.get_help_heading().unwrap_or("everything");
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let values = argument.get_possible_values();
            let named = |v: &clap::builder::PossibleValue| format!("`{}`", v.get_name());
            let listed = values.iter().filter(|v| !v.is_hide_set()).map(named).collect::<Vec<_>>().join(", ");
            let defaults: Vec<_> =
                argument.get_default_values().iter().map(|v| v.to_string_lossy()).collect();
            let default = defaults.join(", ");
            let mut meaning = cell(&help);
            if !listed.is_empty() && argument.get_action().takes_values() {
                meaning.push_str(&format!(" ({listed})"));
            }
            if !default.is_empty()
                && argument.get_action().takes_values()
                && !argument.is_hide_default_value_set()
            {
                meaning.push_str(&format!("; `{default}` unless told otherwise"));
            }
            page.push_str(&format!("| `{}` | {serves} | {meaning} |\n", cell(&written(argument))));
        }
    }
    page
}

/// An option as it is typed.
fn written(argument: &clap::Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let value = values.first().map(ToString::to_string).filter(|_| argument.get_action().takes_values());
    let names =
        [argument.get_short().map(|s| format!("-{s}")), argument.get_long().map(|l| format!("--{l}"))];
    let names = names.into_iter().flatten().collect::<Vec<_>>().join(", ");
    match (names.is_empty(), value) {
        (true, value) => value.unwrap_or_default(),
        (false, Some(value)) => format!("{names} {value}"),
        (false, None) => names,
    }
}

/// A text on one line, which does not end a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
