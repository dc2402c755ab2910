//! Traces as text.

use std::fmt::Write;

use crate::{Change, ProcessState, Step, Trace};

/// How much to show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Detail {
    /// Every variable after every step.
    pub full: bool,
    /// Which steps.
    pub steps: Steps,
}

impl Detail {
    /// All steps, with every variable if `full`.
    pub fn of_all(full: bool) -> Detail {
        Detail { full, steps: Steps::All }
    }
}

/// Which steps of a trace to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steps {
    /// All of a trace of usual length; the beginning and the end of a long one.
    #[default]
    Usual,
    /// All.
    All,
    /// From the first number to the second.
    Range(usize, usize),
}

/// Statements at the beginning and at the end that are shown of a long trace.
const FIRST: usize = 40;
const LAST: usize = 80;

impl std::str::FromStr for Steps {
    type Err = String;

    fn from_str(text: &str) -> Result<Steps, String> {
        let wrong = || format!("`{text}` is not a range of steps: write A..B, A.., ..B or all");
        if text == "all" {
            return Ok(Steps::All);
        }
        let (from, to) = text.split_once("..").ok_or_else(wrong)?;
        let number = |text: &str, usual| match text.trim() {
            "" => Ok(usual),
            digits => digits.parse::<usize>().map_err(|_| wrong()),
        };
        Ok(Steps::Range(number(from, 0)?, number(to, usize::MAX)?))
    }
}

impl Steps {
    /// The statements that are left out, as a range of their positions; none unless the trace is long.
    fn left_out(self, steps: &[Step]) -> std::ops::Range<usize> {
        if self == Steps::Usual && steps.len() > FIRST + LAST + LAST / 2 {
            FIRST..steps.len() - LAST
        } else {
            0..0
        }
    }

    pub(crate) fn has(self, number: usize) -> bool {
        match self {
            Steps::Usual | Steps::All => true,
            Steps::Range(from, to) => (from..=to).contains(&number),
        }
    }
}

fn change(c: &Change) -> String {
    match (&c.before, &c.after) {
        (Some(before), Some(after)) => format!("{}: {before} -> {after}", c.name),
        (None, Some(after)) => format!("{} = {after}", c.name),
        (Some(_), None) => format!("{} gone", c.name),
        (None, None) => String::new(),
    }
}

/// The changes of a step on one line. Variables of a process that was just started are zero unless shown.
fn changes(list: &[Change]) -> String {
    let shown = list.iter().filter(|c| match (&c.before, &c.after) {
        (None, Some(after)) => !matches!(after.as_str(), "0" | "[]" | "none" | "null"),
        (Some(_), None) => false,
        _ => true,
    });
    shown.map(change).collect::<Vec<_>>().join(", ")
}

fn shorten(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let cut: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{cut}…")
}

/// The steps of a trace, one line each.
pub fn render(trace: &Trace, detail: Detail) -> String {
    lines(&trace.steps, trace.cycle, detail)
}

/// Steps that are not a whole trace.
pub fn render_steps(steps: &[Step]) -> String {
    lines(steps, None, Detail { full: false, steps: Steps::All })
}

fn lines(steps: &[Step], cycle: Option<usize>, detail: Detail) -> String {
    let mut out = String::new();
    let width = |f: &dyn Fn(&Step) -> String, most: usize| {
        steps.iter().map(|s| f(s).chars().count()).max().unwrap_or(0).min(most)
    };
    let at = |s: &Step| match (s.file.as_str(), &s.called_at) {
        ("", _) => String::new(),
        (file, None) => format!("{}:{}", short_file(file), s.line),
        // The statement's line, and the line of the process that it was called from.
        (file, Some(call)) => {
            let (called_in, line) = call.rsplit_once(':').unwrap_or(("", call));
            let from = if called_in == file { "" } else { short_file(called_in) };
            format!("{}:{} from {from}:{line}", short_file(file), s.line)
        }
    };
    let (process, place) = (width(&|s| s.process.clone(), 24), width(&at, 32));
    let statement = width(&|s| s.statement.clone(), 44);
    let left_out = detail.steps.left_out(steps);
    let mut last = 0;
    for (position, step) in steps.iter().enumerate().filter(|(_, s)| detail.steps.has(s.number)) {
        let starts = step.number != last;
        if starts && cycle == Some(step.number) {
            let _ = writeln!(out, "       --- from here on again and again ---");
        }
        last = step.number;
        if left_out.contains(&position) {
            if position == left_out.start {
                let (from, to) = (step.number, steps[left_out.end - 1].number);
                let _ = writeln!(
                    out,
                    "       ... {} statements left out; --steps all shows them, --steps {from}..{to} these",
                    left_out.len()
                );
            }
            continue;
        }
        let number = if starts { step.number.to_string() } else { String::new() };
        let line = format!(
            "{number:>5}  {:process$}  {:place$}  {:statement$}  {}",
            step.process,
            at(step),
            shorten(&step.statement, statement),
            step.failed().map_or_else(|| changes(&step.changes), str::to_owned),
        );
        let _ = writeln!(out, "{}", line.trim_end());
        for printed in step.output.lines() {
            let _ = writeln!(out, "       | {printed}");
        }
        if detail.full {
            for (name, value) in &step.state {
                let _ = writeln!(out, "           {name} = {value}");
            }
        }
    }
    out
}

/// Where the processes are at the end of a trace.
pub fn render_end(trace: &Trace) -> String {
    render_processes(&trace.processes)
}

/// Where processes are.
pub fn render_processes(processes: &[ProcessState]) -> String {
    let mut out = String::new();
    for p in processes {
        if p.finished {
            let _ = writeln!(out, "  {} has ended", p.process);
            continue;
        }
        let waits = shorten(&p.waits_for.join("  or  "), 70);
        let end = if p.valid_end { "  (valid end state)" } else { "" };
        let _ = writeln!(out, "  {} at {}: {waits}{end}", p.process, p.at);
    }
    out
}

/// Files are shown without their folders when they are long.
fn short_file(name: &str) -> &str {
    if name.len() <= 24 { name } else { name.rsplit('/').next().unwrap_or(name) }
}
