//! Of which parts the states of a machine consist: globals, threads with their locations and locals, channels and objects.
//!
//! The number of a state's shape, in its first bytes, decides that. Lists of parts are made once for each shape.

use std::sync::{Arc, Mutex, PoisonError};

use quotient_seams::{Part, PartKind, Parts};

use crate::dynamic::segments::Segments;
use crate::dynamic::shapes::Registered;
use crate::layout::{Layout, Shape};
use crate::machine::Machine;

type List = Arc<[Part]>;

/// The lists of parts of the shapes of a static program, where a store can read them while the machine adds more.
#[derive(Debug, Default)]
pub(crate) struct Outlines(Arc<Mutex<Vec<List>>>);

impl Clone for Outlines {
    /// A copy of its own: the shapes that its owner adds are its own, too.
    fn clone(&self) -> Outlines {
        Outlines(Arc::new(Mutex::new(self.lock().clone())))
    }
}

impl Outlines {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<List>> {
        // A list is pushed whole or not at all.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the next shape.
    pub(crate) fn push(&self, shape: &Shape, layout: &Layout) {
        self.lock().push(outline(shape, layout));
    }
}

/// The parts of the states of a shape.
fn outline(shape: &Shape, layout: &Layout) -> List {
    let mut parts = Vec::new();
    for (t, top) in shape.threads.iter().enumerate() {
        let mut opens = PartKind::Thread;
        if let Some(head) = shape.heads.get(t) {
            parts.push(Part { kind: opens, start: *head });
            opens = PartKind::Control;
        }
        for frame in shape.stacks.get(t).into_iter().flatten().chain([top]) {
            parts.push(Part { kind: opens, start: frame.at });
            opens = PartKind::Control;
            // Where nobody runs there is no function, and no byte.
            if let Some(function) = layout.threads.get(frame.kind as usize) {
                let size = function.location_size.min(function.size);
                parts.push(Part { kind: PartKind::Store, start: frame.at + size });
            }
        }
    }
    let objects = shape.channels.iter().chain(&shape.objects);
    parts.extend(objects.map(|o| Part { kind: PartKind::Object, start: o.at }));
    // In the order of their bytes; a thread's parts stay in their order where some of them are empty.
    parts.sort_by_key(|p| p.start);
    parts.insert(0, Part { kind: PartKind::Globals, start: 0 });
    parts.into()
}

/// The parts of the states of one machine.
#[derive(Debug)]
pub struct StateParts {
    known: Vec<List>,
    layout: Layout,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Static(Arc<Mutex<Vec<List>>>),
    Dynamic { registered: Registered, shapes: Vec<Shape>, segments: Arc<Segments> },
}

impl Machine {
    /// Of which parts its states consist.
    pub fn parts(&self) -> StateParts {
        let source = if self.dynamic {
            let registered = self.heap.registered.share();
            let shapes = vec![Shape::empty(self.layout.fixed)];
            Source::Dynamic { registered, shapes, segments: self.heap.segments.clone() }
        } else {
            Source::Static(self.shapes.outlines.0.clone())
        };
        StateParts { known: Vec::new(), layout: self.layout.clone(), source }
    }
}

impl StateParts {
    #[cold]
    fn catch_up(&mut self, shape: usize) {
        match &mut self.source {
            Source::Static(outlines) => {
                let outlines = outlines.lock().unwrap_or_else(PoisonError::into_inner);
                self.known.extend_from_slice(&outlines[self.known.len()..]);
            }
            Source::Dynamic { registered, shapes, segments } => {
                registered.catch_up(shape as u32, shapes, segments, &self.layout);
                let new = shapes[self.known.len()..].iter().map(|s| outline(s, &self.layout));
                self.known.extend(new);
            }
        }
    }
}

impl Parts for StateParts {
    fn parts(&mut self, state: &[u64]) -> &[Part] {
        let shape =
            if self.layout.shape_size == 2 { state[0] as u16 as usize } else { state[0] as u32 as usize };
        if shape >= self.known.len() {
            self.catch_up(shape);
        }
        &self.known[shape]
    }
}
