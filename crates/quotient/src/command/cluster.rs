//! `check --hosts`: one of several processes that search together; `quotient cluster`: starts such processes on this machine.

use std::ffi::OsString;
use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use quotient::Model;
use quotient::checkpoint::{Checkpoint, Identity};
use quotient::cluster::{Cluster, Meeting, Subject, hosts};

use super::kind::Given;
use super::{check, checkpoint, options, status};

/// The environment variable with the token.
const TOKEN: &str = "QUOTIENT_TOKEN";

/// Tells processes that `quotient cluster` has started them, and how many.
const LOCAL: &str = "QUOTIENT_CLUSTER";

/// What to do when a process is lost, for where there is no time to ask.
static AGAIN: OnceLock<String> = OnceLock::new();

/// Options that a process may have for itself.
const OWN: &[&str] = &["file", "process", "listen", "hosts", "token_file", "wait"];

/// How processes are started on several machines.
const MACHINES: &str = "\
On several machines each process is started by itself, with a list of all (name:port, one per line) and a token that strangers do not know:
  ssh         for k in 0 1 2; do ssh node$k \"quotient check big.pml --hosts hosts.txt --process $k --listen 0.0.0.0 --token-file ~/.token\" & done; wait
  Slurm       srun --ntasks=3 --ntasks-per-node=1 sh -c 'quotient check big.pml --hosts hosts.txt --process $SLURM_PROCID --listen 0.0.0.0 --token-file ~/.token'
  Kubernetes  quotient check big.pml --hosts hosts.txt --process $JOB_COMPLETION_INDEX --listen 0.0.0.0   (an indexed Job, QUOTIENT_TOKEN from a Secret)
With --checkpoint FOLDER the same commands with --resume FOLDER go on after a crash, `quotient status FOLDER` says how far they are.";

// Options of `cluster`.
#[derive(Debug, Args)]
#[command(after_help = MACHINES)]
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

/// Which process this is, and how many there are, if there are several.
pub(crate) fn place(
    process: Option<usize>,
    hosts: Option<&PathBuf>,
) -> Result<Option<(usize, usize)>, String> {
    let Some(list) = hosts else { return Ok(None) };
    Ok(Some((process.unwrap_or(0), self::list(list)?.len())))
}

/// The places of all processes.
fn list(list: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(list).map_err(|e| format!("cannot read {}: {e}", list.display()))?;
    hosts(&text).map_err(|e| format!("{}: {e}", list.display()))
}

/// The command with which processes go on from a checkpoint.
pub(crate) fn resuming(folder: &Path, options: &options::Check) -> String {
    let folder = folder.display();
    match (&options.hosts, std::env::var(LOCAL)) {
        (None, _) => format!("quotient check --resume {folder}"),
        (Some(_), Ok(count)) => format!("quotient cluster --local {count} check --resume {folder}"),
        (Some(list), Err(_)) => {
            format!("quotient check --resume {folder} --hosts {} --process K", list.display())
        }
    }
}

/// What all processes must have in common.
fn subject(options: &options::Check, given: &Given, model: &Model) -> Result<Subject, String> {
    let words = checkpoint::words_but(given, OWN);
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let build = Identity::build(env!("CARGO_PKG_VERSION"))
        .map_err(|e| format!("cannot read the program itself: {e}"))?;
    let words = if words.is_empty() { "none".to_owned() } else { words.join(" ") };
    let checkpoint = match (&options.checkpoint, &options.resume) {
        (None, None) => "none",
        (Some(_), _) => "begun",
        (None, Some(_)) => "gone on with",
    };
    let named = [
        ("the program", build),
        ("the options", words),
        ("the model's text", check::checksum(model)),
        ("the checkpoint", checkpoint.to_owned()),
    ];
    Ok(named.map(|(name, value)| (name.to_owned(), value)).to_vec())
}

/// Meets the other processes, if there are to be any.
pub(crate) fn meet(
    options: &options::Check,
    given: &Given,
    model: &Model,
    checkpoint: Option<&Mutex<Checkpoint>>,
) -> Result<Option<Mutex<Cluster>>, String> {
    let Some(list) = &options.hosts else {
        let alone = ["process", "listen", "token_file", "wait"].into_iter().find(|option| given.has(option));
        return match alone {
            Some(option) => Err(format!("--{} needs --hosts FILE", option.replace('_', "-"))),
            None => Ok(None),
        };
    };
    let again = match options.checkpoint.as_ref().or(options.resume.as_ref()) {
        Some(folder) => format!("`{}` goes on", resuming(folder, options)),
        None => "to try again, start all processes with the same commands".to_owned(),
    };
    AGAIN.get_or_init(|| again.clone());
    let meeting = Meeting {
        hosts: self::list(list)?,
        process: options.process.unwrap_or(0),
        listen: options.listen,
        token: token(options.token_file.as_deref())?,
        wait: options.wait.unwrap_or(Duration::from_secs(60)),
        again,
    };
    let subject = subject(options, given, model)?;
    let met = match handed_over(&meeting) {
        Some(listener) => meeting.meet_at(&listener, &subject),
        None => meeting.meet(&subject),
    };
    let mut cluster = met.map_err(|e| e.to_string())?;
    if let Some(checkpoint) = checkpoint {
        let mut checkpoint = checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
        let run = cluster.share(checkpoint.run())?;
        if !checkpoint.joins(&run)? {
            return Err(format!(
                "the checkpoint in {} is not of the run that process 0 goes on with\nhelp: each process needs the folder that it wrote to in the same run",
                checkpoint.folder().display()
            ));
        }
    }
    Ok(Some(Mutex::new(cluster)))
}

/// Where `quotient cluster` has listened for this process, which has it as its standard input: nobody else can take the port in between.
#[cfg(unix)]
fn handed_over(meeting: &Meeting) -> Option<TcpListener> {
    use std::os::fd::AsFd;
    std::env::var_os(LOCAL)?;
    let listener = TcpListener::from(std::io::stdin().as_fd().try_clone_to_owned().ok()?);
    let place = listener.local_addr().ok()?.to_string();
    (meeting.hosts.get(meeting.process) == Some(&place)).then_some(listener)
}

#[cfg(not(unix))]
fn handed_over(_: &Meeting) -> Option<TcpListener> {
    None
}

/// A listener as the standard input of the process that is to have it.
#[cfg(unix)]
fn hand_over(listener: TcpListener) -> Stdio {
    Stdio::from(std::os::fd::OwnedFd::from(listener))
}

#[cfg(not(unix))]
fn hand_over(_: TcpListener) -> Stdio {
    Stdio::null()
}

/// Only the first process writes a report: of the others nothing is to be seen on standard output.
pub(crate) fn is_silent(options: &options::Check) -> bool {
    options.process.is_some_and(|process| process > 0)
}

/// Ends this process in the midst of a step that needs another one.
pub(crate) fn lost() -> ! {
    eprintln!("error: process 0 is lost; {}", AGAIN.get().map_or("", String::as_str));
    std::process::exit(i32::from(status::UNDECIDED))
}

/// An address to listen at.
pub(crate) fn address(text: &str) -> Result<IpAddr, String> {
    text.parse()
        .map_err(|_| "an address of this machine in figures, such as 10.0.0.7 or 0.0.0.0 for all".into())
}

/// Ports that are free now, each with a listener that keeps it so.
fn ports(count: u16) -> std::io::Result<Vec<(TcpListener, SocketAddr)>> {
    let one = |_| {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let place = listener.local_addr()?;
        Ok((listener, place))
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
    let lines: String = listeners.iter().map(|(_, place)| format!("{place}\n")).collect();
    std::fs::write(&list, lines).map_err(|e| said("write the list of hosts", e))?;
    let this = std::env::current_exe().map_err(|e| said("find this program", e))?;
    let run = |(process, (listener, _)): (usize, (TcpListener, _))| -> std::io::Result<Child> {
        let mut command = Command::new(&this);
        command.args(&local.command[..1]).arg("--hosts").arg(&list).args(["--process", &process.to_string()]);
        command.args(&local.command[1..]).env(TOKEN, &token).stdin(hand_over(listener));
        command.env(LOCAL, local.local.to_string());
        if process > 0 {
            command.stdout(Stdio::null());
        }
        command.spawn()
    };
    let children: Result<Vec<Child>, _> = listeners.into_iter().enumerate().map(run).collect();
    let mut children = children.map_err(|e| said("start a process", e))?;
    let ended = wait(&mut children);
    let _ = std::fs::remove_file(&list);
    // Where one has refused, that is the answer.
    let refused = ended.iter().flatten().find(|ended| **ended == status::ERROR);
    Ok(refused.copied().or(ended.first().copied().flatten()).unwrap_or(status::UNDECIDED))
}

/// How long processes have to end when one of them has refused to begin: they would wait for it in vain.
const REFUSED: Duration = Duration::from_secs(3);

/// Waits for all processes; gives their exit statuses. One that was killed has none.
fn wait(children: &mut [Child]) -> Vec<Option<u8>> {
    let mut ended: Vec<Option<Option<u8>>> = vec![None; children.len()];
    let mut refused = None;
    while ended.iter().any(Option::is_none) {
        for (child, ended) in children.iter_mut().zip(&mut ended).filter(|(_, ended)| ended.is_none()) {
            match child.try_wait() {
                Ok(None) => {}
                Ok(Some(how)) => *ended = Some(how.code().and_then(|code| u8::try_from(code).ok())),
                Err(_) => *ended = Some(None),
            }
            if *ended == Some(Some(status::ERROR)) {
                refused.get_or_insert_with(Instant::now);
            }
        }
        if refused.is_some_and(|since| since.elapsed() > REFUSED) {
            for (child, _) in children.iter_mut().zip(&ended).filter(|(_, ended)| ended.is_none()) {
                // One that has ended meanwhile is seen above.
                let _ = child.kill();
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    ended.into_iter().map(Option::flatten).collect()
}
