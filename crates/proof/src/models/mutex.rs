//! Mutual exclusion algorithms other than the bakery.

use super::builder::{Builder, others};
use super::{blocks, join, two_at};

fn names(prefix: &str, n: usize) -> Vec<String> {
    (1..=n).map(|i| format!("{prefix}{i}")).collect()
}

/// Peterson's filter for n processes.
pub(super) fn peterson(n: usize) -> String {
    let levels = n - 1;
    let variables = [names("Q", n), names("V", levels)].concat();
    let mut b = Builder::new(
        &format!(
            "Peterson's algorithm with {n} processes: Q is the level a process has reached, V the process that came\n\
             last to a level. Places 3k, 3k+1, 3k+2: set the level, set V, wait; {}: critical section.",
            3 * levels
        ),
        n,
        &variables,
    );
    b.initial(&vec![0; n + levels]);
    for i in 1..=n {
        b.comment(&format!("process {i}"));
        for k in 1..=levels {
            let base = 3 * (k - 1);
            b.step(i, base, base + 1, "", &[(&format!("Q{i}"), &k.to_string())]);
            b.step(i, base + 1, base + 2, "", &[(&format!("V{k}"), &i.to_string())]);
            let behind = others(n, i, |j| format!("Q{j} < {k}"));
            b.step(i, base + 2, base + 3, &behind, &[]);
            b.step(i, base + 2, base + 3, &format!("V{k} <> {i}"), &[]);
        }
        b.step(i, 3 * levels, 0, "", &[(&format!("Q{i}"), "0")]);
    }
    let state = b.state();
    let ids = join(",", names("V", levels));
    b.line(&format!(
        "\nassert swap: symmetric {state} under permutations {} with ids {ids} from 1.",
        blocks(&["P", "Q"], n)
    ));
    b.line(&format!("assert mutex: {state}, {} |= false using swap.", two_at(&(3 * levels).to_string(), n)));
    b.text
}

/// Lamport's fast mutual exclusion.
pub(super) fn lamport(n: usize) -> String {
    let mut variables = names("B", n);
    variables.extend(["X".to_string(), "Y".to_string()]);
    let mut b = Builder::new(
        &format!(
            "Lamport's fast mutual exclusion with {n} processes; X and Y hold process numbers, 0 for none.\n11: critical section."
        ),
        n,
        &variables,
    );
    b.initial(&vec![0; n + 2]);
    for i in 1..=n {
        let (own, id) = (format!("B{i}"), i.to_string());
        b.comment(&format!("process {i}"));
        b.step(i, 0, 1, "", &[(&own, "1")]);
        b.step(i, 1, 2, "", &[("X", &id)]);
        b.step(i, 2, 3, "Y <> 0", &[]);
        b.step(i, 2, 5, "Y = 0", &[]);
        b.step(i, 3, 4, "", &[(&own, "0")]);
        b.step(i, 4, 0, "Y = 0", &[]);
        b.step(i, 5, 6, "", &[("Y", &id)]);
        b.step(i, 6, 7, &format!("X <> {id}"), &[]);
        b.step(i, 6, 11, &format!("X = {id}"), &[]);
        b.step(i, 7, 8, "", &[(&own, "0")]);
        let idle = join(", ", (1..=n).map(|j| format!("B{j} = 0")));
        b.step(i, 8, 9, &idle, &[]);
        b.step(i, 9, 10, &format!("Y <> {id}"), &[]);
        b.step(i, 9, 11, &format!("Y = {id}"), &[]);
        b.step(i, 10, 0, "Y = 0", &[]);
        b.step(i, 11, 12, "", &[("Y", "0")]);
        b.step(i, 12, 0, "", &[(&own, "0")]);
    }
    let state = b.state();
    b.line(&format!(
        "\nassert swap: symmetric {state} under permutations {} with ids X, Y from 1.",
        blocks(&["P", "B"], n)
    ));
    b.line(&format!("assert mutex: {state}, {} |= false using swap.", two_at("11", n)));
    b.text
}

/// Szymanski's algorithm, with the guard of its figure at 5.
pub(super) fn szymanski(n: usize) -> String {
    let variables = names("X", n);
    let mut b = Builder::new(
        &format!(
            "Szymanski's algorithm with {n} processes. 8: critical section. Processes wait at 7 for those with\n\
             smaller numbers and at 8 for those with larger ones, so it is not symmetric; the assertions say\n\
             which exchanges of neighbours lead from reachable states to reachable states."
        ),
        n,
        &variables,
    );
    b.initial(&vec![0; n]);
    for i in 1..=n {
        let own = format!("X{i}");
        b.comment(&format!("process {i}"));
        b.step(i, 0, 1, "", &[(&own, "1")]);
        b.step(i, 1, 2, &others(n, i, |j| format!("X{j} < 3")), &[]);
        b.step(i, 2, 3, "", &[(&own, "3")]);
        let some = |value: &str| {
            let list: Vec<String> = (1..=n).filter(|&j| j != i).map(|j| format!("X{j} = {value}")).collect();
            if list.len() == 1 { list[0].clone() } else { format!("({})", list.join(" ; ")) }
        };
        b.step(i, 3, 4, &some("1"), &[]);
        b.step(i, 4, 5, "", &[(&own, "2")]);
        b.step(i, 3, 6, &others(n, i, |j| format!("X{j} <> 1")), &[]);
        b.step(i, 5, 6, &some("4"), &[]);
        b.step(i, 6, 7, "", &[(&own, "4")]);
        b.step(i, 7, 8, &join(", ", (1..i).map(|j| format!("X{j} < 2"))), &[]);
        b.step(i, 8, 9, &join(", ", (i + 1..=n).map(|j| format!("(X{j} < 2 ; X{j} > 3)"))), &[]);
        b.step(i, 9, 0, "", &[(&own, "0")]);
    }
    b.line("");
    if n == 2 {
        b.line("assert near: p([8,P2],X1,X2), P2 < 3 |= p([P2,8],X2,X1) using far, past, rest.");
        b.line("assert far: p([8,P2],X1,X2), P2 > 7 |= p([P2,8],X2,X1) using near.");
        b.line("assert past: p([9,P2],X1,X2), P2 <> 7 |= p([P2,9],X2,X1) using near.");
        b.line("assert rest: p([P1,P2],X1,X2), P1 <> 8, P1 <> 9 |= p([P2,P1],X2,X1) using near.");
        b.line("assert in: p([P1,8],X1,X2) |= P1 < 3 ; P1 > 7.");
        b.line("assert out: p([P1,9],X1,X2) |= P1 <> 7.");
        b.line("assert mutex: p([8,8],X1,X2) |= false using near, far, past, rest, in, out.");
    } else {
        // What explicit search shows for three processes is the condition for two, pair by pair.
        let state = b.state();
        let exchanged = |prefix: &str, i: usize| {
            let mut list = names(prefix, n);
            list.swap(i - 1, i);
            list.join(",")
        };
        let all: Vec<String> = (1..n).map(|i| format!("pair{i}")).collect();
        for i in 1..n {
            let j = i + 1;
            let rest: Vec<String> = all.iter().filter(|a| **a != format!("pair{i}")).cloned().collect();
            b.line(&format!(
                "assert pair{i}: {state}, not (P{i} = 8, P{j} in 3..7), not (P{i} = 9, P{j} = 7) |= p([{}],{}) using {}.",
                exchanged("P", i),
                exchanged("X", i),
                rest.join(", ")
            ));
        }
        b.line(&format!("assert mutex: {state}, {} |= false using {}.", two_at("8", n), all.join(", ")));
    }
    b.text
}

/// Mutual exclusion with priority (figure 3), its symmetry corrected.
pub(super) fn priority(_: usize) -> String {
    let mut b = Builder::new(
        "Mutual exclusion with priority (2: critical section). As printed, the symmetry of its state space is\n\
         false: ([2,1],1,1) is reachable, ([1,2],1,1) is not. With that case excluded it holds.",
        2,
        &names("X", 2),
    );
    b.initial(&[0, 0]);
    b.comment("process 1");
    b.step(1, 0, 1, "X2 = 0", &[("X1", "1")]);
    b.step(1, 1, 2, "", &[]);
    b.step(1, 2, 0, "", &[("X1", "0")]);
    b.comment("process 2");
    b.step(2, 0, 1, "", &[("X2", "1")]);
    b.step(2, 1, 2, "X1 = 0", &[]);
    b.step(2, 2, 0, "", &[("X2", "0")]);
    b.line("\nassert swap: p([P1,P2],X1,X2), not (P1 = 2, P2 = 1) |= p([P2,P1],X2,X1).");
    b.line("assert mutex: p([2,2],X1,X2) |= false using swap.");
    b.text
}

/// Fischer's timed algorithm; K holds the number of a process.
pub(super) fn fischer(n: usize) -> String {
    let mut variables = names("T", n);
    variables.push("K".into());
    let mut b = Builder::new(
        &format!(
            "Fischer's timed mutual exclusion with {n} processes: T is the time since the last step, K the process\n\
             that set it last. 1: set K within one unit; 2: wait for two units; 3: critical section."
        ),
        n,
        &variables,
    );
    b.initial(&vec![0; n + 1]);
    for i in 1..=n {
        let (own, id) = (format!("T{i}"), i.to_string());
        b.comment(&format!("process {i}"));
        b.step(i, 0, 1, "K = 0", &[(&own, "0")]);
        b.step(i, 1, 2, &format!("T{i} <= 1"), &[("K", &id), (&own, "0")]);
        b.step(i, 2, 3, &format!("T{i} >= 2, K = {id}"), &[]);
        b.step(i, 2, 0, &format!("T{i} >= 2, K <> {id}"), &[]);
        b.step(i, 3, 0, "", &[("K", "0")]);
    }
    b.comment("time passes, but not beyond the unit within which K must be set");
    let state = b.state();
    let later = join(",", (1..=n).map(|i| format!("T{i} + 1")));
    let urgent = join(", ", (1..=n).map(|i| format!("(P{i} <> 1 ; T{i} < 1)")));
    let counters = join(",", names("P", n));
    b.line(&format!("p([{counters}],{later},K) :- {state}, {urgent}."));
    b.line(&format!(
        "\nassert swap: symmetric {state} under permutations {} with ids K from 1.",
        blocks(&["P", "T"], n)
    ));
    b.line(&format!("assert nonneg: {state} |= {}.", join(", ", (1..=n).map(|i| format!("T{i} >= 0")))));
    b.line(&format!("assert mutex: {state}, {} |= false using nonneg, swap.", two_at("3", n)));
    b.text
}
