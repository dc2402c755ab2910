//! A smaller program that still fails: greedy removal, always in the same order.
//!
//! One pass tries every single reduction of the current program, the coarsest first; whenever the result
//! still fails it becomes the current program and the pass goes on from the same position. Passes repeat
//! until one of them finds nothing. Nothing is random, so the same input gives the same output.
//!
//! Reductions need not keep a program well-formed: a predicate that says "does not fail" for a program
//! that is refused keeps the shrinker on the right path.

use crate::construct::{number, skip};
use quotient_promela::ast::*;

/// Shrinks `model` as long as `fails` says yes. Returns `model` itself if nothing smaller fails.
pub fn shrink(model: &Model, fails: &mut dyn FnMut(&Model) -> bool) -> Model {
    let mut current = model.clone();
    loop {
        let mut progress = false;
        for reduce in [remove_unit, reduce_unit, reduce_statement, reduce_expression] {
            let mut position = 0;
            // `reduce` answers `None` when there is no reduction with this number.
            while let Some(candidate) = reduce(&current, position) {
                if fails(&candidate) {
                    current = candidate;
                    progress = true;
                } else {
                    position += 1;
                }
            }
        }
        if !progress {
            return current;
        }
    }
}

/// Counts down to the position wanted; reductions ask it one after the other whether it is their turn.
struct Turn {
    left: Option<usize>,
}

impl Turn {
    fn mine(&mut self) -> bool {
        match self.left {
            Some(0) => {
                self.left = None;
                true
            }
            Some(n) => {
                self.left = Some(n - 1);
                false
            }
            None => false,
        }
    }

    fn over(&self) -> bool {
        self.left.is_none()
    }
}

fn remove_unit(model: &Model, position: usize) -> Option<Model> {
    let mut smaller = model.clone();
    (position < smaller.units.len()).then(|| {
        smaller.units.remove(position);
        smaller
    })
}

/// Parts of units: instances, clauses, parameters, fields, variables, mtype names.
fn reduce_unit(model: &Model, position: usize) -> Option<Model> {
    let mut smaller = model.clone();
    let mut turn = Turn { left: Some(position) };
    for unit in &mut smaller.units {
        match unit {
            Unit::Proctype(p) => {
                if p.provided.is_some() && turn.mine() {
                    p.provided = None;
                }
                if let Some(active) = &mut p.active
                    && active.count.is_some()
                    && turn.mine()
                {
                    active.count = None;
                }
                for index in 0..p.params.len() {
                    if turn.mine() {
                        p.params.remove(index);
                        break;
                    }
                }
            }
            Unit::Typedef(t) => {
                for index in 0..t.fields.len() {
                    if turn.mine() {
                        t.fields.remove(index);
                        break;
                    }
                }
            }
            Unit::Mtype(m) => {
                for index in 0..m.names.len() {
                    if turn.mine() {
                        m.names.remove(index);
                        break;
                    }
                }
            }
            Unit::Declaration(d) => reduce_declaration(d, &mut turn),
            _ => {}
        }
        if turn.over() {
            return Some(smaller);
        }
    }
    None
}

fn reduce_declaration(declaration: &mut Declaration, turn: &mut Turn) {
    for variable in &mut declaration.variables {
        match &mut variable.init {
            Some(Initialiser::Channel(channel)) => {
                for index in 0..channel.fields.len() {
                    if channel.fields.len() > 1 && turn.mine() {
                        channel.fields.remove(index);
                        break;
                    }
                }
            }
            Some(_) if turn.mine() => variable.init = None,
            _ => {}
        }
    }
}

fn bodies(model: &mut Model) -> Vec<&mut Sequence> {
    let units = model.units.iter_mut();
    units
        .filter_map(|unit| match unit {
            Unit::Proctype(p) => Some(&mut p.body),
            Unit::Init(i) => Some(&mut i.body),
            Unit::Never(n) => Some(&mut n.body),
            Unit::Trace(t) => Some(&mut t.body),
            _ => None,
        })
        .collect()
}

/// Removes a statement, a choice or a label, or replaces a compound statement by its content.
fn reduce_statement(model: &Model, position: usize) -> Option<Model> {
    let mut smaller = model.clone();
    let mut turn = Turn { left: Some(position) };
    for body in bodies(&mut smaller) {
        in_sequence(body, &mut turn);
        if turn.over() {
            return Some(smaller);
        }
    }
    None
}

fn in_sequence(sequence: &mut Sequence, turn: &mut Turn) {
    for index in 0..sequence.statements.len() {
        if turn.mine() {
            sequence.statements.remove(index);
            return;
        }
        if let Some(content) = content(&sequence.statements[index])
            && turn.mine()
        {
            sequence.statements.splice(index..=index, content);
            return;
        }
        in_statement(&mut sequence.statements[index], turn);
        if turn.over() {
            return;
        }
    }
}

/// The statements inside a compound statement.
fn content(statement: &Statement) -> Option<Vec<Statement>> {
    match &statement.kind {
        StatementKind::Atomic(inner) | StatementKind::DStep(inner) | StatementKind::Block(inner) => {
            Some(inner.statements.clone())
        }
        StatementKind::ForRange { body, .. } | StatementKind::ForIn { body, .. } => {
            Some(body.statements.clone())
        }
        StatementKind::Unless(main, _) => Some(vec![(**main).clone()]),
        StatementKind::If(choices) | StatementKind::Do(choices) => {
            choices.first().map(|c| c.sequence.statements.clone())
        }
        _ => None,
    }
}

fn in_statement(statement: &mut Statement, turn: &mut Turn) {
    for index in 0..statement.labels.len() {
        if turn.mine() {
            statement.labels.remove(index);
            return;
        }
    }
    if let StatementKind::Unless(_, escape) = &statement.kind
        && turn.mine()
    {
        // The escape alone; the main part alone is its content.
        *statement = (**escape).clone();
        return;
    }
    match &mut statement.kind {
        StatementKind::Atomic(inner) | StatementKind::DStep(inner) | StatementKind::Block(inner) => {
            in_sequence(inner, turn);
        }
        StatementKind::ForRange { body, .. } | StatementKind::ForIn { body, .. } => in_sequence(body, turn),
        StatementKind::Unless(main, escape) => {
            in_statement(main, turn);
            if !turn.over() {
                in_statement(escape, turn);
            }
        }
        StatementKind::If(choices) | StatementKind::Do(choices) => {
            for index in 0..choices.len() {
                if choices.len() > 1 && turn.mine() {
                    choices.remove(index);
                    return;
                }
                in_sequence(&mut choices[index].sequence, turn);
                if turn.over() {
                    return;
                }
            }
        }
        StatementKind::Declaration(d) => reduce_declaration(d, turn),
        StatementKind::Send { sorted, .. } if *sorted && turn.mine() => *sorted = false,
        StatementKind::Receive { any, peek, .. } => {
            if *peek && turn.mine() {
                *peek = false;
            } else if *any && turn.mine() {
                *any = false;
            }
        }
        StatementKind::Assign(..) | StatementKind::Expr(_) | StatementKind::Assert(_) => {
            let simplest =
                matches!(&statement.kind, StatementKind::Expr(e) if matches!(e.kind, ExprKind::Number(_)));
            if !simplest && turn.mine() {
                statement.kind = skip().kind;
            }
        }
        _ => {}
    }
}

/// Replaces an expression by one of its operands or by a number.
fn reduce_expression(model: &Model, position: usize) -> Option<Model> {
    let mut smaller = model.clone();
    let mut turn = Turn { left: Some(position) };
    for unit in &mut smaller.units {
        if let Unit::Proctype(p) = unit
            && let Some(provided) = &mut p.provided
        {
            in_expression(provided, &mut turn);
        }
    }
    for body in bodies(&mut smaller) {
        for statement in &mut body.statements {
            expressions(statement, &mut turn);
        }
    }
    turn.over().then_some(smaller)
}

fn expressions(statement: &mut Statement, turn: &mut Turn) {
    let sequence = |s: &mut Sequence, turn: &mut Turn| {
        for statement in &mut s.statements {
            expressions(statement, turn);
        }
    };
    match &mut statement.kind {
        StatementKind::Expr(e) | StatementKind::Assert(e) | StatementKind::Printm(e) => {
            in_expression(e, turn);
        }
        StatementKind::Assign(target, e) => {
            in_reference(target, turn);
            in_expression(e, turn);
        }
        StatementKind::Printf(_, args) => args.iter_mut().for_each(|e| in_expression(e, turn)),
        StatementKind::Send { args, .. } => args.iter_mut().for_each(|e| in_expression(e, turn)),
        StatementKind::Receive { args, .. } => in_pattern(args, turn),
        StatementKind::Select { from, to, .. } => {
            in_expression(from, turn);
            in_expression(to, turn);
        }
        StatementKind::ForRange { from, to, body, .. } => {
            in_expression(from, turn);
            in_expression(to, turn);
            sequence(body, turn);
        }
        StatementKind::ForIn { body, .. } => sequence(body, turn),
        StatementKind::Atomic(s) | StatementKind::DStep(s) | StatementKind::Block(s) => sequence(s, turn),
        StatementKind::Unless(main, escape) => {
            expressions(main, turn);
            expressions(escape, turn);
        }
        StatementKind::If(choices) | StatementKind::Do(choices) => {
            for choice in choices {
                sequence(&mut choice.sequence, turn);
            }
        }
        StatementKind::Increment(target) | StatementKind::Decrement(target) => in_reference(target, turn),
        StatementKind::Declaration(d) => {
            for variable in &mut d.variables {
                if let Some(Initialiser::Expr(e)) = &mut variable.init {
                    in_expression(e, turn);
                }
            }
        }
        StatementKind::Else
        | StatementKind::Break
        | StatementKind::Goto(_)
        | StatementKind::Dynamic(_)
        | StatementKind::Exclusive { .. } => {}
    }
}

fn in_reference(reference: &mut Reference, turn: &mut Turn) {
    for part in &mut reference.parts {
        if let Some(index) = &mut part.index {
            in_expression(index, turn);
        }
    }
}

fn in_pattern(args: &mut [ReceiveArg], turn: &mut Turn) {
    for arg in args {
        match arg {
            ReceiveArg::Pointer(reference) | ReceiveArg::Variable(reference) => {
                if turn.mine() {
                    *arg = ReceiveArg::Ignore(reference.span);
                } else {
                    in_reference(reference, turn);
                }
            }
            ReceiveArg::Eval(e, _) => in_expression(e, turn),
            ReceiveArg::Ignore(_) | ReceiveArg::Constant(_) => {}
        }
    }
}

fn in_expression(e: &mut Expr, turn: &mut Turn) {
    if matches!(e.kind, ExprKind::Number(_)) || turn.over() {
        return;
    }
    if turn.mine() {
        *e = number(1);
        return;
    }
    if turn.mine() {
        *e = number(0);
        return;
    }
    match &mut e.kind {
        ExprKind::Unary(_, operand) => {
            if turn.mine() {
                let operand = (**operand).clone();
                *e = operand;
            } else {
                in_expression(operand, turn);
            }
        }
        ExprKind::Binary(_, left, right) => {
            if turn.mine() {
                let left = (**left).clone();
                *e = left;
            } else if turn.mine() {
                let right = (**right).clone();
                *e = right;
            } else {
                in_expression(left, turn);
                in_expression(right, turn);
            }
        }
        ExprKind::Conditional(condition, yes, no) => {
            if turn.mine() {
                let yes = (**yes).clone();
                *e = yes;
            } else if turn.mine() {
                let no = (**no).clone();
                *e = no;
            } else {
                in_expression(condition, turn);
                in_expression(yes, turn);
                in_expression(no, turn);
            }
        }
        ExprKind::Run { args, .. } => args.iter_mut().for_each(|e| in_expression(e, turn)),
        ExprKind::Poll { args, .. } => in_pattern(args, turn),
        ExprKind::Reference(reference) => in_reference(reference, turn),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{generate, print};

    /// "Contains an assertion" shrinks to one proctype with one assertion of a number.
    #[test]
    fn shrinks_to_what_matters() {
        let mut seen = 0;
        for seed in 0..40 {
            let model = generate(seed, 5);
            let mut fails = |m: &Model| print(m).contains("assert(");
            if !fails(&model) {
                continue;
            }
            seen += 1;
            let small = shrink(&model, &mut fails);
            let text = print(&small);
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            assert_eq!(lines.len(), 3, "{text}");
            assert!(["assert(1);", "assert(0);"].contains(&lines[1]), "{text}");
        }
        assert!(seen > 5);
    }

    #[test]
    fn keeps_what_does_not_shrink() {
        let model = generate(3, 5);
        let text = print(&model);
        assert_eq!(print(&shrink(&model, &mut |_| false)), text);
    }
}
