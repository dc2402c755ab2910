//! Expressions evaluated on a state, with what they read.
//!
//! This is for people, not for a search: it walks the tree of an expression, and writes down every place that it reads. A search
//! has compiled code for the same; tests compare the two. What is not known here (queries of extension types, `enabled`) has no
//! value, and nothing is said about it.

use std::collections::HashMap;

use quotient_machine::{ObjectKind, Owner, Raw};
use quotient_program::{
    BinaryOp, Expr, Function, LockQuery, Pattern, Place, Projection, RecordId, Root, Type, UnaryOp,
};

use crate::look::Look;

pub use quotient_outcome::Read;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// Evaluating it is a fault, in words.
    Fault(String),
    /// Not known here.
    Unknown,
}

/// A scalar place of a state.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    pub(crate) full: String,
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) value: i32,
}

/// Evaluates expressions of one thread, and collects what they read.
pub struct Evaluation<'l, 'a> {
    pub(crate) look: &'l Look<'a>,
    /// The thread; none for a proposition.
    pub(crate) thread: Option<u32>,
    /// Places written since the state, by full name.
    pub(crate) written: HashMap<String, i32>,
    /// What was read, in order, each place once.
    pub reads: Vec<Read>,
    /// What went wrong first, in words with values.
    pub fault: Option<String>,
    /// Threads that enclosing counts look at.
    bound: Vec<u32>,
}

impl<'l, 'a> Evaluation<'l, 'a> {
    /// For expressions of a thread.
    pub fn new(look: &'l Look<'a>, thread: Option<u32>) -> Evaluation<'l, 'a> {
        let (written, reads, bound) = (HashMap::new(), Vec::new(), Vec::new());
        Evaluation { look, thread, written, reads, fault: None, bound }
    }

    /// The function that the thread is in.
    pub(crate) fn function(&self) -> Option<&'a Function> {
        let thread = self.thread?;
        let threads = self.look.machine.threads(self.look.state);
        let found = threads.iter().find(|t| t.id == thread)?;
        self.look.program().functions.get(found.function as usize)
    }

    /// The same thread in another state; none where it is in another function there, whose variables would be meant.
    pub(crate) fn elsewhere<'m, 'b>(&self, look: &'m Look<'b>) -> Option<Evaluation<'m, 'b>> {
        let other = Evaluation::new(look, self.thread);
        let same = match (self.function(), other.function()) {
            (Some(a), Some(b)) => std::ptr::eq(a, b),
            _ => false,
        };
        same.then_some(other)
    }

    /// Evaluating goes wrong; what went wrong first is kept.
    fn wrong(&mut self, what: &str) -> NoValue {
        self.fault.get_or_insert_with(|| what.to_owned());
        NoValue::Fault(what.to_owned())
    }

    fn own_thread(&self) -> Result<u32, NoValue> {
        self.thread.ok_or(NoValue::Unknown)
    }

    /// The value of an expression.
    pub fn value(&mut self, expr: &Expr) -> Result<i32, NoValue> {
        let program = self.look.program();
        Ok(match expr {
            Expr::Const(value) => *value,
            Expr::Spanned(inner, _) => self.value(inner)?,
            Expr::Load(place) => {
                let scalar = self.place(place)?;
                self.read(&scalar);
                scalar.value
            }
            Expr::Unary(op, inner) => {
                let value = self.value(inner)?;
                match op {
                    UnaryOp::Not => i32::from(value == 0),
                    UnaryOp::Complement => !value,
                    UnaryOp::Negate => value.wrapping_neg(),
                }
            }
            Expr::Binary(BinaryOp::And, a, b) => i32::from(self.value(a)? != 0 && self.value(b)? != 0),
            Expr::Binary(BinaryOp::Or, a, b) => i32::from(self.value(a)? != 0 || self.value(b)? != 0),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                op.apply(a, b).ok_or_else(|| self.wrong("division by zero"))?
            }
            Expr::Conditional(c, a, b) => {
                if self.value(c)? != 0 {
                    self.value(a)?
                } else {
                    self.value(b)?
                }
            }
            Expr::SelfId => self.own_thread()? as i32,
            Expr::SelfThread => self.own_thread()? as i32 + 1,
            Expr::ThreadCount => self.look.machine.threads(self.look.state).len() as i32,
            Expr::Length(channel) => self.channel(channel)?.0.len() as i32,
            Expr::Empty(channel) => i32::from(self.channel(channel)?.0.is_empty()),
            Expr::Full(channel) => {
                let (messages, capacity) = self.channel(channel)?;
                // A rendezvous channel is never full.
                i32::from(messages.len() as u32 >= capacity.max(1))
            }
            Expr::Poll { channel, any, patterns } => {
                let (messages, _) = self.channel(channel)?;
                i32::from(self.matching(&messages, *any, patterns)?.is_some())
            }
            Expr::At { thread, label } => {
                let (id, label) = (self.value(thread)?, &program.labels[label.0 as usize]);
                let threads = self.look.machine.threads(self.look.state);
                let there = threads.iter().find(|t| i64::from(t.id) == i64::from(id));
                i32::from(
                    there.is_some_and(|t| (t.function, t.location) == (label.function.0, label.location.0)),
                )
            }
            Expr::Count { function, body } => {
                let mut count = 0;
                let threads = self.look.machine.threads(self.look.state);
                for thread in threads.iter().filter(|t| t.function == function.0) {
                    self.bound.push(thread.id);
                    let holds = self.value(body);
                    self.bound.pop();
                    count += i32::from(holds? != 0);
                }
                count
            }
            Expr::Bound(depth) => *self.bound.get(*depth as usize).ok_or(NoValue::Unknown)? as i32,
            Expr::Oldest(function) => {
                let threads = self.look.machine.threads(self.look.state);
                threads.iter().find(|t| t.function == function.0).map_or(-1, |t| t.id as i32)
            }
            Expr::Terminated(thread) => match self.value(thread)? {
                0 => return Err(NoValue::Fault("no thread".into())),
                id => {
                    let threads = self.look.machine.threads(self.look.state);
                    i32::from(threads.iter().all(|t| t.id as i32 + 1 != id))
                }
            },
            Expr::InstanceOf { reference, record, exact } => {
                let reference = self.value(reference)?;
                i32::from(
                    self.record_of(reference)
                        .is_some_and(|found| found == *record || !exact && program.extends(found, *record)),
                )
            }
            Expr::Cast { reference, record } => {
                let reference = self.value(reference)?;
                let fits = |found: RecordId| found == *record || program.extends(found, *record);
                if reference != 0 && !self.record_of(reference).is_some_and(fits) {
                    let name = &program.record(*record).name;
                    return Err(NoValue::Fault(format!("cast of an object that is not a {name}")));
                }
                reference
            }
            Expr::ArrayLength(array) => {
                let reference = self.value(array)?;
                match self.look.object(reference).map(|o| &o.value) {
                    Some(Raw::Array(elements)) => elements.len() as i32,
                    _ => return Err(self.wrong("null is followed")),
                }
            }
            Expr::Lock(query, lock) => {
                let reference = self.value(lock)?;
                let (holder, _) = self.lock(reference).ok_or(NoValue::Unknown)?;
                let own = self.own_thread()?;
                match query {
                    LockQuery::Available => i32::from(holder.is_none_or(|h| h == own)),
                    LockQuery::Held => i32::from(holder == Some(own)),
                    LockQuery::Notified => return Err(NoValue::Unknown),
                }
            }
            Expr::Function(function) => function.0 as i32 + 1,
            Expr::Last
            | Expr::Timeout
            | Expr::Enabled(_)
            | Expr::LocationOf(_)
            | Expr::NonProgress
            | Expr::Priority(_)
            | Expr::Query { .. }
            | Expr::Reachable(..) => return Err(NoValue::Unknown),
        })
    }

    /// Who holds the lock of an object, and how often.
    pub(crate) fn lock(&self, reference: i32) -> Option<(Option<u32>, u32)> {
        let object = self.look.object(reference)?;
        match object.value {
            Raw::Lock(holder, count) => Some((holder, count)),
            _ => object.lock,
        }
    }

    fn record_of(&self, reference: i32) -> Option<RecordId> {
        match self.look.object(reference)?.owner {
            Owner::Object(_, ObjectKind::Record(id)) => Some(id),
            _ => None,
        }
    }

    fn read(&mut self, scalar: &Scalar) {
        // What the statement wrote itself was not there before it.
        if self.written.contains_key(&scalar.full) {
            return;
        }
        let read = Read {
            full: scalar.full.clone(),
            name: scalar.name.clone(),
            value: self.look.scalar(&scalar.ty, scalar.value),
        };
        if !self.reads.contains(&read) {
            self.reads.push(read);
        }
    }

    /// The messages of a channel and its number of places.
    pub(crate) fn channel(&mut self, channel: &Expr) -> Result<(Vec<Vec<Raw>>, u32), NoValue> {
        let number = self.value(channel)?;
        let found = self.look.channel(number).ok_or_else(|| NoValue::Fault("no channel".into()))?;
        Ok((found.0.clone(), found.1))
    }

    /// The position of the message that a receive would take.
    pub(crate) fn matching(
        &mut self,
        messages: &[Vec<Raw>],
        any: bool,
        patterns: &[Pattern],
    ) -> Result<Option<usize>, NoValue> {
        let looked_at = if any { messages.len() } else { messages.len().min(1) };
        for (position, message) in messages[..looked_at].iter().enumerate() {
            let mut fits = true;
            for (pattern, field) in patterns.iter().zip(message) {
                if let (Pattern::Match(e), Raw::Scalar(_, value)) = (pattern, field) {
                    fits &= self.value(e)? == *value;
                }
            }
            if fits {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// A scalar place with its value.
    pub(crate) fn place(&mut self, place: &Place) -> Result<Scalar, NoValue> {
        let program = self.look.program();
        let unknown = NoValue::Unknown;
        let (mut full, mut name, mut raw, mut record) = match &place.root {
            Root::Global(v) => {
                let name = program.globals[v.0 as usize].name.clone();
                let raw = self.look.global(v.0).ok_or(unknown)?.clone();
                (name.clone(), name, raw, None)
            }
            Root::Local(v) => {
                let thread = self.own_thread()?;
                let function = self.function().ok_or(NoValue::Unknown)?;
                if v.0 as usize >= function.locals.len() {
                    return Err(NoValue::Unknown);
                }
                let name = function.local_name(v.0 as usize);
                let raw = self.look.local(thread, v.0).ok_or(unknown)?.clone();
                let depth = self.look.machine.frames_at(self.look.state, thread as usize).count();
                let (prefix, within) = self.look.local_name(thread, depth.saturating_sub(1), &name);
                (prefix + &within, name, raw, None)
            }
            Root::Remote { thread, function, variable } => {
                let id = self.value(thread)?;
                let running = self.look.machine.threads(self.look.state);
                let there = running.iter().any(|t| t.id as i32 == id && t.function == function.0);
                let of = program.function(*function);
                if !there {
                    return Err(NoValue::Fault(format!("no process {} with number {id}", of.name)));
                }
                let variable_name = of.local_name(variable.0 as usize);
                let full = format!("{}.{variable_name}", self.look.thread(id as u32));
                let raw = self.look.local(id as u32, variable.0).ok_or(unknown)?.clone();
                (full.clone(), full, raw, None)
            }
            Root::Object { reference, .. } => {
                let reference = self.value(reference)?;
                let record = self.record_of(reference);
                let object = self.look.object(reference);
                let object = object.ok_or_else(|| self.wrong("null is followed"))?;
                let name = self.look.names.of(reference);
                (name.clone(), name, object.value.clone(), record)
            }
        };
        for step in &place.path {
            raw = match (step, raw) {
                (Projection::Index(index), Raw::Array(mut elements)) => {
                    let at = self.value(index)?;
                    let length = elements.len();
                    if at < 0 || at as usize >= length {
                        let text = format!("index {at} is outside of {name}, which has {length} elements");
                        return Err(self.wrong(&text));
                    }
                    // What `new T` makes is shown without an index.
                    if !(matches!(place.root, Root::Object { .. }) && length == 1) {
                        full.push_str(&format!("[{at}]"));
                        name.push_str(&format!("[{at}]"));
                    }
                    elements.swap_remove(at as usize)
                }
                (Projection::Field(field), Raw::Fields(mut fields)) if (*field as usize) < fields.len() => {
                    let (field, value) = fields.swap_remove(*field as usize);
                    full.push_str(&format!(".{field}"));
                    name.push_str(&format!(".{field}"));
                    value
                }
                (Projection::Member(declared_in, field), Raw::Fields(mut fields)) => {
                    let record = record.take().ok_or(NoValue::Unknown)?;
                    let all = program.all_fields(record);
                    let at = all.iter().position(|f| *f == (*declared_in, *field)).ok_or(NoValue::Unknown)?;
                    let (field, value) = fields.swap_remove(at);
                    full.push_str(&format!(".{field}"));
                    name.push_str(&format!(".{field}"));
                    value
                }
                _ => return Err(NoValue::Unknown),
            };
        }
        match raw {
            Raw::Scalar(ty, value) => {
                let value = self.written.get(&full).copied().unwrap_or(value);
                Ok(Scalar { full, name, ty, value })
            }
            _ => Err(NoValue::Unknown),
        }
    }
}
