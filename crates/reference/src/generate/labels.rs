//! Labels: those that jumps lead to, and those that mean something (`end`, `accept`, `progress`).

use super::{Generator, skip};
use crate::construct::*;
use quotient_promela::ast::*;

impl Generator {
    /// Puts the labels that jumps use on statements of the body from `start` on; returns all labels.
    pub(super) fn place_labels(&mut self, body: &mut Vec<Statement>, start: usize) -> Vec<String> {
        let mut labels = std::mem::take(&mut self.used_labels);
        if self.random.chance(30) && !labels.contains(&"L2".to_string()) {
            labels.push("L2".to_string());
        }
        for label in &labels {
            if self.random.chance(self.knobs.label_in_atomic) && label_inside(&mut body[start..], label) {
                continue;
            }
            let places: Vec<usize> = (start..body.len()).filter(|at| labelable(&body[*at])).collect();
            match self.random.pick(&places) {
                Some(at) => body[*at].labels.push(ident(label)),
                None => {
                    let mut target = skip();
                    target.labels.push(ident(label));
                    body.push(target);
                }
            }
        }
        labels
    }

    /// Puts labels that mean something on one or two statements, wherever they are.
    pub(super) fn mark(&mut self, body: &mut [Statement]) {
        let prefix = ["progress", "accept", "end"][self.random.below(3)];
        for index in 0..1 + self.random.below(2) {
            // Half of them where an option begins, if there is such a place.
            let mut counts = [0; 2];
            each_markable(body, false, &mut |_, first| counts[usize::from(first)] += 1);
            let first = counts[1] > 0 && (counts[0] == 0 || self.random.chance(50));
            let mut chosen = self.random.below(counts[usize::from(first)]);
            each_markable(body, false, &mut |statement, is_first| {
                if is_first == first {
                    if chosen == 0 {
                        statement.labels.push(ident(&format!("{prefix}_{index}")));
                    }
                    chosen = chosen.wrapping_sub(1);
                }
            });
        }
    }
}

/// A label on `for` or `select` would stand in the middle of what SPIN makes of them; one on `unless` or
/// a declaration is refused; one on a jump is lost; a jump to a `d_step` is refused as one into it.
pub(super) fn labelable(statement: &Statement) -> bool {
    !matches!(
        statement.kind,
        StatementKind::Declaration(_)
            | StatementKind::Unless(..)
            | StatementKind::ForRange { .. }
            | StatementKind::ForIn { .. }
            | StatementKind::Select { .. }
            | StatementKind::Goto(_)
            | StatementKind::Break
            | StatementKind::DStep(_)
    )
}

/// Visits the statements without a label that one can be put on, outside of `d_step`, and says whether each is the first of an option: no
/// process stands there, and the label is passed on to where the option's first step leads.
fn each_markable(body: &mut [Statement], option: bool, visit: &mut dyn FnMut(&mut Statement, bool)) {
    for (index, statement) in body.iter_mut().enumerate() {
        // Nothing jumps to these labels, so that a `d_step`, an `else` or a jump can have one.
        let markable = labelable(statement)
            || matches!(
                statement.kind,
                StatementKind::DStep(_) | StatementKind::Goto(_) | StatementKind::Break
            );
        if markable && statement.labels.is_empty() {
            visit(statement, option && index == 0);
        }
        match &mut statement.kind {
            StatementKind::If(choices) | StatementKind::Do(choices) => {
                for choice in choices {
                    each_markable(&mut choice.sequence.statements, true, visit);
                }
            }
            StatementKind::Atomic(inner)
            | StatementKind::Block(inner)
            | StatementKind::ForRange { body: inner, .. }
            | StatementKind::ForIn { body: inner, .. } => each_later(inner, visit),
            StatementKind::Unless(main, escape) => {
                for part in [main, escape] {
                    if let StatementKind::Block(inner) = &mut part.kind {
                        each_later(inner, visit);
                    }
                }
            }
            _ => {}
        }
    }
}

/// SPIN refuses a label on the first statement of a block, which may come after declarations.
fn each_later(inner: &mut Sequence, visit: &mut dyn FnMut(&mut Statement, bool)) {
    let first = inner.statements.iter().position(|s| !matches!(s.kind, StatementKind::Declaration(_)));
    if let Some(later) = first.and_then(|first| inner.statements.get_mut(first + 1..)) {
        each_markable(later, false, visit);
    }
}

/// Puts a label inside an atomic sequence (never on its first statement); was there a place?
fn label_inside(body: &mut [Statement], label: &str) -> bool {
    for statement in body {
        if let StatementKind::Atomic(inner) = &mut statement.kind
            && let Some(target) = inner.statements.iter_mut().skip(1).find(|s| labelable(s))
        {
            target.labels.push(ident(label));
            return true;
        }
    }
    false
}
