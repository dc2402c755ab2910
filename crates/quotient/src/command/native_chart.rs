//! The steps of a trace as a chart: a column for every thread, as wide as the terminal allows.
//!
//! Every line has one step, so a long text may run on through the columns to its right. What does not fit even so goes on
//! below, in the same column. Without a terminal (and without `COLUMNS`) nothing is folded: a log or a pipe has no width.

/// Width of a thread's column, where there is room.
const COLUMN: usize = 34;
/// The narrowest column: what is in it can still be read.
const NARROWEST: usize = 12;
/// Threads that have a column; the others share the last one.
const COLUMNS: usize = 5;
/// The numbers of steps, to the left of all columns.
const MARGIN: usize = 8;
/// A text is never folded to less than this.
const SHORTEST: usize = 16;

/// How the columns lie.
pub(crate) struct Chart {
    /// Threads, in the order of their columns.
    threads: Vec<usize>,
    columns: usize,
    column: usize,
    width: usize,
}

impl Chart {
    /// For these threads, on a terminal of this width.
    pub(crate) fn new(threads: Vec<usize>, width: Option<usize>) -> Chart {
        let width = width.map_or(usize::MAX, |width| width.max(MARGIN + SHORTEST));
        let room = width - MARGIN;
        let mut columns = threads.len().clamp(1, COLUMNS);
        // The last column has room for a text.
        while columns > 1 && (columns - 1) * NARROWEST + SHORTEST > room {
            columns -= 1;
        }
        let column = if columns == 1 { COLUMN } else { (room / columns).clamp(NARROWEST, COLUMN) };
        Chart { threads, columns, column, width }
    }

    fn position(&self, thread: usize) -> usize {
        self.threads.iter().position(|t| *t == thread).unwrap_or(0).min(self.columns - 1)
    }

    /// The names of the columns.
    pub(crate) fn header(&self, name: impl Fn(usize) -> String) -> String {
        let mut line = " ".repeat(MARGIN);
        for (position, thread) in self.threads.iter().take(self.columns).enumerate() {
            let last = position + 1 == self.columns;
            let room = if last { self.width - MARGIN - position * self.column } else { self.column - 1 };
            let name = shortened(&name(*thread), room);
            line.push_str(&name);
            if !last {
                line.extend(std::iter::repeat_n(' ', self.column - name.chars().count()));
            }
        }
        line.push('\n');
        line
    }

    /// The lines of a step.
    pub(crate) fn step(&self, number: usize, thread: usize, text: &str) -> String {
        self.marked(&number.to_string(), thread, text)
    }

    /// The lines of what happened, with a word or number at the left.
    pub(crate) fn marked(&self, number: &str, thread: usize, text: &str) -> String {
        let position = self.position(thread);
        let shared = self.threads.len() > self.columns && position + 1 == self.columns;
        let text = if shared { format!("T{thread}: {text}") } else { text.to_owned() };
        let indent = position * self.column;
        let mut out = String::new();
        for (line, part) in folded(&text, self.width - MARGIN - indent).iter().enumerate() {
            let margin = if line == 0 { format!("  {number:>4}  ") } else { " ".repeat(MARGIN) };
            out.push_str(&format!("{margin}{:indent$}{part}\n", ""));
        }
        out
    }
}

fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room - 1).chain(['…']).collect()
}

/// The text in lines of at most so many characters, cut between words where that is possible.
fn folded(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest: Vec<char> = text.chars().collect();
    while rest.len() > room {
        let space = rest[..=room].iter().rposition(|c| *c == ' ').filter(|at| *at > 0);
        let at = space.unwrap_or(room);
        let line: String = rest[..at].iter().collect();
        lines.push(line.trim_end().to_owned());
        rest.drain(..at);
        let blank = rest.iter().take_while(|c| **c == ' ').count();
        rest.drain(..blank);
    }
    lines.push(rest.into_iter().collect());
    lines
}

/// The width of the terminal that standard output is, or what `COLUMNS` says.
pub(crate) fn width() -> Option<usize> {
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: asks for the size of a terminal, into room for one.
    let known = unsafe { libc::ioctl(1, libc::TIOCGWINSZ, &raw mut size) } == 0;
    let width = if known && size.ws_col > 0 { Some(size.ws_col.into()) } else { told() };
    width.filter(|width| *width > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(thread: usize) -> String {
        format!("T{thread} a_function_with_a_long_name")
    }

    #[test]
    fn every_line_fits() {
        let text =
            "compare and swap table[12].entry: 0 -> 4294967295, successful  [a_long_name_of_a_file.c:1234]";
        for width in 1..200 {
            for threads in 1..9 {
                let chart = Chart::new((0..threads).collect(), Some(width));
                let mut lines = chart.header(name);
                for thread in 0..threads {
                    lines.push_str(&chart.step(9999, thread, text));
                    lines.push_str(&chart.step(1, thread, &"x".repeat(150)));
                }
                let most = width.max(MARGIN + SHORTEST);
                for line in lines.lines() {
                    assert!(line.chars().count() <= most, "{width} {threads}: {line}");
                }
                // Nothing is lost.
                let kept: String = chart.step(1, threads - 1, text).split_whitespace().skip(1).collect();
                assert!(kept.ends_with(&text.split_whitespace().collect::<String>()), "{kept}");
            }
        }
    }

    #[test]
    fn columns_are_apart_where_there_is_room() {
        let chart = Chart::new(vec![0, 1, 2], None);
        assert_eq!(chart.step(3, 1, "lock m  [a.c:1]"), format!("     3  {:34}lock m  [a.c:1]\n", ""));
        let narrow = Chart::new(vec![0, 1, 2], Some(80));
        assert_eq!(narrow.step(3, 1, "lock m  [a.c:1]"), format!("     3  {:24}lock m  [a.c:1]\n", ""));
        assert_eq!(
            Chart::new(vec![0, 1], Some(50)).step(1, 1, "lock a_mutex  [a_file.c:10]"),
            format!("     1  {:21}lock a_mutex\n        {:21}[a_file.c:10]\n", "", "")
        );
    }

    #[test]
    fn threads_without_a_column_are_named() {
        let chart = Chart::new((0..7).collect(), None);
        assert!(chart.step(1, 5, "unlock m").contains("T5: unlock m"));
        assert!(!chart.step(1, 2, "unlock m").contains("T2"));
    }
}
