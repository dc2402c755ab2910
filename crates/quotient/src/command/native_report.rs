//! Reports about C and C++ programs.

use std::fmt::Write;
use std::path::Path;

use quotient::outcome::json;
use quotient::{Incomplete, Verdict};
use quotient_native::protocol::FailureKind;
use quotient_native::trace::{Frame, Side, ThreadState};
use quotient_native::{Answer, Report, Trace};
use serde_json::{Value, json};

use super::json::header;
use super::native_chart::{Chart, width};
use super::terminal::grouped;

/// Lines of output that are shown.
const OUTPUT_LINES: usize = 20;

/// What `--allow-races` leaves out.
const RACES: &str = "data races (--allow-races)";

/// What a report needs.
pub(crate) struct Run<'a> {
    pub(crate) file: &'a Path,
    pub(crate) report: &'a Report,
    /// The command that repeats the violation.
    pub(crate) again: String,
    pub(crate) full: bool,
    /// Were data races allowed?
    pub(crate) allow_races: bool,
    /// Were threads that are never joined looked for?
    pub(crate) leaks: bool,
    pub(crate) wall_seconds: f64,
    pub(crate) cpu_seconds: f64,
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// An estimate: two digits are more than enough.
pub(crate) fn rough(estimate: u64) -> String {
    let digits = estimate.checked_ilog10().unwrap_or(0);
    if digits > 15 {
        return format!("10^{digits}");
    }
    let unit = 10u64.pow(digits.saturating_sub(1));
    grouped((estimate + unit / 2) / unit * unit)
}

/// The report for people.
pub(crate) fn human(run: &Run<'_>) -> String {
    let mut out = String::new();
    let (file, figures) = (run.file.display(), &run.report.figures);
    let executions = plural(figures.executions, "execution", "executions");
    let pruned = if figures.pruned > 0 {
        format!(", {} pruned as symmetric", grouped(figures.pruned))
    } else {
        String::new()
    };
    match &run.report.answer {
        Answer::Holds => {
            let _ = writeln!(out, "{file}: holds: {executions}{pruned}");
            let but = if run.report.holes > 0 {
                ", but for accesses that are not checked (see the note)"
            } else {
                ""
            };
            let race = if run.allow_races { "" } else { "data race, " };
            let leak = if run.leaks { "thread that is never joined, " } else { "" };
            let _ = writeln!(
                out,
                "  no deadlock, {race}{leak}failed assertion, crash or misuse in any interleaving{but}"
            );
        }
        Answer::Undecided(why) => {
            let _ = writeln!(out, "{file}: undecided: {executions}{pruned}\n  {why}");
            let _ = writeln!(out, "  nothing wrong was found in what was explored");
            if figures.estimate > figures.executions {
                let about = rough(figures.estimate);
                let _ = writeln!(
                    out,
                    "  estimated beforehand: about {about} executions in all (without symmetry)"
                );
            }
        }
        Answer::Refused(why, trace) => {
            let _ = writeln!(out, "{file}: undecided: cannot be checked\n  {why}");
            if let Some(side) = trace.as_ref().and_then(|t| t.failure.here.as_ref()) {
                stack(&mut out, &side.stack, "    ");
            }
        }
        Answer::Violated(trace) => {
            let _ = writeln!(out, "{file}: violated: {}", trace.headline());
            let _ = writeln!(out);
            out.push_str(&trace_text(trace, run.full));
            let fewest = if figures.fewest { ", the fewest possible" } else { "" };
            let switches = plural(figures.switches.into(), "context switch", "context switches");
            let _ = writeln!(out, "\n  {switches}{fewest}");
            let _ = writeln!(out, "  to see it again: {}", run.again);
        }
    }
    if run.allow_races {
        let _ = writeln!(out, "  not checked: {RACES}");
    }
    for assumption in &run.report.assumptions {
        let _ = writeln!(out, "  under {assumption}");
    }
    let _ = writeln!(
        out,
        "\n  {executions}{pruned}, {}, {}, longest {}",
        plural(figures.threads.into(), "thread", "threads"),
        plural(figures.steps, "step", "steps"),
        grouped(figures.depth)
    );
    let _ = write!(out, "  {:.3} s CPU, {:.3} s elapsed", run.cpu_seconds, run.wall_seconds);
    // Of a few executions the estimate before them and the start of the process would be most of the time.
    let per = if figures.executions < 10_000 {
        String::new()
    } else {
        format!(", {:.1} us CPU per execution", per_execution(run.report))
    };
    let _ = writeln!(out, "{per}");
    if figures.restarts > 0 {
        let again = plural(figures.restarts, "time", "times");
        let _ = writeln!(
            out,
            "  started again {again} (more was found to be shared), {} executions discarded",
            grouped(figures.discarded)
        );
    }
    if figures.copies > 0 {
        let parts = plural(figures.copies, "part", "parts");
        let _ = writeln!(
            out,
            "  {parts} explored ahead by other processes, {} in vain; {:.0} % of the executions made side by side",
            grouped(figures.copies_lost),
            figures.together as f64 * 100.0 / figures.executions.max(1) as f64
        );
    }
    if figures.blocked > 0 {
        let _ =
            writeln!(out, "  {} cut short by sleep sets", plural(figures.blocked, "execution", "executions"));
    }
    for note in &run.report.notes {
        let _ = writeln!(out, "  note: {note}");
    }
    out
}

/// CPU time of the exploration per execution, in microseconds.
fn per_execution(report: &Report) -> f64 {
    let figures = &report.figures;
    report.cpu.saturating_sub(report.cpu_aside).as_secs_f64() * 1e6
        / (figures.executions + figures.discarded).max(1) as f64
}

fn stack(out: &mut String, frames: &[Frame], indent: &str) {
    for frame in frames {
        let _ = writeln!(out, "{indent}{}  {}:{}", frame.function, frame.file, frame.line);
    }
}

fn location(frames: &[Frame]) -> String {
    frames.first().map_or_else(String::new, |f| format!("{}:{}", f.file, f.line))
}

/// A trace for people: a column for every thread.
pub(crate) fn trace_text(trace: &Trace, full: bool) -> String {
    let mut out = String::new();
    let existing: Vec<(usize, &ThreadState)> =
        trace.threads.iter().enumerate().filter(|(_, t)| t.exists).collect();
    let chart = Chart::new(existing.iter().map(|(thread, _)| *thread).collect(), width());
    out.push_str(&chart.header(|thread| format!("T{thread} {}", trace.threads[thread].name)));
    for (number, step) in trace.steps.iter().enumerate() {
        let text = format!("{}  [{}]", step.text, location(&step.stack));
        out.push_str(&chart.step(number + 1, step.thread, &text));
        if full {
            stack(&mut out, &step.stack[1.min(step.stack.len())..], "            from ");
        }
    }
    let failure = &trace.failure;
    if failure.kind != FailureKind::None {
        let _ = writeln!(out, "\n  {}", trace.headline());
    }
    let mut side = |title: &str, side: &Option<Side>| {
        if let Some(side) = side {
            let _ = writeln!(
                out,
                "  {title}T{}{}",
                side.thread,
                if side.access.is_empty() { String::new() } else { format!(", {}", side.access) }
            );
            stack(&mut out, &side.stack, "      ");
        }
    };
    side(if failure.there.is_some() { "later: " } else { "in " }, &failure.here);
    side("earlier: ", &failure.there);
    if failure.kind == FailureKind::Deadlock {
        for (number, state) in existing.iter().filter(|(_, t)| !t.finished) {
            let owner = state.owner.map_or_else(String::new, |o| format!(", which T{o} has"));
            let _ = writeln!(out, "  T{number} ({}) waits to {}{owner}", state.name, state.waits);
            stack(&mut out, &state.stack, "      ");
        }
    }
    if !trace.output.is_empty() {
        let _ = writeln!(out, "\n  printed:");
        let lines: Vec<&str> = trace.output.lines().collect();
        for line in lines.iter().take(if full { usize::MAX } else { OUTPUT_LINES }) {
            let _ = writeln!(out, "    {line}");
        }
        if !full && lines.len() > OUTPUT_LINES {
            let _ = writeln!(out, "    and {} more lines (--full shows all)", lines.len() - OUTPUT_LINES);
        }
    }
    out
}

fn violation(trace: &Trace, full: bool) -> Value {
    let shared = trace.shared();
    let side = |at: usize| shared.accesses.get(at).map(json::access);
    json!({
        // A schedule that was repeated need not end in a violation.
        "kind": shared.violation.as_ref().map(|v| v.kind.as_str()),
        "message": trace.headline(),
        "at": shared.violation_at,
        "here": side(0),
        "there": side(1),
        "schedule": shared.schedule,
        "trace": json::trace(&shared, full),
        "output": shared.output,
    })
}

/// A schedule that was repeated, for machines.
pub(crate) fn trace_json(file: &Path, trace: &Trace, full: bool) -> String {
    let verdict = match trace.failure.kind.violation() {
        Some(_) => Verdict::Violated,
        None => Verdict::Undecided(Incomplete::OneRun),
    };
    let file = file.display().to_string();
    json::text(
        &header("replay", Some(&file)).answer(&verdict, json!({ "violation": violation(trace, full) })),
    )
}

/// The report for machines.
pub(crate) fn json(run: &Run<'_>) -> String {
    let f = &run.report.figures;
    let violations: Vec<Value> = match &run.report.answer {
        Answer::Violated(trace) => vec![violation(trace, run.full)],
        _ => Vec::new(),
    };
    let file = run.file.display().to_string();
    let body = json!({
        "violation": violations.first(),
        "violations": violations,
        "not_checked": if run.allow_races { vec![RACES] } else { Vec::new() },
        "assumptions": run.report.assumptions,
        "executions": f.executions,
        "estimated_executions": f.estimate,
        "context_switches": f.switches,
        "fewest_context_switches": f.fewest,
        "pruned_symmetric": f.pruned,
        "sleep_set_blocked": f.blocked,
        "cut": f.cut,
        "images": f.images,
        "threads": f.threads,
        "steps": f.steps,
        "depth": f.depth,
        "restarts": f.restarts,
        "discarded": f.discarded,
        "filtered_accesses": f.filtered,
        "explored_ahead": f.copies,
        "explored_in_vain": f.copies_lost,
        "side_by_side": f.together,
        "cpu_seconds": run.cpu_seconds,
        "unchecked_lines": run.report.holes,
        "microseconds_per_execution": per_execution(run.report),
        "wall_seconds": run.wall_seconds,
        "reductions": { "notes": run.report.notes },
    });
    json::text(&header("check", Some(&file)).answer(&run.report.verdict(), body))
}
