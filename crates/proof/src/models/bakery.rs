//! The bakery algorithm (the paper's figures 1 and 2, for n processes).

use super::{blocks, join, row, row_with, two_at};

pub(super) fn bakery(n: usize) -> String {
    let mut out = String::new();
    let state = |p: &str, t: &str| format!("p([{p}],{t})");
    out.push_str(&format!(
        "% Bakery with {n} processes. 0: take a ticket, 1: wait, 2: critical section.\n\
         % The ticket is one more than the largest other ticket, as one case for each process that may\n\
         % hold it; the await is one atomic step over all others.\n\n"
    ));
    let zeros = join(",", (0..n).map(|_| "0".to_string()));
    let initial = join(", ", (1..=n).map(|i| format!("T{i} = 0")));
    out.push_str(&format!("{} :- {initial}.\n", state(&zeros, &row("T", n))));
    for i in 1..=n {
        let others: Vec<usize> = (1..=n).filter(|&j| j != i).collect();
        let at = |pc: &str| row_with("P", n, i, pc);
        let cases = others.iter().map(|&j| {
            let mut parts = vec![format!("T{i}' = T{j} + 1")];
            parts.extend(others.iter().filter(|&&k| k != j).map(|k| format!("T{k} <= T{j}")));
            parts.join(", ")
        });
        let cases: Vec<String> = cases.collect();
        let ticket = if cases.len() == 1 { cases[0].clone() } else { format!("({})", cases.join(" ; ")) };
        let after = row_with("T", n, i, &format!("T{i}'"));
        let tickets = row("T", n);
        out.push_str(&format!("\n% process {i}\n"));
        out.push_str(&format!("{} :- {}, {ticket}.\n", state(&at("1"), &after), state(&at("0"), &tickets)));
        let wait = join(", ", others.iter().map(|j| format!("(T{i} < T{j} ; T{j} = 0)")));
        out.push_str(&format!("{} :- {}, {wait}.\n", state(&at("2"), &tickets), state(&at("1"), &tickets)));
        out.push_str(&format!("{} :- {}, T{i}' = 0.\n", state(&at("0"), &after), state(&at("2"), &tickets)));
    }
    let all = state(&row("P", n), &row("T", n));
    let nonneg = join(", ", (1..=n).map(|i| format!("T{i} >= 0")));
    out.push_str(&format!("\nassert swap: symmetric {all} under permutations {}.\n", blocks(&["P", "T"], n)));
    out.push_str(&format!("assert nonneg: {all} |= {nonneg}.\n"));
    out.push_str(&format!("assert mutex: {all}, {} |= false using nonneg, swap.\n", two_at("2", n)));
    out
}

/// The program behind the paper's second table, recovered from its figures (15, 296 and 4,6xx stored
/// goals without assertions): one rule for each case, ties between equal tickets broken by number,
/// the largest ticket not negative, and the rules tried from the last to the first.
pub(super) fn bakery_paper(n: usize) -> String {
    let state = |p: &str, t: &str| format!("p([{p}],{t})");
    let tickets = row("T", n);
    let mut rules = Vec::new();
    for i in 1..=n {
        let others: Vec<usize> = (1..=n).filter(|&j| j != i).collect();
        let at = |pc: &str| row_with("P", n, i, pc);
        let after = row_with("T", n, i, &format!("T{i}'"));
        for &j in &others {
            let mut parts = vec![format!("T{i}' = T{j} + 1")];
            parts.extend(
                others
                    .iter()
                    .filter(|&&k| k != j)
                    .map(|&k| if k > j { format!("T{k} <= T{j}") } else { format!("T{k} < T{j}") }),
            );
            parts.push(format!("T{j} >= 0"));
            rules.push(format!(
                "{} :- {}, {}.\n",
                state(&at("1"), &after),
                state(&at("0"), &tickets),
                parts.join(", ")
            ));
        }
        for mask in 0u32..1 << others.len() {
            let wait = others.iter().enumerate().map(|(bit, j)| {
                if mask >> (others.len() - 1 - bit) & 1 == 0 {
                    format!("T{i} < T{j}")
                } else {
                    format!("T{j} = 0")
                }
            });
            let wait = join(", ", wait);
            rules.push(format!("{} :- {}, {wait}.\n", state(&at("2"), &tickets), state(&at("1"), &tickets)));
        }
        rules.push(format!("{} :- {}, T{i}' = 0.\n", state(&at("0"), &after), state(&at("2"), &tickets)));
    }
    rules.reverse();
    let zeros = join(",", (0..n).map(|_| "0".to_string()));
    let all = state(&row("P", n), &tickets);
    format!(
        "% Bakery with {n} processes, fitted: of the variants tried, the one whose counts are nearest to the paper's second table.\n% The paper does not print it. One rule for each case, last rule first.\n\n\
         {}.\n\n{}\nassert swap: symmetric {all} under permutations {}.\n\
         assert mutex: {all}, {} |= false using swap.\n",
        state(&zeros, &zeros),
        rules.concat(),
        blocks(&["P", "T"], n),
        two_at("2", n)
    )
}
