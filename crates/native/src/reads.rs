//! What reads have read under weak memory, in words.
//!
//! A read of something else than the last write surprises, and so does a write that is not the last one. The sentence says what comes
//! between, and why that is not a contradiction: nothing makes the newer write happen before the access.

use std::fmt::Write;

use quotient_outcome::Trace;

use crate::protocol::{Op, Step};
use crate::trace::{Repeated, location};

/// A write, by the number of its step.
fn write(source: u32) -> String {
    match source {
        1 => "the initial value".to_owned(),
        source => format!("step {}", source - 1),
    }
}

/// What is added to a step: where its value comes from.
pub(crate) fn origin(step: &Step) -> String {
    match (step.source, step.newer) {
        (0, 0 | 1) => String::new(),
        (0, newer) => format!(" (before {})", write(newer)),
        (source, 0 | 1) => format!(" ({})", write(source)),
        (source, newer) => format!(" ({}, older than {})", write(source), write(newer)),
    }
}

/// A sentence for every access that would be different under sequential consistency.
pub(crate) fn explained(trace: &Trace, steps: &[Step]) -> Vec<String> {
    let mut out = Vec::new();
    for (shown, step) in trace.steps.iter().zip(steps) {
        // Updates come right after what they read, so that what is newer comes after both.
        let is_store = step.op == Op::Store as u8;
        if step.newer < 2 || step.alternative == 0 {
            continue;
        }
        let (number, thread) = (shown.number, shown.pid);
        let newer = write(step.newer);
        out.push(if is_store {
            format!(
                "step {number}: T{thread}'s write comes before {newer} in modification order, though it is made later: neither happens before the other"
            )
        } else {
            let of_step = if step.source > 1 { ["what ", " wrote"] } else { ["", ""] };
            let source = write(step.source);
            format!(
                "step {number}: T{thread} reads {}{source}{}, not what {newer} wrote: {newer} does not happen before it, and nothing that does has seen it",
                of_step[0], of_step[1]
            )
        });
    }
    out
}

/// A repeated execution as a graph, for Graphviz: steps in the order of their threads, which write each read has read (rf), and which
/// write comes next in modification order where that is not the order of the steps (mo).
pub fn drawing(repeated: &Repeated) -> String {
    let mut out = String::from("digraph execution {\n  node [shape=box, fontname=monospace, fontsize=10];\n");
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let steps = &repeated.trace.steps;
    let mut threads: Vec<(u32, &str)> = steps.iter().map(|s| (s.pid, s.process.as_str())).collect();
    threads.sort_unstable();
    threads.dedup();
    for (pid, name) in threads {
        let _ = writeln!(out, "  subgraph cluster_{pid} {{\n    label=\"{}\";", quoted(name));
        let own: Vec<_> = steps.iter().filter(|step| step.pid == pid).collect();
        for step in &own {
            let text = format!("{}: {}", step.number, step.statement);
            let _ = writeln!(
                out,
                "    s{} [label=\"{}\\n{}\"];",
                step.number,
                quoted(&text),
                quoted(&location(&step.stack))
            );
        }
        for pair in own.windows(2) {
            let _ = writeln!(out, "    s{} -> s{};", pair[0].number, pair[1].number);
        }
        out.push_str("  }\n");
    }
    if repeated.sources.iter().any(|(source, _)| *source == 1) {
        out.push_str("  s0 [label=\"initial values\"];\n");
    }
    for (step, (source, newer)) in steps.iter().zip(&repeated.sources) {
        let later = if *newer > 1 { format!("s{}", newer - 1) } else { String::new() };
        if *source > 0 {
            let _ = writeln!(out, "  s{} -> s{} [label=rf, color=forestgreen];", source - 1, step.number);
            if !later.is_empty() {
                let _ = writeln!(out, "  s{} -> {later} [label=fr, color=red, style=dashed];", step.number);
            }
        } else if !later.is_empty() {
            let _ = writeln!(out, "  s{} -> {later} [label=mo, color=orange];", step.number);
        }
    }
    out.push_str("}\n");
    out
}
