//! Traces as text.

use std::fmt::Write;

use crate::{Change, Trace};

/// How much to show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Detail {
    /// Every variable after every step.
    pub full: bool,
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
    let mut out = String::new();
    let width = |f: &dyn Fn(&crate::Step) -> String, most: usize| {
        trace.steps.iter().map(|s| f(s).chars().count()).max().unwrap_or(0).min(most)
    };
    let at = |s: &crate::Step| {
        if s.file.is_empty() { String::new() } else { format!("{}:{}", short_file(&s.file), s.line) }
    };
    let (process, place) = (width(&|s| s.process.clone(), 24), width(&at, 32));
    let statement = width(&|s| s.statement.clone(), 44);
    let mut last = 0;
    for step in &trace.steps {
        let number = if step.number == last { String::new() } else { step.number.to_string() };
        if step.number != last && trace.cycle == Some(step.number) {
            let _ = writeln!(out, "       --- from here on again and again ---");
        }
        last = step.number;
        let line = format!(
            "{number:>5}  {:process$}  {:place$}  {:statement$}  {}",
            step.process,
            at(step),
            shorten(&step.statement, statement),
            changes(&step.changes),
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
    let mut out = String::new();
    for p in &trace.processes {
        if p.waits_for.first().is_some_and(|t| t == "-end-") {
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
