//! Bodies of structured statements. Every action, call, test, choice and `return` is a location; joins and ends are none.
//! The step of the last statement of a body also leaves it (except a call, which is followed by a location that returns).
//!
//! Inside `atomic … end` a step that leads to a location of the same block keeps its thread in exclusive control; where it
//! then blocks, other threads go on.

use quotient_program::{Action, Catch, Expr, Location, LocationId, Operation, Transformation, VariableId};
use quotient_source::Span;

use super::action::Ending;
use super::body::step;
use super::operator::{and, not};
use super::types::Ty;
use super::{Item, Lower};
use crate::ast::{self, ActionKind, ExprKind, Handler, Statement, StatementKind};

/// The graph of a body while it is built.
struct Graph {
    locations: Vec<Location>,
    /// The outermost `atomic` block that a location belongs to.
    block: Vec<Option<usize>>,
    catches: Vec<Catch>,
    blocks: usize,
    current: Option<usize>,
}

impl Graph {
    fn add(&mut self, span: Span) -> LocationId {
        self.locations.push(Location::new(span));
        self.block.push(self.current);
        LocationId(self.locations.len() as u32 - 1)
    }

    fn push(&mut self, at: LocationId, transformation: Transformation) {
        self.locations[at.0 as usize].transformations.push(transformation);
    }
}

impl Lower<'_> {
    pub(super) fn high_body(
        &mut self,
        statements: &[Statement],
        name: &ast::Name,
    ) -> (Vec<Location>, Vec<Catch>, LocationId) {
        let mut graph =
            Graph { locations: Vec::new(), block: Vec::new(), catches: Vec::new(), blocks: 0, current: None };
        let entry = self.sequence(statements, None, &mut graph).unwrap_or(LocationId(0));
        if self.scope.returns.is_some() && completes(statements) {
            self.error(name.span, format!("`{}` can end without `return`", name.text))
                .help("every way through the function must end with `return x;`");
        }
        for index in 0..graph.locations.len() {
            let block = graph.block[index];
            for t in &mut graph.locations[index].transformations {
                // An exception ends the block: its handler is not part of it.
                let throws = t.actions.iter().any(|a| matches!(a, Action::Throw(_)));
                t.keeps_control = block.is_some()
                    && !throws
                    && t.target.is_some_and(|to| graph.block[to.0 as usize] == block);
                if t.text.is_empty() {
                    t.text = self.text(t.span);
                }
            }
        }
        (graph.locations, graph.catches, entry)
    }

    /// The variable of a handler: a declared local with that name, or a new one for this handler alone. For a new one, gives
    /// what the name meant before (a variable of a handler around this one).
    fn handler_variable(&mut self, handler: &Handler) -> Option<Option<(VariableId, Ty)>> {
        let before = self.scope.locals.get(&handler.variable.text).cloned();
        if before.as_ref().is_some_and(|(id, _)| (id.0 as usize) < self.scope.declared) {
            return None;
        }
        let Some(Item::Record(record)) = self.names.get(&handler.record.text).cloned() else { return None };
        let ty = Ty::Record(record);
        let id = VariableId(self.scope.variables.len() as u32);
        let variable = self.variable(&handler.variable.text, &ty, handler.variable.span);
        self.scope.variables.push(variable);
        self.scope.locals.insert(handler.variable.text.clone(), (id, ty));
        Some(before)
    }

    /// Statements in order, the last one leading to `next` (or out of the body). Gives where they start.
    fn sequence(
        &mut self,
        statements: &[Statement],
        next: Option<LocationId>,
        graph: &mut Graph,
    ) -> Option<LocationId> {
        // Mistakes are to be reported from first to last, while the graph is built from last to first: places are made
        // first, filled afterwards.
        let heads: Vec<LocationId> = statements.iter().map(|s| self.head(s, graph)).collect();
        for (index, statement) in statements.iter().enumerate() {
            let after = heads.get(index + 1).copied().or(next);
            self.statement(statement, heads[index], after, graph);
        }
        heads.first().copied()
    }

    /// The location a statement starts at. A block starts where its first statement does.
    fn head(&mut self, statement: &Statement, graph: &mut Graph) -> LocationId {
        match &statement.kind {
            StatementKind::Atomic(body) | StatementKind::Try(body, _) if !body.is_empty() => {
                let outer = graph.current;
                if matches!(statement.kind, StatementKind::Atomic(_)) && outer.is_none() {
                    graph.blocks += 1;
                    graph.current = Some(graph.blocks);
                }
                let head = self.head(&body[0], graph);
                graph.current = outer;
                head
            }
            _ => graph.add(statement.span),
        }
    }

    /// A block whose first location exists already.
    fn block(&mut self, body: &[Statement], head: LocationId, next: Option<LocationId>, graph: &mut Graph) {
        let mut heads = vec![head];
        for statement in body.iter().skip(1) {
            let head = self.head(statement, graph);
            heads.push(head);
        }
        for (index, statement) in body.iter().enumerate() {
            let after = heads.get(index + 1).copied().or(next);
            self.statement(statement, heads[index], after, graph);
        }
    }

    fn statement(
        &mut self,
        statement: &Statement,
        at: LocationId,
        next: Option<LocationId>,
        graph: &mut Graph,
    ) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Atomic(body) => {
                let outer = std::mem::replace(&mut graph.current, graph.block[at.0 as usize]);
                self.block(body, at, next, graph);
                graph.current = outer;
            }
            StatementKind::Try(body, handlers) => self.try_statement(body, handlers, at, next, graph),
            StatementKind::While(condition, body) => {
                let test = self.expect(condition, &Ty::Boolean);
                let inside = self.sequence(body, Some(at), graph);
                let text = format!("while {}", self.text(condition.span));
                self.branch(at, Some(test.clone()), inside, span, &text, graph);
                self.branch(at, Some(not(test)), next, span, &format!("{text} (no)"), graph);
            }
            StatementKind::If(branches, otherwise) => {
                // One step decides: a branch is taken when its condition holds and none before it does.
                let mut before = Expr::truth();
                for (condition, body) in branches {
                    let test = self.expect(condition, &Ty::Boolean);
                    let inside = self.sequence(body, next, graph);
                    let text = format!("if {}", self.text(condition.span));
                    self.branch(
                        at,
                        Some(and(before.clone(), test.clone())),
                        inside,
                        condition.span,
                        &text,
                        graph,
                    );
                    before = and(before, not(test));
                }
                let inside = match otherwise {
                    Some(body) => self.sequence(body, next, graph),
                    None => next,
                };
                self.branch(at, Some(before), inside, span, "else", graph);
            }
            StatementKind::Choose(alternatives, otherwise) => {
                for (guard, body) in alternatives {
                    let test = guard.as_ref().map(|g| self.expect(g, &Ty::Boolean));
                    let inside = self.sequence(body, next, graph);
                    let text =
                        guard.as_ref().map_or("choose".to_owned(), |g| format!("when {}", self.text(g.span)));
                    let at_span = guard.as_ref().map_or(span, |g| g.span);
                    self.branch(at, test, inside, at_span, &text, graph);
                }
                if let Some(body) = otherwise {
                    let inside = self.sequence(body, next, graph);
                    let mut t = step(None, leave(inside), inside, span);
                    t.operation = Operation::Else;
                    t.text = "else".into();
                    graph.push(at, t);
                }
            }
            StatementKind::Return(value) => {
                let value = self.returned(value.as_ref(), span);
                graph.push(at, step(None, vec![Action::Return(value)], None, span));
            }
            StatementKind::Skip => {
                let mut t = step(None, leave(next), next, span);
                t.text = "skip".into();
                graph.push(at, t);
            }
            StatementKind::Invoke(invoke) => self.call(invoke, at, next, graph),
            StatementKind::Action(action) => match self.as_call(action) {
                Some(invoke) => self.call(&invoke, at, next, graph),
                None => {
                    let (mut actions, condition, ending) = self.actions(std::slice::from_ref(action));
                    let target = match ending {
                        Ending::Normal => {
                            actions.extend(leave(next));
                            next
                        }
                        // Never reached, but a location must be there for the machine to know the frame lives on.
                        Ending::Throws => Some(at),
                        Ending::Exits => None,
                    };
                    graph.push(at, step(condition, actions, target, span));
                }
            },
        }
    }

    /// `x := f(…)` where `f` is a function.
    fn as_call(&self, action: &ast::Action) -> Option<ast::Invoke> {
        let ActionKind::Assign(left, right) = &action.kind else { return None };
        let ExprKind::Call(name, args) = &right.kind else { return None };
        let is_virtual = match self.names.get(&name.text) {
            Some(Item::Function(_)) => false,
            Some(Item::Virtual(_)) => true,
            _ => return None,
        };
        let (result, target, args) = (Some(left.clone()), name.clone(), args.clone());
        Some(ast::Invoke { result, is_virtual, target, args, span: action.span })
    }

    fn call(&mut self, invoke: &ast::Invoke, at: LocationId, next: Option<LocationId>, graph: &mut Graph) {
        if graph.block[at.0 as usize].is_some() {
            self.error(invoke.span, "a call inside `atomic`").help(
                "the steps of the called function would not be atomic; write them here, or use a `fun`",
            );
        }
        let actions = self.invoke(invoke).unwrap_or_default();
        let target = match next {
            Some(next) => next,
            None => {
                let after = graph.add(invoke.span);
                let mut t = step(None, vec![Action::Return(None)], None, invoke.span);
                t.text = "return".into();
                graph.push(after, t);
                after
            }
        };
        graph.push(at, step(None, actions, Some(target), invoke.span));
    }

    fn branch(
        &mut self,
        at: LocationId,
        guard: Option<Expr>,
        target: Option<LocationId>,
        span: Span,
        text: &str,
        graph: &mut Graph,
    ) {
        if guard.as_ref().and_then(Expr::constant) == Some(0) {
            return; // never taken
        }
        let mut t = step(guard, leave(target), target, span);
        t.text = text.to_owned();
        graph.push(at, t);
    }

    fn try_statement(
        &mut self,
        body: &[Statement],
        handlers: &[Handler],
        at: LocationId,
        next: Option<LocationId>,
        graph: &mut Graph,
    ) {
        let first = graph.locations.len() as u32;
        self.block(body, at, next, graph);
        let last = graph.locations.len() as u32;
        // What was made while the body was built, and its head, which was made before.
        let locations: Vec<LocationId> = std::iter::once(at).chain((first..last).map(LocationId)).collect();
        let mut entered = Vec::new();
        for handler in handlers {
            let fresh = self.handler_variable(handler);
            let caught = self.caught(&handler.record, &handler.variable);
            let target = self.sequence(&handler.body, next, graph);
            if let Some(before) = fresh {
                self.scope.locals.remove(&handler.variable.text);
                self.scope.locals.extend(before.map(|b| (handler.variable.text.clone(), b)));
            }
            if let (Some((exception, variable)), Some(target)) = (caught, target) {
                let locations = locations.clone();
                entered.push(Catch { exception, locations, variable: Some(variable), target });
            }
        }
        graph.catches.extend(entered);
    }
}

/// What a step does that leads out of the body.
fn leave(next: Option<LocationId>) -> Vec<Action> {
    if next.is_none() { vec![Action::Return(None)] } else { Vec::new() }
}

/// Whether the end of the statements can be reached (as far as is seen without evaluating conditions).
fn completes(statements: &[Statement]) -> bool {
    statements.iter().all(|s| match &s.kind {
        StatementKind::Return(_) => false,
        StatementKind::Action(a) => !matches!(a.kind, ActionKind::Throw(_) | ActionKind::Exit),
        StatementKind::Atomic(body) => completes(body),
        StatementKind::While(condition, _) => !matches!(condition.kind, ExprKind::Boolean(true)),
        StatementKind::If(branches, otherwise) => {
            branches.iter().any(|(_, b)| completes(b)) || otherwise.as_ref().is_none_or(|b| completes(b))
        }
        StatementKind::Choose(alternatives, otherwise) => {
            alternatives.iter().any(|(_, b)| completes(b)) || otherwise.as_ref().is_some_and(|b| completes(b))
        }
        StatementKind::Try(body, handlers) => completes(body) || handlers.iter().any(|h| completes(&h.body)),
        StatementKind::Invoke(_) | StatementKind::Skip => true,
    })
}
