//! Of which parts the states of a machine consist: globals, threads with their locations and locals, channels and objects.
//!
//! The number of a state's shape, in its first bytes, decides that. Lists of parts are made once for each shape.

use std::sync::Arc;

use quotient_seams::{Part, PartKind, Parts};

use crate::machine::Machine;
use crate::state::layout::Layout;
use crate::state::shapes::{Shape, Shapes};

type List = Arc<[Part]>;

/// The parts of the states of a shape.
fn outline(shape: &Shape, layout: &Layout) -> List {
    let mut parts = Vec::new();
    for (t, top) in shape.threads.iter().enumerate() {
        let mut opens = PartKind::Thread;
        if layout.head > 0 {
            parts.push(Part { kind: opens, start: shape.heads[t] });
            opens = PartKind::Control;
        }
        for frame in shape.stacks[t].iter().chain([top]) {
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
    layout: Arc<Layout>,
    shapes: Shapes,
}

impl Machine {
    /// Of which parts its states consist.
    pub fn parts(&self) -> StateParts {
        StateParts { known: Vec::new(), layout: self.layout.clone(), shapes: self.shapes.share() }
    }
}

impl StateParts {
    #[cold]
    fn catch_up(&mut self, shape: usize) {
        self.shapes.meet(shape as u32);
        let new = self.shapes.list[self.known.len()..].iter().map(|s| outline(s, &self.layout));
        self.known.extend(new);
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
