//! Exact arithmetic against enumeration: contradictions, maxima, solved equations.

use quotient_proof::integer::{Optimum, Simplex, System};
use quotient_testing::Random;

/// Points of a box that satisfy everything.
fn points(rows: &[([i64; 3], i64, bool)]) -> Vec<[i64; 3]> {
    let range = -4..=4i64;
    let mut out = Vec::new();
    for x in range.clone() {
        for y in range.clone() {
            for z in range.clone() {
                let holds = |(c, b, equal): &([i64; 3], i64, bool)| {
                    let v = c[0] * x + c[1] * y + c[2] * z;
                    if *equal { v == *b } else { v <= *b }
                };
                if rows.iter().all(holds) {
                    out.push([x, y, z]);
                }
            }
        }
    }
    out
}

#[test]
fn systems_agree_with_enumeration() {
    let mut r = Random::new(3);
    let (mut empty, mut exact) = (0, 0);
    for round in 0..4_000 {
        let mut system = System::default();
        let v = [system.variable(), system.variable(), system.variable()];
        let mut rows = Vec::new();
        for _ in 0..1 + r.number(5) {
            let mut coefficient = || r.number(7) as i64 - 3;
            let c = [coefficient(), coefficient(), coefficient()];
            rows.push((c, r.number(11) as i64 - 5, r.number(4) == 0));
        }
        // The box, so that everything is finite.
        for i in 0..3 {
            for sign in [1, -1] {
                let mut c = [0; 3];
                c[i] = sign;
                rows.push((c, 4, false));
            }
        }
        for (c, b, equal) in &rows {
            let terms: Vec<(usize, i64)> = (0..3).map(|i| (v[i], c[i])).filter(|t| t.1 != 0).collect();
            if *equal { system.equal(&terms, *b).unwrap() } else { system.le(&terms, *b).unwrap() }
        }
        let found = points(&rows);
        let alive = system.settle().unwrap();
        let mut simplex = Simplex::new(&system);
        let conflict = if alive { simplex.conflict().unwrap() } else { Some(Vec::new()) };
        if conflict.is_some() {
            assert!(found.is_empty(), "round {round}: {rows:?}");
            empty += 1;
            continue;
        }
        for (i, &variable) in v.iter().enumerate() {
            let form = system.form(variable).clone();
            let best = found.iter().map(|p| p[i]).max();
            match simplex.maximum(&form.terms).unwrap() {
                Optimum::At(value, why) => {
                    assert!(why.iter().all(|w| w.1.is_positive()), "round {round}");
                    let bound = value.floor() + form.constant;
                    assert!(best.is_none_or(|b| b <= bound), "round {round}: {best:?} {bound}, {rows:?}");
                    exact += usize::from(best == Some(bound));
                }
                Optimum::Unbounded => panic!("round {round}: a box is bounded"),
            }
        }
    }
    assert!(empty > 300 && exact > 3_000, "{empty} {exact}");
}

/// Numbers near the end of the range end in an error, never in another number.
#[test]
fn large_numbers_do_not_wrap() {
    let large = i64::MAX - 1;
    let mut system = System::default();
    let (x, y) = (system.variable(), system.variable());
    system.le(&[(x, large)], large).unwrap();
    system.le(&[(x, 1), (y, large)], large).unwrap();
    system.le(&[(x, -3), (y, -large)], -large).unwrap();
    assert!(
        system.equal(&[(x, large), (y, 7)], 3).is_err() || system.settle().is_err() || {
            // Or it is solved: then the equation holds of the solution.
            let sum = system.sum(&[(x, large), (y, 7)]);
            sum.is_err() || sum.is_ok_and(|s| s.terms.is_empty() && s.constant == 3)
        }
    );
}
