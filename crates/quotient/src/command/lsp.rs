//! `quotient lsp`: the language server. Checks and the explorer run as processes of their own, so that a check that takes all memory
//! or is broken off takes no editor with it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Args;
use quotient_lsp::Host;
use serde_json::Value;

use super::status;

// Options of the subcommand.
#[derive(Debug, Args)]
pub(crate) struct Lsp {
    /// Talk over standard input and output, as is done anyway; editors like to say so
    #[arg(long)]
    pub(crate) stdio: bool,

    /// A check asked for in the editor ends after this time
    #[arg(long, value_name = "TIME", default_value = "1m")]
    pub(crate) max_time: String,
}

/// Runs the subcommand; gives the exit status.
pub(crate) fn main(options: &Lsp) -> u8 {
    let host = Arc::new(Processes { max_time: options.max_time.clone(), running: Mutex::default() });
    match quotient_lsp::serve(BufReader::new(std::io::stdin()), std::io::stdout(), host) {
        true => status::HOLDS,
        false => status::ERROR,
    }
}

/// What was started for an editor.
struct Processes {
    max_time: String,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    /// The check that runs, and its number.
    check: Option<(u64, Child)>,
    checks: u64,
    /// The explorers that are open, with their addresses.
    explorers: HashMap<PathBuf, (Child, String)>,
}

impl Processes {
    fn running(&self) -> MutexGuard<'_, Running> {
        // What a thread that panicked has left is still a list of processes.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn this_program() -> Result<Command, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

fn end(mut child: Child) {
    // It may have ended by itself.
    _ = child.kill();
    _ = child.wait();
}

impl Host for Processes {
    fn check(&self, file: &Path, claim: Option<&str>) -> Result<Value, String> {
        let mut command = this_program()?;
        command.arg("check").arg(file).args(["--json", "--max-time", &self.max_time]);
        command.args(claim.map(|claim| format!("--claim={claim}")));
        let mut child = command.spawn().map_err(|error| format!("the check does not start: {error}"))?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let number = {
            let mut running = self.running();
            running.checks += 1;
            let number = running.checks;
            if let Some((_, before)) = running.check.replace((number, child)) {
                end(before);
            }
            number
        };
        let err = std::thread::spawn(move || read(err));
        let out = read(out);
        let err = err.join().unwrap_or_default();
        let mut running = self.running();
        if running.checks != number {
            return Err("another check was begun before this one had ended".to_owned());
        }
        if let Some((_, child)) = running.check.take() {
            end(child);
        }
        serde_json::from_str(&out).map_err(|_| {
            let said = err.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing was said");
            format!("the check gave no answer: {said}")
        })
    }

    fn explore(&self, file: &Path) -> Result<String, String> {
        let mut running = self.running();
        if let Some((child, address)) = running.explorers.get_mut(file)
            && matches!(child.try_wait(), Ok(None))
        {
            return Ok(address.clone());
        }
        let mut command = this_program()?;
        command.arg("explore").arg(file).arg("--no-open");
        let mut child = command.spawn().map_err(|error| format!("the explorer does not start: {error}"))?;
        let mut address = String::new();
        let printed = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut address));
        if !matches!(printed, Some(Ok(1..))) {
            let said = read(child.stderr.take());
            end(child);
            return Err(format!("the explorer does not start: {}", said.lines().next().unwrap_or("")));
        }
        // Nobody reads what it says after that.
        let err = child.stderr.take();
        std::thread::spawn(move || read(err));
        let address = address.trim().to_owned();
        if let Some((before, _)) = running.explorers.insert(file.to_owned(), (child, address.clone())) {
            end(before);
        }
        Ok(address)
    }

    fn end(&self) {
        let mut running = self.running();
        running.check.take().into_iter().for_each(|(_, child)| end(child));
        running.explorers.drain().for_each(|(_, (child, _))| end(child));
    }
}

fn read(from: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What cannot be read is missing from the answer, which is then not an answer.
    let _ = from.map(|mut from| from.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}
