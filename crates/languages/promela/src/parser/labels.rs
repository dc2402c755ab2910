//! Labels of expanded `inline` bodies.
//!
//! Each expansion has labels of its own, as in SPIN: in expansion number k, a label `L` of the body is
//! renamed to `L#k` together with the jumps to it inside the body. A jump to a label that the body
//! does not have means a label around the call. At the end of a process body, an `L#k` that is the
//! only label `L` of the process gets its plain name back, so that remote references `P@L`, and jumps
//! from outside the body, find it.

use std::collections::{HashMap, HashSet};

use crate::ast::{Sequence, Statement, StatementKind};

/// Calls `action` for every statement of a sequence, also inside others.
fn visit(sequence: &mut Sequence, action: &mut impl FnMut(&mut Statement)) {
    for statement in &mut sequence.statements {
        visit_statement(statement, action);
    }
}

fn visit_statement(statement: &mut Statement, action: &mut impl FnMut(&mut Statement)) {
    action(statement);
    match &mut statement.kind {
        StatementKind::If(choices) | StatementKind::Do(choices) => {
            choices.iter_mut().for_each(|choice| visit(&mut choice.sequence, action));
        }
        StatementKind::ForRange { body, .. }
        | StatementKind::ForIn { body, .. }
        | StatementKind::Atomic(body)
        | StatementKind::DStep(body)
        | StatementKind::Block(body) => visit(body, action),
        StatementKind::Unless(main, escape) => {
            visit_statement(main, action);
            visit_statement(escape, action);
        }
        _ => {}
    }
}

/// Renames the labels of an expansion, and the jumps to them inside it. Labels of expansions inside
/// it were renamed already.
pub(super) fn make_labels_unique(sequence: &mut Sequence, expansion: usize) {
    let mut own = HashSet::new();
    visit(sequence, &mut |statement| {
        for label in statement.labels.iter_mut().filter(|l| !l.name.contains('#')) {
            own.insert(label.name.clone());
            label.name = format!("{}#{expansion}", label.name);
        }
    });
    if own.is_empty() {
        return;
    }
    visit(sequence, &mut |statement| {
        if let StatementKind::Goto(target) = &mut statement.kind
            && own.contains(&target.name)
        {
            target.name = format!("{}#{expansion}", target.name);
        }
    });
}

/// Gives labels that need no number their plain names back, at the end of a process body.
pub(super) fn restore_plain_labels(body: &mut Sequence) {
    let mut count: HashMap<String, usize> = HashMap::new();
    let plain = |name: &str| name.split('#').next().unwrap_or("").to_string();
    visit(body, &mut |statement| {
        for label in &statement.labels {
            *count.entry(plain(&label.name)).or_default() += 1;
        }
    });
    let single = |name: &str| name.contains('#') && count.get(&plain(name)) == Some(&1);
    visit(body, &mut |statement| {
        for label in statement.labels.iter_mut().filter(|l| single(&l.name)) {
            label.name = plain(&label.name);
        }
        if let StatementKind::Goto(target) = &mut statement.kind
            && single(&target.name)
        {
            target.name = plain(&target.name);
        }
    });
}
