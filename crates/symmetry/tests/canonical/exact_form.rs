//! The exact form against brute force: all numberings of small graphs, renumberings of larger ones.
//!
//! `QUOTIENT_RANDOM_GRAPHS` sets how many graphs.

use crate::random_graphs::Random;
use quotient_symmetry::exact::Exact;
use quotient_symmetry::graph::Graph;

fn form(exact: &mut Exact, g: &Graph) -> Graph {
    let mut number = Vec::new();
    exact.number(g, &mut number);
    g.renumbered(&number)
}

/// A graph as words, comparable.
fn words(g: &Graph) -> Vec<u64> {
    let mut out = Vec::new();
    for n in 0..g.len() as u32 {
        out.push(u64::from(g.kind(n)));
        out.extend(g.data(n));
        let mut edges: Vec<_> =
            g.edges(n).iter().map(|e| u64::from(e.label) << 32 | u64::from(e.target)).collect();
        edges.sort_unstable();
        out.push(1 << 63 | edges.len() as u64);
        out.extend(edges);
    }
    out
}

/// The least of all numberings: a canonical form with nothing clever in it.
fn least(g: &Graph) -> Vec<u64> {
    fn permute(rest: &mut Vec<u32>, number: &mut Vec<u32>, g: &Graph, best: &mut Option<Vec<u64>>) {
        if rest.is_empty() {
            let w = words(&g.renumbered(number));
            if best.as_ref().is_none_or(|b| w < *b) {
                *best = Some(w);
            }
            return;
        }
        for i in 0..rest.len() {
            let next = rest.swap_remove(i);
            number.push(next);
            permute(rest, number, g, best);
            number.pop();
            rest.push(next);
            let last = rest.len() - 1;
            rest.swap(i, last);
        }
    }
    let mut best = None;
    permute(&mut (0..g.len() as u32).collect(), &mut Vec::new(), g, &mut best);
    best.expect("there is at least one numbering")
}

#[test]
fn renumbering_changes_nothing() {
    let mut random = Random::new(1);
    let mut exact = Exact::new();
    for _ in 0..quotient_testing::setting("QUOTIENT_RANDOM_GRAPHS", 5_000) {
        let most = 4 + random.below(14);
        let g = random.graph(most);
        let canon = form(&mut exact, &g);
        for _ in 0..3 {
            let renumbered = g.renumbered(&random.renumbering(g.len()));
            assert_eq!(form(&mut exact, &renumbered), canon, "{g:?}");
        }
    }
    assert_eq!(exact.statistics.over_budget, 0);
    let quotient_symmetry::exact::ExactStatistics { signed, walked, searched, .. } = exact.statistics;
    assert!(signed > 1_000 && walked > 1_000 && searched > 0, "every way is taken: {:?}", exact.statistics);
    println!("{:?}", exact.statistics);
}

#[test]
fn equal_forms_exactly_when_some_numbering_is_equal() {
    let mut random = Random::new(2);
    let mut exact = Exact::new();
    let mut by_form = std::collections::HashMap::new();
    let mut by_least = std::collections::HashMap::new();
    for _ in 0..quotient_testing::setting("QUOTIENT_RANDOM_GRAPHS", 5_000).min(20_000) {
        let g = random.graph(5);
        let canon = words(&form(&mut exact, &g));
        let least = least(&g);
        assert_eq!(*by_form.entry(canon.clone()).or_insert_with(|| least.clone()), least, "{g:?}");
        assert_eq!(*by_least.entry(least).or_insert_with(|| canon.clone()), canon, "{g:?}");
    }
    assert!(by_form.len() > 500, "only {} classes", by_form.len());
}

/// Graphs on which refinement alone is helpless: many equal threads in cycles of different lengths.
#[test]
fn cycles_of_different_lengths() {
    let cycles = |lengths: &[u32]| {
        let mut g = Graph::new();
        g.object(99);
        let mut first = 1;
        for &length in lengths {
            for i in 0..length {
                g.thread(0, 0);
                g.edge(0, first + (i + 1) % length);
            }
            first += length;
        }
        g
    };
    let mut exact = Exact::new();
    let forms: Vec<Graph> =
        [&[6, 3, 3][..], &[3, 6, 3], &[3, 3, 6], &[12], &[4, 4, 4], &[5, 4, 3], &[3, 4, 5]]
            .iter()
            .map(|l| form(&mut exact, &cycles(l)))
            .collect();
    assert_eq!(forms[0], forms[1]);
    assert_eq!(forms[0], forms[2]);
    assert_eq!(forms[5], forms[6]);
    for (a, b) in [(0, 3), (0, 4), (0, 5), (3, 4), (3, 5), (4, 5)] {
        assert_ne!(forms[a], forms[b]);
    }
    assert_eq!(exact.statistics.over_budget, 0);
}

/// Past its budget the form is still a renumbering, and says that it may not be canonical.
#[test]
fn the_budget_is_counted() {
    let mut exact = Exact::new();
    exact.budget = 0;
    let mut g = Graph::new();
    g.object(99);
    for i in 0..16u32 {
        g.thread(0, 0);
        g.edge(0, 1 + (i + 1) % 16);
    }
    let mut number = Vec::new();
    exact.number(&g, &mut number);
    let mut sorted = number.clone();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..17));
    assert_eq!(exact.statistics.over_budget, 1);
}
