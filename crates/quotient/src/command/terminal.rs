//! Standard output and standard error: reports, messages, colour.

use std::io::{IsTerminal, Write};

/// Whether messages on standard error may be coloured.
pub(crate) fn colour() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Writes to standard output. Where that fails the answer is not lost: the exit status is still that of the verdict, and
/// standard error says what happened, unless the reader has just had enough.
pub(crate) fn print(text: &str) {
    print_and(text, || {});
}

/// Writes what was asked for where there is no verdict: a file in another format, a script. Gives the exit status, which is
/// an error where it cannot be written, unless the reader has just had enough.
pub(crate) fn product(text: &str) -> u8 {
    if print_and(text, || {}) { super::status::HOLDS } else { super::status::ERROR }
}

/// From now on nothing is seen of what is written to standard output.
pub(crate) fn silence() {
    #[cfg(unix)]
    if let Ok(nothing) = std::fs::File::options().write(true).open("/dev/null") {
        // SAFETY: both descriptors are open; afterwards 1 is another name for the same file.
        unsafe { libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&nothing), 1) };
    }
}

/// Writes the whole report about something, of which the exit status is known; gives the status.
pub(crate) fn report(text: &str, status: u8) -> u8 {
    print_and(text, || super::watch::reported(status));
    status
}

/// Whether the reader has got all that it wanted.
fn print_and(text: &str, then: impl FnOnce()) -> bool {
    let written = super::watch::writing(|| {
        let mut out = std::io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        then();
        written
    });
    written.err().is_none_or(|error| !unwritten(&error))
}

/// Says that something was not written, unless the reader has just had enough. Whether it did say so.
fn unwritten(error: &std::io::Error) -> bool {
    let told = error.kind() != std::io::ErrorKind::BrokenPipe;
    if told {
        complain(format_args!("error: cannot write the report: {error}"));
    }
    told
}

/// Standard output for reports that are written in pieces. What cannot be written is said once.
#[derive(Default)]
pub(crate) struct Output {
    failed: bool,
}

impl Output {
    fn note<T>(&mut self, written: std::io::Result<T>) -> std::io::Result<T> {
        if let Err(error) = &written
            && error.kind() != std::io::ErrorKind::Interrupted
            && !std::mem::replace(&mut self.failed, true)
        {
            unwritten(error);
        }
        written
    }
}

impl Write for Output {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        let written = super::watch::writing(|| std::io::stdout().lock().write(text));
        self.note(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let written = super::watch::writing(|| std::io::stdout().lock().flush());
        self.note(written)
    }
}

/// Writes to standard error, if that is possible.
pub(crate) fn complain(text: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
