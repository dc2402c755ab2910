//! Reports about C and C++ programs.

use std::fmt::Write;
use std::path::Path;

use quotient::outcome::json;
use quotient::outcome::text::Detail;
use quotient::{Incomplete, Verdict};
use quotient_native::protocol::FailureKind;
use quotient_native::trace::{Frame, location};
use quotient_native::{Answer, Printed, Repeated, Report};
use quotient_stateless::graph::MemoryModel;
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
    /// Are outcomes to be told?
    pub(crate) outcomes: bool,
    /// Can their schedules be repeated?
    pub(crate) schedules: bool,
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

/// How many executions there will be, as far as it is known: nothing if probes disagree by more than ten times, or if there are
/// more already.
pub(crate) fn range([low, high]: [u64; 2], made: u64) -> String {
    const MOST_APART: u64 = 10;
    if low == 0 || high / low > MOST_APART || high <= made {
        return String::new();
    }
    match (rough(low.max(made)), rough(high)) {
        (low, high) if low == high => format!(" of about {high}"),
        (low, high) => format!(" of {low} to {high}"),
    }
}

/// The report for people.
pub(crate) fn human(run: &Run<'_>) -> String {
    let mut out = String::new();
    let (file, figures) = (run.file.display(), &run.report.figures);
    let executions = plural(figures.executions, "execution", "executions");
    let mut pruned = if figures.pruned > 0 {
        format!(", {} pruned as symmetric", grouped(figures.pruned))
    } else {
        String::new()
    };
    if figures.infeasible > 0 {
        let _ = write!(pruned, ", {} blocked", grouped(figures.infeasible));
    }
    if figures.cut > 0 {
        let _ = write!(pruned, ", {} cut", grouped(figures.cut));
    }
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
            if figures.cut > 0 && figures.executions == 0 {
                let steps = plural(figures.depth, "step", "steps");
                let _ = writeln!(out, "  no execution came to its end: each was cut after {steps} at most");
            }
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
            if let Some(side) = trace.as_ref().and_then(|t| t.trace.accesses.first()) {
                stack(&mut out, &side.stack, "    ");
            }
        }
        Answer::Violated(trace) => {
            let _ = writeln!(out, "{file}: violated: {}", trace.message());
            let _ = writeln!(out);
            out.push_str(&trace_text(trace, run.full));
            let _ = writeln!(out);
            if run.report.memory == MemoryModel::SequentialConsistency {
                let fewest = if figures.fewest { ", the fewest possible" } else { "" };
                let switches = plural(figures.switches.into(), "context switch", "context switches");
                let _ = writeln!(out, "  {switches}{fewest}");
            }
            let _ = writeln!(out, "  to see it again: {}", run.again);
        }
    }
    if run.allow_races {
        let _ = writeln!(out, "  not checked: {RACES}");
    }
    for assumption in &run.report.assumptions {
        let _ = writeln!(out, "  under {assumption}");
    }
    if run.outcomes {
        outcomes(&mut out, run);
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
            figures.together as f64 * 100.0 / (figures.executions + figures.infeasible).max(1) as f64
        );
    }
    if figures.blocked > 0 {
        let blocked = plural(figures.blocked, "execution", "executions");
        let why = match run.report.memory {
            MemoryModel::SequentialConsistency => "cut short by sleep sets",
            _ => "more that were not completed (a thread waited in vain)",
        };
        let _ = writeln!(out, "  {blocked} {why}");
    }
    for note in &run.report.notes {
        let _ = writeln!(out, "  note: {note}");
    }
    out
}

/// What the program can print, and how it can end.
fn outcomes(out: &mut String, run: &Run<'_>) {
    let Some(printed) = &run.report.printed else {
        let _ = writeln!(out, "\n  there are too many outcomes to tell");
        return;
    };
    let so_far = if matches!(run.report.answer, Answer::Holds) { "" } else { " in what was explored" };
    let _ = writeln!(out, "\n  {}{so_far}", plural(printed.len() as u64, "outcome", "outcomes"));
    for outcome in printed {
        let schedule = if run.schedules { format!("  {}", outcome.token) } else { String::new() };
        let _ = writeln!(out, "  exit status {}{schedule}", outcome.status);
        text_lines(out, &outcome.output, run.full);
    }
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

/// A trace for people: a column for every thread.
pub(crate) fn trace_text(repeated: &Repeated, full: bool) -> String {
    let trace = &repeated.trace;
    let mut out = String::new();
    let numbers = trace.processes.iter().map(|p| p.pid as usize).collect();
    let chart = Chart::new(numbers, width());
    let name = |thread: usize| {
        let of = trace.processes.iter().find(|p| p.pid as usize == thread);
        of.map_or_else(|| format!("T{thread}"), |p| p.process.clone())
    };
    out.push_str(&chart.header(name));
    for step in &trace.steps {
        let text = format!("{}  [{}]", step.statement, location(&step.stack));
        out.push_str(&chart.step(step.number, step.pid as usize, &text));
        if full {
            stack(&mut out, &step.stack[1.min(step.stack.len())..], "            from ");
        }
    }
    // The two accesses of a race belong to the run: the earlier one, then the later one.
    if repeated.failure.kind == FailureKind::Race {
        for side in trace.accesses.iter().rev() {
            let text = format!("{}  [{}]", side.access, location(&side.stack));
            out.push_str(&chart.marked("race", side.thread as usize, &text));
        }
    }
    if repeated.failure.kind != FailureKind::None {
        let _ = writeln!(out, "\n  {}", repeated.message());
    }
    for read in &repeated.reads {
        let _ = writeln!(out, "  {read}");
    }
    let titles =
        if repeated.failure.kind == FailureKind::Race { ["later: ", "earlier: "] } else { ["in ", ""] };
    for (title, side) in titles.iter().zip(&trace.accesses) {
        let what = if side.access.is_empty() { String::new() } else { format!(", {}", side.access) };
        let _ = writeln!(out, "  {title}T{}{what}", side.thread);
        stack(&mut out, &side.stack, "      ");
    }
    if matches!(repeated.failure.kind, FailureKind::Deadlock | FailureKind::Livelock) {
        for thread in trace.processes.iter().filter(|p| !p.finished) {
            let owner = thread.owner.map_or_else(String::new, |o| format!(", which T{o} has"));
            let name = thread.process.split_once(' ').map_or("", |(_, name)| name);
            let waits = thread.waits_for.concat();
            let _ = writeln!(out, "  T{} ({name}) waits to {waits}{owner}", thread.pid);
            stack(&mut out, &thread.stack, "      ");
        }
    }
    if !trace.output.is_empty() {
        let _ = writeln!(out, "\n  printed:");
        text_lines(&mut out, &trace.output, full);
    }
    out
}

fn text_lines(out: &mut String, text: &str, full: bool) {
    let lines: Vec<&str> = text.lines().collect();
    for line in lines.iter().take(if full { usize::MAX } else { OUTPUT_LINES }) {
        let _ = writeln!(out, "    {line}");
    }
    if !full && lines.len() > OUTPUT_LINES {
        let _ = writeln!(out, "    and {} more lines (--full shows all)", lines.len() - OUTPUT_LINES);
    }
}

fn violation(repeated: &Repeated, full: bool) -> Value {
    let trace = &repeated.trace;
    let side = |at: usize| trace.accesses.get(at).map(json::access);
    json!({
        // A schedule that was repeated need not end in a violation.
        "kind": trace.violation.as_ref().map(|v| v.kind.as_str()),
        "message": repeated.message(),
        "at": trace.violation_at,
        "here": side(0),
        "there": side(1),
        "schedule": trace.schedule,
        "reads": repeated.reads,
        "trace": json::trace(trace, Detail::of_all(full)),
        "output": trace.output,
    })
}

/// A schedule that was repeated, for machines.
pub(crate) fn trace_json(file: &Path, trace: &Repeated, full: bool) -> String {
    let verdict = match trace.failure.kind.violation() {
        Some(_) => Verdict::Violated,
        None => Verdict::Undecided(Incomplete::OneRun),
    };
    let file = file.display().to_string();
    json::text(&header(Some(&file)).answer(&verdict, json!({ "violations": [violation(trace, full)] })))
}

/// The word for a memory model.
fn name(model: MemoryModel) -> &'static str {
    MemoryModel::NAMES.iter().find(|(other, ..)| *other == model).map_or("", |(_, name, _)| name)
}

/// The report for machines.
pub(crate) fn json(run: &Run<'_>) -> String {
    let f = &run.report.figures;
    let violations: Vec<Value> = match &run.report.answer {
        Answer::Violated(trace) => vec![violation(trace, run.full)],
        _ => Vec::new(),
    };
    let file = run.file.display().to_string();
    let mut body = json!({
        "violations": violations,
        "not_checked": if run.allow_races { vec![RACES] } else { Vec::new() },
        "assumptions": run.report.assumptions,
        "memory_model": name(run.report.memory),
        "executions": f.executions,
        "estimated_executions": f.estimate,
        "context_switches": f.switches,
        "fewest_context_switches": f.fewest,
        "pruned_symmetric": f.pruned,
        "blocked_executions": f.infeasible,
        "sleep_set_blocked": f.blocked,
        "cut": f.cut,
        "symmetry_tests": f.symmetry_tests,
        "symmetry_tests_successful": f.symmetry_found,
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
    if run.outcomes {
        let outcome = |o: &Printed| {
            let schedule = run.schedules.then(|| o.token.to_string());
            json!({ "exit_status": o.status, "output": o.output, "schedule": schedule })
        };
        // Nothing: too many to tell.
        body["outcomes"] =
            run.report.printed.as_ref().map(|all| all.iter().map(outcome).collect::<Vec<_>>()).into();
    }
    json::text(&header(Some(&file)).answer(&run.report.verdict(), body))
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn an_estimate_is_a_range_and_never_below_what_was_explored() {
        assert_eq!(range([19, 21], 3), " of 19 to 21");
        assert_eq!(range([19, 30], 25), " of 25 to 30");
        assert_eq!(range([19, 19], 3), " of about 19");
        assert_eq!(range([19, 21], 135), "");
        assert_eq!(range([10, 200], 3), "");
        assert_eq!(range([0, 0], 3), "");
    }
}
