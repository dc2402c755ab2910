//! One run of this program in a process of its own.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::kind::Kind;
use super::super::watch;
use super::confined::confined;
use super::files::Found;

/// What came of a run.
pub(super) enum Answer {
    /// Its JSON document.
    Document(Value),
    /// There is none: why.
    None(String),
    /// The user has stopped everything.
    Stopped,
}

/// Whose the files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// The user's own: what they ask for is done.
    Own,
    /// Of somebody else: they cannot name files to write or commands to run.
    Foreign,
}

/// How long a process may take to end when it is told to.
const GRACE: Duration = Duration::from_secs(3);

/// Subcommands that an expectation can name.
const COMMANDS: [&str; 2] = ["check", "prove"];

/// The words of the run, without the program.
pub(super) fn words(file: &Found, options: &[String]) -> Vec<String> {
    let (command, options) = match options.split_first() {
        Some((first, rest)) if COMMANDS.contains(&first.as_str()) => (first.as_str(), rest),
        _ if file.kind == Kind::Proof => ("prove", options),
        _ => ("check", options),
    };
    let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    [command.to_owned(), name]
        .into_iter()
        .chain(file.options.iter().cloned())
        .chain(options.iter().cloned())
        .collect()
}

/// Runs a file with some options, in its folder; gives the answer and the seconds that it took.
pub(super) fn run(file: &Found, options: &[String], limit: Duration, trust: Trust) -> (Answer, f64) {
    let started = Instant::now();
    let allowed = if trust == Trust::Own { Ok(()) } else { confined(&words(file, options)) };
    let answer = allowed.and_then(|()| answer(file, options, limit)).unwrap_or_else(Answer::None);
    (answer, started.elapsed().as_secs_f64())
}

fn answer(file: &Found, options: &[String], limit: Duration) -> Result<Answer, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
    let mut words = words(file, options);
    // What follows `--` belongs to the compiler.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.insert(end, "--json".to_owned());
    let mut command = Command::new(program);
    command.args(&words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = file.path.parent().filter(|f| *f != Path::new("")) {
        command.current_dir(folder);
    }
    let mut child = command.spawn().map_err(|error| format!("the run does not start: {error}"))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let out = scope.spawn(move || read(out));
        let err = scope.spawn(move || read(err));
        let ended = wait(&mut child, limit);
        let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
        match ended {
            Ended::Stopped => Ok(Answer::Stopped),
            Ended::Late => Err(format!("no answer after {} s", limit.as_secs_f64())),
            Ended::By(status) => match serde_json::from_str::<Value>(&out) {
                Ok(document) => Ok(Answer::Document(document)),
                Err(_) => {
                    let said = err
                        .lines()
                        .chain(out.lines())
                        .find(|l| !l.trim().is_empty())
                        .unwrap_or("nothing was said");
                    Err(format!("the run ended with {status}: {said}"))
                }
            },
        }
    })
}

fn read(from: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What cannot be read is missing from the answer, which is then not an answer.
    let _ = from.map(|mut from| from.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

enum Ended {
    By(std::process::ExitStatus),
    Late,
    Stopped,
}

/// Waits for the end of a process; one that is late is told to end, and then made to.
fn wait(child: &mut Child, limit: Duration) -> Ended {
    let (started, mut pause) = (Instant::now(), Duration::from_millis(1));
    let mut told: Option<Instant> = None;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return match told {
                Some(_) if watch::interrupt().raised() => Ended::Stopped,
                Some(_) => Ended::Late,
                None => Ended::By(status),
            };
        }
        match told {
            None if started.elapsed() >= limit || watch::interrupt().raised() => {
                // SAFETY: the process is a child that was not waited for, so its number is still its own.
                unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
                told = Some(Instant::now());
            }
            Some(since) if since.elapsed() >= GRACE => {
                let _ = child.kill();
            }
            _ => {}
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
