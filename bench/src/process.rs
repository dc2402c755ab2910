//! Running one child process with a CPU limit, its output and its own resource usage.
//!
//! Times come from `wait4`, which reports the usage of exactly the child it reaped; the
//! difference of two `getrusage(RUSAGE_CHILDREN)` calls would mix in any other child.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What a finished child left behind.
#[derive(Debug)]
pub struct Finished {
    /// Exit status, if the child exited by itself.
    pub status: Option<i32>,
    /// The signal that ended the child, if one did.
    pub signal: Option<i32>,
    /// Standard output, invalid UTF-8 replaced.
    pub stdout: String,
    /// Standard error, invalid UTF-8 replaced.
    pub stderr: String,
    /// User plus system time.
    pub cpu_seconds: f64,
    /// Largest resident set.
    pub peak_rss_bytes: u64,
}

impl Finished {
    /// The child exceeded its CPU limit.
    pub fn over_cpu_limit(&self) -> bool {
        matches!(self.signal, Some(libc::SIGXCPU | libc::SIGKILL))
    }
}

/// Runs `command` to its end, with at most `cpu_limit` seconds of CPU time if given.
pub fn run(command: &mut Command, cpu_limit: Option<u64>) -> Result<Finished, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(seconds) = cpu_limit {
        let limit = libc::rlimit { rlim_cur: seconds, rlim_max: seconds + 2 };
        let apply = move || {
            // SAFETY: `limit` is a valid rlimit owned by the closure.
            match unsafe { libc::setrlimit(libc::RLIMIT_CPU, &limit) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        // SAFETY: setrlimit is async-signal-safe, and `apply` allocates nothing.
        unsafe { command.pre_exec(apply) };
    }
    let mut child = command.spawn().map_err(|error| format!("cannot run {name}: {error}"))?;
    let mut stderr_pipe = child.stderr.take();
    let errors = std::thread::spawn(move || read_all(stderr_pipe.as_mut()));
    let stdout = read_all(child.stdout.as_mut());
    let stderr = errors.join().unwrap_or_default();

    let mut status = 0;
    // SAFETY: an all-zero rusage is a valid value of a plain C structure.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live locals. The child has not been waited for, so its pid is
    // still ours; `Child` does not reap on drop, so nobody waits a second time.
    while unsafe { libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut usage) } < 0 {
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(format!("waiting for {name}: {error}"));
        }
    }
    Ok(Finished {
        status: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        stdout,
        stderr,
        cpu_seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        // Linux reports kibibytes, macOS bytes.
        peak_rss_bytes: usage.ru_maxrss as u64 * if cfg!(target_os = "macos") { 1 } else { 1024 },
    })
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

fn read_all(pipe: Option<&mut impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // A read error means the child closed the pipe in an odd way; what came before counts.
        let _ = pipe.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_status_and_usage() {
        let finished = run(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]), None).unwrap();
        assert_eq!((finished.status, finished.signal), (Some(3), None));
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
        assert!(finished.peak_rss_bytes > 0);
    }

    #[test]
    fn cpu_limit_ends_a_busy_child() {
        let finished = run(Command::new("sh").args(["-c", "while :; do :; done"]), Some(1)).unwrap();
        assert!(finished.over_cpu_limit());
        assert!(finished.cpu_seconds >= 0.5);
    }

    #[test]
    fn missing_program_is_one_sentence() {
        let error = run(&mut Command::new("no-such-program-here"), None).unwrap_err();
        assert!(error.starts_with("cannot run no-such-program-here"));
    }
}
