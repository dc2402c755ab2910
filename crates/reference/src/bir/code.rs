//! Bodies as graphs of nodes, built here afresh from the tree.

use std::rc::Rc;

use quotient_bir::ast::{
    self, Action, ActionKind, Body, Expr, ExprKind, Invoke, Jump, Statement, StatementKind, Work,
};

use super::state::{Ty, Value};
use super::table::{Table, wrong};

/// The body of a thread or function.
pub(super) struct Code<'a> {
    pub(super) locals: Vec<(Rc<str>, Ty, Value)>,
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) catches: Vec<Catch>,
    pub(super) entry: usize,
}

/// A place where a thread can be between steps.
#[derive(Default)]
pub(super) struct Node<'a> {
    pub(super) ways: Vec<Way<'a>>,
    /// Taken when none of the others can be.
    pub(super) otherwise: Option<Way<'a>>,
    /// The atomic block it belongs to.
    pub(super) block: Option<usize>,
    /// Variables of the handlers around it, innermost last.
    pub(super) handlers: Vec<(Rc<str>, usize)>,
}

/// One way on.
pub(super) struct Way<'a> {
    /// All of these must have the given truth values; they are evaluated in order until one has not.
    pub(super) guard: Vec<(&'a Expr, bool)>,
    pub(super) work: Doing<'a>,
    pub(super) forget: Vec<usize>,
    pub(super) next: Next<'a>,
}

pub(super) enum Doing<'a> {
    Actions(&'a [Action]),
    Call { result: Option<usize>, is_virtual: bool, target: Rc<str>, args: &'a [Expr] },
}

#[derive(Clone, Copy)]
pub(super) enum Next<'a> {
    Node(usize),
    Return(Option<&'a Expr>),
}

pub(super) struct Catch {
    pub(super) record: Rc<str>,
    pub(super) variable: usize,
    pub(super) at: Vec<usize>,
    pub(super) target: usize,
}

struct Builder<'a, 't> {
    table: &'t Table<'a>,
    locals: Vec<(Rc<str>, Ty, Value)>,
    nodes: Vec<Node<'a>>,
    catches: Vec<Catch>,
    handlers: Vec<(Rc<str>, usize)>,
    block: Option<usize>,
    blocks: usize,
}

pub(super) fn compile<'a>(
    table: &Table<'a>,
    params: &'a [ast::Variable],
    locals: &'a [ast::Variable],
    body: &'a Body,
) -> Result<Code<'a>, String> {
    let mut builder = Builder {
        table,
        locals: Vec::new(),
        nodes: Vec::new(),
        catches: Vec::new(),
        handlers: Vec::new(),
        block: None,
        blocks: 0,
    };
    for v in params.iter().chain(locals) {
        let (ty, value) = table.variable(v)?;
        builder.locals.push((v.name.text.clone(), ty, value));
    }
    let entry = match body {
        Body::Low(locations, catches) => {
            builder.low(locations, catches)?;
            0
        }
        Body::High(statements) => match builder.sequence(statements, Next::Return(None))? {
            Next::Node(entry) => entry,
            Next::Return(_) => return wrong("an empty body"),
        },
    };
    let Builder { locals, nodes, catches, .. } = builder;
    Ok(Code { locals, nodes, catches, entry })
}

impl<'a> Builder<'a, '_> {
    fn local(&self, name: &str) -> Result<usize, String> {
        if let Some((_, index)) = self.handlers.iter().rev().find(|(n, _)| **n == *name) {
            return Ok(*index);
        }
        match self.locals.iter().position(|(n, ..)| **n == *name) {
            Some(index) => Ok(index),
            None => wrong(name),
        }
    }

    fn low(&mut self, locations: &'a [ast::Location], catches: &'a [ast::Catch]) -> Result<(), String> {
        let find = |name: &ast::Name| match locations.iter().position(|l| l.name.text == name.text) {
            Some(index) => Ok(index),
            None => wrong(&name.text),
        };
        for location in locations {
            let mut forget = Vec::new();
            if let Some(live) = &location.live {
                forget = (0..self.locals.len())
                    .filter(|v| !live.iter().any(|n| n.text == self.locals[*v].0))
                    .collect();
            }
            let mut node = Node::default();
            for t in &location.transformations {
                let work = match &t.work {
                    Work::Do(actions) => Doing::Actions(actions),
                    Work::Invoke(invoke) => self.invoke(invoke)?,
                };
                let next = match &t.jump {
                    Jump::Goto(name) => Next::Node(find(name)?),
                    Jump::Return(value) => Next::Return(value.as_ref()),
                };
                let guard = t.guard.iter().map(|g| (g, true)).collect();
                node.ways.push(Way { guard, work, forget: forget.clone(), next });
            }
            self.nodes.push(node);
        }
        for catch in catches {
            let target = match &catch.jump {
                Jump::Goto(name) => find(name)?,
                Jump::Return(value) => self.plain(Next::Return(value.as_ref())),
            };
            let at = catch.at.iter().map(find).collect::<Result<_, _>>()?;
            let variable = self.local(&catch.variable.text)?;
            self.catches.push(Catch { record: catch.record.text.clone(), variable, at, target });
        }
        Ok(())
    }

    fn invoke(&self, invoke: &'a Invoke) -> Result<Doing<'a>, String> {
        let result = match &invoke.result {
            None => None,
            Some(Expr { kind: ExprKind::Name(name), .. }) => Some(self.local(&name.text)?),
            Some(_) => return wrong("the result of a call"),
        };
        let is_virtual = self.table.virtuals.contains_key(&invoke.target.text);
        Ok(Doing::Call { result, is_virtual, target: invoke.target.text.clone(), args: &invoke.args })
    }

    fn add(&mut self, ways: Vec<Way<'a>>) -> usize {
        let handlers = self.handlers.clone();
        self.nodes.push(Node { ways, otherwise: None, block: self.block, handlers });
        self.nodes.len() - 1
    }

    /// A node that does nothing.
    fn plain(&mut self, next: Next<'a>) -> usize {
        self.add(vec![way(Vec::new(), next)])
    }

    /// Statements from last to first. Gives where they start.
    fn sequence(&mut self, statements: &'a [Statement], next: Next<'a>) -> Result<Next<'a>, String> {
        let mut next = next;
        for statement in statements.iter().rev() {
            next = Next::Node(self.statement(statement, next)?);
        }
        Ok(next)
    }

    fn statement(&mut self, statement: &'a Statement, next: Next<'a>) -> Result<usize, String> {
        Ok(match &statement.kind {
            StatementKind::Skip => self.plain(next),
            StatementKind::Return(value) => self.plain(Next::Return(value.as_ref())),
            StatementKind::Invoke(invoke) => {
                let work = self.invoke(invoke)?;
                self.call(work, next)
            }
            StatementKind::Action(action) => match &action.kind {
                ActionKind::Assign(left, Expr { kind: ExprKind::Call(name, args), .. })
                    if !self.table.funs.contains_key(&name.text) =>
                {
                    let ExprKind::Name(result) = &left.kind else { return wrong("the result of a call") };
                    let result = Some(self.local(&result.text)?);
                    let is_virtual = self.table.virtuals.contains_key(&name.text);
                    self.call(Doing::Call { result, is_virtual, target: name.text.clone(), args }, next)
                }
                _ => {
                    let work = Doing::Actions(std::slice::from_ref(action));
                    self.add(vec![Way { guard: Vec::new(), work, forget: Vec::new(), next }])
                }
            },
            StatementKind::Atomic(body) => {
                let outer = self.block;
                if outer.is_none() {
                    self.blocks += 1;
                    self.block = Some(self.blocks);
                }
                let start = self.sequence(body, next)?;
                self.block = outer;
                self.start(start)
            }
            StatementKind::While(condition, body) => {
                let head = self.add(Vec::new());
                let inside = self.sequence(body, Next::Node(head))?;
                self.nodes[head].ways =
                    vec![way(vec![(condition, true)], inside), way(vec![(condition, false)], next)];
                head
            }
            StatementKind::If(branches, otherwise) => {
                let head = self.add(Vec::new());
                let mut before: Vec<(&Expr, bool)> = Vec::new();
                for (condition, body) in branches {
                    let inside = self.sequence(body, next)?;
                    let mut guard = before.clone();
                    guard.push((condition, true));
                    self.nodes[head].ways.push(way(guard, inside));
                    before.push((condition, false));
                }
                let inside = match otherwise {
                    Some(body) => self.sequence(body, next)?,
                    None => next,
                };
                self.nodes[head].ways.push(way(before, inside));
                head
            }
            StatementKind::Choose(alternatives, otherwise) => {
                let head = self.add(Vec::new());
                for (guard, body) in alternatives {
                    let inside = self.sequence(body, next)?;
                    let guard = guard.iter().map(|g| (g, true)).collect();
                    self.nodes[head].ways.push(way(guard, inside));
                }
                if let Some(body) = otherwise {
                    let inside = self.sequence(body, next)?;
                    self.nodes[head].otherwise = Some(way(Vec::new(), inside));
                }
                head
            }
            StatementKind::Try(body, handlers) => {
                let first = self.nodes.len();
                let start = self.sequence(body, next)?;
                let at: Vec<usize> = (first..self.nodes.len()).collect();
                for handler in handlers {
                    let fresh = !self.locals.iter().any(|(n, ..)| *n == handler.variable.text);
                    if fresh {
                        // A name of its own: the handler's variable is seen in the handler alone.
                        let hidden: Rc<str> =
                            format!("{} {}", handler.variable.text, self.locals.len()).into();
                        self.handlers.push((handler.variable.text.clone(), self.locals.len()));
                        self.locals.push((hidden, Ty::Reference, Value::Null));
                    }
                    let variable = self.local(&handler.variable.text)?;
                    // Catches of what is inside the handler come after this one and do not apply to `at`.
                    let number = self.catches.len();
                    let target = 0;
                    self.catches.push(Catch {
                        record: handler.record.text.clone(),
                        variable,
                        at: at.clone(),
                        target,
                    });
                    let target = self.sequence(&handler.body, next)?;
                    self.catches[number].target = self.start(target);
                    if fresh {
                        self.handlers.pop();
                    }
                }
                self.start(start)
            }
        })
    }

    fn start(&mut self, next: Next<'a>) -> usize {
        match next {
            Next::Node(node) => node,
            other => self.plain(other),
        }
    }

    /// A call goes on at a node: one that returns, if nothing follows it.
    fn call(&mut self, work: Doing<'a>, next: Next<'a>) -> usize {
        let next = Next::Node(self.start(next));
        self.add(vec![Way { guard: Vec::new(), work, forget: Vec::new(), next }])
    }
}

fn way<'a>(guard: Vec<(&'a Expr, bool)>, next: Next<'a>) -> Way<'a> {
    Way { guard, work: Doing::Actions(&[]), forget: Vec::new(), next }
}
