//! The exact form against nauty, an independent canonical-labelling library.
//!
//! Needs libclang to build the library's bindings, so it is a feature: `cargo test -p quotient-symmetry --features
//! nauty-oracle`. `QUOTIENT_RANDOM_GRAPHS` sets how many graphs.

use std::collections::HashMap;
use std::os::raw::c_int;

use crate::random_graphs::Random;
use nauty_Traces_sys::{FALSE, TRUE, densenauty, optionblk, statsblk};
use quotient_symmetry::exact::Exact;
use quotient_symmetry::graph::Graph;

/// The canonical graph nauty gives: a vertex for every node, coloured by kind and data, and one for every edge, coloured by
/// its label.
fn nauty(g: &Graph) -> Vec<u64> {
    let mut colours: Vec<Vec<u64>> =
        (0..g.len() as u32).map(|n| [&[0, u64::from(g.kind(n))], g.data(n)].concat()).collect();
    let mut arcs = Vec::new();
    for node in 0..g.len() as u32 {
        for edge in g.edges(node) {
            let vertex = colours.len();
            colours.push(vec![1, u64::from(edge.label)]);
            arcs.push((node as usize, vertex));
            arcs.push((vertex, edge.target as usize));
        }
    }
    let n = colours.len();
    let m = n.div_ceil(64);
    let mut graph = vec![0u64; n * m];
    for (a, b) in arcs {
        graph[a * m + b / 64] |= 1 << (63 - b % 64);
    }
    let mut label: Vec<c_int> = (0..n as c_int).collect();
    label.sort_by_key(|v| &colours[*v as usize]);
    let mut partition: Vec<c_int> = vec![1; n];
    for i in 0..n {
        if i + 1 == n || colours[label[i] as usize] != colours[label[i + 1] as usize] {
            partition[i] = 0;
        }
    }
    let mut orbits = vec![0; n];
    let mut options = optionblk::default_digraph();
    options.getcanon = TRUE;
    options.defaultptn = FALSE;
    let mut statistics = statsblk::default();
    let mut canon = vec![0u64; n * m];
    // SAFETY: all arrays have the sizes the library asks for: n vertices in rows of m words.
    unsafe {
        densenauty(
            graph.as_mut_ptr(),
            label.as_mut_ptr(),
            partition.as_mut_ptr(),
            orbits.as_mut_ptr(),
            &mut options,
            &mut statistics,
            m as c_int,
            n as c_int,
            canon.as_mut_ptr(),
        );
    }
    let mut out: Vec<u64> = label.iter().flat_map(|v| colours[*v as usize].clone()).collect();
    out.extend(canon);
    out
}

#[test]
fn equal_forms_exactly_when_nauty_says_isomorphic() {
    let graphs = quotient_testing::setting("QUOTIENT_RANDOM_GRAPHS", 100_000);
    let mut random = Random::new(77);
    let mut exact = Exact::new();
    let mut by_form: HashMap<String, Vec<u64>> = HashMap::new();
    let mut by_nauty: HashMap<Vec<u64>, String> = HashMap::new();
    for _ in 0..graphs {
        let most = 3 + random.below(9);
        let g = random.graph(most);
        let mut number = Vec::new();
        exact.number(&g, &mut number);
        let form = format!("{:?}", g.renumbered(&number));
        let canon = nauty(&g);
        assert_eq!(*by_form.entry(form.clone()).or_insert_with(|| canon.clone()), canon, "{g:?}");
        assert_eq!(*by_nauty.entry(canon).or_insert_with(|| form.clone()), form, "{g:?}");
    }
    assert_eq!(exact.statistics.over_budget, 0);
    println!("{graphs} graphs, {} classes, {:?}", by_form.len(), exact.statistics);
}
