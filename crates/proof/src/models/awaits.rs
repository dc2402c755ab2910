//! The same systems as while/await programs (the paper's figures 1, 3, 5 and 7), for any number of processes.
//!
//! The states are those of the rules the other generators write, so the assertions are theirs, too; but for Lamport's
//! algorithm, which without a goto has its critical section twice.

use super::builder::others;
use super::{bakery, join, mutex, others as systems};

/// Variables, processes, and the assertions of the same system written as rules.
fn program(comment: &str, variables: &str, processes: &[String], rules: &str) -> String {
    let mut text = format!("% {comment}\nvar {variables};\n");
    for body in processes {
        text.push_str(&format!("\nprocess\n  while (true) do\n{body}  end\n"));
    }
    text.push('\n');
    for line in rules.lines().filter(|l| l.starts_with("assert ")) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// `x1 = 0, x2 = 0`.
fn zeros(prefix: &str, n: usize) -> String {
    join(", ", (1..=n).map(|i| format!("{prefix}{i} = 0")))
}

/// `    <3> statement`.
fn line(point: usize, statement: &str) -> String {
    format!("    <{point}> {statement}\n")
}

/// Figure 1.
pub(super) fn bakery(n: usize) -> String {
    let process = |i: usize| {
        // One more than the largest other ticket, whichever holds it.
        let tickets = (1..=n).filter(|&j| j != i).map(|j| {
            let rest: Vec<usize> = (1..=n).filter(|&k| k != i && k != j).collect();
            let largest = join(", ", rest.iter().map(|k| format!("t{k} <= t{j}")));
            if rest.is_empty() {
                format!("t{i} := t{j} + 1")
            } else {
                format!("await ({largest}) t{i} := t{j} + 1")
            }
        });
        let wait = others(n, i, |j| format!("(t{i} < t{j} \\/ t{j} = 0)"));
        line(0, &join(" or ", tickets))
            + &line(1, &format!("await ({wait}) skip"))
            + &line(2, &format!("t{i} := 0"))
    };
    let processes: Vec<String> = (1..=n).map(process).collect();
    let comment = format!("Bakery with {n} processes. 2: critical section.");
    program(&comment, &zeros("t", n), &processes, &bakery::bakery(n))
}

/// Peterson's filter.
pub(super) fn peterson(n: usize) -> String {
    let process = |i: usize| {
        let mut body = String::new();
        for k in 1..n {
            let base = 3 * (k - 1);
            let behind = others(n, i, |j| format!("q{j} < {k}"));
            body += &line(base, &format!("q{i} := {k}"));
            body += &line(base + 1, &format!("v{k} := {i}"));
            body += &line(base + 2, &format!("await ({behind} \\/ v{k} <> {i}) skip"));
        }
        body + &line(3 * (n - 1), &format!("q{i} := 0"))
    };
    let processes: Vec<String> = (1..=n).map(process).collect();
    let comment = format!("Peterson's algorithm with {n} processes. {}: critical section.", 3 * (n - 1));
    let variables = format!("{}, {}", zeros("q", n), zeros("v", n - 1));
    program(&comment, &variables, &processes, &mutex::peterson(n))
}

/// Lamport's fast mutual exclusion. The critical section is at 11 after the fast path and at 13 after the slow one.
pub(super) fn lamport(n: usize) -> String {
    let process = |i: usize| {
        let idle = join(", ", (1..=n).map(|j| format!("b{j} = 0")));
        let indent = |depth: usize, text: String| format!("{}{text}", "  ".repeat(depth));
        let mut body = line(0, &format!("b{i} := 1")) + &line(1, &format!("x := {i}"));
        body += &line(2, "if (y <> 0) do");
        body += &indent(1, line(3, &format!("b{i} := 0")));
        body += &indent(1, line(4, "await (y = 0) skip"));
        body += "    else\n";
        body += &indent(1, line(5, &format!("y := {i}")));
        body += &indent(1, line(6, &format!("if (x <> {i}) do")));
        body += &indent(2, line(7, &format!("b{i} := 0")));
        body += &indent(2, line(8, &format!("await ({idle}) skip")));
        body += &indent(2, line(9, &format!("if (y <> {i}) do")));
        body += &indent(3, line(10, "await (y = 0) skip"));
        body += "        else\n";
        body += &indent(3, line(13, "y := 0"));
        body += &indent(3, line(14, &format!("b{i} := 0")));
        body += "        end\n      else\n";
        body += &indent(2, line(11, "y := 0"));
        body += &indent(2, line(12, &format!("b{i} := 0")));
        body + "      end\n    end\n"
    };
    let processes: Vec<String> = (1..=n).map(process).collect();
    let comment = format!("Lamport's fast mutual exclusion with {n} processes. 11 and 13: critical section.");
    let variables = format!("{}, x = 0, y = 0", zeros("b", n));
    // Each place of the critical section stands for both.
    let rules = mutex::lamport(n);
    let claim = |text: &str| text.starts_with("assert mutex");
    let both = |text: &str| {
        (1..=n).fold(text.to_string(), |t, i| {
            t.replace(&format!("P{i} = 11"), &format!("(P{i} = 11 ; P{i} = 13)"))
        })
    };
    let rules = join("\n", rules.lines().map(|l| if claim(l) { both(l) } else { l.to_string() }));
    program(&comment, &variables, &processes, &rules)
}

/// Dining philosophers with n - 1 tickets.
pub(super) fn philosophers(n: usize) -> String {
    let process = |i: usize| {
        let (left, right) = (format!("f{i}"), format!("f{}", i % n + 1));
        line(0, "await (t >= 1) t := t - 1")
            + &line(1, &format!("await ({left} = 0) {left} := 1"))
            + &line(2, &format!("await ({right} = 0) {right} := 1"))
            + &line(3, &format!("{left} := 0"))
            + &line(4, &format!("{right} := 0"))
            + &line(5, "t := t + 1")
    };
    let processes: Vec<String> = (1..=n).map(process).collect();
    let comment = format!("{n} dining philosophers with {} tickets. 3: eating.", n - 1);
    let variables = format!("{}, t = {}", zeros("f", n), n - 1);
    program(&comment, &variables, &processes, &systems::philosophers(n))
}

/// Figure 3.
pub(super) fn priority(n: usize) -> String {
    let first = line(0, "await (x2 = 0) x1 := 1") + &line(1, "skip") + &line(2, "x1 := 0");
    let second = line(0, "x2 := 1") + &line(1, "await (x1 = 0) skip") + &line(2, "x2 := 0");
    let comment = "Mutual exclusion with priority. The symmetry excepts one pair of places.";
    program(comment, &zeros("x", 2), &[first, second], &mutex::priority(n))
}

/// Figure 5.
pub(super) fn szymanski(n: usize) -> String {
    let process = |i: usize| {
        let some =
            |value: usize| join(" \\/ ", (1..=n).filter(|&j| j != i).map(|j| format!("x{j} = {value}")));
        let wait = |parts: String| {
            if parts.is_empty() { "skip".to_string() } else { format!("await ({parts}) skip") }
        };
        let before = join(", ", (1..i).map(|j| format!("x{j} < 2")));
        let after = join(", ", (i + 1..=n).map(|j| format!("(x{j} < 2 \\/ x{j} > 3)")));
        let mut body = line(0, &format!("x{i} := 1"));
        body += &line(1, &wait(others(n, i, |j| format!("x{j} < 3"))));
        body += &line(2, &format!("x{i} := 3"));
        body += &line(3, &format!("if ({}) do", some(1)));
        body += &format!("  {}", line(4, &format!("x{i} := 2")));
        body += &format!("  {}    end\n", line(5, &wait(some(4))));
        body += &line(6, &format!("x{i} := 4"));
        body += &line(7, &wait(before));
        body += &line(8, &wait(after));
        body + &line(9, &format!("x{i} := 0"))
    };
    let processes: Vec<String> = (1..=n).map(process).collect();
    let comment = format!("Szymanski's algorithm with {n} processes. 8: critical section.");
    program(&comment, &zeros("x", n), &processes, &mutex::szymanski(n))
}

/// Figure 7.
pub(super) fn producer_consumer(n: usize) -> String {
    let mut consumer = line(0, "await (f = 1) f := 0");
    let mut producer = String::new();
    for k in 0..n {
        consumer += &line(k + 1, "x := x - 1");
        producer += &line(k, "x := x + 1");
    }
    consumer += &line(n + 1, "skip");
    producer += &(line(n, "await (f = 0) f := 1") + &line(n + 1, "skip"));
    let comment =
        format!("Producer and consumer of {n} items at a time: producing and consuming are serialisable.");
    program(&comment, "f = 0, x = 0", &[consumer, producer], &systems::producer_consumer(n))
}
