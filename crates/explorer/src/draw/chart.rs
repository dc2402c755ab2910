//! The chart of a run: a row for each statement, a column for each process.

use std::fmt::Write;

use serde_json::Value;

use super::svg::{COLOURS, HERE, WRONG};
use super::{list, number, svg, text};
use crate::api::Packed;

/// What a row says: its effect, as on the page.
fn label(row: &Value) -> String {
    let event = &row["events"][0];
    let message = || {
        let fields: Vec<&str> = list(&event["message"]).iter().map(|v| text(&v["text"])).collect();
        match &fields[..] {
            [first, rest @ ..] if !rest.is_empty() && event["message"][0]["kind"] == "constant" => {
                format!("{first}({})", rest.join(", "))
            }
            all => all.join(", "),
        }
    };
    match text(&event["kind"]) {
        "send" => return format!("{} ! {}", text(&event["channel"]), message()),
        "receive" => return format!("{} ? {}", text(&event["channel"]), message()),
        "assert" => return format!("assert {}", text(&event["text"])),
        "start" => {
            let thread = event["threads"][0].as_u64().map_or(String::new(), |thread| format!("T{thread} "));
            return format!("starts {thread}{}", text(&event["process"]));
        }
        "end" => return "ends".into(),
        "timeout" | "new" | "" => {}
        kind => return format!("{kind} {}", text(&event["object"])),
    }
    let writes = list(&row["writes"]).iter().filter(|w| !w["before"].is_null() && !w["after"].is_null());
    let writes: Vec<String> = writes
        .map(|w| {
            let (before, after) = (text(&w["before"]["text"]), text(&w["after"]["text"]));
            let name = text(&w["name"]);
            if before == after { format!("{name} = {after}") } else { format!("{name} {before} → {after}") }
        })
        .collect();
    if writes.is_empty() { text(&row["text"]).to_owned() } else { writes.join("  ") }
}

/// The processes of a run, with their columns.
fn columns(run: &Value) -> Vec<(u64, String)> {
    let processes = list(&run["processes"]).iter();
    let column = |p: &Value| {
        let (pid, name) = (p["pid"].as_u64().unwrap_or(0), text(&p["name"]));
        // Threads of a program may have the same name; processes of a model have their number in it.
        (pid, if name.ends_with(')') { name.to_owned() } else { format!("T{pid} {name}") })
    };
    processes.map(column).collect()
}

fn process(row: &Value) -> u64 {
    row["pid"].as_u64().unwrap_or(0)
}

/// What a row is linked with, if it is of one of these kinds.
fn link(row: &Value, kinds: &[&str]) -> Option<u64> {
    row["link"].as_u64().filter(|_| kinds.contains(&text(&row["kind"])))
}

/// How a run ends, in lines: what goes wrong, or who waits for what, or what repeats.
fn ending(run: &Value, rows: &[Value], waiting: &Value) -> Vec<String> {
    let (cycle, length) = (number(&run["cycle"]), number(&run["length"]));
    if rows.last().is_some_and(|row| number(&row["step"]) < length) {
        return vec![format!("the first {} statements of a run of {length} steps", rows.len())];
    }
    match text(&run["ending"]["kind"]) {
        "violation" => vec![text(&run["ending"]["message"]).to_owned()],
        "deadlock" => {
            let waits = list(waiting).iter().filter(|w| w["ended"] != true).map(|w| {
                let mut why: Vec<&str> = list(&w["statements"]).iter().map(|s| text(&s["why"])).collect();
                why.dedup();
                format!("{} waits: {}", text(&w["process"]), why.join("; "))
            });
            ["nobody can go on".to_owned()].into_iter().chain(waits).collect()
        }
        _ if cycle == 1 => vec![format!("step {length} repeats for ever")],
        _ if cycle > 1 => vec![format!("steps {} to {length} repeat for ever", length - cycle + 1)],
        _ => Vec::new(),
    }
}

/// The chart as SVG; `waiting` are those who cannot go on at its end.
pub(super) fn svg(run: &Value, rows: &[Value], waiting: &Value) -> String {
    let mut out = svg::empty();
    let columns = columns(run);
    let said = |row: &Value| match row["failed"]["values"].as_str() {
        Some(values) => format!("{}   {values}", label(row)),
        None => label(row),
    };
    // A column is as wide as what stands in it.
    let mut left = Vec::new();
    let mut next = 60.0;
    for (pid, name) in &columns {
        left.push(next);
        let own = rows.iter().filter(|row| process(row) == *pid).map(|row| said(row).chars().count());
        let longest = own.max().unwrap_or(0).max(name.chars().count());
        next += (7.3 * longest as f64 + 44.0).clamp(110.0, 420.0);
    }
    let x = |pid: u64| columns.iter().position(|(p, _)| *p == pid).map_or(60.0, |column| left[column]);
    let y = |row: usize| 56.0 + 24.0 * row as f64;
    let bottom = y(rows.len());
    for (pid, name) in &columns {
        out.text(x(*pid) - 4.0, 24.0, "head", name);
        out.path(&format!("M{} 34V{bottom}", x(*pid)), "#d0d0cb", "");
    }
    // A lock is a bar along its holder's line.
    for held in Packed::read(&run["locks"]["held"]).0.chunks_exact(4) {
        let (pid, from) = (held[1] as u64, held[2] as usize);
        let to = if held[3] < 0 { rows.len() } else { held[3] as usize };
        if from < rows.len() {
            let d = format!(
                "M{} {}V{}",
                x(pid),
                y(from),
                y(to.min(rows.len())) - if held[3] < 0 { 12.0 } else { 0.0 }
            );
            let colour = COLOURS[pid as usize % 4];
            out.path(&d, colour, "stroke-width=\"5\" stroke-linecap=\"round\" opacity=\"0.55\"");
        }
    }
    let cycle = number(&run["cycle"]);
    let length = number(&run["length"]);
    if cycle > 0 {
        let first = rows.iter().position(|row| number(&row["step"]) + cycle > length).unwrap_or(0);
        let d = format!("M10 {}H4V{}H9", bottom - 12.0, y(first));
        out.path(&d, HERE, "stroke-width=\"1.6\"");
        out.head(12.0, y(first), true, HERE);
    }
    let received: Vec<u64> = rows.iter().filter_map(|row| link(row, &["receive"])).collect();
    let failed = run["ending"]["kind"] == "violation";
    for (index, row) in rows.iter().enumerate() {
        let pid = process(row);
        let (here, cy, colour) = (x(pid), y(index), COLOURS[(pid % 4) as usize]);
        if index == 0 || rows[index - 1]["step"] != row["step"] {
            out.text(14.0, cy + 4.0, "dim", &number(&row["step"]).to_string());
        }
        let kind = text(&row["kind"]);
        let last = failed && index + 1 == rows.len() && length == number(&row["step"]);
        let wrong = kind == "fails" || kind == "race" || last;
        if let Some(sender) = link(row, &["receive"]).filter(|sender| (*sender as usize) < rows.len()) {
            let from = process(&rows[sender as usize]);
            let colour = COLOURS[(from % 4) as usize];
            let side = if x(from) <= here { -9.0 } else { 9.0 };
            let sy = y(sender as usize);
            let d = format!("M{} {}V{}H{}V{cy}h{}", x(from), sy + 4.0, sy + 12.0, here + side, -side / 3.0);
            out.path(&d, colour, "stroke-width=\"1.4\"");
            out.head(here + side / 2.0, cy, side < 0.0, colour);
        }
        if kind == "send" && !received.contains(&(index as u64)) {
            out.path(&format!("M{here} {}V{}h12", cy + 4.0, cy + 12.0), colour, "stroke-width=\"1.4\"");
            out.ring(here + 15.0, cy + 12.0, colour);
        }
        if let Some(other) = link(row, &["rendezvous", "start"]) {
            let right = x(other) > here;
            let end = x(other) + if right { -5.0 } else { 5.0 };
            out.path(&format!("M{here} {}V{}H{end}", cy + 4.0, cy + 11.0), colour, "stroke-width=\"1.4\"");
            out.head(end, cy + 11.0, right, colour);
        }
        out.circle(here, cy, if wrong { 6.0 } else { 4.0 }, if wrong { WRONG } else { colour });
        out.text(here + 12.0, cy + 4.0, if wrong { "wrong" } else { "" }, &said(row));
    }
    // The two accesses of a race are joined.
    if let [.., a, b] = rows
        && a["kind"] == "race"
    {
        let (ay, by) = (y(rows.len() - 2), y(rows.len() - 1));
        let (ax, bx) = (x(process(a)), x(process(b)));
        let d = if ax < bx { format!("M{ax} {ay}V{by}H{bx}") } else { format!("M{ax} {ay}H{bx}V{by}") };
        out.path(&d, WRONG, "stroke-width=\"2\"");
    }
    for (line, said) in ending(run, rows, waiting).iter().enumerate() {
        let class = if line == 0 { "wrong" } else { "" };
        out.text(14.0, bottom + 14.0 + 18.0 * line as f64, class, said);
    }
    out.finish()
}

/// The same for Mermaid.
pub(super) fn mermaid(run: &Value, rows: &[Value], waiting: &Value) -> String {
    let mut out = String::from("sequenceDiagram\n");
    let clean = |s: &str| s.replace([';', '#'], " ").replace('\n', " ");
    let columns = columns(run);
    for (pid, name) in &columns {
        let _ = writeln!(out, "  participant P{pid} as {}", clean(name));
    }
    let (cycle, length) = (number(&run["cycle"]), number(&run["length"]));
    let mut in_loop = false;
    for row in rows {
        let pid = process(row);
        let said = clean(&label(row));
        if cycle > 0 && !in_loop && number(&row["step"]) + cycle > length {
            out.push_str("  loop for ever\n");
            in_loop = true;
        }
        let sender = link(row, &["receive"]).and_then(|sender| rows.get(sender as usize)).map(process);
        match (sender, link(row, &["rendezvous", "start"])) {
            (Some(from), _) => drop(writeln!(out, "  P{from}->>P{pid}: {said}")),
            (None, Some(to)) => drop(writeln!(out, "  P{pid}->>P{to}: {said}")),
            // What is received later is an arrow there.
            (None, None) => drop(writeln!(out, "  Note over P{pid}: {} {said}", number(&row["step"]))),
        }
    }
    if in_loop {
        out.push_str("  end\n");
    }
    if let (Some((first, _)), Some((last, _))) = (columns.first(), columns.last()) {
        let over = if first == last { format!("P{first}") } else { format!("P{first},P{last}") };
        // A loop says of itself that it repeats.
        for said in ending(run, rows, waiting).iter().filter(|_| !in_loop) {
            let _ = writeln!(out, "  Note over {over}: {}", clean(said));
        }
    }
    out
}
