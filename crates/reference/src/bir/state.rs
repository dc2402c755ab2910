//! States as plain values.

use std::rc::Rc;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// An integer or an element of an enumeration.
    Int(i32),
    Text(Rc<str>),
    /// The object with this number.
    Ref(usize),
    /// The thread with this number.
    Tid(usize),
}

/// What a variable can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Ty {
    Bool,
    Int,
    Range {
        low: i32,
        high: i32,
        wrap: bool,
    },
    /// Something that starts as null.
    Reference,
}

impl Ty {
    pub(super) fn initial(self) -> Value {
        match self {
            Ty::Bool => Value::Bool(false),
            Ty::Int => Value::Int(0),
            Ty::Range { low, high, .. } => Value::Int(if low <= 0 && 0 <= high { 0 } else { low }),
            Ty::Reference => Value::Null,
        }
    }

    /// The value after it was stored.
    pub(super) fn store(self, value: Value) -> Result<Value, Fault> {
        match (self, value) {
            (Ty::Range { low, high, wrap }, Value::Int(v)) => {
                if low <= v && v <= high {
                    return Ok(Value::Int(v));
                }
                if !wrap {
                    return Err(Fault("range"));
                }
                let size = i64::from(high) - i64::from(low) + 1;
                let offset = (i64::from(v) - i64::from(low)).rem_euclid(size);
                Ok(Value::Int((i64::from(low) + offset) as i32))
            }
            (_, value) => Ok(value),
        }
    }
}

/// Something goes wrong; its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Fault(pub(super) &'static str);

/// The kind of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Class {
    Set,
    Bag,
    Map,
    Queue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The number of the record.
    Record(usize),
    Array(Ty),
    Lock,
    Collection(Class),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Object {
    pub(super) kind: Kind,
    /// Fields, elements, or the rows of a collection one after the other.
    pub(super) cells: Vec<Value>,
    /// Who holds its lock, and how often.
    pub(super) lock: Option<(usize, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    /// The number of the function.
    pub(super) code: usize,
    pub(super) node: usize,
    /// Waits for a call made by this alternative of the node.
    pub(super) calling: Option<usize>,
    pub(super) locals: Vec<Value>,
}

/// A thread; without frames it has ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    pub(super) frames: Vec<Frame>,
    /// The object whose lock it waits for, how often it held it, and whether it was notified.
    pub(super) waits: Option<(usize, u32, bool)>,
}

/// A state. Numbers of threads and objects are positions; what is free is `None`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct State {
    pub(super) globals: Vec<Value>,
    pub(super) threads: Vec<Option<Thread>>,
    pub(super) objects: Vec<Option<Object>>,
}

impl State {
    /// Puts something at the lowest free position.
    pub(super) fn place<T>(slots: &mut Vec<Option<T>>, item: T) -> usize {
        let free = slots.iter().position(Option::is_none).unwrap_or(slots.len());
        if free == slots.len() {
            slots.push(None);
        }
        slots[free] = Some(item);
        free
    }

    /// Removes what cannot be reached: objects, and ended threads whose id nobody holds.
    pub(super) fn collect(&mut self) {
        let mut objects = vec![false; self.objects.len()];
        let mut threads: Vec<bool> =
            self.threads.iter().map(|t| t.as_ref().is_some_and(|t| !t.frames.is_empty())).collect();
        let mut waiting: Vec<usize> = Vec::new();
        let mut mark = |value: &Value, waiting: &mut Vec<usize>| match value {
            Value::Ref(o) => waiting.push(*o),
            Value::Tid(t) => threads[*t] = true,
            _ => {}
        };
        self.globals.iter().for_each(|v| mark(v, &mut waiting));
        for thread in self.threads.iter().flatten() {
            for frame in &thread.frames {
                frame.locals.iter().for_each(|v| mark(v, &mut waiting));
            }
            waiting.extend(thread.waits.map(|(o, _, _)| o));
        }
        while let Some(o) = waiting.pop() {
            if std::mem::replace(&mut objects[o], true) {
                continue;
            }
            let object = self.objects[o].as_ref().expect("references lead to objects");
            object.cells.iter().for_each(|v| mark(v, &mut waiting));
            if let Some((holder, _)) = object.lock {
                mark(&Value::Tid(holder), &mut waiting);
            }
        }
        for (object, marked) in self.objects.iter_mut().zip(&objects) {
            if !marked {
                *object = None;
            }
        }
        for (thread, marked) in self.threads.iter_mut().zip(&threads) {
            if !marked {
                *thread = None;
            }
        }
        while self.objects.last().is_some_and(Option::is_none) {
            self.objects.pop();
        }
        while self.threads.last().is_some_and(Option::is_none) {
            self.threads.pop();
        }
    }
}
