//! Programs as constrained Horn clauses in SMT-LIB (`HORN` logic), for comparison with other tools.
//!
//! Facts and rules become implications, each safety claim a query: `sat` means that all of them
//! hold. Relative claims have no counterpart there and are left out.

use std::fmt::Write;

use crate::constraint::Linear;
use crate::program::{Program, Right, Tree};

fn number(value: i64) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

fn le(l: &Linear) -> String {
    let term =
        |&(n, c): &(usize, i64)| if c == 1 { format!("x{n}") } else { format!("(* {} x{n})", number(c)) };
    let terms: Vec<String> = l.terms.iter().map(term).collect();
    let sum = match terms.len() {
        0 => "0".into(),
        1 => terms[0].clone(),
        _ => format!("(+ {})", terms.join(" ")),
    };
    format!("(<= {sum} {})", number(l.bound))
}

fn tree(t: &Tree) -> String {
    let join = |operator: &str, empty: &str, list: &[Tree]| match list {
        [] => empty.to_string(),
        [one] => tree(one),
        _ => format!("({operator} {})", list.iter().map(tree).collect::<Vec<_>>().join(" ")),
    };
    match t {
        Tree::Le(l) => le(l),
        Tree::And(list) => join("and", "true", list),
        Tree::Or(list) => join("or", "false", list),
    }
}

/// The text.
pub fn horn(program: &Program) -> String {
    let k = program.width();
    let mut out = String::from("(set-logic HORN)\n");
    let sorts = vec!["Int"; k].join(" ");
    let _ = writeln!(out, "(declare-fun {} ({sorts}) Bool)", program.predicate);
    let state = |nodes: &mut dyn Iterator<Item = usize>| {
        let list: Vec<String> = nodes.map(|n| format!("x{n}")).collect();
        format!("({} {})", program.predicate, list.join(" "))
    };
    let clause = |out: &mut String, nodes: usize, body: String, head: String| {
        let variables: Vec<String> = (1..nodes).map(|n| format!("(x{n} Int)")).collect();
        let _ = writeln!(out, "(assert (forall ({}) (=> {body} {head})))", variables.join(" "));
    };
    for rule in &program.rules {
        let head = state(&mut (1..=k));
        let guard = tree(&rule.guard);
        let body = if rule.is_fact {
            guard
        } else {
            let before = state(&mut (0..k).map(|c| if rule.unchanged[c] { c + 1 } else { k + c + 1 }));
            format!("(and {before} {guard})")
        };
        clause(&mut out, rule.nodes, body, head);
    }
    for assertion in &program.assertions {
        if let Right::Constraint(claim) = &assertion.right {
            let body =
                format!("(and {} {} (not {}))", state(&mut (1..=k)), tree(&assertion.left), tree(claim));
            clause(&mut out, assertion.nodes, body, "false".into());
        }
    }
    out.push_str("(check-sat)\n");
    out
}
