//! Expressions on plain values. Parameters of funs and names bound by `let` stand for expressions, evaluated where they
//! are used.

use quotient_bir::ast::{Binary, Expr, ExprKind, LockTest, TypeKind, Unary};

use super::collection;
use super::state::{Fault, Frame, Kind, State, Value};
use super::table::Table;

/// Why there is no value: a fault, or a tree that was not checked.
pub(super) enum Stop {
    Fault(Fault),
    Wrong(String),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

impl From<String> for Stop {
    fn from(what: String) -> Stop {
        Stop::Wrong(what)
    }
}

fn wrong<T>(what: impl std::fmt::Display) -> Result<T, Stop> {
    super::table::wrong(what).map_err(Stop::Wrong)
}

/// A name that stands for an expression, and what was known where that was written.
pub(super) struct Bound<'e> {
    name: &'e str,
    value: &'e Expr,
    scope: Option<&'e Bound<'e>>,
    rest: Option<&'e Bound<'e>>,
    /// A fun hides everything outside.
    last: bool,
}

/// Where expressions are evaluated.
pub(super) struct Context<'s, 'a> {
    pub(super) table: &'s Table<'a>,
    pub(super) state: &'s State,
    pub(super) thread: usize,
}

/// Where something can be stored.
pub(super) enum Place {
    Global(usize),
    Local(usize),
    Cell(usize, usize),
}

impl Context<'_, '_> {
    pub(super) fn eval(&self, e: &Expr) -> Result<Value, Stop> {
        self.value(e, None)
    }

    pub(super) fn truth(&self, e: &Expr) -> Result<bool, Stop> {
        match self.eval(e)? {
            Value::Bool(b) => Ok(b),
            _ => wrong("a condition"),
        }
    }

    fn int(&self, e: &Expr, scope: Option<&Bound<'_>>) -> Result<i32, Stop> {
        match self.value(e, scope)? {
            Value::Int(i) => Ok(i),
            _ => wrong("an integer"),
        }
    }

    fn boolean(&self, e: &Expr, scope: Option<&Bound<'_>>) -> Result<bool, Stop> {
        match self.value(e, scope)? {
            Value::Bool(b) => Ok(b),
            _ => wrong("a boolean"),
        }
    }

    /// The object that an expression leads to.
    fn object(&self, e: &Expr, scope: Option<&Bound<'_>>) -> Result<usize, Stop> {
        match self.value(e, scope)? {
            Value::Ref(o) => Ok(o),
            Value::Null => Err(Fault("null").into()),
            _ => wrong("a reference"),
        }
    }

    /// The object whose lock an expression means.
    pub(super) fn lock(&self, e: &Expr) -> Result<usize, Stop> {
        match self.value(e, None)? {
            Value::Ref(o) => Ok(o),
            Value::Null => Err(Fault("lock").into()),
            _ => wrong("a lock"),
        }
    }

    fn kind(&self, object: usize) -> Kind {
        self.state.objects[object].as_ref().expect("references lead to objects").kind
    }

    /// The number of a local that can be seen where a frame is.
    fn local(&self, frame: &Frame, name: &str) -> Option<usize> {
        let code = &self.table.codes[frame.code];
        let mut handlers = code.nodes[frame.node].handlers.iter().rev();
        let handler = handlers.find(|(n, _)| **n == *name).map(|(_, index)| *index);
        handler.or_else(|| code.locals.iter().position(|(n, ..)| **n == *name))
    }

    /// The value of a variable.
    fn variable(&self, name: &str) -> Option<Value> {
        let frame = self.state.threads[self.thread].as_ref()?.frames.last()?;
        if let Some(index) = self.local(frame, name) {
            return Some(frame.locals[index].clone());
        }
        let index = self.table.globals.iter().position(|(n, ..)| **n == *name)?;
        Some(self.state.globals[index].clone())
    }

    /// Where an assignment stores.
    pub(super) fn place(&self, e: &Expr) -> Result<Place, Stop> {
        match &e.kind {
            ExprKind::Name(name) => {
                let thread = self.state.threads[self.thread].as_ref();
                let Some(frame) = thread.and_then(|t| t.frames.last()) else { return wrong("a thread") };
                if let Some(index) = self.local(frame, &name.text) {
                    return Ok(Place::Local(index));
                }
                match self.table.globals.iter().position(|(n, ..)| *n == name.text) {
                    Some(index) => Ok(Place::Global(index)),
                    None => wrong(&name.text),
                }
            }
            ExprKind::Field(base, name) => {
                let object = self.object(base, None)?;
                Ok(Place::Cell(object, self.field(object, &name.text)?))
            }
            ExprKind::Index(base, index) => {
                let object = self.object(base, None)?;
                let index = self.int(index, None)?;
                Ok(Place::Cell(object, self.element(object, index)?))
            }
            _ => wrong("a place"),
        }
    }

    fn field(&self, object: usize, name: &str) -> Result<usize, Stop> {
        let Kind::Record(record) = self.kind(object) else { return Err(Fault("cast").into()) };
        match self.table.records[record].fields.iter().position(|(n, _)| **n == *name) {
            Some(index) => Ok(index),
            None => Err(Fault("cast").into()),
        }
    }

    fn element(&self, object: usize, index: i32) -> Result<usize, Stop> {
        let length = self.state.objects[object].as_ref().map_or(0, |o| o.cells.len());
        match usize::try_from(index) {
            Ok(index) if index < length => Ok(index),
            _ => Err(Fault("index").into()),
        }
    }

    fn cell(&self, object: usize, cell: usize) -> Value {
        self.state.objects[object].as_ref().map_or(Value::Null, |o| o.cells[cell].clone())
    }

    fn value(&self, e: &Expr, scope: Option<&Bound<'_>>) -> Result<Value, Stop> {
        Ok(match &e.kind {
            ExprKind::Boolean(_) | ExprKind::Integer(..) | ExprKind::String(_) | ExprKind::Null => {
                self.table.literal(e)?
            }
            ExprKind::Name(name) => {
                let mut at = scope;
                let mut hidden = false;
                while let Some(bound) = at {
                    if *bound.name == *name.text {
                        return self.value(bound.value, bound.scope);
                    }
                    hidden |= bound.last;
                    at = if bound.last { None } else { bound.rest };
                }
                let global = || self.table.globals.iter().position(|(n, ..)| *n == name.text);
                let found = if hidden {
                    global().map(|g| self.state.globals[g].clone())
                } else {
                    self.variable(&name.text)
                };
                match found {
                    Some(value) => value,
                    None => return wrong(&name.text),
                }
            }
            ExprKind::Field(base, name) => {
                if let ExprKind::Name(block) = &base.kind
                    && self.variable(&block.text).is_none()
                    && let Some(value) = self.table.qualified(&block.text, &name.text)
                {
                    return Ok(value);
                }
                let object = self.object(base, scope)?;
                match self.kind(object) {
                    Kind::Array(_) if &*name.text == "length" => {
                        Value::Int(self.state.objects[object].as_ref().map_or(0, |o| o.cells.len()) as i32)
                    }
                    _ => self.cell(object, self.field(object, &name.text)?),
                }
            }
            ExprKind::Index(base, index) => {
                let object = self.object(base, scope)?;
                let index = self.int(index, scope)?;
                self.cell(object, self.element(object, index)?)
            }
            ExprKind::Unary(op, operand) => match op {
                Unary::Not => Value::Bool(!self.boolean(operand, scope)?),
                Unary::Minus => Value::Int(self.int(operand, scope)?.wrapping_neg()),
                Unary::Plus => Value::Int(self.int(operand, scope)?),
            },
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, scope)?,
            ExprKind::Conditional(c, a, b) => {
                self.value(if self.boolean(c, scope)? { a } else { b }, scope)?
            }
            ExprKind::Cast(ty, operand) => {
                let value = self.value(operand, scope)?;
                let TypeKind::Named(name) = &self.table.resolve(ty).kind else { return Ok(value) };
                let (Value::Ref(object), Some(wanted)) = (&value, self.table.record_numbers.get(&name.text))
                else {
                    return Ok(value);
                };
                match self.kind(*object) {
                    Kind::Record(r) if self.table.records[r].ancestors.contains(wanted) => value,
                    // Everything extends the top record, arrays too.
                    Kind::Array(_) if self.table.records[*wanted].ancestors.len() == 1 => value,
                    _ => return Err(Fault("cast").into()),
                }
            }
            ExprKind::TypeTest(exact, operand, ty) => {
                let TypeKind::Named(name) = &self.table.resolve(ty).kind else { return wrong("a type test") };
                let Some(wanted) = self.table.record_numbers.get(&name.text) else {
                    return wrong("a record");
                };
                Value::Bool(match self.value(operand, scope)? {
                    Value::Ref(object) => match self.kind(object) {
                        Kind::Record(r) if *exact => r == *wanted,
                        Kind::Record(r) => self.table.records[r].ancestors.contains(wanted),
                        _ => false,
                    },
                    _ => false,
                })
            }
            ExprKind::LockTest(test, operand) => {
                let object = match self.value(operand, scope)? {
                    Value::Ref(object) => object,
                    _ => return Err(Fault("lock").into()),
                };
                Value::Bool(self.lock_test(*test, object))
            }
            ExprKind::Terminated(operand) => match self.value(operand, scope)? {
                Value::Tid(t) => {
                    Value::Bool(self.state.threads[t].as_ref().is_none_or(|thread| thread.frames.is_empty()))
                }
                _ => return Err(Fault("reference").into()),
            },
            ExprKind::Let(bindings, body) => return self.bind(bindings, body, scope),
            ExprKind::Call(name, args) => {
                let Some(fun) = self.table.funs.get(&name.text) else { return wrong(&name.text) };
                let params: Vec<&str> = fun.params.iter().map(|p| &*p.name.text).collect();
                let barrier = Bound { name: "", value: &fun.value, scope: None, rest: None, last: true };
                return self.call(&params, args, &fun.value, scope, &barrier);
            }
            ExprKind::Extension(used) => {
                let mut values = Vec::new();
                for arg in &used.args {
                    values.push(self.value(arg, scope)?);
                }
                let Some(Some(class)) = self.table.extensions.get(&used.extension.text) else {
                    return wrong("an extension");
                };
                let object = match values.first() {
                    Some(Value::Ref(object)) => *object,
                    _ => return Err(Fault("null").into()),
                };
                let Some(object) = &self.state.objects[object] else { return wrong("an object") };
                match collection::apply(*class, &mut object.clone(), &used.operation.text, &values[1..]) {
                    Ok(value) => value,
                    Err(Some(fault)) => return Err(fault.into()),
                    Err(None) => return wrong(&used.operation.text),
                }
            }
            _ => return wrong("an expression"),
        })
    }

    pub(super) fn lock_test(&self, test: LockTest, object: usize) -> bool {
        let holder = self.state.objects[object].as_ref().and_then(|o| o.lock).map(|(t, _)| t);
        match test {
            LockTest::LockAvailable => holder.is_none_or(|h| h == self.thread),
            LockTest::HasLock => holder == Some(self.thread),
            LockTest::WasNotified => {
                let waits = self.state.threads[self.thread].as_ref().and_then(|t| t.waits);
                waits.is_some_and(|(lock, _, notified)| lock == object && notified)
            }
        }
    }

    /// Names of a `let`, one after the other; each sees those before it.
    fn bind(
        &self,
        bindings: &[(quotient_bir::ast::Name, Expr)],
        body: &Expr,
        scope: Option<&Bound<'_>>,
    ) -> Result<Value, Stop> {
        match bindings.split_first() {
            None => self.value(body, scope),
            Some(((name, value), rest)) => {
                let bound = Bound { name: &name.text, value, scope, rest: scope, last: false };
                self.bind(rest, body, Some(&bound))
            }
        }
    }

    /// The body of a fun with its parameters standing for the arguments, which belong to `scope`.
    fn call(
        &self,
        params: &[&str],
        args: &[Expr],
        body: &Expr,
        scope: Option<&Bound<'_>>,
        inner: &Bound<'_>,
    ) -> Result<Value, Stop> {
        match (params.split_first(), args.split_first()) {
            (Some((name, params)), Some((value, args))) => {
                let bound = Bound { name, value, scope, rest: Some(inner), last: false };
                self.call(params, args, body, scope, &bound)
            }
            _ => self.value(body, Some(inner)),
        }
    }

    fn binary(&self, op: Binary, a: &Expr, b: &Expr, scope: Option<&Bound<'_>>) -> Result<Value, Stop> {
        match op {
            Binary::And => return Ok(Value::Bool(self.boolean(a, scope)? && self.boolean(b, scope)?)),
            Binary::Or => return Ok(Value::Bool(self.boolean(a, scope)? || self.boolean(b, scope)?)),
            Binary::Implies => return Ok(Value::Bool(!self.boolean(a, scope)? || self.boolean(b, scope)?)),
            _ => {}
        }
        let (x, y) = (self.value(a, scope)?, self.value(b, scope)?);
        Ok(match (op, x, y) {
            (Binary::Eq, x, y) => Value::Bool(x == y),
            (Binary::Ne, x, y) => Value::Bool(x != y),
            (op, Value::Bool(x), Value::Bool(y)) => Value::Bool(match op {
                Binary::BitAnd => x & y,
                Binary::BitOr => x | y,
                Binary::BitXor => x ^ y,
                _ => return wrong("an operator"),
            }),
            (op, Value::Int(x), Value::Int(y)) => match op {
                Binary::Add => Value::Int(x.wrapping_add(y)),
                Binary::Sub => Value::Int(x.wrapping_sub(y)),
                Binary::Mul => Value::Int(x.wrapping_mul(y)),
                Binary::Div | Binary::Rem if y == 0 => return Err(Fault("division").into()),
                Binary::Div => Value::Int(x.wrapping_div(y)),
                Binary::Rem => Value::Int(x.wrapping_rem(y)),
                Binary::Shl => Value::Int(x.wrapping_shl(y as u32)),
                Binary::Shr => Value::Int(x.wrapping_shr(y as u32)),
                Binary::Ushr => Value::Int((x as u32).wrapping_shr(y as u32) as i32),
                Binary::BitAnd => Value::Int(x & y),
                Binary::BitOr => Value::Int(x | y),
                Binary::BitXor => Value::Int(x ^ y),
                Binary::Lt => Value::Bool(x < y),
                Binary::Le => Value::Bool(x <= y),
                Binary::Gt => Value::Bool(x > y),
                Binary::Ge => Value::Bool(x >= y),
                _ => return wrong("an operator"),
            },
            _ => return wrong("an operator"),
        })
    }
}
