//! Statements as `.clp` text: what a front end made of another language can be read, edited and
//! given back.

use super::ast::*;

/// The program as text; reading it gives the same program.
pub fn print(items: &[Item]) -> String {
    let mut out = String::new();
    let mut rules = true;
    for item in items {
        match item {
            Item::Rule { head, body, constraint, .. } => {
                out.push_str(&atom(head));
                let mut parts: Vec<String> = body.iter().map(atom).collect();
                conjuncts(constraint, &mut parts);
                if !parts.is_empty() {
                    out.push_str(" :- ");
                    out.push_str(&parts.join(", "));
                }
                out.push_str(".\n");
            }
            Item::Assertion(assertion) => {
                if std::mem::take(&mut rules) {
                    out.push('\n');
                }
                out.push_str(&statement(assertion));
                out.push('\n');
            }
        }
    }
    out
}

fn statement(assertion: &Assertion) -> String {
    let mut out = String::from(if assertion.assumed { "assume " } else { "assert " });
    if assertion.nonincreasing {
        out.push_str("nonincreasing ");
    }
    if let Some((name, _)) = &assertion.name {
        out.push_str(&format!("{name}: "));
    }
    if matches!(assertion.claim, Claim::Symmetric { .. }) {
        out.push_str("symmetric ");
    }
    let mut left = vec![atom(&assertion.left)];
    conjuncts(&assertion.constraint, &mut left);
    out.push_str(&left.join(", "));
    match &assertion.claim {
        Claim::State(state, constraint) => {
            let mut right = vec![atom(state)];
            conjuncts(constraint, &mut right);
            out.push_str(&format!(" |= {}", right.join(", ")));
        }
        Claim::Constraint(constraint) => {
            let mut right = Vec::new();
            conjuncts(constraint, &mut right);
            let right = if right.is_empty() { "true".into() } else { right.join(", ") };
            out.push_str(&format!(" |= {right}"));
        }
        Claim::Symmetric { group, blocks, identities, first } => {
            let group = match group {
                Group::Permutations => "permutations",
                Group::Rotations => "rotations",
            };
            let names = |list: &[(String, _)]| list.iter().map(|n| n.0.clone()).collect::<Vec<_>>().join(",");
            let blocks: Vec<String> = blocks.iter().map(|b| format!("({})", names(&b.0))).collect();
            out.push_str(&format!(" under {group} {{{}}}", blocks.join(",")));
            if !identities.is_empty() {
                out.push_str(&format!(" with ids {} from {first}", names(identities)));
            }
        }
    }
    if !assertion.using.is_empty() {
        let names: Vec<&str> = assertion.using.iter().map(|u| u.0.as_str()).collect();
        out.push_str(&format!(" using {}", names.join(", ")));
    }
    out.push('.');
    out
}

fn atom(atom: &Atom) -> String {
    let arguments: Vec<String> = atom.arguments.iter().map(term).collect();
    format!("{}({})", atom.name, arguments.join(","))
}

/// A formula as a list of conjuncts.
fn conjuncts(formula: &Formula, out: &mut Vec<String>) {
    match formula {
        Formula::And(list) => list.iter().for_each(|f| conjuncts(f, out)),
        Formula::Truth(true) => {}
        other => out.push(conjunct(other)),
    }
}

/// A formula that can stand between commas.
fn conjunct(formula: &Formula) -> String {
    match formula {
        Formula::Truth(value) => value.to_string(),
        Formula::Compare(relation, a, b) => {
            let relation = match relation {
                Relation::Equal => "=",
                Relation::Different => "<>",
                Relation::Less => "<",
                Relation::AtMost => "<=",
                Relation::Greater => ">",
                Relation::AtLeast => ">=",
            };
            format!("{} {relation} {}", term(a), term(b))
        }
        Formula::In(terms, values, _) => {
            let tuple = |parts: Vec<String>| format!("({})", parts.join(","));
            let values: Vec<String> =
                values.iter().map(|v| tuple(v.0.iter().map(i64::to_string).collect())).collect();
            format!("{} in {{{}}}", tuple(terms.iter().map(term).collect()), values.join(","))
        }
        Formula::Range(t, low, high) => format!("{} in {low}..{high}", term(t)),
        Formula::And(list) if list.is_empty() => "true".into(),
        Formula::Or(list) if list.is_empty() => "false".into(),
        Formula::And(list) => {
            let mut parts = Vec::new();
            list.iter().for_each(|f| conjuncts(f, &mut parts));
            if parts.is_empty() { "true".into() } else { format!("({})", parts.join(", ")) }
        }
        Formula::Or(list) => {
            let alternative = |f: &Formula| {
                let mut parts = Vec::new();
                conjuncts(f, &mut parts);
                if parts.is_empty() { "true".into() } else { parts.join(", ") }
            };
            format!("({})", list.iter().map(alternative).collect::<Vec<_>>().join(" ; "))
        }
        Formula::Not(inner) => {
            let inner = conjunct(inner);
            if inner.starts_with('(') && inner.ends_with(')') {
                // One pair of parentheses, or several: `(a),(b)` is only one with another around it.
                format!("not ({inner})")
            } else {
                format!("not {inner}")
            }
        }
    }
}

fn term(t: &Term) -> String {
    match &t.kind {
        TermKind::Variable(name) => name.clone(),
        TermKind::Integer(value) => value.to_string(),
        TermKind::Sum(a, b) => format!("{} + {}", term(a), tight(b)),
        TermKind::Difference(a, b) => format!("{} - {}", term(a), tight(b)),
        TermKind::Product(a, b) => format!("{} * {}", tight(a), tight(b)),
        TermKind::Negative(a) => format!("-{}", tight(a)),
        TermKind::List(list) => format!("[{}]", list.iter().map(term).collect::<Vec<_>>().join(",")),
    }
}

/// In parentheses unless it is a single thing.
fn tight(t: &Term) -> String {
    match &t.kind {
        TermKind::Variable(_) | TermKind::List(_) => term(t),
        TermKind::Integer(value) if *value >= 0 => term(t),
        _ => format!("({})", term(t)),
    }
}
