//! Standard error as a person sees it: colour, progress.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use quotient::search::Statistics;

/// Whether messages on standard error may be coloured.
pub(crate) fn colour() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// A line on standard error that is written over again and again.
pub(crate) struct Progress {
    started: Instant,
    shown: bool,
    enabled: bool,
}

impl Progress {
    pub(crate) fn new(enabled: bool) -> Progress {
        Progress {
            started: Instant::now(),
            shown: false,
            enabled: enabled && std::io::stderr().is_terminal(),
        }
    }

    pub(crate) fn show(&mut self, s: &Statistics) {
        if !self.enabled {
            return;
        }
        self.shown = true;
        let elapsed = self.started.elapsed().as_secs_f64();
        let rate = s.states as f64 / elapsed.max(0.001);
        let memory = (s.store_bytes + s.search_bytes) >> 20;
        eprint!(
            "\r\x1b[K{elapsed:6.1} s  depth {}  {} states  {} transitions  {} waiting  {:.0}k states/s  {memory} MiB",
            s.depth,
            grouped(s.states),
            grouped(s.transitions),
            grouped(s.waiting),
            rate / 1000.0,
        );
        let _ = std::io::stderr().flush();
    }

    pub(crate) fn clear(&mut self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}

/// A line of text on standard error that is written over, at most ten times a second.
pub(crate) struct StatusLine {
    started: Instant,
    next: f64,
    shown: bool,
    enabled: bool,
}

impl StatusLine {
    pub(crate) fn new(enabled: bool) -> StatusLine {
        let enabled = enabled && std::io::stderr().is_terminal();
        StatusLine { started: Instant::now(), next: 0.5, shown: false, enabled }
    }

    /// Shows the text, with the rate at which `count` grows.
    pub(crate) fn show(&mut self, text: &str, count: u64) {
        let elapsed = self.started.elapsed().as_secs_f64();
        if !self.enabled || elapsed < self.next {
            return;
        }
        (self.shown, self.next) = (true, elapsed + 0.1);
        eprint!("\r\x1b[K{elapsed:6.1} s  {text}  {:.1}k/s", count as f64 / elapsed / 1000.0);
        let _ = std::io::stderr().flush();
    }

    pub(crate) fn clear(&mut self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
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

/// Writes the whole report about something, of which the exit status is known; gives the status.
pub(crate) fn report(text: &str, status: u8) -> u8 {
    print_and(text, || super::watch::reported(status));
    status
}

fn print_and(text: &str, then: impl FnOnce()) {
    let written = super::watch::writing(|| {
        let mut out = std::io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        then();
        written
    });
    if let Err(error) = written
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        eprintln!("error: cannot write the report: {error}");
    }
}

/// Writes to standard error, if that is possible.
pub(crate) fn complain(text: std::fmt::Arguments<'_>, end: &str) {
    let _ = write!(std::io::stderr().lock(), "{text}{end}");
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
