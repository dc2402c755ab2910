//! `quotient completions` and `quotient man`: what a shell and a manual know of the command, made from its own definition.

use std::path::PathBuf;

use clap::{Args, CommandFactory};

use super::options::Options;
use super::{reference, status, terminal};

// Options of `completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

// Options of `man`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder to write the pages to
    pub(crate) folder: PathBuf,

    /// Write one page in Markdown, reference.md: every option, exit status and field of JSON
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
        true => std::fs::write(options.folder.join("reference.md"), reference::page(Options::command())),
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
