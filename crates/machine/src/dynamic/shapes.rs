//! Shapes found by their description.
//!
//! The description of a normal shape lists the threads in order, each with its stack of functions, then the objects in
//! order, each with its kind; it decides where everything lies. Descriptions are numbered once for all who work on the same
//! states (the machine, a representative) in a [`Registry`]; each keeps its own copies of the shapes it has met, which a
//! glance at the number of shapes brings up to date.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::kind::Kind;
use super::segments::Segments;
use crate::layout::{Instance, Layout, Shape};

/// The number of the shape in which a draft is while a step changes what exists. Never the number of a stored state.
pub(crate) const WORKING: u32 = 0;

/// The numbers of descriptions.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    numbers: HashMap<Arc<[u32]>, u32>,
    /// The description with number `n + 1`.
    descriptions: Vec<Arc<[u32]>>,
}

/// One user's view of the registry.
#[derive(Debug)]
pub(crate) struct Registered {
    shared: Arc<Mutex<Registry>>,
    known: HashMap<Arc<[u32]>, u32>,
}

impl Registered {
    pub(crate) fn new() -> Registered {
        Registered { shared: Arc::default(), known: HashMap::new() }
    }

    /// Another view of the same registry.
    pub(crate) fn share(&self) -> Registered {
        Registered { shared: self.shared.clone(), known: HashMap::new() }
    }

    /// The shape with this description, added to `list` (and everything before it) when it is new to us.
    pub(crate) fn find(
        &mut self,
        description: &[u32],
        list: &mut Vec<Shape>,
        segments: &Segments,
        layout: &Layout,
    ) -> Result<u32, String> {
        if let Some(number) = self.known.get(description) {
            return Ok(*number);
        }
        let number = {
            // Nothing is left half done by a thread that panics while it holds the lock.
            let mut registry = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            match registry.numbers.get(description) {
                Some(number) => *number,
                None => {
                    let number = registry.descriptions.len() as u64 + 1;
                    if number > u64::from(u32::MAX) {
                        return Err("more than four billion combinations of threads and objects".into());
                    }
                    let owned: Arc<[u32]> = description.into();
                    registry.descriptions.push(owned.clone());
                    registry.numbers.insert(owned, number as u32);
                    number as u32
                }
            }
        };
        self.catch_up(number, list, segments, layout);
        Ok(number)
    }

    /// Makes sure that `list` has the shape with this number.
    #[cold]
    pub(crate) fn catch_up(
        &mut self,
        number: u32,
        list: &mut Vec<Shape>,
        segments: &Segments,
        layout: &Layout,
    ) {
        let registry = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        while list.len() <= number as usize {
            let description = &registry.descriptions[list.len() - 1];
            self.known.insert(description.clone(), list.len() as u32);
            list.push(build(description, segments, layout));
        }
    }
}

/// Writes the description of a shape: of the threads, of the objects with the kinds given.
pub(crate) fn describe<'a>(
    threads: impl ExactSizeIterator<Item = (&'a [Instance], Instance)>,
    kinds: impl Iterator<Item = Kind>,
    out: &mut Vec<u32>,
) {
    out.clear();
    out.push(threads.len() as u32);
    for (below, top) in threads {
        out.push(below.len() as u32);
        out.extend(below.iter().map(|f| f.kind));
        out.push(top.kind);
    }
    out.extend(kinds.map(|k| k.0));
}

/// The normal shape with a description.
fn build(description: &[u32], segments: &Segments, layout: &Layout) -> Shape {
    let mut shape = Shape::empty(segments.fixed);
    let mut rest = description.iter().copied();
    let mut next = || rest.next().unwrap_or(0);
    for _ in 0..next() {
        let below = next();
        shape.heads.push(shape.bytes);
        shape.bytes += segments.head;
        let mut frame = |kind: u32| {
            let instance = Instance { kind, at: shape.bytes };
            shape.bytes += segments.frame_sizes[kind as usize];
            instance
        };
        shape.stacks.push((0..below).map(|_| frame(next())).collect());
        shape.threads.push(frame(next()));
    }
    for kind in rest {
        shape.objects.push(Instance { kind, at: shape.bytes });
        shape.bytes += segments.object_size(Kind(kind), layout);
    }
    shape.words = shape.bytes.div_ceil(8);
    shape.alive = shape.threads.iter().filter(|t| segments.runs(t.kind)).count() as u32;
    shape
}
