//! `check --hosts`: one of several processes that search together; `quotient cluster`: starts such processes on this machine.

use std::ffi::OsString;
use std::io::Read;
use std::net::{IpAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use clap::Args;
use quotient::Model;
use quotient::checkpoint::Identity;
use quotient::cluster::{Cluster, Meeting, Subject, hosts};

use super::kind::Given;
use super::{check, checkpoint, options, status};

/// The environment variable with the token.
const TOKEN: &str = "QUOTIENT_TOKEN";

/// Options that a process may have for itself.
const OWN: &[&str] = &["file", "process", "listen", "hosts", "token_file", "wait"];

/// Options of `cluster`.
#[derive(Debug, Args)]
pub(crate) struct Local {
    /// Start so many processes on this machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) local: u16,

    /// What each of them is to do: `check FILE` with its options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub(crate) command: Vec<OsString>,
}

/// What strangers do not know, from the file or the environment.
fn token(file: Option<&Path>) -> Result<Vec<u8>, String> {
    let token = match file {
        Some(path) => {
            std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?
        }
        None => std::env::var(TOKEN).map_err(|_| {
            format!("several processes need a token that strangers do not know\nhelp: write one into a file that only you can read, and give all processes --token-file FILE, or the environment variable {TOKEN}")
        })?,
    };
    match token.trim().len() {
        0..16 => Err("the token has fewer than 16 characters\nhelp: `openssl rand -hex 16` makes one".into()),
        _ => Ok(token.trim().as_bytes().to_vec()),
    }
}

/// What all processes must have in common.
fn subject(given: &Given, model: &Model) -> Result<Subject, String> {
    let words = checkpoint::words_but(given, OWN);
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let build = Identity::build(env!("CARGO_PKG_VERSION"))
        .map_err(|e| format!("cannot read the program itself: {e}"))?;
    let options = if words.is_empty() { "none".to_owned() } else { words.join(" ") };
    let named =
        [("the program", build), ("the options", options), ("the model's text", check::checksum(model))];
    Ok(named.map(|(name, value)| (name.to_owned(), value)).to_vec())
}

/// Meets the other processes, if there are to be any.
pub(crate) fn meet(
    options: &options::Check,
    given: &Given,
    model: &Model,
) -> Result<Option<Mutex<Cluster>>, String> {
    let Some(list) = &options.hosts else {
        let alone = ["process", "listen", "token_file", "wait"].into_iter().find(|option| given.has(option));
        return match alone {
            Some(option) => Err(format!("--{} is of use with --hosts FILE only", option.replace('_', "-"))),
            None => Ok(None),
        };
    };
    let text = std::fs::read_to_string(list).map_err(|e| format!("cannot read {}: {e}", list.display()))?;
    let meeting = Meeting {
        hosts: hosts(&text).map_err(|e| format!("{}: {e}", list.display()))?,
        process: options.process.unwrap_or(0),
        listen: options.listen,
        token: token(options.token_file.as_deref())?,
        wait: options.wait.unwrap_or(Duration::from_secs(60)),
    };
    let cluster = meeting.meet(&subject(given, model)?).map_err(|e| e.to_string())?;
    Ok(Some(Mutex::new(cluster)))
}

/// Only the first process writes a report: of the others nothing is to be seen on standard output.
pub(crate) fn is_silent(options: &options::Check) -> bool {
    options.process.is_some_and(|process| process > 0)
}

/// Ends this process in the midst of a step that needs another one.
pub(crate) fn lost() -> ! {
    eprintln!("error: process 0 is lost\nhelp: to try again, start all processes with the same commands");
    std::process::exit(i32::from(status::UNDECIDED))
}

/// An address to listen at.
pub(crate) fn address(text: &str) -> Result<IpAddr, String> {
    text.parse()
        .map_err(|_| "an address of this machine in figures, such as 10.0.0.7 or 0.0.0.0 for all".into())
}

/// Ports that are free now, each with a listener that keeps it so.
fn ports(count: u16) -> std::io::Result<Vec<(TcpListener, u16)>> {
    let one = |_| {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        Ok((listener, port))
    };
    (0..count).map(one).collect()
}

/// Runs `cluster`; gives the exit status of the first process.
pub(crate) fn main(local: &Local) -> u8 {
    match start(local) {
        Ok(status) => status,
        Err(message) => {
            eprintln!("error: {message}");
            status::ERROR
        }
    }
}

fn start(local: &Local) -> Result<u8, String> {
    if local.command.first().is_none_or(|word| word != "check") {
        return Err("several processes can only check\nhelp: quotient cluster --local 3 check FILE".into());
    }
    let said = |what: &str, e: std::io::Error| format!("cannot {what}: {e}");
    let listeners = ports(local.local).map_err(|e| said("listen on this machine", e))?;
    let mut secret = [0; 16];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut secret))
        .map_err(|e| said("make a token", e))?;
    let token: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let list = std::env::temp_dir().join(format!("quotient-hosts-{}-{}", std::process::id(), &token[..8]));
    let lines: String = listeners.iter().map(|(_, port)| format!("127.0.0.1:{port}\n")).collect();
    std::fs::write(&list, lines).map_err(|e| said("write the list of hosts", e))?;
    drop(listeners);
    let this = std::env::current_exe().map_err(|e| said("find this program", e))?;
    let run = |process: u16| -> std::io::Result<Child> {
        let mut command = Command::new(&this);
        command.args(&local.command[..1]).arg("--hosts").arg(&list).args(["--process", &process.to_string()]);
        command.args(&local.command[1..]).env(TOKEN, &token).stdin(Stdio::null());
        if process > 0 {
            command.stdout(Stdio::null());
        }
        command.spawn()
    };
    let children: Result<Vec<Child>, _> = (0..local.local).map(run).collect();
    let mut children = children.map_err(|e| said("start a process", e))?;
    let mut ended = Vec::new();
    for child in &mut children {
        // A process that was killed has no status.
        ended.push(child.wait().ok().and_then(|ended| ended.code()).and_then(|code| u8::try_from(code).ok()));
    }
    let _ = std::fs::remove_file(&list);
    Ok(ended.first().copied().flatten().unwrap_or(status::UNDECIDED))
}
