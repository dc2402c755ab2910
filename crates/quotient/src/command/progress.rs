//! What a user sees while something long goes on: one line on a terminal that is written over, or lines now and then in a log.
//!
//! On a terminal the line never takes more than its width: what is too long is cut off, least important last, so that nothing is wrapped and
//! left after. Elsewhere nothing is written, unless `--log-every` asks for lines, each whole and ended.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use quotient::search::Statistics;

use super::terminal::grouped;

/// Time between two looks at a terminal.
const OFTEN: Duration = Duration::from_millis(100);
/// What is over before this time shows no line.
const PATIENCE: Duration = Duration::from_millis(500);
/// Columns of a terminal that does not say.
const USUAL: usize = 80;

/// The line, the log, or nothing.
pub(crate) struct ProgressLine {
    started: Instant,
    next: Duration,
    place: Place,
    /// A line stands on the terminal.
    shown: bool,
    levels: Levels,
}

/// How many states there were when each of the last levels was first seen, for an estimate of what is left.
#[derive(Debug, Default)]
struct Levels(Vec<(u64, u64)>);

impl Levels {
    /// The part of a search by levels that is done, once levels have become smaller: then each is taken to be smaller than the one before by the same
    /// factor from there on. While they grow, nobody can say.
    fn done(&mut self, s: &Statistics) -> Option<f64> {
        match self.0.last() {
            Some((depth, states)) if s.depth < *depth || s.states < *states => self.0.clear(),
            _ => {}
        }
        if self.0.last().is_none_or(|(depth, _)| *depth < s.depth) {
            self.0.push((s.depth, s.states));
        }
        let [.., a, b, c, d] = self.0[..] else { return None };
        // States per level, in each of the last three spans, which may be of several levels.
        let per_level = |from: (u64, u64), to: (u64, u64)| (to.1 - from.1) as f64 / (to.0 - from.0) as f64;
        let [first, second, third] = [per_level(a, b), per_level(b, c), per_level(c, d)];
        let levels = (d.0 - b.0) as f64 / 2.0;
        let ratio = (third / second).powf(1.0 / levels.max(1.0));
        if !(third < second && second < first && ratio < 0.98) {
            return None;
        }
        let left = third * ratio / (1.0 - ratio);
        Some(d.1 as f64 / (d.1 as f64 + left))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Nowhere,
    Terminal,
    /// A line for each time that passes.
    Log(Duration),
}

impl ProgressLine {
    /// Shows what goes on, unless `quiet`; with `log_every` in lines of a log.
    pub(crate) fn new(quiet: bool, log_every: Option<Duration>) -> ProgressLine {
        let place = match log_every {
            Some(every) => Place::Log(every.max(OFTEN)),
            None if !quiet && std::io::stderr().is_terminal() => Place::Terminal,
            None => Place::Nowhere,
        };
        let next = if let Place::Log(every) = place { every } else { PATIENCE };
        ProgressLine { started: Instant::now(), next, place, shown: false, levels: Levels::default() }
    }

    /// Shows the figures of a search.
    pub(crate) fn search(&mut self, s: &Statistics) {
        if self.place == Place::Nowhere {
            return;
        }
        let rate = s.states as f64 / self.started.elapsed().as_secs_f64().max(0.001);
        let memory = (s.store_bytes + s.search_bytes) >> 20;
        let done = self.levels.done(s).map_or_else(String::new, |part| {
            // Never all of it: the estimate is one.
            format!("  about {:.0} % done", (100.0 * part).min(99.0))
        });
        self.text(&format!(
            "{} states  {:.0}k states/s  {memory} MiB  depth {}{done}  {} waiting  {} transitions",
            grouped(s.states),
            rate / 1000.0,
            grouped(s.depth),
            grouped(s.waiting),
            grouped(s.transitions),
        ));
    }

    /// Shows a text with the rate at which `count` grows.
    pub(crate) fn counted(&mut self, text: &str, count: u64) {
        let elapsed = self.started.elapsed().as_secs_f64();
        self.text(&format!("{text}  {:.1}k/s", count as f64 / elapsed.max(0.001) / 1000.0));
    }

    fn text(&mut self, text: &str) {
        let elapsed = self.started.elapsed();
        if self.place == Place::Nowhere || elapsed < self.next {
            return;
        }
        let line = format!("{:6.1} s  {text}", elapsed.as_secs_f64());
        let mut out = std::io::stderr().lock();
        // A log that cannot be written does not end the check.
        let _ = match self.place {
            Place::Log(every) => {
                self.next = elapsed + every;
                writeln!(out, "{}", line.trim_start())
            }
            Place::Terminal | Place::Nowhere => {
                self.next = elapsed + OFTEN;
                self.shown = true;
                write!(out, "\r\x1b[K{}", fitting(&line, width()))
            }
        };
        let _ = out.flush();
    }

    /// Removes the line from the terminal.
    pub(crate) fn clear(&mut self) {
        if self.shown {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
            self.shown = false;
        }
    }
}

/// As much of a line as fits into a terminal of this many columns; the last column stays free, or some terminals go on to the next line. Whole
/// figures are dropped, which two spaces tell apart, and a figure is cut only if it is the first.
fn fitting(line: &str, columns: usize) -> String {
    let most = columns.saturating_sub(1);
    let indent = line.len() - line.trim_start().len();
    let mut fits = String::new();
    for part in line.trim_start().split("  ") {
        let separator = if fits.is_empty() { " ".repeat(indent) } else { "  ".to_owned() };
        let longer = format!("{fits}{separator}{part}");
        if longer.chars().count() > most {
            return if fits.is_empty() { longer.chars().take(most).collect() } else { fits };
        }
        fits = longer;
    }
    fits
}

/// Columns of the terminal that standard error is.
fn width() -> usize {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the pointer is valid for writing one winsize.
    let known = unsafe { libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &mut size) } == 0;
    if known && size.ws_col > 0 { usize::from(size.ws_col) } else { USUAL }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_estimated_when_levels_shrink() {
        // Levels of 1, 2, 4 .. 512, then 512, 256 .. 1: 2,046 states.
        let sizes = (0..10).map(|n| 1u64 << n).chain((0..10).rev().map(|n| 1 << n));
        let (mut levels, mut states, mut told) = (Levels::default(), 0, Vec::new());
        for (depth, size) in sizes.enumerate() {
            states += size;
            let s = Statistics { states, depth: depth as u64, ..Statistics::default() };
            told.push(levels.done(&s).map(|part| (states as f64 / part).round()));
        }
        assert_eq!(told[..12], [None; 12]);
        assert!(
            told[13..].iter().all(|whole| whole.is_some_and(|whole| (2_045.0..=2_047.0).contains(&whole))),
            "{told:?}"
        );
    }

    #[test]
    fn a_line_fits_any_width() {
        let line = "   1.5 s  1,234 states  12k states/s  3 MiB";
        assert_eq!(fitting(line, 80), line);
        assert_eq!(fitting(line, line.len() + 1), line);
        assert_eq!(fitting(line, line.len()), "   1.5 s  1,234 states  12k states/s");
        assert_eq!(fitting(line, 24), "   1.5 s  1,234 states");
        assert_eq!(fitting(line, 10), "   1.5 s");
        for columns in 0..60 {
            assert!(fitting(line, columns).chars().count() <= columns.saturating_sub(1));
        }
    }
}
