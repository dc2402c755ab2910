//! Systems that are not mutual exclusion: philosophers, producer and consumer, readers and writers.

use super::builder::Builder;
use super::{blocks, join};

/// Dining philosophers with n - 1 tickets.
pub(super) fn philosophers(n: usize) -> String {
    let mut variables: Vec<String> = (1..=n).map(|i| format!("F{i}")).collect();
    variables.push("T".into());
    let mut b = Builder::new(
        &format!(
            "{n} dining philosophers with {} tickets; F is a fork (1: taken), T the tickets left. 3: eating.\n\
             Exchanging two philosophers is not a symmetry; rotating all of them is.",
            n - 1
        ),
        n,
        &variables,
    );
    let mut initial = vec![0; n + 1];
    initial[n] = n as i64 - 1;
    b.initial(&initial);
    for i in 1..=n {
        let (left, right) = (format!("F{i}"), format!("F{}", i % n + 1));
        b.comment(&format!("philosopher {i}"));
        b.step(i, 0, 1, "T >= 1", &[("T", "T - 1")]);
        b.step(i, 1, 2, &format!("{left} = 0"), &[(&left, "1")]);
        b.step(i, 2, 3, &format!("{right} = 0"), &[(&right, "1")]);
        b.step(i, 3, 4, "", &[(&left, "0")]);
        b.step(i, 4, 5, "", &[(&right, "0")]);
        b.step(i, 5, 0, "", &[("T", "T + 1")]);
    }
    let state = b.state();
    // More than half eating: every set of n/2 + 1 philosophers.
    let mut sets = Vec::new();
    for mask in 0u32..1 << n {
        if mask.count_ones() as usize == n / 2 + 1 {
            sets.push(join(", ", (0..n).filter(|i| mask >> i & 1 == 1).map(|i| format!("P{} = 3", i + 1))));
        }
    }
    b.line(&format!("\nassert turn: symmetric {state} under rotations {}.", blocks(&["P", "F"], n)));
    b.line(&format!("assert half: {state}, ({}) |= false using turn.", sets.join(" ; ")));
    b.text
}

/// Producer and consumer of n items (figures 7 and 8).
pub(super) fn producer_consumer(n: usize) -> String {
    let mut b = Builder::new(
        &format!(
            "Producer and consumer of {n} items at a time through one flag. The consumer takes the flag (0), consumes\n\
             (1 to {n}); the producer produces (0 to {}), raises the flag ({n}). X counts items. The two assertions\n\
             say that consuming and producing are serialisable. X never exceeds {}; the bound {} is false.",
            n - 1,
            3 * n,
            2 * n
        ),
        2,
        &["F".to_string(), "X".to_string()],
    );
    consume_and_produce(&mut b, n);
    b.step(2, n, n + 1, "F = 0", &[("F", "1")]);
    b.step(2, n + 1, 0, "", &[]);
    b.line(&format!("\nassert consume: p([{},P2],F,X), P2 <= {n} |= p([1,P2],F,X + {n}).", n + 1));
    b.line(&format!("assert produce: p([P1,{n}],F,X), P1 >= 1 |= p([P1,0],F,X - {n})."));
    b.line(&format!("assert bound: p([P1,P2],F,X) |= X <= {} using consume, produce.", 3 * n));
    b.text
}

/// Both take their `n` items; what the producer does with the flag comes after.
fn consume_and_produce(b: &mut Builder, n: usize) {
    b.initial(&[0, 0]);
    b.comment("consumer");
    b.step(1, 0, 1, "F = 1", &[("F", "0")]);
    for k in 1..=n {
        b.step(1, k, k + 1, "", &[("X", "X - 1")]);
    }
    b.step(1, n + 1, 0, "", &[]);
    b.comment("producer");
    for k in 0..n {
        b.step(2, k, k + 1, "", &[("X", "X + 1")]);
    }
}

/// Producer and consumer as the paper's second table ran it, recovered from its figures: without assertions
/// 5(n+1)(n+2) + 4 stored goals. It is figure 8 to the letter (the producer waits at n + 1, not at n), and the claim is
/// about the one pair of places where both are done: there 2n is a bound.
pub(super) fn producer_consumer_paper(n: usize) -> String {
    let mut b = Builder::new(
        &format!(
            "Producer and consumer of {n} items at a time, as the paper's second table ran it: the flag is raised on\n\
             leaving {end}, and the claim is about [{end},{end}], where both have done their {n} items. There X never\n\
             exceeds {}; elsewhere it may reach {}.",
            2 * n,
            3 * n,
            end = n + 1
        ),
        2,
        &["F".to_string(), "X".to_string()],
    );
    consume_and_produce(&mut b, n);
    b.step(2, n, n + 1, "", &[]);
    b.step(2, n + 1, 0, "F = 0", &[("F", "1")]);
    b.line(&format!("\nassert consume: p([{},P2],F,X), P2 <= {n} |= p([1,P2],F,X + {n}).", n + 1));
    b.line(&format!("assert produce: p([P1,{n}],F,X), P1 >= 1 |= p([P1,0],F,X - {n})."));
    b.line(&format!(
        "assert bound: p([{end},{end}],F,X) |= X <= {} using consume, produce.",
        2 * n,
        end = n + 1
    ));
    b.text
}

/// Readers and writers.
pub(super) fn readers_writers(n: usize) -> String {
    let mut b = Builder::new(
        &format!(
            "Readers and writers, {n} processes that may be either. R counts readers, W is 1 while someone writes.\n\
             1: reading, 2: writing."
        ),
        n,
        &["R".to_string(), "W".to_string()],
    );
    b.initial(&[0, 0]);
    for i in 1..=n {
        b.comment(&format!("process {i}"));
        b.step(i, 0, 1, "W = 0", &[("R", "R + 1")]);
        b.step(i, 1, 0, "", &[("R", "R - 1")]);
        b.step(i, 0, 2, "W = 0, R = 0", &[("W", "1")]);
        b.step(i, 2, 0, "", &[("W", "0")]);
    }
    let state = b.state();
    let mut clashes = Vec::new();
    for i in 1..=n {
        for j in (1..=n).filter(|&j| j != i) {
            clashes.push(format!("P{i} = 2, P{j} >= 1"));
        }
    }
    b.line(&format!("\nassert swap: symmetric {state} under permutations {}.", blocks(&["P"], n)));
    b.line(&format!("assert alone: {state}, ({}) |= false using swap.", clashes.join(" ; ")));
    b.text
}
