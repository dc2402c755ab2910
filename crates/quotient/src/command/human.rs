//! Reports for people.

use std::fmt::Write;
use std::path::Path;

use quotient::trace::text::{Detail, render, render_end};
use quotient::{Answer, Branch, Incomplete, Question, Verdict, ViolationReport};

use super::check::Run;
use super::terminal::grouped;

/// Unreached statements shown without `--full`.
const FEW: usize = 8;

/// The whole report.
pub(crate) fn report(run: &Run<'_>, trace_file: Option<&Path>) -> String {
    let mut out = String::new();
    let outcome = run.outcome;
    let file = run.file.display();
    match &outcome.verdict {
        Verdict::Holds => {
            let _ = writeln!(out, "{file}: holds");
            let deadlock = if run.deadlocks { "no deadlock, " } else { "" };
            let _ = writeln!(out, "  {deadlock}no assertion violated, no fault in any reachable state");
            for answer in outcome.answers.iter().filter(|a| a.question != Question::Safety) {
                let _ = writeln!(out, "  {}: holds", answer.text);
                if run.detail.full {
                    answer.witness.iter().for_each(|b| branch(&mut out, b, "initially"));
                } else if !answer.witness.is_empty() {
                    let _ = writeln!(out, "    (--full shows runs)");
                }
            }
        }
        Verdict::Undecided(why) => {
            let _ = writeln!(out, "{file}: undecided");
            let _ = writeln!(out, "  {why}");
            let _ = writeln!(out, "  nothing wrong was found in what was explored");
            second_look(&mut out, run);
            answers(&mut out, run);
        }
        Verdict::Violated => {
            let _ = writeln!(out, "{file}: violated");
            for violation in &outcome.violations {
                self::violation(&mut out, violation, run.detail);
            }
            answers(&mut out, run);
        }
    }
    if !outcome.left_out.is_empty() {
        let _ = writeln!(out, "  not checked: {}", outcome.left_out.join(", "));
    }
    for assumption in &outcome.assumptions {
        let _ = writeln!(out, "  under {assumption}");
    }
    if let Some(path) = trace_file.filter(|_| outcome.violations.is_empty()) {
        let _ = writeln!(out, "  {} is not written: there is no counterexample", path.display());
    }
    figures(&mut out, run);
    unreached(&mut out, run);
    out
}

/// What was done after a search had stopped at a limit.
fn second_look(out: &mut String, run: &Run<'_>) {
    let Some(look) = &run.outcome.second_look else { return };
    let done: Vec<String> = look
        .searches
        .iter()
        .map(|(search, s)| format!("{} ({} states)", search.name(), grouped(s.states)))
        .collect();
    let _ = writeln!(out, "  a second look by {} found nothing either", done.join(" and "));
}

/// Each question with its own verdict, where there are several.
fn answers(out: &mut String, run: &Run<'_>) {
    if run.outcome.answers.len() < 2 {
        return;
    }
    let _ = writeln!(out);
    for answer in &run.outcome.answers {
        let why = match &answer.verdict {
            Verdict::Undecided(why) => format!(" ({why})"),
            Verdict::Holds | Verdict::Violated => String::new(),
        };
        let _ = writeln!(out, "  {}: {}{why}", answer.text, answer.verdict.name());
    }
}

fn violation(out: &mut String, violation: &ViolationReport, detail: Detail) {
    let at = violation.at.as_ref().map_or_else(String::new, |at| format!(" ({at})"));
    let steps = violation.trace.steps.last().map_or(0, |s| s.number);
    let cycle = violation.trace.cycle;
    let after = match steps {
        n if cycle.is_some() => {
            let before = cycle.unwrap_or(1) - 1;
            format!("by a cycle of {} after {}", counted(n - before, "step"), counted(before, "step"))
        }
        0 => "in the initial state".to_owned(),
        1 => "after 1 step".to_owned(),
        n => format!("after {n} steps"),
    };
    let _ = writeln!(out, "\n  {}{at}, {after}", violation.message);
    if let Some(search) = violation.found_by {
        let _ = writeln!(
            out,
            "  (found by {} after breadth-first search had stopped; shorter ways to it may exist)",
            search.name()
        );
    }
    if violation.count > 1 {
        let _ = writeln!(out, "  (met {} times)", grouped(violation.count));
    }
    let _ = writeln!(out);
    out.push_str(&render(&violation.trace, detail));
    violation.branches.iter().for_each(|b| branch(out, b, "initially"));
    let end = render_end(&violation.trace);
    if !end.is_empty() {
        let _ = writeln!(out, "\n  then");
        for line in end.lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
}

/// A run that branches off, without the steps before.
fn branch(out: &mut String, branch: &Branch, root: &str) {
    let place = if branch.after == 0 { root.to_owned() } else { format!("after step {}", branch.after) };
    let value = if branch.holds { "holds" } else { "does not hold" };
    let _ = writeln!(out, "\n  {place}, {} {value}:", branch.formula);
    let mut trace = branch.trace.clone();
    trace.steps.retain(|s| s.number > branch.after);
    out.push_str(&render(&trace, Detail::default()));
    branch.branches.iter().for_each(|b| self::branch(out, b, root));
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn figures(out: &mut String, run: &Run<'_>) {
    let s = &run.outcome.statistics;
    let per_state = |bytes: u64| bytes as f64 / s.states.max(1) as f64;
    let _ = writeln!(
        out,
        "\n  {} states, {} transitions, depth {}",
        grouped(s.states),
        grouped(s.transitions),
        grouped(s.depth)
    );
    let _ = writeln!(
        out,
        "  {}: {:.1} bytes per state; {:.1} MiB in all, {:.1} MiB resident at most{}",
        run.outcome.store.map_or_else(|| "states".to_owned(), |store| format!("{} store", store.name())),
        per_state(s.store_bytes),
        (s.store_bytes + s.search_bytes) as f64 / (1 << 20) as f64,
        run.peak_rss_bytes as f64 / (1 << 20) as f64,
        // With few states it is the program itself that is resident.
        if s.states >= 1_000_000 {
            format!(" ({:.1} per state)", per_state(run.peak_rss_bytes))
        } else {
            String::new()
        },
    );
    let workers = match run.outcome.workers {
        1 => String::new(),
        several => format!(", {several} workers"),
    };
    let _ = writeln!(out, "  {:.3} s CPU, {:.3} s elapsed{workers}", run.cpu_seconds, run.wall_seconds);
    let reduced = run.outcome.reduced;
    let parts: Vec<String> = [
        (reduced.unread, "global never read", "globals never read"),
        (reduced.forgotten, "place where a variable dies", "places where a variable dies"),
        (reduced.merged, "local step merged", "local steps merged"),
        (reduced.ended, "end of a process left out", "ends of processes left out"),
    ]
    .iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many }))
    .collect();
    if !parts.is_empty() {
        let _ = writeln!(out, "  reductions: {}", parts.join(", "));
    }
    let symmetry = &run.outcome.symmetry;
    if !symmetry.found.is_empty() {
        let all = symmetry.renamings.iter().map(|order| format!("; {order} in all")).collect::<String>();
        let effect = match symmetry.for_one {
            _ if symmetry.without_effect => "; no state was renamed".to_owned(),
            Some(for_one) => format!("; {}", for_one.words()),
            None => String::new(),
        };
        let _ = writeln!(out, "  symmetry: {}{all} ({}){effect}", symmetry.found.join("; "), symmetry.order);
    }
    if let Some(limit) = &symmetry.limit {
        let _ = writeln!(out, "  symmetry is limited: {limit}");
    }
    for line in &symmetry.explained {
        let _ = writeln!(out, "    {line}");
    }
    if let Some((states, renamed)) = symmetry.audited {
        let _ = writeln!(
            out,
            "  audit: {} states, {} of them renamed, behave like their representatives",
            grouped(states),
            grouped(renamed)
        );
    }
    if run.outcome.partial_order != quotient::PartialOrder::Off {
        let _ = writeln!(out, "  partial order reduction: {}", run.outcome.partial_order.name());
    }
    let reached = |a: &&Answer| a.verdict != Verdict::Undecided(Incomplete::NotReached);
    for answer in run.outcome.answers.iter().filter(|a| a.question != Question::Safety).filter(reached) {
        let symmetry = &answer.applied.symmetry;
        let renamed = match (symmetry.order.as_str(), &symmetry.limit) {
            ("off", Some(why)) => format!("symmetry off: {why}"),
            ("off", None) => "no symmetry".to_owned(),
            _ if symmetry.found.is_empty() => "no symmetry".to_owned(),
            (order, _) => format!("symmetry {} ({order})", symmetry.found.join("; ")),
        };
        let order = answer.applied.partial_order.name();
        let _ = writeln!(out, "  for {}: {renamed}; partial order {order}", answer.text);
    }
    if let Some(audit) = run.outcome.audited_ample {
        let _ = writeln!(
            out,
            "  audit: {} states, {} ample sets, {} pairs of moves commute",
            grouped(audit.states),
            grouped(audit.proposals),
            grouped(audit.diamonds)
        );
    }
    for note in &run.outcome.notes {
        let _ = writeln!(out, "  note: {note}");
    }
}

fn unreached(out: &mut String, run: &Run<'_>) {
    let list = &run.outcome.unreached;
    if list.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n  never executed:");
    let most = if run.detail.full { list.len() } else { FEW };
    for u in list.iter().take(most) {
        let _ = writeln!(out, "    {}  {}  {}", u.at, u.process, u.statement);
    }
    if list.len() > most {
        let _ = writeln!(out, "    and {} more (--full shows all)", list.len() - most);
    }
}
