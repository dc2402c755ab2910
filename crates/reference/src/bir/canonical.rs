//! States up to renaming, by brute force.
//!
//! With the order of the threads given, objects are numbered in the order in which they are met from the globals and then
//! the threads; that is canonical, since the fields of an object are ordered. Rows of an unordered collection are not: all
//! their orders are tried. For orbits, all orders of the threads are tried too. The least encoding stands for the class.

use super::run::Picker;
use super::state::{Class, Kind, State, Value};

/// An encoding; equal exactly for equal classes.
pub(super) type Form = Vec<i64>;

/// Up to renaming of objects; threads keep their order, but not the gaps that ended ones leave.
pub(super) fn heap(state: &State) -> Form {
    let order: Vec<usize> = (0..state.threads.len()).filter(|t| state.threads[*t].is_some()).collect();
    least(state, &order)
}

/// Up to renaming of objects and threads.
pub(super) fn orbit(state: &State) -> Form {
    let mut order: Vec<usize> = (0..state.threads.len()).filter(|t| state.threads[*t].is_some()).collect();
    let mut best: Option<Form> = None;
    permutations(&mut order, 0, &mut |order| {
        let form = least(state, order);
        if best.as_ref().is_none_or(|b| form < *b) {
            best = Some(form);
        }
    });
    best.unwrap_or_default()
}

fn permutations(order: &mut Vec<usize>, fixed: usize, visit: &mut dyn FnMut(&[usize])) {
    if fixed >= order.len() {
        return visit(order);
    }
    for other in fixed..order.len() {
        order.swap(fixed, other);
        permutations(order, fixed + 1, visit);
        order.swap(fixed, other);
    }
}

/// The least encoding over all orders of the rows of unordered collections.
fn least(state: &State, order: &[usize]) -> Form {
    let mut picker = Picker::default();
    let mut best: Option<Form> = None;
    loop {
        let form = Encoder::new(state, order).encode(&mut picker);
        if best.as_ref().is_none_or(|b| form < *b) {
            best = Some(form);
        }
        if !picker.next() {
            return best.unwrap_or_default();
        }
    }
}

struct Encoder<'a> {
    state: &'a State,
    order: &'a [usize],
    /// New numbers of threads and objects.
    threads: Vec<i64>,
    objects: Vec<Option<i64>>,
    waiting: std::collections::VecDeque<usize>,
    met: i64,
    out: Form,
}

impl<'a> Encoder<'a> {
    fn new(state: &'a State, order: &'a [usize]) -> Self {
        let mut threads = vec![-1; state.threads.len()];
        for (new, old) in order.iter().enumerate() {
            threads[*old] = new as i64;
        }
        let objects = vec![None; state.objects.len()];
        Encoder { state, order, threads, objects, waiting: Default::default(), met: 0, out: Vec::new() }
    }

    fn object(&mut self, object: usize) {
        if self.objects[object].is_none() {
            self.objects[object] = Some(self.met);
            self.met += 1;
            self.waiting.push_back(object);
        }
        self.out.push(self.objects[object].unwrap_or(-1));
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.out.push(-1),
            Value::Bool(b) => self.out.extend([-2, i64::from(*b)]),
            Value::Int(i) => self.out.extend([-3, i64::from(*i)]),
            Value::Text(text) => {
                self.out.extend([-4, text.len() as i64]);
                self.out.extend(text.bytes().map(i64::from));
            }
            Value::Tid(t) => self.out.extend([-5, self.threads[*t]]),
            Value::Ref(o) => {
                self.out.push(-6);
                self.object(*o);
            }
        }
    }

    fn encode(mut self, picker: &mut Picker) -> Form {
        self.state.globals.iter().for_each(|v| self.value(v));
        for t in self.order {
            let Some(thread) = &self.state.threads[*t] else {
                self.out.push(-10);
                continue;
            };
            self.out.push(thread.frames.len() as i64);
            if let Some((lock, count, notified)) = thread.waits {
                self.out.extend([-11, i64::from(count), i64::from(notified)]);
                self.object(lock);
            }
            for frame in &thread.frames {
                let calling = frame.calling.map_or(-1, |c| c as i64);
                self.out.extend([-12, frame.code as i64, frame.node as i64, calling]);
                frame.locals.iter().for_each(|v| self.value(v));
            }
        }
        while let Some(o) = self.waiting.pop_front() {
            let Some(object) = &self.state.objects[o] else { continue };
            let kind = match object.kind {
                Kind::Record(r) => r as i64,
                Kind::Lock => -20,
                Kind::Array(_) => -21,
                Kind::Collection(class) => -30 - class as i64,
            };
            self.out.extend([-13, kind, object.cells.len() as i64]);
            if let Some((holder, count)) = object.lock {
                self.out.extend([-14, self.threads[holder], i64::from(count)]);
            }
            match object.kind {
                Kind::Collection(class) if class != Class::Queue => {
                    let width = if class == Class::Map { 2 } else { 1 };
                    let mut rows: Vec<&[Value]> = object.cells.chunks(width).collect();
                    while !rows.is_empty() {
                        let next = picker.pick(rows.len());
                        rows.remove(next).iter().for_each(|v| self.value(v));
                    }
                }
                _ => object.cells.iter().for_each(|v| self.value(v)),
            }
        }
        self.out
    }
}
